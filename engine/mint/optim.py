"""``mindspore.mint.optim``: the experimental optimizers with both moments corrected, and with less state."""

from __future__ import annotations

from typing import Any

from ..cpu import updates
from ..dtype import float32
from ..experimental.optim._moments import Betas
from ..experimental.optim.adamw import AdamW as _AdamW
from ..experimental.optim.optimizer import Optimizer
from ..parameter import Parameter
from ..tensor import Tensor

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0.0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr)
        self._check("momentum", momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "nesterov": nesterov, "maximize": maximize})
        self.momentum_buf = self.parameters.clone("momentum_buf", "zeros")
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        if not group["momentum"]:
            return updates.descent(value, gradient, rate)
        kept = self.momentum_buf[place]
        new, sums = updates.sgd(
            value, kept._array, gradient, rate, group["momentum"], group["dampening"], group["nesterov"], step == 1
        )
        kept._rebind(sums)
        return new


class AdamW(_AdamW):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019)."""

    _state = ("exp_avg", "exp_avg_sq", "state_step")

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
        if any(group["amsgrad"] for group in self.param_groups):
            self.max_exp_avg_sq = self.parameters.clone("max_exp_avg_sq", "zeros")

    def _counter(self, name: str) -> Parameter:
        return Parameter(Tensor([0.0], float32), name)


class FusedAdamW(AdamW):
    """The same as AdamW; there is one kind of it here."""


class Adam(AdamW):
    """Kingma and Ba 2015, both moments corrected: p = p - lr * m_hat / (sqrt(v_hat) + eps)."""

    _decays_apart = False

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
