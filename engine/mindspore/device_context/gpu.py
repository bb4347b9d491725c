"""``mindspore.device_context.gpu``: availability and number of GPUs."""

from __future__ import annotations

import sys

from ...base.module_names import on_first_use
from .. import runtime

__all__ = ["device_count", "is_available"]

device = op_precision = op_tuning = sys.modules[__name__]  # MindSpore has three modules; this one serves as all of them


def is_available() -> bool:
    """Return whether a GPU can be used here."""
    return runtime.is_available("GPU")


def device_count() -> int:
    """Return the number of GPUs.

    Raises:
        RuntimeError: no usable GPU.
    """
    if not is_available():
        raise RuntimeError("For 'device_context.gpu.device_count', there must be a GPU that can be used: there is none")
    return runtime.device_count("GPU")


__getattr__ = on_first_use(__name__)
