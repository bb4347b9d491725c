"""Cost of watching: training steps with every cell watched, forward and backward, beside PyTorch's hooks.

    python -m benchmarks watching [--quick] [--torch-python PYTHON]
    python benchmarks/watching.py [--rows resnet18,transformer] [--rounds 25]

Each round times every way once, in a different order, after one run that is not timed. Times are medians over the
rounds; ratios are medians of the rounds' ratios, to the same network of the same library with nothing attached. "Never"
is a worker process of its own, in which the debugger was never imported. Unless it is ``--quick``, the results are
saved for docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from tabulate import tabulate

try:
    from . import results
    from .peers import Peer, PeerError
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import results  # type: ignore[import-not-found, no-redef, unused-ignore]
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]

ROWS = {
    "mlp": "MLP 784-512-512-10, batch 64",
    "resnet18": "ResNet-18 on 32x32, batch 32",
    "transformer": "Transformer encoder, 4 layers, batch 8",
}
# Way -> its label, the peers that support it, and the target ratio.
WAYS: dict[str, tuple[str, tuple[str, ...], float | None]] = {
    "never": ("nothing, no session was ever made", ("hookscope-never",), None),
    "nothing": ("nothing, after sessions", ("hookscope", "torch"), 1.0),
    "references": ("references to everything", ("hookscope", "torch"), 1.03),
    "clones": ("clones of everything", ("torch",), None),
    "producers": ("references, and stop at the first NaN or Inf", ("hookscope",), None),
    "statistics": ("statistics of everything", ("hookscope", "torch"), 1.15),
    "conditions": ("every condition", ("hookscope",), 1.25),
}
Times = dict[tuple[str, str], list[float]]  # by way and peer


def _peers(options: argparse.Namespace) -> list[Peer]:
    figures = []
    for name, python in (
        ("hookscope", sys.executable),
        ("hookscope-never", sys.executable),
        ("torch", options.torch_python),
    ):
        try:
            figures.append(Peer(name, python, options.threads, options.patience))
        except (PeerError, OSError) as error:
            print(f"{name}: {error}")
            continue
        print(f"{name}: {figures[-1].version}")
    return figures


def _times(peers: list[Peer], row: str, rounds: int, seconds: float, most_seconds: float) -> Times:
    turns = [(way, peer) for way, (_, names, _) in WAYS.items() for peer in peers if peer.name in names]
    counts = {}
    for peer in peers:
        peer.prepare(row)
        counts[peer.name] = max(1, round(seconds / peer.run(row, 1)))
    for way, peer in turns:  # a way of watching allocates its memory in its first steps only
        peer.watch(row, way)
        peer.run(row, max(1, counts[peer.name] // 4))
    times: Times = {(way, peer.name): [] for way, peer in turns}
    begin = time.monotonic()
    for number in range(rounds):
        if number and (time.monotonic() - begin) * (number + 1) / number > most_seconds:
            break
        first = number * 3 % len(turns)  # so that a way does not always follow the same other way
        for way, peer in [*turns[first:], *turns[:first]]:
            peer.watch(row, way)
            times[way, peer.name].append(peer.run(row, counts[peer.name]))
    return times


def _ratio(times: Times, way: str, peer: str) -> float | None:
    reference = ("never", "hookscope-never") if (way, peer) == ("nothing", "hookscope") else ("nothing", peer)
    if (way, peer) not in times or reference not in times:
        return None
    return statistics.median(a / b for a, b in zip(times[way, peer], times[reference], strict=True))


def _median(times: Times, way: str, *peers: str) -> float | None:
    return next((statistics.median(times[way, peer]) * 1e3 for peer in peers if (way, peer) in times), None)


def _added(times: Times, way: str) -> float | None:
    """Return the milliseconds that a way adds to a step with nothing attached."""
    if way == "nothing" or (way, "hookscope") not in times:
        return None
    pairs = zip(times[way, "hookscope"], times["nothing", "hookscope"], strict=True)
    return statistics.median(a - b for a, b in pairs) * 1e3


def summary(times: Times) -> dict[str, dict[str, float | None]]:
    """Return each way's milliseconds of a step, its overhead and ratio; for PyTorch the first and the last of them."""
    return {
        way: {
            "step": _median(times, way, "hookscope", "hookscope-never"),
            "added": _added(times, way),
            "ratio": _ratio(times, way, "hookscope"),
            "torch": _median(times, way, "torch"),
            "torch ratio": None if way == "nothing" else _ratio(times, way, "torch"),
        }
        for way in WAYS
    }


def _lines(figures: dict[str, dict[str, float | None]]) -> list[list[object]]:
    return [
        [
            label,
            figures_of_way["step"],
            figures_of_way["added"],
            figures_of_way["ratio"],
            aim,
            figures_of_way["torch"],
            figures_of_way["torch ratio"],
        ]
        for (label, _, aim), figures_of_way in zip(WAYS.values(), figures.values(), strict=True)
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch-python", default=os.environ.get("HOOKSCOPE_BENCH_TORCH_PYTHON", sys.executable))
    parser.add_argument("--rows", default=",".join(ROWS), help="which rows, with commas between them; default: all")
    parser.add_argument("--rounds", type=int, default=25, help="at most so many (25)")
    parser.add_argument("--most-seconds", type=float, default=120.0, help="of a row's rounds, but one at least (120)")
    parser.add_argument("--seconds", type=float, default=0.5, help="about how long a turn takes (0.5)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each peer; default: all cores")
    parser.add_argument("--patience", type=float, default=120.0, help="the most seconds of one reply (120)")
    parser.add_argument("--quick", action="store_true", help="turns of 0.1 seconds or one step, 8 seconds a row")
    options = parser.parse_args(arguments)
    if options.quick:
        options.most_seconds, options.seconds = 8.0, 0.1
    rows = options.rows.split(",")
    for row in rows:
        if row not in ROWS:
            parser.error(f"argument --rows: unknown row {row!r}; known are {', '.join(ROWS)}")
    section: dict[str, Any] = results.load().get("watching", {})  # the last figures for rows that are not measured now
    peers = _peers(options)
    print(f"{options.threads} threads each, in turns; milliseconds of a step, and what watching adds to it, medians.")
    print("Ratios to the same with nothing attached; that of 'after sessions' is to 'never'.")
    try:
        for row in rows:
            times = _times(peers, row, options.rounds, options.seconds, options.most_seconds)
            rounds = len(next(iter(times.values()), []))
            headers = ["", "Hookscope", "added", "ratio", "aim", "PyTorch", "ratio"]
            formats = ("", ".2f", ".2f", ".3f", ".2f", ".2f", ".3f")
            print(f"\n{ROWS[row]}, every cell watched, forward and backward; {rounds} rounds")
            figures = summary(times)
            print(tabulate(_lines(figures), headers, floatfmt=formats, missingval="-"), flush=True)
            section[row] = {"ways": figures, "threads": options.threads, "rounds": rounds}
            if not options.quick:
                results.keep("watching", section)
    finally:
        for peer in peers:
            peer.close()


if __name__ == "__main__":
    main()
