"""Fused kernels on arrays: softmax, layer norm, linear, dropout, cross-entropy, Adam and the activations.

Each is written against the array module of its input, so that one text is the CPU kernel on NumPy and the
fall-back on CuPy where no Triton kernel qualifies; `hookscope.triton_kernels` has the same names and
signatures. Results keep the dtype of the input. float16 and bfloat16 are computed in float32 and rounded
once, at the end. No kernel writes into its arguments.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from hookscope.engine.cpu import philox
from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.masking import kept

_SQRT_HALF = math.sqrt(0.5)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)

# Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415: the tanh form's two constants.
_GELU_SLOPE = math.sqrt(2.0 / math.pi)
_GELU_CUBIC = 0.044715

# Rational approximations of erf, highest power first, from Moshier's Cephes library (ndtr.c,
# netlib.org/cephes): erf(x) = x * P(x^2) / Q(x^2) where |x| < 1, and erfc(x) = exp(-x^2) * R(x) / S(x) above.
_ERF_P = (
    9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3,
    7.00332514112805075473e3, 5.55923013010394962768e4,
)  # fmt: skip
_ERF_Q = (
    1.0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3,
    2.26290000613890934246e4, 4.92673942608635921086e4,
)  # fmt: skip
_ERFC_R = (
    2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
    1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2,
    1.02755188689515710272e3, 5.57535335369399327526e2,
)  # fmt: skip
_ERFC_S = (
    1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2,
    9.75708501743205489753e2, 1.82390916687909736289e3, 2.24633760818710981792e3,
    1.65666309194161350182e3, 5.57535340817727675546e2,
)  # fmt: skip
_ERF_IS_ONE = 6.0  # erf(6) is 1 in float64; both quotients are finite in float32 up to there
_ERF_BLOCK = 16384  # elements: a block and its temporaries stay in the second-level cache


# Nearly all arrays have one of these very objects.
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def _widen(x: Array) -> Array:
    """`x` in the dtype it is computed in: float64 as it is, all else in float32.

    Raises:
        TypeError: complex numbers, whose imaginary parts would be lost.
    """
    dtype = x.dtype
    if dtype is _SINGLE or dtype is _DOUBLE:
        return x
    if dtype.kind == "c":
        raise TypeError("the numbers must be real")
    return x.astype(np.float64 if dtype == _DOUBLE else np.float32, copy=False)


def _widen_any(x: Array) -> Array:
    """`_widen` for functions that mean something for complex numbers too: these as they are."""
    dtype = x.dtype
    return x if dtype is _SINGLE or dtype is _DOUBLE or dtype.kind == "c" else _widen(x)


def _result_dtype(x: Array) -> Any:
    # Integers and booleans have no fractional result to keep, so they become float32.
    return np.dtype(np.float32) if x.dtype.kind in "biu" else x.dtype


def _narrow(y: Array, like: Array) -> Array:
    """`y` as an array (NumPy makes scalars of 0-d results) in the dtype a result for `like` has."""
    return array_module(like).asarray(y, dtype=_result_dtype(like))  # untyped cupy


# Activations and their gradients.


def erf(x: Array) -> Array:
    """The error function, within 4 units in the last place of `math.erf`, in float32 and in float64."""
    xp = array_module(x)
    wide = _widen(x)
    if xp is not np:
        return _narrow(importlib.import_module("cupyx.scipy.special").erf(wide), x)
    flat = wide.reshape(-1)
    out = np.empty_like(flat)
    for begin in range(0, flat.size, _ERF_BLOCK):
        out[begin : begin + _ERF_BLOCK] = _erf_block(flat[begin : begin + _ERF_BLOCK])
    return _narrow(out.reshape(x.shape), x)


def _erf_block(x: Array) -> Array:
    magnitude = np.minimum(np.abs(x), _ERF_IS_ONE)
    square = magnitude * magnitude
    tail = 1.0 - np.exp(-square) * _polynomial(magnitude, _ERFC_R) / _polynomial(magnitude, _ERFC_S)
    centre = magnitude * _polynomial(square, _ERF_P) / _polynomial(square, _ERF_Q)
    return np.copysign(np.where(magnitude < 1.0, centre, tail), x)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    value = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        value *= x
        value += coefficient
    return value


def sigmoid(x: Array) -> Array:
    return _narrow(_sigmoid(_widen_any(x)), x)


def _sigmoid(x: Array) -> Array:
    # exp of a negative number only, so that nothing overflows; both branches keep full relative precision.
    xp = array_module(x)
    if x.dtype.kind == "c":
        return 0.5 + 0.5 * xp.tanh(0.5 * x)  # untyped cupy
    decay = xp.exp(-xp.abs(x))
    result: Array = xp.where(x < 0, decay, 1.0) / (1.0 + decay)
    return result


def sigmoid_grad(g: Array, y: Array) -> Array:
    """Gradient of sigmoid from its output `y`."""
    wide = _widen_any(y)
    return _narrow(_widen_any(g) * wide * (1.0 - wide), y)


def tanh_grad(g: Array, y: Array) -> Array:
    """Gradient of tanh from its output `y`."""
    wide = _widen_any(y)
    return _narrow(_widen_any(g) * (1.0 - wide * wide), y)


def relu(x: Array) -> Array:
    if x.dtype.kind == "c":
        raise TypeError("the numbers must be real")
    return array_module(x).asarray(array_module(x).maximum(x, x.dtype.type(0)))


def relu_grad(g: Array, y: Array) -> Array:
    """Gradient of relu from its output `y` (or its input: the sign is the same)."""
    return _narrow(kept(g, y > 0), y)


def silu(x: Array) -> Array:
    wide = _widen_any(x)
    return _narrow(wide * _sigmoid(wide), x)


def silu_grad(g: Array, x: Array) -> Array:
    wide = _widen_any(x)
    gate = _sigmoid(wide)
    return _narrow(_widen_any(g) * gate * (1.0 + wide * (1.0 - gate)), x)


def gelu(x: Array, approximate: str) -> Array:
    """Gaussian error linear unit; `approximate` is "none" (by erf) or "tanh"."""
    xp = array_module(x)
    wide = _widen(x)
    if _is_tanh_form(approximate):
        gate = 0.5 * (1.0 + xp.tanh(_GELU_SLOPE * wide * (1.0 + _GELU_CUBIC * wide * wide)))
    else:
        gate = 0.5 * (1.0 + erf(wide * _SQRT_HALF))
    return _narrow(wide * gate, x)


def gelu_grad(g: Array, x: Array, approximate: str) -> Array:
    xp = array_module(x)
    wide = _widen(x)
    square = wide * wide
    if _is_tanh_form(approximate):
        bend = xp.tanh(_GELU_SLOPE * wide * (1.0 + _GELU_CUBIC * square))
        inner_slope = _GELU_SLOPE * (1.0 + 3.0 * _GELU_CUBIC * square)
        slope = 0.5 * (1.0 + bend) + 0.5 * wide * (1.0 - bend * bend) * inner_slope
    else:
        slope = 0.5 * (1.0 + erf(wide * _SQRT_HALF)) + wide * _INV_SQRT_2PI * xp.exp(-0.5 * square)
    return _narrow(_widen(g) * slope, x)


def _is_tanh_form(approximate: str) -> bool:
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate must be 'none' or 'tanh', got {approximate!r}")
    return approximate == "tanh"


# Softmax and layer normalisation.


def softmax(x: Array, axis: int) -> Array:
    if x.size == 0:
        return _narrow(x.copy(), x)
    xp = array_module(x)
    wide = _widen(x)
    y = wide - wide.max(axis=axis, keepdims=True)
    xp.exp(y, out=y)
    y /= y.sum(axis=axis, keepdims=True)
    return _narrow(y, x)


def softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """Gradient of softmax from its output `y`."""
    wide = _widen(y)
    product = _widen(g) * wide
    product -= wide * product.sum(axis=axis, keepdims=True)
    return _narrow(product, y)


def log_softmax(x: Array, axis: int) -> Array:
    if x.size == 0:
        return _narrow(x.copy(), x)
    xp = array_module(x)
    wide = _widen(x)
    y = wide - wide.max(axis=axis, keepdims=True)
    y -= xp.log(xp.exp(y).sum(axis=axis, keepdims=True))
    return _narrow(y, x)


def log_softmax_grad(g: Array, y: Array, axis: int) -> Array:
    """Gradient of log_softmax from its output `y`."""
    wide = _widen(g)
    return _narrow(wide - array_module(y).exp(_widen(y)) * wide.sum(axis=axis, keepdims=True), y)


def layer_norm(
    x: Array, gamma: Array, beta: Array, begin_norm_axis: int, epsilon: float
) -> tuple[Array, Array, Array]:
    """Normalise over the axes from `begin_norm_axis` on.

    Returns the result, the mean and the reciprocal of the standard deviation; these two have the shape of `x`
    with ones in place of the normalised axes.
    """
    xp = array_module(x)
    wide = _widen(x)
    axes = _trailing_axes(x, begin_norm_axis)
    count = math.prod(x.shape[axis] for axis in axes)
    mean = wide.sum(axis=axes, keepdims=True) / max(count, 1)
    y = wide - mean
    variance = (y * y).sum(axis=axes, keepdims=True) / max(count, 1)
    rstd = 1.0 / xp.sqrt(variance + epsilon)
    y *= rstd
    y = y * _widen(gamma) + _widen(beta)
    return _narrow(y, x), mean, rstd


def layer_norm_grad(
    g: Array, x: Array, gamma: Array, mean: Array, rstd: Array, begin_norm_axis: int
) -> tuple[Array, Array, Array]:
    """Gradients for `x`, `gamma` and `beta`, from the mean and reciprocal deviation layer_norm returned."""
    wide_g = _widen(g)
    axes = _trailing_axes(x, begin_norm_axis)
    count = max(math.prod(x.shape[axis] for axis in axes), 1)
    normal = (_widen(x) - mean) * rstd
    product = wide_g * normal
    batch_axes = tuple(range(x.ndim - gamma.ndim))
    dgamma = product.sum(axis=batch_axes)
    dbeta = wide_g.sum(axis=batch_axes)
    scaled = wide_g * _widen(gamma)
    mean_scaled = scaled.sum(axis=axes, keepdims=True) / count
    mean_product = (scaled * normal).sum(axis=axes, keepdims=True) / count
    dx = (scaled - mean_scaled - normal * mean_product) * rstd
    return _narrow(dx, x), _narrow(dgamma, gamma), _narrow(dbeta, gamma)


def _trailing_axes(x: Array, begin: int) -> tuple[int, ...]:
    if not -x.ndim <= begin < x.ndim:
        raise ValueError(
            f"begin_norm_axis must lie in [{-x.ndim}, {x.ndim}) for shape {x.shape}, got {begin}"
        )
    return tuple(range(begin % x.ndim, x.ndim))


# Products of matrices.


def linear(x: Array, weight: Array, bias: Array | None, activation: str | None) -> Array:
    """activation(x @ weight.T + bias) for `x` (..., K), `weight` (N, K) and `bias` (N,) or None."""
    xp = array_module(x)
    y = xp.matmul(_widen(x), _widen(weight).T)
    if bias is not None:
        y += _widen(bias)
    return _narrow(_activate(y, activation), x)


def _activate(y: Array, activation: str | None) -> Array:
    match activation:
        case None:
            return y
        case "relu":
            return relu(y)
        case "gelu":
            return gelu(y, "none")
        case "gelu_tanh":
            return gelu(y, "tanh")
        case "silu":
            return silu(y)
        case "sigmoid":
            return sigmoid(y)
        case "tanh":
            return array_module(y).tanh(y)  # untyped cupy
    raise ValueError(
        "activation must be None, 'relu', 'gelu', 'gelu_tanh', 'silu', 'sigmoid' or 'tanh', "
        f"got {activation!r}"
    )


def matmul(a: Array, b: Array, transpose_a: bool, transpose_b: bool) -> Array:
    """Matrix product with NumPy's rules; a transposed operand has its last two axes swapped first."""
    xp = array_module(a)
    a = _swap_last_axes(a, "a") if transpose_a else a
    b = _swap_last_axes(b, "b") if transpose_b else b
    dtype = xp.result_type(a, b)
    if dtype.kind in "biuc" or dtype.itemsize >= 4:
        return xp.asarray(xp.matmul(a, b))  # untyped cupy
    # NumPy adds half-precision products in half precision, and without BLAS.
    return xp.asarray(xp.matmul(_widen(a), _widen(b)), dtype=dtype)  # untyped cupy


def _swap_last_axes(operand: Array, name: str) -> Array:
    if operand.ndim < 2:
        raise ValueError(f"transpose_{name} needs an operand of 2 or more axes, got shape {operand.shape}")
    return operand.swapaxes(-1, -2)


# Dropout.


def dropout(x: Array, p: float, seed: int, offset: int) -> tuple[Array, Array]:
    """Zero each element with probability `p`, divide the others by 1 - p; return that and what was kept.

    Element i in C order is kept if `philox.uniform(seed, offset + i) >= p`.
    """
    mask = philox.uniform(seed, offset, x.shape, array_module(x)) >= np.float32(p)
    return _keep(x, mask, p), mask


def dropout_grad(g: Array, mask: Array, p: float) -> Array:
    return _keep(g, mask, p)


def _keep(x: Array, mask: Array, p: float) -> Array:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p must lie in [0, 1], got {p}")
    # With p = 1 nothing is kept, and what the division gives is never used.
    scaled = _widen(x) / (1.0 - p if p < 1.0 else 1.0)
    return _narrow(kept(scaled, mask), x)


# Cross-entropy of a row of logits with the index of its class.


def sparse_softmax_cross_entropy(logits: Array, labels: Array, ignore_index: int) -> tuple[Array, Array]:
    """Loss of each row of `logits` (N, C), 0 where its label is `ignore_index`, and its log-sum-exp."""
    xp = array_module(logits)
    wide = _widen(logits)
    keep = labels != ignore_index
    rows, columns = _label_positions(logits, labels, keep)
    if logits.shape[0] == 0:
        return _narrow(wide.sum(axis=1), logits), wide.sum(axis=1)
    largest = wide.max(axis=1)
    lse = largest + xp.log(xp.exp(wide - largest[:, None]).sum(axis=1))
    loss = xp.where(keep, lse - wide[rows, columns], lse.dtype.type(0))
    return _narrow(loss, logits), lse


def sparse_softmax_cross_entropy_grad(
    g: Array, logits: Array, labels: Array, lse: Array, ignore_index: int
) -> Array:
    """Gradient for `logits`, from the gradient `g` (N,) of the losses and the forward log-sum-exp."""
    xp = array_module(logits)
    keep = labels != ignore_index
    rows, columns = _label_positions(logits, labels, keep)
    d = xp.exp(_widen(logits) - lse[:, None])
    d[rows, columns] -= 1.0
    d *= _widen(g)[:, None]
    return _narrow(xp.where(keep[:, None], d, d.dtype.type(0)), logits)


def _label_positions(logits: Array, labels: Array, keep: Array) -> tuple[Array, Array]:
    """Indices of each row's labelled logit; an ignored row points at column 0."""
    xp = array_module(logits)
    classes = logits.shape[1]
    wrong = keep & ((labels < 0) | (labels >= classes))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"labels must lie in [0, {classes}) or equal ignore_index, got {int(labels[row])} in row {row}"
        )
    return xp.arange(logits.shape[0]), xp.where(keep, labels, labels.dtype.type(0))


# Adam.


def adam(
    param: Array,
    m: Array,
    v: Array,
    grad: Array,
    lr_t: float,
    beta1: float,
    beta2: float,
    eps: float,
    use_nesterov: bool,
) -> tuple[Array, Array, Array]:
    """One step of MindSpore's `nn.Adam`: new parameter and moments; `lr_t` has the bias correction in it."""
    xp = array_module(param)
    g = _widen(grad)
    new_m = beta1 * _widen(m) + (1.0 - beta1) * g
    new_v = beta2 * _widen(v) + (1.0 - beta2) * g * g
    step = beta1 * new_m + (1.0 - beta1) * g if use_nesterov else new_m
    new_param = _widen(param) - lr_t * step / (xp.sqrt(new_v) + eps)
    return _narrow(new_param, param), _narrow(new_m, m), _narrow(new_v, v)
