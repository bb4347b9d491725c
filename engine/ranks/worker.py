"""The thread of a rank that does collectives, one after the other, in the order in which they were asked for.

All ranks ask in the same order, so what belongs together meets, also where several are under way. Whoever waits for one
waits for a lock of Python's, which an interrupt ends; MPI's own waiting can neither be interrupted nor does it give its
core to another rank.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

__all__ = ["LONGEST_PAUSE", "Pending", "Worker", "finish"]

_YIELDS = 300  # looks without a pause, in which ranks on one machine have mostly met
_FIRST_PAUSE, LONGEST_PAUSE = 2e-5, 1e-3  # seconds


class Pending:
    """An exchange that was asked for.

    Args:
        what: what it is, for who asks what a rank waits for.
        line: where the user's code asked, as ``file:line``.
    """

    def __init__(self, what: str, line: str) -> None:
        self.what, self.line = what, line
        self._done = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Tell who waits; called once."""
        self._result, self._error = result, error
        self._done.set()

    def is_done(self) -> bool:
        """Whether it has ended."""
        return self._done.is_set()

    def wait(self) -> Any:
        """What it gave, when it has ended; an interrupt leaves the exchange under way.

        Raises:
            RuntimeError: the ranks did not ask for the same, or MPI could not do it.
        """
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._result


class Worker:
    """A thread that does what it is given, in order.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._given: deque[tuple[Pending, Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._ends = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def ask(self, what: str, line: str, function: Callable[[], Any]) -> Pending:
        """Have ``function`` called behind all that was asked for before.

        Args:
            what: what it does, in words.
            line: where the user's code asked.
            function: called without arguments; its result and its error are the exchange's.
        """
        pending = Pending(what, line)
        with self._changed:
            self._given.append((pending, function))
            self._changed.notify()
        return pending

    def end(self) -> None:
        """Do what was asked for, then no more."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._given and not self._ends:
                    self._changed.wait()
                if not self._given:
                    return
                pending, function = self._given.popleft()
            try:
                result, error = function(), None
            except BaseException as raised:  # whatever it is, it belongs to who asked
                result, error = None, raised
            pending.end(result, error)


def finish(request: Any) -> None:
    """Wait for a request of MPI's; other ranks may run on the core meanwhile.

    Args:
        request: what an ``I...`` function of mpi4py's gave.
    """
    looks, pause = 0, _FIRST_PAUSE
    while not request.Test():
        looks += 1
        if looks <= _YIELDS:
            os.sched_yield()
        else:
            time.sleep(pause)
            pause = min(pause * 1.1, LONGEST_PAUSE)
