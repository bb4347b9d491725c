"""Long work on the page: the bar by its name, the Stop button, and the text after the end."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import expect

from hookscope.engine.tape.progress import progress
from hookscope.widgets import progress_view
from tests.browser.accessibility import AXE, ENOUGH_CONTRAST, lowest_contrast, violations


def shown_training(panel_page: PanelPage, **more: Any) -> None:
    """Show a training in progress, as Python does."""
    panel_page.panel.progress = {
        "what": "training",
        "text": "1,204 of 10,000 steps · 85 steps/s · 1 min 43 s left",
        "inner": "",
        "value": 0.1204,
        "can_stop": True,
        "stopping": False,
        "open_ended": False,
        **more,
    }
    panel_page.carry()


def test_training_is_a_progress_bar_with_its_name_and_words(panel_page: PanelPage) -> None:
    page = panel_page.page
    expect(page.get_by_role("progressbar")).to_have_count(0)
    shown_training(panel_page)
    bar = page.get_by_role("progressbar", name="training")
    expect(bar).to_be_visible()
    assert bar.evaluate("bar => bar.value / bar.max") == pytest.approx(0.1204)
    work = page.get_by_role("group", name="Progress")
    expect(work).to_contain_text("training1,204 of 10,000 steps · 85 steps/s · 1 min 43 s left")
    shown_training(panel_page, inner="evaluation: 3 of 10 steps", value=0.13)
    expect(work).to_contain_text("evaluation: 3 of 10 steps")
    assert bar.evaluate("bar => bar.value / bar.max") == pytest.approx(0.13)


def test_work_without_an_end_in_sight_has_a_bar_without_a_value(panel_page: PanelPage) -> None:
    shown_training(panel_page, what="running", value=None)
    bar = panel_page.page.get_by_role("progressbar", name="running")
    assert bar.evaluate("bar => bar.position") == -1
    shown_training(panel_page, value=0.5)
    shown_training(panel_page, value=None)
    assert panel_page.page.get_by_role("progressbar", name="training").evaluate("bar => bar.position") == -1


def test_stop_by_keyboard_says_at_once_that_it_was_heard(panel_page: PanelPage, session: PlainSession) -> None:
    with progress("training", 10, of=session, raises=False) as work:
        panel_page.panel.progress_view._work = work
        shown_training(panel_page)
        stop = panel_page.page.get_by_role("button", name="Stop", exact=True)
        stop.focus()
        panel_page.page.keyboard.press("Enter")
        stopping = panel_page.page.get_by_role("button", name="Stopping…")
        expect(stopping).to_be_focused()
        expect(stopping).to_have_attribute("aria-disabled", "true")
        sent = panel_page.waiting()
        panel_page.page.keyboard.press("Enter")  # once more changes nothing
        assert panel_page.waiting() == sent
        panel_page.until(lambda: work.stopping)


def test_stop_is_not_there_where_nobody_would_hear_it(panel_page: PanelPage) -> None:
    shown_training(panel_page, can_stop=False)
    expect(panel_page.page.get_by_role("progressbar", name="training")).to_be_visible()
    expect(panel_page.page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


def test_when_it_is_over_the_bar_goes_and_a_stop_leaves_a_last_word(panel_page: PanelPage) -> None:
    shown_training(panel_page)
    panel_page.panel.progress = {"note": "training stopped after 1,204 of 10,000 steps"}
    panel_page.carry()
    expect(panel_page.page.get_by_role("progressbar")).to_have_count(0)
    expect(panel_page.page.get_by_text("training stopped after 1,204 of 10,000 steps")).to_be_visible()
    panel_page.panel.progress = {}
    panel_page.carry()
    expect(panel_page.page.get_by_text("training stopped")).to_have_count(0)


def test_of_a_loop_that_tells_no_end_python_is_asked_until_it_is_over(
    panel_page: PanelPage, session: PlainSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.attached = session.running = True
    view = panel_page.panel.progress_view
    view._run = progress_view._Run(0.0)
    shown_training(panel_page, what="running", value=None, open_ended=True)
    view._progress = dict(panel_page.panel.progress)
    looks: list[object] = []
    monkeypatch.setattr(view, "look", lambda look=view.look: looks.append(look()))
    panel_page.until(lambda: len(looks) >= 3)
    expect(panel_page.page.get_by_role("progressbar", name="running")).to_be_visible()
    session.running = False
    panel_page.until(lambda: panel_page.page.get_by_role("progressbar").count() == 0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 480])
def test_it_can_be_read_in_both_themes_and_fits_a_narrow_page(panel_page: PanelPage, theme: Any, width: int) -> None:
    page = panel_page.page
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 640})
    detail = "1,204 of 10,000 steps · epoch 2 of 10 · 85 steps/s · 1 min 43 s left"
    shown_training(panel_page, text=detail, inner="evaluation: 3 of 10 steps")
    work = page.get_by_role("group", name="Progress")
    expect(work).to_be_visible()
    contrast, where = lowest_contrast(page)
    assert contrast >= ENOUGH_CONTRAST, where
    inside = work.evaluate("work => [...work.querySelectorAll('*')].every((e) => e.scrollWidth <= e.clientWidth + 1)")
    box = work.bounding_box()
    assert inside and box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width
    if AXE.exists():  # axe-core needs npm
        assert violations(work) == []


def test_words_of_the_user_are_text(panel_page: PanelPage) -> None:
    shown_training(panel_page, what="<img src=x onerror=alert(1)>", text="<b>bold</b>", inner="‮mirrored")
    work = panel_page.page.get_by_role("group", name="Progress")
    expect(work).to_contain_text("<b>bold</b>")
    expect(work).to_contain_text("\\u202emirrored")
    assert work.locator("img").count() == 0
