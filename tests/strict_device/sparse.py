"""``cupyx.scipy.sparse``: SciPy's matrices, of the dtypes that CuPy's take, on arrays of the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import lifted, ndarray, values_of
from .counts import copied, launched

__all__ = ["coo_matrix", "csr_matrix"]


class _Matrix:
    def __init__(self, matrix: Any) -> None:
        if matrix.dtype.char not in "?fdFD":
            raise ValueError("Only bool, float32, float64, complex64 and complex128 are supported")
        self._matrix = matrix

    shape = property(lambda self: self._matrix.shape)
    dtype = property(lambda self: self._matrix.dtype)
    nnz = property(lambda self: self._matrix.nnz)
    data = property(lambda self: lifted(self._matrix.data))
    row = property(lambda self: lifted(self._matrix.row))
    col = property(lambda self: lifted(self._matrix.col))
    indices = property(lambda self: lifted(self._matrix.indices))
    indptr = property(lambda self: lifted(self._matrix.indptr))

    def __matmul__(self, other: Any) -> Any:
        launched("sparse.matmul")
        if isinstance(other, _Matrix):
            copied("sparse.matmul", "host", 8)  # how many elements the product has
            return _Matrix(self._matrix @ other._matrix)
        if not isinstance(other, ndarray):
            raise TypeError(f"Unsupported type {type(other)}")
        return lifted(self._matrix @ other._values)

    def __getitem__(self, index: Any) -> Any:
        launched("sparse.getitem", 3)
        parts = index if isinstance(index, tuple) else (index,)
        return lifted(np.asarray(self._matrix[tuple(values_of(x) if isinstance(x, ndarray) else x for x in parts)]))

    def tocsr(self) -> _Matrix:
        launched("sparse.tocsr", 3)
        return _Matrix(self._matrix.tocsr())

    def tocoo(self) -> _Matrix:
        launched("sparse.tocoo")
        return _Matrix(self._matrix.tocoo())

    def toarray(self) -> ndarray:
        launched("sparse.toarray", 2)
        return lifted(self._matrix.toarray())  # type: ignore[no-any-return]


def _make(name: str) -> Any:
    def make(parts: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> _Matrix:
        import scipy.sparse

        launched(name)
        return _Matrix(getattr(scipy.sparse, name)(_lowered(parts), shape))

    return make


def _lowered(value: Any) -> Any:
    return type(value)(map(_lowered, value)) if isinstance(value, tuple | list) else values_of(value)


coo_matrix, csr_matrix = _make("coo_matrix"), _make("csr_matrix")
