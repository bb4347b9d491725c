"""Functions of mint.linalg that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from hookscope.engine.core.tensor import Tensor
from typing import Any

def inv(input: Tensor) -> Tensor:
    """The inverse of each matrix."""

def matrix_norm(A: Tensor, ord: Any = 'fro', dim: Any = ..., keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices: "fro", "nuc", 1, -1, 2, -2, inf or -inf."""

def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of all elements; over one axis that of vectors, over two that of matrices, by ``ord``.
    """

def qr(input: Tensor, mode: str = 'reduced') -> tuple[Any, Any]:
    """An orthogonal and an upper triangular matrix whose product is the input."""

def vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The ``ord``-norm of vectors: (sum of abs(x)**ord)**(1/ord); inf, -inf and 0 as limits."""
