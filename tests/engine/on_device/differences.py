"""``TRITON_INTERPRET=1 python -m tests.engine.on_device.differences``: how far Triton's kernels are from float64.

Of each operator that has a kernel the largest difference of an element of its samples' results from the CPU's in
float64 of the same, already rounded operands, and in brackets that of the CPU in the same dtype. In units in the last
place of the result's largest element, at least of 1.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np

from hookscope import triton_kernels
from tests import strict_device

from tests.engine.on_device.matrix import DTYPES, Outcome, operands_of, run  # isort: skip  (finds the samples)

from test_operators import ROWS, has_gradient  # isort: skip

HALVES_AND_SINGLE = ("float32", "float16", "bfloat16")
OTHER_NUMBERS = {"rms_norm_grad"}
"""Their samples' saved numbers are not those of a forward pass."""


def unit(dtype: np.dtype[Any]) -> float:
    """Return the distance from 1 to the next number of ``dtype``."""
    return float(ml_dtypes.finfo(dtype).eps)


def widened(sample: Any, dtype: np.dtype[Any]) -> Any:
    """Return the sample with operands rounded to ``dtype``, in float64."""
    rounded = [
        x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == dtype else x
        for x in operands_of(sample, dtype)
    ]
    return type(sample)(**{**vars(sample), "operands": tuple(rounded)})


def apart(result: Outcome, exact: Outcome, eps: float) -> float | None:
    """Return the largest difference in units; None without numbers, infinite if only one has a number."""
    if result.error is not None or exact.error is not None:
        return None if exact.error is not None else np.inf
    largest = None
    for value, reference in zip(result.arrays, exact.arrays, strict=True):
        if (
            not isinstance(value, np.ndarray)
            or reference.dtype != np.float64
            or value.dtype.kind in "biu"
            or not reference.size
        ):
            continue
        a = np.asarray(value, np.float64)
        is_number = np.isfinite(reference)
        if not np.array_equal(a[~is_number], reference[~is_number], equal_nan=True):
            largest = np.inf
        scale = max(1.0, float(np.abs(reference[is_number]).max(initial=0)))
        largest = max(largest or 0.0, float(np.abs(a - reference)[is_number].max(initial=0)) / (eps * scale))
    return largest


def cells_of(name: str, gradient: bool) -> list[str]:
    """Return the table's cells of one operator in each dtype; "" without floating numbers."""
    cells = []
    for dtype in (DTYPES[each] for each in HALVES_AND_SINGLE):
        worst: dict[bool, float] = {}
        for sample in ROWS[name].samples:
            exact = run(name, widened(sample, dtype), np.dtype(np.float64), gradient)
            for by_triton in (True, False):
                with strict_device.device(triton=True) if by_triton else nullcontext():
                    result = run(name, sample, dtype, gradient)
                if (far := apart(result, exact, unit(dtype))) is not None:
                    worst[by_triton] = max(worst.get(by_triton, 0.0), far)
        cells.append(f"{worst[True]:.2g} ({worst[False]:.2g})" if worst else "")
    return cells


def main() -> None:
    heads = [f"{dtype}{which}" for which in ("", ", gradient") for dtype in HALVES_AND_SINGLE]
    print(f"| Operator | {' | '.join(heads)} |\n|---|{'---|' * len(heads)}")
    for name in sorted((set(ROWS) & set(triton_kernels.kernels())) - OTHER_NUMBERS):
        of_gradient = cells_of(name, True) if has_gradient(name) else [""] * len(HALVES_AND_SINGLE)
        cells = cells_of(name, False) + of_gradient
        if any(cells):
            print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
