"""MindSpore's types that are not element types of tensors: kinds such as ``mindspore.number``, and widths NumPy lacks.

They have names, which ``MultitypeFuncGraph.register`` accepts and ``pytype_to_dtype`` returns; a Tensor of one raises.
"""

from __future__ import annotations

import enum

from . import dtype as _dtypes
from .dtype import Type

__all__ = [
    "QuantDtype",
    "all_types",
    "complex_type",
    "float8_e4m3fn",
    "float8_e5m2",
    "float_",
    "float_type",
    "hifloat8",
    "int_",
    "int_type",
    "list_",
    "number",
    "number_type",
    "qint4x2",
    "signed_type",
    "string",
    "tensor_type",
    "tuple_",
    "type_none",
    "uint",
    "uint_type",
]


class _Kind(Type):
    __slots__ = ("_display_name",)

    def __init__(self, name: str, display_name: str) -> None:
        self.name, self._display_name = name, display_name

    def __repr__(self) -> str:
        return f"mindspore.{self._display_name}"

    def __deepcopy__(self, memo: object) -> _Kind:
        return self  # there is one of each name


number, int_ = _Kind("Number", "number"), _Kind("Int", "int")
uint, float_ = _Kind("UInt", "uint"), _Kind("Float", "float")
tensor_type, string, type_none = _Kind("Tensor", "tensor"), _Kind("String", "string_"), _Kind("None", "type_none")
list_, tuple_ = _Kind("List", "list_"), _Kind("Tuple", "tuple_")
float8_e4m3fn, float8_e5m2 = _Kind("Float8E4M3FN", "float8_e4m3fn"), _Kind("Float8E5M2", "float8_e5m2")
hifloat8, qint4x2 = _Kind("HiFloat8", "hifloat8"), _Kind("Int4", "int4")

# Groups of them, which checks of arguments name.
int_type = (_dtypes.int8, _dtypes.int16, _dtypes.int32, _dtypes.int64)
uint_type = (_dtypes.uint8, _dtypes.uint16, _dtypes.uint32, _dtypes.uint64)
_floats = (_dtypes.float16, _dtypes.float32, _dtypes.float64, _dtypes.bfloat16)
_narrow = (float8_e4m3fn, float8_e5m2, hifloat8)
float_type = (*_floats, *_narrow)
complex_type = (_dtypes.complex64, _dtypes.complex128)
signed_type = (*int_type, *_floats, *complex_type, qint4x2, *_narrow)
number_type = (*int_type, *uint_type, *_floats, *complex_type, qint4x2, *_narrow)
all_types = (_dtypes.bool_, *number_type)

PYTHON = {int: int_, float: float_, str: string, list: list_, tuple: tuple_, type(None): type_none}
"""The kinds of Python's types; for a number's type the element type has precedence."""


class _Quantized:
    _value_: int
    name: str

    def __str__(self) -> str:
        return self.name

    def value(self) -> int:
        """Return the number of the type, by MindSpore's numbering."""
        return self._value_


QuantDtype = enum.Enum(  # type: ignore[misc]
    "QuantDtype",
    {**{f"INT{bits}": bits - 1 for bits in range(1, 17)}, **{f"UINT{bits}": 99 + bits for bits in range(1, 17)}},
    type=_Quantized,
    module=__name__,
)
