"""Queries of other processes, which get answers even if these end meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import is_alive


def test_a_process_is_alive_until_it_ends_also_where_nobody_has_reaped_it() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert is_alive(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(process.pid)
    assert not is_alive(process.pid)


@pytest.mark.parametrize("error", [FileNotFoundError, ProcessLookupError])
def test_a_process_that_ends_while_it_is_looked_at_is_not_alive(
    error: type[OSError], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(path: Path) -> bytes:
        raise error(path)

    monkeypatch.setattr(Path, "read_bytes", gone)
    assert not is_alive(os.getpid())
