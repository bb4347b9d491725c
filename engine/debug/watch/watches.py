"""Watches of a session: the cells, directions and steps whose values are captured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..argument_checks import positive
from .paths import is_leaf
from .pattern import Watch, check_matches, member

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..events import Events
    from .paths import CellPaths
    from .visits import Visit

__all__ = ["Watches"]

_EVERY_LEAF = ("",)


class Watches:
    """Watches, at least one, which can be added and removed at any time.

    Args:
        texts: ``PATTERN[:forward|backward|all]`` each; none means every leaf cell.
        every: capture only in every n-th step.
        paths: the cells of the session.
        any_pattern: whether a pattern may match nothing yet, since the networks are not known in advance.
        events: notified of each change.

    Raises:
        ValueError: an unknown direction, or ``every`` is not a positive integer.
    """

    def __init__(self, texts: Iterable[str], every: int, paths: CellPaths, any_pattern: bool, events: Events) -> None:
        self.every = every
        self._paths = paths
        self._any_pattern = any_pattern
        self._events = events
        self._directions: dict[int, frozenset[str]] = {}  # the watched directions, by the cell's id
        self.all = [Watch.parse(text) for text in tuple(texts) or _EVERY_LEAF]

    @property
    def every(self) -> int:
        """The step interval: captures are made in every n-th step."""
        return self._every

    @every.setter
    def every(self, every: int) -> None:
        self._every = positive("every", every)

    def check(self) -> None:
        """Check that each pattern matches a cell.

        Raises:
            ValueError: one matches none.
        """
        for watch in self.all:
            self._check(watch)

    def _check(self, watch: Watch) -> None:
        if not self._any_pattern:
            check_matches(watch.pattern, [path for path, _ in self._paths], "watch")

    def add(self, text: str) -> Watch:
        """Add a watch; see ``DebugSession.add_watch``."""
        watch = Watch.parse(text)
        self._check(watch)
        if watch not in self.all:
            self.all = [watch] if self.all == [Watch.parse(pattern) for pattern in _EVERY_LEAF] else [*self.all, watch]
            self.reset()
            self._events.notify("changed")
        return watch

    def remove(self, text: str) -> None:
        """Remove a watch; see ``DebugSession.remove_watch``."""
        self.all.remove(member(Watch.parse(text), self.all, "watch", lambda watch: watch.pattern))
        self.all = self.all or [Watch.parse(text) for text in _EVERY_LEAF]
        self.reset()
        self._events.notify("changed")

    def reset(self) -> None:
        """Clear the cached directions, since other cells may be watched from now on, also by running calls."""
        self._directions.clear()

    def takes(self, step: int) -> bool:
        """Return whether values of a step are captured; values before the first step count as values of that step."""
        return max(step - 1, 0) % self._every == 0

    def wants(self, visit: Visit, direction: str) -> bool:
        """Return whether the values of this call are captured in this direction."""
        if self._every > 1 and not self.takes(visit.step):
            return False
        directions = self._directions.get(id(visit.cell))
        if directions is None:
            directions = self._directions[id(visit.cell)] = self._watched(visit.cell, visit.path)
        return direction in directions

    def _watched(self, cell: Cell, path: str) -> frozenset[str]:
        leaf = is_leaf(cell)
        return frozenset(
            direction
            for direction in ("forward", "backward")
            if any(watch.covers(path, leaf, direction) for watch in self.all)
        )
