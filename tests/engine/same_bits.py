"""Equal programs give equal bits in every process: small trainings, and processes that do not resemble each other.

    python tests/engine/same_bits.py [--seed N] [--processes 20] [--together 2]

The processes begin with the machine code that was made with the environment, or without that: with an empty folder for
it, with one that others are filling at the same time, with one whose filling was killed, or with a full one; on 1 to 4
threads; and do the trainings in an order of their own, so that
what was computed and compiled before differs; one after the other, or in as many Python threads, or half of them in a
process that was forked, or after interrupts. The command says which bits differ.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Training = Callable[[], Iterator[Any]]
TRAININGS: dict[str, Training] = {}
"""Each yields tensors and arrays, whose bits are compared."""


def training(make: Training) -> Training:
    TRAININGS[make.__name__] = make
    return make


def steps(net: Any, optimizer: Callable[[Any], Any], loss: Callable[..., Any], *inputs: Any) -> Iterator[Any]:
    """Yield two steps: of each the loss, all gradients and all parameters."""
    from hookscope.engine import value_and_grad

    parameters = net.trainable_params()
    for index, parameter in enumerate(parameters):  # threads share the generator of first values
        values = normal(*parameter.shape, seed=index) / math.sqrt(math.prod(parameter.shape[1:]))
        parameter.set_data(values.astype(parameter.dtype))
    update, both = optimizer(parameters), value_and_grad(loss, None, parameters)
    for _ in range(2):
        value, gradients = both(*inputs)
        update(gradients)
        yield from (value, *gradients, *net.get_parameters())


def normal(*shape: int, seed: int = 0) -> Any:
    from hookscope.engine import Tensor

    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def integers(*shape: int, below: int) -> Any:
    from hookscope.engine import Tensor

    return Tensor(np.random.default_rng(1).integers(0, below, shape).astype(np.int32))


@training
def rows() -> Iterator[Any]:
    """Yield trainings with few kernels: products, a rectifier, cross-entropy, momentum."""
    from hookscope.engine import nn

    net = nn.SequentialCell(nn.Dense(300, 257), nn.ReLU(), nn.Dense(257, 131))
    loss = nn.CrossEntropyLoss()
    x, labels = normal(129, 300), integers(129, below=131)
    yield from steps(net, lambda p: nn.Momentum(p, 0.1, 0.9), lambda: loss(net(x), labels))


@training
def images() -> Iterator[Any]:
    from hookscope.engine import nn, ops

    net = nn.SequentialCell(
        nn.Conv2d(3, 32, 3, pad_mode="same"),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(32, 32, 3, pad_mode="same", has_bias=True),
        nn.GroupNorm(4, 32),
        nn.LeakyReLU(),
        nn.Conv2d(32, 32, 5, group=32),
        nn.Sigmoid(),
        nn.Conv2d(32, 32, 3, stride=2, group=4),
        nn.Tanh(),
        nn.AvgPool2d(3, 2),
        nn.Conv2d(32, 48, 1),
        nn.Flatten(),
        nn.Dense(768, 10),
    )
    x, labels = normal(17, 3, 34, 34), integers(17, below=10)
    loss = lambda: -ops.log_softmax(net(x), -1)[np.arange(17), labels.asnumpy()].mean()  # noqa: E731
    yield from steps(net, lambda p: nn.Adam(p, 1e-3), loss)


@training
def sentences() -> Iterator[Any]:
    from hookscope.engine import nn, ops

    table = nn.Embedding(211, 64)
    layers = [
        nn.TransformerEncoderLayer(64, 4, 130, dropout=rate, activation="gelu", batch_first=True) for rate in (0.1, 0.0)
    ]  # with dropout, attention computes its weights
    head = nn.Dense(64, 211)
    net = nn.SequentialCell(table, *layers, nn.LayerNorm((64,)), nn.GELU(approximate=True), nn.Dropout(p=0.3), head)
    x, labels = integers(9, 37, below=211), integers(9 * 37, below=211)
    loss = nn.CrossEntropyLoss()
    net.set_train()
    yield from steps(net, lambda p: nn.AdamWeightDecay(p), lambda: loss(net(x).reshape(-1, 211), labels))
    yield from (ops.softmax(normal(300, 211), -1), ops.softmax(normal(30, 211, 20), 1))


@training
def signals() -> Iterator[Any]:
    from hookscope.engine import nn

    cells = [nn.LSTM(40, 48, batch_first=True), nn.GRU(48, 33, batch_first=True), nn.RNN(33, 40, batch_first=True)]
    net = nn.CellList(cells)
    x = normal(11, 35, 40)

    def loss() -> Any:
        y = x
        for cell in cells:
            y, _ = cell(y)
        return (y * y).mean()

    yield from steps(net, lambda p: nn.RMSProp(p, 0.01), loss)


@training
def volumes() -> Iterator[Any]:
    from hookscope.engine import nn

    net = nn.SequentialCell(
        nn.Conv3d(2, 8, 3),
        nn.BatchNorm3d(8),
        nn.SiLU(),
        nn.MaxPool3d(2),
        nn.Conv3dTranspose(8, 4, 2, stride=2),
        nn.ELU(),
    )
    x = normal(5, 2, 13, 14, 15)
    yield from steps(net, lambda p: nn.SGD(p, 0.1), lambda: (net(x) ** 2).mean())


@training
def figures() -> Iterator[Any]:
    """Yield a debugger's statistics, and large draws."""
    from hookscope.engine import Tensor, ops
    from hookscope.engine.debug.record.statistics import any_nonfinite, changes, statistics

    x = normal(513, 700).asnumpy()
    for kind in (np.float32, np.float64, np.float16):
        result = statistics(x.astype(kind))
        yield np.array([result.mean, result.std, result.norm, result.minimum, result.maximum])
        yield result.histogram
    yield np.array(repr(changes([(x, x + np.float32(0.1))])).encode())
    yield np.array([any_nonfinite(x)])
    yield Tensor(np.ascontiguousarray(x)).T.copy()
    yield from (ops.standard_normal((400, 500)), ops.rand(400, 500), ops.standard_laplace((300, 300)))


@training
def loops() -> Iterator[Any]:
    """Yield operators that jit joins to loops."""
    from hookscope.engine import jit, ops, value_and_grad

    def formula(x: Any, y: Any) -> Any:
        return (ops.gelu(x * y) + ops.log1p(ops.abs(x)) - ops.expm1(y * 0.1)).mean()

    x, y = normal(513, 200, seed=1), normal(200, seed=2)
    step = jit(value_and_grad(formula, (0, 1)), jit_level="O1")
    for _ in range(40):  # the first is traced; many are worth a quicker look at the guards
        value, gradients = step(x, y)
        yield from (value, *gradients)


ALONE = ("sentences", "figures", "loops")
"""Trainings that are not done beside others: two draw random numbers from the generator that threads share; at level O1
a call that waits 5 s for a gap in which no other thread computes gradients runs eagerly, and adds in another order."""


def digest(name: str) -> str:
    """Return a digest of all bits of a training's results."""
    from hookscope.engine import Tensor, set_seed

    set_seed(7)
    result = hashlib.sha256()
    for value in TRAININGS[name]():
        array = value.asnumpy() if isinstance(value, Tensor) else value
        result.update(f"{array.dtype}{array.shape}".encode())
        result.update(np.ascontiguousarray(array).tobytes())
    return result.hexdigest()[:16]


def one_after_the_other(names: Sequence[str]) -> dict[str, str]:
    return {name: digest(name) for name in names}


def in_threads(names: Sequence[str]) -> dict[str, str]:
    """Run each in a Python thread; but those of ``ALONE`` one after the other."""
    alone, results = [name for name in names if name in ALONE], {}
    with ThreadPoolExecutor(len(names)) as pool:
        together = [name for name in names if name not in alone]
        results.update(zip(together, pool.map(digest, together), strict=True))
    return results | one_after_the_other(alone)


def forked(names: Sequence[str]) -> dict[str, str]:
    """Return the digests, computed for all but the first also in a child at the same time; None for a difference."""
    first, *rest = names
    results = {first: digest(first)}
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(one_after_the_other(rest)).encode())
        os._exit(0)
    results |= one_after_the_other(rest)
    os.close(write)
    with os.fdopen(read) as pipe:
        others = json.loads(pipe.read())
    os.waitpid(child, 0)
    return results | {
        name: f"{results[name]}, in the child {bits}" for name, bits in others.items() if bits != results[name]
    }


def interrupted(names: Sequence[str]) -> dict[str, str]:
    """Repeat each until no interrupt comes any more, then once more; return the digests."""
    chance, over, inside = random.Random(" ".join(names)), threading.Event(), [False]

    def interrupt() -> None:
        ends = time.monotonic() + 5
        while time.monotonic() < ends:
            time.sleep(chance.uniform(0, 1.5))
            os.kill(os.getpid(), signal.SIGINT)
        over.set()

    def handler(*_: object) -> None:
        if inside[0]:  # not between two attempts, where it would not be caught
            inside[0] = False
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    threading.Thread(target=interrupt).start()
    is_complete = False
    while not (is_complete and over.is_set()):
        try:
            inside[0] = True
            one_after_the_other(names)
            inside[0], is_complete = False, True
        except KeyboardInterrupt:
            pass
    signal.signal(signal.SIGINT, before)
    return one_after_the_other(names)


WAYS = {way.__name__: way for way in (one_after_the_other, in_threads, forked, interrupted)}


class Process(NamedTuple):
    """A process: its trainings, number of threads, folder for machine code, and way to run them."""

    names: Sequence[str]
    threads: int
    folder: Path | None = None
    """For machine code; None: that of the environment is used."""
    way: str = "one_after_the_other"
    killed_after: float | None = None


class Result(NamedTuple):
    digests: dict[str, str]
    files: list[str]
    """Of kernels, which were loaded."""
    told: str


def run(process: Process) -> Result | None:
    """Do it; None where it was killed."""
    variables = {**os.environ, "OMP_NUM_THREADS": str(process.threads), "HOOKSCOPE_NUMBA": "1"}
    variables.pop("PYTHONHASHSEED", None)
    if process.folder is not None:
        variables["NUMBA_CACHE_DIR"] = str(process.folder)
    command = [sys.executable, __file__, "--way", process.way, "--do", *process.names]
    if process.folder is not None:
        command.append("--nothing-built")
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            out, errors = running.communicate(timeout=process.killed_after)
        except subprocess.TimeoutExpired:
            running.kill()
            return None
    if running.returncode:
        raise RuntimeError(errors)
    return Result(*json.loads(out), errors)


def do(names: Sequence[str], way: str, nothing_built: bool) -> None:
    """Run such a process."""
    from hookscope.engine.cpu import compiling

    if nothing_built:
        compiling.BUILT = Path("nowhere")
    digests = WAYS[way](names)
    print(json.dumps([digests, sorted(compiling._modules)]))


def differences(results: Sequence[Result]) -> dict[str, set[str]]:
    """Return the trainings of which there is more than one digest, with their digests."""
    outputs: dict[str, set[str]] = {}
    for result in results:
        for name, bits in result.digests.items():
            outputs.setdefault(name, set()).add(bits)
    return {name: bits for name, bits in outputs.items() if len(bits) > 1}


def plan(chance: random.Random, count: int, parent: Path) -> list[list[Process]]:
    """Draw groups of processes, with threads, orders and folders; those of a group run together."""
    full, groups = parent / "full", []

    def process(folder: Path | None, way: str = "one_after_the_other", killed_after: float | None = None) -> Process:
        names = chance.sample(sorted(TRAININGS), len(TRAININGS))
        return Process(names, chance.choice([1, 2, 3, 4]), folder, way, killed_after)

    # Half of them are cold: one alone, some that fill a folder together, some of every way.
    groups.append([process(full)])
    groups.append([process(parent / "shared") for _ in range(count // 5)])
    broken = parent / "broken"
    groups.extend([process(broken, killed_after=chance.uniform(2, 12))] for _ in range(3))
    groups.append([process(broken), process(broken)])
    groups.append([process(parent / way, way) for way in WAYS])
    groups.append([process(None), process(None, "in_threads")])
    left = count - sum(len(group) for group in groups) + 3
    groups.append([process(full, way) for way in itertools.islice(itertools.cycle(WAYS), left)])
    return groups


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=20, help="that end by themselves; 3 more are killed")
    parser.add_argument("--together", type=int, default=2, help="how many of a group run at once")
    parser.add_argument("--do", nargs="+", choices=sorted(TRAININGS), help=argparse.SUPPRESS)
    parser.add_argument("--way", choices=sorted(WAYS), help=argparse.SUPPRESS)
    parser.add_argument("--nothing-built", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.do:
        do(options.do, options.way, options.nothing_built)
        return 0
    results: list[Result] = []
    parent = Path(tempfile.mkdtemp(prefix="same_bits"))
    try:
        with ThreadPoolExecutor(options.together) as pool:
            for group in plan(random.Random(options.seed), options.processes, parent):
                began = time.perf_counter()
                ended = [result for result in pool.map(run, group) if result is not None]
                results += ended
                cold = sum(bool(result.told) for result in ended)
                how = ", ".join(f"{item.way} on {item.threads} threads" for item in group)
                seconds = time.perf_counter() - began
                print(f"{len(ended)} of {len(group)} ended in {seconds:.0f} s, {cold} had compiled: {how}", flush=True)
    finally:
        shutil.rmtree(parent)
    differing = differences(results)
    print(f"{len(results)} processes, {len(TRAININGS)} trainings: {differing or 'the same bits'}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
