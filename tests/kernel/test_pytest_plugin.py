"""pytest's `--check-networks` and the fixture `checked_networks`: a test fails where a condition finds a cause."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import numpy as np
import pytest
import mindspore as ms
from mindspore import nn, ops, Tensor

class Log(nn.Cell):
    def construct(self, x):
        return ops.log(x)

def run(value):
    return Log()(Tensor(np.float32([value, 3.0])))

def test_fine():
    run(2.0)

def test_faulty():
    run(-1.0)

def test_fails_by_itself():
    run(-1.0)
    assert False, "its own reason"

def test_without_a_network():
    pass
"""
WITH_FIXTURE = """
@pytest.fixture
def later(checked_networks):
    yield
    run(-1.0)

def test_looks(checked_networks):
    run(-1.0)
    assert [finding.condition for finding in checked_networks.findings()] == ["nan"]

def test_mutes(checked_networks):
    checked_networks.mute("nan", "")
    run(-1.0)

def test_is_over_before_the_fixtures_end(later):
    run(2.0)

def test_is_fine(checked_networks):
    run(2.0)
"""


def run(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_them.py").write_text(tests)
    plugin = ["-p", "hookscope.kernel.pytest_plugin", "-p", "no:cacheprovider", "--alias-mindspore"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "--tb=short", *plugin, *options, "test_them.py"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


def outcomes(process: subprocess.CompletedProcess[str]) -> dict[str, str]:
    lines = [line.split() for line in process.stdout.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))]
    return {fields[1].partition("::")[2]: fields[0] for fields in lines}


def test_a_test_in_which_there_is_a_cause_fails(tmp_path: Path) -> None:
    process = run(tmp_path, TESTS, "--check-networks=all")
    assert outcomes(process) == {
        "test_fine": "PASSED",
        "test_faulty": "FAILED",
        "test_fails_by_itself": "FAILED",
        "test_without_a_network": "PASSED",
    }, process.stdout + process.stderr
    assert "1. nan in (root): certain, in step 1\n   log in (root)#0 made 1 NaN of 2 elements: " in process.stdout
    assert process.stdout.count("1 cause in 1 step") >= 2
    assert "its own reason" in process.stdout and "hookscope call" in process.stdout


def test_only_the_conditions_that_are_named(tmp_path: Path) -> None:
    process = run(tmp_path, TESTS, "--check-networks=wrong_mode,inf")
    assert outcomes(process)["test_faulty"] == "PASSED"


def test_without_the_option_nothing_is_checked(tmp_path: Path) -> None:
    assert outcomes(run(tmp_path, TESTS))["test_faulty"] == "PASSED"


def test_the_fixture_checks_one_test(tmp_path: Path) -> None:
    process = run(tmp_path, TESTS + WITH_FIXTURE)
    assert outcomes(process) == {
        "test_fine": "PASSED",
        "test_faulty": "PASSED",
        "test_fails_by_itself": "FAILED",
        "test_without_a_network": "PASSED",
        "test_looks": "FAILED",
        "test_mutes": "PASSED",
        "test_is_over_before_the_fixtures_end": "PASSED",
        "test_is_fine": "PASSED",
    }, process.stdout + process.stderr
    failures = process.stdout.partition("short test summary info")[0]  # which prints some of them once more
    assert failures.count("1 cause in 1 step") == 1


@pytest.mark.parametrize("names", ["", ",", "nan,,inf"])
def test_an_empty_name_of_a_condition_is_one_line_before_any_test(tmp_path: Path, names: str) -> None:
    process = run(tmp_path, TESTS, f"--check-networks={names}")
    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    message = f"ERROR: --check-networks must be names between commas, none of them empty, got {names!r}"
    assert process.stderr.strip() == message


@pytest.mark.parametrize("options", [("--check-networks=nann",), ("--check-networks=nan,nann",)])
def test_an_unknown_condition_is_one_line_before_any_test(tmp_path: Path, options: tuple[str, ...]) -> None:
    process = run(tmp_path, TESTS, *options)
    assert process.returncode == pytest.ExitCode.USAGE_ERROR
    assert process.stderr.startswith("ERROR: --check-networks 'nann': no such condition; the nearest is 'nan' (all: ")
    assert len(process.stderr.strip().splitlines()) == 1
