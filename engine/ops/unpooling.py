"""Unpooling: elements put back to where they were the largest of their windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.operator import TENSOR_FUNCTIONS
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import check_tensor
from .convolution import check_format, ints_for, last_axes
from .shape import expand_dims, reshape, squeeze

__all__ = ["max_unpool1d", "max_unpool2d", "max_unpool3d"]


def _unpooled(
    axes: int, name: str, x: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    kernel = ints_for(kernel_size, axes, name, "kernel_size")
    strides = kernel if not stride else ints_for(stride, axes, name, "stride")
    pads = ints_for(padding, axes, name, "padding", 0)
    if check_tensor(x, name).shape != check_tensor(indices, name, "indices").shape:
        raise ValueError(f"For '{name}', 'indices' must have the shape {x.shape} of 'x', but got {indices.shape}")
    if x.ndim == axes + 1:
        size = None if output_size is None else (1, *output_size) if len(output_size) == axes + 1 else output_size
        found = _unpooled(axes, name, expand_dims(x, 0), expand_dims(indices, 0), kernel, strides, pads, size)
        return squeeze(found, 0)
    if output_size:
        lengths = tuple(output_size)[-axes:]
    else:
        lengths = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[2:], strides, pads, kernel, strict=True))
    total = math.prod(lengths)
    places = indices._array
    if places.size and not 0 <= int(places.min()) <= int(places.max()) < total:
        raise ValueError(f"For '{name}', 'indices' must be in [0, {total})")
    n, c = x.shape[:2]
    xp = array_module(places)
    index = (xp.arange(n)[:, None, None], xp.arange(c)[None, :, None], places.reshape(n, c, -1))
    # Of two elements that go to one place, the last is kept, and gets the gradient.
    empty = Tensor._wrap(xp.zeros((n, c, total), x._array.dtype))
    filled = TENSOR_FUNCTIONS.setitem(empty, reshape(x, (n, c, -1)), index=index)
    return reshape(filled, (n, c, *lengths))


def max_unpool1d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""
    return _unpooled(1, "max_unpool1d", x, indices, kernel_size, stride, padding, output_size)


@declare(mint=renamed("nn.functional.max_unpool2d", x="input"))
def max_unpool2d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""
    return _unpooled(2, "max_unpool2d", x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""
    return _unpooled(3, "max_unpool3d", x, indices, kernel_size, stride, padding, output_size)


def _by_shape(function: Callable[..., Tensor], axes: int, layout: str) -> None:
    """The class of an unpooling, told the shape of its output."""
    name = f"MaxUnpool{axes}D"

    @declare(primitive=prim(name, "ksize", strides=0, pads=0, output_shape=(), data_format=layout))
    def unpooled(
        x: Tensor, argmax: Tensor, ksize: Any, strides: Any, pads: Any, output_shape: Any, data_format: str
    ) -> Tensor:
        """Elements put back to where ``argmax`` says they were the largest; 0 elsewhere."""
        check_format(data_format, layout, name)
        size = tuple(output_shape)[-axes:] or None
        return function(
            x, argmax, last_axes(ksize, axes), last_axes(strides, axes) or None, last_axes(pads, axes), size
        )


_by_shape(max_unpool2d, 2, "NCHW")
_by_shape(max_unpool3d, 3, "NCDHW")
