"""Adagrad: steps divided by the root of all squared gradients."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Duchi et al. 2011: a = a + g * g; p = p - lr * g / sqrt(a)."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(accum, "accum", 0.0)
        self.update_slots = update_slots
        self.accum = self.state_like_parameters("accum", accum)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        total = self.accum[place]
        new, squares = updates.adagrad(value, total._array, gradient, rate, update_slots=self.update_slots)
        total._rebind(squares)
        return new
