"""Adagrad: steps divided by the root of all squared gradients."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011): a = a + g * g; p = p - learning_rate * g / sqrt(a).

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        accum: the initial value of a, at least 0.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        update_slots: False leaves a unchanged.
        loss_scale: the gradients are divided by it; above 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        accum: float = 0.1,
        learning_rate: Rate = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(accum, "accum", 0.0)
        self._check_bool(update_slots, "update_slots")
        self.update_slots = update_slots
        self.accum = self.state_like_parameters("accum", accum)

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states = (self.accum[index],)
        return updated_by(updates.adagrad, value, states, gradient, rate, update_slots=self.update_slots)
