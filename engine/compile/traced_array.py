"""Traced arrays: placeholders that tensors hold during a trace; each has a Value and reports reads of its numbers.

A traced array wraps the plain array, so that shape, dtype and layout are available. Functions and methods that read
numbers compute with the plain array and notify the tracer. NumPy calls of the engine's own code become nodes of the
plan if their output shape depends on shapes alone (``_STEPS``). Any other read has unknown dependencies and is a graph
break. For a NumPy array the placeholder is a NumPy array itself (``TracedArray``). CuPy's functions would read the
numbers of a subclass without notice, so for a CuPy array it is only a stand-in (``TracedDeviceArray``), from which CuPy
requests the array.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..tape.tape import state

__all__ = ["TRACED", "TracedArray", "TracedDeviceArray", "array_types", "layout_of", "plain", "traced_over", "type_of"]


class TracedArray(np.ndarray[Any, Any]):
    """A placeholder for a NumPy array, see above.

    Attributes:
        value: its Value in the graph; None if NumPy derived it from another one.
        plain_array: the plain array.
        tracer: the tracer to notify; None after the trace.
        lengths: its symbolic shape, if it has one; else None.
    """

    value: Any = None
    plain_array: Any = None
    tracer: Any = None
    lengths: tuple[Any, ...] | None = None

    @classmethod
    def over(cls, array: np.ndarray[Any, Any], value: Any, tracer: Any) -> TracedArray:
        """Return a placeholder for a plain array."""
        placeholder = np.ndarray.view(array, cls)
        placeholder.value, placeholder.plain_array, placeholder.tracer = value, array, tracer
        if value is not None and value.sizes is not None:
            placeholder.lengths = tuple([tracer.lengths.of(size) for size in value.sizes])
        return placeholder

    def __array_finalize__(self, source: Any) -> None:
        """Do nothing: arrays that NumPy derives from it have no value."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and kwargs.keys() <= {"dtype"}:
            step = _step(ufunc, inputs, kwargs)
            if step is not NotImplemented:
                return step
        _tell(inputs, f"numpy.{ufunc.__name__}")
        if "out" in kwargs:
            kwargs["out"] = tuple([plain(x) for x in kwargs["out"]])
        return getattr(ufunc, method)(*[plain(x) for x in inputs], **kwargs)

    def __array_function__(  # type: ignore[override]
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = getattr(func, "__name__", "")
        arrays = _STEPS.get(name, 0)
        if len(args) >= arrays > 0 and not _has_traced((args[arrays:], kwargs)):
            step = _step(func, args, kwargs)
            if step is not NotImplemented:
                return step
        if name not in _OF_SHAPE:
            _tell((self,), f"numpy.{name}")
        if name == "shape":
            return self.shape
        if name not in ("ndim", "result_type", "may_share_memory"):
            _pin((args, kwargs))
        return func(*_plain_parts(args), **_plain_parts(kwargs))

    def __len__(self) -> int:
        length: int = self.shape[0] if self.ndim else np.ndarray.__len__(self)
        return length

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Return a second array of the same value; with a different dtype or type, read its numbers."""
        tracer = self.tracer
        if args or kwargs or tracer is None or tracer is not state.tracer:  # over, or another thread's
            _tell((self,), "numpy.ndarray.view")
            return plain(self).view(*args, **kwargs)
        return tracer.renamed(self)

    def __reduce__(self) -> Any:
        return plain(self).__reduce__()


_OF_SHAPE = (
    "shape",
    "ndim",
    "size",
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "result_type",
    "may_share_memory",
)


_STEPS = {
    "where": 3,
    "take_along_axis": 2,
    "broadcast_to": 1,
    "argsort": 1,
    "sort": 1,
    "argmax": 1,
    "argmin": 1,
    "cumsum": 1,
    "concatenate": 1,
    "stack": 1,
    "swapaxes": 1,
    "moveaxis": 1,
    "expand_dims": 1,
    "roll": 1,
    "flip": 1,
    "clip": 1,
    "any": 1,
    "all": 1,
    "sum": 1,
    "prod": 1,
    "mean": 1,
    "max": 1,
    "min": 1,
    "amax": 1,
    "amin": 1,
    "tril": 1,
    "triu": 1,
    "take": 2,
    "searchsorted": 2,
    "diff": 1,
    "pad": 1,
    "transpose": 1,
    "reshape": 1,
}
"""Functions whose result shape depends on shapes alone, with the number of arguments that may be traced arrays."""
_METHOD_STEPS = {
    "astype": 1,
    "reshape": 1,
    "transpose": 1,
    "swapaxes": 1,
    "ravel": 1,
    "flatten": 1,
    "squeeze": 1,
    "sum": 1,
    "prod": 1,
    "mean": 1,
    "var": 1,
    "std": 1,
    "max": 1,
    "min": 1,
    "any": 1,
    "all": 1,
    "argmax": 1,
    "argmin": 1,
    "argsort": 1,
    "cumsum": 1,
    "conj": 1,
    "clip": 1,
    "round": 1,
    "take": 2,
    "diagonal": 1,
    "trace": 1,
    "searchsorted": 2,
}
"""Methods with the same property; the first argument is the array."""


def _step(function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Record a NumPy call of the engine's own code and return its result; NotImplemented for other callers."""
    for array in _traced_in(inputs):
        tracer = array.tracer  # another thread may end the trace between two reads
        if tracer is not None and array.value is not None:
            return tracer.array_function(function, inputs, attrs)
    return NotImplemented


def _traced_in(value: Any) -> list[TracedArray]:
    if isinstance(value, tuple | list):
        return [array for part in value for array in _traced_in(part)]
    if isinstance(value, dict):
        return _traced_in(list(value.values()))
    if type(value) is slice:
        return _traced_in((value.start, value.stop, value.step))
    return [value] if type(value) is TracedArray else []


def _has_traced(value: Any) -> bool:
    return bool(_traced_in(value))


def _picks(index: Any) -> bool:
    """Return whether the shape of ``x[index]`` depends on shapes alone."""
    parts = index if type(index) is tuple else (index,)
    return all(
        part is None
        or part is Ellipsis
        or type(part) is int
        or isinstance(part, np.integer)
        or (type(part) is slice and not _has_traced(part))
        or (type(part) is TracedArray and np.ndarray.dtype.__get__(part).kind in "iu")
        for part in parts
    )


def type_of(array: Any) -> type:
    """Return the type of an array, or of the plain array behind a traced one, of any thread.

    Args:
        array: an array.
    """
    if type(array) is TracedArray:
        return np.ndarray
    return type(array.plain_array) if type(array) is TracedDeviceArray else type(array)


def layout_of(array: Any) -> Any:
    """Return the memory layout of an array: True if it is C-contiguous, else its strides.

    Args:
        array: an array, or a traced one.
    """
    array = plain(array)
    return True if array.flags.c_contiguous else array.strides


def plain(value: Any) -> Any:
    """Return the plain array of a traced one; other values are returned unchanged.

    Args:
        value: an array, or another value.
    """
    if type(value) is TracedDeviceArray:
        return value.plain_array
    if type(value) is not TracedArray:
        return value
    return np.ndarray.view(value, np.ndarray) if value.plain_array is None else value.plain_array


def _plain_parts(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)([_plain_parts(part) for part in value])
    if isinstance(value, dict):
        return {key: _plain_parts(part) for key, part in value.items()}
    return plain(value)


def _pin(value: Any) -> None:
    """Guard the plan by the current shapes of traced arrays."""
    if isinstance(value, tuple | list):
        for part in value:
            _pin(part)
    elif isinstance(value, dict):
        _pin(tuple(value.values()))
    elif type(value) is TracedArray:
        for length in value.lengths or ():
            operator.index(length)


def _tell(values: tuple[Any, ...], what: str) -> None:
    for value in values:
        tracer = value.tracer if type(value) in TRACED else None
        if tracer is not None:
            tracer.leak_numbers(what)
            return


def _reading(name: str) -> Callable[..., Any]:
    function = getattr(np.ndarray, name)

    arrays = _METHOD_STEPS.get(name, 0)

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        if _picks(args[0]) if name == "__getitem__" else arrays and not _has_traced((args[arrays - 1 :], kwargs)):
            step = _step(function, (self, *args), kwargs)
            if step is not NotImplemented:
                return step
        _tell((self,), f"numpy.ndarray.{name}")
        return function(plain(self), *_plain_parts(args), **_plain_parts(kwargs))

    method.__name__ = name
    return method


for _name in (
    "__getitem__",
    "__setitem__",
    "__iter__",
    "__bool__",
    "__int__",
    "__float__",
    "__complex__",
    "__index__",
    "__contains__",
    "__array__",
    "__copy__",
    "__deepcopy__",
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "astype",
    "byteswap",
    "choose",
    "clip",
    "compress",
    "conj",
    "conjugate",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "dump",
    "dumps",
    "fill",
    "flatten",
    "item",
    "itemset",
    "max",
    "mean",
    "min",
    "nonzero",
    "partition",
    "prod",
    "ptp",
    "put",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "searchsorted",
    "sort",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "tobytes",
    "tofile",
    "tolist",
    "tostring",
    "trace",
    "transpose",
    "var",
):
    if hasattr(np.ndarray, _name):
        setattr(TracedArray, _name, _reading(_name))


def _read_attribute(name: str) -> property:
    descriptor = getattr(np.ndarray, name)

    engine_functions: dict[str, Any] = {"T": np.transpose, "real": np.real, "imag": np.imag}
    function = engine_functions.get(name)

    def get(self: TracedArray) -> Any:
        step = NotImplemented if function is None else _step(function, (self,), {})
        if step is not NotImplemented:
            return step
        _tell((self,), f"numpy.ndarray.{name}")
        return descriptor.__get__(plain(self))

    return property(get)


def _seen_attribute(name: str, of_lengths: Callable[..., Any] | None) -> property:
    descriptor = getattr(np.ndarray, name)

    def get(self: TracedArray) -> Any:
        tracer, lengths = self.tracer, self.lengths  # another thread may end the trace between two reads
        if tracer is not None and self.value is not None:
            tracer.graph.shape_reads.add(self.value)
            if self.value in tracer.inner and name != "dtype":
                tracer.lengths.pin_all()
        return descriptor.__get__(self) if lengths is None or of_lengths is None else of_lengths(lengths, self)

    return property(get)


def _of_layout(name: str) -> property:
    """Return a property for an attribute of the memory layout, which may differ for other dimensions."""
    descriptor = getattr(np.ndarray, name)

    def get(self: TracedArray) -> Any:
        tracer = self.tracer
        if tracer is not None and self.value is not None:
            tracer.graph.shape_reads.add(self.value)
        if tracer is not None and tracer.lengths is not None:
            tracer.lengths.pin_all()
        return descriptor.__get__(self)

    return property(get)


for _name in ("strides", "flags"):
    setattr(TracedArray, _name, _of_layout(_name))

for _name, _of_lengths in (
    ("shape", lambda lengths, array: lengths),
    ("size", lambda lengths, array: math.prod(lengths)),
    ("nbytes", lambda lengths, array: math.prod(lengths) * array.itemsize),
    *((_name, None) for _name in ("dtype", "ndim", "itemsize")),
):
    setattr(TracedArray, _name, _seen_attribute(_name, _of_lengths))

for _name in ("T", "real", "imag", "flat", "ctypes", "data", "__array_interface__", "__array_struct__"):
    setattr(TracedArray, _name, _read_attribute(_name))


class TracedDeviceArray:
    """A stand-in for a CuPy array.

    Attributes:
        value: its Value in the graph.
        plain_array: the plain array.
        tracer: the tracer to notify; None after the trace.
    """

    __slots__ = ("__weakref__", "plain_array", "tracer", "value")

    def __init__(self, array: Any, value: Any, tracer: Any) -> None:
        self.plain_array, self.value, self.tracer = array, value, tracer

    @property  # type: ignore[misc]  # only read
    def __class__(self) -> type:  # makes ``isinstance`` accept it as a CuPy array
        return type(self.plain_array)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.plain_array, name)  # a missing attribute reads nothing
        tracer = self.tracer
        if name in _OF_LAYOUT and tracer is not None:
            tracer.graph.shape_reads.add(self.value)
        if name not in _OF_LAYOUT:
            _tell((self,), f"cupy.ndarray.{name}")
        return attribute

    def __len__(self) -> int:
        return len(self.plain_array)

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Return a second array of the same value; with a different dtype or type, read its numbers."""
        tracer = self.tracer
        if args or kwargs or tracer is None or tracer is not state.tracer:  # over, or another thread's
            _tell((self,), "cupy.ndarray.view")
            return self.plain_array.view(*args, **kwargs)
        return tracer.renamed(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        _tell(inputs, f"numpy.{ufunc.__name__}")
        return getattr(ufunc, method)(*_plain_parts(inputs), **_plain_parts(kwargs))

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        _tell((self,), f"numpy.{func.__name__}")
        return func(*_plain_parts(args), **_plain_parts(kwargs))


TracedDeviceArray.__module__ = "cupy"  # the kernels find its library by this (``array_module``)
TRACED = (TracedArray, TracedDeviceArray)
_OF_LAYOUT = ("strides", "flags", "device")


def _seen_on_device(name: str) -> property:
    def get(self: TracedDeviceArray) -> Any:
        tracer = self.tracer
        if tracer is not None:
            tracer.graph.shape_reads.add(self.value)
        return getattr(self.plain_array, name)

    return property(get)


for _name in ("shape", "dtype", "ndim", "size", "nbytes", "itemsize"):
    setattr(TracedDeviceArray, _name, _seen_on_device(_name))


def _reading_on_device(name: str) -> Callable[..., Any]:
    def method(self: TracedDeviceArray, *args: Any) -> Any:
        _tell((self,), f"cupy.ndarray.{name}")
        return getattr(self.plain_array, name)(*_plain_parts(args))

    method.__name__ = name
    return method


# Special methods, which Python looks up in the class.
for _name in (
    "abs",
    "add",
    "and",
    "array",
    "bool",
    "complex",
    "copy",
    "deepcopy",
    "divmod",
    "eq",
    "float",
    "floordiv",
    "ge",
    "getitem",
    "gt",
    "iadd",
    "iand",
    "ifloordiv",
    "ilshift",
    "imod",
    "imul",
    "index",
    "int",
    "invert",
    "ior",
    "ipow",
    "irshift",
    "isub",
    "itruediv",
    "ixor",
    "le",
    "lshift",
    "lt",
    "matmul",
    "mod",
    "mul",
    "ne",
    "neg",
    "or",
    "pos",
    "pow",
    "radd",
    "rand",
    "rdivmod",
    "reduce",
    "rfloordiv",
    "rlshift",
    "rmatmul",
    "rmod",
    "rmul",
    "ror",
    "rpow",
    "rrshift",
    "rshift",
    "rsub",
    "rtruediv",
    "rxor",
    "setitem",
    "sub",
    "truediv",
    "xor",
):
    setattr(TracedDeviceArray, f"__{_name}__", _reading_on_device(f"__{_name}__"))


def array_types() -> tuple[type, ...]:
    """Return the types of plain arrays: NumPy's, and CuPy's if it was imported."""
    cupy = sys.modules.get("cupy")
    return (np.ndarray,) if cupy is None else (np.ndarray, cupy.ndarray)


def traced_over(array: Any, value: Any, tracer: Any) -> Any:
    """Return a placeholder for a plain array, valid during a trace.

    Args:
        array: a NumPy or CuPy array.
        value: its Value.
        tracer: the tracer to notify.
    """
    return (TracedArray.over if isinstance(array, np.ndarray) else TracedDeviceArray)(array, value, tracer)
