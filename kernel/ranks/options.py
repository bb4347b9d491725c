"""Options of `hookscope run` for many ranks: `--ranks`, and those of MindSpore's `msrun` for one machine."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["WITH_VALUE", "Plan", "add_rank_options", "plan_of"]

_MSRUN_RANKS = 8  # msrun's default
_HERE = ("127.0.0.1", "localhost", "::1")
_CLUSTER = "start the ranks of several machines with mpiexec or srun: mpiexec -n 16 python -m hookscope run script.py"
_NOT_HERE = {  # option -> its purpose, and advice
    "--bind_core": "for Ascend hosts; leave it out, or bind with mpiexec's own options",
    "--bind_numa": "for Ascend hosts; leave it out, or bind with mpiexec's own options",
    "--sim_level": "to simulate an Ascend cluster; leave it out: --worker_num starts as many ranks as you like here",
    "--sim_rank_id": "to simulate an Ascend cluster; leave it out: --worker_num starts as many ranks as you like here",
    "--rank_table_file": f"for Ascend clusters; {_CLUSTER}",
}
_MSRUN = ("master_addr", "master_port", "node_rank", "log_dir", "join", "cluster_time_out", "tail_worker_log")

WITH_VALUE = ("--ranks", "--worker_num", "--local_worker_num", *(f"--{name}" for name in _MSRUN), *_NOT_HERE)


@dataclass(frozen=True)
class Plan:
    """The ranks to start, and their output.

    Args:
        ranks: the number of ranks.
        log_dir: the folder of worker_<rank>.log, or None.
        visible_ranks: the ranks whose output is shown; None for all.
    """

    ranks: int
    log_dir: str | None
    visible_ranks: Collection[int] | None

    def shows(self, rank: int) -> bool:
        """Return whether the rank's output is shown."""
        return self.visible_ranks is None or rank in self.visible_ranks


def add_rank_options(run: argparse.ArgumentParser) -> None:
    """Add the options of `hookscope run` for many ranks."""
    ranks = run.add_argument_group("many ranks on this machine (docs/many_ranks.md)")
    ranks.add_argument("--ranks", metavar="N", help="start the script N times with MPI")
    ranks.add_argument("--worker_num", metavar="N", help=f"the same, by msrun's name (msrun's default: {_MSRUN_RANKS})")
    ranks.add_argument("--local_worker_num", metavar="N", help="the same number: all ranks are on this machine")
    ranks.add_argument("--log_dir", metavar="DIR", help="write the output of each rank to DIR/worker_<rank>.log too")
    ranks.add_argument(
        "--tail_worker_log", metavar="RANKS", help="whose output is shown: '0,2', '[0,4]'; '-1' (the default) for all"
    )
    ranks.add_argument("--join", metavar="True|False", help="accepted without effect: this command always waits")
    ranks.add_argument("--master_addr", metavar="ADDRESS", help="accepted if it is this machine's: 127.0.0.1")
    ranks.add_argument("--master_port", metavar="PORT", help="accepted without effect: the ranks need no port")
    ranks.add_argument("--cluster_time_out", metavar="N", help="accepted without effect: the ranks start together")
    ranks.add_argument("--node_rank", help=argparse.SUPPRESS)
    for option in _NOT_HERE:
        ranks.add_argument(option, help=argparse.SUPPRESS)


def plan_of(options: argparse.Namespace) -> Plan | None:
    """Return the plan that the options request.

    Args:
        options: the parsed options.

    Returns:
        None without options about ranks: the script is then run in this process.

    Raises:
        ValueError: an option's value is invalid, or requests several machines.
    """
    for option, purpose in _NOT_HERE.items():
        if getattr(options, option[2:]) is not None:
            raise ValueError(f"{option} is {purpose}")
    numbers = {name: getattr(options, name) for name in ("ranks", "worker_num", "local_worker_num")}
    counts = {name: _count(name, text) for name, text in numbers.items() if text is not None}
    if not counts and all(getattr(options, name) is None for name in _MSRUN):
        return None
    ranks = counts.get("ranks", counts.get("worker_num", _MSRUN_RANKS))
    if counts.get("worker_num", ranks) != ranks:
        raise ValueError(f"--ranks {ranks} and --worker_num {counts['worker_num']} differ: give one of them")
    if (local := counts.get("local_worker_num", ranks)) != ranks:
        default = "" if "ranks" in counts or "worker_num" in counts else " (msrun's default)"
        raise ValueError(
            f"--local_worker_num {local} beside {ranks} ranks{default} asks for several machines: give the same number "
            f"to --worker_num, or {_CLUSTER}"
        )
    _check_msrun(options)
    return Plan(ranks, options.log_dir, _visible_ranks(options.tail_worker_log))


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text.strip()) or int(text) < 1:
        raise ValueError(f"--{name} is the number of ranks, an integer of at least 1, got {text!r}")
    return int(text)


def _check_msrun(options: argparse.Namespace) -> None:
    address = options.master_addr
    if address is not None and address not in (*_HERE, os.uname().nodename):
        raise ValueError(f"--master_addr {address} is another machine's, only 127.0.0.1 is allowed: {_CLUSTER}")
    if options.node_rank not in (None, "-1", "0"):
        raise ValueError(f"--node_rank {options.node_rank} is for several machines, only 0 is allowed: {_CLUSTER}")
    if options.join is not None and options.join.lower() not in ("true", "false"):
        raise ValueError(f"--join is True or False, got {options.join!r}")
    for name in ("master_port", "cluster_time_out"):
        text = getattr(options, name)
        if text is not None and not re.fullmatch(r"[0-9]+", text.strip()):
            raise ValueError(f"--{name} is a number, got {text!r}")
    if options.log_dir == "":
        raise ValueError("--log_dir is a folder, got ''")


def _visible_ranks(text: str | None) -> Collection[int] | None:
    if text is None or text.strip() == "-1":
        return None
    match = re.fullmatch(r"\s*\[?([0-9\s,]+)\]?\s*", text)
    names = match.group(1).split(",") if match else [""]
    if not all(name.strip().isdigit() for name in names):
        raise ValueError(f"--tail_worker_log is -1 or ranks such as 0,2 or [0,4], got {text!r}")
    # msrun shows nothing for a rank that does not exist, so the number of ranks as value silences all.
    return frozenset(int(name) for name in names)
