"""Adam with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from ...ops.updates import adam
from ._moments import Betas, Moments

__all__ = ["Adam"]


class Adam(Moments):
    """Kingma and Ba 2015, in the form that corrects the learning rate:
    p = p - lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(v) + eps).

    Args:
        betas: how much of the averages stays in a step.
        amsgrad: divide by the largest v so far (Reddi et al. 2018).
        maximize: go up, not down.
    """

    _state: tuple[str, ...] = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq", "state_step")

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check_all(lr, betas, eps, weight_decay, above=False)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "amsgrad": amsgrad, "maximize": maximize})
        self._start(*self._state)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        corrected = updates.corrected_rate(rate, beta1**step, beta2**step)
        m, v = self.exp_avg[place], self.exp_avg_sq[place]
        if group["amsgrad"]:
            largest = self.max_exp_avg_sq[place]
            new, new_m, new_v, new_largest = updates.amsgrad(
                value, m._array, v._array, largest._array, gradient, corrected, beta1, beta2, group["eps"]
            )
            largest._rebind(new_largest)
        else:
            new, new_m, new_v = adam.on_arrays(
                value, m._array, v._array, gradient,
                lr_t=corrected, beta1=beta1, beta2=beta2, eps=group["eps"], use_nesterov=False,
            )  # fmt: skip
        m._rebind(new_m)
        v._rebind(new_v)
        return new
