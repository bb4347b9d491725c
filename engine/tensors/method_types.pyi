"""The methods of Tensor that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

import builtins
from collections.abc import Sequence
from hookscope.engine.base.types import AnyDType, Array, DTypeLike, Ints, Number, Operand, Shape, TensorLike
from hookscope.engine.ops.arguments import Axis
from hookscope.engine.tensors.dtype import DType
from hookscope.engine.tensors.generator import Generator
from hookscope.engine.tensors.tensor import Tensor
from typing import Any, NoReturn, overload

class TensorMethods:
    def abs(self) -> Tensor:
        """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""
    def absolute(self) -> Tensor:
        """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""
    def acos(self) -> Tensor:
        """The arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine, 0 or above; NaN below 1."""
    def add(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Return input + alpha * other, element by element."""
    def add_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Return input + alpha * other, element by element."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """Return beta * input + alpha * the sum of batch1 @ batch2 over the batch."""
    def addcdiv(self, tensor1: Operand, tensor2: Operand, value: Operand = 1) -> Tensor:
        """Return input + value * tensor1 / tensor2."""
    def addcmul(self, tensor1: Operand, tensor2: Operand, value: Operand = 1) -> Tensor:
        """Return input + value * tensor1 * tensor2."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """Return beta * input + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """Return beta * input + alpha * (mat1 @ mat2)."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """Return beta * input + alpha * (mat @ vec)."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """Return beta * x + alpha * outer(vec1, vec2)."""
    def adjoint(self) -> Tensor:
        """Return the tensor with the last two axes swapped and complex numbers conjugated."""
    @overload
    def all(self, axis: Axis = None, keep_dims: builtins.bool = False) -> Tensor:
        """Return whether all elements over axes are true (not 0)."""
    @overload
    def all(self, dim: Axis = None, keep_dims: builtins.bool = False) -> Tensor:
        """Return whether all elements over axes are true (not 0)."""
    def allclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Return whether abs(input - other) <= atol + rtol * abs(other) everywhere, as in NumPy."""
    @overload
    def amax(self, axis: Axis = None, keepdims: builtins.bool = False, *, initial: Number | None = None, where: Tensor | builtins.bool | None = None) -> Tensor:
        """The largest element over axes."""
    @overload
    def amax(self, dim: Axis = None, keepdim: builtins.bool = False, *, initial: Number | None = None, where: Tensor | builtins.bool | None = None) -> Tensor:
        """The largest element over axes."""
    @overload
    def amin(self, axis: Axis = None, keepdims: builtins.bool = False, *, initial: Number | None = None, where: Tensor | builtins.bool | None = None) -> Tensor:
        """The smallest element over axes."""
    @overload
    def amin(self, dim: Axis = None, keepdim: builtins.bool = False, *, initial: Number | None = None, where: Tensor | builtins.bool | None = None) -> Tensor:
        """The smallest element over axes."""
    @overload
    def aminmax(self, *, axis: builtins.int | None = 0, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the smallest and the largest element over one axis, or over all."""
    @overload
    def aminmax(self, *, dim: builtins.int | None = 0, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the smallest and the largest element over one axis, or over all."""
    def angle(self) -> Tensor:
        """Return the angle atan2(imag, real) of complex numbers; of real ones pi where negative, else 0; NaN
        of NaN.
        """
    @overload
    def any(self, axis: Axis = None, keep_dims: builtins.bool = False) -> Tensor:
        """Return whether any element over axes is true (not 0)."""
    @overload
    def any(self, dim: Axis = None, keep_dims: builtins.bool = False) -> Tensor:
        """Return whether any element over axes is true (not 0)."""
    def approximate_equal(self, other: Tensor, tolerance: builtins.float = 1e-05) -> Tensor:
        """Return whether abs(x - y) < tolerance."""
    def arccos(self) -> Tensor:
        """The arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine, 0 or above; NaN below 1."""
    def arcsin(self) -> Tensor:
        """The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1]."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arctan(self) -> Tensor:
        """The arc tangent, in (-pi / 2, pi / 2)."""
    def arctan2(self, other: Operand) -> Tensor:
        """The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].
        """
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""
    def argmax(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the position of the largest element along an axis."""
    @overload
    def argmax_with_value(self, axis: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the largest element along an axis, and its position: the reverse order of
        ``ArgMaxWithValue``.
        """
    @overload
    def argmax_with_value(self, dim: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the largest element along an axis, and its position: the reverse order of
        ``ArgMaxWithValue``.
        """
    @overload
    def argmin(self, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Return the position of the smallest element along an axis."""
    @overload
    def argmin(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the position of the smallest element along an axis."""
    @overload
    def argmin_with_value(self, axis: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the smallest element along an axis, and its position: the reverse order of
        ``ArgMinWithValue``.
        """
    @overload
    def argmin_with_value(self, dim: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the smallest element along an axis, and its position: the reverse order of
        ``ArgMinWithValue``.
        """
    @overload
    def argsort(self, axis: builtins.int | None = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> Tensor:
        """Return the positions of the sorted elements along one axis. Equal ones keep their order; NaN is the
        largest.
        """
    @overload
    def argsort(self, dim: builtins.int | None = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> Tensor:
        """Return the positions of the sorted elements along one axis. Equal ones keep their order; NaN is the
        largest.
        """
    def argwhere(self) -> Tensor:
        """Return the indices of the elements that are not 0, in the order of the tensor."""
    def asin(self) -> Tensor:
        """The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1]."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def astype(self, dtype: AnyDType, copy: Any = True) -> Tensor:
        """Return the elements in a different dtype."""
    def atan(self) -> Tensor:
        """The arc tangent, in (-pi / 2, pi / 2)."""
    def atan2(self, other: Operand) -> Tensor:
        """The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].
        """
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent; NaN outside [-1, 1]."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """Return beta * input + alpha * (batch1 @ batch2), matrix by matrix."""
    def bernoulli(self, *, generator: Generator | None = None) -> Tensor:
        """Draw 1 with the probability in each element of ``input``, and 0 otherwise."""
    def bernoulli_(self, p: TensorLike = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Draw 1 with probability ``p`` and 0 otherwise, in the tensor's shape and dtype."""
    def bfloat16(self) -> Tensor:
        """The elements as BFloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``."""
    def bitwise_and(self, other: Operand) -> Tensor:
        """x & y, bit by bit, of bools or integers."""
    def bitwise_left_shift(self, other: Operand) -> Tensor:
        """Return the bits shifted to the left: input * 2**other, where that fits the dtype."""
    def bitwise_not(self) -> Tensor:
        """~x, bit by bit: -x - 1 of signed integers, not x of bools."""
    def bitwise_or(self, other: Operand) -> Tensor:
        """x | y, bit by bit, of bools or integers."""
    def bitwise_right_shift(self, other: Operand) -> Tensor:
        """Return the bits shifted to the right: floor(input / 2**other)."""
    def bitwise_xor(self, other: Operand) -> Tensor:
        """x ^ y, bit by bit, of bools or integers."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """Return the matrix product of each pair in two batches; ``matmul`` also broadcasts."""
    def bool(self) -> Tensor:
        """The elements as Bool."""
    def broadcast_to(self, shape: Shape) -> Tensor:
        """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.
        """
    def byte(self) -> Tensor:
        """The elements as UInt8."""
    def cauchy(self, median: builtins.float = 0.0, sigma: builtins.float = 1.0) -> Tensor:
        """Draw numbers from the Cauchy distribution, in the tensor's shape and dtype."""
    def ceil(self) -> Tensor:
        """The smallest integer not below x; its gradient is 0."""
    def char(self) -> Tensor:
        """The elements as Int8."""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """Return Cholesky's decomposition: the triangular L with L @ L.T = A."""
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """Return the inverse of A = L @ L.T, from L."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Tensor:
        """Return the x with A @ x = input for A = L @ L.T, from L."""
    def choose(self, choices: Sequence[TensorLike] | Tensor, mode: str = 'clip') -> Tensor:
        """Return for each element the corresponding element of the entry of ``choices`` with that number, as
        in NumPy.
        """
    @overload
    def chunk(self, chunks: builtins.int, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return at most ``chunks`` parts along an axis, all of one length but the last, which may be shorter.
        """
    @overload
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return at most ``chunks`` parts along an axis, all of one length but the last, which may be shorter.
        """
    def clamp(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
        """Return min(max(input, ``min``), ``max``), element by element; NaN becomes a limit, the lower if
        there is one.
        """
    def clamp_(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
        """Return min(max(input, ``min``), ``max``), element by element; NaN becomes a limit, the lower if
        there is one.
        """
    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
        """Return min(max(input, ``min``), ``max``), element by element; NaN becomes a limit, the lower if
        there is one.
        """
    def clone(self) -> Tensor:
        """Return the same values in a new Tensor, through which gradients pass."""
    def conj(self) -> Tensor:
        """Return the complex conjugate, real - i imag, element by element; a real tensor is returned as it is.
        """
    def contiguous(self) -> Tensor:
        """Return the same values in row-major order in memory."""
    def copy(self) -> Tensor:
        """Return the same values in a new Tensor, through which gradients pass."""
    def copy_(self, src: TensorLike, non_blocking: builtins.bool = False) -> Tensor:
        """Return the values of ``src`` in this tensor's dtype, broadcast to its shape; the gradient goes to
        ``src``.
        """
    def copysign(self, other: TensorLike) -> Tensor:
        """Return the absolute value of x with the sign of ``other``, including the sign of -0.0 and of NaN.
        """
    def cos(self) -> Tensor:
        """The cosine of an angle in radians."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine, (exp(x) + exp(-x)) / 2."""
    @overload
    def count_nonzero(self, axis: Axis = (), keepdims: builtins.bool = False, dtype: DTypeLike | None = None) -> Tensor:
        """Return how many elements over axes are not 0; NaN counts as not 0."""
    @overload
    def count_nonzero(self, dim: Axis = (), keepdim: builtins.bool = False, dtype: DTypeLike | None = None) -> Tensor:
        """Return how many elements over axes are not 0; NaN counts as not 0."""
    def cov(self, *, correction: builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """Return the covariance matrix of the rows: sum of w (x_i - mean_i) (x_j - mean_j) / (sum of w - c),
        as in NumPy.
        """
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Tensor:
        """Return the cross product of vectors of three elements."""
    @overload
    def cummax(self, axis: builtins.int) -> tuple[Tensor, Tensor]:
        """Return the largest element so far along one axis, and its position, the last one of several. NaN
        stays.
        """
    @overload
    def cummax(self, dim: builtins.int) -> tuple[Tensor, Tensor]:
        """Return the largest element so far along one axis, and its position, the last one of several. NaN
        stays.
        """
    @overload
    def cummin(self, axis: builtins.int) -> tuple[Tensor, Tensor]:
        """Return the smallest element so far along one axis, and its position, the last one of several. NaN
        stays.
        """
    @overload
    def cummin(self, dim: builtins.int) -> tuple[Tensor, Tensor]:
        """Return the smallest element so far along one axis, and its position, the last one of several. NaN
        stays.
        """
    def cumprod(self, dim: builtins.int, dtype: DTypeLike | None = None) -> Tensor:
        """Return the product of the elements so far along one axis."""
    @overload
    def cumsum(self, axis: builtins.int | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """Return the running sums along an axis: out[i] = x[0] + ... + x[i]."""
    @overload
    def cumsum(self, dim: builtins.int | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """Return the running sums along an axis: out[i] = x[0] + ... + x[i]."""
    def deg2rad(self) -> Tensor:
        """Return degrees as radians: x * pi / 180."""
    def det(self) -> Tensor:
        """Return the determinant of each matrix."""
    def diag(self) -> Tensor:
        """Return a tensor of twice the axes, with the elements where both halves of an index agree and 0
        elsewhere.
        """
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """Return a matrix with all elements of the input, flattened, on a diagonal and 0 elsewhere; as in
        NumPy.
        """
    @overload
    def diagonal(self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1) -> Tensor:
        """Return the diagonals of the planes (dim1, dim2), as a new last axis; as in NumPy."""
    @overload
    def diagonal(self, offset: builtins.int = 0, dim1: builtins.int = 0, axis2: builtins.int = 1) -> Tensor:
        """Return the diagonals of the planes (dim1, dim2), as a new last axis; as in NumPy."""
    def diagonal_scatter(self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """Return a copy of the tensor with ``src`` on the diagonals of its planes (dim1, dim2)."""
    @overload
    def diff(self, n: builtins.int = 1, axis: builtins.int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """Return the ``n``-th difference of neighbors along one axis: x[i + 1] - x[i]; for bools whether they
        differ.
        """
    @overload
    def diff(self, n: builtins.int = 1, dim: builtins.int = -1, prepend: Any = None, append: Any = None) -> Tensor:
        """Return the ``n``-th difference of neighbors along one axis: x[i + 1] - x[i]; for bools whether they
        differ.
        """
    def digamma(self) -> Tensor:
        """The slope of lgamma."""
    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""
    def div_(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""
    def divide(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""
    def dot(self, other: Tensor) -> Tensor:
        """Return the sum of products over the last axis of ``input`` and the last but one of ``other``."""
    def double(self) -> Tensor:
        """The elements as Float64."""
    def dsplit(self, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Parts along axis 2: a number of nearly equal length, or cut at indices."""
    def eigvals(self) -> Tensor:
        """Return the eigenvalues of each matrix."""
    def eq(self, other: object) -> Any:
        """x == y, as Bool."""
    def equal(self, other: object) -> Any:
        """x == y, as Bool."""
    def erf(self) -> Tensor:
        """The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    def erfc(self) -> Tensor:
        """The complementary error function, 1 - erf(x), also where that is much smaller than 1."""
    def erfinv(self) -> Tensor:
        """The inverse of erf."""
    def erfinv_(self) -> Tensor:
        """The inverse of erf."""
    def exp(self) -> Tensor:
        """e to the power x."""
    def exp_(self) -> Tensor:
        """e to the power x."""
    def expand(self, *size: Any) -> Tensor:
        """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.
        """
    def expand_as(self, x: Tensor) -> Tensor:
        """Return the tensor repeated to the shape of another tensor."""
    @overload
    def expand_dims(self, axis: builtins.int) -> Tensor:
        """Return the tensor with one more axis, of length 1."""
    @overload
    def expand_dims(self, dim: builtins.int) -> Tensor:
        """Return the tensor with one more axis, of length 1."""
    def expm1(self) -> Tensor:
        """exp(x) - 1, exact near 0."""
    def exponential_(self, lambd: builtins.float = 1, *, generator: Generator | None = None) -> Tensor:
        """Draw numbers from the exponential distribution: the density is lambd * exp(-lambd * x)."""
    def fill(self, value: Operand) -> Tensor:
        """Return ``value`` everywhere, in this tensor's shape and dtype."""
    def fill_(self, value: Operand) -> Tensor:
        """Return ``value`` everywhere, in this tensor's shape and dtype."""
    def fill_diagonal(self, fill_value: Number, wrap: builtins.bool = False) -> Tensor:
        """Return the tensor with a number on its diagonal, where all indices are equal."""
    def fill_diagonal_(self, fill_value: Number, wrap: builtins.bool = False) -> Tensor:
        """Return the tensor with a number on its diagonal, where all indices are equal."""
    def fills(self, value: Operand) -> Tensor:
        """Return ``value`` everywhere, in this tensor's shape and dtype."""
    def flatten(self, order: str | builtins.int = 'C', *dims: builtins.int, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Return the tensor with the axes from ``start_dim`` to ``end_dim``, by default all, joined to one.
        """
    def flip(self, dims: Ints) -> Tensor:
        """Return the order of the elements reversed along axes."""
    def fliplr(self) -> Tensor:
        """Return the tensor with the second axis reversed."""
    def flipud(self) -> Tensor:
        """Return the tensor with the first axis reversed."""
    def float(self) -> Tensor:
        """The elements as Float32."""
    def float_power(self, other: Tensor | Number) -> Tensor:
        """Return the power input**exponent, computed in Float64, or in Complex128 if one of the two is
        complex.
        """
    def floor(self) -> Tensor:
        """The greatest integer not above x; its gradient is 0."""
    def floor_(self) -> Tensor:
        """The greatest integer not above x; its gradient is 0."""
    def floor_divide(self, other: Operand) -> Tensor:
        """floor(x / y), the greatest integer not above the quotient; its gradient is 0."""
    def floor_divide_(self, other: Operand) -> Tensor:
        """floor(x / y), the greatest integer not above the quotient; its gradient is 0."""
    def flush_from_cache(self) -> None:
        """Do nothing: there is no parameter server, and so no cache to write back."""
    def fmax(self, other: Operand) -> Tensor:
        """Return the larger of the two, which gets the gradient (``input`` where they tie); where one is NaN,
        the other.
        """
    def fmin(self, other: Operand) -> Tensor:
        """Return the smaller of the two, which gets the gradient (``input`` where they tie); where one is NaN,
        the other.
        """
    def fmod(self, other: Operand) -> Tensor:
        """x - trunc(x / y) * y, the remainder with the sign of x."""
    def fold(self, output_size: Ints | Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
        """Return columns summed into images at the positions that ``unfold`` reads them from ("col2im").
        """
    def frac(self) -> Tensor:
        """Return the fractional part x - trunc(x), with the sign of x."""
    def gather(self, first: builtins.int | TensorLike | None = None, second: builtins.int | Tensor | None = None, batch_dims: builtins.int = 0, **kwargs: Any) -> Tensor:
        """Return the elements of ``gather(dim, index)``, or the entries of ``gather(input_indices, axis,
        batch_dims)``.
        """
    def gather_elements(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return the elements of ``input`` at the positions of ``index``, but along ``dim`` at the numbers in
        ``index``.
        """
    def gather_nd(self, indices: Tensor) -> Tensor:
        """Return ``input_x[i0, i1, ...]`` for each row of ``indices`` (its last axis)."""
    def gcd(self, other: Operand) -> Tensor:
        """The greatest common divisor of integers, 0 or above."""
    def ge(self, other: Operand) -> Tensor:
        """x >= y, as Bool."""
    def geqrf(self) -> tuple[Tensor, Tensor]:
        """Return the QR decomposition in the format of LAPACK's geqrf: Q as a product of reflections I - tau *
        v @ v.T.
        """
    def ger(self, vec2: Tensor) -> Tensor:
        """Return the product of each element of a vector with each of another: input[i] * vec2[j]."""
    def greater(self, other: Operand) -> Tensor:
        """x > y, as Bool."""
    def greater_equal(self, other: Operand) -> Tensor:
        """x >= y, as Bool."""
    def gt(self, other: Operand) -> Tensor:
        """x > y, as Bool."""
    def half(self) -> Tensor:
        """The elements as Float16."""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """Return 0 where |x| <= lambd, x elsewhere; NaN stays NaN."""
    def heaviside(self, values: Tensor | Number) -> Tensor:
        """Return the Heaviside step function: 0 where ``input`` is below 0, ``values`` where it is 0, 1 above.
        """
    def histc(self, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0) -> Tensor:
        """Return the count of elements in each of ``bins`` equal parts of [min, max]; the last part includes
        its end.
        """
    def hsplit(self, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Parts along axis 1: a number of nearly equal length, or cut at indices."""
    def hypot(self, other: Operand) -> Tensor:
        """sqrt(x * x + y * y), without overflow."""
    def i0(self) -> Tensor:
        """Return the modified Bessel function of the first kind of order 0, I0(x), as exp(abs(x)) *
        bessel_i0e(x).
        """
    def igamma(self, other: Operand) -> Tensor:
        """Return the regularized lower incomplete gamma function P(a, x)."""
    def igammac(self, other: Operand) -> Tensor:
        """Return the regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x), exact also where that
        is small.
        """
    def imag(self) -> Tensor:
        """Return the imaginary part, element by element; zeros of a real tensor."""
    def index_add(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the tensor with another one added to entries along an axis."""
    def index_add_(self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """Return the tensor with another one added to entries along an axis."""
    def index_copy_(self, dim: builtins.int, index: Tensor, tensor: Tensor) -> Tensor:
        """Return the entries ``index`` along an axis replaced by those of another tensor."""
    @overload
    def index_fill(self, axis: builtins.int, index: Any, value: Tensor | Number) -> Tensor:
        """Return the tensor with ``value`` in entries along an axis."""
    @overload
    def index_fill(self, dim: builtins.int, index: Any, value: Tensor | Number) -> Tensor:
        """Return the tensor with ``value`` in entries along an axis."""
    @overload
    def index_fill_(self, axis: builtins.int, index: Any, value: Tensor | Number) -> Tensor:
        """Return the tensor with ``value`` in entries along an axis."""
    @overload
    def index_fill_(self, dim: builtins.int, index: Any, value: Tensor | Number) -> Tensor:
        """Return the tensor with ``value`` in entries along an axis."""
    def index_put(self, indices: Sequence[Tensor], values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """Return the tensor with ``values`` written, or added, at index tensors."""
    def index_put_(self, indices: Sequence[Tensor], values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """Return the tensor with ``values`` written, or added, at index tensors."""
    @overload
    def index_select(self, axis: builtins.int, index: Tensor) -> Tensor:
        """Return the entries ``index`` along ``axis``."""
    @overload
    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Return the entries ``index`` along ``axis``."""
    def init_data(self, slice_index: builtins.int | None = None, shape: Shape | None = None, opt_shard_group: str | None = None) -> Tensor:
        """Return the Tensor itself: ``init`` fills a Tensor when it is made, so nothing remains to be done.
        """
    def inner(self, other: Tensor) -> Tensor:
        """Return the sum of products over the last axes, as in NumPy."""
    def inplace_update(self, v: Tensor, indices: Ints | Tensor) -> Tensor:
        """``v`` put into rows of ``x``; a new tensor, in spite of the name."""
    def int(self) -> Tensor:
        """The elements as Int32."""
    def inv(self) -> Tensor:
        """Return 1 / x, in the dtype of x."""
    def inverse(self) -> Tensor:
        """Return the inverse of each matrix."""
    def invert(self) -> Tensor:
        """~x, bit by bit: -x - 1 of signed integers, not x of bools."""
    def is_complex(self) -> builtins.bool:
        """Return whether the elements are complex numbers."""
    def is_floating_point(self) -> builtins.bool:
        """Return whether the elements are real floating-point numbers."""
    def isclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """Return whether abs(input - other) <= atol + rtol * abs(other), as in NumPy; equal infinities are
        close.
        """
    def isfinite(self) -> Tensor:
        """Return whether an element is neither infinite nor NaN, as Bool."""
    def isinf(self) -> Tensor:
        """Return whether an element is infinite, of either sign, as Bool."""
    def isnan(self) -> Tensor:
        """Return whether an element is NaN, as Bool."""
    def isneginf(self) -> Tensor:
        """Return whether an element is minus infinity."""
    def isposinf(self) -> Tensor:
        """Return whether an element is plus infinity."""
    def isreal(self) -> Tensor:
        """Return whether the imaginary part is 0, as it is for every real number."""
    def itemset(self, *args: Any) -> Tensor:
        """Return a copy with one element replaced: ``itemset(value)`` or ``itemset(position, value)``."""
    def kthvalue(self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the ``k``-th smallest element along one axis, and its position. NaN counts as the largest.
        """
    def lcm(self, other: Operand) -> Tensor:
        """The least common multiple of integers, 0 or above."""
    def ldexp(self, other: Operand) -> Tensor:
        """Return x * 2**other."""
    def le(self, other: Operand) -> Tensor:
        """x <= y, as Bool."""
    def lerp(self, end: Tensor, weight: Operand) -> Tensor:
        """Return the linear interpolation input + weight * (end - input)."""
    def less(self, other: Operand) -> Any:
        """x < y, as Bool."""
    def less_equal(self, other: Operand) -> Tensor:
        """x <= y, as Bool."""
    def lgamma(self) -> Tensor:
        """log of abs(gamma(x))."""
    def log(self) -> Tensor:
        """The natural logarithm; NaN below 0."""
    def log10(self) -> Tensor:
        """The logarithm to base 10; NaN below 0."""
    def log1p(self) -> Tensor:
        """log(1 + x), exact near 0; NaN below -1."""
    def log2(self) -> Tensor:
        """The logarithm to base 2; NaN below 0."""
    def log_(self) -> Tensor:
        """The natural logarithm; NaN below 0."""
    def log_matrix_determinant(self) -> tuple[Tensor, Tensor]:
        """Return the sign of the determinant of each matrix, and the logarithm of its absolute value."""
    def log_normal(self, mean: builtins.float = 1.0, std: builtins.float = 2.0) -> Tensor:
        """Draw numbers whose logarithms have the normal distribution, in the tensor's shape and dtype."""
    def logaddexp(self, other: Operand) -> Tensor:
        """log(exp(x) + exp(y)), without overflow."""
    def logaddexp2(self, other: Operand) -> Tensor:
        """log2(2**x + 2**y), without overflow."""
    @overload
    def logcumsumexp(self, axis: builtins.int) -> Tensor:
        """Return the logarithm of the sum of exp(input) so far along one axis, without overflow."""
    @overload
    def logcumsumexp(self, dim: builtins.int) -> Tensor:
        """Return the logarithm of the sum of exp(input) so far along one axis, without overflow."""
    def logdet(self) -> Tensor:
        """Return the logarithm of the determinant of each matrix."""
    def logical_and(self, other: Operand) -> Any:
        """Return whether both x and y are nonzero, as Bool."""
    def logical_not(self) -> Tensor:
        """Return whether an element is zero or False, as Bool."""
    def logical_or(self, other: Operand) -> Any:
        """Return whether x or y is nonzero, as Bool."""
    def logical_xor(self, other: Operand) -> Any:
        """Return whether one of x and y is nonzero and not both, as Bool."""
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """Return log(x / (1 - x)), the inverse of the sigmoid."""
    def logsumexp(self, dim: Axis, keepdim: builtins.bool = False) -> Tensor:
        """Return log(sum(exp(input))) over axes without overflow; infinite if an element is inf, or all are
        -inf.
        """
    def long(self) -> Tensor:
        """The elements as Int64."""
    def lstsq(self, A: Tensor) -> Tensor:
        """Return the x for which the norm of input @ x - A is least, the shortest of several; by QR."""
    def lt(self, other: Operand) -> Any:
        """x < y, as Bool."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """Return the x with A @ x = b, from the packed LU decomposition of A."""
    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """Return the tensor with ``value`` where ``mask`` is True."""
    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """Return the tensor with ``value`` where ``mask`` is True."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """Return the tensor with the first elements of ``source``, in order, where ``mask`` is True."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """Return the tensor with the first elements of ``source``, in order, where ``mask`` is True."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """Return the elements where ``mask`` holds, in the order of the tensor."""
    def matmul(self, other: Tensor, transpose_a: builtins.bool = False, transpose_b: builtins.bool = False) -> Tensor:
        """Return the matrix product of the last two axes, broadcast over those before; as NumPy's ``matmul``.
        """
    def matrix_determinant(self) -> Tensor:
        """Return the determinant of each matrix."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """Return each matrix to the power ``n``, by repeated squaring."""
    def max(self, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, Tensor]:
        """The maximum over axes, as ``max(axis=None, keepdims=False, *, initial=None, where=True)``."""
    def maximum(self, other: Operand) -> Tensor:
        """The larger of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
        """
    @overload
    def mean(self, axis: Axis = None, keepdims: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the mean over axes."""
    @overload
    def mean(self, dim: Axis = None, keepdim: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the mean over axes."""
    @overload
    def median(self, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the middle element along one axis, the lower of two, and its position; NaN if any element is
        NaN.
        """
    @overload
    def median(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the middle element along one axis, the lower of two, and its position; NaN if any element is
        NaN.
        """
    def min(self, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, Tensor]:
        """The minimum over axes, as ``min(axis=None, keepdims=False, *, initial=None, where=True)``."""
    def minimum(self, other: Operand) -> Tensor:
        """The smaller of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
        """
    def mm(self, mat2: Tensor) -> Tensor:
        """Return the product of two matrices."""
    def move_to(self, to: str, blocking: Any = True) -> Tensor:
        """Return the same values on another device; gradients pass back to the device of the Tensor."""
    def moveaxis(self, source: Ints, destination: Ints) -> Tensor:
        """Return the tensor with axes moved to other positions; the others keep their order."""
    def movedim(self, source: Ints, destination: Ints) -> Tensor:
        """Return the tensor with axes moved to other positions; the others keep their order."""
    def msort(self) -> Tensor:
        """Return the elements in ascending order along the first axis."""
    def mul(self, other: Operand) -> Tensor:
        """x * y."""
    def mul_(self, other: Operand) -> Tensor:
        """x * y."""
    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = True, seed: builtins.int | None = None) -> Tensor:
        """Draw ``num_samples`` indices of each row, with the weights of the row."""
    def multiply(self, value: Operand) -> Tensor:
        """x * y."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """Return the logarithm of the multivariate gamma function of dimension ``p``."""
    def nan_to_num(self, nan: builtins.float | None = None, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
        """Return the tensor with NaN and infinities replaced by finite numbers, as in NumPy."""
    @overload
    def nanmean(self, axis: Axis = None, keepdims: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the mean of those elements over axes that are not NaN."""
    @overload
    def nanmean(self, dim: Axis = None, keepdim: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the mean of those elements over axes that are not NaN."""
    @overload
    def nanmedian(self, axis: builtins.int = -1, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the middle one, the lower of two, of the elements along one axis that are not NaN, and its
        position.
        """
    @overload
    def nanmedian(self, dim: builtins.int = -1, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the middle one, the lower of two, of the elements along one axis that are not NaN, and its
        position.
        """
    @overload
    def nanquantile(self, q: builtins.float | Sequence[builtins.float] | Array | Tensor, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Return the ``q``-quantiles, linear between neighbors, of the elements that are not NaN."""
    @overload
    def nanquantile(self, q: builtins.float | Sequence[builtins.float] | Array | Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the ``q``-quantiles, linear between neighbors, of the elements that are not NaN."""
    @overload
    def nansum(self, axis: Axis = None, keepdims: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the sum of the elements over axes, with NaN counted as 0."""
    @overload
    def nansum(self, dim: Axis = None, keepdim: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the sum of the elements over axes, with NaN counted as 0."""
    @overload
    def narrow(self, axis: builtins.int, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
        """Return ``input[..., start : start + length, ...]``: ``length`` consecutive entries along one axis.
        """
    @overload
    def narrow(self, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
        """Return ``input[..., start : start + length, ...]``: ``length`` consecutive entries along one axis.
        """
    def ne(self, other: object) -> Any:
        """x != y, as Bool."""
    def neg(self) -> Tensor:
        """-x."""
    def negative(self) -> Tensor:
        """-x."""
    def new_empty(self, size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
        """Return a new tensor of zeros."""
    def new_full(self, size: Shape, fill_value: Operand, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
        """Return ``fill_value`` everywhere in a new tensor."""
    def new_ones(self, size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
        """Return a new tensor of ones."""
    def new_zeros(self, size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
        """Return a new tensor of zeros."""
    def nextafter(self, other: Operand) -> Tensor:
        """The floating-point number after x on the way to y, as in C; its gradient by x is 1, that by y 0.
        """
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """Return the indices of the elements that are not 0, in the order of the tensor."""
    def norm(self, ord: builtins.int | builtins.float | str | None = None, dim: Axis = None, keepdim: builtins.bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return the norm of vectors or matrices, or of all elements."""
    def normal_(self, mean: builtins.float = 0, std: builtins.float = 1, *, generator: Generator | None = None) -> Tensor:
        """Draw numbers from the normal distribution, in the tensor's shape and dtype."""
    def not_equal(self, other: object) -> Any:
        """x != y, as Bool."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """Return the first columns of Q, the product of the reflections that ``geqrf`` returns."""
    def ormqr(self, input2: Tensor, input3: Tensor, left: builtins.bool = True, transpose: builtins.bool = False) -> Tensor:
        """Return ``input3`` times Q, the product of the reflections that ``geqrf`` returns."""
    def outer(self, vec2: Tensor) -> Tensor:
        """Return the product of each element of a vector with each of another: input[i] * vec2[j]."""
    @overload
    def permute(self, *axis: Any, dims: Ints | None = None) -> Tensor:
        """Return the tensor with its axes in another order."""
    @overload
    def permute(self, *dim: Any, dims: Ints | None = None) -> Tensor:
        """Return the tensor with its axes in another order."""
    def pinv(self, *, atol: builtins.float | Tensor | None = None, rtol: builtins.float | Tensor | None = None, hermitian: builtins.bool = False) -> Tensor:
        """Return the pseudo-inverse (Moore and Penrose) of each matrix, by singular values: V @ diag(1 / s) @
        U.T.
        """
    def positive(self) -> Tensor:
        """Return the tensor itself, ``+input``."""
    def pow(self, exponent: Operand) -> Tensor:
        """x to the power y, of integers without the fraction; the gradient by y is 0 where x is 0, NaN where x
        < 0.
        """
    @overload
    def prod(self, axis: Axis = None, keep_dims: builtins.bool = False, dtype: DTypeLike | None = None) -> Tensor:
        """Return the product over axes; its second derivative is not defined where an element is 0."""
    @overload
    def prod(self, dim: Axis = None, keep_dims: builtins.bool = False, dtype: DTypeLike | None = None) -> Tensor:
        """Return the product over axes; its second derivative is not defined where an element is 0."""
    @overload
    def ptp(self, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
        """Return the range: the largest less the smallest element over axes."""
    @overload
    def ptp(self, dim: Axis = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the range: the largest less the smallest element over axes."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """Return the tensor with ``source`` written at, or added to, positions of the flattened tensor."""
    def qr(self, some: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = input.
        """
    @overload
    def quantile(self, q: builtins.float | Sequence[builtins.float] | Array | Tensor, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Return the ``q``-quantiles: of n sorted elements the value at q * (n - 1), linear between neighbors
        as in NumPy.
        """
    @overload
    def quantile(self, q: builtins.float | Sequence[builtins.float] | Array | Tensor, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Return the ``q``-quantiles: of n sorted elements the value at q * (n - 1), linear between neighbors
        as in NumPy.
        """
    def rad2deg(self) -> Tensor:
        """Return radians as degrees: x * 180 / pi."""
    def random_(self, from_: builtins.int = 0, to: builtins.int | None = None, *, generator: Generator | None = None) -> Tensor:
        """Draw integers uniformly from [from_, to), in the tensor's shape and dtype."""
    def random_categorical(self, num_sample: builtins.int, seed: builtins.int = 0, dtype: DTypeLike = ...) -> Tensor:
        """Draw ``num_sample`` indices for each row, with the softmax of the row and with replacement."""
    def ravel(self) -> Tensor:
        """Return all elements, row by row, in one axis."""
    def real(self) -> Tensor:
        """Return the real part, element by element; a real tensor is returned as it is."""
    def reciprocal(self) -> Tensor:
        """1 / x."""
    def relu(self, inplace: builtins.bool = False) -> Tensor:
        """Return max(input, 0), element by element; NaN stays NaN."""
    def remainder(self, divisor: Operand) -> Tensor:
        """x - floor(x / y) * y, with the sign of y."""
    def remainder_(self, other: Operand) -> Tensor:
        """x - floor(x / y) * y, with the sign of y."""
    @overload
    def renorm(self, p: builtins.float, axis: builtins.int, maxnorm: builtins.float) -> Tensor:
        """Return each entry along one axis, scaled by maxnorm / (norm + 1e-7) if its ``p``-norm is above
        ``maxnorm``.
        """
    @overload
    def renorm(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Tensor:
        """Return each entry along one axis, scaled by maxnorm / (norm + 1e-7) if its ``p``-norm is above
        ``maxnorm``.
        """
    def repeat(self, *repeats: Any) -> Tensor:
        """Return the whole tensor repeated along its axes."""
    def repeat_interleave(self, repeats: Shape, dim: builtins.int | None = None, *, output_size: builtins.int | None = None) -> Tensor:
        """Return each element along an axis repeated, as NumPy's repeat."""
    def requires_grad_(self, requires_grad: Any = True) -> Tensor:
        """Set ``requires_grad``."""
    def reshape(self, *lengths: Any, shape: Shape | None = None) -> Tensor:
        """Return the elements in row-major order in a different shape."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """Return the elements in their order, in the shape of another tensor."""
    def resize(self, *new_shape: Any) -> Tensor:
        """Return the first elements, in row-major order, in a different shape, padded with 0."""
    @overload
    def reverse(self, axis: Ints) -> Tensor:
        """Return the tensor with the order of the elements reversed along axes."""
    @overload
    def reverse(self, dim: Ints) -> Tensor:
        """Return the tensor with the order of the elements reversed along axes."""
    def reverse_sequence(self, seq_lengths: Tensor, seq_dim: builtins.int = 0, batch_dim: builtins.int = 0) -> Tensor:
        """Return the tensor with the first elements of the sequence in each batch entry reversed."""
    def roll(self, shifts: Ints, dims: Ints | None = None) -> Tensor:
        """Return the elements shifted along axes; those that leave at the end come back at the start."""
    def rot90(self, k: builtins.int, dims: Sequence[builtins.int]) -> Tensor:
        """Return the tensor rotated by quarter turns in the plane of two axes."""
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is
        0.
        """
    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""
    def scatter(self, dim: builtins.int = 0, index: Tensor | None = None, src: Tensor | Number | None = None, *, reduce: str | None = None, **kwargs: Any) -> Tensor:
        """Return ``input`` with ``src`` written at positions along an axis, or combined with the elements
        there.
        """
    def scatter_(self, dim: builtins.int = 0, index: Tensor | None = None, src: Tensor | Number | None = None, *, reduce: str | None = None, **kwargs: Any) -> Tensor:
        """Return ``input`` with ``src`` written at positions along an axis, or combined with the elements
        there.
        """
    def scatter_add(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the tensor with another one added at positions."""
    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
        """Return the tensor with ``src`` added at positions along an axis."""
    def scatter_div(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """x / u where ``indices`` point; a new tensor."""
    def scatter_max(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """max(x, u) where ``indices`` point; a new tensor."""
    def scatter_min(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """min(x, u) where ``indices`` point; a new tensor."""
    def scatter_mul(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """x * u where ``indices`` point; a new tensor."""
    def scatter_sub(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """x - u where ``indices`` point; a new tensor."""
    def searchsorted(self, v: TensorLike, side: str = 'left', sorter: Tensor | None = None) -> Tensor:
        """Return where ``v`` would be inserted into this sorted Tensor, along its last axis, to keep it
        sorted.
        """
    def select(self, first: TensorLike | None = None, second: TensorLike | None = None, **kwargs: Any) -> Tensor:
        """Return one entry of an axis for ``select(dim, index)``; for ``select(condition, y)`` the tensor or
        ``y``.
        """
    @overload
    def select_scatter(self, src: Tensor, axis: builtins.int, index: builtins.int) -> Tensor:
        """Return a copy of ``input`` whose entry ``index`` along ``axis`` is ``src``, as in PyTorch."""
    @overload
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """Return a copy of ``input`` whose entry ``index`` along ``axis`` is ``src``, as in PyTorch."""
    def set_const_arg(self, const_arg: Any = True) -> Tensor:
        """Store the flag ``const_arg``, which a graph compiler would read; it has no effect here."""
    def set_dtype(self, dtype: AnyDType) -> DType:
        """Change the dtype of this Tensor in place; its elements are converted."""
    def sgn(self) -> Tensor:
        """Return the sign, -1, 0 or 1; of a complex number z, z / abs(z), and 0 at 0."""
    def short(self) -> Tensor:
        """The elements as Int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 as x is negative, 0 or NaN, or positive; of a complex number x / |x|, and 0 of 0."""
    def sign_(self) -> Tensor:
        """-1, 0 or 1 as x is negative, 0 or NaN, or positive; of a complex number x / |x|, and 0 of 0."""
    def signbit(self) -> Tensor:
        """Return whether the sign is minus, that of -0.0 too: a Bool."""
    def sin(self) -> Tensor:
        """The sine of an angle in radians."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine, (exp(x) - exp(-x)) / 2."""
    @overload
    def slice_scatter(self, src: Tensor, axis: builtins.int = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1) -> Tensor:
        """Return a copy of ``input`` with ``src`` written to ``input[..., start:end:step, ...]``, as in
        PyTorch.
        """
    @overload
    def slice_scatter(self, src: Tensor, dim: builtins.int = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1) -> Tensor:
        """Return a copy of ``input`` with ``src`` written to ``input[..., start:end:step, ...]``, as in
        PyTorch.
        """
    def slogdet(self) -> tuple[Tensor, Tensor]:
        """Return the sign of the determinant of each matrix, and the logarithm of its absolute value."""
    def soft_shrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """Return x - lambd where x > lambd, x + lambd where x < -lambd, 0 elsewhere."""
    @overload
    def softmax(self, axis: builtins.int, dtype: DTypeLike | None = None) -> Tensor:
        """Return exp(input) / sum(exp(input)) along ``axis``, computed without overflow."""
    @overload
    def softmax(self, dim: builtins.int, dtype: DTypeLike | None = None) -> Tensor:
        """Return exp(input) / sum(exp(input)) along ``axis``, computed without overflow."""
    @overload
    def sort(self, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is
        the largest.
        """
    @overload
    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is
        the largest.
        """
    @overload
    def split(self, split_size_or_sections: Shape, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return parts of a tensor along an axis."""
    @overload
    def split(self, split_size_or_sections: Shape, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return parts of a tensor along an axis."""
    def sqrt(self) -> Tensor:
        """The square root of x, NaN of negative real numbers."""
    def square(self) -> Tensor:
        """x * x."""
    @overload
    def squeeze(self, *axes: Any, axis: Axis = None) -> Tensor:
        """Return the tensor without the axes of length 1."""
    @overload
    def squeeze(self, *axes: Any, dim: Axis = None) -> Tensor:
        """Return the tensor without the axes of length 1."""
    @overload
    def std(self, axis: Axis = None, ddof: builtins.int | builtins.bool = 0, keepdims: builtins.bool = False) -> Tensor:
        """Return the standard deviation over axes: sqrt(sum((x - mean) ** 2) / (n - ddof))."""
    @overload
    def std(self, dim: Axis = None, ddof: builtins.int | builtins.bool = 0, keepdim: builtins.bool = False) -> Tensor:
        """Return the standard deviation over axes: sqrt(sum((x - mean) ** 2) / (n - ddof))."""
    def sub(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Return input - alpha * other, element by element."""
    def sub_(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Return input - alpha * other, element by element."""
    def subtract(self, other: Operand, *, alpha: Number = 1) -> Tensor:
        """Return input - alpha * other, element by element."""
    @overload
    def sum(self, axis: Axis = None, dtype: DTypeLike | builtins.bool | None = None, keepdims: builtins.bool = False, initial: Number | None = None) -> Tensor:
        """Return the sum over axes."""
    @overload
    def sum(self, dim: Axis = None, dtype: DTypeLike | builtins.bool | None = None, keepdim: builtins.bool = False, initial: Number | None = None) -> Tensor:
        """Return the sum over axes."""
    def sum_to_size(self, *size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Return the tensor summed over the axes in which ``size`` is 1 or missing."""
    def svd(self, full_matrices: builtins.bool = False, compute_uv: builtins.bool = True) -> Any:
        """Return the singular value decomposition: s, U and V with U @ diag(s) @ V.T = input (V.H for complex
        numbers).
        """
    @overload
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Return the tensor with two axes exchanged."""
    @overload
    def swapaxes(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return the tensor with two axes exchanged."""
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Return the tensor with two axes exchanged."""
    def t(self) -> Tensor:
        """Return the transpose of a matrix."""
    @overload
    def take(self, index: TensorLike, axis: builtins.int | None = None, mode: str = 'clip') -> Tensor:
        """Return the elements ``index`` of the flattened tensor, or the entries along ``axis``."""
    @overload
    def take(self, index: TensorLike, dim: builtins.int | None = None, mode: str = 'clip') -> Tensor:
        """Return the elements ``index`` of the flattened tensor, or the entries along ``axis``."""
    def tan(self) -> Tensor:
        """The tangent of an angle in radians."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""
    def tanh_(self) -> Tensor:
        """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""
    @overload
    def tensor_split(self, indices_or_sections: Ints, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return parts along ``axis``: a number of nearly equal length, or cut at indices; as NumPy's
        ``array_split``.
        """
    @overload
    def tensor_split(self, indices_or_sections: Ints, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return parts along ``axis``: a number of nearly equal length, or cut at indices; as NumPy's
        ``array_split``.
        """
    def tile(self, *repeats: Any, dims: Shape = (), reps: Shape = ()) -> Tensor:
        """Return the whole tensor repeated along its axes."""
    def to(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the values in a different dtype, on another device, or in the dtype of another Tensor."""
    def to_coo(self) -> Any:
        """Return the elements of a matrix that are not 0, with their positions."""
    def to_csr(self) -> Any:
        """Return the elements of a matrix that are not 0, row by row."""
    def to_dlpack(self) -> object:
        """Return the values as a DLPack capsule, for other libraries to take without a copy."""
    def top_k(self, k: builtins.int, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """Return the ``k`` largest elements along the last axis in descending order, and their positions.
        """
    def topk(self, k: builtins.int, dim: builtins.int | None = None, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """Return the ``k`` largest (or smallest) elements along one axis, and their positions. NaN counts as
        the largest.
        """
    @overload
    def trace(self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, dtype: DTypeLike | None = None) -> Tensor:
        """Return the sums of the diagonals of the planes (axis1, axis2), as in NumPy."""
    @overload
    def trace(self, offset: builtins.int = 0, dim1: builtins.int = 0, axis2: builtins.int = 1, dtype: DTypeLike | None = None) -> Tensor:
        """Return the sums of the diagonals of the planes (axis1, axis2), as in NumPy."""
    def transpose(self, *axes: Any, dim0: builtins.int | None = None, dim1: builtins.int | None = None) -> Tensor:
        """Return the tensor with its axes in another order, or two of them exchanged."""
    def triangular_solve(self, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False) -> Tensor:
        """Return the x with A @ x = b for a triangular A."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """Return the lower triangle of each matrix: element (i, j) where j - i <= ``diagonal``, 0 elsewhere.
        """
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """Return the upper triangle of each matrix: element (i, j) where j - i >= ``diagonal``, 0 elsewhere.
        """
    def true_divide(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """x / y."""
    def trunc(self) -> Tensor:
        """The integer part of x, rounded towards 0; its gradient is 0."""
    def type(self, dtype: AnyDType | None = None) -> Any:
        """Return the name of the dtype; or, with ``dtype``, the elements in that dtype."""
    def type_as(self, other: Tensor) -> Tensor:
        """Return the elements cast to the dtype of ``other``."""
    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Return the entries along ``dim``, without that axis."""
    def unfold(self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
        """Return the windows of images as columns, channel by channel ("im2col")."""
    def uniform(self, from_: builtins.float = 0, to: builtins.float = 1, generator: Generator | None = None) -> Tensor:
        """Draw numbers uniformly from [from_, to), in the tensor's shape and dtype."""
    def uniform_(self, from_: builtins.float = 0, to: builtins.float = 1, generator: Generator | None = None) -> Tensor:
        """Draw numbers uniformly from [from_, to), in the tensor's shape and dtype."""
    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Tensor | tuple[Tensor, ...]:
        """Return each value once, in ascending order; optionally the position of each element's value, and the
        counts.
        """
    def unique_consecutive(self, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Tensor | tuple[Tensor, ...]:
        """Return the values without repetitions of neighbors, optionally each element's position and run
        lengths.
        """
    def unique_with_pad(self, pad_num: builtins.int | builtins.float | Tensor) -> tuple[Tensor, Tensor]:
        """Return ``unique`` of a vector, filled up with ``pad_num`` to the length of the input."""
    def unsorted_segment_max(self, segment_ids: Tensor, num_segments: builtins.int | Tensor) -> Tensor:
        """The largest element of each segment."""
    def unsorted_segment_min(self, segment_ids: Tensor, num_segments: builtins.int | Tensor) -> Tensor:
        """The smallest element of each segment."""
    def unsorted_segment_prod(self, segment_ids: Tensor, num_segments: builtins.int | Tensor) -> Tensor:
        """The product of the elements of each segment."""
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """Return the tensor with one more axis, of length 1."""
    def value(self) -> Tensor:
        """Return the Tensor itself."""
    @overload
    def var(self, axis: Axis = None, ddof: builtins.int | builtins.bool = 0, keepdims: builtins.bool = False) -> Tensor:
        """Return the variance over axes: sum((x - mean) ** 2) / (n - ddof)."""
    @overload
    def var(self, dim: Axis = None, ddof: builtins.int | builtins.bool = 0, keepdim: builtins.bool = False) -> Tensor:
        """Return the variance over axes: sum((x - mean) ** 2) / (n - ddof)."""
    def view(self, *lengths: Any, shape: Shape | None = None, dtype: DTypeLike | None = None) -> Tensor:
        """Return the elements in a different shape, or their bytes read as a different dtype."""
    def view_as(self, other: Tensor) -> Tensor:
        """Return the elements in their order, in the shape of another tensor."""
    def vsplit(self, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Parts along axis 0: a number of nearly equal length, or cut at indices."""
    def where(self, condition: TensorLike, y: TensorLike) -> Tensor:
        """Return the tensor where ``condition`` holds, ``y`` elsewhere."""
    def xdivy(self, y: Operand) -> Tensor:
        """Return x / y, and 0 where x is 0, for any y."""
    def xlogy(self, other: Operand) -> Tensor:
        """Return input * log(other), and 0 where ``input`` is 0, for any ``other`` but NaN."""
    def zero_(self, *, dtype: DTypeLike | None = None) -> Tensor:
        """Return zeros of the input's shape and device."""
    def __getitem__(self, other: Any, /) -> Tensor: ...
    def __add__(self, other: Any, /) -> Tensor: ...
    def __radd__(self, other: Any, /) -> Tensor: ...
    def __sub__(self, other: Any, /) -> Tensor: ...
    def __rsub__(self, other: Any, /) -> Tensor: ...
    def __mul__(self, other: Any, /) -> Tensor: ...
    def __rmul__(self, other: Any, /) -> Tensor: ...
    def __truediv__(self, other: Any, /) -> Tensor: ...
    def __rtruediv__(self, other: Any, /) -> Tensor: ...
    def __floordiv__(self, other: Any, /) -> Tensor: ...
    def __rfloordiv__(self, other: Any, /) -> Tensor: ...
    def __mod__(self, other: Any, /) -> Tensor: ...
    def __rmod__(self, other: Any, /) -> Tensor: ...
    def __pow__(self, other: Any, /) -> Tensor: ...
    def __rpow__(self, other: Any, /) -> Tensor: ...
    def __matmul__(self, other: Any, /) -> Tensor: ...
    def __rmatmul__(self, other: Any, /) -> Tensor: ...
    def __and__(self, other: Any, /) -> Tensor: ...
    def __rand__(self, other: Any, /) -> Tensor: ...
    def __or__(self, other: Any, /) -> Tensor: ...
    def __ror__(self, other: Any, /) -> Tensor: ...
    def __xor__(self, other: Any, /) -> Tensor: ...
    def __rxor__(self, other: Any, /) -> Tensor: ...
    def __eq__(self, other: Any, /) -> Tensor: ...
    def __ne__(self, other: Any, /) -> Tensor: ...
    def __lt__(self, other: Any, /) -> Tensor: ...
    def __le__(self, other: Any, /) -> Tensor: ...
    def __gt__(self, other: Any, /) -> Tensor: ...
    def __ge__(self, other: Any, /) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    @property
    def H(self) -> Tensor: ...
    @property
    def T(self) -> Tensor: ...
    @property
    def mH(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    def offload(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not covered: arrays stay where they are; use Tensor.move_to"""
    def pin_memory(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not covered: arrays are ordinary memory; use the tensor as it is"""
