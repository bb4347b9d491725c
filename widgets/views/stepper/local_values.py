"""The local that is selected, as pictures; and any local as a capture, which opens in the tensor viewer."""

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
from hookscope.widgets.views.stepper.watched import figures_text

if TYPE_CHECKING:
    from hookscope.engine.debug import PausePoint
    from hookscope.widgets.panel import DebuggerPanel

# A local may hold a whole data set: only so many of its elements are looked at, and so deep.
_MOST_PARTS = 40
_MOST_DEPTH = 2
_NO_PICTURE = "OcSUMm"  # kinds of elements


class OpenedLocal(TypedDict):
    """The index of the capture that holds a local, to be shown in the tensor viewer."""

    type: Literal["opened_local"]
    index: int


class Faults(TypedDict):
    """How many elements are not finite."""

    nan: int
    positive: int
    negative: int


class LocalPlot(TypedDict):
    """The local that is selected; without a picture it is no array of numbers, or of none.

    Of several tensors in a tuple, a list or a dictionary, `part` names the one that is shown.
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


class _Chosen:
    """What is selected in one panel."""

    def __init__(self, panel: DebuggerPanel) -> None:
        self.name = ""
        self.part = ""


def select_local(panel: DebuggerPanel, name: str, part: str) -> None:
    """Show a local as pictures, at this stop and at those that follow; with no name, none."""
    chosen = panel.memory(_Chosen)
    chosen.name, chosen.part = name, part
    publish_local(panel)


def publish_local(panel: DebuggerPanel) -> None:
    """Draw the selected local as it is where the run stands; while it runs, the last picture stays."""
    chosen = panel.memory(_Chosen)
    point = panel.session.shown
    with panel.hold_sync():
        if not chosen.name:
            panel.local_plot, panel.local_numbers = {}, b""
        elif point is not None:
            panel.local_plot, panel.local_numbers = plot_view(point, chosen.name, chosen.part)


def plot_view(point: PausePoint, name: str, part: str) -> tuple[LocalPlot, bytes]:
    """A local as pictures, and its numbers: 64 counts and 65 edges of a histogram, a matrix, its levels as bytes."""
    value = point.locals.get(name)
    parts = tensors_in(name, value)
    shown = part if part in parts else next(iter(parts), "")
    tensor = parts.get(shown)
    plot: LocalPlot = {
        "name": name,
        "part": shown,
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
    capture = local_capture(point, shown, tensor)
    found = capture.statistics()
    content, (levels, numbers) = slice_view(capture, None, "matrix", [], [])
    at = f"[{', '.join(map(str, content['at']))}] of it" if content["at"] else ""
    plot["figures"] = figures_text(tensor)
    plot["faults"] = {"nan": found.nan, "positive": found.positive_inf, "negative": found.negative_inf}
    plot["picture"] = {**content["pictures"][0], "title": shown}
    plot["note"] = "; ".join(text for text in (at, content["note"]) if text)
    bins = np.concatenate([np.asarray(found.histogram, "<f8"), np.asarray(found.edges, "<f8")])
    return plot, bins.tobytes() + numbers + levels


def tensors_in(name: str, value: object) -> dict[str, Tensor]:
    """The arrays of real numbers in a local by slot: `mask`, or `inputs[1]`."""
    if isinstance(value, np.ndarray):
        # A capture holds what never changes, and this array is the user's own.
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
    """Send the capture that holds the value of a local, or one that is made now: the page goes there."""
    session = panel.session
    point = session.shown
    if point is None:
        raise MessageError("cannot open a local variable: the run is not paused")
    parts = tensors_in(name, point.locals.get(name))
    tensor = parts.get(part or name)
    if tensor is None:
        raise MessageError(f"{part or name} is no tensor here")
    known = next((one for one in reversed(list(session.captures)) if one.array is tensor._array), None)
    if known is None:
        known = session.capture_local(part or name, tensor)
    panel.send({"type": "opened_local", "index": known.index})
