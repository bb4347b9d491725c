"""Dtypes: their names, what they are made from, and how two of them combine."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import DType, Tensor
from hookscope.engine.tensors.dtype import DTYPES, any_dtype, to_dtype

BY_NAME = {str(dtype): dtype for dtype in DTYPES}
INTEGERS = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
FLOATS = ["Float16", "BFloat16", "Float32", "Float64"]


def combined(a: str, b: str) -> str:
    return str((Tensor([1], BY_NAME[a]) + Tensor([1], BY_NAME[b])).dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_dtype_survives_numpy_copying_and_pickling(dtype: DType) -> None:
    assert ms.dtype.dtype_of(dtype.numpy) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert dtype.itemsize == dtype.numpy.itemsize


# As MindSpore 2.10.0 prints them.
PRINTED = {
    "Bool": "mindspore.bool",
    "Int8": "mindspore.int8",
    "Int16": "mindspore.int16",
    "Int32": "mindspore.int32",
    "Int64": "mindspore.int64",
    "UInt8": "mindspore.uint8",
    "UInt16": "mindspore.uint16",
    "UInt32": "mindspore.uint32",
    "UInt64": "mindspore.uint64",
    "Float16": "mindspore.float16",
    "BFloat16": "mindspore.bfloat16",
    "Float32": "mindspore.float32",
    "Float64": "mindspore.float64",
    "Complex64": "mindspore.complex64",
    "Complex128": "mindspore.complex128",
}


def test_a_dtype_prints_as_mindspores() -> None:
    assert {str(dtype): repr(dtype) for dtype in DTYPES} == PRINTED


def test_kinds() -> None:
    assert [str(d) for d in DTYPES if d.is_floating_point] == ["Float16", "BFloat16", "Float32", "Float64"]
    assert [str(d) for d in DTYPES if d.is_complex] == ["Complex64", "Complex128"]


@pytest.mark.parametrize(
    ("argument", "dtype"),
    [
        (float, ms.float32),
        (int, ms.int64),
        (bool, ms.bool_),
        (complex, ms.complex128),
        ("float16", ms.float16),
        (np.int8, ms.int8),
        (np.dtype("u2"), ms.uint16),
        (ms.float64, ms.float64),
        (ml_dtypes.bfloat16, ms.bfloat16),
    ],
)
def test_what_a_user_may_write_for_a_dtype(argument: Any, dtype: DType) -> None:
    assert any_dtype(argument) is dtype
    if isinstance(argument, DType | np.dtype):
        assert to_dtype(argument) is dtype
    else:  # where MindSpore takes no other
        with pytest.raises(TypeError, match="'dtype' must be a MindSpore dtype such as mindspore.float32, but got"):
            to_dtype(argument)


@pytest.mark.parametrize("argument", ["no such", object, np.dtype("U3"), np.dtype("datetime64[s]")])
def test_what_is_no_dtype_is_refused(argument: Any) -> None:
    for convert in (any_dtype, to_dtype):
        with pytest.raises(TypeError, match="'dtype' must be a MindSpore dtype such as mindspore.float32, but got"):
            convert(argument)


def test_conversions_of_mindspores_own_names() -> None:
    assert ms.dtype_to_nptype(ms.float16) is np.float16
    assert ms.pytype_to_dtype(np.float32) is ms.float32
    assert ms.dtype_to_pytype(ms.bfloat16) is float
    assert [ms.dtype_to_pytype(d) for d in (ms.uint8, ms.bool_, ms.complex64)] == [int, bool, complex]


@pytest.mark.parametrize(
    ("value", "dtype"), [(True, ms.bool_), (1, ms.int64), (1.0, ms.float64), (1j, ms.complex128), (np.int8(1), ms.int8)]
)
def test_a_python_number_has_the_dtype_that_mindspore_2_10_says(value: object, dtype: ms.DType) -> None:
    assert ms.pytype_to_dtype(type(value)) is dtype
    assert ms.get_py_obj_dtype(value) is ms.get_py_obj_dtype(type(value)) is dtype


def test_what_holds_no_numbers_has_a_kind_or_none() -> None:
    kinds = {list: ms.list_, tuple: ms.tuple_, str: ms.string, type(None): ms.type_none}
    for python, kind in kinds.items():
        assert ms.pytype_to_dtype(python) is kind and ms.dtype_to_pytype(kind) is python
    assert [ms.get_py_obj_dtype(variant) for variant in ([1], (), "a", None)] == [*kinds.values()]
    assert [ms.dtype_to_pytype(kind) for kind in (ms.int_, ms.float_)] == [int, float]
    with pytest.raises(NotImplementedError, match="there is no MindSpore type for <class 'dict'>"):
        ms.pytype_to_dtype(dict)
    with pytest.raises(TypeError, match="'obj' must be a MindSpore dtype .*, but got 3"):
        ms.pytype_to_dtype(3)  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        ms.dtype_to_pytype(ms.number)


def test_kinds_have_mindspores_names_and_no_tensor_is_of_one() -> None:
    # repr and str as MindSpore 2.10.0 gives them
    texts = {
        "number": "mindspore.number Number",
        "int_": "mindspore.int Int",
        "uint": "mindspore.uint UInt",
        "float_": "mindspore.float Float",
        "tensor_type": "mindspore.tensor Tensor",
        "list_": "mindspore.list_ List",
        "tuple_": "mindspore.tuple_ Tuple",
        "string": "mindspore.string_ String",
        "type_none": "mindspore.type_none None",
        "float8_e4m3fn": "mindspore.float8_e4m3fn Float8E4M3FN",
        "float8_e5m2": "mindspore.float8_e5m2 Float8E5M2",
        "hifloat8": "mindspore.hifloat8 HiFloat8",
        "qint4x2": "mindspore.int4 Int4",
    }
    for name, text in texts.items():
        kind = getattr(ms, name)
        assert f"{kind!r} {kind}" == text and isinstance(kind, ms.Type) and not isinstance(kind, ms.dtype.DType)
        assert getattr(ms.dtype, name) is getattr(ms.common, name) is copy.deepcopy(kind) is kind
        with pytest.raises(TypeError, match=f"'dtype' must be a MindSpore dtype .*, but got {kind!r}"):
            ms.Tensor([1.0], kind)
    assert isinstance(ms.float32, ms.Type)
    quantized = ms.QuantDtype
    assert [quantized.INT1.value(), quantized.INT8.value(), quantized.UINT16.value()] == [0, 7, 115]
    assert str(quantized.UINT8) == "UINT8" and quantized(107) is quantized.UINT8 and len(quantized) == 32


def test_a_function_of_several_types_takes_kinds() -> None:
    graph = ms.ops.MultitypeFuncGraph("kinds")
    for kind in (ms.number, ms.tensor_type, ms.list_, ms.tuple_, ms.string, ms.type_none):
        graph.register(kind)(lambda _, kind=kind: str(kind))
    values = (3, 2.5, True, "a", (1,), [1], None, ms.Tensor([1.0]))
    assert [graph(value) for value in values] == [
        "Number",
        "Number",
        "Number",
        "String",
        "Tuple",
        "List",
        "None",
        "Tensor",
    ]


# The table: rows as MindSpore 2.10.0 gave them for `Tensor([1], a) + Tensor([1], b)`, where it has such a kernel.
RECORDED = {
    "Bool": "Bool Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 BFloat16 Float32 Float64",
    "Int8": "Int8 Int8 Int16 Int32 Int64 Int16 . . . . . . .",
    "Int16": "Int16 Int16 Int16 Int32 Int64 Int16 . . . . . Float32 Float64",
    "Int32": "Int32 Int32 Int32 Int32 Int64 Int32 . . . . . . .",
    "Int64": "Int64 Int64 Int64 Int64 Int64 Int64 . . . Float16 BFloat16 Float32 Float64",
    "UInt8": "UInt8 Int16 Int16 Int32 Int64 UInt8 . . . . . Float32 Float64",
    "BFloat16": "BFloat16 BFloat16 BFloat16 BFloat16 BFloat16 BFloat16 . . . . . Float32 Float64",
    "Float32": "Float32 Float32 Float32 Float32 Float32 Float32 . . . Float32 Float32 Float32 Float64",
    "Float64": "Float64 Float64 Float64 Float64 Float64 Float64 . . . . . Float64 Float64",
}
COLUMNS = ["Bool", *INTEGERS, *FLOATS]


@pytest.mark.parametrize("row", RECORDED)
def test_two_dtypes_combine_as_in_mindspore(row: str) -> None:
    want = dict(zip(COLUMNS, RECORDED[row].split(), strict=True))
    assert {c: combined(row, c) for c in COLUMNS if want[c] != "."} == {c: w for c, w in want.items() if w != "."}


@pytest.mark.parametrize("other", INTEGERS)
def test_the_largest_unsigned_integer_stays_with_unsigned_ones_and_goes_to_int64_with_signed_ones(other: str) -> None:
    assert combined("UInt64", other) == ("UInt64" if other.startswith("U") else "Int64")


@pytest.mark.parametrize(("a", "b"), list(itertools.product(map(str, DTYPES), repeat=2)))
def test_combining_does_not_depend_on_the_order(a: str, b: str) -> None:
    assert combined(a, b) == combined(b, a)


@pytest.mark.parametrize(("integer", "floating"), list(itertools.product(INTEGERS, FLOATS)))
def test_a_float_wins_over_any_integer(integer: str, floating: str) -> None:
    assert combined(integer, floating) == floating


def test_the_two_halves_meet_in_single() -> None:
    assert combined("Float16", "BFloat16") == "Float32"


# A Python number: the columns are True, 2 and 2.5.
SCALARS = {
    "Bool": "Bool Int64 Float32",
    **{name: f"{name} {name} Float32" for name in INTEGERS},
    **{name: f"{name} {name} {name}" for name in [*FLOATS, "Complex64", "Complex128"]},
}


@pytest.mark.parametrize("name", SCALARS)
def test_a_python_number_keeps_the_tensors_dtype_unless_its_kind_is_higher(name: str) -> None:
    tensor = Tensor([1], BY_NAME[name])
    assert [str((tensor + number).dtype) for number in (True, 2, 2.5)] == SCALARS[name].split()
    assert [str((number * tensor).dtype) for number in (True, 2, 2.5)] == SCALARS[name].split()


def test_dividing_integers_gives_float32() -> None:
    quotient = Tensor([3]) / Tensor([2])
    assert (quotient.item(), quotient.dtype) == (1.5, ms.float32)


def test_functions_of_integers_give_float32() -> None:
    assert ms.ops.sqrt(Tensor([4])).dtype is ms.float32
    assert ms.ops.exp(Tensor([True])).dtype is ms.float32


def test_half_precision_stays_half_beside_numbers() -> None:
    for dtype in (ms.float16, ms.bfloat16):
        x = Tensor([1.0, 2.0], dtype)
        results = [x * 2.5, 1 / x, x**2, x - 1, ms.ops.maximum(x, 1.5), ms.ops.where(x > 1, x, 0.5), ms.ops.rsqrt(x)]
        assert {str(r.dtype) for r in results} == {str(dtype)}


def test_the_groups_of_dtypes_are_mindspores() -> None:
    """By names, as MindSpore 2.10 prints them."""
    from hookscope.engine.tensors import dtype

    def names(group: str) -> str:
        return " ".join(str(item) for item in getattr(dtype, group))

    ints, floats = "Int8 Int16 Int32 Int64", "Float16 Float32 Float64 BFloat16"
    unsigned, narrow = "UInt8 UInt16 UInt32 UInt64", "Float8E4M3FN Float8E5M2 HiFloat8"
    assert names("int_type") == ints and names("uint_type") == unsigned
    assert names("float_type") == f"{floats} {narrow}"
    assert names("complex_type") == "Complex64 Complex128"
    assert names("signed_type") == f"{ints} {floats} Complex64 Complex128 Int4 {narrow}"
    assert names("number_type") == f"{ints} {unsigned} {floats} Complex64 Complex128 Int4 {narrow}"
    assert names("all_types") == f"Bool {names('number_type')}"
