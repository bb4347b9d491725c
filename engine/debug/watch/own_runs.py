"""Runs of a session: calls of its network, and the code around them.

An operator outside every cell, as in a loss that is written out, belongs to the network that ran last. An operator
inside another network does not belong to the session, nor do the operators after that network; otherwise an old session
would stop the training of a new network. Everything in one gradient call with the session's network is one run, as in a
critic that judges the output of a generator.
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
    recording: Callable[[], Recording | None] | None = None  # the outermost recording in which the network ran last


class OwnRuns:
    """Tracker, by thread, of whether the current run belongs to the session's network.

    Args:
        roots: the roots of the session.
    """

    def __init__(self, roots: Iterable[Cell]) -> None:
        self._roots = roots
        self._thread = _PerThread()
        self._others: weakref.WeakKeyDictionary[Cell, bool] = weakref.WeakKeyDictionary()

    @property
    def elsewhere(self) -> bool:
        """True if the network that ran last in this thread is not the session's."""
        return self._thread.elsewhere

    def own_called(self) -> None:
        """Record the call of a cell of the session, a root or outermost."""
        recording = next(iter(taps.outer_recordings()), None)
        self._thread.elsewhere = False
        self._thread.recording = None if recording is None else weakref.ref(recording)

    def other_called(self, cell: Cell) -> None:
        """Record an outermost call of a cell outside the session. Without parameters it is a loss, not a network."""
        if not self.in_same_recording() and self._is_other_network(cell):
            self._thread.elsewhere = True

    def in_same_recording(self) -> bool:
        """Return whether this thread is in the gradient call in which the network ran last."""
        outermost, previous = next(iter(taps.outer_recordings()), None), self._thread.recording
        return outermost is not None and previous is not None and previous() is outermost

    def _is_other_network(self, cell: Cell) -> bool:
        is_other = self._others.get(cell)
        if is_other is None:
            ids: set[Any] = {id(inner_cell) for _, inner_cell in cell.cells_and_names()}
            is_other = bool(cell.parameters_dict()) and not any(id(root) in ids for root in self._roots)
            self._others[cell] = is_other
        return is_other
