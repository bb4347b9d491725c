"""The Conditions tab: conditions, findings, and a pause at a finding."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, wait_until
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Findings"
TRAIN, TELL = 2, 3
CELLS = [NETWORK, "%cell net", "kill_relu()\ntrain(3)", "print({c.name: c.threshold for c in _session.conditions})"]


def look_for(panel: Panel, condition: str, what: str = "look for") -> Locator:
    return panel.root.get_by_role("checkbox", name=f"{what} {condition}", exact=True)


def until_known(shared_notebook: Notebook, condition: str) -> None:
    """Wait until the kernel looks for it: the page shows a tick at once."""
    wait_until(f"{condition} to be looked for", lambda: f"'{condition}': " in shared_notebook.run_to_end(TELL))


def be_looked_for(panel: Panel, shared_notebook: Notebook, condition: str) -> None:
    panel.settings()
    if not look_for(panel, condition).is_checked():
        look_for(panel, condition).click()
    until_known(shared_notebook, condition)
    panel.settings(is_open=False)


def look_for_none(panel: Panel) -> None:
    panel.settings()
    panel.button("Look for none").click()
    expect(panel.view("Findings").get_by_role("checkbox", checked=True)).to_have_count(0)


def test_a_threshold_is_edited_and_a_wrong_one_refused(panel: Panel, shared_notebook: Notebook) -> None:
    look_for_none(panel)
    look_for(panel, "dead_relu").click()
    expect(look_for(panel, "dead_relu")).to_be_checked()
    threshold = panel.root.get_by_role("textbox", name="threshold of dead_relu")
    threshold.fill("0.75")
    threshold.press("Enter")
    wait_until("the threshold to be taken", lambda: "{'dead_relu': 0.75}" in shared_notebook.run_to_end(TELL))
    threshold.fill("much")
    threshold.press("Enter")
    expect(threshold).to_have_attribute("aria-invalid", "true")
    expect(panel.root.get_by_role("alert").first).to_contain_text("much")
    assert "{'dead_relu': 0.75}" in shared_notebook.run_to_end(TELL)


def test_a_finding_has_advice_and_leads_to_its_capture(panel: Panel, shared_notebook: Notebook) -> None:
    be_looked_for(panel, shared_notebook, "dead_relu")
    shared_notebook.run_to_end(TRAIN)
    findings = panel.root.get_by_role("list", name="Findings").get_by_role("listitem").filter(has_text="dead_relu")
    expect(findings).to_contain_text("Try a smaller learning rate")
    findings.get_by_role("button", name="show the capture of dead_relu in relu").click()
    region = panel.root.get_by_role("region", name="Selected capture")
    expect(region.get_by_role("heading", name=re.compile("^relu#0 forward output, step"))).to_be_visible()


def test_a_finding_leads_to_its_cell(panel: Panel, shared_notebook: Notebook) -> None:
    be_looked_for(panel, shared_notebook, "dead_relu")
    shared_notebook.run_to_end(TRAIN)
    panel.root.get_by_role("button", name="show cell relu", exact=True).first.click()
    expect(panel.root.get_by_role("treeitem", name="relu, ReLU", exact=True)).to_be_focused()


def test_the_run_pauses_where_a_condition_holds(panel: Panel, shared_notebook: Notebook) -> None:
    panel.settings()
    look_for(panel, "all_zero", "pause at").click()
    expect(look_for(panel, "all_zero", "pause at")).to_be_checked()
    until_known(shared_notebook, "all_zero")
    shared_notebook.run(TRAIN)
    panel.expect_paused("relu")
    expect(panel.view("Stepper")).to_contain_text("all_zero")
    look_for_none(panel)
    panel.tab("Stepper")
    panel.button("Continue").click()
    shared_notebook.finish(TRAIN)


def test_a_condition_of_ones_own_is_added_and_removed(panel: Panel, shared_notebook: Notebook) -> None:
    look_for_none(panel)
    own = panel.root.get_by_role("textbox", name="Your own condition")
    own.fill("norm > 1e30")
    own.press("Enter")
    expect(look_for(panel, "if norm > 1e30", "pause at")).to_be_visible()
    assert "if norm > 1e30" in shared_notebook.run_to_end(TELL)
    panel.button("remove if norm > 1e30").click()
    expect(look_for(panel, "if norm > 1e30", "pause at")).to_have_count(0)
    assert "{}" in shared_notebook.run_to_end(TELL)
