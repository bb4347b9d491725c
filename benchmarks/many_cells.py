"""Watching a network of many small cells: the time of a step, by the conditions, and the growth of the process.

    python -m benchmarks.many_cells [--cells 5000] [--steps 10]

Small cells show what watching costs for each value: the layers themselves compute next to nothing. Each way has a
session of its own over the same network; the first step is listed by itself, since checks are made in it once.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext

import numpy as np
from tabulate import tabulate

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession

WIDTH, BATCH = 16, 32
WAYS: dict[str, list[str] | None] = {
    "not watched": None,
    "captures alone": [],
    "nan, inf": ["nan", "inf"],
    "every condition": ["all"],
}


class Block(nn.Cell):
    """A residual block of five cells, itself included."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((WIDTH,))
        self.first = nn.Dense(WIDTH, WIDTH)
        self.relu = nn.ReLU()
        self.second = nn.Dense(WIDTH, WIDTH)

    def construct(self, x: Tensor) -> Tensor:
        return x + self.second(self.relu(self.first(self.norm(x))))


def training_step(cells: int) -> tuple[nn.Cell, Callable[[], object]]:
    """Return a network of about so many cells, and its training step."""
    net = nn.SequentialCell(*[Block() for _ in range(cells // 5)], nn.Dense(WIDTH, 3))
    rng = np.random.default_rng(0)
    x, labels = Tensor(rng.normal(size=(BATCH, WIDTH)).astype(np.float32)), Tensor(rng.integers(0, 3, BATCH), ms.int32)
    loss, optimizer = nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 1e-4)
    gradient = ms.value_and_grad(lambda x, labels: loss(net(x), labels), None, optimizer.parameters)

    def step() -> object:
        value, gradients = gradient(x, labels)
        optimizer(gradients)
        return value

    return net, step


def seconds(step: Callable[[], object]) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args(arguments)
    net, step = training_step(options.cells)
    for _ in range(2):
        step()
    rows, alone = [], 0.0
    for way, conditions in WAYS.items():
        session = nullcontext() if conditions is None else DebugSession(net, conditions=conditions)
        with session:
            first, *others = [seconds(step) for _ in range(options.steps)]
        usual = statistics.median(others)
        alone = alone or usual
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((way, f"{first:.2f} s", f"{usual:.2f} s", f"{usual / alone:.1f}", f"{peak:.0f} MiB"))
        del session
        gc.collect()
    print(f"{sum(1 for _ in net.cells_and_names()):,} cells, {options.steps} steps for each way")
    print(tabulate(rows, ("watched", "first step", "step", "/ not watched", "peak of the process"), "github"))


if __name__ == "__main__":
    main()
