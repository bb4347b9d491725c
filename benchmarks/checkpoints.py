"""A checkpoint of 100 MB saved and loaded, beside numpy.save and numpy.load of one array as large, in turns.

    python benchmarks/checkpoints.py [--repeats 9] [--megabytes 100]

A checkpoint is flushed to disk before it takes its name; NumPy's file is timed both without and with a flush.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor


def _numpy_save(path: Path, array: np.ndarray, flushed: bool) -> None:
    with open(path, "wb") as file:
        np.save(file, array)
        if flushed:
            file.flush()
            os.fsync(file.fileno())


def _actions(folder: Path, megabytes: int) -> dict[str, Callable[[], object]]:
    random = np.random.default_rng(0)
    arrays = {f"layer{i}.weight": random.standard_normal(megabytes * 25_000, dtype=np.float32) for i in range(10)}
    joined = np.concatenate(list(arrays.values()))
    tensors = {name: Tensor(array) for name, array in arrays.items()}
    ckpt, safe, plain = folder / "x.ckpt", folder / "x.safetensors", folder / "x.npy"
    return {
        "save_checkpoint": lambda: ms.save_checkpoint(tensors, ckpt),
        "save_checkpoint, checksum": lambda: ms.save_checkpoint(tensors, folder / "crc.ckpt", crc_check=True),
        "save_checkpoint, safetensors": lambda: ms.save_checkpoint(tensors, safe, format="safetensors"),
        "numpy.save": lambda: _numpy_save(plain, joined, False),
        "numpy.save, flushed": lambda: _numpy_save(plain, joined, True),
        "load_checkpoint": lambda: ms.load_checkpoint(ckpt),
        "load_checkpoint, checksum": lambda: ms.load_checkpoint(folder / "crc.ckpt", crc_check=True),
        "load_checkpoint, safetensors": lambda: ms.load_checkpoint(safe, format="safetensors"),
        "numpy.load": lambda: np.load(plain),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--megabytes", type=int, default=100)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        actions = _actions(Path(folder), options.megabytes)
        times: dict[str, list[float]] = {name: [] for name in actions}
        for _ in range(options.repeats + 1):
            for name, action in actions.items():
                begin = time.perf_counter()
                action()
                times[name].append(time.perf_counter() - begin)
    print(f"{'':<30}{'median MB/s':>12}{'best':>8}   ({options.megabytes} MB, {options.repeats} times in turns)")
    for name, values in times.items():
        measured = values[1:]  # the first fills the caches
        median, best = (options.megabytes / seconds for seconds in (statistics.median(measured), min(measured)))
        print(f"{name:<30}{median:>12.0f}{best:>8.0f}")


if __name__ == "__main__":
    main()
