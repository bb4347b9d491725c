"""Kernels, checks and products in gradient rules that operators on matrices share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values
from ..arguments import check_tensor


def wide_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel for matrices that computes half precision in single, as LAPACK has single and double only."""

    def kernel(*matrices: Any, **attrs: Any) -> Any:
        dtype = matrices[0].dtype
        if dtype.itemsize > 2:
            return function(array_module(matrices[0]).linalg, *matrices, **attrs)
        result = function(array_module(matrices[0]).linalg, *(m.astype(np.float32) for m in matrices), **attrs)
        return tuple(x.astype(dtype) for x in result) if isinstance(result, tuple) else result.astype(dtype)

    return kernel


def product_of(F: Functions, *factors: Any) -> Any:
    """Return the product of matrices; a pair (x, "T") is x transposed."""
    product, is_transposed = _turned(factors[0])
    for factor in factors[1:]:
        x, flag = _turned(factor)
        product, is_transposed = F.matmul(product, x, transpose_a=is_transposed, transpose_b=flag), False
    return product


def _turned(factor: Any) -> tuple[Any, bool]:
    return (factor[0], True) if isinstance(factor, tuple) else (factor, False)


def swapped(F: Functions, x: Value) -> Any:
    return F.transpose(x, axes=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def ones_of(x: Value, size: int, keep: Callable[[Any], Any]) -> Array:
    """Return a (size, size) matrix of ones where ``keep(column - row)``, on the device and in the dtype of x."""
    bare = x._array if isinstance(x, Tensor) else x
    xp = array_module(bare)
    return keep(xp.arange(size) - xp.arange(size)[:, None]).astype(bare.dtype)


def diagonal_matrix(F: Functions, x: Value) -> Any:
    return F.reshape(x, shape=(*x.shape, 1)) * ones_of(x, x.shape[-1], lambda offset: offset == 0)


def or_zero(F: Functions, g: Value | None, out: Value) -> Any:
    return out * 0 if g is None else g


def _columns(F: Functions, x: Value, start: int, stop: int) -> Any:
    return F.slice_axis(x, axis=x.ndim - 1, start=start, stop=stop)


def gradient_of_first_columns(F: Functions, name: str, q: Value, g: Value, k: int) -> tuple[Any, Any]:
    """Return the first k columns of a square orthogonal matrix, and their gradient with that of the other columns.

    The others are any basis of the complement. As they turn with the first columns, P' = -Q dQ.T P, they add
    -P gP.T Q to the gradient; a result that changes when they turn among themselves, which P.T gP shows, has none.
    """
    size = q.shape[-1]
    if k == size:
        return q, g
    leading, complement, g_complement = _columns(F, q, 0, k), _columns(F, q, k, size), _columns(F, g, k, size)
    rotation = product_of(F, (complement, "T"), g_complement)
    bare = rotation._array if isinstance(rotation, Tensor) else rotation
    asymmetry = abs(bare - bare.swapaxes(-1, -2))
    tolerance = 1e-6 if bare.dtype.itemsize > 4 else 1e-3
    if size - k > 1 and (asymmetry > tolerance * max(1.0, float(abs(bare).max()))).any():
        raise NotImplementedError(
            f"For '{name}', the result depends on the columns behind the first {k} of an orthogonal matrix, which are "
            f"an arbitrary basis of the complement, so it has no gradient; use the reduced form"
        )
    return leading, _columns(F, g, 0, k) - product_of(F, complement, (g_complement, "T"), leading)


def no_gradient(name: str, instead: str) -> Callable[..., Any]:
    """Return a rule that raises an error where otherwise a gradient would silently be 0."""

    def rule(F: Functions, needs: list[bool], g: Value, out: Value, x: Value) -> list[Any]:
        raise NotImplementedError(f"For '{name}', there is no gradient; {instead}")

    return rule


def check_matrices(x: Tensor, name: str, square: bool = True, argument: str = "input") -> Tensor:
    if check_tensor(x, name, argument).ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(f"For '{name}', '{argument}' must be {kind}, but got shape {x.shape}")
    return x


def finite_matrices(x: Tensor, name: str, square: bool = True, argument: str = "input") -> Tensor:
    """Return the matrices if they can be decomposed: LAPACK may not return on NaN or infinity."""
    check_values(_check_finite, check_matrices(x, name, square, argument)._array, name=name, argument=argument)
    return x


def _check_finite(x: Array, name: str, argument: str) -> None:
    if not are_finite(x):
        raise ValueError(f"For '{name}', '{argument}' must hold neither NaN nor infinity")


def are_finite(x: Array) -> bool:
    return bool(array_module(x).isfinite(x).all())
