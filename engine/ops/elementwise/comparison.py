"""Elementwise comparison, logic, bit operations and selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.surfaces import declare, everywhere, prim, renamed
from ...base.types import Operand, TensorLike
from ...cpu.array_module import array_module
from ...cpu.arrays import masking
from ...cpu.optim.updates import is_on_gpu
from ...tensors.backend import is_array
from ...tensors.operator import COMPLEX, Operator
from ...tensors.tensor import Tensor
from ..arguments import check_same_dtype, check_tensor, one_axis
from ..shapes.broadcasting import Binary, as_dtype, fit, operand, operands, unary, x1_x2

__all__ = [
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "not_equal",
    "select",
    "where",
]


class Equality(Binary):
    """``==`` or ``!=``, which also compares a tensor with an object of any other type: not equal."""

    def __call__(self, input: Operand, other: object) -> Any:
        is_comparable = isinstance(other, Tensor | int | float | complex | np.generic) or is_array(other)
        if isinstance(input, Tensor) and not is_comparable:
            return self is not eq
        return Binary.__call__(self, input, other)  # type: ignore[arg-type]  # it checks the type


class Exact(Binary):
    """A comparison that takes a Python integer exactly; the others wrap it around into a small integer dtype."""

    def __call__(self, input: Operand, other: Operand) -> Any:
        return Binary.__call__(self, _wide_enough(input, other), _wide_enough(other, input))


class Truths(Binary):
    """A logical function; CuPy has none for complex numbers."""

    def __call__(self, input: Operand, other: Operand) -> Any:
        arrays = [x._array if isinstance(x, Tensor) else x for x in (input, other)]
        is_complex = any(getattr(x, "dtype", type(x)) in (complex, *COMPLEX) for x in arrays)
        if is_complex and any(is_on_gpu(x) for x in arrays):
            input, other = ne(input, 0), ne(other, 0)
        return Binary.__call__(self, input, other)


def _wide_enough(x: Any, other: object) -> Any:
    """Return ``x``, in Int64 if it has a small integer dtype out of whose range ``other`` is."""
    if not isinstance(other, int) or isinstance(other, bool):
        return x
    if isinstance(x, Tensor) and x._array.dtype.kind in "iu" and x._array.dtype.itemsize < 8:
        limits = np.iinfo(x._array.dtype)
        return x if limits.min <= other <= limits.max else as_dtype(x, np.dtype(np.int64))
    return x


eq = Equality("eq", np.equal, scalar="x == y").declare(
    "x == y, as Bool.", method=("eq", "equal"), primitive=prim("Equal"), mint=True, numpy=x1_x2("equal")
)
ne = Equality("ne", np.not_equal, scalar="x != y").declare(
    "x != y, as Bool.", numpy=x1_x2("not_equal"), **everywhere("NotEqual", "ne", "not_equal")
)
lt = Exact("lt", np.less, scalar="x < y").declare(
    "x < y, as Bool.", numpy=x1_x2("less"), **everywhere("Less", "less", "lt")
)
le = Binary("le", np.less_equal, scalar="x <= y").declare(
    "x <= y, as Bool.", numpy=x1_x2("less_equal"), **everywhere("LessEqual", "le", "less_equal")
)
gt = Binary("gt", np.greater, scalar="x > y").declare(
    "x > y, as Bool.", numpy=x1_x2("greater"), **everywhere("Greater", "greater", "gt")
)
ge = Binary("ge", np.greater_equal, scalar="x >= y").declare(
    "x >= y, as Bool.",
    method=("ge", "greater_equal"),
    primitive=prim("GreaterEqual"),
    mint=("ge", "greater_equal"),
    numpy=x1_x2("greater_equal"),
)
logical_and = Truths("logical_and", np.logical_and, scalar="(x != 0) & (y != 0)").declare(
    "Return whether both x and y are nonzero, as Bool.", numpy=x1_x2(), **everywhere("LogicalAnd")
)
logical_or = Truths("logical_or", np.logical_or, scalar="(x != 0) | (y != 0)").declare(
    "Return whether x or y is nonzero, as Bool.", numpy=x1_x2(), **everywhere("LogicalOr")
)
logical_xor = Truths("logical_xor", np.logical_xor, scalar="(x != 0) != (y != 0)").declare(
    "Return whether one of x and y is nonzero and not both, as Bool.", numpy=x1_x2(), **everywhere("LogicalXor")
)
bitwise_and = Binary("bitwise_and", np.bitwise_and, scalar="x & y").declare(
    "x & y, bit by bit, of bools or integers.", numpy=x1_x2(), **everywhere("BitwiseAnd")
)
bitwise_or = Binary("bitwise_or", np.bitwise_or, scalar="x | y").declare(
    "x | y, bit by bit, of bools or integers.", numpy=x1_x2(), **everywhere("BitwiseOr")
)
bitwise_xor = Binary("bitwise_xor", np.bitwise_xor, scalar="x ^ y").declare(
    "x ^ y, bit by bit, of bools or integers.", numpy=x1_x2(), **everywhere("BitwiseXor")
)
equal, not_equal, less, less_equal, greater, greater_equal = eq, ne, lt, le, gt, ge
isnan = unary("isnan", np.isnan, None, scalar="x != x").declare(
    "Return whether an element is NaN, as Bool.", numpy=renamed(input="x"), **everywhere("IsNan")
)
isinf = unary("isinf", np.isinf, None, scalar="abs(x) == inf").declare(
    "Return whether an element is infinite, of either sign, as Bool.", numpy=renamed(input="x"), **everywhere("IsInf")
)
isfinite = unary("isfinite", np.isfinite, None, scalar="abs(x) < inf").declare(
    "Return whether an element is neither infinite nor NaN, as Bool.",
    numpy=renamed(input="x"),
    **everywhere("IsFinite"),
)


@declare(primitive=prim("CheckNumerics"))
def _check_numerics(x: Tensor) -> Tensor:
    """Return the tensor itself, if every element is finite.

    Args:
        x: a tensor of any shape.

    Returns:
        ``x``.

    Raises:
        RuntimeError: ``x`` holds NaN or infinity.
    """
    if not isfinite(x)._array.all():
        raise RuntimeError("For 'CheckNumerics', 'x' must be finite everywhere, but holds NaN or infinity")
    return x


logical_not = unary("logical_not", np.logical_not, None, scalar="x == 0").declare(
    "Return whether an element is zero or False, as Bool.", numpy=renamed(input="a"), **everywhere("LogicalNot")
)
bitwise_not = unary("bitwise_not", np.invert, None).declare(
    "~x, bit by bit: -x - 1 of signed integers, not x of bools.",
    method=("bitwise_not", "invert"),
    primitive=prim("Invert"),
    mint=True,
    numpy=[renamed(name, input="x") for name in ("bitwise_not", "invert")],
)
invert = bitwise_not
_where_operator = Operator(
    "where",
    masking.where,
    (
        None,
        lambda F, g, out, condition, x, y: fit(F, F.where(condition, g, F.zeros_like(g)), x),
        lambda F, g, out, condition, x, y: fit(F, F.where(condition, F.zeros_like(g), g), y),
    ),
    scalar="where(x, y, z)",
)


def where(condition: TensorLike, input: TensorLike, other: TensorLike) -> Tensor:
    """Return ``input`` where ``condition`` holds, ``other`` elsewhere; the gradient goes to the selected one.

    Args:
        condition: Bool, or numbers, of which the nonzero ones hold.
        input: a tensor or a number.
        other: a tensor or a number.

    Returns:
        A tensor of the shape that the three broadcast to, in the dtype that ``input`` and ``other`` combine to.

    Raises:
        TypeError: an argument is neither a tensor nor a number.
    """
    mask = operand("where", "condition", condition)
    x, y = operands("where", input, other)
    if not isinstance(x, Tensor):
        x = Tensor(x, y.dtype)
    if not isinstance(y, Tensor):
        y = Tensor(y, x.dtype)
    if not isinstance(mask, Tensor):
        mask = Tensor(mask)
    result: Tensor = _where_operator(as_dtype(mask, np.dtype(bool)), x, y)
    return result


@declare(method="where")
def _where_of_tensor(input: Tensor, condition: TensorLike, y: TensorLike) -> Tensor:
    """Return the tensor where ``condition`` holds, ``y`` elsewhere.

    Args:
        input: the tensor.
        condition: Bool, or numbers, of which the nonzero ones hold.
        y: a tensor or a number.

    Returns:
        A tensor of the shape that the three broadcast to, in the dtype that ``input`` and ``y`` combine to.

    Raises:
        TypeError: an argument is neither a tensor nor a number.
    """
    return where(condition, input, y)


@declare(primitive=prim("Select"))
def select(condition: TensorLike, input: TensorLike, other: TensorLike) -> Tensor:
    """Return ``input`` where ``condition`` holds, ``other`` elsewhere; the gradient goes to the selected one.

    Args:
        condition: Bool, or numbers, of which the nonzero ones hold.
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
    input: Tensor, first: TensorLike | None = None, second: TensorLike | None = None, **kwargs: Any
) -> Tensor:
    """Return one entry of an axis for ``select(dim, index)``; for ``select(condition, y)`` the tensor or ``y``.

    ``select(condition, y)`` takes the tensor where the condition holds and ``y`` elsewhere.

    Args:
        input: the tensor.
        first: ``dim``, an int in [-ndim, ndim); or ``condition``, a Bool tensor.
        second: ``index``, an int, negative from the end; or ``y``, a tensor or a number, for the elements elsewhere.
        kwargs: the same arguments by keyword.

    Returns:
        A tensor without axis ``dim``; or one of the shape that all three broadcast to.

    Raises:
        TypeError: an argument has an unknown name, or neither form is given.
        ValueError: ``dim`` is out of range.
    """
    for name in kwargs:
        if name not in ("dim", "index", "condition", "y"):
            raise TypeError(f"Tensor.select() got an unexpected keyword argument '{name}'")
    if isinstance(first, int) or "dim" in kwargs:
        axis = one_axis(kwargs.get("dim", first), input.ndim, "select")
        index: Any = kwargs.get("index", second)
        return input[(*(slice(None),) * axis, int(index))]
    condition: Any = kwargs.get("condition", first)
    other: Any = kwargs.get("y", second)
    return select(condition, input, other)


@declare(primitive=prim("EqualCount"))
def _equal_count(x: Tensor, y: Tensor) -> Tensor:
    """Return the number of elements that are equal in two tensors.

    Args:
        x: a tensor of any shape.
        y: a tensor of the same shape and dtype.

    Returns:
        A tensor (1,) of the dtype of ``x``.

    Raises:
        TypeError: an input is not a Tensor, or the dtypes differ.
        ValueError: the shapes differ.
    """
    check_same_dtype("EqualCount", x=check_tensor(x, "EqualCount", "x"), y=check_tensor(y, "EqualCount", "y"))
    if x.shape != y.shape:
        raise ValueError(f"For 'EqualCount', 'y' must have the shape {x.shape}, but got {y.shape}")
    return Tensor._wrap((x._array == y._array).sum().reshape(1).astype(x._array.dtype))


@declare(primitive=prim("CompareAndBitpack"))
def _compare_and_bitpack(x: Tensor, threshold: Tensor) -> Tensor:
    """Return the elements above a threshold as bits: eight along the last axis make a byte, the highest bit first.

    Args:
        x: a tensor with at least one axis, the last with a multiple of 8 elements.
        threshold: a tensor without axes, of the same dtype.

    Returns:
        A UInt8 tensor of the shape of ``x``, the last axis divided by 8.

    Raises:
        TypeError: an input is not a Tensor, or the dtypes differ.
        ValueError: ``threshold`` has axes, ``x`` has none, or its last axis is not a multiple of 8.
    """
    name = "CompareAndBitpack"
    check_same_dtype(name, x=check_tensor(x, name, "x"), threshold=check_tensor(threshold, name, "threshold"))
    if threshold.ndim or not x.ndim or x.shape[-1] % 8:
        raise ValueError(
            f"For '{name}', 8 must divide the last axis of 'x', and 'threshold' have no axes, "
            f"but got shapes {x.shape} and {threshold.shape}"
        )
    xp = array_module(x._array)
    bits = (x._array > threshold._array).reshape(*x.shape[:-1], x.shape[-1] // 8, 8)
    return Tensor._wrap((bits * 2 ** xp.arange(7, -1, -1)).sum(-1).astype(np.uint8))
