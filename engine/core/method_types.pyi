"""The methods of Tensor that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

import builtins
from collections.abc import Sequence
from hookscope.engine.core.dtype import DType
from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Operand
from typing import Any, NoReturn, overload

class TensorMethods:
    def abs(self) -> Tensor:
        """The absolute value; its gradient at 0 is 0."""
    def absolute(self) -> Tensor:
        """The absolute value; its gradient at 0 is 0."""
    def acos(self) -> Tensor:
        """The arc cosine."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def add(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input + alpha * other."""
    def add_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input + alpha * other."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * input + alpha * the sum of batch1 @ batch2 over the batch."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Any:
        """input + value * tensor1 / tensor2."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Any:
        """input + value * tensor1 * tensor2."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * input + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * input + alpha * (mat @ vec)."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * x + alpha * outer(vec1, vec2)."""
    def adjoint(self) -> Any:
        """The last two axes swapped, and complex numbers conjugated."""
    @overload
    def all(self, axis: Any = None, keep_dims: builtins.bool = False) -> Tensor:
        """Whether all elements hold."""
    @overload
    def all(self, dim: Any = None, keep_dims: builtins.bool = False) -> Tensor:
        """Whether all elements hold."""
    def allclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """Whether abs(input - other) <= atol + rtol * abs(other) everywhere."""
    @overload
    def amax(self, axis: Any = None, keepdims: builtins.bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """The largest element over ``axis``, of those where ``where`` holds and of ``initial``."""
    @overload
    def amax(self, dim: Any = None, keepdim: builtins.bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """The largest element over ``axis``, of those where ``where`` holds and of ``initial``."""
    @overload
    def amin(self, axis: Any = None, keepdims: builtins.bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """The smallest element over ``axis``, of those where ``where`` holds and of ``initial``."""
    @overload
    def amin(self, dim: Any = None, keepdim: builtins.bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
        """The smallest element over ``axis``, of those where ``where`` holds and of ``initial``."""
    @overload
    def aminmax(self, *, axis: builtins.int | None = 0, keepdims: builtins.bool = False) -> tuple[Any, Any]:
        """The smallest and the largest element over ``axis``."""
    @overload
    def aminmax(self, *, dim: builtins.int | None = 0, keepdim: builtins.bool = False) -> tuple[Any, Any]:
        """The smallest and the largest element over ``axis``."""
    def angle(self) -> Tensor:
        """The angle of complex numbers; of real ones 0 or pi."""
    @overload
    def any(self, axis: Any = None, keep_dims: builtins.bool = False) -> Tensor:
        """Whether any element holds."""
    @overload
    def any(self, dim: Any = None, keep_dims: builtins.bool = False) -> Tensor:
        """Whether any element holds."""
    def approximate_equal(self, y: Tensor, tolerance: builtins.float = 1e-05) -> Any:
        """Whether abs(x - y) < tolerance."""
    def arccos(self) -> Tensor:
        """The arc cosine."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def arcsin(self) -> Tensor:
        """The arc sine."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arctan(self) -> Tensor:
        """The arc tangent."""
    def arctan2(self, other: Operand) -> Tensor:
        """The angle of the point (y, x), in (-pi, pi]."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def argmax(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Where the largest element is, as Int64; in the flattened tensor without ``dim``."""
    @overload
    def argmax_with_value(self, axis: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Where the largest element along ``axis`` is, and itself."""
    @overload
    def argmax_with_value(self, dim: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Where the largest element along ``axis`` is, and itself."""
    @overload
    def argmin(self, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Tensor:
        """Where the smallest element is, as Int32; in the flattened tensor without ``axis``."""
    @overload
    def argmin(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
        """Where the smallest element is, as Int32; in the flattened tensor without ``axis``."""
    @overload
    def argmin_with_value(self, axis: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Where the smallest element along ``axis`` is, and itself."""
    @overload
    def argmin_with_value(self, dim: builtins.int = 0, keep_dims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """Where the smallest element along ``axis`` is, and itself."""
    @overload
    def argsort(self, axis: builtins.int | None = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> Tensor:
        """Where the elements in order are, along ``axis``; equal ones keep their order."""
    @overload
    def argsort(self, dim: builtins.int | None = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> Tensor:
        """Where the elements in order are, along ``axis``; equal ones keep their order."""
    def argwhere(self) -> Any:
        """Where elements are not 0, a row for each."""
    def asin(self) -> Tensor:
        """The arc sine."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def astype(self, dtype: Any, copy: Any = True) -> Tensor:
        """The elements as another dtype; without ``copy`` the tensor itself where it has that already."""
    def atan(self) -> Tensor:
        """The arc tangent."""
    def atan2(self, other: Operand) -> Tensor:
        """The angle of the point (y, x), in (-pi, pi]."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
        """beta * input + alpha * (batch1 @ batch2), matrix by matrix."""
    def bernoulli(self, *, generator: Any = None) -> Any:
        """1 with the probability that the element of ``input`` is, and 0 otherwise."""
    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Tensor:
        """1 with probability ``p`` and 0 otherwise."""
    def bfloat16(self) -> Tensor:
        """The elements as BFloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Any:
        """How often each of 0, 1, 2, ... is there, or the sum of its ``weights``."""
    def bitwise_and(self, other: Operand) -> Tensor:
        """x & y."""
    def bitwise_left_shift(self, other: Any) -> Any:
        """input * 2**other, on the bits."""
    def bitwise_not(self) -> Tensor:
        """~x."""
    def bitwise_or(self, other: Operand) -> Tensor:
        """x | y."""
    def bitwise_right_shift(self, other: Any) -> Any:
        """floor(input / 2**other), on the bits."""
    def bitwise_xor(self, other: Operand) -> Tensor:
        """x ^ y."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """The matrix product of each pair in two batches."""
    def bool(self) -> Tensor:
        """The elements as Bool."""
    def broadcast_to(self, shape: Any) -> Tensor:
        """Repeated along axes of length 1 to fill ``shape``; -1 keeps an axis."""
    def byte(self) -> Tensor:
        """The elements as UInt8."""
    def ceil(self) -> Tensor:
        """The smallest integer not below x."""
    def char(self) -> Tensor:
        """The elements as Int8."""
    def cholesky(self, upper: builtins.bool = False) -> Any:
        """The lower (or ``upper``) triangular matrix whose product with its transpose is the input."""
    def cholesky_inverse(self, upper: builtins.bool = False) -> Any:
        """The inverse of the matrix that ``input_x`` is the Cholesky factor of."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Any:
        """The x with A @ x = input, where ``input2`` is the Cholesky factor of A."""
    def choose(self, choices: Any, mode: str = 'clip') -> Tensor:
        """For each element, the entry of ``choices`` that it numbers; numbers out of range by ``mode``."""
    @overload
    def chunk(self, chunks: builtins.int, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` parts of equal size along ``axis``; the last may be smaller."""
    @overload
    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` parts of equal size along ``axis``; the last may be smaller."""
    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """Elements limited to [min, max]."""
    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        """Elements limited to [min, max]."""
    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Elements limited to [min, max]."""
    def clone(self) -> Tensor:
        """The same values, a new tensor."""
    def conj(self) -> Tensor:
        """The conjugate; a real tensor itself."""
    def contiguous(self) -> Tensor:
        """The same values laid out row by row; the tensor itself where they are already."""
    def copy(self) -> Tensor:
        """The same values, a new tensor."""
    def copy_(self, src: Any, non_blocking: builtins.bool = False) -> Tensor:
        """The values of ``src``, spread over this tensor's shape."""
    def copysign(self, other: Any) -> Any:
        """The absolute value of x with the sign of ``other``."""
    def cos(self) -> Tensor:
        """The cosine."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""
    @overload
    def count_nonzero(self, axis: Any = (), keepdims: builtins.bool = False, dtype: Any = None) -> Tensor:
        """How many elements over ``axis`` are not 0; Int32 without ``dtype``."""
    @overload
    def count_nonzero(self, dim: Any = (), keepdim: builtins.bool = False, dtype: Any = None) -> Tensor:
        """How many elements over ``axis`` are not 0; Int32 without ``dtype``."""
    def cov(self, *, correction: builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Any:
        """The covariances of the rows; weights count an observation several times or weigh it."""
    def cross(self, other: Tensor, dim: builtins.int | None = None) -> Any:
        """The cross product of vectors of 3 along ``dim`` (the first axis of length 3 without it)."""
    @overload
    def cummax(self, axis: builtins.int) -> tuple[Any, Any]:
        """The largest element so far along ``axis`` and where it is."""
    @overload
    def cummax(self, dim: builtins.int) -> tuple[Any, Any]:
        """The largest element so far along ``axis`` and where it is."""
    @overload
    def cummin(self, axis: builtins.int) -> tuple[Any, Any]:
        """The smallest element so far along ``axis`` and where it is."""
    @overload
    def cummin(self, dim: builtins.int) -> tuple[Any, Any]:
        """The smallest element so far along ``axis`` and where it is."""
    def cumprod(self, dim: builtins.int, dtype: Any = None) -> Tensor:
        """Running products along ``dim``."""
    @overload
    def cumsum(self, axis: builtins.int | None = None, dtype: Any = None) -> Tensor:
        """Running sums along ``axis``, of the flattened tensor without it."""
    @overload
    def cumsum(self, dim: builtins.int | None = None, dtype: Any = None) -> Tensor:
        """Running sums along ``axis``, of the flattened tensor without it."""
    def deg2rad(self) -> Any:
        """Degrees as radians."""
    def det(self) -> Any:
        """The determinant of each matrix."""
    def diag(self) -> Any:
        """Twice the axes, with the elements where both halves of an index agree and 0 elsewhere."""
    def diagflat(self, offset: builtins.int = 0) -> Any:
        """A matrix with all elements on its diagonal."""
    def diagonal(self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Tensor:
        """The diagonals of the planes (dim1, dim2), as a new last axis."""
    def diagonal_scatter(self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1) -> Any:
        """The tensor with ``src`` on its diagonals."""
    @overload
    def diff(self, n: builtins.int = 1, axis: builtins.int = -1, prepend: Any = None, append: Any = None) -> Any:
        """The ``n``-th difference of neighbours along ``axis``, after joining ``prepend`` and ``append`` on.
        """
    @overload
    def diff(self, n: builtins.int = 1, dim: builtins.int = -1, prepend: Any = None, append: Any = None) -> Any:
        """The ``n``-th difference of neighbours along ``axis``, after joining ``prepend`` and ``append`` on.
        """
    def digamma(self) -> Tensor:
        """The slope of lgamma."""
    def div(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """x / y; integers give Float32."""
    def div_(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """x / y; integers give Float32."""
    def divide(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """x / y; integers give Float32."""
    def dot(self, other: Tensor) -> Tensor:
        """The last axis of ``input`` with the last but one of ``other``, the other axes side by side."""
    def double(self) -> Tensor:
        """The elements as Float64."""
    def dsplit(self, indices_or_sections: Any) -> tuple[Any, ...]:
        """The parts along axis 2, as ``tensor_split`` cuts them."""
    def eigvals(self) -> Any:
        """The eigenvalues; complex. No gradient."""
    def eq(self, other: Any) -> Any:
        """x == y."""
    def equal(self, other: Any) -> Any:
        """x == y."""
    def erf(self) -> Tensor:
        """The error function."""
    def erfc(self) -> Any:
        """1 - erf(x)."""
    def erfinv(self) -> Tensor:
        """The inverse of erf."""
    def erfinv_(self) -> Tensor:
        """The inverse of erf."""
    def exp(self) -> Tensor:
        """e to the power x."""
    def exp_(self) -> Tensor:
        """e to the power x."""
    def expand(self, *size: Any) -> Any:
        """Repeated to the shape ``size``; -1 keeps an axis."""
    def expand_as(self, other: Tensor) -> Any:
        """Repeated to the shape of ``other``."""
    @overload
    def expand_dims(self, axis: builtins.int) -> Tensor:
        """One more axis of length 1 at ``axis``."""
    @overload
    def expand_dims(self, dim: builtins.int) -> Tensor:
        """One more axis of length 1 at ``axis``."""
    def expm1(self) -> Tensor:
        """exp(x) - 1, exact near 0."""
    def exponential_(self, lambd: builtins.float = 1, *, generator: Any = None) -> Tensor:
        """Numbers of the exponential distribution with rate ``lambd``."""
    def fill(self, value: Any) -> Tensor:
        """``value``, a number or a tensor, everywhere."""
    def fill_(self, value: Any) -> Tensor:
        """``value``, a number or a tensor, everywhere."""
    def fill_diagonal(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """The tensor with ``fill_value`` on its diagonal, which with ``wrap`` starts anew below a tall
        matrix's end.
        """
    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> Tensor:
        """The tensor with ``fill_value`` on its diagonal, which with ``wrap`` starts anew below a tall
        matrix's end.
        """
    def fills(self, value: Any) -> Tensor:
        """``value``, a number or a tensor, everywhere."""
    def flatten(self, order: str | builtins.int = 'C', *dims: builtins.int, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """The axes from ``start_dim`` to ``end_dim``, of all without them, as one."""
    def flip(self, dims: Any) -> Tensor:
        """The order reversed along ``dims``."""
    def fliplr(self) -> Any:
        """The second axis reversed."""
    def flipud(self) -> Any:
        """The first axis reversed."""
    def float(self) -> Tensor:
        """The elements as Float32."""
    def float_power(self, exponent: Tensor | builtins.float) -> Any:
        """The power computed in Float64."""
    def floor(self) -> Tensor:
        """The greatest integer not above x."""
    def floor_(self) -> Tensor:
        """The greatest integer not above x."""
    def floor_divide(self, other: Operand) -> Tensor:
        """The greatest integer not above x / y."""
    def floor_divide_(self, other: Operand) -> Tensor:
        """The greatest integer not above x / y."""
    def flush_from_cache(self) -> None:
        """Nothing: there is no cache."""
    def fmax(self, other: Any) -> Any:
        """The larger of the two; a NaN loses."""
    def fmin(self, other: Any) -> Any:
        """The smaller of the two; a NaN loses."""
    def fmod(self, other: Operand) -> Tensor:
        """The remainder with the sign of x."""
    def fold(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """Columns (N, C * KH * KW, windows) added up into images (N, C, *output_size)."""
    def frac(self) -> Any:
        """What is behind the point, with the sign of x."""
    def gather(self, first: Any = None, second: Any = None, batch_dims: builtins.int = 0, **named: Any) -> Tensor:
        """``gather(dim, index)`` picks element by element, ``gather(input_indices, axis)`` whole entries.
        """
    def gather_elements(self, dim: builtins.int, index: Tensor) -> Tensor:
        """``input[i][index[i][j]]`` for each element of ``index``, along ``dim``."""
    def gather_nd(self, indices: Tensor) -> Any:
        """The entries that the rows of ``indices`` (its last axis) name."""
    def gcd(self, other: Operand) -> Tensor:
        """The greatest common divisor."""
    def ge(self, other: Operand) -> Tensor:
        """x >= y."""
    def geqrf(self) -> tuple[Any, Any]:
        """The QR decomposition as LAPACK keeps it: R above the reflections' vectors, and their factors."""
    def ger(self, vec2: Tensor) -> Any:
        """The product of each two elements of two vectors."""
    def greater(self, other: Operand) -> Tensor:
        """x > y."""
    def greater_equal(self, other: Operand) -> Tensor:
        """x >= y."""
    def gt(self, other: Operand) -> Tensor:
        """x > y."""
    def half(self) -> Tensor:
        """The elements as Float16."""
    def hardshrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """x where |x| is above ``lambd``, 0 elsewhere."""
    def heaviside(self, values: Tensor) -> Any:
        """0 below 0, ``values`` at 0, 1 above."""
    def histc(self, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0) -> Any:
        """How many elements fall into each of ``bins`` equal parts of [min, max]; of the elements' range where
        both are 0.
        """
    def hsplit(self, indices_or_sections: Any) -> tuple[Any, ...]:
        """The parts along axis 1, as ``tensor_split`` cuts them."""
    def hypot(self, other: Operand) -> Tensor:
        """sqrt(x * x + y * y), without overflow."""
    def i0(self) -> Any:
        """The modified Bessel function I0."""
    def igamma(self, other: Any) -> Tensor:
        """The regularized lower incomplete gamma function P(input, other)."""
    def igammac(self, other: Any) -> Tensor:
        """The regularized upper incomplete gamma function 1 - P(input, other), exact where that is small.
        """
    def imag(self) -> Tensor:
        """The imaginary part; zeros of a real tensor."""
    def index_add(self, *args: Any, **named: Any) -> Tensor:
        """``index_add(dim, index, source, alpha=)`` or ``index_add(indices, y, axis)``."""
    def index_add_(self, *args: Any, **named: Any) -> Tensor:
        """``index_add(dim, index, source, alpha=)`` or ``index_add(indices, y, axis)``."""
    def index_copy_(self, dim: builtins.int, index: Tensor, tensor: Tensor) -> Tensor:
        """The entries ``index`` along ``dim`` replaced by those of ``tensor``."""
    @overload
    def index_fill(self, axis: builtins.int, index: Any, value: Any) -> Tensor:
        """``value`` in the entries ``index`` along ``axis``."""
    @overload
    def index_fill(self, dim: builtins.int, index: Any, value: Any) -> Tensor:
        """``value`` in the entries ``index`` along ``axis``."""
    @overload
    def index_fill_(self, axis: builtins.int, index: Any, value: Any) -> Tensor:
        """``value`` in the entries ``index`` along ``axis``."""
    @overload
    def index_fill_(self, dim: builtins.int, index: Any, value: Any) -> Tensor:
        """``value`` in the entries ``index`` along ``axis``."""
    def index_put(self, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """``values`` put (or added) where the tensors ``indices`` point, one for each axis."""
    def index_put_(self, indices: Any, values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """``values`` put (or added) where the tensors ``indices`` point, one for each axis."""
    @overload
    def index_select(self, axis: builtins.int, index: Tensor) -> Any:
        """The entries ``index``, a vector, along ``axis``."""
    @overload
    def index_select(self, dim: builtins.int, index: Tensor) -> Any:
        """The entries ``index``, a vector, along ``axis``."""
    def init_data(self, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
        """The tensor itself: ``init`` fills a tensor when it is made, so nothing is left to be done."""
    def inner(self, other: Tensor) -> Any:
        """The sum of products over the last axes, the other axes side by side; of a number, the product.
        """
    def inplace_update(self, v: Tensor, indices: Any) -> Any:
        """The tensor with ``v`` put into its rows ``indices``; a new tensor."""
    def int(self) -> Tensor:
        """The elements as Int32."""
    def inv(self) -> Any:
        """1 / x, in the dtype of x."""
    def inverse(self) -> Tensor:
        """The inverse of each matrix."""
    def invert(self) -> Tensor:
        """~x."""
    def is_complex(self) -> builtins.bool:
        """Whether the elements are complex numbers."""
    def is_floating_point(self) -> builtins.bool:
        """Whether the elements are real floating-point numbers."""
    def isclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Any:
        """Whether abs(input - other) <= atol + rtol * abs(other)."""
    def isfinite(self) -> Tensor:
        """Whether an element is a finite number."""
    def isinf(self) -> Tensor:
        """Whether an element is infinite."""
    def isnan(self) -> Tensor:
        """Whether an element is NaN."""
    def isneginf(self) -> Any:
        """Whether an element is minus infinity."""
    def isposinf(self) -> Any:
        """Whether an element is plus infinity."""
    def isreal(self) -> Any:
        """Whether the imaginary part is 0."""
    def itemset(self, *args: Any) -> Tensor:
        """A tensor with one element replaced: ``itemset(value)`` or ``itemset(place, value)``."""
    def kthvalue(self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False) -> tuple[Any, Any]:
        """The ``k``-th smallest element along ``dim`` and where it is."""
    def lcm(self, other: Operand) -> Tensor:
        """The least common multiple."""
    def ldexp(self, other: Tensor) -> Any:
        """x * 2**other."""
    def le(self, other: Operand) -> Tensor:
        """x <= y."""
    def lerp(self, end: Tensor, weight: Any) -> Any:
        """input + weight * (end - input)."""
    def less(self, other: Operand) -> Tensor:
        """x < y."""
    def less_equal(self, other: Operand) -> Tensor:
        """x <= y."""
    def lgamma(self) -> Tensor:
        """log of abs(gamma(x))."""
    def log(self) -> Tensor:
        """The natural logarithm."""
    def log10(self) -> Tensor:
        """The logarithm to base 10."""
    def log1p(self) -> Tensor:
        """log(1 + x), exact near 0."""
    def log2(self) -> Tensor:
        """The logarithm to base 2."""
    def log_(self) -> Tensor:
        """The natural logarithm."""
    def log_matrix_determinant(self) -> tuple[Any, Any]:
        """The sign of the determinant, and the logarithm of its size."""
    def log_normal(self, mean: builtins.float = 1.0, std: builtins.float = 2.0) -> Tensor:
        """Numbers whose logarithms have the normal distribution with ``mean`` and deviation ``std``."""
    def logaddexp(self, other: Operand) -> Tensor:
        """log(exp(x) + exp(y)), without overflow."""
    def logaddexp2(self, other: Operand) -> Tensor:
        """log2(2**x + 2**y), without overflow."""
    @overload
    def logcumsumexp(self, axis: builtins.int) -> Any:
        """log of the running sums of exp(input) along ``axis``, without overflow."""
    @overload
    def logcumsumexp(self, dim: builtins.int) -> Any:
        """log of the running sums of exp(input) along ``axis``, without overflow."""
    def logdet(self) -> Any:
        """The logarithm of the determinant; NaN where it is negative."""
    def logical_and(self, other: Operand) -> Tensor:
        """x and y, elementwise."""
    def logical_not(self) -> Tensor:
        """Whether an element is zero or False."""
    def logical_or(self, other: Operand) -> Tensor:
        """x or y, elementwise."""
    def logical_xor(self, other: Operand) -> Tensor:
        """Whether one of x and y holds, and not both."""
    def logit(self, eps: builtins.float | None = None) -> Any:
        """log(x / (1 - x)); with ``eps`` x is first limited to [eps, 1 - eps]."""
    def logsumexp(self, dim: Any, keepdim: builtins.bool = False) -> Tensor:
        """log(sum(exp(input))) over ``dim``, without overflow."""
    def long(self) -> Tensor:
        """The elements as Int64."""
    def lstsq(self, A: Tensor) -> Any:
        """The x that makes input @ x nearest to A, the shortest of several; ``input`` has full rank."""
    def lt(self, other: Operand) -> Tensor:
        """x < y."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Any:
        """The x with A @ x = b, from the packed LU decomposition of A."""
    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """``value`` where ``mask`` holds."""
    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """``value`` where ``mask`` holds."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Any:
        """The first elements of ``source`` in order where ``mask`` holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """The first elements of ``source`` in order where ``mask`` holds."""
    def masked_select(self, mask: Tensor) -> Any:
        """The elements where ``mask`` holds, as a vector."""
    def matmul(self, other: Tensor, transpose_a: builtins.bool = False, transpose_b: builtins.bool = False) -> Tensor:
        """The matrix product, broadcast over leading axes."""
    def matrix_determinant(self) -> Any:
        """The determinant of each matrix."""
    def matrix_power(self, n: builtins.int) -> Any:
        """The product of ``n`` times the matrix; of its inverse for negative n."""
    def max(self, *args: Any, **kwargs: Any) -> Any:
        """The maximum; with ``dim`` (or an int) also where it is."""
    def maximum(self, other: Operand) -> Tensor:
        """The larger of x and y; NaN where either is NaN."""
    @overload
    def mean(self, axis: Any = None, keepdims: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The mean over ``axis``, of the elements as ``dtype``."""
    @overload
    def mean(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Tensor:
        """The mean over ``axis``, of the elements as ``dtype``."""
    @overload
    def median(self, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The middle element along ``axis``, the last one without it, and where it is."""
    @overload
    def median(self, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The middle element along ``axis``, the last one without it, and where it is."""
    def min(self, *args: Any, **kwargs: Any) -> Any:
        """The minimum; with ``dim`` (or an int) also where it is."""
    def minimum(self, other: Operand) -> Tensor:
        """The smaller of x and y; NaN where either is NaN."""
    def mm(self, other: Tensor, transpose_a: builtins.bool = False, transpose_b: builtins.bool = False) -> Tensor:
        """The matrix product, broadcast over leading axes."""
    def move_to(self, to: str, blocking: Any = True) -> Tensor:
        """The same values on "CPU" or "GPU"."""
    def moveaxis(self, source: Any, destination: Any) -> Tensor:
        """Axes ``source`` moved to the places ``destination``; the others keep their order."""
    def movedim(self, source: Any, destination: Any) -> Tensor:
        """Axes ``source`` moved to the places ``destination``; the others keep their order."""
    def msort(self) -> Any:
        """The elements in order along the first axis."""
    def mul(self, other: Operand) -> Tensor:
        """x * y."""
    def mul_(self, other: Operand) -> Tensor:
        """x * y."""
    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = True, seed: builtins.int | None = None) -> Tensor:
        """``num_samples`` indices, drawn with the weights of each row."""
    def multiply(self, other: Operand) -> Tensor:
        """x * y."""
    def mvlgamma(self, p: builtins.int) -> Any:
        """The logarithm of the gamma function of p dimensions."""
    def nan_to_num(self, nan: builtins.float | None = None, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Any:
        """NaN as ``nan`` (0), infinities as ``posinf`` and ``neginf`` (the dtype's greatest and least
        numbers).
        """
    @overload
    def nanmean(self, axis: Any = None, keepdims: builtins.bool = False, *, dtype: Any = None) -> Any:
        """The mean of what is not NaN."""
    @overload
    def nanmean(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Any:
        """The mean of what is not NaN."""
    @overload
    def nanmedian(self, axis: builtins.int = -1, keepdims: builtins.bool = False) -> tuple[Any, Any]:
        """The middle element of those that are not NaN along ``axis``, and where it is."""
    @overload
    def nanmedian(self, dim: builtins.int = -1, keepdim: builtins.bool = False) -> tuple[Any, Any]:
        """The middle element of those that are not NaN along ``axis``, and where it is."""
    @overload
    def nanquantile(self, q: Any, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Any:
        """``quantile`` of the elements that are not NaN."""
    @overload
    def nanquantile(self, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """``quantile`` of the elements that are not NaN."""
    @overload
    def nansum(self, axis: Any = None, keepdims: builtins.bool = False, *, dtype: Any = None) -> Any:
        """The sum of what is not NaN."""
    @overload
    def nansum(self, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Any:
        """The sum of what is not NaN."""
    @overload
    def narrow(self, axis: builtins.int, start: builtins.int, length: builtins.int) -> Any:
        """``length`` entries along ``axis`` from ``start`` on."""
    @overload
    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Any:
        """``length`` entries along ``axis`` from ``start`` on."""
    def ne(self, other: Any) -> Any:
        """x != y."""
    def neg(self) -> Tensor:
        """-x."""
    def negative(self) -> Tensor:
        """-x."""
    def new_empty(self, size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
        """Zeros of shape ``size``, in this tensor's dtype without ``dtype``."""
    def new_full(self, size: Any, fill_value: Any, dtype: Any = None, device: str | None = None) -> Tensor:
        """``fill_value`` everywhere in a new tensor of shape ``size``, in this one's dtype without ``dtype``.
        """
    def new_ones(self, size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
        """Ones of shape ``size``, in this tensor's dtype without ``dtype``."""
    def new_zeros(self, size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
        """Zeros of shape ``size``, in this tensor's dtype without ``dtype``."""
    def nextafter(self, other: Operand) -> Tensor:
        """The floating-point number after x on the way to y."""
    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """Where elements are not 0: a row for each, or with ``as_tuple`` a vector for each axis."""
    def norm(self, ord: Any = None, dim: Any = None, keepdim: builtins.bool = False, *, dtype: Any = None) -> Any:
        """The norm of all elements; over one axis that of vectors, over two that of matrices, by ``ord``.
        """
    def normal_(self, mean: builtins.float = 0, std: builtins.float = 1, *, generator: Any = None) -> Tensor:
        """Numbers of the normal distribution with ``mean`` and deviation ``std``."""
    def not_equal(self, other: Any) -> Any:
        """x != y."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """The first columns of the product of Householder reflections."""
    def ormqr(self, tau: Tensor, other: Tensor, left: builtins.bool = True, transpose: builtins.bool = False) -> Any:
        """``other`` times the product of Householder reflections (or its transpose), from the ``left`` or the
        right.
        """
    def outer(self, vec2: Tensor) -> Any:
        """The product of each two elements of two vectors."""
    @overload
    def permute(self, *axis: Any) -> Tensor:
        """The axes in another order."""
    @overload
    def permute(self, *dim: Any) -> Tensor:
        """The axes in another order."""
    def pinv(self, *, atol: Any = None, rtol: Any = None, hermitian: builtins.bool = False) -> Any:
        """The pseudo-inverse: singular values not above max(atol, rtol * the largest) count as 0."""
    def positive(self) -> Any:
        """The tensor itself."""
    def pow(self, other: Operand) -> Tensor:
        """x to the power y."""
    @overload
    def prod(self, axis: Any = None, keep_dims: builtins.bool = False, dtype: Any = None) -> Tensor:
        """The product over ``axis``; its second derivative is not defined where an element is 0."""
    @overload
    def prod(self, dim: Any = None, keep_dims: builtins.bool = False, dtype: Any = None) -> Tensor:
        """The product over ``axis``; its second derivative is not defined where an element is 0."""
    @overload
    def ptp(self, axis: Any = None, keepdims: builtins.bool = False) -> Tensor:
        """The largest less the smallest element over ``axis``."""
    @overload
    def ptp(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        """The largest less the smallest element over ``axis``."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """``source`` put at (or added to) the places ``index`` of the flattened tensor."""
    def qr(self, some: builtins.bool = True) -> tuple[Tensor, Tensor]:
        """An orthogonal matrix, square unless ``some``, and an upper triangular one whose product is the
        input.
        """
    @overload
    def quantile(self, q: Any, axis: builtins.int | None = None, keepdims: builtins.bool = False) -> Any:
        """The q-th quantiles, linear between neighbours, along ``axis`` (of all elements without it)."""
    @overload
    def quantile(self, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Any:
        """The q-th quantiles, linear between neighbours, along ``axis`` (of all elements without it)."""
    def rad2deg(self) -> Any:
        """Radians as degrees."""
    def random_(self, from_: builtins.int = 0, to: builtins.int | None = None, *, generator: Any = None) -> Tensor:
        """Integers evenly spread over [from_, to); without ``to``, up to the greatest that the dtype holds.
        """
    def random_categorical(self, num_sample: builtins.int, seed: builtins.int = 0, dtype: Any = ...) -> Any:
        """``num_sample`` indices for each row, drawn with the softmax of the row."""
    def ravel(self) -> Tensor:
        """All elements in one axis."""
    def real(self) -> Tensor:
        """The real part; a real tensor itself."""
    def reciprocal(self) -> Tensor:
        """1 / x."""
    def relu(self, inplace: builtins.bool = False) -> Tensor:
        """max(input, 0); NaN stays NaN. ``inplace`` also rebinds ``input`` to the result."""
    def remainder(self, other: Operand) -> Tensor:
        """x - floor(x / y) * y, with the sign of y."""
    def remainder_(self, other: Operand) -> Tensor:
        """x - floor(x / y) * y, with the sign of y."""
    @overload
    def renorm(self, p: builtins.float, axis: builtins.int, maxnorm: builtins.float) -> Any:
        """Each entry along ``axis`` scaled down where its p-norm is above ``maxnorm``."""
    @overload
    def renorm(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Any:
        """Each entry along ``axis`` scaled down where its p-norm is above ``maxnorm``."""
    def repeat(self, *repeats: Any) -> Tensor:
        """The whole tensor repeated along each axis."""
    def repeat_interleave(self, repeats: Any, dim: builtins.int | None = None, *, output_size: builtins.int | None = None) -> Tensor:
        """Each element along ``dim`` (of all, flattened, without it) ``repeats`` times."""
    def requires_grad_(self, requires_grad: Any = True) -> Tensor:
        """Set ``requires_grad``. Of a Parameter it says whether it is trained; of a tensor it is kept for
        readers, since gradients are asked for by ``grad``.
        """
    def reshape(self, *shape: Any) -> Tensor:
        """The elements in another shape."""
    def reshape_as(self, other: Tensor) -> Any:
        """The elements in the shape of ``other``."""
    def resize(self, *new_shape: Any) -> Tensor:
        """The first elements in another shape, filled up with 0."""
    @overload
    def reverse(self, axis: Any) -> Any:
        """The order reversed along the axes ``axis``."""
    @overload
    def reverse(self, dim: Any) -> Any:
        """The order reversed along the axes ``axis``."""
    def reverse_sequence(self, seq_lengths: Tensor, seq_dim: builtins.int, batch_dim: builtins.int = 0) -> Any:
        """In each entry of the batch, the first ``seq_lengths`` elements reversed."""
    def roll(self, shifts: Any, dims: Any = None) -> Any:
        """Elements moved on by ``shifts`` along ``dims``, those that fall off the end coming back at the
        start.
        """
    def rot90(self, k: builtins.int, dims: Sequence[builtins.int]) -> Any:
        """Rotated ``k`` quarter turns in the plane of the two axes ``dims``."""
    def round(self, *, decimals: builtins.int = 0) -> Any:
        """The nearest number with ``decimals`` places, halves to the even one."""
    def rsqrt(self) -> Tensor:
        """1 / sqrt(x)."""
    def scatter(self, dim: builtins.int = 0, index: Any = None, src: Any = None, *, reduce: str | None = None, **named: Any) -> Tensor:
        """``src`` (or the number ``value``) put at ``index`` along ``dim``."""
    def scatter_(self, dim: builtins.int = 0, index: Any = None, src: Any = None, *, reduce: str | None = None, **named: Any) -> Tensor:
        """``src`` (or the number ``value``) put at ``index`` along ``dim``."""
    def scatter_add(self, *args: Any, **named: Any) -> Tensor:
        """``scatter_add(dim, index, src)`` adds along an axis, ``scatter_add(indices, updates)`` to whole
        positions.
        """
    def scatter_add_(self, *args: Any, **named: Any) -> Tensor:
        """``scatter_add(dim, index, src)`` adds along an axis, ``scatter_add(indices, updates)`` to whole
        positions.
        """
    def scatter_div(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """``updates`` divided where ``indices`` point."""
    def scatter_max(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """``updates`` kept if they are the max where ``indices`` point."""
    def scatter_min(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """``updates`` kept if they are the min where ``indices`` point."""
    def scatter_mul(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """``updates`` multiplied where ``indices`` point."""
    def scatter_sub(self, indices: Tensor, updates: Tensor, use_locking: builtins.bool = False) -> Tensor:
        """``updates`` subtracted where ``indices`` point."""
    def searchsorted(self, v: Any, side: str = 'left', sorter: Tensor | None = None) -> Tensor:
        """Where ``v`` belongs in this sorted tensor; Int32."""
    def select(self, first: Any = None, second: Any = None, **named: Any) -> Tensor:
        """``select(dim, index)`` is one entry; ``select(condition, y)`` is the tensor where the condition
        holds.
        """
    @overload
    def select_scatter(self, src: Tensor, axis: builtins.int, index: builtins.int) -> Any:
        """The tensor with ``src`` as its entry ``index`` along ``axis``."""
    @overload
    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Any:
        """The tensor with ``src`` as its entry ``index`` along ``axis``."""
    def set_const_arg(self, const_arg: Any = True) -> Tensor:
        """Keep the flag ``const_arg``."""
    def set_dtype(self, dtype: Any) -> DType:
        """Change the dtype of this tensor; the new one."""
    def sgn(self) -> Any:
        """The sign; of a complex number, the number of length 1 in its direction."""
    def short(self) -> Tensor:
        """The elements as Int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor:
        """1 / (1 + exp(-x))."""
    def sign(self) -> Tensor:
        """-1, 0 or 1; of a complex number, x / |x|."""
    def sign_(self) -> Tensor:
        """-1, 0 or 1; of a complex number, x / |x|."""
    def signbit(self) -> Tensor:
        """Whether the sign is minus."""
    def sin(self) -> Tensor:
        """The sine."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), and 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine."""
    @overload
    def slice_scatter(self, src: Tensor, axis: builtins.int = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1) -> Any:
        """The tensor with ``src`` written over the slice start:end:step of ``axis``."""
    @overload
    def slice_scatter(self, src: Tensor, dim: builtins.int = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1) -> Any:
        """The tensor with ``src`` written over the slice start:end:step of ``axis``."""
    def slogdet(self) -> tuple[Any, Any]:
        """The sign of the determinant, and the logarithm of its size."""
    def soft_shrink(self, lambd: builtins.float = 0.5) -> Tensor:
        """x moved towards 0 by ``lambd``, and 0 where it is nearer than that."""
    @overload
    def softmax(self, axis: builtins.int = -1, dtype: Any = None) -> Tensor:
        """exp(input) / sum(exp(input)) along ``axis``."""
    @overload
    def softmax(self, dim: builtins.int = -1, dtype: Any = None) -> Tensor:
        """exp(input) / sum(exp(input)) along ``axis``."""
    @overload
    def sort(self, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The elements in order along ``axis``, and where they were; equal ones keep their order."""
    @overload
    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False) -> tuple[Tensor, Tensor]:
        """The elements in order along ``axis``, and where they were; equal ones keep their order."""
    @overload
    def split(self, split_size_or_sections: Any, axis: builtins.int = 0) -> tuple[Tensor, ...]:
        """Parts along ``axis``: each of one size (the last may be smaller), or of the sizes given."""
    @overload
    def split(self, split_size_or_sections: Any, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """Parts along ``axis``: each of one size (the last may be smaller), or of the sizes given."""
    def sqrt(self) -> Tensor:
        """The square root."""
    def square(self) -> Tensor:
        """x * x."""
    @overload
    def squeeze(self, *axis: Any) -> Tensor:
        """Without the axes of length 1 (of those in ``axis``)."""
    @overload
    def squeeze(self, *dim: Any) -> Tensor:
        """Without the axes of length 1 (of those in ``axis``)."""
    @overload
    def std(self, axis: Any = None, ddof: builtins.int | builtins.bool = 0, keepdims: builtins.bool = False) -> Tensor:
        """The standard deviation over ``axis``: the square root of ``var``."""
    @overload
    def std(self, dim: Any = None, ddof: builtins.int | builtins.bool = 0, keepdim: builtins.bool = False) -> Tensor:
        """The standard deviation over ``axis``: the square root of ``var``."""
    def sub(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input - alpha * other."""
    def sub_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input - alpha * other."""
    def subtract(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """input - alpha * other."""
    @overload
    def sum(self, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False, initial: Any = None) -> Tensor:
        """The sum over ``axis``, and of ``initial``; ``sum(dim, keepdim)`` is taken too."""
    @overload
    def sum(self, dim: Any = None, dtype: Any = None, keepdim: builtins.bool = False, initial: Any = None) -> Tensor:
        """The sum over ``axis``, and of ``initial``; ``sum(dim, keepdim)`` is taken too."""
    def sum_to_size(self, *size: Any) -> Tensor:
        """Summed over the axes in which ``size`` is 1 or missing."""
    def svd(self, full_matrices: builtins.bool = False, compute_uv: builtins.bool = True) -> Any:
        """The singular values, and the matrices U and V with U @ diag(s) @ V.T = input."""
    @overload
    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    @overload
    def swapaxes(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    @overload
    def swapdims(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    @overload
    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two axes exchanged."""
    def t(self) -> Any:
        """A matrix transposed; what has fewer axes stays."""
    @overload
    def take(self, index: Any, axis: builtins.int | None = None, mode: str = 'clip') -> Any:
        """The elements ``index`` of the flattened tensor, or the entries along ``axis``; out of range by
        ``mode``.
        """
    @overload
    def take(self, index: Any, dim: builtins.int | None = None, mode: str = 'clip') -> Any:
        """The elements ``index`` of the flattened tensor, or the entries along ``axis``; out of range by
        ``mode``.
        """
    def tan(self) -> Tensor:
        """The tangent."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> Tensor:
        """The hyperbolic tangent."""
    @overload
    def tensor_split(self, indices_or_sections: Any, axis: builtins.int = 0) -> tuple[Any, ...]:
        """Parts along ``axis``: so many of nearly equal length, or cut at the indices."""
    @overload
    def tensor_split(self, indices_or_sections: Any, dim: builtins.int = 0) -> tuple[Any, ...]:
        """Parts along ``axis``: so many of nearly equal length, or cut at the indices."""
    def tile(self, dims: Any) -> Tensor:
        """The tensor repeated ``dims[i]`` times along axis i."""
    def to(self, *args: Any, **named: Any) -> Tensor:
        """The values as another dtype, on another device, or as those of another tensor."""
    def to_dlpack(self) -> Any:
        """The values as a DLPack capsule."""
    def top_k(self, k: builtins.int, sorted: builtins.bool = True) -> tuple[Any, Any]:
        """``topk`` along the last axis."""
    def topk(self, k: builtins.int, dim: builtins.int | None = None, largest: builtins.bool = True, sorted: builtins.bool = True) -> tuple[Any, Any]:
        """The ``k`` largest (or smallest) elements along ``dim`` and where they are."""
    @overload
    def trace(self, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, dtype: Any = None) -> Tensor:
        """The sums of the diagonals, in the tensor's own dtype without ``dtype``."""
    @overload
    def trace(self, offset: builtins.int = 0, dim1: builtins.int = 0, axis2: builtins.int = 1, dtype: Any = None) -> Tensor:
        """The sums of the diagonals, in the tensor's own dtype without ``dtype``."""
    def transpose(self, *axes: Any) -> Tensor:
        """The axes in another order, or two of them exchanged; reversed without any."""
    def triangular_solve(self, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False) -> Any:
        """The x with A @ x = b (or A.T @ x = b), of which only one triangle of A is read."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """The lower triangle; 0 above the ``diagonal``-th diagonal."""
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """The upper triangle; 0 below the ``diagonal``-th diagonal."""
    def true_divide(self, other: Any, *, rounding_mode: str | None = None) -> Tensor:
        """x / y; integers give Float32."""
    def trunc(self) -> Tensor:
        """The integer part."""
    def type(self, dtype: Any = None) -> Any:
        """The name of the dtype, or the values as another one."""
    def type_as(self, other: Tensor) -> Tensor:
        """The elements in the dtype of ``other``."""
    def unbind(self, dim: builtins.int = 0) -> tuple[Any, ...]:
        """The entries along ``dim``, without that axis."""
    def unfold(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
        """The windows of (N, C, H, W) as columns (N, C * KH * KW, windows)."""
    def uniform(self, from_: builtins.float = 0, to: builtins.float = 1, generator: Any = None) -> Tensor:
        """Numbers evenly spread over [from_, to)."""
    def uniform_(self, from_: builtins.float = 0, to: builtins.float = 1, generator: Any = None) -> Tensor:
        """Numbers evenly spread over [from_, to)."""
    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
        """Each value (entry along ``dim``) once in order; on demand places of every element's value, and
        counts.
        """
    def unique_consecutive(self, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: builtins.int | None = None) -> Any:
        """Without the repetitions of neighbours; on demand places and counts."""
    def unique_with_pad(self, pad_num: Any) -> tuple[Any, Any]:
        """``unique`` of a vector, filled up with ``pad_num`` to the length of the input."""
    def unsorted_segment_max(self, segment_ids: Tensor, num_segments: Any) -> Tensor:
        """The elements of each segment together, one entry a segment; negative ids are left out."""
    def unsorted_segment_min(self, segment_ids: Tensor, num_segments: Any) -> Tensor:
        """The elements of each segment together, one entry a segment; negative ids are left out."""
    def unsorted_segment_prod(self, segment_ids: Tensor, num_segments: Any) -> Tensor:
        """The elements of each segment together, one entry a segment; negative ids are left out."""
    @overload
    def unsqueeze(self, axis: builtins.int) -> Tensor:
        """One more axis of length 1 at ``axis``."""
    @overload
    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """One more axis of length 1 at ``axis``."""
    def value(self) -> Tensor:
        """The tensor itself."""
    @overload
    def var(self, axis: Any = None, ddof: builtins.int | builtins.bool = 0, keepdims: builtins.bool = False) -> Tensor:
        """The variance over ``axis``, divided by n - ddof."""
    @overload
    def var(self, dim: Any = None, ddof: builtins.int | builtins.bool = 0, keepdim: builtins.bool = False) -> Tensor:
        """The variance over ``axis``, divided by n - ddof."""
    def view(self, *shape: Any) -> Tensor:
        """The elements in another shape, or their bytes as another dtype, which gradients do not pass."""
    def view_as(self, other: Tensor) -> Any:
        """The elements in the shape of ``other``."""
    def vsplit(self, indices_or_sections: Any) -> tuple[Any, ...]:
        """The parts along axis 0, as ``tensor_split`` cuts them."""
    def where(self, condition: Any, y: Any) -> Tensor:
        """The tensor where ``condition`` holds, ``y`` elsewhere."""
    def xdivy(self, y: Any) -> Any:
        """x / y, and 0 where x is 0."""
    def xlogy(self, other: Any) -> Tensor:
        """input * log(other), and 0 where ``input`` is 0."""
    def zero_(self, *, dtype: Any = None) -> Tensor:
        """Zeros of the input's shape, dtype and device."""
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
    def to_coo(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not covered: use a dense tensor; sparse tensors are not there"""
    def to_csr(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not covered: use a dense tensor; sparse tensors are not there"""
    def offload(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not covered: arrays stay where they are; use Tensor.move_to"""
    def pin_memory(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Not covered: arrays are ordinary memory; use the tensor as it is"""
