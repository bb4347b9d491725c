"""Pauses: the run stands still until whoever is asked lets it go on, or ends it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from hookscope.engine.tape import taps

from ...base.module_names import is_of_the_engine
from ..faults import let_pass
from .pause import DebugAbort, PausePoint, Pauser, check_command
from .points import point_at_stop
from .stepping.stepper import Stop

if TYPE_CHECKING:
    from types import FrameType

    from ..events import Events
    from ..watch.watching import Watching
    from .showing import Showing

__all__ = ["Pauses", "evaluating"]

# Pauses kept where nobody could answer: each holds the variables of a function.
_MAX_SKIPPED = 100

Undo = Callable[[], None]


class _PerThread(threading.local):
    evaluating = False


_local = _PerThread()


@contextmanager
def evaluating() -> Iterator[None]:
    """What this thread runs inside the block is an expression of somebody's at a pause: nothing can pause in there."""
    before, _local.evaluating = _local.evaluating, True
    try:
        yield
    finally:
        _local.evaluating = before


class Pauses:
    """The pauses of a session.

    Args:
        events: told of them.
        showing: where the run stands.
        watching: whether the session watches now.
        pauser: gives who answers.
        changes: to be called before a pause; what it returns gives what undoes the changes to the network since then.

    Attributes:
        skipped: the pauses at which nobody could answer.
        aborting: whether ``abort`` was called and the run has not come to its next cell yet.
        faults: reports what raises in the debugger at a pause.
    """

    def __init__(
        self,
        events: Events,
        showing: Showing,
        watching: Watching,
        pauser: Callable[[], Pauser],
        changes: Callable[[], Callable[[], list[Undo]]],
    ) -> None:
        self.skipped: list[PausePoint] = []
        self.aborting = False
        self.faults = events.faults
        self._events = events
        self._showing = showing
        self._watching = watching
        self._pauser = pauser
        self._changes = changes
        self._undo: list[Undo] = []  # what was changed at this step's pauses
        self._command: str | None = None
        self._one_pause = threading.RLock()

    @property
    def standing(self) -> bool:
        """Whether the run stands still now."""
        return self._showing.paused is not None

    # What a person asks for

    def pause(self, frame: FrameType, reason: str) -> None:
        """Pause in a function; see ``DebugSession.pause``."""
        if _local.evaluating:
            raise RuntimeError("an expression that is evaluated at a pause cannot pause")
        with taps.muted():
            point = point_at_stop(Stop(frame, frame.f_lineno), "pause", reason, "", "", {})
            self.pause_or_abort(point)

    def resume(self, command: str) -> None:
        """See ``DebugSession.resume``."""
        check_command(command)
        self._showing.paused_point()
        self._command = command

    def abort(self) -> None:
        """See ``DebugSession.abort``."""
        if self.standing:
            self.resume("abort")
        elif self._watching.attached:
            self.aborting = True
        else:
            raise RuntimeError(f"{self._events.name} watches nothing now, so there is nothing to abort")

    def end_by_abort(self) -> NoReturn:
        """Do what ``abort`` asked for, in the thread that runs."""
        self._undo_changes()
        raise DebugAbort("aborted from the debugger")

    def undo_later(self, undo: Undo) -> None:
        """Something was changed at a pause: this undoes it if the step is aborted."""
        self._undo.append(undo)

    def step_began(self) -> None:
        """What was changed in the step before is no longer undone."""
        self._undo.clear()

    def _undo_changes(self) -> None:
        self.aborting = False
        while self._undo:
            self._undo.pop()()

    # What runs asks for

    @property
    def unavailable(self) -> str | None:
        """Why nobody could answer now, in one clause; None where somebody can."""
        return self._pauser().unavailable()

    def can_stop(self) -> bool:
        """Whether a pause has any effect now: somebody can answer, or there is room to note it."""
        return self._watching.attached and (len(self.skipped) < _MAX_SKIPPED or self.unavailable is None)

    def pause_or_abort(self, point: PausePoint) -> str:
        """Pause where no stepper runs; returns the command.

        Raises:
            DebugAbort: the command was "abort".
        """
        command = self.pause_at(point)
        if command == "abort":
            raise DebugAbort("aborted from the debugger")
        return command

    def pause_at(self, point: PausePoint) -> str:
        """Pause; returns the command that ended it, "continue" if nobody could answer."""
        if self.aborting:
            self._undo_changes()
            return "abort"
        pauser = self._pauser()
        unavailable = pauser.unavailable()
        if unavailable is not None:
            self._skip(point, unavailable)
            return "continue"
        with self._one_pause:
            if self.standing or not (self._watching.attached or point.kind == "pause"):
                return "continue"  # asked for while this thread is paused already, or after the session ended
            return self._wait(point, pauser)

    def _skip(self, point: PausePoint, unavailable: str) -> None:
        if len(self.skipped) < _MAX_SKIPPED:
            # They hold the functions that run, and with them all that these hold.
            point.assign = point.variables = None
            self.skipped.append(point)
        self._events.say(
            f"not paused at {point.place} ({point.reason}): {unavailable}; kept in skipped_pauses", once="skipped"
        )

    def _wait(self, point: PausePoint, pauser: Pauser) -> str:
        self._command = None
        point.recordings = taps.recordings_outside()
        undo_since = self._changes()
        try:
            try:
                self._showing.stand_at(point)
                self._events.notify("paused")  # panels are drawn meanwhile, and somebody may interrupt the kernel
                self._ask(pauser)
            finally:
                command, self._command = self._command, None
                self._showing.stand_at(None)
        finally:
            self._showing.stand_at(None)  # again: an interrupt may have come just before the line above
            self._undo += undo_since()
            self._events.notify("resumed" if self._watching.attached or point.kind == "pause" else "finished")
        if command == "abort":
            self._undo_changes()
        return command or "continue"

    def _ask(self, pauser: Pauser) -> None:
        """Wait for a command. A pauser of the user's own may end the run by whatever it raises."""
        try:
            pauser.wait(lambda: self._command is not None)
        except Exception as error:
            if not is_of_the_engine(type(pauser)):
                let_pass(error)
            raise
