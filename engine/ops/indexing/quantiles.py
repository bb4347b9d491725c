"""The k-th value, medians and quantiles along an axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array
from ..arguments import bool_of, check_tensor, int_of, one_axis
from ..elementwise import comparison
from ..shapes.concatenation import stack
from ..shapes.rearranging import ravel
from ..shapes.reshape import reshape
from .gathering import gather_elements
from .sorting import sort, sorted_positions

__all__ = ["kthvalue", "median", "nanmedian", "nanquantile", "quantile"]


@declare(method=True, mint=True)
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the ``k``-th smallest element along one axis, and its position. NaN counts as the largest.

    Args:
        input: a Tensor.
        k: which one, from 1 (the smallest) to the length of the axis.
        dim: the axis, in [-ndim, ndim).
        keepdim: whether the axis stays, with length 1.

    Returns:
        The elements, and an Int64 Tensor with their positions along ``dim``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range, or ``k`` is.
    """
    at = one_axis(dim, check_tensor(input, "kthvalue").ndim, "kthvalue")
    length = input.shape[at] if input.ndim else 1
    rank = int_of(k, "kthvalue", "k")
    if not 1 <= rank <= length:
        raise ValueError(f"For 'kthvalue', 'k' must be in [1, {length}], but got {k}")
    _, positions = sorted_positions(input, at, False, "kthvalue")
    return _picked(input, positions._array, at, rank - 1, bool_of(keepdim, "kthvalue", "keepdim"))


def _picked(x: Tensor, positions: Array, at: int, rank: int | Array, keepdim: bool) -> tuple[Tensor, Tensor]:
    xp = array_module(positions)
    if x.ndim == 0:
        return reshape(x, ()), Tensor._wrap(positions)
    shape = tuple(1 if i == at else n for i, n in enumerate(x.shape))
    ranks = xp.broadcast_to(constant_array(xp.asarray(rank)) if isinstance(rank, int) else rank, shape)
    index = Tensor._wrap(xp.take_along_axis(positions, ranks, at))
    values = gather_elements(x, at, index)
    if keepdim:
        return values, index
    shape = tuple(n for i, n in enumerate(x.shape) if i != at)
    return reshape(values, shape), reshape(index, shape)


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the middle element along one axis, the lower of two, and its position; NaN if any element is NaN.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim).
        keepdims: whether the axis stays, with length 1.

    Returns:
        The elements, and an Int64 Tensor with their positions along ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return _median(input, axis, keepdims, "median")


@declare(method="median")
def _median_of_tensor(input: Tensor, axis: int | None = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the middle element along one axis, the lower of two, and its position; NaN if any element is NaN.

    Args:
        input: the Tensor.
        axis: the axis, in [-ndim, ndim); None is the last one.
        keepdims: whether the axis stays, with length 1.

    Returns:
        The elements, and an Int64 Tensor with their positions along ``axis``.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return median(input, -1 if axis is None else axis, keepdims)


@declare(method=True)
def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the middle one, the lower of two, of the elements along one axis that are not NaN, and its position.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim).
        keepdims: whether the axis stays, with length 1.

    Returns:
        The elements, NaN where all are; and an Int64 Tensor with their positions along ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return _median(input, axis, keepdims, "nanmedian")


@declare(primitive=prim("Median", global_median=False, axis=0, keep_dims=False, ignore_nan=False))
def _median_of_all_or_axis(
    x: Tensor, global_median: bool, axis: int, keep_dims: bool, ignore_nan: bool
) -> tuple[Tensor, Tensor]:
    """Return the middle element of all, or of those along one axis, the lower of two, and its position.

    Args:
        x: a Tensor.
        global_median: whether to take the median of all elements; its position is that in the flattened Tensor.
        axis: the axis otherwise, in [-ndim, ndim).
        keep_dims: whether that axis stays, with length 1.
        ignore_nan: whether NaN are left out; otherwise one makes the median NaN.

    Returns:
        The elements, and an Int64 Tensor with their positions.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    function = nanmedian if ignore_nan else median
    return function(ravel(x), 0) if global_median else function(x, axis, keep_dims)


def _median(x: Tensor, axis: int, keepdims: bool, name: str) -> tuple[Tensor, Tensor]:
    at = one_axis(axis, check_tensor(x, name).ndim, name)
    _, order = sorted_positions(x, at, False, name)
    length = x.shape[at] if x.ndim else 1
    if not x.size:
        raise ValueError(f"For '{name}', 'input' must have elements, but got shape {x.shape}")
    xp, rank = array_module(x._array), (length - 1) // 2
    if x._array.dtype.kind == "f" and x.ndim:
        nan_count = xp.isnan(x._array).sum(axis=at, keepdims=True)
        # NaN sort last: the median of the others is further left, and that of all is the last element if any is NaN.
        rank = (
            (xp.maximum(length - nan_count, 1) - 1) // 2
            if name == "nanmedian"
            else xp.where(nan_count, length - 1, rank)
        )
    return _picked(x, order._array, at, rank, keepdims)


@declare(method=True)
def quantile(
    input: Tensor, q: float | Sequence[float] | Array | Tensor, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """Return the ``q``-quantiles: of n sorted elements the value at q * (n - 1), linear between neighbors as in NumPy.

    Args:
        input: a Float32 or Float64 Tensor; if an element is NaN, so is the result.
        q: which quantiles: a number in [0, 1], or a vector of them.
        axis: the axis, in [-ndim, ndim); None takes all elements.
        keepdims: whether the axis stays, with length 1; of all elements, every axis.

    Returns:
        A Tensor of the dtype of ``input``; a vector ``q`` adds a first axis of its length.

    Raises:
        TypeError: ``input`` is not a Tensor of these dtypes, or ``axis`` is not an int.
        ValueError: a ``q`` outside [0, 1] or of more than one axis, or ``axis`` is out of range.
    """
    return _quantile(input, q, axis, keepdims, "quantile")


@declare(method=True)
def nanquantile(
    input: Tensor, q: float | Sequence[float] | Array | Tensor, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """Return the ``q``-quantiles, linear between neighbors, of the elements that are not NaN.

    Args:
        input: a Float32 or Float64 Tensor.
        q: which quantiles: a number in [0, 1], or a vector of them.
        axis: the axis, in [-ndim, ndim); None takes all elements.
        keepdims: whether the axis stays, with length 1; of all elements, every axis.

    Returns:
        A Tensor of the dtype of ``input``, NaN where all elements are; a vector ``q`` adds a first axis of its length.

    Raises:
        TypeError: ``input`` is not a Tensor of these dtypes, or ``axis`` is not an int.
        ValueError: a ``q`` outside [0, 1] or of more than one axis, or ``axis`` is out of range.
    """
    return _quantile(input, q, axis, keepdims, "nanquantile")


def _quantile(
    input: Tensor, q: float | Sequence[float] | Array | Tensor, axis: int | None, keepdims: bool, name: str
) -> Tensor:
    x = check_tensor(input, name)
    if x._array.dtype not in (np.float32, np.float64):
        raise TypeError(f"For '{name}', 'input' must hold Float32 or Float64, but got {x.dtype}")
    try:
        levels = np.asarray(q.asnumpy() if isinstance(q, Tensor) else q, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"For '{name}', 'q' must be a number or vector in [0, 1], but got {q!r}") from None
    if levels.ndim > 1 or ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"For '{name}', 'q' must be a number or vector in [0, 1], but got {q}")
    flat = axis is None
    source, at = (ravel(x), 0) if axis is None else (x, one_axis(axis, x.ndim, name))
    if source.ndim == 0:
        source = reshape(source, (1,))
    values, _ = sort(source, at)
    xp, length = array_module(x._array), source.shape[at]
    nan_count = xp.isnan(source._array).sum(axis=at, keepdims=True)
    count = length - nan_count if name == "nanquantile" else constant_array(xp.full(nan_count.shape, length))
    results = []
    for level in levels.ravel():
        position = xp.maximum(level * (count - 1), 0)
        low = xp.floor(position).astype(np.int64)
        high = xp.minimum(low + 1, xp.maximum(count - 1, 0)).astype(np.int64)
        weight = Tensor._wrap((position - low).astype(x._array.dtype))
        below, above = (gather_elements(values, at, Tensor._wrap(i)) for i in (low, high))
        # At an integral position, the neighbor above may be infinite.
        result = comparison.where(comparison.eq(weight, 0), below, below + (above - below) * weight)
        if name == "quantile" and x._array.dtype.kind == "f":
            result = comparison.where(Tensor._wrap(nan_count > 0), float("nan"), result)
        results.append(result)
    shape = tuple(1 for _ in x.shape) if flat else (*source.shape[:at], 1, *source.shape[at + 1 :])
    if not keepdims:
        shape = () if flat else source.shape[:at] + source.shape[at + 1 :]
    outputs = [reshape(result, shape) for result in results]
    if levels.ndim == 0:
        return outputs[0]
    return stack(outputs, 0)
