"""In-place collectives, and everything else in ``mindspore.ops.communication``.

Arguments and results are world ranks, also for members of a group. ``mindspore.mint.distributed`` has the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.module_names import on_first_use
from ...base.types import Array
from ...distributed import exchange
from ...distributed.notes import describe
from ...distributed.world import Group
from ...ops import collectives as table
from ...ops.arguments import check_tensor
from ...tensors.tensor import Tensor
from .handles import CommHandle
from .messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .object_lists import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .process_groups import (
    check_call,
    destroy_process_group,
    get_backend,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    in_group,
    init_process_group,
    is_available,
    is_initialized,
    new_group,
)
from .results import gives_new, set_comm_ops_inplace

__all__ = [
    "P2POp",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_into_tensor_uneven",
    "all_gather_object",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "all_to_all_v_c",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_into_tensor",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_uneven",
    "scatter",
    "scatter_object_list",
    "scatter_tensor",
    "send",
    "send_object_list",
    "set_comm_ops_inplace",
]

Handle = CommHandle | None

# Collectives


def _run(
    caller: str,
    into: Tensor | None,
    agreement: str,
    group: Group,
    x: Tensor,
    async_op: bool,
    operator: Callable[[], Tensor],
    exchanged: Callable[[Array], Array],
) -> Any:
    """Write the result into a tensor, or return it; asynchronously when ``wait`` of the handle is called.

    Args:
        caller: the name of the collective, which the ranks must agree on.
        into: the tensor to write to; None for a new one.
        agreement: a description of everything else that the ranks must agree on.
        group: the ranks.
        x: this rank's input.
        async_op: whether to run in the background.
        operator: the differentiable operator of the table, used by synchronous calls.
        exchanged: the same on a copy of the array.
    """
    check_bool(async_op, caller, "async_op")
    if not async_op:
        result = operator()
        if into is None:
            return result, None
        into.copy_(result if result.shape == into.shape else result.reshape(into.shape))
        return None
    copy = table.on_host(x._array).copy()
    pending = exchange.start(caller, agreement, table.line(), group, lambda: exchanged(copy))
    target = Tensor._wrap(x._array) if into is None else into

    def then(array: Array) -> None:
        fits = target._array.size == array.size
        target._rebind(table.on_device_of(x._array, array.reshape(target.shape) if fits else array))

    handle = CommHandle(pending, then)
    return (target, handle) if into is None else handle


def _of(x: Tensor) -> str:
    return describe(x._array)


def _check_size(caller: str, argument: str, x: Tensor, size: int, like: Tensor) -> None:
    if x._array.size != size or x.dtype != like.dtype:
        raise ValueError(
            f"For '{caller}', '{argument}' must have {size} elements of {like.dtype}, but got {x.dtype} of "
            f"shape {x.shape}"
        )


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False) -> Any:
    """Reduce all ranks' tensors, in place.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: not a tensor, not a bool, or a dtype that does not suit ``op``.
        ValueError: an unknown ``op``, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (x,) = check_call("all_reduce", group, tensor=tensor)
    reduction = table.check_reduction("all_reduce", op, x)
    return all_reduced(None if "all_reduce" in gives_new else x, x, reduction, process_group, async_op)


def all_reduced(into: Tensor | None, x: Tensor, op: str, group: Group, async_op: bool) -> Any:
    """Run ``all_reduce`` on checked arguments, into a tensor or a new one."""
    return _run(
        "all_reduce",
        into,
        f"{op}, {_of(x)}",
        group,
        x,
        async_op,
        lambda: table.all_reduce(x, op=op, group=group.name),
        lambda array: exchange.all_reduce(group, array, op),
    )


def all_gather_into_tensor(
    output_tensor: Tensor | None, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> Any:
    """Concatenate all ranks' tensors along the first axis, into a tensor.

    Args:
        output_tensor: receives the result: as many elements as all tensors have.
        input_tensor: the tensor of this rank; all have the same shape and dtype.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: not a tensor, or not a bool.
        ValueError: an output of the wrong size or dtype, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "all_gather_into_tensor"
    process_group, (x,) = check_call(caller, group, input_tensor=input_tensor)
    table.check_rows(caller, x, "input_tensor")
    into = None if caller in gives_new else check_tensor(output_tensor, caller, "output_tensor")
    if into is not None:
        _check_size(caller, "output_tensor", into, x._array.size * process_group.size, x)
    return all_gathered(into, x, process_group, async_op)


def all_gathered(into: Tensor | None, x: Tensor, group: Group, async_op: bool) -> Any:
    """Run ``all_gather_into_tensor`` on checked arguments, into a tensor or a new one."""
    sizes = [x.shape[0]] * group.size
    return _run(
        "all_gather",
        into,
        _of(x),
        group,
        x,
        async_op,
        lambda: table.all_gather(x, group=group.name),
        lambda array: exchange.all_gather(group, array, sizes),
    )


def all_gather_into_tensor_uneven(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Handle:
    """Concatenate all ranks' tensors along the first axis, in which lengths may differ, into a tensor.

    Args:
        output: receives the result.
        input: the tensor of this rank; the shapes differ in the first axis at most.
        output_split_sizes: the length of each rank's first axis; None for equal lengths.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not a tensor, or not a bool.
        ValueError: lengths that do not fit the tensors, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "all_gather_into_tensor_uneven"
    process_group, (x, into) = check_call(caller, group, input=input, output=output)
    table.check_rows(caller, x, "input")
    lengths = output_split_sizes or [x.shape[0]] * process_group.size
    sizes = table.check_sizes(caller, "output_split_sizes", lengths, process_group)
    if sizes[process_group.rank or 0] != x.shape[0]:
        raise ValueError(f"For '{caller}', this rank's 'output_split_sizes' must be {x.shape[0]}, but got {sizes}")
    _check_size(caller, "output", into, sum(sizes) * (x._array.size // max(x.shape[0], 1)), x)
    return _run(
        "all_gather",
        into,
        f"{x._array.dtype.name} {[*sizes, *x.shape[1:]]}",
        process_group,
        x,
        async_op,
        lambda: table.all_gather(x, group=process_group.name, sizes=sizes),
        lambda array: exchange.all_gather(process_group, array, sizes),
    )


def reduce_scatter_tensor(
    output: Tensor | None, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Reduce all ranks' tensors and write this rank's share of the first axis into a tensor.

    Args:
        output: receives the result.
        input: the tensor of this rank; the ranks divide its first axis.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: not a tensor, not a bool, or a dtype that does not suit ``op``.
        ValueError: sizes that do not fit, an unknown ``op``, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "reduce_scatter_tensor"
    process_group, (x,) = check_call(caller, group, input=input)
    reduction = table.check_reduction(caller, op, x)
    table.check_divides(caller, "input", table.check_rows(caller, x, "input"), 0, process_group)
    into = None if caller in gives_new else check_tensor(output, caller, "output")
    if into is not None:
        _check_size(caller, "output", into, x._array.size // process_group.size, x)
    return reduce_scattered(into, x, reduction, process_group, async_op)


def reduce_scattered(into: Tensor | None, x: Tensor, op: str, group: Group, async_op: bool) -> Any:
    """Run ``reduce_scatter_tensor`` on checked arguments, into a tensor or a new one."""
    sizes = [x.shape[0] // group.size] * group.size
    return _run(
        "reduce_scatter",
        into,
        f"{op}, {sizes} of {_of(x)}",
        group,
        x,
        async_op,
        lambda: table.reduce_scatter(x, op=op, group=group.name),
        lambda array: exchange.reduce_scatter(group, array, sizes, op),
    )


def reduce_scatter_tensor_uneven(
    output: Tensor,
    input: Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Handle:
    """Reduce all ranks' tensors and write this rank's share, of any length, into a tensor.

    Args:
        output: receives the result.
        input: the tensor of this rank.
        input_split_sizes: the length of each rank's share of the first axis; None for equal lengths.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not a tensor, not a bool, or a dtype that does not suit ``op``.
        ValueError: lengths that do not fit, an unknown ``op``, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "reduce_scatter_tensor_uneven"
    process_group, (x, into) = check_call(caller, group, input=input, output=output)
    reduction = table.check_reduction(caller, op, x)
    table.check_rows(caller, x, "input")
    if not input_split_sizes:
        table.check_divides(caller, "input", x, 0, process_group)
    lengths = input_split_sizes or [x.shape[0] // process_group.size] * process_group.size
    sizes = table.check_sizes(caller, "input_split_sizes", lengths, process_group)
    if sum(sizes) != x.shape[0]:
        raise ValueError(f"For '{caller}', 'input_split_sizes' must add up to {x.shape[0]}, but got {sizes}")
    _check_size(caller, "output", into, sizes[process_group.rank or 0] * (x._array.size // max(x.shape[0], 1)), x)
    return _run(
        "reduce_scatter",
        into,
        f"{reduction}, {list(sizes)} of {_of(x)}",
        process_group,
        x,
        async_op,
        lambda: table.reduce_scatter(x, op=reduction, group=process_group.name, sizes=sizes),
        lambda array: exchange.reduce_scatter(process_group, array, sizes, reduction),
    )


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False) -> Handle:
    """Reduce all ranks' tensors into the tensor of one rank; the others' stay.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        dst: the world rank of the receiver.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not a tensor, not an int, not a bool, or a dtype that does not suit ``op``.
        ValueError: an unknown ``op``, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (x,) = check_call("reduce", group, tensor=tensor)
    root, reduction = in_group("reduce", "dst", process_group, dst), table.check_reduction("reduce", op, x)
    is_mine = root == process_group.rank

    def exchanged(array: Array) -> Array:
        result = exchange.reduce(process_group, array, root, reduction)
        return result if is_mine else array

    return _run(
        "reduce",
        x,
        f"{reduction} to rank {dst}, {_of(x)}",
        process_group,
        x,
        async_op,
        lambda: _where(is_mine, table.reduce(x, root=root, op=reduction, group=process_group.name), x),
        exchanged,
    )


def _where(is_mine: bool, result: Tensor, otherwise: Tensor) -> Tensor:
    return result if is_mine else otherwise


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> Handle:
    """Broadcast the tensor of one rank into those of all.

    Args:
        tensor: the tensor to send, or to receive into.
        src: the world rank of the tensor's owner.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not a tensor, not an int or not a bool.
        ValueError: a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (x,) = check_call("broadcast", group, tensor=tensor)
    root = in_group("broadcast", "src", process_group, src)
    return _run(
        "broadcast",
        x,
        f"rank {src}'s {_of(x)}",
        process_group,
        x,
        async_op,
        lambda: table.broadcast(x, root=root, group=process_group.name),
        lambda array: exchange.broadcast(process_group, array, root),
    )


def gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, dst: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """Concatenate all ranks' tensors along the first axis, into a tensor of one rank.

    Args:
        output_tensor: receives the result on that rank; the others' stays.
        input_tensor: the tensor of this rank; all have the same shape and dtype.
        dst: the world rank of the receiver.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not a tensor, not an int or not a bool.
        ValueError: an output of the wrong size, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "gather_into_tensor"
    process_group, (x, into) = check_call(caller, group, input_tensor=input_tensor, output_tensor=output_tensor)
    table.check_rows(caller, x, "input_tensor")
    root = in_group(caller, "dst", process_group, dst)
    is_mine = root == process_group.rank
    if is_mine:
        _check_size(caller, "output_tensor", into, x._array.size * process_group.size, x)
    unchanged = table.on_host(into._array)

    def exchanged(array: Array) -> Array:
        result = exchange.gather(process_group, array, root)
        return unchanged if result is None else result

    return _run(
        "gather",
        into,
        f"to rank {dst}, {_of(x)}",
        process_group,
        x,
        async_op,
        lambda: _where(is_mine, table.gather(x, root=root, group=process_group.name), into),
        exchanged,
    )


def scatter_tensor(
    output_tensor: Tensor, input_tensor: Tensor, src: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """Scatter one rank's tensor along the first axis, into a tensor.

    Args:
        output_tensor: receives the result.
        input_tensor: the tensor to divide; on the other ranks it has the shape and dtype of that one.
        src: the world rank of the tensor's owner.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not a tensor, not an int or not a bool.
        ValueError: sizes that do not fit, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "scatter_tensor"
    process_group, (x, into) = check_call(caller, group, input_tensor=input_tensor, output_tensor=output_tensor)
    table.check_divides(caller, "input_tensor", table.check_rows(caller, x, "input_tensor"), 0, process_group)
    root = in_group(caller, "src", process_group, src)
    _check_size(caller, "output_tensor", into, x._array.size // process_group.size, x)
    return _run(
        "scatter",
        into,
        f"rank {src}'s {_of(x)}",
        process_group,
        x,
        async_op,
        lambda: table.scatter(x, root=root, group=process_group.name),
        lambda array: exchange.scatter(process_group, array, root),
    )


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> Handle:
    """Wait for all ranks of a group.

    Args:
        group: the name of a group; None for the world.
        async_op: whether to return a handle instead, whose ``wait()`` waits for them.
        device_ids: for Ascend devices.

    Raises:
        TypeError: not a str or not a bool.
        ValueError: this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    process_group = table.member("barrier", group)
    pending = exchange.start("barrier", "", table.line(), process_group, lambda: None)
    if check_bool(async_op, "barrier", "async_op"):
        return CommHandle(pending)
    pending.wait()
    return None


def _tensors(caller: str, argument: str, value: Any) -> list[Tensor]:
    if not isinstance(value, list | tuple):
        raise TypeError(
            f"For '{caller}', '{argument}' must be a list or tuple of Tensors, but got {type(value).__name__}"
        )
    return [check_tensor(x, caller, argument) for x in value]


def tensors_of_ranks(caller: str, argument: str, value: Any, group: Group) -> list[Tensor]:
    """Return a tensor for each rank of a group; else raise TypeError or ValueError."""
    tensors = _tensors(caller, argument, value)
    if len(tensors) != group.size:
        raise ValueError(
            f"For '{caller}', '{argument}' must hold {group.size} tensors, one for each rank, but got {len(tensors)}"
        )
    return tensors


def _parts(tensors: Sequence[Tensor], flat: Tensor) -> None:
    """Write the parts of a tensor of one axis into tensors."""
    at = 0
    for part in tensors:
        size = part._array.size
        part.copy_(flat[at : at + size].reshape(part.shape))
        at += size


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    from ... import ops

    return ops.concat([tensor.reshape(-1) for tensor in tensors])


def _fill(caller: str, tensors: Sequence[Tensor], result: Any, async_op: bool) -> Handle:
    """Write results into several tensors: immediately, or when ``wait`` is called."""
    if not async_op:
        _parts(tensors, result[0].reshape(-1))
        return None
    _, handle = result

    def then(array: Array) -> None:
        _parts(tensors, Tensor._wrap(table.on_device_of(tensors[0]._array, array.reshape(-1))))

    return CommHandle(handle._pending, then if tensors else None)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False) -> Handle:
    """Gather all ranks' tensors, each into one of a list.

    Args:
        tensor_list: receive the results, in rank order.
        tensor: the tensor of this rank.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the results.

    Raises:
        TypeError: not tensors, or not a bool.
        ValueError: a list of the wrong length or with the wrong shapes, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (x,) = check_call("all_gather", group, tensor=tensor)
    into = tensors_of_ranks("all_gather", "tensor_list", tensor_list, process_group)
    _check_size("all_gather", "tensor_list", into[process_group.rank or 0], x._array.size, x)
    sizes = tuple([target._array.size for target in into])
    flat = x.reshape(-1)
    result = _run(
        "all_gather",
        None,
        f"{x._array.dtype.name} {list(sizes)}",
        process_group,
        flat,
        async_op,
        lambda: table.all_gather(flat, group=process_group.name, sizes=sizes),
        lambda array: exchange.all_gather(process_group, array, sizes),
    )
    return _fill("all_gather", into, result, async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: str = "sum", group: str | None = None, async_op: bool = False
) -> Handle:
    """Reduce all ranks' tensors for this one into a tensor.

    Args:
        output: receives the result.
        input_list: this rank's tensor for each.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not tensors, not a bool, or a dtype that does not suit ``op``.
        ValueError: a list of the wrong length or with the wrong shapes, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (into,) = check_call("reduce_scatter", group, output=output)
    tensors = tensors_of_ranks("reduce_scatter", "input_list", input_list, process_group)
    sizes = [item._array.size for item in tensors]
    _check_size("reduce_scatter", "output", into, sizes[process_group.rank or 0], tensors[0])
    return reduce_scatter_tensor_uneven(into, _flat(tensors), sizes, op, group, async_op)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None, dst: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """Gather all ranks' tensors, each into one of a list, on one rank.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        gather_list: receive the results on that rank; ignored on the others.
        dst: the world rank of the receiver.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the results.

    Raises:
        TypeError: not tensors, not an int or not a bool.
        ValueError: a list of the wrong length, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (x,) = check_call("gather", group, tensor=tensor)
    root = in_group("gather", "dst", process_group, dst)
    into = tensors_of_ranks("gather", "gather_list", gather_list, process_group) if root == process_group.rank else []
    for target in into:
        _check_size("gather", "gather_list", target, x._array.size, x)
    flat = x.reshape(-1)

    def exchanged(array: Array) -> Array:
        result = exchange.gather(process_group, array, root)
        return array if result is None else result

    result = _run(
        "gather",
        None,
        f"to rank {dst}, {_of(flat)}",
        process_group,
        flat,
        async_op,
        lambda: table.gather(flat, root=root, group=process_group.name),
        exchanged,
    )
    return _fill("gather", into, result, async_op)


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None, src: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """Scatter one rank's tensors; this rank's is written into a tensor.

    Args:
        tensor: receives the result.
        scatter_list: a tensor for each rank, on the source rank; ignored on the others.
        src: the world rank of the source.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not tensors, not an int or not a bool.
        ValueError: a list of the wrong length or with the wrong shapes, a rank outside the group, or this process is
            not in it.
        RuntimeError: the ranks' calls differ.
    """
    process_group, (into,) = check_call("scatter", group, tensor=tensor)
    root = in_group("scatter", "src", process_group, src)
    tensors = (
        tensors_of_ranks("scatter", "scatter_list", scatter_list, process_group)
        if root == process_group.rank
        else [into] * process_group.size
    )
    for source in tensors:
        _check_size("scatter", "scatter_list", source, into._array.size, into)
    flat = _flat(tensors)
    return _run(
        "scatter",
        into,
        f"rank {src}'s {_of(flat)}",
        process_group,
        flat,
        async_op,
        lambda: table.scatter(flat, root=root, group=process_group.name),
        lambda array: exchange.scatter(process_group, array, root),
    )


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: str | None = None, async_op: bool = False
) -> Handle:
    """Exchange a tensor with each rank, each written into one of a list.

    Args:
        output_tensor_list: receive the results, in rank order.
        input_tensor_list: this rank's tensor for each.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the results.

    Raises:
        TypeError: not tensors, or not a bool.
        ValueError: a list of the wrong length, or this process is not in the group.
        RuntimeError: the ranks' calls differ, or a different number of elements than expected is sent.
    """
    process_group = table.member("all_to_all", group)
    into = tensors_of_ranks("all_to_all", "output_tensor_list", output_tensor_list, process_group)
    inputs = tensors_of_ranks("all_to_all", "input_tensor_list", input_tensor_list, process_group)
    send_sizes, receive_sizes = (tuple([item._array.size for item in tensors]) for tensors in (inputs, into))
    return _fill(
        "all_to_all", into, _exchange_all(process_group, _flat(inputs), send_sizes, receive_sizes, async_op), async_op
    )


def _exchange_all(
    group: Group, flat: Tensor, sent: tuple[int, ...], received: tuple[int, ...], async_op: bool
) -> tuple[Tensor, Handle]:
    """Return the result of ``all_to_all_v`` and the handle; lengths may differ between ranks."""
    if not check_bool(async_op, "all_to_all", "async_op"):
        return table.all_to_all_v(flat, sent=sent, received=received, group=group.name), None
    copy = table.on_host(flat._array).copy()
    pending = exchange.start(
        "all_to_all_v", copy.dtype.name, table.line(), group, lambda: exchange.all_to_all(group, copy, sent, received)
    )
    return flat, CommHandle(pending)


def all_to_all_single(
    output: Tensor | None,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Exchange parts with each rank, concatenated along the first axis into a tensor.

    Args:
        output: receives the result.
        input: this rank's parts for each, concatenated.
        output_split_sizes: the length received from each rank; None for equal lengths.
        input_split_sizes: the length sent to each rank; None for equal lengths.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: not tensors, or not a bool.
        ValueError: lengths that do not fit, or this process is not in the group.
        RuntimeError: the ranks' calls differ, or a different number of elements than expected is sent.
    """
    caller = "all_to_all_single"
    process_group, (x,) = check_call(caller, group, input=input)
    into = None if caller in gives_new else check_tensor(output, caller, "output")
    row = table.check_rows(caller, x, "input")._array.size // max(x.shape[0], 1)
    sent_lengths = _lengths(caller, "input", input_split_sizes, x, process_group)
    received_lengths = _lengths(caller, "output", output_split_sizes, x if into is None else into, process_group)
    if into is not None:
        _check_size(caller, "output", into, sum(received_lengths) * row, x)
    result, handle = _exchange_all(
        process_group,
        x.reshape(-1),
        tuple([n * row for n in sent_lengths]),
        tuple([n * row for n in received_lengths]),
        async_op,
    )
    if into is not None:
        return _fill(caller, [into], (result, handle), async_op)
    if handle is None:
        return result.reshape((-1, *x.shape[1:])), None
    target = Tensor._wrap(x._array)
    shape = (-1, *x.shape[1:])
    wrapped = CommHandle(
        handle._pending, lambda array: target._rebind(table.on_device_of(x._array, array.reshape(shape)))
    )
    return target, wrapped


def _lengths(caller: str, argument: str, sizes: Sequence[int] | None, x: Tensor, group: Group) -> tuple[int, ...]:
    if not sizes:
        table.check_divides(caller, argument, table.check_rows(caller, x, argument), 0, group)
        return (x.shape[0] // group.size,) * group.size
    lengths = table.check_sizes(caller, f"{argument}_split_sizes", sizes, group)
    if sum(lengths) != x.shape[0]:
        raise ValueError(f"For '{caller}', '{argument}_split_sizes' must add up to {x.shape[0]}, but got {[*lengths]}")
    return lengths


def all_to_all_v_c(
    output: Tensor, input: Tensor, send_count_matrix: Sequence[int], group: str | None = None, async_op: bool = False
) -> Handle:
    """Exchange parts with each rank, sized by the counts of all, into a tensor of one axis.

    Args:
        output: receives the result.
        input: of one axis: this rank's parts for each, concatenated.
        send_count_matrix: at ``i * ranks + j`` the number of elements that rank i sends to rank j.
        group: the name of a group; None for the world.
        async_op: whether to run in the background; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: not tensors, or not a bool.
        ValueError: numbers that do not fit, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    caller = "all_to_all_v_c"
    process_group, (x, into) = check_call(caller, group, input=input, output=output)
    count, me = process_group.size, process_group.rank or 0
    if not isinstance(send_count_matrix, list | tuple) or len(send_count_matrix) != count * count:
        raise ValueError(
            f"For '{caller}', 'send_count_matrix' must hold {count * count} numbers, but got {send_count_matrix!r}"
        )
    matrix = np.asarray(send_count_matrix, np.int64).reshape(count, count)
    sent_counts, received_counts = tuple(matrix[me].tolist()), tuple(matrix[:, me].tolist())
    table.check_length(caller, "input", x, sum(sent_counts))
    _check_size(caller, "output", into, sum(received_counts), x)
    return _fill(caller, [into], _exchange_all(process_group, x, sent_counts, received_counts, async_op), async_op)


__getattr__ = on_first_use(__name__)
