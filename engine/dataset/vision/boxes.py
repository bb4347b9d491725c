"""Transforms of images with boxes (x, y, width, height), one in each row of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_callable, check_positive_int
from ...base.types import Array, Ints
from ..config import current_random
from ..transforms import probability
from ._pixels import chance, factor, picture, span
from .basic import Border, Inter, Pad, RandomCrop, Resize, _pads, _size
from .parts import part, random_part

__all__ = [
    "BoundingBoxAugment",
    "RandomCropWithBBox",
    "RandomHorizontalFlipWithBBox",
    "RandomResizeWithBBox",
    "RandomResizedCropWithBBox",
    "RandomVerticalFlipWithBBox",
    "ResizeWithBBox",
]


class _WithBoxes:
    """A transform of an image and of its boxes. A subclass defines ``both``."""

    def __call__(self, *values: Any) -> tuple[Array, Array]:
        caller = type(self).__name__
        if len(values) != 2:
            raise RuntimeError(f"For '{caller}', there must be an image and its boxes, but got {len(values)} values")
        image, boxes = picture(caller, np.asarray(values[0])), np.array(values[1])
        if boxes.ndim != 2 or boxes.shape[1] < 4:
            raise RuntimeError(f"For '{caller}', boxes must be rows of at least 4 numbers, but got {boxes.shape}")
        x, y, width, height = boxes[:, :4].T
        inside = (x >= 0) & (y >= 0) & (x + width <= image.shape[1]) & (y + height <= image.shape[0])
        if not inside.all():
            beyond = boxes[~inside][0, :4].tolist()
            raise RuntimeError(f"For '{caller}', boxes must lie in the image {image.shape[:2]}, but {beyond} does not")
        return self.both(image, boxes)

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        """Return the transformed image and boxes; the boxes may be modified in place."""
        raise NotImplementedError


class RandomHorizontalFlipWithBBox(_WithBoxes):
    """Flips left to right with probability ``prob``.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
        RuntimeError: when called, boxes outside the image.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability("RandomHorizontalFlipWithBBox", prob)

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if chance(self.prob):
            boxes[:, 0] = image.shape[1] - boxes[:, 0] - boxes[:, 2]
            image = np.ascontiguousarray(image[:, ::-1])
        return image, boxes


class RandomVerticalFlipWithBBox(_WithBoxes):
    """Flips top to bottom with probability ``prob``.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
        RuntimeError: when called, boxes outside the image.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = probability("RandomVerticalFlipWithBBox", prob)

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        if chance(self.prob):
            boxes[:, 1] = image.shape[0] - boxes[:, 1] - boxes[:, 3]
            image = np.ascontiguousarray(image[::-1])
        return image, boxes


class ResizeWithBBox(_WithBoxes):
    """Resizes the image and boxes.

    Args:
        size: the height and width of the result; an int is the length of the shorter side.
        interpolation: the interpolation mode, as for ``Resize``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a size below 1.
        RuntimeError: when called, boxes outside the image.
    """

    def __init__(self, size: Ints, interpolation: Inter = Inter.LINEAR) -> None:
        self.resize = Resize(size, interpolation)

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        resized = self.resize.changed(image)
        return resized, _scale(boxes, resized.shape, image.shape)


def _scale(boxes: Array, new: Sequence[int], old: Sequence[int]) -> Array:
    boxes[:, [0, 2]] = boxes[:, [0, 2]] * (new[1] / old[1])
    boxes[:, [1, 3]] = boxes[:, [1, 3]] * (new[0] / old[0])
    return boxes


class RandomResizeWithBBox(_WithBoxes):
    """Resizes with a random interpolation mode.

    Args:
        size: the height and width of the result; an int is the length of the shorter side.

    Raises:
        TypeError: not ints.
        ValueError: a size below 1.
        RuntimeError: when called, boxes outside the image.
    """

    def __init__(self, size: Ints) -> None:
        _size("RandomResizeWithBBox", size)
        self.size = size

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        modes = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)
        return ResizeWithBBox(self.size, modes[int(current_random().integers(len(modes)))]).both(image, boxes)


def _cut(boxes: Array, top: int, left: int, height: int, width: int) -> Array:
    """Return the boxes clipped to a part of the image without those outside it; all zero if none remains."""
    x, y = boxes[:, 0] - left, boxes[:, 1] - top
    right, below = np.minimum(x + boxes[:, 2], width), np.minimum(y + boxes[:, 3], height)
    x, y = np.maximum(x, 0), np.maximum(y, 0)
    boxes[:, :4] = np.stack([x, y, right - x, below - y], axis=1)
    remaining = boxes[(right > x) & (below > y)]
    return remaining if len(remaining) else np.zeros((1, boxes.shape[1]), boxes.dtype)


class RandomCropWithBBox(_WithBoxes):
    """Crops a part of this size at a random position, after padding.

    Args:
        size: the height and width of the result; an int for a square.
        padding: as for ``RandomCrop``; by default none.
        pad_if_needed: pad an image that is smaller than ``size``.
        fill_value: the value of constant padding, or one for each channel.
        padding_mode: ``Border.CONSTANT``, ``Border.EDGE``, ``Border.REFLECT`` or ``Border.SYMMETRIC``.

    Raises:
        TypeError: not ints.
        ValueError: a size below 1, or a negative padding.
        RuntimeError: when called, the image is smaller than ``size``, or boxes are outside it.
    """

    def __init__(
        self,
        size: Ints,
        padding: Ints | None = None,
        pad_if_needed: bool = False,
        fill_value: float | Sequence[float] = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self.crop = RandomCrop(size, None, False, fill_value, padding_mode)
        self.pads = (0, 0, 0, 0) if padding is None else _pads("RandomCropWithBBox", padding)
        self.pad_if_needed, self.fill, self.mode = pad_if_needed, fill_value, padding_mode

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        pads = np.array([self.pads])
        image = Pad(self.pads, self.fill, self.mode).changed(image)
        if self.pad_if_needed:
            tall, wide = (max(target - length, 0) for target, length in zip(self.crop.size, image.shape, strict=False))
            image = Pad((wide, tall, wide, tall), self.fill, self.mode).changed(image)
            pads = pads + np.array([[wide, tall, wide, tall]])
        boxes[:, :2] += pads[:, :2].astype(boxes.dtype)
        margins = [length - target for length, target in zip(image.shape, self.crop.size, strict=False)]
        if min(margins) < 0:
            raise RuntimeError(f"For 'RandomCropWithBBox', {self.crop.size} is larger than the image {image.shape}")
        top, left = (int(current_random().integers(n + 1)) for n in margins)
        box = (top, left, *self.crop.size)
        return np.ascontiguousarray(part("RandomCropWithBBox", image, *box)), _cut(boxes, *box)


class RandomResizedCropWithBBox(_WithBoxes):
    """Crops a part of random size, position and shape, and resizes it.

    Args:
        size: the height and width of the result; an int for a square.
        scale: the range of the part's fraction of the area.
        ratio: the range of its width over its height.
        interpolation: the interpolation mode, as for ``Resize``.
        max_attempts: the number of draws until a part fits; after these, the center is used.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, boxes outside the image.
    """

    def __init__(
        self,
        size: Ints,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        caller = "RandomResizedCropWithBBox"
        self.scale, self.ratio = span(caller, "scale", scale), span(caller, "ratio", ratio, 1e-9)
        self.attempts = check_positive_int(max_attempts, caller, "max_attempts", show=repr)
        self.resize = Resize(_size(caller, size), interpolation)

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        box = random_part(image.shape, self.scale, self.ratio, self.attempts)
        resized = self.resize.changed(part("RandomResizedCropWithBBox", image, *box))
        return resized, _scale(_cut(boxes, *box), resized.shape, box[2:])


class BoundingBoxAugment(_WithBoxes):
    """Applies a transform to the content of some randomly drawn boxes.

    Args:
        transform: a function of an image that keeps its size.
        ratio: the fraction of boxes, from 0 to 1.

    Raises:
        TypeError: not a function, or not a number.
        ValueError: a number out of range.
        RuntimeError: when called, boxes outside the image.
    """

    def __init__(self, transform: Any, ratio: float = 0.3) -> None:
        check_callable(transform, "BoundingBoxAugment", "transform", show=repr)
        self.transform, self.ratio = transform, factor("BoundingBoxAugment", "ratio", ratio, 0, 1)

    def both(self, image: Array, boxes: Array) -> tuple[Array, Array]:
        image = image.copy()
        count = int(np.ceil(self.ratio * len(boxes)))
        for index in current_random().permutation(len(boxes))[:count]:
            x, y, width, height = (int(value) for value in boxes[index, :4])
            image[y : y + height, x : x + width] = self.transform(image[y : y + height, x : x + width])
        return image, boxes
