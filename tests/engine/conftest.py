"""Lets these tests import the data and reference files beside them, and holds that no test leaves a recording open."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookscope.engine.tape import taps
from hookscope.engine.tape.tape import recording_active

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode adds no folder


@pytest.fixture(autouse=True)
def _nothing_is_left_open() -> Iterator[None]:
    yield
    assert (taps.cell_taps, taps.operator_taps, taps.bprop_taps) == ([], [], [])
    assert not recording_active()
