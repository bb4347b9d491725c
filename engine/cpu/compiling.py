"""Kernels, ready to run: from the package, from the user's cache folder, or compiled by Numba on first use.

The kernels are in the packages of ``compiled``, one file for each subject; a file is loaded completely on first use:
``kernels("convolution")``. If its machine code exists, neither those files nor Numba are imported.

The choice of a kernel depends only on shapes and dtypes (``is_worth``), never on the availability of machine code, so
that equal programs give equal bits in every process. ``HOOKSCOPE_NUMBA=0`` disables them in favor of NumPy, for
comparison; products of matrices are then BLAS's, whose sums depend on its number of threads.

Machine code (``machine_code``) is made in a single way (``compiled._building``), for the processor's baseline: at the
build of a package or an environment, for all kernels (``build_kernels``), into ``BUILT``; or by the process that needs
it, with a notice, and is then kept in the user's cache folder, as trusted as compiled Python files. If there is no such
folder, or others may write into it, each process compiles again. The code records its sources: another version of the
kernel's file, or of one that it imports (``_shared``; they import nothing else of each other), another baseline, and in
the cache folder another release of the compiler, lead to new code. Damaged files, as after a crash of the machine, are
replaced; if a file cannot be written, as on a full disk, the code is used by this process only.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

from . import machine_code
from .array_module import Array
from .interrupts import uninterrupted
from .memory import keep_freed_memory
from .notices import tell
from .ownership import NOT_WRITABLE, NotOwnError, own_folder

__all__ = [
    "BUILT",
    "address",
    "facts",
    "files",
    "generated",
    "is_on",
    "is_worth",
    "joint_notice",
    "kernels",
    "module_name",
    "ready",
    "show_with",
    "storage_note",
    "without_collection",
]

_SINGLE = np.dtype(np.float32)
_LEAST = 1 << 14
"""Elements from which a compiled loop is faster: for fewer, NumPy takes some microseconds."""

_loading = threading.RLock()


@functools.cache
def is_on() -> bool:
    """Return whether compilation is enabled in this process."""
    return os.environ.get("HOOKSCOPE_NUMBA") != "0" and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def is_worth(x: Array, least: int = _LEAST) -> bool:
    """Return whether a compiled kernel computes with ``x``: float32 on the CPU, and ``least`` elements or more."""
    return x.size >= least and x.dtype is _SINGLE and type(x) is np.ndarray and is_on()


def ready(x: Array) -> Array:
    """Return ``x`` in the form for kernels, contiguous and aligned; the same object if it is."""
    flags = x.flags
    return x if flags.c_contiguous and flags.aligned else np.array(x, order="C")


_word_at, _HEADER = ctypes.c_size_t.from_address, object.__basicsize__
_probe = np.zeros(1)
# NumPy's description of an array takes seven times as long as reading the one word, the first after the header
# of any object (``PyArrayObject_fields`` of its C interface); a step of a small network does it a hundred times.
_is_first = _word_at(id(_probe) + _HEADER).value == _probe.__array_interface__["data"][0]


def address(x: Array) -> int:
    """Return the address of the first element of ``x``.

    Raises:
        TypeError: ``x`` is not an array; the elements of NumPy scalars have no stable address.
    """
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a numpy.ndarray, got {type(x).__name__}")
    start: int = _word_at(id(x) + _HEADER).value if _is_first else x.__array_interface__["data"][0]
    return start


BUILT = Path(__file__).parent / "built"
"""Folder of ``build_kernels``' machine code."""
_COMPILED = Path(__file__).parent / "compiled"
_LIBRARY = _COMPILED / "library"
"""Functions that kernels call; files without callable kernels."""

_modules: dict[str, ModuleType] = {}


def kernels(name: str) -> ModuleType:
    """Return the functions and numbers of the file of ``compiled`` with this name, ready to run."""
    module = _modules.get(name)
    if module is None:
        # A lock, because two threads may come at once; without interrupts, because a half-imported Numba could not be
        # imported again in this process, and a half-finished compilation would be wasted.
        with _loading, uninterrupted():
            module = _modules.get(name)
            if module is None:
                if not _modules:
                    keep_freed_memory()  # from now on large arrays come and go
                module = _modules[name] = _loaded(name)
    return module


def files() -> tuple[str, ...]:
    """Return the names of all files of kernels."""
    return tuple(sorted(name for name, path in _paths().items() if path.parent != _LIBRARY))


@functools.cache
def _paths() -> Mapping[str, Path]:
    """Return the files of ``compiled`` and of its packages, by names that are unique among all of them."""
    return {path.stem: path for path in _COMPILED.rglob("[!_]*.py")}


def _shared() -> list[Path]:
    """Return the files that determine the machine code of every file of kernels."""
    return [_COMPILED / "_building.py", _COMPILED / "sharing.py", *sorted(_LIBRARY.glob("*.py"))]


def module_name(name: str) -> str:
    """Return the dotted name of a file of kernels."""
    path = _paths()[name].relative_to(_COMPILED).with_suffix("")
    return ".".join((__package__, _COMPILED.name, *path.parts))


def _loaded(name: str) -> ModuleType:
    made_from = facts(name, machine_code.baseline())
    code = machine_code.read(BUILT / machine_code.file_name(name, machine_code.baseline()), **made_from)
    if code is None:
        code = _cached_code(name, made_from, lambda: _built(name), name.replace("_", " "))
    return machine_code.loaded(code, module_name(name))


def facts(name: str, baseline: machine_code.Baseline, *more: str) -> dict[str, Any]:
    """Return the facts that determine the machine code of a file of kernels, with further texts."""
    return {
        "name": name,
        "sources": _sources(name),
        "baseline": list(baseline),
        "platform": machine_code.platform(),
        "more": list(more),
    }


@functools.cache
def _sources(name: str) -> str:
    digest = hashlib.sha256()
    for path in (*_shared(), _paths()[name]):
        content = path.read_bytes()
        digest.update(b"%d " % len(content) + content)
    return digest.hexdigest()


def _built(name: str) -> machine_code.Code:
    """Compile a file of kernels."""
    building = _building()
    with without_collection():
        module = import_module(module_name(name))
        entries, numbers = building.entries(module), building.numbers(module)
        with _progress(f"compiling {name.replace('_', ' ')}", len(entries) + 1) as advance:
            (code,) = building.build(entries, numbers, (machine_code.baseline(),), advance)
    compiled: machine_code.Code = code
    return compiled


def _building() -> Any:
    return import_module(f"{__package__}.compiled._building")


def generated(name: str, digest: str, entry: Callable[[], Any]) -> Any:
    """Return a function whose source was generated in this process.

    Args:
        name: the file of kernels whose functions it uses.
        digest: the digest of everything else that determines the code.
        entry: returns the ``compiled._building.Entry``, if it has to be compiled.
    """
    with _loading, uninterrupted(), contextlib.ExitStack() as stack:
        notice = _block.get() or stack.enter_context(joint_notice("a loop", 1))

        def build() -> machine_code.Code:
            with notice.one_more(), without_collection():
                entry_compiled = entry()
                (code,) = _building().build({entry_compiled.name: entry_compiled}, {}, (machine_code.baseline(),))
            compiled: machine_code.Code = code
            return compiled

        code = _cached_code(name, facts(name, machine_code.baseline(), digest), build)
        (function,) = code.functions
        return getattr(machine_code.loaded(code, module_name(name)), function)


class _Notice:
    """Notice about functions that are compiled together: written before the first of them, with progress.

    Args:
        what, units: see ``joint_notice``.
        until: the context that ends the line.
    """

    def __init__(self, what: str, units: int, until: contextlib.ExitStack) -> None:
        self._what, self._units, self._until = what, units, until
        self._advance: Callable[[], None] | None = None

    @contextlib.contextmanager
    def one_more(self) -> Iterator[None]:
        """Announce the compilation of one function inside the block."""
        if self._advance is None:
            self._until.enter_context(_timed_notice(self._what))
            self._advance = self._until.enter_context(_progress(f"compiling {self._what}", self._units))
        yield
        self._advance()


_block: ContextVar[_Notice | None] = ContextVar("_block", default=None)


@contextlib.contextmanager
def joint_notice(what: str, units: int) -> Iterator[_Notice]:
    """Report in one line the functions that ``generated`` compiles in the block; nothing if all come from the cache.

    Args:
        what: their description in the line.
        units: the maximum of functions.
    """
    with contextlib.ExitStack() as until:
        notice = _Notice(what, units, until)
        until.callback(_block.reset, _block.set(notice))
        yield notice


def _cached_code(
    name: str, made_from: Mapping[str, Any], build: Callable[[], machine_code.Code], notice_text: str = ""
) -> machine_code.Code:
    """Return machine code from the cache folder, or compile and store it, with a notice about ``notice_text``."""
    made_from = {**made_from, "versions": _versions()}
    parent = _parent_folder()
    path = None
    if parent is not None:
        digest = hashlib.sha256(repr(sorted(made_from.items())).encode()).hexdigest()
        path = Path(parent, f"{name}-{digest[:24]}{machine_code.ENDING}")
        code = machine_code.read_own(path, **made_from)
        if code is not None:
            return code
    with _timed_notice(notice_text):
        code = build()._replace(facts=made_from)
        if path is not None:
            try:
                machine_code.write(path, code)
            except OSError as error:
                _storage_errors.append(f"{parent}: {error}")
    return code


@functools.cache
def _versions() -> list[str]:
    """Return the versions of the compiler."""
    from importlib.metadata import version  # takes 20 ms

    return [version("numba"), version("llvmlite")]


@contextlib.contextmanager
def without_collection() -> Any:
    """Disable garbage collection in the block: a compiler creates many objects, and little of it is garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


_shows: list[Callable[[str, int], Any]] = []


def show_with(show: Callable[[str, int], Any]) -> None:
    """Set the function that shows the progress of a compilation: called with its name and number of units, it returns a
    context whose value has ``advance()``."""
    _shows[:] = [show]


@contextlib.contextmanager
def _progress(what: str, units: int) -> Any:
    if not _shows:
        yield lambda: None
    else:
        with _shows[0](what, units) as work:
            yield work.advance


@contextlib.contextmanager
def _timed_notice(what: str) -> Any:
    """Print one line about a compilation, in two parts: a notice before, and its duration after."""
    if not what or os.environ.get("HOOKSCOPE_COMPILE_NOTICE") == "0":
        yield
        return
    began, known_count = perf_counter(), len(_storage_errors)
    tell(f"Hookscope compiles {what} for this CPU ({storage_note()}) ...", end="")
    try:
        yield
    finally:
        seconds = perf_counter() - began
        tell(f" {seconds:.1f} s" + (f" ({storage_note()})" if len(_storage_errors) > known_count else ""))


def storage_note() -> str:
    """Return where this process keeps machine code."""
    if _storage_errors:
        return f"for this process: {_storage_errors[-1]}"
    folder = _parent_folder()
    return f"kept in {folder}" if folder else "for this process: there is no folder to keep it in"


@functools.cache
def _parent_folder() -> str | None:
    """Return $NUMBA_CACHE_DIR, or a folder in the user's cache; None unless writable by this user only."""
    try:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = own_folder(Path(os.environ.get("NUMBA_CACHE_DIR") or user / "hookscope" / "numba"), NOT_WRITABLE)
    except NotOwnError as error:
        tell(f"Hookscope keeps no machine code, and compiles in each process: {error}")
        return None
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


_storage_errors: list[str] = []
"""Reasons why machine code could not be stored."""
