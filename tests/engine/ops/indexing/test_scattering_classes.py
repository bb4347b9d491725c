"""Classes that put and add where indices say, and means of segments: as recorded from MindSpore 2.10."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees

import hookscope.engine as ms
from hookscope.engine import Tensor, int32, ops

X = Tensor([[1, 2, 3], [4, 5, 6]], int32)


def ints(*values: Any) -> Tensor:
    return Tensor(list(values), int32)


RECORDED: dict[str, tuple[Any, Any]] = {
    "IndexPut adds": (lambda: ops.IndexPut(1)(X, ints(3), [ints(0, 0), ints(0, 1)]), [[4, 5, 3], [4, 5, 6]]),
    "IndexPut puts": (lambda: ops.IndexPut()(X, ints(3), [ints(0, 0), ints(0, 1)]), [[3, 3, 3], [4, 5, 6]]),
    "IndexPut rows": (lambda: ops.IndexPut()(X, ints(7, 8, 9), (ints(1, 0),)), [[7, 8, 9], [7, 8, 9]]),
    "IndexPut from the end": (lambda: ops.IndexPut()(X, ints(3), [ints(0, -1), ints(0, 1)]), [[3, 2, 3], [4, 3, 6]]),
    "IndexPut broadcast": (
        lambda: ops.IndexPut(1)(X, ints(3, 4, 5), [ints(0), ints(0, 1, 1)]),
        [[4, 11, 3], [4, 5, 6]],
    ),
    "FillDiagonal": (lambda: ops.FillDiagonal(9.5)(Tensor([[1.0, 2.0], [3.0, 4.0]])), [[9.5, 2], [3, 9.5]]),
    "FillDiagonal ints": (
        lambda: ops.FillDiagonal(9.5)(Tensor(np.arange(12, dtype=np.int32).reshape(4, 3))),
        [[9, 1, 2], [3, 9, 5], [6, 7, 9], [9, 10, 11]],
    ),
    "FillDiagonal wrapped": (
        lambda: ops.FillDiagonal(9.0, True)(Tensor(np.arange(21).reshape(7, 3))),
        [[9, 1, 2], [3, 9, 5], [6, 7, 9], [9, 10, 11], [9, 13, 14], [15, 9, 17], [18, 19, 9]],
    ),
    "FillDiagonal wide": (lambda: ops.FillDiagonal(1.0, True)(Tensor(np.zeros((2, 4)))), [[1, 0, 0, 0], [0, 1, 0, 0]]),
    "FillDiagonal cube": (
        lambda: ops.FillDiagonal(0.0)(Tensor(np.ones((2, 2, 2)))),
        [[[0, 1], [1, 1]], [[1, 1], [1, 0]]],
    ),
    "ScatterAddWithAxis": (
        lambda: ops.ScatterAddWithAxis(0)(
            Tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]), Tensor([[1, 0, 2], [0, 2, 1]], int32), Tensor(np.ones((2, 3)))
        ),
        [[2, 3, 3], [5, 5, 7], [7, 9, 10]],
    ),
    "ScatterAddWithAxis twice": (
        lambda: ops.ScatterAddWithAxis(1)(ints([1, 2, 3, 4, 5]), ints([2, 2]), ints([8, 8])),
        [[1, 2, 19, 4, 5]],
    ),
    "ScatterAddWithAxis last": (
        lambda: ops.ScatterAddWithAxis(-1)(ints([1, 2, 3, 4, 5]), ints([2, -1]), ints([8, 8])),
        [[1, 2, 11, 4, 13]],
    ),
    "SegmentMean": (
        lambda: ops.SegmentMean()(Tensor([[1.0, 2, 3], [1, 2, 4], [7, 8, 9]], ms.float64), ints(0, 0, 2)),
        [[1, 2, 3.5], [0, 0, 0], [7, 8, 9]],
    ),
    "SegmentMean ints": (lambda: ops.SegmentMean()(ints(1, 2, 4, -7, -8), ints(0, 0, 1, 2, 2)), [1, 4, -7]),
    "SegmentMean wraps": (lambda: ops.SegmentMean()(Tensor([200, 201], ms.uint8), Tensor([0, 0])), [72]),
    "SegmentMean complex": (lambda: ops.SegmentMean()(Tensor([1 + 1j, 3], ms.complex64), Tensor([0, 0])), [2 + 0.5j]),
    "sparse_segment_mean": (
        lambda: ops.sparse_segment_mean(Tensor([[0.0, 1, 2], [1, 2, 3], [3, 6, 7]]), ints(0, 1, 2), ints(1, 2, 2)),
        [[0, 0, 0], [0, 1, 2], [2, 4, 5]],
    ),
    "sparse_segment_mean again": (
        lambda: ops.sparse_segment_mean(Tensor([[0.0, 1, 2], [1, 2, 3], [3, 6, 9]]), ints(2, 2, 0), ints(0, 0, 0)),
        [[2, np.float32(13 / 3), np.float32(20 / 3)]],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_class_that_puts_or_averages_gives_mindspores_numbers(name: str) -> None:
    call, expected = RECORDED[name]
    assert call().tolist() == expected


def test_they_keep_the_dtype() -> None:
    half = Tensor([1.0, 2.0], ms.float16)
    assert ops.SegmentMean()(half, Tensor([0, 0])).dtype is ms.float16
    assert ops.sparse_segment_mean(half, Tensor([0, 1]), Tensor([0, 0])).dtype is ms.float16
    assert ops.SegmentMean()(ints(1, 2), Tensor([0, 0])).dtype is int32
    assert ops.FillDiagonal(9.5)(X[:, :2]).dtype is int32
    assert X.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_mean_of_half_precision_is_added_in_single_precision() -> None:
    x = Tensor(np.full(10_000, 2.4, np.float16))
    assert ops.SegmentMean()(x, Tensor(np.zeros(10_000, np.int32))).tolist() == [float(np.float16(2.4))]


def test_their_gradients_are_those_of_central_differences() -> None:
    numbers = np.random.default_rng(2)
    x, row = numbers.standard_normal((3, 4)), numbers.standard_normal(4)
    at = [Tensor([0, 2, 0, 2]), Tensor([1, 3, 1, 0])]
    agrees(lambda x, y: ops.IndexPut(1)(x, y, at), x, row)
    agrees(lambda x, y: ops.IndexPut()(x, y, [Tensor([0, 2, 0]), Tensor([1, 3, 0])]), x, row[:3])
    agrees(lambda x, y: ops.IndexPut(1)(x, y, at[:1]), x, row)
    agrees(lambda x: ops.FillDiagonal(2.0, True)(x), x.T)
    agrees(lambda x, u: ops.ScatterAddWithAxis(1)(x, Tensor([[2, 2], [0, 3]]), u), x[:2], x[:2, :2])
    agrees(lambda x: ops.SegmentMean()(x, Tensor([0, 0, 2])), x)
    agrees(lambda x: ops.sparse_segment_mean(x, Tensor([2, 0, 2, 1]), Tensor([0, 0, 0, 2])), x)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.IndexPut(2)(X, ints(3), [ints(0)]), ValueError, "'accumulate' must be 0 or 1, but got 2"),
        (lambda: ops.IndexPut(True)(X, ints(3), [ints(0)]), TypeError, "'accumulate' must be an int, but got bool"),
        (
            lambda: ops.IndexPut()(X, Tensor([3.0]), [ints(0)]),
            TypeError,
            "For 'IndexPut', 'x2' must be Int32 as 'x1' is, but got Float32",
        ),
        (lambda: ops.IndexPut()(X, ints([3]), [ints(0)]), ValueError, "'x2' and each of 'indices' must be vectors"),
        (lambda: ops.IndexPut()(X, ints(3), ints(0)), TypeError, "'indices' must be a tuple of Tensors"),
        (lambda: ops.IndexPut()(X, ints(3), [ints(0)] * 3), ValueError, "there must be at most 2 'indices', but got 3"),
        (
            lambda: ops.IndexPut()(X, ints(3, 4, 5), [ints(0, 0), ints(0, 1)]),
            ValueError,
            "For 'IndexPut', 'x2' must have the size 1 or 2, but got 3",
        ),
        (lambda: ops.IndexPut()(X, ints(3), [ints(0, 5), ints(0, 1)]), ValueError, "5"),
        (lambda: ops.FillDiagonal(9)(X), TypeError, "For 'FillDiagonal', 'fill_value' must be a float, but got int"),
        (lambda: ops.FillDiagonal(9.0, 1)(X), TypeError, "'wrap' must be a bool, but got int"),
        (lambda: ops.FillDiagonal(9.0)(ints(1)), ValueError, "the tensor must have 2 axes"),
        (lambda: ops.FillDiagonal(9.0)(Tensor(np.zeros((2, 2), bool))), TypeError, "must be numbers, but got Bool"),
        (
            lambda: ops.ScatterAddWithAxis(1)(X, ints([2, 1]), ints([8, 8, 8])),
            ValueError,
            "For 'ScatterAddWithAxis', 'updates' must have the shape (1, 2), but got (1, 3)",
        ),
        (lambda: ops.ScatterAddWithAxis(1)(X, ints([2, 7]), ints([8, 8])), ValueError, "7"),
        (
            lambda: ops.SegmentMean()(Tensor([1.0, 2.0]), Tensor([1, 0])),
            ValueError,
            "For 'SegmentMean', 'segment_ids' must neither decrease nor be negative, but got [1, 0]",
        ),
        (lambda: ops.SegmentMean()(Tensor([1.0, 2.0]), Tensor([-1, 0])), ValueError, "nor be negative"),
        (lambda: ops.SegmentMean()(Tensor([1.0, 2.0]), Tensor([0])), ValueError, "must have the shape (2,), but got"),
        (lambda: ops.SegmentMean()(Tensor(1.0), Tensor([0])), ValueError, "must have the shape ()"),
        (lambda: ops.sparse_segment_mean(X, ints(0), ints(0)), TypeError, "must be floating numbers"),
        (
            lambda: ops.sparse_segment_mean(X * 1.0, ints(0), Tensor([0])),
            TypeError,
            "For 'sparse_segment_mean', 'segment_ids' must be Int32 as 'indices' is, but got Int64",
        ),
        (lambda: ops.sparse_segment_mean(X * 1.0, ints(0, 1), ints(0)), ValueError, "must have the shape (2,)"),
        (lambda: ops.sparse_segment_mean(X * 1.0, ints(0, 1), ints(1, 0)), ValueError, "must neither decrease"),
        (lambda: ops.sparse_segment_mean(X * 1.0, ints(0, 5), ints(0, 0)), RuntimeError, "5"),
        (lambda: ops.sparse_segment_mean(X * 1.0, ints(0, -1), ints(0, 0)), RuntimeError, "must not be negative"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
