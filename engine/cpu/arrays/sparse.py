"""Products of sparse matrices, by SciPy or CuPy, and the order of their elements.

A sparse matrix is its values, a vector, and the row and the column of each; repeated elements are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module, sparse_module

__all__ = ["Positions", "element_product", "matrix_product", "merged", "offsets", "product_positions"]


@dataclass(frozen=True, eq=False)
class Positions:
    """Positions of the elements of a sparse matrix.

    Attributes:
        rows: the row of each element.
        columns: the column of each.
        shape: the shape of the matrix.
    """

    rows: Array
    columns: Array
    shape: tuple[int, int]

    @property
    def transposed(self) -> Positions:
        """The positions in the transposed matrix, in the same order."""
        return Positions(self.columns, self.rows, self.shape[::-1])


def _matrix(values: Array, positions: Positions) -> Any:
    """Return the library's matrix, in a dtype of its functions: half precision is widened, on a GPU integers too."""
    values = _widened(values)
    return sparse_module(values).coo_matrix((values, (positions.rows, positions.columns)), positions.shape).tocsr()


def _widened(x: Array) -> Array:
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        return x.astype(np.float32)
    return x if array_module(x) is np or x.dtype.kind in "fc" else x.astype(np.float64)


def matrix_product(values: Array, dense: Array, positions: Positions) -> Array:
    """Return a sparse matrix times a dense one of the same dtype: an array of that dtype."""
    product = _matrix(values, positions) @ _widened(dense)
    return array_module(dense).asarray(product).astype(dense.dtype, copy=False)


def element_product(x: Array, y: Array, x_positions: Positions, y_positions: Positions, positions: Positions) -> Array:
    """Return the elements at `positions` of the product of two sparse matrices."""
    if not positions.rows.size:
        return array_module(x).zeros(0, x.dtype)
    product = (_matrix(x, x_positions) @ _matrix(y, y_positions))[positions.rows, positions.columns]
    return array_module(x).asarray(product).reshape(-1).astype(x.dtype, copy=False)


def product_positions(x: Positions, y: Positions) -> Positions:
    """Return the positions of the elements of a product of two sparse matrices, including those that cancel."""
    xp = array_module(x.rows)
    count = [_matrix(xp.ones(positions.rows.size, np.float32), positions) for positions in (x, y)]
    product = (count[0] @ count[1]).tocoo()
    rows, columns, _ = merged(Positions(product.row, product.col, (x.shape[0], y.shape[1])))
    return Positions(rows, columns, (x.shape[0], y.shape[1]))


def merged(positions: Positions) -> tuple[Array, Array, Array]:
    """Return the rows and the columns of the sorted unique positions, and the index of each element's among them."""
    xp = array_module(positions.rows)
    width = positions.shape[1]
    flat, index = xp.unique(positions.rows.astype(np.int64) * width + positions.columns, return_inverse=True)
    return flat // width, flat % width, index.reshape(-1)


def offsets(rows: Array, count: int) -> Array:
    """Return the start of each of `count` rows among row-major elements, and the end of the last one."""
    xp = array_module(rows)
    starts = xp.zeros(count + 1, rows.dtype)
    starts[1:] = xp.cumsum(xp.bincount(rows.astype(np.int64), minlength=count))
    return starts
