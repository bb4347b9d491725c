"""Candidate sampling: the probabilities of the classes, the expected counts, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hookscope.engine as ms
from hookscope.engine import Tensor, int32, ops

TRUE = Tensor([[1], [3], [4], [6], [3]])


def test_uniform_candidates_have_mindspores_expected_counts() -> None:
    # The counts recorded from MindSpore 2.10.
    drawn, true, sampled = ops.UniformCandidateSampler(1, 3, False, 4, 1)(TRUE)
    assert drawn.dtype is ms.int64 and drawn.shape == (3,) and set(drawn.tolist()) <= {0, 1, 2, 3}
    assert true.tolist() == [[0.75]] * 5 and sampled.tolist() == [0.75] * 3
    assert ops.UniformCandidateSampler(1, 3, False, 4, 1)(Tensor([[1]], int32))[0].dtype is int32
    _, true, sampled = ops.uniform_candidate_sampler(TRUE, 1, 300, False, 40, 1)
    assert true.tolist() == [[7.5]] * 5 and sampled.tolist() == [7.5] * 300
    drawn, true, _ = ops.uniform_candidate_sampler(TRUE, 1, 1, True, 7, 1)  # the first try is taken
    assert true.asnumpy() == pytest.approx(np.full((5, 1), 1 / 7))


def test_log_uniform_candidates_have_mindspores_expected_counts() -> None:
    true = Tensor([[1, 7], [0, 4], [3, 3]])
    drawn, of_true, of_drawn = ops.LogUniformCandidateSampler(2, 5, False, 10, 3)(true)
    np.testing.assert_allclose(
        of_true.asnumpy(), [[0.8454604, 0.2455967], [1.4453242, 0.38017], [0.4652904, 0.4652904]], rtol=1e-6
    )  # recorded from MindSpore 2.10
    classes = drawn.asnumpy()
    np.testing.assert_allclose(of_drawn.asnumpy(), 5 * np.log((classes + 2) / (classes + 1)) / np.log(11), rtol=1e-6)


@pytest.mark.parametrize("log", [False, True])
def test_the_counts_of_unique_candidates_are_those_of_a_number_of_tries(log: bool) -> None:
    sampler = ops.log_uniform_candidate_sampler if log else ops.uniform_candidate_sampler
    drawn, of_true, of_drawn = sampler(TRUE, 1, 7, True, 7, 5)
    assert sorted(drawn.tolist()) == list(range(7))

    def chance(classes: Any) -> Any:
        return np.log((classes + 2) / (classes + 1)) / np.log(8) if log else np.full(classes.shape, 1 / 7)

    for result, classes in ((of_true, TRUE), (of_drawn, drawn)):
        tries = np.log1p(-result.asnumpy().astype(np.float64)) / np.log1p(-chance(classes.asnumpy()))
        np.testing.assert_allclose(tries, np.round(tries.reshape(-1)[0]), rtol=1e-4)
        assert tries.min() > 7


@pytest.mark.parametrize("log", [False, True])
def test_the_classes_have_their_probabilities(log: bool) -> None:
    classes = np.arange(12)
    chance = np.log((classes + 2) / (classes + 1)) / np.log(13) if log else np.full(12, 1 / 12)
    sampler = ops.log_uniform_candidate_sampler if log else ops.uniform_candidate_sampler
    drawn = sampler(Tensor([[0]]), 1, 20_000, False, 12, 4)[0].asnumpy()
    assert stats.chisquare(np.bincount(drawn, minlength=12), 20_000 * chance).pvalue > 0.001
    # Without repetitions the first one has the same probabilities.
    ms.set_seed(2)
    first = [sampler(Tensor([[0]]), 1, 2, True, 12)[0].tolist()[0] for _ in range(3000)]
    assert stats.chisquare(np.bincount(first, minlength=12), 3000 * chance).pvalue > 0.001


def test_accidental_hits_are_left_out_also_with_repetitions() -> None:
    drawn = ops.UniformCandidateSampler(1, 3, True, 7, 1, True)(TRUE)[0].tolist()
    assert sorted(drawn) == [0, 2, 5]
    drawn = ops.uniform_candidate_sampler(TRUE, 1, 300, False, 7, 1, True)[0].tolist()
    assert set(drawn) == {0, 2, 5}


def test_a_seed_repeats_the_candidates_and_without_one_set_seed_does() -> None:
    first, second = (ops.uniform_candidate_sampler(TRUE, 1, 30, False, 400, seed)[0].tolist() for seed in (1, 2))
    assert first != second and ops.uniform_candidate_sampler(TRUE, 1, 30, False, 400, 1)[0].tolist() == first
    runs = []
    for _ in range(2):
        ms.set_seed(4)
        runs.append([ops.log_uniform_candidate_sampler(TRUE, 1, 30, True, 400)[0].tolist() for _ in range(2)])
    assert runs[0] == runs[1] and runs[0][0] != runs[0][1]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.uniform_candidate_sampler(TRUE, 1, 8, True, 7),
            ValueError,
            "For 'uniform_candidate_sampler', 'num_sampled' 8 must be at most the number of classes, 7",
        ),
        (lambda: ops.uniform_candidate_sampler(TRUE, 1, 4, True, 7, 0, True), ValueError, "number of classes, 3"),
        (
            lambda: ops.uniform_candidate_sampler(TRUE, 2, 3, True, 7),
            ValueError,
            "'true_classes' must have the shape (batch_size, 2), but got (5, 1)",
        ),
        (
            lambda: ops.uniform_candidate_sampler(Tensor([1.0]), 1, 3, True, 7),
            TypeError,
            "For 'uniform_candidate_sampler', 'true_classes' must be integers, but got Float32",
        ),
        (lambda: ops.uniform_candidate_sampler([[1]], 1, 3, True, 7), TypeError, "must be a Tensor, but got list"),
        (lambda: ops.uniform_candidate_sampler(TRUE, 1, 3, False, 0), ValueError, "'range_max' must be above 0"),
        (lambda: ops.uniform_candidate_sampler(TRUE, 1, 0, False, 5), ValueError, "'num_sampled' must be above 0"),
        (lambda: ops.uniform_candidate_sampler(TRUE, 1, 3, False, 5, -1), ValueError, "'seed' must not be negative"),
        (lambda: ops.uniform_candidate_sampler(TRUE, 1, 3, 1, 5), TypeError, "'unique' must be a bool, but got int"),
        (lambda: ops.uniform_candidate_sampler(TRUE, 1.0, 3, True, 5), TypeError, "'num_true' must be an int"),
        (lambda: ops.log_uniform_candidate_sampler(TRUE, 1, 15, True, 10), ValueError, "number of classes, 10"),
    ],
)
def test_what_cannot_be_sampled_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
