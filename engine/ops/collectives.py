"""Operators across ranks: reduce, gather, scatter, exchange, send; and their Primitive classes.

Their gradients are those of the sum of all ranks' losses, for which the ranks run the backward pass together. A loss
that each rank computes from the same values counts once for each.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.argument_checks import check_int
from ..base.code_origin import user_line
from ..base.file_labels import line_label
from ..base.surfaces import declare, prim
from ..base.types import Array, DTypeLike, Functions, Value
from ..distributed import exchange, mailbox
from ..distributed.notes import describe
from ..distributed.world import WORLDS, Group, group_of
from ..tape.tape import state
from ..tensors import backend
from ..tensors.dtype import float32, numpy_dtype
from ..tensors.operator import COMPLEX, Operator
from ..tensors.tensor import Tensor
from .arguments import check_tensor, one_axis

__all__: list[str] = []

WORLD = WORLDS[1]
"""The group of all ranks, as MindSpore's operators name it."""
_HIGHEST_TAG = 32767


class Collective(Operator):
    """An operator that all ranks of a group call together. Functions that call one run without a plan in graph mode."""

    def _run(self, operands: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if state.tracer is not None:
            state.tracer.leak("ranks exchange values, which plans do not")
        return super()._run(operands, inputs, attrs)


def member(caller: str, group: str | None) -> Group:
    """Return a group that this process is in.

    Args:
        caller: the name of the user's function, for the error.
        group: its name; None is the group of all ranks.

    Raises:
        TypeError: ``group`` is not a str.
        ValueError: the group does not exist, or this process is not in it.
    """
    result = group_of(caller, WORLD if group is None else group)
    if result.rank is None:
        raise ValueError(f"For '{caller}', this process is not in group '{group}', whose ranks are {[*result.ranks]}")
    return result


def check_reduction(caller: str, op: str, x: Tensor) -> str:
    """Return the reduction ``op``, which must be valid for the dtype of ``x``.

    Raises:
        TypeError: ``op`` is not a str, or not valid for the dtype.
        ValueError: ``op`` is not one of ``exchange.REDUCTIONS``.
    """
    if not isinstance(op, str):
        raise TypeError(f"For '{caller}', 'op' must be a str, but got {type(op).__name__}")
    if op not in exchange.REDUCTIONS:
        raise ValueError(f"For '{caller}', 'op' must be one of {exchange.REDUCTIONS}, but got {op!r}")
    dtype = x._array.dtype
    fits = dtype.kind not in "iu" if op == "avg" else dtype not in COMPLEX or op in ("sum", "prod")
    if dtype.kind == "b" or not fits:
        raise TypeError(f"For '{caller}', '{op}' is not for {x.dtype}; cast the tensor first")
    return op


def check_root(caller: str, argument: str, root: int, group: Group) -> int:
    """Return ``root``, which must be the number of a rank in a group.

    Raises:
        TypeError: ``root`` is not an int.
        ValueError: the group does not have that rank.
    """
    if not 0 <= check_int(root, caller, argument) < group.size:
        raise ValueError(f"For '{caller}', '{argument}' must be from 0 to {group.size - 1}, but got {root}")
    return root


def check_sizes(caller: str, argument: str, sizes: Any, group: Group) -> tuple[int, ...]:
    """Return one length for each rank of a group, from ints or a tensor of them.

    Raises:
        TypeError: ``sizes`` is of the wrong type.
        ValueError: the number of lengths is wrong, or a length is negative.
    """
    lengths = sizes.asnumpy().tolist() if isinstance(sizes, Tensor) else sizes
    if not isinstance(lengths, list | tuple) or not all(type(size) is int for size in lengths):
        raise TypeError(f"For '{caller}', '{argument}' must be a list or tuple of ints, but got {sizes!r}")
    if len(lengths) != group.size or min(lengths) < 0:
        raise ValueError(
            f"For '{caller}', '{argument}' must be {group.size} lengths of 0 or more, one for each rank, "
            f"but got {lengths}"
        )
    return tuple(lengths)


def line() -> str:
    """Return the location of the user's code, in the form of error messages."""
    return line_label(user_line())


def on_host(x: Array) -> Array:
    """Return an array in the form that MPI takes: in the host's memory, in C order."""
    if type(x) is not np.ndarray:
        return np.asarray(_from_device(x))
    return x if x.flags.c_contiguous else x.copy(order="C")


def _from_device(x: Any) -> Any:
    """Return a copy in pinned memory, which a GPU copies to and from without an intermediate copy."""
    if not hasattr(x, "get") or not x.size:
        return backend.to_host(x)
    import cupy

    pinned = cupy.cuda.alloc_pinned_memory(x.nbytes)
    buffer: Any = (ctypes.c_uint8 * x.nbytes).from_address(pinned.ptr)
    buffer.owner = pinned  # so that it lives as long as the array over it
    return x.get(out=np.frombuffer(buffer, x.dtype).reshape(x.shape))


def on_device_of(like: Array, result: Array) -> Array:
    """Return ``result`` on the device of ``like``."""
    return result if type(like) is np.ndarray else backend.moved(result, "GPU", "communication")


def _call_on_ranks(name: str, settings: str, group: Group, x: Array, function: Any) -> Array:
    result: Array = exchange.start(name, f"{settings}{describe(x)}", line(), group, function).wait()
    return result


def _all_reduce(x: Array, op: str, group: str) -> Array:
    ranks, host = member("all_reduce", group), on_host(x)
    return on_device_of(
        x, _call_on_ranks("all_reduce", f"{op}, ", ranks, host, lambda: exchange.all_reduce(ranks, host, op))
    )


def _sizes(x: Array, sizes: Sequence[int] | None, ranks: Group, shares: bool) -> Sequence[int]:
    if sizes is not None:
        return sizes
    return [x.shape[0] // (ranks.size if shares else 1)] * ranks.size


def _settings(sizes: Sequence[int] | None, x: Array) -> str:
    """Return the settings that must be the same on all ranks if lengths differ."""
    return f"{x.dtype.name} {list(x.shape) if sizes is None else [*sizes, *x.shape[1:]]}"


def _all_gather(x: Array, group: str, sizes: tuple[int, ...] | None = None) -> Array:
    ranks, host = member("all_gather", group), on_host(x)
    lengths = _sizes(host, sizes, ranks, False)
    pending = exchange.start(
        "all_gather", _settings(sizes, host), line(), ranks, lambda: exchange.all_gather(ranks, host, lengths)
    )
    return on_device_of(x, pending.wait())


def _reduce_scatter(x: Array, op: str, group: str, sizes: tuple[int, ...] | None = None) -> Array:
    ranks, host = member("reduce_scatter", group), on_host(x)
    lengths = _sizes(host, sizes, ranks, True)
    settings = f"{op}, {list(lengths)} of "
    return on_device_of(
        x,
        _call_on_ranks(
            "reduce_scatter", settings, ranks, host, lambda: exchange.reduce_scatter(ranks, host, lengths, op)
        ),
    )


def _broadcast(x: Array, root: int, group: str) -> Array:
    ranks, host = member("broadcast", group), on_host(x)
    settings = f"rank {ranks.ranks[root]}'s "
    return on_device_of(
        x, _call_on_ranks("broadcast", settings, ranks, host, lambda: exchange.broadcast(ranks, host, root))
    )


def _reduce(x: Array, root: int, op: str, group: str) -> Array:
    ranks, host = member("reduce", group), on_host(x)
    settings = f"{op} to rank {ranks.ranks[root]}, "
    return on_device_of(
        x, _call_on_ranks("reduce", settings, ranks, host, lambda: exchange.reduce(ranks, host, root, op))
    )


def _gather(x: Array, root: int, group: str) -> Array:
    ranks, host = member("gather", group), on_host(x)
    settings = f"to rank {ranks.ranks[root]}, "
    gathered = _call_on_ranks("gather", settings, ranks, host, lambda: exchange.gather(ranks, host, root))
    return on_device_of(x, np.zeros_like(host) if gathered is None else gathered)


def _scatter(x: Array, root: int, group: str) -> Array:
    ranks, host = member("scatter", group), on_host(x)
    settings = f"rank {ranks.ranks[root]}'s "
    return on_device_of(
        x, _call_on_ranks("scatter", settings, ranks, host, lambda: exchange.scatter(ranks, host, root))
    )


def _all_to_all(x: Array, split_axis: int, concat_axis: int, group: str) -> Array:
    ranks, host = member("all_to_all", group), on_host(x)
    parts = np.split(host, ranks.size, split_axis)
    flat = np.concatenate([part.reshape(-1) for part in parts])
    counts = [parts[0].size] * ranks.size
    settings = f"axis {split_axis} to axis {concat_axis}, "
    received = _call_on_ranks(
        "all_to_all", settings, ranks, host, lambda: exchange.all_to_all(ranks, flat, counts, counts)
    ).reshape(ranks.size, *parts[0].shape)
    return on_device_of(x, np.concatenate(list(received), concat_axis))


def _all_to_all_v(x: Array, sent: tuple[int, ...], received: tuple[int, ...], group: str) -> Array:
    ranks, host = member("all_to_all_v", group), on_host(x)
    pending = exchange.start(
        "all_to_all_v", host.dtype.name, line(), ranks, lambda: exchange.all_to_all(ranks, host, sent, received)
    )
    return on_device_of(x, pending.wait())


def _send(x: Array, to: int, tag: int, group: str) -> Array:
    mailbox.send(member("send", group), on_host(x), to, tag, line())
    return x


def _receive(x: Array, source: int, tag: int, shape: tuple[int, ...], dtype: np.dtype[Any], group: str) -> Array:
    like = np.empty(shape, dtype)
    return on_device_of(x, mailbox.receive(member("receive", group), like, source, tag, line()).wait())


def _all_reduce_rule(F: Functions, g: Value, out: Value, x: Value, op: str, group: str) -> Value:
    if op in ("sum", "avg"):
        return F.all_reduce(g, op=op, group=group)
    if op == "prod":
        return F.all_reduce(g * out, op="sum", group=group) / x
    return F.where(F.eq(x, out), F.all_reduce(g, op="sum", group=group), F.zeros_like(g))


def _reduce_scatter_rule(
    F: Functions, g: Value, out: Value, x: Value, op: str, group: str, sizes: tuple[int, ...] | None = None
) -> Value:
    settings = {"group": group, "sizes": sizes}
    if op == "sum":
        return F.all_gather(g, **settings)
    if op == "avg":
        return F.all_gather(g / member("reduce_scatter", group).size, **settings)
    if op == "prod":
        return F.all_gather(g * out, **settings) / x
    gathered = F.all_gather(g, **settings)
    return F.where(F.eq(x, F.all_gather(out, **settings)), gathered, F.zeros_like(gathered))


def _reduce_rule(F: Functions, g: Value, out: Value, x: Value, root: int, op: str, group: str) -> Value:
    upstream = F.broadcast(g, root=root, group=group)
    if op == "sum":
        return upstream
    if op == "avg":
        return upstream / member("reduce", group).size
    result = F.broadcast(out, root=root, group=group)
    if op == "prod":
        return upstream * result / x
    return F.where(F.eq(x, result), upstream, F.zeros_like(upstream))


def _receive_rule(F: Functions, g: Value, out: Value, x: Value, source: int, tag: int, group: str, **_: Any) -> Value:
    F.send(g, to=source, tag=tag, group=group)
    return F.zeros_like(x)


all_reduce = Collective("all_reduce", _all_reduce, (_all_reduce_rule,)).declare("All ranks' tensors made one.")
all_gather = Collective(
    "all_gather",
    _all_gather,
    (lambda F, g, out, x, group, sizes=None: F.reduce_scatter(g, op="sum", group=group, sizes=sizes),),
    placeholders=(0, -1),
).declare("All ranks' tensors behind each other along the first axis.")
reduce_scatter = Collective("reduce_scatter", _reduce_scatter, (_reduce_scatter_rule,)).declare(
    "A rank's share of all ranks' tensors made one."
)
broadcast = Collective(
    "broadcast",
    _broadcast,
    (lambda F, g, out, x, root, group: F.reduce(g, root=root, op="sum", group=group),),
    placeholders=(0, -1),
).declare("The tensor of one rank.")
reduce = Collective("reduce", _reduce, (_reduce_rule,)).declare(
    "All ranks' tensors made one, on one rank; zeros on the others."
)
gather = Collective(
    "gather_from_ranks",
    _gather,
    (lambda F, g, out, x, root, group: F.scatter_to_ranks(_whole_gradient(F, g, x, group), root=root, group=group),),
    placeholders=(0, -1),
).declare("All ranks' tensors behind each other, on one rank; zeros on the others.")
scatter = Collective(
    "scatter_to_ranks",
    _scatter,
    (lambda F, g, out, x, root, group: _of_root(F, F.gather_from_ranks(g, root=root, group=group), x, root, group),),
    placeholders=(0, -1),
).declare("A rank's part of one rank's tensor.")
all_to_all = Collective(
    "all_to_all",
    _all_to_all,
    (
        lambda F, g, out, x, split_axis, concat_axis, group: F.all_to_all(
            g, split_axis=concat_axis, concat_axis=split_axis, group=group
        ),
    ),
    placeholders=(0, -1),
).declare("The part that each rank has for this one, in one tensor.")
all_to_all_v = Collective(
    "all_to_all_v",
    _all_to_all_v,
    (lambda F, g, out, x, sent, received, group: F.all_to_all_v(g, sent=received, received=sent, group=group),),
    placeholders=(0, -1),
).declare("The elements that each rank has for this one, of any length.")
send = Collective(
    "send",
    _send,
    (
        lambda F, g, out, x, to, tag, group: F.receive(
            g, source=to, tag=tag, shape=tuple(g.shape), dtype=numpy_dtype(g.dtype), group=group
        ),
    ),
    placeholders=(0, -1),
).declare("The tensor itself, which is sent to another rank; its gradient is the one that the receiver sends back.")
receive = Collective("receive", _receive, (_receive_rule,), placeholders=(0, -1)).declare(
    "The tensor that another rank sends; its gradient is sent back."
)


def _whole_gradient(F: Functions, g: Value, x: Value, group: str) -> Value:
    """Return the gradient of the tensor gathered on one rank, in its shape there: that of the others is not read."""
    ranks = member("gather", group)
    if g.shape[0] == x.shape[0] * ranks.size:
        return g
    return F.concat(*[g] * ranks.size, axis=0)


def _of_root(F: Functions, gathered: Value, x: Value, root: int, group: str) -> Value:
    return gathered if member("scatter", group).rank == root else F.zeros_like(x)


# Primitive classes


@declare(primitive=prim("AllReduce", op="sum", group=WORLD))
def _all_reduce_class(input_x: Tensor, op: str, group: str | None) -> Tensor:
    """Return the reduction of all ranks' tensors, the same on all ranks.

    Args:
        input_x: the tensor of this rank; all have the same shape and dtype.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group of ranks.
    """
    x = check_tensor(input_x, "AllReduce", "input_x")
    result: Tensor = all_reduce(x, op=check_reduction("AllReduce", op, x), group=member("AllReduce", group).name)
    return result


@declare(primitive=prim("AllGather", group=WORLD))
def _all_gather_class(input_x: Tensor, group: str | None) -> Tensor:
    """Return the concatenation of all ranks' tensors along the first axis.

    Args:
        input_x: the tensor of this rank; all have the same shape and dtype.
        group: the name of a group of ranks.
    """
    x = check_rows("AllGather", input_x)
    result: Tensor = all_gather(x, group=member("AllGather", group).name)
    return result


@declare(primitive=prim("AllGatherV", group=WORLD))
def _all_gather_v_class(input_x: Tensor, output_split_sizes: Any, group: str | None) -> Tensor:
    """Return the concatenation of all ranks' tensors of one axis, of any lengths.

    Args:
        input_x: the tensor of this rank.
        output_split_sizes: the length of each rank's tensor.
        group: the name of a group of ranks.
    """
    ranks = member("AllGatherV", group)
    sizes = check_sizes("AllGatherV", "output_split_sizes", output_split_sizes, ranks)
    x = check_length("AllGatherV", "input_x", input_x, sizes[ranks.rank or 0])
    result: Tensor = all_gather(x, group=ranks.name, sizes=sizes)
    return result


@declare(primitive=prim("ReduceScatter", op="sum", group=WORLD))
def _reduce_scatter_class(input_x: Tensor, op: str, group: str | None) -> Tensor:
    """Return a rank's share, along the first axis, of the reduction of all ranks' tensors.

    Args:
        input_x: the tensor of this rank; the number of ranks divides its first axis.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group of ranks.
    """
    ranks = member("ReduceScatter", group)
    x = check_divides("ReduceScatter", "input_x", check_rows("ReduceScatter", input_x), 0, ranks)
    result: Tensor = reduce_scatter(x, op=check_reduction("ReduceScatter", op, x), group=ranks.name)
    return result


@declare(primitive=prim("ReduceScatterV", op="sum", group=WORLD))
def _reduce_scatter_v_class(input_x: Tensor, input_split_sizes: Any, op: str, group: str | None) -> Tensor:
    """Return a rank's share, of any length, of the reduction of all ranks' tensors of one axis.

    Args:
        input_x: the tensor of this rank.
        input_split_sizes: the length of each rank's share.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group of ranks.
    """
    ranks = member("ReduceScatterV", group)
    sizes = check_sizes("ReduceScatterV", "input_split_sizes", input_split_sizes, ranks)
    x = check_length("ReduceScatterV", "input_x", input_x, sum(sizes))
    result: Tensor = reduce_scatter(x, op=check_reduction("ReduceScatterV", op, x), group=ranks.name, sizes=sizes)
    return result


@declare(primitive=prim("Broadcast", "root_rank", group=WORLD))
def _broadcast_class(input_x: Any, root_rank: int, group: str | None) -> tuple[Tensor, ...]:
    """Return the tensors of one rank, on all ranks.

    Args:
        input_x: a tuple of tensors; those of the other ranks give the shape and dtype of the result.
        root_rank: the number of the rank in the group.
        group: the name of a group of ranks.
    """
    ranks = member("Broadcast", group)
    root = check_root("Broadcast", "root_rank", root_rank, ranks)
    tensors = input_x if isinstance(input_x, tuple | list) else (input_x,)
    return tuple([broadcast(check_tensor(x, "Broadcast", "input_x"), root=root, group=ranks.name) for x in tensors])


@declare(primitive=prim("Reduce", "dest_rank", op="sum", group=WORLD))
def _reduce_class(input_x: Tensor, dest_rank: int, op: str, group: str | None) -> Tensor:
    """Return the reduction of all ranks' tensors on one rank, and zeros on the others.

    Args:
        input_x: the tensor of this rank; all have the same shape and dtype.
        dest_rank: the number of the rank in the group.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group of ranks.
    """
    ranks, x = member("Reduce", group), check_tensor(input_x, "Reduce", "input_x")
    root = check_root("Reduce", "dest_rank", dest_rank, ranks)
    result: Tensor = reduce(x, root=root, op=check_reduction("Reduce", op, x), group=ranks.name)
    return result


@declare(primitive=prim("CollectiveGather", "dest_rank", group=WORLD))
def _gather_class(input_x: Tensor, dest_rank: int, group: str | None) -> Tensor:
    """Return the concatenation of all ranks' tensors along the first axis on one rank, and zeros on the others.

    Args:
        input_x: the tensor of this rank; all have the same shape and dtype.
        dest_rank: the number of the rank in the group.
        group: the name of a group of ranks.
    """
    ranks, x = member("CollectiveGather", group), check_rows("CollectiveGather", input_x)
    result: Tensor = gather(x, root=check_root("CollectiveGather", "dest_rank", dest_rank, ranks), group=ranks.name)
    return result


@declare(primitive=prim("CollectiveScatter", src_rank=0, group=WORLD))
def _scatter_class(input_x: Tensor, src_rank: int, group: str | None) -> Tensor:
    """Return a rank's part, along the first axis, of one rank's tensor.

    Args:
        input_x: the tensor; those of the other ranks give its shape and dtype.
        src_rank: the number of the rank in the group.
        group: the name of a group of ranks.
    """
    ranks = member("CollectiveScatter", group)
    x = check_divides("CollectiveScatter", "input_x", check_rows("CollectiveScatter", input_x), 0, ranks)
    result: Tensor = scatter(x, root=check_root("CollectiveScatter", "src_rank", src_rank, ranks), group=ranks.name)
    return result


@declare(primitive=prim("AlltoAll", "split_count", "split_dim", "concat_dim", group=WORLD))
def _all_to_all_class(input_x: Tensor, split_count: int, split_dim: int, concat_dim: int, group: str | None) -> Tensor:
    """Return the concatenation of the parts of all ranks' tensors for this rank.

    Args:
        input_x: the tensor of this rank.
        split_count: the number of parts: the number of ranks.
        split_dim: the axis to divide.
        concat_dim: the axis of the concatenation.
        group: the name of a group of ranks.
    """
    ranks, x = member("AlltoAll", group), check_rows("AlltoAll", input_x)
    if check_int(split_count, "AlltoAll", "split_count") != ranks.size:
        raise ValueError(
            f"For 'AlltoAll', 'split_count' must be the number of ranks, {ranks.size}, but got {split_count}"
        )
    axes = [
        check_int(value, "AlltoAll", name) for name, value in (("split_dim", split_dim), ("concat_dim", concat_dim))
    ]
    first, second = (one_axis(axis, x.ndim, "AlltoAll") for axis in axes)
    check_divides("AlltoAll", "input_x", x, first, ranks)
    result: Tensor = all_to_all(x, split_axis=first, concat_axis=second, group=ranks.name)
    return result


@declare(primitive=prim("AlltoAllV", group=WORLD, block_size=1))
def _all_to_all_v_class(
    input_x: Tensor, send_numel_list: Any, recv_numel_list: Any, group: str | None, block_size: int
) -> Tensor:
    """Return the concatenation of the elements of all ranks for this rank.

    Args:
        input_x: of one axis: the elements for each rank, one after the other.
        send_numel_list: the number of blocks for each rank.
        recv_numel_list: the number of blocks from each rank.
        group: the name of a group of ranks.
        block_size: the number of elements of a block.
    """
    ranks, block = member("AlltoAllV", group), check_int(block_size, "AlltoAllV", "block_size")
    sent, received = (
        tuple([size * block for size in check_sizes("AlltoAllV", name, sizes, ranks)])
        for name, sizes in (("send_numel_list", send_numel_list), ("recv_numel_list", recv_numel_list))
    )
    x = check_length("AlltoAllV", "input_x", input_x, sum(sent))
    result: Tensor = all_to_all_v(x, sent=sent, received=received, group=ranks.name)
    return result


@declare(primitive=prim("AlltoAllVC", group=WORLD, block_size=1, transpose=False))
def _all_to_all_v_c_class(
    input_x: Tensor, send_count_matrix: Any, group: str | None, block_size: int, transpose: bool
) -> Tensor:
    """Return the concatenation of the elements of all ranks for this rank, from the counts of all ranks.

    Args:
        input_x: of one axis: the elements for each rank, one after the other.
        send_count_matrix: at ``i * ranks + j`` the number of blocks that rank i sends to rank j.
        group: the name of a group of ranks.
        block_size: the number of elements of a block.
        transpose: whether that number is at ``j * ranks + i``.
    """
    ranks = member("AlltoAllVC", group)
    counts: Any = send_count_matrix
    counts = counts.asnumpy().reshape(-1).tolist() if isinstance(counts, Tensor) else counts
    count = ranks.size
    if not isinstance(counts, list | tuple) or len(counts) != count * count:
        raise ValueError(f"For 'AlltoAllVC', 'send_count_matrix' must hold {count * count} numbers, but got {counts!r}")
    matrix = np.asarray(counts, np.int64).reshape(count, count)
    matrix = matrix.T if transpose else matrix
    rank = ranks.rank or 0
    return _all_to_all_v_class(input_x, matrix[rank].tolist(), matrix[:, rank].tolist(), group, block_size)


@declare(primitive=prim("Barrier", group=WORLD))
def _barrier_class(group: str | None) -> Tensor:
    """Wait for all ranks of a group.

    Args:
        group: the name of a group of ranks.

    Returns:
        A tensor of one zero.
    """
    wait_for_all(member("Barrier", group))
    return Tensor._wrap(np.zeros(1, np.float32))


@declare(primitive=prim("Send", "sr_tag", "dest_rank", group=WORLD, group_back=WORLD))
def _send_class(input_x: Tensor, sr_tag: int, dest_rank: int, group: str | None, group_back: str | None) -> Tensor:
    """Send the tensor to another rank.

    Args:
        input_x: the tensor.
        sr_tag: distinguishes the messages between two ranks.
        dest_rank: the number of the receiver in the group.
        group: the name of a group of ranks.
        group_back: that of the backward pass; the gradient comes by ``group``.

    Returns:
        The tensor; its gradient is the one that the other rank's ``Receive`` sends back.
    """
    ranks = member("Send", group)
    to, tag = check_root("Send", "dest_rank", dest_rank, ranks), check_tag("Send", sr_tag)
    result: Tensor = send(check_tensor(input_x, "Send", "input_x"), to=to, tag=tag, group=ranks.name)
    return result


@declare(primitive=prim("Receive", "sr_tag", "src_rank", "shape", "dtype", group=WORLD, group_back=WORLD))
def _receive_class(
    input_x: Tensor | None = None,
    sr_tag: int = 0,
    src_rank: int = 0,
    shape: Sequence[int] = (),
    dtype: DTypeLike | None = None,
    group: str | None = WORLD,
    group_back: str | None = WORLD,
) -> Tensor:
    """Receive a tensor from another rank.

    Args:
        input_x: a tensor that requires a gradient, if the received tensor is to send its gradient back.
        sr_tag: that of the sender.
        src_rank: the number of the sender in the group.
        shape: of the received tensor.
        dtype: of the received tensor.
        group: the name of a group of ranks.
        group_back: accepted for MindSpore; the gradient also uses ``group``.
    """
    ranks = member("Receive", group)
    source, tag = check_root("Receive", "src_rank", src_rank, ranks), check_tag("Receive", sr_tag)
    x = Tensor._wrap(np.zeros(1, np.float32)) if input_x is None else check_tensor(input_x, "Receive", "input_x")
    kind = numpy_dtype(float32 if dtype is None else dtype)
    result: Tensor = receive(x, source=source, tag=tag, shape=tuple(shape), dtype=kind, group=ranks.name)
    return result


@declare(
    primitive=prim("BatchISendIRecv", "op_types", "remote_ranks", receive_shapes=None, receive_dtypes=None, group=WORLD)
)
def _batch_class(
    input_x: Any,
    op_types: Sequence[str],
    remote_ranks: Sequence[int],
    receive_shapes: Sequence[Any] | None,
    receive_dtypes: Sequence[Any] | None,
    group: str | None,
) -> tuple[Tensor, ...]:
    """Send and receive several messages, without gradients.

    Args:
        input_x: a tuple of the tensors that are sent, in their order.
        op_types: "isend" or "irecv" of each message.
        remote_ranks: the number in the group of each other rank.
        receive_shapes: the shapes of the received tensors, in their order.
        receive_dtypes: the dtypes of the received tensors.
        group: the name of a group of ranks.

    Returns:
        For each message the received tensor; a zero for one that was sent.
    """
    name, ranks = "BatchISendIRecv", member("BatchISendIRecv", group)
    sent = iter([check_tensor(x, name, "input_x") for x in input_x or () if x is not None])
    specifications = iter(list(zip(receive_shapes or (), receive_dtypes or (), strict=True)))
    if len(op_types) != len(remote_ranks):
        raise ValueError(f"For '{name}', 'op_types' and 'remote_ranks' must have one length, but got {op_types!r}")
    pending: list[Any] = []
    for kind, rank in zip(op_types, remote_ranks, strict=True):
        peer = check_root(name, "remote_ranks", rank, ranks)
        if kind == "isend" and (x := next(sent, None)) is not None:
            mailbox.send(ranks, on_host(x._array), peer, 0, line())
            pending.append(None)
        elif kind == "irecv" and (item := next(specifications, None)) is not None:
            like = np.empty(tuple(item[0]), numpy_dtype(item[1]))
            pending.append(mailbox.receive(ranks, like, peer, 0, line()))
        else:
            raise ValueError(
                f"For '{name}', 'op_types' must be 'isend', with a tensor each, or 'irecv', with a shape and a dtype "
                f"each, but got {op_types!r}"
            )
    zero = np.zeros((), np.float32)
    return tuple([Tensor._wrap(zero if item is None else item.wait()) for item in pending])


def wait_for_all(ranks: Group) -> None:
    """Wait for all ranks of a group."""
    exchange.start("barrier", "", line(), ranks, lambda: None).wait()


def check_tag(caller: str, tag: int) -> int:
    """Return the tag of a message; raise TypeError or ValueError if it is invalid."""
    if not 0 <= check_int(tag, caller, "tag") <= _HIGHEST_TAG:
        raise ValueError(f"For '{caller}', 'tag' must be from 0 to {_HIGHEST_TAG}, but got {tag}")
    return tag


def check_rows(caller: str, x: Any, argument: str = "input_x") -> Tensor:
    """Return a tensor with at least one axis; raise TypeError or ValueError for others."""
    if not check_tensor(x, caller, argument).ndim:
        raise ValueError(f"For '{caller}', '{argument}' must have an axis, but got shape ()")
    return x


def check_divides(caller: str, argument: str, x: Tensor, axis: int, ranks: Group) -> Tensor:
    """Return a tensor with an axis that the number of ranks divides; raise ValueError for others."""
    if x.shape[axis] % ranks.size:
        raise ValueError(
            f"For '{caller}', the {ranks.size} ranks must divide axis {axis} of '{argument}', but got shape {x.shape}"
        )
    return x


def check_length(caller: str, argument: str, x: Any, length: int) -> Tensor:
    """Return a tensor of one axis of this length; raise TypeError or ValueError for others."""
    if check_tensor(x, caller, argument).shape != (length,):
        raise ValueError(f"For '{caller}', '{argument}' must have shape {(length,)}, but got {x.shape}")
    return x
