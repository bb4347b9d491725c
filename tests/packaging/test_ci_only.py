"""Slow tests, and most cases of a test with many, are left out unless CI=true or their file is named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILED = "tests/triton_kernels/quality/test_quality.py::test_a_kernel_holds_its_bounds["


def collected(repository: Path, ci: str, *paths: str) -> tuple[list[str], str]:
    """Return the tests of some files in the order in which they are run, and the output of pytest."""
    process = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *paths],
        cwd=repository,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return [line for line in process.stdout.splitlines() if "::" in line], process.stdout


def test_more_kernels_are_compiled_in_ci(repository: Path) -> None:
    process, output = collected(repository, "", "tests/triton_kernels")
    in_ci, _ = collected(repository, "true", "tests/triton_kernels")
    assert 0 < sum(name.startswith(COMPILED) for name in process) < sum(name.startswith(COMPILED) for name in in_ci)
    assert "more tests are run with CI=true" in output


def test_of_the_tests_in_chromium_two_files_are_run_everywhere(repository: Path) -> None:
    names, _ = collected(repository, "", "tests/browser", "tests/widgets")
    files = {name.partition("::")[0] for name in names}
    for path, everywhere in {
        "browser/test_jupyterlab.py": True,
        "browser/test_life_of_panels.py": False,
        "browser/test_server.py": True,  # runs without Chromium
        "widgets/test_page.py": True,
        "widgets/test_keys_page.py": False,
        "widgets/test_panel.py": True,
    }.items():
        assert (f"tests/{path}" in files) is everywhere


TESTS = """
import pytest

@pytest.mark.parametrize("n", range(40))
def test_many(n): pass

@pytest.mark.cases(2)
@pytest.mark.parametrize("n", range(16))
def test_few_are_enough(n): pass

@pytest.mark.parametrize("n", range(3))
def test_all_of_few(n): pass

@pytest.mark.ci_only
def test_long(): pass
"""


@pytest.fixture
def small(repository: Path, tmp_path: Path) -> Path:
    """Provide a repository with one file of tests."""
    (tmp_path / "tests").mkdir()
    shutil.copy(repository / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / "tests" / "test_one.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return tmp_path


def passed(folder: Path, ci: str, *arguments: str) -> tuple[dict[str, list[int]], str]:
    """Return the cases of each test that were run, and the output of pytest."""
    process = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:hookscope", *arguments],
        cwd=folder,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    run: dict[str, list[int]] = {}
    for name, case in re.findall(r"::(\w+)\[(\d+)\] PASSED", process.stdout):
        run.setdefault(name, []).append(int(case))
    return run, process.stdout


def test_of_a_test_with_many_cases_evenly_spaced_ones_are_run(small: Path) -> None:
    run, output = passed(small, "", "tests")
    assert run == {
        "test_many": [0, 5, 10, 15, 20, 25, 30, 35],
        "test_few_are_enough": [0, 8],
        "test_all_of_few": [0, 1, 2],
    }
    assert "47 more tests are run with CI=true: make test CI=true" in output


def test_ci_runs_twice_as_many(small: Path) -> None:
    run, output = passed(small, "true", "tests")
    assert {name: len(cases) for name, cases in run.items()} == {
        "test_many": 16,
        "test_few_are_enough": 4,
        "test_all_of_few": 3,
    }
    assert "24 passed" in output and "36 more tests are run by make nightly" in output


@pytest.mark.parametrize("ci", ["true", ""])
@pytest.mark.parametrize(("path", "all_cases"), [("tests/test_one.py", ""), ("tests", "1")])
def test_nightly_and_a_file_that_is_named_have_all_cases(
    path: str, all_cases: str, ci: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKSCOPE_ALL_CASES", all_cases)
    run, output = passed(small, ci, path)
    assert {name: len(cases) for name, cases in run.items()} == {
        "test_many": 40,
        "test_few_are_enough": 16,
        "test_all_of_few": 3,
    }
    assert "60 passed" in output and "more tests" not in output


def test_so_many_cases_can_be_asked_for_in_ci_too(small: Path) -> None:
    run, output = passed(small, "true", "--most-cases=3", "tests/test_one.py")
    assert run == {"test_many": [0, 13, 26], "test_few_are_enough": [0, 8], "test_all_of_few": [0, 1, 2]}
    assert "test_long PASSED" in output and "51 more tests are left out by --most-cases" in output


def test_workers_say_once_what_is_left_to_ci(small: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "-p", "no:hookscope", "tests"],
        cwd=small,
        env={**os.environ, "CI": ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert process.stdout.count("47 more tests are run with CI=true") == 1


def test_the_folders_that_take_longest_come_first(repository: Path) -> None:
    names, _ = collected(repository, "", "tests/packaging/test_docs.py", "tests/browser/test_server.py")
    assert names[0].startswith("tests/browser/") and names[-1].startswith("tests/packaging/")
