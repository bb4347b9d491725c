"""``mindspore.parallel`` and the settings of many ranks, which are stored and can be read back.

``distributed.settings`` has the functions of the settings that have an effect.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from ..base.argument_checks import check_bool
from ..base.module_names import on_first_use
from ..distributed import settings

__all__ = [
    "ParallelMode",
    "get_algo_parameters",
    "get_auto_parallel_context",
    "reset_algo_parameters",
    "reset_auto_parallel_context",
    "set_algo_parameters",
    "set_auto_parallel_context",
]


class ParallelMode:
    """Names of the strategies to share work among devices."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST: ClassVar[list[str]] = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


_SEARCHES = ("recursive_programming", "sharding_propagation", "dynamic_programming")
_ALGO_DEFAULTS: dict[str, Any] = {
    "fully_use_devices": False,
    "elementwise_op_strategy_follow": False,
    "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1,
    "tensor_slice_align_enable": False,
    "tensor_slice_align_size": 16,
}
_WITHOUT_EFFECT = (
    "pipeline_stages",
    "grad_accumulation_step",
    "optimizer_weight_shard_size",
    "parallel_optimizer_config",
    "full_batch",
    "dataset_strategy",
)
_ALLOWED = {"parallel_mode": tuple(ParallelMode.MODE_LIST), "search_mode": _SEARCHES}
_algo: dict[str, Any] = dict(_ALGO_DEFAULTS)


def set_auto_parallel_context(**kwargs: Any) -> None:
    """Set how ranks share the work: ``parallel_mode="data_parallel"`` and its settings have an effect.

    With ``enable_parallel_optimizer=True`` optimizers that are created later are sharded over ranks. A setting without
    an effect, such as a mode that divides cells, is stored with a warning.

    Args:
        **kwargs: settings by name, such as ``parallel_mode``.

    Raises:
        TypeError: ``enable_parallel_optimizer`` is not a bool.
        ValueError: a setting that does not exist, or a value that is not allowed.
    """
    caller = "set_auto_parallel_context"
    check_bool(kwargs.get("enable_parallel_optimizer", False), caller, "enable_parallel_optimizer")
    _keep(caller, settings.values, kwargs)
    settings.set_names.update(kwargs)
    for name, value in kwargs.items():
        divides = name == "parallel_mode" and value in (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
        if divides or (name in _WITHOUT_EFFECT and value != settings.DEFAULTS[name]):
            setting = f"{name}={value!r}" if divides else name
            warnings.warn(f"{caller}: {setting} is kept and has no effect yet", stacklevel=2)


def get_auto_parallel_context(attr_key: str) -> Any:
    """Return a setting of ``set_auto_parallel_context``.

    Args:
        attr_key: its name, such as "parallel_mode".

    Raises:
        ValueError: an unknown setting.
    """
    if attr_key not in settings.values:
        raise ValueError(f"For 'get_auto_parallel_context', there is no setting '{attr_key}'")
    return settings.values[attr_key]


def reset_auto_parallel_context() -> None:
    """Reset all settings of ``set_auto_parallel_context``."""
    settings.reset()


def set_algo_parameters(**kwargs: Any) -> None:
    """Store settings of the search for a parallel strategy.

    Args:
        **kwargs: settings by name, such as ``fully_use_devices``.

    Raises:
        ValueError: an unknown setting.
    """
    _keep("set_algo_parameters", _algo, kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """Return a setting of the search for a parallel strategy.

    Args:
        attr_key: its name, such as "fully_use_devices".

    Raises:
        ValueError: an unknown setting.
    """
    if attr_key not in _algo:
        raise ValueError(f"For 'get_algo_parameters', there is no setting '{attr_key}'")
    return _algo[attr_key]


def reset_algo_parameters() -> None:
    """Reset all settings of that search."""
    _algo.update(_ALGO_DEFAULTS)


def _keep(caller: str, settings: dict[str, Any], values: dict[str, Any]) -> None:
    for key, value in values.items():
        if key not in settings:
            raise ValueError(f"For '{caller}', there is no setting '{key}'")
        if key in _ALLOWED and value not in _ALLOWED[key]:
            raise ValueError(f"For '{caller}', '{key}' must be one of {_ALLOWED[key]}, but got {value!r}")
    settings.update(values)


__getattr__ = on_first_use(__name__)
