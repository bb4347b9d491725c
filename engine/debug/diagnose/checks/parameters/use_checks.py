"""Checks of the use of parameters: the operators that use them, and the gradients of each use in a backward pass.

A recurrent network written by the user uses a weight many times within one cell; the course of its gradients is not
visible at the cell's boundary.
"""

from __future__ import annotations

import itertools
import weakref
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hookscope.engine.nn.optim._existing import holds_any
from hookscope.engine.tape import taps
from hookscope.engine.tensors.parameter import Parameter

from ....record.statistics import Statistics, figures
from ...conditions.parameters import FrozenObservation, UnfrozenObservation, UseObservation
from ...conditions.values import RepeatedObservation
from ..operands import arrays_of
from ..owners import owners_in
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from hookscope.engine.tape.taps import CellCall
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["UseWatch"]

# A weight that is used this often in one run is used in the steps of a sequence.
_STEPS = 4
# Several weights that are more than this share of all are frozen on purpose.
_FEW = 0.25


class UseWatch(Watcher):
    """Check of the parameters that operators use, and of the gradients of each use in a backward pass."""

    shows = (UseObservation, FrozenObservation, UnfrozenObservation, RepeatedObservation)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._called: set[int] = set()  # ids of cells, in this gradient call
        self._frozen: dict[int, weakref.ref[Parameter]] = {}  # those that were frozen in a gradient call, by their ids
        self._used: dict[int, Parameter] = {}  # in this gradient call, by the id of the array
        self._uses: Counter[int] = Counter()  # uses of weights, by the id of the array
        self._arrivals: dict[int, list[Statistics]] = defaultdict(
            list
        )  # at each use, in the order of the backward pass

    def cell_enter(self, call: CellCall) -> None:
        """Record the run of a cell."""
        self._called.add(id(call.cell))

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Record the parameters among the inputs of an operator."""
        for argument in inputs:
            for item in argument if isinstance(argument, tuple | list) else (argument,):
                if isinstance(item, Parameter):
                    self._used[id(item._array)] = item
                    self._uses[id(item._array)] += 1

    def operator_backward(
        self,
        name: str,
        gradient: Any,
        gradients: list[Any],
        attrs: dict[str, Any],
        inputs: tuple[Any, ...],
        output: Any,
    ) -> None:
        """Record the gradient that reached an operator with a weight."""
        for array in arrays_of(inputs):
            if array.ndim > 1 and self._uses[id(array)] >= _STEPS:
                output_gradients = arrays_of(gradient)
                if output_gradients:
                    self._arrivals[id(array)].append(figures(output_gradients[0]))

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Check the uses after a gradient call with weights."""
        if taps.outer_recordings():
            return
        observe, step = self._examiner.observe, self._counts.steps
        # Another thread may be adding more meanwhile.
        used_by_array, ran_cells, gradients_by_array = self._used.copy(), self._called.copy(), self._arrivals.copy()
        used_ids = {id(parameter) for parameter in used_by_array.values()}
        has_gradient = {id(parameter): gradient is not None for parameter, gradient in pairs}
        owners = list(owners_in(self._paths)) if any(has_gradient.values()) else []
        intended = _frozen_on_purpose(used_by_array.values())
        for path, name, cell, parameter in owners:
            if id(parameter) in has_gradient:
                if parameter.requires_grad and self._frozen.pop(id(parameter), None) is not None:
                    observe(UnfrozenObservation(True, parameter.ndim), path, name, step)
                unused = not has_gradient[id(parameter)] and id(parameter) not in used_ids
                observe(UseObservation(unused, id(cell) in ran_cells), path, name, step)
            elif not parameter.requires_grad:
                self._frozen[id(parameter)] = weakref.ref(parameter)
                is_left_out = parameter.as_drawn and cell.training and id(parameter) in used_ids - intended
                observe(FrozenObservation(not is_left_out, parameter.ndim), path, name, step)
            elif id(parameter) in used_ids and self._was_frozen(parameter):
                observe(UnfrozenObservation(holds_any([parameter]), parameter.ndim), path, name, step)
            use_gradients = gradients_by_array.get(id(parameter._array), [])
            if len(use_gradients) >= _STEPS:
                # The direction of unrolling does not matter: the earliest step comes last in the backward pass.
                observe(RepeatedObservation(use_gradients[-1], use_gradients[0], len(use_gradients)), path, name, step)
        self._called.clear()
        self._used.clear()
        self._uses.clear()
        self._arrivals.clear()

    def _was_frozen(self, parameter: Parameter) -> bool:
        reference = self._frozen.get(id(parameter))
        return reference is not None and reference() is parameter


def _frozen_on_purpose(used: Iterable[Parameter]) -> set[int]:
    """Return the frozen weights, if they are many; else those used before any trainable parameter.

    This covers a network with adapters, and the body of a network whose head is trained.
    """
    used = list(used)
    weights = [parameter for parameter in used if parameter.ndim > 1]
    frozen = {id(parameter) for parameter in weights if not parameter.requires_grad}
    if len(frozen) > 1 and len(frozen) > _FEW * len(weights):
        return frozen
    leading = itertools.takewhile(lambda parameter: not parameter.requires_grad, used)
    return {id(parameter) for parameter in leading}
