"""Static HTML of hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.engine.debug.record.capture import cell_name
from hookscope.widgets.static_html.markup import MAX_ROWS, Table, counted_title, left_out, scrolling, table

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

MAX_HOOKS = 500
"""Maximum number of hooks in the export."""

HOOK_COLUMNS = ("cell", "kind", "function", "from")


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the hooks as a table."""
    rows = hook_rows(session)
    return [Table(counted_title("Hooks", len(rows)), HOOK_COLUMNS, rows[:MAX_ROWS])] if rows else []


def hook_rows(session: DebugSession) -> list[tuple[str, ...]]:
    """Return every hook as the cells of a table with HOOK_COLUMNS."""
    return [
        (cell_name(row.path), row.kind, row.function, "panel" if row.by_session else "you") for row in session.hooks()
    ]


def export_html(session: DebugSession) -> str:
    """Return the hooks for an export."""
    rows = hook_rows(session)
    listed_rows = rows[:MAX_HOOKS]
    omission = left_out("hooks", len(listed_rows), len(rows))
    return scrolling(table("", HOOK_COLUMNS, listed_rows)) + omission if rows else ""
