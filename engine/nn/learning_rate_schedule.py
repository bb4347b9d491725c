"""Learning rates as cells of the step (``mindspore.nn.learning_rate_schedule``)."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..core.dtype import float32
from ..core.tensor import Tensor
from ._checks import check_bool
from .cell import Cell

__all__ = [
    "CosineDecayLR", "ExponentialDecayLR", "InverseDecayLR", "LearningRateSchedule", "NaturalExpDecayLR",
    "PolynomialDecayLR", "WarmUpLR",
]  # fmt: skip


def positive_int(value: Any, name: str, argument: str) -> int:
    """``value`` if it is an int above 0.

    Raises:
        TypeError, ValueError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{name}', '{argument}' must be an int, but got {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"For '{name}', '{argument}' must be above 0, but got {value}")
    return value


def positive_float(value: Any, name: str, argument: str, or_zero: bool = False) -> float:
    """``value`` if it is a float above 0 (or 0).

    Raises:
        TypeError, ValueError: it is not.
    """
    if not isinstance(value, float):
        raise TypeError(f"For '{name}', '{argument}' must be a float, but got {type(value).__name__}")
    if value < 0 or (value == 0 and not or_zero):
        raise ValueError(f"For '{name}', '{argument}' must be above 0, but got {value}")
    return value


class LearningRateSchedule(Cell):
    """Base: ``construct(global_step)`` gives the learning rate of that step."""

    def construct(self, global_step: Tensor) -> Tensor:
        """The learning rate; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define 'construct'")


class _Decay(LearningRateSchedule):
    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        name = type(self).__name__
        self.learning_rate = positive_float(learning_rate, name, "learning_rate")
        self.decay_rate = positive_float(decay_rate, name, "decay_rate")
        self.decay_steps = positive_int(decay_steps, name, "decay_steps")
        self.is_stair = check_bool(is_stair, name, "is_stair")

    def _part(self, global_step: Tensor) -> Tensor:
        part = global_step.astype(float32) / self.decay_steps
        return ops.floor(part) if self.is_stair else part


class ExponentialDecayLR(_Decay):
    """lr * decay_rate ** (step / decay_steps)."""

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate * ops.pow(self.decay_rate, self._part(global_step))


class NaturalExpDecayLR(_Decay):
    """lr * exp(-decay_rate * step / decay_steps), by whole periods with ``is_stair``."""

    def construct(self, global_step: Tensor) -> Tensor:
        step = global_step.astype(float32)
        if self.is_stair:
            step = ops.floor(step / self.decay_steps) * self.decay_steps
        return self.learning_rate * ops.exp(step * -self.decay_rate)


class InverseDecayLR(_Decay):
    """lr / (1 + decay_rate * step / decay_steps)."""

    def construct(self, global_step: Tensor) -> Tensor:
        return self.learning_rate / (1 + self.decay_rate * self._part(global_step))


class CosineDecayLR(LearningRateSchedule):
    """From max_lr to min_lr along half a cosine over ``decay_steps`` steps."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        name = type(self).__name__
        self.min_lr = positive_float(min_lr, name, "min_lr", or_zero=True)
        self.max_lr = positive_float(max_lr, name, "max_lr")
        self.decay_steps = positive_int(decay_steps, name, "decay_steps")
        if min_lr >= max_lr:
            raise ValueError(f"For '{name}', 'max_lr' must be above 'min_lr', but got {max_lr} and {min_lr}")

    def construct(self, global_step: Tensor) -> Tensor:
        part = ops.minimum(global_step.astype(float32), float(self.decay_steps)) / self.decay_steps
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1 + ops.cos(part * math.pi))


class PolynomialDecayLR(LearningRateSchedule):
    """(lr - end) * (1 - step / decay_steps) ** power + end.

    Args:
        update_decay_steps: take the least multiple of ``decay_steps`` that is not below the step.
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
        self.decay_steps = positive_int(decay_steps, name, "decay_steps")
        self.power = positive_float(power, name, "power")
        self.update_decay_steps = check_bool(update_decay_steps, name, "update_decay_steps")

    def construct(self, global_step: Tensor) -> Tensor:
        step = global_step.astype(float32)
        steps: Any = float(self.decay_steps)
        if self.update_decay_steps:
            steps = ops.maximum(ops.ceil(step / self.decay_steps), 1.0) * self.decay_steps
        else:
            step = ops.minimum(step, steps)
        left = ops.pow(1 - step / steps, self.power)
        return (self.learning_rate - self.end_learning_rate) * left + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """lr * min(step, warmup_steps) / warmup_steps."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        name = type(self).__name__
        if not isinstance(learning_rate, float):
            raise TypeError(f"For '{name}', 'learning_rate' must be a float, but got {type(learning_rate).__name__}")
        if learning_rate < 0:
            raise ValueError(f"For '{name}', 'learning_rate' must not be negative, but got {learning_rate}")
        self.learning_rate = learning_rate
        self.warmup_steps = positive_int(warmup_steps, name, "warmup_steps")

    def construct(self, global_step: Tensor) -> Tensor:
        step = ops.minimum(global_step.astype(float32), float(self.warmup_steps))
        return step / self.warmup_steps * self.learning_rate
