"""The same training steps on Hookscope, PyTorch's CPU and MindSpore's PyNative mode, in turns, in one run.

    python -m benchmarks training [--quick]
    python benchmarks/training.py [--torch-python PYTHON] [--mindspore-python PYTHON] [--rows mlp,lenet] [--rounds 15]

First the peers' losses over two steps are compared: same weights, same data. Then they take turns. Times are medians
over the rounds, ratios are medians of the rounds' ratios. MindSpore runs twice, as it comes (a step may return before
its work is done; the clock stops when all is) and with ``pynative_synchronize``; the faster one counts.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from pathlib import Path

try:
    from .peers import Peer, PeerError
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]

# Row -> what it is, and the time aimed at, in PyTorch's.
ROWS = {
    "add": ("add of 4 elements, no gradient", 0.6),
    "small_operators": ("100 small operators, forward + backward", 0.5),
    "mlp": ("MLP 784-512-512-10, batch 64", 0.75),
    "lenet": ("LeNet-5, batch 64", 1.6),
    "resnet18": ("ResNet-18 on 32x32, batch 32", 1.2),
    "transformer": ("Transformer encoder, 4 layers, batch 8", 1.2),
    "lstm": ("LSTM 128, sequence 64, batch 32", 1.3),
}
MOST_SECONDS = 60.0  # of a row
LOSS_TOLERANCE = 1e-3  # relative; float32 sums in another order


def _peers(options: argparse.Namespace) -> list[Peer]:
    wanted = [
        ("hookscope", sys.executable),
        ("torch", options.torch_python),
        ("mindspore", options.mindspore_python),
        ("mindspore-synced", options.mindspore_python),
    ]
    found = []
    for name, python in wanted:
        try:
            peer = Peer(name, python, options.threads, options.patience)
        except (PeerError, OSError) as error:
            print(f"{name:<18} {error}")
            continue
        print(f"{name:<18} {peer.version}")
        found.append(peer)
    return found


def _prepared(peers: list[Peer], row: str) -> list[Peer]:
    """The peers that can run a row and whose losses are those of the first."""
    losses: dict[str, list[float]] = {}
    ready = []
    for peer in peers:
        try:
            losses[peer.name] = peer.prepare(row)
        except PeerError as error:
            print(f"  {peer.name}: {error}")
            continue
        reference = next(iter(losses.values()))
        mine = losses[peer.name]
        if not all(math.isclose(a, b, rel_tol=LOSS_TOLERANCE) for a, b in zip(mine, reference, strict=True)):
            print(f"  {peer.name}: other losses, {mine} and not {reference}: not timed")
            continue
        ready.append(peer)
    return ready


def _times(peers: list[Peer], row: str, rounds: int, seconds: float) -> dict[str, list[float]]:
    counts, turn = {}, 0.0
    for peer in tuple(peers):  # how often a run fits into a turn; the caches are warm then too
        try:
            once = peer.run(row, 1)
            if once < seconds:
                once = peer.run(row, 3)
        except PeerError as error:
            print(f"  {peer.name}: {error}")
            peers.remove(peer)
            continue
        counts[peer.name] = max(1, min(20_000, round(seconds / once)))
        turn += once * counts[peer.name]
    if turn:
        rounds = max(2, min(rounds, round(MOST_SECONDS / turn)))  # a slow peer is measured less often, not for hours
    times: dict[str, list[float]] = {peer.name: [] for peer in peers}
    for _ in range(rounds):
        for peer in peers:
            times[peer.name].append(peer.run(row, counts[peer.name]))
    return times


def _shown(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def _ratio(times: dict[str, list[float]], peer: str) -> float | None:
    if peer not in times or "hookscope" not in times:
        return None
    return statistics.median(a / b for a, b in zip(times["hookscope"], times[peer], strict=True))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    here = sys.executable
    parser.add_argument("--torch-python", default=os.environ.get("HOOKSCOPE_BENCH_TORCH_PYTHON", here))
    parser.add_argument("--mindspore-python", default=os.environ.get("HOOKSCOPE_BENCH_MINDSPORE_PYTHON", here))
    parser.add_argument("--rows", default=",".join(ROWS), help="which rows, with commas between them; default: all")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.5, help="about how long a turn takes (0.5)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each peer; default: all cores")
    parser.add_argument("--patience", type=float, default=120.0, help="the most seconds of one reply (120)")
    parser.add_argument("--quick", action="store_true", help="5 rounds of 0.1 seconds, and replies within 6 seconds")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.seconds, options.patience = 5, 0.1, 6.0
    rows = options.rows.split(",")
    for row in rows:
        if row not in ROWS:
            parser.error(f"argument --rows: unknown row {row!r}; known are {', '.join(ROWS)}")
    peers = _peers(options)
    print(f"{options.threads} threads each, {options.rounds} rounds in turns; medians.")
    print("Ratios are Hookscope's time / theirs; of MindSpore's two the faster.\n")
    print(f"{'':<41}{'Hookscope':>12}{'PyTorch':>12}{'ratio':>7}{'aim':>6}{'MindSpore':>12}{'synced':>12}{'ratio':>7}")
    try:
        for row in rows:
            label, aim = ROWS[row]
            times = _times(_prepared(peers, row), row, options.rounds, options.seconds)
            median = {name: statistics.median(values) for name, values in times.items()}
            of_torch = _ratio(times, "torch")
            of_mindspore = [r for r in (_ratio(times, "mindspore"), _ratio(times, "mindspore-synced")) if r is not None]
            cells = [_shown(median.get(name)) for name in ("hookscope", "torch", "mindspore", "mindspore-synced")]
            torch_ratio = "-" if of_torch is None else f"{of_torch:.2f}"
            mindspore_ratio = f"{max(of_mindspore):.2f}" if of_mindspore else "-"
            print(
                f"{label:<41}{cells[0]:>12}{cells[1]:>12}{torch_ratio:>7}{aim:>6}"
                f"{cells[2]:>12}{cells[3]:>12}{mindspore_ratio:>7}",
                flush=True,
            )
    finally:
        for peer in peers:
            peer.close()


if __name__ == "__main__":
    main()
