"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..dtype import DType, float32
from ..initializer import HeUniform, Uniform, initializer
from ..ops.convolution import pads_of, pair_of
from ..parameter import Parameter
from ..tensor import Tensor
from ._checks import check_bool, check_positive_int
from .cell import Cell

__all__ = ["Conv2d"]


class Conv2d(Cell):
    """Cross-correlation of (N, in_channels, H, W) with learned kernels.

    Args:
        in_channels, out_channels: channels of input and output.
        kernel_size, stride, dilation: an int, or (height, width).
        pad_mode: "same" (the output has ceil(length / stride)), "valid" (no padding) or "pad" (by ``padding``).
        padding: an int, or (top, bottom, left, right); only with "pad".
        group: channels are split into so many groups that do not see each other.
        has_bias: whether each output channel has a bias.
        weight_init, bias_init: first values; by default uniform with bound 1 / sqrt(fan_in).
        data_format: "NCHW".
        dtype: element type of the parameters.

    Raises:
        TypeError, ValueError: an argument of the wrong kind; the text names it.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "Conv2d", "in_channels")
        self.out_channels = check_positive_int(out_channels, "Conv2d", "out_channels")
        self.kernel_size = pair_of(kernel_size, "Conv2d", "kernel_size")
        self.stride = pair_of(stride, "Conv2d", "stride")
        self.dilation = pair_of(dilation, "Conv2d", "dilation")
        self.group = check_positive_int(group, "Conv2d", "group")
        self.has_bias = check_bool(has_bias, "Conv2d", "has_bias")
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"For 'Conv2d', 'group' {group} must divide 'in_channels' {in_channels} "
                f"and 'out_channels' {out_channels}"
            )
        if data_format != "NCHW":
            raise ValueError(f"For 'Conv2d', 'data_format' must be 'NCHW', but got {data_format!r}")
        # Refuse a bad mode or padding now, not at the first call.
        pads_of(pad_mode, padding, (1, 1), self.kernel_size, self.stride, self.dilation, "Conv2d")
        self.pad_mode, self.padding, self.data_format = pad_mode.lower(), padding, data_format
        self.weight_init, self.bias_init = weight_init, bias_init
        shape = (out_channels, in_channels // group, *self.kernel_size)
        self.weight = Parameter(
            initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype),
            "weight",
        )
        self.bias: Parameter | None = None
        if has_bias:
            bound = 1 / math.sqrt(math.prod(shape[1:]))
            init = Uniform(bound) if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, (out_channels,), dtype), "bias")

    def construct(self, x: Tensor) -> Tensor:
        """x (N, in_channels, H, W) to (N, out_channels, OH, OW)."""
        return ops.conv2d(
            x, self.weight, self.bias, self.stride, self.pad_mode, self.padding, self.dilation, self.group
        )

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}, weight_init={_init_name(self.weight_init)}, "
            f"bias_init={_init_name(self.bias_init)}, format={self.data_format}"
        )


def _init_name(init: Any) -> str:
    """An initialiser without an address, so that printing a network is deterministic."""
    return init if isinstance(init, str) else "None" if init is None else type(init).__name__
