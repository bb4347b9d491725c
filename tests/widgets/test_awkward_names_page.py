"""Cells and parameters named like members of every JavaScript object: each view shows them as any other name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainSession, plain_node, plain_statistics
from playwright.sync_api import Page, expect

NAMES = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"]


@pytest.fixture
def session(session: PlainSession) -> PlainSession:
    """Return a session over such names: a cell and a parameter of each, with a capture, a hook and a breakpoint."""
    del session.nodes[1:]
    session.nodes += [plain_node(name, 1, name) for name in NAMES]
    weight = np.ones((2, 2))
    session.rows[:] = [
        SimpleNamespace(
            name=name,
            shape=(2, 2),
            dtype=weight.dtype,
            requires_grad=True,
            size=4,
            array=weight,
            gradient=None,
            statistics=plain_statistics(weight),
            gradient_norm=None,
            update_ratio=None,
            cells=(),
        )
        for name in NAMES
    ]
    for name in NAMES:
        session.capture(name)
    row = {"kind": "forward", "function": "look", "by_session": False, "filename": "", "line": 0, "hook": None}
    session.hooks = lambda: [SimpleNamespace(path=name, **row) for name in NAMES]  # type: ignore[method-assign,misc]
    return session


def test_the_tree_shows_each_cell_and_its_switches_work(panel_page: PanelPage, session: PlainSession) -> None:
    for name in NAMES:
        expect(panel_page.page.get_by_role("treeitem", name=f"{name}, {name}", exact=True)).to_be_visible()
        switch = panel_page.page.get_by_role("switch", name=f"train mode of {name}", exact=True)
        switch.click()
        panel_page.until(lambda switch=switch: switch.get_attribute("aria-checked") == "false")
        assert session.node(name).training is False


def test_only_where_something_was_found_there_is_a_badge(panel_page: PanelPage, session: PlainSession) -> None:
    badges = panel_page.page.get_by_role("button", name="condition hit")
    assert badges.count() == 0
    for count, name in enumerate(NAMES, 1):
        session.find("nan", name)
        panel_page.panel.sync()
        panel_page.until(lambda count=count: badges.count() == count)
        expect(panel_page.page.get_by_role("button", name=f"1 condition hit at {name}, the worst: nan")).to_be_visible()
    badges.nth(NAMES.index("__proto__")).click()
    matches = panel_page.page.get_by_role("list", name="Findings")
    panel_page.until(lambda: matches.locator(":scope > li").count() == 1)
    expect(matches.get_by_role("button", name="show cell __proto__", exact=True)).to_be_visible()


@pytest.mark.parametrize(("tab", "role"), [("Captures", "row"), ("Parameters", "row"), ("Hooks", "cell")])
def test_each_view_lists_them(panel_page: PanelPage, tab: str, role: Any) -> None:
    panel_page.page.get_by_role("tab", name=tab).click()
    for name in NAMES:
        panel_page.until(panel_page.page.get_by_role(role).filter(has_text=name).first.is_visible)


def test_a_selected_capture_and_parameter_are_shown(panel_page: PanelPage) -> None:
    for tab, region in (("Captures", "Selected capture"), ("Parameters", "Selected parameter")):
        panel_page.page.get_by_role("tab", name=tab).click()
        for name in NAMES:
            row = panel_page.page.get_by_role("row").filter(has_text=name).filter(visible=True).first
            panel_page.until(row.is_visible)
            row.click()
            panel_page.until(
                panel_page.page.get_by_role("region", name=region).get_by_role("heading", name=name).first.is_visible
            )


def test_locals_of_such_names_are_listed(page: Page, session: PlainSession, sent: list[Any]) -> None:
    session.pause(locals=dict.fromkeys(NAMES, 1))
    panel_page = PanelPage(page, session, sent)
    for name in NAMES:
        panel_page.until(page.get_by_role("rowheader", name=name, exact=True).is_visible)
