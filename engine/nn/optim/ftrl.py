"""FTRL: follow the regularised leader."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["FTRL"]


class FTRL(Optimizer):
    """Follow the regularised leader (McMahan et al. 2013)."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(initial_accum, "initial_accum", 0.0)
        self._check_number(l1, "l1", 0.0)
        self._check_number(l2, "l2", 0.0)
        if not isinstance(lr_power, float):
            raise TypeError(f"For 'FTRL', 'lr_power' must be a float, but got {type(lr_power).__name__}")
        if lr_power > 0:
            raise ValueError(f"For 'FTRL', 'lr_power' must be at most 0, but got {lr_power}")
        self.lr_power, self.l1, self.l2 = lr_power, l1, l2
        self.moments = self.state_like_parameters("moments", initial_accum)
        self.linear = self.state_like_parameters("linear")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        squares, linear = self.moments[place], self.linear[place]
        new, total, z = updates.ftrl(
            value, squares._array, linear._array, gradient, rate, self.l1, self.l2, self.lr_power
        )
        squares._rebind(total)
        linear._rebind(z)
        return new
