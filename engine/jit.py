"""``jit``: MindSpore's decorator for graph compilation. Here the function runs eagerly, with cell hooks off, as
MindSpore documents for compiled functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .hooks import hooks_off

__all__ = ["jit"]


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorate a function, or with options only, return the decorator.

    The options tune MindSpore's compiler and change nothing here.

    Raises:
        TypeError: ``function`` is not callable.
    """
    if function is None:
        return functools.partial(jit, **options)
    if not callable(function):
        raise TypeError(f"For 'jit', 'function' must be callable, but got {type(function).__name__}")

    @functools.wraps(function)
    def without_hooks(*args: Any, **kwargs: Any) -> Any:
        with hooks_off():
            return function(*args, **kwargs)

    return without_hooks
