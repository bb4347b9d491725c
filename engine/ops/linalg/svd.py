"""The singular value decomposition.

Its gradient: Giles, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic
Differentiation" (2008).
"""

from __future__ import annotations

import math
from typing import Any

from ...base.surfaces import declare, prim
from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import holds
from ..elementwise.comparison import where
from ..elementwise.complex_numbers import conj
from .matrices import (
    are_finite,
    diagonal_matrix,
    finite_matrices,
    gradient_of_first_columns,
    ones_of,
    or_zero,
    product_of,
    swapped,
    wide_kernel,
)
from .products import adjoint as conjugate_transpose

__all__ = ["svd"]


def _svd_kernel(linalg: Any, x: Array) -> tuple[Array, ...]:
    u, s, v = linalg.svd(x, full_matrices=False)
    return s, u, array_module(v).ascontiguousarray(v.swapaxes(-1, -2))


def _svd_rule(F: Functions, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value) -> list[Any]:
    s, u, v = out
    gs, gu, gv = (or_zero(F, *pair) for pair in zip(g, out, strict=True))
    return [_svd_gradient(F, s, u, v, gs, gu, gv, x)]


def _svd_gradient(F: Functions, s: Value, u: Value, v: Value, gs: Value, gu: Value, gv: Value, x: Value) -> Any:
    k = s.shape[-1]
    row, column = F.reshape(s, shape=(*s.shape[:-1], 1, k)), F.reshape(s, shape=(*s.shape, 1))
    identity = ones_of(x, k, lambda offset: offset == 0)
    factors = 1.0 / (row * row - column * column + identity) * (1.0 - identity)

    def turning(factor: Value, arriving: Value) -> Any:
        m = product_of(F, (factor, "T"), arriving)
        return factors * (m - swapped(F, m))

    core = turning(u, gu) * row + column * turning(v, gv) + diagonal_matrix(F, gs)
    gradient = product_of(F, u, core, (v, "T"))
    if x.shape[-2] > k:
        remainder = gu / row
        gradient = gradient + product_of(F, remainder - product_of(F, u, product_of(F, (u, "T"), remainder)), (v, "T"))
    if x.shape[-1] > k:
        remainder = gv / row
        gradient = gradient + product_of(F, u, (remainder - product_of(F, v, product_of(F, (v, "T"), remainder)), "T"))
    return gradient


svd_operator = Operator("svd", wide_kernel(_svd_kernel), joint_vjp=_svd_rule)


def _full_svd_rule(F: Functions, needs: list[bool], g: tuple[Any, ...], out: tuple[Any, ...], x: Value) -> list[Any]:
    k = out[1].shape[-1]
    gu, gs, gv = (or_zero(F, *pair) for pair in zip(g, out, strict=True))
    u, gu = gradient_of_first_columns(F, "svd", out[0], gu, k)
    v, gv = gradient_of_first_columns(F, "svd", swapped(F, out[2]), swapped(F, gv), k)
    return [_svd_gradient(F, out[1], u, v, gs, gu, gv, x)]


_full_svd = Operator(
    "full_svd", wide_kernel(lambda linalg, x: tuple(linalg.svd(x, full_matrices=True))), joint_vjp=_full_svd_rule
)


def singular_values(x: Tensor) -> Tensor:
    """Return the singular values of each matrix, NaN for those that are not finite."""
    if holds(are_finite, x._array):
        return svd_operator(x)[0]
    finite = array_module(x._array).isfinite(x._array).all(axis=(-2, -1))
    values = svd_operator(where(Tensor._wrap(finite[..., None, None]), x, 0.0))[0]
    return where(Tensor._wrap(finite[..., None]), values, math.nan)


@declare(method=True, primitive=prim("Svd", full_matrices=False, compute_uv=True))
def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition: s, U and V with U @ diag(s) @ V.T = input (V.H for complex numbers).

    Args:
        input: matrices (..., m, n). The gradients of U and V need singular values that differ.
        full_matrices: whether U (..., m, m) and V (..., n, n) are square; otherwise they have k = min(m, n) columns.
            The columns after the first k are arbitrary: a result that depends on them has no gradient.
        compute_uv: whether U and V are returned.

    Returns:
        s (..., k) in descending order, U and V; with ``compute_uv`` False only s.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
        NotImplementedError: a gradient is requested that depends on the choice of columns, see ``full_matrices``.
    """
    x = finite_matrices(input, "svd", False)
    if full_matrices and compute_uv and x.shape[-2] != x.shape[-1]:
        u, s, v = _full_svd(x)
        return s, u, conjugate_transpose(v)
    s, u, v = svd_operator(x)
    return (s, u, conj(v)) if compute_uv else s
