"""Which runs are a session's: what its network does, and what the code around that does for it.

An operator outside every cell, as in a loss that is written out, belongs to the network that ran last. One inside
another network does not, nor does what follows that one: else an old session would stop the training of a new network.
What runs in one gradient call with the session's network is one run, as where a critic judges what a generator made.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import Recording

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["OwnRuns"]


class _PerThread(threading.local):
    elsewhere = False
    recording: Callable[[], Recording | None] | None = None  # the outermost one in which the network ran last


class OwnRuns:
    """Told of the outermost calls of cells, it knows of each thread whether that works for the session's network.

    Args:
        roots: the roots of the session.
    """

    def __init__(self, roots: Iterable[Cell]) -> None:
        self._roots = roots
        self._thread = _PerThread()
        self._others: weakref.WeakKeyDictionary[Cell, bool] = weakref.WeakKeyDictionary()

    @property
    def elsewhere(self) -> bool:
        """Whether the network that ran last in this thread is another one."""
        return self._thread.elsewhere

    def own_called(self) -> None:
        """A cell of the session is called, a root or outermost."""
        outermost = next(iter(taps.recordings_outside()), None)
        self._thread.elsewhere = False
        self._thread.recording = None if outermost is None else weakref.ref(outermost)

    def other_called(self, cell: Cell) -> None:
        """A cell that is not of the session is called, outermost. Without parameters it is no network, but a loss."""
        if not self.in_same_recording() and self._is_other_network(cell):
            self._thread.elsewhere = True

    def in_same_recording(self) -> bool:
        """Whether this thread is in the gradient call in which the network ran last."""
        outermost, joined = next(iter(taps.recordings_outside()), None), self._thread.recording
        return outermost is not None and joined is not None and joined() is outermost

    def _is_other_network(self, cell: Cell) -> bool:
        known = self._others.get(cell)
        if known is None:
            inside: set[Any] = {id(one) for _, one in cell.cells_and_names()}
            known = bool(cell.parameters_dict()) and not any(id(root) in inside for root in self._roots)
            self._others[cell] = known
        return known
