"""Adam and its relatives: moments of the gradient, with and without correction of their start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...cpu import fused
from ...cpu.array_module import array_module
from ...operator import Operator
from .optimizer import Optimizer, opt_init_args_register, take

__all__ = ["AdaMax", "Adam", "AdamOffload", "AdamWeightDecay", "Lamb", "LazyAdam"]

_adam = Operator("adam", fused.adam)


class _Adam(Optimizer):
    """What every Adam has: betas, their powers, and two moments."""

    _shape_of_powers: tuple[int, ...] = (1,)

    def _start(self, beta1: float, beta2: float, eps: float, flags: dict[str, Any]) -> None:
        for argument, value in flags.items():
            if not isinstance(value, bool):
                raise TypeError(
                    f"For '{type(self).__name__}', '{argument}' must be a bool, but got {type(value).__name__}"
                )
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = self.scalar_state("beta1_power", 1.0, self._shape_of_powers)
        self.beta2_power = self.scalar_state("beta2_power", 1.0, self._shape_of_powers)
        self.moment1 = self.state_like_parameters("moment1")
        self.moment2 = self.state_like_parameters("moment2")

    def before_step(self, step: int) -> None:
        for power, beta in ((self.beta1_power, self.beta1), (self.beta2_power, self.beta2)):
            take(power, power._array * np.float32(beta))

    def _corrected(self, rate: float) -> float:
        """lr * sqrt(1 - beta2 ** t) / (1 - beta1 ** t); the powers are state: a checkpoint goes on with them."""
        first, second = (float(p._array.reshape(-1)[0]) for p in (self.beta1_power, self.beta2_power))
        return rate * math.sqrt(1 - second) / (1 - first)


class Adam(_Adam):
    """Kingma and Ba 2015, in the form that corrects the learning rate:
    lr_t = lr * sqrt(1 - beta2**t) / (1 - beta1**t); p = p - lr_t * m / (sqrt(v) + eps).

    Args:
        use_nesterov: step by beta1 * m + (1 - beta1) * g.
        use_amsgrad: divide by the largest v so far (Reddi et al. 2018).
    """

    _shape_of_powers: tuple[int, ...] = ()

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        allowed = ("use_lazy", "use_offload")
        for key in kwargs:
            if key not in allowed:
                raise TypeError(f"For 'Adam', there is no argument '{key}'; allowed are {allowed}")
        flags = {"use_locking": use_locking, "use_nesterov": use_nesterov, "use_amsgrad": use_amsgrad, **kwargs}
        self._start(beta1, beta2, eps, flags)
        if use_amsgrad and use_nesterov:
            raise ValueError("For 'Adam', 'use_nesterov' cannot be set with 'use_amsgrad'")
        self.use_nesterov, self.use_amsgrad = use_nesterov, use_amsgrad
        if use_amsgrad:
            self.vhat = self.state_like_parameters("vhat")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        corrected = self._corrected(rate)
        m, v = self.moment1[place], self.moment2[place]
        if self.use_amsgrad:
            new_m = m._array * self.beta1 + gradient * (1 - self.beta1)
            new_v = v._array * self.beta2 + gradient * gradient * (1 - self.beta2)
            take(m, new_m)
            take(v, new_v)
            largest = self.vhat[place]
            xp = array_module(value)
            take(largest, xp.maximum(largest._array, v._array))
            return value - corrected * new_m / (xp.sqrt(largest._array) + self.eps)
        new, new_m, new_v = _adam.on_arrays(
            value, m._array, v._array, gradient,
            lr_t=corrected, beta1=self.beta1, beta2=self.beta2, eps=self.eps, use_nesterov=self.use_nesterov,
        )  # fmt: skip
        m._rebind(new_m)
        v._rebind(new_v)
        return new


class AdamOffload(Adam):
    """``Adam``: what MindSpore moves to the host is there already."""

    _shape_of_powers = (1,)

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale
        )


class LazyAdam(Adam):
    """``Adam``; for the dense gradients that this engine has, the lazy form does the same."""

    _shape_of_powers = (1,)

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(
            params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale
        )


class AdaMax(_Adam):
    """Kingma and Ba 2015, section 7.1: the second moment is a running maximum."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = self.scalar_state("beta1_power", 1.0, (1,))
        self.moment1 = self.state_like_parameters("moment1")
        self.moment2 = self.state_like_parameters("moment2")

    def before_step(self, step: int) -> None:
        take(self.beta1_power, self.beta1_power._array * np.float32(self.beta1))

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        xp = array_module(value)
        m, v = self.moment1[place], self.moment2[place]
        take(m, m._array * self.beta1 + gradient * (1 - self.beta1))
        take(v, xp.maximum(v._array * self.beta2, xp.abs(gradient)))
        power = float(self.beta1_power._array.reshape(-1)[0])
        return value - rate / (1 - power) * m._array / (v._array + self.eps)


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
        take(m, m._array * self.beta1 + gradient * (1 - self.beta1))
        take(v, v._array * self.beta2 + gradient * gradient * (1 - self.beta2))
        step_by = m._array / (array_module(value).sqrt(v._array) + self.eps)
        if self._now_decays[place]:
            step_by = step_by + value * self._now_decays[place]
        return value - step_by * rate


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
        xp = array_module(value)
        m, v = self.moments1[place], self.moments2[place]
        take(m, m._array * self.beta1 + gradient * (1 - self.beta1))
        take(v, v._array * self.beta2 + gradient * gradient * (1 - self.beta2))
        step_by = m._array / (1 - self.beta1**step) / (xp.sqrt(v._array / (1 - self.beta2**step)) + self.eps)
        if self._now_decays[place]:
            step_by = step_by + value * self._now_decays[place]
        length, slope = float(xp.sqrt((value * value).sum())), float(xp.sqrt((step_by * step_by).sum()))
        trust = length / slope if length > 0 and slope > 0 else 1.0
        return value - step_by * (rate * trust)


