"""Elements picked by index tensors: gather, take, masked_select, nonzero."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic
from .arguments import along, check_tensor, one_axis
from .indexing import getitem_operator
from .rearranging import ravel
from .shape import broadcast_to, expand_dims, reshape, stack

__all__ = [
    "argwhere", "gather", "gather_d", "gather_elements", "gather_nd", "index_select", "masked_select", "nonzero",
    "take",
]  # fmt: skip


def _integers(value: Tensor, name: str, argument: str) -> Tensor:
    x = value if isinstance(value, Tensor) else Tensor(value)
    if x._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must hold integers, but got {x.dtype}")
    return x


def check_in_range(index: Any, length: int, name: str) -> None:
    if index.size and (int(index.max()) >= length or int(index.min()) < -length):
        raise RuntimeError(
            f"For '{name}', indices must be in [{-length}, {length}), but got {index.min()}..{index.max()}"
        )


# Picking
@declare(primitive=(prim("Gather", batch_dims=0), prim("GatherV2"), prim("SparseGatherV2")))
def gather(input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    """The entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes are paired up.

    Raises:
        RuntimeError: an index out of range.
    """
    x, i = check_tensor(input_params, "gather", "input_params"), _integers(input_indices, "gather", "input_indices")
    at = one_axis(int(axis) if isinstance(axis, Tensor) else axis, x.ndim, "gather")
    check_in_range(i._array, x.shape[at], "gather")
    if not batch_dims:
        return getitem_operator(x, index=along(x, at, i._array))
    xp, batch = array_module(x._array), batch_dims % i.ndim
    before = [xp.arange(n).reshape((-1,) + (1,) * (at + i.ndim - batch - k - 1)) for k, n in enumerate(x.shape[:at])]
    own = i._array.reshape(i.shape[:batch] + (1,) * (at - batch) + i.shape[batch:])
    return getitem_operator(x, index=(*before, own))


@declare(method="gather")
def _gather_of_tensor(
    input: Tensor, first: Any = None, second: Any = None, batch_dims: int = 0, **named: Any
) -> Tensor:
    """``gather(dim, index)`` picks element by element, ``gather(input_indices, axis)`` whole entries."""
    if "dim" in named or "index" in named or isinstance(first, int):
        return gather_elements(input, named.get("dim", first), named.get("index", second))
    return gather(input, named.get("input_indices", first), named.get("axis", second), batch_dims)


def _grid(shape: tuple[int, ...], axis: int, index: Any) -> tuple[Any, ...]:
    """The index of every element of ``index``, with ``index`` itself for ``axis``."""
    xp = array_module(index)
    ranges = [xp.arange(n).reshape((-1,) + (1,) * (len(shape) - k - 1)) for k, n in enumerate(shape)]
    ranges[axis] = index
    return tuple(ranges)


@declare(method=True, mint="gather")
def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """``input[i][index[i][j]]`` for each element of ``index``, along ``dim``.

    Raises:
        ValueError: another number of axes, or more elements along another axis than the input has.
    """
    x, i = check_tensor(input, "gather_elements"), _integers(index, "gather_elements", "index")
    at = one_axis(dim, x.ndim, "gather_elements")
    _same_axes(x, i, at, "gather_elements")
    if x.ndim == 0:
        return reshape(x, ())
    return getitem_operator(x, index=_grid(i.shape, at, i._array))


def _same_axes(x: Tensor, i: Tensor, at: int, name: str) -> None:
    if i.ndim != x.ndim or any(n > m for k, (n, m) in enumerate(zip(i.shape, x.shape, strict=True)) if k != at):
        raise ValueError(f"For '{name}', 'index' of shape {i.shape} does not fit 'input' of shape {x.shape}")
    if x.ndim:
        check_in_range(i._array, x.shape[at], name)


@declare(primitive=prim("GatherD"))
def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``gather_elements`` under its older name."""
    return gather_elements(x, dim, index)


def _rows(indices: Tensor) -> tuple[Any, ...]:
    """The last axis of an index tensor as an index, a column for each axis that it names."""
    return tuple([indices._array[..., k] for k in range(indices.shape[-1])])


@declare(method=True, primitive=prim("GatherNd"))
def gather_nd(input_x: Tensor, indices: Tensor) -> Any:
    """The entries that the rows of ``indices`` (its last axis) name."""
    return getitem_operator(
        check_tensor(input_x, "gather_nd", "input_x"), index=_rows(_integers(indices, "gather_nd", "indices"))
    )


@declare(method=True, mint=renamed(axis="dim"))
def index_select(input: Tensor, axis: int, index: Tensor) -> Any:
    """The entries ``index``, a vector, along ``axis``.

    Raises:
        ValueError: ``index`` is no vector.
    """
    i = _integers(index, "index_select", "index")
    if i.ndim > 1:
        raise ValueError(f"For 'index_select', 'index' must have 1 axis, but got shape {i.shape}")
    return gather(input, ravel(i), axis)


@declare(method=True)
def take(input: Tensor, index: Any, axis: int | None = None, mode: str = "clip") -> Any:
    """The elements ``index`` of the flattened tensor, or the entries along ``axis``; out of range by ``mode``.

    Raises:
        ValueError: another ``mode`` than "clip", "wrap" and "raise".
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"For 'take', 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}")
    x, i = check_tensor(input, "take"), _integers(index, "take", "index")
    if axis is None:
        x, axis = ravel(x), 0
    at = one_axis(axis, x.ndim, "take")
    n, xp = x.shape[at], array_module(x._array)
    if mode == "raise":
        check_in_range(i._array, n, "take")
    places = xp.where(i._array < 0, i._array + n, i._array) if mode != "wrap" else i._array % n
    return getitem_operator(x, index=along(x, at, xp.clip(places, 0, n - 1)))


@declare(method=True)
def _choose(input: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """For each element, the entry of ``choices`` that it numbers; numbers out of range by ``mode``.

    Raises:
        ValueError: another ``mode`` than "clip", "wrap" and "raise".
        RuntimeError: a number out of range, with "raise".
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"For 'Tensor.choose', 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}")
    rows = [broadcast_to(c if isinstance(c, Tensor) else Tensor(c), input.shape) for c in choices]
    count = len(rows)
    given = input._array
    if mode == "raise" and given.size and (int(given.min()) < 0 or int(given.max()) >= count):
        raise RuntimeError(
            f"For 'Tensor.choose', numbers must be in [0, {count}), but got {given.min()}..{given.max()}"
        )
    numbers = arithmetic.clamp(input, 0, count - 1) if mode == "clip" else arithmetic.remainder(input, count)
    return gather_elements(stack(rows), 0, expand_dims(numbers, 0))[0]


@declare(method=True, primitive=prim("MaskedSelect"), mint=True)
def masked_select(input: Tensor, mask: Tensor) -> Any:
    """The elements where ``mask`` holds, as a vector.

    Raises:
        TypeError: ``mask`` holds no bools.
    """
    x, m = _masked(input, mask, "masked_select")
    shape = np.broadcast_shapes(x.shape, m.shape)
    chosen = m._array if m.shape == shape else array_module(m._array).broadcast_to(m._array, shape)
    return getitem_operator(x if x.shape == shape else broadcast_to(x, shape), index=chosen)


def _masked(input: Tensor, mask: Tensor, name: str) -> tuple[Tensor, Tensor]:
    m = check_tensor(mask, name, "mask")
    if m._array.dtype.kind != "b":
        raise TypeError(f"For '{name}', 'mask' must hold bools, but got {m.dtype}")
    return check_tensor(input, name), m


@declare(method=True, primitive=prim("NonZero"), mint=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements are not 0: a row for each, or with ``as_tuple`` a vector for each axis."""
    x = check_tensor(input, "nonzero")._array
    xp = array_module(x)
    found = [v.astype(np.int64) for v in xp.nonzero(x.reshape(-1) if x.ndim == 0 else x)]
    if as_tuple:
        return tuple([Tensor._wrap(v) for v in found])
    if x.ndim == 0:
        return Tensor._wrap(xp.zeros((found[0].size, 0), np.int64))
    return Tensor._wrap(xp.stack(found, -1))


@declare(method=True)
def argwhere(input: Tensor) -> Any:
    """Where elements are not 0, a row for each."""
    return nonzero(input)


@declare(primitive=prim("UnravelIndex"))
def _unravel_index(indices: Tensor, dims: Tensor) -> Tensor:
    """The index in each axis of a tensor of shape ``dims``, a row for each, of places in the flattened tensor."""
    places = indices.asnumpy()
    return Tensor(np.stack(np.unravel_index(places, tuple(dims.tolist()))).astype(places.dtype))
