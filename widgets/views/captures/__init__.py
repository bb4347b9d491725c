"""View of captures: the values that passed the watched cells, in run order, and the selected capture.

It is one view, or two separate ones: the timeline, and the tensor that is selected in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets

from hookscope.engine.debug import EvictedCapture
from hookscope.engine.debug.record.size_texts import parse_size
from hookscope.widgets.messages import Action, MessageError
from hookscope.widgets.view import Message, Section, Static, View, state
from hookscope.widgets.views.captures import tensor
from hookscope.widgets.views.captures.feed import (
    CAPTURE_NUMBERS,
    CAPTURE_TEXTS,
    CaptureFeed,
    Figures,
    NewCaptures,
    Selection,
    selection_view,
)
from hookscope.widgets.views.captures.numpy_code import Code, numpy_code
from hookscope.widgets.views.captures.static_html import static_parts, timeline_html

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession
    from hookscope.widgets.panel import DebuggerPanel

    Row = Capture | EvictedCapture

_HERE = Path(__file__).parent


class Selected(traitlets.Int[int, int]):
    """The index of a capture in the ring buffer, or -1."""

    def validate(self, panel: DebuggerPanel, value: Any) -> int:
        index = max(-1, int(super().validate(panel, value)))
        return index if index < 0 else row_at(panel, index).index


def _feed(panel: DebuggerPanel) -> CaptureFeed:
    return panel.memory(_new_feed)


def _new_feed(panel: DebuggerPanel) -> CaptureFeed:
    return CaptureFeed(panel.session)


def restart(panel: DebuggerPanel) -> None:
    """Mark every capture for sending again."""
    _feed(panel).restart()


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Send new captures to the page, and the range of those that were evicted."""
    new = _feed(panel).take(budget)
    if new is not None:
        content, numbers = new
        panel.send(content, [numbers])


def row_at(panel: DebuggerPanel, index: int) -> Row:
    """Return the capture with this index, with or without its value.

    Raises:
        MessageError: the ring buffer has dropped the capture, or it never existed.
    """
    matches = _feed(panel).find([index])
    if not matches:
        raise MessageError(f"capture {index} is no longer kept")
    return matches[0]


def with_value(panel: DebuggerPanel, index: int) -> Capture:
    """Return the capture with this index, including its value.

    Raises:
        MessageError: the capture is no longer in the ring buffer, or its value was evicted.
    """
    capture = row_at(panel, index)
    if isinstance(capture, EvictedCapture):
        raise MessageError(f"the value of capture {index} was given up: only its figures are kept")
    return capture


def publish_selection(panel: DebuggerPanel) -> None:
    """Publish the selected capture, or that there is no selection."""
    with panel.hold_sync():
        if panel.selected < 0:
            panel.selection, panel.histogram = {}, b""
        else:
            panel.selection, panel.histogram = selection_view(row_at(panel, panel.selected), panel.session.captures)


def select(panel: DebuggerPanel, index: int) -> None:
    """Select a capture; widgets linked to the panel's `selected` follow."""
    panel.selected = row_at(panel, index).index


def send_statistics(panel: DebuggerPanel, indices: list[Any]) -> None:
    """Send the statistics of captures that became visible; while code runs, only when an update is due."""
    if not all(type(index) is int for index in indices):
        raise MessageError("message 'statistics': indices must be a list of int")
    panel.when_due(lambda: panel.send({"type": "statistics"}, [_feed(panel).statistics(indices)]))


def send_tensor(panel: DebuggerPanel, index: int, other: int, picture: str, at: list[Any], window: list[Any]) -> None:
    """Send a slice of a capture's value, the same slice of another capture, and their difference."""
    reference = (
        next((candidate for candidate in panel.session.captures if candidate.index == other), None)
        if other >= 0
        else None
    )
    content, buffers = tensor.slice_view(with_value(panel, index), reference, picture, at, window)
    panel.send(content, buffers)


def send_choices(panel: DebuggerPanel, index: int, text: str) -> None:
    """Send the captures to compare with whose labels contain all words of a text."""
    matches, total = tensor.choices(panel.session.captures, with_value(panel, index), text)
    panel.send({"type": "choices", "index": index, "text": text, "choices": matches, "total": total})


def send_code(panel: DebuggerPanel, index: int, at: list[Any]) -> None:
    """Send code that reproduces a slice of a capture's value in any process."""
    capture, ring = with_value(panel, index), panel.session.captures
    panel.send({"type": "code", "index": index, "code": numpy_code(capture, at, ring.name)})


def set_bounds(panel: DebuggerPanel, max_bytes: str, max_captures: str) -> None:
    """Set the bounds of the ring buffer; an empty bound stays unchanged."""
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
    """Send the source of a cell's `construct`."""
    panel.send(tensor.source_view(panel.session.paths.cell(path), path))


def _summary(session: DebugSession) -> str:
    return f"{len(session.captures.rows())} captures"


SELECTED = Selected(-1).tag(sync=True, content=int)
_SELECTION = {"selected": SELECTED, "selection": state(Selection), "histogram": state(bytes)}
_OF_TIMELINE: dict[str, Message] = {"captures": Message(NewCaptures, live=True), "statistics": Message(Figures)}
_OF_TENSOR: dict[str, Message] = {
    "tensor": Message(tensor.Slice),
    "choices": Message(tensor.Choices),
    "code": Message(Code),
    "source": Message(tensor.Source),
}
_ASKED_OF_TIMELINE = {
    "select": Action({"index": int}, select, chooses=True),
    "statistics": Action({"indices": list}, send_statistics, background=True),
    "bounds": Action({"max_bytes": str, "max_captures": str}, set_bounds, chooses=True),
}
_ASKED_OF_TENSOR = {
    "tensor": Action(
        {"index": int, "other": int, "picture": str, "at": list, "window": list}, send_tensor, keeps_error=True
    ),
    "choices": Action({"index": int, "text": str}, send_choices),
    "code": Action({"index": int, "at": list}, send_code),
    "source": Action({"path": str}, send_source),
}
_CONSTANTS = {"CAPTURE_NUMBERS": CAPTURE_NUMBERS, "CAPTURE_TEXTS": CAPTURE_TEXTS}
_STATIC = Static(30, static_parts)

CAPTURES = View(
    name="captures",
    title="Captures",
    position=20,
    script=_HERE / "captures.js",
    style=_HERE / "captures.css",
    leads_to="capture",
    traits=_SELECTION,
    messages={**_OF_TIMELINE, **_OF_TENSOR},
    actions={**_ASKED_OF_TIMELINE, **_ASKED_OF_TENSOR},
    constants=_CONSTANTS,
    publish=publish,
    follow={"selected": publish_selection},
    restart=restart,
    static=_STATIC,
    sections=(Section(60, "Timeline", timeline_html),),
    summary=_summary,
)
TIMELINE = View(
    name="timeline",
    title="Timeline",
    position=21,
    script=_HERE / "timeline.js",
    part_of="captures",
    leads_to="capture",
    traits={"selected": SELECTED},
    messages=_OF_TIMELINE,
    actions=_ASKED_OF_TIMELINE,
    constants=_CONSTANTS,
    publish=publish,
    restart=restart,
    static=_STATIC,
    summary=_summary,
)
TENSOR = View(
    name="tensor",
    title="Tensor",
    position=22,
    script=_HERE / "selected_capture.js",
    part_of="captures",
    traits=_SELECTION,
    messages=_OF_TENSOR,
    actions=_ASKED_OF_TENSOR,
    follow={"selected": publish_selection},
    static=_STATIC,
    summary=_summary,
)
