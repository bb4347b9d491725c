"""Conversion between file formats."""

from __future__ import annotations

import os
import re

from .load_checkpoint import read_values
from .save_checkpoint import write_values

__all__ = ["ckpt_to_safetensors", "safetensors_to_ckpt"]


def ckpt_to_safetensors(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write the content of ``.ckpt`` files as ``.safetensors``.

    Args:
        file_path: a file, or a folder of folders whose names begin with "rank".
        save_path: the folder to write to; by default that of the file.
        name_map: new names for parameters.
        file_name_regex: in a folder, only files whose names match this pattern.
        processes_num: accepted for compatibility; files are written in sequence.

    Raises:
        ValueError: the file does not exist, or is not in this format.
    """
    _convert("ckpt_to_safetensors", "ckpt", "safetensors", file_path, save_path, name_map, file_name_regex)


def safetensors_to_ckpt(
    file_path: str,
    save_path: str | None = None,
    name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write the content of ``.safetensors`` files as ``.ckpt``.

    Args:
        file_path: a file, or a folder of folders whose names begin with "rank".
        save_path: the folder to write to; by default that of the file.
        name_map: new names for parameters.
        file_name_regex: in a folder, only files whose names match this pattern.
        processes_num: accepted for compatibility; files are written in sequence.

    Raises:
        ValueError: the file does not exist, or is not in this format.
    """
    _convert("safetensors_to_ckpt", "safetensors", "ckpt", file_path, save_path, name_map, file_name_regex)


def _convert(
    function: str,
    source: str,
    target: str,
    path: str,
    save_path: str | None,
    name_map: dict[str, str] | None,
    pattern: str | None,
) -> None:
    if not isinstance(path, str | os.PathLike) or not os.path.exists(path):
        raise ValueError(f"For '{function}', 'file_path' must be a file or a folder, but got {path!r}")
    root = os.fspath(path)
    for file in _files(function, root, source, pattern):
        below = os.path.relpath(os.path.dirname(file), root) if os.path.isdir(root) else ""
        folder = os.path.join(save_path, below) if save_path else os.path.dirname(file)
        os.makedirs(folder or ".", exist_ok=True)
        values = read_values(file, source, False, function)
        renamed = {(name_map or {}).get(name, name): value for name, value in values.items()}
        stem = os.path.splitext(os.path.basename(file))[0]
        write_values(os.path.join(folder, f"{stem}.{target}"), renamed, target, False, function)


def _files(function: str, path: str, source: str, pattern: str | None) -> list[str]:
    if os.path.isfile(path):
        if not path.endswith(f".{source}"):
            raise ValueError(f"For '{function}', 'file_path' must end in '.{source}', but got '{path}'")
        return [path]
    folders = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.startswith("rank")]
    if not any(map(os.path.isdir, folders)):
        raise ValueError(f"For '{function}', '{path}' has no folders whose names begin with 'rank'")
    return [
        os.path.join(folder, name)
        for folder in folders
        for name in sorted(os.listdir(folder))
        if name.endswith(f".{source}") and (pattern is None or re.search(pattern, name))
    ]
