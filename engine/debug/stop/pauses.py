"""Pauses: the run blocks until a command resumes or ends it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from hookscope.engine.tape import taps

from ...base.module_names import is_of_the_engine
from ..faults import let_pass
from ..record.capture import cell_name
from .breakpoints.breakpoint import Breakpoint
from .breakpoints.line_check import check_line
from .failure import without_traceback
from .pause import DebugAbort, PausePoint, Pauser, check_command, default_pauser
from .terminal import TerminalPauser
from .undo import Undo, changes_since

if TYPE_CHECKING:
    from ..events import Events
    from ..session import DebugSession
    from ..watch.attachment import Attachment
    from ..watch.hooks import SessionHooks
    from .breakpoints.line_stops import LineStops
    from .display import PauseDisplay
    from .failure import Failure

__all__ = ["Pauses", "check_not_evaluating", "evaluating", "is_evaluating"]

# Limit of skipped pauses that are kept: each holds the variables of a function.
_MAX_SKIPPED = 100


class _PerThread(threading.local):
    evaluating = False


_local = _PerThread()


@contextmanager
def evaluating() -> Iterator[None]:
    """Mark the block as the evaluation of an expression at a pause, in which this thread cannot pause."""
    previous, _local.evaluating = _local.evaluating, True
    try:
        yield
    finally:
        _local.evaluating = previous


def is_evaluating() -> bool:
    """Return whether an expression is evaluated at a pause in this thread."""
    return _local.evaluating


def check_not_evaluating() -> None:
    """Check that no expression is evaluated at a pause in this thread.

    Raises:
        RuntimeError: an expression is evaluated.
    """
    if _local.evaluating:
        raise RuntimeError("an expression that is evaluated at a pause cannot pause")


class Pauses:
    """The pauses of a session.

    Args:
        events: notified of pauses.
        display: the displayed point.
        attachment: the attachment of the session.
        hooks: the session's hooks, which an abort restores.
        line_stops: the breakpoints at lines.
        owner: the session, weakly, whose pauser waits.

    Attributes:
        skipped: the pauses for which no pauser was available.
        shown_error: the newest exception that a pause was about, until it has left the network.
        aborting: True after ``abort`` until the run reaches its next cell.
        faults: reports exceptions of the debugger at a pause.
    """

    def __init__(
        self,
        events: Events,
        display: PauseDisplay,
        attachment: Attachment,
        hooks: SessionHooks,
        line_stops: LineStops,
        owner: weakref.ref[DebugSession],
    ) -> None:
        self.skipped: list[PausePoint] = []
        self.shown_error: BaseException | None = None
        self.aborting = False
        self.faults = events.faults
        self._events = events
        self._display = display
        self._attachment = attachment
        self._hooks = hooks
        self.line_stops = line_stops
        self._owner = owner
        self._undo: list[Undo] = []  # undo functions of the changes at this step's pauses
        self._command: str | None = None
        self._one_pause = threading.RLock()

    @property
    def is_paused(self) -> bool:
        """True while the run is paused."""
        return self._display.paused is not None

    # Requests of the user

    def resume(self, command: str) -> None:
        """Resume the run; see ``DebugSession.resume``."""
        check_command(command)
        self._display.paused_point()
        self._command = command

    def run_to_line(self, line: int, filename: str | None) -> None:
        """Resume the run up to a line; see ``DebugSession.run_to_line``."""
        point = self._display.shown_point()
        self._display.paused_point()
        stop = Breakpoint("", f"{filename or point.filename}:{line}", is_temporary=True)
        check_line(stop)
        self.line_stops.temporary = stop
        self._command = "continue"

    def abort(self) -> None:
        """Abort the run; see ``DebugSession.abort``."""
        if self.is_paused:
            self.resume("abort")
        elif self._attachment.attached:
            self.aborting = True
        else:
            raise RuntimeError(f"{self._events.name} watches nothing now, so there is nothing to abort")

    def post_mortem(self, failure: Failure | None) -> PausePoint:
        """Display a failure; see ``DebugSession.post_mortem``."""
        if self.is_paused:
            raise RuntimeError("the run is paused: its failure can be displayed when it has ended")
        if failure is None:
            raise RuntimeError(f"{self._events.name} has no failure: the newest run has not ended with an error")
        point = failure.point()
        self._display.show_failure(point)
        pauser = self._pauser()
        if isinstance(pauser, TerminalPauser) and pauser.unavailable() is None:
            pauser.look_at_failure(point)
        return point

    def end_by_abort(self) -> NoReturn:
        """End the run after ``abort``, in the thread of the run."""
        self._undo_changes()
        raise DebugAbort("aborted from the debugger")

    def undo_later(self, undo: Undo) -> None:
        """Register the undo function of a change at a pause, for an abort of the step."""
        self._undo.append(undo)

    def run_began(self) -> None:
        """Begin a run: earlier changes are not undone any more."""
        self._undo.clear()
        self.shown_error = None

    def _undo_changes(self) -> None:
        self.aborting = False
        while self._undo:
            self._undo.pop()()

    # Requests of the run

    def _pauser(self) -> Pauser:
        session = self._owner()
        assert session is not None, "a run is paused by a tap or a call of its session"
        return session.pauser or (default_pauser() or TerminalPauser)(session)

    @property
    def unavailable(self) -> str | None:
        """The reason why no pauser is available, in one clause; None if one is."""
        return self._pauser().unavailable()

    def can_stop(self) -> bool:
        """Return whether a pause has an effect now: a pauser is available, or a skipped pause can still be kept."""
        return self._attachment.attached and (len(self.skipped) < _MAX_SKIPPED or self.unavailable is None)

    def pause_or_abort(self, point: PausePoint) -> str:
        """Pause where no stepper runs; return the command.

        Raises:
            DebugAbort: the command was "abort".
        """
        command = self.pause_at(point)
        if command == "abort":
            raise DebugAbort("aborted from the debugger")
        return command

    def pause_at(self, point: PausePoint) -> str:
        """Pause; return the command that ended the pause, "continue" if no pauser was available."""
        if point.exception is not None:
            self.shown_error = point.exception
        if self.aborting:
            self._undo_changes()
            return "abort"
        pauser = self._pauser()
        unavailable = pauser.unavailable()
        if unavailable is not None:
            self._skip(point, unavailable)
            return "continue"
        with self._one_pause:
            if self.is_paused or not (self._attachment.attached or point.kind == "pause"):
                return "continue"  # requested while this thread is paused already, or after the session ended
            return self._wait(point, pauser)

    def _skip(self, point: PausePoint, unavailable: str) -> None:
        if len(self.skipped) < _MAX_SKIPPED:
            # They hold running functions, and with them everything that these hold.
            point.assign = point.variables = None
            point.frames = ()
            if point.exception is not None:
                point.exception = without_traceback(point.exception)
                point.own_names = {}
                point.names = {**point.names, "error": point.exception}
            self.skipped.append(point)
        self._events.say(
            f"not paused at {point.place} ({point.reason}): {unavailable}; kept in skipped_pauses", once="skipped"
        )

    def _wait(self, point: PausePoint, pauser: Pauser) -> str:
        self._command = None
        self.line_stops.temporary = None
        point.recordings = taps.outer_recordings()
        point.recomputed = "" if point.kind == "bprop" else self._recomputed_cell()
        undo_since = changes_since(self._attachment.visits.paths.roots, self._hooks)
        try:
            try:
                self._display.set_point(point)
                self._events.notify("paused")  # panels are drawn meanwhile, and the user may interrupt the kernel
                self._ask(pauser)
            finally:
                command, self._command = self._command, None
                self._display.set_point(None)
        finally:
            point.frames = ()  # running functions
            self._display.set_point(None)  # again: an interrupt may have come just before the line above
            self._undo += undo_since()
            self._events.notify("resumed" if self._attachment.attached or point.kind == "pause" else "finished")
        if command == "abort":
            self._undo_changes()
        return command or "continue"

    def _recomputed_cell(self) -> str:
        running = self._attachment.visits.all_running()
        return next((cell_name(visit.path) for visit in running if visit.cell._recompute is not None), "")

    def _ask(self, pauser: Pauser) -> None:
        """Wait for a command. A pauser of the user's own may end the run by raising any exception."""
        try:
            pauser.wait(lambda: self._command is not None)
        except Exception as error:
            if not is_of_the_engine(type(pauser)):
                let_pass(error)
            raise
