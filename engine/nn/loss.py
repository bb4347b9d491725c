"""Losses as cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .. import ops
from ..base.argument_checks import check_above_zero, check_bool, check_int, check_number, check_one_of, check_type
from ..ops.neural.cross_entropy import reduced
from ..tensors.dtype import float32, int32
from ..tensors.tensor import Tensor
from .cell import Cell
from .layers.activation import get_activation

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "DiceLoss",
    "FocalLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L1LossExt",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiClassDiceLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultilabelMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "RMSELoss",
    "SampledSoftmaxLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "SoftmaxCrossEntropyWithLogits",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class LossBase(Cell):
    """The base of losses: a cell with a reduction.

    A subclass defines ``construct`` and ends it with ``get_loss``.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = check_one_of(reduction, ("mean", "sum", "none"), type(self).__name__, "reduction")
        self.average, self.reduce = reduction != "sum", reduction != "none"

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Return the loss; every subclass defines it.

        Args:
            *args: the inputs of the subclass: mostly a network's output and the target.
            **kwargs: likewise.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError(f"For '{type(self).__name__}', the method 'construct' is not defined")

    # Operators for subclasses.
    mul = cached_property(lambda self: ops.Mul())
    cast = cached_property(lambda self: ops.Cast())
    reduce_mean = cached_property(lambda self: ops.ReduceMean())
    reduce_sum = cached_property(lambda self: ops.ReduceSum())

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """Return the indices of all axes of a Tensor, for reductions.

        Args:
            x: any Tensor.

        Returns:
            (0, 1, ..., x.ndim - 1).
        """
        return tuple(range(x.ndim))

    def get_loss(self, x: Tensor, weights: float = 1.0) -> Tensor:
        """Return the losses times weights, reduced.

        Args:
            x: the losses, a floating Tensor.
            weights: a factor: a number, or a Tensor that broadcasts against ``x``.

        Returns:
            A Tensor without axes, or with the reduction "none" of the shape of the product.
        """
        return reduced(x * weights, self.reduction, type(self).__name__)


class MSELoss(LossBase):
    """(logits - labels) ** 2, reduced.

    Takes ``logits`` and ``labels``, floating Tensors that broadcast, and returns a number, or with "none" a Tensor of
    their common shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.mse_loss(logits, labels, self.reduction)


class L1Loss(LossBase):
    """|logits - labels|, reduced.

    Takes ``logits`` and ``labels``, floating Tensors that broadcast, and returns a number, or with "none" a Tensor of
    their common shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.l1_loss(logits, labels, self.reduction)


class SmoothL1Loss(LossBase):
    """0.5 * d**2 / beta where d = |logits - labels| is below ``beta``, d - 0.5 * beta elsewhere (Girshick 2015).

    Takes ``logits`` and ``labels``, floating Tensors that broadcast, and returns a number, or with "none" a Tensor of
    their common shape.

    Args:
        beta: the difference from which the square becomes a line, above 0.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``beta`` is not a number.
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, beta: float = 1.0, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.beta = check_number(beta, "SmoothL1Loss", "beta")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class _OfClasses(LossBase):
    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(reduction)
        name = type(self).__name__
        check_type(weight, Tensor | None, name, "weight", "a Tensor")
        check_int(ignore_index, name, "ignore_index")
        check_number(label_smoothing, name, "label_smoothing")
        if not 0.0 <= label_smoothing <= 1.0:
            raise ValueError(f"For '{name}', 'label_smoothing' must be in [0, 1], but got {label_smoothing}")
        self.weight, self.ignore_index, self.label_smoothing = weight, ignore_index, label_smoothing


class CrossEntropyLoss(_OfClasses):
    """-log(softmax(logits)[label]) along axis 1; see ``ops.cross_entropy``.

    Takes ``logits`` (N, C) or (N, C, ...), and ``labels``: class numbers (N, ...) as integers, or probabilities of the
    shape of ``logits``. Returns a number, or with "none" the losses (N, ...).

    Args:
        weight: a factor for each class, a Tensor (C,); None for 1.
        ignore_index: the class number of samples that are ignored, in the sum and in the mean. Only for class
            numbers.
        reduction: "mean" for the mean of all other losses, weighted by ``weight``; "sum"; or "none" for the losses
            themselves.
        label_smoothing: the part of each target that is distributed evenly over all classes, in [0, 1].

    Raises:
        TypeError: ``weight`` is not a Tensor, ``ignore_index`` is not an int, or ``label_smoothing`` is not a number.
        ValueError: ``label_smoothing`` is out of range, or an unknown ``reduction``.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.cross_entropy(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class NLLLoss(_OfClasses):
    """-logits[label], where ``logits`` are log-probabilities along axis 1; see ``ops.nll_loss``.

    Takes ``logits`` (N, C) or (N, C, ...), and ``labels``, class numbers (N, ...) as integers. Returns a number, or
    with "none" the losses (N, ...).

    Args:
        weight: a factor for each class, a Tensor (C,); None for 1.
        ignore_index: the class number of samples that are ignored, in the sum and in the mean.
        reduction: "mean" for the mean of all other losses, weighted by ``weight``; "sum"; or "none" for the losses
            themselves.
        label_smoothing: the part of each target that is distributed evenly over all classes, in [0, 1].

    Raises:
        TypeError: ``weight`` is not a Tensor, ``ignore_index`` is not an int, or ``label_smoothing`` is not a number.
        ValueError: ``label_smoothing`` is out of range, or an unknown ``reduction``.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing)


class SoftmaxCrossEntropyWithLogits(LossBase):
    """-sum(labels * log(softmax(logits))) of each row.

    Takes ``logits`` (N, C), and ``labels``: class numbers (N,) as integers, or rows of probabilities (N, C). Returns
    the losses (N,), or a number.

    Args:
        sparse: whether ``labels`` are class numbers.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``sparse`` is not a bool.
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = check_bool(sparse, "SoftmaxCrossEntropyWithLogits", "sparse")
        # For a subclass with its own construct.
        self.one_hot, self.on_value, self.off_value = ops.OneHot(), Tensor(1.0, float32), Tensor(0.0, float32)
        self.softmax_cross_entropy = ops.SoftmaxCrossEntropyWithLogits()
        self.sparse_softmax_cross_entropy = ops.SparseSoftmaxCrossEntropyWithLogits()

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        for argument, value in (("logits", logits), ("labels", labels)):
            check_type(value, Tensor, "SoftmaxCrossEntropyWithLogits", argument)
        if self.sparse and labels._array.dtype.kind not in "iu":
            raise TypeError(
                "For 'SoftmaxCrossEntropyWithLogits', 'labels' must be integers where 'sparse' is True, "
                f"but got {labels.dtype}"
            )
        target = labels if self.sparse else labels.astype(logits.dtype)
        return ops.cross_entropy(logits, target, reduction=self.reduction)


class BCEWithLogitsLoss(LossBase):
    """-(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), computed without overflow.

    Takes ``logits`` (x) and ``labels`` (y), floating Tensors of one shape, and returns a number, or with "none" a
    Tensor of that shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.
        weight: a factor on each loss, a Tensor that broadcasts; None for 1.
        pos_weight: a factor on y in the first term, a Tensor that broadcasts; None for 1.

    Raises:
        TypeError: ``weight`` or ``pos_weight`` is not a Tensor.
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, reduction: str = "mean", weight: Tensor | None = None, pos_weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        for argument, value in (("weight", weight), ("pos_weight", pos_weight)):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"For 'BCEWithLogitsLoss', '{argument}' must be a Tensor, got {type(value).__name__}")
        self.weight, self.pos_weight = weight, pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy_with_logits(logits, labels, self.weight, self.pos_weight, self.reduction)


class BCELoss(LossBase):
    """-(y * log(p) + (1 - y) * log(1 - p)); a logarithm is at least -100, so that p may be 0 or 1.

    Takes ``logits`` (p, probabilities) and ``labels`` (y), floating Tensors of one shape, and returns a number, or with
    "none" a Tensor of that shape. The call raises ValueError for shapes that differ.

    Args:
        weight: a factor on each loss, a Tensor that broadcasts; None for 1.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class MAELoss(LossBase):
    """|logits - labels|, reduced.

    The call raises TypeError for an argument that is not a Tensor. Takes ``logits`` and ``label``, floating Tensors
    that
    broadcast, and returns a number, or with "none" a Tensor of their common shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        _same_tensors("MAELoss", logits, label)
        return self.get_loss(ops.abs(logits - label))


class RMSELoss(LossBase):
    """sqrt(mean((logits - label) ** 2)) over all elements.

    Takes ``logits`` and ``label``, floating Tensors that broadcast, and returns a number.
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        return ops.sqrt(ops.mse_loss(logits, label))


class L1LossExt(LossBase):
    """|input - target|, reduced: ``L1Loss`` with PyTorch's names.

    Takes ``input`` and ``target``, floating Tensors that broadcast, and returns a number, or with "none" a Tensor of
    their common shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        return ops.l1_loss(input, target, self.reduction)


def _same_tensors(name: str, logits: Tensor, labels: Tensor) -> None:
    for argument, x in (("logits", logits), ("labels", labels)):
        check_type(x, Tensor, name, argument)


class HuberLoss(LossBase):
    """0.5 * d**2 where d = |logits - labels| is at most ``delta``, delta * (d - 0.5 * delta) elsewhere (Huber 1964).

    Takes ``logits`` and ``labels``, floating Tensors that broadcast, and returns a number, or with "none" a Tensor of
    their common shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.
        delta: the difference from which the square becomes a line, a number above 0.

    Raises:
        TypeError: ``delta`` is not a number.
        ValueError: ``delta`` is not above 0, or an unknown ``reduction``.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction)
        check_number(delta, "HuberLoss", "delta")
        self.delta = check_above_zero(delta, "HuberLoss", "delta")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class KLDivLoss(LossBase):
    """labels * (log(labels) - logits), 0 where a label is 0 (Kullback and Leibler 1951).

    Takes ``logits``, log-probabilities, and ``labels``, probabilities, of one shape; returns a number, or with "none" a
    Tensor of that shape.

    Args:
        reduction: "mean" for the mean of all elements, "batchmean" for the sum divided by the length of axis 0, "sum"
            or "none".

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.reduction = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.kl_div(logits, labels, self.reduction)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels * logits)).

    Takes ``logits`` and ``labels`` (1 or -1), floating Tensors of one shape, and returns a number, or with "none" a
    Tensor of that shape.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.soft_margin_loss(logits, labels, self.reduction)


class MarginRankingLoss(LossBase):
    """max(0, -target * (input1 - input2) + margin).

    Takes ``input1``, ``input2`` and ``target`` (1 if the first should be larger, -1 if the second should), Tensors of
    one shape; returns a number, or with "none" a Tensor of that shape.

    Args:
        margin: the required difference.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class CosineEmbeddingLoss(LossBase):
    """1 - cos(x1, x2) where the label is 1, max(0, cos(x1, x2) - margin) where it is -1.

    Takes ``logits_x1`` and ``logits_x2`` (N, D), with the cosine along axis 1, and ``labels`` (N,); returns a number,
    or with "none" the losses (N,).

    Args:
        margin: the cosine above which pairs labeled -1 have a loss, a float or int in [-1, 1].
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``margin`` is not a number.
        ValueError: ``margin`` is out of range, or an unknown ``reduction``.
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        check_number(margin, "CosineEmbeddingLoss", "margin")
        if not -1.0 <= margin <= 1.0:
            raise ValueError(f"For 'CosineEmbeddingLoss', 'margin' must be in [-1, 1], but got {margin}")
        self.margin = float(margin)

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """x where the label is above 0, max(0, margin - x) where it is below, 0 where it is 0.

    Takes ``logits`` (x) and ``labels``, Tensors of one shape, and returns a number, or with "none" a Tensor of that
    shape.

    Args:
        margin: the distance above which elements with a label below 0 have no loss.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``margin`` is not a number.
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.margin = check_number(margin, "HingeEmbeddingLoss", "margin")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class GaussianNLLLoss(LossBase):
    """0.5 * (log(v) + (logits - labels) ** 2 / v), where v = max(var, eps) (Nix and Weigend 1994).

    Takes ``logits``, ``labels`` and ``var``, the variances, which broadcast; returns a number, or with "none" a Tensor.
    The call raises ValueError for a negative variance.

    Args:
        full: whether to add the constant 0.5 * log(2 * pi).
        eps: the least variance, a float above 0.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``full`` is not a bool, or ``eps`` is not a float.
        ValueError: ``eps`` is not above 0, or an unknown ``reduction``.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        check_bool(full, "GaussianNLLLoss", "full")
        check_type(eps, float, "GaussianNLLLoss", "eps")
        check_above_zero(eps, "GaussianNLLLoss", "eps")
        self.full, self.eps = full, eps

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """exp(x) - y * x with ``log_input``, else x - y * log(x + eps).

    Takes ``input`` (x) and ``target`` (y), floating Tensors that broadcast; returns a number, or with "none" a Tensor
    of their common shape.

    Args:
        log_input: whether x is the logarithm of the rate.
        full: whether to add Stirling's approximation of log(y!), y * log(y) - y + 0.5 * log(2 * pi * y), where y > 1.
        eps: keeps the logarithm from 0; only without ``log_input``.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
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
    """max(0, |x - positive| - |x - negative| + margin), with the p-norm along the last axis.

    See ``construct`` for the inputs.

    Args:
        p: the exponent of the norm.
        swap: whether to use the distance of positive and negative if it is smaller than that of x and negative
            (Balntas et al. 2016).
        eps: added to each difference before the norm.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.
        margin: the required difference of the distances; a call may override it.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(
        self, p: int = 2, swap: bool = False, eps: float = 1e-6, reduction: str = "mean", margin: float = 1.0
    ) -> None:
        super().__init__(reduction)
        self.p, self.swap, self.eps, self.margin = p, swap, eps, margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float | None = None) -> Tensor:
        """Return the loss of triplets.

        Args:
            x: the anchors (N, D) or (D,).
            positive: examples that should be near, of the same shape.
            negative: examples that should be far, of the same shape.
            margin: overrides the layer's margin: a number, or a Tensor with one; None keeps the layer's.

        Returns:
            A number, or with the reduction "none" the losses (N,).
        """
        effective_margin = self.margin if margin is None else float(margin)
        return ops.triplet_margin_loss(
            x, positive, negative, effective_margin, self.p, self.eps, self.swap, self.reduction
        )


class TripletMarginWithDistanceLoss(LossBase):
    """max(0, distance(x, positive) - distance(x, negative) + margin).

    Takes ``x``, ``positive`` and ``negative``, Tensors (N, D), and returns a number, or with "none" the losses (N,).

    Args:
        distance_function: called with two Tensors, returns their distances; None is the 2-norm of x - y + 1e-6 along
            the last axis.
        swap: whether to use the distance of positive and negative if it is smaller than that of x and negative
            (Balntas et al. 2016).
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.
        margin: the required difference of the distances, above 0.

    Raises:
        ValueError: ``margin`` is not above 0, or an unknown ``reduction``.
    """

    def __init__(
        self,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        swap: bool = False,
        reduction: str = "mean",
        margin: float = 1.0,
    ) -> None:
        super().__init__(reduction)
        check_above_zero(margin, "TripletMarginWithDistanceLoss", "margin")
        self.distance_function = distance_function or _euclidean
        self.swap, self.margin = swap, margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        near, far = self.distance_function(x, positive), self.distance_function(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return reduced(ops.maximum(near - far + self.margin, 0.0), self.reduction, "TripletMarginWithDistanceLoss")


def _euclidean(x: Tensor, y: Tensor) -> Tensor:
    difference = x - y + 1e-6
    return ops.sqrt(ops.reduce_sum(difference * difference, -1))


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over classes of -(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))).

    Takes ``x`` and ``target`` (y, 0 or 1), floating Tensors (N, C), and returns a number, or with "none" the losses
    (N,).

    Args:
        weight: a factor for each class, a Tensor (C,); None for 1.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class MultilabelMarginLoss(LossBase):
    """The sum over labels and other classes of max(0, 1 - (x[label] - x[other])), divided by C.

    Takes ``x`` (N, C) or (C,), floating, and ``target`` of the same shape, class numbers up to the first -1; returns a
    number, or with "none" the losses (N,). The call raises ValueError for shapes that differ.

    Args:
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        return ops.multilabel_margin_loss(x, target, self.reduction)


class MultiMarginLoss(LossBase):
    """The sum over the other classes of max(0, margin - x[target] + x[class]) ** p, divided by C.

    See ``construct`` for the inputs.

    Args:
        p: the exponent, 1 or 2.
        margin: the required difference of the scores.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.
        weight: a factor for each target class, a Tensor (C,); None for 1.

    Raises:
        TypeError: ``p`` is not an int, or ``margin`` is not a number.
        ValueError: ``p`` is neither 1 nor 2, or an unknown ``reduction``.
    """

    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = "mean", weight: Tensor | None = None) -> None:
        super().__init__(reduction)
        if isinstance(p, bool) or not isinstance(p, int) or not isinstance(margin, int | float):
            raise TypeError(f"For 'MultiMarginLoss', 'p' must be an int and 'margin' a number, got {p!r}, {margin!r}")
        if p not in (1, 2):
            raise ValueError(f"For 'MultiMarginLoss', 'p' must be 1 or 2, but got {p}")
        self.p, self.margin, self.weight = p, margin, weight

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """Return the loss of rows of scores.

        Args:
            x: scores (N, C), floating.
            target: class numbers (N,), integers.
            weight: overrides the layer's weight, a Tensor (C,); None keeps the layer's.

        Returns:
            A number, or with the reduction "none" the losses (N,).

        Raises:
            ValueError: shapes that do not fit.
        """
        effective_weight = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, effective_weight, self.reduction)


class CTCLoss(LossBase):
    """Connectionist temporal classification (Graves et al. 2006); see ``ops.ctc_loss``.

    See ``construct`` for the inputs.

    Args:
        blank: the class number of the blank.
        reduction: "mean" divides each loss by its number of labels, then takes the mean; "sum" or "none".
        zero_infinity: whether losses that are infinite, and their gradients, become 0: those of samples with more
            labels than steps.

    Raises:
        ValueError: an unknown ``reduction``.
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def construct(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        """Return the negative log-probability of each sample's labels.

        Args:
            log_probs: log-probabilities (T, N, C), floating; for one sample (T, C).
            targets: class numbers (N, S), or those of all samples concatenated; integers.
            input_lengths: the number of valid steps (of T) of each sample: (N,) ints as a Tensor or a sequence.
            target_lengths: the number of labels of each sample, likewise.

        Returns:
            A number, or with the reduction "none" the losses (N,); for one sample without a batch a number.

        Raises:
            ValueError: ``blank`` is not a class, or a length does not fit.
        """
        check_type(targets, Tensor, "CTCLoss", "targets")
        alone = isinstance(log_probs, Tensor) and log_probs.ndim == 2
        if alone:
            log_probs, targets = log_probs.expand_dims(1), targets.reshape((1, -1))
        loss = ops.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )[0]
        return loss.reshape(()) if alone else loss


class DiceLoss(LossBase):
    """1 - 2 * sum(x * y) / (sum(x * x) + sum(y * y) + smooth) over all elements (Milletari et al. 2016).

    Takes ``logits`` (x) and ``label`` (y), floating Tensors of one shape, and returns a number. The call raises
    ValueError for shapes that differ.

    Args:
        smooth: keeps the denominator from 0, a float above 0.

    Raises:
        TypeError: ``smooth`` is not a float.
        ValueError: ``smooth`` is not above 0.
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        check_type(smooth, float, "DiceLoss", "smooth")
        self.smooth = check_above_zero(smooth, "DiceLoss", "smooth")

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        for argument, value in (("logits", logits), ("label", label)):
            check_type(value, Tensor, "DiceLoss", argument)
        if logits.shape != label.shape:
            raise ValueError(f"For 'DiceLoss', shapes must be equal, but got {logits.shape} and {label.shape}")
        both = ops.reduce_sum(logits * label)
        squares = ops.reduce_sum(logits * logits) + ops.reduce_sum(label * label)
        return 1 - 2 * both / (squares + self.smooth)


class MultiClassDiceLoss(LossBase):
    """The mean over the classes (axis 1) of ``DiceLoss``, each with a weight.

    Takes ``logits`` and ``label``, floating Tensors of one shape (N, C, ...), and returns a number, or with ``weights``
    a Tensor (W,). The call raises ValueError for shapes that differ.

    Args:
        weights: a factor for each class, a Tensor (C, W); None for 1.
        ignore_indiex: a class that is excluded from the sum (but counted in its divisor); None for none. The
            name is MindSpore's.
        activation: applied to the logits: a cell, a function, the name of an activation layer, or None.

    Raises:
        TypeError: ``ignore_indiex`` is not an int.
        ValueError: ``weights`` does not have 2 axes, or the name of the activation is unknown.
    """

    def __init__(
        self,
        weights: Tensor | None = None,
        ignore_indiex: int | None = None,
        activation: Cell | Callable[..., Any] | str | None = "softmax",
    ):
        super().__init__()
        check_type(ignore_indiex, int | None, "MultiClassDiceLoss", "ignore_indiex", "an int")
        check_type(weights, Tensor | None, "MultiClassDiceLoss", "weights", "a Tensor")
        if weights is not None and weights.ndim != 2:
            raise ValueError(f"For 'MultiClassDiceLoss', 'weights' must have 2 axes, but got shape {weights.shape}")
        self.binarydiceloss = DiceLoss()
        self.weights, self.ignore_indiex = weights, ignore_indiex
        try:
            self.activation = get_activation(activation)
        except KeyError as unknown:
            raise ValueError(f"For 'MultiClassDiceLoss', {unknown.args[0]}") from None

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        for argument, value in (("logits", logits), ("label", label)):
            check_type(value, Tensor, "MultiClassDiceLoss", argument)
        if logits.shape != label.shape:
            raise ValueError(f"For 'MultiClassDiceLoss', shapes must be equal, got {logits.shape} and {label.shape}")
        if self.weights is not None and self.weights.shape[0] != label.shape[1]:
            raise ValueError(
                f"For 'MultiClassDiceLoss', 'weights' must have a row for each of {label.shape[1]} classes, "
                f"but got shape {self.weights.shape}"
            )
        probabilities = logits if self.activation is None else self.activation(logits)
        total: Any = 0
        for index in range(label.shape[1]):
            if index != self.ignore_indiex:
                class_loss = self.binarydiceloss(probabilities[:, index], label[:, index])
                total = total + (class_loss if self.weights is None else class_loss * self.weights[index])
        return total / label.shape[1]


class FocalLoss(LossBase):
    """-weight * (1 - p) ** gamma * log(p) of the labeled class, p = softmax(logits) (Lin et al. 2017).

    Takes ``logits`` (N, C), (N, C, L) or (N, C, H, W), and ``labels`` with as many axes: class numbers with length 1 on
    axis 1, or one-hot rows (N, C, ...). Losses are averaged over the axes after the channels. Returns a number, or with
    "none" the losses (N,), or (N, C) for one-hot rows. The call raises ValueError for the wrong shapes.

    Args:
        weight: a factor for each class, a Tensor (C,); None for 1.
        gamma: the exponent that reduces the loss of well-classified examples, a number.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``gamma`` is not a number, or ``weight`` is not a Tensor.
        ValueError: ``weight`` does not have one axis, or an unknown ``reduction``.
    """

    def __init__(self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        check_number(gamma, "FocalLoss", "gamma")
        check_type(weight, Tensor | None, "FocalLoss", "weight", "a Tensor")
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
            chosen = ops.transpose(ops.one_hot(flat[:, 0].astype(int32), c, 1.0, 0.0), (0, 2, 1)).astype(rows.dtype)
        else:
            chosen = flat.astype(rows.dtype)
        if self.weight is not None:
            chosen = chosen * ops.reshape(self.weight, (1, c, 1))
        losses = -1 * ops.pow(1 - ops.exp(rows), self.gamma) * rows * chosen
        if labels.shape[1] == 1:
            return self.get_loss(ops.mean(ops.reduce_sum(losses, 1), 1))
        return self.get_loss(ops.mean(losses, 2))


class SampledSoftmaxLoss(LossBase):
    """Cross-entropy among the labels and a sample of the other classes (Jean et al. 2015).

    See ``construct`` for the inputs.

    Args:
        num_sampled: how many classes are drawn, at most ``num_classes``.
        num_classes: number of classes.
        num_true: number of labels of each example.
        sampled_values: replaces drawing: (sampled classes (S,), expected counts of the labels (N, num_true), expected
            counts of the sampled (S,)), Tensors; None draws classes uniformly, without repetition.
        remove_accidental_hits: whether a drawn class that is a label of the example is excluded from its sum.
        seed: the seed of the draws, an int from 0 on.
        reduction: "mean" for the mean of all losses, "sum" for their sum, "none" for the losses themselves.

    Raises:
        TypeError: ``sampled_values`` is not a tuple or list.
        ValueError: a number out of range, ``sampled_values`` without 3 entries, or an unknown ``reduction``.
    """

    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Sequence[Tensor] | None = None,
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
        """Return the loss of each example.

        Args:
            weights: the rows of the classes (num_classes, D), floating.
            biases: the biases of the classes (num_classes,), floating.
            labels: class numbers (N,) or (N, num_true), integers.
            logits: the examples (N, D), floating.

        Returns:
            The losses (N,), or a number by the reduction.
        """
        flat = ops.reshape(labels, (-1, self.num_true))
        if self.sampled_values is not None:
            sampled, expected_true, expected = self.sampled_values
        else:
            # Uniform without repetition: all counts are equal, and do not change the softmax.
            sampled = Tensor(self._numbers.permutation(self.num_classes)[: self.num_sampled])
            expected, expected_true = ops.ones((self.num_sampled,)), ops.ones(flat.shape)
        own_rows = ops.getitem(weights, flat)  # (N, true, D)
        label_logits = ops.reduce_sum(own_rows * ops.expand_dims(logits, 1), 2) + ops.getitem(biases, flat)
        sampled_logits = ops.matmul(logits, ops.transpose(ops.getitem(weights, sampled), (1, 0))) + ops.getitem(
            biases, sampled
        )
        if self.remove_accidental_hits:
            hits = (flat.asnumpy()[:, :, None] == sampled.asnumpy()[None, None, :]).any(axis=1)
            sampled_logits = sampled_logits + Tensor(np.where(hits, np.float32(-3.4e38), np.float32(0)))
        all_logits = ops.concat([label_logits - ops.log(expected_true), sampled_logits - ops.log(expected)], 1)
        target = np.zeros(all_logits.shape, np.float32)
        target[:, : self.num_true] = 1 / self.num_true
        losses = -ops.reduce_sum(ops.log_softmax(all_logits, 1) * Tensor(target), 1)
        return self.get_loss(losses)
