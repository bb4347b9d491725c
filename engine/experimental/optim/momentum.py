"""SGD, and Adam with its relatives: steps by a moving average of the gradient."""

from __future__ import annotations

import math
from typing import Any

from ...cpu.array_module import array_module
from ...nn.optim.adam import _adam
from ...nn.optim.optimizer import take
from ...parameter import Parameter
from ...tensor import Tensor
from .optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam"]

Betas = tuple[float, float]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    def __init__(
        self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0.0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr)
        self._check("momentum", momentum)
        for name, flag in (("nesterov", nesterov), ("maximize", maximize)):
            if not isinstance(flag, bool):
                raise TypeError(f"For 'SGD', '{name}' must be a bool, but got {type(flag).__name__}")
        settings = {"lr": lr, "momentum": float(momentum), "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(
            params, {**settings, "nesterov": nesterov, "maximize": maximize, "grad_centralization": False}
        )
        for group in self.param_groups:
            self._check("dampening", group["dampening"], least=-math.inf)
            group["dampening"] = float(group["dampening"])
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, "
                f"but got {momentum} and {dampening}"
            )
        self.accum = self.parameters.clone("accum", "zeros")
        self.stat = self.parameters.clone("stat", "ones")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        if not group["momentum"]:
            return value - gradient * rate
        kept, first = self.accum[place], self.stat[place]
        if first._array.reshape(-1)[:1].any():
            take(kept, gradient)
            take(first, first._array * 0)
        else:
            take(kept, kept._array * group["momentum"] + gradient * (1 - group["dampening"]))
        return value - (gradient + kept._array * group["momentum"] if group["nesterov"] else kept._array) * rate


class _Moments(Optimizer):
    """What every Adam has: a moving average of the gradient, and one of its square."""

    def _start(self, *names: str) -> None:
        for name in names:
            if "step" in name:
                self._steps = name
            setattr(self, name, self._counter(name) if "step" in name else self.parameters.clone(name, "zeros"))

    def _check_all(self, lr: Any, betas: Betas, eps: float, weight_decay: float, above: bool = True) -> None:
        self._check("lr", lr, above)
        for place, beta in enumerate(betas):
            self._check(f"betas[{place}]", beta, below=1)
        self._check("eps", eps, above)
        self._check("weight_decay", weight_decay)

    def _moved(self, place: int, gradient: Any, betas: Betas) -> tuple[Any, Any]:
        m, v = self.exp_avg[place], self.exp_avg_sq[place]
        take(m, m._array * betas[0] + gradient * (1 - betas[0]))
        take(v, v._array * betas[1] + gradient * gradient * (1 - betas[1]))
        return m._array, v._array


class Adam(_Moments):
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

    def _most(self, place: int, v: Any, group: dict[str, Any]) -> Any:
        if not group["amsgrad"]:
            return v
        most = self.max_exp_avg_sq[place]
        take(most, array_module(v).maximum(most._array, v))
        return most._array

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        corrected = rate * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        if group["amsgrad"]:
            m, v = self._moved(place, gradient, group["betas"])
            return value - m * corrected / (self._most(place, v, group) ** 0.5 + group["eps"])
        first, second = self.exp_avg[place], self.exp_avg_sq[place]
        new, m, v = _adam.on_arrays(
            value, first._array, second._array, gradient,
            lr_t=corrected, beta1=beta1, beta2=beta2, eps=group["eps"], use_nesterov=False,
        )  # fmt: skip
        first._rebind(m)
        second._rebind(v)
        return new


class AdamW(Adam):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019), both moments corrected."""

    _decays_apart = True

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        m, v = self._moved(place, gradient, group["betas"])
        divisor = self._most(place, v, group) ** 0.5 / math.sqrt(1 - beta2**step) + group["eps"]
        if self._decays_apart:
            value = value * (1 - rate * group["weight_decay"])
        return value - m / divisor * (rate / (1 - beta1**step))


class Adamax(_Moments):
    """Kingma and Ba 2015, section 7.1: the second moment is a running maximum."""

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check_all(lr, betas, eps, weight_decay)
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        )
        self._start("step_t", "exp_avg", "exp_inf")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        xp = array_module(value)
        m, most = self.exp_avg[place], self.exp_inf[place]
        take(m, m._array * beta1 + gradient * (1 - beta1))
        take(most, xp.maximum(most._array * beta2, xp.abs(gradient) + group["eps"]))
        return value - m._array / most._array * (rate / (1 - beta1**step))


class NAdam(_Moments):
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
        self.mu_product = [Parameter(Tensor(1.0), f"mu_product_{p.name}") for p in self.parameters]

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        mu, following = (beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1))
        product = self.mu_product[place]
        take(product, product._array * mu)
        so_far = float(product._array)
        m, v = self._moved(place, gradient, group["betas"])
        divisor = (v / (1 - beta2**step)) ** 0.5 + group["eps"]
        own, ahead = rate * (1 - mu) / (1 - so_far), rate * following / (1 - so_far * following)
        return value - (gradient * own + m * ahead) / divisor


class RAdam(_Moments):
    """Adam whose step is rectified by the variance of its second moment (Liu et al. 2020)."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0
    ) -> None:
        self._check_all(lr, betas, eps, weight_decay)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self._start("step_t", "exp_avg", "exp_avg_sq")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        beta1, beta2 = group["betas"]
        m, v = self._moved(place, gradient, group["betas"])
        by = m * (rate / (1 - beta1**step))
        rest = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / rest
        if length > 5:
            rectified = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            by = by * math.sqrt(rectified * rest) / (v**0.5 + group["eps"])
        return value - by
