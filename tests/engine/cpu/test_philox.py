"""Philox: the published known answers, and what a counter-based draw promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hookscope.engine.cpu import philox

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
        got = philox.philox_uint32(seed, np.array(offsets, dtype=np.int64))
        assert got.dtype == np.uint32
        assert got.tolist() == [word(seed, offset) for offset in offsets]


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
    for offset, found in zip(range(1000, 1015), drawn.ravel().tolist(), strict=True):
        counter = [np.array([part], dtype=np.uint64) for part in (offset, 0, 0, 0)]
        first, second = ((int(word[0]) + 0.5) / 2**32 for word in philox.philox4x32(counter, (7, 0))[:2])
        assert found == pytest.approx(math.sqrt(-2 * math.log(first)) * math.cos(2 * math.pi * second), rel=1e-6)


def test_the_second_words_least_and_largest_value_lie_half_a_step_inside_the_circle() -> None:
    first = np.full(3, 2**31, np.uint64)
    second = np.array([0, 2**30 - 1, 2**32 - 1], np.uint64)
    angles = [math.pi / 2**32, math.pi / 2 - math.pi / 2**32, -math.pi / 2**32]
    found = philox._box_muller([first, second])
    # Near a quarter turn the cosine is the half step itself.
    np.testing.assert_allclose(found, [math.sqrt(2 * math.log(2)) * math.cos(angle) for angle in angles], rtol=1e-6)


def test_uniform_stays_below_one_for_the_largest_word() -> None:
    extremes = np.array([0x7FFFFFFF, 0x80000000, 0, 0xFFFFFFFF], dtype=np.uint64)
    assert philox._to_uniform(extremes).tolist()[2:] == [0.0, 0.0]
    assert 0.9999999 < float(philox._to_uniform(extremes).max()) < 1.0


@pytest.mark.parametrize("draw", [philox.uniform, philox.normal])
def test_a_draw_can_be_split_anywhere(draw) -> None:  # type: ignore[no-untyped-def]  # either of two functions
    count = 2 * philox._BLOCK + 17
    whole = draw(3, 5, (count,))
    cut = philox._BLOCK + 1
    assert np.array_equal(whole, np.concatenate([draw(3, 5, (cut,)), draw(3, 5 + cut, (count - cut,))]))


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
