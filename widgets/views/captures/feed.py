"""Messages about captures: rows as they arrive, their statistics, everything about the selected one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from hookscope.engine.debug import EvictedCapture
from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.debug.record.size_texts import size_text
from hookscope.widgets import texts
from hookscope.widgets.columns import columns_to_bytes
from hookscope.widgets.views.captures import tensor

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession, Statistics

    Row = Capture | EvictedCapture

_EVICTED = "The value was given up to make room for newer ones; its figures stay."
_NO_FIGURES = "The value was given up to make room for newer ones, before its figures were requested."
CAPTURE_NUMBERS = ("index", "step", "call", "known", "minimum", "maximum", "mean", "std", "nan", "inf")
# Values of the column `known`: statistics are present, not computed yet, or never will be.
_HAS_STATISTICS, _NOT_YET, _NO_STATISTICS = 1.0, 0.0, -1.0
CAPTURE_TEXTS = ("path", "cell", "direction", "slot", "context", "shape", "dtype", "origin", "hits")


class Bounds(TypedDict):
    """Facts about the captures that the page has."""

    oldest: int
    given_up: int
    notes: list[str]
    max_bytes: str
    max_captures: int


class NewCaptures(Bounds):
    """New captures with CAPTURE_NUMBERS; `reset` tells the page to discard its earlier ones."""

    type: Literal["captures"]
    reset: bool
    count: int
    columns: dict[str, list[str]]


class Figures(TypedDict):
    """CAPTURE_NUMBERS of captures that became visible."""

    type: Literal["statistics"]


class _OfValue(TypedDict):
    kept: bool
    choices: list[tensor.Choice]
    comparable: int
    attention: bool
    value: str


class Selection(_OfValue):
    """The selected capture; its statistics are text, since JSON has neither NaN nor infinity."""

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
    """Return one row of CAPTURE_NUMBERS; its statistics are NaN if `statistics` is None."""
    row = [float(capture.index), float(capture.step), float(capture.call)]
    if statistics is None:
        return [*row, _NO_STATISTICS if isinstance(capture, EvictedCapture) else _NOT_YET, *[float("nan")] * 6]
    infinite = statistics.positive_inf + statistics.negative_inf
    spread = (statistics.minimum, statistics.maximum, statistics.mean, statistics.std)
    return [*row, _HAS_STATISTICS, *map(float, (*spread, statistics.nan, infinite))]


def capture_texts(captures: Iterable[Row]) -> dict[str, list[str]]:
    """Return the text columns of captures, by name."""
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
    """Position of the browser in the captures, with statistics computed within a time budget.

    A capture costs nothing until its statistics are needed, and a training loop makes thousands of captures. The newest
    get theirs first, the others when they are scrolled into view.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._next = 0  # the index of the first capture that the browser lacks
        self._last_bounds: Bounds | None = None  # the last facts sent about the captures
        self._replacements = 0  # number of replacements sent: an edit at a pause changes earlier captures

    def restart(self) -> None:
        """Send everything again from the oldest capture on, since a page was reloaded."""
        self._next = 0

    def take(self, budget: float) -> tuple[NewCaptures, bytes] | None:
        """Return the changes since the last call, or None; `budget` is in seconds."""
        ring = self._session.captures
        if self._replacements != ring.replacements:
            self._replacements = ring.replacements
            self.restart()
        retained = ring.rows()
        new_rows = retained[bisect_left(retained, self._next, key=_index) :]
        bounds: Bounds = {
            "oldest": retained[0].index if retained else self._next,
            "given_up": ring.given_up,
            "notes": ring.notes(),
            "max_bytes": size_text(ring.max_bytes),
            "max_captures": ring.max_captures,
        }
        if not new_rows and bounds == self._last_bounds:
            return None
        reset = self._next == 0
        self._last_bounds = bounds
        if new_rows:
            self._next = new_rows[-1].index + 1
        end = monotonic() + budget
        rows: list[list[float]] = []
        for capture in reversed(new_rows):
            given_up = isinstance(capture, EvictedCapture)  # its statistics are already computed, or never will be
            statistics = capture.statistics() if given_up or monotonic() < end else None
            rows.append(capture_numbers(capture, statistics))
        rows.reverse()
        content: NewCaptures = {
            "type": "captures",
            "reset": reset,
            **bounds,
            "count": len(new_rows),
            "columns": capture_texts(new_rows),
        }
        return content, columns_to_bytes(rows, len(CAPTURE_NUMBERS))

    def find(self, indices: Iterable[int]) -> list[Row]:
        """Return the captures with these indices, omitting those that the ring buffer has dropped."""
        retained = self._session.captures.rows()
        positions = [(index, bisect_left(retained, index, key=_index)) for index in indices]
        return [retained[at] for index, at in positions if at < len(retained) and retained[at].index == index]

    def statistics(self, indices: Iterable[int]) -> bytes:
        """Return rows of CAPTURE_NUMBERS for captures that became visible."""
        rows = [capture_numbers(capture, capture.statistics()) for capture in self.find(indices)]
        return columns_to_bytes(rows, len(CAPTURE_NUMBERS))


def _index(capture: Row) -> int:
    return capture.index


def selection_view(capture: Row, captures: Iterable[Capture]) -> tuple[Selection, bytes]:
    """Return everything about the selected capture, and its histogram: 64 counts, then 65 edges.

    A capture whose value was evicted has no pictures, and may lack statistics and a histogram.
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
    """Return the parts of a selection that need the capture's value."""
    if isinstance(capture, EvictedCapture):
        return {
            "kept": False,
            "choices": [],
            "comparable": 0,
            "attention": False,
            "value": _NO_FIGURES if capture.figures is None else _EVICTED,
        }
    choices, comparable = tensor.choices(captures, capture)
    return {
        "kept": True,
        "choices": choices,
        "comparable": comparable,
        "attention": tensor.is_attention(capture),
        "value": texts.value_text(capture.value),
    }
