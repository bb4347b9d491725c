"""Shares of a step's time by file of the engine, from Python's profiler.

The time of other code, above all of NumPy's functions, counts as that of the engine's file that calls it. The profiler
slows calls down, so that the share of dispatch is an upper bound.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

_SECONDS = 1.0
_ENGINE = "/engine/"


def of(run: Callable[[], Any]) -> dict[str, float]:
    """Return the share by file, largest first."""
    run()
    profiler = cProfile.Profile()
    begin = time.perf_counter()
    while time.perf_counter() - begin < _SECONDS:
        profiler.enable()
        run()
        profiler.disable()
    entries: Any = vars(pstats.Stats(profiler))["stats"]
    spent: Counter[str] = Counter()
    for function, (_, _, own, _, callers) in entries.items():
        file = _file(function[0]) or _of_kernel(function[2])
        if file is not None or not callers:
            spent[file or "elsewhere"] += own
            continue
        for caller, (_, _, share, _) in callers.items():
            spent[_file(caller[0]) or "elsewhere"] += share
    total = sum(spent.values())
    return {file: seconds / total for file, seconds in spent.most_common()}


_KERNELS = "<hookscope.engine.cpu.compiled."


def _of_kernel(label: str) -> str | None:
    """Return the file of a compiled kernel, by the profiler's label for it; None for other functions."""
    if not label.startswith(_KERNELS):
        return None
    return f"cpu/compiled/{label.removeprefix(_KERNELS).rpartition('.')[0].replace('.', '/')}.py"


def _file(path: str) -> str | None:
    """Return the file within the engine; None for files outside, one name for all but kernels and operators."""
    _, separator, inside = path.rpartition(_ENGINE)
    return (inside if inside.startswith(("cpu/", "ops/")) else "dispatch, tape, layers") if separator else None
