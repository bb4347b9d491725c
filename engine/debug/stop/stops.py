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
    from ..watch.attachment import Attachment
    from .breakpoint import Breakpoint
    from .breakpoints import Breakpoints
    from .pauses import Pauses

__all__ = ["Stops"]


class Stops:
    """Stops of a session, which share the next stop of each thread.

    Args:
        owner: the session, weakly.
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        events: notified of changes.
    """

    def __init__(
        self,
        owner: weakref.ref[DebugSession],
        attachment: Attachment,
        breakpoints: Breakpoints,
        pauses: Pauses,
        events: Events,
    ) -> None:
        self._events = events
        self.breakpoints = breakpoints
        self.pauses = pauses
        self.operators = OperatorStops(owner, attachment, breakpoints, pauses)
        self.cells = CellStops(breakpoints, pauses, self.operators)
        self.bprops = BpropStops(attachment, breakpoints, pauses, self.operators)

    def add(self, spec: str | Breakpoint) -> Breakpoint:
        """Add a breakpoint; see ``DebugSession.add_breakpoint``."""
        count = len(self.breakpoints.all)
        stop = self.breakpoints.add(spec)
        if len(self.breakpoints.all) > count:
            self._changed()
        return stop

    def remove(self, spec: str | Breakpoint) -> None:
        """Remove a breakpoint; see ``DebugSession.remove_breakpoint``."""
        self.breakpoints.remove(spec)
        self._changed()

    def _changed(self) -> None:
        self.operators.listen()
        self._events.notify("changed")
