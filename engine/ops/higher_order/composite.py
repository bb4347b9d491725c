"""Functions of functions and of nested values: ``MultitypeFuncGraph``, ``HyperMap``, ``Map``, ``partial``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_type
from ...base.types import TensorLike
from ...tensors.dtype import DType, Type
from ...tensors.tensor import Tensor
from .transforms import GradOperation

__all__ = [
    "GradOperation",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "Partial",
    "add_flags",
    "hyper_add",
    "make_tuple",
    "mixed_precision_cast",
    "partial",
    "typeof",
]

_NUMBERS: dict[str, tuple[type, ...]] = {
    "Number": (bool, int, float, complex),
    "Int": (int,),
    "Int64": (int,),
    "Float": (float,),
    "Bool": (bool,),
    "String": (str,),
    "Tuple": (tuple,),
    "List": (list,),
    "None": (type(None),),
    "TypeType": (DType,),
    "Complex": (complex,),
    "Dictionary": (dict,),
    "Slice": (slice,),
    "Ellipsis": (type(...),),
}
# Names that MindSpore knows, of which no Python value is an instance in eager execution.
_NEVER = frozenset(
    (
        "Function",
        "RowTensor",
        "SparseTensor",
        "COOTensor",
        "CSRTensor",
        "Int8",
        "Int16",
        "Int32",
        "UInt8",
        "UInt16",
        "UInt32",
        "UInt64",
        "Float16",
        "Float32",
        "Float64",
        "BFloat16",
        "Complex64",
        "Complex128",
        "EnvType",
        "Keyword",
        "MapTensor",
        "Problem",
        "UInt",
        "Undetermined",
    )
)


def _fits(value: object, kind: str | Type) -> bool:
    """Return whether a value is of a kind that was registered."""
    name = str(kind)
    if name.startswith("Tensor"):
        dtype_name = name[len("Tensor") :].strip("[]").lower()
        return isinstance(value, Tensor) and (not dtype_name or str(value.dtype).lower() == dtype_name)
    kinds = _NUMBERS.get(name, ())
    if isinstance(value, bool) and bool not in kinds:
        return False
    return isinstance(value, kinds)


def _checked_kind(kind: str | Type) -> str | Type:
    if isinstance(kind, Type):
        return kind
    if not isinstance(kind, str):
        raise TypeError(
            f"For 'MultitypeFuncGraph', 'register' takes names of types or dtypes, but got {type(kind).__name__}"
        )
    if kind not in _NUMBERS and kind not in _NEVER and kind != "Tensor" and not kind.startswith("Tensor["):
        raise RuntimeError(f"For 'MultitypeFuncGraph', there is no type named '{kind}'")
    return kind


class MultitypeFuncGraph:
    """A function that chooses among several by the types of its arguments.

    Functions are added by ``register``; a call uses the first whose types fit.

    Args:
        name: its name, for errors and ``repr``.
        read_value: accepted for a graph compiler; has no effect.
    """

    def __init__(self, name: str, read_value: bool = False) -> None:
        self.name = name
        self.entries: list[tuple[tuple[str | Type, ...], Callable[..., Any]]] = []

    def __repr__(self) -> str:
        return f"<MultitypeFuncGraph {self.name}>"

    def register(self, *type_names: str | Type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate the function for arguments of these types.

        Args:
            type_names: one for each argument: "Tensor", "Tensor[Float32]", "Number", "Int", "Float", "Bool", "String",
                "Tuple", "List", "None", or a dtype.

        Returns:
            The decorator; it returns the function as it is.

        Raises:
            TypeError: a type is neither a name nor a dtype.
            RuntimeError: a name is not that of a type.
        """
        kinds = tuple(_checked_kind(kind) for kind in type_names)

        def added(function: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((kinds, function))
            return function

        return added

    def __call__(self, *args: Any) -> Any:
        """Call the first function whose types fit; a single one is called whatever the types are.

        Args:
            args: the arguments of the function.

        Returns:
            The result of the function.

        Raises:
            TypeError: an argument is a NumPy array.
            ValueError: no function fits.
        """
        if any(isinstance(arg, np.ndarray) for arg in args):
            raise TypeError("For 'MultitypeFuncGraph', an argument is a numpy.ndarray; give a Tensor")
        if len(self.entries) == 1:
            return self.entries[0][1](*args)
        for kinds, function in self.entries:
            if len(kinds) == len(args) and all(map(_fits, args, kinds)):
                return function(*args)
        types = ", ".join(type(arg).__name__ for arg in args)
        raise ValueError(f"For 'MultitypeFuncGraph', '{self.name}' has no function for ({types})")


class HyperMap:
    """Application of a function to the entries of tuples or lists, however deeply nested; results are tuples.

    It is called as ``HyperMap(ops)(*values)`` or ``HyperMap()(ops, *values)``. The first value determines the depth,
    the shortest of several the length.

    Args:
        ops: the function, of as many arguments as there are values; without it, it is the first argument of a call.
        reverse: accepted for a graph compiler, which would start from the last entry; has no effect.

    Raises:
        RuntimeError: ``ops`` cannot be called.
    """

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        if ops is not None and not callable(ops):
            raise RuntimeError(f"For '{type(self).__name__}', 'ops' must be callable, but got {type(ops).__name__}")
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args: Any) -> Any:
        """Return the function applied to each entry of the values.

        Args:
            args: tuples, lists or single values; before them the function, if the constructor had none.

        Returns:
            A tuple, nested as the first value is; for a single value the result of the function.

        Raises:
            TypeError: there are no values.
        """
        function, values = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        if not values:
            raise TypeError(f"For '{type(self).__name__}', there is nothing to apply the function to")
        return self._applied(function, values)

    def _applied(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        if not isinstance(values[0], tuple | list):
            return function(*values)
        return tuple([self._applied(function, part) for part in zip(*values, strict=False)])


class Map(HyperMap):
    """Application of a function to the entries of tuples or lists, one level deep; the result is a tuple.

    Args:
        ops: the function, of as many arguments as there are values; without it, it is the first argument of a call.
        reverse: accepted for a graph compiler, which would start from the last entry; has no effect.

    Raises:
        RuntimeError: ``ops`` cannot be called.
    """

    def _applied(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        return tuple([function(*part) for part in zip(*values, strict=False)])


class Partial:
    """``functools.partial`` as a primitive: ``Partial()(function, *args)``."""

    def __repr__(self) -> str:
        return "Prim[Partial]"

    def __call__(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> functools.partial[Any]:
        """Return a function with its first arguments bound.

        Args:
            func: the function.
            args: its first arguments.
            kwargs: arguments by name.

        Returns:
            A ``functools.partial``.

        Raises:
            TypeError: ``func`` cannot be called.
        """
        if not callable(func):
            raise TypeError(f"For 'Partial', 'func' must be callable, but got {type(func).__name__}")
        return functools.partial(func, *args, **kwargs)


partial = Partial()


def make_tuple(*args: Any) -> tuple[Any, ...]:
    """Return the arguments as a tuple.

    Args:
        *args: any values.

    Returns:
        The tuple.
    """
    return args


def mixed_precision_cast(dst_dtype: DType, x: Any) -> Any:
    """Return floating Tensors, also in tuples and lists, in another floating dtype; anything else as it is.

    Args:
        dst_dtype: the dtype.
        x: a Tensor, or a tuple or list, nested to any depth; lists become tuples.

    Returns:
        The same, cast.

    Raises:
        TypeError: ``dst_dtype`` is not a dtype.
    """
    check_type(dst_dtype, DType, "mixed_precision_cast", "dst_dtype", "a MindSpore dtype")
    if isinstance(x, Tensor):
        return x.astype(dst_dtype) if x.dtype.is_floating_point else x
    return tuple([mixed_precision_cast(dst_dtype, item) for item in x]) if isinstance(x, tuple | list) else x


def added(a: Any, b: Any) -> Any:
    """Return the sum of two values, for ``hyper_add``."""
    return a + b


added.__qualname__ = "hyper_add"  # the name in Python's errors of its arguments
hyper_add = HyperMap(added)


def typeof(value: TensorLike) -> DType:
    """Return the dtype of a Tensor; of another value the dtype that a Tensor of it would have.

    Args:
        value: a tensor, a number, an array, or a list of numbers.

    Returns:
        A dtype, such as ``mindspore.float32``.

    Raises:
        TypeError: ``value`` is not convertible to a Tensor.
    """
    return value.dtype if isinstance(value, Tensor) else Tensor(value).dtype


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Set flags of a graph compiler on a cell or a function; without ``fn``, return the decorator that does.

    Args:
        fn: the cell or the function.
        flags: the flags by name. They are stored (``_mindspore_flags`` of a function) and have no effect.

    Returns:
        ``fn``, or the decorator.
    """
    if fn is None:
        return functools.partial(add_flags, **flags)
    if hasattr(fn, "add_flags"):
        fn.add_flags(**flags)
    else:
        existing = getattr(fn, "_mindspore_flags", {})
        fn._mindspore_flags = {**existing, **flags}
    return fn


def core(fn: Any = None, **flags: Any) -> Any:
    """Set the flag ``core`` and others, as ``add_flags`` does.

    Args:
        fn: the cell or the function; without one, the decorator is returned.
        flags: further flags by name.

    Returns:
        ``fn``, or the decorator.
    """
    return add_flags(fn, core=True, **flags)


def __getattr__(name: str) -> Any:
    # MindSpore has more names in `ops.composite`, such as `clip_by_value`; all of them are in `ops` too.
    return getattr(ops, name)
