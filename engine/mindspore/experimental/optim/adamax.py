"""Adamax with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from ._moments import Betas, Moments
from .optimizer import Group, Rate

__all__ = ["Adamax"]


class Adamax(Moments):
    """Adamax (Kingma and Ba 2015, section 7.1): Adam whose second moment is a running maximum, as in PyTorch.

    m = beta1 * m + (1 - beta1) * g; v = max(beta2 * v, abs(g) + eps); p = p - lr / (1 - beta1**t) * m / v.

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        betas: (beta1, beta2): the decay rates of m and v, from 0 to below 1.
        eps: added to the magnitude of the gradient, above 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    def __init__(
        self,
        params: Params,
        lr: Rate = 2e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        self._check_all(lr, betas, eps, weight_decay)
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        )
        self._start("step_t", "exp_avg", "exp_inf")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        beta1, beta2 = group["betas"]
        states, settings = (
            (self.exp_avg[index], self.exp_inf[index]),
            (self._power(beta1, step), beta1, beta2, group["eps"]),
        )
        return updated_by(updates.adamax, value, states, gradient, rate, *settings, eps_in_maximum=True)
