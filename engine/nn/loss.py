"""Losses as cells."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..ops.loss import reduced
from ..tensor import Tensor
from .cell import Cell

__all__ = [
    "BCEWithLogitsLoss", "CrossEntropyLoss", "L1Loss", "LossBase", "MSELoss", "NLLLoss", "SmoothL1Loss",
    "SoftmaxCrossEntropyWithLogits",
]  # fmt: skip


class LossBase(Cell):
    """A loss with a reduction: "mean", "sum" or "none".

    Raises:
        ValueError: another reduction.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"For '{type(self).__name__}', 'reduction' must be 'mean', 'sum' or 'none', but got {reduction!r}"
            )
        self.reduction = reduction

    def get_loss(self, x: Tensor, weights: float = 1.0) -> Tensor:
        """The losses, weighted and reduced."""
        return reduced(x * weights, self.reduction, type(self).__name__)


class MSELoss(LossBase):
    """The squared difference."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.mse_loss(logits, labels, self.reduction)


class L1Loss(LossBase):
    """The absolute difference."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.l1_loss(logits, labels, self.reduction)


class SmoothL1Loss(LossBase):
    """Squared near 0, absolute beyond ``beta``."""

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class CrossEntropyLoss(LossBase):
    """Cross-entropy of softmax(logits); see ``ops.cross_entropy``."""

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(LossBase):
    """The negative log-probability of the labels; see ``ops.nll_loss``."""

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross-entropy with class numbers (``sparse``) or one-hot rows."""

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = sparse

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        target = labels if self.sparse else labels.astype(logits.dtype)
        return ops.cross_entropy(logits, target, reduction=self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Binary cross-entropy of sigmoid(logits)."""

    def __init__(self, reduction: str = "mean", weight: Any = None) -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy_with_logits(logits, labels, self.weight, self.reduction)
