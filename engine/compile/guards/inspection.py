"""Python values that the code of a function can read.

A plan may be replayed only if the function's Python code would do the same again. The code is inspected before it
runs: the names that it and its callees use, and the objects that these names reach from the function's arguments,
closure and globals. Each value is recorded with its location. The analysis may include *too much* (a name is looked up
on all objects, though it is used for one), but never *too little*: an object that cannot be inspected, such as an
iterator or a file, rules out a plan for the function.
"""

from __future__ import annotations

import abc
import bisect
import builtins
import enum
import functools
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...base.code_origin import SITE, is_engine, is_library
from ...nn.cell import Cell
from ...nn.optim.optimizer import Optimizer
from ...tape import taps
from ...tensors.placeholder import Placeholder
from ...tensors.tensor import Tensor
from ..traced_array import array_types
from .code_names import REFLECTION, TEXT_ATTRIBUTES, bound_attributes, codes_in, line_of_name, names_in, passed_names
from .guards import BOOKKEEPING, MISSING, Snapshot, array_form, contents_of
from .object_kinds import (
    READ_BY_CALLS,
    dictionary_of,
    engine_methods,
    has_foreign_base,
    is_engine_class,
    is_engine_function,
    is_engine_optimizer,
    is_foreign_class,
    is_leaf,
    is_opaque_class,
    is_small_constant,
    is_static_class,
    is_user_function,
    names_read_by_engine,
    slots_of,
)
from .pure_functions import is_pure

__all__ = ["Inspection"]


_MOST_ITEMS = 1 << 12
_OF_SIGNATURES = frozenset(("get_type_hints", "get_annotations", "signature", "getfullargspec"))
"""Names of functions that read the annotations of a function."""
_OF_PARAMETERS = ("_requires_grad", "_gradient_hooks", "_name")
"""Attributes of parameters read by engine functions, such as functions of cells and gradients that return names."""
_DECIMAL = ("decimal", "_decimal", "_pydecimal")
_OF_DECIMAL = "decimal is read, whose precision a plan cannot watch"
_OUT_OF_SIGHT = frozenset(
    (
        "__globals__",
        "__builtins__",
        "f_globals",
        "f_locals",
        "modules",
        "_array",
        "cell_contents",
        "__closure__",
        "__code__",
        "__hash__",
        "__subclasses__",
        "_getframe",
        "currentframe",
    )
)
"""Names that lead to objects that cannot be inspected, or past the tensors to their numbers."""
_OF_FUNCTIONS = ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__")
"""Attributes of functions that are in no dictionary; the first two also exist on classes."""
_ON_DEMAND = frozenset(
    (
        "__init__",
        "__new__",
        "__del__",
        "__repr__",
        "__str__",
        "__format__",
        "__init_subclass__",
        "__set_name__",
        "__class_getitem__",
        "__post_init__",
        "__copy__",
        "__deepcopy__",
        "__reduce__",
        "__reduce_ex__",
        "__getstate__",
        "__setstate__",
        "__getnewargs__",
        "__getnewargs_ex__",
        "__dir__",
        "__sizeof__",
    )
)
"""Methods that using an object does not call; they are followed if code names the class, or once one has run."""
_FORMATTERS = (repr, ascii, str)
_OF_COLLECTIONS = ("_fields", "_field_defaults", "default_factory")
"""Attributes that methods of named tuples and of ``defaultdict`` read."""
_OF_ANY_MODULE = ("__builtins__", "__cached__", "__file__", "__loader__", "__name__", "__path__", "__spec__")


class _SettingsOfNumPy:
    """NumPy settings that affect, beside its inputs, what its functions raise and print."""

    errors = property(lambda self: tuple(np.geterr().values()))
    texts = property(lambda self: tuple(np.get_printoptions().values()))


_OF_NUMPY = _SettingsOfNumPy()


class _InstanceClass:
    """A class that is inspected because an instance of it exists, not because code names the class."""

    __slots__ = ("kind",)

    def __init__(self, kind: Any) -> None:
        self.kind = kind


class Inspection:
    """Values that a function's code can read.

    Constructors and similar methods (``_ON_DEMAND``) are inspected if code names their class. If that causes a problem,
    such as a constructor that draws from ``numpy.random``, they are left out, since the class may only be named for an
    ``isinstance``. ``Calls`` detects an omitted method that runs even so, and it becomes a root of the next inspection.

    Args:
        roots: the function, its arguments, and any other code that was seen to run.

    Attributes:
        roots: the function, its arguments, and any other code that was seen to run.
        codes: the Python code that may run.
        omitted_methods: omitted methods, by their code.
        tensors: the external tensors, each once.
        snapshot: the values with their locations.
        problem: the reason why no plan can be made, or "".
        line: the user's line that leads to the problem, or "".
        precedes_first_call: whether a cell has not been called yet.
        hooks: identities of hooks that a session attached; the inspection stops at the first.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.roots = list(roots)
        self._inspect(constructors=True)
        if self.problem and self._has_constructors:
            self._inspect(constructors=False)
        self.line = self._line_of_problem() if self.problem else ""
        self._visits.clear()

    def _inspect(self, constructors: bool) -> None:
        """Inspect repeatedly until nothing new is found.

        Args:
            constructors: whether to inspect constructors of classes that code names.
        """
        self.codes: set[types.CodeType] = set()
        self.omitted_methods: dict[types.CodeType, list[types.FunctionType]] = {}
        self.problem = ""
        self._names: set[str] = set()
        self._bound_names: set[str] = set()
        self._uncalled_names: set[str] = set()
        self._reads_all_names = False
        self._catches_errors = False
        self._constructors = constructors
        self._has_constructors = False
        self._named_classes: set[type] = set()  # classes that code uses as values, with their bases
        extent: Any = None
        while extent != (extent := self._extent()):
            self._inspect_once()

    def _extent(self) -> tuple[int, ...]:
        """Return the extent of the known reads; it grows until an inspection finds nothing new."""
        names = len(self._names) + len(self._bound_names) + len(self._uncalled_names)
        return (names, len(self.codes), len(self._named_classes), self._reads_all_names, self._catches_errors)

    @property
    def reflects(self) -> bool:
        """True if the code may read attributes by computed names."""
        return self._reads_all_names

    def leads_to(self, obj: Any) -> bool:
        """Return whether a name in the code refers to an object.

        Args:
            obj: the object.
        """
        return any(value is obj for _, _, values in self.snapshot.names for value in values)

    def _inspect_once(self) -> None:
        self.tensors: list[Tensor] = []
        self.snapshot = Snapshot()
        self.problem = ""
        self.hooks = frozenset[int]()
        self.precedes_first_call = False
        visited: set[int] = set()
        queue: deque[Any] = deque((*self.roots, _InstanceClass(Tensor)))
        self._visits: list[tuple[Any, int]] = []
        self._failed_in: tuple[types.CodeType, str] | None = None
        while queue and not self.problem:
            obj = queue.popleft()
            self._visits.append((obj, len(self._visits) + 1 + len(queue)))
            if type(obj) is _InstanceClass:
                obj = obj.kind
            elif isinstance(obj, type):
                self._named_classes.update(obj.__mro__)
            if obj is MISSING or id(obj) in visited or is_leaf(obj):
                continue
            visited.add(id(obj))
            if isinstance(obj, Placeholder):
                continue  # it has no numbers and does not change
            if id(obj) in taps.hooking:
                self.hooks |= {id(obj)}
                self._fail("a hook of a session is on it")
            elif isinstance(obj, Tensor):
                self._see_tensor(obj, queue)
            elif isinstance(obj, types.FunctionType):
                self._see_function(obj, queue)
            elif isinstance(obj, types.MethodType):
                queue += (obj.__self__, obj.__func__)
            elif isinstance(obj, functools.partial):
                self._see_passed(obj.func)
                queue += (obj.func, *obj.args, obj.keywords)
                self.snapshot.slots += [(obj, name, getattr(obj, name)) for name in ("func", "args", "keywords")]
                self._see_attributes(obj, vars(obj), queue)
            elif isinstance(obj, types.BuiltinFunctionType | types.MethodWrapperType):
                self._reads_all_names = self._reads_all_names or obj.__name__ in REFLECTION
                self._see_formatter(obj)
                if not isinstance(obj.__self__, types.ModuleType):
                    queue.append(obj.__self__)
            elif isinstance(obj, weakref.ref) and type(obj).__module__ in ("builtins", "weakref"):
                if obj() is not None:  # the plan would keep the referent alive
                    self._fail("a weak reference is read, which a plan cannot watch")
            elif isinstance(obj, types.ModuleType):
                self._see_module(obj, queue)
            elif isinstance(obj, type):
                self._see_class(obj, queue)
            elif isinstance(obj, property):
                queue += (obj.fget, obj.fset, obj.fdel)
            elif isinstance(obj, classmethod | staticmethod):
                queue.append(obj.__func__)
            elif is_engine_optimizer(obj):
                self._see_optimizer(obj, queue)
            elif isinstance(obj, functools.cached_property):
                queue.append(obj.func)
            elif isinstance(obj, types.CellType):
                content = contents_of(obj)
                self.snapshot.cells.append((obj, content))
                queue.append(content)
            elif isinstance(obj, np.ndarray):
                if type(obj) is not np.ndarray or obj.dtype.hasobject:
                    self._fail(f"a {type(obj).__name__} of {obj.dtype} is read, which a plan cannot watch")
                elif obj.nbytes > 1 << 20:
                    self._fail(f"a NumPy array of {obj.nbytes} bytes is read, too much to compare at each call")
                else:
                    self.snapshot.arrays.append((obj, array_form(obj), obj.tobytes()))
                    self._see_slots(_OF_NUMPY, ("errors", "texts"), queue)
            elif isinstance(obj, array_types()):
                self._fail("an array of CuPy's is read, which a plan cannot watch")
            else:
                self._see_object(obj, queue)

    def _see_formatter(self, obj: Any) -> None:
        if obj in _FORMATTERS:
            self._names |= TEXT_ATTRIBUTES

    def _see_passed(self, obj: Any) -> None:
        """Refuse an impure C function that is passed as a value, since its calls cannot be observed."""
        if isinstance(obj, types.BuiltinFunctionType) and not is_pure(obj):
            self._fail(f"{obj.__qualname__}() may be called, whose result may differ each time")

    def _fail(self, reason: str) -> None:
        self.problem = self.problem or reason

    # Source lines

    def line_to(self, obj: Any) -> str:
        """Return the user's line that names an object, as ``file:line``, or "".

        Args:
            obj: the object.
        """
        return next(filter(None, (line_of_name(self.codes, name) for name in self._names_for(obj))), "")

    def line_of_change(self) -> str:
        """Return the user's line that names a changed value, or ""."""
        return next(filter(None, (line_of_name(self.codes, name, True) for name in self.snapshot.changed_names())), "")

    def _line_of_problem(self) -> str:
        """Return the line that names the last inspected object, or the nearest named object that leads to it."""
        if self._failed_in is not None:
            return line_of_name(codes_in(self._failed_in[0]), self._failed_in[1])
        queue_ends = [count for _, count in self._visits]
        index, names = len(self._visits) - 1, list[str]()
        nearest = set[types.CodeType]()
        while index >= 0:
            obj = self._visits[index][0]
            if isinstance(obj, types.FunctionType) and obj.__code__ in self.codes:
                nearest = codes_in(obj.__code__)
                break
            names += self._names_for(obj.kind if type(obj) is _InstanceClass else obj)
            index = bisect.bisect_right(queue_ends, index) - 1
        lines = (line_of_name(codes, name) for name in names for codes in (nearest, self.codes))
        return next(filter(None, lines), "")

    def _names_for(self, obj: Any) -> list[str]:
        """Return the names under which an object was found."""
        place_names = [
            name
            for _, names, values in self.snapshot.names
            for name, value in zip(names, values, strict=True)
            if value is obj
        ]
        slot_names = [name for _, name, value in self.snapshot.slots if value is obj]
        cell_names = [
            name
            for function, *_ in self.snapshot.functions
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if cell is obj
        ]
        return list(dict.fromkeys((*place_names, *slot_names, *cell_names)))

    def _see_tensor(self, tensor: Tensor, queue: deque[Any]) -> None:
        self.tensors.append(tensor)
        attributes = vars(tensor)
        self.snapshot.owners.append((tensor, attributes))
        kind: Any = type(tensor)
        names_read = self._names | names_read_by_engine(kind, engine_methods(kind, frozenset(self._names), True))
        names = [
            name
            for name in attributes
            if (self._reads_all_names or name in names_read or name in _OF_PARAMETERS) and name not in _OF_ARRAYS
        ]
        values = [attributes[name] for name in names]
        added = self._names if self._catches_errors else self._bound_names
        absent = [name for name in ("_gradient_hooks", *added) if name not in attributes]
        self.snapshot.names.append((attributes, (*names, *absent), (*values, *([MISSING] * len(absent)))))
        if self._reads_all_names:
            self.snapshot.keys.append((attributes, tuple(attributes)))
        queue += (_InstanceClass(kind), *values)

    def _see_optimizer(self, optimizer: Optimizer, queue: deque[Any]) -> None:
        """Record what the step of an optimizer reads and changes; the step itself runs eagerly."""
        attributes = vars(optimizer)
        names_read = [
            name for name in attributes if (name in self._names or self._reads_all_names) and _matters(name, attributes)
        ]
        names = tuple(
            dict.fromkeys(("parameters", "_hooks", "construct", "_cells", "_params", *names_read, *self._bound_names))
        )
        self.snapshot.classes.append((optimizer, type(optimizer)))
        self.snapshot.owners.append((optimizer, attributes))
        self.snapshot.names.append((attributes, names, tuple([attributes.get(name, MISSING) for name in names])))
        self.tensors += (*optimizer.get_parameters(), *optimizer.parameters, *attributes.get("lrs", ()))
        queue += (optimizer._hooks, optimizer._params, *[attributes[name] for name in names_read])

    def _see_function(self, function: types.FunctionType, queue: deque[Any]) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name == "__class__" and isinstance(contents_of(cell), type):  # ``super()`` reads it
                self.snapshot.cells.append((cell, cell.cell_contents))
                queue.append(_InstanceClass(cell.cell_contents))
            else:
                queue.append(cell)
        self._see_slots(function, self._names.intersection(_OF_FUNCTIONS), queue)
        self._reads_all_names = self._reads_all_names or function.__name__ in REFLECTION
        if is_engine(function.__code__.co_filename) or is_library(function.__code__.co_filename):
            if hasattr(function, "__wrapped__"):
                queue.append(function.__wrapped__)
            return
        code = function.__code__
        self.snapshot.functions.append((function, code, function.__defaults__, function.__kwdefaults__))
        queue += function.__defaults__ or ()
        queue.append(function.__kwdefaults__)
        attributes = vars(function)
        self.snapshot.owners.append((function, attributes))
        self.snapshot.keys.append((attributes, tuple(attributes)))
        names = [
            name for name in attributes if (self._reads_all_names or name in self._names) and name not in BOOKKEEPING
        ]
        self._see_names(attributes, frozenset(names), queue)
        self._see_code(code, function.__globals__, queue)

    def _see_code(self, code: types.CodeType, globals_: dict[str, Any], queue: deque[Any]) -> None:
        self.codes |= codes_in(code)
        global_names, attributes, modules = names_in(code)
        self._names |= attributes
        if _OF_SIGNATURES & (global_names | attributes):
            self._names.add("__annotations__")
        self._bound_names |= bound_attributes(code)
        self._catches_errors = self._catches_errors or any(inner.co_exceptiontable for inner in codes_in(code))
        if REFLECTION & (global_names | attributes):
            self._reads_all_names = True
        for name in sorted(_OUT_OF_SIGHT & attributes):
            self._failed_in = self._failed_in or (code, name)
            self._fail(f"'{name}' is read, whose objects a plan cannot watch")
        passed, module_attributes = passed_names(code)
        self._uncalled_names |= module_attributes
        for name in passed:
            self._see_passed(globals_.get(name, vars(builtins).get(name)))
        self._see_names(globals_, global_names, queue)
        self.snapshot.stable_dictionaries += (vars(builtins), sys.modules)
        builtin_names = [
            name for name in global_names if name in vars(builtins) or (self._catches_errors and name not in globals_)
        ]
        self._see_names(vars(builtins), frozenset(builtin_names), queue)
        package = globals_.get("__package__") or ""
        imported = {f"{package}.{name}".strip(".") if is_relative else name for name, is_relative in modules}
        imported |= {name[:index] for name in imported for index, sign in enumerate(name) if sign == "."}
        self._see_names(sys.modules, frozenset(imported), queue)

    def _see_names(self, namespace: dict[str, Any], selected: frozenset[str], queue: deque[Any]) -> None:
        names = tuple(sorted(selected))
        values = tuple([namespace.get(name, MISSING) for name in names])
        self.snapshot.names.append((namespace, names, values))
        queue += values

    def _see_slots(self, obj: Any, names: Iterable[str], queue: deque[Any]) -> None:
        """Record attributes that are in no dictionary."""
        values = [(obj, name, getattr(obj, name, MISSING)) for name in names]
        self.snapshot.slots += values
        queue += [value for _, _, value in values]

    def _see_module(self, module: types.ModuleType, queue: deque[Any]) -> None:
        namespace = vars(module)
        file = namespace.get("__file__") or ("" if namespace.get("__spec__") is None else "<frozen")
        if module.__name__.startswith("numpy.random"):
            self._fail("numpy.random is read, whose numbers a plan cannot draw")
        if module is np:
            self._see_slots(_OF_NUMPY, ("errors", "texts"), queue)
        if module.__name__ in _DECIMAL:
            self._fail(_OF_DECIMAL)
        is_foreign = is_engine(file) or is_library(file)
        if is_foreign:
            self.snapshot.stable_dictionaries.append(namespace)
        kind = type(module)
        self.snapshot.classes.append((module, kind))
        queue.append(_InstanceClass(kind))
        has_rule = "__getattr__" in namespace or any("__getattr__" in vars(base) for base in kind.__mro__)
        may_lack = self._reads_all_names or has_rule or self._catches_errors
        names_read = dict.fromkeys(
            [name for name in self._names if name in namespace or may_lack or name in self._bound_names]
        )
        if self._reads_all_names:  # for computed names
            all_names = tuple([name for name in namespace if name not in _OF_ANY_MODULE])
            if is_foreign or file.startswith(SITE):
                self.snapshot.names.append((namespace, all_names, tuple([namespace[name] for name in all_names])))
            else:
                self.snapshot.keys.append((namespace, tuple(namespace)))
                names_read |= dict.fromkeys(all_names)
        for name in self._uncalled_names.intersection(names_read):
            self._see_passed(namespace.get(name))
        names = tuple(names_read)
        values = tuple([namespace.get(name, MISSING) for name in names])
        rule = namespace.get("__getattr__", MISSING)
        self.snapshot.names.append((namespace, (*names, "__getattr__"), (*values, rule)))
        if is_user_function(rule):
            queue.append(rule)
        if is_engine(file):
            values = tuple([x for x in values if is_small_constant(x) or (isinstance(x, type) and issubclass(x, Cell))])
        elif is_foreign:
            values = tuple([x for x in values if not isinstance(x, types.FunctionType) and not is_static_class(x)])
        queue += values

    def _see_class(self, kind: type, queue: deque[Any]) -> None:
        names = self._names | names_read_by_engine(kind) if issubclass(kind, Cell) else self._names
        self._reads_all_names = self._reads_all_names or kind in (operator.attrgetter, operator.methodcaller)
        if type(kind) is not type:
            self.snapshot.classes.append((kind, type(kind)))
            queue.append(_InstanceClass(type(kind)))
            if isinstance(kind, abc.ABCMeta):
                self.snapshot.abc_token = abc.get_cache_token()
        self._see_formatter(kind)
        if getattr(kind, "_is_protocol", False):
            self._see_protocol(kind)
        if kind.__module__ in _DECIMAL:
            self._fail(_OF_DECIMAL)
        if not is_foreign_class(kind):
            self.snapshot.slots.append((kind, "__mro__", kind.__mro__))
            names_read = (
                names_read_by_engine(kind, engine_methods(kind, frozenset(names))) if issubclass(kind, Cell) else names
            )
            self._see_slots(kind, (names | names_read) & {"__name__", "__qualname__"}, queue)
        reads_all = self._reads_all_names or isinstance(kind, enum.EnumMeta)  # enum methods look up members
        relevant = tuple([name for name in names if any(name in vars(k) for k in kind.__mro__)])
        # Names that are looked up although they may be absent: they may be added to a class later.
        candidates = (
            self._names if self._reads_all_names or self._catches_errors else self._names.intersection(relevant)
        )
        for base in kind.__mro__:
            file = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
            namespace: Any = dictionary_of(base)
            self.snapshot.stable_dictionaries.append(namespace)
            if is_engine(file) and issubclass(base, Cell | Tensor):  # users add methods there and replace some
                implicit_names = (
                    [name for name in namespace if name.startswith("__")] if issubclass(base, Tensor) else []
                )
                selected = ["construct", *candidates, *self._bound_names, *implicit_names]
                values = [namespace.get(name, MISSING) for name in selected]
                self.snapshot.names.append((namespace, tuple(selected), tuple(values)))
                queue += [value for value in values if not is_engine_function(value)]
            elif is_foreign_class(base) and not is_static_class(base):
                selected = [*candidates, *self._bound_names]
                values = [namespace.get(name, MISSING) for name in selected]
                self.snapshot.names.append((namespace, tuple(selected), tuple(values)))
                queue += [value for value in values if is_small_constant(value) or is_user_function(value)]
            if base.__module__ in ("builtins", "abc") or is_engine(file) or is_library(file):
                continue
            self.snapshot.keys.append((namespace, tuple(namespace)))
            selected = [
                name
                for name in namespace
                if name in names
                or reads_all
                or name in _OF_COLLECTIONS
                or (name.startswith("__") and name not in _OF_ANY_CLASS)
            ]
            absent = tuple([name for name in relevant if name not in namespace])
            values = [namespace[name] for name in selected]
            self.snapshot.names.append((namespace, (*selected, *absent), (*values, *([MISSING] * len(absent)))))
            queue += [value for name, value in zip(selected, values, strict=True) if not self._omits(base, name)]

    def _omits(self, kind: type, name: str) -> bool:
        """Return whether to omit a method of a class until it was seen to run."""
        function = vars(kind)[name]
        function = getattr(function, "__func__", function)  # __new__ is a static method
        if name not in _ON_DEMAND or not is_user_function(function) or function.__code__ in self.codes:
            return False  # code that is followed elsewhere is never reported as unknown
        if self._constructors and (kind in self._named_classes or name in self._names):
            self._has_constructors = True
            return False
        functions = self.omitted_methods.setdefault(function.__code__, [])
        functions += [] if any(listed is function for listed in functions) else [function]
        return True

    def _see_protocol(self, kind: type) -> None:
        """Record the members of a protocol, since ``isinstance`` checks an object for each of them."""
        for base in kind.__mro__:
            if vars(base).get("_is_protocol", False):
                annotations = vars(base).get("__annotations__", {})
                self.snapshot.keys.append((annotations, tuple(annotations)))
                members = {name for name in (*vars(base), *annotations) if not name.startswith(("__", "_abc_", "_is_"))}
                self._names |= members
                self._bound_names |= members

    def _see_object(self, obj: Any, queue: deque[Any]) -> None:
        kind: Any = type(obj)
        if isinstance(obj, list | tuple | deque | dict | set | frozenset) and len(obj) > _MOST_ITEMS:
            self._fail(f"a {kind.__name__} of {len(obj)} items is read, which is too much to compare at each call")
            return
        if isinstance(obj, list | tuple | deque):
            if type(obj) is not tuple:  # a tuple does not change
                self.snapshot.sequences.append((obj, tuple(obj)))
            queue += obj
        elif isinstance(obj, dict | types.MappingProxyType):
            self.snapshot.mappings.append((obj, tuple(obj), tuple(obj.values())))  # type: ignore[arg-type]
            queue += obj.values()
            queue += obj.keys()
        elif isinstance(obj, set | frozenset):
            if type(obj) is not frozenset:
                self.snapshot.sets.append((obj, tuple(obj)))
            queue += obj
        elif isinstance(obj, slice):
            queue += (obj.start, obj.stop, obj.step)
        elif is_opaque_class(kind) or (not hasattr(obj, "__dict__") and not slots_of(kind)):
            self._fail(f"a {kind.__module__}.{kind.__qualname__} is read, which a plan cannot watch")
            return
        if kind.__module__ == "builtins" or (is_engine_class(kind) and isinstance(obj, tuple | list | dict)):
            return
        self.snapshot.classes.append((obj, kind))
        queue.append(_InstanceClass(kind))
        if isinstance(getattr(obj, "__dict__", None), dict):
            self._see_attributes(obj, vars(obj), queue)
        names = self._names
        reads_all = self._reads_all_names or has_foreign_base(kind)
        slots = [name for name in slots_of(kind) if name in names or reads_all or name in _OF_COLLECTIONS]
        self._see_slots(obj, slots, queue)

    def _see_attributes(self, obj: Any, namespace: dict[str, Any], queue: deque[Any]) -> None:
        kind: Any = type(obj)
        self.snapshot.owners.append((obj, namespace))
        names_read = self._names
        if isinstance(obj, Cell):
            names_read = names_read | names_read_by_engine(kind, engine_methods(kind, frozenset(names_read)))
            if namespace["_plain"]:
                names_read = (names_read - READ_BY_CALLS) | {"_plain", "construct"}
            elif not namespace["_names_checked"]:
                self.precedes_first_call = True  # the first call may mark it as plain
        by_names_made_up = bool(names_read & REFLECTION) if isinstance(obj, Cell) else has_foreign_base(kind)
        if self._reads_all_names or by_names_made_up:
            names = [name for name in namespace if _matters(name, namespace)]
        else:
            names = [name for name in namespace if name in names_read and name not in BOOKKEEPING]
        if self._reads_all_names:
            self.snapshot.keys.append((namespace, tuple(namespace)))
        if self._catches_errors or any("__getattr__" in vars(k) for k in kind.__mro__ if not is_foreign_class(k)):
            absent = [name for name in names_read if name not in namespace]
        else:
            absent = [
                name
                for name in names_read
                if name not in namespace
                and (name in self._bound_names or any(name in vars(k) for k in kind.__mro__[:-1]))
            ]
        self.snapshot.names.append(
            (namespace, (*names, *absent), (*[namespace[name] for name in names], *([MISSING] * len(absent))))
        )
        queue += [namespace[name] for name in names]


def _matters(name: str, namespace: dict[str, Any]) -> bool:
    """Return whether a cell's result may depend on an attribute, if its code reads attributes by computed names."""
    # A cell's plainness depends on other attributes of it, which are inspected while it is not plain.
    return name not in BOOKKEEPING and (name != "_plain" or bool(namespace[name]))


_OF_ARRAYS = frozenset(("_view", "_views", "_layout", "_drawn", "_is_drawn", "_as_made", "_has_optimizer", "init"))
"""Attributes of a tensor that describe the origin of its array."""


_OF_ANY_CLASS = frozenset(
    (
        "__module__",
        "__qualname__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__annotations__",
        "__firstlineno__",
        "__static_attributes__",
        "__abstractmethods__",
        "__parameters__",
        "__orig_bases__",
        "__slots__",
        "__annotate__",
    )
)
