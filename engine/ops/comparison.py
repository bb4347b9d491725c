"""Comparison, logic, bits and choice, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.operator import Operator
from ..core.surfaces import declare, everywhere, prim, renamed
from ..core.tensor import Tensor
from ..core.types import Operand, TensorLike
from ..cpu.array_module import array_module
from .arguments import one_axis
from .elementwise import Binary, as_dtype, fit, operand, operands, unary

__all__ = [
    "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "eq", "equal", "ge", "greater", "greater_equal", "gt",
    "invert", "isfinite", "isinf", "isnan", "le", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "lt", "ne", "not_equal", "select", "where",
]  # fmt: skip


class Equality(Binary):
    """``==`` or ``!=``, which Python code also asks of a tensor and None, a string or a list: not equal."""

    def __call__(self, input: Operand, other: Operand | str | list[Any] | tuple[Any, ...] | None) -> Any:
        if other is None or isinstance(other, str | list | tuple):
            return self is not eq
        return Binary.__call__(self, input, other)


eq = Equality("eq", np.equal, doc="x == y, as Bool.", method=("eq", "equal"), primitive=prim("Equal"), mint=True)
ne = Equality("ne", np.not_equal, doc="x != y, as Bool.", **everywhere("NotEqual", "ne", "not_equal"))
lt = Binary("lt", np.less, doc="x < y, as Bool.", **everywhere("Less", "less", "lt"))
le = Binary("le", np.less_equal, doc="x <= y, as Bool.", **everywhere("LessEqual", "le", "less_equal"))
gt = Binary("gt", np.greater, doc="x > y, as Bool.", **everywhere("Greater", "greater", "gt"))
ge = Binary(
    "ge",
    np.greater_equal,
    doc="x >= y, as Bool.",
    method=("ge", "greater_equal"),
    primitive=prim("GreaterEqual"),
    mint="greater_equal",
)
logical_and = Binary(
    "logical_and", np.logical_and, doc="Whether both x and y are nonzero, as Bool.", **everywhere("LogicalAnd")
)
logical_or = Binary("logical_or", np.logical_or, doc="Whether x or y is nonzero, as Bool.", **everywhere("LogicalOr"))
logical_xor = Binary(
    "logical_xor",
    np.logical_xor,
    doc="Whether one of x and y is nonzero and not both, as Bool.",
    **everywhere("LogicalXor"),
)
bitwise_and = Binary(
    "bitwise_and", np.bitwise_and, doc="x & y, bit by bit, of bools or integers.", **everywhere("BitwiseAnd")
)
bitwise_or = Binary(
    "bitwise_or", np.bitwise_or, doc="x | y, bit by bit, of bools or integers.", **everywhere("BitwiseOr")
)
bitwise_xor = Binary(
    "bitwise_xor", np.bitwise_xor, doc="x ^ y, bit by bit, of bools or integers.", **everywhere("BitwiseXor")
)
equal, not_equal, less, less_equal, greater, greater_equal = eq, ne, lt, le, gt, ge
isnan = unary("isnan", np.isnan, None, "Whether an element is NaN, as Bool.", **everywhere("IsNan"))
isinf = unary(
    "isinf", np.isinf, None, "Whether an element is infinite, of either sign, as Bool.", **everywhere("IsInf")
)
isfinite = unary(
    "isfinite", np.isfinite, None, "Whether an element is neither infinite nor NaN, as Bool.", **everywhere("IsFinite")
)


@declare(primitive=prim("CheckNumerics"))
def _check_numerics(x: Tensor) -> Tensor:
    """The tensor itself, if every element is a finite number.

    Args:
        x: a tensor of any shape.

    Returns:
        ``x``.

    Raises:
        RuntimeError: it holds NaN or infinity.
    """
    if not isfinite(x)._array.all():
        raise RuntimeError("For 'CheckNumerics', 'x' must be finite everywhere, but holds NaN or infinity")
    return x


logical_not = unary(
    "logical_not", np.logical_not, None, "Whether an element is zero or False, as Bool.", **everywhere("LogicalNot")
)
bitwise_not = unary(
    "bitwise_not",
    np.invert,
    None,
    "~x, bit by bit: -x - 1 of signed integers, not x of bools.",
    method=("bitwise_not", "invert"),
    primitive=prim("Invert"),
    mint=True,
    numpy=[renamed(name, input="x") for name in ("bitwise_not", "invert")],
)
invert = bitwise_not
_where_operator = Operator(
    "where",
    lambda condition, x, y: array_module(condition).where(condition, x, y),
    (
        None,
        lambda F, g, out, condition, x, y: fit(F, F.where(condition, g, F.zeros_like(g)), x),
        lambda F, g, out, condition, x, y: fit(F, F.where(condition, F.zeros_like(g), g), y),
    ),
)


def where(condition: TensorLike, input: TensorLike, other: TensorLike) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere; the gradient goes to the one that is chosen.

    Args:
        condition: Bool, or numbers of which those other than 0 hold.
        input: a tensor or a number.
        other: a tensor or a number.

    Returns:
        A tensor of the shape that the three broadcast to, in the dtype that ``input`` and ``other`` combine to.

    Raises:
        TypeError: an argument is neither a tensor nor a number.
    """
    chosen = operand("where", "condition", condition)
    x, y = operands("where", input, other)
    if not isinstance(x, Tensor):
        x = Tensor(x, y.dtype)
    if not isinstance(y, Tensor):
        y = Tensor(y, x.dtype)
    if not isinstance(chosen, Tensor):
        chosen = Tensor(chosen)
    result: Tensor = _where_operator(as_dtype(chosen, np.dtype(bool)), x, y)
    return result


@declare(method="where")
def _where_of_tensor(input: Tensor, condition: TensorLike, y: TensorLike) -> Tensor:
    """The tensor where ``condition`` holds, ``y`` elsewhere.

    Args:
        input: the tensor.
        condition: Bool, or numbers of which those other than 0 hold.
        y: a tensor or a number.

    Returns:
        A tensor of the shape that the three broadcast to, in the dtype that ``input`` and ``y`` combine to.

    Raises:
        TypeError: an argument is neither a tensor nor a number.
    """
    return where(condition, input, y)


@declare(primitive=prim("Select"))
def select(condition: TensorLike, input: TensorLike, other: TensorLike) -> Tensor:
    """``input`` where ``condition`` holds, ``other`` elsewhere; the gradient goes to the one that is chosen.

    Args:
        condition: Bool, or numbers of which those other than 0 hold.
        input: a tensor or a number.
        other: a tensor or a number.

    Returns:
        A tensor of the shape that the three broadcast to, in the dtype that ``input`` and ``other`` combine to.

    Raises:
        TypeError: an argument is neither a tensor nor a number.
    """
    if isinstance(input, bool | int | float) and isinstance(other, bool | int | float):
        input = Tensor(input)
    return where(condition, input, other)


@declare(method="select")
def _select_of_tensor(
    input: Tensor, first: TensorLike | None = None, second: TensorLike | None = None, **named: Any
) -> Tensor:
    """``select(dim, index)`` is one entry of an axis; ``select(condition, y)`` the tensor where the condition holds.

    Args:
        input: the tensor.
        first: ``dim``, an int in [-ndim, ndim); or ``condition``, Bool, a tensor.
        second: ``index``, an int, negative from the end; or ``y``, a tensor or a number, for the elements elsewhere.
        named: either, by these names.

    Returns:
        A tensor without axis ``dim``; or one of the shape that all broadcast to.

    Raises:
        TypeError: an argument of another name, or neither form.
        ValueError: ``dim`` is out of range.
    """
    for name in named:
        if name not in ("dim", "index", "condition", "y"):
            raise TypeError(f"Tensor.select() got an unexpected keyword argument '{name}'")
    if isinstance(first, int) or "dim" in named:
        at = one_axis(named.get("dim", first), input.ndim, "select")
        index: Any = named.get("index", second)
        return input[(*(slice(None),) * at, int(index))]
    condition: Any = named.get("condition", first)
    other: Any = named.get("y", second)
    return select(condition, input, other)
