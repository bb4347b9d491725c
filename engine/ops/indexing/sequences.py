"""Sequences of symbols: edit distances, and words that would repeat a sequence."""

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


def _distance(first: Sequence[float], second: Sequence[float]) -> int:
    """Return how many insertions, deletions and replacements make one sequence of the other (Levenshtein 1966)."""
    row = list(range(len(second) + 1))
    for i, x in enumerate(first, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(second, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def _by_position(
    indices: Tensor, values: Tensor, shape: tuple[int, ...], which: str
) -> dict[tuple[int, ...], list[float]]:
    """Return the sequences along the last axis of a sparse tensor, by the remaining index."""
    positions = to_host(check_integers(indices, "EditDistance", f"{which}_indices")._array)
    symbols = to_host(check_tensor(values, "EditDistance", f"{which}_values")._array)
    if positions.ndim != 2 or symbols.shape != positions.shape[:1] or positions.shape[1] != len(shape) + 1:
        raise ValueError(
            f"For 'EditDistance', '{which}_indices' must have the shape (N, {len(shape) + 1}) and '{which}_values' "
            f"(N,), but got {positions.shape} and {symbols.shape}"
        )
    sequences: dict[tuple[int, ...], list[float]] = {}
    for *key, symbol in zip(*positions.T[:-1].tolist(), symbols.tolist(), strict=True):
        if any(not 0 <= i < n for i, n in zip(key, shape, strict=True)):
            raise ValueError(f"For 'EditDistance', '{which}_indices' {key} must be in the shape {shape}")
        sequences.setdefault(tuple(key), []).append(symbol)
    return sequences


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
    """Return how many insertions, deletions and replacements make one sequence of another, for many pairs.

    Sequences run along the last axis of a sparse tensor; their symbols are in the order of its values.

    Args:
        hypothesis_indices: the indices of the symbols of the first sequences, integers (N, R).
        hypothesis_values: the symbols, a tensor (N,).
        hypothesis_shape: the shape of that sparse tensor, R integers.
        truth_indices: the same of the second sequences, (M, R).
        truth_values: their symbols (M,), of the same dtype.
        truth_shape: their shape, R integers.
        normalize: whether to divide by the length of the second sequence; where that is 0 the distance is infinite, or
            0 between two empty ones.

    Returns:
        A Float32 tensor of R - 1 axes, each of the longer of the two shapes' lengths.

    Raises:
        TypeError: ``normalize`` is not a bool, indices are not integers, or the values differ in dtype.
        ValueError: the shapes do not fit, R is 1, or an index is out of range.
    """
    check_bool(normalize, "EditDistance", "normalize")
    check_same_dtype("EditDistance", hypothesis_values=hypothesis_values, truth_values=truth_values)
    first, second = (
        ints_of(tensor, "EditDistance", argument)
        for argument, tensor in (("hypothesis_shape", hypothesis_shape), ("truth_shape", truth_shape))
    )
    if len(first) != len(second) or len(first) < 2:
        raise ValueError(
            f"For 'EditDistance', both shapes must have as many lengths, at least 2, but got {first} and {second}"
        )
    shape = tuple(map(max, first[:-1], second[:-1]))
    hypotheses = _by_position(hypothesis_indices, hypothesis_values, shape, "hypothesis")
    truths = _by_position(truth_indices, truth_values, shape, "truth")
    distances = np.zeros(shape, np.float32)
    for key in hypotheses.keys() | truths.keys():
        truth = truths.get(key, [])
        distance = _distance(hypotheses.get(key, []), truth)
        distances[key] = distance if not normalize else distance / len(truth) if truth else math.inf
    return Tensor._wrap(to_device(distances))


@declare(primitive=prim("NoRepeatNGram", ngram_size=1))
def _no_repeat_ngram(state_seq: Tensor, log_probs: Tensor, *, ngram_size: int) -> Tensor:
    """Return ``log_probs`` with the dtype's least number for words that would repeat ``ngram_size`` words.

    Args:
        state_seq: the words so far, integers (batch_size, beam_width, m).
        log_probs: log-probabilities of the next word, floating numbers (batch_size, beam_width, vocabulary).
        ngram_size: the number of words in a sequence, in [1, m].

    Returns:
        A tensor of the shape and dtype of ``log_probs``.

    Raises:
        TypeError: an input is not a Tensor of such numbers, or ``ngram_size`` is not an int.
        ValueError: the shapes do not fit, ``ngram_size`` is out of range, or a word not in the vocabulary.
    """
    name = "NoRepeatNGram"
    check_positive_int(ngram_size, name, "ngram_size")
    sequences = to_host(check_integers(state_seq, name, "state_seq")._array)
    if check_tensor(log_probs, name, "log_probs")._array.dtype.kind != "f":
        raise TypeError(f"For '{name}', 'log_probs' must be floating numbers, but got {log_probs.dtype}")
    if sequences.ndim != 3 or log_probs.ndim != 3 or sequences.shape[:2] != log_probs.shape[:2]:
        raise ValueError(
            f"For '{name}', 'state_seq' and 'log_probs' must have 3 axes, of which the first two agree, "
            f"but got {sequences.shape} and {log_probs.shape}"
        )
    if ngram_size > sequences.shape[2]:
        raise ValueError(f"For '{name}', 'ngram_size' must be at most {sequences.shape[2]}, but got {ngram_size}")
    if sequences.size and not 0 <= sequences.min() <= sequences.max() < log_probs.shape[2]:
        raise ValueError(
            f"For '{name}', 'state_seq' must be in [0, {log_probs.shape[2]}), but got {sequences.tolist()}"
        )
    repeats = np.zeros(log_probs.shape, bool)
    for position in np.ndindex(*sequences.shape[:2]):
        repeats[position][_repeating(sequences[position], ngram_size)] = True
    least = float(np.finfo(log_probs._array.dtype).min)
    return where(Tensor._wrap(to_device(repeats)), Tensor(least, log_probs.dtype), log_probs)


def _repeating(sequence: Array, size: int) -> list[int]:
    """Return the words that would make the last ``size`` words an earlier sequence again."""
    prefix = sequence[len(sequence) - size + 1 :].tolist()
    starts = range(len(sequence) - size + 1)
    return [int(sequence[i + size - 1]) for i in starts if sequence[i : i + size - 1].tolist() == prefix]
