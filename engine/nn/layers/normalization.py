"""Normalization layers: over a batch, over features, over groups of channels, over a sample, over neighbors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_bool, check_int, check_number, check_positive_int, check_type
from ...base.types import Ints
from ...distributed.world import Group, create_group, world
from ...ops.arguments import ints_of
from ...ops.neural.convolution import check_format
from ...ops.neural.normalization import group_normalized, instance_normalized
from ...tape.tape import no_recording
from ...tensors.dtype import DType, bfloat16, float16, float32
from ...tensors.initializer import InitLike, initializer
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from .._documentation import explained_by
from ..cell import Cell

__all__ = [
    "LRN",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LayerNormExt",
    "SyncBatchNorm",
]


class _BatchNorm(Cell):
    """Base of batch normalization layers.

    Args:
        num_features: channels C, an int above 0.
        eps: added to the variance.
        momentum: the weight of the old running statistics, in [0, 1]: new = momentum * old + (1 - momentum) * batch.
        affine: whether ``gamma`` and ``beta`` are trained; otherwise they keep their initial values.
        gamma_init: initial values of the factor ``gamma`` (C,): an initializer, its name, a number or a Tensor.
        beta_init: initial values of the offset ``beta`` (C,), likewise.
        moving_mean_init: initial values of the running mean (C,), likewise.
        moving_var_init: initial values of the running variance (C,), likewise.
        use_batch_statistics: True to normalize by the batch's statistics in any mode, False by the running ones;
            None by the mode, which ``set_train`` sets.
        process_groups: groups of ranks that share their statistics: lists of their numbers; this rank is in exactly
            one; None for all. All ranks of a group must create the cell.
        data_format: "NCHW", the only order of axes.
        dtype: element type of the parameters.

    Raises:
        TypeError: ``num_features`` is not an int, ``eps`` or ``momentum`` is not a number, or ``affine`` is not a bool.
        ValueError: an argument out of range, or ``use_batch_statistics`` is neither a bool nor None; the text names it.
    """

    _axes: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: InitLike = "ones",
        beta_init: InitLike = "zeros",
        moving_mean_init: InitLike = "zeros",
        moving_var_init: InitLike = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.num_features = check_positive_int(num_features, name, "num_features")
        check_number(eps, name, "eps", within=(0, math.inf))
        check_number(momentum, name, "momentum", within=(0, 1))
        check_bool(affine, name, "affine")
        check_format(data_format, "NCHW", name)
        if use_batch_statistics not in (None, True, False):
            raise ValueError(
                f"For '{name}', 'use_batch_statistics' must be a bool or None, but got {use_batch_statistics!r}"
            )
        # As in MindSpore, the attribute is the weight of the batch's statistics.
        self.eps, self.momentum, self.use_batch_statistics = eps, 1.0 - momentum, use_batch_statistics
        self.format = data_format
        self.gamma_init, self.beta_init = gamma_init, beta_init
        self.moving_mean_init, self.moving_var_init = moving_mean_init, moving_var_init
        shape = (num_features,)
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        """Return the normalized input; in training update the running statistics (unbiased variance).

        Args:
            x: a floating Tensor (N, C, ...).

        Returns:
            A Tensor of the shape and dtype of ``x``.

        Raises:
            ValueError: the wrong number of axes or channels.
        """
        check_type(x, Tensor, type(self).__name__, "x")
        if self._axes and x.ndim not in self._axes:
            raise ValueError(
                f"For '{type(self).__name__}', the input must have {' or '.join(map(str, self._axes))} axes, "
                f"but got shape {x.shape}"
            )
        return self._normalized(x, self.training if self.use_batch_statistics is None else self.use_batch_statistics)

    def _normalized(self, x: Tensor, training: bool) -> Tensor:
        return ops.batch_norm(
            x, self.moving_mean, self.moving_variance, self.gamma, self.beta, training, self.momentum, self.eps
        )

    @cached_property
    def bn_train(self) -> ops.Primitive:
        """Operator that normalizes by the batch's statistics, for a subclass with its own ``construct``.

        It takes ``x``, gamma, beta, the running mean and variance, which it updates; its first result is the output.
        """
        return ops.BatchNorm(True, self.eps, self.momentum, self.format)

    @cached_property
    def bn_infer(self) -> ops.Primitive:
        """Operator that normalizes by the running statistics, likewise."""
        return ops.BatchNorm(False, self.eps, data_format=self.format)

    @cached_property
    def shape(self) -> ops.Primitive:
        """Operator for the shape of a tensor, for such a subclass."""
        return ops.Shape()

    @cached_property
    def reshape(self) -> ops.Primitive:
        """Operator that reshapes a tensor, for such a subclass."""
        return ops.Reshape()

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


@explained_by(_BatchNorm)
class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L): (x - mean) / sqrt(var + eps) * gamma + beta (Ioffe, Szegedy 2015)."""

    _axes = (2, 3)


@explained_by(_BatchNorm)
class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W): (x - mean) / sqrt(var + eps) * gamma + beta (Ioffe, Szegedy 2015)."""

    _axes = (4,)


@explained_by(_BatchNorm)
class BatchNorm3d(Cell):
    """Batch normalization of (N, C, D, H, W): (x - mean) / sqrt(var + eps) * gamma + beta.

    As in MindSpore it contains a ``BatchNorm2d``, named ``bn2d``. The call raises ValueError for the wrong number of
    axes.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: InitLike = "ones",
        beta_init: InitLike = "zeros",
        moving_mean_init: InitLike = "zeros",
        moving_var_init: InitLike = "ones",
        use_batch_statistics: bool | None = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        settings = (beta_init, moving_mean_init, moving_var_init, use_batch_statistics)
        self.bn2d = BatchNorm2d(num_features, eps, momentum, affine, gamma_init, *settings, dtype=dtype)

    def construct(self, x: Tensor) -> Tensor:
        if check_type(x, Tensor, "BatchNorm3d", "x").ndim != 5:
            raise ValueError(f"For 'BatchNorm3d', the input must have 5 axes, but got shape {x.shape}")
        n, c, d, h, w = x.shape
        return ops.reshape(self.bn2d(ops.reshape(x, (n, c, d * h, w))), x.shape)


@explained_by(_BatchNorm)
class SyncBatchNorm(_BatchNorm):
    """Batch normalization by the statistics of all ranks' batches: in one process ``BatchNorm``.

    Takes (N, C) or (N, C, H, W); N may differ between the ranks.
    """

    _axes = (2, 4)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: InitLike = "ones",
        beta_init: InitLike = "zeros",
        moving_mean_init: InitLike = "zeros",
        moving_var_init: InitLike = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Sequence[Any] | None = None,
        dtype: DType = float32,
    ) -> None:
        statistics = (moving_mean_init, moving_var_init, use_batch_statistics)
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, *statistics, dtype=dtype)
        self.process_groups = process_groups
        self.__dict__["_ranks"] = _sharing(process_groups)

    def _normalized(self, x: Tensor, training: bool) -> Tensor:
        group: Group = self.__dict__["_ranks"]
        if group.size == 1 or not training:
            return super()._normalized(x, training)
        shape = (1, x.shape[1], *[1] * (x.ndim - 2))
        wide = ops.cast(x, float32) if x.dtype in (float16, bfloat16) else x
        mean, variance, count = moments_of_ranks(wide, group)
        with no_recording():
            unbiased = variance * (count / max(count - 1, 1))
            for parameter, statistic in ((self.moving_mean, mean), (self.moving_variance, unbiased)):
                running = parameter * (1.0 - self.momentum) + ops.cast(statistic, parameter.dtype) * self.momentum
                parameter.set_data(ops.cast(running, parameter.dtype))
        factor = ops.reshape(ops.rsqrt(variance + self.eps) * self.gamma, shape)
        return ops.cast((wide - ops.reshape(mean, shape)) * factor + ops.reshape(self.beta, shape), x.dtype)


def moments_of_ranks(x: Tensor, group: Group) -> tuple[Tensor, Tensor, int]:
    """Return mean and variance of each channel over the batches of all ranks, with gradients.

    Args:
        x: the batch of this rank, a Tensor (N, C, ...); N may differ between the ranks.
        group: the ranks.

    Returns:
        The mean (C,), the biased variance (C,), and the number of elements.
    """
    all_reduce, axes = ops.AllReduce("sum", group.name), (0, *range(2, x.ndim))
    count = int(all_reduce(Tensor(np.array(x.size // x.shape[1], np.int64))).asnumpy())
    mean = all_reduce(x.sum(axes)) / count
    deviations = x - ops.reshape(mean, (1, x.shape[1], *[1] * (x.ndim - 2)))
    return mean, all_reduce((deviations * deviations).sum(axes)) / count, count


def _sharing(process_groups: Any) -> Group:
    """Return the group of ranks that share statistics with this one."""
    layer, all_ranks = "SyncBatchNorm", world().everybody
    if process_groups is None:
        return all_ranks
    if not isinstance(process_groups, list | tuple) or not all(isinstance(ranks, list) for ranks in process_groups):
        raise TypeError(f"For '{layer}', 'process_groups' must be a list of lists of ranks, but got {process_groups!r}")
    groups_of_rank = [sorted(ranks) for ranks in process_groups if all_ranks.rank in ranks]
    if len(groups_of_rank) != 1 or not {*groups_of_rank[0]}.issubset(all_ranks.ranks):
        raise ValueError(
            f"For '{layer}', 'process_groups' must have rank {all_ranks.rank} in one list, of ranks from 0 to "
            f"{all_ranks.size - 1}, but got {process_groups!r}"
        )
    name = f"SyncBatchNorm {groups_of_rank[0]}"
    return world().groups.get(name) or create_group(name, groups_of_rank[0])


class LayerNorm(Cell):
    """(x - mean) / sqrt(var + epsilon) * gamma + beta over the last axes of each sample (Ba et al. 2016).

    Takes ``x``, a floating Tensor, and returns one of the same shape and dtype.

    Args:
        normalized_shape: the lengths of the axes of gamma and beta, a tuple or list; they must be the last of
            the input.
        begin_norm_axis: the first axis of mean and variance.
        begin_params_axis: stored, unused: the first axis of gamma and beta, which follows from ``normalized_shape``.
        gamma_init: initial values of the factor ``gamma``: an initializer, its name, a number or a Tensor.
        beta_init: initial values of the offset ``beta``, likewise.
        epsilon: added to the variance.
        dtype: element type of the parameters.

    Raises:
        TypeError: ``normalized_shape`` is not a tuple or list, ``epsilon`` is not a number, or an axis is not an int.
        ValueError: ``normalized_shape`` is empty, or ``epsilon`` is negative.
    """

    def __init__(
        self,
        normalized_shape: Sequence[int],
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: InitLike = "ones",
        beta_init: InitLike = "zeros",
        epsilon: float = 1e-7,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        check_type(normalized_shape, tuple | list, "LayerNorm", "normalized_shape", "a tuple or list")
        if not normalized_shape:
            raise ValueError("For 'LayerNorm', 'normalized_shape' must not be empty")
        check_number(epsilon, "LayerNorm", "epsilon", within=(0, math.inf))
        check_int(begin_norm_axis, "LayerNorm", "begin_norm_axis")
        check_int(begin_params_axis, "LayerNorm", "begin_params_axis")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = (begin_norm_axis, begin_params_axis, epsilon)
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), "gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), "beta")

    @cached_property
    def layer_norm(self) -> ops.Primitive:
        """The operator, for a subclass with its own ``construct``: takes ``x``, gamma and beta.

        Its three results are those of ``ops.LayerNorm``: the output, the means, the variances.
        """
        return ops.LayerNorm(self.begin_norm_axis, self.begin_params_axis, self.epsilon)

    def construct(self, x: Tensor) -> Tensor:
        check_type(x, Tensor, "LayerNorm", "x")
        if not -x.ndim <= self.begin_norm_axis < x.ndim:
            raise RuntimeError(
                f"For 'LayerNorm', 'begin_norm_axis' must be in [{-x.ndim}, {x.ndim}), but got {self.begin_norm_axis}"
            )
        first = self.begin_norm_axis % x.ndim
        if x.shape[first:] == self.normalized_shape:
            return ops.layer_norm(x, self.normalized_shape, self.gamma, self.beta, self.epsilon)
        # More axes are normalized than those of gamma and beta.
        plain = ops.layer_norm(x, x.shape[first:], None, None, self.epsilon)
        return plain * self.gamma + self.beta

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"  # sic: MindSpore's text
        )


class LayerNormExt(Cell):
    """``LayerNorm`` with PyTorch's arguments; its parameters are ``weight`` and ``bias``.

    Takes ``input``, a floating Tensor, and returns one of the same shape and dtype. The call raises ValueError if
    its last axes have other lengths.

    Args:
        normalized_shape: the lengths of the normalized last axes: an int for one axis, or a tuple or
            list.
        eps: added to the variance.
        elementwise_affine: whether there are parameters.
        bias: whether they include an offset.
        dtype: element type of the parameters; None is float32.

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
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        check_number(eps, "LayerNormExt", "eps", within=(0, math.inf))
        shape = ints_of(normalized_shape, "LayerNormExt", "normalized_shape")
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        kind = dtype or float32
        self.weight: Parameter | None = None
        self.bias: Parameter | None = None
        if elementwise_affine:
            self.weight = Parameter(initializer("ones", shape, kind), "weight")
            if bias:
                self.bias = Parameter(initializer("zeros", shape, kind), "bias")

    def construct(self, input: Tensor) -> Tensor:
        return ops.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class GroupNorm(Cell):
    """(x - mean) / sqrt(var + eps) * gamma + beta over groups of channels of each sample (Wu and He 2018).

    Takes ``x`` (N, C, ...), floating, and returns a Tensor of the same shape and dtype. The call raises ValueError for
    the wrong number of channels.

    Args:
        num_groups: number of groups, an int above 0 that divides ``num_channels``.
        num_channels: channels C, an int above 0.
        eps: added to the variance.
        affine: whether ``gamma`` and ``beta`` are trained; otherwise they keep their initial values.
        gamma_init: initial values of the factor ``gamma`` (C,): an initializer, its name, a number or a Tensor.
        beta_init: initial values of the offset ``beta`` (C,), likewise.
        dtype: element type of the parameters.

    Raises:
        TypeError: a number of channels or groups is not an int, ``eps`` is not a number, or ``affine`` is not a bool.
        ValueError: a number of channels or groups is not above 0, or does not divide; or ``eps`` is negative.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: InitLike = "ones",
        beta_init: InitLike = "zeros",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.num_groups = check_positive_int(num_groups, "GroupNorm", "num_groups")
        self.num_channels = check_positive_int(num_channels, "GroupNorm", "num_channels")
        if num_channels % num_groups:
            raise ValueError(f"For 'GroupNorm', 'num_groups' {num_groups} must divide 'num_channels' {num_channels}")
        check_number(eps, "GroupNorm", "eps", within=(0, math.inf))
        self.eps, self.affine = eps, check_bool(affine, "GroupNorm", "affine")
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        if check_type(x, Tensor, "GroupNorm", "x").ndim < 2 or x.shape[1] != self.num_channels:
            raise ValueError(
                f"For 'GroupNorm', the input must have {self.num_channels} channels (axis 1), but got shape {x.shape}"
            )
        return group_normalized(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Normalize each channel of each sample by its own statistics (Ulyanov et al. 2016).

    MindSpore also has running statistics, which only its GPU kernel uses; here they are updated in
    training with ``momentum``, but a sample is always normalized by its own.

    Args:
        num_features: channels C, an int above 0.
        eps: added to the variance.
        momentum: the weight of the batch in the running statistics, in [0, 1]: new = (1 - momentum) * old + momentum *
            batch. The output does not depend on them.
        affine: whether ``gamma`` and ``beta`` are trained; otherwise they keep their initial values.
        gamma_init: initial values of the factor ``gamma`` (C,): an initializer, its name, a number or a Tensor.
        beta_init: initial values of the offset ``beta`` (C,), likewise.
        dtype: element type of the parameters.

    Raises:
        TypeError: ``num_features`` is not an int, ``eps`` or ``momentum`` is not a number, or ``affine`` is not a bool.
        ValueError: ``num_features`` is not above 0, ``eps`` is negative, or ``momentum`` is out of range.
    """

    _axes = 4

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: InitLike = "ones",
        beta_init: InitLike = "zeros",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.num_features = check_positive_int(num_features, name, "num_features")
        check_number(eps, name, "eps", within=(0, math.inf))
        check_number(momentum, name, "momentum", within=(0, 1))
        check_bool(affine, name, "affine")
        self.eps, self.momentum, self.affine = eps, momentum, affine
        shape = (num_features,)
        self.moving_mean = Parameter(initializer("zeros", shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        check_type(x, Tensor, type(self).__name__, "x")
        if x.ndim != self._axes or x.shape[1] != self.num_features:
            raise ValueError(
                f"For '{type(self).__name__}', the input must have {self._axes} axes and {self.num_features} channels, "
                f"but got shape {x.shape}"
            )
        running = (self.moving_mean, self.moving_variance) if self.training else None
        return instance_normalized(x, self.gamma, self.beta, self.eps, running, self.momentum)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


@explained_by(_InstanceNorm)
class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of (N, C, L) normalized by its own mean and variance (Ulyanov et al. 2016).

    Returns a Tensor of the same shape and dtype. The call raises ValueError for the wrong number of axes or channels.
    """

    _axes = 3


@explained_by(_InstanceNorm)
class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of (N, C, H, W) normalized by its own mean and variance (Ulyanov et al. 2016).

    Returns a Tensor of the same shape and dtype. The call raises ValueError for the wrong number of axes or channels.
    """

    _axes = 4


@explained_by(_InstanceNorm)
class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of (N, C, D, H, W) normalized by its own mean and variance (Ulyanov et al. 2016).

    Returns a Tensor of the same shape and dtype. The call raises ValueError for the wrong number of axes or channels.
    """

    _axes = 5


class LRN(Cell):
    """x / (bias + alpha * sum of squares of neighboring channels) ** beta (Krizhevsky et al. 2012).

    Takes ``input_x`` (N, C, H, W), floating, and returns a Tensor of the same shape and dtype.

    Args:
        depth_radius: the number of neighboring channels on either side, an int from 0 on.
        bias: added to the sum.
        alpha: the factor of the sum.
        beta: the exponent.
        norm_region: must be "ACROSS_CHANNELS".

    Raises:
        TypeError: ``depth_radius`` is not an int, or another argument is not a number.
        ValueError: ``depth_radius`` is negative, or an unsupported ``norm_region``.
    """

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        for argument, value in (("bias", bias), ("alpha", alpha), ("beta", beta)):
            check_number(value, "LRN", argument)
        self.arguments = (depth_radius, bias, alpha, beta, norm_region)
        ops.lrn(Tensor([[[[0.0]]]]), *self.arguments)  # rejects bad arguments now, not at the first call

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.lrn(input_x, *self.arguments)
