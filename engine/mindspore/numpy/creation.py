"""Creation of tensors from a value or a rule: zeros, ranges, grids, windows, triangles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_bool, check_int, check_not_negative, check_real, check_type
from ...base.types import AnyDType, Ints, TensorLike
from ...ops.arguments import check_broadcast, int_of, ints_of, one_axis
from ...ops.shapes.copying import apart
from ...ops.shapes.joining import open_grid
from ...tensors.dtype import float32, float64, int32
from ...tensors.tensor import Tensor
from ..mint.shapes import diag as diagonal_matrix
from .arrays import asarray, element_type, new_tensor, tensors_of

__all__ = [
    "arange",
    "bartlett",
    "blackman",
    "diag",
    "diag_indices",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "geomspace",
    "hamming",
    "hanning",
    "identity",
    "indices",
    "linspace",
    "logspace",
    "meshgrid",
    "mgrid",
    "ogrid",
    "ones",
    "ones_like",
    "tri",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "vander",
    "zeros",
    "zeros_like",
]


def zeros(shape: Ints, dtype: AnyDType = float32) -> Tensor:
    """Return a Tensor of zeros; ``empty`` is another name of it.

    Args:
        shape: its shape: an int, or one for each axis.
        dtype: the element type.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are not ints, or ``dtype`` is not an element type.
    """
    return ops.zeros(shape, element_type(dtype))


def ones(shape: Ints, dtype: AnyDType = float32) -> Tensor:
    """Return a Tensor of ones.

    Args:
        shape: its shape: an int, or one for each axis.
        dtype: the element type.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are not ints, or ``dtype`` is not an element type.
    """
    return ops.ones(shape, element_type(dtype))


empty = zeros


def full(shape: Ints, fill_value: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """Return a Tensor of one value.

    Args:
        shape: its shape: an int, or one for each axis.
        fill_value: the value: a number, or a value that broadcasts to ``shape``.
        dtype: the element type; None is that of ``fill_value``.

    Returns:
        the Tensor.

    Raises:
        ValueError: ``fill_value`` does not broadcast to ``shape``.
    """
    value = asarray(fill_value, dtype)
    return ops.broadcast_to(value, ints_of(shape, "numpy.full", "shape")).astype(value.dtype)


def zeros_like(a: TensorLike, dtype: AnyDType | None = None, shape: Ints | None = None) -> Tensor:
    """Return a Tensor of zeros like another.

    Args:
        a: the other Tensor, or a value convertible to one.
        dtype: the element type; None is that of ``a``.
        shape: its shape: an int, or one for each axis; None is that of ``a``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are not ints, or ``dtype`` is not an element type.
    """
    like = ops.zeros_like(asarray(a), dtype=None if dtype is None else element_type(dtype))
    return like if shape is None else ops.zeros(shape, like.dtype)


def empty_like(prototype: TensorLike, dtype: AnyDType | None = None, shape: Ints | None = None) -> Tensor:
    """Return a Tensor like another with unspecified values; they are zeros.

    Args:
        prototype: the other Tensor, or a value convertible to one.
        dtype: the element type; None is that of ``prototype``.
        shape: its shape: an int, or one for each axis; None is that of ``prototype``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are not ints, or ``dtype`` is not an element type.
    """
    return zeros_like(prototype, dtype, shape)


def arange(
    start: float | Tensor,
    stop: float | Tensor | None = None,
    step: float | Tensor | None = None,
    dtype: AnyDType | None = None,
) -> Tensor:
    """Return the numbers start, start + step, start + 2 step, ... below ``stop``.

    Args:
        start: the first number; a single argument is ``stop``, and the first number is 0.
        stop: the exclusive upper bound (lower, with a negative ``step``).
        step: the spacing; None is 1.
        dtype: the element type; None is Int32, or Float32 if one of the three is a float.

    Returns:
        a vector.

    Raises:
        ZeroDivisionError: ``step`` is 0.
    """
    bounds = [start, stop, step]
    integral = not any(x.dtype.is_floating_point if isinstance(x, Tensor) else isinstance(x, float) for x in bounds)
    low, high = (0, start) if stop is None else (start, stop)
    numbers = [x.item() if isinstance(x, Tensor) else x for x in (low, high, 1 if step is None else step)]
    for number, argument in zip(numbers, ("start", "stop", "step"), strict=True):
        check_type(number, int | float | np.number, "numpy.arange", argument, "a number")
    return new_tensor(np.arange(*numbers), (int32 if integral else float32) if dtype is None else dtype)


def _spaced(
    name: str,
    spaced: Callable[..., Any],
    of_tensors: Callable[[Tensor, Tensor, Tensor], Tensor],
    start: TensorLike,
    stop: TensorLike,
    axis: int,
    dtype: AnyDType | None,
    num: int,
    endpoint: bool,
    **settings: Any,
) -> Tensor:
    """Return the result of NumPy's function of that name, with its axis moved.

    If an end is a tensor, gradients pass: ``of_tensors`` computes the numbers from both ends and the position of each
    number between them, from 0 to 1.
    """
    kind = float32 if dtype is None else dtype
    count = check_not_negative(int_of(num, f"numpy.{name}", "num"), f"numpy.{name}", "num")
    ends = [asarray(end) for end in (start, stop)]
    axes = 1 + len(check_broadcast(f"numpy.{name}", start=ends[0].shape, stop=ends[1].shape))
    at = one_axis(axis, axes, f"numpy.{name}")
    if not isinstance(start, Tensor) and not isinstance(stop, Tensor):
        return new_tensor(
            spaced(np.asarray(start), np.asarray(stop), num=count, endpoint=endpoint, axis=at, **settings), kind
        )
    low, high = (end.astype(float64) for end in ends)
    share = new_tensor(np.linspace(0, 1, count, endpoint).reshape(-1, *[1] * (axes - 1)), float64)
    return ops.moveaxis(of_tensors(low, high, share), 0, at).astype(element_type(kind))


def _between(low: Tensor, high: Tensor, share: Tensor) -> Tensor:
    return low * (1 - share) + high * share


def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: AnyDType | None = None,
    axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return evenly spaced numbers from ``start`` to ``stop``.

    Args:
        start: the first number, or a Tensor of them.
        stop: the last one, or with ``endpoint`` False the one after it; broadcasts with ``start``.
        num: the number of values.
        endpoint: whether ``stop`` is one of them.
        retstep: whether to return the spacing too.
        dtype: the element type; None is Float32.
        axis: the position of the numbers' axis in the result.

    Returns:
        a Tensor whose axis ``axis`` has the length ``num``; with ``retstep`` that and a Float32 Tensor of the shape
        that ``start`` and ``stop`` broadcast to, NaN for a single number.

    Raises:
        ValueError: ``num`` is negative, or ``axis`` out of range.
    """
    numbers = _spaced("linspace", np.linspace, _between, start, stop, axis, dtype, num, endpoint)
    if not retstep:
        return numbers
    gaps = num - 1 if endpoint else num
    difference = asarray(stop).astype(float64) - asarray(start).astype(float64)
    return numbers, (difference / gaps if gaps > 0 else difference * math.nan).astype(float32)


def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: AnyDType | None = None,
    axis: int = 0,
) -> Tensor:
    """Return numbers with evenly spaced logarithms, from base ** start to base ** stop.

    Args:
        start: the exponent of the first number.
        stop: that of the last one, or with ``endpoint`` False of the one after it.
        num: the number of values.
        endpoint: whether base ** stop is one of them.
        base: the base of the powers.
        dtype: the element type; None is Float32.
        axis: the position of the numbers' axis in the result.

    Returns:
        a Tensor whose axis ``axis`` has the length ``num``.

    Raises:
        ValueError: ``num`` is negative, or ``axis`` out of range.
    """

    check_real(base, "numpy.logspace", "base")

    def of_tensors(low: Tensor, high: Tensor, share: Tensor) -> Tensor:
        return ops.pow(float(base), _between(low, high, share))

    return _spaced("logspace", np.logspace, of_tensors, start, stop, axis, dtype, num, endpoint, base=base)


def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: AnyDType | None = None,
    axis: int = 0,
) -> Tensor:
    """Return a geometric sequence from ``start`` to ``stop``.

    Args:
        start: the first number, not 0.
        stop: the last one, not 0, or with ``endpoint`` False the one after it.
        num: the number of values.
        endpoint: whether ``stop`` is one of them.
        dtype: the element type; None is Float32.
        axis: the position of the numbers' axis in the result.

    Returns:
        a Tensor whose axis ``axis`` has the length ``num``.

    Raises:
        ValueError: ``num`` is negative, ``axis`` out of range, or an end is 0.
    """

    def of_tensors(low: Tensor, high: Tensor, share: Tensor) -> Tensor:
        return low * ops.pow(high / low, share)

    return _spaced("geomspace", np.geomspace, of_tensors, start, stop, axis, dtype, num, endpoint)


def _sides(name: str, N: int, M: int | None, k: int) -> tuple[int, int, int]:  # noqa: N803
    rows = int_of(N, f"numpy.{name}", "N")
    columns = rows if M is None else int_of(M, f"numpy.{name}", "M")
    for argument, length in (("N", rows), ("M", columns)):
        check_not_negative(length, f"numpy.{name}", argument)
    return rows, columns, int_of(k, f"numpy.{name}", "k")


def eye(N: int, M: int | None = None, k: int = 0, dtype: AnyDType = float32) -> Tensor:  # noqa: N803
    """Return a matrix with ones on one diagonal and zeros elsewhere.

    Args:
        N: the number of rows.
        M: the number of columns; None is ``N``.
        k: the diagonal: 0 the main one, above it positive, below it negative.
        dtype: the element type.

    Returns:
        a Tensor (N, M).
    """
    return new_tensor(np.eye(*_sides("eye", N, M, k)), dtype)


def identity(n: int, dtype: AnyDType = float32) -> Tensor:
    """Return the identity matrix.

    Args:
        n: the number of rows and columns.
        dtype: the element type.

    Returns:
        a Tensor (n, n).
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: AnyDType = float32) -> Tensor:  # noqa: N803
    """Return a matrix with ones on and below one diagonal and zeros above it.

    Args:
        N: the number of rows.
        M: the number of columns; None is ``N``.
        k: the diagonal: 0 the main one, above it positive, below it negative.
        dtype: the element type.

    Returns:
        a Tensor (N, M).
    """
    return new_tensor(np.tri(*_sides("tri", N, M, k)), dtype)


def indices(dimensions: Sequence[int], dtype: AnyDType = int32, sparse: bool = False) -> list[Tensor]:
    """Return the index of each grid point along each axis.

    Args:
        dimensions: the shape of the grid.
        dtype: the element type.
        sparse: whether the other axes have length 1, along which indices are constant.

    Returns:
        a list of a Tensor for each axis, of the shape ``dimensions``, or with ``sparse`` one that broadcasts to it.
    """
    shape = ints_of(check_type(dimensions, list | tuple, "numpy.indices", "dimensions"), "numpy.indices", "dimensions")
    grid: Any = np.indices(shape, sparse=True) if sparse else np.indices(shape)
    return [new_tensor(array, dtype) for array in grid]


def meshgrid(*xi: TensorLike, sparse: bool = False, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of grid points: for each vector a Tensor of the grid's shape.

    Args:
        *xi: the coordinates along each axis of the grid, vectors.
        sparse: whether each Tensor has length 1 along the axes of the others, along which it is constant.
        indexing: "xy": the first vector runs along the second axis, the second one along the first; "ij": each along
            its own.

    Returns:
        a list of a Tensor for each vector.

    Raises:
        TypeError: ``sparse`` is not a bool, or an unknown ``indexing``.
    """
    check_bool(sparse, "meshgrid", "sparse")
    if indexing not in ("xy", "ij"):
        raise TypeError(f"For 'meshgrid', 'indexing' must be 'xy' or 'ij', but got {indexing!r}")
    vectors = [asarray(vector) for vector in xi]
    grid = ops.meshgrid(*vectors, indexing=indexing)
    return open_grid(vectors, indexing) if sparse else list(grid)


def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """Return the Vandermonde matrix: a row of powers of each element, from N - 1 down to 0.

    Args:
        x: a vector.
        N: the number of powers; None is the length of ``x``.
        increasing: whether to begin with the power 0.

    Returns:
        a Tensor (length of x, N).

    Raises:
        ValueError: ``x`` is not a vector.
    """
    powers = ops.vander(asarray(x), N)
    return ops.flip(powers, 1) if increasing else powers


def diag(v: TensorLike, k: int = 0) -> Tensor:
    """Return a matrix with a vector on one diagonal, or one diagonal of a matrix.

    Args:
        v: a vector or a matrix.
        k: the diagonal: 0 the main one, above it positive, below it negative.

    Returns:
        a matrix for a vector, a vector for a matrix.
    """
    x = asarray(v)
    return apart(diagonal_matrix(x, k), x)


def full_like(
    a: TensorLike, fill_value: TensorLike, dtype: AnyDType | None = None, shape: Ints | None = None
) -> Tensor:
    """Return a Tensor of one value like another.

    Args:
        a: the other Tensor, or a value convertible to one.
        fill_value: the value: a number, or a value that broadcasts to the shape.
        dtype: the element type; None is that of ``a``.
        shape: its shape: an int, or one for each axis; None is that of ``a``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``a`` or ``fill_value`` cannot be a Tensor.
        ValueError: ``fill_value`` does not broadcast to the shape.
    """
    like = asarray(a)
    value = asarray(fill_value).astype(like.dtype if dtype is None else element_type(dtype))
    return full(like.shape if shape is None else shape, value)


def ones_like(a: TensorLike, dtype: AnyDType | None = None, shape: Ints | None = None) -> Tensor:
    """Return a Tensor of ones like another.

    Args:
        a: the other Tensor, or a value convertible to one.
        dtype: the element type; None is that of ``a``.
        shape: its shape: an int, or one for each axis; None is that of ``a``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``shape`` are not ints, or ``dtype`` is not an element type.
    """
    like = ops.ones_like(asarray(a), dtype=None if dtype is None else element_type(dtype))
    return like if shape is None else ops.ones(shape, like.dtype)


# Windows


def bartlett(M: int) -> Tensor:  # noqa: N803
    """Return the Bartlett window: a triangle from 0 up to 1 and down to 0.

    Args:
        M: the number of points; none if below 1.

    Returns:
        a Float32 vector of length ``M``.

    Raises:
        TypeError: ``M`` is not an int.
    """
    return new_tensor(np.bartlett(check_int(M, "numpy.bartlett", "M")), float32)


def blackman(M: int) -> Tensor:  # noqa: N803
    """Return the Blackman window: 0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1)).

    Args:
        M: the number of points; none if below 1.

    Returns:
        a Float32 vector of length ``M``.

    Raises:
        TypeError: ``M`` is not an int.
    """
    return new_tensor(np.blackman(check_int(M, "numpy.blackman", "M")), float32)


def hamming(M: int) -> Tensor:  # noqa: N803
    """Return the Hamming window: 0.54 - 0.46 cos(2 pi n / (M - 1)).

    Args:
        M: the number of points; none if below 1.

    Returns:
        a Float32 vector of length ``M``.

    Raises:
        TypeError: ``M`` is not an int.
    """
    return new_tensor(np.hamming(check_int(M, "numpy.hamming", "M")), float32)


def hanning(M: int) -> Tensor:  # noqa: N803
    """Return the Hann window: 0.5 - 0.5 cos(2 pi n / (M - 1)).

    Args:
        M: the number of points; none if below 1.

    Returns:
        a Float32 vector of length ``M``.

    Raises:
        TypeError: ``M`` is not an int.
    """
    return new_tensor(np.hanning(check_int(M, "numpy.hanning", "M")), float32)


# Indices


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of a square, a cube, ...

    Args:
        n: the length of each axis.
        ndim: the number of axes.

    Returns:
        a tuple of an Int32 vector for each axis.

    Raises:
        TypeError: an argument is not an int.
    """
    diagonal = np.arange(check_int(n, "numpy.diag_indices", "n"))
    return tuple(new_tensor(diagonal, int32) for _ in range(check_int(ndim, "numpy.diag_indices", "ndim")))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the indices on and below a diagonal of a matrix.

    Args:
        n: the number of rows.
        k: the diagonal: 0 the main one, above it positive, below it negative.
        m: the number of columns; None is ``n``.

    Returns:
        the rows and the columns, Int32 vectors.

    Raises:
        TypeError: an argument is not an int.
    """
    return _triangle(np.tril_indices, "tril_indices", n, k, m)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the indices on and above a diagonal of a matrix.

    Args:
        n: the number of rows.
        k: the diagonal: 0 the main one, above it positive, below it negative.
        m: the number of columns; None is ``n``.

    Returns:
        the rows and the columns, Int32 vectors.

    Raises:
        TypeError: an argument is not an int.
    """
    return _triangle(np.triu_indices, "triu_indices", n, k, m)


def _triangle(positions: Callable[..., Any], name: str, n: int, k: int, m: int | None) -> tuple[Tensor, Tensor]:
    for argument, value in (("n", n), ("k", k), ("m", n if m is None else m)):
        check_int(value, f"numpy.{name}", argument)
    rows, columns = positions(n, k, m)
    return new_tensor(rows, int32), new_tensor(columns, int32)


def tril_indices_from(arr: TensorLike, k: int = 0) -> tuple[Tensor, Tensor]:
    """Return the indices on and below a diagonal of a matrix like another.

    Args:
        arr: the other matrix.
        k: the diagonal: 0 the main one, above it positive, below it negative.

    Returns:
        the rows and the columns, Int32 vectors.

    Raises:
        ValueError: ``arr`` is not a matrix.
    """
    rows, columns = _shape_of_matrix(arr, "tril_indices_from")
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: TensorLike, k: int = 0) -> tuple[Tensor, Tensor]:
    """Return the indices on and above a diagonal of a matrix like another.

    Args:
        arr: the other matrix.
        k: the diagonal: 0 the main one, above it positive, below it negative.

    Returns:
        the rows and the columns, Int32 vectors.

    Raises:
        ValueError: ``arr`` is not a matrix.
    """
    rows, columns = _shape_of_matrix(arr, "triu_indices_from")
    return triu_indices(rows, k, columns)


def _shape_of_matrix(arr: TensorLike, name: str) -> tuple[int, ...]:
    shape = asarray(arr).shape
    if len(shape) != 2:
        raise ValueError(f"For 'numpy.{name}', 'arr' must be a matrix, but got shape {shape}")
    return shape


class _Grid:
    """Grids by slices: ``start:stop:step``, or ``start:stop:5j`` for 5 numbers from start to stop, both included."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: slice | tuple[slice, ...]) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(part, slice) and part.stop is not None for part in slices):
            raise TypeError(f"For 'numpy.{self!r}', the index must be slices with an end, but got {key!r}")
        vectors = [_numbers_of(part) for part in slices]
        if not isinstance(key, tuple):
            return vectors[0]
        if self._sparse:
            return open_grid(vectors, "ij")
        return ops.stack(list(tensors_of(*ops.meshgrid(*vectors, indexing="ij"))))

    def __repr__(self) -> str:
        return "ogrid" if self._sparse else "mgrid"


def _numbers_of(value: slice) -> Tensor:
    bounds = [x for x in (value.start, value.stop, value.step) if x is not None]
    integral = all(isinstance(x, int) for x in bounds)
    return new_tensor(np.mgrid[value], int32 if integral else float32)


mgrid = _Grid(sparse=False)
"""A grid by slices: the coordinates of its points along each axis, stacked into one Tensor."""
ogrid = _Grid(sparse=True)
"""A grid by slices: a list of the coordinates along each axis, of length 1 along the axes of the others."""
