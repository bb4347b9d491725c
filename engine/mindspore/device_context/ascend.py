"""``mindspore.device_context.ascend``: Ascend devices, which are not available here."""

from __future__ import annotations

import sys
from typing import NoReturn

from ...base.module_names import on_first_use

__all__ = ["device_count", "is_available"]

device = op_debug = op_precision = op_tuning = sys.modules[
    __name__
]  # MindSpore has four modules; this one serves as all of them


def is_available() -> bool:
    """Return whether an Ascend device can be used here: False."""
    return False


def device_count() -> NoReturn:
    """Raise RuntimeError, since Ascend devices are not supported.

    Raises:
        RuntimeError: always, as in MindSpore without such a device.
    """
    raise RuntimeError(
        "For 'device_context.ascend.device_count', there must be an Ascend device: hookscope runs on a CPU or a GPU"
    )


__getattr__ = on_first_use(__name__)
