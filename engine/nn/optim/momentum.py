"""Steps along the gradient: SGD, Momentum, their average (ASGD), by sign (Rprop), scaled by layer (LARS)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cpu.array_module import array_module
from ...parameter import ParameterTuple
from ...recording import no_recording
from ...tensor import Tensor
from ..cell import Cell
from .optimizer import Optimizer, opt_init_args_register, take

__all__ = ["ASGD", "LARS", "SGD", "Momentum", "Rprop"]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v (Sutskever et al. 2013); p - lr * g without momentum."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Any = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(dampening, "dampening", 0.0)
        if not isinstance(nesterov, bool):
            raise TypeError(f"For 'SGD', 'nesterov' must be a bool, but got {type(nesterov).__name__}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        if self.dynamic_weight_decay:
            raise TypeError("For 'SGD', 'weight_decay' must be a number, not a cell; use Momentum or Adam")
        self.momentum = self.scalar_state("momentum", float(momentum))
        self.dampening, self.nesterov = float(dampening), nesterov
        self.accum = self.state_like_parameters("accum")
        self.stat = self.state_like_parameters("stat", "ones")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        momentum = float(self.momentum._array)
        if momentum:
            kept = self.accum[place]
            first = step == 1
            new = gradient if first else kept._array * momentum + gradient * (1 - self.dampening)
            take(kept, new + 0 if first else new)
            gradient = gradient + new * momentum if self.nesterov else new
        return value - gradient * rate


class Momentum(Optimizer):
    """v = momentum * v + g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if not isinstance(momentum, float | Tensor):
            raise TypeError(f"For 'Momentum', 'momentum' must be a float, but got {type(momentum).__name__}")
        self._check_number(momentum, "momentum", 0.0)
        if not isinstance(use_nesterov, bool):
            raise TypeError(f"For 'Momentum', 'use_nesterov' must be a bool, but got {type(use_nesterov).__name__}")
        self.momentum = self.scalar_state("momentum", float(momentum))
        self.use_nesterov = use_nesterov
        self.moments = self.state_like_parameters("moments")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        momentum = float(self.momentum._array)
        kept = self.moments[place]
        moment = kept._array * momentum
        moment += gradient
        take(kept, moment)
        step_by = gradient + kept._array * momentum if self.use_nesterov else kept._array
        return value - step_by * rate


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the averages are in ``ax``."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for argument, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            if not isinstance(value, float):
                raise TypeError(f"For 'ASGD', '{argument}' must be a float, but got {type(value).__name__}")
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.mu = ParameterTuple([self.scalar_state(f"mu_{p.name}") for p in self.parameters])
        self.eta = ParameterTuple([self.scalar_state(f"eta_{p.name}", 0.0) for p in self.parameters])
        self.ax = self.state_like_parameters("ax_")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        mu, average = float(self.mu[place]._array), self.ax[place]
        eta = rate if step == 1 else float(self.eta[place]._array)
        new = value * (1.0 - self.lambd * eta) - gradient * eta
        take(average, new + 0 if mu == 1.0 else average._array + (new - average._array) * mu)
        xp = array_module(value)
        take(self.eta[place], xp.asarray(rate / (1.0 + self.lambd * rate * step) ** self.alpha))
        take(self.mu[place], xp.asarray(1.0 / max(1.0, step - self.t0)))
        return new


class Rprop(Optimizer):
    """Resilient backpropagation (Riedmiller and Braun 1993): steps by the sign of the gradient, of adapted lengths."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for argument, pair in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(pair, tuple):
                raise TypeError(f"For 'Rprop', '{argument}' must be a tuple, but got {type(pair).__name__}")
            if len(pair) != 2:
                raise ValueError(f"For 'Rprop', '{argument}' must have 2 entries, but got {pair}")
            if not all(isinstance(n, float) for n in pair):
                raise TypeError(f"For 'Rprop', '{argument}' must be two floats, but got {pair}")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', 'step_sizes' must be (least, most), but got {step_sizes}")
        if not 0.0 < etas[0] < 1.0 or etas[1] <= 1.0:
            raise ValueError(f"For 'Rprop', 'etas' must be (between 0 and 1, above 1), but got {etas}")
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = step_sizes
        self.prev = self.state_like_parameters("prev")
        self.step_size = self.state_like_parameters("step_size")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        xp = array_module(value)
        before, lengths = self.prev[place], self.step_size[place]
        size = xp.full(value.shape, rate, value.dtype) if step == 1 else lengths._array
        agreement = xp.sign(gradient * before._array)
        size = size * xp.where(agreement > 0, self.etaplus, xp.where(agreement < 0, self.etaminus, 1.0))
        size = xp.clip(size, self.step_size_min, self.step_size_max)
        # Where the sign turned, this step is left out and the next one starts anew.
        used = xp.where(agreement < 0, 0.0, gradient)
        take(before, used)
        take(lengths, size)
        return value - xp.sign(used) * size


class LARS(Cell):
    """Layer-wise adaptive rates (You et al. 2017) around another optimizer: gradients scaled by |p| / |g|.

    Args:
        optimizer: the optimizer that makes the steps; its weight decay is used here.
        epsilon: added to the norm in the denominator.
        coefficient: the trust in a layer.
        use_clip: limit the factor by the learning rate.
        lars_filter: which parameters are scaled.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Any = lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"For 'LARS', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}")
        self.opt = optimizer
        self.parameters = optimizer.parameters
        self.epsilon, self.coefficient, self.use_clip = epsilon, coefficient, use_clip
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)
        self._weight_decays = optimizer._decays
        optimizer._decays = (0.0,) * len(optimizer._decays)
        optimizer.exec_weight_decay = False
        self.global_step = optimizer.global_step

    def get_lr(self) -> Any:
        """The learning rate of this step."""
        return self.opt.get_lr()

    def construct(self, gradients: Any) -> Any:
        """Scale the gradients, then make the step."""
        given = self.opt._fitting(gradients)
        rates, _ = self.opt._numbers()
        scaled = []
        with no_recording(), np.errstate(all="ignore"):
            for place, (parameter, gradient) in enumerate(zip(self.parameters, given, strict=True)):
                decay = self._weight_decays[place]
                decay = float(decay(self.global_step).asnumpy()) if isinstance(decay, Cell) else float(decay)
                value, g = parameter._array, gradient._array
                if self.lars_flag[place]:
                    xp = array_module(value)
                    length, slope = float(xp.sqrt((value * value).sum())), float(xp.sqrt((g * g).sum()))
                    factor = 1.0
                    if length > 0 and slope > 0:
                        factor = self.coefficient * length / (slope + decay * length + self.epsilon)
                        if self.use_clip:
                            factor = min(factor / rates[place], 1.0) if rates[place] else 1.0
                    g = (g + value * decay) * factor
                scaled.append(Tensor._wrap(g.astype(value.dtype, copy=False)))
        return self.opt(tuple(scaled))
