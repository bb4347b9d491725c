"""The ``.safetensors`` format; checksums, if any, are in the file's metadata.

There are two: MindSpore's, over names and elements, and Hookscope's, which MindSpore ignores and which also covers
dtypes and shapes. A file of MindSpore's has only the first.

A file is a JSON header, with the dtype, the shape and the offsets of each array, followed by their bytes. The
format's own library checks a header that is read. The bytes are read and written through a separate file object: so a
disk error keeps its class, and an array beyond the available memory is a MemoryError.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from ..base.quoting import escape
from ..base.types import Array
from ..tensors.dtype import DTYPES, dtype_of

__all__ = ["check", "read", "write"]

_CRC = "crc_num"
_ALL_CRC = "hookscope_crc_num"
_METADATA = "__metadata__"
_MOST_ZEROS = 2**24
# In the library's order, by which it also sorts the arrays of a file: the last come first.
_CODES = {
    "BOOL": "Bool",
    "U8": "UInt8",
    "I8": "Int8",
    "I16": "Int16",
    "U16": "UInt16",
    "F16": "Float16",
    "BF16": "BFloat16",
    "I32": "Int32",
    "U32": "UInt32",
    "F32": "Float32",
    "C64": "Complex64",
    "F64": "Float64",
    "I64": "Int64",
    "U64": "UInt64",
}
_ORDER = list(_CODES)
_DTYPES = {code: next(dtype for dtype in DTYPES if dtype.name == name) for code, name in _CODES.items()}


def _code(array: Array) -> str:
    """Return the format's name of an array's dtype, or ""."""
    dtype = dtype_of(array.dtype)
    return next((code for code in _CODES if _DTYPES[code] is dtype), "")


def check(name: str, value: Array | str, caller: str) -> None:
    """Return whether the format can hold a value.

    Args:
        name: the name of the value.
        value: an array or a string.
        caller: the function in messages.

    Raises:
        TypeError: a string, or an array of an unsupported dtype.
        ValueError: the name is reserved by the format.
    """
    if isinstance(value, str) or not _code(value):
        kind = "a str" if isinstance(value, str) else dtype_of(value.dtype)
        raise TypeError(f"For '{caller}', '{escape(name)}' is {kind}, which a safetensors file cannot hold; use ckpt")
    if name == _METADATA:
        raise ValueError(f"For '{caller}', '{name}' is the name of a safetensors file's own notes; use a different one")


def write(file: BinaryIO, values: Mapping[str, Any], crc: bool) -> None:
    """Write arrays by name.

    Args:
        file: an open file.
        values: arrays by name.
        crc: whether the metadata contains checksums.
    """
    codes = {name: _code(array) for name, array in values.items()}
    metadata = {"format": "ms"}
    if crc:
        metadata |= {_CRC: str(_checksum(values)), _ALL_CRC: str(_checksum_of_all(values))}
    header: dict[str, Any] = {_METADATA: metadata}
    offset = 0
    for name in sorted(values, key=lambda name: (-_ORDER.index(codes[name]), name)):
        end = offset + values[name].nbytes
        header[name] = {"dtype": codes[name], "shape": list(values[name].shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for name in header:
        if name != _METADATA:
            file.write(_bytes(values[name]))


def read(path: str, crc: bool) -> dict[str, Any]:
    """Return the arrays of a file by name.

    Args:
        path: the file.
        crc: whether its checksums are compared.

    Raises:
        ValueError: the file is corrupt, has a dtype that the engine lacks, or with ``crc`` has no checksum, or a
            wrong one.
    """
    header = _header(path)
    metadata = header.pop(_METADATA, {})
    arrays = {}
    with open(path, "rb") as file:
        begin = 8 + int.from_bytes(file.read(8), "little")
        for name, row in header.items():
            dtype = _DTYPES.get(row["dtype"])
            if dtype is None:
                raise ValueError(
                    f"the checkpoint file '{path}' cannot be read: '{escape(name)}' has the type "
                    f"'{escape(row['dtype'])}', which the engine has not"
                )
            try:
                array = np.empty(row["shape"], dtype.numpy.newbyteorder("<"))
            except ValueError as error:  # more axes than an array supports, or longer empty ones
                raise ValueError(
                    f"the checkpoint file '{path}' cannot be read: '{escape(name)}' has a shape that no array can "
                    f"have: {error}"
                ) from None
            file.seek(begin + row["data_offsets"][0])
            if file.readinto(_bytes(array)) != array.nbytes:
                raise ValueError(f"the checkpoint file '{path}' cannot be read: it was cut off meanwhile")
            arrays[name] = array.astype(dtype.numpy, copy=False)
    if crc:
        _compare_checksums(path, metadata, arrays)
    return arrays


def _compare_checksums(path: str, metadata: Mapping[str, str], arrays: Mapping[str, Any]) -> None:
    if _CRC not in metadata:
        raise ValueError(f"the checkpoint file '{path}' has no checksum; save it with crc_check=True")
    checksum_text = metadata.get(_ALL_CRC)
    if metadata[_CRC] != str(_checksum(arrays)) or checksum_text not in (None, str(_checksum_of_all(arrays))):
        raise ValueError(f"the checksum of the checkpoint file '{path}' does not fit: the file is damaged")


def _header(path: str) -> dict[str, Any]:
    """Return the header of a file after the library has checked that it is consistent and covers the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy"):  # type: ignore[no-untyped-call, unused-ignore]
            pass
        with open(path, "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")), object_pairs_hook=_each_once)
    except (SafetensorError, ValueError, RecursionError) as error:
        raise ValueError(f"the checkpoint file '{path}' cannot be read: {escape(str(error))}") from None
    return dict(header)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of a header, whose keys must be unique.

    Raises:
        ValueError: a duplicate name.
    """
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"'{next(name for name in names if names.count(name) > 1)}' is in it twice")
    return fields


def _bytes(array: Array) -> Any:
    """Return the bytes of an array in its order, without a copy if it is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _checksum(arrays: Mapping[str, Any]) -> int:
    """Return MindSpore's checksum over names and elements, in the order of the names."""
    checksum = 0
    for name in sorted(arrays):
        checksum = zlib.crc32(_summed(arrays[name]), zlib.crc32(name.encode(), checksum))
    return checksum


def _checksum_of_all(arrays: Mapping[str, Any]) -> int:
    """Return a checksum over names, dtypes, shapes and elements, in the order of the names."""
    checksum = 0
    for name in sorted(arrays):
        row = json.dumps([name, _code(arrays[name]), list(arrays[name].shape)]).encode()
        checksum = zlib.crc32(_bytes(arrays[name]), zlib.crc32(row, checksum))
    return checksum


def _summed(array: Array) -> Any:
    """Return the bytes of an array as MindSpore computes them: ``bytes`` of an int n is n zeros."""
    if array.ndim == 0 and array.dtype.kind in "iu" and 0 <= int(array) < _MOST_ZEROS:
        return bytes(int(array))
    return _bytes(array)
