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
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["LONGEST_PAUSE", "Pending", "Worker", "finish", "pending_of", "set_while_waiting"]

_YIELDS = 300  # looks without a pause, in which ranks on one machine have mostly met
_FIRST_PAUSE, LONGEST_PAUSE = 2e-5, 1e-3  # seconds


_waiting: dict[int, Pending] = {}  # by the thread that waits
_while_waiting: Callable[[], None] | None = None
_LOOKS = 0.02  # s between two looks of who does something else while it waits


def set_while_waiting(act: Callable[[], None] | None) -> None:
    """Set what the main thread does, again and again, while it waits for other ranks; None for nothing.

    What it raises leaves the waiting, as an interrupt does: the exchange stays under way.
    """
    global _while_waiting
    _while_waiting = act


def pending_of(thread: int | None) -> Pending | None:
    """What a thread waits for now; None while it does not. Any thread may ask."""
    return None if thread is None else _waiting.get(thread)


class Pending:
    """An exchange that was asked for.

    Args:
        what: what it is, for who asks what a rank waits for.
        line: where the user's code asked, as ``file:line``.
        group: the name of the group whose ranks do it together; "" for a message.
        number: which exchange of that group it is, from 1.
        ranks: the group's, by their numbers in the world; of a message the one that it comes from.
    """

    def __init__(self, what: str, line: str, group: str = "", number: int = 0, ranks: Sequence[int] = ()) -> None:
        self.what, self.line = what, line
        self.group, self.number, self.ranks = group, number, ranks
        self._done = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Tell who waits; what comes after the first time is left."""
        if self._done.is_set():
            return
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
        if not self._done.is_set():
            self._wait()
        if self._error is not None:
            raise self._error
        return self._result


    def _wait(self) -> None:
        here = threading.get_ident()
        before = _waiting.get(here)  # what is done while one waits may wait, too
        _waiting[here] = self
        try:
            if _while_waiting is None or here != threading.main_thread().ident:
                self._done.wait()
            else:
                while not self._done.wait(_LOOKS):
                    _while_waiting()
        finally:
            if before is None:
                _waiting.pop(here, None)
            else:
                _waiting[here] = before


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

    def ask(self, pending: Pending, function: Callable[[], Any]) -> Pending:
        """Have ``function`` called behind all that was asked for before.

        Args:
            pending: what is waited for.
            function: called without arguments; its result and its error are the exchange's.

        Returns:
            ``pending``.
        """
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
