"""The strict device with Triton: its kernels run in Triton's interpreter, in a process of their own.

TRITON_INTERPRET must be set before Triton is imported, and this process must not have imported it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only")
@pytest.mark.timeout(900)  # all of it takes minutes, where CI is set
def test_networks_and_operators_by_triton_are_those_of_the_cpu(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-x", str(HERE / "_interpreted.py")),
        *("-c", os.devnull, "--rootdir", str(ROOT), "-p", "no:cacheprovider", "-p", "no:xdist"),
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=880)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
