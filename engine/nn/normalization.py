"""Normalisation layers: over a batch, over features, over groups of channels, over a sample, over neighbours."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..core.dtype import DType, float32
from ..core.initializer import initializer
from ..core.parameter import Parameter
from ..core.tensor import Tensor
from ..ops.normalization import group_normalized, instance_normalized
from ._checks import check_bool, check_positive_int
from .cell import Cell

__all__ = [
    "LRN", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "LayerNorm", "LayerNormExt", "SyncBatchNorm",
]  # fmt: skip


class _BatchNorm(Cell):
    """Normalise each channel by the batch's statistics in training, by the running ones in predict mode.

    Args:
        num_features: channels.
        eps: added to the variance.
        momentum: how much of the running statistics is kept: new = momentum * old + (1 - momentum) * batch.
        affine: whether gamma and beta are trained.
        gamma_init, beta_init, moving_mean_init, moving_var_init: first values.
        use_batch_statistics: True or False whatever the mode; None by the mode.
    """

    _axes: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.num_features = check_positive_int(num_features, name, "num_features")
        if not 0 <= momentum <= 1:
            raise ValueError(f"For '{name}', 'momentum' must be in [0, 1], but got {momentum}")
        if data_format != "NCHW":
            raise ValueError(f"For '{name}', 'data_format' must be 'NCHW', but got {data_format!r}")
        if use_batch_statistics is not None:
            check_bool(use_batch_statistics, name, "use_batch_statistics")
        self.eps, self.momentum, self.use_batch_statistics = eps, momentum, use_batch_statistics
        shape = (num_features,)
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        """x (N, num_features, ...) normalised."""
        if self._axes and x.ndim not in self._axes:
            raise ValueError(
                f"For '{type(self).__name__}', the input must have {' or '.join(map(str, self._axes))} axes, "
                f"but got shape {x.shape}"
            )
        training = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        return ops.batch_norm(
            x,
            self.moving_mean,
            self.moving_variance,
            self.gamma,
            self.beta,
            training,
            1 - self.momentum,
            self.eps,
        )

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    _axes = (4,)


class BatchNorm3d(Cell):
    """Batch normalisation of (N, C, D, H, W); as in MindSpore a ``BatchNorm2d`` inside, under the name ``bn2d``."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: str = "ones",
        beta_init: str = "zeros",
        moving_mean_init: str = "zeros",
        moving_var_init: str = "ones",
        use_batch_statistics: bool | None = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.bn2d = BatchNorm2d(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, dtype=dtype,
        )  # fmt: skip

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim != 5:
            raise ValueError(f"For 'BatchNorm3d', the input must have 5 axes, but got shape {x.shape}")
        n, c, d, h, w = x.shape
        return ops.reshape(self.bn2d(ops.reshape(x, (n, c, d * h, w))), x.shape)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all devices: in one process, over the batch."""

    _axes = (2, 4)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: Any = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
            use_batch_statistics, dtype=dtype,
        )  # fmt: skip
        self.process_groups = process_groups


class LayerNorm(Cell):
    """Normalise each sample over its last axes.

    Args:
        normalized_shape: the lengths of the axes that gamma and beta have.
        begin_norm_axis: the first axis that is normalised.
        begin_params_axis: the first axis that gamma and beta have.
        gamma_init, beta_init: first values.
        epsilon: added to the variance.
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: str = "ones",
        beta_init: str = "zeros",
        epsilon: float = 1e-7,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, tuple | list):
            raise TypeError(
                f"For 'LayerNorm', 'normalized_shape' must be a tuple or list, "
                f"but got {type(normalized_shape).__name__}"
            )
        if not normalized_shape:
            raise ValueError("For 'LayerNorm', 'normalized_shape' must not be empty")
        self.normalized_shape = tuple(normalized_shape)
        self.begin_norm_axis, self.begin_params_axis, self.epsilon = (
            begin_norm_axis,
            begin_params_axis,
            epsilon,
        )
        self.gamma = Parameter(initializer(gamma_init, self.normalized_shape, dtype), "gamma")
        self.beta = Parameter(initializer(beta_init, self.normalized_shape, dtype), "beta")

    def construct(self, x: Tensor) -> Tensor:
        first = self.begin_norm_axis % x.ndim
        if x.shape[first:] == self.normalized_shape:
            return ops.layer_norm(x, self.normalized_shape, self.gamma, self.beta, self.epsilon)
        # More axes are normalised than gamma and beta have.
        plain = ops.layer_norm(x, x.shape[first:], None, None, self.epsilon)
        return plain * self.gamma + self.beta

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma{self.gamma}, beta={self.beta}"  # sic: MindSpore's text
        )


class LayerNormExt(Cell):
    """``LayerNorm`` with PyTorch's arguments."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
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
    """Normalise each sample over groups of its channels (Wu and He 2018).

    Args:
        num_groups: how many groups; must divide ``num_channels``.
        num_channels: channels.
        eps: added to the variance.
        affine: whether gamma and beta are trained.
        gamma_init, beta_init: first values.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.num_groups = check_positive_int(num_groups, "GroupNorm", "num_groups")
        self.num_channels = check_positive_int(num_channels, "GroupNorm", "num_channels")
        if num_channels % num_groups:
            raise ValueError(
                f"For 'GroupNorm', 'num_groups' {num_groups} must divide 'num_channels' {num_channels}"
            )
        if not isinstance(eps, float):
            raise TypeError(f"For 'GroupNorm', 'eps' must be a float, but got {type(eps).__name__}")
        self.eps, self.affine = eps, check_bool(affine, "GroupNorm", "affine")
        self.gamma = Parameter(initializer(gamma_init, (num_channels,), dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, (num_channels,), dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ValueError(
                f"For 'GroupNorm', the input must have {self.num_channels} channels (axis 1), but got shape {x.shape}"
            )
        return group_normalized(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Normalise each channel of each sample by its own statistics.

    MindSpore keeps running statistics beside, which only its GPU kernel uses; they are kept here and updated in
    training with ``momentum``, and a sample is always normalised by its own.
    """

    _axes = 4

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: str = "ones",
        beta_init: str = "zeros",
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.num_features = check_positive_int(num_features, name, "num_features")
        if not 0 <= momentum <= 1:
            raise ValueError(f"For '{name}', 'momentum' must be in [0, 1], but got {momentum}")
        check_bool(affine, name, "affine")
        self.eps, self.momentum, self.affine = eps, momentum, affine
        shape = (num_features,)
        self.moving_mean = Parameter(initializer("zeros", shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
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


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L)."""

    _axes = 3


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W)."""

    _axes = 4


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W)."""

    _axes = 5


class LRN(Cell):
    """x / (bias + alpha * sum of the squares of 2 * depth_radius + 1 neighbouring channels) ** beta."""

    def __init__(
        self,
        depth_radius: int = 5,
        bias: float = 1.0,
        alpha: float = 1.0,
        beta: float = 0.5,
        norm_region: str = "ACROSS_CHANNELS",
    ) -> None:
        super().__init__()
        self.arguments = (depth_radius, bias, alpha, beta, norm_region)
        ops.lrn(Tensor([[[[0.0]]]]), *self.arguments)  # refuses bad arguments now, not at the first call

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.lrn(input_x, *self.arguments)
