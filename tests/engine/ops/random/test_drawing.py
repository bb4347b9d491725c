"""Drawn numbers: that seeds determine them, that they have their distributions, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hookscope.engine as ms
from hookscope.engine import Generator, Tensor, ops
from hookscope.engine.ops.random.dropout import dropout_with_mask
from hookscope.engine.tensors import random

Draw = Callable[[int, int], Any]
WEIGHTS = Tensor([[1.0, 2.0, 3.0, 4.0], [4.0, 1.0, 1.0, 0.0]])
ZEROS = Tensor(np.zeros(40, np.float32))

WITH_TWO_SEEDS: dict[str, Draw] = {
    "randperm": lambda a, b: ops.randperm(40, a, b),
    "RandpermV2": lambda a, b: ops.RandpermV2(a, b)(40),
    "multinomial_with_replacement": lambda a, b: ops.multinomial_with_replacement(WEIGHTS, a, b, 40, True),
    "Bernoulli": lambda a, b: ops.Bernoulli(a, b)(ZEROS, 0.5),
    "Gamma": lambda a, b: ops.Gamma(a, b)((40,), Tensor(1.0), Tensor(1.0)),
    "Gamma below 1": lambda a, b: ops.Gamma(a, b)((40,), Tensor(0.3), Tensor(1.0)),
    "Multinomial": lambda a, b: ops.Multinomial(a, b)(WEIGHTS, 40),
    "RandomGamma": lambda a, b: ops.RandomGamma(a, b)((40,), Tensor(1.0)),
    "RandomPoisson": lambda a, b: ops.RandomPoisson(a, b)((40,), Tensor(9.0)),
    "RandomShuffle": lambda a, b: ops.RandomShuffle(a, b)(Tensor(np.arange(40))),
    "StandardLaplace": lambda a, b: ops.StandardLaplace(a, b)((40,)),
    "StandardNormal": lambda a, b: ops.StandardNormal(a, b)((40,)),
    "UniformInt": lambda a, b: ops.UniformInt(a, b)((40,), 0, 1000),
    "UniformReal": lambda a, b: ops.UniformReal(a, b)((40,)),
}


@pytest.mark.parametrize("draw", WITH_TWO_SEEDS.values(), ids=WITH_TWO_SEEDS)
def test_both_seeds_count_and_the_same_two_give_the_same_numbers(draw: Draw) -> None:
    seeds = [(3, 0), (3, 5), (3, 6), (4, 0), (4, 5)]
    results = [draw(*pair).tolist() for pair in seeds]
    assert [draw(*pair).tolist() for pair in seeds] == results
    assert len({str(numbers) for numbers in results}) == len(seeds)


@pytest.mark.parametrize("draw", WITH_TWO_SEEDS.values(), ids=WITH_TWO_SEEDS)
def test_without_a_seed_each_call_draws_others_and_set_seed_repeats_them(draw: Draw, request: Any) -> None:
    none = (-1, 0) if request.node.callspec.id in ("randperm", "RandpermV2", "Bernoulli") else (0, 0)
    runs = []
    for _ in range(2):
        ms.set_seed(11)
        runs.append([draw(*none).tolist() for _ in range(2)])
    assert runs[0] == runs[1] and runs[0][0] != runs[0][1]


def test_randperm_has_a_seed_unless_it_is_told_to_have_none() -> None:
    # As MindSpore: its default, the seed 0, is a seed.
    assert ops.randperm(30).tolist() == ops.randperm(Tensor(30), 0, 0).tolist() != ops.randperm(30, 1).tolist()
    assert sorted(ops.randperm(30, dtype=ms.int32).tolist()) == list(range(30))
    for arguments in ((-1,), (3, -2), (3, 0, -1)):
        with pytest.raises(ValueError, match="For 'randperm', '(n|seed|offset)' must (not be negative|be at least -1)"):
            ops.randperm(*arguments)


FROM_A_GENERATOR: dict[str, Callable[[Tensor, Generator], Tensor]] = {
    "uniform": lambda t, g: t.uniform(generator=g),
    "uniform_": lambda t, g: t.uniform_(generator=g),
    "normal_": lambda t, g: t.normal_(generator=g),
    "exponential_": lambda t, g: t.exponential_(generator=g),
    "bernoulli_": lambda t, g: t.bernoulli_(generator=g),
    "bernoulli": lambda t, g: (t + 0.5).bernoulli(generator=g),
    "random_": lambda t, g: t.random_(generator=g),
    "bernoulli_ext": lambda t, g: ops.bernoulli_ext(t + 0.5, generator=g),
}


@pytest.mark.parametrize("draw", FROM_A_GENERATOR.values(), ids=FROM_A_GENERATOR)
def test_a_generator_that_is_given_is_the_one_that_is_drawn_from(draw: Callable[[Tensor, Generator], Tensor]) -> None:
    generator = Generator().manual_seed(5)
    before = ms.get_rng_state().tolist()
    first, second = (draw(Tensor(np.zeros(40, np.float32)), generator).tolist() for _ in range(2))
    assert ms.get_rng_state().tolist() == before
    generator.manual_seed(5)
    assert draw(Tensor(np.zeros(40, np.float32)), generator).tolist() == first != second


@pytest.mark.parametrize("shape", [(), (7,), (5, 2, 3)])
def test_a_shuffle_has_all_entries_whole(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).standard_normal(shape)
    results = [ops.shuffle(Tensor(x), seed=seed).asnumpy() for seed in (2, 2, 3)]
    np.testing.assert_array_equal(results[0], results[1])
    if shape:
        first = (slice(None), *[0] * (x.ndim - 1))
        for result in results:
            np.testing.assert_array_equal(result[result[first].argsort()], x[x[first].argsort()])
        assert not np.array_equal(results[0], x) and not np.array_equal(results[0], results[2])
    else:
        assert results[0] == x


def moments(values: Any) -> tuple[float, float]:
    array = np.asarray(values.asnumpy(), np.float64)
    return float(array.mean()), float(array.std())


COUNT = 40000


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda: ops.rand(COUNT), 0.5, 12**-0.5),
        (lambda: ops.randn(COUNT), 0.0, 1.0),
        (lambda: ops.rand_like(Tensor(np.zeros(COUNT))), 0.5, 12**-0.5),
        (lambda: ops.randn_like(Tensor(np.zeros(COUNT))), 0.0, 1.0),
        (lambda: ops.randint(-2, 10, (COUNT,)), 3.5, math.sqrt(143 / 12)),
        (lambda: ops.randint_like(Tensor(np.zeros(COUNT, np.int64)), -2, 10), 3.5, math.sqrt(143 / 12)),
        (lambda: ops.uniform((COUNT,), Tensor(1.0), Tensor(3.0)), 2.0, 2 * 12**-0.5),
        (lambda: ops.uniform((COUNT,), Tensor(-2), Tensor(10), dtype=ms.int32), 3.5, math.sqrt(143 / 12)),
        (lambda: ops.normal((COUNT,), 3.0, 0.5), 3.0, 0.5),
        (lambda: ops.standard_normal((COUNT,)), 0.0, 1.0),
        (lambda: ops.standard_laplace((COUNT,)), 0.0, math.sqrt(2)),
        (lambda: ops.laplace((COUNT,), 1.0, 3.0), 1.0, 3 * math.sqrt(2)),
        (lambda: ops.gamma((COUNT,), Tensor(0.4), Tensor(2.0)), 0.2, math.sqrt(0.4) / 2),
        (lambda: ops.gamma((COUNT,), Tensor(0.4), Tensor(2.0), 3), 0.2, math.sqrt(0.4) / 2),
        (lambda: ops.gamma((COUNT,), Tensor(5.0), Tensor(2.0)), 2.5, math.sqrt(5.0) / 2),
        (lambda: ops.random_gamma((COUNT,), Tensor([3.0])), 3.0, math.sqrt(3)),
        (lambda: ops.random_poisson((COUNT,), Tensor([4.0])), 4.0, 2.0),
        (lambda: ops.random_poisson((COUNT,), Tensor([100.0])), 100.0, 10.0),
        (lambda: ops.poisson((COUNT,), Tensor([4.0])), 4.0, 2.0),
        (lambda: ops.bernoulli(Tensor(np.zeros(COUNT)), 0.2), 0.2, 0.4),
        (lambda: ops.UniformReal()((COUNT,)), 0.5, 12**-0.5),
        (lambda: ops.UniformInt()((COUNT,), 0, 12), 5.5, math.sqrt(143 / 12)),
    ],
)
def test_numbers_have_the_moments_of_their_distribution(
    draw: Callable[[], Tensor], mean: float, deviation: float
) -> None:
    ms.set_seed(7)
    result = moments(draw())
    # Five deviations of the mean.
    assert abs(result[0] - mean) < 5 * deviation / math.sqrt(COUNT)
    assert abs(result[1] - deviation) < 0.05 * deviation


# The ends of what the stream gives, and between.
DRAWN = np.array([0.0, 2.0**-24, 0.1, 0.25, 0.4999, 0.5, 0.75, 0.9, 1 - 2.0**-24], np.float32)
INNER = DRAWN.astype(np.float64) + 2.0**-33  # half an interval more keeps 0 out of the logarithms


@pytest.mark.parametrize(
    ("draw", "want"),
    [
        (lambda: ops.rand(9), DRAWN),
        (lambda: ops.uniform((9,), -2.0, 10.0), DRAWN * 12.0 - 2),
        (lambda: ops.uniform((9,), Tensor(-2), Tensor(10), dtype=ms.int32), np.floor(DRAWN * 12.0) - 2),
        (lambda: ops.randint(-2, 10, (9,)), np.floor(DRAWN * 12.0) - 2),
        (lambda: ops.randint_like(Tensor(np.zeros(9, np.int32)), 3, 4), np.full(9, 3)),
        (lambda: Tensor(np.zeros(9, np.int32)).random_(-2, 10), np.floor(DRAWN * 12.0) - 2),
        (lambda: ops.bernoulli(Tensor(np.zeros(9)), 0.5), DRAWN < 0.5),
        (lambda: ops.bernoulli(Tensor(np.zeros(9)), 0.0), np.zeros(9)),
        (lambda: ops.bernoulli(Tensor(np.zeros(9)), 1.0), np.ones(9)),
        (lambda: Tensor(np.zeros(9)).bernoulli_(0.5), DRAWN < 0.5),
        (lambda: ops.standard_laplace((9,)), stats.laplace.ppf(INNER)),
        (lambda: ops.laplace((9,), 1.0, 3.0), stats.laplace.ppf(INNER, 1, 3)),
        *(
            (lambda rate=rate: ops.random_poisson((9,), Tensor(rate)), stats.poisson.ppf(INNER, rate))
            for rate in (0.0, 0.3, 4.0, 49.0, 50.0, 3000.0)
        ),
        (lambda: ops.multinomial(Tensor([1.0, 3.0]), 9), np.arange(9) > 2),
        (lambda: ops.random_categorical(Tensor([[1.0, 3.0]]).log(), 9)[0], np.arange(9) > 2),
    ],
)
def test_a_number_is_the_quantile_of_the_uniform_number_it_is_made_of(
    draw: Callable[[], Tensor], want: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform_at", lambda stream, offset, shape: np.resize(DRAWN, shape))
    np.testing.assert_allclose(draw().asnumpy(), want, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("p", [-0.001, 1.001, math.nextafter(1.0, 2.0), [0.5, 2.0]])
def test_a_probability_lies_between_0_and_1(p: Any) -> None:
    argument = Tensor(p, ms.float64)
    with pytest.raises(ValueError, match=r"For 'bernoulli', 'p' must be in \[0, 1\]"):
        ops.bernoulli(Tensor(np.zeros(2)), argument)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: ops.multinomial(WEIGHTS, COUNT, True, 3),
        lambda: ops.multinomial_with_replacement(WEIGHTS, 3, 0, COUNT, True),
        lambda: ops.Multinomial(3)(WEIGHTS, COUNT),
        lambda: ops.random_categorical(WEIGHTS.log(), COUNT, 3),
    ],
)
def test_indices_come_as_often_as_their_weights_say(draw: Callable[[], Tensor]) -> None:
    result = draw().asnumpy()
    weights = WEIGHTS.asnumpy() / WEIGHTS.asnumpy().sum(1, keepdims=True)
    for row, want in zip(result, weights, strict=True):
        shares = np.bincount(row, minlength=4) / COUNT
        assert (np.abs(shares - want) <= 5 * np.sqrt(want * (1 - want) / COUNT)).all()


def test_without_replacement_the_first_index_comes_as_often_as_its_weight_says_and_none_twice() -> None:
    weights = Tensor(np.tile([1.0, 2.0, 5.0], (COUNT, 1)))
    result = ops.multinomial(weights, 3, False, 3).asnumpy()
    assert (np.sort(result, 1) == [0, 1, 2]).all()
    want = np.array([1, 2, 5]) / 8
    shares = np.bincount(result[:, 0], minlength=3) / COUNT
    assert (np.abs(shares - want) <= 5 * np.sqrt(want * (1 - want) / COUNT)).all()


@pytest.mark.parametrize(
    ("weights", "count", "text"),
    [
        ([0.0, 0.0], 3, "one of each row above 0"),
        ([[1.0, 0.0], [0.0, 0.0]], 3, "one of each row above 0"),
        ([1.0, -1.0], 3, "not negative"),
        ([1.0, math.nan], 3, "must be finite"),
        ([1.0, math.inf], 3, "must be finite"),
        ([1.0, 2.0], -1, "'num_samples' must not be negative"),
        (1.0, 1, "at least 1 axis"),
    ],
)
@pytest.mark.parametrize("replacement", [True, False])
def test_weights_that_are_none_are_refused(weights: Any, count: int, text: str, replacement: bool) -> None:
    with pytest.raises(ValueError, match=f"For 'multinomial', .*{text}"):
        ops.multinomial(Tensor(weights), count, replacement)


def test_limits_with_nothing_between_them_are_refused() -> None:
    with pytest.raises(ValueError, match=r"For 'Tensor.random_', 'from_' must be less than 'to', but got 5 and 3"):
        Tensor([1.0]).random_(5, 3)
    with pytest.raises(ValueError, match="For 'uniform', 'minval' must be less than 'maxval'"):
        ops.uniform((3,), Tensor(3), Tensor(3), dtype=ms.int32)
    with pytest.raises(ValueError, match="For 'randint', 'low' must be less than 'high'"):
        ops.UniformInt()((3,), 1, 1)


def test_a_negative_shape_of_a_gamma_distribution_gives_nan_and_a_negative_rate_of_poisson_0() -> None:
    # As MindSpore 2.10 on a CPU; no NumPy warning either way.
    result = ops.random_gamma((2,), Tensor([-2.0, 1.0])).asnumpy()
    assert np.isnan(result[:, 0]).all() and (result[:, 1] > 0).all()
    assert ops.random_poisson((2,), Tensor([-2.0])).tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("alpha", [2.0, Tensor([2])])
def test_the_shape_of_a_gamma_distribution_is_no_integer_tensor(alpha: Any) -> None:
    # The numbers have the dtype of ``alpha``: they would be cut off.
    with pytest.raises(TypeError, match="For 'random_gamma', 'alpha' must (be a Tensor|hold floating-point numbers)"):
        ops.random_gamma((3,), alpha)


def test_places_of_a_mask_are_drawn_without_repetition_and_filled_up() -> None:
    held = np.array([[True, False, True], [False, True, True]])
    indices, mask = ops.choice_with_mask(Tensor(held), 6, 3)
    assert mask.tolist() == [True] * 4 + [False] * 2 and indices.dtype is ms.int32
    assert sorted(indices.tolist()[:4]) == np.argwhere(held).tolist() and indices.tolist()[4:] == [[0, 0]] * 2
    assert ops.choice_with_mask(Tensor(held), 2, 3)[1].tolist() == [True, True]


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9, 1.0])
def test_dropout_with_its_mask_keeps_that_share_and_says_which(keep: float) -> None:
    x = np.random.default_rng(0).uniform(1, 2, (100, 200))
    masks = {ms.float64: lambda t: ops.Dropout(keep)(t), ms.bool_: lambda t: dropout_with_mask(t, keep)}
    for dtype, draw in masks.items():
        ms.set_seed(3)
        result, mask = draw(Tensor(x))
        assert (mask.shape, mask.dtype, result.dtype) == (x.shape, dtype, ms.float64)
        kept = mask.asnumpy().astype(bool)
        np.testing.assert_allclose(result.asnumpy(), np.where(kept, x / max(keep, 1e-9), 0), rtol=1e-6)
        assert abs(kept.mean() - keep) <= 5 * math.sqrt(keep * (1 - keep) / kept.size)
        other = draw(Tensor(x))[1].asnumpy()
        assert (other != kept).any() == (0 < keep < 1)
        ms.set_seed(3)
        np.testing.assert_array_equal(draw(Tensor(x))[1].asnumpy().astype(bool), kept)
    slope = ms.grad(lambda t: ops.Dropout(keep, Seed0=1, Seed1=2)(t)[0].sum())
    ms.set_seed(3)
    np.testing.assert_allclose(slope(Tensor(x)).asnumpy(), kept / max(keep, 1e-9), rtol=1e-6)


@pytest.mark.parametrize("keep", [-0.1, 1.1])
def test_a_share_that_is_none_is_refused(keep: float) -> None:
    with pytest.raises(ValueError, match="keep_prob"):
        ops.Dropout(keep)(ZEROS)


@pytest.fixture
def engines_stream() -> Iterator[None]:
    before = ms.get_rng_state()
    yield
    ms.set_rng_state(before)


def test_a_seed_of_the_systems_starts_a_stream_over(engines_stream: None) -> None:
    generator = Generator()
    for start, stream in ((generator.seed, generator), (ms.seed, ms.default_generator)):
        seeds = [start() for _ in range(4)]
        assert len(set(seeds)) == 4 and all(type(seed) is int and 0 <= seed < 2**32 for seed in seeds)
        assert stream.initial_seed() == seeds[-1]
        assert stream.draw(1) == (seeds[-1], 0)


def test_the_engines_own_stream_is_a_generator_too(engines_stream: None) -> None:
    assert ms.manual_seed(21) is ms.default_generator
    assert ms.initial_seed() == ms.default_generator.initial_seed() == 21
    first = ops.rand(5).tolist()
    ms.set_seed(21)
    assert ops.rand(5).tolist() == first
    ms.default_generator.manual_seed(21)
    assert ms.default_generator.draw(5) == (21, 0)  # the numbers that would have been drawn are left out
    second = ops.rand(5).tolist()
    ms.manual_seed(21)
    assert ops.rand(10).tolist() == first + second
    assert ms.default_generator.draw(3)[1] == 10 and ms.default_generator.draw(1)[1] == 13
    for wrong, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="seed"):
            ms.manual_seed(wrong)  # type: ignore[arg-type]


def test_cauchy_has_its_median_and_width() -> None:
    ms.set_seed(5)
    x = Tensor(np.zeros((200, 200), np.float32)).cauchy(3.0, 2.0)
    assert x.dtype is ms.float32 and x.shape == (200, 200)
    low, middle, high = np.quantile(x.asnumpy(), [0.25, 0.5, 0.75])  # its quartiles are median - sigma and + sigma
    assert np.allclose([low, middle, high], [1.0, 3.0, 5.0], atol=0.1)
