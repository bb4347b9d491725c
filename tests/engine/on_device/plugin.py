"""A plugin of pytest's: tests have their new tensors on the strict device. test_suites.py runs the engine's own so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import hookscope.engine as ms
from hookscope.engine.core import later
from tests import strict_device
from tests.strict_device import counts

_open = ExitStack()


def pytest_configure() -> None:
    _open.enter_context(strict_device.device())  # before tests are collected, which make tensors too


def pytest_unconfigure() -> None:
    _open.close()


@pytest.fixture(autouse=True)
def _on_device() -> Iterator[None]:
    ms.set_device("GPU")
    yield
    later.waiting.clear()
    for one in counts.opened():
        one.clear()
