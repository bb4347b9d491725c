"""Tab in the stepper's line: completes the names that an expression may use at this stop; otherwise moves the focus."""

from __future__ import annotations

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator, expect

NAMES = ("gradient", "grad_output", "x")


@pytest.fixture
def line(panel_page: PanelPage, session: PlainSession) -> Locator:
    session.pause(locals=dict.fromkeys(NAMES, 1.0))
    line = panel_page.page.get_by_role("textbox", name="Evaluate", exact=True)
    panel_page.until(line.is_enabled)
    return line


def test_tab_completes_a_name_as_far_as_it_is_certain(line: Locator) -> None:
    for typed, completed in {"g": "grad", "1 + gradi": "1 + gradient", "f(grad_": "f(grad_output"}.items():
        line.fill(typed)
        line.press("Tab")
        expect(line).to_have_value(completed)
        expect(line).to_be_focused()


def test_it_completes_where_the_caret_stands(line: Locator) -> None:
    line.fill("gradi + 1")
    for _ in " + 1":
        line.press("ArrowLeft")
    line.press("Tab")
    line.press("Control+End")
    expect(line).to_have_value("gradient + 1")


@pytest.mark.parametrize("typed", ["", "1 + ", "nowhere", "x", "x.gr", "7g"])
def test_where_there_is_nothing_to_complete_tab_moves_on(line: Locator, typed: str) -> None:
    line.fill(typed)
    line.press("Tab")
    expect(line).not_to_be_focused()
    expect(line).to_have_value(typed)


def test_shift_tab_always_goes_back(line: Locator) -> None:
    line.fill("g")
    line.press("Shift+Tab")
    expect(line).not_to_be_focused()
    expect(line).to_have_value("g")
