"""The check of a real GPU runs whole, without one, on the strict device of the tests."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import gpu_check

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only")
@pytest.mark.timeout(400)
def test_the_check_runs_whole_on_the_strict_device(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-x", str(HERE / "strict_gpu_check.py")),
        *("-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "no:xdist"),
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=390)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_without_a_gpu_it_says_so_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main([]) == 0
    assert capsys.readouterr().out.startswith("no GPU kernels to check here: ")


def test_a_nan_where_only_one_has_one_is_an_infinite_error() -> None:
    np = gpu_check.np
    nan, one = np.array([1.0, np.nan]), np.array([1.0, 2.0])
    assert gpu_check.largest_error(nan, one) == gpu_check.largest_error((one, one), (one, nan)) == np.inf
    assert gpu_check.largest_error(nan, nan) == 0
    assert gpu_check.largest_error((None, np.array([3.0])), (None, one[:1])) == 1.0
