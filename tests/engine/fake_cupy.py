"""A stand-in for CuPy on NumPy memory, as strict as CuPy: its arrays do not mix with NumPy's nor convert quietly.

It computes nothing on a GPU. It shows which path the engine takes for arrays of a device, and that no NumPy array
strays into it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["make", "make_sparse", "ndarray"]


def _lowered(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value._values
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, tuple | list):
        return type(value)(_lowered(v) for v in value)
    return value


def _lifted(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return ndarray(value)
    if isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
        return tuple(map(_lifted, value))
    return value


class _Function:
    """One of NumPy's functions, for arrays of the device."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _lifted(self.function(*_lowered(args), **{key: _lowered(v) for key, v in kwargs.items()}))

    def at(self, target: Any, index: Any, values: Any) -> None:
        self.function.at(*_lowered((target, index, values)))  # type: ignore[attr-defined]


class ndarray:  # noqa: N801  # CuPy's own name
    __array_ufunc__ = None

    def __init__(self, values: Any) -> None:
        self._values = np.asarray(values)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._values, name)
        return _Function(found) if callable(found) and not isinstance(found, np.ndarray) else _lifted(found)

    def get(self) -> Any:
        return self._values.copy()

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self._values.ctypes.data)

    @property
    def device(self) -> Any:
        return SimpleNamespace(id=0)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[_lowered(index)] = _lowered(value)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __int__(self) -> int:
        return int(self._values)

    def __float__(self) -> float:
        return float(self._values)


ndarray.__module__ = "cupy"


def _operator(name: str) -> Callable[..., Any]:
    return lambda *operands: _lifted(getattr(np.ndarray, name)(*_lowered(operands)))


for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "matmul",
    "rshift",
    "lshift",
):
    for _side in ("__{}__", "__r{}__"):
        setattr(ndarray, _side.format(_name), _operator(_side.format(_name)))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "invert", "getitem"):
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv"):

    def _in_place(self: ndarray, other: Any, name: str = f"__i{_name}__") -> ndarray:
        getattr(self._values, name)(_lowered(other))
        return self

    setattr(ndarray, f"__i{_name}__", _in_place)


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(np, name)
        return _Function(found) if callable(found) and not isinstance(found, type) else found


def make() -> Any:
    """A module to put into ``sys.modules`` as "cupy"."""
    cupy: Any = _Module("cupy")
    cupy.__version__ = "0.0.fake"
    cupy.ndarray = ndarray
    cupy.asarray = lambda a, dtype=None: ndarray(np.asarray(a._values if isinstance(a, ndarray) else a, dtype))
    cupy.lib = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=_Function(np.lib.stride_tricks.as_strided)))
    cupy.cuda = SimpleNamespace(is_available=lambda: True, Device=lambda number: SimpleNamespace(use=lambda: None))
    return cupy


class _Sparse:
    """One of SciPy's sparse matrices, of the few dtypes that CuPy's have."""

    def __init__(self, matrix: Any) -> None:
        if matrix.dtype.char not in "?fdFD":
            raise ValueError("Only bool, float32, float64, complex64 and complex128 are supported")
        self._matrix = matrix

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, _Sparse):
            return _Sparse(self._matrix @ other._matrix)
        return _lifted(self._matrix @ _lowered(other))

    def __getitem__(self, index: Any) -> Any:
        return _lifted(np.asarray(self._matrix[_lowered(index)]))

    def tocsr(self) -> _Sparse:
        return _Sparse(self._matrix.tocsr())

    def tocoo(self) -> _Sparse:
        return _Sparse(self._matrix.tocoo())

    @property
    def row(self) -> Any:
        return _lifted(self._matrix.row)

    @property
    def col(self) -> Any:
        return _lifted(self._matrix.col)


def make_sparse() -> Any:
    """A module to put into ``sys.modules`` as "cupyx.scipy.sparse"."""
    import scipy.sparse

    sparse: Any = ModuleType("cupyx.scipy.sparse")
    sparse.coo_matrix = lambda parts, shape: _Sparse(scipy.sparse.coo_matrix(_lowered(parts), shape))
    return sparse
