"""DebugSession: the headless debugger. Panels, magics and scripts all drive this one class.

The class delegates each subject to a component. Components refer to those below them, and to the session only weakly.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from hookscope.engine.tape import taps
from hookscope.engine.tape.progress import Stopped
from hookscope.engine.tensors.tensor import Tensor

from .argument_checks import checked_flag, checked_pauser, checked_text, checked_texts
from .diagnose.conditions import CONDITIONS, Condition, Hit, parse_conditions
from .diagnose.cures import Cure, cures_of
from .diagnose.figures_by_step import History
from .diagnose.findings import Finding, Findings, Muted
from .diagnose.offered_cures import OfferedCures
from .diagnose.producer import Producer
from .diagnose.session_checks import Checks
from .events import Event, Events
from .faults import Fault
from .parameter_edits import ParameterEdits, SessionParameters
from .record.capture import Capture
from .record.counts import Counts
from .record.learning_rates import LearningRates
from .record.logged_numbers import MISSING, checked_numbers, checked_step
from .record.newest_values import NewestValues
from .record.recorder import Recorder
from .record.ring import MAX_BYTES, MAX_CAPTURES, CaptureRing
from .record.rows import CellNode, HookRow, ParameterRow, cell_nodes, hook_rows, parameter_rows, table
from .record.scalars import MAX_SERIES, Point, Scalars
from .stop.breakpoints.breakpoint import Breakpoint
from .stop.breakpoints.breakpoint_call import answer_breakpoint_calls, leave_breakpoint_calls
from .stop.breakpoints.collection import Breakpoints
from .stop.display import PauseDisplay
from .stop.editor import Editor
from .stop.failure import Explainer, Failure, Failures, is_failure
from .stop.pause import DebugAbort, PausePoint, Pauser
from .stop.paused_scope import PausedScope
from .stop.pauses import Pauses
from .stop.stepping.session_stepping import SessionStepping
from .stop.stops import Stops
from .stop.undo import TrainingModes
from .watch.attachment import Attachment, is_watched
from .watch.eager_calls import EagerCalls
from .watch.hooks import HookRecorder, SessionHooks
from .watch.newest_session import began_to_watch
from .watch.observer import Stages
from .watch.paths import CellPaths
from .watch.pattern import Watch
from .watch.watches import Watches

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from .compare.gradient_rows import GradientCheck

__all__ = ["DebugSession"]


class DebugSession:
    """Debugger session that observes a network while it is attached.

    As a context manager it is attached until the block ends. Blocks of one session may be nested: it stays attached
    until the outermost block ends or ``detach`` is called.

    Args:
        net: the network; without it, every network and loss that is called becomes a root, see ``watch.roots``.
        watch: patterns ``PATTERN[:forward|backward|all]``; none means every leaf cell. See ``watch.pattern``.
        breaks: breakpoints, or texts ``PATH[:MOMENT] [if EXPRESSION]`` or ``FILE:LINE``; "exception" pauses at
            exceptions that leave the network. See ``breakpoint``.
        step: pause at the first line of every custom bprop.
        just_my_code: step through lines of the user's code alone, not of layers and installed packages.
        conditions: names of conditions to check: ``NAME``, ``NAME=THRESHOLD``, ``if EXPRESSION``, or "all". See
            ``conditions``.
        stop_on: conditions to check and to pause at, in the same format.
        every: capture only in every n-th step.
        max_bytes: memory limit of the captured values in bytes; an evicted capture keeps its statistics. All sessions
            together keep 1 GiB, or the largest limit of any of them.
        max_captures: number of captures to keep, including those whose values were evicted.
        pauser: object that handles pauses; by default the default pauser, or else the terminal.
        name: name of the session in messages.

    Attributes:
        takes_roots: True if no network was passed.
        paths: the cells by path.
        captures: the ring buffer of captures.
        checks: the conditions and their findings.
        parameter_edits: previews, applies and undoes changes of parameters.

    Raises:
        TypeError: ``net`` is not a cell, or an argument has a wrong type.
        ValueError: a pattern or path that matches nothing, a faulty expression, an unknown condition, a bad limit.
    """

    def __init__(
        self,
        net: Cell | None = None,
        *,
        watch: Sequence[str] = (),
        breaks: Sequence[str | Breakpoint] = (),
        step: bool = False,
        just_my_code: bool = True,
        conditions: Sequence[str] = (),
        stop_on: Sequence[str] = (),
        every: int = 1,
        max_bytes: int = MAX_BYTES,
        max_captures: int = MAX_CAPTURES,
        pauser: Pauser | None = None,
        name: str = "session",
    ) -> None:
        self.pauser = pauser
        self.takes_roots = net is None
        self.paths = CellPaths()
        if net is not None:
            self.paths.add_root(_checked_cell(net))
        self._contexts: list[tuple[TrainingModes, bool]] = []
        conditions_with_pause = self._choose(
            checked_text("name", name), watch, every, breaks, step, conditions, stop_on
        )
        owner = weakref.ref(self)
        self.captures = CaptureRing(max_bytes, max_captures)
        self._counts = Counts()
        self._newest = NewestValues()
        self._hooks = SessionHooks()
        self._display = PauseDisplay(self._events)
        self._attachment = Attachment(owner, self.paths, self._counts, self.takes_roots, self._watches, self._events)
        self._pauses = Pauses(
            self._events, self._display, self._attachment, self._hooks, self._breakpoints.lines, owner
        )
        self._stepping = SessionStepping(self._attachment, self._breakpoints, self._pauses)
        self.just_my_code = just_my_code
        self._scope = PausedScope(self._display, self._events, self.paths, self._breakpoints, self._pauses)
        self.checks = Checks(
            owner,
            self.paths,
            self.takes_roots,
            self._counts,
            self.captures,
            self._attachment,
            self._newest,
            self._stepping,
            self._events,
        )
        for condition, pause in conditions_with_pause:
            self.checks.add(condition, pause)
        self._recorder = Recorder(self.captures, self._counts, self._events, self._display)
        self._explainer = Explainer(self.paths, self.captures, self._newest)
        self._failures = Failures(self._explainer, self._display, self._events)
        self._stops = Stops(
            self._attachment, self._breakpoints, self._pauses, self._stepping, self._failures, self._events
        )
        self._eager_calls = EagerCalls(self._events)
        self._stages = Stages(
            self._watches,
            self._recorder,
            self.checks.examiner,
            self._stops,
            Editor(self._recorder, self.checks.examiner, self._events),
            self.checks,
            self._newest,
            self._eager_calls,
            LearningRates(self.checks.history.scalars, self._counts),
            self._events,
        )
        self._hook_recorder = HookRecorder(self._stages, self._attachment)
        self._parameters = SessionParameters(self._attachment, self._display, self._newest, self.checks, self._events)
        self.parameter_edits = ParameterEdits(self._parameters)
        self._cures = OfferedCures()
        self._explanation: str | None = None

    def _choose(
        self,
        name: str,
        watch: Sequence[str],
        every: int,
        breaks: Sequence[str | Breakpoint],
        step: bool,
        conditions: Sequence[str],
        stop_on: Sequence[str],
    ) -> list[tuple[Condition, bool]]:
        """Parse the watches, breakpoints and conditions; return each condition with whether to pause at it."""
        self._events = Events(name)
        self._watches = Watches(checked_texts("watch", watch), every, self.paths, self.takes_roots, self._events)
        self._breakpoints = Breakpoints(
            checked_texts("breaks", breaks, Breakpoint), step, self.paths, self.takes_roots, self._events
        )
        checked = parse_conditions(checked_texts("conditions", conditions))
        pausing = parse_conditions(checked_texts("stop_on", stop_on), "stop_on")
        self._breakpoints.check()
        if not self.takes_roots:
            self._watches.check()
        return [*((condition, False) for condition in checked), *((condition, True) for condition in pausing)]

    def __del__(self) -> None:
        if not hasattr(self, "_cures"):  # the constructor raised
            return
        was_attached = self.attached
        self._attachment.detach()
        leave_breakpoint_calls(self._stepping)
        self._stepping.detach()
        for tap in (self._stops.operators, *self.checks.taps):
            taps.detach(tap)
        self._hooks.detach_recorders()
        if was_attached and not any(is_watched(root) for root in self.roots):
            self.say("watches no more, since no variable refers to this session any longer")

    def __repr__(self) -> str:
        roots = ", ".join(type(root).__name__ for root in self.roots)
        return f"DebugSession({roots}: {self.step} steps, {len(self.captures)} captures, {len(self.hits)} hits)"

    # Watching

    @property
    def roots(self) -> list[Cell]:
        """The root cells that the session observes."""
        return self.paths.roots

    @property
    def attached(self) -> bool:
        """True while the session is attached."""
        return self._attachment.attached

    @property
    def in_block(self) -> bool:
        """True while a ``with`` block of the session runs."""
        return bool(self._contexts)

    @property
    def step(self) -> int:
        """The number of steps so far."""
        return self._counts.steps

    @property
    def captured(self) -> int:
        """The number of captures so far, including evicted ones."""
        return self._counts.captures

    @property
    def every(self) -> int:
        """The step interval: captures are made in every n-th step."""
        return self._watches.every

    @every.setter
    def every(self, every: int) -> None:
        """Set the interval; raise ValueError unless it is a positive integer."""
        self._watches.every = every

    @property
    def pauser(self) -> Pauser | None:
        """The object that waits at a pause and takes commands; None for the default."""
        return self._pauser

    @pauser.setter
    def pauser(self, pauser: Pauser | None) -> None:
        """Set the pauser; raise TypeError unless it has the methods of one."""
        self._pauser: Pauser | None = checked_pauser(pauser)

    @property
    def shapes(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """The shapes of each cell's last output, by its path, in the order in which cells first ran."""
        return self._newest.shapes

    @property
    def gradients(self) -> dict[int, Tensor]:
        """The newest gradient of each parameter, by its id."""
        return self._newest.gradients

    @property
    def running(self) -> bool:
        """True if this thread is inside a run that the session observes."""
        return self.attached and self._attachment.in_a_run

    @property
    def hits(self) -> list[Hit]:
        """The hits of conditions, oldest first; hits of values only for captures that are still kept."""
        return self.checks.hit_store.hits()

    @property
    def conditions(self) -> list[Condition]:
        """The conditions that are checked."""
        return list(self.checks.conditions.values())

    @property
    def producers(self) -> list[Producer]:
        """The operators that produced a NaN or an infinity, oldest first, while one of these conditions is checked."""
        return list(self.checks.provenance.producers)

    @property
    def history(self) -> History:
        """The loss by step; while a condition on parameters is checked, also the course of the parameters."""
        return self.checks.history

    @property
    def scalars(self) -> Scalars:
        """The losses, learning rates and logged numbers of the complete run, thinned out to a bounded size."""
        return self.checks.history.scalars

    def log(self, name: str | Mapping[str, Any], value: Any = MISSING, *, step: SupportsIndex | None = None) -> None:
        """Add a number, or a mapping of names to numbers, to the curves of the run; any thread may call this.

        Args:
            name: the number's name, or a mapping; a mapping in it gives names with dots.
            value: the number: a float, an int, a bool, or an array or tensor of one element. NaN and infinities are
                shown as marks.
            step: its step; by default that of the session.

        Raises:
            TypeError: an argument has a wrong type.
            ValueError: an empty or long name, or a step or a number that is too large.
        """
        numbers, number_of_step = checked_numbers(name, value), checked_step(step)
        now = self._counts.steps
        for key, number in numbers.items():
            if not self.scalars.add(key, Point(now if number_of_step is None else number_of_step, number, now)):
                self.say(f"log: more than {MAX_SERIES} names; {key!r} and further names are not kept", "names")
        self.notify("changed")

    def findings(self) -> Findings:
        """Return the findings, one for each condition and cell; they print as a table."""
        return self.checks.hit_store.findings({path: position for position, path in enumerate(tuple(self.shapes))})

    def cures(self, finding: Finding) -> list[Cure]:
        """Return the fixes available now for a finding, each with a preview and an undo; see ``Cure``."""
        condition = self.checks.conditions.get(finding.condition, CONDITIONS.get(finding.condition))
        return self._cures.of(finding, () if condition is None else condition.cures, partial(cures_of, self))

    @property
    def explanation(self) -> str | None:
        """The explanation of the last exception that ended a run: what did not fit, with the origin of each operand.

        None if there was no exception, or if nothing explains it. A run is a block of the session; of a session that
        was attached without a block, a call of a network.
        """
        point = self.paused
        if point is not None and point.exception is not None:
            self.explain(point.exception)
        return self._explanation

    def explain(self, error: BaseException) -> str | None:
        """Return the explanation of an exception with the captures of this session, and keep it in ``explanation``."""
        if isinstance(error, DebugAbort | Stopped):
            return None
        self._explanation = None
        with self._events.faults.at("explaining an error"):
            self._explanation = self._explainer.explain(error)
        return self._explanation

    def clear_findings(self) -> None:
        """Clear the findings so far; conditions that still hold are found again."""
        self.checks.clear()
        self.notify("changed")

    @property
    def muted(self) -> list[Muted]:
        """The muted pairs of condition and cell, in the order in which they were muted."""
        return list(self.checks.hit_store.mutes)

    def mute(self, condition: str, path: str, reason: str = "") -> None:
        """Suppress findings and pauses of a condition in one cell, such as a BatchNorm that is frozen on purpose.

        Args:
            condition: the condition's name.
            path: the cell's path as in findings; for a NaN or an infinity, the cell that produced it.
            reason: why it is meant, which the panel and a saved notebook show.

        Raises:
            TypeError: ``reason`` is not a str.
            ValueError: an unknown condition or cell.
        """
        self.checks.mute(condition, path, checked_text("reason", reason))
        self.notify("changed")

    def unmute(self, condition: str, path: str) -> None:
        """Report a muted condition and pause at it again.

        Raises:
            ValueError: it is not muted.
        """
        self.checks.unmute(condition, path)
        self.notify("changed")

    def attach(self) -> None:
        """Attach the session until ``detach`` or until nothing refers to it; a second call has no effect."""
        if self.attached:
            return
        self._stepping.attach(sys._getframe(1))
        self._attachment.attach(self._stages)
        answer_breakpoint_calls(self._stepping)
        self.checks.attach()
        began_to_watch(self)
        self.notify("attached")

    def detach(self) -> None:
        """Detach the session; a paused run continues. Hooks of the session stay until ``detach_hook``."""
        if not self.attached:
            return
        self._pauses.aborting = False
        self._attachment.detach()
        leave_breakpoint_calls(self._stepping)
        self._breakpoints.report_unknown_files()
        self._stepping.detach()
        self.checks.detach()
        self._attachment.forget()
        self._watches.reset()
        if self.paused is None:
            self.notify("finished")
        else:
            self.resume("continue")  # the paused thread notifies observers that the session is finished

    def __enter__(self) -> DebugSession:
        modes, stays_attached = TrainingModes(self.roots), bool(self._contexts) and self.attached
        self.attach()
        self._contexts.append((modes, stays_attached))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None = None, trace: object = None
    ) -> None:
        if isinstance(error, Exception):
            self.explain(error)
        self.record_failure(error)
        # A stack of contexts may detach a session that was attached before it.
        modes, stays_attached = self._contexts.pop() if self._contexts else (None, False)
        if modes is not None and kind is not None and issubclass(kind, DebugAbort):
            modes.restore()
        if not stays_attached:
            self.detach()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Raise TypeError: a copy would receive the engine's events of this session and detach it when deleted."""
        raise TypeError("a DebugSession cannot be copied or pickled; make a new one with the same arguments")

    # Views, as plain data

    def tree(self) -> list[CellNode]:
        """Return the cells, each root followed by its descendants."""
        return cell_nodes(self.paths, self._hooks.keys(), self._newest.shape_texts())

    def parameters(self) -> list[ParameterRow]:
        """Return the parameters of the roots, named by the paths of their cells."""
        return parameter_rows(self.paths, self.gradients, self._newest.before_update)

    def hooks(self) -> list[HookRow]:
        """Return every hook on every cell."""
        return hook_rows(self.paths, self._hooks.functions())

    def table(self) -> str:
        """Return the captures as text, one a line, followed by notes on evicted values and how to keep more."""
        return "\n".join([table(self.captures.rows()), *self.captures.notes()])

    @property
    def runs_eagerly(self) -> str:
        """A sentence about compiled cells that run eagerly because the session is attached or has hooks; or ""."""
        if not (self.attached or self._hooks.keys()):
            return ""
        return self._eager_calls.text(self.roots, self.attached)

    # Watches and breakpoints, which can change at any time

    @property
    def watch(self) -> list[Watch]:
        """The watches of the session."""
        return self._watches.all

    def add_watch(self, text: str) -> Watch:
        """Add a watch ``PATTERN[:forward|backward|all]``; the first one replaces the default of every leaf cell.

        Raises:
            ValueError: an unknown direction, or a pattern that matches nothing.
        """
        return self._watches.add(text)

    def remove_watch(self, text: str) -> None:
        """Remove a watch; without any watch, every leaf cell is watched.

        Raises:
            ValueError: there is no such watch.
        """
        self._watches.remove(text)

    @property
    def breakpoints(self) -> list[Breakpoint]:
        """The breakpoints of the session."""
        return self._breakpoints.all

    @property
    def step_bprop(self) -> bool:
        """True if the session stops at the first line of every custom bprop."""
        return self._breakpoints.every_bprop

    @step_bprop.setter
    def step_bprop(self, every_bprop: bool) -> None:
        """Set the option; raise TypeError unless it is True or False."""
        self._breakpoints.every_bprop = checked_flag("step_bprop", every_bprop)

    @property
    def just_my_code(self) -> bool:
        """True if only lines of the user's code are stepped through."""
        return self._stepping.just_my_code

    @just_my_code.setter
    def just_my_code(self, just_my_code: bool) -> None:
        """Set the option; raise TypeError unless it is True or False."""
        self._stepping.just_my_code = checked_flag("just_my_code", just_my_code)
        self.notify("changed")

    def add_breakpoint(self, text: str | Breakpoint) -> Breakpoint:
        """Add a breakpoint; an existing equal one stays unchanged.

        Raises:
            ValueError: a faulty text, or a path that matches nothing.
        """
        return self._stops.add(text)

    def remove_breakpoint(self, text: str | Breakpoint) -> None:
        """Remove a breakpoint.

        Raises:
            ValueError: there is no such breakpoint.
        """
        self._stops.remove(text)

    def add_condition(self, text: str, pause: bool = False) -> list[Condition]:
        """Add a condition, or several ("all"); with ``pause``, also pause when it holds.

        Raises:
            ValueError: an unknown name, a faulty expression or threshold.
        """
        conditions = parse_conditions((text,))
        for condition in conditions:
            self.checks.add(condition, pause)
        self.notify("changed")
        return conditions

    def remove_condition(self, name: str) -> None:
        """Remove a condition; its findings stay.

        Raises:
            ValueError: there is no such condition.
        """
        self.checks.remove(name)
        self.notify("changed")

    def set_capture_bounds(self, max_bytes: int | None = None, max_captures: int | None = None) -> None:
        """Set the limits of the ring buffer; None keeps a limit unchanged.

        Raises:
            ValueError: a bound is not a positive integer.
        """
        self.captures.set_bounds(max_bytes, max_captures)
        self.notify("changed")

    # Hooks, modes and parameters

    def attach_hook(self, path: str, kind: str, function: Callable[..., Any] | None = None) -> None:
        """Attach a hook to the cell at ``path``; without ``function``, the hook captures what it receives."""
        cell = self.paths.cell(path)
        path = self._path(cell)
        self._hooks.attach(cell, path, kind, function or self._hook_recorder.hook(path, kind))
        self.notify("changed")

    def detach_hook(self, path: str, kind: str) -> None:
        """Remove the session's hook of this kind from the cell at ``path``, if there is one."""
        self._hooks.detach(self._path(self.paths.cell(path)), kind)
        self.notify("changed")

    def set_train(self, path: str, mode: bool) -> None:
        """Set the training mode of the cell at ``path`` and of its descendants."""
        self.paths.cell(path).set_train(mode)
        self.notify("changed")

    def set_requires_grad(self, name: str, value: bool) -> None:
        """Set ``requires_grad`` of the parameter of this name."""
        self._parameters.find(name).requires_grad = value
        self.notify("changed")

    # Pauses

    @property
    def paused(self) -> PausePoint | None:
        """The point at which the run is paused; None while it runs."""
        return self._display.paused

    @property
    def shown(self) -> PausePoint | None:
        """The point that is displayed: ``paused``, or an earlier one after stepping back."""
        return self._display.point

    @property
    def skipped_pauses(self) -> list[PausePoint]:
        """The pauses that were skipped because no pauser was available."""
        return self._pauses.skipped

    @property
    def no_pauses(self) -> str | None:
        """The reason why no pauser is available, in one clause; None if one is."""
        return self._pauses.unavailable

    @property
    def aborting(self) -> bool:
        """True after ``abort`` until the run reaches its next cell."""
        return self._pauses.aborting

    def pause(self, reason: str = "pause() was called") -> None:
        """Pause in the calling function.

        Raises:
            DebugAbort: the pause was ended by "abort".
            RuntimeError: called from an expression that is evaluated at a pause.
        """
        self._stepping.pause_in(sys._getframe(1), reason)

    def pause_at(self, point: PausePoint) -> str:
        """Pause; return the command that ended the pause, "continue" if no pauser was available."""
        return self._pauses.pause_at(point)

    def resume(self, command: str = "continue") -> None:
        """Resume the paused run with one of ``COMMANDS``. Any thread may call this.

        "abort" also undoes the changes made in this step's pauses: modes, ``requires_grad``, parameters, hooks, and
        variables that outlive their function.

        Raises:
            ValueError: an unknown command.
            RuntimeError: nothing is paused.
        """
        self._pauses.resume(command)

    def run_to_line(self, line: int, filename: str | None = None) -> None:
        """Resume the paused run up to a line, or to an earlier pause. Any thread may call this.

        Args:
            line: its number in the file.
            filename: the file; by default that of the function that is displayed.

        Raises:
            ValueError: the line has no code.
            RuntimeError: nothing is paused.
        """
        self._pauses.run_to_line(line, filename)

    def abort(self) -> None:
        """Abort the run: the next call of one of the cells raises ``DebugAbort``. Any thread may call this.

        At a pause it equals ``resume("abort")``. In any case, changes made in this step's pauses are undone. A step in
        its backward pass completes; the next one does not begin.

        Raises:
            RuntimeError: the session is not observing a run.
        """
        self._pauses.abort()

    def capture_local(self, slot: str, value: Tensor) -> Capture:
        """Capture the value of a local variable at the point that is displayed; ``slot`` is the variable's name.

        Raises:
            RuntimeError: nothing is paused.
        """
        return self._recorder.record_local(self._display.shown_point(), slot, value)

    def step_back(self) -> PausePoint:
        """Display the previous line of the function; return the point that is now displayed.

        Raises:
            RuntimeError: nothing is paused, or there is no earlier line.
        """
        return self._display.step_back()

    def step_forward(self) -> PausePoint:
        """Display the next line of the function, at the end that of the pause; return the point that is now displayed.

        Raises:
            RuntimeError: nothing is paused, or the line of the pause is displayed already.
        """
        return self._display.step_forward()

    def show_operator(self, index: int) -> PausePoint:
        """Display an operator that the function ran and its line; ``inputs`` and ``output`` name its values.

        Args:
            index: position among the operators of ``paused``; as in a list, -1 is the last.

        Raises:
            RuntimeError: nothing is paused, or not in a function that is stepped through.
            IndexError: there is no such operator.
        """
        return self._display.show_operator(index)

    def show_frame(self, index: int) -> PausePoint:
        """Display another function of the stack, with its line and variables; return the point that is now displayed.

        ``evaluate`` uses its names, and ``assign`` its variables as long as it runs.

        Args:
            index: position among the ``frames`` of the pause; as in a list, -1 is the innermost.

        Raises:
            RuntimeError: nothing is paused.
            IndexError: there is no such function.
        """
        return self._display.show_frame(index)

    def evaluate(self, expression: str) -> object:
        """Return the value of an expression in the scope of the paused function, at the point that is displayed.

        At a cell, the locals are ``cell`` and its values (``inputs``, ``output``, ``grad_output`` or ``grad_input``).
        Other names are looked up among those of breakpoint expressions. The evaluation does not pause and is not
        recorded: it hits no breakpoint and changes no gradient. Random state, and the contents of the cells and tensors
        that the expression names, are restored afterwards.

        Raises:
            RuntimeError: nothing is paused.
            ValueError: it is not an expression.
            Exception: any exception that the expression raises.
        """
        return self._scope.evaluate(expression)

    def edit(self, name: str, expression: str) -> object:
        """Evaluate an expression as part of the run and assign its value to ``name``; return the value.

        Unlike ``evaluate``, the computation is recorded, so gradients flow through it as through that of a hook. For
        ``name`` see ``assign``.

        Raises:
            ValueError: it is not an expression.
            Exception: any exception of the expression or of ``assign``; the run is then unchanged.
        """
        return self._scope.edit(name, expression)

    def assign(self, name: str, value: object) -> None:
        """Replace a value that passes at a cell, or assign a local variable of the paused function.

        At a cell, the run continues as if a hook of that moment had returned the value: ``inputs`` or ``keywords``
        before the cell, ``output`` after it, ``grad_output`` and ``grad_input`` in the backward pass; ``output[1]`` is
        one item.

        Raises:
            RuntimeError: nothing is paused, or nothing can be assigned here.
            NameError: there is no such name.
            TypeError, ValueError: a hook must not return this value.
        """
        self._scope.assign(name, value)

    def check_gradient(self, seconds: float = 1.0) -> GradientCheck:
        """Check the gradient of the cell whose ``bprop`` is paused, with its current inputs.

        See ``engine.debug.check_gradient``. The check does not pause and is not recorded.

        Raises:
            RuntimeError: nothing is paused, or not in a ``bprop``.
            Exception: any exception that the cell raises.
        """
        return self._scope.check_gradient(seconds)

    @property
    def gradient_checks(self) -> dict[str, GradientCheck]:
        """The last gradient check of each checked cell, by path."""
        return self._scope.gradient_checks

    # Failures

    @property
    def failure(self) -> Failure | None:
        """The error that ended the newest run, for a post mortem; None after a run that ended well.

        It is released by the next run, by ``clear_failure``, and with the session. Its values are within ``max_bytes``.
        """
        return self._failures.newest

    def record_failure(self, error: BaseException | None) -> None:
        """Record the exception that ended a block of watched code; the end of a ``with`` block calls this.

        None, and an interrupt or an abort, release the failure: the block's code has caught it, or nothing failed.
        """
        if error is not None and is_failure(error):
            self._failures.record(error)
        else:
            self._failures.release()

    def clear_failure(self) -> None:
        """Release the failure, with its values."""
        self._failures.release()

    def post_mortem(self) -> PausePoint:
        """Display the failure as a pause that cannot be resumed; return its point. A terminal asks for commands.

        ``evaluate`` and ``show_frame`` work there.

        Raises:
            RuntimeError: there is no failure, or the run is paused.
        """
        return self._pauses.post_mortem(self._failures.newest)

    # Notification

    @property
    def name(self) -> str:
        """The name of the session in messages."""
        return self._events.name

    def observe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``callback`` with each event from now on; return the function that unsubscribes it."""
        return self._events.observe(callback)

    def notify(self, event: Event) -> None:
        """Notify the observers of an event."""
        self._events.notify(event)

    def say(self, text: str, once: str | None = None) -> None:
        """Print one line on standard error; with ``once``, only the first line of that kind."""
        self._events.say(text, once)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults of the debugger that did not end the run: the first of each place, with its traceback."""
        return self._events.faults.all()

    def report_fault(self, subject: str, error: BaseException) -> bool:
        """Report an exception of a view or another observer, once for each subject; see ``faults``.

        Returns:
            whether the run continues as if it had not been raised: not for an interrupt, an abort, or an exception of
            the user's own code.
        """
        return self._events.faults.report_fault(subject, error)

    forgives = report_fault  # its name before

    def _path(self, cell: Cell) -> str:
        path = self.paths.path_of(cell)
        assert path is not None
        return path


def _checked_cell(net: object) -> Cell:
    from hookscope.engine.nn import Cell

    if not isinstance(net, Cell):
        raise TypeError(f"net must be a Cell, got {type(net).__name__}")
    return net
