"""What every test in this folder shares."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Two workers on two cores: a pool of BLAS threads in each only makes them wait for one another. Set before
# NumPy is imported; kernels and subprocesses inherit it.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# The tests of the CPU side mean the CPU, also on a machine with a GPU.
os.environ.setdefault("HOOKSCOPE_DEVICE", "cpu")
# A shell starts what runs in the background with interrupts ignored, and so would every process of the tests be.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder with pyproject.toml."""
    return ROOT


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code in a fresh interpreter in an empty folder; a failure is the test's, unless `check=False`."""

    def run(code: str, *arguments: str, check: bool = True, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if check and result.returncode:
            pytest.fail(f"exit status {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    return run
