"""Optimizers that scale each element by its history without a moving average of the gradient, and averaged SGD."""

from __future__ import annotations

from typing import Any

from ...cpu.array_module import array_module
from ...nn.optim.optimizer import take
from ...parameter import Parameter
from ...tensor import Tensor
from .optimizer import Optimizer

__all__ = ["ASGD", "Adadelta", "Adagrad", "RMSprop", "Rprop"]


class Adadelta(Optimizer):
    """Zeiler 2012: the step is as long as the steps before it were, divided by the size of the gradients."""

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0,
        *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("eps", eps, above=True)
        self._check("weight_decay", weight_decay)
        self._check("rho", rho)
        if rho > 1:
            raise ValueError(f"For 'Adadelta', 'rho' must be from 0 to 1, but got {rho}")
        super().__init__(
            params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
        )
        self.accum = self.parameters.clone("accum", "zeros")
        self.accum_update = self.parameters.clone("accum_update", "zeros")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        rho, eps = group["rho"], group["eps"]
        squares, steps = self.accum[place], self.accum_update[place]
        take(squares, squares._array * rho + gradient * gradient * (1 - rho))
        by = ((steps._array + eps) / (squares._array + eps)) ** 0.5 * gradient
        take(steps, steps._array * rho + by * by * (1 - rho))
        return value - by * rate


class Adagrad(Optimizer):
    """Duchi et al. 2011: p = p - lr / (1 + step * lr_decay) * g / (sqrt(sum of g * g) + eps)."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0, eps: float = 1e-10, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("lr_decay", lr_decay)
        self._check("weight_decay", weight_decay)
        self._check("initial_accumulator_value", initial_accumulator_value)
        self._check("eps", eps, above=True)
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        first = initial_accumulator_value
        super().__init__(params, {**settings, "initial_accumulator_value": first, "maximize": maximize})
        self.accum = self.parameters.clone("accum", first)
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        squares = self.accum[place]
        take(squares, squares._array + gradient * gradient)
        slowed = rate / (1 + (step - 1) * group["lr_decay"])
        return value - gradient * slowed / (squares._array**0.5 + group["eps"])


class RMSprop(Optimizer):
    """Hinton 2012: p = p - lr * g / (sqrt(v) + eps), with momentum, and with v without the mean if ``centered``."""

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0,
        momentum: float = 0.0, centered: bool = False, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("alpha", alpha)
        self._check("eps", eps, above=True)
        self._check("momentum", momentum)
        self._check("weight_decay", weight_decay)
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self.mean_grad = self.parameters.clone("mean_grad", "zeros")
        self.mean_square = self.parameters.clone("mean_square", "zeros")
        self.moment = self.parameters.clone("moment", "zeros")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        alpha = group["alpha"]
        squares, mean, moved = self.mean_square[place], self.mean_grad[place], self.moment[place]
        take(squares, squares._array * alpha + gradient * gradient * (1 - alpha))
        size = squares._array
        if group["centered"]:
            take(mean, mean._array * alpha + gradient * (1 - alpha))
            size = size - mean._array * mean._array
        by = gradient / (size**0.5 + group["eps"])
        if group["momentum"] > 0:
            take(moved, moved._array * group["momentum"] + by)
            by = moved._array
        return value - by * rate


class Rprop(Optimizer):
    """Riedmiller and Braun 1993: each element's step grows while its gradient keeps its sign, and shrinks if not."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("etas[1]", etas[1], above=True, least=1)
        self._check("etas[0]", etas[0], above=True, below=1)
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self.prev = self.parameters.clone("prev", "zeros")
        self.step_size = self.parameters.clone("step_size", "zeros")
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        xp = array_module(value)
        before, size = self.prev[place], self.step_size[place]
        lengths = xp.full_like(value, rate) if step == 1 else size._array
        same = xp.sign(gradient * before._array)
        shrink, grow = group["etas"]
        factor = xp.where(same > 0, grow, xp.where(same < 0, shrink, 1.0)).astype(value.dtype)
        take(size, xp.clip(lengths * factor, *group["step_sizes"]))
        # An element whose gradient changed its sign rests for a step.
        take(before, xp.where(same < 0, 0.0, gradient))
        return value - xp.sign(before._array) * size._array


class ASGD(Optimizer):
    """Polyak and Juditsky 1992: SGD whose rate shrinks; ``ax`` is the average of the parameter from step ``t0`` on."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0.0, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("weight_decay", weight_decay)
        for name, number in (("lambd", lambd), ("t0", t0)):
            if not isinstance(number, float):
                raise TypeError(f"For 'ASGD', '{name}' must be a float, but got {type(number).__name__}")
        settings = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self.mu = [Parameter(Tensor(1.0), f"mu_{p.name}") for p in self.parameters]
        self.eta = [Parameter(Tensor(0.0), f"eta_{p.name}") for p in self.parameters]
        self.ax = self.parameters.clone("ax", "zeros")
        self.step_t = self._counter("step_t")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        eta, mu, average = self.eta[place], self.mu[place], self.ax[place]
        now, share = rate if step == 1 else float(eta._array), float(mu._array)
        new = (value * (1 - group["lambd"] * now) - gradient * now).astype(value.dtype, copy=False)
        take(average, average._array + (new - average._array) * share if share != 1 else new)
        xp = array_module(value)
        take(eta, xp.asarray(rate / (1 + group["lambd"] * rate * step) ** group["alpha"]))
        take(mu, xp.asarray(1 / max(1.0, step - group["t0"])))
        return new
