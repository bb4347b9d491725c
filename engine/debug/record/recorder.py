"""Recorder of a session: makes captures of the values that pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hookscope.engine.tape.progress import safe_point
from hookscope.engine.tensors.tensor import Tensor

from .capture import Capture

if TYPE_CHECKING:
    from ..diagnose.examiner import Examiner
    from ..events import Events
    from ..stop.display import PauseDisplay
    from ..stop.pause import PausePoint
    from ..watch.value_event import ValueEvent
    from .counts import Counts
    from .ring import CaptureRing

__all__ = ["Recorder", "local_capture"]


class Recorder:
    """First stage of a value: the ring buffer of captures.

    Args:
        ring: the ring buffer.
        counts: counters that number the captures.
        events: notified of new captures.
        display: knows whether the run is paused; pages are not served while values are captured at a pause.
    """

    def __init__(self, ring: CaptureRing, counts: Counts, events: Events, display: PauseDisplay) -> None:
        self._ring = ring
        self._counts = counts
        self._events = events
        self._display = display

    def note(self, event: ValueEvent) -> None:
        """Note the values; their captures are created on first use."""
        if event.slots:
            self._counts.captures = self._ring.note(event, self._counts.captures)
            self._events.notify("captured")
            if self._display.paused is None:
                safe_point()

    def record(self, event: ValueEvent, examiner: Examiner) -> None:
        """Capture the values, and have each examined before the next one, which may evict it."""
        visit, counts = event.visit, self._counts
        event.captures = captures = []
        for slot, value in event.slots:
            index = counts.captures
            counts.captures = index + 1
            capture = Capture(
                index,
                visit.step,
                visit.path,
                type(visit.cell).__name__,
                visit.call,
                event.direction,
                slot,
                Tensor._wrap(value._array),
                event.origin,
                event.context,
            )
            self._ring.append(capture)
            captures.append(capture)
            if examiner.conditions:
                try:
                    hits = examiner.examine(capture, visit)
                except Exception as error:
                    if not self._events.faults.report_fault(examiner.SUBJECT, error):
                        raise
                else:
                    if hits:
                        event.hits = [*event.hits, *hits]
        if captures:
            self._events.notify("captured")
            if self._display.paused is None:
                safe_point()

    def replace(self, capture: Capture, value: Tensor) -> Capture:
        """Replace a capture by one of an edited value; return the new one."""
        tensor = Tensor._wrap(value._array)
        edited = replace(capture, value=tensor, origin="edit", _hits=None, _statistics=None)
        self._ring.replace(capture, edited)
        return edited

    def discard(self, capture: Capture) -> None:
        """Remove the capture of a value that an edit removed."""
        self._ring.replace(capture, None)

    def record_local(self, point: PausePoint, slot: str, value: Tensor) -> Capture:
        """Capture a local variable at the point of the pause."""
        capture = local_capture(point, slot, value, self._counts.captures, self._counts.steps)
        self._counts.captures += 1
        self._ring.append(capture)
        self._events.notify("captured")
        return capture


def local_capture(point: PausePoint, slot: str, value: Tensor, index: int = -1, step: int = 0) -> Capture:
    """Return the capture of a local variable at a pause; with index -1 it belongs to no session."""
    cell, call = point.locals.get("self", point.locals.get("cell")), point.names.get("call")
    direction = "forward" if point.moment.startswith("forward") else "backward"
    number = call if type(call) is int else 0
    tensor, context = Tensor._wrap(value._array), f"local at line {point.line}"
    return Capture(index, step, point.path, type(cell).__name__, number, direction, slot, tensor, "local", context)
