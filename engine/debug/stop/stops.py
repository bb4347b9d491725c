"""Stops of a session: at cells, at exceptions, in bprops and at operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bprop_stops import BpropStops
from .cell_stops import CellStops
from .exception_stops import ExceptionStops
from .operator_stops import OperatorStops

if TYPE_CHECKING:
    from ..events import Events
    from ..watch.attachment import Attachment
    from .breakpoints.breakpoint import Breakpoint
    from .breakpoints.collection import Breakpoints
    from .failure import Failures
    from .pauses import Pauses
    from .stepping.session_stepping import SessionStepping

__all__ = ["Stops"]


class Stops:
    """Stops of a session.

    Args:
        attachment: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
        stepping: the next stops of its threads.
        failures: the newest failure of the session.
        events: notified of changes.
    """

    def __init__(
        self,
        attachment: Attachment,
        breakpoints: Breakpoints,
        pauses: Pauses,
        stepping: SessionStepping,
        failures: Failures,
        events: Events,
    ) -> None:
        self._events = events
        self.breakpoints = breakpoints
        self.pauses = pauses
        self.stepping = stepping
        self.failures = failures
        self.operators = OperatorStops(attachment, breakpoints, pauses, self.stepping)
        self.stepping.stop_at_operators(self.operators)
        self.cells = CellStops(breakpoints, self.stepping)
        self.exceptions = ExceptionStops(attachment, breakpoints, pauses, self.stepping, failures)
        self.bprops = BpropStops(attachment, breakpoints, pauses, self.stepping)

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
        self.stepping.listen()
        self._events.notify("changed")
