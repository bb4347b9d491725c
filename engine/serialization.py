"""Checkpoints in MindSpore's ``.ckpt`` format: written atomically, read with every length checked before use.

The format is a protobuf message with a list of named tensors (dims, type name, raw little-endian elements), with an
optional CRC32 behind it. A file that does not hold together is refused before anything in a network changes.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from .backend import to_device, to_host
from .dtype import DTYPES
from .nn.cell import Cell
from .parameter import Parameter
from .tensor import Tensor

__all__ = ["load_checkpoint", "load_param_into_net", "save_checkpoint"]

_CRC_MARK = b"crc_num"
_CRC_BYTES = 10
_DTYPES = {dtype.name: dtype for dtype in DTYPES}
_TEXT, _TEXT_CODE = "str", "utf-32-le"  # how MindSpore keeps a string of append_dict; its dims are [0]


@cache
def _message() -> Any:
    """The class of the checkpoint message, made from its description: no generated code to keep."""
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


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str | os.PathLike[str],
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
) -> None:
    """Write parameters to a file.

    The file appears whole or not at all: it is written under another name, flushed to disk and renamed.

    Args:
        save_obj: a cell, a dictionary of names and tensors, or a list of ``{"name": ..., "data": ...}``.
        ckpt_file_name: the path; ".ckpt" is added if it is missing.
        integrated_save, async_save: kept for callers; one device writes at once.
        append_dict: more names with tensors, numbers or strings.
        choice_func: called with each name; False leaves it out.
        crc_check: add a checksum, which ``load_checkpoint(crc_check=True)`` looks at.
        format: "ckpt".

    Raises:
        TypeError: something else than these.
        ValueError: another format.
    """
    if format != "ckpt":
        raise ValueError(f"For 'save_checkpoint', 'format' must be 'ckpt', but got {format!r}")
    message = _message()()
    for name, tensor in [*_named_tensors(save_obj), *_appended(append_dict)]:
        if choice_func is not None and not choice_func(name):
            continue
        entry = message.value.add(tag=name)
        if isinstance(tensor, str):
            entry.tensor.dims.append(0)
            entry.tensor.tensor_type = _TEXT
            entry.tensor.tensor_content = tensor.encode(_TEXT_CODE)
            continue
        array = np.asarray(to_host(tensor._array))
        entry.tensor.dims.extend(array.shape)
        entry.tensor.tensor_type = str(tensor.dtype)
        entry.tensor.tensor_content = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    body = message.SerializeToString()
    if crc_check:
        body += _CRC_MARK + zlib.crc32(body).to_bytes(_CRC_BYTES, "big")
    path = os.fspath(ckpt_file_name)
    _write_whole(path if path.endswith(".ckpt") else path + ".ckpt", body)


def _named_tensors(save_obj: Any) -> list[tuple[str, Tensor]]:
    if isinstance(save_obj, Cell):
        pairs: Iterable[tuple[Any, Any]] = [(p.name, p) for p in save_obj.get_parameters()]
    elif isinstance(save_obj, dict):
        pairs = save_obj.items()
    elif isinstance(save_obj, list) and all(isinstance(x, dict) and {"name", "data"} <= set(x) for x in save_obj):
        pairs = [(x["name"], x["data"]) for x in save_obj]
    else:
        raise TypeError(
            "For 'save_checkpoint', 'save_obj' must be a Cell, a dict or a list of {'name', 'data'}, "
            f"but got {type(save_obj).__name__}"
        )
    found = list(pairs)
    for name, tensor in found:
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise TypeError(
                f"For 'save_checkpoint', every entry must be a name and a Tensor, but got {type(name).__name__} "
                f"and {type(tensor).__name__}"
            )
    return found


def _appended(append_dict: dict[str, Any] | None) -> list[tuple[str, Tensor | str]]:
    found = []
    for name, value in (append_dict or {}).items():
        if not isinstance(value, Tensor | int | float | bool | str):
            raise TypeError(
                f"For 'save_checkpoint', '{name}' in 'append_dict' must be a number, a string or a Tensor, "
                f"but got {type(value).__name__}"
            )
        found.append((name, value if isinstance(value, Tensor | str) else Tensor(value)))
    return found


def _write_whole(path: str, body: bytes) -> None:
    import tempfile

    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o400)  # as MindSpore leaves them: readable by the owner, changed by nobody
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load_checkpoint(
    ckpt_file_name: str | os.PathLike[str],
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Read parameters from a file.

    Args:
        ckpt_file_name: the path.
        net: a cell whose parameters get the values; nothing changes in it if the file is bad.
        strict_load: with ``net``, values are cast only where MindSpore's loose rule would not.
        filter_prefix: names that begin with it are left out.
        specify_prefix: only names that begin with it.
        choice_func: called with each name; False leaves it out.
        crc_check: check the checksum, which the file must have.
        format: "ckpt".

    Returns:
        parameters by name; what was saved as a string comes as a string.

    Raises:
        ValueError: the file is missing, broken, holds an unknown type, or nothing is left of it.
    """
    if format != "ckpt":
        raise ValueError(f"For 'load_checkpoint', 'format' must be 'ckpt', but got {format!r}")
    path = os.fspath(ckpt_file_name)
    if not os.path.isfile(path):
        raise ValueError(f"For 'load_checkpoint', the checkpoint file '{path}' does not exist")
    with open(path, "rb") as file:
        body = file.read()
    parsed = _parsed(_checked_crc(body, path, crc_check), path)
    if not parsed:
        raise ValueError(f"the checkpoint file '{path}' cannot be read: it holds nothing")
    chosen: dict[str, Any] = {}
    for name, tensor in parsed.items():
        if filter_prefix is not None and name.startswith(_prefixes(filter_prefix, "filter_prefix")):
            continue
        if specify_prefix is not None and not name.startswith(_prefixes(specify_prefix, "specify_prefix")):
            continue
        if choice_func is None or choice_func(name):
            chosen[name] = tensor if isinstance(tensor, str) else Parameter(tensor, name)
    if not chosen:
        raise ValueError(f"For 'load_checkpoint', no parameter is left of the file '{path}': check the prefixes")
    if net is not None:
        load_param_into_net(net, chosen, strict_load)
    return chosen


def _prefixes(given: Any, argument: str) -> tuple[str, ...]:
    prefixes = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(p, str) and p for p in prefixes):
        raise ValueError(
            f"For 'load_checkpoint', '{argument}' must be a str or strs that are not empty, but got {given!r}"
        )
    return prefixes


def _checked_crc(body: bytes, path: str, wanted: bool) -> bytes:
    tail = len(_CRC_MARK) + _CRC_BYTES
    has_mark = len(body) >= tail and body[-tail:-_CRC_BYTES] == _CRC_MARK
    if has_mark:
        content, number = body[:-tail], int.from_bytes(body[-_CRC_BYTES:], "big")
        if wanted and zlib.crc32(content) != number:
            raise ValueError(f"the checksum of the checkpoint file '{path}' does not fit: the file is damaged")
        return content
    if wanted:
        raise ValueError(f"the checkpoint file '{path}' has no checksum; save it with crc_check=True")
    return body


def _parsed(body: bytes, path: str) -> dict[str, Tensor | str]:
    from google.protobuf.message import DecodeError

    broken = f"the checkpoint file '{path}' cannot be read: "
    try:
        message = _message().FromString(body)
    except DecodeError as error:
        raise ValueError(broken + "it is no checkpoint, or damaged") from error
    found: dict[str, Tensor | str] = {}
    for entry in message.value:
        tensor = entry.tensor
        if not isinstance(entry.tag, str) or not entry.tag.strip():
            raise ValueError(broken + f"the name {entry.tag!r} is empty or no UTF-8 text")
        if tensor.tensor_type == _TEXT:
            found[entry.tag] = _text(tensor.tensor_content, broken + f"'{entry.tag}' is no UTF-32 text")
            continue
        dtype = _DTYPES.get(tensor.tensor_type)
        if dtype is None:
            raise ValueError(broken + f"'{entry.tag}' has the unknown type {tensor.tensor_type!r}")
        dims = tuple(tensor.dims)
        # Python's integers do not overflow, so a hostile product of dims cannot pass for a small one.
        if any(n < 0 for n in dims) or math.prod(dims) * dtype.itemsize != len(tensor.tensor_content):
            raise ValueError(
                broken + f"'{entry.tag}' has {len(tensor.tensor_content)} bytes, which is not {dims} of {dtype}"
            )
        try:
            array = np.frombuffer(tensor.tensor_content, dtype.numpy.newbyteorder("<")).reshape(dims)
        except ValueError as error:  # more axes, or longer empty ones, than an array can have
            raise ValueError(broken + f"'{entry.tag}' has a shape that no array can have: {error}") from None
        found[entry.tag] = Tensor._wrap(to_device(array.astype(dtype.numpy)))
    return found


def _text(content: bytes, otherwise: str) -> str:
    try:
        return content.decode(_TEXT_CODE)
    except UnicodeDecodeError:
        raise ValueError(otherwise) from None


def load_param_into_net(
    net: Cell,
    parameter_dict: dict[str, Any],
    strict_load: bool = False,
    remove_redundancy: bool = False,
) -> tuple[list[str], list[str]]:
    """Give a network's parameters values by name. All shapes are checked before the first value changes.

    Returns:
        the names of the network that got no value, and the names in ``parameter_dict`` that the network does not have.

    Raises:
        TypeError: ``net`` is no Cell, or an entry no Parameter.
        RuntimeError: a shape or, with ``strict_load``, a dtype that does not fit.
    """
    if not isinstance(net, Cell):
        raise TypeError(f"For 'load_param_into_net', 'net' must be a Cell, but got {type(net).__name__}")
    if not isinstance(parameter_dict, dict):
        raise TypeError(
            f"For 'load_param_into_net', 'parameter_dict' must be a dict, but got {type(parameter_dict).__name__}"
        )
    for name, value in parameter_dict.items():
        if not isinstance(value, Parameter | str):
            raise TypeError(f"For 'load_param_into_net', '{name}' must be a Parameter, but got {type(value).__name__}")
    mine = {p.name: p for p in net.get_parameters()}
    pairs = [(mine[name], value) for name, value in parameter_dict.items() if name in mine]
    for parameter, value in pairs:
        if isinstance(value, str):
            raise TypeError(f"For 'load_param_into_net', '{parameter.name}' must be a Parameter, but got str")
        if parameter.shape != value.shape:
            raise RuntimeError(
                f"For 'load_param_into_net', '{parameter.name}' has the shape {parameter.shape}, "
                f"but the value has {value.shape}"
            )
        if parameter.dtype != value.dtype and (strict_load or not _kinds_fit(parameter, value)):
            raise RuntimeError(
                f"For 'load_param_into_net', '{parameter.name}' is {parameter.dtype}, but the value is {value.dtype}"
            )
    for parameter, value in pairs:
        parameter.set_data(value)
    return [n for n in mine if n not in parameter_dict], [n for n in parameter_dict if n not in mine]


def _kinds_fit(parameter: Tensor, value: Tensor) -> bool:
    """Floats into floats, integers into integers."""
    return (parameter._array.dtype.kind in "fV") == (value._array.dtype.kind in "fV")
