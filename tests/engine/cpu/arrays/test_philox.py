"""Philox: the published known answers, and what a counter-based draw promises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import compiling, threads
from hookscope.engine.cpu.arrays import philox

# The three "philox4x32 10" lines of Random123's tests/kat_vectors: counter, key, expected output.
KNOWN_ANSWERS = [
    "00000000 00000000 00000000 00000000 00000000 00000000 6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    "ffffffff ffffffff ffffffff ffffffff ffffffff ffffffff 408f276d 41c83b0e a20bc7c6 6d5451fd",
    "243f6a88 85a308d3 13198a2e 03707344 a4093822 299f31d0 d16cfe09 94fdcceb 5001e420 24126ea1",
]


@pytest.mark.parametrize("line", KNOWN_ANSWERS)
def test_philox_gives_the_published_known_answers(line: str) -> None:
    words = [int(word, 16) for word in line.split()]
    counter = [np.array([word], dtype=np.uint64) for word in words[:4]]
    output = philox.philox4x32(counter, (words[4], words[5]))
    assert [int(word[0]) for word in output] == words[6:]


def test_first_word_comes_from_the_seed_and_the_64_bit_offset() -> None:
    def word(seed: int, offset: int) -> int:
        counter = [offset & 0xFFFFFFFF, offset >> 32, 0, 0]
        arrays = [np.array([part], dtype=np.uint64) for part in counter]
        return int(philox.philox4x32(arrays, (seed & 0xFFFFFFFF, seed >> 32))[0][0])

    offsets = [0, 1, 0xFFFFFFFF, 0x1_0000_0000, 0x7FFF_FFFF_FFFF_FFFF]
    for seed in (0, 42, 0x1234_5678_9ABC_DEF0):
        result = philox.philox_uint32(seed, np.array(offsets, dtype=np.int64))
        assert result.dtype == np.uint32
        assert result.tolist() == [word(seed, offset) for offset in offsets]


def test_a_negative_seed_counts_as_its_twos_complement() -> None:
    offsets = np.arange(10)
    assert np.array_equal(philox.philox_uint32(-1, offsets), philox.philox_uint32(2**64 - 1, offsets))


def test_uniform_is_the_scaled_word_of_each_counter() -> None:
    drawn = philox.uniform(7, 1000, (3, 5))
    assert drawn.dtype == np.float32
    assert drawn.shape == (3, 5)
    assert np.array_equal(drawn.ravel(), philox.philox_uniform(7, np.arange(1000, 1015)))
    words = philox.philox_uint32(7, np.arange(1000, 1015)).astype(np.int64)
    signed = np.where(words >= 2**31, words - 2**32, words)
    assert np.allclose(drawn.ravel(), np.where(signed < 0, -1 - signed, signed) / 2**31, rtol=1e-6, atol=0)


def test_normal_is_box_mullers_transform_of_the_first_two_words_of_each_counter() -> None:
    drawn = philox.normal(7, 1000, (3, 5))
    assert (drawn.dtype, drawn.shape) == (np.float32, (3, 5))
    for offset, result in zip(range(1000, 1015), drawn.ravel().tolist(), strict=True):
        counter = [np.array([part], dtype=np.uint64) for part in (offset, 0, 0, 0)]
        first, second = ((int(word[0]) + 0.5) / 2**32 for word in philox.philox4x32(counter, (7, 0))[:2])
        assert result == pytest.approx(math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * second), rel=1e-6)


def test_the_second_words_least_and_largest_value_lie_half_a_step_inside_the_circle() -> None:
    first = np.full(3, 2**31, np.uint64)
    second = np.array([0, 2**30 - 1, 2**32 - 1], np.uint64)
    angles = [math.pi / 2**32, math.pi / 2 - math.pi / 2**32, -math.pi / 2**32]
    result = philox._box_muller([first, second])
    # Near a quarter turn the cosine is the half step itself.
    np.testing.assert_allclose(result, [math.sqrt(2 * math.log(2)) * math.cos(angle) for angle in angles], rtol=1e-6)


def test_uniform_stays_below_one_for_the_largest_word() -> None:
    extremes = np.array([0x7FFFFFFF, 0x80000000, 0, 0xFFFFFFFF], dtype=np.uint64)
    assert philox._to_uniform(extremes).tolist()[2:] == [0.0, 0.0]
    assert 0.9999999 < float(philox._to_uniform(extremes).max()) < 1.0


@pytest.mark.parametrize("draw", [philox.uniform, philox.normal])
def test_a_draw_can_be_split_anywhere(draw) -> None:  # type: ignore[no-untyped-def]  # either of two functions
    count = 2 * philox._BLOCK + 17
    full = draw(3, 5, (count,))
    cut = philox._BLOCK + 1
    assert np.array_equal(full, np.concatenate([draw(3, 5, (cut,)), draw(3, 5 + cut, (count - cut,))]))


def test_offsets_go_on_across_32_bits() -> None:
    near = 2**32 - 2
    assert np.array_equal(philox.uniform(1, near, (4,))[2:], philox.uniform(1, 2**32, (2,)))
    assert not np.array_equal(philox.uniform(1, 2**32, (4,)), philox.uniform(1, 0, (4,)))


def test_empty_and_0d_draws_have_their_shape() -> None:
    assert philox.uniform(1, 0, (0, 3)).shape == (0, 3)
    assert philox.normal(1, 0, ()).shape == ()


def test_uniform_and_normal_have_their_moments() -> None:
    count = 200_000
    flat = philox.uniform(11, 0, (count,)).astype(np.float64)
    bell = philox.normal(11, 0, (count,)).astype(np.float64)
    # Five standard errors of each estimate.
    limit = 5 / np.sqrt(count)
    assert abs(flat.mean() - 0.5) < limit * np.sqrt(1 / 12)
    assert abs(flat.var() - 1 / 12) < limit * np.sqrt(1 / 180)
    assert abs(bell.mean()) < limit
    assert abs(bell.var() - 1.0) < limit * np.sqrt(2)
    assert abs((bell**4).mean() - 3.0) < limit * np.sqrt(96)
    assert abs(np.corrcoef(bell[:-1], bell[1:])[0, 1]) < limit


def test_bounds_and_deviations_are_those_of_the_plain_draw_scaled_in_float32() -> None:
    plain, bounded = philox.uniform(7, 3, (1000,)), philox.uniform(7, 3, (1000,), bound=0.3)
    np.testing.assert_array_equal(bounded, (plain * 2 - 1) * np.float32(0.3))
    np.testing.assert_array_equal(
        philox.normal(7, 3, (1000,), deviation=0.1, mean=2.5),
        philox.normal(7, 3, (1000,)) * np.float32(0.1) + np.float32(2.5),
    )


def test_the_logarithm_is_that_of_the_float64_to_two_units() -> None:
    words = np.concatenate([np.arange(100), 2**32 - 1 - np.arange(100), np.arange(0, 2**32, 999_983)])
    words = np.concatenate([words, *(2**p + np.arange(-3, 4) for p in range(3, 32))])
    x = words.astype(np.float64) + 0.5
    # In units of the last place: log1p is good where the logarithm is near 0.
    expected = np.where(x > 2**31, np.log1p(x * 2.0**-32 - 1.0), np.log(x * 2.0**-32))
    assert (np.abs(philox._log(x) - expected) / np.spacing(np.abs(expected))).max() <= 2


def test_the_cosine_is_that_of_the_turn_also_near_the_quarters() -> None:
    words = np.concatenate([np.arange(0, 2**32, 999_983), *(q * 2**30 + np.arange(-50, 50) for q in range(1, 4))])
    x = words.astype(np.float64) + 0.5
    # The nearest quarter is taken off first, which is exact: how far it is is known to the last bit.
    quarter = np.round(x * 2.0**-30)
    rest = (x * 2.0**-30 - quarter) * (math.pi / 2)
    expected = np.choose(quarter.astype(int) % 4, [np.cos(rest), -np.sin(rest), -np.cos(rest), np.sin(rest)])
    np.testing.assert_allclose(philox._cosine(x), expected, rtol=1e-15, atol=0)


DRAWS: dict[str, tuple[Any, dict[str, float]]] = {
    "uniform": (philox.uniform, {}),
    "uniform within": (philox.uniform, {"bound": 0.07}),
    "uniform within infinity": (philox.uniform, {"bound": math.inf}),
    "normal": (philox.normal, {}),
    "normal scaled": (philox.normal, {"deviation": 0.02, "mean": -1.25}),
    "normal of NaN": (philox.normal, {"mean": math.nan}),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("threads_used", [1, 2, 4])
def test_compiled_draws_have_numpys_bits_with_any_number_of_threads(
    name: str, threads_used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, scaling = DRAWS[name]
    block = compiling.kernels("random_numbers").BLOCK
    counters = [(0, 0), (-5, 2**32 - 10), (2**40 + 3, 2**64 - block), (2**63 + 1, 2**63 - 3)]
    counts = [0, 1, 2, 33, block, 2 * block + 17]
    monkeypatch.setattr(philox, "is_on", lambda: True)
    threads.set_number(threads_used)
    try:
        for count in counts:
            for seed, offset in counters:
                monkeypatch.setattr(philox, "_LEAST", 0)
                compiled = draw(seed, offset, (count,), **scaling)
                monkeypatch.setattr(philox, "_LEAST", math.inf)
                assert compiled.tobytes() == draw(seed, offset, (count,), **scaling).tobytes()
    finally:
        threads.set_number(None)


def test_large_draws_are_compiled_unless_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(philox, "is_on", lambda: True)
    monkeypatch.setattr(philox, "kernels", lambda name: loaded.append(name) or compiling.kernels(name))
    philox.uniform(1, 0, (philox._LEAST - 1,))
    assert loaded == []
    on = philox.uniform(1, 0, (philox._LEAST,))
    assert loaded == ["random_numbers"]
    monkeypatch.setattr(philox, "is_on", lambda: False)
    np.testing.assert_array_equal(philox.uniform(1, 0, (philox._LEAST,)), on)
    assert loaded == ["random_numbers"]
