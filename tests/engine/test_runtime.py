"""``mindspore.runtime`` and ``mindspore.hal``: what they say of the CPU, and of a GPU as CuPy tells it (a stand-in)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fake_cupy
import pytest

import hookscope.engine as ms
from hookscope import triton_kernels
from hookscope.engine import hal, runtime
from hookscope.engine.core import backend


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Choices made in a test end with it."""
    for name in ("_device", "_device_reason", "_kernels"):
        monkeypatch.setattr(backend, name, getattr(backend, name))
    monkeypatch.setattr(runtime, "settings", {})
    runtime.reset_peak_memory_stats()
    yield
    runtime.reset_peak_memory_stats()


class Pool:
    used, held = 0, 0

    def used_bytes(self) -> int:
        return self.used

    def total_bytes(self) -> int:
        return self.held

    def free_all_blocks(self) -> None:
        self.held = self.used


class Gpu:
    """CuPy's part that tells of two GPUs; it notes how often it was waited for."""

    def __init__(self) -> None:
        self.pool, self.waits, self.cupy = Pool(), 0, fake_cupy.make()
        self.cupy.get_default_memory_pool = lambda: self.pool
        self.cupy.cuda.get_current_stream = lambda: SimpleNamespace(synchronize=self._wait)
        self.cupy.cuda.runtime = SimpleNamespace(
            getDeviceCount=lambda: 2,
            getDeviceProperties=lambda number: {"name": b"Fake %d" % number, "major": 9, "minor": number, "uuid": b"u"},
        )

    def _wait(self) -> None:
        self.waits += 1


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    made = Gpu()
    monkeypatch.setitem(sys.modules, "cupy", made.cupy)
    found = triton_kernels.Probe("cupy", "a fake for tests", {})
    monkeypatch.setattr(triton_kernels, "probe", lambda: found)
    monkeypatch.setattr(backend, "_kernels", backend._UNKNOWN)
    ms.set_device("GPU")
    return made


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    found = triton_kernels.Probe("none", "there is none", {})
    monkeypatch.setattr(triton_kernels, "probe", lambda: found)


def test_the_older_name_has_the_same_functions() -> None:
    assert {name: getattr(hal, name) for name in hal.__all__} == {name: getattr(runtime, name) for name in hal.__all__}


# Devices


@pytest.mark.usefixtures("no_gpu")
def test_what_is_told_of_the_cpu() -> None:
    for ask in (runtime.is_available, runtime.is_initialized):
        assert [ask(name) for name in ("CPU", "cpu", "GPU", "Ascend")] == [True, True, False, False]
    assert [runtime.device_count(name) for name in (None, "CPU", "GPU", "Ascend")] == [1, 1, 0, 0]
    assert [runtime.get_device_name(0, name) for name in (None, "cpu", "GPU")] == ["CPU", "CPU", "GPU"]
    for name in (None, "CPU", "GPU", "Ascend"):
        assert runtime.get_device_properties(0, name) == {}
        assert runtime.get_device_capability(0, name) is None


def test_what_is_told_of_gpus(gpu: Gpu) -> None:
    for ask in (runtime.is_available, runtime.is_initialized):
        assert [ask(name) for name in ("CPU", "gpu", "Ascend")] == [True, True, False]
    assert [runtime.device_count(name) for name in (None, "CPU", "gpu", "Ascend")] == [2, 1, 2, 0]
    assert [runtime.get_device_name(1, name) for name in (None, "GPU", "CPU")] == ["Fake 1", "Fake 1", "CPU"]
    assert runtime.get_device_properties(1) == {"name": "Fake 1", "major": 9, "minor": 1, "uuid": b"u"}
    assert [runtime.get_device_capability(number) for number in (0, 1)] == [(9, 0), (9, 1)]
    assert runtime.get_device_properties(0, "CPU") == {} and runtime.get_device_capability(0, "CPU") is None


@pytest.mark.parametrize("who", ["is_available", "is_initialized"])
def test_a_device_of_another_name_is_refused(who: str) -> None:
    with pytest.raises(ValueError, match=f"For '{who}', 'device_target' must be 'CPU', 'GPU' or 'Ascend', got 'TPU'"):
        getattr(runtime, who)("TPU")


# Memory

FIGURES = (
    "total_reserved_memory", "total_allocated_memory", "total_idle_memory", "max_reserved_memory",
    "max_allocated_memory",
)  # fmt: skip


def told() -> list[int]:
    return [
        runtime.memory_reserved(),
        runtime.memory_allocated(),
        runtime.max_memory_reserved(),
        runtime.max_memory_allocated(),
    ]


def test_memory_of_the_cpu_is_not_counted() -> None:
    runtime.empty_cache()
    runtime.synchronize()
    assert told() == [0, 0, 0, 0]
    assert runtime.memory_stats() == dict.fromkeys(FIGURES, 0)
    assert runtime.memory_summary() == "\n".join(f"{name}: 0 bytes" for name in FIGURES)


def test_memory_of_a_gpu_is_that_of_cupys_pool_and_the_most_so_far(gpu: Gpu) -> None:
    gpu.pool.used, gpu.pool.held = 300, 512
    assert told() == [512, 300, 512, 300]
    gpu.pool.used, gpu.pool.held = 100, 1024
    assert told() == [1024, 100, 1024, 300]
    runtime.empty_cache()
    assert told() == [100, 100, 1024, 300]
    gpu.pool.held = 160
    figures = (160, 100, 60, 1024, 300)
    assert runtime.memory_stats() == dict(zip(FIGURES, figures, strict=True))
    assert runtime.memory_summary() == "\n".join(f"{n}: {b} bytes" for n, b in zip(FIGURES, figures, strict=True))


@pytest.mark.parametrize(
    ("forget", "expected"),
    [
        (runtime.reset_max_memory_reserved, [160, 100, 160, 300]),
        (runtime.reset_max_memory_allocated, [160, 100, 1024, 100]),
        (runtime.reset_peak_memory_stats, [160, 100, 160, 100]),
    ],
)
def test_the_most_so_far_can_be_forgotten(gpu: Gpu, forget: Any, expected: list[int]) -> None:
    gpu.pool.used, gpu.pool.held = 300, 1024
    assert told() == [1024, 300, 1024, 300]
    gpu.pool.used, gpu.pool.held = 100, 160
    forget()
    assert told() == expected


# Streams and events


def test_there_is_one_stream() -> None:
    one = runtime.current_stream()
    assert runtime.default_stream() is one and runtime.communication_stream() is one
    assert one == runtime.Stream() and hash(one) == hash(runtime.Stream(priority=3))
    assert one != runtime.Stream(stream_id=1) and one != 0
    assert {runtime.Stream(stream_id=1), one, runtime.Stream(stream_id=1)} == {one, runtime.Stream(stream_id=1)}
    assert repr(one) == "Stream(device_name=CPU, device_id=0, stream_id=0)"
    assert repr(runtime.Stream(stream_id=5)) == "Stream(device_name=CPU, device_id=0, stream_id=5)"
    assert runtime.Stream(priority=3).priority == 3


def test_a_stream_of_a_gpu_says_so(gpu: Gpu) -> None:
    assert repr(runtime.current_stream()) == "Stream(device_name=GPU, device_id=0, stream_id=0)"


def test_work_inside_a_block_goes_to_the_one_stream_all_the_same() -> None:
    other = runtime.Stream(stream_id=1)
    context = runtime.StreamCtx(other)
    with context:
        assert context.stream is other and runtime.current_stream() != other
    for given in (other, None):
        runtime.set_cur_stream(given)
        assert runtime.current_stream() == runtime.Stream()
    for refused in (runtime.StreamCtx, runtime.set_cur_stream):
        with pytest.raises(TypeError, match="'ctx_stream' must be a Stream, but got int"):
            refused(1)


def test_what_asks_for_finished_work_waits_for_the_gpu(gpu: Gpu) -> None:
    stream, event = runtime.Stream(), runtime.Event()
    waiting = (runtime.synchronize, stream.synchronize, stream.query, stream.record_event, event.record)
    for number, ask in enumerate(waiting, 1):
        ask()
        assert gpu.waits == number
    assert stream.query() is True and event.query() is True


def test_events_tell_the_milliseconds_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([10.0, 10.25, 11.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(moments))
    stream, first, second = runtime.Stream(), runtime.Event(enable_timing=True), runtime.Event(enable_timing=True)
    assert stream.record_event(first) is first
    second.record(stream)
    assert first.elapsed_time(second) == 250.0 and second.elapsed_time(first) == -250.0
    untimed = stream.record_event()
    assert isinstance(untimed, runtime.Event)
    for one, other in ((first, untimed), (untimed, first)):
        with pytest.raises(RuntimeError, match="both events must be made with enable_timing=True"):
            one.elapsed_time(other)


# Settings


def call_all() -> None:
    runtime.set_memory("1GB", max_size="2GB")
    runtime.launch_blocking()
    runtime.dispatch_threads_num(3)
    runtime.set_cpu_affinity(True, ["0-3"])
    runtime.set_kernel_launch_group(4)
    runtime.set_kernel_launch_capture(True, ["Add"])


def test_settings_that_tune_a_runtime_are_kept() -> None:
    call_all()
    assert runtime.settings == {
        "memory": {
            "init_size": "1GB", "increase_size": "2GB", "max_size": "2GB", "optimize_level": "O0",
            "huge_page_reserve_size": "0GB",
        },
        "launch_blocking": True,
        "dispatch_threads_num": 3,
        "cpu_affinity": {
            "enable_affinity": True, "affinity_cpu_list": ["0-3"], "module_to_cpu_dict": None, "bind_file": None,
        },
        "kernel_launch_group": {"thread_num": 4, "kernel_group_num": 8},
        "kernel_launch_capture": {"enable_capture_graph": True, "op_capture_skip": ["Add"]},
    }  # fmt: skip


# The check of an installation


def test_the_check_says_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    ms.run_check()
    assert capsys.readouterr().out == (
        f"MindSpore version:  {ms.__version__} (hookscope {ms.__hookscope__})\n"
        "The result of addition calculation is correct, hookscope runs on platform [CPU].\n"
    )


def test_the_check_says_when_it_is_wrong(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ms.Tensor, "__add__", lambda self, other: self * 3)
    ms.run_check()
    assert "The result of addition calculation is WRONG, hookscope runs on platform [CPU]." in capsys.readouterr().out
