"""Ranks and groups for ``mindspore.ops.communication`` and ``mindspore.mint.distributed``."""

from __future__ import annotations

import hashlib
import importlib.util
from typing import Any

from ...base.argument_checks import check_int
from ...distributed import world as ranks
from ...distributed.world import Group, group_of
from ...ops import collectives as table
from ...ops.arguments import check_tensor
from ...tensors.tensor import Tensor
from . import GlobalComm, create_group, destroy_group, init, release

__all__ = [
    "destroy_process_group",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
    "new_group",
]


def is_available() -> bool:
    """Return whether processes can communicate: whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_initialized() -> bool:
    """Return whether ``init_process_group`` or ``mindspore.communication.init`` was called."""
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
    """Join the other ranks of this run, which MPI has started.

    Args:
        backend: "hccl", "nccl" or "mccl"; all are MPI here.
        init_method: must be None: MPI knows the other ranks.
        timeout: ignored: ranks wait for the others without a limit.
        world_size: the required number of ranks; -1 for any number.
        rank: the required rank of this process; -1 for any.
        store: must be None, for the same reason.
        group_name: ignored: the world has its own names.
        pg_options: for Ascend devices.
        device_id: for Ascend devices.

    Raises:
        ValueError: ``init_method`` or ``store``, or numbers other than MPI's.
        RuntimeError: an unknown backend, or mpi4py is not installed.
    """
    if init_method is not None or store is not None:
        raise ValueError(
            "For 'init_process_group', 'init_method' and 'store' must be None: ranks are started by MPI, "
            "as 'hookscope run --ranks N script.py' does, which knows where they are"
        )
    init(backend)
    everybody = ranks.world().everybody
    for name, expected, actual in (("world_size", world_size, everybody.size), ("rank", rank, everybody.rank)):
        if expected not in (-1, actual):
            raise ValueError(f"For 'init_process_group', '{name}' must be -1 or {actual}, but got {expected}")


def destroy_process_group(group: str | None = None) -> None:
    """Forget a group.

    Args:
        group: its name; None, or the world, for all of them.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
    """
    if group is None or group in ranks.WORLDS:
        release()
    else:
        destroy_group(group)


def _group(caller: str, group: str | None) -> Group:
    return group_of(caller, table.WORLD if group is None else group)


def get_rank(group: str | None = None) -> int:
    """Return this process's rank in a group; -1 outside it.

    Args:
        group: the name of the group; None for the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
    """
    rank = _group("get_rank", group).rank
    return -1 if rank is None else rank


def get_world_size(group: str | None = None) -> int:
    """Return the number of ranks of a group; -1 for a process outside it.

    Args:
        group: the name of the group; None for the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
    """
    members = _group("get_world_size", group)
    return -1 if members.rank is None else members.size


def get_process_group_ranks(group: str | None = None) -> list[int]:
    """Return the world ranks of a group.

    Args:
        group: the name of the group; None for the world.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
    """
    return [*_group("get_process_group_ranks", group).ranks]


def get_global_rank(group: str | None, group_rank: int) -> int:
    """Return the world rank of a rank of a group.

    Args:
        group: the name of the group; None for the world.
        group_rank: the rank in the group.

    Raises:
        TypeError: not an int, or not a str.
        ValueError: an unknown group or rank.
    """
    members = _group("get_global_rank", group)
    return members.ranks[table.check_root("get_global_rank", "group_rank", group_rank, members)]


def get_group_rank(group: str | None, global_rank: int) -> int:
    """Return the rank in a group of a world rank.

    Args:
        group: the name of the group; None for the world.
        global_rank: the world rank.

    Raises:
        TypeError: not an int, or not a str.
        ValueError: an unknown group, or the rank is not in it.
    """
    return in_group("get_group_rank", "global_rank", _group("get_group_rank", group), global_rank)


def in_group(caller: str, argument: str, group: Group, rank: int) -> int:
    """Return the rank in a group of a world rank; else raise TypeError or ValueError."""
    if check_int(rank, caller, argument) not in group.ranks:
        raise ValueError(f"For '{caller}', '{argument}' must be one of {[*group.ranks]}, but got {rank}")
    return group.ranks.index(rank)


def new_group(
    ranks: list[int] | None = None,
    timeout: Any = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
) -> str:
    """Create a group of ranks; its ranks all call it and wait for each other.

    Args:
        ranks: the world ranks of its members; None for all of them.
        timeout: ignored: ranks wait for the others without a limit.
        backend: None, "hccl" or "mccl"; all are MPI here.
        pg_options: for Ascend devices.
        use_local_synchronization: ignored: ranks outside the group need not call it anyway.
        group_desc: ignored.

    Returns:
        Its name, the same for the same ranks.

    Raises:
        TypeError: ``ranks`` is not a list of ints, or an unknown backend.
        ValueError: an unknown rank, or a duplicate.
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
    """Return MindSpore's name of a group's backend; here all are MPI.

    Args:
        group: the name of the group; None for the world.

    Returns:
        "hccl", or "mccl" if the group's name contains that.

    Raises:
        TypeError: not a str.
        ValueError: an unknown group.
    """
    _group("get_backend", group)
    return "mccl" if group is not None and "mccl" in group else "hccl"


def check_call(caller: str, group: str | None, **tensors: Any) -> tuple[Group, list[Tensor]]:
    """Return the group of a call, which must include this process, and its tensors by argument name."""
    return table.member(caller, group), [check_tensor(x, caller, name) for name, x in tensors.items()]
