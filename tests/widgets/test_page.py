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


def test_thousands_of_captures_need_few_elements_and_scroll(shown: PanelPage, session: PlainSession) -> None:
    for step in range(3000):
        session.capture(step=step)
    session.emit("finished")
    tab(shown, "Captures")
    grid = shown.page.get_by_role("grid", name="Captures")
    shown.until(lambda: grid.get_attribute("aria-rowcount") == "6001")  # each below a heading
    assert grid.get_by_role("row").count() < 40
    newest = button(shown, "Newest first")
    newest.click()
    first = grid.get_by_role("row").nth(2)
    shown.until(lambda: first.inner_text().startswith("2999"))
    newest.click()
    shown.until(lambda: first.inner_text().startswith("0"))
    grid.focus()
    shown.page.keyboard.press("End")
    shown.until(lambda: grid.locator("[aria-selected=true]").inner_text().startswith("2999"))
    active = grid.get_attribute("aria-activedescendant")
    assert shown.page.locator(f"#{active}").is_visible()


def test_figures_left_out_while_training_come_when_they_are_looked_at(
    shown: PanelPage, session: PlainSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookscope.widgets.panel._IDLE_BUDGET", 0.0)
    session.capture()
    session.emit("finished")
    tab(shown, "Captures")
    row = shown.page.get_by_role("grid", name="Captures").get_by_role("row").nth(2)
    shown.until(lambda: row.locator("[data-key='out maximum']").inner_text() == "5")


def test_the_filter_keeps_rows_that_hold_every_word(shown: PanelPage, session: PlainSession) -> None:
    for path in ("conv1", "conv2", "head"):
        session.capture(path)
        session.capture(path, direction="backward", slot="grad_input[0]")
    session.emit("finished")
    tab(shown, "Captures")
    grid = shown.page.get_by_role("grid", name="Captures")
    shown.until(shown.page.get_by_text("6 captures", exact=True).is_visible)
    shown.page.get_by_role("searchbox", name="Filter captures").fill("conv back")
    shown.until(shown.page.get_by_text("2 of 6 captures", exact=True).is_visible)
    shown.until(lambda: grid.get_attribute("aria-rowcount") == "5")


def test_a_selected_capture_shows_its_histogram(shown: PanelPage, session: PlainSession) -> None:
    session.capture(origin="hook")
    session.emit("finished")
    tab(shown, "Captures")
    row = shown.page.get_by_role("grid", name="Captures").get_by_role("row").nth(2)
    shown.until(row.is_visible)
    assert "hook" in row.inner_text()
    row.click()
    drawn = shown.page.get_by_role("img", name="Histogram of block#0 forward output: 64 bins from 0 to 5")
    shown.until(drawn.is_visible)
    assert drawn.locator(".hs-bin").count() == 6  # one bar for each of the values 0 to 5


def test_parameters_are_sorted_by_their_headers_and_frozen_by_their_box(
    shown: PanelPage, session: PlainSession
) -> None:
    session.rows.append(type(session.rows[0])(**{**vars(session.rows[0]), "name": "a.bias", "size": 9}))
    shown.panel.sync()
    tab(shown, "Parameters")
    grid = shown.page.get_by_role("grid", name="Parameters")
    first = grid.get_by_role("row").nth(1).get_by_role("gridcell").nth(0)
    shown.until(lambda: first.inner_text() == "block.weight")
    button(shown, "size").click()
    button(shown, "size").click()
    shown.until(lambda: first.inner_text() == "a.bias")
    assert grid.get_by_role("columnheader", name="size").get_attribute("aria-sort") == "descending"
    box = shown.page.get_by_role("checkbox", name="requires_grad of block.weight")
    box.click()
    shown.until(lambda: not box.is_checked())
    assert session.rows[0].requires_grad is False


def test_a_pause_shows_the_stepper_and_the_keys_step(shown: PanelPage, session: PlainSession) -> None:
    assert status(shown) == "ready"
    session.pause()
    step = button(shown, "Step over")
    shown.until(step.is_enabled)
    assert status(shown) == "paused in bprop of block.relu, line 11"
    assert shown.page.locator("[aria-current=true]").inner_text().split() == ["11", "return", "(dout,)"]
    step.focus()
    keys = {"F10": "over", "F11": "into", "Shift+F11": "out", "F9": "continue"}
    for key, command in keys.items():
        session.pause()
        shown.until(step.is_enabled)
        shown.page.keyboard.press(key)
        assert step.is_disabled()
        shown.until(lambda command=command: session.commands[-1:] == [command])
    assert session.commands == list(keys.values())
    for name in ("Step over", "Next operator", "Continue", "Abort", "Step back", "Step forward", "Evaluate"):
        assert button(shown, name).is_disabled()


def test_the_past_is_shown_by_its_buttons_and_an_operator_by_a_click(shown: PanelPage, session: PlainSession) -> None:
    session.pause()
    shown.until(button(shown, "Step back").is_enabled)
    title = shown.page.locator(".hs-stop-title")
    button(shown, "Step back").click()
    shown.until(lambda: title.inner_text() == "Earlier: bprop of block.relu, line 10")
    assert shown.page.locator(".hs-source [aria-current=true]").inner_text().split()[0] == "10"
    assert status(shown) == "paused in bprop of block.relu, line 11"
    button(shown, "Step forward").click()
    shown.until(lambda: title.inner_text() == "bprop of block.relu, line 11")
    operator = shown.page.locator(".hs-operators").get_by_role("button")
    operator.focus()
    shown.page.keyboard.press("Enter")
    shown.until(lambda: operator.get_attribute("aria-current") == "true")
    assert operator.evaluate("one => one === document.activeElement")
    assert session.commands == []


def test_what_changed_is_marked_beside_its_name_however_long_that_is(shown: PanelPage, session: PlainSession) -> None:
    long = "a_very_long_name_that_does_not_fit_into_its_column"
    session.pause(locals={"n": 3, long: 4, "same": 5}, changed={"n", long})
    for name, mark in (("n changed", 1), (f"{long} changed", 1), ("same", 0)):
        header = shown.page.get_by_role("rowheader", name=name, exact=True)
        shown.until(header.is_visible)
        assert header.get_by_role("img", name="changed").count() == mark
        inside = """header => [...header.querySelectorAll("[role=img]")].every(
            (mark) => mark.getBoundingClientRect().right <= header.getBoundingClientRect().right)"""
        assert header.evaluate(inside)


@pytest.mark.parametrize("name", ["Captures", "Parameters"])
def test_a_table_needs_no_sideways_scrolling_in_a_panel_850_pixels_wide(
    shown: PanelPage, session: PlainSession, name: str
) -> None:
    for k in range(40):
        session.capture("encoder.block.conv", slot="grad_output[0]", direction="backward", origin="hook", hits=["nan"])
        session.captures[k].value._array[:] *= -1.234567e-7
    session.emit("finished")
    shown.page.set_viewport_size({"width": 850 + 16, "height": 640})
    tab(shown, name)
    grid = shown.page.get_by_role("grid", name=name)
    shown.until(grid.get_by_role("row").nth(1).is_visible)
    assert grid.evaluate("grid => [grid.offsetWidth, grid.scrollWidth - grid.clientWidth]") == [848, 0]
    cut = """grid => [...grid.querySelectorAll(".hs-number")]
        .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"""
    assert grid.evaluate(cut) == []


def test_the_focus_survives_a_step(shown: PanelPage, session: PlainSession) -> None:
    session.pause()
    step = button(shown, "Step into")
    shown.until(step.is_enabled)
    step.focus()
    shown.page.keyboard.press("Enter")
    shown.until(lambda: session.commands == ["into"])
    assert step.is_disabled()
    session.pause(line=10)
    shown.until(step.is_enabled)
    assert step.evaluate("element => element === document.activeElement")


def test_plain_keys_are_kept_from_jupyters_shortcuts_and_ctrl_is_not(shown: PanelPage) -> None:
    # JupyterLab decides in a capturing listener on the document, by this attribute of the focused element.
    shown.page.evaluate("""() => {
        window.kept = [];
        const note = (event) => kept.push(event.target.hasAttribute("data-lm-suppress-shortcuts"));
        document.addEventListener("keydown", note, { capture: true });
    }""")
    shown.page.get_by_role("tab", name="Cells").focus()
    for key in ("b", "ArrowDown", "Control+m"):
        shown.page.keyboard.press(key)
    assert shown.page.evaluate("kept") == [True, True, False, False]  # the last two: Control, then m


def test_an_evaluation_answers_with_a_value_or_an_error(shown: PanelPage, session: PlainSession) -> None:
    session.pause()
    box = shown.page.get_by_role("textbox", name="Evaluate")
    shown.until(box.is_enabled)
    log = shown.page.get_by_role("log")
    box.fill("n * 14")
    box.press("Enter")
    shown.until(lambda: "42" in log.inner_text())
    box.fill("1 / 0")
    button(shown, "Evaluate").click()
    shown.until(lambda: "ZeroDivisionError: division by zero" in log.inner_text())
    box.press("ArrowUp")
    assert box.input_value() == "1 / 0"


def test_a_reloaded_page_shows_the_same(shown: PanelPage, session: PlainSession) -> None:
    for _ in range(5):
        session.capture()
    session.pause()
    shown.until(button(shown, "Step over").is_enabled)
    before = shown.page.locator(".hs").inner_text()
    shown.page.evaluate("show()")
    shown.until(button(shown, "Step over").is_enabled)
    assert shown.page.locator(".hs").inner_text() == before
    tab(shown, "Captures")
    shown.until(shown.page.get_by_text("5 captures", exact=True).is_visible)


def test_a_panel_drawn_again_shows_the_tab_that_was_chosen(shown: PanelPage) -> None:
    tab(shown, "Parameters")
    shown.until(lambda: shown.panel.view == "parameters")
    shown.page.evaluate("show()")
    shown.until(shown.page.get_by_role("tabpanel", name="Parameters").is_visible)


def test_hostile_names_stay_text(shown: PanelPage, session: PlainSession) -> None:
    session.nodes.append(plain_node(HOSTILE, 1, HOSTILE, shape=HOSTILE))
    session.rows[0].name = HOSTILE
    session.capture(HOSTILE, slot=HOSTILE, hits=[HOSTILE])
    session.pause(path=HOSTILE, reason=HOSTILE, lines=[HOSTILE], locals={HOSTILE: 1}, stack=[HOSTILE, HOSTILE])
    shown.until(button(shown, "Step over").is_enabled)
    shown.ask(type="evaluate", expression=f"{HOSTILE!r}")
    shown.panel.selected = 0
    for name in ("Cells", "Captures", "Parameters", "Stepper"):
        tab(shown, name)
        shown.until(lambda name=name: HOSTILE in shown.page.get_by_role("tabpanel", name=name).inner_text())
    assert shown.page.locator("img").count() == 0
    assert shown.page.title() == "panel"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_a_contrast_of_4_5_in_light_and_dark(shown: PanelPage, session: PlainSession, scheme: Any) -> None:
    shown.page.emulate_media(color_scheme=scheme)
    session.capture(origin="hook", hits=["nan"])
    session.pause(exception=ValueError("bad"))
    shown.panel._received(None, {"type": "explode"}, [])
    shown.panel.selected = 0
    shown.ask(type="evaluate", expression="missing")
    for name in ("Cells", "Captures", "Parameters", "Stepper"):
        tab(shown, name)
        shown.carry()
        ratio, where = lowest_contrast(shown.page)
        assert ratio >= 4.5, where
