"""``mindspore.common.np_dtype``: element types that NumPy lacks, as NumPy dtypes."""

from __future__ import annotations

from typing import Any

from ...tensors import dtype

__all__ = ["bfloat16"]  # noqa: F822  (it is made when it is first asked for, as the library that has it is)


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        return dtype.bfloat16.numpy.type
    raise AttributeError(f"module 'mindspore.common.np_dtype' has no attribute {name!r}")
