"""Losses by distance, of probabilities and by margin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.argument_checks import check_above_zero, check_not_negative, check_number, check_real, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.widening import is_half
from ...tensors.dtype import float32, numpy_dtype
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, constant, generate
from ..arguments import check_tensor
from ..elementwise.arithmetic import abs as absolute
from ..elementwise.arithmetic import add, div, maximum, minimum, mul, neg, pow, sqrt, square, sub
from ..elementwise.comparison import where
from ..elementwise.exponentials import exp, log, log1p
from ..reduction.reduction import mean, reduce_sum
from ..shapes.broadcasting import as_dtype, as_floats, cast_operator, through_single
from ..shapes.creation import one_hot_array
from ..shapes.reshape import broadcast_to, reshape
from ..shapes.subscripts import getitem
from .activation import softplus
from .cross_entropy import check_pair, reduced

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cosine_similarity",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]


def _check_variance(var: Array) -> None:
    if var.size and float(var.min()) < 0:
        raise ValueError("For 'gaussian_nll_loss', 'var' must not be negative")


def _check_shapes(name: str, **pair: Tensor) -> None:
    (first, x), (second, y) = pair.items()
    if x.shape != y.shape:
        raise ValueError(f"For '{name}', '{first}' and '{second}' must have one shape, but got {x.shape} and {y.shape}")


@declare(mint="nn.functional.mse_loss")
def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return (input - target) squared, reduced.

    Args:
        input: a tensor of any shape.
        target: a tensor that broadcasts with ``input``.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape that both broadcast to; integers become Float32.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    check_pair("mse_loss", input=input, target=target)
    difference = as_floats(input - target)
    return reduced(mul(difference, difference), reduction, "mse_loss")


@declare(primitive=prim("L2Loss"))
def _l2_loss(x: Tensor) -> Tensor:
    """Return half the sum of squares.

    Args:
        x: a tensor of any shape.

    Returns:
        A 0-d tensor of the dtype of ``x``.
    """
    return reduce_sum(square(x)) / 2.0


@declare(mint="nn.functional.l1_loss")
def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return abs(input - target), reduced.

    Args:
        input: a tensor of any shape.
        target: a tensor that broadcasts with ``input``.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape that both broadcast to.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    check_pair("l1_loss", input=input, target=target)
    return reduced(absolute(input - target), reduction, "l1_loss")


@declare(primitive=prim("SmoothL1Loss", beta=1.0, reduction="none"))
def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Return the smooth L1 loss (Girshick 2015), reduced.

    It is 0.5 * d**2 / beta where d = abs(input - target) is below ``beta``, d - 0.5 * beta elsewhere.

    Args:
        input: a tensor of any shape.
        target: a tensor of the same shape.
        beta: where the square becomes a line, 0 or above; with 0 the loss is d.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``input``.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: shapes that differ, a negative ``beta``, or an unknown ``reduction``.
    """
    check_pair("smooth_l1_loss", input=input, target=target)
    _check_shapes("smooth_l1_loss", input=input, target=target)
    check_not_negative(beta, "smooth_l1_loss", "beta")
    d = absolute(input - target)
    if beta == 0:
        return reduced(d, reduction, "smooth_l1_loss")
    return reduced(where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction, "smooth_l1_loss")


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Return the Huber loss (Huber 1964), reduced.

    It is 0.5 * d**2 where d = abs(input - target) is at most ``delta``, delta * (d - 0.5 * delta) elsewhere.

    Args:
        input: a tensor of any shape.
        target: a tensor that broadcasts with ``input``.
        reduction: "mean", "sum" or "none".
        delta: where the square becomes a line, above 0.

    Returns:
        A 0-d tensor, with "none" one of the shape that both broadcast to.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: ``delta`` is not above 0, an unknown ``reduction``, or shapes that do not broadcast.
    """
    check_pair("huber_loss", input=input, target=target)
    check_above_zero(delta, "huber_loss", "delta")
    d = absolute(sub(input, target))
    return reduced(where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta), reduction, "huber_loss")


@declare(primitive=prim("BinaryCrossEntropy", reduction="mean"))
def binary_cross_entropy(
    logits: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return -(y * log(p) + (1 - y) * log(1 - p)); a logarithm is at least -100, so that p may be 0 or 1.

    Args:
        logits: p, probabilities in [0, 1] (not logits, in spite of the name).
        labels: y, in [0, 1], of the shape of ``logits``.
        weight: a factor of each loss, which broadcasts with ``logits``; None is 1.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``logits``.

    Raises:
        TypeError: ``logits`` or ``labels`` is not a Tensor.
        ValueError: shapes that differ, or an unknown ``reduction``.
    """
    check_pair("binary_cross_entropy", logits=logits, labels=labels)
    _check_shapes("binary_cross_entropy", logits=logits, labels=labels)
    hits, misses = (maximum(log(p), -100.0) for p in (logits, 1.0 - logits))
    losses = neg(add(mul(labels, hits), mul(1.0 - labels, misses)))
    return reduced(losses if weight is None else mul(losses, weight), reduction, "binary_cross_entropy")


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return -(c * y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), without overflow.

    Args:
        input: x, logits of any shape.
        target: y, in [0, 1], of the shape of ``input``; it is cast to its dtype.
        weight: a factor of each loss, which broadcasts with ``input``; None is 1.
        pos_weight: c, the factor of the first term, which broadcasts with ``input``; None is 1.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``input``; in its dtype, whatever the weights have.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: shapes that differ, or an unknown ``reduction``.
    """
    check_pair("binary_cross_entropy_with_logits", input=input, target=target)
    _check_shapes("binary_cross_entropy_with_logits", input=input, target=target)
    x, y = input, cast_operator(target, dtype=input._array.dtype)
    soft = log1p(exp(neg(absolute(x))))  # log(1 + exp(-|x|))
    if pos_weight is None:
        losses = sub(add(maximum(x, 0.0), soft), mul(x, y))
    else:
        factor = add(mul(y, sub(pos_weight, 1.0)), 1.0)
        losses = add(mul(1.0 - y, x), mul(factor, add(soft, maximum(neg(x), 0.0))))
    loss = reduced(losses if weight is None else mul(losses, weight), reduction, "binary_cross_entropy_with_logits")
    return as_dtype(loss, x._array.dtype) if is_half(x._array) else loss


@declare(primitive=prim("BCEWithLogitsLoss", reduction="mean"))
def _bce_with_logits(
    x: Tensor, y: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, *, reduction: str
) -> Tensor:
    """Return -(c * y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), without overflow.

    Args:
        x: logits of any shape.
        y: labels in [0, 1], of the shape of ``x``.
        weight: a factor of each loss, which broadcasts with ``x``; None is 1.
        pos_weight: c, the factor of the first term, which broadcasts with ``x``; None is 1.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``x``.

    Raises:
        TypeError: ``x`` or ``y`` is not a Tensor.
        ValueError: shapes that differ, or an unknown ``reduction``.
    """
    return binary_cross_entropy_with_logits(x, y, weight, pos_weight, reduction)


@declare(primitive=prim("SigmoidCrossEntropyWithLogits"))
def _sigmoid_cross_entropy(x: Tensor, y: Tensor) -> Tensor:
    """Return -(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), without overflow, of each element.

    Args:
        x: logits of any shape.
        y: labels in [0, 1], of the shape of ``x``.

    Returns:
        A tensor of the shape of ``x``.
    """
    return maximum(x, 0.0) - x * y + log1p(exp(-absolute(x)))


@declare(primitive=prim("KLDivLoss", reduction="mean"))
def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """Return the Kullback-Leibler divergence: labels * (log(labels) - logits), 0 where a label is 0, reduced.

    Args:
        logits: log-probabilities of any shape.
        labels: probabilities of the same shape.
        reduction: "mean" (over all elements), "batchmean" (the sum divided by the first length), "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``logits``.

    Raises:
        TypeError: ``logits`` or ``labels`` is not a Tensor.
        ValueError: shapes that differ, or an unknown ``reduction``.
    """
    check_pair("kl_div", logits=logits, labels=labels)
    _check_shapes("kl_div", logits=logits, labels=labels)
    safe = where(labels > 0, labels, 1.0)
    losses = where(labels > 0, mul(labels, sub(log(safe), logits)), 0.0)
    if reduction == "batchmean":
        return div(reduce_sum(losses), logits.shape[0])
    return reduced(losses, reduction, "kl_div")


def gaussian_nll_loss(
    x: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Return 0.5 * (log(v) + (x - target)**2 / v), v = max(var, eps): the negative log-likelihood of normal numbers.

    Args:
        x: the expected values.
        target: the numbers, which broadcast with ``x``.
        var: the variances, 0 or above, which broadcast with ``x``.
        full: whether the constant 0.5 * log(2 * pi) is added.
        eps: the least variance that is divided by, above 0.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape that all broadcast to.

    Raises:
        TypeError: ``var`` is not a Tensor.
        ValueError: a negative variance, ``eps`` not above 0, or an unknown ``reduction``.
    """
    check_values(_check_variance, check_tensor(var, "gaussian_nll_loss", "var")._array)
    check_above_zero(eps, "gaussian_nll_loss", "eps")
    wide = maximum(var, eps)
    difference = sub(x, target)
    losses = mul(add(log(wide), div(mul(difference, difference), wide)), 0.5)
    if full:
        losses = add(losses, 0.5 * math.log(2 * math.pi))
    return reduced(losses, reduction, "gaussian_nll_loss")


def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """Return x where the target is above 0, max(0, margin - x) where it is below, 0 where it is 0.

    Args:
        inputs: x, distances of any shape.
        targets: 1 or -1 as a rule, of the shape of ``inputs``.
        margin: the least distance without a loss for a target below 0.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``inputs``.

    Raises:
        TypeError: ``inputs`` or ``targets`` is not a Tensor, or ``margin`` is not a number.
        ValueError: an unknown ``reduction``.
    """
    check_number(margin, "hinge_embedding_loss", "margin")
    check_pair("hinge_embedding_loss", inputs=inputs, targets=targets)
    y = targets._array
    zero = mul(inputs, 0.0)
    positive_loss = where(Tensor._wrap(y > 0), inputs, zero)
    negative_loss = where(Tensor._wrap(y < 0), maximum(sub(margin, inputs), 0.0), zero)
    return reduced(add(positive_loss, negative_loss), reduction, "hinge_embedding_loss")


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return max(0, -target * (input1 - input2) + margin).

    Args:
        input1: scores.
        input2: scores, of a shape that broadcasts with that of ``input1``.
        target: 1 where ``input1`` should be the higher, -1 where ``input2`` should; it broadcasts too.
        margin: by how much the scores should differ.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape that all broadcast to.

    Raises:
        TypeError: ``input1`` or ``input2`` is not a Tensor.
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    check_pair("margin_ranking_loss", input1=input1, input2=input2)
    losses = maximum(add(neg(mul(target, sub(input1, input2))), margin), 0.0)
    return reduced(losses, reduction, "margin_ranking_loss")


@declare(primitive=prim("SoftMarginLoss", reduction="mean"), mint="nn.functional.soft_margin_loss")
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return log(1 + exp(-target * input)), without overflow.

    Args:
        input: scores of any shape.
        target: 1 or -1, of the same shape.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``input``.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: shapes that differ, or an unknown ``reduction``.
    """
    check_pair("soft_margin_loss", input=input, target=target)
    _check_shapes("soft_margin_loss", input=input, target=target)
    return reduced(softplus(neg(mul(target, input)), 1, 1e9), reduction, "soft_margin_loss")


@through_single
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between the vectors along ``dim``: x1 . x2 / max(norm1 * norm2, eps).

    Args:
        x1: vectors.
        x2: vectors, of a shape that broadcasts with that of ``x1``.
        dim: the axis of the vectors' elements.
        eps: the least product of two norms that is divided by.

    Returns:
        A tensor of the shape that both broadcast to, without ``dim``.

    Raises:
        ValueError: ``dim`` is out of range, or shapes that do not broadcast.
    """
    products = mul(check_tensor(x1, "cosine_similarity", "x1"), check_tensor(x2, "cosine_similarity", "x2"))
    wide = [x if x.shape == products.shape else broadcast_to(x, products.shape) for x in (x1, x2)]
    squares = [reduce_sum(mul(x, x), dim) for x in wide]
    # Clamped above 0, where the root has no slope.
    norms = [sqrt(maximum(x, float(np.finfo(_floating(x)).tiny))) for x in squares]
    return div(reduce_sum(products, dim), maximum(mul(*norms), eps))


def _floating(x: Tensor) -> np.dtype[Any]:
    """Return the dtype of ``x``, Float32 of integers."""
    return numpy_dtype(x.dtype if x._array.dtype.kind in "fV" else float32)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return 1 - cos where the target is 1, max(0, cos - margin) where it is -1, 0 elsewhere.

    Args:
        input1: vectors (N, D), or one (D,).
        input2: vectors of the same shape; the cosine is that of the angle between the two.
        target: 1 or -1, (N,) or 0-d.
        margin: a float in [-1, 1], the largest cosine without a loss for a target of -1.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" one of the shape of ``target``.

    Raises:
        TypeError: ``input1`` or ``input2`` is not a Tensor, or ``margin`` is not a float.
        ValueError: ``margin`` is not in [-1, 1], or an unknown ``reduction``.
    """
    check_pair("cosine_embedding_loss", input1=input1, input2=input2)
    check_type(margin, float, "cosine_embedding_loss", "margin")
    if not -1.0 <= margin <= 1.0:
        raise ValueError(f"For 'cosine_embedding_loss', 'margin' must be in [-1, 1], but got {margin}")
    cosine = cosine_similarity(input1, input2, input1.ndim - 1 if input1.ndim == 1 else 1)
    y = check_tensor(target, "cosine_embedding_loss", "target")._array
    zero = mul(cosine, 0.0)
    losses = add(
        where(Tensor._wrap(y == 1), sub(1.0, cosine), zero),
        where(Tensor._wrap(y == -1), maximum(sub(cosine, margin), 0.0), zero),
    )
    return reduced(losses, reduction, "cosine_embedding_loss")


def _distance(x: Tensor, y: Tensor, p: float, eps: float) -> Tensor:
    difference = absolute(add(sub(x, y), eps))
    return pow(reduce_sum(pow(difference, float(p)), -1), 1.0 / p)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return the triplet margin loss (Balntas et al. 2016), reduced.

    It is max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm of x - y + eps.

    Args:
        anchor: vectors (N, D).
        positive: vectors that belong to them, of the same shape.
        negative: vectors that do not, of the same shape.
        margin: the least amount by which the second distance should be longer.
        p: of the norm; not 0.
        eps: a number added to each difference.
        swap: whether d(positive, negative) replaces d(anchor, negative) where it is the shorter.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" (N,).

    Raises:
        ValueError: ``p`` is 0, an unknown ``reduction``, or shapes that do not broadcast.
    """
    if check_real(p, "triplet_margin_loss", "p") == 0:
        raise ValueError("For 'triplet_margin_loss', 'p' must not be 0")
    positive_distance, negative_distance = _distance(anchor, positive, p, eps), _distance(anchor, negative, p, eps)
    if swap:
        negative_distance = minimum(negative_distance, _distance(positive, negative, p, eps))
    return reduced(
        maximum(add(sub(positive_distance, negative_distance), margin), 0.0), reduction, "triplet_margin_loss"
    )


@declare(primitive=prim("TripletMarginLoss", p=2, swap=False, eps=1e-6, reduction="mean"))
def _triplet_by_margin(
    x: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float | Tensor,
    p: float,
    swap: bool,
    eps: float,
    reduction: str,
) -> Tensor:
    """Return max(0, d(x, positive) - d(x, negative) + margin), d the p-norm; ``ops.triplet_margin_loss``.

    Args:
        x: vectors (N, D), the anchors.
        positive: vectors that belong to them, of the same shape.
        negative: vectors that do not, of the same shape.
        margin: the least amount by which the second distance should be longer, a number or a tensor of one element.
        p: of the norm; not 0.
        swap: whether d(positive, negative) replaces d(x, negative) where it is the shorter.
        eps: a number added to each difference.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" (N,).

    Raises:
        ValueError: ``p`` is 0, an unknown ``reduction``, or shapes that do not broadcast.
    """
    return triplet_margin_loss(x, positive, negative, float(margin), p, eps, swap, reduction)


@through_single
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return the binary cross-entropy of sigmoid(input) of each class, averaged over the classes.

    Args:
        input: logits (N, C).
        target: 1 for the classes of a sample and 0 for the others, (N, C).
        weight: a factor for each class (C,); None is 1.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" (N,).

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: shapes that differ, or an unknown ``reduction``.
    """
    losses = binary_cross_entropy_with_logits(input, target, reduction="none")
    terms = losses if weight is None else mul(losses, weight)
    return reduced(mean(terms, -1), reduction, "multilabel_soft_margin_loss")


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over classes of max(0, margin - x[target] + x[class]) ** p, without the target's own.

    Args:
        input: x, scores (N, C).
        target: class numbers (N,), integers in [0, C).
        p: 1 or 2.
        margin: the least amount by which the target's score should be higher.
        weight: a factor for each target class (C,); None is 1.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" (N,).

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: ``p`` is not 1 or 2, shapes or a class number that do not fit, or an unknown ``reduction``.
    """
    if p not in (1, 2):
        raise ValueError(f"For 'multi_margin_loss', 'p' must be 1 or 2, but got {p}")
    check_pair("multi_margin_loss", input=input, target=target)
    if input.ndim != 2 or target.shape != input.shape[:1]:
        raise ValueError(
            f"For 'multi_margin_loss', shapes must be (N, C) and (N,), but got {input.shape} and {target.shape}"
        )
    labels = target._array
    check_values(_check_classes, labels, name="multi_margin_loss", classes=input.shape[1])
    xp = array_module(labels)
    rows = generate(xp.arange, start=0, stop=labels.shape[0], step=1)
    target_scores = reshape(getitem(input, (rows, target)), (-1, 1))
    hinge = maximum(add(sub(input, target_scores), margin), 0.0)
    if p == 2:
        hinge = mul(hinge, hinge)
    if weight is not None:
        hinge = mul(hinge, reshape(getitem(weight, target), (-1, 1)))
    mask = Tensor._wrap((1 - one_hot_array(labels, input.shape[1], input._array.dtype)).astype(input._array.dtype))
    return reduced(div(reduce_sum(mul(hinge, mask), 1), input.shape[1]), reduction, "multi_margin_loss")


@declare(primitive=prim("MultiMarginLoss", p=1, margin=1.0, reduction="mean"))
def _multi_margin(
    x: Tensor, y: Tensor, weight: Tensor | None = None, *, p: int, margin: float, reduction: str
) -> Tensor:
    """Return the mean over classes of max(0, margin - x[y] + x[class]) ** p, without the target's own.

    Args:
        x: scores (N, C).
        y: class numbers (N,), integers in [0, C).
        weight: a factor for each target class (C,); None is 1.
        p: 1 or 2.
        margin: the least amount by which the target's score should be higher.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" (N,).

    Raises:
        TypeError: ``x`` or ``y`` is not a Tensor.
        ValueError: ``p`` is not 1 or 2, shapes or a class number that do not fit, or an unknown ``reduction``.
    """
    return multi_margin_loss(x, y, p, margin, weight, reduction)


def _check_classes(labels: Array, name: str, classes: int) -> None:
    if ((labels < 0) | (labels >= classes)).any():
        raise ValueError(f"For '{name}', class numbers in 'target' must be in [0, {classes})")


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return the sum over (label, other class) of max(0, 1 - (x[label] - x[other])), over the number of classes.

    Args:
        input: x, scores (N, C), or those of one sample, (C,).
        target: class numbers of the shape of ``input``: a row names labels up to its first negative number.
        reduction: "mean", "sum" or "none".

    Returns:
        A 0-d tensor, with "none" (N,) or for one sample 0-d.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: shapes or a class number that do not fit, or an unknown ``reduction``.
    """
    check_pair("multilabel_margin_loss", input=input, target=target)
    if input.shape != target.shape or input.ndim not in (1, 2):
        raise ValueError(
            f"For 'multilabel_margin_loss', shapes must be equal with 1 or 2 axes, got {input.shape}, {target.shape}"
        )
    x = input if input.ndim == 2 else reshape(input, (1, -1))
    labels = target._array.reshape(x.shape)
    xp = array_module(labels)
    valid = xp.cumsum(labels < 0, axis=1) == 0
    indices = xp.where(valid, labels, 0)
    check_values(_check_classes, indices, name="multilabel_margin_loss", classes=x.shape[1])
    dtype = x._array.dtype
    is_label = (one_hot_array(indices, x.shape[1], dtype) * valid[..., None]).max(axis=1)
    rows = constant(xp.arange(x.shape[0])[:, None])
    label_scores = reshape(getitem(x, (rows, Tensor._wrap(indices))), (*x.shape, 1))
    hinge = maximum(add(sub(reshape(x, (x.shape[0], 1, x.shape[1])), label_scores), 1.0), 0.0)
    pairs = Tensor._wrap((valid[..., None] * (1 - is_label)[:, None, :]).astype(dtype))
    losses = div(reduce_sum(mul(hinge, pairs), (1, 2)), x.shape[1])
    return reduced(losses if input.ndim == 2 else reshape(losses, ()), reduction, "multilabel_margin_loss")
