"""Functions of numpy that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Operand
from typing import Any

def abs(x: Operand) -> Tensor:
    """The absolute value; its gradient at 0 is 0."""

def absolute(x: Operand) -> Tensor:
    """The absolute value; its gradient at 0 is 0."""

def add(x1: Operand, x2: Operand) -> Tensor:
    """x + y."""

def amax(a: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The largest element over ``axis``, of those where ``where`` holds and of ``initial``."""

def amin(a: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The smallest element over ``axis``, of those where ``where`` holds and of ``initial``."""

def argmax(a: Tensor, axis: int | None = None) -> Tensor:
    """Where the largest element is, as Int64; in the flattened tensor without ``axis``."""

def argmin(a: Tensor, axis: int | None = None) -> Tensor:
    """Where the smallest element is, as Int32; in the flattened tensor without ``axis``."""

def bitwise_not(x: Operand) -> Tensor:
    """~x."""

def column_stack(tup: Sequence[Tensor]) -> Any:
    """Joined along the second axis, vectors as columns."""

def count_nonzero(x: Tensor, axis: Any = (), keepdims: bool = False) -> Any:
    """How many elements over ``axis`` are not 0."""

def deg2rad(x: Tensor) -> Any:
    """Degrees as radians."""

def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The ``n``-th difference of neighbours along ``axis``, after joining ``prepend`` and ``append`` on.
    """

def dstack(tup: Sequence[Tensor]) -> Any:
    """Joined along the third axis."""

def empty_like(a: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros of the input's shape, dtype and device."""

def fabs(x: Operand) -> Tensor:
    """The absolute value; its gradient at 0 is 0."""

def fliplr(m: Tensor) -> Any:
    """The second axis reversed."""

def flipud(m: Tensor) -> Any:
    """The first axis reversed."""

def float_power(x1: Tensor | float, x2: Tensor | float) -> Any:
    """The power computed in Float64."""

def heaviside(x1: Tensor, x2: Tensor) -> Any:
    """0 below 0, ``x2`` at 0, 1 above."""

def hstack(tup: Sequence[Tensor]) -> Any:
    """Joined along the second axis, vectors along their first."""

def hypot(x1: Operand, x2: Operand) -> Tensor:
    """sqrt(x * x + y * y), without overflow."""

def invert(x: Operand) -> Tensor:
    """~x."""

def isneginf(x: Tensor) -> Any:
    """Whether an element is minus infinity."""

def isposinf(x: Tensor) -> Any:
    """Whether an element is plus infinity."""

def kron(a: Tensor, b: Tensor) -> Any:
    """Kronecker's product: the second tensor in place of each element of the first, times it."""

def lcm(x1: Operand, x2: Operand) -> Tensor:
    """The least common multiple."""

def max(a: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The largest element over ``axis``, of those where ``where`` holds and of ``initial``."""

def min(a: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """The smallest element over ``axis``, of those where ``where`` holds and of ``initial``."""

def mod(x1: Operand, x2: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def moveaxis(a: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes ``source`` moved to the places ``destination``; the others keep their order."""

def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of all elements; over one axis that of vectors, over two that of matrices, by ``ord``.
    """

def positive(a: Tensor) -> Any:
    """The tensor itself."""

def power(x1: Operand, x2: Operand) -> Tensor:
    """x to the power y."""

def ptp(x: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest less the smallest element over ``axis``."""

def rad2deg(x: Tensor) -> Any:
    """Radians as degrees."""

def remainder(x1: Operand, x2: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element along ``axis`` (of all, flattened, without it) ``repeats`` times, one number or one for
    each.
    """

def reshape(x: Tensor, new_shape: Any) -> Tensor:
    """The elements in their order in another shape; one axis may be -1."""

def rot90(m: Tensor, k: int = 1, axes: Sequence[int] = ...) -> Any:
    """Rotated ``k`` quarter turns in the plane of the two axes ``axes``."""

def signbit(x: Operand) -> Tensor:
    """Whether the sign is minus."""

def sinc(x: Operand) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""

def std(x: Tensor, axis: Any = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over ``axis``: the square root of ``var``."""

def subtract(x1: Operand, x2: Operand) -> Tensor:
    """x - y."""

def transpose(a: Tensor, axes: Any = None) -> Tensor:
    """The axes in the order of ``axes``; reversed without it."""

def true_divide(x1: Any, x2: Any) -> Tensor:
    """x / y; integers give Float32."""

def trunc(x: Operand) -> Tensor:
    """The integer part."""

def var(x: Tensor, axis: Any = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """The variance over ``axis``, divided by n - ddof."""

def vstack(tup: Sequence[Tensor]) -> Tensor:
    """Joined along the first axis, vectors as rows."""

def zeros_like(a: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros of the input's shape, dtype and device."""
