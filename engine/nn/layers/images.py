"""Layers of images: shuffled channels and pixels, windows, resizing, cropping, gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ... import ops
from ...base.argument_checks import check_positive_int, check_type
from ...base.types import Ints
from ...cpu.array_module import array_module
from ...ops.neural.convolution import ints_for, pads_for
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..cell import Cell
from .padding import padded

__all__ = ["CentralCrop", "ChannelShuffle", "ImageGradients", "PixelShuffle", "PixelUnshuffle", "Unfold", "Upsample"]


class ChannelShuffle(Cell):
    """Channels permuted so that each group gets channels of every group (Zhang et al. 2018).

    Takes ``x`` (N, C, ...) and returns a Tensor of the same shape and dtype.

    Args:
        groups: number of groups; the call raises ValueError if it does not divide the channels.

    Raises:
        TypeError: ``groups`` is not an int.
        ValueError: ``groups`` is not above 0.
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = check_positive_int(groups, "ChannelShuffle", "groups")

    def construct(self, x: Tensor) -> Tensor:
        return ops.channel_shuffle(x, self.groups)


class PixelShuffle(Cell):
    """(..., C * r * r, H, W) to (..., C, H * r, W * r): channels distributed over pixels (Shi et al. 2016).

    Takes ``input`` and returns a Tensor of the same dtype.

    Args:
        upscale_factor: r, an int above 0; the call raises an error for others, and if r * r does not divide the
            channels.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """(..., C, H * r, W * r) to (..., C * r * r, H, W): the inverse of ``PixelShuffle``.

    Takes ``input`` and returns a Tensor of the same dtype.

    Args:
        downscale_factor: r, an int above 0; the call raises an error for others, and if r does not divide both
            lengths.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, input: Tensor) -> Tensor:
        return ops.pixel_unshuffle(input, self.downscale_factor)


class Upsample(Cell):
    """Images resized; see ``ops.interpolate``, which checks the arguments at the call.

    Takes ``x`` (N, C, L), (N, C, H, W) or (N, C, D, H, W), floating, and returns a Tensor with other lengths after C.

    Args:
        size: the new lengths, an int for all or one each; either this or ``scale_factor``.
        scale_factor: the factor of the lengths, a number for all or one each.
        mode: "nearest", "nearest-exact", "area", and by the number of axes "linear", "bilinear", "bicubic",
            "trilinear".
        align_corners: whether the corner elements keep their values; only with the linear and cubic modes.
        recompute_scale_factor: whether the scale is computed from the lengths, which are rounded down, instead of
            ``scale_factor``.
    """

    def __init__(
        self,
        size: Ints | None = None,
        scale_factor: float | Sequence[float] | None = None,
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

    Takes ``input_x`` and returns a Tensor of the same dtype.

    Args:
        ksizes: the window, [1, height, width, 1].
        strides: the steps between windows, [1, vertical, horizontal, 1].
        rates: the distances between the elements of a window, [1, vertical, horizontal, 1].
        padding: "valid" for windows inside the image, "same" for ceil(length / stride) windows with zeros around.

    Raises:
        TypeError: a setting is not a list or tuple, or does not hold ints.
        ValueError: a setting of the wrong form, or an unknown ``padding``.
    """

    def __init__(
        self, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str = "valid"
    ) -> None:
        super().__init__()
        for argument, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            check_type(value, tuple | list, "Unfold", argument, "a list or tuple")
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"For 'Unfold', '{argument}' must be [1, height, width, 1], but got {value}")
        if not isinstance(padding, str) or padding.lower() not in ("valid", "same"):
            raise ValueError(f"For 'Unfold', 'padding' must be 'valid' or 'same', but got {padding!r}")
        self.ksizes, self.strides, self.rates = (
            ints_for(tuple(v[1:3]), 2, "Unfold", "ksizes") for v in (ksizes, strides, rates)
        )
        self.padding = padding.lower()

    def construct(self, input_x: Tensor) -> Tensor:
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
    """The central part of images: ``central_fraction`` of the height and of the width.

    Takes ``image`` (C, H, W) or (N, C, H, W) and returns a Tensor of the same dtype; the call raises ValueError for
    the wrong number of axes.

    Args:
        central_fraction: the remaining part of each side, a float in (0, 1].

    Raises:
        TypeError: ``central_fraction`` is not a float.
        ValueError: ``central_fraction`` is out of range.
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        check_type(central_fraction, float, "CentralCrop", "central_fraction")
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
    """Differences between neighbors along height and width: x[i + 1] - x[i], and 0 for the last.

    Takes ``images`` (N, C, H, W) and returns the pair (dy, dx) of Tensors of the same shape and dtype; the call raises
    ValueError for the wrong number of axes.
    """

    def construct(self, images: Tensor) -> tuple[Tensor, Tensor]:
        if check_type(images, Tensor, "ImageGradients", "images").ndim != 4:
            raise ValueError(f"For 'ImageGradients', 'images' must have 4 axes, but got shape {images.shape}")
        gradients = []
        for axis in (2, 3):
            n = images.shape[axis]
            prefix = (slice(None),) * axis
            differences = images[(*prefix, slice(1, n))] - images[(*prefix, slice(0, n - 1))]
            last = images._array[(*prefix, slice(n - 1, n))]
            gradients.append(ops.concat([differences, constant(array_module(last).zeros_like(last))], axis))
        return gradients[0], gradients[1]


def _check_images(name: str, img1: Tensor, img2: Tensor) -> None:
    for argument, images in (("img1", img1), ("img2", img2)):
        check_type(images, Tensor, name, argument)
    if img1.shape != img2.shape or img1.ndim != 4:
        raise ValueError(f"For '{name}', the images must have one shape (N, C, H, W): {img1.shape} and {img2.shape}")
