"""Sequences of symbols: how far they are apart, and what would repeat them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...base.argument_checks import check_bool, check_positive_int
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...tensors.backend import to_device, to_host
from ...tensors.tensor import Tensor
from ..arguments import check_integers, check_same_dtype, check_tensor, ints_of
from ..elementwise.comparison import where

__all__: list[str] = []


def _distance(one: Sequence[float], other: Sequence[float]) -> int:
    """How many insertions, deletions and replacements make one sequence of the other (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for i, x in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _by_place(
    indices: Tensor, values: Tensor, shape: tuple[int, ...], which: str
) -> dict[tuple[int, ...], list[float]]:
    """The sequences of a sparse tensor, whose last axis they lie along, by the rest of the index."""
    places = to_host(check_integers(indices, "EditDistance", f"{which}_indices")._array)
    symbols = to_host(check_tensor(values, "EditDistance", f"{which}_values")._array)
    if places.ndim != 2 or symbols.shape != places.shape[:1] or places.shape[1] != len(shape) + 1:
        raise ValueError(
            f"For 'EditDistance', '{which}_indices' must have the shape (N, {len(shape) + 1}) and '{which}_values' "
            f"(N,), but got {places.shape} and {symbols.shape}"
        )
    found: dict[tuple[int, ...], list[float]] = {}
    for *place, symbol in zip(*places.T[:-1].tolist(), symbols.tolist(), strict=True):
        if any(not 0 <= i < n for i, n in zip(place, shape, strict=True)):
            raise ValueError(f"For 'EditDistance', '{which}_indices' {place} must be in the shape {shape}")
        found.setdefault(tuple(place), []).append(symbol)
    return found


@declare(primitive=prim("EditDistance", normalize=True))
def _edit_distance(
    hypothesis_indices: Tensor,
    hypothesis_values: Tensor,
    hypothesis_shape: Tensor,
    truth_indices: Tensor,
    truth_values: Tensor,
    truth_shape: Tensor,
    *,
    normalize: bool,
) -> Tensor:
    """How many insertions, deletions and replacements make one sequence of another, for many of them.

    Sequences lie along the last axis of a sparse tensor, their symbols in the order in which they come.

    Args:
        hypothesis_indices: where the symbols of the first sequences are, integers (N, R).
        hypothesis_values: the symbols, a tensor (N,).
        hypothesis_shape: the shape of that sparse tensor, R integers.
        truth_indices: the same of the second sequences, (M, R).
        truth_values: their symbols (M,), of the same dtype.
        truth_shape: their shape, R integers.
        normalize: whether to divide by the length of the second sequence; where that is 0 the distance is infinite, or
            0 between two empty ones.

    Returns:
        A Float32 tensor of R - 1 axes, each as long as the longer of both shapes has it.

    Raises:
        TypeError: ``normalize`` is no bool, indices are no integers, or the values differ in dtype.
        ValueError: the shapes do not fit, R is 1, or an index is outside.
    """
    check_bool(normalize, "EditDistance", "normalize")
    check_same_dtype("EditDistance", hypothesis_values=hypothesis_values, truth_values=truth_values)
    one, other = (
        ints_of(given, "EditDistance", argument)
        for argument, given in (("hypothesis_shape", hypothesis_shape), ("truth_shape", truth_shape))
    )
    if len(one) != len(other) or len(one) < 2:
        raise ValueError(
            f"For 'EditDistance', both shapes must have as many lengths, at least 2, but got {one} and {other}"
        )
    shape = tuple(map(max, one[:-1], other[:-1]))
    hypotheses = _by_place(hypothesis_indices, hypothesis_values, shape, "hypothesis")
    truths = _by_place(truth_indices, truth_values, shape, "truth")
    found = np.zeros(shape, np.float32)
    for place in hypotheses.keys() | truths.keys():
        truth = truths.get(place, [])
        apart = _distance(hypotheses.get(place, []), truth)
        found[place] = apart if not normalize else apart / len(truth) if truth else math.inf
    return Tensor._wrap(to_device(found))


@declare(primitive=prim("NoRepeatNGram", ngram_size=1))
def _no_repeat_ngram(state_seq: Tensor, log_probs: Tensor, *, ngram_size: int) -> Tensor:
    """``log_probs`` with the dtype's least number for each word that would repeat a sequence of ``ngram_size`` words.

    Args:
        state_seq: the words so far, integers (batch_size, beam_width, m).
        log_probs: log-probabilities of the next word, floating numbers (batch_size, beam_width, vocabulary).
        ngram_size: how many words there are in a sequence, in [1, m].

    Returns:
        A tensor of the shape and dtype of ``log_probs``.

    Raises:
        TypeError: an input is no Tensor of such numbers, or ``ngram_size`` no int.
        ValueError: the shapes do not fit, ``ngram_size`` is out of range, or a word not in the vocabulary.
    """
    name = "NoRepeatNGram"
    check_positive_int(ngram_size, name, "ngram_size")
    words = to_host(check_integers(state_seq, name, "state_seq")._array)
    if check_tensor(log_probs, name, "log_probs")._array.dtype.kind != "f":
        raise TypeError(f"For '{name}', 'log_probs' must be floating numbers, but got {log_probs.dtype}")
    if words.ndim != 3 or log_probs.ndim != 3 or words.shape[:2] != log_probs.shape[:2]:
        raise ValueError(
            f"For '{name}', 'state_seq' and 'log_probs' must have 3 axes, of which the first two agree, "
            f"but got {words.shape} and {log_probs.shape}"
        )
    if ngram_size > words.shape[2]:
        raise ValueError(f"For '{name}', 'ngram_size' must be at most {words.shape[2]}, but got {ngram_size}")
    if words.size and not 0 <= words.min() <= words.max() < log_probs.shape[2]:
        raise ValueError(f"For '{name}', 'state_seq' must be in [0, {log_probs.shape[2]}), but got {words.tolist()}")
    banned = np.zeros(log_probs.shape, bool)
    for place in np.ndindex(*words.shape[:2]):
        banned[place][_repeating(words[place], ngram_size)] = True
    least = float(np.finfo(log_probs._array.dtype).min)
    return where(Tensor._wrap(to_device(banned)), Tensor(least, log_probs.dtype), log_probs)


def _repeating(words: Array, size: int) -> list[int]:
    """The words that would make the last ``size`` ones a sequence that was there before."""
    begun = words[len(words) - size + 1 :].tolist()
    starts = range(len(words) - size + 1)
    return [int(words[i + size - 1]) for i in starts if words[i : i + size - 1].tolist() == begun]
