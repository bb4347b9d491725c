"""The notebook around the panel while a cell is paused: keys, completion, Escape."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Stepper"
RUN, SCRATCH = 1, 2
CELLS = [NETWORK, "%%cell net --step -o dbg\ntrain(1)\nprint('done')", "", "print('last')"]
FIRST, SECOND, LAST = "slope = doubled(ops.ones_like(x))", "gradient = dout * slope", "return (gradient,)"


@pytest.fixture
def paused(panel: Panel, shared_notebook: Notebook) -> Iterator[Panel]:
    """Start a run for each test, and pause at the first line of the bprop."""
    if shared_notebook.has_run(RUN):  # and is not before its first pause
        shared_notebook.run(RUN)
    panel.expect_paused("double")
    panel.expect_line(FIRST)
    yield panel
    if panel.is_paused():
        panel.tab("Stepper")
        panel.button("Continue").click()
    shared_notebook.finish(RUN)


def editor(notebook: Notebook, index: int) -> Locator:
    """Return the editor of a cell, with the focus in it and nothing typed."""
    box = notebook.cell(index).get_by_role("textbox").first
    box.click()
    box.press("ControlOrMeta+a")
    box.press("Delete")
    expect(box).to_be_focused()
    return box


def mode(notebook: Notebook) -> str:
    return str(notebook.page.evaluate("window.jupyterapp.shell.currentWidget.content.mode"))


def active(notebook: Notebook) -> int:
    return int(notebook.page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex"))


def matches(notebook: Notebook, code: str) -> list[str]:
    """Return the kernel's completions for this page; the first takes it longer than the completer waits."""
    script = """async (code) => {
        const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
        return (await kernel.requestComplete({ code, cursor_pos: code.length })).content.matches;
    }"""
    return list(notebook.page.evaluate(script, code))


def test_the_steppers_keys_work_in_another_cells_editor(paused: Panel, shared_notebook: Notebook) -> None:
    box = editor(shared_notebook, SCRATCH)
    steps = [("F11", "return 2 * x"), ("Shift+F11", SECOND), ("F10", LAST), ("F4", SECOND), ("Shift+F4", LAST)]
    for key, line in steps:
        expect(paused.button("Step over")).to_be_enabled()
        box.press(key)
        paused.expect_line(line)
        expect(box).to_be_focused()
    expect(paused.button("Step over")).to_be_enabled()
    box.press("F9")
    assert "done" in shared_notebook.finish(RUN)
    assert shared_notebook.source(SCRATCH) == ""


def test_they_work_in_command_mode_and_not_behind_a_dialog(paused: Panel, shared_notebook: Notebook) -> None:
    editor(shared_notebook, SCRATCH).press("Escape")
    assert mode(shared_notebook) == "command"
    shared_notebook.command("notebook:restart-kernel")
    dialog = shared_notebook.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    shared_notebook.page.keyboard.press("F10")
    dialog.get_by_role("button", name=re.compile("^Cancel")).click()
    expect(dialog).to_have_count(0)
    paused.expect_line(FIRST)
    shared_notebook.cell(SCRATCH).click(position={"x": 30, "y": 12})  # beside its text
    shared_notebook.page.keyboard.press("F10")
    paused.expect_line(SECOND)


def test_escape_in_the_panel_leads_to_its_cell_and_the_notebooks_commands(
    paused: Panel, shared_notebook: Notebook
) -> None:
    box = paused.root.get_by_role("textbox", name="Evaluate")
    box.click()
    box.press("Escape")
    expect(box).not_to_be_focused()
    assert (mode(shared_notebook), active(shared_notebook)) == ("command", RUN)
    shared_notebook.page.keyboard.press("ArrowDown")
    assert active(shared_notebook) == SCRATCH


def test_tab_and_shift_tab_know_the_paused_functions_names(paused: Panel, shared_notebook: Notebook) -> None:
    paused.step_over_to(SECOND)
    box = editor(shared_notebook, SCRATCH)
    box.press_sequentially("slop")
    assert matches(shared_notebook, "slop") == ["slope"]
    box.press("Tab")
    offered = shared_notebook.page.locator(".jp-Completer-item")
    expect(offered).to_have_count(1)
    expect(offered).to_contain_text("slope")
    box.press("Enter")
    expect(box).to_have_text("slope")
    box.press("Shift+Tab")
    tooltip = shared_notebook.page.locator(".jp-Tooltip")
    expect(tooltip).to_contain_text("Tensor")
    box.press("Escape")
    paused.button("Continue").click()
    shared_notebook.finish(RUN)
    assert matches(shared_notebook, "slop") == []
    editor(shared_notebook, SCRATCH)


def test_tab_completes_the_lines_of_the_magics(paused: Panel, shared_notebook: Notebook) -> None:
    page, offered = shared_notebook.page, shared_notebook.page.locator(".jp-Completer-item")
    box = editor(shared_notebook, SCRATCH)
    matches(shared_notebook, "%%cell n")  # the first takes longer than the completer waits
    for typed, chosen, completed in (
        ("%%cell n", "net", "%%cell net"),
        (" --br", "--break", "%%cell net --break"),
        (" 'dou", "double", "%%cell net --break 'double"),
        (":bpr", "bprop", "%%cell net --break 'double:bprop"),
        (" if val", "value", "%%cell net --break 'double:bprop if value"),
        ("' --check nan,dead", "dead_relu", "%%cell net --break 'double:bprop if value' --check nan,dead_relu"),
    ):
        box.press_sequentially(typed)
        box.press("Tab")
        expect(offered.filter(has_text=chosen).first).to_be_visible()
        box.press("Enter")
        expect(box).to_have_text(re.compile(re.escape(completed) + "'?$"))  # the editor closes a quotation mark
    page.keyboard.press("Escape")
    editor(shared_notebook, SCRATCH)
