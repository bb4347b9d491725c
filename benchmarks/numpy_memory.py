"""How many bytes NumPy's arrays take, counted where NumPy asks for their memory and gives it back.

tracemalloc counts Python's objects and what compiled code takes for itself with them, and knows the most of all alone.
"""

from __future__ import annotations

import ctypes

import numpy as np

__all__ = ["Counted"]

_size, _pointer = ctypes.c_size_t, ctypes.c_void_p
_malloc = ctypes.CFUNCTYPE(_pointer, _pointer, _size)
_calloc = ctypes.CFUNCTYPE(_pointer, _pointer, _size, _size)
_realloc = ctypes.CFUNCTYPE(_pointer, _pointer, _pointer, _size)
_free = ctypes.CFUNCTYPE(None, _pointer, _pointer, _size)
_SET_HANDLER = 304  # the place of PyDataMem_SetHandler in NumPy's table of C functions (numpy_api.py)

_library = ctypes.CDLL(None)
for _function, _arguments in (("malloc", [_size]), ("calloc", [_size] * 2), ("realloc", [_pointer, _size])):
    getattr(_library, _function).argtypes, getattr(_library, _function).restype = _arguments, _pointer
_library.free.argtypes, _library.free.restype = [_pointer], None


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler."""

    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", _pointer), ("malloc", _malloc),
        ("calloc", _calloc), ("realloc", _realloc), ("free", _free),
    )  # fmt: skip


_handlers: list[_Handler] = []
"""For good: an array may outlive the context, and asks for this at its end."""


class Counted:
    """A context in which the arrays that this thread makes are counted, until they are gone; to be used once.

    Attributes:
        now: bytes of those that are there.
        most: the largest that ``now`` was; who sets it anew counts from there.
    """

    def __init__(self) -> None:
        self.now = self.most = 0
        self._sizes: dict[int, int] = {}
        self._handler = _Handler(
            b"counted", 1, None, _malloc(lambda _, size: self._taken(_library.malloc(size), size)),
            _calloc(lambda _, count, size: self._taken(_library.calloc(count, size), count * size)),
            _realloc(self._moved), _free(lambda _, place, _size: self._given_back(place)),
        )  # fmt: skip
        _handlers.append(self._handler)

    def _taken(self, place: int | None, size: int) -> int | None:
        if place is not None:
            self._sizes[place] = size
            self.now += size
            self.most = max(self.most, self.now)
        return place

    def _given_back(self, place: int | None) -> None:
        if place is not None:
            self.now -= self._sizes.pop(place)
            _library.free(place)

    def _moved(self, _: object, place: int | None, size: int) -> int | None:
        moved: int | None = _library.realloc(place, size)
        if moved is not None:
            self.now -= self._sizes.pop(place, 0) if place is not None else 0
            self._taken(moved, size)
        return moved

    def __enter__(self) -> Counted:
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = [_pointer, ctypes.c_char_p, _pointer], ctypes.py_object
        self._before = self._set(new(ctypes.addressof(self._handler), b"mem_handler", None))
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._set(self._before)

    @staticmethod
    def _set(handler: object) -> object:
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], _pointer
        functions = pointer(np._core._multiarray_umath._ARRAY_API, None)
        table = ctypes.cast(functions, ctypes.POINTER(_pointer))
        return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])(handler)
