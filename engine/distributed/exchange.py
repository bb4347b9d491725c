"""Collectives on NumPy arrays: what all ranks of a group do together.

Before each the ranks tell each other what they are about to do. Where that is not the same, all of them get one error
with every rank's call and line, and go on in step; MPI itself would wait forever, or mix the bytes.

Sums are taken rank by rank in the order of their numbers, in float32 of half precision, and rounded once: all ranks get
the same bits, and equal runs equal ones, whatever MPI does on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .notes import NOTE, Array, bytes_of, note, same_call, words
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
    "started",
]

REDUCTIONS = ("sum", "prod", "max", "min", "avg")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add,
    "avg": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
_SMALL = 1 << 16  # bytes of all ranks' arrays that each rank may have whole, to be done in one exchange


def started(kind: str, what: str, line: str, group: Group, function: Callable[[], Any]) -> Pending:
    """Have something done with the other ranks of a group.

    Args:
        kind: the name of the collective.
        what: what must be the same on all ranks: settings, dtype and shape, in words.
        line: where the user's code asked.
        group: the ranks.
        function: does it, called by the worker when all ranks have agreed.

    Raises:
        RuntimeError: an earlier exchange was given up.
    """
    worker = world().collectives
    if worker is None or group.comm is None:
        pending = Pending(f"{kind} of {what}", line)
        try:
            pending.end(function())
        except Exception as error:  # as the worker tells it
            pending.end(error=error)
        return pending

    if world().broken:
        raise RuntimeError(f"these ranks can do nothing together any more, start new ones: {world().broken}")

    def together() -> Any:
        _agree(group, kind, what, line)
        return function()

    about = f"{kind}{f' of {what}' if what else ''} in group '{group.name}'"
    return worker.ask(Pending(about, line, group.name, world().ask(group.name), group.ranks), together)


def all_reduce(group: Group, x: Array, op: str) -> Array:
    """All ranks' arrays made one.

    Args:
        group: the ranks.
        x: the array of this one, in C order.
        op: one of ``REDUCTIONS``.

    Returns:
        A new array like ``x``, the same on all ranks.
    """
    if group.comm is None:
        return reduced([x], op)
    if x.nbytes * group.size <= _SMALL or x.size < group.size:
        return reduced(list(_gathered(group, x)), op)
    parts = _shares(x.size, group.size)
    mine = _reduced_share(group, x.reshape(-1), parts, op)
    found = np.empty(x.size, x.dtype)
    _all_gather_v(group, mine, found, parts)
    return found.reshape(x.shape)


def reduce_scatter(group: Group, x: Array, sizes: Sequence[int], op: str) -> Array:
    """This rank's share, along the first axis, of all ranks' arrays made one.

    Args:
        group: the ranks.
        x: the array of this one, in C order.
        sizes: of each rank the length of its share.
        op: one of ``REDUCTIONS``.
    """
    if group.comm is None:
        return reduced([x], op)
    row = math.prod(x.shape[1:])
    found = _reduced_share(group, x.reshape(-1), [size * row for size in sizes], op)
    return found.reshape(sizes[_own(group)], *x.shape[1:])


def all_gather(group: Group, x: Array, sizes: Sequence[int]) -> Array:
    """All ranks' arrays behind each other along the first axis.

    Args:
        group: the ranks.
        x: the array of this one, in C order; the shapes differ in the first axis at most.
        sizes: of each rank the length of its first axis.
    """
    if group.comm is None:
        return x.copy()
    row = math.prod(x.shape[1:])
    found = np.empty((sum(sizes), *x.shape[1:]), x.dtype)
    _all_gather_v(group, x.reshape(-1), found.reshape(-1), [size * row for size in sizes])
    return found


def broadcast(group: Group, x: Array, root: int) -> Array:
    """Return the array of one rank.

    Args:
        group: the ranks.
        x: the array of this one, in C order; what is sent, or gives shape and dtype.
        root: the number in the group of the rank whose array it is.
    """
    found = x.copy()
    if group.comm is not None:
        finish(group.comm.Ibcast(bytes_of(found), root))
        world().count("broadcast", found.nbytes if root == group.rank else 0)
    return found


def reduce(group: Group, x: Array, root: int, op: str) -> Array:
    """All ranks' arrays made one, on one rank; the others get zeros.

    Args:
        group: the ranks.
        x: the array of this one, in C order.
        root: the number in the group of the rank that gets it.
        op: one of ``REDUCTIONS``.
    """
    if group.comm is None:
        return reduced([x], op)
    if (all_of_them := gather(group, x[np.newaxis], root)) is None:
        return np.zeros_like(x)
    return reduced(list(all_of_them), op)


def gather(group: Group, x: Array, root: int) -> Array | None:
    """All ranks' arrays behind each other along the first axis, on one rank; None on the others.

    Args:
        group: the ranks.
        x: the array of this one, in C order; all have the same shape.
        root: the number in the group of the rank that gets them.
    """
    if group.comm is None:
        return x.copy()
    found = np.empty((group.size * x.shape[0], *x.shape[1:]), x.dtype) if root == group.rank else None
    finish(group.comm.Igather(bytes_of(x), None if found is None else bytes_of(found), root))
    world().count("gather", 0 if root == group.rank else x.nbytes)
    return found


def scatter(group: Group, x: Array, root: int) -> Array:
    """This rank's part, along the first axis, of one rank's array.

    Args:
        group: the ranks.
        x: the array of this one, in C order; what is divided, or gives shape and dtype.
        root: the number in the group of the rank whose array it is.
    """
    found = np.empty((x.shape[0] // group.size, *x.shape[1:]), x.dtype)
    if group.comm is None:
        return x.copy()
    finish(group.comm.Iscatter(bytes_of(x) if root == group.rank else None, bytes_of(found), root))
    world().count("scatter", x.nbytes - found.nbytes if root == group.rank else 0)
    return found


def all_to_all(group: Group, x: Array, sent: Sequence[int], received: Sequence[int]) -> Array:
    """Of each rank what it has for this one, behind each other.

    Args:
        group: the ranks.
        x: of one axis: what this one has for each, behind each other.
        sent: how many elements for each rank.
        received: how many from each.

    Raises:
        RuntimeError: a rank sends another number of elements than this one waits for.
    """
    if group.comm is None:
        return x.copy()
    counts = np.empty(group.size, np.int64)
    finish(group.comm.Ialltoall(np.asarray(sent, np.int64), counts))
    wrong = [(rank, got) for rank, (got, due) in enumerate(zip(counts, received, strict=True)) if got != due]
    differs = np.array([len(wrong)], np.int64)
    of_all = np.empty(group.size, np.int64)
    finish(group.comm.Iallgather(differs, of_all))  # so that all ranks leave it out together
    if of_all.any():
        if not wrong:
            raise RuntimeError("ranks send others another number of elements than they wait for")
        rank, got = wrong[0]
        raise RuntimeError(f"rank {rank} sends {got} elements where this one waits for {received[rank]}")
    found = np.empty(sum(received), x.dtype)
    _all_to_all_v(group, x, sent, found, received)
    return found


def reduced(arrays: Sequence[Array], op: str) -> Array:
    """Arrays of one shape made one, in their order.

    Args:
        arrays: at least one.
        op: one of ``REDUCTIONS``.

    Returns:
        A new array of their dtype.
    """
    function, dtype = _FUNCTIONS[op], arrays[0].dtype
    is_half = dtype.name in ("float16", "bfloat16")
    total = np.array(arrays[0], np.float32 if is_half else dtype)  # also of a row without axes, a scalar
    for one in arrays[1:]:
        function(total, one.astype(total.dtype, copy=False), out=total)
    if op == "avg":
        total /= len(arrays)
    return total.astype(dtype, copy=False)


def _own(group: Group) -> int:
    assert group.rank is not None
    return group.rank


def _agree(group: Group, kind: str, what: str, line: str) -> None:
    told = np.empty((group.size, NOTE), np.uint8)
    finish(group.comm.Iallgather(note(kind, what, line), told))
    if not all(same_call(one, told[0]) for one in told):
        calls = "; ".join(f"rank {rank}: {words(one)}" for rank, one in zip(group.ranks, told, strict=True))
        raise RuntimeError(f"the ranks of group '{group.name}' do not do the same: {calls}")


def _shares(size: int, count: int) -> list[int]:
    whole, rest = divmod(size, count)
    return [whole + (rank < rest) for rank in range(count)]


def _gathered(group: Group, x: Array) -> Array:
    found = np.empty((group.size, *x.shape), x.dtype)
    finish(group.comm.Iallgather(bytes_of(x), bytes_of(found)))
    world().count("all_gather", x.nbytes)
    return found


def _reduced_share(group: Group, x: Array, parts: Sequence[int], op: str) -> Array:
    """This rank's part of all ranks' arrays of one axis made one."""
    mine = parts[_own(group)]
    received = np.empty((group.size, mine), x.dtype)
    _all_to_all_v(group, x, parts, received.reshape(-1), [mine] * group.size)
    return reduced(list(received), op)


def _places(counts: Sequence[int], itemsize: int) -> tuple[list[int], list[int]]:
    sizes = [count * itemsize for count in counts]
    return sizes, [sum(sizes[:rank]) for rank in range(len(sizes))]


def _all_gather_v(group: Group, x: Array, found: Array, counts: Sequence[int]) -> None:
    finish(group.comm.Iallgatherv(bytes_of(x), [bytes_of(found), *_places(counts, x.itemsize), _byte()]))
    world().count("all_gather", x.nbytes)


def _all_to_all_v(group: Group, x: Array, sent: Sequence[int], found: Array, received: Sequence[int]) -> None:
    given = [bytes_of(x), *_places(sent, x.itemsize), _byte()]
    finish(group.comm.Ialltoallv(given, [bytes_of(found), *_places(received, x.itemsize), _byte()]))
    world().count("all_to_all", x.nbytes - sent[_own(group)] * x.itemsize)


def _byte() -> Any:
    from mpi4py import MPI

    return MPI.BYTE
