"""Binary layout of messages to the page: text as JSON, numbers as consecutive binary columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def columns_to_bytes(rows: Sequence[Sequence[float]], width: int) -> bytes:
    """Return rows of numbers as `width` columns of float64, which holds a count, an index and a statistic."""
    return np.array(rows, dtype="<f8").reshape(len(rows), width).T.tobytes()
