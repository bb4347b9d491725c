"""Environment variables with which this machine computes as an older processor of its kind does.

    env $(python scripts/other_processor.py) python -m pytest ...

BLAS, Numba's machine code and NumPy's loops choose their instructions by the processor, and so the order in which they
sum: last bits differ from one processor to another. What is printed makes all three take instructions that this machine
has and does not choose by itself.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable
from typing import NamedTuple


class Processor(NamedTuple):
    """An older processor.

    Attributes:
        has: what a machine must have to choose more than this one by itself, as LLVM names it; "" for nothing.
        blas: as OpenBLAS names it.
        numba: as LLVM names it.
        numpy_lacks: how those of NumPy's sets of instructions begin that it does not have.
    """

    has: str
    blas: str
    numba: str
    numpy_lacks: tuple[str, ...]


_X86 = (
    Processor("avx512f", "HASWELL", "haswell", ("AVX512", "X86_V4")),
    Processor("avx2", "SANDYBRIDGE", "sandybridge", ("AVX512", "X86_V4", "AVX2", "FMA3", "X86_V3")),
    Processor("", "NEHALEM", "nehalem", ("AVX", "X86_V4", "FMA3", "X86_V3")),
)
_ARM = (Processor("", "ARMV8", "generic", ("SVE", "ASIMD")),)
_OLDER = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}


def variables(machine: str, features: Collection[str], dispatched: Iterable[str]) -> dict[str, str]:
    """Return the variables, by name.

    Args:
        machine: the kind of the processor, as ``platform.machine()`` names it; one that is not known gets Numba's code
            for any processor of the kind.
        features: what the processor has, as LLVM names it.
        dispatched: the sets of instructions that NumPy has loops for and finds here.
    """
    for one in _OLDER.get(machine, ()):
        if not one.has or one.has in features:
            lacks = ",".join(name for name in dispatched if name.startswith(one.numpy_lacks))
            return {
                "OPENBLAS_CORETYPE": one.blas,
                "NUMBA_CPU_NAME": one.numba,
                "NUMBA_CPU_FEATURES": "",  # those of the name; else Numba adds those of this machine
                **({"NPY_DISABLE_CPU_FEATURES": lacks} if lacks else {}),
            }
    return {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def main() -> None:
    """Print the variables for this machine."""
    import numpy as np
    from llvmlite import binding

    found = np.show_config(mode="dicts") or {}
    features = [name for name, there in binding.get_host_cpu_features().items() if there]
    dispatched = found.get("SIMD Extensions", {}).get("found", ())
    for name, text in variables(platform.machine(), features, dispatched).items():
        print(f"{name}={text}")


if __name__ == "__main__":
    main()
