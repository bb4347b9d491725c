"""Types that many signatures of the engine name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from ..tensors.dtype import DType
    from ..tensors.tensor import Tensor

__all__ = ["AnyDType", "Array", "DTypeLike", "Functions", "Ints", "Number", "Operand", "Shape", "TensorLike", "Value"]

Array: TypeAlias = np.ndarray[Any, Any]
"""What a tensor holds. A cupy.ndarray has the same methods, and stands for one in the types."""
Number: TypeAlias = bool | int | float | complex
"""A bare number of Python's."""
Operand: TypeAlias = "Tensor | Number"
"""What an elementwise operator takes."""
TensorLike: TypeAlias = "Tensor | Array | Number | Sequence[Any]"
"""What a tensor can be made of."""
DTypeLike: TypeAlias = "DType | np.dtype[Any]"
"""An element type as most functions take it: a DType; an array's own is taken too."""
AnyDType: TypeAlias = "DType | np.dtype[Any] | type | str"
"""An element type by whatever names one, where MindSpore takes NumPy's and Python's too."""
Ints: TypeAlias = int | Sequence[int]
"""One int for all axes, or one for each."""
Shape: TypeAlias = "int | Sequence[int] | Tensor"
"""A shape or a place as users write it."""


class Value(Protocol):
    """What a gradient rule computes with: arrays, and for a higher order tensors."""

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...


class Functions(Protocol):
    """Every operator by name, on arrays or on tensors: what a gradient rule calls."""

    wraps: bool
    """Whether it works on tensors."""

    def __getattr__(self, name: str, /) -> Callable[..., Any]: ...
