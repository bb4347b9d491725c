"""Cross entropy of classes: of logits, of log probabilities, with weights and smoothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.argument_checks import check_real, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.neural import cross_entropy as cross_entropy_kernels
from ...cpu.widening import widen
from ...tape import taps
from ...tensors.dtype import int32, promote
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, compute, generate
from ..arguments import check_tensor, int_of
from ..elementwise.arithmetic import add, div, mul, sub
from ..elementwise.comparison import where
from ..reduction.reduction import mean, reduce_sum
from ..shapes.broadcasting import as_dtype
from ..shapes.creation import one_hot_array
from ..shapes.reshape import reshape, transpose
from ..shapes.subscripts import getitem
from .activation import log_softmax, softmax

__all__ = ["cross_entropy", "nll_loss"]


def _sparse_rule(F: Any, needs: list[bool], g: Any, out: Any, logits: Any, labels: Any, ignore_index: int) -> list[Any]:
    if not F.wraps:
        gradient = F.sparse_softmax_cross_entropy_grad(g[0], logits, labels, out[1], ignore_index=ignore_index)
        return [gradient, None]
    probabilities = F.softmax(logits, axis=1)
    one_hot = one_hot_array(labels._array, logits.shape[1], probabilities._array.dtype)
    mask = (labels._array != ignore_index).astype(probabilities._array.dtype)[:, None]
    difference = (probabilities - Tensor._wrap(one_hot)) * Tensor._wrap(mask)
    return [difference * F.reshape(g[0], shape=(-1, 1)), None]


_sparse = Operator(
    "sparse_softmax_cross_entropy", cross_entropy_kernels.sparse_softmax_cross_entropy, joint_vjp=_sparse_rule
)

_sparse_grad = Operator("sparse_softmax_cross_entropy_grad", cross_entropy_kernels.sparse_softmax_cross_entropy_grad)


def reduced(loss: Tensor, reduction: str, name: str) -> Tensor:
    """Return the mean, the sum, or the losses themselves.

    Args:
        loss: the losses.
        reduction: "mean", "sum" or "none".
        name: of the operator, for the error.

    Returns:
        A 0-d tensor, or ``loss``.

    Raises:
        ValueError: an unknown ``reduction``.
    """
    if reduction == "mean":
        return mean(loss)
    if reduction == "sum":
        return reduce_sum(loss)
    if reduction == "none":
        return loss
    raise ValueError(f"For '{name}', 'reduction' must be 'mean', 'sum' or 'none', but got {reduction!r}")


@declare(mint="nn.functional.cross_entropy")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross-entropy of softmax(input) along axis 1 against class numbers or probabilities.

    Args:
        input: logits (N, C) or (N, C, ...), or those of one sample, (C,).
        target: class numbers (N, ...), for one sample 0-d, as integers, or probabilities of the shape of ``input``.
        weight: a factor for each class (C,).
        ignore_index: class numbers equal to it do not count.
        reduction: "mean" (of class numbers over those that count, by weight; of probabilities over samples), "sum" or
            "none".
        label_smoothing: the part of each target, in [0, 1], that is spread evenly over all classes (Szegedy et al.
            2016).

    Returns:
        A 0-d tensor, with "none" one of the shape (N, ...), of the dtype of ``input``. The mean of nothing is NaN. On a
        GPU the loss of a class number that does not fit is NaN, and the error is raised when values are next read.

    Raises:
        TypeError: ``input`` or ``target`` is not a Tensor.
        ValueError: shapes, a class number, ``label_smoothing`` or ``reduction`` that do not fit.
    """
    check_pair("cross_entropy", {"ignore_index": ignore_index}, input=input, target=target)
    _check_smoothing("cross_entropy", label_smoothing)
    if target._array.dtype.kind in "fV":
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    logits, labels, shape = _as_rows(input, target, "cross_entropy")
    if weight is None and label_smoothing == 0.0:
        if array_module(labels._array) is not np:  # the CPU kernel checks them itself
            check_values(
                _check_counting, labels._array, classes=logits.shape[1], ignored=ignore_index, name="cross_entropy"
            )
        losses = _sparse(logits, labels, ignore_index=ignore_index)[0]
        if reduction == "mean":
            count = compute(_counted, labels._array, other_than=ignore_index, dtype=losses._array.dtype)
            return div(reduce_sum(losses), Tensor._wrap(count))
        return reduced(reshape(losses, shape), reduction, "cross_entropy")
    log_p = log_softmax(logits, 1)
    return _nll("cross_entropy", log_p, labels, shape, weight, ignore_index, reduction, label_smoothing)


def _count(labels: Array, other_than: int, dtype: np.dtype[Any]) -> Array:
    xp = array_module(labels)
    count = (labels != other_than).sum()
    return xp.where(count == 0, xp.nan, count).astype(dtype)


_count_other_than = Operator("count_other_than", _count).declare(
    "The number of labels other than ``other_than``; NaN for none, so that the mean is NaN."
)


def _counted(labels: Array, other_than: int, dtype: np.dtype[Any]) -> Array:
    """Return the number of labels that count, on their device, so that the host need not wait for it."""
    count: Array = _count_other_than.on_arrays(labels, other_than=other_than, dtype=dtype)
    return count


@declare(primitive=prim("SoftmaxCrossEntropyWithLogits"))
def _softmax_cross_entropy(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy of softmax(logits) of each row, and its gradient by ``logits``.

    Args:
        logits: (N, C).
        labels: probabilities (N, C).

    Returns:
        The losses (N,), and softmax(logits) - labels, (N, C).

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes differ.
    """
    return cross_entropy(logits, labels, reduction="none"), sub(softmax(logits, 1), labels)


@declare(primitive=prim("SparseSoftmaxCrossEntropyWithLogits", is_grad=False))
def _sparse_softmax_cross_entropy(logits: Tensor, labels: Tensor, is_grad: bool) -> Tensor:
    """Return the mean cross-entropy of softmax(logits) against class numbers, or its gradient by ``logits``.

    Args:
        logits: (N, C).
        labels: class numbers (N,), integers in [0, C).
        is_grad: whether the gradient is returned instead of the loss.

    Returns:
        A 0-d tensor, or with ``is_grad`` one of the shape of ``logits``.

    Raises:
        ValueError: shapes or a class number that do not fit.
    """
    mean = cross_entropy(logits, labels.astype(int32))
    if not is_grad:
        return mean
    hot = Tensor._wrap(one_hot_array(labels._array, logits.shape[-1], np.float32))
    return (softmax(logits, -1) - hot) / float(math.prod(labels.shape))


@declare(mint=renamed("nn.functional.nll_loss", inputs="input", without=("label_smoothing",)))
def nll_loss(
    inputs: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the negative of the log-probability of the class numbers, times the weight of the class.

    Args:
        inputs: log-probabilities (N, C) or (N, C, ...), or those of one sample, (C,).
        target: class numbers (N, ...), for one sample 0-d, as integers.
        weight: a factor for each class (C,).
        ignore_index: class numbers equal to it do not count.
        reduction: "mean" (over those that count, by weight), "sum" or "none".
        label_smoothing: the part of each target, in [0, 1], that is spread evenly over all classes.

    Returns:
        A 0-d tensor, with "none" one of the shape (N, ...), of the dtype of ``inputs``.

    Raises:
        TypeError: ``inputs`` or ``target`` is not a Tensor, or ``target`` does not hold integers.
        ValueError: shapes, a class number, ``label_smoothing`` or ``reduction`` that do not fit.
    """
    check_pair("nll_loss", {"ignore_index": ignore_index}, inputs=inputs, target=target)
    _check_smoothing("nll_loss", label_smoothing)
    rows, labels, shape = _as_rows(inputs, target, "nll_loss")
    return _nll("nll_loss", rows, labels, shape, weight, ignore_index, reduction, label_smoothing)


@declare(primitive=prim("NLLLoss", reduction="mean", ignore_index=-100))
def _nll_with_weight(
    logits: Tensor, labels: Tensor, weight: Tensor, reduction: str, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Return the negative log-likelihood of class numbers, and the sum of their weights.

    Args:
        logits: log-probabilities (N, C).
        labels: class numbers (N,), integers.
        weight: a factor for each class (C,).
        reduction: "mean" (over those that count, by weight), "sum" or "none".
        ignore_index: class numbers equal to it do not count.

    Returns:
        The loss, 0-d or with "none" (N,), and the weights of the labels that count, added up, 0-d.

    Raises:
        TypeError: ``logits`` or ``labels`` is not a Tensor, or ``labels`` does not hold integers.
        ValueError: shapes, a class number or ``reduction`` that do not fit.
    """
    loss = nll_loss(logits, labels, weight, ignore_index, reduction)
    return loss, Tensor._wrap(compute(_weight_of, weight._array, labels._array, ignored=ignore_index))


def _weight_of(weight: Array, labels: Array, ignored: int) -> Array:
    xp = array_module(weight)
    if xp is np:
        total = widen(weight[labels[labels != ignored]]).sum()
    else:  # on a GPU, their number is not known without synchronizing
        wide = widen(weight)
        mask = _shares(labels, ignored, weight.size, wide.dtype)
        total = (wide[_class_indices(labels, ignored, weight.size)] * mask).sum()
    result: Array = xp.asarray(total, dtype=weight.dtype)
    return result


def _nll(
    name: str,
    log_probabilities: Tensor,
    labels: Tensor,
    shape: tuple[int, ...],
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    smoothing: float,
) -> Tensor:
    classes = log_probabilities.shape[1]
    host = labels._array
    if host.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', class numbers in 'target' must be integers, but got {labels.dtype}")
    ignored = int_of(ignore_index, name, "ignore_index")
    on_host = array_module(host) is np  # a GPU is not waited for: there the loss of a wrong label is NaN
    check_values(_check_counting, host, classes=classes, ignored=ignored, name=name)
    if weight is not None and check_tensor(weight, name, "weight").shape != (classes,):
        raise ValueError(f"For '{name}', 'weight' must have the shape ({classes},), but got {weight.shape}")
    if weight is not None:
        common = promote(log_probabilities._array.dtype, weight._array.dtype)
        log_probabilities, weight = as_dtype(log_probabilities, common), as_dtype(weight, common)
    dtype = log_probabilities._array.dtype
    indices = Tensor._wrap(compute(_class_indices, host, ignored=ignored, classes=classes))
    factors = shares = Tensor._wrap(compute(_shares, host, ignored=ignored, classes=classes, dtype=dtype))
    if weight is not None:
        mask = Tensor._wrap(compute(_counting_mask, host, ignored=ignored))
        factors = where(mask, getitem(weight, (indices,)), 0.0)
        factors = factors if on_host else mul(factors, shares)
    rows = generate(array_module(host).arange, start=0, stop=host.shape[0], step=1)
    selected = getitem(log_probabilities, (rows, indices))
    losses = mul(-selected, factors)
    if smoothing:
        per_class = log_probabilities if weight is None else mul(log_probabilities, weight)
        smooth = mul(-reduce_sum(per_class, 1), shares)
        losses = add(mul(losses, 1.0 - smoothing), mul(smooth, smoothing / classes))
    if reduction == "mean":
        return div(reduce_sum(losses), reduce_sum(factors))
    return reduced(reshape(losses, shape), reduction, name)


def _counting_mask(labels: Array, ignored: int) -> Array:
    """Return which class numbers count."""
    mask: Array = labels != ignored
    return mask


def _shares(labels: Array, ignored: int, classes: int, dtype: np.dtype[Any]) -> Array:
    """Return 1 for class numbers that count, 0 for others; on a GPU, NaN for invalid ones."""
    mask, xp = labels != ignored, array_module(labels)
    if xp is not np:
        mask = xp.where(mask & ((labels < 0) | (labels >= classes)), np.nan, mask)
    shares: Array = mask.astype(dtype)
    return shares


def _class_indices(labels: Array, ignored: int, classes: int) -> Array:
    """Return the class numbers, 0 for those that do not count; on a GPU, which checks none, also for invalid ones."""
    counts, xp = labels != ignored, array_module(labels)
    if xp is not np:
        counts &= (labels >= 0) & (labels < classes)
    indices: Array = xp.where(counts, labels, 0)
    return indices


def _check_counting(labels: Array, classes: int, ignored: int, name: str) -> None:
    wrong = (labels != ignored) & ((labels < 0) | (labels >= classes))
    if wrong.any():
        raise ValueError(
            f"For '{name}', the class numbers in 'target' must be in [0, {classes}) or {ignored}, "
            f"but got {int(labels[wrong][0])}"
        )


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    if input.ndim < 1 or input.shape != target.shape:
        raise ValueError(
            f"For 'cross_entropy', probabilities in 'target' must have the shape {input.shape}, but got {target.shape}"
        )
    shape = (*input.shape[:1], *input.shape[2:]) if input.ndim > 1 else ()
    if input.ndim == 1:  # one sample
        input, target = reshape(input, (1, -1)), reshape(target, (1, -1))
    if smoothing:
        target = add(mul(target, 1.0 - smoothing), smoothing / input.shape[1])
    terms = mul(log_softmax(input, 1), target)
    if weight is not None:
        terms = mul(terms, reshape(weight, (1, -1) + (1,) * (input.ndim - 2)))
    losses = -reduce_sum(terms, 1)
    if reduction == "mean":
        return div(reduce_sum(losses), losses.size)
    return reduced(reshape(losses, shape), reduction, "cross_entropy")


def _check_smoothing(name: str, smoothing: float) -> None:
    if not 0.0 <= check_real(smoothing, name, "label_smoothing") <= 1.0:
        raise ValueError(f"For '{name}', 'label_smoothing' must be in [0, 1], but got {smoothing}")


def _as_rows(input: Tensor, target: Tensor, name: str) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Return logits as (rows, classes), labels as (rows,), and the shape of the losses."""
    expected = (*input.shape[:1], *input.shape[2:]) if input.ndim > 1 else ()
    if input.ndim < 1 or target.shape != expected:
        raise ValueError(
            f"For '{name}', class numbers in 'target' must have the shape {expected} for 'input' of shape "
            f"{input.shape}, but got {target.shape}"
        )
    if input.ndim > 2:
        input = transpose(input, (0, *range(2, input.ndim), 1))
    return reshape(input, (-1, input.shape[-1])), reshape(target, (-1,)), expected


@declare(primitive=prim("SparseSoftmaxCrossEntropyWithLogitsV2"))
def _sparse_softmax_cross_entropies(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy of softmax(logits) of each row against a class number, and its gradient by ``logits``.

    Args:
        logits: (N, C).
        labels: class numbers (N,), integers in [0, C).

    Returns:
        The losses (N,), and softmax(logits) with 1 less at the class, (N, C).

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: shapes or a class number that do not fit.
    """
    losses = cross_entropy(logits, labels.astype(int32), reduction="none")
    hot = Tensor._wrap(one_hot_array(labels._array, logits.shape[-1], logits._array.dtype))
    return losses, sub(softmax(logits, -1), hot)


def check_pair(name: str, attrs: dict[str, Any] | None = None, /, **pair: Any) -> None:
    for argument, x in pair.items():
        check_type(x, Tensor, name, argument)
    input, target = pair.values()
    if taps.loss_taps:
        taps.notify_loss(name, input, target, **(attrs or {}))
