"""What the tree shows of the values of each cell: the spread of its last output, the norm of the last gradient there.

They come from the captures that the session keeps anyway, for the rows in sight, within a budget of time; a capture
computes its figures once. Where the value was given up its figures stay, so that there is a trend by step. Nothing
here holds a capture: the memory of captures is the ring's to bound.
"""

from __future__ import annotations

import functools
import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from hookscope.engine.debug import GivenUp
from hookscope.engine.debug.record.statistics import load_kernels
from hookscope.widgets.columns import columns_to_bytes

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession, Statistics

    Row = Capture | GivenUp

FIGURE_KINDS = ("output", "gradient")
FIGURE_NUMBERS = ("cell", "kind", "step", "value", "word", "nan", "inf", "count", "largest")
"""Columns of float64: the row of the tree, a place in FIGURE_KINDS, and a figure; its word is one of FIGURE_WORDS."""
FIGURE_WORDS = ("", "zero", "const", "empty", "inf", "NaN")
"""What stands where a bar would say nothing, or the wrong thing."""
TREND_NUMBERS = ("step", "value", "word")

# Rows that are taken for those in sight until the page says which these are.
_FIRST = 40
_MOST_ROWS = 200
_MOST_POINTS = 120
# Seconds for the figures of one answer.
_ANSWER = 0.05


class InSight(TypedDict):
    """FIGURE_NUMBERS of rows that came into sight, which a person waits for."""

    type: Literal["cells_in_sight"]


class Trend(TypedDict):
    """One figure of one cell by step, with TREND_NUMBERS; of how many steps it comes later, and of how many never."""

    type: Literal["cell_trend"]
    path: str
    kind: str
    rest: int
    never: int


class Figure(NamedTuple):
    """A figure of a value: the standard deviation of an output, the norm of a gradient.

    Attributes:
        value: of the finite elements; of an output of one element, its magnitude.
        word: one of FIGURE_WORDS.
        nan, inf: how many elements are not finite.
        elements: how many there are.
        largest: the largest magnitude of a finite one.
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
        """The figure as columns behind "cell" and "kind"."""
        return (self.step, self.value, FIGURE_WORDS.index(self.word), self.nan, self.inf, self.elements, self.largest)


class _Call(NamedTuple):
    """Which call the newest capture of a place is of, and the capture's slot and running number."""

    step: int
    call: int
    context: str
    slot: str
    number: int

    @classmethod
    def of(cls, capture: Row) -> _Call:
        return cls(capture.step, capture.call, capture.context, capture.slot, capture.index)

    def gives_way(self, capture: Row) -> bool:
        """Whether this is newer: of several outputs of one call the first counts."""
        same = self[:3] == (capture.step, capture.call, capture.context)
        return not same or capture.slot == self.slot


def kind_of(capture: Row) -> str:
    """Return which of FIGURE_KINDS is a figure of this capture, or ""."""
    if capture.direction == "forward":
        return "output" if capture.slot.startswith("output") else ""
    return "gradient" if capture.slot.startswith("grad_output") else ""


def figure(kind: str, capture: Row) -> Figure | None:
    """Return the figure of a capture; None if its value was given up before that was known, or holds no numbers."""
    try:
        found = capture.statistics()
    except TypeError:  # elements that are no numbers
        return None
    if found is None:
        return None
    infinite = found.positive_inf + found.negative_inf
    largest = max(abs(found.minimum), abs(found.maximum))
    value = found.norm if kind == "gradient" else largest if found.count == 1 else found.std
    word = _word(kind, found, infinite, largest)
    return Figure(capture.step, value, word, found.nan, infinite, found.count, largest)


def _word(kind: str, found: Statistics, infinite: int, largest: float) -> str:
    if found.nan or infinite:
        return "NaN" if found.nan else "inf"
    if not found.count:
        return "empty"
    if largest == 0:
        return "zero"
    return "const" if kind == "output" and found.count > 1 and found.std == 0 else ""


def newest(session: DebugSession) -> dict[tuple[str, str], Row]:
    """By path and kind the capture whose figure the tree shows."""
    found: dict[tuple[str, str], _Call] = {}
    rows = session.captures.rows()
    _follow(found, rows)
    by_index = {row.index: row for row in rows}
    return {place: by_index[call.number] for place, call in found.items()}


def _follow(found: dict[tuple[str, str], _Call], captures: Iterable[Row]) -> None:
    """Go on with what is the newest, from one capture to the next."""
    for capture in captures:
        kind = kind_of(capture)
        if not kind:
            continue
        place = capture.path, kind
        known = found.get(place)
        if known is None or known.gives_way(capture):
            found[place] = _Call.of(capture)


class CellFigures:
    """What one panel knows of its tree's figures.

    Args:
        session: the session whose captures are looked at.
        send: sends a message with buffers to the page.

    Attributes:
        rest: how many figures are to come, for lack of time.
    """

    def __init__(self, session: DebugSession, send: Callable[..., None]) -> None:
        self.rest = 0
        self._session = session
        self._send = send
        self._paths: Sequence[str] = ()
        self._in_sight: list[int] = list(range(_FIRST))
        self._next = 0  # the index of the first capture that was not looked at
        self._replacements = 0  # an edit at a pause changes what was looked at
        self._newest: dict[tuple[str, str], _Call] = {}
        self._known: dict[tuple[str, str], tuple[int, Figure]] = {}  # with the index of the capture
        self._trend: tuple[str, str] | None = None

    def look_at(self, rows: list[Any]) -> None:
        """These rows of the tree are in sight.

        Raises:
            TypeError: they are no numbers.
        """
        if not all(type(row) is int for row in rows):
            raise TypeError("message 'look_at_cells': rows must be a list of int")
        self._in_sight = rows[:_MOST_ROWS]

    def follow_trend(self, path: str, kind: str) -> None:
        """Send this figure of this cell by step with each update; none with an empty kind.

        Raises:
            ValueError: an unknown kind.
        """
        if kind and kind not in FIGURE_KINDS:
            raise ValueError(f"unknown figure {kind!r}; it is one of {', '.join(FIGURE_KINDS)}")
        self._trend = (path, kind) if kind else None

    def update(self, paths: Sequence[str] | None = None, budget: float = _ANSWER) -> bytes:
        """Return FIGURE_NUMBERS of the rows in sight, and send the trend; ``budget`` is in seconds.

        Args:
            paths: those of the rows of the tree; None for the same as before.
        """
        end = monotonic() + budget
        self._paths = self._paths if paths is None else paths
        rows = self._session.captures.rows()
        self._look_through(rows)
        shown = self._figures_in_sight(rows, end)
        if self._trend is not None:
            self._send_trend(*self._trend, rows, end)
        return shown

    def _look_through(self, rows: list[Row]) -> None:
        """Find the newest capture of each place among those that came since the last time."""
        if self._replacements != self._session.captures.replacements:
            self._replacements = self._session.captures.replacements
            self._next = 0
            self._newest.clear()
            self._known.clear()
        fresh = rows[bisect_left(rows, self._next, key=_index) :]
        _follow(self._newest, fresh)
        if fresh:
            self._next = fresh[-1].index + 1

    def _figures_in_sight(self, rows: list[Row], end: float) -> bytes:
        self.rest = 0
        table: list[tuple[float, ...]] = []
        for position in self._in_sight:
            if not 0 <= position < len(self._paths):
                continue
            for number, kind in enumerate(FIGURE_KINDS):
                place = self._paths[position], kind
                self._compute(place, rows, end)
                if place in self._known:
                    table.append((position, number, *self._known[place][1].numbers))
        return columns_to_bytes(table, len(FIGURE_NUMBERS))

    def _compute(self, place: tuple[str, str], rows: list[Row], end: float) -> None:
        """Know the newest figure of a place, if there is one, and time for it; an older one stays until then."""
        call = self._newest.get(place)
        if call is None or (place in self._known and self._known[place][0] == call.number):
            return
        at = bisect_left(rows, call.number, key=_index)
        if at == len(rows) or rows[at].index != call.number:
            return  # dropped with its row
        if not _may_compute(rows[at], end):
            self.rest += 1
            return
        found = figure(place[1], rows[at])
        if found is not None:
            self._known[place] = call.number, found

    # By step

    def _send_trend(self, path: str, kind: str, rows: list[Row], end: float) -> None:
        by_step: dict[int, _Call] = {}
        captures: dict[int, Row] = {}
        for capture in rows:
            if capture.path == path and kind_of(capture) == kind:
                known = by_step.get(capture.step)
                if known is None or known.gives_way(capture):
                    by_step[capture.step] = _Call.of(capture)
                    captures[capture.step] = capture
        points: list[Figure] = []
        rest = never = 0
        for step in sorted(captures, reverse=True):  # the newest first, should the time not be enough
            if not _may_compute(captures[step], end):
                rest += 1
                continue
            found = figure(kind, captures[step])
            if found is None:
                never += 1
            else:
                points.append(found)
        self.rest += rest
        shown = [(one.step, one.value, FIGURE_WORDS.index(one.word)) for one in thinned(points[::-1])]
        content: Trend = {"type": "cell_trend", "path": path, "kind": kind, "rest": rest, "never": never}
        self._send(content, [columns_to_bytes(shown, len(TREND_NUMBERS))])


def thinned(points: list[Figure], most: int = _MOST_POINTS) -> list[Figure]:
    """Return the first, the last, and of each stretch between them the one that most is to be seen of."""
    if len(points) <= most:
        return points
    length = -(-(len(points) - 2) // (most - 2))
    return [points[0], *_most_remarkable(points[1:-1], length), points[-1]]


def _most_remarkable(points: list[Figure], length: int) -> Iterator[Figure]:
    for begin in range(0, len(points), length):
        yield max(points[begin : begin + length], key=_remarkable)


def _remarkable(point: Figure) -> tuple[int, float]:
    return FIGURE_WORDS.index(point.word), point.value if math.isfinite(point.value) else math.inf


def _index(capture: Row) -> int:
    return capture.index


# What computing costs


def _may_compute(capture: Row, end: float) -> bool:
    """Whether there is time for the figures of a capture; of what was given up they are there, or never will be."""
    return isinstance(capture, GivenUp) or (monotonic() < end and _kernels_are_loaded())


def _kernels_are_loaded() -> bool:
    """Whether figures can be computed at once; else that is seen to, and nobody waits: it takes about a second."""
    return bool(load_kernels.cache_info().currsize) or not _loader().is_alive()


@functools.cache
def _loader() -> threading.Thread:
    thread = threading.Thread(target=load_kernels, name="hookscope-load-statistics", daemon=True)
    thread.start()
    return thread
