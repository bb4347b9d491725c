"""Random tensors: their numbers come from the engine's one stream (``engine.random``), a ``Generator`` or a seed.

The seed of a call starts a stream of its own: the same seed gives the same numbers, at each call. If an operator has
two (``seed2``, ``offset``), both count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_not_negative, check_real, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Shape, TensorLike
from ...cpu.array_module import special_module
from ...cpu.arrays import philox
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import bool_, float32, int32, int64, numpy_dtype
from ...tensors.generator import Generator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import checked, computed, fixed
from ..arguments import bool_of, check_axes, check_tensor, int_of, ints_of
from ..shapes.subscripts import getitem_operator

__all__ = [
    "bernoulli", "bernoulli_ext", "choice_with_mask", "gamma", "laplace", "multinomial", "multinomial_with_replacement",
    "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random_categorical",
    "random_gamma", "random_poisson", "randperm", "shuffle", "standard_laplace", "standard_normal", "uniform"
]  # fmt: skip


@np.errstate(all="ignore")
def new_tensor(array: Array | float, dtype: DTypeLike = float32) -> Tensor:
    numbers = array if isinstance(array, np.ndarray) else np.asarray(array)
    return Tensor._wrap(to_device(numbers.astype(numpy_dtype(dtype), copy=False)))


def uniform_numbers(shape: tuple[int, ...], seed: int | None = None) -> Array:
    """Return ``random.uniform``, as a step of a plan."""
    numbers: Array = computed(random.uniform_at, *random.position_of_draw(shape, seed), shape)
    return numbers


def normal_numbers(shape: tuple[int, ...], seed: int | None = None) -> Array:
    """Return ``random.normal``, as a step of a plan."""
    numbers: Array = computed(random.normal_at, *random.position_of_draw(shape, seed), shape)
    return numbers


def _shape(size: Sequence[Any], name: str) -> tuple[int, ...]:
    lengths = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    shape = ints_of(tuple(lengths), name, "size") if len(lengths) else ()
    if any(n < 0 for n in shape):
        raise ValueError(f"For '{name}', 'size' must not be negative, but got {shape}")
    return shape


@np.errstate(all="ignore")
def _host(x: TensorLike, name: str, argument: str) -> Array:
    if isinstance(x, Tensor):
        return x._array if isinstance(x._array, np.ndarray) else to_host(x._array)
    if not isinstance(x, int | float | list | tuple | np.ndarray | np.generic):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor or a number, but got {type(x).__name__}")
    try:
        return fixed(np.asarray(x, np.float32))
    except (TypeError, ValueError):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor or numbers, but got {x!r}") from None


def inner_uniform(shape: tuple[int, ...], seed: int | None) -> Array:
    """Return uniform numbers inside (0, 1), in double precision: those of the stream are at most 1 - 2**-24."""
    return uniform_numbers(shape, seed).astype(np.float64) + 2.0**-33


def both_seeds(seed: int, second: int) -> int:
    """Return one seed from two; if the second is 0, it is the first."""
    return (seed + (second << 32)) % 2**64


def _uniform_of(generator: Generator | None, shape: tuple[int, ...]) -> Array:
    if generator is None:
        return uniform_numbers(shape)
    return philox.uniform(*check_generator(generator).draw(math.prod(shape)), shape)


def _normal_of(generator: Generator | None, shape: tuple[int, ...]) -> Array:
    if generator is None:
        return normal_numbers(shape)
    return philox.normal(*check_generator(generator).draw(math.prod(shape)), shape)


def check_generator(generator: object) -> Generator:
    """Return ``generator``; raise TypeError unless it is a Generator."""
    if not isinstance(generator, Generator):
        raise TypeError(f"'generator' must be a mindspore.Generator, but got {type(generator).__name__}")
    return generator


def _floating(dtype: DTypeLike | None, name: str) -> DTypeLike:
    result_dtype = dtype or float32
    if numpy_dtype(result_dtype).kind not in "fV":
        raise ValueError(f"For '{name}', 'dtype' must be a floating dtype, but got {result_dtype}")
    return result_dtype


def rand(*size: int | Sequence[int], dtype: DTypeLike | None = None, seed: int | None = None) -> Tensor:
    """Draw numbers uniformly from [0, 1).

    Args:
        *size: the shape, as ints or as one tuple or list; nothing gives a 0-d tensor.
        dtype: a floating dtype; None is Float32.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape ``size`` and of ``dtype``.

    Raises:
        TypeError: ``size`` holds values other than ints.
        ValueError: a negative length, or a ``dtype`` that is not floating.
    """
    return new_tensor(uniform_numbers(_shape(size, "rand"), seed), _floating(dtype, "rand"))


def randn(*size: int | Sequence[int], dtype: DTypeLike | None = None, seed: int | None = None) -> Tensor:
    """Draw numbers from the normal distribution with mean 0 and deviation 1.

    Args:
        *size: the shape, as ints or as one tuple or list; nothing gives a 0-d tensor.
        dtype: a floating dtype; None is Float32.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape ``size`` and of ``dtype``.

    Raises:
        TypeError: ``size`` holds values other than ints.
        ValueError: a negative length, or a ``dtype`` that is not floating.
    """
    return new_tensor(normal_numbers(_shape(size, "randn"), seed), _floating(dtype, "randn"))


def rand_like(input: Tensor, seed: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Draw numbers uniformly from [0, 1), in the input's shape.

    Args:
        input: the tensor that gives the shape.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: a floating dtype; None is that of ``input``.

    Returns:
        A tensor of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: the dtype is not floating.
    """
    return rand(*check_tensor(input, "rand_like").shape, dtype=dtype or input.dtype, seed=seed)


def randn_like(input: Tensor, seed: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Draw numbers from the normal distribution with mean 0 and deviation 1, in the input's shape.

    Args:
        input: the tensor that gives the shape.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: a floating dtype; None is Float32, whatever that of ``input`` is.

    Returns:
        A tensor of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: the dtype is not floating.
    """
    return randn(*check_tensor(input, "randn_like").shape, dtype=dtype or float32, seed=seed)


def integers(low: int, high: int, shape: tuple[int, ...], seed: int | None = None) -> Array:
    """Draw integers uniformly from [low, high).

    Args:
        low: the least of them.
        high: one more than the greatest.
        shape: of the array.
        seed: the same seed gives the same numbers; None draws from the engine's stream.

    Returns:
        An Int64 array.
    """
    return _spread(inner_uniform(shape, seed), low, high)


def _check_fits_dtype(name: str, dtype: np.dtype[Any], **limits: int) -> None:
    """Raise ValueError if the least integer, or one more than the greatest, is outside the range of the dtype."""
    info = np.iinfo(dtype if dtype.kind in "iu" else np.int64)
    for excess, (argument, value) in enumerate(limits.items()):
        limit = info.max + excess
        if not info.min <= value <= limit:
            raise ValueError(
                f"For '{name}', '{argument}' must be in [{info.min}, {limit}] for {info.dtype}, but got {value}"
            )


def _spread(drawn: Array, low: int, high: int) -> Array:
    """Map numbers of [0, 1) to integers of [low, high)."""
    offsets = np.asarray(np.floor(drawn * (high - low))).astype(np.uint64)  # limits may differ by 2**64
    result: Array = (offsets + np.uint64(low % 2**64)).view(np.int64)
    return result


def randint(
    low: int, high: int, size: Sequence[int], seed: int | None = None, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Draw integers uniformly from [low, high).

    Args:
        low: the least of them.
        high: one more than the greatest.
        size: the shape, a tuple or list of ints.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: of the result; None is Int64.

    Returns:
        A tensor of the shape ``size`` and of ``dtype``.

    Raises:
        TypeError: a limit that is not an int, or ``size`` is not a tuple.
        ValueError: no integer between the limits, one outside the range of ``dtype``, or a negative length.
    """
    for argument, value in (("low", low), ("high", high)):
        check_int(value, "randint", argument)
    _check_fits_dtype("randint", numpy_dtype(dtype or int64), low=low, high=high)
    check_type(size, list | tuple, "randint", "size", "a tuple")
    if low >= high:
        raise ValueError(f"For 'randint', 'low' must be less than 'high', but got {low} and {high}")
    return new_tensor(integers(low, high, _shape((size,), "randint"), seed), dtype or int64)


def randint_like(
    input: Tensor, low: int, high: int, seed: int | None = None, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Draw integers uniformly from [low, high), in the input's shape.

    Args:
        input: the tensor that gives the shape.
        low: the least of the integers.
        high: one more than the greatest.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: an integer dtype; None is that of ``input``.

    Returns:
        A tensor of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``input`` is not a Tensor, or a limit is not an int.
        ValueError: no integer between the limits, or the dtype is not an integer one.
    """
    result_dtype = check_tensor(input, "randint_like").dtype if dtype is None else dtype
    if numpy_dtype(result_dtype).kind not in "iu":
        raise ValueError(f"For 'randint_like', 'dtype' must be an integer dtype, but got {result_dtype}")
    return randint(low, high, input.shape, seed, dtype=result_dtype)


@declare(primitive=prim("RandpermV2", seed=0, offset=0, dtype=int64))
def randperm(n: int | Tensor, seed: int = 0, offset: int = 0, dtype: DTypeLike = int64) -> Tensor:
    """Return 0, 1, ..., n - 1 in random order, given by ``seed`` and ``offset``: by default the same at each call.

    Args:
        n: the length of the result, an int or an integer tensor of one element.
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
            requirement = "not be negative" if least == 0 else f"be at least {least}"
            raise ValueError(f"For 'randperm', '{name}' must {requirement}, but got {value}")
    return new_tensor(_order(int(n), None if (seed, offset) == (-1, 0) else both_seeds(seed, offset)), dtype)


def _order(n: int, seed: int | None) -> Array:
    return np.argsort(uniform_numbers((n,), seed), kind="stable")


def shuffle(x: Tensor, seed: int | None = None) -> Tensor:
    """Return the entries of the first axis in random order; entries stay whole.

    Args:
        x: a tensor of any shape; a 0-d one is returned as it is.
        seed: the same seed gives the same order; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    source = check_tensor(x, "shuffle", "x")
    return getitem_operator(source, index=_order(source.shape[0], seed)) if source.ndim else source


@np.errstate(all="ignore")
def uniform(
    shape: Shape, minval: TensorLike, maxval: TensorLike, seed: int | None = None, dtype: DTypeLike = float32
) -> Tensor:
    """Draw numbers uniformly from [minval, maxval); integers if ``dtype`` is an integer type.

    Args:
        shape: the shape, which broadcasts with those of the limits.
        minval: the least number, a tensor or a number.
        maxval: the end of the interval, a tensor or a number.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).
        dtype: of the result: a floating dtype or Int32.

    Returns:
        A tensor of the shape that ``shape``, ``minval`` and ``maxval`` broadcast to, of ``dtype``.

    Raises:
        TypeError: ``shape`` holds values other than ints.
        ValueError: the shapes do not broadcast, or an integer type with no integer between the limits.
    """
    low, high = _host(minval, "uniform", "minval"), _host(maxval, "uniform", "maxval")
    target_shape = np.broadcast_shapes(ints_of(shape, "uniform", "shape"), low.shape, high.shape)
    if numpy_dtype(dtype).kind == "i":
        checked(_check_limits, low, high)
        return new_tensor(np.floor(inner_uniform(target_shape, seed) * (high - low)) + low, dtype)
    return new_tensor(uniform_numbers(target_shape, seed) * (high - low) + low, dtype)


def _check_limits(low: Array, high: Array) -> None:
    if (low >= high).any():
        raise ValueError(f"For 'uniform', 'minval' must be less than 'maxval' everywhere, but got {low} and {high}")


@np.errstate(all="ignore")
def normal(shape: Shape, mean: TensorLike, stddev: TensorLike, seed: int | None = None) -> Tensor:
    """Draw numbers from the normal distribution with ``mean`` and deviation ``stddev``.

    Args:
        shape: the shape, which broadcasts with those of ``mean`` and ``stddev``.
        mean: the mean, a tensor or a number.
        stddev: the standard deviation, a tensor or a number.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of the shape that all three broadcast to.

    Raises:
        TypeError: ``shape`` holds values other than ints.
        ValueError: the shapes do not broadcast.
    """
    center, width = _host(mean, "normal", "mean"), _host(stddev, "normal", "stddev")
    target_shape = np.broadcast_shapes(ints_of(shape, "normal", "shape"), center.shape, width.shape)
    return new_tensor(normal_numbers(target_shape, seed) * width + center)


def standard_normal(shape: Shape, seed: int | None = None) -> Tensor:
    """Draw numbers from the normal distribution with mean 0 and deviation 1.

    Args:
        shape: the shape.
        seed: the same seed gives the same numbers; None draws from the engine's stream (``set_seed``).

    Returns:
        A Float32 tensor of that shape.

    Raises:
        TypeError: ``shape`` holds values other than ints.
    """
    return new_tensor(normal_numbers(ints_of(shape, "standard_normal", "shape"), seed))


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
    center, scale = _host(mean, "laplace", "mean"), _host(lambda_param, "laplace", "lambda_param")
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
    a, b = _host(alpha, "gamma", "alpha"), _host(beta, "gamma", "beta")
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
    r = _host(rate, "random_poisson", "rate")
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
    m = _host(mean, "poisson", "mean")
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
    chance = _host(p, "bernoulli", "p")
    checked(_check_chance, chance, p=p)
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
        offset: another offset gives other numbers of the same seed.

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
    return new_tensor(_uniform_of(generator, x.shape) < to_host(x._array), x.dtype)


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
    return new_tensor(_uniform_of(generator, input.shape) * (float(high) - float(low)) + float(low), input.dtype)


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
    return new_tensor(_normal_of(generator, input.shape) * float(width) + float(middle), input.dtype)


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
    return new_tensor(-np.log1p(-_uniform_of(generator, input.shape)) / rate, input.dtype)


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
    return new_tensor(_uniform_of(generator, input.shape) < _host(p, "bernoulli_", "p"), input.dtype)


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
    _check_fits_dtype("Tensor.random_", input._array.dtype, from_=low, to=high)
    return new_tensor(
        _spread(_uniform_of(generator, input.shape).astype(np.float64) + 2.0**-33, low, high), input.dtype
    )


@declare(method=True)
def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Draw ``num_samples`` indices of each row, with the weights of the row.

    Args:
        input: weights (N,) or (..., N), 0 or above; they need not sum to 1.
        num_samples: the number of indices drawn from each row.
        replacement: whether an index may be drawn again. Without it the keys log(u) / weight decide, largest first
            (Efraimidis and Spirakis 2006), and indices of weight 0 come last.
        seed: the same seed gives the same indices; None draws from the engine's stream (``set_seed``).

    Returns:
        An Int32 tensor (..., num_samples).

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a 0-d ``input``, a weight that is negative or not finite, a row of zeros, a negative
            ``num_samples``, or without ``replacement`` more than N.
    """
    weights = _host(check_axes(input, 1, "multinomial"), "multinomial", "input").astype(np.float64)
    num_samples = check_not_negative(int_of(num_samples, "multinomial", "num_samples"), "multinomial", "num_samples")
    checked(_check_weights, weights)
    rows = weights.reshape(-1, weights.shape[-1])
    if bool_of(replacement, "multinomial", "replacement"):
        edges = np.cumsum(rows, -1)
        u = inner_uniform((rows.shape[0], num_samples), seed) * edges[:, -1:]
        indices = (u[..., None] >= edges[:, None, :]).sum(-1)
    else:
        if num_samples > rows.shape[-1]:
            raise ValueError(f"For 'multinomial', at most {rows.shape[-1]} samples can be drawn, but got {num_samples}")
        # The keys log(u) / weight, largest first (Efraimidis and Spirakis 2006).
        keys = np.log(inner_uniform(rows.shape, seed)) / np.where(rows > 0, rows, 1e-300)
        indices = np.argsort(-keys, kind="stable")[:, :num_samples]
    return new_tensor(indices.reshape(*weights.shape[:-1], num_samples), int32)


def _check_weights(weights: Array) -> None:
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights.sum(-1) > 0).all()):
        raise ValueError(
            "For 'multinomial', weights in 'input' must be finite and not negative, and one of each row above 0"
        )


def multinomial_with_replacement(
    x: Tensor, seed: int | Tensor, offset: int | Tensor, numsamples: int, replacement: bool = False
) -> Tensor:
    """Draw ``numsamples`` indices of each row, with the weights of the row.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        seed: an int or a tensor of one: the same seed and ``offset`` give the same indices; 0 with the ``offset`` 0
            draws from the engine's stream (``set_seed``).
        offset: likewise; another offset gives other indices of the same seed.
        numsamples: the number of indices drawn from each row.
        replacement: whether an index may be drawn again.

    Returns:
        An Int64 tensor (numsamples,) or (M, numsamples).

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: weights that are invalid in ``multinomial``, or without ``replacement`` more samples than N.
    """
    name = "multinomial_with_replacement"
    combined = both_seeds(int_of(seed, name, "seed"), int_of(offset, name, "offset"))
    return multinomial(x, numsamples, replacement, combined or None).astype(int64)


@declare(method=True, primitive=prim("RandomCategorical", dtype=int64))
def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype: DTypeLike = int64) -> Tensor:
    """Draw ``num_sample`` indices for each row, with the softmax of the row and with replacement.

    Args:
        logits: logarithms of weights, (batch, classes).
        num_sample: the number of indices drawn from each row.
        seed: the same seed gives the same indices; 0 draws from the engine's stream (``set_seed``).
        dtype: of the result.

    Returns:
        A tensor (batch, num_sample) of ``dtype``.
    """
    weights = _host(logits, "random_categorical", "logits").astype(np.float64)
    powers = np.exp(weights - weights.max(-1, keepdims=True))
    return multinomial(Tensor._wrap(to_device(powers)), num_sample, True, seed or None).astype(dtype)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Draw ``count`` random indices of elements that are not 0, padded with 0, and return a mask of the drawn ones.

    Args:
        input_x: a tensor of at least 1 axis, of bools as a rule.
        count: the number of indices; if fewer elements are not 0, the remaining rows are 0.
        seed: the same seed gives the same indices; None draws from the engine's stream (``set_seed``).

    Returns:
        An Int32 tensor (count, input_x.ndim) with an index in each row, and a Bool tensor (count,): True where a row is
        drawn.
    """
    indices = np.argwhere(to_host(check_tensor(input_x, "choice_with_mask", "input_x")._array))
    selection = indices[_order(len(indices), seed)[:count]]
    full = np.zeros((count, input_x.ndim), np.int32)
    full[: len(selection)] = selection
    return new_tensor(full, int32), new_tensor(np.arange(count) < len(selection), bool_)
