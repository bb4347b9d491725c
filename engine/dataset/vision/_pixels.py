"""Helpers of image transforms: rounding, mixing, gray, and checks of images and ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_number, check_type
from ...base.types import Array
from ...tensors.tensor import Tensor
from ..config import current_random
from ..transforms import Transform


def rounded(image: Array, dtype: np.dtype[Any]) -> Array:
    """Convert numbers to a dtype: ints are rounded, halves to even, and clipped to their range."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        image = np.clip(np.rint(image), limits.min, limits.max)
    return np.asarray(image).astype(dtype)


def mixed(first: Array, second: Array | float, share: float) -> Array:
    """Mix a share of the first with the rest of the second, in the dtype of the first."""
    return rounded(first * share + np.asarray(second, np.float64) * (1 - share), first.dtype)


def gray_of(image: Array) -> Array:
    """Return the brightness (H, W) of a color image, by the luma weights of ITU-R BT.601, as OpenCV rounds it."""
    if image.dtype == np.uint8:
        red, green, blue = (image[..., channel].astype(np.int64) for channel in range(3))
        return ((red * 9798 + green * 19235 + blue * 3735 + (1 << 14)) >> 15).astype(np.uint8)
    return np.asarray(image[..., :3].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32))


def luma_of(image: Array) -> Array:
    """Return the brightness (H, W) of a color image, by the luma weights of ITU-R BT.601, as Pillow rounds it."""
    if image.dtype != np.uint8:
        luma = image[..., :3].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
        return np.asarray((np.floor(luma + 0.5) if image.dtype.kind in "iu" else luma).astype(image.dtype))
    red, green, blue = (image[..., channel].astype(np.int64) for channel in range(3))
    return ((red * 19595 + green * 38470 + blue * 7471 + (1 << 15)) >> 16).astype(np.uint8)


class ImageTransform(Transform):
    """A function of images: of NumPy arrays with rows and columns, of Tensors, or of images of PIL."""

    least_axes = 2
    keeps_pictures = False  # whether a call returns PIL images for a PIL image, as in MindSpore

    def __call__(self, *values: Any) -> Any:
        return self.in_input_form(values, super().__call__(*self.check_images(values)))

    def in_input_form(self, values: tuple[Any, ...], result: Any) -> Any:
        """Return results as PIL images if one of the values is one and ``keeps_pictures`` is set.

        Args:
            values: the arguments of the transform.
            result: an array, or a tuple of them.
        """
        if not self.keeps_pictures or not any(hasattr(value, "getbands") for value in values):
            return result
        from .files import ToPIL  # which imports from here

        results = result if isinstance(result, tuple) else (result,)
        pictures = tuple([item if hasattr(item, "getbands") else ToPIL()(np.asarray(item)) for item in results])
        return pictures if isinstance(result, tuple) else pictures[0]

    def check_images(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the checked images.

        Args:
            values: the arguments.

        Raises:
            TypeError: one is not an image.
            RuntimeError: one has no rows and columns.
        """
        for value in values:
            valid = isinstance(value, np.ndarray | Tensor) or (
                hasattr(value, "__array_interface__") and not isinstance(value, np.generic)
            )
            if not valid:
                raise TypeError(
                    f"For '{type(self).__name__}', an image must be a NumPy array or an image of PIL, "
                    f"but got {type(value).__name__}"
                )
            if isinstance(value, np.ndarray) and value.ndim < self.least_axes:
                raise RuntimeError(
                    f"For '{type(self).__name__}', an image must have rows and columns, but got {value.shape}"
                )
        return values


def color(caller: str, image: Array) -> Array:
    """Return the image, which must be (H, W, 3).

    Raises:
        RuntimeError: it has the wrong shape.
    """
    if image.ndim != 3 or image.shape[2] != 3:
        raise RuntimeError(f"For '{caller}', an image must be (H, W, 3), but got {image.shape}")
    return image


def picture(caller: str, image: Array) -> Array:
    """Return the image, which must be (H, W) or (H, W, C).

    Raises:
        RuntimeError: it has the wrong shape.
    """
    if image.ndim not in (2, 3):
        raise RuntimeError(f"For '{caller}', an image must be (H, W) or (H, W, C), but got {image.shape}")
    return image


def of_bytes(caller: str, image: Array) -> Array:
    """Return the image, which must be (H, W) or (H, W, C) of UInt8.

    Raises:
        RuntimeError: it has the wrong shape or dtype.
    """
    if picture(caller, image).dtype != np.uint8:
        raise RuntimeError(f"For '{caller}', an image must be of uint8, but got {image.dtype}")
    return image


MOST = float(2**24)


def factor(caller: str, argument: str, value: float, least: float = 0, most: float = MOST) -> float:
    """Return a number within a range.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """
    number = float(check_number(value, caller, argument, show=repr))
    if not least <= number <= most:
        raise ValueError(f"For '{caller}', '{argument}' must be in [{least}, {most}], but got {value}")
    return number


def span(caller: str, argument: str, value: Any, least: float = 0, most: float = MOST) -> tuple[float, float]:
    """Return two numbers, the first not above the second.

    Raises:
        TypeError: not a pair of numbers.
        ValueError: numbers out of range, or in descending order.
    """
    check_type(value, list | tuple, caller, argument, "two numbers", show=repr)
    if len(value) != 2:
        raise ValueError(f"For '{caller}', '{argument}' must be two numbers, but got {value!r}")
    low, high = (factor(caller, argument, bound, least, most) for bound in value)
    if low > high:
        raise ValueError(f"For '{caller}', '{argument}' must rise, but got {value!r}")
    return low, high


def drawn(low: float, high: float) -> float:
    """Draw a random number from the range."""
    return float(current_random().uniform(low, high))


def chance(share: float) -> bool:
    """Return True with this probability."""
    return bool(current_random().random() < share)


def positive_or_zero(caller: str, argument: str, value: Any) -> int:
    """Return an int from 0 on.

    Raises:
        TypeError: not an int.
        ValueError: a negative int.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{caller}', '{argument}' must be an int, but got {value!r}")
    if value < 0:
        raise ValueError(f"For '{caller}', '{argument}' must not be negative, but got {value}")
    return value


def fill_of(caller: str, value: Any) -> tuple[int, ...]:
    """Return a value of 0 to 255 for all channels, or three of them.

    Raises:
        TypeError: not ints.
        ValueError: the wrong number of values, or one out of range.
    """
    values = value if isinstance(value, tuple) else (value,) * 3
    if any(isinstance(component, bool) or not isinstance(component, int | np.integer) for component in values):
        raise TypeError(f"For '{caller}', 'fill_value' must be an int or three of them, but got {value!r}")
    if len(values) != 3 or min(values) < 0 or max(values) > 255:
        raise ValueError(f"For '{caller}', 'fill_value' must be from 0 to 255, one or three of them, but got {value!r}")
    return tuple(int(component) for component in values)
