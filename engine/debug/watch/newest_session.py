"""Session that was attached last, for views that are opened without one."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..session import DebugSession

__all__ = ["began_to_watch", "newest_session", "when_attached"]

when_attached: list[Callable[[DebugSession], None]] = []
"""Callbacks for each session that is attached."""
_newest: weakref.ref[DebugSession] | None = None


def newest_session() -> DebugSession | None:
    """Return the session that was attached last; None before the first, or if it no longer exists."""
    return None if _newest is None else _newest()


def began_to_watch(session: DebugSession) -> None:
    """Register a session that was attached."""
    global _newest
    _newest = weakref.ref(session)
    for callback in tuple(when_attached):
        try:
            callback(session)
        except Exception as error:
            if not session.report_fault("a display of sessions", error):
                raise
