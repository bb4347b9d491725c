"""Products of sparse matrices, by SciPy or CuPy, and the order of their elements.

A sparse matrix is its values, a vector, and the row and the column of each; repeated elements are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hookscope.engine.cpu.array_module import Array, array_module, sparse_module

__all__ = ["Places", "element_product", "matrix_product", "merged", "offsets", "product_places"]


@dataclass(frozen=True, eq=False)
class Places:
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
    def transposed(self) -> Places:
        """The positions in the transposed matrix, in the same order."""
        return Places(self.columns, self.rows, self.shape[::-1])


def _matrix(values: Array, places: Places) -> Any:
    """Return the library's matrix, in a dtype of its functions: half precision is widened, on a GPU integers too."""
    values = _widened(values)
    return sparse_module(values).coo_matrix((values, (places.rows, places.columns)), places.shape).tocsr()


def _widened(x: Array) -> Array:
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        return x.astype(np.float32)
    return x if array_module(x) is np or x.dtype.kind in "fc" else x.astype(np.float64)


def matrix_product(values: Array, dense: Array, places: Places) -> Array:
    """Return a sparse matrix times a dense one of the same dtype: an array of that dtype."""
    product = _matrix(values, places) @ _widened(dense)
    return array_module(dense).asarray(product).astype(dense.dtype, copy=False)


def element_product(x: Array, y: Array, x_places: Places, y_places: Places, places: Places) -> Array:
    """Return the elements at `places` of the product of two sparse matrices."""
    if not places.rows.size:
        return array_module(x).zeros(0, x.dtype)
    product = (_matrix(x, x_places) @ _matrix(y, y_places))[places.rows, places.columns]
    return array_module(x).asarray(product).reshape(-1).astype(x.dtype, copy=False)


def product_places(x: Places, y: Places) -> Places:
    """Return the positions of the elements of a product of two sparse matrices, including those that cancel."""
    xp = array_module(x.rows)
    count = [_matrix(xp.ones(positions.rows.size, np.float32), positions) for positions in (x, y)]
    product = (count[0] @ count[1]).tocoo()
    rows, columns, _ = merged(Places(product.row, product.col, (x.shape[0], y.shape[1])))
    return Places(rows, columns, (x.shape[0], y.shape[1]))


def merged(places: Places) -> tuple[Array, Array, Array]:
    """Return the rows and the columns of the sorted unique positions, and the index of each element's among them."""
    xp = array_module(places.rows)
    width = places.shape[1]
    flat, index = xp.unique(places.rows.astype(np.int64) * width + places.columns, return_inverse=True)
    return flat // width, flat % width, index.reshape(-1)


def offsets(rows: Array, count: int) -> Array:
    """Return the start of each of `count` rows among row-major elements, and the end of the last one."""
    xp = array_module(rows)
    starts = xp.zeros(count + 1, rows.dtype)
    starts[1:] = xp.cumsum(xp.bincount(rows.astype(np.int64), minlength=count))
    return starts
