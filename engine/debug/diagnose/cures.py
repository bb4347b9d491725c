"""What the debugger can do about a finding: each cure with what it would change, and the way back.

``CURES`` has a function for each name that stands in a row of conditions (``Condition.cures``); it gives the cure for
one finding, or None where there is nothing to do. After a cure the next step shows whether the finding is gone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tensors.parameter import Parameter, ParameterTuple
from hookscope.engine.tensors.tensor import Tensor

from ..compare.gradient_check import check_gradient
from ..faults import forgiven
from ..record.capture import cell_name
from ..stop.undo import TrainingModes

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell, Optimizer

    from ..session import DebugSession
    from .findings import Finding

__all__ = ["CURES", "Cure", "cures_of"]

# What gradients are clipped to most of the time.
_LONGEST = 1.0
# Seconds that a gradient check may take where somebody waits for it.
_CHECK_SECONDS = 5.0
_INPUT = re.compile(r"input\[(\d+)\]")

Undo = Callable[[], object]
# What a cure has changed is to be undone; one that only looks says what it saw.
Did = Undo | str


@dataclass(eq=False)
class Cure:
    """One thing to do about one finding.

    Attributes:
        name: its name in ``CURES``.
        label: what a button says.
        preview: what it will change, one sentence.
        finding: the finding.
        done: whether it was done, and not taken back.
    """

    name: str
    label: str
    preview: str
    finding: Finding
    _do: Callable[[], Did]
    _session: DebugSession
    done: bool = False
    _undo: Undo | None = field(default=None, repr=False)
    _since: int = 0
    _saw: str = ""

    def apply(self) -> None:
        """Do it; what only looks may look again.

        Raises:
            RuntimeError: it is done already, or a run is under way and not paused.
        """
        if self.done:
            raise RuntimeError(f"{self.label}: this is done already")
        self._check()
        did = self._do()
        if isinstance(did, str):
            self._saw = did
        else:
            self._undo, self.done, self._since = did, True, self._session.step
        self._session.notify("changed")

    def undo(self) -> None:
        """Make it as it was.

        Raises:
            RuntimeError: it is not done, or a run is under way and not paused.
        """
        if self._undo is None:
            raise RuntimeError(f"{self.label}: there is nothing to take back")
        self._check()
        self._undo()
        self._undo, self.done = None, False
        self._session.notify("changed")

    @property
    def outcome(self) -> str:
        """What it saw, or what the steps since then have shown, in a few words; "" where it is not done."""
        if not self.done:
            return self._saw
        if self._session.step <= self._since:
            return "run one more step to see whether it is gone"
        if self.finding.last_step > self._since:
            return f"still there in step {self.finding.last_step}"
        return f"gone: not seen in step {self._session.step}"

    def _check(self) -> None:
        if self._session.paused is None and self._session.running:
            raise RuntimeError(f"{self.label}: a run is under way and not paused")


def cures_of(session: DebugSession, finding: Finding, names: Sequence[str]) -> list[Cure]:
    """The cures for a finding that there are now."""
    found: list[tuple[str, _Made]] = []
    for name in names:
        with forgiven(session, f"the cure {name!r}"):
            found.append((name, CURES[name](session, finding)))
    return [Cure(name, *cure[:2], finding, cure[2], session) for name, cure in found if cure is not None]


_Made = tuple[str, str, Callable[[], Did]] | None


def _set_train(session: DebugSession, finding: Finding) -> _Made:
    """Turn the mode of the network over: what it was found in is wrong."""
    mode = not session.paths.cell(finding.path or ".").training
    turned = [cell_name(path) for path, cell in session.paths if cell.training != mode]
    if not turned:
        return None
    wanted = "training" if mode else "prediction"

    def do() -> Undo:
        modes = TrainingModes(session.roots)
        for root in session.roots:
            root.set_train(mode)
        return modes.restore

    return f"Set to {wanted}", f"set_train({mode}) puts {_some(turned)} into {wanted} mode.", do


def _unfreeze(session: DebugSession, finding: Finding) -> _Made:
    parameter = session._parameter(finding.parameter)
    if parameter.requires_grad:
        return None

    def do() -> Undo:
        parameter.requires_grad = True
        return partial(setattr, parameter, "requires_grad", False)

    said = f"{finding.parameter} gets requires_grad=True; an optimizer that was made without it has to be made anew."
    return "Unfreeze", said, do


def _pause_here(session: DebugSession, finding: Finding) -> _Made:
    """Pause where it is seen next: at the operator that makes a NaN, else at the cell, in its bprop or on its way."""
    condition = session.checks.conditions.get(finding.condition)
    if condition is not None and condition.nonfinite:
        if condition.name in session.checks.pausing:
            return None

        def stop() -> Undo:
            session.checks.add(condition, pause=True)
            return partial(session.checks.add, condition)

        return "Pause here next time", f"The run pauses at the operator that makes the next {condition.name}.", stop
    if finding.outside or finding.path not in dict(session.paths):
        return None
    own = session.paths.cell(finding.path or ".").has_custom_bprop
    moment = "bprop" if own else "backward" if finding.backward else "forward"
    text = f"{finding.path or '.'}:{moment}"
    if any(str(stop) == text for stop in session.breakpoints):
        return None

    def add() -> Undo:
        return partial(session.remove_breakpoint, session.add_breakpoint(text))

    return "Pause here next time", f"A breakpoint at {moment} of {cell_name(finding.path)}.", add


def _check_gradient(session: DebugSession, finding: Finding) -> _Made:
    """Say which element of the gradient is wrong, by how much; for what the cell was called with last."""
    calls: dict[tuple[int, int], dict[str, Tensor]] = {}
    for capture in session.captures:
        if capture.path == finding.path and capture.slot.startswith("input["):
            calls.setdefault((capture.step, capture.call), {})[capture.slot] = capture.value
    if not calls:
        return None
    (step, _), found = calls.popitem()
    places: list[tuple[int, Tensor]] = []
    for slot, value in found.items():
        place = _INPUT.fullmatch(slot)
        if place is None:
            return None  # it was called by keywords, or with tensors inside of something
        places.append((int(place[1]), value))
    inputs = [value for _, value in sorted(places, key=lambda one: one[0])]

    def do() -> str:
        check = check_gradient(session.paths.cell(finding.path or "."), *inputs, seconds=_CHECK_SECONDS)
        wrong = [row.detail for row in check.rows if row.verdict == "wrong"]
        return "; ".join([check.summary, *wrong])

    said = f"Compares it with finite differences, for the inputs of step {step}. It changes nothing."
    return "Check the gradient", said, do


def _clip(session: DebugSession, finding: Finding) -> _Made:
    """Clip where the gradient is first too long on its way back: what leaves that cell, or else what arrives there."""
    ran = list(session.shapes)
    grown = [one for one in session.findings() if one.condition == finding.condition and one.path in ran]
    if not grown:
        return None
    first = max(grown, key=lambda one: ran.index(one.path))
    leaves = "grad_input" in first.subject
    kind = "backward" if leaves else "backward_pre"
    if (first.path, kind) in set(session._hooks.keys()):
        return None

    def do() -> Undo:
        session.attach_hook(first.path, kind, _leaving if leaves else _arriving)
        return partial(session.detach_hook, first.path, kind)

    where = f"{'leave' if leaves else 'arrive at'} {cell_name(first.path)}"
    said = f"A hook scales the gradients that {where} to norm {_LONGEST:g} where they are longer."
    return "Clip by a hook", said, do


def _leaving(cell: Cell, grad_input: Any, grad_output: Any) -> Any:
    return _clipped(grad_input)


def _arriving(cell: Cell, grad_output: Any) -> Any:
    return _clipped(grad_output)


def _clipped(given: Any) -> Any:
    gradients = given if isinstance(given, tuple) else (given,)
    with np.errstate(all="ignore"):  # of which the user may have made errors
        squares = [float((abs(g._array).astype(np.float64) ** 2).sum()) for g in gradients if g is not None]
    norm = math.sqrt(sum(squares))
    if not norm > _LONGEST:
        return None
    return tuple([None if g is None else g * Tensor(_LONGEST / norm, g.dtype) for g in gradients])


def _own_parameters(session: DebugSession, finding: Finding) -> _Made:
    """Let the network and the optimizer have the same parameters, by their names."""
    optimizer, asked = session.checks.wrong_optimizer()
    if optimizer is None:
        return None
    held = {parameter.name: parameter for parameter in optimizer.parameters}
    own = {parameter.name: parameter for root in session.roots for parameter in root.trainable_params()}
    pairs = [(held[name], own[name]) for name in held if name in own and own[name].shape == held[name].shape]
    # A tuple of parameters among a cell's attributes would go on with the old ones.
    tuples = any(isinstance(value, ParameterTuple) for _, cell in session.paths for value in vars(cell).values())
    if len(pairs) < len(held) or tuples or all(old is new for old, new in pairs):
        return None
    count = f"{len(pairs)} parameters of {type(optimizer).__name__}"
    if {id(new) for _, new in pairs} & asked:
        said = f"{count} are replaced by those of the network that have the same names; its state stays."
        return "Give it the network's", said, partial(_give, optimizer, [new for _, new in pairs])
    said = f"The network takes the {count} in place of its own of the same names, with the values of its own."
    return "Let them be the same", said, partial(_take, session, pairs)


def _give(optimizer: Optimizer, parameters: list[Parameter]) -> Undo:
    before = optimizer.parameters

    def put(given: ParameterTuple) -> None:
        optimizer.parameters = optimizer._parameters = given

    put(ParameterTuple(parameters))
    return partial(put, before)


def _take(session: DebugSession, pairs: list[tuple[Parameter, Parameter]]) -> Undo:
    instead = {id(new): old for old, new in pairs}
    arrays = [(old, old._array) for old, _ in pairs]
    places = [
        (cell, name, parameter)
        for _, cell in session.paths
        for name, parameter in cell._params.items()
        if id(parameter) in instead
    ]
    for old, new in pairs:
        old._rebind(new._array)
    for cell, name, parameter in places:
        cell._params[name] = instead[id(parameter)]

    def undo() -> None:
        for cell, name, parameter in places:
            parameter._rebind(cell._params[name]._array)
            cell._params[name] = parameter
        for old, array in arrays:
            old._rebind(array)

    return undo


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


CURES: dict[str, Callable[[Any, Finding], _Made]] = {
    "set_train": _set_train,
    "unfreeze": _unfreeze,
    "pause_here": _pause_here,
    "check_gradient": _check_gradient,
    "clip": _clip,
    "own_parameters": _own_parameters,
}
"""By name, what makes a cure for a finding: its label, its preview, and what does it and returns what undoes it."""
