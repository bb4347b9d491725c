"""Checks that several ranks make together: ``python -m tests.ranks MODULE`` under mpiexec runs a module's functions.

A module of checks holds functions ``check_*``, which each rank calls; what one raises on any rank is the outcome.
``outcomes`` starts the ranks once for a module and number of ranks.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MPIEXEC = Path(sys.prefix, "bin", "mpiexec")

needs_ranks = pytest.mark.skipif(not MPIEXEC.exists(), reason="ranks need MPI: pip install mpi4py mpich")


def names(module: str) -> list[str]:
    """Return the checks of a module, in its order."""
    return [name for name in vars(importlib.import_module(module)) if name.startswith("check_")]


def command(ranks: int, *arguments: str) -> list[str]:
    """Return the command that starts Python on several ranks."""
    return [str(MPIEXEC), "-n", str(ranks), sys.executable, *arguments]


def environment() -> dict[str, str]:
    """Return the environment of ranks: one thread each, and this tree first."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def run(started: list[str], seconds: float = 120) -> tuple[int, str]:
    """Return the exit status of ranks and what they wrote; those that hang are ended.

    Args:
        started: what ``command`` gives.
        seconds: after which they hang.
    """
    with tempfile.TemporaryFile("w+") as written:
        process = subprocess.Popen(
            started,
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            start_new_session=True,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # which mpiexec forwards to the ranks, unlike SIGKILL
            process.wait(10)
        written.seek(0)
        return process.returncode, written.read()


@functools.cache
def outcomes(module: str, ranks: int, seconds: float = 240) -> dict[str, str]:
    """Return each check's failure as text, "" for none.

    Args:
        module: that holds the checks.
        ranks: how many make them.
        seconds: after which they hang.
    """
    folder = tempfile.mkdtemp()
    try:
        path = Path(folder, "outcomes.json")
        status, output = run(command(ranks, "-m", "tests.ranks", module, str(path)), seconds)
        results: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        ended = f"exit status {status}\n{output}"
        if status:
            results["the end"] = ended
        return {**{name: results.get(name, f"not reached: {ended}") for name in names(module)}, **results}
    finally:
        shutil.rmtree(folder)


def main() -> None:
    from mpi4py import MPI

    from hookscope.engine import communication

    communication.init()
    world, module, path = MPI.COMM_WORLD.Dup(), sys.argv[1], sys.argv[2]
    results = {}
    for name in names(module):
        wrong = ""
        try:
            getattr(importlib.import_module(module), name)(world.rank, world.size)
        except BaseException as error:  # whatever it is, it is the outcome
            wrong = f"rank {world.rank}: {''.join(traceback.format_exception(error))}"
        results[name] = "\n".join(filter(None, world.allgather(wrong)))
        if world.rank == 0:
            Path(path).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
