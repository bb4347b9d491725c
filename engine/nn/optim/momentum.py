"""Momentum: steps along a sum of the gradients."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["Momentum"]


class Momentum(Optimizer):
    """v = momentum * v + g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if not isinstance(momentum, float | Tensor):
            raise TypeError(f"For 'Momentum', 'momentum' must be a float, but got {type(momentum).__name__}")
        self._check_number(momentum, "momentum", 0.0)
        if not isinstance(use_nesterov, bool):
            raise TypeError(f"For 'Momentum', 'use_nesterov' must be a bool, but got {type(use_nesterov).__name__}")
        self.momentum = self.scalar_state("momentum", float(momentum))
        self.use_nesterov = use_nesterov
        self.moments = self.state_like_parameters("moments")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        kept = self.moments[place]
        new, sums = updates.momentum(
            value, kept._array, gradient, rate, float(self.momentum._array), self.use_nesterov
        )
        kept._rebind(sums)
        return new
