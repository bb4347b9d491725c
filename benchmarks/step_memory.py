"""Memory of a training step: the peak bytes of arrays above parameters and optimizer, and the process's growth.

    python -m benchmarks step_memory [--quick]
    python benchmarks/step_memory.py [--torch-python PYTHON] [--rows lenet,resnet18]

Each number is of a process of its own. The bytes of arrays are counted in the third step, by tracemalloc in Hookscope
and by the profiler's memory events in PyTorch (``peaks.py``); MindSpore and JAX do not count on a CPU. The growth is of
resident memory over the first steps, from the imports to its peak, and includes parameters and the memory of compilers.
The results are saved in ``build/benchmarks.json``, unless it is ``--quick``.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

try:
    from . import results
    from .peers import Peer, PeerError
    from .training import ROWS, add_pythons, python_of
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import results  # type: ignore[import-not-found, no-redef, unused-ignore]
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]
    from training import ROWS, add_pythons, python_of  # type: ignore[import-not-found, no-redef, unused-ignore]

PEERS = ("hookscope", "torch", "torch-compiled", "mindspore", "mindspore-graph", "jax")
STEPS = [row for row, kind in ROWS.items() if kind.is_step]


def memory_of(name: str, row: str, options: argparse.Namespace) -> dict[str, int | None]:
    peer = Peer(name, python_of(name, options), options.threads, options.patience)
    try:
        peer.prepare(row)
        peer.run(row, 3)
        return {"grown": peer.growth(), "peak": peer.peak(row)}
    finally:
        peer.close()


def _mebibytes(count: int | None) -> str:
    return "-" if count is None else f"{count / 2**20:.1f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_pythons(parser)
    parser.add_argument("--rows", default=",".join(STEPS), help="which rows, with commas between them; default: all")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each peer; default: all cores")
    parser.add_argument("--patience", type=float, default=120.0, help="the most seconds of one reply (120)")
    parser.add_argument("--quick", action="store_true", help="replies within 6 seconds, not of ResNet-18")
    options = parser.parse_args(arguments)
    rows = options.rows.split(",")
    for row in rows:
        if row not in STEPS:
            parser.error(f"argument --rows: unknown row {row!r}; known are {', '.join(STEPS)}")
    if options.quick:
        options.patience, rows = 6.0, [row for row in rows if row != "resnet18"]
    section = results.load().get("step_memory", {})
    print("MiB; arrays above parameters, states and data, and in brackets what resident memory grew by.\n")
    print(f"{'':<41}" + "".join(f"{name:>17}" for name in PEERS) + f"{'/ PyTorch':>11}")
    absent: dict[str, str] = {}
    for row in rows:
        figures: dict[str, Any] = {}
        for name in PEERS:
            if name in absent:
                continue
            try:
                figures[name] = memory_of(name, row, options)
            except (PeerError, OSError) as error:
                if str(error).startswith("not installed") or isinstance(error, OSError):
                    absent[name] = str(error)
                else:
                    print(f"  {name}: {error}")
        cells = [
            f"{_mebibytes(memory['peak'])} [{_mebibytes(memory['grown'])}]" if memory else "-"
            for memory in map(figures.get, PEERS)
        ]
        own, torch = (figures.get(name, {}).get("peak") for name in ("hookscope", "torch"))
        ratio = f"{own / torch:.2f}" if own and torch else "-"
        print(f"{ROWS[row].label:<41}" + "".join(f"{cell:>17}" for cell in cells) + f"{ratio:>11}", flush=True)
        section[row] = figures
        if not options.quick:
            results.keep("step_memory", section)
    for name, reason in absent.items():
        print(f"{name}: {reason}")


if __name__ == "__main__":
    main()
