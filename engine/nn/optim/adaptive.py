"""Steps scaled by the gradients so far: Adagrad, Adadelta, RMSProp, FTRL, ProximalAdagrad, AdaFactor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...cpu.array_module import array_module
from ...initializer import initializer
from ...parameter import Parameter, ParameterTuple
from .optimizer import Optimizer, opt_init_args_register, take

__all__ = ["FTRL", "AdaFactor", "Adadelta", "Adagrad", "ProximalAdagrad", "RMSProp"]


class Adagrad(Optimizer):
    """Duchi et al. 2011: a = a + g * g; p = p - lr * g / sqrt(a)."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(accum, "accum", 0.0)
        self.update_slots = update_slots
        self.accum = self.state_like_parameters("accum", accum)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        total = self.accum[place]
        if self.update_slots:
            take(total, total._array + gradient * gradient)
        return value - rate * gradient / array_module(value).sqrt(total._array)


class Adadelta(Optimizer):
    """Zeiler 2012: steps as long as the past steps are against the past gradients."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(rho, "rho", 0.0)
        self._check_number(epsilon, "epsilon", 0.0)
        if rho > 1.0:
            raise ValueError(f"For 'Adadelta', 'rho' must be in [0, 1], but got {rho}")
        self.rho, self.epsilon = rho, epsilon
        self.accum = self.state_like_parameters("accum", 0)
        self.accum_update = self.state_like_parameters("accum_update", 0)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        xp = array_module(value)
        slopes, steps = self.accum[place], self.accum_update[place]
        take(slopes, slopes._array * self.rho + gradient * gradient * (1 - self.rho))
        step_by = xp.sqrt(steps._array + self.epsilon) / xp.sqrt(slopes._array + self.epsilon) * gradient
        take(steps, steps._array * self.rho + step_by * step_by * (1 - self.rho))
        return value - rate * step_by


class RMSProp(Optimizer):
    """Hinton 2012: a running mean of the squared gradient, which starts at 1 as in MindSpore.

    Args:
        centered: take the square of the running mean off (Graves 2013).
    """

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(decay, "decay", 0.0)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(epsilon, "epsilon", 0.0, above=True)
        for argument, value in (("use_locking", use_locking), ("centered", centered)):
            if not isinstance(value, bool):
                raise TypeError(f"For 'RMSProp', '{argument}' must be a bool, but got {type(value).__name__}")
        self.decay, self.momentum, self.epsilon, self.centered = decay, momentum, epsilon, centered
        if centered:
            self.mg = self.state_like_parameters("mean_grad")
        self.ms = self.state_like_parameters("mean_square", "ones")
        self.moment = self.state_like_parameters("moment")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        square, moment = self.ms[place], self.moment[place]
        take(square, square._array * self.decay + gradient * gradient * (1 - self.decay))
        under = square._array + self.epsilon
        if self.centered:
            mean = self.mg[place]
            take(mean, mean._array * self.decay + gradient * (1 - self.decay))
            under = under - mean._array * mean._array
        take(moment, moment._array * self.momentum + rate * gradient / array_module(value).sqrt(under))
        return value - moment._array


class FTRL(Optimizer):
    """Follow the regularised leader (McMahan et al. 2013)."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: Any = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(initial_accum, "initial_accum", 0.0)
        self._check_number(l1, "l1", 0.0)
        self._check_number(l2, "l2", 0.0)
        if not isinstance(lr_power, float):
            raise TypeError(f"For 'FTRL', 'lr_power' must be a float, but got {type(lr_power).__name__}")
        if lr_power > 0:
            raise ValueError(f"For 'FTRL', 'lr_power' must be at most 0, but got {lr_power}")
        self.lr_power, self.l1, self.l2 = lr_power, l1, l2
        self.moments = self.state_like_parameters("moments", initial_accum)
        self.linear = self.state_like_parameters("linear")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        xp = array_module(value)
        squares, linear = self.moments[place], self.linear[place]
        total = squares._array + gradient * gradient
        now, before = total**-self.lr_power, squares._array**-self.lr_power
        take(linear, linear._array + gradient - (now - before) / rate * value)
        take(squares, total)
        z = linear._array
        new = (xp.sign(z) * self.l1 - z) / (now / rate + 2 * self.l2)
        return xp.where(xp.abs(z) > self.l1, new, 0)


class ProximalAdagrad(Optimizer):
    """Duchi and Singer 2009: Adagrad's step, then towards 0 by ``l1`` and ``l2``."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for argument, number in (("accum", accum), ("l1", l1), ("l2", l2)):
            self._check_number(number, argument, 0.0)
        self.l1, self.l2 = l1, l2
        self.accum = self.state_like_parameters("accum", accum)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        xp = array_module(value)
        total = self.accum[place]
        take(total, total._array + gradient * gradient)
        rates = rate / xp.sqrt(total._array)
        moved = value - rates * gradient
        if self.l1 > 0:
            moved = xp.sign(moved) * xp.maximum(xp.abs(moved) - rates * self.l1, 0)
        return moved / (1 + rates * self.l2)


class AdaFactor(Optimizer):
    """Shazeer and Stern 2018: the second moment of a matrix kept as those of its rows and columns."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float = 0.9,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        if learning_rate is not None and relative_step:
            raise ValueError("For 'AdaFactor', 'learning_rate' and 'relative_step' cannot both be given")
        if warmup_init and not relative_step:
            raise ValueError("For 'AdaFactor', 'warmup_init' needs 'relative_step'")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        if not isinstance(eps, tuple | list) or len(eps) != 2:
            raise ValueError(f"For 'AdaFactor', 'eps' must be two numbers, but got {eps!r}")
        for argument, number in (("clip_threshold", clip_threshold), ("decay_rate", decay_rate), ("beta1", beta1)):
            self._check_number(number, argument, 0.0)
        if not 0 < decay_rate <= 1 or not 0 <= beta1 < 1:
            raise ValueError(f"For 'AdaFactor', 'decay_rate' {decay_rate} or 'beta1' {beta1} is out of range")
        self.eps, self.clip_threshold, self.decay_rate, self.beta1 = tuple(eps), clip_threshold, decay_rate, beta1
        self.scale_parameter, self.relative_step, self.warmup_init = scale_parameter, relative_step, warmup_init
        self.compression = compression
        self.step = self.scalar_state("afactor_step", 0.0, (1,))
        if beta1 > 0:
            self.exp_avg = self.state_like_parameters("exp_avg")
        rows: list[Parameter] = []
        columns: list[Parameter] = []
        full: list[Parameter] = []
        for p in self.parameters:
            shapes: tuple[Any, ...] = ((1,), (1,), p.shape)
            if p.ndim > 1:
                shapes = (p.shape[:-1], (*p.shape[:-2], p.shape[-1]), (1,))
            for kept, prefix, shape in zip(
                (rows, columns, full), ("exp_avg_sq_row", "exp_avg_sq_col", "exp_avg_sq"), shapes, strict=True
            ):
                first = initializer("zeros", shape, p.dtype)
                kept.append(Parameter(first, f"{prefix}_{p.name}", requires_grad=False))
        self.exp_avg_sq_row, self.exp_avg_sq_col = ParameterTuple(rows), ParameterTuple(columns)
        self.exp_avg_sq = ParameterTuple(full)

    def before_step(self, step: int) -> None:
        take(self.step, np.asarray([step], np.float32))

    def _prepared(self, place: int, value: Any, g: Any, decay: float) -> Any:
        return (g / self.loss_scale if self.loss_scale != 1.0 else g).astype(value.dtype, copy=False)

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        xp = array_module(value)
        if self.relative_step:
            rate = min(1e-6 * step if self.warmup_init else 1e-2, 1 / math.sqrt(step))
        if self.scale_parameter:
            rate *= max(self.eps[1], float(xp.sqrt((value * value).mean())))
        beta2 = 1 - step**-self.decay_rate
        squares = gradient * gradient + self.eps[0]
        if value.ndim > 1:
            rows, columns = self.exp_avg_sq_row[place], self.exp_avg_sq_col[place]
            take(rows, rows._array * beta2 + squares.mean(axis=-1) * (1 - beta2))
            take(columns, columns._array * beta2 + squares.mean(axis=-2) * (1 - beta2))
            r = rows._array / rows._array.mean(axis=-1, keepdims=True)
            step_by = gradient / xp.sqrt(r[..., None] * columns._array[..., None, :])
        else:
            kept = self.exp_avg_sq[place]
            take(kept, kept._array * beta2 + squares * (1 - beta2))
            step_by = gradient / xp.sqrt(kept._array)
        step_by = step_by / max(1.0, float(xp.sqrt((step_by * step_by).mean())) / self.clip_threshold) * rate
        if self.beta1 > 0:
            mean = self.exp_avg[place]
            take(mean, mean._array * self.beta1 + step_by * (1 - self.beta1))
            step_by = mean._array
        decay = float(self.weight_decay) if not callable(self.weight_decay) else 0.0
        return value - step_by - value * (decay * rate)
