"""Constants that a loss is multiplied by before it is differentiated, such as a loss scale."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray
from ....record.numbers import number_in

__all__ = ["LossFactors", "constant_factor"]

# Longer chains of products are not a loss scale.
_LONGEST = 4


class _Factor(NamedTuple):
    """The constant of a product; an array is read when it is asked for, since one on a GPU would be waited for."""

    constant: Any
    divides: bool
    before: _Factor | None


class LossFactors:
    """Tracker of numbers in a gradient call, and of the constants that they were multiplied with.

    A mean multiplies by a constant, too: so the products of the last one, of the last two, and so on are given.
    """

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

    def of(self, array: Any) -> tuple[float, ...]:
        """Return the products of the constants that a loss was multiplied by last."""
        return _products(self._factors.get(array))

    @property
    def newest(self) -> tuple[float, ...]:
        """The products of the last constants in this run."""
        return _products(self._newest)

    def _is_made(self, value: Any) -> bool:
        return isinstance(value, Tensor) and self._made.get(value._array) is not None

    def _product(self, name: str, first: Any, second: Any) -> _Factor | None:
        number, constant = (first, second) if self._is_made(first) else (second, first)
        if not self._is_made(number) or self._is_made(constant) or (name == "div" and number is second):
            return None
        before = self._factors.get(number._array)
        if isinstance(constant, Tensor):
            usual = constant._array.size == 1
            constant = constant._array
        else:
            usual = constant_factor(name, constant) is not None
        return _Factor(constant, name == "div", before and _shortened(before)) if usual else None


def _shortened(factor: _Factor, length: int = _LONGEST - 1) -> _Factor | None:
    if not length:
        return None
    return factor._replace(before=factor.before and _shortened(factor.before, length - 1))


def constant_factor(name: str, constant: Any) -> float | None:
    """Return what a product with a number, or a division by it, multiplies by; None if that is no usual factor."""
    array = constant._array if isinstance(constant, Tensor) else constant
    if hasattr(array, "dtype"):
        if array.size != 1 or array.dtype.kind not in "fViu":
            return None
        constant = number_in(array)
    if not isinstance(constant, int | float) or not constant or not math.isfinite(constant):
        return None
    return float(constant) if name == "mul" else 1 / constant


def _products(factor: _Factor | None) -> tuple[float, ...]:
    products, product = [], 1.0
    while factor is not None:
        value = constant_factor("div" if factor.divides else "mul", factor.constant)
        if value is None:
            break
        product *= abs(value)
        products.append(product)
        factor = factor.before
    return tuple(products)
