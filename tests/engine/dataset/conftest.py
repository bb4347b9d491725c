"""Initial state of every test of data sets: no seed, whichever tests ran before it."""

from __future__ import annotations

import pytest

from hookscope.engine.dataset import config
from hookscope.engine.tensors import random


@pytest.fixture(autouse=True)
def _no_seed_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "_seed", None)
    monkeypatch.setattr(config, "_seed", None)
