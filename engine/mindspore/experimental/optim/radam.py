"""RAdam with PyTorch's names: rectified Adam."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from ._moments import Betas, Moments
from .optimizer import Group, Rate

__all__ = ["RAdam"]


class RAdam(Moments):
    """Adam whose step is rectified by the variance of its second moment (Liu et al. 2020).

    In the first steps, while that variance is unknown, it is gradient descent along the first moment.

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        betas: (beta1, beta2): the decay rates of the moments, from 0 to below 1.
        eps: added to the root in the denominator, above 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    def __init__(
        self, params: Params, lr: Rate = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0
    ) -> None:
        self._check_all(lr, betas, eps, weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self._start("step_t", "exp_avg", "exp_avg_sq")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        beta1, beta2 = group["betas"]
        states = self.exp_avg[index], self.exp_avg_sq[index]
        powers = self._power(beta1, step), self._power(beta2, step)
        return updated_by(updates.radam, value, states, gradient, rate, step, *powers, beta1, beta2, group["eps"])
