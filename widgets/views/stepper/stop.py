"""Stop and gradient check as the page shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from hookscope.widgets import highlighting, texts
from hookscope.widgets.highlighting import Piece
from hookscope.widgets.views.stepper.stop_breakpoints import LineBreakpoint, line_breakpoints, stoppable_lines

if TYPE_CHECKING:
    from hookscope.engine.debug import GradientCheck, GradientRow, PausePoint
    from hookscope.engine.debug.compare.difference import Difference
    from hookscope.engine.debug.stop.breakpoints.breakpoint import Breakpoint
    from hookscope.engine.debug.stop.pause import OperatorRecord


# Limits of a longer source: only lines near the current one are sent, in blocks that stay while stepping within one.
_MOST_LINES = 600
_LINES_TOGETHER = 200


class Local(TypedDict):
    """A local variable."""

    name: str
    value: str
    changed: bool


class Operator(TypedDict):
    """An executed operator; `line` is its line of the function that is shown, 0 for one of another function."""

    name: str
    inputs: str
    outputs: str
    shown: bool
    line: int


class OperatorValues(TypedDict):
    """The operator that is shown, with its values."""

    name: str
    where: str
    inputs: list[str]
    outputs: list[str]


class Stop(TypedDict):
    """The position of the run, or an earlier position that is shown, `back` lines before.

    `ran` counts the operators that had run there. Breakpoints can be set at the lines in `stoppable`. `frame` is the
    index in `stack` of the function that is shown, or -1; if `walks`, another one can be selected.
    """

    kind: str
    title: str
    reason: str
    filename: str
    function: str
    first_line: int
    line: int
    back: int
    lines: list[list[Piece]]
    stoppable: list[int]
    breakpoints: list[LineBreakpoint]
    locals: list[Local]
    operators: list[Operator]
    ran: int
    operator: OperatorValues | None
    path: str
    can_check: bool
    stack: list[str]
    frame: int
    walks: bool
    exception: str
    notes: list[str]
    skipped: bool


class CheckedGradient(TypedDict):
    """A row of a gradient check."""

    name: str
    shape: str
    verdict: str
    checked: str
    automatic: str
    numeric: str
    reason: str


class Gradient(TypedDict):
    """The results of a gradient check."""

    summary: str
    ok: bool
    rows: list[CheckedGradient]


def gradient_view(check: GradientCheck) -> Gradient:
    """Return a gradient check as the page shows it."""
    return {"summary": check.summary, "ok": check.ok, "rows": [_gradient_row(row) for row in check.rows]}


def _gradient_row(row: GradientRow) -> CheckedGradient:
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


def stop_view(
    point: PausePoint, skipped: bool = False, live: PausePoint | None = None, breakpoints: Sequence[Breakpoint] = ()
) -> Stop:
    """Return everything the stepper shows of a stop; `live` is the current pause if `point` is an earlier stop."""
    operators = (live or point).operators
    lines, first_line = _visible_lines(point)
    return {
        "kind": point.kind,
        "title": point.place,
        "reason": point.reason,
        "filename": point.filename or "",
        "function": point.function or "",
        "first_line": first_line,
        "line": int(point.line or 0),
        "back": point.back,
        "lines": highlighting.pieces([line.rstrip("\n") for line in lines]),
        "stoppable": stoppable_lines(point),
        "breakpoints": line_breakpoints(point, breakpoints),
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
                "line": record.line if _is_of_call(record, point) else 0,
            }
            for record in operators
        ],
        # The others ran after the stop that is shown.
        "ran": len(point.operators) if live is None or point is live else _ran_before(point, operators),
        "operator": None if point.operator is None else _operator_view(point.operator),
        "path": point.path,
        "can_check": (live or point).arguments is not None and not skipped,
        "stack": [frame.qualified_label for frame in point.frames] or list(point.stack),
        "frame": point.frame,
        "walks": bool(point.frames) and not skipped,
        "exception": texts.error_line(point.exception) if point.exception is not None else "",
        "notes": list(point.notes),
        "skipped": skipped,
    }


def _visible_lines(point: PausePoint) -> tuple[Sequence[str], int]:
    """Return the visible lines and the number of the first: of a long script only those near the current line."""
    first = int(point.first_line or 0)
    if len(point.lines) <= _MOST_LINES:
        return point.lines, first
    middle = (int(point.line or 0) - first) // _LINES_TOGETHER * _LINES_TOGETHER
    start = max(0, min(middle - _LINES_TOGETHER, len(point.lines) - _MOST_LINES))
    return point.lines[start : start + _MOST_LINES], first + start


def _is_of_call(record: OperatorRecord, point: PausePoint) -> bool:
    """Return whether the displayed call of a function ran an operator, and not an earlier call of it."""
    is_of_function = (record.function, record.filename) == (point.function, point.filename)
    return is_of_function and point.call in (None, record.call)


def _ran_before(point: PausePoint, operators: Sequence[OperatorRecord]) -> int:
    last = point.operators[-1] if point.operators else None
    return next((index + 1 for index, record in enumerate(operators) if record is last), 0)


def _operator_view(record: OperatorRecord) -> OperatorValues:
    """Return an operator with its values."""
    outputs = record.outputs if isinstance(record.outputs, (tuple, list)) else (record.outputs,)
    return {
        "name": record.name,
        "where": f"{record.function}, line {record.line}" if record.line else "",
        "inputs": [texts.value_text(value, 400) for value in record.inputs],
        "outputs": [texts.value_text(value, 400) for value in outputs],
    }


def _values(values: object) -> str:
    """Format an operator's inputs or outputs: shapes for tensors, short text for the rest."""
    items = values if isinstance(values, (tuple, list)) else (values,)
    return ", ".join(_short(item) for item in items)


def _short(value: object) -> str:
    array = texts.array_in(value)
    if array is not None:
        return f"{texts.dtype_text(value)} {texts.shape_text(array.shape)}"
    return texts.value_text(value, 60)
