"""Resizing of images, with the coordinates and weights of OpenCV and Pillow."""

from __future__ import annotations

import numpy as np

from ...base.types import Array

_UNITS = 2048  # OpenCV's units of weights for images of bytes


def nearest(image: Array, height: int, width: int) -> Array:
    """Take each pixel of the result from the source position of its upper left corner."""
    rows, columns = (
        np.minimum((np.arange(new) * (old / new)).astype(int), old - 1)
        for new, old in zip((height, width), image.shape, strict=False)
    )
    return np.ascontiguousarray(image[rows][:, columns])


def linear(image: Array, height: int, width: int) -> Array:
    """Interpolate between the two nearest pixels along each axis, by the distance of their centers."""
    sides = zip((height, width), image.shape, strict=False)
    return _between(image, *[_linear_shares(new, old) for new, old in sides])


def cubic(image: Array, height: int, width: int) -> Array:
    """Convolve the four nearest pixels along each axis with a cubic kernel (a = -0.75)."""
    rows, columns = (_cubic_weights(new, old) for new, old in zip((height, width), image.shape, strict=False))
    if image.dtype == np.uint8:
        rows, columns = (np.rint(weights * _UNITS) / _UNITS for weights in (rows, columns))
    resized = _weight(image, rows, columns)
    return _back(np.rint(resized) if image.dtype.kind in "iu" else resized, image)


def area(image: Array, height: int, width: int) -> Array:
    """Average the area that a pixel of the result covers; interpolate between neighbors if the image grows."""
    if height > image.shape[0] or width > image.shape[1]:
        sides = zip((height, width), image.shape, strict=False)
        return _between(image, *[_area_shares(new, old) for new, old in sides])
    rows, columns = (_area_weights(new, old) for new, old in zip((height, width), image.shape, strict=False))
    resized = _weight(image, rows, columns)
    return _back(np.rint(resized) if image.dtype.kind in "iu" else resized, image)


def antialiased_cubic(image: Array, height: int, width: int) -> Array:
    """Convolve with a cubic kernel (a = -0.5) that widens if the image shrinks, as in Pillow."""
    for axis, new in ((1, width), (0, height)):
        weights = _pillow_weights(new, image.shape[axis])
        resized = np.moveaxis(np.tensordot(weights, image.astype(np.float64), (1, axis)), 0, axis)
        image = _back(np.floor(resized + 0.5) if image.dtype.kind in "iu" else resized, image)
    return image


def _weight(image: Array, rows: Array, columns: Array) -> Array:
    across = np.moveaxis(np.tensordot(columns, image.astype(np.float64), (1, 1)), 0, 1)
    return np.tensordot(rows, across, (1, 0))


def _back(result: Array, image: Array) -> Array:
    if image.dtype.kind in "iu":
        limits = np.iinfo(image.dtype)
        result = np.clip(result, limits.min, limits.max)
    return np.ascontiguousarray(result.astype(image.dtype))


Shares = tuple[Array, Array]
"""For each pixel of the result the first of its two neighbors, and the share of the second."""


def _between(image: Array, rows: Shares, columns: Shares) -> Array:
    """Interpolate the image; bytes use OpenCV's integer arithmetic."""
    integral = image.dtype == np.uint8
    neighbors = [
        (axis_weights[0], np.minimum(axis_weights[0] + 1, n - 1))
        for axis_weights, n in zip((rows, columns), image.shape, strict=False)
    ]
    shares = [
        np.reshape(axis_weights[1], [-1 if axis == at else 1 for axis in range(image.ndim)])
        for at, axis_weights in enumerate((rows, columns))
    ]
    if not integral:
        result = image.astype(np.float64)
        for axis, ((low, high), share) in enumerate(zip(neighbors, shares, strict=True)):
            result = np.take(result, low, axis) * (1 - share) + np.take(result, high, axis) * share
        return _back(np.floor(result + 0.5) if image.dtype.kind in "iu" else result, image)
    (up, down), (left, right) = neighbors
    units = [
        (np.rint((1 - axis_weights) * _UNITS).astype(np.int64), np.rint(axis_weights * _UNITS).astype(np.int64))
        for axis_weights in shares
    ]
    widened = image.astype(np.int64)
    across = (np.take(widened, left, 1) * units[1][0] + np.take(widened, right, 1) * units[1][1]) >> 4
    result = ((np.take(across, up, 0) * units[0][0]) >> 16) + ((np.take(across, down, 0) * units[0][1]) >> 16)
    return _back((result + 2) >> 2, image)


def _spread(new: int, old: int, first: Array, parts: Array) -> Array:
    """Return a matrix (new, old) with these weights from column ``first`` on; beyond the edge they count for the
    outermost."""
    matrix = np.zeros((new, old))
    for at in range(parts.shape[1]):
        np.add.at(matrix, (np.arange(new), np.clip(first + at, 0, old - 1)), parts[:, at])
    return matrix


def _linear_shares(new: int, old: int) -> Shares:
    centers = (np.arange(new) + 0.5) * (old / new) - 0.5
    low = np.floor(centers).astype(int)
    share = np.where((low < 0) | (low >= old - 1), 0, centers - low)
    return np.clip(low, 0, old - 1), share


def _area_shares(new: int, old: int) -> Shares:
    """Return the weights of enlarging: a result pixel combines two source pixels if it covers parts of both."""
    low = np.floor(np.arange(new) * (old / new)).astype(int)
    share = (np.arange(new) + 1) - (low + 1) * (new / old)
    share = np.where((share <= 0) | (low >= old - 1), 0, share - np.floor(share))
    return np.minimum(low, old - 1), share


def _cubic_weights(new: int, old: int) -> Array:
    centers = (np.arange(new) + 0.5) * (old / new) - 0.5
    low = np.floor(centers).astype(int)
    parts = np.stack([_cubic(np.abs(centers - low + 1 - at), -0.75) for at in range(4)], axis=1)
    return _spread(new, old, low - 1, parts)


def _cubic(distance: Array, a: float) -> Array:
    inner = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance < 1, inner, np.where(distance < 2, far, 0))


def _area_weights(new: int, old: int) -> Array:
    scale = old / new
    ends = np.arange(old + 1)
    begin, end = (np.arange(new)[:, None] + add for add in (0, 1))
    covered = np.minimum(end * scale, ends[1:]) - np.maximum(begin * scale, ends[:-1])
    return np.maximum(covered, 0) / scale


def _pillow_weights(new: int, old: int) -> Array:
    scale = old / new
    stretch = max(scale, 1.0)
    centers = (np.arange(new) + 0.5) * scale
    centers_of_pixels = np.arange(old) + 0.5
    weights = _cubic(np.abs(centers_of_pixels - centers[:, None]) / stretch, -0.5)
    return weights / weights.sum(axis=1, keepdims=True)
