"""Peak bytes of a step's arrays above its initial state, as the library itself counts them.

NumPy reports its arrays to tracemalloc, PyTorch's profiler each allocation of its own. Arrays that a library retains
between two steps, other than parameters, states of the optimizer and data, count as the step's: reusable buffers take
memory, too. Neither counts the memory that compiled code allocates.
"""

from __future__ import annotations

import gc
import json
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NUMPY = 389047  # tracemalloc's domain of NumPy's arrays


def of(name: str, make: Callable[[], Any]) -> int | None:
    """Return the peak of the third step of a row; None for a library that does not count."""
    if name.startswith("hookscope"):
        return _numpy(make)
    if name.startswith("torch"):
        return _torch(make)
    return None


def _numpy(make: Callable[[], Any]) -> int:
    make().run()  # imports and compilations at first use do not belong to the step
    gc.collect()
    tracemalloc.start()
    try:
        step = make()
        for _ in range(2):
            step.run()
        gc.collect()
        arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, _NUMPY)])
        buffers = sum(trace.size for trace in arrays.traces) - sum({id(x): x.nbytes for x in step.state()}.values())
        del arrays
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        step.run()
        return tracemalloc.get_traced_memory()[1] - before + max(buffers, 0)
    finally:
        tracemalloc.stop()


def _torch(make: Callable[[], Any]) -> int:
    from torch.profiler import ProfilerActivity, profile  # type: ignore[import-not-found, unused-ignore]

    step = make()
    for _ in range(2):
        step.run()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step.run()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        profiler.export_chrome_trace(str(path))
        events = [each for each in json.loads(path.read_text())["traceEvents"] if each.get("name") == "[memory]"]
    current = peak = 0
    for event in sorted(events, key=lambda event: event["ts"]):
        current += event["args"]["Bytes"]
        peak = max(peak, current)
    return peak
