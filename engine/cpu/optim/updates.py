"""Update rules of the optimizers: from a parameter, its state, its gradient and numbers to new parameter and state.

Each rule is here only; ``nn``, ``experimental.optim``, ``mint.optim`` and the Primitive classes keep the state and
call it. Adam's is ``adam.adam``, which also has a Triton kernel. Numbers are Python's or arrays of one element. Rules
do not modify their arguments. New state is rounded to the dtype of the old one before a rule reads it; the parameter
is returned as computed, possibly wider.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.optim.adam import adam
from hookscope.engine.cpu.widening import widen_any

__all__ = [
    "Number",
    "adadelta",
    "adafactor",
    "adafactor_rate",
    "adafactor_share",
    "adagrad",
    "adam_by_powers",
    "adam_weight_decay",
    "adamax",
    "adamw",
    "add_sign",
    "amsgrad",
    "asgd",
    "corrected_rate",
    "descent",
    "first_lengths",
    "ftrl",
    "is_on_gpu",
    "is_zero",
    "keras_momentum",
    "lamb",
    "lars",
    "momentum",
    "nadam",
    "power_sign",
    "proximal_adagrad",
    "proximal_descent",
    "radam",
    "rate_by_powers",
    "rmsprop",
    "rmsprop_pytorch",
    "rprop",
    "sgd",
    "sgd_by_stat",
    "sgd_by_step",
]

Number: TypeAlias = float | Array


def _as_state(new: Any, before: Array) -> Array:
    """Return a new state in the dtype of the previous one."""
    return array_module(before).asarray(new, dtype=before.dtype)  # untyped cupy


def _average(accum: Array, x: Any, beta: Number) -> Any:
    """Return a step of an exponential moving average."""
    return accum * beta + x * (1 - beta)


def _sqrt(x: Any) -> Any:
    return math.sqrt(x) if isinstance(x, float) else array_module(x).sqrt(x)


def is_on_gpu(x: object) -> bool:
    """Return whether an array or a number is on a GPU."""
    return type(x).__module__.partition(".")[0] == "cupy"


def is_zero(x: Number) -> bool:
    """Return whether a number is known to be 0; one on a GPU is not read."""
    return not is_on_gpu(x) and not x


def _rest(power: Number) -> Any:
    """Return 1 - power, for a power in double precision on a GPU in single precision, for use in a rule."""
    return _single(1.0 - power)


def _single(number: Number) -> Any:
    """Return a number computed in double precision in the form for arrays of single precision."""
    return number.astype("float32") if is_on_gpu(number) else number  # type: ignore[union-attr]  # an array


def _double(number: Number) -> Any:
    """Return a number in the precision of Python's floats."""
    return number.astype("float64") if is_on_gpu(number) else number  # type: ignore[union-attr]  # an array


def _norm(x: Array) -> Any:
    """Return the Euclidean norm: a float, or for an array on a GPU an array of one number, without synchronizing."""
    x = widen_any(x)
    norm = _sqrt((x * x).sum())
    return norm if is_on_gpu(x) else float(norm)


def _root_mean_square(x: Array) -> Any:
    """Return the root mean square: a float, or on a GPU an array of one number, without synchronizing."""
    x = widen_any(x)
    root = _sqrt((x * x).mean())
    return root if is_on_gpu(x) else float(root)


def _larger(number: float, x: Any) -> Any:
    """Return the larger of a number and one that may be on a GPU."""
    return array_module(x).maximum(x, number) if is_on_gpu(x) else max(number, x)


# Gradient descent.


def descent(p: Array, g: Array, lr: Number) -> Array:
    """Return a step of gradient descent: p - lr * g."""
    return p - g * lr


def sgd(
    p: Array, accum: Array, g: Array, lr: Number, factor: Number, dampening: Number, nesterov: bool, first: Any
) -> tuple[Array, Array]:
    """Return a step of SGD with momentum, and its state (Sutskever et al. 2013).

    v = factor * v + (1 - dampening) * g; p - lr * v, or p - lr * (g + factor * v) (Nesterov).

    ``first``: whether this is the first step, in which v is g: for the parameter (a bool), or for each element.
    """
    if first is True:
        # A separate array: the gradient is the caller's.
        new, stored = g, g + 0
    else:
        new = accum * factor + g * (1 - dampening)
        new = stored = new if first is False else array_module(p).where(first, g, new)
    return descent(p, g + new * factor if nesterov else new, lr), _as_state(stored, accum)


def sgd_by_step(
    p: Array,
    accum: Array,
    stat: Array | None,
    g: Array,
    lr: Number,
    factor: Number,
    dampening: float,
    nesterov: bool,
    step: Number,
) -> tuple[Array, Array, Array | None]:
    """Return ``sgd`` without reading numbers: in step 1 v is g and ``stat`` becomes 0; for a factor of 0 both stay."""
    xp = array_module(p)
    moves, first = xp.asarray(factor) != 0, xp.asarray(step) == 1
    new = xp.where(first, g, accum * factor + g * (1 - dampening))
    by = xp.where(moves, g + new * factor if nesterov else new, g)
    new_stat = None if stat is None else _as_state(xp.where(moves & first, 0, stat), stat)
    return descent(p, by, lr), _as_state(xp.where(moves, new, accum), accum), new_stat


def sgd_by_stat(
    p: Array, accum: Array, stat: Array, g: Array, lr: Number, factor: float, dampening: float, nesterov: bool
) -> tuple[Array, Array, Array]:
    """Return ``sgd`` where ``stat`` is 1 for each element before its first step; then it becomes 0."""
    new, accum = sgd(p, accum, g, lr, factor, dampening, nesterov, stat != 0)
    return new, accum, stat * stat.dtype.type(0)


def momentum(p: Array, accum: Array, g: Array, lr: Number, factor: Number, nesterov: bool) -> tuple[Array, Array]:
    """Return a step with momentum, and its state (Polyak 1964).

    v = factor * v + g; p - lr * v, or p - lr * (g + factor * v) in Nesterov's form.
    """
    new = accum * factor
    new += g
    new = _as_state(new, accum)
    return descent(p, g + new * factor if nesterov else new, lr), new


def keras_momentum(p: Array, accum: Array, g: Array, lr: Number, factor: Number, nesterov: bool) -> tuple[Array, Array]:
    """Return a step of momentum with the rate in its sum, and its state.

    v = factor * v - lr * g; p + v, or p + factor * v - lr * g (Nesterov).
    """
    new = _as_state(accum * factor - lr * g, accum)
    return p + (new * factor - lr * g if nesterov else new), new


def asgd(
    p: Array,
    average: Array,
    g: Array,
    lr: Number,
    eta: Number,
    mu: Number,
    lambd: float,
    alpha: float,
    t0: float,
    step: Number,
) -> tuple[Array, Array, Number, Number]:
    """Return a step of ASGD (Polyak and Juditsky 1992): descent by a decaying rate ``eta``.

    ``mu`` is its share in the average. Returns the parameter, the average, and eta and mu of the next step.
    """
    new = p * (1.0 - lambd * eta) - g * eta
    lr, step = _double(lr), _double(step)
    next_numbers = lr / (1.0 + lambd * lr * step) ** alpha, 1.0 / _larger(1.0, step - t0)
    if is_on_gpu(mu):
        averaged = array_module(p).where(mu == 1.0, new, average + (new - average) * mu)
    else:
        averaged = new + 0 if mu == 1.0 else average + (new - average) * mu
    return new, _as_state(averaged, average), *next_numbers


def rprop(
    p: Array, before: Array, lengths: Array, g: Array, etas: tuple[float, float], limits: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """Return a step of Rprop (Riedmiller and Braun 1993): by the gradient's sign, growing while it keeps its sign.

    If the sign changed, the step is skipped and the next one starts anew. ``etas``: (shrink, grow) factors.
    """
    xp = array_module(p)
    agreement = xp.sign(g * before)
    size = lengths * xp.where(agreement > 0, etas[1], xp.where(agreement < 0, etas[0], 1.0))
    size = xp.clip(size, *limits)
    used = xp.where(agreement < 0, 0.0, g)
    return p - xp.sign(used) * size, _as_state(used, before), _as_state(size, lengths)


def first_lengths(p: Array, rate: Number, lengths: Array, step: Number) -> Array:
    """Return the initial lengths of ``rprop`` in a step: in step 1 the rate."""
    xp = array_module(p)
    if is_on_gpu(step):
        return xp.where(step == 1, rate, lengths).astype(p.dtype)
    return xp.full(p.shape, rate, p.dtype) if step == 1 else lengths


def add_sign(
    p: Array, m: Array, g: Array, lr: Number, alpha: Number, sign_decay: Number, beta: Number
) -> tuple[Array, Array]:
    """Return p - lr * (alpha + sign_decay * sign(g) * sign(m)) * g, and m (Bello et al. 2017)."""
    m = _as_state(_average(m, g, beta), m)
    xp = array_module(p)
    return p - lr * (alpha + sign_decay * xp.sign(g) * xp.sign(m)) * g, m


def power_sign(
    p: Array, m: Array, g: Array, lr: Number, base: Number, sign_decay: Number, beta: Number
) -> tuple[Array, Array]:
    """Return p - lr * exp(base * sign_decay * sign(g) * sign(m)) * g, and m (Bello et al. 2017)."""
    m = _as_state(_average(m, g, beta), m)
    xp = array_module(p)
    return p - lr * xp.exp(base * (sign_decay * xp.sign(g) * xp.sign(m))) * g, m


def _shrunk(p: Array, rate: Number, l1: Number, l2: Number) -> Array:
    """Return p shrunk towards 0 by l1 and l2, with a rate (Duchi and Singer 2009)."""
    if l1 > 0:
        xp = array_module(p)
        p = xp.sign(p) * xp.maximum(abs(p) - rate * l1, 0)
    return p / (1 + rate * l2)


def proximal_descent(p: Array, g: Array, lr: Number, l1: Number, l2: Number) -> Array:
    """Return a step of gradient descent, then shrunk towards 0 by l1 and l2 (Duchi and Singer 2009)."""
    return _shrunk(descent(p, g, lr), lr, l1, l2)


# Moments of the gradient: Adam and variants (Kingma and Ba 2015).


def corrected_rate(lr: Number, power1: Number, power2: Number) -> Any:
    """Return lr * sqrt(1 - beta2**t) / (1 - beta1**t): Adam's bias correction, applied to its learning rate."""
    return lr * _sqrt(1 - power2) / (1 - power1)


def adam_by_powers(
    p: Array,
    m: Array,
    v: Array,
    g: Array,
    lr: Number,
    power1: Number,
    power2: Number,
    beta1: float,
    beta2: float,
    eps: float,
    nesterov: bool,
) -> tuple[Array, Array, Array]:
    """Return ``adam.adam`` for an uncorrected learning rate, and powers of the betas, which are not read."""
    return adam(p, m, v, g, rate_by_powers(p, lr, power1, power2), beta1, beta2, eps, nesterov)


def rate_by_powers(p: Array, lr: Number, power1: Number, power2: Number) -> Any:
    """Return ``corrected_rate`` computed in double precision, rounded to the precision of a step of ``p``."""
    exact = [x.astype("float64") if is_on_gpu(x) else x for x in (lr, power1, power2)]  # type: ignore[union-attr]
    rate = corrected_rate(*exact)
    return rate.astype(widen_any(p[:0]).dtype) if is_on_gpu(rate) else rate


def _moments(m: Array, v: Array, g: Array, beta1: Number, beta2: Number) -> tuple[Array, Array]:
    return _as_state(_average(m, g, beta1), m), _as_state(_average(v, g * g, beta2), v)


def amsgrad(
    p: Array,
    m: Array,
    v: Array,
    largest: Array,
    g: Array,
    lr_t: Number,
    beta1: Number,
    beta2: Number,
    eps: Number,
    nesterov: bool = False,
) -> tuple[Array, Array, Array, Array]:
    """Return a step of AMSGrad (Reddi et al. 2018): Adam with the largest v so far; ``lr_t`` is the corrected rate.

    ``nesterov``: step by beta1 * m + (1 - beta1) * g instead of m (Dozat 2016).
    """
    new_m = _average(m, g, beta1)
    v = _as_state(_average(v, g * g, beta2), v)
    largest = _as_state(array_module(p).maximum(largest, v), largest)
    ahead = _average(new_m, g, beta1) if nesterov else new_m
    return p - lr_t * ahead / (_sqrt(largest) + eps), _as_state(new_m, m), v, largest


def adamax(
    p: Array,
    m: Array,
    v: Array,
    g: Array,
    lr: Number,
    power1: Number,
    beta1: Number,
    beta2: Number,
    eps: Number,
    eps_in_maximum: bool = False,
) -> tuple[Array, Array, Array]:
    """Return a step of AdaMax (Kingma and Ba 2015, section 7.1).

    v = max(beta2 * v, |g|); p - lr / (1 - beta1**t) * m / (v + eps).

    ``eps_in_maximum``: as in PyTorch, v = max(beta2 * v, |g| + eps), with nothing added to v.
    """
    xp = array_module(p)
    m = _as_state(_average(m, g, beta1), m)
    size = xp.abs(g)
    v = _as_state(xp.maximum(v * beta2, size + eps if eps_in_maximum else size), v)
    return p - lr / (1 - power1) * m / (v if eps_in_maximum else v + eps), m, v


def adam_weight_decay(
    p: Array, m: Array, v: Array, g: Array, lr: Number, beta1: Number, beta2: Number, eps: Number, decay: Number
) -> tuple[Array, Array, Array]:
    """Return a step of Adam with decoupled decay (Loshchilov and Hutter 2019), as in BERT without correction.

    p - lr * (m / (sqrt(v) + eps) + decay * p).
    """
    m, v = _moments(m, v, g, beta1, beta2)
    by = m / (_sqrt(v) + eps)
    return descent(p, by if is_zero(decay) else by + p * decay, lr), m, v


def adamw(
    p: Array,
    m: Array,
    v: Array,
    largest: Array | None,
    g: Array,
    lr: Number,
    power1: Number,
    power2: Number,
    beta1: float,
    beta2: float,
    eps: float,
    decay: float,
) -> tuple[Array, Array, Array, Array | None]:
    """Return a step of AdamW (Loshchilov and Hutter 2019), both moments corrected.

    (1 - lr * decay) * p - lr * m_hat / (sqrt(v_hat) + eps).

    ``largest``: the largest v so far (Reddi et al. 2018), which then replaces v; None for the plain form.
    """
    m, v = _moments(m, v, g, beta1, beta2)
    if largest is not None:
        largest = _as_state(array_module(p).maximum(largest, v), largest)
    divisor = _sqrt(v if largest is None else largest) / _sqrt(_rest(power2)) + eps
    if decay:
        p = p * (1 - lr * decay)
    return p - m / divisor * (lr / _rest(power1)), m, v, largest


def nadam(
    p: Array,
    m: Array,
    v: Array,
    g: Array,
    lr: Number,
    product: Number,
    mu: Number,
    next_mu: Number,
    power2: Number,
    beta1: float,
    beta2: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Return a step of NAdam (Dozat 2016): Adam with Nesterov's momentum.

    ``mu`` is this step's factor, ``product`` the product of all factors including it.
    """
    m, v = _moments(m, v, g, beta1, beta2)
    lr, product = _double(lr), _double(product)
    of_gradient, of_moment = lr * (1 - mu) / (1 - product), lr * next_mu / (1 - product * next_mu)
    return p - (g * _single(of_gradient) + m * _single(of_moment)) / (_sqrt(v / _rest(power2)) + eps), m, v


def radam(
    p: Array,
    m: Array,
    v: Array,
    g: Array,
    lr: Number,
    step: Number,
    power1: Number,
    power2: Number,
    beta1: float,
    beta2: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    """Return a step of RAdam (Liu et al. 2020): Adam rectified by the variance of its second moment.

    Without the second moment while its variance is unknown.
    """
    m, v = _moments(m, v, g, beta1, beta2)
    by = m * (lr / _rest(power1))
    variance_rest = 1.0 - power2
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * power2 / variance_rest
    if is_on_gpu(length):
        xp = array_module(length)
        root = _single(_sqrt(_rectified(xp.maximum(length, 5.0), longest) * variance_rest))
        by = xp.where(length > 5, by * root / (_sqrt(v) + eps), by)
    elif length > 5:
        by = by * math.sqrt(_rectified(length, longest) * variance_rest) / (_sqrt(v) + eps)
    return p - by, m, v


def _rectified(length: Any, longest: float) -> Any:
    """Return the square of ``radam``'s rectification, for a length from 5 on."""
    return (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)


def lamb(
    p: Array,
    m: Array,
    v: Array,
    g: Array,
    lr: Number,
    power1: Number,
    power2: Number,
    beta1: float,
    beta2: float,
    eps: float,
    decay: Number,
) -> tuple[Array, Array, Array]:
    """Return a step of LAMB (You et al. 2020): Adam with decay, both moments corrected, with the parameter's norm."""
    m, v = _moments(m, v, g, beta1, beta2)
    by = m / _rest(power1) / (_sqrt(v / _rest(power2)) + eps)
    if not is_zero(decay):
        by = by + p * decay
    length, slope = _norm(p), _norm(by)
    if is_on_gpu(length):
        trust = array_module(p).where((length > 0) & (slope > 0), length / slope, 1.0)
    else:
        trust = length / slope if length > 0 and slope > 0 else 1.0
    return p - by * (lr * trust), m, v


def lars(p: Array, g: Array, decay: Number, coefficient: float, eps: float, limit: Number | None) -> Array:
    """Return the scaled gradient of LARS (You et al. 2017).

    The gradient, with decay, times coefficient * |p| / (|g| + decay * |p| + eps).

    ``limit``: the learning rate, if the factor is limited to 1 after division by it; None for no limit.
    """
    length, slope = _norm(p), _norm(g)
    if is_on_gpu(length):
        return (g + p * decay) * _lars_factor(length, slope, decay, coefficient, eps, limit)
    factor = 1.0
    if length > 0 and slope > 0:
        factor = coefficient * length / (slope + decay * length + eps)
        if limit is not None:
            factor = min(factor / limit, 1.0) if limit else 1.0
    return (g + p * decay) * factor


def _lars_factor(
    length: Array, slope: Array, decay: Number, coefficient: float, eps: float, limit: Number | None
) -> Any:
    """Return the factor of ``lars`` from norms on a GPU."""
    xp = array_module(length)
    factor = coefficient * length / (slope + decay * length + eps)
    if limit is not None:  # if it is 0, the quotient is infinite, and the factor 1, as required
        factor = xp.minimum(factor / limit, 1.0)
    return xp.where((length > 0) & (slope > 0), factor, 1.0)


# Squares of the gradients so far.


def adagrad(
    p: Array, squares: Array, g: Array, lr: Number, eps: Number = 0.0, update_slots: bool = True
) -> tuple[Array, Array]:
    """Return a step of Adagrad (Duchi et al. 2011): a = a + g * g; p - lr * g / (sqrt(a) + eps)."""
    if update_slots:
        squares = _as_state(squares + g * g, squares)
    return p - lr * g / (_sqrt(squares) + eps), squares


def proximal_adagrad(p: Array, squares: Array, g: Array, lr: Number, l1: Number, l2: Number) -> tuple[Array, Array]:
    """Return a step of Adagrad, then shrunk towards 0 by l1 and l2 (Duchi and Singer 2009)."""
    squares = _as_state(squares + g * g, squares)
    rates = lr / _sqrt(squares)
    return _shrunk(p - rates * g, rates, l1, l2), squares


def adadelta(
    p: Array, squares: Array, steps: Array, g: Array, lr: Number, rho: Number, eps: Number
) -> tuple[Array, Array, Array]:
    """Return a step of Adadelta (Zeiler 2012), scaled by the ratio of past steps and past gradients."""
    squares = _as_state(_average(squares, g * g, rho), squares)
    by = _sqrt(steps + eps) / _sqrt(squares + eps) * g
    return p - lr * by, squares, _as_state(_average(steps, by * by, rho), steps)


def rmsprop(
    p: Array,
    mean: Array | None,
    squares: Array,
    moved: Array,
    g: Array,
    lr: Number,
    rho: Number,
    factor: Number,
    eps: Number,
) -> tuple[Array, Array | None, Array, Array]:
    """Return a step of RMSProp (Hinton 2012): u = factor * u + lr * g / sqrt(v + eps); p - u.

    ``mean``: the mean of the gradient, whose square is subtracted from v (Graves 2013); None if not centered.
    """
    squares = _as_state(_average(squares, g * g, rho), squares)
    under = squares + eps
    if mean is not None:
        mean = _as_state(_average(mean, g, rho), mean)
        under = under - mean * mean
    moved = _as_state(moved * factor + lr * g / _sqrt(under), moved)
    return p - moved, mean, squares, moved


def rmsprop_pytorch(
    p: Array,
    mean: Array | None,
    squares: Array,
    moved: Array,
    g: Array,
    lr: Number,
    rho: float,
    factor: float,
    eps: float,
) -> tuple[Array, Array | None, Array, Array]:
    """Return a step of RMSProp in PyTorch's form: u = factor * u + g / (sqrt(v) + eps); p - lr * u.

    ``mean``: as in ``rmsprop``.
    """
    squares = _as_state(_average(squares, g * g, rho), squares)
    size = squares
    if mean is not None:
        mean = _as_state(_average(mean, g, rho), mean)
        size = squares - mean * mean
    by = g / (_sqrt(size) + eps)
    if factor > 0:
        by = moved = _as_state(moved * factor + by, moved)
    return descent(p, by, lr), mean, squares, moved


def ftrl(
    p: Array, squares: Array, linear: Array, g: Array, lr: Number, l1: Number, l2: Number, power: Number
) -> tuple[Array, Array, Array]:
    """Return a step of FTRL (McMahan et al. 2013); ``power`` is -1/2 in the paper."""
    xp = array_module(p)
    total = squares + g * g
    power_now, power_before = total**-power, squares**-power
    z = _as_state(linear + g - (power_now - power_before) / lr * p, linear)
    new = (xp.sign(z) * l1 - z) / (power_now / lr + 2 * l2)
    return xp.where(xp.abs(z) > l1, new, 0), _as_state(total, squares), z


def adafactor_rate(step: Number, warms_up: bool) -> Any:
    """Return AdaFactor's relative rate (Shazeer and Stern 2018), which falls with the root of the step.

    ``warms_up``: it grows with the step before.
    """
    if is_on_gpu(step):
        slow = _double(step)
        most = 1e-6 * slow if warms_up else 1e-2
        return _single(array_module(step).minimum(1 / _sqrt(slow), most))
    return min(1e-6 * step if warms_up else 1e-2, 1 / math.sqrt(step))


def adafactor_share(step: Number, decay_rate: float) -> Any:
    """Return AdaFactor's decay factor of the second moment, 1 - t**-decay_rate (Shazeer and Stern 2018)."""
    return _single(1.0 - _double(step) ** -decay_rate)


def adafactor(
    p: Array,
    squares: list[Array],
    mean: Array | None,
    g: Array,
    lr: Number,
    beta2: Number,
    beta1: float,
    eps: tuple[float, float],
    clip: float,
    decay: float,
    scale_parameter: bool,
) -> tuple[Array, list[Array], Array | None]:
    """Return a step of AdaFactor (Shazeer and Stern 2018).

    ``squares`` is the second moment: for a matrix the row and column factors.

    Args:
        mean: the moving average of the steps, or None for steps that are not averaged.
        lr: multiplied by the root mean square of the parameter (at least eps[1]) with ``scale_parameter``.
        clip: the maximum of a step's root mean square, before the rate.
    """
    xp = array_module(p)
    if scale_parameter:
        lr = lr * _larger(eps[1], _root_mean_square(p))
    now = g * g + eps[0]
    if p.ndim > 1:
        rows, columns = (
            _as_state(_average(previous, widen_any(now).mean(axis=axis), beta2), previous)
            for previous, axis in zip(squares, (-1, -2), strict=True)
        )
        r = rows / widen_any(rows).mean(axis=-1, keepdims=True)
        by = g / xp.sqrt(r[..., None] * columns[..., None, :])
        squares = [rows, columns]
    else:
        squares = [_as_state(_average(squares[0], now, beta2), squares[0])]
        by = g / xp.sqrt(squares[0])
    by = by / _larger(1.0, _root_mean_square(by) / clip) * lr
    if mean is not None:
        by = mean = _as_state(_average(mean, by, beta1), mean)
    return p - by - p * (decay * lr), squares, mean
