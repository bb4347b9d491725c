"""The check of the installation: a sum, and where it ran. It is called as the module is that holds it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

import hookscope.engine as ms

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_check_says_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    ms.run_check()
    assert capsys.readouterr().out == (
        f"MindSpore version:  {ms.__version__} (hookscope {ms.__hookscope__})\n"
        "The result of addition calculation is correct, hookscope runs on platform [CPU].\n"
    )


def test_it_stays_a_function_when_its_module_is_imported(run_python: Run) -> None:
    for module in ("hookscope.engine.run_check", "hookscope.engine"):
        code = (
            f"import {module}, hookscope.engine as ms; import hookscope.engine.run_check; print(callable(ms.run_check))"
        )
        assert run_python(code).stdout.strip() == "True"


def test_the_check_says_when_it_is_wrong(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ms.Tensor, "__add__", lambda self, other: self * 3)
    ms.run_check()
    assert "The result of addition calculation is WRONG, hookscope runs on platform [CPU]." in capsys.readouterr().out
