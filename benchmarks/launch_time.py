"""Cost of starting a Triton kernel on the host, with a launcher that does nothing, so that no GPU is needed.

    python benchmarks/launch_time.py [--calls N] [--rounds N]

For some operators: one call by Triton's own dispatch, which derives the kernel's signature from its arguments, and one
by its plan, without and with the look-up of the plan; the allocation of outputs is not counted. If CuPy is installed,
the arrays are CuPy's, with invalid addresses; else stand-ins have the attributes of such arrays.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import triton

from hookscope.triton_kernels import kernels, plan_for
from hookscope.triton_kernels.launch import drivers

STREAM = SimpleNamespace(ptr=0)


class Launcher:
    """Replacement for Triton's launcher: both its C function and the Python around it do nothing."""

    launch = staticmethod("".format)  # a function in C that takes any arguments
    arg_annotations, kernel_signature = b"", b""
    global_scratch_size = profile_scratch_size = 0
    gsan_enabled = launch_cooperative_grid = launch_pdl = False

    def __init__(self, source: object, metadata: object) -> None:
        pass

    def __call__(self, *arguments: Any) -> None:
        self.launch(*arguments)


class Driver(drivers.CompileOnlyDriver):
    """Driver and loads nor starts a kernel."""

    launcher_cls = Launcher
    utils = SimpleNamespace(
        load_binary=lambda *arguments: (0, 0, 0, 0, 1024),
        get_device_properties=lambda device: {"max_shared_mem": 1 << 18},
    )


def stand_in() -> ModuleType:
    """Return a module with CuPy's attributes, for machines without CuPy."""

    class ndarray:  # noqa: N801  # CuPy's own name
        def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
            self.shape, self.dtype, self.ndim, self._c_contiguous = shape, np.dtype(dtype), len(shape), True
            self.itemsize, self.data = self.dtype.itemsize, SimpleNamespace(ptr=1 << 20)
            self.strides = tuple([int(np.prod(shape[axis + 1 :])) * self.itemsize for axis in range(self.ndim)])

    ndarray.__module__ = "cupy"
    cupy: Any = ModuleType("cupy")
    cupy.ndarray, cupy.make = ndarray, ndarray
    return cupy


def installed() -> Any:
    """Return CuPy with a ``make`` whose arrays have addresses but no memory."""
    import cupy  # type: ignore[import-not-found, unused-ignore]  # optional
    from cupy.cuda import memory  # type: ignore[import-not-found, unused-ignore]

    def make(shape: tuple[int, ...], dtype: Any) -> Any:
        pointer = memory.MemoryPointer(memory.UnownedMemory(1 << 20, 1 << 40, STREAM, 0), 0)
        return cupy.ndarray(shape, dtype, memptr=pointer)

    return SimpleNamespace(make=make, cuda=None)


class Own:
    """Wrapper of an array for Triton's dispatch."""

    def __init__(self, array: Any) -> None:
        self.address, self.dtype = array.data.ptr, array.dtype

    def data_ptr(self) -> int:
        return int(self.address)


def microseconds(call: Callable[[], object], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls * 1e6


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    triton.runtime.driver.set_active(Driver(90))
    drivers.keep_torch_out()
    try:
        cupy = installed()
        print("arrays: CuPy's")
    except ImportError:
        cupy = stand_in()
        print("arrays: a stand-in's, as CuPy is not installed")
    x, w, row = cupy.make((64, 512), np.float32), cupy.make((256, 512), np.float32), cupy.make((256,), np.float32)
    module: Any = ModuleType("cupy")
    module.cuda = SimpleNamespace(get_current_stream=lambda: STREAM, device=SimpleNamespace(get_device_id=lambda: 0))
    sys.modules["cupy"] = module
    cases: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
        "add of two arrays": ("add", (x, x), {}),
        "product with a number": ("mul", (x, 0.5), {}),
        "softmax": ("softmax", (x,), {"axis": 1}),
        "linear with bias and relu": ("linear", (x, w, row), {"activation": "relu"}),
    }
    print(f"{'microseconds of the host':28}{'Triton':>9}{'plan':>9}{'and look-up':>13}")
    figures: dict[str, dict[str, float]] = {}
    for case, (name, inputs, attrs) in cases.items():
        kernel = kernels()[name]
        out = cupy.make((64, 256 if name == "linear" else 512), np.float32)
        module.empty = lambda shape, dtype, out=out: out
        plan = plan_for(name, kernel, inputs, attrs)
        if plan is None:
            raise AssertionError(f"{name} has no plan")
        plan(*inputs, **attrs)
        (step,) = plan.steps
        arrays = [*inputs, plan(*inputs, **attrs)]
        buffers = [None if operand is None else Own(arrays[operand.index]) for operand in step.arrays]
        scalars = [scalar if isinstance(scalar, int | float) else 0.5 for scalar in step.scalars]
        calls = {
            "Triton": partial(step.kernel[(step.programs,)], *buffers, *scalars, **step.constants),
            "plan": partial(plan.run, *inputs, **attrs),
            "and look-up": lambda: plan_for(name, kernel, inputs, attrs).run(*inputs, **attrs),  # type: ignore[union-attr]  # noqa: B023
        }
        times: dict[str, list[float]] = {way: [] for way in calls}
        for _ in range(options.rounds):  # in turns, so that a disturbance affects all
            for way, call in calls.items():
                times[way].append(microseconds(call, options.calls))
        figures[case] = {way: min(some) for way, some in times.items()}
        print(f"{case:28}" + "".join([f"{figures[case][way]:{9 + 4 * (way == 'and look-up')}.2f}" for way in calls]))
    del sys.modules["cupy"]
    return figures


if __name__ == "__main__":
    main()
