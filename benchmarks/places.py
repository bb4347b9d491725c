"""Where the time of a step goes: its share by file of the engine, from Python's profiler.

The time of what is no file of the engine, NumPy's functions above all, is that of the file that calls it. The profiler
makes calls dearer than they are, so that the share of dispatch is an upper bound.
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
    """Share by file, largest first."""
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
        place = _place(function[0]) or _of_kernel(function[2])
        if place is not None or not callers:
            spent[place or "elsewhere"] += own
            continue
        for caller, (_, _, share, _) in callers.items():
            spent[_place(caller[0]) or "elsewhere"] += share
    total = sum(spent.values())
    return {place: seconds / total for place, seconds in spent.most_common()}


_KERNELS = "<hookscope.engine.cpu.compiled."


def _of_kernel(label: str) -> str | None:
    """The file of kernels that a compiled function is of, by what the profiler calls it."""
    if not label.startswith(_KERNELS):
        return None
    return f"cpu/compiled/{label.removeprefix(_KERNELS).rpartition('.')[0].replace('.', '/')}.py"


def _place(path: str) -> str | None:
    """The file within the engine, None where it is none; one name for all that is neither kernels nor operators."""
    _, separator, inside = path.rpartition(_ENGINE)
    return (inside if inside.startswith(("cpu/", "ops/")) else "dispatch, tape, layers") if separator else None
