"""Types of many signatures of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from ..tensors.dtype import DType
    from ..tensors.tensor import Tensor

__all__ = ["AnyDType", "Array", "DTypeLike", "Functions", "Ints", "Number", "Operand", "Shape", "TensorLike", "Value"]

Array: TypeAlias = np.ndarray[Any, Any]
"""Array of a tensor. A cupy.ndarray has the same methods, and is annotated as one."""
Number: TypeAlias = bool | int | float | complex
"""A Python number."""
Operand: TypeAlias = "Tensor | Number"
"""Operand of an elementwise operator."""
TensorLike: TypeAlias = "Tensor | Array | Number | Sequence[Any]"
"""Data for a tensor."""
DTypeLike: TypeAlias = "DType | np.dtype[Any]"
"""An element type for most functions: a DType, or an array's dtype."""
AnyDType: TypeAlias = "DType | np.dtype[Any] | type | str"
"""Any description of an element type, where MindSpore accepts NumPy's and Python's too."""
Ints: TypeAlias = int | Sequence[int]
"""One int for all axes, or one for each."""
Shape: TypeAlias = "int | Sequence[int] | Tensor"
"""A shape or an index in the user's form."""


class Value(Protocol):
    """Operands of a gradient rule: arrays, and for a higher order tensors."""

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
    """Functions that a gradient rule calls: every operator by name, on arrays or on tensors."""

    wraps: bool
    """Whether it works on tensors."""

    def __getattr__(self, name: str, /) -> Callable[..., Any]: ...
