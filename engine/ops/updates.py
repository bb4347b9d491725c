"""Primitive classes that are an optimizer's update of one parameter: ``Adam``, ``ApplyFtrl``, ``SGD``, ...

Each gives an update rule of ``cpu.updates`` MindSpore's order of inputs: the parameter and its state come first and are
given their new values; the rest are numbers and the gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.operator import Operator
from ..core.recording import no_recording
from ..core.surfaces import PrimitiveRow, declare, prim
from ..core.tensor import Tensor
from ..cpu import fused
from ..cpu import updates as rules
from ..cpu.array_module import array_module

__all__: list[str] = []

Formula = Callable[..., tuple[Any, ...]]

adam = Operator("adam", fused.adam)
"""A step of Adam on arrays, for the optimizers; where it can, by its Triton kernel."""


def _update(
    settings: PrimitiveRow, *held: int, only_parameter: bool = False
) -> Callable[[Formula], Callable[..., Any]]:
    """Declare the Primitive of a formula.

    Args:
        settings: the row of the class.
        held: the places of the inputs that are given new values; the formula gives these in the same order.
        only_parameter: return the parameter alone, not all that got new values.
    """
    name = settings.name

    def declared(formula: Formula) -> Callable[..., Any]:
        @declare(primitive=settings)
        @functools.wraps(formula)
        def run(*inputs: Any, **attrs: Any) -> Any:
            for place in held:
                if place >= len(inputs) or not isinstance(inputs[place], Tensor):
                    kind = type(inputs[place]).__name__ if place < len(inputs) else "nothing"
                    raise TypeError(f"For '{name}', input {place} must be a Parameter or a Tensor, but got {kind}")
            kept = tuple(inputs[place] for place in held)
            given = [x._array if isinstance(x, Tensor) else x for x in inputs]
            with no_recording():
                new = [
                    array_module(one._array).asarray(array, dtype=one._array.dtype)
                    for one, array in zip(kept, formula(*given, **attrs), strict=True)
                ]
                for place, one, array in zip(held, kept, new, strict=True):
                    if array.size != one.size:
                        raise ValueError(
                            f"For '{name}', input {place} has the shape {one.shape}, but with the other inputs "
                            f"its new value would have {array.shape}"
                        )
                for one, array in zip(kept, new, strict=True):
                    one._rebind(array.reshape(one.shape))
            return kept[0] if only_parameter or len(kept) == 1 else kept

        return run

    return declared


@_update(prim("Adam", use_locking=False, use_nesterov=False), 0, 1, 2)
def _adam(
    p: Any, m: Any, v: Any, power1: Any, power2: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any,
    use_nesterov: bool, **_: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """p - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + eps)."""
    return fused.adam(p, m, v, g, rules.corrected_rate(lr, power1, power2), beta1, beta2, eps, use_nesterov)


@_update(prim("AdamWeightDecay", use_locking=False), 0, 1, 2)
def _adam_weight_decay(
    p: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, decay: Any, g: Any, **_: Any
) -> tuple[Any, ...]:
    """p - lr * (m / (sqrt(v) + eps) + decay * p)."""
    return rules.adam_weight_decay(p, m, v, g, lr, beta1, beta2, eps, decay)


@_update(prim("ApplyAdaMax"), 0, 1, 2)
def _ada_max(p: Any, m: Any, v: Any, power1: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any) -> tuple[Any, ...]:
    """p - lr / (1 - beta1_power) * m / (v + eps), v the largest gradient."""
    return rules.adamax(p, m, v, g, lr, power1, beta1, beta2, eps)


@_update(prim("ApplyAdamWithAmsgrad", beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False), 0, 1, 2, 3)
def _amsgrad(
    p: Any, m: Any, v: Any, largest: Any, power1: Any, power2: Any, lr: Any, g: Any,
    beta1: float, beta2: float, epsilon: float, **_: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Adam that divides by the largest v so far."""
    return rules.amsgrad(p, m, v, largest, g, rules.corrected_rate(lr, power1, power2), beta1, beta2, epsilon)


@_update(prim("ApplyAdamWithAmsgradV2", use_locking=False), 0, 1, 2, 3)
def _amsgrad_v2(
    p: Any, m: Any, v: Any, largest: Any, power1: Any, power2: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any,
    **_: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Adam that divides by the largest v so far."""
    return rules.amsgrad(p, m, v, largest, g, rules.corrected_rate(lr, power1, power2), beta1, beta2, eps)


@_update(prim("ApplyAdadelta"), 0, 1, 2)
def _adadelta(p: Any, squares: Any, steps: Any, lr: Any, rho: Any, eps: Any, g: Any) -> tuple[Any, ...]:
    """Zeiler 2012."""
    return rules.adadelta(p, squares, steps, g, lr, rho, eps)


@_update(prim("ApplyAdagrad", update_slots=True), 0, 1)
def _adagrad(p: Any, squares: Any, lr: Any, g: Any, update_slots: bool) -> tuple[Any, ...]:
    """p - lr * g / sqrt(accum)."""
    return rules.adagrad(p, squares, g, lr, 0.0, update_slots)


@_update(prim("ApplyAdagradV2", epsilon=1e-6, update_slots=True), 0, 1)
def _adagrad_v2(p: Any, squares: Any, lr: Any, g: Any, epsilon: float, update_slots: bool) -> tuple[Any, ...]:
    """p - lr * g / (sqrt(accum) + epsilon)."""
    return rules.adagrad(p, squares, g, lr, epsilon, update_slots)


@_update(prim("ApplyAddSign"), 0, 1)
def _add_sign(p: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, g: Any) -> tuple[Any, ...]:
    """Bello et al. 2017: a gradient with the sign of its average counts more."""
    return rules.add_sign(p, m, g, lr, alpha, sign_decay, beta)


@_update(prim("ApplyPowerSign"), 0, 1)
def _power_sign(p: Any, m: Any, lr: Any, base: Any, sign_decay: Any, beta: Any, g: Any) -> tuple[Any, ...]:
    """Bello et al. 2017: a gradient with the sign of its average counts more, exponentially."""
    return rules.power_sign(p, m, g, lr, base, sign_decay, beta)


@_update(prim("ApplyFtrl", use_locking=False), 0, 1, 2)
def _ftrl(p: Any, squares: Any, linear: Any, g: Any, lr: Any, l1: Any, l2: Any, power: Any, **_: Any) -> Any:
    """McMahan et al. 2013."""
    return rules.ftrl(p, squares, linear, g, lr, l1, l2, power)


@_update(prim("ApplyGradientDescent"), 0)
def _descent(p: Any, alpha: Any, delta: Any) -> tuple[Any, ...]:
    """p - alpha * delta."""
    return (rules.descent(p, delta, alpha),)


@_update(prim("ApplyProximalGradientDescent"), 0)
def _proximal(p: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> tuple[Any, ...]:
    """Gradient descent, then shrunk by l1 and l2."""
    return (rules.proximal_descent(p, delta, alpha, l1, l2),)


@_update(prim("ApplyProximalAdagrad", use_locking=False), 0, 1)
def _proximal_adagrad(p: Any, squares: Any, lr: Any, l1: Any, l2: Any, g: Any, **_: Any) -> tuple[Any, ...]:
    """Adagrad, then shrunk by l1 and l2 (Duchi and Singer 2009)."""
    return rules.proximal_adagrad(p, squares, g, lr, l1, l2)


@_update(prim("ApplyCenteredRMSProp", use_locking=False), 0, 1, 2, 3)
def _centered_rms(
    p: Any, mean: Any, squares: Any, moved: Any, g: Any, lr: Any, decay: Any, momentum: Any, eps: Any, **_: Any
) -> tuple[Any, ...]:
    """ApplyRMSProp with the variance of the gradient in the place of its square."""
    return rules.rmsprop(p, mean, squares, moved, g, lr, decay, momentum, eps)


@_update(prim("ApplyRMSProp", use_locking=False), 0, 1, 2)
def _rms(p: Any, squares: Any, moved: Any, lr: Any, g: Any, decay: Any, momentum: Any, eps: Any, **_: Any) -> Any:
    """The moment becomes momentum * moment + lr * g / sqrt(v + eps), and is taken from p."""
    p, _none, squares, moved = rules.rmsprop(p, None, squares, moved, g, lr, decay, momentum, eps)
    return p, squares, moved


@_update(prim("ApplyKerasMomentum", use_locking=False, use_nesterov=False), 0, 1)
def _keras_momentum(p: Any, kept: Any, lr: Any, g: Any, momentum: Any, use_nesterov: bool, **_: Any) -> tuple[Any, ...]:
    """The sum becomes momentum * sum - lr * g, and is added to p."""
    return rules.keras_momentum(p, kept, g, lr, momentum, use_nesterov)


@_update(prim("ApplyMomentum", use_nesterov=False, use_locking=False, gradient_scale=1.0), 0, 1, only_parameter=True)
def _momentum(
    p: Any, kept: Any, lr: Any, g: Any, momentum: Any, use_nesterov: bool, gradient_scale: float, **_: Any
) -> tuple[Any, ...]:
    """The sum becomes momentum * sum + g, and lr times it is taken from p."""
    return rules.momentum(p, kept, g * gradient_scale, lr, momentum, use_nesterov)


@_update(prim("SGD", dampening=0.0, weight_decay=0.0, nesterov=False), 0, 3, 5, only_parameter=True)
def _sgd(
    p: Any, g: Any, lr: Any, kept: Any, momentum: Any, first: Any, dampening: float, weight_decay: float, nesterov: bool
) -> tuple[Any, ...]:
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v; ``stat`` is 1 before the first step."""
    xp = array_module(p)
    if weight_decay:
        g = g + weight_decay * p
    if (xp.asarray(momentum) <= 0).all():
        return rules.descent(p, g, lr), kept, first
    return *rules.sgd(p, kept, g, lr, momentum, dampening, nesterov, first > 0), xp.zeros_like(first)
