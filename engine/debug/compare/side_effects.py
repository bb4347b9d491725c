"""Side effects of a run of a copy of a cell: what it may change outside the copy, read from the code before it runs.

A copy has parameters, buffers and attributes of its own, and random numbers stand afterwards where they stood. All else
is the same for a cell and its copy: a list by a global name, an attribute of a class, a file, NumPy's settings, what is
printed. Code is compared with a list of what changes none of it: most of Python's built-in functions, the engine's
operators and layers, NumPy's functions, and what consists of these. All that is not on the list counts as a change.

All that the code can reach is looked through, from the cell's attributes and the names in its methods on. Which object
a method is called on is not known before it runs: a name that the code uses stands for the methods of that name of all
classes that were met.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import inspect
import itertools
import operator
import random as python_random
import sys
import types
from collections import defaultdict, deque
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from hookscope.engine.nn import Cell
from hookscope.engine.tensors.generator import Generator
from hookscope.engine.tensors.tensor import Tensor

from ..stop.stepping.user_code import is_user_file

__all__ = ["is_plain", "side_effect"]


_IMMUTABLE = (
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
_FUNCTIONS = types.BuiltinFunctionType | type(np.sum) | type(np.random.default_rng)
_DESCRIPTORS = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.BuiltinFunctionType,
    type(inspect.FullArgSpec.args),
)
"""Slots, fields of named tuples, and what C code gives a class."""
_DRAWING = (np.random.Generator, np.random.RandomState, python_random.Random, Generator)
_RESTORED = (np.random.mtrand._rand, python_random._inst)
"""Generators of the process, which stand after a copy's run where they stood."""
_COLLECTIONS = (list, set, dict, deque, bytearray)
_COPIED = (tuple, frozenset, Tensor, np.ndarray, types.SimpleNamespace)
_BUILTINS = frozenset(
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
_ENGINE = "hookscope.engine."
_KNOWN_MODULES = (
    *(_ENGINE + name for name in ("autograd", "base", "common", "cpu", "graph", "jit", "mint", "nn", "numpy", "ops")),
    *(_ENGINE + name for name in ("tape", "tensors")),
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
_UNKNOWN_MODULES = (
    _ENGINE + "ops.communication",
    _ENGINE + "ops.collectives",
    _ENGINE + "ops.custom",
    _ENGINE + "nn.data_parallel",
    _ENGINE + "tensors.random",
    _ENGINE + "tensors.backend",
    _ENGINE + "base.atomic_write",
    _ENGINE + "tensors.interchange",
    "numpy.f2py",
    "numpy.testing",
    "numpy.ctypeslib",
)
"""Those of the modules above whose functions change something, or do not show what they do."""
_CHANGING = frozenset(
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
"""Functions and classes of the modules above that write to files or the terminal, set NumPy up, or keep results."""
_CHANGING_METHODS = frozenset(("tofile", "dump"))
_WRITING_TO_ALL = frozenset(("setitem", "delitem", "__setitem__", "methodcaller", "shuffle")) | {
    name for name in dir(operator) if name.startswith("i") and f"__{name}__" in dir(operator)
}
_WRITING_TO_COLLECTIONS = (
    _WRITING_TO_ALL.union(
        *(
            set(dir(mutable)) - set(dir(other))
            for mutable, other in ((list, tuple), (set, frozenset), (dict, types.MappingProxyType), (bytearray, bytes))
        )
    )
    | (set(dir(deque)) - set(dir(tuple)))
) - {"copy", "__reversed__", "__copy__", "maxlen", "__class_getitem__"}
_WRITING_TO_ARRAYS = _WRITING_TO_ALL | {
    # methods and functions of NumPy, and the arguments of those that take where the result goes
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
    # methods that take it by place
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
    # what gives a tensor the array itself
    "from_numpy",
    "frombuffer",
    "from_dlpack",
}
_WRITING_TO_TENSORS = _WRITING_TO_ALL | {
    "asnumpy",
    "assign_value",
    "numpy",
    "out",
    "register_hook",
    "set_data",
    "set_dtype",
    "to_dlpack",
}
"""Names by which a collection, an array or a tensor may be changed; see also ``_is_written``."""
_WRITING_OPERATORS = ("apply", "assign", "fused", "inplace", "scatter", "sparseapply", "update")
_REFLECTING = frozenset(("getattr", "attrgetter", "methodcaller"))
_DUNDERS_READ = frozenset(
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
_OWN_COPY = frozenset(
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
_BOOKKEEPING = frozenset(
    ("_cells", "_params", "_buffers", "_hooks", "_state_hooks", "_saved_tensors_hooks", "_recompute")
)
"""Attributes of a cell that it has under other names too, that a copy has not, or that its run does not use."""
_MISSING = object()
_STORES = ("STORE_ATTR", "DELETE_ATTR")
_REFUSED = ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_STAR", "LOAD_BUILD_CLASS", "STORE_NAME", "DELETE_NAME")


def side_effect(cell: Cell) -> str:
    """Return the name of what a run of a copy of a cell may change outside the copy; "" where it changes nothing.

    Args:
        cell: the cell; its ``construct``, its ``bprop`` and all that these can reach are looked through, not run.
    """
    search = _Search()
    try:
        search.own(cell, "self")
        search.look()
    except _Found as found:
        return str(found)
    return ""


def is_plain(value: Any) -> bool:
    """Return whether a value, and what is in its lists, tuples and dictionaries, is a tensor or cannot be changed."""
    try:
        return _is_plain(value)
    except RecursionError:  # a list that holds itself
        return False


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, value.values()))
    if isinstance(value, Tensor):
        return _is_engine(type(value))
    is_ours = _is_engine(type(value)) and not isinstance(value, (Cell, *_DRAWING))
    return is_ours or isinstance(value, (*_IMMUTABLE, enum.Enum))


class _Found(Exception):  # noqa: N818  # what was looked for, not an error
    """Raised where code may change something outside; with its name."""


class _Search:
    """A walk through all code and objects that a cell can reach."""

    def __init__(self) -> None:
        self._names = {"construct", "bprop", "forward", "backward"}
        self._classes: dict[type, None] = {}
        self._modules: list[ModuleType] = []  # that the code imports itself
        self._owned: dict[int, Any] = {}  # by id; kept, so that no other object gets the id
        self._reached: dict[Any, Any] = {}
        self._outside: list[tuple[str, frozenset[str]]] = []  # collections and arrays, and the names that change them
        self._objects: list[tuple[str, type]] = []  # of classes of the user's, that the copy shares
        self._storing: set[type] = set()  # classes that store attributes on their objects
        self._writes: set[str] = set()  # names of what is not called on a collection that the code has just made
        self._stores_items = False
        self._calls_numpy = False
        self._stored_inside = ""  # an attribute that is stored on something that self holds
        self._holds_shared = False  # whether something that a copy shares can be what self holds

    def look(self) -> None:
        """Look through the methods of the classes that were met, until there is no new class or name.

        Raises:
            _Found: with the name of what may be changed.
        """
        looked: set[Any] = set()
        while True:
            owners: list[Any] = [*self._classes, *self._modules]
            pending = [
                (owner, name)
                for owner in owners
                for name in vars(owner)
                if (owner, name) not in looked and self._is_used(owner, name)
            ]
            if not pending:
                break
            for owner, name in pending:
                looked.add((owner, name))
                if isinstance(owner, ModuleType):
                    self.reach(vars(owner)[name], f"{owner.__name__}.{name}")
                else:
                    self._member(owner, name, vars(owner)[name])
        if self._stored_inside and (self._holds_shared or self._outside or self._objects):
            raise _Found(f"an attribute {self._stored_inside}")
        for where, writing in self._outside:
            if self._is_written(writing):
                raise _Found(where)
        for where, kind in self._objects:
            if not self._storing.isdisjoint(kind.__mro__):
                raise _Found(where)

    def _is_written(self, writing: frozenset[str]) -> bool:
        if self._stores_items or not (writing | _REFLECTING).isdisjoint(self._writes):
            return True
        if writing is _WRITING_TO_COLLECTIONS:
            return False
        if self._calls_numpy:  # it may be where the result goes
            return True
        return writing is _WRITING_TO_TENSORS and any(
            name[-1:] == "_" != name[:1] or name.lower().startswith(_WRITING_OPERATORS) for name in self._writes
        )

    def _is_used(self, owner: type | ModuleType, name: str) -> bool:
        if name in self._names or (not _REFLECTING.isdisjoint(self._names) and isinstance(owner, type)):
            return True
        if isinstance(owner, ModuleType) or name == "__init__":
            return False
        inherited = (base for base in owner.__mro__[1:-1] if not _is_users(base))
        return _is_special(name) or any(name in vars(base) for base in inherited)

    def _member(self, owner: type, name: str, value: Any) -> None:
        where = f"{owner.__name__}.{name}"
        function = getattr(value, "__func__", None) if isinstance(value, staticmethod | classmethod) else value
        if isinstance(function, FunctionType) and _is_special(name):
            is_made = issubclass(owner, tuple) or hasattr(owner, "__dataclass_fields__")
            file = function.__code__.co_filename
            if is_made and (file.startswith("<string") or not is_user_file(file)):
                return  # by ``dataclass`` or ``NamedTuple``
            if name in _OWN_COPY and not _is_known(function):
                raise _Found(where)
        if isinstance(value, staticmethod | classmethod):
            self.reach(function, where)
        elif isinstance(value, property | functools.cached_property):
            for part in ("fget", "fset", "fdel", "func"):
                if isinstance(getattr(value, part, None), FunctionType):
                    self._function(getattr(value, part), where, owner)
        elif isinstance(value, FunctionType):
            self._function(value, where, owner)
        elif isinstance(value, _DESCRIPTORS):
            return
        elif not _is_special(name) or callable(value):
            self._holds_shared = True
            self.reach(value, where)

    def own(self, value: Any, where: str) -> None:
        """Look through an object of which a copy has its own, and all that it holds."""
        if isinstance(value, _IMMUTABLE) and _is_library(type(value)):
            return
        if id(value) in self._owned:
            return
        self._owned[id(value)] = value
        if isinstance(value, MethodType):
            self.own(value.__self__, where)
            self.reach(value.__func__, where, type(value.__self__))
        elif isinstance(value, FunctionType | functools.partial | type | ModuleType | enum.Enum | _FUNCTIONS):
            self._holds_shared = True
            self.reach(value, where)
        elif isinstance(value, np.ndarray) and value.dtype.hasobject:
            raise _Found(where)
        elif isinstance(value, (*_COLLECTIONS, *_COPIED, *_DRAWING)) or _is_object(value):
            self._class(type(value), where)
            for name, part in _parts(value):
                self.own(part, f"{where}.{name}" if where == "self" and name else where)
        else:
            raise _Found(where)

    def reach(self, value: Any, where: str, owner: type | None = None) -> None:
        """Look through an object that the cell and its copy share."""
        if isinstance(value, _IMMUTABLE) and _is_library(type(value)):
            if callable(value):
                self._known(value, where)
            return
        if isinstance(value, MethodType):
            if isinstance(value.__self__, type | ModuleType):
                self.reach(value.__self__, where)
            elif not any(value.__self__ is one for one in _RESTORED):
                raise _Found(where)
            self.reach(value.__func__, where)
        elif isinstance(value, FunctionType):
            self._function(value, where, owner)
        elif isinstance(value, _FUNCTIONS):
            held = getattr(value, "__self__", None)
            if not (any(held is one for one in _RESTORED) if isinstance(held, _DRAWING) else _is_known(value)):
                raise _Found(where)
            self._known(value, where)
        elif isinstance(value, functools.partial):
            for part in (value.func, *value.args, *value.keywords.values()):
                self.reach(part, where)
        elif isinstance(value, type):
            self._class(value, where)
        elif id(value) not in self._reached:
            self._reached[id(value)] = value
            self._object(value, where)

    def _object(self, value: Any, where: str) -> None:
        if type(value) in (np.ndarray, Tensor):
            if isinstance(value, np.ndarray) and value.dtype.hasobject:
                raise _Found(where)
            self._outside.append((where, _WRITING_TO_TENSORS if isinstance(value, Tensor) else _WRITING_TO_ARRAYS))
        elif type(value) in _COLLECTIONS:
            self._outside.append((where, _WRITING_TO_COLLECTIONS))
        elif isinstance(value, tuple | frozenset | enum.Enum):
            self._class(type(value), where)
        elif isinstance(value, (Cell, Tensor, *_COLLECTIONS, *_DRAWING)):
            raise _Found(where)
        elif _is_engine(type(value)):
            if hasattr(value, "__wrapped__"):
                self.reach(value.__wrapped__, where)
                return
        elif _is_users(type(value)) or type(value) is types.SimpleNamespace:
            self._class(type(value), where)
            self._objects.append((where, type(value)))
        else:
            raise _Found(where)
        for _, part in _parts(value):
            self.reach(part, where)

    def _class(self, cls: type, where: str) -> None:
        if _is_users(type(cls)) or (issubclass(cls, BaseException) and not issubclass(cls, Exception)):
            raise _Found(where)
        for base in cls.__mro__:
            if _is_users(base):
                self._classes[base] = None
            elif not _is_known(base):
                raise _Found(where)
            else:
                self._known(base, where)
                function = vars(base).get("_function")  # of an operator's class, as of a collective
                if isinstance(function, staticmethod):
                    self.reach(function.__func__, where)
                if _is_engine(base) and any(_is_users(one) for one in vars(base).values() if type(one) is FunctionType):
                    self._classes[base] = None  # somebody put another method into it

    def _function(self, function: FunctionType, where: str, owner: type | None = None) -> None:
        """Look through a function, a method where it has an owner."""
        if (id(function), owner) in self._reached:
            return
        self._reached[id(function), owner] = function
        if _is_known(function):
            self._known(function, where)
            for cell in function.__closure__ or ():  # as of a gradient function that the engine made
                self._enclosed_by_engine(cell, where)
            if hasattr(function, "__wrapped__"):
                self.reach(function.__wrapped__, where, owner)
            return
        code = function.__code__
        if not (code.co_filename.startswith("<") or is_user_file(code.co_filename)):
            raise _Found(where)
        for name, value in vars(function).items():
            self.reach(value, f"{where}.{name}")
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.reach(value, f"a default of {where}")
        first = code.co_varnames[0] if owner is not None and code.co_argcount else None
        for part in _codes(code):
            is_its_own = part is not code and first in part.co_varnames
            self._code(part, function, where, None if is_its_own else first, owner)

    def _enclosed_by_engine(self, cell: types.CellType, where: str) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # nothing is in it yet
            return
        if isinstance(value, Cell) or (isinstance(value, MethodType) and isinstance(value.__self__, Cell)):
            raise _Found(where)
        if isinstance(value, FunctionType | MethodType | functools.partial | _FUNCTIONS):
            self.reach(value, where)

    def _known(self, function: Any, where: str) -> None:
        name = function.__name__
        is_builtin = isinstance(function, types.BuiltinFunctionType) and _home(function) == "builtins"
        if name in _CHANGING or (is_builtin and name not in _BUILTINS):
            raise _Found(where)
        self._names.add(name)
        self._writes.add(name)
        self._calls_numpy |= isinstance(function, np.ufunc) or _home(function).partition(".")[0] in ("numpy", "scipy")

    def _code(self, code: CodeType, function: FunctionType, where: str, first: str | None, owner: type | None) -> None:
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self._names.update(code.co_names)
        for constants in code.co_consts:
            if isinstance(constants, tuple):  # names of keyword arguments among them
                self._writes.update(name for name in constants if isinstance(name, str))
        instructions = [one for one in dis.get_instructions(code) if one.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
        made = _made_here(code, instructions)
        for place, one in enumerate(instructions):
            operation, name = one.opname, one.argval
            if operation in _REFUSED:
                raise _Found(str(name))
            if operation in ("STORE_DEREF", "DELETE_DEREF") and (name in closure or name == first):
                raise _Found(str(name))
            if operation == "IMPORT_NAME":
                self._import(str(name))
            if operation.startswith("STORE_FAST") and first in (name if isinstance(name, tuple) else (name,)):
                raise _Found(str(first))  # what is stored on it is no longer known to be the copy's
            if operation in _STORES:
                depth = _depth_of_store(instructions, place, first)
                if depth is None:
                    raise _Found(f"an attribute {name}")
                if depth:
                    self._stored_inside = str(name)
                elif owner is not None and code.co_name not in ("__init__", "__post_init__"):
                    self._storing.add(owner)
            if operation in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
                # In front of the index, where that is one instruction, stands what is stored into.
                self._stores_items |= _loaded(instructions[place - 2]) not in made
            if operation == "BINARY_OP" and one.argrepr.endswith("="):
                self._stores_items = True
            if operation in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
                self._attribute(str(name))
                if _loaded(instructions[place - 1]) not in made:
                    self._writes.add(str(name))
            if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                self._global(str(name), function, instructions[place + 1 :])
            elif operation.startswith(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")) and name in closure:
                self._enclosed(where, str(name), closure[name], instructions[place + 1 :])

    def _import(self, name: str) -> None:
        for module in (sys.modules.get(name), sys.modules.get(name.partition(".")[0])):
            if module is None:
                raise _Found(name)  # to load it has effects of its own
            if module not in self._modules:
                self._modules.append(module)

    def _attribute(self, name: str) -> None:
        if name in _CHANGING_METHODS or (_is_special(name) and name not in _DUNDERS_READ):
            raise _Found(name)

    def _enclosed(self, where: str, name: str, cell: Any, following: list[dis.Instruction]) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # nothing is in it yet
            raise _Found(name) from None
        if isinstance(value, Cell):
            raise _Found(where if name == "self" else name)
        if name != "__class__":
            self._named(value, name, following)

    def _global(self, name: str, function: FunctionType, following: list[dis.Instruction]) -> None:
        self._writes.add(name)
        if name in function.__globals__:
            self._named(function.__globals__[name], name, following)
            return
        held: Any = function
        value = held.__builtins__.get(name)
        is_error = isinstance(value, type) and issubclass(value, Exception)
        if value is not getattr(builtins, name, None) or not (name in _BUILTINS or is_error):
            raise _Found(name)

    def _named(self, value: Any, name: str, following: list[dis.Instruction]) -> None:
        """Look through what a name and the attributes after it lead to."""
        for one in following:
            if one.opname not in ("LOAD_ATTR", "LOAD_METHOD") or not isinstance(value, ModuleType | type):
                break
            name = f"{name}.{one.argval}"
            value = self._attribute_of(value, str(one.argval), name)
        self.reach(value, name)

    def _attribute_of(self, value: ModuleType | type, attribute: str, where: str) -> Any:
        """Look up an attribute without running code of the user's."""
        if isinstance(value, ModuleType):
            if attribute not in vars(value) and not _is_library(value):
                raise _Found(where)
            try:
                return getattr(value, attribute)
            except Exception:  # whatever the module's __getattr__ raises
                raise _Found(where) from None
        if isinstance(value, enum.EnumMeta):
            return vars(value)["_member_map_"].get(attribute, inspect.getattr_static(value, attribute, None))
        found = inspect.getattr_static(value, attribute, _MISSING)
        if isinstance(found, staticmethod):
            return found.__func__
        if isinstance(found, classmethod):
            self._class(value, where)
            return found.__func__
        if found is _MISSING or (_is_users(type(found)) and hasattr(type(found), "__get__")):
            raise _Found(where)
        return found


def _depth_of_store(instructions: list[dis.Instruction], place: int, first: str | None) -> int | None:
    """Return 0 where an attribute is stored on a method's first argument, more on what this holds, None elsewhere."""
    name = instructions[place].argval
    at = place - 1
    if instructions[at].opname == "SWAP":  # in ``a.b += c``, a is loaded and copied before b is read
        copies = (
            i for i in range(at, 0, -1) if instructions[i].opname == "COPY" and instructions[i + 1].argval == name
        )
        at = next(copies, 1) - 1
    end = at
    if any(one.is_jump_target for one in instructions[at + 1 : place + 1]):  # (a or b).c = d
        return None
    while instructions[at].opname == "LOAD_ATTR" and instructions[at].argval != "__class__":
        at -= 1
    loaded = instructions[at].argval
    is_first = first is not None and (loaded[-1] if isinstance(loaded, tuple) else loaded) == first
    return end - at if is_first and instructions[at].opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else None


def _loaded(instruction: dis.Instruction) -> str:
    """Return the local name that an instruction loads; "" for any other."""
    return str(instruction.argval) if instruction.opname in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW") else ""


def _made_here(code: CodeType, instructions: list[dis.Instruction]) -> set[str]:
    """Return the local names that only ever stand for a list, a dictionary or a set that the code itself makes."""
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    made: set[str] = set()
    others = {"", *code.co_varnames[:count]}
    for before, one in itertools.pairwise(instructions):
        if one.opname.startswith("STORE_FAST"):
            names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
            is_made = one.opname == "STORE_FAST" and before.opname in ("BUILD_LIST", "BUILD_MAP", "BUILD_SET")
            (made if is_made and not one.is_jump_target else others).update(names)
    return made - others


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds: its attributes by their names, and its items; a tensor's copy is new in all of it."""
    if isinstance(value, Tensor):
        return
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    for name, part in dict.items(attributes):
        if not (isinstance(value, Cell) and name in _BOOKKEEPING):
            yield name, part
    for base in type(value).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType) and not _is_known(base):
                try:
                    yield name, member.__get__(value)
                except AttributeError:  # nothing is in it yet
                    continue
    if isinstance(value, defaultdict):
        yield "", vars(defaultdict)["default_factory"].__get__(value)
    if isinstance(value, dict):
        yield from (("", part) for pair in dict.items(value) for part in pair)
    kinds: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
    for kind in kinds:
        if isinstance(value, kind):  # by the kind's own iterator: a subclass may have one of the user's
            yield from (("", part) for part in kind.__iter__(value))


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_object(value: Any) -> bool:
    """Return whether a value is the engine's or an instance of a class of the user's, with attributes of its own."""
    return _is_engine(type(value)) or _is_users(type(value))


def _home(value: Any) -> str:
    """Return the name of the module whose code defined a class, a function or a module."""
    if isinstance(value, FunctionType):
        return str(value.__globals__.get("__name__", ""))
    if isinstance(value, ModuleType):
        return value.__name__
    home = str(getattr(value, "__module__", None) or "")
    if home.partition(".")[0] == "mindspore":  # the name of a class of the engine while it has MindSpore's names
        homes = [_home(one) for one in vars(value).values() if isinstance(one, FunctionType)]
        home = next((one for one in homes if one.startswith(_ENGINE)), getattr(sys.modules.get(home), "__name__", home))
    return home


def _is_in(home: str, modules: tuple[str, ...]) -> bool:
    return any(home == one or home.startswith(one + ".") for one in modules)


def _is_known(value: Any) -> bool:
    """Return whether a function or a class is on the list of what changes nothing but its arguments."""
    home = _home(value)
    return _is_in(home, _KNOWN_MODULES) and not _is_in(home, _UNKNOWN_MODULES)


def _is_engine(value: Any) -> bool:
    return _home(value).startswith(_ENGINE)


def _is_library(value: Any) -> bool:
    return _is_engine(value) or _is_known(value)


def _is_users(value: Any) -> bool:
    """Return whether a class or a function is in code that a person wrote here."""
    home = _home(value)
    module = sys.modules.get(home)
    file = getattr(module, "__file__", None)
    if file is None:
        return home not in sys.stdlib_module_names or home == "__main__"
    return home == "__main__" or (not _is_library(value) and is_user_file(file))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)
