"""Imports that these tests share, and guards that compare words of memory from the first call on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hookscope.engine.compile.guards import memory_words as words

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode adds no folder


@pytest.fixture(autouse=True)
def _words_from_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare words of memory at once, so that changes which they miss cannot hide behind few calls."""
    monkeypatch.setattr(words, "_LEAST_CALLS", 1)
