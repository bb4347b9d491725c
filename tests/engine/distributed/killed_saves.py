"""Ranks of which one is killed while all save a large checkpoint to one path: the file stays complete, old or new.

python -m tests.engine.distributed.killed_saves [--kills 30] [--ranks 2] [--seed 0]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor
from tests.ranks import ROOT, command, environment

_LAYERS, _LAYER = 8, 1 << 20  # numbers of 4 bytes

# Each rank saves twice to be ready and to measure the time, prints it, and saves to the common path.
RANK = """
import os, sys, time
import numpy as np
import hookscope.engine as ms
from hookscope.engine import Tensor, communication
communication.init()
rank, path, layers, layer = communication.get_rank(), sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def save(path, number):
    ms.save_checkpoint({f"{i}.weight": Tensor(np.full(layer, number, np.float32)) for i in range(layers)}, path)
save(f"{path}.{rank}.ckpt", 1)
communication.comm_func.barrier()
begun = time.perf_counter()
save(f"{path}.{rank}.ckpt", 1)
seconds = time.perf_counter() - begun
communication.comm_func.barrier()
os.write(1, f"{rank} {os.getpid()} {seconds}\\n".encode())
save(path, 1 + rank)
os.write(1, b"saved\\n")
time.sleep(60)
"""


def trial(path: Path, share: float, ranks: int = 2, killed: int = 0) -> str:
    """Kill a rank after a share of the time that a save takes, and check the file.

    Args:
        path: the file, in a folder of its own.
        share: the share of the time.
        ranks: the number of ranks that save.
        killed: the rank that is killed.

    Returns:
        "old" or "new", as the file is, followed by "half" if a rank had written a part of another file.

    Raises:
        AssertionError: the file is not complete.
    """
    ms.save_checkpoint({f"{i}.weight": Tensor(np.zeros(_LAYER, np.float32)) for i in range(_LAYERS)}, path)
    before = path.read_bytes()
    started = command(ranks, "-c", RANK, str(path), str(_LAYERS), str(_LAYER))
    with subprocess.Popen(
        started, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(ranks)]
        pids = {int(rank): (int(pid), float(seconds)) for rank, pid, seconds in map(str.split, lines)}
        pid, seconds = pids[killed]
        time.sleep(share * seconds)
        os.kill(pid, signal.SIGKILL)
        assert process.wait(60)  # the death of one ends all
    half = any(file.name.startswith(".") for file in path.parent.iterdir())
    values = ms.load_checkpoint(path)
    assert sorted(values) == [f"{i}.weight" for i in range(_LAYERS)]
    (number,) = {float(x) for value in values.values() for x in (value.asnumpy().min(), value.asnumpy().max())}
    assert number in range(ranks + 1) and all(value.shape == (_LAYER,) for value in values.values())
    assert number or path.read_bytes() == before
    ms.save_checkpoint({"x": Tensor([1.0])}, path)  # the next save removes the files of the killed ones
    assert {file.name for file in path.parent.iterdir()} <= {
        path.name,
        *(f"{path.name}.{rank}.ckpt" for rank in range(ranks)),
    }
    return ("new" if number else "old") + (" half" if half else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, counts = random.Random(options.seed), Counter[str]()
    for number in range(options.kills):
        with tempfile.TemporaryDirectory() as folder:
            share, killed = chance.uniform(0, 1.3), chance.randrange(options.ranks)
            counts[trial(Path(folder, "x.ckpt"), share, options.ranks, killed)] += 1
            print(f"{number + 1} of {options.kills}: {dict(counts)}", file=sys.stderr)
    print(f"{options.kills} kills, the file whole each time: {dict(counts)}")


if __name__ == "__main__":
    main()
