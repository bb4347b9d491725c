"""Devices, and the choice of the kernel for an operator by the location of its arrays.

NumPy array: the operator's kernel (NumPy, ``engine/cpu``). CuPy array: the Triton kernel of the operator's name if
its dtypes and shapes qualify, otherwise the operator's kernel on CuPy. Without CuPy, without a GPU, or after a failed
self-test everything runs on the CPU, and the reason is kept for ``device_report``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..base import deferred_checks
from ..tape.tape import state

if TYPE_CHECKING:
    from .operator import Operator

__all__ = [
    "DeviceReport",
    "device_report",
    "device_target",
    "is_array",
    "kernel_for",
    "many_at_once",
    "moved",
    "runs_triton",
    "set_device",
    "to_device",
    "to_host",
]


def is_array(value: object) -> bool:
    """Return whether a value is an array of either device."""
    if isinstance(value, np.ndarray | np.generic):
        return True
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def kernel_for(operator: Operator, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Callable[..., Any]:
    """Return the kernel for these inputs, if the first of them is not a NumPy array."""
    cupy = sys.modules.get("cupy")
    if cupy is None or not any(isinstance(x, cupy.ndarray) for x in inputs):
        return operator.kernel
    kernels = _triton_kernels()
    if kernels is not None:
        kernel = kernels.get(operator.name)
        if kernel is not None and (plan := _plan_for(operator.name, kernel, inputs, attrs)) is not None:
            return cast(Callable[..., Any], plan.run)
    if _is_numpy_function(operator.kernel):
        return getattr(cupy, operator.kernel.__name__)
    return operator.kernel


def _is_numpy_function(kernel: Callable[..., Any]) -> bool:
    return isinstance(kernel, np.ufunc) or getattr(kernel, "__module__", "") == "numpy"


_UNKNOWN = object()
_kernels: Any = _UNKNOWN
_plan_for: Any = None


def _triton_kernels() -> dict[str, Any] | None:
    """Return the Triton kernels by operator name, or None if Triton does not run; determined once."""
    global _kernels, _plan_for
    if _kernels is _UNKNOWN:
        from ... import triton_kernels

        _plan_for = triton_kernels.plan_for
        _kernels = triton_kernels.kernels() if triton_kernels.probe().mode == "triton" else None
    return _kernels


def many_at_once() -> Any:
    """Return the kernels for many arrays in one launch (``triton_kernels.updates``); None if Triton does not run."""
    if _triton_kernels() is None:
        return None
    from ...triton_kernels import updates

    return updates


def runs_triton() -> bool:
    """Return whether Triton kernels compute with arrays on the GPU."""
    return _triton_kernels() is not None


_device = "CPU"
_device_reason = "the default"


def device_target() -> str:
    """Return the device of new tensors.

    Returns:
        "CPU" or "GPU".
    """
    return _device


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Set the device of new tensors: CPU or GPU.

    Args:
        device_target: "CPU" or "GPU", in any case; "auto" is the GPU if there is one.
        device_id: number of the GPU.

    Raises:
        TypeError: ``device_target`` is not a str.
        ValueError: an unknown target, or a negative ``device_id``; the text says what is allowed.
        RuntimeError: "GPU" without a GPU, and "Ascend"; the text says why.
    """
    global _device, _device_reason
    if not isinstance(device_target, str):
        raise TypeError(f"For 'set_device', 'device_target' must be 'CPU' or 'GPU', but got {device_target!r}")
    if device_id is not None and device_id < 0:
        raise ValueError(f"For 'set_device', 'device_id' must be at least 0, but got {device_id}")
    target = device_target.upper()
    if target in ("ASCEND", "DAVINCI"):
        raise RuntimeError(f"For 'set_device', {device_target!r} cannot be used: it has no kernels; use 'CPU'")
    if target not in ("CPU", "GPU", "AUTO"):
        raise ValueError(f"For 'set_device', 'device_target' must be 'CPU' or 'GPU', but got {device_target!r}")
    if target == "CPU":
        _device, _device_reason = "CPU", "chosen by the user"
        return
    reason = _gpu_obstacle()
    if reason and target == "AUTO":
        _device, _device_reason = "CPU", reason
        return
    cupy = _cupy("set_device")
    if device_id is not None:
        cupy.cuda.Device(device_id).use()
    _device, _device_reason = "GPU", "chosen by the user"


def _gpu_obstacle() -> str:
    """Return the reason why no GPU can be used, "" if one can."""
    from ... import triton_kernels

    probe = triton_kernels.probe()
    return "" if probe.mode in ("triton", "cupy") else probe.reason


def _cupy(caller: str) -> Any:
    if reason := _gpu_obstacle():
        raise RuntimeError(f"For '{caller}', the GPU cannot be used: {reason}; use 'CPU'")
    import cupy

    return cupy


def choose_from_environment() -> None:
    """Set the device that HOOKSCOPE_DEVICE (cpu, gpu or auto) names, if it is set."""
    target = os.environ.get("HOOKSCOPE_DEVICE")
    if target:
        set_device(target)


def to_host(array: Any) -> Any:
    """Return the array as a NumPy array (the same object if it is one)."""
    if state.tracer is not None and type(array) is np.ndarray:
        state.tracer.leak("an array is used that no operator computed from the inputs")
    if type(array) is np.ndarray or isinstance(array, np.generic):
        return array
    if isinstance(array, np.ndarray):
        return array.copy()  # the copy notifies the tracer
    host = array.get()
    if deferred_checks.pending_checks:
        deferred_checks.run_deferred_checks()
    return host


def moved(array: Any, to: str, caller: str) -> Any:
    """Return the array on a device, the same object if it is there.

    Args:
        array: a NumPy or CuPy array.
        to: "CPU" or "GPU".
        caller: the function that the user called, for the error.

    Raises:
        RuntimeError: "GPU" without a GPU; the text says why.
    """
    return to_host(array) if to == "CPU" else _cupy(caller).asarray(array)


def to_device(array: Any) -> Any:
    """Return a new array of the user's data, on the device of new tensors."""
    if _device == "CPU":
        return array
    import cupy

    return cupy.asarray(array)


@dataclass(frozen=True)
class DeviceReport:
    """Devices and kernels in use, with reasons; ``str(report)`` is a short table; ``kernels`` has each operator's."""

    device: str
    reason: str
    gpu: str
    gpu_reason: str
    versions: dict[str, str] = field(default_factory=dict)
    kernels: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        rows = [
            ("new tensors", f"{self.device} ({self.reason})"),
            ("GPU", f"{self.gpu} ({self.gpu_reason})"),
            *((name, version) for name, version in sorted(self.versions.items())),
            ("operators", ", ".join(f"{len(names)} by {location}" for location, names in self.operators().items())),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)

    __repr__ = __str__

    def operators(self) -> dict[str, list[str]]:
        """Return the names of the operators by the location of their kernels."""
        by_location: dict[str, list[str]] = {}
        for name, location in sorted(self.kernels.items(), key=lambda pair: (pair[1], pair[0])):
            by_location.setdefault(location, []).append(name)
        return by_location


def device_report() -> DeviceReport:
    """Return the device of new tensors, whether a GPU runs and if not why, and the kernel of each operator."""
    from ... import triton_kernels
    from .operator import OPERATORS

    probe = triton_kernels.probe()
    with_triton = set(triton_kernels.kernels()) if probe.mode == "triton" else set()
    by_mode = {"triton": "CuPy", "cupy": "CuPy"}
    default = by_mode.get(probe.mode, "NumPy")
    return DeviceReport(
        device=_device,
        reason=_device_reason,
        gpu={"triton": "Triton kernels", "cupy": "CuPy only"}.get(probe.mode, "none"),
        gpu_reason=probe.reason,
        versions={"numpy": np.__version__, **probe.versions},
        kernels={name: "Triton" if name in with_triton else default for name in OPERATORS},
    )
