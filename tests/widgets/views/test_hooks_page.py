"""A hook written in the panel, in Chromium: by mouse and by keyboard, over a real network."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from panel_page import PanelPage
from playwright.sync_api import Locator, Page

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from tests.browser.accessibility import lowest_contrast

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def net() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())


@pytest.fixture
def hooks(page: Page, net: nn.Cell, sent: list[Any]) -> PanelPage:
    """Return the Hooks tab of the network's panel."""
    panel_page = PanelPage(page, DebugSession(net), sent)
    panel_page.panel.namespace = {}
    page.get_by_role("tab", name="Hooks").click()
    panel_page.until(lambda: editor(panel_page).input_value() != "")  # the template
    return panel_page


def test_the_list_says_that_a_compiled_network_runs_eagerly_while_a_hook_is_on_it(
    hooks: PanelPage, net: nn.Cell
) -> None:
    note = hooks.page.locator(".hs-hook-note")
    assert not note.is_visible()
    net.compile(ms.Tensor(np.ones((4, 3), np.float32)))
    hooks.panel.session.attach_hook("0", "forward")
    hooks.panel.sync()
    hooks.until(note.is_visible)
    assert note.inner_text().startswith("SequentialCell is compiled; while a hook of the session is attached")


def run(net: nn.Cell) -> None:
    net(ms.Tensor(np.ones((4, 3), np.float32)))


def editor(hooks: PanelPage) -> Locator:
    return hooks.page.get_by_role("textbox", name="Hook function")


def cell(hooks: PanelPage) -> Locator:
    return hooks.page.get_by_role("combobox", name="Cell")


def answer(hooks: PanelPage) -> str:
    return hooks.page.get_by_role("form", name="Write a hook").inner_text()


def test_a_hook_is_written_attached_heard_and_detached_by_keyboard(hooks: PanelPage, net: nn.Cell) -> None:
    page = hooks.page
    cell(hooks).focus()
    page.keyboard.type("0")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert editor(hooks).evaluate("one => one === document.activeElement")
    page.keyboard.press("Control+a")
    page.keyboard.type("def seen(cell, inputs, output):\nif True:\nprint('saw', output.shape)")
    expected = "def seen(cell, inputs, output):\n    if True:\n        print('saw', output.shape)"
    assert editor(hooks).input_value() == expected
    page.keyboard.press("Shift+Enter")
    listed = page.get_by_role("region", name="Hooks on cells").get_by_role("row", name="0 forward seen")
    hooks.until(listed.is_visible)
    run(net)
    log = page.get_by_role("log", name="Printed by hooks")
    hooks.until(lambda: "forward hook seen of 0" in log.inner_text() and "saw (4, 2)" in log.inner_text())
    detach = page.get_by_role("button", name="Detach forward hook seen of 0")
    detach.focus()
    page.keyboard.press("Enter")
    hooks.until(lambda: listed.count() == 0)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Hooks on cells"
    assert hooks.panel.session.hooks() == []


def test_tab_and_shift_tab_indent_and_escape_then_tab_leaves(hooks: PanelPage) -> None:
    press, type_ = hooks.page.keyboard.press, hooks.page.keyboard.type
    editor(hooks).fill("")
    editor(hooks).focus()
    press("Tab")
    type_("x ")
    press("Tab")
    assert editor(hooks).input_value() == "    x   "  # up to the next stop
    press("Control+z")
    assert editor(hooks).input_value() == "    x "
    press("Shift+Tab")
    assert editor(hooks).input_value() == "x "
    press("Control+z")
    assert editor(hooks).input_value() == "    x "
    for key, after in (("Tab", "Attach"), ("Shift+Tab", "Hook function")):
        press("Escape")
        press(key)
        assert editor(hooks).input_value() == "    x "
        inside = editor(hooks).evaluate("one => one === document.activeElement")
        assert not inside, after
        editor(hooks).focus()
    described = editor(hooks).get_attribute("aria-describedby") or ""
    description = " ".join(hooks.page.locator(f"#{item}").text_content() or "" for item in described.split())
    assert "Escape, then Tab leaves" in description


def test_several_lines_are_indented_and_taken_back_together(hooks: PanelPage) -> None:
    press = hooks.page.keyboard.press
    editor(hooks).fill("if a:\n    b\n\nc")
    press("Control+a")
    press("Tab")
    assert editor(hooks).input_value() == "    if a:\n        b\n\n    c"
    press("Shift+Tab")
    assert editor(hooks).input_value() == "if a:\n    b\n\nc"
    press("Shift+Tab")
    assert editor(hooks).input_value() == "if a:\nb\n\nc"
    press("Control+z")
    press("Control+z")
    assert editor(hooks).input_value() == "    if a:\n        b\n\n    c"


@pytest.mark.parametrize(
    ("line", "indent"),
    [
        ("def f(cell):", 4),
        ("    x = 1", 4),
        ("    for x in y:  # each", 8),
        ("    print(", 8),
        ("        return x", 4),
        ("        return (x +", 8),
        ("        pass", 4),
        ("        passed = 1", 8),
        ("    return", 0),
        ("x", 0),
    ],
)
def test_enter_keeps_raises_or_lowers_the_indentation(hooks: PanelPage, line: str, indent: int) -> None:
    editor(hooks).fill(line)
    hooks.page.keyboard.press("Enter")
    assert editor(hooks).input_value() == f"{line}\n{' ' * indent}"


def test_backspace_behind_indentation_takes_a_whole_step_back(hooks: PanelPage) -> None:
    press = hooks.page.keyboard.press
    editor(hooks).fill("      x")
    press("ArrowLeft")
    for left in ("    x", "x", "x"):
        press("Backspace")
        assert editor(hooks).input_value() == left
    press("Control+z")
    assert editor(hooks).input_value() == "    x"


def names(hooks: PanelPage) -> list[str]:
    return hooks.page.get_by_role("listbox", name="Names").get_by_role("option").all_inner_texts()


def test_tab_completes_names_from_the_kernel(hooks: PanelPage) -> None:
    press, type_ = hooks.page.keyboard.press, hooks.page.keyboard.type
    hooks.panel.namespace.update(learning_rate=0.1, losses=[], lossless=True)
    cell(hooks).fill("0")
    editor(hooks).fill("def f(cell, inputs, output):\n    learn")
    press("Tab")
    hooks.until(lambda: editor(hooks).input_value().endswith("\n    learning_rate"))
    press("Control+z")
    assert editor(hooks).input_value().endswith("\n    learn")
    editor(hooks).fill("def f(cell, inputs, output):\n    loss")
    press("Tab")
    hooks.until(lambda: names(hooks) == ["losses", "lossless"])
    status = hooks.page.get_by_role("status", name="Completion")
    assert status.inner_text() == "2 names: arrow keys choose, Enter takes one, Escape closes."
    active = editor(hooks).get_attribute("aria-activedescendant")
    assert hooks.page.locator(f"#{active}").inner_text() == "losses"
    press("ArrowDown")
    press("Enter")
    assert editor(hooks).input_value().endswith("\n    lossless")
    assert names(hooks) == [] and editor(hooks).get_attribute("aria-activedescendant") is None
    type_("\ncell.wei")
    press("Tab")
    hooks.until(lambda: editor(hooks).input_value().endswith("\n    cell.weight"))


def test_names_narrow_down_as_one_types_and_escape_closes_them_only(hooks: PanelPage) -> None:
    press, type_ = hooks.page.keyboard.press, hooks.page.keyboard.type
    editor(hooks).fill("def f(cell, inputs, output):\n    output.as")
    press("Tab")
    hooks.until(lambda: "astype" in names(hooks) and "asin" in names(hooks))
    type_("t")
    assert names(hooks) == ["astype"]
    press("Escape")
    assert names(hooks) == []
    assert editor(hooks).evaluate("one => one === document.activeElement")
    press("Tab")  # Escape was for the list: this completes
    hooks.until(lambda: editor(hooks).input_value().endswith("output.astype"))
    editor(hooks).fill("nothing_begins_so")
    press("Tab")
    hooks.until(lambda: hooks.page.get_by_role("status", name="Completion").inner_text() == "No name begins so.")
    assert editor(hooks).input_value() == "nothing_begins_so"


def test_an_answer_to_what_was_typed_before_is_dropped(hooks: PanelPage) -> None:
    hooks.panel.namespace["learning_rate"] = 0.1
    editor(hooks).fill("learn")
    hooks.page.keyboard.press("Tab")
    hooks.page.keyboard.type("t")
    hooks.panel.hook_draft = {}
    hooks.until(lambda: hooks.panel.hook_draft.get("source") == "learnt")  # the earlier question is answered by then
    assert editor(hooks).input_value() == "learnt"
    assert names(hooks) == []


def test_names_are_taken_by_mouse(hooks: PanelPage) -> None:
    hooks.panel.namespace.update(losses=[], lossless=True)
    editor(hooks).fill("loss")
    hooks.page.keyboard.press("Tab")
    hooks.until(lambda: len(names(hooks)) == 2)
    hooks.page.get_by_role("option", name="lossless").click()
    assert editor(hooks).input_value() == "lossless"
    assert editor(hooks).evaluate("one => one === document.activeElement")


def marked(hooks: PanelPage) -> tuple[str, int]:
    """Return the text of the marked line, and its number; ("", 0) if there is none."""
    mark = hooks.page.locator(".hs-code-marked")
    if not mark.is_visible():
        return "", 0
    text, gutter = mark.bounding_box(), hooks.page.locator(".hs-code-numbers").bounding_box()
    assert text is not None
    assert gutter is not None
    return mark.inner_text(), round((text["y"] - gutter["y"]) / 19) + 1


def test_lines_are_numbered_and_the_numbers_follow_the_text(hooks: PanelPage) -> None:
    numbers = hooks.page.locator(".hs-code-numbers")
    editor(hooks).fill("a\nb")
    assert numbers.inner_text().split() == ["1", "2"]
    editor(hooks).fill("\n" * 99)
    assert numbers.inner_text().split()[-1] == "100"
    offset = """one => one.getBoundingClientRect().top - one.scrollTop
        - document.querySelector(".hs-code-numbers").getBoundingClientRect().top"""
    distances = set()
    for top in (0, 300, 57):
        editor(hooks).evaluate("(one, top) => (one.scrollTop = top)", top)
        hooks.page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        assert editor(hooks).evaluate("one => one.scrollTop") == top
        distances.add(round(editor(hooks).evaluate(offset)))
    assert len(distances) == 1


def test_a_syntax_error_marks_its_line_until_that_line_changes(hooks: PanelPage) -> None:
    cell(hooks).fill("0")
    editor(hooks).fill("def f(cell, inputs, output):\n    if output\n        pass")
    hooks.page.get_by_role("button", name="Attach").click()
    hooks.until(lambda: marked(hooks) == ("SyntaxError: expected ':'", 2))
    assert "line 2: SyntaxError: expected ':'" in answer(hooks)
    assert editor(hooks).get_attribute("aria-invalid") == "true"
    hooks.page.get_by_role("button", name="Go to line 2").click()
    assert editor(hooks).evaluate("one => one === document.activeElement")
    behind = editor(hooks).evaluate("one => one.value.slice(one.selectionStart)")
    assert behind.startswith("if output\n")
    hooks.page.keyboard.press("Control+End")
    hooks.page.keyboard.type("  # another line")
    assert marked(hooks)[1] == 2
    hooks.page.get_by_role("button", name="Go to line 2").click()
    hooks.page.keyboard.press("End")
    hooks.page.keyboard.type(":")
    hooks.until(lambda: marked(hooks) == ("", 0))
    hooks.page.keyboard.press("Shift+Enter")
    hooks.until(lambda: "attached: forward hook f of 0" in answer(hooks))
    assert marked(hooks) == ("", 0)


def test_an_error_while_a_hook_runs_marks_its_line_in_its_own_text_only(hooks: PanelPage, net: nn.Cell) -> None:
    bad = "def f(cell, inputs, output):\n\n    print(1 / 0)\n"
    cell(hooks).fill("0")
    editor(hooks).fill(bad)
    hooks.page.keyboard.press("Shift+Enter")
    hooks.until(lambda: "attached" in answer(hooks))
    with pytest.raises(ZeroDivisionError):
        run(net)
    hooks.until(lambda: marked(hooks) == ("ZeroDivisionError: division by zero", 3))
    assert "line 3: ZeroDivisionError: division by zero" in answer(hooks)
    assert editor(hooks).get_attribute("aria-invalid") == "true"
    cell(hooks).fill("1")  # the text of another hook
    hooks.until(lambda: marked(hooks) == ("", 0))
    editor(hooks).fill("def g(cell, inputs, output):\n\n    pass\n")
    hooks.page.get_by_role("button", name="Edit forward hook f of 0").click()
    hooks.until(lambda: marked(hooks)[1] == 3)
    hooks.page.keyboard.press("Shift+Enter")  # attached anew, it has not failed yet
    hooks.until(lambda: marked(hooks) == ("", 0))


def test_each_kind_has_its_template_and_what_was_written_stays(hooks: PanelPage) -> None:
    kind = hooks.page.get_by_role("combobox", name="Kind")
    hooks.until(lambda: editor(hooks).input_value().startswith("def look(cell, inputs, output):"))
    kind.select_option("backward")
    assert editor(hooks).input_value().startswith("def look(cell, grad_input, grad_output):")
    editor(hooks).fill("def mine(cell, grad_output): pass")
    kind.select_option("backward_pre")
    assert editor(hooks).input_value() == "def mine(cell, grad_output): pass"
    hooks.page.get_by_role("button", name="Template").click()
    assert editor(hooks).input_value().startswith("def look(cell, grad_output):")


def test_a_wrong_signature_is_refused_beside_the_editor(hooks: PanelPage) -> None:
    cell(hooks).fill("0")
    editor(hooks).fill("def f(cell, x):\n    pass")
    hooks.page.get_by_role("button", name="Attach").click()
    hooks.until(lambda: "must take 3 arguments, as hook(cell, inputs, output), but got f(cell, x)" in answer(hooks))
    assert editor(hooks).get_attribute("aria-invalid") == "true"
    editor(hooks).fill("def f(cell, inputs, output):\n    pass")
    hooks.page.get_by_role("button", name="Attach").click()
    hooks.until(lambda: "attached: forward hook f of 0" in answer(hooks))
    assert editor(hooks).get_attribute("aria-invalid") is None


def test_a_written_hook_comes_back_into_the_editor(hooks: PanelPage) -> None:
    hooks.panel._received(None, {"type": "attach_hook", "path": ".", "kind": "backward_pre", "source": WRITTEN}, [])
    edit = hooks.page.get_by_role("button", name="Edit backward_pre hook f of (root)")
    hooks.until(edit.is_visible)
    edit.click()
    assert editor(hooks).input_value() == WRITTEN
    assert (cell(hooks).input_value(), hooks.page.get_by_role("combobox", name="Kind").input_value()) == (
        ".",
        "backward_pre",
    )


def test_what_is_written_stays_when_the_panel_is_shown_anew_or_changes(hooks: PanelPage, net: nn.Cell) -> None:
    cell(hooks).fill("1")
    hooks.page.get_by_role("combobox", name="Kind").select_option("backward")
    editor(hooks).fill("def mine(cell, grad_input, grad_output): pass")
    hooks.panel._received(None, {"type": "hook", "path": "0", "kind": "forward", "on": True}, [])
    hooks.until(hooks.page.get_by_role("row", name="0 forward").is_visible)
    hooks.page.get_by_role("tab", name="Cells").click()
    hooks.page.get_by_role("tab", name="Hooks").click()
    assert editor(hooks).input_value() == "def mine(cell, grad_input, grad_output): pass"
    for reloaded in (False, True):
        if reloaded:  # then only Python knows it
            hooks.until(lambda: hooks.panel.hook_draft.get("source", "").startswith("def mine"))
            hooks.page.evaluate("draft => model.set('hook_draft', draft)", hooks.panel.hook_draft)
        hooks.page.evaluate("show()")
        hooks.carry()
        assert editor(hooks).input_value() == "def mine(cell, grad_input, grad_output): pass"
        assert cell(hooks).input_value() == "1"
        assert hooks.page.get_by_role("combobox", name="Kind").input_value() == "backward"


def test_the_draft_of_another_display_does_not_disturb_who_writes(hooks: PanelPage) -> None:
    editor(hooks).fill("def here(): pass")
    hooks.panel.hook_draft = {"path": "", "kind": "forward", "source": "def there(): pass"}
    hooks.carry()
    assert editor(hooks).input_value() == "def here(): pass"
    hooks.until(lambda: hooks.panel.hook_draft["source"] == "def here(): pass")
    editor(hooks).blur()
    hooks.panel.hook_draft = {"path": "", "kind": "forward", "source": "def elsewhere(): pass"}
    hooks.until(lambda: editor(hooks).input_value() == "def elsewhere(): pass")


def test_what_was_typed_last_is_not_lost_to_the_draft_of_another_display(hooks: PanelPage) -> None:
    editor(hooks).fill("def here(): pass")
    editor(hooks).blur()
    hooks.panel.hook_draft = {"path": "", "kind": "forward", "source": "def there(): pass"}
    hooks.carry()
    assert editor(hooks).input_value() == "def here(): pass"
    hooks.until(lambda: hooks.panel.hook_draft["source"] == "def here(): pass")


def test_what_a_template_takes_the_place_of_can_be_undone(hooks: PanelPage) -> None:
    editor(hooks).fill("def mine(): pass")
    hooks.page.get_by_role("button", name="Template").click()
    assert editor(hooks).input_value().startswith("def look(")
    hooks.page.keyboard.press("ControlOrMeta+z")
    assert editor(hooks).input_value() == "def mine(): pass"


WRITTEN = "def f(cell, grad_output):\n    return None\n"


def test_hooks_of_the_users_code_are_listed_without_a_button(hooks: PanelPage, net: nn.Cell) -> None:
    def mine(cell: nn.Cell, inputs: Any, output: Any) -> None:
        """Do nothing."""

    net[1].register_forward_hook(mine)
    hooks.panel.sync()
    row = hooks.page.get_by_role("row", name="1 forward")
    hooks.until(row.is_visible)
    assert f"test_hooks_page.py:{mine.__code__.co_firstlineno}" in row.inner_text()
    assert "by your code" in row.inner_text()
    assert row.get_by_role("button").count() == 0


def test_hostile_code_and_prints_stay_text(hooks: PanelPage, net: nn.Cell) -> None:
    source = f"def f(cell, inputs, output):\n    print({HOSTILE!r})\nf.__qualname__ = {HOSTILE!r}\n"
    hooks.panel._received(None, {"type": "attach_hook", "path": "0", "kind": "forward", "source": source}, [])
    run(net)
    log = hooks.page.get_by_role("log", name="Printed by hooks")
    hooks.until(lambda: HOSTILE in log.inner_text())
    assert HOSTILE in hooks.page.get_by_role("region", name="Hooks on cells").inner_text()
    assert HOSTILE in answer(hooks)
    assert hooks.page.locator("img").count() == 0
    assert hooks.page.title() == "panel"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_4_5(hooks: PanelPage, net: nn.Cell, scheme: Any) -> None:
    hooks.page.emulate_media(color_scheme=scheme)
    bad = "def f(cell, inputs, output):\n    print('seen')\n    1 / 0\n"
    hooks.panel._received(None, {"type": "attach_hook", "path": "0", "kind": "forward", "source": bad}, [])
    with pytest.raises(ZeroDivisionError):
        run(net)
    hooks.panel._received(None, {"type": "attach_hook", "path": "0", "kind": "forward", "source": "1"}, [])
    hooks.until(lambda: "must define the hook" in answer(hooks))
    ratio, where = lowest_contrast(hooks.page)
    assert ratio >= 4.5, where


@pytest.mark.parametrize(("width", "same"), [(480, "y"), (350, "x")])
def test_on_a_narrow_page_the_buttons_of_a_hook_are_aligned(
    hooks: PanelPage, width: int, same: Literal["x", "y"]
) -> None:
    hooks.page.set_viewport_size({"width": width, "height": 700})
    cell(hooks).fill("0")
    editor(hooks).press("Shift+Enter")
    edit, detach = (hooks.page.get_by_role("button", name=f"{name} forward hook") for name in ("Edit", "Detach"))
    hooks.until(detach.is_visible)
    first, second = edit.bounding_box(), detach.bounding_box()
    assert first is not None
    assert second is not None
    assert first[same] == second[same]
    assert width == 480 or first["width"] == second["width"]
