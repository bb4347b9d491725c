"""Shared parts of the interpreted checks: inputs, dtypes, a call, and a comparison with a float64 reference."""

from __future__ import annotations

import ctypes
import inspect
import mmap
from typing import Any

import ml_dtypes
import numpy as np

from hookscope.triton_kernels import Plan, kernels, plan_for

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [np.dtype(np.float32), np.dtype(np.float16), BFLOAT16]

# One unit in the last place of a result, and in float32 a few more for sums and the hardware's forms of exp.
_TOLERANCE = {"float32": 5e-6, "float16": 1.5e-3, "bfloat16": 1.2e-2}


def normal(*shape: int, dtype: Any = np.float32, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def close(actual: Any, want: Any, dtype: Any) -> None:
    """Assert that `actual` has this dtype and is the float64 `want` up to rounding, with NaN in the same elements."""
    assert actual.dtype == dtype
    tolerance = _TOLERANCE[np.dtype(dtype).name]
    np.testing.assert_allclose(np.asarray(actual, np.float64), want, rtol=tolerance, atol=tolerance)


def guarded(x: Any, at_start: bool = False) -> Any:
    """Return a copy that lies as `x` does, beside memory that ends the process where it is read.

    The forbidden pages are behind the last element, or with `at_start` before the first one.
    """
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    size, page = x.nbytes, mmap.PAGESIZE
    room = -(-size // page) * page
    memory = mmap.mmap(-1, room + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for edge in (start, start + page + room):
        if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(edge), page, 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    inner = np.frombuffer(memory, x.dtype, x.size, page if at_start else page + room - size)
    copy = inner.reshape([x.shape[axis] for axis in order]).transpose(np.argsort(order))
    copy[...] = x
    return copy


def wide(*arrays: Any) -> Any:
    """Return the arrays in float64."""
    widened = tuple(array.astype(np.float64) for array in arrays)
    return widened if len(widened) > 1 else widened[0]


def planned(name: str, *arguments: Any) -> tuple[Plan | None, tuple[Any, ...], dict[str, Any]]:
    """Return the plan of a kernel for these arguments, its inputs and its attributes.

    The arguments come in the order of the plan's function: those annotated as `Input` are inputs, the rest attributes.
    """
    kernel = kernels()[name]
    inputs, attrs = [], {}
    values = iter(arguments)
    for parameter in list(inspect.signature(kernel.plan).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            inputs += values
        elif parameter.kind is not parameter.VAR_KEYWORD:
            for value in values:
                if "Input" in str(parameter.annotation):
                    inputs.append(value)
                else:
                    attrs[parameter.name] = value
                break
    return plan_for(name, kernel, tuple(inputs), attrs), tuple(inputs), attrs


def suits(name: str, *arguments: Any) -> bool:
    """Return whether the kernel takes these arguments."""
    return planned(name, *arguments)[0] is not None


def run(name: str, *arguments: Any) -> Any:
    """Return the kernel's result."""
    plan, inputs, attrs = planned(name, *arguments)
    assert plan is not None, f"{name} does not take its arguments"
    return plan(*inputs, **attrs)
