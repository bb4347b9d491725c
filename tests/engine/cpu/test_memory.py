"""The allocator keeps freed memory: fewer pages come from the system, and a user can say no."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from hookscope.engine.cpu.memory import keep_freed_memory

# Page faults while arrays of 16 MB come and go.
COUNT_FAULTS = """
import resource
import numpy as np
import hookscope.engine
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    np.ones((2048, 2048), np.float32)
before = faults()
for _ in range(20):
    np.ones((2048, 2048), np.float32)
print(faults() - before)
"""


def count(**environment: str) -> int:
    command = [sys.executable, "-c", COUNT_FAULTS]
    done = subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator that is set up is Linux's glibc")
def test_memory_that_comes_and_goes_costs_no_page_faults() -> None:
    # Huge pages make few faults of many; NumPy asks for them for large arrays.
    assert count(NUMPY_MADVISE_HUGEPAGE="0") < 200


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator that is set up is Linux's glibc")
def test_the_allocator_is_left_alone_when_the_user_says_so() -> None:
    assert count(NUMPY_MADVISE_HUGEPAGE="0", HOOKSCOPE_KEEP_MEMORY="0", MALLOC_MMAP_THRESHOLD_="131072") > 20_000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator that is set up is Linux's glibc")
def test_it_is_said_whether_the_allocator_was_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOKSCOPE_KEEP_MEMORY", raising=False)
    assert keep_freed_memory() is True  # a second time, as at import: it changes nothing
    monkeypatch.setenv("HOOKSCOPE_KEEP_MEMORY", "0")
    assert keep_freed_memory() is False
