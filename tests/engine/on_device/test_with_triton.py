"""The strict device with Triton, whose kernels are interpreted: the checks of _interpreted.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interpreted import needs_triton, run_interpreted


@needs_triton
@pytest.mark.timeout(900)  # all of it takes minutes, where CI is set
@pytest.mark.ci_only
def test_networks_and_operators_by_triton_are_those_of_the_cpu(tmp_path: Path) -> None:
    run_interpreted(Path(__file__).with_name("_interpreted.py"), tmp_path, seconds=880)
