"""Joining and splitting of tensors, grids and combinations of their elements."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import MOST_NUMBERS, check_at_most, check_one_of, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import Ints
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array
from ..arguments import (
    along,
    check_axes,
    check_integers,
    check_operand,
    check_tensor,
    int_of,
    ints_of,
    one_axis,
    tensors_of,
)
from .concatenation import concat, slice_operator, stack
from .pad import pad
from .rearranging import ravel
from .reshape import broadcast_to, reshape
from .subscripts import getitem_operator

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "cartesian_prod",
    "column_stack",
    "combinations",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "meshgrid",
    "row_stack",
    "tensor_split",
    "unbind",
    "unstack",
    "vsplit",
    "vstack",
]

_MOST_PARTS = 1 << 20
"""The most parts of a split, unless the tensor is longer; each part is a tensor."""


def _each(inputs: Tensor | Sequence[Tensor], name: str, function: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(inputs, list | tuple):
        return tuple([function(check_tensor(x, name)) for x in inputs])
    return function(check_tensor(inputs, name))


def atleast_1d(inputs: Tensor | Sequence[Tensor]) -> Any:
    """Return each tensor with at least one axis: a 0-d one gets one of length 1.

    Args:
        inputs: a tensor, or a tuple or list of tensors.

    Returns:
        A tensor, or a tuple of them, of the same dtypes.

    Raises:
        TypeError: an argument is not a tensor.
    """
    return _each(inputs, "atleast_1d", lambda x: reshape(x, (1,)) if x.ndim == 0 else x)


def atleast_2d(inputs: Tensor | Sequence[Tensor]) -> Any:
    """Return each tensor with at least two axes; new ones, of length 1, come first.

    Args:
        inputs: a tensor, or a tuple or list of tensors.

    Returns:
        A tensor, or a tuple of them, of the same dtypes.

    Raises:
        TypeError: an argument is not a tensor.
    """
    return _each(inputs, "atleast_2d", lambda x: reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x)


def atleast_3d(inputs: Tensor | Sequence[Tensor]) -> Any:
    """Return each tensor with at least three axes, as in NumPy: (n,) as (1, n, 1), (m, n) as (m, n, 1).

    Args:
        inputs: a tensor, or a tuple or list of tensors.

    Returns:
        A tensor, or a tuple of them, of the same dtypes.

    Raises:
        TypeError: an argument is not a tensor.
    """
    shapes: dict[int, Any] = {0: lambda s: (1, 1, 1), 1: lambda s: (1, *s, 1), 2: lambda s: (*s, 1)}
    return _each(inputs, "atleast_3d", lambda x: reshape(x, shapes[x.ndim](x.shape)) if x.ndim < 3 else x)


@declare(primitive=prim("Meshgrid", indexing="xy"))
def meshgrid(*inputs: Tensor | Sequence[Tensor], indexing: str = "xy") -> tuple[Tensor, ...]:
    """Return the coordinates of the points of a grid, as in NumPy: one tensor for each axis.

    Args:
        *inputs: vectors, the positions along each axis, or one tuple or list of them; others are flattened.
        indexing: "xy": the first vector counts along the second axis, the second along the first; "ij": each vector
            counts along its own axis.

    Returns:
        A tuple of tensors, one for each input and of its dtype, all of the shape of the grid.

    Raises:
        ValueError: a ``indexing`` other than "xy" and "ij".
    """
    check_one_of(check_type(indexing, str, "meshgrid", "indexing"), ("xy", "ij"), "meshgrid", "indexing")
    vectors: Any = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], list | tuple) else inputs
    lines = open_grid(vectors, indexing)
    shape = np.broadcast_shapes(*(x.shape for x in lines))
    return tuple(broadcast_to(x, shape) for x in lines)


def open_grid(inputs: Sequence[Tensor], indexing: str) -> list[Tensor]:
    """Return the coordinates along each axis of a grid, each with the axes of the grid, of length 1 except its own.

    Args:
        inputs: the positions along each axis; tensors that are not vectors are flattened.
        indexing: "xy" or "ij", see ``meshgrid``.
    """
    axes = [ravel(x) for x in inputs]
    order = list(range(len(axes)))
    if indexing == "xy" and len(axes) > 1:
        order[0], order[1] = 1, 0
    indices = range(len(axes))
    return [reshape(x, tuple(x.size if k == axis else 1 for k in indices)) for axis, x in zip(order, axes, strict=True)]


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """Return every combination of one element of each input, a row each; the last input changes fastest.

    Args:
        *inputs: vectors.

    Returns:
        A tensor (number of combinations, number of inputs); of one vector, itself.

    Raises:
        ValueError: no input.
    """
    grids = meshgrid(*inputs, indexing="ij")
    return ravel(grids[0]) if len(grids) == 1 else stack([ravel(x) for x in grids], -1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return every choice of ``r`` elements in their order, a row each; as ``itertools.combinations``.

    Args:
        input: a vector.
        r: the number of chosen elements, 0 or above.
        with_replacement: whether an element may be chosen again.

    Returns:
        A tensor (number of choices, r) of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``input`` is not a vector, or ``r`` is negative.
    """
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    if check_tensor(input, "combinations").ndim != 1 or int_of(r, "combinations", "r") < 0:
        raise ValueError(
            f"For 'combinations', 'input' must be a vector and 'r' not negative, but got shape {input.shape} and {r}"
        )
    count = math.comb(input.size + r - 1, r) if with_replacement and r else math.comb(input.size, r)
    if count * r > MOST_NUMBERS:
        raise ValueError(
            f"For 'combinations', 'input' of {input.size} elements has {count} choices of {r}: the result would hold "
            f"more than {MOST_NUMBERS} numbers"
        )
    choices = itertools.chain.from_iterable(choose(range(input.size), r))
    rows = np.fromiter(choices, np.int64, count * r).reshape(count, r)
    return getitem_operator(input, index=(constant_array(array_module(input._array).asarray(rows)),))


def block_diag(*inputs: Tensor) -> Tensor:
    """Return the inputs as the blocks on the diagonal of one matrix, and 0 elsewhere.

    Args:
        *inputs: tensors of at most 2 axes; those with fewer count as one row.

    Returns:
        A matrix; its rows and columns are the sums of theirs.

    Raises:
        TypeError: an argument is not a tensor.
        ValueError: an input with more than two axes, or no input.
    """
    blocks = [atleast_2d(x) for x in tensors_of(inputs, "block_diag", "inputs")]
    for x in blocks:
        if x.ndim > 2:
            raise ValueError(f"For 'block_diag', each input must have at most 2 axes, but got shape {x.shape}")
    width, rows, offset = sum(x.shape[1] for x in blocks), [], 0
    for x in blocks:
        rows.append(pad(x, (offset, width - offset - x.shape[1])))
        offset += x.shape[1]
    return concat(rows, 0)


# Joining and splitting
@declare(mint=True, numpy=renamed(tensors="tup"))
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the second axis, vectors along their first; as in NumPy.

    Args:
        tensors: a tuple or list of tensors that agree in the other axes; 0-d ones count as vectors.

    Returns:
        A tensor.

    Raises:
        TypeError: an argument is not a tensor.
        ValueError: shapes that do not fit, or no tensor.
    """
    parts = [atleast_1d(x) for x in tensors_of(tensors, "hstack", "tensors")]
    return concat(parts, 0 if parts and parts[0].ndim == 1 else 1)


@declare(numpy=renamed(inputs="tup"))
def vstack(inputs: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the first axis, vectors as rows; as in NumPy.

    Args:
        inputs: a tuple or list of tensors that agree in the other axes.

    Returns:
        A tensor of at least 2 axes.

    Raises:
        TypeError: an argument is not a tensor.
        ValueError: shapes that do not fit, or no tensor.
    """
    return concat([atleast_2d(x) for x in tensors_of(inputs, "vstack", "inputs")], 0)


row_stack = vstack


@declare(mint=True, numpy=renamed(tensors="tup"))
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the third axis, each as ``atleast_3d`` returns it; as in NumPy.

    Args:
        tensors: a tuple or list of tensors that agree in the other axes.

    Returns:
        A tensor of at least 3 axes.

    Raises:
        TypeError: an argument is not a tensor.
        ValueError: shapes that do not fit, or no tensor.
    """
    return concat([atleast_3d(x) for x in tensors_of(tensors, "dstack", "tensors")], 2)


@declare(numpy=renamed(tensors="tup"))
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors joined along the second axis, vectors as columns; as in NumPy.

    Args:
        tensors: a tuple or list of tensors that agree in the other axes.

    Returns:
        A tensor of at least 2 axes.

    Raises:
        ValueError: shapes that do not fit, or no tensor.
    """
    columns = tensors_of(tensors, "column_stack", "tensors")
    return concat([reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in columns], 1)


@declare(primitive=prim("Unpack", axis=0))
def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Return the entries along ``axis``, without that axis.

    Args:
        input_x: a tensor of at least 1 axis.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tuple of as many tensors as the axis is long, of the dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = check_operand(check_axes(input_x, 1, "unstack", "input_x"), "unstack", "input_x")
    at = one_axis(axis, x.ndim, "unstack")
    return tuple([getitem_operator(x, index=along(x, at, i)) for i in range(x.shape[at])])


@declare(primitive=prim("Unstack", axis=0, num=None))
def _unstack(x: Tensor, axis: int, num: int | None) -> tuple[Tensor, ...]:
    """Return the entries along ``axis``, without that axis, as ``ops.unstack``.

    Args:
        x: a tensor of at least 1 axis.
        axis: the axis, in [-ndim, ndim).
        num: has no effect: there are as many entries as the axis is long.

    Returns:
        A tuple of tensors of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return unstack(x, axis)


@declare(method=True, mint=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Return the entries along ``dim``, without that axis.

    Args:
        input: a tensor of at least 1 axis.
        dim: the axis, in [-ndim, ndim).

    Returns:
        A tuple of as many tensors as the axis is long, of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return unstack(input, dim)


@declare(method=True, numpy=renamed("array_split", input="x"))
def tensor_split(input: Tensor, indices_or_sections: Ints, axis: int = 0) -> tuple[Tensor, ...]:
    """Return parts along ``axis``: a number of nearly equal length, or cut at indices; as NumPy's ``array_split``.

    Args:
        input: a tensor of at least 1 axis.
        indices_or_sections: the number of parts, of which the first are longer by one if the axis is not a multiple; or
            a tuple or list of the indices to cut before, negative ones from the end.
        axis: the axis to split.

    Returns:
        A tuple of tensors of the dtype of ``input``; a part may have the length 0.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``indices_or_sections`` neither an int nor ints.
        ValueError: less than one part, far more than there are elements, or ``axis`` is out of range.
    """
    x = check_axes(input, 1, "tensor_split")
    at = one_axis(axis, x.ndim, "tensor_split")
    length = x.shape[at]
    if isinstance(indices_or_sections, int) and not isinstance(indices_or_sections, bool):
        if indices_or_sections < 1:
            raise ValueError(f"For 'tensor_split', there must be at least one part, but got {indices_or_sections}")
        check_at_most(indices_or_sections, max(length, _MOST_PARTS), "tensor_split", "indices_or_sections")
        size, remainder = divmod(length, indices_or_sections)
        cuts = [i * size + min(i, remainder) for i in range(indices_or_sections + 1)]
    else:
        cuts = [0, *ints_of(indices_or_sections, "tensor_split", "indices_or_sections"), length]
    bounds = [min(max(c + length if c < 0 else c, 0), length) for c in cuts]
    return tuple([slice_operator(x, axis=at, start=a, stop=max(a, b)) for a, b in itertools.pairwise(bounds)])


def _split_along(name: str, axis: int, least: int) -> Callable[[Tensor, Ints], tuple[Tensor, ...]]:
    def parts(input: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        return tensor_split(check_axes(input, least, name), indices_or_sections, axis)

    parts.__name__ = parts.__qualname__ = name
    parts.__doc__ = f"""Parts along axis {axis}: a number of nearly equal length, or cut at indices.

    Args:
        input: a tensor of at least {least} axes.
        indices_or_sections: how many parts, of which the first are longer by one if the axis is not a multiple; or a
            tuple or list of the indices before which is cut, negative ones from the end.

    Returns:
        A tuple of tensors of the dtype of ``input``; a part may have the length 0.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``indices_or_sections`` neither an int nor ints.
        ValueError: ``input`` has fewer axes, or less than one part.
    """
    return parts


hsplit = declare(method=True)(_split_along("hsplit", 1, 2))
vsplit = declare(method=True)(_split_along("vsplit", 0, 2))
dsplit = declare(method=True)(_split_along("dsplit", 2, 3))


@declare(primitive=prim("ConcatOffsetV1"))
def _concat_offset(axis: Tensor, x: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return where each of several tensors begins in their concatenation, from their shapes.

    Args:
        axis: the axis of the concatenation, an Int32 tensor without axes.
        x: the shapes, Int32 vectors of one length that agree except along the axis.

    Returns:
        For each of them an Int32 vector: 0, but along the axis the sum of the lengths before.

    Raises:
        TypeError: an argument is not a Tensor of integers, or ``x`` is not a tuple.
        ValueError: the axis does not exist, or the shapes do not fit together.
    """
    name = "ConcatOffsetV1"
    shapes = [ints_of(check_integers(value, name, "x"), name, "x") for value in check_type(x, list | tuple, name, "x")]
    index = check_integers(axis, name, "axis")
    if index.ndim or not shapes:
        raise ValueError(f"For '{name}', 'axis' must have no axes, and 'x' a shape, but got {index.shape} and {x}")
    at = one_axis(int(index), len(shapes[0]), name)
    offsets, begin = [], 0
    for shape in shapes:
        if len(shape) != len(shapes[0]) or any(
            value != expected for i, (value, expected) in enumerate(zip(shape, shapes[0], strict=True)) if i != at
        ):
            raise ValueError(f"For '{name}', 'x' must agree but along axis {at}, but got {shapes}")
        offsets.append(Tensor([begin if i == at else 0 for i in range(len(shape))], x[0].dtype))
        begin += shape[at]
    return tuple(offsets)
