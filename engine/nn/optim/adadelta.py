"""Adadelta: steps as long as the past steps are against the past gradients."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Zeiler 2012: steps as long as the past steps are against the past gradients."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(rho, "rho", 0.0)
        self._check_number(epsilon, "epsilon", 0.0)
        if rho > 1.0:
            raise ValueError(f"For 'Adadelta', 'rho' must be in [0, 1], but got {rho}")
        self.rho, self.epsilon = rho, epsilon
        self.accum = self.state_like_parameters("accum", 0)
        self.accum_update = self.state_like_parameters("accum_update", 0)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        slopes, steps = self.accum[place], self.accum_update[place]
        new, squares, lengths = updates.adadelta(
            value, slopes._array, steps._array, gradient, rate, self.rho, self.epsilon
        )
        slopes._rebind(squares)
        steps._rebind(lengths)
        return new
