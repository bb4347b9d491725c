"""The stepper in Chromium: its keys, the operators forth and back, setting a value, the gradient check."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainSession, PlainTensor
from playwright.sync_api import Locator

from hookscope.engine.debug import GradientCheck, GradientRow
from hookscope.engine.debug.compare.difference import element
from hookscope.engine.debug.stop.pause import OperatorRecord
from tests.browser.accessibility import lowest_contrast

OPERATORS = [OperatorRecord(name, (PlainTensor(np.ones(2)), 2), PlainTensor(np.zeros(2))) for name in ("mul", "add")]
CHECK = GradientCheck(
    "block.relu (LeakyReLU)",
    "float32",
    [
        GradientRow(
            "x",
            "input",
            (2, 2),
            "float32",
            "wrong",
            "differs from finite differences",
            element(1.0, 3.0, (0, 1)),
            element(1.0, 3.0, (0, 1)),
            4,
        ),
        GradientRow("n", "input", (), "int", "skipped", "no tensor"),
    ],
)


def button(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("button", name=name, exact=True)


@pytest.fixture
def paused(panel_page: PanelPage, session: PlainSession) -> PanelPage:
    """Pause the stepper in a bprop that ran two operators."""
    session.pause(operators=list(OPERATORS), arguments=(1, 2, 3))
    panel_page.until(button(panel_page, "Step over").is_enabled)
    return panel_page


@pytest.mark.parametrize(("width", "shown"), [(1300, "Operator\nF8"), (800, "Operator"), (480, "")])
def test_a_button_shows_its_name_and_its_key_where_there_is_room(paused: PanelPage, width: int, shown: str) -> None:
    paused.page.set_viewport_size({"width": width, "height": 700})
    next_operator = button(paused, "Next operator")
    paused.until(lambda: next_operator.inner_text() == shown)
    assert next_operator.locator("svg").is_visible()


def test_every_button_has_its_key_and_the_keys_do_the_same(paused: PanelPage, session: PlainSession) -> None:
    toolbar = paused.page.get_by_role("toolbar", name="Stepping")
    keys = toolbar.get_by_role("button").evaluate_all("all => all.map((one) => one.getAttribute('aria-keyshortcuts'))")
    assert keys == ["F10", "F11", "Shift+F11", "F8", "Shift+F8", "F9", "Shift+F9", "F4", "Shift+F4"]
    button(paused, "Step over").focus()
    for key, command in {"F8": "operator", "Shift+F8": "cell", "Shift+F9": "abort"}.items():
        session.pause()
        paused.until(button(paused, "Step over").is_enabled)
        paused.page.keyboard.press(key)
        paused.until(lambda command=command: session.commands[-1:] == [command])
    session.pause()
    paused.until(button(paused, "Step over").is_enabled)
    for key, look in {"F4": ("step_back",), "Shift+F4": ("step_forward",)}.items():
        paused.page.keyboard.press(key)
        paused.until(lambda look=look: session.looks[-1:] == [look])


def test_an_icon_says_what_it_means_to_the_pointer_and_to_the_keyboard(paused: PanelPage) -> None:
    tip = paused.page.get_by_text("Step out", exact=True)
    assert button(paused, "Step out").locator("svg").count() == 1
    assert not tip.is_visible()
    button(paused, "Step out").hover()
    paused.until(tip.is_visible)
    assert tip.locator("..").inner_text().split("\n")[-1].endswith("Shift+F11")
    paused.page.mouse.move(5, 600)
    paused.until(lambda: not tip.is_visible())
    button(paused, "Step into").focus()
    paused.page.keyboard.press("Tab")
    paused.until(tip.is_visible)
    for width in (1000, 480):
        paused.page.set_viewport_size({"width": width, "height": 640})
        for name in ("Step over", "Step forward"):
            button(paused, name).hover()
            box = paused.page.get_by_text(name, exact=True).locator("..").bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width


def test_going_on_and_looking_back_are_two_groups(paused: PanelPage) -> None:
    def names(group: str) -> list[str]:
        buttons = paused.page.get_by_role("group", name=group, exact=True).get_by_role("button")
        return [str(name) for name in buttons.evaluate_all("all => all.map((one) => one.ariaLabel)")]

    assert names("Look back") == ["Step back", "Step forward"]
    assert names("Go on") == ["Step over", "Step into", "Step out", "Next operator", "Next cell", "Continue", "Abort"]


def test_the_past_is_said_and_tinted(paused: PanelPage, session: PlainSession) -> None:
    view = paused.page.get_by_role("tabpanel", name="Stepper").locator("> div")
    color = "one => getComputedStyle(one).backgroundColor"
    now, line = view.evaluate(color), paused.page.get_by_text("You are looking at the past")
    assert not line.is_visible()
    button(paused, "Step back").click()
    paused.until(line.is_visible)
    assert line.inner_text() == "You are looking at the past: line 10, 1 step back. Step forward (Shift+F4) returns."
    assert view.evaluate(color) != now
    assert line.get_attribute("aria-live") == "polite"
    button(paused, "Step forward").click()
    paused.until(lambda: not line.is_visible())
    assert view.evaluate(color) == now


def test_what_was_evaluated_stands_above_its_prompt(paused: PanelPage) -> None:
    paused.ask(type="evaluate", expression="n + 1")
    log = paused.page.get_by_role("log", name="Evaluation results")
    paused.until(log.is_visible)
    above, prompt = log.bounding_box(), paused.page.get_by_role("textbox", name="Evaluate").bounding_box()
    assert above is not None and prompt is not None
    assert above["y"] + above["height"] <= prompt["y"]


def test_operators_are_walked_back_and_forth_and_show_their_values(paused: PanelPage, session: PlainSession) -> None:
    operators = paused.page.get_by_role("list", name="Operators run").get_by_role("button")
    values = paused.page.locator("dl").filter(has_text="inputs[0]")
    assert not values.is_visible()
    button(paused, "Earlier operator").click()
    paused.until(lambda: operators.nth(1).get_attribute("aria-current") == "true")
    assert "PlainTensor 2 float64 [1, 1]" in values.inner_text()
    assert "PlainTensor 2 float64 [0, 0]" in values.inner_text()
    operators.nth(1).focus()
    paused.page.keyboard.press("ArrowUp")
    paused.until(lambda: operators.nth(0).get_attribute("aria-current") == "true")
    assert operators.nth(0).evaluate("one => one === document.activeElement")
    assert operators.count() == 2
    button(paused, "Later operator").click()
    paused.until(lambda: operators.nth(1).get_attribute("aria-current") == "true")
    assert session.looks == [("show_operator", 1), ("show_operator", 0), ("show_operator", 1)]
    tabs = operators.evaluate_all("all => all.map((one) => one.tabIndex)")
    assert tabs == [-1, 0]


def test_an_assignment_sets_and_anything_else_is_evaluated(paused: PanelPage, session: PlainSession) -> None:
    def edit(name: str, expression: str) -> object:
        session.paused.locals[name] = eval(expression, {}, dict(session.paused.locals))
        return session.paused.locals[name]

    session.edit = edit
    box = paused.page.get_by_role("textbox", name="Evaluate")
    log = paused.page.get_by_role("log", name="Evaluation results")
    box.fill("n = n * 7")
    button(paused, "Set").click()
    paused.until(lambda: "n = n * 7" in log.inner_text() and "21" in log.inner_text())
    row = paused.page.get_by_role("row").filter(has=paused.page.get_by_role("rowheader", name="n changed"))
    paused.until(lambda: "21" in row.inner_text())
    for text in ("n == 21", "dict(a=n)"):
        box.fill(text)
        button(paused, "Evaluate").click()
    paused.until(lambda: "True" in log.inner_text() and "{'a': 21}" in log.inner_text())
    box.fill("n = missing")
    box.press("Enter")
    paused.until(lambda: "NameError: name 'missing' is not defined" in log.inner_text())


def test_the_gradient_is_checked_beside_the_source(paused: PanelPage, session: PlainSession) -> None:
    session.check_gradient = lambda seconds: CHECK
    button(paused, "Check gradient").click()
    table = paused.page.get_by_role("table", name="Gradient check")
    paused.until(table.is_visible)
    assert [row.split("\t") for row in table.get_by_role("row").all_inner_texts()] == [
        ["of", "verdict", "relative difference"],
        ["to automatic", "to finite differences"],
        ["x", "wrong", "0.667 at [0, 1]", "0.667 at [0, 1]"],
        ["differs from finite differences"],
        ["n", "skipped", "", ""],
        ["no tensor"],
    ]
    assert paused.page.get_by_text("gradient of block.relu (LeakyReLU): wrong for x").is_visible()
    session.pause(path="block.other")
    paused.until(lambda: not table.is_visible())


def test_the_result_of_a_gradient_check_is_brought_into_sight(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause(locals={f"x{k}": k for k in range(12)}, bprop_begins=("cell.py", 10), arguments=(1, 2, 3))
    session.check_gradient = lambda seconds: CHECK
    check = button(panel_page, "Check gradient")
    panel_page.until(check.is_enabled)
    side = panel_page.page.locator(".hs-side")
    check.evaluate("(button) => (button.scrollIntoView({ block: 'end' }), button.click())")
    summary = panel_page.page.get_by_text("gradient of block.relu (LeakyReLU): wrong for x")

    def in_sight() -> bool:
        box, room = summary.bounding_box(), side.bounding_box()
        assert room is not None
        return box is not None and room["y"] <= box["y"] and box["y"] + box["height"] <= room["y"] + room["height"]

    panel_page.until(in_sight)


def test_while_the_gradient_is_checked_the_page_says_so(paused: PanelPage, session: PlainSession) -> None:
    def check(seconds: float) -> GradientCheck:
        paused.carry()  # a page shows this while the paused thread computes
        assert paused.page.get_by_text("checking …").is_visible()
        raise ValueError("construct has no derivative")

    session.check_gradient = check
    button(paused, "Check gradient").click()
    paused.until(paused.page.get_by_text("ValueError: construct has no derivative").is_visible)


def test_where_no_bprop_is_paused_no_gradient_can_be_checked(panel_page: PanelPage, session: PlainSession) -> None:
    session.pause(moment="forward")
    panel_page.until(button(panel_page, "Step over").is_enabled)
    assert button(panel_page, "Check gradient").is_disabled()


def test_in_a_narrow_window_the_current_line_of_a_long_function_is_in_sight(
    panel_page: PanelPage, session: PlainSession
) -> None:
    panel_page.page.set_viewport_size({"width": 480, "height": 700})
    lines = [f"    x{k} = {k}\n" for k in range(60)]
    session.pause(lines=lines, first_line=1, line=50)
    panel_page.until(button(panel_page, "Step over").is_enabled)
    line = panel_page.page.get_by_role("list", name="Source of bprop").locator("[aria-current=true]")
    panel_page.until(lambda: line.inner_text().split() == ["50", "x49", "=", "49"])
    source = panel_page.page.get_by_role("list", name="Source of bprop").bounding_box()
    box = line.bounding_box()
    assert source is not None and box is not None
    assert source["height"] < 250
    assert source["y"] <= box["y"] <= source["y"] + source["height"] - box["height"]
    assert panel_page.page.get_by_role("table", name="Locals").is_visible()


def test_in_a_narrow_window_nothing_lies_over_anything_else(paused: PanelPage, session: PlainSession) -> None:
    paused.page.set_viewport_size({"width": 480, "height": 700})
    paused.ask(type="select_local", name="n", part="")
    paused.ask(type="watch_expression", expression="n * " + "2 * " * 40 + "1")
    session.check_gradient = lambda seconds: CHECK
    paused.ask(type="check_gradient")
    paused.until(paused.page.get_by_role("table", name="Watched expressions").is_visible)
    body = paused.page.locator(".hs-stop-body")
    parts = body.locator("> .hs-stop-main > :visible, > .hs-side > * > :visible").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((one) => [one.top, one.bottom, one.left, one.right])"
    )
    assert len(parts) >= 6
    for (_, bottom, _, _), (top, _, _, _) in pairwise(parts):
        assert top >= bottom - 1
    assert all(left >= 0 and right <= 480 for _, _, left, right in parts)


def test_the_current_line_stays_in_sight_when_a_picture_takes_room(
    panel_page: PanelPage, session: PlainSession
) -> None:
    session.pause(lines=[f"    x{k} = {k}\n" for k in range(60)], first_line=1, line=17)
    panel_page.until(button(panel_page, "Step over").is_enabled)
    panel_page.ask(type="select_local", name="n", part="")
    plot = panel_page.page.get_by_role("region", name="Selected local n")
    panel_page.until(plot.is_visible)
    line = panel_page.page.get_by_role("list", name="Source of bprop").locator("[aria-current=true]")
    source = panel_page.page.get_by_role("list", name="Source of bprop")

    def in_sight() -> bool:
        box, room = line.bounding_box(), source.bounding_box()
        assert box is not None and room is not None
        return room["y"] <= box["y"] and box["y"] + box["height"] <= room["y"] + room["height"]

    panel_page.until(in_sight)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_operators_and_the_check_have_a_contrast_of_4_5(paused: PanelPage, session: PlainSession, scheme: Any) -> None:
    paused.page.emulate_media(color_scheme=scheme)
    session.check_gradient = lambda seconds: CHECK
    button(paused, "Check gradient").click()
    paused.ask(type="show_operator", index=0)
    paused.until(paused.page.get_by_role("table", name="Gradient check").is_visible)
    ratio, where = lowest_contrast(paused.page)
    assert ratio >= 4.5, where


@pytest.mark.parametrize("width", [1150, 1190, 1240])
def test_names_and_keys_fit_into_one_line_beside_the_switch(paused: PanelPage, width: int) -> None:
    paused.page.set_viewport_size({"width": width, "height": 700})
    first, last = (
        control.bounding_box()
        for control in (button(paused, "Step over"), paused.page.get_by_role("checkbox", name="Just my code"))
    )
    assert first is not None
    assert last is not None
    assert abs(first["y"] + first["height"] / 2 - last["y"] - last["height"] / 2) < 6


def test_an_option_in_the_hint_is_not_broken_between_lines(panel_page: PanelPage) -> None:
    panel_page.page.get_by_role("tab", name="Stepper").click()
    option = panel_page.page.get_by_text("--step", exact=True)
    for width in range(350, 620, 20):
        panel_page.page.set_viewport_size({"width": width, "height": 700})
        assert option.evaluate("(one) => one.getClientRects().length") == 1


def test_a_wrapped_row_of_the_gradient_check_begins_at_one_height(paused: PanelPage, session: PlainSession) -> None:
    far = element(1.0, 3.0, (1234, 5678, 1234, 5678))
    row = GradientRow("x", "input", (2, 2), "float32", "wrong", "differs", far, far, 4)
    session.check_gradient = lambda seconds: GradientCheck("block.relu (LeakyReLU)", "float32", [row])
    paused.ask(type="check_gradient")
    paused.page.set_viewport_size({"width": 1020, "height": 700})
    table = paused.page.get_by_role("table", name="Gradient check")
    paused.until(table.is_visible)
    tops = (
        table.locator("tbody tr")
        .first.locator("th, td")
        .evaluate_all(
            """(cells) => cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return Math.round(range.getClientRects()[0].top);
        })"""
        )
    )
    assert len(set(tops)) == 1
