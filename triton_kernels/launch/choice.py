"""Choice of the implementation of a plain matrix product: the kernel of `matmul.py`, or CuPy's cuBLAS.

On a measured device (`python -m benchmarks gpu_check`), the faster one at the nearest size of the same dtype and form
is used, from a table for each device in the user's cache folder. On an unmeasured device, cuBLAS computes large
products of two matrices, since it is tuned for each device. This package's kernel computes all others: it has less host
overhead, accepts batches with any strides, and fuses the bias and the activation.
"""

from __future__ import annotations

import functools
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

VERSION = 1
"""Version of the file's format; a table of another version is ignored."""

FORMS = ("NN", "NT", "TN", "TT")
"""N if an operand is in C order, T if its transpose is; the left operand first."""

SIZES = (
    *[(n, n, n) for n in (256, 512, 1024, 2048, 4096, 8192)],
    *[(m, n, k) for m in (16, 512, 8192) for n, k in ((1024, 4096), (4096, 1024))],
    (4096, 4096, 1000),
    (4096, 4096, 4090),
    (4096, 50257, 768),
    (50257, 768, 4096),
)
"""(m, n, k) that are measured."""

LARGE = 2**30
"""Multiplications, m * n * k, at or above which a product on an unmeasured device is computed by cuBLAS.

It is 1024 x 1024 x 1024: a smaller product takes at most 4 us at 500e12 operations a second, no more than a kernel
launch.
"""


class Row(NamedTuple):
    """Measured times of one product, in seconds."""

    dtype: str
    form: str
    m: int
    n: int
    k: int
    ours: float
    cublas: float


def prefers_cublas(dtype: str, form: str, m: int, n: int, k: int) -> bool:
    """Return whether CuPy's `matmul` should compute the product of an (m, k) and a (k, n) matrix on the current device.

    Args:
        dtype: the name of both operands' dtype.
        form: one of `FORMS`; "" for other layouts, which CuPy would copy.
        m: rows of the product.
        n: columns of the product.
        k: length of the summation.
    """
    cupy = sys.modules.get("cupy")
    if cupy is None or not form:
        return False
    rows = [row for row in _table(_device(cupy)) if (row.dtype, row.form) == (dtype, form)]
    if not rows:
        return m * n * k >= LARGE
    nearest = min(rows, key=lambda row: sum(abs(math.log2(a / b)) for a, b in zip((m, n, k), row[2:5], strict=True)))
    return nearest.cublas < nearest.ours


def measure(
    cupy: Any, seconds: Callable[[Callable[[], Any]], float], sizes: Sequence[tuple[int, int, int]] = SIZES
) -> Path:
    """Time both implementations on the current device and save the table, which later plans use.

    Args:
        cupy: the module.
        seconds: returns the time of one call of a function on the device.
        sizes: (m, n, k) of the products.

    Returns:
        The path of the table.
    """
    from hookscope.triton_kernels import matmul
    from hookscope.triton_kernels.launch import plans

    rows = []
    numbers = cupy.asarray(np.random.default_rng(0).standard_normal(2**20, np.float32))
    ours = plans.Kernel(matmul.product)
    for dtype in ("float32", "float16", "bfloat16"):
        for form in FORMS[:3]:
            for m, n, k in sizes:
                a = _matrix(cupy, numbers, dtype, m, k, form[0] == "T")
                b = _matrix(cupy, numbers, dtype, k, n, form[1] == "T")
                attrs = {"transpose_a": False, "transpose_b": False}
                plan = plans.plan_for("matmul by the kernel", ours, (a, b), attrs)
                if plan is None:
                    raise RuntimeError(f"the kernel does not take matrices of {dtype}")
                times = seconds(functools.partial(plan, a, b, **attrs)), seconds(functools.partial(cupy.matmul, a, b))
                rows.append(Row(dtype, form, m, n, k, *times))
    path = _keep(_device(cupy), rows)
    _table.cache_clear()
    plans.forget()
    return path


def _matrix(cupy: Any, numbers: Any, dtype: str, rows: int, columns: int, turned: bool) -> Any:
    """Return a matrix that repeats these numbers; with `turned`, the transpose of one in C order."""
    shape = (columns, rows) if turned else (rows, columns)
    x = cupy.resize(numbers, shape).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    return x.T if turned else x


def _device(cupy: Any) -> str:
    """Return the current device's name, which identifies its table."""
    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())["name"]
    return name.decode() if isinstance(name, bytes) else str(name)


def path_of(device: str) -> Path:
    """Return the file of a device's table: `hookscope/products` in the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    plain = "".join([letter if letter.isalnum() else "_" for letter in device])
    return Path(cache) / "hookscope" / "products" / f"{plain}.json"


def _keep(device: str, rows: Sequence[Row]) -> Path:
    path = path_of(device)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": VERSION, "device": device, "rows": rows}, indent=1)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
    return path


@functools.cache
def _table(device: str) -> tuple[Row, ...]:
    """Return the table of a device; empty if there is no file, or with one warning if it cannot be read."""
    path = path_of(device)
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["version"] != VERSION or saved["device"] != device:
            return ()
        return tuple([_row(*fields) for fields in saved["rows"]])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, KeyError) as error:
        problem = f"{type(error).__name__}: {error}"
        warnings.warn(
            f"the table of products at {path} is not used, it cannot be read: {problem}", RuntimeWarning, stacklevel=2
        )
        return ()


def _row(dtype: str, form: str, m: int, n: int, k: int, ours: float, cublas: float) -> Row:
    """Return a row of the file.

    Raises:
        ValueError: a length or a time is not above 0.
        TypeError: a value is not a number.
    """
    if not all(0 < value < math.inf for value in (m, n, k, ours, cublas)):
        raise ValueError(f"lengths and times must be above 0, but got {[m, n, k, ours, cublas]}")
    return Row(str(dtype), str(form), m, n, k, ours, cublas)
