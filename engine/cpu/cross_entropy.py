"""Cross-entropy of a row of logits with the index of its class, and its gradient."""

from __future__ import annotations

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_grad"]


def sparse_softmax_cross_entropy(logits: Array, labels: Array, ignore_index: int) -> tuple[Array, Array]:
    """Loss of each row of `logits` (N, C), 0 where its label is `ignore_index`, and its log-sum-exp."""
    xp = array_module(logits)
    wide = widen(logits)
    keep = labels != ignore_index
    rows, columns = _label_positions(logits, labels, keep)
    if logits.shape[0] == 0:
        return narrow(wide.sum(axis=1), logits), wide.sum(axis=1)
    largest = wide.max(axis=1)
    lse = largest + xp.log(xp.exp(wide - largest[:, None]).sum(axis=1))
    loss = xp.where(keep, lse - wide[rows, columns], lse.dtype.type(0))
    return narrow(loss, logits), lse


def sparse_softmax_cross_entropy_grad(
    g: Array, logits: Array, labels: Array, lse: Array, ignore_index: int
) -> Array:
    """Gradient for `logits`, from the gradient `g` (N,) of the losses and the forward log-sum-exp."""
    xp = array_module(logits)
    keep = labels != ignore_index
    rows, columns = _label_positions(logits, labels, keep)
    d = xp.exp(widen(logits) - lse[:, None])
    d[rows, columns] -= 1.0
    d *= widen(g)[:, None]
    return narrow(xp.where(keep[:, None], d, d.dtype.type(0)), logits)


def _label_positions(logits: Array, labels: Array, keep: Array) -> tuple[Array, Array]:
    """Indices of each row's labeled logit; an ignored row points at column 0."""
    xp = array_module(logits)
    classes = logits.shape[1]
    wrong = keep & ((labels < 0) | (labels >= classes))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"labels must lie in [0, {classes}) or equal ignore_index, got {int(labels[row])} in row {row}"
        )
    return xp.arange(logits.shape[0]), xp.where(keep, labels, labels.dtype.type(0))
