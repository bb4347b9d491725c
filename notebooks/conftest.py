"""The tutorials under nbval: their kernels do not tell what they compile, which hangs on what was compiled before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """The first cell of a notebook starts its kernel, which has this process's environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOOKSCOPE_COMPILE_NOTICE", "0")
        yield
