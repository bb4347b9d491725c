"""Every operator in every dtype on the strict device beside the CPU: what equals it, and what is refused how."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the samples import each other by name

from test_operators import OPERATORS, ROWS, first, has_gradient

from hookscope.engine import Tensor, vjp
from hookscope.engine.cpu.arrays.sparse import Positions
from hookscope.engine.tensors.backend import to_device
from tests import strict_device

DTYPES = {
    "bool": np.dtype(bool),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int32": np.dtype(np.int32),
    "int64": np.dtype(np.int64),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
}
FLOATING = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
# Sums in another order, in units of the largest element: the CPU and CuPy add differently.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}


@dataclass(frozen=True)
class Outcome:
    """An operator's result: arrays of the host, or the error."""

    arrays: tuple[Any, ...] = ()
    error: Exception | None = None


def operands_of(sample: Any, dtype: np.dtype[Any]) -> list[Any]:
    """Return the sample's operands, those of float64 or complex numbers in ``dtype``."""

    def cast(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or x.dtype.kind not in "fc":
            return x
        x = x.real if x.dtype.kind == "c" and dtype.kind != "c" else x
        if dtype.kind in "iu":  # which have neither NaN nor infinities
            x = np.nan_to_num(np.rint(np.abs(x) if dtype.kind == "u" else x), posinf=9, neginf=-9)
        return x.astype(dtype)

    return [cast(x) for x in sample.operands]


def placed(attribute: Any) -> Any:
    """Return an attribute with its arrays where new tensors are put; of indices those of the host may stay there."""
    if isinstance(attribute, Positions):
        return Positions(placed(attribute.rows), placed(attribute.columns), attribute.shape)
    return to_device(attribute) if isinstance(attribute, np.ndarray) else attribute


def run(name: str, sample: Any, dtype: np.dtype[Any], gradient: bool) -> Outcome:
    """Return the operator's outputs, or its gradients by all inputs of ``dtype``, where new tensors are put now."""
    values = operands_of(sample, dtype)
    operands = [Tensor(x) if isinstance(x, np.ndarray) else x for x in values]
    attrs = {key: placed(value) for key, value in sample.attrs.items()}
    indices = [i for i, x in enumerate(values) if isinstance(x, np.ndarray) and x.dtype == dtype]

    def function(*tensors: Any) -> Any:
        inputs = list(operands)
        for index, tensor in zip(indices, tensors, strict=True):
            inputs[index] = tensor
        return first(OPERATORS[name](*inputs, **attrs))

    try:
        if gradient:
            output, back = vjp(function, *[operands[i] for i in indices])
            arriving = np.random.default_rng(5).standard_normal(output.shape).astype(output.asnumpy().dtype)
            result = back(Tensor(arriving))
        else:
            result = OPERATORS[name](*operands, **attrs)
        result = result if isinstance(result, tuple) else (result,)
        return Outcome(tuple([x.asnumpy() if isinstance(x, Tensor) else x for x in result]))
    except Exception as error:  # any error is part of the comparison
        return Outcome(error=error)


def difference(on_cpu: Outcome, on_device: Outcome, rounded_to: str = "") -> str:
    """Return the device's difference from the CPU, "" if equal; results may be wider than their intermediate dtype.

    Results may be in a wider dtype than the one that they were rounded to on the way.
    """
    if on_cpu.error is not None:
        if on_device.error is None:
            return f"the CPU refuses it: {on_cpu.error}"
        return (
            ""
            if type(on_cpu.error) is type(on_device.error)
            else f"another error: {on_device.error!r} for {on_cpu.error!r}"
        )
    if on_device.error is not None:
        return f"{type(on_device.error).__name__}: {on_device.error}"
    for value, reference in zip(on_cpu.arrays, on_device.arrays, strict=True):
        if not isinstance(value, np.ndarray):
            continue
        if (value.dtype, value.shape) != (reference.dtype, reference.shape):
            return f"{reference.dtype} {reference.shape} for {value.dtype} {value.shape}"
        wide = np.complex128 if value.dtype.kind == "c" else np.float64
        a, b = value.astype(wide), reference.astype(wide)
        tolerance = TOLERANCE.get(rounded_to or value.dtype.name, 1e-9)
        tolerance *= max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0)))
        if not np.allclose(b, a, tolerance, tolerance, equal_nan=True):
            return f"other numbers: {np.abs(a - b).max()} apart"
    return ""


def compared(name: str, sample: Any, dtype: str, gradient: bool, triton: bool = False, rounded_to: str = "") -> str:
    """Run on both; ``difference``."""
    on_cpu = run(name, sample, DTYPES[dtype], gradient)
    with strict_device.device(triton):
        on_device = run(name, sample, DTYPES[dtype], gradient)
    return difference(on_cpu, on_device, rounded_to)


def main() -> None:
    """Print what differs by operator, and how many operators work in each dtype on the CPU and on the device."""
    names = sys.argv[1:] or list(DTYPES)
    works: dict[str, Counter[str]] = defaultdict(Counter)
    for dtype in names:
        for name, row in ROWS.items():
            notes: list[str] = []
            here_all = False
            for number, sample in enumerate(row.samples):
                for gradient in (False, True) if dtype in FLOATING and has_gradient(name) else (False,):
                    on_cpu = run(name, sample, DTYPES[dtype], gradient)
                    with strict_device.device():
                        on_device = run(name, sample, DTYPES[dtype], gradient)
                    here_all |= on_cpu.error is None
                    if message := difference(on_cpu, on_device):
                        notes.append(f"{number}{' gradient' if gradient else ''}: {message}")
            works[dtype]["on the CPU"] += here_all
            works[dtype]["here"] += here_all and not notes
            if notes:
                print(f"{dtype:<10}{name:<28}{len(notes)} of {len(row.samples)}: {notes[0][:220]}", flush=True)
    for dtype, counts in works.items():
        print(dtype, dict(counts))


if __name__ == "__main__":
    with nullcontext():
        main()
