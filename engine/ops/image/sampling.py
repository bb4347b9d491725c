"""Images: sampling on a grid, unfolding into windows and back, channels to pixels and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_one_of, check_positive_int, check_size, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, Ints
from ...cpu.array_module import array_module
from ...cpu.widening import in_single
from ...tensors.backend import to_device
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, ints_of
from ..elementwise.arithmetic import abs as absolute
from ..elementwise.arithmetic import add, clamp, floor, mul
from ..linalg.matmul import matmul
from ..neural.convolution import ints_for
from ..shapes.reshape import expand_dims, reshape, squeeze, swapaxes, transpose
from ..shapes.subscripts import getitem

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "col2im",
    "fold",
    "grid_sample",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
]

_Lengths = tuple[int, ...]


@declare(primitive=prim("AffineGrid", align_corners=False))
def affine_grid(theta: Tensor, size: Sequence[int] | Tensor, align_corners: bool = False) -> Tensor:
    """Return for each output pixel the position in the input that ``theta`` maps it to, for ``grid_sample``.

    Args:
        theta: affine maps (N, 2, 3) of images or (N, 3, 4) of volumes, from output positions to input positions.
        size: the shape of the output: (N, C, H, W) or (N, C, D, H, W).
        align_corners: whether -1 and 1 are the centers of the outermost pixels, or their outer edges.

    Returns:
        A tensor (N, H, W, 2) of (x, y) or (N, D, H, W, 3) of (x, y, z), of the dtype of ``theta``.

    Raises:
        TypeError: ``theta`` is not a Tensor.
        ValueError: ``theta`` does not fit ``size``.
    """
    check_tensor(theta, "affine_grid", "theta")
    lengths = ints_of(check_type(size, tuple | list | Tensor, "affine_grid", "size", "a tuple"), "affine_grid", "size")
    axes = len(lengths) - 2
    if axes not in (2, 3) or theta.shape != (lengths[0], axes, axes + 1):
        raise ValueError(f"For 'affine_grid', 'theta' of shape {theta.shape} does not fit 'size' {lengths}")
    check_size(lengths[2:], "affine_grid", "size")
    lines = []
    for n in lengths[2:]:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        lines.append(line if align_corners else line * (n - 1) / n)
    mesh = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*reversed(mesh), np.ones_like(mesh[0])], axis=-1).reshape(1, -1, axes + 1)
    points = constant(to_device(base.astype(theta._array.dtype)))
    grid = matmul(points, swapaxes(theta, 1, 2))
    return reshape(grid, (lengths[0], *lengths[2:], axes))


@declare(mint="nn.functional.grid_sample")
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Return samples of images at the positions ``grid`` (Jaderberg et al. 2015).

    Args:
        input: images (N, C, H, W) or volumes (N, C, D, H, W).
        grid: positions (N, H', W', 2) of (x, y) or (N, D', H', W', 3) of (x, y, z); the image reaches from -1 to 1.
        mode: "bilinear" (of a volume, trilinear) or "nearest".
        padding_mode: the values outside: "zeros", "border" (the nearest pixel) or "reflection" (the image mirrored).
        align_corners: whether -1 and 1 are the centers of the outermost pixels, or their outer edges; None is False.

    Returns:
        A tensor (N, C, H', W') or (N, C, D', H', W') of the dtype of ``input``.

    Raises:
        TypeError: ``input`` or ``grid`` is not a Tensor.
        ValueError: an unknown mode, or shapes that do not fit.
    """
    x = check_tensor(input, "grid_sample")
    axes = x.ndim - 2
    if check_tensor(grid, "grid_sample", "grid").ndim != x.ndim or axes not in (2, 3) or grid.shape[-1] != axes:
        raise ValueError(f"For 'grid_sample', 'grid' of shape {grid.shape} does not fit 'input' of shape {x.shape}")
    if grid.shape[0] != x.shape[0]:
        raise ValueError(f"For 'grid_sample', 'grid' must hold {x.shape[0]} samples, but got {grid.shape[0]}")
    check_one_of(mode, ("bilinear", "nearest"), "grid_sample", "mode")
    check_one_of(padding_mode, ("zeros", "border", "reflection"), "grid_sample", "padding_mode")
    n, c = x.shape[:2]
    count = math.prod(grid.shape[1:-1])
    positions = []
    for axis, length in enumerate(reversed(x.shape[2:])):
        coordinate = reshape(getitem(grid, (Ellipsis, axis)), (n, 1, count))
        at = (coordinate + 1.0) * ((length - 1) / 2) if align_corners else ((coordinate + 1.0) * length - 1.0) / 2.0
        if padding_mode == "border":
            at = clamp(at, 0, length - 1)
        elif padding_mode == "reflection":
            at = _reflected(at, length, bool(align_corners))
        positions.append(at)
    positions.reverse()
    xp = array_module(x._array)
    flat = reshape(x, (n, c, -1))
    samples = constant(xp.arange(n)[:, None, None])
    channels = constant(xp.arange(c)[None, :, None])
    corners: list[tuple[Any, Any]] = [(0, None)]
    for at, length in zip(positions, x.shape[2:], strict=True):
        choices: list[tuple[Any, Tensor | None]] = []
        if mode == "nearest":
            choices.append((xp.rint(at._array).astype("int64"), None))
        else:
            low = floor(at)
            part = at - low
            base = low._array.astype("int64")
            choices += [(base, 1.0 - part), (base + 1, part)]
        combined = []
        for index, weight in corners:
            for pixel, share in choices:
                inside = (pixel >= 0) & (pixel < length)
                mask = Tensor._wrap(inside.astype(x._array.dtype))
                share = mask if share is None else mul(share, mask)
                combined.append(
                    (index * length + xp.clip(pixel, 0, length - 1), share if weight is None else mul(weight, share))
                )
        corners = combined
    total: Any = None
    for index, weight in corners:
        part = mul(getitem(flat, (samples, channels, Tensor._wrap(index))), weight)
        total = part if total is None else add(total, part)
    return reshape(total, (n, c, *grid.shape[1:-1]))


_SAMPLER = {"interpolation_mode": "bilinear", "padding_mode": "zeros", "align_corners": False}


@declare(primitive=(prim("GridSampler2D", **_SAMPLER), prim("GridSampler3D", **_SAMPLER)))
def _grid_sampler(x: Tensor, grid: Tensor, interpolation_mode: str, padding_mode: str, align_corners: bool) -> Tensor:
    """Return samples of images at the positions ``grid``, as ``ops.grid_sample``.

    Args:
        x: images (N, C, H, W) or volumes (N, C, D, H, W).
        grid: positions (N, H', W', 2) of (x, y) or (N, D', H', W', 3) of (x, y, z); the image reaches from -1 to 1.
        interpolation_mode: "bilinear" (of a volume, trilinear) or "nearest".
        padding_mode: the values outside: "zeros", "border" (the nearest pixel) or "reflection" (the image mirrored).
        align_corners: whether -1 and 1 are the centers of the outermost pixels, or their outer edges.

    Returns:
        A tensor (N, C, H', W') or (N, C, D', H', W') of the dtype of ``x``.

    Raises:
        TypeError: ``x`` or ``grid`` is not a Tensor.
        ValueError: an unknown mode, or shapes that do not fit.
    """
    return grid_sample(x, grid, interpolation_mode, padding_mode, align_corners)


def _reflected(at: Tensor, length: int, align_corners: bool) -> Tensor:
    """Return positions, those outside mirrored at the ends: at the elements there, or at their outer edges."""
    low, span = (0.0, float(length - 1)) if align_corners else (-0.5, float(length))
    if span <= 0:
        return mul(at, 0.0)
    distance = absolute(at - low)
    turns = floor(distance / span)
    remainder = distance - turns * span
    odd = Tensor._wrap((turns._array % 2).astype(at._array.dtype))
    return clamp(remainder * (1.0 - odd) + (span - remainder) * odd + low, 0, length - 1)


@declare(mint="nn.functional.pixel_shuffle")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return channels rearranged to pixels: (..., C * r * r, H, W) to (..., C, H * r, W * r) (Shi et al. 2016).

    Args:
        input: a tensor of at least 3 axes.
        upscale_factor: r, above 0.

    Returns:
        A tensor of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``upscale_factor`` is not an int.
        ValueError: the channels are not a multiple of r * r, or r is not above 0.
    """
    x, r = check_tensor(input, "pixel_shuffle"), upscale_factor
    check_positive_int(r, "pixel_shuffle", "upscale_factor")
    if x.ndim < 3 or x.shape[-3] % (r * r):
        raise ValueError(f"For 'pixel_shuffle', the channels of {x.shape} must be a multiple of {r * r}")
    *leading, c, h, w = x.shape
    parts = reshape(x, (-1, c // (r * r), r, r, h, w))
    return reshape(transpose(parts, (0, 1, 4, 2, 5, 3)), (*leading, c // (r * r), h * r, w * r))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Return pixels rearranged to channels; the inverse of ``pixel_shuffle``.

    (..., C, H * r, W * r) becomes (..., C * r * r, H, W).

    Args:
        input: a tensor of at least 3 axes.
        downscale_factor: r, above 0.

    Returns:
        A tensor of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``downscale_factor`` is not an int.
        ValueError: height or width is not a multiple of r, or r is not above 0.
    """
    x, r = check_tensor(input, "pixel_unshuffle"), downscale_factor
    check_positive_int(r, "pixel_unshuffle", "downscale_factor")
    if x.ndim < 3 or x.shape[-1] % r or x.shape[-2] % r:
        raise ValueError(f"For 'pixel_unshuffle', height and width of {x.shape} must be multiples of {r}")
    *leading, c, h, w = x.shape
    parts = reshape(x, (-1, c, h // r, r, w // r, r))
    return reshape(transpose(parts, (0, 1, 3, 5, 2, 4)), (*leading, c * r * r, h // r, w // r))


@declare(primitive=prim("DepthToSpace", "block_size"))
def _depth_to_space(x: Tensor, block_size: int) -> Tensor:
    """Return (N, b * b * C, H, W) as (N, C, H * b, W * b): the position in a block is the outer part of the channel.

    Args:
        x: images of a number of channels that b * b divides.
        block_size: b, the side of the blocks, above 0.

    Returns:
        A tensor of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``block_size`` is not an int.
        ValueError: ``x`` does not have 4 axes, b * b does not divide its channels, or b is not above 0.
    """
    n, c, h, w = _image_of(x, block_size, "DepthToSpace")
    b = block_size
    if c % (b * b):
        raise ValueError(f"For 'DepthToSpace', the channels of {x.shape} must be a multiple of {b * b}")
    parts = transpose(reshape(x, (n, b, b, c // (b * b), h, w)), (0, 3, 4, 1, 5, 2))
    return reshape(parts, (n, c // (b * b), h * b, w * b))


@declare(primitive=prim("SpaceToDepth", "block_size"))
def _space_to_depth(x: Tensor, block_size: int) -> Tensor:
    """Return (N, C, H * b, W * b) as (N, b * b * C, H, W); the inverse of ``DepthToSpace``.

    Args:
        x: images of a height and width that b divides.
        block_size: b, the side of the blocks, above 0.

    Returns:
        A tensor of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``block_size`` is not an int.
        ValueError: ``x`` does not have 4 axes, b does not divide height and width, or b is not above 0.
    """
    n, c, h, w = _image_of(x, block_size, "SpaceToDepth")
    b = block_size
    if h % b or w % b:
        raise ValueError(f"For 'SpaceToDepth', height and width of {x.shape} must be multiples of {b}")
    parts = transpose(reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return reshape(parts, (n, c * b * b, h // b, w // b))


def _image_of(x: Tensor, block_size: int, name: str) -> tuple[int, ...]:
    check_positive_int(block_size, name, "block_size")
    if check_tensor(x, name, "x").ndim != 4:
        raise ValueError(f"For '{name}', 'x' must have 4 axes (N, C, H, W), but got shape {x.shape}")
    return x.shape


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Return channels (axis 1) reordered so that each group gets some of every group (Zhang et al. 2018).

    Channel i * (C / groups) + j goes to j * groups + i.

    Args:
        x: a tensor (N, C, ...) of at least 3 axes.
        groups: the number of channel groups; it divides C.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``groups`` is not an int.
        ValueError: ``groups`` does not divide the channels, or is not above 0.
    """
    check_positive_int(groups, "channel_shuffle", "groups")
    if check_tensor(x, "channel_shuffle", "x").ndim < 3 or x.shape[1] % groups:
        raise ValueError(f"For 'channel_shuffle', 'groups' {groups} must divide the channels of shape {x.shape}")
    n, c, *inner = x.shape
    return reshape(swapaxes(reshape(x, (n, groups, c // groups, *inner)), 1, 2), x.shape)


@declare(primitive=prim("ChannelShuffle", "group"))
def _channels_by_group(x: Tensor, group: int) -> Tensor:
    """Return channels (axis 1) reordered so that each group gets some of every group, as ``ops.channel_shuffle``.

    Args:
        x: a tensor (N, C, ...) of at least 3 axes.
        group: the number of channel groups; it divides C.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``group`` is not an int.
        ValueError: ``group`` does not divide the channels, or is not above 0.
    """
    return channel_shuffle(x, group)


def _columns(x: Array, kernel: _Lengths, stride: _Lengths, pads: _Lengths, dilation: _Lengths) -> Array:
    """Return windows of (N, C, H, W) as columns (N, C * KH * KW, windows)."""
    xp = array_module(x)
    top, bottom, left, right = pads
    padded = xp.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    outputs = _outputs(padded.shape[2:], kernel, stride, dilation)
    sn, sc, sh, sw = padded.strides
    view = xp.lib.stride_tricks.as_strided(
        padded,
        (*x.shape[:2], *kernel, *outputs),
        (sn, sc, sh * dilation[0], sw * dilation[1], sh * stride[0], sw * stride[1]),
    )
    return view.reshape(x.shape[0], x.shape[1] * math.prod(kernel), math.prod(outputs))


def _outputs(lengths: _Lengths, kernel: _Lengths, stride: _Lengths, dilation: _Lengths) -> _Lengths:
    return tuple((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(lengths, kernel, stride, dilation, strict=True))


@in_single
def _images(
    columns: Array, size: _Lengths, kernel: _Lengths, stride: _Lengths, pads: _Lengths, dilation: _Lengths
) -> Array:
    """Return columns summed at the positions that they come from: the transpose of ``_columns``."""
    xp = array_module(columns)
    n, depth = columns.shape[:2]
    top, bottom, left, right = pads
    height, width = size[0] + top + bottom, size[1] + left + right
    outputs = _outputs((height, width), kernel, stride, dilation)
    parts = columns.reshape(n, depth // math.prod(kernel), *kernel, *outputs)
    total = xp.zeros((n, parts.shape[1], height, width), columns.dtype)
    for i, j in np.ndindex(*kernel):
        rows = slice(i * dilation[0], i * dilation[0] + stride[0] * (outputs[0] - 1) + 1, stride[0])
        column_range = slice(j * dilation[1], j * dilation[1] + stride[1] * (outputs[1] - 1) + 1, stride[1])
        total[:, :, rows, column_range] += parts[:, :, i, j]
    return total[:, :, top : top + size[0], left : left + size[1]]


_unfold = Operator("im2col", _columns, (lambda F, g, out, x, **how: F.col2im(g, size=tuple(x.shape[2:]), **how),))
_fold = Operator("col2im", _images, (lambda F, g, out, x, size, **how: F.im2col(g, **how),))


def _window_arguments(name: str, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) -> dict[str, _Lengths]:
    low, high = ints_for(padding, 2, name, "padding", 0)
    return {
        "kernel": ints_for(kernel_size, 2, name, "kernel_size"),
        "stride": ints_for(stride, 2, name, "stride"),
        "pads": (low, low, high, high),
        "dilation": ints_for(dilation, 2, name, "dilation"),
    }


@declare(mint="nn.functional.unfold", method=True)
def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """Return the windows of images as columns, channel by channel ("im2col").

    Args:
        input: images (N, C, H, W) or one (C, H, W).
        kernel_size: the sides of a window, an int or (height, width).
        dilation: the steps between the elements of a window, likewise.
        padding: the number of zeros before and after each of the two axes, likewise.
        stride: the steps between windows, likewise.

    Returns:
        A tensor (N, C * KH * KW, windows), or without N, of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or a setting holds values other than ints.
        ValueError: the wrong number of axes, or a window that is larger than the padded image.
    """
    x = check_tensor(input, "unfold")
    if x.ndim == 3:
        return squeeze(unfold(expand_dims(x, 0), kernel_size, dilation, padding, stride), 0)
    if x.ndim != 4:
        raise ValueError(f"For 'unfold', 'input' must have 4 axes (N, C, H, W), but got shape {x.shape}")
    settings = _window_arguments("unfold", kernel_size, dilation, padding, stride)
    padded = (x.shape[2] + 2 * settings["pads"][0], x.shape[3] + 2 * settings["pads"][2])
    if min(_outputs(padded, settings["kernel"], settings["stride"], settings["dilation"])) < 1:
        raise ValueError(
            f"For 'unfold', windows of {settings['kernel']} with dilation {settings['dilation']} must fit into 'input' "
            f"of shape {x.shape} with padding {settings['pads'][::2]}"
        )
    return _unfold(x, **settings)


@declare(primitive=prim("Im2Col", "ksizes", strides=1, dilations=1, pads=0))
def _im2col(x: Tensor, ksizes: Ints, strides: Ints, dilations: Ints, pads: Ints) -> Tensor:
    """Return the windows of images as columns, as ``ops.unfold``, with the channels as an axis of their own.

    Args:
        x: images (N, C, H, W).
        ksizes: the sides of a window, an int or (height, width).
        strides: the steps between windows, likewise.
        dilations: the steps between the elements of a window, likewise.
        pads: the number of zeros before and after each of the two axes, likewise.

    Returns:
        A tensor (N, C, KH * KW, windows) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting holds values other than ints.
        ValueError: the wrong number of axes, or a window that is larger than the padded image.
    """
    windows = unfold(x, ksizes, dilations, pads, strides)
    return reshape(windows, (x.shape[0], x.shape[1], -1, windows.shape[-1]))


@declare(method=True, mint="nn.functional.fold")
def fold(
    input: Tensor,
    output_size: Ints | Tensor,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Tensor:
    """Return columns summed into images at the positions that ``unfold`` reads them from ("col2im").

    Args:
        input: columns (N, C * KH * KW, windows), those of one image without N, or (N, C, KH * KW, windows).
        output_size: height and width of the images, an int, two, or a tensor of two.
        kernel_size: the sides of a window, an int or (height, width).
        dilation: the steps between the elements of a window, likewise.
        padding: the number of elements removed before and after each of the two axes, likewise.
        stride: the steps between windows, likewise.

    Returns:
        A tensor (N, C, height, width), or without N, of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or a setting holds values other than ints.
        ValueError: the shape of ``input`` does not fit the settings.
    """
    x = check_tensor(input, "fold")
    size = output_size.tolist() if isinstance(output_size, Tensor) else output_size
    lengths = ints_for(size, 2, "fold", "output_size")
    settings = _window_arguments("fold", kernel_size, dilation, padding, stride)
    is_single = x.ndim == 2
    if is_single:
        x = expand_dims(x, 0)
    elif x.ndim == 4:  # MindSpore's own form: (N, C, KH * KW, windows)
        x = reshape(x, (x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))
    padded = (lengths[0] + 2 * settings["pads"][0], lengths[1] + 2 * settings["pads"][2])
    windows = math.prod(_outputs(padded, settings["kernel"], settings["stride"], settings["dilation"]))
    if x.ndim != 3 or x.shape[1] % math.prod(settings["kernel"]) or x.shape[2] != windows:
        raise ValueError(
            f"For 'fold', 'input' must have the shape (N, C * {math.prod(settings['kernel'])}, {windows}), "
            f"but got {input.shape}"
        )
    images = _fold(x, size=lengths, **settings)
    return squeeze(images, 0) if is_single else images


def col2im(
    input_x: Tensor, output_size: Ints | Tensor, kernel_size: Ints, dilation: Ints, padding_value: Ints, stride: Ints
) -> Tensor:
    """Return columns summed into images, as ``fold``, with the channels as an axis of their own.

    Args:
        input_x: columns (N, C, KH * KW, windows).
        output_size: height and width of the images, an int, two, or a tensor of two.
        kernel_size: the sides of a window, an int or (height, width).
        dilation: the steps between the elements of a window, likewise.
        padding_value: the number of elements removed before and after each of the two axes, likewise.
        stride: the steps between windows, likewise.

    Returns:
        A tensor (N, C, height, width) of the dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or a setting holds values other than ints.
        ValueError: the shape of ``input_x`` does not fit the settings.
    """
    return fold(input_x, output_size, kernel_size, dilation, padding_value, stride)


@declare(primitive=prim("Col2Im", "kernel_size", dilation=1, padding=0, stride=1))
def _col2im(
    x: Tensor, output_size: Ints | Tensor, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> Tensor:
    """Return columns summed into images, as ``ops.col2im``.

    Args:
        x: columns (N, C, KH * KW, windows).
        output_size: height and width of the images, an int, two, or a tensor of two.
        kernel_size: the sides of a window, an int or (height, width).
        dilation: the steps between the elements of a window, likewise.
        padding: the number of elements removed before and after each of the two axes, likewise.
        stride: the steps between windows, likewise.

    Returns:
        A tensor (N, C, height, width) of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting holds values other than ints.
        ValueError: the shape of ``x`` does not fit the settings.
    """
    return col2im(x, output_size, kernel_size, dilation, padding, stride)
