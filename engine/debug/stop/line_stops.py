"""Breakpoints at lines, and the search for the one that stops a ``bprop`` that is stepped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from hookscope.engine.tape import taps

from .breakpoint import Breakpoint
from .stepping.variables import variables

if TYPE_CHECKING:
    from ..events import Events

__all__ = ["LineStops"]


class LineStops:
    """Line breakpoints of one session.

    Args:
        breakpoints: all breakpoints of the session, a list that changes.
        events: prints a message on an expression that fails.
    """

    def __init__(self, breakpoints: Sequence[Breakpoint], events: Events) -> None:
        self._breakpoints = breakpoints
        self._events = events

    def of(self, path: str) -> list[Breakpoint]:
        """Return the breakpoints at lines that the ``bprop`` of a cell may run."""
        return [stop for stop in tuple(self._breakpoints) if stop.stands_in(path)]

    def at(self, path: str, frame: FrameType, bprop_file: str, names: Mapping[str, object]) -> Breakpoint | None:
        """Return the breakpoint that stops a frame at the line that it is about to run, in the ``bprop`` of a cell.

        Each breakpoint at the line counts the pass.

        Args:
            path: the cell's path.
            frame: the frame of that ``bprop``, or of a function that it called.
            bprop_file: the file that defines the ``bprop``.
            names: the debugger's names, which the function's own names hide.
        """
        line, file = frame.f_lineno, frame.f_code.co_filename
        match: Breakpoint | None = None
        for stop in self.of(path):
            if not stop.stands_at(line, file, bprop_file):
                continue
            stop.passes += 1
            previous_error = stop.error
            with taps.mute():
                is_true = stop.holds((names.get("value"),), lambda: {**names, **frame.f_globals, **variables(frame)})
            if is_true:
                stop.hits += 1
                match = match or stop
            elif stop.error not in (None, previous_error):
                self._events.say(f"breakpoint {stop}: {stop.error}; it does not stop")
        return match
