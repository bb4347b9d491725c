"""What ``mindspore.ops.communication`` and ``mindspore.mint.distributed`` offer: results are written into tensors.

Ranks are named by their numbers in the world here, also those of a group.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.checks import check_bool, check_int
from ..core.dtype import int64
from ..core.names import on_first_use
from ..core.tensor import Tensor
from ..core.types import Array
from ..ops import collectives as table
from ..ops.arguments import check_tensor
from ..ranks import exchange, mailbox
from ..ranks import world as ranks
from ..ranks.notes import described
from ..ranks.world import Group, group_of
from . import GlobalComm, create_group, destroy_group, init, release
from .handles import CommHandle
from .objects import from_bytes, to_bytes

__all__ = [
    "P2POp", "all_gather", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_gather_object", "all_reduce",
    "all_to_all", "all_to_all_single", "all_to_all_v_c", "barrier", "batch_isend_irecv", "broadcast",
    "broadcast_object_list", "destroy_process_group", "gather", "gather_into_tensor", "gather_object", "get_backend",
    "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group",
    "irecv", "is_available", "is_initialized", "isend", "new_group", "recv", "recv_object_list", "reduce",
    "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_tensor_uneven", "scatter", "scatter_object_list",
    "scatter_tensor", "send", "send_object_list", "set_comm_ops_inplace",
]  # fmt: skip

Handle = CommHandle | None

_TWO_WAYS = ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single", "recv", "irecv")
"""Functions that can also give their result as a new tensor (``set_comm_ops_inplace``)."""
_gives_new: set[str] = set()


# Ranks and groups


def is_available() -> bool:
    """Whether processes can exchange values: whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_initialized() -> bool:
    """Whether ``init_process_group`` or ``mindspore.communication.init`` was called."""
    return GlobalComm.INITED


def init_process_group(
    backend: str = "hccl",
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: int | None = None,
) -> None:
    """Meet the other ranks of this run, which MPI has started.

    Args:
        backend: "hccl", "nccl" or "mccl"; all are MPI here.
        init_method: None: MPI knows where the others are.
        timeout: kept by nobody: ranks wait until the others come.
        world_size: how many ranks there must be; -1 for any number.
        rank: the number that this one must have; -1 for any.
        store: None, likewise.
        group_name: kept by nobody: the group of all ranks has its names.
        pg_options: for Ascend devices.
        device_id: for Ascend devices.

    Raises:
        ValueError: ``init_method`` or ``store``, or other numbers than MPI's.
        RuntimeError: an unknown backend, or mpi4py is not installed.
    """
    if init_method is not None or store is not None:
        raise ValueError(
            "For 'init_process_group', 'init_method' and 'store' must be None: ranks are started by MPI, "
            "as 'hookscope run --ranks N script.py' does, which knows where they are"
        )
    init(backend)
    everybody = ranks.world().everybody
    for name, wanted, found in (("world_size", world_size, everybody.size), ("rank", rank, everybody.rank)):
        if wanted not in (-1, found):
            raise ValueError(f"For 'init_process_group', '{name}' must be -1 or {found}, but got {wanted}")


def destroy_process_group(group: str | None = None) -> None:
    """Forget a group.

    Args:
        group: its name; None, or the group of all ranks, for all of them.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    if group is None or group in ranks.WORLDS:
        release()
    else:
        destroy_group(group)


def _group(who: str, group: str | None) -> Group:
    return group_of(who, table.WORLD if group is None else group)


def get_rank(group: str | None = None) -> int:
    """This process's number in a group; -1 where it is none of it.

    Args:
        group: the name of the group; None for that of all ranks.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    found = _group("get_rank", group).rank
    return -1 if found is None else found


def get_world_size(group: str | None = None) -> int:
    """How many ranks a group has; -1 where this process is none of it.

    Args:
        group: the name of the group; None for that of all ranks.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    found = _group("get_world_size", group)
    return -1 if found.rank is None else found.size


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """The numbers in the world of a group's ranks.

    Args:
        group: the name of the group; None for that of all ranks.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    return [*_group("get_process_group_ranks", group).ranks]


def get_global_rank(group: str | None, group_rank: int) -> int:
    """The number in the world of a rank of a group.

    Args:
        group: the name of the group; None for that of all ranks.
        group_rank: the number in the group.

    Raises:
        TypeError: no int, or no str.
        ValueError: there is no such group or rank.
    """
    found = _group("get_global_rank", group)
    return found.ranks[table.check_root("get_global_rank", "group_rank", group_rank, found)]


def get_group_rank(group: str | None, global_rank: int) -> int:
    """The number in a group of a rank of the world.

    Args:
        group: the name of the group; None for that of all ranks.
        global_rank: the number in the world.

    Raises:
        TypeError: no int, or no str.
        ValueError: there is no such group, or the rank is none of it.
    """
    return _in_group("get_group_rank", "global_rank", _group("get_group_rank", group), global_rank)


def _in_group(who: str, argument: str, group: Group, rank: int) -> int:
    if check_int(rank, who, argument) not in group.ranks:
        raise ValueError(f"For '{who}', '{argument}' must be one of {[*group.ranks]}, but got {rank}")
    return group.ranks.index(rank)


def new_group(
    ranks: list[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """Make a group of ranks; all of them call it, and wait for each other.

    Args:
        ranks: the numbers in the world of its ranks; None for all of them.
        timeout: kept by nobody: ranks wait until the others come.
        backend: None, "hccl" or "mccl"; all are MPI here.
        pg_options: for Ascend devices.
        use_local_synchronization: kept by nobody: ranks outside need not call it anyway.
        group_desc: kept by nobody.

    Returns:
        Its name, the same for the same ranks.

    Raises:
        TypeError: ``ranks`` is no list of ints, or another backend.
        ValueError: a rank that is not there, or twice.
    """
    if backend not in (None, "hccl", "mccl"):
        raise TypeError(f"For 'new_group', 'backend' must be 'hccl' or 'mccl', but got {backend!r}")
    if ranks is None:
        return table.WORLD
    if not isinstance(ranks, list):
        raise TypeError(f"For 'new_group', 'ranks' must be a list, but got {type(ranks).__name__}")
    numbers = sorted(ranks)
    digest = hashlib.sha1("_".join(map(str, numbers)).encode(), usedforsecurity=False).hexdigest()
    name = f"{backend or 'hccl'}_{len(numbers)}_{digest}"
    create_group(name, numbers)
    return name


def get_backend(group: str | None = None) -> str:
    """What MindSpore would call the way in which a group exchanges values; here all are MPI.

    Args:
        group: the name of the group; None for that of all ranks.

    Returns:
        "hccl", or "mccl" of a group with that in its name.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _group("get_backend", group)
    return "mccl" if group is not None and "mccl" in group else "hccl"


def set_comm_ops_inplace(is_enable: bool, func_list: Sequence[str] | None = None) -> None:
    """Whether functions write results into tensors, as they do in the beginning, or give new ones.

    Args:
        is_enable: whether they write into tensors.
        func_list: names of functions; None for all that can do both: all_reduce, all_gather_into_tensor,
            reduce_scatter_tensor, all_to_all_single, recv and irecv.

    Raises:
        TypeError: no bool, or no list or tuple.
        ValueError: a function that cannot do both.
    """
    check_bool(is_enable, "set_comm_ops_inplace", "is_enable")
    if func_list is not None and not isinstance(func_list, list | tuple):
        raise TypeError(
            f"For 'set_comm_ops_inplace', 'func_list' must be a list or tuple, but got {type(func_list).__name__}"
        )
    for name in func_list or ():
        if name not in _TWO_WAYS:
            raise ValueError(f"For 'set_comm_ops_inplace', 'func_list' may hold {_TWO_WAYS}, but got {name!r}")
    (_gives_new.difference_update if is_enable else _gives_new.update)(_TWO_WAYS if func_list is None else func_list)


# Collectives


def _given(
    who: str,
    into: Tensor | None,
    agreed: str,
    group: Group,
    x: Tensor,
    async_op: bool,
    operator: Callable[[], Tensor],
    exchanged: Callable[[Array], Array],
) -> Any:
    """The result written into a tensor or given: at once, or when ``wait`` of the handle is called.

    Args:
        who: the name of the collective, which the ranks must agree on.
        into: the tensor that takes it; None for a new one.
        agreed: what else the ranks must agree on, in words.
        group: the ranks.
        x: what this one has.
        async_op: whether it goes on while the rank computes.
        operator: of the table, which has a gradient; called where it is awaited.
        exchanged: the same on a copy of the array.
    """
    check_bool(async_op, who, "async_op")
    if not async_op:
        found = operator()
        if into is None:
            return found, None
        into.copy_(found if found.shape == into.shape else found.reshape(into.shape))
        return None
    copied = table.on_host(x._array).copy()
    done = exchange.started(who, agreed, table.line(), group, lambda: exchanged(copied))
    target = Tensor._wrap(x._array) if into is None else into


    def then(array: Array) -> None:
        fits = target._array.size == array.size
        target._rebind(table.beside(x._array, array.reshape(target.shape) if fits else array))

    handle = CommHandle(done, then)
    return (target, handle) if into is None else handle


def _of(x: Tensor) -> str:
    return described(x._array)


def _checked(who: str, group: str | None, **tensors: Any) -> tuple[Group, list[Tensor]]:
    return table.member(who, group), [check_tensor(x, who, name) for name, x in tensors.items()]


def _check_size(who: str, argument: str, x: Tensor, size: int, like: Tensor) -> None:
    if x._array.size != size or x.dtype != like.dtype:
        raise ValueError(
            f"For '{who}', '{argument}' must have {size} elements of {like.dtype}, "
            f"but got {x.dtype} of shape {x.shape}"
        )


def all_reduce(tensor: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False) -> Any:
    """All ranks' tensors made one, written into the tensor.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: no tensor, no bool, or a dtype that does not suit ``op``.
        ValueError: another ``op``, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (x,) = _checked("all_reduce", group, tensor=tensor)
    way = table.check_reduction("all_reduce", op, x)
    return _given(
        "all_reduce", None if "all_reduce" in _gives_new else x, f"{way}, {_of(x)}", found, x, async_op,
        lambda: table.all_reduce(x, op=way, group=found.name), lambda array: exchange.all_reduce(found, array, way),
    )  # fmt: skip


def all_gather_into_tensor(
    output_tensor: Tensor | None, input_tensor: Tensor, group: str | None = None, async_op: bool = False
) -> Any:
    """All ranks' tensors behind each other along the first axis, written into a tensor.

    Args:
        output_tensor: takes them: as many elements as all have.
        input_tensor: the tensor of this rank; all have the same shape and dtype.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: no tensor, or no bool.
        ValueError: an output of another size or dtype, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "all_gather_into_tensor"
    found, (x,) = _checked(who, group, input_tensor=input_tensor)
    table.check_rows(who, x, "input_tensor")
    into = None if who in _gives_new else check_tensor(output_tensor, who, "output_tensor")
    if into is not None:
        _check_size(who, "output_tensor", into, x._array.size * found.size, x)
    sizes = [x.shape[0]] * found.size
    return _given(
        "all_gather", into, _of(x), found, x, async_op,
        lambda: table.all_gather(x, group=found.name), lambda array: exchange.all_gather(found, array, sizes),
    )  # fmt: skip


def all_gather_into_tensor_uneven(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Handle:
    """All ranks' tensors, of different first axes, behind each other, written into a tensor.

    Args:
        output: takes them.
        input: the tensor of this rank; the shapes differ in the first axis at most.
        output_split_sizes: of each rank the length of its first axis; None where they are equal.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensor, or no bool.
        ValueError: lengths that do not fit the tensors, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "all_gather_into_tensor_uneven"
    found, (x, into) = _checked(who, group, input=input, output=output)
    table.check_rows(who, x, "input")
    given = output_split_sizes or [x.shape[0]] * found.size
    sizes = table.check_sizes(who, "output_split_sizes", given, found)
    if sizes[found.rank or 0] != x.shape[0]:
        raise ValueError(f"For '{who}', this rank's 'output_split_sizes' must be {x.shape[0]}, but got {sizes}")
    _check_size(who, "output", into, sum(sizes) * (x._array.size // max(x.shape[0], 1)), x)
    handle: Handle = _given(
        "all_gather", into, f"{x._array.dtype.name} {[*sizes, *x.shape[1:]]}", found, x, async_op,
        lambda: table.all_gather(x, group=found.name, sizes=sizes),
        lambda array: exchange.all_gather(found, array, sizes),
    )  # fmt: skip
    return handle


def reduce_scatter_tensor(
    output: Tensor | None, input: Tensor, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """A rank's share, along the first axis, of all ranks' tensors made one, written into a tensor.

    Args:
        output: takes it.
        input: the tensor of this rank; the ranks divide its first axis.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: no tensor, no bool, or a dtype that does not suit ``op``.
        ValueError: sizes that do not fit, another ``op``, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "reduce_scatter_tensor"
    found, (x,) = _checked(who, group, input=input)
    way = table.check_reduction(who, op, x)
    table.check_divides(who, "input", table.check_rows(who, x, "input"), 0, found)
    into = None if who in _gives_new else check_tensor(output, who, "output")
    if into is not None:
        _check_size(who, "output", into, x._array.size // found.size, x)
    sizes = [x.shape[0] // found.size] * found.size
    return _given(
        "reduce_scatter", into, f"{way}, {sizes} of {_of(x)}", found, x, async_op,
        lambda: table.reduce_scatter(x, op=way, group=found.name),
        lambda array: exchange.reduce_scatter(found, array, sizes, way),
    )  # fmt: skip


def reduce_scatter_tensor_uneven(
    output: Tensor,
    input: Tensor,
    input_split_sizes: Sequence[int] | None = None,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Handle:
    """A rank's share, of any length, of all ranks' tensors made one, written into a tensor.

    Args:
        output: takes it.
        input: the tensor of this rank.
        input_split_sizes: of each rank the length of its share of the first axis; None where they are equal.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensor, no bool, or a dtype that does not suit ``op``.
        ValueError: lengths that do not fit, another ``op``, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "reduce_scatter_tensor_uneven"
    found, (x, into) = _checked(who, group, input=input, output=output)
    way = table.check_reduction(who, op, x)
    table.check_rows(who, x, "input")
    if not input_split_sizes:
        table.check_divides(who, "input", x, 0, found)
    given = input_split_sizes or [x.shape[0] // found.size] * found.size
    sizes = table.check_sizes(who, "input_split_sizes", given, found)
    if sum(sizes) != x.shape[0]:
        raise ValueError(f"For '{who}', 'input_split_sizes' must add up to {x.shape[0]}, but got {sizes}")
    _check_size(who, "output", into, sizes[found.rank or 0] * (x._array.size // max(x.shape[0], 1)), x)
    handle: Handle = _given(
        "reduce_scatter", into, f"{way}, {list(sizes)} of {_of(x)}", found, x, async_op,
        lambda: table.reduce_scatter(x, op=way, group=found.name, sizes=sizes),
        lambda array: exchange.reduce_scatter(found, array, sizes, way),
    )  # fmt: skip
    return handle


def reduce(tensor: Tensor, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False) -> Handle:
    """All ranks' tensors made one, written into the tensor of one rank; the others' stay.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        dst: the number in the world of the rank that gets it.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensor, no int, no bool, or a dtype that does not suit ``op``.
        ValueError: another ``op``, a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (x,) = _checked("reduce", group, tensor=tensor)
    root, way = _in_group("reduce", "dst", found, dst), table.check_reduction("reduce", op, x)
    is_mine = root == found.rank

    def exchanged(array: Array) -> Array:
        result = exchange.reduce(found, array, root, way)
        return result if is_mine else array

    handle: Handle = _given(
        "reduce", x, f"{way} to rank {dst}, {_of(x)}", found, x, async_op,
        lambda: _where(is_mine, table.reduce(x, root=root, op=way, group=found.name), x), exchanged,
    )  # fmt: skip
    return handle


def _where(is_mine: bool, found: Tensor, otherwise: Tensor) -> Tensor:
    return found if is_mine else otherwise


def broadcast(tensor: Tensor, src: int, group: str | None = None, async_op: bool = False) -> Handle:
    """The tensor of one rank, written into those of all.

    Args:
        tensor: what is sent, or takes what comes.
        src: the number in the world of the rank whose tensor it is.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensor, no int or no bool.
        ValueError: a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (x,) = _checked("broadcast", group, tensor=tensor)
    root = _in_group("broadcast", "src", found, src)
    handle: Handle = _given(
        "broadcast", x, f"rank {src}'s {_of(x)}", found, x, async_op,
        lambda: table.broadcast(x, root=root, group=found.name),
        lambda array: exchange.broadcast(found, array, root),
    )  # fmt: skip
    return handle


def gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, dst: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """All ranks' tensors behind each other along the first axis, written into a tensor of one rank.

    Args:
        output_tensor: takes them, on that rank; the others' stays.
        input_tensor: the tensor of this rank; all have the same shape and dtype.
        dst: the number in the world of the rank that gets them.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensor, no int or no bool.
        ValueError: an output of another size, a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "gather_into_tensor"
    found, (x, into) = _checked(who, group, input_tensor=input_tensor, output_tensor=output_tensor)
    table.check_rows(who, x, "input_tensor")
    root = _in_group(who, "dst", found, dst)
    is_mine = root == found.rank
    if is_mine:
        _check_size(who, "output_tensor", into, x._array.size * found.size, x)
    kept = table.on_host(into._array)

    def exchanged(array: Array) -> Array:
        result = exchange.gather(found, array, root)
        return kept if result is None else result

    handle: Handle = _given(
        "gather", into, f"to rank {dst}, {_of(x)}", found, x, async_op,
        lambda: _where(is_mine, table.gather(x, root=root, group=found.name), into), exchanged,
    )  # fmt: skip
    return handle


def scatter_tensor(
    output_tensor: Tensor, input_tensor: Tensor, src: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """A rank's part, along the first axis, of one rank's tensor, written into a tensor.

    Args:
        output_tensor: takes it.
        input_tensor: what is divided; the other ranks' says its shape and dtype.
        src: the number in the world of the rank whose tensor it is.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensor, no int or no bool.
        ValueError: sizes that do not fit, a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "scatter_tensor"
    found, (x, into) = _checked(who, group, input_tensor=input_tensor, output_tensor=output_tensor)
    table.check_divides(who, "input_tensor", table.check_rows(who, x, "input_tensor"), 0, found)
    root = _in_group(who, "src", found, src)
    _check_size(who, "output_tensor", into, x._array.size // found.size, x)
    handle: Handle = _given(
        "scatter", into, f"rank {src}'s {_of(x)}", found, x, async_op,
        lambda: table.scatter(x, root=root, group=found.name), lambda array: exchange.scatter(found, array, root),
    )  # fmt: skip
    return handle


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> Handle:
    """Wait for all ranks of a group.

    Args:
        group: the name of a group; None for that of all ranks.
        async_op: whether to give a handle instead, whose ``wait()`` waits for them.
        device_ids: for Ascend devices.

    Raises:
        TypeError: no str or no bool.
        ValueError: this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    found = table.member("barrier", group)
    done = exchange.started("barrier", "", table.line(), found, lambda: None)
    if check_bool(async_op, "barrier", "async_op"):
        return CommHandle(done)
    done.wait()
    return None


def _tensors(who: str, argument: str, given: Any) -> list[Tensor]:
    if not isinstance(given, list | tuple):
        raise TypeError(f"For '{who}', '{argument}' must be a list or tuple of Tensors, but got {type(given).__name__}")
    return [check_tensor(x, who, argument) for x in given]


def _one_for_each(who: str, argument: str, given: Any, group: Group) -> list[Tensor]:
    tensors = _tensors(who, argument, given)
    if len(tensors) != group.size:
        raise ValueError(
            f"For '{who}', '{argument}' must hold {group.size} tensors, one for each rank, but got {len(tensors)}"
        )
    return tensors


def _parts(tensors: Sequence[Tensor], whole: Tensor) -> None:
    """Write the parts of a tensor of one axis into tensors."""
    at = 0
    for one in tensors:
        size = one._array.size
        one.copy_(whole[at : at + size].reshape(one.shape))
        at += size


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    from .. import ops

    return ops.concat([one.reshape(-1) for one in tensors])


def _filling(who: str, tensors: Sequence[Tensor], found: Any, async_op: bool) -> Handle:
    """What was found written into several tensors: at once, or when ``wait`` is called."""
    if not async_op:
        _parts(tensors, found[0].reshape(-1))
        return None
    _, handle = found

    def then(array: Array) -> None:
        _parts(tensors, Tensor._wrap(table.beside(tensors[0]._array, array.reshape(-1))))

    return CommHandle(handle._pending, then if tensors else None)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: str | None = None, async_op: bool = False) -> Handle:
    """All ranks' tensors, each written into one of a list.

    Args:
        tensor_list: take them, in the order of the ranks.
        tensor: the tensor of this rank.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the results.

    Raises:
        TypeError: no tensors, or no bool.
        ValueError: a list of another length or with other shapes, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (x,) = _checked("all_gather", group, tensor=tensor)
    into = _one_for_each("all_gather", "tensor_list", tensor_list, found)
    _check_size("all_gather", "tensor_list", into[found.rank or 0], x._array.size, x)
    sizes = tuple([one._array.size for one in into])
    flat = x.reshape(-1)
    result = _given(
        "all_gather", None, f"{x._array.dtype.name} {list(sizes)}", found, flat, async_op,
        lambda: table.all_gather(flat, group=found.name, sizes=sizes),
        lambda array: exchange.all_gather(found, array, sizes),
    )  # fmt: skip
    return _filling("all_gather", into, result, async_op)


def reduce_scatter(
    output: Tensor, input_list: list[Tensor], op: str = "sum", group: str | None = None, async_op: bool = False
) -> Handle:
    """All ranks' tensors for this one made one, written into a tensor.

    Args:
        output: takes it.
        input_list: what this rank has for each.
        op: "sum", "prod", "max", "min" or "avg".
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensors, no bool, or a dtype that does not suit ``op``.
        ValueError: a list of another length or with other shapes, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (into,) = _checked("reduce_scatter", group, output=output)
    given = _one_for_each("reduce_scatter", "input_list", input_list, found)
    sizes = [one._array.size for one in given]
    _check_size("reduce_scatter", "output", into, sizes[found.rank or 0], given[0])
    return reduce_scatter_tensor_uneven(into, _flat(given), sizes, op, group, async_op)


def gather(
    tensor: Tensor, gather_list: list[Tensor] | None, dst: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """All ranks' tensors, each written into one of a list, on one rank.

    Args:
        tensor: the tensor of this rank; all have the same shape and dtype.
        gather_list: take them, on that rank; None or anything on the others.
        dst: the number in the world of the rank that gets them.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the results.

    Raises:
        TypeError: no tensors, no int or no bool.
        ValueError: a list of another length, a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (x,) = _checked("gather", group, tensor=tensor)
    root = _in_group("gather", "dst", found, dst)
    into = _one_for_each("gather", "gather_list", gather_list, found) if root == found.rank else []
    for one in into:
        _check_size("gather", "gather_list", one, x._array.size, x)
    flat = x.reshape(-1)

    def exchanged(array: Array) -> Array:
        result = exchange.gather(found, array, root)
        return array if result is None else result

    result = _given(
        "gather", None, f"to rank {dst}, {_of(flat)}", found, flat, async_op,
        lambda: table.gather(flat, root=root, group=found.name), exchanged,
    )  # fmt: skip
    return _filling("gather", into, result, async_op)


def scatter(
    tensor: Tensor, scatter_list: list[Tensor] | None, src: int = 0, group: str | None = None, async_op: bool = False
) -> Handle:
    """What one rank has for this one, written into a tensor.

    Args:
        tensor: takes it.
        scatter_list: what that rank has for each; None or anything on the others.
        src: the number in the world of the rank that has them.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensors, no int or no bool.
        ValueError: a list of another length or with other shapes, a rank that is not in the group, or this process is
            none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    found, (into,) = _checked("scatter", group, tensor=tensor)
    root = _in_group("scatter", "src", found, src)
    given = _one_for_each("scatter", "scatter_list", scatter_list, found) if root == found.rank else [into] * found.size
    for one in given:
        _check_size("scatter", "scatter_list", one, into._array.size, into)
    flat = _flat(given)
    handle: Handle = _given(
        "scatter", into, f"rank {src}'s {_of(flat)}", found, flat, async_op,
        lambda: table.scatter(flat, root=root, group=found.name), lambda array: exchange.scatter(found, array, root),
    )  # fmt: skip
    return handle


def all_to_all(
    output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: str | None = None, async_op: bool = False
) -> Handle:
    """What each rank has for this one, each written into one of a list.

    Args:
        output_tensor_list: take them, in the order of the ranks.
        input_tensor_list: what this rank has for each.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the results.

    Raises:
        TypeError: no tensors, or no bool.
        ValueError: a list of another length, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same, or send another number of elements than is waited for.
    """
    found = table.member("all_to_all", group)
    into = _one_for_each("all_to_all", "output_tensor_list", output_tensor_list, found)
    given = _one_for_each("all_to_all", "input_tensor_list", input_tensor_list, found)
    sent, received = (tuple([one._array.size for one in tensors]) for tensors in (given, into))
    return _filling("all_to_all", into, _exchanged(found, _flat(given), sent, received, async_op), async_op)


def _exchanged(
    found: Group, flat: Tensor, sent: tuple[int, ...], received: tuple[int, ...], async_op: bool
) -> tuple[Tensor, Handle]:
    """What ``all_to_all_v`` gives, with the handle; lengths may differ between ranks."""
    if not check_bool(async_op, "all_to_all", "async_op"):
        return table.all_to_all_v(flat, sent=sent, received=received, group=found.name), None
    copied = table.on_host(flat._array).copy()
    done = exchange.started(
        "all_to_all_v", copied.dtype.name, table.line(), found,
        lambda: exchange.all_to_all(found, copied, sent, received),
    )  # fmt: skip
    return flat, CommHandle(done)


def all_to_all_single(
    output: Tensor | None,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """What each rank has for this one, behind each other along the first axis, written into a tensor.

    Args:
        output: takes it.
        input: what this rank has for each, behind each other.
        output_split_sizes: of each rank the length of what comes from it; None where they are equal.
        input_split_sizes: of each rank the length of what it gets; None where they are equal.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result; see ``set_comm_ops_inplace``.

    Raises:
        TypeError: no tensors, or no bool.
        ValueError: lengths that do not fit, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same, or send another number of elements than is waited for.
    """
    who = "all_to_all_single"
    found, (x,) = _checked(who, group, input=input)
    into = None if who in _gives_new else check_tensor(output, who, "output")
    row = table.check_rows(who, x, "input")._array.size // max(x.shape[0], 1)
    sent = _lengths(who, "input", input_split_sizes, x, found)
    received = _lengths(who, "output", output_split_sizes, x if into is None else into, found)
    if into is not None:
        _check_size(who, "output", into, sum(received) * row, x)
    result, handle = _exchanged(
        found, x.reshape(-1), tuple([n * row for n in sent]), tuple([n * row for n in received]), async_op
    )
    if into is not None:
        return _filling(who, [into], (result, handle), async_op)
    if handle is None:
        return result.reshape((-1, *x.shape[1:])), None
    target = Tensor._wrap(x._array)
    shape = (-1, *x.shape[1:])
    then = CommHandle(handle._pending, lambda array: target._rebind(table.beside(x._array, array.reshape(shape))))
    return target, then


def _lengths(who: str, argument: str, sizes: Sequence[int] | None, x: Tensor, group: Group) -> tuple[int, ...]:
    if not sizes:
        table.check_divides(who, argument, table.check_rows(who, x, argument), 0, group)
        return (x.shape[0] // group.size,) * group.size
    found = table.check_sizes(who, f"{argument}_split_sizes", sizes, group)
    if sum(found) != x.shape[0]:
        raise ValueError(f"For '{who}', '{argument}_split_sizes' must add up to {x.shape[0]}, but got {[*found]}")
    return found


def all_to_all_v_c(
    output: Tensor, input: Tensor, send_count_matrix: Sequence[int], group: str | None = None, async_op: bool = False
) -> Handle:
    """What each rank has for this one, by the numbers of all, written into a tensor of one axis.

    Args:
        output: takes it.
        input: of one axis: what this rank has for each, one behind the other.
        send_count_matrix: at ``i * ranks + j`` how many elements rank i sends to rank j.
        group: the name of a group; None for that of all ranks.
        async_op: whether it goes on while the rank computes; it has no gradient then.

    Returns:
        None, or with ``async_op`` a handle whose ``wait()`` writes the result.

    Raises:
        TypeError: no tensors, or no bool.
        ValueError: numbers that do not fit, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "all_to_all_v_c"
    found, (x, into) = _checked(who, group, input=input, output=output)
    count, me = found.size, found.rank or 0
    if not isinstance(send_count_matrix, list | tuple) or len(send_count_matrix) != count * count:
        raise ValueError(
            f"For '{who}', 'send_count_matrix' must hold {count * count} numbers, but got {send_count_matrix!r}"
        )
    matrix = np.asarray(send_count_matrix, np.int64).reshape(count, count)
    sent, received = tuple(matrix[me].tolist()), tuple(matrix[:, me].tolist())
    table.check_length(who, "input", x, sum(sent))
    _check_size(who, "output", into, sum(received), x)
    return _filling(who, [into], _exchanged(found, x, sent, received, async_op), async_op)


# Messages between two ranks


def send(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a tensor to another rank; nobody waits for it to take it.

    Args:
        tensor: the tensor.
        dst: the number in the world of who gets it.
        group: the name of a group that both are in; None for that of all ranks.
        tag: tells what is sent between two ranks from each other, 0 to 32767.

    Raises:
        TypeError: no tensor, or no int.
        ValueError: this rank itself, one that is not in the group, or another tag.
    """
    isend(tensor, dst, group, tag)


def isend(tensor: Tensor, dst: int = 0, group: str | None = None, tag: int = 0) -> CommHandle:
    """Send a tensor to another rank; the tensor may change at once, for a copy is sent.

    Args:
        tensor: the tensor.
        dst: the number in the world of who gets it.
        group: the name of a group that both are in; None for that of all ranks.
        tag: tells what is sent between two ranks from each other, 0 to 32767.

    Returns:
        A handle; its ``wait()`` has nothing to wait for.

    Raises:
        TypeError: no tensor, or no int.
        ValueError: this rank itself, one that is not in the group, or another tag.
    """
    found, (x,) = _checked("send", group, tensor=tensor)
    to, number = _in_group("send", "dst", found, dst), table.check_tag("send", tag)
    if to == found.rank:
        raise ValueError(f"For 'send', 'dst' must be another rank than this one, but got {dst}")
    return CommHandle(mailbox.send(found, table.on_host(x._array), to, number, table.line()))


def recv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """What another rank sends, written into a tensor.

    Args:
        tensor: takes it; its shape and dtype are those of what comes.
        src: the number in the world of who sends it.
        group: the name of a group that both are in; None for that of all ranks.
        tag: as the sender's.

    Returns:
        0; a new tensor after ``set_comm_ops_inplace(False)``.

    Raises:
        TypeError: no tensor, or no int.
        ValueError: a rank that is not in the group, or another tag.
        RuntimeError: what came has another shape or dtype.
    """
    into = Tensor._wrap(check_tensor(tensor, "recv", "tensor")._array) if "recv" in _gives_new else tensor
    _received(into, src, group, tag).wait()
    return into if "recv" in _gives_new else 0


def irecv(tensor: Tensor, src: int = 0, group: str | None = None, tag: int = 0) -> Any:
    """What another rank sends, written into a tensor when ``wait`` is called.

    Args:
        tensor: takes it; its shape and dtype are those of what comes.
        src: the number in the world of who sends it.
        group: the name of a group that both are in; None for that of all ranks.
        tag: as the sender's.

    Returns:
        A handle; after ``set_comm_ops_inplace(False)`` a new tensor and a handle.

    Raises:
        TypeError: no tensor, or no int.
        ValueError: a rank that is not in the group, or another tag.
    """
    if "irecv" not in _gives_new:
        return _received(tensor, src, group, tag)
    into = Tensor._wrap(check_tensor(tensor, "irecv", "tensor")._array)
    return into, _received(into, src, group, tag)


def _received(into: Tensor, src: int, group: str | None, tag: int) -> CommHandle:
    found, (x,) = _checked("recv", group, tensor=into)
    source, number = _in_group("recv", "src", found, src), table.check_tag("recv", tag)
    like = np.empty(x.shape, x._array.dtype)
    done = mailbox.receive(found, like, source, number, table.line())
    return CommHandle(done, lambda array: into._rebind(table.beside(into._array, array)))


class P2POp:
    """One message of ``batch_isend_irecv``.

    Args:
        op: ``isend`` or ``irecv``, or its name.
        tensor: what is sent, or takes what comes.
        peer: the number in the world of the other rank.
        group: the name of a group that both are in; None for that of all ranks.
        tag: tells what is sent between two ranks from each other, 0 to 32767.

    Raises:
        TypeError: another ``op``, or no tensor.
    """

    def __init__(
        self,
        op: Callable[..., Any] | str,
        tensor: Tensor,
        peer: int,
        group: str | None = None,
        tag: int = 0,
    ) -> None:
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise TypeError(f"For 'P2POp', 'op' must be isend or irecv, but got {op!r}")
        self.op, self.peer, self.group, self.tag = op, peer, group, tag
        self.tensor = check_tensor(tensor, "P2POp", "tensor")
        self.sends = name == "isend"


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[CommHandle]:
    """Send and receive several messages.

    Args:
        p2p_op_list: the messages.

    Returns:
        A handle for each.

    Raises:
        TypeError: something else than a list of ``P2POp``.
        ValueError: an empty list.
    """
    if not isinstance(p2p_op_list, list | tuple) or not all(isinstance(one, P2POp) for one in p2p_op_list):
        raise TypeError(f"For 'batch_isend_irecv', 'p2p_op_list' must be a list of P2POp, but got {p2p_op_list!r}")
    if not p2p_op_list:
        raise ValueError("For 'batch_isend_irecv', 'p2p_op_list' must hold a P2POp at least")
    return [(isend if one.sends else _received)(one.tensor, one.peer, one.group, one.tag) for one in p2p_op_list]


# Objects


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """All ranks' objects, put into a list.

    Args:
        object_list: takes them: of one place for each rank.
        obj: that of this rank: None, bool, int, float, str, Tensor, or lists, tuples and dicts with str keys of such.
        group: the name of a group; None for that of all ranks.

    Raises:
        TypeError: an object that holds something else; nothing is pickled.
        ValueError: a list of another length, or this process is none of the group.
        RuntimeError: the ranks did not ask for the same.
    """
    found = table.member("all_gather_object", group)
    _check_places("all_gather_object", "object_list", object_list, found)
    for place, data in enumerate(_gathered(found, to_bytes(obj, "all_gather_object"))):
        object_list[place] = from_bytes(data)


def _check_places(who: str, argument: str, given: Any, group: Group) -> None:
    if not isinstance(given, list) or len(given) != group.size:
        raise ValueError(
            f"For '{who}', '{argument}' must be a list of {group.size}, one for each rank, but got {given!r}"
        )


def _together(kind: str, what: str, group: Group, function: Callable[[], Any]) -> Any:
    return exchange.started(kind, what, table.line(), group, function).wait()


def _gathered(group: Group, data: Array) -> list[Array]:
    """All ranks' bytes."""

    def together() -> list[Array]:
        sizes = exchange.all_gather(group, np.array([data.size], np.int64), [1] * group.size).tolist()
        return np.split(exchange.all_gather(group, data, sizes), np.cumsum(sizes)[:-1])

    found: list[Array] = _together("all_gather_object", "", group, together)
    return found


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """All ranks' objects, put into a list of one rank.

    Args:
        obj: that of this rank, as of ``all_gather_object``.
        object_gather_list: takes them, on that rank.
        dst: the number in the world of the rank that gets them.
        group: the name of a group; None for that of all ranks.

    Raises:
        TypeError: an object that holds something else; nothing is pickled.
        ValueError: a list of another length, a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "gather_object"
    found = table.member(who, group)
    root = _in_group(who, "dst", found, dst)
    if root == found.rank:
        _check_places(who, "object_gather_list", object_gather_list, found)
    data = to_bytes(obj, who)

    def together() -> list[Array]:
        sizes = exchange.all_gather(found, np.array([data.size], np.int64), [1] * found.size).tolist()
        mine = [size if root == found.rank else 0 for size in sizes]
        sent = [data.size if rank == root else 0 for rank in range(found.size)]
        return np.split(exchange.all_to_all(found, data, sent, mine), np.cumsum(mine)[:-1])

    parts = _together(who, f"to rank {dst}", found, together)
    if object_gather_list is not None and root == found.rank:
        object_gather_list[:] = [from_bytes(part) for part in parts]


def broadcast_object_list(
    object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None
) -> None:
    """The objects of one rank's list, put into those of all.

    Args:
        object_list: what is sent, or takes what comes: of one length on all ranks.
        src: the number in the world of the rank whose list it is.
        group: the name of a group; None for that of all ranks.
        device: for Ascend devices.

    Raises:
        TypeError: no list, or an object that holds something else than ``all_gather_object`` takes.
        ValueError: a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "broadcast_object_list"
    found = table.member(who, group)
    root = _in_group(who, "src", found, src)
    if not isinstance(object_list, list):
        raise TypeError(f"For '{who}', 'object_list' must be a list, but got {type(object_list).__name__}")
    data = to_bytes(object_list, who) if root == found.rank else np.empty(0, np.uint8)

    def together() -> Array:
        size = int(exchange.broadcast(found, np.array([data.size], np.int64), root)[0])
        return exchange.broadcast(found, data if root == found.rank else np.empty(size, np.uint8), root)

    object_list[:] = from_bytes(_together(who, f"rank {src}'s list of {len(object_list)}", found, together))


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None,
    src: int = 0,
    group: str | None = None,
) -> None:
    """The object that one rank has for this one, put into the first place of a list.

    Args:
        scatter_object_output_list: takes it; it has a place at least.
        scatter_object_input_list: what that rank has for each; None or anything on the others.
        src: the number in the world of the rank that has them.
        group: the name of a group; None for that of all ranks.

    Raises:
        TypeError: an object that holds something else than ``all_gather_object`` takes.
        ValueError: a list of another length, a rank that is not in the group, or this process is none of it.
        RuntimeError: the ranks did not ask for the same.
    """
    who = "scatter_object_list"
    found = table.member(who, group)
    root = _in_group(who, "src", found, src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(f"For '{who}', 'scatter_object_output_list' must be a list with a place at least")
    given: list[Array] = []
    if root == found.rank:
        _check_places(who, "scatter_object_input_list", scatter_object_input_list, found)
        given = [to_bytes(one, who) for one in scatter_object_input_list or ()]

    def together() -> Array:
        sizes = np.array([one.size for one in given] or [0] * found.size, np.int64)
        size = int(exchange.scatter(found, sizes, root)[0])
        received = [size if rank == root else 0 for rank in range(found.size)]
        data = np.concatenate(given) if given else np.empty(0, np.uint8)
        return exchange.all_to_all(found, data, sizes.tolist(), received)

    scatter_object_output_list[0] = from_bytes(_together(who, f"rank {src}'s", found, together))


_OBJECT_TAG = 32767


def send_object_list(object_list: list[Any], dst: int, group: str | None = None, device: Any = None) -> None:
    """Send objects to another rank.

    Args:
        object_list: the objects, as of ``all_gather_object``.
        dst: the number in the world of who gets them.
        group: the name of a group that both are in; None for that of all ranks.
        device: for Ascend devices.

    Raises:
        TypeError: an object that holds something else; nothing is pickled.
        ValueError: this rank itself, or one that is not in the group.
    """
    data = to_bytes(object_list, "send_object_list")
    send(Tensor._wrap(np.array([data.size], np.int64)), dst, group, _OBJECT_TAG)
    send(Tensor._wrap(data), dst, group, _OBJECT_TAG)


def recv_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> int:
    """Objects that another rank sends, put into a list.

    Args:
        object_list: takes them.
        src: the number in the world of who sends them.
        group: the name of a group that both are in; None for that of all ranks.
        device: for Ascend devices.

    Returns:
        The sender's number in the world.

    Raises:
        TypeError: no list.
        ValueError: a rank that is not in the group.
    """
    if not isinstance(object_list, list):
        raise TypeError(f"For 'recv_object_list', 'object_list' must be a list, but got {type(object_list).__name__}")
    size = Tensor([0], int64)
    _received(size, src, group, _OBJECT_TAG).wait()
    data = Tensor._wrap(np.empty(int(size.asnumpy()[0]), np.uint8))
    _received(data, src, group, _OBJECT_TAG).wait()
    object_list[:] = from_bytes(data.asnumpy())
    return src


__getattr__ = on_first_use(__name__)
