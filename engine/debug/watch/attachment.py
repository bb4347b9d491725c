"""Attachment of a session: its tap, and the visits that the tap knows."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import recording_active

from .observer import Observer
from .visits import Visits

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..events import Events
    from ..record.counts import Counts
    from ..session import DebugSession
    from .observer import Stages
    from .paths import CellPaths
    from .watches import Watches

__all__ = ["Attachment", "is_watched"]


class Attachment:
    """Attachment with a new tap each time, so that earlier calls are unknown to it.

    Args:
        owner: the session, weakly.
        paths: the cells of the session.
        counts: counters of steps.
        takes_roots: whether called networks become roots.
        watches: the watches of the session.
        events: prints messages.

    Attributes:
        visits: the registry of calls since the session was attached.
    """

    def __init__(
        self,
        owner: weakref.ref[DebugSession],
        paths: CellPaths,
        counts: Counts,
        takes_roots: bool,
        watches: Watches,
        events: Events,
    ) -> None:
        self._owner = owner
        self._paths = paths
        self._counts = counts
        self._takes_roots = takes_roots
        self._watches = watches
        self._events = events
        self._tap: taps.Tap | None = None
        self.forget()

    @property
    def attached(self) -> bool:
        """True while the tap is attached to the engine."""
        return self._tap is not None and taps.is_attached(self._tap)

    def attach(self, stages: Stages) -> None:
        """Attach a new tap."""
        self._tap = Observer(self._owner, self.visits, stages)
        taps.attach(self._tap)

    def detach(self) -> None:
        """Detach the tap."""
        if self._tap is not None:
            taps.detach(self._tap)

    def forget(self) -> None:
        """Discard the visits so far."""
        self.visits = Visits(self._paths, self._counts, self._takes_roots, self._watches, self._events)

    # The current run

    @property
    def in_a_run(self) -> bool:
        """True if this thread is inside a run that the session may observe."""
        return self.visits.inside() or recording_active()

    @property
    def own_run(self) -> bool:
        """True if the current run of this thread belongs to the session's network, or to no network."""
        return self.visits.own_run

    @property
    def here(self) -> str:
        """The path of the innermost cell that this thread is in; "" for the root, or outside cells."""
        visit = self.visits.running()
        return "" if visit is None else visit.path

    def place_of(self, call: int) -> tuple[str, int] | None:
        """Return the path of a call's cell and the call's number in its step; None for unknown cells.

        Args:
            call: the running number of the call.
        """
        visit = self.visits.of_call(call)
        return None if visit is None else (visit.path, visit.call)

    def place_of_bprop(self, cell: Cell) -> tuple[str, int]:
        """Return path and number of the call whose gradient a cell's ``bprop`` computes."""
        visit = self.visits.of_bprop(cell)
        return (self._paths.name_of(cell), 0) if visit is None else (visit.path, visit.call)


def is_watched(net: Cell) -> bool:
    """Return whether a session observes a network now."""
    return any(isinstance(tap, Observer) and tap.watches(net) for tap in tuple(taps.cell_taps))
