"""Whether a session watches now, and what runs meanwhile: the tap that is attached, and the visits that it knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import recording_active

from .observer import Observer
from .visits import Visits

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from .observer import Ports
    from .paths import CellPaths

__all__ = ["Watching", "is_watched"]


class Watching:
    """Has a tap that is another one each time that the session attaches: no call of before is known to it.

    Args:
        owner: gives the session; None when it is gone.
        paths: the cells of the session.
        new_visits: makes what knows the calls.
    """

    def __init__(self, owner: Callable[[], object | None], paths: CellPaths, new_visits: Callable[[], Visits]) -> None:
        self._owner = owner
        self._paths = paths
        self._new_visits = new_visits
        self.visits = new_visits()
        self._tap: taps.Tap | None = None

    @property
    def attached(self) -> bool:
        """Whether the engine tells the session something."""
        return self._tap is not None and taps.attached(self._tap)

    def attach(self, ports: Ports) -> None:
        """Watch from now on."""
        self._tap = Observer(self._owner, self.visits, ports)
        taps.attach(self._tap)

    def detach(self) -> None:
        """Watch no more."""
        if self._tap is not None:
            taps.detach(self._tap)

    def forget(self) -> None:
        """What ran so far is over."""
        self.visits = self._new_visits()

    # What runs now

    @property
    def in_a_run(self) -> bool:
        """Whether this thread is inside a run that the session may watch."""
        return self.visits.inside() or recording_active()

    @property
    def own_run(self) -> bool:
        """Whether what this thread runs now belongs to the session's network, or to nobody's."""
        return self.visits.own_run

    @property
    def here(self) -> str:
        """The path of the innermost cell that this thread is in; "" for the root, or none."""
        visit = self.visits.running()
        return "" if visit is None else visit.path

    def place_of(self, call: int) -> tuple[str, int] | None:
        """The path and the number in its step of the call with this running number; None if it is of no known cell."""
        visit = self.visits.of_call(call)
        return None if visit is None else (visit.path, visit.call)

    def place_of_bprop(self, cell: Cell) -> tuple[str, int]:
        """The same for the call whose gradient a cell's ``bprop`` computes."""
        visit = self.visits.of_bprop(cell)
        return (self._paths.name_of(cell), 0) if visit is None else (visit.path, visit.call)


def is_watched(net: Cell) -> bool:
    """Whether a session watches a network now."""
    return any(isinstance(tap, Observer) and tap.watches(net) for tap in tuple(taps.cell_taps))
