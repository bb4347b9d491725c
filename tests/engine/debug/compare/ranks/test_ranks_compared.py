"""Differences between two and four ranks are named, and sound runs have no finding: checks_across_ranks.py."""

from __future__ import annotations

import pytest

from tests.ranks import names, needs_ranks, outcomes

CHECKS = "tests.engine.debug.compare.ranks.checks_across_ranks"

pytestmark = needs_ranks


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", [*names(CHECKS), "the end"])
def test_ranks(name: str, ranks: int) -> None:
    assert not outcomes(CHECKS, ranks).get(name, "")
