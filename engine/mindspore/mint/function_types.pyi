"""Functions of mint that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.base.types import AnyDType, DTypeLike, Ints, Number, Operand, Shape, TensorLike
from hookscope.engine.ops.arguments import Axis
from hookscope.engine.tensors.tensor import Tensor
from typing import Any

def abs(input: Tensor) -> Tensor:
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""

def acos(input: Tensor) -> Tensor:
    """The arc cosine, in [0, pi]; NaN outside [-1, 1]."""

def acosh(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, 0 or above; NaN below 1."""

def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * the sum of batch1 @ batch2 over the batch."""

def addcdiv(input: Tensor, tensor1: Operand, tensor2: Operand, value: Operand = 1) -> Tensor:
    """Return input + value * tensor1 / tensor2."""

def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2)."""

def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * (mat @ vec)."""

def all(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Return whether all elements over axes are true (not 0)."""

def amax(input: Tensor, dim: Axis = (), keepdim: bool = False) -> Tensor:
    """The largest element over axes."""

def amin(input: Tensor, dim: Axis = (), keepdim: bool = False) -> Tensor:
    """The smallest element over axes."""

def any(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Return whether any element over axes is true (not 0)."""

def arange(start: Operand = 0, end: Operand | None = None, step: Operand = 1, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return start, start + step, start + 2 * step, ... as long as it is before ``end``; no gradient
    passes.
    """

def arccos(input: Tensor) -> Tensor:
    """The arc cosine, in [0, pi]; NaN outside [-1, 1]."""

def arccosh(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, 0 or above; NaN below 1."""

def arcsin(input: Tensor) -> Tensor:
    """The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1]."""

def arcsinh(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def arctan(input: Tensor) -> Tensor:
    """The arc tangent, in (-pi / 2, pi / 2)."""

def arctan2(input: Operand, other: Operand) -> Tensor:
    """The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].
    """

def arctanh(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the position of the largest element along an axis."""

def asin(input: Tensor) -> Tensor:
    """The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1]."""

def asinh(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine."""

def atan(input: Tensor) -> Tensor:
    """The arc tangent, in (-pi / 2, pi / 2)."""

def atan2(input: Operand, other: Operand) -> Tensor:
    """The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].
    """

def atanh(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""

def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * (batch1 @ batch2), matrix by matrix."""

def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``."""

def bitwise_and(input: Operand, other: Operand) -> Tensor:
    """x & y, bit by bit, of bools or integers."""

def bitwise_not(input: Tensor) -> Tensor:
    """~x, bit by bit: -x - 1 of signed integers, not x of bools."""

def bitwise_or(input: Operand, other: Operand) -> Tensor:
    """x | y, bit by bit, of bools or integers."""

def bitwise_xor(input: Operand, other: Operand) -> Tensor:
    """x ^ y, bit by bit, of bools or integers."""

def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the matrix product of each pair in two batches."""

def broadcast_to(input: Tensor, shape: Shape) -> Tensor:
    """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.
    """

def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the concatenation of tensors along an axis that they have."""

def ceil(input: Tensor) -> Tensor:
    """The smallest integer not below x; its gradient is 0."""

def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Return at most ``chunks`` parts along an axis, all of one length but the last, which may be shorter.
    """

def clamp(input: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Return min(max(input, ``min``), ``max``), element by element; NaN becomes a limit, the lower if
    there is one.
    """

def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return the concatenation of tensors along an axis that they have."""

def cos(input: Tensor) -> Tensor:
    """The cosine of an angle in radians."""

def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine, (exp(x) + exp(-x)) / 2."""

def count_nonzero(input: Tensor, dim: Axis = None) -> Tensor:
    """Return how many elements over axes are not 0; NaN counts as not 0."""

def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross product of vectors of three elements."""

def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the largest element so far along one axis, and its position, the last one of several. NaN
    stays.
    """

def cumprod(input: Tensor, dim: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return the product of the elements so far along one axis."""

def cumsum(input: Tensor, dim: int, dtype: AnyDType | None = None) -> Tensor:
    """Return the running sums along an axis: out[i] = x[0] + ... + x[i]."""

def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Return the ``n``-th difference of neighbors along one axis: x[i + 1] - x[i]; for bools whether they
    differ.
    """

def div(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
    """x / y."""

def divide(input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
    """x / y."""

def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the third axis, each as ``atleast_3d`` returns it; as in NumPy."""

def einsum(equation: str, *operands: Any) -> Tensor:
    """Return the sum of products of an equation in Einstein's notation, as in NumPy."""

def eq(input: Operand, other: object) -> Any:
    """x == y, as Bool."""

def erf(input: Tensor) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""

def erfc(input: Tensor) -> Tensor:
    """The complementary error function, 1 - erf(x), also where that is much smaller than 1."""

def erfinv(input: Tensor) -> Tensor:
    """The inverse of erf."""

def exp(input: Tensor) -> Tensor:
    """e to the power x."""

def exp2(input: Tensor) -> Tensor:
    """2 to the power x."""

def expm1(input: Tensor) -> Tensor:
    """exp(x) - 1, exact near 0."""

def eye(n: int, m: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return ones on the main diagonal of a matrix, zeros elsewhere."""

def fix(input: Tensor) -> Tensor:
    """The integer part of x, rounded towards 0; its gradient is 0."""

def flip(input: Tensor, dims: Ints) -> Tensor:
    """Return the order of the elements reversed along axes."""

def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """Return the power input**exponent, computed in Float64, or in Complex128 if one of the two is
    complex.
    """

def floor(input: Tensor) -> Tensor:
    """The greatest integer not above x; its gradient is 0."""

def floor_divide(input: Operand, other: Operand) -> Tensor:
    """floor(x / y), the greatest integer not above the quotient; its gradient is 0."""

def fmod(input: Operand, other: Operand) -> Tensor:
    """x - trunc(x / y) * y, the remainder with the sign of x."""

def frac(x: Tensor) -> Tensor:
    """Return the fractional part x - trunc(x), with the sign of x."""

def full(size: Shape, fill_value: Operand, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return a tensor that holds ``fill_value`` everywhere."""

def full_like(input: Tensor, fill_value: Operand, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return ``fill_value`` everywhere, in the input's shape and on its device."""

def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of ``input`` at the positions of ``index``, but along ``dim`` at the numbers in
    ``index``.
    """

def gcd(input: Operand, other: Operand) -> Tensor:
    """The greatest common divisor of integers, 0 or above."""

def ge(input: Operand, other: Operand) -> Tensor:
    """x >= y, as Bool."""

def greater(input: Operand, other: Operand) -> Tensor:
    """x > y, as Bool."""

def greater_equal(input: Operand, other: Operand) -> Tensor:
    """x >= y, as Bool."""

def gt(input: Operand, other: Operand) -> Tensor:
    """x > y, as Bool."""

def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Return the count of elements in each of ``bins`` equal parts of [min, max]; the last part includes
    its end.
    """

def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the second axis, vectors along their first; as in NumPy."""

def imag(input: Tensor) -> Tensor:
    """Return the imaginary part, element by element; zeros of a real tensor."""

def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the entries ``index`` along ``dim``."""

def inverse(input: Tensor) -> Tensor:
    """Return the inverse of each matrix."""

def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Return whether abs(input - other) <= atol + rtol * abs(other), as in NumPy; equal infinities are
    close.
    """

def isfinite(input: Tensor) -> Tensor:
    """Return whether an element is neither infinite nor NaN, as Bool."""

def isinf(input: Tensor) -> Tensor:
    """Return whether an element is infinite, of either sign, as Bool."""

def isnan(input: Tensor) -> Tensor:
    """Return whether an element is NaN, as Bool."""

def isneginf(input: Tensor) -> Tensor:
    """Return whether an element is minus infinity."""

def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the ``k``-th smallest element along one axis, and its position. NaN counts as the largest.
    """

def le(input: Operand, other: Operand) -> Tensor:
    """x <= y, as Bool."""

def lerp(input: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Return the linear interpolation input + weight * (end - input)."""

def less(input: Operand, other: Operand) -> Any:
    """x < y, as Bool."""

def less_equal(input: Operand, other: Operand) -> Tensor:
    """x <= y, as Bool."""

def log(input: Tensor) -> Tensor:
    """The natural logarithm; NaN below 0."""

def log10(input: Tensor) -> Tensor:
    """The logarithm to base 10; NaN below 0."""

def log1p(input: Tensor) -> Tensor:
    """log(1 + x), exact near 0; NaN below -1."""

def log2(input: Tensor) -> Tensor:
    """The logarithm to base 2; NaN below 0."""

def logaddexp(input: Operand, other: Operand) -> Tensor:
    """log(exp(x) + exp(y)), without overflow."""

def logaddexp2(input: Operand, other: Operand) -> Tensor:
    """log2(2**x + 2**y), without overflow."""

def logical_and(input: Operand, other: Operand) -> Any:
    """Return whether both x and y are nonzero, as Bool."""

def logical_not(input: Tensor) -> Tensor:
    """Return whether an element is zero or False, as Bool."""

def logical_or(input: Operand, other: Operand) -> Any:
    """Return whether x or y is nonzero, as Bool."""

def logical_xor(input: Operand, other: Operand) -> Any:
    """Return whether one of x and y is nonzero and not both, as Bool."""

def logsumexp(input: Tensor, dim: Axis, keepdim: bool = False) -> Tensor:
    """Return log(sum(exp(input))) over axes without overflow; infinite if an element is inf, or all are
    -inf.
    """

def lt(input: Operand, other: Operand) -> Any:
    """x < y, as Bool."""

def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where ``mask`` holds, in the order of the tensor."""

def matmul(input: Tensor, other: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Return the matrix product of the last two axes, broadcast over those before; as NumPy's ``matmul``.
    """

def maximum(input: Operand, other: Operand) -> Tensor:
    """The larger of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
    """

def minimum(input: Operand, other: Operand) -> Tensor:
    """The smaller of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
    """

def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices."""

def mul(input: Operand, other: Operand) -> Tensor:
    """x * y."""

def mv(input: Tensor, vec: Tensor) -> Tensor:
    """Return a matrix times a vector."""

def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Return the tensor with NaN and infinities replaced by finite numbers, as in NumPy."""

def nansum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sum of the elements over axes, with NaN counted as 0."""

def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """Return ``input[..., start : start + length, ...]``: ``length`` consecutive entries along one axis.
    """

def ne(input: Operand, other: object) -> Any:
    """x != y, as Bool."""

def neg(input: Tensor) -> Tensor:
    """-x."""

def negative(input: Tensor) -> Tensor:
    """-x."""

def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0, in the order of the tensor."""

def not_equal(input: Operand, other: object) -> Any:
    """x != y, as Bool."""

def ones_like(input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return ones of the input's shape and device."""

def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the product of each element of a vector with each of another: input[i] * vec2[j]."""

def permute(input: Tensor, dims: Ints | Tensor | None) -> Tensor:
    """Return the tensor with its axes in another order."""

def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return abs * cos(angle) + i abs * sin(angle), the complex numbers of these lengths and angles.
    """

def prod(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the product over axes; its second derivative is not defined where an element is 0."""

def qr(input: Tensor, mode: str = 'reduced') -> tuple[Tensor, Tensor]:
    """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = input
    (Householder's).
    """

def ravel(input: Tensor) -> Tensor:
    """Return all elements, row by row, in one axis."""

def real(input: Tensor) -> Tensor:
    """Return the real part, element by element; a real tensor is returned as it is."""

def reciprocal(input: Tensor) -> Tensor:
    """1 / x."""

def remainder(input: Operand, other: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def reshape(input: Tensor, shape: Shape) -> Tensor:
    """Return the elements in row-major order in a different shape."""

def roll(input: Tensor, shifts: Ints, dims: Ints | None = None) -> Tensor:
    """Return the elements shifted along axes; those that leave at the end come back at the start."""

def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is
    0.
    """

def rsqrt(input: Tensor) -> Tensor:
    """1 / sqrt(x)."""

def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """Return ``input`` with ``src`` written at positions along an axis, or combined with the elements
    there.
    """

def searchsorted(sorted_sequence: Tensor, values: TensorLike, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None) -> Tensor:
    """Return where ``values`` would be inserted into a sorted Tensor, along its last axis, to keep it
    sorted.
    """

def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""

def sign(input: Tensor) -> Tensor:
    """-1, 0 or 1 as x is negative, 0 or NaN, or positive; of a complex number x / |x|, and 0 of 0."""

def sin(input: Tensor) -> Tensor:
    """The sine of an angle in radians."""

def sinc(input: Tensor) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine, (exp(x) - exp(-x)) / 2."""

def softmax(input: Tensor, dim: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return exp(input) / sum(exp(input)) along ``dim``, computed without overflow."""

def split(tensor: Tensor, split_size_or_sections: Shape, dim: int = 0) -> tuple[Tensor, ...]:
    """Return parts of a tensor along an axis."""

def sqrt(input: Tensor) -> Tensor:
    """The square root of x, NaN of negative real numbers."""

def square(input: Tensor) -> Tensor:
    """x * x."""

def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis, in the dtype that they promote to."""

def std(input: Tensor, dim: Axis = None, *, correction: int | bool = 1, keepdim: bool = False) -> Tensor:
    """Return the standard deviation over axes: sqrt(sum((x - mean) ** 2) / (n - ddof))."""

def std_mean(input: Tensor, dim: Axis = None, *, correction: int | bool = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over axes."""

def sum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sum over axes."""

def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return the tensor with two axes exchanged."""

def t(input: Tensor) -> Tensor:
    """Return the transpose of a matrix."""

def tan(input: Tensor) -> Tensor:
    """The tangent of an angle in radians."""

def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""

def tile(input: Tensor, dims: Shape) -> Tensor:
    """Return the whole tensor repeated along its axes."""

def trace(input: Tensor) -> Tensor:
    """Return the sum of a matrix's main diagonal."""

def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return the tensor with two axes exchanged."""

def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Tensor:
    """Return the x with A @ x = b for a triangular A."""

def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the lower triangle of each matrix: element (i, j) where j - i <= ``diagonal``, 0 elsewhere.
    """

def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return the upper triangle of each matrix: element (i, j) where j - i >= ``diagonal``, 0 elsewhere.
    """

def trunc(input: Tensor) -> Tensor:
    """The integer part of x, rounded towards 0; its gradient is 0."""

def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the entries along ``dim``, without that axis."""

def unique(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Tensor | tuple[Tensor, ...]:
    """Return each value once, in ascending order; optionally the position of each element's value, and the
    counts.
    """

def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Tensor | tuple[Tensor, ...]:
    """Return the values without repetitions of neighbors, optionally each element's position and run
    lengths.
    """

def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return the tensor with one more axis, of length 1."""

def var(input: Tensor, dim: Axis = None, *, correction: int | bool = 1, keepdim: bool = False) -> Tensor:
    """Return the variance over axes: sum((x - mean) ** 2) / (n - ddof)."""

def var_mean(input: Tensor, dim: Axis = None, *, correction: int | bool = 1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean over axes."""

def xlogy(input: Operand, other: Operand) -> Tensor:
    """Return input * log(other), and 0 where ``input`` is 0, for any ``other`` but NaN."""

def zeros_like(input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return zeros of the input's shape and device."""
