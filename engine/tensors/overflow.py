"""Overflow of gradients on a GPU, and the resulting loss scale, without synchronizing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..base.types import Array
from ..cpu.array_module import array_module
from ..cpu.optim.updates import is_on_gpu
from .backend import many_at_once
from .tensor import Tensor

__all__ = ["flag_of", "overflowed", "rescaled", "rescaled_in_single"]

_DTYPES = ("float32", "float16", "bfloat16")


def overflowed(arrays: Iterable[Array]) -> Array:
    """Return whether a number is infinite or NaN, as an array of one bool on the GPU, in one launch for each dtype.

    Args:
        arrays: at least one of them on a GPU.
    """
    floating_arrays = [x for x in arrays if x.dtype.kind not in "biu"]
    xp = next(array_module(x) for x in arrays if is_on_gpu(x))
    flag, kernels = xp.zeros((), np.bool_), many_at_once()
    together = [x for x in floating_arrays if kernels is not None and _is_plain(x)]
    if together:
        kernels.overflows(together, flag)
    for x in floating_arrays:
        if not any(x is handled for handled in together):
            flag = flag | xp.asarray(~array_module(x).isfinite(x).all())
    result: Array = flag
    return result


def _is_plain(x: Array) -> bool:
    in_one_piece = x.flags.c_contiguous or x.flags.f_contiguous
    return is_on_gpu(x) and x.dtype.name in _DTYPES and in_one_piece and x.data.ptr % 16 == 0  # type: ignore[attr-defined]  # cupy


def flag_of(value: Tensor | bool, like: Array) -> Array:
    """Return a flag as an array of one bool on the device of ``like``."""
    array = value._array if isinstance(value, Tensor) else value
    flag: Array = array_module(like).asarray(array, dtype=np.bool_).reshape(())
    return flag


def rescaled(scale: Array, now: Array, last: Array, happened: Array, factor: float, window: int) -> tuple[Array, Array]:
    """Return ``nn.DynamicLossScaleUpdateCell``'s next scale, and the last step that changed it.

    Args:
        scale: the scale, one number in float32.
        now: the number of this step.
        last: the number of the last step that changed the scale.
        happened: whether an overflow occurred.
        factor: the divisor of the scale on an overflow, and its factor after ``window`` steps without one.
        window: the number of these steps.
    """
    xp, exact = array_module(scale), scale.astype(np.float64)
    grown = now - last >= window
    new: Any = xp.where(happened, xp.maximum(exact / factor, 1.0), xp.where(grown, exact * factor, exact))
    return new.astype(scale.dtype), xp.where(happened | grown, now, last)


def rescaled_in_single(scale: Array, counter: Array, good: Array, factor: int, window: int) -> tuple[Array, Array]:
    """Return ``amp.DynamicLossScaler``'s next scale and count of good steps, likewise."""
    xp, by = array_module(scale), np.float32(factor)
    risen = scale * by
    risen = xp.where((counter == window - 1) & xp.isfinite(risen), risen, scale)
    new: Any = xp.where(good, risen, xp.maximum(scale / by, np.float32(1)))
    return new.astype(scale.dtype), xp.where(good, (counter + 1) % window, 0).astype(counter.dtype)
