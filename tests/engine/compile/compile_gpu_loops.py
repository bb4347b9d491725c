"""Loops compiled for one GPU, without one; prints results as JSON. Usage: compile_gpu_loops.py CAPABILITY (80, 90).

Run by test_gpu_loops.py in a process of its own. The loops have every scalar expression of the table, in each dtype,
and sums over each kind of axes, in one part and in several.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import ml_dtypes
import numpy as np
import triton

import hookscope.engine.nn
from hookscope.engine.compile.graph import FusedLoop, Store, Value
from hookscope.engine.compile.loops.gpu_loops import planned
from hookscope.engine.compile.loops.scalar_programs import Program, UnsupportedScalar
from hookscope.engine.tensors.operator import OPERATORS
from hookscope.triton_kernels.launch import drivers
from tests import strict_device

assert hookscope.engine.nn  # which fills the table

cupy = sys.modules["cupy"] = strict_device.make()["cupy"]
DTYPES = [
    np.dtype(kind)
    for kind in (np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint8, bool)
]
ATTRIBUTES = [
    {"approximate": "none", "dtype": np.dtype(np.float32)},
    {"approximate": "tanh", "dtype": np.dtype(bool)},
    {"approximate": "tanh", "dtype": np.dtype(np.float16)},
]


def node_of(shape: tuple[int, ...], program: Program, dtypes: list[Any], varies: Any, stores: list[Store]) -> FusedLoop:
    inputs = tuple(
        [
            Value(tuple([n for n, yes in zip(shape, some, strict=True) if yes]), dtype)
            for dtype, some in zip(dtypes, varies, strict=True)
        ]
    )
    outputs = []
    for store in stores:
        kept_axes = tuple([n for axis, n in enumerate(shape) if axis not in (store.axes or ())])
        outputs.append(Value(kept_axes, program.dtype(store.step)))
    return FusedLoop(shape, tuple(program.steps), inputs, tuple(map(tuple, varies)), tuple(outputs), tuple(stores))


found: dict[str, Any] = {"kernels": 0, "contracted": 0}


def run(node: FusedLoop) -> None:
    """Compile the loop, and count its kernels."""
    for step in planned(node, [cupy.empty(value.shape, value.dtype) for value in node.inputs]).steps:
        assert step.compiled.metadata.target.arch == int(sys.argv[1])
        assert step.compiled.asm["cubin"]
        found["kernels"] += 1
        found["contracted"] += "fma." in step.compiled.asm["ptx"]


def expressions(dtype: Any) -> list[str]:
    """Compile the operators of the table that take a dtype, twenty in a loop; return their names."""
    names = []
    for first in {dtype, np.dtype(bool)}:
        program, stores = Program(), []
        x, y, z = (program.add("input", item, index) for index, item in enumerate((first, dtype, dtype)))
        for name, operator in sorted(OPERATORS.items()):
            for attrs in ATTRIBUTES if operator.scalar else ():
                for result in {dtype, *map(np.dtype, (bool, np.float32, np.float16, np.float64))}:
                    try:
                        stores.append(Store(program.apply(operator.scalar, (x, y, z), attrs, result)))
                    except (UnsupportedScalar, KeyError):
                        continue
                    names.append(name)
        for position in range(0, len(stores), 20):
            run(node_of((4096,), program, [first, dtype, dtype], [(True,)] * 3, stores[position : position + 20]))
    return sorted(set(names))


def sums(dtype: Any) -> None:
    shapes = [(300, 7, 50), (2, 100003), (100003, 3), (40, 40, 40)]
    for shape in shapes:
        everywhere = tuple(range(len(shape)))
        program = Program()
        x, y = (program.add("input", dtype, index) for index in range(2))
        step = program.apply("x * y + 1", [x, y], {}, dtype)
        stores = [Store(step), Store(step, everywhere, dtype.name != "int64")]
        stores += [Store(step, (axis,)) for axis in everywhere] + [Store(step, everywhere[1:])]
        if dtype.name != "int64":
            stores += [Store(step, (axis,), False, kind) for axis in everywhere for kind in ("max", "min")]
        varies = [(True,) * len(shape), (False,) * (len(shape) - 1) + (True,)]
        run(node_of(shape, program, [dtype] * 2, varies, stores))


def main() -> None:
    triton.runtime.driver.set_active(drivers.CompileOnlyDriver(int(sys.argv[1])))
    found["expressions"] = {dtype.name: expressions(dtype) for dtype in DTYPES}
    found["contracted"] = 0  # functions of libdevice have products that are
    for dtype in (*DTYPES[:4], DTYPES[5]):
        sums(dtype)
    print(json.dumps(found))


main()
