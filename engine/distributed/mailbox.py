"""Messages from one rank to another: a thread that sends and receives them while the rank computes.

An error of MPI belongs to the message that it occurred with: its receiver gets it, and the thread continues.

Messages between two ranks with one tag arrive in the order in which they were sent, and are assigned to receivers in
the order of their requests. Each describes its content: a shape or dtype that the receiver does not expect is an error.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..base.wake_up import WakeUp
from ..cpu.notices import tell
from .notes import NOTE, Array, bytes_of, describe, note, same_call, text_of
from .worker import LONGEST_PAUSE, Pending
from .world import Group, world

__all__ = ["forget_awaited", "not_sent", "receive", "send"]


@dataclass
class _SentMessage:
    request: Any
    message: Array  # MPI reads it until it is sent
    what: str

    def advance(self) -> bool:
        """Return whether MPI no longer needs the message."""
        return bool(self.request.Test())

    def fail(self, error: Exception) -> None:
        """Report an error: a sender does not wait; the receiver gets a separate error."""
        tell(f"hookscope: {self.what}: {error}")


@dataclass
class _Receivers:
    """Receivers of messages from one rank with one tag."""

    comm: Any
    source: int
    tag: int
    queue: deque[tuple[Pending, Array]]
    request: Any = None
    message: Array | None = None

    def advance(self) -> bool:
        """Receive available messages; return True when no receiver is left."""
        from mpi4py import MPI

        if self.request is None:
            status = MPI.Status()
            message_handle = self.comm.Improbe(self.source, self.tag, status)
            if message_handle is None:
                return False
            self.message = np.empty(status.Get_count(MPI.BYTE), np.uint8)
            self.request = message_handle.Irecv(self.message)
        if not self.request.Test():
            return False
        assert self.message is not None
        pending, like = self.queue.popleft()
        _deliver(pending, self.message, like)
        self.request = self.message = None
        return not self.queue

    def fail(self, error: Exception) -> None:
        """End all receivers of messages from that rank: the faulty message cannot be identified."""
        while self.queue:
            pending, _ = self.queue.popleft()
            pending.end(error=RuntimeError(f"{pending.what} ({pending.line}): {error}"))


_requests: deque[Callable[[], object]] = deque()
_wake_up = WakeUp()
# Both are used by the thread only.
_under_way: list[_SentMessage] = []
_receivers: dict[tuple[str, int, int], _Receivers] = {}
_to_oneself: dict[tuple[str, int], deque[Array]] = {}
_thread: threading.Thread | None = None


def send(group: Group, x: Array, to: int, tag: int, line: str) -> Pending:
    """Send an array to one rank; it is copied, so that it may change, without waiting for the receiver.

    Args:
        group: the ranks.
        x: the array.
        to: the number in the group of the receiver.
        tag: distinguishes messages between two ranks, 0 to 32767.
        line: the user's calling line.
    """
    pending = Pending(f"send of {describe(x)} to rank {group.ranks[to]}", line)
    message = np.concatenate((note("message", describe(x), line), bytes_of(np.ascontiguousarray(x))))
    if group.messages is None:
        _to_oneself.setdefault((group.name, tag), deque()).append(message)
    else:
        world().count("send", x.nbytes)
        sent = _SentMessage(group.messages.Isend(message, to, tag), message, f"{pending.what} ({line})")
        _ask(partial(_under_way.append, sent))
    pending.end()
    return pending


def receive(group: Group, like: Array, source: int, tag: int, line: str) -> Pending:
    """Start to receive an array from one rank.

    Args:
        group: the ranks.
        like: an array of the expected shape and dtype.
        source: the number in the group of the sender.
        tag: the sender's tag.
        line: the user's calling line.

    Returns:
        The pending receive, whose result is the array; an error if a different shape or dtype arrives.
    """
    sender = group.ranks[source]
    pending = Pending(f"receive of {describe(like)} from rank {sender}", line, ranks=(sender,))
    if group.messages is None:
        if queue := _to_oneself.get((group.name, tag)):
            _deliver(pending, queue.popleft(), like)
        else:
            message = f"{pending.what}: this process is the only rank, and has sent itself nothing"
            pending.end(error=RuntimeError(message))
        return pending
    receivers = _Receivers(group.messages, source, tag, deque())
    _ask(lambda: _receivers.setdefault((group.name, source, tag), receivers).queue.append((pending, like)))
    return pending


def forget_awaited() -> None:
    """End all receivers of messages that have not begun to arrive: the waiting code was interrupted."""
    if _thread is not None:
        _ask(_forget)


def _forget() -> None:
    for key, receivers in list(_receivers.items()):
        if receivers.request is None:
            for pending, _ in receivers.queue:
                pending.end(error=RuntimeError(f"{pending.what} ({pending.line}): nothing waits for it any more"))
            del _receivers[key]


def not_sent() -> list[str]:
    """Return descriptions of the messages that MPI has not yet sent."""
    return [sent.what for sent in tuple(_under_way)]


def _deliver(pending: Pending, message: Array, like: Array) -> None:
    header, content = message[:NOTE], message[NOTE:]
    if same_call(header, note("message", describe(like), "")):
        pending.end(content.view(like.dtype).reshape(like.shape))
    else:
        pending.end(error=RuntimeError(f"{pending.what} ({pending.line}): but got a {text_of(header)}"))


def _ask(act: Callable[[], object]) -> None:
    """Queue a call for the thread."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=_work, name="hookscope messages", daemon=True)
        _thread.start()
    _requests.append(act)
    _wake_up.set()


def _work() -> None:
    pause = 0.0
    while True:
        busy = bool(_under_way or _receivers)
        if not _requests:
            _wake_up.wait(pause if busy else None)
        while _requests:
            _requests.popleft()()
            pause = 0.0
        count_before = len(_under_way) + sum(len(entry.queue) for entry in _receivers.values())
        _under_way[:] = [entry for entry in _under_way if not _is_over(entry)]
        for key in [key for key, entry in _receivers.items() if _is_over(entry)]:
            del _receivers[key]
        count_after = len(_under_way) + sum(len(entry.queue) for entry in _receivers.values())
        pause = 0.0 if count_after < count_before else min(max(2 * pause, 2e-5), LONGEST_PAUSE)


def _is_over(entry: _SentMessage | _Receivers) -> bool:
    try:
        return entry.advance()
    except Exception as error:
        entry.fail(error)
        return True
