"""Functions of numpy that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Ints, Number, Operand, Shape, TensorLike
from hookscope.engine.ops.arguments import Axis
from typing import Any

def abs(x: Tensor) -> Tensor:
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""

def absolute(x: Tensor) -> Tensor:
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""

def add(x1: Operand, x2: Operand) -> Tensor:
    """x + y."""

def amax(a: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Number | None = None, where: Tensor | bool | None = True) -> Tensor:
    """The largest element over axes."""

def amin(a: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Number | None = None, where: Tensor | bool | None = True) -> Tensor:
    """The smallest element over axes."""

def argmax(a: Tensor, axis: int | None = None) -> Tensor:
    """Where the largest element along an axis is."""

def argmin(a: Tensor, axis: int | None = None) -> Tensor:
    """Where the smallest element along an axis is."""

def bitwise_not(x: Tensor) -> Tensor:
    """~x, bit by bit: -x - 1 of signed integers, not x of bools."""

def column_stack(tup: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the second axis, vectors as columns; as in NumPy."""

def count_nonzero(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements over axes are not 0; NaN is not."""

def deg2rad(x: Tensor) -> Tensor:
    """Degrees as radians: x * pi / 180."""

def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The difference of neighbors along one axis, ``n`` times over: x[i + 1] - x[i]; of bools whether they
    differ.
    """

def dstack(tup: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the third axis, each taken as ``atleast_3d`` makes it; as in NumPy."""

def fabs(x: Tensor) -> Tensor:
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""

def fliplr(m: Tensor) -> Tensor:
    """The second axis reversed."""

def flipud(m: Tensor) -> Tensor:
    """The first axis reversed."""

def float_power(x1: Tensor | Number, x2: Tensor | Number) -> Tensor:
    """The power input**exponent, computed in Float64, or in Complex128 where one of the two is complex.
    """

def heaviside(x1: Tensor, x2: Tensor | Number) -> Tensor:
    """Heaviside's step: 0 where ``x1`` is below 0, ``x2`` where it is 0, 1 above."""

def hstack(tup: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the second axis, vectors along their first; as in NumPy."""

def hypot(x1: Operand, x2: Operand) -> Tensor:
    """sqrt(x * x + y * y), without overflow."""

def invert(x: Tensor) -> Tensor:
    """~x, bit by bit: -x - 1 of signed integers, not x of bools."""

def isneginf(x: Tensor) -> Tensor:
    """Whether an element is minus infinity."""

def isposinf(x: Tensor) -> Tensor:
    """Whether an element is plus infinity."""

def kron(a: Tensor, b: Tensor) -> Tensor:
    """Kronecker's product: in place of each element of the first tensor the second one, times it."""

def lcm(x1: Operand, x2: Operand) -> Tensor:
    """The least common multiple of integers, 0 or above."""

def max(a: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Number | None = None, where: Tensor | bool | None = True) -> Tensor:
    """The largest element over axes."""

def min(a: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Number | None = None, where: Tensor | bool | None = True) -> Tensor:
    """The smallest element over axes."""

def mod(x1: Operand, x2: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def moveaxis(a: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Axes moved to other places; the others keep their order."""

def norm(x: Tensor, ord: int | float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices, or of all elements."""

def positive(a: Tensor) -> Tensor:
    """The tensor itself; what ``+input`` says."""

def power(x1: Operand, x2: Operand) -> Tensor:
    """x to the power y, of integers without the fraction; the gradient by y is 0 where x is 0, NaN where x
    < 0.
    """

def ptp(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The range: the largest less the smallest element over axes."""

def rad2deg(x: Tensor) -> Tensor:
    """Radians as degrees: x * 180 / pi."""

def remainder(x1: Operand, x2: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def repeat(a: TensorLike, repeats: Shape, axis: int | None = None) -> Tensor:
    """Each element along an axis several times, as NumPy's repeat."""

def reshape(x: Tensor, new_shape: Shape) -> Tensor:
    """The elements in their order, row by row, in another shape."""

def rot90(m: Tensor, k: int = 1, axes: Sequence[int] = ...) -> Tensor:
    """Rotated by quarter turns in the plane of two axes."""

def signbit(x: Tensor) -> Tensor:
    """Whether the sign is minus, that of -0.0 too: a Bool."""

def sinc(x: Tensor) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""

def std(x: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axes: sqrt(sum((x - mean) ** 2) / (n - ddof))."""

def subtract(x1: Operand, x2: Operand) -> Tensor:
    """x - y."""

def transpose(a: Tensor, axes: Ints | Tensor | None = None) -> Tensor:
    """The axes in another order."""

def true_divide(x1: Operand, x2: Operand) -> Tensor:
    """x / y."""

def trunc(x: Tensor) -> Tensor:
    """The integer part of x, rounded towards 0; its gradient is 0."""

def var(x: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """The variance over axes: sum((x - mean) ** 2) / (n - ddof)."""

def vstack(tup: Sequence[Tensor]) -> Tensor:
    """Tensors joined along the first axis, vectors as rows; as in NumPy."""
