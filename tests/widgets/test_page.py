"""The panel as a user sees it: drawn by Chromium, used by mouse and by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession, plain_node
from playwright.sync_api import Locator

from tests.browser.accessibility import lowest_contrast

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


def button(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("button", name=name, exact=True)


def tab(panel_page: PanelPage, name: str) -> None:
    panel_page.page.get_by_role("tab", name=name).click()
    assert panel_page.page.get_by_role("tabpanel", name=name).is_visible()


def status(panel_page: PanelPage) -> str:
    return panel_page.page.get_by_role("status").inner_text()


def test_thousands_of_captures_need_few_elements_and_scroll(panel_page: PanelPage, session: PlainSession) -> None:
    for step in range(3000):
        session.capture(step=step)
    session.emit("finished")
    tab(panel_page, "Captures")
    grid = panel_page.page.get_by_role("grid", name="Captures")
    panel_page.until(lambda: grid.get_attribute("aria-rowcount") == "6001")  # each below a heading
    assert grid.get_by_role("row").count() < 40
    newest = button(panel_page, "Newest first")
    newest.click()
    first = grid.get_by_role("row").nth(2)
    panel_page.until(lambda: first.inner_text().startswith("2999"))
    newest.click()
    panel_page.until(lambda: first.inner_text().startswith("0"))
    grid.focus()
    panel_page.page.keyboard.press("End")
    panel_page.until(lambda: grid.locator("[aria-selected=true]").inner_text().startswith("2999"))
    active = grid.get_attribute("aria-activedescendant")
    assert panel_page.page.locator(f"#{active}").is_visible()


def test_figures_left_out_while_training_come_when_they_are_looked_at(
    panel_page: PanelPage, session: PlainSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookscope.widgets.panel._IDLE_BUDGET", 0.0)
    session.capture()
    session.emit("finished")
    tab(panel_page, "Captures")
    row = panel_page.page.get_by_role("grid", name="Captures").get_by_role("row").nth(2)
    panel_page.until(lambda: row.locator("[data-key='out maximum']").inner_text() == "5")


def test_the_filter_keeps_rows_that_hold_every_word(panel_page: PanelPage, session: PlainSession) -> None:
    for path in ("conv1", "conv2", "head"):
        session.capture(path)
        session.capture(path, direction="backward", slot="grad_input[0]")
    session.emit("finished")
    tab(panel_page, "Captures")
    grid = panel_page.page.get_by_role("grid", name="Captures")
    panel_page.until(panel_page.page.get_by_text("6 captures", exact=True).is_visible)
    panel_page.page.get_by_role("searchbox", name="Filter captures").fill("conv back")
    panel_page.until(panel_page.page.get_by_text("2 of 6 captures", exact=True).is_visible)
    panel_page.until(lambda: grid.get_attribute("aria-rowcount") == "5")


def test_a_selected_capture_shows_its_histogram(panel_page: PanelPage, session: PlainSession) -> None:
    session.capture(origin="hook")
    session.emit("finished")
    tab(panel_page, "Captures")
    row = panel_page.page.get_by_role("grid", name="Captures").get_by_role("row").nth(2)
    panel_page.until(row.is_visible)
    assert "hook" in row.inner_text()
    row.click()
    drawn = panel_page.page.get_by_role("img", name="Histogram of block#0 forward output: 64 bins from 0 to 5")
    panel_page.until(drawn.is_visible)
    assert drawn.locator(".hs-bin").count() == 6  # one bar for each of the values 0 to 5


def test_parameters_are_sorted_by_their_headers_and_frozen_by_their_box(
    panel_page: PanelPage, session: PlainSession
) -> None:
    session.rows.append(type(session.rows[0])(**{**vars(session.rows[0]), "name": "a.bias", "size": 9}))
    panel_page.panel.sync()
    tab(panel_page, "Parameters")
    grid = panel_page.page.get_by_role("grid", name="Parameters")
    first = grid.get_by_role("row").nth(1).get_by_role("gridcell").nth(0)
    panel_page.until(lambda: first.inner_text() == "block.weight")
    button(panel_page, "size").click()
    button(panel_page, "size").click()
    panel_page.until(lambda: first.inner_text() == "a.bias")
    assert grid.get_by_role("columnheader", name="size").get_attribute("aria-sort") == "descending"
    box = panel_page.page.get_by_role("checkbox", name="requires_grad of block.weight")
    box.click()
    panel_page.until(lambda: not box.is_checked())
    assert session.rows[0].requires_grad is False


def test_a_pause_shows_the_stepper_and_the_keys_step(panel_page: PanelPage, session: PlainSession) -> None:
    assert status(panel_page) == "ready"
    session.pause()
    step = button(panel_page, "Step over")
    panel_page.until(step.is_enabled)
    assert status(panel_page) == "paused in bprop of block.relu, line 11"
    assert panel_page.page.locator("[aria-current=true]").inner_text().split() == ["11", "return", "(dout,)"]
    step.focus()
    keys = {"F10": "over", "F11": "into", "Shift+F11": "out", "F9": "continue"}
    for key, command in keys.items():
        session.pause()
        panel_page.until(step.is_enabled)
        panel_page.page.keyboard.press(key)
        assert step.is_disabled()
        panel_page.until(lambda command=command: session.commands[-1:] == [command])
    assert session.commands == list(keys.values())
    for name in ("Step over", "Next operator", "Continue", "Abort", "Step back", "Step forward", "Evaluate"):
        assert button(panel_page, name).is_disabled()


def test_the_past_is_shown_by_its_buttons_and_an_operator_by_a_click(
    panel_page: PanelPage, session: PlainSession
) -> None:
    session.pause()
    panel_page.until(button(panel_page, "Step back").is_enabled)
    title = panel_page.page.locator(".hs-stop-title")
    button(panel_page, "Step back").click()
    panel_page.until(lambda: title.inner_text() == "Earlier: bprop of block.relu, line 10")
    assert panel_page.page.locator(".hs-source [aria-current=true]").inner_text().split()[0] == "10"
    assert status(panel_page) == "paused in bprop of block.relu, line 11"
    button(panel_page, "Step forward").click()
    panel_page.until(lambda: title.inner_text() == "bprop of block.relu, line 11")
    operator = panel_page.page.locator(".hs-operators").get_by_role("button")
    operator.focus()
    panel_page.page.keyboard.press("Enter")
    panel_page.until(lambda: operator.get_attribute("aria-current") == "true")
    assert operator.evaluate("one => one === document.activeElement")
    assert session.commands == []


def test_what_changed_is_marked_beside_its_name_however_long_that_is(
    panel_page: PanelPage, session: PlainSession
) -> None:
    long = "a_very_long_name_that_does_not_fit_into_its_column"
    session.pause(locals={"n": 3, long: 4, "same": 5}, changed={"n", long})
    for name, mark in (("n changed", 1), (f"{long} changed", 1), ("same", 0)):
        header = panel_page.page.get_by_role("rowheader", name=name, exact=True)
        panel_page.until(header.is_visible)
        assert header.get_by_role("img", name="changed").count() == mark
        inside = """header => [...header.querySelectorAll("[role=img]")].every(
            (mark) => mark.getBoundingClientRect().right <= header.getBoundingClientRect().right)"""
        assert header.evaluate(inside)


@pytest.mark.parametrize("name", ["Captures", "Parameters"])
def test_a_table_needs_no_sideways_scrolling_in_a_panel_850_pixels_wide(
    panel_page: PanelPage, session: PlainSession, name: str
) -> None:
    for k in range(40):
        session.capture("encoder.block.conv", slot="grad_output[0]", direction="backward", origin="hook", hits=["nan"])
        session.captures[k].value._array[:] *= -1.234567e-7
    session.emit("finished")
    panel_page.page.set_viewport_size({"width": 850 + 16, "height": 640})
    tab(panel_page, name)
    grid = panel_page.page.get_by_role("grid", name=name)
    panel_page.until(grid.get_by_role("row").nth(1).is_visible)
    assert grid.evaluate("grid => [grid.offsetWidth, grid.scrollWidth - grid.clientWidth]") == [848, 0]
    cut = """grid => [...grid.querySelectorAll(".hs-number")]
        .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"""
    assert grid.evaluate(cut) == []


def test_the_focus_survives_a_step(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause()
    step = button(panel_page, "Step into")
    panel_page.until(step.is_enabled)
    step.focus()
    panel_page.page.keyboard.press("Enter")
    panel_page.until(lambda: session.commands == ["into"])
    assert step.is_disabled()
    session.pause(line=10)
    panel_page.until(step.is_enabled)
    assert step.evaluate("element => element === document.activeElement")


def test_plain_keys_are_kept_from_jupyters_shortcuts_and_ctrl_is_not(panel_page: PanelPage) -> None:
    # JupyterLab decides in a capturing listener on the document, by this attribute of the focused element.
    panel_page.page.evaluate("""() => {
        window.kept = [];
        const note = (event) => kept.push(event.target.hasAttribute("data-lm-suppress-shortcuts"));
        document.addEventListener("keydown", note, { capture: true });
    }""")
    panel_page.page.get_by_role("tab", name="Cells").focus()
    for key in ("b", "ArrowDown", "Control+m"):
        panel_page.page.keyboard.press(key)
    assert panel_page.page.evaluate("kept") == [True, True, False, False]  # the last two: Control, then m


def test_an_evaluation_answers_with_a_value_or_an_error(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause()
    box = panel_page.page.get_by_role("textbox", name="Evaluate")
    panel_page.until(box.is_enabled)
    log = panel_page.page.get_by_role("log")
    box.fill("n * 14")
    box.press("Enter")
    panel_page.until(lambda: "42" in log.inner_text())
    box.fill("1 / 0")
    button(panel_page, "Evaluate").click()
    panel_page.until(lambda: "ZeroDivisionError: division by zero" in log.inner_text())
    box.press("ArrowUp")
    assert box.input_value() == "1 / 0"


def test_a_reloaded_page_shows_the_same(panel_page: PanelPage, session: PlainSession) -> None:
    for _ in range(5):
        session.capture()
    session.pause()
    panel_page.until(button(panel_page, "Step over").is_enabled)
    before = panel_page.page.locator(".hs").inner_text()
    panel_page.page.evaluate("show()")
    panel_page.until(button(panel_page, "Step over").is_enabled)
    assert panel_page.page.locator(".hs").inner_text() == before
    tab(panel_page, "Captures")
    panel_page.until(panel_page.page.get_by_text("5 captures", exact=True).is_visible)


def test_a_panel_drawn_again_shows_the_tab_that_was_chosen(panel_page: PanelPage) -> None:
    tab(panel_page, "Parameters")
    panel_page.until(lambda: panel_page.panel.view == "parameters")
    panel_page.page.evaluate("show()")
    panel_page.until(panel_page.page.get_by_role("tabpanel", name="Parameters").is_visible)


def test_hostile_names_stay_text(panel_page: PanelPage, session: PlainSession) -> None:
    session.nodes.append(plain_node(HOSTILE, 1, HOSTILE, shape=HOSTILE))
    session.rows[0].name = HOSTILE
    session.capture(HOSTILE, slot=HOSTILE, hits=[HOSTILE])
    session.pause(path=HOSTILE, reason=HOSTILE, lines=[HOSTILE], locals={HOSTILE: 1}, stack=[HOSTILE, HOSTILE])
    panel_page.until(button(panel_page, "Step over").is_enabled)
    panel_page.ask(type="evaluate", expression=f"{HOSTILE!r}")
    panel_page.panel.selected = 0
    for name in ("Cells", "Captures", "Parameters", "Stepper"):
        tab(panel_page, name)
        panel_page.until(lambda name=name: HOSTILE in panel_page.page.get_by_role("tabpanel", name=name).inner_text())
    assert panel_page.page.locator("img").count() == 0
    assert panel_page.page.title() == "panel"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_4_5_in_light_and_dark(
    panel_page: PanelPage, session: PlainSession, scheme: Any
) -> None:
    panel_page.page.emulate_media(color_scheme=scheme)
    session.capture(origin="hook", hits=["nan"])
    session.pause(exception=ValueError("bad"))
    panel_page.panel._received(None, {"type": "explode"}, [])
    panel_page.panel.selected = 0
    panel_page.ask(type="evaluate", expression="missing")
    for name in ("Cells", "Captures", "Parameters", "Stepper"):
        tab(panel_page, name)
        panel_page.carry()
        ratio, where = lowest_contrast(panel_page.page)
        assert ratio >= 4.5, where
