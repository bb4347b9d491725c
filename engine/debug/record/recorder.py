"""Recorder of a session: makes captures of the values that pass, and checks conditions on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape.progress import safe_point
from hookscope.engine.tensors.tensor import Tensor

from .capture import Capture

if TYPE_CHECKING:
    from ..diagnose.conditions import Hit
    from ..events import Events
    from ..stop.pause import PausePoint
    from ..stop.showing import Showing
    from ..watch.visits import Visit
    from .counts import Counts
    from .ring import CaptureRing

__all__ = ["Capturing", "local_capture"]

Slots = Iterable[tuple[str, Tensor]]


class Capturing:
    """Recorder of the captures of a session.

    Args:
        ring: the ring buffer.
        counts: counters that number the captures.
        events: notified of new captures.
        showing: knows whether the run is paused; pages are not served while values are captured at a pause.
        look: checks the conditions on a capture; returns the hits that request a pause.
        conditions: the checked conditions, by name.
    """

    def __init__(
        self,
        ring: CaptureRing,
        counts: Counts,
        events: Events,
        showing: Showing,
        look: Callable[[Capture, Callable[[], Mapping[str, Any]]], list[Hit]],
        conditions: Mapping[str, object],
    ) -> None:
        self._ring = ring
        self._counts = counts
        self._events = events
        self._showing = showing
        self._look = look
        self._conditions = conditions

    def take(
        self, visit: Visit, direction: str, values: Slots, origin: str, context: str, wanted: bool = True
    ) -> tuple[list[Capture], list[Hit]]:
        """Capture the values; return the captures, and the hits that request a pause.

        If they are not ``wanted`` and no condition is checked, the captures are created on first use.
        """
        if not (wanted or self._conditions):
            self._note(visit, direction, values, origin, context)
            return [], []
        captures: list[Capture] = []
        pausing: list[Hit] = []
        step, path, call, kind = visit.step, visit.path, visit.call, type(visit.cell).__name__
        counts, append = self._counts, self._ring.append
        look = self._look if self._conditions else None
        for slot, value in values:
            index = counts.captures
            counts.captures = index + 1
            tensor = Tensor._wrap(value._array)
            capture = Capture(index, step, path, kind, call, direction, slot, tensor, origin, context)
            append(capture)
            captures.append(capture)
            if look is not None:
                try:
                    pausing += look(capture, visit.names)
                except Exception as error:
                    if not self._events.faults.forgives("trying the conditions on a value", error):
                        raise
        if captures:
            self._events.notify("captured")
            if self._showing.paused is None:
                safe_point()
        return captures, pausing

    def _note(self, visit: Visit, direction: str, values: Slots, origin: str, context: str) -> None:
        counts, note = self._counts, self._ring.note
        count_before = counts.captures
        for slot, value in values:
            index = counts.captures
            counts.captures = index + 1
            note(index, visit, direction, slot, value._array, origin, context)
        if counts.captures > count_before:
            self._events.notify("captured")
            if self._showing.paused is None:
                safe_point()

    def take_local(self, point: PausePoint, slot: str, value: Tensor) -> Capture:
        """Capture a local variable at the point of the pause."""
        capture = local_capture(point, slot, value, self._counts.captures, self._counts.steps)
        self._counts.captures += 1
        self._ring.append(capture)
        self._events.notify("captured")
        return capture

    def take_edited(self, visit: Visit, direction: str, values: Slots, context: str, made: Iterable[Capture]) -> None:
        """Replace captures by values that the user edited; values that were not edited keep their captures."""
        captures_before = {capture.slot: capture for capture in made}
        new: list[tuple[str, Tensor]] = []
        for slot, value in values:
            capture = captures_before.pop(slot, None)
            if capture is None:
                new.append((slot, value))
            elif capture.array is not value._array:
                tensor = Tensor._wrap(value._array)
                edited = replace(capture, value=tensor, origin="edit", _hits=None, _statistics=None)
                self._ring.replace(capture, edited)
                with self._events.faults.at("trying the conditions on a value"):
                    self._look(edited, visit.names)
        for capture in captures_before.values():
            self._ring.replace(capture, None)
        self.take(visit, direction, new, "edit", context)
        self._events.notify("captured")


def local_capture(point: PausePoint, slot: str, value: Tensor, index: int = -1, step: int = 0) -> Capture:
    """Return the capture of a local variable at a pause; with index -1 it belongs to no session."""
    cell, call = point.locals.get("self", point.locals.get("cell")), point.names.get("call")
    direction = "forward" if point.moment.startswith("forward") else "backward"
    number = call if type(call) is int else 0
    tensor, context = Tensor._wrap(value._array), f"local at line {point.line}"
    return Capture(index, step, point.path, type(cell).__name__, number, direction, slot, tensor, "local", context)
