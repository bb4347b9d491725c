"""Fixtures and options of all tests in this folder."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


# A worker takes a file at a time (--dist loadfile), in this order, so that long files do not run last.
LONGEST_FIRST = ("faults", "browser", "kernel", "widgets", "triton_kernels", "packaging")
# Three selections. `make test` shows a reader of the README that each promise holds: it runs MOST_CASES of a test's
# cases, evenly spaced and the same each time, and omits tests with the mark ci_only and most of those in Chromium.
# CI=true runs every test, with IN_CI times as many cases. `make nightly` runs all cases of all tests, with
# HOOKSCOPE_ALL_CASES=1, as does a file that is named on the command line. --most-cases sets the number for all tests.
CI_ONLY = "ci_only: what takes long and rarely tells more than what is run anyway; run where CI=true, else left out"
CASES = "cases(count): so many of its cases are run by `make test`, in the place of MOST_CASES"
MOST_CASES = 8
IN_CI = 2
FAULTS_EXPECTED = "faults_expected: something of the debugger is made to raise; in any other test that is a failure"
# Chromium takes much of the time. Of its tests these files run everywhere; the others are ci_only.
IN_CHROMIUM_EVERYWHERE = ("browser/test_jupyterlab.py", "widgets/test_page.py")
_LEFT_TO_CI = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--most-cases", type=int, help="of a test with many cases run so many, evenly spaced")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", CI_ONLY)
    config.addinivalue_line("markers", FAULTS_EXPECTED)
    config.addinivalue_line("markers", CASES)
    config.stash[_LEFT_TO_CI] = 0


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


def all_cases() -> bool:
    return os.environ.get("HOOKSCOPE_ALL_CASES") == "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    paths = [Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args]
    others = [item for item in items if item.path not in paths]
    left_out = [item for item in others if _takes_long(item)] if not in_ci() and not all_cases() else []
    most = config.getoption("--most-cases")
    if most is not None:
        left_out += _beyond(most, items)
    elif not all_cases():
        left_out += _beyond(MOST_CASES, others, IN_CI if in_ci() else 1)
    config.hook.pytest_deselected(items=left_out)
    config.stash[_LEFT_TO_CI] = len(left_out)
    remaining = set(items).difference(left_out)
    items[:] = sorted(filter(remaining.__contains__, items), key=_turn)


def _beyond(most: int, items: list[pytest.Item], times: int = 1) -> list[pytest.Item]:
    """Return the cases of each test that are more than ``times`` as many as ``most``, or as its mark says."""
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if hasattr(item, "callspec") and (in_ci() or not _takes_long(item)):  # else it is left out already
            groups.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = []
    for group in groups.values():
        mark = group[0].get_closest_marker("cases")
        count = times * (most if mark is None else mark.args[0])
        selected = {case * len(group) // count for case in range(count)}
        left_out += [item for index, item in enumerate(group) if count < len(group) and index not in selected]
    return left_out


def _takes_long(item: pytest.Item) -> bool:
    in_chromium = not {"browser", "chromium"}.isdisjoint(getattr(item, "fixturenames", ()))
    everywhere = item.path.as_posix().endswith(IN_CHROMIUM_EVERYWHERE)
    return item.get_closest_marker("ci_only") is not None or (in_chromium and not everywhere)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # in a worker of xdist, which each collect the same
        session.config.workeroutput["left_to_ci"] = session.config.stash[_LEFT_TO_CI]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of xdist says; it has nothing to say where it was killed."""
    node.config.stash[_LEFT_TO_CI] = max(node.config.stash[_LEFT_TO_CI], node.workeroutput.get("left_to_ci", 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left_out = config.stash[_LEFT_TO_CI]
    if left_out:
        if config.getoption("--most-cases") is not None:
            reason = "left out by --most-cases"
        else:
            reason = "run by make nightly" if in_ci() else "run with CI=true: make test CI=true"
        terminalreporter.write_line(f"{left_out} more tests are {reason}")


def _turn(item: pytest.Item) -> int:
    folders = item.path.relative_to(ROOT).parts
    return next((turn for turn, folder in enumerate(LONGEST_FIRST) if folder in folders), len(LONGEST_FIRST))


@pytest.fixture(autouse=True)
def no_fault_of_the_debugger(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which the debugger raised, since the run goes on without it and nothing else would fail."""
    names: list[str] = []
    handler = _Keeping(names)
    log = logging.getLogger("hookscope.debug")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
    if names and request.node.get_closest_marker("faults_expected") is None:
        pytest.fail("faults of the debugger:\n" + "\n".join(names), pytrace=False)


class _Keeping(logging.Handler):
    def __init__(self, names: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._kept = names

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append(record.getMessage())


@pytest.fixture(scope="session")
def repository() -> Path:
    """Provide the folder with pyproject.toml."""
    return ROOT


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code in a fresh interpreter in an empty folder; a failure is the test's, unless `check=False`."""

    def run(code: str, *arguments: str, check: bool = True, seconds: float = 240) -> subprocess.CompletedProcess[str]:
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
