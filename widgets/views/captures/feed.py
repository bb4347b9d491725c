"""The captures as they travel to the page: rows as they come, their figures, everything about the selected one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from hookscope.engine.debug import GivenUp
from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.debug.record.size_texts import size_text
from hookscope.widgets import texts
from hookscope.widgets.columns import columns_to_bytes
from hookscope.widgets.views.captures import tensor

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession, Statistics

    Row = Capture | GivenUp

_GIVEN_UP = "The value was given up to make room for newer ones; its figures stay."
_NO_FIGURES = "The value was given up to make room for newer ones, before anybody asked for its figures."
CAPTURE_NUMBERS = ("index", "step", "call", "known", "minimum", "maximum", "mean", "std", "nan", "inf")
# What a row of numbers says of its figures: they are there, nobody asked for them yet, they never will be.
_KNOWN, _NOT_YET, _NEVER = 1.0, 0.0, -1.0
CAPTURE_TEXTS = ("path", "cell", "direction", "slot", "context", "shape", "dtype", "origin", "hits")


class Bounds(TypedDict):
    """What the page is told about the captures that it has."""

    oldest: int
    given_up: int
    notes: list[str]
    max_bytes: str
    max_captures: int


class NewCaptures(Bounds):
    """Captures that the page has not got, with CAPTURE_NUMBERS; with `reset` it has none any more."""

    type: Literal["captures"]
    reset: bool
    count: int
    columns: dict[str, list[str]]


class Figures(TypedDict):
    """CAPTURE_NUMBERS of captures that came into view."""

    type: Literal["statistics"]


class _OfValue(TypedDict):
    kept: bool
    choices: list[tensor.Choice]
    comparable: int
    attention: bool
    value: str


class Selection(_OfValue):
    """The selected capture; its figures are text, since JSON has no NaN and no infinity."""

    index: int
    key: str
    path: str
    step: int
    sizes: list[int]
    shape: str
    dtype: str
    origin: str
    hits: list[str]
    figures: dict[str, str]


def capture_numbers(capture: Row, statistics: Statistics | None) -> list[float]:
    """One row of CAPTURE_NUMBERS; the statistics are left out until somebody looks."""
    row = [float(capture.index), float(capture.step), float(capture.call)]
    if statistics is None:
        return [*row, _NEVER if isinstance(capture, GivenUp) else _NOT_YET, *[float("nan")] * 6]
    infinite = statistics.positive_inf + statistics.negative_inf
    spread = (statistics.minimum, statistics.maximum, statistics.mean, statistics.std)
    return [*row, _KNOWN, *map(float, (*spread, statistics.nan, infinite))]


def capture_texts(captures: Iterable[Row]) -> dict[str, list[str]]:
    """The text columns of captures, by name."""
    columns: dict[str, list[str]] = {name: [] for name in CAPTURE_TEXTS}
    for capture in captures:
        columns["path"].append(capture.path)
        columns["cell"].append(cell_name(capture.path))
        columns["direction"].append(capture.direction)
        columns["slot"].append(capture.slot)
        columns["context"].append(capture.context)
        columns["shape"].append(texts.shape_text(capture.shape))
        columns["dtype"].append(texts.dtype_text(capture.dtype))
        columns["origin"].append(capture.origin)
        columns["hits"].append(", ".join(capture.hits))
    return columns


class CaptureFeed:
    """Remembers how far the browser is, and computes statistics within a budget of time.

    A capture costs nothing until its statistics are wanted, and a training loop makes thousands: the
    newest get theirs first, the others when they are scrolled into view.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._next = 0  # the index of the first capture that the browser has not got
        self._told: Bounds | None = None  # what it was told about those that it has
        self._replacements = 0  # how many it knows of: an edit at a pause changes what was sent

    def restart(self) -> None:
        """Send everything again from the oldest capture on: a page was loaded anew."""
        self._next = 0

    def take(self, budget: float) -> tuple[NewCaptures, bytes] | None:
        """Return what changed since the last call, or None; `budget` is in seconds."""
        ring = self._session.captures
        if self._replacements != ring.replacements:
            self._replacements = ring.replacements
            self.restart()
        kept = ring.rows()
        fresh = kept[bisect_left(kept, self._next, key=_index) :]
        told: Bounds = {
            "oldest": kept[0].index if kept else self._next,
            "given_up": ring.given_up,
            "notes": ring.notes(),
            "max_bytes": size_text(ring.max_bytes),
            "max_captures": ring.max_captures,
        }
        if not fresh and told == self._told:
            return None
        reset = self._next == 0
        self._told = told
        if fresh:
            self._next = fresh[-1].index + 1
        end = monotonic() + budget
        rows: list[list[float]] = []
        for capture in reversed(fresh):
            given_up = isinstance(capture, GivenUp)  # its figures are there, or never will be
            statistics = capture.statistics() if given_up or monotonic() < end else None
            rows.append(capture_numbers(capture, statistics))
        rows.reverse()
        content: NewCaptures = {
            "type": "captures",
            "reset": reset,
            **told,
            "count": len(fresh),
            "columns": capture_texts(fresh),
        }
        return content, columns_to_bytes(rows, len(CAPTURE_NUMBERS))

    def find(self, indices: Iterable[int]) -> list[Row]:
        """Return the captures with these indices, without those that the ring has dropped."""
        kept = self._session.captures.rows()
        places = [(index, bisect_left(kept, index, key=_index)) for index in indices]
        return [kept[at] for index, at in places if at < len(kept) and kept[at].index == index]

    def statistics(self, indices: Iterable[int]) -> bytes:
        """Compute the rows of CAPTURE_NUMBERS for captures that came into view."""
        rows = [capture_numbers(capture, capture.statistics()) for capture in self.find(indices)]
        return columns_to_bytes(rows, len(CAPTURE_NUMBERS))


def _index(capture: Row) -> int:
    return capture.index


def selection_view(capture: Row, captures: Iterable[Capture]) -> tuple[Selection, bytes]:
    """Everything about the selected one of the captures, and its histogram: 64 counts, then 65 edges.

    Of one that was given up there are no pictures, and perhaps neither figures nor histogram.
    """
    statistics = capture.statistics()
    figures: dict[str, float] = (
        {}
        if statistics is None
        else {
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
    )
    content: Selection = {
        "index": capture.index,
        "key": capture.key,
        "path": capture.path,
        "step": capture.step,
        "sizes": list(capture.shape),
        **_of_value(capture, captures),
        "shape": texts.shape_text(capture.shape),
        "dtype": texts.dtype_text(capture.dtype),
        "origin": capture.origin,
        "hits": list(capture.hits),
        "figures": {name: repr(float(figure)) for name, figure in figures.items()},
    }
    if statistics is None or not statistics.histogram.size:
        return content, b""
    histogram = np.concatenate([np.asarray(statistics.histogram, "<f8"), np.asarray(statistics.edges, "<f8")])
    return content, histogram.tobytes()


def _of_value(capture: Row, captures: Iterable[Capture]) -> _OfValue:
    """What is shown of a capture only while its value is kept."""
    if isinstance(capture, GivenUp):
        return {
            "kept": False,
            "choices": [],
            "comparable": 0,
            "attention": False,
            "value": _NO_FIGURES if capture.figures is None else _GIVEN_UP,
        }
    choices, comparable = tensor.choices(captures, capture)
    return {
        "kept": True,
        "choices": choices,
        "comparable": comparable,
        "attention": tensor.is_attention(capture),
        "value": texts.value_text(capture.value),
    }
