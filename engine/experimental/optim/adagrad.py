"""Adagrad with PyTorch's names, and a learning rate that decays."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Duchi et al. 2011: p = p - lr / (1 + step * lr_decay) * g / (sqrt(sum of g * g) + eps)."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("lr_decay", lr_decay)
        self._check("weight_decay", weight_decay)
        self._check("initial_accumulator_value", initial_accumulator_value)
        self._check("eps", eps, above=True)
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        first = initial_accumulator_value
        super().__init__(params, {**settings, "initial_accumulator_value": first, "maximize": maximize})
        self._keep("accum", first)
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        squares = self.accum[place]
        slowed = rate / (1 + (step - 1) * group["lr_decay"])
        new, total = updates.adagrad(value, squares._array, gradient, slowed, group["eps"])
        squares._rebind(total)
        return new
