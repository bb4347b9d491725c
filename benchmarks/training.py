"""The same work on Hookscope, PyTorch, MindSpore and JAX, each also compiled if it can be, in turns, in one run.

    python -m benchmarks training [--quick]
    python benchmarks/training.py [--torch-python PYTHON] [--mindspore-python PYTHON] [--jax-python PYTHON]
                                  [--rows mlp,lenet] [--rounds 15] [--threads 2,1]

First the peers' losses over two steps are compared: same weights, same data. Then they take turns. Times are medians
over the rounds, ratios are medians of the rounds' ratios. MindSpore runs in three ways: by default (a step may return
before its work is done; the clock stops when all of it is), with ``pynative_synchronize``, and with the step as a
graph; of the first two the faster counts. The limits of the machine, a product of matrices and a copy of memory, are
measured in the same run. The results are saved in ``build/benchmarks.json``, unless it is ``--quick``.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

try:
    from . import results
    from .peers import Peer, PeerError
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import results  # type: ignore[import-not-found, no-redef, unused-ignore]
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]


class Row(NamedTuple):
    """A row's label, and its target times relative to eager PyTorch and to MindSpore's fastest mode.

    The lower bounds of a training step are ``products``, the multiplications in its matrix products and its direct
    convolutions, and ``traffic``, the bytes that the optimizer reads and writes.
    """

    label: str
    torch: float | None
    mindspore: float | None = 0.33
    products: float = 0.0
    traffic: float = 0.0

    @property
    def is_step(self) -> bool:
        return self.products > 0.0


ROWS = {
    "add": Row("add of 4 elements, no gradient", 0.5),
    "small_operators": Row("100 small operators, forward + backward", 0.45),
    "mlp": Row("MLP 784-512-512-10, batch 64", 0.6, products=1.027e8, traffic=20 * 669_706),
    "lenet": Row("LeNet-5, batch 64, Adam", 0.65, products=7.245e7, traffic=28 * 61_706),
    "resnet18": Row("ResNet-18 on 32x32, batch 32", 0.6, products=5.326e10, traffic=20 * 11_173_962),
    "transformer": Row("Transformer encoder, 4 layers, batch 8", 0.75, products=1.027e10, traffic=28 * 3_161_610),
    "lstm": Row("LSTM 128, sequence 64, batch 32", 0.9, products=6.712e8, traffic=28 * 133_386),
    "dense": Row("Dense(4096, 4096) made", None, None),
    "first_normal": Row("4096 x 4096 normal first values", None, None),
    "first_truncated": Row("4096 x 4096 truncated normal ones", None, None),
}
PYNATIVE, GRAPH = ("mindspore", "mindspore-synced"), ("mindspore-graph",)
MINDSPORE = PYNATIVE + GRAPH
REST = 0.3  # seconds between two turns: the previous library's threads poll for work for a while
MOST_SECONDS = 60.0  # of a row
LOSS_TOLERANCE = 1e-3  # relative; float32 sums in another order
RATES = {"sgemm": ("float32 product 2048 x 2048", "GFLOP/s"), "copy": ("copy of 256 MiB", "GB/s")}
MISSING = "no such row"


def add_pythons(parser: argparse.ArgumentParser) -> None:
    """Add the options for the interpreters that have the peers' libraries."""
    for library in ("torch", "mindspore", "jax"):
        python = os.environ.get(f"HOOKSCOPE_BENCH_{library.upper()}_PYTHON", sys.executable)
        parser.add_argument(f"--{library}-python", default=python, metavar="PYTHON")


def python_of(peer: str, options: argparse.Namespace) -> str:
    """Return the interpreter that has a peer's library."""
    figures: str = getattr(options, f"{peer.partition('-')[0]}_python", sys.executable)
    return figures


def _peers(options: argparse.Namespace, threads: int) -> list[Peer]:
    figures = []
    for name in ("hookscope", "torch", "torch-compiled", *MINDSPORE, "jax", "machine"):
        try:
            peer = Peer(name, python_of(name, options), threads, options.patience)
        except (PeerError, OSError) as error:
            print(f"{name:<18} {error}")
            continue
        print(f"{name:<18} {peer.version}")
        figures.append(peer)
    return figures


def _prepared(peers: list[Peer], row: str) -> list[Peer]:
    """Return the peers that can run a row and whose losses equal those of the first."""
    losses: dict[str, list[float]] = {}
    ready = []
    for peer in peers:
        try:
            losses[peer.name] = peer.prepare(row)
        except PeerError as error:
            if str(error) != MISSING:
                print(f"  {peer.name}: {error}")
            continue
        reference = next(iter(losses.values()))
        own = losses[peer.name]
        if not all(math.isclose(a, b, rel_tol=LOSS_TOLERANCE) for a, b in zip(own, reference, strict=True)):
            print(f"  {peer.name}: other losses, {own} and not {reference}: not timed")
            continue
        ready.append(peer)
    return ready


def _times(peers: list[Peer], row: str, rounds: int, seconds: float) -> dict[str, list[float]]:
    counts, turn = {}, 0.0
    for peer in tuple(peers):  # how often a run fits into a turn; the caches are warm then too
        try:
            duration = peer.run(row, 1)
            if duration < seconds:
                duration = peer.run(row, 3)
        except PeerError as error:
            print(f"  {peer.name}: {error}")
            peers.remove(peer)
            continue
        counts[peer.name] = max(1, min(20_000, round(seconds / duration)))
        turn += duration * counts[peer.name]
    if turn:
        rounds = max(2, min(rounds, round(MOST_SECONDS / turn)))  # a slow peer is measured less often, not for hours
    times: dict[str, list[float]] = {peer.name: [] for peer in peers}
    for _ in range(rounds):
        for peer in tuple(peers):
            time.sleep(REST)
            try:
                times[peer.name].append(peer.run(row, counts[peer.name]))
            except PeerError as error:
                print(f"  {peer.name}: {error}")
                peers.remove(peer)
                del times[peer.name]
    return times


def _rates(peers: list[Peer], rounds: int) -> dict[str, float]:
    """Return the limits of the machine, in billions of operations, or of bytes, a second."""
    machine = next(peer for peer in peers if peer.name == "machine")
    figures = {}
    for row in RATES:
        (amount,) = machine.prepare(row)[:1]
        figures[row] = amount / 1e9 / statistics.median(machine.run(row, 1) for _ in range(rounds))
    return figures


def time_text(seconds: float | None) -> str:
    """Return a time as text."""
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def summary(times: dict[str, list[float]]) -> dict[str, Any]:
    """Return the medians of the times, the ratios of Hookscope's to them, and the number of rounds."""
    own = times.get("hookscope", [])
    return {
        "seconds": {name: statistics.median(each) for name, each in times.items()},
        "ratios": {
            name: statistics.median(a / b for a, b in zip(own, each, strict=True))
            for name, each in times.items()
            if own and name != "hookscope"
        },
        "rounds": len(own),
    }


def fastest(ratios: dict[str, float], modes: tuple[str, ...]) -> float | None:
    """Return the ratio to the fastest of MindSpore's modes: the largest one."""
    return max((ratios[name] for name in modes if name in ratios), default=None)


def _line(row: Row, figures: dict[str, Any]) -> str:
    seconds, ratios = figures["seconds"], figures["ratios"]

    def ratio(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    mindspore = min((seconds[name] for name in MINDSPORE if name in seconds), default=None)
    return (
        f"{row.label:<41}{time_text(seconds.get('hookscope')):>11}{time_text(seconds.get('torch')):>12}"
        f"{ratio(ratios.get('torch')):>7}{ratio(row.torch):>6}{ratio(ratios.get('torch-compiled')):>10}"
        f"{time_text(mindspore):>12}{ratio(fastest(ratios, PYNATIVE)):>9}{ratio(fastest(ratios, GRAPH)):>7}"
        f"{ratio(row.mindspore):>6}"
        f"{ratio(ratios.get('jax')):>6}{ratio(ratios.get('machine')):>7}"
    )


def _measured(options: argparse.Namespace, rows: list[str], threads: int) -> dict[str, Any]:
    peers = _peers(options, threads)
    print(f"\n{threads} thread{'s' * (threads > 1)} each, {options.rounds} rounds in turns; medians.")
    figures: dict[str, Any] = {"versions": {peer.name: peer.version for peer in peers}, "rows": {}}
    try:
        figures["rates"] = _rates(peers, 5)
        for name, rate in figures["rates"].items():
            print(f"{RATES[name][0]}: {rate:.1f} {RATES[name][1]}")
        print("Ratios are Hookscope's time / theirs; NumPy: its generator alone.\n")
        print(
            f"{'':<41}{'Hookscope':>11}{'PyTorch':>12}{'ratio':>7}{'aim':>6}{'compiled':>10}"
            f"{'MindSpore':>12}{'PyNative':>9}{'graph':>7}{'aim':>6}{'JAX':>6}{'NumPy':>7}"
        )
        for row in rows:
            times = _times(_prepared(peers, row), row, options.rounds, options.seconds)
            figures["rows"][row] = summary(times)
            if "hookscope" in times and ROWS[row].is_step:
                figures["rows"][row]["places"] = peers[0].time_by_file(row)  # Hookscope's is the first
            print(_line(ROWS[row], figures["rows"][row]), flush=True)
    finally:
        for peer in peers:
            peer.close()
    return figures


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_pythons(parser)
    cores = os.cpu_count() or 1
    parser.add_argument("--rows", default=",".join(ROWS), help="which rows, with commas between them; default: all")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.5, help="about how long a turn takes (0.5)")
    parser.add_argument("--threads", help=f"of each peer, with commas between them ({cores},1)")
    parser.add_argument("--patience", type=float, default=120.0, help="the most seconds of one reply (120)")
    parser.add_argument("--quick", action="store_true", help="5 rounds of 0.1 seconds, replies in 6, all cores only")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.seconds, options.patience = 5, 0.1, 6.0
    threads = options.threads or (str(cores) if options.quick or cores == 1 else f"{cores},1")
    rows = options.rows.split(",")
    for row in rows:
        if row not in ROWS:
            parser.error(f"argument --rows: unknown row {row!r}; known are {', '.join(ROWS)}")
    section = results.load().get("training", {})
    for count in threads.split(","):
        figures = _measured(options, rows, int(count))
        figures["rows"] = (
            section.get(count, {}).get("rows", {}) | figures["rows"]
        )  # of rows measured alone the last count
        section[count] = figures
        if not options.quick:
            results.keep("training", section)
        print()


if __name__ == "__main__":
    main()
