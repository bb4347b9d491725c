"""Adamax with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from ._moments import Betas, Moments

__all__ = ["Adamax"]


class Adamax(Moments):
    """Kingma and Ba 2015, section 7.1: the second moment is a running maximum."""

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check_all(lr, betas, eps, weight_decay)
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        )
        self._start("step_t", "exp_avg", "exp_inf")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        m, most = self.exp_avg[place], self.exp_inf[place]
        new, new_m, new_most = updates.adamax(
            value, m._array, most._array, gradient, rate, beta1**step, beta1, beta2, group["eps"], eps_in_maximum=True
        )
        m._rebind(new_m)
        most._rebind(new_most)
        return new
