"""Choices made in panels, from one run of a notebook's cell to the next, within one kernel process.

They belong to the cell and the name of its session. Another name in the same cell takes them over if its network has
the same cells. A front end without cell identifiers tells cells apart by their texts, so there the name alone decides.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.choices import Choices

_MAX_CELLS = 200
WITHOUT_ID = "text "
"""Prefix of the identifiers that stand for the text of a cell."""

Outline = tuple[tuple[str, str], ...]


class _Entry(NamedTuple):
    """The choices of a session, and the paths and types of its cells."""

    choices: Choices
    outline: Outline


class Reruns:
    """The choices of the sessions that ended, by cell and name; the newest last."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], _Entry] = {}

    def remember(self, cell: str, session: DebugSession) -> None:
        """Remember the choices of a session whose cell is run again, and remove its hooks from the network."""
        from hookscope.widgets.choices import choices_of
        from hookscope.widgets.choices.rerun import detach_hooks

        choices = choices_of(session).copy()
        self._entries.pop((cell, session.name), None)
        if not choices.is_empty():
            self._entries[cell, session.name] = _Entry(choices, _outline(session))
            detach_hooks(session)
        while len(self._entries) > _MAX_CELLS:
            del self._entries[next(iter(self._entries))]

    def take_over(self, cell: str, session: DebugSession, explicit: Collection[str]) -> None:
        """Give a new session of a cell the choices of the cell's previous run; ``explicit`` is what its line gives."""
        choices = self._choices(cell, session)
        if choices is not None:
            from hookscope.widgets.choices.rerun import take_over

            take_over(session, choices, explicit)

    def _choices(self, cell: str, session: DebugSession) -> Choices | None:
        entry = self._entries.get((cell, session.name))
        if entry is not None:
            return entry.choices
        for (other_cell, name), other in reversed(self._entries.items()):
            if other_cell == cell and other.outline and other.outline == _outline(session):
                return other.choices
            if cell.startswith(WITHOUT_ID) and other_cell.startswith(WITHOUT_ID) and name == session.name:
                return other.choices
        return None

    def forget(self, name: str | None = None, cells: Collection[str] | None = None) -> int:
        """Forget the choices for sessions of this name, or of these cells, or all; return the number of sessions."""
        keys = [key for key in self._entries if name in (None, key[1]) and (cells is None or key[0] in cells)]
        for key in keys:
            del self._entries[key]
        return len(keys)


def _outline(session: DebugSession) -> Outline:
    return tuple((path, type(cell).__name__) for path, cell in session.paths)
