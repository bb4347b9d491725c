"""The conditions view: what is looked for, what was found, and the messages that change what is looked for.

Everything here is read from a session and done by it; names, thresholds and expressions are checked there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine.debug import CONDITIONS
from hookscope.engine.debug.captures.capture import cell_name
from hookscope.engine.debug.checks.producer import OUTSIDE
from hookscope.engine.debug.stepping.user_code import file_label
from hookscope.widgets import texts
from hookscope.widgets.messages import Actions

if TYPE_CHECKING:
    from hookscope.engine.debug import Condition, DebugSession, Finding
    from hookscope.widgets.panel import DebuggerPanel

Json = dict[str, Any]

COLUMNS = ("condition", "where", "steps", "times", "what", "advice")


def conditions_view(session: DebugSession) -> Json:
    """Everything that the view shows: rows of conditions, findings, and for each cell how many of these it has.

    A cell may be called "constructor": names that users choose are no keys of what goes to the page.
    """
    findings = session.findings()
    return {
        "rows": condition_rows(session),
        "findings": finding_rows(session, findings),
        "muted": [muted_row(condition, path) for condition, path in session.muted],
        "cells": [[path, *hits] for path, hits in cell_hits(findings).items()],
        "no_pauses": session.no_pauses or "",
        "verdict": "" if findings else verdict(session),
    }


def verdict(session: DebugSession) -> str:
    """Say what it means that nothing was found: what was looked at, and for how many conditions."""
    if not session.conditions:
        return "Nothing is looked for yet."
    steps, captures = session.checks.looked_at()
    counts = ((steps, "step"), (captures, "capture"), (len(session.conditions), "condition"))
    if steps or captures:
        muted = f" but what is muted ({len(session.muted)})" if session.muted else ""
        return f"{', '.join(texts.counted(*count) for count in counts)}: nothing wrong{muted}."
    if session.attached:
        return "Nothing has run yet. Run the network: what is wrong shows here, with what to do about it."
    return "Nothing has run since these are looked for, and this panel no longer watches."


def condition_rows(session: DebugSession) -> list[Json]:
    """List the known conditions, then the user's own, each with what the session does about it."""
    wanted = {condition.name: condition for condition in session.conditions}
    pausing = session.checks.pausing
    own = [condition for name, condition in wanted.items() if name not in CONDITIONS]
    return [
        _row(wanted.get(condition.name, condition), condition.name in wanted, condition.name in pausing)
        for condition in (*CONDITIONS.values(), *own)
    ]


def _row(condition: Condition, on: bool, pause: bool) -> Json:
    return {
        "name": condition.name,
        "about": condition.about,
        "own": condition.name not in CONDITIONS,
        "on": on,
        "pause": pause,
        # As text: what a person types goes to the session as it is, and JSON has no NaN.
        "threshold": "" if math.isnan(condition.threshold) else f"{condition.threshold:g}",
        "unit": condition.unit,
        "meaning": condition.meaning,
        "advice": condition.advice,
    }


def finding_rows(session: DebugSession, findings: Iterable[Finding]) -> list[Json]:
    """List the findings, each with the oldest kept capture that shows it, or -1."""
    captures: dict[tuple[str, str], int] = {}
    for hit in session.hits:
        if hit.capture is not None:
            captures.setdefault((hit.condition.name, hit.subject), hit.capture.index)
    return [
        {
            "condition": finding.condition,
            "path": finding.path,
            "label": cell_name(finding.path),
            "in_cell": finding.path != OUTSIDE,
            "steps": steps_text(finding),
            "times": finding.count,
            "message": what_text(finding),
            "advice": finding.advice,
            "source": source_text(finding),
            "capture": captures.get((finding.condition, finding.subject), -1),
        }
        for finding in findings
    ]


def muted_row(condition: str, path: str) -> Json:
    """Write one condition that is muted for a cell."""
    return {"condition": condition, "path": path, "label": cell_name(path)}


def finding_cells(finding: Finding) -> tuple[object, ...]:
    """Write one finding as the cells of a table with these COLUMNS."""
    where = cell_name(finding.path)
    return finding.condition, where, steps_text(finding), finding.count, what_text(finding), finding.advice


def steps_text(finding: Finding) -> str:
    """Write the steps of a finding as `2` or `2 to 7`."""
    first, last = finding.first_step, finding.last_step
    return str(first) if first == last else f"{first} to {last}"


def what_text(finding: Finding) -> str:
    """Write what was seen, without the condition's name, which stands beside it."""
    return finding.message.removeprefix(f"{finding.condition} in ")


def source_text(finding: Finding) -> str:
    """Write the line of the user's code that made a NaN or an infinity, or "" where it is not known."""
    producer = finding.producer
    if producer is None or not producer.line:
        return ""
    line = f"{file_label(producer.filename)}, line {producer.line}"
    return f"{line}: {producer.source}" if producer.source else line


def cell_hits(findings: Iterable[Finding]) -> dict[str, list[Any]]:
    """For each cell with findings how often a condition held there, and the worst one's name.

    The worst stands first in CONDITIONS, which begins with NaN and Inf; the user's own come last.
    """
    rank = {name: place for place, name in enumerate(CONDITIONS)}
    cells: dict[str, list[Any]] = {}
    for finding in findings:
        count, worst = cells.get(finding.path, [0, finding.condition])
        worst = min(worst, finding.condition, key=lambda name: rank.get(name, len(rank)))
        cells[finding.path] = [count + finding.count, worst]
    return cells


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Show what is looked for and what was found."""
    panel.conditions = conditions_view(panel.session)


def set_condition(panel: DebuggerPanel, name: str, on: bool, pause: bool, threshold: str) -> None:
    """Look for a condition, with this threshold if it is not "", or look for it no more."""
    session = panel.session
    if on:
        session.add_condition(f"{name}={threshold}" if threshold.strip() else name, pause)
    else:
        session.remove_condition(name)


def set_all(panel: DebuggerPanel, on: bool) -> None:
    """Look for every known condition, leaving those that are looked for as they are; or for none of them."""
    session = panel.session
    looked_for = {condition.name for condition in session.conditions}
    for name in CONDITIONS:
        if on and name not in looked_for:
            session.add_condition(name)
        elif not on and name in looked_for:
            session.remove_condition(name)


def clear_findings(panel: DebuggerPanel) -> None:
    """Forget what was found so far."""
    panel.session.clear_findings()


def set_muted(panel: DebuggerPanel, condition: str, path: str, on: bool) -> None:
    """Neither find nor pause at a condition in a cell; or do so again."""
    (panel.session.mute if on else panel.session.unmute)(condition, path)


def add_own(panel: DebuggerPanel, expression: str) -> None:
    """Look for a condition of the user's own."""
    panel.session.add_condition("if " + expression.strip().removeprefix("if ").strip())


ACTIONS: Actions = {
    "condition": ({"name": str, "on": bool, "pause": bool, "threshold": str}, set_condition),
    "all_conditions": ({"on": bool}, set_all),
    "own_condition": ({"expression": str}, add_own),
    "clear_findings": ({}, clear_findings),
    "mute": ({"condition": str, "path": str, "on": bool}, set_muted),
}
