"""Inverses and powers of matrices, and the matrix exponential."""

from __future__ import annotations

import math

import numpy as np

from ...base.argument_checks import check_int
from ...base.surfaces import declare, prim
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..elementwise import arithmetic, comparison
from ..elementwise.comparison import where
from ..elementwise.complex_numbers import conj
from ..reduction.reduction import reduce_max
from ..shapes.broadcasting import zeros_operator
from ..shapes.reshape import expand_dims
from .matmul import matmul
from .matrices import check_matrices, finite_matrices, product_of, wide_kernel
from .products import adjoint as conjugate_transpose
from .svd import svd_operator

__all__ = ["inverse", "matrix_exp", "matrix_power", "pinv"]

inverse_operator = Operator(
    "inverse",
    wide_kernel(lambda linalg, x: linalg.inv(x)),
    (lambda F, g, out, x: -product_of(F, (out, "T"), g, (out, "T")),),
)


@declare(method=True, mint=("inverse", "linalg.inv"))
def inverse(input: Tensor) -> Tensor:
    """Return the inverse of each matrix.

    Args:
        input: square matrices (..., n, n).

    Returns:
        Their inverses, a tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square, or is singular.
    """
    return inverse_operator(check_matrices(input, "inverse"))


@declare(primitive=prim("MatrixInverse", adjoint=False))
def _matrix_inverse(x: Tensor, adjoint: bool) -> Tensor:
    """Return the inverse of each matrix, or that of its conjugate transpose.

    Args:
        x: square matrices (..., n, n).
        adjoint: whether the inverses are transposed and conjugated.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: a matrix is not square, or is singular.
    """
    return conjugate_transpose(inverse(x)) if adjoint else inverse(x)


@declare(method=True)
def pinv(
    x: Tensor, *, atol: float | Tensor | None = None, rtol: float | Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """Return the pseudo-inverse (Moore and Penrose) of each matrix, by singular values: V @ diag(1 / s) @ U.T.

    Args:
        x: matrices (..., m, n) of floating numbers.
        atol: singular values not above max(atol, rtol * the largest) count as 0; 0 by default.
        rtol: see ``atol``; by default 0 if ``atol`` is given, else max(m, n) times the dtype's epsilon.
        hermitian: whether the matrices are symmetric. The result is the same with and without.

    Returns:
        A tensor (..., n, m) of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: fewer than two axes, or NaN or infinity among the numbers.
    """
    matrices = finite_matrices(x, "pinv", False, "x")
    if matrices._array.dtype.kind not in "fc":
        raise TypeError(f"For 'pinv', 'x' must hold floats, but got {matrices.dtype}")
    s, u, v = svd_operator(matrices)
    if rtol is None:
        rtol = 0.0 if atol is not None else max(matrices.shape[-2:]) * float(np.finfo(matrices._array.dtype).eps)
    threshold = arithmetic.maximum(reduce_max(s, -1, True) * rtol, 0.0 if atol is None else atol)
    mask = comparison.gt(s, threshold)
    scale = where(mask, 1.0 / where(mask, s, 1.0), 0.0)
    return conj(matmul(v * expand_dims(scale, -2), u, False, True))  # svd_operator's v.T is V.H


@declare(method=True, primitive=prim("MatrixPower", "n"))
def matrix_power(input: Tensor, n: int) -> Tensor:
    """Return each matrix to the power ``n``, by repeated squaring.

    Args:
        input: square matrices (..., m, m).
        n: the power; 0 is the identity, a negative one a power of the inverse.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``n`` is not an int.
        ValueError: a matrix is not square, or is singular and ``n`` negative.
    """
    check_int(n, "matrix_power", "n")
    x = check_matrices(input, "matrix_power")
    power = inverse(x) if n < 0 else x
    exponent, result = abs(n), None
    while exponent:
        if exponent & 1:
            result = power if result is None else matmul(result, power)
        exponent >>= 1
        power = matmul(power, power) if exponent else power
    return zeros_operator(x) + Tensor(np.eye(x.shape[-1], dtype=x._array.dtype)) if result is None else result


@declare(primitive=prim("MatrixExp"))
def matrix_exp(input: Tensor) -> Tensor:
    """Return the exponential of each matrix, sum over k of A^k / k!: Taylor's series of a scaled matrix, then squared.

    Args:
        input: square matrices (..., n, n) of floating numbers.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a matrix is not square.
    """
    x = check_matrices(input, "matrix_exp")
    size = float(abs(x._array).sum(axis=-1).max()) if x.size else 0.0
    times = max(0, math.ceil(math.log2(size)) + 2) if size > 0.25 and math.isfinite(size) else 0
    scaled = x / 2.0**times
    identity = Tensor(np.eye(x.shape[-1], dtype=x._array.dtype))
    result = scaled * 0 + identity
    for order in range(14, 0, -1):
        result = matmul(scaled, result) / float(order) + identity
    for _ in range(times):
        result = matmul(result, result)
    return result
