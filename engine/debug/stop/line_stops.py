"""The breakpoints of a session that stand at lines, and which of them stops a ``bprop`` that is stepped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FrameType

from hookscope.engine.tape import taps

from .breakpoint import Breakpoint
from .stepping.variables import variables

__all__ = ["LineStops"]


class LineStops:
    """Those of one session.

    Args:
        breakpoints: all of the session's, a list that changes.
        say: tells a person, in one line, of an expression that fails.
    """

    def __init__(self, breakpoints: Sequence[Breakpoint], say: Callable[[str], None]) -> None:
        self._breakpoints = breakpoints
        self._say = say

    def of(self, path: str) -> list[Breakpoint]:
        """Those at lines that the ``bprop`` of a cell may run."""
        return [one for one in tuple(self._breakpoints) if one.stands_in(path)]

    def at(self, path: str, frame: FrameType, bprop_file: str, names: Mapping[str, object]) -> Breakpoint | None:
        """What stops a frame at the line that it is about to run, of those in the ``bprop`` of a cell.

        Each that stands there counts that the run came by.

        Args:
            path: the cell's.
            frame: of that ``bprop``, or of what it called.
            bprop_file: the file that the ``bprop`` is written in.
            names: the debugger's, which the function's own names hide.
        """
        line, file = frame.f_lineno, frame.f_code.co_filename
        found: Breakpoint | None = None
        for one in self.of(path):
            if not one.stands_at(line, file, bprop_file):
                continue
            one.passes += 1
            failed = one.error
            with taps.muted():
                holds = one.holds((names.get("value"),), lambda: {**names, **frame.f_globals, **variables(frame)})
            if holds:
                one.hits += 1
                found = found or one
            elif one.error not in (None, failed):
                self._say(f"breakpoint {one}: {one.error}; it does not stop")
        return found
