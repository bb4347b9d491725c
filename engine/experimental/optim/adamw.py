"""AdamW with PyTorch's names: decay apart from the gradient."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from ._moments import Betas
from .adam import Adam

__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019), both moments corrected."""

    _decays_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        m, v = self.exp_avg[place], self.exp_avg_sq[place]
        largest = self.max_exp_avg_sq[place] if group["amsgrad"] else None
        new, new_m, new_v, new_largest = updates.adamw(
            value, m._array, v._array, largest._array if largest is not None else None, gradient,
            rate, beta1**step, beta2**step, beta1, beta2, group["eps"],
            group["weight_decay"] if self._decays_apart else 0.0,
        )  # fmt: skip
        m._rebind(new_m)
        v._rebind(new_v)
        if largest is not None:
            largest._rebind(new_largest)
        return new
