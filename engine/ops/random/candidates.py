"""Candidate sampling: classes drawn at random, with their expected counts, for losses over many classes.

Jean, Cho, Memisevic, Bengio, "On Using Very Large Target Vocabulary for Neural Machine Translation" (2015).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base.argument_checks import check_bool, check_not_negative, check_positive_int
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.arrays import philox
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.tensor import Tensor
from ..arguments import check_integers

__all__ = ["log_uniform_candidate_sampler", "uniform_candidate_sampler"]


def _draws(seed: int) -> Callable[[int], Array]:
    """Return a function that draws as many numbers inside (0, 1) as requested; a seed starts a stream of its own."""
    consumed = 0

    def draw(count: int) -> Array:
        nonlocal consumed
        stream, offset = (seed, consumed) if seed else random.draw(count)
        consumed += count
        return philox.uniform(stream, offset, (count,)).astype(np.float64) + 2.0**-33

    return draw


def _sampled(
    name: str,
    true_classes: Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int,
    class_at: Callable[[Array], Array],
    chance: Callable[[Array], Array],
    remove_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the candidates and the expected counts; ``class_at`` maps numbers in (0, 1) to classes."""
    for argument, value in (("num_true", num_true), ("num_sampled", num_sampled), ("range_max", range_max)):
        check_positive_int(value, name, argument)
    check_bool(unique, name, "unique")
    check_not_negative(seed, name, "seed")
    true = to_host(check_integers(true_classes, name, "true_classes")._array)
    if true.ndim != 2 or true.shape[1] != num_true:
        raise ValueError(
            f"For '{name}', 'true_classes' must have the shape (batch_size, {num_true}), but got {true.shape}"
        )
    excluded = set(true.reshape(-1).tolist()) & set(range(range_max)) if remove_hits else set()
    limit = range_max - len(excluded)
    if limit < (num_sampled if unique else 1):
        raise ValueError(f"For '{name}', 'num_sampled' {num_sampled} must be at most the number of classes, {limit}")
    draw, samples, tries = _draws(seed), list[int](), 0
    unavailable = set(excluded)
    while len(samples) < num_sampled:
        for label in class_at(draw(2 * num_sampled)).tolist():
            tries += 1
            if label not in unavailable:
                samples.append(label)
                if unique:
                    unavailable.add(label)
                if len(samples) == num_sampled:
                    break
    candidates = np.asarray(samples, true.dtype)

    def expected(classes: Array) -> Tensor:
        p = chance(classes.astype(np.float64))
        # Without repetitions it is the probability to occur within so many tries.
        count = -np.expm1(tries * np.log1p(-p)) if unique and tries != num_sampled else p * num_sampled
        return Tensor._wrap(to_device(count.astype(np.float32)))

    return Tensor._wrap(to_device(candidates)), expected(true), expected(candidates)


@declare(
    primitive=prim(
        "UniformCandidateSampler",
        "num_true",
        "num_sampled",
        "unique",
        "range_max",
        seed=0,
        remove_accidental_hits=False,
    )
)
def uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw ``num_sampled`` classes, each of [0, range_max) with the same probability.

    Args:
        true_classes: the classes of each example, integers (batch_size, num_true).
        num_true: the number of classes of each example.
        num_sampled: the number of drawn classes.
        unique: whether no class is drawn twice.
        range_max: the number of classes.
        seed: the same seed gives the same classes; 0 draws from the engine's stream (``set_seed``).
        remove_accidental_hits: whether no class of ``true_classes`` is drawn.

    Returns:
        The classes (num_sampled,) in the dtype of ``true_classes``; and, in Float32, the expected counts of
        ``true_classes`` and of the drawn ones.

    Raises:
        TypeError: ``true_classes`` is not a Tensor of integers, or a count is not an int.
        ValueError: a count or ``range_max`` is not positive, ``seed`` is negative, ``true_classes`` has the wrong
            shape, or more classes are requested than exist.
    """
    check_bool(remove_accidental_hits, "uniform_candidate_sampler", "remove_accidental_hits")
    return _sampled(
        "uniform_candidate_sampler",
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        seed,
        lambda u: np.floor(u * range_max).astype(np.int64),
        lambda classes: np.full(classes.shape, 1.0 / range_max),
        remove_accidental_hits,
    )


@declare(primitive=prim("LogUniformCandidateSampler", num_true=1, num_sampled=5, unique=True, range_max=5, seed=0))
def log_uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int = 1,
    num_sampled: int = 5,
    unique: bool = True,
    range_max: int = 5,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw classes of [0, range_max), class c with the probability log((c + 2) / (c + 1)) / log(range_max + 1).

    This is about Zipf's law, which words sorted by their frequency follow.

    Args:
        true_classes: the classes of each example, integers (batch_size, num_true).
        num_true: the number of classes of each example.
        num_sampled: the number of drawn classes.
        unique: whether no class is drawn twice.
        range_max: the number of classes.
        seed: the same seed gives the same classes; 0 draws from the engine's stream (``set_seed``).

    Returns:
        The classes (num_sampled,) in the dtype of ``true_classes``; and, in Float32, the expected counts of
        ``true_classes`` and of the drawn ones.

    Raises:
        TypeError: ``true_classes`` is not a Tensor of integers, or a count is not an int.
        ValueError: a count or ``range_max`` is not positive, ``seed`` is negative, ``true_classes`` has the wrong
            shape, or more classes are requested than exist.
    """
    return _sampled(
        "log_uniform_candidate_sampler",
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        seed,
        lambda u: np.minimum(np.floor(np.exp(u * np.log1p(range_max))).astype(np.int64) - 1, range_max - 1),
        lambda classes: np.log((classes + 2) / (classes + 1)) / np.log1p(range_max),
    )
