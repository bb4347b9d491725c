"""Edit distances and words that would repeat a sequence: as recorded from MindSpore and by the definition."""

from __future__ import annotations

import functools
import math
import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

LEAST = float(np.finfo(np.float32).min)
WORDS = Tensor(
    [[[1, 2, 1, 2, 5, 1, 2], [9, 3, 9, 5, 4, 1, 5]], [[4, 8, 6, 4, 5, 6, 4], [4, 8, 8, 4, 3, 4, 8]]], ms.int32
)
CHANCES = Tensor(np.arange(40, dtype=np.float32).reshape(2, 2, 10) / 10)
Sparse = tuple[Tensor, Tensor, Tensor]


def sparse(rows: dict[tuple[int, ...], list[int]], shape: tuple[int, ...]) -> Sparse:
    indices = [(*index, i) for index, symbols in rows.items() for i in range(len(symbols))]
    values = [symbol for symbols in rows.values() for symbol in symbols]
    return Tensor(indices, ms.int64), Tensor(values, ms.int64), Tensor(shape)


@pytest.mark.parametrize(
    ("normalize", "item", "other", "expected"),
    [
        (False, ({(0,): [1, 2, 3, 4]}, (1, 4)), ({(0,): [1, 3, 4, 5, 6]}, (1, 5)), [3.0]),
        (True, ({(0,): [1, 2, 3, 4]}, (1, 4)), ({(0,): [1, 3, 4, 5, 6]}, (1, 5)), [float(np.float32(0.6))]),
        (False, ({(0,): [1, 2], (2,): [3]}, (3, 2)), ({(0,): [1], (1,): [5]}, (3, 2)), [1, 1, 1]),
        (True, ({(0,): [1, 2], (2,): [3]}, (3, 2)), ({(0,): [1], (1,): [5]}, (3, 2)), [1, 1, math.inf]),
        (False, ({(0,): [1, 2], (2,): [3]}, (4, 2)), ({(0,): [1], (1,): [5]}, (3, 2)), [1, 1, 1, 0]),
        (True, ({(0,): [1]}, (3, 1)), ({(0,): [1]}, (3, 1)), [0, 0, 0]),
        (
            True,
            ({(0, 0): [1], (1, 0): [2], (1, 1): [3]}, (1, 1, 2)),
            ({(0, 1): [1], (0, 0): [3], (1, 1): [2], (1, 0): [1]}, (2, 2, 2)),
            [[1, 1], [1, 1]],
        ),
    ],
)
def test_edit_distances_are_mindspores(normalize: bool, item: Any, other: Any, expected: list[Any]) -> None:
    result = ops.EditDistance(normalize)(*sparse(*item), *sparse(*other))
    assert result.tolist() == expected and result.dtype is ms.float32


def test_edit_distances_are_those_of_the_recursion() -> None:
    numbers = np.random.default_rng(7)
    for _ in range(20):
        a, b = (numbers.integers(0, 3, numbers.integers(0, 7)).tolist() for _ in range(2))

        @functools.cache
        def apart(i: int, j: int, a: tuple[int, ...] = tuple(a), b: tuple[int, ...] = tuple(b)) -> int:
            if not i or not j:
                return max(i, j)
            return min(apart(i - 1, j) + 1, apart(i, j - 1) + 1, apart(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

        rows = ({(0,): a, (1,): [1]}, {(0,): b, (1,): [1]})
        result = ops.EditDistance(False)(*sparse(rows[0], (2, 9)), *sparse(rows[1], (2, 9)))
        assert result.tolist() == [apart(len(a), len(b)), 0]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_word_that_would_repeat_a_sequence_has_the_least_probability(size: int) -> None:
    # Recorded from MindSpore 2.10: where its numbers are the least ones. It refuses a size of all words.
    recorded = {
        1: [[[1, 2, 5], [1, 3, 4, 5, 9]], [[4, 5, 6, 8], [3, 4, 8]]],
        2: [[[1, 5], [4]], [[5, 8], [4, 8]]],
        3: [[[1, 5], []], [[5], [8]]],
        7: [[[], []], [[], []]],
    }[size]
    expected = CHANCES.asnumpy().copy()
    for i, row in enumerate(recorded):
        for j, banned in enumerate(row):
            expected[i, j, banned] = LEAST
    assert ops.NoRepeatNGram(size)(WORDS, CHANCES).tolist() == expected.tolist()


def test_half_precision_has_its_own_least_number() -> None:
    result = ops.NoRepeatNGram(3)(WORDS, CHANCES.astype(ms.float16))
    assert result.dtype is ms.float16 and float(result.min()) == -65504


def test_the_gradient_goes_to_the_words_that_are_left() -> None:
    agrees(
        lambda x: ops.where(x > -9.0, ops.NoRepeatNGram(3)(WORDS, x), 0.0) * (ops.NoRepeatNGram(3)(WORDS, x) > -9),
        CHANCES.asnumpy(),
    )
    result = ms.grad(lambda x: ops.NoRepeatNGram(3)(WORDS, x))(CHANCES)
    assert result[0, 0].tolist() == [1, 0, 1, 1, 1, 0, 1, 1, 1, 1]


ONE = sparse({(0,): [1]}, (1, 1))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.EditDistance(1)(*ONE, *ONE), TypeError, "'normalize' must be a bool, but got int"),
        (
            lambda: ops.EditDistance()(*ONE, ONE[0], Tensor([1.0]), ONE[2]),
            TypeError,
            "For 'EditDistance', 'truth_values' must be Int64 as 'hypothesis_values' is, but got Float32",
        ),
        (lambda: ops.EditDistance()(*sparse({(): [1]}, (2,)), *sparse({(): [1]}, (2,))), ValueError, "at least 2"),
        (lambda: ops.EditDistance()(*ONE, *sparse({(0, 0): [1]}, (1, 1, 1))), ValueError, "as many lengths"),
        (
            lambda: ops.EditDistance()(*sparse({(5,): [1]}, (1, 1)), *ONE),
            ValueError,
            "For 'EditDistance', 'hypothesis_indices' [5] must be in the shape (1,)",
        ),
        (lambda: ops.EditDistance()(Tensor([[0.0, 0.0]]), *ONE[1:], *ONE), TypeError, "must be integers, but got"),
        (lambda: ops.EditDistance()(ONE[0], Tensor([1, 2]), ONE[2], *ONE), ValueError, "(N,), but got (1, 2) and (2,)"),
        (lambda: ops.NoRepeatNGram(0)(WORDS, CHANCES), ValueError, "'ngram_size' must be above 0, but got 0"),
        (lambda: ops.NoRepeatNGram(3.0)(WORDS, CHANCES), TypeError, "'ngram_size' must be an int, but got float"),
        (lambda: ops.NoRepeatNGram(8)(WORDS, CHANCES), ValueError, "'ngram_size' must be at most 7, but got 8"),
        (lambda: ops.NoRepeatNGram()(WORDS[0], CHANCES[0]), ValueError, "must have 3 axes"),
        (lambda: ops.NoRepeatNGram()(WORDS[:, :1], CHANCES), ValueError, "of which the first two agree"),
        (lambda: ops.NoRepeatNGram()(CHANCES, CHANCES), TypeError, "'state_seq' must be integers, but got Float32"),
        (lambda: ops.NoRepeatNGram()(WORDS, WORDS), TypeError, "'log_probs' must be floating numbers, but got Int32"),
        (lambda: ops.NoRepeatNGram()(WORDS, CHANCES[:, :, :3]), ValueError, "'state_seq' must be in [0, 3)"),
    ],
)
def test_what_is_no_sequence_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
