"""``load_checkpoint`` and ``load_param_into_net``."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..base.argument_checks import check_type
from ..base.quoting import escape
from ..nn.cell import Cell
from ..tensors.backend import to_device
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from .checkpoint_names import parameters_by_name
from .free_memory import free_memory
from .path_locks import wait_for_saves
from .save_checkpoint import FORMATS, check_bool, check_key, checked_format, checked_path

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["load_checkpoint", "load_checkpoint_async", "load_param_into_net"]

Prefixes = str | list[str] | tuple[str, ...] | None


def load_checkpoint(
    ckpt_file_name: str | os.PathLike[str],
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Prefixes = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Prefixes = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """Read parameters from a file.

    Args:
        ckpt_file_name: the path, which ends in "." and the format.
        net: a cell whose parameters get the values; nothing changes in it if the file is corrupt.
        strict_load: with ``net``, nothing is cast, and no prefix is added to its names.
        filter_prefix: names that begin with it are excluded.
        dec_key: files are not encrypted; a key is rejected.
        dec_mode: accepted for compatibility.
        specify_prefix: only names that begin with it are loaded.
        choice_func: called with each name; False excludes it.
        crc_check: check the checksum, which the file must have.
        remove_redundancy: accepted for compatibility; one device saves nothing twice.
        format: "ckpt" or "safetensors".

    Returns:
        parameters by name; saved strings are returned as strings.

    Raises:
        ValueError: the file is missing, corrupt, contains an unknown type, or no value of it is selected.
        OSError: it cannot be read, or an asynchronous save of it failed.
        MemoryError: it is larger than the available memory.
        TypeError: an argument of the wrong kind.
        NotImplementedError: a ``dec_key``.
    """
    name = "load_checkpoint"
    checked_format(format, name)
    path = checked_path(ckpt_file_name, name)
    check_key(dec_key, "dec_key", name)
    check_bool(crc_check, "crc_check", name, ValueError)
    check_bool(remove_redundancy, "remove_redundancy", name, ValueError)
    if choice_func is not None and not callable(choice_func):
        raise ValueError(f"For '{name}', 'choice_func' must be a function, but got {type(choice_func).__name__}")
    excluded, included = _prefixes(filter_prefix, "filter_prefix"), _prefixes(specify_prefix, "specify_prefix")
    if not path.endswith(format):
        raise ValueError(f"For '{name}', 'ckpt_file_name' must end in '.{format}' as 'format' says, but got '{path}'")
    values = read_values(path, format, crc_check, name)
    if not values:
        raise ValueError(f"the checkpoint file '{path}' cannot be read: it holds nothing")
    selected: dict[str, Any] = {}
    for key, value in values.items():
        if (excluded and key.startswith(excluded)) or (included and not key.startswith(included)):
            continue
        if choice_func is None or choice_func(key):
            selected[key] = value if isinstance(value, str) else Parameter(Tensor._wrap(to_device(value)), key)
    if not selected:
        raise ValueError(f"For '{name}', no parameter is left of the file '{path}': check the prefixes")
    if net is not None:
        load_param_into_net(net, selected, strict_load)
    return selected


def read_values(path: str, format: str, crc: bool, caller: str) -> dict[str, Any]:
    """Return arrays and strings by name after the requested saves of the file."""
    missing = f"For '{caller}', the checkpoint file {path!r} does not exist"
    try:
        target = os.path.realpath(path)
    except (FileNotFoundError, ValueError):  # the working directory was deleted; a null character
        raise ValueError(missing) from None
    wait_for_saves(target)
    try:
        status = os.stat(target)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(missing) from None
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"For '{caller}', the checkpoint file '{path}' is a folder, a device or a pipe")
    free = free_memory()
    if status.st_size > free:
        raise MemoryError(
            f"For '{caller}', the checkpoint file '{path}' has {status.st_size:,} bytes, and memory has {free:,} left"
        )
    try:
        values: dict[str, Any] = FORMATS[format].read(target, crc)
    except MemoryError:
        raise MemoryError(f"For '{caller}', the checkpoint file '{path}' holds more than memory has left") from None
    return values


def _prefixes(value: Prefixes, argument: str) -> tuple[str, ...]:
    if value is None:
        return ()
    prefixes = (value,) if isinstance(value, str) else value
    if not isinstance(prefixes, list | tuple) or not all(isinstance(p, str) for p in prefixes):
        raise TypeError(f"For 'load_checkpoint', '{argument}' must be a str or a list of them, but got {value!r}")
    if not prefixes or "" in prefixes:
        raise ValueError(
            f"For 'load_checkpoint', '{argument}' must be a str or strs that are not empty, but got {value!r}"
        )
    return tuple(prefixes)


def load_checkpoint_async(
    ckpt_file_name: str | os.PathLike[str],
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: Prefixes = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Prefixes = None,
    choice_func: Callable[[str], bool] | None = None,
) -> Future[dict[str, Any]]:
    """Run ``load_checkpoint`` in a thread.

    Args:
        ckpt_file_name: the path, which ends in ".ckpt".
        net: a cell whose parameters get the values.
        strict_load: with ``net``, nothing is cast, and no prefix is added to its names.
        filter_prefix: names that begin with it are excluded.
        dec_key: files are not encrypted; a key is rejected.
        dec_mode: accepted for compatibility.
        specify_prefix: only names that begin with it are loaded.
        choice_func: called with each name; False excludes it.

    Returns:
        a future, whose ``result()`` waits for the thread and returns, or raises, the outcome of ``load_checkpoint``.
    """
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(1, "hookscope-load-checkpoint")
    future = executor.submit(
        load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func
    )
    executor.shutdown(wait=False)
    return future


def load_param_into_net(
    net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Load values into a network's parameters by name, or by path for shared names.

    Everything is checked before the first value changes.

    Without ``strict_load``, missing parameters are also looked up with the prefix that the dictionary's names have
    before one of theirs, such as "net.", and values are cast within their kind.

    Args:
        net: the network.
        parameter_dict: parameters by name, as from ``load_checkpoint``.
        strict_load: nothing is cast, and no prefix is added.
        remove_redundancy: must be False: one device saves nothing twice.

    Returns:
        the names of the network without a value, and the names in ``parameter_dict`` that the network does not have.

    Raises:
        TypeError: ``net`` is not a Cell, an entry is not a Parameter, or ``remove_redundancy`` is set.
        ValueError: ``remove_redundancy`` is not a bool, or two parameters share one name and one path.
        RuntimeError: a shape or, with ``strict_load``, a dtype that does not match.
    """
    name = "load_param_into_net"
    check_type(net, Cell, name, "net")
    check_type(parameter_dict, dict, name, "parameter_dict")
    check_bool(strict_load, "strict_load", name, TypeError)
    check_bool(remove_redundancy, "remove_redundancy", name, ValueError)
    if remove_redundancy:
        raise TypeError(f"For '{name}', 'remove_redundancy' needs several devices; one device saves nothing twice")
    for key, value in parameter_dict.items():
        if not isinstance(key, str) or not isinstance(value, Parameter | str):
            raise TypeError(
                f"For '{name}', '{escape(str(key))}' must be a Parameter, "
                f"but got {type(key).__name__} and {type(value).__name__}"
            )
    parameters = parameters_by_name(net, name)
    values = {key: parameter_dict[key] for key in parameters if key in parameter_dict}
    if not strict_load:
        missing = [key for key in parameters if key not in values]
        prefix = _prefix_of(missing, parameter_dict)
        values |= {key: parameter_dict[prefix + key] for key in missing if prefix and prefix + key in parameter_dict}
    pairs = [(parameters[key], _convert(parameters[key], value, strict_load)) for key, value in values.items()]
    for parameter, converted in pairs:
        parameter.set_data(converted)
    return [key for key in parameters if key not in values], [key for key in parameter_dict if key not in parameters]


def _prefix_of(missing: list[str], parameter_dict: dict[str, Any]) -> str:
    """Return the prefix of the dictionary's names before the longest of the missing names, or ""."""
    longest = max(missing, key=len, default="")
    return next((key[: -len(longest)] for key in parameter_dict if longest and key.endswith(f".{longest}")), "")


def _convert(parameter: Parameter, value: Parameter | str, strict: bool) -> Tensor:
    """Return the value in the parameter's dtype and shape."""
    name = parameter.name
    if isinstance(value, str):
        raise TypeError(f"For 'load_param_into_net', '{escape(name)}' must be a Parameter, but got str")
    shape = parameter.shape
    # Other devices of MindSpore append axes of length 1 to a saved matrix.
    if value.shape[: len(shape)] != shape or any(n != 1 for n in value.shape[len(shape) :]):
        raise RuntimeError(
            f"For 'load_param_into_net', '{escape(name)}' has the shape {shape}, but the value has {value.shape}"
        )
    if parameter.dtype != value.dtype and (strict or _kind(parameter) != _kind(value)):
        raise RuntimeError(
            f"For 'load_param_into_net', '{escape(name)}' is {parameter.dtype}, but the value is {value.dtype}"
        )
    return Tensor._wrap(value._array.reshape(shape))


def _kind(tensor: Tensor) -> str:
    """Return the kind of a dtype; casts stay within floats or within integers."""
    kind: str = tensor._array.dtype.kind
    return {"V": "f", "u": "i"}.get(kind, kind)
