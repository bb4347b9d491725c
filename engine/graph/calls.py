"""What Python code calls while it is traced: code that was not looked through, and functions that are not pure.

Python's own profiler hook tells of each. What the engine's operators call is their own affair; what the user's code
calls must give the same for the same arguments, or no plan can be made.
"""

from __future__ import annotations

import gc
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

from ..base.code_origin import is_engine, is_library
from .reads import Reads, codes_in
from .traced_array import TRACED

__all__ = ["AsksForTypes", "Calls", "is_pure"]

_PURE = frozenset(
    (
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "callable",
        "chr",
        "delattr",
        "dir",
        "divmod",
        "format",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "max",
        "min",
        "next",
        "oct",
        "ord",
        "pow",
        "repr",
        "round",
        "setattr",
        "sorted",
        "sum",
        "__build_class__",
    )
)
_EFFECTS = {
    "print": "print() is called, and a plan would not print",
    "input": "input() is called, and a plan would not ask",
    "open": "open() is called, and a plan would not open a file",
}
_PURE_MODULES = (
    "math",
    "cmath",
    "_operator",
    "operator",
    "itertools",
    "_functools",
    "functools",
    "_collections",
    "_abc",
    "_typing",
    "_struct",
)
_PLAIN: tuple[type, ...] = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    list,
    tuple,
    dict,
    set,
    frozenset,
    range,
    slice,
    np.ndarray,
    np.generic,
    np.dtype,
    type(iter([])),
    type(iter(())),
    type({}.values()),
    type({}.keys()),
    type({}.items()),
    types.MappingProxyType,
)
_PURE_FILES = (
    "functools",
    "contextlib",
    "typing",
    "enum",
    "dataclasses",
    "copy",
    "operator",
    "types",
    "abc",
    "numbers",
    "_collections_abc",
    "inspect",
    "string",
    "textwrap",
    "weakref",
    "keyword",
    "reprlib",
)
_FROZEN = ("<frozen importlib", "<frozen abc", "<frozen _collections_abc", "<frozen codecs")
_ROOMS = (
    "base",
    "tape",
    "tensors",
    "autograd",
    "cpu",
    "ops",
    "nn",
    "mint",
    "numpy",
    "graph",
    "methods.py",
    "amp.py",
    "jit.py",
    "common",
    "boost.py",
    "communication",
    "distributed",
)
"""Of the engine: what gives the same for the same arguments and the same numbers of the stream."""
_ENGINE = Path(__file__).parents[1]
_KERNELS = f"{_ENGINE.with_name('triton_kernels')}{os.sep}"
_OF_ENGINE = ("numba", "llvmlite", "scipy", "threadpoolctl.py", "ml_dtypes", "cupy", "triton")
"""Libraries that the engine computes with."""
_PACKAGE = __name__.partition(".engine.")[0] + "."
_STATEFUL = frozenset(
    (
        "get_seed",
        "set_seed",
        "manual_seed",
        "initial_seed",
        "get_state",
        "set_state",
        "seed",
        "get_rng_state",
        "set_rng_state",
    )
)
"""Functions of those rooms that read or set what no guard looks at."""


class AsksForTypes(BaseException):
    """Code is about to run that was not looked through, and that may tell lengths from ints; no code is to catch it."""


class Calls:
    """What was called in one run.

    Args:
        reads: what the code that was looked through before can read.
        tracer: told why no plan can be made.
        has_lengths: whether lengths stand in the place of ints, which ``type`` tells from ints.

    Attributes:
        unknown: functions or methods that ran and were not looked through, by their code.
        line: the user's line at which a function of the user's ended last, as ``file:line``.
    """

    def __init__(self, reads: Reads, tracer: Any, has_lengths: bool = False) -> None:
        self.unknown: dict[types.CodeType, list[Any]] = {}
        self.line = ""
        self._codes = reads.codes
        self._left_out = reads.left_out
        self._reflects = reads.reflects
        self._tracer = tracer
        self._has_lengths = has_lengths
        self._judged: dict[types.CodeType, str] = {}
        self._before: tuple[Any, bool] | None = None
        self._drawn: Any = None

    def start(self) -> None:
        """From now on this thread's calls are looked at.

        The collector of garbage rests: what it calls, anybody's finalizers, is not called by the function.
        """
        self._before = sys.getprofile(), gc.isenabled()
        self._drawn = _stream_of_numpy() if self._reflects else None  # other code is seen to name numpy.random
        gc.disable()
        sys.setprofile(self._called)

    def is_on(self) -> bool:
        """Whether calls are looked at; Python stops that where an interrupt comes while one is."""
        return sys.getprofile() == self._called

    def stop(self) -> None:
        """No longer, and all is as it was before."""
        if self._before is None:
            return
        before, collects = self._before
        sys.setprofile(before if before is None or callable(before) else None)
        if hasattr(before, "enable"):  # cProfile's, which is no function of Python
            before.enable()
        if collects:
            gc.enable()
        self._before = None
        # Functions of Cython's, whose calls Python does not tell, may have drawn.
        if self._reflects and _stream_of_numpy() != self._drawn:
            self._leak("numpy.random is called, whose numbers a plan cannot draw")

    def _called(self, frame: types.FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call":
            verdict = self._judged.get(code)
            if verdict is None:
                verdict = self._judged[code] = self._judgment(code)
            if verdict == "unknown":
                if not (_is_generated(frame) or self._is_of_a_library(frame.f_back)):
                    self._meet(frame)
            elif verdict and self._is_by_user(frame.f_back):
                self._leak(verdict)
        elif event == "return" and code in self._codes:
            self.line = f"{code.co_filename}:{frame.f_lineno}"
        elif event == "c_call" and code in self._codes and not is_pure(argument):
            name = getattr(argument, "__qualname__", repr(argument))
            self._leak(_EFFECTS.get(name) or f"{name}() is called, whose result may be another one each time")

    def _leak(self, why: str) -> None:
        self._tracer.waits = True
        self._tracer.leak(why)

    def _judgment(self, code: types.CodeType) -> str:
        """ "" for code that may run, "unknown" for what is to be looked through, else why it cannot be."""
        file = code.co_filename
        if code in self._codes or file.startswith(_KERNELS):
            return ""
        if is_engine(file):
            room = Path(file).relative_to(_ENGINE).parts[0]
            if room not in _ROOMS or code.co_name in _STATEFUL:
                return f"{code.co_qualname}() is called, whose result may be another one each time"
            return ""
        parts = Path(file).parts
        if is_library(file) or any(name in parts for name in _OF_ENGINE):
            if Path(file).stem in _PURE_FILES or ("numpy" in parts and "random" not in parts):
                return ""
            if code.co_name == "_module_repr":
                return "the text of a module is made, which a plan cannot watch"
            if "collections" in parts or file.startswith(_FROZEN):
                return ""
            return f"{code.co_qualname}() is called, whose result may be another one each time"
        if file.startswith("<__array_function__"):
            return ""  # NumPy's dispatch
        return "unknown"

    def _is_by_user(self, frame: types.FrameType | None) -> bool:
        """Whether code of the user's made the call, itself or through a library."""
        while frame is not None and frame.f_code not in self._codes:
            if is_engine(frame.f_code.co_filename):
                return False
            frame = frame.f_back
        return True

    def _is_of_a_library(self, frame: types.FrameType | None) -> bool:
        """Whether it runs because the engine imports or calls a library."""
        while frame is not None and frame.f_code not in self._codes:
            file = frame.f_code.co_filename
            if is_engine(file):
                return False
            if file.startswith("<frozen importlib") or any(name in Path(file).parts for name in _OF_ENGINE):
                return not self._is_by_user(frame)
            frame = frame.f_back
        return False

    def _meet(self, frame: types.FrameType) -> None:
        if frame.f_code in self.unknown:
            return
        self._tracer.waits = True
        if self._has_lengths and any("type" in code.co_names for code in codes_in(frame.f_code)):
            raise AsksForTypes
        # Of another than a method that was left out nobody knows the function, and so not what its closure holds.
        self.unknown[frame.f_code] = self._left_out.get(frame.f_code) or [
            types.FunctionType(
                frame.f_code,
                frame.f_globals,
                closure=tuple([types.CellType() for _ in frame.f_code.co_freevars]) or None,
            )
        ]


def _stream_of_numpy() -> Any:
    """Where the random numbers of NumPy's own functions have come to."""
    state: Any = np.random.get_state(legacy=False)
    place = [part.tobytes() if isinstance(part, np.ndarray) else part for part in state["state"].values()]
    return place, state.get("has_gauss"), state.get("gauss")


def _is_generated(frame: types.FrameType) -> bool:
    """Whether it is a method that ``dataclasses`` wrote for a class of this package."""
    return frame.f_code.co_filename == "<string>" and frame.f_globals.get("__name__", "").startswith(_PACKAGE)


def is_pure(function: Any) -> bool:
    """Whether a function that is written in C gives the same for the same arguments, and does nothing else.

    Args:
        function: the function, or a method.
    """
    owner = getattr(function, "__self__", None)
    if owner is None:
        owner = getattr(function, "__objclass__", None)
        return owner is None or issubclass(owner, _PLAIN) or owner in (object, type)
    if isinstance(owner, types.ModuleType):
        name = owner.__name__
        if name == "builtins":
            return function.__name__ in _PURE
        return name in _PURE_MODULES or (name.startswith("numpy") and "random" not in name)
    if type(owner) in TRACED:
        return True  # it tells by itself
    if isinstance(owner, type):
        return issubclass(owner, _PLAIN) or owner in (object, type)
    return isinstance(owner, _PLAIN) or (type(owner).__module__ == "builtins" and _is_iterator(owner))


def _is_iterator(owner: Any) -> bool:
    return hasattr(type(owner), "__next__") and not isinstance(owner, types.GeneratorType)
