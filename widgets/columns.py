"""What travels to the page: text as JSON, and numbers as binary columns, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def columns_to_bytes(rows: Sequence[Sequence[float]], width: int) -> bytes:
    """Lay rows of numbers out as `width` columns of float64: a count, an index and a statistic all fit."""
    return np.array(rows, dtype="<f8").reshape(len(rows), width).T.tobytes()
