"""``mindspore.runtime`` and ``mindspore.hal``: devices, their memory and their streams, as the backend tells them.

On the CPU work is done when a call returns, and NumPy's memory is not counted: figures are 0. On a GPU they are CuPy's.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

from .base.argument_checks import check_bool, check_int
from .base.module_names import on_first_use
from .tensors import backend

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "device_count",
    "dispatch_threads_num",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
    "launch_blocking",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_cpu_affinity",
    "set_cur_stream",
    "set_kernel_launch_capture",
    "set_kernel_launch_group",
    "set_memory",
    "synchronize",
]

settings: dict[str, Any] = {}
"""Settings that tune a runtime: kept and readable, without effect here."""
_peak = {"allocated": 0, "reserved": 0}


def _cupy() -> Any:
    """CuPy, where new tensors are put on a GPU."""
    return sys.modules.get("cupy") if backend.device_target() == "GPU" else None


def is_available(device_target: str) -> bool:
    """Whether there is such a device: "CPU" always, "GPU" where one runs.

    Args:
        device_target: "CPU", "GPU" or "Ascend", in any case.

    Raises:
        ValueError: another name.
    """
    return _available("is_available", device_target)


def _available(who: str, device_target: str) -> bool:
    target = str(device_target).upper()
    if target not in ("CPU", "GPU", "ASCEND"):
        raise ValueError(f"For '{who}', 'device_target' must be 'CPU', 'GPU' or 'Ascend', got {device_target!r}")
    return target == "CPU" or (target == "GPU" and device_count("GPU") > 0)


def is_initialized(device_target: str) -> bool:
    """Whether such a device can be used by now: where it is available.

    Args:
        device_target: "CPU", "GPU" or "Ascend", in any case.

    Raises:
        ValueError: another name.
    """
    return _available("is_initialized", device_target)


def device_count(device_target: str | None = None) -> int:
    """How many devices there are of a kind.

    Args:
        device_target: "CPU", "GPU" or "Ascend"; the one in use without it.
    """
    target = str(device_target or backend.device_target()).upper()
    if target == "CPU":
        return 1
    from .. import triton_kernels

    if target != "GPU" or triton_kernels.probe().mode not in ("triton", "cupy"):
        return 0
    import cupy

    return int(cupy.cuda.runtime.getDeviceCount())


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """The name of a device: "CPU", or what the driver says of a GPU.

    Args:
        device_id: the number of the device.
        device_target: "CPU" or "GPU"; the one in use without it.
    """
    target = str(device_target or backend.device_target()).upper()
    return "CPU" if target == "CPU" else str((get_device_properties(device_id, target) or {}).get("name", target))


def get_device_properties(device_id: int, device_target: str | None = None) -> dict[str, Any] | None:
    """What the driver tells of a GPU; nothing of the CPU.

    Args:
        device_id: the number of the device.
        device_target: "CPU" or "GPU"; the one in use without it.

    Returns:
        a dictionary, as ``cupy.cuda.runtime.getDeviceProperties`` gives it; None of the CPU.
    """
    target = str(device_target or backend.device_target()).upper()
    if target != "GPU" or not device_count("GPU"):
        return None
    import cupy

    found = dict(cupy.cuda.runtime.getDeviceProperties(device_id))
    return {k: v.decode() if isinstance(v, bytes) and k == "name" else v for k, v in found.items()}


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """The compute capability (major, minor) of a GPU; None of the CPU.

    Args:
        device_id: the number of the device.
        device_target: "CPU" or "GPU"; the one in use without it.
    """
    found = get_device_properties(device_id, device_target) or {}
    return (int(found["major"]), int(found["minor"])) if found else None


def get_arch_list(device_target: str | None = None) -> None:
    """Which architectures a build was made for: None, as nothing is built ahead here.

    Args:
        device_target: kept for callers.
    """


def memory_allocated() -> int:
    """Bytes that tensors hold on the GPU."""
    cupy = _cupy()
    used = int(cupy.get_default_memory_pool().used_bytes()) if cupy else 0
    _peak["allocated"] = max(_peak["allocated"], used)
    return used


def memory_reserved() -> int:
    """Bytes that the pool holds on the GPU."""
    cupy = _cupy()
    held = int(cupy.get_default_memory_pool().total_bytes()) if cupy else 0
    _peak["reserved"] = max(_peak["reserved"], held)
    return held


def max_memory_allocated() -> int:
    """The most that was allocated whenever somebody asked."""
    memory_allocated()
    return _peak["allocated"]


def max_memory_reserved() -> int:
    """The most that was reserved whenever somebody asked."""
    memory_reserved()
    return _peak["reserved"]


def reset_max_memory_allocated() -> None:
    """Forget the most that was allocated."""
    _peak["allocated"] = 0


def reset_max_memory_reserved() -> None:
    """Forget the most that was reserved."""
    _peak["reserved"] = 0


def reset_peak_memory_stats() -> None:
    """Forget both."""
    _peak.update(allocated=0, reserved=0)


def memory_stats() -> dict[str, Any]:
    """The figures of the memory in bytes, by name: reserved, allocated, idle, and the most so far."""
    return {
        "total_reserved_memory": memory_reserved(),
        "total_allocated_memory": memory_allocated(),
        "total_idle_memory": memory_reserved() - memory_allocated(),
        "max_reserved_memory": max_memory_reserved(),
        "max_allocated_memory": max_memory_allocated(),
    }


def memory_summary() -> str:
    """The figures of the memory, as text."""
    return "\n".join(f"{name}: {value} bytes" for name, value in memory_stats().items())


def empty_cache() -> None:
    """Give the pool's unused memory back."""
    cupy = _cupy()
    if cupy:
        cupy.get_default_memory_pool().free_all_blocks()


def synchronize() -> None:
    """Wait until the device has done all that was asked of it."""
    cupy = _cupy()
    if cupy:
        cupy.cuda.get_current_stream().synchronize()


class Stream:
    """A queue of work. There is one, so work is done in the order of the program whatever stream it is put on.

    Args:
        priority: kept in the attribute of this name.
        **kwargs: ``stream_id``, the number by which streams are compared, 0 by default.
    """

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority
        self.stream_id = int(kwargs.get("stream_id", 0))

    def record_event(self, event: Event | None = None) -> Event:
        """Note the moment in an event.

        Args:
            event: the event; a new one without it.

        Returns:
            the event.
        """
        found = Event() if event is None else event
        found.record(self)
        return found

    def wait_event(self, event: Event) -> None:
        """Nothing to wait for: work is done in order.

        Args:
            event: kept for callers.
        """

    def wait_stream(self, stream: Stream) -> None:
        """Nothing to wait for: work is done in order.

        Args:
            stream: kept for callers.
        """

    def synchronize(self) -> None:
        """Wait until all work is done."""
        synchronize()

    def query(self) -> bool:
        """Whether all work is done."""
        synchronize()
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.stream_id == self.stream_id

    def __hash__(self) -> int:
        return hash(self.stream_id)

    def __repr__(self) -> str:
        return f"Stream(device_name={backend.device_target()}, device_id:0, stream id:{self.stream_id})"


_stream = Stream()


class Event:
    """A moment in the work.

    Args:
        enable_timing: whether ``elapsed_time`` may be asked for.
        blocking: kept for callers.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self._timed, self._at = enable_timing, 0.0

    def record(self, stream: Stream | None = None) -> None:
        """Note the moment: that at which the work so far is done, which is waited for.

        Args:
            stream: kept for callers; there is one.
        """
        synchronize()
        self._at = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing to wait for: ``record`` has waited.

        Args:
            stream: kept for callers; there is one.
        """

    def synchronize(self) -> None:
        """Nothing to wait for: ``record`` has waited."""

    def query(self) -> bool:
        """Whether the work up to the moment is done."""
        return True

    def elapsed_time(self, other_event: Event) -> float:
        """Milliseconds from this moment to another.

        Args:
            other_event: the later moment.

        Raises:
            RuntimeError: one of them keeps no time.
        """
        if not (self._timed and other_event._timed):
            raise RuntimeError("For 'Event.elapsed_time', both events must be made with enable_timing=True")
        return (other_event._at - self._at) * 1000


class StreamCtx:
    """Work inside the block goes to a stream; there is one.

    Args:
        ctx_stream: a Stream or None.

    Raises:
        TypeError: something else.
    """

    def __init__(self, ctx_stream: Stream | None) -> None:
        if ctx_stream is not None and not isinstance(ctx_stream, Stream):
            raise TypeError(f"For 'StreamCtx', 'ctx_stream' must be a Stream, but got {type(ctx_stream).__name__}")
        self.stream = ctx_stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


def current_stream() -> Stream:
    """The one stream."""
    return _stream


default_stream = communication_stream = current_stream


def set_cur_stream(stream: Stream | None) -> None:
    """Take a stream as the current one; there is one.

    Args:
        stream: a Stream or None.

    Raises:
        TypeError: something else.
    """
    StreamCtx(stream)


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Keep the wishes of the memory pool; NumPy and CuPy have their own ways.

    Args:
        init_size: how much the pool has first, such as "2GB".
        increase_size: by how much it grows.
        max_size: how much it may have.
        optimize_level: "O0" or "O1".
        huge_page_reserve_size: how much of it is in huge pages.
    """
    settings["memory"] = dict(locals())


def launch_blocking() -> None:
    """Keep the wish that each call waits for its work; on the CPU it does."""
    settings["launch_blocking"] = True


def dispatch_threads_num(threads_num: int) -> None:
    """Keep the number of threads that hand out work; here it is the caller's.

    Args:
        threads_num: the number, an int.

    Raises:
        TypeError: no int.
    """
    settings["dispatch_threads_num"] = check_int(threads_num, "dispatch_threads_num", "threads_num", show=repr)


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: list[str] | None = None,
    module_to_cpu_dict: dict[str, Any] | None = None,
    bind_file: str | None = None,
) -> None:
    """Keep the wish where threads should run.

    Args:
        enable_affinity: whether threads should be bound to cores.
        affinity_cpu_list: the cores, as texts such as "0-9".
        module_to_cpu_dict: the cores of each module by name.
        bind_file: a file that says both.
    """
    settings["cpu_affinity"] = dict(locals())


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Keep the wish how the kernels of graphs should be started; a warning says that a plan calls one after the other.

    Args:
        thread_num: by how many threads.
        kernel_group_num: in how many groups.

    Raises:
        TypeError: no int.
    """
    wish = {"thread_num": thread_num, "kernel_group_num": kernel_group_num}
    for name, value in wish.items():
        check_int(value, "set_kernel_launch_group", name)
    settings["kernel_launch_group"] = wish
    _tell("set_kernel_launch_group")


def set_kernel_launch_capture(enable_capture_graph: bool, op_capture_skip: list[str] | None = None) -> None:
    """Keep the wish to capture graphs of kernels; a warning says that a plan calls one after the other.

    Args:
        enable_capture_graph: whether they should be captured.
        op_capture_skip: names of operators that should not be.

    Raises:
        TypeError: ``enable_capture_graph`` is no bool.
    """
    check_bool(enable_capture_graph, "set_kernel_launch_capture", "enable_capture_graph")
    settings["kernel_launch_capture"] = {
        "enable_capture_graph": enable_capture_graph,
        "op_capture_skip": op_capture_skip,
    }
    if enable_capture_graph:
        _tell("set_kernel_launch_capture")


def _tell(who: str) -> None:
    warnings.warn(f"'{who}' has no effect here: a plan calls its kernels one after the other", stacklevel=3)


__getattr__ = on_first_use(__name__)
