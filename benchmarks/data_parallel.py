"""Cost of a step of data parallel training: ranks of this machine over MPI, beside PyTorch's DDP over gloo.

    python -m benchmarks data_parallel [--quick] [--torch-python PYTHON]

Each rank has the same batch; a step is forward, backward, the reduction of all gradients and the optimizer's update.
The time of a step is the median over steps on the slowest rank; "one rank" is the same step alone. Each rank has one
thread. Exchanges and bytes are counted by rank and step, without the 256 bytes in which ranks announce each exchange.
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
from pathlib import Path
from typing import Any

import numpy as np

ROWS = {"mlp": ("MLP 784-512-512-10, batch 64", (64, 784)), "lenet": ("LeNet-5 on 28x28, batch 64", (64, 1, 28, 28))}
RANKS = (1, 2, 4)


def hookscope_worker(row: str, steps: int) -> dict[str, Any]:
    import hookscope.engine as ms
    from hookscope.engine import Tensor, communication, nn
    from hookscope.engine.distributed.world import world

    communication.init()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    if row == "mlp":
        net = nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))
    else:
        net = nn.SequentialCell(
            nn.Conv2d(1, 6, 5, pad_mode="pad", padding=2, has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dense(400, 120),
            nn.ReLU(),
            nn.Dense(120, 84),
            nn.ReLU(),
            nn.Dense(84, 10),
        )
    loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
    x, y = (Tensor(array) for array in data(row))
    for _ in range(3):
        step(x, y)
    world().sent.clear()
    times = timed(lambda: step(x, y), steps)
    sent = world().sent.values()
    return {"times": times, "messages": sum(n for n, _ in sent) / steps, "bytes": sum(size for _, size in sent) / steps}


def torch_worker(row: str, steps: int) -> dict[str, Any]:
    import torch
    import torch.distributed as dist
    from torch import nn

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    if row == "mlp":
        net: Any = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    else:
        net = nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, 10),
        )
    net = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    x, y = (torch.from_numpy(array) for array in data(row))
    y = y.long()

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    for _ in range(3):
        step()
    return {"times": timed(step, steps)}


def data(row: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    shape = ROWS[row][1]
    return rng.standard_normal(shape).astype(np.float32), rng.integers(0, 10, shape[0]).astype(np.int32)


def timed(step: Any, steps: int) -> list[float]:
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times


def ranks_of(library: str, python: str, row: str, ranks: int, steps: int) -> dict[str, Any]:
    """Run the ranks of a library; return the slowest rank's median, and the messages and bytes of one rank."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[1])}
        environment = {**os.environ, **own}
        worker = [python, str(Path(__file__)), "--worker", library, "--row", row, "--steps", str(steps), "--to", folder]
        if library == "hookscope":
            mpiexec = Path(sys.prefix, "bin", "mpiexec")
            subprocess.run([str(mpiexec), "-n", str(ranks), *worker], env=environment, check=True)
        else:
            store = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533", "WORLD_SIZE": str(ranks)}
            started = [subprocess.Popen(worker, env={**environment, **store, "RANK": str(r)}) for r in range(ranks)]
            for process in started:
                if process.wait(600):
                    raise RuntimeError(f"a rank of {library} failed")
        measurements = [json.loads(path.read_text()) for path in Path(folder).iterdir()]
    slowest = max(statistics.median(measurement["times"]) for measurement in measurements)
    return {**measurements[0], "time": slowest}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks data_parallel", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--torch-python", metavar="PYTHON", help="an environment that has PyTorch")
    parser.add_argument("--steps", type=int, default=0)
    for hidden in ("--worker", "--row", "--to"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.worker:
        work = {"hookscope": hookscope_worker, "torch": torch_worker}[options.worker]
        Path(options.to, f"{os.getpid()}.json").write_text(json.dumps(work(options.row, options.steps)))
        return
    from tabulate import tabulate  # not at the top, since PyTorch's environment may lack it

    steps = options.steps or (20 if options.quick else 200)
    libraries = {"hookscope": sys.executable, **({"torch": options.torch_python} if options.torch_python else {})}
    lines = []
    for row, (title, _) in ROWS.items():
        alone: dict[str, float] = {}
        for ranks in RANKS:
            measurements = {name: ranks_of(name, python, row, ranks, steps) for name, python in libraries.items()}
            for name, measurement in measurements.items():
                alone.setdefault(name, measurement["time"])
            ours = measurements["hookscope"]
            ratio = f"{ours['time'] / measurements['torch']['time']:.2f}" if "torch" in measurements else "-"
            figures = f"{1e3 * ours['time']:.2f}", f"{ours['time'] / alone['hookscope']:.2f}", ratio
            sent = f"{ours['messages']:.0f}", f"{ours['bytes'] / 1024:.0f}"
            lines.append([title if ranks == 1 else "", ranks, *figures, *sent])
    heads = ["step", "ranks", "ms", "/ one rank", "/ DDP, gloo", "exchanges", "KiB sent"]
    print(tabulate(lines, heads, disable_numparse=True))


if __name__ == "__main__":
    main()
