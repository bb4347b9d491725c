"""Convolution over one to three axes, and its transpose. Each gradient is an operator, so that higher orders exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base import types
from ...base.surfaces import declare, prim
from ...base.types import Array, Functions, Shape, Value
from ...cpu.neural import windows
from ...tensors.backend import runs_triton
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import check_tensor, int_of, ints_of
from ..elementwise.arithmetic import add
from ..shapes.reshape import reshape

__all__ = ["bias_add", "conv1d", "conv2d", "conv3d", "conv3d_transpose", "conv_transpose2d"]

Ints = tuple[int, ...]
Setting = int | Ints  # of a convolution, by name


def ints_for(value: types.Ints | None, axes: int, name: str, argument: str, least: int = 1) -> Ints:
    """Return ``value`` as a tuple with one int for each axis.

    An int, or a tuple of one, counts for all axes; as in MindSpore, a tuple may also begin with ints for N and C.

    Args:
        value: the argument.
        axes: the number of ints needed.
        name: of the operator, for errors.
        argument: its name, for errors.
        least: the smallest number allowed.

    Raises:
        TypeError: ``value`` is of the wrong type or length.
        ValueError: a number below ``least``.
    """
    values = (value,) * axes if isinstance(value, int) and not isinstance(value, bool) else value
    if (
        not isinstance(values, tuple | list)
        or len(values) not in (1, axes, axes + 2)
        or not all(isinstance(n, int) and not isinstance(n, bool) for n in values)
    ):
        counts = {1: "one int", 2: "two ints", 3: "three ints"}[axes]
        raise TypeError(f"For '{name}', '{argument}' must be an int or a tuple of {counts}, but got {value!r}")
    result = tuple(values) * axes if len(values) == 1 else tuple(values[-axes:])
    if min(result) < least:
        raise ValueError(f"For '{name}', '{argument}' must be at least {least}, but got {value!r}")
    return result


def last_axes(value: types.Ints, axes: int) -> types.Ints:
    """Return the settings of the windows from those of all axes, (1, 1, a, b); anything else is returned as it is."""
    return value[-axes:] if isinstance(value, tuple | list) and len(value) > axes else value


def pads_for(
    pad_mode: object, padding: types.Ints, lengths: Ints, kernel: Ints, stride: Ints, dilation: Ints, name: str
) -> Ints:
    """Return the number of elements added (before, after) each axis in turn.

    "same": as many as ceil(length / stride) windows need, the odd one at the end; "valid": none; "pad": ``padding``,
    an int for all sides, or one for each axis, or one for each side.

    Raises:
        ValueError: an unknown mode, or padding with "same" or "valid".
    """
    if not isinstance(pad_mode, str) or pad_mode.lower() not in ("same", "valid", "pad"):
        raise ValueError(f"For '{name}', 'pad_mode' must be 'same', 'valid' or 'pad', but got {pad_mode!r}")
    if not isinstance(padding, int | tuple | list):
        raise TypeError(f"For '{name}', 'padding' must be an int or a tuple of ints, but got {padding!r}")
    mode, axes = pad_mode.lower(), len(kernel)
    if mode == "pad":
        amounts = (padding,) * 2 * axes if isinstance(padding, int) else tuple(padding)
        if len(amounts) == 1:
            amounts *= 2 * axes
        if len(amounts) == axes:
            amounts = tuple(n for amount in amounts for n in (amount, amount))
        if len(amounts) != 2 * axes or not all(isinstance(n, int) for n in amounts) or min(amounts) < 0:
            raise ValueError(
                f"For '{name}', 'padding' must be an int or {2 * axes} ints that are not negative, got {padding!r}"
            )
        return amounts
    if not (padding == 0 if isinstance(padding, int) else not any(padding)):
        raise ValueError(f"For '{name}', 'padding' must be 0 with pad_mode '{mode}', but got {padding!r}")
    if mode == "valid":
        return (0,) * (2 * axes)
    pads: list[int] = []
    for length, k, s, d in zip(lengths, kernel, stride, dilation, strict=True):
        total = max(0, (-(-length // s) - 1) * s + d * (k - 1) + 1 - length)
        pads += [total // 2, total - total // 2]
    return tuple(pads)


def check_format(data_format: str, expected: str, name: str) -> None:
    """Raise ValueError unless ``data_format`` is ``expected``, the only order of axes that a class takes."""
    if data_format != expected:
        raise ValueError(f"For '{name}', 'data_format' must be '{expected}', but got {data_format!r}")


def check_windows(x: Tensor, kernel: Ints, stride: Ints, dilation: Ints, pads: Ints, name: str) -> None:
    """Raise ValueError unless at least one window fits."""
    for axis, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        if windows.output_length(x.shape[axis + 2], k, s, d, pads[2 * axis] + pads[2 * axis + 1]) < 1:
            raise ValueError(f"For '{name}', a window of {kernel} does not fit into an input of shape {x.shape}")


def _entry(axes: int) -> tuple[Operator, Operator]:
    """Return the convolution over ``axes`` axes and its transpose, and add both gradients to the table.

    The two gradients and the forward are each other's transposes.
    """
    forward, of_input, of_weight = (f"conv{axes}d{suffix}" for suffix in ("", "_input_grad", "_weight_grad"))

    def input_rule(F: Functions, g: Value, out: Value, x: Value, weight: Value, **settings: Setting) -> Any:
        return getattr(F, of_input)(g, weight, shape=tuple(x.shape), **settings)

    def weight_rule(F: Functions, g: Value, out: Value, x: Value, weight: Value, **settings: Setting) -> Any:
        return getattr(F, of_weight)(g, x, kernel=tuple(weight.shape[2:]), **settings)

    def windows_of(F: Functions, x: Value, weight: Value, g: Value, settings: dict[str, Setting]) -> Any:
        """Return the convolution, without the windows after those of ``g``: see ``output_padding``."""
        y, shape = getattr(F, forward)(x, weight, **settings), tuple(g.shape)
        return y if tuple(y.shape) == shape else F.getitem(y, index=tuple(map(slice, shape)))

    def back_to_g(
        F: Functions, gg: Value, out: Value, g: Value, weight: Value, shape: Ints, **settings: Setting
    ) -> Any:
        return windows_of(F, gg, weight, g, settings)

    def back_to_weight(
        F: Functions, gg: Value, out: Value, g: Value, weight: Value, shape: Ints, **settings: Setting
    ) -> Any:
        return getattr(F, of_weight)(g, gg, kernel=tuple(weight.shape[2:]), **settings)

    def weights_to_g(F: Functions, gg: Value, out: Value, g: Value, x: Value, kernel: Ints, **settings: Setting) -> Any:
        return windows_of(F, x, gg, g, settings)

    def weights_to_x(F: Functions, gg: Value, out: Value, g: Value, x: Value, kernel: Ints, **settings: Setting) -> Any:
        return getattr(F, of_input)(g, gg, shape=tuple(x.shape), **settings)

    operator = Operator(forward, windows.conv, (input_rule, weight_rule), placeholders=(-1,))
    transpose = Operator(of_input, windows.conv_input_grad, (back_to_g, back_to_weight))
    Operator(of_weight, windows.conv_weight_grad, (weights_to_g, weights_to_x))
    return operator, transpose


_CONVOLUTIONS = {axes: _entry(axes) for axes in (2, 3)}


def _conv2d_bias_kernel(x: Array, weight: Array, bias: Array, **settings: Any) -> Array:
    result: Array = windows.conv(x, weight, **settings) + bias.reshape(1, -1, 1, 1)
    return result


_conv2d_bias = Operator(
    "conv2d_bias",
    _conv2d_bias_kernel,
    (
        lambda F, g, out, x, weight, bias, **settings: F.conv2d_input_grad(g, weight, shape=tuple(x.shape), **settings),
        lambda F, g, out, x, weight, bias, **settings: F.conv2d_weight_grad(
            g, x, kernel=tuple(weight.shape[2:]), **settings
        ),
        lambda F, g, out, x, weight, bias, **settings: F.sum(g, axis=(0, 2, 3), keepdims=False),
    ),
    placeholders=(2, -1),
).declare("``conv2d`` of x and weight with a bias for each channel added, in one kernel on a GPU.")


def _is_for_one_kernel(x: Tensor, weight: Tensor, bias: Tensor) -> bool:
    """Return whether a convolution over two axes and its bias run as one kernel: on a GPU, if they match."""
    if isinstance(x._array, np.ndarray) or not runs_triton():
        return False
    return isinstance(bias, Tensor) and bias.shape == weight.shape[:1] and x.dtype == weight.dtype == bias.dtype


def convolve(
    axes: int,
    name: str,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: types.Ints,
    pad_mode: str,
    padding: types.Ints,
    dilation: types.Ints,
    groups: int,
) -> Tensor:
    """Return the cross-correlation over ``axes`` axes, with the arguments of the function ``name`` (see ``conv2d``).

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int.
        ValueError: shapes or settings that do not fit.
        RuntimeError: the channels of ``x`` and ``weight`` do not fit.
    """
    x, weight = check_tensor(x, name), check_tensor(weight, name, "weight")
    if x.ndim != axes + 2 or weight.ndim != axes + 2:
        raise ValueError(
            f"For '{name}', 'input' and 'weight' must have {axes + 2} axes, but got shapes {x.shape} and {weight.shape}"
        )
    groups = int_of(groups, name, "groups")
    if groups < 1:
        raise ValueError(f"For '{name}', 'groups' must be above 0, but got {groups}")
    if x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise RuntimeError(
            f"For '{name}', 'input' has {x.shape[1]} channels, but 'weight' of shape {weight.shape} with groups "
            f"{groups} takes {weight.shape[1] * groups}"
        )
    strides, dilations = ints_for(stride, axes, name, "stride"), ints_for(dilation, axes, name, "dilation")
    kernel = tuple(weight.shape[2:])
    pads = pads_for(pad_mode, padding, tuple(x.shape[2:]), kernel, strides, dilations, name)
    check_windows(x, kernel, strides, dilations, pads, name)
    settings: dict[str, Setting] = {"stride": strides, "pads": pads, "dilation": dilations, "group": groups}
    if axes == 2 and bias is not None and _is_for_one_kernel(x, weight, bias):
        fused: Tensor = _conv2d_bias(x, weight, bias, **settings)
        return fused
    y: Tensor = _CONVOLUTIONS[axes][0](x, weight, **settings)
    return y if bias is None else bias_add(y, bias)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: types.Ints = 1,
    pad_mode: str = "valid",
    padding: types.Ints = 0,
    dilation: types.Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation of ``input`` with kernels along the last axis, plus a bias.

    Args:
        input: a tensor (N, C, L).
        weight: the kernels, a tensor (K, C / groups, KL).
        bias: one number for each kernel, a tensor (K,); None for no bias.
        stride: the distance between windows, an int.
        pad_mode: "valid" for no padding; "same" for ceil(length / stride) windows, the odd element at the end; "pad"
            for ``padding``.
        padding: zeros before and after: an int, or a tuple of one or of two.
        dilation: the distance between elements of a window, an int.
        groups: the number of channel groups; an output group is connected to its input group only.

    Returns:
        A tensor (N, K, OL) with length (n + padding - dilation * (k - 1) - 1) // stride + 1 for an axis of n.

    Raises:
        TypeError: ``input`` is not a Tensor, or a setting is not an int.
        ValueError: the wrong numbers of axes, a setting out of range, padding with "same" or "valid", or no window
            fits.
        RuntimeError: the channels of ``input`` and ``weight`` do not fit.
    """
    input, weight = check_tensor(input, "conv1d"), check_tensor(weight, "conv1d", "weight")
    if input.ndim != 3 or weight.ndim != 3:
        raise ValueError(
            f"For 'conv1d', 'input' and 'weight' must have 3 axes, but got shapes {input.shape} and {weight.shape}"
        )
    ends = ints_of(padding, "conv1d", "padding")
    if len(ends) not in (1, 2):
        raise ValueError(f"For 'conv1d', 'padding' must be an int or a tuple of one or two ints, but got {padding!r}")
    sides = (0, 0, ends[0], ends[-1])
    (step,), (spacing,) = ints_for(stride, 1, "conv1d", "stride"), ints_for(dilation, 1, "conv1d", "dilation")
    y = conv2d(
        reshape(input, (input.shape[0], input.shape[1], 1, input.shape[2])),
        reshape(weight, (weight.shape[0], weight.shape[1], 1, weight.shape[2])),
        bias,
        (1, step),
        pad_mode,
        sides,
        (1, spacing),
        groups,
    )
    return reshape(y, (y.shape[0], y.shape[1], y.shape[3]))


def _check_mode(mode: int, name: str) -> None:
    if mode != 1:
        raise ValueError(f"For '{name}', 'mode' must be 1, a cross-correlation, but got {mode!r}")


def _check_kernels(weight: Tensor, out_channel: int, kernel_size: types.Ints, axes: int, name: str) -> None:
    """Raise RuntimeError unless a weight has the shape that its class was made for."""
    expected = (out_channel, *ints_for(kernel_size, axes, name, "kernel_size"))
    actual = (weight.shape[0], *weight.shape[2:])
    if actual != expected:
        raise RuntimeError(
            f"For '{name}', 'weight' must have 'out_channel' {out_channel} and 'kernel_size' {expected[1:]}, "
            f"but got shape {weight.shape}"
        )


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: types.Ints = 1,
    pad_mode: str = "valid",
    padding: types.Ints = 0,
    dilation: types.Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation of ``input`` with kernels along the last two axes, plus a bias.

    Args:
        input: a tensor (N, C, H, W).
        weight: the kernels, a tensor (K, C / groups, KH, KW).
        bias: one number for each kernel, a tensor (K,); None for no bias.
        stride: the distance between windows, an int or one for each axis.
        pad_mode: "valid" for no padding; "same" for ceil(length / stride) windows, the odd element at the end; "pad"
            for ``padding``.
        padding: zeros at the sides with "pad": an int, two for (height, width), or four for (top, bottom, left,
            right).
        dilation: the distance between elements of a window, an int or one for each axis.
        groups: the number of channel groups; an output group is connected to its input group only.

    Returns:
        A tensor (N, K, OH, OW) with length (n + padding - dilation * (k - 1) - 1) // stride + 1 for an axis of n.

    Raises:
        TypeError: ``input`` is not a Tensor, or a setting is not an int.
        ValueError: the wrong numbers of axes, a setting out of range, padding with "same" or "valid", or no window
            fits.
        RuntimeError: the channels of ``input`` and ``weight`` do not fit.
    """
    return convolve(2, "Conv2D", input, weight, bias, stride, pad_mode, padding, dilation, groups)


@declare(
    primitive=prim(
        "Conv2D",
        "out_channel",
        "kernel_size",
        mode=1,
        pad_mode="valid",
        pad=0,
        stride=1,
        dilation=1,
        group=1,
        data_format="NCHW",
    )
)
def _conv2d_class(
    x: Tensor,
    weight: Tensor,
    *,
    out_channel: int,
    kernel_size: types.Ints,
    mode: int,
    pad_mode: str,
    pad: types.Ints,
    stride: types.Ints,
    dilation: types.Ints,
    group: int,
    data_format: str,
) -> Tensor:
    """Return ``conv2d``, the cross-correlation along the last two axes, without a bias.

    Args:
        x: a tensor (N, C, H, W).
        weight: the kernels, a tensor (K, C / group, KH, KW).
        out_channel: K, as ``weight`` has it.
        kernel_size: the lengths of a kernel, an int or one for each axis, as ``weight`` has them.
        mode: 1, a cross-correlation.
        pad_mode: "valid", "same" or "pad", as of ``conv2d``.
        pad: zeros at the sides with "pad", as ``padding`` of ``conv2d``.
        stride: the distance between windows, an int or one for each axis.
        dilation: the distance between elements of a window, an int or one for each axis.
        group: the number of channel groups; an output group is connected to its input group only.
        data_format: "NCHW".

    Returns:
        A tensor of (N, K, ...).

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int.
        ValueError: an unknown ``mode`` or ``data_format``, a setting out of range, or no window that fits.
        RuntimeError: ``weight`` does not fit the channels or the settings of the class.
    """
    check_format(data_format, "NCHW", "Conv2D")
    _check_mode(mode, "Conv2D")
    _check_kernels(weight, out_channel, kernel_size, 2, "Conv2D")
    return conv2d(x, weight, None, stride, pad_mode, pad, dilation, group)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: types.Ints = 1,
    pad_mode: str = "valid",
    padding: types.Ints = 0,
    dilation: types.Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation of ``input`` with kernels along the last three axes, plus a bias.

    Args:
        input: a tensor (N, C, D, H, W).
        weight: the kernels, a tensor (K, C / groups, KD, KH, KW).
        bias: one number for each kernel, a tensor (K,); None for no bias.
        stride: the distance between windows, an int or one for each axis.
        pad_mode: "valid" for no padding; "same" for ceil(length / stride) windows, the odd element at the end; "pad"
            for ``padding``.
        padding: zeros at the sides with "pad": an int, three for (depth, height, width), or six for (head, tail, top,
            bottom, left, right).
        dilation: the distance between elements of a window, an int or one for each axis.
        groups: the number of channel groups; an output group is connected to its input group only.

    Returns:
        A tensor (N, K, OD, OH, OW) with length (n + padding - dilation * (k - 1) - 1) // stride + 1 for an axis of n.

    Raises:
        TypeError: ``input`` is not a Tensor, or a setting is not an int.
        ValueError: the wrong numbers of axes, a setting out of range, padding with "same" or "valid", or no window
            fits.
        RuntimeError: the channels of ``input`` and ``weight`` do not fit.
    """
    return convolve(3, "Conv3D", input, weight, bias, stride, pad_mode, padding, dilation, groups)


_VOLUME = {"mode": 1, "pad_mode": "valid", "pad": 0, "stride": 1, "dilation": 1, "group": 1}


@declare(primitive=prim("Conv3D", "out_channel", "kernel_size", **_VOLUME, data_format="NCDHW"))
def _conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    out_channel: int,
    kernel_size: types.Ints,
    mode: int,
    pad_mode: str,
    pad: types.Ints,
    stride: types.Ints,
    dilation: types.Ints,
    group: int,
    data_format: str,
) -> Tensor:
    """Return ``conv3d``, the cross-correlation along the last three axes.

    Args:
        x: a tensor (N, C, D, H, W).
        weight: the kernels, a tensor (K, C / group, KD, KH, KW).
        bias: one number for each kernel, a tensor (K,); None for no bias.
        out_channel: K, as ``weight`` has it.
        kernel_size: the lengths of a kernel, an int or one for each axis, as ``weight`` has them.
        mode: 1, a cross-correlation.
        pad_mode: "valid", "same" or "pad", as of ``conv3d``.
        pad: zeros at the sides with "pad", as ``padding`` of ``conv3d``.
        stride: the distance between windows, an int or one for each axis.
        dilation: the distance between elements of a window, an int or one for each axis.
        group: the number of channel groups; an output group is connected to its input group only.
        data_format: "NCDHW".

    Returns:
        A tensor of (N, K, ...).

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int.
        ValueError: an unknown ``mode`` or ``data_format``, a setting out of range, or no window that fits.
        RuntimeError: ``weight`` does not fit the channels or the settings of the class.
    """
    check_format(data_format, "NCDHW", "Conv3D")
    _check_mode(mode, "Conv3D")
    _check_kernels(weight, out_channel, kernel_size, 3, "Conv3D")
    return conv3d(x, weight, bias, stride, pad_mode, pad, dilation, group)


def convolve_transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    pads: Ints,
    output_padding: Ints,
    dilation: Ints,
    groups: int,
    name: str,
) -> Tensor:
    """Return the transpose of a convolution with kernels (C, K/groups, *kernel), from (N, C, ...) to (N, K, ...)."""
    axes = len(stride)
    x, weight = check_tensor(x, name), check_tensor(weight, name, "weight")
    if x.ndim != axes + 2 or weight.ndim != axes + 2:
        raise ValueError(
            f"For '{name}', 'input' and 'weight' must have {axes + 2} axes, but got shapes {x.shape} and {weight.shape}"
        )
    if x.shape[1] != weight.shape[0]:
        raise ValueError(f"For '{name}', 'input' must have {weight.shape[0]} channels, but got shape {x.shape}")
    lengths = tuple(
        (n - 1) * s + d * (k - 1) + 1 - before - after + extra
        for n, s, d, k, before, after, extra in zip(
            x.shape[2:], stride, dilation, weight.shape[2:], pads[::2], pads[1::2], output_padding, strict=True
        )
    )
    if min(lengths) < 1:
        raise ValueError(f"For '{name}', the output of an input of shape {x.shape} would have the lengths {lengths}")
    shape = (x.shape[0], weight.shape[1] * groups, *lengths)
    y: Tensor = _CONVOLUTIONS[axes][1](
        x, weight, shape=shape, stride=stride, pads=pads, dilation=dilation, group=groups
    )
    return y if bias is None else bias_add(y, bias)


@declare(mint="nn.functional.conv_transpose2d")
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: types.Ints = 1,
    padding: types.Ints = 0,
    output_padding: types.Ints = 0,
    groups: int = 1,
    dilation: types.Ints = 1,
) -> Tensor:
    """Return the transpose (the gradient by the input) of ``conv2d``, which adds a kernel at each element's position.

    Args:
        input: a tensor (N, C, H, W).
        weight: the kernels, a tensor (C, K / groups, KH, KW).
        bias: one number for each output channel, a tensor (K,); None for no bias.
        stride: the distance between kernels in the output, an int or two.
        padding: the number of elements removed at the sides: an int, two for (height, width), or four.
        output_padding: the number of elements added at the bottom and at the right, an int or two.
        groups: the number of channel groups; an output group is connected to its input group only.
        dilation: the distance between elements of a kernel, an int or two.

    Returns:
        A tensor (N, K, OH, OW) with length (n - 1) * stride + dilation * (k - 1) + 1 - 2 * padding + output_padding for
        an axis of n.

    Raises:
        TypeError: ``input`` is not a Tensor, or a setting is not an int.
        ValueError: the wrong numbers of axes or channels, a setting out of range, or an empty output.
    """
    name = "conv_transpose2d"
    strides, dilations = ints_for(stride, 2, name, "stride"), ints_for(dilation, 2, name, "dilation")
    pads = pads_for("pad", padding, (1, 1), (1, 1), strides, dilations, name)
    extra = ints_for(output_padding, 2, name, "output_padding", 0)
    return convolve_transposed(input, weight, bias, strides, pads, extra, dilations, groups, name)


def _transposed(
    axes: int,
    name: str,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    size: Ints | None,
    pad_mode: str,
    pad: types.Ints,
    stride: types.Ints,
    dilation: types.Ints,
    output_padding: types.Ints,
    group: int,
) -> Tensor:
    """Return the transpose of a convolution from the arguments of the Primitive classes; ``size`` is the output's."""
    if check_tensor(x, name, "x").ndim != axes + 2 or weight.ndim != axes + 2:
        raise ValueError(
            f"For '{name}', 'x' and 'weight' must have {axes + 2} axes, but got shapes {x.shape} and {weight.shape}"
        )
    kernel = tuple(weight.shape[2:])
    strides = ints_for(last_axes(stride, axes), axes, name, "stride")
    dilations = ints_for(last_axes(dilation, axes), axes, name, "dilation")
    extra = list(ints_for(last_axes(output_padding, axes), axes, name, "output_padding", 0))
    pads = list(pads_for(pad_mode, pad, (1,) * axes, kernel, (1,) * axes, (1,) * axes, name))
    windows = zip(x.shape[2:], strides, dilations, kernel, strict=True)
    spans = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in windows]
    if pad_mode.lower() == "same":
        lengths = size or [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
        for i, (span, length) in enumerate(zip(spans, lengths, strict=True)):
            surplus = max(0, span - length)
            pads[2 * i : 2 * i + 2] = [surplus // 2, surplus - surplus // 2]
    if size is not None:
        extra = [n - (s - pads[2 * i] - pads[2 * i + 1]) for i, (n, s) in enumerate(zip(size, spans, strict=True))]
        if not all(0 <= n < s for n, s in zip(extra, strides, strict=True)):
            raise ValueError(
                f"For '{name}', no convolution of this kind takes 'input_size' {size} to the shape {x.shape} of 'x'"
            )
    return convolve_transposed(x, weight, bias, strides, tuple(pads), tuple(extra), dilations, group, name)


_TRANSPOSED = {"pad_mode": "valid", "pad": 0, "pad_list": None, "mode": 1, "stride": 1, "dilation": 1, "group": 1}


def _by_size(name: str) -> Callable[..., Tensor]:
    def _conv2d_transpose(
        x: Tensor,
        weight: Tensor,
        input_size: Shape | None = None,
        *,
        out_channel: int,
        kernel_size: Ints,
        pad_mode: str,
        pad: types.Ints,
        pad_list: types.Ints | None,
        mode: int,
        stride: types.Ints,
        dilation: types.Ints,
        group: int,
        data_format: str,
    ) -> Tensor:
        """Return the transpose of ``Conv2D``: the input gradient of a convolution whose output has the shape of ``x``.

        Args:
            x: a tensor (N, C, H, W).
            weight: the kernels, a tensor (C, K / group, KH, KW).
            input_size: the shape of the result, the last two of its ints count; without it the shortest that fits, and
                with "same" the length times the stride.
            out_channel: stored only; ``weight`` determines it.
            kernel_size: stored only; ``weight`` determines it.
            pad_mode: that of the convolution: "valid", "same" or "pad".
            pad: the number of elements removed at the sides with "pad", an int or four.
            pad_list: stored only; ``pad`` counts.
            mode: 1, a cross-correlation.
            stride: the distance between kernels in the output, an int or two.
            dilation: the distance between elements of a kernel, an int or two.
            group: the number of channel groups; an output group is connected to its input group only.
            data_format: "NCHW".

        Returns:
            A tensor (N, K, OH, OW).

        Raises:
            TypeError: ``x`` is not a Tensor, or a setting is not an int.
            ValueError: an unknown ``mode`` or ``data_format``, or shapes and settings that do not fit.
        """
        check_format(data_format, "NCHW", name)
        _check_mode(mode, name)
        size = None if input_size is None else ints_of(input_size, name, "input_size")[-2:]
        return _transposed(2, name, x, weight, None, size, pad_mode, pad, stride, dilation, 0, group)

    return _conv2d_transpose


for _name in ("Conv2DBackpropInput", "Conv2DTranspose"):
    declare(primitive=prim(_name, "out_channel", "kernel_size", **_TRANSPOSED, data_format="NCHW"))(_by_size(_name))


@declare(
    primitive=prim(
        "Conv3DTranspose", "in_channel", "out_channel", "kernel_size", **_VOLUME, output_padding=0, data_format="NCDHW"
    )
)
def _conv3d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    in_channel: int,
    out_channel: int,
    kernel_size: Ints,
    mode: int,
    pad_mode: str,
    pad: types.Ints,
    stride: types.Ints,
    dilation: types.Ints,
    group: int,
    output_padding: types.Ints,
    data_format: str,
) -> Tensor:
    """Return the transpose of ``Conv3D``: the input gradient of a convolution whose output has the shape of ``x``.

    Args:
        x: a tensor (N, C, D, H, W).
        weight: the kernels, a tensor (C, K / group, KD, KH, KW).
        bias: one number for each output channel, a tensor (K,); None for no bias.
        in_channel: stored only; ``weight`` determines it.
        out_channel: stored only; ``weight`` determines it.
        kernel_size: stored only; ``weight`` determines it.
        mode: 1, a cross-correlation.
        pad_mode: that of the convolution: "valid", "same" or "pad".
        pad: the number of elements removed at the sides with "pad", an int or six.
        stride: the distance between kernels in the output, an int or three.
        dilation: the distance between elements of a kernel, an int or three.
        group: the number of channel groups; an output group is connected to its input group only.
        output_padding: the number of elements added at the ends, an int or three.
        data_format: "NCDHW".

    Returns:
        A tensor (N, K, OD, OH, OW).

    Raises:
        TypeError: ``x`` is not a Tensor, or a setting is not an int.
        ValueError: an unknown ``mode`` or ``data_format``, or shapes and settings that do not fit.
    """
    check_format(data_format, "NCDHW", "Conv3DTranspose")
    _check_mode(mode, "Conv3DTranspose")
    return _transposed(
        3, "Conv3DTranspose", x, weight, bias, None, pad_mode, pad, stride, dilation, output_padding, group
    )


def conv3d_transpose(
    inputs: Tensor,
    weight: Tensor,
    pad_mode: str = "valid",
    padding: types.Ints = 0,
    stride: types.Ints = 1,
    dilation: types.Ints = 1,
    group: int = 1,
    output_padding: types.Ints = 0,
) -> Tensor:
    """Return the transpose of ``conv3d``: the input gradient of a convolution whose output has the shape of ``inputs``.

    Args:
        inputs: a tensor (N, C, D, H, W).
        weight: the kernels, a tensor (C, K / group, KD, KH, KW).
        pad_mode: that of the convolution: "valid", "same" or "pad".
        padding: the number of elements removed at the sides with "pad", an int or six.
        stride: the distance between kernels in the output, an int or three.
        dilation: the distance between elements of a kernel, an int or three.
        group: the number of channel groups; an output group is connected to its input group only.
        output_padding: the number of elements added at the ends, an int or three.

    Returns:
        A tensor (N, K, OD, OH, OW).

    Raises:
        TypeError: ``inputs`` is not a Tensor, or a setting is not an int.
        ValueError: shapes and settings that do not fit.
    """
    check_tensor(inputs, "conv3d_transpose", "inputs")
    check_tensor(weight, "conv3d_transpose", "weight")
    return _transposed(
        3, "conv3d_transpose", inputs, weight, None, None, pad_mode, padding, stride, dilation, output_padding, group
    )


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """Return ``input_x`` with a bias added to each channel (axis 1).

    Args:
        input_x: a tensor (N, C, ...).
        bias: one number for each channel, a tensor (C,).

    Returns:
        A tensor of the shape of ``input_x``.

    Raises:
        ValueError: ``bias`` does not fit the channels.
    """
    input_x, bias = check_tensor(input_x, "BiasAdd", "input_x"), check_tensor(bias, "BiasAdd", "bias")
    if bias.ndim != 1 or input_x.ndim < 2 or input_x.shape[1] != bias.shape[0]:
        raise ValueError(
            f"For 'BiasAdd', 'bias' must have one number for each of the {input_x.shape[1:2]} channels of 'input_x', "
            f"but got shape {bias.shape}"
        )
    return add(input_x, reshape(bias, (1, -1) + (1,) * (input_x.ndim - 2)))


@declare(primitive=prim("BiasAdd", data_format="NCHW"))
def _bias_add_class(input_x: Tensor, bias: Tensor, data_format: str) -> Tensor:
    """Return ``input_x`` with a bias added to each channel (axis 1), as ``bias_add`` does.

    Args:
        input_x: a tensor (N, C, ...).
        bias: one number for each channel, a tensor (C,).
        data_format: "NCHW" or "NCDHW".

    Returns:
        A tensor of the shape of ``input_x``.

    Raises:
        ValueError: an unsupported ``data_format``, or ``bias`` does not fit the channels.
    """
    check_format("NCHW" if data_format == "NCDHW" else data_format, "NCHW", "BiasAdd")
    return bias_add(input_x, bias)
