"""Every GPU kernel compiles for its GPUs, on a machine without one, and keeps to their registers."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is published for Linux only")


@pytest.mark.ci_only
@pytest.mark.timeout(400)  # it took a minute on a machine with much else to do
@pytest.mark.parametrize("capability", [80, 90])
def test_every_kernel_compiles_without_spilling_registers(capability: int, tmp_path: Path) -> None:
    script = Path(__file__).parent / "_compile_all.py"
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    path = os.pathsep.join([str(Path(__file__).parents[2]), environment.get("PYTHONPATH", "")])
    environment.update({"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": path})
    command = [sys.executable, str(script), str(capability)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=360)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    rows = report["rows"]
    assert {row["operator"] for row in rows} == set(report["operators"])
    for row in rows:
        assert row["target"] == capability
        assert row["ptx"] > 0, row
        assert row["cubin"] > 0, row
        # 99 KiB is what a thread block can have on every GPU from 8.6 on; 8.0 and 9.0 have more.
        assert row["shared"] <= 99 * 1024, row
        if row["resources"] is not None:
            assert row["resources"]["LOCAL"] == row["resources"]["STACK"] == 0, f"spills registers: {row}"
