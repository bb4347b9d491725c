"""Every GPU kernel, run by Triton's interpreter on NumPy arrays, gives what float64 references give.

The checks are in the files `_interpreted_*.py`. Each runs in a process of its own, since TRITON_INTERPRET
must be set before Triton is imported, and this process must not have imported it.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only")

HERE = Path(__file__).parent


@pytest.mark.parametrize("family", sorted(path.stem for path in HERE.glob("_interpreted_*.py")))
def test_kernels_agree_with_their_references(family: str, tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-x", str(HERE / f"{family}.py")),
        *("-c", os.devnull, "--rootdir", str(tmp_path), "--import-mode=prepend"),
        *("-p", "no:cacheprovider", "-p", "no:xdist"),
    ]
    path = os.pathsep.join(filter(None, [str(HERE.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
