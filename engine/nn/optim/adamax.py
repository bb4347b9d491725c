"""AdaMax: Adam whose second moment is a running maximum."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register, take

__all__ = ["AdaMax"]


class AdaMax(Optimizer):
    """Kingma and Ba 2015, section 7.1: the second moment is a running maximum."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = self.scalar_state("beta1_power", 1.0, (1,))
        self.moment1 = self.state_like_parameters("moment1")
        self.moment2 = self.state_like_parameters("moment2")

    def before_step(self, step: int) -> None:
        take(self.beta1_power, self.beta1_power._array * np.float32(self.beta1))

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        m, v = self.moment1[place], self.moment2[place]
        power = float(self.beta1_power._array.reshape(-1)[0])
        new, new_m, new_v = updates.adamax(
            value, m._array, v._array, gradient, rate, power, self.beta1, self.beta2, self.eps
        )
        m._rebind(new_m)
        v._rebind(new_v)
        return new
