"""Settings that MindSpore keeps in its context: the mode, the device, and what only a graph compiler reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .core.backend import device_target, set_device
from .core.checks import check_positive_int
from .core.names import on_first_use

if TYPE_CHECKING:
    from .nn.cell import Cell

__all__ = [
    "GRAPH_MODE", "PYNATIVE_MODE", "get_context", "get_current_device", "set_context", "set_deterministic", "set_dump",
    "set_recursion_limit",
]  # fmt: skip

GRAPH_MODE = 0
PYNATIVE_MODE = 1

_settings: dict[str, Any] = {"mode": PYNATIVE_MODE, "device_id": 0}
# Settings of MindSpore's graph compiler and of other devices: kept and readable, without effect on eager execution.
_KEPT = frozenset(
    (
        "deterministic", "enable_graph_kernel", "enable_reduce_precision", "grad_for_scalar", "graph_kernel_flags",
        "jit_config", "jit_level", "jit_syntax_level", "max_call_depth", "max_device_memory", "memory_optimize_level",
        "mempool_block_size", "op_timeout", "precompile_only", "print_file_path", "pynative_synchronize",
        "runtime_num_threads", "save_graphs", "save_graphs_path", "variable_memory_max_size", "enable_compile_cache",
        "compile_cache_path", "inter_op_parallel_num", "reserve_class_name_in_scope", "ascend_config", "gpu_config",
        "exec_order", "debug_level", "enable_dump", "check_bprop", "env_config_path", "device_id",
    )
)  # fmt: skip


def set_context(**kwargs: Any) -> None:
    """Change settings.

    Args:
        **kwargs: ``mode``: PYNATIVE_MODE, or GRAPH_MODE, which is kept and runs eagerly here; ``device_target``: "CPU"
            or "GPU", see ``set_device``; settings of the graph compiler and of other devices are kept and readable.

    Raises:
        ValueError: a setting that does not exist, or a value that is not allowed.
    """
    for key, value in kwargs.items():
        if key == "mode":
            if value not in (GRAPH_MODE, PYNATIVE_MODE):
                raise ValueError(
                    f"For 'set_context', 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {value!r}"
                )
            _settings["mode"] = value
        elif key == "device_target":
            set_device(value)
        elif key in _KEPT:
            _settings[key] = value
        else:
            raise ValueError(f"For 'set_context', there is no setting '{key}'")


def get_context(attr_key: str) -> Any:
    """The value of a setting; None for one that was never set.

    Args:
        attr_key: the name of the setting, such as "mode".

    Raises:
        ValueError: a setting that does not exist.
    """
    if attr_key == "device_target":
        return device_target()
    if attr_key in _settings:
        return _settings[attr_key]
    if attr_key in _KEPT:
        return None
    raise ValueError(f"For 'get_context', there is no setting '{attr_key}'")


class _Device(NamedTuple):
    device_target: str
    device_id: int

    def __repr__(self) -> str:
        return repr(tuple(self))


def get_current_device() -> _Device:
    """Where new tensors are put: a named tuple of ``device_target`` and ``device_id``."""
    return _Device(device_target(), int(get_context("device_id") or 0))


def set_deterministic(deterministic: bool) -> None:
    """Keep the wish for the same bits in each run: on the CPU it holds anyway.

    Args:
        deterministic: whether it is wished.

    Raises:
        TypeError: no bool.
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"For 'set_deterministic', 'deterministic' must be a bool, got {type(deterministic).__name__}")
    set_context(deterministic="ON" if deterministic else "OFF")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Keep how deep a graph compiler may follow calls; Python's own limit is in ``sys``.

    Args:
        recursion_limit: the depth, an int above 0.

    Raises:
        TypeError: no int.
        ValueError: an int below 1.
    """
    check_positive_int(recursion_limit, "set_recursion_limit", "recursion_limit", show=repr)
    set_context(max_call_depth=recursion_limit)


def set_dump(target: Cell, enabled: bool = True) -> None:
    """Mark a cell and its children for a dump; look at their values with the debugger.

    Args:
        target: a cell.
        enabled: False takes the mark off.

    Raises:
        ValueError: ``target`` is no Cell, or ``enabled`` no bool, as in MindSpore.
    """
    if not hasattr(target, "cells_and_names"):
        raise ValueError(f"For 'set_dump', 'target' must be a Cell, but got {type(target).__name__}")
    if not isinstance(enabled, bool):
        raise ValueError(f"For 'set_dump', 'enabled' must be a bool, but got {type(enabled).__name__}")
    for _, cell in target.cells_and_names():
        cell.__dict__["_dump"] = enabled


__getattr__ = on_first_use(
    __name__,
    names={
        **dict.fromkeys(
            ("ParallelMode", "get_auto_parallel_context", "reset_auto_parallel_context", "set_auto_parallel_context"),
            "parallel",
        ),
        **dict.fromkeys(("COMPATIBLE", "LAX", "STRICT"), "core.dtype_names"),
    },
)
