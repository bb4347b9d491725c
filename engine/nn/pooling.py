"""Pooling layers."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..ops.convolution import pads_of, pair_of
from ..tensor import Tensor
from .cell import Cell

__all__ = ["AdaptiveAvgPool2d", "AvgPool2d", "MaxPool2d"]


class _Pool(Cell):
    def __init__(self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any) -> None:
        super().__init__()
        name = type(self).__name__
        pads_of(pad_mode, padding, (1, 1), pair_of(kernel_size, name, "kernel_size"), (1, 1), (1, 1), name)
        pair_of(stride, name, "stride")
        self.kernel_size, self.stride, self.pad_mode, self.padding = (
            kernel_size,
            stride,
            pad_mode.upper(),
            padding,
        )

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool2d(_Pool):
    """The largest element of each window."""

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding)

    def construct(self, x: Tensor) -> Tensor:
        return ops.max_pool2d(x, self.kernel_size, self.stride, self.padding, pad_mode=self.pad_mode)


class AvgPool2d(_Pool):
    """The mean of each window."""

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", padding: Any = 0) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding)

    def construct(self, x: Tensor) -> Tensor:
        return ops.avg_pool2d(x, self.kernel_size, self.stride, self.padding, pad_mode=self.pad_mode)


class AdaptiveAvgPool2d(Cell):
    """Means over windows chosen so that the output has ``output_size``, which must divide the input's size."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool2d(x, self.output_size)

    def extend_repr(self) -> str:
        return f"output_size={self.output_size}"
