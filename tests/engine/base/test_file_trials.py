"""A short run of the file trials; `python tests/engine/file_trials.py` makes long ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# In a process of their own: they fork, and interrupt their main thread.
TRIALS = [sys.executable, str(Path(__file__).parents[1] / "file_trials.py")]


def run(program: list[str]) -> str:
    process = subprocess.run(program, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.timeout(600)  # on a crowded machine
def test_a_file_is_the_old_or_the_new_one_and_nothing_stays_beside_it() -> None:
    output = run([*TRIALS, "--kills", "10", "--interrupts", "60", "--rounds", "1", "--seed", "5"])
    assert "'killed': 10" in output and "'interrupted': " in output
    assert "'writes of threads': 64, 'writes of processes': 64" in output


def test_a_full_disk_is_told_as_what_it_is(tmp_path: Path) -> None:
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=1m none "$0"'
    if not shutil.which("unshare") or subprocess.run([*alone, mount, tmp_path], capture_output=True).returncode:
        pytest.skip("this system gives no small file system to a process alone")
    output = run([*alone, f'{mount} && exec "$@"', str(tmp_path), *TRIALS, "--small-disk", str(tmp_path)])
    assert output.count("No space left on device: '.../") == 4
