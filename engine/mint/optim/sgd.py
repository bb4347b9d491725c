"""SGD of ``mint``: that of ``experimental`` with less state."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from ...experimental.optim.optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0.0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr)
        self._check("momentum", momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "nesterov": nesterov, "maximize": maximize})
        self._keep("momentum_buf")
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        if not group["momentum"]:
            return updates.descent(value, gradient, rate)
        kept = self.momentum_buf[place]
        new, sums = updates.sgd(
            value, kept._array, gradient, rate, group["momentum"], group["dampening"], group["nesterov"], step == 1
        )
        kept._rebind(sums)
        return new
