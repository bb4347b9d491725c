"""Nothing of Linux is needed by what runs on one machine: the engine and its debugger, the panels and the kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = (
    "hookscope",
    "hookscope.engine",
    "hookscope.engine.debug",
    "hookscope.engine.dataset",
    "hookscope.widgets",
    "hookscope.kernel",
    "hookscope.kernel.kernel",
    "hookscope.kernel.extension",
    "hookscope.kernel.magics.cell_magics",
    "hookscope.kernel.pytest_plugin",
    "hookscope.kernel.magics.rank_magics",
    "hookscope.engine.debug.remote.served",
    "hookscope.__main__",
)
TESTED = (
    "autograd/test_grad.py",
    "nn/test_hooks.py",
    "formats/test_serialization.py",
    "ops/legacy/test_looking.py",
    "tensors/test_views.py",
    "debug/record/test_captures.py",
    "debug/stop/stepping",
    "train/test_model.py",
    "compile/test_arguments.py",
)
# They send the signals that are hidden, and run asyncio's event loop, which needs the hidden sockets.
LEFT_OUT = "not signal and not coroutine"


def run_without_linux(repository: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(repository / "tests" / "engine")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_everything_is_imported_where_nothing_of_linux_is(repository: Path) -> None:
    code = (
        "import importlib, hidden_linux as hidden; hidden.bring_libraries(); hidden.hide(); "
        f"[importlib.import_module(name) for name in {MODULES!r}]; import hookscope; print(hookscope.device_report())"
    )
    process = run_without_linux(repository, "-c", code)
    assert process.returncode == 0, process.stderr


@pytest.mark.timeout(400)
def test_the_engines_tests_pass_where_nothing_of_linux_is(repository: Path, tmp_path: Path) -> None:
    paths = [f"tests/engine/{name}" for name in TESTED]
    options = (
        "-p",
        "hidden_linux",
        "-p",
        "no:hookscope",
        "-p",
        "no:cacheprovider",
        "--timeout=0",
        "-q",
        "-k",
        LEFT_OUT,
    )
    process = run_without_linux(repository, "-m", "pytest", *options, f"--basetemp={tmp_path / 'tests'}", *paths)
    assert process.returncode == 0, process.stdout + process.stderr
