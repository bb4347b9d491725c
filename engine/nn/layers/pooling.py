"""Pooling layers over one to three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import ops
from ...base.argument_checks import check_bool, check_positive_int, check_type
from ...base.types import Ints
from ...ops.neural.convolution import check_format, ints_for, pads_for
from ...ops.neural.pooling import as_image, flat_pair, largest_of_windows, mean_of_windows
from ...tensors.tensor import Tensor
from .._documentation import explained_by
from ..cell import Cell

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool1dExt",
    "AvgPool2d",
    "AvgPool2dExt",
    "AvgPool3d",
    "AvgPool3dExt",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool2dExt",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _Pool(Cell):
    """Base of pooling layers over windows.

    Args:
        kernel_size: the window's lengths, an int above 0 for all axes or one for each.
        stride: the step between windows, an int above 0 for all axes or one for each; None, if allowed, is
            ``kernel_size``.
        pad_mode: "same" (ceil(length / stride) windows, padding at both sides), "valid" (windows inside the input) or
            "pad" (by ``padding``); upper case too.
        padding: elements added with "pad": an int for all sides, one for each axis, or (before, after) of each axis in
            turn; 0 with the other modes. For the maximum at most half of ``kernel_size``.
        dilation: the distance between the elements of a window, an int above 0 for all axes or one for each.
        return_indices: whether to also return the positions of the elements, int64 indices into the flattened axes
            after C.
        ceil_mode: whether to include a last, partial window.
        count_include_pad: whether added zeros count in the mean.
        divisor_override: an int above 0 that replaces the count as divisor of the sums; None for the count.
        data_format: must be "NCHW", the order of axes.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: an argument out of range, or padding in a mode without it; the text names it.
    """

    _axes = 2

    def __init__(
        self, kernel_size: Ints, stride: Ints, pad_mode: str, padding: Ints, ceil_mode: bool, dilation: Ints = 1
    ) -> None:
        super().__init__()
        name = type(self).__name__
        for argument, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
            ints_for(value, self._axes, name, argument)
        flat = (1,) * self._axes
        sides = padding * 2 if isinstance(padding, tuple) and len(padding) == 1 else padding
        pads_for(pad_mode, sides, flat, ints_for(kernel_size, self._axes, name, "kernel_size"), flat, flat, name)
        check_bool(ceil_mode, name, "ceil_mode")
        self.kernel_size, self.stride, self.pad_mode = kernel_size, stride, pad_mode.upper()
        self.padding, self.ceil_mode, self.dilation = padding, ceil_mode, dilation
        if self._axes == 1:
            self.kernel_size = flat_pair(kernel_size, name, "kernel_size")
            self.stride = flat_pair(stride, name, "stride")

    def _operator(self, kind: Any) -> ops.Primitive:
        """Return the operator for images, with the layer's settings; there is none with explicit padding."""
        if self.pad_mode == "PAD" or self._axes != 2:
            raise AttributeError(
                f"'{type(self).__name__}' has no operator with pad_mode 'pad' or for {self._axes} axes; call the layer"
            )
        operator: ops.Primitive = kind(self.kernel_size, self.stride, self.pad_mode)
        return operator

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    """The largest element of each window; with ``return_indices`` also its position."""

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, dilation)
        self.return_indices = check_bool(return_indices, type(self).__name__, "return_indices")
        spread = any(n != 1 for n in ints_for(dilation, self._axes, type(self).__name__, "dilation"))
        if self.pad_mode != "PAD" and (spread or return_indices or ceil_mode):
            raise ValueError(
                f"For '{type(self).__name__}', 'dilation', 'return_indices' and 'ceil_mode' must keep their defaults "
                f"unless 'pad_mode' is 'pad', but it is {pad_mode!r}"
            )

    @property
    def max_pool(self) -> ops.Primitive:
        """The operator, for a subclass with its own ``construct``."""
        return self._operator(ops.MaxPool)

    def construct(self, x: Tensor) -> Any:
        window = (self.pad_mode, self.padding, self.dilation, self.ceil_mode, self.return_indices)
        return largest_of_windows(self._axes, type(self).__name__, x, self.kernel_size, self.stride, *window)


@explained_by(_Pool)
class MaxPool1d(_MaxPool):
    """The largest element of each window of (N, C, L) or (C, L).

    Takes ``x`` and returns a Tensor (N, C, OL), or with ``return_indices`` a pair. The call raises ValueError for
    the wrong number of axes, or if no window fits.
    """

    _axes = 1

    def construct(self, x: Tensor) -> Any:
        name = type(self).__name__
        dilation = flat_pair(self.dilation, name, "dilation")
        padding = _flat_sides(self.padding)

        def pooled(image: Tensor) -> Any:
            window = (dilation, self.ceil_mode, self.return_indices)
            return largest_of_windows(2, name, image, self.kernel_size, self.stride, self.pad_mode, padding, *window)

        return as_image(pooled, x, name)


def _flat_sides(padding: Ints) -> Ints:
    """Return padding of one axis as that of the second of two."""
    if isinstance(padding, int):
        return (0, 0, padding, padding) if padding else 0
    return (0, 0, *(tuple(padding) * 2)[:2])


@explained_by(_Pool)
class MaxPool2d(_MaxPool):
    """The largest element of each window of (N, C, H, W) or (C, H, W).

    Takes ``x`` and returns a Tensor (N, C, OH, OW), or with ``return_indices`` a pair. The call raises ValueError for
    the wrong number of axes, or if no window fits.
    """

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode)
        check_format(data_format, "NCHW", "MaxPool2d")


@explained_by(_Pool)
class MaxPool3d(_MaxPool):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W).

    Takes ``x`` and returns a Tensor (N, C, OD, OH, OW), or with ``return_indices`` a pair. The call raises ValueError
    for the wrong number of axes, or if no window fits.
    """

    _axes = 3


@explained_by(_Pool)
class MaxPool2dExt(_MaxPool):
    """``MaxPool2d`` with PyTorch's arguments: ``stride`` defaults to the window, and padding is numeric.

    Takes ``x`` (N, C, H, W) or (C, H, W) and returns a Tensor (N, C, OH, OW), or with ``return_indices`` a pair.

    Args:
        padding: elements added: an int for all sides or one for each axis, at most half of ``kernel_size``.
    """

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        steps = kernel_size if stride is None else stride
        super().__init__(kernel_size, steps, "pad", padding, dilation, return_indices, ceil_mode)


class _AvgPool(_Pool):
    """The mean of each window.

    Args:
        count_include_pad: whether padding counts in the mean.
        divisor_override: replaces the count as divisor.
    """

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode)
        if divisor_override is not None:
            check_positive_int(divisor_override, type(self).__name__, "divisor_override")
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    @property
    def avg_pool(self) -> ops.Primitive:
        """The operator, for a subclass with its own ``construct``."""
        return self._operator(ops.AvgPool)

    def construct(self, x: Tensor) -> Tensor:
        # As in MindSpore, the padding of "same" does not count for images, but does for volumes.
        counted = self.count_include_pad and not (self.pad_mode == "SAME" and self._axes == 2)
        window = (self.pad_mode, self.padding, self.ceil_mode, counted, self.divisor_override)
        return mean_of_windows(self._axes, type(self).__name__, x, self.kernel_size, self.stride, *window)


@explained_by(_Pool)
class AvgPool1d(_AvgPool):
    """The mean of each window of (N, C, L) or (C, L).

    Takes ``x`` and returns a Tensor (N, C, OL). The call raises ValueError for the wrong number of axes, or where no
    window fits.
    """

    _axes = 1

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
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


@explained_by(_Pool)
class AvgPool2d(_AvgPool):
    """The mean of each window of (N, C, H, W) or (C, H, W).

    Takes ``x`` and returns a Tensor (N, C, OH, OW). The call raises ValueError for the wrong number of axes, or where
    no window fits. The zeros of "same" never count, as in MindSpore.
    """

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: str = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad, divisor_override)
        check_format(data_format, "NCHW", "AvgPool2d")


@explained_by(_Pool)
class AvgPool3d(_AvgPool):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W).

    Takes ``x`` and returns a Tensor (N, C, OD, OH, OW). The call raises ValueError for the wrong number of axes, or
    where no window fits.
    """

    _axes = 3


@explained_by(_Pool)
class AvgPool1dExt(AvgPool1d):
    """``AvgPool1d`` with PyTorch's arguments: ``stride`` defaults to the window, and padding is numeric.

    Takes ``x`` (N, C, L) or (C, L) and returns a Tensor (N, C, OL).

    Args:
        padding: zeros added: an int for both sides.
    """

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        steps = kernel_size if stride is None else stride
        super().__init__(kernel_size, steps, "pad", padding, ceil_mode, count_include_pad)


@explained_by(_Pool)
class AvgPool2dExt(_AvgPool):
    """``AvgPool2d`` with PyTorch's arguments: ``stride`` defaults to the window, and padding is numeric.

    Takes ``x`` (N, C, H, W) or (C, H, W) and returns a Tensor (N, C, OH, OW).

    Args:
        padding: zeros added: an int for all sides or one for each axis.
    """

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        steps = kernel_size if stride is None else stride
        super().__init__(kernel_size, steps, "pad", padding, ceil_mode, count_include_pad, divisor_override)


@explained_by(_Pool)
class AvgPool3dExt(AvgPool2dExt):
    """``AvgPool3d`` with PyTorch's arguments: ``stride`` defaults to the window, and padding is numeric.

    Takes ``x`` (N, C, D, H, W) or (C, D, H, W) and returns a Tensor (N, C, OD, OH, OW).

    Args:
        padding: zeros added: an int for all sides or one for each axis.
    """

    _axes = 3


class _Adaptive(Cell):
    """Pooling with windows chosen for the output lengths ``output_size``."""

    def __init__(self, output_size: int | Sequence[int | None] | None) -> None:
        super().__init__()
        self.output_size: Any = output_size


class AdaptiveAvgPool1d(_Adaptive):
    """Means of (N, C, L) over windows chosen for the output length ``output_size``.

    Window i goes from floor(i * L / output_size) to ceil((i + 1) * L / output_size). Takes ``x`` and returns (N, C,
    output_size).

    Args:
        output_size: the length of the output, an int above 0.

    Raises:
        TypeError: it is not an int.
        ValueError: it is not above 0.
    """

    def __init__(self, output_size: int) -> None:
        super().__init__(check_positive_int(output_size, "AdaptiveAvgPool1d", "output_size"))

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Means of (N, C, H, W) over windows chosen for the output lengths ``output_size``.

    Window i of an axis goes from floor(i * length / size) to ceil((i + 1) * length / size). Takes ``x``, also (C, H,
    W). The call checks ``output_size``.

    Args:
        output_size: the lengths of the output, an int above 0 for both or a tuple of two; None in it keeps an axis.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Means of (N, C, D, H, W) over windows chosen for the output lengths ``output_size``.

    Window i of an axis goes from floor(i * length / size) to ceil((i + 1) * length / size). Takes ``x``, also (C, D, H,
    W). The call checks ``output_size``.

    Args:
        output_size: the lengths of the output, an int above 0 for all or a tuple of three; None in it keeps an axis.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_avg_pool3d(x, self.output_size)


class AdaptiveMaxPool1d(_Adaptive):
    """Maxima of (N, C, L) in windows chosen for the output length ``output_size``.

    Window i goes from floor(i * L / output_size) to ceil((i + 1) * L / output_size). Takes ``x`` and returns (N, C,
    output_size).

    Args:
        output_size: the length of the output, an int above 0.

    Raises:
        TypeError: it is not an int.
        ValueError: it is not above 0.
    """

    def __init__(self, output_size: int) -> None:
        super().__init__(check_positive_int(output_size, "AdaptiveMaxPool1d", "output_size"))

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_max_pool1d(x, self.output_size)


class _AdaptiveLargest(_Adaptive):
    def __init__(self, output_size: int | Sequence[int | None] | None, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool2d(_AdaptiveLargest):
    """Maxima of (N, C, H, W) in windows chosen for the output lengths ``output_size``.

    Windows are those of ``AdaptiveAvgPool2d``. Takes ``x``, also (C, H, W), and returns a Tensor, or with
    ``return_indices`` a pair. The call checks ``output_size``.

    Args:
        output_size: the lengths of the output, an int above 0 for both or a tuple of two; None in it keeps an axis.
        return_indices: whether to also return the positions of the elements, int64 indices into the flattened image.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.adaptive_max_pool2d(x, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveLargest):
    """Maxima of (N, C, D, H, W) in windows chosen for the output lengths ``output_size``.

    Windows are those of ``AdaptiveAvgPool3d``. Takes ``x``, also (C, D, H, W), and returns a Tensor, or with
    ``return_indices`` a pair. The call checks ``output_size``.

    Args:
        output_size: the lengths of the output, an int above 0 for all or a tuple of three; None in it keeps an axis.
        return_indices: whether to also return the positions of the elements, int64 indices into the flattened volume.
    """

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return ops.adaptive_max_pool3d(x, self.output_size, self.return_indices)


class LPPool1d(Cell):
    """(sum of x ** norm_type) ** (1 / norm_type) of each window of (N, C, L) or (C, L), with the sign of the sum.

    Takes ``x`` and returns a Tensor (N, C, OL). The call checks the windows.

    Args:
        norm_type: the exponent p, a number other than 0.
        kernel_size: the length of a window, an int above 0.
        stride: the step between windows; None means ``kernel_size``.
        ceil_mode: whether to include a last, partial window.

    Raises:
        TypeError: ``norm_type`` is not a number.
    """

    def __init__(
        self, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        check_type(norm_type, int | float, type(self).__name__, "norm_type", "a number")
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool1d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(LPPool1d):
    """(sum of x ** norm_type) ** (1 / norm_type) of each window of (N, C, H, W) or (C, H, W), with the sign of the sum.

    Takes ``x`` and returns a Tensor (N, C, OH, OW). The call checks the windows.

    Args:
        norm_type: the exponent p, a number other than 0.
        kernel_size: the window's lengths, an int above 0 for both axes or one for each.
        stride: the step between windows, an int or one for each axis; None means ``kernel_size``.
        ceil_mode: whether to include a last, partial window.

    Raises:
        TypeError: ``norm_type`` is not a number.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.lp_pool2d(x, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)


class _Unpool(Cell):
    """Elements put back to the positions of the maxima of a max pooling.

    Args:
        kernel_size: the window's lengths, an int above 0 for all axes or one for each.
        stride: the step between windows, an int or one for each axis; None means ``kernel_size``.
        padding: the padding of the pooling, an int from 0 on or one for each axis.
    """

    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding


@explained_by(_Unpool)
class MaxUnpool1d(_Unpool):
    """Elements (N, C, L) or (C, L) put back to the positions ``indices`` of the maxima; 0 elsewhere."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the elements at their positions.

        Args:
            x: the elements, floating.
            indices: their positions in the flattened axes after C of the output, integers of the shape of ``x``; of two
                elements for one position the last is kept.
            output_size: the lengths of the output, or its full shape; None for the smallest of such a pooling.

        Returns:
            A Tensor of the dtype of ``x``.

        Raises:
            ValueError: ``indices`` of the wrong shape, or out of range.
        """
        return ops.max_unpool1d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


@explained_by(_Unpool)
class MaxUnpool2d(_Unpool):
    """Elements (N, C, H, W) or (C, H, W) put back to the positions ``indices`` of the maxima; 0 elsewhere."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the elements at their positions.

        Args:
            x: the elements, floating.
            indices: their positions in the flattened axes after C of the output, integers of the shape of ``x``; of two
                elements for one position the last is kept.
            output_size: the lengths of the output, or its full shape; None for the smallest of such a pooling.

        Returns:
            A Tensor of the dtype of ``x``.

        Raises:
            ValueError: ``indices`` of the wrong shape, or out of range.
        """
        return ops.max_unpool2d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


@explained_by(_Unpool)
class MaxUnpool3d(_Unpool):
    """Elements (N, C, D, H, W) or (C, D, H, W) put back to the positions ``indices`` of the maxima; 0 elsewhere."""

    def construct(self, x: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Return the elements at their positions.

        Args:
            x: the elements, floating.
            indices: their positions in the flattened axes after C of the output, integers of the shape of ``x``; of two
                elements for one position the last is kept.
            output_size: the lengths of the output, or its full shape; None for the smallest of such a pooling.

        Returns:
            A Tensor of the dtype of ``x``.

        Raises:
            ValueError: ``indices`` of the wrong shape, or out of range.
        """
        return ops.max_unpool3d(x, indices, self.kernel_size, self.stride, self.padding, output_size)


class FractionalMaxPool2d(Cell):
    """Maxima of (N, C, H, W) in windows with pseudorandom positions (Graham 2014).

    Takes ``input``, also (C, H, W), and returns a Tensor, or with ``return_indices`` a pair. The call raises ValueError
    if neither ``output_size`` nor ``output_ratio`` is given, and if the windows do not fit.

    Args:
        kernel_size: the window's lengths, an int above 0 for both axes or one for each.
        output_size: the lengths of the output, an int above 0 or one for each axis.
        output_ratio: if ``output_size`` is None, the lengths of the output as fractions of those of the input, a float
            in (0, 1) or one for each axis.
        return_indices: whether to also return the positions of the elements, int64 indices into the flattened image.
        _random_samples: numbers in [0, 1) that determine the start of windows, see ``ops.fractional_max_pool2d``; drawn
            at each call without it.
    """

    _axes = 2

    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.arguments = (kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def construct(self, input: Tensor) -> Any:
        function = ops.fractional_max_pool2d if self._axes == 2 else ops.fractional_max_pool3d
        return function(input, *self.arguments)


class FractionalMaxPool3d(FractionalMaxPool2d):
    """Maxima of (N, C, D, H, W) in windows with pseudorandom positions (Graham 2014).

    Takes ``input``, also (C, D, H, W), and returns a Tensor, or with ``return_indices`` a pair. The call raises
    ValueError if neither ``output_size`` nor ``output_ratio`` is given, and if the windows do not fit.

    Args:
        kernel_size: the window's lengths, an int above 0 for all axes or one for each.
        output_size: the lengths of the output, an int above 0 or one for each axis.
        output_ratio: if ``output_size`` is None, the lengths of the output as fractions of those of the input, a float
            in (0, 1) or one for each axis.
        return_indices: whether to also return the positions of the elements, int64 indices into the flattened volume.
        _random_samples: numbers in [0, 1) that determine the start of windows, see ``ops.fractional_max_pool3d``; drawn
            at each call without it.
    """

    _axes = 3
