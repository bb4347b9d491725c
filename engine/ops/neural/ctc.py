"""Connectionist temporal classification: the loss of labels whose positions in a sequence are unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...autograd.grad import grad
from ...base.argument_checks import check_bool
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...tape import taps
from ...tensors.dtype import float32, float64, int32
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, int_of
from ..elementwise.arithmetic import add, div, maximum, neg, sub
from ..elementwise.comparison import where
from ..elementwise.exponentials import exp, log
from ..reduction.reduction import mean
from ..shapes.concatenation import concat, stack
from ..shapes.copying import stop_gradient
from ..shapes.reshape import transpose
from ..shapes.subscripts import getitem
from .activation import log_softmax
from .cross_entropy import reduced

__all__ = ["ctc_greedy_decoder", "ctc_loss"]


@declare(primitive=prim("CTCLossV2", blank=0, reduction="none", zero_infinity=False))
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Array | Sequence[int],
    target_lengths: Tensor | Array | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the connectionist temporal classification loss (Graves et al. 2006): -log of the labels' probability.

    The probability is the sum over all paths that give the labels when repeated classes are merged and blanks dropped.

    Args:
        log_probs: log-probabilities of T steps, N samples and C classes, a tensor (T, N, C).
        targets: the labels, class numbers in [0, C): a tensor (N, S), or those of all samples one after the other.
        input_lengths: how many steps of each sample count, N ints of at most T.
        target_lengths: how many labels of each sample count, N ints of at most S.
        blank: the class of no label, in [0, C).
        reduction: "none" for N losses, "sum", or "mean", where each loss is divided by its label count first.
        zero_infinity: whether losses of samples with too few steps for their labels are 0, and their gradients, instead
            of infinite.

    Returns:
        The loss, and the log-probabilities of all beginnings of the labels with blanks between (N, T, 2 * S + 1): -inf
        for impossible ones, and after the steps or labels that count. Of targets without a batch axis, S is the largest
        of ``target_lengths``.

    Raises:
        TypeError: ``log_probs`` is not a Tensor.
        ValueError: ``blank`` or a label is not a class, a length does not fit, or an unknown ``reduction``.
    """
    return _ctc(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)


def _ctc(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Array | Sequence[int],
    target_lengths: Tensor | Array | Sequence[int],
    blank: int,
    reduction: str,
    zero_infinity: bool,
    merged: bool = True,
) -> tuple[Tensor, Tensor]:
    """Return ``ctc_loss``; without ``merged``, each repetition of a class in a path is another label."""
    x = check_tensor(log_probs, "ctc_loss", "log_probs")
    if x.ndim != 3 or not 0 <= int_of(blank, "ctc_loss", "blank") < x.shape[2]:
        raise ValueError(f"For 'ctc_loss', 'blank' {blank} must be a class of 'log_probs' of shape {x.shape}")
    if taps.loss_taps:
        taps.notify_loss("ctc_loss", x, check_tensor(targets, "ctc_loss", "targets"))
    steps, count, _ = x.shape
    host = np.asarray(check_tensor(targets, "ctc_loss", "targets").asnumpy())
    step_counts, label_counts = (
        np.asarray(v.asnumpy() if isinstance(v, Tensor) else v).reshape(-1) for v in (input_lengths, target_lengths)
    )
    for argument, counts in (("input_lengths", step_counts), ("target_lengths", label_counts)):
        if counts.shape != (count,):
            raise ValueError(
                f"For 'ctc_loss', '{argument}' must have the shape {(count,)} for 'log_probs' of shape {x.shape}, "
                f"but got {counts.shape}"
            )
    if step_counts.size and step_counts.max() > steps:
        raise ValueError(f"For 'ctc_loss', 'input_lengths' must be at most {steps}, but got {step_counts.max()}")
    capacity = host.shape[1] if host.ndim == 2 else host.size
    if label_counts.size and (
        label_counts.min() < 0 or (label_counts.max() if host.ndim == 2 else label_counts.sum()) > capacity
    ):
        raise ValueError(f"For 'ctc_loss', 'target_lengths' {label_counts} do not fit 'targets' of shape {host.shape}")
    longest = int(label_counts.max()) if count else 0
    surplus = 2 * (host.shape[1] - longest) if host.ndim == 2 else 0
    if host.ndim == 1:
        starts = np.concatenate([[0], np.cumsum(label_counts)[:-1]])
        rows = np.zeros((count, max(longest, 1)), np.int64)
        for sample, (start, length) in enumerate(zip(starts, label_counts, strict=True)):
            rows[sample, :length] = host[start : start + length]
        host = rows
    valid = host[:, :longest][np.arange(longest) < label_counts[:, None]]
    if valid.size and not 0 <= valid.min() <= valid.max() < x.shape[2]:
        raise ValueError(f"For 'ctc_loss', 'targets' must be classes in [0, {x.shape[2]}), but got {valid.tolist()}")
    size = 2 * longest + 1
    path = np.full((count, size), blank, np.int64)
    path[:, 1::2] = np.where(np.arange(longest) < label_counts[:, None], host[:, :longest], blank)
    skip = np.zeros((count, size), bool)
    skip[:, 2:] = (path[:, 2:] != blank) & ((path[:, 2:] != path[:, :-2]) | (not merged))
    device = array_module(x._array)
    lowest = -1e30  # a log-probability of 0 that no operation turns into NaN
    columns = (slice(None), device.asarray(np.arange(count)[:, None]), device.asarray(path))
    emissions = getitem(x, (columns[0], Tensor._wrap(columns[1]), Tensor._wrap(columns[2])))
    can_skip = Tensor._wrap(device.asarray(skip))
    can_stay = Tensor._wrap(device.asarray((path == blank) | merged))
    padding = constant(device.full((count, 1), lowest, x._array.dtype))
    is_start = Tensor._wrap(device.asarray(np.arange(size)[None, :] < 2).repeat(count, axis=0))
    alpha = where(is_start, getitem(emissions, 0), lowest)
    alphas = [alpha]
    for t in range(1, steps):
        previous = concat([padding, padding, alpha], 1)
        advance = getitem(previous, (slice(None), slice(1, size + 1)))
        jump = where(can_skip, getitem(previous, (slice(None), slice(0, size))), lowest)
        stay = alpha if merged else where(can_stay, alpha, lowest)
        top = stop_gradient(maximum(maximum(stay, advance), jump))
        total = add(add(exp(sub(stay, top)), exp(sub(advance, top))), exp(sub(jump, top)))
        new = maximum(add(add(log(total), top), getitem(emissions, t)), lowest)
        alive = Tensor._wrap(device.asarray((t < step_counts)[:, None]))
        alpha = where(alive, new, alpha)
        alphas.append(new)
    samples = constant(device.arange(count))
    blank_end = getitem(alpha, (samples, Tensor._wrap(device.asarray(2 * label_counts))))
    label_end = where(
        Tensor._wrap(device.asarray(label_counts > 0)),
        getitem(alpha, (samples, Tensor._wrap(device.asarray(np.maximum(2 * label_counts - 1, 0))))),
        lowest,
    )
    top = stop_gradient(maximum(blank_end, label_end))
    losses = neg(add(log(add(exp(sub(blank_end, top)), exp(sub(label_end, top)))), top))
    impossible = Tensor._wrap(losses._array > 1e29)
    losses = where(impossible, 0.0 if zero_infinity else math.inf, losses)
    paths = transpose(stack(alphas, 0), (1, 0, 2))
    can_be = (np.arange(steps)[:, None] < step_counts[:, None, None]) & (
        np.arange(size) < 2 * label_counts[:, None, None] + 1
    )
    paths = where(Tensor._wrap((paths._array > lowest) & device.asarray(can_be)), paths, -math.inf)
    if surplus:
        unreachable = device.full((count, steps, surplus), -math.inf, x._array.dtype)
        paths = concat([paths, Tensor._wrap(unreachable)], 2)
    if reduction == "mean":
        counts = device.asarray(np.maximum(label_counts, 1)).astype(x._array.dtype)
        return mean(div(losses, Tensor._wrap(counts))), paths
    return reduced(losses, reduction, "ctc_loss"), paths


def _labels(row: Array, most: int, collapsed: bool) -> Array:
    """Return the labels of a sample before the first number not below ``most``; ``collapsed``, without repetitions."""
    ends = np.flatnonzero(row >= most)
    labels = row[: ends[0]] if ends.size else row
    return labels[np.append(True, labels[1:] != labels[:-1])[: labels.size]] if collapsed else labels


@declare(
    primitive=prim(
        "CTCLoss", preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False
    )
)
def _ctc_of_scores(
    x: Tensor,
    indices: Tensor,
    values: Tensor,
    lengths: Tensor,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[Tensor, Tensor]:
    """Return the losses of scores whose last class is the blank, with labels given by positions, and their gradient.

    Args:
        x: scores before the softmax, a tensor (T, N, C).
        indices: the positions (sample, number) of the labels, an integer tensor (L, 2).
        values: the labels at these positions, an integer tensor (L,). The labels of a sample end before the first that
            is C - 1 or more.
        lengths: how many steps of each sample count, an integer tensor (N,).
        preprocess_collapse_repeated: whether labels that are repeated count once.
        ctc_merge_repeated: whether classes that are repeated in a path, without a blank between, count once; otherwise
            each is a label.
        ignore_longer_outputs_than_inputs: whether a sample with more labels than steps has the loss and the gradient
            0, instead of raising an error.

    Returns:
        N losses, and the gradient of their sum by ``x`` (T, N, C).

    Raises:
        ValueError: labels or lengths that do not fit.
        RuntimeError: a sample has more labels than steps.
    """
    positions, numbers, steps = indices.asnumpy(), values.asnumpy(), lengths.asnumpy()
    targets = np.zeros((x.shape[1], int(positions[:, 1].max(initial=0)) + 1), np.int32)
    counts = np.zeros(x.shape[1], np.int32)
    for sample in range(x.shape[1]):
        mask = positions[:, 0] == sample
        labels = _labels(numbers[mask][positions[mask, 1].argsort()], x.shape[2] - 1, preprocess_collapse_repeated)
        counts[sample] = labels.size
        targets[sample, : labels.size] = labels
    short = np.flatnonzero(counts > steps)
    if short.size and not ignore_longer_outputs_than_inputs:
        raise RuntimeError(
            f"For 'CTCLoss', a sample must have at least as many steps as labels, but sample {short[0]} has "
            f"{steps[short[0]]} steps for {counts[short[0]]} labels"
        )
    rows, label_counts = Tensor(targets), Tensor(counts)
    fits = Tensor._wrap(array_module(x._array).asarray(counts <= steps))

    def losses(x: Tensor) -> Tensor:
        blank = x.shape[2] - 1
        loss = _ctc(log_softmax(x, -1), rows, lengths, label_counts, blank, "none", False, ctc_merge_repeated)[0]
        return where(fits, loss, 0.0)

    return losses(x), grad(lambda x: losses(x).sum())(x)


@declare(primitive=prim("CTCGreedyDecoder", merge_repeated=True))
def ctc_greedy_decoder(
    inputs: Tensor, sequence_length: Tensor, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the labels of the best path, of the largest score in each step, without blanks (Graves et al. 2006).

    Args:
        inputs: scores of T steps, N samples and C classes, the last of which is the blank: a tensor (T, N, C) of
            Float32 or Float64.
        sequence_length: how many steps of each sample count, an Int32 tensor (N,) of at most T.
        merge_repeated: whether a class that is repeated without a blank between is one label.

    Returns:
        The positions (sample, number) of all labels (L, 2), the labels (L,), the number of samples and the largest
        number of labels of one (2,), all in Int64; and the negative sum of the largest scores of each sample (N, 1), in
        the dtype of ``inputs`` and with its gradient.

    Raises:
        TypeError: an argument of the wrong kind or dtype.
        ValueError: arguments of the wrong shapes, or more steps than there are.
    """
    name = "ctc_greedy_decoder"
    check_bool(merge_repeated, name, "merge_repeated")
    for argument, value, axes, dtypes in (
        ("inputs", inputs, 3, (float32, float64)),
        ("sequence_length", sequence_length, 1, (int32,)),
    ):
        if check_tensor(value, name, argument).ndim != axes:
            raise ValueError(f"For '{name}', '{argument}' must have {axes} axes, but got shape {value.shape}")
        if value.dtype not in dtypes:
            raise TypeError(
                f"For '{name}', '{argument}' must be of {' or '.join(map(str, dtypes))}, but got {value.dtype}"
            )
    steps, count, classes = inputs.shape
    lengths = sequence_length.asnumpy()
    if lengths.shape != (count,) or lengths.max(initial=0) > steps:
        raise ValueError(
            f"For '{name}', 'sequence_length' must be {count} lengths of at most {steps}, but got {lengths.tolist()}"
        )
    best = inputs._array.argmax(axis=-1)
    valid = np.arange(steps)[:, None] < lengths
    device = array_module(best)
    index = (device.arange(steps)[:, None], device.arange(count), best)
    scores = getitem(inputs, tuple(Tensor._wrap(value) for value in index))
    scores = where(Tensor._wrap(device.asarray(valid)), scores, 0.0)
    path = best.get() if device is not np else best
    emits = valid & (path != classes - 1)
    if merge_repeated:
        emits[1:] &= path[1:] != path[:-1]
    samples, times = np.nonzero(emits.T)
    numbers = (emits.cumsum(axis=0) - 1)[times, samples]
    shape = (count, int(numbers.max(initial=-1)) + 1)
    parts = (np.stack([samples, numbers], axis=1), path[times, samples], shape)
    outputs = [Tensor._wrap(device.asarray(value, dtype=np.int64)) for value in parts]
    return outputs[0], outputs[1], outputs[2], sub(0.0, scores.sum(0)).reshape(-1, 1)
