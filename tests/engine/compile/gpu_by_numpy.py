"""NumPy and SciPy versions of what Triton's interpreter lacks or does differently from a GPU.

These are functions of libdevice, rounding to bfloat16, which the interpreter truncates, and extremes of large tiles,
which it finds element by element in Python. Importing the module installs them; TRITON_INTERPRET=1 must be set.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np
import scipy.special
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import interpreter

FUNCTIONS = {
    **{
        name: getattr(np, name)
        for name in (
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "floor",
            "ceil",
            "trunc",
            "rint",
            "hypot",
        )
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "pow": np.power,
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
}


def _of_libdevice(function: Any) -> Any:
    @functools.wraps(function)
    def computed(*tensors: Any) -> Any:
        # As precise as a GPU's functions: nearly correctly rounded.
        inputs = [tensor.handle.data.astype(np.float64) for tensor in tensors]
        with np.errstate(all="ignore"):
            result = function(*inputs).astype(tensors[0].handle.data.dtype)
        shaped = max(tensors, key=lambda tensor: tensor.handle.data.ndim)
        return tl.core.tensor(interpreter.TensorHandle(result, tensors[0].handle.dtype), shaped.type)

    return computed


for _name, _function in FUNCTIONS.items():
    setattr(libdevice, _name, _of_libdevice(_function))

_cast_impl = interpreter.InterpreterBuilder.cast_impl


def _cast_as_a_gpu_does(self: Any, src: Any, dst_type: Any) -> Any:
    if src.dtype.scalar == tl.float32 and dst_type.scalar == tl.bfloat16:
        rounded = src.data.astype(ml_dtypes.bfloat16).view(np.uint16)
        return interpreter.TensorHandle(rounded, tl.bfloat16)
    return _cast_impl(self, src, dst_type)


interpreter.InterpreterBuilder.cast_impl = _cast_as_a_gpu_does

_generic_reduce = interpreter.ReduceOps.generic_reduce
_LARGE = 64
_OF_LARGE = {"max_of": np.max, "min_of": np.min}


def _reduce_by_numpy(self: Any, input: Any) -> Any:
    result = _OF_LARGE.get(self.combine_fn.fn.__name__)
    (tile,) = input if isinstance(input, tuple) else (input,)
    if result is None or tile.handle.data.size <= _LARGE:
        return _generic_reduce(self, input)
    return [self.to_tensor(result(tile.handle.data, axis=self.axis), tile.dtype)]


interpreter.ReduceOps.generic_reduce = _reduce_by_numpy
