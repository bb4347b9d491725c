"""Adadelta with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Zeiler 2012: the step is as long as the steps before it were, divided by the size of the gradients."""

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0,
        *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("eps", eps, above=True)
        self._check("weight_decay", weight_decay)
        self._check("rho", rho)
        if rho > 1:
            raise ValueError(f"For 'Adadelta', 'rho' must be from 0 to 1, but got {rho}")
        super().__init__(
            params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        )
        self._keep("accum")
        self._keep("accum_update")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        squares, steps = self.accum[place], self.accum_update[place]
        new, moment, lengths = updates.adadelta(
            value, squares._array, steps._array, gradient, rate, group["rho"], group["eps"]
        )
        squares._rebind(moment)
        steps._rebind(lengths)
        return new
