"""Creation and drawing of tensors of ``mindspore.mint``, where signatures differ from those in ``ops``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.types import DTypeLike, Operand, Shape
from ...ops.arguments import check_tensor, ints_of
from ...ops.random.drawing import check_generator
from ...tensors.dtype import DType, int64, numpy_dtype
from ...tensors.generator import Generator
from ...tensors.tensor import Tensor

__all__ = [
    "bernoulli",
    "clone",
    "empty",
    "empty_like",
    "linspace",
    "multinomial",
    "normal",
    "ones",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "zeros",
]


def linspace(start: Operand, end: Operand, steps: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return start + k * (end - start) / (steps - 1) for k from 0 to steps - 1, both ends included. No gradient passes.

    Args:
        start: the first number, a number or a 0-d tensor.
        end: the last number, a number or a 0-d tensor.
        steps: the number of values, an int of at least 1; a single one is ``start``.
        dtype: the dtype of the result; by default Float32.

    Returns:
        a Tensor of shape (steps,).

    Raises:
        TypeError: ``steps`` is not an int.
        ValueError: ``steps`` is below 1, or a tensor has axes.
    """
    numbers = ops.linspace(start, end, steps)
    return numbers if dtype is None else ops.cast(numbers, dtype)


# Creation


def zeros(size: Shape, *more: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return a Tensor of zeros.

    Args:
        size: the length of each axis, as a tuple or list of ints; or the first of them.
        *more: the other lengths, if passed separately.
        dtype: the element type; None is Float32.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``size`` are not ints.
    """
    return ops.zeros(_shape((size, *more)), dtype)


def ones(size: Shape, *more: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return a Tensor of ones.

    Args:
        size: the length of each axis, as a tuple or list of ints; or the first of them.
        *more: the other lengths, if passed separately.
        dtype: the element type; None is Float32.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``size`` are not ints.
    """
    return ops.ones(_shape((size, *more)), dtype)


def empty(*size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a Tensor of a shape with unspecified values; they are zeros.

    Args:
        *size: the length of each axis, or a tuple or list of them.
        dtype: the element type; None is Float32.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``size`` are not ints.
    """
    return ops.zeros(_shape(size), dtype)


def empty_like(input: Tensor, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a Tensor of another's shape with unspecified values; they are zeros.

    Args:
        input: the Tensor with that shape.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.
    """
    return ops.zeros_like(input, dtype=dtype)


def clone(input: Tensor) -> Tensor:
    """Return a differentiable copy.

    Args:
        input: a Tensor.

    Returns:
        a Tensor of its shape and dtype.
    """
    return check_tensor(input, "mint.clone").clone()


def _shape(size: tuple[Any, ...]) -> Sequence[int]:
    return size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size


def _shape_and_dtype(size: tuple[Any, ...], dtype: DTypeLike | None) -> tuple[Sequence[int], DTypeLike | None]:
    """Return shape and dtype; ``randn((2, 3), float32)`` occurs in examples of MindSpore's reference."""
    if len(size) == 2 and isinstance(size[0], tuple | list) and isinstance(size[1], DType) and dtype is None:
        return size[0], size[1]
    return _shape(size), dtype


def _floating(dtype: DTypeLike, name: str) -> DTypeLike:
    if numpy_dtype(dtype).kind not in "fV":
        raise TypeError(f"For '{name}', 'dtype' must be a floating dtype, but got {dtype}")
    return dtype


def rand(
    *size: Shape, generator: Generator | None = None, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Draw random numbers, uniform over [0, 1).

    Args:
        *size: the length of each axis, or a tuple or list of them.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Float32.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.
    """
    lengths, dtype = _shape_and_dtype(size, dtype)
    return ops.rand(*lengths, dtype=dtype, seed=_seed(generator))


def randn(
    *size: Shape, generator: Generator | None = None, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Draw random numbers from the standard normal distribution.

    Args:
        *size: the length of each axis, or a tuple or list of them.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Float32.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.
    """
    lengths, dtype = _shape_and_dtype(size, dtype)
    return ops.randn(*lengths, dtype=dtype, seed=_seed(generator))


def rand_like(input: Tensor, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Draw random numbers, uniform over [0, 1), in another Tensor's shape.

    Args:
        input: the Tensor with that shape.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        TypeError: the dtype is not floating.
    """
    return ops.rand_like(input, dtype=_floating(dtype or check_tensor(input, "rand_like").dtype, "rand_like"))


def randn_like(input: Tensor, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Draw random numbers from the standard normal distribution, in another Tensor's shape.

    Args:
        input: the Tensor with that shape.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        TypeError: the dtype is not floating.
    """
    return ops.randn_like(input, dtype=_floating(dtype or check_tensor(input, "randn_like").dtype, "randn_like"))


def randint(
    *args: Any, generator: Generator | None = None, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Draw random ints: ``randint(high, size)`` from 0, ``randint(low, high, size)`` from ``low`` below ``high``.

    Args:
        *args: optionally ``low``, then ``high`` and ``size``, which is a tuple with the length of each axis.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Int64.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        a Tensor of the shape ``size``.

    Raises:
        ValueError: the wrong number of arguments, or no int from ``low`` to below ``high`` exists.
    """
    if len(args) not in (2, 3):
        raise TypeError(f"For 'mint.randint', 'low', 'high' and 'size' or two of them must be given, but got {args}")
    low, high, size = (0, *args) if len(args) == 2 else args
    return ops.randint(low, high, size, _seed(generator), dtype=dtype)


def randint_like(input: Tensor, *args: int, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Draw random ints in another Tensor's shape: ``randint_like(input, high)`` from 0, ``randint_like(input, low,
    high)``.

    Args:
        input: the Tensor with that shape.
        *args: optionally ``low``, then ``high``, which is above all of them.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        ValueError: the wrong number of arguments, or no int from ``low`` to below ``high`` exists.
    """
    if len(args) not in (1, 2):
        raise TypeError(f"For 'mint.randint_like', 'low' and 'high' or one of them must be given, but got {args}")
    low, high = (0, *args) if len(args) == 1 else args
    return ops.randint(low, high, check_tensor(input, "mint.randint_like").shape, dtype=dtype or input.dtype)


def randperm(n: int, *, generator: Generator | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return the numbers from 0 below ``n`` in random order.

    Args:
        n: the length.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Int64.

    Returns:
        a vector of length ``n``.
    """
    order = ops.argsort(ops.rand(n, seed=_seed(generator)))
    return order.astype(int64 if dtype is None else dtype)


def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw random numbers from the normal distribution with these means and deviations.

    Args:
        mean: the mean: a number or a Tensor.
        std: the standard deviation: a number or a Tensor.
        size: the shape; None is the broadcast shape of ``mean`` and ``std``.
        generator: the stream to draw from; None is the engine's own.

    Returns:
        the Tensor.
    """
    if size is None:
        size = np.broadcast_shapes(*[x.shape for x in (mean, std) if isinstance(x, Tensor)])
    return ops.randn(*ints_of(size, "mint.normal", "size"), seed=_seed(generator)) * std + mean


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Draw 1 with the probability in ``input``, else 0.

    Args:
        input: the probabilities, a floating Tensor with elements in [0, 1].
        generator: the stream to draw from; None is the engine's own.

    Returns:
        a Tensor of the shape and dtype of ``input``.
    """
    return (ops.rand(*check_tensor(input, "mint.bernoulli").shape, seed=_seed(generator)) < input).astype(input.dtype)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Draw ``num_samples`` indices for each row, with the weights of the row.

    Args:
        input: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        num_samples: the number of indices for each row.
        replacement: whether an index may be drawn again.
        generator: the stream to draw from; None is the engine's own (``set_seed``).

    Returns:
        an Int64 Tensor (num_samples,) or (M, num_samples).

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: weights that ``ops.multinomial`` rejects, or without ``replacement`` more samples than N.
    """
    return ops.multinomial(input, num_samples, replacement, _seed(generator)).astype(int64)


def _seed(generator: Generator | None) -> int | None:
    """Return a seed drawn from a generator; None for the engine's own stream."""
    if generator is None:
        return None
    seed, offset = check_generator(generator).draw(1)
    return int((seed * 1000003 + offset) % 2**31)  # a different seed for each draw of the generator
