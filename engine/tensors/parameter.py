"""Parameter, a tensor that training changes, and ParameterTuple."""

from __future__ import annotations

import copy
import itertools
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..base.argument_checks import check_bool, check_int, check_not_negative, check_type
from ..base.quoting import escape
from ..base.types import Array
from ..tape.hooks import HookHandle
from ..tape.tape import state
from .dtype import int32
from .initializer import Initializer, initializer
from .tensor import Tensor
from .views import rename

__all__ = ["Parameter", "ParameterTuple"]

_GENERATED = "Parameter#"
LONGEST_NAME = 1024
_COPIED = (
    "_comm_fusion",
    "_parallel_optimizer_comm_recompute",
    "_cache_enable",
    "_cache_shape",
    "_key",
    "sliced",
    "unique",
)
_numbers = itertools.count()


def is_generated_name(name: str) -> bool:
    """Return whether a name was generated for a parameter without one."""
    return name.startswith(_GENERATED)


def _setting(name: str, kinds: tuple[type, ...], doc: str) -> property:
    """Return a property that stores a value of one of ``kinds``."""
    key = f"_{name}"
    allowed = " or ".join(kind.__name__ for kind in kinds)

    def get(parameter: Parameter) -> object:
        return parameter.__dict__[key]

    def set_(parameter: Parameter, value: object) -> None:
        if not isinstance(value, kinds):
            raise TypeError(f"For 'Parameter', '{name}' must be a {allowed}, but got {type(value).__name__}")
        parameter.__dict__[key] = value

    return property(get, set_, doc=doc)


class Parameter(Tensor):
    """A Tensor that a Cell owns and an optimizer updates.

    Args:
        default_input: its initial value: a Tensor, an array, a number, a list, or the result of ``initializer``. A bare
            int makes an Int32 Parameter.
        name: its name; a Cell that adopts it without a name gives it the attribute's.
        requires_grad: whether ``trainable_params`` lists it.
        layerwise_parallel: whether each rank keeps its own values at the start of parallel training.
        parallel_optimizer: whether its state may be on a single rank, if ``enable_parallel_optimizer`` is set.
        storage_format: the layout in a device's memory; stored, otherwise unused.
        device: "CPU", "Remote" or None; stored, otherwise unused: the device is that of ``set_device``.

    Raises:
        TypeError: ``requires_grad`` is not a bool, or ``default_input`` holds no numbers.
        ValueError: ``name`` is not a string or is too long, ``default_input`` is a bool, or ``device`` is neither "CPU"
            nor "Remote".
    """

    # Settings that MindSpore's graph compiler or a cluster reads: stored and readable.
    layerwise_parallel = _setting("layerwise_parallel", (bool,), "Whether each rank keeps its own.")
    parallel_optimizer = _setting("parallel_optimizer", (bool,), "Whether its state may be on one rank alone.")
    parallel_optimizer_comm_recompute = _setting(
        "parallel_optimizer_comm_recompute", (bool,), "Whether a cluster gathers it again for the gradient."
    )
    cache_enable = _setting("cache_enable", (bool,), "Whether a parameter server keeps it in a cache.")
    cache_shape = _setting("cache_shape", (tuple, list), "The shape of that cache.")
    key = _setting("key", (int,), "The key a parameter server knows it by; -1 at first.")
    _untracked: tuple[tuple[Array, Array], ...] = ()  # see pause_tracking: values and their replacements
    has_init = False
    """Whether values are not initialized yet: always False."""
    init_mode: Any = None
    """The initializer's tensor of a deferred initialization: None, since values are created at once."""
    inited_param: Parameter | None = None
    """The parameter that replaced this one at initialization: None."""

    def __init__(
        self,
        default_input: Tensor | Array | float | list[Any],
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        if isinstance(default_input, bool):
            raise ValueError("For 'Parameter', 'default_input' must not be a bool; give Tensor(value)")
        allowed, what = Tensor | np.ndarray | int | float | list, "a Tensor, a numpy.ndarray, a number or a list"
        check_type(default_input, allowed, "Parameter", "default_input", what)
        # As in MindSpore, a bare int makes an Int32 parameter, though Tensor(3) is Int64.
        super().__init__(default_input, int32 if type(default_input) is int else None)
        if device not in (None, "CPU", "Remote"):
            raise ValueError(f"For 'Parameter', 'device' must be \"CPU\" or \"Remote\", but got {device!r}")
        self.name = name
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer
        self.storage_format = storage_format
        self.parallel_optimizer_comm_recompute = False
        self.cache_enable = False
        self.cache_shape = []
        self.key = -1
        self.comm_fusion = 1
        self.sliced = False
        self.unique = False  # type: ignore[method-assign, assignment]  # MindSpore's flag hides the method there too
        self.is_init = False
        self.is_in_parallel = False
        self.requires_aggr = True
        self._pipeline_stage_list: list[int] = []
        self._has_optimizer = False
        self._is_drawn = isinstance(default_input, Tensor) and default_input._drawn
        self._as_made = weakref.ref(self._array)

    @property
    def requires_grad(self) -> bool:
        """Whether ``trainable_params`` lists it.

        If it is switched off while a gradient is computed, later uses of the parameter do not contribute to its
        gradient; if it is off at the end, the gradient is zeros.
        """
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        check_bool(value, "Parameter", "requires_grad")
        previous, self._requires_grad = self.__dict__.get("_requires_grad", value), value
        if state.recordings and value != previous:
            if value:
                self.resume_tracking(len(self._untracked) - 1)
            else:
                self.pause_tracking()

    def pause_tracking(self) -> None:
        """Make it a value that open recordings do not follow."""
        tracked_array = self._array
        self._rebind(tracked_array.view())
        self._untracked = (*self._untracked, (tracked_array, self._array))

    def resume_tracking(self, depth: int = 0) -> None:
        """Undo ``pause_tracking``, unless it has been rebound since.

        Args:
            depth: how many calls of it stay in force.
        """
        while len(self._untracked) > max(depth, 0):
            *remaining, (tracked_array, view) = self._untracked
            self._untracked = tuple(remaining)
            if self._array is view:
                self._rebind(tracked_array)

    @property
    def name(self) -> str:
        """The parameter's name; unique within a network."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        if value is not None and not isinstance(value, str):
            raise ValueError(f"For 'Parameter', 'name' must be a str, but got {type(value).__name__}")
        value = (value or "").strip() or f"{_GENERATED}{next(_numbers)}"
        if len(value) > LONGEST_NAME:
            raise ValueError(f"For 'Parameter', 'name' may have {LONGEST_NAME} characters, but got {len(value)}")
        self._name = value
        self.__dict__.pop("_shared_name", None)  # cached by the first call of a cell

    @property
    def param_info(self) -> Parameter:
        """MindSpore's object for name and flags: here, the parameter itself."""
        return self

    @property
    def comm_fusion(self) -> int:
        """Index of the group of gradients that ranks send together: see ``Cell.set_comm_fusion``; 1 by default."""
        return self._comm_fusion

    @comm_fusion.setter
    def comm_fusion(self, value: int) -> None:
        check_int(value, "Parameter", "comm_fusion")
        self._comm_fusion = check_not_negative(value, "Parameter", "comm_fusion")

    def add_pipeline_stage(self, stage: int) -> None:
        """Add a pipeline stage that uses this Parameter.

        Args:
            stage: the number of the stage, from 0 on.

        Raises:
            TypeError: ``stage`` is not an int from 0 on.
        """
        if not isinstance(stage, int) or stage < 0:
            raise TypeError(f"For 'add_pipeline_stage', 'stage' must be an int from 0 on, but got {stage!r}")
        self._pipeline_stage_list.append(stage)

    @property
    def was_trained(self) -> bool:
        """Whether an optimizer held it and its values have changed since it was made."""
        return self._has_optimizer and not self.as_made

    @property
    def as_drawn(self) -> bool:
        """Whether it still holds an initializer's random numbers: nothing was loaded or learned."""
        return self._is_drawn and self.as_made

    @property
    def as_made(self) -> bool:
        """Whether it still holds the values that it was made with: nothing was written, loaded or learned."""
        return self._as_made() is self._array

    def __repr__(self) -> str:
        return (
            f"Parameter (name={escape(self.name)}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    @property
    def data(self) -> Tensor:
        """The values, as a separate tensor: gradients do not pass. Assignment is ``set_data``."""
        return Tensor._wrap(self._array.view())

    @data.setter
    def data(self, value: Tensor) -> None:
        self.set_data(value)

    def value(self) -> Tensor:
        """Return the values as a Tensor that follows this Parameter's gradient.

        Returns:
            a Tensor of its shape and dtype.
        """
        return Tensor._wrap(self._array)

    @np.errstate(all="ignore")
    def set_data(self, data: Tensor | float, slice_shape: bool = False) -> Parameter:
        """Set new values, cast to this Parameter's dtype; as in MindSpore the shape may change.

        Args:
            data: a Tensor or a number.
            slice_shape: whether the values are a slice of a Parameter that is distributed over devices; kept as
                ``sliced``.

        Returns:
            this Parameter.

        Raises:
            TypeError: ``data`` is not a Tensor or a number, or is a Python float for an integer Parameter.
        """
        check_type(data, Tensor | int | float, "Parameter.set_data", "data", "a Tensor, an int or a float")
        if isinstance(data, float) and self._array.dtype.kind in "biu":
            raise TypeError(
                f"For 'Parameter.set_data', '{escape(self.name)}' is {self.dtype}, but 'data' is the float {data}"
            )
        previous, new = self._array, data._array if isinstance(data, Tensor) else Tensor(data)._array
        self._rebind(new.view() if new.dtype == previous.dtype else new.astype(previous.dtype))
        if state.recordings and previous.shape == new.shape:
            rename(self, previous)  # gradients are still those of the parameter, whatever its values are, as in 2.10
        self.sliced = slice_shape
        return self

    def init_data(self, layout: object = None, set_sliced: bool = False) -> Parameter:  # type: ignore[override]
        """Return this Parameter; its values are created in its constructor.

        Args:
            layout: its distribution over devices; ignored, there is only one.
            set_sliced: likewise ignored.

        Returns:
            this Parameter.
        """
        return self

    def register_hook(self, hook_fn: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Call a function in the backward pass when the complete gradient of this parameter is known.

        Args:
            hook_fn: called as ``hook_fn(gradient)``; a Tensor that it returns replaces the gradient, None keeps it.

        Returns:
            a HookHandle, whose ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook_fn`` cannot be called with one argument.
            RuntimeError: ``requires_grad`` is False, so that there would be no gradient; in the backward pass: the hook
                returned something else.
        """
        if not self.requires_grad:
            raise RuntimeError(
                f"For 'Parameter.register_hook', '{escape(self.name)}' must have 'requires_grad' True: otherwise it "
                "gets no gradient"
            )
        return super().register_hook(hook_fn)

    def clone(self, init: Initializer | str | float | Tensor = "same") -> Parameter:
        """Return a Parameter of the same name and flags with separate values.

        Args:
            init: "same" for a copy of these values; otherwise an argument of ``initializer``: an Initializer, its name,
                a number or a Tensor.

        Returns:
            the new Parameter.

        Raises:
            ValueError: ``init`` is an unknown name, or a Tensor of the wrong shape.
            TypeError: ``init`` is none of these.
        """
        values = self.data if isinstance(init, str) and init == "same" else initializer(init, self.shape, self.dtype)
        cloned = Parameter(values, self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer)
        cloned._array = cloned._array.copy()
        cloned.__dict__.update((name, self.__dict__[name]) for name in _COPIED)
        return cloned

    def copy(self) -> Parameter:
        """Return a Parameter of the same name and flags with a copy of the values.

        Returns:
            the new Parameter.
        """
        return self.clone()

    def __copy__(self) -> Parameter:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        cloned = self.clone()
        memo[id(self)] = cloned
        return cloned

    def __reduce__(self) -> tuple[Any, ...]:
        settings = self.requires_grad, self.layerwise_parallel, self.parallel_optimizer
        return Parameter, (Tensor(self), self.name, *settings)


class _BufferKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class _Buffer(Tensor, metaclass=_BufferKind):
    """A Tensor that becomes a buffer of the cell that it is assigned to, as by ``register_buffer``.

    The result is a plain Tensor of the same values, which ``isinstance`` identifies as a buffer.

    Args:
        data: the values; gradients do not pass.
        persistent: whether ``state_dict`` holds it.

    Raises:
        ValueError: ``data`` is None.
        TypeError: it is not a Tensor.
    """

    persistent: bool

    def __new__(cls, data: Tensor, *, persistent: bool = True) -> Tensor:  # type: ignore[misc]  # as MindSpore's
        if data is None:
            raise ValueError("For '_Buffer', 'data' must be a Tensor, but got None")
        buffer: Any = Tensor._wrap(check_type(data, Tensor, "_Buffer", "data")._array.view())
        buffer._is_buffer, buffer.persistent = True, persistent
        return buffer


class ParameterTuple(tuple[Parameter, ...]):
    """A tuple of Parameters.

    Args:
        iterable: the Parameters.

    Raises:
        TypeError: an entry is not a Parameter.
        ValueError: two Parameters have the same name; the same one twice is allowed.
    """

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        parameters = tuple(iterable)
        for index, entry in enumerate(parameters):
            if not isinstance(entry, Parameter):
                raise TypeError(
                    f"For 'ParameterTuple', every entry must be a Parameter, "
                    f"but entry {index} is {type(entry).__name__}"
                )
        by_name: dict[str, Parameter] = {}
        for entry in parameters:
            if by_name.setdefault(entry.name, entry) is not entry:
                name = escape(entry.name)
                raise ValueError(f"For 'ParameterTuple', two parameters are named '{name}': names must differ")
        return super().__new__(cls, parameters)

    def clone(self, prefix: str, init: Initializer | str | float | Tensor = "same") -> ParameterTuple:
        """Return new Parameters named ``prefix.name``, such as an optimizer's state.

        Args:
            prefix: the text before each name: letters, digits, dots and underscores.
            init: "same" for copies of the values; otherwise an argument of ``initializer``.

        Returns:
            a new ParameterTuple.

        Raises:
            TypeError: ``prefix`` is not a str.
            ValueError: it has characters that are not allowed.
        """
        check_type(prefix, str, "ParameterTuple.clone", "prefix")
        if not re.fullmatch(r"\w[\w.]*", prefix, re.ASCII):
            raise ValueError(
                "For 'ParameterTuple.clone', 'prefix' must be letters, digits, dots and underscores, "
                f"but got {prefix!r}"
            )
        cloned = []
        for parameter in self:
            copied = copy.copy(parameter) if isinstance(init, str) and init == "same" else parameter.clone(init)
            copied.name = f"{prefix}.{parameter.name}"
            cloned.append(copied)
        return ParameterTuple(cloned)
