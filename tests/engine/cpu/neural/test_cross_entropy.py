"""Cross-entropy on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, assert_gradient, close, normal

from hookscope.engine.cpu.neural import cross_entropy


@pytest.mark.parametrize("labels", [(0, 6, -100, 3, 3), (0, 6, 1, 3, 3), (-100,) * 5], ids=("some", "all", "none"))
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cross_entropy_follows_its_formula(dtype: np.dtype[Any], labels: Any) -> None:
    logits, labels = (3 * normal(5, 7)).astype(dtype), np.array(labels)
    loss, lse = cross_entropy.sparse_softmax_cross_entropy(logits, labels, -100)
    want = [math.log(sum(math.exp(float(t)) for t in row)) for row in logits]
    close(lse, want, np.dtype(np.float64 if dtype == np.float64 else np.float32))
    picked = [
        0.0 if label == -100 else w - float(row[label]) for w, row, label in zip(want, logits, labels, strict=True)
    ]
    close(loss, picked, dtype)


def test_cross_entropy_gradient_agrees_with_central_differences() -> None:
    logits, labels, g = normal(4, 5), np.array([0, 4, 2, 7]), normal(4, seed=1)
    _, lse = cross_entropy.sparse_softmax_cross_entropy(logits, labels, 7)
    gradient = cross_entropy.sparse_softmax_cross_entropy_grad(g, logits, labels, lse, 7)
    assert_gradient(gradient, lambda t: cross_entropy.sparse_softmax_cross_entropy(t, labels, 7)[0], logits, g)
    assert (gradient[3] == 0).all()


def test_cross_entropy_of_no_rows_is_empty() -> None:
    loss, lse = cross_entropy.sparse_softmax_cross_entropy(np.zeros((0, 3), np.float32), np.zeros(0, np.int64), -100)
    assert loss.shape == lse.shape == (0,)


def test_cross_entropy_names_a_label_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 3\) or equal .*, got 3 in row 1"):
        cross_entropy.sparse_softmax_cross_entropy(normal(2, 3), np.array([0, 3]), -100)
