"""Values in the stepper, in Chromium: of names in the source, of watched expressions, of the selected local."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator

from hookscope.engine import Tensor
from tests.browser.accessibility import lowest_contrast

LINES = ["def bprop(self, x, out, dout):\n", "    dx = dout * x.shape[0].real + other\n", "    return 'dout', dx\n"]
DOUT = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def paused(panel_page: PanelPage, session: PlainSession) -> PanelPage:
    pair = Tensor(DOUT), Tensor(DOUT * np.nan)
    session.pause(lines=LINES, locals={"dout": Tensor(DOUT), "x": Tensor(DOUT[0]), "n": 3, "pair": pair})
    panel_page.until(panel_page.page.get_by_role("button", name="Step over", exact=True).is_enabled)
    return panel_page


def value(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("tooltip", name="Value")


def local(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("table", name="Locals").get_by_role("button", name=name, exact=True)


def test_a_name_under_the_pointer_shows_its_value_with_figures(paused: PanelPage) -> None:
    names = paused.page.locator("[data-name]")
    assert [name for name in names.evaluate_all("all => all.map((one) => one.dataset.name)") if name != "self"] == [
        "bprop",
        "x",
        "out",
        "dout",
        "dx",
        "dout",
        "x",
        "x.shape",
        "other",
        "dx",
    ]
    names.nth(6).hover()
    paused.until(value(paused).is_visible)
    assert value(paused).inner_text().split("\n") == [
        "dout",
        "Tensor 2x3 float32 [0, 1, 2, 3, 4, 5]",
        "min 0, max 5, mean 2.5, std 1.7078",
    ]
    names.nth(9).hover()
    paused.until(lambda: "NameError: name 'other' is not defined" in value(paused).inner_text())
    paused.page.mouse.move(5, 600)
    paused.until(lambda: not value(paused).is_visible())


def test_the_arrow_keys_go_from_name_to_name_and_escape_ends_it(paused: PanelPage) -> None:
    source = paused.page.get_by_role("list", name="Source of bprop")
    source.focus()
    for _ in range(2):
        source.press("ArrowRight")
    paused.until(lambda: "Tensor 2x3 float32" in value(paused).inner_text())
    for _ in range(2):
        source.press("ArrowRight")
    paused.until(lambda: value(paused).inner_text().split("\n") == ["x.shape", "(3,)"])
    source.press("ArrowLeft")
    paused.until(lambda: value(paused).inner_text().startswith("x\n"))
    source.press("Escape")
    paused.until(lambda: not value(paused).is_visible())


def test_a_value_is_asked_for_anew_at_another_stop(paused: PanelPage, session: PlainSession) -> None:
    source = paused.page.get_by_role("list", name="Source of bprop")
    source.focus()
    for _ in range(2):
        source.press("ArrowRight")
    paused.until(lambda: "[0, 1, 2" in value(paused).inner_text())
    session.pause(lines=LINES, locals={"dout": Tensor(DOUT + 7)})
    paused.until(lambda: "[7, 8, 9" in value(paused).inner_text())


def test_a_name_is_asked_for_only_while_the_run_stands(paused: PanelPage, session: PlainSession) -> None:
    requests: list[str] = []
    evaluate = session.evaluate
    session.evaluate = lambda text: (requests.append(text), evaluate(text))[1]
    paused.page.get_by_role("button", name="Continue", exact=True).click()
    paused.until(lambda: session.commands == ["continue"])
    paused.page.locator("[data-name=dout]").first.hover()
    paused.page.wait_for_timeout(400)
    paused.carry()
    assert requests == [] and not value(paused).is_visible()


def test_watched_expressions_are_evaluated_at_each_stop_and_errors_are_text(
    paused: PanelPage, session: PlainSession
) -> None:
    box = paused.page.get_by_role("textbox", name="Watch an expression")
    table = paused.page.get_by_role("table", name="Watched expressions")
    for text in ("n * 2", "missing"):
        box.fill(text)
        box.press("Enter")
    paused.until(lambda: "NameError: name 'missing' is not defined" in table.inner_text())
    assert table.get_by_role("row", name="n * 2").get_by_role("cell").first.inner_text() == "6"
    session.pause(locals={"n": 21, "missing": "found"})
    paused.until(lambda: "42" in table.inner_text() and "'found'" in table.inner_text())
    assert "NameError" not in table.inner_text()
    remove = paused.page.get_by_role("button", name="Stop watching n * 2")
    remove.focus()
    session.pause(locals={"n": 22})
    paused.until(lambda: "44" in table.inner_text())
    assert remove.evaluate("one => one === document.activeElement")  # a stop does not take the focus
    remove.click()
    paused.until(lambda: "n * 2" not in table.inner_text())
    assert box.evaluate("one => one === document.activeElement")


def test_the_selected_local_is_drawn_and_follows_the_stops(paused: PanelPage, session: PlainSession) -> None:
    local(paused, "dout").click()
    part = paused.page.get_by_role("region", name="Selected local dout")
    paused.until(part.get_by_role("img", name="Heatmap of dout: 2x3, from 0 to 5").is_visible)
    assert part.get_by_role("img", name="Histogram of dout").is_visible()
    assert "min 0, max 5, mean 2.5" in part.inner_text()
    assert local(paused, "dout").get_attribute("aria-pressed") == "true"
    session.pause(locals={"dout": Tensor(np.where(DOUT > 0, np.inf, np.nan).astype(np.float32))})
    paused.until(part.get_by_role("img", name="Heatmap of dout: 2x3, no finite values, 1 NaN, 5 inf").is_visible)
    session.pause(locals={"n": 3})
    paused.until(lambda: "not here: no such variable at this line" in part.inner_text())
    assert part.get_by_role("img").count() == 0
    part.get_by_role("button", name="Close the plot").click()
    paused.until(lambda: part.count() == 0 or not part.is_visible())


def test_one_axis_is_drawn_as_bars_and_what_is_no_array_as_its_text(paused: PanelPage) -> None:
    local(paused, "x").click()
    part = paused.page.get_by_role("region", name="Selected local")
    paused.until(part.get_by_role("img", name="Bars of x: 1x3, from 0 to 2").is_visible)
    local(paused, "n").click()
    paused.until(lambda: part.get_by_role("heading").inner_text() == "n")
    assert part.locator("p").first.inner_text() == "3"
    assert part.get_by_role("button", name="tensor viewer").count() == 0
    local(paused, "n").click()
    paused.until(lambda: not part.is_visible())


def test_of_a_tuple_one_chooses_the_part(paused: PanelPage) -> None:
    local(paused, "pair").click()
    part = paused.page.get_by_role("region", name="Selected local")
    choice = part.get_by_role("combobox", name="Part")
    paused.until(choice.is_visible)
    assert choice.get_by_role("option").all_inner_texts() == ["pair[0]", "pair[1]"]
    choice.select_option("pair[1]")
    paused.until(part.get_by_role("img", name="Heatmap of pair[1]: 2x3, all 6 values are NaN").is_visible)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_values_have_a_contrast_of_4_5(paused: PanelPage, scheme: Any) -> None:
    paused.page.emulate_media(color_scheme=scheme)
    paused.ask(type="watch_expression", expression="missing")
    local(paused, "dout").click()
    paused.page.locator("[data-name=dout]").first.hover()
    paused.until(value(paused).is_visible)
    ratio, where = lowest_contrast(paused.page)
    assert ratio >= 4.5, where
