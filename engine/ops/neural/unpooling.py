"""Unpooling: elements put back at the positions where they were the largest of their windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Ints
from ...cpu.array_module import array_module
from ...tensors.operator import TENSOR_FUNCTIONS
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, constant, constant_array
from ..arguments import check_integers, check_tensor, ints_of
from ..shapes.reshape import expand_dims, reshape, squeeze
from .convolution import check_format, ints_for, last_axes

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _unpooled(
    axes: int,
    name: str,
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    output_size: Sequence[int] | None,
) -> Tensor:
    kernel = ints_for(kernel_size, axes, name, "kernel_size")
    is_default = stride is None or (isinstance(stride, int | tuple | list) and not stride)
    strides = kernel if is_default else ints_for(stride, axes, name, "stride")
    pads = ints_for(padding, axes, name, "padding", 0)
    if check_tensor(x, name, "x").shape != check_tensor(indices, name, "indices").shape:
        raise ValueError(f"For '{name}', 'indices' must have the shape {x.shape} of 'x', but got {indices.shape}")
    check_integers(indices, name, "indices")
    if x.ndim not in (axes + 1, axes + 2):
        raise ValueError(f"For '{name}', 'x' must have {axes + 1} or {axes + 2} axes, but got shape {x.shape}")
    if output_size is not None and not isinstance(output_size, tuple | list):
        raise ValueError(f"For '{name}', 'output_size' must be a tuple of ints, but got {output_size!r}")
    if output_size is not None and len(ints_of(output_size, name, "output_size")) not in (axes, axes + 1, axes + 2):
        raise ValueError(f"For '{name}', 'output_size' must hold {axes} ints or a shape, but got {output_size}")
    if x.ndim == axes + 1:
        size = None if output_size is None else (1, *output_size) if len(output_size) == axes + 1 else output_size
        result = _unpooled(axes, name, expand_dims(x, 0), expand_dims(indices, 0), kernel, strides, pads, size)
        return squeeze(result, 0)
    if output_size:
        lengths = tuple(output_size[-axes:])
    else:
        lengths = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[2:], strides, pads, kernel, strict=True))
    total = math.prod(lengths)
    positions = indices._array
    check_values(_check_below, positions, name=name, total=total)
    n, c = x.shape[:2]
    xp = array_module(positions)
    index = (
        constant_array(xp.arange(n)[:, None, None]),
        constant_array(xp.arange(c)[None, :, None]),
        positions.reshape(n, c, -1),
    )
    # Of two elements for one position, the last is kept and gets the gradient.
    empty = constant(xp.zeros((n, c, total), x._array.dtype))
    output = TENSOR_FUNCTIONS.setitem(empty, reshape(x, (n, c, -1)), index=index)
    return reshape(output, (n, c, *lengths))


def _check_below(positions: Array, name: str, total: int) -> None:
    if positions.size and not 0 <= int(positions.min()) <= int(positions.max()) < total:
        raise ValueError(f"For '{name}', 'indices' must be in [0, {total})")


def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return the partial inverse of ``nn.MaxPool1d``: each element where it was the largest, 0 elsewhere.

    Args:
        x: pooled elements, (N, C, L) or (C, L).
        indices: the position of each, as ``nn.MaxPool1d`` with ``return_indices`` returns it; of the shape of ``x``. Of
            two elements for one position the last one is kept and gets the gradient.
        kernel_size: the length of the windows.
        stride: the distance between windows; None or 0 is ``kernel_size``.
        padding: the padding at both ends before pooling.
        output_size: the shape of the result, or its last axis; None is ``(L - 1) * stride - 2 * padding +
            kernel_size``.

    Returns:
        A Tensor (N, C, length) or (C, length) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` or ``indices`` is not a Tensor.
        ValueError: ``indices`` has a different shape than ``x`` or holds positions out of range.
    """
    return _unpooled(1, "max_unpool1d", x, indices, kernel_size, stride, padding, output_size)


@declare(mint=renamed("nn.functional.max_unpool2d", x="input"))
def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return the partial inverse of ``max_pool2d``: each element at the position where it was the largest, 0 elsewhere.

    Args:
        x: pooled elements, (N, C, H, W) or (C, H, W).
        indices: the position of each in the flattened image, as ``max_pool2d`` with ``return_indices`` returns it; of
            the shape of ``x``. Of two elements for one position the last one is kept and gets the gradient.
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the distance between windows; None or 0 is ``kernel_size``.
        padding: the padding at both ends of each axis before pooling.
        output_size: the shape of the result, or its last two axes; None is ``(n - 1) * stride - 2 * padding +
            kernel_size`` along each.

    Returns:
        A Tensor (N, C, height, width) or (C, height, width) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` or ``indices`` is not a Tensor.
        ValueError: ``indices`` has a different shape than ``x`` or holds positions out of range.
    """
    return _unpooled(2, "max_unpool2d", x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return the partial inverse of ``max_pool3d``: each element at the position where it was the largest, 0 elsewhere.

    Args:
        x: pooled elements, (N, C, D, H, W) or (C, D, H, W).
        indices: the position of each in the flattened volume, as ``max_pool3d`` with ``return_indices`` returns it; of
            the shape of ``x``. Of two elements for one position the last one is kept and gets the gradient.
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the distance between windows; None or 0 is ``kernel_size``.
        padding: the padding at both ends of each axis before pooling.
        output_size: the shape of the result, or its last three axes; None is ``(n - 1) * stride - 2 * padding +
            kernel_size`` along each.

    Returns:
        A Tensor (N, C, depth, height, width) or (C, depth, height, width) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` or ``indices`` is not a Tensor.
        ValueError: ``indices`` has a different shape than ``x`` or holds positions out of range.
    """
    return _unpooled(3, "max_unpool3d", x, indices, kernel_size, stride, padding, output_size)


def _by_shape(function: Callable[..., Tensor], axes: int, layout: str) -> None:
    """Declare the class of an unpooling whose output shape is a setting."""
    name = f"MaxUnpool{axes}D"

    @declare(primitive=prim(name, "ksize", strides=0, pads=0, output_shape=(), data_format=layout))
    def unpooled(
        x: Tensor, argmax: Tensor, ksize: Ints, strides: Ints, pads: Ints, output_shape: Sequence[int], data_format: str
    ) -> Tensor:
        """Return each element at the position where it was the largest of its window, 0 elsewhere.

        Args:
            x: pooled elements, in the layout of ``data_format``.
            argmax: the position of each in the flattened image or volume; of the shape of ``x``.
            ksize: the size of the windows: an int, one for each pooled axis, or one for each axis.
            strides: the distance between windows, likewise; 0 is ``ksize``.
            pads: the padding at both ends of each axis before pooling, likewise.
            output_shape: the shape of the result; empty is ``(n - 1) * strides - 2 * pads + ksize`` along each pooled
                axis.
            data_format: "NCHW" for images, "NCDHW" for volumes; no other is allowed.

        Returns:
            A Tensor of the dtype of ``x``.

        Raises:
            TypeError: ``x`` or ``argmax`` is not a Tensor.
            ValueError: an unsupported ``data_format``, or ``argmax`` of a different shape than ``x`` or with positions
                out of range.
        """
        check_format(data_format, layout, name)
        size = tuple(output_shape)[-axes:] or None
        return function(
            x, argmax, last_axes(ksize, axes), last_axes(strides, axes) or None, last_axes(pads, axes), size
        )


_by_shape(max_unpool2d, 2, "NCHW")
_by_shape(max_unpool3d, 3, "NCDHW")
