"""Functions of numpy that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.base.types import Ints, Number, Operand, Shape, TensorLike
from hookscope.engine.ops.arguments import Axis
from hookscope.engine.tensors.tensor import Tensor
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

def arccos(input: Tensor) -> Tensor:
    """The arc cosine, in [0, pi]; NaN outside [-1, 1]."""

def arccosh(x: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, 0 or above; NaN below 1."""

def arcsin(x: Tensor) -> Tensor:
    """The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1]."""

def arcsinh(x: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def arctan(x: Tensor) -> Tensor:
    """The arc tangent, in (-pi / 2, pi / 2)."""

def arctan2(x1: Operand, x2: Operand) -> Tensor:
    """The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].
    """

def arctanh(x: Tensor) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def argmax(a: Tensor, axis: int | None = None) -> Tensor:
    """Return the position of the largest element along an axis."""

def argmin(a: Tensor, axis: int | None = None) -> Tensor:
    """Return the position of the smallest element along an axis."""

def argwhere(a: Tensor) -> Tensor:
    """Return the indices of the elements that are not 0, in the order of the tensor."""

def array_split(x: Tensor, indices_or_sections: Ints, axis: int = 0) -> tuple[Tensor, ...]:
    """Return parts along ``axis``: a number of nearly equal length, or cut at indices; as NumPy's
    ``array_split``.
    """

def bitwise_and(x1: Operand, x2: Operand) -> Tensor:
    """x & y, bit by bit, of bools or integers."""

def bitwise_not(x: Tensor) -> Tensor:
    """~x, bit by bit: -x - 1 of signed integers, not x of bools."""

def bitwise_or(x1: Operand, x2: Operand) -> Tensor:
    """x | y, bit by bit, of bools or integers."""

def bitwise_xor(x1: Operand, x2: Operand) -> Tensor:
    """x ^ y, bit by bit, of bools or integers."""

def broadcast_to(array: Tensor, shape: Shape) -> Tensor:
    """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.
    """

def cbrt(x: Tensor) -> Tensor:
    """The cube root, negative below 0."""

def ceil(x: Tensor) -> Tensor:
    """The smallest integer not below x; its gradient is 0."""

def column_stack(tup: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the second axis, vectors as columns; as in NumPy."""

def cos(x: Tensor) -> Tensor:
    """The cosine of an angle in radians."""

def cosh(x: Tensor) -> Tensor:
    """The hyperbolic cosine, (exp(x) + exp(-x)) / 2."""

def count_nonzero(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return how many elements over axes are not 0; NaN counts as not 0."""

def deg2rad(x: Tensor) -> Tensor:
    """Return degrees as radians: x * pi / 180."""

def diagflat(v: Tensor, k: int = 0) -> Tensor:
    """Return a matrix with all elements of the input, flattened, on a diagonal and 0 elsewhere; as in
    NumPy.
    """

def diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return the diagonals of the planes (dim1, dim2), as a new last axis; as in NumPy."""

def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Return the ``n``-th difference of neighbors along one axis: x[i + 1] - x[i]; for bools whether they
    differ.
    """

def divide(x1: Operand, x2: Operand) -> Tensor:
    """x / y."""

def dstack(tup: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the third axis, each as ``atleast_3d`` returns it; as in NumPy."""

def equal(x1: Operand, x2: object) -> Any:
    """x == y, as Bool."""

def exp(x: Tensor) -> Tensor:
    """e to the power x."""

def exp2(x: Tensor) -> Tensor:
    """2 to the power x."""

def expm1(x: Tensor) -> Tensor:
    """exp(x) - 1, exact near 0."""

def fabs(x: Tensor) -> Tensor:
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""

def fliplr(m: Tensor) -> Tensor:
    """Return the tensor with the second axis reversed."""

def flipud(m: Tensor) -> Tensor:
    """Return the tensor with the first axis reversed."""

def floor(x: Tensor) -> Tensor:
    """The greatest integer not above x; its gradient is 0."""

def floor_divide(x1: Operand, x2: Operand) -> Tensor:
    """floor(x / y), the greatest integer not above the quotient; its gradient is 0."""

def fmod(x1: Operand, x2: Operand) -> Tensor:
    """x - trunc(x / y) * y, the remainder with the sign of x."""

def gcd(x1: Operand, x2: Operand) -> Tensor:
    """The greatest common divisor of integers, 0 or above."""

def greater(x1: Operand, x2: Operand) -> Tensor:
    """x > y, as Bool."""

def greater_equal(x1: Operand, x2: Operand) -> Tensor:
    """x >= y, as Bool."""

def heaviside(x1: Tensor, x2: Tensor | Number) -> Tensor:
    """Return the Heaviside step function: 0 where ``x1`` is below 0, ``x2`` where it is 0, 1 above."""

def hstack(tup: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the second axis, vectors along their first; as in NumPy."""

def hypot(x1: Operand, x2: Operand) -> Tensor:
    """sqrt(x * x + y * y), without overflow."""

def inner(a: Tensor, b: Tensor) -> Tensor:
    """Return the sum of products over the last axes, as in NumPy."""

def invert(x: Tensor) -> Tensor:
    """~x, bit by bit: -x - 1 of signed integers, not x of bools."""

def isclose(a: Tensor, b: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return whether abs(input - other) <= atol + rtol * abs(other), as in NumPy; equal infinities are
    close.
    """

def isfinite(x: Tensor) -> Tensor:
    """Return whether an element is neither infinite nor NaN, as Bool."""

def isinf(x: Tensor) -> Tensor:
    """Return whether an element is infinite, of either sign, as Bool."""

def isnan(x: Tensor) -> Tensor:
    """Return whether an element is NaN, as Bool."""

def isneginf(x: Tensor) -> Tensor:
    """Return whether an element is minus infinity."""

def isposinf(x: Tensor) -> Tensor:
    """Return whether an element is plus infinity."""

def kron(a: Tensor, b: Tensor) -> Tensor:
    """Return the Kronecker product: each element of the first tensor is replaced by the second tensor
    times it.
    """

def lcm(x1: Operand, x2: Operand) -> Tensor:
    """The least common multiple of integers, 0 or above."""

def less(x1: Operand, x2: Operand) -> Any:
    """x < y, as Bool."""

def less_equal(x1: Operand, x2: Operand) -> Tensor:
    """x <= y, as Bool."""

def log(x: Tensor) -> Tensor:
    """The natural logarithm; NaN below 0."""

def log10(x: Tensor) -> Tensor:
    """The logarithm to base 10; NaN below 0."""

def log1p(x: Tensor) -> Tensor:
    """log(1 + x), exact near 0; NaN below -1."""

def log2(x: Tensor) -> Tensor:
    """The logarithm to base 2; NaN below 0."""

def logaddexp(x1: Operand, x2: Operand) -> Tensor:
    """log(exp(x) + exp(y)), without overflow."""

def logaddexp2(x1: Operand, x2: Operand) -> Tensor:
    """log2(2**x + 2**y), without overflow."""

def logical_and(x1: Operand, x2: Operand) -> Any:
    """Return whether both x and y are nonzero, as Bool."""

def logical_not(a: Tensor) -> Tensor:
    """Return whether an element is zero or False, as Bool."""

def logical_or(x1: Operand, x2: Operand) -> Any:
    """Return whether x or y is nonzero, as Bool."""

def logical_xor(x1: Operand, x2: Operand) -> Any:
    """Return whether one of x and y is nonzero and not both, as Bool."""

def max(a: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Number | None = None, where: Tensor | bool | None = True) -> Tensor:
    """The largest element over axes."""

def maximum(x1: Operand, x2: Operand) -> Tensor:
    """The larger of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
    """

def min(a: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Number | None = None, where: Tensor | bool | None = True) -> Tensor:
    """The smallest element over axes."""

def minimum(x1: Operand, x2: Operand) -> Tensor:
    """The smaller of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
    """

def mod(x1: Operand, x2: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def moveaxis(a: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Return the tensor with axes moved to other positions; the others keep their order."""

def multiply(x1: Operand, x2: Operand) -> Tensor:
    """x * y."""

def negative(a: Tensor) -> Tensor:
    """-x."""

def norm(x: Tensor, ord: int | float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the norm of vectors or matrices, or of all elements."""

def not_equal(x1: Operand, x2: object) -> Any:
    """x != y, as Bool."""

def positive(a: Tensor) -> Tensor:
    """Return the tensor itself, ``+input``."""

def power(x1: Operand, x2: Operand) -> Tensor:
    """x to the power y, of integers without the fraction; the gradient by y is 0 where x is 0, NaN where x
    < 0.
    """

def ptp(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the range: the largest less the smallest element over axes."""

def rad2deg(x: Tensor) -> Tensor:
    """Return radians as degrees: x * 180 / pi."""

def radians(x: Tensor) -> Tensor:
    """Return degrees as radians: x * pi / 180."""

def ravel(x: Tensor) -> Tensor:
    """Return all elements, row by row, in one axis."""

def reciprocal(x: Tensor) -> Tensor:
    """1 / x."""

def remainder(x1: Operand, x2: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def repeat(a: TensorLike, repeats: Shape, axis: int | None = None) -> Tensor:
    """Return each element along an axis repeated, as NumPy's repeat."""

def reshape(x: Tensor, new_shape: Shape) -> Tensor:
    """Return the elements in row-major order in a different shape."""

def rint(x: Tensor) -> Tensor:
    """The nearest integer, halves to the even one; its gradient is 0."""

def rot90(m: Tensor, k: int = 1, axes: Sequence[int] = ...) -> Tensor:
    """Return the tensor rotated by quarter turns in the plane of two axes."""

def signbit(x: Tensor) -> Tensor:
    """Return whether the sign is minus, that of -0.0 too: a Bool."""

def sin(x: Tensor) -> Tensor:
    """The sine of an angle in radians."""

def sinc(x: Tensor) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def sinh(x: Tensor) -> Tensor:
    """The hyperbolic sine, (exp(x) - exp(-x)) / 2."""

def sqrt(x: Tensor) -> Tensor:
    """The square root of x, NaN of negative real numbers."""

def square(x: Tensor) -> Tensor:
    """x * x."""

def squeeze(a: Tensor, axis: Axis = None) -> Tensor:
    """Return the tensor without the axes of length 1."""

def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis, in the dtype that they promote to."""

def std(x: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """Return the standard deviation over axes: sqrt(sum((x - mean) ** 2) / (n - ddof))."""

def subtract(x1: Operand, x2: Operand) -> Tensor:
    """x - y."""

def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """Return the tensor with two axes exchanged."""

def tan(x: Tensor) -> Tensor:
    """The tangent of an angle in radians."""

def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""

def tile(a: Tensor, reps: Shape) -> Tensor:
    """Return the whole tensor repeated along its axes."""

def transpose(a: Tensor, axes: Ints | Tensor | None = None) -> Tensor:
    """Return the tensor with its axes in another order."""

def tril(m: Tensor, k: int = 0) -> Tensor:
    """Return the lower triangle of each matrix: element (i, j) where j - i <= ``k``, 0 elsewhere."""

def triu(m: Tensor, k: int = 0) -> Tensor:
    """Return the upper triangle of each matrix: element (i, j) where j - i >= ``k``, 0 elsewhere."""

def true_divide(x1: Operand, x2: Operand) -> Tensor:
    """x / y."""

def trunc(x: Tensor) -> Tensor:
    """The integer part of x, rounded towards 0; its gradient is 0."""

def var(x: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> Tensor:
    """Return the variance over axes: sum((x - mean) ** 2) / (n - ddof)."""

def vstack(tup: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the first axis, vectors as rows; as in NumPy."""
