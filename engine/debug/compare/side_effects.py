"""Side effects of running a copy of a cell: possible changes outside the copy, read from the code before it runs.

A copy has parameters, buffers and attributes of its own, and random states are restored afterwards. Everything else is
shared between a cell and its copy: a list by a global name, an attribute of a class, a file, NumPy's settings, printed
text. Code is compared with a list of harmless code: most of Python's built-in functions, the engine's operators and
layers, NumPy's functions, and code composed of these. Everything outside the list counts as a change.

All code and objects that the cell can reach are searched, from its attributes and the names in its methods. The object
of a method call is not known in advance: a name in the code stands for the methods of that name of all classes found.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import inspect
import sys
import types
from collections import defaultdict, deque
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from hookscope.engine.nn import Cell
from hookscope.engine.tensors.tensor import Tensor

from ..stop.stepping.user_code import is_user_file
from .bytecode import codes, created_collections, depth_of_store, loaded_name
from .harmless_code import (
    BUILTINS,
    CHANGING,
    CHANGING_METHODS,
    COLLECTIONS,
    COPIED,
    DESCRIPTORS,
    DRAWING,
    DUNDERS_READ,
    FUNCTIONS,
    IMMUTABLE,
    OWN_COPY,
    REFLECTING,
    RESTORED,
    WRITING_OPERATORS,
    WRITING_TO_ARRAYS,
    WRITING_TO_COLLECTIONS,
    WRITING_TO_TENSORS,
    is_engine,
    is_harmless,
    is_library,
    is_object,
    is_special,
    is_users,
    module_of,
)

__all__ = ["is_plain", "side_effect"]

_BOOKKEEPING = frozenset(
    ("_cells", "_params", "_buffers", "_hooks", "_state_hooks", "_saved_tensors_hooks", "_recompute")
)
"""Attributes of a cell that it has under other names too, that a copy lacks, or that its run does not use."""
_MISSING = object()
_STORES = ("STORE_ATTR", "DELETE_ATTR")
_REFUSED = ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_STAR", "LOAD_BUILD_CLASS", "STORE_NAME", "DELETE_NAME")


def side_effect(cell: Cell) -> str:
    """Return the name of an object outside the copy that a run of the copy may change; "" if there is none.

    Args:
        cell: the cell; its ``construct``, its ``bprop`` and all code that they can reach are read, not run.
    """
    search = _Search()
    try:
        search.own(cell, "self")
        search.run()
    except _SideEffect as signal:
        return str(signal)
    return ""


def is_plain(value: Any) -> bool:
    """Return whether a value, and each item of its lists, tuples and dictionaries, is a tensor or immutable."""
    try:
        return _is_plain(value)
    except RecursionError:  # a list that contains itself
        return False


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, value.values()))
    if isinstance(value, Tensor):
        return is_engine(type(value))
    is_engine_object = is_engine(type(value)) and not isinstance(value, (Cell, *DRAWING))
    return is_engine_object or isinstance(value, (*IMMUTABLE, enum.Enum))


class _SideEffect(Exception):  # noqa: N818  # the result of the search, not an error
    """Raised with the name of an object outside that code may change."""


class _Search:
    """Search through all code and objects that a cell can reach."""

    def __init__(self) -> None:
        self._names = {"construct", "bprop", "forward", "backward"}
        self._classes: dict[type, None] = {}
        self._searched: set[type] = set()
        self._modules: list[ModuleType] = []  # imported by the code itself
        self._owned: dict[int, Any] = {}  # by id; kept, so that no other object gets the id
        self._reached: dict[Any, Any] = {}
        self._outside: list[tuple[str, frozenset[str]]] = []  # collections and arrays, and the names that change them
        self._objects: list[tuple[str, type]] = []  # of the user's classes, shared by the copy
        self._storing: set[type] = set()  # classes that store attributes on their objects
        self._writes: set[str] = set()  # names that are not called on a collection that the code itself created
        self._stores_items = False
        self._calls_numpy = False
        self._stored_inside = ""  # an attribute that is stored on an object that self holds
        self._holds_shared = False  # whether self can hold an object that a copy shares

    def run(self) -> None:
        """Search the methods of the classes found so far, until there is no new class or name.

        Raises:
            _SideEffect: with the name of an object that may be changed.
        """
        visited: set[Any] = set()
        while True:
            owners: list[Any] = [*self._classes, *self._modules]
            pending = [
                (owner, name)
                for owner in owners
                for name in vars(owner)
                if (owner, name) not in visited and self._is_used(owner, name)
            ]
            if not pending:
                break
            for owner, name in pending:
                visited.add((owner, name))
                if isinstance(owner, ModuleType):
                    self.reach(vars(owner)[name], f"{owner.__name__}.{name}")
                else:
                    self._member(owner, name, vars(owner)[name])
        if self._stored_inside and (self._holds_shared or self._outside or self._objects):
            raise _SideEffect(f"an attribute {self._stored_inside}")
        for location, writing in self._outside:
            if self._is_written(writing):
                raise _SideEffect(location)
        for location, kind in self._objects:
            if not self._storing.isdisjoint(kind.__mro__):
                raise _SideEffect(location)

    def _is_written(self, writing: frozenset[str]) -> bool:
        if self._stores_items or not (writing | REFLECTING).isdisjoint(self._writes):
            return True
        if writing is WRITING_TO_COLLECTIONS:
            return False
        if self._calls_numpy:  # the array may be its output argument
            return True
        return writing is WRITING_TO_TENSORS and any(
            name[-1:] == "_" != name[:1] or name.lower().startswith(WRITING_OPERATORS) for name in self._writes
        )

    def _is_used(self, owner: type | ModuleType, name: str) -> bool:
        if name in self._names or (not REFLECTING.isdisjoint(self._names) and isinstance(owner, type)):
            return True
        if isinstance(owner, ModuleType) or name == "__init__":
            return False
        library_bases = (base for base in owner.__mro__[1:-1] if not is_users(base))
        return is_special(name) or any(name in vars(base) for base in library_bases)

    def _member(self, owner: type, name: str, value: Any) -> None:
        location = f"{owner.__name__}.{name}"
        function = getattr(value, "__func__", None) if isinstance(value, staticmethod | classmethod) else value
        if isinstance(function, FunctionType) and is_special(name):
            is_generated = issubclass(owner, tuple) or hasattr(owner, "__dataclass_fields__")
            file = function.__code__.co_filename
            if is_generated and (file.startswith("<string") or not is_user_file(file)):
                return  # generated by ``dataclass`` or ``NamedTuple``
            if name in OWN_COPY and not is_harmless(function):
                raise _SideEffect(location)
        if isinstance(value, staticmethod | classmethod):
            self.reach(function, location)
        elif isinstance(value, property | functools.cached_property):
            for part in ("fget", "fset", "fdel", "func"):
                if isinstance(getattr(value, part, None), FunctionType):
                    self._function(getattr(value, part), location, owner)
        elif isinstance(value, FunctionType):
            self._function(value, location, owner)
        elif isinstance(value, DESCRIPTORS):
            return
        elif not is_special(name) or callable(value):
            self._holds_shared = True
            self.reach(value, location)

    def own(self, value: Any, where: str) -> None:
        """Search an object that each copy has for itself, and all its contents."""
        if type(value) in IMMUTABLE or (isinstance(value, IMMUTABLE) and is_library(type(value))):
            return
        if id(value) in self._owned:
            return
        self._owned[id(value)] = value
        if isinstance(value, MethodType):
            self.own(value.__self__, where)
            self.reach(value.__func__, where, type(value.__self__))
        elif isinstance(value, FunctionType | functools.partial | type | ModuleType | enum.Enum | FUNCTIONS):
            self._holds_shared = True
            self.reach(value, where)
        elif isinstance(value, np.ndarray) and value.dtype.hasobject:
            raise _SideEffect(where)
        elif isinstance(value, (*COLLECTIONS, *COPIED, *DRAWING)) or is_object(value):
            self._class(type(value), where)
            for name, part in _parts(value):
                self.own(part, f"{where}.{name}" if where == "self" and name else where)
        else:
            raise _SideEffect(where)

    def reach(self, value: Any, where: str, owner: type | None = None) -> None:
        """Search an object that the cell and its copy share."""
        if isinstance(value, IMMUTABLE) and is_library(type(value)):
            if callable(value):
                self._known(value, where)
            return
        if isinstance(value, MethodType):
            if isinstance(value.__self__, type | ModuleType):
                self.reach(value.__self__, where)
            elif not any(value.__self__ is generator for generator in RESTORED):
                raise _SideEffect(where)
            self.reach(value.__func__, where)
        elif isinstance(value, FunctionType):
            self._function(value, where, owner)
        elif isinstance(value, FUNCTIONS):
            receiver = getattr(value, "__self__", None)
            if not (
                any(receiver is generator for generator in RESTORED)
                if isinstance(receiver, DRAWING)
                else is_harmless(value)
            ):
                raise _SideEffect(where)
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
                raise _SideEffect(where)
            self._outside.append((where, WRITING_TO_TENSORS if isinstance(value, Tensor) else WRITING_TO_ARRAYS))
        elif type(value) in COLLECTIONS:
            self._outside.append((where, WRITING_TO_COLLECTIONS))
        elif isinstance(value, tuple | frozenset | enum.Enum):
            self._class(type(value), where)
        elif isinstance(value, (Cell, Tensor, *COLLECTIONS, *DRAWING)):
            raise _SideEffect(where)
        elif is_engine(type(value)):
            if hasattr(value, "__wrapped__"):
                self.reach(value.__wrapped__, where)
                return
        elif is_users(type(value)) or type(value) is types.SimpleNamespace:
            self._class(type(value), where)
            self._objects.append((where, type(value)))
        else:
            raise _SideEffect(where)
        for _, part in _parts(value):
            self.reach(part, where)

    def _class(self, cls: type, where: str) -> None:
        if cls in self._searched:
            return
        self._searched.add(cls)
        if is_users(type(cls)) or (issubclass(cls, BaseException) and not issubclass(cls, Exception)):
            raise _SideEffect(where)
        for base in cls.__mro__:
            if is_users(base):
                self._classes[base] = None
            elif not is_harmless(base):
                raise _SideEffect(where)
            else:
                self._known(base, where)
                function = vars(base).get("_function")  # of an operator's class, as of a collective
                if isinstance(function, staticmethod):
                    self.reach(function.__func__, where)
                if is_engine(base) and any(
                    is_users(member) for member in vars(base).values() if type(member) is FunctionType
                ):
                    self._classes[base] = None  # a method was replaced from outside

    def _function(self, function: FunctionType, where: str, owner: type | None = None) -> None:
        """Search a function, a method if it has an owner."""
        if (id(function), owner) in self._reached:
            return
        self._reached[id(function), owner] = function
        if is_harmless(function):
            self._known(function, where)
            for cell in function.__closure__ or ():  # as of a gradient function that the engine made
                self._enclosed_by_engine(cell, where)
            if hasattr(function, "__wrapped__"):
                self.reach(function.__wrapped__, where, owner)
            return
        code = function.__code__
        if not (code.co_filename.startswith("<") or is_user_file(code.co_filename)):
            raise _SideEffect(where)
        for name, value in vars(function).items():
            self.reach(value, f"{where}.{name}")
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.reach(value, f"a default of {where}")
        first_argument = code.co_varnames[0] if owner is not None and code.co_argcount else None
        for part in codes(code):
            is_its_own = part is not code and first_argument in part.co_varnames
            self._code(part, function, where, None if is_its_own else first_argument, owner)

    def _enclosed_by_engine(self, cell: types.CellType, where: str) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # it is still empty
            return
        if isinstance(value, Cell) or (isinstance(value, MethodType) and isinstance(value.__self__, Cell)):
            raise _SideEffect(where)
        if isinstance(value, FunctionType | MethodType | functools.partial | FUNCTIONS):
            self.reach(value, where)

    def _known(self, function: Any, where: str) -> None:
        name = function.__name__
        is_builtin = isinstance(function, types.BuiltinFunctionType) and module_of(function) == "builtins"
        if name in CHANGING or (is_builtin and name not in BUILTINS):
            raise _SideEffect(where)
        self._names.add(name)
        self._writes.add(name)
        self._calls_numpy |= isinstance(function, np.ufunc) or module_of(function).partition(".")[0] in (
            "numpy",
            "scipy",
        )

    def _code(self, code: CodeType, function: FunctionType, where: str, first: str | None, owner: type | None) -> None:
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self._names.update(code.co_names)
        for constants in code.co_consts:
            if isinstance(constants, tuple):  # may include names of keyword arguments
                self._writes.update(name for name in constants if isinstance(name, str))
        instructions = [
            instruction
            for instruction in dis.get_instructions(code)
            if instruction.opname not in ("CACHE", "EXTENDED_ARG", "NOP")
        ]
        own_collections = created_collections(code, instructions)
        for index, instruction in enumerate(instructions):
            operation, name = instruction.opname, instruction.argval
            if operation in _REFUSED:
                raise _SideEffect(str(name))
            if operation in ("STORE_DEREF", "DELETE_DEREF") and (name in closure or name == first):
                raise _SideEffect(str(name))
            if operation == "IMPORT_NAME":
                self._import(str(name))
            if operation.startswith("STORE_FAST") and first in (name if isinstance(name, tuple) else (name,)):
                raise _SideEffect(str(first))  # once it is assigned, it may no longer be the copy's
            if operation in _STORES:
                depth = depth_of_store(instructions, index, first)
                if depth is None:
                    raise _SideEffect(f"an attribute {name}")
                if depth:
                    self._stored_inside = str(name)
                elif owner is not None and code.co_name not in ("__init__", "__post_init__"):
                    self._storing.add(owner)
            if operation in ("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"):
                # The container is loaded before the index, if the index is one instruction.
                self._stores_items |= loaded_name(instructions[index - 2]) not in own_collections
            if operation == "BINARY_OP" and instruction.argrepr.endswith("="):
                self._stores_items = True
            if operation in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"):
                self._attribute(str(name))
                if loaded_name(instructions[index - 1]) not in own_collections:
                    self._writes.add(str(name))
            if operation in ("LOAD_GLOBAL", "LOAD_NAME"):
                self._global(str(name), function, instructions[index + 1 :])
            elif operation.startswith(("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")) and name in closure:
                self._enclosed(where, str(name), closure[name], instructions[index + 1 :])

    def _import(self, name: str) -> None:
        for module in (sys.modules.get(name), sys.modules.get(name.partition(".")[0])):
            if module is None:
                raise _SideEffect(name)  # loading it has effects of its own
            if module not in self._modules:
                self._modules.append(module)

    def _attribute(self, name: str) -> None:
        if name in CHANGING_METHODS or (is_special(name) and name not in DUNDERS_READ):
            raise _SideEffect(name)

    def _enclosed(self, where: str, name: str, cell: Any, next_instructions: list[dis.Instruction]) -> None:
        try:
            value = cell.cell_contents
        except ValueError:  # it is still empty
            raise _SideEffect(name) from None
        if isinstance(value, Cell):
            raise _SideEffect(where if name == "self" else name)
        if name != "__class__":
            self._reach_attributes(value, name, next_instructions)

    def _global(self, name: str, function: FunctionType, next_instructions: list[dis.Instruction]) -> None:
        self._writes.add(name)
        if name in function.__globals__:
            self._reach_attributes(function.__globals__[name], name, next_instructions)
            return
        scope: Any = function
        value = scope.__builtins__.get(name)
        is_error = isinstance(value, type) and issubclass(value, Exception)
        if value is not getattr(builtins, name, None) or not (name in BUILTINS or is_error):
            raise _SideEffect(name)

    def _reach_attributes(self, value: Any, name: str, next_instructions: list[dis.Instruction]) -> None:
        """Reach the object that a name and the attributes after it refer to."""
        for instruction in next_instructions:
            if instruction.opname not in ("LOAD_ATTR", "LOAD_METHOD") or not isinstance(value, ModuleType | type):
                break
            name = f"{name}.{instruction.argval}"
            value = self._attribute_of(value, str(instruction.argval), name)
        self.reach(value, name)

    def _attribute_of(self, value: ModuleType | type, attribute: str, where: str) -> Any:
        """Look up an attribute without running the user's code."""
        if isinstance(value, ModuleType):
            if attribute not in vars(value) and not is_library(value):
                raise _SideEffect(where)
            try:
                return getattr(value, attribute)
            except Exception:  # any exception of the module's __getattr__
                raise _SideEffect(where) from None
        if isinstance(value, enum.EnumMeta):
            return vars(value)["_member_map_"].get(attribute, inspect.getattr_static(value, attribute, None))
        member = inspect.getattr_static(value, attribute, _MISSING)
        if isinstance(member, staticmethod):
            return member.__func__
        if isinstance(member, classmethod):
            self._class(value, where)
            return member.__func__
        if member is _MISSING or (is_users(type(member)) and hasattr(type(member), "__get__")):
            raise _SideEffect(where)
        return member


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the contents of an object: its attributes by name, and its items; a tensor's copy is entirely new."""
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
            if isinstance(member, types.MemberDescriptorType) and not is_harmless(base):
                try:
                    yield name, member.__get__(value)
                except AttributeError:  # it is still empty
                    continue
    if isinstance(value, defaultdict):
        yield "", vars(defaultdict)["default_factory"].__get__(value)
    if isinstance(value, dict):
        yield from (("", part) for pair in dict.items(value) for part in pair)
    kinds: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
    for kind in kinds:
        if isinstance(value, kind):  # by the kind's own iterator: a subclass may have one of the user's
            yield from (("", part) for part in kind.__iter__(value))
