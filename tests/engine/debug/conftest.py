"""A seed before every test; after it, nothing of the debugger is left in the engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookscope.engine import set_seed
from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import recording_active

sys.path.insert(0, str(Path(__file__).parent))  # for debug_networks: pytest's importlib mode adds no folder


@pytest.fixture(autouse=True)
def _seeded_and_no_tap_left() -> Iterator[None]:
    set_seed(0)  # initial weights are the same in each run
    yield
    assert (taps.cell_taps, taps.operator_taps, taps.bprop_taps) == ([], [], [])
    assert not recording_active()
