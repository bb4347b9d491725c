"""A pause is seen outside its panel, wherever the user is on the page, and nothing of it stays when it is over."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Notebook, Server, wait_until, write_notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

LONG = "for line in range(80): print('line', line)"
CELLS = [NETWORK, LONG, "%%cell net --break dense --break double\nnet(images)\nprint('went on')", LONG, "print('last')"]
PAUSED = "[data-hookscope-paused]"


@pytest.fixture
def notebook(lab: Server, open_notebook: Callable[[str], Notebook]) -> Notebook:
    write_notebook(lab.root / "pause_signs.ipynb", CELLS)
    return open_notebook("pause_signs.ipynb")


def notice(page: Page) -> Locator:
    return page.get_by_role("region", name="Paused run")


def tab(page: Page) -> Locator:
    return page.get_by_role("tab", name=re.compile(r"pause_signs"))


def panel(page: Page) -> Panel:
    return Panel(page.get_by_role("group", name=re.compile("^Debugger of ")))


def expect_signs(page: Page, prompt: str = "[*]:") -> None:
    expect(page.locator(f".lm-TabBar-tab{PAUSED}")).to_have_count(1)
    expect(tab(page)).to_have_attribute("data-hookscope-paused", "")
    expect(page).to_have_title(re.compile("^⏸ "))
    expect(page.locator(f".jp-InputPrompt{PAUSED}")).to_have_text(prompt)


def expect_no_sign(page: Page, title: str) -> None:
    expect(page.locator(PAUSED)).to_have_count(0)
    expect(notice(page)).to_have_count(0)
    expect(page).to_have_title(title)


def scroll_away(notebook: Notebook) -> None:
    """Scroll with the wheel until the panel is out of sight."""
    page = notebook.page
    page.mouse.move(700, 500)
    root = panel(page).root

    def is_away() -> bool:
        page.mouse.wheel(0, 700)
        return bool(root.evaluate("(element) => element.getBoundingClientRect().bottom < 60"))

    wait_until("the panel to be out of sight", is_away)


def test_run_all_scrolls_to_the_pause_and_all_signs_go(notebook: Notebook) -> None:
    page = notebook.page
    label = "(tab) => [tab.querySelector('.lm-TabBar-tabLabel').outerHTML, tab.getAttributeNames()]"
    title, before = page.title(), tab(page).evaluate(label)
    notebook.command("notebook:run-all-cells")
    shown = panel(page)
    shown.expect_paused("dense")
    expect(shown.root).to_be_in_viewport(ratio=0.5)
    expect_signs(page)
    expect(notice(page)).to_have_count(0)
    shown.button("Continue").click()
    shown.expect_paused("double")
    expect_signs(page)
    shown.button("Continue").click()
    notebook.finish(4)
    expect_no_sign(page, title)
    assert tab(page).evaluate(label) == before
    assert [notebook.text(cell).count("waits") for cell in (3, 4)] == [0, 0]


def test_a_panel_out_of_sight_has_a_notice_that_leads_to_it(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run_to_end(0)
    notebook.run_to_end(1)
    notebook.run_to_end(3)
    notebook.run(2)
    shown = panel(page)
    shown.expect_paused("dense")
    shown.tab("Cells")
    scroll_away(notebook)
    expect(notice(page)).to_contain_text("paused in forward of dense")
    notebook.set_theme("Dark")
    notebook.set_theme("Light")
    notice(page).get_by_role("button", name="Go to").click()
    expect(shown.root).to_be_in_viewport(ratio=0.5)
    expect(shown.button("Step over")).to_be_focused()
    expect(notice(page)).to_have_count(0)
    scroll_away(notebook)
    close = notice(page).get_by_role("button", name="Close")
    close.focus()
    page.keyboard.press("Escape")
    expect(notice(page)).to_have_count(0)
    page.keyboard.press("F9")
    expect(notice(page)).to_have_count(0)  # it was closed for this pause and its steps
    shown.expect_paused("double")
    page.keyboard.press("F9")
    assert "went on" in notebook.finish(2)


def test_a_pause_in_another_document_is_seen_and_reached(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run_to_end(0)
    notebook.run(2)
    shown = panel(page)
    shown.expect_paused("dense")
    notebook.command("launcher:create")
    expect(shown.root).to_be_hidden()
    expect(page).to_have_title(re.compile("^⏸ "))
    expect(tab(page)).to_have_attribute("data-hookscope-paused", "")
    notice(page).get_by_role("button", name="Go to").click()
    expect(shown.root).to_be_in_viewport(ratio=0.5)
    expect(shown.button("Step over")).to_be_focused()
    page.keyboard.press("F9")
    shown.expect_paused("double")
    page.keyboard.press("F9")
    assert "went on" in notebook.finish(2)


def test_a_user_who_scrolls_is_left_there(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run_to_end(0)
    notebook.run_to_end(1)
    notebook.run_to_end(3)
    notebook.run(2)
    shown = panel(page)
    shown.expect_paused("dense")
    notebook.cell(4)
    scroll_away(notebook)
    expect(notice(page)).to_be_visible()
    expect(shown.root).not_to_be_in_viewport()
    page.keyboard.press("F9")
    expect(notice(page)).to_contain_text("double")
    expect(shown.root).not_to_be_in_viewport()
    page.keyboard.press("F9")
    assert "went on" in notebook.finish(2)


def test_a_restart_in_a_pause_takes_all_signs_away(notebook: Notebook) -> None:
    page = notebook.page
    title = page.title()
    notebook.run_to_end(0)
    notebook.run(2)
    panel(page).expect_paused("dense")
    expect_signs(page)
    notebook.command("notebook:restart-kernel")
    page.get_by_role("dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    notebook.wait_ready()
    expect_no_sign(page, title)


def test_a_panel_that_is_removed_in_a_pause_gives_its_signs_to_the_next_one(notebook: Notebook) -> None:
    page = notebook.page
    title = page.title()
    notebook.run_to_end(0)
    notebook.run(2)
    panel(page).expect_paused("dense")
    notebook.command("notebook:clear-all-cell-outputs")
    line = page.get_by_text("press Continue in the panel below, or interrupt the kernel")
    expect(line).to_be_visible()
    expect_signs(page, "[ ]:")  # JupyterLab clears the star too
    for cell in ("dense", "double"):
        panel(page).expect_paused(cell)
        panel(page).button("Continue").click()
    assert "went on" in notebook.finish(2)
    expect(line).to_have_count(0)
    expect_no_sign(page, title)


def test_a_page_that_is_loaded_anew_in_a_pause_has_signs_where_the_panel_is(notebook: Notebook) -> None:
    page = notebook.page
    notebook.run_to_end(0)
    notebook.run(2)
    panel(page).expect_paused("dense")
    notebook.command("notebook:clear-all-cell-outputs")
    expect(page.get_by_text("press Continue in the panel below")).to_be_visible()
    notebook.save()  # with the line
    notebook.reload()
    title = page.title().removeprefix("⏸ ")
    notebook.run(4)
    waits = page.get_by_text("this cell waits, since another one is paused at forward of dense")
    expect(waits).to_be_visible()
    first = Panel(panel(page).root.first)  # the saved panel is live again, and the waiting cell may have another one
    for cell in ("dense", "double"):
        first.expect_paused(cell)
        expect(page).to_have_title(re.compile("^⏸ "))
        first.button("Continue").click()
    assert "last" in notebook.finish(4)
    expect(waits).to_have_count(0)
    expect(page.get_by_text("press Continue in the panel below").filter(visible=True)).to_have_count(0)
    expect_no_sign(page, title)
