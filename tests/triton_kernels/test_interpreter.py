"""Every GPU kernel, run by Triton's interpreter on NumPy arrays, gives what float64 references give.

The checks are in the files `_interpreted_*.py`. Each runs in a process of its own, since TRITON_INTERPRET
must be set before Triton is imported, and this process must not have imported it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interpreted import needs_triton, run_interpreted

FILES = sorted(Path(__file__).parent.glob("_interpreted_*.py"))


@needs_triton
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem.removeprefix("_interpreted_"))
@pytest.mark.cases(3)
def test_kernels_agree_with_their_references(file: Path, tmp_path: Path) -> None:
    run_interpreted(file, tmp_path, seconds=100)
