"""Attention: softmax(q @ k.T * scale + mask) @ v, as one operator that keeps only the weights for its gradient."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.operator import Operator
from ..core.tensor import Tensor
from ..core.types import Array, Value
from ..cpu.matmul import matmul
from ..cpu.softmax import softmax

__all__: list[str] = []


def _kernel(q: Array, k: Array, v: Array, mask: Array | None, scale: float) -> tuple[Array, Array]:
    """(..., L, D), (..., S, D), (..., S, E) to (..., L, E), and the weights (..., L, S)."""
    dtype = q.dtype
    if dtype.itemsize < 4:
        q, k, v = (x.astype(np.float32) for x in (q, k, v))
    scores = matmul(q * q.dtype.type(scale), k, False, True)
    if mask is not None:
        scores += mask
    weights = softmax(scores, -1)
    return matmul(weights, v, False, False).astype(dtype, copy=False), weights.astype(dtype, copy=False)


def _rule(
    F: Any,
    needs: list[bool],
    g: tuple[Any, ...],
    out: tuple[Any, ...],
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None,
    scale: float,
) -> list[Any]:
    weights = out[1]
    of_weights = None
    dv = None
    if g[0] is not None:
        of_weights = F.matmul(g[0], v, transpose_a=False, transpose_b=True)
        dv = F.matmul(weights, g[0], transpose_a=True, transpose_b=False)
    if g[1] is not None:
        of_weights = g[1] if of_weights is None else of_weights + g[1]
    scores = F.softmax_grad(of_weights, weights, axis=weights.ndim - 1)
    dmask = None
    if mask is not None and needs[3]:
        dmask = scores if scores.shape == mask.shape else F.sum_to(scores, shape=tuple(mask.shape))
    scores = scores * scale
    dq = F.matmul(scores, k, transpose_a=False, transpose_b=False)
    dk = F.matmul(scores, q, transpose_a=True, transpose_b=False)
    return [dq, dk, dv, dmask]


_attention = Operator("attention", _kernel, joint_vjp=_rule)


def attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(q @ k.T * scale + mask) @ v, scaled dot-product attention (Vaswani et al. 2017), and its weights.

    Args:
        q: the queries (..., L, D).
        k: the keys (..., S, D).
        v: the values (..., S, E).
        mask: what is added to the products before the softmax, a tensor that broadcasts to (..., L, S);
            None for nothing.
        scale: the factor of the products; 1 / sqrt(D) without it.

    Returns:
        What each query takes from the values (..., L, E), and the weights (..., L, S), in the dtype of ``q``.
    """
    return _attention(q, k, v, mask, scale=1 / math.sqrt(q.shape[-1]) if scale is None else scale)
