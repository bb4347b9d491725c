"""Functions of mint.linalg that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from hookscope.engine.base.types import DTypeLike
from hookscope.engine.ops.arguments import Axis
from hookscope.engine.tensors.tensor import Tensor

def inv(input: Tensor) -> Tensor:
    """Return the inverse of each matrix."""

def matrix_norm(A: Tensor, ord: int | float | str = 'fro', dim: Axis = ..., keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the norm of matrices."""

def norm(A: Tensor, ord: int | float | str | None = None, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the norm of vectors or matrices, or of all elements."""

def qr(input: Tensor, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
    """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = input
    (Householder's).
    """

def vector_norm(x: Tensor, ord: float = 2, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the ``ord``-norm of vectors: (sum of abs(x) ** ord) ** (1 / ord)."""
