"""Elements moved, picked, put and repeated, against NumPy and loops; that gradients go the same ways back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, mint, ops
from hookscope.engine import numpy as mnp

Array = np.ndarray[Any, Any]
A = np.arange(12.0).reshape(2, 6)
C = np.arange(24.0).reshape(2, 3, 4)
V = np.arange(4.0)
ONE = np.array(7.0)
NONE = np.zeros((0, 3))
HOLES = A % 5 > 2
PAIRS = np.array([[[1, 2], [0, 0]], [[1, 2], [1, 0]]])


def put(x: Array, index: Any, values: Any) -> Array:
    result = x.copy()
    result[index] = values
    return result


def filled(x: Array, mask: Array, source: Array) -> Array:
    """Return the elements of the source one after another where the mask, broadcast, is True."""
    result, left = x.copy(), iter(source.ravel())
    for index in np.ndindex(x.shape):
        if np.broadcast_to(mask, x.shape)[index]:
            result[index] = next(left)
    return result


def to_batch(x: Array, blocks: tuple[int, ...], pads: list[list[int]]) -> Array:
    """Return the element at place p of a padded axis at p // block of the batch entry that p % block chooses."""
    first = x.ndim - len(blocks)
    padded = np.pad(x, [(0, 0)] * first + [tuple(pair) for pair in pads])
    lengths = [n // b for n, b in zip(padded.shape[first:], blocks, strict=True)]
    result = np.zeros((len(x) * math.prod(blocks), *x.shape[1:first], *lengths), x.dtype)
    for index in np.ndindex(padded.shape):
        inside = index[first:]
        entry = 0
        for p, b in zip(inside, blocks, strict=True):
            entry = entry * b + p % b
        to = (entry * len(x) + index[0], *index[1:first], *(p // b for p, b in zip(inside, blocks, strict=True)))
        result[to] = padded[index]
    return result


def from_batch(x: Array, blocks: tuple[int, ...], crops: list[list[int]]) -> Array:
    """Return the opposite of ``to_batch``, element by element."""
    first, count = x.ndim - len(blocks), len(x) // math.prod(blocks)
    full = np.zeros((count, *x.shape[1:first], *(n * b for n, b in zip(x.shape[first:], blocks, strict=True))), x.dtype)
    numbers = to_batch(np.arange(full.size).reshape(full.shape), blocks, [[0, 0]] * len(blocks))
    full.ravel()[numbers.ravel()] = x.ravel()
    ends = [slice(before, n - after) for n, (before, after) in zip(full.shape[first:], crops, strict=True)]
    return full[(slice(None),) * first + tuple(ends)]


def cut_or_surrounded(x: Array, before: int, after: int) -> Array:
    """Return the last axis with zeros at its ends, or shorter by what is below 0."""
    inside = x[..., max(0, -before) : x.shape[-1] - max(0, -after)]
    return np.pad(inside, [(0, 0)] * (x.ndim - 1) + [(max(0, before), max(0, after))])


IMAGES = np.arange(2 * 3 * 4 * 6.0).reshape(2, 3, 4, 6)
BATCH = np.arange(12 * 2 * 2 * 3.0).reshape(12, 2, 2, 3)
CASES: list[tuple[str, Callable[..., Any], Callable[..., Any], Any]] = [
    ("t of a matrix", ops.t, np.transpose, A),
    ("t of a vector", ops.t, lambda x: x, V),
    ("t of a number", ops.t, lambda x: x, ONE),
    ("t as a method", lambda x: x.t(), np.transpose, NONE),
    ("reverse", lambda x: x.reverse(1), lambda x: x[:, ::-1], A),
    ("ReverseV2", ops.ReverseV2((0, -1)), lambda x: x[::-1, :, ::-1], C),
    ("reverse of nothing", lambda x: x.reverse([0]), lambda x: x, NONE),
    ("view_as", lambda x: ops.view_as(x, Tensor(C[0])), lambda x: x.reshape(3, 4), A),
    ("reshape_as", lambda x: x.reshape_as(Tensor(C[0])), lambda x: x.reshape(3, 4), A),
    ("view_as a number", lambda x: x.view_as(Tensor(1)), lambda x: x.reshape(()), A[:1, :1]),
    ("expand_as", lambda x: x.expand_as(Tensor(C)), lambda x: np.broadcast_to(x, C.shape), V),
    ("expand", lambda x: x.expand(5, -1, 4), lambda x: np.broadcast_to(x[:, :1], (5, 2, 4)), A[:, :1]),
    ("expand to a tuple", lambda x: ops.expand(x, (2, 4)), lambda x: np.broadcast_to(x, (2, 4)), V),
    ("expand a number", lambda x: x.expand((2, 3)), lambda x: np.full((2, 3), x), ONE),
    ("repeat_elements", lambda x: ops.repeat_elements(x, 3, 1), lambda x: x.repeat(3, 1), C),
    ("repeat_elements from the end", lambda x: ops.repeat_elements(x, 2, -1), lambda x: x.repeat(2, -1), C),
    ("repeat_elements once", lambda x: ops.repeat_elements(x, 1), lambda x: x, NONE),
    ("slice", lambda x: ops.slice(x, (0, 1, 2), (2, 2, 1)), lambda x: x[:, 1:3, 2:3], C),
    ("Slice to the end", lambda x: ops.Slice()(x, (1, 0), (-1, -1)), lambda x: x[1:], A),
    ("Slice of nothing", lambda x: ops.Slice()(x, [1, 6], [1, 0]), lambda x: x[1:, 6:], A),
    ("select_scatter", lambda x: x.select_scatter(Tensor(V[:2]), 1, -2), lambda x: put(x, np.s_[:, -2], V[:2]), A),
    (
        "select_scatter of a number",
        lambda x: ops.select_scatter(x, Tensor(9.0), -1, 0),
        lambda x: put(x, np.s_[..., 0], 9),
        C,
    ),
    (
        "slice_scatter",
        lambda x: x.slice_scatter(Tensor(C[0, :2, :3]), 1, 0, None, 2),
        lambda x: put(x, np.s_[:, ::2], C[0, :2, :3]),
        A,
    ),
    (
        "slice_scatter from the end",
        lambda x: ops.slice_scatter(x, Tensor(np.array([5.0])), -1, -3, -1),
        lambda x: put(x, np.s_[..., -3:-1], 5),
        C,
    ),
    ("slice_scatter of nothing", lambda x: x.slice_scatter(Tensor(NONE[:, :1].reshape(2, 0)), 1, 4, 2), lambda x: x, A),
    ("gather_nd", lambda x: ops.gather_nd(x, Tensor(PAIRS)), lambda x: x[PAIRS[..., 0], PAIRS[..., 1]], C),
    (
        "GatherNd of numbers",
        lambda x: ops.GatherNd()(x, Tensor([[1, 5], [0, 0], [1, 5]], ms.int32)),
        lambda x: x[[1, 0, 1], [5, 0, 5]],
        A,
    ),
    ("gather_nd of rows", lambda x: x.gather_nd(Tensor([[1], [1]])), lambda x: x[[1, 1]], C),
    ("masked_select", lambda x: ops.masked_select(x, Tensor(HOLES)), lambda x: x[HOLES], A),
    ("MaskedSelect of a row for each", lambda x: ops.MaskedSelect()(x, Tensor(V > 1)), lambda x: x[..., 2:].ravel(), C),
    (
        "masked_select spreads the input",
        lambda x: x.masked_select(Tensor(C > 20)),
        lambda x: np.broadcast_to(x, C.shape)[C > 20],
        V,
    ),
    ("masked_select of none", lambda x: mint.masked_select(x, Tensor(A > 99)), lambda x: x[A > 99], A),
    ("masked_scatter", lambda x: x.masked_scatter(Tensor(HOLES), Tensor(-A)), lambda x: filled(x, HOLES, -A), A),
    (
        "MaskedScatter of a row for each",
        lambda x: ops.MaskedScatter()(x, Tensor(V > 1), Tensor(-C)),
        lambda x: filled(x, V > 1, -C),
        C,
    ),
    ("masked_scatter of none", lambda x: x.masked_scatter(Tensor(A > 99), Tensor(V[:0])), lambda x: x, A),
    ("InplaceUpdateV2", lambda x: ops.InplaceUpdateV2()(x, (1, 0), Tensor(-A)), lambda x: -A[::-1], A),
    (
        "InplaceUpdateV2 of one row",
        lambda x: ops.InplaceUpdateV2()(x, 1, Tensor(-C[:1])),
        lambda x: put(x, 1, -C[0]),
        C,
    ),
    ("Unstack", ops.Unstack(axis=1), lambda x: [x[:, i] for i in range(3)], C),
    ("Unstack of a vector", ops.Unstack(axis=-1, num=4), list, V),
    ("IdentityN", lambda x: ops.IdentityN()([x, x]), lambda x: [x, x], A),
    ("mT", lambda x: x.mT, lambda x: x.swapaxes(1, 2), C),
    ("H", lambda x: x.H, lambda x: x.conj().T, A),
    ("mH", lambda x: x.mH, lambda x: x.conj().swapaxes(-1, -2), C),
    (
        "space_to_batch_nd",
        lambda x: ops.space_to_batch_nd(x, [2, 3], [[0, 0], [2, 1]]),
        lambda x: to_batch(x, (2, 3), [[0, 0], [2, 1]]),
        IMAGES,
    ),
    (
        "space_to_batch_nd of one axis",
        lambda x: ops.space_to_batch_nd(x, 2, [[1, 1]]),
        lambda x: to_batch(x, (2,), [[1, 1]]),
        IMAGES,
    ),
    (
        "SpaceToBatch",
        lambda x: ops.SpaceToBatch(2, [[1, 1], [0, 0]])(x),
        lambda x: to_batch(x, (2, 2), [[1, 1], [0, 0]]),
        IMAGES,
    ),
    (
        "SpaceToBatchND",
        lambda x: ops.SpaceToBatchND([2, 1], [[0, 2], [0, 0]])(x),
        lambda x: to_batch(x, (2, 1), [[0, 2], [0, 0]]),
        IMAGES,
    ),
    (
        "batch_to_space_nd",
        lambda x: ops.batch_to_space_nd(x, [2, 3], [[1, 0], [0, 4]]),
        lambda x: from_batch(x, (2, 3), [[1, 0], [0, 4]]),
        BATCH,
    ),
    (
        "BatchToSpace",
        lambda x: ops.BatchToSpace(2, [[0, 1], [1, 0]])(x),
        lambda x: from_batch(x, (2, 2), [[0, 1], [1, 0]]),
        BATCH,
    ),
    (
        "BatchToSpaceND",
        lambda x: ops.BatchToSpaceND([3, 1], [[0, 0], [0, 2]])(x),
        lambda x: from_batch(x, (3, 1), [[0, 0], [0, 2]]),
        BATCH,
    ),
    (
        "batch_to_space_nd that crops all",
        lambda x: ops.batch_to_space_nd(x, [2, 3], [[1, 3], [0, 0]]),
        lambda x: from_batch(x, (2, 3), [[1, 3], [0, 0]]),
        BATCH,
    ),
    ("tile by no numbers", lambda x: ops.tile(x, ()), lambda x: x, A),
    ("tile no times", lambda x: ops.tile(x, (0, 2)), lambda x: np.tile(x, (0, 2)), A),
    (
        "split with empty parts",
        lambda x: ops.split(x, [0, 4, 0, 2], 1),
        lambda x: [x[:, :0], x[:, :4], x[:, :0], x[:, 4:]],
        A,
    ),
    ("chunk into one", lambda x: ops.chunk(x, 1, -1), lambda x: [x], C),
    ("permute a vector", lambda x: x.permute(0), lambda x: x, V),
    ("permute by a tuple", lambda x: x.permute((1, 0)), np.transpose, A),
    ("expand to one length", lambda x: x.expand(4), lambda x: np.broadcast_to(x, 4), V[1:2]),
    *(
        (f"pad by {widths}", lambda x, w=widths: ops.pad(x, w), lambda x, w=widths: cut_or_surrounded(x, *w), A)
        for widths in ((-6, 0), (0, -6), (-2, -4), (-1, 0), (0, -1), (-6, 2), (3, -6), (0, 0), (2, 1))
    ),
    *(
        (
            f"resize {len(x)} elements to {shape}",
            lambda x, s=shape: x.resize(*s),
            lambda x, s=shape: np.append(x, np.zeros(99, x.dtype))[: math.prod(s)].reshape(s),
            x,
        )
        for x in (V, ONE[None])
        for shape in ((2, 3), (2, 2), (3,), (1,))
    ),
    ("resize to a tuple", lambda x: x.resize((2, 1)), lambda x: x[:2].reshape(2, 1), V),
    *(
        (
            f"narrow from {start} by {count}",
            lambda x, s=start, n=count: ops.narrow(x, 1, s, n),
            lambda x, s=start % 7, n=count: x[:, s : s + n],
            np.arange(14.0).reshape(2, 7),
        )
        for start, count in ((0, 7), (0, 0), (1, 2), (6, 1), (-7, 7), (-7, 1), (-1, 1), (-2, 0))
    ),
    ("narrow to nothing at the end", lambda x: x.narrow(-1, 6, 0), lambda x: x[:, 6:], A),
    ("strided_slice", lambda x: ops.strided_slice(x, (1, 2), (2, -1), (1, 2)), lambda x: x[1:2, 2:-1:2], A),
    (
        "strided_slice that ignores a begin",
        lambda x: ops.strided_slice(x, (1, 2), (2, -1), (1, 2), begin_mask=2),
        lambda x: x[1:2, :-1:2],
        A,
    ),
    (
        "strided_slice that ignores an end",
        lambda x: ops.strided_slice(x, (1, 2), (1, -1), (1, 2), end_mask=1),
        lambda x: x[1:, 2:-1:2],
        A,
    ),
    *(
        (
            f"mirror_pad {mode} beside an axis of no elements",
            lambda x, m=mode: ops.mirror_pad(x, [(0, 0), (2, 1)], m.upper()),
            lambda x, m=mode: np.pad(x, [(0, 0), (2, 1)], m),
            NONE,
        )
        for mode in ("reflect", "symmetric")
    ),
]
NAMES = [row[0] for row in CASES]
ROWS = [row[1:] for row in CASES]


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.int8, np.complex64])
@pytest.mark.parametrize(("function", "reference", "x"), ROWS, ids=NAMES)
def test_elements_go_where_numpy_puts_them(function: Any, reference: Any, x: Array, dtype: Any) -> None:
    argument = x.astype(dtype) * np.asarray(1 - 2j if dtype is np.complex64 else 1, dtype)
    result, want = parts(function(Tensor(argument))), parts(reference(argument))
    assert len(result) == len(want)
    for first, second in zip(result, want, strict=True):
        assert (first.shape, first.asnumpy().dtype) == (np.shape(second), dtype)
        np.testing.assert_array_equal(first.asnumpy(), second)


@pytest.mark.parametrize(("function", "reference", "x"), ROWS, ids=NAMES)
def test_gradients_go_the_same_ways_back(function: Any, reference: Any, x: Array) -> None:
    rng = np.random.default_rng(3)
    weights = [rng.standard_normal(np.shape(part)) for part in parts(reference(x))]

    def weighed(result: Any) -> Any:
        return sum((item * w).sum() for item, w in zip(parts(result), weights, strict=True))

    way = rng.standard_normal(x.shape)
    slope = weighed(reference(x + way)) - weighed(reference(x))  # exact: none of them multiplies elements
    weights = list(map(Tensor, weights))
    result = grad(lambda x: weighed(function(x)))(Tensor(x)).asnumpy()
    assert result.shape == x.shape
    assert float((result * way).sum()) == pytest.approx(slope, rel=1e-9, abs=1e-9)


def test_what_is_put_in_gets_the_gradient_of_where_it_went() -> None:
    x, source, weights = Tensor(A), Tensor(-A), Tensor(np.cos(A))
    result = grad(lambda s: (ops.masked_scatter(x, Tensor(HOLES), s) * weights).sum())(source).asnumpy()
    want = np.zeros(12)
    want[: HOLES.sum()] = np.cos(A)[HOLES]
    np.testing.assert_allclose(result.ravel(), want, rtol=1e-12)
    for function, index, shape in (
        (lambda s: x.select_scatter(s, 1, 2), np.s_[:, 2], (2,)),
        (lambda s: x.slice_scatter(s, 1, 1, 6, 2), np.s_[:, 1::2], (2, 3)),
    ):
        result = grad(lambda s, function=function: (function(s) * weights).sum())(Tensor(np.zeros(shape))).asnumpy()
        np.testing.assert_allclose(result, np.cos(A)[index], rtol=1e-12)


@pytest.mark.parametrize("x", [A, ONE, np.zeros(3), NONE, np.array([np.nan, 0.0, -0.0, np.inf]), C % 3])
def test_argwhere_gives_the_places_that_are_not_zero(x: Array) -> None:
    want = [index for index in np.ndindex(x.shape) if x[index] != 0]
    for result in (ops.argwhere(Tensor(x)), Tensor(x).argwhere()):
        assert (result.shape, result.dtype) == ((len(want), x.ndim), ms.int64)
        assert [tuple(row) for row in result.tolist()] == want


@pytest.mark.parametrize("dtype", [ms.int32, ms.int64])
def test_argmin_is_the_first_of_the_smallest(dtype: Any) -> None:
    x = np.array([[[3, 1, 1, 2], [-np.inf, 5, -np.inf, 0], [2, 2, 2, 2]]])
    for axis in range(-3, 3):
        result = ops.Argmin(axis=axis, output_type=dtype)(Tensor(x))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.asnumpy(), x.argmin(axis))
    assert ops.Argmin()(Tensor(x)).tolist() == [[1, 0, 0]] and ops.Argmin()(Tensor(x)).dtype == ms.int32


@pytest.mark.parametrize("dtype", [ms.int8, ms.int32, ms.int64])
@pytest.mark.parametrize("longest", [None, 0, 2, 5])
@pytest.mark.parametrize("lengths", [[1, 3, 0], [[1, 3], [-2, 4]], 2, [0, 0]])
def test_a_sequence_mask_is_true_up_to_the_length(lengths: Any, longest: int | None, dtype: Any) -> None:
    argument = np.array(lengths)
    columns = argument.max() if longest is None else longest
    want = np.zeros((*argument.shape, columns), bool)
    for index in np.ndindex(want.shape):
        want[index] = index[-1] < argument[index[:-1]]
    result = ops.sequence_mask(Tensor(lengths, dtype), longest)
    assert result.dtype == ms.bool_
    np.testing.assert_array_equal(result.asnumpy(), want)


def test_what_is_assigned_stays_in_the_parameter() -> None:
    for how, want in (
        (ops.assign_add, [4.0, 7.0]),
        (ops.AssignAdd(), [4.0, 7.0]),
        (ops.assign_sub, [-2.0, -3.0]),
        (ops.AssignSub(), [-2.0, -3.0]),
    ):
        parameter = Parameter(Tensor([1.0, 2.0]), "p")
        result = how(parameter, Tensor([3.0, 5.0]))
        assert parameter.tolist() == result.tolist() == want
        how(parameter, Tensor([1.0, 1.0]))
        assert parameter.tolist() == [want[0] + (1 if want[0] > 0 else -1), want[1] + (1 if want[0] > 0 else -1)]
        with pytest.raises(ValueError, match="shape"):
            how(parameter, Tensor([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda x: ops.space_to_batch_nd(x, [3, 2], [[0, 0], [0, 0]]),
            r"For 'space_to_batch_nd', the blocks \(3, 2\) must divide the padded lengths \(4, 6\)",
        ),
        (
            lambda x: ops.SpaceToBatchND([2, 2, 2], [[0, 0], [0, 0]])(x),
            r"For 'space_to_batch_nd', there must be one block for all axes or 2, but got \(2, 2, 2\)",
        ),
        (lambda x: ops.space_to_batch_nd(x, 0, [[0, 0]]), r"'block_size' must be above 0, but got \(0,\)"),
        (
            lambda x: ops.batch_to_space_nd(x, [3, 1], [[0, 0], [0, 0]]),
            r"For 'batch_to_space_nd', the blocks \(3, 1\) must divide a batch of 2",
        ),
        (lambda x: ops.BatchToSpace(2, [[0, 0]] * 2)(x), r"the blocks \(2, 2\) must divide a batch of 2"),
        (
            lambda x: ops.batch_to_space_nd(x, [1, 2], [[2, 3], [0, 0]]),
            r"For 'batch_to_space_nd', 'crops' \(2, 3\) cut off more than the length 4",
        ),
        (lambda x: ops.batch_to_space_nd(x, [1, 2], [[-1, 0], [0, 0]]), r"'crops' must not be negative, .*\(-1, 0\)"),
        (lambda x: ops.batch_to_space_nd(x, [1, 2], [[4, 1], [0, 0]]), r"'crops' \(4, 1\) cut off more than .* 4"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(Tensor(IMAGES))


@pytest.mark.parametrize(
    ("indices", "error", "text"),
    [
        ([[0, 6]], RuntimeError, r"below the lengths \(\d, 6\) of 'input_x', but got \[0, 6\]"),
        ([[0], [-1]], RuntimeError, r"below the lengths \(\d,\) of 'input_x', but got \[-1\]"),
        ([[0, 0, 0]], ValueError, "the last axis of 'indices' must be at most 2 long, but got 3"),
        (1, ValueError, r"'indices' must have at least 1 axis, but got shape \(\)"),
        ([[0.5]], TypeError, "'indices' must hold integers, but got Float32"),
    ],
)
def test_an_index_that_is_no_place_is_refused(indices: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"For 'gather_nd', .*{text}"):
        ops.gather_nd(Tensor(A), Tensor(indices))


def test_mixed_dtypes_promote_when_numpy_or_mint_stacks_them() -> None:
    # As recorded from MindSpore 2.10 for mindspore.numpy; ops.stack refuses them, see test_errors.py.
    x, y = Tensor([1.0], ms.float32), Tensor([2], ms.int32)
    for result in (mnp.stack([x, y]), mint.stack([x, y])):
        assert (result.dtype, result.tolist()) == (ms.float32, [[1.0], [2.0]])
