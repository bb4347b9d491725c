"""The stepper's actions beside going on and looking back: set a value, and check the gradient of what is paused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.widgets import views

if TYPE_CHECKING:
    from hookscope.engine.debug import GradientCheck, GradientRow
    from hookscope.engine.debug.comparing.difference import Difference
    from hookscope.widgets.panel import DebuggerPanel

# A paused run waits meanwhile, and so does a person.
_CHECK_SECONDS = 1.0


def edit(panel: DebuggerPanel, name: str, expression: str) -> None:
    """Put the value of an expression in the place of what passes, and answer with it as an evaluation does."""
    try:
        text, failed = views.value_text(panel.session.edit(name, expression), 4000), False
    except Exception as error:  # the user's expression may raise anything; it is the answer
        text, failed = views.error_line(error), True
    panel.answer(f"{name} = {expression}", text, failed)
    panel.publish_stop()


def check_gradient(panel: DebuggerPanel) -> None:
    """Check the gradient of the cell whose bprop is paused; the page says meanwhile that it is being checked."""
    point = panel.session.paused
    path = "" if point is None else point.path
    panel.gradient = {"state": "checking", "path": path}
    found: views.Json = {}  # what an interrupt leaves
    try:
        found = {"state": "done", "path": path, **gradient_view(panel.session.check_gradient(_CHECK_SECONDS))}
    except Exception as error:  # construct and bprop are the user's, and may raise anything
        found = {"state": "failed", "path": path, "summary": views.error_line(error), "ok": False, "rows": []}
    finally:
        panel.gradient = found


def gradient_view(check: GradientCheck) -> views.Json:
    """A gradient check as the page shows it."""
    return {"summary": check.summary, "ok": check.ok, "rows": [_gradient_row(row) for row in check.rows]}


def _gradient_row(row: GradientRow) -> views.Json:
    kinks = f", {row.kinks} at a kink" if row.kinks else ""
    return {
        "name": row.name,
        "shape": views.shape_text(row.shape),
        "verdict": row.verdict,
        "checked": "" if row.verdict == "skipped" else f"{row.checked} of {row.size}{kinks}",
        "automatic": _difference(row.automatic),
        "numeric": _difference(row.numeric),
        "reason": row.reason,
    }


def _difference(difference: Difference | None) -> str:
    if difference is None:
        return ""
    _, relative, at = difference.cells()
    return f"{relative} at {at}" if at and difference.absolute else relative


# Messages from the page: the fields of each with their types, and what it does to the panel.
ACTIONS: dict[str, tuple[dict[str, type], Callable[..., None]]] = {
    "edit": ({"name": str, "expression": str}, edit),
    "check_gradient": ({}, check_gradient),
}
