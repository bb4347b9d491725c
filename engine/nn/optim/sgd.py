"""SGD with momentum, as MindSpore's ``nn.SGD``."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["SGD"]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v (Sutskever et al. 2013); p - lr * g without momentum."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(dampening, "dampening", 0.0)
        if not isinstance(nesterov, bool):
            raise TypeError(f"For 'SGD', 'nesterov' must be a bool, but got {type(nesterov).__name__}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        if self.dynamic_weight_decay:
            raise TypeError("For 'SGD', 'weight_decay' must be a number, not a cell; use Momentum or Adam")
        self.momentum = self.scalar_state("momentum", float(momentum))
        self.dampening, self.nesterov = float(dampening), nesterov
        self.accum = self.state_like_parameters("accum")
        self.stat = self.state_like_parameters("stat", "ones")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        momentum = float(self.momentum._array)
        if not momentum:
            return updates.descent(value, gradient, rate)
        kept = self.accum[place]
        new, sums = updates.sgd(
            value, kept._array, gradient, rate, momentum, self.dampening, self.nesterov, step == 1
        )
        kept._rebind(sums)
        return new
