"""The captures: their rows as they come, everything about the selected one, and the messages that ask for more."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.debug import GivenUp
from hookscope.engine.debug.captures.capture import cell_name
from hookscope.engine.debug.captures.sizes import parse_size, size_text
from hookscope.widgets import tensor_view, texts
from hookscope.widgets.columns import Json, columns_to_bytes
from hookscope.widgets.messages import Actions, MessageError
from hookscope.widgets.numpy_code import numpy_code

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession, Statistics
    from hookscope.widgets.panel import DebuggerPanel

    Row = Capture | GivenUp

_GIVEN_UP = "The value was given up to make room for newer ones; its figures stay."
_NO_FIGURES = "The value was given up to make room for newer ones, before anybody asked for its figures."
CAPTURE_NUMBERS = ("index", "step", "call", "known", "minimum", "maximum", "mean", "std", "nan", "inf")
# What a row of numbers says of its figures: they are there, nobody asked for them yet, they never will be.
_KNOWN, _NOT_YET, _NEVER = 1.0, 0.0, -1.0
CAPTURE_TEXTS = ("path", "cell", "direction", "slot", "context", "shape", "dtype", "origin", "hits")


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
        self._told: Json = {}  # what it was told about those that it has
        self._replacements = 0  # how many it knows of: an edit at a pause changes what was sent

    def restart(self) -> None:
        """Send everything again from the oldest capture on: a page was loaded anew."""
        self._next = 0

    def take(self, budget: float) -> tuple[Json, bytes] | None:
        """Return what changed since the last call, or None; `budget` is in seconds."""
        ring = self._session.captures
        if self._replacements != ring.replacements:
            self._replacements = ring.replacements
            self.restart()
        kept = ring.rows()
        fresh = kept[bisect_left(kept, self._next, key=_index) :]
        told = {
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
        end = time.monotonic() + budget
        rows: list[list[float]] = []
        for capture in reversed(fresh):
            given_up = isinstance(capture, GivenUp)  # its figures are there, or never will be
            statistics = capture.statistics() if given_up or time.monotonic() < end else None
            rows.append(capture_numbers(capture, statistics))
        rows.reverse()
        content = {
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


def selection_view(capture: Row, captures: Iterable[Capture]) -> tuple[Json, bytes]:
    """Everything about the selected one of the captures, and its histogram: 64 counts, then 65 edges.

    Of one that was given up there are no pictures, and perhaps neither figures nor histogram.
    """
    statistics = capture.statistics()
    figures: dict[str, float] = {} if statistics is None else {
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
        **_of_value(capture, captures),
        "shape": texts.shape_text(capture.shape),
        "dtype": texts.dtype_text(capture.dtype),
        "origin": capture.origin,
        "hits": list(capture.hits),
        # JSON has no NaN and no infinity, so figures travel as text and are parsed there.
        "figures": {name: repr(float(figure)) for name, figure in figures.items()},
    }
    if statistics is None:
        return content, b""
    histogram = np.concatenate([np.asarray(statistics.histogram, "<f8"), np.asarray(statistics.edges, "<f8")])
    return content, histogram.tobytes()


def _of_value(capture: Row, captures: Iterable[Capture]) -> Json:
    """What is shown of a capture only while its value is kept."""
    if isinstance(capture, GivenUp):
        return {
            "kept": False,
            "choices": [],
            "attention": False,
            "value": _NO_FIGURES if capture.figures is None else _GIVEN_UP,
        }
    return {
        "kept": True,
        "choices": tensor_view.choices(captures, capture),
        "attention": tensor_view.is_attention(capture),
        "value": texts.value_text(capture.value),
    }


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Send the captures that the page has not got, and which of the old ones are gone."""
    new = panel.feed.take(budget)
    if new is not None:
        content, numbers = new
        panel.send(content, [numbers])


def publish_nothing(panel: DebuggerPanel, budget: float) -> None:
    """Leave the tensor view as it is: the selected capture does not change."""


def kept(panel: DebuggerPanel, index: int) -> Row:
    """Return the capture with this index, with or without its value.

    Raises:
        MessageError: the ring has dropped it, or there never was one.
    """
    found = panel.feed.find([index])
    if not found:
        raise MessageError(f"capture {index} is no longer kept")
    return found[0]


def with_value(panel: DebuggerPanel, index: int) -> Capture:
    """Return the capture with this index.

    Raises:
        MessageError: it is no longer kept, or without its value.
    """
    found = kept(panel, index)
    if isinstance(found, GivenUp):
        raise MessageError(f"the value of capture {index} was given up: only its figures are kept")
    return found


def publish_selection(panel: DebuggerPanel) -> None:
    """Show everything about the selected capture, or that none is."""
    with panel.hold_sync():
        if panel.selected < 0:
            panel.selection, panel.histogram = {}, b""
        else:
            panel.selection, panel.histogram = selection_view(kept(panel, panel.selected), panel.session.captures)


def select(panel: DebuggerPanel, index: int) -> None:
    """Select a capture; whoever is linked to the panel's `selected` follows."""
    panel.selected = kept(panel, index).index


def send_statistics(panel: DebuggerPanel, indices: list[Any]) -> None:
    """Send the figures of captures that came into view; while code runs only where it is time for an update."""
    if not all(type(index) is int for index in indices):
        raise MessageError("message 'statistics': indices must be a list of int")
    panel.when_due(lambda: panel.send({"type": "statistics"}, [panel.feed.statistics(indices)]))


def send_tensor(panel: DebuggerPanel, index: int, other: int, picture: str, at: list[Any], window: list[Any]) -> None:
    """Send a slice of a capture's value, of another one's beside it, and their difference."""
    compared = next((one for one in panel.session.captures if one.index == other), None) if other >= 0 else None
    content, buffers = tensor_view.slice_view(with_value(panel, index), compared, picture, at, window)
    panel.send(content, buffers)


def send_code(panel: DebuggerPanel, index: int, at: list[Any]) -> None:
    """Send code that gives a slice of a capture's value wherever it is pasted."""
    capture, ring = with_value(panel, index), panel.session.captures
    panel.send({"type": "code", "index": index, "code": numpy_code(capture, at, ring.name)})


def set_bounds(panel: DebuggerPanel, max_bytes: str, max_captures: str) -> None:
    """Keep more captures from now on, or fewer; an empty bound stays as it is."""
    size = count = None
    try:
        if max_bytes.strip():
            size = parse_size(max_bytes)
    except ValueError as error:
        raise MessageError(f"values {error}") from None
    if max_captures.strip():
        digits = max_captures.strip().replace(",", "")
        count = int(digits) if digits.isdecimal() and len(digits) < 10 else 0
        if count < 1:
            raise MessageError(f"captures must be a whole number, 1 or more, got {max_captures!r}")
    panel.session.set_capture_bounds(size, count)


def send_source(panel: DebuggerPanel, path: str) -> None:
    """Send the text of a cell's `construct`."""
    panel.send(tensor_view.source_view(panel.session.paths.cell(path), path))


TIMELINE_ACTIONS: Actions = {
    "select": ({"index": int}, select),
    "statistics": ({"indices": list}, send_statistics),
    "bounds": ({"max_bytes": str, "max_captures": str}, set_bounds),
}
TENSOR_ACTIONS: Actions = {
    "tensor": ({"index": int, "other": int, "picture": str, "at": list, "window": list}, send_tensor),
    "code": ({"index": int, "at": list}, send_code),
    "source": ({"path": str}, send_source),
}
ACTIONS: Actions = {**TIMELINE_ACTIONS, **TENSOR_ACTIONS}
