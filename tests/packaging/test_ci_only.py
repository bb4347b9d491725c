"""What takes long is collected where CI=true or its file is named, else left out; the longest folders come first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPILED = "tests/triton_kernels/quality/test_quality.py::test_a_kernel_holds_its_bounds[adam 4096x4096"


def collected(repository: Path, ci: str, *paths: str) -> tuple[list[str], str]:
    """The tests of some files in the order in which they are run, and all that pytest says."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *paths],
        cwd=repository, env={**os.environ, "CI": ci}, capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if "::" in line], done.stdout


@pytest.mark.parametrize(
    ("ci", "path", "all_of_them"),
    [
        ("", "tests/triton_kernels", False),
        ("true", "tests/triton_kernels", True),
        ("", "tests/triton_kernels/quality/test_quality.py", True),
    ],
)
def test_what_is_marked_ci_only_is_collected_in_ci_or_where_its_file_is_named(
    repository: Path, ci: str, path: str, all_of_them: bool
) -> None:
    names, said = collected(repository, ci, path)
    assert any(name.startswith(COMPILED) for name in names) is all_of_them
    assert (" deselected" in said) is not all_of_them


def test_of_the_tests_in_chromium_two_files_are_run_everywhere(repository: Path) -> None:
    elsewhere, in_ci = (
        {name.partition("::")[0] for name in collected(repository, ci, "tests/browser", "tests/widgets")[0]}
        for ci in ("", "true")
    )
    for path, everywhere in {
        "browser/test_jupyterlab.py": True,
        "browser/test_life_of_panels.py": False,
        "browser/test_server.py": True,  # runs without Chromium
        "widgets/test_page.py": True,
        "widgets/test_keys_page.py": False,
        "widgets/test_panel.py": True,
    }.items():
        assert (f"tests/{path}" in elsewhere) is everywhere
        assert f"tests/{path}" in in_ci


def test_the_folders_that_take_longest_come_first(repository: Path) -> None:
    names, _ = collected(repository, "", "tests/packaging/test_docs.py", "tests/browser/test_server.py")
    assert names[0].startswith("tests/browser/") and names[-1].startswith("tests/packaging/")
