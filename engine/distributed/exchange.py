"""Collectives on NumPy arrays, run by all ranks of a group together.

Before each the ranks exchange a description of the call. If these differ, all ranks get the same error with every
rank's call and line, and stay in step; MPI itself would wait forever, or mix the bytes.

Sums are computed rank by rank in the order of their numbers, for half precision in float32, and rounded once: all ranks
get the same bits, and equal runs equal ones, independent of MPI's algorithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .notes import NOTE, Array, bytes_of, note, same_call, text_of
from .worker import Pending, finish
from .world import Group, world

__all__ = [
    "REDUCTIONS",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
    "start",
]

REDUCTIONS = ("sum", "prod", "max", "min", "avg")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add,
    "avg": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
_SMALL = 1 << 16  # maximum bytes of all ranks' arrays for a single all-gather


def start(kind: str, properties: str, line: str, group: Group, function: Callable[[], Any]) -> Pending:
    """Start an exchange with the other ranks of a group.

    Args:
        kind: the name of the collective.
        properties: the properties that must agree on all ranks: settings, dtype and shape, in words.
        line: the user's calling line.
        group: the ranks.
        function: performs it, called by the worker when all ranks have agreed.

    Raises:
        RuntimeError: an earlier exchange was abandoned.
    """
    worker = world().collectives
    if worker is None or group.comm is None:
        pending = Pending(f"{kind} of {properties}", line)
        try:
            pending.end(function())
        except Exception as error:  # as the worker tells it
            pending.end(error=error)
        return pending

    if world().broken:
        raise RuntimeError(f"these ranks can no longer exchange arrays, start new ones: {world().broken}")

    def together() -> Any:
        _agree(group, kind, properties, line)
        return function()

    about = f"{kind}{f' of {properties}' if properties else ''} in group '{group.name}'"
    return worker.ask(Pending(about, line, group.name, world().ask(group.name), group.ranks), together)


def all_reduce(group: Group, x: Array, op: str) -> Array:
    """Return the reduction of all ranks' arrays.

    Args:
        group: the ranks.
        x: the array of this rank, in C order.
        op: one of ``REDUCTIONS``.

    Returns:
        A new array like ``x``, the same on all ranks.
    """
    if group.comm is None:
        return reduce_arrays([x], op)
    if x.nbytes * group.size <= _SMALL or x.size < group.size:
        return reduce_arrays(list(_gather(group, x)), op)
    parts = _shares(x.size, group.size)
    share = _reduce_share(group, x.reshape(-1), parts, op)
    result = np.empty(x.size, x.dtype)
    _all_gather_v(group, share, result, parts)
    return result.reshape(x.shape)


def reduce_scatter(group: Group, x: Array, sizes: Sequence[int], op: str) -> Array:
    """Return this rank's share, along the first axis, of the reduction of all ranks' arrays.

    Args:
        group: the ranks.
        x: the array of this rank, in C order.
        sizes: the length of each rank's share.
        op: one of ``REDUCTIONS``.
    """
    if group.comm is None:
        return reduce_arrays([x], op)
    row = math.prod(x.shape[1:])
    share = _reduce_share(group, x.reshape(-1), [size * row for size in sizes], op)
    return share.reshape(sizes[_rank_in(group)], *x.shape[1:])


def all_gather(group: Group, x: Array, sizes: Sequence[int]) -> Array:
    """Return all ranks' arrays concatenated along the first axis.

    Args:
        group: the ranks.
        x: the array of this rank, in C order; shapes may differ only in the first axis.
        sizes: the length of each rank's first axis.
    """
    if group.comm is None:
        return x.copy()
    row = math.prod(x.shape[1:])
    gathered = np.empty((sum(sizes), *x.shape[1:]), x.dtype)
    _all_gather_v(group, x.reshape(-1), gathered.reshape(-1), [size * row for size in sizes])
    return gathered


def broadcast(group: Group, x: Array, root: int) -> Array:
    """Return the array of one rank.

    Args:
        group: the ranks.
        x: the array of this rank, in C order; the source, or a template for shape and dtype.
        root: the number in the group of the source rank.
    """
    received = x.copy()
    if group.comm is not None:
        finish(group.comm.Ibcast(bytes_of(received), root))
        world().count("broadcast", received.nbytes if root == group.rank else 0)
    return received


def reduce(group: Group, x: Array, root: int, op: str) -> Array:
    """Return the reduction of all ranks' arrays on one rank; zeros on the others.

    Args:
        group: the ranks.
        x: the array of this rank, in C order.
        root: the number in the group of the destination rank.
        op: one of ``REDUCTIONS``.
    """
    if group.comm is None:
        return reduce_arrays([x], op)
    if (all_of_them := gather(group, x[np.newaxis], root)) is None:
        return np.zeros_like(x)
    return reduce_arrays(list(all_of_them), op)


def gather(group: Group, x: Array, root: int) -> Array | None:
    """Return all ranks' arrays concatenated along the first axis on one rank; None on the others.

    Args:
        group: the ranks.
        x: the array of this rank, in C order; all have the same shape.
        root: the number in the group of the destination rank.
    """
    if group.comm is None:
        return x.copy()
    gathered = np.empty((group.size * x.shape[0], *x.shape[1:]), x.dtype) if root == group.rank else None
    finish(group.comm.Igather(bytes_of(x), None if gathered is None else bytes_of(gathered), root))
    world().count("gather", 0 if root == group.rank else x.nbytes)
    return gathered


def scatter(group: Group, x: Array, root: int) -> Array:
    """Return this rank's part, along the first axis, of one rank's array.

    Args:
        group: the ranks.
        x: the array of this rank, in C order; the source, or a template for shape and dtype.
        root: the number in the group of the source rank.
    """
    share = np.empty((x.shape[0] // group.size, *x.shape[1:]), x.dtype)
    if group.comm is None:
        return x.copy()
    finish(group.comm.Iscatter(bytes_of(x) if root == group.rank else None, bytes_of(share), root))
    world().count("scatter", x.nbytes - share.nbytes if root == group.rank else 0)
    return share


def all_to_all(group: Group, x: Array, sent: Sequence[int], received: Sequence[int]) -> Array:
    """Return the concatenated parts that all ranks send to this one.

    Args:
        group: the ranks.
        x: of one axis: the concatenated parts for each rank.
        sent: the number of elements for each rank.
        received: the number of elements from each rank.

    Raises:
        RuntimeError: a rank sends a different number of elements than this one expects.
    """
    if group.comm is None:
        return x.copy()
    counts = np.empty(group.size, np.int64)
    finish(group.comm.Ialltoall(np.asarray(sent, np.int64), counts))
    mismatches = [(rank, got) for rank, (got, due) in enumerate(zip(counts, received, strict=True)) if got != due]
    differs = np.array([len(mismatches)], np.int64)
    mismatch_counts = np.empty(group.size, np.int64)
    finish(group.comm.Iallgather(differs, mismatch_counts))  # so that all ranks skip it together
    if mismatch_counts.any():
        if not mismatches:
            raise RuntimeError("ranks send others a different number of elements than they wait for")
        rank, got = mismatches[0]
        raise RuntimeError(f"rank {rank} sends {got} elements where this one waits for {received[rank]}")
    result = np.empty(sum(received), x.dtype)
    _all_to_all_v(group, x, sent, result, received)
    return result


def reduce_arrays(arrays: Sequence[Array], op: str) -> Array:
    """Return the reduction of arrays of one shape, in their order.

    Args:
        arrays: at least one.
        op: one of ``REDUCTIONS``.

    Returns:
        A new array of their dtype.
    """
    function, dtype = _FUNCTIONS[op], arrays[0].dtype
    is_half = dtype.name in ("float16", "bfloat16")
    total = np.array(arrays[0], np.float32 if is_half else dtype)  # also for a scalar, a row without axes
    for array in arrays[1:]:
        function(total, array.astype(total.dtype, copy=False), out=total)
    if op == "avg":
        total /= len(arrays)
    return total.astype(dtype, copy=False)


def _rank_in(group: Group) -> int:
    assert group.rank is not None
    return group.rank


def _agree(group: Group, kind: str, properties: str, line: str) -> None:
    notes = np.empty((group.size, NOTE), np.uint8)
    finish(group.comm.Iallgather(note(kind, properties, line), notes))
    if not all(same_call(rank_note, notes[0]) for rank_note in notes):
        calls = "; ".join(
            f"rank {rank}: {text_of(rank_note)}" for rank, rank_note in zip(group.ranks, notes, strict=True)
        )
        raise RuntimeError(f"the ranks of group '{group.name}' do not do the same: {calls}")


def _shares(size: int, count: int) -> list[int]:
    quotient, remainder = divmod(size, count)
    return [quotient + (rank < remainder) for rank in range(count)]


def _gather(group: Group, x: Array) -> Array:
    gathered = np.empty((group.size, *x.shape), x.dtype)
    finish(group.comm.Iallgather(bytes_of(x), bytes_of(gathered)))
    world().count("all_gather", x.nbytes)
    return gathered


def _reduce_share(group: Group, x: Array, parts: Sequence[int], op: str) -> Array:
    """Return this rank's part of the reduction of all ranks' arrays of one axis."""
    size = parts[_rank_in(group)]
    received = np.empty((group.size, size), x.dtype)
    _all_to_all_v(group, x, parts, received.reshape(-1), [size] * group.size)
    return reduce_arrays(list(received), op)


def _layout(counts: Sequence[int], itemsize: int) -> tuple[list[int], list[int]]:
    sizes = [count * itemsize for count in counts]
    return sizes, [sum(sizes[:rank]) for rank in range(len(sizes))]


def _all_gather_v(group: Group, x: Array, result: Array, counts: Sequence[int]) -> None:
    finish(group.comm.Iallgatherv(bytes_of(x), [bytes_of(result), *_layout(counts, x.itemsize), _byte()]))
    world().count("all_gather", x.nbytes)


def _all_to_all_v(group: Group, x: Array, sent: Sequence[int], result: Array, received: Sequence[int]) -> None:
    send_buffer = [bytes_of(x), *_layout(sent, x.itemsize), _byte()]
    finish(group.comm.Ialltoallv(send_buffer, [bytes_of(result), *_layout(received, x.itemsize), _byte()]))
    world().count("all_to_all", x.nbytes - sent[_rank_in(group)] * x.itemsize)


def _byte() -> Any:
    from mpi4py import MPI

    return MPI.BYTE
