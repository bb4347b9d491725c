"""Making networks without drawing their first values (``mindspore.nn.utils``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..tensors import initializer as _initializer

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Networks made in the block have zeros as first values: for those whose values are loaded from a checkpoint.

    A context manager without arguments. Initializers are not called inside, so that no random numbers are drawn.
    """
    before = _initializer.skipping
    _initializer.skipping = True
    try:
        yield
    finally:
        _initializer.skipping = before
