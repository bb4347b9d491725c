"""Additional recursion limit for observed calls of cells: a run must not fail earlier because it is observed.

A call with hooks or taps uses more Python frames than a direct call of ``construct``, and taps and hooks themselves
use some. So while many such calls are nested, the recursion limit is raised by that number, and a recursive cell
reaches the same depth as without them. The limit itself is the user's: one that is set meanwhile is respected.
"""

from __future__ import annotations

import sys
import threading

__all__ = ["CALLS", "adjust_recursion_limit"]

CALLS = 16
"""Number of nested calls for which the limit is raised at once; for fewer it is not changed."""
_FRAMES_OF_CALL = 3
"""At most the frames of a call beside ``construct``: an infinite recursion must reach the limit."""
_FRAMES_OF_TAPS = 250

_MOST = 2**31 - 1  # Python's maximum

_lock = threading.RLock()  # a signal handler may call a cell
_extra_frames = 0  # frames requested by all threads
_user_limits: dict[int, int] = {}
"""The user's limits, by the raised ones: code that sets a limit temporarily may restore a raised one."""


def adjust_recursion_limit(depth: int, sign: int = 1) -> int:
    """Raise the recursion limit for the next ``CALLS`` calls, or with ``sign`` -1 lower it after them.

    Args:
        depth: the number of enclosing calls in this thread, a multiple of ``CALLS`` above 0.
        sign: 1 or -1.

    Returns:
        1, which the caller stores to record that the limit is raised.
    """
    global _extra_frames
    with _lock:
        # Near the limit each call may raise RecursionError: until the new limit is set, nothing is changed.
        current = sys.getrecursionlimit()
        user_limit = _user_limits.get(current, current)
        first = _FRAMES_OF_TAPS + CALLS * _FRAMES_OF_CALL if depth == CALLS else 0  # includes the previous calls
        extra_frames = _extra_frames + sign * (first + CALLS * _FRAMES_OF_CALL)
        limit = user_limit + extra_frames if user_limit + extra_frames < _MOST else _MOST
        try:
            sys.setrecursionlimit(limit)
        except RecursionError:
            if sign > 0:
                raise
            _extra_frames = extra_frames  # too deep for the lower limit, which is set further out
            return 1
        _extra_frames = extra_frames
        _user_limits[limit] = user_limit
        if not _extra_frames:
            _user_limits.clear()
    return 1
