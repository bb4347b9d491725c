"""Service of an observed process: requests run only at points where no operation is half done.

Messages arrive in a thread of their own. Requests that only read are answered in that thread at once. Other requests
wait in an inbox until the thread of the user's code handles them: while it is paused or idle, at the engine's safe
points, and while it waits for other ranks. So a request never runs in the middle of an operator, and a process whose
run is paused or waits still answers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any, ClassVar
from uuid import uuid4

import zmq

from hookscope.engine.base.wake_up import WakeUp
from hookscope.engine.cpu.notices import tell
from hookscope.engine.cpu.ownership import own_folder
from hookscope.engine.distributed.worker import set_while_waiting
from hookscope.engine.tape import progress, taps

from ..stop.pause import in_a_forked_process
from .cards import Card, remove_card, sessions_folder, write_card
from .server import Server
from .wire import Buffer

__all__ = ["Act", "RemotePauser", "RequestService"]

Message = dict[str, Any]
Act = Callable[[bytes, Message, list[memoryview]], Any]
"""Function that performs a request, given client, message and buffers; it returns the reply's value, for JSON."""

_MOST_WAITING = 1000  # requests: a client that floods the inbox must not delay others for long
_LONGEST_PATH = 100  # bytes of the path of a Unix socket: Linux takes 107
_LONGEST_ERROR = 100_000  # characters
_POLL = 0.1  # s that a paused thread sleeps at most: `until` may become true, or a signal arrive, without a message
_ANSWER = 0.05  # s that a running thread answers at most before it continues, and runs at least before it answers again


class RequestService:
    """Service from ``open`` until ``close``.

    Args:
        what: the program, in words.
        rank: the number of this process among the ranks.
        ranks: the number of ranks.
        run: common identifier of all ranks that were started together.
        folder: the folder of the card; by default that of the user's other processes.
        address: the address to listen at; by default a Unix socket in that folder.
        say: receives a line about each rejected message; by default it goes to standard error.

    Attributes:
        DEFERRED: returned by a request function that replies by ``reply`` later, or has already done so.
        card: the connection data of this process.
        clients: the connected clients.
        when_alone: called in the server's thread when the last client has disconnected.

    Raises:
        OSError: it cannot listen there, or the folder is open to others.
    """

    DEFERRED: ClassVar[object] = object()

    def __init__(
        self,
        what: str,
        rank: int = 0,
        ranks: int = 1,
        run: str = "",
        folder: Path | None = None,
        address: str | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._acts: dict[str, tuple[Act, bool]] = {}
        self._inbox: deque[tuple[bytes, Message, list[memoryview]]] = deque()
        self._wake_up = WakeUp()  # no Condition, which an interrupt between two lines of its code leaves locked
        self._waiting: list[object] = []  # the innermost last: only it takes messages out
        self._when_asked: Callable[[], None] | None = None
        self._next_answer = 0.0
        self._local = threading.local()
        self._defers = self._noted = False  # of the main thread
        self.clients: list[bytes] = []
        self.when_alone: Callable[[], None] = lambda: None
        folder = sessions_folder() if folder is None else own_folder(folder)
        run = run or uuid4().hex[:12]
        public, secret = zmq.curve_keypair()
        client_public, client_secret = zmq.curve_keypair()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        keys = (public.decode(), secret.decode(), client_public.decode())
        self._server = Server(
            address or self._socket_in(folder, f"{run}-{rank}"), keys, self._on_message, self._on_leave, say or _say
        )
        self.card = Card(
            self._server.address,
            keys[0],
            keys[2],
            client_secret.decode(),
            what,
            run,
            os.getpid(),
            socket.gethostname(),
            rank,
            ranks,
        )
        self.on("hello", self._hello, at_once=True)
        self.on("bye", self._bye, at_once=True)
        self._folder = folder
        self._card_path: Path | None = None

    def _socket_in(self, folder: Path, name: str) -> str:
        path = folder / f"{name}.socket"
        if len(os.fsencode(path)) > _LONGEST_PATH:
            self._temporary = tempfile.TemporaryDirectory(prefix="hookscope-")  # private to this user, too
            path = Path(self._temporary.name) / "socket"
        return f"ipc://{path}"

    def open(self) -> None:
        """Publish the card of this process, once all requests are registered."""
        self._card_path = write_card(self._folder, self.card)

    @property
    def sent(self) -> tuple[int, int]:
        """The number of sent messages, and their bytes."""
        return self._server.sent

    def on(self, kind: str, act: Act, at_once: bool = False) -> None:
        """Register the function of a kind of requests.

        Args:
            kind: the ``type`` of the messages.
            act: the function.
            at_once: whether it only reads data that any thread may read at any time: it is called in the server's
                thread.
        """
        self._acts[kind] = act, at_once

    def tell(
        self,
        message: Mapping[str, Any],
        buffers: Sequence[Buffer] = (),
        to: bytes | None = None,
        default: Callable[[Any], Any] | None = None,
    ) -> None:
        """Send a message to one client, or to all, from any thread."""
        for client in list(self.clients) if to is None else [to]:
            self._server.send(client, message, buffers, default)

    def close(self) -> None:
        """Notify the clients of the end, and stop serving; do nothing in a forked process.

        The socket's file and the card belong to the process that serves.
        """
        if os.getpid() != self.card.pid:
            return
        self.tell({"type": "ended"})
        self._server.close()
        if self._card_path is not None:
            remove_card(self._card_path, self.card)
        if self._temporary is not None:
            self._temporary.cleanup()

    # Methods of the server's thread

    def _on_message(self, client: bytes, message: Message, buffers: list[memoryview]) -> None:
        act, at_once = self._acts.get(message["type"], (None, True))
        if act is None:
            self._answer(client, message, error=f"there is no request {message['type'][:40]!r}")
        elif at_once:
            self._do(act, client, message, buffers)
        elif len(self._inbox) >= _MOST_WAITING:
            self._answer(client, message, error=f"{_MOST_WAITING} requests wait already: it is busy")
        else:
            self._inbox.append((client, message, buffers))
            self.wake()
            if self._when_asked is not None:
                self._when_asked()

    def _hello(self, client: bytes, message: Message, buffers: list[memoryview]) -> dict[str, Any]:
        if client not in self.clients:
            self.clients.append(client)
        return {"pid": os.getpid(), "rank": self.card.rank, "ranks": self.card.ranks, "what": self.card.what}

    def _bye(self, client: bytes, message: Message, buffers: list[memoryview]) -> None:
        self._on_leave(client)

    def _on_leave(self, client: bytes) -> None:
        if client in self.clients:
            self.clients.remove(client)
            # Its requests are obsolete.
            for waiting in [request for request in self._inbox.copy() if request[0] == client]:
                with contextlib.suppress(ValueError):
                    self._inbox.remove(waiting)
            self.wake()
            if not self.clients:
                self.when_alone()

    def _do(self, act: Act, client: bytes, message: Message, buffers: list[memoryview]) -> None:
        try:
            value = act(client, message, buffers)
        except Exception as error:  # any exception goes to the client; the run continues
            self._answer(client, message, error=_line(error))
        except KeyboardInterrupt:
            self._answer(client, message, error="it was interrupted")
            raise
        else:
            if value is not self.DEFERRED:
                self.reply(client, message, value)

    def reply(self, client: bytes, message: Message, value: Any = None) -> None:
        """Reply to a request, from any thread."""
        self._answer(client, message, value)

    def _answer(self, client: bytes, message: Message, value: Any = None, error: str | None = None) -> None:
        number = message.get("id")
        if not isinstance(number, int):
            return
        answer = {"type": "answer", "id": number, **({"value": value} if error is None else {"error": error})}
        try:
            self._server.send(client, answer)
        except Exception as failure:  # the value is not JSON, too large, or nested too deeply
            self._server.send(client, {"type": "answer", "id": number, "error": _line(failure)})

    # Methods of the thread of the user's code

    def wake(self) -> None:
        """Wake the waiting threads to check their conditions. Any thread may call this."""
        self._wake_up.set()

    def wait(self, until: Callable[[], bool], timeout: float | None = None) -> bool:
        """Block this thread until ``until()`` is true, and handle requests; return False after ``timeout`` s."""
        deadline = None if timeout is None else monotonic() + timeout
        with self.uninterrupted(), self._innermost() as waiter:
            while not until():
                self._raise_noted()
                remaining = _POLL if deadline is None else deadline - monotonic()
                if remaining <= 0:
                    return False
                if not self._take_one(waiter):
                    self._wake_up.wait(min(remaining, _POLL))
        return True

    def answer(self) -> None:
        """Handle pending requests at a safe point for a limited time; do nothing soon after the previous time."""
        self._raise_noted()
        if not self._inbox or monotonic() < self._next_answer or getattr(self._local, "acting", False):
            return
        end = monotonic() + _ANSWER
        with self.uninterrupted(), self._innermost() as waiter, taps.mute():
            while monotonic() < end and self._take_one(waiter):
                pass
        self._next_answer = monotonic() + _ANSWER

    # Interrupts, if ``on_interrupt`` handles the signal

    @staticmethod
    def interrupt() -> None:
        """Send the main thread SIGINT, from any thread.

        A signal to the whole process may be delivered to another thread, and then does not wake the main thread from a
        blocking call. This happens when the main thread was stopped and is just resuming.
        """
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Handle SIGINT: raise KeyboardInterrupt in the user's code, otherwise where the main thread waits."""
        if self._defers:
            self._noted = True
        else:
            signal.default_int_handler(signum, frame)

    @contextlib.contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Defer interrupts in the debugger's own code: they are raised where it waits or at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous, self._defers = self._defers, True
        try:
            yield
        finally:
            self._defers = previous
            if not previous:
                self._raise_noted()

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Permit interrupts in the user's code, inside of ``uninterrupted``."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = self._defers
        try:
            try:
                self._defers = False
                self._raise_noted()  # an interrupt just before is meant for this code
                yield
            finally:
                self._defers = previous
        finally:  # again: an interrupt may have come just before the line above
            self._defers = previous

    def _raise_noted(self) -> None:
        if self._noted and threading.current_thread() is threading.main_thread():
            self._noted = False
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def _innermost(self) -> Iterator[object]:
        waiter = object()
        self._waiting.append(waiter)
        try:
            yield waiter
        finally:
            self._waiting.remove(waiter)
            self.wake()

    def _take_one(self, this: object) -> bool:
        """Handle the first request, if ``this`` is the innermost waiting object; return whether there was one."""
        if self._waiting[-1] is not this:
            return False
        try:
            client, message, buffers = self._inbox.popleft()
        except IndexError:
            return False
        act, _ = self._acts[message["type"]]
        previous, self._local.acting = getattr(self._local, "acting", False), True
        try:
            self._do(act, client, message, buffers)
        finally:
            self._local.acting = previous
        return True

    def answer_all(self) -> None:
        """Handle all requests, in a thread that is idle."""
        self.wait(lambda: not self._inbox)

    def when_asked(self, call: Callable[[], None] | None) -> None:
        """Set what the server's thread calls when a request waits, so that an idle thread calls ``answer_all``."""
        self._when_asked = call

    def answer_at_safe_points(self) -> None:
        """Handle requests at the engine's safe points from now on, and while the main thread waits for other ranks."""
        progress.answer_with(self.answer)
        set_while_waiting(self.answer)


class RemotePauser:
    """Pauser of a served process, which waits for its clients.

    Args:
        served: the service of the process.
    """

    def __init__(self, served: RequestService) -> None:
        self._served = served

    def unavailable(self) -> str | None:
        if (forked := in_a_forked_process()) is not None:
            return forked
        return None if self._served.clients else "no client is connected to this process"

    def wait(self, until: Callable[[], bool]) -> None:
        served = self._served
        served.tell({"type": "paused"})
        try:
            served.wait(lambda: until() or not served.clients)
        finally:
            served.tell({"type": "resumed"})


def _line(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # an error of the user's whose text raises
        text = ""
    return f"{type(error).__name__}: {text}"[:_LONGEST_ERROR]


def _say(line: str) -> None:
    tell(f"hookscope: {line}")
