"""The pause pump: how a paused cell keeps its widgets alive.

A kernel runs cells in its main thread. While a cell waits there, nothing else is handled and no widget
moves. The idea, whole:

1. The shell-channel thread, which alone owns the shell socket, puts comm messages and queries into an
   inbox. Every other request, `execute_request` above all, takes ipykernel's own way to the main thread
   and so waits behind the running cell.
2. While the main thread is free, one wake-up frame in its ordinary queue makes it empty the inbox. The frame
   stands where the messages would have stood, so their order beside `execute_request`s is kept. There is
   one frame for each run of messages: the queue to the main thread is bounded, and a sender that blocks
   on it would stop the whole kernel.
3. While a thread is paused, that thread empties the inbox, whichever thread it is.
4. Between two steps of work, at a safe point, the thread that works takes the messages of the debugger's own panels:
   a pause that ends as soon as there is none. It may work for a running cell or for a callback. The messages of others
   wait as ever, since no one who wrote a callback expects it in the middle of other code.

So there is no nested event loop, nothing re-entered, and no socket used by a paused thread: replies go back
through the shell-channel thread. It does not matter whether the front end knows subshells.
"""

from __future__ import annotations

import asyncio
import contextvars
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType
from typing import Any

from . import ipykernel_adapter as adapter
from .answering import COMMS, QUERIES, is_answered_in_a_pause
from .inbox import Inbox
from .ipykernel_adapter import Frames

ANSWER_SECONDS = 0.05
"""How long a running cell answers at most before it goes on, and then goes on before it answers again."""

POLL_SECONDS = 0.1
"""How long a paused thread sleeps at most: `until` may become true, or a signal arrive, without a message."""

HAND_OVER_SECONDS = 1.0
"""How long a pause that begins lets a callback in another thread come to its end, so that comms keep their order.

No longer, since that callback may be waiting for just the thread that has paused.
"""

_WAKE_UP = b"hookscope-pump "


class KernelEnding(BaseException):
    """Unwinds a paused cell when the kernel is told to restart or shut down."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of a traceback."""
        return [str(self)]


class _Replies:
    """Stands in for the shell socket for one request: its reply leaves through the thread that owns the socket."""

    def __init__(self, kernel: Any, hold_interrupts: Callable[[], None]) -> None:
        self._kernel = kernel
        self._hold_interrupts = hold_interrupts
        self.sent = False

    def send_multipart(self, parts: list[Any], flags: int = 0, copy: bool = True, track: bool = False) -> None:
        self._hold_interrupts()  # the handler's work is done, and half a reply is of no use
        self.sent = True
        adapter.send_reply(self._kernel, parts)


class Pump:
    """The inbox of one kernel, and every way it is emptied.

    `kernel` is the HookscopeKernel; it is Any here because ipykernel's methods have no types. `is_urgent` tells of the
    id of a comm whether a running cell may answer its messages.
    """

    def __init__(self, kernel: Any, is_urgent: Callable[[str], bool] = lambda comm_id: False) -> None:
        self._kernel = kernel
        self._is_urgent = is_urgent
        self.inbox = Inbox()
        self._pauses: list[object] = []  # innermost last: that one empties the inbox
        self._running: set[int] = set()  # the threads that run a callback and are not paused in it
        self._here = threading.local()  # .depth: how many pauses this thread is in
        self._lock = threading.Lock()
        self._active: dict[object, dict[str, Any]] = {}  # the requests being processed in all threads, oldest first
        self._interrupts = 0  # how many there were: a pause ends when it sees another one
        self._noted = False  # one came to code that runs in the event loop, which can hear of it only when it awaits
        self._main_is_waiting = False  # main runs no code of the user just now: no place for an interrupt to raise in
        self._ending = False
        self._main_was_refused = False  # the free main thread has found another one at the inbox
        self._next_answer = 0.0
        self._pausing = 0  # how many of the pauses are the user's, and no answers
        self._queue: deque[dict[str, Any]] = deque()  # the requests to run a cell that have not begun
        self._waiting: deque[dict[str, Any]] = deque()  # those of them that came during a pause, until it hears of them

    # In the shell-channel thread

    def accept(self, message: Frames) -> bool:
        """Whether the message now lies in the inbox; if not, it takes ipykernel's own way."""
        kernel = self._kernel
        try:
            peeked = adapter.peek(kernel, message)
            kind, subshell = peeked["header"]["msg_type"], peeked["header"].get("subshell_id")
            urgent = kind in COMMS and self._is_urgent(adapter.packed_content(kernel, peeked)["comm_id"])
        except Exception:  # whatever is wrong with a message from outside, ipykernel reports it
            return False
        if is_answered_in_a_pause(kind, subshell):
            run = self.inbox.put(message, urgent)
            if run is not None:
                self._send_wake_up(run)
            return True
        if subshell is None:
            self.inbox.end_run()
            if kind == "execute_request":
                self._queue.append({**peeked, "content": adapter.packed_content(kernel, peeked)})
                if self._holds_up_cells():
                    self._waiting.append(self._queue[-1])
                    self.inbox.wake()
        return False

    def queued(self) -> list[dict[str, Any]]:
        """The requests to run a cell that wait to begin, oldest first."""
        return list(self._queue)

    def begins(self, request: dict[str, Any]) -> None:
        """A cell begins; requests before it that never did were dropped, as after an error."""
        begun = request["header"]["msg_id"]
        if any(waiting["header"]["msg_id"] == begun for waiting in self.queued()):
            while self._queue.popleft()["header"]["msg_id"] != begun:
                pass

    def _holds_up_cells(self) -> bool:
        """Whether there is a pause and a cell that runs, so that the next one waits."""
        with self._lock:
            running = any(request["header"]["msg_type"] == "execute_request" for request in self._active.values())
            return running and self._pausing > 0

    def _send_wake_up(self, run: int) -> None:
        adapter.send_to_main_thread(self._kernel, _WAKE_UP + str(run).encode())

    # In the main thread, while no cell blocks it

    @staticmethod
    def wake_up_run(message: Frames) -> int | None:
        """The run that a wake-up frame announces; None for any other message."""
        if len(message) != 1:
            return None
        frame = bytes(message[0].buffer)
        return int(frame.removeprefix(_WAKE_UP)) if frame.startswith(_WAKE_UP) else None

    def drain(self, run: int) -> None:
        """Handle what came before the end of `run`, unless another thread is paused: then that one does."""
        self.inbox.answered(run)
        # Not ipykernel's pre_handler_hook: an async cell that awaits has its handler saved in there.
        handler = signal.signal(signal.SIGINT, self.on_interrupt)
        waiting, self._main_is_waiting, seen = self._main_is_waiting, True, self._interrupts
        try:
            while (message := self._take(None, run)) is not None:
                self._handle(message)
                seen = self._pass_on_interrupt(handler, seen)
        except KeyboardInterrupt:  # a callback was interrupted; the kernel goes on
            self._kernel.log.error("KeyboardInterrupt caught in kernel.")
            self._wake_main()
        finally:
            self._main_is_waiting = waiting
            signal.signal(signal.SIGINT, handler)

    def _pass_on_interrupt(self, handler: Any, seen: int) -> int:
        """Tell an async cell that awaits of an interrupt that came while its comms were handled."""
        if self._interrupts != seen and callable(handler):
            handler(signal.SIGINT, None)
        return self._interrupts

    def _wake_main(self) -> None:
        """Announce what is still in the inbox, from any thread."""
        run = self.inbox.last_run()
        if run is not None:
            adapter.call_in_shell_channel_thread(self._kernel, self._send_wake_up, run)

    # In any thread

    @property
    def paused_here(self) -> bool:
        """Whether the calling thread is inside a pause."""
        return getattr(self._here, "depth", 0) > 0

    def pause(
        self,
        until: Callable[[], bool],
        timeout: float | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        waits: Callable[[dict[str, Any]], None] = lambda request: None,
    ) -> bool:
        """Block this thread until `until()` is true, with comms and queries answered meanwhile.

        `meanwhile` is called some times a second, and `waits` with each request to run a cell that comes: as long as
        nobody knows of the pause, that is where one would look.

        False when `timeout` seconds passed first. KeyboardInterrupt when the user interrupts,
        KernelEnding when the kernel restarts or shuts down.
        """
        _flush_output()
        seen, begin = self._interrupts, monotonic()
        in_main = threading.current_thread() is threading.main_thread()
        deadline = None if timeout is None else begin + timeout
        with self._paused() as this:
            while not until():
                if self._ending:
                    raise KernelEnding("The kernel was told to stop while this cell was paused.")
                if self._interrupts != seen or (in_main and self._noted):
                    self._noted &= not in_main
                    raise _interruption()
                self._attend(meanwhile, waits)
                left = POLL_SECONDS if deadline is None else deadline - monotonic()
                if left <= 0:
                    return False
                message = self._take(this, overtaking=monotonic() - begin > HAND_OVER_SECONDS)
                if message is None:
                    self.inbox.wait(min(left, POLL_SECONDS))
                else:
                    self._handle_paused(message)
            return True

    def _attend(self, meanwhile: Callable[[], None], waits: Callable[[dict[str, Any]], None]) -> None:
        try:
            while self._waiting:
                waits(self._waiting.popleft())
            meanwhile()
        except Exception:  # a fault in what is shown of the pause must not end it
            self._kernel.log.error("Exception while a cell is paused:", exc_info=True)

    def answer(self) -> None:
        """Handle what the panels sent, then let the running cell go on; soon after another answer, do nothing.

        KeyboardInterrupt when the user interrupts meanwhile.
        """
        if monotonic() < self._next_answer:
            return
        _flush_output()
        seen, end = self._interrupts, monotonic() + ANSWER_SECONDS
        with self._paused(answering=True) as this:
            while (message := self._take(this, overtaking=False, urgent=True)) is not None:
                self._handle_paused(message)
                if self._interrupts != seen or monotonic() >= end:
                    break
            self._next_answer = monotonic() + ANSWER_SECONDS
        if self._interrupts != seen and threading.current_thread() is threading.main_thread():
            raise _interruption()  # it came where an interrupt raises nothing

    def _take(
        self, pause: object, run: int | None = None, overtaking: bool = True, urgent: bool = False
    ) -> Frames | None:
        """The next message, if it is for this pause, or for the free main thread with None."""
        here = threading.get_ident()
        with self._lock:
            if pause is not (self._pauses[-1] if self._pauses else None):
                self._main_was_refused |= pause is None
                return None
            if not overtaking and self._running - {here}:
                return None
            message = self.inbox.take_urgent() if urgent else self.inbox.take(run)
            if message is not None:
                self._running.add(here)
            return message

    def _handle_paused(self, message: Frames) -> None:
        try:
            self._handle(message)
        except KeyboardInterrupt as interrupt:  # the callback was interrupted, so the pause is too
            raise _interruption(interrupt) from None

    @contextmanager
    def _paused(self, answering: bool = False) -> Iterator[object]:
        this = object()
        in_main = threading.current_thread() is threading.main_thread()
        # An async cell runs under another handler, one that could not end a pause.
        handler = signal.signal(signal.SIGINT, self.on_interrupt) if in_main else None
        waiting = self._main_is_waiting
        if in_main:  # another thread has no say in it
            self._main_is_waiting = True
        self._here.depth = getattr(self._here, "depth", 0) + 1
        here = threading.get_ident()
        with self._lock:
            in_callback = here in self._running
            self._running.discard(here)
            self._pauses.append(this)
            self._pausing += not answering
        try:
            yield this
        finally:
            with self._lock:
                self._pauses.remove(this)
                self._pausing -= not answering
                if in_callback:
                    self._running.add(here)
            self._here.depth -= 1
            self.inbox.wake()  # a pause further out takes over
            # Or the main thread does, which may have ignored its wake-up meanwhile. It gets no more of them than it
            # needs: answers are many, and its queue is bounded.
            if self._main_was_refused or not answering:
                self._main_was_refused = False
                self._wake_main()
            if in_main:  # last, since from here on an interrupt may raise
                signal.signal(signal.SIGINT, handler)
                self._main_is_waiting = waiting

    def wake(self) -> None:
        """Make every paused thread look at its `until()` again, now rather than at the next poll."""
        self.inbox.wake()

    @contextmanager
    def working(self, request: dict[str, Any]) -> Iterator[None]:
        """Around every request being processed, so that "busy" is told rightly and an end waits for it."""
        this = object()
        with self._lock:
            self._active[this] = request
        try:
            yield
        finally:
            with self._lock:
                del self._active[this]

    def _say_busy(self) -> None:
        """After an "idle": front ends believe the last status they saw, and perhaps a cell is still running."""
        with self._lock:  # so that it cannot come after that cell's own "idle"
            for request in self._active.values():
                adapter.publish_status(self._kernel, "busy", request)
                return

    def _handle(self, message: Frames) -> None:
        """Process one message as its own request, then put everything back for the cell that is paused."""
        try:
            self._process(message)
        finally:
            with self._lock:
                self._running.discard(threading.get_ident())
            if self._pauses:  # perhaps one that has just begun and lets this message go first
                self.inbox.wake()

    def _process(self, message: Frames) -> None:
        kernel = self._kernel
        try:
            idents, request = adapter.unpack(kernel, message)
        except Exception:  # a repeated or forged message: say so as ipykernel does, and go on
            kernel.log.error("Invalid Message", exc_info=True)
            return
        parent_idents, parent = adapter.current_request(kernel)
        try:
            with self.working(request):
                contextvars.copy_context().run(self._answer, idents, request)
        finally:
            adapter.publish_status(kernel, "idle", request)
            adapter.set_current_request(kernel, parent_idents, parent)
            self._say_busy()

    def _answer(self, idents: list[bytes], request: dict[str, Any]) -> None:
        kernel = self._kernel
        adapter.set_current_request(kernel, idents, request)
        adapter.publish_status(kernel, "busy", request)
        kind = request["header"]["msg_type"]
        replies = _Replies(kernel, self.hold_interrupts)
        try:
            with self.interruptible():  # a callback may hang
                if not adapter.handle_request(kernel, replies, idents, request):
                    kernel.log.error("The handler of %s waits for something else; it was dropped.", kind)
        except Exception:  # the user's callback may raise anything; the pause must outlive it
            kernel.log.error("Exception in message handler:", exc_info=True)
        finally:
            if kind in QUERIES and not replies.sent:  # interrupted or failed: a front end would wait for ever
                content = {"status": "error", "ename": "Interrupted", "evalue": f"{kind} was not answered"}
                reply = kind.removesuffix("request") + "reply"
                kernel.session.send(replies, reply, {**content, "traceback": []}, request, ident=idents)
            _flush_output()

    # Interrupt and end

    def hold_interrupts(self) -> None:
        """From here on an interrupt raises nothing in the main thread, until user code runs in it again."""
        if threading.current_thread() is threading.main_thread():
            self._main_is_waiting = True

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Around user code: an interrupt raises KeyboardInterrupt there, and nowhere outside.

        Only what the user wrote is interrupted, since between the kernel's own lines a reply would be lost.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        waiting = self._main_is_waiting
        try:
            try:
                self._main_is_waiting = False
                yield
            finally:
                self._main_is_waiting = waiting
        finally:  # again: an interrupt may have come just before the line above
            self._main_is_waiting = waiting

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """SIGINT while a request is processed. A waiting pause raises by itself, where it is safe to."""
        self._interrupts += 1
        if not self._main_is_waiting:
            signal.default_int_handler(signum, frame)

    def on_idle_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """SIGINT while the main thread is free: only paused worker threads care, and a task that is about to pause."""
        self._interrupts += 1
        self.note_interrupt()

    def note_interrupt(self) -> None:
        """SIGINT in the event loop, where it raises nothing: a pause that begins before the loop goes on ends at once.

        ipykernel cancels an async cell a little later; what is noted here is good until then.
        """
        self._noted = True
        adapter.call_after_cancellation(self._kernel, self._forget_interrupt)

    def _forget_interrupt(self) -> None:
        self._noted = False

    async def end(self, patience_seconds: float) -> None:
        """End every pause, now and from now on, and give the paused cells time to unwind."""
        self._ending = True
        self.wake()
        deadline = monotonic() + patience_seconds
        while self._active and monotonic() < deadline:
            await asyncio.sleep(0.01)


def _interruption(interrupt: KeyboardInterrupt | None = None) -> BaseException:
    """What an interrupted pause raises: `interrupt`, if a callback was interrupted in it.

    A KeyboardInterrupt that leaves a task which the user started would end the kernel's event loop, and
    the kernel with it; such a task is cancelled instead.
    """
    if adapter.runs_in_task_of_user():
        return asyncio.CancelledError("interrupted while paused")
    return interrupt or KeyboardInterrupt()  # IPython catches it


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(Exception):  # a stream that is closed, or whose reader has gone, must not end what runs
                stream.flush()
