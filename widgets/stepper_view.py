"""The stepper: what it shows of a stop, and its messages: go on, look back, evaluate, set a value, check a gradient.

A handler may run in the paused thread itself, so none of them waits for the run to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookscope.engine.progress import Stopped
from hookscope.widgets import progress_view, texts
from hookscope.widgets.columns import Json
from hookscope.widgets.messages import Actions, MessageError, one_of

if TYPE_CHECKING:
    from hookscope.engine.debug import GradientCheck, GradientRow, PausePoint
    from hookscope.engine.debug.comparing.difference import Difference
    from hookscope.engine.debug.pausing.pause import OperatorRecord
    from hookscope.widgets.panel import DebuggerPanel

# A paused run waits meanwhile, and so does a person.
_CHECK_SECONDS = 1.0
_KEPT_EVALUATIONS = 20
_COMMANDS = ("over", "into", "out", "operator", "cell", "continue", "abort")


def publish(panel: DebuggerPanel, budget: float = 0.0) -> None:
    """Show the stop that the session shows; of a run that nobody could answer, the last one that was skipped."""
    session = panel.session
    point = session.shown
    skipped = point is None and panel.state == "finished" and bool(session.skipped_pauses)
    if skipped:
        point = session.skipped_pauses[-1]
    if point is not None:
        panel.stop = stop_view(point, skipped, session.paused)


def resume(panel: DebuggerPanel, command: str) -> None:
    """Let the run go on to its next stop."""
    one_of("command", command, _COMMANDS)
    if panel.session.paused is None:
        raise MessageError(f"cannot do {command!r}: the run is not paused")
    # The state changes first: the run may reach its next stop before resume() returns.
    panel.goes_on()
    try:
        panel.session.resume(command)
    except Exception:  # whatever it was, the run still waits; the message's answer tells it
        panel.state = "paused"
        raise


def step_back(panel: DebuggerPanel) -> None:
    """Show the stop before the one that is shown."""
    panel.session.step_back()
    publish(panel)


def step_forward(panel: DebuggerPanel) -> None:
    """Show the one after it."""
    panel.session.step_forward()
    publish(panel)


def show_operator(panel: DebuggerPanel, index: int) -> None:
    """Show an operator that ran, with its values."""
    panel.session.show_operator(index)
    publish(panel)


def evaluate(panel: DebuggerPanel, expression: str) -> None:
    """Answer with the value of an expression where the run stands."""
    if panel.session.paused is None:
        raise MessageError("cannot evaluate: the run is not paused")
    try:
        text, failed = texts.value_text(panel.session.evaluate(expression), 4000), False
    except Exception as error:  # the user's expression may raise anything; it is the answer
        text, failed = texts.error_line(error), True
    _answer(panel, expression, text, failed)


def _answer(panel: DebuggerPanel, expression: str, text: str, failed: bool) -> None:
    answer = {"expression": expression, "text": text, "failed": failed}
    panel.evaluations = [*panel.evaluations, answer][-_KEPT_EVALUATIONS:]


def edit(panel: DebuggerPanel, name: str, expression: str) -> None:
    """Put the value of an expression in the place of what passes, and answer with it as an evaluation does."""
    try:
        text, failed = texts.value_text(panel.session.edit(name, expression), 4000), False
    except Exception as error:  # the user's expression may raise anything; it is the answer
        text, failed = texts.error_line(error), True
    _answer(panel, f"{name} = {expression}", text, failed)
    publish(panel)


def check_gradient(panel: DebuggerPanel) -> None:
    """Check the gradient of the cell whose bprop is paused; the page says meanwhile that it is being checked."""
    point = panel.session.paused
    path = "" if point is None else point.path
    with progress_view.started_by_button(panel, "gradient check"):
        panel.gradient = {"state": "checking", "path": path}
        found: Json = {}  # what an interrupt leaves
        try:
            found = {"state": "done", "path": path, **gradient_view(panel.session.check_gradient(_CHECK_SECONDS))}
        except Exception as error:  # construct and bprop are the user's, and may raise anything
            told = str(error) if isinstance(error, Stopped) else texts.error_line(error)
            found = {"state": "failed", "path": path, "summary": told, "ok": False, "rows": []}
        finally:
            panel.gradient = found


def gradient_view(check: GradientCheck) -> Json:
    """A gradient check as the page shows it."""
    return {"summary": check.summary, "ok": check.ok, "rows": [_gradient_row(row) for row in check.rows]}


def _gradient_row(row: GradientRow) -> Json:
    kinks = f", {row.kinks} at a kink" if row.kinks else ""
    return {
        "name": row.name,
        "shape": texts.shape_text(row.shape),
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


def stop_view(point: PausePoint, skipped: bool = False, live: PausePoint | None = None) -> Json:
    """Everything the stepper shows about one stop; `live` is where the run stands, if `point` is an earlier place."""
    operators = (live or point).operators
    return {
        "kind": point.kind,
        "title": point.place,
        "reason": point.reason,
        "filename": point.filename or "",
        "function": point.function or "",
        "first_line": int(point.first_line or 0),
        "line": int(point.line or 0),
        "lines": [line.rstrip("\n") for line in point.lines],
        "locals": [
            {"name": name, "value": texts.value_text(value), "changed": name in point.changed}
            for name, value in point.locals.items()
        ],
        "operators": [
            {
                "name": record.name,
                "inputs": _values(record.inputs),
                "outputs": _values(record.outputs),
                "shown": record is point.operator,
            }
            for record in operators
        ],
        # The others ran after what is shown.
        "ran": len(point.operators) if live is None or point is live else _ran_before(point, operators),
        "operator": None if point.operator is None else _operator_view(point.operator),
        "path": point.path,
        "can_check": (live or point).arguments is not None and not skipped,
        "stack": list(point.stack),
        "exception": texts.error_line(point.exception) if point.exception is not None else "",
        "skipped": skipped,
    }


def _ran_before(point: PausePoint, operators: Sequence[OperatorRecord]) -> int:
    last = point.operators[-1] if point.operators else None
    return next((place + 1 for place, record in enumerate(operators) if record is last), 0)


def _operator_view(record: OperatorRecord) -> Json:
    """An operator with its values, for the one that is looked at."""
    outputs = record.outputs if isinstance(record.outputs, (tuple, list)) else (record.outputs,)
    return {
        "name": record.name,
        "where": f"{record.function}, line {record.line}" if record.line else "",
        "inputs": [texts.value_text(value, 400) for value in record.inputs],
        "outputs": [texts.value_text(value, 400) for value in outputs],
    }


def _values(values: object) -> str:
    """Write an operator's inputs or outputs: shapes for tensors, short text for the rest."""
    items = values if isinstance(values, (tuple, list)) else (values,)
    return ", ".join(_short(item) for item in items)


def _short(value: object) -> str:
    array = getattr(value, "_array", None)
    if array is not None and hasattr(array, "shape"):
        return f"{texts.dtype_text(value)} {texts.shape_text(array.shape)}"
    return texts.value_text(value, 60)


ACTIONS: Actions = {
    "resume": ({"command": str}, resume),
    "step_back": ({}, step_back),
    "step_forward": ({}, step_forward),
    "show_operator": ({"index": int}, show_operator),
    "evaluate": ({"expression": str}, evaluate),
    "edit": ({"name": str, "expression": str}, edit),
    "check_gradient": ({}, check_gradient),
}
