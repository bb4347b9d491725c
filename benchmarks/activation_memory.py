"""Memory and time of a step whose activations are recomputed, or offloaded, or both, with a comparison of the bits.

    python -m benchmarks.activation_memory [--rounds N]

Four copies of each network have the same first weights: one unchanged, one with each block recomputed, one offloaded
as a whole, one with both. The four take turns, a step each, so that a change in the machine's load affects all; a time
is the median over the rounds. "Arrays" is the peak of NumPy's allocations in a step (tracemalloc), without parameters
and the optimizer's state; "process" is the growth of the resident anonymous memory (RssAnon) in a step, after free
memory was returned to the system.
The folder for temporary files (TMPDIR) should be on a disk: a folder in memory saves no memory.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import statistics
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

WAYS: dict[str, tuple[bool, bool]] = {
    "kept": (False, False),
    "recomputed": (True, False),
    "offloaded": (False, True),
    "both": (True, True),
}


class Block(nn.Cell):
    """A dense layer and its activation."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(1024, 1024)

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(self.dense(x))


def dense() -> tuple[nn.SequentialCell, tuple[int, ...]]:
    """12 blocks of Dense 1024 and GELU, at batch 1024."""  # main prints it as the title
    return nn.SequentialCell(*[Block() for _ in range(12)]), (1024, 1024)


def transformer() -> tuple[nn.SequentialCell, tuple[int, ...]]:
    """8 layers of width 256 with 4 heads, 16 sequences of 128."""  # main prints it as the title
    layers = [nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.1, batch_first=True) for _ in range(8)]
    return nn.SequentialCell(*layers), (16, 128, 256)


Step = Callable[[], list[Tensor]]


def step_of(net: nn.SequentialCell, x: Tensor, recomputed: bool, offloaded: bool) -> Step:
    """Return a step of momentum, which returns the loss and the parameters."""
    if recomputed:
        for block in net.cells():
            block.recompute()
    if offloaded:
        net.offload()
    weights = net.trainable_params()
    optimizer = nn.Momentum(weights, 1e-4, 0.9)
    compute = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, weights)

    def step() -> list[Tensor]:
        ms.set_seed(1)
        loss, gradients = compute(x)
        optimizer(gradients)
        return [loss, *weights]

    return step


def seconds(step: Step) -> float:
    """Return the time of one step."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def arrays(step: Step) -> float:
    """Return the peak of NumPy's allocations in a step, in MiB."""
    tracemalloc.start()
    try:
        step()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def anonymous() -> float:
    """Return the process's resident anonymous memory, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024


def growth(step: Step) -> float:
    """Return the growth of the resident anonymous memory in a step, in MiB."""
    ctypes.CDLL(None).malloc_trim(0)
    before = peak = anonymous()
    is_over = threading.Event()

    def sample() -> None:
        nonlocal peak
        while not is_over.wait(0.001):
            peak = max(peak, anonymous())

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        step()
    finally:
        is_over.set()
        sampler.join()
    return peak - before


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args(arguments).rounds
    for make in (dense, transformer):
        ms.set_seed(0)
        net, shape = make()
        net.set_train()
        x = Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
        steps = {way: step_of(copy.deepcopy(net), x, *settings) for way, settings in WAYS.items()}
        times: dict[str, list[float]] = {way: [] for way in WAYS}
        for number in range(rounds + 1):
            for way, step in steps.items():
                duration = seconds(step)
                if number:  # the first compiles
                    times[way].append(duration)
        results = {way: [t.asnumpy().tobytes() for t in step()] for way, step in steps.items()}
        print(make.__doc__)
        for way, step in steps.items():
            print(
                f"  {way:12}arrays {arrays(step):7.1f} MiB   process {growth(step):7.1f} MiB   "
                f"step {1000 * statistics.median(times[way]):7.1f} ms"
            )
        print("  bits equal:", all(result == results["kept"] for result in results.values()))


if __name__ == "__main__":
    main()
