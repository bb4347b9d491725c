"""Sums of products: of vectors, matrices and axes, and of sequences."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from ... import ops
from ...base.argument_checks import check_one_of, check_type
from ...base.types import AnyDType, Ints, TensorLike
from ...ops.arguments import check_axes, check_broadcast, ints_of, one_axis
from ...tensors.dtype import float32, float64
from ...tensors.tensor import Tensor
from .arrays import as_type, asarray, several, tensors_of

__all__ = ["convolve", "correlate", "cross", "dot", "matmul", "multi_dot", "outer", "tensordot"]


def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Return the cross product of vectors of 2 or 3; for two plane vectors the component perpendicular to the plane.

    Args:
        a: the first vectors.
        b: the second ones; the other axes broadcast.
        axisa: the axis of the vectors in ``a``.
        axisb: the same for ``b``.
        axisc: the same for the result.
        axis: replaces all three, if set.

    Returns:
        a Tensor of vectors of 3; without their axis if both vectors are of 2.

    Raises:
        ValueError: vectors of the wrong length, or shapes that do not broadcast.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = (("a", a, axisa), ("b", b, axisb))
    x, y = (ops.moveaxis(check_axes(asarray(v), 1, "numpy.cross", argument), at, -1) for argument, v, at in vectors)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(
            f"For 'numpy.cross', the axes of the vectors must have length 2 or 3, but got {x.shape} and {y.shape}"
        )
    flat = x.shape[-1] == y.shape[-1] == 2
    shape = check_broadcast("numpy.cross", a=x.shape[:-1], b=y.shape[:-1])
    x, y = (
        ops.broadcast_to(operand if operand.shape[-1] == 3 else ops.pad(operand, (0, 1)), (*shape, 3))
        for operand in (x, y)
    )
    crossed = ops.cross(x, y, -1)
    return crossed[..., 2] if flat else ops.moveaxis(crossed, -1, axisc)


def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the sum of products over the last axis of ``a`` and the last but one (or only one) of ``b``, as in NumPy.

    Args:
        a: numbers; without axes it multiplies all of ``b``.
        b: numbers; without axes it multiplies all of ``a``.

    Returns:
        a Tensor (*axes of a without the last, *axes of b without the summed one).

    Raises:
        ValueError: the lengths of the summed axes differ.
    """
    a, b = asarray(a), asarray(b)
    if not a.ndim or not b.ndim:
        return ops.mul(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return ops.matmul(a, b)
    return tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))


def matmul(x1: TensorLike, x2: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """Return the product of matrices in the last two axes; leading axes broadcast, and a vector is one row or one
    column.

    Args:
        x1: numbers, (..., n, k) or (k,).
        x2: numbers, (..., k, m) or (k,).
        dtype: the dtype of the result; None leaves it.

    Returns:
        a Tensor (..., n, m).

    Raises:
        ValueError: the shapes do not match.
    """
    return as_type(ops.matmul(asarray(x1), asarray(x2)), dtype)


def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[Ints] = 2) -> Tensor:
    """Return the sum of products over axes of both.

    Args:
        a: numbers.
        b: numbers.
        axes: the number of axes: the last ones of ``a`` with the first ones of ``b``; or a pair of an axis or axes of
            ``a`` and those of ``b``, in the same order.

    Returns:
        a Tensor (*the other axes of a, *the other axes of b).

    Raises:
        ValueError: the lengths of the summed axes differ.
    """
    a, b = asarray(a), asarray(b)
    if isinstance(axes, int):
        least = min(a.ndim, b.ndim)
        if not 0 <= axes <= least:
            raise ValueError(f"For 'numpy.tensordot', 'axes' must be in [0, {least}], but got {axes}")
        axes = (tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes)))
    if len(check_type(axes, list | tuple, "numpy.tensordot", "axes", "an int or a pair of axes")) != 2:
        raise ValueError(f"For 'numpy.tensordot', 'axes' must be an int or a pair of axes, but got {axes!r}")
    of_a, of_b = (
        [one_axis(i, x.ndim, "numpy.tensordot") for i in ints_of(axes_of_x, "numpy.tensordot", "axes")]
        for x, axes_of_x in ((a, axes[0]), (b, axes[1]))
    )
    rest_a = [i for i in range(a.ndim) if i not in of_a]
    rest_b = [i for i in range(b.ndim) if i not in of_b]
    length = math.prod(a.shape[i] for i in of_a)
    left = ops.reshape(ops.transpose(a, tuple(rest_a + of_a)), (-1, length))
    right = ops.reshape(ops.transpose(b, tuple(of_b + rest_b)), (length, -1))
    shape = (*(a.shape[i] for i in rest_a), *(b.shape[i] for i in rest_b))
    return ops.reshape(ops.matmul(left, right), shape)


def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """Return the product of each element of one with each of the other.

    Args:
        a: numbers, flattened.
        b: numbers, flattened.

    Returns:
        a matrix with a row for each element of ``a`` and a column for each of ``b``.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    return ops.mul(ops.reshape(asarray(a), (-1, 1)), ops.reshape(asarray(b), (1, -1)))


def multi_dot(arrays: Sequence[TensorLike]) -> Tensor:
    """Return the product of several matrices in the cheapest order of multiplication.

    Args:
        arrays: two matrices or more; the first and the last may be vectors.

    Returns:
        a matrix; a vector or a number if the ends are vectors.

    Raises:
        ValueError: fewer than two matrices, one of other axes, or lengths that do not match.
    """
    matrices = [asarray(matrix) for matrix in several(arrays, "numpy.multi_dot", "arrays")]
    if len(matrices) < 2:
        raise ValueError(f"For 'numpy.multi_dot', 'arrays' must hold 2 matrices at least, but got {len(matrices)}")
    shapes = [matrix.shape for matrix in matrices]
    if any(len(s) != 2 for s in shapes[1:-1]) or any(len(s) not in (1, 2) for s in (shapes[0], shapes[-1])):
        raise ValueError(f"For 'numpy.multi_dot', 'arrays' must be matrices, but got the shapes {shapes}")
    if any(before[-1] != behind[0] for before, behind in itertools.pairwise(shapes)):
        raise ValueError(f"For 'numpy.multi_dot', the matrices must fit each other, but got the shapes {shapes}")
    lengths = [1 if len(shapes[0]) == 1 else shapes[0][0], *(s[0] for s in shapes[1:])]
    lengths.append(1 if len(shapes[-1]) == 1 else shapes[-1][1])

    # best[i, j]: the fewest multiplications for the matrices i to j, and the index at which these are split.
    best: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(matrices))}
    for length in range(1, len(matrices)):
        for i in range(len(matrices) - length):
            j = i + length
            best[i, j] = min(
                (best[i, k][0] + best[k + 1, j][0] + lengths[i] * lengths[k + 1] * lengths[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        k = best[i, j][1]
        return matrices[i] if i == j else ops.matmul(product(i, k), product(k + 1, j))

    return product(0, len(matrices) - 1)


_SHIFTS = ("valid", "same", "full")


def correlate(a: TensorLike, v: TensorLike, mode: str = "valid") -> Tensor:
    """Return the cross-correlation of two sequences: sums of products of ``a`` with ``v`` shifted along it.

    Args:
        a: a vector.
        v: a vector; complex numbers are conjugated.
        mode: the positions of ``v``: "valid": within ``a`` (or ``a`` within it); "same": as many as the longer of both
            has elements; "full": all that overlap.

    Returns:
        a floating or complex vector: Float32 for integers, Float64 for Int64.

    Raises:
        ValueError: one is not a vector or has no elements, or an unknown ``mode``.
    """
    x, y = _sequences(a, v, mode, "correlate")
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        is_double = x.dtype.itemsize == 8
        x, y = (sequence.astype(float64 if is_double else float32) for sequence in (x, y))
    y = ops.conj(y) if y.dtype.is_complex else y
    # For a shorter a, v stays and a is shifted along it: from the other end.
    return _moved_along(x, y, mode) if x.size >= y.size else ops.flip(_moved_along(y, x, mode), (0,))


def convolve(a: TensorLike, v: TensorLike, mode: str = "full") -> Tensor:
    """Return the convolution of two sequences: sums of products of ``a`` with the reversed ``v`` shifted along it.

    Args:
        a: a vector.
        v: a vector.
        mode: the positions of ``v``: "full": all that overlap; "same": as many as the longer of both has elements;
            "valid": within ``a`` (or ``a`` within it).

    Returns:
        a vector of the common dtype.

    Raises:
        ValueError: one is not a vector or has no elements, or an unknown ``mode``.
    """
    x, y = _sequences(a, v, mode, "convolve")
    long, short = (x, y) if x.size >= y.size else (y, x)
    return _moved_along(long, ops.flip(short, (0,)), mode)


def _sequences(a: TensorLike, v: TensorLike, mode: str, name: str) -> tuple[Tensor, ...]:
    check_one_of(mode, _SHIFTS, f"numpy.{name}", "mode")
    sequences = tensors_of(a, v)
    for argument, item in zip("av", sequences, strict=True):
        if item.ndim != 1 or not item.size:
            raise ValueError(
                f"For 'numpy.{name}', '{argument}' must be a vector of one element at least, but got shape {item.shape}"
            )
    return sequences


def _moved_along(long: Tensor, short: Tensor, mode: str) -> Tensor:
    """Return sums of products with the shorter vector at all positions of the mode, from the first one on."""
    if long.dtype.is_complex:
        parts = [(ops.real(sequence), ops.imag(sequence)) for sequence in (long, short)]
        (lr, li), (sr, si) = parts
        real = _moved_along(lr, sr, mode) - _moved_along(li, si, mode)
        return ops.complex(real, _moved_along(lr, si, mode) + _moved_along(li, sr, mode))
    integral = not long.dtype.is_floating_point
    signal, kernel = (sequence.astype(float64) if integral else sequence for sequence in (long, short))
    n = short.size
    before, behind = {"valid": (0, 0), "same": (n // 2, n - 1 - n // 2), "full": (n - 1, n - 1)}[mode]
    padded = ops.pad(signal, (before, behind))
    sums = ops.conv1d(padded[None, None], kernel[None, None])[0, 0]
    return ops.round(sums).astype(long.dtype) if integral else sums
