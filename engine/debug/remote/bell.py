"""What wakes a thread that polls descriptors: any thread rings, one thread hears, and a bell that is closed is silent.

The two ends of the pipe belong to the bell alone. The number of a closed descriptor may be that of a file of the user's
a moment later, so ringing and closing take turns, and nothing is written once it is closed. The lock is held for one
call that does not block; it is written in C, so that an interrupt does not leave it locked.
"""

from __future__ import annotations

import contextlib
import os
import threading

__all__ = ["Bell"]


class Bell:
    """A pipe whose content only means that somebody rang."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)
        self._closed = False

    def fileno(self) -> int:
        """The descriptor to poll, for the thread that hears and closes."""
        return self._reads

    def ring(self) -> bool:
        """Wake the thread, from any thread; returns False once the bell is closed."""
        with self._lock:
            if self._closed:
                return False
            with contextlib.suppress(BlockingIOError):  # it has been rung often enough
                os.write(self._writes, b"x")
            return True

    def hear(self) -> None:
        """Forget the ringing up to now."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reads, 4096)

    def close(self) -> None:
        """Close both ends, in the thread that hears."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._writes)
                os.close(self._reads)
