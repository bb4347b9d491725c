"""Cross-entropy of rows of logits with the index of a class, in one pass, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..library.loops import RUN, exp, f32, f64, floats, helper, i64, kernel, largest, read_array, written_array

__all__ = ["cross_entropy", "cross_entropy_grad"]


@helper
def _exponentials(x: Any, top: Any) -> Any:
    total = f64(0)
    for start in range(0, x.size, RUN):
        run, part = x[start : start + RUN], f32(0)
        for i in range(run.size):
            part += exp(run[i] - top)
        total += f64(part)
    return total


@kernel(i64, i64, i64, i64, read_array(i64), i64, written_array(), written_array())
def cross_entropy(
    first: int, stop: int, x: int, rows: int, count: int, each: int, labels: Any, ignored: int, loss: Any, lse: Any
) -> None:
    """Compute log(sum(exp(x))) of x (rows, count), and that less the labeled logit; 0 for an ``ignored`` label."""
    for row in range(first * each, min(stop * each, rows)):
        logits = floats(x + 4 * row * count, count)
        top = largest(logits)
        above = np.log(_exponentials(logits, top))
        lse[row] = f32(top + above)
        loss[row] = f32(0) if labels[row] == ignored else f32(above - (f64(logits[labels[row]]) - top))


@helper
def _probabilities(x: Any, dx: Any, lse: Any, factor: Any) -> None:
    for i in range(x.size):
        dx[i] = exp(x[i] - lse) * factor


@kernel(i64, i64, i64, i64, i64, read_array(i64), i64, read_array(), read_array())
def cross_entropy_grad(
    first: int,
    stop: int,
    x: int,
    dx: int,
    rows: int,
    count: int,
    each: int,
    labels: Any,
    ignored: int,
    g: Any,
    lse: Any,
) -> None:
    """Compute the gradient for x, from that of the losses."""
    for row in range(first * each, min(stop * each, rows)):
        logits, new, label = floats(x + 4 * row * count, count), floats(dx + 4 * row * count, count), labels[row]
        if label == ignored:
            new[:] = 0
        else:
            _probabilities(logits, new, lse[row], g[row])
            new[label] = (exp(logits[label] - lse[row]) - f32(1)) * g[row]
