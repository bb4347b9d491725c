"""Breakpoints in the stepper's gutter, in Chromium: by click, by keyboard, with a condition, set in code."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator

from hookscope.engine.debug.stop.breakpoints.breakpoint import Breakpoint
from tests.browser.accessibility import lowest_contrast

LINES = ["def bprop(self, x, out, dout):\n", "    # the gradient\n", "    dx = dout\n", "    return (dx,)\n"]


@pytest.fixture
def gutter(panel_page: PanelPage, session: PlainSession) -> PanelPage:
    """Pause at line 12 of a bprop that begins at line 10, where line 11 is a comment; return the gutter."""
    session.pause(lines=LINES, line=12, stoppable=frozenset({12, 13}), bprop_begins=("cell.py", 10))
    panel_page.until(number(panel_page, 12).is_enabled)
    return panel_page


def number(button_shown: PanelPage, line: int) -> Locator:
    return button_shown.page.get_by_role("button", name=f"Breakpoint at line {line}", exact=True)


def condition(button_shown: PanelPage, line: int) -> Locator:
    return button_shown.page.get_by_role("textbox", name=f"Condition of the breakpoint at line {line}")


def stops(session: PlainSession) -> list[str]:
    return [str(stop) for stop in session.breakpoints]


def pressed(button: Locator) -> bool:
    return button.get_attribute("aria-pressed") == "true"


def test_a_click_on_a_line_number_sets_a_breakpoint_and_another_removes_it(
    gutter: PanelPage, session: PlainSession
) -> None:
    number(gutter, 13).click()
    gutter.until(lambda: pressed(number(gutter, 13)))
    assert stops(session) == ["block.relu:13"] and not pressed(number(gutter, 12))
    number(gutter, 13).click()
    gutter.until(lambda: not pressed(number(gutter, 13)))
    assert stops(session) == []


def test_the_head_of_a_bprop_stands_for_its_first_line(gutter: PanelPage, session: PlainSession) -> None:
    number(gutter, 10).click()
    gutter.until(lambda: pressed(number(gutter, 10)))
    assert stops(session) == ["block.relu:bprop"]


def test_a_line_without_code_has_a_number_and_no_button(gutter: PanelPage) -> None:
    assert number(gutter, 11).count() == 0
    assert gutter.page.get_by_text("11", exact=True).is_visible()


def test_the_keyboard_comes_to_one_number_walks_the_others_and_sets(gutter: PanelPage, session: PlainSession) -> None:
    gutter.page.get_by_role("list", name="Source of bprop").focus()
    gutter.page.keyboard.press("Tab")
    assert number(gutter, 12).evaluate("one => one === document.activeElement")
    gutter.page.keyboard.press("ArrowDown")
    gutter.page.keyboard.press("Space")
    gutter.until(lambda: stops(session) == ["block.relu:13"])
    gutter.page.keyboard.press("ArrowUp")
    gutter.page.keyboard.press("ArrowUp")
    assert number(gutter, 10).evaluate("one => one === document.activeElement")
    gutter.page.keyboard.press("F10")  # and the keys still work there
    gutter.until(lambda: session.commands == ["over"])


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_ctrl_and_a_line_number_run_up_to_that_line(gutter: PanelPage, session: PlainSession, way: str) -> None:
    if way == "mouse":
        number(gutter, 13).click(modifiers=["Control"])
    else:
        number(gutter, 13).focus()
        gutter.page.keyboard.press("Control+Enter")
    gutter.until(lambda: session.commands == ["run to 13"])
    assert stops(session) == []


def test_a_logpoint_is_written_beside_the_line(gutter: PanelPage, session: PlainSession) -> None:
    number(gutter, 12).click(button="right")
    gutter.page.get_by_role("textbox", name="Text that line 12 prints in place of a pause").fill("n is {n}")
    gutter.page.get_by_role("button", name="Set", exact=True).click()
    gutter.until(lambda: stops(session) == ["block.relu:12 log n is {n}"])
    gutter.until(gutter.page.get_by_role("button", name="Condition at line 12: log n is {n}").is_visible)


def test_a_condition_is_written_beside_the_line(gutter: PanelPage, session: PlainSession) -> None:
    number(gutter, 13).click()
    gutter.until(gutter.page.get_by_role("button", name="Condition at line 13: none").is_visible)
    gutter.page.get_by_role("button", name="Condition at line 13: none").click()
    condition(gutter, 13).fill("float(dx.sum()) > 1")
    condition(gutter, 13).press("Enter")
    button_shown = gutter.page.get_by_role("button", name="Condition at line 13: float(dx.sum()) > 1")
    gutter.until(button_shown.is_visible)
    assert stops(session) == ["block.relu:13 if float(dx.sum()) > 1"]
    button_shown.click()
    assert condition(gutter, 13).input_value() == "float(dx.sum()) > 1"
    condition(gutter, 13).press("Escape")
    assert condition(gutter, 13).count() == 0
    assert number(gutter, 13).evaluate("one => one === document.activeElement")
    assert stops(session) == ["block.relu:13 if float(dx.sum()) > 1"]


def test_a_right_click_begins_with_the_condition(gutter: PanelPage, session: PlainSession) -> None:
    number(gutter, 12).click(button="right")
    condition(gutter, 12).fill("n == 3")
    condition(gutter, 12).press("Enter")
    gutter.until(lambda: stops(session) == ["block.relu:12 if n == 3"])


def test_a_faulty_condition_is_refused_and_what_stood_there_stays(gutter: PanelPage, session: PlainSession) -> None:
    number(gutter, 12).click()
    gutter.until(lambda: stops(session) == ["block.relu:12"])
    number(gutter, 12).click(button="right")
    condition(gutter, 12).fill("n ==")
    condition(gutter, 12).press("Enter")
    gutter.until(gutter.page.get_by_text("expression 'n ==': invalid syntax").first.is_visible)
    assert stops(session) == ["block.relu:12"]


def test_breakpoints_of_the_code_are_shown_and_what_their_condition_raised(
    gutter: PanelPage, session: PlainSession
) -> None:
    failing = Breakpoint("block.*", "13", "missing > 1")
    failing.error = "NameError: name 'missing' is not defined"
    for item in (failing, Breakpoint("block.relu", "bprop"), Breakpoint("block.relu", "other.py:12")):
        session.add_breakpoint(item)
    gutter.until(lambda: pressed(number(gutter, 13)) and pressed(number(gutter, 10)))
    assert not pressed(number(gutter, 12))
    assert gutter.page.get_by_text("if missing > 1: NameError: name 'missing' is not defined").is_visible()
    number(gutter, 13).click()
    gutter.until(lambda: stops(session) == ["block.relu:bprop", "block.relu:other.py:12"])


def test_a_line_of_another_file_is_kept_with_its_file(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause(
        filename="/a/helpers.py",
        function="helper",
        lines=LINES,
        line=12,
        stoppable=frozenset({12, 13}),
        bprop_begins=("cell.py", 10),
    )
    panel_page.until(number(panel_page, 12).is_enabled)
    assert number(panel_page, 10).count() == 0
    number(panel_page, 12).click()
    panel_page.until(lambda: pressed(number(panel_page, 12)))
    assert stops(session) == ["block.relu:/a/helpers.py:12"]


@pytest.mark.parametrize("moment", ["construct", "bprop"])
def test_in_another_function_than_the_paused_one_a_line_is_named_with_its_file(
    panel_page: PanelPage, session: PlainSession, moment: str
) -> None:
    begins = ("/a/train.py", 3) if moment == "bprop" else ("", 0)
    place: dict[str, Any] = {"filename": "/a/train.py", "function": "train", "where": "train", "bprop_begins": begins}
    session.pause(moment=moment, lines=LINES, line=12, stoppable=frozenset({12}), **place)
    panel_page.until(number(panel_page, 12).is_enabled)
    number(panel_page, 12).click()
    panel_page.until(lambda: pressed(number(panel_page, 12)))
    assert stops(session) == ["/a/train.py:12"]


def test_while_the_run_goes_on_and_outside_of_a_bprop_nothing_can_be_set(
    gutter: PanelPage, session: PlainSession
) -> None:
    gutter.page.get_by_role("button", name="Continue", exact=True).click()
    gutter.until(lambda: session.commands == ["continue"])
    assert number(gutter, 12).is_disabled()
    session.pause(moment="forward", lines=LINES, line=12)
    gutter.until(gutter.page.get_by_role("button", name="Step over", exact=True).is_enabled)
    assert gutter.page.get_by_role("button", name="Breakpoint at line").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_conditions_have_a_contrast_of_4_5_also_in_the_past(
    gutter: PanelPage, session: PlainSession, scheme: Any
) -> None:
    gutter.page.emulate_media(color_scheme=scheme)
    failing = Breakpoint("block.relu", "13", "missing > 1")
    failing.error = "NameError: name 'missing' is not defined"
    session.add_breakpoint(failing)
    gutter.ask(type="set_breakpoint_at", line=12, condition="n == 3", log="")
    gutter.ask(type="watch_expression", expression="missing")
    for look in (None, "Step back"):
        if look:
            gutter.page.get_by_role("button", name=look, exact=True).click()
            gutter.until(gutter.page.get_by_text("You are looking at the past").is_visible)
        gutter.until(gutter.page.get_by_role("button", name="Condition at line 12: n == 3").is_visible)
        ratio, where = lowest_contrast(gutter.page)
        assert ratio >= 4.5, where


@pytest.mark.parametrize("width", [1100, 350])
def test_a_condition_and_its_fields_cover_no_source_and_fit(
    panel_page: PanelPage, session: PlainSession, width: int
) -> None:
    panel_page.page.set_viewport_size({"width": width, "height": 900})
    session.pause(lines=[LINES[0], f"    dx = {'dout + ' * 20}dout\n"], stoppable=frozenset({11}))
    panel_page.until(number(panel_page, 11).is_enabled)
    number(panel_page, 11).click(button="right")
    source = panel_page.page.get_by_role("list", name="Source of bprop")
    for control in [*source.get_by_role("textbox").all(), source.get_by_role("button", name="Set", exact=True)]:
        expect_below_the_code(source, control)
    condition(panel_page, 11).fill("float(dx.sum()) > 1 and n == 3")
    condition(panel_page, 11).press("Enter")
    shown = panel_page.page.get_by_role("button", name="Condition at line 11: float(dx.sum()) > 1 and n == 3")
    panel_page.until(shown.is_visible)
    expect_below_the_code(source, shown)


def expect_below_the_code(source: Locator, control: Locator) -> None:
    code, room, box = (element.bounding_box() for element in (source.locator("[data-line='11'] code"), source, control))
    assert room is not None
    assert code is not None
    assert box is not None
    assert box["y"] >= code["y"] + code["height"] - 1
    assert box["x"] >= room["x"]
    assert box["x"] + box["width"] <= room["x"] + room["width"]
