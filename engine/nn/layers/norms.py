"""Layers for norms: clipping, norms, moments, sums of exponentials, regularization."""

from __future__ import annotations

import math

from ... import ops
from ...base.argument_checks import check_bool
from ...ops.shapes.broadcasting import through_single
from ...tensors.dtype import float32
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = ["ClipByNorm", "L1Regularizer", "Moments", "Norm", "ReduceLogSumExp"]


class ClipByNorm(Cell):
    """x * clip_norm / max(norm of x, clip_norm): x scaled down to the 2-norm ``clip_norm`` if its norm is larger.

    Args:
        axis: the axis, or a tuple of axes, of the norm; None for all.
    """

    def __init__(self, axis: int | tuple[int, ...] | list[int] | None = None) -> None:
        super().__init__()
        self.axis = axis

    @through_single
    def construct(self, x: Tensor, clip_norm: Tensor | float) -> Tensor:
        """Return ``x`` scaled to a 2-norm of at most ``clip_norm``.

        Args:
            x: a floating Tensor.
            clip_norm: the largest norm: a number, or a Tensor that broadcasts against the norms.

        Returns:
            A Tensor of the shape of ``x``.
        """
        length = ops.sqrt(ops.reduce_sum(x * x, self.axis, True))
        limit = clip_norm if isinstance(clip_norm, Tensor) else float(clip_norm)
        return x * limit / ops.maximum(length, limit)


class Norm(Cell):
    """The 2-norm sqrt(sum(x * x)) over ``axis``.

    Takes ``x``, a floating Tensor, and returns one without ``axis``, or with length 1 there.

    Args:
        axis: the axis, or a tuple of axes; () for all.
        keep_dims: whether the axes stay, with length 1.

    Raises:
        TypeError: ``keep_dims`` is not a bool.
    """

    def __init__(self, axis: int | tuple[int, ...] | list[int] = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "Norm", "keep_dims")

    @through_single
    def construct(self, x: Tensor) -> Tensor:
        return ops.sqrt(ops.reduce_sum(x * x, self.axis, self.keep_dims))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class ReduceLogSumExp(Cell):
    """log(sum(exp(x))) over ``axis``, computed without overflow.

    Takes ``x``, a floating Tensor, and returns one without ``axis``, or with length 1 there.

    Args:
        axis: the axis, or a tuple of axes; () for all.
        keep_dims: whether the axes stay, with length 1.

    Raises:
        TypeError: ``keep_dims`` is not a bool.
    """

    def __init__(self, axis: int | tuple[int, ...] | list[int], keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check_bool(keep_dims, "ReduceLogSumExp", "keep_dims")

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsumexp(x, self.axis, self.keep_dims)


class Moments(Cell):
    """The mean of x and the mean of (x - mean) ** 2 over ``axis``.

    Takes ``x``, a floating Tensor, and returns the pair (mean, variance), both without ``axis``, or with length 1
    there.

    Args:
        axis: the axis, or a tuple of axes; None or () for all.
        keep_dims: whether the axes stay, with length 1; None is False.
    """

    def __init__(self, axis: int | tuple[int, ...] | list[int] | None = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis = axis if axis is not None else ()
        self.keep_dims = keep_dims is not None and check_bool(keep_dims, "Moments", "keep_dims")

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean = ops.mean(x, self.axis, True)
        deviations = x - ops.stop_gradient(mean)
        variance = ops.mean(deviations * deviations, self.axis, self.keep_dims)
        return mean if self.keep_dims else ops.reshape(mean, variance.shape), variance


class L1Regularizer(Cell):
    """scale * sum(|weights|).

    Takes ``weights``, a Tensor of any shape, and returns a number as a Tensor without axes.

    Args:
        scale: the factor, a finite number above 0.

    Raises:
        TypeError: ``scale`` is not a number.
        ValueError: ``scale`` is not above 0, or not finite.
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        if isinstance(scale, bool) or not isinstance(scale, int | float):
            raise TypeError(f"For 'L1Regularizer', 'scale' must be a number, but got {type(scale).__name__}")
        if scale <= 0 or not math.isfinite(scale):
            raise ValueError(f"For 'L1Regularizer', 'scale' must be above 0, but got {scale}")
        self.scale = float(scale)

    def construct(self, weights: Tensor) -> Tensor:
        return ops.reduce_sum(ops.abs(weights)) * Tensor(self.scale, float32)
