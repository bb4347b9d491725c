"""Primitive classes (``mindspore.ops.operations``): the same operators, configured when made, called on tensors.

They are declared with the functions that they call (``surfaces.declare``), and created here.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from ..base.argument_checks import check_int, check_not_negative, check_one_of, check_type
from ..base.file_labels import warn_user
from ..base.module_names import on_first_use as _on_first_use
from ..base.surfaces import PRIMITIVES, PrimitiveRow
from ..base.surfaces import REQUIRED as _REQUIRED
from ..tensors import precision
from .higher_order import loops as _loops
from .higher_order.composite import Partial as Partial
from .higher_order.hook_backward import HookBackward
from .higher_order.loops import *
from .legacy import side_effects as _side_effects
from .legacy.side_effects import *
from .legacy.value_names import types_of

__all__ = [
    "HookBackward",
    "Partial",
    "Primitive",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "prim_arg_register",
    "prim_attr_register",
    *(name for name in (*_side_effects.__all__, *_loops.__all__) if name[0].isupper()),
]


_warned_methods: set[str] = set()


def _tell_ignored(method: str) -> None:
    """Warn once in a process that a setting of (semi-)automatic parallel modes has no effect in others."""
    if method not in _warned_methods:
        _warned_methods.add(method)
        warn_user(f"'{method}' has no effect here: it is for (semi-)automatic parallel modes, and is ignored in others")


_NAMES_OF_VALUES = ("input_names", "output_names")


class _Counts:
    """Number of inputs of the calls of a class: a range, derived from the function's signature on first use."""

    def __init__(self, function: Callable[..., Any] | None = None, row: PrimitiveRow | None = None) -> None:
        self._function, self._row = function, row

    def __get__(self, instance: object, owner: type) -> range:
        counts = range(sys.maxsize)
        if self._function is not None and self._row is not None:
            settings = {*self._row.left_out, *(name for name, _ in self._row.parameters)}
            inputs = [
                parameter
                for parameter in inspect.signature(self._function).parameters.values()
                if parameter.name not in settings
            ]
            positional = [parameter for parameter in inputs if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
            required = sum(parameter.default is parameter.empty for parameter in positional)
            if not any(parameter.kind is parameter.VAR_POSITIONAL for parameter in inputs):
                counts = range(required, len(positional) + 1)
        owner._counts = counts  # type: ignore[attr-defined]
        return counts


def _misfit(name: str, counts: range, count: int, kwargs: dict[str, Any]) -> str:
    """Return the error message for the arguments of a call."""
    if kwargs:
        return f"For '{name}', a call takes its inputs by place, but got '{next(iter(kwargs))}' by name"
    least, most = counts[0], counts[-1]
    expected = f"{most} input{'s' * (most != 1)}" if least == most else f"{least} to {most} inputs"
    return f"For '{name}', a call takes {expected}, but got {count}"


def _no_operator(*inputs: Any, **settings: Any) -> Any:
    raise NotImplementedError("a Primitive of your own computes nothing here by itself: give its class a '__call__'")


class Primitive:
    """Base of the primitive classes: an operator with its settings, called on its inputs.

    A user's own class derives from it and decorates its ``__init__`` with ``prim_attr_register``.

    Args:
        *args: the settings in the order of the class; for a class without an operator, its name.
        **kwargs: settings by name.

    Raises:
        TypeError: too many settings, or one that the class does not have.
    """

    name = ""
    _function: Callable[..., Any] = staticmethod(_no_operator)
    _parameters: tuple[tuple[str, Any], ...] = ()
    _counts = _Counts()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.name:  # a user's own primitive
            self.name, args = str(args[0] if args else kwargs.pop("name", type(self).__name__)), args[1:]
        names = [name for name, _ in self._parameters]
        if len(args) > len(names):
            raise TypeError(f"For '{self.name}', at most {len(names)} arguments are allowed, but got {len(args)}")
        values = dict(self._parameters)
        values.update(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in values:
                raise TypeError(f"For '{self.name}', there is no argument '{key}'; allowed are {names}")
            values[key] = value
        self._values = values
        self.attrs = dict(values)
        """Settings and added attributes, by name."""
        self.__dict__.update(values)

    def __repr__(self) -> str:
        attributes = {**self._values, **self.attrs}
        settings = ", ".join(f"{key}={value}" for key, value in attributes.items() if key not in _NAMES_OF_VALUES)
        return f"Prim[{self.name}]<{settings}>" if settings else f"Prim[{self.name}]"

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs or len(inputs) not in self._counts:
            raise TypeError(_misfit(self.name, self._counts, len(inputs), kwargs))
        if precision.scopes:
            return precision.by_class(type(self), type(self)._function, inputs, self._values)
        return type(self)._function(*inputs, **self._values)

    def set_device(self, device_target: str) -> Primitive:
        """Store the name of a device, which has no effect: an operator runs where its tensors are.

        Args:
            device_target: "CPU", "GPU" or "Ascend".

        Returns:
            The primitive itself.

        Raises:
            ValueError: an unknown name.
        """
        self.device_target = check_one_of(device_target, ("CPU", "GPU", "Ascend"), self.name, "device_target")
        return self.add_prim_attr("primitive_target", device_target)

    def set_stage(self, stage: int) -> Primitive:
        """Store the number of a stage of a pipeline, as the attribute ``stage``; warn once that it has no effect.

        Args:
            stage: the number.

        Returns:
            The primitive itself.
        """
        _tell_ignored("Primitive.set_stage")
        return self.add_prim_attr("stage", stage)

    def shard(
        self, in_strategy: tuple[Any, ...] | None = None, out_strategy: tuple[Any, ...] | None = None
    ) -> Primitive:
        """Store how inputs and outputs would be divided, as attributes; warn once that they are not.

        It is for (semi-)automatic parallel modes, as in MindSpore.

        Args:
            in_strategy: for each input the number of parts of each axis.
            out_strategy: for each output, likewise.

        Returns:
            The primitive itself.

        Raises:
            TypeError: a strategy is not a tuple of tuples of ints.
            ValueError: ``out_strategy`` without ``in_strategy``.
        """
        strategies = {"in_strategy": in_strategy, "out_strategy": out_strategy}
        for name, strategy in strategies.items():
            for part in check_type(strategy, tuple | None, "Primitive.shard", name) or ():
                if not isinstance(part, tuple) or not all(type(count) is int for count in part):
                    raise TypeError(
                        f"For 'Primitive.shard', '{name}' must be a tuple of tuples of ints, but got {strategy}"
                    )
        if in_strategy is None and out_strategy is not None:
            raise ValueError(f"For 'Primitive.shard', 'out_strategy' {out_strategy} needs an 'in_strategy' beside it")
        for name, strategy in strategies.items():
            if strategy is not None:
                self.add_prim_attr(name, strategy)
        _tell_ignored("Primitive.shard")
        return self

    def place(self, role: str, rank_id: int) -> None:
        """Store which process would compute it, as ``ms_role`` and ``rank_id``; warn once that it has no effect.

        Args:
            role: "MS_WORKER".
            rank_id: the number of the process.

        Raises:
            ValueError: an unknown role, or ``rank_id`` is negative.
            TypeError: ``rank_id`` is not an int.
        """
        if role != "MS_WORKER":
            raise ValueError(f"For 'Primitive.place', 'role' must be 'MS_WORKER', but got {role!r}")
        check_not_negative(check_int(rank_id, "Primitive.place", "rank_id"), "Primitive.place", "rank_id")
        self.add_prim_attr("ms_role", role)
        self.add_prim_attr("rank_id", rank_id)
        _tell_ignored("Primitive.place")

    def check_elim(self, *args: object) -> tuple[bool, None]:
        """Return whether a graph compiler could remove the operator; a user's own subclass may override it.

        Args:
            *args: its inputs.

        Returns:
            False, and None instead of its result.
        """
        return False, None

    def add_prim_attr(self, name: str, value: object) -> Primitive:
        """Set an attribute of this primitive.

        Args:
            name: of the attribute.
            value: anything.

        Returns:
            The primitive itself.

        Raises:
            TypeError: ``name`` is not a str.
        """
        self.__dict__[check_type(name, str, self.name, "name")] = value
        self.attrs[name] = value
        return self

    def recompute(self, mode: bool = True) -> Primitive:
        """Set the attribute ``recompute``, which a graph compiler reads, and warn. Use that of a Cell instead.

        Args:
            mode: the value.

        Returns:
            The primitive itself.

        Raises:
            TypeError: ``mode`` is not a bool.
        """
        check_type(mode, bool, self.name, "mode")
        warnings.warn(
            "'Primitive.recompute' has no effect here: use Cell.recompute or mindspore.recompute", stacklevel=2
        )
        self.attrs["recompute"] = mode
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Remove an attribute of this primitive, if it exists.

        Args:
            name: of the attribute.

        Returns:
            The primitive itself.
        """
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        return self

    def set_prim_instance_name(self, instance_name: str) -> Primitive:
        """Store a name of this one object, as ``instance_name``.

        Args:
            instance_name: the name.

        Returns:
            The primitive itself.

        Raises:
            TypeError: ``instance_name`` is not a str.
        """
        self.instance_name = check_type(instance_name, str, self.name, "instance_name")
        return self

    def init_prim_io_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Store names of the inputs and the outputs, which a compiler would read; they are also in ``attrs``.

        Args:
            inputs: the names of the inputs, stored as ``input_names``.
            outputs: the names of the outputs, stored as ``output_names``.
        """
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)


PrimitiveWithInfer = PrimitiveWithCheck = Primitive


def _class_of(function: Callable[..., Any], row: PrimitiveRow) -> type[Primitive]:
    name, parameters, _ = row
    required = [key for key, default in parameters if default is _REQUIRED]

    def initialise(self: Primitive, *args: Any, **kwargs: Any) -> None:
        Primitive.__init__(self, *args, **kwargs)
        missing = [key for key in required if self._values[key] is _REQUIRED]
        if missing:
            raise TypeError(f"For '{name}', the arguments {missing} are missing")
        self.attrs.update(types_of(name))

    body = {
        "__doc__": function.__doc__,
        "__module__": __name__,
        "__init__": initialise,
        "name": name,
        "_function": staticmethod(function),
        "_parameters": parameters,
        "_counts": _Counts(function, row),
    }
    return type(name, (Primitive,), body)


def prim_attr_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Decorate the ``__init__`` of a user's own Primitive: its arguments become attributes, then it runs.

    Args:
        fn: the ``__init__``.

    Returns:
        The function to use instead.
    """

    def initialise(self: Primitive, *args: Any, **kwargs: Any) -> None:
        bound = inspect.signature(fn).bind(self, *args, **kwargs)
        bound.apply_defaults()
        Primitive.__init__(self, type(self).__name__)
        for name, value in list(bound.arguments.items())[1:]:
            self.add_prim_attr(name, value)
        fn(self, *args, **kwargs)

    return initialise


prim_arg_register = prim_attr_register

if TYPE_CHECKING:
    from .primitive_types import *
# A class exists once the module that declares it is imported, and each module of this package may declare some.
for _module in walk_packages([str(Path(__file__).parent)], f"{__package__}."):
    import_module(_module.name)
for _function, _declared in PRIMITIVES.values():
    globals()[_declared.name] = _class_of(_function, _declared)
    __all__.append(_declared.name)
_ELSEWHERE = {
    "Custom": "ops.custom",
    "ReduceOp": "mindspore.communication",
    "_primexpr": "mindspore.jit",
    "constexpr": "mindspore.jit",
}
__getattr__ = _on_first_use(__name__, names=_ELSEWHERE)
