"""Deformable convolution: a convolution whose windows read elements at positions that an input moves."""

from __future__ import annotations

import math
from typing import Any

from ...base.argument_checks import check_bool, check_positive_int, check_type
from ...base.surfaces import declare, prim
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ..arguments import check_tensor, ints_of
from ..elementwise.arithmetic import add, floor, mul, sub
from ..elementwise.comparison import where
from ..linalg.matmul import matmul
from ..shapes.broadcasting import through_single
from ..shapes.reshape import expand_dims, reshape, transpose
from ..shapes.subscripts import getitem

__all__ = ["deformable_conv2d"]


def _ints(value: object, count: int, argument: str, name: str = "deformable_conv2d") -> tuple[int, ...]:
    pads = argument in ("padding", "pads")
    values = ints_of(check_type(value, tuple, name, argument), name, argument)
    if len(values) != count:
        raise ValueError(f"For '{name}', '{argument}' must be a tuple of {count} ints, but got {value!r}")
    if count == 4 and not pads and values[:2] != (1, 1):
        raise ValueError(f"For '{name}', '{argument}' must begin with 1, 1 for N and C, but got {value!r}")
    least = 0 if pads else 1
    if min(values) < least:
        raise ValueError(f"For '{name}', '{argument}' must be ints not below {least}, but got {value!r}")
    return values


@through_single
def deformable_conv2d(
    x: Tensor,
    weight: Tensor,
    offsets: Tensor,
    kernel_size: tuple[int, int],
    strides: tuple[int, int, int, int],
    padding: tuple[int, int, int, int],
    bias: Tensor | None = None,
    dilations: tuple[int, int, int, int] = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Tensor:
    """Return a convolution whose windows read elements at moved positions, each times a factor (Zhu et al. 2019).

    An element at a position between pixels is interpolated from the four nearest; outside of the image it is 0.

    Args:
        x: images (N, C, H, W).
        weight: the filters, a tensor (O, C / groups, KH, KW).
        offsets: for each element of each window its shift along W, then its shift along H, then its factor: a tensor
            (N, 3 * deformable_groups * KH * KW, H', W').
        kernel_size: (KH, KW), a tuple of two ints.
        strides: the distance between windows, a tuple of four ints: 1, 1, along H and along W.
        padding: the number of zeros added above, below, left and right, a tuple of four ints.
        bias: an offset for each channel, a tensor (O,), or None.
        dilations: the distance between elements of a window, likewise: 1, 1, along H and along W.
        groups: the number of channel groups; a filter reads only its own.
        deformable_groups: the number of channel groups; the channels of one share their offsets.
        modulated: must be True: there are factors.

    Returns:
        A tensor (N, O, H', W') of the dtype of ``x``, with gradients by ``x``, ``weight``, ``offsets`` and ``bias``.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: shapes that do not fit, a setting out of range, or ``modulated`` is False.
    """
    name = "deformable_conv2d"
    for argument, tensor in (("x", x), ("weight", weight), ("offsets", offsets)):
        if check_tensor(tensor, name, argument).ndim != 4:
            raise ValueError(f"For '{name}', '{argument}' must have 4 axes, but got shape {tensor.shape}")
    size = _ints(kernel_size, 2, "kernel_size")
    step, spacing = _ints(strides, 4, "strides")[2:], _ints(dilations, 4, "dilations")[2:]
    pads = _ints(padding, 4, "padding")
    for argument, value in (("groups", groups), ("deformable_groups", deformable_groups)):
        if x.shape[1] % check_positive_int(value, name, argument) or (argument == "groups" and weight.shape[0] % value):
            raise ValueError(f"For '{name}', '{argument}' must divide the channels, but got {value}")
    if not check_bool(modulated, name, "modulated"):
        raise ValueError(f"For '{name}', 'modulated' must be True, but got False")
    n, channels = x.shape[:2]
    if weight.shape[1:] != (channels // groups, *size):
        raise ValueError(
            f"For '{name}', 'weight' must have the shape (O, {channels // groups}, {size[0]}, {size[1]}), "
            f"but got {weight.shape}"
        )
    if bias is not None and check_tensor(bias, name, "bias").shape != weight.shape[:1]:
        raise ValueError(f"For '{name}', 'bias' must have the shape {weight.shape[:1]}, but got {bias.shape}")
    result = _moved_elements(x, offsets, size, step, pads, spacing, deformable_groups, name)
    taps, outputs = math.prod(size), result.shape[4:6]
    # (N, group, KH, KW, H', W', channel) to columns (N, groups, channel of the group x KH x KW, H' x W').
    columns = transpose(result, (0, 1, 6, 2, 3, 4, 5))
    columns = reshape(columns, (n, groups, channels // groups * taps, math.prod(outputs)))
    filters = reshape(weight, (groups, weight.shape[0] // groups, channels // groups * taps))
    result = reshape(matmul(filters, columns), (n, weight.shape[0], *outputs))
    return result if bias is None else add(result, reshape(bias, (-1, 1, 1)))


def _moved_elements(
    x: Tensor,
    offsets: Tensor,
    size: tuple[int, ...],
    step: tuple[int, ...],
    pads: tuple[int, ...],
    spread: tuple[int, ...],
    deformable_groups: int,
    name: str,
) -> Tensor:
    """Return the elements of all windows, each times its factor: (N, group, KH, KW, H', W', channel of the group)."""
    n, channels = x.shape[:2]
    outputs = tuple(
        (length + before + after - d * (k - 1) - 1) // s + 1
        for length, before, after, d, k, s in zip(x.shape[2:], pads[::2], pads[1::2], spread, size, step, strict=True)
    )
    taps = math.prod(size)
    expected = (n, 3 * deformable_groups * taps, *outputs)
    if min(outputs) < 1 or offsets.shape != expected:
        raise ValueError(f"For '{name}', 'offsets' must have the shape {expected}, but got {offsets.shape}")
    xp = array_module(x._array)
    shifts = reshape(offsets, (n, 3, deformable_groups, *size, *outputs))
    lines: list[list[tuple[Any, Any, Any]]] = []
    for axis in (0, 1):
        shape = [1, 1, 1, 1, 1, 1]
        shape[2 + axis] = -1
        inside = (xp.arange(size[axis]) * spread[axis]).reshape(shape)
        shape = [1, 1, 1, 1, 1, 1]
        shape[4 + axis] = -1
        window = (xp.arange(outputs[axis]) * step[axis] - pads[2 * axis]).reshape(shape)
        base = (inside + window).astype(x._array.dtype)
        position = add(getitem(shifts, (slice(None), 1 - axis)), Tensor._wrap(base))
        low = floor(position)
        part = sub(position, low)
        pairs = []
        for at, share in ((low._array, sub(1.0, part)), (low._array + 1, part)):
            valid = (at >= 0) & (at < x.shape[2 + axis])
            pairs.append((xp.where(valid, at, 0).astype("int64"), valid, share))
        lines.append(pairs)
    images = reshape(x, (n, deformable_groups, channels // deformable_groups, *x.shape[2:]))
    images = transpose(images, (0, 1, 3, 4, 2))
    sample = xp.arange(n).reshape(-1, 1, 1, 1, 1, 1)
    group = xp.arange(deformable_groups).reshape(1, -1, 1, 1, 1, 1)
    total: Any = None
    for row, row_valid, high in lines[0]:
        for column, column_valid, wide in lines[1]:
            pixels = getitem(images, tuple(Tensor._wrap(array) for array in (sample, group, row, column)))
            pixels = where(Tensor._wrap((row_valid & column_valid)[..., None]), pixels, 0.0)
            part = mul(pixels, expand_dims(mul(high, wide), -1))
            total = part if total is None else add(total, part)
    return mul(total, expand_dims(getitem(shifts, (slice(None), 2)), -1))


@declare(
    primitive=prim(
        "DeformableOffsets",
        "strides",
        "pads",
        "ksize",
        dilations=(1, 1, 1, 1),
        data_format="NCHW",
        deformable_groups=1,
        modulated=True,
    )
)
@through_single
def _deformable_offsets(
    x: Tensor,
    offsets: Tensor,
    *,
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    ksize: tuple[int, ...],
    dilations: tuple[int, ...],
    data_format: str,
    deformable_groups: int,
    modulated: bool,
) -> Tensor:
    """Return the windows of ``deformable_conv2d`` side by side: elements from moved positions, each times a factor.

    Args:
        x: images (N, C, H, W).
        offsets: for each element of each window its shift along W, then its shift along H, then its factor: a tensor
            (N, 3 * deformable_groups * KH * KW, H', W').
        strides: the distance between windows, a tuple of four ints: 1, 1, along H and along W.
        pads: the number of zeros added above, below, left and right, a tuple of four ints.
        ksize: (KH, KW), a tuple of two ints.
        dilations: the distance between elements of a window, likewise: 1, 1, along H and along W.
        data_format: "NCHW".
        deformable_groups: the number of channel groups; the channels of one share their offsets.
        modulated: must be True: there are factors.

    Returns:
        A tensor (N, C, H' * KH, W' * KW) of the dtype of ``x``.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: shapes that do not fit, a setting out of range, or ``modulated`` is False.
    """
    name = "DeformableOffsets"
    if data_format != "NCHW":
        raise ValueError(f"For '{name}', 'data_format' must be 'NCHW', but got {data_format!r}")
    for argument, tensor in (("x", x), ("offsets", offsets)):
        if check_tensor(tensor, name, argument).ndim != 4:
            raise ValueError(f"For '{name}', '{argument}' must have 4 axes, but got shape {tensor.shape}")
    if not check_bool(modulated, name, "modulated"):
        raise ValueError(f"For '{name}', 'modulated' must be True, but got False")
    if x.shape[1] % check_positive_int(deformable_groups, name, "deformable_groups"):
        raise ValueError(f"For '{name}', 'deformable_groups' must divide the channels, but got {deformable_groups}")
    size, step = _ints(ksize, 2, "ksize", name), _ints(strides, 4, "strides", name)[2:]
    spacing, edges = _ints(dilations, 4, "dilations", name)[2:], _ints(pads, 4, "pads", name)
    elements = _moved_elements(x, offsets, size, step, edges, spacing, deformable_groups, name)
    rows, columns = (elements.shape[4 + i] * size[i] for i in (0, 1))
    return reshape(transpose(elements, (0, 1, 6, 4, 2, 5, 3)), (*x.shape[:2], rows, columns))
