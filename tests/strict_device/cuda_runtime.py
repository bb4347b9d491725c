"""``cupy.cuda``: one device whose work is done when it is given, with streams and events that say so."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

from . import arrays
from .counts import synchronized
from .memory import MemoryPointer, PinnedMemoryPointer, poisoned

__all__ = ["Device", "Event", "Stream", "make"]

MEMORY = 80 << 30


class Device:
    """The device; there is one, number 0."""

    __module__ = "cupy.cuda"

    def __init__(self, device: Any = 0) -> None:
        self.id = int(getattr(device, "id", 0 if device is None else device))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def __int__(self) -> int:
        return self.id

    def use(self) -> None:
        """Make it the current one, which it is."""

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        synchronized("Device.synchronize")

    @property
    def mem_info(self) -> tuple[int, int]:
        return MEMORY // 2, MEMORY


_moments = itertools.count(1)


class Event:
    """A moment of a stream, which is over; a millisecond lies between one that is recorded and the next."""

    __module__ = "cupy.cuda"
    done = True

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.time = 0

    def record(self, stream: Any = None) -> None:
        self.time = next(_moments)

    def synchronize(self) -> None:
        synchronized("Event.synchronize")


class Stream:
    """An order of work."""

    __module__ = "cupy.cuda"
    done = True

    def __init__(
        self, null: bool = False, non_blocking: bool = False, ptds: bool = False, priority: Any = None
    ) -> None:
        self.ptr = 0

    def record(self, event: Any = None) -> Event:
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        pass

    def synchronize(self) -> None:
        synchronized("Stream.synchronize")

    def use(self) -> Stream:
        return self

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Pool:
    """Pool that reports itself as empty; memory is NumPy's."""

    def used_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return 0

    def free_bytes(self) -> int:
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        pass


def make(capability: tuple[int, int], available: bool) -> dict[str, Any]:
    """Return the names of ``cupy.cuda``; those of its modules under "runtime" and "device"."""
    stream = Stream()
    properties = {
        "major": capability[0],
        "minor": capability[1],
        "name": b"strict device",
        "totalGlobalMem": MEMORY,
        "multiProcessorCount": 132,
        "maxThreadsPerMultiProcessor": 2048,
        "sharedMemPerBlockOptin": 232448,
        "warpSize": 32,
    }
    runtime = SimpleNamespace(
        getDevice=lambda: 0,
        getDeviceCount=lambda: int(available),
        getDeviceProperties=lambda device: dict(properties),
        memGetInfo=lambda: (MEMORY // 2, MEMORY),
        deviceSynchronize=lambda: synchronized("deviceSynchronize"),
        runtimeGetVersion=lambda: 13000,
        driverGetVersion=lambda: 13000,
    )
    return {
        "Device": Device,
        "Event": Event,
        "Stream": Stream,
        "MemoryPointer": MemoryPointer,
        "runtime": runtime,
        "device": SimpleNamespace(Device=Device, get_device_id=lambda: 0),
        "is_available": lambda: available,
        "get_current_stream": lambda: stream,
        "get_elapsed_time": lambda start, end: float(end.time - start.time),
        "alloc": lambda size: MemoryPointer(poisoned(max(size, 1), "u1")),
        "alloc_pinned_memory": PinnedMemoryPointer,
        "pool": _Pool(),
    }


arrays.device = Device()
