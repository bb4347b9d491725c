"""ProximalAdagrad: Adagrad's step, then towards 0."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["ProximalAdagrad"]


class ProximalAdagrad(Optimizer):
    """Duchi and Singer 2009: Adagrad's step, then towards 0 by ``l1`` and ``l2``."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for argument, number in (("accum", accum), ("l1", l1), ("l2", l2)):
            self._check_number(number, argument, 0.0)
        self.l1, self.l2 = l1, l2
        self.accum = self.state_like_parameters("accum", accum)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        total = self.accum[place]
        new, squares = updates.proximal_adagrad(value, total._array, gradient, rate, self.l1, self.l2)
        total._rebind(squares)
        return new
