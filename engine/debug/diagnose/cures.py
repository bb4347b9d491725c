"""Fixes for findings: each with a preview of its changes, and an undo.

``CURES`` has a function for each name in a row of conditions (``Condition.cures``); it returns the fix for one finding,
or None if it does not apply. The next step shows whether the finding is gone.
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
from ..faults import suppress_faults
from ..record.capture import cell_name
from ..stop.undo import TrainingModes

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell, Optimizer

    from ..session import DebugSession
    from .findings import Finding

__all__ = ["CURES", "Cure", "cures_of"]

# The usual norm to which gradients are clipped.
_LONGEST = 1.0
# Time limit in seconds of an interactive gradient check.
_CHECK_SECONDS = 5.0
_INPUT = re.compile(r"input\[(\d+)\]")

Undo = Callable[[], object]
# A fix that changes something returns its undo function; one that only inspects returns its result as text.
Did = Undo | str


@dataclass(eq=False)
class Cure:
    """One fix for one finding.

    Attributes:
        name: its name in ``CURES``.
        label: the text of its button.
        preview: its changes, one sentence.
        finding: the finding.
        done: whether it is applied, and not undone.
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
        """Apply the fix; one that only inspects may be applied again.

        Raises:
            RuntimeError: it is applied already, or a run is in progress and not paused.
        """
        if self.done:
            raise RuntimeError(f"{self.label}: this is done already")
        self._check()
        outcome = self._do()
        if isinstance(outcome, str):
            self._saw = outcome
        else:
            self._undo, self.done, self._since = outcome, True, self._session.step
        self._session.notify("changed")

    def undo(self) -> None:
        """Undo the fix.

        Raises:
            RuntimeError: it is not applied, or a run is in progress and not paused.
        """
        if self._undo is None:
            raise RuntimeError(f"{self.label}: there is nothing to take back")
        self._check()
        self._undo()
        self._undo, self.done = None, False
        self._session.notify("changed")

    @property
    def outcome(self) -> str:
        """The result, or the effect on the steps since then, in a few words; "" if it is not applied."""
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
    """Return the fixes that currently apply to a finding."""
    specifications: list[tuple[str, _Made]] = []
    for name in names:
        with suppress_faults(session, f"the cure {name!r}"):
            specifications.append((name, CURES[name](session, finding)))
    return [Cure(name, *cure[:2], finding, cure[2], session) for name, cure in specifications if cure is not None]


_Made = tuple[str, str, Callable[[], Did]] | None


def _set_train(session: DebugSession, finding: Finding) -> _Made:
    """Switch the mode of the network: the mode in the finding is wrong."""
    mode = not session.paths.cell(finding.path or ".").training
    changed_cells = [cell_name(path) for path, cell in session.paths if cell.training != mode]
    if not changed_cells:
        return None
    mode_name = "training" if mode else "prediction"

    def do() -> Undo:
        modes = TrainingModes(session.roots)
        for root in session.roots:
            root.set_train(mode)
        return modes.restore

    return f"Set to {mode_name}", f"set_train({mode}) puts {_some(changed_cells)} into {mode_name} mode.", do


def _unfreeze(session: DebugSession, finding: Finding) -> _Made:
    parameter = session._parameters.find(finding.parameter)
    if parameter.requires_grad:
        return None

    def do() -> Undo:
        parameter.requires_grad = True
        return partial(setattr, parameter, "requires_grad", False)

    preview = f"{finding.parameter} gets requires_grad=True; an optimizer that was made without it has to be made anew."
    return "Unfreeze", preview, do


def _pause_here(session: DebugSession, finding: Finding) -> _Made:
    """Pause at the next occurrence: at the operator that makes a NaN, else in the bprop, forward or backward pass."""
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
    has_bprop = session.paths.cell(finding.path or ".").has_custom_bprop
    moment = "bprop" if has_bprop else "backward" if finding.backward else "forward"
    text = f"{finding.path or '.'}:{moment}"
    if any(str(stop) == text for stop in session.breakpoints):
        return None

    def add() -> Undo:
        return partial(session.remove_breakpoint, session.add_breakpoint(text))

    return "Pause here next time", f"A breakpoint at {moment} of {cell_name(finding.path)}.", add


def _check_gradient(session: DebugSession, finding: Finding) -> _Made:
    """Report which elements of the gradient are wrong, and by how much, for the last inputs of the cell."""
    calls: dict[tuple[int, int], dict[str, Tensor]] = {}
    for capture in session.captures:
        if capture.path == finding.path and capture.slot.startswith("input["):
            calls.setdefault((capture.step, capture.call), {})[capture.slot] = capture.value
    if not calls:
        return None
    (step, _), inputs_by_slot = calls.popitem()
    numbered_inputs: list[tuple[int, Tensor]] = []
    for slot, value in inputs_by_slot.items():
        match = _INPUT.fullmatch(slot)
        if match is None:
            return None  # it was called by keywords, or with nested tensors
        numbered_inputs.append((int(match[1]), value))
    inputs = [value for _, value in sorted(numbered_inputs, key=lambda pair: pair[0])]

    def do() -> str:
        check = check_gradient(session.paths.cell(finding.path or "."), *inputs, seconds=_CHECK_SECONDS)
        wrong = [row.detail for row in check.rows if row.verdict == "wrong"]
        return "; ".join([check.summary, *wrong])

    preview = f"Compares it with finite differences, for the inputs of step {step}. It changes nothing."
    return "Check the gradient", preview, do


def _clip(session: DebugSession, finding: Finding) -> _Made:
    """Clip where the gradient first becomes too long in the backward pass, as it leaves or arrives at that cell."""
    run_order = list(session.shapes)
    affected = [
        candidate
        for candidate in session.findings()
        if candidate.condition == finding.condition and candidate.path in run_order
    ]
    if not affected:
        return None
    origin = max(affected, key=lambda candidate: run_order.index(candidate.path))
    is_leaving = "grad_input" in origin.subject
    kind = "backward" if is_leaving else "backward_pre"
    if (origin.path, kind) in set(session._hooks.keys()):
        return None

    def do() -> Undo:
        session.attach_hook(origin.path, kind, _leaving if is_leaving else _arriving)
        return partial(session.detach_hook, origin.path, kind)

    location = f"{'leave' if is_leaving else 'arrive at'} {cell_name(origin.path)}"
    preview = f"A hook scales the gradients that {location} to norm {_LONGEST:g} where they are longer."
    return "Clip by a hook", preview, do


def _leaving(cell: Cell, grad_input: Any, grad_output: Any) -> Any:
    return _clipped(grad_input)


def _arriving(cell: Cell, grad_output: Any) -> Any:
    return _clipped(grad_output)


def _clipped(value: Any) -> Any:
    gradients = value if isinstance(value, tuple) else (value,)
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        squares = [
            float((abs(gradient._array).astype(np.float64) ** 2).sum())
            for gradient in gradients
            if gradient is not None
        ]
    norm = math.sqrt(sum(squares))
    if not norm > _LONGEST:
        return None
    return tuple(
        [None if gradient is None else gradient * Tensor(_LONGEST / norm, gradient.dtype) for gradient in gradients]
    )


def _own_parameters(session: DebugSession, finding: Finding) -> _Made:
    """Make the network and the optimizer share the same parameters, matched by names."""
    optimizer, requested = session.checks.wrong_optimizer()
    if optimizer is None:
        return None
    optimizer_parameters = {parameter.name: parameter for parameter in optimizer.parameters}
    network_parameters = {parameter.name: parameter for root in session.roots for parameter in root.trainable_params()}
    pairs = [
        (optimizer_parameters[name], network_parameters[name])
        for name in optimizer_parameters
        if name in network_parameters and network_parameters[name].shape == optimizer_parameters[name].shape
    ]
    # A tuple of parameters among a cell's attributes would keep the old ones.
    has_tuples = any(isinstance(value, ParameterTuple) for _, cell in session.paths for value in vars(cell).values())
    if len(pairs) < len(optimizer_parameters) or has_tuples or all(old is new for old, new in pairs):
        return None
    count = f"{len(pairs)} parameters of {type(optimizer).__name__}"
    if {id(new) for _, new in pairs} & requested:
        preview = f"{count} are replaced by those of the network that have the same names; its state stays."
        return "Give it the network's", preview, partial(_give, optimizer, [new for _, new in pairs])
    preview = f"The network takes the {count} in place of its own of the same names, with the values of its own."
    return "Let them be the same", preview, partial(_take, session, pairs)


def _give(optimizer: Optimizer, parameters: list[Parameter]) -> Undo:
    previous = optimizer.parameters

    def put(values: ParameterTuple) -> None:
        optimizer.parameters = optimizer._parameters = values

    put(ParameterTuple(parameters))
    return partial(put, previous)


def _take(session: DebugSession, pairs: list[tuple[Parameter, Parameter]]) -> Undo:
    replacements = {id(new): old for old, new in pairs}
    arrays = [(old, old._array) for old, _ in pairs]
    locations = [
        (cell, name, parameter)
        for _, cell in session.paths
        for name, parameter in cell._params.items()
        if id(parameter) in replacements
    ]
    for old, new in pairs:
        old._rebind(new._array)
    for cell, name, parameter in locations:
        cell._params[name] = replacements[id(parameter)]

    def undo() -> None:
        for cell, name, parameter in locations:
            parameter._rebind(cell._params[name]._array)
            cell._params[name] = parameter
        for old, array in arrays:
            old._rebind(array)

    return undo


def _some(names: list[str]) -> str:
    listed = ", ".join(names[:3])
    return listed if len(names) <= 3 else f"{listed} and {len(names) - 3} more"


CURES: dict[str, Callable[[Any, Finding], _Made]] = {
    "set_train": _set_train,
    "unfreeze": _unfreeze,
    "pause_here": _pause_here,
    "check_gradient": _check_gradient,
    "clip": _clip,
    "own_parameters": _own_parameters,
}
"""Factories of fixes by name: each returns the label, the preview, and the function that applies it."""
