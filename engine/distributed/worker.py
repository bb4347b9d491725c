"""Thread of a rank that performs collectives, one after the other, in the order of their requests.

All ranks request them in the same order, so that matching calls meet, even if several are pending. A waiting thread
waits for a Python lock, which an interrupt ends; MPI's own wait can neither be interrupted nor does it yield its core
to another rank.

An interrupt may come between any two lines of the main thread. So its state shared with other threads consists of locks
and queues written in C, whose calls are atomic; a Condition, which is written in Python, can stay locked forever.
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
_YIELDS = 300  # number of polls without a pause; most exchanges between ranks on one machine end within them
_FIRST_PAUSE, LONGEST_PAUSE = 2e-5, 1e-3  # seconds


_waits_by_thread: dict[int, Pending] = {}  # by the waiting thread
_while_waiting: Callable[[], None] | None = None
_LOOKS = 0.02  # s between two polls of a thread with a callback while it waits


def set_while_waiting(act: Callable[[], None] | None) -> None:
    """Set a callback that the main thread runs repeatedly while it waits for other ranks.

    Args:
        act: the callback; None for none. Its error ends the wait, as an interrupt does: the exchange stays
            pending.
    """
    global _while_waiting
    _while_waiting = act


def pending_of(thread: int | None) -> Pending | None:
    """Return a thread's current wait; None if it does not wait. Any thread may call this.

    Args:
        thread: its identifier.
    """
    return None if thread is None else _waits_by_thread.get(thread)


class Pending:
    """A requested exchange.

    Args:
        what: its description, for reports of a rank's wait.
        line: the user's calling line, as ``file:line``.
        group: the name of the group of ranks; "" for a message.
        number: its number among the exchanges of that group, from 1.
        ranks: the group's ranks, by their numbers in the world; for a message the sender.
    """

    def __init__(self, what: str, line: str, group: str = "", number: int = 0, ranks: Sequence[int] = ()) -> None:
        self.what, self.line = what, line
        self.group, self.number, self.ranks = group, number, ranks
        self._ended = False
        self._lock = threading.Lock()  # until it has ended, and briefly by each waiting thread
        self._lock.acquire()
        self._result: Any = None
        self._error: BaseException | None = None

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Set the result and wake the waiting threads; later calls are ignored."""
        if self._ended:
            return
        self._result, self._error, self._ended = result, error, True
        self._lock.release()

    def is_done(self) -> bool:
        """Return whether it has ended."""
        return self._ended

    def wait(self) -> Any:
        """Return its result when it has ended; an interrupt leaves the exchange pending.

        Raises:
            RuntimeError: the ranks' requests differ, or MPI failed.
        """
        if not self._ended:
            self._wait()
        if self._error is not None:
            raise self._error
        return self._result

    def _wait(self) -> None:
        thread_id = threading.get_ident()
        previous = _waits_by_thread.get(thread_id)  # the callback of a wait may wait, too
        _waits_by_thread[thread_id] = self
        try:
            act = _while_waiting if thread_id == threading.main_thread().ident else None
            while not self._ended:
                if self._lock.acquire(timeout=-1 if act is None else _LOOKS):
                    self._lock.release()
                elif act is not None:
                    act()
        finally:
            if previous is None:
                _waits_by_thread.pop(thread_id, None)
            else:
                _waits_by_thread[thread_id] = previous


class Worker:
    """A thread that runs calls in order.

    Args:
        name: the name of the thread.
    """

    def __init__(self, name: str) -> None:
        self._queue: SimpleQueue[tuple[Pending, Callable[[], Any]] | None] = SimpleQueue()
        self._is_over = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def ask(self, pending: Pending, function: Callable[[], Any]) -> Pending:
        """Queue a call of ``function``.

        Args:
            pending: the exchange that it performs.
            function: called without arguments; its result and its error are the exchange's.

        Returns:
            ``pending``.
        """
        if self._is_over:  # as in atexit functions of a script: it would never run
            pending.end(error=RuntimeError(f"{pending.what}: the ranks have parted, this process ends"))
        else:
            self._queue.put((pending, function))
        return pending

    def end(self) -> None:
        """Perform the queued calls, then end the thread."""
        self._is_over = True
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            pending, function = item
            try:
                result, error = function(), None
            except BaseException as raised:  # any error belongs to the exchange
                result, error = None, raised
            pending.end(result, error)


def finish(request: Any) -> None:
    """Wait for an MPI request; other ranks may run on the core meanwhile.

    Args:
        request: the result of an ``I...`` function of mpi4py.
    """
    looks, pause = 0, _FIRST_PAUSE
    while not request.Test():
        looks += 1
        if looks <= _YIELDS:
            _yield_core()
        else:
            time.sleep(pause)
            pause = min(pause * 1.1, LONGEST_PAUSE)
