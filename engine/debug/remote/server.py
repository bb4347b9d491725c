"""The socket of a process that is looked at, and the thread that owns it.

CURVE keeps out whoever has not its keys: what they send never becomes a message. What is refused is told in one line,
and in no more than one a second.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator
from zmq.utils.monitor import parse_monitor_message

from .wire import MAX_BYTES, Buffer, WireError, pack, unpack

__all__ = ["Server"]

Heard = Callable[[bytes, dict[str, Any], list[memoryview]], None]
Left = Callable[[bytes], None]

_REFUSED = zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
_DOMAIN = "hookscope"
_SECONDS_BETWEEN_LINES = 1.0
_MILLISECONDS = 1000  # the same
_LAST_SECONDS = 1.0  # in which what was sent before the end is read
_ALIVE = pack({"type": "alive"})
_PROBES = 2  # ZeroMQ tells of the end of a connection before it forgets it
_AT_ONCE = 100  # messages that are read before anything else is done


class Server:
    """Listens, from now until ``close``.

    Args:
        address: where, as ZeroMQ writes it; of ``tcp://127.0.0.1:*`` the port is chosen.
        keys: the public and the secret key of this process, and the public one of who may speak to it, in Z85.
        heard: called in the server's thread with who sent a message, the message and its buffers.
        left: called in that thread with who spoke once, and has gone.
        say: called in that thread with a line of text about what was refused.

    Attributes:
        address: where it listens.
        sent: how many messages it has sent, and how many bytes they had.

    Raises:
        OSError: it cannot listen there.
    """

    def __init__(
        self, address: str, keys: tuple[str, str, str], heard: Heard, left: Left, say: Callable[[str], None]
    ) -> None:
        self._heard, self._left, self._say = heard, left, say
        self._spoke: set[bytes] = set()
        self._context = zmq.Context()
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()  # before the socket listens: without it ZeroMQ lets in every key
        self._authenticator.configure_curve_callback(_DOMAIN, _Allowed(keys[2].encode()))
        socket = self._socket = self._context.socket(zmq.ROUTER)
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = keys[0].encode(), keys[1].encode()
        socket.zap_domain = _DOMAIN.encode()
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)  # so that who has gone is noticed
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_BYTES)
        socket.setsockopt(zmq.SNDHWM, 0)  # who looks asks for what it can take; nothing of that may be lost
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
        self._wakes, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
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
        """Send a message to one that spoke before, from any thread; one that has gone gets nothing.

        Raises:
            TypeError, ValueError: it is nothing to be sent; see ``pack``.
        """
        self._outbox.append((client, pack(message, buffers, default)))
        self._call()

    def close(self) -> None:
        """Send what was to be sent, and listen no more."""
        if self._ends:
            return
        self._ends = True
        self._call()
        if threading.current_thread() is not self._thread:
            self._thread.join(2 * _LAST_SECONDS)

    def _call(self) -> None:
        try:
            os.write(self._wake, b"x")
        except BlockingIOError:  # it has been called often enough
            pass
        except OSError:  # it has ended
            self._outbox.clear()

    def _work(self) -> None:
        poller = zmq.Poller()
        for source in (self._socket, self._monitor, self._wakes):
            poller.register(source, zmq.POLLIN)
        try:
            while not self._ends or self._outbox:
                ready = dict(poller.poll(_MILLISECONDS if self._refused or self._probes else None))
                if self._wakes in ready:
                    os.read(self._wakes, 4096)
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
                self._find_who_left()
                self._tell_refused()
        finally:
            self._socket.disable_monitor()
            self._monitor.close(linger=0)
            self._socket.close()
            self._authenticator.stop()
            self._context.term()
            os.close(self._wake)
            os.close(self._wakes)

    def _send(self, client: bytes, frames: list[Buffer]) -> None:
        try:
            self._socket.send_multipart([client, *frames], flags=zmq.NOBLOCK)
        except zmq.ZMQError:
            if client in self._spoke:
                self._spoke.remove(client)
                self._left(client)
            return
        messages, size = self.sent
        self.sent = messages + 1, size + sum(len(frame) for frame in frames)

    def _find_who_left(self) -> None:
        """After a connection was closed: who cannot be sent to any more was at its other end."""
        if self._probes and time.monotonic() >= self._next_probe:
            self._probes, self._next_probe = self._probes - 1, time.monotonic() + _SECONDS_BETWEEN_LINES / 2
            for client in list(self._spoke):
                self._send(client, _ALIVE)

    def _receive(self) -> bool:
        try:
            client, *frames = self._socket.recv_multipart(flags=zmq.NOBLOCK)
        except zmq.Again:
            return False
        self._spoke.add(client)
        try:
            self._heard(client, *unpack(frames))
        except WireError:
            self._refused += 1
        return True

    def _tell_refused(self) -> None:
        if self._refused and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            times = "" if self._refused == 1 else f", {self._refused} times"
            self._say(f"a connection or a message was refused{times}: not with the right key, or no message")
            self._refused = 0


class _Allowed:
    """Tells ZeroMQ's authenticator which key is let in."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._key
