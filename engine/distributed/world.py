"""The ranks of this run and their groups. MPI is imported by ``start``, and only where there are several processes."""

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

from ..cpu.telling import flush_output, tell
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
    "launched",
    "start",
    "world",
]

WORLDS = ("mccl_world_group", "hccl_world_group", "nccl_world_group")
"""Names of the group of all ranks: MindSpore's for CPU, Ascend and GPU. Here they are the same."""

# (rank, number of ranks) as MPI's starters tell them.
_TOLD = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", "PMIX_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


@dataclass(frozen=True, eq=False)
class Group:
    """Some of the ranks.

    Attributes:
        name: by which users know it.
        ranks: their numbers in the world, rising; the place of one is its number in the group.
        rank: the number of this process in the group; None where it is not one of them.
        comm: MPI's communicator for collectives; None where there is one process.
        messages: that for messages from one rank to another.
    """

    name: str
    ranks: tuple[int, ...]
    rank: int | None
    comm: Any = None
    messages: Any = None

    @property
    def size(self) -> int:
        """How many ranks it has."""
        return len(self.ranks)


@dataclass
class World:
    """What this process knows of the others.

    Attributes:
        groups: by name.
        machines: of each rank, by its number, the number of the machine on which it runs.
        collectives: does them; None where there is one process.
        sent: of each kind of exchange how often this rank took part, and how many bytes it sent.
        asked: by the name of a group how many exchanges with it this rank has asked for.
        broken: why this rank can do no exchange any more; "" while it can.
    """

    groups: dict[str, Group]
    machines: tuple[int, ...] = (0,)
    collectives: Worker | None = None
    sent: dict[str, tuple[int, int]] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    broken: str = ""

    @property
    def everybody(self) -> Group:
        """The group of all ranks."""
        return self.groups[WORLDS[0]]

    def ask(self, group: str) -> int:
        """Note that this rank asks for an exchange with a group; the number of it."""
        number = self.asked[group] = self.asked.get(group, 0) + 1
        return number

    def count(self, kind: str, size: int) -> None:
        """Note that this rank took part in an exchange, and sent ``size`` bytes."""
        times, before = self.sent.get(kind, (0, 0))
        self.sent[kind] = times + 1, before + size


def _alone() -> World:
    return World(dict.fromkeys(WORLDS, Group(WORLDS[0], (0,), 0)))


_world = _alone()
_failed = False
_LAST_SECONDS = 2.0  # in which messages arrive that somebody took before the end
_PASSED_ON_SECONDS = 0.2  # in which mpiexec shows what it has read


def world() -> World:
    """Return the ranks as they are now: before ``start`` this process alone."""
    return _world


def _told() -> tuple[int, int]:
    for rank, size in _TOLD:
        number, count = os.environ.get(rank, ""), os.environ.get(size, "")
        if number.isdigit() and count.isdigit():
            return int(number), int(count)
    return 0, 1


_launched = _told()


def launched() -> tuple[int, int]:
    """Return the number of this process and how many there are, by what its starter put into the environment: (0, 1) alone."""
    return _launched


def start() -> World:
    """Meet the other processes, once; without others nothing of MPI's is imported.

    Raises:
        RuntimeError: there are others, and mpi4py is not installed or its MPI allows no threads.
    """
    global _world
    _, size = launched()
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
    own = MPI.COMM_WORLD
    own.Set_errhandler(MPI.ERRORS_RETURN)  # as exceptions of Python
    machines = _machines(MPI, own)
    everybody = Group(WORLDS[0], tuple(range(own.size)), own.rank, own.Dup(), own.Dup())
    _world = World(dict.fromkeys(WORLDS, everybody), machines, Worker("hookscope collectives"))
    sys.excepthook = _noting(sys.excepthook)
    atexit.register(_leave)
    return _world


def end() -> None:
    """Forget all groups but that of all ranks. Nobody is waited for: MPI lets go of the others at the end."""
    for name in [name for name in _world.groups if name not in WORLDS]:
        del _world.groups[name]


def create_group(name: str, ranks: Sequence[int]) -> Group:
    """Make a group; all of its ranks must ask for it, and wait for each other.

    Args:
        name: its name.
        ranks: numbers of ranks in the world.

    Returns:
        The group; ranks outside may make it too, and are none of it.
    """
    everybody, numbers = _world.everybody, tuple(sorted(ranks))
    if everybody.rank not in numbers or _world.collectives is None:
        group = Group(name, numbers, numbers.index(everybody.rank) if everybody.rank in numbers else None)
    else:
        made = Pending(f"create_group of '{name}'", "", f"create_group {name}", 1, numbers)
        _world.asked[made.group] = 1
        comms = _world.collectives.ask(made, lambda: _communicators(everybody.comm, name, numbers)).wait()
        group = Group(name, numbers, numbers.index(everybody.rank), *comms)
    _world.groups[name] = group
    return group


def destroy_group(name: str) -> None:
    """Forget the group of this ``name``, which was made."""
    group = _world.groups.pop(name)
    if group.comm is not None and _world.collectives is not None:
        _world.asked.pop(f"create_group {name}", None)
        freed = Pending(f"destroy_group of '{name}'", "", f"destroy_group {name}", 1, group.ranks)
        _world.asked[freed.group] = 1
        _world.collectives.ask(freed, lambda: (group.comm.Free(), group.messages.Free())).wait()


def check_met(who: str) -> None:
    """Ranks must have met, where there are others.

    Args:
        who: what the user called, for the error.

    Raises:
        RuntimeError: there are others, and ``start`` was not called.
    """
    _, size = _launched
    if size > 1 and _world.collectives is None:
        raise RuntimeError(f"For '{who}', the {size} ranks have not met yet: call mindspore.communication.init() first")


def group_of(who: str, name: str) -> Group:
    """Return a group by its name.

    Args:
        who: what the user called, for the error.
        name: the group's.

    Raises:
        TypeError: ``name`` is not a str.
        ValueError: there is no such group.
        RuntimeError: there are other ranks, and they have not met.
    """
    check_met(who)
    if not isinstance(name, str):
        raise TypeError(f"For '{who}', 'group' must be a str, but got {type(name).__name__}")
    group = _world.groups.get(name)
    if group is None:
        raise ValueError(f"For '{who}', there is no group '{name}'; create_group makes one")
    return group


def _communicators(everybody: Any, name: str, ranks: tuple[int, ...]) -> tuple[Any, Any]:
    made = everybody.group.Incl(ranks)
    tag = zlib.crc32(name.encode()) & 0x7FFF  # two groups that are made at once must not be taken for one
    comm = everybody.Create_group(made, tag)
    made.Free()
    return comm, comm.Dup()


def _machines(mpi: Any, own: Any) -> tuple[int, ...]:
    """Of each rank the lowest rank on its machine."""
    together = own.Split_type(mpi.COMM_TYPE_SHARED, key=own.rank)
    lowest, of_all = np.array([own.rank], np.int64), np.empty(own.size, np.int64)
    together.Bcast(lowest, 0)
    together.Free()
    own.Allgather(lowest, of_all)
    return tuple(of_all.tolist())


def _noting(told: Any) -> Any:
    """Return an ``excepthook`` that notes that the script failed, and does what was done before."""

    def note(*error: Any) -> None:
        global _failed
        _failed = True
        told(*error)

    return note


def _leave() -> None:
    """At the end of the process: together with the others, or ending them where this rank failed."""
    from mpi4py import MPI

    from . import mailbox, together

    collectives = _world.collectives
    if MPI.Is_finalized() or collectives is None:
        return
    flush_output()
    if _failed or _world.broken:
        _let_be_read()
        MPI.COMM_WORLD.Abort(1)
    # What was asked for before and not waited for ends first: it stands before this in the worker's order.
    together.in_step("the end of the script")
    deadline = time.monotonic() + _LAST_SECONDS
    while (left := mailbox.not_sent()) and time.monotonic() < deadline:
        time.sleep(LONGEST_PAUSE)
    if left:
        tell(f"rank {_world.everybody.rank} ends, and nobody has taken its {left[0]}")
        _let_be_read()
        MPI.COMM_WORLD.Abort(1)
    collectives.end()
    MPI.Finalize()


def _let_be_read() -> None:
    """Wait until mpiexec has read what this rank wrote: what it has not, it forgets when a rank aborts."""
    flush_output()
    try:
        import fcntl
        import termios
    except ImportError:  # a system where nobody can tell what is left in a pipe
        time.sleep(_PASSED_ON_SECONDS)
        return
    deadline = time.monotonic() + _LAST_SECONDS
    while time.monotonic() < deadline:
        try:
            left = fcntl.ioctl(2, termios.FIONREAD, bytes(4))
        except OSError:  # no pipe
            return
        if not any(left):
            break
        time.sleep(LONGEST_PAUSE)
    time.sleep(_PASSED_ON_SECONDS)
