"""The breakpoints of a session: which there are, and which of them the run stands at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ...base.nearest_name import suggestion
from ...base.quoting import quoted
from ..argument_checks import checked_flag, checked_text
from ..watch.pattern import ROOT, check_matches, known
from .breakpoint import Breakpoint
from .line_stops import LineStops

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..events import Events
    from ..watch.paths import CellPaths

__all__ = ["Breakpoints"]


class Breakpoints:
    """Breakpoints, which can be added and removed at any time.

    Args:
        given: breakpoints, or their texts.
        every_bprop: whether to stop also at the first line of every custom bprop.
        paths: the cells of the session.
        any_path: whether a path may match nothing yet, since the networks are not known beforehand.
        events: told of expressions that fail.
        changed: told after each change.

    Attributes:
        all: they, in the order in which they were made.
        lines: those of them at lines.
        every_bprop: as above.

    Raises:
        TypeError: something else than these.
        ValueError: a faulty text.
    """

    def __init__(
        self,
        given: Iterable[str | Breakpoint],
        every_bprop: bool,
        paths: CellPaths,
        any_path: bool,
        events: Events,
        changed: Callable[[], None],
    ) -> None:
        self.all = [_read(one) for one in given]
        self.lines = LineStops(self.all, events.say)
        self.every_bprop = checked_flag("step", every_bprop)
        self._paths = paths
        self._any_path = any_path
        self._events = events
        self._changed = changed

    def check(self) -> None:
        """See that each matches a cell.

        Raises:
            ValueError: one matches none, or is at the bprop of one that has none of its own.
        """
        for stop in self.all:
            self._check(stop)

    def _check(self, stop: Breakpoint) -> None:
        if self._any_path or stop.operator:
            return
        check_matches(stop.path or ".", [path for path, _ in self._paths], "breakpoint")
        stepped = [path for path, cell in self._paths if cell.has_custom_bprop]
        if stop.moment == "bprop" and not any(stop.applies(path, "bprop") for path in stepped):
            there = ", ".join(repr(path or ROOT) for path in stepped[:3])
            near = suggestion(stop.path, stepped) or (there and f"; {there} has one")
            raise ValueError(f"breakpoint {quoted(str(stop))}: no such cell has a bprop of its own{near}")

    def add(self, given: str | Breakpoint) -> Breakpoint:
        """See ``DebugSession.add_breakpoint``."""
        stop = _read(given)
        self._check(stop)
        if stop in self.all:
            return self.all[self.all.index(stop)]
        self.all.append(stop)
        self._changed()
        return stop

    def remove(self, given: str | Breakpoint) -> None:
        """See ``DebugSession.remove_breakpoint``."""
        self.all.remove(known(_read(given), self.all, "breakpoint", str))
        self._changed()

    @property
    def at_operators(self) -> bool:
        """Whether there is one at an operator."""
        return any(stop.operator for stop in self.all)

    def standing(
        self,
        path: str,
        moment: str,
        values: Sequence[object],
        scope: Callable[[], dict[str, object]],
        operator: bool = False,
    ) -> Breakpoint | None:
        """The first breakpoint that stops here, at a moment of a cell or of an operator; each counts its passes."""
        stands = None
        for candidate in tuple(self.all):
            if bool(candidate.operator) is operator and candidate.applies(path, moment):
                candidate.passes += 1
                failed = candidate.error
                if candidate.holds(values, scope):
                    candidate.hits += 1
                    stands = stands or candidate
                elif candidate.error not in (None, failed):
                    self._events.say(f"breakpoint {candidate}: {candidate.error}; it does not stop")
        return stands

    def passed_over(self, cell: Cell) -> None:
        """An expression that is evaluated at a pause called a cell: say once that breakpoints do not stop there."""
        path = self._paths.path_of(cell)
        if path is not None and any(stop.applies(path, stop.moment) for stop in self.all):
            self._events.say("breakpoints do not stop inside an expression that is evaluated at a pause", "evaluated")


def _read(given: str | Breakpoint) -> Breakpoint:
    if isinstance(given, Breakpoint):
        stop = given
    else:
        stop = Breakpoint.parse(checked_text("breakpoint", given, "a str or a Breakpoint"))
    if stop.path == "ops.":
        raise ValueError(f"breakpoint {quoted(str(given))}: the operator's name is missing, as in 'ops.log'")
    return stop
