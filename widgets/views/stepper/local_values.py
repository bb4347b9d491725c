"""Plot of the selected local variable, and captures of locals for the tensor viewer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np

from hookscope.engine.debug.record.recorder import local_capture
from hookscope.engine.tensors.nested import Sparse
from hookscope.engine.tensors.tensor import Tensor
from hookscope.widgets import texts
from hookscope.widgets.messages import MessageError
from hookscope.widgets.views.captures.tensor import PictureFacts, slice_view
from hookscope.widgets.views.stepper.watch_expressions import figures_text

if TYPE_CHECKING:
    from hookscope.engine.debug import PausePoint
    from hookscope.widgets.panel import DebuggerPanel

# Limits on elements and nesting depth, since a local may hold a complete data set.
_MOST_PARTS = 40
_MOST_DEPTH = 2
_NO_PICTURE = "OcSUMm"  # kinds of elements


class LocalCapture(TypedDict):
    """The index of a capture of a local, to be shown in the tensor viewer."""

    type: Literal["local_capture"]
    index: int


class Faults(TypedDict):
    """The numbers of nonfinite elements."""

    nan: int
    positive: int
    negative: int


class LocalPlot(TypedDict):
    """The selected local; `picture` is None unless it is a nonempty numeric array.

    If a tuple, a list or a dictionary holds several tensors, `part` names the one that is shown.
    """

    name: str
    part: str
    parts: list[str]
    text: str
    figures: str
    faults: Faults
    picture: PictureFacts | None
    note: str
    lost: bool


class _Selection:
    """The selection of one panel."""

    def __init__(self, panel: DebuggerPanel) -> None:
        self.name = ""
        self.part = ""


def select_local(panel: DebuggerPanel, name: str, part: str) -> None:
    """Plot a local at this stop and at later ones; plot none for an empty name."""
    selection = panel.memory(_Selection)
    selection.name, selection.part = name, part
    publish_local(panel)


def publish_local(panel: DebuggerPanel) -> None:
    """Publish the plot of the selected local at the stop; while the run goes on, the last plot stays."""
    selection = panel.memory(_Selection)
    point = panel.session.shown
    with panel.hold_sync():
        if not selection.name:
            panel.local_plot, panel.local_numbers = {}, b""
        elif point is not None:
            panel.local_plot, panel.local_numbers = plot_view(point, selection.name, selection.part)


def plot_view(point: PausePoint, name: str, part: str) -> tuple[LocalPlot, bytes]:
    """Return a local's plot and its numbers: a histogram's 64 counts and 65 edges, a matrix, its levels as bytes."""
    value = point.locals.get(name)
    parts = tensors_in(name, value)
    slot = part if part in parts else next(iter(parts), "")
    tensor = parts.get(slot)
    plot: LocalPlot = {
        "name": name,
        "part": slot,
        "parts": list(parts),
        "text": texts.value_text(value if tensor is None else tensor, 1000),
        "figures": "",
        "faults": {"nan": 0, "positive": 0, "negative": 0},
        "picture": None,
        "note": "",
        "lost": name not in point.locals,
    }
    if tensor is None or tensor._array.size < 2:
        return plot, b""
    capture = local_capture(point, slot, tensor)
    summary = capture.statistics()
    content, (levels, numbers) = slice_view(capture, None, "matrix", [], [])
    indices = f"[{', '.join(map(str, content['at']))}] of it" if content["at"] else ""
    plot["figures"] = figures_text(tensor)
    plot["faults"] = {"nan": summary.nan, "positive": summary.positive_inf, "negative": summary.negative_inf}
    plot["picture"] = {**content["pictures"][0], "title": slot}
    plot["note"] = "; ".join(text for text in (indices, content["note"]) if text)
    bins = np.concatenate([np.asarray(summary.histogram, "<f8"), np.asarray(summary.edges, "<f8")])
    return plot, bins.tobytes() + numbers + levels


def tensors_in(name: str, value: object) -> dict[str, Tensor]:
    """Return the real-valued arrays in a local, by slot: `mask`, or `inputs[1]`."""
    if isinstance(value, np.ndarray):
        # A capture must not change, and this array belongs to the user.
        return {name: Tensor._wrap(value.copy())} if value.dtype.kind not in _NO_PICTURE else {}
    return dict(islice(_tensors(name, value, _MOST_DEPTH), _MOST_PARTS))


def _tensors(slot: str, value: object, depth: int) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        if value._array.dtype.kind not in _NO_PICTURE:
            yield slot, value
    elif depth and isinstance(value, tuple | list | dict):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in islice(items, _MOST_PARTS):
            yield from _tensors(f"{slot}[{key}]", item, depth - 1)
    elif isinstance(value, Sparse):
        yield from _tensors(f"{slot}.values", value.values, depth)


def open_local(panel: DebuggerPanel, name: str, part: str) -> None:
    """Send the index of a capture that holds a local's value, making one if needed; the page opens it."""
    session = panel.session
    point = session.shown
    if point is None:
        raise MessageError("cannot open a local variable: the run is not paused")
    parts = tensors_in(name, point.locals.get(name))
    tensor = parts.get(part or name)
    if tensor is None:
        raise MessageError(f"{part or name} is not a tensor here")
    capture = next(
        (candidate for candidate in reversed(list(session.captures)) if candidate.array is tensor._array), None
    )
    if capture is None:
        capture = session.capture_local(part or name, tensor)
    panel.send({"type": "local_capture", "index": capture.index})
