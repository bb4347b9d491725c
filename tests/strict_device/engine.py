"""The engine on the strict device: its arrays there, its launches counted."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from .counts import Counts, counting, launched
from .facts import VERSION
from .modules import MODULES

__all__ = ["device"]

_FOLDER = str(Path(__file__).parent) + os.sep


@contextmanager
def device(triton: bool = False) -> Iterator[Counts]:
    """Put new tensors on the strict device until the end of the block, and count its work.

    Args:
        triton: whether kernels of Triton's compute too, in Triton's interpreter. TRITON_INTERPRET=1 must have been set
            before Triton was imported, so such tests have a process of their own.
    """
    import hookscope.engine as ms
    from hookscope import triton_kernels
    from hookscope.engine.base import deferred_checks
    from hookscope.engine.compile.trace import calls
    from hookscope.engine.debug.stop.stepping import user_code
    from hookscope.engine.tensors import backend

    result = triton_kernels.Probe("triton" if triton else "cupy", "the strict device of the tests", {"cupy": VERSION})
    with ExitStack() as stack:
        for name in ("_device", "_device_reason", "_kernels"):
            stack.enter_context(mock.patch.object(backend, name, getattr(backend, name)))
        _put_modules(stack)
        stack.enter_context(mock.patch.object(triton_kernels, "probe", return_value=result))
        stack.callback(deferred_checks.pending_checks.clear)
        # Graph mode and the stepper take the stand-in for the library, not for code of the user's.
        stack.enter_context(mock.patch.object(calls, "_OF_ENGINE", (*calls._OF_ENGINE, "strict_device")))
        stack.enter_context(mock.patch.object(user_code, "_LIBRARIES", (*user_code._LIBRARIES, _FOLDER)))
        stack.callback(user_code.is_user_file.cache_clear)
        user_code.is_user_file.cache_clear()
        backend._kernels = backend._UNKNOWN
        if triton:
            _count_triton(stack)
        ms.set_device("GPU")
        yield stack.enter_context(counting())


def _put_modules(stack: ExitStack) -> None:
    """Put the stand-ins into ``sys.modules`` and change nothing else there: other imports stay."""
    for name, module in MODULES.items():
        if name in sys.modules:
            stack.callback(sys.modules.__setitem__, name, sys.modules[name])
        else:
            stack.callback(sys.modules.pop, name, None)
        sys.modules[name] = module


def _count_triton(stack: ExitStack) -> None:
    """Count each kernel of Triton's where it starts, which is in the interpreter."""
    from hookscope import triton_kernels
    from hookscope.triton_kernels.launch import launcher

    if not launcher.interpreting():
        raise RuntimeError("TRITON_INTERPRET=1 must be set before Triton is imported")
    triton_kernels.kernels()
    original = launcher.interpret

    def interpret(kernel: Any, *args: Any) -> None:
        launched(f"triton:{kernel.__name__}")
        original(kernel, *args)

    for name, module in list(sys.modules.items()):
        if name.startswith("hookscope.triton_kernels") and getattr(module, "interpret", None) is original:
            stack.enter_context(mock.patch.object(module, "interpret", interpret))
