"""The benchmark of launches runs without a GPU, and measures what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.interpreted import needs_triton

ROOT = Path(__file__).parents[2]


@needs_triton
def test_each_way_of_starting_a_kernel_is_timed_without_a_gpu(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {"PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(tmp_path)}
    few = "['--calls=3', '--rounds=2']"
    program = f"import json; from benchmarks import launch_time; print(json.dumps(launch_time.main({few})))"
    process = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert process.returncode == 0, process.stderr
    result = json.loads(process.stdout.splitlines()[-1])
    assert len(result) == 4
    for times in result.values():
        assert set(times) == {"Triton", "plan", "and look-up"} and min(times.values()) > 0
