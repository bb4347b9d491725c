"""From a session's plain data to what travels to the browser: JSON rows and binary number columns.

Numbers go as float64 columns one after the other (a count, an index and a statistic all fit), text as JSON.
Nothing here knows of widgets, so that every function can be tested by its result alone.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.debug.captures.capture import cell_name
from hookscope.widgets import tensor_view

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, CellNode, DebugSession, PausePoint, Statistics
    from hookscope.engine.debug.pausing.pause import OperatorRecord

Json = dict[str, Any]

KINDS = ("forward_pre", "forward", "backward_pre", "backward")
CAPTURE_NUMBERS = ("index", "step", "call", "known", "minimum", "maximum", "mean", "std", "nan", "inf")
CAPTURE_TEXTS = ("path", "cell", "direction", "slot", "context", "shape", "dtype", "origin", "hits")

_MAX_VALUE = 2000  # characters of one value's text: what a table row and its tooltip can hold


def shape_text(shape: Sequence[int]) -> str:
    """Write a shape the way the session's own table does: `2x3`."""
    return "x".join(map(str, shape)) or "()"


def one_line(text: str, limit: int = 300) -> str:
    """Return the first line of `text`, cut to `limit` characters."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= limit else line[: limit - 1] + "…"


def error_line(error: BaseException) -> str:
    """Write an exception as the one line that a panel shows."""
    text = one_line(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def value_text(value: object, limit: int = _MAX_VALUE) -> str:
    """Write any value the user's code holds; a tensor as shape, dtype and its first numbers."""
    array = getattr(value, "_array", None)
    if array is not None and hasattr(array, "shape"):
        return _tensor_text(value, array)
    try:
        text = repr(value)
    except Exception as error:  # a user's __repr__ may raise anything; the table must still be shown
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _tensor_text(value: object, array: Any, shown: int = 6) -> str:
    head = array.reshape(-1)[:shown]
    head = head.get() if hasattr(head, "get") else np.asarray(head)
    numbers = ", ".join(f"{x:.5g}" if isinstance(x, (float, complex)) else str(x) for x in head.tolist())
    more = ", …" if array.size > shown else ""
    return f"{type(value).__name__} {shape_text(array.shape)} {dtype_text(value)} [{numbers}{more}]"


def dtype_text(value: Any) -> str:
    """Write a dtype in lower case, as NumPy does (`float32`)."""
    return str(getattr(value, "dtype", value)).lower()


def root_name(session: DebugSession) -> str:
    """Name the network a session looks at."""
    names = [one_line(type(root).__name__, 60) for root in session.roots]
    return ", ".join(names) if names else "no network yet"


def cell_nodes(session: DebugSession) -> list[CellNode]:
    """List the cells in the order of the tree, with every root at depth 0.

    A path alone does not tell: the first root's is empty, a further root's is a name, as a child of the first has.
    """
    further = {session.paths.path_of(root) for root in session.roots[1:]}
    return [
        node._replace(depth=node.path.count(".")) if node.path.partition(".")[0] in further else node
        for node in session.tree()
    ]


def capture_numbers(capture: Capture, statistics: Statistics | None) -> list[float]:
    """One row of CAPTURE_NUMBERS; the statistics are left out until somebody looks."""
    row = [float(capture.index), float(capture.step), float(capture.call)]
    if statistics is None:
        return [*row, 0.0, *[float("nan")] * 6]
    infinite = statistics.positive_inf + statistics.negative_inf
    spread = (statistics.minimum, statistics.maximum, statistics.mean, statistics.std)
    return [*row, 1.0, *map(float, (*spread, statistics.nan, infinite))]


def capture_texts(captures: Iterable[Capture]) -> dict[str, list[str]]:
    """The text columns of captures, by name."""
    columns: dict[str, list[str]] = {name: [] for name in CAPTURE_TEXTS}
    for capture in captures:
        columns["path"].append(capture.path)
        columns["cell"].append(cell_name(capture.path))
        columns["direction"].append(capture.direction)
        columns["slot"].append(capture.slot)
        columns["context"].append(capture.context)
        columns["shape"].append(shape_text(capture.shape))
        columns["dtype"].append(dtype_text(capture.dtype))
        columns["origin"].append(capture.origin)
        columns["hits"].append(", ".join(capture.hits))
    return columns


def columns_to_bytes(rows: Sequence[Sequence[float]], width: int) -> bytes:
    """Lay rows of numbers out as `width` float64 columns, one after the other."""
    return np.array(rows, dtype="<f8").reshape(len(rows), width).T.tobytes()


class CaptureFeed:
    """Remembers how far the browser is, and computes statistics within a budget of time.

    A capture costs nothing until its statistics are wanted, and a training loop makes thousands: the
    newest get theirs first, the others when they are scrolled into view.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._next = 0  # the index of the first capture that the browser has not got
        self._oldest = 0  # the oldest that it was told to keep

    def restart(self) -> None:
        """Send everything again from the oldest capture on: a page was loaded anew."""
        self._next = 0

    def take(self, budget: float) -> tuple[Json, bytes] | None:
        """Return what changed since the last call, or None; `budget` is in seconds."""
        kept = list(self._session.captures)
        oldest = kept[0].index if kept else self._next
        fresh = kept[bisect_left(kept, self._next, key=_index) :]
        if not fresh and oldest == self._oldest:
            return None
        reset = self._next == 0
        self._oldest = oldest
        if fresh:
            self._next = fresh[-1].index + 1
        end = time.monotonic() + budget
        rows: list[list[float]] = []
        for capture in reversed(fresh):
            statistics = capture.statistics() if time.monotonic() < end else None
            rows.append(capture_numbers(capture, statistics))
        rows.reverse()
        content = {
            "type": "captures",
            "reset": reset,
            "oldest": oldest,
            "dropped": self._session.captures.dropped,
            "count": len(fresh),
            "columns": capture_texts(fresh),
        }
        return content, columns_to_bytes(rows, len(CAPTURE_NUMBERS))

    def find(self, indices: Iterable[int]) -> list[Capture]:
        """Return the captures with these indices, without those that the ring has dropped."""
        kept = list(self._session.captures)
        places = [(index, bisect_left(kept, index, key=_index)) for index in indices]
        return [kept[at] for index, at in places if at < len(kept) and kept[at].index == index]

    def statistics(self, indices: Iterable[int]) -> bytes:
        """Compute the rows of CAPTURE_NUMBERS for captures that came into view."""
        rows = [capture_numbers(capture, capture.statistics()) for capture in self.find(indices)]
        return columns_to_bytes(rows, len(CAPTURE_NUMBERS))


def _index(capture: Capture) -> int:
    return capture.index


def selection_view(capture: Capture, captures: Iterable[Capture]) -> tuple[Json, bytes]:
    """Everything about the selected one of the captures, and its histogram: 64 counts, then 65 edges."""
    statistics = capture.statistics()
    figures = {
        "count": statistics.count,
        "minimum": statistics.minimum,
        "maximum": statistics.maximum,
        "mean": statistics.mean,
        "std": statistics.std,
        "norm": statistics.norm,
        "zeros": statistics.zeros,
        "nan": statistics.nan,
        "positive_inf": statistics.positive_inf,
        "negative_inf": statistics.negative_inf,
    }
    content = {
        "index": capture.index,
        "key": capture.key,
        "path": capture.path,
        "step": capture.step,
        "sizes": list(capture.shape),
        "choices": tensor_view.choices(captures, capture),
        "shape": shape_text(capture.shape),
        "dtype": dtype_text(capture.dtype),
        "origin": capture.origin,
        "hits": list(capture.hits),
        "value": value_text(capture.value),
        # JSON has no NaN and no infinity, so figures travel as text and are parsed there.
        "figures": {name: repr(float(figure)) for name, figure in figures.items()},
    }
    histogram = np.concatenate([np.asarray(statistics.histogram, "<f8"), np.asarray(statistics.edges, "<f8")])
    return content, histogram.tobytes()


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
            {"name": name, "value": value_text(value), "changed": name in point.changed}
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
        "exception": error_line(point.exception) if point.exception is not None else "",
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
        "inputs": [value_text(value, 400) for value in record.inputs],
        "outputs": [value_text(value, 400) for value in outputs],
    }


def _values(values: object) -> str:
    """Write an operator's inputs or outputs: shapes for tensors, short text for the rest."""
    items = values if isinstance(values, (tuple, list)) else (values,)
    return ", ".join(_short(item) for item in items)


def _short(value: object) -> str:
    array = getattr(value, "_array", None)
    if array is not None and hasattr(array, "shape"):
        return f"{dtype_text(value)} {shape_text(array.shape)}"
    return value_text(value, 60)
