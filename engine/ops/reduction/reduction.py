"""Operators that reduce axes: sums, means, extremes, norms, positions of extremes."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ...base.argument_checks import check_number
from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import AnyDType, Array, DTypeLike, Functions, Number, Value
from ...cpu.array_module import array_module
from ...cpu.arrays.matmul import column_sums, has_fast_column_sums
from ...cpu.widening import in_single
from ...tensors.dtype import any_dtype, int32, int64, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import generate
from ..arguments import Axis, axes_of, bool_of, check_tensor, int_of, one_axis
from ..elementwise.arithmetic import add, maximum, minimum, mul, sqrt, square, sub
from ..elementwise.comparison import isfinite
from ..elementwise.comparison import where as choose
from ..elementwise.exponentials import exp, log
from ..shapes.broadcasting import array_dtype, as_dtype, as_floats, as_single, in_dtype
from ..shapes.copying import stop_gradient
from ..shapes.reshape import reshape

__all__ = [
    "all",
    "any",
    "argmax",
    "argmin",
    "cumsum",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_sum",
    "std",
    "sum",
    "var",
]


def _shape_with_axes(x: Value, axis: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return the shape of ``x`` with the reduced axes kept as 1."""
    return tuple(1 if axis is None or i in axis else n for i, n in enumerate(x.shape))


def _spread(F: Functions, g: Value, x: Value, axis: tuple[int, ...] | None) -> Any:
    """Return the gradient of a reduction, broadcast over the reduced axes."""
    return F.broadcast_to(F.reshape(g, shape=_shape_with_axes(x, axis)), shape=tuple(x.shape))


@in_single
def _sum_kernel(x: Array, axis: tuple[int, ...] | None, keepdims: bool) -> Array:
    if axis == (0,) and has_fast_column_sums(x):  # the gradient of a bias
        return column_sums(x).reshape(1, -1) if keepdims else column_sums(x)
    return x.sum(axis=axis, keepdims=keepdims, dtype=x.dtype if x.dtype.kind not in "b" else None)


@in_single
def mean_kernel(x: Array, axis: tuple[int, ...] | None, keepdims: bool) -> Array:
    """Return the mean; NaN for no elements, for which NumPy's ``mean`` warns even if warnings are ignored.

    As in MindSpore, the mean of integers is an integer, rounded towards 0.
    """
    if x.dtype.kind == "b":
        raise RuntimeError("for the mean of bools give 'dtype', or count them with count_nonzero")
    if x.dtype.kind in "iu":
        return array_module(x).trunc(x.mean(axis=axis, keepdims=keepdims)).astype(x.dtype)
    return x.mean(axis=axis, keepdims=keepdims) if x.size else x.sum(axis=axis, keepdims=keepdims) * math.nan


_sum = Operator(
    "sum", _sum_kernel, (lambda F, g, out, x, axis, keepdims: _spread(F, g, x, axis),), placeholders=(0, -1)
)
_mean = Operator(
    "mean",
    mean_kernel,
    (lambda F, g, out, x, axis, keepdims: _spread(F, g * (1.0 / _count(x, axis)), x, axis),),
    placeholders=(0, -1),
)


def _count(x: Value, axis: tuple[int, ...] | None) -> int:
    count: int = math.prod(n for i, n in enumerate(x.shape) if axis is None or i in axis)
    return builtins.max(1, count)


def _extreme_rule(F: Functions, g: Value, out: Value, x: Value, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """Return the gradient, which goes to the extreme elements, in equal shares if several tie."""
    shape = _shape_with_axes(x, axis)
    top = F.reshape(out, shape=shape)
    # NaN is the extreme if there is one, and does not equal anything, not even itself.
    is_extreme = F.logical_or(x == top, F.logical_and(F.ne(x, x), F.ne(top, top)))
    hit = F.cast(is_extreme, dtype=array_dtype(g))
    share = hit / F.sum(hit, axis=axis, keepdims=True)
    return F.where(is_extreme, F.reshape(g, shape=shape) * share, share * 0)  # an infinite gradient times 0 is NaN


_max = Operator("amax", lambda x, axis, keepdims: x.max(axis=axis, keepdims=keepdims), (_extreme_rule,))
_min = Operator("amin", lambda x, axis, keepdims: x.min(axis=axis, keepdims=keepdims), (_extreme_rule,))


def _along_rule(
    F: Functions, needs: list[bool], g: tuple[Any, Any], out: tuple[Any, Any], x: Value, axis: int, keepdims: bool
) -> list[Any]:
    """Return the gradient, which goes to the one element at the position, as in MindSpore and PyTorch."""
    if g[0] is None:
        return [None]
    shape = _shape_with_axes(x, (axis,))
    positions = out[1]._array if isinstance(out[1], Tensor) else out[1]
    order = array_module(positions).arange(x.shape[axis]).reshape((-1,) + (1,) * (x.ndim - axis - 1))
    hit = positions.reshape(shape) == order
    return [F.where(hit, F.reshape(g[0], shape=shape), array_dtype(g[0]).type(0))]


def _along(name: str) -> Operator:
    """Return the operator of the extreme along one axis and its position."""

    def kernel(x: Array, axis: int, keepdims: bool) -> tuple[Array, Array]:
        positions = getattr(x, f"arg{name}")(axis=axis, keepdims=keepdims)
        return getattr(x, name)(axis=axis, keepdims=keepdims), _positions(positions)

    return Operator(f"{name}_along", kernel, joint_vjp=_along_rule)


_max_along, _min_along = _along("max"), _along("min")
_all = Operator("all", lambda x, axis, keepdims: x.all(axis=axis, keepdims=keepdims))
_any = Operator("any", lambda x, axis, keepdims: x.any(axis=axis, keepdims=keepdims))
_argmax = Operator("argmax", lambda x, axis, keepdims: _positions(x.argmax(axis=axis, keepdims=keepdims)))
_argmin = Operator("argmin", lambda x, axis, keepdims: _positions(x.argmin(axis=axis, keepdims=keepdims)))


def _positions(positions: object) -> Array:
    return array_module(positions).asarray(positions, dtype=np.int64)


def _cumsum_rule(F: Functions, g: Value, out: Value, x: Value, axis: int) -> Any:
    return F.flip(F.cumsum(F.flip(g, axes=(axis,)), axis=axis), axes=(axis,))


_cumsum = Operator("cumsum", in_single(lambda x, axis: x.cumsum(axis=axis, dtype=x.dtype)), (_cumsum_rule,))


def _prod_rule(F: Any, g: Any, out: Value, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """Return g times the product of the other elements; higher orders divide, which is not defined at 0."""
    if F.wraps:
        return _spread(F, g * out, x, axis) / x
    xp = array_module(x)
    zero = x == 0
    nonzero = xp.where(zero, 1, x)
    product = nonzero.prod(axis=axis, keepdims=True)
    zeros = zero.sum(axis=axis, keepdims=True)
    share = xp.where(zero, xp.where(zeros == 1, product, 0), xp.where(zeros == 0, product / nonzero, 0))
    return g.reshape(_shape_with_axes(x, axis)) * share


_prod = Operator(
    "prod", in_single(lambda x, axis, keepdims: x.prod(axis=axis, keepdims=keepdims, dtype=x.dtype)), (_prod_rule,)
)


def _reduce(operator: Operator, name: str, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    axes = axes_of(axis, check_tensor(x, name).ndim, name)
    return operator(x, axis=axes, keepdims=bool_of(keepdims, name, "keepdims"))


def widened(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    """Return the input of a running product: the tensor in ``dtype``; by default, bools and integers become Int64."""
    return in_dtype(x, int64 if dtype is None and x._array.dtype.kind in "biu" else dtype)


def _summed_up(operator: Operator, name: str, x: Tensor, axis: Axis, keepdims: bool, dtype: DTypeLike | None) -> Tensor:
    """Return a sum or product in ``dtype``; by default, bools and integers but unsigned ones above 8 bits use Int64."""
    kind = check_tensor(x, name)._array.dtype
    default = None if kind.kind == "u" and kind.itemsize > 1 else int64 if kind.kind in "biu" else None
    result = _reduce(operator, name, in_dtype(x, default if dtype is None else dtype), axis, keepdims)
    return result if dtype is None else in_dtype(result, dtype)  # bools were counted


@declare(mint=True)
def sum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sum over axes.

    Args:
        input: a tensor of any shape.
        dim: the axis or axes, in [-ndim, ndim); all by default.
        keepdim: whether the axes that are reduced stay with length 1.
        dtype: the element type to sum in; by default that of ``input``, Int64 for bools and integers but UInt16, UInt32
            and UInt64.

    Returns:
        A tensor without these axes.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _summed_up(_sum, "sum", input, dim, keepdim, dtype)


@declare(method="sum")
def _sum_of_tensor(
    input: Tensor,
    axis: Axis = None,
    dtype: DTypeLike | bool | None = None,
    keepdims: bool = False,
    initial: Number | None = None,
) -> Tensor:
    """Return the sum over axes.

    Args:
        input: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keepdims: whether the axes that are reduced stay with length 1.
        dtype: the element type to sum in; by default that of ``input``, Int64 for bools and integers but UInt16, UInt32
            and UInt64. A bool is ``keepdims`` (PyTorch's ``sum(dim, keepdim)``).
        initial: a number that is added.

    Returns:
        A tensor without these axes.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    if isinstance(dtype, bool):
        keepdims, dtype = dtype, None
    total = sum(input, axis, keepdims, dtype=dtype)
    return total if initial is None else total + initial


@declare(primitive=prim("ReduceMean", keep_dims=False))
def mean(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Return the mean over axes.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keep_dims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype (means of integers are rounded towards 0); NaN for no elements.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _reduce(_mean, "mean", check_tensor(x, "mean", "x"), axis, keep_dims)


@declare(method="mean")
def _mean_of_tensor(x: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the mean over axes.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keepdims: whether the axes that are reduced stay with length 1.
        dtype: the element type to compute in; that of ``x`` by default.

    Returns:
        A tensor without these axes (means of integers are rounded towards 0); NaN for no elements.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return mean(in_dtype(x, dtype), axis, keepdims)


def max(
    input: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    initial: Number | None = None,
    where: Tensor | bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the largest element along an axis, and its position.

    Args:
        input: a tensor of any shape.
        axis: the axis, in [-ndim, ndim); of all elements by default.
        keepdims: whether the axis stays with length 1.
        initial: a number that replaces smaller elements.
        where: bools that broadcast with ``input``; ``initial`` replaces elements where they are False.

    Returns:
        The elements, and their positions along ``axis`` in Int64: the first of several that tie, which gets the
        gradient. Without ``axis`` the element, whose gradient those that tie share, and 0.

    Raises:
        TypeError: ``input`` is not a Tensor, the axis is not an int, or ``initial`` is not a number.
        ValueError: the axis is out of range, or ``where`` without ``initial``.
    """
    x = _bounded("max", maximum, input, initial, where)
    return _extreme(_max, _max_along, "max", x, axis, keepdims)


def min(
    input: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    initial: Number | None = None,
    where: Tensor | bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the smallest element along an axis, and its position.

    Args:
        input: a tensor of any shape.
        axis: the axis, in [-ndim, ndim); of all elements by default.
        keepdims: whether the axis stays with length 1.
        initial: a number that replaces larger elements.
        where: bools that broadcast with ``input``; ``initial`` replaces elements where they are False.

    Returns:
        The elements, and their positions along ``axis`` in Int64: the first of several that tie, which gets the
        gradient. Without ``axis`` the element, whose gradient those that tie share, and 0.

    Raises:
        TypeError: ``input`` is not a Tensor, the axis is not an int, or ``initial`` is not a number.
        ValueError: the axis is out of range, or ``where`` without ``initial``.
    """
    x = _bounded("min", minimum, input, initial, where)
    return _extreme(_min, _min_along, "min", x, axis, keepdims)


def _bounded(name: str, bound: Operator, x: Tensor, initial: Number | None, where: Tensor | bool | None) -> Tensor:
    """Return ``x`` bounded by ``initial``, which also replaces the elements that ``where`` excludes."""
    if initial is None:
        if where is not None and where is not True:
            raise ValueError(f"For '{name}', 'initial' must be given where 'where' is")
        return x
    check_number(initial, name, "initial")
    result = bound(check_tensor(x, name), initial)
    return as_dtype(result if where is None else choose(where, result, initial), x._array.dtype)


def _extreme(
    over_all: Operator, along: Operator, name: str, x: Tensor, axis: int | None, keepdims: bool
) -> tuple[Tensor, Tensor]:
    if axis is None:
        return _reduce(over_all, name, x, None, False), Tensor(0, int64)
    at = one_axis(axis, check_tensor(x, name).ndim, name)
    if not x.ndim:
        return _reduce(over_all, name, x, None, False), Tensor(0, int64)
    return along(x, axis=at, keepdims=bool_of(keepdims, name, "keepdims"))


def reduce_max(x: Tensor, axis: Axis = (), keepdims: bool = False) -> Tensor:
    """Return the largest element over axes; several that tie share the gradient.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if None or ().
        keepdims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _reduce(_max, "max", x, axis, keepdims)


def reduce_min(x: Tensor, axis: Axis = (), keepdims: bool = False) -> Tensor:
    """Return the smallest element over axes; several that tie share the gradient.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if None or ().
        keepdims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _reduce(_min, "min", x, axis, keepdims)


def reduce_sum(x: Tensor, axis: Axis = (), keepdims: bool = False) -> Tensor:
    """Return the sum over axes in the tensor's own dtype.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if None or ().
        keepdims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _reduce(_sum, "sum", x, axis, keepdims)


reduce_mean = alias(mean, renamed("reduce_mean", defaults={"axis": ()}))


@declare(primitive=prim("ReduceMax", keep_dims=False))
def _reduce_max(x: Tensor, axis: Axis = (), *, keep_dims: bool) -> Tensor:
    """Return the largest element over axes; several that tie share the gradient.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if ().
        keep_dims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return reduce_max(x, axis, keep_dims)


@declare(primitive=prim("ReduceMin", keep_dims=False))
def _reduce_min(x: Tensor, axis: Axis = (), *, keep_dims: bool) -> Tensor:
    """Return the smallest element over axes; several that tie share the gradient.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if ().
        keep_dims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return reduce_min(x, axis, keep_dims)


@declare(primitive=prim("ReduceSum", keep_dims=False, skip_mode=False))
def _reduce_sum(x: Tensor, axis: Axis = (), *, keep_dims: bool, skip_mode: bool) -> Tensor:
    """Return the sum over axes in the tensor's own dtype.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if ().
        keep_dims: whether the axes that are reduced stay with length 1.
        skip_mode: whether () means that nothing is summed; otherwise it means all axes.

    Returns:
        A tensor without these axes, of the same dtype; ``x`` itself if nothing is summed.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return x if skip_mode and axis in ((), []) else reduce_sum(x, axis, keep_dims)


@declare(method="argmax_with_value")
def _argmax_with_value_of_tensor(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the largest element along an axis, and its position: the reverse order of ``ArgMaxWithValue``.

    Args:
        x: a tensor of any shape.
        axis: the axis, in [-ndim, ndim).
        keep_dims: whether the axis stays with length 1.

    Returns:
        The elements; and the positions along ``axis`` in Int64: the first of several that tie, which gets the gradient.

    Raises:
        TypeError: the axis is not an int.
        ValueError: the axis is out of range.
    """
    return max(x, axis, keep_dims)


@declare(primitive=prim("ArgMaxWithValue", axis=0, keep_dims=False))
def _argmax_with_value(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the position of the largest element along an axis, and the element.

    Args:
        x: a tensor of any shape.
        axis: the axis, in [-ndim, ndim).
        keep_dims: whether the axis stays with length 1.

    Returns:
        The positions along ``axis`` in Int64: the first of several that tie, which gets the gradient; and the elements.

    Raises:
        TypeError: ``x`` is not a Tensor, or the axis is not an int.
        ValueError: the axis is out of range.
    """
    values, positions = max(x, axis, keep_dims)
    return positions, values


@declare(method="argmin_with_value")
def _argmin_with_value_of_tensor(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest element along an axis, and its position: the reverse order of ``ArgMinWithValue``.

    Args:
        x: a tensor of any shape.
        axis: the axis, in [-ndim, ndim).
        keep_dims: whether the axis stays with length 1.

    Returns:
        The elements; and the positions along ``axis`` in Int64: the first of several that tie, which gets the gradient.

    Raises:
        TypeError: the axis is not an int.
        ValueError: the axis is out of range.
    """
    return min(x, axis, keep_dims)


@declare(primitive=prim("ArgMinWithValue", axis=0, keep_dims=False))
def _argmin_with_value(x: Tensor, axis: int = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the position of the smallest element along an axis, and the element.

    Args:
        x: a tensor of any shape.
        axis: the axis, in [-ndim, ndim).
        keep_dims: whether the axis stays with length 1.

    Returns:
        The positions along ``axis`` in Int64: the first of several that tie, which gets the gradient; and the elements.

    Raises:
        TypeError: ``x`` is not a Tensor, or the axis is not an int.
        ValueError: the axis is out of range.
    """
    values, positions = min(x, axis, keep_dims)
    return positions, values


@declare(primitive=prim("ReduceAll", keep_dims=False), mint=renamed(axis="dim", keep_dims="keepdim"), method=True)
def all(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Return whether all elements over axes are true (not 0).

    Args:
        input: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keep_dims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor of bools without these axes; True for no elements.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _reduce(_all, "all", input, axis, keep_dims)


@declare(primitive=prim("ReduceAny", keep_dims=False), mint=renamed(axis="dim", keep_dims="keepdim"), method=True)
def any(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """Return whether any element over axes is true (not 0).

    Args:
        input: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keep_dims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor of bools without these axes; False for no elements.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _reduce(_any, "any", input, axis, keep_dims)


@declare(mint=renamed(axis="dim", keep_dims="keepdim", keyword=("dtype",)), method=True)
def prod(input: Tensor, axis: Axis = None, keep_dims: bool = False, dtype: DTypeLike | None = None) -> Tensor:
    """Return the product over axes; its second derivative is not defined where an element is 0.

    Args:
        input: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keep_dims: whether the axes that are reduced stay with length 1.
        dtype: the element type to compute in; by default that of ``input``, Int64 for bools and integers but UInt16,
            UInt32 and UInt64.

    Returns:
        A tensor without these axes.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return _summed_up(_prod, "prod", input, axis, keep_dims, dtype)


@declare(primitive=prim("ReduceProd", keep_dims=False))
def _reduce_prod(x: Tensor, axis: Axis = (), *, keep_dims: bool) -> Tensor:
    """Return the product over axes in the tensor's own dtype.

    Args:
        x: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all if ().
        keep_dims: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return prod(x, axis, keep_dims, x.dtype)


@declare(method=True, mint=True, numpy=renamed(input="a", dim="axis", without=("keepdim",)))
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the position of the largest element along an axis.

    Args:
        input: a tensor of any shape.
        dim: the axis, in [-ndim, ndim); the flattened tensor by default.
        keepdim: whether the axis ``dim`` stays with length 1.

    Returns:
        The positions in Int64, the first of several that tie.

    Raises:
        TypeError: ``input`` is not a Tensor, or the axis is not an int.
        ValueError: the axis is out of range.
    """
    return _position(_argmax, "argmax", input, dim, keepdim)


@declare(method=True, numpy=renamed(input="a", without=("keepdims",)))
def argmin(input: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the position of the smallest element along an axis.

    Args:
        input: a tensor of any shape.
        axis: the axis, in [-ndim, ndim); the flattened tensor by default.
        keepdims: whether the axis ``axis`` stays with length 1.

    Returns:
        The positions in Int32, for a 0-d tensor in Int64; the first of several that tie.

    Raises:
        TypeError: ``input`` is not a Tensor, or the axis is not an int.
        ValueError: the axis is out of range.
    """
    result = _position(_argmin, "argmin", input, axis, keepdims)
    return as_dtype(result, int32.numpy) if input.ndim else result


@declare(primitive=prim("Argmax", axis=-1, output_type=int32))
def _argmax_as(x: Tensor, axis: int, output_type: DTypeLike) -> Tensor:
    """Return the position of the largest element along an axis.

    Args:
        x: a tensor of any shape.
        axis: the axis, in [-ndim, ndim).
        output_type: the dtype of the positions.

    Returns:
        The positions, the first of several that tie.

    Raises:
        TypeError: ``x`` is not a Tensor, or the axis is not an int.
        ValueError: the axis is out of range.
    """
    return as_dtype(argmax(x, axis), numpy_dtype(output_type))


@declare(primitive=prim("Argmin", axis=-1, output_type=int32))
def _argmin_as(x: Tensor, axis: int, output_type: DTypeLike) -> Tensor:
    """Return the position of the smallest element along an axis.

    Args:
        x: a tensor of any shape.
        axis: the axis, in [-ndim, ndim).
        output_type: the dtype of the positions.

    Returns:
        The positions, the first of several that tie.

    Raises:
        TypeError: ``x`` is not a Tensor, or the axis is not an int.
        ValueError: the axis is out of range.
    """
    return as_dtype(argmin(x, axis), numpy_dtype(output_type))


def _position(operator: Operator, name: str, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    at, ndim = None, check_tensor(x, name).ndim
    if dim is not None:
        at = one_axis(dim, ndim, name) if ndim else axes_of(dim, 0, name)
    result: Tensor = operator(x, axis=at, keepdims=dim is not None and bool_of(keepdim, name, "keepdim"))
    return result


@declare(mint=renamed(x="input", axis="dim"))
def cumsum(x: Tensor, axis: int, dtype: AnyDType | None = None) -> Tensor:
    """Return the running sums along an axis: out[i] = x[0] + ... + x[i].

    Args:
        x: a tensor of numbers.
        axis: the axis, in [-ndim, ndim).
        dtype: the element type to sum in; that of ``x`` by default.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: ``x`` is not a Tensor, or holds bools.
        ValueError: ``axis`` is out of range, or ``x`` has no axis.
    """
    if not check_tensor(x, "cumsum", "x").ndim:
        raise ValueError("For 'cumsum', 'x' must have at least 1 axis, but got shape ()")
    at = one_axis(axis, x.ndim, "cumsum")
    source = in_dtype(x, None if dtype is None else any_dtype(dtype))  # of any kind, as in MindSpore
    if source._array.dtype.kind == "b":
        raise TypeError(f"For 'cumsum', 'x' must hold numbers, but got {source.dtype}")
    result: Tensor = _cumsum(source, axis=at)
    return result


@declare(method="cumsum")
def _cumsum_of_tensor(x: Tensor, axis: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return the running sums along an axis: out[i] = x[0] + ... + x[i].

    Args:
        x: a tensor of numbers.
        axis: the axis, in [-ndim, ndim); the flattened tensor by default.
        dtype: the element type to sum in; that of ``x`` by default, Int32 for smaller integers and bools.

    Returns:
        A tensor of the same shape, flattened without ``axis``.

    Raises:
        ValueError: ``axis`` is out of range.
    """
    if dtype is None and x._array.dtype in _SUMMED_AS_INT32:
        dtype = int32
    source = in_dtype(x, dtype)
    return cumsum(source.reshape(-1), 0) if axis is None else cumsum(source, axis)


_SUMMED_AS_INT32 = tuple(np.dtype(kind) for kind in (np.int8, np.int16, np.uint8, np.bool_))


@declare(
    method=True,
    mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}),
    numpy=renamed(input="x"),
)
def var(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """Return the variance over axes: sum((x - mean) ** 2) / (n - ddof).

    Args:
        input: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keepdims: whether the axes that are reduced stay with length 1.
        ddof: the number subtracted from the number of elements n; True is 1.

    Returns:
        A tensor without these axes, Float32 for integers. If n - ddof is 0, infinity, or NaN for equal elements; if it
        is negative, NaN.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    axes = axes_of(axis, check_tensor(input, "var").ndim, "var")
    x = as_single(as_floats(input))
    squares = square(sub(x, mean(x, axis, True)))
    subtracted = int_of(ddof, "var", "ddof")
    xp = array_module(x._array)
    factor = generate(_correction, count=_count(x, axes), ddof=subtracted, dtype=x._array.dtype, xp=xp)
    result: Tensor = as_dtype(mul(mean(squares, axis, keepdims), factor), as_floats(input)._array.dtype)
    return result


def _correction(count: int, ddof: int, dtype: np.dtype[Any], xp: Any) -> Array:
    """Return n / (n - ddof): infinite if the divisor is 0, as in MindSpore, and then NaN for equal elements."""
    factor = count / (count - ddof) if count > ddof else math.inf if count == ddof else math.nan
    result: Array = xp.asarray(factor, dtype)
    return result


@declare(
    method=True,
    mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}),
    numpy=renamed(input="x"),
)
def std(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """Return the standard deviation over axes: sqrt(sum((x - mean) ** 2) / (n - ddof)).

    Args:
        input: a tensor of any shape.
        axis: the axis or axes, in [-ndim, ndim); all by default.
        keepdims: whether the axes that are reduced stay with length 1.
        ddof: the number subtracted from the number of elements n; True is 1.

    Returns:
        A tensor without these axes, Float32 for integers. If n - ddof is 0, infinity, or NaN for equal elements; if it
        is negative, NaN.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = as_floats(check_tensor(input, "std"))
    result: Tensor = as_dtype(sqrt(var(as_single(x), axis, ddof, keepdims)), x._array.dtype)
    return result


@declare(method=True, mint=True)
def logsumexp(input: Tensor, dim: Axis, keepdim: bool = False) -> Tensor:
    """Return log(sum(exp(input))) over axes without overflow; infinite if an element is inf, or all are -inf.

    Args:
        input: a tensor of floating numbers.
        dim: the axis or axes, in [-ndim, ndim); all if None or ().
        keepdim: whether the axes that are reduced stay with length 1.

    Returns:
        A tensor without these axes, of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = as_single(check_tensor(input, "logsumexp"))
    top = stop_gradient(reduce_max(x, dim, True))
    top = choose(isfinite(top), top, 0)  # avoids inf - inf
    total = reduce_sum(exp(sub(x, top)), dim, keepdim)
    logarithm = add(log(total), top if keepdim else reshape(top, total.shape))
    result: Tensor = logarithm if x is input else as_dtype(logarithm, input._array.dtype)
    return result
