"""Functions of sparse tensors in ``ops``: values, errors, and gradients by the values and by the dense side.

Numbers are MindSpore 2.10's where it computes them; the others are those of dense float64 and of central differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from function_cases import agrees

import hookscope.engine as ms
from hookscope.engine import COOTensor, CSRTensor, RowTensor, SparseTensor, Tensor, nn, ops

I32, I64, F32 = ms.int32, ms.int64, ms.float32
SHAPE = (3, 4)
INDICES, STARTS, COLUMNS = Tensor([[0, 1], [1, 2]], I64), Tensor([0, 1, 2, 2], I32), Tensor([1, 2], I32)
VALUES = Tensor([1, 2], F32)
COO, CSR = COOTensor(INDICES, VALUES, SHAPE), CSRTensor(STARTS, COLUMNS, VALUES, SHAPE)
ROW = RowTensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2))
DENSE = Tensor(np.arange(12).reshape(3, 4), F32)

# Three in the first row, of which two at one place in the COO form; none in the last.
MANY_INDICES = Tensor([[1, 2], [0, 3], [0, 1], [1, 0], [0, 3]], I32)
MANY_STARTS, MANY_COLUMNS = Tensor([0, 3, 5, 5], I32), Tensor([3, 0, 1, 2, 0], I32)


def coo(values: Tensor, indices: Tensor = MANY_INDICES, shape: tuple[int, int] = SHAPE) -> COOTensor:
    return COOTensor(indices, values, shape)


def csr(values: Tensor, starts: Tensor = MANY_STARTS, columns: Tensor = MANY_COLUMNS) -> CSRTensor:
    return CSRTensor(starts, columns, values, SHAPE)


def dense(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x.to_dense().asnumpy())


# Made and taken apart


def test_they_are_made_and_taken_apart_by_functions() -> None:
    for output in (ops.make_coo_tensor(INDICES, VALUES, SHAPE), ops.make_sparse_tensor(INDICES, VALUES, SHAPE)):
        assert repr(output) == repr(COO)
    assert repr(ops.make_csr_tensor(STARTS, COLUMNS, VALUES, SHAPE)) == repr(CSR)
    for make in (ops.make_row_tensor, ops.make_row_tensor_inner):
        assert repr(make(ROW.indices, ROW.values, (3, 2))) == repr(ROW)
    assert ops.coo_tensor_get_indices(COO).tolist() == [[0, 1], [1, 2]]
    assert ops.coo_tensor_get_values(COO).tolist() == ops.csr_tensor_get_values(CSR).tolist() == [1.0, 2.0]
    assert ops.coo_tensor_get_dense_shape(COO) == ops.csr_tensor_get_dense_shape(CSR) == SHAPE
    assert (ops.csr_tensor_get_indptr(CSR).tolist(), ops.csr_tensor_get_indices(CSR).tolist()) == ([0, 1, 2, 2], [1, 2])
    assert (ops.row_tensor_get_indices(ROW).tolist(), ops.row_tensor_get_values(ROW).tolist()) == ([0], [[1.0, 2.0]])
    assert ops.row_tensor_get_dense_shape(ROW) == (3, 2)


def test_a_dense_tensor_added_to_a_row_tensor_fills_it() -> None:
    rows = RowTensor(Tensor([2, 0, 2]), Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), (3, 2))
    result = ops.row_tensor_add(rows, ops.ones((3, 2), ms.float64))
    assert (result.indices.tolist(), result.values.dtype) == ([0, 1, 2], F32)
    assert result.values.tolist() == [[4, 5], [1, 1], [7, 9]]
    short = RowTensor(Tensor([2], I32), Tensor([[1.0, 2.0]]), (3, 2))
    assert ops.row_tensor_add(short, ops.ones((3, 2))).indices.dtype == I32
    with pytest.raises(ValueError, match=r"'y' must have the shape \(3, 2\) of 'x', but got \(2, 3\)"):
        ops.row_tensor_add(rows, ops.ones((2, 3)))


# Converted


def test_what_is_not_zero_is_kept() -> None:
    for variant in (ops.dense_to_sparse_coo(DENSE), DENSE.to_coo()):
        assert (variant.indices.dtype, variant.indices.tolist()[0], variant.size, variant.shape) == (
            I32,
            [0, 1],
            11,
            SHAPE,
        )
        np.testing.assert_array_equal(dense(variant), DENSE.asnumpy())
    for other in (ops.dense_to_sparse_csr(DENSE), DENSE.to_csr()):
        assert (other.indptr.tolist(), other.indptr.dtype, other.indices.dtype) == ([0, 3, 7, 11], I32, I32)
        assert other.indices.tolist() == [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
        np.testing.assert_array_equal(ops.csr_to_dense(other).asnumpy(), DENSE.asnumpy())
    nothing = ops.zeros((2, 3)).to_csr()
    assert (nothing.indptr.tolist(), nothing.size, dense(nothing).tolist()) == ([0, 0, 0], 0, [[0] * 3] * 2)
    product = nothing.mm(ops.zeros((3, 2)).to_csr())
    assert (product.size, product.shape) == (0, (2, 2))
    assert (nothing + nothing).size == nothing.to_coo().coalesce().size == 0
    assert nothing.mm(ops.ones((3, 1))).tolist() == nothing.sum(1).tolist() == [[0], [0]]
    assert ops.csr_softmax(nothing, F32).size == 0


def test_rows_become_offsets_and_back() -> None:
    assert ops.coo2csr(Tensor([0, 0, 2], I32), 4).tolist() == [0, 2, 2, 3, 3]
    assert ops.csr2coo(Tensor([0, 2, 2, 3, 3], I32), 3).tolist() == [0, 0, 2]
    assert ops.coo2csr(Tensor([0], I64), 1).dtype == ops.csr2coo(Tensor([0, 1], I64), 1).dtype == I64
    back = ops.csr_to_coo(CSR)
    assert (back.indices.tolist(), back.values.tolist(), back.indices.dtype) == ([[0, 1], [1, 2]], [1.0, 2.0], I32)


def test_elements_are_picked_at_the_places_of_a_csr_tensor() -> None:
    assert ops.csr_gather(MANY_STARTS, MANY_COLUMNS, DENSE, SHAPE).tolist() == [3, 0, 1, 6, 4]
    assert ops.csr_gather(MANY_STARTS, MANY_COLUMNS, DENSE[:, :1], SHAPE).tolist() == [0, 0, 0, 4, 4]
    thick = Tensor(np.arange(24.0).reshape(3, 4, 2))
    assert ops.csr_gather(STARTS, COLUMNS, thick, (3, 4, 2)).tolist() == [[2, 3], [12, 13]]


# Added and joined


def test_coalesce_adds_up_what_is_at_one_place() -> None:
    indices, values, shape = ops.coalesce(Tensor([[0, 0, 1], [1, 1, 2]], I64), Tensor([1.0, 5, 4]), Tensor([3, 3], I64))
    assert (indices.tolist(), values.tolist(), shape.tolist()) == ([[0, 1], [1, 2]], [6.0, 4.0], [3, 3])
    assert (indices.dtype, shape.dtype) == (I64, I64)
    many = ops.Coalesce()(Tensor([[1, 0, 1], [0, 0, 0], [2, 1, 2]]), Tensor([1.0, 2, 3]), Tensor([2, 1, 3]))
    assert (many[0].tolist(), many[1].tolist()) == ([[0, 1], [0, 0], [1, 2]], [2.0, 4.0])


def test_coo_tensors_are_joined_in_the_order_of_their_places() -> None:
    below = ops.coo_concat((COO, COO))
    assert (below.indices.tolist(), below.values.tolist()) == ([[0, 1], [1, 2], [3, 1], [4, 2]], [1, 2, 1, 2])
    assert (below.shape, below.indices.dtype) == ((6, 4), I64)
    mixed = COOTensor(Tensor([[1, 2], [0, 1]], I64), VALUES, SHAPE)
    for axis in (1, -1):
        beside = ops.coo_concat([mixed, COO], axis)
        assert (beside.indices.tolist(), beside.shape) == ([[0, 1], [0, 5], [1, 2], [1, 6]], (3, 8))
        assert beside.values.tolist() == [2, 1, 1, 2]
    assert ops.coo_concat([COO.to_tuple(), COO, COO]).shape == (9, 4)


# Multiplied


@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("how", ["trans", "adjoint"])
def test_a_factor_of_a_product_may_be_transposed(how: str, trans_a: bool, trans_b: bool) -> None:
    a = np.array([[0, 2 + 1j, 0], [3, 0, -1j]])
    b = np.array([[1j, 0], [0, 4], [5, 6 - 2j]])
    inputs = [ops.dense_to_sparse_csr(Tensor(x.T if turn else x)) for x, turn in ((a, trans_a), (b, trans_b))]
    if how == "adjoint":
        a, b = (x.conj() if turn else x for x, turn in ((a, trans_a), (b, trans_b)))
    result = ops.csr_mm(*inputs, **{f"{how}_a": trans_a, f"{how}_b": trans_b})
    np.testing.assert_array_equal(dense(result), a @ b)
    assert result.shape == (2, 2)


def test_functions_of_products_and_sums_are_those_of_the_methods() -> None:
    vector = Tensor([[1.0], [2.0], [3.0], [4.0]])
    assert ops.csr_mv(CSR, vector).tolist() == [[2.0], [6.0], [0.0]]
    assert ops.csr_mv(CSR.astype(I32), vector).dtype == F32
    assert ops.csr_reduce_sum(CSR, 1).tolist() == [[1.0], [2.0], [0.0]]
    added = ops.csr_add(CSR, CSR, Tensor(1.0), Tensor(2.0))
    assert (added.indices.tolist(), added.values.tolist()) == ([1, 2], [3.0, 6.0])
    assert ops.csr_mul(CSR, DENSE).values.tolist() == [1.0, 12.0] and ops.csr_mul(CSR, 2).tolist() == [2.0, 4.0]
    np.testing.assert_allclose(ops.csr_div(CSR, DENSE).values.asnumpy(), [1, 1 / 3], rtol=1e-6)
    assert ops.csr_div(CSR, 2.0).tolist() == ops.csr_div(CSR, Tensor(2)).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("float32", 1e-6), ("float64", 1e-14)])
def test_a_softmax_is_over_what_a_row_keeps(dtype: str, tolerance: float) -> None:
    x = CSRTensor(Tensor([0, 2, 3, 3], I32), Tensor([0, 3, 1], I32), Tensor([1, 2, 3], F32), SHAPE)
    kind = getattr(ms, dtype)
    result = ops.csr_softmax(x.astype(kind), kind)
    want = [1 / (1 + np.e), np.e / (1 + np.e), 1]
    assert (result.dtype, result.indptr.tolist(), result.indices.tolist()) == (kind, [0, 2, 3, 3], [0, 3, 1])
    np.testing.assert_allclose(result.values.asnumpy(), want, rtol=tolerance)
    assert x.values.tolist() == [1.0, 2.0, 3.0]  # MindSpore writes its result there
    assert ops.csr_softmax(x, kind).dtype == kind
    large = ops.csr_softmax(CSRTensor(x.indptr, x.indices, Tensor([1000.0, 1000.0, 1e30]), SHAPE), F32)
    assert large.values.tolist() == [0.5, 0.5, 1.0]


# Element by element

NAMES = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "inv",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "neg",
    "relu",
    "relu6",
    "round",
    "sigmoid",
    "sin",
    "sinh",
    "softsign",
    "sqrt",
    "square",
    "tan",
    "tanh",
]
NUMPYS: dict[str, Callable[[Any], Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "inv": lambda x: 1 / x,
    "neg": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
}
STEPS = ("ceil", "floor", "isfinite", "isinf", "isnan", "round")


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_one_are_those_of_the_values(name: str) -> None:
    numbers = np.array([1.25, 2.75]) if name == "acosh" else np.array([0.25, 0.75])
    with np.errstate(all="ignore"):
        want = NUMPYS.get(name, getattr(np, name, None))(numbers)  # type: ignore[misc]
    for kind, tensor, parts in (("coo", COO, (INDICES,)), ("csr", CSR, (STARTS, COLUMNS))):
        function = getattr(ops, f"{kind}_{name}")
        result = function(type(tensor)(*parts, Tensor(numbers), SHAPE))
        assert type(result) is type(tensor) and result.to_tuple()[0].tolist() == parts[0].tolist()
        np.testing.assert_allclose(result.values.asnumpy(), want, rtol=1e-12)
        assert function.__name__ == f"{kind}_{name}"
        if name not in STEPS:
            agrees(lambda v, f=function, w=tensor, p=parts: f(type(w)(*p, v, SHAPE)).values, numbers)


def test_what_is_not_kept_stays_zero() -> None:
    assert dense(ops.coo_cos(COO))[2].tolist() == [0, 0, 0, 0] and ops.csr_exp(CSR).size == 2
    assert ops.coo_isnan(COO).dtype == ms.bool_ and ops.coo_sqrt(COO.astype(I32)).dtype == F32


# Primitives of the parts


@pytest.mark.parametrize("adjoint_dt", [False, True])
@pytest.mark.parametrize("adjoint_st", [False, True])
@pytest.mark.parametrize("kind", [ops.SparseTensorDenseMatmul, nn.SparseTensorDenseMatmul])
def test_a_product_of_parts_is_that_of_the_matrices(kind: Any, adjoint_st: bool, adjoint_dt: bool) -> None:
    dense = np.array([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]], np.float32)
    left = dense.T if adjoint_st else dense
    right = np.arange(2.0 * left.shape[1], dtype=np.float32).reshape(-1, 2)
    argument = Tensor(right.T if adjoint_dt else right)
    for shape in (SHAPE, Tensor([3, 4])):
        result = kind(adjoint_st, adjoint_dt)(INDICES, VALUES, shape, argument)
        np.testing.assert_array_equal(result.asnumpy(), left @ right)


def test_a_transposed_product_of_complex_numbers_conjugates_none_as_in_mindspore() -> None:
    result = ops.SparseTensorDenseMatmul(True)(
        INDICES, Tensor([1j, 2], ms.complex64), SHAPE, ops.ones((3, 2), ms.complex64)
    )
    assert result.tolist() == [[0, 0], [1j, 1j], [2, 2], [0, 0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda i, v, s: ops.SparseToDense()(i, v, s),
        lambda i, v, s: nn.SparseToDense()(COOTensor(i, v, s)),
        lambda i, v, s: nn.SparseToDense()(SparseTensor(i, v, s)),
    ],
)
def test_parts_become_a_dense_tensor_in_which_the_last_of_a_place_stays(make: Callable[..., Tensor]) -> None:
    assert make(INDICES, VALUES, SHAPE).tolist() == [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]]
    assert make(INDICES, VALUES.astype(I32), SHAPE).dtype == I32
    twice, numbers = Tensor([[0, 1], [2, 0], [0, 1], [1, 1]]), Tensor([1.0, 3.0, 2.0, 5.0])
    result, slope = ms.value_and_grad(lambda v: (make(twice, v, SHAPE) * (DENSE + 1)).sum())(numbers)
    assert make(twice, numbers, SHAPE).tolist() == [[0, 2, 0, 0], [0, 5, 0, 0], [3, 0, 0, 0]]
    assert (result.item(), slope.tolist()) == (61.0, [0.0, 9.0, 2.0, 6.0])  # what did not stay has no gradient


def test_parts_of_three_axes_become_a_dense_tensor_and_are_added_to_one() -> None:
    indices, dense = Tensor([[0, 1, 1], [2, 0, 0]]), np.zeros((3, 2, 2))
    dense[0, 1, 1], dense[2, 0, 0] = 1, 2
    np.testing.assert_array_equal(ops.SparseToDense()(indices, VALUES, (3, 2, 2)).asnumpy(), dense)
    result = ops.SparseTensorDenseAdd()(indices, VALUES, Tensor([3, 2, 2]), ops.ones((3, 2, 2)))
    np.testing.assert_array_equal(result.asnumpy(), dense + 1)


def test_a_block_has_the_elements_in_it_with_their_places_there() -> None:
    indices, values = Tensor([[0, 1], [1, 2], [1, 0], [2, 3]]), Tensor([1.0, 2.0, 3.0, 4.0])

    def block(start: list[int], size: list[int], values: Tensor = values) -> Any:
        return ops.SparseSlice()(indices, values, Tensor([3, 4]), Tensor(start), Tensor(size))

    for start, size, expected in (
        ([0, 0], [3, 4], ([[0, 1], [1, 2], [1, 0], [2, 3]], [1, 2, 3, 4], [3, 4])),
        ([1, 0], [2, 3], ([[0, 2], [0, 0]], [2, 3], [2, 3])),
        ([1, 2], [9, 9], ([[0, 0], [1, 1]], [2, 4], [2, 2])),
        ([1, 2], [0, 1], ([], [], [0, 1])),
        ([5, 0], [2, 2], ([], [], [0, 2])),
    ):
        assert tuple(item.tolist() for item in block(start, size)) == expected
    slope = ms.grad(lambda v: (block([1, 0], [2, 3], v)[1] ** 2).sum())(values)
    assert slope.tolist() == [0, 4, 6, 0]
    with pytest.raises(ValueError, match=r"must have one length, but got 2, 1 and 1"):
        block([1], [2])
    with pytest.raises(ValueError, match=r"must not be negative, but got \[-1, 2\] and \[1, 1\]"):
        block([-1, 2], [1, 1])


# Errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.coo_tensor_get_values(3), TypeError, "For 'coo_tensor_get_values', 'x' must be a COOTensor, but"),
        (lambda: ops.csr_tensor_get_values(COO), TypeError, "'x' must be a CSRTensor, but got COOTensor"),
        (lambda: ops.row_tensor_get_values(COO), TypeError, "'x' must be a RowTensor, but got COOTensor"),
        (lambda: ops.dense_to_sparse_coo(3), TypeError, "'tensor' must be a Tensor, but got int"),
        (lambda: ops.dense_to_sparse_coo(ops.ones(2)), ValueError, r"must have 2 axes, but got shape \(2,\)"),
        (lambda: ops.dense_to_sparse_csr(ops.ones((2, 2, 2))), ValueError, r"must have 2 axes, but got shape \(2, 2"),
        (lambda: ops.csr_to_coo(VALUES), TypeError, "For 'csr_to_coo', 'tensor' must be a CSRTensor, but got Tensor"),
        (lambda: ops.csr_to_dense(COO), TypeError, "'csr_tensor' must be a CSRTensor, but got COOTensor"),
        (lambda: ops.coo2csr(Tensor([0.0]), 2), TypeError, "'row_indices' must hold integers, but got Float32"),
        (lambda: ops.coo2csr(Tensor([[0]]), 2), ValueError, r"'row_indices' must have 1 axis, but got shape \(1, 1\)"),
        (lambda: ops.coo2csr(Tensor([0, 2]), 2), RuntimeError, r"'row_indices' must be in \[0, 2\), but got 0..2"),
        (lambda: ops.coo2csr(Tensor([0]), 2.0), TypeError, "'height' must be an int"),
        (lambda: ops.csr2coo(Tensor([0, 3]), 2), RuntimeError, r"'indptr' must rise from 0 to 2, but got \[0, 3\]"),
        (lambda: ops.csr_gather(STARTS, COLUMNS, ops.ones((3, 5)), SHAPE), ValueError, "'dense' must broadcast to the"),
        (lambda: ops.csr_gather(STARTS, COLUMNS, DENSE, [3, 4]), TypeError, "'shape' must be a tuple of ints"),
        (lambda: ops.coalesce(INDICES, VALUES, (3, 3)), TypeError, "'x_shape' must be a Tensor, but got tuple"),
        (lambda: ops.coalesce(INDICES, Tensor([1.0]), Tensor([3, 3])), ValueError, r"but got shapes \(2, 2\), \(2,\)"),
        (lambda: ops.coalesce(INDICES, VALUES, Tensor([3])), ValueError, "must have a row for each of 'x_shape'"),
        (lambda: ops.coalesce(Tensor([[0, 9], [1, 1]]), VALUES, Tensor([3, 3])), ValueError, r"but got 0..9"),
        (lambda: ops.coalesce(Tensor([[0.0], [1.0]]), Tensor([1.0]), Tensor([3, 3])), TypeError, "must hold integers"),
        (lambda: ops.coo_concat([COO]), ValueError, "'sp_input' must have at least 2 COOTensors, but got 1"),
        (lambda: ops.coo_concat([DENSE, DENSE]), TypeError, "'sp_input' must be a COOTensor, but got Tensor"),
        (lambda: ops.coo_concat(COO), TypeError, "'sp_input' must be a list or tuple of COOTensors, but got COOTensor"),
        (lambda: ops.coo_concat([COO, COO], 2), ValueError, r"'axis' must be in \[-2, 2\), but got 2"),
        (lambda: ops.coo_concat([COO, COO], "0"), TypeError, "'axis' must be an int, but got str"),
        (lambda: ops.coo_concat([COO, COO.astype(I32)]), TypeError, "the dtypes must be equal, but got Float32 a"),
        (lambda: ops.coo_concat([COO, coo(VALUES, INDICES, (3, 6))]), ValueError, "must differ along axis 0 only"),
        (lambda: ops.coo_add(COO, CSR, Tensor(0.0)), TypeError, "For 'coo_add', 'x2' must be a COOTensor, but got CSR"),
        (lambda: ops.csr_add(CSR, 3, Tensor(1.0), Tensor(1.0)), TypeError, "For 'csr_add', 'b' must be a CSRTensor"),
        (lambda: ops.csr_add(CSR, CSR, 1, Tensor(1.0)), TypeError, "For 'csr_add', 'alpha' must be a Tensor, but"),
        (lambda: ops.csr_mul(CSR, "2"), TypeError, "For 'csr_mul', 'y' must be a Tensor or a number, but got str"),
        (lambda: ops.csr_div(COO, 2), TypeError, "For 'csr_div', 'x' must be a CSRTensor, but got COOTensor"),
        (lambda: ops.csr_mm(CSR, VALUES), TypeError, "For 'csr_mm', 'b' must be a CSRTensor, but got Tensor"),
        (lambda: ops.csr_mm(CSR, CSR, 1), TypeError, "For 'csr_mm', 'trans_a' must be a bool, but got int"),
        (lambda: ops.csr_mm(CSR, CSR), ValueError, r"as many columns as rows, but got shapes \(3, 4\) and \(3, 4\)"),
        (lambda: ops.csr_mv(CSR, VALUES), ValueError, r"For 'csr_mv', 'dense' must have the shape \(4, 1\), but"),
        (lambda: ops.csr_reduce_sum(CSR, 0), ValueError, "For 'csr_reduce_sum', 'axis' must be 1 or -1, but got 0"),
        (lambda: ops.csr_softmax(VALUES, F32), TypeError, "For 'csr_softmax', 'logits' must be a CSRTensor, but got T"),
        (lambda: ops.csr_softmax(CSR, I32), TypeError, "'dtype' must be float16, float32 or float64, but got Int32"),
        (lambda: ops.csr_softmax(CSR, 3), TypeError, "'dtype' must be float16, float32 or float64, but got 3"),
        (lambda: ops.coo_cos(CSR), TypeError, "For 'coo_cos', 'x' must be a COOTensor, but got CSRTensor"),
        (lambda: ops.csr_inv(DENSE), TypeError, "For 'csr_inv', 'x' must be a CSRTensor, but got Tensor"),
        (lambda: nn.SparseTensorDenseMatmul(1), TypeError, "'adjoint_st' must be a bool, but got int"),
        (lambda: ops.SparseTensorDenseMatmul(1)(INDICES, VALUES, SHAPE, DENSE), TypeError, "must be a bool"),
        (lambda: ops.SparseTensorDenseMatmul()(INDICES, VALUES, SHAPE, DENSE), ValueError, "'dense' must have 2 axes"),
        (lambda: ops.SparseTensorDenseMatmul()(INDICES, VALUES, (3, 2), DENSE[:2]), ValueError, r"must be in \[0, 2\)"),
        (lambda: ops.SparseTensorDenseMatmul()(INDICES, VALUES, (3, 4, 5), DENSE), ValueError, "must have 2 axes, but"),
        (lambda: ops.SparseTensorDenseMatmul()(INDICES, VALUES, SHAPE, DENSE.astype(I32)), TypeError, "one dtype"),
        (lambda: ops.SparseToDense()(DENSE[:2, :2], VALUES, (2, 2)), TypeError, "'indices' must hold Int16"),
        (
            lambda: ops.SparseToDense()(INDICES, VALUES, "x"),
            TypeError,
            "For 'SparseToDense', 'shape' must be an int or",
        ),
        (lambda: ops.SparseToDense()(INDICES, VALUES, (2, 2)), ValueError, r"For 'SparseToDense', .* but got 1..2"),
        (lambda: ops.SparseToDense()(COLUMNS, VALUES, (3,)), ValueError, "must have a row of 1 for each"),
        (lambda: nn.SparseToDense()(CSR), TypeError, "'sparse_tensor' must be a COOTensor, but got CSRTensor"),
        (lambda: ops.SparseTensorDenseAdd()(INDICES, VALUES, SHAPE, ops.ones((4, 3))), RuntimeError, "must be equal"),
        (lambda: ops.make_map_parameter(), NotImplementedError, "use nn.Embedding"),
    ],
)
def test_what_a_function_refuses_it_says(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


# Gradients, by the values and by the dense side

NUMBERS = np.array([0.7, -1.2, 0.4, 1.9, -0.3])
OTHER = np.array([1.1, 0.6])
MATRIX = np.sin(np.arange(12.0)).reshape(3, 4) + 2
TALL = np.cos(np.arange(8.0)).reshape(4, 2)

BY_VALUES: dict[str, tuple[Callable[..., Tensor], tuple[Any, ...]]] = {
    "coo_to_dense": (lambda v: coo(v).to_dense(), (NUMBERS,)),
    "coo_to_csr": (lambda v: coo(v).to_csr().values, (NUMBERS,)),
    "coo_coalesce": (lambda v: coo(v).coalesce().values, (NUMBERS,)),
    "coo_abs": (lambda v: coo(v).abs().values, (NUMBERS,)),
    "coo_neg": (lambda v: (-coo(v)).values, (NUMBERS,)),
    "coo_plus_coo": (lambda v, w: (coo(v) + coo(w, INDICES)).values, (NUMBERS, OTHER)),
    "coo_minus_coo": (lambda v, w: (coo(v) - coo(w, INDICES)).values, (NUMBERS, OTHER)),
    "coo_add_with_threshold": (lambda v, w: coo(v).add(coo(w, INDICES), Tensor(1.0)).values, (NUMBERS, OTHER)),
    "coo_plus_dense": (lambda v, d: coo(v) + d, (NUMBERS, MATRIX)),
    "dense_minus_coo": (lambda v, d: d - coo(v), (NUMBERS, MATRIX)),
    "coo_times_dense": (lambda v, d: (coo(v) * d).values, (NUMBERS, MATRIX)),
    "coo_by_dense": (lambda v, d: (coo(v) / d).values, (NUMBERS, MATRIX)),
    "coo_matmul": (lambda v, d: coo(v) @ d, (NUMBERS, TALL)),
    "coo_concat": (lambda v, w: ops.coo_concat([coo(v), coo(w, INDICES)], 1).values, (NUMBERS, OTHER)),
    "coalesce": (lambda v: ops.coalesce(Tensor(MANY_INDICES.asnumpy().T), v, Tensor([3, 4]))[1], (NUMBERS,)),
    "csr_to_dense": (lambda v: csr(v).to_dense(), (NUMBERS,)),
    "csr_to_coo": (lambda v: csr(v).to_coo().values, (NUMBERS,)),
    "csr_mv": (lambda v, d: csr(v).mv(d), (NUMBERS, TALL[:, :1])),
    "csr_mm_dense": (lambda v, d: csr(v).mm(d), (NUMBERS, TALL)),
    "csr_mm": (lambda v, w: ops.csr_mm(csr(v), csr(w, STARTS, COLUMNS), trans_b=True).values, (NUMBERS, OTHER)),
    "csr_mm_transposed": (
        lambda v, w: ops.csr_mm(csr(v), csr(w, STARTS, COLUMNS), adjoint_a=True).values,
        (NUMBERS, OTHER),
    ),
    "csr_sum": (lambda v: csr(v).sum(1), (NUMBERS,)),
    "csr_add": (
        lambda v, w, a, b: ops.csr_add(csr(v), csr(w, STARTS, COLUMNS), a, b).values,
        (NUMBERS, OTHER, np.array(1.5), TALL[:, 0]),
    ),
    "csr_mul": (lambda v, d: ops.csr_mul(csr(v), d).values, (NUMBERS, MATRIX)),
    "csr_mul_row": (lambda v, d: ops.csr_mul(csr(v), d).values, (NUMBERS, MATRIX[:1])),
    "csr_mul_number": (lambda v, d: ops.csr_mul(csr(v), d), (NUMBERS, np.array(1.5))),
    "csr_div": (lambda v, d: ops.csr_div(csr(v), d).values, (NUMBERS, MATRIX[:, :1])),
    "csr_gather": (lambda d: ops.csr_gather(MANY_STARTS, MANY_COLUMNS, d, SHAPE), (MATRIX,)),
    "csr_softmax": (lambda v: ops.csr_softmax(csr(v), ms.float64).values, (NUMBERS,)),
    "dense_to_sparse_coo": (lambda d: ops.coo_square(d.to_coo()).values, (MATRIX,)),
    "dense_to_sparse_csr": (lambda d: ops.csr_square(d.to_csr()).values, (MATRIX,)),
    "row_tensor_add": (
        lambda v, d: ops.row_tensor_add(RowTensor(Tensor([2, 2]), v, (3, 4)), d).values,
        (MATRIX[:2], MATRIX),
    ),
    "SparseTensorDenseMatmul": (lambda v, d: ops.SparseTensorDenseMatmul()(MANY_INDICES, v, SHAPE, d), (NUMBERS, TALL)),
    "SparseTensorDenseMatmul_adjoint": (
        lambda v, d: ops.SparseTensorDenseMatmul(True, True)(MANY_INDICES, v, SHAPE, d),
        (NUMBERS, MATRIX[:, :2].T),
    ),
    "SparseTensorDenseAdd": (lambda v, d: ops.SparseTensorDenseAdd()(MANY_INDICES, v, SHAPE, d), (NUMBERS, MATRIX)),
}


@pytest.mark.parametrize("name", BY_VALUES)
def test_gradients_by_values_and_by_the_dense_side_are_central_differences(name: str) -> None:
    function, inputs = BY_VALUES[name]
    agrees(function, *inputs)


def test_the_gradient_of_a_sparse_argument_is_a_tensor_that_of_its_values() -> None:
    weights = Tensor(MATRIX, F32)
    for x in (COO, CSR):
        result = ms.grad(lambda x: (x.to_dense() * weights).sum())(x)
        np.testing.assert_array_equal(result.asnumpy(), MATRIX[[0, 1], [1, 2]].astype(np.float32))
    by_sparse, by_dense = ms.grad(lambda c, d: (c * d).values.sum(), (0, 1))(COO, DENSE)
    assert (by_sparse.tolist(), by_dense.tolist()[1]) == ([1.0, 6.0], [0.0, 0.0, 2.0, 0.0])
    first, second = ms.grad(lambda a, b: (a.values * b.values**2).sum(), (0, 1))(COO, COO)
    assert (first.tolist(), second.tolist()) == ([1.0, 4.0], [2.0, 8.0])


def test_what_arrives_at_a_sparse_output_arrives_at_its_values() -> None:
    assert ms.grad(lambda v: coo(v, INDICES))(VALUES).tolist() == [1.0, 1.0]
    assert ms.grad(lambda v: csr(v, STARTS, COLUMNS) * 2)(VALUES).tolist() == [2.0, 2.0]
    output, slope = ms.value_and_grad(lambda v: coo(v * 3, INDICES))(VALUES)
    assert isinstance(output, COOTensor) and output.values.tolist() == [3.0, 6.0] and slope.tolist() == [3.0, 3.0]
    sens = ms.grad(lambda v: coo(v * v, INDICES), sens_param=True)(VALUES, Tensor([3.0, 4.0]))
    assert sens.tolist() == [6.0, 16.0]
    _, back = ms.vjp(lambda v: coo(v * 3, INDICES), VALUES)
    assert back(Tensor([1.0, 10.0]))[0].tolist() == [3.0, 30.0]
    assert ms.jvp(lambda v: coo(v * 3, INDICES), VALUES, Tensor([1.0, 0.0]))[1].tolist() == [3.0, 0.0]


def test_second_derivatives_go_through_sparse_products() -> None:
    # f(v) = sum over i of (row sum of A(v) @ A(v).T)_i, quadratic in v: its second derivative does not depend on v.
    def function(v: Tensor) -> Tensor:
        return ops.csr_mm(csr(v), csr(v), trans_b=True).values.sum()

    at = Tensor(NUMBERS)
    first = ms.grad(function)
    step, want = 1e-4, []
    for k in range(NUMBERS.size):
        move = np.eye(NUMBERS.size)[k] * step
        ends = [first(Tensor(NUMBERS + sign * move)).asnumpy() for sign in (1, -1)]
        want.append((ends[0] - ends[1]).sum() / (2 * step))
    result = ms.grad(lambda v: first(v).sum())(at)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6)


def test_a_parameter_may_hold_the_values_and_is_trained() -> None:
    class Layer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = ms.Parameter(Tensor([1.0, -1.0]), "weight")

        def construct(self, x: Tensor) -> Tensor:
            return ops.csr_mv(CSRTensor(STARTS, COLUMNS, self.weight, SHAPE), x)

    net, x = Layer(), Tensor([[1.0], [2.0], [3.0], [4.0]])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05))
    losses = [step(x, Tensor([[4.0], [9.0], [0.0]])).item() for _ in range(60)]
    assert losses[0] > 40 and losses[-1] < 1e-3
    np.testing.assert_allclose(net.weight.asnumpy(), [2.0, 3.0], atol=0.02)
