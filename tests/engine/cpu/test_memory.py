"""The allocator keeps freed memory once a kernel was used: fewer pages come from the system; a user can say no."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from hookscope.engine.cpu.memory import keep_freed_memory

# Page faults while arrays of 16 MB come and go.
COUNT_FAULTS = """
import resource, sys
import numpy as np
import hookscope.engine
from hookscope.engine.cpu import compiling
if sys.argv[1] == "used":
    compiling.kernels("rectifiers")
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    np.ones((2048, 2048), np.float32)
before = faults()
for _ in range(20):
    np.ones((2048, 2048), np.float32)
print(faults() - before)
"""


def count(kernels: str, **environment: str) -> int:
    command = [sys.executable, "-c", COUNT_FAULTS, kernels]
    variables = {**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0", **environment}
    # Huge pages cause fewer faults; NumPy requests them for large arrays.
    process = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    return int(process.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator that is set up is Linux's glibc")
def test_memory_that_comes_and_goes_costs_no_page_faults() -> None:
    assert count("used") < 200


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator that is set up is Linux's glibc")
def test_an_import_leaves_the_allocator_alone() -> None:
    assert count("imported", MALLOC_MMAP_THRESHOLD_="131072") > 20_000


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator that is set up is Linux's glibc")
def test_the_allocator_is_left_alone_when_the_user_says_so() -> None:
    assert count("used", HOOKSCOPE_KEEP_MEMORY="0", MALLOC_MMAP_THRESHOLD_="131072") > 20_000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator that is set up is Linux's glibc")
def test_it_is_said_whether_the_allocator_was_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOKSCOPE_KEEP_MEMORY", raising=False)
    assert keep_freed_memory() is True  # a second time it changes nothing
    monkeypatch.setenv("HOOKSCOPE_KEEP_MEMORY", "0")
    assert keep_freed_memory() is False
