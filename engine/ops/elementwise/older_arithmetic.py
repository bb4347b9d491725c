"""MindSpore's older arithmetic: the functions tensor_add, floor_div, ..., and classes such as RealDiv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import Operand
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..shapes.broadcasting import as_dtype, cast_operator, operand, operands
from . import arithmetic, comparison, exponentials
from .comparison import where

__all__ = [
    "clip_by_value",
    "floor_div",
    "floor_mod",
    "floordiv",
    "floormod",
    "inv",
    "tensor_add",
    "tensor_div",
    "tensor_exp",
    "tensor_expm1",
    "tensor_floordiv",
    "tensor_ge",
    "tensor_gt",
    "tensor_le",
    "tensor_lt",
    "tensor_mod",
    "tensor_mul",
    "tensor_pow",
    "tensor_sub",
    "truncate_div",
    "truncate_mod",
]


@declare(primitive=prim("DivNoNan"))
def _div_no_nan(x: Operand, y: Operand) -> Tensor:
    """Return x / y, and 0 where y is 0, for any x.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to; of integers, Float32.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    zero = comparison.eq(y, 0)
    return where(zero, 0.0, arithmetic.div(x, where(zero, 1.0, y)))


@declare(primitive=prim("MulNoNan"))
def _mul_no_nan(x: Operand, y: Operand) -> Tensor:
    """Return x * y, and 0 where y is 0, even where x is infinite or NaN.

    Args:
        x: a tensor or a number.
        y: a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    zero = comparison.eq(y, 0)
    return where(zero, 0.0, arithmetic.mul(where(zero, 0.0, x), y))


@declare(primitive=prim("SquaredDifference"))
def _squared_difference(x: Operand, y: Operand) -> Tensor:
    """Return the square of x - y.

    Args:
        x: a tensor or a number.
        y: a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return arithmetic.square(arithmetic.sub(x, y))


@declare(primitive=prim("TruncateDiv"))
def truncate_div(x: Operand, y: Operand) -> Tensor:
    """Return x / y rounded towards 0.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to, integers included.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return arithmetic.div(*operands("truncate_div", x, y), rounding_mode="trunc")


@declare(primitive=prim("RealDiv"))
def tensor_div(x: Operand, y: Operand) -> Tensor:
    """Return x / y, of integers without the fraction.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to, integers included.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    dividend, divisor = operands("tensor_div", operand("tensor_div", "x", x), operand("tensor_div", "y", y))
    integers = (dividend if isinstance(dividend, Tensor) else divisor)._array.dtype.kind in "iu"
    return arithmetic.div(dividend, divisor, rounding_mode="trunc" if integers else None)


@declare(primitive=prim("TruncateMod"))
def truncate_mod(x: Operand, y: Operand) -> Tensor:
    """Return the remainder x - y * trunc(x / y), which has the sign of x.

    Args:
        x: the dividend, a tensor or a number.
        y: the divisor, a tensor that broadcasts with ``x`` or a number.

    Returns:
        A tensor of the shape that both broadcast to, in the dtype that both promote to.

    Raises:
        TypeError: an input is neither a tensor nor a number.
    """
    return arithmetic.fmod(x, y)


@declare(method=True, primitive=prim("Inv"))
def inv(x: Tensor) -> Tensor:
    """Return 1 / x, in the dtype of x.

    Args:
        x: a tensor of any shape; for integers the quotient is rounded towards 0.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    result = arithmetic.reciprocal(check_tensor(x, "inv", "x"))
    return cast_operator(result, dtype=x._array.dtype) if x._array.dtype.kind in "iu" else result


def clip_by_value(
    x: Tensor | Sequence[Tensor], clip_value_min: Operand | None = None, clip_value_max: Operand | None = None
) -> Any:
    """Return elements limited to [clip_value_min, clip_value_max]; NaN becomes a limit, the lower if there is one.

    An element that equals a limit shares the gradient with it half and half; one out of range passes it to the limit.

    Args:
        x: a tensor, or a tuple or list of tensors, each of which is limited.
        clip_value_min: the least value, a number or a tensor that broadcasts, in the dtype of ``x``; None for no limit.
        clip_value_max: the greatest value, likewise; it has precedence where it is below the least.

    Returns:
        A tensor of the shape and dtype of ``x``, or a tuple of them.

    Raises:
        TypeError: ``x`` is neither a tensor nor a tuple or list, or one of the three is complex.
        ValueError: neither limit is given, or one of the three is a bool or of dtype Bool.
    """
    if clip_value_min is None and clip_value_max is None:
        raise ValueError("For 'clip_by_value', at least one of 'clip_value_min' and 'clip_value_max' must be given")
    if isinstance(x, list | tuple):
        return tuple([clip_by_value(tensor, clip_value_min, clip_value_max) for tensor in x])
    result = check_tensor(x, "clip_by_value", "x")
    arithmetic.check_ordered("clip_by_value", x=x, clip_value_min=clip_value_min, clip_value_max=clip_value_max)
    for limit, combine in ((clip_value_min, arithmetic.maximum), (clip_value_max, arithmetic.minimum)):
        if limit is not None:
            bound = _in_dtype_of(result, limit)
            result = where(comparison.isnan(result), bound, combine(result, bound))
    return result


def _in_dtype_of(x: Tensor, limit: Operand) -> Operand:
    if isinstance(limit, Tensor):
        return as_dtype(limit, x._array.dtype)
    if x._array.dtype.kind not in "iu" or isinstance(limit, complex):
        return limit
    if limit != limit:
        raise ValueError(f"For 'clip_by_value', a limit of {x.dtype} must be a number, but got nan")
    range_ = np.iinfo(x._array.dtype)
    return int(min(max(limit, range_.min), range_.max))


floordiv = tensor_floordiv = arithmetic.floor_divide

floor_div = alias(arithmetic.floor_divide, renamed("floor_div", input="x", other="y"))

floor_mod = alias(arithmetic.remainder, renamed("floor_mod", input="x", other="y"))

floormod = alias(arithmetic.remainder, renamed("floormod", input="x", other="y"))

tensor_mod = alias(arithmetic.remainder, renamed("tensor_mod", input="x", other="y"))

tensor_add, tensor_sub, tensor_mul, tensor_pow = arithmetic.add, arithmetic.sub, arithmetic.mul, arithmetic.pow

tensor_exp, tensor_expm1 = exponentials.exp, exponentials.expm1

tensor_gt, tensor_ge, tensor_lt, tensor_le = comparison.gt, comparison.ge, comparison.lt, comparison.le
