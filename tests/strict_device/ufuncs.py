"""CuPy's ufuncs: the loops that it has, chosen as it chooses them, into new arrays in C order.

The rules are those of ``cupy/_core/_kernel.pyx``: the first loop to which all operands can be cast. A number of
Python's counts by its kind alone, unless it is of a higher kind than all the arrays.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from . import facts, indexing
from .arrays import converted, ndarray, values_of, wrapped
from .counts import launched
from .reductions import HALVES

__all__ = ["Ufunc", "kinds_and_dtypes"]

WEAK = (bool, int, float, complex)


class Ufunc:
    """One ufunc, whose loops are ``described``; ``compute`` is NumPy's or SciPy's."""

    __module__ = "cupy"

    def __init__(self, name: str, described: dict[str, Any], compute: Any) -> None:
        self.__name__ = name
        self.types = described["loops"].split()
        self.nin: int = described["inputs"]
        self.loops = facts.loops(described["loops"])
        self.nout = len(self.loops[0][1])
        self.nargs = self.nin + self.nout
        self._compute = compute

    def __repr__(self) -> str:
        return f"<ufunc 'cupy_{self.__name__}'>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out, dtype = kwargs.pop("out", None), kwargs.pop("dtype", None)
        where, casting = kwargs.pop("_where", None), kwargs.pop("casting", "same_kind")
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs}")
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(
                f"Wrong number of arguments for 'cupy_{self.__name__}'. It must be either {self.nin} or {self.nargs} "
                f"(with outputs), but given {len(args)}."
            )
        outs: list[Any] = list(args[self.nin :])
        if out is not None:
            if outs:
                raise ValueError("Cannot specify 'out' as both a positional and keyword argument")
            outs = list(out) if isinstance(out, tuple) else [out]
        outs += [None] * (self.nout - len(outs))
        operands = args[: self.nin]
        values = [values_of(x) for x in operands]  # refuses all but arrays of the device and scalars
        for destination in outs:
            if destination is not None and not isinstance(destination, ndarray):
                values_of(destination)
                raise TypeError("Output arguments type must be cupy.ndarray")
        takes, gives = self._loop(operands, dtype)
        copies = sum(_overlap(x, output) for x in operands for output in outs)
        launched(self.__name__, 1 + copies)
        result = self._computed([_cast(*pair) for pair in zip(values, takes, strict=True)], takes)
        results = []
        for value, kind, destination in zip(result, gives, outs, strict=True):
            results.append(_stored(value, kind, destination, casting, where))
        return results[0] if self.nout == 1 else tuple(results)

    def _loop(self, operands: tuple[Any, ...], dtype: Any) -> Any:
        if dtype is None:
            result = _guessed(self.loops, *kinds_and_dtypes(operands))
        else:
            dtype = np.dtype(dtype)
            result = next((loop for loop in self.loops if all(kind == dtype for kind in loop[1])), None)
        if result is None:
            what = dtype if dtype is not None else tuple(getattr(x, "dtype", type(x)) for x in operands)
            raise TypeError(f"Wrong type ({what}) of arguments for cupy_{self.__name__}")
        return result

    def _computed(self, values: list[Any], takes: tuple[Any, ...]) -> tuple[Any, ...]:
        # A GPU has no arithmetic on bfloat16, and computes in float32; so do we, and for half precision alike.
        values = [
            converted(x, np.dtype(np.float32)) if kind in HALVES else x for x, kind in zip(values, takes, strict=True)
        ]
        with np.errstate(all="ignore"):
            result = self._compute(*values)
        if any(result is x for x in values):  # for integers some of NumPy's functions return their input
            result = result.copy()
        return result if isinstance(result, tuple) else (result,)

    def at(self, array: ndarray, indices: Any, values: Any = None) -> None:
        indexing.scatter(self.__name__, array, indices, values)

    def reduce(self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        return self._method("reduce", {"add": "sum", "multiply": "prod"})(array, axis, dtype, out, keepdims)

    def accumulate(self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        return self._method("accumulate", {"add": "cumsum", "multiply": "cumprod"})(array, axis, dtype, out)

    def reduceat(self, array: ndarray, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        self._method("reduceat", {"add": "sum"})
        launched("add.reduceat", 2)
        positions = values_of(indices) if isinstance(indices, ndarray) else np.asarray(indices)
        return wrapped(np.add.reduceat(array._values, positions, axis, dtype))

    def _method(self, name: str, has: dict[str, str]) -> Any:
        if self.__name__ not in has:
            raise NotImplementedError(f"`cupy_{self.__name__}.{name}` is not supported yet")
        return operator.attrgetter(has[self.__name__])(ndarray)

    def outer(self, first: Any, second: Any, **kwargs: Any) -> Any:
        return self(first.reshape(first.shape + (1,) * second.ndim), second, **kwargs)


def kinds_and_dtypes(operands: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the dtypes of the operands, and for each whether it is a number of Python's, and then of which type."""
    dtypes, weak = [], []
    for x in operands:
        kind = next((kind for kind in WEAK if type(x) is kind), None)
        weak.append(kind)
        dtypes.append(np.dtype(kind) if kind else x.dtype)
    return tuple(dtypes), tuple(weak)


def _height(dtype: np.dtype[Any]) -> int:
    return 0 if dtype.kind == "b" else 1 if dtype.kind in "iu" else 2


@functools.cache
def _guessed(loops: tuple[facts.Loop, ...], dtypes: tuple[Any, ...], weak: tuple[Any, ...]) -> facts.Loop | None:
    arrays = [_height(dtype) for dtype, kind in zip(dtypes, weak, strict=True) if kind is None]
    numbers = [_height(dtype) for dtype, kind in zip(dtypes, weak, strict=True) if kind is not None]
    if not (arrays and numbers and max(arrays) >= max(numbers)):
        weak = (None,) * len(dtypes)
    for loop in loops:
        if all(_fits(*item) for item in zip(dtypes, weak, loop[0], strict=True)):
            return loop
    return None


def _fits(dtype: Any, weak: Any, loop: Any) -> bool:
    if np.can_cast(dtype, loop):
        return True
    try:
        return weak is not None and np.result_type(weak(0), loop) == loop
    except TypeError:
        return False


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    if type(value) in WEAK:
        return np.asarray(value, dtype)  # OverflowError where the number has no place in it
    return converted(np.asarray(value), dtype)


def _overlap(x: Any, out: Any) -> bool:
    """Return whether CuPy copies an operand first, since results are written where it lies."""
    return isinstance(x, ndarray) and out is not None and x is not out and np.may_share_memory(x._values, out._values)


def _stored(value: Any, dtype: Any, out: Any, casting: str, where: Any) -> Any:
    value = converted(np.asarray(value), dtype)
    if out is None:
        fresh = value.flags.owndata and value.flags.c_contiguous
        return wrapped(value if fresh else np.array(value, order="C"))
    if out.shape != value.shape:
        raise ValueError("Out shape is mismatched")
    if not np.can_cast(dtype, out.dtype, casting):
        raise TypeError(
            f"output (typecode '{dtype}') could not be coerced to provided output parameter (typecode "
            f"'{out.dtype}') according to the casting rule \"{casting}\""
        )
    chosen = True if where is None else values_of(where)
    np.copyto(out._values, converted(value, out.dtype), where=chosen)
    return out
