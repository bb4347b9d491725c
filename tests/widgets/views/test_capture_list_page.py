"""The list of captures in Chromium: calls by cell, selection, columns, tints, and scrolling."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainCapture, PlainSession, PlainTensor
from playwright.sync_api import Locator

from tests.browser.accessibility import AXE, lowest_contrast, violations

# Whether the selected row stands between the heads and the lower edge of the list.
IN_SIGHT = """grid => {
  const row = grid.querySelector("[aria-selected=true]");
  if (!row) return false;
  const [box, head, own] = [grid, grid.querySelector(".hs-grid-head"), row].map((one) => one.getBoundingClientRect());
  return own.top >= head.bottom - 1 && own.bottom <= box.bottom + 1;
}"""


def button(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("button", name=name, exact=True)


def count_label(panel_page: PanelPage, captures: int) -> Locator:
    """Return the count beside the filter for this many captures."""
    return panel_page.page.get_by_text(f"{captures} capture{'' if captures == 1 else 's'}", exact=True)


def run(session: PlainSession, step: int, *paths: str) -> None:
    """Capture a step: a forward of each cell in turn, and then the backward pass."""
    for path in paths:
        session.capture(path, step=step, slot="input[0]")
        session.capture(path, step=step)
    for path in reversed(paths):
        session.capture(path, step=step, direction="backward", slot="grad_output[0]")
        session.capture(path, step=step, direction="backward", slot="grad_input[0]")
    session.emit("finished")


@pytest.fixture
def listed(panel_page: PanelPage, session: PlainSession) -> Callable[[], Locator]:
    """Open the tab, and wait until every capture is listed."""

    def open_tab() -> Locator:
        session.emit("finished")
        panel_page.page.get_by_role("tab", name="Captures").click()
        panel_page.until(count_label(panel_page, len(session.captures)).is_visible)
        return panel_page.page.get_by_role("grid", name="Captures")

    return open_tab


def names(panel_page: PanelPage) -> list[str]:
    """Return each heading, and for each call its direction and the names of its values."""
    keys = ("direction", "in slot", "out slot")
    return [
        " ".join(row.locator(f"[data-key='{key}']").inner_text().replace("\n", " ") for key in keys).strip()
        if row.get_attribute("data-heading") is None
        else row.inner_text()
        for row in panel_page.page.get_by_role("grid", name="Captures").get_by_role("row").all()[1:]
    ]


def test_a_call_is_a_row_with_what_went_in_and_what_came_out_below_the_name_of_its_cell(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    run(session, 1, "conv1", "head")
    listed()
    calls = ["fwd input[0] output", "bwd grad_output[0] grad_input[0]"]
    assert names(panel_page) == ["conv1", *calls, "head", *calls]
    button(panel_page, "By cell").click()
    panel_page.until(lambda: len(names(panel_page)) == 4)
    cells = panel_page.page.locator("[data-key=cell][role=gridcell]")
    assert cells.all_inner_texts() == ["conv1", "head", "head", "conv1"]
    assert names(panel_page) == [calls[0], calls[0], calls[1], calls[1]]


def test_several_inputs_and_calls_and_what_a_hook_saw_have_lines_of_their_own(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    for slot in ("input[0]", "input[1]", "output"):
        session.capture("mix", slot=slot)
    session.capture("mix", slot="output", origin="hook")
    session.capture("mix", slot="input[0]", call=1)
    listed()
    assert names(panel_page) == ["mix", "fwd input[0] output", "fwd input[1]", "fwd  hook output", "fwd #1 input[0]"]


def test_either_part_of_a_row_is_selected_with_the_mouse_and_with_the_keyboard(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    run(session, 1, "conv1", "head")  # 0 to 3 forward, 4 to 7 backward: head, then conv1
    grid = listed()
    grid.get_by_role("gridcell", name="input[0]").first.click()
    panel_page.until(lambda: panel_page.panel.selected == 0)
    for key, index in [
        ("ArrowRight", 1),
        ("ArrowDown", 7),
        ("ArrowLeft", 6),
        ("ArrowLeft", 6),
        ("ArrowDown", 2),
        ("End", 4),
        ("ArrowUp", 2),
        ("Home", 0),
        ("ArrowUp", 0),
    ]:
        panel_page.page.keyboard.press(key)
        panel_page.until(lambda index=index: panel_page.panel.selected == index)
        active = grid.get_attribute("aria-activedescendant")
        slot = session.captures[index].slot
        panel_page.until(lambda active=active, slot=slot: slot in panel_page.page.locator(f"#{active}").inner_text())
    assert grid.locator("[aria-selected=true]").count() == 1
    grid.get_by_role("row", name="head").first.click()
    panel_page.until(lambda: panel_page.panel.selected == 2)  # a heading replaces its first row


def test_a_sorted_column_goes_across_the_groups_and_they_come_back(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    for path, scale in (("a", 3), ("b", 1), ("c", 2)):
        session.capture(path).value._array[:] *= scale
    grid = listed()
    sort = panel_page.page.get_by_role("button", name="std out")
    sort.click()
    cells = panel_page.page.locator("[data-key=cell][role=gridcell]")
    panel_page.until(lambda: cells.all_inner_texts() == ["b", "c", "a"])
    assert grid.get_by_role("columnheader", name="std out").get_attribute("aria-sort") == "ascending"
    sort.click()
    panel_page.until(lambda: cells.all_inner_texts() == ["a", "c", "b"])
    sort.click()
    panel_page.until(lambda: cells.count() == 0 and grid.get_attribute("aria-rowcount") == "7")


def test_there_are_columns_of_nan_and_inf_only_where_something_in_the_list_has_some(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    run(session, 1, "conv1", "head")
    session.captures[3].value._array[0, 0] = np.nan
    grid = listed()
    heads = grid.get_by_role("columnheader")
    panel_page.until(lambda: "NaN" in heads.all_inner_texts())
    assert heads.all_inner_texts().count("NaN") == 1 and "inf" not in heads.all_inner_texts()
    assert grid.locator("[data-key='out nan'][role=gridcell]").all_inner_texts() == ["0", "0", "1", "0"]
    panel_page.page.get_by_role("searchbox", name="Filter captures").fill("conv1")
    panel_page.until(lambda: "NaN" not in heads.all_inner_texts())


def test_magnitudes_are_tinted_by_their_logarithm_among_those_of_their_column(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    for path, scale in (("a", 1e-4), ("b", 1e-2), ("c", 1.0), ("d", 0.0)):
        session.capture(path).value._array[:] *= scale
    grid = listed()
    cells = grid.locator("[data-key='out std'][role=gridcell]")
    tints = "cells => cells.map((cell) => parseInt(cell.style.getPropertyValue('--hs-tint')))"
    panel_page.until(lambda: cells.evaluate_all(tints) == [0, 50, 100, 0])
    backgrounds = cells.evaluate_all("cells => cells.map((cell) => getComputedStyle(cell).backgroundColor)")
    assert len(set(backgrounds)) == 3 and backgrounds[0] == backgrounds[3]


def test_equal_magnitudes_are_not_made_to_look_different(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    for scale in (1.0, 1.0001):
        session.capture("a").value._array[:] *= scale
    grid = listed()
    cells = grid.locator("[data-key='out std'][role=gridcell]")
    tints = "cells => cells.map((cell) => parseInt(cell.style.getPropertyValue('--hs-tint')))"
    panel_page.until(lambda: cells.evaluate_all(tints) == [0, 0])


def test_what_is_selected_stays_in_sight_whatever_happens_to_the_list(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    for step in range(1, 200):
        run(session, step, "conv1")
    grid = listed()
    panel_page.panel.selected = 400

    def in_sight() -> bool:
        return bool(grid.evaluate(IN_SIGHT))

    panel_page.until(in_sight)  # the viewer has opened below it
    panel_page.until(panel_page.page.get_by_role("region", name="Selected capture").is_visible)
    panel_page.until(in_sight)
    newest = button(panel_page, "Newest first")
    for change in (
        newest.click,
        button(panel_page, "By cell").click,
        newest.click,
        button(panel_page, "By cell").click,
    ):
        change()
        panel_page.until(in_sight)
    newest.click()
    for step in range(200, 240):
        run(session, step, "conv1")
    panel_page.until(count_label(panel_page, len(session.captures)).is_visible)
    panel_page.until(in_sight)
    for height in (400, 640):
        panel_page.page.set_viewport_size({"width": 1000, "height": height})
        panel_page.until(in_sight)
    panel_page.page.get_by_role("searchbox", name="Filter captures").fill("forward")
    panel_page.until(in_sight)


def test_a_person_who_has_scrolled_away_is_left_there(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    for step in range(1, 100):
        run(session, step, "conv1")
    grid = listed()
    panel_page.panel.selected = 200
    panel_page.until(lambda: bool(grid.evaluate(IN_SIGHT)))
    panel_page.carry()
    grid.hover()
    before = grid.evaluate("grid => grid.scrollTop")
    panel_page.page.mouse.wheel(0, -2000)
    panel_page.until(lambda: grid.evaluate("grid => grid.scrollTop") < before - 1000)
    away = grid.evaluate("grid => grid.scrollTop")
    run(session, 100, "conv1")
    panel_page.until(count_label(panel_page, len(session.captures)).is_visible)
    panel_page.page.set_viewport_size({"width": 1000, "height": 500})
    panel_page.carry()
    assert grid.evaluate("grid => grid.scrollTop") == away
    grid.focus()
    panel_page.page.keyboard.press("ArrowDown")  # a move of the selection brings it into view
    panel_page.until(lambda: bool(grid.evaluate(IN_SIGHT)))


def test_of_a_long_name_the_end_is_seen_and_all_of_it_can_be_read(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    path = ".".join(f"layer{k}_of_the_encoder" for k in range(12)) + ".query"
    run(session, 1, path)
    grid = listed()
    panel_page.page.set_viewport_size({"width": 480, "height": 640})
    heading = grid.get_by_role("row").nth(1).locator("bdi")
    end = "one => one.getBoundingClientRect().right <= one.closest('[role=row]').getBoundingClientRect().right"
    panel_page.until(lambda: bool(heading.evaluate(end)))
    assert heading.evaluate("one => one.getBoundingClientRect().left < 0")  # its front is cut
    assert panel_page.page.get_by_title(path, exact=True).first.is_visible()
    panel_page.panel.selected = 1
    title = panel_page.page.get_by_role("region", name="Selected capture").get_by_role("heading")
    panel_page.until(title.is_visible)
    assert "…" in title.inner_text() and title.inner_text().endswith("query#0 forward output, step 1")
    assert title.get_attribute("title") == f"{path}#0 forward output, step 1"
    assert panel_page.page.evaluate("document.documentElement.scrollWidth") <= 480


def test_twenty_thousand_captures_are_a_few_elements_and_each_is_reached(
    panel_page: PanelPage, session: PlainSession, listed: Any
) -> None:
    value = PlainTensor(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    for index in range(20_000):
        step, (call, output) = 1 + index // 20, divmod(index % 20, 2)
        slot = "output" if output else "input[0]"
        session.captures.append(PlainCapture(index, f"cell{call}", value, slot=slot, step=step))
    session.emit("finished")
    panel_page.page.get_by_role("tab", name="Captures").click()
    panel_page.until(panel_page.page.get_by_text("20\u2009000 captures", exact=True).is_visible, 60)
    grid = panel_page.page.get_by_role("grid", name="Captures")
    assert grid.get_attribute("aria-rowcount") == "20001"
    assert grid.get_by_role("row").count() < 40
    panel_page.panel.selected = 10_000
    panel_page.until(lambda: bool(grid.evaluate(IN_SIGHT)))
    assert grid.locator("[aria-selected=true]").inner_text().split()[0] == "501"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1440])
def test_the_list_is_accessible_and_readable_and_fits(
    panel_page: PanelPage, session: PlainSession, listed: Any, scheme: Any, width: int
) -> None:
    panel_page.page.emulate_media(color_scheme=scheme)
    panel_page.page.set_viewport_size({"width": width, "height": 640})
    run(session, 1, "encoder.conv1", "encoder.\N{ARABIC LETTER ALEF}\N{ARABIC LETTER BEH}", "\N{BRAIN}")
    run(session, 2, "encoder.conv1")
    session.captures[0].value._array[:] *= 1000
    grid = listed()
    grid.locator("[role=gridcell][data-key$=' std']").filter(has_text=re.compile(r"\d")).first.click()
    panel_page.until(lambda: panel_page.panel.selected == 0)
    button(panel_page, "Pin A").click()
    assert grid.evaluate("grid => grid.scrollWidth - grid.clientWidth") == 0
    ratio, where = lowest_contrast(panel_page.page)
    assert ratio >= 4.5, where
    if AXE.exists():  # npm installs it, which may be missing here
        assert violations(panel_page.page.get_by_role("group", name="Debugger of Net")) == []


@pytest.mark.parametrize(("scheme", "brand"), [("light", "#1668c5"), ("light", "#1976d2"), ("dark", "#2196f3")])
def test_a_selected_figure_can_be_read_on_its_tint(
    panel_page: PanelPage, session: PlainSession, listed: Any, scheme: Any, brand: str
) -> None:
    for scale in (1e-4, 1.0):
        session.capture("a").value._array[:] *= scale
    panel_page.page.emulate_media(color_scheme=scheme)
    # As JupyterLab does, which has a color of its own.
    panel_page.page.evaluate("brand => document.body.style.setProperty('--jp-brand-color1', brand)", brand)
    cell = listed().locator("[data-key='out std'][role=gridcell]").last
    cell.click()
    panel_page.until(lambda: cell.get_attribute("data-selected") is not None)
    panel_page.until(lambda: cell.evaluate("cell => cell.style.getPropertyValue('--hs-tint')") == "100%")
    ratio, where = lowest_contrast(panel_page.page)
    panel_page.page.evaluate("document.body.style.removeProperty('--jp-brand-color1')")
    assert ratio >= 4.5, where
