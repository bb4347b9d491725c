"""GPU kernels in Triton over CuPy arrays, without PyTorch.

`probe()` tells, once, what runs here and why; `kernels()` gives every kernel by the name of its operator, and
`plan_for()` what it does with the arrays at hand, or None where it does not suit them: then a caller uses CuPy.
`generated()` makes a kernel of a text that an engine has written, and a `Planner` starts it.

One family of kernels a file, whose `KERNELS` is found. This package imports Triton and CuPy on use only, and nothing of
the engine: the files of the same names in the engine's `cpu` have the same signatures on NumPy. `TRITON_INTERPRET=1`,
set before Triton is imported, runs the same kernels on NumPy arrays in Triton's interpreter; the tests do that.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from pkgutil import iter_modules
from typing import Any

from hookscope.triton_kernels._launch import is_long, next_power_of_2
from hookscope.triton_kernels._plans import Kernel, Operand, Plan, Planner, as_given, plan_for
from hookscope.triton_kernels._probe import Probe, probe
from hookscope.triton_kernels._strides import merge_axes

__all__ = [
    "Kernel",
    "Operand",
    "Plan",
    "Planner",
    "Probe",
    "add_parts",
    "as_given",
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
    """Every kernel by the name of its operator; imports Triton."""
    return {
        name: kernel
        for family in sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))
        for name, kernel in importlib.import_module(f"{__name__}.{family}").KERNELS.items()
    }


def generated(text: str, name: str) -> Any:
    """The kernel that a text defines, one for each name; imports Triton."""
    from hookscope.triton_kernels import _generated

    return _generated.generated(text, name)


def add_parts(call: Planner, parts: Operand, out: Operand, count: int, extreme: str = "") -> None:
    """Add up the rows of a matrix into `out`, in one order, or find their extreme; see `_generated`."""
    from hookscope.triton_kernels import _generated

    _generated.add_parts(call, parts, out, count, extreme)
