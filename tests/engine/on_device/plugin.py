"""A plugin of pytest's: tests have their new tensors on the strict device. test_suites.py runs the engine's own so.

If TRITON_INTERPRET is set, Triton's kernels run there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import hookscope.engine as ms
from hookscope.engine.base import deferred_checks
from tests import strict_device
from tests.strict_device import counts

_open = ExitStack()


def pytest_configure() -> None:
    by_triton = os.environ.get("TRITON_INTERPRET") == "1"
    _open.enter_context(strict_device.device(by_triton))  # before tests are collected, which make tensors too


def pytest_unconfigure() -> None:
    _open.close()


@pytest.fixture(autouse=True)
def _on_device() -> Iterator[None]:
    ms.set_device("GPU")
    yield
    deferred_checks.pending_checks.clear()
    for item in counts.opened():
        item.clear()
