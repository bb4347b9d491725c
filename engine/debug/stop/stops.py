"""Stops of a session: at cells, in bprops and at operators."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from .bprop_stops import BpropStops
from .cell_stops import CellStops
from .operator_stops import OperatorStops

if TYPE_CHECKING:
    from ..events import Events
    from ..session import DebugSession
    from ..watch.watching import Watching
    from .breakpoint import Breakpoint
    from .breakpoints import Breakpoints
    from .pauses import Pauses

__all__ = ["Stops"]


class Stops:
    """Stops of a session, which share the next stop of each thread.

    Args:
        owner: the session, weakly.
        watching: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        events: notified of changes.
    """

    def __init__(
        self,
        owner: weakref.ref[DebugSession],
        watching: Watching,
        breakpoints: Breakpoints,
        pauses: Pauses,
        events: Events,
    ) -> None:
        self._events = events
        self.breakpoints = breakpoints
        self.pauses = pauses
        self.operators = OperatorStops(owner, watching, breakpoints, pauses)
        self.cells = CellStops(breakpoints, pauses, self.operators)
        self.bprops = BpropStops(watching, breakpoints, pauses, self.operators)

    def add(self, given: str | Breakpoint) -> Breakpoint:
        """Add a breakpoint; see ``DebugSession.add_breakpoint``."""
        count = len(self.breakpoints.all)
        stop = self.breakpoints.add(given)
        if len(self.breakpoints.all) > count:
            self._changed()
        return stop

    def remove(self, given: str | Breakpoint) -> None:
        """Remove a breakpoint; see ``DebugSession.remove_breakpoint``."""
        self.breakpoints.remove(given)
        self._changed()

    def _changed(self) -> None:
        self.operators.listen()
        self._events.notify("changed")
