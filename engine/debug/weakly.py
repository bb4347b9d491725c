"""What the parts of a session know it by: they live in it, so they must not keep it alive.

A session that nothing refers to any more is gone at once, and its taps with it, not when the collector comes by.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["weakly"]

P = ParamSpec("P")
R = TypeVar("R")


def weakly(method: Callable[P, R]) -> Callable[P, R]:
    """A bound method that does not keep its object alive; to be called while something else does."""
    reference = weakref.WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = reference()
        assert bound is not None
        return bound(*args, **kwargs)

    return call
