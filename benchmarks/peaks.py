"""The most bytes of arrays that a step holds above what it begins with, as the library itself counts them.

NumPy reports its arrays to tracemalloc, PyTorch's profiler each allocation of its own. What a library keeps between two
steps beside parameters, states of the optimizer and data counts as held by the step: buffers that wait for their next
use are no smaller for it. Neither sees what compiled code takes for itself.
"""

from __future__ import annotations

import gc
import json
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NUMPY = 389047  # the domain by which tracemalloc tells NumPy's arrays from other memory


def of(name: str, make: Callable[[], Any]) -> int | None:
    """Of the third step of a row; None for a library that does not count."""
    if name.startswith("hookscope"):
        return _numpy(make)
    if name.startswith("torch"):
        return _torch(make)
    return None


def _numpy(make: Callable[[], Any]) -> int:
    make().run()  # what is imported and compiled at first use is not the step's
    gc.collect()
    tracemalloc.start()
    try:
        step = make()
        for _ in range(2):
            step.run()
        gc.collect()
        arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, _NUMPY)])
        held = sum(trace.size for trace in arrays.traces) - sum({id(x): x.nbytes for x in step.kept()}.values())
        del arrays
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        step.run()
        return tracemalloc.get_traced_memory()[1] - before + max(held, 0)
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
    now = most = 0
    for event in sorted(events, key=lambda event: event["ts"]):
        now += event["args"]["Bytes"]
        most = max(most, now)
    return most
