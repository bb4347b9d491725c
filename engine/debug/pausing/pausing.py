"""The part of a session that pauses: who is asked, what is evaluated and set meanwhile, how the run goes on."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, cast

from hookscope.engine import taps

from ..stepping.stepper import Stop
from .expression import value_of
from .pause import DebugAbort, PausePoint, Pauser, check_command, default_pauser
from .points import point_at_stop
from .showing import Showing
from .terminal import TerminalPauser

if TYPE_CHECKING:
    from types import FrameType

    from hookscope.engine.nn import Cell

    from ..comparing.gradient_rows import GradientCheck
    from ..session import DebugSession

__all__ = ["Pausing", "evaluating"]


class _PerThread(threading.local):
    evaluating = False


_local = _PerThread()


def evaluating() -> bool:
    """Whether this thread evaluates an expression for somebody at a pause: nothing can pause in there."""
    return _local.evaluating


@contextmanager
def _evaluating() -> Iterator[None]:
    before, _local.evaluating = _local.evaluating, True
    try:
        yield
    finally:
        _local.evaluating = before


# Pauses kept where nobody could answer: each holds the variables of a function.
_MAX_SKIPPED = 100


class Pausing(Showing):
    """What a session can do about pauses.

    Attributes:
        skipped_pauses: the pauses at which nobody could answer.
        gradient_checks: the last gradient check of each cell that one was made of, by its path.
        step: the number of root calls so far.
        aborting: whether ``abort`` was called and the run has not come to its next cell yet.
    """

    def __init__(self, name: str, pauser: Pauser | None) -> None:
        super().__init__(name)
        self.pauser = pauser
        self.skipped_pauses: list[PausePoint] = []
        self.gradient_checks: dict[str, GradientCheck] = {}
        self.step = 0
        self._undo: list[Callable[[], None]] = []  # what was changed at this step's pauses
        self._command: str | None = None
        self.aborting = False
        self._one_pause = threading.RLock()

    @property
    def attached(self) -> bool:
        """Whether the session watches now."""
        raise NotImplementedError

    def pause(self, reason: str = "pause() was called") -> None:
        """Pause here, in the function that calls this.

        Raises:
            DebugAbort: the answer was "abort".
            RuntimeError: this is called from an expression that is evaluated at a pause.
        """
        if _local.evaluating:
            raise RuntimeError("an expression that is evaluated at a pause cannot pause")
        frame: FrameType = sys._getframe(1)
        with taps.muted():
            point = point_at_stop(Stop(frame, frame.f_lineno), "pause", reason, "", "", {})
            self.pause_or_abort(point)

    def resume(self, command: str = "continue") -> None:
        """Let the paused run go on by one of ``COMMANDS``. Any thread may call this.

        "abort" also undoes what was changed in this step's pauses: modes, ``requires_grad``, parameters, hooks, and
        variables that outlive their function.

        Raises:
            ValueError: another command.
            RuntimeError: nothing is paused.
        """
        check_command(command)
        if self.paused is None:
            raise RuntimeError(f"{self.name} is not paused")
        self._command = command

    def abort(self) -> None:
        """End the run: the next call of one of the cells raises ``DebugAbort``. Any thread may call this.

        At a pause it is ``resume("abort")``. Also otherwise, what was changed in this step's pauses is undone. A step
        that is on its way back ends as a whole; the one after it does not begin.

        Raises:
            RuntimeError: the session watches nothing now.
        """
        if self.paused is not None:
            self.resume("abort")
        elif self.attached:
            self.aborting = True
        else:
            raise RuntimeError(f"{self.name} watches nothing now, so there is nothing to abort")

    def end_by_abort(self) -> NoReturn:
        """Do what ``abort`` asked for, in the thread that runs."""
        self._undo_changes()
        raise DebugAbort("aborted from the debugger")

    def _undo_changes(self) -> None:
        self.aborting = False
        while self._undo:
            self._undo.pop()()

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the scope of the paused function, as it was at what is shown.

        At a cell, the locals are ``cell`` and what passes there (``inputs``, ``output``, ``grad_output`` or
        ``grad_input``). Names that the function does not have are looked up among those of breakpoint
        expressions. Nothing pauses in here, and nothing is recorded: no breakpoint stops, no gradient changes.

        Raises:
            RuntimeError: nothing is paused.
            ValueError: it is no expression.
            Exception: whatever the expression raises.
        """
        point = self._shown_point()
        with _evaluating(), taps.unheard(self._does_not_stop), taps.muted():
            try:
                return value_of(expression, {**point.names, **point.locals})
            finally:
                self._look_again()

    def edit(self, name: str, expression: str) -> object:
        """Compute an expression as part of the run, and put its value in the place of ``name``; returns the value.

        Unlike what ``evaluate`` computes, this is recorded: gradients go through it, as through what a hook computes.
        For ``name`` see ``assign``.

        Raises:
            ValueError: it is no expression.
            Exception: whatever the expression raises, or ``assign``; then the run is as it was.
        """
        point = self._settable_point()
        with _evaluating(), taps.unheard(self._does_not_stop), taps.recorded(point.recordings):
            try:
                value = value_of(expression, {**point.names, **point.locals})
            finally:
                self._look_again()
        self._assign(point, name, value, expression)
        return value

    def assign(self, name: str, value: object) -> None:
        """Put a value in the place of what passes at a cell, or of a local variable of the paused function.

        At a cell, the run goes on as if a hook of that moment had returned the value: ``inputs`` or ``keywords`` before
        the cell, ``output`` after it, ``grad_output`` and ``grad_input`` on the way back; ``output[1]`` is one of them.

        Raises:
            RuntimeError: nothing is paused, or nothing can be set here.
            NameError: there is no such name.
            TypeError, ValueError: a hook must not return this.
        """
        self._assign(self._settable_point(), name, value, None)

    def check_gradient(self, seconds: float = 1.0) -> GradientCheck:
        """Check the gradient of the cell whose ``bprop`` is paused, with the inputs that it has there.

        See ``engine.debug.check_gradient``. Nothing pauses in here, and nothing is recorded.

        Raises:
            RuntimeError: nothing is paused, or not in a ``bprop``.
            Exception: whatever the cell raises.
        """
        from ..comparing.gradient_check import check_gradient

        point = self._paused_point()
        if point.arguments is None:
            raise RuntimeError("there is no gradient to check: the run stands in no bprop")
        with _evaluating():
            found = check_gradient(self._cell(point.path), *point.arguments[:-2], seconds=seconds)
        self.gradient_checks[point.path] = found
        return found

    def _settable_point(self) -> PausePoint:
        point = self._paused_point()
        if self.shown is not point:
            raise RuntimeError("the past stays as it was: step forward to where the run stands to set a variable")
        if point.exception is not None:
            raise RuntimeError(f"nothing can be set here: the line has raised {type(point.exception).__name__}")
        if point.assign is None and point.passing is None:
            raise RuntimeError("there is nothing here to set: the run stands at no line of a function")
        return point

    def _assign(self, point: PausePoint, name: str, value: object, expression: str | None) -> None:
        if point.passing is not None:
            name, value = point.passing.assign(name, value, expression)
            point.names["value"] = next((tensor for _, tensor in point.passing.slots()), None)
        elif point.assign is not None:
            name, value, undo = point.assign(name, value)
            if undo is not None:
                self._undo.append(undo)
        point.locals[name] = value
        point.changed.add(name)
        self.notify("changed")

    def _look_again(self) -> None:
        """Show what an expression did to the variables: a function that it called may share some."""
        point = self.paused
        if point is None or point.variables is None:
            return
        now = point.variables()
        changed = {name for name, value in now.items() if point.locals.get(name, point) is not value}
        if changed or now.keys() != point.locals.keys():
            point.locals = now
            point.changed |= changed
            self.notify("changed")

    def begin_step(self) -> None:
        """Count a root call; what was changed in the step before is no longer undone."""
        self.step += 1
        self._undo.clear()

    @property
    def no_pauses(self) -> str | None:
        """Why nobody could answer a pause now, in one clause; None where somebody can."""
        return self._pauser().unavailable()

    def can_stop(self) -> bool:
        """Whether a pause has any effect now: somebody can answer, or there is room to note it."""
        return self.attached and (len(self.skipped_pauses) < _MAX_SKIPPED or self._pauser().unavailable() is None)

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
            if len(self.skipped_pauses) < _MAX_SKIPPED:
                # They hold the functions that run, and with them all that these hold.
                point.assign = point.variables = None
                self.skipped_pauses.append(point)
            self.say(
                f"not paused at {point.place} ({point.reason}): {unavailable}; kept in skipped_pauses", once="skipped"
            )
            return "continue"
        with self._one_pause:
            if self.paused is not None or not (self.attached or point.kind == "pause"):
                return "continue"  # asked for while this thread is paused already, or after the session ended
            self._command = None
            point.recordings = taps.recordings_outside()
            undo_since = self._undo_since()
            self._stand_at(point)
            self.notify("paused")
            try:
                pauser.wait(lambda: self._command is not None)
            finally:
                command, self._command = self._command, None
                self._stand_at(None)
                self._undo += undo_since()
                self.notify("resumed" if self.attached or point.kind == "pause" else "finished")
            if command == "abort":
                self._undo_changes()
        return command or "continue"

    def _cell(self, path: str) -> Cell:
        """The cell at a path."""
        raise NotImplementedError

    def _does_not_stop(self, cell: Cell) -> None:
        """An evaluated expression called a cell: say once that breakpoints do not stop there."""
        raise NotImplementedError

    def _undo_since(self) -> Callable[[], list[Callable[[], None]]]:
        """What gives what undoes the changes to the network from now on."""
        raise NotImplementedError

    def _pauser(self) -> Pauser:
        make = default_pauser() or TerminalPauser
        return self.pauser or make(cast("DebugSession", self))
