"""DebugSession: the whole debugger without a screen. Panels, magics and scripts drive this one class.

It is thin: what it holds is said here, the work is done by the modules around it.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hookscope.engine import taps
from hookscope.engine.tensor import Tensor

from .breakpoint import Breakpoint
from .capture import CaptureRing, pick_slot
from .conditions import Condition, Hit, parse_conditions
from .expression import FIGURES, compile_expression, evaluate, names_in, value_scope
from .hooks import SessionHooks
from .observer import Observer
from .paths import CellPaths
from .pause import DebugAbort, PausePoint, Pauser, TerminalPauser, check_command, default_pauser
from .points import point_at_stop
from .rows import CellNode, HookRow, ParameterRow, cell_nodes, hook_rows, parameter_rows, table
from .stepper import Stop
from .watch import Watch, check_matches, suggestion

if TYPE_CHECKING:
    from types import FrameType

    from hookscope.engine.nn import Cell

__all__ = ["DebugSession"]

# Pauses kept where nobody could answer: each holds the variables of a function.
_MAX_SKIPPED = 100


class DebugSession:
    """Watches a network while it is attached.

    Args:
        net: the network; without it, every root cell that is called becomes a root.
        watch: patterns ``PATTERN[:forward|backward|all]``; none means every leaf cell. See ``watch``.
        breaks: breakpoints, or texts ``PATH[:MOMENT] [if EXPRESSION]``. See ``breakpoint``.
        step: pause at the first line of every custom bprop.
        stop_on: names of conditions to look for and to pause at, or ``NAME=THRESHOLD``. See ``conditions``.
        every: make captures only in each so-manieth step.
        max_bytes, max_captures: bounds of the captures that are kept.
        pauser: who answers at a pause; the default pauser, or else the terminal.
        name: what messages call the session.

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
        stop_on: Sequence[str] = (),
        every: int = 1,
        max_bytes: int = 256 << 20,
        max_captures: int = 20_000,
        pauser: Pauser | None = None,
        name: str = "session",
    ) -> None:
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every must be a positive integer, got {every!r}")
        self.name = name
        self.pauser = pauser
        self.every = every
        self.step_bprop = step
        self.step = 0
        self.takes_roots = net is None
        self.paths = CellPaths()
        if net is not None:
            self.paths.add_root(_checked_cell(net))
        self.watch = [Watch.parse(text) for text in _texts(watch) or ("",)]
        self.breakpoints = [b if isinstance(b, Breakpoint) else Breakpoint.parse(b) for b in _texts(breaks)]
        self.conditions: list[Condition] = parse_conditions(_texts(stop_on))
        if net is not None:
            self._check_patterns()
        self.captures = CaptureRing(max_bytes, max_captures)
        self.shapes: dict[str, str] = {}
        self.gradients: dict[int, Tensor] = {}
        self.paused: PausePoint | None = None
        self.skipped_pauses: list[PausePoint] = []
        self._hits: deque[Hit] = deque()
        self._captured = 0
        self._command: str | None = None
        self._one_pause = threading.RLock()
        self._observers: list[Callable[[str], None]] = []
        self._said: set[str] = set()
        self._tap = Observer(self)
        self._hooks = SessionHooks(self._record_hook)

    def __repr__(self) -> str:
        roots = ", ".join(type(root).__name__ for root in self.roots)
        return f"DebugSession({roots}: {self.step} steps, {len(self.captures)} captures, {len(self.hits)} hits)"

    def _check_patterns(self) -> None:
        cells = list(self.paths)
        paths = [path for path, _ in cells]
        for watch in self.watch:
            check_matches(watch.pattern, paths, "watch")
        for stop in self.breakpoints:
            check_matches(stop.path or ".", paths, "breakpoint")
            stepped = [path for path, cell in cells if cell.has_custom_bprop]
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
    def hits(self) -> list[Hit]:
        """The conditions that held, oldest first, for the captures that are still kept."""
        self._forget_hits()
        return list(self._hits)

    def attach(self) -> None:
        """Begin to watch; once more changes nothing."""
        taps.attach(self._tap)

    def detach(self) -> None:
        """Stop watching; a paused run goes on. Hooks of the session stay until ``detach_hook``."""
        if not self.attached:
            return
        taps.detach(self._tap)
        self._tap = Observer(self)
        if self.paused is None:
            self.notify("finished")
        else:
            self.resume("continue")  # the paused thread tells that it is finished

    def __enter__(self) -> DebugSession:
        self.attach()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.detach()

    # Views, as plain data

    def tree(self) -> list[CellNode]:
        """The cells, each root followed by what is inside it."""
        return cell_nodes(self.paths, self._hooks.keys(), self.shapes)

    def parameters(self) -> list[ParameterRow]:
        """The parameters of the roots."""
        return parameter_rows(self.roots, self.gradients)

    def hooks(self) -> list[HookRow]:
        """Every hook on every cell."""
        return hook_rows(self.paths, self._hooks.functions())

    def table(self) -> str:
        """The captures as text, one a line."""
        return table(self.captures)

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
        known = dict(pair for root in self.roots for pair in root.parameters_and_names())
        if name not in known:
            raise ValueError(f"no parameter {name!r} in this session{suggestion(name, known)}")
        known[name].requires_grad = value
        self.notify("changed")

    # Pausing

    def pause(self, reason: str = "pause() was called") -> None:
        """Pause here, in the function that calls this.

        Raises:
            DebugAbort: the answer was "abort".
        """
        frame: FrameType = sys._getframe(1)
        with taps.muted():
            point = point_at_stop(Stop(frame, frame.f_lineno), "pause", reason, "", "", {})
            self.pause_or_abort(point)

    def resume(self, command: str = "continue") -> None:
        """Let the paused run go on: "over", "into", "out", "continue" or "abort". Any thread may call this.

        Raises:
            ValueError: another command.
            RuntimeError: nothing is paused.
        """
        check_command(command)
        if self.paused is None:
            raise RuntimeError(f"{self.name} is not paused")
        self._command = command

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the scope of the paused function.

        At a cell, the locals are ``cell`` and what passes there (``inputs``, ``output``, ``grad_output`` or
        ``grad_input``). Names that the function does not have are looked up among those of breakpoint
        expressions.

        Raises:
            RuntimeError: nothing is paused.
            ValueError: it is no expression.
            Exception: whatever the expression raises.
        """
        point = self._paused_point()
        code = compile_expression(expression)
        scope = {**point.names, **point.locals}
        wanted = [name for name in FIGURES if name not in scope and name in names_in(code)]
        with taps.muted():
            return evaluate(code, {**value_scope(scope.get("value"), wanted), **scope})

    def assign(self, name: str, value: object) -> None:
        """Give a local variable of the paused function another value.

        Raises:
            RuntimeError: nothing is paused, or not in a function whose variables can be set.
            NameError: the function has no such variable.
        """
        point = self._paused_point()
        if point.assign is None:
            raise RuntimeError("there is nothing here to set: the run stands at no line of a function")
        point.assign(name, value)
        point.locals[name] = value
        point.changed.add(name)
        self.notify("changed")

    def _paused_point(self) -> PausePoint:
        if self.paused is None:
            raise RuntimeError(f"{self.name} is not paused")
        return self.paused

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
        pauser = self._pauser()
        unavailable = pauser.unavailable()
        if unavailable is not None:
            if len(self.skipped_pauses) < _MAX_SKIPPED:
                self.skipped_pauses.append(point)
            self.say(f"not paused ({point.reason}): {unavailable}; kept in skipped_pauses", once="skipped")
            return "continue"
        with self._one_pause:
            if self.paused is not None or not (self.attached or point.kind == "pause"):
                return "continue"  # asked for while this thread is paused already, or after the session ended
            self._command = None
            self.paused = point
            self.notify("paused")
            try:
                pauser.wait(lambda: self._command is not None)
            finally:
                command, self._command = self._command, None
                self.paused = None
                self.notify("resumed" if self.attached or point.kind == "pause" else "finished")
        return command or "continue"

    def _pauser(self) -> Pauser:
        return self.pauser or default_pauser() or TerminalPauser(self)

    # Telling others

    def observe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call ``callback`` with each event; returns what ends that.

        Events are "captured", "paused", "resumed", "changed" and "finished".
        """
        self._observers.append(callback)

        def unsubscribe() -> None:
            if callback in self._observers:
                self._observers.remove(callback)

        return unsubscribe

    def notify(self, event: str) -> None:
        """Tell the observers."""
        for callback in tuple(self._observers):
            try:
                callback(event)
            except Exception as error:  # a view that fails must not end the user's run
                self.say(f"an observer raised {type(error).__name__}: {error}", once=f"observer {id(callback)}")

    def say(self, text: str, once: str | None = None) -> None:
        """One line on standard error; with ``once``, only the first of that kind."""
        if once is None or once not in self._said:
            self._said.update(() if once is None else (once,))
            print(f"hookscope: {self.name}: {text}", file=sys.stderr)

    # For the observer

    def next_index(self) -> int:
        """The running number of the next capture."""
        self._captured += 1
        return self._captured - 1

    def keep_hit(self, hit: Hit) -> None:
        """Keep a hit for as long as its capture."""
        self._hits.append(hit)
        self._forget_hits()

    def _forget_hits(self) -> None:
        oldest = self.captures.oldest_index
        while self._hits and (oldest is None or self._hits[0].capture.index < oldest):
            self._hits.popleft()

    def _record_hook(self, path: str, kind: str, cell: Cell, seen: tuple[tuple[str, Any], ...]) -> None:
        direction = "backward" if kind.startswith("backward") else "forward"
        with taps.muted():
            visit = self._tap.visit_of_hook(cell, path, kind)
            self._tap.keep(visit, direction, [s for name, v in seen for s in pick_slot(name, v, Tensor)], "hook")

    def _path(self, cell: Cell) -> str:
        path = self.paths.path_of(cell)
        assert path is not None
        return path


def _checked_cell(net: object) -> Cell:
    from hookscope.engine.nn import Cell

    if not isinstance(net, Cell):
        raise TypeError(f"net must be a Cell, got {type(net).__name__}")
    return net


def _texts(given: Sequence[Any] | str) -> Sequence[Any]:
    return (given,) if isinstance(given, str | Breakpoint) else tuple(given)
