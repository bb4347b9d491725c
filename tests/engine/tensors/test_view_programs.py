"""Which elements tensors share depends on the program alone: random ones, run in nine ways."""

from __future__ import annotations

import pytest

from hookscope.engine.cpu import compiling
from tests.engine.view_programs import faults_of, written

BLOCK = 20
"""Programs of one test."""


@pytest.fixture(autouse=True)
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable compilation: each program at O1 would take seconds."""
    monkeypatch.setattr(compiling, "is_on", lambda: False)


@pytest.mark.filterwarnings("ignore:no plan can be made")
@pytest.mark.parametrize("block", [0, *[pytest.param(n, marks=pytest.mark.ci_only) for n in range(1, 300 // BLOCK)]])
def test_a_program_of_views_and_writes_gives_the_same_whoever_runs_it_and_the_same_as_numpy(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert faults_of(written(seed)) == [], written(seed).text()
