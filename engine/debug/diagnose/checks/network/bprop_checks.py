"""Check of custom bprops: against the automatic gradient on a copy, and in place where a cell runs several times."""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hookscope.engine.tape import taps
from hookscope.engine.tensors.nested import tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ....record.capture import cell_name
from ...conditions.network import BpropObservation
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tape.taps import CellCall

    from ....compare.gradient_rows import GradientCheck

__all__ = ["BpropWatch"]

# Approximate time limit in seconds of the check of one bprop, and the number of elements of each value.
_SECONDS, _SAMPLES = 0.5, 16
# The steps, of those in which a bprop runs, in which it is checked.
_CHECKED = (1, 2, 10)
_CHECKED_UNTIL = max(_CHECKED)
# Of the steps in which a cell runs several times, those in which its calls are compared, and how many of them.
_COMPARED_STEPS, _COMPARED_CALLS = 2, 4
# A value of more elements is not compared in place.
_MOST_ELEMENTS = 1 << 20
# Relative tolerances: of what must agree, and of what is said to differ.
_AGREES, _DIFFERS = 1e-3, 2e-2

_REVERSES = re.compile(r"revers(?!ib)|rev_?grad|^grl$", re.IGNORECASE)

_KEEP_PER_CALL = (
    "Keep nothing on self for the bprop: it gets the inputs and the output of its call; or use one object for each "
    "place."
)
_REVERSE = "Return minus the gradient of the output, times a factor."


class _Compared(NamedTuple):
    """The gradients of a call's inputs on a copy, and whether the copy gave the same output as the call.

    Attributes:
        own, automatic: by the index of the input, of the bprop and of construct without it.
        repeats: whether the copy's output is that of the call.
        is_identity: whether the only output is equal to the only input.
    """

    own: dict[int, Any]
    automatic: dict[int, Any]
    repeats: bool
    is_identity: bool


class BpropWatch(Watcher):
    """Check of custom bprops in some of the steps in which they run.

    Where a cell runs twice or more in one gradient call, what its bprop returned for a call is also compared with the
    gradient that a copy gives for that call alone. They differ if the bprop uses what a later call kept on self.
    """

    shows = (BpropObservation,)
    observes_bprop = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        # The steps in which each cell ran, and those in which its calls were compared with the number of these.
        self._steps: weakref.WeakKeyDictionary[Cell, list[int]] = weakref.WeakKeyDictionary()
        self._compared: weakref.WeakKeyDictionary[Cell, Counter[int]] = weakref.WeakKeyDictionary()
        self._calls: Counter[int] = Counter()  # in this run, by the cell's id

    def run_began(self) -> None:
        """Begin a run: the calls of different runs do not share a backward pass."""
        self._calls.clear()

    def cell_enter(self, call: CellCall) -> None:
        """Count the calls of a cell with a bprop."""
        if call.cell.has_custom_bprop and not call.context and taps.outer_recordings():
            self._calls[id(call.cell)] += 1

    def run_bprop(self, cell: Cell, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Check and run a bprop."""
        path, step = self._paths.path_of(cell), self._counts.steps
        steps = self._steps.setdefault(cell, [])
        if path is not None and step not in steps[-1:] and len(steps) < _CHECKED_UNTIL:
            steps.append(step)
            if len(steps) in _CHECKED:
                with taps.mute():
                    self._check(cell, path, args[:-2])  # without the output and its gradient
        returned = function(*args)
        if path is not None and self._calls[id(cell)] > 1 and self._is_due(cell, step):
            with taps.mute():
                self._compare(cell, path, args, returned)
        return returned

    def _is_due(self, cell: Cell, step: int) -> bool:
        """Return whether one more call of a cell is to be compared in a step."""
        compared = self._compared.setdefault(cell, Counter())
        if (step not in compared and len(compared) >= _COMPARED_STEPS) or compared[step] >= _COMPARED_CALLS:
            return False
        compared[step] += 1
        return True

    def _check(self, cell: Cell, path: str, inputs: tuple[Any, ...]) -> None:
        from ....compare.gradient_check import check_gradient
        from ....compare.side_effects import is_plain, side_effect

        effect = side_effect(cell) if is_plain(inputs) else "an argument that is not a tensor"
        if effect:
            reason = f"the run of a copy may change {effect}"
            self._examiner.leave_unchecked("wrong_bprop", cell_name(path), reason)
            return
        try:
            check = check_gradient(cell, *inputs, samples=_SAMPLES, seconds=_SECONDS)
            difference = self._difference(cell, path, inputs, check)
        except (Exception, SystemExit) as error:  # user code, run in a different dtype: not its fault
            reason = f"a copy raised {type(error).__name__}: {error}"
            self._examiner.leave_unchecked("wrong_bprop", cell_name(path), reason)
            return
        self._examiner.observe(difference, path, cell_name(path), self._counts.steps)

    def _difference(self, cell: Cell, path: str, inputs: tuple[Any, ...], check: GradientCheck) -> BpropObservation:
        wrong = [row for row in check.rows if row.verdict == "wrong"]
        # A step function has no meaningful gradient: any substitute is intended, as in a straight-through estimator.
        if wrong and all(row.flat for row in wrong):
            return BpropObservation("")
        says_reverse = any(_REVERSES.search(name) for name in (type(cell).__name__, path.rpartition(".")[2]))
        is_of_one_input = len(wrong) == 1 and wrong[0].kind == "input"
        if (is_of_one_input or (says_reverse and not wrong)) and (
            signs := _signs_at_identity(cell, inputs)
        ) is not None:
            # The bprop of an identity is there to change the gradient: to reverse, scale, clip or stop it.
            if says_reverse and signs == {1}:
                return BpropObservation("its name says that it reverses the gradient, which keeps its sign", _REVERSE)
            if len(signs) < 2:
                return BpropObservation("")
        worst = check.worst
        return BpropObservation("" if not wrong or worst is None else f"for {worst.name}: {worst.reason}")

    def _compare(self, cell: Cell, path: str, args: tuple[Any, ...], returned: Any) -> None:
        """Compare what a bprop returned for one of several calls with the gradient of that call alone."""
        from ....compare.side_effects import is_plain, side_effect

        inputs, gradients = args[:-2], _by_input(args[:-2], returned)
        if not gradients or not is_plain(args) or side_effect(cell):
            return
        if any(tensor.size > _MOST_ELEMENTS for tensor in tensors_in(args)):
            return
        try:
            alone = _gradients_alone(cell, inputs, args[-2], args[-1])
        except (Exception, SystemExit):  # user code, run in a different dtype: not its fault
            return
        if not alone.repeats:
            return  # it draws random numbers, or depends on the calls before it
        for index, gradient in gradients.items():
            own, automatic = alone.own.get(index), alone.automatic.get(index)
            if own is None or automatic is None or own.size != gradient.size:
                continue
            if _distance(own, automatic) < _AGREES and _distance(gradient, automatic) > _DIFFERS:
                count = self._calls[id(cell)]
                text = f"right for one call alone; of {count} calls in one run, one uses what a later call kept on self"
                observation = BpropObservation(text, _KEEP_PER_CALL)
                self._examiner.observe(observation, path, cell_name(path), self._counts.steps)
                return


def _by_input(inputs: tuple[Any, ...], returned: Any) -> dict[int, Any]:
    """Return the gradients that a bprop returned, by the index of the tensor; empty for nested inputs."""
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict):
        returned = returned[0]
    gradients = list(returned) if isinstance(returned, tuple | list) else [returned]
    if len(gradients) != len(inputs) or any(isinstance(value, tuple | list | dict) for value in inputs):
        return {}
    tensors = [gradient for value, gradient in zip(inputs, gradients, strict=True) if isinstance(value, Tensor)]
    return {
        index: gradient.asnumpy().reshape(-1).astype(np.float64)
        for index, gradient in enumerate(tensors)
        if isinstance(gradient, Tensor) and gradient._array.dtype.kind in "fV"
    }


def _gradients_alone(cell: Cell, inputs: tuple[Any, ...], output: Any, sens: Any) -> _Compared:
    """Return the gradients of one call on a copy; random output gradients for None."""
    from ....compare.differentiated import DifferentiatedCall

    def gradients(wide: bool) -> _Compared:
        call = DifferentiatedCall(cell, inputs, sens, "inputs", np.random.default_rng(0), wide)
        indices = [leaf.index for leaf in call.leaves]
        own = dict(zip(indices, call.gradients(automatic=False), strict=True))
        automatic = dict(zip(indices, call.gradients(automatic=True), strict=True))
        expected = [tensor.asnumpy() for tensor in tensors_in(output)] if output is not None else call.outputs
        repeats = len(expected) == len(call.outputs) and all(
            first.shape == second.shape and _distance(second, first) < _AGREES
            for first, second in zip(expected, call.outputs, strict=True)
        )
        is_identity = (
            len(call.leaves) == len(call.outputs) == 1
            and call.outputs[0].shape == call.leaves[0].shape
            and _distance(call.outputs[0], call.leaves[0].array) < _AGREES
        )
        return _Compared(own, automatic, repeats, is_identity)

    try:
        return gradients(wide=True)
    except (TypeError, ValueError, RuntimeError):  # code that accepts only its own dtype
        return gradients(wide=False)


def _signs_at_identity(cell: Cell, inputs: tuple[Any, ...]) -> set[int] | None:
    """Return the signs of a bprop's gradient relative to that of the output, for an identity; None for another cell.

    Zeros have no sign, so the set is empty for a gradient that is stopped.
    """
    alone = _gradients_alone(cell, inputs, None, None)
    if not alone.is_identity:
        return None
    ((own, automatic),) = zip(alone.own.values(), alone.automatic.values(), strict=True)
    if own.shape != automatic.shape or not (np.isfinite(own).all() and np.isfinite(automatic).all()):
        return None
    return {int(sign) for sign in np.unique(np.sign(own) * np.sign(automatic)) if sign}


def _distance(first: Any, second: Any) -> float:
    """Return the largest difference, relative to the largest element of the second."""
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        expected = np.asarray(second).astype(np.float64).reshape(-1)
        difference = np.abs(np.asarray(first).astype(np.float64).reshape(-1) - expected).max(initial=0)
        size = max(float(np.abs(expected).max(initial=0)), 1e-30)
        return float(difference) / size
