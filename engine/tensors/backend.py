"""Where an operator runs: decided by where its arrays live, here and nowhere else.

NumPy array: the operator's kernel (NumPy, ``engine/cpu``). CuPy array: the Triton kernel of the operator's name where
its dtypes and shapes qualify, otherwise the operator's kernel on CuPy. No CuPy, no GPU or a failed self-test mean CPU,
with the reason kept for ``device_report``.
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
    """Whether a value is an array of either device."""
    if isinstance(value, np.ndarray | np.generic):
        return True
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def kernel_for(operator: Operator, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Callable[..., Any]:
    """The kernel for these inputs, when the first of them is not a NumPy array."""
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
    """The Triton kernels by operator name, or None where Triton does not run; found out once."""
    global _kernels, _plan_for
    if _kernels is _UNKNOWN:
        from ... import triton_kernels

        _plan_for = triton_kernels.plan_for
        _kernels = triton_kernels.kernels() if triton_kernels.probe().mode == "triton" else None
    return _kernels


def many_at_once() -> Any:
    """The kernels that take many arrays in one launch (``triton_kernels.updates``); None where Triton does not run."""
    if _triton_kernels() is None:
        return None
    from ...triton_kernels import updates

    return updates


def runs_triton() -> bool:
    """Whether kernels of Triton's compute with arrays of the GPU."""
    return _triton_kernels() is not None


_device = "CPU"
_device_reason = "the default"


def device_target() -> str:
    """Where new tensors are put.

    Returns:
        "CPU" or "GPU".
    """
    return _device


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Put new tensors on the CPU or on the GPU from now on.

    Args:
        device_target: "CPU" or "GPU", in any case; "auto" takes the GPU where one runs.
        device_id: number of the GPU.

    Raises:
        TypeError: no text.
        ValueError: another target, or a negative ``device_id``; the text says what is allowed.
        RuntimeError: "GPU" where none runs, and "Ascend"; the text says why.
    """
    global _device, _device_reason
    if not isinstance(device_target, str):
        raise TypeError(f"For 'set_device', 'device_target' must be 'CPU' or 'GPU', but got {device_target!r}")
    if device_id is not None and device_id < 0:
        raise ValueError(f"For 'set_device', 'device_id' must be at least 0, but got {device_id}")
    wanted = device_target.upper()
    if wanted in ("ASCEND", "DAVINCI"):
        raise RuntimeError(f"For 'set_device', {device_target!r} cannot be used: it has no kernels; use 'CPU'")
    if wanted not in ("CPU", "GPU", "AUTO"):
        raise ValueError(f"For 'set_device', 'device_target' must be 'CPU' or 'GPU', but got {device_target!r}")
    if wanted == "CPU":
        _device, _device_reason = "CPU", "chosen by the user"
        return
    why_not = _why_no_gpu()
    if why_not and wanted == "AUTO":
        _device, _device_reason = "CPU", why_not
        return
    cupy = _cupy("set_device")
    if device_id is not None:
        cupy.cuda.Device(device_id).use()
    _device, _device_reason = "GPU", "chosen by the user"


def _why_no_gpu() -> str:
    """ "" where a GPU can be used."""
    from ... import triton_kernels

    found = triton_kernels.probe()
    return "" if found.mode in ("triton", "cupy") else found.reason


def _cupy(who: str) -> Any:
    if why_not := _why_no_gpu():
        raise RuntimeError(f"For '{who}', the GPU cannot be used: {why_not}; use 'CPU'")
    import cupy

    return cupy


def choose_from_environment() -> None:
    """Follow HOOKSCOPE_DEVICE (cpu, gpu or auto), if it is set."""
    wanted = os.environ.get("HOOKSCOPE_DEVICE")
    if wanted:
        set_device(wanted)


def to_host(array: Any) -> Any:
    """The array as a NumPy array (the same object if it is one)."""
    if state.tracer is not None and type(array) is np.ndarray:
        state.tracer.leak("an array is used that no operator of the table made of the inputs")
    if type(array) is np.ndarray or isinstance(array, np.generic):
        return array
    if isinstance(array, np.ndarray):
        return array.copy()  # who traces is told by the copy
    host = array.get()
    if deferred_checks.waiting:
        deferred_checks.ask()
    return host


def moved(array: Any, to: str, who: str) -> Any:
    """The array on a device, the same object if it is there.

    Args:
        array: a NumPy or CuPy array.
        to: "CPU" or "GPU".
        who: what the user called, for the error.

    Raises:
        RuntimeError: "GPU" where none runs; the text says why.
    """
    return to_host(array) if to == "CPU" else _cupy(who).asarray(array)


def to_device(array: Any) -> Any:
    """A new array of the user's data, where new tensors are put now."""
    if _device == "CPU":
        return array
    import cupy

    return cupy.asarray(array)


@dataclass(frozen=True)
class DeviceReport:
    """What runs where, and why; ``str(report)`` is a short table, and ``kernels`` has where each operator runs."""

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
            ("operators", ", ".join(f"{len(names)} by {place}" for place, names in self.operators().items())),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)

    __repr__ = __str__

    def operators(self) -> dict[str, list[str]]:
        """The names of the operators by where they run."""
        where: dict[str, list[str]] = {}
        for name, place in sorted(self.kernels.items(), key=lambda pair: (pair[1], pair[0])):
            where.setdefault(place, []).append(name)
        return where


def device_report() -> DeviceReport:
    """Which device new tensors are put on, whether a GPU runs and if not why, and where each operator runs."""
    from ... import triton_kernels
    from .operator import OPERATORS

    found = triton_kernels.probe()
    with_triton = set(triton_kernels.kernels()) if found.mode == "triton" else set()
    places = {"triton": "CuPy", "cupy": "CuPy"}
    elsewhere = places.get(found.mode, "NumPy")
    return DeviceReport(
        device=_device,
        reason=_device_reason,
        gpu={"triton": "Triton kernels", "cupy": "CuPy only"}.get(found.mode, "none"),
        gpu_reason=found.reason,
        versions={"numpy": np.__version__, **found.versions},
        kernels={name: "Triton" if name in with_triton else elsewhere for name in OPERATORS},
    )
