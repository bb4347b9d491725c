"""Adam on arrays against formulas in float64, gradients against central differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from kernel_references import normal

from hookscope.engine.cpu.optim import adam


@pytest.mark.parametrize("nesterov", [False, True])
def test_adam_follows_the_published_update(nesterov: bool) -> None:
    beta1, beta2, eps = 0.9, 0.999, 1e-8
    p, m, v = normal(6), np.zeros(6), np.zeros(6)
    want = [[t, 0.0, 0.0] for t in p.tolist()]
    for step in range(1, 4):
        grad = normal(6, seed=step)
        lr_t = 0.01 * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        p, m, v = adam.adam(p, m, v, grad, lr_t, beta1, beta2, eps, nesterov)
        for row, g in zip(want, grad.tolist(), strict=True):
            row[1] = beta1 * row[1] + (1 - beta1) * g
            row[2] = beta2 * row[2] + (1 - beta2) * g * g
            numerator = beta1 * row[1] + (1 - beta1) * g if nesterov else row[1]
            row[0] -= lr_t * numerator / (math.sqrt(row[2]) + eps)
    np.testing.assert_allclose(np.stack([p, m, v], 1), want, rtol=1e-13)


def test_adam_keeps_dtypes_and_changes_no_argument() -> None:
    param = normal(5).astype(np.float16)
    moments = np.zeros((2, 5), np.float32)
    before = param.copy(), moments.copy()
    results = adam.adam(param, moments[0], moments[1], param, 0.1, 0.9, 0.999, 1e-8, False)
    assert [result.dtype.name for result in results] == ["float16", "float32", "float32"]
    assert np.array_equal(param, before[0])
    assert np.array_equal(moments, before[1])
