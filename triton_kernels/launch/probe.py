"""Probe of the available execution modes, cached: Triton kernels on a GPU, CuPy alone, or none; with the reason."""

from __future__ import annotations

import functools
import importlib
import os
from dataclasses import dataclass, field
from types import ModuleType
from typing import Literal

Mode = Literal["triton", "cupy", "none", "interpreter"]

_OLDEST_CUPY = 14  # 13 has no bfloat16 arithmetic
# Below compute capability 8.0 there are neither bfloat16 nor TF32, which the kernels use.
_OLDEST_CAPABILITY = (8, 0)


@dataclass(frozen=True, slots=True)
class Probe:
    """The available mode, the reason in one sentence, and the versions of the installed libraries."""

    mode: Mode
    reason: str
    versions: dict[str, str] = field(default_factory=dict)


@functools.cache
def probe() -> Probe:
    """Check for CuPy, a GPU and a working Triton. HOOKSCOPE_TRITON=0 disables Triton.

    "triton" means that a kernel was compiled, launched and gave the right result; "cupy" that there is a GPU but no
    usable Triton; "none" that there is no usable GPU; "interpreter" that TRITON_INTERPRET=1 selects Triton's
    interpreter on NumPy arrays.
    """
    versions: dict[str, str] = {}
    if os.environ.get("TRITON_INTERPRET", "").lower() in ("1", "true", "yes", "on"):
        if (fault := _import("triton", versions)) is not None:
            return Probe("none", fault, versions)
        return Probe("interpreter", "TRITON_INTERPRET=1", versions)
    if (fault := _import("cupy", versions)) is not None:
        return Probe("none", fault, versions)
    cupy = importlib.import_module("cupy")
    if int(cupy.__version__.partition(".")[0]) < _OLDEST_CUPY:
        return Probe("none", f"CuPy {cupy.__version__} has no bfloat16; {_OLDEST_CUPY} or newer is needed", versions)
    if not cupy.cuda.is_available():
        return Probe("none", "CuPy finds no CUDA device", versions)
    if os.environ.get("HOOKSCOPE_TRITON", "1") == "0":
        return Probe("cupy", "HOOKSCOPE_TRITON=0", versions)
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
    capability = (properties["major"], properties["minor"])
    if capability < _OLDEST_CAPABILITY:
        version = ".".join(map(str, capability))
        return Probe("cupy", f"the GPU has compute capability {version}, and the kernels need 8.0", versions)
    if (fault := _import("triton", versions)) is not None:
        return Probe("cupy", fault, versions)
    if (fault := _self_test(cupy)) is not None:
        return Probe("cupy", fault, versions)
    return Probe("triton", "the self-test passed", versions)


def _import(name: str, versions: dict[str, str]) -> str | None:
    """Import a library and record its version; return the reason if that fails."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == name:
            return f"{name} is not installed"
        return f"{name} cannot be imported: {error}"
    except Exception as error:  # any exception of a broken installation means that it is unusable
        return f"{name} cannot be imported: {type(error).__name__}: {error}"
    versions[name] = str(module.__version__)
    return None


def _self_test(cupy: ModuleType) -> str | None:
    """Install the driver and run one kernel; return the reason if the result is wrong."""
    try:
        from triton.runtime import driver  # type: ignore[import-untyped]  # Triton ships no types

        from hookscope.triton_kernels.launch import drivers

        driver.set_active(drivers.make_cupy_driver(cupy))
        drivers.keep_torch_out()
        from hookscope.triton_kernels import elementwise
        from hookscope.triton_kernels.launch import plans

        x = cupy.arange(300, dtype=cupy.float32)
        plan = plans.plan_for("add", elementwise.KERNELS["add"], (x, x), {})
        is_correct = plan is not None and bool((plan(x, x) == 2 * x).all())
    except Exception as error:  # no compiler, no headers, an old GPU driver: different exceptions with the same meaning
        return f"Triton's self-test failed: {type(error).__name__}: {error}"
    return None if is_correct else "Triton's self-test gave a wrong result"
