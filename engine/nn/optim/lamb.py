"""Lamb: Adam with decay, each layer's step as long as its parameter."""

from __future__ import annotations

from typing import Any

from ...cpu import updates
from .adam_weight_decay import AdamWeightDecay
from .optimizer import Optimizer, opt_init_args_register

__all__ = ["Lamb"]


class Lamb(AdamWeightDecay):
    """You et al. 2020: Adam with decay, each layer's step as long as its parameter."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        Optimizer.__init__(self, learning_rate, params, weight_decay)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self.state_like_parameters("lamb_m")
        self.moments2 = self.state_like_parameters("lamb_v")
        self._now_decays = []

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        m, v = self.moments1[place], self.moments2[place]
        powers = (self.beta1**step, self.beta2**step)
        new, new_m, new_v = updates.lamb(
            value, m._array, v._array, gradient, rate, *powers,
            self.beta1, self.beta2, self.eps, self._now_decays[place],
        )  # fmt: skip
        m._rebind(new_m)
        v._rebind(new_v)
        return new
