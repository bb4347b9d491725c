"""Room on the stack for the longer way of a call of a cell: a run must not end earlier because somebody looks at it.

A call that hooks or taps see takes some of Python's frames more than one that goes straight to ``construct``, and taps
and hooks take some where they stand. So while many such calls are inside each other, the recursion limit is higher by
that, and a cell that calls itself comes as deep as it does alone. The limit itself is the user's: one that is set
meanwhile counts.
"""

from __future__ import annotations

import sys
import threading

__all__ = ["CALLS", "add_room"]

CALLS = 16
"""So many calls inside each other get their room at once; fewer change nothing that code could see of the limit."""
_FRAMES_OF_CALL = 3
"""Never more than a call takes beside ``construct``: a recursion without an end must come to the limit."""
_FRAMES_OF_TAPS = 250

_MOST = 2**31 - 1  # that Python takes

_lock = threading.RLock()  # a signal's handler may call a cell
_wanted = 0  # by all threads together
_set_here: dict[int, int] = {}
"""The user's limits, by those that were set here for them: who sets a limit for a while may put back one of these."""


def add_room(depth: int, sign: int = 1) -> int:
    """Raise the recursion limit for the next ``CALLS`` calls, or with ``sign`` -1 lower it after them.

    Args:
        depth: how many calls there are around them in this thread, a multiple of ``CALLS`` above 0.
        sign: 1 or -1.

    Returns:
        1, for who keeps whether it is raised.
    """
    global _wanted
    with _lock:
        now = sys.getrecursionlimit()
        users = _set_here.get(now, now)
        first = _FRAMES_OF_TAPS + CALLS * _FRAMES_OF_CALL if depth == CALLS else 0  # of the calls before, too
        _wanted += sign * (first + CALLS * _FRAMES_OF_CALL)
        limit = min(users + _wanted, _MOST)
        try:
            sys.setrecursionlimit(limit)
        except RecursionError:  # a recursion came to the limit: further out, then
            return 1
        _set_here[limit] = users
        if not _wanted:
            _set_here.clear()
    return 1
