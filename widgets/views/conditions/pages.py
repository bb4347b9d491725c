"""What was looked for and what was found where no script runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookscope.engine.debug.captures.capture import cell_name
from hookscope.widgets.markup import MAX_ROWS, Table, counted_title, left_out, scrolling, table, text
from hookscope.widgets.views.conditions.found import COLUMNS, condition_rows, finding_cells, verdict

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Finding


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return what was found, and what was looked for."""
    findings = session.findings()
    found: list[str | Table] = []
    if findings:
        title = counted_title("Findings", len(findings))
        found.append(Table(title, COLUMNS, _finding_rows(findings), numeric=("times",)))
    return [*found, _looked_for(session)]


def _findings_table(findings: Sequence[Finding]) -> str:
    """What the conditions found as a table."""
    return table("", COLUMNS, _finding_rows(findings), numeric=("times",))


def _finding_rows(findings: Sequence[Finding]) -> list[tuple[object, ...]]:
    return [finding_cells(finding) for finding in findings[:MAX_ROWS]]


def _looked_for(session: DebugSession) -> str:
    """The conditions that were looked for, with their thresholds, as one sentence; "" for none."""
    rows = [row for row in condition_rows(session) if row["on"]]
    names = [f"{row['name']}={row['threshold']}" if row["threshold"] else row["name"] for row in rows]
    if not rows:
        return ""
    nothing = "" if session.findings() else f"{verdict(session)} "
    muted = [f"{condition} in {cell_name(path)}" for condition, path in session.muted]
    told = [f"{nothing}Looked for: {', '.join(names)}.", f"Muted: {', '.join(muted)}." if muted else ""]
    return f"<p><small>{text(' '.join(part for part in told if part))}</small></p>"


def findings_section(session: DebugSession) -> str:
    """Return what was found, for an export."""
    findings = session.findings()
    if not findings:
        return "<p>Nothing found.</p>" if session.conditions else ""
    rest = left_out("findings", min(len(findings), MAX_ROWS), len(findings))
    return scrolling(_findings_table(findings), "findings") + rest


def conditions_html(session: DebugSession) -> str:
    """Return what was looked for, for an export."""
    rows = [
        (row["name"], row["threshold"], row["unit"], "pause" if row["pause"] else "mark", row["meaning"])
        for row in condition_rows(session)
        if row["on"]
    ]
    columns = ("condition", "threshold", "of", "where it holds", "meaning")
    return scrolling(table("", columns, rows, numeric=("threshold",))) if rows else ""
