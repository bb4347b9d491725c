"""The checks of interpreted_statistics.py, in a process of their own: Triton is imported to interpret, or not."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only")

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]


def test_values_on_a_gpu_are_measured_there(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-x", str(HERE / "interpreted_statistics.py")),
        *("-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "no:xdist"),
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
