"""The ``.safetensors`` format, by its own library; MindSpore's checksum, if any, is in the file's metadata."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["read", "write"]

_CRC = "crc_num"
_MOST_ZEROS = 2**24


def write(path: str, values: Mapping[str, Any], crc: bool) -> None:
    """Write arrays by name.

    Raises:
        TypeError: a value is a string, or of a dtype that the format does not have.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    for name, value in values.items():
        if isinstance(value, str):
            raise TypeError(f"For 'save_checkpoint', '{name}' is a str, which a safetensors file cannot hold; use ckpt")
    arrays = {name: np.ascontiguousarray(value).reshape(value.shape) for name, value in values.items()}
    metadata = {"format": "ms", **({_CRC: str(_checksum(arrays))} if crc else {})}
    try:
        save_file(arrays, path, metadata)
    except SafetensorError as error:
        raise TypeError(f"For 'save_checkpoint', a safetensors file cannot hold this: {error}") from None


def read(path: str, crc: bool) -> dict[str, Any]:
    """The arrays of a file by name.

    Raises:
        ValueError: the file does not hold together, or with ``crc`` has no checksum, or another one.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:  # type: ignore[no-untyped-call, unused-ignore]
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
            stored = (file.metadata() or {}).get(_CRC)
    except (SafetensorError, TypeError, ValueError) as error:
        raise ValueError(f"the checkpoint file '{path}' cannot be read: {error}") from None
    if crc and stored is None:
        raise ValueError(f"the checkpoint file '{path}' has no checksum; save it with crc_check=True")
    if crc and str(_checksum(arrays)) != stored:
        raise ValueError(f"the checksum of the checkpoint file '{path}' does not fit: the file is damaged")
    return arrays


def _checksum(arrays: Mapping[str, Any]) -> int:
    """MindSpore's: over the names and elements, in the order of the names."""
    found = 0
    for name in sorted(arrays):
        found = zlib.crc32(_summed(arrays[name]), zlib.crc32(name.encode(), found))
    return found


def _summed(array: Any) -> Any:
    """The bytes of an array, as MindSpore takes them: ``bytes`` makes of a whole number as many zeros."""
    if array.ndim == 0 and array.dtype.kind in "iu" and 0 <= int(array) < _MOST_ZEROS:
        return bytes(int(array))
    return array.reshape(-1).view(np.uint8)
