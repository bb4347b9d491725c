"""Order: sorting, ranks, medians and quantiles, searching, counting, running extremes.

An operator here finds positions, which have no gradient; the values are then gathered, and the gradient is that of
gathering.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import float32, float64, int32, int64
from ..core.operator import Operator
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import comparison
from .arguments import check_tensor, one_axis
from .elementwise import as_dtype, cast_operator
from .gathering import gather_elements
from .rearranging import ravel
from .shape import reshape, stack

__all__ = [
    "argsort", "bincount", "bucketize", "cummax", "cummin", "histc", "intopk", "kthvalue", "median", "msort",
    "nanmedian", "nanquantile", "quantile", "searchsorted", "sort", "top_k", "topk", "unique", "unique_consecutive",
    "unique_with_pad",
]  # fmt: skip


def _order_kernel(x: Any, axis: int, descending: bool) -> Any:
    """Positions in order, ties as they come, NaN as the largest."""
    xp = array_module(x)
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable").astype(np.int64)
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis).astype(np.int64)


_order = Operator("order", _order_kernel)


def _sorted_places(x: Tensor, axis: int, descending: bool, name: str) -> tuple[Tensor, Any]:
    check_tensor(x, name, "input_x")
    return x, _order(x, axis=one_axis(axis, x.ndim, name), descending=descending) if x.ndim else Tensor(0, int64)


@declare(primitive=prim("Sort", axis=-1, descending=False))
def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Any, Any]:
    """The elements in order along ``axis``, and where they were."""
    x, places = _sorted_places(input_x, axis, bool(descending), "sort")
    return gather_elements(x, axis, places), cast_operator(places, dtype=int32.numpy)


def argsort(input: Tensor, axis: int | None = -1, descending: bool = False) -> Any:
    """Where the elements in order are, along ``axis``."""
    x = ravel(input) if axis is None else check_tensor(input, "argsort")
    return cast_operator(_sorted_places(x, -1 if axis is None else axis, bool(descending), "argsort")[1],
                         dtype=int32.numpy)  # fmt: skip


@declare(method="sort")
def _sort_of_tensor(
    input: Tensor, axis: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Tensor, Tensor]:
    """The elements in order along ``axis``, and where they were; equal ones keep their order."""
    return sort(input, axis, descending)


@declare(method="argsort")
def _argsort_of_tensor(input: Tensor, axis: int | None = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Where the elements in order are, along ``axis``; equal ones keep their order."""
    return argsort(input, axis, descending)


@declare(method=True)
def msort(input: Tensor) -> Any:
    """The elements in order along the first axis."""
    return sort(input, 0)[0]


@declare(method=True)
def topk(input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    """The ``k`` largest (or smallest) elements along ``dim`` and where they are.

    Raises:
        ValueError: fewer than ``k`` elements.
    """
    at = one_axis(-1 if dim is None else dim, check_tensor(input, "topk").ndim, "topk")
    length = input.shape[at] if input.ndim else 1
    if not 0 <= int(k) <= length:
        raise ValueError(f"For 'topk', 'k' must be in [0, {length}], but got {k}")
    _, places = _sorted_places(input, at, bool(largest), "topk")
    first = Tensor._wrap(places._array[(slice(None),) * at + (slice(0, int(k)),)] if input.ndim else places._array)
    return gather_elements(input, at, first), cast_operator(first, dtype=int32.numpy)


@declare(method=True, primitive=prim("TopK", sorted=True))
def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Any, Any]:
    """``topk`` along the last axis."""
    return topk(input_x, k, -1)


@declare(primitive=prim("InTopK", "k"))
def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Whether fewer than ``k`` of a row are above what it has at its target, so that equals are in or out together.

    False where the target is no column, or the row holds NaN or infinity.
    """
    scores, targets = check_tensor(x1, "intopk", "x1")._array, check_tensor(x2, "intopk", "x2")._array.reshape(-1)
    xp = array_module(scores)
    there = (targets >= 0) & (targets < scores.shape[1])
    own = xp.take_along_axis(scores, xp.where(there, targets, 0)[:, None], 1)
    counted = there & xp.isfinite(scores).all(axis=1)
    return Tensor._wrap(counted & ((scores > own).sum(axis=1) < k))


@declare(primitive=prim("InvertPermutation"))
def _invert_permutation(input_x: Any) -> tuple[int, ...]:
    """Where each number of a permutation stands."""
    order = [int(n) for n in input_x]
    return tuple(order.index(n) for n in range(len(order)))


@declare(method=True, mint=True)
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """The ``k``-th smallest element along ``dim`` and where it is."""
    at = one_axis(dim, check_tensor(input, "kthvalue").ndim, "kthvalue")
    if not 1 <= k <= (input.shape[at] if input.ndim else 1):
        raise ValueError(f"For 'kthvalue', 'k' must be in [1, {input.shape[at]}], but got {k}")
    _, places = _sorted_places(input, at, False, "kthvalue")
    return _picked(input, places._array, at, k - 1, keepdim)


def _picked(x: Tensor, places: Any, at: int, rank: Any, keepdim: bool) -> tuple[Any, Any]:
    xp = array_module(places)
    if x.ndim == 0:
        return reshape(x, ()), Tensor._wrap(places)
    ranks = xp.broadcast_to(xp.asarray(rank), tuple(1 if i == at else n for i, n in enumerate(x.shape)))
    index = Tensor._wrap(xp.take_along_axis(places, ranks, at))
    values = gather_elements(x, at, index)
    if keepdim:
        return values, index
    shape = tuple(n for i, n in enumerate(x.shape) if i != at)
    return reshape(values, shape), reshape(index, shape)


def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Any, Any]:
    """The middle element (the lower of two) along ``axis`` and where it is; NaN where one is among them."""
    return _median(input, axis, keepdims, "median")


@declare(method="median")
def _median_of_tensor(input: Tensor, axis: int | None = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The middle element along ``axis``, the last one without it, and where it is."""
    return median(input, -1 if axis is None else axis, keepdims)


@declare(method=True)
def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Any, Any]:
    """The middle element of those that are not NaN along ``axis``, and where it is."""
    return _median(input, axis, keepdims, "nanmedian")


@declare(primitive=prim("Median", global_median=False, axis=0, keep_dims=False, ignore_nan=False))
def _median_of_all_or_axis(
    x: Tensor, global_median: bool, axis: int, keep_dims: bool, ignore_nan: bool
) -> tuple[Tensor, Tensor]:
    """The middle element of all, or of those along ``axis``, and where it is."""
    function = nanmedian if ignore_nan else median
    return function(ravel(x), 0) if global_median else function(x, axis, keep_dims)


def _median(x: Tensor, axis: int, keepdims: bool, name: str) -> tuple[Any, Any]:
    at = one_axis(axis, check_tensor(x, name).ndim, name)
    _, order = _sorted_places(x, at, False, name)
    length = x.shape[at] if x.ndim else 1
    xp, rank = array_module(x._array), (length - 1) // 2
    if x._array.dtype.kind == "f" and x.ndim:
        missing = xp.isnan(x._array).sum(axis=at, keepdims=True)
        # NaN sort last: the median of the others is further left, and that of all is the last one where any is NaN.
        rank = (
            (xp.maximum(length - missing, 1) - 1) // 2 if name == "nanmedian" else xp.where(missing, length - 1, rank)
        )
    return _picked(x, order._array, at, rank, keepdims)


@declare(method=True)
def quantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The q-th quantiles, linear between neighbours, along ``axis`` (of all elements without it).

    Raises:
        TypeError: elements that are no floats.
        ValueError: a q outside [0, 1].
    """
    return _quantile(input, q, axis, keepdims, "quantile")


@declare(method=True)
def nanquantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """``quantile`` of the elements that are not NaN."""
    return _quantile(input, q, axis, keepdims, "nanquantile")


def _quantile(input: Tensor, q: Any, axis: int | None, keepdims: bool, name: str) -> Any:
    x = check_tensor(input, name)
    if x._array.dtype not in (np.float32, np.float64):
        raise TypeError(f"For '{name}', 'input' must hold Float32 or Float64, but got {x.dtype}")
    levels = np.asarray(q.asnumpy() if isinstance(q, Tensor) else q, np.float64)
    if levels.ndim > 1 or ((levels < 0) | (levels > 1)).any():
        raise ValueError(f"For '{name}', 'q' must be a number or vector in [0, 1], but got {q}")
    flat = axis is None
    whole, at = (ravel(x), 0) if axis is None else (x, one_axis(axis, x.ndim, name))
    if whole.ndim == 0:
        whole = reshape(whole, (1,))
    values, _ = sort(whole, at)
    xp, length = array_module(x._array), whole.shape[at]
    missing = xp.isnan(whole._array).sum(axis=at, keepdims=True)
    count = length - missing if name == "nanquantile" else xp.full(missing.shape, length)
    results = []
    for level in levels.ravel():
        place = xp.maximum(level * (count - 1), 0)
        low = xp.floor(place).astype(np.int64)
        high = xp.minimum(low + 1, xp.maximum(count - 1, 0)).astype(np.int64)
        weight = Tensor._wrap((place - low).astype(x._array.dtype))
        below, above = (gather_elements(values, at, Tensor._wrap(i)) for i in (low, high))
        found = below + (above - below) * weight
        if name == "quantile" and x._array.dtype.kind == "f":
            found = comparison.where(Tensor._wrap(missing > 0), float("nan"), found)
        results.append(found)
    shape = tuple(1 for _ in x.shape) if flat else (*whole.shape[:at], 1, *whole.shape[at + 1 :])
    if not keepdims:
        shape = () if flat else whole.shape[:at] + whole.shape[at + 1 :]
    shaped = [reshape(found, shape) for found in results]
    if levels.ndim == 0:
        return shaped[0]
    return stack(shaped, 0)


# Running extremes


def _running(x: Any, axis: int, largest: bool) -> Any:
    """Where the extreme of the elements so far is; the last one of several."""
    xp = array_module(x)
    if xp is not np:  # CuPy has no accumulate
        return xp.asarray(_running(x.get(), axis, largest))
    moved = xp.moveaxis(x, axis, -1)
    extreme = (np.maximum if largest else np.minimum).accumulate(moved, axis=-1)
    here = (moved == extreme) | ((moved != moved) & (extreme != extreme))
    places = xp.where(here, xp.arange(moved.shape[-1]), 0)
    return xp.ascontiguousarray(xp.moveaxis(np.maximum.accumulate(places, axis=-1), -1, axis)).astype(np.int64)


_running_places = Operator("running_extreme", _running)


def _cumulative(x: Tensor, axis: int, largest: bool, name: str) -> tuple[Any, Any]:
    at = one_axis(axis, check_tensor(x, name).ndim, name)
    if x.ndim == 0:
        return reshape(x, ()), Tensor(0, int64)
    places = _running_places(x, axis=at, largest=largest)
    return gather_elements(x, at, places), places


@declare(method=True, primitive=prim("Cummax", "axis"), mint=renamed(axis="dim"))
def cummax(input: Tensor, axis: int) -> tuple[Any, Any]:
    """The largest element so far along ``axis`` and where it is."""
    return _cumulative(input, axis, True, "cummax")


@declare(method=True, primitive=prim("Cummin", "axis"))
def cummin(input: Tensor, axis: int) -> tuple[Any, Any]:
    """The smallest element so far along ``axis`` and where it is."""
    values, places = _cumulative(input, axis, False, "cummin")
    return values, cast_operator(places, dtype=int32.numpy)


# Searching and counting


def _search_kernel(boundaries: Any, values: Any, right: bool) -> Any:
    xp, side = array_module(boundaries), "right" if right else "left"
    if boundaries.ndim == 1:
        return xp.asarray(xp.searchsorted(boundaries, values, side=side), dtype=np.int64)
    rows = zip(boundaries.reshape(-1, boundaries.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
    found = [xp.searchsorted(b, v, side=side) for b, v in rows]
    return xp.stack(found).reshape(values.shape).astype(np.int64)


_search = Operator("search", _search_kernel)


@declare(mint=True)
def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Any:
    """Where ``values`` belong in a sorted tensor, along its last axis.

    Raises:
        ValueError: the shapes do not fit, or another ``side`` than "left" and "right".
    """
    if side not in (None, "left", "right"):
        raise ValueError(f"For 'searchsorted', 'side' must be 'left' or 'right', but got {side!r}")
    given = values if isinstance(values, Tensor) else Tensor(values)
    edges = check_tensor(sorted_sequence, "searchsorted", "sorted_sequence")
    if sorter is not None:
        edges = gather_elements(edges, -1, sorter)
    if edges.ndim != 1 and edges.shape[:-1] != given.shape[:-1]:
        raise ValueError(
            f"For 'searchsorted', 'values' must have the leading axes of {edges.shape}, but got shape {given.shape}"
        )
    found = _search(edges, given, right=bool(right) or side == "right")
    return cast_operator(found, dtype=int32.numpy) if out_int32 else found


def _bound(right: bool) -> Callable[..., Tensor]:
    def bound(rows: Tensor, values: Tensor, out_type: Any) -> Tensor:
        """Where ``values`` belong in sorted rows."""
        return searchsorted(rows, values, right=right).astype(out_type)

    return bound


declare(primitive=prim("LowerBound", out_type="int32"))(_bound(False))
declare(primitive=prim("UpperBound", out_type="int32"))(_bound(True))


@declare(primitive=prim("SearchSorted", dtype=int64, right=False))
def _searchsorted_as(
    sorted_sequence: Tensor, values: Any, sorter: Tensor | None = None, *, dtype: Any, right: bool
) -> Tensor:
    """``searchsorted``, as ``dtype``."""
    return searchsorted(sorted_sequence, values, right=right, sorter=sorter).astype(dtype)


@declare(method="searchsorted")
def _searchsorted_of_tensor(input: Tensor, v: Any, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where ``v`` belongs in this sorted tensor; Int32."""
    return searchsorted(input, v, side=side, sorter=sorter, out_int32=True)


def bucketize(input: Tensor, boundaries: Any, *, right: bool = False) -> Any:
    """The number of the bucket, between ascending ``boundaries``, that each element falls into; Int32."""
    edges = np.asarray(boundaries.asnumpy() if isinstance(boundaries, Tensor) else boundaries, np.float64)
    x = as_dtype(check_tensor(input, "bucketize"), float64.numpy)
    # MindSpore's 'right' tells whether the right end belongs to a bucket, as PyTorch's does.
    found = _search(Tensor(edges), x, right=bool(right))
    return cast_operator(found, dtype=int32.numpy)


declare(primitive=prim("Bucketize", "boundaries"))(lambda x, boundaries: bucketize(x, boundaries, right=True))


@declare(primitive=prim("ConfusionMatrix", "num_classes", dtype="int32"))
def _confusion_matrix(
    labels: Tensor, predictions: Tensor, weights: Tensor | None = None, *, num_classes: int, dtype: str
) -> Tensor:
    """How often each class (row) was taken for each (column), or the sums of ``weights``."""
    found = np.zeros((num_classes, num_classes), dtype)
    np.add.at(found, (labels.asnumpy(), predictions.asnumpy()), 1 if weights is None else weights.asnumpy())
    return Tensor(found)


@declare(method=True, primitive=prim("BincountV2"), mint=True)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2, ... is there, or the sum of its ``weights``.

    Raises:
        ValueError: no vector, or a negative ``minlength``.
    """
    x = check_tensor(input, "bincount")._array
    if x.ndim != 1 or minlength < 0:
        raise ValueError(f"For 'bincount', 'input' must be a vector and 'minlength' not negative, but got {x.shape}")
    if x.dtype.kind not in "iub":
        raise TypeError(f"For 'bincount', 'input' must hold integers, but got {input.dtype}")
    if x.size and int(x.min()) < 0:
        raise ValueError(f"For 'bincount', 'input' must not be negative, but got {x.min()}")
    xp = array_module(x)
    counted = xp.bincount(x, None if weights is None else weights._array, minlength)
    return Tensor._wrap(counted.astype(np.int32 if weights is None else weights._array.dtype))


@declare(primitive=prim("Bincount"))
def _bincount_below(array: Tensor, size: Any, weights: Tensor) -> Tensor:
    """How often each number below ``size`` is there, or the sum of its ``weights``, which may be an empty tensor."""
    x = array._array
    kept = x < int(size)
    given = weights._array if weights.size else array_module(x).ones(x.shape, weights._array.dtype)
    return bincount(Tensor._wrap(x[kept]), Tensor._wrap(given[kept]), int(size))


@declare(method=True, primitive=prim("Histogram", bins=100, min=0.0, max=0.0), mint=True)
def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Any:
    """How many elements fall into each of ``bins`` equal parts of [min, max]; of the elements' range where both are 0.

    Raises:
        ValueError: no bins, or min > max.
    """
    if bins < 1 or min > max:
        raise ValueError(f"For 'histc', 'bins' must be positive and min <= max, but got {bins}, {min}, {max}")
    x = check_tensor(input, "histc")._array
    xp = array_module(x)
    low, high = (float(min), float(max)) if min != max else (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    counts, _ = xp.histogram(x.astype(np.float64), bins=bins, range=(low, high))
    dtype = x.dtype if x.dtype.kind in "i" and x.dtype == np.int32 else float32.numpy
    return Tensor._wrap(counts.astype(dtype))


@declare(primitive=prim("Unique"))
def unique(input: Tensor) -> tuple[Any, Any]:
    """Each value once, in the order in which they come, and for every element the place of its value."""
    x = check_tensor(input, "unique")._array
    xp = array_module(x)
    values, first, inverse = xp.unique(x.reshape(-1), return_index=True, return_inverse=True)
    order = xp.argsort(first, kind="stable")
    rank = xp.argsort(order, kind="stable")
    kind = np.int64 if x.dtype == np.int64 else np.int32
    return Tensor._wrap(values[order]), Tensor._wrap(rank[inverse.reshape(-1)].reshape(x.shape).astype(kind))


@declare(method="unique")
def unique_sorted(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Each value (entry along ``dim``) once in order; on demand places of every element's value, and counts."""
    x = check_tensor(input, "unique")._array
    found = array_module(x).unique(x, return_inverse=True, return_counts=True, axis=dim)
    inverse = found[1].reshape(x.shape if dim is None else (-1,)).astype(np.int64)
    parts = (
        found[0],
        *((inverse,) if return_inverse else ()),
        *((found[2].astype(np.int64),) if return_counts else ()),
    )
    wrapped = tuple([Tensor._wrap(part) for part in parts])
    return wrapped[0] if len(wrapped) == 1 else wrapped


@declare(
    method=True, primitive=prim("UniqueConsecutive", return_inverse=False, return_counts=False, dim=None), mint=True
)
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Without the repetitions of neighbours; on demand places and counts."""
    x = check_tensor(input, "unique_consecutive")._array
    xp = array_module(x)
    rows = x.reshape(-1) if dim is None else xp.moveaxis(x, one_axis(dim, x.ndim, "unique_consecutive"), 0)
    apart = rows[1:] != rows[:-1]
    starts = xp.concatenate([xp.ones(min(len(rows), 1), bool), apart.reshape(len(apart), -1).any(axis=1)])
    kept = rows[starts]
    inverse = xp.cumsum(starts) - 1
    counts = xp.bincount(inverse, minlength=len(kept)) if len(rows) else xp.zeros(0, np.int64)
    values = Tensor._wrap(kept if dim is None else xp.moveaxis(kept, 0, dim))
    more = []
    if return_inverse:
        more.append(Tensor._wrap((inverse.reshape(x.shape) if dim is None else inverse).astype(np.int64)))
    if return_counts:
        more.append(Tensor._wrap(counts.astype(np.int64)))
    return (values, *more) if more else values


@declare(method=True, primitive=prim("UniqueWithPad"))
def unique_with_pad(x: Tensor, pad_num: Any) -> tuple[Any, Any]:
    """``unique`` of a vector, filled up with ``pad_num`` to the length of the input."""
    values, inverse = unique(x)
    full = array_module(x._array).full(x.shape, int(pad_num), x._array.dtype)
    full[: values.size] = values._array
    return Tensor._wrap(full), inverse
