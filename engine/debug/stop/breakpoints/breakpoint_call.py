"""``breakpoint()`` in the user's code: while a session is attached, it pauses there as ``DebugSession.pause`` does."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

from ..pauses import is_evaluating
from ..stepping.session_stepping import SessionStepping

__all__ = ["answer_breakpoint_calls", "leave_breakpoint_calls"]

_steppings: list[weakref.ref[SessionStepping]] = []  # of the attached sessions, the newest last
_previous: Callable[..., Any] | None = None  # Python's hook, or that of another tool, while ours is set


def answer_breakpoint_calls(stepping: SessionStepping) -> None:
    """Pause a session at calls of ``breakpoint()`` until ``leave_breakpoint_calls``; the newest session answers."""
    global _previous
    _steppings.append(weakref.ref(stepping))
    if sys.breakpointhook is not _pause:
        _previous, sys.breakpointhook = sys.breakpointhook, _pause


def leave_breakpoint_calls(stepping: SessionStepping) -> None:
    """Answer no more for a session; after the last one, the previous hook is restored."""
    global _previous
    _steppings[:] = [reference for reference in _steppings if reference() not in (None, stepping)]
    if not _steppings and sys.breakpointhook is _pause and _previous is not None:
        sys.breakpointhook, _previous = _previous, None


def _pause(*args: Any, **keywords: Any) -> Any:
    stepping = next(filter(None, (reference() for reference in reversed(_steppings))), None)
    if stepping is None:
        return (_previous or sys.__breakpointhook__)(*args, **keywords)
    if os.environ.get("PYTHONBREAKPOINT") == "0":  # the user disabled all calls, as with Python's own hook
        return None
    if is_evaluating():  # an expression at a pause calls this code
        return None
    stepping.pause_in(sys._getframe(1), "breakpoint() was called")
    return None
