"""What every test in this folder shares."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Two workers on two cores: a pool of BLAS threads in each only makes them wait for one another. Set before
# NumPy is imported; kernels and subprocesses inherit it.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
# The tests of the CPU side mean the CPU, also on a machine with a GPU.
os.environ.setdefault("HOOKSCOPE_DEVICE", "cpu")
# A shell starts what runs in the background with interrupts ignored, and so would every process of the tests be.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# A worker takes a file at a time (--dist loadfile), in this order: what takes long must not be the last that runs.
LONGEST_FIRST = ("faults", "browser", "kernel", "widgets", "triton_kernels", "packaging")
CI_ONLY = "ci_only: what takes long and rarely tells more than what is run anyway; run where CI=true, else left out"
# Two thirds of all the time goes to Chromium. Of its tests these files are run everywhere; the others are ci_only.
IN_CHROMIUM_EVERYWHERE = ("browser/test_jupyterlab.py", "widgets/test_page.py")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", CI_ONLY)


def pytest_report_header() -> str | None:
    return None if in_ci() else "ci_only tests are left out but where their file is named; CI=true runs them too"


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    named = [Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args]
    left_out = [] if in_ci() else [item for item in items if item.path not in named and _takes_long(item)]
    config.hook.pytest_deselected(items=left_out)
    kept = set(items).difference(left_out)
    items[:] = sorted(filter(kept.__contains__, items), key=_turn)


def _takes_long(item: pytest.Item) -> bool:
    in_chromium = not {"browser", "chromium"}.isdisjoint(getattr(item, "fixturenames", ()))
    everywhere = item.path.as_posix().endswith(IN_CHROMIUM_EVERYWHERE)
    return item.get_closest_marker("ci_only") is not None or (in_chromium and not everywhere)


def _turn(item: pytest.Item) -> int:
    folders = item.path.relative_to(ROOT).parts
    return next((turn for turn, folder in enumerate(LONGEST_FIRST) if folder in folders), len(LONGEST_FIRST))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder with pyproject.toml."""
    return ROOT


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code in a fresh interpreter in an empty folder; a failure is the test's, unless `check=False`."""

    def run(code: str, *arguments: str, check: bool = True, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if check and result.returncode:
            pytest.fail(f"exit status {result.returncode}\n{result.stdout}{result.stderr}")
        return result

    return run
