"""Inbox of the pause pump: messages that arrived while the main thread may have been busy, in order."""

from __future__ import annotations

import threading
from collections import deque

from ..ipykernel_adapter import Frames


class Inbox:
    """Pending messages in numbered runs; a run is a sequence of messages without another request between them.

    Attributes:
        urgent: the number of messages that a running cell may handle.

    The lock is acquired by `with` on the bare lock, never through a Condition's own `__enter__`: a KeyboardInterrupt
    inside that Python function would leave the lock held forever.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._messages: deque[tuple[int, bool, Frames]] = deque()
        self.urgent = 0
        self._run = 0
        self._announced_run: int | None = None

    def put(self, message: Frames, urgent: bool = False) -> int | None:
        """Add a message; return the number of its run if the main thread must be woken for it, else None."""
        with self._lock:
            self._messages.append((self._run, urgent, message))
            self.urgent += urgent
            self._condition.notify_all()
            if self._announced_run == self._run:
                return None
            self._announced_run = self._run
            return self._run

    def end_run(self) -> None:
        """End the run because another request passes; later messages follow it."""
        with self._lock:
            self._run += 1

    def answered(self, run: int) -> None:
        """Record that the wake-up for `run` has arrived, so that later messages of that run need another one."""
        with self._lock:
            if self._announced_run == run:
                self._announced_run = None

    def last_run(self) -> int | None:
        """Return the run of the newest message, None if the inbox is empty."""
        with self._lock:
            return self._messages[-1][0] if self._messages else None

    def take(self, up_to_run: int | None = None) -> Frames | None:
        """Remove and return the oldest message, if there is one and its run is not after `up_to_run`."""
        with self._lock:
            if self._messages and (up_to_run is None or self._messages[0][0] <= up_to_run):
                _, urgent, message = self._messages.popleft()
                self.urgent -= urgent
                return message
            return None

    def take_urgent(self) -> Frames | None:
        """Remove and return the oldest message that a running cell may handle, if there is one."""
        with self._lock:
            for index, (_, urgent, message) in enumerate(self._messages):
                if urgent:
                    del self._messages[index]
                    self.urgent -= 1
                    return message
            return None

    def wait(self, seconds: float) -> None:
        """Sleep until a message is put, `wake` is called or the timeout expires."""
        with self._lock:
            self._condition.wait(seconds)

    def wake(self) -> None:
        """Wake every waiting thread."""
        with self._lock:
            self._condition.notify_all()
