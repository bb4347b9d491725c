"""AdamW with PyTorch's names: decoupled weight decay."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from ._moments import Betas
from .adam import Adam
from .optimizer import Group, Rate

__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019), both moments corrected.

    p = p * (1 - lr * weight_decay) - lr * m' / (sqrt(v') + eps), where m' = m / (1 - beta1**t) and v' = v / (1 -
    beta2**t).

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, at least 0.
        betas: (beta1, beta2): the decay rates of the moments m and v, from 0 to below 1.
        eps: added to the root in the denominator, at least 0.
        weight_decay: this multiple of ``lr`` and the parameter is subtracted from it, at least 0.
        amsgrad: divide by the largest v so far (Reddi et al. 2018).
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _has_decoupled_decay = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-3,
        betas: Betas = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        beta1, beta2 = group["betas"]
        largest = self.max_exp_avg_sq[index] if group["amsgrad"] else None
        states = (self.exp_avg[index], self.exp_avg_sq[index], largest)
        powers = self._power(beta1, step), self._power(beta2, step)
        settings = (beta1, beta2, group["eps"], group["weight_decay"] if self._has_decoupled_decay else 0.0)
        return updated_by(updates.adamw, value, states, gradient, rate, *powers, *settings)
