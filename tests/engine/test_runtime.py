"""mindspore.runtime and hal on the CPU: one device and one stream, work that is done, memory that is not counted."""

from __future__ import annotations

from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import hal, runtime

ROOMS = [runtime, hal]


@pytest.mark.parametrize("room", ROOMS)
def test_there_is_one_cpu_and_no_ascend(room: Any) -> None:
    assert room.device_count() == room.device_count("cpu") == 1 and room.device_count("Ascend") == 0
    assert room.is_available("CPU") and room.is_initialized("cpu") and not room.is_available("Ascend")
    assert room.get_device_name(0) == "CPU" and room.get_device_properties(0) == {}
    assert room.get_device_capability(0) is None and room.get_arch_list() is None
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
    assert room.Stream() == stream == room.Stream(priority=-1) and room.Stream(stream_id=3) != stream
    assert len({stream, room.Stream(), room.Stream(stream_id=3)}) == 2
    assert repr(room.Stream(stream_id=3)) == "Stream(device_name=CPU, device_id=0, stream_id=3)"
    for one in (None, room.Stream()):
        with room.StreamCtx(one):
            assert float(ms.ops.ones(3).sum()) == 3
        room.set_cur_stream(one)
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


def test_settings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "settings", {})
    runtime.set_memory("4GB", max_size="8GB")
    runtime.launch_blocking()
    runtime.dispatch_threads_num(2)
    runtime.set_cpu_affinity(True, ["0-1"])
    runtime.set_kernel_launch_group(3)
    runtime.set_kernel_launch_capture(True)
    kept = runtime.settings
    assert [kept["memory"][f"{size}_size"] for size in ("init", "increase", "max")] == ["4GB", "2GB", "8GB"]
    assert kept["launch_blocking"] is True and kept["dispatch_threads_num"] == 2
    assert kept["cpu_affinity"]["affinity_cpu_list"] == ["0-1"]
    assert kept["kernel_launch_capture"]["enable_capture_graph"] is True
    assert kept["kernel_launch_group"] == {"thread_num": 3, "kernel_group_num": 8}
