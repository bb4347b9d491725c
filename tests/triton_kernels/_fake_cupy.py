"""A stand-in for CuPy on NumPy memory: the few functions the launch layer and the kernels' host code call.

It computes nothing on a GPU. Put in `sys.modules` as "cupy", its arrays take the GPU's path through the
launch layer, up to the point where a kernel would be queued.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class ndarray(np.ndarray):  # noqa: N801  # CuPy's own name
    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)


ndarray.__module__ = "cupy"


def asarray(array: Any) -> ndarray:
    return np.asarray(array).view(ndarray)


def make(capability: tuple[int, int] = (9, 0), available: bool = True) -> ModuleType:
    cupy: Any = ModuleType("cupy")
    cupy.__version__ = "0.0.fake"
    cupy.ndarray = ndarray
    cupy.float32 = np.float32
    cupy.asarray = asarray
    cupy.arange = lambda *args, **kwargs: asarray(np.arange(*args, **kwargs))
    cupy.empty = lambda shape, dtype: asarray(np.empty(shape, dtype))
    cupy.empty_like = lambda array: asarray(np.empty_like(array, order="C"))
    cupy.ascontiguousarray = lambda array: asarray(np.ascontiguousarray(array))
    cupy.moveaxis = np.moveaxis
    cupy.broadcast = np.broadcast
    major, minor = capability
    cupy.device = 0
    cupy.stream = 0
    cupy.cuda = SimpleNamespace(
        is_available=lambda: available,
        get_current_stream=lambda: SimpleNamespace(ptr=cupy.stream),
        device=SimpleNamespace(get_device_id=lambda: cupy.device),
        runtime=SimpleNamespace(
            getDevice=lambda: cupy.device,
            getDeviceProperties=lambda device: {"major": major, "minor": minor},
        ),
    )
    return cupy
