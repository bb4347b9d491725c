"""Attention on arrays, and its gradients; large ones never store the scores of all queries with all keys."""

from __future__ import annotations

import math

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.arrays.matmul import addresses, matmul
from hookscope.engine.cpu.compiling import is_on, kernels, ready
from hookscope.engine.cpu.neural.softmax import softmax
from hookscope.engine.cpu.threads import share, single_threaded_blas
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["attention", "attention_grad", "attention_weights"]


def attention_weights(q: Array, k: Array, mask: Array | None, scale: float) -> Array:
    """Return softmax(q @ k.T * scale + mask) of `q` (..., L, D) and `k` (..., S, D): (..., L, S)."""
    return narrow(softmax(_scores(q, k, mask, scale), -1), q)


def _scores(q: Array, k: Array, mask: Array | None, scale: float) -> Array:
    q, k = widen(q), widen(k)
    scores = matmul(q * q.dtype.type(scale), k, False, True)
    if mask is not None:
        scores += mask
    return scores


def attention(q: Array, k: Array, v: Array, mask: Array | None, scale: float) -> tuple[Array, Array]:
    """Return softmax(q @ k.T * scale + mask) @ v, and the log-sum-exp of each row of scores.

    For `q` (..., L, D), `k` (..., S, D), `v` (..., S, E), with heads that may be shared, and a `mask` that broadcasts
    to (..., L, S) or None, the result is (..., L, E), in the memory order of `q` if it is compiled. The gradient needs
    only the sums (..., L) of the scores, at least in single precision; NaN where all scores of a row are -inf.
    """
    if _is_worth(q, k, v, mask):
        return _compiled(q, k, v, mask, scale)
    scores = _scores(q, k, mask, scale)
    if not scores.size:
        return narrow(matmul(scores, widen(v), False, False), q), scores.sum(-1)
    xp = array_module(scores)
    top = scores.max(axis=-1, keepdims=True)
    scores -= top
    xp.exp(scores, out=scores)
    totals = scores.sum(axis=-1, keepdims=True)
    scores /= totals
    return narrow(matmul(scores, widen(v), False, False), q), (top + xp.log(totals))[..., 0]


def attention_grad(
    g: Array, y: Array, sums: Array, q: Array, k: Array, v: Array, mask: Array | None, scale: float
) -> tuple[Array, Array, Array]:
    """Return gradients for `q`, `k` and `v` from `g` (..., L, E), and the result and the sums of `attention`.

    The gradients of heads that share one of them are summed.
    """
    if _is_worth(q, k, v, mask) and g.dtype == q.dtype:
        return _compiled_grad(g, y, sums, q, k, v, mask, scale)
    weights = _scores(q, k, mask, scale)
    weights -= sums[..., None]
    array_module(weights).exp(weights, out=weights)
    wide = widen(g)
    slopes = matmul(wide, widen(v), False, True)
    slopes -= (wide * widen(y)).sum(axis=-1, keepdims=True)
    slopes *= weights
    slopes *= slopes.dtype.type(scale)
    return (
        narrow(_added(matmul(slopes, widen(k), False, False), q), q),
        narrow(_added(matmul(slopes, widen(q), True, False), k), k),
        narrow(_added(matmul(weights, wide, True, False), v), v),
    )


def _added(slopes: Array, x: Array) -> Array:
    """Return the sum over heads that share one of `x`."""
    if slopes.shape == x.shape:
        return slopes
    leading = slopes.ndim - x.ndim
    shared = [axis for axis in range(slopes.ndim) if axis < leading or slopes.shape[axis] != x.shape[axis - leading]]
    return slopes.sum(axis=tuple(shared), keepdims=True).reshape(x.shape)


_LEAST = 1 << 14
"""Scores from which kernels compute."""
_PARTS = 8
"""Minimum of parts for few heads, if there are as many blocks."""


def _is_worth(q: Array, k: Array, v: Array, mask: Array | None) -> bool:
    single = all(type(x) is np.ndarray and x.dtype == np.float32 for x in (q, k, v, *(() if mask is None else (mask,))))
    if not (single and q.shape[:-2] == k.shape[:-2] == v.shape[:-2] and is_on()):
        return False
    scores = (*q.shape[:-1], k.shape[-2])
    if mask is not None:
        broadcasts = all(size in (1, length) for size, length in zip(mask.shape[::-1], scores[::-1], strict=False))
        if mask.ndim > len(scores) or not broadcasts:
            return False
    fits = q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2] and min(q.shape[-1], v.shape[-1]) > 0
    return fits and math.prod(scores) >= _LEAST


def _compiled(q: Array, k: Array, v: Array, mask: Array | None, scale: float) -> tuple[Array, Array]:
    inner = kernels("attention")
    q, k, v, mask = _by_rows(q), _by_rows(k), _by_rows(v), _whole_rows(mask, q.shape[-2], k.shape[-2])
    y, sums = _like(q, v.shape[-1]), np.empty(q.shape[:-1], np.float32)
    starts, leads = _table(q.shape[:-2], q, k, v, mask, y, sums[..., None])
    part_length, across = _shared_out(len(starts), q.shape[-2], inner.ROWS)
    with single_threaded_blas("scipy"):
        share(
            inner.attention,
            len(starts) * across,
            starts,
            leads,
            across,
            part_length,
            q.shape[-2],
            k.shape[-2],
            q.shape[-1],
            v.shape[-1],
            scale,
        )
    return y, sums


def _compiled_grad(
    g: Array, y: Array, sums: Array, q: Array, k: Array, v: Array, mask: Array | None, scale: float
) -> tuple[Array, Array, Array]:
    inner = kernels("attention")
    g, y, q, k, v = (_by_rows(x) for x in (g, y, q, k, v))
    mask, sums = _whole_rows(mask, q.shape[-2], k.shape[-2]), ready(sums)
    dq, dk, dv = _like(q, q.shape[-1]), _like(k, k.shape[-1]), _like(v, v.shape[-1])
    part_length, across = _shared_out(math.prod(q.shape[:-2]), k.shape[-2], inner.KEYS)
    parts = dq[None] if across == 1 else np.empty((across, *q.shape), np.float32)
    starts, leads = _table(q.shape[:-2], q, k, v, mask, y, sums[..., None], g, parts[0], dk, dv)
    with single_threaded_blas("scipy"):
        share(
            inner.attention_grad,
            len(starts) * across,
            starts,
            leads,
            across,
            part_length,
            q.size,
            q.shape[-2],
            k.shape[-2],
            q.shape[-1],
            v.shape[-1],
            scale,
        )
    return dq if across == 1 else parts.sum(axis=0, out=dq), dk, dv


def _shared_out(heads: int, length: int, block: int) -> tuple[int, int]:
    """Return the length of a part, in whole blocks, and the number of parts of each head."""
    part_length = -(-length // max(1, _PARTS // heads))
    part_length = -(-part_length // block) * block
    return part_length, -(-length // part_length)


def _by_rows(x: Array) -> Array:
    """Return matrices with rows in a form that BLAS accepts, without a copy if possible."""
    down, along = x.strides[-2:]
    if x.flags.aligned and along == 4 and down >= 4 * x.shape[-1] and not down % 4:
        return x
    return np.array(x, order="C")


def _whole_rows(mask: Array | None, length: int, keys: int) -> Array | None:
    """Return a mask with rows for all queries, or a single row broadcast, with contiguous rows."""
    if mask is None:
        return None
    contiguous_rows = mask.shape[-1:] == (keys,) and mask.strides[-1] == 4
    if not (contiguous_rows and mask.flags.aligned and not any(step % 4 for step in mask.strides)):
        mask = np.array(np.broadcast_to(mask, (*mask.shape[:-1], keys)), order="C")
    return np.broadcast_to(mask, (*mask.shape[:-2], length, keys))


def _like(x: Array, width: int) -> Array:
    """Return a new array of rows of this width, in the memory order of `x`."""
    result = np.empty_like(x, shape=(*x.shape[:-1], width))
    return result if result.strides[-1] == 4 else np.empty(result.shape, np.float32)


def _table(above: tuple[int, ...], *arrays: Array | None) -> tuple[Array, Array]:
    """Return the addresses of the matrices of each head, and the strides of their rows in elements; 0 for none."""
    none = np.zeros(math.prod(above), np.int64)
    starts = np.stack([none if x is None else addresses(x, above) for x in arrays], axis=1)
    return starts, np.array([0 if x is None else x.strides[-2] // 4 for x in arrays])
