"""The view of curves in Chromium: what is drawn, read, hidden and opened, by pointer and by keyboard alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator, Page, expect

from hookscope.engine.debug import Point, Scalars

STEPS = 40


def fill(scalars: Scalars, factor: float) -> None:
    for step in range(1, STEPS + 1):
        scalars.add_loss("w", lambda: "", step, factor / step)
        scalars.add_rate("w", "", step, 0.1)
        if not step % 10:
            scalars.add("val_loss", Point(step, 2 * factor / step, step))


@pytest.fixture
def trained(session: PlainSession) -> PlainSession:
    fill(session.history.scalars, 2.0)
    session.history.scalars.previous = Scalars()
    fill(session.history.scalars.previous, 3.0)
    for step in range(31, STEPS + 1):
        session.capture(step=step)
    return session


Open = Callable[[], PanelPage]


@pytest.fixture
def opened(page: Page, session: PlainSession, sent: list[Any]) -> Open:
    """Return a function that opens a panel on its curves."""

    def open_curves() -> PanelPage:
        panel_page = PanelPage(page, session, sent)
        page.get_by_role("tab", name="Curves").click()
        panel_page.until(page.get_by_role("slider").first.is_visible)
        return panel_page

    return open_curves


def chart(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title, exact=True)


def slider(page: Page, title: str) -> Locator:
    return page.get_by_role("slider", name=f"Step of {title}", exact=True)


def lines(page: Page, title: str) -> int:
    return slider(page, title).locator("g > .hs-chart-line").count()


def ticks(page: Page, title: str) -> list[str]:
    return [str(tick.get_attribute("data-text")) for tick in chart(page, title).locator("[data-axis=up]").all()]


@pytest.mark.usefixtures("trained")
def test_training_and_validation_are_together_with_the_run_before_and_the_rate_beside(page: Page, opened: Open) -> None:
    opened()
    assert page.get_by_role("heading").all_inner_texts() == ["loss", "learning rate"]
    assert (lines(page, "loss"), lines(page, "learning rate")) == (4, 2)
    legend = page.get_by_role("group", name="Series of loss")
    assert legend.get_by_role("button").all_inner_texts() == ["loss", "val_loss"]
    assert ticks(page, "loss") == ["1", "2", "3"]
    summary = "loss 2 in step 1, 0.05 in step 40, lowest 0.05 in step 40, highest 2 in step 1"
    expect(slider(page, "loss")).to_have_accessible_description(
        f"{summary}; val_loss 0.4 in step 10, 0.1 in step 40, lowest 0.1 in step 40, highest 0.4 in step 10"
    )


@pytest.mark.usefixtures("trained")
def test_a_series_and_the_run_before_are_switched(page: Page, opened: Open) -> None:
    opened()
    series = page.get_by_role("button", name="val_loss", exact=True)
    series.click()
    expect(series).to_have_attribute("aria-pressed", "false")
    assert lines(page, "loss") == 2
    page.get_by_role("button", name="Run before").click()
    assert (lines(page, "loss"), lines(page, "learning rate")) == (1, 1)
    series.press("Enter")
    assert lines(page, "loss") == 2


@pytest.mark.usefixtures("trained")
def test_the_scale_is_logarithmic_where_all_is_positive(page: Page, session: PlainSession, opened: Open) -> None:
    panel_page = opened()
    scale = page.get_by_role("button", name="Log scale of loss")
    scale.click()
    expect(scale).to_have_attribute("aria-pressed", "true")
    assert ticks(page, "loss") == ["0.1", "1"]
    session.history.scalars.add("val_loss", Point(41, 0.0, 41))
    panel_page.panel.sync()
    panel_page.until(scale.is_disabled)
    assert "0" in ticks(page, "loss")


@pytest.mark.usefixtures("trained")
def test_the_keyboard_alone_reads_each_step_and_opens_one(page: Page, session: PlainSession, opened: Open) -> None:
    panel_page = opened()
    page.get_by_role("button", name="Run before").click()
    point = slider(page, "loss")
    point.focus()
    expect(point).to_have_attribute("aria-valuetext", "step 40: loss 0.05000, val_loss 0.1000")
    point.press("ArrowLeft")
    expect(point).to_have_attribute("aria-valuetext", "step 39: loss 0.05128, val_loss 0.1000 (step 40)")
    expect(point).to_have_attribute("aria-valuenow", "39")
    point.press("Home")
    expect(point).to_have_attribute("aria-valuetext", "step 1: loss 2, val_loss 0.4000 (step 10)")
    point.press("End")
    for _ in range(4):
        point.press("ArrowLeft")
    point.press("Enter")
    panel_page.until(page.get_by_role("tabpanel", name="Captures").is_visible)
    panel_page.until(
        lambda: page.get_by_role("slider", name="Step", exact=True).get_attribute("aria-valuetext") == "step 36"
    )
    assert panel_page.panel.status["error"] == ""


@pytest.mark.usefixtures("trained")
def test_a_click_on_a_point_opens_its_step_and_one_elsewhere_nothing(page: Page, opened: Open) -> None:
    panel_page = opened()
    box = slider(page, "loss").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.3 * box["height"])
    panel_page.carry()
    assert page.get_by_role("tabpanel", name="Curves").is_visible()
    page.mouse.click(box["x"] + box["width"], box["y"] + 0.93 * box["height"])
    panel_page.until(page.get_by_role("tabpanel", name="Captures").is_visible)
    panel_page.until(
        lambda: page.get_by_role("slider", name="Step", exact=True).get_attribute("aria-valuetext") == "step 40"
    )


@pytest.mark.usefixtures("trained")
def test_a_step_whose_captures_are_gone_says_so(page: Page, opened: Open) -> None:
    panel_page = opened()
    slider(page, "loss").focus()
    slider(page, "loss").press("Home")
    slider(page, "loss").press("Enter")
    panel_page.until(page.get_by_text("no capture of step 1 is kept: those of steps 31 to 40 are").is_visible)


@pytest.mark.usefixtures("trained")
def test_the_pointer_reads_the_nearest_step(page: Page, opened: Open) -> None:
    opened()
    box = slider(page, "loss").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 1, box["y"] + 5)
    reading = slider(page, "loss").locator(".hs-chart-reading")
    # The nearest curve is first.
    assert reading.locator("div").all_inner_texts()[:3] == ["step 1", "loss (run before)\n3", "loss\n2"]
    page.mouse.move(box["x"], box["y"] + 400)
    assert not reading.is_visible()


def test_a_point_with_a_step_of_its_own_opens_the_sessions_step(
    page: Page, session: PlainSession, opened: Open
) -> None:
    for epoch in range(1, 5):
        session.history.scalars.add("val_loss", Point(epoch, 1.0 / epoch, 10 * epoch))
        session.capture(step=10 * epoch)
    panel_page = opened()
    point = slider(page, "loss")
    point.focus()
    expect(point).to_have_attribute("aria-valuetext", "step 4: val_loss 0.2500")
    page.get_by_role("button", name="By session step").click()
    point.focus()
    expect(point).to_have_attribute("aria-valuetext", "step 40: val_loss 0.2500")
    page.get_by_role("button", name="By session step").click()
    point.focus()
    point.press("ArrowLeft")
    point.press("Enter")
    panel_page.until(
        lambda: page.get_by_role("slider", name="Step", exact=True).get_attribute("aria-valuetext") == "step 30"
    )


def test_numbers_by_epoch_have_an_axis_of_their_own(page: Page, session: PlainSession, opened: Open) -> None:
    for step in range(1, 101):
        session.history.scalars.add_loss("w", lambda: "", step, 1.0 / step)
    for epoch in (1, 2):
        session.history.scalars.add("accuracy", Point(epoch, epoch / 2, 50 * epoch))
    opened()
    ends = [slider(page, title).get_attribute("aria-valuemax") for title in ("loss", "accuracy")]
    assert ends == ["100", "2"]
    page.get_by_role("button", name="By session step").click()
    expect(slider(page, "accuracy")).to_have_attribute("aria-valuemax", "100")


def test_new_points_are_drawn_and_the_cursor_stays(page: Page, session: PlainSession, opened: Open) -> None:
    scalars = session.history.scalars
    for step in (1, 2, 3):
        scalars.add("score", Point(step, float(step), step))
    panel_page = opened()
    point = slider(page, "score")
    point.focus()
    point.press("ArrowLeft")
    scalars.add("score", Point(4, 9.0, 4))
    panel_page.panel.sync()
    panel_page.until(lambda: point.get_attribute("aria-valuemax") == "4")
    expect(point).to_have_attribute("aria-valuetext", "step 2: score 2")


ODD: dict[str, list[tuple[float, float]]] = {
    "one point": [(5, 1.0)],
    "constant": [(1, 3.0), (2, 3.0)],
    "huge": [(1, 1.7e308), (2, -1.7e308), (3, 1.0)],
    "tiny": [(1, 5e-324), (2, 0.0)],
    "<b>bold</b>": [(1, 1.0), (2, 2.0)],
    "backwards": [(3, 1.0), (2, 2.0), (1, 3.0)],
    "not finite": [(1, math.nan), (2, math.inf), (3, -math.inf)],
    "steps": [(-5, 1.0), (2**53, 2.0)],
    "n" * 200: [(1, 1.0)],
}


@pytest.mark.parametrize("name", ODD)
def test_odd_numbers_and_names_are_drawn(page: Page, session: PlainSession, opened: Open, name: str) -> None:
    for step, value in ODD[name]:
        session.history.scalars.add(name, Point(int(step), value, 1))
    opened()
    point = slider(page, name)
    point.focus()
    for key in ("Home", "ArrowRight", "End"):
        point.press(key)
    assert page.get_by_role("heading").all_inner_texts() == [name]
    assert page.locator(".hs-curves b").count() == 0
    drawn = " ".join(str(path.get_attribute("d")) for path in point.locator("path").all())
    assert "NaN" not in drawn
    assert "Infinity" not in drawn
    marks = point.locator(".hs-chart-fault")
    faults = sum(not math.isfinite(value) for _, value in ODD[name])
    assert (marks.get_attribute("d") or "").count("M") == faults if faults else marks.count() == 0


@pytest.mark.parametrize("width", [350, 480, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fifty_series_fit_each_window(page: Page, session: PlainSession, opened: Open, width: int, scheme: Any) -> None:
    for k in range(50):
        for step in range(20):
            session.history.scalars.add(f"loss_{k}", Point(step, k + math.sin(step), step))
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(color_scheme=scheme)
    opened()
    assert page.get_by_role("group", name="Series of loss").get_by_role("button").count() == 50
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    scroll = page.locator(".hs-curves > .hs-scroll")
    assert scroll.evaluate("e => e.scrollWidth <= e.clientWidth")
    ink, surface = page.locator(".hs-chart-name").first.evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e.closest('.hs')).backgroundColor]"
    )
    assert ink != surface


def test_without_numbers_it_says_how_to_get_some(page: Page, session: PlainSession, sent: list[Any]) -> None:
    panel_page = PanelPage(page, session, sent)
    page.get_by_role("tab", name="Curves").click()
    panel_page.until(page.get_by_text("No numbers yet").is_visible)
    assert 'hookscope.log("val_loss", value)' in page.get_by_role("tabpanel", name="Curves").inner_text()


def test_a_falling_rate_has_several_ticks_and_each_series_a_line_in_words(
    page: Page, session: PlainSession, opened: Open
) -> None:
    for step in range(1, 61):
        session.history.scalars.add_rate("w", "", step, 0.01 * 0.97**step)
        for name in ("generator", "discriminator"):
            session.history.scalars.add(f"{name}_loss", Point(step, 1 / step, step))
    opened()
    assert ticks(page, "learning rate") == ["0.002", "0.004", "0.006", "0.008"]
    words = chart(page, "loss").get_by_role("paragraph")
    lines = words.inner_text().splitlines()
    assert [line.split()[0] for line in lines] == ["generator_loss", "discriminator_loss"]
