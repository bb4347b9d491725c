"""MindSpore's ``.ckpt`` format: a protobuf message with a list of named tensors, and an optional CRC32 after it.

The file is written and read one entry at a time, so that no more than one entry is held besides the arrays. A
tensor above 512 MiB is split into successive entries of the same name, dims and type, each with a part of the
content. A string has the type ``str``, the dims [0] and UTF-32; a number has no dims, or [0] in older files.

No value in a file is trusted: a length is compared with the remaining size of the file before reading, and dims with
the length of the content before an array is created.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, BinaryIO

import numpy as np

from ..base.quoting import escape
from ..base.types import Array
from ..tensors.dtype import DTYPES, dtype_of
from .checkpoint_names import is_name, is_text

__all__ = ["check", "read", "write"]

Value = Any  # numpy.ndarray or str

_CRC_MARK = b"crc_num"
_CRC_BYTES = 10
_SLICE = 512 * 2**20
_ENTRY = b"\x0a"  # field 1, with a length
_DTYPES = {dtype.name: dtype for dtype in DTYPES}
_TEXT, _TEXT_CODE = "str", "utf-32-le"
_MOST_AXES = 64


@cache
def _message() -> Any:
    """Return the class of the checkpoint message, built from its description instead of generated code."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="hookscope_checkpoint.proto", package="hookscope", syntax="proto2")
    root = file.message_type.add(name="Checkpoint")
    value = root.nested_type.add(name="Value")
    tensor = root.nested_type.add(name="Tensor")
    rows: tuple[tuple[Any, str, int, int, int, str], ...] = (
        (root, "value", 1, field.LABEL_REPEATED, field.TYPE_MESSAGE, ".hookscope.Checkpoint.Value"),
        (value, "tag", 1, field.LABEL_REQUIRED, field.TYPE_STRING, ""),
        (value, "tensor", 2, field.LABEL_OPTIONAL, field.TYPE_MESSAGE, ".hookscope.Checkpoint.Tensor"),
        (tensor, "dims", 1, field.LABEL_REPEATED, field.TYPE_INT64, ""),
        (tensor, "tensor_type", 2, field.LABEL_REQUIRED, field.TYPE_STRING, ""),
        (tensor, "tensor_content", 3, field.LABEL_REQUIRED, field.TYPE_BYTES, ""),
    )
    for owner, name, number, label, kind, type_name in rows:
        owner.field.add(name=name, number=number, label=label, type=kind, type_name=type_name or None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("hookscope.Checkpoint"))


@cache
def _entry_message() -> Any:
    """Return the class of one entry; in pure Python protobuf it is not an attribute of the outer message."""
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(_message().DESCRIPTOR.nested_types_by_name["Value"])


# Writing


def check(name: str, value: Value, caller: str) -> None:
    """Return whether the format can hold a value: all arrays, and all text.

    Args:
        name: the name of the value.
        value: an array or a string.
        caller: the function in messages.

    Raises:
        ValueError: text with a lone surrogate.
    """
    if isinstance(value, str) and not is_text(value):
        raise ValueError(f"For '{caller}', the text '{escape(name)}' has half a character, which no file can hold")


def write(file: BinaryIO, values: Mapping[str, Value], crc: bool) -> None:
    """Write values by name.

    Args:
        file: an open file.
        values: arrays and strings by name.
        crc: whether a checksum follows the entries.
    """
    checksum = 0
    for name, value in values.items():
        for dims, kind, content in _parts(value):
            message = _message()()
            entry = message.value.add(tag=name)
            entry.tensor.dims.extend(dims)
            entry.tensor.tensor_type = kind
            entry.tensor.tensor_content = content
            body = message.SerializeToString()
            if crc:
                checksum = zlib.crc32(body, checksum)
            file.write(body)
    if crc:
        file.write(_CRC_MARK + checksum.to_bytes(_CRC_BYTES, "big"))


def _parts(value: Value) -> Iterable[tuple[Iterable[int], str, bytes]]:
    """Return (dims, type, content) of each entry of a value."""
    if isinstance(value, str):
        # As in MindSpore, the empty string is one zero: empty content would not mark a string.
        yield (0,), _TEXT, value.encode(_TEXT_CODE) or bytes(4)
        return
    little = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
    content = little.reshape(-1).view(np.uint8)
    for begin in range(0, max(len(content), 1), _SLICE):
        yield value.shape, dtype_of(value.dtype).name, content[begin : begin + _SLICE].tobytes()


# Reading


def read(path: str, crc: bool) -> dict[str, Value]:
    """Return the values of a file by name.

    Args:
        path: the file.
        crc: whether its checksum is compared.

    Raises:
        ValueError: the file is corrupt, or with ``crc`` has no checksum, or a wrong one.
    """
    with open(path, "rb") as file:
        end = _checked_end(file, path, crc)
        file.seek(0)
        reader = _Reader(file, end, f"the checkpoint file '{path}' cannot be read: ")
        return reader.values()


def _checked_end(file: BinaryIO, path: str, crc: bool) -> int:
    """Return the end of the entries after checking the checksum."""
    size = os.fstat(file.fileno()).st_size
    tail = len(_CRC_MARK) + _CRC_BYTES
    file.seek(max(0, size - tail))
    trailer = file.read(tail)
    if len(trailer) < tail or not trailer.startswith(_CRC_MARK):
        if crc:
            raise ValueError(f"the checkpoint file '{path}' has no checksum; save it with crc_check=True")
        return size
    if crc:
        file.seek(0)
        checksum, remaining = 0, size - tail
        while remaining:
            chunk = file.read(min(remaining, 2**20))
            checksum, remaining = zlib.crc32(chunk, checksum), remaining - len(chunk)
        if checksum != int.from_bytes(trailer[len(_CRC_MARK) :], "big"):
            raise ValueError(f"the checksum of the checkpoint file '{path}' does not fit: the file is damaged")
    return size - tail


class _Reader:
    """Reads the entries of an open file up to ``end``; ``broken`` is the prefix of each error."""

    def __init__(self, file: BinaryIO, end: int, broken: str) -> None:
        self.file = file
        self.left = end
        self.broken = broken

    def values(self) -> dict[str, Value]:
        values: dict[str, Value] = {}
        while self.left:
            name, tensor = self._entry()
            if name in values:
                raise self._error(f"it has '{escape(name)}' twice")
            if tensor.tensor_type == _TEXT:
                values[name] = self._text(name, tensor.tensor_content)
            else:
                values[name] = self._array(name, tensor)
        return values

    def _error(self, problem: str) -> ValueError:
        return ValueError(self.broken + problem)

    def _bytes(self, count: int) -> bytes:
        content = self.file.read(count)
        if len(content) < count:
            raise self._error("it is not a checkpoint, or is damaged")
        self.left -= count
        return content

    def _entry(self) -> tuple[str, Any]:
        from google.protobuf.message import DecodeError

        if self._bytes(1) != _ENTRY:
            raise self._error("it is not a checkpoint, or is damaged")
        length = shift = 0
        while True:
            byte = self._bytes(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 63:
                raise self._error("it is not a checkpoint, or is damaged")
        if length > self.left:
            raise self._error("it is not a checkpoint, or is damaged")
        try:
            entry = _entry_message().FromString(self._bytes(length))
        except (
            DecodeError,
            UnicodeDecodeError,
        ):  # the latter from protobuf in pure Python, for a name that is not UTF-8
            raise self._error("it is not a checkpoint, or is damaged") from None
        if not isinstance(entry.tag, str) or not is_name(entry.tag):
            raise self._error(f"the name '{escape(str(entry.tag))}' is empty, too long or not UTF-8 text")
        return entry.tag, entry.tensor

    def _text(self, name: str, content: bytes) -> str:
        try:
            return content.decode(_TEXT_CODE).rstrip("\0")
        except UnicodeDecodeError:
            raise self._error(f"'{escape(name)}' is not UTF-32 text") from None

    def _array(self, name: str, tensor: Any) -> Array:
        dtype = _DTYPES.get(tensor.tensor_type)
        if dtype is None:
            raise self._error(f"'{escape(name)}' has the unknown type '{escape(str(tensor.tensor_type))}'")
        if len(tensor.dims) > _MOST_AXES:
            raise self._error(f"'{escape(name)}' has a shape that no array can have: {len(tensor.dims)} axes")
        dims, content = tuple(tensor.dims), tensor.tensor_content
        if dims == (0,) and len(content) == dtype.itemsize:
            dims = ()
        # Python's integers do not overflow, so a hostile product of dims cannot pass for a small one.
        expected = -1 if any(n < 0 for n in dims) else math.prod(dims) * dtype.itemsize
        if len(content) == _SLICE < expected:
            content = self._join(name, dims, tensor, expected)
        if len(content) != expected:
            raise self._error(f"'{escape(name)}' has {len(content)} bytes, which is not {dims} of {dtype}")
        try:
            array = np.frombuffer(content, dtype.numpy.newbyteorder("<")).reshape(dims)
        except ValueError as error:  # longer empty axes than an array supports
            raise self._error(f"'{escape(name)}' has a shape that no array can have: {error}") from None
        return array.astype(dtype.numpy, copy=False)

    def _join(self, name: str, dims: tuple[int, ...], first: Any, size: int) -> Array:
        """Return the content of a tensor with several entries."""
        if size - _SLICE > self.left:
            raise self._error(f"'{escape(name)}' has fewer bytes than {dims} of {first.tensor_type}")
        content = np.empty(size, np.uint8)
        content[:_SLICE] = np.frombuffer(first.tensor_content, np.uint8)
        filled = _SLICE
        while filled < size:
            tag, part = self._entry() if self.left else ("", first)
            length = len(part.tensor_content)
            if tag != name or part.tensor_type != first.tensor_type or not 0 < length <= size - filled:
                raise self._error(f"'{escape(name)}' has {filled} bytes, which is not {dims} of {first.tensor_type}")
            content[filled : filled + length] = np.frombuffer(part.tensor_content, np.uint8)
            filled += length
        return content
