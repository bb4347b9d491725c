"""Compile every kernel in its default configuration for one GPU, without one; print what came out as JSON.

Usage: _compile_all.py CAPABILITY (80, 90). Run by test_compile.py in a process of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import triton

from hookscope.triton_kernels import _driver, _launch, elementwise, kernels
from tests import strict_device

cupy = sys.modules["cupy"] = strict_device.make()["cupy"]

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


def array(*shape: int, dtype: Any = np.float32) -> Any:
    # Never touched, so the system gives it no memory.
    return cupy.empty(shape, dtype)


def cases() -> list[tuple[str, tuple[Any, ...]]]:
    """(operator, arguments) at sizes where a kernel takes its largest tile, in float32 and bfloat16."""
    found: list[tuple[str, tuple[Any, ...]]] = []
    for dtype in (np.float32, ml_dtypes.bfloat16):
        x = array(4096, 4096, dtype=dtype)
        row, saved = array(4096, dtype=dtype), array(4096, 1)
        labels, losses = array(4096, dtype=np.int64), array(4096)
        wide = array(64, 16384, dtype=dtype)
        long, long_row, few = array(64, 40000, dtype=dtype), array(40000, dtype=dtype), array(64, 1)
        found += [
            ("add", (x, row)),
            ("gelu_grad", (x, x, "tanh")),
            *[("softmax", (rows, 1)) for rows in (x, wide, long)],
            ("softmax_grad", (x, x, 1)),
            ("softmax_grad", (long, long, 1)),
            ("log_softmax", (x, 0)),
            ("log_softmax_grad", (x, x, 1)),
            ("layer_norm", (x, row, row, 1, 1e-5)),
            ("layer_norm", (wide, wide[0], wide[0], 1, 1e-5)),
            ("layer_norm", (long, long_row, long_row, 1, 1e-5)),
            ("layer_norm_grad", (x, x, row, saved, saved, 1)),
            ("layer_norm_grad", (long, long, long_row, few, few, 1)),
            ("linear", (x, x, row, "gelu")),
            ("linear", (x, x, None, None)),
            ("matmul", (array(8, 4096, 512, dtype=dtype), array(512, 1000, dtype=dtype), False, False)),
            ("matmul", (x, array(4096, 4090, dtype=dtype), True, False)),
            ("dropout", (x, 0.1, 2**40 + 1, 0)),
            ("dropout_kept", (x, 0.1, 2**40 + 1, 0)),
            ("sparse_softmax_cross_entropy", (x, labels, -100)),
            ("sparse_softmax_cross_entropy", (long, labels[:64], -100)),
            ("sparse_softmax_cross_entropy_grad", (losses, x, labels, losses, -100)),
            ("adam", (x, x, x, x, 1e-3, 0.9, 0.999, 1e-8, True)),
        ]
    x = array(4096, 4096)
    found += [("gelu", (x, "none")), ("gelu_grad", (x, x, "none"))]
    covered = {name for name, _ in found}
    found += [(name, (x,)) for name in elementwise.UNARY if name not in covered]
    found += [(name, (x, x)) for name in elementwise.BINARY if name not in covered]
    return found


def resources(cubin: bytes) -> dict[str, int] | None:
    """Registers, stack and local memory of a thread; None where Triton bundles no cuobjdump."""
    if not CUOBJDUMP.exists():
        return None
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(CUOBJDUMP), "--dump-resource-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", text)}


def main() -> None:
    triton.runtime.driver.set_active(_driver.CompileOnlyDriver(int(sys.argv[1])))
    rows = []

    def record(compiled: Any, programs: int, stream: int, arguments: tuple[Any, ...]) -> None:
        rows.append(
            {
                "operator": name,
                "kernel": compiled.metadata.name,
                "target": compiled.metadata.target.arch,
                "ptx": len(compiled.asm["ptx"]),
                "cubin": len(compiled.asm["cubin"]),
                "shared": compiled.metadata.shared,
                "resources": resources(compiled.asm["cubin"]),
            }
        )

    _launch.start = record
    for name, arguments in cases():
        if not kernels()[name].qualifies(*arguments):
            raise AssertionError(f"{name} does not qualify for its own test case")
        kernels()[name].function(*arguments)
    print(json.dumps({"operators": sorted(kernels()), "rows": rows}))


main()
