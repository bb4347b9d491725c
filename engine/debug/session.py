"""DebugSession: the whole debugger without a screen. Panels, magics and scripts drive this one class.

It is thin: what it holds is said here, the work is done by the modules around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hookscope.engine import taps
from hookscope.engine.recording import recording_active
from hookscope.engine.tensor import Tensor

from .captures.capture import pick_slot
from .captures.ring import MAX_BYTES, MAX_CAPTURES, CaptureRing
from .checks.checks import Checks
from .checks.figures_by_step import History
from .checks.findings import Finding, Findings, Muted
from .checks.producer import Producer
from .conditions import CONDITIONS, Condition, Hit, parse_conditions
from .cures import Cure, cures_of
from .hooks import SessionHooks
from .observer import Observer
from .parameter_edits import ParameterEdit, ParameterEdits
from .paths import CellPaths
from .pausing.breakpoint import Breakpoint
from .pausing.pause import DebugAbort, Pauser
from .pausing.pausing import Pausing
from .pausing.undo import NetworkState, TrainingModes
from .rows import CellNode, HookRow, ParameterRow, cell_nodes, hook_rows, parameter_rows, table
from .watch import Watch, check_matches, suggestion
from .weakly import weakly

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.parameter import Parameter

__all__ = ["DebugSession"]

_EVERY_LEAF = ("",)


class DebugSession(Pausing):
    """Watches a network while it is attached.

    Args:
        net: the network; without it, every network and loss that is called becomes a root, see ``taken_roots``.
        watch: patterns ``PATTERN[:forward|backward|all]``; none means every leaf cell. See ``watch``.
        breaks: breakpoints, or texts ``PATH[:MOMENT] [if EXPRESSION]``. See ``breakpoint``.
        step: pause at the first line of every custom bprop.
        conditions: names of conditions to look for: ``NAME``, ``NAME=THRESHOLD``, ``if EXPRESSION``, or "all". See
            ``conditions``.
        stop_on: the same, to look for and to pause at.
        every: make captures only in each so-manieth step.
        max_bytes: how much memory the captured values may take; of older ones the figures stay. All sessions together
            keep 1 GiB, or as much as the one of them that may keep most.
        max_captures: how many captures are kept, those without their values included.
        pauser: who answers at a pause; the default pauser, or else the terminal.
        name: what messages call the session.

    Attributes:
        captured: how many captures were made, those included that are no longer kept.

    Raises:
        TypeError: ``net`` is no cell.
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
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every must be a positive integer, got {every!r}")
        super().__init__(name, pauser)
        self.every = every
        self.step_bprop = step
        self.takes_roots = net is None
        self.paths = CellPaths()
        if net is not None:
            self.paths.add_root(_checked_cell(net))
        self.watch = [Watch.parse(text) for text in _texts(watch) or _EVERY_LEAF]
        self.breakpoints = [b if isinstance(b, Breakpoint) else Breakpoint.parse(b) for b in _texts(breaks)]
        looked_for = parse_conditions(_texts(conditions))
        paused_at = parse_conditions(_texts(stop_on), "stop_on")
        if net is not None:
            self._check_patterns()
        self.captures = CaptureRing(max_bytes, max_captures)
        self.shapes: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.gradients: dict[int, Tensor] = {}
        self.before_update: dict[int, Any] = {}
        self.captured = 0
        self._tap = Observer(self)
        self.checks = Checks(self, looked_for, paused_at)
        self._hooks = SessionHooks(weakly(self._record_hook))
        self._edited: list[ParameterEdit] = []
        self._cures: dict[tuple[tuple[str, str], str], Cure] = {}

    def __del__(self) -> None:
        if not hasattr(self, "_hooks"):  # what was to be made was refused
            return
        was_attached = self.attached
        for tap in (*self._tap.taps, *self.checks.taps):
            taps.detach(tap)
        self._hooks.detach_recorders()
        if was_attached and not any(is_watched(root) for root in self.roots):
            self.say("watches no more, since no variable refers to this session any longer")

    def __repr__(self) -> str:
        roots = ", ".join(type(root).__name__ for root in self.roots)
        return f"DebugSession({roots}: {self.step} steps, {len(self.captures)} captures, {len(self.hits)} hits)"

    def _check_patterns(self) -> None:
        for watch in self.watch:
            self._check_watch(watch)
        for stop in self.breakpoints:
            self._check_breakpoint(stop)

    def _check_watch(self, watch: Watch) -> None:
        if not self.takes_roots:
            check_matches(watch.pattern, [path for path, _ in self.paths], "watch")

    def _check_breakpoint(self, stop: Breakpoint) -> None:
        if self.takes_roots or stop.operator:
            return
        check_matches(stop.path or ".", [path for path, _ in self.paths], "breakpoint")
        stepped = [path for path, cell in self.paths if cell.has_custom_bprop]
        if stop.moment == "bprop" and not any(stop.applies(path, "bprop") for path in stepped):
            raise ValueError(
                f"breakpoint {str(stop)!r}: no such cell has a bprop of its own{suggestion(stop.path, stepped)}"
            )

    # Watching

    @property
    def roots(self) -> list[Cell]:
        """The cells at the top of what is watched."""
        return self.paths.roots

    @property
    def attached(self) -> bool:
        """Whether the session watches now."""
        return taps.attached(self._tap)

    @property
    def parameter_edits(self) -> ParameterEdits:
        """Previews changes of parameters, makes them and takes them back."""
        return ParameterEdits(self._parameter, self._in_a_run, self._put, self._edited)

    @property
    def innermost(self) -> str:
        """The path of the innermost cell that this thread is in; "" for the root, or none."""
        visit = self._tap.running()
        return "" if visit is None else visit.path

    @property
    def own_run(self) -> bool:
        """Whether what this thread runs now belongs to the session's network, or to nobody's."""
        return self._tap.own_run

    @property
    def hits(self) -> list[Hit]:
        """The conditions that held, oldest first; those of values for the captures that are still kept."""
        self.checks.found.forget(self.captures.oldest_index)
        return list(self.checks.found)

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
        return self.checks.training.history

    def findings(self) -> Findings:
        """What the conditions found, each once for a condition and a cell; prints as a table."""
        return self.checks.found.findings({path: place for place, path in enumerate(tuple(self.shapes))})

    def cures(self, finding: Finding) -> list[Cure]:
        """What can be done about a finding now, each with a preview and a way back; see ``Cure``."""
        condition = self.checks.conditions.get(finding.condition, CONDITIONS.get(finding.condition))
        names = () if condition is None else condition.cures
        place = finding.condition, finding.path
        for cure in cures_of(self, finding, [name for name in names if not self._is_cured(place, name)]):
            self._cures[place, cure.name] = cure
        return [self._cures[place, name] for name in names if (place, name) in self._cures]

    def _is_cured(self, place: tuple[str, str], name: str) -> bool:
        """Whether this is done, or has seen something; what is not done is seen anew each time."""
        cure = self._cures.get((place, name))
        if cure is not None and not cure.outcome:
            del self._cures[place, name]
        return cure is not None and bool(cure.outcome)

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
        taps.attach(self._tap)
        self._tap.stops_changed()
        self.checks.attach()
        self.notify("attached")

    def detach(self) -> None:
        """Stop watching; a paused run goes on. Hooks of the session stay until ``detach_hook``."""
        if not self.attached:
            return
        self.aborting = False
        taps.detach(self._tap)
        self._tap.stops_changed()
        self.checks.detach()
        self._tap = Observer(self)
        if self.paused is None:
            self.notify("finished")
        else:
            self.resume("continue")  # the paused thread tells that it is finished

    def __enter__(self) -> DebugSession:
        self.attach()
        self._modes = TrainingModes(self.roots)
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        if kind is not None and issubclass(kind, DebugAbort):
            self._modes.restore()
        self.detach()

    # Views, as plain data

    def tree(self) -> list[CellNode]:
        """The cells, each root followed by what is inside it."""
        texts = {
            path: ", ".join("x".join(map(str, shape)) or "()" for shape in shapes)
            for path, shapes in tuple(self.shapes.items())
        }
        return cell_nodes(self.paths, self._hooks.keys(), texts)

    def parameters(self) -> list[ParameterRow]:
        """The parameters of the roots."""
        return parameter_rows(self.roots, self.gradients, self.before_update)

    def hooks(self) -> list[HookRow]:
        """Every hook on every cell."""
        return hook_rows(self.paths, self._hooks.functions())

    def table(self) -> str:
        """The captures as text, one a line; below them what is missing, and what to do about it."""
        return "\n".join([table(self.captures.rows()), *self.captures.notes()])

    # What to watch and where to stop, at any time

    def add_watch(self, text: str) -> Watch:
        """Watch more cells from now on: ``PATTERN[:forward|backward|all]``; the first one ends watching every leaf.

        Raises:
            ValueError: an unknown direction, or a pattern that matches nothing.
        """
        watch = Watch.parse(text)
        self._check_watch(watch)
        if watch not in self.watch:
            self.watch = [watch] if self.watch == [Watch.parse(t) for t in _EVERY_LEAF] else [*self.watch, watch]
            self._tap.watch_changed()
            self.notify("changed")
        return watch

    def remove_watch(self, text: str) -> None:
        """Watch them no more; without any watch left, every leaf is watched.

        Raises:
            ValueError: there is no such watch.
        """
        self.watch.remove(_known(Watch.parse(text), self.watch, "watch", lambda one: one.pattern))
        self.watch = self.watch or [Watch.parse(text) for text in _EVERY_LEAF]
        self._tap.watch_changed()
        self.notify("changed")

    def add_breakpoint(self, text: str | Breakpoint) -> Breakpoint:
        """Stop there from now on; one that is there already stays as it is.

        Raises:
            ValueError: a faulty text, or a path that matches nothing.
        """
        stop = text if isinstance(text, Breakpoint) else Breakpoint.parse(text)
        self._check_breakpoint(stop)
        if stop in self.breakpoints:
            return self.breakpoints[self.breakpoints.index(stop)]
        self.breakpoints.append(stop)
        self._tap.stops_changed()
        self.notify("changed")
        return stop

    def remove_breakpoint(self, text: str | Breakpoint) -> None:
        """Stop there no more.

        Raises:
            ValueError: there is no such breakpoint.
        """
        stop = text if isinstance(text, Breakpoint) else Breakpoint.parse(text)
        self.breakpoints.remove(_known(stop, self.breakpoints, "breakpoint", str))
        self._tap.stops_changed()
        self.notify("changed")

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
        if name not in self.checks.conditions:
            raise ValueError(f"no condition {name!r} in this session{suggestion(name, self.checks.conditions)}")
        self.checks.remove(name)
        self.notify("changed")

    def set_capture_bounds(self, max_bytes: int | None = None, max_captures: int | None = None) -> None:
        """Keep more captures from now on, or fewer; None leaves a bound as it is.

        Raises:
            ValueError: a bound is no positive integer.
        """
        self.captures.set_bounds(max_bytes, max_captures)
        self.notify("changed")

    # Actions

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
    def running(self) -> bool:
        """Whether this thread is inside a run that the session watches."""
        return self.attached and (self._tap.inside() or recording_active())

    def _in_a_run(self) -> str | None:
        if self.paused is None and (self._tap.inside() or recording_active()):
            return "a run is under way and not paused"
        return None

    def _put(self, parameter: Parameter, array: Any) -> None:
        self.checks.training.edited(parameter, array)
        if id(parameter) in self.before_update:
            self.before_update[id(parameter)] = array  # an edit is no update
        parameter._rebind(array)
        self.notify("changed")

    def _cell(self, path: str) -> Cell:
        return self.paths.cell(path)

    def _does_not_stop(self, cell: Cell) -> None:
        path = self.paths.path_of(cell)
        if path is not None and any(stop.applies(path, stop.moment) for stop in self.breakpoints):
            self.say("breakpoints do not stop inside an expression that is evaluated at a pause", once="evaluated")

    def _undo_since(self) -> Callable[[], list[Callable[[], None]]]:
        state, hooks = NetworkState(self.roots), self._hooks.state()

        def undo() -> list[Callable[[], None]]:
            attached = [] if self._hooks.state() == hooks else [partial(self._hooks.go_back_to, hooks)]
            return [*state.undo(), *attached]

        return undo

    # For the observer

    def takes_step(self, step: int) -> bool:
        """Whether captures are made of a step; what runs before the first one belongs to that."""
        return max(step - 1, 0) % self.every == 0

    def next_index(self) -> int:
        """The running number of the next capture."""
        self.captured += 1
        return self.captured - 1

    def place_of(self, call: int) -> tuple[str, int] | None:
        """The path and the number in its step of the call with this running number."""
        visit = self._tap.visit_of(call)
        return None if visit is None else (visit.path, visit.call)

    def place_of_bprop(self, cell: Cell) -> tuple[str, int]:
        """The same for the call whose gradient a cell's ``bprop`` computes."""
        visit = self._tap.visit_of_bprop(cell)
        return (self.paths.path_of(cell) or type(cell).__name__, 0) if visit is None else (visit.path, visit.call)

    def _record_hook(self, path: str, kind: str, cell: Cell, seen: tuple[tuple[str, Any], ...]) -> None:
        direction = "backward" if kind.startswith("backward") else "forward"
        with taps.muted():
            visit = self._tap.visit_of_hook(cell, path, kind)
            if not self.takes_step(visit.step):
                return
            self._tap.keep(visit, direction, [s for name, v in seen for s in pick_slot(name, v, Tensor)], "hook")

    def _path(self, cell: Cell) -> str:
        path = self.paths.path_of(cell)
        assert path is not None
        return path


def is_watched(net: Cell) -> bool:
    """Whether a session watches a network now."""
    return any(isinstance(tap, Observer) and tap.watches(net) for tap in tuple(taps.cell_taps))


def _checked_cell(net: object) -> Cell:
    from hookscope.engine.nn import Cell

    if not isinstance(net, Cell):
        raise TypeError(f"net must be a Cell, got {type(net).__name__}")
    return net


def _texts(given: Sequence[Any] | str) -> Sequence[Any]:
    return (given,) if isinstance(given, str | Breakpoint) else tuple(given)


def _known(wanted: Any, there: Sequence[Any], what: str, text: Callable[[Any], str]) -> Any:
    if wanted not in there:
        raise ValueError(f"no {what} {text(wanted)!r} in this session{suggestion(text(wanted), map(text, there))}")
    return wanted
