"""Check and time every Triton kernel on this machine's GPU, beside the same operator in CuPy.

    python benchmarks/gpu_check.py [--size N]

Prints a row for each operator and dtype: the largest error relative to 1 + |reference|, where the reference
is computed by CuPy in float64, and the median time of a call in Triton and in CuPy. Then a row for each of some
functions at jit_level O1, whose operators are loops, beside the same function run eagerly. Ends with status 1 if an
error is larger than rounding explains, and with 0 and one line where there is no GPU.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.core.operator import OPERATORS
from hookscope.engine.cpu import cross_entropy, layer_norm, softmax
from hookscope.engine.graph import plans_of
from hookscope.triton_kernels import kernels, probe

# Rounding of one result, and in float32 of what is summed up on the way.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3}
REPEATS = 20

# What CuPy calls the elementwise operators; the others have their CuPy form in engine/cpu.
CUPY_NAMES = {
    **{"neg": "negative", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power"},
    **{name: name for name in ("exp", "log", "sqrt", "tanh", "abs", "square", "add", "maximum", "minimum")},
}

Case = tuple[str, tuple[Any, ...]]


def cases(cupy: Any, dtype: str, size: int) -> Iterator[Case]:
    """(operator, arguments) for every kernel, on matrices of `size` rows and columns."""
    random = cupy.random.RandomState(0)

    def normal(*shape: int) -> Any:
        return random.standard_normal(shape).astype(dtype)

    x, y, row = normal(size, size), normal(size, size), normal(size)
    positive = abs(x) + x.dtype.type(0.25)
    for name in ("neg", "exp", "tanh", "sigmoid", "relu", "silu", "abs", "square"):
        yield name, (x,)
    for name in ("log", "sqrt", "rsqrt"):
        yield name, (positive,)
    for name in ("add", "sub", "mul", "maximum", "minimum"):
        yield name, (x, y)
    yield "add", (x, row)
    yield "div", (x, positive)
    yield "pow", (positive, y)
    for name in ("relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad"):
        yield name, (x, y)
    for form in ("none", "tanh"):
        yield "gelu", (x, form)
        yield "gelu_grad", (x, y, form)
    for name in ("softmax", "log_softmax"):
        yield name, (x, 1)
        yield f"{name}_grad", (y, getattr(softmax, name)(x, 1), 1)
    yield "layer_norm", (x, row, row, 1, 1e-5)
    _, mean, rstd = layer_norm.layer_norm(x, row, row, 1, 1e-5)
    yield "layer_norm_grad", (y, x, row, mean, rstd, 1)
    scaled = (y / size**0.5).astype(dtype)  # so that products of rows stay near 1
    yield "matmul", (x, scaled, False, False)
    yield "matmul", (x, scaled, False, True)
    for activation in (None, "gelu"):
        yield "linear", (x, scaled, row, activation)
    yield "dropout", (x, 0.25, 42, 2**33)
    yield "dropout_kept", (x, 0.25, 42, 2**33)
    labels = cupy.arange(size) % size
    yield "sparse_softmax_cross_entropy", (x, labels, 0)
    _, lse = cross_entropy.sparse_softmax_cross_entropy(x, labels, 0)
    yield "sparse_softmax_cross_entropy_grad", (row, x, labels, lse, 0)
    yield "adam", (x, y, positive, y, 1e-3, 0.9, 0.999, 1e-8, False)


def in_cupy(cupy: Any, name: str) -> Callable[..., Any]:
    if name == "rsqrt":
        return lambda x: 1 / cupy.sqrt(x)
    function: Callable[..., Any] = getattr(cupy, CUPY_NAMES[name]) if name in CUPY_NAMES else OPERATORS[name].kernel
    return function


def in_float64(argument: Any) -> Any:
    is_float_array = hasattr(argument, "dtype") and argument.dtype.kind == "f"
    return argument.astype("float64") if is_float_array else argument


def largest_error(got: Any, want: Any) -> float:
    """Over one result or a tuple of them, relative to 1 + |want|; infinite where a NaN comes in."""
    pairs = zip(got, want, strict=True) if isinstance(got, tuple) else [(got, want)]
    errors = [float((abs(g.astype("float64") - w) / (1 + abs(w))).max()) for g, w in pairs]
    return max(error if error == error else float("inf") for error in errors)


def microseconds(cupy: Any, call: Callable[[], Any]) -> float:
    """Median time on the GPU, of calls that are queued one by one."""
    times: list[float] = []
    for _ in range(REPEATS):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) * 1e3)
    return statistics.median(times)


def chain(x: Tensor, y: Tensor, row: Tensor) -> Tensor:
    return ops.gelu(x * y + row) * ops.sigmoid(x) - ops.maximum(y, row)


def means(x: Tensor, y: Tensor, row: Tensor) -> Any:
    h = ops.exp(ops.tanh(x) * 0.5) * y + row
    return h, h.mean(0), h.mean(1), h.mean()


def way_back(x: Tensor, y: Tensor, row: Tensor) -> Any:
    return ms.value_and_grad(lambda x, y, row: (ops.tanh(x * y) + ops.silu(x) * row).mean(), (0, 1, 2))(x, y, row)


def arrays_in(found: Any) -> tuple[Any, ...]:
    if isinstance(found, tuple):
        return tuple([array for part in found for array in arrays_in(part)])
    return (found._array,)


def check_loops(cupy: Any, dtype: str, size: int) -> Iterator[tuple[str, float, float, float]]:
    """Of each function its name, its error, and the times of a call by its plan and eagerly."""
    random = np.random.default_rng(0)
    numbers = [random.standard_normal(shape).astype(dtype) for shape in ((size, size), (size, size), (size,))]
    given, wide = ([Tensor(x.astype(kind)) for x in numbers] for kind in (dtype, "float64"))
    for function in (chain, means, way_back):
        compiled = ms.jit(function, jit_level="O1", fullgraph=True)
        for _ in range(6):
            found = compiled(*given)
        if not any("loop" in source for plan in plans_of(compiled) for source in plan.sources):
            raise AssertionError(f"{function.__name__} has no loop")
        error = largest_error(arrays_in(found), arrays_in(function(*wide)))
        times = [microseconds(cupy, functools.partial(call, *given)) for call in (compiled, function)]
        yield function.__name__, error, *times


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of the matrices (4096)")
    size = parser.parse_args(arguments).size
    found = probe()
    if found.mode in ("none", "cupy"):
        print(f"no GPU kernels to check here: {found.reason}")
        return 0

    import cupy  # type: ignore[import-not-found, unused-ignore]  # installed where there is a GPU

    print(f"{found.reason}; {', '.join(f'{name} {version}' for name, version in found.versions.items())}")
    print(f"{'operator':36}{'dtype':10}{'error':>10}{'Triton us':>12}{'CuPy us':>10}")
    wrong, seen = [], set()
    for dtype, tolerance in TOLERANCE.items():
        for name, arguments in cases(cupy, dtype, size):
            seen.add(name)
            kernel, other = kernels()[name], in_cupy(cupy, name)
            if not kernel.qualifies(*arguments):
                wrong.append(f"{name} {dtype} does not qualify")
                continue
            got = kernel.function(*arguments)
            error = largest_error(got, other(*map(in_float64, arguments)))
            ours = microseconds(cupy, functools.partial(kernel.function, *arguments))
            theirs = microseconds(cupy, functools.partial(other, *arguments))
            print(f"{name:36}{dtype:10}{error:10.1e}{ours:12.1f}{theirs:10.1f}", flush=True)
            if error > tolerance:
                wrong.append(f"{name} {dtype} is off by {error:.1e}")
    ms.set_device("GPU")
    print(f"{'function, by loops':36}{'dtype':10}{'error':>10}{'O1 us':>12}{'eager us':>10}")
    for dtype, tolerance in TOLERANCE.items():
        for name, error, ours, theirs in check_loops(cupy, dtype, size):
            print(f"{name:36}{dtype:10}{error:10.1e}{ours:12.1f}{theirs:10.1f}", flush=True)
            if error > tolerance:
                wrong.append(f"{name} {dtype} by loops is off by {error:.1e}")
    wrong += [f"{name} has no case" for name in sorted(kernels().keys() - seen)]
    for line in wrong:
        print("WRONG:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
