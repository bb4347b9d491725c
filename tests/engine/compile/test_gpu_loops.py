"""Loops for a GPU, without one: their results in Triton's interpreter, and that they compile.

The checks of the first are in interpreted_loops.py, which is a process of its own, since TRITON_INTERPRET must be set
before Triton is imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interpreted import needs_triton, run_interpreted

pytestmark = needs_triton

HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]


@pytest.mark.timeout(240)  # it took 25 seconds, and 120 on a machine with much else to do
@pytest.mark.ci_only
def test_loops_give_what_numbas_and_the_operators_give(tmp_path: Path) -> None:
    run_interpreted(HERE / "interpreted_loops.py", tmp_path, seconds=230)


@pytest.mark.ci_only
@pytest.mark.timeout(400)  # it took 45 seconds on a machine with much else to do
def test_every_expression_compiles_without_contraction(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    path = os.pathsep.join([str(ROOT), environment.get("PYTHONPATH", "")])
    environment.update({"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path})
    command = [sys.executable, str(HERE / "compile_gpu_loops.py"), "80"]
    process = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=360)
    assert process.returncode == 0, process.stderr
    report: dict[str, Any] = json.loads(process.stdout)
    assert len(report["expressions"]["float32"]) > 60
    for dtype in ("float16", "bfloat16", "float64"):
        assert report["expressions"][dtype] == report["expressions"]["float32"]
    assert {"add", "cast", "maximum", "bitwise_and"} <= set(report["expressions"]["int8"])
    assert report["kernels"] > 100
    assert report["contracted"] == 0
