"""Objects that ranks gather, scatter, broadcast and send: see ``objects`` for what they may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.types import Array
from ..distributed import exchange
from ..distributed.world import Group
from ..ops import collectives as table
from ..tensors.dtype import int64
from ..tensors.tensor import Tensor
from .messages import received, send
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
        object_list: takes them: of one place for each rank.
        obj: that of this rank: None, bool, int, float, str, Tensor, or lists, tuples and dicts with str keys of such.
        group: the name of a group; None for the world.

    Raises:
        TypeError: an object holds an unsupported type; nothing is pickled.
        ValueError: a list of another length, or this process is not in the group.
        RuntimeError: the ranks' calls differ.
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
    """Gather all ranks' bytes."""

    def together() -> list[Array]:
        sizes = exchange.all_gather(group, np.array([data.size], np.int64), [1] * group.size).tolist()
        return np.split(exchange.all_gather(group, data, sizes), np.cumsum(sizes)[:-1])

    found: list[Array] = _together("all_gather_object", "", group, together)
    return found


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Gather all ranks' objects into a list on one rank.

    Args:
        obj: that of this rank, as of ``all_gather_object``.
        object_gather_list: takes them, on that rank.
        dst: the world rank of the receiver.
        group: the name of a group; None for the world.

    Raises:
        TypeError: an object holds an unsupported type; nothing is pickled.
        ValueError: a list of another length, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    who = "gather_object"
    found = table.member(who, group)
    root = in_group(who, "dst", found, dst)
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


def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """Broadcast the objects of one rank's list to the lists of all.

    Args:
        object_list: what is sent, or takes what comes: of one length on all ranks.
        src: the world rank of the list's owner.
        group: the name of a group; None for the world.
        device: for Ascend devices.

    Raises:
        TypeError: not a list, or an object that holds something else than ``all_gather_object`` takes.
        ValueError: a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    who = "broadcast_object_list"
    found = table.member(who, group)
    root = in_group(who, "src", found, src)
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
    """Scatter one rank's objects; this rank's is written to the first index of a list.

    Args:
        scatter_object_output_list: takes it; it has a place at least.
        scatter_object_input_list: what that rank has for each; None or anything on the others.
        src: the world rank of the objects' owner.
        group: the name of a group; None for the world.

    Raises:
        TypeError: an object that holds something else than ``all_gather_object`` takes.
        ValueError: a list of another length, a rank outside the group, or this process is not in it.
        RuntimeError: the ranks' calls differ.
    """
    who = "scatter_object_list"
    found = table.member(who, group)
    root = in_group(who, "src", found, src)
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
        object_list: takes them.
        src: the world rank of the sender.
        group: the name of a group that includes both; None for the world.
        device: for Ascend devices.

    Returns:
        The sender's number in the world.

    Raises:
        TypeError: not a list.
        ValueError: a rank outside the group.
    """
    if not isinstance(object_list, list):
        raise TypeError(f"For 'recv_object_list', 'object_list' must be a list, but got {type(object_list).__name__}")
    size = Tensor([0], int64)
    received(size, src, group, _OBJECT_TAG).wait()
    data = Tensor._wrap(np.empty(int(size.asnumpy()[0]), np.uint8))
    received(data, src, group, _OBJECT_TAG).wait()
    object_list[:] = from_bytes(data.asnumpy())
    return src
