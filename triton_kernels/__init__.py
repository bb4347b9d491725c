"""GPU kernels in Triton on CuPy arrays, without PyTorch.

`probe()` returns, once, whether the kernels can run here and why; `kernels()` returns every kernel by the name of its
operator. `plan_for()` returns its plan for given arrays, or None if it does not support them: then a caller uses CuPy.
`generated()` makes a kernel from source text of an engine, and a `Planner` launches it.

Each file contains one family of kernels, in its `KERNELS`; `launch` plans and launches them, and `library` has their
shared parts. This package imports Triton and CuPy on use only, and nothing of the engine: files of the same names in
the engine's `cpu` have the same signatures on NumPy.
`TRITON_INTERPRET=1`, set before Triton is imported, runs the same kernels on NumPy arrays in Triton's interpreter, as
the tests do.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from pkgutil import iter_modules
from typing import Any

from hookscope.triton_kernels.launch.launcher import is_long, next_power_of_2
from hookscope.triton_kernels.launch.plans import Kernel, Operand, Plan, Planner, as_input, plan_for
from hookscope.triton_kernels.launch.probe import Probe, probe
from hookscope.triton_kernels.launch.strides import merge_axes

__all__ = [
    "Kernel",
    "Operand",
    "Plan",
    "Planner",
    "Probe",
    "add_parts",
    "as_input",
    "generated",
    "is_long",
    "kernels",
    "merge_axes",
    "next_power_of_2",
    "plan_for",
    "probe",
]


@functools.cache
def kernels() -> Mapping[str, Kernel]:
    """Return every kernel by the name of its operator; imports Triton."""
    return {
        name: kernel
        for family in sorted(module.name for module in iter_modules(__path__) if not module.ispkg)
        for name, kernel in importlib.import_module(f"{__name__}.{family}").KERNELS.items()
    }


def generated(text: str, name: str) -> Any:
    """Return the kernel that a text defines, one for each name; imports Triton."""
    from hookscope.triton_kernels.library import generated_kernels

    return generated_kernels.generated(text, name)


def add_parts(call: Planner, parts: Operand, out: Operand, count: int, extreme: str = "") -> None:
    """Sum the rows of a matrix into `out`, in a fixed order, or compute their extreme; see `generated_kernels`."""
    from hookscope.triton_kernels.library import generated_kernels

    generated_kernels.add_parts(call, parts, out, count, extreme)
