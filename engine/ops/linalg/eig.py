"""Eigenvalues and eigenvectors of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from .matrices import finite_matrices, no_gradient

__all__ = ["eig", "eigvals"]


def _eig_kernel(x: Any) -> tuple[Array, Array]:
    kind = np.complex128 if x.dtype.itemsize in (8, 16) and x.dtype != np.complex64 else np.complex64
    xp = array_module(x)
    values, vectors = np.linalg.eig(x if xp is np else x.get())  # CuPy has only that of symmetric matrices
    return xp.asarray(values.astype(kind)), xp.asarray(vectors.astype(kind))


_eig = Operator("eig", _eig_kernel, joint_vjp=no_gradient("eig", "singular values ('svd') have one"))


def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues and eigenvectors of each matrix: A @ v = w * v.

    Args:
        A: square matrices (..., n, n).

    Returns:
        The eigenvalues w (..., n), and as columns eigenvectors v (..., n, n) of norm 1; Complex64, of 8-byte numbers
        Complex128.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square, or holds NaN or infinity.
        NotImplementedError: a gradient is requested.
    """
    return _eig(finite_matrices(A, "eig", argument="A"))


@declare(method=True)
def eigvals(A: Tensor) -> Tensor:
    """Return the eigenvalues of each matrix.

    Args:
        A: square matrices (..., n, n).

    Returns:
        A tensor (..., n); Complex64, of 8-byte numbers Complex128.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square, or holds NaN or infinity.
        NotImplementedError: a gradient is requested.
    """
    return eig(A)[0]


@declare(primitive=prim("Eig", compute_v=False))
def _eig_class(A: Tensor, compute_v: bool) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of each matrix, and its eigenvectors.

    Args:
        A: square matrices (..., n, n).
        compute_v: whether the eigenvectors are returned; otherwise 0.0 instead.

    Returns:
        The eigenvalues (..., n) and as columns the eigenvectors (..., n, n), see ``ops.eig``.

    Raises:
        TypeError: ``A`` is not a Tensor.
        ValueError: a matrix is not square.
        NotImplementedError: a gradient is requested.
    """
    return eig(A) if compute_v else (eigvals(A), Tensor(0.0))
