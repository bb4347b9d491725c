"""Wake-up descriptor of a thread that polls descriptors: any thread signals it, one thread reads it.

The two ends of the pipe belong to the bell alone. The number of a closed descriptor may be reused for a file of the
user, so signaling and closing are exclusive, and nothing is written after closing. The lock is held for one call that
does not block; it is implemented in C, so that an interrupt does not leave it locked.
"""

from __future__ import annotations

import contextlib
import os
import threading

__all__ = ["Bell"]


class Bell:
    """Pipe whose content only means that it was signaled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reads, self._writes = os.pipe()
        os.set_blocking(self._reads, False)
        os.set_blocking(self._writes, False)
        self._closed = False

    def fileno(self) -> int:
        """Return the descriptor to poll, for the thread that reads and closes it."""
        return self._reads

    def ring(self) -> bool:
        """Wake the thread, from any thread; return False if the bell is closed."""
        with self._lock:
            if self._closed:
                return False
            with contextlib.suppress(BlockingIOError):  # enough signals are pending
                os.write(self._writes, b"x")
            return True

    def hear(self) -> None:
        """Clear pending signals."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._reads, 4096)

    def close(self) -> None:
        """Close both ends, in the reading thread."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._writes)
                os.close(self._reads)
