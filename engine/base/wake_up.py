"""Wake-up of a waiting thread, in place of ``SimpleQueue.get(timeout=...)``, which may never return before Python 3.13.

That call takes a lock that an earlier ``put`` left released, finds no item, and waits for the rest of its timeout. If
the timeout is over by then, the rest is negative, which means forever: with microseconds on a busy machine, it is.
"""

from __future__ import annotations

import threading
from contextlib import suppress

__all__ = ["WakeUp"]


class WakeUp:
    """Event that one wait consumes. It is a lock, which is written in C: an interrupt does not leave it half set."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def set(self) -> None:
        """Wake the waiting thread, or the next one to wait; any thread may call this."""
        with suppress(RuntimeError):  # it is set already
            self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, and clear it.

        Args:
            timeout: seconds; None for no limit.

        Returns:
            False if the timeout is over.
        """
        return self._lock.acquire(timeout=-1 if timeout is None else max(timeout, 0.0))
