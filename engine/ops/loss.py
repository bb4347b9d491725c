"""Losses."""

from __future__ import annotations

from typing import Any

from ..cpu import fused
from ..cpu.array_module import array_module
from ..operator import Operator
from ..tensor import Tensor
from .activation import log_softmax
from .arithmetic import abs as absolute
from .arithmetic import add, cast_operator, div, mul, where
from .indexing import getitem
from .reduction import mean, reduce_sum
from .shape import reshape, transpose

__all__ = [
    "binary_cross_entropy_with_logits", "cross_entropy", "l1_loss", "mse_loss", "nll_loss", "smooth_l1_loss",
]  # fmt: skip


def _sparse_rule(F: Any, needs: list[bool], g: Any, out: Any, logits: Any, labels: Any, ignore_index: int) -> list[Any]:
    if not F.wraps:
        found = F.sparse_softmax_cross_entropy_grad(g[0], logits, labels, out[1], ignore_index=ignore_index)
        return [found, None]
    probabilities = F.softmax(logits, axis=1)
    picked = one_hot_array(labels._array, logits.shape[1], probabilities._array.dtype)
    kept = (labels._array != ignore_index).astype(probabilities._array.dtype)[:, None]
    apart = (probabilities - Tensor._wrap(picked)) * Tensor._wrap(kept)
    return [apart * F.reshape(g[0], shape=(-1, 1)), None]


_sparse = Operator("sparse_softmax_cross_entropy", fused.sparse_softmax_cross_entropy, joint_vjp=_sparse_rule)
_sparse_grad = Operator("sparse_softmax_cross_entropy_grad", fused.sparse_softmax_cross_entropy_grad)


def one_hot_array(labels: Any, depth: int, dtype: Any) -> Any:
    """1 in the column that a label names, 0 elsewhere; a label outside [0, depth) gives zeros."""
    xp = array_module(labels)
    return (labels[..., None] == xp.arange(depth, dtype=labels.dtype)).astype(dtype)


def reduced(loss: Tensor, reduction: str, name: str) -> Tensor:
    """The mean, the sum, or the losses themselves ("none").

    Raises:
        ValueError: another ``reduction``.
    """
    if reduction == "mean":
        return mean(loss)
    if reduction == "sum":
        return reduce_sum(loss)
    if reduction == "none":
        return loss
    raise ValueError(f"For '{name}', 'reduction' must be 'mean', 'sum' or 'none', but got {reduction!r}")


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross-entropy of softmax(input) along axis 1 against class numbers or probabilities.

    Args:
        input: logits (N, C) or (N, C, ...).
        target: class numbers (N, ...) as integers, or probabilities of the shape of ``input``.
        weight: a factor for each class (C,).
        ignore_index: class numbers equal to it do not count.
        reduction: "mean" (over what counts, by weight), "sum" or "none".
        label_smoothing: the part of each target that is spread evenly over all classes.

    Raises:
        TypeError: an argument is no Tensor.
        ValueError: shapes, a class number or ``reduction`` that do not fit.
    """
    _check_pair("cross_entropy", input, target)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"For 'cross_entropy', 'label_smoothing' must be in [0, 1], but got {label_smoothing}")
    if target._array.dtype.kind in "fV":
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing)
    logits, labels, shape = _as_rows(input, target, "cross_entropy")
    if weight is None and label_smoothing == 0.0:
        losses = _sparse(logits, labels, ignore_index=ignore_index)[0]
        if reduction == "mean":
            counted = int((labels._array != ignore_index).sum())
            return div(reduce_sum(losses), counted if counted else float("nan"))  # type: ignore[no-any-return]
        return reduced(reshape(losses, shape), reduction, "cross_entropy")
    return _nll(log_softmax(logits, 1), labels, shape, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    inputs: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative of the log-probability (N, C) of the class numbers (N,)."""
    _check_pair("nll_loss", inputs, target)
    rows, labels, shape = _as_rows(inputs, target, "nll_loss")
    return _nll(rows, labels, shape, weight, ignore_index, reduction, label_smoothing)


def _nll(
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
    xp = array_module(host)
    kept = host != ignore_index
    place = xp.where(kept, host, 0)
    if ((place < 0) | (place >= classes)).any():
        raise ValueError(f"the class numbers in 'target' must be in [0, {classes}) or {ignore_index}")
    dtype = log_probabilities._array.dtype
    factors = kept.astype(dtype) if weight is None else xp.where(kept, weight._array[place], 0).astype(dtype)
    counted = Tensor._wrap(factors)
    picked = getitem(log_probabilities, (Tensor._wrap(xp.arange(host.shape[0])), Tensor._wrap(place)))
    losses = mul(-picked, counted)
    if smoothing:
        per_class = log_probabilities if weight is None else mul(log_probabilities, weight)
        spread = mul(-reduce_sum(per_class, 1), Tensor._wrap(kept.astype(dtype)))
        losses = add(mul(losses, 1.0 - smoothing), mul(spread, smoothing / classes))
    if reduction == "mean":
        return div(reduce_sum(losses), reduce_sum(counted))  # type: ignore[no-any-return]
    return reduced(reshape(losses, shape), reduction, "cross_entropy")


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float
) -> Tensor:
    if input.shape != target.shape:
        raise ValueError(
            f"For 'cross_entropy', probabilities in 'target' must have the shape {input.shape}, but got {target.shape}"
        )
    if smoothing:
        target = add(mul(target, 1.0 - smoothing), smoothing / input.shape[1])
    each = mul(log_softmax(input, 1), target)
    if weight is not None:
        each = mul(each, reshape(weight, (1, -1) + (1,) * (input.ndim - 2)))
    losses = -reduce_sum(each, 1)
    if reduction == "mean":
        return div(reduce_sum(losses), losses.size)  # type: ignore[no-any-return]
    return reduced(losses, reduction, "cross_entropy")


def _check_pair(name: str, input: Any, target: Any) -> None:
    for argument, x in (("input", input), ("target", target)):
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{name}', '{argument}' must be a Tensor, but got {type(x).__name__}")


def _as_rows(input: Tensor, target: Tensor, name: str) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Logits as (rows, classes), labels as (rows,), and the shape of the losses."""
    expected = (*input.shape[:1], *input.shape[2:])
    if input.ndim < 2 or target.shape != expected:
        raise ValueError(
            f"For '{name}', class numbers in 'target' must have the shape {expected} for 'input' of shape "
            f"{input.shape}, but got {target.shape}"
        )
    if input.ndim > 2:
        input = transpose(input, (0, *range(2, input.ndim), 1))
    return reshape(input, (-1, input.shape[-1])), reshape(target, (-1,)), expected


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """(input - target) squared, reduced."""
    apart = input - target
    return reduced(mul(apart, apart), reduction, "mse_loss")


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """|input - target|, reduced."""
    return reduced(absolute(input - target), reduction, "l1_loss")


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """0.5 * d**2 / beta where d = |input - target| is below ``beta``, d - 0.5 * beta elsewhere (Girshick 2015)."""
    d = absolute(input - target)
    return reduced(where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction, "smooth_l1_loss")


def binary_cross_entropy_with_logits(
    logits: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """-(label * log(sigmoid(x)) + (1 - label) * log(1 - sigmoid(x))), without overflow."""
    from .activation import softplus

    losses = softplus(logits) - logits * cast_operator(label, dtype=logits._array.dtype)
    return reduced(losses if weight is None else mul(losses, weight), reduction, "binary_cross_entropy_with_logits")
