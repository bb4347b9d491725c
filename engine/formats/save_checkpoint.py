"""``save_checkpoint`` and the checks that it shares with loading."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.argument_checks import check_type
from ..base.atomic_write import file_behind, write_file
from ..base.quoting import escape
from ..base.types import Array
from ..nn.cell import Cell
from ..nn.optim._sharing import remote_states
from ..tensors.backend import to_host
from ..tensors.tensor import Tensor
from . import ckpt, safetensors
from .checkpoint_names import is_name, parameters_by_name, refuse_same_names
from .path_locks import raise_failure, save_in_turn, saving_in_background

__all__ = ["async_ckpt_thread_status", "save_checkpoint"]

FORMATS: dict[str, Any] = {"ckpt": ckpt, "safetensors": safetensors}


def save_checkpoint(
    save_obj: Cell | Mapping[str, Any] | Sequence[Any],
    ckpt_file_name: str | os.PathLike[str],
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Write parameters to a file.

    The file is replaced completely or not at all: it is written under another name, flushed to disk and renamed. Saves
    of one file run in the order of the calls, from any thread. Other ranks are not involved: for a cell with an
    optimizer that is sharded over ranks, the file holds this rank's shard, and a warning says so.

    Args:
        save_obj: a cell, whose parameters are saved by name, or by path if two share a name; a dictionary of names
            and values, a list of ``{"name": ..., "data": ...}``, or a list of parameters.
        ckpt_file_name: the path; "." and the format are added if it does not end in the format.
        integrated_save: accepted for compatibility; there is one device.
        async_save: True, "thread" or "process": the file is written in a thread, with the current values. A failure is
            reported on stderr, and raised by the next save or load of the file, or by ``async_ckpt_thread_status``.
        append_dict: more names with tensors, numbers or strings; its values replace those of equal names.
        enc_key: files are not encrypted; a key is rejected.
        enc_mode: accepted for compatibility.
        choice_func: called with each name of ``save_obj``; False excludes it.
        crc_check: add a checksum, for ``load_checkpoint(crc_check=True)``.
        format: "ckpt" or "safetensors".
        **kwargs: accepted for compatibility.

    Raises:
        TypeError: the wrong type, or a value that the format cannot hold.
        ValueError: an unknown format, a name that could not be read again, or a duplicate name in a list.
        OSError: the file cannot be written, or an earlier asynchronous save of it failed; the file is unchanged.
        NotImplementedError: an ``enc_key``.
    """
    name = "save_checkpoint"
    checked_format(format, name)
    path = checked_path(ckpt_file_name, name)
    check_key(enc_key, "enc_key", name)
    check_bool(integrated_save, "integrated_save", name, TypeError)
    check_bool(crc_check, "crc_check", name, ValueError)
    check_type(async_save, bool | str, name, "async_save", "a bool or a str")
    if isinstance(async_save, str) and async_save not in ("process", "thread"):
        raise ValueError(f"For '{name}', 'async_save' must be 'process' or 'thread', but got {async_save!r}")
    values = {key: value for key, value in _values_of(save_obj).items() if choice_func is None or choice_func(key)}
    values.update(_check_append_dict(append_dict))
    if path and not path.endswith(format):  # also "./net_ckpt", as in MindSpore
        path += f".{format}"

    write_values(path, values, format, crc_check, name, background=bool(async_save))


def write_values(
    path: str, values: dict[str, Any], format: str, crc: bool, caller: str, background: bool = False
) -> None:
    """Write arrays and strings by name after earlier saves of the file."""
    codec = FORMATS[format]
    for name, value in values.items():
        if not is_name(name):
            raise ValueError(f"For '{caller}', the name '{escape(name)}' is empty, too long or has half a character")
        codec.check(name, value, caller)
    target = file_behind(path, caller)  # now: a thread may find another working directory

    def save(wanted: Callable[[], bool]) -> None:
        # As in MindSpore, a checkpoint is read-only for its owner, and unreadable for others.
        write_file(target, lambda file: codec.write(file, values, crc), caller, mode=0o400, confirm=wanted)

    save_in_turn(target, save, background)


def async_ckpt_thread_status() -> bool:
    """Return whether a file is still being written in the background.

    Raises:
        OSError, RuntimeError: all are written, but one failed, and the error was not reported yet.
    """
    if saving_in_background():
        return True
    raise_failure()
    return False


# Checks shared with loading


def checked_format(format: str, name: str) -> Any:
    """Return the module that reads and writes a format."""
    if format not in FORMATS:
        raise ValueError(f"For '{name}', 'format' must be 'ckpt' or 'safetensors', but got {format!r}")
    return FORMATS[format]


def checked_path(path: str | os.PathLike[str], name: str) -> str:
    """Return a file name as a str."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"For '{name}', 'ckpt_file_name' must be a str or a path, but got {type(path).__name__}")
    return os.fspath(path)


def check_key(key: bytes | None, argument: str, name: str) -> None:
    """Raise an error if encryption is requested by a key."""
    if key is None:
        return
    if not isinstance(key, bytes):
        raise ValueError(f"For '{name}', '{argument}' must be bytes or None, but got {type(key).__name__}")
    raise NotImplementedError(f"For '{name}', '{argument}' is not covered: keep the file on an encrypted disk")


def check_bool(value: object, argument: str, name: str, kind: type[Exception]) -> None:
    """Check a flag; MindSpore raises TypeError for some and ValueError for others."""
    if not isinstance(value, bool):
        raise kind(f"For '{name}', '{argument}' must be a bool, but got {type(value).__name__}")


# Values to save


def _values_of(save_obj: object) -> dict[str, Any]:
    if isinstance(save_obj, Cell):
        pairs: list[tuple[Any, Any]] = list(parameters_by_name(save_obj, "save_checkpoint").items())
        if shards := remote_states(save_obj):
            warnings.warn(
                f"save_checkpoint: the file lacks the optimizer's state on other ranks, {len(shards)} "
                f"parameters such as '{escape(shards[0])}'; save optimizer.whole_state(), which all ranks call, or "
                f"let each rank save to a file of its own and load all of them",
                stacklevel=3,
            )
    elif isinstance(save_obj, dict):
        pairs = list(save_obj.items())
    elif isinstance(save_obj, list):
        pairs = [_pair(entry) for entry in save_obj]
        refuse_same_names([pair for pair in pairs if isinstance(pair[0], str)], "save_checkpoint")
    else:
        raise _wrong_object(save_obj)
    return {_checked_name(key): _array(key, value, from_dict=isinstance(save_obj, dict)) for key, value in pairs}


def _pair(entry: object) -> tuple[Any, Any]:
    if isinstance(entry, Tensor) and hasattr(entry, "name"):
        return entry.name, entry
    if isinstance(entry, dict) and {"name", "data"} <= set(entry):
        return entry["name"], entry["data"]
    raise _wrong_object(entry)


def _wrong_object(value: object) -> TypeError:
    return TypeError(
        "For 'save_checkpoint', 'save_obj' must be a Cell, a dict, a list of {'name', 'data'} or a list of parameters, "
        f"but got {type(value).__name__}"
    )


def _checked_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"For 'save_checkpoint', every name must be a str, but got {type(name).__name__}")
    return name


def _array(name: str, value: object, from_dict: bool) -> Array:
    """Return a tensor's array on the host; arrays are never modified in place, so this is the current value."""
    if isinstance(value, Tensor):
        return np.asarray(to_host(value._array))
    if from_dict and isinstance(value, np.ndarray):
        return np.asarray(Tensor(value)._array)
    raise TypeError(
        f"For 'save_checkpoint', '{escape(name)}' must be a Tensor or a Parameter, but got {type(value).__name__}"
    )


def _check_append_dict(append_dict: dict[str, Any] | None) -> dict[str, Any]:
    if append_dict is None:
        return {}
    check_type(append_dict, dict, "save_checkpoint", "append_dict")
    values: dict[str, Any] = {}
    for name, value in append_dict.items():
        if not isinstance(value, Tensor | int | float | str):
            raise TypeError(
                f"For 'save_checkpoint', '{escape(str(name))}' in 'append_dict' must be a number, a string or a "
                f"Tensor, but got {type(value).__name__}"
            )
        if not isinstance(value, Tensor | str):
            value = Tensor(value)
        values[_checked_name(name)] = value if isinstance(value, str) else np.asarray(to_host(value._array))
    return values
