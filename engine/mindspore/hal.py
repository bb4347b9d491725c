"""``mindspore.hal``: devices, memory, streams and events, under the older name of ``mindspore.runtime``.

Memory functions take the kind of device here, which must be the current one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.argument_checks import check_type
from ..base.module_names import on_first_use
from ..tensors import backend
from . import runtime
from .runtime import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    device_count,
    empty_cache,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_initialized,
    set_cur_stream,
    synchronize,
)

__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "device_count",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_cur_stream",
    "synchronize",
]


def _of_device(function: Callable[[], Any]) -> Callable[..., Any]:
    """Wrap a function of ``runtime`` to take the kind of device."""
    name = function.__name__

    def of_device(device_target: str | None = None) -> Any:
        if device_target is not None:
            check_type(device_target, str, f"hal.{name}", "device_target", "a str or None")
            if device_target.upper() != backend.device_target().upper():
                raise ValueError(
                    f"For 'hal.{name}', 'device_target' must be the device in use, '{backend.device_target()}', "
                    f"but got {device_target!r}"
                )
        return function()

    of_device.__name__ = of_device.__qualname__ = name
    of_device.__doc__ = f"""{function.__doc__}

    Args:
        device_target: the kind of device, which must be the one in use; None is that.

    Returns:
        what ``runtime.{name}`` returns.

    Raises:
        TypeError: ``device_target`` is not a str.
        ValueError: a different kind of device than the one in use.
    """
    return of_device


memory_allocated = _of_device(runtime.memory_allocated)
memory_reserved = _of_device(runtime.memory_reserved)
memory_stats = _of_device(runtime.memory_stats)
memory_summary = _of_device(runtime.memory_summary)
max_memory_allocated = _of_device(runtime.max_memory_allocated)
max_memory_reserved = _of_device(runtime.max_memory_reserved)
reset_max_memory_allocated = _of_device(runtime.reset_max_memory_allocated)
reset_max_memory_reserved = _of_device(runtime.reset_max_memory_reserved)
reset_peak_memory_stats = _of_device(runtime.reset_peak_memory_stats)

__getattr__ = on_first_use(__name__)
