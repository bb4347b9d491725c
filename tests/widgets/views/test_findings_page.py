"""The findings in Chromium: from a finding to its place; under "Settings" the switches of conditions."""

from __future__ import annotations

from typing import Any

import pytest
from panel_page import PanelPage
from plain_session import PlainSession
from playwright.sync_api import Locator

from hookscope.engine.debug import CONDITIONS, Breakpoint
from hookscope.engine.debug.diagnose.cures import Cure
from tests.browser.accessibility import AXE, lowest_contrast, violations

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


@pytest.fixture
def view(panel_page: PanelPage) -> Locator:
    panel_page.page.get_by_role("tab", name="Findings").click()
    return panel_page.page.get_by_role("tabpanel", name="Findings")


@pytest.fixture
def settings(view: Locator) -> Locator:
    """Open the conditions, which a button hides."""
    view.get_by_role("button", name="Settings").click()
    return view.get_by_role("region", name="Conditions looked for")


def test_every_condition_is_listed_with_what_it_means_and_what_to_do(settings: Locator) -> None:
    headers = settings.get_by_role("table", name="Conditions").locator("tbody").get_by_role("rowheader")
    assert headers.all_inner_texts() == list(CONDITIONS)
    row = settings.get_by_role("row").filter(has=settings.page.get_by_role("rowheader", name="dead_relu"))
    assert CONDITIONS["dead_relu"].meaning in row.inner_text()
    assert CONDITIONS["dead_relu"].advice in row.inner_text()
    assert settings.get_by_role("textbox", name="threshold of dead_relu").input_value() == "0.95"
    assert settings.get_by_role("textbox", name="threshold of nan").count() == 0


def test_a_condition_is_looked_for_and_paused_at(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    settings.get_by_role("checkbox", name="look for nan", exact=True).click()
    panel_page.until(lambda: list(session.checks.conditions) == ["nan"])
    assert session.checks.pausing == set()
    settings.get_by_role("checkbox", name="pause at inf", exact=True).click()
    panel_page.until(lambda: list(session.checks.conditions) == ["nan", "inf"])
    assert session.checks.pausing == {"inf"}
    look = settings.get_by_role("checkbox", name="look for inf", exact=True)
    panel_page.until(look.is_checked)
    look.click()
    panel_page.until(lambda: list(session.checks.conditions) == ["nan"])
    panel_page.until(lambda: not settings.get_by_role("checkbox", name="pause at inf", exact=True).is_checked())


def test_a_threshold_is_changed_by_the_session_or_refused_in_one_line(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    session.add_condition("dead_relu")
    panel_page.panel.sync()
    box = settings.get_by_role("textbox", name="threshold of dead_relu")
    panel_page.until(lambda: settings.get_by_role("checkbox", name="look for dead_relu").is_checked())
    box.fill("0.5")
    box.press("Enter")
    panel_page.until(lambda: session.checks.conditions["dead_relu"].threshold == 0.5)
    box.fill("half")
    box.press("Enter")
    alert = panel_page.page.get_by_role("alert")
    panel_page.until(lambda: "the threshold must be a finite number, got 'half'" in alert.inner_text())
    panel_page.until(lambda: box.get_attribute("aria-invalid") == "true")
    assert session.checks.conditions["dead_relu"].threshold == 0.5
    box.fill("0.25")
    box.press("Enter")
    panel_page.until(lambda: session.checks.conditions["dead_relu"].threshold == 0.25)
    panel_page.until(lambda: box.get_attribute("aria-invalid") is None)


def test_a_threshold_that_is_typed_first_counts_when_the_condition_is_switched_on(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    settings.get_by_role("textbox", name="threshold of dead_relu").fill("0.7")
    settings.get_by_role("checkbox", name="look for dead_relu").click()
    panel_page.until(lambda: list(session.checks.conditions) == ["dead_relu"])
    assert session.checks.conditions["dead_relu"].threshold == 0.7


def test_what_a_person_does_leads_over_news_that_are_older(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    look = settings.get_by_role("checkbox", name="look for dead_relu")
    threshold = settings.get_by_role("textbox", name="threshold of dead_relu")
    older = "model.trigger('change:conditions')"  # Python has not received the click: its last state is still "off"
    look.click()
    panel_page.page.evaluate(older)
    assert look.is_checked()
    threshold.fill("0.75")
    panel_page.page.evaluate(older)
    threshold.press("Enter")
    panel_page.until(lambda: session.conditions != [] and session.checks.conditions["dead_relu"].threshold == 0.75)
    assert look.is_checked()
    assert threshold.input_value() == "0.75"
    session.remove_condition("dead_relu")
    panel_page.panel.sync()
    panel_page.until(lambda: not look.is_checked())


def test_a_threshold_that_is_being_typed_is_not_overwritten(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    look = settings.get_by_role("checkbox", name="look for dead_relu")
    threshold = settings.get_by_role("textbox", name="threshold of dead_relu")
    look.click()
    threshold.fill("0.7")
    panel_page.until(lambda: list(session.checks.conditions) == ["dead_relu"])  # answered while the user types
    panel_page.carry()
    assert threshold.input_value() == "0.7"
    threshold.press("Enter")
    panel_page.until(lambda: session.checks.conditions["dead_relu"].threshold == 0.7)


def test_a_switch_that_is_refused_shows_as_it_was(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    settings.get_by_role("textbox", name="threshold of dead_relu").fill("half")
    look = settings.get_by_role("checkbox", name="look for dead_relu")
    look.click()
    panel_page.until(lambda: "half" in panel_page.page.get_by_role("alert").inner_text())
    panel_page.until(lambda: not look.is_checked())
    assert session.conditions == []


def test_all_and_none_keep_the_thresholds_that_were_set(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    session.add_condition("dead_relu=0.5", pause=True)
    settings.get_by_role("button", name="Look for all").click()
    panel_page.until(lambda: set(session.checks.conditions) == set(CONDITIONS))
    assert session.checks.conditions["dead_relu"].threshold == 0.5
    assert session.checks.pausing == {"dead_relu"}
    settings.get_by_role("button", name="Look for none").click()
    panel_page.until(lambda: session.conditions == [])


def test_a_condition_of_ones_own_is_added_and_removed(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    box = settings.get_by_role("textbox", name="Your own condition")
    box.fill("normm > 3")
    box.press("Enter")
    panel_page.until(lambda: "normm" in panel_page.page.get_by_role("alert").inner_text())
    assert box.input_value() == "normm > 3"
    box.fill("norm > 3")
    settings.get_by_role("button", name="Add").click()
    panel_page.until(lambda: list(session.checks.conditions) == ["if norm > 3"])
    panel_page.until(lambda: box.input_value() == "")
    settings.get_by_role("checkbox", name="pause at if norm > 3").click()
    panel_page.until(lambda: session.checks.pausing == {"if norm > 3"})
    settings.get_by_role("button", name="remove if norm > 3").click()
    panel_page.until(lambda: session.conditions == [])
    panel_page.until(lambda: settings.get_by_role("button", name="remove if norm > 3").count() == 0)


def test_from_a_finding_one_click_goes_to_the_capture_and_one_to_the_cell(
    panel_page: PanelPage, session: PlainSession, view: Locator
) -> None:
    session.capture("block")
    bad = session.capture("block.relu", step=3)
    session.find("nan", "block.relu", bad, count=4, steps=4, last_step=6)
    session.emit("finished")
    row = view.get_by_role("listitem").filter(has=panel_page.page.get_by_role("button", name="show cell block.relu"))
    panel_page.until(row.is_visible)
    assert row.get_by_role("heading").inner_text() == "There is a NaN"
    assert "nan in block.relu: certain, in each of the 4 steps from 3 to 6" in row.inner_text()
    assert "block.relu#0 forward output (2 of 6 elements)" in row.inner_text()
    assert CONDITIONS["nan"].advice in row.inner_text()
    row.get_by_role("button", name="show the capture of nan in block.relu").click()
    captures = panel_page.page.get_by_role("tabpanel", name="Captures")
    assert captures.is_visible()
    panel_page.until(lambda: panel_page.panel.selection.get("index") == 1)
    panel_page.until(lambda: captures.locator("[aria-selected=true]").inner_text().startswith("3"))
    panel_page.page.get_by_role("tab", name="Findings").click()
    row.get_by_role("button", name="show cell block.relu").click()
    assert panel_page.page.evaluate("document.activeElement.getAttribute('aria-label')") == "block.relu, LeakyReLU"


def test_a_finding_without_a_capture_offers_none(panel_page: PanelPage, session: PlainSession, view: Locator) -> None:
    session.find("loss_not_decreasing", "")
    panel_page.panel.sync()
    findings = view.get_by_role("region", name="Causes and consequences")
    panel_page.until(lambda: findings.get_by_role("listitem").count() == 1)
    assert "loss_not_decreasing in (root): symptom, in step 1" in findings.inner_text()
    assert findings.get_by_role("button", name="show the capture").count() == 0


def test_the_focus_stays_on_a_finding_while_more_come(
    panel_page: PanelPage, session: PlainSession, view: Locator
) -> None:
    session.find("nan", "block")
    panel_page.panel.sync()
    link = view.get_by_role("button", name="show cell block", exact=True)
    panel_page.until(link.is_visible)
    link.focus()
    session.find("wrong_mode", "block.relu")
    panel_page.panel.sync()
    panel_page.until(lambda: view.get_by_role("button", name="show cell block.relu").is_visible())
    assert link.evaluate("one => one === document.activeElement")


def test_hostile_texts_stay_text(panel_page: PanelPage, session: PlainSession, view: Locator) -> None:
    session.find("nan", HOSTILE)
    session.found[-1].message = session.found[-1].advice = HOSTILE
    session.add_condition(f"if path == {HOSTILE!r}")
    panel_page.panel.sync()
    panel_page.until(lambda: view.inner_text().count(HOSTILE[:12]) >= 3)
    view.get_by_role("button", name="Settings").click()
    panel_page.until(lambda: HOSTILE[:12] in view.inner_text())
    assert panel_page.page.locator("img").count() == 0
    assert panel_page.page.title() == "panel"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 480])
def test_text_has_a_contrast_of_4_5_and_nothing_is_cut(
    panel_page: PanelPage, session: PlainSession, view: Locator, scheme: Any, width: int
) -> None:
    panel_page.page.emulate_media(color_scheme=scheme)
    panel_page.page.set_viewport_size({"width": width, "height": 640})
    session.add_condition("nan", pause=True)
    session.find("nan", "block.relu", session.capture("block.relu"))
    session.emit("finished")
    panel_page.until(lambda: view.get_by_role("button", name="show cell block.relu").is_visible())
    ratio, where = lowest_contrast(panel_page.page)
    assert ratio >= 4.5, where
    assert view.evaluate("view => view.scrollWidth <= view.clientWidth")


def test_the_tab_tells_how_much_was_found_wherever_one_looks(panel_page: PanelPage, session: PlainSession) -> None:
    tab = panel_page.page.get_by_role("tab", name="Findings", exact=True)
    assert tab.inner_text() == "Findings"
    session.find("nan", "block", session.capture(hits=["nan"]))
    session.emit("finished")
    panel_page.until(lambda: tab.inner_text() == "Findings1")
    assert tab.get_attribute("aria-description") == "1 found"
    assert panel_page.page.get_by_role("tabpanel", name="Cells").is_visible()


def test_a_newcomer_finds_faults_by_one_button(panel_page: PanelPage, session: PlainSession) -> None:
    find = panel_page.page.get_by_role("button", name="Find faults").filter(visible=True)
    find.click()
    panel_page.until(lambda: list(session.checks.conditions) == list(CONDITIONS))
    view = panel_page.page.get_by_role("tabpanel", name="Findings")
    panel_page.until(view.get_by_text("Nothing has run since these are looked for").is_visible)
    panel_page.until(lambda: find.count() == 0)
    settings = view.get_by_role("button", name="Settings")
    settings.click()
    view.get_by_role("button", name="Look for none").click()
    settings.click()
    panel_page.until(view.get_by_text("No conditions are checked yet.").is_visible)
    find.click()
    panel_page.until(lambda: list(session.checks.conditions) == list(CONDITIONS))


def test_findings_are_cleared(panel_page: PanelPage, session: PlainSession, view: Locator) -> None:
    clear = view.get_by_role("button", name="Clear", exact=True)
    assert not clear.is_visible()
    session.find("nan", "block.relu")
    panel_page.panel.sync()
    panel_page.until(clear.is_visible)
    clear.click()
    panel_page.until(lambda: not view.get_by_role("list", name="Findings").is_visible())
    assert not session.found and not clear.is_visible()


def test_a_finding_is_muted_for_its_cell_and_there_is_a_way_back(
    panel_page: PanelPage, session: PlainSession, view: Locator
) -> None:
    session.find("nan", "block.relu")
    session.find("nan", "")
    panel_page.panel.sync()
    mute = view.get_by_role("button", name="mute here: nan in block.relu", exact=True)
    panel_page.until(mute.is_visible)
    mute.click()
    why = view.get_by_role("textbox", name="why nan in block.relu is meant")
    why.fill("a mask <b>")
    why.press("Enter")
    panel_page.until(lambda: session.muted == [("nan", "block.relu", "a mask <b>")])
    muted = view.get_by_role("list", name="Muted")
    panel_page.until(lambda: "nan in block.relu: a mask <b>" in muted.inner_text())
    assert "--mute 'nan:block.relu=a mask <b>'" in muted.inner_text()
    assert view.get_by_role("button", name="mute here: nan in (root)", exact=True).is_visible()
    if AXE.is_file():
        assert violations(view) == []
    muted.get_by_role("button", name="unmute nan in block.relu").click()
    panel_page.until(lambda: session.muted == [])
    panel_page.until(lambda: not muted.is_visible())


def test_where_nothing_can_pause_the_view_says_what_to_do(
    panel_page: PanelPage, session: PlainSession, settings: Locator
) -> None:
    note = settings.get_by_role("note")
    assert not note.is_visible()
    session.no_pauses = "choose the Hookscope kernel to pause"
    session.add_condition("nan", pause=True)
    panel_page.panel.sync()
    panel_page.until(note.is_visible)
    assert note.inner_text() == "No pauses here: choose the Hookscope kernel to pause."
    assert "choose the Hookscope kernel to pause" in panel_page.page.get_by_role("status").first.inner_text()


def test_a_panel_that_no_longer_watches_offers_to_watch_and_nothing_that_would_do_nothing(
    panel_page: PanelPage, session: PlainSession, view: Locator
) -> None:
    top = panel_page.page.locator(".hs-head")
    find, again = (top.get_by_role("button", name=name) for name in ("Find faults", "Watch again"))
    view.get_by_role("button", name="Settings").click()
    switch = view.get_by_role("checkbox", name="look for nan")
    assert find.is_visible() and switch.is_enabled() and not again.is_visible()
    session.emit("captured")
    session.emit("finished")
    panel_page.until(again.is_visible)
    assert not find.is_visible() and switch.is_disabled()
    assert panel_page.page.get_by_role("status").first.inner_text() == "finished, no longer watching"
    panel_page.page.get_by_role("tab", name="Cells").click()
    stop = panel_page.page.get_by_role("combobox", name="breakpoint at block", exact=True)
    stop.select_option("forward")  # for the next run of the cell, which begins with what was clicked
    panel_page.until(lambda: session.breakpoints == [Breakpoint("block")])
    again.click()
    panel_page.until(lambda: session.attached)
    panel_page.until(lambda: not again.is_visible())
    panel_page.until(lambda: panel_page.page.get_by_role("status").first.inner_text() == "watching")


def test_what_follows_from_a_cause_is_folded_under_it_without_advice(
    panel_page: PanelPage, session: PlainSession, view: Locator
) -> None:
    session.find("dead_relu", "block.relu", session.capture("block.relu"))
    for path in ("conv", "block"):
        session.find("no_gradient", path)
    panel_page.panel.sync()
    cause = view.get_by_role("list", name="Findings").locator(":scope > li")
    panel_page.until(lambda: cause.count() == 1)
    assert "so also: no_gradient in 2 places" in cause.inner_text()
    assert CONDITIONS["no_gradient"].advice not in cause.inner_text()
    cause.get_by_text("so also").click()
    panel_page.until(lambda: cause.get_by_role("listitem").count() == 2)
    color = "(one) => getComputedStyle(one).color"
    red, grey = (
        part.get_by_text(name, exact=True)
        for part, name in ((cause, "dead_relu"), (cause.get_by_role("listitem").first, "no_gradient"))
    )
    assert red.evaluate(color) != grey.evaluate(color)
    assert panel_page.page.get_by_role("tab", name="Findings").get_attribute("aria-description") == "1 found"


def test_a_cure_says_what_it_changes_does_it_and_takes_it_back(
    panel_page: PanelPage, session: PlainSession, view: Locator
) -> None:
    actions: list[str] = []

    def do() -> Any:
        actions.append("done")
        return lambda: actions.append("undone")

    finding = session.find("wrong_mode", "block")
    text = "set_train(True) puts block into training mode."
    session.known_cures["wrong_mode"] = [Cure("set_train", "Set to training", text, finding, do, session)]
    panel_page.panel.sync()
    button = view.get_by_role("button", name="Set to training: block", exact=True)
    panel_page.until(button.is_visible)
    button.press("Enter")
    panel_page.until(view.get_by_text(text).is_visible)
    assert actions == []
    panel_page.page.keyboard.press("Enter")  # the focus is on "Apply" now
    panel_page.until(lambda: actions == ["done"])
    panel_page.until(view.get_by_text("Set to training: done; run one more step to see whether it is gone.").is_visible)
    panel_page.page.keyboard.press("Enter")  # and now on "Undo"
    panel_page.until(lambda: actions == ["done", "undone"])
    panel_page.until(button.is_visible)
    assert button.evaluate("one => one === document.activeElement")


def test_a_narrow_page_breaks_no_name_of_a_condition(panel_page: PanelPage, settings: Locator) -> None:
    panel_page.page.set_viewport_size({"width": 350, "height": 700})
    names = settings.get_by_role("table", name="Conditions").locator("tbody").get_by_role("rowheader")
    lines = names.evaluate_all(
        """(names) => names.map((name) => {
          const range = document.createRange();
          range.selectNodeContents(name);
          return range.getClientRects().length;
        })"""
    )
    assert lines == [1] * len(CONDITIONS)
