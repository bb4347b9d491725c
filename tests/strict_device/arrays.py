"""``cupy.ndarray``: what it has and what it refuses, with values that NumPy computes.

It is not converted to a NumPy array implicitly, is not a Python index, and supports NumPy's functions only by CuPy's of
the same name. Its elements can be read by a copy to the host, which waits for the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import indexing, reductions, sorting
from .counts import copied, launched
from .memory import MemoryPointer, poisoned

__all__ = ["Flags", "converted", "device", "lifted", "ndarray", "values_of", "wrapped"]

IMPLICIT = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
)
SCALARS = (bool, int, float, complex, np.generic)


class Flags:
    """The memory layout of the elements; there is no ``writeable``."""

    def __init__(self, array: ndarray) -> None:
        self.c_contiguous: bool = array._values.flags.c_contiguous
        self.f_contiguous: bool = array._values.flags.f_contiguous
        self.owndata = array._base is None

    @property
    def forc(self) -> bool:
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    def __getitem__(self, name: str) -> bool:
        return {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous, "OWNDATA": self.owndata}[name]


device: Any = None
"""The device of an array; ``cuda`` sets it."""


class ndarray:  # noqa: N801  # CuPy's own name
    __slots__ = ("__weakref__", "_base", "_values")
    __module__ = "cupy"
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    _values: np.ndarray[Any, Any]
    _base: ndarray | None

    def __init__(
        self, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None, strides: Any = None, order: str = "C"
    ) -> None:
        self._base = None
        self._values = poisoned(shape, dtype, order) if memptr is None else memptr.view(shape, dtype, strides)

    # To the host: each waits.

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        values = self._read("get", order)
        if out is None:
            return values
        if not isinstance(out, np.ndarray):
            raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
        if (out.dtype, out.shape) != (values.dtype, values.shape) or not out.flags.c_contiguous:
            raise ValueError("out must have the same shape and dtype, and be contiguous")
        out[...] = values
        return out

    def _read(self, name: str, order: Any = "C") -> Any:
        copied(f"ndarray.{name}", "host", self.nbytes)
        return self._values.copy(order=order)

    def item(self) -> Any:
        return self._read("item").item()

    def tolist(self) -> Any:
        return self._read("tolist").tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return bytes(self._read("tobytes").tobytes(order))

    def __bool__(self) -> bool:
        return bool(self._read("__bool__"))

    def __int__(self) -> int:
        return int(self._read("__int__"))

    def __float__(self) -> float:
        return float(self._read("__float__"))

    def __complex__(self) -> complex:
        return complex(self._read("__complex__"))

    def __repr__(self) -> str:
        return repr(self._read("__repr__"))

    def __str__(self) -> str:
        return str(self._read("__str__"))

    def __format__(self, spec: str) -> str:
        return format(self._read("__format__"), spec)

    def __reduce__(self) -> Any:
        return _from_host, (self._read("__reduce__"),)

    # Never to the host.

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(IMPLICIT)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = _cupy(ufunc.__name__)
        if result is None or method not in ("__call__", "at", "reduce", "accumulate", "reduceat", "outer"):
            return NotImplemented
        function = result if method == "__call__" else getattr(result, method, None)
        argument = inputs
        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
            argument = (*inputs, kwargs["out"])
        if function is None or not all(isinstance(x, (*SCALARS, ndarray, np.ndarray)) for x in argument):
            return NotImplemented
        if ufunc.__name__ in COMPARISONS.values():
            inputs = tuple([x.item() if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in inputs])
        return function(*inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        path = [*function.__module__.split(".")[1:], function.__name__]
        result = _cupy(".".join(path)) if function.__module__.split(".")[0] == "numpy" else None
        if result is None or not all(issubclass(kind, ndarray | np.ndarray) for kind in types):
            return NotImplemented
        return result(*args, **kwargs)

    # Properties that do not depend on its elements.

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        view = self._values.view()
        view.shape = shape
        self._values = view

    dtype = property(lambda self: self._values.dtype)
    strides = property(lambda self: self._values.strides)
    size = property(lambda self: self._values.size)
    ndim = property(lambda self: self._values.ndim)
    itemsize = property(lambda self: self._values.itemsize)
    nbytes = property(lambda self: self._values.nbytes)
    flags = property(Flags)

    @property
    def _c_contiguous(self) -> bool:
        """Flags that CuPy's arrays store, since making the flags object takes long."""
        return bool(self._values.flags.c_contiguous)

    base = property(lambda self: self._base)
    device = property(lambda self: device)
    data = property(lambda self: MemoryPointer(self._values, 0, self._values.ctypes.data))

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[ndarray]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    # Views.

    T = property(lambda self: self._view(self._values.T))
    mT = property(lambda self: self._view(self._values.mT))  # noqa: N815  # CuPy's own name
    real = property(lambda self: self if self.dtype.kind != "c" else self._view(self._values.real))

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> ndarray:
        return self._view(self._values.imag) if self.dtype.kind == "c" else _cupy("zeros_like")(self)  # type: ignore[no-any-return]

    @imag.setter
    def imag(self, value: Any) -> None:
        self._view(self._values.imag)[...] = value

    def _view(self, values: Any) -> ndarray:
        return wrapped(values, self if self._base is None else self._base)

    def _view_or_copy(self, values: Any, name: str) -> ndarray:
        if values.size == 0 or np.may_share_memory(values, self._values):
            return self._view(values)
        launched(f"ndarray.{name}")
        return wrapped(values)

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return self._view(self._values.view() if dtype is None else self._values.view(dtype))

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> ndarray:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        if any(isinstance(size, ndarray) for size in sizes):
            raise TypeError("'cupy.ndarray' object cannot be interpreted as an integer")
        return self._view_or_copy(self._values.reshape(sizes, order=order), "reshape")

    def ravel(self, order: Any = "C") -> ndarray:
        return self._view_or_copy(self._values.ravel(order), "ravel")

    def transpose(self, *axes: Any) -> ndarray:
        return self._view(self._values.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        return self._view(self._values.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> ndarray:
        return self._view(self._values.squeeze(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        return self._view(self._values.diagonal(offset, axis1, axis2))

    # Copies.

    def copy(self, order: Any = "C") -> ndarray:
        launched("ndarray.copy")
        return wrapped(self._values.copy(order))

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()

    def flatten(self, order: Any = "C") -> ndarray:
        launched("ndarray.flatten")
        return wrapped(self._values.flatten(order))

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = None, subok: Any = None, copy: bool = True
    ) -> ndarray:
        if subok is not None:
            raise TypeError("subok is not supported yet")
        kept = order in ("K", "A") or (self.flags.c_contiguous if order == "C" else self.flags.f_contiguous)
        if not copy and np.dtype(dtype) == self.dtype and kept:
            return self
        launched("ndarray.astype")
        result = converted(self._values, np.dtype(dtype))
        return wrapped(result.copy(order) if result is self._values else result.astype(result.dtype, order, copy=False))

    def fill(self, value: Any) -> None:
        indexing.fill(self, value)

    # Elements.

    def __getitem__(self, index: Any) -> Any:
        return indexing.taken(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        indexing.put(self, index, value)

    def take(self, indices: Any, axis: Any = None, out: Any = None) -> Any:
        return indexing.take(self, indices, axis, out)

    def put(self, indices: Any, values: Any, mode: str = "wrap") -> None:
        indexing.put_flat(self, indices, values, mode)

    def nonzero(self) -> tuple[ndarray, ...]:
        launched("ndarray.nonzero", 2 + (self.dtype.kind != "b"))  # != 0, the sums of counts, the places
        copied("ndarray.nonzero", "host", 8)
        return tuple(map(wrapped, np.nonzero(self._values)))

    def repeat(self, repeats: Any, axis: Any = None) -> ndarray:
        if isinstance(repeats, ndarray):
            raise ValueError("cupy.ndaray cannot be specified as `repeats` argument.")
        launched("ndarray.repeat")
        return wrapped(np.repeat(self._values, repeats, axis))

    def conj(self) -> ndarray:
        return _cupy("conj")(self) if self.dtype.kind == "c" else self  # type: ignore[no-any-return]

    conjugate = conj

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:
        return _cupy("clip")(self, min, max, out)

    def round(self, decimals: int = 0, out: Any = None) -> Any:
        return _cupy("round")(self, decimals, out)

    def dot(self, b: Any, out: Any = None) -> Any:
        return _cupy("dot")(self, b, out)

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
        return self.diagonal(offset, axis1, axis2).sum(-1, dtype, out)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        return _cupy("searchsorted")(self, v, side, sorter)

    # Sorting.

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        sorting.sort(self, axis)

    def argsort(self, axis: Any = -1, kind: Any = None) -> ndarray:
        return sorting.argsort(self, axis)

    def partition(self, kth: Any, axis: int = -1) -> None:
        sorting.sort(self, axis)

    def argpartition(self, kth: Any, axis: Any = -1) -> ndarray:
        return sorting.argsort(self, axis)

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())


def _reduction(name: str, *parameters: str) -> Any:
    """Return a method that reduces: its arguments may stand in order, as in CuPy."""

    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        if len(args) > len(parameters) or not set(kwargs) <= set(parameters[len(args) :]):
            wrong = next((key for key in kwargs if key not in parameters), None)
            raise TypeError(
                f"{name}() got an unexpected keyword argument '{wrong}'" if wrong else f"{name}(): wrong arguments"
            )
        return reductions.reduce(name, self, **dict(zip(parameters, args, strict=False)), **kwargs)

    method.__name__ = name
    return method


for _name in ("sum", "prod", "mean", "cumsum", "cumprod"):
    _keys = ("axis", "dtype", "out") if _name.startswith("cum") else ("axis", "dtype", "out", "keepdims")
    setattr(ndarray, _name, _reduction(_name, *_keys))
for _name in ("max", "min", "any", "all", "ptp"):
    setattr(ndarray, _name, _reduction(_name, "axis", "out", "keepdims"))
for _name in ("argmax", "argmin"):
    setattr(ndarray, _name, _reduction(_name, "axis", "out", "dtype", "keepdims"))
for _name in ("var", "std"):
    setattr(ndarray, _name, _reduction(_name, "axis", "dtype", "out", "ddof", "keepdims"))

BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "matmul": "matmul",
    "divmod": "divmod",
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}


def _binary(name: str, swapped: bool = False) -> Any:
    def method(self: ndarray, other: Any) -> Any:
        # Objects that opt out of NumPy's functions, such as tensors, compute the result themselves.
        if getattr(other, "__array_ufunc__", 0) is None:
            return NotImplemented
        return _cupy(name)(*((other, self) if swapped else (self, other)))

    return method


def _in_place(name: str) -> Any:
    return lambda self, other: _cupy(name)(self, other, self)


def _comparison(name: str) -> Any:
    def method(self: ndarray, other: Any) -> Any:
        if getattr(other, "__array_ufunc__", 0) is None:
            return NotImplemented
        if isinstance(other, np.ndarray) and other.ndim == 0:
            other = other.item()
        return _cupy(name)(self, other)

    return method


def _unary(name: str) -> Any:
    return lambda self: _cupy(name)(self)


for _name, _ufunc in BINARY.items():
    setattr(ndarray, f"__{_name}__", _binary(_ufunc))
    setattr(ndarray, f"__r{_name}__", _binary(_ufunc, swapped=True))
    if _name not in ("matmul", "divmod"):
        setattr(ndarray, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in COMPARISONS.items():
    setattr(ndarray, f"__{_name}__", _comparison(_ufunc))
for _name, _ufunc in UNARY.items():
    setattr(ndarray, f"__{_name}__", _unary(_ufunc))


def wrapped(values: Any, base: ndarray | None = None) -> ndarray:
    """Return an array of the device with these values."""
    array = ndarray.__new__(ndarray)
    values = np.asarray(values)
    if not values.flags.writeable:  # of NumPy's views some may not be written to, of CuPy's all may
        values.flags.writeable = True
    array._values, array._base = values, base
    return array


def lifted(value: Any) -> Any:
    """Return NumPy's result, with its arrays and scalars on the device, in C order."""
    if isinstance(value, np.ndarray | np.generic):
        return wrapped(np.ascontiguousarray(value).reshape(np.shape(value)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(lifted, value))
    if isinstance(value, tuple | list):
        return type(value)(map(lifted, value))
    return value


def values_of(value: Any) -> Any:
    """Return the operands for NumPy: an array's values, and scalars of Python and NumPy; refuse others."""
    if isinstance(value, ndarray):
        return value._values
    if value is None or isinstance(value, SCALARS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def converted(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return the values in a dtype, silently, as a GPU converts; the same object where they are in it."""
    if values.dtype == dtype:
        return values
    if values.dtype.kind == "c" and dtype.kind not in "cb":
        values = values.real
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def _cupy(name: str) -> Any:
    """Return CuPy's function of this name, dots and all; None if CuPy lacks it."""
    from .modules import CUPY

    if "." not in name:
        return getattr(CUPY, name, None)
    result: Any = CUPY
    for part in name.split("."):
        result = getattr(result, part, None)
    return result


def _from_host(values: Any) -> ndarray:
    copied("unpickling", "device", values.nbytes)
    return wrapped(values.copy())
