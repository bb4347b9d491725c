"""A short run of the random pauses; `python tests/kernel/random_pauses.py` makes long ones."""

from __future__ import annotations

import pytest
import random_pauses


@pytest.mark.ci_only
def test_40_random_pauses_lose_nothing_and_leave_a_usable_kernel() -> None:
    counts = random_pauses.run(pauses=40, seed=2)
    assert counts["comms"] > 200 and counts["interrupt"] > 5 and counts["query"] > 5, "the run took too few actions"
