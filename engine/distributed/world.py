"""Ranks of this run and their groups. ``start`` imports MPI, and only if there are several processes."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..cpu.notices import flush_output, tell
from .worker import LONGEST_PAUSE, Pending, Worker

__all__ = [
    "WORLDS",
    "Group",
    "World",
    "check_met",
    "create_group",
    "destroy_group",
    "end",
    "group_of",
    "launcher_rank",
    "start",
    "world",
]

WORLDS = ("mccl_world_group", "hccl_world_group", "nccl_world_group")
"""Names of the group of all ranks: MindSpore's for CPU, Ascend and GPU. Here they are the same."""

# (rank, number of ranks) in the environment variables of MPI's launchers.
_LAUNCHER_VARIABLES = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


@dataclass(frozen=True, eq=False)
class Group:
    """A group of ranks.

    Attributes:
        name: its public name.
        ranks: their numbers in the world, ascending; the index of a rank is its number in the group.
        rank: the number of this process in the group; None if it is not in it.
        comm: MPI's communicator for collectives; None if there is one process.
        messages: the communicator for point-to-point messages.
    """

    name: str
    ranks: tuple[int, ...]
    rank: int | None
    comm: Any = None
    messages: Any = None

    @property
    def size(self) -> int:
        """The number of ranks."""
        return len(self.ranks)


@dataclass
class World:
    """This process's data about all ranks.

    Attributes:
        groups: by name.
        machines: for each rank the number of its machine.
        collectives: their worker; None if there is one process.
        sent: by kind of exchange, the number of this rank's exchanges and the bytes that it sent.
        requests: by group name, the number of exchanges that this rank has requested.
        broken: why this rank can no longer perform exchanges; "" while it can.
    """

    groups: dict[str, Group]
    machines: tuple[int, ...] = (0,)
    collectives: Worker | None = None
    sent: dict[str, tuple[int, int]] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    broken: str = ""

    @property
    def everybody(self) -> Group:
        """The group of all ranks."""
        return self.groups[WORLDS[0]]

    def ask(self, group: str) -> int:
        """Count this rank's request of an exchange with a group; return its number."""
        number = self.requests[group] = self.requests.get(group, 0) + 1
        return number

    def count(self, kind: str, size: int) -> None:
        """Count this rank's participation in an exchange, and the ``size`` bytes that it sent."""
        times, previous = self.sent.get(kind, (0, 0))
        self.sent[kind] = times + 1, previous + size


def _alone() -> World:
    return World(dict.fromkeys(WORLDS, Group(WORLDS[0], (0,), 0)))


_world = _alone()
_failed = False
_LAST_SECONDS = 2.0  # for the arrival of messages that were received before the end
_PASSED_ON_SECONDS = 0.2  # for mpiexec to print its input


def world() -> World:
    """Return the current ranks: before ``start`` only this process."""
    return _world


def _launcher_rank() -> tuple[int, int]:
    for rank, size in _LAUNCHER_VARIABLES:
        number, count = os.environ.get(rank, ""), os.environ.get(size, "")
        if number.isdigit() and count.isdigit():
            return int(number), int(count)
    return 0, 1


_rank_and_size = _launcher_rank()


def launcher_rank() -> tuple[int, int]:
    """Return this process's rank and the number of ranks, from the launcher's environment: (0, 1) without one."""
    return _rank_and_size


def start() -> World:
    """Connect to the other processes, once; without others MPI is not imported.

    Raises:
        RuntimeError: there are others, and mpi4py is not installed or its MPI does not support threads.
    """
    global _world
    _, size = launcher_rank()
    if _world.collectives is not None or size == 1:
        return _world
    if importlib.util.find_spec("mpi4py") is None:
        raise RuntimeError(
            f"this process is one of {size} ranks, and they need mpi4py to meet: pip install 'hookscope[parallel]'"
        )
    import mpi4py

    if "mpi4py.MPI" not in sys.modules:
        mpi4py.rc.finalize = False  # a rank that fails must not wait for the others: see _leave
    from mpi4py import MPI

    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise RuntimeError(
            "MPI was initialized without MPI_THREAD_MULTIPLE, which ranks need: leave mpi4py.rc.thread_level as it is"
        )
    comm_world = MPI.COMM_WORLD
    comm_world.Set_errhandler(MPI.ERRORS_RETURN)  # as Python exceptions
    machines = _machines(MPI, comm_world)
    all_ranks = Group(WORLDS[0], tuple(range(comm_world.size)), comm_world.rank, comm_world.Dup(), comm_world.Dup())
    _world = World(dict.fromkeys(WORLDS, all_ranks), machines, Worker("hookscope collectives"))
    sys.excepthook = _record_failure(sys.excepthook)
    atexit.register(_leave)
    return _world


def end() -> None:
    """Remove all groups except that of all ranks, without synchronization: MPI frees them at the end."""
    for name in [name for name in _world.groups if name not in WORLDS]:
        del _world.groups[name]


def create_group(name: str, ranks: Sequence[int]) -> Group:
    """Create a group; all of its ranks must call this, and wait for each other.

    Args:
        name: its name.
        ranks: numbers of ranks in the world.

    Returns:
        The group; other ranks may create it too, without being in it.
    """
    all_ranks, numbers = _world.everybody, tuple(sorted(ranks))
    if all_ranks.rank not in numbers or _world.collectives is None:
        group = Group(name, numbers, numbers.index(all_ranks.rank) if all_ranks.rank in numbers else None)
    else:
        pending = Pending(f"create_group of '{name}'", "", f"create_group {name}", 1, numbers)
        _world.requests[pending.group] = 1
        comms = _world.collectives.ask(pending, lambda: _communicators(all_ranks.comm, name, numbers)).wait()
        group = Group(name, numbers, numbers.index(all_ranks.rank), *comms)
    _world.groups[name] = group
    return group


def destroy_group(name: str) -> None:
    """Remove the group of this ``name``, which must exist."""
    group = _world.groups.pop(name)
    if group.comm is not None and _world.collectives is not None:
        _world.requests.pop(f"create_group {name}", None)
        freed = Pending(f"destroy_group of '{name}'", "", f"destroy_group {name}", 1, group.ranks)
        _world.requests[freed.group] = 1
        _world.collectives.ask(freed, lambda: (group.comm.Free(), group.messages.Free())).wait()


def check_met(caller: str) -> None:
    """Raise an error if there are other ranks that are not connected.

    Args:
        caller: the function that the user called, for the error.

    Raises:
        RuntimeError: there are others, and ``start`` was not called.
    """
    _, size = _rank_and_size
    if size > 1 and _world.collectives is None:
        raise RuntimeError(
            f"For '{caller}', the {size} ranks have not met yet: call mindspore.communication.init() first"
        )


def group_of(caller: str, name: str) -> Group:
    """Return a group by its name.

    Args:
        caller: the function that the user called, for the error.
        name: the group's name.

    Raises:
        TypeError: ``name`` is not a str.
        ValueError: there is no such group.
        RuntimeError: there are other ranks, and they are not connected.
    """
    check_met(caller)
    if not isinstance(name, str):
        raise TypeError(f"For '{caller}', 'group' must be a str, but got {type(name).__name__}")
    group = _world.groups.get(name)
    if group is None:
        raise ValueError(f"For '{caller}', there is no group '{name}'; create_group makes one")
    return group


def _communicators(everybody: Any, name: str, ranks: tuple[int, ...]) -> tuple[Any, Any]:
    subgroup = everybody.group.Incl(ranks)
    tag = zlib.crc32(name.encode()) & 0x7FFF  # two groups that are created at once must not be confused
    comm = everybody.Create_group(subgroup, tag)
    subgroup.Free()
    return comm, comm.Dup()


def _machines(mpi: Any, comm: Any) -> tuple[int, ...]:
    """Return for each rank the lowest rank on its machine."""
    node = comm.Split_type(mpi.COMM_TYPE_SHARED, key=comm.rank)
    lowest, lowest_ranks = np.array([comm.rank], np.int64), np.empty(comm.size, np.int64)
    node.Bcast(lowest, 0)
    node.Free()
    comm.Allgather(lowest, lowest_ranks)
    return tuple(lowest_ranks.tolist())


def _record_failure(previous: Any) -> Any:
    """Return an ``excepthook`` that records the failure of the script, and calls the previous one."""

    def note(*error: Any) -> None:
        global _failed
        _failed = True
        previous(*error)

    return note


def _leave() -> None:
    """End the process: together with the other ranks, or aborting them if this rank failed."""
    from mpi4py import MPI

    from . import mailbox, synchronization

    collectives = _world.collectives
    if MPI.Is_finalized() or collectives is None:
        return
    flush_output()
    if _failed or _world.broken:
        _let_be_read()
        MPI.COMM_WORLD.Abort(1)
    # Earlier requests that were not waited for end first: they precede this one in the worker's queue.
    synchronization.synchronize("the end of the script")
    deadline = time.monotonic() + _LAST_SECONDS
    while (unsent := mailbox.not_sent()) and time.monotonic() < deadline:
        time.sleep(LONGEST_PAUSE)
    if unsent:
        tell(f"rank {_world.everybody.rank} ends, and no rank has received its {unsent[0]}")
        _let_be_read()
        MPI.COMM_WORLD.Abort(1)
    collectives.end()
    MPI.Finalize()


def _let_be_read() -> None:
    """Wait until mpiexec has read this rank's output: it discards unread output when a rank aborts."""
    flush_output()
    try:
        import fcntl
        import termios
    except ImportError:  # a system without a way to read the fill of a pipe
        time.sleep(_PASSED_ON_SECONDS)
        return
    deadline = time.monotonic() + _LAST_SECONDS
    while time.monotonic() < deadline:
        try:
            unread = fcntl.ioctl(2, termios.FIONREAD, bytes(4))
        except OSError:  # not a pipe
            return
        if not any(unread):
            break
        time.sleep(LONGEST_PAUSE)
    time.sleep(_PASSED_ON_SECONDS)
