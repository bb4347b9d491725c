"""The stepper's keys wherever the focus is in a notebook, and Escape back to it, on a page like JupyterLab's."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Page, expect

from hookscope.widgets import CellTree, DebuggerPanel

# Each panel in a notebook of its own, below an editor; beside them a terminal and a menu's place.
NOTEBOOKS = """() => {
  const pressed = window.pressed = [];
  document.addEventListener("keydown", (event) => {
    if (/^F\\d/.test(event.key)) pressed.push(event.key + (event.defaultPrevented ? " taken" : ""));
  });
  [...document.body.children].forEach((panel, k) => {
    const notebook = Object.assign(document.createElement("div"), { className: "jp-MainAreaWidget jp-NotebookPanel" });
    const inner = Object.assign(document.createElement("div"), { className: "jp-Notebook" });
    const cell = Object.assign(document.createElement("div"), { className: "jp-Cell jp-mod-active", tabIndex: -1 });
    const editor = document.createElement("textarea");
    cell.setAttribute("aria-label", `cell ${k}`);
    editor.setAttribute("aria-label", `editor ${k}`);
    notebook.append(inner);
    inner.append(editor, cell);
    document.body.append(notebook);
    cell.append(panel);
  });
  const terminal = Object.assign(document.createElement("div"), { className: "jp-MainAreaWidget" });
  const line = document.createElement("input");
  line.setAttribute("aria-label", "terminal");
  terminal.append(line);
  document.body.append(terminal);
}"""


class Notebooks:
    """A page with one notebook for each session."""

    def __init__(self, page: Page, sent: list[Any], *sessions: PlainSession) -> None:
        make = [lambda _, session=session: DebuggerPanel(session) for session in sessions]
        self.sessions = sessions
        self.page = page
        self.panel_page = PanelPage(page, sessions[0], sent, *make)
        for panel in self.panel_page.panels:
            panel.view = "cells"
        self.panel_page.carry()
        page.evaluate(NOTEBOOKS)

    def pause(self, which: int = 0) -> None:
        self.sessions[which].pause()
        enabled = self.page.get_by_role("button", name="Step over", exact=True).and_(self.page.locator(":enabled"))
        at = self.page.locator(".jp-NotebookPanel").nth(which)
        self.panel_page.until(at.locator(enabled).first.is_visible)

    def press(self, key: str, where: str = "editor 0") -> None:
        self.page.get_by_label(where, exact=True).focus()
        self.page.keyboard.press(key)
        self.panel_page.carry()

    def commands(self) -> list[list[str]]:
        for _ in range(2):  # there, and back
            self.panel_page.carry()
        return [session.commands for session in self.sessions]

    def keys_elsewhere(self) -> list[str]:
        """Return the keys that reached other elements."""
        return list(self.page.evaluate("pressed"))


@pytest.fixture
def page(page: Page) -> Page:
    """Yield a page high enough for two panels."""
    page.set_viewport_size({"width": 1000, "height": 900})
    return page


@pytest.fixture
def notebook(page: Page, sent: list[Any]) -> Notebooks:
    return Notebooks(page, sent, PlainSession())


@pytest.fixture
def two(page: Page, sent: list[Any]) -> Notebooks:
    return Notebooks(page, sent, PlainSession(), PlainSession())


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("F10", "over"),
        ("F11", "into"),
        ("Shift+F11", "out"),
        ("F8", "operator"),
        ("Shift+F8", "cell"),
        ("F9", "continue"),
        ("Shift+F9", "abort"),
    ],
)
def test_each_key_works_in_the_notebooks_editor_and_goes_no_further(
    notebook: Notebooks, key: str, command: str
) -> None:
    notebook.pause()
    notebook.press(key)
    assert notebook.commands() == [[command]]
    assert notebook.keys_elsewhere() == []


def test_the_keys_that_look_back_work_there_too(notebook: Notebooks) -> None:
    notebook.pause()
    notebook.press("F4")
    notebook.press("Shift+F4")
    notebook.commands()
    assert notebook.sessions[0].looks == [("step_back",), ("step_forward",)]
    assert notebook.keys_elsewhere() == []


def test_nothing_is_taken_while_nothing_is_paused(notebook: Notebooks) -> None:
    notebook.press("F10")
    notebook.pause()
    notebook.press("F9")
    notebook.press("F11")
    assert notebook.commands() == [["continue"]]
    assert notebook.keys_elsewhere() == ["F10", "F11"]


def test_the_answer_to_something_else_brings_no_key_back_after_continue(notebook: Notebooks) -> None:
    """It was sent before Python got the command, so the page still has a paused run's status then."""
    notebook.pause()
    notebook.panel_page.page.get_by_label("editor 0", exact=True).focus()
    notebook.page.keyboard.press("F9")
    for action in ("show", "look"):
        content = {"type": "done", "action": action}
        notebook.page.evaluate("content => model.receive({data: {method: 'custom', content}, buffers: []})", content)
    assert notebook.page.locator(".hs-command:enabled").count() == 0
    notebook.page.keyboard.press("F11")
    assert notebook.commands() == [["continue"]]
    assert notebook.keys_elsewhere() == ["F11"]


def test_between_two_stops_the_browser_gets_no_f11(notebook: Notebooks) -> None:
    notebook.pause()
    notebook.press("F11")
    notebook.press("F11")
    assert notebook.commands() == [["into"]]
    assert notebook.keys_elsewhere() == []


def test_with_the_focus_elsewhere_a_key_is_that_ones(two: Notebooks) -> None:
    two.pause()
    two.press("F10", "terminal")
    two.press("F10", "editor 1")
    assert two.commands() == [[], []]
    assert two.keys_elsewhere() == ["F10", "F10"]


def test_with_no_focus_at_all_the_notebook_in_sight_answers(two: Notebooks) -> None:
    two.pause()
    two.page.evaluate("document.activeElement.blur()")
    two.page.evaluate("document.querySelector('.jp-NotebookPanel').style.display = 'none'")
    two.page.keyboard.press("F10")
    assert two.commands() == [[], []]
    two.page.evaluate("document.querySelector('.jp-NotebookPanel').style.display = ''")
    two.page.keyboard.press("F10")
    assert two.commands() == [["over"], []]


@pytest.mark.parametrize("front", ["jp-Dialog", "lm-Menu", "jp-ModalCommandPalette"])
def test_not_behind_a_dialog(notebook: Notebooks, front: str) -> None:
    notebook.pause()
    script = "(name) => document.body.append(Object.assign(document.createElement('div'), { className: name }))"
    notebook.page.evaluate(script, front)
    notebook.page.evaluate("(name) => document.querySelector('.' + name).append('open')", front)
    notebook.press("F10")
    assert notebook.commands() == [[]]
    notebook.page.evaluate("(name) => document.querySelector('.' + name).remove()", front)
    notebook.press("F10")
    assert notebook.commands() == [["over"]]


def put_both_in_one_notebook(two: Notebooks) -> None:
    two.page.evaluate("""() => {
        const [first, second] = document.querySelectorAll(".jp-Notebook");
        first.append(...second.children);
        second.closest(".jp-NotebookPanel").remove();
    }""")


def test_of_two_sessions_the_paused_one_gets_the_key(two: Notebooks) -> None:
    put_both_in_one_notebook(two)
    two.sessions[1].pause()
    two.panel_page.until(two.page.get_by_role("button", name="Step over", exact=True).nth(0).is_enabled)
    two.press("F10")
    assert two.commands() == [[], ["over"]]


def test_of_two_that_are_paused_the_one_with_the_focus_gets_it_else_the_later(two: Notebooks) -> None:
    put_both_in_one_notebook(two)
    enabled = two.page.get_by_role("button", name="Step over", exact=True).and_(two.page.locator(":enabled"))
    for count, session in enumerate(two.sessions, 1):
        session.pause()
        two.panel_page.until(lambda count=count: enabled.count() == count)
    enabled.nth(0).focus()
    two.page.keyboard.press("F10")
    assert two.commands() == [["over"], []]
    two.press("F8")
    assert two.commands() == [["over"], ["operator"]]


def test_two_displays_of_one_panel_do_one_step(notebook: Notebooks) -> None:
    notebook.page.evaluate("show(true)")
    notebook.page.evaluate("document.querySelector('.jp-Cell').append(document.body.lastElementChild)")
    notebook.panel_page.carry()
    notebook.pause()
    notebook.press("F10")
    assert notebook.commands() == [["over"]]


def test_a_panel_without_a_stepper_leaves_the_keys_to_one_that_has_it(page: Page, sent: list[Any]) -> None:
    session = PlainSession()
    panel_page = PanelPage(page, session, sent, DebuggerPanel, CellTree)
    page.evaluate(NOTEBOOKS)
    session.pause()
    panel_page.until(page.get_by_role("button", name="Step over", exact=True).is_enabled)
    page.get_by_label("editor 0", exact=True).focus()
    page.evaluate("document.querySelector('.jp-Notebook').append(...document.querySelectorAll('.jp-Cell'))")
    page.keyboard.press("F10")
    panel_page.until(lambda: session.commands == ["over"])


def test_a_panel_that_is_scrolled_far_away_still_hears(notebook: Notebooks) -> None:
    notebook.pause()
    notebook.press("F4")  # while it is there
    notebook.page.evaluate("window.kept = document.querySelector('.jp-Cell'); kept.remove()")
    notebook.press("F10")
    assert notebook.commands() == [["over"]]


def test_a_panel_that_is_taken_away_takes_no_key(notebook: Notebooks) -> None:
    notebook.pause()
    notebook.page.evaluate("hides.splice(0).forEach((hide) => hide())")
    notebook.press("F10")
    assert notebook.commands() == [[]]
    assert notebook.keys_elsewhere() == ["F10"]


def focused(notebook: Notebooks) -> str:
    return str(notebook.page.evaluate("document.activeElement.getAttribute('aria-label')"))


def test_escape_leaves_the_panel_for_its_cell(notebook: Notebooks) -> None:
    notebook.pause()
    box = notebook.page.get_by_role("textbox", name="Evaluate")
    box.fill("half an expression")
    box.press("Escape")
    assert focused(notebook) == "cell 0"
    assert box.input_value() == "half an expression"


def test_a_field_with_a_use_for_escape_has_the_first(notebook: Notebooks) -> None:
    search = notebook.page.get_by_role("searchbox", name="Search cells")
    search.fill("relu")
    search.press("Escape")
    expect(search).to_be_focused()
    assert search.input_value() == ""
    search.press("Escape")
    assert focused(notebook) == "cell 0"
    switch = notebook.page.get_by_role("switch", name="train mode of block", exact=True)
    switch.focus()
    switch.press("Escape")
    assert focused(notebook) == "block, Block"
    notebook.page.keyboard.press("Escape")
    assert focused(notebook) == "cell 0"
    notebook.page.get_by_role("tab", name="Hooks").click()
    notebook.panel_page.carry()
    code = notebook.page.get_by_role("textbox", name="Hook function")
    code.focus()
    code.press("Escape")
    expect(code).to_be_focused()
    code.press("Escape")
    assert focused(notebook) == "cell 0"


def test_escape_with_another_key_or_outside_is_not_the_panels(notebook: Notebooks) -> None:
    box = notebook.page.get_by_role("searchbox", name="Search cells")
    box.press("Shift+Escape")
    expect(box).to_be_focused()
    notebook.press("Escape")
    assert focused(notebook) == "editor 0"
