"""What the first training of a process costs above its steps: LeNet-5, with what is compiled anew or read from disk.

    python -m benchmarks first_use [--quick]
    python benchmarks/first_use.py [--torch-python PYTHON] [--mindspore-python PYTHON] [--jax-python PYTHON]

Each line is of processes of its own. "Start" is the interpreter and the imports; "first steps" is the network, its data
and two steps, less what two steps take later. A compiler's cache is an empty folder first; the second process finds
what the first one left. What is found is kept in ``build/benchmarks.json``, unless it is ``--quick``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

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


def _once(way: _Way, options: argparse.Namespace, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of the start, and of the first steps."""
    begin = time.perf_counter()
    peer = Peer(way.peer, python_of(way.peer, options), options.threads, options.patience, environment)
    try:
        started = time.perf_counter()
        peer.prepare(ROW)
        prepared = time.perf_counter()
        return started - begin, max(prepared - started - 2 * peer.run(ROW, 5), 0.0)
    finally:
        peer.close()


def _medians(once: Callable[[], tuple[float, float]], repeats: int) -> dict[str, float]:
    starts, firsts = zip(*(once() for _ in range(repeats)), strict=True)
    return {"start": statistics.median(starts), "first": statistics.median(firsts)}


def _of(way: _Way, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    environment = dict(way.environment)
    if way.cache is None:
        return {"": _medians(lambda: _once(way, options, environment), options.repeats)}
    with tempfile.TemporaryDirectory() as folder:
        environment[way.cache] = folder
        cold = _medians(lambda: _once(way, options, environment), 1)
        return {"empty cache": cold, "from disk": _medians(lambda: _once(way, options, environment), options.repeats)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_pythons(parser)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each peer; default: all cores")
    parser.add_argument("--repeats", type=int, default=3, help="processes of a line, one with an empty cache (3)")
    parser.add_argument("--patience", type=float, default=300.0, help="the most seconds of one reply (300)")
    parser.add_argument("--quick", action="store_true", help="1 process of a line, replies within 20 seconds")
    options = parser.parse_args(arguments)
    if options.quick:
        options.repeats, options.patience = 1, 20.0
    found = {}
    print(f"{'seconds':<42}{'start':>8}{'first steps':>13}")
    for name, way in WAYS.items():
        try:
            found[name] = _of(way, options)
        except (PeerError, OSError) as error:
            print(f"{way.label}: {error}")
            continue
        for cache, seconds in found[name].items():
            label = f"{way.label}, {cache}" if cache else way.label
            print(f"{label:<42}{seconds['start']:>8.2f}{seconds['first']:>13.2f}", flush=True)
    if not options.quick:
        results.keep("first_use", found)


if __name__ == "__main__":
    main()
