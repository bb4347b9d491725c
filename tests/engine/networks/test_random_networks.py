"""Random networks of all kinds of blocks have the same bits watched, watched with everything, and planned."""

from __future__ import annotations

import pytest

from tests.engine.random_networks import faults_of


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.cases(2)
def test_a_random_network_is_trained_to_the_same_bits_whoever_watches(seed: int) -> None:
    assert faults_of(seed) == []
