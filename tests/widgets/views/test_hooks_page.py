"""Writing a hook in the panel, in Chromium: by mouse and by keyboard, over a real network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from playwright.sync_api import Browser, Locator

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from tests.browser.accessibility import lowest_contrast

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def net() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())


@pytest.fixture
def hooks(browser: Browser, net: nn.Cell, sent: list[Any]) -> Iterator[PanelPage]:
    """The Hooks tab of the network's panel."""
    page = browser.new_page(viewport={"width": 1000, "height": 640})
    shown = PanelPage(page, DebugSession(net), sent)
    shown.panel.namespace = {}
    page.get_by_role("tab", name="Hooks").click()
    shown.until(lambda: editor(shown).input_value() != "")  # the template
    yield shown
    assert shown.errors == []
    page.close()


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


def test_tab_indents_and_escape_then_tab_leaves(hooks: PanelPage) -> None:
    editor(hooks).fill("x")
    editor(hooks).press("End")
    editor(hooks).press("Tab")
    assert editor(hooks).input_value() == "x    "
    editor(hooks).press("Control+z")
    assert editor(hooks).input_value() == "x"
    editor(hooks).press("Escape")
    editor(hooks).press("Tab")
    assert editor(hooks).input_value() == "x"
    assert hooks.page.get_by_role("button", name="Attach").evaluate("one => one === document.activeElement")
    hooks.page.keyboard.press("Shift+Tab")
    hooks.page.keyboard.press("Shift+Tab")
    assert not editor(hooks).evaluate("one => one === document.activeElement")


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
    editor(hooks).blur()
    hooks.panel.hook_draft = {"path": "", "kind": "forward", "source": "def elsewhere(): pass"}
    hooks.until(lambda: editor(hooks).input_value() == "def elsewhere(): pass")


def test_what_a_template_takes_the_place_of_can_be_undone(hooks: PanelPage) -> None:
    editor(hooks).fill("def mine(): pass")
    hooks.page.get_by_role("button", name="Template").click()
    assert editor(hooks).input_value().startswith("def look(")
    hooks.page.keyboard.press("ControlOrMeta+z")
    assert editor(hooks).input_value() == "def mine(): pass"


WRITTEN = "def f(cell, grad_output):\n    return None\n"


def test_hooks_of_the_users_code_are_listed_without_a_button(hooks: PanelPage, net: nn.Cell) -> None:
    def mine(cell: nn.Cell, inputs: Any, output: Any) -> None:
        """Do nothing, on purpose."""

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
