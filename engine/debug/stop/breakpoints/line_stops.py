"""Breakpoints at lines, and the search for the one at which a thread stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from hookscope.engine.tape import taps

from ...watch.pattern import ROOT
from ..points import files_of, lines_with_code
from ..stepping.variables import variables
from .breakpoint import Breakpoint

if TYPE_CHECKING:
    from ...events import Events
    from ...watch.paths import CellPaths

__all__ = ["LineStops", "passes"]


def passes(stop: Breakpoint, values: Sequence[object], scope: Callable[[], dict[str, object]], events: Events) -> bool:
    """Count a pass of a breakpoint, print the text of a logpoint, and return whether to pause."""
    stop.passes += 1
    previous_error = stop.error
    is_hit = stop.holds(values, scope)
    stop.hits += is_hit
    text = stop.log_text(values, scope) if is_hit and stop.log is not None else None
    if text is not None:
        events.say(f"{stop.path or ROOT}:{stop.moment}: {text}" if not stop.is_anywhere else f"{stop.moment}: {text}")
    if stop.error not in (None, previous_error):
        events.say(f"breakpoint {stop}: {stop.error}; it {'does not stop' if stop.log is None else 'prints nothing'}")
    return is_hit and stop.log is None


def _names_at(names: Mapping[str, object], frame: FrameType) -> dict[str, object]:
    return {**names, **frame.f_globals, **variables(frame)}


class LineStops:
    """Line breakpoints of one session.

    Args:
        breakpoints: all breakpoints of the session, a list that changes.
        paths: the cells of the session.
        events: prints a message on an expression that fails.

    Attributes:
        temporary: the line up to which the run goes on, until its next pause.
    """

    def __init__(self, breakpoints: Sequence[Breakpoint], paths: CellPaths, events: Events) -> None:
        self.temporary: Breakpoint | None = None
        self._breakpoints = breakpoints
        self._paths = paths
        self._events = events
        self._decided: dict[int, tuple[CodeType, bool]] = {}  # by id: code compares by content
        self._decided_for: tuple[object, ...] = ()

    @property
    def any(self) -> bool:
        """True if there is a breakpoint at a line."""
        return any(stop.line for stop in self._all())

    def _all(self) -> tuple[Breakpoint, ...]:
        temporary = self.temporary
        return tuple(self._breakpoints) if temporary is None else (*self._breakpoints, temporary)

    def of(self, path: str) -> list[Breakpoint]:
        """Return the breakpoints at lines that a cell may run."""
        return [stop for stop in tuple(self._breakpoints) if stop.stands_in(path)]

    def may_be_in(self, code: CodeType) -> bool:
        """Return whether a function, or one inside it, may have a breakpoint at one of its lines."""
        if not (self._breakpoints or self.temporary):
            return False
        state = (self._paths.count, *((stop.path, stop.moment) for stop in self._all()))
        if state != self._decided_for:
            self._decided_for = state
            self._decided.clear()
        decision = self._decided.get(id(code))
        if decision is None:
            decision = self._decided[id(code)] = code, self._may_be_in(code)
        return decision[1]

    def _may_be_in(self, code: CodeType) -> bool:
        lines = lines_with_code(code)
        return any(
            stop.line in lines and (stop.may_stand_in(code.co_filename) if stop.filename else self._defines(stop, code))
            for stop in self._all()
            if stop.line
        )

    def _defines(self, stop: Breakpoint, code: CodeType) -> bool:
        """Return whether the file of a function defines one of the cells of a breakpoint."""
        return any(code.co_filename in files_of(cell) for path, cell in self._paths if stop.stands_in(path))

    def at(self, frame: FrameType, cells: Sequence[tuple[str, str]], names: Mapping[str, object]) -> Breakpoint | None:
        """Return the breakpoint that stops a frame at the line that it is about to run.

        Each breakpoint at the line counts the pass.

        Args:
            frame: the frame.
            cells: the path of each cell that this thread runs, and the file that defines its function that runs.
            names: the debugger's names, which the function's own names hide.
        """
        line, file = frame.f_lineno, frame.f_code.co_filename
        match: Breakpoint | None = None
        for stop in self._all():
            if stop.line != line or not stop.stops_in(file, cells):
                continue
            with taps.mute():
                scope = partial(_names_at, names, frame)
                is_hit = passes(stop, (names.get("value"),), scope, self._events)
            match = match or (stop if is_hit else None)
        return match
