"""Parts of images: cropping, erasing, padding and resizing; and transforms of all values of an image."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_one_of, check_positive_int, check_type
from ...base.types import Array, Ints
from ..config import current_random
from ..transforms import Sometimes, Transform, probability
from ._devices import OnDevice
from ._pixels import ImageTransform, drawn, factor, fill_of, picture, positive_or_zero, span
from .basic import Border, Inter, Normalize, Pad, Resize, _size
from .files import Decode

__all__ = [
    "CutOut",
    "Erase",
    "FiveCrop",
    "LinearTransformation",
    "NormalizePad",
    "PadToSize",
    "RandomCropDecodeResize",
    "RandomErasing",
    "RandomResize",
    "RandomResizedCrop",
    "ResizedCrop",
    "SliceMode",
    "SlicePatches",
    "TenCrop",
]


def part(caller: str, image: Array, top: int, left: int, height: int, width: int) -> Array:
    """Return a part of an image.

    Raises:
        RuntimeError: it is outside the image.
    """
    if top + height > picture(caller, image).shape[0] or left + width > image.shape[1]:
        raise RuntimeError(
            f"For '{caller}', {height} x {width} pixels from ({top}, {left}) on do not lie in the image {image.shape}"
        )
    return image[top : top + height, left : left + width]


class Erase(OnDevice, ImageTransform):
    """Fills a rectangle of the image with a value.

    Args:
        top: its first row.
        left: its first column.
        height: the number of rows.
        width: the number of columns.
        value: the fill value, from 0 to 255, or one for each of three channels.
        inplace: modify the input array.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, a rectangle outside the image.
    """

    def __init__(
        self, top: int, left: int, height: int, width: int, value: float | Sequence[float] = 0.0, inplace: bool = False
    ) -> None:
        self.corner = positive_or_zero("Erase", "top", top), positive_or_zero("Erase", "left", left)
        self.size = tuple(
            check_positive_int(number, "Erase", name, show=repr)
            for number, name in ((height, "height"), (width, "width"))
        )
        values = value if isinstance(value, list | tuple) else (value,)
        if len(values) not in (1, 3):
            raise ValueError(f"For 'Erase', 'value' must be one number or three, but got {value!r}")
        self.value = [factor("Erase", "value", number, 0, 255) for number in values]
        self.inplace = check_bool(inplace, "Erase", "inplace", show=repr)

    def changed(self, value: Array) -> Array:
        image = value if self.inplace else value.copy()
        rectangle = part("Erase", image, *self.corner, *self.size)
        rectangle[...] = self.value if image.ndim == 3 else self.value[0]
        return image


class CutOut(ImageTransform):
    """Fills squares at random positions with zeros; squares may extend beyond the image.

    Args:
        length: the length of their sides.
        num_patches: the number of squares.
        is_hwc: channels are the last axis; False: the first.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number below 1.
        RuntimeError: when called, an input other than an image with three axes.
    """

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = check_positive_int(length, "CutOut", "length", show=repr)
        self.count = check_positive_int(num_patches, "CutOut", "num_patches", show=repr)
        self.is_hwc = check_bool(is_hwc, "CutOut", "is_hwc", show=repr)

    def changed(self, value: Array) -> Array:
        if value.ndim != 3:
            raise RuntimeError(f"For 'CutOut', an image must have three axes, but got {value.shape}")
        image = value.copy()
        view = image if self.is_hwc else image.transpose(1, 2, 0)
        for _ in range(self.count):
            low = [int(current_random().integers(n)) - self.length // 2 for n in view.shape[:2]]
            rows, columns = (slice(max(at, 0), max(at + self.length, 0)) for at in low)
            view[rows, columns] = 0
        return image


class FiveCrop(ImageTransform):
    """Crops the four corners and the center: upper left, upper right, lower left, lower right, center.

    Args:
        size: the height and width of each; an int for a square.

    Raises:
        TypeError: not ints.
        ValueError: a size below 1; when called, one that is larger than the image.
    """

    keeps_pictures = True

    def __init__(self, size: Ints) -> None:
        self.size = _size(type(self).__name__, size)

    def changed(self, value: Array) -> Any:
        height, width = self.size
        below, right = (
            length - target for length, target in zip(picture("FiveCrop", value).shape, self.size, strict=False)
        )
        if min(below, right) < 0:
            raise ValueError(f"For '{type(self).__name__}', {self.size} is larger than the image {value.shape}")
        corners = [(0, 0), (0, right), (below, 0), (below, right), (round(below / 2), round(right / 2))]
        return tuple(np.ascontiguousarray(value[top : top + height, left : left + width]) for top, left in corners)


class TenCrop(FiveCrop):
    """Crops the four corners and the center of an image and of the flipped image.

    Args:
        size: the height and width of each; an int for a square.
        use_vertical_flip: flip top and bottom instead of left and right.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a size below 1; when called, one that is larger than the image.
    """

    keeps_pictures = True

    def __init__(self, size: Ints, use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.vertical = check_bool(use_vertical_flip, "TenCrop", "use_vertical_flip", show=repr)

    def changed(self, value: Array) -> Any:
        return *super().changed(value), *super().changed(value[::-1] if self.vertical else value[:, ::-1])


class PadToSize(ImageTransform):
    """Pads the image to a larger size.

    Args:
        size: the height and width of the result; an int for a square.
        offset: the distance of the image from the top and the left, one or two ints; by default it is centered.
        fill_value: the value of constant padding, from 0 to 255, or one for each of three channels.
        padding_mode: the padding mode, as for ``Pad``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, an image that is too large.
    """

    def __init__(
        self,
        size: Ints,
        offset: Ints | None = None,
        fill_value: int | tuple[int, ...] = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.size = _size("PadToSize", size)
        distances = [] if offset is None else [offset] if isinstance(offset, int) else list(offset)
        if len(distances) > 2:
            raise ValueError(f"For 'PadToSize', 'offset' must be one or two ints, but got {offset!r}")
        self.offset = [positive_or_zero("PadToSize", "offset", distance) for distance in distances]
        self.fill = fill_of("PadToSize", fill_value)
        self.mode = check_type(padding_mode, Border, "PadToSize", "padding_mode", "a Border", show=repr)

    def changed(self, value: Array) -> Array:
        margins = [
            target - length for target, length in zip(self.size, picture("PadToSize", value).shape, strict=False)
        ]
        top, left = (self.offset[0], self.offset[-1]) if self.offset else (margins[0] // 2, margins[1] // 2)
        if min(margins) < 0 or top > margins[0] or left > margins[1]:
            position = (max(top, 0), max(left, 0))
            raise RuntimeError(f"For 'PadToSize', the image {value.shape} does not fit into {self.size} at {position}")
        fill = self.fill if value.ndim == 3 and value.shape[2] == 3 else self.fill[0]
        return Pad((left, top, margins[1] - left, margins[0] - top), fill, self.mode).changed(value)


class SliceMode(enum.IntEnum):
    """Treatments by ``SlicePatches`` of an image that cannot be divided evenly."""

    PAD = 0
    DROP = 1


class SlicePatches(ImageTransform):
    """Cuts the image into patches of one size, row by row.

    Args:
        num_height: the number of rows of patches.
        num_width: the number of columns of patches.
        slice_mode: whether an image that cannot be divided evenly is padded below and on the right, or cut off there.
        fill_value: the padding value, from 0 to 255.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, more patches than pixels.
    """

    def __init__(
        self, num_height: int = 1, num_width: int = 1, slice_mode: SliceMode = SliceMode.PAD, fill_value: int = 0
    ) -> None:
        caller = "SlicePatches"
        self.counts = [
            check_positive_int(number, caller, name, show=repr)
            for number, name in ((num_height, "num_height"), (num_width, "num_width"))
        ]
        self.mode = check_type(slice_mode, SliceMode, caller, "slice_mode", "a SliceMode", show=repr)
        self.fill = fill_of(caller, check_int(fill_value, caller, "fill_value", show=repr))[0]

    def changed(self, value: Array) -> Any:
        shape = picture("SlicePatches", value).shape[:2]
        if any(count > length for count, length in zip(self.counts, shape, strict=True)):
            raise RuntimeError(f"For 'SlicePatches', {self.counts} patches are more than the image has pixels: {shape}")
        pads = self.mode is SliceMode.PAD
        sizes = [-(-n // count) if pads else n // count for n, count in zip(shape, self.counts, strict=True)]
        (rows, columns), (height, width) = self.counts, sizes
        padding = [max(size * count - n, 0) for size, count, n in zip(sizes, self.counts, shape, strict=True)]
        padded = Pad((0, 0, padding[1], padding[0]), self.fill).changed(value)
        patches = [
            np.ascontiguousarray(padded[row * height : (row + 1) * height, column * width : (column + 1) * width])
            for row in range(rows)
            for column in range(columns)
        ]
        return patches[0] if len(patches) == 1 else tuple(patches)


class ResizedCrop(OnDevice, ImageTransform):
    """Crops a part of the image and resizes it.

    Args:
        top: its first row.
        left: its first column.
        height: the number of rows.
        width: the number of columns.
        size: the height and width of the result; an int is the length of the shorter side.
        interpolation: the interpolation mode, as for ``Resize``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, a part outside the image.
    """

    def __init__(
        self, top: int, left: int, height: int, width: int, size: Ints, interpolation: Inter = Inter.BILINEAR
    ) -> None:
        caller = "ResizedCrop"
        self.corner = positive_or_zero(caller, "top", top), positive_or_zero(caller, "left", left)
        self.part_size = [
            check_positive_int(number, caller, name, show=repr)
            for number, name in ((height, "height"), (width, "width"))
        ]
        self.resize = Resize(size, interpolation)

    def changed(self, value: Array) -> Array:
        return self.resize.changed(part("ResizedCrop", value, *self.corner, *self.part_size))


class RandomResizedCrop(ImageTransform):
    """Crops a part of random size, position and shape, and resizes it; the same for several images.

    Args:
        size: the height and width of the result; an int for a square.
        scale: the range of the part's fraction of the area.
        ratio: the range of its width over its height; its logarithm is uniform.
        interpolation: the interpolation mode, as for ``Resize``.
        max_attempts: the number of draws until a part fits; after these, the center is used.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(
        self,
        size: Ints,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        caller = type(self).__name__
        self.scale, self.ratio = span(caller, "scale", scale), span(caller, "ratio", ratio, 1e-9)
        self.attempts = check_positive_int(max_attempts, caller, "max_attempts", show=repr)
        self.resize = Resize(_size(caller, size), interpolation)

    def __call__(self, *values: Any) -> Any:
        images = [picture(type(self).__name__, np.asarray(value)) for value in values]
        box = random_part(images[0].shape, self.scale, self.ratio, self.attempts)
        parts = [self.resize.changed(part(type(self).__name__, image, *box)) for image in images]
        return self.in_input_form(values, parts[0] if len(parts) == 1 else tuple(parts))


def random_part(
    shape: Sequence[int], scale: tuple[float, float], ratio: tuple[float, float], attempts: int
) -> tuple[int, int, int, int]:
    """Return the top, left, height and width of a part of an image."""
    height, width = shape[:2]
    for _ in range(attempts):
        area = height * width * drawn(*scale)
        shape_of = np.exp(drawn(*np.log(ratio).tolist()))
        wide, tall = round(np.sqrt(area * shape_of)), round(np.sqrt(area / shape_of))
        if 0 < wide <= width and 0 < tall <= height:
            top, left = (int(current_random().integers(n + 1)) for n in (height - tall, width - wide))
            return top, left, tall, wide
    aspect = width / height
    tall = round(width / ratio[0]) if aspect < ratio[0] else height
    wide = round(height * ratio[1]) if aspect > ratio[1] else width
    return (height - tall) // 2, (width - wide) // 2, tall, wide


class RandomCropDecodeResize(RandomResizedCrop):
    """Crops a random part of an image in a file's bytes and resizes it, using the package ``pillow``.

    Args:
        size: the height and width of the result; an int for a square.
        scale: the range of the part's fraction of the area.
        ratio: the range of its width over its height; its logarithm is uniform.
        interpolation: the interpolation mode, as for ``Resize``.
        max_attempts: the number of draws until a part fits; after these, the center is used.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        ImportError: when called, the package ``pillow`` is not installed.
        RuntimeError: when called, bytes that are not an image.
    """

    def __call__(self, *values: Any) -> Any:
        return super().__call__(*[Decode()(value) for value in values])


class RandomResize(ImageTransform):
    """Resizes with a random interpolation mode.

    Args:
        size: the height and width of the result; an int is the length of the shorter side.

    Raises:
        TypeError: not ints.
        ValueError: a size below 1.
    """

    def __init__(self, size: Ints) -> None:
        _size("RandomResize", size)
        self.size = size

    def changed(self, value: Array) -> Array:
        modes = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)
        return Resize(self.size, modes[int(current_random().integers(len(modes)))]).changed(value)


class RandomErasing(Sometimes, Transform):
    """Fills a random rectangle of an image (C, H, W), with probability ``prob``.

    Args:
        prob: the probability, from 0 to 1.
        scale: the range of its share of the image.
        ratio: the range of its width over its height.
        value: the fill value: a number, one for each channel, or "random" for normal random numbers.
        inplace: modify the input array.
        max_attempts: the number of draws until a rectangle fits; after these, nothing is done.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, an input other than an image with three axes.
    """

    def __init__(
        self,
        prob: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | str | Sequence[float] = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ) -> None:
        caller = "RandomErasing"
        self.prob = probability(caller, prob)
        self.scale, self.ratio = span(caller, "scale", scale), span(caller, "ratio", ratio, 1e-9)
        if isinstance(value, str):
            check_one_of(value, ("random", "random"), caller, "value")
        else:
            for component in value if isinstance(value, list | tuple) else (value,):
                factor(caller, "value", component, 0, 255)
        self.value, self.inplace = value, check_bool(inplace, caller, "inplace", show=repr)
        self.attempts = check_positive_int(max_attempts, caller, "max_attempts", show=repr)

    def changed(self, value: Array) -> Array:
        if value.ndim != 3:
            raise RuntimeError(f"For 'RandomErasing', an image must be (C, H, W), but got {value.shape}")
        image = value if self.inplace else value.copy()
        channels, height, width = image.shape
        for _ in range(self.attempts):
            area = height * width * drawn(*self.scale)
            shape_of = drawn(*self.ratio)
            tall, wide = round(np.sqrt(area / shape_of)), round(np.sqrt(area * shape_of))
            if 0 < tall < height and 0 < wide < width:
                top, left = (int(current_random().integers(n + 1)) for n in (height - tall, width - wide))
                fill: Any = self.value
                if fill == "random":
                    fill = current_random().normal(size=(channels, tall, wide))
                elif isinstance(fill, list | tuple):
                    fill = np.reshape(fill, (-1, 1, 1))
                image[:, top : top + tall, left : left + wide] = fill
                break
        return image


class LinearTransformation(ImageTransform):
    """Flattens an image (C, H, W), subtracts a vector and multiplies by a matrix.

    Args:
        transformation_matrix: the matrix, (D, D) with D = C * H * W.
        mean_vector: the vector to subtract, (D,).

    Raises:
        TypeError: not arrays.
        ValueError: arrays of the wrong shapes; when called, an image of the wrong size.
    """

    def __init__(self, transformation_matrix: Array, mean_vector: Array) -> None:
        caller = "LinearTransformation"
        self.matrix = check_type(transformation_matrix, np.ndarray, caller, "transformation_matrix", "a NumPy array")
        self.mean = check_type(mean_vector, np.ndarray, caller, "mean_vector", "a NumPy array")
        if self.matrix.ndim != 2 or self.matrix.shape != (self.mean.size,) * 2:
            raise ValueError(
                f"For '{caller}', 'transformation_matrix' must be as long and wide as 'mean_vector', but got "
                f"{self.matrix.shape} and {self.mean.shape}"
            )

    def changed(self, value: Array) -> Array:
        if value.ndim != 3 or value.size != self.mean.size:
            raise ValueError(
                f"For 'LinearTransformation', an image must have {self.mean.size} values, but got {value.shape}"
            )
        return np.asarray((value.reshape(1, -1) - self.mean) @ self.matrix).reshape(value.shape)


class NormalizePad(Normalize):
    """Computes (image - mean) / std for each channel, and adds a channel of zeros.

    Args:
        mean: a number for each channel.
        std: the same number of values above 0.
        dtype: "float32" or "float16".
        is_hwc: channels are the last axis; False: the first.

    Raises:
        ValueError: the wrong dtype, or ``std`` is not as long as ``mean``, or not above 0.
        RuntimeError: when called, the wrong number of channels.
    """

    def __init__(
        self, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
    ) -> None:
        super().__init__(mean, std, is_hwc)
        self.dtype = np.dtype(check_one_of(dtype, ("float32", "float16"), "NormalizePad", "dtype"))

    def changed(self, value: Array) -> Array:
        image = super().changed(value[:, :, None] if value.ndim == 2 else value)
        pads = [(0, 0), (0, 0), (0, 1)] if self.is_hwc else [(0, 1), (0, 0), (0, 0)]
        return np.pad(image, pads).astype(self.dtype)
