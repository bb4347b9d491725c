"""Array library of an array, so that the same kernel source serves NumPy and CuPy.

CuPy is looked up in `sys.modules`: a CuPy array exists only after its import, and other programs do not import it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

# CuPy has no type stubs; a CuPy array is used here only through the interface it shares with NumPy's.
Array: TypeAlias = np.ndarray[Any, Any]


def array_module(array: object) -> Any:
    """Return the module (`numpy` or `cupy`) whose functions work on `array`."""
    if isinstance(array, np.ndarray | np.generic):
        return np
    if type(array).__module__.partition(".")[0] == "cupy":
        return sys.modules["cupy"]
    raise TypeError(f"array must be a NumPy or CuPy array, got {type(array).__name__}")


def first_array(*operands: Any) -> Any:
    """Return the operand that determines the device: the first array, but not a NumPy scalar with one."""
    return next((x for x in operands if hasattr(x, "shape") and not isinstance(x, np.generic)), operands[0])


def special_module(array: object) -> Any:
    """Return SciPy's special functions, or CuPy's, for `array`; imported on first use."""
    return import_module("scipy.special" if array_module(array) is np else "cupyx.scipy.special")


def sparse_module(array: object) -> Any:
    """Return SciPy's sparse matrices, or CuPy's, for `array`, likewise."""
    return import_module("scipy.sparse" if array_module(array) is np else "cupyx.scipy.sparse")
