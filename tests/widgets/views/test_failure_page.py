"""A failure in Chromium: the heading, the post mortem, and the stack by pointer and keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator, expect

from hookscope.engine.debug import Failure, StackFrame
from tests.browser.accessibility import lowest_contrast


def outer(hidden: int) -> int:
    return inner(hidden + 1)


def inner(x: int) -> int:
    return x


def frames() -> list[StackFrame]:
    return [
        StackFrame(function.__code__, function.__code__.co_firstlineno + 1, {}, {name: 3}.copy)
        for function, name in ((outer, "hidden"), (inner, "x"))
    ]


def stack(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("list", name="Functions on the stack")


def local_names(panel_page: PanelPage) -> list[str]:
    return panel_page.page.locator(".hs-locals-room tbody th").all_inner_texts()


@pytest.fixture
def failed(panel_page: PanelPage, session: PlainSession) -> PanelPage:
    """End the run with an error."""
    notes = ["block.relu got x: float32 2x3", "An explanation of the error."]
    message = "ValueError: " + "long " * 40
    session.failure = Failure("block.relu", "block.relu", ValueError("long " * 40), message, frames(), notes)
    session.emit("finished")
    panel_page.until(panel_page.page.get_by_role("button", name="Post mortem").is_visible)
    return panel_page


def test_the_heading_says_what_failed_in_short_and_in_full_on_hover(failed: PanelPage) -> None:
    status = failed.page.get_by_role("status").first
    expect(status).to_have_text("failed in block.relu: ValueError: " + "long " * 11 + "…")
    expect(status.locator("[title]")).to_have_attribute(
        "title", "failed in block.relu: ValueError: " + "long " * 39 + "long"
    )
    ratio, where = lowest_contrast(failed.page)
    assert ratio >= 4.5, where


def test_the_post_mortem_is_the_one_thing_to_do_next_and_leaves_watch_again(failed: PanelPage) -> None:
    buttons = failed.page.locator(".hs-head .hs-primary").filter(visible=True)
    assert buttons.all_inner_texts() == ["Post mortem"]
    buttons.click()
    failed.until(lambda: buttons.all_inner_texts() == ["Watch again"])
    expect(failed.page.get_by_role("heading", name="Failed: block.relu, line")).to_be_visible()
    expect(failed.page.get_by_text("its values can be inspected, and nothing can go on from here")).to_be_visible()
    for note in ("block.relu got x: float32 2x3", "An explanation of the error."):
        expect(failed.page.get_by_text(note, exact=True)).to_be_visible()
    for name in ("Step over", "Continue", "Abort", "Step back"):
        expect(failed.page.get_by_role("button", name=name, exact=True)).to_be_disabled()
    failed.page.get_by_label("Evaluate", exact=True).first.fill("x + 1")
    failed.page.keyboard.press("Enter")
    failed.until(lambda: failed.panel.evaluations[-1:] == [{"expression": "x + 1", "text": "4", "failed": False}])
    ratio, where = lowest_contrast(failed.page)
    assert ratio >= 4.5, where


def test_the_stack_is_walked_by_clicks_and_arrows_and_the_shown_function_is_marked(failed: PanelPage) -> None:
    failed.page.get_by_role("button", name="Post mortem").click()
    failed.until(lambda: local_names(failed) == ["x"])
    current = stack(failed).locator("[aria-current=location]")
    expect(current).to_contain_text("inner, line")
    stack(failed).get_by_role("button", name="outer, line").click()
    failed.until(lambda: local_names(failed) == ["hidden"])
    expect(current).to_contain_text("outer, line")
    expect(current).to_be_focused()
    failed.page.keyboard.press("ArrowDown")
    failed.until(lambda: local_names(failed) == ["x"])
    expect(current).to_be_focused()
    failed.page.keyboard.press("ArrowDown")  # there is no function further inside
    failed.page.keyboard.press("ArrowUp")
    failed.until(lambda: local_names(failed) == ["hidden"])


def test_a_breakpoint_for_the_next_run_is_set_at_a_line_of_the_function_that_failed(
    failed: PanelPage, session: PlainSession
) -> None:
    failed.page.get_by_role("button", name="Post mortem").click()
    line = inner.__code__.co_firstlineno + 1
    number = failed.page.get_by_role("button", name=f"Breakpoint at line {line}", exact=True)
    failed.until(number.is_enabled)
    number.click()
    failed.until(lambda: number.get_attribute("aria-pressed") == "true")
    (stop,) = session.breakpoints
    assert str(stop) == f"{__file__}:{line}"
    assert "Ctrl" not in (number.get_attribute("title") or "")  # nothing can go on from here


def test_at_a_pause_the_stack_is_walked_too_and_while_the_run_goes_on_it_is_text(
    panel_page: PanelPage, session: PlainSession
) -> None:
    more: dict[str, Any] = {"frames": frames(), "frame": 1, "stack": ["outer, line 2", "inner, line 2"]}
    session.pause(**more)
    panel_page.until(stack(panel_page).get_by_role("button", name="outer, line").is_enabled)
    stack(panel_page).get_by_role("button", name="outer, line").click()
    panel_page.until(lambda: session.looks == [("show_frame", 0)])
    panel_page.page.get_by_role("button", name="Continue", exact=True).click()
    panel_page.until(lambda: stack(panel_page).get_by_role("button").count() == 0)
    expect(stack(panel_page)).to_contain_text("outer, line")


def test_a_failure_that_is_released_is_shown_no_more(failed: PanelPage, session: PlainSession) -> None:
    failed.page.get_by_role("button", name="Post mortem").click()
    failed.until(failed.page.get_by_role("heading", name="Failed:").is_visible)
    session.failure = session.shown = None
    session.emit("changed")
    failed.until(lambda: not failed.page.get_by_role("heading", name="Failed:").is_visible())
    expect(failed.page.get_by_text("Not paused. Choose among the cells")).to_be_visible()


def test_on_a_narrow_page_a_long_explanation_leaves_the_expressions_in_reach(
    panel_page: PanelPage, session: PlainSession
) -> None:
    panel_page.page.set_viewport_size({"width": 350, "height": 700})
    notes = [f"Sentence {k} of the explanation." for k in range(20)]
    session.failure = Failure("block.relu", "block.relu", ValueError("long"), "ValueError: long", frames(), notes)
    session.emit("finished")
    button = panel_page.page.get_by_role("button", name="Post mortem")
    panel_page.until(button.is_visible)
    button.click()
    title = panel_page.page.get_by_role("heading", name="Failed: block.relu, line")
    panel_page.until(title.is_visible)
    title.hover()
    panel_page.page.mouse.wheel(0, 3000)
    bottom = "(one) => one.getBoundingClientRect().bottom"
    field = panel_page.page.get_by_label("Evaluate", exact=True).first
    panel = panel_page.page.get_by_role("group", name="Debugger of Net")
    panel_page.until(lambda: field.evaluate(bottom) < panel.evaluate(bottom))
