"""Check and time every Triton kernel, loops of plans and whole training steps on this machine's GPU.

    python -m benchmarks gpu_check
    python benchmarks/gpu_check.py [--size N] [--dtypes bfloat16,float16,float32] [--networks mlp,lenet] [--seed N]

The result of a kernel on fresh numbers, in memory that was full of NaN, is compared with the operator's own kernel in
float64. Times are by CUDA's events, medians over calls between which the cache is flushed. Further columns are the
share of the bandwidth of a copy (for products, of the rate of cuBLAS in the same dtype), CuPy's time, and if PyTorch is
installed its times, eager and compiled. Networks train in float32 and in bfloat16 with mixed precision. The results are
printed and saved in ``build/gpu_check.json``. A table of the products at which cuBLAS is faster than our kernel is
saved in the user's cache folder, where later programs read it. The status is 1 if a check failed, and 0, with one line,
on a machine without a GPU.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.compile import plans_of
from hookscope.engine.tensors.operator import OPERATORS
from hookscope.triton_kernels import Kernel, kernels, plan_for, probe
from hookscope.triton_kernels.launch import choice

try:
    from . import gpu_cases, gpu_networks
except ImportError:  # run as a script
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import gpu_cases  # type: ignore[import-not-found, no-redef, unused-ignore]
    import gpu_networks  # type: ignore[import-not-found, no-redef, unused-ignore]

PATH = Path(__file__).resolve().parent.parent / "build" / "gpu_check.json"
DTYPES = {"bfloat16": np.dtype(ml_dtypes.bfloat16), "float16": np.dtype(np.float16), "float32": np.dtype(np.float32)}
# Rounding of one result, and in float32 of intermediate sums.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
FLUSHED_BYTES = 256 << 20  # more than the second-level cache of any GPU up to the H200

Row = dict[str, Any]


class Clock:
    """Times by the device's events.

    Args:
        cupy: the library.
        repeats: the number of calls of which the median is taken.
        flushed_bytes: the bytes written between two calls, so that no call finds its inputs in the cache.
    """

    def __init__(self, cupy: Any, repeats: int, flushed_bytes: int) -> None:
        self.cupy, self.repeats = cupy, repeats
        self._flushed = cupy.empty((flushed_bytes,), np.uint8)

    def microseconds(self, call: Callable[[], object]) -> float:
        """Return the median of a call's times."""
        call()  # compiles on first use
        events = [(self.cupy.cuda.Event(), self.cupy.cuda.Event()) for _ in range(self.repeats)]
        for begin, end in events:
            self._flushed.fill(0)
            begin.record()
            call()
            end.record()
        events[-1][1].synchronize()
        return statistics.median([1e3 * self.cupy.cuda.get_elapsed_time(*pair) for pair in events])


def tuple_of(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def largest_error(got: Any, want: Any) -> float:
    """Return the largest error of one result or a tuple, relative to 1 + |want|; infinite if only one is NaN."""
    errors = []
    for g, w in zip(tuple_of(got), tuple_of(want), strict=True):
        if g is None or w is None or g.size == w.size == 0:
            continue
        ours, reference = g.astype("float64"), w.astype("float64")
        if bool(((ours != ours) != (reference != reference)).any()):
            return float("inf")
        difference = abs(ours - reference) / (1 + abs(reference))
        errors.append(
            float(difference[difference == difference].max()) if bool((reference == reference).any()) else 0.0
        )
    return max(errors, default=0.0)


def in_float64(value: Any) -> Any:
    is_float = hasattr(value, "dtype") and (value.dtype.kind == "f" or value.dtype in DTYPES.values())
    return value.astype("float64") if is_float else value


def poison(cupy: Any, sizes: list[int]) -> None:
    """Fill the blocks that the pool returns next for these sizes with set bits, which are NaN in each float dtype."""
    blocks = [cupy.empty((size,), np.uint8) for size in sizes]
    for block in blocks:
        block.fill(0xFF)


def kernel_of(name: str) -> Kernel:
    """Return an operator's entry; for products the kernel itself, even if cuBLAS is chosen for them."""
    if name != "matmul":
        return kernels()[name]
    from hookscope.triton_kernels import matmul

    return Kernel(matmul.product)


def check_kernels(cupy: Any, clock: Clock, name: str, size: int, seed: int, torch: Any) -> Iterator[Row]:
    """Compare and time each case of a dtype; yield its row."""
    copied, product = copy_rate(cupy, clock), cublas_rate(cupy, clock, DTYPES[name], size)
    for case in gpu_cases.cases(cupy, DTYPES[name], size, seed):
        row: Row = {"operator": case.title, "name": case.name, "dtype": name}
        plan = plan_for(f"{case.name} by its kernel", kernel_of(case.name), case.inputs, case.attrs)
        if plan is None:
            yield {**row, "wrong": "its kernel does not take this"}
            continue
        outputs = tuple_of(plan(*case.inputs, **case.attrs))
        sizes = [x.nbytes for x in outputs if x is not None]
        del outputs
        poison(cupy, sizes)
        got = plan(*case.inputs, **case.attrs)
        want = OPERATORS[case.name].kernel(*map(in_float64, case.inputs), **case.attrs)
        row["error"] = largest_error(got, want)
        if not row["error"] <= TOLERANCE[name]:
            row["wrong"] = f"off by {row['error']:.1e}"
        row["us"] = clock.microseconds(lambda: plan(*case.inputs, **case.attrs))  # noqa: B023
        row["CuPy us"] = clock.microseconds(lambda: in_cupy(cupy, case))  # noqa: B023
        if case.operations:
            row["share"] = case.operations / row["us"] / product
        else:
            row["share"] = (sum(sizes) + case.input_bytes) / row["us"] / copied
        yield row | (in_torch(torch, clock, case, name) if torch is not None else {})


def in_cupy(cupy: Any, case: gpu_cases.Case) -> Any:
    kernel = OPERATORS[case.name].kernel
    of_numpy = isinstance(kernel, np.ufunc) or getattr(kernel, "__module__", "") == "numpy"
    return (getattr(cupy, kernel.__name__) if of_numpy else kernel)(*case.inputs, **case.attrs)


def in_torch(torch: Any, clock: Clock, case: gpu_cases.Case, dtype: str) -> Row:
    """Return the times of PyTorch's counterpart, eager and compiled; empty if it has no single function for it."""
    function = gpu_cases.TORCH.get(case.name)
    if function is None:
        return {}
    arguments = [
        x
        if not hasattr(x, "dtype")
        else torch.randn(x.shape, device="cuda", dtype=getattr(torch, dtype))
        if x.dtype in DTYPES.values()
        else torch.zeros(x.shape, device="cuda", dtype=torch.int64)
        for x in case.inputs
    ]
    calls = {"PyTorch us": partial(function, torch), "compiled us": torch.compile(partial(function, torch))}
    return {way: clock.microseconds(lambda call=call: call(*arguments, **case.attrs)) for way, call in calls.items()}


def copy_rate(cupy: Any, clock: Clock) -> float:
    """Return the bytes read and written a microsecond by a copy of memory that no cache holds."""
    source, target = cupy.empty((FLUSHED_BYTES,), np.uint8), cupy.empty((FLUSHED_BYTES,), np.uint8)
    return 2.0 * FLUSHED_BYTES / clock.microseconds(lambda: cupy.copyto(target, source))


def cublas_rate(cupy: Any, clock: Clock, dtype: Any, size: int) -> float:
    """Return the multiplications and additions a microsecond by cuBLAS, for matrices of this dtype and size."""
    a, b = (cupy.asarray(np.ones((size, size), np.float32).astype(dtype)) for _ in range(2))
    return 2.0 * size**3 / clock.microseconds(lambda: cupy.matmul(a, b))


def chain(x: Tensor, y: Tensor, row: Tensor) -> Tensor:
    return ops.gelu(x * y + row) * ops.sigmoid(x) - ops.maximum(y, row)


def means(x: Tensor, y: Tensor, row: Tensor) -> Any:
    h = ops.exp(ops.tanh(x) * 0.5) * y + row
    return h, h.mean(0), h.mean(1), h.mean()


def way_back(x: Tensor, y: Tensor, row: Tensor) -> Any:
    return ms.value_and_grad(lambda x, y, row: (ops.tanh(x * y) + ops.silu(x) * row).mean(), (0, 1, 2))(x, y, row)


def arrays_in(result: Any) -> tuple[Any, ...]:
    if isinstance(result, tuple):
        return tuple([array for part in result for array in arrays_in(part)])
    return (result._array,)


def check_loops(clock: Clock, name: str, size: int, seed: int) -> Iterator[Row]:
    """Yield the error of some functions in plans with loops, and the times of a call, planned and eager."""
    random = np.random.default_rng(seed)
    numbers = [random.standard_normal(shape).astype(np.float32) for shape in ((size, size), (size, size), (size,))]
    numbers = [x.astype(DTYPES[name]) for x in numbers]
    inputs, inputs64 = [Tensor(x) for x in numbers], [Tensor(x.astype(np.float64)) for x in numbers]
    for function in (chain, means, way_back):
        compiled = ms.jit(function, jit_level="O1", fullgraph=True)
        for _ in range(6):
            result = compiled(*inputs)
        row: Row = {"operator": function.__name__, "dtype": name}
        if not any("loop" in source for plan in plans_of(compiled) for source in plan.sources):
            row["wrong"] = "its plan does not contain a loop"
        row["error"] = largest_error(arrays_in(result), arrays_in(function(*inputs64)))
        if not row["error"] <= TOLERANCE[name]:
            row["wrong"] = f"off by {row['error']:.1e}"
        row["us"] = clock.microseconds(lambda: compiled(*inputs))  # noqa: B023
        yield {**row, "eager us": clock.microseconds(lambda: function(*inputs))}  # noqa: B023


def check_steps(clock: Clock, networks: list[str], torch: Any) -> Iterator[Row]:
    """Check that training steps have the losses of the CPU but for rounding; yield a row for each."""
    for name in networks:
        for dtype in ("float32", "bfloat16"):
            row: Row = {"operator": f"{name} step", "dtype": dtype}
            losses, step = gpu_networks.trained(name, dtype, "GPU")
            losses_on_cpu, _ = gpu_networks.trained(name, dtype, "CPU")
            row["error"] = max([abs(a - b) / (1 + abs(b)) for a, b in zip(losses, losses_on_cpu, strict=True)])
            if not row["error"] <= gpu_networks.TOLERANCE[dtype]:
                row["wrong"] = f"losses {losses}, and on the CPU {losses_on_cpu}"
            row["us"] = clock.microseconds(step)
            if torch is not None:
                for way, wrap in (("PyTorch us", None), ("compiled us", torch.compile)):
                    row[way] = clock.microseconds(gpu_networks.in_torch(name, dtype, wrap))
            yield row


COLUMNS = ("error", "us", "share", "CuPy us", "eager us", "PyTorch us", "compiled us")


def say(row: Row) -> None:
    """Print one line of the table."""
    cells = []
    for column in COLUMNS:
        value = row.get(column)
        text = (
            ""
            if value is None
            else f"{value:.1e}"
            if column == "error"
            else (f"{value:.0%}" if column == "share" else f"{value:.1f}")
        )
        cells.append(f"{text:>12}")
    print(f"{row['operator']:36}{row['dtype']:10}{''.join(cells)}", flush=True)


def torch_with_a_gpu() -> ModuleType | None:
    """Return PyTorch, if it is installed and sees the GPU."""
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=8192, help="rows and columns of the matrices (8192)")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="in this order (bfloat16 first)")
    parser.add_argument("--networks", default=",".join(gpu_networks.NAMES), help="whose steps are timed")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32, help="of the numbers; another each time")
    parser.add_argument("--repeats", type=int, default=20, help="calls whose median is taken")
    parser.add_argument("--flushed-bytes", type=int, default=FLUSHED_BYTES, help="written between two calls")
    parser.add_argument("--out", type=Path, default=PATH, help="the JSON file")
    options = parser.parse_args(arguments)
    result = probe()
    if result.mode in ("none", "cupy"):
        print(f"no GPU kernels to check here: {result.reason}")
        return 0

    import cupy  # type: ignore[import-not-found, unused-ignore]  # installed where there is a GPU

    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())["name"].decode()
    versions = ", ".join([f"{library} {version}" for library, version in sorted(result.versions.items())])
    print(f"{name}; {versions}; {result.reason}; seed {options.seed}")
    torch, clock = torch_with_a_gpu(), Clock(cupy, options.repeats, options.flushed_bytes)
    before = ms.get_context("device_target")
    ms.set_device("GPU")
    rows: list[Row] = []
    print(f"{'operator':36}{'dtype':10}{''.join([f'{column:>12}' for column in COLUMNS])}")
    for dtype in options.dtypes.split(","):
        for row in check_kernels(cupy, clock, dtype, options.size, options.seed, torch):
            rows.append(row)
            say(row)
        for row in check_loops(clock, dtype, options.size, options.seed):
            rows.append(row)
            say(row)
    for row in check_steps(clock, [name for name in options.networks.split(",") if name], torch):
        rows.append(row)
        say(row)
    ms.set_device(before)
    table = choice.measure(cupy, lambda call: clock.microseconds(call) / 1e6, choice.SIZES)
    print(f"products, by cuBLAS or by our kernel: {table}")
    # Kernels of any number of arrays, such as optimizers' steps, are not operators; networks' steps run them.
    unseen = (kernels().keys() & OPERATORS.keys()) - {row.get("name") for row in rows}
    wrong = [f"{row['operator']} {row['dtype']}: {row['wrong']}" for row in rows if "wrong" in row]
    wrong += [f"{kernel} has no case" for kernel in sorted(unseen)]
    rates = {"copy GB/s": copy_rate(cupy, clock) / 1e3}
    rates |= {
        f"cuBLAS {dtype} TFLOP/s": cublas_rate(cupy, clock, DTYPES[dtype], options.size) / 1e6
        for dtype in options.dtypes.split(",")
    }
    for label, rate in rates.items():
        print(f"{label}: {rate:.1f}")
    about = {"device": name, "versions": result.versions, "seed": options.seed, "size": options.size, "rates": rates}
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps({**about, "rows": rows, "wrong": wrong}, indent=1) + "\n")
    for line in wrong:
        print("WRONG:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
