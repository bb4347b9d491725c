"""Environment variables that make this machine compute like an older processor of its kind.

    env $(python scripts/other_processor.py) python -m pytest ...

BLAS, Numba's machine code and NumPy's loops choose their instructions, and so their order of summation, by the
processor: last bits differ from one processor to another. The printed variables make all three use instructions that
this machine has but does not choose by itself.
"""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable
from typing import NamedTuple


class Processor(NamedTuple):
    """An older processor.

    Attributes:
        has: the feature, in LLVM's name, that makes a machine choose newer instructions by default; "" for none.
        blas: OpenBLAS's name.
        numba: LLVM's name.
        numpy_lacks: prefixes of NumPy's instruction sets that it lacks.
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
        machine: the kind of the processor, as ``platform.machine()`` names it; an unknown one gets Numba's generic code
            of its kind.
        features: the features of the processor, in LLVM's names.
        dispatched: the instruction sets that NumPy has loops for and detects here.
    """
    for processor in _OLDER.get(machine, ()):
        if not processor.has or processor.has in features:
            lacks = ",".join(name for name in dispatched if name.startswith(processor.numpy_lacks))
            return {
                "OPENBLAS_CORETYPE": processor.blas,
                "NUMBA_CPU_NAME": processor.numba,
                "NUMBA_CPU_FEATURES": "",  # those of the named processor; else Numba adds those of this machine
                **({"NPY_DISABLE_CPU_FEATURES": lacks} if lacks else {}),
            }
    return {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def main() -> None:
    """Print the variables for this machine."""
    import numpy as np
    from llvmlite import binding

    config = np.show_config(mode="dicts") or {}
    features = [name for name, available in binding.get_host_cpu_features().items() if available]
    dispatched = config.get("SIMD Extensions", {}).get("found", ())
    for name, text in variables(platform.machine(), features, dispatched).items():
        print(f"{name}={text}")


if __name__ == "__main__":
    main()
