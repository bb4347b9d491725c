"""Optimizers: called with the gradients, they change the parameters.

An update makes new arrays and rebinds the parameters to them, so that a value somebody captured before stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..cpu import fused
from ..cpu.array_module import array_module
from ..initializer import initializer
from ..operator import Operator
from ..parameter import Parameter, ParameterTuple
from ..recording import no_recording
from ..tensor import Tensor
from .cell import Cell

__all__ = ["SGD", "Adam", "AdamWeightDecay", "Momentum", "Optimizer"]

_adam = Operator("adam", fused.adam)


class Optimizer(Cell):
    """Base of the optimizers.

    Args:
        learning_rate: a number.
        parameters: the parameters to change; names must differ.
        weight_decay: a multiple of the parameter that is added to its gradient.
        loss_scale: the gradients are divided by it.

    Raises:
        TypeError: something else than parameters, or a number of the wrong kind.
        ValueError: no parameters, a negative number, or a name twice.
    """

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: float = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        given = _parameters_of(parameters, name)
        self.parameters = ParameterTuple(given)
        self._check_number(learning_rate, "learning_rate", 0.0)
        self._check_number(weight_decay, "weight_decay", 0.0)
        self._check_number(loss_scale, "loss_scale", 0.0, above=True)
        self.global_step = Parameter(Tensor(np.zeros(1, np.int32)), "global_step", requires_grad=False)
        self.learning_rate = Parameter(Tensor(np.float32(_float(learning_rate))), "learning_rate", requires_grad=False)
        self.weight_decay = float(weight_decay)
        self.loss_scale = float(loss_scale)

    def _check_number(self, value: Any, argument: str, least: float, above: bool = False) -> None:
        name = type(self).__name__
        if isinstance(value, bool) or not isinstance(value, int | float | Tensor):
            raise TypeError(f"For '{name}', '{argument}' must be a number, but got {type(value).__name__}")
        number = _float(value)
        if number < least or (above and number == least):
            raise ValueError(
                f"For '{name}', '{argument}' must be {'above' if above else 'at least'} {least}, but got {value}"
            )

    def _check_adam(self, beta1: float, beta2: float, eps: float) -> None:
        for argument, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0 < beta < 1:
                raise ValueError(f"For '{type(self).__name__}', '{argument}' must be between 0 and 1, but got {beta}")
        self._check_number(eps, "eps", 0.0, above=True)

    def construct(self, gradients: Sequence[Tensor]) -> bool:
        """Change the parameters by their gradients, given in the same order.

        Raises:
            ValueError: another number of gradients, or one of another shape.
        """
        name = type(self).__name__
        given = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
        if len(given) != len(self.parameters):
            raise ValueError(
                f"For '{name}', there must be one gradient for each of the {len(self.parameters)} parameters, "
                f"but got {len(given)}"
            )
        for parameter, gradient in zip(self.parameters, given, strict=True):
            if gradient.shape != parameter.shape:
                raise ValueError(
                    f"For '{name}', the gradient of '{parameter.name}' must have the shape {parameter.shape}, "
                    f"but got {gradient.shape}"
                )
        with no_recording(), np.errstate(all="ignore"):
            step = int(self.global_step._array[0]) + 1
            rate = float(self.learning_rate._array)
            self.before_step(step)
            for place, (parameter, gradient) in enumerate(zip(self.parameters, given, strict=True)):
                g = gradient._array
                if self.loss_scale != 1.0:
                    g = g / self.loss_scale
                if self.weight_decay and self.decays(parameter):
                    g = g + parameter._array * self.weight_decay
                new = self.updated(place, parameter._array, g.astype(parameter._array.dtype, copy=False), rate, step)
                _take(parameter, new)
            self.global_step._rebind(self.global_step._array + np.int32(1))
        return True

    def decays(self, parameter: Parameter) -> bool:
        """Whether weight decay is for this parameter: not for batch norm's gamma and beta nor for biases."""
        return all(part not in parameter.name for part in ("beta", "gamma", "bias"))

    def before_step(self, step: int) -> None:
        """What is done once before the parameters are changed."""

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        """The parameter's new array; ``place`` is its place among the parameters."""
        raise NotImplementedError(f"{type(self).__name__} does not define 'updated'")

    def get_lr(self) -> Tensor:
        """The learning rate now."""
        return Tensor(self.learning_rate)

    def _like_parameters(self, prefix: str, init: Any = "zeros") -> ParameterTuple:
        made = [
            Parameter(initializer(init, p.shape, p.dtype), f"{prefix}.{p.name}", requires_grad=False)
            for p in self.parameters
        ]
        return ParameterTuple(made)


def _take(parameter: Parameter, new: Any) -> None:
    """Rebind to a new array in the parameter's dtype: beside a Python number NumPy widens bfloat16."""
    parameter._rebind(new.astype(parameter._array.dtype, copy=False))


def _float(number: Any) -> float:
    return float(number.item()) if isinstance(number, Tensor) else float(number)


def _parameters_of(parameters: Any, name: str) -> list[Parameter]:
    if isinstance(parameters, Parameter) or not isinstance(parameters, Iterable):
        raise TypeError(
            f"For '{name}', the parameters must be a list such as net.trainable_params(), "
            f"but got {type(parameters).__name__}"
        )
    given = list(parameters)
    if not given:
        raise ValueError(f"For '{name}', the list of parameters is empty: there is nothing to train")
    seen: set[str] = set()
    for place, one in enumerate(given):
        if not isinstance(one, Parameter):
            raise TypeError(
                f"For '{name}', entry {place} of the parameters must be a Parameter, but got {type(one).__name__}"
            )
        if one.name in seen:
            raise ValueError(f"For '{name}', two parameters are named '{one.name}': names must differ")
        seen.add(one.name)
    return given


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v (Sutskever et al. 2013); p - lr * g without momentum."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(dampening, "dampening", 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        self.momentum, self.dampening, self.nesterov = float(momentum), float(dampening), nesterov
        self.accum = self._like_parameters("accum")

    def decays(self, parameter: Parameter) -> bool:
        """MindSpore's SGD decays every parameter."""
        return True

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        if self.momentum:
            kept = self.accum[place]
            first = step == 1
            new = gradient if first else kept._array * self.momentum + gradient * (1 - self.dampening)
            _take(kept, new + 0 if first else new)
            gradient = gradient + new * self.momentum if self.nesterov else new
        return value - gradient * rate


class Momentum(Optimizer):
    """v = momentum * v + g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        momentum: float,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(momentum, "momentum", 0.0)
        self.momentum = Parameter(Tensor(np.float32(momentum)), "momentum", requires_grad=False)
        self.use_nesterov = use_nesterov
        self.moments = self._like_parameters("moments")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        momentum = float(self.momentum._array)
        kept = self.moments[place]
        moment = kept._array * momentum
        moment += gradient
        _take(kept, moment)
        step_by = gradient + kept._array * momentum if self.use_nesterov else kept._array
        return value - step_by * rate


class Adam(Optimizer):
    """Kingma and Ba 2015, in the form that corrects the learning rate:
    lr_t = lr * sqrt(1 - beta2**t) / (1 - beta1**t); p = p - lr_t * m / (sqrt(v) + eps)."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps, self.use_nesterov = beta1, beta2, eps, use_nesterov
        self.beta1_power = Parameter(Tensor(np.float32(1.0)), "beta1_power", requires_grad=False)
        self.beta2_power = Parameter(Tensor(np.float32(1.0)), "beta2_power", requires_grad=False)
        self.moment1 = self._like_parameters("moment1")
        self.moment2 = self._like_parameters("moment2")

    def before_step(self, step: int) -> None:
        for power, beta in ((self.beta1_power, self.beta1), (self.beta2_power, self.beta2)):
            xp = array_module(power._array)
            power._rebind(xp.asarray(power._array * np.float32(beta)))

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        corrected = rate * math.sqrt(1 - self.beta2**step) / (1 - self.beta1**step)
        m, v = self.moment1[place], self.moment2[place]
        new, new_m, new_v = _adam.on_arrays(
            value, m._array, v._array, gradient,
            lr_t=corrected, beta1=self.beta1, beta2=self.beta2, eps=self.eps, use_nesterov=self.use_nesterov,
        )  # fmt: skip
        m._rebind(new_m)
        v._rebind(new_v)
        return new


class AdamWeightDecay(Optimizer):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019); as in MindSpore without bias correction."""

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, params)
        self._check_adam(beta1, beta2, eps)
        self._check_number(weight_decay, "weight_decay", 0.0)
        self.beta1, self.beta2, self.eps, self.decay = beta1, beta2, eps, float(weight_decay)
        self.moments1 = self._like_parameters("adam_m")
        self.moments2 = self._like_parameters("adam_v")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        m, v = self.moments1[place], self.moments2[place]
        _take(m, m._array * self.beta1 + gradient * (1 - self.beta1))
        _take(v, v._array * self.beta2 + gradient * gradient * (1 - self.beta2))
        step_by = m._array / (v._array**0.5 + self.eps)
        if self.decay and self.decays(self.parameters[place]):
            step_by = step_by + value * self.decay
        return value - step_by * rate
