"""``mindspore.numpy``: NumPy's names for tensors. Numbers of Python become Int32 and Float32 here, as in MindSpore.

What is the same in ``ops`` is taken from there; here is what differs.
"""

from __future__ import annotations

import builtins
import itertools
import math
from typing import Any

import numpy as _np

from . import ops
from .dtype import (
    bool_,
    float32,
    float64,
    int32,
    int64,
    numpy_dtype,
)
from .mint.functions import argmin as _argmin
from .names import on_first_use
from .ops import (
    abs,
    remainder,
    zeros_like,
)
from .surfaces import NUMPY as _NUMPY
from .tensor import Tensor

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None
absolute = fabs = abs
mod = remainder
bitwise_not = invert = ops.bitwise_not


def _dtype(dtype: Any) -> Any:
    """An element type of the engine's, given so, by NumPy's name, or as a Python type."""
    named = {int: int32, float: float32, bool: bool_}
    return named.get(dtype, dtype) if not isinstance(dtype, str) else _named(dtype)


def _named(name: str) -> Any:
    from .dtype import dtype_of

    return dtype_of(_np.dtype(name))


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of numbers, lists, arrays or tensors; Python's become Int32 and Float32."""
    if dtype is not None:
        found = Tensor(obj, _dtype(dtype))
    elif isinstance(obj, Tensor | _np.ndarray):
        found = Tensor(obj)
    else:
        found = Tensor(obj)
        short = {int64: int32, float64: float32}.get(found.dtype)
        found = found if short is None else Tensor(found, short)
    while found.ndim < ndmin:
        found = ops.expand_dims(found, 0)
    return found


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of numbers, lists, arrays or tensors."""
    return a if isinstance(a, Tensor) and dtype is None else array(a, dtype)


asfarray = asarray


def copy(a: Any) -> Any:
    """A copy that gradients pass."""
    return asarray(a).clone()


# Made from nothing


def _made(values: Any, dtype: Any) -> Tensor:
    return Tensor(_np.asarray(values).astype(numpy_dtype(_dtype(dtype))))


def zeros(shape: Any, dtype: Any = float32) -> Any:
    """Zeros of a shape."""
    return ops.zeros(shape, _dtype(dtype))


def ones(shape: Any, dtype: Any = float32) -> Any:
    """Ones of a shape."""
    return ops.ones(shape, _dtype(dtype))


empty = zeros
empty_like = zeros_like


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value in a shape."""
    value = asarray(fill_value, dtype)
    return ops.broadcast_to(value, (shape,) if isinstance(shape, int) else tuple(shape)).astype(value.dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Numbers from ``start`` below ``stop``."""
    given = [start, stop, step]
    whole = not builtins.any(
        x.dtype.is_floating_point if isinstance(x, Tensor) else isinstance(x, float) for x in given
    )
    low, high = (0, start) if stop is None else (start, stop)
    numbers = [x.item() if isinstance(x, Tensor) else x for x in (low, high, 1 if step is None else step)]
    return _made(_np.arange(*numbers), (int32 if whole else float32) if dtype is None else dtype)


def linspace(start: Any, stop: Any, num: int = 50, endpoint: builtins.bool = True, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers."""
    return _made(_np.linspace(start, stop, num, endpoint), float32 if dtype is None else dtype)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: builtins.bool = True, base: float = 10.0, dtype: Any = None
) -> Tensor:
    """Numbers whose logarithms are evenly spaced."""
    return _made(_np.logspace(start, stop, num, endpoint, base), float32 if dtype is None else dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: builtins.bool = True, dtype: Any = None) -> Tensor:
    """Numbers with one ratio."""
    return _made(_np.geomspace(start, stop, num, endpoint), float32 if dtype is None else dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:  # noqa: N803
    """Ones on a diagonal."""
    return _made(_np.eye(N, M, k), dtype)


def identity(n: int, dtype: Any = float32) -> Tensor:
    """Ones on the diagonal."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:  # noqa: N803
    """Ones on and below a diagonal."""
    return _made(_np.tri(N, M, k), dtype)


def indices(dimensions: Any, dtype: Any = int32) -> Any:
    """The places along each axis."""
    grid: Any = _np.indices(tuple(dimensions))
    return [_made(one, dtype) for one in grid]


def rand(*shape: int, dtype: Any = float32) -> Any:
    """Evenly spread over [0, 1)."""
    return ops.rand(*shape, dtype=_dtype(dtype))


def randn(*shape: int, dtype: Any = float32) -> Any:
    """Of the normal distribution."""
    return ops.randn(*shape, dtype=_dtype(dtype))


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = int32) -> Any:
    """Ints from ``minval`` (or 0) below ``maxval``."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = (1,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.randint(low, high, size, dtype=_dtype(dtype))


# Arithmetic


def add(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """x1 + x2."""
    return _as(ops.add(x1, x2), dtype)


def subtract(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """x1 - x2."""
    return _as(ops.sub(x1, x2), dtype)


def true_divide(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """x1 / x2."""
    return _as(ops.div(x1, x2), dtype)


def power(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """x1 ** x2."""
    return _as(ops.pow(x1, x2), dtype)


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Any:
    """Not below one value nor above another."""
    return _as(ops.clamp(x, xmin, xmax), dtype)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition holds, else ``y``."""
    return ops.where(condition, x, y)


def _as(found: Any, dtype: Any) -> Any:
    return found if dtype is None else found.astype(_dtype(dtype))


# Products


def dot(a: Any, b: Any) -> Any:
    """NumPy's dot: the last axis of ``a`` with the last but one of ``b``."""
    a, b = asarray(a), asarray(b)
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return ops.matmul(a, b)
    return tensordot(a, b, ([a.ndim - 1], [builtins.max(b.ndim - 2, 0)]))


def matmul(x1: Any, x2: Any, dtype: Any = None) -> Any:
    """The product of matrices."""
    return _as(ops.matmul(x1, x2), dtype)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum of products over axes of both."""
    a, b = asarray(a), asarray(b)
    if isinstance(axes, int):
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    of_a, of_b = ([one] if isinstance(one, int) else list(one) for one in axes)
    of_a, of_b = [i % a.ndim for i in of_a], [i % b.ndim for i in of_b]
    rest_a = [i for i in range(a.ndim) if i not in of_a]
    rest_b = [i for i in range(b.ndim) if i not in of_b]
    length = math.prod(a.shape[i] for i in of_a)
    left = ops.reshape(ops.transpose(a, tuple(rest_a + of_a)), (-1, length))
    right = ops.reshape(ops.transpose(b, tuple(of_b + rest_b)), (length, -1))
    shape = (*(a.shape[i] for i in rest_a), *(b.shape[i] for i in rest_b))
    return ops.reshape(ops.matmul(left, right), shape)


# Reductions


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False, initial: Any = None) -> Any:
    """The sum along axes."""
    found = ops.sum(asarray(a), axis, keepdims)
    return _as(found if initial is None else found + initial, dtype)


def mean(a: Any, axis: Any = None, keepdims: builtins.bool = False, dtype: Any = None) -> Any:
    """The mean along axes."""
    return ops.mean(_as(asarray(a), dtype), axis, keepdims)


average = mean


def max(a: Any, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """The largest along axes."""
    return ops.amax(asarray(a), axis, keepdims)


def min(a: Any, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """The smallest along axes."""
    return ops.amin(asarray(a), axis, keepdims)


amax, amin = max, min


def ptp(x: Any, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """The largest less the smallest."""
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def argmax(a: Any, axis: int | None = None) -> Any:
    """The place of the largest."""
    return ops.argmax(asarray(a), axis)


def argmin(a: Any, axis: int | None = None) -> Any:
    """The place of the smallest."""
    return _argmin(asarray(a), axis)


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: builtins.bool = False) -> Any:
    """The deviation along axes."""
    return ops.std(asarray(x), axis, ddof, keepdims)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: builtins.bool = False) -> Any:
    """The variance along axes."""
    return ops.var(asarray(x), axis, ddof, keepdims)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Any:
    """The sum without NaN."""
    return _as(ops.nansum(asarray(a), axis, keepdims), dtype)


def count_nonzero(x: Any, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """How many are not 0."""
    return ops.count_nonzero(asarray(x), () if axis is None else axis, keepdims)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """The sum so far, along an axis or over all."""
    a = asarray(a)
    return _as(ops.cumsum(ops.reshape(a, (-1,)) if axis is None else a, axis or 0), dtype)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: builtins.bool = False) -> Any:
    """The norm of all elements or along axes."""
    from .mint.linalg import norm as found

    return found(asarray(x), ord, axis, keepdims)


# Shape


def shape(a: Any) -> tuple[int, ...]:
    """The shape."""
    return asarray(a).shape


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements, or the length of an axis."""
    return asarray(a).size if axis is None else asarray(a).shape[axis]


def reshape(x: Any, new_shape: Any) -> Any:
    """Another shape."""
    return ops.reshape(asarray(x), (new_shape,) if isinstance(new_shape, int) else new_shape)


def transpose(a: Any, axes: Any = None) -> Any:
    """Axes in another order: reversed without one."""
    a = asarray(a)
    return ops.transpose(a, tuple(reversed(range(a.ndim))) if axes is None else tuple(axes))


def concatenate(arrays: Any, axis: int | None = 0) -> Any:
    """One behind the other along an axis."""
    given = [asarray(one) for one in arrays]
    return ops.cat([ops.reshape(x, (-1,)) for x in given]) if axis is None else ops.cat(given, axis)


def stack(arrays: Any, axis: int = 0) -> Any:
    """Along a new axis."""
    return ops.stack([asarray(one) for one in arrays], axis)


def _at_least(tensor: Any, axes: int) -> Any:
    return tensor if tensor.ndim >= axes else ops.reshape(tensor, (1,) * (axes - tensor.ndim) + tensor.shape)


def atleast_1d(*arys: Any) -> Any:
    """With one axis or more."""
    found = [_at_least(asarray(one), 1) for one in arys]
    return found[0] if len(found) == 1 else found


def atleast_2d(*arys: Any) -> Any:
    """With two axes or more."""
    found = [_at_least(asarray(one), 2) for one in arys]
    return found[0] if len(found) == 1 else found


def vstack(tup: Any) -> Any:
    """As rows."""
    return ops.cat([_at_least(asarray(one), 2) for one in tup], 0)


def hstack(tup: Any) -> Any:
    """As columns."""
    given = [_at_least(asarray(one), 1) for one in tup]
    return ops.cat(given, 0 if given[0].ndim == 1 else 1)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Pieces along an axis: so many, or cut at these places."""
    x = asarray(x)
    if isinstance(indices_or_sections, int):
        return ops.split(x, x.shape[axis] // indices_or_sections, axis)
    ends = [0, *indices_or_sections, x.shape[axis]]
    return ops.split(x, [high - low for low, high in itertools.pairwise(ends)], axis)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Each element several times."""
    return ops.repeat_interleave(asarray(a), repeats, axis)


def flip(m: Any, axis: Any = None) -> Any:
    """Backwards along axes."""
    m = asarray(m)
    axes = tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return ops.flip(m, axes)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes at other places."""
    a = asarray(a)
    start, end = ([one] if isinstance(one, int) else list(one) for one in (source, destination))
    start, end = [i % a.ndim for i in start], [i % a.ndim for i in end]
    rest = [axis for axis in range(a.ndim) if axis not in start]
    for to, axis in sorted(zip(end, start, strict=True)):
        rest.insert(to, axis)
    return ops.transpose(a, tuple(rest))


def meshgrid(*xi: Any, sparse: builtins.bool = False, indexing: str = "xy") -> Any:
    """The coordinates of a grid."""
    return list(ops.meshgrid(*[asarray(one) for one in xi], indexing=indexing))


def diag(v: Any, k: int = 0) -> Any:
    """A vector as a diagonal, or a diagonal of a matrix."""
    from .mint.functions import diag as found

    return found(asarray(v), k)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours."""
    return ops.diff(asarray(a), n, axis, prepend, append)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Any:
    """Elements by their places."""
    return ops.take(asarray(a), asarray(indices), axis, mode)


def unique(x: Any, return_inverse: builtins.bool = False) -> Any:
    """Different elements in order, and with ``return_inverse`` the place of each."""
    values, inverse = _np.unique(asarray(x).asnumpy(), return_inverse=True)
    return (Tensor(values), Tensor(inverse.astype(_np.int32))) if return_inverse else Tensor(values)


__getattr__ = on_first_use(__name__)
globals().update(_NUMPY)
