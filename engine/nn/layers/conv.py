"""Convolution layers over one to three axes, and their transposes.

As in MindSpore, a layer over one axis is a layer over images of height 1: its weight has the shape (K, C, 1, length).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from ... import ops
from ...base.argument_checks import check_bool, check_int, check_positive_int, check_type
from ...base.types import Ints
from ...ops.neural.convolution import convolve_transposed, ints_for, pads_for
from ...tensors.dtype import DType, float32
from ...tensors.initializer import HeUniform, InitLike, Uniform, initializer
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from .._documentation import explained_by
from ..cell import Cell

__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "Conv3d", "Conv3dTranspose"]


_PADDINGS = {1: "an int", 2: "an int or a tuple of ints", 3: "an int or a tuple of ints"}


def _check_lengths(value: Ints, axes: int, name: str, argument: str) -> None:
    """Raise an error for a tuple that does not have one length for each axis."""
    if axes == 1:
        check_int(value, name, argument)
    elif isinstance(value, tuple | list) and len(value) != axes:
        kind = TypeError if axes == 2 else ValueError
        raise kind(f"For '{name}', '{argument}' must be an int or a tuple of {axes} ints, but got {value!r}")


class _Conv(Cell):
    """Base of convolutions.

    Args:
        in_channels: channels of the input, an int above 0.
        out_channels: channels of the output, an int above 0.
        kernel_size: the window's lengths, an int above 0 for all axes or one for each.
        stride: the step between windows, an int above 0 for all axes or one for each.
        pad_mode: "same" (ceil(length / stride) windows, zeros at both sides, the odd one at the end), "valid" (windows
            inside the input) or "pad" (by ``padding``); upper case too.
        padding: zeros added with "pad": an int for all sides, or (before, after) of each axis in turn; 0 with the other
            modes.
        output_padding: elements added at the ends of the output, an int for all axes or one for each; only with "pad".
        dilation: the distance between the elements of a window, an int above 0 for all axes or one for each.
        group: the number of separate groups of channels; must divide both numbers of
            channels.
        has_bias: whether each output channel has a bias.
        weight_init: initial values of the weight: an initializer, its name, a number or a Tensor. None is uniform with
            bound 1 / sqrt(fan_in).
        bias_init: initial values of the bias (out_channels,), likewise; None is uniform with the same bound.
        data_format: the order of the axes; only this one (or None).
        dtype: element type of the parameters.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: a number out of range, a ``group`` that does not divide the channels, an unknown mode or format, or
            padding beside a mode other than "pad".
    """

    _axes = 2
    _format = "NCHW"
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: str = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        data_format: str | None = "NCHW",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name, axes = type(self).__name__, self._axes
        self.in_channels = check_positive_int(in_channels, name, "in_channels")
        self.out_channels = check_positive_int(out_channels, name, "out_channels")
        for argument, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
            _check_lengths(value, axes, name, argument)
        self.kernel_size = ints_for(kernel_size, axes, name, "kernel_size")
        self.stride = ints_for(stride, axes, name, "stride")
        self.dilation = ints_for(dilation, axes, name, "dilation")
        self.group = check_positive_int(group, name, "group")
        self.has_bias = check_bool(has_bias, name, "has_bias")
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"For '{name}', 'group' {group} must divide 'in_channels' {in_channels} "
                f"and 'out_channels' {out_channels}"
            )
        if data_format not in (None, self._format):
            raise ValueError(f"For '{name}', 'data_format' must be '{self._format}', but got {data_format!r}")
        check_type(pad_mode, str, name, "pad_mode")
        sides: Any = check_type(padding, int | tuple | list if axes > 1 else int, name, "padding", _PADDINGS[axes])
        if not isinstance(padding, int) and len(padding) != 2 * axes:
            raise ValueError(f"For '{name}', 'padding' must be an int or {2 * axes} ints, but got {padding!r}")
        # Reject a bad mode or padding now, not at the first call.
        pads_for(pad_mode, padding, (1,) * axes, self.kernel_size, self.stride, self.dilation, name)
        self.pad_mode, self.padding, self.data_format = pad_mode.lower(), padding, self._format
        self.weight_init, self.bias_init = weight_init, bias_init
        if axes == 1:
            self.kernel_size, self.stride = (1, *self.kernel_size), (1, *self.stride)
            self.dilation = (1, *self.dilation)
            self.padding = (0, 0, sides, sides)
        first, second = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        shape = (first, second // group, *self.kernel_size)
        init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        if axes == 1 and isinstance(init, Tensor):
            if init.ndim != 3:
                raise ValueError(f"For '{name}', 'weight_init' must have 3 axes, but got shape {init.shape}")
            init = ops.expand_dims(init, 2)
        self.weight = Parameter(initializer(init, shape, dtype), "weight")
        self.bias: Parameter | None = None
        if has_bias:
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            init = Uniform(bound) if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, (out_channels,), dtype), "bias")

    def construct(self, x: Tensor) -> Tensor:
        """Return the layer's output.

        Args:
            x: a floating Tensor (N, in_channels, ...) with the number of further axes in the layer's name.

        Returns:
            A Tensor (N, out_channels, ...); an axis of length n has (n + pads - dilation * (kernel_size - 1) - 1) //
            stride + 1 windows.

        Raises:
            ValueError: the wrong number of axes or channels, or no window fits.
        """
        if self._axes == 3:
            function = ops.conv3d
        else:
            function = ops.conv2d
        if self._axes == 1:
            x = self._as_image(x)
        result = function(
            x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group
        )
        return ops.squeeze(result, 2) if self._axes == 1 else result

    # The operators, for a subclass with its own ``construct``; as in MindSpore they have the layer's settings.

    @cached_property
    def bias_add(self) -> ops.Primitive:
        """x + bias along the channels: takes ``x`` and the bias."""
        return ops.BiasAdd(data_format="NCDHW" if self._axes == 3 else "NCHW")

    def _operator(self, make: Any, channels: int) -> ops.Primitive:
        return make(
            channels,
            self.kernel_size,
            pad_mode=self.pad_mode,
            pad=self.padding,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
        )

    def _as_image(self, x: Tensor) -> Tensor:
        if check_type(x, Tensor, type(self).__name__, "x").ndim != 3:
            raise ValueError(f"For '{type(self).__name__}', the input must have 3 axes, but got shape {x.shape}")
        return ops.expand_dims(x, 2)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}, weight_init={_init_name(self.weight_init)}, "
            f"bias_init={_init_name(self.bias_init)}, format={self.data_format}"
        )


@explained_by(_Conv)
class Conv2d(_Conv):
    """Cross-correlation of (N, in_channels, H, W) with kernels (out_channels, in_channels / group, KH, KW)."""

    @cached_property
    def conv2d(self) -> ops.Primitive:
        """The convolution without the bias: takes ``x`` and the weight."""
        return self._operator(ops.Conv2D, self.out_channels)


@explained_by(_Conv)
class Conv3d(_Conv):
    """Cross-correlation of (N, in_channels, D, H, W) with kernels (out_channels, in_channels / group, KD, KH, KW)."""

    _axes = 3
    _format = "NCDHW"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: str = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        data_format: str | None = "NCDHW",
        dtype: DType = float32,
    ) -> None:
        window = (kernel_size, stride, pad_mode, padding, dilation, group)
        super().__init__(in_channels, out_channels, *window, has_bias, weight_init, bias_init, data_format, dtype)

    @cached_property
    def conv3d(self) -> ops.Primitive:
        """The convolution without the bias: takes ``x`` and the weight."""
        return self._operator(ops.Conv3D, self.out_channels)


class _Along1(_Conv):
    _axes = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: str = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        dtype: DType = float32,
    ) -> None:
        window = (kernel_size, stride, pad_mode, padding, dilation, group)
        super().__init__(in_channels, out_channels, *window, has_bias, weight_init, bias_init, None, dtype)


@explained_by(_Conv)
class Conv1d(_Along1):
    """Cross-correlation of (N, in_channels, L) with kernels (out_channels, in_channels / group, 1, K)."""

    @cached_property
    def conv2d(self) -> ops.Primitive:
        """The convolution without the bias: takes ``x`` (N, C, 1, L) and the weight."""
        return self._operator(ops.Conv2D, self.out_channels)


class _ConvTranspose(_Conv):
    _transposed = True
    output_padding: Any = 0

    def construct(self, x: Tensor) -> Tensor:
        """Return the layer's output.

        Args:
            x: a floating Tensor (N, in_channels, ...) with the number of further axes in the layer's name.

        Returns:
            A Tensor (N, out_channels, ...). An axis of length n becomes n * stride with "same"; (n - 1) * stride +
            max(stride, dilation * (kernel_size - 1) + 1) with "valid"; (n - 1) * stride + dilation * (kernel_size - 1)
            + 1 - pads + output_padding with "pad".

        Raises:
            ValueError: the wrong number of axes or channels.
        """
        name = type(self).__name__
        if self._axes == 1:
            x = self._as_image(x)
        axes = len(self.kernel_size)
        more = ints_for(self.output_padding, axes, name, "output_padding", 0)
        pads = [0] * (2 * axes)
        if self.pad_mode == "pad":
            pads = list(pads_for("pad", self.padding, (1,) * axes, self.kernel_size, (1,) * axes, (1,) * axes, name))
        else:
            # "same": the output has length * stride; "valid": at least that. Windows beyond it are cut off.
            output_padding = list(more)
            for index, (k, s, d) in enumerate(zip(self.kernel_size, self.stride, self.dilation, strict=True)):
                extra = d * (k - 1) + 1 - s
                if extra < 0:
                    output_padding[index] += -extra
                elif self.pad_mode == "same":
                    pads[2 * index : 2 * index + 2] = [extra // 2, extra - extra // 2]
            more = tuple(output_padding)
        result = convolve_transposed(
            x, self.weight, self.bias, self.stride, tuple(pads), more, self.dilation, self.group, name
        )
        return ops.squeeze(result, 2) if self._axes == 1 else result


@explained_by(_Conv)
class Conv1dTranspose(_Along1, _ConvTranspose):
    """``Conv1d`` transposed: (N, in_channels, L) with kernels (in_channels, out_channels / group, 1, K)."""


@explained_by(_Conv)
class Conv2dTranspose(_ConvTranspose):
    """``Conv2d`` transposed: (N, in_channels, H, W) with kernels (in_channels, out_channels / group, KH, KW)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: str = "same",
        padding: Ints = 0,
        output_padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        dtype: DType = float32,
    ) -> None:
        window = (kernel_size, stride, pad_mode, padding, dilation, group)
        super().__init__(in_channels, out_channels, *window, has_bias, weight_init, bias_init, None, dtype)
        self.output_padding = _output_padding(output_padding, self, "Conv2dTranspose")

    @cached_property
    def conv2d_transpose(self) -> ops.Primitive:
        """The convolution without the bias: takes ``x``, the weight and the output's shape."""
        return self._operator(ops.Conv2DTranspose, self.in_channels)


@explained_by(_Conv)
class Conv3dTranspose(_ConvTranspose):
    """``Conv3d`` transposed: (N, in_channels, D, H, W) with kernels (in_channels, out_channels / group, KD, KH, KW)."""

    _axes = 3
    _format = "NCDHW"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: str = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        output_padding: Ints = 0,
        has_bias: bool = False,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        data_format: str = "NCDHW",
        dtype: DType = float32,
    ) -> None:
        window = (kernel_size, stride, pad_mode, padding, dilation, group)
        super().__init__(in_channels, out_channels, *window, has_bias, weight_init, bias_init, data_format, dtype)
        self.output_padding = _output_padding(output_padding, self, "Conv3dTranspose")


def _output_padding(value: Ints, layer: _ConvTranspose, name: str) -> Ints:
    mode = layer.pad_mode
    check_type(value, int | tuple | list, name, "output_padding", "an int or a tuple of ints")
    if mode != "pad" and (value if isinstance(value, int) else any(value)):
        raise ValueError(f"For '{name}', 'output_padding' must be 0 with pad_mode '{mode}', but got {value!r}")
    paddings = ints_for(value, len(layer.kernel_size), name, "output_padding", 0)
    if any(n >= max(s, d) for n, s, d in zip(paddings, layer.stride, layer.dilation, strict=True) if n):
        raise ValueError(
            f"For '{name}', 'output_padding' must be below 'stride' or 'dilation' of its axis, but got {value!r}"
        )
    return value


def _init_name(init: InitLike | None) -> str:
    """Return an initializer's name without an address, so that printing a network is deterministic."""
    return init if isinstance(init, str) else "None" if init is None else type(init).__name__
