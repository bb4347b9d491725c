"""``mindspore.communication``: here there is one process, with rank 0 of 1. Scripts for many run as one of them."""

from __future__ import annotations

import sys
from typing import Any

from .core.names import on_first_use

__all__ = [
    "HCCL_WORLD_COMM_GROUP", "MCCL_WORLD_COMM_GROUP", "NCCL_WORLD_COMM_GROUP", "GlobalComm", "ReduceOp", "create_group",
    "destroy_group", "get_comm_name", "get_group_rank_from_world_rank", "get_group_size", "get_local_rank",
    "get_local_rank_size", "get_process_group_ranks", "get_rank", "get_world_rank_from_group_rank", "init", "release",
]  # fmt: skip

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"
_WORLDS = (HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP)
_groups: set[str] = set()


class GlobalComm:
    """Facts about the communication."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


class ReduceOp:
    """How the values of several processes become one: what ``ops.AllReduce`` and its like take as ``op``."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


def init(backend_name: str | None = None) -> None:
    """Say once on stderr that there is one process.

    Args:
        backend_name: "hccl", "nccl" or "mccl"; all are the same here.

    Raises:
        TypeError: ``backend_name`` is no str.
        RuntimeError: an unknown backend.
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', 'backend_name' must be a str or None, but got {type(backend_name).__name__}")
    if backend_name not in (None, "hccl", "nccl", "mccl"):
        raise RuntimeError(f"For 'init', 'backend_name' must be 'hccl', 'nccl' or 'mccl', but got {backend_name!r}")
    if not GlobalComm.INITED:
        print("hookscope runs in one process: communication has rank 0 of 1.", file=sys.stderr)
    GlobalComm.INITED = True


def release() -> None:
    """Forget the groups."""
    GlobalComm.INITED = False
    _groups.clear()


def _check_group(who: str, group: str) -> None:
    if not isinstance(group, str):
        raise TypeError(f"For '{who}', 'group' must be a str, but got {type(group).__name__}")
    if group not in _WORLDS and group not in _groups:
        raise ValueError(f"For '{who}', there is no group '{group}'; create_group makes one")


def get_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """This process's number: 0.

    Args:
        group: the name of a group; by default that of all processes.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _check_group("get_rank", group)
    return 0


def get_group_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """How many processes there are: 1.

    Args:
        group: the name of a group; by default that of all processes.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _check_group("get_group_size", group)
    return 1


def get_local_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """This process's number on this machine: 0.

    Args:
        group: the name of a group; by default that of all processes.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _check_group("get_local_rank", group)
    return 0


def get_local_rank_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """How many processes this machine has: 1.

    Args:
        group: the name of a group; by default that of all processes.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _check_group("get_local_rank_size", group)
    return 1


def get_process_group_ranks(group: str = HCCL_WORLD_COMM_GROUP) -> list[int]:
    """The numbers of a group's processes: [0].

    Args:
        group: the name of a group; by default that of all processes.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _check_group("get_process_group_ranks", group)
    return [0]


def get_comm_name(group: str = HCCL_WORLD_COMM_GROUP) -> str:
    """The name of a group's communicator: that of the group.

    Args:
        group: the name of a group; by default that of all processes.

    Raises:
        TypeError: no str.
        ValueError: there is no such group.
    """
    _check_group("get_comm_name", group)
    return group


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The number in the world of a process of a group: 0.

    Args:
        group: the name of a group.
        group_rank_id: the number in the group, which can be 0.

    Raises:
        TypeError: ``group`` is no str, or the number no int.
        ValueError: there is no such group or process.
    """
    return _only_rank("get_world_rank_from_group_rank", group, group_rank_id)


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The number in a group of a process of the world: 0.

    Args:
        world_rank_id: the number in the world, which can be 0.
        group: the name of a group.

    Raises:
        TypeError: ``group`` is no str, or the number no int.
        ValueError: there is no such group or process.
    """
    return _only_rank("get_group_rank_from_world_rank", group, world_rank_id)


def _only_rank(who: str, group: str, rank: int) -> int:
    _check_group(who, group)
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(f"For '{who}', the rank must be an int, but got {type(rank).__name__}")
    if rank != 0:
        raise ValueError(f"For '{who}', there is one process, of rank 0, but got {rank}")
    return 0


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Name a group of processes; [0] is the only one there can be.

    Args:
        group: its name.
        rank_ids: the numbers of its processes: [0].
        options: kept for callers; it is for Ascend devices.

    Raises:
        TypeError: ``group`` is no str or ``rank_ids`` no list.
        ValueError: other ranks than 0.
    """
    if not isinstance(group, str) or not isinstance(rank_ids, list):
        raise TypeError("For 'create_group', 'group' must be a str and 'rank_ids' a list of ints")
    if rank_ids != [0]:
        raise ValueError(f"For 'create_group', there is one process, so 'rank_ids' can be [0], but got {rank_ids}")
    _groups.add(group)


def destroy_group(group: str) -> None:
    """Forget a group.

    Args:
        group: its name.

    Raises:
        TypeError: no str.
        ValueError: the whole world, or no such group.
    """
    _check_group("destroy_group", group)
    if group in _WORLDS:
        raise ValueError("For 'destroy_group', the group of all processes cannot be destroyed; call release")
    _groups.discard(group)


__getattr__ = on_first_use(__name__)
