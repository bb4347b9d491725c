"""Statistics in the cell tree: the standard deviation of the last output, and the norm of the last gradient.

They are computed from the session's captures, for visible rows, within a time budget; a capture computes its statistics
once. Statistics of an evicted value remain, so that there is a trend by step. Nothing here holds a reference to a
capture: the ring buffer bounds the memory of captures.
"""

from __future__ import annotations

import functools
import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from hookscope.engine.debug import EvictedCapture
from hookscope.engine.debug.record.statistics import load_kernels
from hookscope.widgets.columns import columns_to_bytes

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession, Statistics

    Row = Capture | EvictedCapture

FIGURE_KINDS = ("output", "gradient")
FIGURE_NUMBERS = ("cell", "kind", "step", "value", "word", "nan", "inf", "count", "largest")
"""Columns of float64: a row of the tree, and indices into FIGURE_KINDS and, as `word`, FIGURE_WORDS."""
FIGURE_WORDS = ("", "zero", "const", "empty", "inf", "NaN")
"""Words shown instead of a bar that would be meaningless or misleading."""
TREND_NUMBERS = ("step", "value", "word")

# Number of rows assumed visible until the page reports which ones are.
_FIRST = 40
_MOST_ROWS = 200
_MOST_POINTS = 120
# Seconds for the statistics of one reply.
_ANSWER = 0.05


class InSight(TypedDict):
    """FIGURE_NUMBERS of rows that became visible."""

    type: Literal["cells_in_sight"]


class Trend(TypedDict):
    """One statistic of one cell by step, with TREND_NUMBERS; the number of pending and of missing steps."""

    type: Literal["cell_trend"]
    path: str
    kind: str
    rest: int
    never: int


class Figure(NamedTuple):
    """A statistic of a value: the standard deviation of an output, the norm of a gradient.

    Attributes:
        value: the statistic of the finite elements; for an output of one element, its magnitude.
        word: one of FIGURE_WORDS.
        nan, inf: the number of nonfinite elements.
        elements: the number of elements.
        largest: the largest magnitude of a finite element.
    """

    step: int
    value: float
    word: str
    nan: int
    inf: int
    elements: int
    largest: float

    @property
    def numbers(self) -> tuple[float, ...]:
        """The figure as the columns after "cell" and "kind"."""
        return (self.step, self.value, FIGURE_WORDS.index(self.word), self.nan, self.inf, self.elements, self.largest)


class _Call(NamedTuple):
    """The call of the newest capture of a path and kind, and the capture's slot and index."""

    step: int
    call: int
    context: str
    slot: str
    number: int

    @classmethod
    def of(cls, capture: Row) -> _Call:
        return cls(capture.step, capture.call, capture.context, capture.slot, capture.index)

    def gives_way(self, capture: Row) -> bool:
        """Return whether `capture` replaces this one: of several outputs of one call, the first counts."""
        same_call = self[:3] == (capture.step, capture.call, capture.context)
        return not same_call or capture.slot == self.slot


def kind_of(capture: Row) -> str:
    """Return the member of FIGURE_KINDS that a capture provides, or ""."""
    if capture.direction == "forward":
        return "output" if capture.slot.startswith("output") else ""
    return "gradient" if capture.slot.startswith("grad_output") else ""


def figure(kind: str, capture: Row) -> Figure | None:
    """Return the figure of a capture; None for non-numeric values and for those evicted without statistics."""
    try:
        summary = capture.statistics()
    except TypeError:  # non-numeric elements
        return None
    if summary is None:
        return None
    infinite = summary.positive_inf + summary.negative_inf
    largest = max(abs(summary.minimum), abs(summary.maximum))
    value = summary.norm if kind == "gradient" else largest if summary.count == 1 else summary.std
    word = _word(kind, summary, infinite, largest)
    return Figure(capture.step, value, word, summary.nan, infinite, summary.count, largest)


def _word(kind: str, statistics: Statistics, infinite: int, largest: float) -> str:
    if statistics.nan or infinite:
        return "NaN" if statistics.nan else "inf"
    if not statistics.count:
        return "empty"
    if largest == 0:
        return "zero"
    return "const" if kind == "output" and statistics.count > 1 and statistics.std == 0 else ""


def newest(session: DebugSession) -> dict[tuple[str, str], Row]:
    """Return the capture whose figure the tree shows, by path and kind."""
    calls: dict[tuple[str, str], _Call] = {}
    rows = session.captures.rows()
    _collect_calls(calls, rows)
    by_index = {row.index: row for row in rows}
    return {key: by_index[call.number] for key, call in calls.items()}


def _collect_calls(calls: dict[tuple[str, str], _Call], captures: Iterable[Row]) -> None:
    """Update the newest call of each path and kind with further captures."""
    for capture in captures:
        kind = kind_of(capture)
        if not kind:
            continue
        key = capture.path, kind
        previous = calls.get(key)
        if previous is None or previous.gives_way(capture):
            calls[key] = _Call.of(capture)


class CellFigures:
    """Figures of one panel's tree.

    Args:
        session: the session whose captures are used.
        send: sends a message with buffers to the page.

    Attributes:
        rest: the number of figures that exceeded the time budget.
    """

    def __init__(self, session: DebugSession, send: Callable[..., None]) -> None:
        self.rest = 0
        self._session = session
        self._send = send
        self._paths: Sequence[str] = ()
        self._in_sight: list[int] = list(range(_FIRST))
        self._next = 0  # the index of the first unprocessed capture
        self._replacements = 0  # an edit at a pause changes earlier captures
        self._newest: dict[tuple[str, str], _Call] = {}
        self._figures: dict[tuple[str, str], tuple[int, Figure]] = {}  # with the capture's index
        self._trend: tuple[str, str] | None = None

    def look_at(self, rows: list[Any]) -> None:
        """Set the visible rows of the tree.

        Raises:
            TypeError: the rows are not integers.
        """
        if not all(type(row) is int for row in rows):
            raise TypeError("message 'look_at_cells': rows must be a list of int")
        self._in_sight = rows[:_MOST_ROWS]

    def follow_trend(self, path: str, kind: str) -> None:
        """Send this figure of this cell by step with each update; none if the kind is empty.

        Raises:
            ValueError: the kind is unknown.
        """
        if kind and kind not in FIGURE_KINDS:
            raise ValueError(f"unknown figure {kind!r}; it is one of {', '.join(FIGURE_KINDS)}")
        self._trend = (path, kind) if kind else None

    def update(self, paths: Sequence[str] | None = None, budget: float = _ANSWER) -> bytes:
        """Return FIGURE_NUMBERS of the visible rows, and send the trend; ``budget`` is in seconds.

        Args:
            paths: the paths of the tree's rows; None if unchanged.
        """
        end = monotonic() + budget
        self._paths = self._paths if paths is None else paths
        rows = self._session.captures.rows()
        self._look_through(rows)
        columns = self._figures_in_sight(rows, end)
        if self._trend is not None:
            self._send_trend(*self._trend, rows, end)
        return columns

    def _look_through(self, rows: list[Row]) -> None:
        """Update the newest capture of each path and kind with those that have arrived since the last call."""
        if self._replacements != self._session.captures.replacements:
            self._replacements = self._session.captures.replacements
            self._next = 0
            self._newest.clear()
            self._figures.clear()
        arrivals = rows[bisect_left(rows, self._next, key=_index) :]
        _collect_calls(self._newest, arrivals)
        if arrivals:
            self._next = arrivals[-1].index + 1

    def _figures_in_sight(self, rows: list[Row], end: float) -> bytes:
        self.rest = 0
        table: list[tuple[float, ...]] = []
        for position in self._in_sight:
            if not 0 <= position < len(self._paths):
                continue
            for number, kind in enumerate(FIGURE_KINDS):
                key = self._paths[position], kind
                self._compute(key, rows, end)
                if key in self._figures:
                    table.append((position, number, *self._figures[key][1].numbers))
        return columns_to_bytes(table, len(FIGURE_NUMBERS))

    def _compute(self, key: tuple[str, str], rows: list[Row], end: float) -> None:
        """Compute the newest figure of a path and kind within the time budget; until then the previous one stays."""
        call = self._newest.get(key)
        if call is None or (key in self._figures and self._figures[key][0] == call.number):
            return
        row_index = bisect_left(rows, call.number, key=_index)
        if row_index == len(rows) or rows[row_index].index != call.number:
            return  # evicted together with its row
        if not _may_compute(rows[row_index], end):
            self.rest += 1
            return
        statistic = figure(key[1], rows[row_index])
        if statistic is not None:
            self._figures[key] = call.number, statistic

    # By step

    def _send_trend(self, path: str, kind: str, rows: list[Row], end: float) -> None:
        by_step: dict[int, _Call] = {}
        captures: dict[int, Row] = {}
        for capture in rows:
            if capture.path == path and kind_of(capture) == kind:
                previous = by_step.get(capture.step)
                if previous is None or previous.gives_way(capture):
                    by_step[capture.step] = _Call.of(capture)
                    captures[capture.step] = capture
        points: list[Figure] = []
        rest = never = 0
        for step in sorted(captures, reverse=True):  # the newest first, in case the time runs out
            if not _may_compute(captures[step], end):
                rest += 1
                continue
            statistic = figure(kind, captures[step])
            if statistic is None:
                never += 1
            else:
                points.append(statistic)
        self.rest += rest
        columns = [(point.step, point.value, FIGURE_WORDS.index(point.word)) for point in downsampled(points[::-1])]
        content: Trend = {"type": "cell_trend", "path": path, "kind": kind, "rest": rest, "never": never}
        self._send(content, [columns_to_bytes(columns, len(TREND_NUMBERS))])


def downsampled(points: list[Figure], limit: int = _MOST_POINTS) -> list[Figure]:
    """Return the first and last points, and the most notable of each stretch between them."""
    if len(points) <= limit:
        return points
    length = -(-(len(points) - 2) // (limit - 2))
    return [points[0], *_most_remarkable(points[1:-1], length), points[-1]]


def _most_remarkable(points: list[Figure], length: int) -> Iterator[Figure]:
    for begin in range(0, len(points), length):
        yield max(points[begin : begin + length], key=_remarkable)


def _remarkable(point: Figure) -> tuple[int, float]:
    return FIGURE_WORDS.index(point.word), point.value if math.isfinite(point.value) else math.inf


def _index(capture: Row) -> int:
    return capture.index


# Cost of computing


def _may_compute(capture: Row, end: float) -> bool:
    """Return whether there is time for a capture's statistics; those of an evicted value cost nothing."""
    return isinstance(capture, EvictedCapture) or (monotonic() < end and _kernels_are_loaded())


def _kernels_are_loaded() -> bool:
    """Return whether kernels for statistics are loaded; otherwise load them in the background, in about a second."""
    return bool(load_kernels.cache_info().currsize) or not _loader().is_alive()


@functools.cache
def _loader() -> threading.Thread:
    thread = threading.Thread(target=load_kernels, name="hookscope-load-statistics", daemon=True)
    thread.start()
    return thread
