"""mindspore.runtime and hal: on the CPU one device and one stream, whose work is done; of a GPU what CuPy says."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope import triton_kernels
from hookscope.engine import hal, runtime
from hookscope.engine.tensors import backend

ROOMS = [runtime, hal]


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
    """Provide the pool of a GPU for new tensors."""
    subject = Pool()
    properties = {"name": b"A GPU", "major": 9, "minor": 0, "uuid": b"\xff\x01"}
    driver = SimpleNamespace(getDeviceCount=lambda: 2, getDeviceProperties=lambda number: {**properties, "id": number})
    cupy: Any = SimpleNamespace(get_default_memory_pool=lambda: subject, cuda=SimpleNamespace(runtime=driver))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(triton_kernels, "probe", lambda: triton_kernels.Probe("cupy", "a fake", {}))
    monkeypatch.setattr(backend, "_device", "GPU")
    monkeypatch.setattr(runtime, "_peak", {"allocated": 0, "reserved": 0})
    return subject


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("room", ROOMS)
def test_there_is_one_cpu_and_no_ascend(room: Any) -> None:
    assert room.device_count() == room.device_count("cpu") == 1 and room.device_count("Ascend") == 0
    assert room.device_count("GPU") == 0 and not room.is_available("GPU") and not room.is_initialized("GPU")
    assert room.is_available("cpu") and room.is_initialized("CPU") and not room.is_available("Ascend")
    assert (room.get_device_name(0), room.get_device_name(0, "GPU")) == ("CPU", "GPU")
    assert room.get_device_capability(0) is None and room.get_device_properties(0) is None
    assert room.get_arch_list() is None
    for ask in (room.is_available, room.is_initialized):
        with pytest.raises(ValueError, match="'device_target' must be 'CPU', 'GPU' or 'Ascend', got 'TPU'"):
            ask("TPU")


@pytest.mark.parametrize("room", ROOMS)
def test_memory_on_the_cpu_is_not_counted(room: Any) -> None:
    for figure in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
        assert getattr(room, figure)() == 0
    for forget in ("max_memory_allocated", "max_memory_reserved", "peak_memory_stats"):
        getattr(room, f"reset_{forget}")()
    room.empty_cache()
    stats = room.memory_stats()
    assert len(stats) == 5 and set(stats.values()) == {0}
    assert room.memory_summary() == "\n".join(f"{name}: 0 bytes" for name in stats)


@pytest.mark.parametrize("room", ROOMS)
def test_there_is_one_stream_and_its_work_is_done(room: Any) -> None:
    stream = room.current_stream()
    assert stream is room.default_stream() is room.communication_stream() and stream.query() is True
    assert (stream.priority, room.Stream(priority=3).priority, stream.stream_id) == (0, 3, 0) and stream != "Stream"
    assert room.Stream() == stream == room.Stream(priority=-1) and room.Stream(stream_id=3) != stream
    assert len({stream, room.Stream(), room.Stream(stream_id=3)}) == 2
    assert repr(room.Stream(stream_id=3)) == "Stream(device_name=CPU, device_id:0, stream id:3)"
    for variant in (None, room.Stream()):
        with room.StreamCtx(variant):
            assert float(ms.ops.ones(3).sum()) == 3
        room.set_cur_stream(variant)
    stream.wait_stream(room.Stream())
    stream.synchronize()
    room.synchronize()
    for call in (room.StreamCtx, room.set_cur_stream):
        with pytest.raises(TypeError, match="'ctx_stream' must be a Stream, but got int"):
            call(3)


@pytest.mark.parametrize("room", ROOMS)
def test_events_measure_milliseconds_between_moments(room: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter((2.0, 2.5))
    monkeypatch.setattr(runtime.time, "perf_counter", lambda: next(moments))
    first, second = (room.Event(enable_timing=True) for _ in range(2))
    first.record()
    assert room.current_stream().record_event(second) is second and second.query() is True
    room.current_stream().wait_event(first)
    first.wait()
    first.synchronize()
    assert (first.elapsed_time(second), second.elapsed_time(first)) == (500.0, -500.0)
    with pytest.raises(RuntimeError, match="both events must be made with enable_timing=True"):
        first.elapsed_time(room.Event())


def test_of_a_gpu_is_told_what_its_driver_says(pool: Pool) -> None:
    assert runtime.is_available("gpu") and runtime.device_count() == 2
    assert (runtime.get_device_name(1), runtime.get_device_capability(1)) == ("A GPU", (9, 0))
    assert runtime.get_device_properties(1) == {"name": "A GPU", "major": 9, "minor": 0, "uuid": b"\xff\x01", "id": 1}


def test_the_memory_is_the_pools_and_its_most_is_kept(pool: Pool) -> None:
    pool.used, pool.held = 300, 1000
    assert (runtime.memory_allocated(), runtime.memory_reserved()) == (300, 1000)
    pool.used = 200
    runtime.empty_cache()
    assert runtime.memory_stats() == {
        "total_reserved_memory": 200,
        "total_allocated_memory": 200,
        "total_idle_memory": 0,
        "max_reserved_memory": 1000,
        "max_allocated_memory": 300,
    }
    runtime.reset_max_memory_allocated()
    assert (runtime.max_memory_allocated(), runtime.max_memory_reserved()) == (200, 1000)
    runtime.reset_max_memory_reserved()
    pool.used = 150
    assert (runtime.max_memory_allocated(), runtime.max_memory_reserved()) == (200, 200)
    runtime.reset_peak_memory_stats()
    assert runtime.memory_summary().splitlines() == [
        "total_reserved_memory: 200 bytes",
        "total_allocated_memory: 150 bytes",
        "total_idle_memory: 50 bytes",
        "max_reserved_memory: 200 bytes",
        "max_allocated_memory: 150 bytes",
    ]


def test_a_peak_that_is_forgotten_begins_at_nothing(pool: Pool) -> None:
    for forget in (runtime.reset_peak_memory_stats, runtime.reset_max_memory_allocated):
        pool.used, pool.held = 300, 1000
        assert (runtime.max_memory_allocated(), runtime.max_memory_reserved()) == (300, 1000)
        pool.used = pool.held = 0
        forget()
        assert runtime.max_memory_allocated() == 0
    runtime.reset_max_memory_reserved()
    assert runtime.max_memory_reserved() == 0


def test_wishes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "settings", {})
    runtime.set_memory("1GB", max_size="8GB")
    runtime.launch_blocking()
    runtime.dispatch_threads_num(4)
    runtime.set_cpu_affinity(True, ["0-3"])
    for wish in (lambda: runtime.set_kernel_launch_group(3), lambda: runtime.set_kernel_launch_capture(True, ["add"])):
        with pytest.warns(UserWarning, match="has no effect here: a plan calls its kernels one after the other"):
            wish()
    assert runtime.settings == {
        "memory": {
            "init_size": "1GB",
            "increase_size": "2GB",
            "max_size": "8GB",
            "optimize_level": "O0",
            "huge_page_reserve_size": "0GB",
        },
        "launch_blocking": True,
        "dispatch_threads_num": 4,
        "cpu_affinity": {
            "enable_affinity": True,
            "affinity_cpu_list": ["0-3"],
            "module_to_cpu_dict": None,
            "bind_file": None,
        },
        "kernel_launch_group": {"thread_num": 3, "kernel_group_num": 8},
        "kernel_launch_capture": {"enable_capture_graph": True, "op_capture_skip": ["add"]},
    }
    with pytest.raises(TypeError, match="'threads_num' must be an int, but got 2.5"):
        runtime.dispatch_threads_num(2.5)  # type: ignore[arg-type]
