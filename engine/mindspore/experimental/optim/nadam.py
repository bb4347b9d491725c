"""NAdam with PyTorch's names: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....cpu.optim.updates import is_on_gpu
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, number_of, take, updated_by
from ._moments import Betas, Moments
from .optimizer import Group, Rate

__all__ = ["NAdam"]


class NAdam(Moments):
    """Adam with Nesterov's momentum, whose factor grows from step to step (Dozat 2016), as in PyTorch.

    The factor of step t is beta1 * (1 - 0.5 * 0.96**(t * momentum_decay)).

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        betas: (beta1, beta2): the decay rates of the moments, from 0 to below 1.
        eps: added to the root in the denominator, above 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        momentum_decay: the growth rate of the factor, at least 0.

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
        momentum_decay: float = 4e-3,
    ) -> None:
        self._check_all(lr, betas, eps, weight_decay)
        self._check("momentum_decay", momentum_decay)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "momentum_decay": momentum_decay})
        self._start("step_t", "exp_avg", "exp_avg_sq")
        self._keep("mu_product", 1.0, scalar=True)

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        beta1, beta2 = group["betas"]
        mu, next_mu = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = self.mu_product[index]
        take(product, product._array * mu)
        states = self.exp_avg[index], self.exp_avg_sq[index]
        factors = (number_of(product, is_on_gpu(step)), mu, next_mu, self._power(beta2, step))
        return updated_by(updates.nadam, value, states, gradient, rate, *factors, beta1, beta2, group["eps"])
