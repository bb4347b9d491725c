"""Primitive classes of sparse tensors and matrices that are given in parts, and of sets: against MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, wave

import hookscope.engine as ms
from hookscope.engine import Tensor, ops


def primitive(name: str, *settings: Any, **keywords: Any) -> Any:
    """Return a class, wherever it is: MindSpore has most of these in files of `ops.operations` only."""
    files = ("", ".sparse_ops", ".math_ops")
    rooms = [ops, *(vars(ops.operations).get(file[1:]) for file in files if file)]
    return next(getattr(room, name) for room in rooms if hasattr(room, name))(*settings, **keywords)


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def longs(values: Any) -> Tensor:
    return t(values, ms.int64)


def ints(values: Any) -> Tensor:
    return t(values, ms.int32)


ONE = (longs([[0, 1], [1, 2]]), t([-1.0, 2]), longs([3, 4]))
OTHER = (longs([[0, 0], [1, 2]]), t([3.0, -1.5]), longs([3, 4]))
SETS = (ints([[2, 2, 0], [2, 2, 1], [0, 2, 2]]), ints([[2, 2, 1, 5], [0, 2, 0, 5], [0, 1, 1, 5]]))
COUNTED = (longs([[0, 2], [1, 2], [2, 1], [2, 3], [2, 4]]), longs([8, 0, 8, 2, 2]), longs([4, 5]))
MATRIX = (ints([2, 4]), ints([0, 3]), ints([0, 1, 3]), ints([1, 0, 3]), t([1.0, 4, 3]))
SECOND = (ints([2, 4]), ints([0, 2]), ints([0, 2, 2]), ints([1, 2]), t([10.0, 20]))
BATCH = (longs([2, 2, 4]), longs([0, 3, 5]), longs([0, 1, 3, 0, 0, 2]), longs([1, 2, 3, 0, 3]), t([1.0, 4, 3, 5, 6]))
COMPLEX = (*MATRIX[:4], t([1 + 1j, 2, 3j], ms.complex64))
DENSE, DENSES = wave(4, 2), wave(2, 4, 2)


def joined(axis: int, shape: Any) -> Any:
    return primitive("SparseConcat", axis)((ONE[0], OTHER[0]), (ONE[1], OTHER[1]), (ONE[2], shape))


CASES: dict[str, Callable[[], Any]] = {
    **{
        f"SparseAdd {limit}": partial(lambda limit: primitive("SparseAdd")(*ONE, *OTHER, t(limit)), limit)
        for limit in (0.0, 1.0)
    },
    "SparseSparseMaximum": lambda: primitive("SparseSparseMaximum")(*ONE, *OTHER),
    "SparseSparseMinimum": lambda: primitive("SparseSparseMinimum")(*ONE, *OTHER),
    "SparseConcat 0": lambda: joined(0, longs([3, 4])),
    "SparseConcat 1": lambda: joined(1, longs([3, 5])),
    "SparseConcat -1": lambda: joined(-1, longs([3, 4])),
    "SparseReorder": lambda: primitive("SparseReorder")(longs([[2, 1], [0, 1], [0, 0]]), t([1.0, 2, 3]), longs([3, 3])),
    "SparseReshape": lambda: primitive("SparseReshape")(
        longs([[0, 0, 0], [0, 1, 5], [1, 2, 3]]), longs([2, 3, 6]), longs([9, -1])
    ),
    "SparseFillEmptyRows": lambda: primitive("SparseFillEmptyRows")(
        longs([[3, 1], [1, 0], [3, 0]]), t([4.0, 5, 6]), longs([5, 3]), t(7.0)
    ),
    "SparseSoftmax": lambda: primitive("SparseSoftmax")(
        longs([[0, 0], [0, 3], [1, 2], [1, 5], [2, 0]]), t([1.0, 2, 3, 5, 5]), longs([6, 6])
    ),
    "SparseSoftmax of three axes": lambda: primitive("SparseSoftmax")(
        longs([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]), t([1.0, 2, 3, 5]), longs([2, 2, 2])
    ),
    "SparseDenseCwiseAdd": lambda: primitive("SparseDenseCwiseAdd")(*ONE[:2], longs([2, 3]), t([[1.0, 2, 3]])),
    "SparseDenseCwiseMul": lambda: primitive("SparseDenseCwiseMul")(*ONE[:2], longs([2, 3]), t([[1.0, 2, 3]])),
    "SparseToDenseV2": lambda: primitive("SparseToDenseV2")(ints([[0, 1], [1, 2]]), ints([2, 3]), t([1.0, 2]), t(-1.0)),
    "SparseToDenseV2 of one axis": lambda: primitive("SparseToDenseV2")(
        longs([0, 2]), longs([4]), t([5.0, 6]), t(-1.0)
    ),
    "SparseCountSparseOutput": lambda: primitive("SparseCountSparseOutput")(*COUNTED, longs([1, 2, 1, 0, 4])),
    "SparseCountSparseOutput binary": lambda: primitive("SparseCountSparseOutput", True, minlength=12)(
        *COUNTED, longs([])
    ),
    "SparseCountSparseOutput ones": lambda: primitive("SparseCountSparseOutput")(*COUNTED, longs([])),
    "SparseCountSparseOutput below 5": lambda: primitive("SparseCountSparseOutput", maxlength=5)(
        *COUNTED, t([0.5, 1, 2, 3, 4])
    ),
    "SparseAddmm": lambda: primitive("SparseAddmm")(
        ints([[0, 1], [1, 2]]), t([1.0, 2]), ints([2, 3]), wave(3, 2), wave(2, 2, k=1.0), t([2.0]), t([3.0])
    ),
    "Sspaddmm": lambda: primitive("Sspaddmm")(
        longs([[0, 1], [1, 2]]),
        t([1.0, 2]),
        longs([3, 3]),
        longs([[2, 0, 2], [2, 1, 0]]),
        t([3.0, 4, 5]),
        longs([3, 3]),
        wave(3, 3),
        t(2.0),
        t(3.0),
    ),
    **{
        f"DenseToDenseSetOperation {how}": partial(lambda how: primitive("DenseToDenseSetOperation", how)(*SETS), how)
        for how in ("a-b", "b-a", "intersection", "union", "UNION")
    },
    "RaggedTensorToSparse": lambda: primitive("RaggedTensorToSparse", ms.int64)([longs([0, 3, 3, 5, 6])], wave(6)),
    "RaggedTensorToSparse twice": lambda: primitive("RaggedTensorToSparse", ms.int64)(
        [longs([0, 2, 3]), longs([0, 3, 3, 5])], wave(5)
    ),
    "RaggedTensorToSparse blocks": lambda: primitive("RaggedTensorToSparse", ms.int32)([ints([0, 2, 3])], wave(3, 2)),
    "CSRSparseMatrixToDense": lambda: primitive("CSRSparseMatrixToDense")(*MATRIX),
    "CSRSparseMatrixToDense batch": lambda: primitive("CSRSparseMatrixToDense")(*BATCH),
    "CSRSparseMatrixToSparseTensor": lambda: primitive("CSRSparseMatrixToSparseTensor")(*MATRIX),
    "CSRSparseMatrixToSparseTensor batch": lambda: primitive("CSRSparseMatrixToSparseTensor")(*BATCH),
    "DenseToCSRSparseMatrix": lambda: primitive("DenseToCSRSparseMatrix")(
        t([[1.0, 0], [0, 2]]), longs([[0, 0], [1, 1]])
    ),
    "DenseToCSRSparseMatrix batch": lambda: primitive("DenseToCSRSparseMatrix")(
        t([[[1.0, 0], [0, 2]], [[0, 0], [3, 4]]]), ints([[0, 0, 0], [0, 1, 1], [1, 1, 0], [1, 1, 1]])
    ),
    "SparseTensorToCSRSparseMatrix": lambda: primitive("SparseTensorToCSRSparseMatrix")(
        ints([[0, 1], [1, 2]]), t([1.0, 2]), ints([2, 4])
    ),
    "SparseTensorToCSRSparseMatrix batch": lambda: primitive("SparseTensorToCSRSparseMatrix")(
        longs([[0, 0, 1], [0, 1, 2], [1, 0, 3]]), t([1.0, 2, 3]), longs([2, 2, 4])
    ),
    "SparseMatrixAdd": lambda: primitive("SparseMatrixAdd")(*MATRIX, *SECOND, t(2.0), t(3.0)),
    "SparseMatrixMatMul": lambda: primitive("SparseMatrixMatMul")(*MATRIX, DENSE),
    "SparseMatrixMatMul turned": lambda: primitive("SparseMatrixMatMul", transpose_x1=True)(*MATRIX, wave(2, 2)),
    "SparseMatrixMatMul by turned": lambda: primitive("SparseMatrixMatMul", transpose_x2=True)(*MATRIX, wave(2, 4)),
    "SparseMatrixMatMul turns": lambda: primitive("SparseMatrixMatMul", transpose_output=True)(*MATRIX, DENSE),
    "SparseMatrixMatMul batch": lambda: primitive("SparseMatrixMatMul")(
        *(ints(x.asnumpy()) for x in BATCH[:4]), BATCH[4], DENSES
    ),
    "SparseMatrixMatMul adjoint": lambda: primitive("SparseMatrixMatMul", adjoint_x1=True)(
        *COMPLEX, t([[1.0, 2j], [3, 4]], ms.complex64)
    ),
    "SparseMatrixMatMul conjugates": lambda: primitive("SparseMatrixMatMul", conjugate_output=True)(
        *COMPLEX, t(np.ones((4, 1)) * 1j, ms.complex64)
    ),
    "SparseMatrixNNZ": lambda: primitive("SparseMatrixNNZ")(*MATRIX),
    "SparseMatrixNNZ batch": lambda: primitive("SparseMatrixNNZ")(*BATCH),
    # On copies: there it writes into its input.
    "SparseMatrixSoftmax": lambda: primitive("SparseMatrixSoftmax", ms.float32)(*MATRIX[:4], t([1.0, 4, 3])),
    "SparseMatrixTranspose": lambda: primitive("SparseMatrixTranspose")(*MATRIX),
    "SparseMatrixTranspose batch": lambda: primitive("SparseMatrixTranspose")(
        *(ints(x.asnumpy()) for x in BATCH[:4]), BATCH[4]
    ),
    "SparseMatrixTranspose conjugates": lambda: primitive("SparseMatrixTranspose", True)(*COMPLEX),
    **{
        f"SparseSegment{how}WithNumSegments {number}": partial(
            lambda how, number: primitive(f"SparseSegment{how}WithNumSegments")(
                wave(4, 2), ints([0, 1, 1, 3]), ints([0, 0, 2, 2]), ints(number)
            ),
            how,
            number,
        )
        for how in ("Mean", "SqrtN", "Sum")
        for number in ([4], 3)
    },
    **{
        f"SparseSegment{how}": partial(
            lambda how: primitive(f"SparseSegment{how}")(wave(4, 2), ints([0, 1, 1, 3]), ints([0, 0, 1, 1])), how
        )
        for how in ("Mean", "SqrtN", "Sum")
    },
    "SparseSegmentMean gap": lambda: primitive("SparseSegmentMean")(
        wave(4, 2), longs([0, 1, 1, 3]), longs([0, 0, 2, 2])
    ),
    "SparseSegmentSum ints": lambda: primitive("SparseSegmentSum")(
        ints([[1, 2], [3, 4]]), ints([0, 1, 1]), ints([0, 0, 1])
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_class_of_sparse_tensors_gives_mindspores_parts(name: str) -> None:
    check(__file__, name, CASES[name])


def with_values(name: str, indices: tuple[int, ...], parts: tuple[Any, ...], **keywords: Any) -> Callable[..., Any]:
    """Return the floating result of a class, as a function of the inputs at some places."""

    def function(*values: Tensor) -> Any:
        inputs = list(parts)
        for index, value in zip(indices, values, strict=True):
            inputs[index] = value
        result = primitive(name, **keywords)(*inputs)
        return next(x for x in result if x.dtype == ms.float64) if isinstance(result, tuple) else result

    return function


def wide(x: Tensor) -> np.ndarray[Any, Any]:
    return x.asnumpy().astype(np.float64)


GRADIENTS: dict[str, tuple[tuple[int, ...], tuple[Any, ...], dict[str, Any]]] = {
    "SparseAdd": ((1, 4), (*ONE, *OTHER, t(0.0, ms.float64)), {}),
    "SparseSparseMaximum": ((1, 4), (*ONE, *OTHER), {}),
    "SparseSparseMinimum": ((1, 4), (*ONE, *OTHER), {}),
    "SparseReorder": ((1,), (longs([[2, 1], [0, 1], [0, 0]]), t([1.0, 2, 3]), longs([3, 3])), {}),
    "SparseFillEmptyRows": ((1, 3), (longs([[3, 1], [1, 0]]), t([4.0, 5]), longs([5, 3]), t(7.0)), {}),
    "SparseSoftmax": ((1,), (longs([[0, 0], [0, 3], [1, 2]]), t([1.0, 2, 3]), longs([6, 6])), {}),
    "SparseDenseCwiseAdd": ((1, 3), (*ONE[:2], longs([2, 3]), t([[1.0, 2, 3]])), {}),
    "SparseDenseCwiseMul": ((1, 3), (*ONE[:2], longs([2, 3]), t([[1.0, 2, 3]])), {}),
    "SparseToDenseV2": ((2, 3), (longs([0, 2]), longs([4]), t([5.0, 6]), t(-1.0)), {}),
    "SparseCountSparseOutput": ((3,), (*COUNTED, t([0.5, 1, 2, 3, 4])), {}),
    "SparseAddmm": ((1, 3, 4, 5, 6), (*ONE, wave(4, 2), wave(3, 2), t([2.0]), t([3.0])), {}),
    "Sspaddmm": (
        (1, 4, 6, 7, 8),
        (
            ints([[0, 1], [1, 2]]),
            t([1.0, 2]),
            ints([3, 3]),
            ints([[0, 0], [2, 1]]),
            t([3.0, 4]),
            ints([3, 3]),
            wave(3, 3),
            t(2.0),
            t(3.0),
        ),
        {},
    ),
    "RaggedTensorToSparse": ((1,), ([longs([0, 3, 3, 5, 6])], wave(6)), {"Tsplits": ms.int64}),
    "CSRSparseMatrixToDense": ((4,), BATCH, {}),
    "CSRSparseMatrixToSparseTensor": ((4,), BATCH, {}),
    "DenseToCSRSparseMatrix": ((0,), (wave(2, 2), longs([[0, 0], [1, 1]])), {}),
    "SparseTensorToCSRSparseMatrix": ((1,), (ints([[1, 1], [0, 2]]), t([1.0, 2]), ints([2, 4])), {}),
    "SparseMatrixAdd": ((4, 9, 10, 11), (*MATRIX, *SECOND, t(2.0), t(3.0)), {}),
    "SparseMatrixMatMul": ((4, 5), (*BATCH, DENSES), {}),
    "SparseMatrixSoftmax": ((4,), BATCH, {"dtype": ms.float64}),
    "SparseMatrixTranspose": ((4,), BATCH, {}),
    "SparseSegmentSum": ((0,), (wave(4, 2), ints([0, 1, 1, 3]), ints([0, 0, 1, 1])), {}),
    "SparseSegmentMean": ((0,), (wave(4, 2), ints([0, 1, 1, 3]), ints([0, 0, 1, 1])), {}),
    "SparseSegmentSqrtN": ((0,), (wave(4, 2), ints([0, 1, 1, 3]), ints([0, 0, 1, 1])), {}),
    "SparseSegmentSqrtNWithNumSegments": ((0,), (wave(4, 2), ints([0, 1, 1, 3]), ints([0, 0, 2, 2]), ints(4)), {}),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_by_the_values_agree_with_central_differences(name: str) -> None:
    from function_cases import agrees  # not where MindSpore records

    indices, parts, keywords = GRADIENTS[name]
    agrees(with_values(name, indices, parts, **keywords), *(wide(parts[index]) for index in indices))


def test_batches_are_added_and_each_row_has_its_own_softmax() -> None:
    result = primitive("SparseMatrixAdd")(*BATCH, *BATCH, t(2.0), t(3.0))
    assert [x.tolist() for x in result] == [*(x.tolist() for x in BATCH[:4]), [5.0, 20.0, 15.0, 25.0, 30.0]]
    dense = primitive("CSRSparseMatrixToDense")(*primitive("SparseMatrixSoftmax", ms.float64)(*BATCH)).asnumpy()
    mask = primitive("CSRSparseMatrixToDense")(*BATCH).asnumpy() != 0
    e = np.where(mask, np.exp(primitive("CSRSparseMatrixToDense")(*BATCH).asnumpy()), 0)
    want = np.divide(e, e.sum(-1, keepdims=True), out=np.zeros_like(e), where=mask)
    np.testing.assert_allclose(dense, want, rtol=1e-6)


def test_shapes_in_an_error_have_the_axes_that_were_given() -> None:
    lengths = Tensor([1, *MATRIX[0].asnumpy().tolist()])
    with pytest.raises(
        ValueError, match=r"'x1_dense_shape' and 'x2_dense_shape' must be equal, but got \(\d, \d\) and \(1, "
    ):
        primitive("SparseMatrixAdd")(*MATRIX, lengths, *SECOND[1:], t(2.0), t(3.0))


def test_of_a_sum_all_small_elements_are_left_out() -> None:
    indices, values, _ = primitive("SparseAdd")(*ONE, *OTHER, t(2.5))
    assert indices.tolist() == [[0, 0]] and values.tolist() == [3.0]


def test_a_set_has_each_element_once_and_the_shape_is_that_of_the_rows() -> None:
    sizes = primitive("SetSize")(
        longs([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 2]]), longs([1, 1, 5, 6]), longs([2, 2, 4])
    )
    assert sizes.tolist() == [[1, 1], [0, 1]] and sizes.dtype is ms.int32


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "other shapes": (
        lambda: primitive("SparseAdd")(*ONE, *OTHER[:2], longs([3, 5]), t(0.0)),
        ValueError,
        r"For 'SparseAdd', the shapes must be equal, but got \(3, 4\) and \(3, 5\)",
    ),
    "outside": (
        lambda: primitive("SparseReorder")(longs([[3, 0]]), t([1.0]), longs([3, 4])),
        RuntimeError,
        r"'indices' must be in \[0, 3\), but got 3..3",
    ),
    "other lengths": (lambda: joined(0, longs([3, 5])), RuntimeError, "must agree but along axis 0"),
    "no multiple": (
        lambda: primitive("SparseReshape")(longs([[0, 0]]), longs([2, 3]), longs([4, -1])),
        RuntimeError,
        "must have 6 elements",
    ),
    "out of order": (
        lambda: primitive("SparseToDenseV2")(longs([2, 0]), longs([4]), t([5.0, 6]), t(0.0)),
        ValueError,
        "must be in order, each once",
    ),
    "no operation": (
        lambda: primitive("DenseToDenseSetOperation", "both")(*SETS),
        ValueError,
        "'set_operation' must be",
    ),
    "no row": (
        lambda: primitive("SparseMatrixNNZ")(ints([3, 4]), *MATRIX[1:]),
        ValueError,
        "'x_row_pointers' must have 4 elements",
    ),
    "falling": (
        lambda: primitive("SparseMatrixNNZ")(*MATRIX[:2], ints([0, 4, 3]), *MATRIX[3:]),
        ValueError,
        "must rise from 0",
    ),
    "no column": (
        lambda: primitive("SparseMatrixNNZ")(*MATRIX[:3], ints([1, 0, 4]), MATRIX[4]),
        ValueError,
        r"'x_col_indices' must be in \[0, 4\)",
    ),
    "both ways": (
        lambda: primitive("SparseMatrixMatMul", transpose_x1=True, adjoint_x1=True)(*MATRIX, DENSE),
        ValueError,
        "must not both be True",
    ),
    "other dtypes": (
        lambda: primitive("SparseMatrixMatMul")(*MATRIX, t(DENSE.asnumpy(), ms.float64)),
        TypeError,
        "'x2_dense' must be Float32 as 'x1_values' is, but got Float64",
    ),
    "gap": (
        lambda: primitive("SparseSegmentSum")(wave(4, 2), ints([0, 1]), ints([0, 2])),
        ValueError,
        "'segment_ids' must begin at 0 and leave none out",
    ),
    "too few": (
        lambda: primitive("SparseSegmentSumWithNumSegments")(wave(4, 2), ints([0, 1]), ints([0, 2]), ints(2)),
        ValueError,
        "'num_segments' must be above the last of 'segment_ids', 2, but got 2",
    ),
    "splits": (
        lambda: primitive("RaggedTensorToSparse", ms.int64)([longs([0, 3, 5])], wave(6)),
        ValueError,
        "must rise from 0 to 6",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_parts_that_do_not_fit_are_one_clear_error(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call()


def test_with_validation_off_the_last_element_of_a_place_stays() -> None:
    op = primitive("SparseToDenseV2", False)
    assert op(longs([2, 0, 2]), longs([4]), t([5.0, 6, 7]), t(-1.0)).tolist() == [6.0, -1.0, 7.0, -1.0]
