"""The ``onnx`` package, which only this folder needs, and the versions that files are written for."""

from __future__ import annotations

from typing import Any

__all__ = ["IR_VERSION", "OPSET", "onnx_package"]

OPSET = 20
"""The version of ONNX's operators. The first that has Gelu and IsInf of all floats; onnxruntime has it since 1.17."""
IR_VERSION = 9
"""The version of the file format that came with it: newer ones are refused by runtimes of its time."""


def onnx_package(who: str) -> Any:
    """The package.

    Args:
        who: the function that the user called, for the error.

    Returns:
        the module.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            f"For '{who}', the package 'onnx' is needed for ONNX files: pip install 'hookscope[onnx]'"
        ) from error
    return onnx
