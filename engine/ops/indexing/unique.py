"""The different values of a tensor, and differences of two lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Functions, Value
from ...cpu.array_module import array_module
from ...tensors.dtype import int32, int64, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import check_same_dtype, check_tensor, one_axis
from ..shapes.concatenation import concat
from .gathering import gather_elements

__all__ = ["unique", "unique_consecutive", "unique_with_pad"]

# Distinct values


def _different_kernel(x: Array, axis: int | None) -> tuple[Array, Array, Array, Array]:
    """Return the sorted distinct values (entries along ``axis``), their first positions, the inverse and the counts."""
    values, first_positions, inverse, counts = array_module(x).unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    shape = x.shape if axis is None else (-1,)
    return values, first_positions, inverse.reshape(shape).astype(np.int64), counts.astype(np.int64)


def _runs_kernel(x: Array, axis: int | None) -> tuple[Array, Array, Array]:
    """Return the values (entries along ``axis``) of the runs of equal neighbors, the inverse, and the run lengths."""
    xp = array_module(x)
    rows = x.reshape(-1) if axis is None else xp.moveaxis(x, axis, 0)
    changes = rows[1:] != rows[:-1]
    starts = xp.concatenate([xp.ones(min(len(rows), 1), bool), changes.any(axis=tuple(range(1, rows.ndim)))])
    heads = rows[starts]
    inverse = xp.cumsum(starts) - 1
    counts = xp.bincount(inverse, minlength=len(heads)) if len(rows) else xp.zeros(0, np.int64)
    values = heads if axis is None else xp.ascontiguousarray(xp.moveaxis(heads, 0, axis))
    return values, (inverse.reshape(x.shape) if axis is None else inverse).astype(np.int64), counts.astype(np.int64)


def _no_slope(F: Functions, needs: list[bool], g: Any, out: Any, x: Value, axis: int | None) -> tuple[None]:
    """Refuse a gradient: the share of each repetition of a value is not defined, as in PyTorch and MindSpore."""
    if g[0] is None:
        return (None,)
    raise NotImplementedError(
        "For 'unique' and its relatives, the values have no gradient; take the input's own elements, or stop_gradient"
    )


_different = Operator("different", _different_kernel, joint_vjp=_no_slope)

_runs = Operator("runs", _runs_kernel, joint_vjp=_no_slope)


@declare(primitive=prim("Unique"))
def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return each value once, in the order of their first appearance, and for every element the position of its value.

    The values have no gradient, since the share of each repetition of a value is not defined: a gradient for them is an
    error instead of zeros.

    Args:
        input: a Tensor of any shape.

    Returns:
        The values, a vector of the dtype of ``input``; and the positions, of the shape of ``input``: Int64 for an Int64
        ``input``, else Int32.

    Raises:
        TypeError: ``input`` is not a Tensor.
        NotImplementedError: a gradient arrives at the values.
    """
    values, first_positions, inverse, _ = _different(check_tensor(input, "unique"), axis=None)
    xp = array_module(first_positions._array)
    order = xp.argsort(first_positions._array, kind="stable")
    rank = xp.argsort(order, kind="stable")
    kind = np.int64 if input._array.dtype == np.int64 else np.int32
    return gather_elements(values, 0, Tensor._wrap(order)), Tensor._wrap(rank[inverse._array].astype(kind))


@declare(method="unique", mint="unique")
def unique_sorted(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return each value once, in ascending order; optionally the position of each element's value, and the counts.

    Args:
        input: a Tensor.
        sorted: accepted for MindSpore: the values are sorted either way.
        return_inverse: whether to return the positions too.
        return_counts: whether to return the counts too.
        dim: the axis along which whole entries are compared; None compares all elements, flattened.

    Returns:
        The values alone; or a tuple of the values, the positions (Int64, of the shape of ``input``, along ``dim`` a
        vector) and the counts (Int64), of these the requested ones.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
        NotImplementedError: a gradient arrives at the values, which have none.
    """
    x = check_tensor(input, "unique")
    values, _, inverse, counts = _different(x, axis=None if dim is None else one_axis(dim, x.ndim, "unique"))
    extras = [*([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return (values, *extras) if extras else values


unique_sorted.__qualname__ = "unique"  # the name of the method and of the function of mint


@declare(
    method=True, primitive=prim("UniqueConsecutive", return_inverse=False, return_counts=False, dim=None), mint=True
)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return the values without repetitions of neighbors, optionally each element's position and run lengths.

    Args:
        input: a Tensor.
        return_inverse: whether to return the positions too.
        return_counts: whether to return the lengths of the runs too.
        dim: the axis along which whole entries are compared; None compares all elements, flattened.

    Returns:
        The values alone; or a tuple of the values, the positions (Int64, of the shape of ``input``, along ``dim`` a
        vector) and the lengths (Int64), of these the requested ones.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
        NotImplementedError: a gradient arrives at the values, which have none.
    """
    x = check_tensor(input, "unique_consecutive")
    values, inverse, counts = _runs(x, axis=None if dim is None else one_axis(dim, x.ndim, "unique_consecutive"))
    extras = [*([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return (values, *extras) if extras else values


@declare(method=True, primitive=prim("UniqueWithPad"))
def unique_with_pad(x: Tensor, pad_num: int | float | Tensor) -> tuple[Tensor, Tensor]:
    """Return ``unique`` of a vector, filled up with ``pad_num`` to the length of the input.

    Args:
        x: a vector.
        pad_num: the filling after the values: a number or a Tensor of one, taken as an int.

    Returns:
        The values and the filling, of the shape and dtype of ``x``; and for each element the position of its value.

    Raises:
        TypeError: ``x`` is not a Tensor.
        NotImplementedError: a gradient arrives at the values, which have none.
    """
    check_type(pad_num, int | float | Tensor, "unique_with_pad", "pad_num", "a number or a Tensor of one")
    if isinstance(pad_num, Tensor) and pad_num.size != 1:
        raise ValueError(f"For 'unique_with_pad', 'pad_num' must be one number, but got shape {pad_num.shape}")
    if check_tensor(x, "unique_with_pad", "x").ndim != 1:
        raise ValueError(f"For 'unique_with_pad', 'x' must be a vector, but got shape {x.shape}")
    values, inverse = unique(x)
    filling = array_module(x._array).full(x.size - values.size, int(pad_num), x._array.dtype)
    return concat([values, Tensor._wrap(filling)]), inverse


@declare(primitive=prim("ListDiff", out_idx=int32))
def _list_diff(x: Tensor, y: Tensor, *, out_idx: DTypeLike) -> tuple[Tensor, Tensor]:
    """Return the elements of one vector that another lacks, in their order, with repetitions.

    Args:
        x: a vector of numbers.
        y: a vector of the same dtype.
        out_idx: the dtype of the positions, Int32 or Int64.

    Returns:
        The elements, and their positions in ``x``.

    Raises:
        TypeError: an input is not a Tensor, the dtypes differ, or an unsupported ``out_idx``.
        ValueError: an input is not a vector.
    """
    check_same_dtype("ListDiff", x=check_tensor(x, "ListDiff", "x"), y=check_tensor(y, "ListDiff", "y"))
    if out_idx not in (int32, int64):
        raise TypeError(f"For 'ListDiff', 'out_idx' must be int32 or int64, but got {out_idx}")
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"For 'ListDiff', 'x' and 'y' must be vectors, but got shapes {x.shape} and {y.shape}")
    xp = array_module(x._array)
    positions = xp.flatnonzero(~xp.isin(x._array, y._array))
    return gather_elements(x, 0, Tensor._wrap(positions)), Tensor._wrap(positions.astype(numpy_dtype(out_idx)))
