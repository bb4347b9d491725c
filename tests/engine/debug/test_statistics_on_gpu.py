"""Statistics of values on a GPU are computed there: the checks of interpreted_statistics.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interpreted import needs_triton, run_interpreted


@needs_triton
@pytest.mark.ci_only
def test_values_on_a_gpu_are_measured_there(tmp_path: Path) -> None:
    run_interpreted(Path(__file__).with_name("interpreted_statistics.py"), tmp_path, seconds=200)
