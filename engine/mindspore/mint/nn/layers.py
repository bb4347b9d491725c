"""Layers of ``mindspore.mint.nn`` with parameters, with PyTorch's initial values: uniform in 1 / sqrt(fan_in)."""

from __future__ import annotations

import math
from typing import Any

from .... import ops
from ....base.argument_checks import check_int, check_number, check_positive_int, check_real, check_type
from ....base.types import DTypeLike, Ints
from ....nn.cell import Cell
from ....nn.layers.normalization import moments_of_ranks
from ....ops.arguments import ints_of
from ....ops.collectives import member
from ....tape.tape import no_recording
from ....tensors.dtype import float32, int64
from ....tensors.initializer import HeUniform, Initializer, Normal, Uniform, initializer
from ....tensors.parameter import Parameter
from ....tensors.tensor import Tensor
from . import functional as F  # noqa: N812

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose2d",
    "Dropout",
    "Dropout2d",
    "Embedding",
    "GroupNorm",
    "LayerNorm",
    "Linear",
    "PReLU",
    "SyncBatchNorm",
]


def _first(
    shape: tuple[int, ...], dtype: DTypeLike | None, init: Initializer | str | float | Tensor | None = None
) -> Tensor:
    """Return PyTorch's initial values of a weight."""
    return initializer(HeUniform(math.sqrt(5)) if init is None else init, shape, dtype or float32)


def _bias(
    count: int, inputs: int, dtype: DTypeLike | None, init: Initializer | str | float | Tensor | None = None
) -> Parameter:
    """Return a layer's bias, drawn from a range that narrows with the number of inputs per output."""
    init = Uniform(1 / math.sqrt(inputs)) if init is None else init
    return Parameter(initializer(init, (count,), dtype or float32), "bias")


class Linear(Cell):
    """y = x @ weight.T + bias along the last axis.

    Args:
        in_features: the length of the last axis of the input.
        out_features: that of the output.
        bias: whether to add a bias.
        weight_init: the initial values of the weight, in a form for ``initializer``; None is uniform with the bound 1 /
            sqrt(in_features).
        bias_init: the same for the bias.
        dtype: the element type of the Parameters; None is Float32.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: Initializer | str | float | Tensor | None = None,
        bias_init: Initializer | str | float | Tensor | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_first((out_features, in_features), dtype, weight_init), "weight")
        self.bias = _bias(out_features, in_features, dtype, bias_init) if bias else None

    def construct(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extend_repr(self) -> str:
        text = f"input_features={self.in_features}, output_features={self.out_features}"
        return text if self.bias is None else f"{text}, has_bias=True"


class _Conv(Cell):
    axes = 2
    function = "conv2d"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints | str = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        prefix = f"For 'mint.nn.{type(self).__name__}'"
        modes = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}
        if not isinstance(padding_mode, str) or padding_mode not in modes:
            raise ValueError(f"{prefix}, 'padding_mode' must be one of {sorted(modes)}, but got {padding_mode!r}")
        for argument, count in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            check_positive_int(count, f"mint.nn.{type(self).__name__}", argument)
        if in_channels % groups or out_channels % groups:
            raise ValueError(f"{prefix}, 'groups' {groups} must divide {in_channels} and {out_channels} channels")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = self._each(kernel_size, "kernel_size")
        self.stride, self.dilation = self._each(stride, "stride"), self._each(dilation, "dilation")
        self.padding = padding if isinstance(padding, str) else self._each(padding, "padding")
        self.padding_mode, self._mode = padding_mode, modes[padding_mode]
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(_first(shape, dtype), "weight")
        self.bias = _bias(out_channels, math.prod(shape[1:]), dtype) if bias else None

    def _each(self, value: Ints, argument: str) -> tuple[int, ...]:
        description = "an int or a tuple of ints"
        sizes = check_type(value, int | tuple | list, f"mint.nn.{type(self).__name__}", argument, description)
        return (sizes,) * self.axes if isinstance(sizes, int) else tuple(sizes)

    def construct(self, input: Tensor) -> Tensor:
        padding: Any = self.padding
        if self._mode != "constant":
            pads = self._around()
            input, padding = F.pad(input, pads, self._mode), 0
        is_vector = self.axes == 1
        numbers = [value[0] if is_vector else value for value in (self.stride, self.dilation)]
        if not isinstance(padding, str) and padding != 0:
            padding = padding[0] if is_vector else padding
        return getattr(F, self.function)(input, self.weight, self.bias, numbers[0], padding, numbers[1], self.groups)

    def _around(self) -> tuple[int, ...]:
        """Return the padding of the ends of each axis, the last one first."""
        ends: list[int] = []
        for axis in reversed(range(self.axes)):
            if self.padding == "valid":
                low = high = 0
            elif isinstance(self.padding, str):
                total = self.dilation[axis] * (self.kernel_size[axis] - 1)
                low, high = total // 2, total - total // 2
            else:
                low = high = self.padding[axis]
            ends += [low, high]
        return tuple(ends)

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, padding={self.padding}, dilation={self.dilation}, groups={self.groups}, "
            f"bias={self.bias is not None}"
        )


class Conv1d(_Conv):
    """Cross-correlation along one axis of (N, C, L), with a bias.

    Args:
        in_channels: the channels of the input.
        out_channels: those of the output.
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride.
        padding: the padding of both ends of each axis: a number, one for each, "same" or "valid".
        dilation: the spacing of the elements of a window.
        groups: the number of groups of channels, each convolved separately.
        bias: whether to add a bias.
        padding_mode: the values of the padding: "zeros", "reflect", "replicate" or "circular".
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        ValueError: an unknown ``padding_mode``, or ``groups`` does not divide the channels.
    """

    axes, function = 1, "conv1d"


class Conv2d(_Conv):
    """Cross-correlation along two axes of (N, C, H, W), with a bias.

    Args:
        in_channels: the channels of the input.
        out_channels: those of the output.
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride.
        padding: the padding of both ends of each axis: a number, one for each, "same" or "valid".
        dilation: the spacing of the elements of a window.
        groups: the number of groups of channels, each convolved separately.
        bias: whether to add a bias.
        padding_mode: the values of the padding: "zeros", "reflect", "replicate" or "circular".
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        ValueError: an unknown ``padding_mode``, or ``groups`` does not divide the channels.
    """


class Conv3d(_Conv):
    """Cross-correlation along three axes of (N, C, D, H, W), with a bias.

    Args:
        in_channels: the channels of the input.
        out_channels: those of the output.
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride.
        padding: the padding of both ends of each axis: a number, one for each, "same" or "valid".
        dilation: the spacing of the elements of a window.
        groups: the number of groups of channels, each convolved separately.
        bias: whether to add a bias.
        padding_mode: the values of the padding: "zeros", "reflect", "replicate" or "circular".
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        ValueError: an unknown ``padding_mode``, or ``groups`` does not divide the channels.
    """

    axes, function = 3, "conv3d"


class ConvTranspose2d(Cell):
    """The transposed convolution of (N, C, H, W), the adjoint of ``Conv2d``.

    The weight is (in, out / groups, *size).

    Args:
        in_channels: the channels of the input.
        out_channels: those of the output.
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride of the windows in the output.
        padding: the number of elements cut off at both ends of each axis.
        output_padding: the number of elements added at one end of each axis.
        groups: the number of groups of channels.
        bias: whether to add a bias.
        dilation: the spacing of the elements of a window.
        padding_mode: must be "zeros".
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        ValueError: an unknown ``padding_mode``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Ints = 1,
        padding_mode: str = "zeros",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f"For 'mint.nn.ConvTranspose2d', 'padding_mode' must be 'zeros', but got {padding_mode!r}")
        name = "mint.nn.ConvTranspose2d"
        for argument, count in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            check_positive_int(count, name, argument)
        sides = ints_of(kernel_size, name, "kernel_size")
        kernel = sides * 2 if len(sides) == 1 else sides
        self.settings = (stride, padding, output_padding, groups, dilation)
        shape = (in_channels, out_channels // groups, *kernel)
        self.weight = Parameter(_first(shape, dtype), "weight")
        self.bias = _bias(out_channels, math.prod(shape[1:]), dtype) if bias else None

    def construct(self, input: Tensor) -> Tensor:
        return F.conv_transpose2d(input, self.weight, self.bias, *self.settings)


def _buffer(value: Tensor, name: str) -> Parameter:
    """Return a Parameter that is saved in checkpoints but not trained."""
    return Parameter(value, name, requires_grad=False)


class _BatchNorm(Cell):
    ranks: tuple[int, ...] = (4,)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        name = f"mint.nn.{type(self).__name__}"
        check_number(eps, name, "eps", within=(0, math.inf))
        if momentum is not None:
            check_number(momentum, name, "momentum")
        dtype = dtype or float32
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(initializer("ones", (num_features,), dtype), "weight") if affine else None
        self.bias = Parameter(initializer("zeros", (num_features,), dtype), "bias") if affine else None
        if track_running_stats:
            self.running_mean: Any = _buffer(initializer("zeros", (num_features,), dtype), "running_mean")
            self.running_var: Any = _buffer(initializer("ones", (num_features,), dtype), "running_var")
            self.num_batches_tracked: Any = _buffer(Tensor(0, int64), "num_batches_tracked")
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(self, name, None)

    def construct(self, input: Tensor) -> Tensor:
        if check_type(input, Tensor, f"mint.nn.{type(self).__name__}", "input").ndim not in self.ranks:
            raise ValueError(
                f"For 'mint.nn.{type(self).__name__}', the input must have {' or '.join(map(str, self.ranks))} axes, "
                f"but its shape is {input.shape}"
            )
        axes = tuple(axis for axis in range(input.ndim) if axis != 1)
        shape = (1, -1, *(1,) * (input.ndim - 2))
        if self.training or not self.track_running_stats:
            mean, variance, count = self._moments(input, axes)
            if self.training and self.track_running_stats:
                self._track(mean, variance, count)
        else:
            mean, variance = self.running_mean, self.running_var
        normalized = (input - mean.reshape(shape)) / ops.sqrt(variance.reshape(shape) + self.eps)
        if self.weight is None or self.bias is None:
            return normalized
        return normalized * self.weight.reshape(shape) + self.bias.reshape(shape)

    def _moments(self, input: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor, int]:
        """Return the batch's mean and biased variance by channel, and the number of elements of each."""
        return ops.mean(input, axes), ops.var(input, axes, 0), input.size // input.shape[1]

    def _track(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Move the running statistics towards the batch's biased ones."""
        with no_recording():
            self.num_batches_tracked.assign_value(self.num_batches_tracked + 1)
            share = 1 / float(self.num_batches_tracked.item()) if self.momentum is None else self.momentum
            unbiased = variance * (count / max(count - 1, 1))
            for running, new in ((self.running_mean, mean), (self.running_var, unbiased)):
                running.assign_value(running * (1 - share) + new * share)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel of (N, C) or (N, C, L) (Ioffe, Szegedy 2015).

    Args:
        num_features: the number of channels C.
        eps: added to the variance.
        momentum: the weight of each batch in the running statistics; None averages all batches.
        affine: whether to learn a factor and bias for each channel.
        track_running_stats: whether running statistics are tracked, and used outside of training; else each batch's own
            are used always.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: ``eps`` or ``momentum`` is not a number.
        ValueError: ``eps`` is negative.
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel of (N, C, H, W) (Ioffe and Szegedy 2015).

    Args:
        num_features: the number of channels C.
        eps: added to the variance.
        momentum: the weight of each batch in the running statistics; None averages all batches.
        affine: whether to learn a factor and bias for each channel.
        track_running_stats: whether running statistics are tracked, and used outside of training; else each batch's own
            are used always.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: ``eps`` or ``momentum`` is not a number.
        ValueError: ``eps`` is negative.
    """


class BatchNorm3d(_BatchNorm):
    """(x - mean) / sqrt(variance + eps) * weight + bias for each channel of (N, C, D, H, W) (Ioffe and Szegedy 2015).

    Args:
        num_features: the number of channels C.
        eps: added to the variance.
        momentum: the weight of each batch in the running statistics; None averages all batches.
        affine: whether to learn a factor and bias for each channel.
        track_running_stats: whether running statistics are tracked, and used outside of training; else each batch's own
            are used always.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: ``eps`` or ``momentum`` is not a number.
        ValueError: ``eps`` is negative.
    """

    ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization by the statistics of all ranks' batches in training; ``BatchNorm`` in one process.

    Accepts 2 to 5 axes; the first may differ in length between the ranks.

    Args:
        num_features: the number of channels C.
        eps: added to the variance.
        momentum: the weight of each batch in the running statistics; None averages all batches.
        affine: whether to learn a factor and bias for each channel.
        track_running_stats: whether running statistics are tracked, and used outside of training; else each batch's own
            are used always.
        process_group: the name of a group of ranks; None for all.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: ``eps`` or ``momentum`` is not a number.
        ValueError: ``eps`` is negative.
    """

    ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.__dict__["_ranks"] = member("mint.nn.SyncBatchNorm", process_group)

    def _moments(self, input: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor, int]:
        group = self.__dict__["_ranks"]
        if group.size == 1 or not self.training:
            return super()._moments(input, axes)
        return moments_of_ranks(input, group)


class LayerNorm(Cell):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axes (Ba et al. 2016).

    Args:
        normalized_shape: the lengths of these axes: an int for one.
        eps: added to the variance.
        elementwise_affine: whether to learn a factor and bias for each position.
        bias: whether to include the bias, then.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: ``eps`` is not a number.
        ValueError: ``eps`` is negative.
    """

    def __init__(
        self,
        normalized_shape: Ints,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        check_number(eps, "mint.nn.LayerNorm", "eps", within=(0, math.inf))
        shape = ints_of(normalized_shape, "mint.nn.LayerNorm", "normalized_shape")
        self.normalized_shape, self.eps = shape, eps
        scale, shift = (initializer(init, shape, dtype or float32) for init in ("ones", "zeros"))
        self.weight = Parameter(scale, "weight") if elementwise_affine else None
        self.bias = Parameter(shift, "bias") if elementwise_affine and bias else None

    def construct(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(Cell):
    """(x - mean) / sqrt(variance + eps) * weight + bias over groups of channels (Wu and He 2018).

    Args:
        num_groups: the number of groups, a divisor of ``num_channels``.
        num_channels: the number of channels, the second axis.
        eps: added to the variance.
        affine: whether the factor and the bias for each channel are trained; they are Parameters in any case.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        TypeError: ``eps`` is not a number.
        ValueError: the groups do not divide the channels, or ``eps`` is negative.
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__()
        check_number(eps, "mint.nn.GroupNorm", "eps", within=(0, math.inf))
        for argument, count in (("num_groups", num_groups), ("num_channels", num_channels)):
            check_positive_int(count, "mint.nn.GroupNorm", argument)
        if num_channels % num_groups:
            raise ValueError(f"For 'mint.nn.GroupNorm', {num_groups} groups must divide {num_channels} channels")
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        scale, shift = (initializer(init, (num_channels,), dtype or float32) for init in ("ones", "zeros"))
        self.weight, self.bias = Parameter(scale, "weight", affine), Parameter(shift, "bias", affine)

    def construct(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class PReLU(Cell):
    """x above 0, weight * x elsewhere, with a learned weight (He et al. 2015).

    Args:
        num_parameters: 1 for one weight, or one for each channel, the second axis.
        init: the initial value of the weight.
        dtype: the element type of the Parameters; None is Float32.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: DTypeLike | None = None) -> None:
        super().__init__()
        self.weight = Parameter(initializer(init, (num_parameters,), dtype or float32), "weight")

    def construct(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class Embedding(Cell):
    """A row of a learned table for each index; the table is initialized from the standard normal distribution.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.
        padding_idx: the row that is initialized with zeros and gets no gradient, in [-num_embeddings, num_embeddings);
            None for none.
        max_norm: selected rows longer than this are first shortened to it, in the table itself; None shortens none.
        norm_type: the p of the p-norm for ``max_norm``.
        scale_grad_by_freq: must be False when the layer is called.
        sparse: must be False.
        _weight: the initial values of the table; None draws them.
        _freeze: whether to exclude the table from training.
        dtype: the element type of the Parameters; None is Float32.

    Raises:
        ValueError: ``padding_idx`` is out of range, ``sparse`` is not False, or ``_weight`` has the wrong shape.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        name, count = "mint.nn.Embedding", num_embeddings
        if padding_idx is not None and not -count <= check_int(padding_idx, name, "padding_idx") < count:
            raise ValueError(
                f"For 'mint.nn.Embedding', 'padding_idx' must be in [{-num_embeddings}, {num_embeddings}), "
                f"but got {padding_idx}"
            )
        if sparse:
            raise ValueError("For 'mint.nn.Embedding', 'sparse' must be False: gradients are dense")
        filled_with = Normal(1.0) if _weight is None else _weight
        first = initializer(filled_with, (num_embeddings, embedding_dim), dtype or float32)
        if padding_idx is not None and _weight is None:
            first[padding_idx] = 0
        self.weight = Parameter(first, "weight", requires_grad=not _freeze)
        self.options = (padding_idx, max_norm, norm_type, scale_grad_by_freq)

    def construct(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, *self.options)


class Dropout(Cell):
    """Sets elements to 0 with probability ``p`` in training, multiplies others by 1 / (1 - p) (Srivastava et al. 2014).

    Args:
        p: the probability to be dropped, from 0 to 1.
        inplace: whether to write the result into the input.

    Raises:
        ValueError: ``p`` is out of range.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= check_real(p, f"mint.nn.{type(self).__name__}", "p") <= 1:
            raise ValueError(f"For 'mint.nn.{type(self).__name__}', 'p' must be from 0 to 1, but got {p}")
        self.p, self.inplace = p, inplace

    def construct(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout2d(Dropout):
    """Sets whole channels of (N, C, H, W) to 0 with probability ``p`` in training, multiplies others by 1 / (1 - p).

    Args:
        p: the probability to be dropped, from 0 to 1.
        inplace: whether to write the result into the input.

    Raises:
        ValueError: ``p`` is out of range.
    """

    def construct(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)
