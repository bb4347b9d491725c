"""Compile all kernels, so that no process has to: what ``make`` does once, and who builds a package.

    python -m hookscope.engine.cpu.build_kernels [--into FOLDER] [--baselines NAME ...] [--workers N]

By default into the folder of the package where processes look first, for this machine's own baseline, on all cores.
What is up to date there stays. The list of what there is to compile is closed: each file of ``compiled`` says with each
of its functions for which arguments it is; what jit writes beside (``graph.loops``) is compiled when it is written.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from . import compiling, machine_code
from .machine_code import Baseline

__all__ = ["build", "main"]

_LONGEST = ("winograd", "recurrent", "statistics", "convolution", "attention")
"""Files that take longest, which are begun with."""


def _path(folder: Path, name: str, baseline: Baseline) -> Path:
    return folder / machine_code.file_name(name, baseline)


def _missing(folder: Path, baselines: Sequence[Baseline]) -> list[str]:
    """Files of kernels of which some machine code is not there, or was made from something else."""
    found = [
        name
        for name in compiling.files()
        if any(machine_code.read(_path(folder, name, one), **compiling.facts(name, one)) is None for one in baselines)
    ]
    return sorted(found, key=lambda name: (name not in _LONGEST, _LONGEST.index(name) if name in _LONGEST else 0))


def _build_one(name: str, folder: Path, baselines: Sequence[Baseline]) -> str:
    building = import_module(f"{compiling.__package__}.compiled._building")
    module = import_module(f"{compiling.__package__}.compiled.{name}")
    codes = building.build(building.entries(module), building.numbers(module), baselines)
    for baseline, code in zip(baselines, codes, strict=True):
        path = _path(folder, name, baseline)
        machine_code.write(path, code._replace(facts=compiling.facts(name, baseline)))
        path.chmod(0o644)
    return name


def build(folder: Path, baselines: Sequence[Baseline], workers: int) -> list[str]:
    """Compile what is missing in a folder.

    Args:
        folder: where machine code belongs.
        baselines: for which processors.
        workers: how many processes compile.

    Returns:
        The files of kernels that were compiled.
    """
    for path in folder.glob(f"*{machine_code.ENDING}"):
        if path.name.partition(".")[0] not in compiling.files():
            path.unlink()
    names = _missing(folder, baselines)
    if not names:
        return []
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    with compiling.without_collection():
        return _build_all(names, folder, baselines, workers)


def _build_all(names: Sequence[str], folder: Path, baselines: Sequence[Baseline], workers: int) -> list[str]:
    if workers > 1 and "fork" in multiprocessing.get_all_start_methods():
        import_module(f"{compiling.__package__}.compiled._building").prepare()  # once for all
        context = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(min(workers, len(names)), context) as pool:
            waiting = [pool.submit(_build_one, name, folder, baselines) for name in names]
            return [one.result() for one in waiting]
    return [_build_one(name, folder, baselines) for name in names]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, default=compiling.BUILT, help="the folder; default: the package's")
    parser.add_argument("--baselines", nargs="+", help="by LLVM's names (this machine's); or 'package'")
    parser.add_argument("--workers", type=int, default=_cores(), help="processes; default: one a core")
    options = parser.parse_args(arguments)
    if options.baselines == ["package"]:
        machine = machine_code.platform().partition("-")[0]
        options.baselines = machine_code.SHIPPED.get(machine, ())
    asked = options.baselines
    baselines = [machine_code.baseline()] if asked is None else [machine_code.shipped(name) for name in asked]
    built = build(options.into, baselines, options.workers)
    names = ", ".join(one.name for one in baselines)
    print(f"{len(built)} of {len(compiling.files())} files of kernels compiled for {names}, in {options.into}")
    return 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
