"""Details of a rank's last steps, to locate a difference: rows of cells, parameters and gradients, bounded."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import get_args

from hookscope.engine.base.nearest_name import suggestion

from .records import Detail, Kind, Row

__all__ = ["Details"]

_MOST_STEPS = 256
_MOST_ROWS = 50_000


class Details:
    """The rows of the last 256 steps, or fewer if they exceed 50,000 rows; safe to read from any thread.

    Rows that are the same object as those of the previous step count once.
    """

    def __init__(self) -> None:
        self._steps: OrderedDict[int, dict[Kind, tuple[Row, ...]]] = OrderedDict()
        self._counts: dict[int, int] = {}
        self._last: dict[Kind, tuple[Row, ...]] = {}
        self._lock = threading.Lock()

    def keep(self, step: int, rows: dict[Kind, tuple[Row, ...]]) -> None:
        """Store the rows of a step, by their kinds; once for each step."""
        added = sum(len(kind_rows) for kind, kind_rows in rows.items() if self._last.get(kind) is not kind_rows)
        self._last = rows
        with self._lock:
            self._steps[step], self._counts[step] = rows, added
            while len(self._steps) > 1 and (len(self._steps) > _MOST_STEPS or sum(self._counts.values()) > _MOST_ROWS):
                oldest, _ = self._steps.popitem(last=False)
                del self._counts[oldest]

    def of(self, step: int, kind: Kind) -> Detail:
        """Return the rows of a step.

        Raises:
            ValueError: there is no such kind.
        """
        if kind not in get_args(Kind):
            raise ValueError(f"no details about {kind!r}{suggestion(kind, get_args(Kind))}")
        with self._lock:
            rows = self._steps.get(step, {}).get(kind)
        return {"step": step, "kind": kind, "rows": None if rows is None else list(rows)}
