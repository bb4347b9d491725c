"""AdamW of ``mint``: that of ``experimental`` with less state; FusedAdamW is another name of it."""

from __future__ import annotations

from typing import Any

from ...core.dtype import float32
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...experimental.optim import adamw
from ...experimental.optim._moments import Betas

__all__ = ["AdamW", "FusedAdamW"]


class AdamW(adamw.AdamW):
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
