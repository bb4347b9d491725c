"""AdaMax: Adam whose second moment is a running maximum."""

from __future__ import annotations

import numpy as np

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, take, updated_by

__all__ = ["AdaMax"]


class AdaMax(Optimizer):
    """AdaMax (Kingma and Ba 2015, section 7.1): Adam whose second moment is a running maximum.

    m = beta1 * m + (1 - beta1) * g; v = max(beta2 * v, abs(g));
    p = p - learning_rate / (1 - beta1**t) * m / (v + eps).

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        beta1: the decay factor of m, a float between 0 and 1.
        beta2: the decay factor of v, a float between 0 and 1.
        eps: added to the denominator, above 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.
        loss_scale: the gradients are divided by it; above 0.

    Raises:
        TypeError: ``params`` holds no parameters, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Decay = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = self.scalar_state("beta1_power", 1.0, (1,))
        self.moment1 = self.state_like_parameters("moment1")
        self.moment2 = self.state_like_parameters("moment2")

    def before_step(self, step: Number) -> None:
        take(self.beta1_power, self.beta1_power._array * np.float32(self.beta1))

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states, power = (self.moment1[index], self.moment2[index]), self._number(self.beta1_power)
        return updated_by(updates.adamax, value, states, gradient, rate, power, self.beta1, self.beta2, self.eps)
