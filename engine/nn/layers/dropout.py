"""Dropout layers."""

from __future__ import annotations

from typing import Any

from ... import ops
from ...base.argument_checks import check_number, check_type
from ...cpu.array_module import array_module
from ...tensors.dtype import DType, float32
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import generate
from ..cell import Cell

__all__ = ["Dropout", "Dropout1d", "Dropout2d", "Dropout2dExt", "Dropout3d", "DropoutExt"]


class Dropout(Cell):
    """In training each element becomes 0 with probability ``p``, else x / (1 - p); in predict mode the identity.

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and dtype. ``set_train`` enables it.

    Args:
        keep_prob: MindSpore's older argument, 1 - p, a float in (0, 1]; without effect if ``p`` is given.
        p: the probability of 0, in [0, 1); None for 1 - keep_prob.
        dtype: accepted as in MindSpore, without effect: the output has the dtype of the input.

    Raises:
        TypeError: ``p`` is not a number, or ``keep_prob`` is not a float.
        ValueError: it is out of range.
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: DType = float32) -> None:
        super().__init__()
        if p is None:
            check_type(keep_prob, float, "Dropout", "keep_prob")
        self._by_p = p is not None
        probability: Any = p if p is not None else 1 - keep_prob
        check_number(probability, "Dropout", "p")
        if not 0 <= probability < 1:
            raise ValueError(f"For 'Dropout', 'p' must be in [0, 1), but got {probability}")
        self.p = probability
        self.keep_prob = 1 - probability

    def construct(self, x: Tensor) -> Tensor:
        return ops.dropout(x, self.p, self.training)

    def extend_repr(self) -> str:
        return f"p={self.p}" if self._by_p else f"keep_prob={self.keep_prob}"


class Dropout2d(Cell):
    """In training each entire channel of (N, C, H, W) becomes 0 with probability ``p``, else x / (1 - p).

    Takes ``x`` and returns a Tensor of the same shape and dtype; in predict mode ``x`` itself. In training the call
    raises ValueError for the wrong number of axes.

    Args:
        p: the probability of 0, a float in [0, 1].

    Raises:
        TypeError: ``p`` is not a float.
        ValueError: ``p`` is out of range.
    """

    _axes: tuple[int, ...] = (4,)

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        name = type(self).__name__
        check_type(p, float, name, "p")
        if not 0 <= p <= 1:
            raise ValueError(f"For '{name}', 'p' must be in [0, 1], but got {p}")
        self.p = self.prob = p

    def construct(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.ndim not in self._axes:
            raise ValueError(f"For '{type(self).__name__}', the input must have {self._axes} axes, but got {x.shape}")
        batched = x.ndim == max(self._axes)
        channels = x.shape[: 2 if batched else 1]
        shape = (*channels, *(1,) * (x.ndim - len(channels)))
        factors = generate(array_module(x._array).ones, shape=shape, dtype=x._array.dtype)
        return x * ops.dropout(factors, float(self.p))

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Dropout1d(Dropout2d):
    """In training each entire channel of (N, C, L) or (C, L) becomes 0 with probability ``p``, else x / (1 - p).

    Takes ``x`` and returns a Tensor of the same shape and dtype; in predict mode ``x`` itself. In training the call
    raises ValueError for the wrong number of axes.

    Args:
        p: the probability of 0, a float in [0, 1].

    Raises:
        TypeError: ``p`` is not a float.
        ValueError: ``p`` is out of range.
    """

    _axes = (2, 3)


class Dropout3d(Dropout2d):
    """In training each entire channel of (N, C, D, H, W) becomes 0 with probability ``p``, else x / (1 - p).

    Takes ``x`` and returns a Tensor of the same shape and dtype; in predict mode ``x`` itself. In training the call
    raises ValueError for the wrong number of axes.

    Args:
        p: the probability of 0, a float in [0, 1].

    Raises:
        TypeError: ``p`` is not a float.
        ValueError: ``p`` is out of range.
    """

    _axes = (5,)


class DropoutExt(Cell):
    """``Dropout`` with PyTorch's arguments.

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        p: the probability of 0, in [0, 1]; the call raises ValueError for others.
        inplace: whether to modify ``x`` in place.
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p, self.inplace = p, inplace

    def construct(self, x: Tensor) -> Tensor:
        result = ops.dropout(x, self.p, self.training)
        return _assign(x, result) if self.inplace else result


def _assign(x: Tensor, value: Tensor) -> Tensor:
    """Rebind ``x`` to the result and return it."""
    x._rebind(value._array)
    return x


class Dropout2dExt(Dropout2d):
    """``Dropout2d`` with PyTorch's arguments, for (N, C, H, W) or (C, H, W).

    Takes ``x`` and returns a Tensor of the same shape and dtype.

    Args:
        p: the probability of 0 for a channel, in [0, 1].
        inplace: whether to modify ``x`` in place.

    Raises:
        TypeError: ``p`` is not a number.
        ValueError: ``p`` is out of range.
    """

    _axes = (3, 4)

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(p)
        self.inplace = inplace

    def construct(self, x: Tensor) -> Tensor:
        result = super().construct(x)
        return _assign(x, result) if self.inplace else result
