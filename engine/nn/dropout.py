"""Dropout layers."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..dtype import DType, float32
from ..tensor import Tensor
from .cell import Cell

__all__ = ["Dropout", "Dropout2d"]


class Dropout(Cell):
    """In training each element becomes 0 with probability ``p`` and is divided by 1 - p otherwise.

    Args:
        keep_prob: MindSpore's older argument, 1 - p.
        p: the probability of 0, in [0, 1).

    Raises:
        ValueError: a probability out of range.
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None, dtype: DType = float32) -> None:
        super().__init__()
        self._by_p = p is not None
        chance: Any = p if p is not None else 1 - keep_prob
        if isinstance(chance, bool) or not isinstance(chance, int | float):
            raise TypeError(f"For 'Dropout', 'p' must be a number, but got {type(chance).__name__}")
        if not 0 <= chance < 1:
            raise ValueError(f"For 'Dropout', 'p' must be in [0, 1), but got {chance}")
        self.p = chance
        self.keep_prob = 1 - chance

    def construct(self, x: Tensor) -> Tensor:
        return ops.dropout(x, self.p, self.training)

    def extend_repr(self) -> str:
        return f"p={self.p}" if self._by_p else f"keep_prob={self.keep_prob}"


class Dropout2d(Cell):
    """Like ``Dropout``, for whole channels."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"For 'Dropout2d', 'p' must be in [0, 1], but got {p}")
        self.p = p

    def construct(self, x: Tensor) -> Tensor:
        return ops.dropout2d(x, self.p, self.training)

    def extend_repr(self) -> str:
        return f"p={self.p}"
