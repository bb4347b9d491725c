"""Static HTML of the stop and the gradient checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.widgets import highlighting
from hookscope.widgets.static_html.markup import Table, scrolling, table, text
from hookscope.widgets.views.stepper.stop import gradient_view, stop_view

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, GradientCheck, PausePoint


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the stop and the gradient checks."""
    point, skipped = _shown_stop(session)
    stop = [] if point is None else [stop_html(point, skipped)]
    return [*stop, *map(gradient_html, session.gradient_checks.values())]


def _shown_stop(session: DebugSession) -> tuple[PausePoint | None, bool]:
    """Return a session's pause, or else its failure or the last skipped pause, and whether it was skipped."""
    failure = session.failure
    if session.paused is None and failure is not None:
        return failure.point(), False
    skipped = session.paused is None and bool(session.skipped_pauses)
    return (session.skipped_pauses[-1] if skipped else session.paused), skipped


def stop_html(point: PausePoint, skipped: bool) -> str:
    """Return one stop: its position, reason, source with the line marked, locals and operators."""
    view = stop_view(point, skipped)
    lines = [_source_line(view["first_line"] + k, line, view["line"]) for k, line in enumerate(view["lines"])]
    values = [(item["name"], item["value"], "changed" if item["changed"] else "") for item in view["locals"]]
    operators = [(item["name"], item["inputs"], item["outputs"]) for item in view["operators"]]
    title = ("Skipped pause: " if skipped else "Failed: " if view["kind"] == "failure" else "Paused: ") + view["title"]
    stack = [(entry, "shown" if index == view["frame"] else "") for index, entry in enumerate(view["stack"])]
    return "\n".join(
        [
            f"<p><b>{text(title)}</b><br>{text(view['reason'])}</p>",
            f"<p>{text(view['exception'])}</p>" if view["exception"] else "",
            *(f"<p>{text(note)}</p>" for note in view["notes"]),
            f"<pre>{''.join(lines)}</pre>" if lines else "",
            table("Locals", ("name", "value", ""), values) if values else "",
            table("Operators run", ("operator", "inputs", "outputs"), operators) if operators else "",
            table("Call stack", ("function", ""), stack) if view["exception"] and stack else "",
        ]
    )


def _source_line(line: int, source: list[highlighting.Piece], current: int) -> str:
    body = f"{'→' if line == current else ' '} {line:>4}  {highlighting.html(source)}"
    return (f"<mark>{body}</mark>" if line == current else body) + "\n"


def gradient_html(check: GradientCheck) -> str:
    """Return the results of a gradient check as a table."""
    view = gradient_view(check)
    columns = ("of", "shape", "verdict", "checked", "relative difference to automatic", "to differences", "reason")
    return table(view["summary"], columns, [tuple(row.values()) for row in view["rows"]])


def stop_section(session: DebugSession) -> str:
    """Return the stop for an export."""
    point, skipped = _shown_stop(session)
    return "" if point is None else scrolling(stop_html(point, skipped))


def gradients_html(session: DebugSession) -> str:
    """Return the gradient checks for an export."""
    return "".join(scrolling(gradient_html(check)) for check in session.gradient_checks.values())
