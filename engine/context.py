"""Settings of MindSpore's context: the mode, the device, and settings for a graph compiler."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from .base.argument_checks import check_bool, check_positive_int
from .base.modes import set_graph_mode, set_level
from .base.module_names import on_first_use
from .tape.hooks import bprop_forward_hooks, set_bprop_forward_hooks
from .tensors.backend import device_target, set_device
from .tensors.dtype_names import COMPATIBLE, LAX, STRICT

if TYPE_CHECKING:
    from .nn.cell import Cell

__all__ = [
    "GRAPH_MODE",
    "PYNATIVE_MODE",
    "get_context",
    "get_current_device",
    "set_context",
    "set_deterministic",
    "set_dump",
    "set_ps_context",
    "set_recursion_limit",
]

GRAPH_MODE = 0
PYNATIVE_MODE = 1


class _StoredSetting(NamedTuple):
    """A setting of MindSpore's graph compiler or of other devices: stored and readable, without effect on eager
    runs."""

    types: type | tuple[type, ...]
    default: Any
    allowed: tuple[Any, ...] | range | None = None


_NOT_NEGATIVE = range(2**31)
_settings: dict[str, Any] = {"mode": PYNATIVE_MODE}
_STORED_SETTINGS = {
    "ascend_config": _StoredSetting(dict, {}),
    "aoe_config": _StoredSetting(dict, {}),
    "aoe_tune_mode": _StoredSetting(str, ""),
    "check_bprop": _StoredSetting(bool, False),
    "compile_cache_path": _StoredSetting(str, ""),
    "debug_level": _StoredSetting(int, 0, (0, 1)),
    "deterministic": _StoredSetting(str, "OFF", ("ON", "OFF")),
    "device_id": _StoredSetting(int, 0, range(4096)),
    "disable_format_transform": _StoredSetting(bool, False),
    "enable_compile_cache": _StoredSetting(bool, None),
    "enable_dump": _StoredSetting(bool, None),
    "enable_graph_kernel": _StoredSetting(bool, False),
    "enable_reduce_precision": _StoredSetting(bool, True),
    "env_config_path": _StoredSetting(str, ""),
    "exec_order": _StoredSetting(str, "bfs", ("bfs", "dfs")),
    "gpu_config": _StoredSetting(dict, {}),
    "graph_kernel_flags": _StoredSetting(str, ""),
    "inter_op_parallel_num": _StoredSetting(int, 0, _NOT_NEGATIVE),
    "jit_config": _StoredSetting(dict, {}),
    "jit_level": _StoredSetting(str, "", ("", "O0", "O1", "O2")),
    "jit_syntax_level": _StoredSetting(int, LAX, (STRICT, COMPATIBLE, LAX)),
    "max_call_depth": _StoredSetting(int, 1000, range(1, 2**31)),
    "max_device_memory": _StoredSetting(str, "1024GB"),
    "memory_optimize_level": _StoredSetting(str, "O0", ("O0", "O1")),
    "mempool_block_size": _StoredSetting(str, "1GB"),
    "op_timeout": _StoredSetting(int, 900, _NOT_NEGATIVE),
    "print_file_path": _StoredSetting(str, ""),
    "pynative_synchronize": _StoredSetting(bool, False),
    "reserve_class_name_in_scope": _StoredSetting(bool, True),
    "runtime_num_threads": _StoredSetting(int, 0, _NOT_NEGATIVE),
    "save_graphs": _StoredSetting((bool, int), 0, range(4)),
    "save_graphs_path": _StoredSetting(str, "."),
    "support_binary": _StoredSetting(bool, False),
    "variable_memory_max_size": _StoredSetting(str, "0"),
}
_REMOVED = {"precompile_only": "set MS_DEV_PRECOMPILE_ONLY", "grad_for_scalar": "differentiate by a Tensor"}


_PLANS = "hookscope.engine.compile.plans_of shows the plans"
_JOINS = "jit_level='O1' joins operators to loops"
_ONCE = "each process makes its plans anew"
_IDLE = {
    "check_bprop": "the debugger compares a bprop with the automatic gradient",
    "enable_compile_cache": _ONCE,
    "compile_cache_path": _ONCE,
    "enable_graph_kernel": _JOINS,
    "exec_order": "operators run in the order of the code",
    "graph_kernel_flags": _JOINS,
    "jit_syntax_level": "jit(fullgraph=True) makes graph breaks errors",
    "print_file_path": "ops.Print writes to the screen",
    "save_graphs": _PLANS,
    "save_graphs_path": _PLANS,
}
"""Settings of graph mode that have no effect, and their replacements."""
_JIT_CONFIG = {"jit_level": ("O0", "O1", "O2"), "infer_boost": ("on", "off")}


def _check_jit_config(config: dict[str, Any]) -> None:
    for name, value in config.items():
        if name not in _JIT_CONFIG:
            raise ValueError(f"For 'set_context', 'jit_config' must have keys of {list(_JIT_CONFIG)}, but got {name!r}")
        if value not in _JIT_CONFIG[name]:
            allowed = list(_JIT_CONFIG[name])
            raise ValueError(f"For 'set_context', '{name}' of 'jit_config' must be one of {allowed}, but got {value!r}")


def _follow(key: str, value: Any) -> None:
    """Apply a setting of graph mode, or warn that it has no effect."""
    if key == "jit_config":
        if value.get("infer_boost") == "on":
            _tell("infer_boost", "it is for other devices")
        if "jit_level" not in value:
            return
        key, value = "jit_level", value["jit_level"]
        _settings[key] = value
    if key == "jit_level":
        if value == "O2":
            _tell("jit_level='O2'", "it is for other devices, and plans are those of 'O0'")
        set_level("O1" if value == "O1" else "O0")
    elif key in _IDLE and value != _STORED_SETTINGS[key].default:
        _tell(key, _IDLE[key])


def _tell(subject: str, instead: str) -> None:
    warnings.warn(f"For 'set_context', {subject} has no effect here: {instead}", stacklevel=4)


def _check_stored(key: str, value: Any) -> None:
    """Raise MindSpore's class of error for a value that it refuses."""
    setting = _STORED_SETTINGS[key]
    if not isinstance(value, setting.types):
        kinds = setting.types if isinstance(setting.types, tuple) else (setting.types,)
        raise TypeError(
            f"For 'set_context', '{key}' must be {' or '.join(t.__name__ for t in kinds)}, "
            f"but got {type(value).__name__}"
        )
    if setting.allowed is not None and value not in setting.allowed:
        allowed = setting.allowed
        if isinstance(allowed, range):
            last = "on" if allowed.stop == 2**31 else f"to {allowed.stop - 1}"
            choices = f"from {allowed.start} {last}"
        else:
            choices = f"one of {list(allowed)}"
        raise ValueError(f"For 'set_context', '{key}' must be {choices}, but got {value!r}")


def set_context(**kwargs: Any) -> None:
    """Change settings.

    Args:
        **kwargs: ``mode``: PYNATIVE_MODE, or GRAPH_MODE, in which calls of cells and of gradient functions run by plans
            (docs/graph_mode.md); ``device_target``: "CPU" or "GPU", see ``set_device``; ``jit_level``, also as
            ``jit_config={"jit_level": "O1"}``: "O1" lets plans fuse operators unless ``jit`` or ``Cell.set_jit_config``
            sets a level; ``bprop_forward_hooks``, which is specific to Hookscope: False skips forward hooks of cells
            with a ``bprop``, as in MindSpore. Other settings of the graph compiler and of other devices are stored and
            readable; for those of graph mode without an effect, a warning names the alternative.

    Raises:
        TypeError: a value of a different type than the setting's.
        ValueError: an unknown or obsolete setting, or a value that is not allowed.
    """
    for key, value in kwargs.items():
        if key == "mode":
            if not isinstance(value, int):
                raise TypeError(f"For 'set_context', 'mode' must be an int, but got {type(value).__name__}")
            if value not in (GRAPH_MODE, PYNATIVE_MODE):
                raise ValueError(
                    f"For 'set_context', 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {value!r}"
                )
            _settings["mode"] = int(value)
            set_graph_mode(value == GRAPH_MODE)
        elif key == "device_target":
            set_device(value)
        elif key == "bprop_forward_hooks":
            check_bool(value, "set_context", key)
            set_bprop_forward_hooks(value)
        elif key in _STORED_SETTINGS:
            _check_stored(key, value)
            if key == "jit_config":
                _check_jit_config(value)
            _settings[key] = value
            _follow(key, value)
        elif key in _REMOVED:
            raise ValueError(f"For 'set_context', MindSpore 2.10 has no setting '{key}' any more: {_REMOVED[key]}")
        else:
            raise ValueError(f"For 'set_context', there is no setting '{key}'")


def get_context(attr_key: str) -> Any:
    """Return the value of a setting, by default MindSpore's.

    Args:
        attr_key: the name of the setting, such as "mode".

    Raises:
        TypeError: ``attr_key`` is not a str.
        ValueError: an unknown setting.
    """
    if not isinstance(attr_key, str):
        raise TypeError(f"For 'get_context', 'attr_key' must be a str, but got {type(attr_key).__name__}")
    if attr_key == "device_target":
        return device_target()
    if attr_key == "bprop_forward_hooks":
        return bprop_forward_hooks()
    if attr_key in _settings:
        return _settings[attr_key]
    if attr_key in _STORED_SETTINGS:
        return _STORED_SETTINGS[attr_key].default
    raise ValueError(f"For 'get_context', there is no setting '{attr_key}'")


class _Device(NamedTuple):
    device_target: str
    device_id: int

    def __repr__(self) -> str:
        return repr(tuple(self))


def get_current_device() -> _Device:
    """Return the device of new tensors: a named tuple of ``device_target`` and ``device_id``."""
    return _Device(device_target(), int(get_context("device_id") or 0))


def set_deterministic(deterministic: bool) -> None:
    """Store the request for reproducible bits; on the CPU it always holds.

    Args:
        deterministic: whether to request it.

    Raises:
        TypeError: not a bool.
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"For 'set_deterministic', 'deterministic' must be a bool, got {type(deterministic).__name__}")
    set_context(deterministic="ON" if deterministic else "OFF")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Store the maximum call depth of a graph compiler; Python's own limit is in ``sys``.

    Args:
        recursion_limit: the depth, an int above 0.

    Raises:
        TypeError: not an int.
        ValueError: an int below 1.
    """
    check_positive_int(recursion_limit, "set_recursion_limit", "recursion_limit", show=repr)
    set_context(max_call_depth=recursion_limit)


def set_ps_context(**kwargs: Any) -> None:
    """Accept ``enable_ps=False`` and reject other settings, since parameter servers need a cluster.

    Args:
        **kwargs: ``enable_ps=False``, or nothing.

    Raises:
        NotImplementedError: ``enable_ps=True``, or a setting for a cluster.
        TypeError: ``enable_ps`` is not a bool.
    """
    enabled = kwargs.pop("enable_ps", False)
    if not isinstance(enabled, bool):
        raise TypeError(f"For 'set_ps_context', 'enable_ps' must be a bool, but got {type(enabled).__name__}")
    if enabled or kwargs:
        raise NotImplementedError(
            "mindspore.set_ps_context is not covered by hookscope: it is for a cluster; here there is one process"
        )


def set_dump(target: Cell, enabled: bool = True) -> None:
    """Mark a cell and its children for a dump; use the debugger to see their values.

    Args:
        target: a cell.
        enabled: False removes the mark.

    Raises:
        ValueError: ``target`` is not a Cell, or ``enabled`` is not a bool, as in MindSpore.
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
        )
    },
)
