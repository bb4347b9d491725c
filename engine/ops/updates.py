"""Primitive classes that are an optimizer's update of one parameter: ``Adam``, ``ApplyFtrl``, ``SGD``, ...

Each is a formula on arrays: the parameter and its state come first and are given their new values; the rest are numbers
and the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cpu.array_module import array_module
from ..recording import no_recording
from ..tensor import Tensor

__all__ = ["ROWS"]


def _update(name: str, held: int, formula: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
    """A class of the formula, whose first ``held`` inputs are parameters; MindSpore returns these."""

    def run(*inputs: Any, **settings: Any) -> Any:
        for place in range(held):
            if place >= len(inputs) or not isinstance(inputs[place], Tensor):
                kind = type(inputs[place]).__name__ if place < len(inputs) else "nothing"
                raise TypeError(f"For '{name}', input {place} must be a Parameter or a Tensor, but got {kind}")
        given = [x._array if isinstance(x, Tensor) else x for x in inputs]
        with no_recording():
            for one, new in zip(inputs, formula(*given, **settings), strict=False):
                held_array = one._array
                one._rebind(array_module(held_array).asarray(new, dtype=held_array.dtype))
        return inputs[0] if held == 1 else tuple(inputs[:held])

    run.__doc__ = formula.__doc__
    return run


def _adam(
    p: Any, m: Any, v: Any, power1: Any, power2: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any,
    use_nesterov: bool, **_: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """p - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + eps)."""
    m, v = m * beta1 + g * (1 - beta1), v * beta2 + g * g * (1 - beta2)
    rate = lr * (1 - power2) ** 0.5 / (1 - power1)
    return p - rate * (m * beta1 + g * (1 - beta1) if use_nesterov else m) / (v**0.5 + eps), m, v


def _adam_weight_decay(
    p: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, decay: Any, g: Any, **_: Any
) -> tuple[Any, ...]:
    """p - lr * (m / (sqrt(v) + eps) + decay * p)."""
    m, v = m * beta1 + g * (1 - beta1), v * beta2 + g * g * (1 - beta2)
    return p - lr * (m / (v**0.5 + eps) + decay * p), m, v


def _ada_max(p: Any, m: Any, v: Any, power1: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any) -> tuple[Any, ...]:
    """p - lr / (1 - beta1_power) * m / (v + eps), v the largest gradient."""
    xp = array_module(p)
    m, v = m * beta1 + g * (1 - beta1), xp.maximum(v * beta2, abs(g))
    return p - lr / (1 - power1) * m / (v + eps), m, v


def _amsgrad(
    p: Any, m: Any, v: Any, most: Any, power1: Any, power2: Any, lr: Any, *rest: Any, **how: Any
) -> tuple[Any, ...]:
    """Adam that divides by the largest v so far."""
    beta1, beta2, eps, g = rest if len(rest) == 4 else (how["beta1"], how["beta2"], how["epsilon"], *rest)
    m, v = m * beta1 + g * (1 - beta1), v * beta2 + g * g * (1 - beta2)
    most = array_module(p).maximum(most, v)
    return p - lr * (1 - power2) ** 0.5 / (1 - power1) * m / (most**0.5 + eps), m, v, most


def _adadelta(p: Any, squares: Any, steps: Any, lr: Any, rho: Any, eps: Any, g: Any) -> tuple[Any, ...]:
    """Zeiler 2012."""
    squares = squares * rho + g * g * (1 - rho)
    by = ((steps + eps) / (squares + eps)) ** 0.5 * g
    return p - lr * by, squares, steps * rho + by * by * (1 - rho)


def _adagrad(p: Any, squares: Any, lr: Any, g: Any, update_slots: bool, epsilon: Any = 0.0) -> tuple[Any, ...]:
    """p - lr * g / (sqrt(accum) + epsilon)."""
    squares = squares + g * g if update_slots else squares
    return p - lr * g / (squares**0.5 + epsilon), squares


def _sign(power: bool) -> Callable[..., tuple[Any, ...]]:
    def formula(p: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, g: Any) -> tuple[Any, ...]:
        """Bello et al. 2017: a gradient with the sign of its average counts more."""
        xp = array_module(p)
        m = m * beta + g * (1 - beta)
        agree = sign_decay * xp.sign(g) * xp.sign(m)
        return p - lr * (xp.exp(alpha * agree) if power else alpha + agree) * g, m

    return formula


def _rms(p: Any, squares: Any, moved: Any, lr: Any, g: Any, decay: Any, momentum: Any, eps: Any, **_: Any) -> Any:
    """The moment becomes momentum * moment + lr * g / sqrt(v + eps), and is taken from p."""
    squares = squares * decay + g * g * (1 - decay)
    moved = moved * momentum + lr * g / (squares + eps) ** 0.5
    return p - moved, squares, moved


def _centered_rms(
    p: Any, mean: Any, squares: Any, moved: Any, g: Any, lr: Any, decay: Any, momentum: Any, eps: Any, **_: Any
) -> tuple[Any, ...]:
    """The same with the variance of the gradient in the place of its square."""
    mean, squares = mean * decay + g * (1 - decay), squares * decay + g * g * (1 - decay)
    moved = moved * momentum + lr * g / (squares - mean * mean + eps) ** 0.5
    return p - moved, mean, squares, moved


def _ftrl(p: Any, squares: Any, linear: Any, g: Any, lr: Any, l1: Any, l2: Any, power: Any, **_: Any) -> Any:
    """McMahan et al. 2013."""
    xp = array_module(p)
    new = squares + g * g
    linear = linear + g - (new**-power - squares**-power) / lr * p
    found = (xp.sign(linear) * l1 - linear) / (new**-power / lr + 2 * l2)
    return xp.where(abs(linear) > l1, found, 0), new, linear


def _shrunk(p: Any, rate: Any, l1: Any, l2: Any) -> Any:
    xp = array_module(p)
    return xp.sign(p) * xp.maximum(abs(p) - rate * l1, 0) / (1 + rate * l2)


def _proximal_adagrad(p: Any, squares: Any, lr: Any, l1: Any, l2: Any, g: Any, **_: Any) -> tuple[Any, ...]:
    """Adagrad, then shrunk by l1 and l2 (Duchi and Singer 2009)."""
    squares = squares + g * g
    rate = lr / squares**0.5
    return _shrunk(p - rate * g, rate, l1, l2), squares


def _proximal(p: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> tuple[Any, ...]:
    """Gradient descent, then shrunk by l1 and l2."""
    return (_shrunk(p - alpha * delta, alpha, l1, l2),)


def _descent(p: Any, alpha: Any, delta: Any) -> tuple[Any, ...]:
    """p - alpha * delta."""
    return (p - alpha * delta,)


def _keras_momentum(p: Any, kept: Any, lr: Any, g: Any, momentum: Any, use_nesterov: bool, **_: Any) -> tuple[Any, ...]:
    """The sum becomes momentum * sum - lr * g, and is added to p."""
    kept = kept * momentum - lr * g
    return p + (kept * momentum - lr * g if use_nesterov else kept), kept


def _momentum(
    p: Any, kept: Any, lr: Any, g: Any, momentum: Any, use_nesterov: bool, gradient_scale: float, **_: Any
) -> tuple[Any, ...]:
    """The sum becomes momentum * sum + g, and lr * sum is taken from p."""
    g = g * gradient_scale
    kept = kept * momentum + g
    return p - (g + kept * momentum if use_nesterov else kept) * lr, kept


def _momentum_run(*inputs: Any, **how: Any) -> Any:
    """accum = momentum * accum + grad; p = p - lr * accum; the parameter."""
    return _update("ApplyMomentum", 2, _momentum)(*inputs, **how)[0]


def _sgd(
    p: Any, g: Any, lr: Any, kept: Any, momentum: Any, first: Any, dampening: float, weight_decay: float, nesterov: bool
) -> tuple[Any, ...]:
    """The parameter, and the new sum and state, which stand at places 3 and 5."""
    g = g + weight_decay * p if weight_decay else g
    xp = array_module(p)
    if (xp.asarray(momentum) <= 0).all():
        return p - lr * g, kept, first
    kept = xp.where(first > 0, g, kept * momentum + g * (1 - dampening))
    return p - lr * (g + kept * momentum if nesterov else kept), kept, xp.zeros_like(first)


def _sgd_run(p: Tensor, g: Tensor, lr: Any, kept: Tensor, momentum: Any, first: Tensor, **how: Any) -> Any:
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v; ``stat`` is 1 before the first step."""

    def formula(p: Any, kept: Any, first: Any, g: Any, lr: Any, momentum: Any) -> tuple[Any, ...]:
        return _sgd(p, g, lr, kept, momentum, first, **how)

    return _update("SGD", 3, formula)(p, kept, first, g, lr, momentum)[0]


_LOCKING = (("use_locking", False),)
_NESTEROV = (*_LOCKING, ("use_nesterov", False))
_HELD: tuple[tuple[str, int, Any, tuple[tuple[str, Any], ...]], ...] = (
    ("Adam", 3, _adam, _NESTEROV),
    ("AdamWeightDecay", 3, _adam_weight_decay, _LOCKING),
    ("ApplyAdaMax", 3, _ada_max, ()),
    ("ApplyAdadelta", 3, _adadelta, ()),
    ("ApplyAdagrad", 2, _adagrad, (("update_slots", True),)),
    ("ApplyAdagradV2", 2, _adagrad, (("epsilon", 1e-6), ("update_slots", True))),
    ("ApplyAdamWithAmsgrad", 4, _amsgrad, (("beta1", 0.9), ("beta2", 0.999), ("epsilon", 1e-8), *_LOCKING)),
    ("ApplyAdamWithAmsgradV2", 4, _amsgrad, _LOCKING),
    ("ApplyAddSign", 2, _sign(False), ()),
    ("ApplyFtrl", 3, _ftrl, _LOCKING),
    ("ApplyGradientDescent", 1, _descent, ()),
    ("ApplyKerasMomentum", 2, _keras_momentum, _NESTEROV),
    ("ApplyPowerSign", 2, _sign(True), ()),
    ("ApplyProximalAdagrad", 2, _proximal_adagrad, _LOCKING),
    ("ApplyProximalGradientDescent", 1, _proximal, ()),
    ("ApplyCenteredRMSProp", 4, _centered_rms, _LOCKING),
    ("ApplyRMSProp", 3, _rms, _LOCKING),
)
ROWS: tuple[tuple[str, Callable[..., Any], tuple[tuple[str, Any], ...]], ...] = (
    *((name, _update(name, held, formula), settings) for name, held, formula, settings in _HELD),
    ("ApplyMomentum", _momentum_run, (("use_nesterov", False), *_LOCKING, ("gradient_scale", 1.0))),
    ("SGD", _sgd_run, (("dampening", 0.0), ("weight_decay", 0.0), ("nesterov", False))),
)
