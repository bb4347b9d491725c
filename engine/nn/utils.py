"""Networks without initial values (``mindspore.nn.utils``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..tensors import initializer as _initializer

__all__ = ["no_init_parameters"]


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Create networks with zeros as initial values inside the block, for values that are loaded from a checkpoint.

    A context manager without arguments. Initializers are not called inside, so that no random numbers are drawn.
    """
    previous = _initializer.skipping
    _initializer.skipping = True
    try:
        yield
    finally:
        _initializer.skipping = previous
