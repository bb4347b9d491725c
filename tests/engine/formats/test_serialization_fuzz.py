"""Damaged checkpoint files, 12,000 or as many as HOOKSCOPE_FUZZ_FILES says; ``fuzz_checkpoints.py`` makes them."""

from __future__ import annotations

import os
from pathlib import Path

from fuzz_checkpoints import fuzz


def test_a_damaged_file_loads_what_its_checksum_stands_for_or_is_refused(tmp_path: Path) -> None:
    files = int(os.environ.get("HOOKSCOPE_FUZZ_FILES", "12000"))
    counts = fuzz(tmp_path, files)
    assert counts["files"] >= files
    assert counts["refused"] > files // 2
