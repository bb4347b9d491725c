"""The thread of a rank that does collectives, one after the other, in the order in which they were asked for.

All ranks ask in the same order, so what belongs together meets, also where several are under way. Whoever waits for one
waits for a lock of Python's, which an interrupt ends; MPI's own waiting can neither be interrupted nor does it give its
core to another rank.

An interrupt may come between any two lines of the main thread. So what it shares with other threads are locks and
queues written in C, one call of which is done or not; a Condition, which is Python, can be left locked for ever.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

__all__ = ["LONGEST_PAUSE", "Pending", "Worker", "finish", "pending_of", "set_while_waiting"]

_yield_core: Callable[[], None] = getattr(os, "sched_yield", partial(time.sleep, 0))
_YIELDS = 300  # looks without a pause, in which ranks on one machine have mostly met
_FIRST_PAUSE, LONGEST_PAUSE = 2e-5, 1e-3  # seconds


_waiting: dict[int, Pending] = {}  # by the thread that waits
_while_waiting: Callable[[], None] | None = None
_LOOKS = 0.02  # s between two looks of who does something else while it waits


def set_while_waiting(act: Callable[[], None] | None) -> None:
    """Set what the main thread does, again and again, while it waits for other ranks.

    Args:
        act: does it; None for nothing. What it raises leaves the waiting, as an interrupt does: the exchange stays
            under way.
    """
    global _while_waiting
    _while_waiting = act


def pending_of(thread: int | None) -> Pending | None:
    """What a thread waits for now; None while it does not. Any thread may ask.

    Args:
        thread: its identifier.
    """
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
        self._ended = False
        self._locked = threading.Lock()  # until it has ended, and for a moment by each who waited
        self._locked.acquire()
        self._result: Any = None
        self._error: BaseException | None = None

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Tell who waits; what comes after the first time is left."""
        if self._ended:
            return
        self._result, self._error, self._ended = result, error, True
        self._locked.release()

    def is_done(self) -> bool:
        """Return whether it has ended."""
        return self._ended

    def wait(self) -> Any:
        """What it gave, when it has ended; an interrupt leaves the exchange under way.

        Raises:
            RuntimeError: the ranks did not ask for the same, or MPI could not do it.
        """
        if not self._ended:
            self._wait()
        if self._error is not None:
            raise self._error
        return self._result

    def _wait(self) -> None:
        here = threading.get_ident()
        before = _waiting.get(here)  # what is done while one waits may wait, too
        _waiting[here] = self
        try:
            act = _while_waiting if here == threading.main_thread().ident else None
            while not self._ended:
                if self._locked.acquire(timeout=-1 if act is None else _LOOKS):
                    self._locked.release()
                elif act is not None:
                    act()
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
        self._given: SimpleQueue[tuple[Pending, Callable[[], Any]] | None] = SimpleQueue()
        self._is_over = False
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
        if self._is_over:  # as in what a script has registered with atexit: nobody would ever do it
            pending.end(error=RuntimeError(f"{pending.what}: the ranks have parted, this process ends"))
        else:
            self._given.put((pending, function))
        return pending

    def end(self) -> None:
        """Do what was asked for, then no more."""
        self._is_over = True
        self._given.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (given := self._given.get()) is not None:
            pending, function = given
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
            _yield_core()
        else:
            time.sleep(pause)
            pause = min(pause * 1.1, LONGEST_PAUSE)
