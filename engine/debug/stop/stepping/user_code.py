"""User code, in contrast to the standard library, installed packages and Hookscope."""

from __future__ import annotations

import functools
import linecache
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

__all__ = ["frame_to_show", "is_calling_code", "is_library_code", "is_user_code", "is_user_file", "nearest_user_frame"]

_PACKAGE = Path(__file__).absolute().parents[4]
# Up to Python 3.11 each of these is a function of its own; later versions run them as lines of the enclosing function,
# which is therefore displayed in every version.
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")


def _library_folders() -> Iterator[str]:
    yield from (path for key, path in sysconfig.get_paths().items() if "lib" in key or key == "scripts")
    yield os.path.dirname(os.__file__)
    yield from _hookscopes_folders()


def _hookscopes_folders() -> Iterator[str]:
    yield str(_PACKAGE)
    # In a checkout the folders inside the package are links; a module may have either path.
    yield from (str(folder.resolve()) for folder in _PACKAGE.iterdir() if folder.is_symlink())


_HOOKSCOPE = tuple(os.path.normcase(folder) + os.sep for folder in _hookscopes_folders())
_LIBRARIES = tuple({os.path.normcase(folder) + os.sep for folder in _library_folders()})


@functools.lru_cache(maxsize=4096)
def is_user_file(filename: str) -> bool:
    """Return whether a file is user code: not the standard library, an installed package or Hookscope."""
    name = os.path.normcase(filename)
    if f"{os.sep}site-packages{os.sep}" in name or f"{os.sep}dist-packages{os.sep}" in name:
        return False
    return not name.startswith(_LIBRARIES)


def is_user_code(code: CodeType) -> bool:
    """Return whether a function is user code: not the standard library, an installed package or Hookscope."""
    filename = code.co_filename
    if code.co_name in _COMPREHENSIONS:
        return False
    if filename.startswith("<"):
        # Typed at a prompt if its source is known. Not "<string>", which dataclasses use for generated code, and
        # `python -c` too, whose text is known from Python 3.13 on: the two cannot be distinguished.
        return filename != "<string>" and bool(linecache.getlines(filename))
    return is_user_file(filename)


# The parts of Hookscope that a user reads as a library: layers, operators, training.
_READABLE = tuple(
    os.path.normcase(os.sep.join((str(base), "engine", room))) + os.sep
    for base in (_PACKAGE, _PACKAGE.resolve())
    for room in ("nn", "ops", "mindspore", "train", "data")
)
_CALLING = tuple(f"{os.sep}nn{os.sep}{name}.py" for name in ("cell", "calling", "recompute"))
# They call the user's code, and never are what it calls.
_FRONTENDS = tuple(
    f"{os.sep}{name}{os.sep}"
    for name in (
        "IPython",
        "ipykernel",
        "traitlets",
        "tornado",
        "asyncio",
        "ipywidgets",
        "comm",
        "pytest",
        "_pytest",
        "pluggy",
        "debugpy",
    )
)


def is_calling_code(code: CodeType) -> bool:
    """Return whether a function is Hookscope's own part of a call of a cell, between the call and ``construct``."""
    return code.co_filename.endswith(_CALLING)


def is_library_code(code: CodeType) -> bool:
    """Return whether a function is library code that can be stepped into on request: a layer, an installed package."""
    filename = code.co_filename
    if filename.startswith("<") or code.co_name in _COMPREHENSIONS:
        return False
    if os.path.normcase(filename).startswith(_HOOKSCOPE):
        return os.path.normcase(filename).startswith(_READABLE) and not filename.endswith(_CALLING)
    is_installed = f"{os.sep}site-packages{os.sep}" in filename or f"{os.sep}dist-packages{os.sep}" in filename
    return is_installed and not any(name in filename for name in _FRONTENDS)


def frame_to_show(frame: FrameType) -> FrameType:
    """Return the innermost frame of user code; without one on the stack, the innermost frame outside Hookscope."""
    outside: FrameType | None = frame
    while outside is not None and os.path.normcase(outside.f_code.co_filename).startswith(_HOOKSCOPE):
        outside = outside.f_back
    return nearest_user_frame(frame) or outside or frame


def nearest_user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame of user code, from ``frame`` outwards."""
    others = _others
    while frame is not None:
        code = frame.f_code
        # Called for every operator while all conditions are checked, some 25 frames below the user's line.
        if code.co_filename not in others:
            if is_user_code(code):
                break
            if not is_user_file(code.co_filename):
                others.add(code.co_filename)
        frame = frame.f_back
    return frame


_others: set[str] = set()
"""Files on a stack that are not user code."""
