"""Adadelta with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from .optimizer import Group, Optimizer, Rate

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """Adadelta (Zeiler 2012): steps scaled by the ratio of past steps to past gradients.

    a = rho * a + (1 - rho) * g**2; d = sqrt(u + eps) / sqrt(a + eps) * g; u = rho * u + (1 - rho) * d**2; p = p - lr *
    d.

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        rho: the decay rate of both averages, from 0 to 1.
        eps: added under both roots, above 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _keeps_numbers = _prepares_late = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr, above=True)
        self._check("eps", eps, above=True)
        self._check("weight_decay", weight_decay)
        self._check("rho", rho)
        if rho > 1:
            raise ValueError(f"For 'Adadelta', 'rho' must be from 0 to 1, but got {rho}")
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize})
        self._keep("accum")
        self._keep("accum_update")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        states = self.accum[index], self.accum_update[index]
        return updated_by(updates.adadelta, value, states, gradient, rate, group["rho"], group["eps"])
