"""Optimizers that are divided over two and four ranks: the checks of checks_sharing.py."""

from __future__ import annotations

import pytest

from tests.ranks import names, needs_ranks, outcomes

CHECKS = "tests.engine.distributed.checks_sharing"

pytestmark = needs_ranks


@pytest.mark.timeout(300)
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", [*names(CHECKS), "the end"])
@pytest.mark.cases(4)
def test_ranks(name: str, ranks: int) -> None:
    assert not outcomes(CHECKS, ranks, 240).get(name, "")
