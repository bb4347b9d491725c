"""``nn.Cell``: a network or a part of one, with its parameters and its children.

Its state is in ``state.py``, its settings in ``settings.py``, its hooks in ``hooking.py``. Calls with hooks, taps, a
custom ``bprop`` and the like are in ``calling.py``; without any of these a call is one check and ``construct``.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from time import time_ns
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, TypeVar

from ..base.argument_checks import check_type
from ..base.file_labels import warn_user
from ..base.module_names import set_method_names
from ..base.nearest_name import did_you_mean
from ..tape import taps
from ..tensors.parameter import Parameter, ParameterTuple, _Buffer, is_generated_name
from ..tensors.tensor import Tensor
from .calling import call_observed
from .hooking import HOOK_KINDS, CellHooks
from .members import Members
from .settings import CellSettings
from .state import STATE_HOOK_KINDS, CellState, register_cell_buffer_registration_hook

__all__ = ["Cell", "register_cell_buffer_registration_hook"]


_MEMBERS = frozenset(("_cells", "_params", "_buffers"))
_INTERNAL = frozenset(
    (
        "_hooks",
        "_state_hooks",
        "_saved_tensors_hooks",
        "_unsaved_buffers",
        "_recompute",
        "_offload",
        "_plain",
        "_names_checked",
        "_unnamed",
    )
)
"""Internal attributes of a cell that MindSpore does not have; a user's attribute of the same name would break it."""

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class HasConstruct(Protocol[P, R_co]):
    """For type checkers: a class with the signature of its ``construct``."""

    def construct(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Compute the output."""


class CallOfConstruct:
    """For type checkers: a cell has the call signature of its ``construct``."""

    def __get__(self, cell: HasConstruct[P, R_co], owner: type) -> Callable[P, R_co]:
        return cell.construct


class Cell(CellHooks, CellState, CellSettings):
    """The building block of networks; subclasses define ``construct``.

    Calling a cell runs its forward pre hooks, ``construct`` and its forward hooks. Parameters, cells and buffers that
    are assigned to attributes become its members.

    A subclass may define ``bprop(self, *inputs, out, dout)``, which then replaces the automatic gradient of
    ``construct``. It returns one gradient for each input; with ``self.internal_params`` set to a list of parameters, it
    returns that tuple and a dictionary from each of these parameters to its gradient. Forward hooks run after it:
    ``out`` is the result of ``construct``, and ``dout`` the gradient with respect to that.

    Args:
        auto_prefix: whether the parameters of children get the child's attribute name as a prefix.
        flags: attributes to set on the cell, by name; see ``add_flags``.
    """

    T_destination = TypeVar("T_destination", bound=dict[str, Any])
    global_cells: ClassVar[weakref.WeakKeyDictionary[Cell, Any]] = weakref.WeakKeyDictionary()
    """Cells that MindSpore's compiler inlines late: none here."""

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        """Make a cell without members, in predict mode.

        Args:
            auto_prefix: whether the parameters of children get the child's attribute name as a prefix.
            flags: attributes to set on the cell, by name; see ``add_flags``.
        """
        state = self.__dict__
        state["_cells"] = Members(self)
        state["_params"] = Members(self)
        state["_buffers"] = Members(self)
        state["_unsaved_buffers"] = set()
        state["_hooks"] = {kind: {} for kind in HOOK_KINDS}
        state["_state_hooks"] = {kind: {} for kind in STATE_HOOK_KINDS}
        state["_saved_tensors_hooks"] = None
        state["_recompute"] = None
        state["_offload"] = None
        state["_auto_prefix"] = auto_prefix
        state["_path"] = ""
        state["_param_prefix"] = ""
        state["_scope"] = None
        state["_phase"] = "train"
        state["_flags"] = {}
        state["_unnamed"] = 0
        state["_names_checked"] = False
        state["_plain"] = False  # the first call checks the parameters' names
        state["training"] = False
        state["requires_grad"] = False
        state["cell_type"] = None
        state["mixed_precision_type"] = None
        state["create_time"] = time_ns()
        if flags:
            self.add_flags(**flags)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        namespace = vars(cls)
        if inspect.isfunction(namespace.get("cast")) or isinstance(namespace.get("cast"), classmethod | staticmethod):
            # MindSpore 2.10 runs such a cell, though its page forbids it.
            warn_user(f"'{cls.__name__}' has a method 'cast', which the page of Cell forbids: choose a different name")
        for name, wrong in (
            (
                "phase",
                "phase" in namespace
                and not isinstance(namespace["phase"], property)
                and "it is a property of all cells",
            ),
            ("cells", "cells" in namespace and not callable(namespace["cells"]) and "it is a method of all cells"),
        ):
            if wrong:
                raise AttributeError(f"For '{cls.__name__}', '{name}' in the class: {wrong}")

    # Running

    if TYPE_CHECKING:
        __call__ = CallOfConstruct()
    else:

        def __call__(self, *args, **kwargs):
            # Benchmarked as "call of an empty cell": keep this one check and the call.
            if self._plain and not taps.cell_taps:
                return self.construct(*args, **kwargs)
            return call_observed(self, args, kwargs)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass defines it, with the inputs of its calls.

        Args:
            *args: the positional inputs of the call.
            **kwargs: the keyword inputs of the call.

        Returns:
            The result of the call, unless a forward hook replaces it.

        Raises:
            AttributeError: the subclass does not define it.
        """
        raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined")

    @property
    def has_custom_bprop(self) -> bool:
        """Whether the cell defines its own ``bprop``."""
        # Not getattr on the cell: a missing name would start the search for similar ones.
        return self.__dict__.get("bprop", getattr(type(self), "bprop", None)) is not None

    has_bprop = has_custom_bprop

    def _refresh(self) -> None:
        """Determine whether a call needs more than ``construct``."""
        state = self.__dict__
        state["_plain"] = (
            self._names_checked
            and not self.has_custom_bprop
            and not any(self._hooks.values())
            and state["_recompute"] is None
            and state["_offload"] is None
            and state["_saved_tensors_hooks"] is None
            and state["mixed_precision_type"] is None
        )

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if "_cells" not in state:
            if isinstance(value, Cell | Parameter):
                raise AttributeError(
                    f"For '{type(self).__name__}', call super().__init__() before '{name}' is assigned"
                )
            object.__setattr__(self, name, value)
        elif name == "__class__" or hasattr(type(getattr(type(self), name, None)), "__set__"):
            object.__setattr__(self, name, value)  # a property, a slot or another descriptor of the class
        elif name in _MEMBERS:
            members = list(check_type(value, dict, type(self).__name__, name).items())
            state[name].clear()
            state[name].update(members)
        elif name in _INTERNAL:
            raise AttributeError(f"For '{type(self).__name__}', '{name}' is kept by all cells: choose a different name")
        elif name == "cells" and not isinstance(value, Cell | Parameter):
            raise AttributeError(f"For '{type(self).__name__}', 'cells' is a method of cells: choose a different name")
        elif isinstance(value, Parameter):
            if name not in self._cells and name not in self._buffers:
                state.pop(name, None)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            for parameter in value:
                if is_generated_name(parameter.name):
                    state["_unnamed"] += 1
                    parameter.name = f"Parameter${state['_unnamed']}"
                self.insert_param_to_cell(parameter.name, parameter, check_name_contain_dot=False)
            state[name] = value
        elif isinstance(value, Cell):
            if name not in self._params and name not in self._buffers:
                state.pop(name, None)
            self._adopt(name, value)
        elif name in self._params:
            if isinstance(value, Tensor) and self._params[name] is not None:
                self._params[name].set_data(value)
            elif value is None:
                self._params[name] = None  # type: ignore[assignment]  # as in MindSpore, the name stays
            else:
                raise TypeError(
                    f"For 'Cell', '{name}' is a parameter and can become a Parameter, a Tensor or None, "
                    f"but got {type(value).__name__}"
                )
        elif name in self._cells:
            if value is not None:
                raise TypeError(
                    f"For 'Cell', '{name}' is a child and can become a Cell or None, but got {type(value).__name__}; "
                    f"`del cell.{name}` frees the name"
                )
            self._cells[name] = None  # type: ignore[assignment]
        elif name in self._buffers:
            if isinstance(value, _Buffer):
                self.register_buffer(name, value, value.persistent)
                return
            if value is not None:
                raise TypeError(f"For 'Cell', '{name}' is a buffer; change its values with assign_value")
            self._buffers[name] = None  # type: ignore[assignment]
        elif isinstance(value, _Buffer):
            state.pop(name, None)
            self.register_buffer(name, value, value.persistent)
        else:
            if isinstance(value, list | tuple) and value and all(isinstance(entry, Parameter) for entry in value):
                self._note_names(name, value)
            state[name] = value
            if name == "bprop" or name == "mixed_precision_type":
                self._refresh()

    def _note_names(self, name: str, parameters: list[Parameter] | tuple[Parameter, ...]) -> None:
        """Raise an error for a name that another parameter in a list or tuple of this cell has."""
        for parameter in parameters:
            if parameter in self.exist_objs:
                continue
            self.exist_objs.add(parameter)
            if parameter.name in self.exist_names:
                raise ValueError(
                    f"For 'Cell', two parameters in '{name}' are named '{parameter.name}': names must differ"
                )
            self.exist_names.add(parameter.name)

    def __delattr__(self, name: str) -> None:
        for members in (self._params, self._buffers, self._cells):
            if name in members:
                del members[name]
                return
        object.__delattr__(self, name)
        if name == "bprop":
            self._refresh()

    def __getattr__(self, name: str) -> Any:
        if "_cells" not in self.__dict__:
            raise AttributeError(
                f"'{type(self).__name__}' has no attribute '{name}': call super().__init__() in its __init__ first"
            )
        descriptor = getattr(type(self), name, None)
        if isinstance(descriptor, property):  # raised AttributeError: show its own message
            return descriptor.__get__(self)
        hint = did_you_mean(name, [n for n in dir(self) if not n.startswith("_")]) if not name.startswith("__") else ""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")

    def _adopt(self, name: str, child: Cell) -> None:
        """Add a child under an attribute name; its parameters are named by their path from here."""
        if self._auto_prefix:
            child.update_parameters_name(f"{name}.")
        self._set_child(name, child)

    def _prepend_path(self, name: str) -> None:
        for path, cell in self.cells_and_names():
            cell.__dict__["_path"] = f"{name}.{path}" if path else name

    # Children

    def cells(self) -> Iterable[Cell]:
        """Return the direct children, each once, in the order of assignment."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """Return the direct children by attribute name, each cell once, under its first name."""
        ids: set[int] = set()
        children: OrderedDict[str, Cell] = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in ids:
                ids.add(id(cell))
                children[name] = cell
        return children

    def cells_and_names(self, cells: set[Cell] | None = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """Return this cell and all below it with their dotted paths, each once, parents before children.

        Args:
            cells: cells to exclude, with those below them; those that are yielded are added to the set. None for
                none.
            name_prefix: this cell's own path, the prefix of all others; "" for none.

        Returns:
            An iterator over pairs (path, cell).

        Raises:
            TypeError: ``cells`` is not a set, or ``name_prefix`` is not a str.
        """
        check_type(cells, set | None, "Cell.cells_and_names", "cells")
        check_type(name_prefix, str | None, "Cell.cells_and_names", "name_prefix")
        return self._cells_below(set() if cells is None else cells, name_prefix or "")

    def _cells_below(self, visited: set[Cell], name_prefix: str) -> Iterator[tuple[str, Cell]]:
        if self in visited:
            return
        visited.add(self)
        yield name_prefix, self
        # Without recursion, which would pass each cell through the generators of all cells above it.
        stack = [(f"{name_prefix}." if name_prefix else "", iter(self._cells.items()))]
        while stack:
            prefix, members = stack[-1]
            for name, cell in members:
                # As in MindSpore, an empty container is falsy and skipped.
                if cell and cell not in visited:
                    visited.add(cell)
                    yield prefix + name, cell
                    stack.append((f"{prefix}{name}.", iter(cell._cells.items())))
                    break
            else:
                stack.pop()

    def get_sub_cell(self, target: str) -> Cell:
        """Return the cell at a dotted path.

        Args:
            target: attribute names joined by dots, such as "body.0.conv"; "" is this cell.

        Returns:
            The cell.

        Raises:
            AttributeError: there is nothing at the path, or not a cell; the text names similar paths.
        """
        cell = self
        for name in target.split(".") if target else ():
            child = getattr(cell, name, None) if name in cell.__dict__ or name in cell._cells else None
            if child is None:
                near = did_you_mean(target, [n for n, _ in self.cells_and_names() if n])
                raise AttributeError(f"'{type(cell).__name__}' has no cell '{name}' (in '{target}'){near}")
            if not isinstance(child, Cell):
                raise AttributeError(f"'{name}' (in '{target}') is not a Cell, but {type(child).__name__}")
            cell = child
        return cell

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Add a child under a name; unlike an assignment this does not rename its parameters.

        Args:
            child_name: the attribute's name, without dots.
            child_cell: the cell; None reserves the name.

        Raises:
            TypeError: ``child_name`` is not a str, or ``child_cell`` is not a Cell.
            KeyError: the name is empty, holds a dot, or is taken; an assignment replaces a child.
        """
        if self._cells.get(child_name) is not None:
            raise KeyError(
                f"For 'insert_child_to_cell', the name '{child_name}' is taken by a cell, which an assignment replaces"
            )
        self._set_child(child_name, child_cell)

    def _set_child(self, child_name: str, child_cell: Cell | None) -> None:
        """Add a child under a free name, or replace another child."""
        check_type(child_name, str, "insert_child_to_cell", "child_name")
        check_type(child_cell, Cell | None, "insert_child_to_cell", "child_cell", "a Cell")
        if not child_name or "." in child_name:
            raise KeyError(f"For 'insert_child_to_cell', 'child_name' must not be empty or hold a dot: {child_name!r}")
        if child_name not in self._cells and (child_name in self.__dict__ or hasattr(type(self), child_name)):
            raise KeyError(f"For 'insert_child_to_cell', the name '{child_name}' is taken")
        self._cells[child_name] = child_cell  # type: ignore[assignment]  # None reserves a name
        if child_cell is not None:
            child_cell._prepend_path(f"{self._path}.{child_name}" if self._path else child_name)

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Call a function on every cell below, then on this one: children before parents.

        Args:
            fn: called with each cell; its result is ignored.

        Returns:
            This cell.
        """
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # Parameters

    def insert_param_to_cell(self, param_name: str, param: Parameter, check_name_contain_dot: bool = True) -> None:
        """Add a parameter under a name; a parameter without a name gets it.

        Args:
            param_name: the attribute's name.
            param: the parameter; None reserves the name.
            check_name_contain_dot: whether a dot in the name is an error.

        Raises:
            AttributeError: before ``super().__init__()``.
            TypeError: ``param`` is not a Parameter.
            KeyError: the name is empty, holds a dot, or is already used by something other than a parameter.
        """
        if "_cells" not in self.__dict__:
            raise AttributeError("For 'insert_param_to_cell', call super().__init__() first")
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', 'param_name' must not be empty")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"For 'insert_param_to_cell', 'param_name' must not hold a dot, but got '{param_name}'")
        if param_name not in self._params and (param_name in self.__dict__ or hasattr(type(self), param_name)):
            raise KeyError(f"For 'insert_param_to_cell', '{param_name}' is an attribute already")
        check_type(param, Parameter | None, "insert_param_to_cell", "param", "a Parameter")
        if param is not None and is_generated_name(param.name):
            param.name = param_name
        self._params[param_name] = param

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Return parameters with their dotted paths: own ones, then the children's; each once, under its first path.

        Args:
            name_prefix: prefix of all paths, followed by a dot; "" for none.
            expand: whether to include the cells below.

        Returns:
            An iterator over pairs (path, parameter).

        Raises:
            TypeError: ``name_prefix`` is not a str.
        """
        check_type(name_prefix, str | None, "Cell.parameters_and_names", "name_prefix")
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else iter([(name_prefix or "", self)])
        return self._parameters_of(cells)

    def _parameters_of(self, cells: Iterator[tuple[str, Cell]]) -> Iterator[tuple[str, Parameter]]:
        ids: set[int] = set()
        for path, cell in cells:
            for name, parameter in cell._params.items():
                if parameter is not None and id(parameter) not in ids:
                    ids.add(id(parameter))
                    yield (f"{path}.{name}" if path else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Return the parameters of this cell, then of its children; each once.

        Args:
            expand: whether to include the cells below.

        Returns:
            An iterator.
        """
        for _, parameter in self.parameters_and_names(expand=expand):
            yield parameter

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Return the parameters with ``requires_grad``.

        Args:
            recurse: whether to include the cells below.

        Returns:
            A list, in the order of ``get_parameters``.
        """
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Return the parameters without ``requires_grad``.

        Args:
            recurse: whether to include the cells below.

        Returns:
            A list, in the order of ``get_parameters``.
        """
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """Return the parameters by their names, which may differ from their paths.

        Args:
            recurse: whether to include the cells below.

        Returns:
            An OrderedDict; for two parameters with one name the last.
        """
        return OrderedDict((p.name, p) for p in self.get_parameters(recurse))

    def check_names(self) -> None:
        """Raise an error if two parameters of this cell and all below share a name.

        Raises:
            ValueError: two do.
        """
        names: set[str] = set()
        for path, parameter in self.parameters_and_names():
            if parameter.name in names:
                raise ValueError(
                    f"the parameter '{path}' is named '{parameter.name}', like another parameter: names must differ"
                )
            names.add(parameter.name)

    def check_names_and_refresh_name(self) -> None:
        """Name all parameters by their paths if two share a name; the first call of a cell does this too.

        Raises:
            ValueError: two still share one.
        """
        names = [(parameter, parameter.name) for parameter in self.get_parameters()]
        counts = Counter([name for _, name in names])
        if len(counts) < len(names):
            self.update_parameters_name()
            self.check_names()
            for parameter, name in names:
                if counts[name] > 1:
                    parameter.__dict__["_shared_name"] = name  # reported by the condition same_names

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name the parameters by their paths from here.

        Args:
            prefix: prefix of all paths, without an added dot.
            recurse: whether to include the cells below.

        Raises:
            TypeError: ``prefix`` is not a str.
            ValueError: it has characters other than ASCII letters and digits, _, . and -.
        """
        check_type(prefix, str, "update_parameters_name", "prefix")
        if not re.fullmatch(r"[\w.-]*", prefix, re.ASCII):
            raise ValueError(
                "For 'update_parameters_name', 'prefix' must have ASCII letters, digits, '_', '.' and '-' only, "
                f"but got {prefix!r}"
            )
        for path, parameter in self.parameters_and_names(expand=recurse):
            parameter.name = prefix + path

    def update_cell_prefix(self) -> None:
        """Set ``param_prefix`` of this cell and all below to their paths from here."""
        for path, cell in self.cells_and_names():
            cell.__dict__["_param_prefix"] = path

    # Printing

    def extend_repr(self) -> str:
        """Return the text of ``repr`` before the children; subclasses may override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        name = type(self).__name__
        if not self._cells and "\n" not in extra:
            return f"{name}({extra})"
        lines = [f"  {line}" for line in extra.split("\n")] if extra else []
        for key, cell in self._cells.items():
            lines.append(f"  ({key}): " + "\n  ".join(repr(cell).split("\n")))
        return "\n".join([f"{name}(", *lines, ")"])

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def param_prefix(self) -> str:
        """The prefix that ``update_cell_prefix`` set; "" before."""
        return self.__dict__["_param_prefix"]


for _part in (CellHooks, CellState, CellSettings):
    set_method_names(_part, "Cell")
