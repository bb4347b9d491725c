"""Adam with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....cpu.optim.updates import is_on_gpu
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from ....ops.legacy.updates import adam
from ._moments import Betas, Moments
from .optimizer import Group, Rate

__all__ = ["Adam"]


class Adam(Moments):
    """Adam (Kingma and Ba 2015), in the form that corrects the learning rate.

    m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
    p = p - lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + eps).

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, at least 0.
        betas: (beta1, beta2): the decay rates of m and v, from 0 to below 1.
        eps: added to the root in the denominator, at least 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        amsgrad: divide by the largest v so far (Reddi et al. 2018).
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _state: tuple[str, ...] = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "state_step")
    _steps = "state_step"

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        self._check_all(lr, betas, eps, weight_decay, above=False)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "amsgrad": amsgrad, "maximize": maximize})
        self._start(*self._state)

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        beta1, beta2 = group["betas"]
        powers = self._power(beta1, step), self._power(beta2, step)
        states = [self.exp_avg[index], self.exp_avg_sq[index]]
        if is_on_gpu(step) and not group["amsgrad"]:
            factors = (*powers, beta1, beta2, group["eps"], False)
            return updated_by(updates.adam_by_powers, value, states, gradient, rate, *factors)
        corrected = updates.rate_by_powers(value, rate, *powers)
        if group["amsgrad"]:
            states.append(self.max_exp_avg_sq[index])
            return updated_by(updates.amsgrad, value, states, gradient, corrected, beta1, beta2, group["eps"])
        settings = {"lr_t": corrected, "beta1": beta1, "beta2": beta2, "eps": group["eps"], "use_nesterov": False}
        return updated_by(adam.on_arrays, value, states, gradient, **settings)
