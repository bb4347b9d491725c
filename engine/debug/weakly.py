"""Weak references from the components of a session to the session, so that they do not keep it alive.

A session without other references is deleted at once, and its taps with it, not at the next garbage collection.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["weakly"]

P = ParamSpec("P")
R = TypeVar("R")


def weakly(method: Callable[P, R]) -> Callable[P, R]:
    """Return a bound method that does not keep its object alive; call it only while something else does."""
    reference = weakref.WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = reference()
        assert bound is not None
        return bound(*args, **kwargs)

    return call
