"""Checks of attention and its gradients in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import BFLOAT16, DTYPES, normal, run, suits

from hookscope.triton_kernels import attention as family

# Sums of as many products as a head is long, in three TF32 products (the interpreter's are exact) or in half precision.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def reference(
    q: Any, k: Any, v: Any, mask: Any, scale: float, g: Any = None
) -> tuple[Any, ...]:
    """In float64 and from whole matrices: y, the log-sum-exp of rows, the weights; with `g`, also dq, dk and dv."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * scale
    if mask is not None:
        scores = scores + mask.astype(np.float64)
    with np.errstate(all="ignore"):
        top = scores.max(-1, keepdims=True)
        powers = np.exp(scores - top)
        total = powers.sum(-1, keepdims=True)
        weights = powers / total
        sums = (top + np.log(total))[..., 0]
        y = weights @ v
        if g is None:
            return y, sums, weights
        g = g.astype(np.float64)
        slopes = weights * (g @ v.swapaxes(-1, -2) - (g * y).sum(-1, keepdims=True)) * scale
        found = (slopes @ k, slopes.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g)
        shared = [x.sum(axis=tuple(np.flatnonzero([a != b for a, b in zip(x.shape, like.shape, strict=True)])), keepdims=True)
                  for x, like in zip(found, (q, k, v), strict=True)]
    return (y, sums, weights, *shared)


def close(got: Any, want: Any, dtype: Any) -> None:
    assert got.dtype == dtype
    tolerance = TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=tolerance, atol=tolerance)


def agree(q: Any, k: Any, v: Any, mask: Any = None, scale: float | None = None) -> None:
    """Everything the kernels give, as the reference has it."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    g = normal(*lead, q.shape[-2], v.shape[-1], dtype=q.dtype, seed=9)
    want_y, want_sums, want_weights, *slopes = reference(q, k, v, mask, scale, g)
    y, sums = run("attention", q, k, v, mask, scale)
    close(y, want_y, q.dtype)
    assert sums.dtype == np.float32
    np.testing.assert_allclose(sums, want_sums, rtol=1e-5, atol=1e-5)
    close(run("attention_weights", q, k, mask, scale), want_weights, q.dtype)
    for got, want in zip(run("attention_grad", g, y, sums, q, k, v, mask, scale), slopes, strict=True):
        assert got.shape == want.shape
        close(got, want, q.dtype)


def causal(length: int, keys: int, dtype: Any = np.float32) -> Any:
    return np.triu(np.full((length, keys), -np.inf), keys - length + 1).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("length", "keys", "width", "values"),
    [(1, 1, 1, 1), (5, 7, 3, 2), (33, 70, 16, 16), (64, 64, 32, 32), (20, 40, 80, 64), (17, 18, 130, 256)],
)
def test_odd_lengths(length: int, keys: int, width: int, values: int, dtype: Any) -> None:
    q, k, v = normal(2, length, width, dtype=dtype), normal(2, keys, width, dtype=dtype, seed=1), normal(2, keys, values, dtype=dtype, seed=2)
    agree(q, k, v)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masks(dtype: Any) -> None:
    q, k, v = (normal(2, 3, 35, 16, dtype=dtype, seed=seed) for seed in range(3))
    agree(q, k, v, causal(35, 35, dtype))
    padding = np.zeros((2, 1, 1, 35), dtype)
    padding[0, ..., 20:] = -np.inf
    agree(q, k, v, padding)
    agree(q, k, v, padding + causal(35, 35, dtype))
    agree(q, k, v, normal(2, 3, 35, 35, dtype=dtype, seed=5))
    agree(q, k, v, normal(35, dtype=dtype, seed=5), 0.3)
    agree(q, k, v, normal(3, 35, 1, seed=5))
