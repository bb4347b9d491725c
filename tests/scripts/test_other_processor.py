"""The second kernel type of `make other-processor`: one that the machine has, and does not choose by itself."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.other_processor import variables

ZEN_4 = ("avx", "avx2", "fma", "avx512f")
PRINTS = """
import numba, numpy as np, threadpoolctl

@numba.njit
def total(x):
    made = 0
    for one in x:
        made += one * one
    return made

total(np.arange(8))
assembly = "".join(total.inspect_asm().values())
pools = [pool for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
print(*[pool["architecture"].lower() for pool in pools], "zmm" in assembly)
"""


@pytest.mark.parametrize(
    ("machine", "features", "dispatched", "expected"),
    [
        ("x86_64", ZEN_4, ("X86_V3", "X86_V4", "AVX512_ICL"), ("HASWELL", "haswell", "X86_V4,AVX512_ICL")),
        ("x86_64", ZEN_4[:3], ("X86_V3",), ("SANDYBRIDGE", "sandybridge", "X86_V3")),  # Zen 3, Haswell
        ("AMD64", ZEN_4[:1], (), ("NEHALEM", "nehalem", None)),
        ("x86_64", ZEN_4[:3], ("AVX", "AVX2", "FMA3"), ("SANDYBRIDGE", "sandybridge", "AVX2,FMA3")),  # NumPy 2.3
        ("aarch64", ("neon", "sve"), ("ASIMDHP", "SVE"), ("ARMV8", "generic", "ASIMDHP,SVE")),
        ("riscv64", (), (), (None, "generic", None)),
    ],
)
def test_it_is_an_older_one_of_the_machines_kind(
    machine: str, features: tuple[str, ...], dispatched: tuple[str, ...], expected: tuple[str | None, ...]
) -> None:
    settings = variables(machine, features, dispatched)
    names = ("OPENBLAS_CORETYPE", "NUMBA_CPU_NAME", "NPY_DISABLE_CPU_FEATURES")
    assert tuple(settings.get(name) for name in names) == expected
    assert settings["NUMBA_CPU_FEATURES"] == ""


def test_what_it_prints_is_what_this_machine_then_computes_with(repository: Path) -> None:
    plain = {name: text for name, text in os.environ.items() if not name.startswith(("OPENBLAS_CORE", "N"))}

    def output_of(*command: str, **added: str) -> list[str]:
        result = subprocess.run(
            [sys.executable, *command], env=plain | added, capture_output=True, text=True, check=True, timeout=240
        )
        assert not result.stderr
        return result.stdout.split()

    chosen = dict(line.split("=") for line in output_of(str(repository / "scripts" / "other_processor.py")))
    assert chosen
    *blas, wide = output_of("-c", PRINTS, **chosen)
    if platform.machine() in ("x86_64", "AMD64"):
        assert set(blas) <= {chosen["OPENBLAS_CORETYPE"].lower()}
    assert wide == "False"
