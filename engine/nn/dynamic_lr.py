"""Learning rates as lists, one number a step (``mindspore.nn.dynamic_lr``)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..base.argument_checks import check_bool, check_not_negative, check_positive_int, check_size, check_type
from .learning_rate_schedule import positive_float

__all__ = [
    "cosine_decay_lr",
    "exponential_decay_lr",
    "inverse_decay_lr",
    "natural_exp_decay_lr",
    "piecewise_constant_lr",
    "polynomial_decay_lr",
    "warmup_lr",
]


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """Return ``learning_rates[i]`` for the steps from ``milestone[i - 1]`` (0 for the first) to below ``milestone[i]``.

    Args:
        milestone: nondecreasing ints above 0, a list or tuple: the ends of the rates. The last is the number of
            steps.
        learning_rates: one float for each milestone.

    Returns:
        A list of floats, one a step.

    Raises:
        TypeError: an argument is not a list or tuple, a milestone is not an int, or a rate is not a float.
        ValueError: lengths that differ or are 0, or milestones that fall or are not above 0.
    """
    name = "piecewise_constant_lr"
    for argument, value in (("milestone", milestone), ("learning_rates", learning_rates)):
        check_type(value, list | tuple, name, argument, "a list or a tuple")
    if len(milestone) != len(learning_rates) or not milestone:
        raise ValueError(f"For '{name}', 'milestone' and 'learning_rates' must have one length, and not 0")
    rates: list[float] = []
    last = 0
    for until, rate in zip(milestone, learning_rates, strict=True):
        check_size((check_positive_int(until, name, "milestone"),), name, "milestone")
        if not isinstance(rate, float):
            raise TypeError(f"For '{name}', 'learning_rates' must hold floats, but got {type(rate).__name__}")
        if until < last:
            raise ValueError(f"For '{name}', 'milestone' must grow, but got {milestone}")
        rates += [rate] * (until - last)
        last = until
    return rates


def _epochs(name: str, total_step: int, step_per_epoch: int, **others: int) -> list[int]:
    """Return the epoch of each step."""
    for argument, value in {"total_step": total_step, "step_per_epoch": step_per_epoch, **others}.items():
        check_positive_int(value, name, argument)
    check_size((total_step,), name, "total_step")
    return [step // step_per_epoch for step in range(total_step)]


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """Return learning_rate * decay_rate ** (epoch / decay_epoch) for each step, where epoch = step // step_per_epoch.

    Args:
        learning_rate: the first rate, a float above 0.
        decay_rate: the factor for every ``decay_epoch`` epochs, a float above 0.
        total_step: the number of rates, an int above 0.
        step_per_epoch: the number of steps in an epoch, an int above 0.
        decay_epoch: the epochs until the rate is multiplied by ``decay_rate``, an int above 0.
        is_stair: whether epoch / decay_epoch is rounded down, so that the rate falls only every ``decay_epoch`` epochs.

    Returns:
        A list of ``total_step`` floats.

    Raises:
        TypeError: a rate is not a float, a count is not an int, or ``is_stair`` is not a bool.
        ValueError: a number is not above 0.
    """
    name = "exponential_decay_lr"
    epochs = _rates(name, learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    return [learning_rate * decay_rate ** (e // decay_epoch if is_stair else e / decay_epoch) for e in epochs]


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """Return learning_rate * exp(-decay_rate * epoch) for each step, where epoch = step // step_per_epoch.

    Args:
        learning_rate: the first rate, a float above 0.
        decay_rate: the decay of the rate per epoch, a float above 0.
        total_step: the number of rates, an int above 0.
        step_per_epoch: the number of steps in an epoch, an int above 0.
        decay_epoch: how many epochs share a rate with ``is_stair``, an int above 0; without effect otherwise.
        is_stair: whether the epoch is rounded down to a multiple of ``decay_epoch``.

    Returns:
        A list of ``total_step`` floats.

    Raises:
        TypeError: a rate is not a float, a count is not an int, or ``is_stair`` is not a bool.
        ValueError: a number is not above 0.
    """
    name = "natural_exp_decay_lr"
    epochs = _rates(name, learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    return [learning_rate * math.exp(-decay_rate * (e // decay_epoch * decay_epoch if is_stair else e)) for e in epochs]


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """Return learning_rate / (1 + decay_rate * epoch / decay_epoch) for each step.
    Here epoch = step // step_per_epoch.

    Args:
        learning_rate: the first rate, a float above 0.
        decay_rate: the growth of the denominator in ``decay_epoch`` epochs, a float above 0.
        total_step: the number of rates, an int above 0.
        step_per_epoch: the number of steps in an epoch, an int above 0.
        decay_epoch: the epochs in which the denominator grows by ``decay_rate``, an int above 0.
        is_stair: whether epoch / decay_epoch is rounded down.

    Returns:
        A list of ``total_step`` floats.

    Raises:
        TypeError: a rate is not a float, a count is not an int, or ``is_stair`` is not a bool.
        ValueError: a number is not above 0.
    """
    name = "inverse_decay_lr"
    epochs = _rates(name, learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair)
    return [learning_rate / (1 + decay_rate * (e // decay_epoch if is_stair else e / decay_epoch)) for e in epochs]


def _rates(
    name: str,
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    stair: bool,
) -> list[int]:
    positive_float(learning_rate, name, "learning_rate")
    positive_float(decay_rate, name, "decay_rate")
    check_bool(stair, name, "is_stair")
    return _epochs(name, total_step, step_per_epoch, decay_epoch=decay_epoch)


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """Return rates from ``max_lr`` to ``min_lr`` along half a cosine over ``decay_epoch`` epochs, then ``min_lr``.

    min_lr + 0.5 * (max_lr - min_lr) * (1 + cos(pi * min(epoch, decay_epoch) / decay_epoch)), epoch = step //
    step_per_epoch.

    Args:
        min_lr: the last rate, a float from 0 on.
        max_lr: the first rate, a float above ``min_lr``.
        total_step: the number of rates, an int above 0.
        step_per_epoch: the number of steps in an epoch, an int above 0.
        decay_epoch: the length of the half cosine in epochs, an int above 0.

    Returns:
        A list of ``total_step`` floats.

    Raises:
        TypeError: a rate is not a float, or a count is not an int.
        ValueError: a number out of range.
    """
    name = "cosine_decay_lr"
    positive_float(min_lr, name, "min_lr", or_zero=True)
    positive_float(max_lr, name, "max_lr")
    if min_lr >= max_lr:
        raise ValueError(f"For '{name}', 'max_lr' must be above 'min_lr', but got {max_lr} and {min_lr}")
    half = 0.5 * (max_lr - min_lr)
    return [
        min_lr + half * (1 + math.cos(math.pi * min(e, decay_epoch) / decay_epoch))
        for e in _epochs(name, total_step, step_per_epoch, decay_epoch=decay_epoch)
    ]


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """Return a polynomial decay from ``learning_rate`` to ``end_learning_rate``.

    (learning_rate - end_learning_rate) * (1 - min(epoch, decay_epoch) / decay_epoch) ** power + end_learning_rate,
    where epoch = step // step_per_epoch.

    Args:
        learning_rate: the first rate, a float above 0.
        end_learning_rate: the rate from epoch ``decay_epoch`` on, a float from 0 on.
        total_step: the number of rates, an int above 0.
        step_per_epoch: the number of steps in an epoch, an int above 0.
        decay_epoch: the length of the decay in epochs, an int above 0.
        power: the exponent, a float above 0; 1.0 is a straight line.
        update_decay_epoch: whether to replace ``decay_epoch`` by its least multiple that is not below the epoch (at
            least ``decay_epoch`` itself), so that the rate rises again at each multiple.

    Returns:
        A list of ``total_step`` floats.

    Raises:
        TypeError: a rate or ``power`` is not a float, a count is not an int, or ``update_decay_epoch`` is not a bool.
        ValueError: a number out of range.
    """
    name = "polynomial_decay_lr"
    positive_float(learning_rate, name, "learning_rate")
    if not isinstance(end_learning_rate, float):
        raise TypeError(f"For '{name}', 'end_learning_rate' must be a float, got {type(end_learning_rate).__name__}")
    positive_float(end_learning_rate, name, "end_learning_rate", or_zero=True)
    positive_float(power, name, "power")
    check_bool(update_decay_epoch, name, "update_decay_epoch")
    rates = []
    for epoch in _epochs(name, total_step, step_per_epoch, decay_epoch=decay_epoch):
        span = decay_epoch * max(1, math.ceil(epoch / decay_epoch)) if update_decay_epoch else decay_epoch
        remaining = 1 - (epoch if update_decay_epoch else min(epoch, decay_epoch)) / span
        rates.append((learning_rate - end_learning_rate) * remaining**power + end_learning_rate)
    return rates


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """Return learning_rate * min(epoch, warmup_epoch) / warmup_epoch for each step, epoch = step // step_per_epoch.

    Args:
        learning_rate: the last rate, a float from 0 on.
        total_step: the number of rates, an int above 0.
        step_per_epoch: the number of steps in an epoch, an int above 0.
        warmup_epoch: the epochs until ``learning_rate`` is reached, an int above 0.

    Returns:
        A list of ``total_step`` floats; the first is 0.

    Raises:
        TypeError: ``learning_rate`` is not a float, or a count is not an int.
        ValueError: a number out of range.
    """
    name = "warmup_lr"
    check_type(learning_rate, float, name, "learning_rate")
    check_not_negative(learning_rate, name, "learning_rate")
    epochs = _epochs(name, total_step, step_per_epoch, warmup_epoch=warmup_epoch)
    return [learning_rate * min(e, warmup_epoch) / warmup_epoch for e in epochs]
