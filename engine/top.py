"""Small things that MindSpore keeps at the top of its package."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np

from . import backend, context
from . import dtype as _dtypes
from .dtype import DType
from .tensor import Tensor

__all__ = [
    "dtype_to_pytype", "from_dlpack", "frombuffer", "get_current_device", "get_level", "get_log_config",
    "get_py_obj_dtype", "is_tensor", "pytype_to_dtype", "run_check", "set_deterministic", "set_dump",
    "set_recursion_limit", "to_dlpack",
]  # fmt: skip


class _Device(NamedTuple):
    device_target: str
    device_id: int


def get_current_device() -> _Device:
    """Where new tensors are put."""
    return _Device(backend.device_target(), int(context.get_context("device_id") or 0))


def is_tensor(obj: Any) -> bool:
    """Whether it is a tensor."""
    return isinstance(obj, Tensor)


def frombuffer(buffer: Any, *, dtype: Any = None, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Any:
    """A tensor of the bytes of a buffer, read as ``dtype``."""
    wanted = np.dtype(np.float32) if dtype is None else _dtypes.numpy_dtype(dtype)
    return Tensor(np.frombuffer(buffer, wanted, count, offset))


def to_dlpack(tensor: Tensor) -> Any:
    """The tensor's memory as a DLPack capsule; whoever takes it must not write into it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'to_dlpack', 'tensor' must be a Tensor, but got {type(tensor).__name__}")
    return tensor._array.__dlpack__()


class _Capsule:
    """What NumPy and CuPy want to see around a bare capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU, DLPack's dlpack.h


def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor of what another library hands over: a copy, since tensors are never written into."""
    source = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    return Tensor(np.array(np.from_dlpack(source)))


def pytype_to_dtype(obj: Any) -> DType:
    """The element type of a Python or NumPy type.

    Raises:
        NotImplementedError: there is none.
    """
    if isinstance(obj, DType):
        return obj
    if obj is int:
        return _dtypes.int64
    if obj is float:
        return _dtypes.float64
    try:
        return _dtypes.dtype_of(np.dtype(obj))
    except (TypeError, KeyError):
        raise NotImplementedError(f"there is no element type of {obj!r}") from None


def dtype_to_pytype(type_: DType) -> type:
    """The Python type of an element type."""
    kind = _dtypes.numpy_dtype(type_).kind
    return {"b": bool, "i": int, "u": int, "c": complex}.get(kind, float)


def get_py_obj_dtype(obj: Any) -> Any:
    """The element type of a Python number or a tensor."""
    return obj.dtype if isinstance(obj, Tensor) else pytype_to_dtype(type(obj))


def set_deterministic(deterministic: bool) -> None:
    """Keep the wish for the same bits in each run: on the CPU it holds anyway.

    Raises:
        TypeError: no bool.
    """
    if not isinstance(deterministic, bool):
        raise TypeError(f"For 'set_deterministic', 'deterministic' must be a bool, got {type(deterministic).__name__}")
    context.set_context(deterministic="ON" if deterministic else "OFF")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Keep how deep a graph compiler may follow calls; Python's own limit is in ``sys``."""
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(f"For 'set_recursion_limit', 'recursion_limit' must be an int, but got {recursion_limit!r}")
    if recursion_limit <= 0:
        raise ValueError(f"For 'set_recursion_limit', 'recursion_limit' must be above 0, but got {recursion_limit}")
    context.set_context(max_call_depth=recursion_limit)


def set_dump(target: Any, enabled: bool = True) -> None:
    """Mark a cell for a dump; look at its values with the debugger."""
    for _, cell in target.cells_and_names():
        cell.__dict__["_dump"] = enabled


def get_level() -> str:
    """The level of the log, as MindSpore counts: "0" debug to "4" critical."""
    return str({10: 0, 20: 1, 30: 2, 40: 3, 50: 4}.get(logging.getLogger("hookscope").getEffectiveLevel(), 2))


def get_log_config() -> dict[str, str]:
    """The settings of the log."""
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}


def run_check() -> None:
    """Compute a little, and say that it works."""
    from . import __hookscope__, __version__

    found = Tensor(np.ones((2, 3), np.float32)) + Tensor(np.ones((2, 3), np.float32))
    right = bool((found.asnumpy() == 2).all())
    print(f"MindSpore version:  {__version__} (hookscope {__hookscope__})")
    result = "calculation is correct" if right else "calculation is WRONG"
    print(f"The result of addition {result}, hookscope runs on platform [{backend.device_target()}].")
