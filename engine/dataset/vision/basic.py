"""Common image transforms: sizes, parts, flips, scales, padding."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_number, check_type
from ...base.types import AnyDType, Array, Ints
from ...tensors.dtype import any_dtype, float32
from ..config import current_random
from ..transforms import Sometimes, TypeCast, not_random
from . import _resizing
from ._devices import OnDevice
from ._pixels import ImageTransform, luma_of

__all__ = [
    "HWC2CHW",
    "Border",
    "CenterCrop",
    "Crop",
    "Grayscale",
    "HorizontalFlip",
    "Inter",
    "Normalize",
    "Pad",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
    "ToTensor",
    "ToType",
    "VerticalFlip",
    "not_random",
]


class Inter(enum.IntEnum):
    """Interpolation modes."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = 2
    BICUBIC = 3
    AREA = 4
    PILCUBIC = 5
    LINEAR = 2
    CUBIC = 3


class Border(enum.StrEnum):
    """Padding modes of an image."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


def _size(caller: str, size: Ints) -> tuple[int, int]:
    sizes = (size, size) if isinstance(size, int) and not isinstance(size, bool) else size
    if not isinstance(sizes, list | tuple) or not all(isinstance(n, int) and not isinstance(n, bool) for n in sizes):
        raise TypeError(f"For '{caller}', 'size' must be an int, or a height and a width, but got {size!r}")
    if len(sizes) != 2 or min(sizes) < 1:
        error = ValueError if len(sizes) == 2 else TypeError
        raise error(f"For '{caller}', 'size' must be an int above 0, or a height and a width, but got {size!r}")
    return sizes[0], sizes[1]


class ToTensor(ImageTransform):
    """Converts an image (H, W, C) or (H, W) of 0 to 255 to (C, H, W) of 0 to 1.

    Args:
        output_type: the element type of the result.

    Raises:
        RuntimeError: when called, the wrong rank.
    """

    def __init__(self, output_type: AnyDType = float32) -> None:
        self.dtype = np.dtype(any_dtype(output_type).numpy)

    def changed(self, value: Array) -> Array:
        if value.ndim not in (2, 3):
            raise RuntimeError(f"For 'ToTensor', an image must be (H, W) or (H, W, C), but got {value.shape}")
        image = value[:, :, None] if value.ndim == 2 else value
        scaled = image.transpose(2, 0, 1).astype(np.float32) * np.float32(1 / 255)
        return np.ascontiguousarray(scaled.astype(self.dtype))


class ToType(TypeCast):
    """Converts to another element type.

    Args:
        data_type: a dtype of the engine or of NumPy.

    Raises:
        TypeError: not a dtype.
    """


class Rescale(ImageTransform):
    """Multiplies the image by ``rescale`` and adds ``shift``, in float32.

    Args:
        rescale: the factor.
        shift: the offset.

    Raises:
        TypeError: one of them is not a number.
    """

    least_axes = 0

    def __init__(self, rescale: float, shift: float) -> None:
        for argument, number in (("rescale", rescale), ("shift", shift)):
            check_number(number, "Rescale", argument)
        self.rescale, self.shift = np.float32(rescale), np.float32(shift)

    def changed(self, value: Array) -> Array:
        return np.asarray(value.astype(np.float32) * self.rescale + self.shift)


class Normalize(OnDevice, ImageTransform):
    """Computes (image - mean) / std for each channel, in float32.

    Args:
        mean: a number for each channel, or one in a list for all.
        std: the same number of values above 0.
        is_hwc: channels are the last axis; False: the first.

    Raises:
        TypeError: one of them is not a list or tuple.
        ValueError: ``std`` is not as long as ``mean`` or not above 0, or a number is not from 0 to 255.
        RuntimeError: when called, the wrong number of channels.
    """

    def __init__(self, mean: Sequence[float] | Array, std: Sequence[float] | Array, is_hwc: bool = True) -> None:
        for argument, numbers in (("mean", mean), ("std", std)):
            check_type(numbers, list | tuple | np.ndarray, "Normalize", argument, "a list or tuple of numbers")
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
        if self.mean.ndim != 1 or self.mean.shape != self.std.shape:
            raise ValueError(f"For 'Normalize', 'mean' and 'std' must be as long as each other: {mean!r}, {std!r}")
        for argument, numbers in (("mean", self.mean), ("std", self.std)):
            if (numbers < 0).any() or (numbers > 255).any() or (argument == "std" and (numbers == 0).any()):
                raise ValueError(f"For 'Normalize', '{argument}' must be from 0 to 255, 'std' above 0, got {numbers}")
        self.is_hwc = is_hwc

    def changed(self, value: Array) -> Array:
        image = value.astype(np.float32)
        shape = self.mean.shape if self.is_hwc else (-1, *(1,) * (image.ndim - 1))
        channels = 1 if image.ndim == 2 else image.shape[-1 if self.is_hwc else 0]
        if self.mean.size not in (1, channels):
            raise RuntimeError(f"For 'Normalize', there are {self.mean.size} means for {channels} channels")
        return np.asarray((image - self.mean.reshape(shape)) / self.std.reshape(shape))


class HWC2CHW(ImageTransform):
    """Moves the channels first."""

    def changed(self, value: Array) -> Array:
        return value if value.ndim == 2 else np.ascontiguousarray(value.transpose(2, 0, 1))


class HorizontalFlip(OnDevice, ImageTransform):
    """Flips the image left to right."""

    def changed(self, value: Array) -> Array:
        return np.ascontiguousarray(np.flip(value, 1 if value.ndim < 4 else -2))


class VerticalFlip(OnDevice, ImageTransform):
    """Flips the image top to bottom."""

    def changed(self, value: Array) -> Array:
        return np.ascontiguousarray(np.flip(value, 0 if value.ndim < 4 else -3))


class RandomHorizontalFlip(Sometimes, HorizontalFlip):
    """Flips the image left to right with probability ``prob``; the same for several images.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """

    keeps_pictures = True


class RandomVerticalFlip(Sometimes, VerticalFlip):
    """Flips the image top to bottom with probability ``prob``; the same for several images.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """

    keeps_pictures = True


_WAYS = {
    0: _resizing.nearest,
    2: _resizing.linear,
    3: _resizing.cubic,
    4: _resizing.area,
    5: _resizing.antialiased_cubic,
}


_PIL = {Inter.NEAREST: 0, Inter.ANTIALIAS: 1, Inter.BILINEAR: 2, Inter.BICUBIC: 3}  # Pillow's numbering


class Resize(OnDevice, ImageTransform):
    """Resizes the image.

    Pixel centers are mapped to pixel centers (as in OpenCV); an image of ints is rounded.

    Args:
        size: the height and width of the result; an int is the length of the shorter side.
        interpolation: the interpolation mode: ``Inter.NEAREST``, ``Inter.BILINEAR`` (``LINEAR``),
            ``Inter.BICUBIC`` (``CUBIC``), ``Inter.AREA``, the mean of a pixel's area, or ``Inter.PILCUBIC``, cubic
            and smooth if the image shrinks.

            An image of PIL is resized by Pillow, which has the first three and ``Inter.ANTIALIAS``.

    Raises:
        TypeError: an argument of the wrong type; or when called, a mode that such an image does not support.
        ValueError: a size below 1.
    """

    keeps_pictures = True

    def __init__(self, size: Ints, interpolation: Inter = Inter.BILINEAR) -> None:
        self.has_both_sizes = not isinstance(size, int)
        self.size = _size("Resize", size)
        if not isinstance(interpolation, Inter):
            raise TypeError(f"For 'Resize', 'interpolation' must be an Inter, but got {interpolation!r}")
        self.interpolation = interpolation

    def __call__(self, *values: Any) -> Any:
        if len(values) == 1 and hasattr(values[0], "getbands"):  # an image of PIL resizes itself
            if self.interpolation not in _PIL:
                raise TypeError(f"For 'Resize', Pillow's images have no {self.interpolation.name}")
            width, height = values[0].size
            tall, wide = self.size if self.has_both_sizes else self._of_shorter(height, width)
            return values[0].resize((wide, tall), _PIL[self.interpolation])
        if self.interpolation is Inter.ANTIALIAS:
            raise TypeError("For 'Resize', ANTIALIAS is for images of PIL; use PILCUBIC or AREA for arrays")
        return super().__call__(*values)

    def changed(self, value: Array) -> Array:
        height, width = self.size if self.has_both_sizes else self._of_shorter(*value.shape[:2])
        return _WAYS[int(self.interpolation)](value, height, width)

    def _of_shorter(self, height: int, width: int) -> tuple[int, int]:
        short = self.size[0]
        return (short, int(short * width / height)) if height < width else (int(short * height / width), short)


class Crop(OnDevice, ImageTransform):
    """Crops a part of the image.

    Args:
        coordinates: its upper left corner (row, column), two ints of at least 0.
        size: the height and width of the result; an int for a square.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a size below 1, or a negative coordinate.
        RuntimeError: when called, a part outside the image.
    """

    def __init__(self, coordinates: Sequence[int], size: Ints) -> None:
        if len(coordinates) != 2 or not all(isinstance(n, int) for n in coordinates):
            raise TypeError(f"For 'Crop', 'coordinates' must be a row and a column, but got {coordinates!r}")
        if min(coordinates) < 0:
            raise ValueError(f"For 'Crop', 'coordinates' must not be negative, but got {coordinates!r}")
        self.top, self.left = coordinates
        self.size = _size("Crop", size)

    def changed(self, value: Array) -> Array:
        height, width = self.size
        if self.top + height > value.shape[0] or self.left + width > value.shape[1]:
            raise RuntimeError(f"For 'Crop', the part does not lie in the image {value.shape}")
        return np.ascontiguousarray(value[self.top : self.top + height, self.left : self.left + width])


class CenterCrop(ImageTransform):
    """Crops the center of the image, padded with zeros if it is smaller.

    Args:
        size: the height and width of the result; an int for a square.

    Raises:
        TypeError: not ints.
        ValueError: a size below 1.
        RuntimeError: when called, more than three times the image's size is missing.
    """

    keeps_pictures = True

    def __init__(self, size: Ints) -> None:
        self.size = _size("CenterCrop", size)

    def __call__(self, *values: Any) -> Any:
        if len(values) == 1 and hasattr(values[0], "getbands"):  # an image of PIL: halves are rounded to even
            (width, height), (tall, wide) = values[0].size, self.size
            left, top = round((width - wide) / 2), round((height - tall) / 2)
            return values[0].crop((left, top, left + wide, top + tall))
        return super().__call__(*values)

    def changed(self, value: Array) -> Array:
        short = [max(target - length, 0) for target, length in zip(self.size, value.shape, strict=False)]
        if any(n > 3 * length for n, length in zip(short, value.shape, strict=False)):
            raise RuntimeError(f"For 'CenterCrop', the size {self.size} is too large for an image {value.shape}")
        if any(short):
            value = np.pad(value, [(n - n // 2, n // 2) for n in short] + [(0, 0)] * (value.ndim - 2))
        top, left = ((length - target) // 2 for length, target in zip(value.shape, self.size, strict=False))
        return np.ascontiguousarray(value[top : top + self.size[0], left : left + self.size[1]])


def _pads(caller: str, padding: Ints) -> tuple[int, int, int, int]:
    """Return (left, top, right, bottom) of an int, (left and right, top and bottom), or all four."""
    check_type(padding, int | tuple | list, caller, "padding", "an int, two or four", show=repr)
    sides = (padding,) * 4 if isinstance(padding, int) else tuple(padding)
    for side in sides:
        check_type(side, int, caller, "padding", "an int, two or four", show=repr)
    if len(sides) == 2:
        sides = (sides[0], sides[1], sides[0], sides[1])
    if len(sides) != 4 or min(sides) < 0:
        raise ValueError(
            f"For '{caller}', 'padding' must be 1, 2 or 4 numbers that are not negative, but got {padding!r}"
        )
    return sides


class Pad(OnDevice, ImageTransform):
    """Pads the image.

    Args:
        padding: an int for all sides, (left and right, top and bottom), or (left, top, right, bottom).
        fill_value: the value of constant padding, or one for each channel.
        padding_mode: ``Border.CONSTANT``, ``Border.EDGE``, ``Border.REFLECT`` or ``Border.SYMMETRIC``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the wrong number of values, a negative one, or a ``fill_value`` that is not from 0 to 255.
    """

    keeps_pictures = True

    def __init__(
        self, padding: Ints, fill_value: float | Sequence[float] = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        caller = type(self).__name__
        self.pads = _pads(caller, padding)
        if isinstance(fill_value, bool) or not all(0 <= component <= 255 for component in np.atleast_1d(fill_value)):
            raise ValueError(f"For '{caller}', 'fill_value' must be from 0 to 255, but got {fill_value!r}")
        check_type(padding_mode, Border, caller, "padding_mode", "a Border", show=repr)
        self.fill_value, self.padding_mode = fill_value, padding_mode

    def changed(self, value: Array) -> Array:
        left, top, right, bottom = self.pads
        pads = [(top, bottom), (left, right)] + [(0, 0)] * (value.ndim - 2)
        if self.padding_mode is not Border.CONSTANT:
            mode: Any = self.padding_mode.value
            return np.asarray(np.pad(value, pads, mode=mode))
        padded = np.empty([n + a + b for n, (a, b) in zip(value.shape, pads, strict=True)], value.dtype)
        padded[...] = self.fill_value
        padded[top : top + value.shape[0], left : left + value.shape[1]] = value
        return padded


class RandomCrop(ImageTransform):
    """Crops a part of this size at a random position, after padding; the same for several images.

    Args:
        size: the height and width of the result; an int for a square.
        padding: an int for all sides, (left and right, top and bottom), or (left, top, right, bottom); by default none.
        pad_if_needed: pad an image that is smaller than ``size``.
        fill_value: the value of constant padding, or one for each channel.
        padding_mode: ``Border.CONSTANT``, ``Border.EDGE``, ``Border.REFLECT`` or ``Border.SYMMETRIC``.

    Raises:
        TypeError: not ints.
        ValueError: a size below 1, or a negative padding.
        RuntimeError: when called, the image is smaller than ``size``.
    """

    keeps_pictures = True

    def __init__(
        self,
        size: Ints,
        padding: Ints | None = None,
        pad_if_needed: bool = False,
        fill_value: float | Sequence[float] = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.size = _size("RandomCrop", size)
        self.pad = None if padding is None else Pad(padding, fill_value, padding_mode)
        self.pad_if_needed, self.fill_value, self.padding_mode = pad_if_needed, fill_value, padding_mode

    def __call__(self, *values: Any) -> Any:
        images = [self._ready(np.asarray(value)) for value in self.check_images(values)]
        margins = [length - target for length, target in zip(images[0].shape, self.size, strict=False)]
        if min(margins) < 0:
            raise RuntimeError(f"For 'RandomCrop', {self.size} is larger than the image {images[0].shape}")
        top, left = (int(current_random().integers(n + 1)) for n in margins)
        parts = [np.ascontiguousarray(image[top : top + self.size[0], left : left + self.size[1]]) for image in images]
        return self.in_input_form(values, parts[0] if len(parts) == 1 else tuple(parts))

    def _ready(self, image: Array) -> Array:
        if self.pad is not None:
            image = self.pad.changed(image)
        if self.pad_if_needed:
            tall, wide = (max(target - length, 0) for target, length in zip(self.size, image.shape, strict=False))
            image = Pad((wide, tall, wide, tall), self.fill_value, self.padding_mode).changed(image)
        return image


class Grayscale(ImageTransform):
    """Returns the brightness of a color image, by the luma weights of ITU-R BT.601.

    Args:
        num_output_channels: 1 for an image (H, W), 3 for the same in three channels.

    Raises:
        ValueError: the wrong number.
    """

    keeps_pictures = True

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise ValueError(f"For 'Grayscale', 'num_output_channels' must be 1 or 3, but got {num_output_channels}")
        self.channels = num_output_channels

    def changed(self, value: Array) -> Array:
        gray = luma_of(value)
        return gray if self.channels == 1 else np.repeat(gray[:, :, None], 3, axis=2)
