"""Functions of mint that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Operand
from typing import Any

def abs(input: Operand) -> Tensor:
    """The absolute value; its gradient at 0 is 0."""

def acos(input: Operand) -> Tensor:
    """The arc cosine."""

def acosh(input: Operand) -> Tensor:
    """The inverse hyperbolic cosine."""

def add(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha * other."""

def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * the sum of batch1 @ batch2 over the batch."""

def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Any:
    """input + value * tensor1 / tensor2."""

def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat1 @ mat2)."""

def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (mat @ vec)."""

def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements hold."""

def amax(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The largest element over ``dim``, of those where ``where`` holds and of ``initial``."""

def amin(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The smallest element over ``dim``, of those where ``where`` holds and of ``initial``."""

def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element holds."""

def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """start, start + step, ... before ``end``; Int64 for ints, Float32 for floats."""

def arccos(input: Operand) -> Tensor:
    """The arc cosine."""

def arccosh(input: Operand) -> Tensor:
    """The inverse hyperbolic cosine."""

def arcsin(input: Operand) -> Tensor:
    """The arc sine."""

def arcsinh(input: Operand) -> Tensor:
    """The inverse hyperbolic sine."""

def arctan(input: Operand) -> Tensor:
    """The arc tangent."""

def arctan2(input: Operand, other: Operand) -> Tensor:
    """The angle of the point (y, x), in (-pi, pi]."""

def arctanh(input: Operand) -> Tensor:
    """The inverse hyperbolic tangent."""

def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the largest element is, as Int64; in the flattened tensor without ``dim``."""

def asin(input: Operand) -> Tensor:
    """The arc sine."""

def asinh(input: Operand) -> Tensor:
    """The inverse hyperbolic sine."""

def atan(input: Operand) -> Tensor:
    """The arc tangent."""

def atan2(input: Operand, other: Operand) -> Tensor:
    """The angle of the point (y, x), in (-pi, pi]."""

def atanh(input: Operand) -> Tensor:
    """The inverse hyperbolic tangent."""

def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * (batch1 @ batch2), matrix by matrix."""

def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2, ... is there, or the sum of its ``weights``."""

def bitwise_and(input: Operand, other: Operand) -> Tensor:
    """x & y."""

def bitwise_not(input: Operand) -> Tensor:
    """~x."""

def bitwise_or(input: Operand, other: Operand) -> Tensor:
    """x | y."""

def bitwise_xor(input: Operand, other: Operand) -> Tensor:
    """x ^ y."""

def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """The matrix product of each pair in two batches."""

def broadcast_to(input: Tensor, shape: Any) -> Tensor:
    """Repeated along axes of length 1 to fill ``shape``; -1 keeps an axis."""

def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors joined along an axis they have."""

def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Any:
    """The p-norm distance of each row of ``x1`` from each row of ``x2``."""

def ceil(input: Operand) -> Tensor:
    """The smallest integer not below x."""

def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` parts of equal size along ``dim``; the last may be smaller."""

def clamp(input: Any, min: Any = None, max: Any = None) -> Tensor:
    """Elements limited to [min, max]."""

def concat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors joined along an axis they have."""

def cos(input: Operand) -> Tensor:
    """The cosine."""

def cosh(input: Operand) -> Tensor:
    """The hyperbolic cosine."""

def count_nonzero(input: Tensor, dim: Any = ()) -> Any:
    """How many elements over ``dim`` are not 0."""

def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Any:
    """The cross product of vectors of 3 along ``dim`` (the first axis of length 3 without it)."""

def cummax(input: Tensor, dim: int) -> tuple[Any, Any]:
    """The largest element so far along ``dim`` and where it is."""

def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running products along ``dim``."""

def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running sums along ``dim``."""

def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The ``n``-th difference of neighbours along ``dim``, after joining ``prepend`` and ``append`` on.
    """

def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """x / y; integers give Float32."""

def divide(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """x / y; integers give Float32."""

def dstack(tensors: Sequence[Tensor]) -> Any:
    """Joined along the third axis."""

def einsum(equation: str, *operands: Any) -> Any:
    """The product that Einstein's ``equation``, such as "ij,jk->ik", says."""

def eq(input: Tensor, other: Any) -> Any:
    """x == y."""

def erf(input: Operand) -> Tensor:
    """The error function."""

def erfc(input: Any) -> Any:
    """1 - erf(x)."""

def erfinv(input: Operand) -> Tensor:
    """The inverse of erf."""

def exp(input: Operand) -> Tensor:
    """e to the power x."""

def exp2(input: Operand) -> Tensor:
    """2 to the power x."""

def expm1(input: Operand) -> Tensor:
    """exp(x) - 1, exact near 0."""

def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """Ones on the diagonal."""

def flip(input: Tensor, dims: Any) -> Tensor:
    """The order reversed along ``dims``."""

def float_power(input: Tensor | float, exponent: Tensor | float) -> Any:
    """The power computed in Float64."""

def floor(input: Operand) -> Tensor:
    """The greatest integer not above x."""

def floor_divide(input: Operand, other: Operand) -> Tensor:
    """The greatest integer not above x / y."""

def fmod(input: Operand, other: Operand) -> Tensor:
    """The remainder with the sign of x."""

def frac(x: Tensor) -> Any:
    """What is behind the point, with the sign of x."""

def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere."""

def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` in the input's shape, dtype and device."""

def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """``input[i][index[i][j]]`` for each element of ``index``, along ``dim``."""

def gcd(input: Operand, other: Operand) -> Tensor:
    """The greatest common divisor."""

def greater(input: Operand, other: Operand) -> Tensor:
    """x > y."""

def greater_equal(input: Operand, other: Operand) -> Tensor:
    """x >= y."""

def gt(input: Operand, other: Operand) -> Tensor:
    """x > y."""

def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Any:
    """How many elements fall into each of ``bins`` equal parts of [min, max]; of the elements' range where
    both are 0.
    """

def hstack(tensors: Sequence[Tensor]) -> Any:
    """Joined along the second axis, vectors along their first."""

def imag(input: Tensor) -> Tensor:
    """The imaginary part; zeros of a real tensor."""

def index_select(input: Tensor, dim: int, index: Tensor) -> Any:
    """The entries ``index``, a vector, along ``dim``."""

def inverse(input: Tensor) -> Tensor:
    """The inverse of each matrix."""

def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether abs(input - other) <= atol + rtol * abs(other)."""

def isfinite(input: Operand) -> Tensor:
    """Whether an element is a finite number."""

def isinf(input: Operand) -> Tensor:
    """Whether an element is infinite."""

def isnan(input: Operand) -> Tensor:
    """Whether an element is NaN."""

def isneginf(input: Tensor) -> Any:
    """Whether an element is minus infinity."""

def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """The ``k``-th smallest element along ``dim`` and where it is."""

def le(input: Operand, other: Operand) -> Tensor:
    """x <= y."""

def lerp(input: Tensor, end: Tensor, weight: Any) -> Any:
    """input + weight * (end - input)."""

def less(input: Operand, other: Operand) -> Tensor:
    """x < y."""

def less_equal(input: Operand, other: Operand) -> Tensor:
    """x <= y."""

def log(input: Operand) -> Tensor:
    """The natural logarithm."""

def log10(input: Operand) -> Tensor:
    """The logarithm to base 10."""

def log1p(input: Operand) -> Tensor:
    """log(1 + x), exact near 0."""

def log2(input: Operand) -> Tensor:
    """The logarithm to base 2."""

def logaddexp(input: Operand, other: Operand) -> Tensor:
    """log(exp(x) + exp(y)), without overflow."""

def logaddexp2(input: Operand, other: Operand) -> Tensor:
    """log2(2**x + 2**y), without overflow."""

def logical_and(input: Operand, other: Operand) -> Tensor:
    """x and y, elementwise."""

def logical_not(input: Operand) -> Tensor:
    """Whether an element is zero or False."""

def logical_or(input: Operand, other: Operand) -> Tensor:
    """x or y, elementwise."""

def logical_xor(input: Operand, other: Operand) -> Tensor:
    """Whether one of x and y holds, and not both."""

def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """log(sum(exp(input))) over ``dim``, without overflow."""

def lt(input: Operand, other: Operand) -> Tensor:
    """x < y."""

def masked_select(input: Tensor, mask: Tensor) -> Any:
    """The elements where ``mask`` holds, as a vector."""

def matmul(input: Tensor, other: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """The matrix product, broadcast over leading axes."""

def maximum(input: Operand, other: Operand) -> Tensor:
    """The larger of x and y; NaN where either is NaN."""

def minimum(input: Operand, other: Operand) -> Tensor:
    """The smaller of x and y; NaN where either is NaN."""

def mm(input: Tensor, other: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """The matrix product, broadcast over leading axes."""

def mul(input: Operand, other: Operand) -> Tensor:
    """x * y."""

def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """``num_samples`` indices, drawn with the weights of each row."""

def mv(input: Tensor, vec: Tensor) -> Any:
    """A matrix times a vector."""

def nan_to_num(input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Any:
    """NaN as ``nan`` (0), infinities as ``posinf`` and ``neginf`` (the dtype's greatest and least
    numbers).
    """

def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of what is not NaN."""

def narrow(input: Tensor, dim: int, start: int, length: int) -> Any:
    """``length`` entries along ``dim`` from ``start`` on."""

def ne(input: Tensor, other: Any) -> Any:
    """x != y."""

def neg(input: Operand) -> Tensor:
    """-x."""

def negative(input: Operand) -> Tensor:
    """-x."""

def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements are not 0: a row for each, or with ``as_tuple`` a vector for each axis."""

def not_equal(input: Tensor, other: Any) -> Any:
    """x != y."""

def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Ones of the input's shape, dtype and device."""

def outer(input: Tensor, vec2: Tensor) -> Any:
    """The product of each two elements of two vectors."""

def permute(input: Tensor, dims: Any) -> Tensor:
    """The axes in the order of ``dims``; reversed without it."""

def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers of a length and an angle."""

def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product over ``dim``; its second derivative is not defined where an element is 0."""

def qr(input: Tensor, mode: str = 'reduced') -> tuple[Any, Any]:
    """An orthogonal and an upper triangular matrix whose product is the input."""

def ravel(input: Tensor) -> Tensor:
    """All elements in one axis."""

def real(input: Tensor) -> Tensor:
    """The real part; a real tensor itself."""

def reciprocal(input: Operand) -> Tensor:
    """1 / x."""

def remainder(input: Operand, other: Operand) -> Tensor:
    """x - floor(x / y) * y, with the sign of y."""

def reshape(input: Tensor, shape: Any) -> Tensor:
    """The elements in their order in another shape; one axis may be -1."""

def roll(input: Tensor, shifts: Any, dims: Any = None) -> Any:
    """Elements moved on by ``shifts`` along ``dims``, those that fall off the end coming back at the
    start.
    """

def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest number with ``decimals`` places, halves to the even one."""

def rsqrt(input: Operand) -> Tensor:
    """1 / sqrt(x)."""

def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """``src`` put at ``index`` along ``dim``; ``reduce`` "add" or "multiply" combines it with what is
    there.
    """

def searchsorted(sorted_sequence: Tensor, values: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None) -> Any:
    """Where ``values`` belong in a sorted tensor, along its last axis."""

def sigmoid(input: Operand) -> Tensor:
    """1 / (1 + exp(-x))."""

def sign(input: Operand) -> Tensor:
    """-1, 0 or 1; of a complex number, x / |x|."""

def sin(input: Operand) -> Tensor:
    """The sine."""

def sinc(input: Operand) -> Tensor:
    """sin(pi x) / (pi x), and 1 at 0."""

def sinh(input: Operand) -> Tensor:
    """The hyperbolic sine."""

def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """exp(input) / sum(exp(input)) along ``dim``."""

def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Parts along ``dim``: each of one size (the last may be smaller), or of the sizes given."""

def sqrt(input: Operand) -> Tensor:
    """The square root."""

def square(input: Operand) -> Tensor:
    """x * x."""

def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape joined along a new axis."""

def std(input: Tensor, dim: Any = None, *, correction: int | bool = 1, keepdim: bool = False) -> Tensor:
    """The standard deviation over ``dim``: the square root of ``var``."""

def std_mean(input: Tensor, dim: Any = None, *, correction: int | bool = 1, keepdim: bool = False) -> tuple[Any, Any]:
    """``std`` and ``mean``."""

def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other."""

def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum over ``dim`` (all axes without it). Integers and bools are summed as Int64."""

def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes exchanged."""

def t(input: Tensor) -> Any:
    """A matrix transposed; what has fewer axes stays."""

def tan(input: Operand) -> Tensor:
    """The tangent."""

def tanh(input: Operand) -> Tensor:
    """The hyperbolic tangent."""

def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor repeated ``dims[i]`` times along axis i."""

def trace(input: Tensor) -> Any:
    """The sum of a matrix's diagonal."""

def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes exchanged."""

def triangular_solve(b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """The x with A @ x = b (or A.T @ x = b), of which only one triangle of A is read."""

def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle; 0 above the ``diagonal``-th diagonal."""

def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle; 0 below the ``diagonal``-th diagonal."""

def unbind(input: Tensor, dim: int = 0) -> tuple[Any, ...]:
    """The entries along ``dim``, without that axis."""

def unique_consecutive(input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> Any:
    """Without the repetitions of neighbours; on demand places and counts."""

def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """One more axis of length 1 at ``dim``."""

def var(input: Tensor, dim: Any = None, *, correction: int | bool = 1, keepdim: bool = False) -> Tensor:
    """The variance over ``dim``, divided by n - ddof."""

def var_mean(input: Tensor, dim: Any = None, *, correction: int | bool = 1, keepdim: bool = False) -> tuple[Any, Any]:
    """``var`` and ``mean``."""

def xlogy(input: Any, other: Any) -> Tensor:
    """input * log(other), and 0 where ``input`` is 0."""

def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros of the input's shape, dtype and device."""
