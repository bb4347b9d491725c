"""Pooling to a given output size: adaptive, or fractional with windows that begin at random positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base import types
from ...base.argument_checks import check_bool, check_one_of, check_size, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import float32, float64, int32, int64
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import compute, constant, constant_array
from ..arguments import check_tensor
from ..linalg.matmul import weighted_sums
from ..random.drawing import both_seeds
from ..shapes.conversion import cast
from ..shapes.reshape import expand_dims, reshape, squeeze, transpose
from ..shapes.subscripts import getitem
from .convolution import check_format, ints_for
from .pooling import as_image, batched, mean_of_windows

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
]

Ints = tuple[int, ...]
Size = int | Sequence[int | None] | None  # the users' argument; None keeps an axis as it is


def _output_size(size: Size, x: Tensor, axes: int, name: str) -> Ints:
    """Return the output lengths; None keeps an axis as it is."""
    sizes = (size,) * axes if isinstance(size, int) or size is None else size if isinstance(size, tuple | list) else ()
    if len(sizes) == 1:
        sizes *= axes
    if len(sizes) != axes or not all(n is None or (isinstance(n, int) and not isinstance(n, bool)) for n in sizes):
        raise TypeError(f"For '{name}', 'output_size' must be an int or a tuple of {axes} ints, but got {size!r}")
    if any(n is not None and n < 1 for n in sizes):
        raise ValueError(f"For '{name}', 'output_size' must be at least 1, but got {size!r}")
    check_size(sizes, name, "output_size")
    return tuple(length if n is None else n for n, length in zip(sizes, x.shape[2:], strict=True))


def edges_of(length: int, parts: int) -> list[tuple[int, int]]:
    """Return where windows begin and end: floor(i * length / parts) and ceil((i + 1) * length / parts)."""
    return [(i * length // parts, -(-(i + 1) * length // parts)) for i in range(parts)]


def _adaptive_average(input: Tensor, output_size: Size, axes: int, name: str) -> Tensor:
    def pooled(x: Tensor) -> Tensor:
        lengths, size = tuple(x.shape[2:]), _output_size(output_size, x, axes, name)
        if all(n % m == 0 for n, m in zip(lengths, size, strict=True)):
            window = tuple(n // m for n, m in zip(lengths, size, strict=True))
            return mean_of_windows(axes, name, x, window, window, "valid", 0)
        for axis, (length, parts) in enumerate(zip(lengths, size, strict=True)):
            weights = np.zeros((length, parts))
            for part, (start, stop) in enumerate(edges_of(length, parts)):
                weights[start:stop, part] = 1 / (stop - start)
            x = weighted_sums(x, weights=constant_array(to_device(weights)), axis=axis + 2)
        return x

    return batched(pooled, input, axes, name)


def _largest_between(x: Tensor, edges: list[list[tuple[int, int]]], return_indices: bool) -> Any:
    """Return the largest element between ``edges`` of each axis; the indices are into the flattened axes."""
    indices = Tensor._wrap(compute(_positions_between, x._array, edges=edges))
    largest = gathered(x, indices)
    return (largest, indices) if return_indices else largest


def _positions_between(x: Array, edges: list[list[tuple[int, int]]]) -> Array:
    xp = array_module(x)
    lengths, counts = x.shape[2:], tuple(len(e) for e in edges)
    positions: Array = xp.zeros((*x.shape[:2], *counts), "int64")
    numbers = xp.arange(math.prod(lengths)).reshape(lengths)
    for index in np.ndindex(*counts):
        part = tuple(slice(*edges[axis][i]) for axis, i in enumerate(index))
        block = x[(slice(None), slice(None), *part)].reshape(*x.shape[:2], -1)
        positions[(slice(None), slice(None), *index)] = numbers[part].reshape(-1)[block.argmax(axis=-1)]
    return positions


def gathered(x: Tensor, indices: Tensor) -> Tensor:
    """Return the elements of each sample and channel at positions in its flattened axes."""
    n, c = x.shape[:2]
    xp = array_module(x._array)
    samples = constant(xp.arange(n)[:, None, None])
    channels = constant(xp.arange(c)[None, :, None])
    elements = getitem(reshape(x, (n, c, -1)), (samples, channels, reshape(indices, (n, c, -1))))
    return reshape(elements, indices.shape)


def _adaptive_largest(input: Tensor, output_size: Size, return_indices: bool, axes: int, name: str) -> Any:
    def pooled(x: Tensor) -> Any:
        size = _output_size(output_size, x, axes, name)
        edges = [edges_of(n, parts) for n, parts in zip(x.shape[2:], size, strict=True)]
        return _largest_between(x, edges, return_indices)

    return batched(pooled, input, axes, name)


@declare(mint="nn.functional.adaptive_avg_pool1d")
def adaptive_avg_pool1d(input: Tensor, output_size: types.Ints) -> Tensor:
    """Return means of windows along the last axis, which are chosen so that the output has ``output_size``.

    Along an axis of length L, window i of n goes from floor(i * L / n) to ceil((i + 1) * L / n).

    Args:
        input: a tensor (N, C, L), or one sample (C, L).
        output_size: the output length, an int or a tuple of one.

    Returns:
        A tensor of the dtype of ``input`` with the lengths ``output_size``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``output_size`` is not an int.
        ValueError: ``input`` has the wrong number of axes, or a length is below 1.
    """
    name = "adaptive_avg_pool1d"
    size = (1, *_length_of(output_size, name))
    return as_image(lambda x: _adaptive_average(x, size, 2, name), input, name)


def _length_of(size: types.Ints, name: str) -> Ints:
    return ints_for(size, 1, name, "output_size")


@declare(primitive=prim("AdaptiveAvgPool2D", "output_size"), mint="nn.functional.adaptive_avg_pool2d")
def adaptive_avg_pool2d(input: Tensor, output_size: Size) -> Tensor:
    """Return means of windows of the last two axes, which are chosen so that the output has ``output_size``.

    Along an axis of length L, window i of n goes from floor(i * L / n) to ceil((i + 1) * L / n).

    Args:
        input: a tensor (N, C, H, W), or one sample (C, H, W).
        output_size: the output lengths (height, width); an int counts for both, None keeps an axis as it is.

    Returns:
        A tensor of the dtype of ``input`` with the lengths ``output_size``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``output_size`` is of the wrong type.
        ValueError: ``input`` has the wrong number of axes, or a length is below 1.
    """
    return _adaptive_average(input, output_size, 2, "adaptive_avg_pool2d")


@declare(primitive=prim("AdaptiveAvgPool3D", "output_size"), mint="nn.functional.adaptive_avg_pool3d")
def adaptive_avg_pool3d(input: Tensor, output_size: Size) -> Tensor:
    """Return means of windows of the last three axes, which are chosen so that the output has ``output_size``.

    Along an axis of length L, window i of n goes from floor(i * L / n) to ceil((i + 1) * L / n).

    Args:
        input: a tensor (N, C, D, H, W), or one sample (C, D, H, W).
        output_size: the output lengths (depth, height, width); an int counts for all, None keeps an axis.

    Returns:
        A tensor of the dtype of ``input`` with the lengths ``output_size``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``output_size`` is of the wrong type.
        ValueError: ``input`` has the wrong number of axes, or a length is below 1.
    """
    return _adaptive_average(input, output_size, 3, "adaptive_avg_pool3d")


def adaptive_max_pool1d(input: Tensor, output_size: types.Ints) -> Tensor:
    """Return the largest elements of windows along the last axis, chosen so that the output has ``output_size``.

    Along an axis of length L, window i of n goes from floor(i * L / n) to ceil((i + 1) * L / n).

    Args:
        input: a tensor (N, C, L), or one sample (C, L).
        output_size: the output length, an int or a tuple of one.

    Returns:
        A tensor of the dtype of ``input`` with the lengths ``output_size``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``output_size`` is not an int.
        ValueError: ``input`` has the wrong number of axes, or a length is below 1.
    """
    size = _length_of(output_size, "adaptive_max_pool1d")
    return _adaptive_largest(input, size, False, 1, "adaptive_max_pool1d")


@declare(mint="nn.functional.adaptive_max_pool2d")
def adaptive_max_pool2d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Return the largest elements of windows of the last two axes, chosen so that the output has ``output_size``.

    Along an axis of length L, window i of n goes from floor(i * L / n) to ceil((i + 1) * L / n).

    Args:
        input: a tensor (N, C, H, W), or one sample (C, H, W).
        output_size: the output lengths (height, width); an int counts for both, None keeps an axis as it is.
        return_indices: whether to return also the positions of the largest elements, as indices into the flattened
            axes.

    Returns:
        A tensor of the dtype of ``input`` with the lengths ``output_size``; with ``return_indices`` a tuple
        of it and the positions (Int64).

    Raises:
        TypeError: ``input`` is not a Tensor, or ``output_size`` is of the wrong type.
        ValueError: ``input`` has the wrong number of axes, or a length is below 1.
    """
    return _adaptive_largest(input, output_size, return_indices, 2, "adaptive_max_pool2d")


def adaptive_max_pool3d(input: Tensor, output_size: Size, return_indices: bool = False) -> Any:
    """Return the largest elements of windows of the last three axes, chosen so that the output has ``output_size``.

    Along an axis of length L, window i of n goes from floor(i * L / n) to ceil((i + 1) * L / n).

    Args:
        input: a tensor (N, C, D, H, W), or one sample (C, D, H, W).
        output_size: the output lengths (depth, height, width); an int counts for all, None keeps an axis.
        return_indices: whether to return also the positions of the largest elements, as indices into the flattened
            axes.

    Returns:
        A tensor of the dtype of ``input`` with the lengths ``output_size``; with ``return_indices`` a tuple
        of it and the positions (Int32, as MindSpore has them; those of two axes are Int64).

    Raises:
        TypeError: ``input`` is not a Tensor, or ``output_size`` is of the wrong type.
        ValueError: ``input`` has the wrong number of axes, or a length is below 1.
    """
    result = _adaptive_largest(input, output_size, return_indices, 3, "adaptive_max_pool3d")
    return (result[0], cast(result[1], int32)) if return_indices else result


@declare(primitive=prim("AdaptiveMaxPool2D", "output_size"))
def _adaptive_max_pool2d(x: Tensor, output_size: Size) -> tuple[Tensor, Tensor]:
    """Return the largest elements of windows chosen so that the output has ``output_size``, and their positions.

    Args:
        x: a tensor (N, C, H, W), or one sample (C, H, W).
        output_size: the two output lengths; an int counts for all, None keeps an axis as it is.

    Returns:
        The elements, and their positions in the flattened axes (Int64).

    Raises:
        TypeError: ``x`` is not a Tensor, or ``output_size`` is of the wrong type.
        ValueError: ``x`` has the wrong number of axes, or a length is below 1.
    """
    result: tuple[Tensor, Tensor] = adaptive_max_pool2d(x, output_size, True)
    return result


@declare(primitive=prim("AdaptiveMaxPool3D"))
def _adaptive_max_pool3d(x: Tensor, output_size: Size | Tensor) -> tuple[Tensor, Tensor]:
    """Return the largest elements of windows chosen so that the output has ``output_size``, and their positions.

    Args:
        x: a tensor (N, C, D, H, W), or one sample (C, D, H, W).
        output_size: the three output lengths; an int counts for all; also an integer tensor.

    Returns:
        The elements, and their positions in the flattened axes (Int32).

    Raises:
        TypeError: ``x`` is not a Tensor, or ``output_size`` is of the wrong type.
        ValueError: ``x`` has the wrong number of axes, or a length is below 1.
    """
    size = output_size.tolist() if isinstance(output_size, Tensor) else output_size
    result: tuple[Tensor, Tensor] = adaptive_max_pool3d(x, size, True)
    return result


def _fractional(
    axes: int,
    name: str,
    input: Tensor,
    kernel_size: types.Ints,
    size: types.Ints | None,
    ratio: float | Sequence[float] | None,
    indices: bool,
    samples: Tensor | None,
) -> Any:
    """Return the largest elements of windows that begin at floor(alpha * (i + u)) - floor(alpha * u) (Graham 2014).

    As in MindSpore and PyTorch each sample and channel has its own u; of two axes the last axis has the first.
    """

    def pooled(x: Tensor) -> Any:
        kernel = ints_for(kernel_size, axes, name, "kernel_size")
        if size is None and ratio is None:
            raise ValueError(f"For '{name}', 'output_size' or 'output_ratio' must be given")
        if size is not None:
            lengths = ints_for(size, axes, name, "output_size")
        else:
            ratios = (ratio,) * axes if isinstance(ratio, float) else tuple(ratio or ())
            if len(ratios) != axes or not all(0 < r < 1 for r in ratios):
                raise ValueError(
                    f"For '{name}', 'output_ratio' must be a float or {axes} floats between 0 and 1, but got {ratio!r}"
                )
            lengths = tuple(int(n * r) for n, r in zip(x.shape[2:], ratios, strict=True))
        fractions = _samples(samples, name, (*x.shape[:2], axes))
        starts = []
        for axis, (n, k, m) in enumerate(zip(x.shape[2:], kernel, lengths, strict=True)):
            if not 1 <= m <= n - k + 1:
                raise ValueError(f"For '{name}', windows of {k} and output {m} do not fit into length {n}")
            u = fractions[:, :, axes - 1 - axis if axes == 2 else axis, None]
            # In the dtype of the samples, as MindSpore rounds.
            alpha = u.dtype.type((n - k) / (m - 1) if m > 1 else 0)
            begin = ((np.arange(m, dtype=u.dtype) + u) * alpha).astype(np.int64) - (u * alpha).astype(np.int64)
            begin[:, :, -1] = n - k
            starts.append(begin)
        positions = _largest_from(x, starts, kernel)
        return (gathered(x, positions), positions) if indices else gathered(x, positions)

    return batched(pooled, input, axes, name)


def _samples(samples: Tensor | None, name: str, shape: Ints) -> Array:
    """Return the u of each sample, channel and axis: those of the user, or drawn ones."""
    if samples is None:
        return random.uniform(shape)
    if check_tensor(samples, name, "_random_samples").shape != shape:
        raise ValueError(f"For '{name}', '_random_samples' must have the shape {shape}, but got {samples.shape}")
    values = to_host(samples._array)
    if values.dtype.kind != "f" or not ((values >= 0) & (values < 1)).all():
        raise ValueError(f"For '{name}', '_random_samples' must be floating-point numbers in [0, 1), but got {samples}")
    return values


def _largest_from(x: Tensor, starts: list[Array], kernel: Ints) -> Tensor:
    """Return the flat positions of the largest elements of windows that begin at ``starts`` (N, C, M)."""
    axes, positions = len(kernel), np.zeros((1,) * (2 + 2 * len(kernel)), np.int64)
    for axis, (begin, k) in enumerate(zip(starts, kernel, strict=True)):
        inside = begin[:, :, :, None] + np.arange(k)
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = inside.shape[2:]
        positions = positions + inside.reshape(*inside.shape[:2], *shape) * math.prod(x.shape[3 + axis :])
    xp = array_module(x._array)
    flat = xp.asarray(positions.reshape(*positions.shape[: 2 + axes], -1))
    values = xp.take_along_axis(x._array.reshape(*x.shape[:2], -1), flat.reshape(*x.shape[:2], -1), -1)
    best = values.reshape(flat.shape).argmax(axis=-1)
    return Tensor._wrap(xp.take_along_axis(flat, best[..., None], -1)[..., 0])


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: types.Ints,
    output_size: types.Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the largest elements of windows that begin at pseudorandom positions of the last two axes (Graham 2014).

    Args:
        input: a tensor (N, C, H, W), or one sample (C, H, W).
        kernel_size: the lengths of a window, an int or two.
        output_size: the lengths of the output, an int or two.
        output_ratio: without ``output_size``, its ratios to the lengths of the input: a float or two, between 0 and 1.
        return_indices: whether to return also the positions of the largest elements, as indices into the flattened
            axes.
        _random_samples: (N, C, 2), of one sample N = 1: numbers in [0, 1) that decide where windows begin along
            each axis (width, height); drawn without it.

    Returns:
        A tensor of the dtype of ``input``; with ``return_indices`` a tuple of it and the positions (Int64).

    Raises:
        TypeError: ``input`` or ``_random_samples`` is not a Tensor, or a size is not an int.
        ValueError: neither ``output_size`` nor ``output_ratio``; a ratio or a sample out of range; windows that do not
            fit.
    """
    name = "fractional_max_pool2d"
    return _fractional(2, name, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: types.Ints,
    output_size: types.Ints | None = None,
    output_ratio: float | Sequence[float] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the largest elements of windows that begin at pseudorandom positions of the last three axes (Graham 2014).

    Args:
        input: a tensor (N, C, D, H, W), or one sample (C, D, H, W).
        kernel_size: the lengths of a window, an int or three.
        output_size: the lengths of the output, an int or three.
        output_ratio: without ``output_size``, its ratios to the lengths of the input: a float or three, between 0 and
            1.
        return_indices: whether to return also the positions of the largest elements, as indices into the flattened
            axes.
        _random_samples: (N, C, 3), of one sample N = 1: numbers in [0, 1) that decide where windows begin along
            each axis (depth, height, width); drawn without it.

    Returns:
        A tensor of the dtype of ``input``; with ``return_indices`` a tuple of it and the positions (Int64).

    Raises:
        TypeError: ``input`` or ``_random_samples`` is not a Tensor, or a size is not an int.
        ValueError: neither ``output_size`` nor ``output_ratio``; a ratio or a sample out of range; windows that do not
            fit.
    """
    name = "fractional_max_pool3d"
    return _fractional(3, name, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def _check_samples(x: Tensor, samples: Tensor, name: str, count: int) -> None:
    if samples.shape != (*x.shape[:2], count):
        raise ValueError(
            f"For '{name}', 'random_samples' must have the shape {(*x.shape[:2], count)}, but got {samples.shape}"
        )


@declare(primitive=prim("FractionalMaxPoolWithFixedKsize", "ksize", "output_shape", data_format="NCHW"))
def _fractional_max_pool_fixed(
    input_x: Tensor, random_samples: Tensor, ksize: types.Ints, output_shape: types.Ints, data_format: str
) -> tuple[Tensor, Tensor]:
    """Return the largest elements of windows that begin at pseudorandom positions; ``ops.fractional_max_pool2d``.

    Args:
        input_x: a tensor (N, C, H, W).
        random_samples: (N, C, 2): numbers in [0, 1) that decide where windows begin along (width, height).
        ksize: the lengths of a window, an int or two.
        output_shape: the lengths of the output, an int or two.
        data_format: must be "NCHW".

    Returns:
        A tensor of the dtype of ``input_x``, and the positions in the flattened H x W (Int64).

    Raises:
        TypeError: ``input_x`` or ``random_samples`` is not a Tensor, or a length is not an int.
        ValueError: shapes or windows that do not fit, a sample out of range, or an unsupported ``data_format``.
    """
    name = "FractionalMaxPoolWithFixedKsize"
    check_format(data_format, "NCHW", name)
    if check_tensor(input_x, name, "input_x").ndim != 4:
        raise ValueError(f"For '{name}', 'input_x' must have 4 axes (N, C, H, W), but got shape {input_x.shape}")
    _check_samples(input_x, check_tensor(random_samples, name, "random_samples"), name, 2)
    result: tuple[Tensor, Tensor] = _fractional(2, name, input_x, ksize, output_shape, None, True, random_samples)
    return result


@declare(primitive=prim("FractionalMaxPool3DWithFixedKsize", "ksize", "output_shape", data_format="NCDHW"))
def _fractional_max_pool3d_fixed(
    x: Tensor, random_samples: Tensor, ksize: types.Ints, output_shape: types.Ints, data_format: str
) -> tuple[Tensor, Tensor]:
    """Return the largest elements of windows that begin at pseudorandom positions; ``ops.fractional_max_pool3d``.

    Args:
        x: a tensor (N, C, D, H, W), with "NDHWC" (N, D, H, W, C); or one sample without N.
        random_samples: numbers in [0, 1) that decide where windows begin along (depth, height, width): (N, C, 3), of
            one sample (C, 1, 3).
        ksize: the lengths of a window, an int or three.
        output_shape: the lengths of the output, an int or three.
        data_format: "NCDHW" or "NDHWC".

    Returns:
        A tensor of the dtype of ``x``, and the positions in the flattened D x H x W (Int64).

    Raises:
        TypeError: ``x`` or ``random_samples`` is not a Tensor, or a length is not an int.
        ValueError: shapes or windows that do not fit, a sample out of range, or an unsupported ``data_format``.
    """
    name = "FractionalMaxPool3DWithFixedKsize"
    check_one_of(data_format, ("NCDHW", "NDHWC"), name, "data_format")
    if check_tensor(x, name, "x").ndim not in (4, 5):
        raise ValueError(f"For '{name}', 'x' must have 4 or 5 axes, but got shape {x.shape}")
    check_tensor(random_samples, name, "random_samples")
    images = x if x.ndim == 5 else expand_dims(x, 0)
    if data_format == "NDHWC":
        images = transpose(images, (0, 4, 1, 2, 3))
    if x.ndim == 4 and random_samples.shape == (images.shape[1], 1, 3):
        random_samples = reshape(random_samples, (1, -1, 3))
    _check_samples(images, random_samples, name, 3)
    best, positions = _fractional(3, name, images, ksize, output_shape, None, True, random_samples)
    if data_format == "NDHWC":
        best, positions = (transpose(result, (0, 2, 3, 4, 1)) for result in (best, positions))
    return (best, positions) if x.ndim == 5 else (squeeze(best, 0), squeeze(positions, 0))


def _random_edges(length: int, parts: int, pseudo_random: bool, seed: int | None) -> Array:
    """Return where ``parts`` cells of an axis begin, and where the last one ends; their two lengths differ by 1.

    The lengths are in random order; if ``pseudo_random``, cell i begins at ceil(alpha * (i + u)) - 1, where alpha is
    length / parts and u is drawn.
    """
    if not pseudo_random:
        lengths = np.full(parts, length // parts)
        lengths[: length % parts] += 1
        return np.append(0, np.cumsum(lengths[np.argsort(random.uniform((parts,), seed), kind="stable")]))
    alpha, least = length / parts, length // parts
    bound = min((least + 2) / alpha - 1, (length + 1 - least) / alpha - (parts - 1))
    u = float(random.uniform((1,), seed)[0]) * bound
    inner = np.ceil(alpha * (np.arange(1, parts) + u)).astype(np.int64) - 1
    return np.concatenate([[0], inner, [length]])


def _fractional_cells(
    name: str,
    x: Tensor,
    pooling_ratio: list[float],
    pseudo_random: bool,
    overlapping: bool,
    deterministic: bool,
    seed: int,
    seed2: int,
) -> tuple[list[Array], list[list[tuple[int, int]]]]:
    """Return the edges of the cells along rows and columns, and where each cell begins and ends."""
    for argument, flag in (
        ("pseudo_random", pseudo_random),
        ("overlapping", overlapping),
        ("deterministic", deterministic),
    ):
        check_bool(flag, name, argument)
    for ratio in check_type(pooling_ratio, list, name, "pooling_ratio"):
        check_type(ratio, float, name, "pooling_ratio", "a list of floats", repr)
    if len(pooling_ratio) != 4 or (pooling_ratio[0], pooling_ratio[3]) != (1.0, 1.0) or min(pooling_ratio) < 1:
        raise ValueError(
            f"For '{name}', 'pooling_ratio' must be 1.0, two floats not below 1, and 1.0, but got {pooling_ratio}"
        )
    if (seed or seed2) and not deterministic:
        raise ValueError(f"For '{name}', 'seed' and 'seed2' must be 0 if 'deterministic' is False")
    if check_tensor(x, name, "x").ndim != 4:
        raise ValueError(f"For '{name}', 'x' must have 4 axes (N, H, W, C), but got shape {x.shape}")
    if x.dtype not in (float32, float64, int32, int64):
        raise TypeError(f"For '{name}', 'x' must be of Float32, Float64, Int32 or Int64, but got {x.dtype}")
    edges, cells = [], []
    for axis in (1, 2):
        length = x.shape[axis]
        parts = math.floor(length / pooling_ratio[axis])
        if parts < 1:
            raise ValueError(f"For '{name}', 'pooling_ratio' {pooling_ratio} leaves nothing of shape {x.shape}")
        axis_seed = both_seeds(seed, seed2) + axis if deterministic else None
        bounds = _random_edges(length, parts, pseudo_random, axis_seed)
        edges.append(bounds)
        ends = np.minimum(bounds[1:] + overlapping, length)
        cells.append([(int(begin), int(end)) for begin, end in zip(bounds[:-1], ends, strict=True)])
    return edges, cells


_FRACTIONAL = """

    The image is cut into cells along rows and columns, whose lengths differ by 1 at most (Graham 2014).

    Args:
        x: a tensor (N, H, W, C) of Float32, Float64, Int32 or Int64.
        pooling_ratio: how many times the lengths get smaller, a list of four floats: 1.0, that of H and of W, 1.0.
        pseudo_random: whether long and short cells alternate evenly, by one random number, or are in random order.
        overlapping: whether a cell has the first row and column of the next one too.
        deterministic: whether each call cuts alike.
        seed: with ``seed2`` it determines how, where ``deterministic`` is True; else both are 0.
        seed2: a different one draws different windows for the same ``seed``.

    Returns:
        A tensor (N, H', W', C), H' = floor(H / ratio), of the dtype of ``x``; and where the rows and where the columns
        of cells begin, with the end of the last one: Int64 tensors (H' + 1,) and (W' + 1,).

    Raises:
        TypeError: an argument of the wrong kind or dtype.
        ValueError: the wrong shape, ratios out of range, or seeds where ``deterministic`` is False.
    """
_FRACTIONAL_SETTINGS: dict[str, Any] = {
    "pseudo_random": False,
    "overlapping": False,
    "deterministic": False,
    "seed": 0,
    "seed2": 0,
}


def _fractional_pool(
    name: str, sentence: str, pooled: Callable[[Tensor, list[list[tuple[int, int]]]], Tensor]
) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """Declare the class of this name, which pools the cells by ``pooled``, and return its function."""

    def run(
        x: Tensor,
        pooling_ratio: list[float],
        pseudo_random: bool,
        overlapping: bool,
        deterministic: bool,
        seed: int,
        seed2: int,
    ) -> tuple[Tensor, Tensor, Tensor]:
        edges, cells = _fractional_cells(name, x, pooling_ratio, pseudo_random, overlapping, deterministic, seed, seed2)
        rows, columns = (Tensor._wrap(to_device(edge.astype(np.int64))) for edge in edges)
        return pooled(x, cells), rows, columns

    run.__doc__ = sentence + _FRACTIONAL
    return declare(primitive=prim(name, "pooling_ratio", **_FRACTIONAL_SETTINGS))(run)


def _largest_of_cells(x: Tensor, cells: list[list[tuple[int, int]]]) -> Tensor:
    # Cells get one length by repeating their last row or column, which does not change the largest element.
    lines = [
        np.array([[min(begin + i, end - 1) for i in range(max(e - b for b, e in axis))] for begin, end in axis])
        for axis in cells
    ]
    positions = lines[0][:, None, :, None] * x.shape[2] + lines[1][None, :, None, :]
    xp = array_module(x._array)
    flat = xp.asarray(positions.reshape(*positions.shape[:2], -1))
    values = x._array.reshape(x.shape[0], -1, x.shape[3])[:, flat]
    best = values.argmax(axis=3)
    winners = xp.take_along_axis(flat[None, ..., None], best[:, :, :, None], 3)[:, :, :, 0]
    index = (xp.arange(x.shape[0])[:, None, None, None], winners, xp.arange(x.shape[3]))
    return getitem(reshape(x, (x.shape[0], -1, x.shape[3])), tuple(Tensor._wrap(array) for array in index))


def _mean_of_cells(x: Tensor, cells: list[list[tuple[int, int]]]) -> Tensor:
    integral = x._array.dtype.kind == "i"
    result = cast(x, float64) if integral else x
    for axis, bounds in enumerate(cells, 1):
        weights = np.zeros((x.shape[axis], len(bounds)))
        for part, (begin, end) in enumerate(bounds):
            weights[begin:end, part] = 1.0 if integral else 1 / (end - begin)
        result = weighted_sums(result, weights=constant_array(to_device(weights)), axis=axis)
    if not integral:
        return result
    counts = np.multiply.outer(*([end - begin for begin, end in bounds] for bounds in cells))[..., None]
    # Sums of integers are exact, and MindSpore truncates their mean.
    return cast(Tensor._wrap(array_module(x._array).trunc(result._array / to_device(counts))), x.dtype)


_fractional_pool("FractionalMaxPool", "The largest element of each of the cells of random lengths.", _largest_of_cells)
_fractional_pool("FractionalAvgPool", "The mean of each of the cells of random lengths.", _mean_of_cells)
