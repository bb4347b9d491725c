"""Layers that measure and bound: norms, moments, sums of exponentials."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..core.tensor import Tensor
from ._checks import check_bool
from .cell import Cell

__all__ = ["ClipByNorm", "L1Regularizer", "Moments", "Norm", "ReduceLogSumExp"]


class ClipByNorm(Cell):
    """The input scaled down to the norm ``clip_norm`` over ``axis``, where it is longer."""

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor, clip_norm: Any) -> Tensor:
        length = ops.sqrt(ops.reduce_sum(x * x, self.axis, True))
        limit = clip_norm if isinstance(clip_norm, Tensor) else float(clip_norm)
        return x * limit / ops.maximum(length, limit)


class Norm(Cell):
    """The 2-norm over ``axis``."""

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "Norm", "keep_dims")

    def construct(self, x: Tensor) -> Tensor:
        return ops.sqrt(ops.reduce_sum(x * x, self.axis, self.keep_dims))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class ReduceLogSumExp(Cell):
    """log(sum(exp(x))) over ``axis``."""

    def __init__(self, axis: Any, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "ReduceLogSumExp", "keep_dims")

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsumexp(x, self.axis, self.keep_dims)


class Moments(Cell):
    """Mean and variance over ``axis``."""

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis if axis is not None else (), bool(keep_dims)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean = ops.mean(x, self.axis, True)
        apart = x - ops.stop_gradient(mean)
        variance = ops.mean(apart * apart, self.axis, self.keep_dims)
        return mean if self.keep_dims else ops.reshape(mean, variance.shape), variance


class L1Regularizer(Cell):
    """scale * sum(|x|)."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        if isinstance(scale, bool) or not isinstance(scale, int | float):
            raise TypeError(f"For 'L1Regularizer', 'scale' must be a number, but got {type(scale).__name__}")
        if scale <= 0 or not math.isfinite(scale):
            raise ValueError(f"For 'L1Regularizer', 'scale' must be above 0, but got {scale}")
        self.scale = float(scale)

    def construct(self, weights: Tensor) -> Tensor:
        return ops.reduce_sum(ops.abs(weights)) * self.scale
