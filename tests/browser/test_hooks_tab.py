"""The Hooks tab: a hook is written, attached, logged and detached; those of the code are listed."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Hooks"
TRAIN, BY_HAND = 2, 3
CELLS = [
    NETWORK,
    "%cell net",
    "train(1)",
    "def mine(cell, inputs, output):\n    pass\n\nhandle = net.flatten.register_forward_hook(mine)\ntrain(1)",
]
HOOK = "def loud(cell, inputs, output):\n    print('hears', output.shape)\n"


def listed(panel: Panel, name: str) -> Locator:
    return panel.root.get_by_role("region", name="Hooks on cells").get_by_role("row", name=name)


def write(panel: Panel, cell: str, kind: str, code: str) -> None:
    panel.root.get_by_role("combobox", name="Cell", exact=True).fill(cell)
    panel.root.get_by_role("combobox", name="Kind", exact=True).select_option(kind)
    panel.root.get_by_role("textbox", name="Hook function").fill(code)
    panel.button("Attach").click()


def test_a_hook_is_written_attached_heard_and_detached(panel: Panel, shared_notebook: Notebook) -> None:
    printed = panel.root.get_by_role("log", name="Printed by hooks")
    write(panel, "dense", "forward", HOOK)
    expect(listed(panel, "dense forward loud")).to_be_visible()
    shared_notebook.run_to_end(TRAIN)
    expect(printed).to_contain_text("hears (2, 5)")
    panel.button("Clear the output of hooks").click()
    expect(printed).not_to_contain_text("hears")
    panel.button("Detach forward hook loud of dense").click()
    expect(listed(panel, "dense forward loud")).to_have_count(0)
    shared_notebook.run_to_end(TRAIN)
    expect(printed).not_to_contain_text("hears")


def test_a_wrong_signature_is_refused_beside_the_editor(panel: Panel) -> None:
    write(panel, "dense", "backward", "def wrong(cell):\n    pass\n")
    answer = panel.root.get_by_role("form", name="Write a hook")
    expect(answer).to_contain_text("wrong")
    expect(panel.root.get_by_role("textbox", name="Hook function")).to_have_attribute("aria-invalid", "true")
    expect(listed(panel, "dense backward")).to_have_count(0)


def test_an_error_in_a_hook_is_told_where_it_was_written(panel: Panel, shared_notebook: Notebook) -> None:
    write(panel, "relu", "forward", "def breaks(cell, inputs, output):\n    1 / 0\n")
    expect(listed(panel, "relu forward breaks")).to_be_visible()
    assert "ZeroDivisionError" in shared_notebook.run_to_end(TRAIN)
    printed = panel.root.get_by_role("log", name="Printed by hooks")
    expect(printed).to_contain_text(re.compile("ZeroDivisionError.*line 2: 1 / 0", re.DOTALL))
    expect(panel.root.locator(".hs-code-marked")).to_contain_text("ZeroDivisionError: division by zero")
    panel.button("Detach forward hook breaks of relu").click()
    expect(listed(panel, "relu forward breaks")).to_have_count(0)


def test_names_are_completed_the_line_of_an_error_is_marked_and_keys_undo(
    panel: Panel, shared_notebook: Notebook
) -> None:
    code = panel.root.get_by_role("textbox", name="Hook function")
    marked = panel.root.locator(".hs-code-marked")
    panel.root.get_by_role("combobox", name="Cell", exact=True).fill("dense")
    panel.root.get_by_role("combobox", name="Kind", exact=True).select_option("forward")
    code.fill("def late(cell, inputs, output):\n    output.asnum")
    code.press("Tab")
    expect(code).to_have_value("def late(cell, inputs, output):\n    output.asnumpy")
    code.press_sequentially("()\ntra")
    code.press("Tab")  # a function of the notebook's
    expect(code).to_have_value("def late(cell, inputs, output):\n    output.asnumpy()\n    train")
    code.press_sequentially("(")
    code.press("Shift+Enter")
    expect(marked).to_contain_text("SyntaxError")
    expect(panel.root.get_by_role("form", name="Write a hook")).to_contain_text("line 3: SyntaxError")
    code.press("Backspace")
    expect(marked).to_be_hidden()
    code.press("ControlOrMeta+z")
    expect(marked).to_be_visible()
    code.press("Shift+Tab")
    expect(code).to_have_value("def late(cell, inputs, output):\n    output.asnumpy()\ntrain(")
    code.press("Escape")
    code.press("Tab")
    expect(code).not_to_be_focused()
    assert shared_notebook.source(TRAIN) == CELLS[TRAIN]


def test_hooks_attached_in_code_are_listed(panel: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(BY_HAND)
    expect(listed(panel, "flatten forward mine")).to_contain_text("by your code")
