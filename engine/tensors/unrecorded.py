"""What is computed of numbers beside the table of operators: checks, counts, running statistics. No gradient passes.

While a function is traced each such call becomes a step of its plan, which a plain use of an array's numbers cannot.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..base.deferred_checks import ask_later
from ..tape.tape import state
from .tensor import Tensor

__all__ = ["checked", "computed", "constant", "filled", "fixed", "usual"]


def computed(function: Callable[..., Any], *arrays: Any, **attrs: Any) -> Any:
    """What ``function(*arrays, **attrs)`` gives: an array, or a tuple of them."""
    return function(*arrays, **attrs) if state.tracer is None else state.tracer.compute(function, arrays, attrs)


def checked(function: Callable[..., None], *arrays: Any, **attrs: Any) -> None:
    """Call a function that raises where numbers are not allowed; of a GPU's, when numbers are read next."""
    if type(arrays[0]).__module__.startswith("cupy"):
        function = _later(function)
    if state.tracer is None:
        function(*arrays, **attrs)
    else:
        state.tracer.compute(function, arrays, attrs, is_check=True)


@functools.cache
def _later(function: Callable[..., None]) -> Callable[..., None]:
    return functools.wraps(function)(functools.partial(ask_later, function))


def usual(function: Callable[..., Any], *arrays: Any, **attrs: Any) -> bool:
    """Whether ``function(*arrays, **attrs)`` holds, for code that does something else where it does not.

    A plan is made where it holds, and is for such numbers only: others run eagerly.
    """
    return bool(function(*arrays, **attrs) if state.tracer is None else state.tracer.usual(function, arrays, attrs))


def fixed(array: Any) -> Any:
    """An array whose numbers depend on shapes, dtypes and Python's numbers alone."""
    return array if state.tracer is None else state.tracer.constant(array)


def constant(array: Any) -> Tensor:
    """A tensor around an array whose numbers depend on shapes, dtypes and Python's numbers alone."""
    return Tensor._wrap(fixed(array))


def filled(function: Callable[..., Any], **attrs: Any) -> Tensor:
    """A tensor around ``function(**attrs)``, an array that hangs on lengths, dtypes and Python's numbers alone.

    Unlike ``constant`` it lets lengths be open ones of a trace: it is made anew by the plan then.
    """
    return Tensor._wrap(function(**attrs) if state.tracer is None else state.tracer.filled(function, attrs))
