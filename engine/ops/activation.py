"""Activation functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cpu import fused
from ..dtype import numpy_dtype
from ..operator import Operator
from ..tensor import Tensor
from .arithmetic import _as, _unary, clamp, exp, maximum, mul, where
from .reduction import axes_of
from .shape import _check

__all__ = [
    "elu", "gelu", "hardsigmoid", "hardswish", "leaky_relu", "log_softmax", "relu", "relu6", "sigmoid", "silu",
    "softmax", "softplus", "swish", "tanh",
]  # fmt: skip

relu_operator = _unary("relu", fused.relu, lambda F, g, out, x: F.relu_grad(g, out), "max(x, 0).")
_relu_grad = Operator("relu_grad", fused.relu_grad, (lambda F, gg, out, g, y: F.relu_grad(gg, y), None))
sigmoid = _unary(
    "sigmoid",
    fused.sigmoid,
    lambda F, g, out, x: F.sigmoid_grad(g, out),
    "1 / (1 + exp(-x)).",
    integers_to_float=True,
)
_sigmoid_grad = Operator(
    "sigmoid_grad",
    fused.sigmoid_grad,
    (lambda F, gg, out, g, y: F.sigmoid_grad(gg, y), lambda F, gg, out, g, y: gg * g * (1 - y * 2)),
)
tanh = _unary(
    "tanh",
    np.tanh,
    lambda F, g, out, x: F.tanh_grad(g, out),
    "The hyperbolic tangent.",
    integers_to_float=True,
)
_tanh_grad = Operator(
    "tanh_grad",
    fused.tanh_grad,
    (lambda F, gg, out, g, y: F.tanh_grad(gg, y), lambda F, gg, out, g, y: gg * g * y * -2.0),
)
silu = _unary("silu", fused.silu, lambda F, g, out, x: F.silu_grad(g, x), "x * sigmoid(x).")


def _silu_slope_rule(F: Any, gg: Any, out: Any, g: Any, x: Any) -> Any:
    s = F.sigmoid(x)
    return gg * g * s * (1 - s) * (x * (1 - s * 2) + 2)


_silu_grad = Operator("silu_grad", fused.silu_grad, (lambda F, gg, out, g, x: F.silu_grad(gg, x), _silu_slope_rule))
_gelu = Operator("gelu", fused.gelu, (lambda F, g, out, x, approximate: F.gelu_grad(g, x, approximate=approximate),))


def _gelu_slope_rule(F: Any, gg: Any, out: Any, g: Any, x: Any, approximate: str) -> Any:
    """The second derivative of gelu: of x * cdf(x), or of its tanh form (Hendrycks and Gimpel 2016)."""
    if approximate == "tanh":
        k, c = float(np.sqrt(2 / np.pi)), 0.044715
        t = F.tanh((x + x * x * x * c) * k)
        slope = (x * x * (3 * c) + 1) * k
        return gg * g * (1 - t * t) * (slope + x * (3 * c * k) * x - x * t * slope * slope)
    density = F.exp(x * x * -0.5) * float(1 / np.sqrt(2 * np.pi))
    return gg * g * density * (2 - x * x)


_gelu_grad = Operator(
    "gelu_grad",
    fused.gelu_grad,
    (lambda F, gg, out, g, x, approximate: F.gelu_grad(gg, x, approximate=approximate), _gelu_slope_rule),
)
_softmax = Operator("softmax", fused.softmax, (lambda F, g, out, x, axis: F.softmax_grad(g, out, axis=axis),))


def _softmax_output_rule(F: Any, gg: Any, out: Any, g: Any, y: Any, axis: int) -> Any:
    inner = F.sum(g * y, axis=(axis,), keepdims=True)
    return gg * g - gg * inner - g * F.sum(gg * y, axis=(axis,), keepdims=True)


_softmax_grad = Operator(
    "softmax_grad",
    fused.softmax_grad,
    (lambda F, gg, out, g, y, axis: F.softmax_grad(gg, y, axis=axis), _softmax_output_rule),
)
_log_softmax = Operator(
    "log_softmax", fused.log_softmax, (lambda F, g, out, x, axis: F.log_softmax_grad(g, out, axis=axis),)
)


def _log_softmax_output_rule(F: Any, gg: Any, out: Any, g: Any, y: Any, axis: int) -> Any:
    return -(gg * F.exp(y) * F.sum(g, axis=(axis,), keepdims=True))


_log_softmax_grad = Operator(
    "log_softmax_grad",
    fused.log_softmax_grad,
    (
        lambda F, gg, out, g, y, axis: gg - F.sum(gg * F.exp(y), axis=(axis,), keepdims=True),
        _log_softmax_output_rule,
    ),
)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0); NaN stays NaN. ``inplace`` also rebinds ``input`` to the result."""
    result: Tensor = relu_operator(_check(input, "relu"))
    if inplace:
        input._rebind(result._array)
    return result


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """The Gaussian error linear unit, by erf ("none") or its tanh form ("tanh").

    Raises:
        ValueError: another ``approximate``.
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"For 'gelu', 'approximate' must be 'none' or 'tanh', but got {approximate!r}")
    return _gelu(_check(input, "gelu"), approximate=approximate)  # type: ignore[no-any-return]


swish = silu


def softmax(input: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """exp(input) / sum(exp(input)) along ``axis``."""
    x = _check(input, "softmax") if dtype is None else _as(input, numpy_dtype(dtype))
    return _softmax(x, axis=_one_axis(axis, x, "softmax"))  # type: ignore[no-any-return]


def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """log(softmax(logits)) along ``axis``, without overflow."""
    return _log_softmax(_check(logits, "log_softmax", "logits"), axis=_one_axis(axis, logits, "log_softmax"))  # type: ignore[no-any-return]


def _one_axis(axis: int, x: Tensor, name: str) -> int:
    found = axes_of(axis, x.ndim, name)
    return (found or (0,))[0]


def leaky_relu(input: Tensor, alpha: float = 0.2) -> Tensor:
    """input where it is positive, alpha * input elsewhere."""
    return where(input > 0, input, mul(input, alpha))


def elu(input_x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    below = where(input_x > 0, 0.0, input_x)
    return where(input_x > 0, input_x, mul(exp(below) - 1.0, alpha))


def relu6(x: Tensor) -> Tensor:
    """min(max(x, 0), 6)."""
    return clamp(relu(x), max=6)


def hardsigmoid(input: Tensor) -> Tensor:
    """min(max((x + 3) / 6, 0), 1)."""
    return clamp(input / 6.0 + 0.5, 0.0, 1.0)


def hardswish(input: Tensor) -> Tensor:
    """x * hardsigmoid(x)."""
    return mul(input, hardsigmoid(input))  # type: ignore[no-any-return]


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above ``threshold``."""
    from .arithmetic import abs as absolute
    from .arithmetic import log1p

    scaled = mul(input, beta)
    soft = (log1p(exp(-absolute(scaled))) + maximum(scaled, 0.0)) / beta
    return where(scaled > threshold, input, soft)
