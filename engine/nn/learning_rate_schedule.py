"""Learning rates as cells of the step (``mindspore.nn.learning_rate_schedule``)."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..base.argument_checks import check_bool, check_not_negative, check_positive_int, check_type
from ..tensors.dtype import float32
from ..tensors.tensor import Tensor
from .cell import Cell

__all__ = [
    "CosineDecayLR",
    "ExponentialDecayLR",
    "InverseDecayLR",
    "LearningRateSchedule",
    "NaturalExpDecayLR",
    "PolynomialDecayLR",
    "WarmUpLR",
]


def positive_float(value: float, name: str, argument: str, or_zero: bool = False) -> float:
    """Return ``value`` if it is a float above 0.

    Args:
        value: the user's value.
        name: the caller's name, for the error.
        argument: the argument's name, for the error.
        or_zero: whether 0 is allowed too.

    Raises:
        TypeError: it is not a float (an int is not one).
        ValueError: it is negative, or 0 without ``or_zero``.
    """
    check_type(value, float, name, argument)
    if value < 0 or (value == 0 and not or_zero):
        raise ValueError(f"For '{name}', '{argument}' must be above 0, but got {value}")
    return value


class LearningRateSchedule(Cell):
    """The base of schedules: a cell that an optimizer calls with the step to get the learning rate.

    A subclass defines ``construct(global_step)``.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        """Return the learning rate of a step; every subclass defines it.

        Args:
            global_step: the number of the step, an int32 Tensor; the first is 0.

        Returns:
            A float32 Tensor of the shape of ``global_step``.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define 'construct'")


class _Decay(LearningRateSchedule):
    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        name = type(self).__name__
        self.learning_rate = positive_float(learning_rate, name, "learning_rate")
        self.decay_rate = positive_float(decay_rate, name, "decay_rate")
        self.decay_steps = check_positive_int(decay_steps, name, "decay_steps")
        self.is_stair = check_bool(is_stair, name, "is_stair")

    def _part(self, global_step: Tensor) -> Tensor:
        part = ops.cast(global_step, float32) / self.decay_steps
        return ops.floor(part) if self.is_stair else part


class ExponentialDecayLR(_Decay):
    """learning_rate * decay_rate ** (step / decay_steps).

    Args:
        learning_rate: the first rate, a float above 0.
        decay_rate: the factor for every ``decay_steps`` steps, a float above 0.
        decay_steps: the steps until the rate is multiplied by ``decay_rate``, an int above 0.
        is_stair: whether step / decay_steps is rounded down, so that the rate falls only every ``decay_steps`` steps.

    Raises:
        TypeError: a rate is not a float, ``decay_steps`` is not an int, or ``is_stair`` is not a bool.
        ValueError: a number is not above 0.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate * ops.pow(self.decay_rate, self._part(global_step))


class NaturalExpDecayLR(_Decay):
    """learning_rate * exp(-decay_rate * step).

    Args:
        learning_rate: the first rate, a float above 0.
        decay_rate: the decay of the rate per step, a float above 0.
        decay_steps: how many steps share a rate with ``is_stair``, an int above 0; without effect otherwise.
        is_stair: whether the step is rounded down to a multiple of ``decay_steps``.

    Raises:
        TypeError: a rate is not a float, ``decay_steps`` is not an int, or ``is_stair`` is not a bool.
        ValueError: a number is not above 0.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        step = ops.cast(global_step, float32)
        if self.is_stair:
            step = ops.floor(step / self.decay_steps) * self.decay_steps
        return self.learning_rate * ops.exp(step * -self.decay_rate)


class InverseDecayLR(_Decay):
    """learning_rate / (1 + decay_rate * step / decay_steps).

    Args:
        learning_rate: the first rate, a float above 0.
        decay_rate: the growth of the denominator in ``decay_steps`` steps, a float above 0.
        decay_steps: the steps in which the denominator grows by ``decay_rate``, an int above 0.
        is_stair: whether step / decay_steps is rounded down.

    Raises:
        TypeError: a rate is not a float, ``decay_steps`` is not an int, or ``is_stair`` is not a bool.
        ValueError: a number is not above 0.
    """

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate / (1 + self.decay_rate * self._part(global_step))


class CosineDecayLR(LearningRateSchedule):
    """From ``max_lr`` to ``min_lr`` along half a cosine over ``decay_steps`` steps, ``min_lr`` from then on.

    min_lr + 0.5 * (max_lr - min_lr) * (1 + cos(pi * min(step, decay_steps) / decay_steps)).

    Args:
        min_lr: the last rate, a float from 0 on.
        max_lr: the first rate, a float above ``min_lr``.
        decay_steps: the length of the half cosine, an int above 0.

    Raises:
        TypeError: a rate is not a float, or ``decay_steps`` is not an int.
        ValueError: a number out of range.
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        name = type(self).__name__
        self.min_lr = positive_float(min_lr, name, "min_lr", or_zero=True)
        self.max_lr = positive_float(max_lr, name, "max_lr")
        self.decay_steps = check_positive_int(decay_steps, name, "decay_steps")
        if min_lr >= max_lr:
            raise ValueError(f"For '{name}', 'max_lr' must be above 'min_lr', but got {max_lr} and {min_lr}")

    def construct(self, global_step: Tensor) -> Tensor:
        part = ops.minimum(ops.cast(global_step, float32), float(self.decay_steps)) / self.decay_steps
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1 + ops.cos(part * math.pi))


class PolynomialDecayLR(LearningRateSchedule):
    """(learning_rate - end_learning_rate) * (1 - min(step, decay_steps) / decay_steps) ** power + end_learning_rate.

    Args:
        learning_rate: the first rate, a float above 0.
        end_learning_rate: the rate from step ``decay_steps`` on, a float from 0 on.
        decay_steps: the length of the decay, an int above 0.
        power: the exponent, a float above 0; 1.0 is a straight line.
        update_decay_steps: whether to replace ``decay_steps`` by its least multiple that is not below the step (at
            least ``decay_steps`` itself), so that the rate rises again at each multiple.

    Raises:
        TypeError: a rate or ``power`` is not a float, ``decay_steps`` is not an int, or ``update_decay_steps`` is not a
            bool.
        ValueError: a number out of range.
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.learning_rate = positive_float(learning_rate, name, "learning_rate")
        self.end_learning_rate = positive_float(end_learning_rate, name, "end_learning_rate", or_zero=True)
        self.decay_steps = check_positive_int(decay_steps, name, "decay_steps")
        self.power = positive_float(power, name, "power")
        self.update_decay_steps = check_bool(update_decay_steps, name, "update_decay_steps")

    def construct(self, global_step: Tensor) -> Tensor:
        step = ops.cast(global_step, float32)
        steps: Any = float(self.decay_steps)
        if self.update_decay_steps:
            steps = ops.maximum(ops.ceil(step / self.decay_steps), 1.0) * self.decay_steps
        else:
            step = ops.minimum(step, steps)
        remaining = ops.pow(1 - step / steps, self.power)
        return (self.learning_rate - self.end_learning_rate) * remaining + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """learning_rate * min(step, warmup_steps) / warmup_steps.

    Args:
        learning_rate: the rate from step ``warmup_steps`` on, a float from 0 on.
        warmup_steps: the steps until then, an int above 0.

    Raises:
        TypeError: ``learning_rate`` is not a float, or ``warmup_steps`` is not an int.
        ValueError: a number out of range.
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        name = type(self).__name__
        check_type(learning_rate, float, name, "learning_rate")
        self.learning_rate = check_not_negative(learning_rate, name, "learning_rate")
        self.warmup_steps = check_positive_int(warmup_steps, name, "warmup_steps")

    def construct(self, global_step: Tensor) -> Tensor:
        step = ops.minimum(ops.cast(global_step, float32), float(self.warmup_steps))
        return step / self.warmup_steps * self.learning_rate
