"""What the interpreted kernels' checks share: inputs, dtypes, and a comparison with a float64 reference."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float32), np.dtype(np.float16), BFLOAT16]

# One unit in the last place of a result, and in float32 a few more for sums and the hardware's forms of exp.
_TOLERANCE = {"float32": 5e-6, "float16": 1.5e-3, "bfloat16": 1.2e-2}


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def close(got: Any, want: Any, dtype: Any) -> None:
    """`got` has this dtype and is the float64 `want` up to rounding, and NaN where that is NaN."""
    assert got.dtype == dtype
    tolerance = _TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=tolerance, atol=tolerance)


def wide(*arrays: Any) -> Any:
    """The arrays in float64."""
    widened = tuple(array.astype(np.float64) for array in arrays)
    return widened if len(widened) > 1 else widened[0]
