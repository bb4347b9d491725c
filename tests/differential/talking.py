"""One package in its own process: takes cases, gives answers, comes back after it hung or broke."""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.differential.cases import Case

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
CASE_SECONDS = 10


class Package:
    """`server.py` in a Python.

    Args:
        python: its path.
        name: "mindspore" or "hookscope".
    """

    def __init__(self, python: str, name: str) -> None:
        self.python, self.name = str(Path(python).absolute()), name
        self._folder = tempfile.TemporaryDirectory()  # MindSpore leaves files where it runs
        self._start()

    def run(self, case: Case) -> dict[str, Any]:
        """Return the answer of ``server.py``: a result and gradients, or the class and the text of an error."""
        inputs = [
            {"dtype": dtype, "shape": x.shape, "numpy": x.dtype.str, "data": base64.b64encode(x.tobytes()).decode()}
            for x, dtype in zip(case.inputs, case.dtypes, strict=True)
        ]
        text = json.dumps({"source": case.source, "inputs": inputs, "gradient": case.gradient})
        self._write(text)
        answer = self._read(CASE_SECONDS)
        if answer is None:
            self.restart()
            return {"error": "hangs", "text": f"no answer in {CASE_SECONDS} s"}
        return dict(answer)

    def fresh(self) -> None:
        """Start a fork that has run nothing: MindSpore computes wrong gradients after some of its errors."""
        self._write("fresh")

    def restart(self) -> None:
        """Start another process."""
        self.close()
        self._start()

    def close(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _start(self) -> None:
        environment = os.environ | {
            "MS_JIT": "0",  # MindSpore compiles the steps of its optimizers, a second each
            "GLOG_v": "4",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "HOOKSCOPE_DEVICE": "cpu",
        }
        if self.name == "hookscope":
            environment["PYTHONPATH"] = str(ROOT)
        else:
            environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [self.python, "-P", str(Path(__file__).with_name("server.py")), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
            cwd=self._folder.name,
        )
        self._kept = b""
        if self._read(START_SECONDS) != "ready":
            raise SystemExit(f"{self.python} does not run {self.name}")

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        line = text.encode() + b"\n"
        self._process.stdin.write(b"%d\n" % len(line) + line)
        self._process.stdin.flush()

    def _read(self, seconds: float) -> Any:
        assert self._process.stdout is not None
        while b"\n" not in self._kept:
            if not select.select([self._process.stdout], [], [], seconds)[0]:
                return None
            part = os.read(self._process.stdout.fileno(), 1 << 20)
            if not part:
                return None
            self._kept += part
        line, _, self._kept = self._kept.partition(b"\n")
        return json.loads(line)


def array_of(description: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return a tensor of an answer."""
    return np.frombuffer(base64.b64decode(description["data"]), description["numpy"]).reshape(description["shape"])
