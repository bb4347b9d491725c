"""The figures of one array of random float32 numbers, in several libraries; a row is its number of elements.

Calling a row returns the sum of the figures, by which the peers are compared. NumPy and PyTorch are used as their
documentation suggests, a call for each figure. The "brief" variants skip the counts of NaN and Inf if ``isfinite``
finds only finite numbers, and sum mean and standard deviation in float32; a norm in float32 is 1 % off at 10^8
elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

BINS = 64


class _Row:
    def __init__(self, figures: Callable[[], Any]) -> None:
        self.run = figures

    def __call__(self) -> float:
        return float(sum(self.run()))


def library(name: str, threads: int) -> tuple[dict[str, Callable[[], _Row]], str]:
    """Return the rows of a library, and its version."""
    make, version = {"hookscope": _hookscope, "read": _read, "numpy": _numpy, "torch": _torch}[name.split("-")[0]](
        threads, name.endswith("-brief")
    )
    rows = {str(10**power): lambda power=power: _Row(make(_numbers(10**power))) for power in range(3, 10)}
    return rows, version


def _numbers(size: int) -> Any:
    return np.random.default_rng(0).standard_normal(size, dtype=np.float32)


def _mean_bin(histogram: Any) -> float:
    """Return the mean index of a bin."""
    return float(np.dot(np.asarray(histogram, np.float64), np.arange(BINS)) / max(np.sum(histogram), 1))


def _hookscope(threads: int, _brief: bool) -> tuple[Any, str]:
    import hookscope
    from hookscope.engine.cpu.threads import set_number
    from hookscope.engine.debug import statistics

    set_number(threads)

    def make(values: Any) -> Callable[[], tuple[float, ...]]:
        def figures() -> tuple[float, ...]:
            row = statistics(values)
            return (
                row.minimum,
                row.maximum,
                row.mean,
                row.std,
                row.norm,
                _mean_bin(row.histogram),
                row.zeros,
                row.nan,
                row.positive_inf,
                row.negative_inf,
            )

        return figures

    return make, f"hookscope {hookscope.__version__}"


def _read(threads: int, _brief: bool) -> tuple[Any, str]:
    """Make a search for the largest element, a part on each thread: it is limited by the speed of memory."""
    pool = ThreadPoolExecutor(threads)

    def make(values: Any) -> Callable[[], tuple[float, ...]]:
        parts = np.array_split(values, threads)
        if threads == 1:
            return lambda: (values.max(),)
        return lambda: (max(pool.map(np.max, parts)),)

    return make, f"numpy {np.__version__}"


def _numpy(_threads: int, brief: bool) -> tuple[Any, str]:
    def make(x: Any) -> Callable[[], tuple[float, ...]]:
        def figures() -> tuple[float, ...]:
            is_finite = np.isfinite(x)
            clean = brief and is_finite.all()
            unfit = (0, 0, 0) if clean else (np.isnan(x).sum(), np.isposinf(x).sum(), np.isneginf(x).sum())
            finite = x if clean else x[is_finite]
            low, high = finite.min(), finite.max()
            histogram, _ = np.histogram(finite, BINS, (low, high))
            precision = None if brief else np.float64
            mean, std = finite.mean(dtype=precision), finite.std(dtype=precision)
            norm = math.sqrt(np.square(finite, dtype=np.float64).sum())
            return low, high, mean, std, norm, _mean_bin(histogram), x.size - np.count_nonzero(x), *unfit

        return figures

    return make, f"numpy {np.__version__}"


def _torch(threads: int, brief: bool) -> tuple[Any, str]:
    import torch  # type: ignore[import-not-found, unused-ignore]  # the peer's interpreter has it

    torch.set_num_threads(threads)

    def make(values: Any) -> Callable[[], tuple[float, ...]]:
        x = torch.from_numpy(values)

        def figures() -> tuple[float, ...]:
            is_finite = torch.isfinite(x)
            clean = brief and bool(is_finite.all())
            unfit = (0, 0, 0) if clean else (x.isnan().sum(), x.isposinf().sum(), x.isneginf().sum())
            finite = x if clean else x[is_finite]
            low, high = torch.aminmax(finite)
            histogram = torch.histc(finite, BINS, float(low), float(high))
            std, mean = torch.std_mean(finite if brief else finite.double(), correction=0)
            norm = torch.linalg.vector_norm(finite, dtype=torch.float64)
            zeros = x.numel() - torch.count_nonzero(x)
            mean_bin = _mean_bin(histogram.numpy())
            return tuple(float(figure) for figure in (low, high, mean, std, norm, mean_bin, zeros, *unfit))

        return figures

    return make, f"torch {torch.__version__}"
