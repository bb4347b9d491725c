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
import dis
import enum
import functools
import gc
import inspect
import itertools
import operator
import sys
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

import numpy as np

from ...base.code_origin import SITE, is_engine, is_library
from ...nn.cell import Cell
from ...nn.optim.optimizer import Optimizer
from ...tape import taps
from ...tensors.dtype import DType
from ...tensors.placeholder import Placeholder
from ...tensors.tensor import Tensor
from ..traced_array import array_types
from .guards import BOOKKEEPING, MISSING, Found, form, held_by

__all__ = ["Reads", "is_leaf"]

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")

_PACKAGE = __name__.rpartition(".compile.")[0]

LEAVES = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(...),
    type(NotImplemented),
    DType,
    np.dtype,
    np.generic,
    range,
    types.CodeType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    np.ufunc,
    type(np.sum),
    type(sys.flags),
    type(inspect.FullArgSpec.args),  # a named tuple's field
)
"""Types whose objects do not change, or reach nothing that affects a function's result."""
_NUMBERS = (int, float, complex, str, bytes, range)

_ALWAYS = frozenset(
    (
        "construct",
        "bprop",
        "_hooks",
        "_recompute",
        "_offload",
        "_saved_tensors_hooks",
        "mixed_precision_type",
        "internal_params",
        "bprop_debug",
    )
)
"""Names that the engine reads from a cell without the function's code using them, unless the cell is plain."""
_REFLECTING = frozenset(
    (
        "getattr",
        "setattr",
        "delattr",
        "hasattr",
        "vars",
        "dir",
        "__dict__",
        "attrgetter",
        "methodcaller",
        "format",
        "format_map",
        "asdict",
        "astuple",
        "getmembers",
        "getattr_static",
        "__getattribute__",
        "__getattr__",
        "__setattr__",
        "__delattr__",
        "__match_args__",
    )
)
"""Names of functions and attributes that read attributes whose names are not in the code."""
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
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME")
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
_FORMATTING = frozenset(
    (
        "repr",
        "str",
        "ascii",
        "format",
        "print",
        "format_map",
        "mod",
        "substitute",
        "safe_substitute",
        "__repr__",
        "__str__",
        "__format__",
        "__mod__",
    )
)
"""Functions that convert objects to text."""
_FORMATTERS = (repr, ascii, str)
_OF_TEXTS = frozenset(("__name__", "__qualname__", "__module__", "__repr__", "__str__"))
"""Attributes in the default text of an object, a class or a function, and the methods that replace that text."""
_OF_COLLECTIONS = ("_fields", "_field_defaults", "default_factory")
"""Attributes that methods of named tuples and of ``defaultdict`` read."""
_OF_ANY_MODULE = ("__builtins__", "__cached__", "__file__", "__loader__", "__name__", "__path__", "__spec__")


def _kept_with(function: Callable[Concatenate[K, P], V]) -> Callable[Concatenate[K, P], V]:
    """Cache like ``functools.cache``, but only while the first argument lives, since notebooks redefine classes."""
    cache: weakref.WeakKeyDictionary[K, dict[Any, V]] = weakref.WeakKeyDictionary()

    @functools.wraps(function)
    def found(first: K, /, *others: P.args, **named: P.kwargs) -> V:
        results = cache.setdefault(first, {})
        if others not in results:
            results[others] = function(first, *others, **named)
        return results[others]

    return found


@_kept_with
def _names_of(code: types.CodeType) -> tuple[frozenset[str], frozenset[str], frozenset[tuple[str, bool]]]:
    """Return the names of globals, attributes and modules that code and its inner code use.

    If attributes are read by ``getattr`` or similar, the code's string constants may be their names.
    """
    globals_, attributes, modules = set[str](), set[str](_matched_by(code)), set[tuple[str, bool]]()
    calls_super = False
    for step in dis.get_instructions(code):
        name = step.argval
        if step.opname in _GLOBALS:
            globals_.add(name)
        elif step.opname == "IMPORT_NAME":
            modules |= {(name, False), (name, True)}
        elif name == "__init__" and (calls_super or "SUPER" in step.opname):
            pass  # of an object under construction
        elif isinstance(name, str) and any(part in step.opname for part in ("IMPORT_FROM", "ATTR", "METHOD")):
            attributes.add(name)
        elif step.opname == "MATCH_CLASS" and step.arg:
            attributes.add("__match_args__")
        calls_super = name == "super" or (calls_super and "CALL" in step.opname)
    if _REFLECTING & (globals_ | attributes):
        attributes |= {text for text in code.co_consts if isinstance(text, str) and text.isidentifier()}
    if _FORMATTING & (globals_ | attributes) or any(map(_formats, dis.get_instructions(code))):
        attributes |= _OF_TEXTS
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _names_of(constant)
            globals_ |= inner[0]
            attributes |= inner[1]
            modules |= inner[2]
    return frozenset(globals_), frozenset(attributes), frozenset(modules)


def _formats(step: dis.Instruction) -> bool:
    """Return whether an instruction may convert an object to text: part of an f-string, or the operator ``%``."""
    if step.opname == "BINARY_OP":
        return step.argrepr in ("%", "%=")
    return step.opname.startswith("FORMAT_") or step.opname == "CONVERT_VALUE"


@_kept_with
def _passed_by(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of globals and of attributes that code loads without calling them."""
    globals_, attributes = set[str](), set[str]()
    for inner in codes_in(code):
        steps = list(dis.get_instructions(inner))
        for previous, step, following in zip([None, *steps], steps, [*steps[1:], None], strict=False):
            if "PUSH_NULL" in [neighbor.opname for neighbor in (previous, following) if neighbor is not None]:
                continue
            if step.opname == "LOAD_GLOBAL" and not (step.arg or 0) & 1:
                globals_.add(step.argval)
            elif step.opname == "LOAD_ATTR" and (sys.version_info < (3, 12) or not (step.arg or 0) & 1):
                attributes.add(step.argval)
    return frozenset(globals_), frozenset(attributes)


def _matched_by(code: types.CodeType) -> list[str]:
    """Return the attribute names in patterns like ``case Point(x=0)``, held by a constant before the instruction."""
    pairs = itertools.pairwise(dis.get_instructions(code))
    return [name for previous, step in pairs if step.opname == "MATCH_CLASS" for name in previous.argval]


@_kept_with
def _stored_by(code: types.CodeType) -> frozenset[str]:
    """Return the attribute names that code and its inner code bind, or match in patterns, which tolerate absence."""
    codes = codes_in(code)
    bound_names = [
        step.argval for inner in codes for step in dis.get_instructions(inner) if step.opname == "STORE_ATTR"
    ]
    return frozenset((*bound_names, *[name for inner in codes for name in _matched_by(inner)]))


def codes_in(code: types.CodeType) -> set[types.CodeType]:
    """Return the code and the code of functions defined in it."""
    codes = {code}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            codes |= codes_in(constant)
    return codes


class _SettingsOfNumPy:
    """NumPy settings that affect, beside its inputs, what its functions raise and print."""

    errors = property(lambda self: tuple(np.geterr().values()))
    texts = property(lambda self: tuple(np.get_printoptions().values()))


_OF_NUMPY = _SettingsOfNumPy()


class _KindOf:
    """A class that is inspected because an instance of it exists, not because code names the class."""

    __slots__ = ("kind",)

    def __init__(self, kind: Any) -> None:
        self.kind = kind


class Reads:
    """Values that a function's code can read.

    Constructors and similar methods (``_ON_DEMAND``) are inspected if code names their class. If that causes a problem,
    such as a constructor that draws from ``numpy.random``, they are left out, since the class may only be named for an
    ``isinstance``. ``Calls`` detects an omitted method that runs even so, and it becomes a root of the next inspection.

    Args:
        roots: the function, its arguments, and any other code that was seen to run.

    Attributes:
        roots: the function, its arguments, and any other code that was seen to run.
        codes: the Python code that may run.
        left_out: omitted methods, by their code.
        tensors: the external tensors, each once.
        found: the values with their locations.
        problem: the reason why no plan can be made, or "".
        line: the user's line that leads to the problem, or "".
        is_first: whether a cell has not been called yet.
        hooks: identities of hooks that a session attached; the inspection stops at the first.
    """

    def __init__(self, roots: Iterable[Any]) -> None:
        self.roots = list(roots)
        self._follow(constructors=True)
        if self.problem and self._constructs:
            self._follow(constructors=False)
        self.line = self._line_of_problem() if self.problem else ""
        self._steps.clear()

    def _follow(self, constructors: bool) -> None:
        """Inspect repeatedly until nothing new is found.

        Args:
            constructors: whether to inspect constructors of classes that code names.
        """
        self.codes: set[types.CodeType] = set()
        self.left_out: dict[types.CodeType, list[types.FunctionType]] = {}
        self.problem = ""
        self._names: set[str] = set()
        self._stored: set[str] = set()
        self._passed: set[str] = set()
        self._everything = False
        self._catches = False
        self._constructors = constructors
        self._constructs = False
        self._named: set[type] = set()  # classes that code uses as values, with their bases
        extent: Any = None
        while extent != (extent := self._extent()):
            self._look()

    def _extent(self) -> tuple[int, ...]:
        """Return the extent of the known reads; it grows until an inspection finds nothing new."""
        names = len(self._names) + len(self._stored) + len(self._passed)
        return (names, len(self.codes), len(self._named), self._everything, self._catches)

    @property
    def reflects(self) -> bool:
        """True if the code may read attributes by computed names."""
        return self._everything

    def leads_to(self, thing: Any) -> bool:
        """Return whether a name in the code refers to an object.

        Args:
            thing: the object.
        """
        return any(value is thing for _, _, values in self.found.places for value in values)

    def _look(self) -> None:
        self.tensors: list[Tensor] = []
        self.found = Found()
        self.problem = ""
        self.hooks = frozenset[int]()
        self.is_first = False
        visited: set[int] = set()
        queue: deque[Any] = deque((*self.roots, _KindOf(Tensor)))
        self._steps: list[tuple[Any, int]] = []
        self._failed_in: tuple[types.CodeType, str] | None = None
        while queue and not self.problem:
            thing = queue.popleft()
            self._steps.append((thing, len(self._steps) + 1 + len(queue)))
            if type(thing) is _KindOf:
                thing = thing.kind
            elif isinstance(thing, type):
                self._named.update(thing.__mro__)
            if thing is MISSING or id(thing) in visited or is_leaf(thing):
                continue
            visited.add(id(thing))
            if isinstance(thing, Placeholder):
                continue  # it has no numbers and does not change
            if id(thing) in taps.hooking:
                self.hooks |= {id(thing)}
                self._fail("a hook of a session is on it")
            elif isinstance(thing, Tensor):
                self._see_tensor(thing, queue)
            elif isinstance(thing, types.FunctionType):
                self._see_function(thing, queue)
            elif isinstance(thing, types.MethodType):
                queue += (thing.__self__, thing.__func__)
            elif isinstance(thing, functools.partial):
                self._see_passed(thing.func)
                queue += (thing.func, *thing.args, thing.keywords)
                self.found.slots += [(thing, name, getattr(thing, name)) for name in ("func", "args", "keywords")]
                self._see_attributes(thing, vars(thing), queue)
            elif isinstance(thing, types.BuiltinFunctionType | types.MethodWrapperType):
                self._everything = self._everything or thing.__name__ in _REFLECTING
                self._see_formatter(thing)
                if not isinstance(thing.__self__, types.ModuleType):
                    queue.append(thing.__self__)
            elif isinstance(thing, weakref.ref) and type(thing).__module__ in ("builtins", "weakref"):
                if thing() is not None:  # the plan would keep the referent alive
                    self._fail("a weak reference is read, which a plan cannot watch")
            elif isinstance(thing, types.ModuleType):
                self._see_module(thing, queue)
            elif isinstance(thing, type):
                self._see_class(thing, queue)
            elif isinstance(thing, property):
                queue += (thing.fget, thing.fset, thing.fdel)
            elif isinstance(thing, classmethod | staticmethod):
                queue.append(thing.__func__)
            elif _is_stepping(thing):
                self._see_optimizer(thing, queue)
            elif isinstance(thing, functools.cached_property):
                queue.append(thing.func)
            elif isinstance(thing, types.CellType):
                content = held_by(thing)
                self.found.cells.append((thing, content))
                queue.append(content)
            elif isinstance(thing, np.ndarray):
                if type(thing) is not np.ndarray or thing.dtype.hasobject:
                    self._fail(f"a {type(thing).__name__} of {thing.dtype} is read, which a plan cannot watch")
                elif thing.nbytes > 1 << 20:
                    self._fail(f"a NumPy array of {thing.nbytes} bytes is read, too much to compare at each call")
                else:
                    self.found.arrays.append((thing, form(thing), thing.tobytes()))
                    self._see_slots(_OF_NUMPY, ("errors", "texts"), queue)
            elif isinstance(thing, array_types()):
                self._fail("an array of CuPy's is read, which a plan cannot watch")
            else:
                self._see_object(thing, queue)

    def _see_formatter(self, one: Any) -> None:
        if one in _FORMATTERS:
            self._names |= _OF_TEXTS

    def _see_passed(self, one: Any) -> None:
        """Refuse an impure C function that is passed as a value, since its calls cannot be observed."""
        from ..trace.calls import is_pure

        if isinstance(one, types.BuiltinFunctionType) and not is_pure(one):
            self._fail(f"{one.__qualname__}() may be called, whose result may be another one each time")

    def _fail(self, why: str) -> None:
        self.problem = self.problem or why

    # Source lines

    def line_to(self, thing: Any) -> str:
        """Return the user's line that names an object, as ``file:line``, or "".

        Args:
            thing: the object.
        """
        return next(filter(None, (_line_with(self.codes, name) for name in self._names_for(thing))), "")

    def line_of_change(self) -> str:
        """Return the user's line that names a changed value, or ""."""
        return next(filter(None, (_line_with(self.codes, name, True) for name in self.found.changed_names())), "")

    def _line_of_problem(self) -> str:
        """Return the line that names the last inspected object, or the nearest named object that leads to it."""
        if self._failed_in is not None:
            return _line_with(codes_in(self._failed_in[0]), self._failed_in[1])
        queue_ends = [count for _, count in self._steps]
        index, names = len(self._steps) - 1, list[str]()
        nearest = set[types.CodeType]()
        while index >= 0:
            thing = self._steps[index][0]
            if isinstance(thing, types.FunctionType) and thing.__code__ in self.codes:
                nearest = codes_in(thing.__code__)
                break
            names += self._names_for(thing.kind if type(thing) is _KindOf else thing)
            index = bisect.bisect_right(queue_ends, index) - 1
        lines = (_line_with(codes, name) for name in names for codes in (nearest, self.codes))
        return next(filter(None, lines), "")

    def _names_for(self, thing: Any) -> list[str]:
        """Return the names under which an object was found."""
        place_names = [
            name
            for _, names, values in self.found.places
            for name, value in zip(names, values, strict=True)
            if value is thing
        ]
        slot_names = [name for _, name, value in self.found.slots if value is thing]
        cell_names = [
            name
            for function, *_ in self.found.functions
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            if cell is thing
        ]
        return list(dict.fromkeys((*place_names, *slot_names, *cell_names)))

    def _see_tensor(self, tensor: Tensor, waiting: deque[Any]) -> None:
        self.tensors.append(tensor)
        attributes = vars(tensor)
        self.found.owners.append((tensor, attributes))
        kind: Any = type(tensor)
        names_read = self._names | _read_by_engine(kind, _engine_methods(kind, frozenset(self._names), True))
        names = [
            name
            for name in attributes
            if (self._everything or name in names_read or name in _OF_PARAMETERS) and name not in _OF_ARRAYS
        ]
        values = [attributes[name] for name in names]
        added = self._names if self._catches else self._stored
        absent = [name for name in ("_gradient_hooks", *added) if name not in attributes]
        self.found.places.append((attributes, (*names, *absent), (*values, *([MISSING] * len(absent)))))
        if self._everything:
            self.found.keys.append((attributes, tuple(attributes)))
        waiting += (_KindOf(kind), *values)

    def _see_optimizer(self, optimizer: Optimizer, waiting: deque[Any]) -> None:
        """Record what the step of an optimizer reads and changes; the step itself runs eagerly."""
        attributes = vars(optimizer)
        names_read = [
            name for name in attributes if (name in self._names or self._everything) and _matters(name, attributes)
        ]
        names = tuple(
            dict.fromkeys(("parameters", "_hooks", "construct", "_cells", "_params", *names_read, *self._stored))
        )
        self.found.classes.append((optimizer, type(optimizer)))
        self.found.owners.append((optimizer, attributes))
        self.found.places.append((attributes, names, tuple([attributes.get(name, MISSING) for name in names])))
        self.tensors += (*optimizer.get_parameters(), *optimizer.parameters, *attributes.get("lrs", ()))
        waiting += (optimizer._hooks, optimizer._params, *[attributes[name] for name in names_read])

    def _see_function(self, function: types.FunctionType, waiting: deque[Any]) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name == "__class__" and isinstance(held_by(cell), type):  # ``super()`` reads it
                self.found.cells.append((cell, cell.cell_contents))
                waiting.append(_KindOf(cell.cell_contents))
            else:
                waiting.append(cell)
        self._see_slots(function, self._names.intersection(_OF_FUNCTIONS), waiting)
        self._everything = self._everything or function.__name__ in _REFLECTING
        if is_engine(function.__code__.co_filename) or is_library(function.__code__.co_filename):
            if hasattr(function, "__wrapped__"):
                waiting.append(function.__wrapped__)
            return
        code = function.__code__
        self.found.functions.append((function, code, function.__defaults__, function.__kwdefaults__))
        waiting += function.__defaults__ or ()
        waiting.append(function.__kwdefaults__)
        attributes = vars(function)
        self.found.owners.append((function, attributes))
        self.found.keys.append((attributes, tuple(attributes)))
        names = [name for name in attributes if (self._everything or name in self._names) and name not in BOOKKEEPING]
        self._see_names(attributes, frozenset(names), waiting)
        self._see_code(code, function.__globals__, waiting)

    def _see_code(self, code: types.CodeType, globals_: dict[str, Any], waiting: deque[Any]) -> None:
        self.codes |= codes_in(code)
        global_names, attributes, modules = _names_of(code)
        self._names |= attributes
        if _OF_SIGNATURES & (global_names | attributes):
            self._names.add("__annotations__")
        self._stored |= _stored_by(code)
        self._catches = self._catches or any(inner.co_exceptiontable for inner in codes_in(code))
        if _REFLECTING & (global_names | attributes):
            self._everything = True
        for name in sorted(_OUT_OF_SIGHT & attributes):
            self._failed_in = self._failed_in or (code, name)
            self._fail(f"'{name}' is read, whose objects a plan cannot watch")
        passed, module_attributes = _passed_by(code)
        self._passed |= module_attributes
        for name in passed:
            self._see_passed(globals_.get(name, vars(builtins).get(name)))
        self._see_names(globals_, global_names, waiting)
        self.found.steady += (vars(builtins), sys.modules)
        builtin_names = [
            name for name in global_names if name in vars(builtins) or (self._catches and name not in globals_)
        ]
        self._see_names(vars(builtins), frozenset(builtin_names), waiting)
        package = globals_.get("__package__") or ""
        imported = {f"{package}.{name}".strip(".") if is_relative else name for name, is_relative in modules}
        imported |= {name[:index] for name in imported for index, sign in enumerate(name) if sign == "."}
        self._see_names(sys.modules, frozenset(imported), waiting)

    def _see_names(self, held: dict[str, Any], of: frozenset[str], waiting: deque[Any]) -> None:
        names = tuple(sorted(of))
        values = tuple([held.get(name, MISSING) for name in names])
        self.found.places.append((held, names, values))
        waiting += values

    def _see_slots(self, one: Any, names: Iterable[str], waiting: deque[Any]) -> None:
        """Record attributes that are in no dictionary."""
        values = [(one, name, getattr(one, name, MISSING)) for name in names]
        self.found.slots += values
        waiting += [value for _, _, value in values]

    def _see_module(self, module: types.ModuleType, waiting: deque[Any]) -> None:
        namespace = vars(module)
        file = namespace.get("__file__") or ("" if namespace.get("__spec__") is None else "<frozen")
        if module.__name__.startswith("numpy.random"):
            self._fail("numpy.random is read, whose numbers a plan cannot draw")
        if module is np:
            self._see_slots(_OF_NUMPY, ("errors", "texts"), waiting)
        if module.__name__ in _DECIMAL:
            self._fail(_OF_DECIMAL)
        is_foreign = is_engine(file) or is_library(file)
        if is_foreign:
            self.found.steady.append(namespace)
        kind = type(module)
        self.found.classes.append((module, kind))
        waiting.append(_KindOf(kind))
        has_rule = "__getattr__" in namespace or any("__getattr__" in vars(base) for base in kind.__mro__)
        may_lack = self._everything or has_rule or self._catches
        names_read = dict.fromkeys(
            [name for name in self._names if name in namespace or may_lack or name in self._stored]
        )
        if self._everything:  # for computed names
            all_names = tuple([name for name in namespace if name not in _OF_ANY_MODULE])
            if is_foreign or file.startswith(SITE):
                self.found.places.append((namespace, all_names, tuple([namespace[name] for name in all_names])))
            else:
                self.found.keys.append((namespace, tuple(namespace)))
                names_read |= dict.fromkeys(all_names)
        for name in self._passed.intersection(names_read):
            self._see_passed(namespace.get(name))
        names = tuple(names_read)
        values = tuple([namespace.get(name, MISSING) for name in names])
        rule = namespace.get("__getattr__", MISSING)
        self.found.places.append((namespace, (*names, "__getattr__"), (*values, rule)))
        if _is_by_user(rule):
            waiting.append(rule)
        if is_engine(file):
            values = tuple([x for x in values if _is_plain(x) or (isinstance(x, type) and issubclass(x, Cell))])
        elif is_foreign:
            values = tuple([x for x in values if not isinstance(x, types.FunctionType) and not _is_static(x)])
        waiting += values

    def _see_class(self, kind: type, waiting: deque[Any]) -> None:
        names = self._names | _read_by_engine(kind) if issubclass(kind, Cell) else self._names
        self._everything = self._everything or kind in (operator.attrgetter, operator.methodcaller)
        if type(kind) is not type:
            self.found.classes.append((kind, type(kind)))
            waiting.append(_KindOf(type(kind)))
            if isinstance(kind, abc.ABCMeta):
                self.found.registered = abc.get_cache_token()
        self._see_formatter(kind)
        if getattr(kind, "_is_protocol", False):
            self._see_protocol(kind)
        if kind.__module__ in _DECIMAL:
            self._fail(_OF_DECIMAL)
        if not _is_of_others(kind):
            self.found.slots.append((kind, "__mro__", kind.__mro__))
            names_read = (
                _read_by_engine(kind, _engine_methods(kind, frozenset(names))) if issubclass(kind, Cell) else names
            )
            self._see_slots(kind, (names | names_read) & {"__name__", "__qualname__"}, waiting)
        reads_all = self._everything or isinstance(kind, enum.EnumMeta)  # enum methods look up members
        relevant = tuple([name for name in names if any(name in vars(k) for k in kind.__mro__)])
        # Names that are looked up although they may be absent: they may be added to a class later.
        candidates = self._names if self._everything or self._catches else self._names.intersection(relevant)
        for base in kind.__mro__:
            file = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
            namespace: Any = _dictionary_of(base)
            self.found.steady.append(namespace)
            if is_engine(file) and issubclass(base, Cell | Tensor):  # users add methods there and replace some
                implicit_names = (
                    [name for name in namespace if name.startswith("__")] if issubclass(base, Tensor) else []
                )
                selected = ["construct", *candidates, *self._stored, *implicit_names]
                values = [namespace.get(name, MISSING) for name in selected]
                self.found.places.append((namespace, tuple(selected), tuple(values)))
                waiting += [value for value in values if not _is_own(value)]
            elif _is_of_others(base) and not _is_static(base):
                selected = [*candidates, *self._stored]
                values = [namespace.get(name, MISSING) for name in selected]
                self.found.places.append((namespace, tuple(selected), tuple(values)))
                waiting += [value for value in values if _is_plain(value) or _is_by_user(value)]
            if base.__module__ in ("builtins", "abc") or is_engine(file) or is_library(file):
                continue
            self.found.keys.append((namespace, tuple(namespace)))
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
            self.found.places.append((namespace, (*selected, *absent), (*values, *([MISSING] * len(absent)))))
            waiting += [value for name, value in zip(selected, values, strict=True) if not self._leaves_out(base, name)]

    def _leaves_out(self, kind: type, name: str) -> bool:
        """Return whether to omit a method of a class until it was seen to run."""
        function = vars(kind)[name]
        function = getattr(function, "__func__", function)  # __new__ is a static method
        if name not in _ON_DEMAND or not _is_by_user(function) or function.__code__ in self.codes:
            return False  # code that is followed elsewhere is never reported as unknown
        if self._constructors and (kind in self._named or name in self._names):
            self._constructs = True
            return False
        functions = self.left_out.setdefault(function.__code__, [])
        functions += [] if any(listed is function for listed in functions) else [function]
        return True

    def _see_protocol(self, kind: type) -> None:
        """Record the members of a protocol, since ``isinstance`` checks an object for each of them."""
        for base in kind.__mro__:
            if vars(base).get("_is_protocol", False):
                annotations = vars(base).get("__annotations__", {})
                self.found.keys.append((annotations, tuple(annotations)))
                members = {name for name in (*vars(base), *annotations) if not name.startswith(("__", "_abc_", "_is_"))}
                self._names |= members
                self._stored |= members

    def _see_object(self, one: Any, waiting: deque[Any]) -> None:
        kind: Any = type(one)
        if isinstance(one, list | tuple | deque | dict | set | frozenset) and len(one) > _MOST_ITEMS:
            self._fail(f"a {kind.__name__} of {len(one)} items is read, which is too much to compare at each call")
            return
        if isinstance(one, list | tuple | deque):
            if type(one) is not tuple:  # a tuple does not change
                self.found.sequences.append((one, tuple(one)))
            waiting += one
        elif isinstance(one, dict | types.MappingProxyType):
            self.found.mappings.append((one, tuple(one), tuple(one.values())))  # type: ignore[arg-type]
            waiting += one.values()
            waiting += one.keys()
        elif isinstance(one, set | frozenset):
            if type(one) is not frozenset:
                self.found.sets.append((one, tuple(one)))
            waiting += one
        elif isinstance(one, slice):
            waiting += (one.start, one.stop, one.step)
        elif _is_compiled(kind) or (not hasattr(one, "__dict__") and not _slots_of(kind)):
            self._fail(f"a {kind.__module__}.{kind.__qualname__} is read, which a plan cannot watch")
            return
        if kind.__module__ == "builtins" or (_is_of_engine(kind) and isinstance(one, tuple | list | dict)):
            return
        self.found.classes.append((one, kind))
        waiting.append(_KindOf(kind))
        if isinstance(getattr(one, "__dict__", None), dict):
            self._see_attributes(one, vars(one), waiting)
        names = self._names
        reads_all = self._everything or _has_others(kind)
        slots = [name for name in _slots_of(kind) if name in names or reads_all or name in _OF_COLLECTIONS]
        self._see_slots(one, slots, waiting)

    def _see_attributes(self, one: Any, held: dict[str, Any], waiting: deque[Any]) -> None:
        kind: Any = type(one)
        self.found.owners.append((one, held))
        names_read = self._names
        if isinstance(one, Cell):
            names_read = names_read | _read_by_engine(kind, _engine_methods(kind, frozenset(names_read)))
            if held["_plain"]:
                names_read = (names_read - _ALWAYS) | {"_plain", "construct"}
            elif not held["_names_checked"]:
                self.is_first = True  # the first call may mark it as plain
        by_names_made_up = bool(names_read & _REFLECTING) if isinstance(one, Cell) else _has_others(kind)
        if self._everything or by_names_made_up:
            names = [name for name in held if _matters(name, held)]
        else:
            names = [name for name in held if name in names_read and name not in BOOKKEEPING]
        if self._everything:
            self.found.keys.append((held, tuple(held)))
        if self._catches or any("__getattr__" in vars(k) for k in kind.__mro__ if not _is_of_others(k)):
            absent = [name for name in names_read if name not in held]
        else:
            absent = [
                name
                for name in names_read
                if name not in held and (name in self._stored or any(name in vars(k) for k in kind.__mro__[:-1]))
            ]
        self.found.places.append(
            (held, (*names, *absent), (*[held[name] for name in names], *([MISSING] * len(absent))))
        )
        waiting += [held[name] for name in names]


def _line_with(codes: Iterable[types.CodeType], name: str, stored: bool = False) -> str:
    """Return the first line of code that contains a name, as ``file:line``, or "".

    Args:
        codes: the code objects.
        name: the name.
        stored: whether to prefer a line that binds the name.
    """
    ordered = sorted(codes, key=lambda code: (code.co_filename, code.co_firstlineno))
    steps = [(code, step) for code in ordered for step in dis.get_instructions(code) if step.argval == name]
    steps = [(code, step) for code, step in steps if not step.opname.endswith("CONST")] or steps
    if stored:
        steps = [(code, step) for code, step in steps if "STORE" in step.opname or "DELETE" in step.opname] or steps
    lines = [(code.co_filename, step.positions.lineno) for code, step in steps if step.positions is not None]
    return next((f"{file}:{line}" for file, line in lines if line is not None), "")


def _matters(name: str, held: dict[str, Any]) -> bool:
    """Return whether a cell's result may depend on an attribute, if its code reads attributes by computed names."""
    # A cell's plainness depends on other attributes of it, which are inspected while it is not plain.
    return name not in BOOKKEEPING and (name != "_plain" or bool(held[name]))


def _is_stepping(value: Any) -> bool:
    """Return whether a value is an optimizer with the engine's step."""
    experimental = sys.modules.get(f"{_PACKAGE}.experimental.optim.optimizer")
    kinds = [Optimizer, *([] if experimental is None else [experimental.Optimizer])]
    return any(isinstance(value, kind) and type(value).construct is kind.construct for kind in kinds)


def is_leaf(value: Any) -> bool:
    """Return whether a value does not change and reaches nothing that affects a function's result."""
    if isinstance(value, _NUMBERS):
        return type(value) in _NUMBERS or type(value) is bool or isinstance(value, np.generic)
    return isinstance(value, LEAVES) and not isinstance(value, np.void)


def _dictionary_of(kind: type) -> dict[str, Any]:
    """Return the dictionary behind ``vars(kind)``, which returns a new proxy each time."""
    (referent,) = gc.get_referents(vars(kind))
    dictionary: dict[str, Any] = referent
    return dictionary


def _engine_methods(kind: type, names: frozenset[str], are_properties: bool = False) -> frozenset[str]:
    """Return those engine methods and properties of a class that are among the names or are called implicitly."""
    return frozenset([name for name in _methods_of(kind, are_properties) if name in names or name in _WITHOUT_A_NAME])


@_kept_with
def _methods_of(kind: type, are_properties: bool) -> frozenset[str]:
    kinds = property if are_properties else (types.FunctionType, property)
    return frozenset(
        name
        for base in kind.__mro__
        if _is_of_engine(base)
        for name, value in vars(base).items()
        if isinstance(value, kinds)
    )


_OF_ARRAYS = frozenset(("_view", "_views", "_layout", "_drawn", "_as_drawn", "init"))
"""Attributes of a tensor that describe the origin of its array."""


_WITHOUT_A_NAME = frozenset(("__iter__", "__len__", "__getitem__", "__contains__", "__bool__", "__reversed__"))
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


@_kept_with
def _read_by_engine(kind: type, methods: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names that a call reads from a cell in engine code: ``construct`` and its callees on the cell.

    Args:
        kind: the class of the cell.
        methods: further methods and properties that are called on it.
    """
    names, queue = set(_ALWAYS), ["construct", "bprop", *methods]
    visited = set[str]()
    while queue:
        name = queue.pop()
        value = inspect.getattr_static(kind, name, None)
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if name in visited or not isinstance(function, types.FunctionType):
            continue
        visited.add(name)
        if is_engine(function.__code__.co_filename):
            global_names, names_inside, *_ = _names_of(function.__code__)
            names |= global_names & _REFLECTING
            if isinstance(value, property):  # a property may read its value from __dict__
                names_inside |= {f"_{name}"} | {text for text in function.__code__.co_consts if isinstance(text, str)}
            names |= names_inside | (global_names & _REFLECTING)
            queue += names_inside
    return frozenset(names)


def _is_plain(value: Any) -> bool:
    """Return whether a value is a small container of plain values, or an array."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return isinstance(value, np.ndarray) or (
        isinstance(value, tuple | list | set | frozenset) and len(value) <= 64 and all(map(is_leaf, value))
    )


def _is_by_user(value: Any) -> bool:
    """Return whether a value is a function that belongs neither to the engine nor to a library."""
    if not isinstance(value, types.FunctionType):
        return False
    file = value.__code__.co_filename
    return not (is_engine(file) or is_library(file))


def _is_own(value: Any) -> bool:
    """Return whether a class attribute is a function of the engine."""
    return isinstance(value, types.FunctionType) and is_engine(value.__code__.co_filename)


def _is_of_engine(kind: type) -> bool:
    return is_engine(getattr(sys.modules.get(kind.__module__), "__file__", None) or "")


@_kept_with
def _is_of_others(kind: type) -> bool:
    """Return whether a class belongs to the engine or a library, so that its code is independent of this function."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or ""
    return kind.__module__ == "builtins" or is_engine(file) or is_library(file) or _is_compiled(kind)


@_kept_with
def _has_others(kind: type) -> bool:
    """Return whether methods of the engine or a library may read attributes of its objects."""
    return any(
        _is_of_others(base) for base in kind.__mro__[:-1] if base not in _TRANSPARENT or base is types.SimpleNamespace
    )


@_kept_with
def _is_compiled(kind: type) -> bool:
    """Return whether its objects hold state that is invisible to Python code."""
    for base in kind.__mro__:
        spec = getattr(sys.modules.get(base.__module__), "__spec__", None)
        origin = getattr(spec, "origin", None) or ""
        is_python = origin not in ("built-in", "frozen") and not origin.endswith((".so", ".pyd"))
        if base.__module__ != "builtins" and is_python and not _is_static(base):
            continue
        is_known = base.__module__ in ("abc", "enum", "types", "typing") and not _is_static(base)
        if base not in _TRANSPARENT and not is_known:
            return True
    return False


def _is_static(kind: Any) -> bool:
    """Return whether a value is a class with fixed attributes: no Py_TPFLAGS_HEAPTYPE, or immutable."""
    return isinstance(kind, type) and (not kind.__flags__ & 1 << 9 or bool(kind.__flags__ & 1 << 8))


_TRANSPARENT = (
    object,
    list,
    tuple,
    dict,
    set,
    frozenset,
    deque,
    int,
    float,
    complex,
    str,
    bytes,
    slice,
    OrderedDict,
    defaultdict,
    types.MappingProxyType,
    types.SimpleNamespace,
    abc.ABC,
    Generic,
    Protocol,
)
"""Classes whose objects hold only what is inspected here."""


@_kept_with
def _slots_of(kind: type) -> tuple[str, ...]:
    return tuple(
        name for base in kind.__mro__ for name, value in vars(base).items() if inspect.ismemberdescriptor(value)
    )
