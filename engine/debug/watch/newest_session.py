"""The session that began to watch last, for whoever shows a process and was told of none."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..session import DebugSession

__all__ = ["began_to_watch", "newest_session", "when_attached"]

when_attached: list[Callable[[DebugSession], None]] = []
"""Told of each session that begins to watch."""
_newest: weakref.ref[DebugSession] | None = None


def newest_session() -> DebugSession | None:
    """The session that began to watch last; None before the first, and where nobody keeps it any more."""
    return None if _newest is None else _newest()


def began_to_watch(session: DebugSession) -> None:
    """A session watches from now on."""
    global _newest
    _newest = weakref.ref(session)
    for tell in tuple(when_attached):
        try:
            tell(session)
        except Exception as error:
            if not session.forgives("whoever shows sessions", error):
                raise
