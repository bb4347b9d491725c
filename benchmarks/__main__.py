"""`make bench`: every measurement, one after the other.

python -m benchmarks [--quick] [NAME ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from . import (
    activation_memory,
    checkpoints,
    data_parallel,
    first_use,
    gpu_check,
    graph_mode,
    import_time,
    kernel_start,
    launch_time,
    many_cells,
    panel_times,
    step_memory,
    training,
    value_statistics,
    watching,
)

# Name -> what runs it, with the arguments for a quick look and for a thorough one.
BENCHMARKS: dict[str, tuple[Callable[[list[str]], object], list[str], list[str]]] = {
    "import_time": (import_time.main, ["--repeats", "5"], []),
    "kernel_start": (kernel_start.main, ["--repeats", "3"], []),
    "launch_time": (launch_time.main, ["--calls", "200", "--rounds", "20"], []),
    "training": (training.main, ["--quick"], []),
    "graph_mode": (graph_mode.main, ["--quick"], []),
    "step_memory": (step_memory.main, ["--quick"], []),
    "activation_memory": (activation_memory.main, ["--rounds", "3"], []),
    "first_use": (first_use.main, ["--quick"], []),
    "value_statistics": (value_statistics.main, ["--quick"], []),
    "watching": (watching.main, ["--quick"], []),
    "many_cells": (many_cells.main, ["--cells", "1000", "--steps", "4"], []),
    "panel_times": (panel_times.main, ["--repeats", "3", "--steps", "20"], []),
    "data_parallel": (data_parallel.main, ["--quick"], []),
    "checkpoints": (checkpoints.main, ["--repeats", "3"], []),
    "gpu_check": (gpu_check.main, [], []),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats: some minutes")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; default: all")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; known are {', '.join(BENCHMARKS)}")
    for name in options.names or BENCHMARKS:
        run, quick, thorough = BENCHMARKS[name]
        print(f"\n{name}\n{'-' * len(name)}", flush=True)
        run(quick if options.quick else thorough)


if __name__ == "__main__":
    main()
