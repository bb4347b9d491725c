"""Layers of mathematics and of images: products, norms, matrices, windows, resizing, similarity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..core.dtype import DType, float32
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from ..ops.convolution import ints_for, pads_for
from ._checks import check_bool
from .cell import Cell
from .conv import Conv2d

__all__ = [
    "MSSSIM", "PSNR", "SSIM", "CentralCrop", "ChannelShuffle", "ClipByNorm", "DiGamma", "IGamma", "ImageGradients",
    "Jvp", "L1Regularizer", "LBeta", "LGamma", "MatDet", "MatInverse", "MatMul", "MatrixDiag", "MatrixDiagPart",
    "MatrixSetDiag", "Moments", "Norm", "OneHot", "PixelShuffle", "PixelUnshuffle", "Range", "ReduceLogSumExp", "Roll",
    "SparseToDense", "Tril", "Triu", "Unfold", "Upsample", "Vjp",
]  # fmt: skip


class ClipByNorm(Cell):
    """The input scaled down to the norm ``clip_norm`` over ``axis``, where it is longer."""

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor, clip_norm: Any) -> Tensor:
        length = ops.sqrt(ops.reduce_sum(x * x, self.axis, True))
        limit = clip_norm if isinstance(clip_norm, Tensor) else float(clip_norm)
        return x * limit / ops.maximum(length, limit)


class Norm(Cell):
    """The 2-norm over ``axis``."""

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "Norm", "keep_dims")

    def construct(self, x: Tensor) -> Tensor:
        return ops.sqrt(ops.reduce_sum(x * x, self.axis, self.keep_dims))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class OneHot(Cell):
    """Rows with ``on_value`` at the index and ``off_value`` elsewhere."""

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = float32
    ) -> None:
        super().__init__()
        self.axis, self.depth, self.on_value, self.off_value, self.dtype = axis, depth, on_value, off_value, dtype

    def construct(self, indices: Tensor) -> Tensor:
        found = ops.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)
        return ops.cast(found, self.dtype)


class Range(Cell):
    """Numbers from ``start`` up to ``limit``; from 0 to ``start`` without it."""

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError("For 'Range', 'delta' must not be 0")
        numbers = np.arange(start, step=delta) if limit is None else np.arange(start, limit, delta)
        self.result_tensor = Tensor(numbers.astype(np.int32 if numbers.dtype.kind == "i" else np.float32))

    def construct(self) -> Tensor:
        return self.result_tensor


class Roll(Cell):
    """Elements moved along axes; what leaves at the end comes in at the start."""

    def __init__(self, shift: Any, axis: Any) -> None:
        super().__init__()
        shifts, axes = ((v,) if isinstance(v, int) else tuple(v) for v in (shift, axis))
        if len(shifts) != len(axes):
            raise ValueError(f"For 'Roll', 'shift' and 'axis' must have one length, but got {shift} and {axis}")
        self.shift, self.axis = shifts, axes

    def construct(self, input_x: Tensor) -> Tensor:
        for shift, axis in zip(self.shift, self.axis, strict=True):
            length = input_x.shape[axis]
            places = (np.arange(length) - shift) % length
            at = axis % input_x.ndim
            input_x = ops.getitem(input_x, (slice(None),) * at + (Tensor(places),))
        return input_x


class Tril(Cell):
    """The lower triangle, 0 above diagonal ``k``."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return _triangle(x, np.tri(x.shape[-2], x.shape[-1], k, dtype=bool))


class Triu(Cell):
    """The upper triangle, 0 below diagonal ``k``."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return _triangle(x, ~np.tri(x.shape[-2], x.shape[-1], k - 1, dtype=bool))


def _triangle(x: Tensor, kept: Any) -> Tensor:
    return ops.where(Tensor(kept), x, Tensor._wrap(array_module(x._array).zeros((), x._array.dtype)))


class ReduceLogSumExp(Cell):
    """log(sum(exp(x))) over ``axis``."""

    def __init__(self, axis: Any, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "ReduceLogSumExp", "keep_dims")

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsumexp(x, self.axis, self.keep_dims)


class Moments(Cell):
    """Mean and variance over ``axis``."""

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis if axis is not None else (), bool(keep_dims)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean = ops.mean(x, self.axis, True)
        apart = x - ops.stop_gradient(mean)
        variance = ops.mean(apart * apart, self.axis, self.keep_dims)
        return mean if self.keep_dims else ops.reshape(mean, variance.shape), variance


class MatMul(Cell):
    """The product of two matrices, each transposed on demand."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1, self.transpose_x2 = transpose_x1, transpose_x2

    def construct(self, x1: Tensor, x2: Tensor) -> Tensor:
        x1 = ops.swapaxes(x1, -1, -2) if self.transpose_x1 and x1.ndim > 1 else x1
        x2 = ops.swapaxes(x2, -1, -2) if self.transpose_x2 and x2.ndim > 1 else x2
        return ops.matmul(x1, x2)


class MatInverse(Cell):
    """The inverse of a matrix."""

    def construct(self, a: Tensor) -> Tensor:
        return ops.inverse(a)


class MatDet(Cell):
    """The determinant of a matrix."""

    def construct(self, a: Tensor) -> Tensor:
        return ops.det(a)


class LGamma(Cell):
    """The logarithm of the gamma function."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.lgamma(x)


class DiGamma(Cell):
    """The slope of ``LGamma``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.digamma(x)


class LBeta(Cell):
    """The logarithm of the beta function."""

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class IGamma(Cell):
    """The lower regularised incomplete gamma function."""

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        return ops.igamma(a, x)


class MatrixDiag(Cell):
    """(..., n) as diagonals of matrices (..., n, n)."""

    def construct(self, input_x: Tensor) -> Tensor:
        n = input_x.shape[-1]
        return ops.expand_dims(input_x, -1) * Tensor(np.eye(n, dtype=input_x._array.dtype))


class MatrixDiagPart(Cell):
    """The diagonals (..., min(n, m)) of matrices (..., n, m)."""

    def construct(self, input_x: Tensor) -> Tensor:
        places = Tensor(np.arange(min(input_x.shape[-2:])))
        return ops.getitem(input_x, (Ellipsis, places, places))


class MatrixSetDiag(Cell):
    """Matrices (..., n, m) with other diagonals (..., min(n, m))."""

    def construct(self, input_x: Tensor, diagonal: Tensor) -> Tensor:
        n, m = input_x.shape[-2:]
        row = ops.expand_dims(diagonal, -1 if n <= m else -2)
        return ops.where(Tensor(np.eye(n, m, dtype=bool)), row, input_x)


class L1Regularizer(Cell):
    """scale * sum(|x|)."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        if isinstance(scale, bool) or not isinstance(scale, int | float):
            raise TypeError(f"For 'L1Regularizer', 'scale' must be a number, but got {type(scale).__name__}")
        if scale <= 0 or not math.isfinite(scale):
            raise ValueError(f"For 'L1Regularizer', 'scale' must be above 0, but got {scale}")
        self.scale = float(scale)

    def construct(self, weights: Tensor) -> Tensor:
        return ops.reduce_sum(ops.abs(weights)) * self.scale


class SparseToDense(Cell):
    """A sparse tensor as a dense one."""

    def construct(self, sparse_tensor: Any) -> Tensor:
        return sparse_tensor.to_dense()


class ChannelShuffle(Cell):
    """Channels dealt out over groups (Zhang et al. 2018)."""

    def __init__(self, groups: int) -> None:
        super().__init__()
        if isinstance(groups, bool) or not isinstance(groups, int):
            raise TypeError(f"For 'ChannelShuffle', 'groups' must be an int, but got {type(groups).__name__}")
        if groups < 1:
            raise ValueError(f"For 'ChannelShuffle', 'groups' must be above 0, but got {groups}")
        self.groups = groups

    def construct(self, x: Tensor) -> Tensor:
        return ops.channel_shuffle(x, self.groups)

    def extend_repr(self) -> str:
        return f"groups={self.groups}"


class PixelShuffle(Cell):
    """(..., C * r * r, H, W) to (..., C, H * r, W * r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """(..., C, H * r, W * r) to (..., C * r * r, H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class Upsample(Cell):
    """Resizing; see ``ops.interpolate``."""

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        return ops.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )


class Unfold(Cell):
    """Windows of (N, C, H, W) as channels: (N, KH * KW * C, OH, OW), in the order row, column, channel.

    Args:
        ksizes, strides, rates: [1, height, width, 1] each.
        padding: "valid" or "same".
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        for argument, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if not isinstance(value, tuple | list):
                raise TypeError(f"For 'Unfold', '{argument}' must be a list or tuple, but got {type(value).__name__}")
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"For 'Unfold', '{argument}' must be [1, height, width, 1], but got {value}")
        if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
            raise ValueError(f"For 'Unfold', 'padding' must be 'valid' or 'same', but got {padding!r}")
        self.ksizes, self.strides, self.rates = (
            ints_for(tuple(v[1:3]), 2, "Unfold", "ksizes") for v in (ksizes, strides, rates)
        )
        self.padding = padding.lower()

    def construct(self, input_x: Tensor) -> Tensor:
        from .padding import padded

        lengths = tuple(input_x.shape[2:])
        pads = pads_for(self.padding, 0, lengths, self.ksizes, self.strides, self.rates, "Unfold")
        if any(pads):
            input_x = padded(input_x, ((0, 0), (0, 0), (pads[0], pads[1]), (pads[2], pads[3])), "constant")
        n, c = input_x.shape[:2]
        outputs = [
            (length - d * (k - 1) - 1) // s + 1
            for length, k, s, d in zip(input_x.shape[2:], self.ksizes, self.strides, self.rates, strict=True)
        ]
        columns = ops.unfold(input_x, self.ksizes, self.rates, 0, self.strides)
        parts = ops.reshape(columns, (n, c, math.prod(self.ksizes), *outputs))
        return ops.reshape(ops.swapaxes(parts, 1, 2), (n, -1, *outputs))


class CentralCrop(Cell):
    """The middle of (C, H, W) or (N, C, H, W); ``central_fraction`` of each side is kept."""

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        if not isinstance(central_fraction, float):
            raise TypeError(
                f"For 'CentralCrop', 'central_fraction' must be a float, but got {type(central_fraction).__name__}"
            )
        if not 0 < central_fraction <= 1:
            raise ValueError(f"For 'CentralCrop', 'central_fraction' must be in (0, 1], but got {central_fraction}")
        self.central_fraction = central_fraction

    def construct(self, image: Tensor) -> Tensor:
        if image.ndim not in (3, 4):
            raise ValueError(f"For 'CentralCrop', the image must have 3 or 4 axes, but got shape {image.shape}")
        cuts = []
        for length in image.shape[-2:]:
            start = int((length - length * self.central_fraction) / 2)
            cuts.append(slice(start, length - start))
        return ops.getitem(image, (Ellipsis, *cuts))


class ImageGradients(Cell):
    """Differences of neighbours along height and width of (N, C, H, W); 0 at the end."""

    def construct(self, images: Tensor) -> tuple[Tensor, Tensor]:
        if images.ndim != 4:
            raise ValueError(f"For 'ImageGradients', 'images' must have 4 axes, but got shape {images.shape}")
        found = []
        for axis in (2, 3):
            n = images.shape[axis]
            before = (slice(None),) * axis
            apart = images[(*before, slice(1, n))] - images[(*before, slice(0, n - 1))]
            found.append(ops.concat([apart, ops.mul(images[(*before, slice(n - 1, n))], 0)], axis))
        return found[0], found[1]


class PSNR(Cell):
    """The peak signal-to-noise ratio of two batches of images, in decibels."""

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__()
        _check_positive(max_val, "PSNR", "max_val")
        self.max_val = max_val

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        _check_images("PSNR", img1, img2)
        mse = ops.mean((img1 - img2) * (img1 - img2), (1, 2, 3))
        return 10 * ops.log(self.max_val**2 / mse) / math.log(10)


def _check_positive(value: Any, name: str, argument: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"For '{name}', '{argument}' must be a number, but got {type(value).__name__}")
    if value <= 0:
        raise ValueError(f"For '{name}', '{argument}' must be above 0, but got {value}")


def _check_images(name: str, img1: Tensor, img2: Tensor) -> None:
    if img1.shape != img2.shape or img1.ndim != 4:
        raise ValueError(f"For '{name}', the images must have one shape (N, C, H, W): {img1.shape} and {img2.shape}")


class SSIM(Cell):
    """The structural similarity of two batches of images (Wang et al. 2004), with a Gaussian window."""

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
    """The structural similarity over several scales (Wang et al. 2003)."""

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__()
        for argument, value in (("max_val", max_val), ("filter_size", filter_size), ("filter_sigma", filter_sigma)):
            _check_positive(value, "MSSSIM", argument)
        from .container import CellList

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


class Jvp(Cell):
    """The output of a function and its derivative along given directions: ``(*inputs, v)``."""

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        from ..core.grad import jvp

        *inputs, v = args
        return jvp(self.fn, inputs[0] if len(inputs) == 1 else tuple(inputs), v)


class Vjp(Cell):
    """The output of a function and the gradients for a gradient that arrives: ``(*inputs, v)``."""

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        from ..core.grad import vjp

        *inputs, v = args
        out, back = vjp(self.fn, *inputs)
        found = back(*v) if isinstance(v, tuple) else back(v)
        return out, found[0] if isinstance(found, tuple) and len(found) == 1 else found
