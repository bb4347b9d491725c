"""Cross-entropy of a row of logits with the index of its class, and its gradient."""

from __future__ import annotations

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.arrays.rows import per_part
from hookscope.engine.cpu.compiling import address, is_worth, kernels, ready
from hookscope.engine.cpu.threads import share
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"]


def sparse_softmax_cross_entropy(logits: Array, labels: Array, ignore_index: int) -> tuple[Array, Array]:
    """Return the loss of each row of `logits` (N, C), 0 where its label is `ignore_index`, and its log-sum-exp."""
    xp = array_module(logits)
    keep = _is_counted(logits, labels, ignore_index)
    if is_worth(logits, _LEAST):
        return _compiled(logits, labels, ignore_index)
    wide = widen(logits)
    if logits.shape[0] == 0:
        return narrow(wide.sum(axis=1), logits), wide.sum(axis=1)
    largest = wide.max(axis=1)
    lse = largest + xp.log(xp.exp(wide - largest[:, None]).sum(axis=1))
    if xp is not np:
        hot = _hot(labels, wide)
        # An invalid label has the loss NaN, unless it is ignored.
        loss = xp.where(hot.any(axis=1), lse - xp.where(hot, wide, 0).sum(axis=1), np.nan)
        return narrow(xp.where(keep, loss, 0), logits), lse
    loss = lse - wide[_label_positions(labels, keep)]
    return narrow(loss if keep is None else xp.where(keep, loss, lse.dtype.type(0)), logits), lse


def sparse_softmax_cross_entropy_grad(g: Array, logits: Array, labels: Array, lse: Array, ignore_index: int) -> Array:
    """Return the gradient for `logits`, from the gradient `g` (N,) of the losses and the forward log-sum-exp."""
    xp = array_module(logits)
    if is_worth(logits, _LEAST) and g.dtype == np.float32:
        return _compiled_grad(g, logits, labels, lse, ignore_index)
    d = xp.exp(widen(logits) - lse[:, None])
    if xp is not np:
        hot = _hot(labels, d)
        d -= hot
        d *= xp.where(hot.any(axis=1), widen(g), np.nan)[:, None].astype(d.dtype, copy=False)
        return narrow(xp.where((labels != ignore_index)[:, None], d, 0), logits)
    keep = _unless_all(labels != ignore_index)
    d[_label_positions(labels, keep)] -= 1.0
    d *= widen(g)[:, None]
    return narrow(d if keep is None else xp.where(keep[:, None], d, d.dtype.type(0)), logits)


_LEAST = 1 << 12
"""Logits from which the compiled form is faster: NumPy needs about a dozen calls for the same."""


def _compiled(logits: Array, labels: Array, ignore_index: int) -> tuple[Array, Array]:
    logits, labels = ready(logits), ready(labels.astype(np.int64, copy=False))
    rows, count = logits.shape
    part_rows, parts = per_part(rows, count)
    loss, lse = np.empty((2, rows), np.float32)
    share(
        kernels("cross_entropy").cross_entropy,
        parts,
        address(logits),
        rows,
        count,
        part_rows,
        labels,
        ignore_index,
        loss,
        lse,
    )
    return loss, lse


def _compiled_grad(g: Array, logits: Array, labels: Array, lse: Array, ignore_index: int) -> Array:
    logits, labels = ready(logits), ready(labels.astype(np.int64, copy=False))
    rows, count = logits.shape
    part_rows, parts = per_part(rows, count)
    d = np.empty_like(logits)
    share(
        kernels("cross_entropy").cross_entropy_grad,
        parts,
        address(logits),
        address(d),
        rows,
        count,
        part_rows,
        labels,
        ignore_index,
        ready(g),
        ready(lse),
    )
    return d


def _is_counted(logits: Array, labels: Array, ignore_index: int) -> Array | None:
    """Return a mask of the rows that count, None if all do; raise an error if one of their labels is invalid.

    No error on a GPU, which would need a synchronization: there invalid rows are NaN.
    """
    classes = logits.shape[1]
    keep = labels != ignore_index
    if array_module(labels) is not np:
        return keep
    if labels.size and labels.min() >= 0 and labels.max() < classes:
        return _unless_all(keep)
    wrong = keep & ((labels < 0) | (labels >= classes))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"labels must lie in [0, {classes}) or equal ignore_index, got {int(labels[row])} in row {row}"
        )
    return keep


def _unless_all(keep: Array) -> Array | None:
    """Return the mask, None if all rows count."""
    return None if keep.all() else keep


def _hot(labels: Array, like: Array) -> Array:
    """Return whether a column is that of the row's label; on a GPU, where indices out of range would wrap around."""
    hot: Array = labels[:, None] == array_module(labels).arange(like.shape[1])
    return hot


def _label_positions(labels: Array, keep: Array | None) -> tuple[Array, Array]:
    """Return the indices of each row's labeled logit; column 0 for an ignored row."""
    return np.arange(labels.shape[0]), labels if keep is None else np.where(keep, labels, labels.dtype.type(0))
