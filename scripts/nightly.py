"""The exhaustive checks, one after another: random programs, sessions, networks and damaged files by the thousand.

    python scripts/nightly.py [--list] [--seed N] [--share 0.1] [NAME ...]

Each check is a command of its own. ``--share`` scales the numbers of cases. A check that needs MindSpore is left out,
with a line that says so, unless HOOKSCOPE_MINDSPORE names a Python that has it. Exits with 1 if a check failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Check:
    """One exhaustive check.

    Attributes:
        after: the changes that it is for.
        command: arguments of Python; ``{seed}`` is the seed, and ``{1000}`` a number of cases.
        environment: variables that it is run with.
        needs: a variable of the environment without which it is left out.
    """

    after: str
    command: str
    environment: tuple[tuple[str, str], ...] = ()
    needs: str = ""


CHECKS = {
    "tests": Check(
        "anything: every case of every test",
        "-m pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval tests notebooks",
        (("CI", "true"), ("HOOKSCOPE_ALL_CASES", "1")),
    ),
    "views": Check(
        "views, writes in place, tapes",
        "-m tests.engine.view_programs --programs {20000} --seed {seed}",
        (("HOOKSCOPE_NUMBA", "0"),),
    ),
    "networks": Check("layers, hooks, taps, plans", "-m tests.engine.random_networks --networks {500} --seed {seed}"),
    "plans": Check("graph mode", "-m tests.engine.compile.stale_plans --programs {10000} --seed {seed}"),
    "shapes": Check(
        "lengths that plans leave open", "-m tests.engine.compile.shape_programs --programs {5000} --seed {seed}"
    ),
    "debugger": Check(
        "pausing, stepping, edits", "tests/engine/debug/random_programs.py --programs {2000} --seed {seed}"
    ),
    "bits": Check(
        "compiled kernels, their compiler, cache and threads",
        "tests/engine/same_bits.py --seed {seed} --processes {20}",
    ),
    "files": Check("how files are written", "tests/engine/file_trials.py --seed {seed}"),
    "killed saves": Check(
        "checkpoints of ranks", "-m tests.engine.distributed.killed_saves --kills {30} --seed {seed}"
    ),
    "checkpoints": Check("how files are read", "tests/engine/fuzz_checkpoints.py --files {100000} --seed {seed}"),
    "pauses": Check("the pause pump", "tests/kernel/random_pauses.py --pauses {1000} --seed {seed}"),
    "rank pauses": Check(
        "pauses over ranks", "-m tests.kernel.remote.random_rank_pauses --pauses {200} --ranks 4 --seed {seed}"
    ),
    "ipykernel": Check("kernel/ipykernel_adapter.py, the pause pump", "tests/kernel/ipykernel_versions.py"),
    "sessions": Check(
        "panels, how a run pauses", "-m tests.browser.random_sessions --seed {seed} --count {100} --workers 2"
    ),
    "findings": Check("conditions", "-m tests.faults.judging --nudged {seed}"),
    "machine code": Check("Triton kernels", "-m tests.triton_kernels.quality"),
    "mutants": Check("the engine, its tests", "-m scripts.mutants sample --seed {seed} --count {100}"),
    "differential": Check(
        "what the engine computes",
        "-m tests.differential --mindspore $HOOKSCOPE_MINDSPORE --cases {5000} --seed {seed}",
        needs="HOOKSCOPE_MINDSPORE",
    ),
    "examples": Check(
        "what the engine computes",
        "-m tests.differential.examples --mindspore $HOOKSCOPE_MINDSPORE",
        needs="HOOKSCOPE_MINDSPORE",
    ),
}


def arguments_of(check: Check, seed: int, share: float) -> list[str]:
    """Return the arguments of Python for a check, with its numbers of cases scaled to at least 1."""
    arguments = []
    for word in check.command.split():
        if word == "{seed}":
            word = str(seed)
        elif word.startswith("{"):
            word = str(max(1, round(int(word[1:-1]) * share)))
        arguments.append(os.path.expandvars(word))
    return arguments


def listing() -> str:
    """Return a line for each check: its name, the changes it is for, and its command."""
    return "\n".join(f"{name:14}{check.after:54}{check.command}" for name, check in CHECKS.items())


def run(name: str, seed: int, share: float) -> bool:
    """Run one check; return whether it passed or was left out."""
    check = CHECKS[name]
    if check.needs and check.needs not in os.environ:
        print(f"nightly: {name}: left out, since {check.needs} is not set", flush=True)
        return True
    command = [sys.executable, *arguments_of(check, seed, share)]
    print(f"nightly: {name}: {' '.join(command[1:])}", flush=True)
    begin = time.monotonic()
    status = subprocess.run(command, cwd=ROOT, env={**os.environ, **dict(check.environment)}, check=False).returncode
    print(
        f"nightly: {name}: {'passed' if status == 0 else f'FAILED, status {status}'}, {time.monotonic() - begin:.0f} s",
        flush=True,
    )
    return status == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks that the command line names, by default all; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="checks to run, by default all")
    parser.add_argument("--list", action="store_true", help="print the checks, and run none")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m%d")), help="by default the date")
    parser.add_argument("--share", type=float, default=1.0, help="of the numbers of cases")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in CHECKS]:
        parser.error(f"unknown check {unknown[0]!r}; known are {', '.join(CHECKS)}")
    if options.share <= 0:
        parser.error(f"argument --share: must be above 0, got {options.share:g}")
    if options.list:
        print(listing())
        return 0
    failed = [name for name in options.names or CHECKS if not run(name, options.seed, options.share)]
    print(f"nightly: failed: {', '.join(failed)}" if failed else "nightly: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
