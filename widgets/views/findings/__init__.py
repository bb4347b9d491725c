"""Findings: problems of the network, and the conditions that are checked while it runs.

Everything here is read from a session and done by it; the session validates names, thresholds and expressions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.engine.debug import CONDITIONS
from hookscope.widgets import texts
from hookscope.widgets.messages import Action, MessageError
from hookscope.widgets.view import Section, Static, View, state
from hookscope.widgets.views.findings.rows import Conditions, conditions_view
from hookscope.widgets.views.findings.static_html import conditions_html, findings_section, static_parts

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel

_HERE = Path(__file__).parent
_LONGEST_REASON = 200


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Publish the conditions and findings."""
    panel.conditions = conditions_view(panel.session)


def set_condition(panel: DebuggerPanel, name: str, on: bool, pause: bool, threshold: str) -> None:
    """Enable a condition, with this threshold unless it is "", or disable it."""
    session = panel.session
    if on:
        session.add_condition(f"{name}={threshold}" if threshold.strip() else name, pause)
    else:
        session.remove_condition(name)


def set_all(panel: DebuggerPanel, on: bool) -> None:
    """Enable every known condition, keeping those that are enabled unchanged; or disable all of them."""
    session = panel.session
    enabled = {condition.name for condition in session.conditions}
    for name in CONDITIONS:
        if on and name not in enabled:
            session.add_condition(name)
        elif not on and name in enabled:
            session.remove_condition(name)


def clear_findings(panel: DebuggerPanel) -> None:
    """Clear the findings so far."""
    panel.session.clear_findings()


def set_muted(panel: DebuggerPanel, condition: str, path: str, on: bool, reason: str) -> None:
    """Mute a condition in a cell, for a reason, so that it neither marks nor pauses there; or unmute it."""
    if on:
        panel.session.mute(condition, path, texts.one_line(reason.strip(), _LONGEST_REASON))
    else:
        panel.session.unmute(condition, path)
    panel.renew_in_place()  # the reason is for the saved notebook, which may be saved before another cell runs


def cure(panel: DebuggerPanel, condition: str, path: str, name: str, on: bool) -> None:
    """Apply a cure for a finding, or undo it."""
    findings = [
        candidate
        for candidate in panel.session.findings()
        if (candidate.condition, candidate.path) == (condition, path)
    ]
    matches = [
        candidate for finding in findings for candidate in panel.session.cures(finding) if candidate.name == name
    ]
    if not matches:
        raise MessageError(f"there is no {texts.one_line(name, 40)!r} for {texts.one_line(condition, 80)} any more")
    (matches[0].apply if on else matches[0].undo)()


def add_custom(panel: DebuggerPanel, expression: str) -> None:
    """Enable a condition of the user's own."""
    panel.session.add_condition("if " + expression.strip().removeprefix("if ").strip())


CONDITIONS_TRAIT = state(Conditions, live=True)

VIEW = View(
    name="findings",
    title="Findings",
    position=5,
    script=_HERE / "findings_view.js",
    style=_HERE / "findings.css",
    leads_to="findings",
    traits={"conditions": CONDITIONS_TRAIT},
    actions={
        "condition": Action({"name": str, "on": bool, "pause": bool, "threshold": str}, set_condition, chooses=True),
        "all_conditions": Action({"on": bool}, set_all, chooses=True),
        "custom_condition": Action({"expression": str}, add_custom, chooses=True),
        "cure": Action({"condition": str, "path": str, "name": str, "on": bool}, cure),
        "clear_findings": Action({}, clear_findings),
        "mute": Action({"condition": str, "path": str, "on": bool, "reason": str}, set_muted, chooses=True),
    },
    publish=publish,
    publish_always=publish,
    static=Static(20, static_parts),
    sections=(Section(20, "Findings", findings_section), Section(90, "Conditions", conditions_html)),
)
