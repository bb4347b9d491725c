"""Normalisation layers."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..dtype import DType, float32
from ..initializer import initializer
from ..parameter import Parameter
from ..tensor import Tensor
from ._checks import check_positive_int
from .cell import Cell

__all__ = ["BatchNorm1d", "BatchNorm2d", "LayerNorm"]


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
        self.eps, self.momentum, self.use_batch_statistics = eps, momentum, use_batch_statistics
        shape = (num_features,)
        self.moving_mean = Parameter(initializer(moving_mean_init, shape, dtype), "mean", requires_grad=False)
        self.moving_variance = Parameter(initializer(moving_var_init, shape, dtype), "variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, shape, dtype), "gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, shape, dtype), "beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Tensor:
        """x (N, num_features, ...) normalised."""
        if x.ndim not in self._axes:
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
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
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
            f"begin_params_axis={self.begin_params_axis}, gamma={self.gamma}, beta={self.beta}"
        )
