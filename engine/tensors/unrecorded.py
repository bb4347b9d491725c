"""Computations outside the table of operators: checks, counts, running statistics. Gradients do not pass.

While a function is traced each such call becomes a step of its plan; a direct use of an array's numbers cannot.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..base.deferred_checks import defer_check
from ..tape.tape import state
from .tensor import Tensor

__all__ = ["check_values", "compute", "constant", "constant_array", "generate", "holds"]


def compute(function: Callable[..., Any], *arrays: Any, **attrs: Any) -> Any:
    """Return ``function(*arrays, **attrs)``: an array, or a tuple of them."""
    return function(*arrays, **attrs) if state.tracer is None else state.tracer.compute(function, arrays, attrs)


def check_values(function: Callable[..., None], *arrays: Any, **attrs: Any) -> None:
    """Call a function that raises on invalid numbers; on a GPU, deferred until the host reads values."""
    if type(arrays[0]).__module__.startswith("cupy"):
        function = _deferred(function)
    if state.tracer is None:
        function(*arrays, **attrs)
    else:
        state.tracer.compute(function, arrays, attrs, is_check=True)


@functools.cache
def _deferred(function: Callable[..., None]) -> Callable[..., None]:
    return functools.wraps(function)(functools.partial(defer_check, function))


def holds(function: Callable[..., Any], *arrays: Any, **attrs: Any) -> bool:
    """Return whether ``function(*arrays, **attrs)`` holds, for code that branches on it.

    A plan is made only if it holds, and is valid only for such numbers: others run eagerly.
    """
    return bool(function(*arrays, **attrs) if state.tracer is None else state.tracer.holds(function, arrays, attrs))


def constant_array(array: Any) -> Any:
    """Return an array whose numbers depend only on shapes, dtypes and Python numbers."""
    return array if state.tracer is None else state.tracer.constant(array)


def constant(array: Any) -> Tensor:
    """Return a tensor of an array whose numbers depend only on shapes, dtypes and Python numbers."""
    return Tensor._wrap(constant_array(array))


def generate(function: Callable[..., Any], **attrs: Any) -> Tensor:
    """Return a tensor of ``function(**attrs)``, an array that depends only on lengths, dtypes and Python numbers.

    Unlike ``constant`` it permits open lengths in a trace: then the plan computes it in each run.
    """
    return Tensor._wrap(function(**attrs) if state.tracer is None else state.tracer.fill(function, attrs))
