"""The check of a real GPU runs whole, without one, on the strict device of the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import gpu_check
from tests.interpreted import needs_triton, run_interpreted


@needs_triton
@pytest.mark.timeout(400)
def test_the_check_runs_whole_on_the_strict_device(tmp_path: Path) -> None:
    run_interpreted(Path(__file__).with_name("strict_gpu_check.py"), tmp_path, seconds=390)


def test_without_a_gpu_it_says_so_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu_check.main([]) == 0
    assert capsys.readouterr().out.startswith("no GPU kernels to check here: ")


def test_a_nan_where_only_one_has_one_is_an_infinite_error() -> None:
    np = gpu_check.np
    nan, one = np.array([1.0, np.nan]), np.array([1.0, 2.0])
    assert gpu_check.largest_error(nan, one) == gpu_check.largest_error((one, one), (one, nan)) == np.inf
    assert gpu_check.largest_error(nan, nan) == 0
    assert gpu_check.largest_error((None, np.array([3.0])), (None, one[:1])) == 1.0
