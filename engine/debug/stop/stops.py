"""Stops of a session: at cells, in bprops and at operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .bprop_stops import BpropStops
from .cell_stops import CellStops
from .operator_stops import OperatorStops

if TYPE_CHECKING:
    from ..watch.watching import Watching
    from .breakpoints import Breakpoints
    from .pauses import Pauses

__all__ = ["Stops"]


class Stops:
    """Stops of a session, which share the next stop of each thread.

    Args:
        owner: returns the session, or None when it is gone.
        watching: the attachment of the session.
        breakpoints: the breakpoints of the session.
        pauses: the pauses of the session.
    """

    def __init__(
        self, owner: Callable[[], object | None], watching: Watching, breakpoints: Breakpoints, pauses: Pauses
    ) -> None:
        self.breakpoints = breakpoints
        self.pauses = pauses
        self.operators = OperatorStops(owner, watching, breakpoints, pauses)
        self.cells = CellStops(breakpoints, pauses, self.operators)
        self.bprops = BpropStops(watching, breakpoints, pauses, self.operators)
