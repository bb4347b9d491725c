"""Plans: the steps of ``training`` at O0 and O1, beside eager ones and PyTorch's; the cost of tracing and guards.

    python -m benchmarks graph_mode [--quick]
    python benchmarks/graph_mode.py [--torch-python PYTHON] [--rows mlp,lenet] [--rounds 15] [--threads 1]

The peers take turns, as in ``training``; ratios are medians of the rounds' ratios of O1's time to theirs. The peak
bytes of arrays in a step are counted as in ``step_memory``. "Traced" is the time of a first call in eager steps, with
the loops of O1 already on disk, and the growth of Python's memory in bytes (tracemalloc). Guards are those of a network
of 50 cells that is called repeatedly. The results are saved in ``build/benchmarks.json``, unless ``--quick``.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

try:
    from . import results
    from .peers import Peer, PeerError
    from .step_memory import memory_of
    from .training import ROWS, _prepared, _times, add_pythons, python_of, time_text
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import results  # type: ignore[import-not-found, no-redef, unused-ignore]
    from peers import Peer, PeerError  # type: ignore[import-not-found, no-redef, unused-ignore]
    from step_memory import memory_of  # type: ignore[import-not-found, no-redef, unused-ignore]
    from training import ROWS, _prepared, _times, add_pythons, python_of, time_text  # type: ignore[import-not-found, no-redef, unused-ignore]


class Aim(NamedTuple):
    """Target of O1's time, relative to eager PyTorch and to torch.compile, and of its bytes of arrays."""

    torch: float
    compiled: float
    bytes_of_torch: float | None = 0.8


AIMS = {
    "small_operators": Aim(0.2, 1.0, None),
    "mlp": Aim(0.5, 0.9),
    "lenet": Aim(0.55, 1.0),
    "resnet18": Aim(0.55, 0.9),
    "transformer": Aim(0.65, 1.0),
    "lstm": Aim(0.6, 1.0),
}
PEERS = ("hookscope", "hookscope-O0", "hookscope-O1", "torch", "torch-compiled")


def _traced(row: str) -> dict[str, float]:
    """Return the time of a first call and the memory that it retains; its loops are already on disk."""
    import functools

    import hookscope

    hookscope.install_as_mindspore()
    import rows_mindspore

    from hookscope.engine import jit

    def duration(step: Callable[[], Any]) -> float:
        began = time.perf_counter()
        step()
        return time.perf_counter() - began

    eager = rows_mindspore.rows()[row]()
    duration(eager)
    of_eager = min(duration(eager) for _ in range(3))
    figures: dict[str, float] = {"eager": of_eager}
    for level in ("O0", "O1"):
        make = rows_mindspore.rows(functools.partial(jit, jit_level=level))[row]
        make()()  # compiles the loops that are not on disk yet
        tracemalloc.start()  # before the network is made, so that its frees are counted
        step = make()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        step()
        gc.collect()
        figures[f"{level} bytes"] = float(tracemalloc.get_traced_memory()[0] - before)
        tracemalloc.stop()
        step = make()
        figures[level] = duration(step)
    return figures


def _guards() -> dict[str, float]:
    """Return the seconds that guards and calls of networks of 50 cells take."""
    import numpy as np

    from hookscope.engine import Tensor, jit, nn
    from hookscope.engine.compile.function import CompiledFunction

    def least(call: Callable[[], Any], times: int) -> float:
        figures = []
        for _ in range(15):
            began = time.perf_counter()
            for _ in range(times):
                call()
            figures.append((time.perf_counter() - began) / times)
        return min(figures)

    figures = {}
    x = Tensor(np.ones((2, 4), np.float32))
    for name, make in (("ReLU", lambda: nn.ReLU()), ("Dense", lambda: nn.Dense(4, 4))):
        net = nn.SequentialCell(*[make() for _ in range(49)])
        compiled = CompiledFunction(net, name)
        for _ in range(50):
            compiled(x)
        (((plan,),),) = (compiled.plans.values(),)
        arrays = [x._array]
        assert plan.hold(arrays)
        figures[f"{name} guards"] = least(lambda plan=plan, arrays=arrays: plan.hold(arrays), 1000)  # type: ignore[misc]
        figures[f"{name} guards without memory words"] = least(
            lambda plan=plan, arrays=arrays: plan.guards.hold_in_full(arrays),  # type: ignore[misc]
            1000,
        )
        figures[f"{name} eager"] = least(lambda net=net: net(x), 50)  # type: ignore[misc]
        planned = jit(net)
        for _ in range(50):
            planned(x)
        figures[f"{name} planned"] = least(lambda planned=planned: planned(x), 50)  # type: ignore[misc]
    return figures


def _measured(row: str, peers: list[Peer], options: argparse.Namespace) -> dict[str, Any]:
    times = _times(_prepared(peers, row), row, options.rounds, options.seconds)
    own = times.get("hookscope-O1", [])
    figures: dict[str, Any] = {
        "seconds": {name: statistics.median(each) for name, each in times.items()},
        "ratios": {
            name: statistics.median(a / b for a, b in zip(own, each, strict=True))
            for name, each in times.items()
            if own and name != "hookscope-O1"
        },
        "peaks": {},
        "traced": _traced(row),
    }
    for name in ("hookscope-O0", "hookscope-O1", "torch", "torch-compiled"):
        try:
            figures["peaks"][name] = memory_of(name, row, options)["peak"]
        except (PeerError, OSError) as error:
            print(f"  {name}: {error}")
    return figures


def ratio_of_bytes(figures: dict[str, Any], peer: str) -> float | None:
    """Return the ratio of O1's peak bytes of arrays to a peer's."""
    own, peers = (figures["peaks"].get(name) for name in ("hookscope-O1", peer))
    return own / peers if own and peers else None


def _line(row: str, figures: dict[str, Any]) -> str:
    def cell(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    seconds, ratios, traced = figures["seconds"], figures["ratios"], figures["traced"]
    times = "".join(f"{time_text(seconds.get(name)):>11}" for name in PEERS)
    bytes_ = "".join(f"{cell(ratio_of_bytes(figures, name)):>7}" for name in ("torch", "torch-compiled"))
    first = "".join(
        f"{traced[level] / traced['eager']:>7.1f}{traced[f'{level} bytes'] / 1024:>7.0f}" for level in ("O0", "O1")
    )
    aim = AIMS[row]
    return (
        f"{ROWS[row].label:<41}{times}{cell(ratios.get('torch')):>8}{aim.torch:>6}"
        f"{cell(ratios.get('torch-compiled')):>8}{aim.compiled:>6}{bytes_}{first}"
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_pythons(parser)
    parser.add_argument("--rows", default=",".join(AIMS), help="which rows, with commas between them; default: all")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.3, help="about how long a turn takes (0.3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of each peer; default: all cores")
    parser.add_argument("--patience", type=float, default=300.0, help="the most seconds of one reply (300)")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 0.1 seconds, not of ResNet-18")
    options = parser.parse_args(arguments)
    rows = options.rows.split(",")
    for row in rows:
        if row not in AIMS:
            parser.error(f"argument --rows: unknown row {row!r}; known are {', '.join(AIMS)}")
    if options.quick:
        options.rounds, options.seconds, rows = 3, 0.1, [row for row in rows if row != "resnet18"]
    section = results.load().get("graph_mode", {"rows": {}})
    guards = _guards()
    for name, seconds in guards.items():
        print(f"50 cells, {name}: {time_text(seconds)}")
    peers = []
    for name in PEERS:
        try:
            peers.append(Peer(name, python_of(name, options), options.threads, options.patience))
        except (PeerError, OSError) as error:
            print(f"{name:<18} {error}")
    versions = {peer.name: peer.version for peer in peers}
    print(f"\n{options.threads} threads each, {options.rounds} rounds in turns; ratios are O1's to theirs.\n")
    heads = "".join(f"{name.removeprefix('hookscope-')[:10]:>11}" for name in PEERS)
    more = "".join(f"{head:>7}" for head in ("bytes", "comp.", "O0 tr.", "KiB", "O1 tr.", "KiB"))
    print(f"{'':<41}{heads}{'/ torch':>8}{'aim':>6}{'/ comp.':>8}{'aim':>6}{more}")
    try:
        for row in rows:
            section["rows"][row] = _measured(row, peers, options)
            print(_line(row, section["rows"][row]), flush=True)
    finally:
        for peer in peers:
            peer.close()
    if not options.quick:
        results.keep("graph_mode", {**section, "threads": options.threads, "versions": versions, "guards": guards})


if __name__ == "__main__":
    main()
