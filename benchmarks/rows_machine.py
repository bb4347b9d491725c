"""Limits of the machine, with NumPy alone: products of matrices, copies of memory, random numbers.

For rows that are reported as rates, the "loss" is the amount of work: operations, or bytes read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from rows_common import Step  # type: ignore[import-not-found, unused-ignore]

_SIDE, _BYTES, _DRAWN = 2048, 1 << 28, (4096, 4096)


def rows(threads: int) -> dict[str, Callable[[], Step]]:
    """Return the rows, by name."""

    def sgemm() -> Step:
        a = np.random.default_rng(0).standard_normal((2, _SIDE, _SIDE), np.float32)
        return Step(lambda: a[0] @ a[1], lambda _: 2.0 * _SIDE**3)

    def copy() -> Step:
        source, target = np.ones(_BYTES, np.uint8), np.ones(_BYTES, np.uint8)
        pairs = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
        pool = ThreadPoolExecutor(threads)

        def run() -> Any:
            return list(pool.map(lambda pair: np.copyto(*pair), pairs))

        return Step(run, lambda _: 2.0 * _BYTES)

    def dense() -> Step:
        return Step(lambda: np.random.default_rng(0).random(_DRAWN, np.float32))

    def first_normal() -> Step:
        return Step(lambda: np.random.default_rng(0).standard_normal(_DRAWN, np.float32))

    return {row.__name__: row for row in (sgemm, copy, dense, first_normal)}
