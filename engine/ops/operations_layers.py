"""Primitive classes of layers, pooling, resizing, normalisation and losses, over the functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..cpu.array_module import array_module
from ..surfaces import REQUIRED
from ..tensor import Tensor
from . import activation, convolution, dropping, image, loss, normalization, pooling

__all__ = ["ROWS"]


def _of(value: Any) -> Any:
    return tuple(int(n) for n in value.tolist()) if isinstance(value, Tensor) else value


def _conv3d(x: Any, weight: Any, bias: Any = None, **how: Any) -> Any:
    return convolution.conv3d(
        x, weight, bias, how["stride"], how["pad_mode"], how["pad"], how["dilation"], how["group"]
    )


def _transposed(axes: int, name: str) -> Callable[..., Any]:
    def run(x: Any, weight: Any, last: Any = None, **how: Any) -> Any:
        """The transpose of a convolution: ``last`` is the size of its input, or for three axes the bias."""
        size = _of(last)[-axes:] if axes == 2 and last is not None else None
        kernel = tuple(weight.shape[2:])
        strides = convolution.ints_for(_last(how["stride"], axes), axes, name, "stride")
        dilations = convolution.ints_for(_last(how["dilation"], axes), axes, name, "dilation")
        windows = zip(x.shape[2:], strides, dilations, kernel, strict=True)
        spans = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in windows]
        pads = [0] * (2 * axes)
        more = list(convolution.ints_for(_last(how.get("output_padding", 0), axes), axes, name, "output_padding", 0))
        if how["pad_mode"].lower() == "pad":
            pads = list(convolution.pads_for("pad", how["pad"], (1,) * axes, kernel, (1,) * axes, (1,) * axes, name))
        elif how["pad_mode"].lower() == "same":
            wanted = size or [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
            for i, (span, length) in enumerate(zip(spans, wanted, strict=True)):
                cut = max(0, span - length)
                pads[2 * i : 2 * i + 2] = [cut // 2, cut - cut // 2]
        if size is not None:
            more = [n - (s - pads[2 * i] - pads[2 * i + 1]) for i, (n, s) in enumerate(zip(size, spans, strict=True))]
        bias = last if axes == 3 else None
        return convolution.convolve_transposed(
            x, weight, bias, strides, tuple(pads), tuple(more), dilations, how["group"], name
        )

    return run


def _last(value: Any, axes: int) -> Any:
    """Settings of all axes of a tensor, (1, 1, a, b): those of its windows."""
    return value[-axes:] if isinstance(value, tuple | list) and len(value) > axes else value


def _max_pool3d(x: Any, kernel_size: Any, strides: Any, pad_mode: str, pad_list: Any, ceil_mode: Any, **_: Any) -> Any:
    return pooling.max_pool3d(x, kernel_size, strides, pad_list, ceil_mode=bool(ceil_mode), pad_mode=pad_mode.lower())


def _avg_pool3d(x: Any, kernel_size: Any, strides: Any, pad_mode: str, pad: Any, **how: Any) -> Any:
    how.pop("data_format")
    return pooling.avg_pool3d(x, kernel_size, strides, pad, pad_mode=pad_mode.lower(), **how)


def _unpool(function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    def run(x: Any, argmax: Any, ksize: Any, strides: Any, pads: Any, output_shape: Any, data_format: str) -> Any:
        size = tuple(output_shape)[-axes:] or None
        return function(x, argmax, _last(ksize, axes), _last(strides, axes) or None, _last(pads, axes), size)

    return run


def _batch_norm(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, is_training: bool, **how: Any) -> Any:
    """The output; and the mean and variance of the batch in training, else those given."""
    if is_training:
        own = normalization.batch_norm_with_statistics(x, scale, bias, how["epsilon"])
        normalization.batch_norm(x, mean, variance, scale, bias, True, how["momentum"], how["epsilon"])
        return *own, *own[1:]
    found = normalization.batch_norm(x, mean, variance, scale, bias, False, how["momentum"], how["epsilon"])
    return found, mean, variance, mean, variance


def _resized(mode: str) -> Callable[..., Any]:
    def run(x: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False, **how: Any) -> Any:
        align = how["coordinate_transformation_mode"] == "align_corners" if how else align_corners
        if mode != "nearest" and not align and not half_pixel_centers and not how:
            raise NotImplementedError(
                f"resizing ({mode}) without align_corners and half_pixel_centers is not covered; "
                "ops.interpolate has both forms"
            )
        if mode == "nearest" and align:
            raise NotImplementedError("resizing (nearest) with align_corners is not covered; use ops.interpolate")
        size = _of(size)
        return image.interpolate(x, tuple(size), None, mode, None if mode == "nearest" else align)

    return run


def _nll(logits: Any, labels: Any, weight: Any, reduction: str, ignore_index: int) -> Any:
    """The loss, and the sum of the weights of the labels."""
    found = loss.nll_loss(logits, labels, weight, ignore_index, reduction)
    kept = labels._array != ignore_index
    total = weight._array[labels._array[kept]].sum()
    return found, Tensor._wrap(array_module(weight._array).asarray(total, dtype=weight._array.dtype))


def _ctc(log_probs: Any, targets: Any, inputs: Any, labels: Any, **how: Any) -> Any:
    return loss.ctc_loss(log_probs, targets, inputs, labels, **how)


def _ctc_first(x: Any, indices: Tensor, values: Tensor, lengths: Any, **how: bool) -> Any:
    """The losses of scores (T, N, C) whose last class is the blank, labels given by their places; and the gradient."""
    from ..grad import grad

    if how != dict(_CTC):
        raise NotImplementedError(f"CTCLoss with {how} is not covered; ops.ctc_loss is the plain loss")
    places = indices.asnumpy()
    counts = np.bincount(places[:, 0], minlength=x.shape[1])
    targets = np.zeros((x.shape[1], max(int(counts.max()), 1)), np.int32)
    targets[places[:, 0], places[:, 1]] = values.asnumpy()
    how_long = Tensor(counts.astype(np.int32))

    def losses(x: Any) -> Any:
        return loss.ctc_loss(activation.log_softmax(x, -1), Tensor(targets), lengths, how_long, x.shape[2] - 1, "none")[
            0
        ]

    return losses(x), grad(lambda x: losses(x).sum())(x)


def _grid(x: Any, grid: Any, interpolation_mode: str, padding_mode: str, align_corners: bool) -> Any:
    return image.grid_sample(x, grid, interpolation_mode, padding_mode, align_corners)


def _columns(x: Any, ksizes: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """The windows of (N, C, H, W) as columns (N, C, KH * KW, windows)."""
    found = image.unfold(x, ksizes, dilations, pads, strides)
    return found.reshape(x.shape[0], x.shape[1], -1, found.shape[-1])


def _upsample(mode: str) -> Callable[..., Any]:
    def run(x: Any, output_size: Any = None, scales: Any = None, *, align_corners: Any = None) -> Any:
        given = tuple(scales) if scales is not None else None
        size = None if output_size is None else tuple(_of(output_size))
        return image.interpolate(x, size, given, mode, align_corners, True if given else None)

    return run


def _triplet(x: Any, positive: Any, negative: Any, margin: Any, p: Any, swap: bool, eps: float, reduction: str) -> Any:
    return loss.triplet_margin_loss(x, positive, negative, float(margin), p, eps, swap, reduction)


def _dropout3d(x: Any, keep_prob: float) -> Any:
    """Whole channels of (N, C, D, H, W) dropped; and which elements are kept."""
    n, c, *rest = x.shape
    found, kept = dropping.dropout2d_with_mask(x.reshape(n, c, -1, 1), keep_prob)
    return found.reshape(x.shape), kept.reshape(n, c, *rest)


_CTC = (
    ("preprocess_collapse_repeated", False), ("ctc_merge_repeated", True),
    ("ignore_longer_outputs_than_inputs", False),
)  # fmt: skip
_CONV3D = (
    ("kernel_size", REQUIRED), ("mode", 1), ("pad_mode", "valid"), ("pad", 0), ("stride", 1), ("dilation", 1),
    ("group", 1),
)  # fmt: skip
_CONV2D_BACK = (
    ("out_channel", REQUIRED), ("kernel_size", REQUIRED), ("pad_mode", "valid"), ("pad", 0), ("pad_list", None),
    ("mode", 1), ("stride", 1), ("dilation", 1), ("group", 1), ("data_format", "NCHW"),
)  # fmt: skip
_UNPOOL = (("ksize", REQUIRED), ("strides", 0), ("pads", 0), ("output_shape", ()))
_ALIGNED = (("align_corners", False), ("half_pixel_centers", False))
_SAMPLER = (("interpolation_mode", "bilinear"), ("padding_mode", "zeros"), ("align_corners", False))
ROWS: tuple[tuple[str, Callable[..., Any], tuple[tuple[str, Any], ...]], ...] = (
    ("AdaptiveAvgPool2D", lambda x, output_size: pooling.adaptive_avg_pool2d(x, output_size),
     (("output_size", REQUIRED),)),
    ("AdaptiveAvgPool3D", lambda x, output_size: pooling.adaptive_avg_pool3d(x, output_size),
     (("output_size", REQUIRED),)),
    ("AdaptiveMaxPool2D", lambda x, output_size: pooling.adaptive_max_pool2d(x, output_size, True),
     (("output_size", REQUIRED),)),
    ("AdaptiveMaxPool3D", lambda x, size: pooling.adaptive_max_pool3d(x, _of(size), True), ()),
    ("AffineGrid", lambda theta, size, align_corners: image.affine_grid(theta, size, align_corners),
     (("align_corners", False),)),
    ("AvgPool3D", _avg_pool3d, (
        ("kernel_size", 1), ("strides", 1), ("pad_mode", "valid"), ("pad", 0), ("ceil_mode", False),
        ("count_include_pad", True), ("divisor_override", 0), ("data_format", "NCDHW"))),
    ("BatchNorm", _batch_norm,
     (("is_training", False), ("epsilon", 1e-5), ("momentum", 0.1), ("data_format", "NCHW"))),
    ("CTCLoss", _ctc_first, _CTC),
    ("CTCLossV2", _ctc, (("blank", 0), ("reduction", "none"), ("zero_infinity", False))),
    ("ChannelShuffle", lambda x, group: image.channel_shuffle(x, group), (("group", REQUIRED),)),
    ("Col2Im",
     lambda x, size, kernel_size, dilation, padding, stride: image.col2im(
         x, size, kernel_size, dilation, padding, stride),
     (("kernel_size", REQUIRED), ("dilation", 1), ("padding", 0), ("stride", 1))),
    ("Conv2DBackpropInput", _transposed(2, "Conv2DBackpropInput"), _CONV2D_BACK),
    ("Conv2DTranspose", _transposed(2, "Conv2DTranspose"), _CONV2D_BACK),
    ("Conv3D", _conv3d, (("out_channel", REQUIRED), *_CONV3D, ("data_format", "NCDHW"))),
    ("Conv3DTranspose", _transposed(3, "Conv3DTranspose"),
     (("in_channel", REQUIRED), ("out_channel", REQUIRED), *_CONV3D, ("output_padding", 0), ("data_format", "NCDHW"))),
    ("Dropout3D", _dropout3d, (("keep_prob", 0.5),)),
    ("GridSampler2D", _grid, _SAMPLER),
    ("GridSampler3D", _grid, _SAMPLER),
    ("Im2Col", _columns, (("ksizes", REQUIRED), ("strides", 1), ("dilations", 1), ("pads", 0))),
    ("MaxPool3D", _max_pool3d, (
        ("kernel_size", 1), ("strides", 1), ("pad_mode", "VALID"), ("pad_list", 0), ("ceil_mode", None),
        ("data_format", "NCDHW"))),
    ("MaxPool3DWithArgmax",
     lambda x, ksize, strides, pads, dilation, ceil_mode, **_: pooling.max_pool3d(
         x, ksize, strides, pads, dilation, ceil_mode, True),
     (("ksize", REQUIRED), ("strides", REQUIRED), ("pads", REQUIRED), ("dilation", (1, 1, 1)), ("ceil_mode", False),
      ("data_format", "NCDHW"), ("argmax_type", None))),
    ("MaxPoolWithArgmaxV2",
     lambda x, kernel_size, strides, pads, dilation, ceil_mode, **_: pooling.max_pool2d(
         x, kernel_size, strides, pads, dilation, True, ceil_mode),
     (("kernel_size", REQUIRED), ("strides", None), ("pads", 0), ("dilation", (1, 1)), ("ceil_mode", False),
      ("argmax_type", None))),
    ("MaxUnpool2D", _unpool(pooling.max_unpool2d, 2), (*_UNPOOL, ("data_format", "NCHW"))),
    ("MaxUnpool3D", _unpool(pooling.max_unpool3d, 3), (*_UNPOOL, ("data_format", "NCDHW"))),
    ("MultiMarginLoss",
     lambda x, y, weight=None, *, p, margin, reduction: loss.multi_margin_loss(x, y, p, margin, weight, reduction),
     (("p", 1), ("margin", 1.0), ("reduction", "mean"))),
    ("NLLLoss", _nll, (("reduction", "mean"), ("ignore_index", -100))),
    ("ResizeBicubic", _resized("bicubic"), _ALIGNED),
    ("ResizeBilinearV2", _resized("bilinear"), _ALIGNED),
    ("ResizeLinear1D", _resized("linear"), (("coordinate_transformation_mode", "align_corners"),)),
    ("ResizeNearestNeighbor", _resized("nearest"), (("size", REQUIRED), *_ALIGNED)),
    ("ResizeNearestNeighborV2", _resized("nearest"), _ALIGNED),
    ("TripletMarginLoss", _triplet, (("p", 2), ("swap", False), ("eps", 1e-6), ("reduction", "mean"))),
    ("UpsampleNearest3D", _upsample("nearest"), ()),
    ("UpsampleTrilinear3D", _upsample("trilinear"), (("align_corners", False),)),
)  # fmt: skip
