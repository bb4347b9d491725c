"""What is marked ci_only is collected where CI=true and left out elsewhere, and the longest folders come first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPILED = "tests/triton_kernels/test_compile.py::test_every_kernel_compiles_without_spilling_registers"


def collected(repository: Path, ci: str, *paths: str) -> tuple[list[str], str]:
    """The tests of some files in the order in which they are run, and all that pytest says."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *paths],
        cwd=repository, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if "::" in line], done.stdout


@pytest.mark.parametrize(("ci", "capabilities"), [("", [90]), ("true", [80, 90])])
def test_what_is_marked_ci_only_is_collected_in_ci_alone(repository: Path, ci: str, capabilities: list[int]) -> None:
    names, said = collected(repository, ci, "tests/triton_kernels/test_compile.py")
    assert names == [f"{COMPILED}[{capability}]" for capability in capabilities]
    assert ("1 deselected" in said) is (ci == "")


def test_the_folders_that_take_longest_come_first(repository: Path) -> None:
    names, _ = collected(repository, "", "tests/packaging/test_docs.py", "tests/browser/test_server.py")
    assert names[0].startswith("tests/browser/") and names[-1].startswith("tests/packaging/")
