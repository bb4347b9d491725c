"""Kernels, ready to run: from the package, from the user's cache folder, or compiled by Numba on first use.

The kernels are in ``compiled``, one file for each subject, which is loaded whole when something first needs it:
``kernels("convolution")``. Where its machine code is there, neither those files nor Numba are imported.

Which kernel computes something is decided by shapes and dtypes alone (``is_worth``), never by what is compiled by now,
so that equal programs give equal bits in every process. ``HOOKSCOPE_NUMBA=0`` leaves everything to NumPy, to compare;
products of matrices are then BLAS's, whose sums depend on how many threads it has.

Machine code (``machine_code``) is made by one way alone (``compiled._building``), for the processor's baseline: when a
package is built and when an environment is made, for all kernels (``build_kernels``), into ``BUILT``; or by the process
that needs it, which says so before, and keeps it in the user's cache folder, as trusted as compiled Python files. Where
there is no such folder, or others may write into it, each process compiles anew. What code was made from is in it:
another kernel's file, or one of those that it imports (``_SHARED``; they import nothing else of each other), another
baseline, and in the cache folder another release of the compiler, make other code. What is damaged, as after a crash of
the machine, is made anew; what cannot be written, as on a full disk, is this process's.
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
from .ownership import NOT_WRITABLE, NotOwnError, own_folder
from .telling import tell

__all__ = [
    "BUILT",
    "address",
    "facts",
    "files",
    "generated",
    "is_on",
    "is_worth",
    "kernels",
    "ready",
    "show_with",
    "told_together",
    "where_kept",
    "without_collection",
]

_SINGLE = np.dtype(np.float32)
_LEAST = 1 << 14
"""Elements from which on a compiled loop is worth its call: NumPy takes some microseconds for fewer."""

_loading = threading.RLock()


@functools.cache
def is_on() -> bool:
    """Return whether anything is compiled in this process."""
    return os.environ.get("HOOKSCOPE_NUMBA") != "0" and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def is_worth(x: Array, least: int = _LEAST) -> bool:
    """Return whether a compiled kernel computes with ``x``: float32 on the CPU, and ``least`` elements or more."""
    return x.size >= least and x.dtype is _SINGLE and type(x) is np.ndarray and is_on()


def ready(x: Array) -> Array:
    """``x`` as the kernels take it, in one piece and aligned; the same object if it is so."""
    flags = x.flags
    return x if flags.c_contiguous and flags.aligned else np.array(x, order="C")


_word_at, _HEADER = ctypes.c_size_t.from_address, object.__basicsize__
_probe = np.zeros(1)
# NumPy's description of an array takes seven times as long as to read the one word, which is the first after the header
# of any object (``PyArrayObject_fields`` of its C interface); a step of a small network asks a hundred times.
_is_first = _word_at(id(_probe) + _HEADER).value == _probe.__array_interface__["data"][0]


def address(x: Array) -> int:
    """Where the elements of ``x`` begin.

    Raises:
        TypeError: ``x`` is not an array; the elements of NumPy's scalars would have no place that lasts.
    """
    if not isinstance(x, np.ndarray):
        raise TypeError(f"x must be a numpy.ndarray, got {type(x).__name__}")
    found: int = _word_at(id(x) + _HEADER).value if _is_first else x.__array_interface__["data"][0]
    return found


BUILT = Path(__file__).parent / "built"
"""Where ``build_kernels`` puts machine code."""
_COMPILED = Path(__file__).parent / "compiled"
_SHARED = ("_building.py", "blas.py", "loops.py", "philox.py", "sharing.py", "spans.py")

_modules: dict[str, ModuleType] = {}


def kernels(name: str) -> ModuleType:
    """Return the functions and numbers of ``compiled/<name>.py``, ready to run."""
    found = _modules.get(name)
    if found is None:
        # The lock because two threads may come at once; an interrupt, because Numba, half imported, could not be
        # imported again in this process, and what was half compiled would be for nothing.
        with _loading, uninterrupted():
            found = _modules.get(name)
            if found is None:
                found = _modules[name] = _loaded(name)
    return found


def files() -> tuple[str, ...]:
    """All files of kernels."""
    written = (path for path in _COMPILED.glob("[!_]*.py"))
    return tuple(sorted(path.stem for path in written if path.stem not in _LIBRARIES))


_LIBRARIES = ("blas", "loops", "philox", "scalars", "spans")
"""Files that offer nothing to be called."""


def _loaded(name: str) -> ModuleType:
    made_from = facts(name, machine_code.baseline())
    code = machine_code.read(BUILT / machine_code.file_name(name, machine_code.baseline()), **made_from)
    if code is None:
        code = _kept(name, made_from, lambda: _built(name), name.replace("_", " "))
    return machine_code.loaded(code, name)


def facts(name: str, baseline: machine_code.Baseline, *more: str) -> dict[str, Any]:
    """What the machine code of a file of kernels is made from, with other texts that decide about it."""
    return {
        "name": name,
        "sources": _sources(name),
        "baseline": list(baseline),
        "platform": machine_code.platform(),
        "more": list(more),
    }


@functools.cache
def _sources(name: str) -> str:
    found = hashlib.sha256()
    for part in (*_SHARED, f"{name}.py"):
        content = (_COMPILED / part).read_bytes()
        found.update(b"%d " % len(content) + content)
    return found.hexdigest()


def _built(name: str) -> machine_code.Code:
    """Compile a file of kernels."""
    building = _building()
    with without_collection():
        module = import_module(f"{__package__}.compiled.{name}")
        entries, numbers = building.entries(module), building.numbers(module)
        with _shown(f"compiling {name.replace('_', ' ')}", len(entries) + 1) as advance:
            (code,) = building.build(entries, numbers, (machine_code.baseline(),), advance)
    made: machine_code.Code = code
    return made


def _building() -> Any:
    return import_module(f"{__package__}.compiled._building")


def generated(name: str, digest: str, entry: Callable[[], Any]) -> Any:
    """Return a function whose text was made in this process.

    Args:
        name: of the file of kernels by whose functions it is written.
        digest: of all that decides about it beside that.
        entry: what makes the ``compiled._building.Entry``, if it has to be compiled.
    """
    with _loading, uninterrupted(), contextlib.ExitStack() as alone:
        notice = _block.get() or alone.enter_context(told_together("a loop", 1))

        def build() -> machine_code.Code:
            with notice.one_more(), without_collection():
                made = entry()
                (code,) = _building().build({made.name: made}, {}, (machine_code.baseline(),))
            found: machine_code.Code = code
            return found

        code = _kept(name, facts(name, machine_code.baseline(), digest), build)
        (function,) = code.functions
        return getattr(machine_code.loaded(code, name), function)


class _Notice:
    """Notice about functions that are compiled together: written before the first of them, with progress.

    Args:
        what, units: see ``told_together``.
        until: what ends the line.
    """

    def __init__(self, what: str, units: int, until: contextlib.ExitStack) -> None:
        self._what, self._units, self._until = what, units, until
        self._advance: Callable[[], None] | None = None

    @contextlib.contextmanager
    def one_more(self) -> Iterator[None]:
        """Around the compilation of one."""
        if self._advance is None:
            self._until.enter_context(_telling(self._what))
            self._advance = self._until.enter_context(_shown(f"compiling {self._what}", self._units))
        yield
        self._advance()


_block: ContextVar[_Notice | None] = ContextVar("_block", default=None)


@contextlib.contextmanager
def told_together(what: str, units: int) -> Iterator[_Notice]:
    """Report in one line what ``generated`` compiles in the block; write nothing if all of it is found on disk.

    Args:
        what: what is compiled, in the words of the line.
        units: how many functions at most.
    """
    with contextlib.ExitStack() as until:
        notice = _Notice(what, units, until)
        until.callback(_block.reset, _block.set(notice))
        yield notice


def _kept(
    name: str, made_from: Mapping[str, Any], build: Callable[[], machine_code.Code], told: str = ""
) -> machine_code.Code:
    """Machine code from the user's cache folder, or made and left there, which is ``told`` by this name."""
    made_from = {**made_from, "versions": _versions()}
    parent = _parent_folder()
    path = None
    if parent is not None:
        digest = hashlib.sha256(repr(sorted(made_from.items())).encode()).hexdigest()
        path = Path(parent, f"{name}-{digest[:24]}{machine_code.ENDING}")
        code = machine_code.read_own(path, **made_from)
        if code is not None:
            return code
    with _telling(told):
        code = build()._replace(facts=made_from)
        if path is not None:
            try:
                machine_code.write(path, code)
            except OSError as error:
                _not_kept.append(f"{parent}: {error}")
    return code


@functools.cache
def _versions() -> list[str]:
    """Of the compiler."""
    from importlib.metadata import version  # which takes 20 ms

    return [version("numba"), version("llvmlite")]


@contextlib.contextmanager
def without_collection() -> Any:
    """What a compiler makes is many objects, and little of it garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


_shows: list[Callable[[str, int], Any]] = []


def show_with(show: Callable[[str, int], Any]) -> None:
    """Set what shows how far a compilation is: of its name and how many units it has, a context whose value has
    ``advance()``."""
    _shows[:] = [show]


@contextlib.contextmanager
def _shown(what: str, units: int) -> Any:
    if not _shows:
        yield lambda: None
    else:
        with _shows[0](what, units) as work:
            yield work.advance


@contextlib.contextmanager
def _telling(what: str) -> Any:
    """Say in one line what is compiled, in two halves: that it is, before, and how long it took."""
    if not what or os.environ.get("HOOKSCOPE_COMPILE_NOTICE") == "0":
        yield
        return
    began, known = perf_counter(), len(_not_kept)
    tell(f"Hookscope compiles {what} for this CPU ({where_kept()}) ...", end="")
    try:
        yield
    finally:
        seconds = perf_counter() - began
        tell(f" {seconds:.1f} s" + (f" ({where_kept()})" if len(_not_kept) > known else ""))


def where_kept() -> str:
    """Where machine code that this process makes is afterwards."""
    if _not_kept:
        return f"for this process: {_not_kept[-1]}"
    folder = _parent_folder()
    return f"kept in {folder}" if folder else "for this process: there is no folder to keep it in"


@functools.cache
def _parent_folder() -> str | None:
    """$NUMBA_CACHE_DIR, or a place in the user's cache folder; None where it cannot be written, or others can."""
    try:
        user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = own_folder(Path(os.environ.get("NUMBA_CACHE_DIR") or user / "hookscope" / "numba"), NOT_WRITABLE)
    except NotOwnError as error:
        tell(f"Hookscope keeps no machine code, and compiles in each process: {error}")
        return None
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


_not_kept: list[str] = []
"""Why machine code could not be kept."""
