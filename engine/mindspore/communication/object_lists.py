"""Collectives and messages of Python objects; see ``objects`` for their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import Array
from ...distributed import exchange
from ...distributed.world import Group
from ...ops import collectives as table
from ...tensors.dtype import int64
from ...tensors.tensor import Tensor
from .messages import receive_into, send
from .objects import from_bytes, to_bytes
from .process_groups import in_group

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
]


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """Gather all ranks' objects into a list.

    Args:
        object_list: receives the objects; it has one entry per rank.
        obj: this rank's object: None, bool, int, float, str, Tensor, or lists, tuples and dicts with str keys of such.
        group: the name of a group; None for the world.

    Raises:
        TypeError: an object holds an unsupported type; nothing is pickled.
        ValueError: a list of the wrong length, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
    """
    members = table.member("all_gather_object", group)
    _check_entries("all_gather_object", "object_list", object_list, members)
    for index, data in enumerate(_gather(members, to_bytes(obj, "all_gather_object"))):
        object_list[index] = from_bytes(data)


def _check_entries(caller: str, argument: str, value: Any, group: Group) -> None:
    if not isinstance(value, list) or len(value) != group.size:
        raise ValueError(
            f"For '{caller}', '{argument}' must be a list of {group.size}, one for each rank, but got {value!r}"
        )


def _exchange(kind: str, what: str, group: Group, function: Callable[[], Any]) -> Any:
    return exchange.start(kind, what, table.line(), group, function).wait()


def _gather(group: Group, data: Array) -> list[Array]:
    """Gather all ranks' bytes."""

    def exchange_sizes_first() -> list[Array]:
        sizes = exchange.all_gather(group, np.array([data.size], np.int64), [1] * group.size).tolist()
        return np.split(exchange.all_gather(group, data, sizes), np.cumsum(sizes)[:-1])

    return _exchange("all_gather_object", "", group, exchange_sizes_first)


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Gather all ranks' objects into a list on one rank.

    Args:
        obj: this rank's object, as for ``all_gather_object``.
        object_gather_list: receives the objects on that rank.
        dst: the world rank of the receiver.
        group: the name of a group; None for the world.

    Raises:
        TypeError: an object holds an unsupported type; nothing is pickled.
        ValueError: a list of the wrong length, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "gather_object"
    members = table.member(caller, group)
    root = in_group(caller, "dst", members, dst)
    if root == members.rank:
        _check_entries(caller, "object_gather_list", object_gather_list, members)
    data = to_bytes(obj, caller)

    def exchange_sizes_first() -> list[Array]:
        sizes = exchange.all_gather(members, np.array([data.size], np.int64), [1] * members.size).tolist()
        received_sizes = [size if root == members.rank else 0 for size in sizes]
        sent_sizes = [data.size if rank == root else 0 for rank in range(members.size)]
        return np.split(exchange.all_to_all(members, data, sent_sizes, received_sizes), np.cumsum(received_sizes)[:-1])

    parts = _exchange(caller, f"to rank {dst}", members, exchange_sizes_first)
    if object_gather_list is not None and root == members.rank:
        object_gather_list[:] = [from_bytes(part) for part in parts]


def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Broadcast the objects of one rank's list to the lists of all.

    Args:
        object_list: the objects to send, or to replace: of one length on all ranks.
        src: the world rank of the list's owner.
        group: the name of a group; None for the world.
        device: for Ascend devices.

    Raises:
        TypeError: not a list, or an object of a type that ``all_gather_object`` does not accept.
        ValueError: a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "broadcast_object_list"
    members = table.member(caller, group)
    root = in_group(caller, "src", members, src)
    if not isinstance(object_list, list):
        raise TypeError(f"For '{caller}', 'object_list' must be a list, but got {type(object_list).__name__}")
    data = to_bytes(object_list, caller) if root == members.rank else np.empty(0, np.uint8)

    def exchange_sizes_first() -> Array:
        size = int(exchange.broadcast(members, np.array([data.size], np.int64), root)[0])
        return exchange.broadcast(members, data if root == members.rank else np.empty(size, np.uint8), root)

    object_list[:] = from_bytes(
        _exchange(caller, f"rank {src}'s list of {len(object_list)}", members, exchange_sizes_first)
    )


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None,
    src: int = 0,
    group: str | None = None,
) -> None:
    """Scatter one rank's objects; this rank's is written to the first index of a list.

    Args:
        scatter_object_output_list: receives the object; it has at least one entry.
        scatter_object_input_list: an object for each rank, on the source rank; ignored on the others.
        src: the world rank of the source.
        group: the name of a group; None for the world.

    Raises:
        TypeError: an object of a type that ``all_gather_object`` does not accept.
        ValueError: a list of the wrong length, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    caller = "scatter_object_list"
    members = table.member(caller, group)
    root = in_group(caller, "src", members, src)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError(f"For '{caller}', 'scatter_object_output_list' must be a list with a place at least")
    arrays: list[Array] = []
    if root == members.rank:
        _check_entries(caller, "scatter_object_input_list", scatter_object_input_list, members)
        arrays = [to_bytes(value, caller) for value in scatter_object_input_list or ()]

    def exchange_sizes_first() -> Array:
        sizes = np.array([array.size for array in arrays] or [0] * members.size, np.int64)
        size = int(exchange.scatter(members, sizes, root)[0])
        received_sizes = [size if rank == root else 0 for rank in range(members.size)]
        data = np.concatenate(arrays) if arrays else np.empty(0, np.uint8)
        return exchange.all_to_all(members, data, sizes.tolist(), received_sizes)

    scatter_object_output_list[0] = from_bytes(_exchange(caller, f"rank {src}'s", members, exchange_sizes_first))


_OBJECT_TAG = 32767


def send_object_list(object_list: list[Any], dst: int, group: str | None = None, device: Any = None) -> None:
    """Send objects to another rank.

    Args:
        object_list: the objects, as for ``all_gather_object``.
        dst: the world rank of the receiver.
        group: the name of a group that includes both; None for the world.
        device: for Ascend devices.

    Raises:
        TypeError: an object holds an unsupported type; nothing is pickled.
        ValueError: this rank itself, or a rank outside the group.
    """
    data = to_bytes(object_list, "send_object_list")
    send(Tensor._wrap(np.array([data.size], np.int64)), dst, group, _OBJECT_TAG)
    send(Tensor._wrap(data), dst, group, _OBJECT_TAG)


def recv_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> int:
    """Receive objects from another rank into a list.

    Args:
        object_list: receives the objects.
        src: the world rank of the sender.
        group: the name of a group that includes both; None for the world.
        device: for Ascend devices.

    Returns:
        The world rank of the sender.

    Raises:
        TypeError: not a list.
        ValueError: a rank outside the group.
    """
    if not isinstance(object_list, list):
        raise TypeError(f"For 'recv_object_list', 'object_list' must be a list, but got {type(object_list).__name__}")
    size = Tensor([0], int64)
    receive_into(size, src, group, _OBJECT_TAG).wait()
    data = Tensor._wrap(np.empty(int(size.asnumpy()[0]), np.uint8))
    receive_into(data, src, group, _OBJECT_TAG).wait()
    object_list[:] = from_bytes(data.asnumpy())
    return src
