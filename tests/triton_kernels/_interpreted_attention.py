"""Checks of attention and its gradients in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import BFLOAT16, DTYPES, normal, run, suits

from hookscope.engine.cpu.neural import attention as on_cpu
from hookscope.triton_kernels import attention as family

# Of sums of products that the interpreter computes in single precision, of operands in the dtype.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
FLOAT32 = np.dtype(np.float32)


def reference(q: Any, k: Any, v: Any, mask: Any, scale: float, g: Any) -> tuple[Any, ...]:
    """Return y, the log-sum-exp of rows, the weights, dq, dk and dv, in float64 from whole matrices."""
    g, q, k, v = (x.astype(np.float64) for x in (g, q, k, v))
    scores = q @ k.swapaxes(-1, -2) * scale + (0.0 if mask is None else mask.astype(np.float64))
    with np.errstate(all="ignore"):
        top = scores.max(-1, keepdims=True)
        total = np.exp(scores - top).sum(-1, keepdims=True)
        weights = np.exp(scores - top) / total
        y = weights @ v
        slopes = weights * (g @ v.swapaxes(-1, -2) - (g * y).sum(-1, keepdims=True)) * scale
        result = slopes @ k, slopes.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g
        return y, (top + np.log(total))[..., 0], weights, *map(added_up, result, (q, k, v))


def added_up(slopes: Any, x: Any) -> Any:
    axes = [axis for axis in range(x.ndim) if slopes.shape[axis] != x.shape[axis]]
    return slopes.sum(axis=tuple(axes), keepdims=True)


def close(actual: Any, want: Any, dtype: Any) -> None:
    assert actual.dtype == dtype
    assert actual.shape == want.shape
    tolerance = TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(np.asarray(actual, np.float64), want, rtol=tolerance, atol=tolerance)


def agree(q: Any, k: Any, v: Any, mask: Any = None, scale: float = 0.3) -> tuple[Any, ...]:
    """Assert that results and gradients are those of the reference; return them."""
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    g = normal(*lead, q.shape[-2], v.shape[-1], dtype=q.dtype, seed=9)
    want_y, want_sums, _, *slopes = reference(q, k, v, mask, scale, g)
    y, sums = run("attention", q, k, v, mask, scale)
    close(y, want_y, q.dtype)
    assert sums.dtype == FLOAT32
    np.testing.assert_allclose(sums, want_sums, rtol=1e-5, atol=1e-5)
    result = run("attention_grad", g, y, sums, q, k, v, mask, scale)
    for actual, want in zip(result, slopes, strict=True):
        close(actual, want, q.dtype)
    return y, *result


def causal(length: int, keys: int, dtype: Any = FLOAT32) -> Any:
    return np.triu(np.full((length, keys), -np.inf), keys - length + 1).astype(dtype)


def operands(length: int, keys: int, width: int, values: int, dtype: Any, *lead: int) -> tuple[Any, ...]:
    shapes = (length, width), (keys, width), (keys, values)
    return tuple([normal(*lead, *shape, dtype=dtype, seed=seed) for seed, shape in enumerate(shapes)])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("length", "keys", "width", "values"),
    [(1, 1, 1, 1), (5, 7, 3, 2), (33, 70, 16, 16), (64, 64, 32, 32), (20, 40, 80, 64), (17, 18, 100, 128)],
)
def test_lengths_that_divide_the_blocks_and_others(length: int, keys: int, width: int, values: int, dtype: Any) -> None:
    agree(*operands(length, keys, width, values, dtype), scale=width**-0.5)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_masks_are_added_and_repeated(dtype: Any) -> None:
    q, k, v = operands(20, 35, 16, 16, dtype, 2, 1)
    padding = np.zeros((2, 1, 1, 35), dtype)
    padding[0, ..., 20:] = -np.inf
    agree(q, k, v, padding)
    agree(q, k, v, padding + causal(20, 35, dtype))


def test_masks_of_other_axes_dtypes_and_layouts() -> None:
    q, k, v = operands(9, 12, 16, 16, np.float16, 2)
    for mask in (
        normal(2, 9, 12, seed=5),
        normal(2, 9, 1, seed=5),
        normal(12, 9, dtype=BFLOAT16).T,
        normal(9, 24)[::-1, ::2],
        np.array(2.0, np.float32),
        normal(12, seed=6),
    ):
        agree(q, k, v, mask)


@pytest.mark.parametrize("far", [200.0, -200.0])
def test_scores_that_are_far_from_those_of_rows_and_keys_beside_the_blocks(far: float) -> None:
    q, k, v = operands(9, 12, 16, 16, FLOAT32, 1)
    with np.errstate(all="ignore"):
        agree(q, k / 16, v, np.full(12, far, np.float32))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_all_weights_at_once(dtype: Any) -> None:
    q, k, _ = operands(20, 70, 24, 1, dtype, 2, 2)
    k = k[:, :1]
    for mask in (None, causal(20, 70, dtype)):
        want = reference(q, k, k, mask, 0.3, np.zeros((2, 2, 20, 24)))[2]
        close(run("attention_weights", q, k, mask, 0.3), want, dtype)


@pytest.mark.parametrize(("lead", "heads"), [((2, 2), (2, 1)), ((1, 2, 2), (1, 2, 1)), ((2, 2), (1, 1))])
def test_heads_that_share_keys_and_values(lead: tuple[int, ...], heads: tuple[int, ...]) -> None:
    q, k, v = operands(20, 18, 16, 16, FLOAT32, *lead)
    k, v = (x[tuple(slice(0, size) for size in heads)] for x in (k, v))
    agree(q, k, v, normal(*lead, 20, 18, seed=4))


def test_what_is_no_matrix_in_c_order() -> None:
    projection = normal(2, 20, 3, 3, 16)  # as one projection gives queries, keys and values of all heads
    q, k, v = (projection[:, :, part].transpose(0, 2, 1, 3) for part in range(3))
    y, dq, dk, dv = agree(q, k, v)
    for output in (y, dq, dk, dv):
        assert output.transpose(0, 2, 1, 3).flags.c_contiguous, "the heads are adjacent in memory again"
    agree(q[..., ::-1], k[..., ::2].repeat(2, -1), v.swapaxes(-1, -2).copy().swapaxes(-1, -2))


@pytest.mark.parametrize("length", [45, 64])
def test_ranges_of_keys_are_found_in_the_mask(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_LEAST_RANGED", 1), ("_KEYS", 16), ("_ROWS", 16)):
        monkeypatch.setattr(family, name, value)
    for table, tile in (("_FORWARD", (32, 32)), ("_DQ", (16, 16)), ("_DKV", (32, 16))):
        monkeypatch.setattr(family, table, {(4, 64): family._Tile(*tile, 4, 1)})
    q, k, v = operands(length, length, 16, 16, FLOAT32, 1)
    within = causal(length, length)
    window, padding = within.copy(), np.zeros((1, length), np.float32)
    window[np.subtract.outer(np.arange(length), np.arange(length)) > 10] = -np.inf
    padding[:, 30:] = -np.inf
    for mask in (window, padding):
        agree(q, k, v, mask)
    q[:, -1] = np.nan  # looks at the last keys alone
    y, sums = run("attention", q, k, v, window, 0.3)
    _, dk, _ = run("attention_grad", y, y, sums, q, k, v, window, 0.3)
    assert not np.isnan(dk[:, :16]).any(), "blocks of queries that mask all these keys are skipped"
    assert np.isnan(dk[:, -1]).all()
    q[:, -1] = 0.5
    within[40] = -np.inf
    with np.errstate(all="ignore"):
        _, dq, dk, _ = agree(q, k, v, within)
    assert np.isnan(dq[:, 40]).all()
    assert np.isnan(dk).all(), "the gradient of a fully masked row goes to all keys"
    k[:, -1] = np.nan  # only the last query looks at it
    y, _ = run("attention", q, k, v, causal(length, length), 0.3)
    assert np.isnan(y[:, -1]).all()
    assert not np.isnan(y[:, :32]).any(), "blocks of keys that all these queries mask are skipped"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_rows_that_look_at_nothing_and_what_is_not_finite_are_as_on_the_cpu(dtype: Any) -> None:
    q, k, v = operands(6, 20, 16, 16, dtype, 5)
    mask = np.zeros((5, 6, 20), dtype)
    mask[0, 2] = -np.inf  # a row that looks at nothing
    q[1, 3, 2], k[2, 5, 1], v[3, 7, 4], k[4, 1, 0] = np.nan, np.nan, np.inf, np.inf
    g = normal(5, 6, 16, dtype=dtype, seed=9)
    with np.errstate(all="ignore"):
        y, sums = on_cpu.attention(q, k, v, mask, 0.3)
        slopes = on_cpu.attention_grad(g, y, sums, q, k, v, mask, 0.3)
    ours, our_sums = run("attention", q, k, v, mask, 0.3)
    for result, want in zip((ours, our_sums), (y, sums), strict=True):
        np.testing.assert_array_equal(np.isnan(result.astype(np.float32)), np.isnan(want.astype(np.float32)))
    for result, want in zip(run("attention_grad", g, ours, our_sums, q, k, v, mask, 0.3), slopes, strict=True):
        np.testing.assert_array_equal(np.isfinite(result.astype(np.float32)), np.isfinite(want.astype(np.float32)))


def test_the_gradients_are_the_same_every_time() -> None:
    q, k, v = operands(40, 70, 16, 16, FLOAT32, 2)
    g = normal(2, 40, 16, seed=9)
    y, sums = run("attention", q, k, v, None, 0.3)
    once, again = (run("attention_grad", g, y, sums, q, k, v, None, 0.3) for _ in range(2))
    for a, b in zip(once, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_does_not_qualify() -> None:
    q, k, v = operands(4, 5, 3, 2, FLOAT32, 2)
    assert suits("attention", q, k, v, None, 0.3)
    assert not suits("attention", q, k[:, :4], v, None, 0.3), "as many keys as values"
    assert not suits("attention", q, k[..., :2], v, None, 0.3), "queries longer than keys"
    assert not suits("attention", q, k.astype(np.float16), v, None, 0.3), "two dtypes"
    assert not suits("attention", q, k, v, np.zeros((3, 5), np.float32), 0.3), "a mask of another shape"
    assert not suits("attention", q, k, v, np.zeros((3, 2, 4, 5), np.float32), 0.3), "a mask of more axes"
    assert not suits("attention", q, k, v, np.zeros((4, 5), bool), 0.3), "a mask that is not of floats"
    assert not suits("attention", normal(3, 4, 3), k, v, None, 0.3), "heads that do not broadcast"
    assert not suits("attention", normal(2, 4, 300), normal(2, 5, 300), v, None, 0.3), "heads too long"
    y, sums = normal(2, 4, 2), normal(2, 4)
    assert suits("attention_grad", y, y, sums, q, k, v, None, 0.3)
    assert not suits("attention_grad", y, y, sums.astype(np.float64), q, k, v, None, 0.3), "sums in double precision"
    assert not suits("attention_grad", y, y, sums, q[:1], k, v, None, 0.3), "queries that are shared"
    wide_head = normal(2, 4, 200)
    assert not suits("attention_grad", wide_head, wide_head, sums, wide_head, wide_head, wide_head, None, 0.3)
