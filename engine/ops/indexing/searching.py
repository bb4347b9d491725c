"""Positions in sorted sequences: searchsorted, bucketize."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import AnyDType, Array, DTypeLike, TensorLike
from ...cpu.array_module import array_module
from ...tensors.dtype import float64, int32, int64
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import bool_of, check_tensor
from ..shapes.broadcasting import as_dtype, cast_operator
from .gathering import gather_elements

__all__ = ["bucketize", "searchsorted"]

# Searching and counting


def _search_kernel(boundaries: Array, values: Array, right: bool) -> Array:
    xp, side = array_module(boundaries), "right" if right else "left"
    if boundaries.ndim == 1:
        return xp.asarray(xp.searchsorted(boundaries, values, side=side), dtype=np.int64)
    rows = zip(boundaries.reshape(-1, boundaries.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
    results = [xp.searchsorted(b, v, side=side) for b, v in rows]
    return xp.stack(results).reshape(values.shape).astype(np.int64)


_search = Operator("search", _search_kernel)


@declare(mint=True)
def searchsorted(
    sorted_sequence: Tensor,
    values: TensorLike,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return where ``values`` would be inserted into a sorted Tensor, along its last axis, to keep it sorted.

    Args:
        sorted_sequence: ascending along the last axis; a vector serves all ``values``, else there is a row for each of
            their rows.
        values: the values to look up: a Tensor or a value convertible to one, with the leading axes of
            ``sorted_sequence``.
        out_int32: whether the positions are Int32 instead of Int64.
        right: whether a value goes after its equals, instead of before them.
        side: "right" or "left", another form of ``right``.
        sorter: the positions that sort ``sorted_sequence`` along the last axis, where it is not sorted itself.

    Returns:
        A Tensor of the shape of ``values``, from 0 to the length of the last axis.

    Raises:
        TypeError: ``sorted_sequence`` is not a Tensor, or ``values`` cannot be one.
        ValueError: the shapes do not fit, an unknown ``side``, or "left" where ``right`` is True.
    """
    if side not in (None, "left", "right"):
        raise ValueError(f"For 'searchsorted', 'side' must be 'left' or 'right', but got {side!r}")
    if bool_of(right, "searchsorted", "right") and side == "left":
        raise ValueError("For 'searchsorted', 'side' must not be 'left' where 'right' is True: they contradict")
    queries = values if isinstance(values, Tensor) else Tensor(values)
    edges = check_tensor(sorted_sequence, "searchsorted", "sorted_sequence")
    if sorter is not None:
        edges = gather_elements(edges, -1, sorter)
    if edges.ndim != 1 and edges.shape[:-1] != queries.shape[:-1]:
        raise ValueError(
            f"For 'searchsorted', 'values' must have the leading axes of {edges.shape}, but got shape {queries.shape}"
        )
    positions = _search(edges, queries, right=bool(right) or side == "right")
    return cast_operator(positions, dtype=int32.numpy) if out_int32 else positions


def _bound(right: bool) -> Callable[..., Tensor]:
    def bound(rows: Tensor, values: Tensor, out_type: AnyDType) -> Tensor:
        """Return where ``values`` belong in sorted rows: before their equals (LowerBound) or after them (UpperBound).

        Args:
            rows: (N, M), each row ascending.
            values: (N, K), looked up in the row of the same number.
            out_type: the dtype of the positions, Int32 or Int64.

        Returns:
            A Tensor (N, K) of ``out_type``.

        Raises:
            TypeError: ``rows`` is not a Tensor.
            ValueError: the numbers of rows differ.
        """
        return searchsorted(rows, values, right=right).astype(out_type)

    return bound


declare(primitive=prim("LowerBound", out_type="int32"))(_bound(False))

declare(primitive=prim("UpperBound", out_type="int32"))(_bound(True))


@declare(primitive=prim("SearchSorted", dtype=int64, right=False))
def _searchsorted_as(
    sorted_sequence: Tensor, values: TensorLike, sorter: Tensor | None = None, *, dtype: DTypeLike, right: bool
) -> Tensor:
    """Return where ``values`` would be inserted into a sorted Tensor, along its last axis, to keep it sorted.

    Args:
        sorted_sequence: ascending along the last axis; a vector serves all ``values``.
        values: the values to look up, with the leading axes of ``sorted_sequence``.
        sorter: the positions that sort ``sorted_sequence`` along the last axis, where it is not sorted itself.
        dtype: the dtype of the positions.
        right: whether a value goes after its equals, instead of before them.

    Returns:
        A Tensor of the shape of ``values`` and of ``dtype``.

    Raises:
        TypeError: ``sorted_sequence`` is not a Tensor.
        ValueError: the shapes do not fit.
    """
    return searchsorted(sorted_sequence, values, right=right, sorter=sorter).astype(dtype)


@declare(method="searchsorted")
def _searchsorted_of_tensor(input: Tensor, v: TensorLike, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Return where ``v`` would be inserted into this sorted Tensor, along its last axis, to keep it sorted.

    Args:
        input: the Tensor, ascending along the last axis; a vector serves all of ``v``.
        v: the values to look up: a Tensor or a value convertible to one, with the leading axes of ``input``.
        side: "left" inserts a value before its equals, "right" after them.
        sorter: the positions that sort ``input`` along the last axis, where it is not sorted itself.

    Returns:
        An Int32 Tensor of the shape of ``v``.

    Raises:
        TypeError: ``v`` cannot be a Tensor.
        ValueError: the shapes do not fit, or an unknown ``side``.
    """
    return searchsorted(input, v, side=side, sorter=sorter, out_int32=True)


def bucketize(input: Tensor, boundaries: Sequence[float] | Array | Tensor, *, right: bool = False) -> Tensor:
    """Return the number of the bucket between ascending ``boundaries`` that each element falls into.

    Args:
        input: a Tensor of numbers.
        boundaries: ascending numbers, n of them: the ends of n + 1 buckets.
        right: True: a bucket holds its left end (``boundaries[i - 1] <= x < boundaries[i]``); False: its right end.

    Returns:
        An Int32 Tensor of the shape of ``input``, from 0 to n.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``boundaries`` does not have exactly one axis.
    """
    edges = np.asarray(boundaries.asnumpy() if isinstance(boundaries, Tensor) else boundaries, np.float64)
    if edges.ndim != 1:
        raise ValueError(f"For 'bucketize', 'boundaries' must have one axis, but got {boundaries!r}")
    x = as_dtype(check_tensor(input, "bucketize"), float64.numpy)
    # 'right' is whether a bucket includes its right end, in MindSpore as in PyTorch.
    numbers = _search(Tensor(edges), x, right=bool(right))
    return cast_operator(numbers, dtype=int32.numpy)


@declare(primitive=prim("Bucketize", "boundaries"))
def _bucketize_right(input: Tensor, boundaries: Sequence[float] | Array | Tensor) -> Tensor:
    """Return the number of the bucket that each element falls into; a bucket holds its left end, not its right one.

    Args:
        input: a Tensor of numbers.
        boundaries: ascending numbers, n of them: the ends of n + 1 buckets.

    Returns:
        An Int32 Tensor of the shape of ``input``, from 0 to n.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return bucketize(input, boundaries, right=True)
