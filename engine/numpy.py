"""``mindspore.numpy``: NumPy's names for tensors. Numbers of Python become Int32 and Float32 here, as in MindSpore.

What is the same in ``ops``, or has other names of arguments there, is declared there (``numpy=``) and takes lists and
numbers here besides (``_taking_lists``); here is what differs otherwise.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as _np

from . import ops
from .core.dtype import (
    DType,
    bool_,
    dtype_of,
    float32,
    float64,
    int32,
    int64,
    numpy_dtype,
    to_dtype,
)
from .core.names import on_first_use
from .core.operator import Operator
from .core.surfaces import NUMPY as _NUMPY
from .core.tensor import Tensor
from .core.types import DTypeLike, TensorLike
from .mint.functions import diag as found
from .ops.arguments import Axis
from .ops.sorting import unique_sorted

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None


def _dtype(dtype: Any) -> DType:
    """An element type of the engine's, given so, by NumPy's name, or as a Python type."""
    named = {int: int32, float: float32, bool: bool_}
    return named.get(dtype, dtype) if not isinstance(dtype, str) else _named(dtype)


def _named(name: str) -> Any:
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


def asfarray(a: TensorLike, dtype: DTypeLike = float32) -> Tensor:
    """A floating Tensor of numbers, lists, arrays or tensors.

    Args:
        a: what it is made of.
        dtype: the element type; one that is not floating becomes Float32.

    Returns:
        a Tensor of the shape of ``a``.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``dtype`` names no element type.
    """
    wanted = to_dtype(_dtype(dtype))
    return asarray(a, wanted if wanted.is_floating_point else float32)


def copy(a: Any) -> Tensor:
    """A copy that gradients pass."""
    return asarray(a).clone()


def _as(found: Any, dtype: Any) -> Any:
    return found if dtype is None else found.astype(_dtype(dtype))


# Made from nothing


def _made(values: Any, dtype: Any) -> Tensor:
    return Tensor(_np.asarray(values).astype(numpy_dtype(_dtype(dtype))))


def zeros(shape: Any, dtype: Any = float32) -> Tensor:
    """Zeros of a shape."""
    return ops.zeros(shape, _dtype(dtype))


def ones(shape: Any, dtype: Any = float32) -> Tensor:
    """Ones of a shape."""
    return ops.ones(shape, _dtype(dtype))


empty = zeros


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
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


def rand(*shape: int, dtype: Any = float32) -> Tensor:
    """Evenly spread over [0, 1)."""
    return ops.rand(*shape, dtype=_dtype(dtype))


def randn(*shape: int, dtype: Any = float32) -> Tensor:
    """Of the normal distribution."""
    return ops.randn(*shape, dtype=_dtype(dtype))


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = int32) -> Tensor:
    """Ints from ``minval`` (or 0) below ``maxval``."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    size = (1,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    return ops.randint(low, high, size, dtype=_dtype(dtype))


# Arithmetic


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Tensor:
    """Not below one value nor above another."""
    return _as(ops.clamp(asarray(x), xmin, xmax), dtype)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition holds, else ``y``; the condition alone gives the places where it holds."""
    if x is None and y is None:
        return ops.nonzero(asarray(condition), as_tuple=True)
    return ops.where(asarray(condition), asarray(x), asarray(y))


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: builtins.bool = False
) -> tuple[Tensor, Tensor]:
    """(how many elements are in each bin, the edges of the bins); the last bin has its upper edge too.

    Args:
        a: the elements, of any shape.
        bins: how many bins of one width, or their edges.
        range: the lowest and the highest edge; those of the elements by default.
        weights: what each element counts.
        density: whether the integral over the bins is 1.

    Raises:
        TypeError: ``bins`` is a string.
        ValueError: edges that fall, or weights of another shape.
    """
    if isinstance(bins, str):
        raise TypeError(f"For 'numpy.histogram', 'bins' must be an int or edges, but got {bins!r}")
    given = asarray(bins)
    counts, edges = _np.histogram(
        asarray(a).asnumpy(),
        int(given.item()) if given.ndim == 0 else given.asnumpy(),
        range,
        weights=None if weights is None else asarray(weights).asnumpy(),
        density=density,
    )
    return _made(counts, float32), _made(edges, float32) if given.ndim == 0 else given


# Products


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """The cross product of vectors of 2 or 3 along an axis of each; ``axis`` stands for all three."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (ops.moveaxis(asarray(one), at, -1) for one, at in ((a, axisa), (b, axisb)))
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(
            f"For 'numpy.cross', the axes of the vectors must have length 2 or 3, but got {x.shape} and {y.shape}"
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    shape = _np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = (ops.broadcast_to(one if one.shape[-1] == 3 else ops.pad(one, (0, 1)), (*shape, 3)) for one in (x, y))
    found = ops.cross(x, y, -1)
    return found[..., 2] if flat else ops.moveaxis(found, -1, axisc)


def dot(a: Any, b: Any) -> Tensor:
    """NumPy's dot: the last axis of ``a`` with the last but one of ``b``."""
    a, b = asarray(a), asarray(b)
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return ops.matmul(a, b)
    return tensordot(a, b, ([a.ndim - 1], [builtins.max(b.ndim - 2, 0)]))


def matmul(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """The product of matrices."""
    return _as(ops.matmul(asarray(x1), asarray(x2)), dtype)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
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


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False, initial: Any = None) -> Tensor:
    """The sum along axes."""
    found = ops.sum(asarray(a), axis, keepdims)
    return _as(found if initial is None else found + initial, dtype)


def mean(a: Any, axis: Any = None, keepdims: builtins.bool = False, dtype: Any = None) -> Tensor:
    """The mean along axes."""
    return ops.mean(_as(asarray(a), dtype), axis, keepdims)


def average(
    x: TensorLike, axis: Axis = None, weights: TensorLike | None = None, returned: builtins.bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """The weighted mean over axes: sum(x * weights) / sum(weights).

    Args:
        x: the elements.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        weights: what each element counts: of the shape of ``x``, or a vector for the one ``axis``; None is ones.
        returned: whether to return the sums of the weights too.

    Returns:
        a floating Tensor; with ``returned`` a pair of it and the sums of the weights, of the same shape.

    Raises:
        TypeError: ``x`` or ``weights`` cannot be a Tensor, or an axis is no int.
        ValueError: an axis is out of range, or ``weights`` has another shape.
    """
    x = asarray(x)
    x = x if x.dtype.is_floating_point or x.dtype.is_complex else x.astype(float32)
    counted = ops.ones_like(x) if weights is None else asarray(weights).astype(x.dtype)
    if counted.shape != x.shape:
        if not isinstance(axis, int) or counted.shape != (x.shape[axis],):
            raise ValueError(
                f"For 'numpy.average', 'weights' must have the shape {x.shape} of 'x' or be a vector for one 'axis', "
                f"but got {counted.shape}"
            )
        line = [1] * x.ndim
        line[axis] = counted.size
        counted = ops.broadcast_to(ops.reshape(counted, tuple(line)), x.shape)
    total = ops.sum(counted, axis)
    found = ops.sum(x * counted, axis) / total
    return (found, total) if returned else found


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Tensor:
    """The mean without NaN."""
    return ops.nanmean(_as(asarray(a), dtype), axis, keepdims)


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Tensor:
    """The largest of what is not NaN; NaN where there is nothing else."""
    return _nanextreme(ops.amax, -math.inf, a, axis, dtype, keepdims)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Tensor:
    """The smallest of what is not NaN; NaN where there is nothing else."""
    return _nanextreme(ops.amin, math.inf, a, axis, dtype, keepdims)


def _nanextreme(extreme: Any, other: float, a: Any, axis: Any, dtype: Any, keepdims: builtins.bool) -> Any:
    a = asarray(a)
    if not a.dtype.is_floating_point:
        return _as(extreme(a, axis, keepdims), dtype)
    missing = ops.isnan(a)
    found = extreme(ops.where(missing, other, a), axis, keepdims)
    return _as(ops.where(ops.all(missing, axis, keepdims), nan, found), dtype)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> Tensor:
    """The sum without NaN."""
    return _as(ops.nansum(asarray(a), axis, keepdims), dtype)


def cov(
    m: Any, y: Any = None, rowvar: builtins.bool = True, bias: builtins.bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The covariances of the rows (with ``rowvar`` False the columns) of ``m``, and of ``y`` below them."""
    given = [ops.atleast_2d(_as(asarray(one), dtype)) for one in (m, y) if one is not None]
    columns = [one.T if not rowvar and one.shape[0] != 1 else one for one in given]
    whole = columns[0] if len(columns) == 1 else ops.cat(columns, 0)
    lost = (0 if bias else 1) if ddof is None else ddof
    weights = [None if one is None else asarray(one) for one in (fweights, aweights)]
    found = ops.cov(whole, correction=lost, fweights=weights[0], aweights=weights[1])
    return ops.squeeze(found)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sum so far, along an axis or over all."""
    a = asarray(a)
    return _as(ops.cumsum(ops.reshape(a, (-1,)) if axis is None else a, axis or 0), dtype)


# Shape


def shape(a: Any) -> tuple[int, ...]:
    """The shape."""
    return asarray(a).shape


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements, or the length of an axis."""
    return asarray(a).size if axis is None else asarray(a).shape[axis]


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """One behind the other along an axis."""
    given = [asarray(one) for one in arrays]
    return ops.cat([ops.reshape(x, (-1,)) for x in given]) if axis is None else ops.cat(given, axis)


def _at_least(tensor: Tensor, axes: int) -> Tensor:
    return tensor if tensor.ndim >= axes else ops.reshape(tensor, (1,) * (axes - tensor.ndim) + tensor.shape)


def atleast_1d(*arys: Any) -> Any:
    """With one axis or more."""
    found = [_at_least(asarray(one), 1) for one in arys]
    return found[0] if len(found) == 1 else found


def atleast_2d(*arys: Any) -> Any:
    """With two axes or more."""
    found = [_at_least(asarray(one), 2) for one in arys]
    return found[0] if len(found) == 1 else found


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Pieces along an axis: so many, or cut at these places."""
    x = asarray(x)
    if isinstance(indices_or_sections, int):
        if indices_or_sections < 1 or x.shape[axis] % indices_or_sections:
            raise ValueError(
                f"For 'numpy.split', 'indices_or_sections' {indices_or_sections} must divide the length "
                f"{x.shape[axis]} of axis {axis}"
            )
        return ops.split(x, x.shape[axis] // indices_or_sections, axis)
    ends = [0, *indices_or_sections, x.shape[axis]]
    return ops.split(x, [high - low for low, high in itertools.pairwise(ends)], axis)


def flip(m: Any, axis: Any = None) -> Tensor:
    """Backwards along axes."""
    m = asarray(m)
    axes = tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return ops.flip(m, axes)


def meshgrid(*xi: Any, sparse: builtins.bool = False, indexing: str = "xy") -> Any:
    """The coordinates of a grid."""
    return list(ops.meshgrid(*[asarray(one) for one in xi], indexing=indexing))


def vander(x: Any, N: int | None = None, increasing: builtins.bool = False) -> Tensor:  # noqa: N803
    """The powers of each element, a row each, from the highest to 0, or with ``increasing`` from 0 up."""
    found = ops.vander(asarray(x), N)
    return ops.flip(found, 1) if increasing else found


def diag(v: Any, k: int = 0) -> Tensor:
    """A vector as a diagonal, or a diagonal of a matrix."""
    return found(asarray(v), k)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Elements by their places."""
    return ops.take(asarray(a), asarray(indices), axis, mode)


def unique(x: Any, return_inverse: builtins.bool = False) -> Any:
    """Different elements in order, and with ``return_inverse`` the place of each."""
    values, inverse = unique_sorted(asarray(x), return_inverse=True)
    return (values, inverse.astype(int32)) if return_inverse else values


# Declared where the functions are


def _taking_lists(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ``ops`` that takes lists, arrays and numbers where it takes tensors.

    A number beside a tensor stays one, so that it does not change the element type. An operator takes ``dtype``.
    """
    operator = isinstance(inspect.unwrap(function), Operator)
    signature = inspect.signature(function)
    kinds = {key: "Tensor" if operator else str(one.annotation) for key, one in signature.parameters.items()}
    if operator:
        dtype = inspect.Parameter("dtype", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        signature = signature.replace(parameters=[*signature.parameters.values(), dtype])

    def surface(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() got other arguments than {signature}: {error}") from None
        arguments = given.arguments
        wanted = arguments.pop("dtype", None) if operator else None
        for key, value in arguments.items():
            kind = kinds.get(key, "")
            if "Sequence[Tensor]" in kind:
                arguments[key] = [asarray(one) for one in value]
            elif "Tensor" in kind and isinstance(value, list | tuple | _np.ndarray):
                arguments[key] = asarray(value)
        if not builtins.any(isinstance(value, Tensor) for value in arguments.values()):
            for key, value in arguments.items():
                if "Tensor" in kinds.get(key, "") and isinstance(value, builtins.bool | int | float):
                    arguments[key] = asarray(value)
        return _as(function(*given.args, **given.kwargs), wanted)

    surface.__name__ = surface.__qualname__ = name
    surface.__doc__ = function.__doc__
    surface.__signature__ = signature  # type: ignore[attr-defined]
    return surface


if TYPE_CHECKING:
    from .numpy_types import *
globals().update({name: _taking_lists(name, function) for name, function in _NUMPY.items()})
__getattr__ = on_first_use(__name__)
