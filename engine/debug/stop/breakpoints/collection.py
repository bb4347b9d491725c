"""Breakpoints of a session, and the search for the one at which the run stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ....base.nearest_name import suggestion
from ....base.quoting import quoted
from ...argument_checks import checked_flag, checked_text
from ...watch.pattern import ROOT, check_matches, member
from .breakpoint import Breakpoint
from .line_check import check_line, known_files
from .line_stops import LineStops, passes

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ...events import Events
    from ...watch.paths import CellPaths

__all__ = ["Breakpoints"]


class Breakpoints:
    """Breakpoints of a session, which can be added and removed at any time.

    Args:
        spec: breakpoints, or their texts.
        every_bprop: whether to stop also at the first line of every custom bprop.
        paths: the cells of the session.
        any_path: whether a path may match nothing yet, since the networks are not known in advance.
        events: prints a message on an expression that fails.

    Attributes:
        all: the breakpoints, in the order of their creation.
        lines: the breakpoints at lines.
        every_bprop: whether to stop also at the first line of every custom bprop.

    Raises:
        TypeError: an item is neither a breakpoint nor a str.
        ValueError: a faulty text.
    """

    def __init__(
        self, spec: Iterable[str | Breakpoint], every_bprop: bool, paths: CellPaths, any_path: bool, events: Events
    ) -> None:
        self.all = [_read(item) for item in spec]
        self.lines = LineStops(self.all, paths, events)
        self.every_bprop = checked_flag("step", every_bprop)
        self._paths = paths
        self._any_path = any_path
        self._events = events

    def check(self) -> None:
        """Check that each breakpoint matches a cell, or a line with code.

        Raises:
            ValueError: one matches none, or is at the bprop of a cell without its own.
        """
        for stop in self.all:
            self._check(stop)

    def _check(self, stop: Breakpoint) -> None:
        if stop.is_anywhere:
            check_line(stop)
        if self._any_path or stop.operator or stop.is_anywhere:
            return
        check_matches(stop.path or ".", [path for path, _ in self._paths], "breakpoint")
        bprop_paths = [path for path, cell in self._paths if cell.has_custom_bprop]
        if stop.moment == "bprop" and not any(stop.applies(path, "bprop") for path in bprop_paths):
            examples = ", ".join(repr(path or ROOT) for path in bprop_paths[:3])
            nearest = suggestion(stop.path, bprop_paths) or (examples and f"; {examples} has one")
            raise ValueError(f"breakpoint {quoted(str(stop))}: no such cell has a bprop of its own{nearest}")

    def add(self, spec: str | Breakpoint) -> Breakpoint:
        """Add a breakpoint and return it, or the equal one that exists."""
        stop = _read(spec)
        self._check(stop)
        if stop in self.all:
            return self.all[self.all.index(stop)]
        self.all.append(stop)
        return stop

    def remove(self, spec: str | Breakpoint) -> None:
        """Remove a breakpoint.

        Raises:
            ValueError: there is no such breakpoint.
        """
        self.all.remove(member(_read(spec), self.all, "breakpoint", str))

    @property
    def at_operators(self) -> bool:
        """True if there is a breakpoint at an operator."""
        return any(stop.operator for stop in self.all)

    @property
    def at_exceptions(self) -> bool:
        """True if there is a breakpoint at exceptions."""
        return any(stop.moment == "exception" for stop in self.all)

    @property
    def at_values(self) -> bool:
        """True if there is a breakpoint at anything but exceptions."""
        return any(stop.moment != "exception" for stop in self.all)

    def first_at(
        self,
        path: str,
        moment: str,
        values: Sequence[object],
        scope: Callable[[], dict[str, object]],
        operator: bool = False,
    ) -> Breakpoint | None:
        """Return the first breakpoint that stops at a moment of a cell or an operator; each counts its passes."""
        match = None
        for candidate in tuple(self.all):
            if bool(candidate.operator) is operator and candidate.applies(path, moment):
                is_hit = passes(candidate, values, scope, self._events)
                match = match or (candidate if is_hit else None)
        return match

    def report_unknown_files(self) -> None:
        """Report breakpoints at lines of files that nothing has loaded until the end of a run."""
        for stop in self.all:
            if stop.is_anywhere and not stop.passes and not any(known_files(stop)):
                self._events.say(f"breakpoint {stop} was not reached: no such file has run", once=str(stop))

    def report_skipped(self, cell: Cell) -> None:
        """Report once that breakpoints do not stop in an expression evaluated at a pause, after it called ``cell``."""
        path = self._paths.path_of(cell)
        if path is not None and any(stop.applies(path, stop.moment) for stop in self.all):
            self._events.say("breakpoints do not stop inside an expression that is evaluated at a pause", "evaluated")


def _read(spec: str | Breakpoint) -> Breakpoint:
    if isinstance(spec, Breakpoint):
        stop = spec
    else:
        stop = Breakpoint.parse(checked_text("breakpoint", spec, "a str or a Breakpoint"))
    if stop.path == "ops.":
        raise ValueError(f"breakpoint {quoted(str(spec))}: the operator's name is missing, as in 'ops.log'")
    return stop
