"""``sync_wait``: rows that are released when their consumer has reported on the previous ones (``sync_update``)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base.argument_checks import check_callable, check_int, check_type
from .base import Dataset, Row, Step

__all__ = ["SyncWait"]


class SyncWait(Step):
    """Rows that a gate releases.

    Args:
        source: the preceding data set.
        condition_name: the name of the gate.
        num_batch: the number of batches before the first report.
        callback: called with the data of a report.
    """

    def __init__(
        self, source: Dataset, condition_name: str, num_batch: int, callback: Callable[[Any], Any] | None
    ) -> None:
        check_type(condition_name, str, "sync_wait", "condition_name", show=repr)
        if check_int(num_batch, "sync_wait", "num_batch", show=repr) < 1:
            raise ValueError(f"For 'sync_wait', 'num_batch' must be above 0, but got {num_batch}")
        if callback is not None:
            check_callable(callback, "sync_wait", "callback", show=repr)
        if condition_name in gates_of(source):
            raise RuntimeError(f"For 'sync_wait', there is a condition '{condition_name}' already")
        super().__init__(source)
        self.name, self.callback, self.disabled = condition_name, callback, False
        self.num_released = num_batch  # the number of rows released by each report
        self._left = num_batch

    def rows(self, generator: np.random.Generator) -> Iterator[Row]:
        self._left = self.num_released
        for row in self.source.rows(generator):
            if self._left <= 0 and not self.disabled:
                # Nothing else could open the gate during this wait.
                self.disabled = True
                warnings.warn(
                    f"sync_wait: no sync_update('{self.name}') was called before the next rows were requested; "
                    "they are given without waiting from now on",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._left -= 1
            yield row

    def size(self) -> int:
        return self.source.size()

    def release(self, rows: int | None, data: Any) -> None:
        """Let that many rows pass, and notify the callback.

        Args:
            rows: the number of rows; by default ``num_batch``.
            data: the argument of the callback.
        """
        self._left += self.num_released if rows is None else rows
        if self.callback is not None:
            self.callback(data)


def gates_of(dataset: Dataset) -> dict[str, SyncWait]:
    """Return the gates of a chain, by name."""
    gates: dict[str, SyncWait] = {dataset.name: dataset} if isinstance(dataset, SyncWait) else {}
    for child in dataset.children:
        gates |= gates_of(child)
    return gates


def update(dataset: Dataset, condition_name: str, num_batch: int | None, data: Any) -> None:
    """See ``Dataset.sync_update``."""
    gates = gates_of(dataset)
    check_type(condition_name, str, "sync_update", "condition_name", show=repr)
    invalid = num_batch is not None and (isinstance(num_batch, bool) or not isinstance(num_batch, int) or num_batch < 1)
    if invalid or condition_name not in gates:
        disable(dataset)
        if invalid:
            raise RuntimeError(f"For 'sync_update', 'num_batch' must be an int above 0, but got {num_batch!r}")
        raise RuntimeError(f"For 'sync_update', there is no condition '{condition_name}'; there are {sorted(gates)}")
    gates[condition_name].release(None if num_batch is None else num_batch * dataset.get_batch_size(), data)


def disable(dataset: Dataset) -> None:
    """See ``Dataset.disable_sync``."""
    for gate in gates_of(dataset).values():
        gate.disabled = True
