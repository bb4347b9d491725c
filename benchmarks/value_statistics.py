"""The statistics of one float32 array on Hookscope, NumPy and PyTorch, beside the reading of its memory, in one run.

    python -m benchmarks value_statistics [--quick]
    python benchmarks/value_statistics.py [--torch-python PYTHON] [--sizes 1000000,100000000] [--rounds 9]

Each peer computes all figures of ``Statistics``, including the histogram; first their results are compared. Then they
take turns. Times are medians over the rounds, ratios are medians of the rounds' ratios. "brief" skips the counts of NaN
and Inf for arrays of finite numbers.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from pathlib import Path

from tabulate import tabulate

try:
    from .peers import Peer, PeerError
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]

OURS = "hookscope"
PEERS = ("read", OURS, "numpy", "numpy-brief", "torch", "torch-brief")
TOLERANCE = 1e-4  # relative; the others' sums are float32
MOST_SECONDS = 0.05  # of a turn in which a run is repeated


def _started(options: argparse.Namespace, threads: int) -> dict[str, Peer]:
    peers = {}
    for name in PEERS:
        python = options.torch_python if name.startswith("torch") else sys.executable
        try:
            peers[name] = Peer(f"statistics-{name}", python, threads, options.patience)
        except (PeerError, OSError) as error:
            print(f"{name}: {error}")
    return peers


def _times(peers: dict[str, Peer], row: str, rounds: int) -> dict[str, list[float]]:
    """Return the seconds of a run by peer, a list over the rounds."""
    counts: dict[str, int] = {}
    expected = peers[OURS].prepare(row)[0]
    for name, peer in peers.items():
        try:
            figures = peer.prepare(row)[0]
            if name != "read" and not math.isclose(figures, expected, rel_tol=TOLERANCE):
                print(f"{name}: other figures, {figures} and not {expected}: not timed")
                continue
            counts[name] = max(1, round(MOST_SECONDS / peer.run(row, 1)))
        except PeerError as error:
            print(f"{name}: {error}")
    times: dict[str, list[float]] = {name: [] for name in counts}
    for _ in range(rounds):
        for name, values in times.items():
            values.append(peers[name].run(row, counts[name]))
    return times


def _cells(times: dict[str, list[float]], size: int) -> list[str]:
    median = {name: statistics.median(values) for name, values in times.items()}
    cells = []
    for name in ("read", OURS):
        gigabytes = size * 4 / median[name] / 1e9
        cells += [f"{median[name] * 1e3:.2f} ms", f"{gigabytes:.1f}"]
    for name in PEERS[2:]:
        if name in median:
            ratio = statistics.median(a / b for a, b in zip(times[OURS], times[name], strict=True))
            cells += [f"{median[name] * 1e3:.1f} ms", f"{ratio:.3f}"]
        else:
            cells += ["-", "-"]
    return cells


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch-python", default=os.environ.get("HOOKSCOPE_BENCH_TORCH_PYTHON", sys.executable))
    parser.add_argument("--sizes", default="1000000,100000000", help="powers of ten, with commas between them")
    parser.add_argument("--threads", default=f"1,{os.cpu_count() or 1}", help="how many, with commas between them")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--patience", type=float, default=120.0, help="the most seconds of one reply (120)")
    parser.add_argument("--quick", action="store_true", help="10^6 elements only, 5 rounds")
    options = parser.parse_args(arguments)
    if options.quick:
        options.sizes, options.rounds = "1000000", 5
    rows = []
    for threads in sorted({int(number) for number in options.threads.split(",")}):
        peers = _started(options, threads)
        try:
            for size in map(int, options.sizes.split(",")):
                times = _times(peers, str(size), options.rounds)
                rows.append([f"{size:.0e}", str(threads), *_cells(times, size)])
        finally:
            for peer in peers.values():
                peer.close()
    print("Ratios are Hookscope's time / theirs; aims: 0.05 of PyTorch's, 0.1 of NumPy's. GB/s: the array once.\n")
    headers = ["float32", "threads", "read", "GB/s", "Hookscope", "GB/s"]
    for name in ("NumPy", "NumPy brief", "PyTorch", "PyTorch brief"):
        headers += [name, "ratio"]
    print(tabulate(rows, headers=headers, disable_numparse=True, stralign="right"))


if __name__ == "__main__":
    main()
