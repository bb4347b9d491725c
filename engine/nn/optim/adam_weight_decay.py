"""AdamWeightDecay: Adam with decay apart from the gradient."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .optimizer import Optimizer

__all__ = ["AdamWeightDecay"]


class AdamWeightDecay(Optimizer):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019); as in MindSpore without bias correction."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self.state_like_parameters("adam_m")
        self.moments2 = self.state_like_parameters("adam_v")
        self._now_decays: list[float] = []

    def _prepared(self, place: int, value: Any, g: Any, decay: float) -> Any:
        return g.astype(value.dtype, copy=False)

    def before_step(self, step: int) -> None:
        self.__dict__["_now_decays"] = self._numbers()[1]

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        m, v = self.moments1[place], self.moments2[place]
        new, new_m, new_v = updates.adam_weight_decay(
            value, m._array, v._array, gradient, rate, self.beta1, self.beta2, self.eps, self._now_decays[place]
        )
        m._rebind(new_m)
        v._rebind(new_v)
        return new
