"""Functions of integers: divisors, shifts, bits."""

from __future__ import annotations

import numpy as np

from ...base.surfaces import declare, everywhere, prim
from ...base.types import Array, Operand
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ..shapes.broadcasting import Binary, unary, x1_x2

__all__ = ["bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm", "population_count"]


def _population(x: Array) -> Array:
    xp = array_module(x)
    bits = x.astype(f"u{x.itemsize}")
    count = xp.zeros(x.shape, np.uint8)
    for shift in range(8 * x.itemsize):
        count += ((bits >> bits.dtype.type(shift)) & bits.dtype.type(1)).astype(np.uint8)
    return count


population_count = unary("population_count", _population, None).declare(
    "Return how many bits of an integer are 1, in two's complement: a UInt8.", primitive=prim("PopulationCount")
)

gcd = Binary("gcd", np.gcd).declare(
    "The greatest common divisor of integers, 0 or above.", numpy=x1_x2(), **everywhere("Gcd")
)

lcm = Binary("lcm", np.lcm).declare(
    "The least common multiple of integers, 0 or above.", method=True, primitive=prim("Lcm"), numpy=x1_x2()
)

_left = Binary("bitwise_left_shift", np.left_shift)

_right = Binary("bitwise_right_shift", np.right_shift)


@declare(method=True, primitive=prim("LeftShift"))
def bitwise_left_shift(input: Operand, other: Operand) -> Tensor:
    """Return the bits shifted to the left: input * 2**other, where that fits the dtype.

    Args:
        input: an integer tensor or an int.
        other: the number of bits, an integer tensor that broadcasts with ``input`` or an int.

    Returns:
        A tensor of the shape that both broadcast to, in the wider integer dtype.

    Raises:
        TypeError: an input is not of integers.
    """
    return _left(input, other)


@declare(method=True, primitive=prim("RightShift"))
def bitwise_right_shift(input: Operand, other: Operand) -> Tensor:
    """Return the bits shifted to the right: floor(input / 2**other).

    Args:
        input: an integer tensor or an int.
        other: the number of bits, an integer tensor that broadcasts with ``input`` or an int.

    Returns:
        A tensor of the shape that both broadcast to, in the wider integer dtype.

    Raises:
        TypeError: an input is not of integers.
    """
    return _right(input, other)
