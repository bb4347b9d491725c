"""Static HTML of conditions and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.widgets.static_html.markup import Table, scrolling, table, text
from hookscope.widgets.views.findings.cards import cards_html
from hookscope.widgets.views.findings.rows import condition_rows, muted_text, verdict

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

_MOST_NAMES = 8
"""Maximum number of conditions whose names are visible at once."""


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the findings, and the conditions that were checked."""
    return [cards_html(session), _enabled_conditions(session)]


def _enabled_conditions(session: DebugSession) -> str:
    """Return the checked conditions, with their thresholds, as one sentence; "" for none."""
    rows = [row for row in condition_rows(session) if row["on"]]
    names = [f"{row['name']}={row['threshold']}" if row["threshold"] else row["name"] for row in rows]
    if not rows:
        return ""
    nothing = (
        "" if session.findings() else f"{verdict(session)} {session.checks.coverage().limits()} ".replace("  ", " ")
    )
    muted = [muted_text(mute) for mute in session.muted]
    sentences = [f"{nothing}Looked for: {', '.join(names)}.", f"Muted: {', '.join(muted)}." if muted else ""]
    html = f"<p><small>{text(' '.join(part for part in sentences if part))}</small></p>"
    if len(names) <= _MOST_NAMES or nothing or muted:
        return html
    return f"<details><summary><small>Looked for {len(names)} conditions</small></summary>\n{html}\n</details>"


def findings_section(session: DebugSession) -> str:
    """Return the findings for an export."""
    return cards_html(session) or ("<p>Nothing found.</p>" if session.conditions else "")


def conditions_html(session: DebugSession) -> str:
    """Return the checked conditions for an export."""
    rows = [
        (row["name"], row["threshold"], row["unit"], "pause" if row["pause"] else "mark", row["meaning"])
        for row in condition_rows(session)
        if row["on"]
    ]
    columns = ("condition", "threshold", "of", "where it holds", "meaning")
    return scrolling(table("", columns, rows, numeric=("threshold",))) if rows else ""
