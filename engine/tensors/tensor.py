"""Tensor: an array with MindSpore's interface.

The array is never modified in place while anything else holds it: ``tensor[0] = 1`` and the like rebind or copy first.
So a reference to an array is a value, and a debugger captures it correctly without a copy.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.argument_checks import check_int
from ..base.float_warnings import restore, silence
from ..base.types import Array, DTypeLike, Ints, Number, TensorLike
from ..tape import taps
from ..tape.hooks import HookHandle, check_arity, wrong_return
from ..tape.tape import state
from . import backend
from .dtype import DType, Type, bfloat16, default_dtype_of, dtype_of, numpy_dtype, pytype_to_dtype, wrapped
from .printing import tensor_repr, tensor_str

__all__ = ["Tensor", "get_py_obj_dtype", "swap_tensors", "tensor"]

if TYPE_CHECKING:
    from .initializer import Initializer
    from .method_types import TensorMethods  # bound by methods.py
    from .views import View
else:
    TensorMethods = object

_new = object.__new__  # looked up once: it creates the result of every operator


class Tensor(TensorMethods):
    """An n-dimensional array of one dtype.

    Args:
        input_data: a Tensor, a NumPy array, a Python number, or a list or tuple of them, nested like the axes.
        dtype: the element type; by default that of ``input_data``, for Python floats Float32 and for ints Int64.
        shape: the shape that ``init`` fills; without ``init`` and ``input_data``, that of a Tensor of zeros. None, or a
            length that is None, -1 or a Symbol, makes a placeholder: a Tensor without values, for ``Cell.set_inputs``.
        init: an Initializer, its name or a number that fills ``shape`` with ``dtype``.
        const_arg: a flag for a graph compiler; accepted and ignored.
        device: its device: new Tensors are on the device of ``set_device``, any other raises.

    Raises:
        TypeError: ``input_data`` is missing or cannot be a tensor's elements, or ``shape`` is not a shape.
        ValueError: ``init`` without ``shape`` and ``dtype``, ``shape`` without ``dtype`` or beside ``input_data``, a
            negative length, or an unsupported ``device``.
    """

    __slots__ = ("__dict__", "__weakref__", "_array")
    has_init = False
    _drawn = False  # whether its values are an initializer's random numbers
    init = None
    _of_parameter = False  # whether it is vmap's slice of a Parameter, which operators modify in place
    _gradient_hooks: dict[int, Callable[..., Any]] | None = None
    _view: View | None = None
    _layout: Any = None
    """Layout of a tensor that is not row-major though it is not a view, the result of ``views.layout_of``."""
    _views: list[weakref.ref[Tensor]] | None = None
    _array: Any

    def __init__(
        self,
        input_data: TensorLike | np.generic | None = None,
        dtype: DTypeLike | None = None,
        shape: Ints | Sequence[int | None] | None = None,
        init: Initializer | str | float | Tensor | None = None,
        const_arg: bool = False,
        device: str | None = None,
    ) -> None:
        if device is not None and str(device).partition(":")[0] != backend.device_target():
            raise ValueError(
                f"For 'Tensor', 'device' must be '{backend.device_target()}', the device of new tensors, "
                f"but got {device!r}; Tensor.move_to() copies to a different device"
            )
        if init is not None:
            if shape is None or dtype is None:
                raise ValueError("For 'Tensor', 'init' needs 'shape' and 'dtype' beside it")
            from .initializer import first_values, initializer

            lengths = _lengths(shape)
            make = first_values if 0 in lengths and not isinstance(init, Tensor) else initializer
            input_data = make(init, lengths, dtype)
            self.has_init = True
        elif input_data is None and (dtype is not None or shape is not None):
            from .placeholder import become_placeholder, is_open

            if dtype is None:
                raise ValueError("For 'Tensor', 'dtype' must be given beside 'shape'")
            if shape is None or (not isinstance(shape, int) and is_open(shape)):
                become_placeholder(self, shape, dtype)
                return
            input_data = np.zeros(_lengths(shape), numpy_dtype(dtype))
        elif shape is not None:
            raise ValueError(f"For 'Tensor', 'shape' excludes 'input_data', which has a shape, but got {shape}")
        elif input_data is None:
            raise TypeError("For 'Tensor', 'input_data' is missing: give data, or 'init' with 'shape' and 'dtype'")
        float_state = silence()
        try:
            self._array = _array_from(input_data, dtype)
        finally:
            restore(float_state)
        if state.tracer is not None and not isinstance(input_data, Tensor):
            self._array = state.tracer.constant(self._array)
        self.const_arg = const_arg
        if isinstance(input_data, Tensor) and type(self) is Tensor and self._array.dtype == input_data._array.dtype:
            from .views import link, stop_gradient_operator

            link(input_data, self, stop_gradient_operator, {})

    @staticmethod
    def _wrap(array: Array) -> Tensor:
        """Return a tensor of the array itself: no copy, no check."""
        tensor = _new(Tensor)
        tensor._array = array
        return tensor

    @staticmethod
    def from_numpy(array: Array) -> Tensor:
        """Return a Tensor of a NumPy array's values; later writes to the array do not affect it.

        Args:
            array: a ``numpy.ndarray`` of numbers or bools.

        Returns:
            a Tensor of its shape and dtype.

        Raises:
            TypeError: ``array`` is not a ``numpy.ndarray``, or holds something else.
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"For 'from_numpy', 'array' must be a numpy.ndarray, but got {type(array).__name__}")
        return Tensor(array)

    # Properties

    def __hash__(self) -> int:
        if state.tracer is not None:
            state.tracer.hashes(self)
        return object.__hash__(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis; ``()`` for a single number."""
        return self._array.shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return dtype_of(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._array.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis; see ``stride``."""
        return tuple([step * self.itemsize for step in self._steps()])

    @property
    def device(self) -> str:
        """The device of the elements: "CPU", or "GPU:" and its number."""
        return "CPU" if isinstance(self._array, np.ndarray) else f"GPU:{self._array.device.id}"

    @property
    def data(self) -> Tensor:
        """Another tensor of the same elements: writing to one changes the other, but gradients do not pass."""
        from .views import alias_of

        return alias_of(self)

    def dim(self) -> int:
        """Return the number of axes.

        Returns:
            an int.
        """
        return self.ndim

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements.

        Returns:
            an int.
        """
        return self.size

    nelement = numel

    def element_size(self) -> int:
        """Return the number of bytes of one element.

        Returns:
            an int.
        """
        return self.itemsize

    def is_signed(self) -> bool:
        """Return whether the dtype has negative numbers.

        Returns:
            False for Bool and the unsigned integers, else True.
        """
        return self._array.dtype.kind not in "bu"

    def is_contiguous(self) -> bool:
        """Return whether the elements are contiguous in row-major order, as in every tensor but a view.

        Returns:
            a bool.
        """
        if self._view is None and self._layout is None:
            return True
        from .views import layout_of

        return bool(layout_of(self).flags.c_contiguous)

    def stride(self, dim: int | None = None) -> int | list[int]:
        """Return the distance in elements between neighbors along each axis.

        A computed tensor is row-major; the elements of a view are those of its root.

        Args:
            dim: an axis; None for all.

        Returns:
            an int, or a list of an int for each axis.

        Raises:
            IndexError: ``dim`` is out of range.
        """
        steps = self._steps()
        return list(steps) if dim is None else steps[dim]

    def _steps(self) -> tuple[int, ...]:
        from .views import layout_of

        return layout_of(self).strides

    def storage_offset(self) -> int:
        """Return the number of elements before the first one in the memory that this Tensor is a view of.

        Returns:
            an int; 0 for a Tensor that owns its memory.
        """
        from .views import layout_of

        part = memory = layout_of(self)
        while type(memory.base) is np.ndarray:
            memory = memory.base
        return part.ctypes.data - memory.ctypes.data

    def data_ptr(self) -> int:
        """Return the address of the first element, in the memory of the device.

        Returns:
            an int.
        """
        return int(self._array.ctypes.data if isinstance(self._array, np.ndarray) else self._array.data.ptr)

    @property
    def is_meta(self) -> bool:
        """Whether it has a shape but no values: always False."""
        return False

    def is_pinned(self) -> bool:
        """Return whether the elements are in pinned memory of the host: always False.

        Returns:
            False.
        """
        return False

    def is_shared(self) -> bool:
        """Return whether the elements are shared with other processes: always False.

        Returns:
            False.
        """
        return False

    # To Python and NumPy

    def get_bytes(self) -> bytes:
        """Return the elements' bytes, in row-major order.

        Returns:
            the bytes, which ``convert_bytes_to_tensor`` takes.
        """
        return bytes(backend.to_host(self._array).tobytes())

    @staticmethod
    def convert_bytes_to_tensor(bytes_data: bytes, shape: Sequence[int], dtype: DTypeLike) -> Tensor:
        """Return a Tensor of its elements' bytes, in row-major order.

        Args:
            bytes_data: the bytes.
            shape: the Tensor's shape.
            dtype: its dtype.

        Returns:
            the Tensor.

        Raises:
            TypeError: ``bytes_data`` is not a bytes object.
            ValueError: there are more or fewer bytes than such a Tensor has.
        """
        caller = "convert_bytes_to_tensor"
        if not isinstance(bytes_data, bytes):
            raise TypeError(f"For '{caller}', 'bytes_data' must be bytes, but got {type(bytes_data).__name__}")
        lengths, kind = _lengths(shape), numpy_dtype(dtype)
        if len(bytes_data) != math.prod(lengths) * kind.itemsize:
            raise ValueError(
                f"For '{caller}', 'bytes_data' must be {math.prod(lengths) * kind.itemsize} bytes, but got "
                f"{len(bytes_data)}"
            )
        return Tensor(np.frombuffer(bytes_data, kind).reshape(lengths))

    def asnumpy(self) -> np.ndarray[Any, Any]:
        """Return the values as a new NumPy array: writing to it does not change the Tensor.

        Returns:
            a ``numpy.ndarray`` of the same shape and dtype, on the CPU.
        """
        if state.recordings and taps.reading_taps:
            taps.notify_reading(self)
        host = backend.to_host(self._array)
        return np.array(host) if host is self._array else host

    numpy = asnumpy

    def item(self, index: int | tuple[int, ...] | None = None) -> Any:
        """Return the only element, or that at ``index``, as a Python number.

        Args:
            index: an int is an index of the flattened elements, a tuple has an int for each axis; None is for the only
                element.

        Returns:
            a bool, int, float or complex.

        Raises:
            ValueError: without ``index`` on a Tensor of more or less than one element.
            IndexError: ``index`` is out of range.
        """
        if state.recordings and taps.reading_taps:
            taps.notify_reading(self)
        host = backend.to_host(self._array)
        if index is not None:
            return host.item(index)
        if host.size != 1:
            raise ValueError(f"For 'Tensor.item', the tensor must have one element, but its shape is {self.shape}")
        return host.item()

    def tolist(self) -> Any:
        """Return the values as nested Python lists; for a Tensor without axes a bare number.

        Returns:
            lists of bool, int, float or complex, nested like the axes.
        """
        if state.recordings and taps.reading_taps:
            taps.notify_reading(self)
        return backend.to_host(self._array).tolist()

    def __array__(self, dtype: np.dtype[Any] | type | str | None = None, copy: bool | None = None) -> Array:
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype)

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"The truth value of a tensor of shape {self.shape} is ambiguous: it needs exactly one element"
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._single_element("int"))

    def __float__(self) -> float:
        return float(self._single_element("float"))

    def __complex__(self) -> complex:
        return complex(self._single_element("complex"))

    def __index__(self) -> int:
        if self._array.dtype.kind not in "iub":
            raise TypeError(f"only integer tensors can be an index, not {self.dtype}")
        return int(self._single_element("index"))

    def _single_element(self, description: str) -> Any:
        if self.size != 1:
            raise ValueError(f"only a tensor of one element can become {description}, but the shape is {self.shape}")
        return self.item()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __contains__(self, value: object) -> bool:
        """Return whether any element equals a number, or the corresponding element of a Tensor."""
        return isinstance(value, Tensor | bool | int | float | complex | np.generic) and bool((self == value).any())

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return tensor_repr(self._array, self.dtype)

    def __str__(self) -> str:
        return tensor_str(self._array)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __copy__(self) -> Tensor:
        return Tensor._wrap(self._array.view())

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        copied = self.copy()  # the gradient passes, as in MindSpore
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self.asnumpy(), self.dtype)

    # In place: rebinding, never writing into an array that anything else may hold

    def _rebind(self, array: Any, by_user: bool = False) -> None:
        """Rebind it to another array; taps observe the updates of its views only if a user's line wrote to it."""
        if state.tracer is not None:
            state.tracer.rebinds(self)
        self._array = array
        if self._view is not None or self._views is not None:
            from .views import propagate_values

            propagate_values(self, by_user)

    @np.errstate(all="ignore")
    def assign_value(self, value: TensorLike) -> Tensor:
        """Set the values to those of ``value``, cast to this Tensor's dtype; the shape may change.

        Args:
            value: a Tensor, or data for one.

        Returns:
            this Tensor.

        Raises:
            TypeError: ``value`` cannot be a Tensor.
        """
        source = value if isinstance(value, Tensor) else Tensor(value)
        self._rebind(source._array.astype(self._array.dtype))
        return self

    # Gradient hooks

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> HookHandle:
        """Call a function in the backward pass when this Tensor's complete gradient is known.

        Args:
            hook: called as ``hook(gradient)``; a Tensor that it returns replaces the gradient, None keeps it.

        Returns:
            a HookHandle, whose ``remove()`` removes the hook.

        Raises:
            TypeError: ``hook`` cannot be called with one argument.
            RuntimeError: in the backward pass: it returned something else.
        """
        check_arity(hook, 1, "Tensor.register_hook", "hook(grad)")
        if self._gradient_hooks is None:
            self._gradient_hooks = {}
        handle = HookHandle(self._gradient_hooks, hook)
        for recording in state.recordings:
            if id(self._array) in recording.tracked:
                recording.hooks[id(self._array)] = self._run_gradient_hooks
        return handle

    def hooks(self) -> list[Callable[..., Any]]:
        """Return the registered hooks that were not removed, in order of registration."""
        return list((self._gradient_hooks or {}).values())

    def _run_gradient_hooks(self, gradient: Any) -> Any:
        """Return the gradient after this tensor's hooks, as an array or a tensor like the argument."""
        value = as_tensor(gradient)
        for hook in tuple((self._gradient_hooks or {}).values()):
            returned = hook(value)
            if returned is not None and not isinstance(returned, Tensor):
                raise RuntimeError(wrong_return("a hook on a tensor", "a Tensor or None", type(returned).__name__))
            if returned is not None:
                value = returned
        return value if isinstance(gradient, Tensor) else value._array


def tensor(
    input_data: TensorLike | np.generic | None = None,
    dtype: DTypeLike | None = None,
    shape: Ints | Sequence[int | None] | None = None,
    init: Initializer | str | float | Tensor | None = None,
    const_arg: bool = False,
    device: str | None = None,
) -> Tensor:
    """Return a new tensor: ``Tensor`` as a function.

    Args:
        input_data: a Tensor, a NumPy array, a Python number, or a list or tuple of them, nested like the axes.
        dtype: the element type; by default that of ``input_data``, for Python floats Float32 and for ints Int64.
        shape: the shape that ``init`` fills.
        init: an Initializer, its name or a number that fills ``shape`` with ``dtype``.
        const_arg: a flag for a graph compiler; accepted and ignored.
        device: its device: new Tensors are on the device of ``set_device``, any other raises.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``input_data`` is missing or cannot be a tensor's elements.
        ValueError: ``init`` without ``shape`` and ``dtype``, or an unsupported ``device``.
    """
    return Tensor(input_data, dtype, shape, init, const_arg, device)


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two tensors: their values, classes and attributes.

    Args:
        t1: a Tensor or Parameter, of any shape and dtype.
        t2: another one.

    Raises:
        TypeError: one is not a Tensor.
    """
    for name, value in (("t1", t1), ("t2", t2)):
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'swap_tensors', '{name}' must be a Tensor, but got {type(value).__name__}")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    t1._array, t2._array = t2._array, t1._array
    for value in (t1, t2):  # a view of one of them is a view of neither now
        for reference in value._views or ():
            if (view := reference()) is not None:
                view._view = None
        value._view = value._views = None


def as_tensor(gradient: Tensor | Array) -> Tensor:
    """Return a gradient, which is an array or for a higher order a tensor, as a tensor."""
    return gradient if isinstance(gradient, Tensor) else Tensor._wrap(gradient)


def _lengths(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, int | list | tuple) or isinstance(shape, bool):
        raise TypeError(f"For 'Tensor', 'shape' must be an int, or a list or tuple of them, but got {shape!r}")
    lengths = (shape,) if isinstance(shape, int) else tuple([check_int(n, "Tensor", "shape") for n in shape])
    if min(lengths, default=0) < 0:
        raise ValueError(f"For 'Tensor', a length in 'shape' must be 0 or more, but got {shape}")
    return lengths


def _array_from(data: Any, dtype: DTypeLike | None) -> Any:
    """Return a new array (with its own identity) of a user's data."""
    numpy_type = None if dtype is None else numpy_dtype(dtype)
    if isinstance(data, Tensor):
        array = data._array
        return array.view() if numpy_type is None or array.dtype == numpy_type else array.astype(numpy_type)
    if backend.is_array(data):
        _check_elements(data)
        array = data.copy() if numpy_type is None else data.astype(numpy_type)
        return backend.to_device(np.asarray(array) if isinstance(array, np.generic) else array)
    if isinstance(data, bool | int | float | complex):
        kind = _dtype_of_python(data) if numpy_type is None else numpy_type
        return backend.to_device(np.array(wrapped(data, kind), kind))
    if isinstance(data, list | tuple):
        plain = _plain(data)
        try:
            array = np.array(plain)
        except ValueError as error:
            raise TypeError(f"For 'Tensor', 'input_data' is not rectangular: {error}") from None
        _check_elements(array)
        if numpy_type is not None:
            array = array.astype(numpy_type)
        elif array.dtype == np.float64 and not _has_numpy(data):
            array = array.astype(np.float32)
        return backend.to_device(array)
    raise TypeError(
        "For 'Tensor', 'input_data' must be a Tensor, a numpy.ndarray, a number, or a list or tuple of them, "
        f"but got {type(data).__name__}"
    )


def get_py_obj_dtype(obj: Tensor | Number | str | list[Any] | tuple[Any, ...] | type | None) -> Type:
    """Return the element type of a Python number or a Tensor: ``int`` is Int64 and ``float`` Float64.

    Args:
        obj: the number, its type, or the Tensor; for a str, a list, a tuple or None, and for their types, the result
            is a kind, such as ``mindspore.list_``.

    Returns:
        the DType, or the kind.

    Raises:
        NotImplementedError: ``obj`` is a dict or a set.
        TypeError: ``obj`` is anything else.
    """
    return obj.dtype if isinstance(obj, Tensor) else pytype_to_dtype(obj if isinstance(obj, type) else type(obj))


def _dtype_of_python(number: Number) -> np.dtype[Any]:
    return default_dtype_of(number).numpy


def _plain(data: Any) -> Any:
    if isinstance(data, Tensor):
        return backend.to_host(data._array)
    return [_plain(x) for x in data] if isinstance(data, list | tuple) else data


def _has_numpy(data: object) -> bool:
    if isinstance(data, list | tuple):
        return any(_has_numpy(x) for x in data)
    return isinstance(data, np.ndarray | np.generic | Tensor)


def _check_elements(array: Array) -> None:
    if array.dtype.kind not in "biufc" and array.dtype != bfloat16.numpy:
        raise TypeError(f"For 'Tensor', elements of NumPy dtype '{array.dtype}' cannot be held; give numbers or bools")
