"""Numbers of named distributions: gamma, Poisson's, Bernoulli's, Laplace's, ..., and Tensor methods that draw."""

from __future__ import annotations

import numpy as np

from ...base.argument_checks import check_real
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Shape, TensorLike
from ...cpu.array_module import special_module
from ...tensors.backend import to_host
from ...tensors.dtype import float32
from ...tensors.generator import Generator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values
from ..arguments import check_tensor, ints_of
from .drawing import (
    both_seeds,
    check_fits_dtype,
    host_parameter,
    inner_uniform,
    new_tensor,
    normal_from,
    normal_numbers,
    spread_integers,
    uniform_from,
    uniform_numbers,
)

__all__ = [
    "bernoulli",
    "bernoulli_ext",
    "gamma",
    "laplace",
    "poisson",
    "random_gamma",
    "random_poisson",
    "standard_laplace",
]


def standard_laplace(shape: Shape, seed: int | None = None) -> Tensor:
    """Draw numbers from Laplace's distribution with mean 0 and scale 1: the density is exp(-abs(x)) / 2.

    Args:
        shape: the shape.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of that shape.

    Raises:
        TypeError: ``shape`` holds values other than ints.
    """
    return laplace(shape, 0.0, 1.0, seed)


@np.errstate(all="ignore")
def laplace(shape: Shape, mean: TensorLike, lambda_param: TensorLike, seed: int | None = None) -> Tensor:
    """Draw numbers from Laplace's distribution: the density is exp(-abs(x - mean) / lambda_param) / (2 * lambda_param).

    Args:
        shape: the shape, which broadcasts with those of ``mean`` and ``lambda_param``.
        mean: the mean, a tensor or a number.
        lambda_param: the scale, a tensor or a number above 0.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape that all three broadcast to.

    Raises:
        TypeError: ``shape`` holds values other than ints.
        ValueError: the shapes do not broadcast.
    """
    center, scale = host_parameter(mean, "laplace", "mean"), host_parameter(lambda_param, "laplace", "lambda_param")
    target_shape = np.broadcast_shapes(ints_of(shape, "laplace", "shape"), center.shape, scale.shape)
    shifted = inner_uniform(target_shape, seed) - 0.5
    return new_tensor(center - scale * np.sign(shifted) * np.log1p(-2 * np.abs(shifted)))


@np.errstate(all="ignore")
def _standard_gamma(alpha: Array, seed: int | None) -> Array:
    """Draw gamma variables.

    Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).
    """
    boosted = np.where(alpha < 1, alpha + 1, alpha)
    d = boosted - 1 / 3
    c = 1 / np.sqrt(9 * d)
    numbers, pending = np.zeros(alpha.shape), np.ones(alpha.shape, bool)
    for attempt in range(64):
        if not pending.any():
            break
        stream = None if seed is None else seed + 2 * attempt
        x = normal_numbers(alpha.shape, stream).astype(np.float64)
        u = inner_uniform(alpha.shape, None if stream is None else stream + 1)
        v = (1 + c * x) ** 3
        accepted = (v > 0) & (np.log(u) < 0.5 * x * x + d - d * v + d * np.log(np.where(v > 0, v, 1)))
        numbers = np.where(pending & accepted, d * v, numbers)
        pending &= ~accepted
    extra = inner_uniform(alpha.shape, None if seed is None else seed + 1_000_003)
    numbers = np.where(alpha < 1, numbers * extra ** (1 / alpha), numbers)
    return np.where(alpha >= 0, numbers, np.nan)


def gamma(shape: Shape, alpha: Tensor, beta: Tensor, seed: int | None = None) -> Tensor:
    """Draw numbers from the gamma distribution with shape ``alpha`` and rate ``beta``; the mean is alpha / beta.

    Args:
        shape: the shape of the numbers for each pair of ``alpha`` and ``beta``.
        alpha: the shape of the distribution, above 0; a negative one gives NaN.
        beta: the rate, above 0, of a shape that broadcasts with that of ``alpha``.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape ``shape`` followed by the one that ``alpha`` and ``beta`` broadcast to.

    Raises:
        TypeError: ``shape`` holds values other than ints.
        ValueError: ``alpha`` and ``beta`` do not broadcast.
    """
    a, b = host_parameter(alpha, "gamma", "alpha"), host_parameter(beta, "gamma", "beta")
    target_shape = (*ints_of(shape, "gamma", "shape"), *np.broadcast_shapes(a.shape, b.shape))
    return new_tensor(_standard_gamma(np.broadcast_to(a, target_shape).astype(np.float64), seed) / b)


def random_gamma(shape: Shape, alpha: Tensor, seed: int | None = None) -> Tensor:
    """Draw numbers from the gamma distribution with shape ``alpha`` and rate 1.

    Args:
        shape: the shape of the numbers for each element of ``alpha``.
        alpha: the shape of the distribution, above 0, a floating tensor; a negative one gives NaN.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape ``shape`` followed by that of ``alpha``, of the dtype of ``alpha``.

    Raises:
        TypeError: ``shape`` holds values other than ints, or ``alpha`` is not a Tensor of floating-point numbers.
    """
    if not check_tensor(alpha, "random_gamma", "alpha").dtype.is_floating_point:
        raise TypeError(f"For 'random_gamma', 'alpha' must hold floating-point numbers, but got {alpha.dtype}")
    a = to_host(alpha._array)
    target_shape = (*ints_of(shape, "random_gamma", "shape"), *a.shape)
    return new_tensor(_standard_gamma(np.broadcast_to(a, target_shape).astype(np.float64), seed), alpha.dtype)


@np.errstate(all="ignore")
def _poisson(rate: Array, seed: int | None) -> Array:
    """Draw counts by inversion (Devroye 1986, X.3): term by term, from a rate of 50 on by the inverse function."""
    u = inner_uniform(rate.shape, seed)
    small = np.where(rate < 50, rate, 0.0)
    term = np.exp(-small)
    total, count = term.copy(), np.zeros(rate.shape)
    for k in range(1, 200):
        is_larger = u > total
        if not is_larger.any():
            break
        count += is_larger
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
    """Draw numbers from Poisson's distribution with mean ``rate``.

    Args:
        shape: the shape of the numbers for each element of ``rate``.
        rate: the mean, 0 or above.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: of the result; Float32 by default, Int64 in the class ``RandomPoisson``.

    Returns:
        A tensor of the shape ``shape`` followed by that of ``rate``, of ``dtype``.

    Raises:
        TypeError: ``shape`` holds values other than ints.
    """
    r = host_parameter(rate, "random_poisson", "rate")
    target_shape = (*ints_of(shape, "random_poisson", "shape"), *r.shape)
    return new_tensor(_poisson(np.broadcast_to(r, target_shape).astype(np.float64), seed), dtype)


def poisson(shape: Shape, mean: Tensor, seed: int | None = None) -> Tensor:
    """Draw numbers from Poisson's distribution with ``mean``.

    Args:
        shape: the shape, which broadcasts with that of ``mean``.
        mean: the mean, 0 or above.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape that both broadcast to.

    Raises:
        TypeError: ``shape`` holds values other than ints.
        ValueError: the shapes do not broadcast.
    """
    m = host_parameter(mean, "poisson", "mean")
    target_shape = np.broadcast_shapes(ints_of(shape, "poisson", "shape"), m.shape)
    return new_tensor(_poisson(np.broadcast_to(m, target_shape).astype(np.float64), seed))


def bernoulli(input: Tensor, p: TensorLike = 0.5, seed: int | None = None) -> Tensor:
    """Draw 1 with probability ``p`` and 0 otherwise, in the input's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype; its values are ignored.
        p: the probability of a 1, a number or a tensor that broadcasts to the shape of ``input``.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``p`` is not in [0, 1].
    """
    chance = host_parameter(p, "bernoulli", "p")
    check_values(_check_chance, chance, p=p)
    x = check_tensor(input, "bernoulli")
    return new_tensor(uniform_numbers(x.shape, seed) < chance, x.dtype)


def _check_chance(chance: Array, p: TensorLike) -> None:
    if ((chance < 0) | (chance > 1)).any():
        raise ValueError(f"For 'bernoulli', 'p' must be in [0, 1], but got {p}")


@declare(primitive=prim("Bernoulli", seed=-1, offset=0))
def _bernoulli(x: Tensor, p: TensorLike = 0.5, *, seed: int, offset: int) -> Tensor:
    """Draw 1 with probability ``p`` and 0 otherwise.

    Args:
        x: the tensor that gives the shape and dtype; its values are ignored.
        p: the probability of a 1, a number or a tensor that broadcasts to the shape of ``x``.
        seed: the same seed and ``offset`` give the same numbers at each call; -1 draws from the engine's stream.
        offset: a different offset draws different numbers for the same seed.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        ValueError: ``p`` is not in [0, 1].
    """
    return bernoulli(x, p, None if seed == -1 else both_seeds(seed, offset))


@declare(method="bernoulli")
def bernoulli_ext(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Draw 1 with the probability in each element of ``input``, and 0 otherwise.

    Args:
        input: probabilities, in [0, 1].
        generator: the source of the numbers; None is the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "bernoulli_ext")
    return new_tensor(uniform_from(generator, x.shape) < to_host(x._array), x.dtype)


# Methods of Tensor: numbers of a distribution in its shape and dtype.


@declare(method="uniform", in_place="uniform_")
def _uniform_of_tensor(input: Tensor, from_: float = 0, to: float = 1, generator: Generator | None = None) -> Tensor:
    """Draw numbers uniformly from [from_, to), in the tensor's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype.
        from_: the least number.
        to: the end of the interval.
        generator: the source of the numbers; None is the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    low, high = check_real(from_, "uniform", "from_"), check_real(to, "uniform", "to")
    return new_tensor(uniform_from(generator, input.shape) * (float(high) - float(low)) + float(low), input.dtype)


@declare(in_place="normal_")
def _normal_of_tensor(input: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Draw numbers from the normal distribution, in the tensor's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype.
        mean: the mean.
        std: the standard deviation.
        generator: the source of the numbers; None is the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    middle, width = check_real(mean, "normal", "mean"), check_real(std, "normal", "std")
    return new_tensor(normal_from(generator, input.shape) * float(width) + float(middle), input.dtype)


@declare(method=True)
@np.errstate(all="ignore")
def log_normal(input: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Draw numbers whose logarithms have the normal distribution, in the tensor's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype.
        mean: the mean of the logarithms.
        std: their standard deviation.

    Returns:
        A tensor of the shape and dtype of ``input``; the numbers come from the engine's stream (``set_seed``).
    """
    middle, width = check_real(mean, "log_normal", "mean"), check_real(std, "log_normal", "std")
    return new_tensor(np.exp(normal_numbers(input.shape) * float(width) + float(middle)), input.dtype)


@declare(method=True)
def _cauchy(input: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Draw numbers from the Cauchy distribution, in the tensor's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype.
        median: the middle of the distribution.
        sigma: half its width at half its height.

    Returns:
        A tensor of the shape and dtype of ``input``; the numbers come from the engine's stream (``set_seed``).
    """
    turns = uniform_numbers(input.shape) - 0.5
    middle, width = check_real(median, "cauchy", "median"), check_real(sigma, "cauchy", "sigma")
    return new_tensor(np.tan(np.pi * turns) * float(width) + float(middle), input.dtype)


@declare(in_place="exponential_")
def _exponential_of_tensor(input: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Draw numbers from the exponential distribution: the density is lambd * exp(-lambd * x).

    Args:
        input: the tensor that gives the shape and dtype.
        lambd: the rate, above 0; the mean is 1 / lambd.
        generator: the source of the numbers; None is the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    rate = float(check_real(lambd, "exponential_", "lambd"))
    return new_tensor(-np.log1p(-uniform_from(generator, input.shape)) / rate, input.dtype)


@declare(in_place="bernoulli_")
def _bernoulli_of_tensor(input: Tensor, p: TensorLike = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Draw 1 with probability ``p`` and 0 otherwise, in the tensor's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype; its values are ignored.
        p: the probability of a 1, a number or a tensor that broadcasts to the shape of ``input``.
        generator: the source of the numbers; None is the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.
    """
    return new_tensor(uniform_from(generator, input.shape) < host_parameter(p, "bernoulli_", "p"), input.dtype)


@declare(in_place="random_")
def _random_of_tensor(
    input: Tensor, from_: int = 0, to: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw integers uniformly from [from_, to), in the tensor's shape and dtype.

    Args:
        input: the tensor that gives the shape and dtype.
        from_: the least of them.
        to: one more than the greatest; None is the greatest number of an integer dtype, 2**24 for a floating one.
        generator: the source of the numbers; None is the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: no integer between the limits, or one outside the range of the dtype.
    """
    limit = 2**24 if input.dtype.is_floating_point else int(np.iinfo(input._array.dtype).max)
    low, high = int(from_), limit if to is None else int(to)
    if low >= high:
        raise ValueError(f"For 'Tensor.random_', 'from_' must be less than 'to', but got {low} and {high}")
    check_fits_dtype("Tensor.random_", input._array.dtype, from_=low, to=high)
    return new_tensor(
        spread_integers(uniform_from(generator, input.shape).astype(np.float64) + 2.0**-33, low, high), input.dtype
    )
