"""Mixing of the images of a batch, and of their labels."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_positive_int, check_type
from ...base.types import Array
from ..config import current_random
from ..transforms import probability
from ._pixels import chance, factor, rounded

__all__ = ["CutMixBatch", "ImageBatchFormat", "MixUp", "MixUpBatch"]


class ImageBatchFormat(enum.IntEnum):
    """Axis of the channels of a batch of images."""

    NHWC = 0
    NCHW = 1


def _positive(caller: str, alpha: float) -> float:
    number = factor(caller, "alpha", alpha)
    if not number:
        raise ValueError(f"For '{caller}', 'alpha' must be above 0, but got {alpha}")
    return number


def _checked(caller: str, values: tuple[Any, ...]) -> tuple[Array, Array]:
    if len(values) != 2:
        raise RuntimeError(
            f"For '{caller}', there must be a batch of images and their labels, but got {len(values)} values"
        )
    images, labels = (np.asarray(value) for value in values)
    if images.ndim != 4 or labels.ndim not in (2, 3) or len(images) != len(labels):
        raise RuntimeError(
            f"For '{caller}', there must be images with 4 axes and as many labels with 2 or 3, one-hot, but got "
            f"{images.shape} and {labels.shape}"
        )
    return images, labels.astype(np.float32)


class MixUp:
    """Mixes images, and their labels, with the next of their batch, or with those of the previous batch.

    Takes images with 4 axes, or one with 3, and their labels, one-hot. The results are Float64.

    Args:
        batch_size: the number of images of a batch; a share is drawn for each. With 1, one share applies to all.
        alpha: the parameter of the Beta distribution of the share, above 0.
        is_single: mix within the batch; False: with the previous result, starting with an unmixed batch.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number that is not above 0; when called, a different number of images or labels than
            ``batch_size``.
    """

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.batch_size = check_positive_int(batch_size, "MixUp", "batch_size", show=repr)
        self.alpha = _positive("MixUp", alpha)
        self.is_single = check_bool(is_single, "MixUp", "is_single", show=repr)
        self._before: tuple[Array, Array] | None = None

    def __call__(self, image: Array, label: Array) -> tuple[Array, Array]:
        images, labels = np.asarray(image), np.atleast_2d(label)
        images = images[np.newaxis] if images.ndim == 3 else images
        for name, count in (("images", len(images)), ("labels", len(labels))):
            if self.batch_size != 1 and count not in (1, self.batch_size):
                raise ValueError(f"For 'MixUp', there must be {self.batch_size} {name} in a batch, but got {count}")
        shares = np.asarray(current_random().beta(self.alpha, self.alpha, self.batch_size))
        if self.is_single:
            partners = tuple(np.roll(value, -1, axis=0) for value in (images, labels))
        elif self._before is None:
            partners, shares = (images, labels), np.ones(self.batch_size)
        else:
            partners = self._before
        first, second = (
            share * value + (1 - share) * partner
            for share, value, partner in zip(
                (shares.reshape(-1, 1, 1, 1), shares.reshape(-1, *(1,) * (labels.ndim - 1))),
                (images, labels),
                partners,
                strict=True,
            )
        )
        self._before = first, second
        return first, second


class MixUpBatch:
    """Mixes images, and their labels, with others of their batch, drawn at random.

    Args:
        alpha: the parameter of the Beta distribution of the share, above 0.

    Raises:
        TypeError: not a number.
        ValueError: a number that is not above 0.
        RuntimeError: when called, an input other than a batch of images with one-hot labels.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = _positive("MixUpBatch", alpha)

    def __call__(self, *values: Any) -> tuple[Array, Array]:
        images, labels = _checked("MixUpBatch", values)
        share = float(current_random().beta(self.alpha, self.alpha))
        order = current_random().permutation(len(images))
        mixed = rounded(share * images.astype(np.float64) + (1 - share) * images[order], images.dtype)
        return mixed, np.asarray(share * labels + (1 - share) * labels[order], np.float32)


class CutMixBatch:
    """Replaces a rectangle of each image by one of another in the batch; labels are mixed by its share of the area.

    Args:
        image_batch_format: the axis of the channels.
        alpha: the parameter of the Beta distribution of the remaining share, above 0.
        prob: the probability for each image, from 0 to 1.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, an input other than a batch of images with one-hot labels.
    """

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0) -> None:
        self.format = check_type(
            image_batch_format, ImageBatchFormat, "CutMixBatch", "image_batch_format", "an ImageBatchFormat", show=repr
        )
        self.alpha, self.prob = _positive("CutMixBatch", alpha), probability("CutMixBatch", prob)

    def __call__(self, *values: Any) -> tuple[Array, Array]:
        images, labels = _checked("CutMixBatch", values)
        first = self.format is ImageBatchFormat.NHWC
        mixed, shares = images.copy(), np.ones(len(images))
        order = current_random().permutation(len(images))
        height, width = images.shape[1:3] if first else images.shape[2:]
        for index, partner in enumerate(order):
            if not chance(self.prob):
                continue
            side = np.sqrt(1 - float(current_random().beta(self.alpha, self.alpha)))
            middle = [int(current_random().integers(n)) for n in (height, width)]
            halves = [int(side * n) // 2 for n in (height, width)]
            rows, columns = (
                slice(max(at - half, 0), min(at + half, n))
                for at, half, n in zip(middle, halves, (height, width), strict=True)
            )
            box: Any = (rows, columns) if first else (slice(None), rows, columns)
            mixed[index][box] = images[partner][box]
            shares[index] = 1 - (rows.stop - rows.start) * (columns.stop - columns.start) / (height * width)
        weights = shares.reshape(-1, *(1,) * (labels.ndim - 1))
        return mixed, np.asarray(weights * labels + (1 - weights) * labels[order], np.float32)
