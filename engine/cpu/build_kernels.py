"""Compilation of all kernels ahead of time: by ``make``, and at the build of a package.

    python -m hookscope.engine.cpu.build_kernels [--into FOLDER] [--baselines NAME ...] [--workers N]

By default the output is the package's folder, where processes look first, for this machine's own baseline, on all
cores. Files that are up to date stay. The list of functions is closed: each file of ``compiled`` declares the argument
types of its functions; functions that jit generates (``compile.loops``) are compiled when they are generated.
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
"""Files that take longest, started first."""


def _path(folder: Path, name: str, baseline: Baseline) -> Path:
    return folder / machine_code.file_name(name, baseline)


def _missing(folder: Path, baselines: Sequence[Baseline]) -> list[str]:
    """Return files of kernels whose machine code is missing or out of date."""
    missing = [
        name
        for name in compiling.files()
        if any(
            machine_code.read(_path(folder, name, baseline), **compiling.facts(name, baseline)) is None
            for baseline in baselines
        )
    ]
    return sorted(missing, key=lambda name: (name not in _LONGEST, _LONGEST.index(name) if name in _LONGEST else 0))


def _build_one(name: str, folder: Path, baselines: Sequence[Baseline]) -> str:
    building = import_module(f"{compiling.__package__}.compiled._building")
    module = import_module(compiling.module_name(name))
    codes = building.build(building.entries(module), building.numbers(module), baselines)
    for baseline, code in zip(baselines, codes, strict=True):
        path = _path(folder, name, baseline)
        machine_code.write(path, code._replace(facts=compiling.facts(name, baseline)))
        path.chmod(0o644)
    return name


def build(folder: Path, baselines: Sequence[Baseline], workers: int) -> list[str]:
    """Compile the missing files of a folder.

    Args:
        folder: the folder of machine code.
        baselines: the target processors.
        workers: the number of compiling processes.

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
            return [future.result() for future in waiting]
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
    requested = options.baselines
    baselines = [machine_code.baseline()] if requested is None else [machine_code.shipped(name) for name in requested]
    built = build(options.into, baselines, options.workers)
    names = ", ".join(baseline.name for baseline in baselines)
    print(f"{len(built)} of {len(compiling.files())} files of kernels compiled for {names}, in {options.into}")
    return 0


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
