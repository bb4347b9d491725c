"""Adadelta: steps scaled by the ratio of past steps and past gradients."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012): steps scaled by the ratio of past steps and past gradients.

    With a = rho * a + (1 - rho) * g**2 the step is d = sqrt(u + epsilon) / sqrt(a + epsilon) * g; then
    u = rho * u + (1 - rho) * d**2 and p = p - learning_rate * d. Called with the gradients, it updates the parameters.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: the factor of each step: a number, one for each step, or a LearningRateSchedule.
        rho: the decay factor of both averages, from 0 to 1.
        epsilon: added under both roots, at least 0.
        loss_scale: the gradients are divided by it; above 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(rho, "rho", 0.0)
        self._check_number(epsilon, "epsilon", 0.0)
        if rho > 1.0:
            raise ValueError(f"For 'Adadelta', 'rho' must be in [0, 1], but got {rho}")
        self.rho, self.epsilon = rho, epsilon
        self.accum = self.state_like_parameters("accum", 0)
        self.accum_update = self.state_like_parameters("accum_update", 0)

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states = self.accum[index], self.accum_update[index]
        return updated_by(updates.adadelta, value, states, gradient, rate, self.rho, self.epsilon)
