"""Fixtures of the kernel tests: one real kernel a test module, found free and answering after each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kernel_driver import LINK, Kernel


@pytest.fixture(scope="module")
def shared_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with Kernel(env={"IPYTHONDIR": str(tmp_path_factory.mktemp("ipython"))}) as kernel:
        yield kernel


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Iterator[Kernel]:
    """Yield the module's kernel, which a test must leave free and answering."""
    yield shared_kernel
    assert shared_kernel.run("print('alive')").text == "alive\n"
    shared_kernel.iopub.clear()


@pytest.fixture
def link(kernel: Kernel) -> str:
    """Open a comm whose messages land in the kernel's `log`; return its id."""
    cell = kernel.execute(LINK)
    assert kernel.result(cell).status == "ok"
    return kernel.comm_opened(cell)
