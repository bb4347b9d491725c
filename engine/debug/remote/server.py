"""Socket of a served process, and the thread that owns it.

CURVE rejects clients without the keys: their data never becomes a message. Rejections are reported in one line, at most
once a second.

A client that does not read, such as a stopped kernel, would fill this process's memory with outgoing messages. So each
client reports from time to time how far it has read, and one that is too far behind is disconnected.

The socket belongs to this thread. Other threads append messages to its outbox and ring its bell. Only ``close`` ends
the thread: after a failure with one message, or with a line of output, the next messages are still answered.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator
from zmq.utils.monitor import parse_monitor_message

from .bell import Bell
from .wire import MAX_BYTES, Buffer, WireError, pack, unpack

__all__ = ["Server"]

OnMessage = Callable[[bytes, dict[str, Any], list[memoryview]], None]
OnLeave = Callable[[bytes], None]

_REFUSED = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
_DOMAIN = "hookscope"
_SECONDS_BETWEEN_LINES = 1.0
_MILLISECONDS = 1000  # the same in milliseconds
_LAST_SECONDS = 1.0  # time limit for reading messages that were sent before the end
_ALIVE = pack({"type": "alive"})
_PROBES = 2  # ZeroMQ reports the end of a connection before it removes it
_MOST_FAILED = 100  # rounds: then the socket is at fault, not the messages
_MARK = 4 << 20  # bytes that a client receives between two requests for its read position
_MAX_BACKLOG = 512 << 20  # limit of unread bytes of one client
_HANDSHAKE = 10.0  # s in which a connection must have presented its key
_AT_ONCE = 100  # messages that are read before any other work


class Server:
    """Listening socket, from now until ``close``.

    Args:
        address: the address in ZeroMQ's notation; for ``tcp://127.0.0.1:*`` a free port is chosen.
        keys: the public and the secret key of this process, and the public key of its clients, in Z85.
        on_message: called in the server's thread with the client, the message and its buffers.
        on_leave: called in that thread with a client that is gone.
        say: called in that thread with a line of text about rejections.

    Attributes:
        address: the address of the socket.
        sent: the number of sent messages, and their bytes.

    Raises:
        OSError: it cannot listen there.
    """

    def __init__(
        self,
        address: str,
        keys: tuple[str, str, str],
        on_message: OnMessage,
        on_leave: OnLeave,
        say: Callable[[str], None],
    ) -> None:
        self._on_message, self._on_leave, self._say = on_message, on_leave, say
        self._speakers: set[bytes] = set()
        self._flows: dict[bytes, _Flow] = {}
        self._context = zmq.Context()
        # Its own thread would otherwise write to the handlers of the user's loggers, and end when one of them fails.
        self._authenticator = ThreadAuthenticator(self._context, log=logging.Logger("hookscope", logging.CRITICAL + 1))
        self._authenticator.start()  # before the socket listens: without it ZeroMQ accepts every key
        self._authenticator.configure_curve_callback(_DOMAIN, _Allowed(keys[2].encode()))
        socket = self._socket = self._context.socket(zmq.ROUTER)
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = keys[0].encode(), keys[1].encode()
        socket.zap_domain = _DOMAIN.encode()
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)  # so that gone clients are noticed
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
        socket.setsockopt(zmq.HANDSHAKE_IVL, int(_HANDSHAKE * 1000))
        socket.setsockopt(zmq.SNDHWM, 0)  # clients request only what they can receive; nothing of that may be lost
        socket.setsockopt(zmq.LINGER, int(_LAST_SECONDS * 1000))
        self._monitor = socket.get_monitor_socket(_REFUSED | zmq.EVENT_DISCONNECTED)
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            self._authenticator.stop()
            self._context.destroy(linger=0)
            raise OSError(f"cannot listen at {address}: {error}") from None
        self.address = str(socket.get_string(zmq.LAST_ENDPOINT)).rstrip("\0")
        self.sent = (0, 0)
        self._outbox: deque[tuple[bytes, list[Buffer]]] = deque()
        self._bell = Bell()
        self._ends = False
        self._refused, self._next_line = 0, 0.0
        self._probes, self._next_probe = 0, 0.0
        self._thread = threading.Thread(target=self._work, name="hookscope server", daemon=True)
        self._thread.start()

    def send(
        self,
        client: bytes,
        message: Mapping[str, Any],
        buffers: Sequence[Buffer] = (),
        default: Callable[[Any], Any] | None = None,
    ) -> None:
        """Send a message to a known client, from any thread; a client that is gone gets nothing.

        Raises:
            TypeError, ValueError: the message cannot be sent; see ``pack``.
        """
        self._outbox.append((client, pack(message, buffers, default)))
        if not self._bell.ring():
            self._outbox.clear()

    def close(self) -> None:
        """Send the pending messages, and stop listening."""
        if self._ends:
            return
        self._ends = True
        self._bell.ring()
        if threading.current_thread() is not self._thread:
            self._thread.join(2 * _LAST_SECONDS)

    def _work(self) -> None:
        poller = zmq.Poller()
        bell = self._bell.fileno()
        for source in (self._socket, self._monitor, bell):
            poller.register(source, zmq.POLLIN)
        failures = 0  # consecutive rounds that failed
        try:
            while not self._ends or self._outbox:
                try:
                    self._round(poller, bell)
                    failures = 0
                except Exception as error:  # of one message: the others are answered
                    failures += 1
                    if failures == _MOST_FAILED:
                        raise
                    self._tell(f"a message could not be answered: {type(error).__name__}: {error}")
        finally:
            self._bell.close()
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
            self._socket.close()
            self._authenticator.stop()
            self._context.term()
            if not self._ends:
                for client in list(self._speakers):  # a pause that waits for them would never end
                    with contextlib.suppress(Exception):
                        self._on_leave(client)

    def _round(self, poller: zmq.Poller, bell: int) -> None:
        """Wait for events, and handle them."""
        ready = dict(poller.poll(_MILLISECONDS if self._refused or self._probes else None))
        if bell in ready:
            self._bell.hear()
        while self._outbox:
            self._send(*self._outbox.popleft())
        for _ in range(_AT_ONCE if self._socket in ready else 0):
            if not self._receive():
                break
        while self._monitor in ready and self._monitor.poll(0):
            if parse_monitor_message(self._monitor.recv_multipart())["event"] & _REFUSED:
                self._refused += 1
            else:
                self._probes = _PROBES
        self._detect_departures()
        self._tell_refused()

    def _send(self, client: bytes, frames: list[Buffer]) -> None:
        flow = self._flows.setdefault(client, _Flow())
        if flow.is_given_up:
            return
        size = sum(len(frame) for frame in frames)
        try:
            self._socket.send_multipart([client, *frames], flags=zmq.NOBLOCK)
            if flow.wants_mark(size):
                self._socket.send_multipart([client, *pack({"type": "mark", "at": flow.sent})], flags=zmq.NOBLOCK)
            if flow.backlog > _MAX_BACKLOG:
                self._give_up(client, flow)
        except zmq.ZMQError:
            del self._flows[client]
            if client in self._speakers:
                self._speakers.remove(client)
                self._on_leave(client)
            return
        messages, previous = self.sent
        self.sent = messages + 1, previous + size

    def _give_up(self, client: bytes, flow: _Flow) -> None:
        flow.is_given_up = True
        self._socket.send_multipart([client, *pack({"type": "ended"})], flags=zmq.NOBLOCK)
        if client in self._speakers:
            self._on_leave(client)
        self._tell(f"a client of this process has left {flow.backlog >> 20} MiB unread, and gets no more messages")

    def _detect_departures(self) -> None:
        """Probe the clients after a connection was closed: a client that cannot be sent to is gone."""
        if self._probes and monotonic() >= self._next_probe:
            self._probes, self._next_probe = self._probes - 1, monotonic() + _SECONDS_BETWEEN_LINES / 2
            for client in list(self._speakers):
                self._send(client, _ALIVE)

    def _receive(self) -> bool:
        try:
            client, *frames = self._socket.recv_multipart(flags=zmq.NOBLOCK)
        except zmq.Again:
            return False
        flow = self._flows.setdefault(client, _Flow())
        if flow.is_given_up:
            return True
        self._speakers.add(client)
        try:
            message, buffers = unpack(frames)
        except WireError:
            self._refused += 1
            return True
        if message["type"] == "marked":
            flow.has_read(message.get("at"))
        else:
            self._on_message(client, message, buffers)
        return True

    def _tell_refused(self) -> None:
        if self._refused and monotonic() >= self._next_line:
            self._next_line = monotonic() + _SECONDS_BETWEEN_LINES
            times = "" if self._refused == 1 else f", {self._refused} times"
            self._refused = 0
            self._tell(f"a connection or a message was refused{times}: not with the right key, or no message")

    def _tell(self, line: str) -> None:
        with contextlib.suppress(Exception):  # a failing output must not end the service
            self._say(line)


class _Flow:
    """Flow control of one client: the bytes sent to it, and read by it."""

    def __init__(self) -> None:
        self.sent = self._read = self._marked = 0
        self.is_given_up = False

    @property
    def backlog(self) -> int:
        """The bytes on their way to the client."""
        return self.sent - self._read

    def wants_mark(self, size: int) -> bool:
        """Count a message; return whether to request the client's read position."""
        self.sent += size
        if self.sent - self._marked < _MARK:
            return False
        self._marked = self.sent
        return True

    def has_read(self, at: object) -> None:
        """Record the client's read position."""
        if isinstance(at, int) and self._read < at <= self.sent:
            self._read = at


class _Allowed:
    """Callback of ZeroMQ's authenticator that accepts one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._key
