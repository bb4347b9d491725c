"""Peers: the same work in several libraries, each in a worker process of its own with the same number of threads.

The workers are started once and run in turn, so that a change in the machine's load affects all alike; a waiting worker
takes no time. A worker is this file, run by the interpreter that has the library:

    PYTHON benchmarks/peers.py NAME THREADS      commands and replies are lines of JSON

The rows are defined in ``rows_mindspore.py``, one text for MindSpore and for Hookscope as its replacement, in
``rows_torch.py`` and in ``rows_jax.py``; ``rows_machine.py`` measures the limits of the machine. The ways of watching
the networks of these rows are in ``watching_hookscope.py`` and ``watching_torch.py``. ``rows_statistics.py`` has the
rows of ``value_statistics.py``, whose peers are named ``statistics-`` and the library.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class PeerError(Exception):
    """A worker's failure, with the reason as its text."""


class Peer:
    """A worker process.

    Args:
        name: hookscope (or one that begins so), torch, torch-compiled, mindspore, mindspore-synced, mindspore-graph,
            jax, or machine.
        python: the interpreter that has the library.
        threads: the number of threads that the library may use.
        patience: the most seconds that a reply may take; then the worker is ended, and restarted at the next command.
        environment: variables that only this worker has.

    Raises:
        PeerError: the library cannot be imported there.
    """

    def __init__(
        self, name: str, python: str, threads: int, patience: float, environment: dict[str, str] | None = None
    ) -> None:
        self.name, self._python, self._threads, self._patience = name, python, threads, patience
        self._own = environment or {}
        try:
            self.version = self._start()
        except PeerError:
            self.close()
            raise

    def _start(self) -> str:
        environment = {**os.environ, **dict.fromkeys(BLAS_THREADS, str(self._threads)), "GLOG_v": "3"}
        if self._threads == 1:  # XLA has no setting of its threads; it takes one for each core that it sees
            environment["NPROC"] = "1"
        environment |= {"PYTHONPATH": str(HERE.parent), **self._own}
        python = os.path.abspath(self._python) if os.sep in self._python else self._python
        command = [python, str(Path(__file__).resolve()), self.name, str(self._threads)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
            cwd=tempfile.gettempdir(),  # MindSpore leaves files in its working directory
        )
        version: str = self._reply(None)
        return version

    def prepare(self, row: str) -> list[float]:
        """Make a row's network and data; return the losses of its first two steps."""
        answer: list[float] = self._ask("prepare", row)
        return answer

    def run(self, row: str, times: int) -> float:
        """Run a row ``times`` times; return the seconds of one run."""
        answer: float = self._ask("run", row, times)
        return answer

    def watch(self, row: str, way: str) -> None:
        """Watch the row's network in this way from now on, and run it once."""
        self._ask("watch", row, way)

    def growth(self) -> int | None:
        """Return the growth of the worker's resident memory, in bytes: its peak less its size before the first row."""
        answer: int | None = self._ask("growth", "")
        return answer

    def peak(self, row: str) -> int | None:
        """Return the peak bytes of arrays in a step, above its initial state; None if the library does not count."""
        answer: int | None = self._ask("peak", row)
        return answer

    def time_by_file(self, row: str) -> dict[str, float]:
        """Return each Hookscope file's share of a prepared row's time; other code counts as that of its callers."""
        answer: dict[str, float] = self._ask("time_by_file", row)
        return answer

    def close(self) -> None:
        """End the worker."""
        with self._process:  # closes the pipes, and waits
            pass

    def _ask(self, *command: Any) -> Any:
        if self._process.poll() is not None:
            self.close()
            self._start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return self._reply(self._patience)

    def _reply(self, patience: float | None) -> Any:
        assert self._process.stdout is not None
        waiting = threading.Timer(patience, self._process.kill) if patience else None
        if waiting:
            waiting.start()
        try:
            for line in self._process.stdout:  # a library may print lines of its own
                if line.startswith('{"'):
                    reply = json.loads(line)
                    if "error" in reply:
                        raise PeerError(reply["error"])
                    return reply["value"]
        finally:
            if waiting:
                waiting.cancel()
        status = self._process.wait()
        raise PeerError(f"no reply in {patience} seconds" if status < 0 else f"the worker ended with status {status}")


def _worker(name: str, threads: int) -> None:
    """Answer commands until the input ends."""
    sys.path[0] = str(HERE)
    import peaks
    import time_by_file

    try:
        rows, version, synchronize, ways = _library(name, threads)
    except ImportError as error:
        _answer(error=f"not installed: {error}")
        return
    _answer(value=version)
    resident = _resident("VmRSS")
    ready: dict[str, Any] = {}
    watchers: dict[
        str, Any
    ] = {}  # of the row, by way; retained, so that their memory is allocated from the first round on
    watcher: Any = None
    for line in sys.stdin:
        command, row, *rest = json.loads(line)
        try:
            if watcher is not None and command in ("prepare", "watch"):
                watcher.detach()
                watcher = None
            if command in ("prepare", "peak") and row not in rows:
                _answer(error="no such row")
            elif command == "prepare":
                watchers.clear()
                ready.clear()  # one row's memory at a time
                gc.collect()
                ready[row] = rows[row]()
                _answer(value=[float(x) for x in (ready[row]() for _ in range(2)) if x is not None])
            elif command == "growth":
                _answer(value=None if resident is None else (_resident("VmHWM") or 0) - resident)
            elif command == "peak":
                ready.clear()
                gc.collect()
                _answer(value=peaks.of(name, rows[row]))
            elif command == "time_by_file":
                _answer(value=time_by_file.of(ready[row].run))
            elif command == "watch":
                (way,) = rest
                if way not in watchers:
                    watchers[way] = ways[way](ready[row].net)
                watcher = watchers[way]
                watcher.attach()
                ready[row].run()
                _answer(value=None)
            else:
                step = ready[row]
                begin = time.perf_counter()
                for _ in range(rest[0]):
                    step.run()
                synchronize()
                _answer(value=(time.perf_counter() - begin) / rest[0])
        except Exception as error:  # any exception of the library becomes the text of its row
            _answer(error=f"{type(error).__name__}: {error}".splitlines()[0][:100])


def _resident(field: str) -> int | None:
    """Return the bytes of resident memory, now ("VmRSS") or at its peak ("VmHWM"); None if the system lacks them."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _library(name: str, threads: int) -> tuple[dict[str, Any], str, Any, dict[str, Any]]:
    """Return a library's rows, its version, a function that waits for its work, and the ways of watching a network."""
    if name.startswith("statistics-"):
        import rows_statistics

        return *rows_statistics.library(name.removeprefix("statistics-"), threads), lambda: None, {}
    if name == "machine":
        import numpy
        import rows_machine

        return rows_machine.rows(threads), f"numpy {numpy.__version__}", lambda: None, {}
    if name == "jax":
        import jax  # type: ignore[import-not-found, unused-ignore]  # the peer's interpreter has it
        import rows_jax

        return rows_jax.ROWS, f"jax {jax.__version__}, jit of the whole step", lambda: None, {}
    if name.startswith("torch"):
        import rows_torch
        import torch  # type: ignore[import-not-found, unused-ignore]  # the peer's interpreter has it
        import watching_torch

        torch.set_num_threads(threads)
        is_compiled = name == "torch-compiled"
        version = f"torch {torch.__version__}, " + ("torch.compile of the step" if is_compiled else "eager")
        return rows_torch.rows(is_compiled), version, lambda: None, watching_torch.WAYS
    if name.startswith("hookscope"):
        import hookscope

        hookscope.install_as_mindspore()
        import mindspore
        import rows_mindspore
        import watching_hookscope

        level = name.partition("-")[2]
        rows = rows_mindspore.rows(functools.partial(mindspore.jit, jit_level=level) if level else None)
        version = f"hookscope {hookscope.__version__}" + (f", jit of the step, {level}" if level else "")
        return rows, version, lambda: None, watching_hookscope.WAYS
    import mindspore  # type: ignore[import-not-found, unused-ignore]
    import rows_mindspore

    modes = {"mindspore": "PyNative", "mindspore-synced": "PyNative synchronized", "mindspore-graph": "jit of the step"}
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    if name == "mindspore-synced":
        mindspore.set_context(pynative_synchronize=True)
    rows = rows_mindspore.rows(mindspore.jit if name == "mindspore-graph" else None)
    return rows, f"mindspore {mindspore.__version__}, {modes[name]}", mindspore.runtime.synchronize, {}


def _answer(**reply: Any) -> None:
    print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    _worker(sys.argv[1], int(sys.argv[2]))
