"""Attention: softmax(q @ k.T * scale + mask) @ v, as one operator that keeps no scores for its gradient."""

from __future__ import annotations

import math
from typing import Any

from ...base.types import Value
from ...cpu.neural import attention as attention_kernels
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor

__all__: list[str] = []


def _shared(F: Any, slopes: Value, x: Value) -> Value:
    """Return a gradient summed over the heads that share one of ``x``."""
    return slopes if slopes.shape == x.shape else F.sum_to(slopes, shape=tuple(x.shape))


def _of_weights(F: Any, of_weights: Value, weights: Value, q: Value, k: Value, mask: Value | None, scale: float) -> Any:
    """Return the gradients for q, k and the mask from that of the weights."""
    scores = F.softmax_grad(of_weights, weights, axis=weights.ndim - 1)
    of_mask = None
    if mask is not None:
        of_mask = _shared(F, scores, mask)
    scores = scores * scale
    dq = F.matmul(scores, k, transpose_a=False, transpose_b=False)
    dk = F.matmul(scores, q, transpose_a=True, transpose_b=False)
    return _shared(F, dq, q), _shared(F, dk, k), of_mask


def _weights_rule(
    F: Any, needs: list[bool], g: Value, out: Value, q: Value, k: Value, mask: Value | None, scale: float
) -> list[Any]:
    return list(_of_weights(F, g, out, q, k, mask, scale))


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
    upstream = g[0]
    if not F.wraps and not needs[3]:
        return [*F.attention_grad(upstream, *out, q, k, v, mask, scale=scale), None]
    # For the mask, and for higher orders, all weights are recomputed.
    weights = F.attention_weights(q, k, mask, scale=scale)
    of_weights = F.matmul(upstream, v, transpose_a=False, transpose_b=True)
    dq, dk, dmask = _of_weights(F, of_weights, weights, q, k, mask, scale)
    dv = F.matmul(weights, upstream, transpose_a=True, transpose_b=False)
    return [dq, dk, _shared(F, dv, v), dmask]


_attention = Operator("attention", attention_kernels.attention, joint_vjp=_rule)
_attention_grad = Operator("attention_grad", attention_kernels.attention_grad)
_attention_weights = Operator("attention_weights", attention_kernels.attention_weights, joint_vjp=_weights_rule)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    """Return softmax(q @ k.T * scale + mask) @ v, scaled dot-product attention (Vaswani et al. 2017).

    Args:
        q: the queries (..., L, D).
        k: the keys (..., S, D); as many as axes before the last two have length 1 share their heads.
        v: the values (..., S, E), likewise.
        mask: an offset of the products before the softmax, a tensor that broadcasts to (..., L, S);
            None for no mask.
        scale: the factor of the products; 1 / sqrt(D) without it.

    Returns:
        The weighted values of each query (..., L, E), in the dtype of ``q``.
    """
    return _attention(q, k, v, mask, scale=_scale(q, scale))[0]


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None = None, scale: float | None = None) -> Tensor:
    """Return softmax(q @ k.T * scale + mask), the weights of the values in ``attention``.

    Args:
        q: as of ``attention``.
        k: as of ``attention``.
        mask: as of ``attention``.
        scale: as of ``attention``.

    Returns:
        The weights (..., L, S), in the dtype of ``q``.
    """
    return _attention_weights(q, k, mask, scale=_scale(q, scale))


def _scale(q: Tensor, scale: float | None) -> float:
    return 1 / math.sqrt(q.shape[-1]) if scale is None else scale
