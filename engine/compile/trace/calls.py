"""Calls of Python code during a trace: detection of uninspected code and of impure functions.

Python's profiler hook reports each call. Calls inside the engine's operators are ignored. The user's code must only
call functions that return the same result for the same arguments; otherwise no plan can be made.
"""

from __future__ import annotations

import gc
import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np

from ...base.code_origin import is_engine, is_library
from ..guards.code_names import codes_in
from ..guards.inspection import Inspection
from ..guards.pure_functions import is_pure

__all__ = ["Calls", "TypeInquiry"]

_EFFECTS = {
    "print": "print() is called, and a plan would not print",
    "input": "input() is called, and a plan would not ask",
    "open": "open() is called, and a plan would not open a file",
}
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
    "compile",
    "formats/mindir",
    "formats/onnx",
    "methods.py",
    "amp.py",
    "jit.py",
    "common",
    "boost.py",
    "communication",
    "distributed",
)
"""Packages of the engine whose results depend only on the arguments and the numbers of the random stream."""
_ENGINE = Path(__file__).parents[2]
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
"""Functions of those packages that read or set state that is not guarded."""


class TypeInquiry(BaseException):
    """Signal that uninspected code is about to run that may distinguish lengths from ints; no code should catch it."""


class Calls:
    """Calls made in one run.

    Args:
        inspection: the values that the inspected code can read.
        tracer: notified when no plan can be made.
        has_lengths: whether lengths replace ints, which ``type`` would distinguish.

    Attributes:
        unknown: uninspected functions or methods that ran, by their code.
        line: the user's line where one of the user's functions last returned, as ``file:line``.
    """

    def __init__(self, inspection: Inspection, tracer: Any, has_lengths: bool = False) -> None:
        self.unknown: dict[types.CodeType, list[Any]] = {}
        self.line = ""
        self._codes = inspection.codes
        self._omitted_methods = inspection.omitted_methods
        self._reflects = inspection.reflects
        self._tracer = tracer
        self._has_lengths = has_lengths
        self._verdicts: dict[types.CodeType, str] = {}
        self._previous: tuple[Any, bool] | None = None
        self._stream_position: Any = None

    def start(self) -> None:
        """Start observing this thread's calls.

        The garbage collector is disabled meanwhile: the finalizers that it calls are not calls of the function.
        """
        self._previous = sys.getprofile(), gc.isenabled()
        self._stream_position = (
            _stream_of_numpy() if self._reflects else None
        )  # otherwise the code itself names numpy.random
        gc.disable()
        sys.setprofile(self._observe)

    def is_on(self) -> bool:
        """Return whether calls are observed; Python stops that if an interrupt arrives during a callback."""
        return sys.getprofile() == self._observe

    def stop(self) -> None:
        """Stop observing and restore the previous state."""
        if self._previous is None:
            return
        previous, was_enabled = self._previous
        sys.setprofile(previous if previous is None or callable(previous) else None)
        if hasattr(previous, "enable"):  # cProfile's profiler, which is not a Python function
            previous.enable()
        if was_enabled:
            gc.enable()
        self._previous = None
        # Cython functions, whose calls Python does not report, may have drawn numbers.
        if self._reflects and _stream_of_numpy() != self._stream_position:
            self._leak("numpy.random is called, whose numbers a plan cannot draw")

    def _observe(self, frame: types.FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call":
            verdict = self._verdicts.get(code)
            if verdict is None:
                verdict = self._verdicts[code] = self._judgment(code)
            if verdict == "unknown":
                if not (_is_generated(frame) or self._is_of_a_library(frame.f_back)):
                    self._note_unknown(frame)
            elif verdict and self._is_by_user(frame.f_back):
                self._leak(verdict)
        elif event == "return" and code in self._codes:
            self.line = f"{code.co_filename}:{frame.f_lineno}"
        elif event == "c_call" and code in self._codes and not is_pure(argument):
            name = getattr(argument, "__qualname__", repr(argument))
            self._leak(_EFFECTS.get(name) or f"{name}() is called, whose result may differ each time")

    def _leak(self, reason: str) -> None:
        self._tracer.waits = True
        self._tracer.leak(reason)

    def _judgment(self, code: types.CodeType) -> str:
        """Return "" for code that may run, "unknown" for code to inspect, else the reason of the graph break."""
        file = code.co_filename
        if code in self._codes or file.startswith(_KERNELS):
            return ""
        if is_engine(file):
            parts = Path(file).relative_to(_ENGINE).parts
            package, *rest = parts[1:] if parts[0] == "mindspore" else parts
            is_pure_room = package in _ROOMS or "/".join((package, *rest[:1])) in _ROOMS
            if not is_pure_room or code.co_name in _STATEFUL:
                return f"{code.co_qualname}() is called, whose result may differ each time"
            return ""
        parts = Path(file).parts
        if is_library(file) or any(name in parts for name in _OF_ENGINE):
            if Path(file).stem in _PURE_FILES or ("numpy" in parts and "random" not in parts):
                return ""
            if code.co_name == "_module_repr":
                return "the text of a module is made, which a plan cannot watch"
            if "collections" in parts or file.startswith(_FROZEN):
                return ""
            return f"{code.co_qualname}() is called, whose result may differ each time"
        if file.startswith("<__array_function__"):
            return ""  # NumPy's dispatch
        return "unknown"

    def _is_by_user(self, frame: types.FrameType | None) -> bool:
        """Return whether the user's code made the call, directly or through a library."""
        while frame is not None and frame.f_code not in self._codes:
            if is_engine(frame.f_code.co_filename):
                return False
            frame = frame.f_back
        return True

    def _is_of_a_library(self, frame: types.FrameType | None) -> bool:
        """Return whether the frame runs because the engine imports or calls a library."""
        while frame is not None and frame.f_code not in self._codes:
            file = frame.f_code.co_filename
            if is_engine(file):
                return False
            if file.startswith("<frozen importlib") or any(name in Path(file).parts for name in _OF_ENGINE):
                return not self._is_by_user(frame)
            frame = frame.f_back
        return False

    def _note_unknown(self, frame: types.FrameType) -> None:
        if frame.f_code in self.unknown:
            return
        self._tracer.waits = True
        if self._has_lengths and any("type" in code.co_names for code in codes_in(frame.f_code)):
            raise TypeInquiry
        # Except for omitted methods, the function and thus the contents of its closure are unknown.
        self.unknown[frame.f_code] = self._omitted_methods.get(frame.f_code) or [
            types.FunctionType(
                frame.f_code,
                frame.f_globals,
                closure=tuple([types.CellType() for _ in frame.f_code.co_freevars]) or None,
            )
        ]


def _stream_of_numpy() -> Any:
    """Return the position of NumPy's global random stream."""
    state: Any = np.random.get_state(legacy=False)
    position = [part.tobytes() if isinstance(part, np.ndarray) else part for part in state["state"].values()]
    return position, state.get("has_gauss"), state.get("gauss")


def _is_generated(frame: types.FrameType) -> bool:
    """Return whether the frame is a method that ``dataclasses`` generated for a class of this package."""
    return frame.f_code.co_filename == "<string>" and frame.f_globals.get("__name__", "").startswith(_PACKAGE)
