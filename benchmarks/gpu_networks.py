"""Training steps for ``gpu_check`` on a GPU: the networks of ``training.py``, also with mixed precision."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import hookscope
import hookscope.engine as ms

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the rows import each other from this folder, as in a worker
import rows_common

__all__ = ["NAMES", "TOLERANCE", "in_torch", "trained"]

NAMES = ("mlp", "lenet", "resnet18", "transformer", "lstm")
TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2}
"""Allowed difference of three steps' losses, relative to 1 + |loss|."""


def trained(name: str, dtype: str, device: str) -> tuple[list[float], Callable[[], Any]]:
    """Train a network for three steps on a device.

    Args:
        name: of ``NAMES``.
        dtype: "float32", or the half precision that is mixed in.
        device: "CPU" or "GPU".

    Returns:
        The losses, and a function that takes one more step without reading its loss.
    """
    before = ms.get_context("device_target")
    ms.set_device(device)
    try:
        step = _rows(dtype).rows()[name]()
        return [step() for _ in range(3)], step.run
    finally:
        ms.set_device(before)


def _rows(dtype: str) -> ModuleType:
    rows_common.half = "" if dtype == "float32" else dtype
    if "mindspore" not in sys.modules:
        hookscope.install_as_mindspore()
    import rows_mindspore

    return rows_mindspore


def in_torch(name: str, dtype: str, wrap: Callable[[Any], Any] | None) -> Callable[[], Any]:
    """Return one step of the same network in PyTorch on its GPU; ``wrap``, such as ``torch.compile``, is optional."""
    import rows_torch

    rows_common.half, rows_common.device = "" if dtype == "float32" else dtype, "cuda"
    step = getattr(rows_torch, name)(wrap or (lambda function: function))
    run: Callable[[], Any] = step.run
    return run
