"""Check of weights of operators that are copies of a trained parameter, made through NumPy or as a new tensor."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hookscope.engine.tape import taps
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ....record.capture import cell_name
from ...conditions.structure import CopyObservation
from ..operands import flat, sample_of
from ..owners import owners_in
from ..watcher import Watcher, WatcherParts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookscope.engine.tape.tape import GradientComputation

__all__ = ["CopiedWeightWatch"]

# Smaller parameters may be equal by chance; of larger ones, this many elements are compared, a few of them first.
_FEWEST, _FIRST, _COMPARED = 16, 8, 4096

_WEIGHT_SLOTS = {
    "matmul": (0, 1),
    "linear": (1,),
    "bilinear": (2,),
    "einsum": (0, 1, 2),
    "conv2d": (1,),
    "conv3d": (1,),
    "conv2d_input_grad": (1,),
    "conv3d_input_grad": (1,),
}
"""Positions of the weights among an operator's inputs."""
_SAME_ELEMENTS = ("transpose", "reshape", "cast", "broadcast_to", "stop_gradient")


@dataclass(eq=False, frozen=True)
class _Use:
    """A copy of a parameter as the weight of an operator in a cell."""

    parameter: weakref.ref[Parameter]
    operator: str
    path: str


class _Comparison(NamedTuple):
    """The parameter that an array was a copy of when it was first compared, and that array, which may be reshaped."""

    parameter: weakref.ref[Parameter] | None
    source: weakref.ref[Any]


class CopiedWeightWatch(Watcher):
    """Check of the weights of matrix products and convolutions that no recording follows.

    Such a weight is a mistake if it holds the values of a parameter that the same gradient call asks for, and if its
    other operand is followed: then the operator is a part of the trained network, and not of a target or teacher, whose
    first input is data. A ``stop_gradient`` of the weight is meant, and so is a frozen Parameter of equal values.
    """

    shows = (CopyObservation,)
    observes_operators = True

    def __init__(self, parts: WatcherParts) -> None:
        super().__init__(parts)
        self._by_size: dict[int, list[Parameter]] = {}  # of the current gradient call, by number of elements
        self._meant: ByArray[bool] = ByArray()  # results of stop_gradient, and frozen parameters in another shape
        self._compared: ByArray[_Comparison] = ByArray()
        self._reported: dict[str, tuple[int, str, CopyObservation]] = {}  # by subject: parameter, path, observation
        self._uses: dict[tuple[int, str, str], tuple[_Use, Any]] = {}  # in this gradient call

    def differentiating(
        self, computation: GradientComputation, function: Callable[..., Any], weights: Sequence[Parameter]
    ) -> None:
        """Record the weights that a gradient call asks for."""
        if taps.outer_recordings():
            return
        self._uses.clear()
        self._by_size = {}
        for parameter in weights:
            array = parameter._array
            if parameter.requires_grad and array.size >= _FEWEST and array.ndim > 1 and array.dtype.kind in "fV":
                self._by_size.setdefault(array.size, []).append(parameter)

    def operator(self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any]) -> None:
        """Check the weights of an operator."""
        if not self._by_size:
            return
        if name in _SAME_ELEMENTS:
            self._follow(name, inputs, outputs)
            return
        slots = _WEIGHT_SLOTS.get(name)
        if slots is None:
            return
        operands = list(flat(inputs))
        for slot in slots:
            weight = operands[slot] if slot < len(operands) else None
            if isinstance(weight, Tensor) and not isinstance(weight, Parameter):
                others = [item for item in operands if isinstance(item, Tensor) and item is not weight]
                self._check(name, weight, others)

    def _follow(self, name: str, inputs: tuple[Any, ...], outputs: Any) -> None:
        source = inputs[0] if inputs else None
        if not isinstance(source, Tensor) or not isinstance(outputs, Tensor) or source.size not in self._by_size:
            return
        array = source._array
        if name == "stop_gradient" or isinstance(source, Parameter) or self._meant.get(array):
            self._meant.put(outputs._array, True)
        elif not self._is_followed(source):
            # A copy by an operator, as of a transposed one, is a new array in each run.
            self._compared.put(outputs._array, self._comparison(array))

    def _is_followed(self, tensor: Tensor) -> bool:
        return any(id(tensor._array) in recording.tracked for recording in taps.outer_recordings())

    def _comparison(self, array: Any) -> _Comparison:
        """Compare an array with the parameters, or return the result of its first comparison."""
        known = self._compared.get(array)
        if known is None:
            parameter = next((item for item in self._by_size[array.size] if _is_copy(array, item._array)), None)
            known = _Comparison(None if parameter is None else weakref.ref(parameter), weakref.ref(array))
            owner = getattr(array, "base", None)  # a view is made anew in each run
            self._compared.put(owner if getattr(owner, "size", None) == array.size else array, known)
        return known

    def _check(self, name: str, weight: Tensor, others: list[Tensor]) -> None:
        array = weight._array
        if array.size not in self._by_size or self._meant.get(array) or self._is_followed(weight):
            return
        if not any(map(self._is_followed, others)):
            return
        reference, source = self._comparison(array)
        copied = None if reference is None else reference()
        if reference is not None and any(item is copied for item in self._by_size[array.size]):
            path = self._attachment.here
            self._uses[id(copied), name, path] = _Use(reference, name, path), source

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """Report the copies in a completed gradient call."""
        if taps.outer_recordings():
            return
        uses, self._uses, self._by_size = self._uses, {}, {}
        if not uses and not self._reported:
            return
        requested = {id(parameter) for parameter, _ in pairs}
        current: set[str] = set()
        paths = {id(owner.parameter): owner.name for owner in owners_in(self._paths)}
        for use, array in uses.values():
            parameter = use.parameter()
            if parameter is None or id(parameter) not in paths:
                continue
            attribute = self._attribute_of(array())
            observation = CopyObservation(use.operator, paths[id(parameter)], attribute)
            subject = f"{use.operator} in {cell_name(use.path)}"
            current.add(subject)
            self._reported[subject] = id(parameter), use.path, observation
            self._examiner.observe(observation, use.path, subject, self._counts.steps)
        for subject, (key, path, observation) in tuple(self._reported.items()):
            if subject not in current and key in requested:
                del self._reported[subject]
                self._examiner.observe(replace(observation, holds=False), path, subject, self._counts.steps)

    def _attribute_of(self, array: Any) -> str:
        """Return the attribute of a cell that holds an array, or an array that it is a view of."""
        arrays = []
        while array is not None:
            arrays.append(id(array))
            array = getattr(array, "base", None)
        for _, cell in self._paths:
            for name, value in tuple(cell.__dict__.items()):
                if isinstance(value, Tensor) and not isinstance(value, Parameter) and id(value._array) in arrays:
                    return name
        return ""


def _is_copy(array: Any, weight: Any) -> bool:
    """Return whether two arrays hold the same numbers, in this order or transposed; not if these are mostly alike."""
    if array.dtype != weight.dtype or not array.size:
        return False
    for candidate in (array, array.T) if array.ndim > 1 else (array,):
        for count in (_FIRST, _COMPARED):
            numbers, expected = sample_of(candidate, count), sample_of(weight, count)
            if not np.array_equal(numbers, expected):
                break
        else:
            # Masks, zeros and identities are equal by construction.
            return len(np.unique(expected)) > len(expected) / 2
    return False
