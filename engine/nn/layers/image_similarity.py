"""Similarity of two images: PSNR, SSIM and MS-SSIM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_above_zero, check_number, check_positive_int
from ...tensors.dtype import float32
from ...tensors.tensor import Tensor
from ..cell import Cell
from ..container import CellList
from .conv import Conv2d
from .images import _check_images

__all__ = ["MSSSIM", "PSNR", "SSIM"]


class PSNR(Cell):
    """The peak signal-to-noise ratio 10 * log10(max_val ** 2 / mse) of images, in decibels.

    Takes ``img1`` and ``img2``, Tensors of one shape (N, C, H, W) and one dtype, floating or integers, and returns
    (N,); Inf where they are equal. The call raises ValueError for the wrong shapes, and TypeError for two dtypes.

    Args:
        max_val: the largest value that a pixel may have, a number above 0.

    Raises:
        TypeError: ``max_val`` is not a number.
        ValueError: ``max_val`` is not above 0.
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        _check_positive(max_val, "PSNR", "max_val")
        self.max_val = max_val

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        img1, img2, most = _in_floats("PSNR", img1, img2, self.max_val)
        mse = ops.mean((img1 - img2) * (img1 - img2), (1, 2, 3))
        return 10 * ops.log(most**2 / mse) / math.log(10)


def _in_floats(name: str, img1: Tensor, img2: Tensor, most: float) -> tuple[Tensor, Tensor, float]:
    """Return two images and the largest value of a pixel; integers as Float32, divided by their maximum."""
    _check_images(name, img1, img2)
    if img1.dtype != img2.dtype:
        raise TypeError(f"For '{name}', the images must have one dtype, but got {img1.dtype} and {img2.dtype}")
    if img1.is_floating_point():
        return img1, img2, most
    if img1._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', the images must hold floating-point numbers or integers, but got {img1.dtype}")
    scale = 1 / float(np.iinfo(img1._array.dtype).max)
    return img1.astype(float32) * scale, img2.astype(float32) * scale, most * scale


def _check_window(name: str, max_val: object, filter_size: int, filter_sigma: object, k1: float, k2: float) -> None:
    _check_positive(max_val, name, "max_val")
    check_positive_int(filter_size, name, "filter_size")
    _check_positive(filter_sigma, name, "filter_sigma")
    check_number(k1, name, "k1")
    check_number(k2, name, "k2")


def _check_positive(value: object, name: str, argument: str) -> None:
    check_above_zero(check_number(value, name, argument), name, argument)


class SSIM(Cell):
    """The structural similarity of images with a Gaussian window (Wang et al. 2004), averaged over pixels and channels.

    Takes ``img1`` and ``img2``, floating Tensors of one shape (N, C, H, W), and returns (N,); 1 where they are equal.
    The call raises ValueError for the wrong shapes, and TypeError for integers.

    Args:
        max_val: the largest value that a pixel may have, a number above 0.
        filter_size: height and width of the window, an int above 0 that is at most the images' lengths; the middle of
            an even one is at filter_size / 2 - 1, as in MindSpore.
        filter_sigma: deviation of the window in pixels, a number above 0.
        k1: the constant (k1 * max_val) ** 2 keeps the ratio of the means stable.
        k2: the constant (k2 * max_val) ** 2 keeps the ratio of the variances stable.

    Raises:
        TypeError: an argument is not a number, or ``filter_size`` is not an int.
        ValueError: one of the first three is not above 0.
    """

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:
        super().__init__()
        _check_window("SSIM", max_val, filter_size, filter_sigma, k1, k2)
        self.max_val = max_val
        self.c1, self.c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
        self.conv = _gaussian(filter_size, filter_sigma)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        if not img1.is_floating_point():
            raise TypeError(f"For 'SSIM', the images must hold floating-point numbers, but got {img1.dtype}")
        img1, img2, _ = _in_floats("SSIM", img1, img2, self.max_val)
        both, _ = _similarity(img1, img2, self.conv, self.c1, self.c2)
        return ops.mean(both, 1)


def _gaussian(size: int, sigma: float) -> Conv2d:
    offsets = np.arange(size) - (size - 1) // 2
    line = np.exp(-(offsets**2) / (2 * sigma**2))
    window = np.outer(line, line) / np.outer(line, line).sum()
    layer = Conv2d(1, 1, size, pad_mode="valid", weight_init=Tensor(window.astype(np.float32)[None, None]))
    layer.weight.requires_grad = False
    return layer


def _similarity(x: Tensor, y: Tensor, window: Conv2d, c1: float, c2: float) -> tuple[Tensor, Tensor]:
    """Return the similarity and its product of contrast and structure, for each sample and channel."""
    n, c, h, w = x.shape

    def smooth(image: Tensor) -> Tensor:
        smoothed = window(ops.reshape(image, (n * c, 1, h, w)))
        return ops.reshape(smoothed, (n, c, *smoothed.shape[2:]))

    mean_x, mean_y = smooth(x), smooth(y)
    product, squares = mean_x * mean_y, mean_x * mean_x + mean_y * mean_y
    light = (2 * product + c1) / (squares + c1)
    contrast = (2 * (smooth(x * y) - product) + c2) / (smooth(x * x) + smooth(y * y) - squares + c2)
    return ops.mean(light * contrast, (2, 3)), ops.mean(contrast, (2, 3))


class MSSSIM(Cell):
    """The structural similarity over several scales (Wang et al. 2003), each half as large as the previous one.

    The product over the scales of contrast and structure, and for the last of the similarity, each to a power, averaged
    over the channels. Takes ``img1`` and ``img2``, Tensors of one shape (N, C, H, W) and one dtype, floating or
    integers, and returns (N,).

    Args:
        max_val: the largest value that a pixel may have, a number above 0.
        power_factors: the power of each scale, a tuple or list; their number is the number of scales.
        filter_size: height and width of the window, an int above 0 that is at most the lengths at the last scale.
        filter_sigma: deviation of the window in pixels, a number above 0.
        k1: the constant (k1 * max_val) ** 2 keeps the ratio of the means stable.
        k2: the constant (k2 * max_val) ** 2 keeps the ratio of the variances stable.

    Raises:
        TypeError: an argument is not a number, ``filter_size`` is not an int, or ``power_factors`` is not a tuple or
            list.
        ValueError: ``max_val``, ``filter_size`` or ``filter_sigma`` is not above 0.
    """

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: Sequence[float] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__()
        _check_window("MSSSIM", max_val, filter_size, filter_sigma, k1, k2)
        if not isinstance(power_factors, list | tuple):
            raise TypeError(
                f"For 'MSSSIM', 'power_factors' must be a tuple or list, but got {type(power_factors).__name__}"
            )
        for power in power_factors:
            check_number(power, "MSSSIM", "power_factors")
        self.max_val, self.k1, self.k2 = max_val, k1, k2
        self.power_factors = tuple(power_factors)
        self.multi_convs_list = CellList([_gaussian(filter_size, filter_sigma) for _ in self.power_factors])

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        img1, img2, most = _in_floats("MSSSIM", img1, img2, self.max_val)
        c1, c2 = (self.k1 * most) ** 2, (self.k2 * most) ** 2
        total: Any = 1.0
        last = len(self.power_factors) - 1
        for level, power in enumerate(self.power_factors):
            both, contrast = _similarity(img1, img2, self.multi_convs_list[level], c1, c2)
            total = total * ops.pow(ops.relu(both if level == last else contrast), power)
            if level < last:
                img1, img2 = ops.avg_pool2d(img1, 2, 2), ops.avg_pool2d(img2, 2, 2)
        return ops.mean(total, 1)
