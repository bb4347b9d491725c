"""``nn.Cell``: a network or a part of one, with its parameters, its children, its mode and its hooks.

Children and parameters are kept twice: by name in ``_cells`` and ``_params``, and as ordinary instance attributes, so
that ``self.conv`` in a ``construct`` costs what any attribute costs. How a cell runs when hooks, taps or a custom
``bprop`` are about is in ``calling.py``; with none of these a call is one check and ``construct``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import taps
from ..hooks import HookEntry, HookHandle, check_arity
from ..parameter import Parameter, ParameterTuple
from ..tensor import Tensor
from .calling import call_observed

__all__ = ["Cell"]

HOOK_KINDS = ("forward_pre", "forward", "backward_pre", "backward")
_UNNAMED = ("Parameter", "")


class Cell:
    """The building block of networks; subclasses define ``construct``.

    A subclass may define ``bprop(self, *inputs, out, dout)``, which then replaces the automatic gradient of
    ``construct``. It returns one gradient for each input; with ``self.internal_params`` set to a list of parameters,
    it returns that tuple and a dictionary from each of these parameters to its gradient.

    Args:
        auto_prefix: whether the parameters of children get the child's attribute name as a prefix.
        flags: attributes to set on the cell.
    """

    _plain = True
    _cells: OrderedDict[str, Cell]
    _params: OrderedDict[str, Parameter]
    _buffers: OrderedDict[str, Tensor | None]
    _hooks: dict[str, dict[int, HookEntry]]
    _auto_prefix: bool
    _path: str
    _training: bool
    _phase: str
    _requires_grad: bool
    _bprop_debug: bool

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        state = self.__dict__
        state["_cells"] = OrderedDict()
        state["_params"] = OrderedDict()
        state["_buffers"] = OrderedDict()
        state["_hooks"] = {kind: {} for kind in HOOK_KINDS}
        state["_auto_prefix"] = auto_prefix
        state["_path"] = ""
        state["_training"] = False
        state["_phase"] = "train"
        state["_requires_grad"] = False
        state["_bprop_debug"] = False
        if flags:
            self.add_flags(**flags)
        self._refresh()

    # Running

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Benchmarked as "call of an empty cell": keep this one check and the call.
        if self._plain and not taps.cell_taps:
            return self.construct(*args, **kwargs)
        return call_observed(self, args, kwargs)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The forward computation; every subclass defines it.

        Raises:
            AttributeError: the subclass does not.
        """
        raise AttributeError(f"For '{type(self).__name__}', the method 'construct' is not defined")

    @property
    def has_custom_bprop(self) -> bool:
        """Whether the cell defines its own ``bprop``."""
        # Not getattr on the cell: a miss would end in the search for similar names.
        return self.__dict__.get("bprop", getattr(type(self), "bprop", None)) is not None

    def _refresh(self) -> None:
        """Find out whether a call needs more than ``construct``."""
        self.__dict__["_plain"] = not self.has_custom_bprop and not any(self._hooks.values())

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if "_cells" not in state:
            if isinstance(value, Cell | Parameter):
                raise AttributeError(
                    f"For '{type(self).__name__}', call super().__init__() before '{name}' is assigned"
                )
            object.__setattr__(self, name, value)
            return
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        elif isinstance(value, Parameter):
            self._forget(name)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            self._forget(name)
            for parameter in value:
                if parameter.name in _UNNAMED:
                    raise ValueError(f"For 'Cell', the parameters in the ParameterTuple '{name}' must have names")
                if parameter.name not in self._params:
                    self._params[parameter.name] = parameter
            state[name] = value
        elif isinstance(value, Cell):
            self._forget(name)
            self._adopt(name, value)
        elif isinstance(value, Tensor) and self._params.get(name) is not None:
            self._params[name].set_data(value)
        elif name in self._buffers:
            if value is not None:
                raise TypeError(f"For 'Cell', '{name}' is a buffer; change its values with assign_value")
            self._buffers[name] = None
            state[name] = None
        elif name in self._params and value is not None:
            raise TypeError(
                f"For 'Cell', '{name}' is a parameter and can become a Parameter, a Tensor or None, "
                f"but got {type(value).__name__}"
            )
        else:
            self._forget(name)
            state[name] = value
            if name == "bprop":
                self._refresh()

    def _forget(self, name: str) -> None:
        for held in (self._cells, self._params, self._buffers):
            held.pop(name, None)

    def __delattr__(self, name: str) -> None:
        self._forget(name)
        object.__delattr__(self, name)
        if name == "bprop":
            self._refresh()

    def __getattr__(self, name: str) -> Any:
        if "_cells" not in self.__dict__:
            raise AttributeError(
                f"'{type(self).__name__}' has no attribute '{name}': call super().__init__() in its __init__ first"
            )
        hint = _hint(name, [n for n in dir(self) if not n.startswith("_")])
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")

    def _adopt(self, name: str, child: Cell) -> None:
        """Take a child in under an attribute name; its parameters are named by their path from here."""
        self._cells[name] = child
        self.__dict__[name] = child
        child._prepend_path(name)
        if self._auto_prefix:
            for path, parameter in child.parameters_and_names():
                parameter.name = f"{name}.{path}"

    def _prepend_path(self, name: str) -> None:
        for path, cell in self.cells_and_names():
            cell.__dict__["_path"] = f"{name}.{path}" if path else name

    # Children

    def cells(self) -> Iterable[Cell]:
        """The direct children."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The direct children by attribute name, each cell once."""
        seen: set[int] = set()
        found: OrderedDict[str, Cell] = OrderedDict()
        for name, cell in self._cells.items():
            if cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                found[name] = cell
        return found

    def cells_and_names(self, cells: set[Cell] | None = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This cell and all below it with their dotted paths, each once; this cell's own path is ``name_prefix``."""
        seen = set() if cells is None else cells
        if self in seen:
            return
        seen.add(self)
        yield name_prefix, self
        for name, cell in self._cells.items():
            # As in MindSpore, an empty container is falsy and passed over.
            if cell:
                yield from cell.cells_and_names(seen, f"{name_prefix}.{name}" if name_prefix else name)

    def get_sub_cell(self, target: str) -> Cell:
        """The cell at a dotted path; "" is this cell.

        Raises:
            AttributeError: there is no cell at the path.
        """
        cell = self
        for name in target.split(".") if target else ():
            child = getattr(cell, name, None) if name in cell.__dict__ or name in cell._cells else None
            if child is None:
                hint = _hint(target, [n for n, _ in self.cells_and_names() if n])
                raise AttributeError(f"'{type(cell).__name__}' has no cell '{name}' (in '{target}'){hint}")
            if not isinstance(child, Cell):
                raise AttributeError(f"'{name}' (in '{target}') is not a Cell, but {type(child).__name__}")
            cell = child
        return cell

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Add a child under a name; unlike an assignment this does not rename its parameters.

        Raises:
            TypeError: the name is no str or the child no Cell.
            KeyError: the name is taken.
        """
        if not isinstance(child_name, str):
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_name' must be a str, but got {type(child_name).__name__}"
            )
        if not isinstance(child_cell, Cell):
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_cell' must be a Cell, but got {type(child_cell).__name__}"
            )
        if not child_name or "." in child_name:
            raise KeyError(f"For 'insert_child_to_cell', 'child_name' must not be empty or hold a dot: {child_name!r}")
        if child_name in self._cells or child_name in self.__dict__:
            raise KeyError(f"For 'insert_child_to_cell', the name '{child_name}' is taken")
        self._cells[child_name] = child_cell
        self.__dict__[child_name] = child_cell
        child_cell._prepend_path(child_name)

    def apply(self, fn: Callable[[Cell], Any]) -> Cell:
        """Call ``fn`` on every cell below, then on this one."""
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # Parameters

    def insert_param_to_cell(self, param_name: str, param: Parameter, check_name_contain_dot: bool = True) -> None:
        """Add a parameter under a name; one without a name of its own gets it.

        Raises:
            TypeError: ``param`` is no Parameter.
            KeyError: the name is empty, holds a dot or is taken by something else.
        """
        if "_cells" not in self.__dict__:
            raise AttributeError("For 'insert_param_to_cell', call super().__init__() first")
        if not param_name:
            raise KeyError("For 'insert_param_to_cell', 'param_name' must not be empty")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"For 'insert_param_to_cell', 'param_name' must not hold a dot, but got '{param_name}'")
        if param_name in self.__dict__ and param_name not in self._params:
            held = self.__dict__[param_name]
            if held is not None and not isinstance(held, Parameter):
                raise KeyError(f"For 'insert_param_to_cell', '{param_name}' is an attribute already")
        if not isinstance(param, Parameter):
            raise TypeError(f"For 'insert_param_to_cell', 'param' must be a Parameter, but got {type(param).__name__}")
        if param.name in _UNNAMED:
            param.name = param_name
        self._params[param_name] = param
        self.__dict__[param_name] = param

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their dotted paths: own ones, then the children's; each parameter once."""
        cells = self.cells_and_names(name_prefix=name_prefix) if expand else iter([(name_prefix, self)])
        seen: set[int] = set()
        for path, cell in cells:
            for name, parameter in cell._params.items():
                if parameter is not None and id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield (f"{path}.{name}" if path else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """The parameters of this cell, and with ``expand`` of all below it."""
        for _, parameter in self.parameters_and_names(expand=expand):
            yield parameter

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters with ``requires_grad``."""
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters without ``requires_grad``."""
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by their own names."""
        return OrderedDict((p.name, p) for p in self.get_parameters(recurse))

    def check_names(self) -> None:
        """Look for parameters that share a name.

        Raises:
            ValueError: two do.
        """
        seen: set[str] = set()
        for path, parameter in self.parameters_and_names():
            if parameter.name in seen:
                raise ValueError(
                    f"the parameter '{path}' is named '{parameter.name}', as another one is: names must differ"
                )
            seen.add(parameter.name)

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """The parameters; their values are made when they are made."""
        return {p: p for p in self.get_parameters()}

    # Buffers

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the cell's state but is no parameter.

        Raises:
            TypeError: the name is no str or the value no Tensor.
            KeyError: the name is empty, holds a dot or is taken.
        """
        if not isinstance(name, str):
            raise TypeError(f"For 'register_buffer', 'name' must be a str, but got {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"For 'register_buffer', 'name' must not be empty or hold a dot, but got {name!r}")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"For 'register_buffer', the name '{name}' is taken")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"For 'register_buffer', 'tensor' must be a Tensor, but got {type(tensor).__name__}")
        self._buffers[name] = tensor
        self.__dict__[name] = tensor

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Buffers with their dotted paths, each once."""
        seen: set[int] = set()
        cells = self.cells_and_names(name_prefix=prefix) if recurse else iter([(prefix, self)])
        for path, cell in cells:
            for name, buffer in cell._buffers.items():
                if buffer is not None and id(buffer) not in seen:
                    seen.add(id(buffer))
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this cell, and with ``recurse`` of all below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Mode and flags

    @property
    def training(self) -> bool:
        """Whether the cell is in training mode; False at first."""
        return self._training

    @training.setter
    def training(self, value: bool) -> None:
        self.__dict__["_training"] = bool(value)

    @property
    def phase(self) -> str:
        """The phase's name: "train" or "predict" by ``set_train``, or one of the user's."""
        return self._phase

    @phase.setter
    def phase(self, value: str) -> None:
        if not isinstance(value, str):
            raise TypeError(f"For 'Cell', 'phase' must be a str, but got {type(value).__name__}")
        self.__dict__["_phase"] = value

    def set_train(self, mode: bool = True) -> Cell:
        """Training mode (or with False predict mode) for this cell and all below; the phase is this cell's alone."""
        if not isinstance(mode, bool):
            raise TypeError(f"For 'set_train', 'mode' must be a bool, but got {type(mode).__name__}")
        for _, cell in self.cells_and_names():
            cell.__dict__["_training"] = mode
        self.phase = "train" if mode else "predict"
        return self

    @property
    def requires_grad(self) -> bool:
        """The flag that ``set_grad`` sets."""
        return self._requires_grad

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set the cell's flag ``requires_grad``; gradients do not depend on it."""
        self.__dict__["_requires_grad"] = requires_grad
        return self

    @property
    def bprop_debug(self) -> bool:
        """Whether a custom bprop is asked to be checked."""
        return self._bprop_debug

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"For 'Cell', 'bprop_debug' must be a bool, but got {type(value).__name__}")
        self.__dict__["_bprop_debug"] = value

    def add_flags(self, **flags: Any) -> Cell:
        """Set attributes on this cell."""
        for name, value in flags.items():
            setattr(self, name, value)
        self.__dict__.setdefault("_flags", {}).update(flags)
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """Set attributes on this cell and all below."""
        for _, cell in self.cells_and_names():
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """The attributes that ``add_flags`` set."""
        return dict(self.__dict__.get("_flags", {}))

    # Hooks

    def register_forward_pre_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        replace: bool = False,
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before ``construct``; what it returns replaces the inputs.

        Args:
            hook_fn: with ``with_kwargs`` called as ``hook_fn(cell, args, kwargs)`` and returning such a pair.
            prepend: run before the hooks that are there.
            replace: take off the hooks of this kind whose function has the same name first, so that running a
                notebook cell again does not pile them up.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments.
        """
        expected = "hook(cell, args, kwargs)" if with_kwargs else "hook(cell, inputs)"
        check_arity(hook_fn, 3 if with_kwargs else 2, "register_forward_pre_hook", expected)
        return self._register("forward_pre", HookEntry(hook_fn, with_kwargs), prepend, replace)

    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
        replace: bool = False,
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs, output)`` after ``construct``; what it returns replaces the output.

        Args:
            hook_fn: with ``with_kwargs`` called as ``hook_fn(cell, args, kwargs, output)``.
            prepend: run before the hooks that are there.
            always_call: run also when ``construct`` raised, with the output None.
            replace: take off the hooks of this kind whose function has the same name first.

        Raises:
            TypeError: ``hook_fn`` cannot be called with these arguments.
        """
        expected = "hook(cell, args, kwargs, output)" if with_kwargs else "hook(cell, inputs, output)"
        check_arity(hook_fn, 4 if with_kwargs else 3, "register_forward_hook", expected)
        return self._register("forward", HookEntry(hook_fn, with_kwargs, always_call), prepend, replace)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_output)`` when the gradient arrives at the cell; what it returns replaces it."""
        check_arity(hook_fn, 2, "register_backward_pre_hook", "hook(cell, grad_output)")
        return self._register("backward_pre", HookEntry(hook_fn), False, replace)

    def register_backward_hook(self, hook_fn: Callable[..., Any], *, replace: bool = False) -> HookHandle:
        """Call ``hook_fn(cell, grad_input, grad_output)`` when the gradient leaves the cell.

        ``grad_input`` is the gradient with respect to the cell's inputs, ``grad_output`` the one that arrived at its
        outputs; both are tuples. What the hook returns replaces ``grad_input``.
        """
        check_arity(hook_fn, 3, "register_backward_hook", "hook(cell, grad_input, grad_output)")
        return self._register("backward", HookEntry(hook_fn), False, replace)

    def _register(self, kind: str, entry: HookEntry, prepend: bool, replace: bool) -> HookHandle:
        hooks = self._hooks[kind]
        if replace:
            name = getattr(entry.function, "__qualname__", None)
            for key, held in list(hooks.items()):
                if name is not None and getattr(held.function, "__qualname__", None) == name:
                    del hooks[key]
        handle = HookHandle(hooks, entry, prepend)
        # From now on calls look for hooks; `remove` need not know the cell to undo that.
        self.__dict__["_plain"] = False
        return handle

    # Printing

    def extend_repr(self) -> str:
        """What ``repr`` shows between the parentheses; subclasses define it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        name = type(self).__name__
        if not self._cells:
            return f"{name}({extra})"
        lines = [f"  {extra}"] if extra else []
        for key, cell in self._cells.items():
            lines.append(f"  ({key}): " + "\n  ".join(repr(cell).split("\n")))
        return "\n".join([f"{name}(", *lines, ")"])

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def param_prefix(self) -> str:
        """The dotted path of the cell in its network; "" for a root."""
        return self._path


def _hint(name: str, known: list[str]) -> str:
    """``; did you mean '...'?``, or nothing where no known name is spelled alike."""
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean '{near[0]}'?" if near else ""
