"""Random tensors: their numbers come from the engine's one stream (``engine.random``), a ``Generator`` or a seed.

A seed of a call starts a stream of its own: the same seed gives the same numbers, at each call. Where an operator has
two (``seed2``, ``offset``), both count.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import random
from ..core.backend import to_device, to_host
from ..core.checks import check_int, check_positive_int, check_type
from ..core.dtype import bool_, float32, int32, int64, numpy_dtype
from ..core.generator import Generator
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..core.types import Array, DTypeLike, Shape, TensorLike
from ..cpu import philox
from ..cpu.array_module import special_module
from .arguments import check_same_dtype, check_tensor, ints_of

__all__ = [
    "bernoulli", "bernoulli_ext", "choice_with_mask", "gamma", "laplace", "multinomial",
    "multinomial_with_replacement", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random_categorical", "random_gamma", "random_poisson", "randperm", "shuffle", "standard_laplace",
    "standard_normal", "uniform",
]  # fmt: skip


@np.errstate(all="ignore")
def _made(array: Array | float, dtype: DTypeLike = float32) -> Tensor:
    return Tensor._wrap(to_device(np.asarray(array).astype(numpy_dtype(dtype), copy=False)))


def _shape(size: Sequence[Any], name: str) -> tuple[int, ...]:
    given = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    wanted = ints_of(tuple(given), name, "size") if len(given) else ()
    if any(n < 0 for n in wanted):
        raise ValueError(f"For '{name}', 'size' must not be negative, but got {wanted}")
    return wanted


@np.errstate(all="ignore")
def _host(x: TensorLike, name: str, argument: str) -> Array:
    if isinstance(x, Tensor):
        return to_host(x._array)
    if not isinstance(x, int | float | list | tuple | np.ndarray | np.generic):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor or a number, but got {type(x).__name__}")
    return np.asarray(x, np.float32)


def _inner(shape: tuple[int, ...], seed: int | None) -> Array:
    """Uniform numbers inside (0, 1), in double precision: those of the stream are at most 1 - 2**-24."""
    return random.uniform(shape, seed).astype(np.float64) + 2.0**-33


def _both(seed: int, second: int) -> int:
    """One seed of two; of a second that is 0, the first."""
    return (seed + (second << 32)) % 2**64


def _uniform_of(generator: Generator | None, shape: tuple[int, ...]) -> Array:
    if generator is None:
        return random.uniform(shape)
    return philox.uniform(*generator.draw(math.prod(shape)), shape)


def _normal_of(generator: Generator | None, shape: tuple[int, ...]) -> Array:
    if generator is None:
        return random.normal(shape)
    return philox.normal(*generator.draw(math.prod(shape)), shape)


def _floating(dtype: DTypeLike | None, name: str) -> DTypeLike:
    wanted = dtype or float32
    if numpy_dtype(wanted).kind not in "fV":
        raise ValueError(f"For '{name}', 'dtype' must be a floating dtype, but got {wanted}")
    return wanted


def rand(*size: int | Sequence[int], dtype: DTypeLike | None = None, seed: int | None = None) -> Tensor:
    """Numbers evenly spread over [0, 1).

    Args:
        *size: the shape, as ints or as one tuple or list; nothing gives a 0-d tensor.
        dtype: a floating dtype; None is Float32.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape ``size`` and of ``dtype``.

    Raises:
        TypeError: ``size`` holds something else than ints.
        ValueError: a negative length, or a ``dtype`` that is not floating.
    """
    return _made(random.uniform(_shape(size, "rand"), seed), _floating(dtype, "rand"))


def randn(*size: int | Sequence[int], dtype: DTypeLike | None = None, seed: int | None = None) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1.

    Args:
        *size: the shape, as ints or as one tuple or list; nothing gives a 0-d tensor.
        dtype: a floating dtype; None is Float32.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape ``size`` and of ``dtype``.

    Raises:
        TypeError: ``size`` holds something else than ints.
        ValueError: a negative length, or a ``dtype`` that is not floating.
    """
    return _made(random.normal(_shape(size, "randn"), seed), _floating(dtype, "randn"))


def rand_like(input: Tensor, seed: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Numbers evenly spread over [0, 1), in the input's shape.

    Args:
        input: the tensor whose shape is taken.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: a floating dtype; None is that of ``input``.

    Returns:
        A tensor of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``input`` is no Tensor.
        ValueError: the dtype is not floating.
    """
    return rand(*check_tensor(input, "rand_like").shape, dtype=dtype or input.dtype, seed=seed)


def randn_like(input: Tensor, seed: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1, in the input's shape.

    Args:
        input: the tensor whose shape is taken.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: a floating dtype; None is Float32, whatever that of ``input`` is.

    Returns:
        A tensor of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``input`` is no Tensor.
        ValueError: the dtype is not floating.
    """
    return randn(*check_tensor(input, "randn_like").shape, dtype=dtype or float32, seed=seed)


def integers(low: int, high: int, shape: tuple[int, ...], seed: int | None = None) -> Array:
    """Integers evenly spread over [low, high).

    Args:
        low: the least of them.
        high: one more than the greatest.
        shape: of the array.
        seed: the same seed gives the same numbers; None draws from the engine's stream.

    Returns:
        An Int64 array.
    """
    return _spread(_inner(shape, seed), low, high)


def _spread(drawn: Array, low: int, high: int) -> Array:
    """Numbers of [0, 1) as integers of [low, high)."""
    return np.floor(drawn * (high - low)).astype(np.int64) + low


def randint(
    low: int, high: int, size: Sequence[int], seed: int | None = None, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Integers evenly spread over [low, high).

    Args:
        low: the least of them.
        high: one more than the greatest.
        size: the shape, a tuple or list of ints.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: of the result; None is Int64.

    Returns:
        A tensor of the shape ``size`` and of ``dtype``.

    Raises:
        TypeError: a limit that is no int, or ``size`` no tuple.
        ValueError: no integer between the limits, or a negative length.
    """
    for name, value in (("low", low), ("high", high)):
        check_int(value, "randint", name)
    check_type(size, list | tuple, "randint", "size", "a tuple")
    if low >= high:
        raise ValueError(f"For 'randint', 'low' must be less than 'high', but got {low} and {high}")
    return _made(integers(low, high, _shape((size,), "randint"), seed), dtype or int64)


def randint_like(
    input: Tensor, low: int, high: int, seed: int | None = None, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Integers evenly spread over [low, high), in the input's shape.

    Args:
        input: the tensor whose shape is taken.
        low: the least of the integers.
        high: one more than the greatest.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: an integer dtype; None is that of ``input``.

    Returns:
        A tensor of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``input`` is no Tensor, or a limit no int.
        ValueError: no integer between the limits, or the dtype is none of integers.
    """
    wanted = check_tensor(input, "randint_like").dtype if dtype is None else dtype
    if numpy_dtype(wanted).kind not in "iu":
        raise ValueError(f"For 'randint_like', 'dtype' must be an integer dtype, but got {wanted}")
    return randint(low, high, input.shape, seed, dtype=wanted)


@declare(primitive=prim("RandpermV2", seed=0, offset=0, dtype=int64))
def randperm(n: int | Tensor, seed: int = 0, offset: int = 0, dtype: DTypeLike = int64) -> Tensor:
    """0, 1, ..., n - 1 in random order, which ``seed`` and ``offset`` determine: without them it is the same each time.

    Args:
        n: how many numbers, an int or an integer tensor of one element.
        seed: 0 or above: the same seed and ``offset`` give the same order. -1 with the ``offset`` 0 draws another order
            each time, from the engine's stream (``set_seed``).
        offset: 0 or above; another offset is another order of the same seed.
        dtype: of the result.

    Returns:
        A vector of length ``n`` and of ``dtype``.

    Raises:
        ValueError: ``n`` or ``offset`` is negative, or ``seed`` less than -1.
    """
    for name, value, least in (("n", int(n), 0), ("seed", seed, -1), ("offset", offset, 0)):
        if value < least:
            allowed = "not be negative" if least == 0 else f"be at least {least}"
            raise ValueError(f"For 'randperm', '{name}' must {allowed}, but got {value}")
    return _made(_order(int(n), None if (seed, offset) == (-1, 0) else _both(seed, offset)), dtype)


def _order(n: int, seed: int | None) -> Array:
    return np.argsort(random.uniform((n,), seed), kind="stable")


def shuffle(x: Tensor, seed: int | None = None) -> Tensor:
    """The entries of the first axis in random order; entries stay whole.

    Args:
        x: a tensor of any shape; a 0-d one is returned as it is.
        seed: the same seed gives the same order; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    given = check_tensor(x, "shuffle", "x")
    return given[Tensor(_order(given.shape[0], seed))] if given.ndim else given


@np.errstate(all="ignore")
def uniform(
    shape: Shape, minval: TensorLike, maxval: TensorLike, seed: int | None = None, dtype: DTypeLike = float32
) -> Tensor:
    """Numbers evenly spread over [minval, maxval); whole numbers where ``dtype`` is an integer type.

    Args:
        shape: the shape, which broadcasts with those of the limits.
        minval: the least number, a tensor or a number.
        maxval: the end of the interval, a tensor or a number.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: of the result: a floating dtype or Int32.

    Returns:
        A tensor of the shape that ``shape``, ``minval`` and ``maxval`` broadcast to, of ``dtype``.

    Raises:
        TypeError: ``shape`` holds something else than ints.
        ValueError: the shapes do not broadcast, or an integer type with no integer between the limits.
    """
    low, high = _host(minval, "uniform", "minval"), _host(maxval, "uniform", "maxval")
    wanted = np.broadcast_shapes(ints_of(shape, "uniform", "shape"), low.shape, high.shape)
    if numpy_dtype(dtype).kind == "i":
        if (low >= high).any():
            raise ValueError(f"For 'uniform', 'minval' must be less than 'maxval' everywhere, but got {low} and {high}")
        return _made(np.floor(_inner(wanted, seed) * (high - low)) + low, dtype)
    return _made(random.uniform(wanted, seed) * (high - low) + low, dtype)


@np.errstate(all="ignore")
def normal(shape: Shape, mean: TensorLike, stddev: TensorLike, seed: int | None = None) -> Tensor:
    """Numbers of the normal distribution with ``mean`` and deviation ``stddev``.

    Args:
        shape: the shape, which broadcasts with those of ``mean`` and ``stddev``.
        mean: the mean, a tensor or a number.
        stddev: the standard deviation, a tensor or a number.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape that all three broadcast to.

    Raises:
        TypeError: ``shape`` holds something else than ints.
        ValueError: the shapes do not broadcast.
    """
    centre, width = _host(mean, "normal", "mean"), _host(stddev, "normal", "stddev")
    wanted = np.broadcast_shapes(ints_of(shape, "normal", "shape"), centre.shape, width.shape)
    return _made(random.normal(wanted, seed) * width + centre)


def standard_normal(shape: Shape, seed: int | None = None) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1.

    Args:
        shape: the shape.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of that shape.

    Raises:
        TypeError: ``shape`` holds something else than ints.
    """
    return _made(random.normal(ints_of(shape, "standard_normal", "shape"), seed))


def standard_laplace(shape: Shape, seed: int | None = None) -> Tensor:
    """Numbers of Laplace's distribution with mean 0 and scale 1: the density is exp(-abs(x)) / 2.

    Args:
        shape: the shape.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of that shape.

    Raises:
        TypeError: ``shape`` holds something else than ints.
    """
    return laplace(shape, 0.0, 1.0, seed)


@np.errstate(all="ignore")
def laplace(shape: Shape, mean: TensorLike, lambda_param: TensorLike, seed: int | None = None) -> Tensor:
    """Numbers of Laplace's distribution: the density is exp(-abs(x - mean) / lambda_param) / (2 * lambda_param).

    Args:
        shape: the shape, which broadcasts with those of ``mean`` and ``lambda_param``.
        mean: the mean, a tensor or a number.
        lambda_param: the scale, a tensor or a number above 0.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape that all three broadcast to.

    Raises:
        TypeError: ``shape`` holds something else than ints.
        ValueError: the shapes do not broadcast.
    """
    centre, scale = _host(mean, "laplace", "mean"), _host(lambda_param, "laplace", "lambda_param")
    wanted = np.broadcast_shapes(ints_of(shape, "laplace", "shape"), centre.shape, scale.shape)
    drawn = _inner(wanted, seed) - 0.5
    return _made(centre - scale * np.sign(drawn) * np.log1p(-2 * np.abs(drawn)))


@np.errstate(all="ignore")
def _standard_gamma(alpha: Array, seed: int | None) -> Array:
    """Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000)."""
    raised = np.where(alpha < 1, alpha + 1, alpha)
    d = raised - 1 / 3
    c = 1 / np.sqrt(9 * d)
    found, open_ = np.zeros(alpha.shape), np.ones(alpha.shape, bool)
    for attempt in range(64):
        if not open_.any():
            break
        stream = None if seed is None else seed + 2 * attempt
        x = random.normal(alpha.shape, stream).astype(np.float64)
        u = _inner(alpha.shape, None if stream is None else stream + 1)
        v = (1 + c * x) ** 3
        good = (v > 0) & (np.log(u) < 0.5 * x * x + d - d * v + d * np.log(np.where(v > 0, v, 1)))
        found = np.where(open_ & good, d * v, found)
        open_ &= ~good
    extra = _inner(alpha.shape, None if seed is None else seed + 1_000_003)
    found = np.where(alpha < 1, found * extra ** (1 / alpha), found)
    return np.where(alpha >= 0, found, np.nan)


def gamma(shape: Shape, alpha: Tensor, beta: Tensor, seed: int | None = None) -> Tensor:
    """Numbers of the gamma distribution with shape ``alpha`` and rate ``beta``; the mean is alpha / beta.

    Args:
        shape: how many numbers for each pair of ``alpha`` and ``beta``.
        alpha: the shape of the distribution, above 0; a negative one gives NaN.
        beta: the rate, above 0, of a shape that broadcasts with that of ``alpha``.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape ``shape`` followed by the one that ``alpha`` and ``beta`` broadcast to.

    Raises:
        TypeError: ``shape`` holds something else than ints.
        ValueError: ``alpha`` and ``beta`` do not broadcast.
    """
    a, b = _host(alpha, "gamma", "alpha"), _host(beta, "gamma", "beta")
    wanted = (*ints_of(shape, "gamma", "shape"), *np.broadcast_shapes(a.shape, b.shape))
    return _made(_standard_gamma(np.broadcast_to(a, wanted).astype(np.float64), seed) / b)


def random_gamma(shape: Shape, alpha: Tensor, seed: int | None = None) -> Tensor:
    """Numbers of the gamma distribution with shape ``alpha`` and rate 1.

    Args:
        shape: how many numbers for each element of ``alpha``.
        alpha: the shape of the distribution, above 0, a floating tensor; a negative one gives NaN.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape ``shape`` followed by that of ``alpha``, of the dtype of ``alpha``.

    Raises:
        TypeError: ``shape`` holds something else than ints, or ``alpha`` is no Tensor of floating-point numbers.
    """
    if not check_tensor(alpha, "random_gamma", "alpha").dtype.is_floating_point:
        raise TypeError(f"For 'random_gamma', 'alpha' must hold floating-point numbers, but got {alpha.dtype}")
    a = to_host(alpha._array)
    wanted = (*ints_of(shape, "random_gamma", "shape"), *a.shape)
    return _made(_standard_gamma(np.broadcast_to(a, wanted).astype(np.float64), seed), alpha.dtype)


@np.errstate(all="ignore")
def _poisson(rate: Array, seed: int | None) -> Array:
    """Counts by inversion (Devroye 1986, X.3): term by term, from a rate of 50 on by the inverse function."""
    u = _inner(rate.shape, seed)
    small = np.where(rate < 50, rate, 0.0)
    term = np.exp(-small)
    total, count = term.copy(), np.zeros(rate.shape)
    for k in range(1, 200):
        more = u > total
        if not more.any():
            break
        count += more
        term = term * small / k
        total = total + term
    if not (rate >= 50).any():
        return count
    special = special_module(rate)
    large = np.where(rate < 50, 50.0, rate)
    above = np.ceil(special.pdtrik(u, large))
    # The inverse is that of a continuous function: the count below may be enough already.
    below = np.maximum(above - 1, 0)
    return np.where(rate < 50, count, np.where(special.pdtr(below, large) >= u, below, above))


def random_poisson(shape: Shape, rate: Tensor, seed: int | None = None, dtype: DTypeLike = float32) -> Tensor:
    """Numbers of Poisson's distribution with mean ``rate``.

    Args:
        shape: how many numbers for each element of ``rate``.
        rate: the mean, 0 or above.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: of the result; Float32 by default, Int64 in the class ``RandomPoisson``.

    Returns:
        A tensor of the shape ``shape`` followed by that of ``rate``, of ``dtype``.

    Raises:
        TypeError: ``shape`` holds something else than ints.
    """
    r = _host(rate, "random_poisson", "rate")
    wanted = (*ints_of(shape, "random_poisson", "shape"), *r.shape)
    return _made(_poisson(np.broadcast_to(r, wanted).astype(np.float64), seed), dtype)


def poisson(shape: Shape, mean: Tensor, seed: int | None = None) -> Tensor:
    """Numbers of Poisson's distribution with ``mean``.

    Args:
        shape: the shape, which broadcasts with that of ``mean``.
        mean: the mean, 0 or above.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape that both broadcast to.

    Raises:
        TypeError: ``shape`` holds something else than ints.
        ValueError: the shapes do not broadcast.
    """
    m = _host(mean, "poisson", "mean")
    wanted = np.broadcast_shapes(ints_of(shape, "poisson", "shape"), m.shape)
    return _made(_poisson(np.broadcast_to(m, wanted).astype(np.float64), seed))


def bernoulli(input: Tensor, p: TensorLike = 0.5, seed: int | None = None) -> Tensor:
    """1 with probability ``p`` and 0 otherwise, in the input's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken; its values do not count.
        p: the probability of a 1, a number or a tensor that broadcasts to the shape of ``input``.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is no Tensor.
        ValueError: ``p`` is not in [0, 1].
    """
    chance = _host(p, "bernoulli", "p")
    if ((chance < 0) | (chance > 1)).any():
        raise ValueError(f"For 'bernoulli', 'p' must be in [0, 1], but got {p}")
    x = check_tensor(input, "bernoulli")
    return _made(random.uniform(x.shape, seed) < chance, x.dtype)


@declare(primitive=prim("Bernoulli", seed=-1, offset=0))
def _bernoulli(x: Tensor, p: TensorLike = 0.5, *, seed: int, offset: int) -> Tensor:
    """1 with probability ``p`` and 0 otherwise.

    Args:
        x: the tensor whose shape and dtype are taken; its values do not count.
        p: the probability of a 1, a number or a tensor that broadcasts to the shape of ``x``.
        seed: the same seed and ``offset`` give the same numbers at each call; -1 draws from the engine's stream.
        offset: another offset gives other numbers of the same seed.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        ValueError: ``p`` is not in [0, 1].
    """
    return bernoulli(x, p, None if seed == -1 else _both(seed, offset))


@declare(method="bernoulli")
def bernoulli_ext(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """1 with the probability that the element of ``input`` is, and 0 otherwise.

    Args:
        input: probabilities, in [0, 1].
        generator: whose stream the numbers come from; None is the engine's (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is no Tensor.
    """
    x = check_tensor(input, "bernoulli_ext")
    return _made(_uniform_of(generator, x.shape) < to_host(x._array), x.dtype)


# Of a tensor: numbers of a distribution in its shape and dtype.


@declare(method="uniform", in_place="uniform_")
def _uniform_of_tensor(input: Tensor, from_: float = 0, to: float = 1, generator: Generator | None = None) -> Tensor:
    """Numbers evenly spread over [from_, to), in the tensor's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken.
        from_: the least number.
        to: the end of the interval.
        generator: whose stream the numbers come from; None is the engine's (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    return _made(_uniform_of(generator, input.shape) * (float(to) - float(from_)) + float(from_), input.dtype)


@declare(in_place="normal_")
def _normal_of_tensor(input: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Numbers of the normal distribution, in the tensor's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken.
        mean: the mean.
        std: the standard deviation.
        generator: whose stream the numbers come from; None is the engine's (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    return _made(_normal_of(generator, input.shape) * float(std) + float(mean), input.dtype)


@declare(method=True)
@np.errstate(all="ignore")
def _log_normal(input: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Numbers whose logarithms have the normal distribution, in the tensor's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken.
        mean: the mean of the logarithms.
        std: their standard deviation.

    Returns:
        A tensor of the shape and dtype of ``input``; the numbers come from the engine's stream (``set_seed``).
    """
    return _made(np.exp(random.normal(input.shape) * float(std) + float(mean)), input.dtype)


@declare(method=True)
def _cauchy(input: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Numbers of the Cauchy distribution, in the tensor's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken.
        median: the middle of the distribution.
        sigma: half its width at half its height.

    Returns:
        A tensor of the shape and dtype of ``input``; the numbers come from the engine's stream (``set_seed``).
    """
    turns = random.uniform(input.shape) - 0.5
    return _made(np.tan(np.pi * turns) * float(sigma) + float(median), input.dtype)


@declare(in_place="exponential_")
def _exponential_of_tensor(input: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Numbers of the exponential distribution: the density is lambd * exp(-lambd * x).

    Args:
        input: the tensor whose shape and dtype are taken.
        lambd: the rate, above 0; the mean is 1 / lambd.
        generator: whose stream the numbers come from; None is the engine's (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    return _made(-np.log1p(-_uniform_of(generator, input.shape)) / float(lambd), input.dtype)


@declare(in_place="bernoulli_")
def _bernoulli_of_tensor(input: Tensor, p: TensorLike = 0.5, *, generator: Generator | None = None) -> Tensor:
    """1 with probability ``p`` and 0 otherwise, in the tensor's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken; its values do not count.
        p: the probability of a 1, a number or a tensor that broadcasts to the shape of ``input``.
        generator: whose stream the numbers come from; None is the engine's (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    return _made(_uniform_of(generator, input.shape) < _host(p, "bernoulli_", "p"), input.dtype)


@declare(in_place="random_")
def _random_of_tensor(
    input: Tensor, from_: int = 0, to: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Integers evenly spread over [from_, to), in the tensor's shape and dtype.

    Args:
        input: the tensor whose shape and dtype are taken.
        from_: the least of them.
        to: one more than the greatest; None is the greatest number of an integer dtype, 2**24 for a floating one.
        generator: whose stream the numbers come from; None is the engine's (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: no integer between the limits.
    """
    most = 2**24 if input.dtype.is_floating_point else int(np.iinfo(input._array.dtype).max)
    low, high = int(from_), most if to is None else int(to)
    if low >= high:
        raise ValueError(f"For 'Tensor.random_', 'from_' must be less than 'to', but got {low} and {high}")
    return _made(_spread(_uniform_of(generator, input.shape).astype(np.float64) + 2.0**-33, low, high), input.dtype)


@declare(method=True)
def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """``num_samples`` indices of each row, drawn with the weights of the row.

    Args:
        input: weights (N,) or (..., N), 0 or above; they need not sum to 1.
        num_samples: how many indices are drawn of each row.
        replacement: whether an index may be drawn again. Without it the keys log(u) / weight decide, largest first
            (Efraimidis and Spirakis 2006), and indices of weight 0 come last.
        seed: the same seed gives the same indices; None draws from the engine's stream (``set_seed``).

    Returns:
        An Int32 tensor (..., num_samples).

    Raises:
        TypeError: ``input`` is no Tensor.
        ValueError: a 0-d ``input``, a weight that is negative or not finite, a row of zeros, a negative
            ``num_samples``, or without ``replacement`` more than N.
    """
    weights = to_host(check_tensor(input, "multinomial")._array).astype(np.float64)
    if weights.ndim < 1 or num_samples < 0:
        raise ValueError(
            f"For 'multinomial', 'input' must have at least 1 axis and 'num_samples' not be negative, "
            f"but got shape {weights.shape} and {num_samples}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights.sum(-1) > 0).all()):
        raise ValueError(
            "For 'multinomial', weights in 'input' must be finite and not negative, and one of each row above 0"
        )
    rows = weights.reshape(-1, weights.shape[-1])
    if replacement:
        edges = np.cumsum(rows, -1)
        u = _inner((rows.shape[0], num_samples), seed) * edges[:, -1:]
        found = (u[..., None] >= edges[:, None, :]).sum(-1)
    else:
        if num_samples > rows.shape[-1]:
            raise ValueError(f"For 'multinomial', at most {rows.shape[-1]} samples can be drawn, but got {num_samples}")
        # The keys log(u) / weight, largest first (Efraimidis and Spirakis 2006).
        keys = np.log(_inner(rows.shape, seed)) / np.where(rows > 0, rows, 1e-300)
        found = np.argsort(-keys, kind="stable")[:, :num_samples]
    return _made(found.reshape(*weights.shape[:-1], num_samples), int32)


def multinomial_with_replacement(
    x: Tensor, seed: int, offset: int, numsamples: int, replacement: bool = False
) -> Tensor:
    """``numsamples`` indices of each row, drawn with the weights of the row.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        seed: the same seed and ``offset`` give the same indices; 0 with the ``offset`` 0 draws from the engine's stream
            (``set_seed``).
        offset: another offset gives other indices of the same seed.
        numsamples: how many indices are drawn of each row.
        replacement: whether an index may be drawn again.

    Returns:
        An Int64 tensor (numsamples,) or (M, numsamples).

    Raises:
        TypeError: ``x`` is no Tensor.
        ValueError: weights that ``multinomial`` refuses, or without ``replacement`` more samples than N.
    """
    return multinomial(x, numsamples, replacement, _both(seed, offset) or None).astype(int64)


@declare(method=True, primitive=prim("RandomCategorical", dtype=int64))
def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype: DTypeLike = int64) -> Tensor:
    """``num_sample`` indices for each row, drawn with the softmax of the row and put back.

    Args:
        logits: logarithms of weights, (batch, classes).
        num_sample: how many indices are drawn of each row.
        seed: the same seed gives the same indices; 0 draws from the engine's stream (``set_seed``).
        dtype: of the result.

    Returns:
        A tensor (batch, num_sample) of ``dtype``.
    """
    weights = _host(logits, "random_categorical", "logits").astype(np.float64)
    powers = np.exp(weights - weights.max(-1, keepdims=True))
    return multinomial(Tensor(powers), num_sample, True, seed or None).astype(dtype)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """``count`` random places where the input is not 0, filled up with 0, and a mask of those that are filled.

    Args:
        input_x: a tensor of at least 1 axis, of bools as a rule.
        count: how many places are wanted; where fewer hold, the rest of the rows is 0.
        seed: the same seed gives the same places; None draws from the engine's stream (``set_seed``).

    Returns:
        An Int32 tensor (count, input_x.ndim) with an index in each row, and a Bool tensor (count,): True where a row is
        a place.
    """
    places = np.argwhere(to_host(check_tensor(input_x, "choice_with_mask", "input_x")._array))
    chosen = places[_order(len(places), seed)[:count]]
    full = np.zeros((count, input_x.ndim), np.int32)
    full[: len(chosen)] = chosen
    return _made(full, int32), _made(np.arange(count) < len(chosen), bool_)


_SEEDS = """    seed: with ``seed2`` it determines the numbers, the same at each call; both 0 draw from the engine's
        stream (``set_seed``).
    seed2: another one gives other numbers of the same ``seed``.
"""


def _seeded(name: str, function: Callable[..., Tensor], **more: Any) -> None:
    """The class of a function, with two seeds."""

    @declare(primitive=prim(name, seed=0, seed2=0, **more))
    def drawn(*inputs: Any, seed: int, seed2: int, **settings: Any) -> Tensor:
        return function(*inputs, seed=_both(seed, seed2) or None, **settings)

    signature = inspect.signature(function)
    own = [
        one.replace(kind=one.KEYWORD_ONLY, default=one.empty) if one.name in more else one
        for one in signature.parameters.values()
        if one.name != "seed"
    ]
    seeds = [inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, annotation="int") for one in ("seed", "seed2")]
    drawn.__signature__ = signature.replace(parameters=[*own, *seeds])  # type: ignore[attr-defined]
    entry = r"^    seed: .*\n(?: {8}.*\n)*"
    drawn.__doc__ = re.sub(entry, _SEEDS, inspect.getdoc(function) or "", flags=re.MULTILINE)


def _uniform_real(shape: Shape, *, seed: int | None) -> Tensor:
    """Numbers evenly spread over [0, 1).

    Args:
        shape: the shape.
        seed: the same seed gives the same numbers.

    Returns:
        A Float32 tensor of that shape.

    Raises:
        TypeError: ``shape`` holds something else than ints.
    """
    return uniform(shape, 0.0, 1.0, seed)


def _uniform_int(shape: Shape, minval: int | Tensor, maxval: int | Tensor, *, seed: int | None) -> Tensor:
    """Whole numbers evenly spread over [minval, maxval).

    Args:
        shape: the shape.
        minval: the least of them, an int or a 0-d tensor.
        maxval: one more than the greatest, likewise.
        seed: the same seed gives the same numbers.

    Returns:
        An Int32 tensor of that shape.

    Raises:
        ValueError: no integer between the limits, or a negative length.
    """
    return randint(int(minval), int(maxval), ints_of(shape, "UniformInt", "shape"), seed, dtype=int32)


def _multinomial(x: Tensor, num_samples: int, *, seed: int | None, dtype: DTypeLike) -> Tensor:
    """``num_samples`` indices of each row, drawn with the weights of the row and put back.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        num_samples: how many indices are drawn of each row.
        seed: the same seed gives the same indices.
        dtype: of the result.

    Returns:
        A tensor (num_samples,) or (M, num_samples) of ``dtype``.

    Raises:
        ValueError: weights that ``ops.multinomial`` refuses.
    """
    return multinomial(x, num_samples, True, seed).astype(dtype)


_seeded("Gamma", gamma)
_seeded("Multinomial", _multinomial, dtype=int32)
_seeded("RandomGamma", random_gamma)
_seeded("RandomPoisson", random_poisson, dtype=int64)
_seeded("RandomShuffle", shuffle)
_seeded("StandardLaplace", standard_laplace)
_seeded("StandardNormal", standard_normal)
_seeded("UniformInt", _uniform_int)
_seeded("UniformReal", _uniform_real)


@declare(primitive=prim("RandomChoiceWithMask", count=256, seed=0, seed2=0))
def _random_choice_with_mask(input_x: Tensor, *, count: int, seed: int, seed2: int) -> tuple[Tensor, Tensor]:
    """``count`` random places where the input is True, filled up with 0, and a mask of those that are filled.

    Args:
        input_x: bools, a tensor of at least 1 axis.
        count: how many places are wanted, above 0; where fewer hold, the rest of the rows is 0.
        seed: with ``seed2`` it determines the places, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: another one gives other places of the same ``seed``.

    Returns:
        An Int32 tensor (count, input_x.ndim) with an index in each row, and a Bool tensor (count,): True where a row is
        a place.

    Raises:
        TypeError: ``input_x`` holds no bools, or ``count`` is no int.
        ValueError: ``count`` is not above 0.
    """
    name = "RandomChoiceWithMask"
    if check_tensor(input_x, name, "input_x")._array.dtype.kind != "b":
        raise TypeError(f"For '{name}', 'input_x' must be bools, but got {input_x.dtype}")
    return choice_with_mask(input_x, check_positive_int(count, name, "count"), _both(seed, seed2) or None)


@declare(primitive=prim("MultinomialWithReplacement", "numsamples", replacement=False))
def _multinomial_with_replacement(
    x: Tensor, seed: int | Tensor, offset: int | Tensor, *, numsamples: int, replacement: bool
) -> Tensor:
    """``numsamples`` indices of each row, drawn with the weights of the row.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        seed: an int or a tensor of one: the same seed and ``offset`` give the same indices; 0 with the ``offset`` 0
            draws from the engine's stream (``set_seed``).
        offset: another offset gives other indices of the same seed.
        numsamples: how many indices are drawn of each row.
        replacement: whether an index may be drawn again.

    Returns:
        An Int64 tensor (numsamples,) or (M, numsamples).

    Raises:
        TypeError: ``x`` is no Tensor.
        ValueError: weights that ``multinomial`` refuses, or without ``replacement`` more samples than N.
    """
    return multinomial_with_replacement(x, int(seed), int(offset), numsamples, replacement)


def _truncated(u: Array, low: Array | float, high: Array | float) -> Array:
    """Numbers of the normal distribution between two bounds, of uniform ones in (0, 1), by the inverse of its integral.

    In logarithms, and from the side where the integral is small, so that bounds far outside keep their digits.
    """
    special = special_module(u)
    turned = np.asarray(low) + np.asarray(high) > 0
    a, b = np.where(turned, -np.asarray(high), low), np.where(turned, -np.asarray(low), high)
    inside = np.logaddexp(special.log_ndtr(a) + np.log1p(-u), special.log_ndtr(b) + np.log(u))
    found = np.clip(special.ndtri_exp(inside), a, b)
    return np.where(turned, -found, found)


def _positive_shape(shape: Tensor, name: str) -> tuple[int, ...]:
    wanted = ints_of(check_tensor(shape, name, "shape"), name, "shape")
    if any(n < 1 for n in wanted):
        raise ValueError(f"For '{name}', 'shape' must be positive, but got {wanted}")
    return wanted


@declare(primitive=prim("TruncatedNormal", dtype=float32, seed=0, seed2=0))
def _truncated_normal(shape: Tensor, *, dtype: DTypeLike, seed: int, seed2: int) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1, of which those outside [-2, 2] are left out.

    Args:
        shape: the shape, an integer tensor.
        dtype: Float16, Float32 or Float64.
        seed: with ``seed2`` it determines the numbers, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: another one gives other numbers of the same ``seed``.

    Returns:
        A tensor of that shape and ``dtype``.

    Raises:
        TypeError: ``shape`` is no integer Tensor, or another ``dtype``.
        ValueError: a length is not positive.
    """
    if not isinstance(dtype, type(float32)) or numpy_dtype(dtype).kind != "f":
        raise TypeError(f"For 'TruncatedNormal', 'dtype' must be float16, float32 or float64, but got {dtype}")
    u = _inner(_positive_shape(shape, "TruncatedNormal"), _both(seed, seed2) or None)
    return _made(_truncated(u, -2.0, 2.0), dtype)


@declare(primitive=prim("ParameterizedTruncatedNormal", seed=0, seed2=0))
def _parameterized_truncated_normal(
    shape: Tensor, mean: Tensor, stdevs: Tensor, min: Tensor, max: Tensor, *, seed: int, seed2: int
) -> Tensor:
    """Numbers of the normal distribution, of which those outside [min, max] are left out.

    Args:
        shape: the shape (batch_size, ...), an integer tensor of at least two.
        mean: the mean before anything is left out: a tensor of one, or of one for each entry of the first axis.
        stdevs: the deviation, likewise, above 0.
        min: the least number, likewise.
        max: the greatest, likewise.
        seed: with ``seed2`` it determines the numbers, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: another one gives other numbers of the same ``seed``.

    Returns:
        A tensor of that shape, in the dtype of ``mean``.

    Raises:
        TypeError: an input is no Tensor, or they differ in dtype.
        ValueError: ``shape`` has fewer than two lengths or one that is not positive, or a parameter does not fit it.
        RuntimeError: ``min`` is not below ``max``, or ``stdevs`` not above 0.
    """
    name = "ParameterizedTruncatedNormal"
    wanted = _positive_shape(shape, name)
    if len(wanted) < 2:
        raise ValueError(f"For '{name}', 'shape' must have at least 2 lengths, but got {wanted}")
    given = {"mean": mean, "stdevs": stdevs, "min": min, "max": max}
    rows = {}
    for argument, one in given.items():
        if check_tensor(one, name, argument).size not in (1, wanted[0]) or one.ndim > 1:
            raise ValueError(
                f"For '{name}', '{argument}' must have the shape () or ({wanted[0]},), but got {one.shape}"
            )
        rows[argument] = to_host(one._array).astype(np.float64).reshape(-1, *(1,) * (len(wanted) - 1))
    check_same_dtype(name, **given)
    if not (rows["stdevs"] > 0).all() or not (rows["min"] < rows["max"]).all():
        raise RuntimeError(f"For '{name}', 'stdevs' must be above 0 and 'min' below 'max' in each row")
    low, high = ((rows[end] - rows["mean"]) / rows["stdevs"] for end in ("min", "max"))
    drawn = _truncated(_inner(wanted, _both(seed, seed2) or None), low, high) * rows["stdevs"] + rows["mean"]
    return _made(np.clip(drawn, rows["min"], rows["max"]), mean.dtype)


@declare(primitive=prim("Cauchy", "size", median=0.0, sigma=1.0))
def _cauchy_class(*, size: list[int], median: float, sigma: float) -> Tensor:
    """Numbers of the Cauchy distribution, whose density is sigma / (pi * ((x - median)^2 + sigma^2)).

    Args:
        size: the shape, a list of positive ints.
        median: the middle.
        sigma: the distance from the middle within which half of the numbers are.

    Returns:
        A Float32 tensor of that shape; the numbers come from the engine's stream (``set_seed``).

    Raises:
        TypeError: ``size`` is no list of ints, or another argument no float.
        ValueError: ``size`` is empty, or a length is not positive.
    """
    for argument, value, kind in (("size", size, list), ("median", median, float), ("sigma", sigma, float)):
        check_type(value, kind, "Cauchy", argument)
    wanted = ints_of(size, "Cauchy", "size")
    if not wanted or any(n < 1 for n in wanted):
        raise ValueError(f"For 'Cauchy', 'size' must be positive, but got {wanted}")
    return _made(median + sigma * np.tan(math.pi * (_inner(wanted, None) - 0.5)))


@declare(primitive=prim("NonDeterministicInts", dtype=int64))
def _non_deterministic_ints(shape: Tensor, *, dtype: DTypeLike) -> Tensor:
    """Whole numbers evenly spread over all that the dtype has.

    Args:
        shape: the shape, an integer tensor.
        dtype: Int32, Int64, UInt32 or UInt64.

    Returns:
        A tensor of that shape and ``dtype``; the numbers come from the engine's stream (``set_seed``).

    Raises:
        TypeError: ``shape`` is no integer Tensor, or another ``dtype``.
        ValueError: a length is not positive.
    """
    kind = numpy_dtype(dtype)
    if kind.kind not in "iu" or kind.itemsize < 4:
        raise TypeError(f"For 'NonDeterministicInts', 'dtype' must be int32, int64, uint32 or uint64, but got {dtype}")
    wanted = _positive_shape(shape, "NonDeterministicInts")
    words = math.prod(wanted) * (kind.itemsize // 4)
    seed, offset = random.draw(words)
    bits = philox.philox_uint32(seed, np.arange(words, dtype=np.uint64) + np.uint64(offset))
    return Tensor._wrap(to_device(bits.view(kind).reshape(wanted)))


@declare(primitive=prim("LogNormalReverse", mean=1.0, std=2.0))
def _log_normal_reverse(input: Tensor, *, mean: float, std: float) -> Tensor:
    """Numbers whose logarithms have the normal distribution, in the input's shape and dtype.

    Args:
        input: a tensor of floating numbers, whose shape and dtype are taken.
        mean: the mean of the logarithms.
        std: their standard deviation.

    Returns:
        A tensor of the shape and dtype of ``input``; the numbers come from the engine's stream (``set_seed``).

    Raises:
        TypeError: ``input`` is no Tensor of floating numbers, or a setting no float.
    """
    for argument, value in (("mean", mean), ("std", std)):
        check_type(value, float, "LogNormalReverse", argument)
    if check_tensor(input, "LogNormalReverse")._array.dtype.kind not in "fV":
        raise TypeError(f"For 'LogNormalReverse', 'input' must be floating numbers, but got {input.dtype}")
    return _log_normal(input, mean, std)
