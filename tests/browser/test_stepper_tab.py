"""The Stepper tab: line by line through a custom bprop, with its values, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Stepper"
RUN = 1
CELLS = [NETWORK, "%%cell net --step -o dbg\ntrain(1)\nprint('done')"]
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


def press(panel: Panel, key: str) -> None:
    """Press a key of the panel's, with the focus somewhere in it; while the run goes on, it does nothing."""
    expect(panel.button("Step over")).to_be_enabled()
    panel.root.get_by_role("list", name=re.compile("^Source of")).press(key)


def test_the_line_moves_and_what_changed_is_marked(paused: Panel) -> None:
    paused.step_over_to(SECOND)
    expect(paused.root.get_by_role("rowheader", name="slope changed")).to_be_visible()
    expect(paused.root.get_by_role("rowheader", name="dout", exact=True)).to_be_visible()
    paused.step_over_to(LAST)
    expect(paused.root.get_by_role("rowheader", name="gradient changed")).to_be_visible()
    expect(paused.root.get_by_role("rowheader", name="slope", exact=True)).to_be_visible()


def test_the_keys_are_those_of_jupyterlabs_debugger(paused: Panel, shared_notebook: Notebook) -> None:
    for name, key in [("Continue", "F9"), ("Step over", "F10"), ("Step into", "F11"), ("Step out", "Shift+F11")]:
        expect(paused.button(name)).to_have_attribute("aria-keyshortcuts", key)
    press(paused, "F11")
    paused.expect_line("return 2 * x")
    press(paused, "Shift+F11")
    paused.expect_line(SECOND)
    press(paused, "F10")
    paused.expect_line(LAST)
    press(paused, "F9")
    assert "done" in shared_notebook.finish(RUN)


def test_operators_are_walked_back_and_forth_with_their_values(paused: Panel) -> None:
    paused.step_over_to(SECOND)
    paused.step_over_to(LAST)
    operators = paused.root.get_by_role("list", name="Operators run").get_by_role("button")
    names = [text.partition("(")[0] for text in operators.all_inner_texts()]
    paused.button("Earlier operator").click()
    values = paused.root.get_by_label("Inputs and outputs")
    expect(values).to_contain_text("inputs[0]")
    expect(operators.and_(paused.root.locator("[aria-current=true]"))).to_contain_text(names[-1])
    paused.button("Earlier operator").click()
    expect(operators.and_(paused.root.locator("[aria-current=true]"))).to_contain_text(names[-2])
    paused.button("Later operator").click()
    expect(operators.and_(paused.root.locator("[aria-current=true]"))).to_contain_text(names[-1])


def test_a_step_back_shows_the_line_before_with_the_values_of_then(paused: Panel) -> None:
    paused.step_over_to(SECOND)
    paused.step_over_to(LAST)
    paused.button("Step back").click()
    paused.expect_line(SECOND)
    expect(paused.root.get_by_role("rowheader", name=re.compile("^gradient"))).to_have_count(0)
    paused.button("Step forward").click()
    paused.expect_line(LAST)


def test_an_expression_is_evaluated_and_a_value_is_set(paused: Panel) -> None:
    paused.step_over_to(SECOND)
    paused.evaluate("slope.sum()", "20")
    box = paused.root.get_by_role("textbox", name="Evaluate")
    box.fill("slope = 0 * slope")
    box.press("Enter")
    paused.evaluate("abs(slope).sum()", "0")


def test_the_gradient_is_checked_beside_the_source(paused: Panel) -> None:
    paused.button("Check gradient").click()
    checked = paused.root.get_by_role("table", name="Gradient check")
    expect(checked.get_by_role("row").filter(has_text="x")).to_contain_text("right")


def test_a_breakpoint_in_the_gutter_stops_continue_under_its_condition(paused: Panel) -> None:
    line = paused.root.get_by_role("listitem").filter(has_text=LAST)
    number = line.get_by_role("button", name=re.compile("^Breakpoint at line"))
    number.click()
    expect(number).to_have_attribute("aria-pressed", "true")
    line.get_by_role("button", name=re.compile("^Condition at line")).click()
    condition = paused.root.get_by_role("textbox", name=re.compile("^Condition of the breakpoint"))
    condition.fill("gradient.size > 0")
    condition.press("Enter")
    expect(line.get_by_role("button", name=re.compile("gradient.size > 0$"))).to_be_visible()
    paused.button("Continue").click()
    paused.expect_line(LAST)
    number.click()
    expect(number).to_have_attribute("aria-pressed", "false")


def test_what_is_watched_pointed_at_and_selected_is_shown(paused: Panel) -> None:
    box = paused.root.get_by_role("textbox", name="Watch an expression")
    box.fill("slope.sum()")
    box.press("Enter")
    watched = paused.root.get_by_role("table", name="Watched expressions")
    expect(watched).to_contain_text("NameError: name 'slope' is not defined")
    paused.step_over_to(SECOND)
    expect(watched).to_contain_text("[20]")
    paused.root.get_by_role("list", name=re.compile("^Source of")).get_by_text("slope", exact=True).last.hover()
    expect(paused.root.get_by_role("tooltip", name="Value")).to_contain_text(
        re.compile("Tensor .* float32.*min .*max", re.DOTALL)
    )
    paused.root.get_by_role("table", name="Locals").get_by_role("button", name="slope", exact=True).click()
    part = paused.root.get_by_role("region", name="Selected local slope")
    expect(part.get_by_role("img", name=re.compile("^Histogram of slope"))).to_be_visible()
    part.get_by_role("button", name="Open slope in the tensor viewer").click()
    selected = paused.root.get_by_role("region", name="Selected capture")
    expect(selected.get_by_role("heading", name=re.compile("backward slope"))).to_be_visible()
    row = paused.root.get_by_role("grid", name="Captures").locator("[aria-selected=true]")
    expect(row).to_be_in_viewport()
    paused.tab("Stepper")
    paused.button("Close the plot").click()
    expect(part).to_have_count(0)
    paused.button("Stop watching slope.sum()").click()
