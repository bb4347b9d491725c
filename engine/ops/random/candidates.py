"""Candidate sampling: classes drawn at random, with how often each was to be expected, for losses over many classes.

Jean, Cho, Memisevic, Bengio, "On Using Very Large Target Vocabulary for Neural Machine Translation" (2015).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base.argument_checks import check_bool, check_not_negative, check_positive_int
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu import philox
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.tensor import Tensor
from ..arguments import check_integers

__all__ = ["log_uniform_candidate_sampler", "uniform_candidate_sampler"]


def _draws(seed: int) -> Callable[[int], Array]:
    """Numbers inside (0, 1), as many as each call asks for; a seed starts a stream of its own."""
    drawn = 0

    def draw(count: int) -> Array:
        nonlocal drawn
        stream, offset = (seed, drawn) if seed else random.draw(count)
        drawn += count
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
    """The candidates and the expected counts, where ``class_at`` makes a class of a number in (0, 1)."""
    for argument, value in (("num_true", num_true), ("num_sampled", num_sampled), ("range_max", range_max)):
        check_positive_int(value, name, argument)
    check_bool(unique, name, "unique")
    check_not_negative(seed, name, "seed")
    true = to_host(check_integers(true_classes, name, "true_classes")._array)
    if true.ndim != 2 or true.shape[1] != num_true:
        raise ValueError(
            f"For '{name}', 'true_classes' must have the shape (batch_size, {num_true}), but got {true.shape}"
        )
    left_out = set(true.reshape(-1).tolist()) & set(range(range_max)) if remove_hits else set()
    there = range_max - len(left_out)
    if there < (num_sampled if unique else 1):
        raise ValueError(f"For '{name}', 'num_sampled' {num_sampled} must be at most the number of classes, {there}")
    draw, found, tries = _draws(seed), list[int](), 0
    taken = set(left_out)
    while len(found) < num_sampled:
        for one in class_at(draw(2 * num_sampled)).tolist():
            tries += 1
            if one not in taken:
                found.append(one)
                if unique:
                    taken.add(one)
                if len(found) == num_sampled:
                    break
    candidates = np.asarray(found, true.dtype)

    def expected(classes: Array) -> Tensor:
        p = chance(classes.astype(np.float64))
        # Without repetitions it is the chance to be there after so many tries.
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
    """``num_sampled`` classes, each of [0, range_max) with the same probability.

    Args:
        true_classes: the classes of each example, integers (batch_size, num_true).
        num_true: how many classes each example has.
        num_sampled: how many classes are drawn.
        unique: whether no class is drawn twice.
        range_max: how many classes there are.
        seed: the same seed gives the same classes; 0 draws from the engine's stream (``set_seed``).
        remove_accidental_hits: whether no class of ``true_classes`` is drawn.

    Returns:
        The classes (num_sampled,) in the dtype of ``true_classes``; and, in Float32, how often each of
        ``true_classes`` and each of the drawn ones was to be expected among them.

    Raises:
        TypeError: ``true_classes`` is no Tensor of integers, or a count no int.
        ValueError: a count or ``range_max`` is not positive, ``seed`` is negative, ``true_classes`` has another shape,
            or more classes are asked for than there are.
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
    """``num_sampled`` classes of [0, range_max), class c with probability log((c + 2) / (c + 1)) / log(range_max + 1).

    That is about Zipf's law, which words sorted by their frequency follow.

    Args:
        true_classes: the classes of each example, integers (batch_size, num_true).
        num_true: how many classes each example has.
        num_sampled: how many classes are drawn.
        unique: whether no class is drawn twice.
        range_max: how many classes there are.
        seed: the same seed gives the same classes; 0 draws from the engine's stream (``set_seed``).

    Returns:
        The classes (num_sampled,) in the dtype of ``true_classes``; and, in Float32, how often each of
        ``true_classes`` and each of the drawn ones was to be expected among them.

    Raises:
        TypeError: ``true_classes`` is no Tensor of integers, or a count no int.
        ValueError: a count or ``range_max`` is not positive, ``seed`` is negative, ``true_classes`` has another shape,
            or more classes are asked for than there are.
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
