"""``mindspore.device_context.gpu``: whether GPUs can be used, and how many there are."""

from __future__ import annotations

import sys

from .. import runtime
from ..base.module_names import on_first_use

__all__ = ["device_count", "is_available"]

device = op_precision = op_tuning = sys.modules[__name__]  # three files there; this one is the whole


def is_available() -> bool:
    """Return whether a GPU can be used here."""
    return runtime.is_available("GPU")


def device_count() -> int:
    """Return the number of GPUs.

    Raises:
        RuntimeError: none that can be used.
    """
    if not is_available():
        raise RuntimeError("For 'device_context.gpu.device_count', there must be a GPU that can be used: there is none")
    return runtime.device_count("GPU")


__getattr__ = on_first_use(__name__)
