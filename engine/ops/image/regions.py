"""Regions of images, cropped and resized to one size: crops by boxes, and pooling of regions of interest.

Both read pixels by position and add them with weights, so that a NaN only affects the results that it is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...autograd.grad import vjp
from ...base.argument_checks import check_bool, check_int, check_one_of, check_positive_int, check_size, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike
from ...cpu.array_module import array_module
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import float16, float32, float64, int32
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, ints_of
from ..elementwise.arithmetic import add, floor, mul, sub
from ..elementwise.comparison import where
from ..neural.convolution import ints_for, last_axes
from ..random.drawing import inner_uniform, new_tensor, standard_normal
from ..reduction.reduction import mean
from ..shapes.broadcasting import as_dtype, through_single
from ..shapes.concatenation import concat
from ..shapes.conversion import cast
from ..shapes.pad import pad_by_axis
from ..shapes.reshape import expand_dims, reshape, transpose
from ..shapes.subscripts import getitem

__all__ = ["crop_and_resize"]

Lines = Sequence[tuple[Array, Tensor]]


def weighed_pixels(images: Tensor, index: tuple[Any, ...], rows: Lines, columns: Lines) -> Tensor:
    """Return the sum of pixels at ``rows`` and ``columns`` (..., height, width, channels), each times both its weights.

    Args:
        images: a tensor (..., height, width, channels).
        index: the index of a pixel before the row, arrays that broadcast with rows and columns.
        rows: the pairs of a position and its weight that are summed along the height.
        columns: likewise along the width.
    """
    total: Any = None
    for row, high in rows:
        for column, wide in columns:
            pixels = getitem(images, tuple(Tensor._wrap(array) for array in (*index, row, column)))
            part = mul(pixels, expand_dims(mul(high, wide), -1))
            total = part if total is None else add(total, part)
    return total


def _line_between(positions: Tensor, length: int) -> Lines:
    """Return the pixels before and after positions on a line, clipped to its ends, with their weights."""
    xp = array_module(positions._array)
    low = floor(positions)
    part = sub(positions, low)
    first, last = (
        xp.clip(xp.nan_to_num(array), 0, length - 1).astype("int64")
        for array in (low._array, xp.ceil(positions._array))
    )
    return ((first, sub(1.0, part)), (last, part))


@declare(primitive=prim("CropAndResize", method="bilinear", extrapolation_value=0.0))
def _crop_and_resize(
    x: Tensor, boxes: Tensor, box_index: Tensor, crop_size: tuple[int, int], method: str, extrapolation_value: float
) -> Tensor:
    """Return crops of images, each resized to one size, as ``ops.crop_and_resize``.

    Args:
        x: images (N, H, W, C).
        boxes: a Float32 tensor (B, 4) of (y1, x1, y2, x2), where the image reaches from 0 to 1.
        box_index: the image of each box, an Int32 tensor (B,).
        crop_size: height and width of the crops, a tuple of two ints.
        method: "bilinear", "nearest" or "bilinear_v2".
        extrapolation_value: the value outside the image, a float.

    Returns:
        A Float32 tensor (B, *crop_size, C).

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: shapes that do not fit, an unknown ``method``, or an image index out of range.
    """
    return crop_and_resize(x, boxes, box_index, crop_size, method, extrapolation_value)


def crop_and_resize(
    image: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: tuple[int, int],
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Return crops of images, each resized to one size.

    With "bilinear" and "nearest" the corners of a crop are the centers of pixels, and 0 and 1 those of the outermost
    ones. A box whose end is before its beginning gives a mirrored crop. "bilinear_v2" takes whole pixels, from
    floor(y1 * H) up to and with floor(y2 * H), element i of a line of n pixels at (i + 0.5) * n / size - 0.5.

    Args:
        image: images (N, H, W, C) of real numbers.
        boxes: a Float32 tensor (B, 4) of (y1, x1, y2, x2), where the image reaches from 0 to 1; a box may reach beyond.
        box_indices: the image of each box, an Int32 tensor (B,).
        crop_size: height and width of the crops, a tuple of two ints.
        method: "bilinear" (between the four nearest pixels), "nearest" or "bilinear_v2".
        extrapolation_value: the value outside the image, a float. "bilinear_v2" repeats the last pixel instead.

    Returns:
        A Float32 tensor (B, *crop_size, C), with gradients by ``image`` and, with "bilinear", by ``boxes``.

    Raises:
        TypeError: an argument that is not a Tensor or of the wrong dtype, or ``crop_size`` is not a tuple of ints.
        ValueError: shapes that do not fit, an unknown ``method``, or an image index out of range.
    """
    name = "crop_and_resize"
    for argument, tensor, axes in (("image", image, 4), ("boxes", boxes, 2), ("box_indices", box_indices, 1)):
        if check_tensor(tensor, name, argument).ndim != axes:
            raise ValueError(f"For '{name}', '{argument}' must have {axes} axes, but got shape {tensor.shape}")
    for argument, tensor, dtype in (("boxes", boxes, float32), ("box_indices", box_indices, int32)):
        if tensor.dtype != dtype:
            raise TypeError(f"For '{name}', '{argument}' must be of {dtype}, but got {tensor.dtype}")
    if boxes.shape[1] != 4 or box_indices.shape[0] != boxes.shape[0]:
        raise ValueError(
            f"For '{name}', 'boxes' must have the shape (B, 4) and 'box_indices' (B,), but got {boxes.shape} and "
            f"{box_indices.shape}"
        )
    check_one_of(method, ("bilinear", "nearest", "bilinear_v2"), name, "method")
    check_type(extrapolation_value, float, name, "extrapolation_value")
    size = ints_of(check_type(crop_size, tuple, name, "crop_size"), name, "crop_size")
    if len(size) != 2 or min(size) < 1:
        raise ValueError(f"For '{name}', 'crop_size' must be two ints above 0, but got {crop_size!r}")
    check_size(size, name, "crop_size")
    index = box_indices._array
    if index.size and not 0 <= int(index.min()) <= int(index.max()) < image.shape[0]:
        raise ValueError(f"For '{name}', 'box_indices' must be in [0, {image.shape[0]}), but got {index.tolist()}")
    xp = array_module(image._array)
    lines, inside = [], []
    for axis, (length, count) in enumerate(zip(image.shape[1:3], size, strict=True)):
        first, last = (
            getitem(boxes, (slice(None), slice(axis, axis + 1))),
            getitem(boxes, (slice(None), slice(axis + 2, axis + 3))),
        )
        if method == "bilinear_v2":
            line, positions = _line_of_pixels(xp, first._array, last._array, length, count)
        else:
            steps = Tensor._wrap(
                xp.arange(count, dtype=xp.float32) / (count - 1) if count > 1 else xp.full(1, 0.5, "f")
            )
            coordinates = mul(add(first, mul(sub(last, first), steps)), float(length - 1))
            positions = coordinates._array
            if method == "bilinear":
                line = _line_between(coordinates, length)
            else:  # halves away from 0
                nearest = xp.clip(xp.nan_to_num(xp.floor(positions + 0.5)), 0, length - 1).astype("int64")
                line = ((nearest, constant(xp.ones_like(positions))),)
        shape = (-1, count, 1) if axis == 0 else (-1, 1, count)
        lines.append([(pixel.reshape(shape), reshape(weight, shape)) for pixel, weight in line])
        inside.append(((positions >= 0) & (positions <= length - 1)).reshape(shape))
    pixels = weighed_pixels(as_dtype(image, np.dtype(np.float32)), (index.reshape(-1, 1, 1),), *lines)
    if method == "bilinear_v2":
        return pixels
    return where(Tensor._wrap((inside[0] & inside[1])[..., None]), pixels, extrapolation_value)


def _line_of_pixels(xp: Any, first: Array, last: Array, length: int, count: int) -> tuple[Any, Array]:
    """Return the two pixels around each of ``count`` elements of a line of whole pixels, with weights."""
    begin, end = (xp.trunc(value * length).astype("int64") for value in (first, last))
    width = xp.maximum(end - begin + 1, 1)
    positions = (xp.arange(count) + 0.5) * width / count - 0.5
    low = xp.clip(xp.floor(positions), 0, width - 1)
    part = Tensor._wrap((positions - low).astype("float32"))
    lower, upper = (
        xp.clip(begin + value, 0, length - 1).astype("int64")
        for value in (low, xp.clip(xp.ceil(positions), 0, width - 1))
    )
    return ((lower, sub(1.0, part)), (upper, part)), positions


@declare(primitive=prim("ROIAlign", "pooled_height", "pooled_width", "spatial_scale", sample_num=2, roi_end_mode=1))
@through_single
def _roi_align(
    features: Tensor,
    rois: Tensor,
    pooled_height: int,
    pooled_width: int,
    spatial_scale: float,
    sample_num: int,
    roi_end_mode: int,
) -> Tensor:
    """Return regions of interest pooled to bins: means of points between pixels (He et al. 2017).

    A region is divided into pooled_height x pooled_width bins. In each bin sample_num x sample_num points are sampled,
    at even distances, each from the four nearest pixels; one that is more than a pixel outside of the image counts as
    0.

    Args:
        features: images (N, C, H, W).
        rois: the regions, a tensor (R, 5) of (number of the image, x0, y0, x1, y1). It gets no gradient.
        pooled_height: the number of bins along the height of a region.
        pooled_width: the number of bins along its width.
        spatial_scale: the factor of the corners, which makes them pixels of ``features``; a float.
        sample_num: the number of points along each side of a bin; 0 or less: as many as the bin has whole pixels,
            but at least one.
        roi_end_mode: 1: a region ends after the pixel that is its last. 0: it ends at the given position, and is at
            least 1 wide and high.

    Returns:
        A tensor (R, C, pooled_height, pooled_width) of the dtype of ``features``.

    Raises:
        TypeError: ``features`` or ``rois`` is not a Tensor, or a setting of the wrong kind.
        ValueError: shapes that do not fit, an image that is not there, or a setting out of range.
    """
    name = "ROIAlign"
    for argument, value in (("pooled_height", pooled_height), ("pooled_width", pooled_width)):
        check_positive_int(value, name, argument)
    check_type(spatial_scale, float, name, "spatial_scale")
    check_int(sample_num, name, "sample_num")
    if check_int(roi_end_mode, name, "roi_end_mode") not in (0, 1):
        raise ValueError(f"For '{name}', 'roi_end_mode' must be 0 or 1, but got {roi_end_mode}")
    if check_tensor(features, name, "features").ndim != 4:
        raise ValueError(f"For '{name}', 'features' must have 4 axes (N, C, H, W), but got shape {features.shape}")
    if check_tensor(rois, name, "rois").ndim != 2 or rois.shape[1] != 5:
        raise ValueError(f"For '{name}', 'rois' must have the shape (R, 5), but got {rois.shape}")
    regions = to_host(rois._array).astype(np.float32)
    if regions.size and not 0 <= regions[:, 0].min() <= regions[:, 0].max() < features.shape[0]:
        raise ValueError(f"For '{name}', 'rois' must name images in [0, {features.shape[0]}), but got {regions[:, 0]}")
    begin = regions[:, 1:3] * np.float32(spatial_scale)
    sides = (regions[:, 3:5] + np.float32(roi_end_mode)) * np.float32(spatial_scale) - begin
    if roi_end_mode == 0:
        sides = np.maximum(sides, 1)
    images = transpose(features, (0, 2, 3, 1))
    bins = (pooled_width, pooled_height)
    if sample_num > 0:
        groups = [(slice(None), (sample_num, sample_num))]
    else:
        counts = np.maximum(np.floor(sides / np.array(bins, np.float32)), 1).astype(int)
        groups = [(slice(r, r + 1), tuple(count)) for r, count in enumerate(counts.tolist())]
    pooled = []
    for rows, points in groups:
        lines, is_inside = [], np.ones((1, 1, 1), bool)
        for axis in (1, 0):
            length = features.shape[3 - axis]
            steps = (np.arange(bins[axis] * points[axis]) + 0.5) / (bins[axis] * points[axis])
            at = (begin[rows, axis, None] + sides[rows, axis, None] * steps).astype(np.float32)
            shape = (len(at), -1, 1) if axis else (len(at), 1, -1)
            lines.append([(p.reshape(shape), Tensor._wrap(w.reshape(shape))) for p, w in _neighbor_pixels(at, length)])
            is_inside = is_inside & ((at >= -1) & (at <= length)).reshape(shape)
        image_index = to_device(regions[rows, 0].astype(np.int64).reshape(-1, 1, 1))
        pixels = where(
            Tensor._wrap(to_device(is_inside[..., None])), weighed_pixels(images, (image_index,), *lines), 0.0
        )
        grouped = (pixels.shape[0], pooled_height, points[1], pooled_width, points[0], features.shape[1])
        pooled.append(mean(reshape(pixels, grouped), (2, 4)))
    if not pooled:
        pooled = [reshape(getitem(images, (slice(0, 0),)), (0, 0, 0, features.shape[1]))]
    return transpose(pooled[0] if len(pooled) == 1 else concat(pooled, 0), (0, 3, 1, 2))


@declare(primitive=prim("PSROIPooling", "spatial_scale", "group_size", "output_dim"))
@through_single
def _ps_roi_pooling(features: Tensor, rois: Tensor, spatial_scale: float, group_size: int, output_dim: int) -> Tensor:
    """Return means over the bins of regions of interest, each bin with channels of its own (Dai et al. 2016).

    A region is divided into group_size x group_size bins. Channel c of bin (i, j) is the mean of the channel
    (c * group_size + i) * group_size + j over its pixels; of a bin without pixels it is 0. As in MindSpore 2.10 the
    last row and the last column of an image do not belong to a bin.

    Args:
        features: images (N, C, H, W), with C = output_dim * group_size * group_size channels.
        rois: the regions, a tensor (N, 5, R); along axis 1 are the number of the image, x0, y0, x1 and y1. It gets no
            gradient.
        spatial_scale: the factor of the corners, which makes them pixels of ``features``; a float above 0.
        group_size: the number of bins along each side of a region, an int above 0.
        output_dim: the number of channels of the result, an int above 0.

    Returns:
        A tensor (N * R, output_dim, group_size, group_size) of the dtype of ``features``.

    Raises:
        TypeError: ``features`` or ``rois`` is not a Tensor, or a setting of the wrong kind.
        ValueError: shapes that do not fit, an image that is not there, or a setting out of range.
    """
    name, images, regions = "PSROIPooling", check_tensor(features, "PSROIPooling", "features"), rois
    if check_type(spatial_scale, float, name, "spatial_scale") <= 0:
        raise ValueError(f"For '{name}', 'spatial_scale' must be above 0, but got {spatial_scale}")
    size = check_positive_int(group_size, name, "group_size")
    channels = check_positive_int(output_dim, name, "output_dim") * size * size
    if images.ndim != 4 or images.shape[1] != channels:
        raise ValueError(
            f"For '{name}', 'features' must have the shape (N, {channels}, H, W), but got shape {images.shape}"
        )
    if check_tensor(regions, name, "rois").ndim != 3 or regions.shape[:2] != (images.shape[0], 5):
        raise ValueError(f"For '{name}', 'rois' must have the shape ({images.shape[0]}, 5, R), but got {regions.shape}")
    rows = to_host(regions._array).astype(np.float32).transpose(0, 2, 1).reshape(-1, 5)
    image_index = rows[:, 0].astype(int)
    if image_index.size and not 0 <= image_index.min() <= image_index.max() < images.shape[0]:
        raise ValueError(f"For '{name}', 'rois' must name images in [0, {images.shape[0]}), but got {image_index}")
    corners = rows[:, 1:] * np.float32(spatial_scale)
    corners = np.copysign(np.floor(np.abs(corners) + 0.5), corners)  # halves away from 0
    sides = np.maximum(corners[:, 2:] - corners[:, :2], np.float32(0.1)) / np.float32(size)
    steps = np.arange(size + 1, dtype=np.float32)
    edges = steps * sides[..., None]  # of each region along x and y
    last = np.array([images.shape[3] - 1, images.shape[2] - 1])[:, None]
    begins = np.clip(np.floor(edges[..., :-1] + corners[:, :2, None]), 0, last).astype(int)
    ends = np.clip(np.ceil(edges[..., 1:] + corners[:, :2, None]), 0, last).astype(int)
    empty = new_tensor(np.zeros(output_dim, images._array.dtype), images.dtype)
    means = []
    for image, (begin_x, begin_y), (end_x, end_y) in zip(image_index.tolist(), begins, ends, strict=True):
        for bin_ in range(size * size):
            i, j = divmod(bin_, size)
            lines, columns = slice(int(begin_y[i]), int(end_y[i])), slice(int(begin_x[j]), int(end_x[j]))
            is_empty = lines.stop <= lines.start or columns.stop <= columns.start
            part = (image, slice(bin_, None, size * size), lines, columns)
            means.append(empty if is_empty else mean(getitem(images, part), (1, 2)))
    if not means:
        return new_tensor(np.zeros((0, output_dim, size, size), images._array.dtype), images.dtype)
    bins = reshape(concat(means, 0), (len(rows), size, size, output_dim))
    return transpose(bins, (0, 3, 1, 2))


def _neighbor_pixels(at: Array, length: int) -> list[tuple[Array, Array]]:
    """Return the pixels before and after points on a line, with their weights."""
    positions = np.clip(at, 0, length - 1)
    low = np.floor(positions)
    part = positions - low
    high = np.minimum(low + 1, length - 1)
    return [(to_device(pixel.astype(np.int64)), to_device(weight)) for pixel, weight in ((low, 1 - part), (high, part))]


def _crop_gradient(
    name: str, grads: Tensor, image: Tensor, boxes: Tensor, box_index: Tensor, method: str, of: int
) -> Tensor:
    if check_tensor(grads, name, "grads").ndim != 4:
        raise ValueError(f"For '{name}', 'grads' must have 4 axes, but got shape {grads.shape}")
    height, width = grads.shape[1:3]
    _, pullback = vjp(
        lambda x, b: crop_and_resize(x, b, check_tensor(box_index, name, "box_index"), (height, width), method),
        image,
        boxes,
    )
    gradient: Tensor = pullback(as_dtype(grads, np.dtype(np.float32)))[of]
    return gradient


@declare(primitive=prim("CropAndResizeGradImage", "T", method="bilinear"))
def _crop_gradient_by_image(
    grads: Tensor, boxes: Tensor, box_index: Tensor, image_size: Tensor, *, T: DTypeLike, method: str
) -> Tensor:
    """Return the gradient of ``CropAndResize`` by the images.

    Args:
        grads: the gradient of the crops (B, height, width, C).
        boxes: a Float32 tensor (B, 4) of (y1, x1, y2, x2), where the image reaches from 0 to 1.
        box_index: the image of each box, an Int32 tensor (B,).
        image_size: the shape of the images (N, H, W, C), four integers.
        T: the dtype of the result: float16, float32 or float64.
        method: "bilinear", "nearest" or "bilinear_v2".

    Returns:
        A tensor of shape ``image_size`` and dtype ``T``.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: shapes that do not fit, an unknown ``method``, or an image index out of range.
    """
    name = "CropAndResizeGradImage"
    if T not in (float16, float32, float64):
        raise TypeError(f"For '{name}', 'T' must be float16, float32 or float64, but got {T}")
    shape = ints_of(check_tensor(image_size, name, "image_size"), name, "image_size")
    if len(shape) != 4 or min(shape) < 1:
        raise ValueError(f"For '{name}', 'image_size' must be four lengths above 0, but got {shape}")
    image = constant(array_module(grads._array).zeros(shape, np.float32))
    return cast(_crop_gradient(name, grads, image, boxes, box_index, method, 0), T)


@declare(primitive=prim("CropAndResizeGradBoxes", method="bilinear"))
def _crop_gradient_by_boxes(grads: Tensor, images: Tensor, boxes: Tensor, box_index: Tensor, *, method: str) -> Tensor:
    """Return the gradient of ``CropAndResize`` by the boxes.

    Args:
        grads: the gradient of the crops (B, height, width, C).
        images: the images (N, H, W, C).
        boxes: a Float32 tensor (B, 4) of (y1, x1, y2, x2), where the image reaches from 0 to 1.
        box_index: the image of each box, an Int32 tensor (B,).
        method: "bilinear".

    Returns:
        A Float32 tensor (B, 4).

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: shapes that do not fit, an unknown ``method``, or an image index out of range.
    """
    name = "CropAndResizeGradBoxes"
    check_one_of(method, ("bilinear",), name, "method")
    return _crop_gradient(name, grads, check_tensor(images, name, "images"), boxes, box_index, method, 1)


@declare(primitive=prim("ExtractGlimpse", centered=True, normalized=True, uniform_noise=True, noise="uniform"))
def _extract_glimpse(
    x: Tensor, size: Tensor, offsets: Tensor, *, centered: bool, normalized: bool, uniform_noise: bool, noise: str
) -> Tensor:
    """Return a window of each image around a position.

    Args:
        x: images (N, H, W, C) of Float32.
        size: height and width of the windows, an Int32 tensor of two numbers above 0.
        offsets: the middle of the window of each image, (y, x), a Float32 tensor (N, 2).
        centered: whether half of ``offsets`` counts from the middle of the image; otherwise all from its upper left
            corner.
        normalized: whether ``offsets`` are parts of the lengths of the image; otherwise pixels.
        uniform_noise: whether the noise is uniform; as in MindSpore ``noise`` decides, if the two differ.
        noise: the values outside of an image: "uniform" (numbers in [0, 1)), "gaussian" (of the standard normal
            distribution) or "zero".

    Returns:
        A tensor (N, *size, C).

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: shapes that do not fit, or an unknown ``noise``.
    """
    name = "ExtractGlimpse"
    for argument, flag in (("centered", centered), ("normalized", normalized), ("uniform_noise", uniform_noise)):
        check_bool(flag, name, argument)
    check_one_of(noise, ("uniform", "gaussian", "zero"), name, "noise")
    height, width = _window_size(x, size, offsets, name)
    lengths = np.array(x.shape[1:3], np.float64)
    middles = to_host(offsets._array).astype(np.float64)
    if normalized:
        middles = middles * lengths
    if centered:
        middles = (middles + lengths) / 2
    begins = (middles - np.array([height, width]) / 2).astype(np.int64)  # toward 0
    xp = array_module(x._array)
    rows = begins[:, :1] + np.arange(height)
    columns = begins[:, 1:] + np.arange(width)
    inside = ((rows >= 0) & (rows < x.shape[1]))[:, :, None] & ((columns >= 0) & (columns < x.shape[2]))[:, None, :]
    index = (
        np.arange(len(rows))[:, None, None],
        np.clip(rows, 0, x.shape[1] - 1)[:, :, None],
        np.clip(columns, 0, x.shape[2] - 1)[:, None, :],
    )
    pixels = getitem(x, tuple(Tensor._wrap(xp.asarray(array)) for array in index))
    shape = (len(rows), height, width, x.shape[3])
    outside: Any = 0.0
    if noise != "zero" and not inside.all():
        outside = new_tensor(inner_uniform(shape, None)) if noise == "uniform" else standard_normal(shape, None)
    return where(Tensor._wrap(xp.asarray(inside[..., None])), pixels, outside)


def _window_size(x: Tensor, size: Tensor, offsets: Tensor, name: str) -> tuple[int, int]:
    for argument, tensor, dtype in (("x", x, float32), ("size", size, int32), ("offsets", offsets, float32)):
        if check_tensor(tensor, name, argument).dtype != dtype:
            raise TypeError(f"For '{name}', '{argument}' must be {dtype}, but got {tensor.dtype}")
    lengths = ints_of(size, name, "size")
    if x.ndim != 4 or offsets.shape != (x.shape[0], 2) or len(lengths) != 2 or min(lengths) < 1:
        raise ValueError(
            f"For '{name}', 'x' must be (N, H, W, C), 'size' two lengths above 0 and 'offsets' (N, 2), but got shape "
            f"{x.shape}, {lengths} and shape {offsets.shape}"
        )
    return lengths[0], lengths[1]


@declare(primitive=prim("ExtractVolumePatches", "kernel_size", "strides", "padding"))
def _volume_patches(
    input_x: Tensor, *, kernel_size: int | tuple[int, ...], strides: int | tuple[int, ...], padding: str
) -> Tensor:
    """Return the blocks of volumes that a window passes over, each along the channels.

    Args:
        input_x: volumes (N, C, D, H, W).
        kernel_size: the lengths of the window, an int or a tuple of three or five ints, the latter beginning with 1, 1.
        strides: the distance between windows, likewise.
        padding: "SAME" (zeros around, so that the result has the lengths divided by ``strides``) or "VALID" (none).

    Returns:
        A tensor (N, KD * KH * KW * C, D', H', W'): for each element of the window the channels.

    Raises:
        TypeError: an argument of the wrong kind.
        ValueError: the wrong number of axes or ``padding``, or a window that does not fit.
    """
    name = "ExtractVolumePatches"
    kernel, step = (
        ints_for(last_axes(item, 3), 3, name, argument)
        for argument, item in (("kernel_size", kernel_size), ("strides", strides))
    )
    check_one_of(check_type(padding, str, name, "padding").upper(), ("SAME", "VALID"), name, "padding")
    if check_tensor(input_x, name, "input_x").ndim != 5:
        raise ValueError(f"For '{name}', 'input_x' must have 5 axes, but got shape {input_x.shape}")
    lengths = input_x.shape[2:]
    pads = [(0, 0)] * 3
    if padding.upper() == "SAME":
        deficits = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(lengths, kernel, step, strict=True)]
        pads = [(item // 2, item - item // 2) for item in deficits]
    x = pad_by_axis(input_x, ((0, 0), (0, 0), *pads))
    outputs = [(n - k) // s + 1 for n, k, s in zip(x.shape[2:], kernel, step, strict=True)]
    if min(outputs) < 1:
        raise ValueError(f"For '{name}', 'kernel_size' must fit into {lengths}, but got {kernel}")
    grids = np.ix_(
        *((np.arange(k)[:, None] + s * np.arange(n)).reshape(-1) for k, s, n in zip(kernel, step, outputs, strict=True))
    )
    index = tuple(Tensor._wrap(array_module(x._array).asarray(item)) for item in grids)
    patches = getitem(x, (slice(None), slice(None), *index))
    block_shape = [n for pair in zip(kernel, outputs, strict=True) for n in pair]
    patches = transpose(reshape(patches, (*x.shape[:2], *block_shape)), (0, 2, 4, 6, 1, 3, 5, 7))
    return reshape(patches, (x.shape[0], -1, *outputs))
