"""RMSprop with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """Hinton 2012: p = p - lr * g / (sqrt(v) + eps), with momentum, and with v without the mean if ``centered``."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0,
        momentum: float = 0.0, centered: bool = False, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("alpha", alpha)
        self._check("eps", eps, above=True)
        self._check("momentum", momentum)
        self._check("weight_decay", weight_decay)
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self._keep("mean_grad")
        self._keep("mean_square")
        self._keep("moment")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        mean = self.mean_grad[place] if group["centered"] else None
        squares, moved = self.mean_square[place], self.moment[place]
        new, means, moment, sums = updates.rmsprop_pytorch(
            value, mean._array if mean is not None else None, squares._array, moved._array, gradient,
            rate, group["alpha"], group["momentum"], group["eps"],
        )  # fmt: skip
        if mean is not None:
            mean._rebind(means)
        squares._rebind(moment)
        moved._rebind(sums)
        return new
