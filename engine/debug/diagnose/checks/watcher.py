"""What looks at a run for some conditions: a tap that is attached exactly while one of them is looked for."""

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
    """What a session gives: it tries the conditions that are about such a thing on what is seen."""

    def __call__(self, seen: Any, path: str, subject: str, step: int) -> None:
        """Look."""


@dataclass(frozen=True)
class Watched:
    """What a watcher knows of the session that it works for.

    Attributes:
        look: tries conditions.
        cells: the paths and cells.
        roots: the cells at the top.
        path: the path of a cell; None if it is not known.
        place: the path and the number of a call, from its running number; None if it is of no known cell.
        here: the path of the innermost cell that runs now; "" where none does.
        step: the number of the current step.
        own_run: whether what this thread runs now belongs to the session's network, or to nobody's.
        say: says one line; with the second argument, once for that.
        faults: reports what raises in a watcher.
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
    """Base of those that look; each method does nothing here.

    Attributes:
        shows: the classes of what it shows to conditions.
    """

    shows: tuple[type[Any], ...] = ()

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._known_roots = 0

    def forgives(self, method: str, error: Exception) -> bool:
        """Report a fault of this watcher."""
        return self._watched.faults.forgives(f"the check {type(self).__name__}.{method}", error)

    def is_root(self, cell: Cell) -> bool:
        """Whether it is a cell at the top of what is watched, whatever calls it."""
        return any(root is cell for root in self._watched.roots())

    def has_new_root(self) -> bool:
        """Whether there are more roots than when it was asked last: what is looked at once is due again."""
        before, self._known_roots = self._known_roots, len(self._watched.roots())
        return self._known_roots > before

    def step_began(self) -> None:
        """A root cell is called."""

    def ended(self) -> None:
        """The session ends."""
