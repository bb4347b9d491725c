"""Pooling layers over one to three axes."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..core.tensor import Tensor
from ..ops.convolution import ints_for, pads_for
from ..ops.pooling import as_image, flat_pair, largest_of_windows, mean_of_windows
from .cell import Cell

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool1dExt", "AvgPool2d", "AvgPool2dExt", "AvgPool3d", "AvgPool3dExt",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "MaxPool1d", "MaxPool2d", "MaxPool2dExt",
    "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


class _Pool(Cell):
    """What every pooling layer over windows has.

    Args:
        kernel_size, stride, dilation: an int, or one for each axis.
        pad_mode: "same", "valid" or "pad" (by ``padding``).
        padding: an int, one for each axis, or one for each side; only with "pad".
        ceil_mode: whether a last, partial window counts.
    """

    _axes = 2

    def __init__(
        self, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, ceil_mode: bool, dilation: Any = 1
    ) -> None:
        super().__init__()
        name = type(self).__name__
        for argument, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
            ints_for(value, self._axes, name, argument)
        flat = (1,) * self._axes
        sides = padding * 2 if isinstance(padding, tuple) and len(padding) == 1 else padding
        pads_for(pad_mode, sides, flat, ints_for(kernel_size, self._axes, name, "kernel_size"), flat, flat, name)
        if not isinstance(ceil_mode, bool):
            raise TypeError(f"For '{name}', 'ceil_mode' must be a bool, but got {type(ceil_mode).__name__}")
        self.kernel_size, self.stride, self.pad_mode = kernel_size, stride, pad_mode.upper()
        self.padding, self.ceil_mode, self.dilation = padding, ceil_mode, dilation
        if self._axes == 1:
            self.kernel_size = flat_pair(kernel_size, name, "kernel_size")
            self.stride = flat_pair(stride, name, "stride")

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    """The largest element of each window; with ``return_indices`` also where it is."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, dilation)
        self.return_indices = return_indices

    def construct(self, x: Tensor) -> Any:
        return largest_of_windows(
            self._axes, type(self).__name__, x, self.kernel_size, self.stride, self.pad_mode, self.padding,
            self.dilation, self.ceil_mode, self.return_indices,
        )  # fmt: skip


class MaxPool1d(_MaxPool):
    """The largest element of each window of (N, C, L)."""

    _axes = 1

    def construct(self, x: Tensor) -> Any:
        name = type(self).__name__
        dilation = flat_pair(self.dilation, name, "dilation")
        padding = _flat_sides(self.padding)

        def pooled(image: Tensor) -> Any:
            return largest_of_windows(
                2, name, image, self.kernel_size, self.stride, self.pad_mode, padding, dilation, self.ceil_mode,
                self.return_indices,
            )  # fmt: skip

        return as_image(pooled, x, name)


def _flat_sides(padding: Any) -> Any:
    """Padding of one axis as that of the second of two."""
    if isinstance(padding, int):
        return (0, 0, padding, padding) if padding else 0
    return (0, 0, *(tuple(padding) * 2)[:2])


class MaxPool2d(_MaxPool):
    """The largest element of each window of (N, C, H, W)."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)
        _check_format(data_format, "MaxPool2d")


class MaxPool3d(_MaxPool):
    """The largest element of each window of (N, C, D, H, W)."""

    _axes = 3


class MaxPool2dExt(_MaxPool):
    """``MaxPool2d`` with PyTorch's arguments: the stride is the window's, padding is by number."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        steps = kernel_size if stride is None else stride
        super().__init__(kernel_size, steps, "pad", padding, dilation, return_indices, ceil_mode)


class _AvgPool(_Pool):
    """The mean of each window.

    Args:
        count_include_pad: whether padding counts in the mean.
        divisor_override: a number to divide by instead of the count.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        if divisor_override is not None and divisor_override <= 0:
            raise ValueError(
                f"For '{type(self).__name__}', 'divisor_override' must be above 0, but got {divisor_override}"
            )
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def construct(self, x: Tensor) -> Tensor:
        # As in MindSpore, the padding of "same" does not count for images, but does for volumes.
        counted = self.count_include_pad and not (self.pad_mode == "SAME" and self._axes == 2)
        return mean_of_windows(
            self._axes, type(self).__name__, x, self.kernel_size, self.stride, self.pad_mode, self.padding,
            self.ceil_mode, counted, self.divisor_override,
        )  # fmt: skip


class AvgPool1d(_AvgPool):
    """The mean of each window of (N, C, L)."""

    _axes = 1

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)

    def construct(self, x: Tensor) -> Tensor:
        name, padding = type(self).__name__, _flat_sides(self.padding)
        counted = self.count_include_pad and self.pad_mode != "SAME"

        def pooled(image: Tensor) -> Tensor:
            return mean_of_windows(
                2, name, image, self.kernel_size, self.stride, self.pad_mode, padding, self.ceil_mode, counted
            )

        return as_image(pooled, x, name)


class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W)."""

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)
        _check_format(data_format, "AvgPool2d")


class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W)."""

    _axes = 3


class AvgPool1dExt(AvgPool1d):
    """``AvgPool1d`` with PyTorch's arguments: the stride is the window's, padding is by number."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        steps = kernel_size if stride is None else stride
        super().__init__(kernel_size, steps, "pad", padding, ceil_mode, count_include_pad)


class AvgPool2dExt(_AvgPool):
    """``AvgPool2d`` with PyTorch's arguments: the stride is the window's, padding is by number."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        steps = kernel_size if stride is None else stride
        super().__init__(kernel_size, steps, "pad", padding, ceil_mode, count_include_pad, divisor_override)


class AvgPool3dExt(AvgPool2dExt):
    """``AvgPool3d`` with PyTorch's arguments."""

    _axes = 3


def _check_format(data_format: str, name: str) -> None:
    if data_format != "NCHW":
        raise ValueError(f"For '{name}', 'data_format' must be 'NCHW', but got {data_format!r}")


class _Adaptive(Cell):
    """Windows are chosen so that the output has ``output_size``."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_Adaptive):
    """Means of (N, C, L) over windows chosen so that the output has ``output_size``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Means of (N, C, H, W) over windows chosen so that the output has ``output_size``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Means of (N, C, D, H, W) over windows chosen so that the output has ``output_size``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool3d(x, self.output_size)


class AdaptiveMaxPool1d(_Adaptive):
    """Largest elements of (N, C, L) over windows chosen so that the output has ``output_size``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_max_pool1d(x, self.output_size)


class _AdaptiveLargest(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool2d(_AdaptiveLargest):
    """Largest elements of (N, C, H, W) over windows chosen so that the output has ``output_size``."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_max_pool2d(x, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveLargest):
    """Largest elements of (N, C, D, H, W) over windows chosen so that the output has ``output_size``."""

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return ops.adaptive_max_pool3d(x, self.output_size, self.return_indices)


class LPPool1d(Cell):
    """The ``norm_type``-norm of each window of (N, C, L)."""

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        if not isinstance(norm_type, int | float):
            raise TypeError(
                f"For '{type(self).__name__}', 'norm_type' must be a number, but got {type(norm_type).__name__}"
            )
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """The ``norm_type``-norm of each window of (N, C, H, W)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class _Unpool(Cell):
    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding


class MaxUnpool1d(_Unpool):
    """Elements (N, C, L) put back to where ``indices`` say they were the largest."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return ops.max_unpool1d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d(_Unpool):
    """Elements (N, C, H, W) put back to where ``indices`` say they were the largest."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return ops.max_unpool2d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d(_Unpool):
    """Elements (N, C, D, H, W) put back to where ``indices`` say they were the largest."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        return ops.max_unpool3d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class FractionalMaxPool2d(Cell):
    """Largest elements of windows at pseudorandom places (Graham 2014), by ``output_size`` or ``output_ratio``."""

    _axes = 2

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.arguments = (kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def construct(self, input: Tensor) -> Any:
        function = ops.fractional_max_pool2d if self._axes == 2 else ops.fractional_max_pool3d
        return function(input, *self.arguments)


class FractionalMaxPool3d(FractionalMaxPool2d):
    """``FractionalMaxPool2d`` for (N, C, D, H, W)."""

    _axes = 3
