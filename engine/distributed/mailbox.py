"""Messages from one rank to another: a thread that sends them and takes them in, while the rank computes.

An error of MPI's belongs to the message that it came with: who waits for that one gets it, and the thread goes on.

Messages between two ranks with one tag arrive in the order in which they were sent, and go to who asked first. Each
says what it holds: another shape or dtype than the receiver waits for is an error there.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from ..cpu.telling import tell
from .notes import NOTE, Array, bytes_of, described, note, same_call, words
from .worker import LONGEST_PAUSE, Pending
from .world import Group, world

__all__ = ["forget_awaited", "not_sent", "receive", "send"]


@dataclass
class _Sent:
    request: Any
    message: Array  # which MPI reads until it is sent
    what: str

    def advance(self) -> bool:
        """Return whether MPI needs the message no more."""
        return bool(self.request.Test())

    def fail(self, error: Exception) -> None:
        """Nobody waits for a message that is sent; who was to get it does, and finds that it does not come."""
        tell(f"hookscope: {self.what}: {error}")


@dataclass
class _Awaited:
    """Those who wait for messages from one rank with one tag."""

    comm: Any
    source: int
    tag: int
    waiting: deque[tuple[Pending, Array]]
    request: Any = None
    message: Array | None = None

    def advance(self) -> bool:
        """Take in what has come; True when nobody waits any more."""
        from mpi4py import MPI

        if self.request is None:
            status = MPI.Status()
            found = self.comm.Improbe(self.source, self.tag, status)
            if found is None:
                return False
            self.message = np.empty(status.Get_count(MPI.BYTE), np.uint8)
            self.request = found.Irecv(self.message)
        if not self.request.Test():
            return False
        assert self.message is not None
        pending, like = self.waiting.popleft()
        _deliver(pending, self.message, like)
        self.request = self.message = None
        return not self.waiting

    def fail(self, error: Exception) -> None:
        """End the waiting for all messages from there: which of them was at fault is not known."""
        while self.waiting:
            pending, _ = self.waiting.popleft()
            pending.end(error=RuntimeError(f"{pending.what} ({pending.line}): {error}"))


_asked: SimpleQueue[Callable[[], object]] = SimpleQueue()
# Both are the thread's own.
_under_way: list[_Sent] = []
_awaited: dict[tuple[str, int, int], _Awaited] = {}
_to_oneself: dict[tuple[str, int], deque[Array]] = {}
_thread: threading.Thread | None = None


def send(group: Group, x: Array, to: int, tag: int, line: str) -> Pending:
    """Send an array to one rank; a copy is sent, so the array may change, and nobody waits for the receiver.

    Args:
        group: the ranks.
        x: the array.
        to: the number in the group of who gets it.
        tag: tells messages between two ranks from each other, 0 to 32767.
        line: where the user's code asked.
    """
    pending = Pending(f"send of {described(x)} to rank {group.ranks[to]}", line)
    message = np.concatenate((note("message", described(x), line), bytes_of(np.ascontiguousarray(x))))
    if group.messages is None:
        _to_oneself.setdefault((group.name, tag), deque()).append(message)
    else:
        world().count("send", x.nbytes)
        sent = _Sent(group.messages.Isend(message, to, tag), message, f"{pending.what} ({line})")
        _ask(partial(_under_way.append, sent))
    pending.end()
    return pending


def receive(group: Group, like: Array, source: int, tag: int, line: str) -> Pending:
    """Wait for an array from one rank.

    Args:
        group: the ranks.
        like: an array of the shape and dtype that come.
        source: the number in the group of who sends it.
        tag: as the sender's.
        line: where the user's code asked.

    Returns:
        What gives the array; an error where another shape or dtype came.
    """
    sender = group.ranks[source]
    pending = Pending(f"receive of {described(like)} from rank {sender}", line, ranks=(sender,))
    if group.messages is None:
        if kept := _to_oneself.get((group.name, tag)):
            _deliver(pending, kept.popleft(), like)
        else:
            alone = f"{pending.what}: this process is the only rank, and has sent itself nothing"
            pending.end(error=RuntimeError(alone))
        return pending
    awaited = _Awaited(group.messages, source, tag, deque())
    _ask(lambda: _awaited.setdefault((group.name, source, tag), awaited).waiting.append((pending, like)))
    return pending


def forget_awaited() -> None:
    """Let nobody wait any more for a message that has not begun to come: who did was interrupted."""
    if _thread is not None:
        _ask(_forget)


def _forget() -> None:
    for key, one in list(_awaited.items()):
        if one.request is None:
            for pending, _ in one.waiting:
                pending.end(error=RuntimeError(f"{pending.what} ({pending.line}): nobody waits for it any more"))
            del _awaited[key]


def not_sent() -> list[str]:
    """Return the messages that MPI holds on to, in words."""
    return [one.what for one in tuple(_under_way)]


def _deliver(pending: Pending, message: Array, like: Array) -> None:
    told, content = message[:NOTE], message[NOTE:]
    if same_call(told, note("message", described(like), "")):
        pending.end(content.view(like.dtype).reshape(like.shape))
    else:
        pending.end(error=RuntimeError(f"{pending.what} ({pending.line}): what came is a {words(told)}"))


def _ask(act: Callable[[], object]) -> None:
    """Have something done by the thread, behind all that was asked for before."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=_work, name="hookscope messages", daemon=True)
        _thread.start()
    _asked.put(act)


def _work() -> None:
    pause = 0.0
    while True:
        busy = bool(_under_way or _awaited)
        try:
            _asked.get(timeout=pause if busy else None)()
            pause = 0.0
        except Empty:
            pass
        before = len(_under_way) + sum(len(one.waiting) for one in _awaited.values())
        _under_way[:] = [one for one in _under_way if not _is_over(one)]
        for key in [key for key, one in _awaited.items() if _is_over(one)]:
            del _awaited[key]
        after = len(_under_way) + sum(len(one.waiting) for one in _awaited.values())
        pause = 0.0 if after < before else min(max(2 * pause, 2e-5), LONGEST_PAUSE)


def _is_over(one: _Sent | _Awaited) -> bool:
    try:
        return one.advance()
    except Exception as error:
        one.fail(error)
        return True
