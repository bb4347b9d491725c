"""MindSpore's dtypes (``ms.float32`` and friends) over NumPy's, and the rules by which they combine.

A ``DType`` is a name and a NumPy dtype. bfloat16 comes from ml_dtypes, which is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.module_names import on_first_use
from ..base.types import AnyDType, DTypeLike, Number

__all__ = [
    "DType",
    "any_dtype",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "default_dtype_of",
    "dtype_of",
    "dtype_to_nptype",
    "dtype_to_pytype",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "numpy_dtype",
    "promote",
    "promote_scalar",
    "pytype_to_dtype",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "wrapped",
]


class Type:
    """Type of a value: an element type (``DType``), or one of the kinds of ``type_kinds.py``. ``str`` is its name."""

    __slots__ = ("name",)
    name: str

    def __str__(self) -> str:
        return self.name


class DType(Type):
    """The element type of a tensor. ``str(dtype)`` is MindSpore's name for it, such as ``Float32``.

    The fifteen instances are in this module (``mindspore.float32``, ...); users create none.

    Args:
        name: MindSpore's name.
        numpy_name: the name of the NumPy dtype of the same elements; None for bfloat16, which ml_dtypes provides.
    """

    __slots__ = ("_numpy",)

    def __init__(self, name: str, numpy_name: str | None = None) -> None:
        self.name = name
        self._numpy: np.dtype[Any] | None = None if numpy_name is None else np.dtype(numpy_name)

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype of the same elements."""
        if self._numpy is None:
            import ml_dtypes

            self._numpy = np.dtype(ml_dtypes.bfloat16)
        return self._numpy

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return 2 if self._numpy is None else self._numpy.itemsize

    @property
    def is_floating_point(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self.name in _FLOAT_RANK

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.name.startswith("Complex")

    def __repr__(self) -> str:
        return f"mindspore.{self.name.lower()}"

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        return _by_name, (self.name,)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # there is one of each name


bool_ = DType("Bool", "bool")
int8 = DType("Int8", "int8")
int16 = DType("Int16", "int16")
int32 = DType("Int32", "int32")
int64 = DType("Int64", "int64")
uint8 = DType("UInt8", "uint8")
uint16 = DType("UInt16", "uint16")
uint32 = DType("UInt32", "uint32")
uint64 = DType("UInt64", "uint64")
float16 = DType("Float16", "float16")
float32 = DType("Float32", "float32")
float64 = DType("Float64", "float64")
bfloat16 = DType("BFloat16")
complex64 = DType("Complex64", "complex64")
complex128 = DType("Complex128", "complex128")

DTYPES = (
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    complex64,
    complex128,
)
_NAMES = {dtype.name: dtype for dtype in DTYPES}
_FROM_NUMPY: dict[Any, DType] = {d.numpy: d for d in DTYPES if d is not bfloat16}
_FLOAT_RANK = {"Float16": 0, "BFloat16": 1, "Float32": 2, "Float64": 3}
_PYTHON: dict[Any, DType] = {bool: bool_, int: int64, float: float32, complex: complex128}


def _by_name(name: str) -> DType:
    return _NAMES[name]


def dtype_of(numpy_like: np.dtype[Any] | type | str) -> DType:
    """Return the DType of a NumPy dtype.

    Args:
        numpy_like: a NumPy dtype, or an argument of ``numpy.dtype``.

    Returns:
        the DType of the same elements.

    Raises:
        TypeError: MindSpore has no such element type (strings, objects, dates).
    """
    dtype = _FROM_NUMPY.get(numpy_like)
    if dtype is None:
        described = np.dtype(numpy_like)
        dtype = bfloat16 if described.name == "bfloat16" else _FROM_NUMPY.get(described)
        if dtype is None:
            raise TypeError(f"a tensor cannot hold elements of NumPy dtype '{described}'")
        _FROM_NUMPY[described] = dtype
    return dtype


def to_dtype(value: DTypeLike, argument: str = "dtype") -> DType:
    """Return a DType; as in MindSpore NumPy's types, names and Python's types are rejected.

    Args:
        value: a DType; an array's dtype, which the engine has, is accepted too.
        argument: the argument's name, for the error.

    Returns:
        the DType.

    Raises:
        TypeError: anything else.
    """
    if isinstance(value, DType | np.dtype):
        return any_dtype(value, argument)
    raise TypeError(f"'{argument}' must be a MindSpore dtype such as mindspore.float32, but got {value!r}")


def any_dtype(value: AnyDType, argument: str = "dtype") -> DType:
    """Return the DType of any description of an element type.

    Args:
        value: a DType, a NumPy dtype or its name, or a Python number type (``int`` is Int64, ``float`` Float32).
        argument: the argument's name, for the error.

    Returns:
        the DType.

    Raises:
        TypeError: ``value`` is not an element type of tensors.
    """
    if isinstance(value, DType):
        return value
    try:
        if value in _PYTHON:
            return _PYTHON[value]
        if value is None:  # NumPy's own default, Float64
            raise TypeError
        return dtype_of(np.dtype(value))
    except (TypeError, ValueError):
        raise TypeError(
            f"'{argument}' must be a MindSpore dtype such as mindspore.float32, but got {value!r}"
        ) from None


def numpy_dtype(value: DTypeLike) -> np.dtype[Any]:
    """Return the NumPy dtype of a DType.

    Args:
        value: a DType, or an array's dtype.

    Returns:
        the NumPy dtype.

    Raises:
        TypeError: anything else, see ``to_dtype``.
    """
    return value.numpy if isinstance(value, DType) else to_dtype(value).numpy


def dtype_to_nptype(type_: DType) -> type[Any]:
    """Return the NumPy scalar type of a DType: ``dtype_to_nptype(mindspore.int8)`` is ``numpy.int8``.

    Args:
        type_: the DType.

    Returns:
        a class such as ``numpy.float32``.
    """
    return type_.numpy.type


def pytype_to_dtype(obj: AnyDType | type) -> Type:
    """Return the DType as wide as a Python number type (``int`` is Int64, ``float`` Float64), or of a NumPy dtype.

    Args:
        obj: ``bool``, ``int``, ``float`` or ``complex``; a NumPy dtype or its name; or a DType, which is returned. For
            ``str``, ``list``, ``tuple`` and the type of None, the result is a kind, such as ``mindspore.list_``.

    Returns:
        the DType, or the kind.

    Raises:
        NotImplementedError: an unsupported Python type, such as ``dict``.
        TypeError: anything else.
    """
    from .type_kinds import PYTHON

    wide: dict[Any, Type] = {**PYTHON, int: int64, float: float64}
    if obj in (dict, set, object):
        raise NotImplementedError(f"For 'pytype_to_dtype', there is no MindSpore type for {obj!r}")
    return wide.get(obj) or any_dtype(obj, "obj")


def dtype_to_pytype(type_: Type) -> type:
    """Return the Python type of a DType's numbers: ``bool``, ``int``, ``float`` or ``complex``.

    Args:
        type_: the DType; or a kind such as ``mindspore.list_``, whose values have a Python type.

    Returns:
        the type.

    Raises:
        KeyError: a kind without a Python type, such as ``mindspore.number``.
    """
    if not isinstance(type_, DType):
        from .type_kinds import PYTHON

        return {kind: python for python, kind in PYTHON.items()}[type_]  # type: ignore[index]
    return {"b": bool, "i": int, "u": int, "c": complex}.get(numpy_dtype(type_).kind, float)


def default_dtype_of(value: Number) -> DType:
    """Return the DType of the tensor that MindSpore makes of a Python number: Bool, Int64, Float32 or Complex128.

    Args:
        value: the number.

    Returns:
        the DType.
    """
    return _PYTHON[type(value)]


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of an operation on two tensors.

    As in MindSpore: a floating or complex dtype wins over any integer of any width (int64 with float16 gives
    float16, with complex64 complex64);
    among integers NumPy's rule holds (uint8 with int8 gives int16); float16 with bfloat16 gives float32.

    Args:
        a: the NumPy dtype of the first.
        b: the NumPy dtype of the second.

    Returns:
        the NumPy dtype of the result.
    """
    if a == b:
        return a
    rank_a, rank_b = _kind_rank(a), _kind_rank(b)
    if rank_a != rank_b and min(rank_a, rank_b) <= 1 < max(rank_a, rank_b):
        return a if rank_a > rank_b else b
    if {dtype_of(a).name, dtype_of(b).name} == {"Float16", "BFloat16"}:
        return float32.numpy
    if rank_a == rank_b == 2:
        return a if _FLOAT_RANK[dtype_of(a).name] > _FLOAT_RANK[dtype_of(b).name] else b
    if rank_a == rank_b == 1 and np.uint64 in (a.type, b.type) and "i" in (a.kind, b.kind):
        return int64.numpy
    return np.promote_types(a, b)


def promote_scalar(dtype: np.dtype[Any], scalar: Number) -> np.dtype[Any]:
    """Return the dtype of an operation on a tensor and a number: the tensor's, unless the number's kind is higher.

    Args:
        dtype: the tensor's NumPy dtype.
        scalar: the number. An int makes bools Int64, a float makes integers Float32, a complex makes them complex.

    Returns:
        the NumPy dtype of the result.
    """
    if isinstance(scalar, bool):
        return dtype
    rank = _kind_rank(dtype)
    if isinstance(scalar, int):
        return dtype if rank >= 1 else int64.numpy
    if isinstance(scalar, float):
        return dtype if rank >= 2 else float32.numpy
    return dtype if rank == 3 else (complex128.numpy if dtype == np.float64 else complex64.numpy)


def wrapped(number: Any, dtype: np.dtype[Any]) -> Any:
    """Return a Python int as an integer dtype stores it: modulo its range, as in MindSpore and in C.

    Args:
        number: any number; all but ints of 64 bits are returned unchanged, and bools too.
        dtype: the NumPy dtype that it must fit into.

    Returns:
        the number; 300 with UInt8 is 44.
    """
    if not isinstance(number, int) or isinstance(number, bool) or dtype.kind not in "iu":
        return number
    limits = np.iinfo(dtype)
    if limits.min <= number <= limits.max or not -(2**63) <= number < 2**64:
        return number
    return (number - limits.min) % 2**limits.bits + limits.min


def _kind_rank(dtype: np.dtype[Any]) -> int:
    """Return 0 for bool, 1 for integer, 2 for floating, 3 for complex (bfloat16 has the NumPy kind 'V')."""
    return {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}[dtype.kind]


KINDS = (
    "QuantDtype float8_e4m3fn float8_e5m2 float_ hifloat8 int_ list_ number qint4x2 string tensor_type tuple_ "
    "type_none uint"
)
SECOND_NAMES = "byte short intc long ubyte ushort uintc intp uintp half single double cfloat cdouble"
_GROUPS = "all_types complex_type float_type int_type number_type signed_type uint_type"
__getattr__ = on_first_use(
    __name__,
    names={
        **dict.fromkeys(_GROUPS.split(), "tensors.type_kinds"),
        **dict.fromkeys(SECOND_NAMES.split(), "tensors.dtype_names"),
        **dict.fromkeys(KINDS.split(), "tensors.type_kinds"),
        "get_py_obj_dtype": "tensors.tensor",
    },
)
