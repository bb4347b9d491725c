"""Filters of images: sharpening and blurring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_positive_int, check_type
from ...base.types import Array, Ints
from ..transforms import Sometimes, probability
from ._devices import OnDevice
from ._pixels import ImageTransform, drawn, factor, mixed, picture, rounded, span

__all__ = ["AdjustSharpness", "GaussianBlur", "RandomAdjustSharpness", "RandomSharpness"]


def _convolve(image: Array, weights: Array, axis: int) -> Array:
    """Return weighted sums of neighbors along an axis; the image is mirrored at the edge, with the outermost pixel
    repeated."""
    half = len(weights) // 2
    pads = [(half, half) if dimension == axis else (0, 0) for dimension in range(image.ndim)]
    padded = np.pad(image, pads, mode="reflect") if image.shape[axis] > 1 else np.pad(image, pads, mode="edge")
    length = image.shape[axis]
    return sum(
        (np.take(padded, np.arange(at, at + length), axis) * weight for at, weight in enumerate(weights)),
        np.zeros_like(image),
    )


def _smooth(image: Array) -> Array:
    """Return each inner pixel as the mean of itself, weighted five times, and its eight neighbors."""
    height, width = image.shape[:2]
    smoothed = image.astype(np.float64)
    if min(height, width) < 3:
        return smoothed
    neighborhood = sum(
        smoothed[row : height - 2 + row, column : width - 2 + column] for row in range(3) for column in range(3)
    )
    smoothed[1:-1, 1:-1] = (neighborhood + 4 * smoothed[1:-1, 1:-1]) / 13
    return rounded(smoothed, image.dtype).astype(np.float64)


class AdjustSharpness(OnDevice, ImageTransform):
    """Multiplies the image's distance to its smoothed form by a factor.

    Args:
        sharpness_factor: 0 is smooth, 1 leaves the image unchanged, above is sharper.

    Raises:
        TypeError: not a number.
        ValueError: a negative number.
        RuntimeError: when called, an input other than an image.
    """

    def __init__(self, sharpness_factor: float) -> None:
        self.factor = factor(type(self).__name__, "sharpness_factor", sharpness_factor)

    def changed(self, value: Array) -> Array:
        image = picture("AdjustSharpness", value)
        return mixed(image, _smooth(image), self.factor)


class RandomAdjustSharpness(Sometimes, AdjustSharpness):
    """Multiplies the image's distance to its smoothed form by a factor, with probability ``prob``.

    Args:
        degree: the factor.
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        self.factor = factor("RandomAdjustSharpness", "degree", degree)
        self.prob = probability("RandomAdjustSharpness", prob)


class RandomSharpness(ImageTransform):
    """Multiplies the image's distance to its smoothed form by a random factor.

    Args:
        degrees: the range of the factor.

    Raises:
        TypeError: not numbers.
        ValueError: negative numbers, or in descending order.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(self, degrees: Sequence[float] = (0.1, 1.9)) -> None:
        self.degrees = span("RandomSharpness", "degrees", degrees)

    def changed(self, value: Array) -> Array:
        return AdjustSharpness(drawn(*self.degrees)).changed(value)


class GaussianBlur(OnDevice, ImageTransform):
    """Applies a Gaussian kernel to the image.

    Args:
        kernel_size: its width and height, odd ints, or one for both.
        sigma: its standard deviations along the width and the height, or one for both; 0 or None:
            0.3 * ((kernel_size - 1) / 2 - 1) + 0.8.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an even size, a number out of range, or the wrong number of them.
        RuntimeError: when called, an input other than an image.
    """

    def __init__(self, kernel_size: Ints, sigma: float | Sequence[float] | None = None) -> None:
        sizes = self._pair("kernel_size", kernel_size, int)
        for size in sizes:
            if check_positive_int(size, "GaussianBlur", "kernel_size", show=repr) % 2 == 0:
                raise ValueError(f"For 'GaussianBlur', 'kernel_size' must be odd, but got {kernel_size!r}")
        sigmas = self._pair("sigma", 0 if sigma is None else sigma, (int, float))
        self.kernels = [
            _gaussian(size, factor("GaussianBlur", "sigma", deviation))
            for size, deviation in zip(sizes, sigmas, strict=True)
        ]

    @staticmethod
    def _pair(name: str, value: Any, kind: Any) -> tuple[Any, Any]:
        if isinstance(value, kind) and not isinstance(value, bool):
            return value, value
        check_type(value, list | tuple, "GaussianBlur", name, "a number or two", show=repr)
        if len(value) not in (1, 2):
            raise ValueError(f"For 'GaussianBlur', '{name}' must be a number or two, but got {value!r}")
        return value[0], value[-1]

    def changed(self, value: Array) -> Array:
        image = picture("GaussianBlur", value)
        across, down = self.kernels
        if image.dtype != np.uint8:
            return rounded(_convolve(_convolve(image.astype(np.float64), across, 1), down, 0), image.dtype)
        across, down = (_in_parts(weights) for weights in (across, down))
        blurred = _convolve(_convolve(image.astype(np.float64), across, 1), down, 0)
        return rounded(np.floor(blurred / 256**2 + 0.5), image.dtype)


def _gaussian(size: int, sigma: float) -> Array:
    if not sigma:
        sigma = 0.3 * ((size - 1) / 2 - 1) + 0.8
    positions = np.arange(size) - (size - 1) / 2
    weights = np.exp(-(positions**2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum())


def _in_parts(weights: Array) -> Array:
    """Return weights in 256ths that sum to 1, as OpenCV computes them for bytes; rounding errors are carried on."""
    half = len(weights) // 2
    parts = np.zeros(len(weights))
    error = 0.0
    for at in range(half):
        exact = weights[at] * 256 + error
        parts[at] = parts[-1 - at] = np.rint(exact)
        error = exact - parts[at]
    parts[half] = 256 - 2 * parts[:half].sum()
    return parts
