"""Tensors joined and cut apart, grids and combinations of their elements."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import along, check_tensor, ints_of, one_axis
from .indexing import getitem_operator
from .rearranging import ravel
from .shape import broadcast_to, concat, pad, reshape, slice_operator, stack

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "cartesian_prod", "column_stack", "combinations", "dsplit",
    "dstack", "hsplit", "hstack", "meshgrid", "row_stack", "tensor_split", "unbind", "unstack", "vsplit", "vstack",
]  # fmt: skip


def _each(inputs: Any, name: str, function: Any) -> Any:
    if isinstance(inputs, list | tuple):
        return tuple([function(check_tensor(x, name)) for x in inputs])
    return function(check_tensor(inputs, name))


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
    rows = np.array(list(choose(range(check_tensor(input, "combinations").size), r)), np.int64).reshape(-1, r)
    return getitem_operator(input, index=(array_module(input._array).asarray(rows),))


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
    x = check_tensor(input_x, "unstack", "input_x")
    at = one_axis(axis, x.ndim, "unstack")
    return tuple([getitem_operator(x, index=along(x, at, i)) for i in range(x.shape[at])])


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
    x = check_tensor(input, "tensor_split")
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
    return tuple([slice_operator(x, axis=at, start=a, stop=max(a, b)) for a, b in itertools.pairwise(bounds)])


def _split_along(name: str, axis: int, least: int) -> Any:
    def parts(input: Tensor, indices_or_sections: Any) -> tuple[Any, ...]:
        ndim = check_tensor(input, name).ndim
        if ndim < least:
            raise ValueError(f"For '{name}', 'input' must have at least {least} axes, but got shape {input.shape}")
        return tensor_split(input, indices_or_sections, axis)

    parts.__name__ = parts.__qualname__ = name
    parts.__doc__ = f"The parts along axis {axis}, as ``tensor_split`` cuts them."
    return parts


hsplit = declare(method=True)(_split_along("hsplit", 1, 2))
vsplit = declare(method=True)(_split_along("vsplit", 0, 2))
dsplit = declare(method=True)(_split_along("dsplit", 2, 3))
