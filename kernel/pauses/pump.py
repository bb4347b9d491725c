"""Pause pump, which keeps the widgets of a paused cell alive.

A kernel runs cells in its main thread. While a cell waits there, nothing else is handled and no widget responds. The
design:

1. Only the shell-channel thread uses the shell socket. It puts comm messages and queries into an inbox. Every other
   request, above all `execute_request`, is passed to the main thread by ipykernel and so waits behind the running
   cell.
2. While the main thread is idle, one wake-up frame in its ordinary queue makes it empty the inbox. The frame takes the
   position of the messages, so their order relative to `execute_request`s is kept. There is one frame for each run of
   messages, since the queue to the main thread is bounded and a blocked sender would stop the kernel.
3. While any thread is paused, that thread empties the inbox.
4. At a safe point between two steps of work, the working thread handles the messages of the debugger's own panels, as a
   pause that ends as soon as there are none. It may work for a running cell or for a callback. Other messages wait as
   usual, since user callbacks are not written to run in the middle of other code.

So there is no nested event loop, no re-entrance, and no socket used by a paused thread: replies go back through the
shell-channel thread. Front ends need no support for subshells.
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

from .. import ipykernel_adapter as adapter
from ..ipykernel_adapter import Frames
from .inbox import Inbox
from .message_filter import COMMS, QUERIES, is_answered_in_a_pause, is_panels

ANSWER_SECONDS = 0.05
"""Maximum seconds that a running cell handles messages, and minimum seconds before it handles more."""

POLL_SECONDS = 0.1
"""Maximum seconds that a paused thread sleeps: `until` may become true, or a signal arrive, without a message."""

HAND_OVER_SECONDS = 1.0
"""Maximum seconds that a new pause lets a callback in another thread complete, so that comms keep their order.

The time is limited because that callback may be waiting for the paused thread.
"""

_WAKE_UP = b"hookscope-pump "


class KernelEnding(BaseException):
    """Raised in a paused cell, to unwind it, when the kernel restarts or shuts down."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback."""
        return [str(self)]


class _Replies:
    """Replacement of the shell socket for one request: its reply is sent by the thread that owns the socket."""

    def __init__(self, kernel: Any, hold_interrupts: Callable[[], None]) -> None:
        self._kernel = kernel
        self._hold_interrupts = hold_interrupts
        self.sent = False

    def send_multipart(self, parts: list[Any], flags: int = 0, copy: bool = True, track: bool = False) -> None:
        self._hold_interrupts()  # the handler is done; avoid half a reply
        self.sent = True
        adapter.send_reply(self._kernel, parts)


class Pump:
    """The inbox of one kernel, and all consumers of it.

    `kernel` is the HookscopeKernel; it is Any here because ipykernel's methods have no types.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.inbox = Inbox()
        self._pauses: list[object] = []  # innermost last, which empties the inbox
        self._running: set[int] = set()  # threads that run a callback and are not paused in it
        self._here = threading.local()  # .depth: the number of pauses that this thread is in
        self._lock = threading.Lock()
        self._active: dict[object, dict[str, Any]] = {}  # the requests being processed in all threads, oldest first
        self._interrupts = 0  # the number of interrupts: a pause ends when it increases
        self._interrupt_noted = (
            False  # an interrupt reached code in the event loop, which is cancelled only when it awaits
        )
        self._main_is_waiting = False  # main runs no user code now, so an interrupt must not raise there
        self._ending = False
        self._main_was_refused = False  # the idle main thread has found another thread at the inbox
        self._next_answer = 0.0
        self._pausing = 0  # number of pauses by the user, without those that only handle messages
        self._queue: deque[dict[str, Any]] = deque()  # execute requests that have not begun
        self._waiting: deque[dict[str, Any]] = deque()  # those of them that a pause is not notified of yet

    # Shell-channel thread

    def accept(self, message: Frames) -> bool:
        """Return whether the message was put into the inbox; if not, ipykernel handles it."""
        kernel = self._kernel
        try:
            peeked = adapter.peek(kernel, message)
            kind, subshell = peeked["header"]["msg_type"], peeked["header"].get("subshell_id")
            urgent = kind in COMMS and is_panels(adapter.packed_content(kernel, peeked)["comm_id"])
        except Exception:  # ipykernel reports any invalid message from outside
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
        """Return the execute requests that wait to begin, oldest first."""
        return list(self._queue)

    def begins(self, request: dict[str, Any]) -> None:
        """Record the begin of a cell; earlier requests that never began were dropped, as after an error."""
        identifier = request["header"]["msg_id"]
        if any(waiting["header"]["msg_id"] == identifier for waiting in self.queued()):
            while self._queue.popleft()["header"]["msg_id"] != identifier:
                pass

    def _holds_up_cells(self) -> bool:
        """Return whether a cell runs and is paused, so that the next one waits."""
        with self._lock:
            running = any(request["header"]["msg_type"] == "execute_request" for request in self._active.values())
            return running and self._pausing > 0

    def _send_wake_up(self, run: int) -> None:
        adapter.send_to_main_thread(self._kernel, _WAKE_UP + str(run).encode())

    # Main thread, while no cell blocks it

    @staticmethod
    def wake_up_run(message: Frames) -> int | None:
        """Return the run that a wake-up frame announces; None for any other message."""
        if len(message) != 1:
            return None
        frame = bytes(message[0].buffer)
        return int(frame.removeprefix(_WAKE_UP)) if frame.startswith(_WAKE_UP) else None

    def drain(self, run: int) -> None:
        """Handle messages up to the end of `run`, unless another thread is paused, which then handles them."""
        self.inbox.answered(run)
        # Not ipykernel's pre_handler_hook, in which an async cell that awaits has saved its handler.
        handler = signal.signal(signal.SIGINT, self.on_interrupt)
        waiting, self._main_is_waiting, count = self._main_is_waiting, True, self._interrupts
        try:
            while (message := self._take(None, run)) is not None:
                self._handle(message)
                count = self._pass_on_interrupt(handler, count)
        except KeyboardInterrupt:  # a callback was interrupted; the kernel continues
            self._kernel.log.error("KeyboardInterrupt caught in kernel.")
            self._wake_main()
        finally:
            self._main_is_waiting = waiting
            signal.signal(signal.SIGINT, handler)

    def _pass_on_interrupt(self, handler: Any, seen: int) -> int:
        """Pass an interrupt that arrived while comms were handled to an async cell that awaits."""
        if self._interrupts != seen and callable(handler):
            handler(signal.SIGINT, None)
        return self._interrupts

    def _wake_main(self) -> None:
        """Announce the remaining messages of the inbox, from any thread."""
        run = self.inbox.last_run()
        if run is not None:
            adapter.call_in_shell_channel_thread(self._kernel, self._send_wake_up, run)

    # Any thread

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
        """Block this thread until `until()` is true, and handle comms and queries meanwhile.

        `meanwhile` is called several times a second, and `waits` with each execute request that arrives, so that the
        waiting cell can show a notice of the pause.

        Return False if `timeout` seconds passed first. Raise KeyboardInterrupt if the user interrupts, KernelEnding if
        the kernel restarts or shuts down.
        """
        _flush_output()
        interrupts, begin = self._interrupts, monotonic()
        in_main = threading.current_thread() is threading.main_thread()
        deadline = None if timeout is None else begin + timeout
        with self._paused() as token:
            while not until():
                if self._ending:
                    raise KernelEnding("The kernel was shut down while this cell was paused.")
                if self._interrupts != interrupts or (in_main and self._interrupt_noted):
                    self._interrupt_noted &= not in_main
                    raise _interruption()
                self._attend(meanwhile, waits)
                remaining = POLL_SECONDS if deadline is None else deadline - monotonic()
                if remaining <= 0:
                    return False
                message = self._take(token, overtaking=monotonic() - begin > HAND_OVER_SECONDS)
                if message is None:
                    self.inbox.wait(min(remaining, POLL_SECONDS))
                else:
                    self._handle_paused(message)
            return True

    def _attend(self, meanwhile: Callable[[], None], waits: Callable[[dict[str, Any]], None]) -> None:
        try:
            while self._waiting:
                waits(self._waiting.popleft())
            meanwhile()
        except Exception:  # a fault in the display of the pause must not end it
            self._kernel.log.error("Exception while a cell is paused:", exc_info=True)

    def answer(self) -> None:
        """Handle the panels' messages, then let the running cell continue; soon after a previous call, do nothing.

        Raise KeyboardInterrupt if the user interrupts meanwhile.
        """
        if monotonic() < self._next_answer:
            return
        _flush_output()
        interrupts, end = self._interrupts, monotonic() + ANSWER_SECONDS
        with self._paused(answering=True) as token:
            while (message := self._take(token, overtaking=False, urgent=True)) is not None:
                self._handle_paused(message)
                if self._interrupts != interrupts or monotonic() >= end:
                    break
            self._next_answer = monotonic() + ANSWER_SECONDS
        if self._interrupts != interrupts and threading.current_thread() is threading.main_thread():
            raise _interruption()  # it arrived while interrupts did not raise

    def _take(
        self, pause: object, run: int | None = None, overtaking: bool = True, urgent: bool = False
    ) -> Frames | None:
        """Return the next message, if it is for this pause, or for the idle main thread if `pause` is None."""
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
        token = object()
        in_main = threading.current_thread() is threading.main_thread()
        # An async cell runs under another handler, which could not end a pause.
        handler = signal.signal(signal.SIGINT, self.on_interrupt) if in_main else None
        waiting = self._main_is_waiting
        if in_main:  # not changed by another thread
            self._main_is_waiting = True
        self._here.depth = getattr(self._here, "depth", 0) + 1
        here = threading.get_ident()
        with self._lock:
            in_callback = here in self._running
            self._running.discard(here)
            self._pauses.append(token)
            self._pausing += not answering
        try:
            yield token
        finally:
            with self._lock:
                self._pauses.remove(token)
                self._pausing -= not answering
                if in_callback:
                    self._running.add(here)
            self._here.depth -= 1
            self.inbox.wake()  # an outer pause takes over
            # Or the main thread does, which may have ignored its wake-up meanwhile. It gets only the necessary ones,
            # since messages are handled often and its queue is bounded.
            if self._main_was_refused or not answering:
                self._main_was_refused = False
                self._wake_main()
            if in_main:  # last, since from here on an interrupt may raise
                signal.signal(signal.SIGINT, handler)
                self._main_is_waiting = waiting

    def wake(self) -> None:
        """Make every paused thread check its `until()` now instead of at its next poll."""
        self.inbox.wake()

    @contextmanager
    def working(self, request: dict[str, Any]) -> Iterator[None]:
        """Register a request while it is processed, so that "busy" is correct and a shutdown waits for it."""
        token = object()
        with self._lock:
            self._active[token] = request
        try:
            yield
        finally:
            with self._lock:
                del self._active[token]

    def _say_busy(self) -> None:
        """Publish "busy" again after an "idle": front ends use the last status, and a cell may still be running."""
        with self._lock:  # so that it cannot follow that cell's own "idle"
            for request in self._active.values():
                adapter.publish_status(self._kernel, "busy", request)
                return

    def _handle(self, message: Frames) -> None:
        """Process one message as its own request, then restore the state of the paused cell."""
        try:
            self._process(message)
        finally:
            with self._lock:
                self._running.discard(threading.get_ident())
            if self._pauses:  # possibly a new pause, which lets this message complete first
                self.inbox.wake()

    def _process(self, message: Frames) -> None:
        kernel = self._kernel
        try:
            idents, request = adapter.unpack(kernel, message)
        except Exception:  # a repeated or forged message: log it as ipykernel does, and continue
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
            if kind in QUERIES and not replies.sent:  # interrupted or failed: a front end would wait forever
                content = {"status": "error", "ename": "Interrupted", "evalue": f"{kind} was not answered"}
                reply = kind.removesuffix("request") + "reply"
                kernel.session.send(replies, reply, {**content, "traceback": []}, request, ident=idents)
            _flush_output()

    # Interrupt and end

    def hold_interrupts(self) -> None:
        """Make interrupts raise nothing in the main thread until user code runs in it again."""
        if threading.current_thread() is threading.main_thread():
            self._main_is_waiting = True

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Make interrupts raise KeyboardInterrupt inside the context, which runs user code, and nowhere outside.

        Only user code is interrupted, since an interrupt within the kernel's own code would lose a reply.
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
        finally:  # again, since an interrupt may have arrived just before the line above
            self._main_is_waiting = waiting

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Handle SIGINT while a request is processed. A waiting pause raises by itself, at a safe point."""
        self._interrupts += 1
        if not self._main_is_waiting:
            signal.default_int_handler(signum, frame)

    def on_idle_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Handle SIGINT while the main thread is idle, for paused worker threads and a task that is about to pause."""
        self._interrupts += 1
        self.note_interrupt()

    def note_interrupt(self) -> None:
        """Record SIGINT in the event loop, where it raises nothing, to end a pause that begins before the next step.

        ipykernel cancels an async cell a little later; the record is valid until then.
        """
        self._interrupt_noted = True
        adapter.call_after_cancellation(self._kernel, self._forget_interrupt)

    def _forget_interrupt(self) -> None:
        self._interrupt_noted = False

    async def end(self, patience_seconds: float) -> None:
        """End every present and future pause, and give the paused cells time to unwind."""
        self._ending = True
        self.wake()
        deadline = monotonic() + patience_seconds
        while self._active and monotonic() < deadline:
            await asyncio.sleep(0.01)


def _interruption(interrupt: KeyboardInterrupt | None = None) -> BaseException:
    """Return the exception of an interrupted pause: `interrupt`, if a callback was interrupted in it.

    A KeyboardInterrupt that leaves a user's task would end the kernel's event loop, and the kernel with it; such a task
    is cancelled instead.
    """
    if adapter.runs_in_task_of_user():
        return asyncio.CancelledError("interrupted while paused")
    return interrupt or KeyboardInterrupt()  # IPython catches it


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(Exception):  # a closed or broken stream must not end the user's run
                stream.flush()
