"""More operators that only move elements: rolling, repeating, triangles, diagonals, stacking and splitting by axis."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import int32, int64, numpy_dtype
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic
from .indexing import _getitem, _scatter_add, _setitem
from .reduction import axes_of
from .shape import (
    _check,
    _pad_by_axis,
    _slice,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    ints_of,
    pad,
    reshape,
    stack,
    swapaxes,
    transpose,
)  # fmt: skip

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "batch_to_space_nd", "block_diag", "cartesian_prod", "column_stack",
    "combinations", "diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "dsplit", "dstack", "expand",
    "expand_as", "fliplr", "flipud", "hsplit", "hstack", "matrix_band_part", "meshgrid", "moveaxis", "movedim",
    "narrow", "ravel", "repeat_elements", "repeat_interleave", "reverse", "reverse_sequence", "roll", "rot90",
    "row_stack", "select_scatter", "sequence_mask", "slice", "slice_scatter", "space_to_batch_nd", "strided_slice",
    "swapdims", "t", "tensor_slice", "tensor_split", "trace", "tril", "tril_indices", "triu", "triu_indices", "unbind",
    "unstack", "vander", "view_as", "vsplit", "vstack",
]  # fmt: skip

_whole = builtins.slice  # below, ``slice`` is MindSpore's operator


def one_axis(axis: Any, ndim: int, name: str) -> int:
    """An axis as an int in [0, ndim).

    Raises:
        TypeError: it is no int.
        ValueError: it is out of range.
    """
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise TypeError(f"For '{name}', 'axis' must be an int, but got {type(axis).__name__}")
    return (axes_of(int(axis), ndim, name) or (0,))[0]


def along(x: Any, axis: int, part: Any) -> tuple[Any, ...]:
    """The index that takes ``part`` of one axis and all of those before it."""
    return (_whole(None),) * axis + (part,)


# Order


@declare(method=True, mint=True)
def t(input: Tensor) -> Any:
    """A matrix transposed; what has fewer axes stays.

    Raises:
        ValueError: more than two axes.
    """
    if _check(input, "t").ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 axes, but got shape {input.shape}")
    return transpose(input) if input.ndim == 2 else input


swapdims = swapaxes


@declare(method=("moveaxis", "movedim"), numpy=renamed("moveaxis", x="a"))
def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes ``source`` moved to the places ``destination``; the others keep their order.

    Raises:
        ValueError: different numbers of axes.
    """
    ndim = _check(x, "movedim", "x").ndim
    wanted = [axes_of(ints_of(v, "movedim", n), ndim, "movedim") or (0,)
              for v, n in ((source, "source"), (destination, "destination"))]  # fmt: skip
    if len(wanted[0]) != len(wanted[1]):
        raise ValueError(f"For 'movedim', as many 'source' as 'destination' axes, but got {source} and {destination}")
    order = [i for i in range(ndim) if i not in wanted[0]]
    for to, origin in sorted(zip(wanted[1], wanted[0], strict=True)):
        order.insert(to, origin)
    return transpose(x, tuple(order)) if ndim else x


moveaxis = movedim


@declare(method=True, primitive=prim("Roll", "shifts", dims=None), mint=True)
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Any:
    """Elements moved on by ``shifts`` along ``dims``, those that fall off the end coming back at the start."""
    x = _check(input, "roll")
    steps = ints_of(shifts, "roll", "shifts")
    if dims is None:
        return reshape(roll(reshape(x, (-1,)), steps, 0), x.shape) if x.size else x
    axes = ints_of(dims, "roll", "dims")
    if len(steps) != len(axes):
        raise ValueError(f"For 'roll', 'shifts' and 'dims' must have one length, but got {shifts} and {dims}")
    for step, axis in zip(steps, axes, strict=True):
        at = one_axis(axis, x.ndim, "roll")
        length = x.shape[at]
        cut = (length - step) % length if length else 0
        if cut:
            tail = _slice(x, axis=at, start=cut, stop=length)
            x = concat([tail, _slice(x, axis=at, start=0, stop=cut)], at)
    return x


@declare(method=True, numpy=renamed(input="m", dims="axes", defaults={"k": 1, "dims": (0, 1)}))
def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Any:
    """Rotated ``k`` quarter turns in the plane of the two axes ``dims``."""
    x = _check(input, "rot90")
    first, second = (one_axis(d, x.ndim, "rot90") for d in dims)
    if first == second:
        raise ValueError(f"For 'rot90', 'dims' must be two different axes, but got {dims}")
    turns = k % 4
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if turns == 3 else flip(flip(x, first), first)


@declare(method=True, numpy=renamed(input="m"))
def fliplr(input: Tensor) -> Any:
    """The second axis reversed."""
    return flip(input, 1)


@declare(method=True, numpy=renamed(input="m"))
def flipud(input: Tensor) -> Any:
    """The first axis reversed."""
    return flip(input, 0)


@declare(method=True, primitive=prim("ReverseV2", "axis"))
def reverse(x: Tensor, axis: Any) -> Any:
    """The order reversed along the axes ``axis``."""
    return flip(x, axis)


@declare(method=True, primitive=prim("ReverseSequence", "seq_dim", batch_dim=0))
def reverse_sequence(x: Tensor, seq_lengths: Tensor, seq_dim: int, batch_dim: int = 0) -> Any:
    """In each entry of the batch, the first ``seq_lengths`` elements reversed."""
    at, batch = one_axis(seq_dim, x.ndim, "reverse_sequence"), one_axis(batch_dim, x.ndim, "reverse_sequence")
    xp = array_module(x._array)
    places = xp.arange(x.shape[at])
    lengths = seq_lengths._array.reshape(-1, 1)
    order = xp.where(places < lengths, lengths - 1 - places, places)
    rows = xp.arange(x.shape[batch]).reshape(-1, 1)
    moved = movedim(x, (batch, at), (0, 1))
    return movedim(_getitem(moved, index=(rows, order)), (0, 1), (batch, at))


# Shape


@declare(method=True, mint=True)
def ravel(input: Tensor) -> Tensor:
    """All elements in one axis."""
    return reshape(input, (-1,)) if _check(input, "ravel").size else reshape(input, (0,))


@declare(method=("view_as", "reshape_as"))
def view_as(input: Tensor, other: Tensor) -> Any:
    """The elements in the shape of ``other``."""
    return reshape(input, _check(other, "view_as", "other").shape)


@declare(method=True)
def expand_as(input: Tensor, other: Tensor) -> Any:
    """Repeated to the shape of ``other``."""
    return broadcast_to(input, _check(other, "expand_as", "other").shape)


@declare(method=True)
def expand(input_x: Tensor, *size: Any) -> Any:
    """Repeated to the shape ``size``; -1 keeps an axis."""
    return broadcast_to(input_x, size[0] if len(size) == 1 and not isinstance(size[0], int) else size)


def _each(inputs: Any, name: str, function: Any) -> Any:
    if isinstance(inputs, list | tuple):
        return tuple([function(_check(x, name)) for x in inputs])
    return function(_check(inputs, name))


def atleast_1d(inputs: Any) -> Any:
    """Each tensor with at least one axis."""
    return _each(inputs, "atleast_1d", lambda x: reshape(x, (1,)) if x.ndim == 0 else x)


def atleast_2d(inputs: Any) -> Any:
    """Each tensor with at least two axes, new ones in front."""
    return _each(inputs, "atleast_2d", lambda x: reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x)


def atleast_3d(inputs: Any) -> Any:
    """Each tensor with at least three axes: (n,) as (1, n, 1), (m, n) as (m, n, 1)."""
    shapes: dict[int, Any] = {0: lambda s: (1, 1, 1), 1: lambda s: (1, *s, 1), 2: lambda s: (*s, 1)}
    return _each(inputs, "atleast_3d", lambda x: reshape(x, shapes[x.ndim](x.shape)) if x.ndim < 3 else x)


# Repeating


@declare(numpy=renamed("repeat", input="a"))
def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element along ``axis`` (of all, flattened, without it) ``repeats`` times, one number or one for each."""
    x = _check(input, "repeat_interleave") if isinstance(input, Tensor) else Tensor(input)
    if axis is None:
        x, axis = ravel(x), 0
    at = one_axis(axis, x.ndim, "repeat_interleave")
    times = ints_of(repeats, "repeat_interleave", "repeats")
    if any(n < 0 for n in times):
        raise ValueError(f"For 'repeat_interleave', 'repeats' must not be negative, but got {repeats}")
    if len(times) == 1:
        spread = broadcast_to(expand_dims(x, at + 1), (*x.shape[: at + 1], times[0], *x.shape[at + 1 :]))
        return reshape(spread, (*x.shape[:at], x.shape[at] * times[0], *x.shape[at + 1 :]))
    if len(times) != x.shape[at]:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must be one number or {x.shape[at]}, but got {len(times)}"
        )
    order = array_module(x._array).asarray(np.repeat(np.arange(x.shape[at]), times))
    return _getitem(x, index=along(x, at, order))


@declare(method="repeat_interleave")
def _repeat_interleave_of_tensor(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element along ``dim`` (of all, flattened, without it) ``repeats`` times."""
    return repeat_interleave(input, repeats, dim)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Any:
    """Each element along ``axis`` ``rep`` times.

    Raises:
        ValueError: ``rep`` is not positive.
    """
    if rep <= 0:
        raise ValueError(f"For 'repeat_elements', 'rep' must be positive, but got {rep}")
    return repeat_interleave(x, rep, axis)


@declare(primitive=prim("Meshgrid", indexing="xy"))
def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, one tensor for each axis.

    Raises:
        ValueError: another ``indexing`` than "xy" and "ij".
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"For 'meshgrid', 'indexing' must be 'xy' or 'ij', but got {indexing!r}")
    axes = [ravel(x) for x in (inputs[0] if len(inputs) == 1 and isinstance(inputs[0], list | tuple) else inputs)]
    order = list(range(len(axes)))
    if indexing == "xy" and len(axes) > 1:
        order[0], order[1] = 1, 0
    shape = [1] * len(axes)
    for place, x in zip(order, axes, strict=True):
        shape[place] = x.size
    found = []
    for place, x in zip(order, axes, strict=True):
        own = [1] * len(axes)
        own[place] = x.size
        found.append(broadcast_to(reshape(x, tuple(own)), tuple(shape)))
    return tuple(found)


def cartesian_prod(*inputs: Tensor) -> Any:
    """Every combination of one element of each input, a row each."""
    grids = meshgrid(*inputs, indexing="ij")
    return ravel(grids[0]) if len(grids) == 1 else stack([ravel(x) for x in grids], -1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """Every choice of ``r`` elements, a row each."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(_check(input, "combinations").size), r)), np.int64).reshape(-1, r)
    return _getitem(input, index=(array_module(input._array).asarray(rows),))


# Triangles and diagonals


def _band(x: Tensor, name: str, keep: Any) -> Tensor:
    if _check(x, name).ndim < 2:
        raise ValueError(f"For '{name}', 'input' must have at least 2 axes, but got shape {x.shape}")
    xp = array_module(x._array)
    rows, columns = xp.arange(x.shape[-2])[:, None], xp.arange(x.shape[-1])
    return arithmetic.where(Tensor._wrap(keep(columns - rows)), x, False if x._array.dtype.kind == "b" else 0)


@declare(method=True, primitive=prim("Tril", diagonal=0), mint=True)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle; 0 above the ``diagonal``-th diagonal."""
    return _band(input, "tril", lambda apart: apart <= diagonal)


@declare(method=True, primitive=prim("Triu", diagonal=0), mint=True)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle; 0 below the ``diagonal``-th diagonal."""
    return _band(input, "triu", lambda apart: apart >= diagonal)


@declare(primitive=prim("MatrixBandPart"))
def matrix_band_part(x: Tensor, lower: Any, upper: Any) -> Any:
    """The matrix with ``lower`` diagonals below and ``upper`` above the main one kept; negative keeps all."""
    below, above = int(lower), int(upper)
    return _band(x, "matrix_band_part", lambda d: ((d >= -below) | (below < 0)) & ((d <= above) | (above < 0)))


def _indices(keep: Any, row: int, col: int, dtype: Any) -> Any:
    return Tensor(np.stack(np.nonzero(keep(np.arange(col) - np.arange(row)[:, None]))).astype(numpy_dtype(dtype)))


@declare(primitive=prim("TrilIndices", "row", "col", offset=0, dtype=int32))
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Any:
    """Where the lower triangle of a (row, col) matrix is: two rows of indices."""
    return _indices(lambda apart: apart <= offset, row, col, dtype)


@declare(primitive=prim("TriuIndices", "row", "col", offset=0, dtype=int32))
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Any:
    """Where the upper triangle of a (row, col) matrix is: two rows of indices."""
    return _indices(lambda apart: apart >= offset, row, col, dtype)


def _diagonal_places(x: Any, rows: int, columns: int, offset: int) -> tuple[Any, ...]:
    xp = array_module(x)
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    return (Ellipsis, xp.arange(count) - min(offset, 0), xp.arange(count) + max(offset, 0))


@declare(method=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the planes (dim1, dim2), as a new last axis.

    Raises:
        ValueError: fewer than two axes, or one axis twice.
    """
    if _check(input, "diagonal").ndim < 2:
        raise ValueError(f"For 'diagonal', 'input' must have at least 2 axes, but got shape {input.shape}")
    moved = _planes_last(input, dim1, dim2, "diagonal")
    return _getitem(moved, index=_diagonal_places(moved._array, moved.shape[-2], moved.shape[-1], offset))


def _planes_last(x: Tensor, dim1: int, dim2: int, name: str) -> Tensor:
    first, second = one_axis(dim1, x.ndim, name), one_axis(dim2, x.ndim, name)
    if first == second:
        raise ValueError(f"For '{name}', the two axes must differ, but got {dim1} and {dim2}")
    return movedim(x, (first, second), (x.ndim - 2, x.ndim - 1))


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices in the axes (dim1, dim2) with the last axis of the input on their diagonals."""
    x = _check(input, "diag_embed")
    if x.ndim < 1:
        raise ValueError("For 'diag_embed', 'input' must have at least 1 axis, but got a 0-d tensor")
    side = x.shape[-1] + abs(offset)
    index = _diagonal_places(x._array, side, side, offset)
    full = _scatter_add(x, index=index, shape=(*x.shape[:-1], side, side))
    return movedim(full, (full.ndim - 2, full.ndim - 1), (dim1, dim2))


@declare(method=True, primitive=prim("Diag"))
def diag(input: Tensor) -> Any:
    """Twice the axes, with the elements where both halves of an index agree and 0 elsewhere.

    Raises:
        ValueError: a 0-d tensor.
    """
    if _check(input, "diag").ndim < 1:
        raise ValueError("For 'diag', 'input' must have at least 1 axis, but got a 0-d tensor")
    return reshape(diag_embed(ravel(input)), (*input.shape, *input.shape))


@declare(primitive=prim("DiagPart"))
def _diag_part(x: Tensor) -> Tensor:
    """The elements where both halves of an index agree; the inverse of ``diag``."""
    half = x.shape[: x.ndim // 2]
    return reshape(diagonal(reshape(x, (math.prod(half), -1))), half)


def diag_ext(input: Tensor, diagonal: int = 0) -> Any:
    """A matrix with the vector on its ``diagonal``; of a matrix, its diagonal. ``mint.diag``."""
    x = _check(input, "diag")
    if x.ndim == 2:
        return _getitem(x, index=_diagonal_places(x._array, x.shape[0], x.shape[1], diagonal))
    if x.ndim != 1:
        raise ValueError(f"For 'diag', 'input' must have 1 or 2 axes, but got shape {x.shape}")
    return diag_embed(x, diagonal)


@declare(method=True)
def diagflat(input: Tensor, offset: int = 0) -> Any:
    """A matrix with all elements on its diagonal."""
    return diag_embed(ravel(input), offset)


@declare(method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with ``src`` on its diagonals.

    Raises:
        ValueError: ``src`` has not the shape of the diagonals.
    """
    moved = _planes_last(_check(input, "diagonal_scatter"), dim1, dim2, "diagonal_scatter")
    index = _diagonal_places(moved._array, moved.shape[-2], moved.shape[-1], offset)
    wanted = (*moved.shape[:-2], len(index[1]))
    if src.shape != wanted:
        raise ValueError(f"For 'diagonal_scatter', 'src' must have the shape {wanted}, but got {src.shape}")
    written = _setitem(moved, src, index=index)
    return movedim(written, (written.ndim - 2, written.ndim - 1), (dim1, dim2))


@declare(primitive=prim("Trace"), mint=True)
def trace(input: Tensor) -> Any:
    """The sum of a matrix's diagonal."""
    from .reduction import reduce_sum

    if _check(input, "trace").ndim != 2:
        raise ValueError(f"For 'trace', 'input' must have 2 axes, but got shape {input.shape}")
    return reduce_sum(diagonal(input))


@declare(method="trace")
def _trace_of_tensor(input: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sums of the diagonals, in the tensor's own dtype without ``dtype``."""
    from . import reduction

    return reduction.sum(diagonal(input, offset, axis1, axis2), -1, dtype=dtype or input.dtype)


def block_diag(*inputs: Tensor) -> Any:
    """The inputs as the blocks on the diagonal of one matrix.

    Raises:
        ValueError: an input with more than two axes.
    """
    blocks = [atleast_2d(x) for x in inputs]
    for x in blocks:
        if x.ndim > 2:
            raise ValueError(f"For 'block_diag', each input must have at most 2 axes, but got shape {x.shape}")
    width, rows, before = sum(x.shape[1] for x in blocks), [], 0
    for x in blocks:
        rows.append(pad(x, (before, width - before - x.shape[1])))
        before += x.shape[1]
    return concat(rows, 0)


def vander(x: Tensor, N: int | None = None) -> Any:
    """The powers N - 1 .. 0 of each element, a row each.

    Raises:
        ValueError: x is no vector, or N is negative.
    """
    if _check(x, "vander", "x").ndim != 1 or (N or 0) < 0:
        raise ValueError(f"For 'vander', 'x' must be a vector and 'N' not negative, but got {x.shape} and {N}")
    powers = np.arange((x.size if N is None else N) - 1, -1, -1)
    return arithmetic.pow(expand_dims(x, 1), Tensor(powers))


# Joining and splitting


@declare(mint=True, numpy=renamed(tensors="tup"))
def hstack(tensors: Sequence[Tensor]) -> Any:
    """Joined along the second axis, vectors along their first."""
    parts = [atleast_1d(x) for x in tensors]
    return concat(parts, 0 if parts and parts[0].ndim == 1 else 1)


@declare(numpy=renamed(inputs="tup"))
def vstack(inputs: Sequence[Tensor]) -> Tensor:
    """Joined along the first axis, vectors as rows."""
    return concat([atleast_2d(x) for x in inputs], 0)


row_stack = vstack


@declare(mint=True, numpy=renamed(tensors="tup"))
def dstack(tensors: Sequence[Tensor]) -> Any:
    """Joined along the third axis."""
    return concat([atleast_3d(x) for x in tensors], 2)


@declare(numpy=renamed(tensors="tup"))
def column_stack(tensors: Sequence[Tensor]) -> Any:
    """Joined along the second axis, vectors as columns."""
    return concat([reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in tensors], 1)


@declare(primitive=prim("Unpack", axis=0))
def unstack(input_x: Tensor, axis: int = 0) -> tuple[Any, ...]:
    """The entries along ``axis``, without that axis."""
    x = _check(input_x, "unstack", "input_x")
    at = one_axis(axis, x.ndim, "unstack")
    return tuple([_getitem(x, index=along(x, at, i)) for i in range(x.shape[at])])


declare(primitive=prim("Unstack", axis=0, num=None))(lambda x, axis, num: unstack(x, axis))


@declare(method=True, mint=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Any, ...]:
    """The entries along ``dim``, without that axis."""
    return unstack(input, dim)


@declare(method=True)
def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """Parts along ``axis``: so many of nearly equal length, or cut at the indices.

    Raises:
        TypeError: neither an int nor ints.
        ValueError: less than one part.
    """
    x = _check(input, "tensor_split")
    at = one_axis(axis, x.ndim, "tensor_split")
    length = x.shape[at]
    if isinstance(indices_or_sections, int) and not isinstance(indices_or_sections, bool):
        if indices_or_sections < 1:
            raise ValueError(f"For 'tensor_split', there must be at least one part, but got {indices_or_sections}")
        size, more = divmod(length, indices_or_sections)
        cuts = [i * size + min(i, more) for i in range(indices_or_sections + 1)]
    else:
        cuts = [0, *ints_of(indices_or_sections, "tensor_split", "indices_or_sections"), length]
    bounds = [min(max(c + length if c < 0 else c, 0), length) for c in cuts]
    return tuple([_slice(x, axis=at, start=a, stop=max(a, b)) for a, b in itertools.pairwise(bounds)])


def _split_along(name: str, axis: int, least: int) -> Any:
    def parts(input: Tensor, indices_or_sections: Any) -> tuple[Any, ...]:
        ndim = _check(input, name).ndim
        if ndim < least:
            raise ValueError(f"For '{name}', 'input' must have at least {least} axes, but got shape {input.shape}")
        return tensor_split(input, indices_or_sections, axis)

    parts.__name__ = parts.__qualname__ = name
    parts.__doc__ = f"The parts along axis {axis}, as ``tensor_split`` cuts them."
    return parts


hsplit = declare(method=True)(_split_along("hsplit", 1, 2))
vsplit = declare(method=True)(_split_along("vsplit", 0, 2))
dsplit = declare(method=True)(_split_along("dsplit", 2, 3))


# Parts


@declare(method=True, mint=renamed(axis="dim"))
def narrow(input: Tensor, axis: int, start: int, length: int) -> Any:
    """``length`` entries along ``axis`` from ``start`` on.

    Raises:
        ValueError: they are not there.
    """
    x = _check(input, "narrow")
    at = one_axis(axis, x.ndim, "narrow")
    begin = int(start) + (x.shape[at] if int(start) < 0 else 0)
    if not 0 <= begin <= begin + length <= x.shape[at]:
        raise ValueError(
            f"For 'narrow', 'start' and 'length' must lie in axis {axis} of {x.shape}, but got {start}, {length}"
        )
    return _slice(x, axis=at, start=begin, stop=begin + int(length))


@declare(primitive=prim("Slice"))
def slice(input_x: Tensor, begin: Any, size: Any) -> Any:
    """The part from ``begin`` on of shape ``size``; -1 takes all that is left of an axis."""
    x = _check(input_x, "slice", "input_x")
    starts, lengths = ints_of(begin, "slice", "begin"), ints_of(size, "slice", "size")
    if len(starts) != x.ndim or len(lengths) != x.ndim:
        raise ValueError(f"For 'slice', 'begin' and 'size' must have {x.ndim} entries, but got {starts} and {lengths}")
    stops = [n if k == -1 else b + k for b, k, n in zip(starts, lengths, x.shape, strict=True)]
    if any(not 0 <= b <= e <= n for b, e, n in zip(starts, stops, x.shape, strict=True)):
        raise ValueError(f"For 'slice', {starts} and {lengths} do not lie in the shape {x.shape}")
    return _getitem(x, index=tuple([_whole(b, e) for b, e in zip(starts, stops, strict=True)]))


tensor_slice = slice


@declare(primitive=prim("StridedSlice", begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0))
def strided_slice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """``input_x[begin:end:strides]`` axis by axis; a bit of a mask changes what the entry of its place means.

    Raises:
        ValueError: the three have different lengths, or a stride is 0.
    """
    x = _check(input_x, "strided_slice", "input_x")
    starts, stops, steps = (ints_of(v, "strided_slice", "begin, end and strides") for v in (begin, end, strides))
    if not len(starts) == len(stops) == len(steps) or 0 in steps:
        raise ValueError(
            "For 'strided_slice', 'begin', 'end' and 'strides' must have one length and no stride may be 0, "
            f"but got {starts}, {stops}, {steps}"
        )
    index: list[Any] = []
    for place, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << place
        if ellipsis_mask & bit:
            index.append(Ellipsis)
        elif new_axis_mask & bit:
            index.append(None)
        elif shrink_axis_mask & bit:
            index.append(start)
        else:
            index.append(_whole(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return _getitem(x, index=tuple(index))


@declare(method=True)
def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Any:
    """The tensor with ``src`` as its entry ``index`` along ``axis``."""
    x = _check(input, "select_scatter")
    return _setitem(x, src, index=along(x, one_axis(axis, x.ndim, "select_scatter"), index))


@declare(method=True)
def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    """The tensor with ``src`` written over the slice start:end:step of ``axis``."""
    x = _check(input, "slice_scatter")
    return _setitem(x, src, index=along(x, one_axis(axis, x.ndim, "slice_scatter"), _whole(start, end, step)))


def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Any:
    """For each length a row of ``maxlen`` bools, the first so many of them True."""
    counts = _check(lengths, "sequence_mask", "lengths")._array
    longest = int(counts.max()) if maxlen is None else maxlen
    return Tensor._wrap(array_module(counts).arange(longest) < counts[..., None])


def _blocks(block: Any, spatial: int, name: str) -> tuple[int, ...]:
    sizes = ints_of(block, name, "block_size")
    return sizes * spatial if len(sizes) == 1 else sizes


@declare(primitive=prim("SpaceToBatch", "block_size", "paddings"))
def space_to_batch_nd(input_x: Tensor, block_size: Any, paddings: Any) -> Any:
    """Blocks of the last axes as entries of the batch, after padding with 0."""
    first = input_x.ndim - len(paddings)
    sizes = _blocks(block_size, len(paddings), "space_to_batch_nd")
    x = _pad_by_axis(input_x, paddings)
    batch, kept, outer = x.shape[0], x.shape[1:first], [n // b for n, b in zip(x.shape[first:], sizes, strict=True)]
    split = reshape(x, (batch, *kept, *(n for pair in zip(outer, sizes, strict=True) for n in pair)))
    order = [first + 2 * i + 1 for i in range(len(sizes))] + list(range(first))
    moved = transpose(split, (*order, *(first + 2 * i for i in range(len(sizes)))))
    return reshape(moved, (batch * math.prod(sizes), *kept, *outer))


declare(primitive=prim("SpaceToBatchND", "block_shape", "paddings"))(
    lambda x, block_shape, paddings: space_to_batch_nd(x, block_shape, paddings)
)


@declare(primitive=prim("BatchToSpaceND", "block_shape", "crops"))
def batch_to_space_nd(input_x: Tensor, block_shape: Any, crops: Any) -> Any:
    """The inverse of ``space_to_batch_nd``: blocks back in their places, ``crops`` cut off."""
    first, count = input_x.ndim - len(crops), len(crops)
    sizes = _blocks(block_shape, count, "batch_to_space_nd")
    batch = input_x.shape[0] // math.prod(sizes)
    kept, outer = input_x.shape[1:first], input_x.shape[first:]
    split = reshape(input_x, (*sizes, batch, *kept, *outer))
    pairs = [n for i in range(count) for n in (count + first + i, i)]
    joined = transpose(split, (*range(count, count + first), *pairs))
    full = reshape(joined, (batch, *kept, *(n * b for n, b in zip(outer, sizes, strict=True))))
    for place, (before, after) in enumerate(crops):
        full = _slice(full, axis=first + place, start=before, stop=full.shape[first + place] - after)
    return full


declare(primitive=prim("BatchToSpace", "block_size", "crops"))(
    lambda x, block_size, crops: batch_to_space_nd(x, block_size, crops)
)
