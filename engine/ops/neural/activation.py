"""Activation functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_not_negative, check_number, check_one_of, check_real
from ...base.surfaces import REQUIRED, declare, prim, renamed
from ...base.types import DTypeLike, Functions, Value
from ...cpu.neural import activation as activation_kernels
from ...cpu.neural import softmax as softmax_kernels
from ...tensors.backend import to_device
from ...tensors.dtype import numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import axes_of, check_axes, check_tensor
from ..elementwise.arithmetic import abs as absolute
from ..elementwise.arithmetic import clamp, div, maximum, minimum, mul, sub
from ..elementwise.comparison import isnan, where
from ..elementwise.exponentials import exp, expm1, log1p
from ..random.drawing import uniform_numbers
from ..shapes.broadcasting import as_dtype, as_floats, as_single, through_single, unary
from ..shapes.concatenation import split
from ..shapes.copying import stop_gradient
from ..shapes.reshape import reshape

__all__ = [
    "celu",
    "elu",
    "fast_gelu",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "swiglu",
    "swish",
    "tanh",
    "tanhshrink",
    "threshold",
]

relu_operator = unary(
    "relu", activation_kernels.relu, lambda F, g, out, x: F.relu_grad(g, out), placeholders=(0,), scalar="max(x, 0)"
).declare("max(x, 0); NaN stays NaN.")
_relu_grad = Operator(
    "relu_grad",
    activation_kernels.relu_grad,
    (lambda F, gg, out, g, y: F.relu_grad(gg, y), None),
    scalar="where(y > 0, x, 0)",
)
sigmoid = unary(
    "sigmoid",
    activation_kernels.sigmoid,
    lambda F, g, out, x: F.sigmoid_grad(g, out),
    scalar="sigmoid(x)",
    placeholders=(0,),
    integers_to_float=True,
).declare(
    "1 / (1 + exp(-x)).",
    method=True,
    in_place=True,
    primitive=prim("Sigmoid"),
    mint=("sigmoid", "nn.functional.sigmoid"),
)
_sigmoid_grad = Operator(
    "sigmoid_grad",
    activation_kernels.sigmoid_grad,
    (lambda F, gg, out, g, y: F.sigmoid_grad(gg, y), lambda F, gg, out, g, y: gg * g * (1 - y * 2)),
    scalar="x * y * (1 - y)",
)
tanh = unary(
    "tanh",
    np.tanh,
    lambda F, g, out, x: F.tanh_grad(g, out),
    scalar="tanh(x)",
    placeholders=(0,),
    integers_to_float=True,
).declare(
    "The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x)).",
    method=True,
    in_place=True,
    primitive=prim("Tanh"),
    mint=("tanh", "nn.functional.tanh"),
    numpy=renamed(input="x"),
)
_tanh_grad = Operator(
    "tanh_grad",
    activation_kernels.tanh_grad,
    (lambda F, gg, out, g, y: F.tanh_grad(gg, y), lambda F, gg, out, g, y: gg * g * y * -2.0),
    scalar="x * (1 - y * y)",
)
silu = unary("silu", activation_kernels.silu, lambda F, g, out, x: F.silu_grad(g, x), scalar="x * sigmoid(x)").declare(
    "x * sigmoid(x) (Elfwing et al. 2017; also called swish)."
)


def _silu_slope_rule(F: Functions, gg: Value, out: Value, g: Value, x: Value) -> Any:
    s = F.sigmoid(x)
    return gg * g * s * (1 - s) * (x * (1 - s * 2) + 2)


_silu_grad = Operator(
    "silu_grad",
    activation_kernels.silu_grad,
    (lambda F, gg, out, g, x: F.silu_grad(gg, x), _silu_slope_rule),
    scalar="x * sigmoid(y) * (1 + y * (1 - sigmoid(y)))",
)
_gelu = Operator(
    "gelu",
    activation_kernels.gelu,
    (lambda F, g, out, x, approximate: F.gelu_grad(g, x, approximate=approximate),),
    placeholders=(-1,),
    scalar="x * (normal(x) if approximate == 'none' else sigmoid(1.5957691216057308 * x * (1 + 0.044715 * x * x)))",
)


def _gelu_slope_rule(F: Functions, gg: Value, out: Value, g: Value, x: Value, approximate: str) -> Any:
    """Return the second derivative of gelu: of x * cdf(x), or of its tanh form (Hendrycks and Gimpel 2016)."""
    if approximate == "tanh":
        k, c = float(np.sqrt(2 / np.pi)), 0.044715
        t = F.tanh((x + x * x * x * c) * k)
        slope = (x * x * (3 * c) + 1) * k
        return gg * g * (1 - t * t) * (slope + x * (3 * c * k) * x - x * t * slope * slope)
    density = F.exp(x * x * -0.5) * float(1 / np.sqrt(2 * np.pi))
    return gg * g * density * (2 - x * x)


_gelu_grad = Operator(
    "gelu_grad",
    activation_kernels.gelu_grad,
    (lambda F, gg, out, g, x, approximate: F.gelu_grad(gg, x, approximate=approximate), _gelu_slope_rule),
    scalar="x * (normal(y) + y * (0.3989422804014327 * exp(-0.5 * y * y)) if approximate == 'none' else gelu_slope(y))",
)
_softmax = Operator(
    "softmax",
    softmax_kernels.softmax,
    (lambda F, g, out, x, axis: F.softmax_grad(g, out, axis=axis),),
    placeholders=(0,),
)


def _softmax_output_rule(F: Functions, gg: Value, out: Value, g: Value, y: Value, axis: int) -> Any:
    inner = F.sum(g * y, axis=(axis,), keepdims=True)
    return gg * g - gg * inner - g * F.sum(gg * y, axis=(axis,), keepdims=True)


_softmax_grad = Operator(
    "softmax_grad",
    softmax_kernels.softmax_grad,
    (lambda F, gg, out, g, y, axis: F.softmax_grad(gg, y, axis=axis), _softmax_output_rule),
)
_log_softmax = Operator(
    "log_softmax",
    softmax_kernels.log_softmax,
    (lambda F, g, out, x, axis: F.log_softmax_grad(g, out, axis=axis),),
    placeholders=(0,),
)


def _log_softmax_output_rule(F: Functions, gg: Value, out: Value, g: Value, y: Value, axis: int) -> Any:
    return -(gg * F.exp(y) * F.sum(g, axis=(axis,), keepdims=True))


_log_softmax_grad = Operator(
    "log_softmax_grad",
    softmax_kernels.log_softmax_grad,
    (lambda F, gg, out, g, y, axis: gg - F.sum(gg * F.exp(y), axis=(axis,), keepdims=True), _log_softmax_output_rule),
)


@declare(method=True, primitive=(prim("ReLU").without("inplace"), prim("ReLUV3").without("inplace")))
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(input, 0), element by element; NaN stays NaN.

    Args:
        input: a tensor of any shape.
        inplace: whether ``input`` itself also takes the values of the result.

    Returns:
        A tensor of the shape of ``input`` and its dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``inplace`` not a bool.
    """
    result: Tensor = relu_operator(check_tensor(input, "relu"))
    if check_bool(inplace, "relu", "inplace"):
        input._rebind(result._array)
    return result


@declare(mint="nn.functional.gelu")
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return the Gaussian error linear unit, x * P(X <= x) for a standard normal X (Hendrycks and Gimpel 2016).

    Args:
        input: x, a tensor of any shape.
        approximate: "none" for 0.5 * x * (1 + erf(x / sqrt(2))), "tanh" for its approximation
            0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))).

    Returns:
        A tensor of the shape of ``input`` and its dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``approximate`` is neither of the two.
    """
    check_one_of(approximate, ("none", "tanh"), "gelu", "approximate")
    return _gelu(check_tensor(input, "gelu"), approximate=approximate)


@declare(primitive=(prim("GeLU"), prim("Gelu")))
def _gelu_tanh(x: Tensor) -> Tensor:
    """Return ``gelu`` in its tanh form: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))).

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape of ``x`` and its dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return gelu(x, "tanh")


swish = silu


@declare(primitive=prim("Softmax", axis=-1), mint=renamed(axis="dim", defaults={"axis": REQUIRED}))
def softmax(input: Tensor, axis: int = -1, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return exp(input) / sum(exp(input)) along ``axis``, computed without overflow.

    Args:
        input: a tensor of any shape.
        axis: the axis whose numbers add up to 1, in [-ndim, ndim).
        dtype: the dtype that ``input`` is cast to first; by default its own.

    Returns:
        A tensor of the shape of ``input``, floating; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = check_tensor(input, "softmax")
    x = x if dtype is None else as_dtype(x, numpy_dtype(dtype))
    return _softmax(x, axis=_axis_of(axis, x, "softmax"))


@declare(method="softmax")
def _softmax_of_tensor(input: Tensor, axis: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return exp(input) / sum(exp(input)) along ``axis``, computed without overflow.

    Args:
        input: the tensor.
        axis: the axis whose numbers add up to 1, in [-ndim, ndim).
        dtype: the dtype that the tensor is cast to first; by default its own.

    Returns:
        A tensor of the same shape, floating; integers become Float32.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return softmax(input, axis, dtype=dtype)


@declare(primitive=prim("LogSoftmax", axis=-1))
def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """Return log(softmax(logits)) along ``axis``: logits - log(sum(exp(logits))), computed without overflow.

    Args:
        logits: a tensor of any shape.
        axis: the axis whose probabilities add up to 1, in [-ndim, ndim).

    Returns:
        A tensor of the shape of ``logits``, floating; integers become Float32.

    Raises:
        TypeError: ``logits`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return _log_softmax(check_tensor(logits, "log_softmax", "logits"), axis=_axis_of(axis, logits, "log_softmax"))


def _axis_of(axis: int, x: Tensor, name: str) -> int:
    axes = axes_of(axis, x.ndim, name)
    return (axes or (0,))[0]


def leaky_relu(input: Tensor, alpha: float = 0.2) -> Tensor:
    """Return x where it is positive, ``alpha`` * x elsewhere (Maas et al. 2013); the gradient at 0 is the mean of both.

    Args:
        input: x, a tensor of any shape.
        alpha: the slope below 0.

    Returns:
        A tensor of the shape of ``input``; integers become Float32 where ``alpha`` is a float.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    check_real(alpha, "leaky_relu", "alpha")
    at_most_0 = where(check_tensor(input, "leaky_relu") == 0, mul(input, (1 + alpha) / 2), mul(input, alpha))
    return where(input > 0, input, at_most_0)


@declare(mint="nn.functional.leaky_relu")
def _leaky_relu_of_mint(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return x where it is positive, ``negative_slope`` * x elsewhere (Maas et al. 2013), also the gradient at 0.

    Args:
        input: x, a tensor of any shape.
        negative_slope: the slope below 0.

    Returns:
        A tensor of the shape of ``input``; integers become Float32 where ``negative_slope`` is a float.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return where(check_tensor(input, "leaky_relu") > 0, input, mul(input, negative_slope))


@declare(primitive=prim("Elu", alpha=1.0))
def elu(input_x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2015).

    Args:
        input_x: x, a tensor of any shape.
        alpha: the limit towards negative infinity is -alpha.

    Returns:
        A tensor of the shape of ``input_x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    below = where(check_tensor(input_x, "elu", "input_x") > 0, 0.0, input_x)
    return where(input_x > 0, input_x, mul(expm1(below), alpha))


@declare(primitive=prim("CeLU", alpha=1.0))
def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """Return max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron 2017).

    Args:
        x: a tensor of any shape.
        alpha: the limit towards negative infinity is -alpha; not 0.

    Returns:
        A tensor of the shape of ``x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: ``alpha`` is 0.
    """
    if check_real(alpha, "celu", "alpha") == 0:
        raise ValueError("For 'celu', 'alpha' must not be 0")
    below = as_single(where(check_tensor(x, "celu", "x") > 0, 0.0, x))  # its exponential overflows half precision
    return where(x > 0, x, as_dtype(mul(expm1(below / alpha), alpha), as_floats(x)._array.dtype))


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805  # Klambauer et al. 2017


@declare(primitive=prim("SeLU"), mint=renamed("nn.functional.selu", input_x="input"))
def selu(input_x: Tensor) -> Tensor:
    """Return scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017).

    Args:
        input_x: x, a tensor of any shape; scale is 1.0507009873554805 and alpha 1.6732632423543772.

    Returns:
        A tensor of the shape of ``input_x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    return mul(elu(check_tensor(input_x, "selu", "input_x"), _SELU_ALPHA), _SELU_SCALE)


@declare(primitive=prim("ReLU6"))
def relu6(x: Tensor) -> Tensor:
    """Return min(max(x, 0), 6), element by element; NaN stays NaN.

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape of ``x`` and its dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    result = relu(x)
    return where(result > 6, 6, result)  # NaN stays


@declare(primitive=prim("HSigmoid"))
def hardsigmoid(input: Tensor) -> Tensor:
    """Return min(max((x + 3) / 6, 0), 1), element by element; the gradient at -3 and 3 is 0.

    Args:
        input: x, a tensor of any shape.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    inner = check_tensor(input, "hardsigmoid") / 6.0 + 0.5
    return where(input <= -3, 0.0, where(input >= 3, 1.0, inner))  # the gradient at the bends is 0


@declare(primitive=prim("HSwish"), mint="nn.functional.hardswish")
def hardswish(input: Tensor) -> Tensor:
    """Return x * min(max((x + 3) / 6, 0), 1), element by element (Howard et al. 2019).

    Args:
        input: x, a tensor of any shape.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    inside = where(check_tensor(input, "hardswish") < -3, 0, input)  # avoids -inf times 0
    share = clamp(inside / 6.0 + 0.5, 0.0, 1.0)
    return mul(inside, where(isnan(inside), inside, share))  # the gradient at NaN is NaN, that of clamp is 0


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Return min(max(x, min_val), max_val), element by element; at the limits half of the gradient passes.

    Args:
        input: x, a tensor of any shape.
        min_val: the lower limit.
        max_val: the upper limit; where it is below ``min_val``, all elements become ``max_val``.

    Returns:
        A tensor of the shape and dtype of ``input``; limits of integers are truncated toward 0; bools are returned as
        they are.

    Raises:
        TypeError: ``input`` is not a Tensor, or a limit is not a number.
    """
    for argument, value in (("min_val", min_val), ("max_val", max_val)):
        check_number(value, "hardtanh", argument)
    if check_tensor(input, "hardtanh")._array.dtype.kind == "b":
        return input
    if input._array.dtype.kind in "iu":
        limits = (as_dtype(Tensor(int(value)), input._array.dtype) for value in (min_val, max_val))
        low, high = limits
        return minimum(maximum(input, low), high)
    return minimum(maximum(check_tensor(input, "hardtanh"), min_val), max_val)


@declare(method=True, primitive=prim("HShrink", lambd=0.5))
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return 0 where |x| <= lambd, x elsewhere; NaN stays NaN.

    Args:
        input: x, a tensor of any shape.
        lambd: the threshold; if it is negative, no element becomes 0.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return where(absolute(check_tensor(input, "hardshrink")) <= lambd, 0.0, input)


@declare(method="soft_shrink", primitive=prim("SoftShrink", lambd=0.5), mint="nn.functional.softshrink")
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x - lambd where x > lambd, x + lambd where x < -lambd, 0 elsewhere.

    Args:
        input: x, a tensor of any shape.
        lambd: by how much elements move towards 0; not negative.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``lambd`` is negative.
    """
    check_not_negative(lambd, "softshrink", "lambd")
    # NaN takes the last branch, which passes its gradient.
    small = absolute(check_tensor(input, "softshrink")) <= lambd
    return where(small, 0.0, where(input > lambd, input - lambd, input + lambd))


soft_shrink = softshrink


@declare(primitive=prim("Softsign"))
def softsign(x: Tensor) -> Tensor:
    """Return x / (1 + |x|), element by element.

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape of ``x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return div(check_tensor(x, "softsign", "x"), absolute(x) + 1.0)


def tanhshrink(input: Tensor) -> Tensor:
    """Return x - tanh(x), element by element.

    Args:
        input: x, a tensor of any shape.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return sub(check_tensor(input, "tanhshrink"), tanh(input))


def threshold(input: Tensor, thr: float, value: float) -> Tensor:
    """Return x where it is above ``thr``, ``value`` elsewhere.

    Args:
        input: x, a tensor of any shape.
        thr: the threshold, a number.
        value: the replacement of the other elements, a number.

    Returns:
        A tensor of the shape and dtype of ``input``; for integers ``value`` is truncated.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``thr`` or ``value`` is not a number.
    """
    for argument, number in (("thr", thr), ("value", value)):
        check_number(number, "threshold", argument)
    kind = check_tensor(input, "threshold")._array.dtype.kind
    return where(input > thr, input, int(value) if kind in "iu" else value)


@declare(primitive=prim("Softplus").without("beta", "threshold"))
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, and x itself where beta * x is above ``threshold``.

    Args:
        input: x, a tensor of any shape.
        beta: how sharp the bend is; not 0.
        threshold: the value of beta * x above which the function is linear.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: an argument is neither a tensor nor a number.
        ValueError: ``beta`` is 0.
    """
    if beta == 0:
        raise ValueError("For 'softplus', 'beta' must not be 0")
    inner = mul(input, beta)
    soft = (log1p(exp(-absolute(inner))) + maximum(inner, 0.0)) / beta
    return where(inner > threshold, input, soft)


def _floating(x: Tensor, name: str) -> Tensor:
    if check_tensor(x, name)._array.dtype.kind not in "fV":
        raise TypeError(f"For '{name}', 'input' must be floating numbers, but got {x.dtype}")
    return x


@declare(mint="nn.functional.softplus")
def _softplus_of_mint(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, and x itself where beta * x is above ``threshold``.

    Args:
        input: x, a floating tensor of any shape.
        beta: how sharp the bend is, a number; not 0.
        threshold: the value of beta * x above which the function is linear, a number.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a floating Tensor, or another argument is not a number.
        ValueError: ``beta`` is 0.
    """
    for argument, number in (("beta", beta), ("threshold", threshold)):
        if isinstance(number, bool) or not isinstance(number, int | float | Tensor):
            raise TypeError(f"For 'softplus', '{argument}' must be a number, but got {type(number).__name__}")
    result: Tensor = softplus(_floating(input, "softplus"), beta, threshold)
    return result


@declare(mint=renamed("nn.functional.logsigmoid", x="input"))
def logsigmoid(x: Tensor) -> Tensor:
    """Return log(1 / (1 + exp(-x))), computed without overflow.

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape of ``x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    if check_tensor(x, "logsigmoid", "x")._array.dtype.kind == "c":
        return -log1p(exp(-x))  # complex numbers are not ordered
    return minimum(x, 0.0) - log1p(exp(-absolute(x)))


@declare(primitive=prim("Mish"))
@through_single
def mish(x: Tensor) -> Tensor:
    """Return x * tanh(log(1 + exp(x))) (Misra 2019).

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape of ``x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return mul(check_tensor(x, "mish", "x"), tanh(softplus(x)))


@declare(mint="nn.functional.mish")
def _mish_of_mint(input: Tensor) -> Tensor:
    """Return x * tanh(log(1 + exp(x))) (Misra 2019).

    Args:
        input: x, a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a floating Tensor.
    """
    result: Tensor = mish(_floating(input, "mish"))
    return result


@declare(primitive=(prim("FastGeLU"), prim("FastGelu")))
def fast_gelu(x: Tensor) -> Tensor:
    """Return x * sigmoid(1.702 * x), an approximation of ``gelu`` (Hendrycks and Gimpel 2016).

    Args:
        x: a tensor of any shape.

    Returns:
        A tensor of the shape of ``x`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return mul(check_tensor(x, "fast_gelu", "x"), sigmoid(mul(x, 1.702)))


@declare(primitive=prim("GLU", axis=-1), mint=renamed("nn.functional.glu", x="input", axis="dim"))
def glu(x: Tensor, axis: int = -1) -> Tensor:
    """Return a * sigmoid(b), where a and b are the halves of ``x`` along ``axis`` (Dauphin et al. 2016).

    Args:
        x: a tensor with an even length along ``axis``.
        axis: the axis that is halved, in [-ndim, ndim).

    Returns:
        A tensor of the shape of ``x`` with half the length along ``axis``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range or has no even length.
    """
    first, second = _halves_of(check_tensor(x, "glu", "x"), axis, "glu")
    return mul(first, sigmoid(second))


def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """Return silu(a) * b, where a and b are the halves of ``input`` along ``dim`` (Shazeer 2020).

    Args:
        input: a tensor with an even length along ``dim``.
        dim: the axis that is halved, in [-ndim, ndim).

    Returns:
        A tensor of the shape of ``input`` with half the length along ``dim``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range or has no even length.
    """
    first, second = _halves_of(check_tensor(input, "swiglu"), dim, "swiglu")
    return mul(silu(first), second)


def _halves_of(x: Tensor, axis: int, name: str) -> tuple[Tensor, ...]:
    at = _axis_of(axis, check_axes(x, 1, name), name)
    if x.shape[at] % 2:
        raise ValueError(f"For '{name}', axis {axis} must have an even length, but got shape {x.shape}")
    return split(x, x.shape[at] // 2, at)


@declare(primitive=prim("PReLU"), mint="nn.functional.prelu")
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x where it is positive, weight * x elsewhere (He et al. 2015).

    Args:
        input: x, a tensor of any shape; its channels are axis 1.
        weight: the slopes below 0, a vector: one for all channels, or one for each.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: ``weight`` does not fit the channels.
    """
    x = check_tensor(input, "prelu")
    channels = x.shape[1] if x.ndim > 1 else 1
    if not x.ndim and check_tensor(weight, "prelu", "weight").size == 1:
        weight = reshape(weight, ())
    elif check_tensor(weight, "prelu", "weight").ndim != 1 or weight.shape[0] not in (1, channels):
        raise ValueError(f"For 'prelu', 'weight' must have 1 or {channels} numbers, but got shape {weight.shape}")
    slope = reshape(weight, (1, -1) + (1,) * (x.ndim - 2)) if x.ndim > 1 else weight
    return where(x > 0, x, as_dtype(mul(x, slope), x._array.dtype))


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Tensor:
    """Return x where it is positive, elsewhere x times a slope drawn for each element (Xu et al. 2015).

    Args:
        input: x, a tensor of any shape.
        lower: the lower end of the slopes, a number.
        upper: the upper end of the slopes, a number not below ``lower``; slopes are uniform in between.

    Returns:
        A tensor of the shape of ``input`` and its dtype; integers become Float32.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``lower`` or ``upper`` is not a number.
        ValueError: ``lower`` is above ``upper``.
    """
    for argument, number in (("lower", lower), ("upper", upper)):
        check_number(number, "rrelu", argument)
    if lower > upper:
        raise ValueError(f"For 'rrelu', 'lower' must not be above 'upper', but got {lower} and {upper}")
    x = check_tensor(input, "rrelu")
    dtype = np.dtype(np.float32) if x._array.dtype.kind in "biu" else x._array.dtype
    slopes = (uniform_numbers(x.shape) * (upper - lower) + lower).astype(dtype)
    return where(x > 0, x, mul(x, Tensor._wrap(to_device(slopes))))


def softmin(x: Tensor, axis: int = -1, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return exp(-x) / sum(exp(-x)) along ``axis``, computed without overflow.

    Args:
        x: a tensor of any shape.
        axis: the axis whose numbers add up to 1, in [-ndim, ndim).
        dtype: the dtype that -x is cast to first; by default its own.

    Returns:
        A tensor of the shape of ``x``, floating; integers become Float32.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return softmax(-check_tensor(x, "softmin", "x"), axis, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Return softmax((logits + g) / tau) with standard Gumbel noise g: a sample of the categories (Jang et al. 2017).

    Args:
        logits: log-probabilities up to a constant, of any shape.
        tau: the temperature, above 0: the lower, the nearer to one-hot.
        hard: whether the result is one-hot; its gradient is that of the soft sample.
        dim: the axis of the categories, in [-ndim, ndim).

    Returns:
        A tensor of the shape of ``logits``.

    Raises:
        TypeError: ``logits`` is not a floating Tensor, or ``dim`` is not an int.
        ValueError: ``tau`` is not above 0, or ``dim`` out of range.
    """
    if not check_real(tau, "gumbel_softmax", "tau") > 0:
        raise ValueError(f"For 'gumbel_softmax', 'tau' must be above 0, but got {tau}")
    x = check_tensor(logits, "gumbel_softmax", "logits")
    if x._array.dtype.kind not in "fV":
        raise TypeError(f"For 'gumbel_softmax', 'logits' must be floating, but got {x.dtype}")
    noise = -np.log(-np.log(np.clip(uniform_numbers(x.shape), 1e-20, 1 - 1e-7)))
    soft = softmax((x + Tensor._wrap(to_device(noise.astype(x._array.dtype)))) / tau, dim)
    if not hard:
        return soft
    top = soft._array == soft._array.max(axis=dim, keepdims=True)
    return Tensor._wrap(top.astype(soft._array.dtype)) - stop_gradient(soft) + soft
