"""The list of exhaustive checks: each command can be started, and a failure is the whole run's."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def nightly(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    return import_module("nightly")


def test_every_check_is_a_program_that_is_there(nightly: Any, repository: Path) -> None:
    for name, check in nightly.CHECKS.items():
        words = check.command.split()
        if words[:2] == ["-m", "pytest"]:
            continue
        path = repository / (words[1].replace(".", "/") if words[0] == "-m" else words[0])
        assert path.is_file() or path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), name


def test_numbers_of_cases_are_scaled_and_never_zero(nightly: Any) -> None:
    check = nightly.Check("", "-m programs --programs {2000} --seed {seed}")
    assert nightly.arguments_of(check, 7, 0.5) == ["-m", "programs", "--programs", "1000", "--seed", "7"]
    assert nightly.arguments_of(check, 7, 1e-9)[3] == "1"


def test_a_failed_check_fails_the_run_and_the_others_are_run(
    nightly: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    checks = {
        "bad": nightly.Check("", "-c raise(SystemExit(3))"),
        "good": nightly.Check("", "-c pass"),
        "elsewhere": nightly.Check("", "-c pass", needs="HOOKSCOPE_NOT_SET"),
    }
    monkeypatch.setattr(nightly, "CHECKS", checks)
    assert nightly.main([]) == 1
    out = capfd.readouterr().out
    assert "bad: FAILED, status 3" in out and "good: passed" in out
    assert "elsewhere: left out, since HOOKSCOPE_NOT_SET is not set" in out
    assert nightly.main(["good"]) == 0


def test_bad_arguments_are_one_line(repository: Path) -> None:
    for argument, error in (
        ("--share=0", "must be above 0, got 0"),
        ("sessoins", "unknown check 'sessoins'; known are"),
    ):
        command = [sys.executable, "scripts/nightly.py", argument]
        process = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
        assert process.returncode == 2 and error in process.stderr.splitlines()[-1]
