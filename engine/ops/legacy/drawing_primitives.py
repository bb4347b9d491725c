"""Classes that draw random numbers: the functions of ``drawing`` with two seeds, and those without a function."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_positive_int, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Shape
from ...cpu.array_module import special_module
from ...cpu.arrays import philox
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import float32, int32, int64, numpy_dtype
from ...tensors.tensor import Tensor
from ..arguments import check_same_dtype, check_tensor, ints_of
from ..random.distributions import gamma, log_normal, random_gamma, random_poisson, standard_laplace
from ..random.drawing import both_seeds, inner_uniform, new_tensor, randint, shuffle, standard_normal, uniform
from ..random.multinomial import choice_with_mask, multinomial, multinomial_with_replacement

__all__: list[str] = []


_SEEDS = """    seed: with ``seed2`` it determines the numbers, the same at each call; both 0 draw from the engine's
        stream (``set_seed``).
    seed2: a different one draws different numbers for the same ``seed``.
"""


def _seeded(name: str, function: Callable[..., Tensor], **more: Any) -> None:
    """Declare the class of a function, with two seeds."""

    @declare(primitive=prim(name, seed=0, seed2=0, **more))
    def draw(*inputs: Any, seed: int, seed2: int, **settings: Any) -> Tensor:
        return function(*inputs, seed=both_seeds(seed, seed2) or None, **settings)

    signature = inspect.signature(function)
    parameters = [
        item.replace(kind=item.KEYWORD_ONLY, default=item.empty) if item.name in more else item
        for item in signature.parameters.values()
        if item.name != "seed"
    ]
    seeds = [inspect.Parameter(item, inspect.Parameter.KEYWORD_ONLY, annotation="int") for item in ("seed", "seed2")]
    draw.__signature__ = signature.replace(parameters=[*parameters, *seeds])  # type: ignore[attr-defined]
    entry = r"^    seed: .*\n(?: {8}.*\n)*"
    draw.__doc__ = re.sub(entry, _SEEDS, inspect.getdoc(function) or "", flags=re.MULTILINE)


def _uniform_real(shape: Shape, *, seed: int | None) -> Tensor:
    """Draw numbers uniformly from [0, 1).

    Args:
        shape: the shape.
        seed: the same seed gives the same numbers.

    Returns:
        A Float32 tensor of that shape.

    Raises:
        TypeError: ``shape`` holds values other than ints.
    """
    return uniform(shape, 0.0, 1.0, seed)


def _uniform_int(shape: Shape, minval: int | Tensor, maxval: int | Tensor, *, seed: int | None) -> Tensor:
    """Draw integers uniformly from [minval, maxval).

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
    """Draw ``num_samples`` indices of each row, with the weights of the row and with replacement.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        num_samples: the number of indices drawn from each row.
        seed: the same seed gives the same indices.
        dtype: of the result.

    Returns:
        A tensor (num_samples,) or (M, num_samples) of ``dtype``.

    Raises:
        ValueError: weights that are invalid in ``ops.multinomial``.
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


_MOST_BYTES = 1 << 30
"""Most bytes of a result whose length only a number determines; a larger one is a mistake, such as the largest int."""


@declare(primitive=prim("RandomChoiceWithMask", count=256, seed=0, seed2=0))
def _random_choice_with_mask(input_x: Tensor, *, count: int, seed: int, seed2: int) -> tuple[Tensor, Tensor]:
    """Draw ``count`` random indices of elements that are True, padded with 0, and return a mask of the drawn ones.

    Args:
        input_x: bools, a tensor of at least 1 axis.
        count: the number of indices, above 0; if fewer elements are True, the remaining rows are 0.
        seed: with ``seed2`` it determines the indices, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: a different one draws different indices for the same ``seed``.

    Returns:
        An Int32 tensor (count, input_x.ndim) with an index in each row, and a Bool tensor (count,): True where a row is
        drawn.

    Raises:
        TypeError: ``input_x`` does not hold bools, or ``count`` is not an int.
        ValueError: ``count`` is not above 0, or the result would take more than 1 GiB.
    """
    name = "RandomChoiceWithMask"
    if check_tensor(input_x, name, "input_x")._array.dtype.kind != "b":
        raise TypeError(f"For '{name}', 'input_x' must be bools, but got {input_x.dtype}")
    size = check_positive_int(count, name, "count") * (4 * input_x.ndim + 1)
    if size > _MOST_BYTES:
        raise ValueError(
            f"For '{name}', 'count' must let the result fit into 1 GiB, but {count} rows take {size / 2**30:.1f} GiB"
        )
    return choice_with_mask(input_x, count, both_seeds(seed, seed2) or None)


@declare(primitive=prim("MultinomialWithReplacement", "numsamples", replacement=False))
def _multinomial_with_replacement(
    x: Tensor, seed: int | Tensor, offset: int | Tensor, *, numsamples: int, replacement: bool
) -> Tensor:
    """Draw ``numsamples`` indices of each row, with the weights of the row.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        seed: an int or a tensor of one: the same seed and ``offset`` give the same indices; 0 with the ``offset`` 0
            draws from the engine's stream (``set_seed``).
        offset: another offset gives other indices of the same seed.
        numsamples: the number of indices drawn from each row.
        replacement: whether an index may be drawn again.

    Returns:
        An Int64 tensor (numsamples,) or (M, numsamples).

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: weights that are invalid in ``multinomial``, or without ``replacement`` more samples than N.
    """
    return multinomial_with_replacement(x, int(seed), int(offset), numsamples, replacement)


def _truncated(u: Array, low: Array | float, high: Array | float) -> Array:
    """Map uniform numbers in (0, 1) to normal ones between two bounds, by the inverse of the normal integral.

    It works in logarithms, and from the side where the integral is small, so that bounds far outside keep their digits.
    """
    special = special_module(u)
    mirrored = np.asarray(low) + np.asarray(high) > 0
    a, b = np.where(mirrored, -np.asarray(high), low), np.where(mirrored, -np.asarray(low), high)
    inside = np.logaddexp(special.log_ndtr(a) + np.log1p(-u), special.log_ndtr(b) + np.log(u))
    result = np.clip(special.ndtri_exp(inside), a, b)
    return np.where(mirrored, -result, result)


def _positive_shape(shape: Tensor, name: str) -> tuple[int, ...]:
    lengths = ints_of(check_tensor(shape, name, "shape"), name, "shape")
    if any(n < 1 for n in lengths):
        raise ValueError(f"For '{name}', 'shape' must be positive, but got {lengths}")
    return lengths


@declare(primitive=prim("TruncatedNormal", dtype=float32, seed=0, seed2=0))
def _truncated_normal(shape: Tensor, *, dtype: DTypeLike, seed: int, seed2: int) -> Tensor:
    """Draw numbers from the normal distribution with mean 0 and deviation 1, without those outside [-2, 2].

    Args:
        shape: the shape, an integer tensor.
        dtype: Float16, Float32 or Float64.
        seed: with ``seed2`` it determines the numbers, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: a different one draws different numbers for the same ``seed``.

    Returns:
        A tensor of that shape and ``dtype``.

    Raises:
        TypeError: ``shape`` is not an integer Tensor, or an unsupported ``dtype``.
        ValueError: a length is not positive.
    """
    if not isinstance(dtype, type(float32)) or numpy_dtype(dtype).kind != "f":
        raise TypeError(f"For 'TruncatedNormal', 'dtype' must be float16, float32 or float64, but got {dtype}")
    u = inner_uniform(_positive_shape(shape, "TruncatedNormal"), both_seeds(seed, seed2) or None)
    return new_tensor(_truncated(u, -2.0, 2.0), dtype)


@declare(primitive=prim("ParameterizedTruncatedNormal", seed=0, seed2=0))
def _parameterized_truncated_normal(
    shape: Tensor, mean: Tensor, stdevs: Tensor, min: Tensor, max: Tensor, *, seed: int, seed2: int
) -> Tensor:
    """Draw numbers from the normal distribution, without those outside [min, max].

    Args:
        shape: the shape (batch_size, ...), an integer tensor of at least two.
        mean: the mean before any number is left out: a tensor of one, or of one for each entry of the first axis.
        stdevs: the deviation, likewise, above 0.
        min: the least number, likewise.
        max: the greatest, likewise.
        seed: with ``seed2`` it determines the numbers, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: a different one draws different numbers for the same ``seed``.

    Returns:
        A tensor of that shape, in the dtype of ``mean``.

    Raises:
        TypeError: an input is not a Tensor, or they differ in dtype.
        ValueError: ``shape`` has fewer than two lengths or one that is not positive, or a parameter does not fit it.
        RuntimeError: ``min`` is not below ``max``, or ``stdevs`` not above 0.
    """
    name = "ParameterizedTruncatedNormal"
    target_shape = _positive_shape(shape, name)
    if len(target_shape) < 2:
        raise ValueError(f"For '{name}', 'shape' must have at least 2 lengths, but got {target_shape}")
    parameters = {"mean": mean, "stdevs": stdevs, "min": min, "max": max}
    rows = {}
    for argument, tensor in parameters.items():
        if check_tensor(tensor, name, argument).size not in (1, target_shape[0]) or tensor.ndim > 1:
            raise ValueError(
                f"For '{name}', '{argument}' must have the shape () or ({target_shape[0]},), but got {tensor.shape}"
            )
        rows[argument] = to_host(tensor._array).astype(np.float64).reshape(-1, *(1,) * (len(target_shape) - 1))
    check_same_dtype(name, **parameters)
    if not (rows["stdevs"] > 0).all() or not (rows["min"] < rows["max"]).all():
        raise RuntimeError(f"For '{name}', 'stdevs' must be above 0 and 'min' below 'max' in each row")
    low, high = ((rows[end] - rows["mean"]) / rows["stdevs"] for end in ("min", "max"))
    numbers = (
        _truncated(inner_uniform(target_shape, both_seeds(seed, seed2) or None), low, high) * rows["stdevs"]
        + rows["mean"]
    )
    return new_tensor(np.clip(numbers, rows["min"], rows["max"]), mean.dtype)


@declare(primitive=prim("Cauchy", "size", median=0.0, sigma=1.0))
def _cauchy_class(*, size: list[int], median: float, sigma: float) -> Tensor:
    """Draw numbers from the Cauchy distribution, whose density is sigma / (pi * ((x - median)^2 + sigma^2)).

    Args:
        size: the shape, a list of positive ints.
        median: the middle.
        sigma: the distance from the middle within which half of the numbers are.

    Returns:
        A Float32 tensor of that shape; the numbers come from the engine's stream (``set_seed``).

    Raises:
        TypeError: ``size`` is not a list of ints, or another argument is not a float.
        ValueError: ``size`` is empty, or a length is not positive.
    """
    for argument, value, kind in (("size", size, list), ("median", median, float), ("sigma", sigma, float)):
        check_type(value, kind, "Cauchy", argument)
    lengths = ints_of(size, "Cauchy", "size")
    if not lengths or any(n < 1 for n in lengths):
        raise ValueError(f"For 'Cauchy', 'size' must be positive, but got {lengths}")
    return new_tensor(median + sigma * np.tan(math.pi * (inner_uniform(lengths, None) - 0.5)))


@declare(primitive=prim("NonDeterministicInts", dtype=int64))
def _non_deterministic_ints(shape: Tensor, *, dtype: DTypeLike) -> Tensor:
    """Draw integers uniformly from all that the dtype has.

    Args:
        shape: the shape, an integer tensor.
        dtype: Int32, Int64, UInt32 or UInt64.

    Returns:
        A tensor of that shape and ``dtype``; the numbers come from the engine's stream (``set_seed``).

    Raises:
        TypeError: ``shape`` is not an integer Tensor, or an unsupported ``dtype``.
        ValueError: a length is not positive.
    """
    kind = numpy_dtype(dtype)
    if kind.kind not in "iu" or kind.itemsize < 4:
        raise TypeError(f"For 'NonDeterministicInts', 'dtype' must be int32, int64, uint32 or uint64, but got {dtype}")
    target_shape = _positive_shape(shape, "NonDeterministicInts")
    count = math.prod(target_shape) * (kind.itemsize // 4)
    seed, offset = random.draw(count)
    bits = philox.philox_uint32(seed, np.arange(count, dtype=np.uint64) + np.uint64(offset))
    return Tensor._wrap(to_device(bits.view(kind).reshape(target_shape)))


@declare(primitive=prim("LogNormalReverse", mean=1.0, std=2.0))
def _log_normal_reverse(input: Tensor, *, mean: float, std: float) -> Tensor:
    """Draw numbers whose logarithms have the normal distribution, in the input's shape and dtype.

    Args:
        input: a tensor of floating numbers, which gives the shape and dtype.
        mean: the mean of the logarithms.
        std: their standard deviation.

    Returns:
        A tensor of the shape and dtype of ``input``; the numbers come from the engine's stream (``set_seed``).

    Raises:
        TypeError: ``input`` is not a Tensor of floating numbers, or a setting is not a float.
    """
    for argument, value in (("mean", mean), ("std", std)):
        check_type(value, float, "LogNormalReverse", argument)
    if check_tensor(input, "LogNormalReverse")._array.dtype.kind not in "fV":
        raise TypeError(f"For 'LogNormalReverse', 'input' must be floating numbers, but got {input.dtype}")
    return log_normal(input, mean, std)


@declare(primitive=prim("Uniform", minval=0.0, maxval=1.0, seed=0, offset=0))
def _uniform_like(x: Tensor, *, minval: float, maxval: float, seed: int, offset: int) -> Tensor:
    """Draw numbers uniformly from [minval, maxval), in the input's shape and dtype.

    Args:
        x: a tensor of Float16, Float32 or Float64, which gives the shape and dtype.
        minval: the least number, 0 or above.
        maxval: the end of the interval, not below it.
        seed: with ``offset`` it determines the numbers, the same at each call; both 0 draw from the engine's
            stream (``set_seed``).
        offset: a different one draws different numbers for the same ``seed``.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor of such numbers, a bound is not a float, or a seed is not an int.
        ValueError: the bounds are negative, or in the other order.
    """
    for argument, value, kind in (
        ("minval", minval, float),
        ("maxval", maxval, float),
        ("seed", seed, int),
        ("offset", offset, int),
    ):
        check_type(value, kind, "Uniform", argument)
    if not 0 <= minval <= maxval:
        raise ValueError(f"For 'Uniform', 'minval' and 'maxval' must rise from 0 on, but got {minval} and {maxval}")
    if check_tensor(x, "Uniform", "x")._array.dtype.kind != "f":
        raise TypeError(f"For 'Uniform', 'x' must be Float16, Float32 or Float64, but got {x.dtype}")
    numbers = inner_uniform(x.shape, both_seeds(seed, offset) or None)
    return new_tensor(minval + (maxval - minval) * numbers, x.dtype)
