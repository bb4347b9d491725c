"""State of a cell: buffers, ``state_dict`` and ``load_state_dict`` with their hooks, and the device of its values."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..base.argument_checks import check_type
from ..base.nearest_name import did_you_mean
from ..base.types import Array
from ..cpu.array_module import array_module
from ..tape.hooks import HookHandle, check_arity, wrong_return
from ..tensors import backend
from ..tensors.dtype import DType
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from .members import CellBase

if TYPE_CHECKING:
    from .cell import Cell

__all__ = ["CellState", "register_cell_buffer_registration_hook"]

STATE_HOOK_KINDS = ("state_dict_pre", "state_dict_post", "load_pre", "load_post")
_EXTRA = "_extra_state"
_buffer_registration_hooks: dict[int, Callable[..., Any]] = {}


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """Result of ``load_state_dict``: the missing keys, and the unknown ones."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


def register_cell_buffer_registration_hook(hook: Callable[..., Any]) -> HookHandle:
    """Call ``hook(cell, name, buffer)`` at every ``register_buffer`` of every cell, before the buffer is added.

    Args:
        hook: gets the cell, the buffer's name and the Tensor or None; its result replaces the buffer, None
            keeps it.

    Returns:
        A handle; its ``remove()`` removes the hook.

    Raises:
        TypeError: ``hook`` cannot be called with these arguments.
    """
    check_arity(hook, 3, "register_cell_buffer_registration_hook", "hook(cell, name, buffer)")
    return HookHandle(_buffer_registration_hooks, hook)


class CellState(CellBase):
    """The part of ``Cell`` that saves, loads and moves its state."""

    # Buffers

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that belongs to the cell's state but is not a parameter; it is an attribute of the cell.

        Args:
            name: the attribute's name, without dots.
            tensor: its values; None reserves the name for a buffer without values.
            persistent: whether ``state_dict`` includes it.

        Raises:
            AttributeError: before ``super().__init__()``.
            TypeError: ``name`` is not a str or ``tensor`` is not a Tensor.
            KeyError: the name is empty, holds a dot, or is used by something that is not a buffer.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("For 'register_buffer', call super().__init__() before a buffer is registered")
        check_type(name, str, "register_buffer", "name")
        if not name or "." in name:
            raise KeyError(f"For 'register_buffer', 'name' must not be empty or hold a dot, but got {name!r}")
        if name not in self._buffers and (name in self.__dict__ or hasattr(type(self), name)):
            raise KeyError(f"For 'register_buffer', the name '{name}' is taken")
        check_type(tensor, Tensor | None, "register_buffer", "tensor", "a Tensor")
        for hook in tuple(_buffer_registration_hooks.values()):
            returned = hook(self, name, tensor)
            tensor = tensor if returned is None else returned
        self._buffers[name] = tensor  # type: ignore[assignment]  # None is a buffer without values
        (self._unsaved_buffers.discard if persistent else self._unsaved_buffers.add)(name)

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a dotted path.

        Args:
            target: the cell's path and the buffer's name, joined by dots.

        Returns:
            The Tensor, or None for a buffer without values.

        Raises:
            AttributeError: there is no such buffer; the text names similar paths.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            raise AttributeError(
                f"'{type(cell).__name__}' has no buffer '{name}' (in '{target}')"
                + did_you_mean(target, [buffer_path for buffer_path, _ in self.named_buffers()])
            )
        return cell._buffers[name]

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Return buffers with their dotted paths, own ones before the children's; without those that have no values.

        Args:
            prefix: prefix of all paths, followed by a dot; "" for none.
            recurse: whether to include the cells below.
            remove_duplicate: whether a tensor that is registered twice is returned once.

        Returns:
            An iterator over pairs (path, Tensor).

        Raises:
            TypeError: ``prefix`` is not a str.
        """
        check_type(prefix, str | None, "Cell.named_buffers", "prefix")
        cells = self.cells_and_names(name_prefix=prefix) if recurse else iter([(prefix or "", self)])
        return self._buffers_of(cells, remove_duplicate)

    def _buffers_of(self, cells: Iterable[tuple[str, Any]], remove_duplicate: bool) -> Iterator[tuple[str, Tensor]]:
        ids: set[int] = set()
        for path, cell in cells:
            for name, buffer in cell._buffers.items():
                if buffer is None or (remove_duplicate and id(buffer) in ids):
                    continue
                ids.add(id(buffer))
                yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Return the buffers of this cell, then of its children; each once.

        Args:
            recurse: whether to include the cells below.

        Returns:
            An iterator over Tensors.
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # Saving

    def get_extra_state(self) -> Any:
        """Return state other than parameters and buffers for ``state_dict``; subclasses with such state define it.

        Returns:
            Any value; its key in ``state_dict`` is "_extra_state".

        Raises:
            RuntimeError: the subclass does not define it.
        """
        raise RuntimeError(f"'{type(self).__name__}' defines no 'get_extra_state'")

    def set_extra_state(self, state: Any) -> None:
        """Restore the state of ``get_extra_state``; subclasses with such state define it.

        Args:
            state: the value of "_extra_state" for ``load_state_dict``.

        Raises:
            RuntimeError: the subclass does not define it.
        """
        raise RuntimeError(f"'{type(self).__name__}' defines no 'set_extra_state'")

    def state_dict(
        self, *args: Any, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return parameters and persistent buffers of this cell and all below, not copied, by dotted paths.

        Args:
            *args: ``destination``, ``prefix`` and ``keep_vars`` by position, which is deprecated and warns.
            destination: the dictionary to fill; None for a new OrderedDict.
            prefix: prefix of every key, without an added dot.
            keep_vars: without effect; the hooks get it.

        Returns:
            The dictionary.

        Raises:
            TypeError: an argument of the wrong type.
            RuntimeError: a post hook did not return None.
        """
        if args:
            import warnings

            warnings.warn("pass 'destination', 'prefix' and 'keep_vars' by name", FutureWarning, stacklevel=2)
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        for name, value, expected in (
            ("destination", {} if destination is None else destination, dict),
            ("prefix", prefix, str),
            ("keep_vars", keep_vars, bool),
        ):
            check_type(value, expected, "state_dict", name)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]  # as in MindSpore, for readers
        local_metadata: dict[str, Any] = {}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in tuple(self._state_hooks["state_dict_pre"].values()):
            hook(self, prefix, keep_vars)
        for path, tensor in self._local_state().items():
            destination[prefix + path] = tensor
        if type(self).get_extra_state is not CellState.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()
        for name, cell in self._cells.items():
            if cell is not None:
                cell.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in tuple(self._state_hooks["state_dict_post"].values()):
            returned = hook(self, destination, prefix, local_metadata)
            if returned is not None:
                allowed = "None (it changes the dictionary in place)"
                raise RuntimeError(wrong_return("a state_dict post hook", allowed, type(returned).__name__))
        return destination

    def _local_state(self) -> dict[str, Tensor]:
        tensors: dict[str, Tensor] = {name: p for name, p in self._params.items() if p is not None}
        tensors.update(
            (name, b) for name, b in self._buffers.items() if b is not None and name not in self._unsaved_buffers
        )
        return tensors

    # Loading

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> _IncompatibleKeys:
        """Copy values into the parameters and buffers of the same paths, cast to their dtypes.

        Args:
            state_dict: values by dotted path, as from ``state_dict``.
            strict: whether missing and unknown keys are errors; matching values are loaded even so.

        Returns:
            A named tuple ``(missing_keys, unexpected_keys)`` of lists.

        Raises:
            TypeError: ``state_dict`` is not a mapping.
            RuntimeError: keys do not match (with ``strict``), a value has the wrong shape or is not a tensor (always),
                or a post hook did not return None.
        """
        check_type(state_dict, Mapping, "load_state_dict", "state_dict", "a mapping")
        metadata = getattr(state_dict, "_metadata", None)
        remaining = OrderedDict(state_dict)
        if metadata is not None:
            remaining._metadata = metadata  # type: ignore[attr-defined]
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        self._load(remaining, "", metadata, keys, errors)
        if strict:
            for which, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys.missing_keys)):
                if names:
                    errors.insert(0, f"{which} key(s) in state_dict: " + ", ".join(f'"{name}"' for name in names))
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return keys

    def _load(
        self,
        values: Mapping[str, Any],
        prefix: str,
        metadata: Mapping[str, Any] | None,
        keys: _IncompatibleKeys,
        errors: list[str],
    ) -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        self._load_from_state_dict(
            values, prefix, local_metadata, True, keys.missing_keys, keys.unexpected_keys, errors
        )
        for name, cell in self._cells.items():
            if cell is not None:
                below = f"{prefix}{name}."
                part = OrderedDict((key, value) for key, value in values.items() if key.startswith(below))
                cell._load(part, below, metadata, keys, errors)
        for hook in tuple(self._state_hooks["load_post"].values()):
            returned = hook(self, keys)
            if returned is not None:
                allowed = "None (it changes the lists in place)"
                raise RuntimeError(wrong_return("a load_state_dict post hook", allowed, type(returned).__name__))

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this cell's own state; a subclass with its own format may override it."""
        for hook in tuple(self._state_hooks["load_pre"].values()):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own_state = self._local_state()
        for name, target in own_state.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
                continue
            value = state_dict[key]
            if not isinstance(value, Tensor):
                error_msgs.append(f'"{key}" must be a Tensor, but got {type(value).__name__}')
            elif value.shape != target.shape:
                error_msgs.append(f'"{key}" has shape {value.shape}, but the cell expects {target.shape}')
            else:
                target.assign_value(value)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not CellState.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            else:
                missing_keys.append(extra)
        elif extra in state_dict:
            unexpected_keys.append(extra)
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._cells if dot else own_state):
                    unexpected_keys.append(key)

    # Hooks on saving and loading

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, prefix, keep_vars)`` before this cell's part of ``state_dict``.

        Args:
            hook: gets the cell, the prefix of its keys, and the argument; its result is ignored.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook`` cannot be called with these arguments.
        """
        check_arity(hook, 3, "register_state_dict_pre_hook", "hook(cell, prefix, keep_vars)")
        return HookHandle(self._state_hooks["state_dict_pre"], hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, state_dict, prefix, local_metadata)`` after this cell's part of ``state_dict``.

        Args:
            hook: gets the cell, the dictionary, which it may change in place, the prefix of the cell's keys, and a
                dictionary that is kept in the ``_metadata`` of the result. It returns None; ``state_dict`` raises
                RuntimeError otherwise.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook`` cannot be called with these arguments.
        """
        check_arity(hook, 4, "register_state_dict_post_hook", "hook(cell, state_dict, prefix, local_metadata)")
        return HookHandle(self._state_hooks["state_dict_post"], hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call a hook before this cell's part of a state is loaded.

        It is called as ``hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)``.

        Args:
            hook: gets the cell, the cell's part of the state, the prefix of its keys, the cell's metadata, True, and
                the lists of errors so far. It may change the dictionary and the lists in place; its result
                is ignored.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook`` cannot be called with these arguments.
        """
        expected = "hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)"
        check_arity(hook, 8, "register_load_state_dict_pre_hook", expected)
        return HookHandle(self._state_hooks["load_pre"], hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call ``hook(cell, incompatible_keys)`` after this cell's part of a state and those below were loaded.

        Args:
            hook: gets the cell and the named tuple ``(missing_keys, unexpected_keys)``, whose lists it may change in
                place before ``load_state_dict`` checks them. It returns None; ``load_state_dict`` raises RuntimeError
                otherwise.

        Returns:
            A handle; its ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook`` cannot be called with these arguments.
        """
        check_arity(hook, 2, "register_load_state_dict_post_hook", "hook(cell, incompatible_keys)")
        return HookHandle(self._state_hooks["load_post"], hook)

    # Device and dtype of the values

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """Return the parameters: values are created at once, so none is left to initialize.

        Args:
            auto_parallel_mode: accepted, without effect.

        Returns:
            A dictionary from the old parameters to the new ones: each to itself.
        """
        return {parameter: parameter.init_data() for parameter in self.get_parameters()}

    def to(self, *args: Any, **kwargs: Any) -> Cell:
        """Move or cast parameters and buffers: ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(tensor)``.

        Parameters stay the same objects; only floating and complex ones change their dtype.

        Args:
            *args: the device, "CPU" or "GPU"; the dtype, floating or complex; or a Tensor with the device and dtype;
                then ``non_blocking``, a bool without effect.
            **kwargs: ``device``, ``dtype`` and ``non_blocking`` by name.

        Returns:
            This cell.

        Raises:
            TypeError: other arguments, or a dtype that is neither floating nor complex.
            ValueError: an unknown device.
            RuntimeError: "GPU" without a GPU; the text says why.
        """
        device, dtype = _target(args, kwargs)

        def moved(tensor: Tensor) -> Array:
            array = tensor._array
            if dtype is not None and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
                array = array.astype(dtype.numpy)
            if device is not None:
                array = backend.moved(array, device, "Cell.to")
            return array

        return self._change(moved)

    def to_empty(self, *, device: str | None = None, recurse: bool = True) -> Cell:
        """Replace parameters and buffers by uninitialized values of the same shapes: zeros here.

        Args:
            device: "CPU" or "GPU", their new device; None keeps each on its own.
            recurse: whether to include the cells below.

        Returns:
            This cell.

        Raises:
            ValueError: an unknown device.
            RuntimeError: "GPU" without a GPU; the text says why.
        """
        target = _device(device)

        def empty(tensor: Tensor) -> Array:
            zeros = array_module(tensor._array).zeros(tensor.shape, tensor._array.dtype)
            return zeros if target is None else backend.moved(zeros, target, "Cell.to_empty")

        return self._change(empty, recurse)

    def _change(self, made: Callable[[Tensor], Any], recurse: bool = True) -> Cell:
        tensors: list[Tensor] = [*self.get_parameters(expand=recurse), *self.buffers(recurse)]
        for tensor in tensors:
            tensor._rebind(made(tensor))
        return self  # type: ignore[return-value]  # every CellState is a Cell

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """Return the parameters by name that are not ``layerwise_parallel``.

        Args:
            recurse: whether to include the cells below.

        Returns:
            An OrderedDict, or None if there are none.
        """
        parameters = OrderedDict((p.name, p) for p in self.get_parameters(expand=recurse) if not p.layerwise_parallel)
        return parameters or None


def _target(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str | None, DType | None]:
    """Return device and dtype from the forms of arguments of ``Cell.to``."""
    remaining = list(args)
    settings: dict[str, Any] = {"device": None, "dtype": None, "non_blocking": False}
    if remaining and isinstance(remaining[0], Tensor):
        like = remaining.pop(0)
        settings["device"], settings["dtype"] = like.device.partition(":")[0], like.dtype
    elif remaining and isinstance(remaining[0], DType):
        settings["dtype"] = remaining.pop(0)
    elif remaining and (remaining[0] is None or isinstance(remaining[0], str)):
        settings["device"] = remaining.pop(0)
        if remaining and (remaining[0] is None or isinstance(remaining[0], DType)):
            settings["dtype"] = remaining.pop(0)
    if remaining and isinstance(remaining[0], bool):
        settings["non_blocking"] = remaining.pop(0)
    unknown = set(kwargs) - set(settings)
    settings.update(kwargs)
    dtype = settings["dtype"]
    if remaining or unknown or not (dtype is None or isinstance(dtype, DType)):
        what = ", ".join([*(type(a).__name__ for a in args), *(f"{k}={v!r}" for k, v in kwargs.items())])
        raise TypeError(f"For 'Cell.to', give device (a str), dtype (as mindspore.float16) or both, but got {what}")
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"For 'Cell.to', 'dtype' must be floating or complex, but got {dtype}")
    return _device(settings["device"]), dtype


def _device(name: str | None) -> str | None:
    if name is None:
        return None
    kind = str(name).partition(":")[0].upper()
    if kind not in ("CPU", "GPU"):
        raise ValueError(f"For 'Cell.to', 'device' must be \"CPU\" or \"GPU\", but got {name!r}")
    return kind
