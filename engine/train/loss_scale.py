"""Managers of the loss scale: the factor of a loss in half precision, which keeps gradients from vanishing."""

from __future__ import annotations

from .. import nn
from ..base.argument_checks import check_above_zero, check_positive_int

__all__ = ["DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]


class LossScaleManager:
    """Base of the managers of the loss scale."""

    def get_loss_scale(self) -> float | None:
        """Return the current scale, a number."""

    def update_loss_scale(self, overflow: bool) -> None:
        """Change the scale after a step.

        Args:
            overflow: whether a gradient was Inf or NaN.
        """

    def get_update_cell(self) -> nn.Cell | None:
        """Return the cell that changes the scale inside ``nn.TrainOneStepWithLossScaleCell``; None for a fixed
        scale."""


class FixedLossScaleManager(LossScaleManager):
    """A constant scale.

    Args:
        loss_scale: the scale, at least 1.
        drop_overflow_update: leave the parameters unchanged after an overflow. Otherwise pass the same ``loss_scale``
            to the optimizer.

    Raises:
        ValueError: a scale below 1.
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"For 'FixedLossScaleManager', 'loss_scale' must be at least 1, but got {loss_scale}")
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Return whether an update is dropped after an overflow."""
        return self._drop_overflow_update

    def get_update_cell(self) -> nn.Cell | None:
        return nn.FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls after an overflow and rises after ``scale_window`` steps without one.

    Args:
        init_loss_scale: the first scale, at least 1.
        scale_factor: the divisor and multiplier of the scale, above 0.
        scale_window: the number of finite steps before an increase, an int above 0.

    Raises:
        TypeError: ``scale_window`` is not an int.
        ValueError: a number out of range.
    """

    _MOST_BAD_STEPS = 1000

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: float = 2, scale_window: int = 2000) -> None:
        caller = "DynamicLossScaleManager"
        if init_loss_scale < 1:
            raise ValueError(f"For '{caller}', 'init_loss_scale' must be at least 1, but got {init_loss_scale}")
        check_positive_int(scale_window, caller, "scale_window", show=repr)
        check_above_zero(scale_factor, caller, "scale_factor")
        self.loss_scale: float = init_loss_scale
        self.scale_factor, self.scale_window = scale_factor, scale_window
        self.increase_ratio, self.decrease_ratio = scale_factor, 1 / scale_factor
        self.cur_iter, self.last_overflow_iter, self.bad_step = 1, 0, 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        """Change the scale after a step.

        Args:
            overflow: whether a gradient was Inf or NaN.

        Raises:
            RuntimeError: more than 1000 overflows in a row.
        """
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self._MOST_BAD_STEPS:
            raise RuntimeError(f"the loss scale is {self.loss_scale}, and {self.bad_step} steps in a row overflowed")
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Return whether an update is dropped after an overflow: always True."""
        return True

    def get_update_cell(self) -> nn.Cell | None:
        return nn.DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
