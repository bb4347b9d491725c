"""RAdam with PyTorch's names: Adam that is rectified."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from ._moments import Betas, Moments

__all__ = ["RAdam"]


class RAdam(Moments):
    """Adam whose step is rectified by the variance of its second moment (Liu et al. 2020)."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0
    ) -> None:
        self._check_all(lr, betas, eps, weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self._start("step_t", "exp_avg", "exp_avg_sq")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        m, v = self.exp_avg[place], self.exp_avg_sq[place]
        new, new_m, new_v = updates.radam(
            value, m._array, v._array, gradient, rate, step, beta1, beta2, group["eps"]
        )
        m._rebind(new_m)
        v._rebind(new_v)
        return new
