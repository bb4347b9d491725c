"""Colors of images: from red, green and blue to hue, saturation and value and back, and changes of these."""

from __future__ import annotations

import numpy as np

from ...base.surfaces import declare, prim
from ...tensors.dtype import float16, float32, float64
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..elementwise.arithmetic import abs as absolute
from ..elementwise.arithmetic import clamp, floor, maximum, minimum
from ..elementwise.comparison import where
from ..reduction.reduction import mean
from ..shapes.broadcasting import as_single, through_single
from ..shapes.concatenation import stack
from ..shapes.subscripts import getitem

__all__: list[str] = []


def _channels(image: Tensor, name: str, argument: str, least: int, most: int | None = None) -> list[Tensor]:
    """Return the three channels of an image, which are its last axis."""
    if check_tensor(image, name, argument).ndim < least or image.ndim > (most or image.ndim) or image.shape[-1] != 3:
        axes = f"{least} axes" if most else f"at least {least} {'axis' if least == 1 else 'axes'}"
        raise ValueError(f"For '{name}', '{argument}' must have {axes}, the last one of 3, but got {image.shape}")
    if image.dtype not in (float16, float32, float64):
        raise TypeError(f"For '{name}', '{argument}' must be of Float16, Float32 or Float64, but got {image.dtype}")
    return [getitem(image, (Ellipsis, i)) for i in range(3)]


def _hue_and_ends(colors: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the hue in [0, 6), one for each corner of the circle, and the least and the largest of three channels."""
    red, green, blue = colors
    low, high = minimum(minimum(red, green), blue), maximum(maximum(red, green), blue)
    gray = high == low
    chroma = where(gray, 1.0, high - low)
    of_blue = where(high == green, (blue - red) / chroma + 2.0, (red - green) / chroma + 4.0)
    hue = where(gray, 0.0, where(high == red, (green - blue) / chroma, of_blue))
    return where(hue < 0, hue + 6.0, hue), low, high


def _of_hue(hue: Tensor) -> list[Tensor]:
    """Return how far the channels of a hue in [0, 6) are between the least and the largest one, from 0 to 1."""
    return [
        clamp(absolute(hue - 3.0) - 1.0, 0.0, 1.0),
        clamp(2.0 - absolute(hue - 2.0), 0.0, 1.0),
        clamp(2.0 - absolute(hue - 4.0), 0.0, 1.0),
    ]


def _saturation(low: Tensor, high: Tensor) -> Tensor:
    bright = high > 0
    return where(bright, (high - low) / where(bright, high, 1.0), 0.0)


@declare(primitive=prim("RGBToHSV"))
@through_single
def _rgb_to_hsv(images: Tensor) -> Tensor:
    """Return hue, saturation (1 - m / M) and value (M) of red, green and blue, M the largest channel and m the least.

    Args:
        images: channels in [0, 1] in the last axis, a tensor (..., 3) of Float16, Float32 or Float64.

    Returns:
        A tensor of the shape and dtype of ``images``; the hue is 0 for red and gray, 1 / 3 for green, 2 / 3 for
        blue.

    Raises:
        TypeError: ``images`` is not a Tensor, or of the wrong dtype.
        ValueError: the last axis is not of length 3.
    """
    hue, low, high = _hue_and_ends(_channels(images, "RGBToHSV", "images", 1))
    return stack([hue * (1 / 6), _saturation(low, high), high], -1)


@declare(primitive=prim("HSVToRGB"))
@through_single
def _hsv_to_rgb(x: Tensor) -> Tensor:
    """Return red, green and blue of hue, saturation and value; the inverse of ``RGBToHSV``.

    Args:
        x: hue, saturation and value in [0, 1] in the last axis, a tensor (N, H, W, 3) of Float16, Float32 or Float64.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or of the wrong dtype.
        ValueError: the wrong number of axes, or the last one is not of length 3.
    """
    hue, saturation, value = _channels(x, "HSVToRGB", "x", 4, 4)
    return stack([(1.0 - saturation + saturation * part) * value for part in _of_hue(hue * 6.0)], -1)


def _check_number(value: Tensor, name: str, argument: str) -> Tensor:
    if check_tensor(value, name, argument).ndim:
        raise ValueError(f"For '{name}', '{argument}' must have no axes, but got shape {value.shape}")
    if value.dtype != float32:
        raise TypeError(f"For '{name}', '{argument}' must be of Float32, but got {value.dtype}")
    return value


@declare(primitive=prim("AdjustHue"))
def _adjust_hue(image: Tensor, delta: Tensor) -> Tensor:
    """Return colors rotated on the circle of hues; the least and the largest channel do not change.

    Args:
        image: red, green and blue in the last axis, a tensor (..., H, W, 3) of Float16, Float32 or Float64.
        delta: the rotation, 1 for a full turn: a Float32 tensor without axes.

    Returns:
        A tensor of the shape and dtype of ``image``.

    Raises:
        TypeError: an argument is not a Tensor, or of the wrong dtype.
        ValueError: ``image`` has less than 3 axes or the last one is not of length 3, or ``delta`` has axes.
    """
    _check_number(delta, "AdjustHue", "delta")
    hue, low, high = _hue_and_ends(_channels(as_single(image), "AdjustHue", "image", 3))
    rotated = hue + delta * 6.0
    rotated = rotated - floor(rotated / 6.0) * 6.0
    return stack([low + (high - low) * part for part in _of_hue(rotated)], -1).astype(image.dtype)


@declare(primitive=prim("AdjustSaturation"))
def _adjust_saturation(image: Tensor, scale: Tensor) -> Tensor:
    """Return colors with another saturation, and the same hue and largest channel.

    Args:
        image: red, green and blue in the last axis, a tensor (..., H, W, 3) of Float16, Float32 or Float64.
        scale: the factor of the saturation, which is then clipped to [0, 1]: a Float32 tensor without axes.

    Returns:
        A tensor of the shape and dtype of ``image``.

    Raises:
        TypeError: an argument is not a Tensor, or of the wrong dtype.
        ValueError: ``image`` has less than 3 axes or the last one is not of length 3, or ``scale`` has axes.
    """
    _check_number(scale, "AdjustSaturation", "scale")
    hue, low, high = _hue_and_ends(_channels(as_single(image), "AdjustSaturation", "image", 3))
    saturation = clamp(_saturation(low, high) * scale, 0.0, 1.0)
    chroma = saturation * high
    return stack([high - chroma + chroma * part for part in _of_hue(hue)], -1).astype(image.dtype)


@declare(primitive=prim("AdjustContrastv2"))
def _adjust_contrast(images: Tensor, contrast_factor: Tensor) -> Tensor:
    """Return images with another contrast: the difference of each channel from its mean over the image, times a factor.

    Args:
        images: a tensor (..., H, W, C) of Float16 or Float32.
        contrast_factor: the factor, a Float32 tensor without axes.

    Returns:
        A tensor of the shape and dtype of ``images``.

    Raises:
        TypeError: an argument is not a Tensor, or of the wrong dtype.
        ValueError: ``images`` has less than 3 axes, or ``contrast_factor`` has axes.
    """
    name = "AdjustContrastv2"
    if check_tensor(images, name, "images")._array.dtype not in (np.float16, np.float32):
        raise TypeError(f"For '{name}', 'images' must be Float16 or Float32, but got {images.dtype}")
    if images.ndim < 3:
        raise ValueError(f"For '{name}', 'images' must have at least 3 axes, but got shape {images.shape}")
    factor, x = _check_number(contrast_factor, name, "contrast_factor"), as_single(images)
    middle = mean(x, (-3, -2), True)
    return ((x - middle) * factor + middle).astype(images.dtype)
