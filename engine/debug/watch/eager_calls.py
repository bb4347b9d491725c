"""Calls of compiled functions that run eagerly because a session observes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...base.modes import graph_mode

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..events import Events

__all__ = ["EagerCalls"]


class EagerCalls:
    """Compiled functions whose plans the session bypasses.

    Args:
        events: prints a message on functions of level O1.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._levels: dict[str, str] = {}  # by the name of the function

    def add(self, name: str, level: str) -> None:
        """Record a call of a function of this JIT level."""
        self._levels[name] = level
        if level == "O1":
            self._events.say(
                f"'{name}' has jit_level O1; while it is watched its operators run one by one and round as at O0, so "
                "its numbers may differ from those of an unwatched call",
                "O1",
            )

    def text(self, roots: Iterable[Cell], attached: bool) -> str:
        """Return a sentence on compiled cells that run eagerly because of an attached session, or of its hooks."""
        compiled = [type(root).__name__ for root in roots if graph_mode() or root.compiled]
        names = list(dict.fromkeys((*compiled, *self._levels)))
        if not names:
            return ""
        verb, possessive = ("is", "its") if len(names) == 1 else ("are", "their")
        reason = "the session watches" if attached else "a hook of the session is attached"
        return f"{', '.join(names)} {verb} compiled; while {reason}, {possessive} calls run eagerly"
