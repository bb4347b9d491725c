"""Constants that a loss is multiplied by before it is differentiated, such as a loss scale."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from hookscope.engine.tensors.tensor import Tensor

from ...record.array_table import ByArray
from ...record.numbers import number_in

__all__ = ["LossFactors", "constant_factor"]

# Longer chains of products are not a loss scale.
_LONGEST = 4


class _Factor(NamedTuple):
    """A product of constants; arrays are read when the product is asked for, since one on a GPU would be waited for."""

    constant: float
    arrays: tuple[tuple[Any, bool], ...]  # each with whether it divides


class LossFactors:
    """Tracker of numbers in a gradient call, and of the constants that they were multiplied with."""

    def __init__(self) -> None:
        self._factors: ByArray[_Factor] = ByArray()
        self._made: ByArray[bool] = ByArray()  # numbers that operators computed in recordings
        self._newest: _Factor | None = None

    def run_began(self) -> None:
        """Begin a run."""
        self._newest = None

    def operator(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        """Note an operator in a recording whose output is one number."""
        if name == "identity" and not any(self._is_made(value) for value in inputs):
            return  # a copy of a constant
        self._made.put(output._array, True)
        if name in ("cast", "reshape", "identity", "squeeze") and isinstance(inputs[0], Tensor):
            factor = self._factors.get(inputs[0]._array)
        elif name in ("mul", "div") and len(inputs) == 2:
            factor = self._product(name, *inputs)
        else:
            return
        if factor is not None:
            self._factors.put(output._array, factor)
            self._newest = factor

    def of(self, array: Any) -> float:
        """Return the constant that a loss was multiplied by; 1 if it was not."""
        return _number(self._factors.get(array))

    @property
    def newest(self) -> float:
        """The constant of the last product in this run."""
        return _number(self._newest)

    def _is_made(self, value: Any) -> bool:
        return isinstance(value, Tensor) and self._made.get(value._array) is not None

    def _product(self, name: str, first: Any, second: Any) -> _Factor | None:
        number, constant = (first, second) if self._is_made(first) else (second, first)
        if not self._is_made(number) or self._is_made(constant) or (name == "div" and number is second):
            return None
        before = self._factors.get(number._array) or _Factor(1.0, ())
        if isinstance(constant, Tensor):
            if constant._array.size != 1 or len(before.arrays) >= _LONGEST:
                return None
            return before._replace(arrays=(*before.arrays, (constant._array, name == "div")))
        value = constant_factor(name, constant)
        return None if value is None else before._replace(constant=before.constant * value)


def constant_factor(name: str, constant: Any) -> float | None:
    """Return what a product with a number, or a division by it, multiplies by; None if that is no usual factor."""
    if isinstance(constant, Tensor):
        if constant._array.size != 1 or constant._array.dtype.kind not in "fViu":
            return None
        constant = number_in(constant._array)
    if not isinstance(constant, int | float) or not constant or not math.isfinite(constant):
        return None
    return float(constant) if name == "mul" else 1 / constant


def _number(factor: _Factor | None) -> float:
    if factor is None:
        return 1.0
    product = factor.constant
    for array, divides in factor.arrays:
        value = number_in(array)
        product = product if not value else product / value if divides else product * value
    return abs(product) if product and math.isfinite(product) else 1.0
