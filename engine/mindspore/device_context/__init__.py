"""``mindspore.device_context``: available devices of each kind, and settings of their operators."""

from __future__ import annotations

from . import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
