"""Primitive classes that draw: their distributions, shapes and dtypes, and what they refuse."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

SHAPE = Tensor([200, 100], ms.int32)
MASK = Tensor(np.array([[1, 0, 1], [0, 1, 0]], bool))


def follows(numbers: Tensor, distribution: Any) -> None:
    """Assert that a test of Kolmogorov and Smirnov finds no difference from the distribution."""
    drawn = numbers.asnumpy().astype(np.float64).reshape(-1)
    assert stats.kstest(drawn, distribution.cdf).pvalue > 0.001


def test_the_truncated_normal_distribution_ends_at_two_deviations() -> None:
    drawn = ops.TruncatedNormal(seed=1, seed2=2)(SHAPE)
    assert drawn.shape == (200, 100) and drawn.dtype is ms.float32 and float(abs(drawn).max()) <= 2
    follows(drawn, stats.truncnorm(-2, 2))
    assert ops.TruncatedNormal(ms.float64, 1)(Tensor([2, 2])).dtype is ms.float64
    assert ops.TruncatedNormal(ms.float16, 1)(Tensor([2, 2])).dtype is ms.float16


@pytest.mark.parametrize(
    ("mean", "deviation", "low", "high"),
    [(0, 1, -1, 2), (0, 1, 3, 5), (0, 1, -5, -3), (3, 2, -4, 3.5), (0, 1, 12, 14), (1, 0.5, -100, 100)],
)
def test_the_truncated_normal_distribution_has_its_parameters_also_far_outside(
    mean: float, deviation: float, low: float, high: float
) -> None:
    drawn = ops.ParameterizedTruncatedNormal(1, 2)(
        Tensor([2, 10_000]), *(Tensor([float(variant)]) for variant in (mean, deviation, low, high))
    )
    assert low <= float(drawn.min()) and float(drawn.max()) <= high
    follows(drawn, stats.truncnorm((low - mean) / deviation, (high - mean) / deviation, mean, deviation))


def test_each_row_has_its_own_truncated_normal_distribution() -> None:
    rows = [Tensor([0.0, 100.0]), Tensor([1.0, 2.0]), Tensor([-1.0, 99.0]), Tensor([1.0, 101.0])]
    drawn = ops.ParameterizedTruncatedNormal(1, 2)(Tensor([2, 50, 100]), *rows)
    follows(drawn[0], stats.truncnorm(-1, 1))
    follows(drawn[1], stats.truncnorm(-0.5, 0.5, 100, 2))
    assert ops.ParameterizedTruncatedNormal()(Tensor([2, 3]), *(Tensor(row, ms.float64) for row in rows)).dtype is (
        ms.float64
    )


def test_cauchys_numbers_have_its_distribution() -> None:
    ms.set_seed(3)
    drawn = ops.Cauchy([100, 200], 1.0, 2.0)()
    assert drawn.shape == (100, 200) and drawn.dtype is ms.float32
    follows(drawn, stats.cauchy(1, 2))


def test_the_logarithms_of_log_normal_reverse_are_normal() -> None:
    ms.set_seed(3)
    x = Tensor(np.ones((100, 200)), ms.float64)
    drawn = ops.LogNormalReverse(2.0, 0.5)(x)
    assert drawn.shape == x.shape and drawn.dtype is ms.float64
    follows(ops.log(drawn), stats.norm(2, 0.5))
    assert ops.LogNormalReverse()(Tensor([1.0], ms.float16)).dtype is ms.float16


@pytest.mark.parametrize("dtype", [ms.int32, ms.int64, ms.uint32, ms.uint64])
def test_non_deterministic_ints_are_evenly_spread_over_the_whole_dtype(dtype: Any) -> None:
    ms.set_seed(6)
    drawn = ops.NonDeterministicInts(dtype)(SHAPE)
    assert drawn.shape == (200, 100) and drawn.dtype is dtype
    numbers = drawn.asnumpy()
    limits = np.iinfo(numbers.dtype)
    share = (numbers.astype(np.float64) - float(limits.min)) / (float(limits.max) - float(limits.min))
    assert stats.kstest(share.reshape(-1), "uniform").pvalue > 0.001
    bits = np.unpackbits(numbers.view(np.uint8)).reshape(numbers.size, -1)
    assert (abs(bits.mean(0) - 0.5) < 0.02).all()  # each bit, the lowest too
    assert ops.NonDeterministicInts(dtype)(SHAPE).tolist() != drawn.tolist()


def test_random_choice_with_mask_gives_each_place_that_holds_once() -> None:
    indices, mask = ops.RandomChoiceWithMask(5, 1, 2)(MASK)
    assert indices.dtype is ms.int32 and mask.tolist() == [True, True, True, False, False]
    assert sorted(map(tuple, indices.tolist()[:3])) == [(0, 0), (0, 2), (1, 1)] and indices.tolist()[3:] == [[0, 0]] * 2
    assert ops.RandomChoiceWithMask(3)(Tensor(np.zeros((2, 2), bool)))[1].tolist() == [False] * 3
    firsts = [tuple(ops.RandomChoiceWithMask(1, seed)(MASK)[0][0].tolist()) for seed in range(1, 901)]
    assert stats.chisquare([firsts.count(index) for index in ((0, 0), (0, 2), (1, 1))]).pvalue > 0.001


def test_multinomial_with_replacement_draws_by_the_weights_and_without_them_each_once() -> None:
    weights = Tensor([[0.0, 9.0, 4.0, 0.0]])
    drawn = ops.MultinomialWithReplacement(20_000, True)(weights, Tensor(2), Tensor(5))
    assert drawn.dtype is ms.int64 and drawn.shape == (1, 20_000)
    counts = np.bincount(drawn.asnumpy()[0], minlength=4)
    assert counts[0] == counts[3] == 0 and stats.chisquare(counts[1:3], 20_000 * np.array([9, 4]) / 13).pvalue > 0.001
    assert sorted(ops.MultinomialWithReplacement(2)(weights, Tensor(2), Tensor(5)).tolist()[0]) == [1, 2]


@pytest.mark.parametrize(
    "draw",
    [
        lambda a, b: ops.TruncatedNormal(seed=a, seed2=b)(SHAPE),
        lambda a, b: ops.ParameterizedTruncatedNormal(a, b)(SHAPE, Tensor(0.0), Tensor(1.0), Tensor(-1.0), Tensor(1.0)),
        lambda a, b: ops.RandomChoiceWithMask(40, a, b)(Tensor(np.ones((40, 40), bool)))[0],
        lambda a, b: ops.MultinomialWithReplacement(40, True)(Tensor(np.ones(40)), a, b),
    ],
)
def test_both_seeds_count_and_without_them_each_call_draws_others(draw: Any) -> None:
    seeds = [(3, 0), (3, 5), (4, 0), (4, 5)]
    results = [draw(*pair).tolist() for pair in seeds]
    assert [draw(*pair).tolist() for pair in seeds] == results and len({str(result) for result in results}) == len(
        seeds
    )
    ms.set_seed(1)
    first, second = draw(0, 0).tolist(), draw(0, 0).tolist()
    ms.set_seed(1)
    assert first != second and draw(0, 0).tolist() == first


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.TruncatedNormal(ms.int32)(SHAPE),
            TypeError,
            "For 'TruncatedNormal', 'dtype' must be float16, float32 or float64, but got Int32",
        ),
        (lambda: ops.TruncatedNormal(1, 2)(SHAPE), TypeError, "'dtype' must be float16, float32 or float64, but got 1"),
        (lambda: ops.TruncatedNormal()((2, 2)), TypeError, "'shape' must be a Tensor, but got tuple"),
        (
            lambda: ops.TruncatedNormal()(Tensor([0, 2])),
            ValueError,
            "For 'TruncatedNormal', 'shape' must be positive, but got (0, 2)",
        ),
        (
            lambda: ops.ParameterizedTruncatedNormal()(Tensor([2, 3]), *map(Tensor, (0.0, 1.0, 1.0, -1.0))),
            RuntimeError,
            "'stdevs' must be above 0 and 'min' below 'max' in each row",
        ),
        (
            lambda: ops.ParameterizedTruncatedNormal()(Tensor([2, 3]), *map(Tensor, (0.0, 0.0, -1.0, 1.0))),
            RuntimeError,
            "'stdevs' must be above 0",
        ),
        (
            lambda: ops.ParameterizedTruncatedNormal()(Tensor([2]), *map(Tensor, (0.0, 1.0, -1.0, 1.0))),
            ValueError,
            "'shape' must have at least 2 lengths, but got (2,)",
        ),
        (
            lambda: ops.ParameterizedTruncatedNormal()(
                Tensor([2, 3]), Tensor([0.0] * 3), *map(Tensor, (1.0, -1.0, 1.0))
            ),
            ValueError,
            "'mean' must have the shape () or (2,), but got (3,)",
        ),
        (
            lambda: ops.ParameterizedTruncatedNormal()(
                Tensor([2, 3]), Tensor(0.0, ms.float64), *map(Tensor, (1.0, -1.0, 1.0))
            ),
            TypeError,
            "'stdevs' must be Float64 as 'mean' is, but got Float32",
        ),
        (lambda: ops.Cauchy((2, 3))(), TypeError, "For 'Cauchy', 'size' must be a list, but got tuple"),
        (lambda: ops.Cauchy([])(), ValueError, "For 'Cauchy', 'size' must be positive, but got ()"),
        (lambda: ops.Cauchy([0])(), ValueError, "'size' must be positive"),
        (lambda: ops.Cauchy([1], 1)(), TypeError, "'median' must be a float, but got int"),
        (lambda: ops.NonDeterministicInts(ms.int16)(SHAPE), TypeError, "must be int32, int64, uint32 or uint64"),
        (lambda: ops.NonDeterministicInts()(Tensor([3, -1])), ValueError, "'shape' must be positive, but got (3, -1)"),
        (lambda: ops.LogNormalReverse(2)(Tensor([1.0])), TypeError, "'mean' must be a float, but got int"),
        (lambda: ops.LogNormalReverse()(Tensor([1])), TypeError, "'input' must be floating numbers, but got Int64"),
        (lambda: ops.RandomChoiceWithMask(0)(MASK), ValueError, "'count' must be above 0, but got 0"),
        (lambda: ops.RandomChoiceWithMask(2.0)(MASK), TypeError, "'count' must be an int, but got float"),
        (lambda: ops.RandomChoiceWithMask(2)(Tensor([1, 0])), TypeError, "'input_x' must be bools, but got Int64"),
        (
            lambda: ops.MultinomialWithReplacement(5)(Tensor([[0.0, 9.0, 4.0, 0.0]]), 2, 5),
            ValueError,
            "at most 4 samples can be drawn, but got 5",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
