"""Cost of a process's first training above that of its steps: LeNet-5 in all libraries, further networks in this one.

    python -m benchmarks first_use [--quick]
    python benchmarks/first_use.py [--torch-python PYTHON] [--mindspore-python PYTHON] [--jax-python PYTHON]
                                   [--before FOLDER]

Each line has processes of its own. "Start" is the interpreter and the imports; "first steps" is the network, its data
and two steps, less the time of two later steps. A compiler's cache is an empty folder first; the second process reads
the first one's cache. Then follow the first step of some networks after the import, in seconds by the clock and of all
cores together: on an empty cache with the machine code that came with the environment, without it, and from the cache;
and by another version of Hookscope, of which ``--before`` names a checkout. The results are saved in
``build/benchmarks.json``, unless it is ``--quick``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

try:
    from . import results
    from .peers import Peer, PeerError
    from .training import add_pythons, python_of
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import results  # type: ignore[import-not-found, no-redef, unused-ignore]
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]
    from training import add_pythons, python_of  # type: ignore[import-not-found, no-redef, unused-ignore]


class _Way(NamedTuple):
    label: str
    peer: str
    cache: str | None = None
    """The variable that names the folder of a compiler's cache."""
    environment: tuple[tuple[str, str], ...] = ()


WAYS = {
    "hookscope": _Way("Hookscope", "hookscope", "NUMBA_CACHE_DIR"),
    "hookscope-numpy": _Way("Hookscope, nothing compiled", "hookscope", None, (("HOOKSCOPE_NUMBA", "0"),)),
    "torch": _Way("PyTorch, eager", "torch"),
    "torch-compiled": _Way("PyTorch, torch.compile", "torch-compiled", "TORCHINDUCTOR_CACHE_DIR"),
    "mindspore": _Way("MindSpore, PyNative", "mindspore"),
    "mindspore-graph": _Way("MindSpore, jit", "mindspore-graph"),
    "jax": _Way("JAX, jit", "jax"),
}
ROW = "lenet"


def _start_and_first(way: _Way, options: argparse.Namespace, environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds of the start, and of the first steps."""
    begin = time.perf_counter()
    peer = Peer(way.peer, python_of(way.peer, options), options.threads, options.patience, environment)
    try:
        started = time.perf_counter()
        peer.prepare(ROW)
        prepared = time.perf_counter()
        return started - begin, max(prepared - started - 2 * peer.run(ROW, 5), 0.0)
    finally:
        peer.close()


def _medians(measure: Callable[[], tuple[float, float]], repeats: int) -> dict[str, float]:
    starts, firsts = zip(*(measure() for _ in range(repeats)), strict=True)
    return {"start": statistics.median(starts), "first": statistics.median(firsts)}


def _of(way: _Way, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    environment = dict(way.environment)
    if way.cache is None:
        return {"": _medians(lambda: _start_and_first(way, options, environment), options.repeats)}
    with tempfile.TemporaryDirectory() as folder:
        environment[way.cache] = folder
        cold = _medians(lambda: _start_and_first(way, options, environment), 1)
        return {
            "empty cache": cold,
            "from disk": _medians(lambda: _start_and_first(way, options, environment), options.repeats),
        }


NETWORKS = {
    "lenet": "LeNet-5, batch 64",
    "resnet18": "ResNet-18 on 32x32, batch 32",
    "transformer": "Transformer encoder, 4 layers",
    "lstm": "LSTM 128, sequence 64",
}
_STEP = """
import json, os, sys, time
row, built = sys.argv[1:]
import hookscope
hookscope.install_as_mindspore()
import rows_mindspore
if not built:
    from pathlib import Path
    from hookscope.engine.cpu import compiling
    compiling.BUILT = Path("nowhere")
step = rows_mindspore.rows(None)[row]()
def now():
    return time.perf_counter(), sum(os.times()[:2])
begin = now()
step.run()
print(json.dumps([after - before for before, after in zip(begin, now())]))
"""


def _first_step(row: str, built: bool, cache: str, tree: Path | None) -> list[float]:
    """Return the seconds, by the clock and of all cores together, of a network's first step in a new process."""
    folder_of_rows = Path(__file__).resolve().parent
    variables = {
        **os.environ,
        "NUMBA_CACHE_DIR": cache,
        "HOOKSCOPE_COMPILE_NOTICE": "0",
        "PYTHONPATH": os.pathsep.join(map(str, [tree or folder_of_rows.parent, folder_of_rows])),
    }
    command = [sys.executable, "-P", "-c", _STEP, row, "built" if built else ""]
    process = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    figures: list[float] = json.loads(process.stdout.splitlines()[-1])
    return figures


def _first_steps(before: Path | None, quick: bool) -> dict[str, dict[str, list[float]]]:
    figures: dict[str, dict[str, list[float]]] = {}
    print(f"{'first step, by the clock / of all cores, seconds':<42}", end="")
    ways = (*(("before",) if before else ()), "compiled before", "empty cache", "from disk")
    print("".join(f"{way:>18}" for way in ways))
    for row, label in list(NETWORKS.items())[: 1 if quick else None]:
        figures[row] = {}
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as empty_cache:
            for way in ways:
                tree = before if way == "before" else None
                built = way in ("before", "compiled before")
                figures[row][way] = _first_step(row, built, empty_cache if built else cache, tree)
        cells = [f"{wall:.2f} / {cpu:.2f}" for wall, cpu in figures[row].values()]
        print(f"{label:<42}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    return figures


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_pythons(parser)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each peer; default: all cores")
    parser.add_argument("--repeats", type=int, default=3, help="processes of a line, one with an empty cache (3)")
    parser.add_argument("--patience", type=float, default=300.0, help="the most seconds of one reply (300)")
    parser.add_argument("--quick", action="store_true", help="1 process of a line, replies within 20 seconds")
    parser.add_argument("--before", type=Path, help="a checkout of another version, whose first steps are shown, too")
    options = parser.parse_args(arguments)
    if options.quick:
        options.repeats, options.patience = 1, 20.0
    figures: dict[str, Any] = {}
    print(f"{'seconds':<42}{'start':>8}{'first steps':>13}")
    for name, way in WAYS.items():
        try:
            figures[name] = _of(way, options)
        except (PeerError, OSError) as error:
            print(f"{way.label}: {error}")
            continue
        for cache, seconds in figures[name].items():
            label = f"{way.label}, {cache}" if cache else way.label
            print(f"{label:<42}{seconds['start']:>8.2f}{seconds['first']:>13.2f}", flush=True)
    figures["steps"] = _first_steps(options.before, options.quick)
    if not options.quick:
        results.keep("first_use", figures)


if __name__ == "__main__":
    main()
