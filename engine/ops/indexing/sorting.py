"""Order: sorting, ranks, medians and quantiles, searching, counting, running extremes.

An operator here finds positions, which have no gradient; the values are then gathered, and the gradient is that of
gathering.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_real, check_size, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import AnyDType, Array, DTypeLike, Functions, TensorLike, Value
from ...cpu.array_module import array_module
from ...cpu.widening import is_half, widen
from ...tensors.dtype import any_dtype, float32, float64, int32, int64, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import checked, computed, fixed
from ..arguments import bool_of, check_axes, check_integers, check_same_dtype, check_tensor, int_of, ints_of, one_axis
from ..elementwise import comparison
from ..shapes.broadcasting import as_dtype, cast_operator
from ..shapes.rearranging import ravel
from ..shapes.reshape import concat, reshape, stack
from .gathering import gather_elements
from .scattering import unsorted_segment_sum

__all__ = [
    "argsort", "bincount", "bucketize", "cummax", "cummin", "histc", "intopk", "kthvalue", "median", "msort",
    "nanmedian", "nanquantile", "quantile", "searchsorted", "sort", "top_k", "topk", "unique", "unique_consecutive",
    "unique_with_pad"
]  # fmt: skip


def _order_kernel(x: Array, axis: int, descending: bool) -> Array:
    """Return positions in order, with ties in their own order and NaN as the largest."""
    xp = array_module(x)
    if is_half(x) and xp is not np:  # CuPy does not sort bfloat16; in float32 the order is the same
        x = widen(x)
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable").astype(np.int64)
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis).astype(np.int64)


_order = Operator("order", _order_kernel)


def _sorted_places(x: Tensor, axis: int, descending: bool, name: str) -> tuple[Tensor, Tensor]:
    check_tensor(x, name, "input_x")
    return x, _order(x, axis=one_axis(axis, x.ndim, name), descending=descending) if x.ndim else Tensor(0, int64)


@declare(primitive=prim("Sort", axis=-1, descending=False))
def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is the largest.

    Args:
        input_x: a Tensor.
        axis: the axis to sort along, in [-ndim, ndim).
        descending: whether the largest comes first.

    Returns:
        The sorted Tensor, and an Int32 Tensor of the same shape with the position along ``axis`` that each element had.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x, positions = _sorted_places(input_x, axis, bool_of(descending, "sort", "descending"), "sort")
    return gather_elements(x, axis, positions), cast_operator(positions, dtype=int32.numpy)


def argsort(input: Tensor, axis: int | None = -1, descending: bool = False) -> Tensor:
    """Return the positions of the sorted elements along one axis. Equal ones keep their order; NaN is the largest.

    Args:
        input: a Tensor.
        axis: the axis to sort along, in [-ndim, ndim); None sorts all elements, flattened.
        descending: whether the largest comes first.

    Returns:
        An Int32 Tensor of the shape of ``input``, or a vector for ``axis`` None.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = ravel(input) if axis is None else check_tensor(input, "argsort")
    backwards = bool_of(descending, "argsort", "descending")
    _, positions = _sorted_places(x, -1 if axis is None else axis, backwards, "argsort")
    return cast_operator(positions, dtype=int32.numpy)


@declare(method="sort")
def _sort_of_tensor(
    input: Tensor, axis: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is the largest.

    Args:
        input: the Tensor.
        axis: the axis to sort along, in [-ndim, ndim).
        descending: whether the largest comes first.
        stable: accepted for MindSpore: equal elements keep their order either way.

    Returns:
        The sorted Tensor, and an Int32 Tensor of the same shape with the position along ``axis`` that each element had.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return sort(input, axis, descending)


@declare(method="argsort")
def _argsort_of_tensor(input: Tensor, axis: int | None = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the positions of the sorted elements along one axis. Equal ones keep their order; NaN is the largest.

    Args:
        input: the Tensor.
        axis: the axis to sort along, in [-ndim, ndim); None sorts all elements, flattened.
        descending: whether the largest comes first.
        stable: accepted for MindSpore: equal elements keep their order either way.

    Returns:
        An Int32 Tensor of the shape of ``input``, or a vector for ``axis`` None.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return argsort(input, axis, descending)


@declare(method=True)
def msort(input: Tensor) -> Tensor:
    """Return the elements in ascending order along the first axis.

    Args:
        input: a Tensor.

    Returns:
        A Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return sort(input, 0)[0]


@declare(method=True)
def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest (or smallest) elements along one axis, and their positions. NaN counts as the largest.

    Args:
        input: a Tensor.
        k: how many, from 0 to the length of the axis.
        dim: the axis, in [-ndim, ndim); None is the last one.
        largest: whether to return the largest; otherwise the smallest.
        sorted: accepted for MindSpore: the elements come in order either way, the most extreme first.

    Returns:
        The elements, and an Int32 Tensor with their positions along the axis; both have length ``k`` along it.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``k`` or ``dim`` is not an int.
        ValueError: ``dim`` is out of range, or ``k`` is.
    """
    at = one_axis(-1 if dim is None else dim, check_tensor(input, "topk").ndim, "topk")
    length = input.shape[at] if input.ndim else 1
    if not isinstance(k, int | np.integer | Tensor) or (isinstance(k, Tensor) and k._array.dtype.kind not in "iu"):
        raise TypeError(f"For 'topk', 'k' must be an int, but got {k!r}")
    if not 0 <= int(k) <= length:
        raise ValueError(f"For 'topk', 'k' must be in [0, {length}], but got {k}")
    _, positions = _sorted_places(input, at, bool_of(largest, "topk", "largest"), "topk")
    leading = Tensor._wrap(
        positions._array[(slice(None),) * at + (slice(0, int(k)),)] if input.ndim else positions._array
    )
    return gather_elements(input, at, leading), cast_operator(leading, dtype=int32.numpy)


@declare(method=True, primitive=prim("TopK", sorted=True))
def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest elements along the last axis in descending order, and their positions.

    Args:
        input_x: a Tensor.
        k: how many, from 0 to the length of the last axis.
        sorted: accepted for MindSpore: the elements come in order either way.

    Returns:
        The elements, and an Int32 Tensor with their positions.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: ``k`` is out of range.
    """
    return topk(input_x, k, -1)


@declare(primitive=prim("InTopK", "k"))
def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Return whether the target of each row is among its ``k`` largest: whether fewer than ``k`` scores are above it.

    Equal scores are in or out together. False where the target is not a column, or the row holds NaN or infinity.

    Args:
        x1: the scores, (N, C).
        x2: the target column of each row, N ints.
        k: how many count as the top.

    Returns:
        A Bool Tensor (N,).

    Raises:
        TypeError: ``x1`` or ``x2`` is not a Tensor.
    """
    scores, targets = check_axes(x1, 2, "intopk", "x1")._array, check_integers(x2, "intopk", "x2")._array.reshape(-1)
    if scores.ndim != 2 or targets.size != len(scores):
        raise ValueError(f"For 'intopk', 'x2' must have a column for each row of 'x1' {x1.shape}, but got {x2.shape}")
    xp, count = array_module(scores), int_of(k, "intopk", "k")
    valid = (targets >= 0) & (targets < scores.shape[1])
    target_scores = xp.take_along_axis(scores, xp.where(valid, targets, 0)[:, None], 1)
    defined = valid & xp.isfinite(scores).all(axis=1)
    return Tensor._wrap(defined & ((scores > target_scores).sum(axis=1) < count))


@declare(primitive=prim("InvertPermutation"))
def _invert_permutation(input_x: Iterable[int]) -> tuple[int, ...]:
    """Return the inverse of a permutation: entry n is the position of the number n.

    Args:
        input_x: each of the ints from 0 below its length once.

    Returns:
        A tuple of ints of the same length.

    Raises:
        ValueError: a number is missing or repeated.
    """
    order = [int(n) for n in input_x]
    if sorted(order) != list(range(len(order))):
        last = len(order) - 1
        raise ValueError(
            f"For 'InvertPermutation', 'input_x' must hold each of 0 to {last} once, but got {tuple(order)}"
        )
    return tuple(order.index(n) for n in range(len(order)))


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
    _, positions = _sorted_places(input, at, False, "kthvalue")
    return _picked(input, positions._array, at, rank - 1, bool_of(keepdim, "kthvalue", "keepdim"))


def _picked(x: Tensor, places: Array, at: int, rank: int | Array, keepdim: bool) -> tuple[Tensor, Tensor]:
    xp = array_module(places)
    if x.ndim == 0:
        return reshape(x, ()), Tensor._wrap(places)
    shape = tuple(1 if i == at else n for i, n in enumerate(x.shape))
    ranks = xp.broadcast_to(fixed(xp.asarray(rank)) if isinstance(rank, int) else rank, shape)
    index = Tensor._wrap(xp.take_along_axis(places, ranks, at))
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
    _, order = _sorted_places(x, at, False, name)
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
    count = length - nan_count if name == "nanquantile" else fixed(xp.full(nan_count.shape, length))
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


# Running extremes


def _running(x: Any, axis: int, largest: bool) -> Any:
    """Return the position of the extreme of the elements so far; the last one of several."""
    xp = array_module(x)
    if xp is not np:  # CuPy has no accumulate
        return xp.asarray(_running(x.get(), axis, largest))
    rows = xp.moveaxis(x, axis, -1)
    extreme = (np.maximum if largest else np.minimum).accumulate(rows, axis=-1)
    is_extreme = (rows == extreme) | ((rows != rows) & (extreme != extreme))
    positions = xp.where(is_extreme, xp.arange(rows.shape[-1]), 0)
    return xp.ascontiguousarray(xp.moveaxis(np.maximum.accumulate(positions, axis=-1), -1, axis)).astype(np.int64)


_running_places = Operator("running_extreme", _running)


def _cumulative(x: Tensor, axis: int, largest: bool, name: str) -> tuple[Tensor, Tensor]:
    at = one_axis(axis, check_tensor(x, name).ndim, name)
    if x.ndim == 0:
        return reshape(x, ()), Tensor(0, int64)
    positions = _running_places(x, axis=at, largest=largest)
    return gather_elements(x, at, positions), positions


@declare(method=True, primitive=prim("Cummax", "axis"), mint=renamed(axis="dim"))
def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the largest element so far along one axis, and its position, the last one of several. NaN stays.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim).

    Returns:
        The running maxima, and an Int64 Tensor of the same shape with their positions along ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return _cumulative(input, axis, True, "cummax")


@declare(method=True, primitive=prim("Cummin", "axis"))
def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the smallest element so far along one axis, and its position, the last one of several. NaN stays.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim).

    Returns:
        The running minima, and an Int32 Tensor (as in MindSpore, unlike ``cummax``) with their positions along
        ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    values, positions = _cumulative(input, axis, False, "cummin")
    return values, cast_operator(positions, dtype=int32.numpy)


# Searching and counting


def _search_kernel(boundaries: Array, values: Array, right: bool) -> Array:
    xp, side = array_module(boundaries), "right" if right else "left"
    if boundaries.ndim == 1:
        return xp.asarray(xp.searchsorted(boundaries, values, side=side), dtype=np.int64)
    rows = zip(boundaries.reshape(-1, boundaries.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
    results = [xp.searchsorted(b, v, side=side) for b, v in rows]
    return xp.stack(results).reshape(values.shape).astype(np.int64)


_search = Operator("search", _search_kernel)


@declare(mint=True)
def searchsorted(
    sorted_sequence: Tensor,
    values: TensorLike,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return where ``values`` would be inserted into a sorted Tensor, along its last axis, to keep it sorted.

    Args:
        sorted_sequence: ascending along the last axis; a vector serves all ``values``, else there is a row for each of
            their rows.
        values: the values to look up: a Tensor or a value convertible to one, with the leading axes of
            ``sorted_sequence``.
        out_int32: whether the positions are Int32 instead of Int64.
        right: whether a value goes after its equals, instead of before them.
        side: "right" or "left", another form of ``right``.
        sorter: the positions that sort ``sorted_sequence`` along the last axis, where it is not sorted itself.

    Returns:
        A Tensor of the shape of ``values``, from 0 to the length of the last axis.

    Raises:
        TypeError: ``sorted_sequence`` is not a Tensor, or ``values`` cannot be one.
        ValueError: the shapes do not fit, another ``side``, or "left" where ``right`` is True.
    """
    if side not in (None, "left", "right"):
        raise ValueError(f"For 'searchsorted', 'side' must be 'left' or 'right', but got {side!r}")
    if bool_of(right, "searchsorted", "right") and side == "left":
        raise ValueError("For 'searchsorted', 'side' must not be 'left' where 'right' is True: they contradict")
    queries = values if isinstance(values, Tensor) else Tensor(values)
    edges = check_tensor(sorted_sequence, "searchsorted", "sorted_sequence")
    if sorter is not None:
        edges = gather_elements(edges, -1, sorter)
    if edges.ndim != 1 and edges.shape[:-1] != queries.shape[:-1]:
        raise ValueError(
            f"For 'searchsorted', 'values' must have the leading axes of {edges.shape}, but got shape {queries.shape}"
        )
    positions = _search(edges, queries, right=bool(right) or side == "right")
    return cast_operator(positions, dtype=int32.numpy) if out_int32 else positions


def _bound(right: bool) -> Callable[..., Tensor]:
    def bound(rows: Tensor, values: Tensor, out_type: AnyDType) -> Tensor:
        """Return where ``values`` belong in sorted rows: before their equals (LowerBound) or after them (UpperBound).

        Args:
            rows: (N, M), each row ascending.
            values: (N, K), looked up in the row of the same number.
            out_type: the dtype of the positions, Int32 or Int64.

        Returns:
            A Tensor (N, K) of ``out_type``.

        Raises:
            TypeError: ``rows`` is not a Tensor.
            ValueError: the numbers of rows differ.
        """
        return searchsorted(rows, values, right=right).astype(out_type)

    return bound


declare(primitive=prim("LowerBound", out_type="int32"))(_bound(False))
declare(primitive=prim("UpperBound", out_type="int32"))(_bound(True))


@declare(primitive=prim("SearchSorted", dtype=int64, right=False))
def _searchsorted_as(
    sorted_sequence: Tensor, values: TensorLike, sorter: Tensor | None = None, *, dtype: DTypeLike, right: bool
) -> Tensor:
    """Return where ``values`` would be inserted into a sorted Tensor, along its last axis, to keep it sorted.

    Args:
        sorted_sequence: ascending along the last axis; a vector serves all ``values``.
        values: the values to look up, with the leading axes of ``sorted_sequence``.
        sorter: the positions that sort ``sorted_sequence`` along the last axis, where it is not sorted itself.
        dtype: the dtype of the positions.
        right: whether a value goes after its equals, instead of before them.

    Returns:
        A Tensor of the shape of ``values`` and of ``dtype``.

    Raises:
        TypeError: ``sorted_sequence`` is not a Tensor.
        ValueError: the shapes do not fit.
    """
    return searchsorted(sorted_sequence, values, right=right, sorter=sorter).astype(dtype)


@declare(method="searchsorted")
def _searchsorted_of_tensor(input: Tensor, v: TensorLike, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Return where ``v`` would be inserted into this sorted Tensor, along its last axis, to keep it sorted.

    Args:
        input: the Tensor, ascending along the last axis; a vector serves all of ``v``.
        v: the values to look up: a Tensor or a value convertible to one, with the leading axes of ``input``.
        side: "left" inserts a value before its equals, "right" after them.
        sorter: the positions that sort ``input`` along the last axis, where it is not sorted itself.

    Returns:
        An Int32 Tensor of the shape of ``v``.

    Raises:
        TypeError: ``v`` cannot be a Tensor.
        ValueError: the shapes do not fit, or another ``side``.
    """
    return searchsorted(input, v, side=side, sorter=sorter, out_int32=True)


def bucketize(input: Tensor, boundaries: Sequence[float] | Array | Tensor, *, right: bool = False) -> Tensor:
    """Return the number of the bucket between ascending ``boundaries`` that each element falls into.

    Args:
        input: a Tensor of numbers.
        boundaries: ascending numbers, n of them: the ends of n + 1 buckets.
        right: True: a bucket holds its left end (``boundaries[i - 1] <= x < boundaries[i]``); False: its right end.

    Returns:
        An Int32 Tensor of the shape of ``input``, from 0 to n.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``boundaries`` has another number of axes than one.
    """
    edges = np.asarray(boundaries.asnumpy() if isinstance(boundaries, Tensor) else boundaries, np.float64)
    if edges.ndim != 1:
        raise ValueError(f"For 'bucketize', 'boundaries' must have one axis, but got {boundaries!r}")
    x = as_dtype(check_tensor(input, "bucketize"), float64.numpy)
    # 'right' is whether a bucket includes its right end, in MindSpore as in PyTorch.
    numbers = _search(Tensor(edges), x, right=bool(right))
    return cast_operator(numbers, dtype=int32.numpy)


@declare(primitive=prim("Bucketize", "boundaries"))
def _bucketize_right(input: Tensor, boundaries: Sequence[float] | Array | Tensor) -> Tensor:
    """Return the number of the bucket that each element falls into; a bucket holds its left end, not its right one.

    Args:
        input: a Tensor of numbers.
        boundaries: ascending numbers, n of them: the ends of n + 1 buckets.

    Returns:
        An Int32 Tensor of the shape of ``input``, from 0 to n.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return bucketize(input, boundaries, right=True)


@declare(primitive=prim("ConfusionMatrix", "num_classes", dtype="int32"))
def _confusion_matrix(
    labels: Tensor, predictions: Tensor, weights: Tensor | None = None, *, num_classes: int, dtype: AnyDType
) -> Tensor:
    """Return how often each class was predicted as each: rows are the true classes, columns the predicted ones.

    Args:
        labels: the true classes, a vector of ints from 0 below ``num_classes``.
        predictions: the predicted classes, likewise, as many.
        weights: the weight of each pair; 1 by default.
        num_classes: the number of classes.
        dtype: the dtype of the counts.

    Returns:
        A Tensor (num_classes, num_classes) of ``dtype``.

    Raises:
        IndexError: a class that is not below ``num_classes``.
    """
    matrix = np.zeros((num_classes, num_classes), any_dtype(dtype).numpy)
    np.add.at(matrix, (labels.asnumpy(), predictions.asnumpy()), 1 if weights is None else weights.asnumpy())
    return Tensor(matrix)


@declare(method=True, primitive=prim("BincountV2"))
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``.

    Args:
        input: a vector of ints that are not negative.
        weights: the weight of each element, a Tensor of the same length; 1 by default.
        minlength: the least length of the result.

    Returns:
        A Float32 vector of max(largest + 1, ``minlength``) entries.

    Raises:
        TypeError: ``input`` is not a Tensor of integers.
        ValueError: it is not a vector or holds a negative number, ``weights`` has another length, or ``minlength`` is
            negative.
    """
    return _counted(input, weights, minlength).astype(float32)


@declare(mint="bincount")
def _bincount_of_mint(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``.

    Args:
        input: a vector of ints that are not negative.
        weights: the weight of each element, a Tensor of the same length; 1 by default.
        minlength: the least length of the result.

    Returns:
        A vector of max(largest + 1, ``minlength``) entries: Int64, or of the dtype of ``weights``.

    Raises:
        TypeError: ``input`` is not a Tensor of integers.
        ValueError: it is not a vector or holds a negative number, ``weights`` has another length, or ``minlength`` is
            negative.
    """
    return _counted(input, weights, minlength)


def _counted(input: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    x = check_tensor(input, "bincount")._array
    least = int_of(minlength, "bincount", "minlength")
    if x.ndim != 1 or least < 0:
        raise ValueError(f"For 'bincount', 'input' must be a vector and 'minlength' not negative, but got {x.shape}")
    if x.dtype.kind not in "iub":
        raise TypeError(f"For 'bincount', 'input' must hold integers, but got {input.dtype}")
    checked(_check_not_negative, x)
    xp = array_module(x)
    if weights is not None and check_tensor(weights, "bincount", "weights").shape != x.shape:
        raise ValueError(f"For 'bincount', 'weights' must have the shape {x.shape}, but got {weights.shape}")
    if weights is not None and weights._array.dtype.kind in "fV" and x.size:
        sums = unsorted_segment_sum(
            as_dtype(weights, np.dtype(np.float64)), input.astype(int64), max(int(x.max()) + 1, least)
        )
        return as_dtype(sums, weights._array.dtype)
    counts = xp.bincount(x, None if weights is None else weights._array, least)
    return Tensor._wrap(counts.astype(np.int64 if weights is None else weights._array.dtype))


def _check_not_negative(x: Array) -> None:
    if x.size and int(x.min()) < 0:
        raise ValueError(f"For 'bincount', 'input' must not be negative, but got {x.min()}")


@declare(primitive=prim("Bincount"))
def _bincount_below(array: Tensor, size: int | Tensor, weights: Tensor) -> Tensor:
    """Return how often each number below ``size`` occurs, or the sum of its ``weights``; larger ones are left out.

    Args:
        array: a vector of ints that are not negative.
        size: the number of numbers that are counted: an int or a Tensor of one.
        weights: the weight of each element; an empty Tensor means ones of its dtype.

    Returns:
        A vector of ``size`` entries of the dtype of ``weights``.

    Raises:
        TypeError: ``array`` does not hold integers.
        ValueError: it is not a vector or holds a negative number.
    """
    x = array._array
    mask = x < int(size)
    factors = weights._array if weights.size else array_module(x).ones(x.shape, weights._array.dtype)
    return _counted(Tensor._wrap(x[mask]), Tensor._wrap(factors[mask]), int(size))


@declare(method=True, primitive=prim("Histogram", bins=100, min=0.0, max=0.0), mint=True)
def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Return the count of elements in each of ``bins`` equal parts of [min, max]; the last part includes its end.

    Args:
        input: a Tensor of numbers; those outside the range are not counted.
        bins: the number of parts, from 1 on.
        min: the lower end of the range.
        max: its upper end; where both are equal, the range is that of the elements.

    Returns:
        A vector of ``bins`` counts: Int32 for an Int32 ``input``, else Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: no bins, or ``min`` above ``max``.
    """
    for argument, end in (("min", min), ("max", max)):
        check_real(end, "histc", argument)
    if int_of(bins, "histc", "bins") < 1 or min > max:
        raise ValueError(f"For 'histc', 'bins' must be positive and min <= max, but got {bins}, {min}, {max}")
    check_size((bins,), "histc", "bins")
    return Tensor._wrap(computed(_histogram, check_tensor(input, "histc")._array, bins=bins, min=min, max=max))


def _histogram(x: Array, bins: int, min: float, max: float) -> Array:
    if x.dtype.kind == "f":  # in the dtype of the elements: -0.3 is another number in Float32
        min, max = float(x.dtype.type(min)), float(x.dtype.type(max))
    low, high = (float(min), float(max)) if min != max else (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    if not math.isfinite(low) or not math.isfinite(high):
        raise ValueError(f"For 'histc', the range of 'input' must be finite, but got {low} to {high}")
    counts, _ = array_module(x).histogram(x.astype(np.float64), bins=bins, range=(low, high))
    result: Array = counts.astype(x.dtype if x.dtype.kind in "i" and x.dtype == np.int32 else float32.numpy)
    return result


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
        TypeError: an input is not a Tensor, the dtypes differ, or another ``out_idx``.
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


def _nth_kernel(x: Array, n: int) -> Array:
    xp = array_module(x)
    if is_half(x) and xp is not np:
        return xp.partition(widen(x), n, axis=-1)[..., n].astype(x.dtype)
    return xp.partition(x, n, axis=-1)[..., n]


def _nth_rule(F: Functions, g: Value, out: Value, x: Value, n: int) -> Any:
    numbers, nth = (value._array if isinstance(value, Tensor) else value for value in (x, out))
    ties = numbers == nth[..., None]
    shares = (ties / ties.sum(-1, keepdims=True)).astype(numbers.dtype)
    return F.reshape(g, shape=(*g.shape, 1)) * shares


_nth_element_operator = Operator("nth_element", _nth_kernel, (_nth_rule,))


@declare(primitive=prim("NthElement", reverse=False))
def _nth_element(input: Tensor, n: int | Tensor, *, reverse: bool) -> Tensor:
    """Return the n-th smallest element along the last axis, from 0; several that are equal share the gradient.

    Args:
        input: a tensor of numbers with at least one axis.
        n: which, in [0, input.shape[-1]): an int, or an integer tensor without axes.
        reverse: whether to count from the largest.

    Returns:
        A tensor of the shape of ``input`` without the last axis, and of its dtype.

    Raises:
        TypeError: ``input`` is not a Tensor of numbers, ``n`` is not an int, or ``reverse`` is not a bool.
        ValueError: ``n`` is out of range or has axes, or ``input`` has none.
    """
    x = check_tensor(input, "NthElement")
    if x._array.dtype.kind in "bc":
        raise TypeError(f"For 'NthElement', 'input' must be real numbers, but got {x.dtype}")
    check_bool(reverse, "NthElement", "reverse")
    (at,) = ints_of(n, "NthElement", "n") if not isinstance(n, Tensor) or not n.ndim else (-1,)
    if not x.ndim or not 0 <= at < x.shape[-1]:
        raise ValueError(f"For 'NthElement', 'n' must be an int in [0, {x.shape[-1:]}), but got {n}")
    return _nth_element_operator(x, n=x.shape[-1] - 1 - at if reverse else at)
