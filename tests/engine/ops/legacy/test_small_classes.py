"""Small primitive classes that count, pack, pick and renumber: as recorded from MindSpore 2.10, and by NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees, same

import hookscope.engine as ms
from hookscope.engine import Tensor, int32, ops

NAN = float("nan")


def i32(*values: Any) -> Tensor:
    return Tensor(list(values), int32)


def array(dtype: Any, *values: Any) -> np.ndarray[Any, Any]:
    return np.array(list(values), dtype)


RECORDED: dict[str, tuple[Any, Any]] = {
    "EqualCount": (lambda: ops.EqualCount()(i32(1, 2, 3), i32(1, 2, 4)), array(np.int32, 2)),
    "EqualCount nan": (lambda: ops.EqualCount()(Tensor([[1.0, NAN]]), Tensor([[1.0, NAN]])), array(np.float32, 1)),
    "EqualCount 0-d": (lambda: ops.EqualCount()(Tensor(1, int32), Tensor(1, int32)), array(np.int32, 1)),
    "CompareAndBitpack": (
        lambda: ops.CompareAndBitpack()(Tensor(np.arange(1.0, 9.0)), Tensor(6.0, ms.float64)),
        array(np.uint8, 3),
    ),
    "CompareAndBitpack 2-d": (
        lambda: ops.CompareAndBitpack()(Tensor(np.arange(32).reshape(2, 16)), Tensor(5)),
        np.array([[3, 255], [255, 255]], np.uint8),
    ),
    "CompareAndBitpack bool": (
        lambda: ops.CompareAndBitpack()(Tensor([True, False] * 4), Tensor(False)),
        np.array([170], np.uint8),
    ),
    "CompareAndBitpack nan": (
        lambda: ops.CompareAndBitpack()(Tensor([NAN] * 4 + [7.0] * 4), Tensor(6.0)),
        array(np.uint8, 15),
    ),
    "ListDiff": (
        lambda: ops.ListDiff()(i32(1, 2, 3, 4, 5, 6, 2), i32(1, 3, 5)),
        (array(np.int32, 2, 4, 6, 2), array(np.int32, 1, 3, 5, 6)),
    ),
    "ListDiff int64": (
        lambda: ops.ListDiff(ms.int64)(Tensor([1.0, 2.0, 3.0]), Tensor([2.0])),
        (array(np.float32, 1, 3), array(np.int64, 0, 2)),
    ),
    "ListDiff none": (lambda: ops.ListDiff()(i32(1), i32(1)), (array(np.int32), array(np.int32))),
    "NthElement": (lambda: ops.NthElement()(Tensor([[1, 3, 2], [6, 4, 5]], ms.int8), 1), array(np.int8, 2, 5)),
    "NthElement reverse": (
        lambda: ops.NthElement(True)(Tensor([[1.0, 3.0, 2.0], [6.0, 4.0, 5.0]]), Tensor(0, int32)),
        array(np.float32, 3, 6),
    ),
    "NthElement 1-d": (lambda: ops.NthElement()(Tensor([3.0, NAN, 2.0]), 2), np.float32(NAN)),
    "RaggedRange": (
        lambda: ops.RaggedRange(ms.int64)(i32(2, 5, 8), i32(3, 5, 12), i32(1, 1, 1)),
        (array(np.int64, 0, 1, 1, 5), array(np.int32, 2, 8, 9, 10, 11)),
    ),
    "RaggedRange down": (
        lambda: ops.RaggedRange(int32)(i32(5, 1, 5), i32(0, 2, 0), i32(-2, 1, 2)),
        (array(np.int32, 0, 3, 4, 4), array(np.int32, 5, 3, 1, 1)),
    ),
    "RaggedRange floats": (
        lambda: ops.RaggedRange(ms.int64)(Tensor([0.0, 1.0]), Tensor([1.0, 2.5]), Tensor([0.3, 0.5])),
        (array(np.int64, 0, 4, 7), array(np.float32, 0, 0.3, 0.6, 0.90000004, 1, 1.5, 2)),
    ),
    "RaggedRange 0-d": (
        lambda: ops.RaggedRange(ms.int64)(Tensor(0, int32), Tensor(5, int32), Tensor(2, int32)),
        (array(np.int64, 0, 3), array(np.int32, 0, 2, 4)),
    ),
    "RaggedRange none": (
        lambda: ops.RaggedRange(ms.int64)(Tensor([5.0]), Tensor([0.0]), Tensor([2.0])),
        (array(np.int64, 0, 0), array(np.float32)),
    ),
    "SubAndFilter": (
        lambda: ops.SubAndFilter()(i32(1, 3, 5, 8, 9, 16), 10, 5),
        (array(np.int32, 0, 3, 4), array(np.int32, 2, 3, 4)),
    ),
    "SubAndFilter 2-d": (
        lambda: ops.SubAndFilter()(Tensor([[1, 3], [5, 8]]), Tensor(10), Tensor(5)),
        (array(np.int64, 0, 3), array(np.int64, 2, 3)),
    ),
    "MapUniform": (lambda: ops.MapUniform()(i32(*range(8)), 4, 2), array(np.int32, 0, 4, 1, 5, 2, 6, 3, 7)),
    "MapUniform 2-d": (
        lambda: ops.MapUniform()(Tensor([[0, 1, 2], [5, 6, 7]]), Tensor(4), Tensor(2)),
        array(np.int64, [0, 4, 1], [6, 3, 7]),
    ),
    "DataFormatDimMap": (lambda: ops.DataFormatDimMap()(i32(0, 1, 2, 3)), array(np.int32, 0, 3, 1, 2)),
    "DataFormatDimMap below": (lambda: ops.DataFormatDimMap()(i32(-1, -2, -3, -4)), array(np.int32, 2, 1, 3, 0)),
    "DataFormatDimMap back": (
        lambda: ops.DataFormatDimMap("NCHW", "NHWC")(i32([0, 1], [2, 3])),
        array(np.int32, [0, 2], [3, 1]),
    ),
    "DataFormatDimMap same": (
        lambda: ops.DataFormatDimMap("NHWC", "NHWC")(i32(0, 1, 2, 3)),
        array(np.int32, 0, 1, 2, 3),
    ),
    "DataFormatDimMap around": (lambda: ops.DataFormatDimMap()(i32(4, 5, -5)), array(np.int32, 0, 3, 2)),
    "DataFormatVecPermute": (lambda: ops.DataFormatVecPermute()(i32(1, 2, 3, 4)), array(np.int32, 1, 4, 2, 3)),
    "DataFormatVecPermute pairs": (
        lambda: ops.DataFormatVecPermute()(Tensor([[1, 2], [3, 4], [5, 6], [7, 8]])),
        array(np.int64, [1, 2], [7, 8], [3, 4], [5, 6]),
    ),
    "DataFormatVecPermute back": (
        lambda: ops.DataFormatVecPermute("NCHW", "NHWC")(i32(1, 2, 3, 4)),
        array(np.int32, 1, 3, 4, 2),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_small_class_gives_mindspores_numbers(name: str) -> None:
    call, expected = RECORDED[name]
    same(call(), expected)


def test_packed_bits_and_nth_elements_are_numpys() -> None:
    x = np.random.default_rng(3).standard_normal((3, 5, 24)).astype(np.float32)
    same(ops.CompareAndBitpack()(Tensor(x), Tensor(np.float32(0.2))), np.packbits(x > np.float32(0.2), axis=-1))
    for n in range(24):
        same(ops.NthElement()(Tensor(x), n), np.sort(x, -1)[..., n])
        same(ops.NthElement(True)(Tensor(x), n), np.sort(x, -1)[..., 23 - n])


def test_the_gradient_of_the_nth_element_goes_to_it_and_in_shares_to_those_that_tie() -> None:
    agrees(lambda x: ops.NthElement()(x, 1), np.random.default_rng(4).standard_normal((2, 3, 4)))
    x = Tensor([1.0, 2.0, 2.0, 2.0, 5.0])
    third = float(np.float32(1 / 3))
    assert ms.grad(lambda x: ops.NthElement()(x, 1))(x).tolist() == [0, third, third, third, 0]  # as MindSpore 2.10


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.EqualCount()(Tensor([1.0, 2.0]), Tensor([1.0])),
            ValueError,
            "For 'EqualCount', 'y' must have the shape (2,), but got (1,)",
        ),
        (
            lambda: ops.EqualCount()(Tensor([1.0]), i32(1)),
            TypeError,
            "For 'EqualCount', 'y' must be Float32 as 'x' is, but got Int32",
        ),
        (lambda: ops.EqualCount()(Tensor([1.0]), 1.0), TypeError, "'y' must be a Tensor, but got float"),
        (lambda: ops.CompareAndBitpack()(Tensor([1.0]), Tensor(6.0)), ValueError, "8 must divide the last axis"),
        (lambda: ops.CompareAndBitpack()(Tensor([1.0] * 8), Tensor([6.0])), ValueError, "and 'threshold' have no axes"),
        (lambda: ops.CompareAndBitpack()(Tensor([1.0] * 8), Tensor(6)), TypeError, "'threshold' must be Float32"),
        (lambda: ops.ListDiff()(i32(1), Tensor([2])), TypeError, "'y' must be Int32 as 'x' is, but got Int64"),
        (lambda: ops.ListDiff()(i32([1]), i32(2)), ValueError, "'x' and 'y' must be vectors"),
        (lambda: ops.ListDiff(ms.int16)(i32(1), i32(2)), TypeError, "'out_idx' must be int32 or int64, but got Int16"),
        (lambda: ops.ListDiff()([1], [2]), TypeError, "'x' must be a Tensor, but got list"),
        (
            lambda: ops.NthElement()(Tensor([1.0, 2.0]), 2),
            ValueError,
            "For 'NthElement', 'n' must be an int in [0, (2,)), but got 2",
        ),
        (lambda: ops.NthElement()(Tensor([1.0, 2.0]), -1), ValueError, "but got -1"),
        (lambda: ops.NthElement()(Tensor([1.0, 2.0]), i32(0)), ValueError, "'n' must be an int"),
        (lambda: ops.NthElement()(Tensor([1.0, 2.0]), 1.0), TypeError, "'n' must be an int"),
        (lambda: ops.NthElement()(Tensor(1.0), 0), ValueError, "'n' must be an int in"),
        (lambda: ops.NthElement()(Tensor([True]), 0), TypeError, "'input' must be real numbers, but got Bool"),
        (lambda: ops.NthElement(1)(Tensor([1.0]), 0), TypeError, "'reverse' must be a bool, but got int"),
        (lambda: ops.RaggedRange(int32)(i32(0), i32(5), i32(0)), ValueError, "'deltas' must not be 0, but got [0]"),
        (lambda: ops.RaggedRange(int32)(i32(0), Tensor([5]), i32(1)), TypeError, "'limits' must be Int32"),
        (lambda: ops.RaggedRange(int32)(i32(0, 1), i32(5), i32(1)), ValueError, "must have one shape"),
        (lambda: ops.RaggedRange(int32)(i32([0]), i32([5]), i32([1])), ValueError, "of at most 1 axis"),
        (lambda: ops.RaggedRange(ms.int16)(i32(0), i32(5), i32(1)), TypeError, "'Tsplits' must be int32 or int64"),
        (lambda: ops.RaggedRange(int32)(*[Tensor([1.0], ms.float16)] * 3), TypeError, "but got Float16"),
        (lambda: ops.SubAndFilter()(Tensor([1.0]), 10, 5), TypeError, "'input_x' must be integers, but got Float32"),
        (lambda: ops.MapUniform()(Tensor([1.0]), 4, 2), TypeError, "'input' must be integers, but got Float32"),
        (lambda: ops.MapUniform()(i32(1), 4.0, 2), TypeError, "'per_group_size' must be an int"),
        (lambda: ops.MapUniform()(i32(1), 4, 0), ValueError, "For 'MapUniform', 'group_num' must not be 0"),
        (
            lambda: ops.DataFormatDimMap("NHCW")(i32(0)),
            ValueError,
            "For 'DataFormatDimMap', 'src_format' must be 'NHWC' or 'NCHW', but got 'NHCW'",
        ),
        (lambda: ops.DataFormatDimMap()(Tensor([0.0])), TypeError, "'input_x' must be integers, but got Float32"),
        (
            lambda: ops.DataFormatVecPermute()(i32(1, 2, 3)),
            ValueError,
            "'input_x' must have the shape (4,) or (4, 2), but got (3,)",
        ),
        (lambda: ops.DataFormatVecPermute("NHWC", "x")(i32(1, 2, 3, 4)), ValueError, "'dst_format' must be 'NHWC'"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
