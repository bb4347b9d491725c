"""``mindspore.device_context``: what is there of each kind of device, and settings of its operators."""

from __future__ import annotations

from . import ascend, cpu, gpu

__all__ = ["ascend", "cpu", "gpu"]
