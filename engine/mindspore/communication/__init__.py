"""``mindspore.communication``: ranks and groups of this run. A single process is rank 0 of 1.

MPI starts several (docs/many_ranks.md); ``init`` connects them.
"""

from __future__ import annotations

import sys
from typing import Any

from ...base.argument_checks import check_int
from ...base.module_names import on_first_use
from ...cpu.notices import tell
from ...distributed import world as ranks
from ...distributed.world import Group, group_of

__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "ReduceOp",
    "create_group",
    "destroy_group",
    "get_comm_name",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]

MCCL_WORLD_COMM_GROUP, HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP = ranks.WORLDS


class GlobalComm:
    """Facts about the communication."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP
    INITED = False
    CHECK_ENVS = True


class ReduceOp:
    """Reductions over ranks: the values of the argument ``op`` of ``ops.AllReduce`` and similar operators."""

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


def init(backend_name: str | None = None) -> None:
    """Join the other ranks of this run; a single process is reported once on stderr.

    Args:
        backend_name: "hccl", "nccl" or "mccl"; all are MPI here.

    Raises:
        TypeError: ``backend_name`` is not a str.
        RuntimeError: an unknown backend; or there are other ranks, and mpi4py is not installed.
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', 'backend_name' must be a str or None, but got {type(backend_name).__name__}")
    if backend_name not in (None, "hccl", "nccl", "mccl"):
        raise RuntimeError(f"For 'init', 'backend_name' must be 'hccl', 'nccl' or 'mccl', but got {backend_name!r}")
    if ranks.start().everybody.size == 1 and not GlobalComm.INITED:
        tell("hookscope runs in one process: communication has rank 0 of 1.")
    GlobalComm.INITED = True


def release() -> None:
    """Forget all groups but the world; ``init`` may be called again."""
    GlobalComm.INITED = False
    ranks.end()


def _number_in(caller: str, group: str) -> tuple[Group, int]:
    members = group_of(caller, group)
    if members.rank is None:
        raise ValueError(f"For '{caller}', this process is not in group '{group}', whose ranks are {[*members.ranks]}")
    return members, members.rank


def get_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Return this process's rank in a group.

    Args:
        group: the name of a group; by default the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group, or this process is not in it.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    return _number_in("get_rank", group)[1]


def get_group_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Return the number of ranks of a group.

    Args:
        group: the name of a group; by default the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    return group_of("get_group_size", group).size


def _machine_ranks(caller: str, group: str) -> tuple[Group, list[int]]:
    """Return a group and its ranks on this machine."""
    members, _ = _number_in(caller, group)
    machines, me = ranks.world().machines, ranks.world().everybody.rank or 0
    return members, [rank for rank in members.ranks if machines[rank] == machines[me]]


def get_local_rank(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Return this process's position among the ranks of a group on this machine.

    Args:
        group: the name of a group; by default the world. MindSpore rejects other groups for Ascend only.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group, or this process is not in it.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    _, local_ranks = _machine_ranks("get_local_rank", group)
    return local_ranks.index(ranks.world().everybody.rank or 0)


def get_local_rank_size(group: str = HCCL_WORLD_COMM_GROUP) -> int:
    """Return the number of ranks of a group on this machine.

    Args:
        group: the name of a group; by default the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group, or this process is not in it.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    return len(_machine_ranks("get_local_rank_size", group)[1])


def get_process_group_ranks(group: str = HCCL_WORLD_COMM_GROUP) -> list[int]:
    """Return the world ranks of a group, ascending.

    Args:
        group: the name of a group; by default the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    return [*group_of("get_process_group_ranks", group).ranks]


def get_comm_name(group: str = HCCL_WORLD_COMM_GROUP) -> str:
    """Return the name of a group's communicator: that of the group.

    Args:
        group: the name of a group; by default the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    group_of("get_comm_name", group)
    return group


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Return the world rank of a rank of a group.

    Args:
        group: the name of a group.
        group_rank_id: the rank in the group.

    Raises:
        TypeError: ``group`` is not a str, or the number is not an int.
        ValueError: an unknown group or rank.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    caller = "get_world_rank_from_group_rank"
    members = group_of(caller, group)
    if not 0 <= check_int(group_rank_id, caller, "group_rank_id") < members.size:
        raise ValueError(
            f"For '{caller}', group '{group}' has ranks from 0 to {members.size - 1}, but got {group_rank_id}"
        )
    return members.ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Return the rank in a group of a world rank.

    Args:
        world_rank_id: the world rank.
        group: the name of a group.

    Raises:
        TypeError: ``group`` is not a str, or the number is not an int.
        ValueError: an unknown group, or the rank is not in it.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    caller = "get_group_rank_from_world_rank"
    members = group_of(caller, group)
    if check_int(world_rank_id, caller, "world_rank_id") not in members.ranks:
        raise ValueError(
            f"For '{caller}', the ranks of group '{group}' are {[*members.ranks]}, but got {world_rank_id}"
        )
    return members.ranks.index(world_rank_id)


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Create a group of ranks. Its ranks all call it and wait for each other; other ranks may call it too.

    Args:
        group: its name.
        rank_ids: the world ranks of its members.
        options: accepted for compatibility; it is for Ascend devices.

    Raises:
        TypeError: ``group`` is not a str, or ``rank_ids`` is not a list of ints.
        ValueError: no ranks, a duplicate or an unknown rank; or the group already has other ranks.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    if not isinstance(group, str) or not isinstance(rank_ids, list) or not all(type(rank) is int for rank in rank_ids):
        values = f"{group!r} and {rank_ids!r}"
        raise TypeError(f"For 'create_group', 'group' must be a str and 'rank_ids' a list of ints, but got {values}")
    size = group_of("create_group", HCCL_WORLD_COMM_GROUP).size
    if not rank_ids or len({*rank_ids}) < len(rank_ids) or not all(0 <= rank < size for rank in rank_ids):
        raise ValueError(
            f"For 'create_group', 'rank_ids' must hold different ranks from 0 to {size - 1}, but got {rank_ids}"
        )
    existing = ranks.world().groups.get(group)
    if existing is None:
        ranks.create_group(group, rank_ids)
    elif existing.ranks != tuple(sorted(rank_ids)):
        raise ValueError(f"For 'create_group', group '{group}' is there, with ranks {[*existing.ranks]}")


def destroy_group(group: str) -> None:
    """Forget a group; its ranks all call it and wait for each other.

    Args:
        group: its name.

    Raises:
        TypeError: not a str.
        ValueError: the world, or an unknown group.
        RuntimeError: there are other ranks, but ``init`` was not called.
    """
    group_of("destroy_group", group)
    if group in ranks.WORLDS:
        raise ValueError("For 'destroy_group', the group of all ranks cannot be destroyed; call release")
    ranks.destroy_group(group)


__getattr__ = on_first_use(__name__, rooms=("comm_func",))
