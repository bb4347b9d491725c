"""Devices, memory and streams: what is said of the CPU, and of a GPU what CuPy says."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from hookscope import triton_kernels
from hookscope.engine import runtime
from hookscope.engine.core import backend
from hookscope.engine.runtime import Event, Stream


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton_kernels, "probe", lambda: triton_kernels.Probe("none", "no GPU", {}))


class Pool:
    """CuPy's pool of memory."""

    def __init__(self) -> None:
        self.used, self.held = 0, 0

    def used_bytes(self) -> int:
        return self.used

    def total_bytes(self) -> int:
        return self.held

    def free_all_blocks(self) -> None:
        self.held = self.used


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    """New tensors go to a GPU whose pool this is."""
    one = Pool()
    properties = {"name": b"A GPU", "major": 9, "minor": 0}
    driver = SimpleNamespace(getDeviceCount=lambda: 2, getDeviceProperties=lambda number: {**properties, "id": number})
    cupy: Any = SimpleNamespace(get_default_memory_pool=lambda: one, cuda=SimpleNamespace(runtime=driver))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(triton_kernels, "probe", lambda: triton_kernels.Probe("cupy", "a fake", {}))
    monkeypatch.setattr(backend, "_device", "GPU")
    monkeypatch.setattr(runtime, "_peak", {"allocated": 0, "reserved": 0})
    return one


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_there_is_one_cpu_and_nothing_is_counted() -> None:
    assert [runtime.is_available(name) for name in ("CPU", "cpu", "GPU", "Ascend")] == [True, True, False, False]
    assert [runtime.is_initialized(name) for name in ("CPU", "GPU")] == [True, False]
    assert [runtime.device_count(name) for name in (None, "CPU", "GPU", "Ascend")] == [1, 1, 0, 0]
    assert (runtime.get_device_name(0), runtime.get_device_name(0, "GPU")) == ("CPU", "GPU")
    assert (runtime.get_device_properties(0), runtime.get_device_capability(0)) == ({}, None)
    assert set(runtime.memory_stats().values()) == {0}
    with pytest.raises(ValueError, match="'device_target' must be 'CPU', 'GPU' or 'Ascend', got 'TPU'"):
        runtime.is_available("TPU")


def test_of_a_gpu_is_told_what_its_driver_says(pool: Pool) -> None:
    assert runtime.is_available("gpu") and runtime.device_count() == 2
    assert (runtime.get_device_name(1), runtime.get_device_capability(1)) == ("A GPU", (9, 0))
    assert runtime.get_device_properties(1) == {"name": "A GPU", "major": 9, "minor": 0, "id": 1}


def test_the_memory_is_the_pools_and_its_most_is_kept(pool: Pool) -> None:
    pool.used, pool.held = 300, 1000
    assert (runtime.memory_allocated(), runtime.memory_reserved()) == (300, 1000)
    pool.used = 200
    runtime.empty_cache()
    assert runtime.memory_stats() == {
        "total_reserved_memory": 200, "total_allocated_memory": 200, "total_idle_memory": 0,
        "max_reserved_memory": 1000, "max_allocated_memory": 300,
    }  # fmt: skip
    runtime.reset_max_memory_allocated()
    assert (runtime.max_memory_allocated(), runtime.max_memory_reserved()) == (200, 1000)
    runtime.reset_max_memory_reserved()
    pool.used = 150
    assert (runtime.max_memory_allocated(), runtime.max_memory_reserved()) == (200, 200)
    runtime.reset_peak_memory_stats()
    assert runtime.memory_summary().splitlines() == [
        "total_reserved_memory: 200 bytes", "total_allocated_memory: 150 bytes", "total_idle_memory: 50 bytes",
        "max_reserved_memory: 200 bytes", "max_allocated_memory: 150 bytes",
    ]  # fmt: skip


def test_streams_are_equal_by_their_number() -> None:
    one, same, other = Stream(), Stream(priority=3), Stream(stream_id=7)
    assert (one.priority, same.priority, one.stream_id, other.stream_id) == (0, 3, 0, 7)
    assert one == same != other and hash(one) == hash(same) and one != "Stream"
    assert repr(other) == "Stream(device_name=CPU, device_id=0, stream_id=7)"
    assert runtime.current_stream() == one and runtime.default_stream() is runtime.current_stream()
    assert other.query() is True
    for takes in (runtime.set_cur_stream, runtime.StreamCtx):
        takes(None)
        with pytest.raises(TypeError, match="'ctx_stream' must be a Stream, but got int"):
            takes(3)


def test_an_event_notes_the_moment_of_its_record(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([10.0, 10.25, 11.0])
    monkeypatch.setattr(runtime, "time", SimpleNamespace(perf_counter=lambda: next(now)))
    begin, end = Event(enable_timing=True), Event(enable_timing=True)
    assert Stream().record_event(begin) is begin
    end.record()
    assert begin.elapsed_time(end) == 250.0 and end.query() is True
    untimed = Stream().record_event()
    with pytest.raises(RuntimeError, match="both events must be made with enable_timing=True"):
        begin.elapsed_time(untimed)


def test_wishes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "settings", {})
    runtime.set_memory("1GB", max_size="8GB")
    runtime.launch_blocking()
    runtime.dispatch_threads_num(4)
    runtime.set_cpu_affinity(True, ["0-3"])
    runtime.set_kernel_launch_group(3)
    runtime.set_kernel_launch_capture(True, ["add"])
    assert runtime.settings == {
        "memory": {
            "init_size": "1GB", "increase_size": "2GB", "max_size": "8GB", "optimize_level": "O0",
            "huge_page_reserve_size": "0GB",
        },
        "launch_blocking": True, "dispatch_threads_num": 4,
        "cpu_affinity": {
            "enable_affinity": True, "affinity_cpu_list": ["0-3"], "module_to_cpu_dict": None, "bind_file": None,
        },
        "kernel_launch_group": {"thread_num": 3, "kernel_group_num": 8},
        "kernel_launch_capture": {"enable_capture_graph": True, "op_capture_skip": ["add"]},
    }  # fmt: skip
    with pytest.raises(TypeError, match="'threads_num' must be an int, but got 2.5"):
        runtime.dispatch_threads_num(2.5)  # type: ignore[arg-type]
