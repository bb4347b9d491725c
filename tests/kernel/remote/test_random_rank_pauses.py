"""A short run of the random pauses over ranks; a long one is `python -m tests.kernel.remote.random_rank_pauses`."""

from __future__ import annotations

import pytest

from tests.kernel.remote.random_rank_pauses import run


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.ci_only
def test_nothing_hangs_whatever_is_done_at_pauses_over_two_ranks(seed: int) -> None:
    counted = run(12, 2, seed)
    assert counted["looks at a pause"] > 12
