"""DebugSession: the whole debugger without a screen. Panels, magics and scripts drive this one class.

It is thin: it says what there is to do, and has a part for each subject that does it. Parts know those below them, and
the session itself only weakly, by a function each.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

from hookscope.engine.tape import taps
from hookscope.engine.tensors.tensor import Tensor

from ..base.modes import graph_mode
from ..base.nearest_name import suggestion
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
from .parameter_edits import ParameterEdit, ParameterEdits
from .record.capture import Capture, pick_slot
from .record.counts import Counts
from .record.newest_values import Newest
from .record.recorder import Capturing
from .record.ring import MAX_BYTES, MAX_CAPTURES, CaptureRing
from .record.rows import CellNode, HookRow, ParameterRow, cell_nodes, hook_rows, parameter_rows, table
from .stop.breakpoint import Breakpoint
from .stop.breakpoints import Breakpoints
from .stop.pause import DebugAbort, PausePoint, Pauser, default_pauser
from .stop.paused_scope import PausedScope
from .stop.pauses import Pauses
from .stop.showing import Showing
from .stop.stops import Stops
from .stop.terminal import TerminalPauser
from .stop.undo import TrainingModes, changes_since
from .watch.hooks import SessionHooks
from .watch.newest_session import began_to_watch
from .watch.observer import Ports
from .watch.paths import CellPaths
from .watch.pattern import Watch
from .watch.visits import Visits
from .watch.watches import Watches
from .watch.watching import Watching, is_watched
from .weakly import weakly

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

    from .compare.gradient_rows import GradientCheck

__all__ = ["DebugSession"]


class DebugSession:
    """Watches a network while it is attached.

    As a context it is attached until the block ends. Blocks of one session may stand in each other: it goes on until
    the outermost of them ends, or ``detach`` is called.

    Args:
        net: the network; without it, every network and loss that is called becomes a root, see ``watch.roots``.
        watch: patterns ``PATTERN[:forward|backward|all]``; none means every leaf cell. See ``watch.pattern``.
        breaks: breakpoints, or texts ``PATH[:MOMENT] [if EXPRESSION]``. See ``breakpoint``.
        step: pause at the first line of every custom bprop.
        conditions: names of conditions to look for: ``NAME``, ``NAME=THRESHOLD``, ``if EXPRESSION``, or "all". See
            ``conditions``.
        stop_on: the same, to look for and to pause at.
        every: make captures only in every n-th step.
        max_bytes: how much memory the captured values may take; of older ones the figures stay. All sessions together
            keep 1 GiB, or as much as the one of them that may keep most.
        max_captures: how many captures are kept, those without their values included.
        pauser: who answers at a pause; the default pauser, or else the terminal.
        name: what messages call the session.

    Attributes:
        takes_roots: whether it was given no network.
        paths: the cells, by their paths.
        captures: the captures that are kept.
        checks: the conditions, and what they found.

    Raises:
        TypeError: ``net`` is not a cell, or an argument has a wrong type.
        ValueError: a pattern or path that matches nothing, a faulty expression, an unknown condition, a bad
            bound.
    """

    def __init__(
        self,
        net: Cell | None = None,
        *,
        watch: Sequence[str] = (),
        breaks: Sequence[str | Breakpoint] = (),
        step: bool = False,
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
        self._entered: list[tuple[TrainingModes, bool]] = []
        looked_for = self._choose(checked_text("name", name), watch, every, breaks, step, conditions, stop_on)
        self.captures = CaptureRing(max_bytes, max_captures)
        self._counts = Counts()
        self._newest = Newest()
        self._hooks = SessionHooks(weakly(self._record_hook))
        self._showing = Showing(self._events)
        self._watching = Watching(weakref.ref(self), self.paths, self._visits())
        self._pauses = Pauses(
            self._events,
            self._showing,
            self._watching,
            pauser=weakly(self._who_answers),
            changes=partial(changes_since, self.paths.roots, self._hooks),
        )
        self._scope = PausedScope(
            self._showing,
            self._events,
            cell=self.paths.cell,
            unheard=self._breakpoints.passed_over,
            undo_later=self._pauses.undo_later,
        )
        self.checks = self._new_checks()
        for condition, pause in looked_for:
            self.checks.add(condition, pause)
        self._stops = Stops(weakref.ref(self), self._watching, self._breakpoints, self._pauses)
        self._capturing = Capturing(
            self.captures,
            self._counts,
            self._events,
            self._showing,
            look=self.checks.examiner.value,
            conditions=self.checks.conditions,
        )
        self._compiled: dict[str, str] = {}  # what was called without its plans for the session, and its level
        self._edited: list[ParameterEdit] = []
        self._cures = OfferedCures()
        self._ports = self._new_ports()

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
        """Read what to watch and where to stop; returns the conditions, and whether to pause at each."""
        self._events = Events(name)
        self._watches = Watches(checked_texts("watch", watch), every, self.paths, self.takes_roots, self._events)
        self._breakpoints = Breakpoints(
            checked_texts("breaks", breaks, Breakpoint),
            step,
            self.paths,
            self.takes_roots,
            self._events,
            weakly(self._breakpoints_changed),
        )
        looked_for = parse_conditions(checked_texts("conditions", conditions))
        paused_at = parse_conditions(checked_texts("stop_on", stop_on), "stop_on")
        if not self.takes_roots:
            self._watches.check()
            self._breakpoints.check()
        return [*((condition, False) for condition in looked_for), *((condition, True) for condition in paused_at)]

    def _visits(self) -> Callable[[], Visits]:
        return partial(
            Visits,
            self.paths,
            self._counts,
            self.takes_roots,
            say=weakly(self.say),
            new_step=weakly(self._step_began),
            new_cells=weakly(self._watches.look_again),
        )

    def _new_checks(self) -> Checks:
        return Checks(
            weakref.ref(self),
            self.paths,
            self.takes_roots,
            self._counts,
            self.captures,
            self._watching,
            self._newest.shapes.__contains__,
            self._pauses,
            self._events,
        )

    def _new_ports(self) -> Ports:
        return Ports(
            stops=self._stops,
            wants=self._watches.wants,
            on_values=self._capturing.take,
            on_edit=self._capturing.take_edited,
            on_output=self._newest.output,
            on_gradients=weakly(self._gradients_came),
            on_differentiated=self.checks.differentiated,
            on_unplanned=weakly(self._unplanned),
        )

    def __del__(self) -> None:
        if not hasattr(self, "_ports"):  # what was to be made was refused
            return
        was_attached = self.attached
        self._watching.detach()
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
        """The cells at the top of what is watched."""
        return self.paths.roots

    @property
    def attached(self) -> bool:
        """Whether the session watches now."""
        return self._watching.attached

    @property
    def step(self) -> int:
        """The number of root calls so far."""
        return self._counts.steps

    @property
    def captured(self) -> int:
        """How many captures were made, those included that are no longer kept."""
        return self._counts.captures

    @property
    def every(self) -> int:
        """Captures are made only in every n-th step."""
        return self._watches.every

    @every.setter
    def every(self, every: int) -> None:
        """Raises ValueError where it is no positive integer."""
        self._watches.every = every

    @property
    def pauser(self) -> Pauser | None:
        """The object that waits at a pause and takes commands; None for the default."""
        return self._pauser

    @pauser.setter
    def pauser(self, pauser: Pauser | None) -> None:
        """Raises TypeError where it could not answer."""
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
        """Whether this thread is inside a run that the session watches."""
        return self.attached and self._watching.in_a_run

    @property
    def hits(self) -> list[Hit]:
        """The conditions that held, oldest first; those of values for the captures that are still kept."""
        return self.checks.found.hits()

    @property
    def conditions(self) -> list[Condition]:
        """The conditions that are looked for."""
        return list(self.checks.conditions.values())

    @property
    def producers(self) -> list[Producer]:
        """The operators that made a NaN or an infinity, oldest first, while one of the two is looked for."""
        return list(self.checks.provenance.producers)

    @property
    def history(self) -> History:
        """The loss by step; while a condition on parameters is looked for, also how these fare."""
        return self.checks.history

    def findings(self) -> Findings:
        """What the conditions found, each once for a condition and a cell; prints as a table."""
        return self.checks.found.findings({path: place for place, path in enumerate(tuple(self.shapes))})

    def cures(self, finding: Finding) -> list[Cure]:
        """What can be done about a finding now, each with a preview and a way back; see ``Cure``."""
        condition = self.checks.conditions.get(finding.condition, CONDITIONS.get(finding.condition))
        return self._cures.of(finding, () if condition is None else condition.cures, partial(cures_of, self))

    def clear_findings(self) -> None:
        """Forget what was found so far; what still holds is found again."""
        self.checks.clear()
        self.notify("changed")

    @property
    def muted(self) -> list[Muted]:
        """What is neither found nor paused at, in the order in which it was muted."""
        return list(self.checks.found.muted)

    def mute(self, condition: str, path: str) -> None:
        """Neither find nor pause at a condition in one cell, where it is meant so: a BatchNorm that is frozen.

        Args:
            condition: its name.
            path: the cell's, as findings name it: of a NaN or an infinity, the one that made it.

        Raises:
            ValueError: an unknown condition or cell.
        """
        self.checks.mute(condition, path)
        self.notify("changed")

    def unmute(self, condition: str, path: str) -> None:
        """Find it, and pause at it, again.

        Raises:
            ValueError: it is not muted.
        """
        self.checks.unmute(condition, path)
        self.notify("changed")

    def attach(self) -> None:
        """Begin to watch, until ``detach`` or until nothing refers to the session; once more changes nothing."""
        if self.attached:
            return
        self._watching.attach(self._ports)
        self._stops.operators.attach()
        self.checks.attach()
        began_to_watch(self)
        self.notify("attached")

    def detach(self) -> None:
        """Stop watching; a paused run goes on. Hooks of the session stay until ``detach_hook``."""
        if not self.attached:
            return
        self._pauses.aborting = False
        self._watching.detach()
        self._stops.operators.detach()
        self.checks.detach()
        self._watching.forget()
        self._watches.look_again()
        if self.paused is None:
            self.notify("finished")
        else:
            self.resume("continue")  # the paused thread tells that it is finished

    def __enter__(self) -> DebugSession:
        modes, goes_on = TrainingModes(self.roots), bool(self._entered) and self.attached
        self.attach()
        self._entered.append((modes, goes_on))
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        # A stack of contexts may end what was attached without it.
        modes, goes_on = self._entered.pop() if self._entered else (None, False)
        if modes is not None and kind is not None and issubclass(kind, DebugAbort):
            modes.restore()
        if not goes_on:
            self.detach()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Raises TypeError: a copy would be told what the engine tells this one, and end it with itself."""
        raise TypeError("a DebugSession cannot be copied or pickled; make another one with the same arguments")

    # Views, as plain data

    def tree(self) -> list[CellNode]:
        """The cells, each root followed by what is inside it."""
        return cell_nodes(self.paths, self._hooks.keys(), self._newest.shape_texts())

    def parameters(self) -> list[ParameterRow]:
        """The parameters of the roots."""
        return parameter_rows(self.roots, self.gradients, self._newest.before_update)

    def hooks(self) -> list[HookRow]:
        """Every hook on every cell."""
        return hook_rows(self.paths, self._hooks.functions())

    def table(self) -> str:
        """The captures as text, one a line; below them what is missing, and what to do about it."""
        return "\n".join([table(self.captures.rows()), *self.captures.notes()])

    @property
    def runs_eagerly(self) -> str:
        """What is compiled and runs eagerly because the session watches or has hooks on it, as a sentence; or ""."""
        if not (self.attached or self._hooks.keys()):
            return ""
        roots = [type(root).__name__ for root in self.roots if graph_mode() or root.compiled]
        names = list(dict.fromkeys((*roots, *self._compiled)))
        if not names:
            return ""
        verb, whose = ("is", "its") if len(names) == 1 else ("are", "their")
        why = "the session watches" if self.attached else "a hook of the session is attached"
        return f"{', '.join(names)} {verb} compiled; while {why}, {whose} calls run eagerly"

    # What to watch and where to stop, at any time

    @property
    def watch(self) -> list[Watch]:
        """What is watched."""
        return self._watches.all

    def add_watch(self, text: str) -> Watch:
        """Watch more cells from now on: ``PATTERN[:forward|backward|all]``; the first one ends watching every leaf.

        Raises:
            ValueError: an unknown direction, or a pattern that matches nothing.
        """
        return self._watches.add(text)

    def remove_watch(self, text: str) -> None:
        """Watch them no more; without any watch left, every leaf is watched.

        Raises:
            ValueError: there is no such watch.
        """
        self._watches.remove(text)

    @property
    def breakpoints(self) -> list[Breakpoint]:
        """Where the session stops."""
        return self._breakpoints.all

    @property
    def step_bprop(self) -> bool:
        """Whether it stops at the first line of every custom bprop."""
        return self._breakpoints.every_bprop

    @step_bprop.setter
    def step_bprop(self, every_bprop: bool) -> None:
        """Raises TypeError where it is neither True nor False."""
        self._breakpoints.every_bprop = checked_flag("step_bprop", every_bprop)

    def add_breakpoint(self, text: str | Breakpoint) -> Breakpoint:
        """Stop there from now on; one that is there already stays as it is.

        Raises:
            ValueError: a faulty text, or a path that matches nothing.
        """
        return self._breakpoints.add(text)

    def remove_breakpoint(self, text: str | Breakpoint) -> None:
        """Stop there no more.

        Raises:
            ValueError: there is no such breakpoint.
        """
        self._breakpoints.remove(text)

    def add_condition(self, text: str, pause: bool = False) -> list[Condition]:
        """Look for a condition from now on, or for several ("all"); with ``pause``, stop where it holds.

        Raises:
            ValueError: an unknown name, a faulty expression or threshold.
        """
        added = parse_conditions((text,))
        for condition in added:
            self.checks.add(condition, pause)
        self.notify("changed")
        return added

    def remove_condition(self, name: str) -> None:
        """Look for it no more; what was found stays.

        Raises:
            ValueError: it is not looked for.
        """
        self.checks.remove(name)
        self.notify("changed")

    def set_capture_bounds(self, max_bytes: int | None = None, max_captures: int | None = None) -> None:
        """Keep more captures from now on, or fewer; None leaves a bound as it is.

        Raises:
            ValueError: a bound is no positive integer.
        """
        self.captures.set_bounds(max_bytes, max_captures)
        self.notify("changed")

    # Hooks, modes and parameters

    def attach_hook(self, path: str, kind: str, function: Callable[..., Any] | None = None) -> None:
        """Attach a hook to the cell at ``path``; the default one makes captures of what it sees."""
        cell = self.paths.cell(path)
        self._hooks.attach(cell, self._path(cell), kind, function)
        self.notify("changed")

    def detach_hook(self, path: str, kind: str) -> None:
        """Take the session's hook of this kind off the cell at ``path``, if there is one."""
        self._hooks.detach(self._path(self.paths.cell(path)), kind)
        self.notify("changed")

    def set_train(self, path: str, mode: bool) -> None:
        """Set the cell at ``path``, and those inside it, to training or to prediction."""
        self.paths.cell(path).set_train(mode)
        self.notify("changed")

    def set_requires_grad(self, name: str, value: bool) -> None:
        """Set whether the parameter of this name wants a gradient."""
        self._parameter(name).requires_grad = value
        self.notify("changed")

    def _parameter(self, name: str) -> Parameter:
        known = dict(pair for root in self.roots for pair in root.parameters_and_names())
        if name not in known:
            raise ValueError(f"no parameter {name!r} in this session{suggestion(name, known)}")
        return known[name]

    @property
    def parameter_edits(self) -> ParameterEdits:
        """Previews changes of parameters, makes them and takes them back."""
        return ParameterEdits(self._parameter, self._in_a_run, self._put, self._edited)

    def _in_a_run(self) -> str | None:
        if self.paused is None and self._watching.in_a_run:
            return "a run is under way and not paused"
        return None

    def _put(self, parameter: Parameter, array: Any) -> None:
        self.checks.edited(parameter, array)
        self._newest.edited(parameter, array)
        parameter._rebind(array)
        self.notify("changed")

    # Pauses

    @property
    def paused(self) -> PausePoint | None:
        """Where the run stands still now; None while it runs."""
        return self._showing.paused

    @property
    def shown(self) -> PausePoint | None:
        """What is looked at meanwhile: ``paused``, or what was stepped back to."""
        return self._showing.shown

    @property
    def skipped_pauses(self) -> list[PausePoint]:
        """The pauses at which nobody could answer."""
        return self._pauses.skipped

    @property
    def no_pauses(self) -> str | None:
        """Why nobody could answer a pause now, in one clause; None where somebody can."""
        return self._pauses.unavailable

    @property
    def aborting(self) -> bool:
        """Whether ``abort`` was called and the run has not come to its next cell yet."""
        return self._pauses.aborting

    def pause(self, reason: str = "pause() was called") -> None:
        """Pause here, in the function that calls this.

        Raises:
            DebugAbort: the answer was "abort".
            RuntimeError: this is called from an expression that is evaluated at a pause.
        """
        self._pauses.pause(sys._getframe(1), reason)

    def pause_at(self, point: PausePoint) -> str:
        """Pause; returns the command that ended it, "continue" if nobody could answer."""
        return self._pauses.pause_at(point)

    def resume(self, command: str = "continue") -> None:
        """Let the paused run go on by one of ``COMMANDS``. Any thread may call this.

        "abort" also undoes what was changed in this step's pauses: modes, ``requires_grad``, parameters, hooks, and
        variables that outlive their function.

        Raises:
            ValueError: another command.
            RuntimeError: nothing is paused.
        """
        self._pauses.resume(command)

    def abort(self) -> None:
        """End the run: the next call of one of the cells raises ``DebugAbort``. Any thread may call this.

        At a pause it is ``resume("abort")``. Also otherwise, what was changed in this step's pauses is undone. A step
        that is on its way back ends as a whole; the one after it does not begin.

        Raises:
            RuntimeError: the session watches nothing now.
        """
        self._pauses.abort()

    def capture_local(self, slot: str, value: Tensor) -> Capture:
        """Make a capture of what a local variable holds at the place that is shown; ``slot`` is its name.

        Raises:
            RuntimeError: nothing is paused.
        """
        return self._capturing.take_local(self._showing.shown_point(), slot, value)

    def step_back(self) -> PausePoint:
        """Show the line that the bprop passed before the one that is shown; returns what is shown now.

        Raises:
            RuntimeError: nothing is paused, or there is no earlier line.
        """
        return self._showing.step_back()

    def step_forward(self) -> PausePoint:
        """Show the line that came after the one that is shown, in the end where the run stands.

        Raises:
            RuntimeError: nothing is paused, or where the run stands is what is shown.
        """
        return self._showing.step_forward()

    def show_operator(self, index: int) -> PausePoint:
        """Show an operator that the bprop ran, and the line that ran it; ``inputs`` and ``output`` name its values.

        Args:
            index: its place among the operators of ``paused``; as in a list, -1 is the last.

        Raises:
            RuntimeError: nothing is paused, or in no bprop that is stepped.
            IndexError: there is no such operator.
        """
        return self._showing.show_operator(index)

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the scope of the paused function, as it was at what is shown.

        At a cell, the locals are ``cell`` and what passes there (``inputs``, ``output``, ``grad_output`` or
        ``grad_input``). Names that the function does not have are looked up among those of breakpoint
        expressions. Nothing pauses in here, and nothing is recorded: no breakpoint stops, no gradient changes. Random
        numbers, and what is held by the cells and tensors that it names, are afterwards what they were before.

        Raises:
            RuntimeError: nothing is paused.
            ValueError: it is no expression.
            Exception: whatever the expression raises.
        """
        return self._scope.evaluate(expression)

    def edit(self, name: str, expression: str) -> object:
        """Compute an expression as part of the run, and put its value in the place of ``name``; returns the value.

        Unlike what ``evaluate`` computes, this is recorded: gradients go through it, as through what a hook computes.
        For ``name`` see ``assign``.

        Raises:
            ValueError: it is no expression.
            Exception: whatever the expression raises, or ``assign``; then the run is as it was.
        """
        return self._scope.edit(name, expression)

    def assign(self, name: str, value: object) -> None:
        """Put a value in the place of what passes at a cell, or of a local variable of the paused function.

        At a cell, the run goes on as if a hook of that moment had returned the value: ``inputs`` or ``keywords`` before
        the cell, ``output`` after it, ``grad_output`` and ``grad_input`` on the way back; ``output[1]`` is one of them.

        Raises:
            RuntimeError: nothing is paused, or nothing can be set here.
            NameError: there is no such name.
            TypeError, ValueError: a hook must not return this.
        """
        self._scope.assign(name, value)

    def check_gradient(self, seconds: float = 1.0) -> GradientCheck:
        """Check the gradient of the cell whose ``bprop`` is paused, with the inputs that it has there.

        See ``engine.debug.check_gradient``. Nothing pauses in here, and nothing is recorded.

        Raises:
            RuntimeError: nothing is paused, or not in a ``bprop``.
            Exception: whatever the cell raises.
        """
        return self._scope.check_gradient(seconds)

    @property
    def gradient_checks(self) -> dict[str, GradientCheck]:
        """The last gradient check of each cell that one was made of, by its path."""
        return self._scope.gradient_checks

    # What others are told

    @property
    def name(self) -> str:
        """What messages call the session."""
        return self._events.name

    def observe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``callback`` with each event from now on; returns what ends that."""
        return self._events.observe(callback)

    def notify(self, event: Event) -> None:
        """Tell those who observe."""
        self._events.notify(event)

    def say(self, text: str, once: str | None = None) -> None:
        """One line on standard error; with ``once``, only the first of that kind."""
        self._events.say(text, once)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What raised in the debugger itself and did not end the run: the first of each place, with its traceback."""
        return self._events.faults.all()

    def forgives(self, place: str, error: BaseException) -> bool:
        """Report what raised in a view or another observer, once for its place; see ``faults``.

        Returns:
            whether the run is to go on as if it had not come: not after an interrupt, an abort, or an exception of the
            user's own code.
        """
        return self._events.faults.forgives(place, error)

    # For the parts

    def _who_answers(self) -> Pauser:
        return self.pauser or (default_pauser() or TerminalPauser)(self)

    def _breakpoints_changed(self) -> None:
        self._stops.operators.listen()
        self.notify("changed")

    def _step_began(self) -> None:
        self._pauses.step_began()
        self.checks.step_began()

    def _unplanned(self, name: str, level: str) -> None:
        self._compiled[name] = level
        if level == "O1":
            self.say(
                f"'{name}' has jit_level O1; while it is watched its operators run one by one and round as at O0, so "
                "its numbers may differ from those of a call that nobody watches",
                "O1",
            )

    def _gradients_came(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        self._newest.came(pairs)
        self.notify("changed")

    def _record_hook(self, path: str, kind: str, cell: Cell, seen: tuple[tuple[str, Any], ...]) -> None:
        direction = "backward" if kind.startswith("backward") else "forward"
        if (unplanned := taps.unplanned_call()) is not None:
            self._unplanned(*unplanned)
        with taps.muted(), self._events.faults.at("capturing at a hook"):
            visit = self._watching.visits.of_hook(cell, path, kind)
            if self._watches.takes(visit.step):
                slots = [slot for name, value in seen for slot in pick_slot(name, value, Tensor)]
                self._capturing.take(visit, direction, slots, "hook", visit.context)

    def _path(self, cell: Cell) -> str:
        path = self.paths.path_of(cell)
        assert path is not None
        return path


def _checked_cell(net: object) -> Cell:
    from hookscope.engine.nn import Cell

    if not isinstance(net, Cell):
        raise TypeError(f"net must be a Cell, got {type(net).__name__}")
    return net
