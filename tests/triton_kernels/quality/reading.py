"""Properties of a case's compiled code, read from PTX and binary; compiling for a GPU does not need one.

The contents of a loop are read from PTX, where a loop is all that lies between a label and a jump back to it; registers
and stack are read from the binary, by the cuobjdump that Triton brings.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import triton

from hookscope.triton_kernels import Plan, kernels, plan_for
from hookscope.triton_kernels.launch import drivers, launcher, plans

from .bounds import REGISTERS, SHARED, THREADS, Bounds, Case

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


@dataclass
class Reading:
    """Properties of one compiled kernel of a case.

    Attributes:
        registers: of a thread.
        stack: bytes of local memory of a thread, to which registers spill.
        shared: bytes of a program.
        loads: reads from global memory in the code, by their bytes; copies into shared memory (cp.async) among them.
        stores: writes to it.
        atomics: reads that write.
        tensor_cores: the instructions of those in a loop: "mma", "wgmma".
        copies: what brings data to shared memory in a loop meanwhile: "cp.async", "tma".
        wide_index: whether the place of an element of a tile is worked out in 64 bits anywhere.
    """

    kernel: str
    capability: int
    warps: int
    stages: int
    registers: int
    stack: int
    shared: int
    loads: dict[int, int] = field(default_factory=dict)
    stores: dict[int, int] = field(default_factory=dict)
    atomics: int = 0
    tensor_cores: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    wide_index: bool = False

    @property
    def programs(self) -> int:
        """The number of programs that are resident on a multiprocessor at once."""
        own = math.ceil(self.registers / 8) * 8 * 32 * self.warps
        shared = SHARED[self.capability] // (self.shared + 1024)
        return min(REGISTERS // own, shared, THREADS // (32 * self.warps), 32)


def compiled_plan(case: Case, capability: int) -> Plan:
    """Return the plan of a case with its kernels compiled.

    Raises:
        ValueError: the operator's kernel does not suit the case.
    """
    triton.runtime.driver.set_active(drivers.CompileOnlyDriver(capability))
    plans._plans.clear()  # neither is kept by the GPU that Triton compiles for
    launcher._compiled.clear()
    plan = plan_for(case.operator, kernels()[case.operator], case.inputs, case.attrs)
    if plan is None:
        raise ValueError(f"the kernel does not suit its own case {case.name}")
    return plan


def readings(case: Case, capability: int) -> list[Reading]:
    """Return the compiled form of each kernel that a case starts, each once."""
    results = {id(step.compiled): step.compiled for step in compiled_plan(case, capability).steps}
    return [read(compiled, capability) for compiled in results.values()]


def read(compiled: Any, capability: int) -> Reading:
    """Return the properties of a compiled kernel."""
    metadata = compiled.metadata
    if metadata.target.arch != capability:
        raise AssertionError(f"compiled for {metadata.target.arch}, not {capability}")
    used = resources(compiled.asm["cubin"])
    reading = Reading(
        metadata.name,
        capability,
        metadata.num_warps,
        metadata.num_stages,
        used["REG"],
        used["STACK"] + used["LOCAL"],
        metadata.shared,
    )
    read_ptx(compiled.asm["ptx"], reading)
    reading.wide_index = re.search(r"tt\.addptr .*, tensor<[^!]*xi64>", compiled.asm["ttir"]) is not None
    return reading


def resources(cubin: bytes) -> dict[str, int]:
    """Return registers (REG), stack and local memory of a thread, and more, by cuobjdump's names."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(CUOBJDUMP), "--dump-resource-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in re.findall(r"(\w+):(\d+)", text)}


# ld.global.L1::evict_last.v4.b32, st.global.b16: how many, and how many bits each.
_ACCESS = re.compile(r"\b(ld|st)\.global(?:\.(?!v\d|[busf]\d)[\w:]+)*(?:\.v(\d))?\.[busf](\d+)\b")
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global\s+\[[^]]*\],\s*\[[^]]*\],\s*(0x[0-9a-f]+|\d+)")
_TMA = re.compile(r"\bcp\.async\.bulk\.")
_LABEL = re.compile(r"^(\$L__BB\w+):")
_JUMP = re.compile(r"\bbra(?:\.uni)?\s+(\$L__BB\w+);")


def read_ptx(ptx: str, reading: Reading) -> None:
    """Fill in what the instructions say."""
    lines = ptx.splitlines()
    loads, stores = Counter[int](), Counter[int]()
    inside = _in_loops(lines)
    for number, line in enumerate(lines):
        if access := _ACCESS.search(line):
            kind, count, bits = access.groups()
            (loads if kind == "ld" else stores)[int(count or 1) * int(bits) // 8] += 1
        elif copy := _COPY.search(line):
            loads[int(copy[1], 0)] += 1
        elif re.search(r"\b(atom|red)\.global\b", line):
            reading.atomics += 1
        if number in inside:
            for pattern, name, result in (
                (r"\bmma\.sync\b", "mma", reading.tensor_cores),
                (r"\bwgmma\.mma_async\b", "wgmma", reading.tensor_cores),
                (_COPY, "cp.async", reading.copies),
                (_TMA, "tma", reading.copies),
            ):
                if name not in result and re.search(pattern, line):
                    result.append(name)
    reading.loads, reading.stores = dict(sorted(loads.items())), dict(sorted(stores.items()))


def _in_loops(lines: list[str]) -> set[int]:
    """Return the numbers of the lines that a jump back repeats."""
    labels: dict[str, int] = {}
    inside: set[int] = set()
    for number, line in enumerate(lines):
        if label := _LABEL.match(line):
            labels[label[1]] = number
        elif (jump := _JUMP.search(line)) and jump[1] in labels:
            inside.update(range(labels[jump[1]], number))
    return inside


def broken(reading: Reading, bounds: Bounds) -> list[str]:
    """Return the bounds that a kernel does not hold, in words."""
    most_registers, most_shared = bounds.registers(reading.warps), bounds.shared(reading.capability)
    narrow_loads = sum(count for size, count in reading.loads.items() if size < bounds.load_bytes)
    narrow_stores = sum(count for size, count in reading.stores.items() if size < bounds.store_bytes)
    cores = {"": (), "mma": ("mma", "wgmma"), "wgmma": ("wgmma" if reading.capability == 90 else "mma",)}
    expected = cores[bounds.tensor_cores]
    checks = [
        (reading.stack <= bounds.stack, f"{reading.stack} bytes of stack: registers spill"),
        (reading.registers <= most_registers, f"{reading.registers} registers, not {most_registers}"),
        (reading.shared <= most_shared, f"{reading.shared} bytes of shared memory, not {most_shared}"),
        (narrow_loads <= bounds.narrow_loads, f"reads of {bounds.load_bytes} bytes, but {reading.loads}"),
        (narrow_stores <= bounds.narrow_stores, f"writes of {bounds.store_bytes} bytes, but {reading.stores}"),
        (reading.atomics == 0, f"{reading.atomics} atomic additions, whose order is not fixed"),
        (not expected or bool({*expected} & {*reading.tensor_cores}), f"no {expected} in a loop"),
        (not bounds.copies or bool(reading.copies), "no cp.async or TMA in a loop"),
        (not bounds.stages or reading.stages >= bounds.stages, f"{reading.stages} stages, not {bounds.stages}"),
        (bounds.wide_index in (None, reading.wide_index), f"wide_index is {reading.wide_index}"),
    ]
    return [message for held, message in checks if not held]
