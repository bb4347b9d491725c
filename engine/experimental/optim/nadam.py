"""NAdam with PyTorch's names: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...cpu import updates
from ...nn.optim.optimizer import take
from ._moments import Betas, Moments

__all__ = ["NAdam"]


class NAdam(Moments):
    """Adam with Nesterov's momentum, whose factor grows from step to step (Dozat 2016)."""

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:  # fmt: skip
        self._check_all(lr, betas, eps, weight_decay)
        self._check("momentum_decay", momentum_decay)
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "momentum_decay": momentum_decay})
        self._start("step_t", "exp_avg", "exp_avg_sq")
        self.mu_product: list[Parameter] = []
        self._begin(self.parameters)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        if self._kept:
            self._begin(param_group["params"])

    def _begin(self, parameters: Iterable[Parameter]) -> None:
        self.mu_product += [Parameter(Tensor(1.0), f"mu_product_{one.name}") for one in parameters]

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = self.mu_product[place]
        take(product, product._array * mu)
        m, v = self.exp_avg[place], self.exp_avg_sq[place]
        new, new_m, new_v = updates.nadam(
            value, m._array, v._array, gradient, rate, float(product._array), mu, following, beta2**step,
            beta1, beta2, group["eps"],
        )  # fmt: skip
        m._rebind(new_m)
        v._rebind(new_v)
        return new
