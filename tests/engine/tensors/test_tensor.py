"""Tensor: what it is made of, how it prints, reading and writing parts, and values that never change afterwards."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

Array = np.ndarray[Any, Any]


# Construction


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, ms.bool_),
        (3, ms.int64),
        (2.5, ms.float32),
        (1 + 2j, ms.complex128),
        ([1, 2], ms.int64),
        ([1, 2.5], ms.float32),
        ([True, False], ms.bool_),
        ([1 + 2j], ms.complex128),
        ([], ms.float32),
        (((1.0, 2.0), (3.0, 4.0)), ms.float32),
        (np.array([1.0]), ms.float64),
        ([np.float64(1.0)], ms.float64),
        ([[1.0], (np.float64(2.0),)], ms.float64),
        ([np.array([1.0]), [2.0]], ms.float64),
        ([[1.5], Tensor(np.array([2.5]))], ms.float64),
        ([[1.5], [[2.5][0]]], ms.float32),
        (np.float16(1.0), ms.float16),
        (np.array([1], np.uint8), ms.uint8),
        (np.array([1.0], ml_dtypes.bfloat16), ms.bfloat16),
    ],
)
def test_dtype_without_a_wish_is_mindspores(data: Any, dtype: ms.DType) -> None:
    assert Tensor(data).dtype is dtype


def test_a_wished_dtype_is_taken_whatever_the_data() -> None:
    for data in (3, [1, 2], np.array([1.5]), Tensor([1.5])):
        assert Tensor(data, ms.float16).dtype is ms.float16


def test_a_list_may_hold_tensors() -> None:
    assert Tensor([Tensor(1.5), Tensor(2.5)]).tolist() == [1.5, 2.5]
    assert Tensor([[Tensor(1.5), 2], (3, Tensor([4, 5])[1])]).tolist() == [[1.5, 2], [3, 5]]


def test_later_writes_to_the_numpy_array_do_not_show() -> None:
    array = np.zeros(2, np.float32)
    tensors = Tensor(array), Tensor.from_numpy(array), ms.from_numpy(array)
    array[0] = 7
    assert [t.tolist() for t in tensors] == [[0.0, 0.0]] * 3


def test_an_initializer_fills_a_shape() -> None:
    output = Tensor(shape=(2, 3), dtype=ms.float16, init=ms.initializer.One())
    assert (output.shape, output.dtype, output.tolist()) == ((2, 3), ms.float16, [[1.0] * 3] * 2)


@pytest.mark.parametrize(
    ("arguments", "dtype", "values"),
    [
        (([[1, 2]],), ms.int64, [[1, 2]]),
        ((1.5,), ms.float32, 1.5),
        ((np.array([1.5, -2.5]), ms.int8), ms.int8, [1, -2]),
        ((None, ms.float16, (2,), "ones"), ms.float16, [1.0, 1.0]),
    ],
)
def test_tensor_as_a_function_makes_one(arguments: tuple[Any, ...], dtype: Any, values: Any) -> None:
    output = ms.tensor(*arguments)
    assert (type(output), output.dtype, output.tolist()) == (Tensor, dtype, values)


def test_iterating_gives_the_entries_of_the_first_axis() -> None:
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert [row.tolist() for row in Tensor(x)] == x.tolist()
    assert [float(item) for item in Tensor(x[0])] == x[0].tolist()
    assert list(Tensor(x[:0])) == []
    weights = [Tensor(row) for row in np.cos(x)]
    result = ms.grad(lambda x: sum((row * w).sum() for row, w in zip(x, weights, strict=True)))(Tensor(x))
    np.testing.assert_array_equal(result.asnumpy(), np.cos(x))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(Tensor(1))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, TypeError, "'input_data' is missing"),
        ({"input_data": "a"}, TypeError, "'input_data' must be a Tensor, .* but got str"),
        ({"input_data": [[1, 2], [3]]}, TypeError, "'input_data' is not rectangular"),
        ({"input_data": ["a"]}, TypeError, "elements of NumPy dtype '<U1' cannot be held"),
        ({"input_data": np.array([None])}, TypeError, "elements of NumPy dtype 'object' cannot be held"),
        ({"input_data": 1.0, "dtype": "no such"}, TypeError, "'dtype' must be a MindSpore dtype .* got 'no such'"),
        ({"init": "ones", "dtype": ms.float32}, ValueError, "'init' needs 'shape' and 'dtype' beside it"),
    ],
)
def test_what_cannot_be_a_tensor_is_refused(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        Tensor(**arguments)


def test_from_numpy_takes_only_arrays() -> None:
    with pytest.raises(TypeError, match="'array' must be a numpy.ndarray, but got list"):
        Tensor.from_numpy([1.0])  # type: ignore[arg-type]


# Printing. Each text is what MindSpore 2.10.0 printed for the same tensor.


def halves(values: Any) -> Tensor:
    return Tensor(values, ms.bfloat16)


ROWS = Tensor(np.arange(2000, dtype=np.float32).reshape(40, 50))
PRINTED: list[tuple[Tensor, str, str]] = [
    (
        Tensor([1.5, -2.0, 3e10]),
        "Tensor(shape=[3], dtype=Float32, value= [ 1.50000000e+00, -2.00000000e+00,  3.00000010e+10])",
        "[ 1.5e+00 -2.0e+00  3.0e+10]",
    ),
    (
        Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "Tensor(shape=[2, 3], dtype=Float32, value=\n"
        "[[ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00],\n"
        " [ 3.00000000e+00,  4.00000000e+00,  5.00000000e+00]])",
        "[[0. 1. 2.]\n [3. 4. 5.]]",
    ),
    (
        Tensor(np.arange(8, dtype=np.int64).reshape(2, 2, 2)),
        "Tensor(shape=[2, 2, 2], dtype=Int64, value=\n[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]])",
        "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]",
    ),
    (
        Tensor([float("nan"), float("inf"), -float("inf"), 1.0]),
        "Tensor(shape=[4], dtype=Float32, value= [            nan,             inf,            -inf,  1.00000000e+00])",
        "[ nan  inf -inf   1.]",
    ),
    (
        Tensor([1e-7, 60000.0], ms.float16),
        "Tensor(shape=[2], dtype=Float16, value= [ 1.1921e-07,  6.0000e+04])",
        "[1.e-07 6.e+04]",
    ),
    (
        halves([0.1, 3e10, 1e-5, 100.0]),
        "Tensor(shape=[4], dtype=BFloat16, value= [   0.100098, 3.00648e+10, 1.00136e-05,         100])",
        "[0.100098 30064771072.000000 0.000010 100.000000]",
    ),
    (halves([float("nan"), -float("inf"), 1.0]), "Tensor(shape=[3], dtype=BFloat16, value= [ nan, -inf,    1])", ""),
    (Tensor([True, False]), "Tensor(shape=[2], dtype=Bool, value= [ True, False])", "[ True False]"),
    (Tensor([1, -2, 300]), "Tensor(shape=[3], dtype=Int64, value= [  1,  -2, 300])", "[  1  -2 300]"),
    (
        Tensor(np.array([1.5 + 2.25j, -0.1j, 1e10], np.complex64)),
        "Tensor(shape=[3], dtype=Complex64, value= [1.5+2.25j, -0-0.1j, 1e+10+0j])",
        "[ 1.5e+00+2.25j -0.0e+00-0.1j   1.0e+10+0.j  ]",
    ),
    (Tensor(2.5), "Tensor(shape=[], dtype=Float32, value= 2.5)", "2.5"),
    (Tensor(0.1), "Tensor(shape=[], dtype=Float32, value= 0.1)", "0.1"),
    (Tensor(1 / 3, ms.float64), "Tensor(shape=[], dtype=Float64, value= 0.333333)", "0.3333333333333333"),
    (Tensor(3), "Tensor(shape=[], dtype=Int64, value= 3)", "3"),
    (Tensor(True), "Tensor(shape=[], dtype=Bool, value= True)", "True"),
    (halves(0.1), "Tensor(shape=[], dtype=BFloat16, value= 0.100098)", "0.100098"),
    (Tensor(1 + 2j), "Tensor(shape=[], dtype=Complex128, value= 1+2j)", "(1+2j)"),
    (Tensor(np.zeros(0, np.float32)), "Tensor(shape=[0], dtype=Float32, value= )", "[]"),
    (Tensor(np.zeros((2, 0), np.float32)), "Tensor(shape=[2, 0], dtype=Float32, value=\n)", "[]"),
    (
        Tensor(np.arange(2000)),
        "Tensor(shape=[2000], dtype=Int64, value= [   0,    1,    2 ... 1997, 1998, 1999])",
        "[   0    1    2 ... 1997 1998 1999]",
    ),
    (
        ROWS,
        "Tensor(shape=[40, 50], dtype=Float32, value=\n"
        "[[ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00 ...  4.70000000e+01,  4.80000000e+01,  4.90000000e+01],\n"
        " [ 5.00000000e+01,  5.10000000e+01,  5.20000000e+01 ...  9.70000000e+01,  9.80000000e+01,  9.90000000e+01],\n"
        " [ 1.00000000e+02,  1.01000000e+02,  1.02000000e+02 ...  1.47000000e+02,  1.48000000e+02,  1.49000000e+02],\n"
        " ...\n"
        " [ 1.85000000e+03,  1.85100000e+03,  1.85200000e+03 ...  1.89700000e+03,  1.89800000e+03,  1.89900000e+03],\n"
        " [ 1.90000000e+03,  1.90100000e+03,  1.90200000e+03 ...  1.94700000e+03,  1.94800000e+03,  1.94900000e+03],\n"
        " [ 1.95000000e+03,  1.95100000e+03,  1.95200000e+03 ...  1.99700000e+03,  1.99800000e+03,  1.99900000e+03]])",
        "",
    ),
    (
        Parameter(Tensor([1.0]), "w"),
        "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)",
        "Parameter (name=w, shape=(1,), dtype=Float32, requires_grad=True)",
    ),
]


@pytest.mark.parametrize(("tensor", "text", "printed"), PRINTED)
def test_prints_as_mindspore_does(tensor: Tensor, text: str, printed: str) -> None:
    assert repr(tensor) == text
    if printed:
        assert str(tensor) == printed


def test_one_element_takes_a_format() -> None:
    assert f"{Tensor(2.0):.3f}" == "2.000"


# To Python


def test_one_element_becomes_a_python_number() -> None:
    assert (int(Tensor([3])), float(Tensor(2.5)), complex(Tensor(2.5)), bool(Tensor([[1]]))) == (3, 2.5, 2.5 + 0j, True)
    assert [10, 20, 30][Tensor(1)] == 20


@pytest.mark.parametrize("convert", [bool, int, float, Tensor.item])
def test_more_elements_do_not(convert: Any) -> None:
    with pytest.raises(ValueError, match="one element"):
        convert(Tensor([1.0, 2.0]))


def test_a_float_is_no_index() -> None:
    with pytest.raises(TypeError, match="only integer tensors can be an index, not Float32"):
        [1, 2][Tensor(1.0)]


def test_asnumpy_gives_an_array_of_the_callers_own() -> None:
    tensor = Tensor([1.0, 2.0])
    tensor.asnumpy()[0] = 9
    np.asarray(tensor)[0] = 9
    assert tensor.tolist() == [1.0, 2.0]


def test_iterating_gives_the_rows() -> None:
    assert [row.tolist() for row in Tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    for use in (iter, len):
        with pytest.raises(TypeError, match="0-d tensor"):
            use(Tensor(1.0))


def test_attributes_describe_the_array() -> None:
    tensor = Tensor(np.zeros((2, 3), np.float32))
    described = (tensor.shape, tensor.ndim, tensor.size, tensor.itemsize, tensor.nbytes, tensor.strides, tensor.device)
    assert described == ((2, 3), 2, 6, 4, 24, (12, 4), "CPU")


def test_comparison_is_elementwise_and_hash_is_identity() -> None:
    a, b = Tensor([1.0]), Tensor([1.0])
    assert bool(a == b)
    assert len({a, b}) == 2


def test_numpy_on_the_left_and_numpys_functions_give_arrays() -> None:
    # As in MindSpore 2.10; their results have no gradient.
    x, left = Tensor([1.0, -4.0]), np.array([1.0, 2.0], np.float32)
    for result, want in (
        (left + x, [2.0, -2.0]),
        (left * x, [1.0, -8.0]),
        (left > x, [False, True]),
        (left == x, [True, False]),
        (left @ x, -7.0),
        (np.float32(2) * x, [2.0, -8.0]),
        (np.float32(1) - x, [0.0, 5.0]),
        (np.log(ms.Parameter(Tensor([1.0, 1.0]))), [0.0, 0.0]),
        (np.abs(x), [1.0, 4.0]),
        (np.isnan(x), [False, False]),
        (np.maximum(x, 0), [1.0, 0.0]),
        (np.isfinite(x).all(), True),
        (np.sqrt(Tensor(4.0)), 2.0),
        (np.where(x.asnumpy() > 0, x, 0), [1.0, 0.0]),
        (np.concatenate([x, x]), [1.0, -4.0, 1.0, -4.0]),
    ):
        assert isinstance(result, np.ndarray | np.generic) and np.asarray(result).tolist() == want
    left += x
    assert left.tolist() == [2.0, -2.0]
    assert type(x * left) is Tensor


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_the_values_and_changes_apart(copied: Any) -> None:
    x = Tensor([[1, 2], [3, 4]], ms.int16)
    other = copied(x)
    assert (type(other), other.dtype, other.tolist()) == (Tensor, ms.int16, [[1, 2], [3, 4]])
    other[0, 0] = 9
    assert (x.tolist(), other.tolist()) == ([[1, 2], [3, 4]], [[9, 2], [3, 4]])
    x[1, 1] = 7
    assert (x.tolist(), other.tolist()) == ([[1, 2], [3, 7]], [[9, 2], [3, 4]])


def test_what_is_one_tensor_twice_is_one_in_a_deep_copy() -> None:
    x = Tensor([1.0, 2.0])
    first, second = copy.deepcopy([x, x])
    assert first is second and first is not x and first.tolist() == [1.0, 2.0]


def test_pickle_keeps_values_and_dtype() -> None:
    for tensor in (Tensor([1.0, 2.0], ms.float16), halves([1.0])):
        copied = pickle.loads(pickle.dumps(tensor))
        assert (copied.tolist(), copied.dtype) == (tensor.tolist(), tensor.dtype)


# Reading parts

GRID = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
INDEXES: list[Any] = [
    1,
    -1,
    (0, 2),
    (0, 2, 3),
    slice(None, None, 2),
    (slice(None), slice(None, None, -1)),
    (Ellipsis, 0),
    None,
    (None, 1, None),
    [1, 0, 1],
    np.array([[0, 1], [1, 1]]),
    (slice(None), [0, 2]),
    ([0, 1], [2, 0]),
    True,
    GRID > 5,
    np.array([True, False]),
    (0, slice(5, 9)),
    np.int32(1),
    (1, []),
    (slice(None), [], 2),
]


@pytest.mark.parametrize("index", INDEXES, ids=repr)
def test_indexing_reads_as_numpy_does(index: Any) -> None:
    result = Tensor(GRID)[index]
    np.testing.assert_array_equal(result.asnumpy(), GRID[index])


def test_tensors_are_indexes() -> None:
    grid = Tensor(GRID)
    np.testing.assert_array_equal(grid[Tensor([1, 0])].asnumpy(), GRID[[1, 0]])
    np.testing.assert_array_equal(grid[grid > 5].asnumpy(), GRID[GRID > 5])
    np.testing.assert_array_equal(grid[Tensor(1) :, Tensor(2)].asnumpy(), GRID[1:, 2])


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (2, "index 2 is out of bounds"),
        ((0, 0, 0, 0), "too many indices"),
        ("a", "indexed by ints, .* got str"),
        (1.5, "got float"),
        ({}, "got dict"),
    ],
)
def test_a_bad_index_is_one_clear_error_for_reading_and_writing(index: Any, text: str) -> None:
    tensor = Tensor(GRID)
    with pytest.raises(IndexError, match=text):
        tensor[index]
    with pytest.raises(IndexError, match=text):
        tensor[index] = 0.0
    np.testing.assert_array_equal(tensor.asnumpy(), GRID)


# Writing parts


@pytest.mark.parametrize("index", [i for i in INDEXES if i is not True], ids=repr)
def test_indexing_writes_as_numpy_does(index: Any) -> None:
    tensor, want = Tensor(GRID), GRID.copy()
    tensor[index] = -1.0
    want[index] = -1.0
    np.testing.assert_array_equal(tensor.asnumpy(), want)


@pytest.mark.parametrize("value", [[1, 2, 3, 4], (1.0, 2.0, 3.0, 4.0), np.arange(4), Tensor([1, 2, 3, 4])])
def test_written_values_take_the_tensors_dtype(value: Any) -> None:
    tensor = Tensor(GRID)
    tensor[1, 2] = value
    assert tensor.dtype is ms.float32
    np.testing.assert_array_equal(tensor.asnumpy()[1, 2], np.asarray(value, np.float32))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_takes_a_value_with_axes_of_length_1(shape: tuple[int, ...]) -> None:
    tensor = Tensor([1.0, 2.0])
    tensor[1] = Tensor(np.full(shape, 5.0, np.float32))
    assert tensor.tolist() == [1.0, 5.0]


def test_a_value_that_does_not_fit_changes_nothing() -> None:
    tensor = Tensor(GRID)
    with pytest.raises(ValueError, match=r"For 'setitem', the inputs .* do not fit"):
        tensor[0] = Tensor([1.0, 2.0])
    np.testing.assert_array_equal(tensor.asnumpy(), GRID)


# An array held elsewhere never changes


def views_of(tensor: Tensor) -> dict[str, Any]:
    return {
        "the array": tensor._array,
        "a slice": tensor[:2],
        "reshape": tensor.reshape((2, 2)),
        "transpose": tensor.reshape((2, 2)).T,
        "data": tensor.data,
        "view of data": tensor.data.view(2, 2),
        "copy": copy.copy(tensor),
        "deepcopy": copy.deepcopy(tensor),
        "Tensor(tensor)": Tensor(tensor),
        "stop_gradient": ops.stop_gradient(tensor),
        "broadcast": ops.broadcast_to(tensor, (2, 4)),
        "identity": tensor.copy(),
        "same": +tensor,
    }


@pytest.mark.parametrize("name", list(views_of(Tensor([0.0, 1.0, 2.0, 3.0]))))
@pytest.mark.parametrize("write", ["int", "slice", "mask"])
def test_writing_never_changes_what_is_held_elsewhere(name: str, write: str) -> None:
    tensor = Tensor([0.0, 1.0, 2.0, 3.0])
    subject = views_of(tensor)[name]
    kept = subject._array if isinstance(subject, Tensor) else subject
    before = np.array(kept)
    tensor[{"int": 1, "slice": slice(0, 2), "mask": np.array([True, True, False, False])}[write]] = 9.0
    np.testing.assert_array_equal(np.array(kept), before)
    assert tensor[1].item() == 9.0


def test_the_sole_owner_writes_without_a_copy() -> None:
    tensor = Tensor(np.zeros(4, np.float32))
    where = tensor._array.ctypes.data
    tensor[1] = 5.0
    assert tensor._array.ctypes.data == where


def test_an_overlapping_write_reads_the_old_values() -> None:
    tensor = Tensor([1.0, 2.0, 3.0])
    tensor[1:] = tensor[:-1]
    assert tensor.tolist() == [1.0, 1.0, 2.0]


def test_augmented_assignment_leaves_other_names_alone() -> None:
    tensor = Tensor([1.0])
    other = tensor
    tensor += 1.0
    assert (tensor.item(), other.item()) == (2.0, 1.0)


def test_assign_value_casts_and_copies() -> None:
    target, source = Tensor([0.0, 0.0]), Tensor([1, 2])
    assert target.assign_value(source) is target
    source[0] = 9
    assert (target.tolist(), target.dtype) == ([1.0, 2.0], ms.float32)


# Methods


def test_methods_that_take_shapes_take_them_spread_or_as_one() -> None:
    x = Tensor(GRID)
    assert x.reshape(4, 6).shape == x.reshape((4, 6)).shape == x.view(4, -1).shape == (4, 6)
    assert x.transpose(2, 0, 1).shape == x.permute((2, 0, 1)).shape == (4, 2, 3)
    assert x.T.shape == (4, 3, 2)


def test_reductions_of_integers_are_int64_and_std_is_of_the_whole() -> None:
    assert Tensor([1, 2], ms.int32).sum().dtype is ms.int64
    assert Tensor([True, True]).sum().item() == 2
    assert Tensor([1.0, 3.0]).std().item() == 1.0


def test_max_gives_values_or_values_and_places() -> None:
    x = Tensor([[1.0, 5.0], [7.0, 2.0]])
    assert x.max().item() == 7.0
    values, indices = x.max(axis=1, return_indices=True)
    assert (values.tolist(), indices.tolist()) == ([5.0, 7.0], [1, 0])


def test_casting_methods() -> None:
    x = Tensor([1.7])
    kinds = [x.float(), x.half(), x.double(), x.int(), x.long(), x.bool(), x.astype(ms.int8), x.to(ms.uint8)]
    assert [str(k.dtype) for k in kinds] == ["Float32", "Float16", "Float64", "Int32", "Int64", "Bool", "Int8", "UInt8"]
    assert x.type_as(Tensor(1)).dtype is ms.int64


def test_invert_is_logical_for_bools_and_bitwise_for_integers() -> None:
    assert (~Tensor([True, False])).tolist() == [False, True]
    assert (~Tensor([0, 5])).tolist() == [-1, -6]


def test_move_to_knows_two_places() -> None:
    assert Tensor([1.0]).move_to("CPU").tolist() == [1.0]
    with pytest.raises(ValueError, match="'to' must be 'CPU' or 'GPU', but got 'TPU'"):
        Tensor([1.0]).move_to("TPU")


@pytest.mark.parametrize(
    ("change", "want"),
    [
        (lambda x: x.add_(1), [2.0, -1.0, 4.0]),
        (lambda x: x.sub_(Tensor([1.0])), [0.0, -3.0, 2.0]),
        (lambda x: x.mul_(2), [2.0, -4.0, 6.0]),
        (lambda x: x.clamp_(0, 2), [1.0, 0.0, 2.0]),
        (lambda x: x.fill_(7), [7.0, 7.0, 7.0]),
        (lambda x: x.zero_(), [0.0, 0.0, 0.0]),
        (lambda x: x.copy_(Tensor([5])), [5.0, 5.0, 5.0]),
        (lambda x: x.masked_fill_(x < 0, 9.0), [1.0, 9.0, 3.0]),
        (lambda x: x.index_fill_(0, Tensor([0]), 4.0), [4.0, -2.0, 3.0]),
        (lambda x: x.index_put_((Tensor([0, 0]),), Tensor([1.0, 1.0]), True), [3.0, -2.0, 3.0]),
        (lambda x: x.scatter_(0, Tensor([2]), Tensor([8.0])), [1.0, -2.0, 8.0]),
        (lambda x: x.put_(Tensor([1]), Tensor([6.0])), [1.0, 6.0, 3.0]),
    ],
)
def test_a_method_in_place_changes_this_tensor_and_no_array_of_others(change: Any, want: list[float]) -> None:
    x = Tensor([1.0, -2.0, 3.0])
    storage = x._array
    other = x[:]._array
    assert change(x) is x and x.tolist() == want
    assert storage.tolist() == other.tolist() == [1.0, -2.0, 3.0]


def test_gradients_pass_through_a_change_in_place() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 2
        y.mul_(3)
        y.add_(x)
        y[0] = 0
        return y * x

    assert ms.grad(function)(Tensor([1.0, 2.0])).tolist() == [0.0, 28.0]


def test_a_change_in_place_keeps_shape_and_dtype() -> None:
    x = Tensor([1, 2])
    assert x.mul_(1.5).dtype is ms.int64
    with pytest.raises(ValueError, match="must keep the shape"):
        x.add_(Tensor([[1], [2]]))


def test_arguments_have_mindspores_names_and_pytorchs() -> None:
    x = Tensor([[1.0, 5.0], [7.0, 3.0]])
    for first, second in (
        (x.sum(axis=1, keepdims=True), x.sum(dim=1, keepdim=True)),
        (x.argmax(axis=0), x.argmax(dim=0)),
        (x.std(axis=0, ddof=1), x.std(dim=0, correction=1)),
        (x.cumsum(axis=0), x.cumsum(dim=0)),
        (x.split(1, axis=1)[0], x.split(1, dim=1)[0]),
        (x.gather(Tensor([0]), 1), x.gather(1, Tensor([[0], [0]]))),
    ):
        assert first.tolist() == second.tolist()
    assert x.max(dim=1)[1].tolist() == [1, 0]
    assert x.max(axis=1).tolist() == [5.0, 7.0]


def test_a_tensor_is_not_equal_to_what_is_no_number() -> None:
    x = Tensor([1.0])
    assert (x == None) is False and (x != None) is True and (x == "x") is False  # noqa: E711


def test_a_tensor_goes_through_its_bytes() -> None:
    x = Tensor([1, 2, 3], ms.int16)
    assert x.get_bytes() == b"\x01\x00\x02\x00\x03\x00"  # as MindSpore 2.10 gives it
    assert x[::2].get_bytes() == b"\x01\x00\x03\x00"
    output = Tensor.convert_bytes_to_tensor(x.get_bytes(), (3, 1), ms.int16)
    assert output.shape == (3, 1) and output.dtype is ms.int16 and output.asnumpy().ravel().tolist() == [1, 2, 3]
    half = Tensor([1.5, -2.0], ms.bfloat16)
    assert Tensor.convert_bytes_to_tensor(half.get_bytes(), (2,), ms.bfloat16).float().asnumpy().tolist() == [1.5, -2.0]
    with pytest.raises(TypeError, match="'bytes_data' must be bytes, but got str"):
        Tensor.convert_bytes_to_tensor("a", (3,), ms.int16)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'bytes_data' must be 6 bytes, but got 3"):
        Tensor.convert_bytes_to_tensor(b"abc", (3,), ms.int16)


def test_no_tensor_is_pinned_or_shared_and_the_device_prints_as_a_tuple() -> None:
    assert (Tensor([1.0]).is_pinned(), Tensor([1.0]).is_shared(), Tensor([1.0]).is_meta) == (False, False, False)
    assert repr(ms.get_current_device()) == "('CPU', 0)"
    assert Tensor([1.0, 2.0]).expand_as(x=Tensor([[1.0, 2.0], [3.0, 4.0]])).asnumpy().tolist() == [[1.0, 2.0]] * 2


# A list with lists, slices, None or tensors in it is a tuple of indices: answers of MindSpore 2.10.


@pytest.mark.parametrize(
    ("index", "like"),
    [
        ([[0, 1], [1, 0]], ([0, 1], [1, 0])),
        ([(0, 1), (1, 0)], ([0, 1], [1, 0])),
        ([0, slice(0, 2)], (0, slice(0, 2))),
        ([0, None], (0, None)),
        ([..., 0], (..., 0)),
        ([[0], 1], ([0], 1)),
        ([[True, False, True]], ([True, False, True],)),
        ([[[0, 1]]], ([[0, 1]],)),
        ([True, False, True], np.array([True, False, True])),
        ([0, 2], np.array([0, 2])),
    ],
)
def test_a_list_that_holds_more_than_numbers_is_a_tuple_of_indices(index: Any, like: Any) -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(Tensor(values)[index].asnumpy(), values[like])
    tensor, expected = Tensor(values), values.copy()
    tensor[index], expected[like] = -1.0, -1.0
    np.testing.assert_array_equal(tensor.asnumpy(), expected)


def test_tensors_in_a_list_are_a_tuple_of_indices() -> None:
    x = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    assert x[[Tensor([0]), Tensor([1])]].tolist() == [1.0]
    assert x[[Tensor(2), Tensor(1)]].item() == 9.0


@pytest.mark.parametrize("index", [[], False])
def test_an_index_that_names_nothing_is_refused_for_reading(index: Any) -> None:
    x = Tensor([1.0, 2.0])
    with pytest.raises(IndexError, match="the index must name something"):
        x[index]
    x[index] = 5.0
    assert x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("other", [object(), {}, "a", None, [1.0], nn.ReLU()])
def test_a_tensor_is_not_equal_to_any_other_object(other: Any) -> None:
    x = Tensor([1.0, 2.0])
    assert (x == other) is False and (x != other) is True
    with pytest.raises(TypeError):
        _ = x < object()


def test_itemset_refuses_what_is_no_place_or_no_number() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.itemset(3, 5.0).tolist() == [[1.0, 2.0], [3.0, 5.0]]
    for args in ((9, 1.0), ((0, 9), 1.0), (Tensor([1.0, 2.0]),)):
        with pytest.raises(IndexError):
            x.itemset(*args)


def test_hooks_lists_what_was_registered_and_not_removed() -> None:
    def first(g: Tensor) -> None: ...
    def second(g: Tensor) -> None: ...

    p = Parameter(Tensor([1.0]), name="p")
    assert p.hooks() == []
    handle = p.register_hook(first)
    p.register_hook(second)
    assert p.hooks() == [first, second]
    handle.remove()
    assert p.hooks() == [second]
