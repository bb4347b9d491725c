"""Machine code of kernels: target processors, file format, and loading.

It is made for a *baseline*, a named set of processors, not for the current one: so all machines of a baseline have
the same bits, whether the code came with the package, from ``make``, or from this process. Loading takes
milliseconds and needs no compiler: llvmlite's linker loads the object, and each of its functions is a CPython function
(METH_FASTCALL), which parses its arguments itself, checks arrays, and computes without the interpreter's lock.

A file has a line that identifies the format, the digest of the rest, a line of JSON and the object. JSON lists the
sources of the code, the functions and numbers of the file of kernels, and the external functions that it calls. Nothing
of a file is run or parsed before its digest is verified.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from time import time
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from . import ownership

__all__ = [
    "ENDING",
    "GEMM",
    "OBJECT",
    "SHIPPED",
    "Baseline",
    "Code",
    "baseline",
    "file_name",
    "loaded",
    "platform",
    "read",
    "read_own",
    "shipped",
    "write",
]

ENDING = ".code"
_MAGIC = b"hookscope machine code 1\n"
_HEADER = object.__basicsize__


class Baseline(NamedTuple):
    """Target processors of code: an LLVM name, and features in addition to that name's."""

    name: str
    features: str = ""


_LEVELS = (
    ("x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    ("x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"),
    ("x86-64-v2", "cx16 popcnt sahf sse3 ssse3 sse4.1 sse4.2"),
)
"""The levels of x86-64's psABI, and the features that each has beyond the next, by LLVM's names."""
_FEATURES = {
    "x86-64-v4": "-prefer-256-bit"
}  # LLVM's own choice for that name; these loops are faster with the full width
SHIPPED = {"x86_64": ("x86-64-v3", "x86-64-v4"), "aarch64": ("generic",), "arm64": ("generic",)}
"""The baselines of packages, by the machine that they are built on."""


def shipped(name: str) -> Baseline:
    """Return the baseline of this name."""
    return Baseline(name, _FEATURES.get(name, ""))


@functools.cache
def baseline() -> Baseline:
    """Return the baseline of this processor; or of NUMBA_CPU_NAME, with NUMBA_CPU_FEATURES."""
    requested, features = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if requested:
        return shipped(requested) if features is None else Baseline(requested, features)
    from llvmlite import binding

    if not platform().startswith("x86_64"):
        return Baseline("generic")
    has: Mapping[str, bool] = binding.get_host_cpu_features()
    for level, (name, _) in enumerate(_LEVELS):
        if all(has.get(feature) for _, features_of_level in _LEVELS[level:] for feature in features_of_level.split()):
            return shipped(name)
    return Baseline("x86-64")


@functools.cache
def platform() -> str:
    """Return the other facts that code depends on: the system, by LLVM's name, and the offset of an object's fields."""
    from llvmlite import binding

    return f"{binding.get_process_triple()}-{_HEADER}"


class Code(NamedTuple):
    """Content of a file."""

    facts: Mapping[str, Any]
    """The sources and settings of the code."""
    functions: Mapping[str, str]
    """The description of each function of the file of kernels, its docstring's first line."""
    numbers: Mapping[str, int]
    needs: tuple[str, ...]
    """External functions that it calls."""
    machine_code: bytes


def file_name(name: str, baseline: Baseline) -> str:
    """Return the name of a file of ``build_kernels``."""
    return f"{name}.{baseline.name}{ENDING}"


_PART = ".part"
_LEFT_AFTER = 3600.0
"""Seconds after which a part file counts as left by a killed process."""


def write(path: Path, code: Code) -> None:
    """Write a file that only this user may change, atomically.

    Raises:
        OSError: it cannot be written.
    """
    header = json.dumps([dict(code.facts), dict(code.functions), dict(code.numbers), list(code.needs)], sort_keys=True)
    body = header.encode() + b"\n" + code.machine_code
    ownership.own_folder(path.parent, ownership.NOT_WRITABLE)
    _sweep(path.parent)
    part = path.with_name(f"{os.urandom(8).hex()}{_PART}")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(_MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _sweep(folder: Path) -> None:
    for part in folder.glob(f"*{_PART}"):
        with contextlib.suppress(OSError):
            if part.lstat().st_mtime < time() - _LEFT_AFTER:
                part.unlink()


def read(path: Path, **facts: Any) -> Code | None:
    """Return the content of a package's file; None if it is missing, damaged, or made from other ``facts``."""
    try:
        return _decoded(path.read_bytes(), facts)
    except OSError:
        return None


_LARGEST = 64 << 20
"""Maximum of bytes of a file; Hookscope's have 5,000 to 100,000."""


def read_own(path: Path, **facts: Any) -> Code | None:
    """Return the same for a file that only this user can have written or changed."""
    try:
        ownership.own_folder(path.parent, ownership.NOT_WRITABLE)
        return _decoded(ownership.read_own(path, _LARGEST, ownership.NOT_WRITABLE), facts)
    except OSError:
        return None


def _decoded(content: bytes, facts: Mapping[str, Any]) -> Code | None:
    digest, _, body = content[len(_MAGIC) :].partition(b"\n")
    if not content.startswith(_MAGIC) or hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    header, _, machine_code = body.partition(b"\n")
    facts_of, functions, numbers, needs = json.loads(header)
    code = Code(facts_of, functions, numbers, tuple(needs), machine_code)
    return code if all(code.facts.get(name) == fact for name, fact in facts.items()) else None


def loaded(code: Code, name: str) -> ModuleType:
    """Return the functions and numbers of a file of kernels, as a module of this name.

    Raises:
        RuntimeError: a function that it calls does not exist.
    """
    from llvmlite import binding

    for need in code.needs:
        _provide(binding, need)
    engine = _engine(binding)
    engine.add_object_file(binding.ObjectFileRef.from_data(code.machine_code))
    engine.finalize_object()
    module = ModuleType(name)
    for function, about in code.functions.items():
        python_function = _function(
            function, about, engine.get_function_address(f"hookscope_{function}"), module.__name__
        )
        setattr(module, function, python_function)
    vars(module).update(code.numbers)
    engine.detach()  # the memory stays: a thread may run in it until the process ends
    return module


@functools.cache
def _target(binding: Any) -> Any:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_triple(binding.get_process_triple())


def _engine(binding: Any) -> Any:
    target = _target(binding)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), target.create_target_machine(jit=True))


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("about", ctypes.c_char_p),
    )


_FASTCALL = 0x80


def _function(name: str, about: str, address: int, module: str) -> Any:
    definition = _Definition(name.encode(), address, _FASTCALL, about.encode())
    # CPython reads it when it frees the function, after all modules at the end of the process: never freed.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object)
    return make(ctypes.addressof(definition), None, module)


OBJECT, GEMM = "hookscope_object_", "hookscope_sgemm"
"""Names in code of Python objects, and of SciPy's product of matrices; Numba uses CPython's names for others."""
_OBJECTS = {
    "MemoryError": MemoryError,
    "None": None,
    "RuntimeError": RuntimeError,
    "TypeError": TypeError,
    "ndarray": np.ndarray,
}


@functools.cache
def _provide(binding: Any, name: str) -> None:
    """Make a function or an object available to the linker."""
    if name.startswith(OBJECT):
        binding.add_symbol(name, id(_OBJECTS[name.removeprefix(OBJECT)]))
    elif name == GEMM:
        binding.add_symbol(name, _of_cython("scipy.linalg.cython_blas", "sgemm"))
    elif not binding.address_of_symbol(name):
        for library in (ctypes.pythonapi, "libm.so.6", None, "ucrtbase"):  # Linux's, what this process has, Windows's
            with contextlib.suppress(OSError, AttributeError, TypeError):
                handle = library if isinstance(library, ctypes.PyDLL) else ctypes.CDLL(library)
                binding.add_symbol(name, ctypes.cast(getattr(handle, name), ctypes.c_void_p).value)
                return
        raise RuntimeError(f"compiled kernels call {name}, which this system has not")


def _of_cython(module: str, name: str) -> int:
    """Return the address of a function that a Cython module exports."""
    capsule = import_module(module).__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    pointer: int = pointer_of(capsule, name_of(capsule))
    return pointer
