"""Checks of the GPU's kernels in a process of their own: TRITON_INTERPRET must be set before Triton is imported."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["needs_triton", "run_interpreted"]

ROOT = Path(__file__).parents[1]

needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only"
)


def run_interpreted(file: Path, cache: Path, seconds: float) -> None:
    """Run a file of tests where Triton's kernels are interpreted; all of them must pass.

    Args:
        file: the tests.
        cache: a folder for what Triton keeps; the process runs there.
        seconds: after which it is ended.
    """
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-x", str(file)),
        *("-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "no:xdist"),
    ]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(cache), "PYTHONPATH": path}
    process = subprocess.run(command, env=environment, cwd=cache, capture_output=True, text=True, timeout=seconds)
    assert process.returncode == 0, process.stdout + process.stderr
    assert " passed" in process.stdout
