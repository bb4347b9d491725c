"""Watcher of a run for some conditions: a tap that is attached exactly while one of them is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hookscope.engine.tape import taps

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ...events import Events
    from ...record.counts import Counts
    from ...watch.attachment import Attachment
    from ...watch.paths import CellPaths
    from ..examiner import Examiner

__all__ = ["Watcher", "WatcherParts"]


class WatcherParts(NamedTuple):
    """Parts of a session that each watcher uses.

    Attributes:
        examiner: checks conditions on an observation.
        paths: the cells.
        attachment: knows the places of calls, and which runs belong to the session.
        counts: the counter of steps.
        events: prints messages, and reports exceptions of a watcher.
    """

    examiner: Examiner
    paths: CellPaths
    attachment: Attachment
    counts: Counts
    events: Events


class Watcher(taps.Tap):
    """Base class of watchers; each method does nothing here.

    Attributes:
        shows: the classes of its observations.
        serves_nonfinite: whether the conditions on NaN and infinities use it, too.
    """

    shows: tuple[type[Any], ...] = ()
    serves_nonfinite = False

    def __init__(self, parts: WatcherParts) -> None:
        self._examiner, self._paths, self._attachment, self._counts, self._events = parts
        self._known_roots = 0

    def report_fault(self, method: str, error: Exception) -> bool:
        """Report a fault of this watcher."""
        return self._events.faults.report_fault(f"the check {type(self).__name__}.{method}", error)

    def is_root(self, cell: Cell) -> bool:
        """Return whether a cell is a root, at any depth of calls."""
        return any(root is cell for root in self._paths.roots)

    def has_new_root(self) -> bool:
        """Return whether roots were added since the last call, so that checks done once are due again."""
        previous, self._known_roots = self._known_roots, len(self._paths.roots)
        return self._known_roots > previous

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""

    def end_session(self) -> None:
        """End the session."""
