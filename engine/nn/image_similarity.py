"""How similar two images are: PSNR, SSIM and MS-SSIM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops
from ..core.checks import check_above_zero, check_number
from ..core.tensor import Tensor
from .cell import Cell
from .container import CellList
from .conv import Conv2d
from .images import _check_images

__all__ = ["MSSSIM", "PSNR", "SSIM"]


class PSNR(Cell):
    """The peak signal-to-noise ratio 10 * log10(max_val ** 2 / mse) of images, in decibels.

    Takes ``img1`` and ``img2``, floating Tensors of one shape (N, C, H, W), and returns (N,); Inf where they are equal.
    The call raises ValueError for other shapes.

    Args:
        max_val: the largest value that a pixel may have, a number above 0.

    Raises:
        TypeError: ``max_val`` is no number.
        ValueError: ``max_val`` is not above 0.
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        _check_positive(max_val, "PSNR", "max_val")
        self.max_val = max_val

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("PSNR", img1, img2)
        mse = ops.mean((img1 - img2) * (img1 - img2), (1, 2, 3))
        return 10 * ops.log(self.max_val**2 / mse) / math.log(10)


def _check_positive(value: object, name: str, argument: str) -> None:
    check_above_zero(check_number(value, name, argument), name, argument)


class SSIM(Cell):
    """The structural similarity of images with a Gaussian window (Wang et al. 2004), averaged over pixels and channels.

    Takes ``img1`` and ``img2``, floating Tensors of one shape (N, C, H, W), and returns (N,); 1 where they are equal.
    The call raises ValueError for other shapes.

    Args:
        max_val: the largest value that a pixel may have, a number above 0.
        filter_size: height and width of the window, an int above 0 that is at most the images' lengths.
        filter_sigma: deviation of the window in pixels, a number above 0.
        k1: the constant (k1 * max_val) ** 2 keeps the ratio of the means stable.
        k2: the constant (k2 * max_val) ** 2 keeps the ratio of the variances stable.

    Raises:
        TypeError: one of the first three is no number.
        ValueError: one of the first three is not above 0.
    """

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:
        super().__init__()
        name = type(self).__name__
        for argument, value in (("max_val", max_val), ("filter_size", filter_size), ("filter_sigma", filter_sigma)):
            _check_positive(value, name, argument)
        self.max_val = max_val
        self.c1, self.c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
        self.conv = _gaussian(filter_size, filter_sigma)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images(type(self).__name__, img1, img2)
        both, _ = _similarity(img1, img2, self.conv, self.c1, self.c2)
        return ops.mean(both, 1)


def _gaussian(size: int, sigma: float) -> Conv2d:
    offsets = np.arange(size) - (size - 1) / 2
    line = np.exp(-(offsets**2) / (2 * sigma**2))
    window = np.outer(line, line) / np.outer(line, line).sum()
    layer = Conv2d(1, 1, size, pad_mode="valid", weight_init=Tensor(window.astype(np.float32)[None, None]))
    layer.weight.requires_grad = False
    return layer


def _similarity(x: Tensor, y: Tensor, window: Conv2d, c1: float, c2: float) -> tuple[Tensor, Tensor]:
    """The similarity and its part of contrast and structure, for each sample and channel."""
    n, c, h, w = x.shape

    def smooth(image: Tensor) -> Tensor:
        found = window(ops.reshape(image, (n * c, 1, h, w)))
        return ops.reshape(found, (n, c, *found.shape[2:]))

    mean_x, mean_y = smooth(x), smooth(y)
    product, squares = mean_x * mean_y, mean_x * mean_x + mean_y * mean_y
    light = (2 * product + c1) / (squares + c1)
    contrast = (2 * (smooth(x * y) - product) + c2) / (smooth(x * x) + smooth(y * y) - squares + c2)
    return ops.mean(light * contrast, (2, 3)), ops.mean(contrast, (2, 3))


class MSSSIM(Cell):
    """The structural similarity over several scales (Wang et al. 2003), each half as large as the one before.

    The product over the scales of contrast and structure, and for the last of the similarity, each to a power, averaged
    over the channels. Takes ``img1`` and ``img2``, floating Tensors of one shape (N, C, H, W), and returns (N,).

    Args:
        max_val: the largest value that a pixel may have, a number above 0.
        power_factors: the power of each scale; their number is the number of scales.
        filter_size: height and width of the window, an int above 0 that is at most the lengths at the last scale.
        filter_sigma: deviation of the window in pixels, a number above 0.
        k1: the constant (k1 * max_val) ** 2 keeps the ratio of the means stable.
        k2: the constant (k2 * max_val) ** 2 keeps the ratio of the variances stable.

    Raises:
        TypeError: ``max_val``, ``filter_size`` or ``filter_sigma`` is no number.
        ValueError: one of them is not above 0.
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
        for argument, value in (("max_val", max_val), ("filter_size", filter_size), ("filter_sigma", filter_sigma)):
            _check_positive(value, "MSSSIM", argument)
        self.c1, self.c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
        self.power_factors = tuple(power_factors)
        self.multi_convs_list = CellList([_gaussian(filter_size, filter_sigma) for _ in self.power_factors])

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("MSSSIM", img1, img2)
        total: Any = 1.0
        last = len(self.power_factors) - 1
        for level, power in enumerate(self.power_factors):
            both, contrast = _similarity(img1, img2, self.multi_convs_list[level], self.c1, self.c2)
            total = total * ops.pow(ops.relu(both if level == last else contrast), power)
            if level < last:
                img1, img2 = ops.avg_pool2d(img1, 2, 2), ops.avg_pool2d(img2, 2, 2)
        return ops.mean(total, 1)
