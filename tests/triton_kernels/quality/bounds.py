"""Cases of kernels and bounds on what the compiler makes of them, as data; nothing here imports Triton.

The bounds of a kernel follow from how many of its programs are meant to be resident on a multiprocessor at once. Its
65,536 registers and its shared memory are shared by those, so that with B programs of T threads a thread has at most
65,536 / (T * B) registers (whole warps get them by 256, a thread by 8, and never more than 255), and a program
1/B of the shared memory, less 1 KiB that the system takes of each.
(NVIDIA, "CUDA C++ Programming Guide", table "Technical Specifications per Compute Capability".)
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CAPABILITIES = (80, 90)
REGISTERS = 65536
THREADS = 2048
SHARED = {80: 164 * 1024, 90: 228 * 1024}
# The maximum of one program. Code for 8.0 also runs on 8.6 and 8.9, which have less than it.
SHARED_OF_ONE = {80: 99 * 1024, 90: 227 * 1024}


@dataclass(frozen=True)
class Array:
    """Stand-in for a CuPy array in a plan, without memory.

    `strides` are in elements, by default those of C order; `offset` in bytes from an address that divides by 256.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    element_strides: tuple[int, ...] | None = None
    offset: int = 0

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        own = self.element_strides
        if own is None:
            own = tuple([math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim)])
        return tuple([stride * self.itemsize for stride in own])

    @property
    def _c_contiguous(self) -> bool:
        return self.element_strides is None

    @property
    def data(self) -> Address:
        return Address(256 + self.offset)


@dataclass(frozen=True)
class Address:
    ptr: int


@dataclass(frozen=True)
class Bounds:
    """Bounds of a kernel. No kernel may spill registers, or add into global memory in arbitrary order.

    Attributes:
        programs: so many are to be resident on a multiprocessor at once: the bound on registers and shared memory.
        load_bytes: of one read from global memory, by ld.global or cp.async; narrower ones count as `narrow_loads`.
        store_bytes: the same of a write.
        narrow_loads: so many narrower reads are allowed in the code, as of a row's mean or its label.
        narrow_stores: the same of writes.
        tensor_cores: the loop multiplies on them: "wgmma" by those of 9.0 where there are such, "mma" by either.
        copies: whether the loop's reads are copies into shared memory that go on meanwhile (cp.async or TMA).
        stages: how deep these are queued; 0 does not matter.
        stack: bytes of a thread's stack that a function of libdevice takes, as that of `pow`.
        wide_index: whether places in memory are worked out in 64 bits; None does not matter.
    """

    programs: int
    load_bytes: int = 16
    store_bytes: int = 16
    narrow_loads: int = 0
    narrow_stores: int = 0
    tensor_cores: str = ""
    copies: bool = False
    stages: int = 0
    stack: int = 0
    wide_index: bool | None = None

    def registers(self, warps: int) -> int:
        """Return the most that a thread may have."""
        return min(255, REGISTERS // (32 * warps * self.programs) // 8 * 8)

    def shared(self, capability: int) -> int:
        """Return the most bytes that a program may have."""
        return min(SHARED_OF_ONE[capability], SHARED[capability] // self.programs - 1024)


@dataclass(frozen=True)
class Case:
    """An operator's call, and the bounds of each kernel that it starts.

    Attributes:
        operator: of the engine's table, and of `kernels()`.
        inputs: `Array`s, Python numbers and None.
        attrs: the operator's.
        bounds: by the kernel's name; or one for whichever kernels it starts.
        note: tells the cases of one operator apart where their shapes do not.
        quick: whether it is compiled in every `make test`; the others are where CI is set.
        only: the one capability for which it is compiled; 0 means each.
    """

    operator: str
    inputs: tuple[Any, ...]
    bounds: Bounds | Mapping[str, Bounds]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    quick: bool = False
    only: int = 0

    def bounds_of(self, kernel: str) -> Bounds:
        return self.bounds if isinstance(self.bounds, Bounds) else self.bounds[kernel]

    @property
    def name(self) -> str:
        shapes = [x.shape for x in self.inputs if isinstance(x, Array)]
        dtype = max((x for x in self.inputs if isinstance(x, Array)), key=lambda x: x.size).dtype.name
        texts = [" ".join("x".join(map(str, shape)) or "()" for shape in shapes[:3]), dtype, self.note]
        return f"{self.operator} {', '.join(filter(None, texts))}"


def families() -> list[str]:
    return sorted(file.stem.removeprefix("family_") for file in Path(__file__).parent.glob("family_*.py"))


def cases(family: str) -> list[Case]:
    results: list[Case] = importlib.import_module(f".family_{family}", __package__).CASES
    return results
