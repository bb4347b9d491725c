"""Order: sorted elements, permutations, quantiles, places and counts, beside Python's and NumPy's."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from function_cases import Array, Case, agrees, listed, same

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, ops

NAN, INF = math.nan, math.inf
X = np.random.default_rng(9).standard_normal((3, 4, 5))
TIES = np.array([[3, 1, 3, 2], [0, 2, 2, -1], [1, 1, 5, 1]], np.int32)
HOLES = np.array([[3.0, NAN, -1.0, 0.5], [NAN, NAN, NAN, NAN], [4.0, 2.0, -INF, NAN]])
LEVELS = [0.0, 0.3, 0.5, 0.87, 1.0]
EDGES = [1.0, 3.0, 3.0, 5.5]
VALUES = np.array([[-INF, 1.0, 2.0, 3.0], [5.5, 5.6, INF, 0.0]])


def f32(values: Any) -> Array:
    return np.asarray(values, np.float32)


def quantile(x: Array, q: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the value at position q * (n - 1) of the sorted numbers, interpolated; NaN if there is one."""
    if axis is None:
        result = np.array(between(x.ravel().tolist(), q))
        return result.reshape((1,) * x.ndim) if keepdims else result
    result = np.apply_along_axis(lambda row: between(row.tolist(), q), axis, x)
    return np.expand_dims(result, axis) if keepdims else result


def between(numbers: list[float], q: float) -> float:
    if not numbers or any(math.isnan(v) for v in numbers):
        return NAN
    ordered, index = sorted(numbers), q * (len(numbers) - 1)
    low = math.floor(index)
    high = min(low + 1, len(numbers) - 1)
    return ordered[low] if index == low else ordered[low] + (ordered[high] - ordered[low]) * (index - low)


def of_others(x: Array, q: float, axis: int) -> Array:
    return np.apply_along_axis(lambda row: between([v for v in row.tolist() if not math.isnan(v)], q), axis, x)


def buckets(x: Array, edges: list[float], right: bool) -> Array:
    search = bisect.bisect_right if right else bisect.bisect_left
    return np.array([search(edges, v) for v in x.ravel().tolist()], np.int32).reshape(x.shape)


def counted(x: Array, bins: int, low: float, high: float) -> Array:
    """Return how many numbers each of the equal parts holds; the last one also its end."""
    result = [0] * bins
    for v in x.ravel().tolist():
        if low <= v <= high:
            result[min(int((v - low) / (high - low) * bins), bins - 1)] += 1
    return f32(result)


def order(x: Array, descending: bool) -> Array:
    """Return the indices of each row's elements, in order; ties as they come."""
    rows = [sorted(range(len(row)), key=lambda i, row=row: -row[i] if descending else row[i]) for row in x.tolist()]
    return np.array(rows, np.int32)


FIRST = order(TIES, True)[:, :2]
SORTED, SORTER = np.array([1.0, 2.0, 2.0, 4.0]), np.array([2, 0, 3, 1])
PROBES = np.concatenate([X[..., ::2], np.zeros((3, 4, 4))], -1)  # some of the elements themselves, and more of them
SHUFFLED = np.array([2.0, 4.0, 1.0, 2.0])

CASES: dict[str, list[Case]] = {
    "msort": [
        (lambda: ops.msort(Tensor(X)), np.sort(X, 0)),
        (lambda: Tensor(TIES).msort(), np.sort(TIES, 0)),
        (lambda: ops.msort(Tensor([2.0, NAN, -INF])), f32([-INF, 2, NAN])),
        (lambda: ops.msort(Tensor([True, False])), np.array([False, True])),
    ],
    "top_k": [
        (lambda: ops.TopK()(Tensor(TIES), 2), (np.take_along_axis(TIES, FIRST, 1), FIRST)),
        (lambda: ops.TopK(sorted=False)(Tensor(X), 5), (-np.sort(-X), np.argsort(-X).astype(np.int32))),
        (lambda: Tensor(f32([1, NAN, 3])).top_k(2), (f32([NAN, 3]), np.array([1, 2], np.int32))),
        (lambda: ops.TopK()(Tensor(X), 0), (np.zeros((3, 4, 0)), np.zeros((3, 4, 0), np.int32))),
    ],
    "topk": [
        (lambda: ops.topk(Tensor(TIES), 2), (np.take_along_axis(TIES, FIRST, 1), FIRST)),
        (lambda: Tensor(X).topk(5, None), (-np.sort(-X), np.argsort(-X).astype(np.int32))),
        (
            lambda: ops.topk(Tensor(X[:, 0, 0]), 3, largest=False),
            (np.sort(X[:, 0, 0]), np.argsort(X[:, 0, 0]).astype(np.int32)),
        ),
    ],
    "unique": [
        *(
            (
                lambda kind=kind: ops.unique(Tensor(TIES.astype(kind))),
                (
                    np.array([3, 1, 2, 0, -1, 5], kind),
                    np.array([[0, 1, 0, 2], [3, 2, 2, 4], [1, 1, 5, 1]], np.int64 if kind == np.int64 else np.int32),
                ),
            )
            for kind in (np.int64, np.int32, np.int16, np.float32, np.float64)
        ),
        (lambda: Tensor(TIES[:, :3]).unique(dim=1), np.array([[1, 3, 3], [2, 0, 2], [1, 1, 5]], np.int32)),
        (
            lambda: Tensor(TIES[[0, 2, 0]]).unique(return_inverse=True, return_counts=True, dim=-2),
            (TIES[[2, 0]], np.array([1, 0, 1]), np.array([1, 2])),
        ),
    ],
    "InvertPermutation": [
        (lambda: ops.InvertPermutation()((2, 0, 3, 1)), (1, 3, 0, 2)),
        (lambda: ops.InvertPermutation()([0, 1]), (0, 1)),
        (lambda: ops.InvertPermutation()(()), ()),
    ],
    "quantile": [
        *((lambda q=q: ops.quantile(Tensor(X), q), quantile(X, q)) for q in LEVELS),
        *((lambda axis=axis: ops.quantile(Tensor(X), 0.3, axis), quantile(X, 0.3, axis)) for axis in (0, 1, 2, -1)),
        (lambda: Tensor(X).quantile(LEVELS, 1, True), np.stack([quantile(X, q, 1, True) for q in LEVELS])),
        (lambda: ops.quantile(Tensor(X), Tensor([0.25]), keepdims=True), quantile(X, 0.25, None, True)[None]),
        (lambda: ops.quantile(Tensor(f32(X)), Tensor(0.75), -2), f32(quantile(X, 0.75, 1))),
        (lambda: ops.quantile(Tensor(HOLES), 0.5, 1), np.array([NAN, NAN, NAN])),
        (lambda: ops.quantile(Tensor(HOLES), 0.5, 0), quantile(HOLES, 0.5, 0)),
        (lambda: ops.quantile(Tensor(2.5), 0.1), np.float32(2.5)),
        (lambda: ops.quantile(Tensor(f32([1, 1, 1])), [0.2, 0.9]), f32([1, 1])),
        (lambda: ops.quantile(Tensor([-INF, 2.0, INF]), [0.0, 0.5, 1.0]), f32([-INF, 2, INF])),
    ],
    "nanquantile": [
        *(
            (lambda q=q: ops.nanquantile(Tensor(HOLES[::2, :3]), q, 1), of_others(HOLES[::2, :3], q, 1))
            for q in (0.5, 0.75, 1.0)
        ),
        (lambda: ops.nanquantile(Tensor(HOLES[:2]), 0.3, 1, True), of_others(HOLES[:2], 0.3, 1)[:, None]),
        (
            lambda: Tensor(HOLES[:2]).nanquantile([0.1, 0.5], 0),
            np.stack([of_others(HOLES[:2], q, 0) for q in (0.1, 0.5)]),
        ),
        (
            lambda: ops.nanquantile(Tensor(HOLES[:2]), Tensor([0.0, 0.25]), keepdims=True),
            np.array([between([3.0, -1.0, 0.5], q) for q in (0.0, 0.25)]).reshape(2, 1, 1),
        ),
        (lambda: ops.nanquantile(Tensor(X), 0.6), quantile(X, 0.6)),
        (lambda: ops.nanquantile(Tensor(f32([NAN, NAN])), 0.6), np.float32(NAN)),
    ],
    "SearchSorted": [
        *(
            (
                lambda right=right: ops.SearchSorted(ms.int32, right)(Tensor(SORTED), Tensor(VALUES)),
                buckets(VALUES, SORTED.tolist(), right),
            )
            for right in (False, True)
        ),
        (
            lambda: ops.SearchSorted(right=True)(Tensor(SHUFFLED), Tensor(VALUES), Tensor(SORTER)),
            buckets(VALUES, SORTED.tolist(), True).astype(np.int64),
        ),
        (
            lambda: ops.SearchSorted()(Tensor(np.sort(TIES)), Tensor(np.int32([[2], [2], [1]]))),
            np.array([[1], [2], [0]]),
        ),
        *(
            (
                lambda right=right: ops.SearchSorted(right=right)(Tensor(np.sort(X)), Tensor(PROBES)),
                np.array(
                    [
                        [buckets(v, row.tolist(), right) for v, row in zip(*both, strict=True)]
                        for both in zip(PROBES, np.sort(X), strict=True)
                    ],
                    np.int64,
                ),
            )
            for right in (False, True)
        ),
    ],
    "bucketize": [
        *(
            (lambda right=right: ops.bucketize(Tensor(VALUES), EDGES, right=right), buckets(VALUES, EDGES, right))
            for right in (False, True)
        ),
        (lambda: ops.bucketize(Tensor(TIES), Tensor([0, 2])), buckets(TIES, [0, 2], False)),
        (lambda: ops.bucketize(Tensor(TIES), np.array([1.5])), buckets(TIES, [1.5], False)),
        (lambda: ops.bucketize(Tensor(2.0), []), np.int32(0)),
        (lambda: ops.Bucketize(EDGES)(Tensor(VALUES)), buckets(VALUES, EDGES, True)),
        (lambda: ops.Bucketize([0.0, 2.0])(Tensor(TIES)), buckets(TIES, [0, 2], True)),
    ],
    "histc": [
        (lambda: ops.histc(Tensor(X), 7, -1.0, 1.5), counted(X, 7, -1.0, 1.5)),
        (lambda: mint.histc(Tensor(f32(X)), bins=5), counted(f32(X), 5, float(f32(X).min()), float(f32(X).max()))),
        (lambda: Tensor(TIES).histc(3, -1, 5), counted(TIES, 3, -1, 5).astype(np.int32)),
        (lambda: ops.Histogram(4, 0.0, 8.0)(Tensor([0.0, 2.0, 7.9, 8.0, 8.1, -0.1])), f32([1, 1, 0, 2])),
        (lambda: ops.histc(Tensor([3.0, 3.0]), 3), f32([0, 2, 0])),
        (lambda: ops.histc(Tensor([3.0, 3.0]), 2, 3.0, 3.0), f32([0, 2])),
        (lambda: ops.Histogram()(Tensor(np.arange(101.0))), np.append(np.ones(99), 2).astype(np.float32)),
        (lambda: ops.histc(Tensor(np.zeros(0)), 2), f32([0, 0])),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_a_function_of_order_is_what_its_definition_gives(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


GRADIENTS: dict[str, tuple[Callable[..., Tensor], Array]] = {
    "msort": (ops.msort, X[:, :2, 0]),
    "top_k": (lambda x: ops.TopK()(x, 3)[0], X[0]),
    "quantile": (lambda x: ops.quantile(x, [0.3, 0.9], 1), X[0]),
    "quantile of all": (lambda x: ops.quantile(x, 0.35), X[0]),
    "nanquantile": (lambda x: ops.nanquantile(ops.where(x > 1, NAN, x), 0.3, 0), X[1]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_function_of_order_has_the_gradient_of_differences(name: str) -> None:
    function, x = GRADIENTS[name]
    agrees(function, x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.TopK()(Tensor(X), 6), ValueError, "'k' must be in [0, 5], but got 6"),
        *(
            (
                lambda order=order: ops.InvertPermutation()(order),
                ValueError,
                f"For 'InvertPermutation', 'input_x' must hold each of 0 to {len(order) - 1} once, but got {order}",
            )
            for order in ((0, 2), (0, 1, 1), (-1, 0))
        ),
        (
            lambda: ops.quantile(Tensor(X), 1.1),
            ValueError,
            "For 'quantile', 'q' must be a number or vector in [0, 1], but got 1.1",
        ),
        (
            lambda: ops.nanquantile(Tensor(X), [[0.5]]),
            ValueError,
            "For 'nanquantile', 'q' must be a number or vector in [0, 1]",
        ),
        (
            lambda: ops.quantile(Tensor(TIES), 0.5),
            TypeError,
            "For 'quantile', 'input' must hold Float32 or Float64, but got Int32",
        ),
        (lambda: ops.histc(Tensor(X), 0), ValueError, "For 'histc', 'bins' must be positive and min <= max, but got 0"),
        (lambda: ops.histc(Tensor(X), 2, 1.0, 0.0), ValueError, "For 'histc', 'bins' must be positive and min <= max"),
        (lambda: ops.bucketize([1.0], EDGES), TypeError, "For 'bucketize', 'input' must be a Tensor, but got list"),
    ],
)
def test_a_function_of_order_refuses_what_it_is_not_defined_for(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
