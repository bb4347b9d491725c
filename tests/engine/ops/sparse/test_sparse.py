"""Sparse tensors: what they are made of, how they print, their methods and Python's operators on them.

Texts and numbers are MindSpore 2.10's where it computes them; the others are those of SciPy or of dense float64.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hookscope.engine as ms
from hookscope.engine import COOTensor, CSRTensor, RowTensor, SparseTensor, Tensor, nn, ops
from hookscope.engine.tensors.nested import gradients_like, replaced, tensors_in

I32, I64, F32, F64 = ms.int32, ms.int64, ms.float32, ms.float64
INDICES = Tensor([[0, 1], [1, 2]], I32)
VALUES = Tensor([1, 2], F32)
STARTS, COLUMNS = Tensor([0, 1, 2, 2], I32), Tensor([1, 2], I32)
SHAPE = (3, 4)
COO = COOTensor(INDICES, VALUES, SHAPE)
CSR = CSRTensor(STARTS, COLUMNS, VALUES, SHAPE)
ROW = RowTensor(Tensor([0]), Tensor([[1, 2]], F32), (3, 2))
DENSE = Tensor(np.arange(12).reshape(3, 4), F32)
MATRIX = np.array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]], np.float32)


def dense(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x.to_dense().asnumpy())


def coo(indices: Any, values: Any, shape: tuple[int, ...] = SHAPE, dtype: Any = F32, index: Any = I64) -> COOTensor:
    return COOTensor(Tensor(indices, index), Tensor(values, dtype), shape)


def csr(starts: Any, columns: Any, values: Any, shape: tuple[int, ...] = SHAPE, dtype: Any = F32) -> CSRTensor:
    return CSRTensor(Tensor(starts, I32), Tensor(columns, I32), Tensor(values, dtype), shape)


# Constructors


def test_a_coo_tensor_has_its_parts_and_mindspores_attributes() -> None:
    assert (COO.indices.tolist(), COO.values.tolist(), COO.shape) == ([[0, 1], [1, 2]], [1.0, 2.0], (3, 4))
    assert (COO.dtype, COO.indices.dtype, COO.size, COO.itemsize, COO.ndim) == (F32, I32, 2, 4, 2)
    assert (ops.shape(COO), ops.dtype(COO), ops.shape(CSR), ops.dtype(CSR)) == (SHAPE, F32, SHAPE, F32)
    indices, values, shape = COO.to_tuple()
    assert (indices.tolist(), values.tolist(), shape) == (COO.indices.tolist(), COO.values.tolist(), SHAPE)


def test_a_csr_tensor_has_its_parts_and_mindspores_attributes() -> None:
    assert (CSR.indptr.tolist(), CSR.indices.tolist(), CSR.values.tolist()) == ([0, 1, 2, 2], [1, 2], [1.0, 2.0])
    assert (CSR.dtype, CSR.indptr.dtype, CSR.shape, CSR.size, CSR.itemsize, CSR.ndim) == (F32, I32, (3, 4), 2, 4, 2)
    assert [part if isinstance(part, tuple) else part.tolist() for part in CSR.to_tuple()] == [
        [0, 1, 2, 2],
        [1, 2],
        [1.0, 2.0],
        (3, 4),
    ]


def test_a_row_tensor_has_its_parts() -> None:
    assert (ROW.indices.tolist(), ROW.values.tolist(), ROW.dense_shape) == ([0], [[1.0, 2.0]], (3, 2))
    again = RowTensor(row_tensor=ROW)
    assert (again.indices.tolist(), again.values.tolist(), again.dense_shape) == ([0], [[1.0, 2.0]], (3, 2))


def test_a_sparse_tensor_is_a_coo_tensor_of_any_number_of_axes() -> None:
    result = SparseTensor(Tensor([[0, 1, 1], [2, 0, 0]]), VALUES, (3, 2, 2))
    want = np.zeros((3, 2, 2))
    want[0, 1, 1], want[2, 0, 0] = 1, 2
    np.testing.assert_array_equal(dense(result), want)
    assert repr(SparseTensor(INDICES, VALUES, SHAPE)) == repr(COO)
    assert COOTensor(coo_tensor=SparseTensor(INDICES, VALUES, SHAPE)).values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("make", [lambda: COOTensor(coo_tensor=COO), lambda: CSRTensor(csr_tensor=CSR)])
def test_one_is_made_of_another(make: Callable[[], Any]) -> None:
    np.testing.assert_array_equal(dense(make()), MATRIX)


def test_a_sparse_tensor_never_changes() -> None:
    values = Tensor([1.0, 2.0])
    output = COOTensor(INDICES, values, SHAPE)
    values[0] = 9.0
    output.values[1] = 9.0
    output.indices[0, 0] = 2
    assert (output.values.tolist(), output.indices.tolist()) == ([1.0, 2.0], [[0, 1], [1, 2]])
    with pytest.raises(AttributeError):
        output.values = values  # type: ignore[misc]
    for copied in (copy.copy(output), copy.deepcopy(output)):
        np.testing.assert_array_equal(dense(copied), MATRIX)


@pytest.mark.parametrize("kind", ["int16", "int32", "int64"])
def test_places_keep_their_integers(kind: str) -> None:
    dtype = getattr(ms, kind)
    first, second = (
        COOTensor(INDICES.astype(dtype), VALUES, SHAPE),
        CSRTensor(STARTS.astype(dtype), COLUMNS, VALUES, SHAPE),
    )
    assert first.indices.dtype == second.indptr.dtype == first.to_csr().indptr.dtype == dtype
    for each in (first, second, first.to_csr(), second.to_coo()):
        np.testing.assert_array_equal(dense(each), MATRIX)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: COOTensor(), TypeError, "For 'COOTensor', 'indices' must be a Tensor, but got NoneType"),
        (lambda: COOTensor([[0, 1]], VALUES, SHAPE), TypeError, "'indices' must be a Tensor, but got list"),
        (lambda: COOTensor(INDICES, [1.0, 2.0], SHAPE), TypeError, "'values' must be a Tensor, but got list"),
        (
            lambda: COOTensor(INDICES.astype(F32), VALUES, SHAPE),
            TypeError,
            "must hold Int16, Int32 or Int64, but got F",
        ),
        (lambda: COOTensor(INDICES, VALUES, [3, 4]), TypeError, r"'shape' must be a tuple of ints, but got \[3, 4\]"),
        (lambda: COOTensor(INDICES, VALUES, (3.0, 4)), TypeError, r"must be a tuple of ints, but got \(3.0, 4\)"),
        (lambda: COOTensor(INDICES, VALUES, (-3, 4)), ValueError, r"must have lengths above 0, but got \(-3, 4\)"),
        (lambda: COOTensor(INDICES, VALUES, (0, 4)), ValueError, r"must have lengths above 0, but got \(0, 4\)"),
        (lambda: COOTensor(INDICES, VALUES, (3, 4, 5)), ValueError, r"'shape' must have 2 axes, but got \(3, 4, 5\)"),
        (lambda: COOTensor(Tensor([0, 1]), VALUES, SHAPE), ValueError, r"a row of 2 .* shapes \(2,\) and \(2,\)"),
        (lambda: COOTensor(INDICES, Tensor([1.0]), SHAPE), ValueError, r"but got shapes \(2, 2\) and \(1,\)"),
        (lambda: COOTensor(INDICES, Tensor([[1.0], [2.0]]), SHAPE), ValueError, r"shapes \(2, 2\) and \(2, 1\)"),
        (lambda: COOTensor(coo_tensor=3), TypeError, "'coo_tensor' must be a COOTensor, but got int"),
        (lambda: COOTensor(INDICES, coo_tensor=COO), TypeError, "'coo_tensor' must be given alone"),
        (lambda: SparseTensor([1], VALUES, SHAPE), TypeError, "For 'SparseTensor', 'indices' must be a Tensor"),
        (lambda: SparseTensor(INDICES, VALUES, (3, 4, 5)), ValueError, "must have a row of 3 for each"),
        (lambda: CSRTensor(), TypeError, "For 'CSRTensor', 'indptr' must be a Tensor, but got NoneType"),
        (lambda: CSRTensor(STARTS, [1, 2], VALUES, SHAPE), TypeError, "'indices' must be a Tensor, but got list"),
        (lambda: CSRTensor(STARTS, COLUMNS, [1, 2], SHAPE), TypeError, "'values' must be a Tensor, but got list"),
        (lambda: CSRTensor(STARTS.astype(ms.int8), COLUMNS, VALUES, SHAPE), TypeError, "'indptr' must hold Int16, I"),
        (lambda: CSRTensor(STARTS, COLUMNS.astype(ms.int8), VALUES, SHAPE), TypeError, "'indices' must hold Int16, I"),
        (lambda: CSRTensor(STARTS, COLUMNS, VALUES, [3, 4]), TypeError, "'shape' must be a tuple of ints"),
        (lambda: CSRTensor(STARTS, COLUMNS, VALUES, (4, 4)), ValueError, r"longer by 1 .* shapes \(4, 4\) and \(4,\)"),
        (lambda: CSRTensor(STARTS, COLUMNS, VALUES, (3,)), ValueError, "'shape' must have 2 axes or more"),
        (lambda: CSRTensor(STARTS, COLUMNS, VALUES, (3, -4)), ValueError, "lengths above 0"),
        (lambda: CSRTensor(STARTS, COLUMNS, VALUES, (3, 4, 2)), ValueError, r"an element of shape \(2,\)"),
        (lambda: CSRTensor(STARTS, Tensor([[1, 2]]), VALUES, SHAPE), ValueError, r"shapes \(2,\) and \(1, 2\)"),
        (lambda: CSRTensor(STARTS, COLUMNS, Tensor([1.0]), SHAPE), ValueError, r"shapes \(1,\) and \(2,\)"),
        (lambda: CSRTensor(csr_tensor=COO), TypeError, "'csr_tensor' must be a CSRTensor, but got COOTensor"),
        (lambda: CSRTensor(STARTS, csr_tensor=CSR), TypeError, "'csr_tensor' must be given alone"),
        (lambda: RowTensor(), TypeError, "For 'RowTensor', 'indices' must be a Tensor, but got NoneType"),
        (lambda: RowTensor(Tensor([0.0]), Tensor([[1.0]]), (3, 1)), TypeError, "'indices' must hold Int16, Int32 or"),
        (lambda: RowTensor(Tensor([0, 1]), Tensor([[1.0]]), (3, 1)), ValueError, r"got shapes \(1, 1\) and \(2,\)"),
        (lambda: RowTensor(Tensor([0]), Tensor([[1.0]]), (3, 5)), ValueError, r"an entry of shape \(5,\)"),
        (lambda: RowTensor(Tensor([0]), Tensor([[1.0]]), [3, 1]), TypeError, "'shape' must be a tuple of ints"),
        (lambda: RowTensor(row_tensor=3), TypeError, "'row_tensor' must be a RowTensor, but got int"),
        (lambda: RowTensor(Tensor([0]), row_tensor=ROW), TypeError, "'row_tensor' must be given alone"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_name(
    make: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: coo([[5, 1], [1, 2]], [1, 2]).to_dense(), r"'indices' must be in \[0, 3\), but got 1..5"),
        (lambda: coo([[0, -1], [1, 2]], [1, 2]).to_csr(), r"'indices' must be in \[0, 4\), but got -1..2"),
        (lambda: coo([[0, 7], [1, 2]], [1, 2]) * DENSE, r"For 'COOTensor.mul', 'indices' must be in \[0, 4\)"),
        (lambda: csr([0, 1, 2, 2], [1, 4], [1, 2]).to_dense(), r"'indices' must be in \[0, 4\), but got 1..4"),
        (lambda: csr([0, 2, 1, 2], [1, 2], [1, 2]).to_dense(), r"'indptr' must rise from 0 to 2, but got \[0, 2, 1, 2"),
        (lambda: csr([1, 1, 2, 2], [1, 2], [1, 2]).sum(1), "'indptr' must rise from 0 to 2"),
        (lambda: csr([0, 1, 1, 1], [1, 2], [1, 2]).to_coo(), "'indptr' must rise from 0 to 2"),
    ],
)
def test_places_outside_are_an_error_once_they_are_used(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        make()


# Their text, as MindSpore prints it


def test_they_print_as_mindspores() -> None:
    assert (
        repr(COO)
        == str(COO)
        == (
            "COOTensor(shape=[3, 4], dtype=Float32, indices=Tensor(shape=[2, 2], dtype=Int32, "
            "value=\n[[0 1]\n [1 2]]), "
            "values=Tensor(shape=[2], dtype=Float32, value=[ 1.00000000e+00  2.00000000e+00]))"
        )
    )
    assert repr(CSR) == (
        "CSRTensor(shape=[3, 4], dtype=Float32, indptr=Tensor(shape=[4], dtype=Int32, value=[0 1 2 2]), "
        "indices=Tensor(shape=[2], dtype=Int32, value=[1 2]), "
        "values=Tensor(shape=[2], dtype=Float32, value=[ 1.00000000e+00  2.00000000e+00]))"
    )
    assert repr(ROW) == (
        "RowTensor(shape=[3, 2], dtype=Float32, indices=Tensor(shape=[1], dtype=Int64, value=[0]), "
        "values=Tensor(shape=[1, 2], dtype=Float32, value=\n[[ 1.00000000e+00  2.00000000e+00]]))"
    )


@pytest.mark.parametrize(
    ("values", "dtype", "text"),
    [
        ([1.5, 0], "bool_", "dtype=Bool, value=[ True False]"),
        ([1.5, 0], "float16", "dtype=Float16, value=[ 1.5000e+00  0.0000e+00]"),
        ([1.5, 0], "float64", "dtype=Float64, value=[ 1.50000000e+00  0.00000000e+00]"),
        ([1.5, 0], "complex64", "dtype=Complex64, value=[1.5+0j 0+0j]"),
        ([1.5, 0], "bfloat16", "dtype=BFloat16, value=[1.5   0]"),
        ([1.5, 0], "uint16", "dtype=UInt16, value=[1 0]"),
        ([np.nan, np.inf], "float32", "dtype=Float32, value=[            nan             inf]"),
    ],
)
def test_values_print_as_mindspores(values: list[float], dtype: str, text: str) -> None:
    assert repr(COOTensor(INDICES, Tensor(values).astype(getattr(ms, dtype)), SHAPE)).endswith(
        f"values=Tensor(shape=[2], {text}))"
    )


def test_an_empty_one_prints_as_mindspores() -> None:
    empty = COOTensor(Tensor(np.zeros((0, 2), np.int32)), Tensor(np.zeros(0, np.float32)), SHAPE)
    assert repr(empty) == (
        "COOTensor(shape=[3, 4], dtype=Float32, indices=Tensor(shape=[0, 2], dtype=Int32, value=\n), "
        "values=Tensor(shape=[0], dtype=Float32, value=))"
    )
    assert dense(empty).tolist() == np.zeros(SHAPE).tolist()


def test_vectors_are_broken_into_lines_as_mindspores_and_long_ones_show_their_ends() -> None:
    def row(n: int) -> str:
        return repr(RowTensor(Tensor(np.arange(n) * 7), Tensor(np.arange(n), F32), (200,)))

    assert "value=[ 0  7 14 21 28 35 42 49 56 63 70 77 84])" in row(13)
    assert row(13).endswith("9.00000000e+00  1.00000000e+01  1.10000000e+01 \n  1.20000000e+01]))")
    assert row(30) == (
        "RowTensor(shape=[200], dtype=Float32, indices=Tensor(shape=[30], dtype=Int64, "
        "value=[ 0  7 14 ... 189 196 203]), "
        "values=Tensor(shape=[30], dtype=Float32, value=[ 0.00000000e+00  1.00000000e+00  2.00000000e+00 ...  "
        "2.70000000e+01  2.80000000e+01  2.90000000e+01]))"
    )


# Methods


def test_conversions_keep_the_elements() -> None:
    for variant in (COO, CSR, COO.to_csr(), CSR.to_coo(), COO.to_csr().to_coo()):
        np.testing.assert_array_equal(dense(variant), MATRIX)
    result = COO.to_csr()
    assert (result.indptr.tolist(), result.indices.tolist(), result.values.tolist()) == (
        [0, 1, 2, 2],
        [1, 2],
        [1.0, 2.0],
    )
    assert (result.indptr.dtype, result.indices.dtype) == (I32, I32)
    back = CSR.to_coo()
    assert (back.indices.tolist(), back.values.tolist(), back.indices.dtype) == ([[0, 1], [1, 2]], [1.0, 2.0], I32)


def test_elements_out_of_order_and_of_one_place_stay_in_a_csr_tensor() -> None:
    result = coo([[2, 0], [0, 3], [0, 1], [2, 2], [0, 3]], [1, 2, 3, 4, 5]).to_csr()
    assert (result.indptr.tolist(), result.indices.tolist()) == ([0, 3, 3, 5], [3, 1, 3, 0, 2])
    assert result.values.tolist() == [2.0, 3.0, 5.0, 1.0, 4.0]
    assert dense(result).tolist() == [[0, 3, 0, 7], [0, 0, 0, 0], [1, 0, 4, 0]]


def test_elements_of_one_place_count_together() -> None:
    subject = coo([[1, 2], [0, 1], [0, 1]], [1, 5, 4], (3, 3))
    assert dense(subject).tolist() == [[0, 9, 0], [0, 0, 1], [0, 0, 0]]
    result = subject.coalesce()
    assert (result.indices.tolist(), result.values.tolist(), result.indices.dtype) == (
        [[0, 1], [1, 2]],
        [9.0, 1.0],
        I64,
    )
    assert coo([[1, 2], [1, 2]], [1, 5], index=I32).coalesce().indices.dtype == I32


@pytest.mark.parametrize("dtype", ["int32", "float16", "bfloat16", "complex64", "bool_"])
def test_astype_abs_and_minus_are_of_the_values(dtype: str) -> None:
    kind = getattr(ms, dtype)
    for variant in (COO, CSR):
        result = variant.astype(kind)
        assert (type(result), result.dtype, result.indices.tolist()) == (type(variant), kind, variant.indices.tolist())
        assert dense(result).tolist() == MATRIX.astype(dense(result).dtype).tolist()
        assert (-variant).values.tolist() == [-1.0, -2.0] and (-variant).abs().values.tolist() == [1.0, 2.0]
    assert COO.astype("int32").dtype == I32 and CSR.astype(np.float16).dtype == ms.float16
    with pytest.raises(TypeError):
        COO.astype("nothing")


def test_a_csr_tensor_times_a_vector_and_a_matrix() -> None:
    vector = Tensor([[1.0], [2.0], [3.0], [4.0]])
    matrix = Tensor(np.arange(8.0).reshape(4, 2), F32)
    assert CSR.mv(vector).tolist() == [[2.0], [6.0], [0.0]]
    assert CSR.mm(matrix).tolist() == (CSR @ matrix).tolist() == (COO @ matrix).tolist() == [[2, 3], [8, 10], [0, 0]]
    other = coo([[2, 0], [1, 1], [3, 0]], [3, 4, 5], (4, 2)).to_csr()
    result = CSR.mm(other)
    assert isinstance(result, CSRTensor) and result.shape == (3, 2)
    assert dense(result).tolist() == dense(CSR @ other).tolist() == [[0, 4], [6, 0], [0, 0]]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: CSR.mv([1]), TypeError, "For 'CSRTensor.mv', 'dense_vector' must be a Tensor, but got list"),
        (lambda: CSR.mv(Tensor([1.0, 2, 3, 4])), ValueError, r"must have the shape \(4, 1\), but got \(4,\)"),
        (lambda: CSR.mv(ops.ones((4, 2))), ValueError, r"must have the shape \(4, 1\), but got \(4, 2\)"),
        (lambda: CSR.mm([1]), TypeError, "'matrix' must be a Tensor or a CSRTensor, but got list"),
        (lambda: CSR.mm(ops.ones((3, 2))), ValueError, r"the first of length 4, but got shape \(3, 2\)"),
        (lambda: CSR.mm(ops.ones(4)), ValueError, r"'matrix' must have 2 axes, the first of length 4, but got shape"),
        (lambda: CSR.mm(CSR), ValueError, r"as many columns as rows, but got shapes \(3, 4\) and \(3, 4\)"),
        (lambda: COO @ ops.ones((3, 2)), ValueError, "For 'COOTensor.matmul', 'other' must have 2 axes"),
        (lambda: CSR.sum(0), ValueError, "For 'CSRTensor.sum', 'axis' must be 1 or -1, but got 0"),
        (lambda: CSR.sum(1.0), TypeError, "'axis' must be an int, but got float"),
        (lambda: CSR.add(CSR, 1, 2), TypeError, "For 'CSRTensor.add', 'alpha' must be a Tensor, but got int"),
        (lambda: CSR.add(COO, Tensor(1.0), Tensor(1.0)), TypeError, "'b' must be a CSRTensor, but got COOTensor"),
        (lambda: CSR.add(CSR, ops.ones(3), Tensor(1.0)), ValueError, r"'alpha' must broadcast to the shape \(3, 4\)"),
        (lambda: COO.add(COO, 0), TypeError, "For 'COOTensor.add', 'thresh' must be a Tensor, but got int"),
        (lambda: COO.add(COO, Tensor([2.0])), ValueError, r"'thresh' must have no axes, but got shape \(1,\)"),
        (lambda: COO.add(CSR, Tensor(1.0)), TypeError, "'other' must be a COOTensor, but got CSRTensor"),
        (lambda: COO.add(coo([[0, 1]], [1], (3, 5)), Tensor(0.0)), ValueError, "the shapes must be equal"),
        (lambda: COO + coo([[0, 1]], [1], (3, 5)), ValueError, r"equal, but got \(3, 4\) and \(3, 5\)"),
        (lambda: CSR - csr([0, 1, 1, 1], [1], [1], (3, 5)), ValueError, r"equal, but got \(3, 4\) and \(3, 5\)"),
        (lambda: COO + ops.ones((4, 3)), ValueError, r"equal, but got \(3, 4\) and \(4, 3\)"),
        (lambda: COO * Tensor([1.0]), ValueError, r"For 'COOTensor.mul', the shapes must be equal"),
        (lambda: CSR * ops.ones((3, 5)), ValueError, r"'other' must broadcast to the shape \(3, 4\), but"),
        (lambda: CSR / ops.ones((1, 3, 4)), ValueError, r"'other' must broadcast to the shape \(3, 4\)"),
        (lambda: CSR * ops.ones((1, 1, 1)), ValueError, r"'other' must broadcast to the shape \(3, 4\)"),
        (lambda: CSR - csr([0, 1, 1, 1], [1], [1], (3, 5)), ValueError, "For 'CSRTensor.sub', the shapes"),
        (lambda: COO + 1, TypeError, "unsupported operand type"),
        (lambda: COO * 2, TypeError, "unsupported operand type"),
        (lambda: COO * COO, TypeError, "unsupported operand type"),
        (lambda: CSR + DENSE, TypeError, "must be a Tensor or a number, but got CSRTensor"),
        (lambda: DENSE + CSR, TypeError, "unsupported operand type"),
        (lambda: DENSE / COO, TypeError, "unsupported operand type"),
        (lambda: CSR * CSR, TypeError, "unsupported operand type"),
        (lambda: CSR + COO, TypeError, "unsupported operand type"),
        (lambda: SparseTensor(Tensor([[0, 0, 0]]), Tensor([1.0]), (1, 1, 1)).to_csr(), ValueError, "must have 2 axes"),
    ],
)
def test_what_a_sparse_tensor_cannot_do_it_says(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_rows_are_added_up() -> None:
    assert CSR.sum(1).tolist() == CSR.sum(-1).tolist() == [[1.0], [2.0], [0.0]]
    thick = csr([0, 1, 3, 3], [1, 2, 0], [[1, 2], [3, 4], [5, 6]], (3, 4, 2))
    assert thick.sum(1).tolist() == [[[1, 2]], [[8, 10]], [[0, 0]]] and thick.sum(-2).shape == (3, 1, 2)


def test_elements_may_have_axes_of_their_own() -> None:
    thick = csr([0, 1, 2, 2], [1, 2], [[1, 2], [3, 4]], (3, 4, 2))
    dense = np.arange(24.0).reshape(3, 4, 2)
    assert (thick * Tensor(dense, F32)).values.tolist() == [[2, 6], [36, 52]]
    assert (thick * Tensor(dense[:1, :, :1], F32)).values.tolist() == [[2, 4], [12, 16]]
    assert (thick * 2).tolist() == [[2, 4], [6, 8]]
    for call in (thick.to_dense, thick.to_coo, lambda: thick + thick, lambda: thick.mv(ops.ones((4, 1)))):
        with pytest.raises(ValueError, match=r"must have 2 axes, but got shape \(3, 4, 2\)"):
            call()


# Sums


@pytest.mark.parametrize(
    ("thresh", "indices", "values"),
    [(0, [[0, 1], [1, 2]], [2, -4]), (2, [[0, 1], [1, 2]], [2, -4]), (3, [[1, 2]], [-4]), (5, [], [])],
)
def test_a_sum_leaves_out_what_is_below_the_threshold(thresh: int, indices: list[Any], values: list[float]) -> None:
    subject = coo([[0, 1], [1, 2]], [1, -2])
    for result in (subject.add(subject, Tensor(thresh, F32)), ops.coo_add(subject, subject, Tensor(thresh))):
        assert (result.indices.tolist(), result.values.tolist(), result.indices.shape[1]) == (indices, values, 2)


def test_a_sum_keeps_what_cancels_and_what_is_not_a_number() -> None:
    result = coo([[0, 1], [1, 2]], [1, np.nan]).add(coo([[0, 1], [2, 0]], [-1, 3]), Tensor(0.0))
    np.testing.assert_array_equal(result.values.asnumpy(), [0.0, np.nan, 3.0])
    assert coo([[1, 2]], [np.nan]).add(coo([[0, 1]], [1]), Tensor(2.0)).indices.tolist() == [[1, 2]]


def test_a_sum_without_a_threshold_keeps_small_elements() -> None:
    small = coo([[0, 1], [1, 2]], [0.125, -0.25])
    assert (small + small).values.tolist() == [0.25, -0.5] and (small - small).values.tolist() == [0.0, 0.0]


def test_the_threshold_is_compared_with_absolute_values_of_any_dtype() -> None:
    matrix = coo([[0, 1], [1, 2]], [-64, 1], dtype=ms.int8)
    assert matrix.add(matrix, Tensor(3)).values.tolist() == [-128]
    pair = coo([[0, 1], [1, 2]], [3 + 4j, 1j], dtype=ms.complex64)
    assert pair.add(pair, Tensor(9.0)).values.tolist() == [6 + 8j]


def test_a_sum_has_each_place_once_in_order_whatever_the_order_was() -> None:
    first, second = coo([[1, 2], [0, 1], [1, 2]], [1, 2, 7]), coo([[0, 1], [2, 0]], [3, 4])
    for result, sign in ((first + second, 1), (first - second, -1)):
        assert result.indices.tolist() == [[0, 1], [1, 2], [2, 0]]
        np.testing.assert_array_equal(dense(result), dense(first) + sign * dense(second))


def test_sums_are_of_the_dtype_and_the_places_that_both_are_promoted_to() -> None:
    mixed = COO.astype(F64) + coo([[0, 1]], [1])
    assert (mixed.dtype, mixed.indices.dtype) == (F64, I64)
    wide = CSRTensor(STARTS.astype(I64), COLUMNS, VALUES, SHAPE) + CSR.astype(F64)
    assert (wide.dtype, wide.indptr.dtype, wide.indices.dtype) == (F64, I64, I32)
    for dtype in ("int8", "int32", "float16", "bfloat16", "complex64"):
        kind = getattr(ms, dtype)
        for variant in (COO.astype(kind), CSR.astype(kind)):
            assert (variant + variant).dtype == kind and (variant + variant).values.tolist() == [2, 4]


def test_csr_tensors_are_added_as_mindspores() -> None:
    other = csr([0, 2, 3, 3], [0, 3, 1], [1, 2, 3])
    for result in (
        CSR + other,
        CSR.add(other, Tensor(1), Tensor(1.5)),
        CSR.add(csr([0, 2, 3, 3], [3, 0, 1], [2, 1, 3]), Tensor(2), Tensor(1.5)),
    ):
        assert (result.indptr.tolist(), result.indices.tolist()) == ([0, 3, 5, 5], [0, 1, 3, 1, 2])
    assert (CSR + other).values.tolist() == [1, 1, 2, 3, 2]
    assert CSR.add(other, Tensor(2), Tensor(1.5)).values.tolist() == [1.5, 2, 3, 4.5, 4]
    assert (CSR - CSR).values.tolist() == [0, 0]


def test_factors_of_a_sum_broadcast() -> None:
    rows, columns = np.array([[2.0], [3.0], [4.0]]), np.array([1.0, 10.0, 100.0, 1000.0])
    other = csr([0, 2, 3, 3], [0, 3, 1], [1, 2, 3])
    result = CSR.add(other, Tensor(rows, F32), Tensor(columns, F32))
    np.testing.assert_array_equal(dense(result), rows * MATRIX + columns * dense(other))


# Python's operators with dense tensors


def test_a_coo_tensor_beside_a_dense_one() -> None:
    dense = DENSE.asnumpy()
    for result, want in (
        (COO + DENSE, dense + MATRIX),
        (DENSE + COO, dense + MATRIX),
        (DENSE - COO, dense - MATRIX),
        (COO - DENSE, MATRIX - dense),
    ):
        assert isinstance(result, Tensor) and result.dtype == F32
        np.testing.assert_array_equal(result.asnumpy(), want)
    for product in (COO * DENSE, DENSE * COO):
        assert (product.indices.tolist(), product.values.tolist()) == ([[0, 1], [1, 2]], [1.0, 12.0])
    np.testing.assert_array_equal((COO / DENSE).values.asnumpy(), np.array([1, 1 / 3], np.float32))
    assert (COO * DENSE.astype(F64)).dtype == (COO.astype(I32) * DENSE.astype(F64)).dtype == F64
    assert (COO.astype(I32) / DENSE.astype(I32)).dtype == F32 and (COO + DENSE.astype(F64)).dtype == F64


def test_a_csr_tensor_beside_a_dense_one() -> None:
    for product in (CSR * DENSE, DENSE * CSR, CSR * DENSE[:, :1] * DENSE[:1] * 1.0):
        assert isinstance(product, CSRTensor | Tensor)
    assert (CSR * DENSE).values.tolist() == (DENSE * CSR).values.tolist() == [1.0, 12.0]
    assert (CSR * DENSE[1]).values.tolist() == [5.0, 12.0] and (CSR * DENSE[:, :1]).values.tolist() == [0.0, 8.0]
    np.testing.assert_array_equal((CSR / DENSE).values.asnumpy(), np.array([1, 1 / 3], np.float32))
    assert (CSR / (DENSE * 0)).values.tolist() == [np.inf, np.inf]


def test_axes_of_length_two_are_no_broadcast_ones() -> None:
    pair = np.array([[1.0, 2.0], [3.0, 4.0]])
    for variant in (Tensor(pair).to_csr(), Tensor(pair).to_coo()):
        assert (variant * Tensor(10 * pair)).values.tolist() == [10, 40, 90, 160]


def test_a_csr_tensor_beside_a_number_gives_its_values_alone() -> None:
    for result in (CSR * 2, CSR * Tensor(2.0), CSR * Tensor([[2.0]]), 2 * CSR, Tensor(2.0) * CSR):
        assert isinstance(result, Tensor) and result.tolist() == [2.0, 4.0]
    assert (CSR / 2).tolist() == (CSR / Tensor(2)).tolist() == [0.5, 1.0]
    assert (CSR.astype(I32) * 2.5).tolist() == [2.5, 5.0] and (CSR.astype(I32) / 2).tolist() == [0.5, 1.0]


def test_a_tensor_is_no_sparse_one_and_the_other_way_round() -> None:
    assert not isinstance(COO, Tensor) and not ms.is_tensor(COO)
    assert COO == COO and COO != CSR and {COO: 1}[COO] == 1


# Large ones, against SciPy


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "float16", "int64"])
def test_products_of_large_ones_are_scipys(dtype: str) -> None:
    numbers = np.random.default_rng(5)
    first, second = (sp.random(n, m, 0.05, "csr", random_state=k) for k, (n, m) in enumerate([(70, 90), (90, 50)]))
    for each in (first, second):
        each.data = np.round(8 * numbers.standard_normal(each.nnz))  # whose sums are exact
    right = np.round(8 * numbers.standard_normal((90, 7)))
    x, y = (
        CSRTensor(Tensor(a.indptr), Tensor(a.indices), Tensor(a.data.astype(dtype)), a.shape) for a in (first, second)
    )
    dense_right = Tensor(right.astype(dtype))
    for result in (x.mm(dense_right), x.to_coo() @ dense_right):
        np.testing.assert_array_equal(result.asnumpy(), (first @ right).astype(dtype))
    product = x.mm(y)
    assert product.dtype == x.dtype
    np.testing.assert_array_equal(dense(product), (first @ second).toarray().astype(dtype))
    terms = [sp.csr_matrix((np.ones(a.nnz), a.indices, a.indptr), a.shape) for a in (first, second)]
    np.testing.assert_array_equal(product.indptr.asnumpy(), (terms[0] @ terms[1]).indptr)
    np.testing.assert_array_equal(x.mv(dense_right[:, :1]).asnumpy(), (first @ right[:, :1]).astype(dtype))


def test_products_of_integers_are_exact() -> None:
    large = 2**61 + 1
    subject = coo([[0, 1]], [large], dtype=I64)
    assert (subject @ Tensor([[0], [3], [0], [0]], I64)).tolist() == [[3 * large], [0], [0]]
    assert subject.to_csr().mm(coo([[1, 0]], [3], (4, 1), I64).to_csr()).values.tolist() == [3 * large]


def test_a_product_of_complex_numbers_conjugates_none() -> None:
    subject = coo([[0, 1]], [1j], dtype=ms.complex64).to_csr()
    assert subject.mm(coo([[1, 0]], [2j], (4, 1), ms.complex64).to_csr()).values.tolist() == [-2]


def test_half_precision_is_summed_in_single() -> None:
    row = np.stack([np.zeros(4096, np.int32), np.arange(4096)], 1)
    ones = COOTensor(Tensor(row), ops.ones(4096, ms.float16), (1, 4096))
    assert (ones @ ops.ones((4096, 1), ms.float16)).tolist() == [[4096.0]]
    assert (ones.astype(ms.bfloat16) @ ops.ones((4096, 1), ms.bfloat16)).tolist() == [[4096.0]]


# Through cells, hooks and precision


class Doubling(nn.Cell):
    def construct(self, x: COOTensor) -> COOTensor:
        return COOTensor(x.indices, x.values * 2, x.shape)


class Block(nn.Cell):
    def construct(self, x: Any) -> Tensor:
        return x.to_dense()


def test_a_cell_takes_and_gives_sparse_tensors() -> None:
    assert Doubling()(COO).values.tolist() == [2.0, 4.0]
    np.testing.assert_array_equal(Block()(CSR).asnumpy(), MATRIX)
    np.testing.assert_array_equal(nn.SequentialCell(Doubling(), Block())(COO).asnumpy(), 2 * MATRIX)


def test_hooks_see_sparse_tensors_and_the_gradients_of_their_values() -> None:
    net, records = Doubling(), []
    net.register_forward_pre_hook(lambda cell, args: records.append(args))
    net.register_forward_hook(lambda cell, args, output: records.append(output))
    net.register_backward_pre_hook(lambda cell, arriving: records.append(arriving))
    net.register_backward_hook(lambda cell, leaving, arriving: records.append((leaving, arriving)))
    result = ms.grad(lambda v: (net(COOTensor(INDICES, v, SHAPE)).values ** 2).sum())(VALUES)
    assert result.tolist() == [8.0, 16.0]
    (argument,), output, (arriving,), ((leaving,), (same,)) = records
    assert isinstance(argument, COOTensor) and argument.values.tolist() == [1.0, 2.0]
    assert isinstance(output, COOTensor) and output.values.tolist() == [2.0, 4.0]
    assert arriving.tolist() == same.tolist() == [4.0, 8.0] and leaving.tolist() == [8.0, 16.0]


def test_what_a_backward_hook_returns_takes_the_place_of_the_gradient_of_the_values() -> None:
    net = Doubling()
    net.register_backward_hook(lambda cell, leaving, arriving: (leaving[0] * 10,))
    assert ms.grad(lambda v: net(COOTensor(INDICES, v, SHAPE)).values.sum())(VALUES).tolist() == [20.0, 20.0]


def test_a_bprop_gets_and_gives_the_gradient_of_the_values() -> None:
    class Own(nn.Cell):
        def construct(self, x: COOTensor) -> COOTensor:
            return COOTensor(x.indices, x.values * 2, x.shape)

        def bprop(self, x: COOTensor, out: COOTensor, dout: Tensor) -> tuple[Tensor]:
            assert isinstance(x, COOTensor) and isinstance(out, COOTensor) and isinstance(dout, Tensor)
            return (dout * 5,)

    net = Own()
    assert ms.grad(lambda v: (net(COOTensor(INDICES, v, SHAPE)).values ** 2).sum())(VALUES).tolist() == [20.0, 40.0]

    def construct_alike(self: Any, x: COOTensor, out: COOTensor, dout: Tensor) -> tuple[COOTensor]:
        return (COOTensor(x.indices, dout * 3, x.shape),)

    Own.bprop = construct_alike  # type: ignore[method-assign,assignment]
    assert ms.grad(lambda v: Own()(COOTensor(INDICES, v, SHAPE)).values.sum())(VALUES).tolist() == [3.0, 3.0]


def test_a_cell_to_recompute_has_the_same_gradients() -> None:
    net = nn.SequentialCell(Doubling(), Block())
    net.recompute()
    weights = Tensor(np.arange(12.0).reshape(3, 4), F32)
    assert ms.grad(lambda v: (net(COOTensor(INDICES, v, SHAPE)) * weights).sum())(VALUES).tolist() == [2.0, 12.0]


def test_half_precision_is_used_for_products_where_a_cell_asks_for_it() -> None:
    class Product(nn.Cell):
        def construct(self, x: CSRTensor, y: Tensor) -> Tensor:
            return x.mm(y)

    assert Product().to_float(ms.float16)(CSR, ops.ones((4, 2))).dtype == ms.float16
    assert Product()(CSR, ops.ones((4, 2))).dtype == F32


def test_stop_gradient_stops_that_of_the_values() -> None:
    def function(v: Tensor) -> Tensor:
        x = COOTensor(INDICES, v, SHAPE)
        return (ops.stop_gradient(x).values * x.values).sum()

    assert ms.grad(function)(VALUES).tolist() == [1.0, 2.0]


def test_helpers_find_and_replace_the_values_within_any_structure() -> None:
    values = {"a": (COO, [CSR, 1]), "b": VALUES}
    assert [t.tolist() for t in tensors_in(values)] == [[1.0, 2.0]] * 3
    others = [Tensor([float(n), 0.0]) for n in range(3)]
    output = replaced(values, list(others))
    assert isinstance(output["a"][0], COOTensor) and output["a"][0].indices.tolist() == [[0, 1], [1, 2]]
    assert isinstance(output["a"][1][0], CSRTensor) and output["a"][1][1] == 1
    assert [t.tolist() for t in tensors_in(output)] == [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    bare = gradients_like(values, list(others))
    assert bare["a"][0] is others[0] and bare["a"][1][0] is others[1] and bare["b"] is others[2]
    assert COO.values.tolist() == CSR.values.tolist() == [1.0, 2.0]


def test_scipy_is_imported_by_the_first_product_and_mindspores_paths_lead_here(run_python: Any) -> None:
    code = (
        "import sys, hookscope; hookscope.install_as_mindspore(); import mindspore as ms; "
        "from mindspore.common.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor; "
        "from mindspore import common, Tensor; "
        "x = COOTensor(Tensor([[0, 1]]), Tensor([2.0]), (2, 2)); (x + x).to_csr().to_dense(); "
        "before = 'scipy' in sys.modules; x @ Tensor([[1.0], [3.0]]); "
        "print(before, 'scipy.sparse' in sys.modules, common.CSRTensor is CSRTensor is ms.CSRTensor, "
        "RowTensor is ms.RowTensor, SparseTensor is common.SparseTensor)"
    )
    assert run_python(code).stdout.strip() == "False True True True True"


def test_a_shape_holds_all_values() -> None:
    with pytest.raises(ValueError, match=r"'shape' \(1, 1\) is too small for 2 values"):
        COOTensor(Tensor([[0, 1], [1, 2]], ms.int32), Tensor([1.0, 2.0]), (1, 1))
