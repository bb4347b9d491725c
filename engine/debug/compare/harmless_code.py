"""List of harmless code, which changes only its arguments, and the origin of a class or a function."""

from __future__ import annotations

import inspect
import operator
import random as python_random
import sys
import types
from collections import deque
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from hookscope.engine.tensors.generator import Generator
from hookscope.engine.tensors.tensor import Tensor

from ..stop.stepping.user_code import is_user_file

__all__ = [
    "BUILTINS",
    "CHANGING",
    "CHANGING_METHODS",
    "COLLECTIONS",
    "COPIED",
    "DESCRIPTORS",
    "DRAWING",
    "DUNDERS_READ",
    "FUNCTIONS",
    "IMMUTABLE",
    "OWN_COPY",
    "REFLECTING",
    "RESTORED",
    "WRITING_OPERATORS",
    "WRITING_TO_ARRAYS",
    "WRITING_TO_COLLECTIONS",
    "WRITING_TO_TENSORS",
    "is_engine",
    "is_harmless",
    "is_library",
    "is_object",
    "is_special",
    "is_users",
    "module_of",
]

IMMUTABLE = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    range,
    slice,
    np.dtype,
    np.generic,
    np.ufunc,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
FUNCTIONS = types.BuiltinFunctionType | type(np.sum) | type(np.random.default_rng)
DESCRIPTORS = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.BuiltinFunctionType,
    type(inspect.FullArgSpec.args),
)
"""Slots, fields of named tuples, and members that C code adds to a class."""
DRAWING = (np.random.Generator, np.random.RandomState, python_random.Random, Generator)
RESTORED = (np.random.mtrand._rand, python_random._inst)
"""Generators of the process, which are restored after the run of a copy."""
COLLECTIONS = (list, set, dict, deque, bytearray)
COPIED = (tuple, frozenset, Tensor, np.ndarray, types.SimpleNamespace)
BUILTINS = frozenset(
    (
        "abs",
        "all",
        "any",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "complex",
        "dict",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "id",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "map",
        "max",
        "min",
        "next",
        "object",
        "oct",
        "ord",
        "pow",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "slice",
        "sorted",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "zip",
        "Ellipsis",
        "NotImplemented",
        "__debug__",
    )
)
ENGINE = "hookscope.engine."
HARMLESS_MODULES = (
    *(ENGINE + name for name in ("autograd", "base", "compile", "cpu", "nn", "ops", "tape", "tensors")),
    *(ENGINE + f"mindspore.{name}" for name in ("common", "jit", "mint", "numpy")),
    *(ENGINE + name for name in ("formats.mindir", "formats.onnx")),
    "numpy",
    "scipy.fft",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.signal",
    "scipy.special",
    "math",
    "cmath",
    "operator",
    "_operator",
    "functools",
    "_functools",
    "itertools",
    "collections",
    "_collections",
    "typing",
    "types",
    "numbers",
    "fractions",
    "enum",
    "dataclasses",
    "abc",
    "copy",
    "builtins",
    "contextlib",
    "random",
)
OTHER_MODULES = (
    ENGINE + "ops.communication",
    ENGINE + "ops.collectives",
    ENGINE + "ops.custom",
    ENGINE + "nn.data_parallel",
    ENGINE + "tensors.random",
    ENGINE + "tensors.backend",
    ENGINE + "base.atomic_write",
    ENGINE + "tensors.interchange",
    "numpy.f2py",
    "numpy.testing",
    "numpy.ctypeslib",
)
"""Those of the modules above whose functions change something, or hide what they change."""
CHANGING = frozenset(
    (
        "tofile",
        "dump",
        "dumps",
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "memmap",
        "open_memmap",
        "info",
        "show_config",
        "show_runtime",
        "Print",
        "print_",
        "TensorDump",
        "tensordump",
        "ScalarSummary",
        "ImageSummary",
        "TensorSummary",
        "HistogramSummary",
        "seterr",
        "seterrcall",
        "setbufsize",
        "set_printoptions",
        "lru_cache",
        "cache",
        "singledispatch",
    )
)
"""Functions and classes of the modules above that write to files or the terminal, configure NumPy, or keep results."""
CHANGING_METHODS = frozenset(("tofile", "dump"))
WRITING_TO_ALL = frozenset(("setitem", "delitem", "__setitem__", "methodcaller", "shuffle")) | {
    name for name in dir(operator) if name.startswith("i") and f"__{name}__" in dir(operator)
}
WRITING_TO_COLLECTIONS = (
    WRITING_TO_ALL.union(
        *(
            set(dir(mutable)) - set(dir(other))
            for mutable, other in ((list, tuple), (set, frozenset), (dict, types.MappingProxyType), (bytearray, bytes))
        )
    )
    | (set(dir(deque)) - set(dir(tuple)))
) - {"copy", "__reversed__", "__copy__", "maxlen", "__class_getitem__"}
WRITING_TO_ARRAYS = WRITING_TO_ALL | {
    # methods and functions of NumPy, and the arguments of those that take an output array
    "at",
    "byteswap",
    "copyto",
    "fill",
    "fill_diagonal",
    "itemset",
    "partition",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "resize",
    "setfield",
    "setflags",
    "sort",
    "out",
    "output",
    "overwrite_a",
    "overwrite_b",
    "overwrite_x",
    "overwrite_input",
    # methods that take it as a positional argument
    "all",
    "any",
    "argmax",
    "argmin",
    "choose",
    "clip",
    "compress",
    "conj",
    "cumprod",
    "cumsum",
    "dot",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "round",
    "std",
    "sum",
    "take",
    "trace",
    "var",
    # functions that give a tensor the array itself
    "from_numpy",
    "frombuffer",
    "from_dlpack",
}
WRITING_TO_TENSORS = WRITING_TO_ALL | {
    "asnumpy",
    "assign_value",
    "numpy",
    "out",
    "register_hook",
    "set_data",
    "set_dtype",
    "to_dlpack",
}
"""Names that may change a collection, an array or a tensor; see also ``_is_written``."""
WRITING_OPERATORS = ("apply", "assign", "fused", "inplace", "scatter", "sparseapply", "update")
REFLECTING = frozenset(("getattr", "attrgetter", "methodcaller"))
DUNDERS_READ = frozenset(
    (
        "__init__",
        "__name__",
        "__doc__",
        "__len__",
        "__call__",
        "__getitem__",
        "__contains__",
        "__iter__",
        "__class__",
        "__qualname__",
        "__module__",
    )
)
OWN_COPY = frozenset(
    (
        "__new__",
        "__deepcopy__",
        "__copy__",
        "__reduce__",
        "__reduce_ex__",
        "__getstate__",
        "__setstate__",
        "__getnewargs__",
        "__getnewargs_ex__",
    )
)


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_object(value: Any) -> bool:
    """Return whether a value is an object of the engine or of a user's class, with attributes of its own."""
    return is_engine(type(value)) or is_users(type(value))


def module_of(value: Any) -> str:
    """Return the name of the module whose code defined a class, a function or a module."""
    if isinstance(value, FunctionType):
        return str(value.__globals__.get("__name__", ""))
    if isinstance(value, ModuleType):
        return value.__name__
    module_name = str(getattr(value, "__module__", None) or "")
    if module_name.partition(".")[0] == "mindspore":  # the name of a class of the engine under MindSpore's names
        modules = [module_of(member) for member in vars(value).values() if isinstance(member, FunctionType)]
        module_name = next(
            (member for member in modules if member.startswith(ENGINE)),
            getattr(sys.modules.get(module_name), "__name__", module_name),
        )
    return module_name


def is_in(home: str, modules: tuple[str, ...]) -> bool:
    return any(home == module or home.startswith(module + ".") for module in modules)


def is_harmless(value: Any) -> bool:
    """Return whether a function or a class is on the list of code that changes nothing but its arguments."""
    home = module_of(value)
    return is_in(home, HARMLESS_MODULES) and not is_in(home, OTHER_MODULES)


def is_engine(value: Any) -> bool:
    return module_of(value).startswith(ENGINE)


def is_library(value: Any) -> bool:
    return is_engine(value) or is_harmless(value)


def is_users(value: Any) -> bool:
    """Return whether a class or a function is user code."""
    home = module_of(value)
    module = sys.modules.get(home)
    file = getattr(module, "__file__", None)
    if file is None:
        return home not in sys.stdlib_module_names or home == "__main__"
    return home == "__main__" or (not is_library(value) and is_user_file(file))
