"""``mindspore.runtime`` and ``mindspore.hal``: devices, their memory and their streams, as reported by the backend.

On the CPU work is done when a call returns, and NumPy's memory is not counted: values are 0. On a GPU CuPy reports it.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

from ..base.argument_checks import check_bool, check_int
from ..base.module_names import on_first_use
from ..tensors import backend

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
"""Settings that tune a runtime: stored and readable, without effect here."""
_peak = {"allocated": 0, "reserved": 0}


def _cupy() -> Any:
    """Return CuPy if new tensors are put on a GPU."""
    return sys.modules.get("cupy") if backend.device_target() == "GPU" else None


def is_available(device_target: str) -> bool:
    """Return whether a device exists: "CPU" always, "GPU" if one works.

    Args:
        device_target: "CPU", "GPU" or "Ascend", in any case.

    Raises:
        ValueError: an unknown name.
    """
    return _available("is_available", device_target)


def _available(caller: str, device_target: str) -> bool:
    target = str(device_target).upper()
    if target not in ("CPU", "GPU", "ASCEND"):
        raise ValueError(f"For '{caller}', 'device_target' must be 'CPU', 'GPU' or 'Ascend', got {device_target!r}")
    return target == "CPU" or (target == "GPU" and device_count("GPU") > 0)


def is_initialized(device_target: str) -> bool:
    """Return whether a device is ready for use: if it is available.

    Args:
        device_target: "CPU", "GPU" or "Ascend", in any case.

    Raises:
        ValueError: an unknown name.
    """
    return _available("is_initialized", device_target)


def device_count(device_target: str | None = None) -> int:
    """Return the number of devices of a kind.

    Args:
        device_target: "CPU", "GPU" or "Ascend"; by default the current one.
    """
    target = str(device_target or backend.device_target()).upper()
    if target == "CPU":
        return 1
    from ... import triton_kernels

    if target != "GPU" or triton_kernels.probe().mode not in ("triton", "cupy"):
        return 0
    import cupy

    return int(cupy.cuda.runtime.getDeviceCount())


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """Return the name of a device: "CPU", or the driver's name of a GPU.

    Args:
        device_id: the number of the device.
        device_target: "CPU" or "GPU"; by default the current one.
    """
    target = str(device_target or backend.device_target()).upper()
    return "CPU" if target == "CPU" else str((get_device_properties(device_id, target) or {}).get("name", target))


def get_device_properties(device_id: int, device_target: str | None = None) -> dict[str, Any] | None:
    """Return the driver's properties of a GPU; empty for the CPU.

    Args:
        device_id: the number of the device.
        device_target: "CPU" or "GPU"; by default the current one.

    Returns:
        a dictionary, as from ``cupy.cuda.runtime.getDeviceProperties``; None for the CPU.
    """
    target = str(device_target or backend.device_target()).upper()
    if target != "GPU" or not device_count("GPU"):
        return None
    import cupy

    properties = dict(cupy.cuda.runtime.getDeviceProperties(device_id))
    return {k: v.decode() if isinstance(v, bytes) and k == "name" else v for k, v in properties.items()}


def get_device_capability(device_id: int, device_target: str | None = None) -> tuple[int, int] | None:
    """Return the compute capability (major, minor) of a GPU; None for the CPU.

    Args:
        device_id: the number of the device.
        device_target: "CPU" or "GPU"; by default the current one.
    """
    properties = get_device_properties(device_id, device_target) or {}
    return (int(properties["major"]), int(properties["minor"])) if properties else None


def get_arch_list(device_target: str | None = None) -> None:
    """Return the architectures of a build: None, since nothing is built ahead here.

    Args:
        device_target: accepted for compatibility.
    """


def memory_allocated() -> int:
    """Return the bytes of tensors on the GPU."""
    cupy = _cupy()
    used = int(cupy.get_default_memory_pool().used_bytes()) if cupy else 0
    _peak["allocated"] = max(_peak["allocated"], used)
    return used


def memory_reserved() -> int:
    """Return the bytes of the pool on the GPU."""
    cupy = _cupy()
    reserved = int(cupy.get_default_memory_pool().total_bytes()) if cupy else 0
    _peak["reserved"] = max(_peak["reserved"], reserved)
    return reserved


def max_memory_allocated() -> int:
    """Return the largest allocation observed by the calls so far."""
    memory_allocated()
    return _peak["allocated"]


def max_memory_reserved() -> int:
    """Return the largest reservation observed by the calls so far."""
    memory_reserved()
    return _peak["reserved"]


def reset_max_memory_allocated() -> None:
    """Reset the largest allocation."""
    _peak["allocated"] = 0


def reset_max_memory_reserved() -> None:
    """Reset the largest reservation."""
    _peak["reserved"] = 0


def reset_peak_memory_stats() -> None:
    """Reset both."""
    _peak.update(allocated=0, reserved=0)


def memory_stats() -> dict[str, Any]:
    """Return the memory statistics in bytes, by name: reserved, allocated, idle, and the maxima so far."""
    return {
        "total_reserved_memory": memory_reserved(),
        "total_allocated_memory": memory_allocated(),
        "total_idle_memory": memory_reserved() - memory_allocated(),
        "max_reserved_memory": max_memory_reserved(),
        "max_allocated_memory": max_memory_allocated(),
    }


def memory_summary() -> str:
    """Return the memory statistics as text."""
    return "\n".join(f"{name}: {value} bytes" for name, value in memory_stats().items())


def empty_cache() -> None:
    """Release the pool's unused memory."""
    cupy = _cupy()
    if cupy:
        cupy.get_default_memory_pool().free_all_blocks()


def synchronize() -> None:
    """Wait until the device has finished all work."""
    cupy = _cupy()
    if cupy:
        cupy.cuda.get_current_stream().synchronize()


class Stream:
    """A queue of work. There is only one, so work on any stream runs in program order.

    Args:
        priority: stored in the attribute of this name.
        **kwargs: ``stream_id``, the number that compares streams, 0 by default.
    """

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        self.priority = priority
        self.stream_id = int(kwargs.get("stream_id", 0))

    def record_event(self, event: Event | None = None) -> Event:
        """Record the moment in an event.

        Args:
            event: the event; by default a new one.

        Returns:
            the event.
        """
        recorded = Event() if event is None else event
        recorded.record(self)
        return recorded

    def wait_event(self, event: Event) -> None:
        """Do nothing: work is done in order.

        Args:
            event: accepted for compatibility.
        """

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing: work is done in order.

        Args:
            stream: accepted for compatibility.
        """

    def synchronize(self) -> None:
        """Wait until all work is done."""
        synchronize()

    def query(self) -> bool:
        """Return whether all work is done."""
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
        enable_timing: whether ``elapsed_time`` is available.
        blocking: accepted for compatibility.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self._timed, self._at = enable_timing, 0.0

    def record(self, stream: Stream | None = None) -> None:
        """Record the moment at which all work so far is done, by waiting for it.

        Args:
            stream: accepted for compatibility; there is only one.
        """
        synchronize()
        self._at = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Do nothing: ``record`` has waited.

        Args:
            stream: accepted for compatibility; there is only one.
        """

    def synchronize(self) -> None:
        """Do nothing: ``record`` has waited."""

    def query(self) -> bool:
        """Return whether the work up to the moment is done."""
        return True

    def elapsed_time(self, other_event: Event) -> float:
        """Return the milliseconds from this moment to another.

        Args:
            other_event: the later moment.

        Raises:
            RuntimeError: one of them does not record time.
        """
        if not (self._timed and other_event._timed):
            raise RuntimeError("For 'Event.elapsed_time', both events must be made with enable_timing=True")
        return (other_event._at - self._at) * 1000


class StreamCtx:
    """Sends the work inside the block to a stream; there is only one.

    Args:
        ctx_stream: a Stream or None.

    Raises:
        TypeError: the wrong type.
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
    """Return the one stream."""
    return _stream


default_stream = communication_stream = current_stream


def set_cur_stream(stream: Stream | None) -> None:
    """Set a stream as the current one; there is only one.

    Args:
        stream: a Stream or None.

    Raises:
        TypeError: the wrong type.
    """
    StreamCtx(stream)


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Store the settings of the memory pool; NumPy and CuPy have their own.

    Args:
        init_size: the initial size of the pool, such as "2GB".
        increase_size: the increment of its size.
        max_size: the maximum size.
        optimize_level: "O0" or "O1".
        huge_page_reserve_size: the size of its huge pages.
    """
    settings["memory"] = dict(locals())


def launch_blocking() -> None:
    """Store the request that each call waits for its work; on the CPU it does."""
    settings["launch_blocking"] = True


def dispatch_threads_num(threads_num: int) -> None:
    """Store the number of dispatch threads; here dispatch runs in the caller's thread.

    Args:
        threads_num: the number, an int.

    Raises:
        TypeError: not an int.
    """
    settings["dispatch_threads_num"] = check_int(threads_num, "dispatch_threads_num", "threads_num", show=repr)


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: list[str] | None = None,
    module_to_cpu_dict: dict[str, Any] | None = None,
    bind_file: str | None = None,
) -> None:
    """Store the request for thread affinity.

    Args:
        enable_affinity: whether threads should be bound to cores.
        affinity_cpu_list: the cores, as texts such as "0-9".
        module_to_cpu_dict: the cores of each module by name.
        bind_file: a file with both.
    """
    settings["cpu_affinity"] = dict(locals())


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """Store the mode in which kernels of graphs are launched; a warning says that a plan calls them one by one.

    Args:
        thread_num: the number of threads.
        kernel_group_num: the number of groups.

    Raises:
        TypeError: not an int.
    """
    request = {"thread_num": thread_num, "kernel_group_num": kernel_group_num}
    for name, value in request.items():
        check_int(value, "set_kernel_launch_group", name)
    settings["kernel_launch_group"] = request
    _tell("set_kernel_launch_group")


def set_kernel_launch_capture(enable_capture_graph: bool, op_capture_skip: list[str] | None = None) -> None:
    """Store the request to capture graphs of kernels; a warning says that a plan calls them one by one.

    Args:
        enable_capture_graph: whether to capture them.
        op_capture_skip: names of operators to exclude.

    Raises:
        TypeError: ``enable_capture_graph`` is not a bool.
    """
    check_bool(enable_capture_graph, "set_kernel_launch_capture", "enable_capture_graph")
    settings["kernel_launch_capture"] = {
        "enable_capture_graph": enable_capture_graph,
        "op_capture_skip": op_capture_skip,
    }
    if enable_capture_graph:
        _tell("set_kernel_launch_capture")


def _tell(caller: str) -> None:
    warnings.warn(f"'{caller}' has no effect here: a plan calls its kernels one after the other", stacklevel=3)


__getattr__ = on_first_use(__name__)
