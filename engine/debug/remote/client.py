"""Client of a served process: sends requests, and receives replies and notifications.

The socket belongs to the thread of the connection. Other threads append messages to its outbox and ring its bell.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from itertools import count
from typing import Any

import zmq

from hookscope.engine.cpu.notices import tell

from .bell import Bell
from .cards import Card
from .wire import MAX_BYTES, Buffer, WireError, pack, unpack

__all__ = ["Remote", "RemoteError"]

Listener = Callable[[dict[str, Any], list[memoryview]], None]

_NOBODY = 10.0  # s without a reply after which a process is considered gone


class RemoteError(Exception):
    """Raised if the other process could not perform a request, did not reply in time, or is gone."""


class Remote:
    """Connection to a served process.

    Args:
        card: the address and the keys.
        listener: called in a thread of its own with each notification and its buffers.
        on_end: called in that thread, once, when the process stops serving.

    Attributes:
        card: the card of the process.
        received: the number of received messages, and their bytes.
    """

    def __init__(self, card: Card, listener: Listener, on_end: Callable[[], None] = lambda: None) -> None:
        self.card = card
        self.received = (0, 0)
        self._listener, self._on_end = listener, on_end
        self._futures: dict[int, Future[Any]] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._gone = ""
        self._context = zmq.Context()
        socket = self._socket = self._context.socket(zmq.DEALER)
        socket.curve_serverkey = card.server_key.encode()
        socket.curve_publickey, socket.curve_secretkey = card.client_key.encode(), card.client_secret.encode()
        socket.setsockopt(zmq.LINGER, 500)
        socket.setsockopt(zmq.SNDHWM, 0)
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
        self._monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        socket.connect(card.address)
        self._outbox: deque[list[Buffer]] = deque()
        self._bell = Bell()
        self._ends = False
        self._thread = threading.Thread(target=self._work, name=f"hookscope looks at rank {card.rank}", daemon=True)
        self._thread.start()

    @property
    def gone(self) -> str:
        """The reason why the process is gone, in one clause; "" while it serves."""
        return self._gone

    def tell(self, kind: str, /, buffers: Sequence[Buffer] = (), **fields: Any) -> None:
        """Send a message that expects no reply."""
        self._send(pack({"type": kind, **fields}, buffers))

    def ask(self, kind: str, /, buffers: Sequence[Buffer] = (), **fields: Any) -> Future[Any]:
        """Send a request; return a future of the reply's ``value``.

        The future raises RemoteError if the other process could not perform the request, or is gone.
        """
        number, answer = next(self._numbers), Future[Any]()
        with self._lock:
            reason = self._gone
            if not reason:
                self._futures[number] = answer
        if reason:
            answer.set_exception(RemoteError(reason))
            return answer
        try:
            self._send(pack({"type": kind, "id": number, **fields}, buffers))
        except BaseException:
            with self._lock:
                self._futures.pop(number, None)
            raise
        return answer

    def get(self, kind: str, /, timeout: float = _NOBODY, **fields: Any) -> Any:
        """Send a request and wait for the reply.

        Raises:
            RemoteError: there was no reply within ``timeout`` seconds, or it is an error.
        """
        try:
            return self.ask(kind, **fields).result(timeout)
        except TimeoutError:
            raise RemoteError(f"rank {self.card.rank} did not answer {kind!r} within {timeout:g} s") from None

    def leave(self, why: str = "the client has left") -> None:
        """Disconnect; the process continues."""
        if not self._gone:
            self.tell("bye")
        self._gone = self._gone or why
        self._ends = True
        self._bell.ring()
        if threading.current_thread() is not self._thread:
            self._thread.join(2.0)

    def _send(self, frames: list[Buffer]) -> None:
        self._outbox.append(frames)
        if not self._bell.ring():
            self._outbox.clear()

    def _work(self) -> None:
        poller = zmq.Poller()
        bell = self._bell.fileno()
        for source in (self._socket, self._monitor, bell):
            poller.register(source, zmq.POLLIN)
        try:
            while not self._ends:
                ready = dict(poller.poll())
                if bell in ready:
                    self._bell.hear()
                self._send_what_waits()
                if self._socket in ready:
                    self._receive()
                elif self._monitor in ready:
                    # A process that serves again has other keys, so the connection is over.
                    self._gone = self._gone or self._why_not()
                    break
            self._send_what_waits()
        finally:
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
            self._socket.close()
            self._context.term()
            self._bell.close()
            self._outbox.clear()
            with self._lock:
                self._gone = self._gone or f"the connection to rank {self.card.rank} has failed"
                pending = list(self._futures.values())
                self._futures.clear()
            for answer in pending:
                _set(answer, RemoteError(self._gone))
            self._on_end()

    def _send_what_waits(self) -> None:
        while self._outbox:
            self._socket.send_multipart(self._outbox.popleft())

    def _why_not(self) -> str:
        subject = f"rank {self.card.rank} (process {self.card.pid})"
        return (
            f"{subject} has ended" if self.received[0] else f"{subject} is not there, or refuses the keys of this card"
        )

    def _receive(self) -> None:
        while self._socket.poll(0):
            frames = self._socket.recv_multipart(flags=zmq.NOBLOCK)
            messages, byte_count = self.received
            self.received = messages + 1, byte_count + sum(len(frame) for frame in frames)
            try:
                message, buffers = unpack(frames)
            except WireError:  # a process of another version
                continue
            if message["type"] == "answer":
                self._answered(message)
            elif message["type"] == "ended":
                self._gone = self._gone or f"rank {self.card.rank} has ended"
                self._ends = True
            elif message["type"] == "mark":  # it requests the read position of this side
                self._socket.send_multipart(pack({"type": "marked", "at": message.get("at")}))
            elif message["type"] != "alive":
                try:
                    self._listener(message, buffers)
                except Exception as error:  # a fault of the listener must not end the connection
                    tell(f"hookscope: {type(error).__name__} on a message of rank {self.card.rank}: {error}")

    def _answered(self, message: Mapping[str, Any]) -> None:
        with self._lock:
            answer = self._futures.pop(message.get("id", 0), None)
        if answer is None:
            return
        _set(answer, RemoteError(str(message["error"])) if "error" in message else message.get("value"))


def _set(answer: Future[Any], value: Any) -> None:
    """Set a future's value or error, unless the requester has canceled it."""
    with contextlib.suppress(InvalidStateError):
        if isinstance(value, RemoteError):
            answer.set_exception(value)
        else:
            answer.set_result(value)
