"""Random tensors: their numbers come from the engine's one stream (``tensors.random``), a ``Generator`` or a seed.

The seed of a call starts a stream of its own: the same seed gives the same numbers, at each call. If an operator has
two (``seed2``, ``offset``), both count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Shape, TensorLike
from ...cpu.arrays import philox
from ...tape import taps
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import float32, int64, numpy_dtype
from ...tensors.generator import Generator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, compute, constant_array
from ..arguments import check_tensor, ints_of
from ..shapes.subscripts import getitem_operator

__all__ = [
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "shuffle",
    "standard_normal",
    "uniform",
]


@np.errstate(all="ignore")
def new_tensor(array: Array | float, dtype: DTypeLike = float32) -> Tensor:
    numbers = array if isinstance(array, np.ndarray) else np.asarray(array)
    drawn = Tensor._wrap(to_device(numbers.astype(numpy_dtype(dtype), copy=False)))
    if taps.operator_taps:
        taps.notify_operator("random_numbers", (), drawn, {})
    return drawn


def uniform_numbers(shape: tuple[int, ...], seed: int | None = None) -> Array:
    """Return ``random.uniform``, as a step of a plan."""
    numbers: Array = compute(random.uniform_at, *random.position_of_draw(shape, seed), shape)
    return numbers


def normal_numbers(shape: tuple[int, ...], seed: int | None = None) -> Array:
    """Return ``random.normal``, as a step of a plan."""
    numbers: Array = compute(random.normal_at, *random.position_of_draw(shape, seed), shape)
    return numbers


def _shape(size: Sequence[Any], name: str) -> tuple[int, ...]:
    lengths = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    shape = ints_of(tuple(lengths), name, "size") if len(lengths) else ()
    if any(n < 0 for n in shape):
        raise ValueError(f"For '{name}', 'size' must not be negative, but got {shape}")
    return shape


@np.errstate(all="ignore")
def host_parameter(x: TensorLike, name: str, argument: str) -> Array:
    if isinstance(x, Tensor):
        return x._array if isinstance(x._array, np.ndarray) else to_host(x._array)
    if not isinstance(x, int | float | list | tuple | np.ndarray | np.generic):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor or a number, but got {type(x).__name__}")
    try:
        return constant_array(np.asarray(x, np.float32))
    except (TypeError, ValueError):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor or numbers, but got {x!r}") from None


def inner_uniform(shape: tuple[int, ...], seed: int | None) -> Array:
    """Return uniform numbers inside (0, 1), in double precision: those of the stream are at most 1 - 2**-24."""
    return uniform_numbers(shape, seed).astype(np.float64) + 2.0**-33


def both_seeds(seed: int, second: int) -> int:
    """Return one seed from two; if the second is 0, it is the first."""
    return (seed + (second << 32)) % 2**64


def uniform_from(generator: Generator | None, shape: tuple[int, ...]) -> Array:
    if generator is None:
        return uniform_numbers(shape)
    return philox.uniform(*check_generator(generator).draw(math.prod(shape)), shape)


def normal_from(generator: Generator | None, shape: tuple[int, ...]) -> Array:
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
    return spread_integers(inner_uniform(shape, seed), low, high)


def check_fits_dtype(name: str, dtype: np.dtype[Any], **limits: int) -> None:
    """Raise ValueError if the least integer, or one more than the greatest, is outside the range of the dtype."""
    info = np.iinfo(dtype if dtype.kind in "iu" else np.int64)
    for excess, (argument, value) in enumerate(limits.items()):
        limit = info.max + excess
        if not info.min <= value <= limit:
            raise ValueError(
                f"For '{name}', '{argument}' must be in [{info.min}, {limit}] for {info.dtype}, but got {value}"
            )


def spread_integers(drawn: Array, low: int, high: int) -> Array:
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
    check_fits_dtype("randint", numpy_dtype(dtype or int64), low=low, high=high)
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
    return new_tensor(random_order(int(n), None if (seed, offset) == (-1, 0) else both_seeds(seed, offset)), dtype)


def random_order(n: int, seed: int | None) -> Array:
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
    return getitem_operator(source, index=random_order(source.shape[0], seed)) if source.ndim else source


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
    low, high = host_parameter(minval, "uniform", "minval"), host_parameter(maxval, "uniform", "maxval")
    target_shape = np.broadcast_shapes(ints_of(shape, "uniform", "shape"), low.shape, high.shape)
    if numpy_dtype(dtype).kind == "i":
        check_values(_check_limits, low, high)
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
    center, width = host_parameter(mean, "normal", "mean"), host_parameter(stddev, "normal", "stddev")
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
