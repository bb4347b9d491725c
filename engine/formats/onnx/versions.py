"""The ``onnx`` package, which only this subpackage needs, and the versions of written files."""

from __future__ import annotations

from typing import Any

__all__ = ["IR_VERSION", "OPSET", "onnx_package"]

OPSET = 20
"""The version of ONNX's operators: the first with Gelu and IsInf for all floats; in onnxruntime since 1.17."""
IR_VERSION = 9
"""The corresponding version of the file format: runtimes of that time refuse newer ones."""


def onnx_package(caller: str) -> Any:
    """Return the package.

    Args:
        caller: the function that the user called, for the error.

    Returns:
        the module.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            f"For '{caller}', the package 'onnx' is needed for ONNX files: pip install 'hookscope[onnx]'"
        ) from error
    return onnx
