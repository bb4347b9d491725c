"""Watcher of a run for some conditions: a tap that is attached exactly while one of them is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hookscope.engine.tape import taps

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ...faults import Faults

__all__ = ["Looks", "Watched", "Watcher"]


class Looks(Protocol):
    """Function of a session that checks the conditions on an observation."""

    def __call__(self, seen: Any, path: str, subject: str, step: int) -> None:
        """Check the conditions on the observation ``seen``."""


@dataclass(frozen=True)
class Watched:
    """Functions of the session for a watcher.

    Attributes:
        look: checks conditions on an observation.
        cells: the paths and cells.
        roots: returns the root cells.
        path: returns the path of a cell; None if it is not known.
        place: returns the path and the number of a call, from its running number; None for unknown cells.
        here: returns the path of the innermost running cell; "" outside cells.
        step: returns the number of the current step.
        own_run: returns whether the current run of this thread belongs to the session's network, or to no network.
        say: prints one line; with the second argument, only once for that key.
        faults: reports exceptions of a watcher.
    """

    look: Looks
    cells: Iterable[tuple[str, Cell]]
    roots: Callable[[], list[Cell]]
    path: Callable[[Cell], str | None]
    place: Callable[[int], tuple[str, int] | None]
    here: Callable[[], str]
    step: Callable[[], int]
    own_run: Callable[[], bool]
    say: Callable[[str, str | None], None]
    faults: Faults


class Watcher(taps.Tap):
    """Base class of watchers; each method does nothing here.

    Attributes:
        shows: the classes of its observations.
    """

    shows: tuple[type[Any], ...] = ()

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._known_roots = 0

    def forgives(self, method: str, error: Exception) -> bool:
        """Report a fault of this watcher."""
        return self._watched.faults.forgives(f"the check {type(self).__name__}.{method}", error)

    def is_root(self, cell: Cell) -> bool:
        """Return whether a cell is a root, at any depth of calls."""
        return any(root is cell for root in self._watched.roots())

    def has_new_root(self) -> bool:
        """Return whether roots were added since the last call, so that checks done once are due again."""
        previous, self._known_roots = self._known_roots, len(self._watched.roots())
        return self._known_roots > previous

    def step_began(self) -> None:
        """Begin a step: a root cell is called."""

    def ended(self) -> None:
        """End the session."""
