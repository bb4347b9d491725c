"""All that may stop the run of a session: at cells, in bprops and at operators."""

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
    """The stops of a session, which share where each thread stops next.

    Args:
        owner: gives the session; None when it is gone.
        watching: knows what runs now.
        breakpoints: where to stop.
        pauses: whom to ask.
    """

    def __init__(
        self, owner: Callable[[], object | None], watching: Watching, breakpoints: Breakpoints, pauses: Pauses
    ) -> None:
        self.breakpoints = breakpoints
        self.pauses = pauses
        self.operators = OperatorStops(owner, watching, breakpoints, pauses)
        self.cells = CellStops(breakpoints, pauses, self.operators)
        self.bprops = BpropStops(watching, breakpoints, pauses, self.operators)
