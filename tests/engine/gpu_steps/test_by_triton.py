"""Optimizers' steps by Triton's kernels: the checks of interpreted.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interpreted import needs_triton, run_interpreted


@needs_triton
@pytest.mark.ci_only
def test_steps_by_tritons_kernels_are_the_cpus(tmp_path: Path) -> None:
    run_interpreted(Path(__file__).with_name("interpreted.py"), tmp_path, seconds=200)
