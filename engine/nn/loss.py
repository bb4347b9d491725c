"""Losses as cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ops
from ..core.tensor import Tensor
from ..ops.loss import reduced
from .activation import get_activation
from .cell import Cell

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "DiceLoss", "FocalLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L1LossExt", "LossBase", "MAELoss",
    "MSELoss", "MarginRankingLoss", "MultiClassDiceLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "MultilabelMarginLoss", "NLLLoss", "PoissonNLLLoss", "RMSELoss", "SampledSoftmaxLoss", "SmoothL1Loss",
    "SoftMarginLoss", "SoftmaxCrossEntropyWithLogits", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
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

    def __init__(self, reduction: str = "mean", weight: Any = None, pos_weight: Any = None) -> None:
        super().__init__(reduction)
        for argument, value in (("weight", weight), ("pos_weight", pos_weight)):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"For 'BCEWithLogitsLoss', '{argument}' must be a Tensor, got {type(value).__name__}")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class BCELoss(LossBase):
    """Binary cross-entropy of probabilities."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class MAELoss(LossBase):
    """The mean absolute difference."""

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        _same_tensors("MAELoss", logits, label)
        return self.get_loss(ops.abs(logits - label))


class RMSELoss(LossBase):
    """The square root of the mean squared difference."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return ops.sqrt(ops.mse_loss(logits, label))


class L1LossExt(LossBase):
    """The absolute difference, with PyTorch's name."""

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return ops.l1_loss(input, target, self.reduction)


def _same_tensors(name: str, logits: Tensor, labels: Tensor) -> None:
    for argument, x in (("logits", logits), ("labels", labels)):
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{name}', '{argument}' must be a Tensor, but got {type(x).__name__}")


class HuberLoss(LossBase):
    """Squared up to ``delta``, absolute beyond."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        self.delta = delta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class KLDivLoss(LossBase):
    """labels * (log(labels) - logits); "batchmean" divides the sum by the first length."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.kl_div(logits, labels, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels * logits))."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target * (input1 - input2) + margin)."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = float(margin)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """x where the target is 1, max(0, margin - x) where it is -1."""

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class GaussianNLLLoss(LossBase):
    """0.5 * (log(var) + (logits - labels)**2 / var)."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        if not isinstance(full, bool):
            raise TypeError(f"For 'GaussianNLLLoss', 'full' must be a bool, but got {type(full).__name__}")
        if not isinstance(eps, float):
            raise TypeError(f"For 'GaussianNLLLoss', 'eps' must be a float, but got {type(eps).__name__}")
        if eps <= 0:
            raise ValueError(f"For 'GaussianNLLLoss', 'eps' must be above 0, but got {eps}")
        self.full, self.eps = full, eps

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """exp(x) - y * x with ``log_input``, else x - y * log(x + eps); ``full`` adds Stirling's term where y > 1."""

    def __init__(
        self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        losses = ops.exp(input) - target * input if self.log_input else input - target * ops.log(input + self.eps)
        if self.full:
            y = ops.maximum(target, 1.0)
            stirling = y * ops.log(y) - y + 0.5 * ops.log(y * (2 * math.pi))
            losses = losses + ops.where(target > 1, stirling, 0.0)
        return reduced(losses, self.reduction, "PoissonNLLLoss")


class TripletMarginLoss(LossBase):
    """max(0, |x - positive| - |x - negative| + margin)."""

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float | None = None) -> Tensor:
        wanted = self.margin if margin is None else float(margin)
        return ops.triplet_margin_loss(x, positive, negative, wanted, self.p, self.eps, self.swap, self.reduction)


class TripletMarginWithDistanceLoss(LossBase):
    """``TripletMarginLoss`` with a distance of the user's; by default the 2-norm."""

    def __init__(
        self, distance_function: Any = None, swap: bool = False, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        if margin <= 0:
            raise ValueError(f"For 'TripletMarginWithDistanceLoss', 'margin' must be above 0, but got {margin}")
        self.distance_function = distance_function or _euclidean
        self.swap, self.margin = swap, margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        near, far = self.distance_function(x, positive), self.distance_function(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return reduced(ops.maximum(near - far + self.margin, 0.0), self.reduction, "TripletMarginWithDistanceLoss")


def _euclidean(x: Tensor, y: Tensor) -> Tensor:
    apart = x - y + 1e-6
    return ops.sqrt(ops.reduce_sum(apart * apart, -1))


class MultiLabelSoftMarginLoss(LossBase):
    """Binary cross-entropy of sigmoid(x) for each class, averaged."""

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class MultilabelMarginLoss(LossBase):
    """max(0, 1 - (x[label] - x[other])) for each pair of a label and another class."""

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_margin_loss(x, target, self.reduction)


class MultiMarginLoss(LossBase):
    """max(0, margin - x[target] + x[class]) ** p over the other classes."""

    def __init__(
        self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Tensor | None = None
    ) -> None:
        super().__init__(reduction)
        if isinstance(p, bool) or not isinstance(p, int) or not isinstance(margin, int | float):
            raise TypeError(f"For 'MultiMarginLoss', 'p' must be an int and 'margin' a number, got {p!r}, {margin!r}")
        if p not in (1, 2):
            raise ValueError(f"For 'MultiMarginLoss', 'p' must be 1 or 2, but got {p}")
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        wanted = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, wanted, self.reduction)


class CTCLoss(LossBase):
    """Connectionist temporal classification (Graves et al. 2006); see ``ops.ctc_loss``."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return ops.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )[0]


class DiceLoss(LossBase):
    """1 - 2 * |x * y| / (|x * x| + |y * y| + smooth) over all elements (Milletari et al. 2016)."""

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        if not isinstance(smooth, float):
            raise TypeError(f"For 'DiceLoss', 'smooth' must be a float, but got {type(smooth).__name__}")
        if smooth <= 0:
            raise ValueError(f"For 'DiceLoss', 'smooth' must be above 0, but got {smooth}")
        self.smooth = smooth

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        if logits.shape != label.shape:
            raise ValueError(f"For 'DiceLoss', shapes must be equal, but got {logits.shape} and {label.shape}")
        both = ops.reduce_sum(logits * label)
        each = ops.reduce_sum(logits * logits) + ops.reduce_sum(label * label)
        return 1 - 2 * both / (each + self.smooth)


class MultiClassDiceLoss(LossBase):
    """The mean of ``DiceLoss`` over the classes (axis 1), each with a weight."""

    def __init__(self, weights: Tensor | None = None, ignore_indiex: int | None = None, activation: Any = "softmax"):
        super().__init__()
        if ignore_indiex is not None and not isinstance(ignore_indiex, int):
            raise TypeError(
                f"For 'MultiClassDiceLoss', 'ignore_indiex' must be an int, but got {type(ignore_indiex).__name__}"
            )
        if weights is not None and weights.ndim != 2:
            raise ValueError(f"For 'MultiClassDiceLoss', 'weights' must have 2 axes, but got shape {weights.shape}")
        self.binarydiceloss = DiceLoss()
        self.weights, self.ignore_indiex = weights, ignore_indiex
        self.activation = get_activation(activation)

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        if logits.shape != label.shape:
            raise ValueError(f"For 'MultiClassDiceLoss', shapes must be equal, got {logits.shape} and {label.shape}")
        found = logits if self.activation is None else self.activation(logits)
        total: Any = 0
        for place in range(label.shape[1]):
            if place != self.ignore_indiex:
                one = self.binarydiceloss(found[:, place], label[:, place])
                total = total + (one if self.weights is None else one * self.weights[place])
        return total / label.shape[1]


class FocalLoss(LossBase):
    """-(1 - p) ** gamma * log(p) of the labelled class (Lin et al. 2017); labels are numbers or one-hot rows."""

    def __init__(self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        if not isinstance(gamma, int | float) or isinstance(gamma, bool):
            raise TypeError(f"For 'FocalLoss', 'gamma' must be a number, but got {type(gamma).__name__}")
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(f"For 'FocalLoss', 'weight' must be a Tensor, but got {type(weight).__name__}")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"For 'FocalLoss', 'weight' must have 1 axis, but got shape {weight.shape}")
        self.weight, self.gamma = weight, float(gamma)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if logits.ndim != labels.ndim or logits.ndim < 2:
            raise ValueError(f"For 'FocalLoss', shapes do not fit: {logits.shape} and {labels.shape}")
        n, c = logits.shape[:2]
        rows = ops.log_softmax(ops.reshape(logits, (n, c, -1)), 1)
        flat = ops.reshape(labels, (n, labels.shape[1], -1))
        if labels.shape[1] == 1:
            chosen = ops.transpose(ops.one_hot(flat[:, 0], c, 1.0, 0.0), (0, 2, 1)).astype(rows.dtype)
        else:
            chosen = flat.astype(rows.dtype)
        if self.weight is not None:
            chosen = chosen * ops.reshape(self.weight, (1, c, 1))
        losses = -1 * ops.pow(1 - ops.exp(rows), self.gamma) * rows * chosen
        if labels.shape[1] == 1:
            return self.get_loss(ops.mean(ops.reduce_sum(losses, 1), 1))
        return self.get_loss(ops.mean(losses, 2))


class SampledSoftmaxLoss(LossBase):
    """Cross-entropy among the labels and a sample of the other classes (Jean et al. 2015)."""

    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: str = "none",
    ) -> None:
        super().__init__(reduction)
        if num_true < 1 or num_sampled > num_classes or num_true > num_classes:
            raise ValueError(
                f"For 'SampledSoftmaxLoss', 'num_true' {num_true} and 'num_sampled' {num_sampled} must be in "
                f"[1, {num_classes}]"
            )
        if seed < 0:
            raise ValueError(f"For 'SampledSoftmaxLoss', 'seed' must not be negative, but got {seed}")
        if sampled_values is not None and not isinstance(sampled_values, list | tuple):
            raise TypeError(
                f"For 'SampledSoftmaxLoss', 'sampled_values' must be a tuple, got {type(sampled_values).__name__}"
            )
        if sampled_values is not None and len(sampled_values) != 3:
            raise ValueError("For 'SampledSoftmaxLoss', 'sampled_values' must have 3 entries")
        self.num_sampled, self.num_classes, self.num_true = num_sampled, num_classes, num_true
        self.sampled_values, self.remove_accidental_hits = sampled_values, remove_accidental_hits
        self._numbers = np.random.default_rng(seed)

    def construct(self, weights: Tensor, biases: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
        """weights (classes, D), biases (classes,), labels (N,) or (N, num_true), inputs (N, D)."""
        flat = ops.reshape(labels, (-1, self.num_true))
        if self.sampled_values is not None:
            sampled, expected_true, expected = self.sampled_values
        else:
            # Log-uniform over class numbers, without repetition.
            spread = np.log((np.arange(self.num_classes) + 2) / (np.arange(self.num_classes) + 1))
            spread /= np.log(self.num_classes + 1)
            drawn = self._numbers.choice(self.num_classes, self.num_sampled, False, spread / spread.sum())
            counts = -np.expm1(self.num_sampled * np.log1p(-spread))
            sampled = Tensor(drawn)
            expected = Tensor(counts[drawn].astype(np.float32))
            expected_true = Tensor(counts[flat.asnumpy()].astype(np.float32))
        own_rows = ops.getitem(weights, flat)  # (N, true, D)
        own = ops.reduce_sum(own_rows * ops.expand_dims(logits, 1), 2) + ops.getitem(biases, flat)
        others = ops.matmul(logits, ops.transpose(ops.getitem(weights, sampled))) + ops.getitem(biases, sampled)
        if self.remove_accidental_hits:
            hits = (flat.asnumpy()[:, :, None] == sampled.asnumpy()[None, None, :]).any(axis=1)
            others = others + Tensor(np.where(hits, np.float32(-3.4e38), np.float32(0)))
        every = ops.concat([own - ops.log(expected_true), others - ops.log(expected)], 1)
        target = np.zeros(every.shape, np.float32)
        target[:, : self.num_true] = 1 / self.num_true
        losses = -ops.reduce_sum(ops.log_softmax(every, 1) * Tensor(target), 1)
        return self.get_loss(losses)
