"""TensorBoard's event files: framed protobuf messages, each with the values of one step."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..base.types import Array

_POLYNOMIAL = 0x82F63B78  # CRC32C (Castagnoli), with its bits reversed


@cache
def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ (_POLYNOMIAL if remainder & 1 else 0)
        table.append(remainder)
    return table


def _masked_crc(data: bytes) -> int:
    """Return the checksum of a TFRecord."""
    table, checksum = _crc_table(), 0xFFFFFFFF
    for byte in data:
        checksum = (checksum >> 8) ^ table[(checksum ^ byte) & 0xFF]
    checksum ^= 0xFFFFFFFF
    return (((checksum >> 15) | (checksum << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def frame(data: bytes) -> bytes:
    """Return a TFRecord: the length and its checksum, the data and theirs."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked_crc(length)) + data + struct.pack("<I", _masked_crc(data))


@cache
def _event_class() -> Any:
    """Return the class of TensorBoard's message ``Event``, built from a description of the fields written here."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="hookscope_event.proto", package="hookscope_event", syntax="proto3")
    repeated = kinds.LABEL_REPEATED
    fields: dict[str, list[tuple[Any, ...]]] = {
        "Event": [
            ("wall_time", 1, kinds.TYPE_DOUBLE, ""),
            ("step", 2, kinds.TYPE_INT64, ""),
            ("file_version", 3, kinds.TYPE_STRING, ""),
            ("summary", 5, kinds.TYPE_MESSAGE, "Summary"),
        ],
        "Summary": [("value", 1, kinds.TYPE_MESSAGE, "Value", repeated)],
        "Value": [
            ("tag", 1, kinds.TYPE_STRING, ""),
            ("image", 4, kinds.TYPE_MESSAGE, "Image"),
            ("histo", 5, kinds.TYPE_MESSAGE, "Histogram"),
            ("tensor", 8, kinds.TYPE_MESSAGE, "Tensor"),
            ("metadata", 9, kinds.TYPE_MESSAGE, "Metadata"),
            ("simple_value", 2, kinds.TYPE_FLOAT, ""),
        ],
        "Image": [
            ("height", 1, kinds.TYPE_INT32, ""),
            ("width", 2, kinds.TYPE_INT32, ""),
            ("colorspace", 3, kinds.TYPE_INT32, ""),
            ("encoded_image_string", 4, kinds.TYPE_BYTES, ""),
        ],
        "Histogram": [
            *(
                (name, index, kinds.TYPE_DOUBLE, "")
                for index, name in enumerate(("min", "max", "num", "sum", "sum_squares"), 1)
            ),
            ("bucket_limit", 6, kinds.TYPE_DOUBLE, "", repeated),
            ("bucket", 7, kinds.TYPE_DOUBLE, "", repeated),
        ],
        "Tensor": [
            ("dtype", 1, kinds.TYPE_INT32, ""),
            ("tensor_shape", 2, kinds.TYPE_MESSAGE, "Shape"),
            ("tensor_content", 4, kinds.TYPE_BYTES, ""),
            ("string_val", 8, kinds.TYPE_BYTES, "", repeated),
        ],
        "Shape": [("dim", 2, kinds.TYPE_MESSAGE, "Dim", repeated)],
        "Dim": [("size", 1, kinds.TYPE_INT64, "")],
        "Metadata": [("plugin_data", 1, kinds.TYPE_MESSAGE, "Plugin")],
        "Plugin": [("plugin_name", 1, kinds.TYPE_STRING, "")],
    }
    for owner, rows in fields.items():
        message = file.message_type.add(name=owner)
        if owner == "Value":
            message.oneof_decl.add(name="value")
        for name, number, kind, of, *label in rows:
            added = message.field.add(
                name=name,
                number=number,
                type=kind,
                label=label[0] if label else kinds.LABEL_OPTIONAL,
                type_name=f".hookscope_event.{of}" if of else None,
            )
            if owner == "Value" and name not in ("tag", "metadata"):  # exactly one of them, also if a number is 0
                added.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("hookscope_event.Event"))


# The numbers of element types in TensorBoard's messages.
_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_TEXT = 7


def first_event(wall_time: float) -> bytes:
    """Return the first event of a file."""
    return bytes(_event_class()(wall_time=wall_time, file_version="brain.Event:2").SerializeToString())


def event(wall_time: float, step: int, values: list[tuple[str, str, Any]]) -> bytes:
    """Return the values of a step: the kind ("scalar", "image", "histogram", "tensor" or "text"), tag and value of
    each."""
    message = _event_class()(wall_time=wall_time, step=step)
    for kind, tag, value in values:
        _FILLERS[kind](message.summary.value.add(tag=tag), value)
    return bytes(message.SerializeToString())


def _scalar(into: Any, value: Array) -> None:
    into.simple_value = float(value.reshape(-1)[0])


def _tensor(into: Any, value: Array) -> None:
    if value.dtype.name not in _TYPES:
        value = value.astype(np.float32)
    into.tensor.dtype = _TYPES[value.dtype.name]
    for length in value.shape:
        into.tensor.tensor_shape.dim.add(size=length)
    into.tensor.tensor_content = np.ascontiguousarray(value).tobytes()
    into.metadata.plugin_data.plugin_name = "tensor"


def _text(into: Any, value: str) -> None:
    into.tensor.dtype = _TEXT
    into.tensor.tensor_shape.dim.add(size=1)
    into.tensor.string_val.append(value.encode())
    into.metadata.plugin_data.plugin_name = "text"


def _histogram(into: Any, value: Array) -> None:
    numbers = value.astype(np.float64).reshape(-1)
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        numbers = np.zeros(1)  # a histogram needs a range
    counts, edges = np.histogram(numbers, bins=50)
    histogram = into.histo
    histogram.min, histogram.max, histogram.num = numbers.min(), numbers.max(), numbers.size
    histogram.sum, histogram.sum_squares = numbers.sum(), (numbers**2).sum()
    histogram.bucket_limit.extend(edges[1:].tolist())
    histogram.bucket.extend(counts.astype(float).tolist())


_IMAGES_PER_ROW = 8  # images per row


def _image(into: Any, value: Array) -> None:
    image = canvas(value)
    into.image.height, into.image.width, into.image.colorspace = image.shape
    into.image.encoded_image_string = png(image)


def canvas(images: Array) -> Array:
    """Tile images (N, C, H, W) into one (H, W, C) of bytes.

    Values from 0 to 1 are scaled to 0 to 255; others except bytes are stretched from the least to the greatest.
    """
    count, channels, height, width = images.shape
    numbers = np.nan_to_num(images.astype(np.float64))
    if images.dtype != np.uint8:
        low, high = numbers.min(), numbers.max()
        numbers = numbers * 255 if low >= 0 and high <= 1 else (numbers - low) * (255 / (high - low + 1))
    bytes_ = numbers.astype(np.uint8)
    columns = min(count, _IMAGES_PER_ROW)
    rows = -(-count // columns)
    tiles = np.zeros((rows * columns, channels, height, width), np.uint8)
    tiles[:count] = bytes_
    grid = tiles.reshape(rows, columns, channels, height, width).transpose(0, 3, 1, 4, 2)
    return grid.reshape(rows * height, columns * width, channels)


def png(image: Array) -> bytes:
    """Return a PNG file of an image (H, W, 1) or (H, W, 3) of bytes."""
    height, width, channels = image.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)  # 0: no filter

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(lines.tobytes()))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IEND", b"")


_FILLERS: dict[str, Callable[[Any, Any], None]] = {
    "scalar": _scalar,
    "tensor": _tensor,
    "text": _text,
    "histogram": _histogram,
    "image": _image,
}
