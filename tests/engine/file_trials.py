"""Saves and exports that are killed, interrupted, made at once and run out of disk: a file is the old or the new one,
no temporary stays, and every failure is told.

    python tests/engine/file_trials.py [--kills 300] [--interrupts 3000] [--rounds 10] [--seed 0] [--small-disk FOLDER]

``--small-disk`` takes a folder on a file system of about 1 MiB, and then tries that alone. Without being
root: ``unshare --user --map-root-user --mount sh -c "mount -t tmpfs -o size=1m none FOLDER && python ..."``.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import re
import signal
import struct
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hookscope.engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets import export_html

_SIZE = 100_000  # numbers of a checkpoint


def _tensors(number: int, size: int = _SIZE) -> dict[str, ms.Tensor]:
    return {"x": ms.Tensor(np.full(size, number, np.float32)), "half": ms.Tensor(np.full(9, number % 128), ms.bfloat16)}


def _save(path: Path, number: int) -> None:
    ms.save_checkpoint(_tensors(number), path)


def _save_behind(path: Path, number: int) -> None:
    ms.save_checkpoint(_tensors(number), path, async_save=True)


def _save_safetensors(path: Path, number: int) -> None:
    ms.save_checkpoint(_tensors(number), path, format="safetensors", crc_check=True)


def _export(path: Path, number: int) -> None:
    export_html(DebugSession(type(f"Number{number}", (nn.Cell,), {})()), path)


SAVES: dict[str, Callable[[Path, int], None]] = {
    "sync.ckpt": _save,
    "async.ckpt": _save_behind,
    "x.safetensors": _save_safetensors,
    "page.html": _export,
}


def number_in(path: Path) -> int:
    """Return the number that a file was written with.

    Raises:
        AssertionError: it is not whole.
    """
    if path.suffix == ".html":
        page = path.read_text()
        assert page.startswith("<!doctype html>") and page.endswith("</html>\n"), path
        match = re.search(r"<title>Number(\d+): Hookscope</title>", page)
        assert match, path
        return int(match[1])
    values = ms.load_checkpoint(path, format=path.suffix[1:])
    (number,) = set(values["x"].asnumpy().tolist())
    assert values["half"].tolist() == [number % 128] * 9, path
    return int(number)


def hidden(folder: Path) -> list[str]:
    """Return the other files in a folder."""
    return sorted(set(os.listdir(folder)) - set(SAVES))


def _say(text: str) -> None:
    print(text, flush=True)


# Killed


def kills(folder: Path, count: int, seed: int) -> Counter[str]:
    """Kill ``count`` processes that save all the time; look at the files after each."""
    chance, counts = random.Random(seed), Counter[str]()
    number = 0
    before = {}
    for name, save in SAVES.items():
        save(folder / name, 0)
        before[name] = number_in(folder / name)
    for _ in range(count):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _save_for_ever(folder, number, writing, chance.randrange(len(SAVES)))
        os.close(writing)
        time.sleep(chance.random() * 0.04)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as pipe:
            output = pipe.read()
        begun, ended = dict(before), dict(before)
        for kind, what, number in struct.iter_unpack("=BBI", output):
            (ended if what else begun)[list(SAVES)[kind]] = number
        for name in SAVES:
            result = number_in(folder / name)
            # One in the background may not have begun yet when the next two were called for.
            oldest = before[name] if name == "async.ckpt" else ended[name]
            allowed = {oldest, begun[name]} if name != "async.ckpt" else range(oldest, begun[name] + 1)
            assert result in allowed, f"{name}: {result}, last ended {ended[name]}, last begun {begun[name]}"
            counts["old" if result < begun[name] else "new"] += begun[name] != before[name]
            before[name] = result
        left = hidden(folder)
        counts["left a temporary"] += bool(left)
        counts["killed"] += 1
        number += 1
        _save(folder / "sync.ckpt", number)
        before["sync.ckpt"] = number
        assert hidden(folder) == [], hidden(folder)
    return counts


def _save_for_ever(folder: Path, number: int, pipe: int, kind: int) -> None:
    try:
        while True:
            number, kind = number + 1, (kind + 1) % len(SAVES)
            name = list(SAVES)[kind]
            os.write(pipe, struct.pack("=BBI", kind, 0, number))
            SAVES[name](folder / name, number)
            os.write(pipe, struct.pack("=BBI", kind, 1, number))
    finally:
        os._exit(1)


# Interrupted


def interrupts(folder: Path, count: int, seed: int) -> Counter[str]:
    """Interrupt ``count`` saves at random moments; only a KeyboardInterrupt may come out."""
    chance, counts = random.Random(seed), Counter[str]()
    spans, before = {}, {}
    for name, save in SAVES.items():
        save(folder / name, 0)
        begin = time.perf_counter()
        save(folder / name, 0)
        spans[name], before[name] = time.perf_counter() - begin, number_in(folder / name)
    open_files = len(os.listdir("/proc/self/fd"))
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for number in range(1, count + 1):
            name = chance.choice(list(SAVES))
            interrupted = False
            try:
                signal.setitimer(signal.ITIMER_REAL, max(1e-6, chance.random() * spans[name] * 1.2))
                SAVES[name](folder / name, number)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted = True
            result = number_in(folder / name)  # waits for one in the background
            assert result in ({before[name], number} if interrupted else {number}), (name, result, before[name], number)
            counts["interrupted" if interrupted else "ended"] += 1
            counts["old after an interrupt"] += interrupted and result != number
            before[name] = result
            assert hidden(folder) == [], (number, name, hidden(folder))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert len(os.listdir("/proc/self/fd")) == open_files
    return counts


# At once


def at_once(folder: Path, rounds: int, writers: int = 16) -> Counter[str]:
    """Let threads, and then processes, write one path at once."""
    counts = Counter[str]()
    for number in range(rounds):
        for name, save in SAVES.items():
            numbers = range(number * writers + 1, (number + 1) * writers + 1)
            _threads(save, folder / name, numbers)
            assert number_in(folder / name) in numbers
            counts["writes of threads"] += writers
        for name, save in SAVES.items():
            numbers = range(number * writers + 1, (number + 1) * writers + 1)
            _processes(save, folder / name, numbers)
            assert number_in(folder / name) in numbers
            counts["writes of processes"] += writers
        assert hidden(folder) == [], hidden(folder)
    return counts


def _threads(save: Callable[[Path, int], None], path: Path, numbers: range) -> None:
    start, errors = threading.Barrier(len(numbers)), []

    def run(number: int) -> None:
        try:
            start.wait()
            save(path, number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def _processes(save: Callable[[Path, int], None], path: Path, numbers: range) -> None:
    children = []
    for number in numbers:
        child = os.fork()
        if child == 0:
            try:
                save(path, number)
                if path.suffix == ".ckpt":
                    ms.load_checkpoint(path)  # waits for one in the background
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)


# A full disk


def full_disk(folder: Path) -> Counter[str]:
    """Save and export onto a small file system that has less room than they need."""
    counts = Counter[str]()
    for name, save in SAVES.items():
        path = folder / name
        save(path, 1)
        assert number_in(path) == 1
        with open(folder / "rest", "wb", buffering=0) as rest:
            size = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
            rest.write(bytes(size))
        failure = _failure_of(save, path)
        assert isinstance(failure, OSError) and failure.errno == errno.ENOSPC, failure
        assert str(failure).endswith(f"No space left on device: '{path}'"), failure
        counts[str(failure).replace(str(folder), "...")] += 1
        os.unlink(folder / "rest")
        assert number_in(path) == 1
        assert hidden(folder) == [], hidden(folder)
        save(path, 3)
        assert number_in(path) == 3
        os.unlink(path)
    return counts


def _failure_of(save: Callable[[Path, int], None], path: Path) -> Exception | None:
    """Return the exception of a save, or of a load of its result if it is written in the background."""
    try:
        save(path, 2)
        number_in(path)
    except Exception as error:
        return error
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--interrupts", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small-disk", type=Path)
    options = parser.parse_args()
    if options.small_disk:
        _say(f"full disk: {dict(full_disk(options.small_disk))}")
        return
    for what, trial in (
        ("kills", lambda folder: kills(folder, options.kills, options.seed)),
        ("interrupts", lambda folder: interrupts(folder, options.interrupts, options.seed)),
        ("at once", lambda folder: at_once(folder, options.rounds)),
    ):
        with tempfile.TemporaryDirectory() as folder:
            _say(f"{what}: {dict(trial(Path(folder)))}")


if __name__ == "__main__":
    main()
