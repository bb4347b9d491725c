"""Images in files and in objects of the package ``pillow``, which is imported on first use."""

from __future__ import annotations

import enum
import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_type
from ...base.types import Array
from ...tensors.tensor import Tensor
from ..plain_files import read_plain
from ..transforms import Transform
from ._devices import OnDevice
from ._pixels import of_bytes

__all__ = [
    "Decode",
    "ImageReadMode",
    "ToNumpy",
    "ToPIL",
    "encode_jpeg",
    "encode_png",
    "get_image_num_channels",
    "get_image_size",
    "read_file",
    "read_image",
    "write_file",
    "write_jpeg",
    "write_png",
]


class ImageReadMode(enum.IntEnum):
    """Results of ``read_image``."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


def _pillow(caller: str) -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(f"For '{caller}', the package 'pillow' is needed: pip install pillow") from error


def _opened(caller: str, data: bytes, mode: str | None = None) -> Any:
    """Return a fully loaded Pillow image, in this mode if it has one."""
    pillow = _pillow(caller)
    try:
        image = pillow.open(io.BytesIO(data))
        image.load()  # which reads the rest
        return image if mode is None else image.convert(mode)
    except MemoryError:
        raise
    except Exception as error:  # pillow raises errors of its readers for damaged bytes, and its own for too many pixels
        raise RuntimeError(f"For '{caller}', Pillow cannot decode these {len(data)} bytes: {error}") from error


class Decode(OnDevice):
    """Decodes a file's bytes to an image (H, W, 3), using the package ``pillow``.

    Args:
        to_pil: return pillow's object instead of an array.

    Raises:
        ImportError: when called, the package ``pillow`` is not installed.
        TypeError: when called, an input other than bytes or an array of them with one axis.
        RuntimeError: when called, bytes that are not an image.
    """

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = check_type(to_pil, bool, "Decode", "to_pil", show=repr)

    def __call__(self, img: Any) -> Any:
        data = img if isinstance(img, bytes) else np.asarray(img)
        if isinstance(data, np.ndarray):
            if data.ndim == 0 and data.dtype.kind == "S":
                data = data.item()
            elif data.ndim != 1 or data.dtype.kind not in "iu":
                raise TypeError(f"For 'Decode', the bytes must be an array with one axis, but got {data.shape}")
            else:
                data = data.astype(np.uint8).tobytes()
        image = _opened("Decode", data, "RGB")
        return image if self.to_pil else np.asarray(image)


class ToPIL:
    """Converts an image (H, W) or (H, W, C) of UInt8 to an object of the package ``pillow``.

    Raises:
        ImportError: when called, the package ``pillow`` is not installed.
        TypeError: when called, an input other than an array.
        RuntimeError: when called, an input other than an image of UInt8.
    """

    def __call__(self, img: Any) -> Any:
        if not hasattr(img, "getbands"):
            check_type(img, np.ndarray | Tensor, "ToPIL", "img", "an array or an image of PIL")
        image = of_bytes("ToPIL", np.asarray(img))
        return _pillow("ToPIL").fromarray(image[:, :, 0] if image.ndim == 3 and image.shape[2] == 1 else image)


class ToNumpy(Transform):
    """Converts an object of the package ``pillow`` to an array."""

    def changed(self, value: Array) -> Array:
        return value


def get_image_num_channels(image: Any) -> int:
    """Return the number of channels; 1 for an image (H, W).

    Args:
        image: an array or an object of the package ``pillow``.

    Raises:
        RuntimeError: the wrong rank.
    """
    shape = np.shape(image)
    if len(shape) < 2:
        raise RuntimeError(f"For 'get_image_num_channels', an image must have two axes or more, but got {shape}")
    return 1 if len(shape) == 2 else int(shape[-1])


def get_image_size(image: Any) -> list[int]:
    """Return the height and the width.

    Args:
        image: an array or an object of the package ``pillow``.

    Raises:
        RuntimeError: the wrong rank.
    """
    shape = np.shape(image)
    if len(shape) < 2:
        raise RuntimeError(f"For 'get_image_size', an image must have two axes or more, but got {shape}")
    return [int(shape[-3 if len(shape) > 2 else -2]), int(shape[-2 if len(shape) > 2 else -1])]


def _encoded(caller: str, image: Any, kind: str, **settings: int) -> Array:
    array = image.asnumpy() if hasattr(image, "asnumpy") else image
    check_type(array, np.ndarray, caller, "image", "an array or a tensor")
    buffer = io.BytesIO()
    _as_pillow(caller, array).save(buffer, kind, **settings)
    return np.frombuffer(buffer.getvalue(), np.uint8).copy()


def _as_pillow(caller: str, array: Array) -> Any:
    if array.ndim == 3 and array.shape[2] not in (1, 3):
        raise RuntimeError(f"For '{caller}', an image must have 1 or 3 channels, but got {array.shape}")
    of_bytes(caller, array)
    return ToPIL()(array)


def encode_jpeg(image: Any, quality: int = 75) -> Array:
    """Return the bytes of a JPEG file, an array of UInt8; needs the package ``pillow``.

    Args:
        image: an array or tensor of UInt8, (H, W), (H, W, 1) or (H, W, 3).
        quality: from 1 to 100.

    Raises:
        ImportError: the package ``pillow`` is not installed.
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: an input other than an image of UInt8.
    """
    if not 1 <= check_int(quality, "encode_jpeg", "quality", show=repr) <= 100:
        raise ValueError(f"For 'encode_jpeg', 'quality' must be from 1 to 100, but got {quality}")
    return _encoded("encode_jpeg", image, "jpeg", quality=quality)


def encode_png(image: Any, compression_level: int = 6) -> Array:
    """Return the bytes of a PNG file, an array of UInt8; needs the package ``pillow``.

    Args:
        image: an array or tensor of UInt8, (H, W), (H, W, 1) or (H, W, 3).
        compression_level: from 0 to 9.

    Raises:
        ImportError: the package ``pillow`` is not installed.
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: an input other than an image of UInt8.
    """
    if not 0 <= check_int(compression_level, "encode_png", "compression_level", show=repr) <= 9:
        raise ValueError(f"For 'encode_png', 'compression_level' must be from 0 to 9, but got {compression_level}")
    return _encoded("encode_png", image, "png", compress_level=compression_level)


def read_file(filename: str) -> Array:
    """Return the bytes of a file, an array of UInt8.

    Args:
        filename: its path.

    Raises:
        TypeError: not a str.
        RuntimeError: the file does not exist.
    """
    check_type(filename, str, "read_file", "filename", show=repr)
    try:
        return np.frombuffer(read_plain("read_file", Path(filename)), np.uint8).copy()
    except OSError as error:
        raise RuntimeError(f"For 'read_file', {filename} cannot be read: {error}") from error


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> Array:
    """Return the image (H, W, C) of a file; needs the package ``pillow``.

    Args:
        filename: its path.
        mode: unchanged, gray (H, W, 1), or in color (H, W, 3).

    Raises:
        ImportError: the package ``pillow`` is not installed.
        TypeError: an argument of the wrong type.
        RuntimeError: the file does not exist, or is not an image.
    """
    check_type(mode, ImageReadMode, "read_image", "mode", "an ImageReadMode", show=repr)
    kind = {ImageReadMode.UNCHANGED: None, ImageReadMode.GRAYSCALE: "L", ImageReadMode.COLOR: "RGB"}[mode]
    image = _opened("read_image", read_file(filename).tobytes(), kind)
    if image.mode == "P":
        image = image.convert("RGB")
    array = np.asarray(image)
    return array[:, :, None] if array.ndim == 2 else array


def write_file(filename: str, data: Any) -> None:
    """Write bytes into a file.

    Args:
        filename: its path.
        data: an array or tensor of UInt8 with one axis.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: the wrong dtype or rank, or the file cannot be written.
    """
    check_type(filename, str, "write_file", "filename", show=repr)
    array = data.asnumpy() if hasattr(data, "asnumpy") else data
    check_type(array, np.ndarray, "write_file", "data", "an array or a tensor")
    if array.dtype != np.uint8 or array.ndim != 1:
        raise RuntimeError(
            f"For 'write_file', 'data' must be of uint8 with one axis, but got {array.dtype} {array.shape}"
        )
    try:
        Path(filename).write_bytes(array.tobytes())
    except OSError as error:
        raise RuntimeError(f"For 'write_file', {filename} cannot be written: {error}") from error


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an image to a JPEG file; needs the package ``pillow``.

    Args:
        filename: its path.
        image: an array or tensor of UInt8, (H, W), (H, W, 1) or (H, W, 3).
        quality: from 1 to 100.

    Raises:
        ImportError: the package ``pillow`` is not installed.
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: an input other than an image of UInt8, or the file cannot be written.
    """
    write_file(filename, encode_jpeg(image, quality))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an image to a PNG file; needs the package ``pillow``.

    Args:
        filename: its path.
        image: an array or tensor of UInt8, (H, W), (H, W, 1) or (H, W, 3).
        compression_level: from 0 to 9.

    Raises:
        ImportError: the package ``pillow`` is not installed.
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: an input other than an image of UInt8, or the file cannot be written.
    """
    write_file(filename, encode_png(image, compression_level))
