"""Functions of ops: results that forms of MindSpore have and arguments that it refuses, beside definitions."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, ops

Array = np.ndarray[Any, Any]
X = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
PAIR, ROW = Tensor(np.ones((2, 2, 3), np.float32)), Tensor([1.0, 2.0, 3.0])


def close(result: Tensor, want: Any) -> None:
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6)
    assert result.shape == np.shape(want)


def test_nextafter_passes_the_gradient_on_to_its_first_input() -> None:
    # MindSpore 2.10: (1, 1) and (0, 0).
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 0.0])
    by_x, by_y = ms.grad(lambda a, b: (ops.nextafter(a, b) * Tensor([3.0, 5.0])).sum(), (0, 1))(x, y)
    assert by_x.tolist() == [3.0, 5.0] and by_y.tolist() == [0.0, 0.0]
    wide = ms.grad(lambda a: ops.nextafter(a, Tensor([[3.0], [0.0]])).sum())(x)
    assert wide.tolist() == [2.0, 2.0]


def test_nan_to_num_knows_the_limits_of_bfloat16() -> None:
    result = ops.nan_to_num(Tensor([math.nan, math.inf, -math.inf, 1.5], ms.bfloat16))
    most = (2 - 2.0**-7) * 2.0**127
    assert result.dtype is ms.bfloat16 and result.astype(ms.float32).tolist() == [0.0, most, -most, 1.5]


def test_float_power_computes_in_float64() -> None:
    result = ops.float_power(Tensor([2**60 + 1, 3]), 0.5)
    assert result.dtype is ms.float64
    np.testing.assert_array_equal(result.asnumpy(), [float(2**60 + 1) ** 0.5, 3**0.5])


def test_diagonals_of_matrices_follow_their_definitions() -> None:
    a = np.arange(1.0, 25.0).reshape(2, 3, 4)
    for k in range(-4, 5):
        close(ops.tril(Tensor(a), k), np.tril(a, k))
        close(ops.triu(Tensor(a), k), np.triu(a, k))
        assert ops.tril_indices(3, 4, k).tolist() == np.array(np.tril_indices(3, k, 4)).tolist()
        assert ops.triu_indices(3, 4, k).tolist() == np.array(np.triu_indices(3, k, 4)).tolist()
        close(ops.diagflat(Tensor(a[0, 0]), k), np.diagflat(a[0, 0], k))
        close(ops.diagonal(Tensor(a), k, 2, 1), np.diagonal(a, k, 2, 1))
        embedded = np.array([np.diag(row, k) for row in a[0]])
        close(ops.diag_embed(Tensor(a[0]), k), embedded)
        close(ops.diag_embed(Tensor(a[0]), k, 0, 2), np.moveaxis(embedded, 0, 1))
        copy = a.copy()
        indices = [(i, i + k) for i in range(3) if 0 <= i + k < 4]
        source = -np.arange(1.0, 2 * len(indices) + 1).reshape(2, len(indices))
        for n, (i, j) in enumerate(indices):
            copy[:, i, j] = source[:, n]
        close(ops.diagonal_scatter(Tensor(a), Tensor(source), k, 1, 2), copy)
    for below, above in itertools.product(range(-1, 5), repeat=2):
        keep = [[(below < 0 or i - j <= below) and (above < 0 or j - i <= above) for j in range(4)] for i in range(3)]
        close(ops.matrix_band_part(Tensor(a), below, above), np.where(keep, a, 0))
        close(ops.MatrixBandPart()(Tensor(a), Tensor(below), above), np.where(keep, a, 0))
    close(ops.vander(Tensor([2.0, 3.0]), 4), np.vander([2.0, 3.0], 4))
    assert ops.vander(Tensor([2, 3])).tolist() == [[2, 1], [3, 1]]
    assert ops.trace(Tensor(a[0, :, :3])).item() == np.trace(a[0, :, :3])
    square = ops.Diag()(X)
    assert square.shape == (2, 3, 2, 3) and ops.DiagPart()(square).tolist() == X.tolist()
    assert all(square[i, j, i, j].item() == X[i, j].item() for i in range(2) for j in range(3))
    assert float(square.sum()) == 21.0
    for n in (1, 3):
        assert ops.DiagPart()(Tensor(np.arange(n * n).reshape(n, n))).tolist() == list(range(0, n * n, n + 1))


@pytest.mark.parametrize("dtype", [ms.bool_, ms.int8, ms.int64, ms.float16, ms.float64, ms.complex64])
def test_what_is_outside_of_a_triangle_is_0_in_its_dtype(dtype: Any) -> None:
    ones = Tensor(np.ones((2, 3, 3)), dtype)
    for result, want in (
        (ops.tril(ones), np.tril(np.ones((2, 3, 3)))),
        (ops.triu(ones, 1), np.triu(np.ones((2, 3, 3)), 1)),
        (ops.matrix_band_part(ones, 0, 1), np.tril(np.triu(np.ones((2, 3, 3))), 1)),
    ):
        assert result.dtype is dtype
        np.testing.assert_array_equal(result.asnumpy(), want)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 5, 3, 4), (2, 1, 5, 3, 4)])
@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_a_diagonal_is_written_in_each_plane(shape: tuple[int, ...], offset: int) -> None:
    x = np.arange(float(math.prod(shape))).reshape(shape)
    for dim1, dim2 in ((-2, -1), (-1, -2), (0, -1)):
        source = -1 - np.arange(float(np.diagonal(x, offset, dim1, dim2).size))
        source = source.reshape(np.diagonal(x, offset, dim1, dim2).shape)
        want = x.copy()
        planes = np.moveaxis(want, (dim1, dim2), (-2, -1))
        for i in range(planes.shape[-2]):
            if 0 <= i + offset < planes.shape[-1]:
                planes[..., i, i + offset] = source[..., i + min(offset, 0)]
        close(ops.diagonal_scatter(Tensor(x), Tensor(source), offset, dim1, dim2), want)


def test_parts_joined_and_cut_are_those_of_numpy() -> None:
    a = np.arange(24.0).reshape(4, 2, 3)
    for name, axis in (("vsplit", 0), ("hsplit", 1), ("dsplit", 2)):
        for cut in (1, 2, [1], [1, -1]):
            want = np.array_split(a, cut, axis)
            for function in (getattr(ops, name), getattr(Tensor(a), name)):
                result = function(*((Tensor(a), cut) if function is getattr(ops, name) else (cut,)))
                assert [part.tolist() for part in result] == [part.tolist() for part in want]
    u, v = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        for parts in ([u, v], [a[0], a[1]]):
            close(getattr(ops, name)([Tensor(p) for p in parts]), getattr(np, name)(parts))
    for shape in ((), (2,), (2, 3), (2, 3, 4)):
        t = np.ones(shape)
        for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
            assert getattr(ops, name)(Tensor(t)).shape == getattr(np, name)(t).shape
    blocks = ops.block_diag(Tensor([1.0, 2.0]), Tensor([[3.0], [4.0]]), Tensor(5.0))
    assert blocks.tolist() == [[1, 2, 0, 0], [0, 0, 3, 0], [0, 0, 4, 0], [0, 0, 0, 5]]
    rows = ops.cartesian_prod(Tensor([1, 2]), Tensor([3, 4, 5])).tolist()
    assert rows == [list(item) for item in itertools.product([1, 2], [3, 4, 5])]
    for r in range(4):
        for again in (False, True):
            choose = itertools.combinations_with_replacement if again else itertools.combinations
            choices = [list(item) for item in choose([7, 8, 9], r)]
            assert ops.combinations(Tensor([7, 8, 9]), r, again).tolist() == choices
    for indexing in ("xy", "ij"):
        grids = np.meshgrid(u, v, [5.0, 6.0, 7.0], indexing="xy" if indexing == "xy" else "ij")
        axes = ops.Meshgrid(indexing)((Tensor(u), Tensor(v), Tensor([5.0, 6.0, 7.0])))
        assert [item.tolist() for item in axes] == [grid.tolist() for grid in grids]


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        ([[0, 1], [-1, 0]], [-1, 0]),
        ([[0, -1]], [0, -1]),
        ([[2, 0]], [2, 0]),
        ([[0, 3]], [0, 3]),
        ([[-3]], [-3]),
        ([5, 0], [5, 0]),
    ],
)
def test_gather_nd_refuses_places_that_are_not_there_as_mindspore_does(rows: Any, bad: list[int]) -> None:
    lengths = str(X.shape[: len(bad)])
    text = f"'indices' must be from 0 to below the lengths {lengths} of 'input_x', but got {bad}"
    with pytest.raises(RuntimeError, match=re.escape(f"For 'gather_nd', {text}")):
        ops.gather_nd(X, Tensor(rows))


def test_gather_nd_picks_by_rows_of_indices() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for rows in ([[1, 2, 3], [0, 0, 1]], [[1, 2], [0, 1]], [[1]], [1, 0], [[[1, 0], [0, 2]]]):
        want = x[tuple(np.moveaxis(np.array(rows), -1, 0))]
        for function in (ops.gather_nd, ops.GatherNd(), lambda t, i: t.gather_nd(i)):
            close(function(Tensor(x), Tensor(rows)), want)
    twice = ms.grad(lambda t: (ops.gather_nd(t, Tensor([[0], [1], [0]])) * Tensor([[2.0], [3.0], [5.0]])).sum())(X)
    assert twice.tolist() == [[7.0] * 3, [3.0] * 3]


MATRICES = (ops.mm, mint.mm, ops.MatMul(), lambda a, b: a.mm(b))
BATCHES = (ops.bmm, ops.BatchMatMul(), lambda a, b: a.bmm(b))


@pytest.mark.parametrize("index", range(4))
def test_a_product_of_two_matrices_takes_no_other_tensors(index: int) -> None:
    name, product = "MatMul" if index == 2 else "mm", MATRICES[index]
    for pair, text in (
        ((ROW, ROW), r"'input' must have 2 axes, but got shape \(3,\)"),
        ((X, ROW), r"'mat2' must have 2 axes, but got shape \(3,\)"),
        ((PAIR, X), r"'input' must have 2 axes, but got shape \(2, 2, 3\)"),
        ((X, PAIR), r"'mat2' must have 2 axes, but got shape \(2, 2, 3\)"),
        ((X, X), r"the rows of 'input' must be as long as the columns of 'mat2', but got shapes \(2, 3\) and \(2, 3\)"),
    ):
        with pytest.raises(ValueError, match=f"For '{name}', {text}"):
            product(*pair)


@pytest.mark.parametrize("index", range(3))
def test_a_product_of_two_batches_does_not_broadcast_as_mindspores_on_a_cpu(index: int) -> None:
    name, product = "BatchMatMul" if index == 1 else "bmm", BATCHES[index]
    first, second = ("x", "y") if index == 1 else ("input_x", "mat2")
    for pair, text in (
        ((ROW, ROW), rf"'{first}' must have at least 2 axes, but got shape \(3,\)"),
        ((PAIR, ROW), rf"'{second}' must have at least 2 axes, but got shape \(3,\)"),
        ((PAIR, X.T), f"'{first}' and '{second}' must have the same axes before the last two, but got shapes"),
        ((PAIR, PAIR[:1].swapaxes(1, 2)), r"before the last two, but got shapes \(2, 2, 3\) and \(1, 3, 2\)"),
        ((PAIR, PAIR), f"the rows of '{first}' must be as long as the columns of '{second}', but got shapes"),
    ):
        with pytest.raises(ValueError, match=f"For '{name}', .*{text}"):
            product(*pair)


def test_products_of_matrices_are_numpys() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for product in (*MATRICES, ops.bmm):
        close(product(Tensor(a), Tensor(b)), a @ b)
    close(ops.MatMul(True, True)(Tensor(a.T), Tensor(b.T)), a @ b)
    p, q = np.arange(12.0).reshape(2, 2, 3), np.arange(24.0).reshape(2, 3, 4)
    for product in (*BATCHES, mint.bmm):
        close(product(Tensor(p), Tensor(q)), p @ q)
    for x, y in ((p, q), (p[None], q[None])):
        turned = ops.BatchMatMul(True, True)(Tensor(x).swapaxes(-1, -2), Tensor(y).swapaxes(-1, -2))
        close(turned, x @ y)


def test_elements_are_gathered_along_one_axis_from_an_index_that_fits_the_others() -> None:
    x, i = np.arange(12.0).reshape(3, 4), np.array([[0, -1], [1, 1]])
    along_rows, along_columns = ops.gather_elements(Tensor(x), 1, Tensor(i)), ops.gather_d(Tensor(x), 0, Tensor(i))
    np.testing.assert_array_equal(along_rows.asnumpy(), np.take_along_axis(x[:2], i, 1))
    np.testing.assert_array_equal(along_columns.asnumpy(), np.take_along_axis(x[:, :2], i, 0))
    for index in (np.zeros((4, 1), int), np.zeros(3, int)):
        with pytest.raises(ValueError, match=r"For 'gather_elements', 'index' of shape .* does not fit 'input' of"):
            ops.gather_elements(Tensor(x), 1, Tensor(index))
    for wrong in (4, -5):
        with pytest.raises(RuntimeError, match=rf"'gather_elements', indices must be in \[-4, 4\), but got {wrong}"):
            ops.gather_elements(Tensor(x), 1, Tensor([[wrong]]))


@pytest.mark.parametrize(("seq_dim", "batch_dim"), [(1, 0), (0, 1), (2, 0), (-1, 1), (0, 2)])
def test_the_first_elements_of_each_sequence_are_reversed(seq_dim: int, batch_dim: int) -> None:
    x = np.arange(4.0 * 4 * 4).reshape(4, 4, 4)
    lengths, want = np.array([0, 1, 3, 4]), x.copy()
    for entry, length in enumerate(lengths):
        rows, kept = np.moveaxis(want, (batch_dim, seq_dim), (0, 1)), np.moveaxis(x, (batch_dim, seq_dim), (0, 1))
        rows[entry, :length] = kept[entry, :length][::-1]
    for result in (
        ops.reverse_sequence(Tensor(x), Tensor(lengths), seq_dim, batch_dim),
        Tensor(x).reverse_sequence(Tensor(lengths), seq_dim, batch_dim),
        ops.ReverseSequence(seq_dim, batch_dim)(Tensor(x), Tensor(lengths)),
    ):
        np.testing.assert_array_equal(result.asnumpy(), want)


def test_type_as_casts_to_the_dtype_of_another() -> None:
    integers = Tensor([1.75, -2.5]).type_as(Tensor([1]))
    assert integers.dtype is ms.int64 and integers.tolist() == [1, -2]
    assert ops.type_as(Tensor([3]), Tensor([1.0], ms.float16)).tolist() == [3.0]


def test_gather_pairs_up_leading_axes() -> None:
    x, i = np.arange(48.0).reshape(2, 3, 4, 2), np.array([[3, 0, 1], [2, 2, -1]])
    want = np.array([x[b][:, i[b]] for b in range(2)])
    close(ops.gather(Tensor(x), Tensor(i), 2, 1), want)
    close(ops.Gather(1)(Tensor(x), Tensor(i), Tensor(2)), want)
    close(ops.gather(Tensor(x), Tensor(i), 2, -1), want)
    near = i % 3
    close(ops.gather(Tensor(x), Tensor(near), 1, 1), np.array([x[b][near[b]] for b in range(2)]))  # as many as the axis
    ends = np.array([-2, 1, 0])
    close(ops.gather(Tensor(x), Tensor(ends), 0), x[ends])
    close(ops.gather(Tensor(x), Tensor(i), 2, -2), x[:, :, i])  # no axis in common


SAMPLES = Tensor(np.ones((2, 1, 2, 2), np.float32))

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "DiagPart": (lambda: ops.DiagPart()(X), ValueError, r"both halves of the shape of 'x' must be equal.*\(2, 3\)"),
    "DepthToSpace": (lambda: ops.DepthToSpace(2)(SAMPLES), ValueError, "must be a multiple of 4"),
    "DepthToSpace axes": (lambda: ops.DepthToSpace(2)(X), ValueError, "'x' must have 4 axes"),
    "DepthToSpace size": (lambda: ops.DepthToSpace(2.0)(SAMPLES), TypeError, "'block_size' must be an int"),  # type: ignore[arg-type]
    "SpaceToDepth": (lambda: ops.SpaceToDepth(3)(SAMPLES), ValueError, "must be multiples of 3"),
    "eps": (lambda: ops.eps(Tensor([1])), TypeError, "'x' must hold floating-point numbers, but got Int64"),
    "clip_by_value": (lambda: ops.clip_by_value(X), ValueError, "at least one of 'clip_value_min'"),
    "float_power": (lambda: ops.float_power("a", X), TypeError, "'input' must be a Tensor or a number"),  # type: ignore[arg-type]
    "combinations": (lambda: ops.combinations(X), ValueError, r"must be a vector .* but got shape \(2, 3\)"),
    "combinations too many": (lambda: ops.combinations(ops.arange(200), 20), ValueError, "has 16135.* choices of 20"),
    "max of three": (lambda: ms.mint.max(X, X, X), TypeError, "'dim' and 'keepdim', or 'other', but got 2 more"),
    "min with both": (lambda: ms.mint.min(X, X, keepdim=True), TypeError, "'other' excludes 'dim'"),
    "Adam of NaN": (lambda: ms.nn.Adam([ms.Parameter(X)], math.nan), ValueError, "at least 0.0, but got nan"),
    "SGD of NaN": (lambda: ms.nn.SGD([ms.Parameter(X)], 0.1, weight_decay=math.nan), ValueError, "got nan"),
    "ReLU in place": (lambda: ops.ReLU()(X, X), TypeError, "a call takes 1 input, but got 2"),
    "combinations r": (lambda: ops.combinations(Tensor([1.0]), -1), ValueError, "'r' not negative"),
    "unfold": (lambda: ops.unfold(SAMPLES, 3), ValueError, r"windows of \(3, 3\) .* must fit into 'input'"),
    "grid_sample": (
        lambda: ops.grid_sample(SAMPLES, Tensor(np.ones((1, 2, 2, 2), np.float32))),
        ValueError,
        "'grid' must hold 2 samples, but got 1",
    ),
    "gather": (lambda: ops.gather(X, Tensor([[0], [1]]), 0, 1), ValueError, "at most 'axis' 0, but got 1"),
    "gather batch": (lambda: ops.gather(X, Tensor([0, 1]), 1, 2), ValueError, r"must be in \[-1, 1\]"),
    "gather lengths": (lambda: ops.gather(X, Tensor([[0]]), 1, 1), RuntimeError, "first 1 lengths must be equal"),
    **{
        f"grid_sample {x} {grid}": (
            lambda x=x, grid=grid: ops.grid_sample(Tensor(np.ones(x)), Tensor(np.ones(grid))),
            ValueError,
            f"'grid' of shape {re.escape(str(grid))} does not fit 'input' of shape {re.escape(str(x))}",
        )
        for x, grid in (
            ((1, 1, 2, 2), (1, 2, 2)),
            ((1, 1, 2, 2), (1, 2, 2, 2, 2)),
            ((1, 1, 2, 2), (1, 2, 2, 3)),
            ((1, 1, 2), (1, 2, 1)),
            ((1, 1, 2, 2, 2), (1, 2, 2, 2, 2)),
            ((1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 4)),
        )
    },
    **{
        f"pixel_shuffle {shape}": (
            lambda shape=shape: ops.pixel_shuffle(Tensor(np.ones(shape)), 2),
            ValueError,
            f"the channels of {re.escape(str(shape))} must be a multiple of 4",
        )
        for shape in ((4, 2), (6, 1, 1), (2, 1, 1), (4, 2, 4, 4), (1, 4, 4, 3, 2, 2))
    },
    **{
        f"pixel_unshuffle {shape}": (
            lambda shape=shape: ops.pixel_unshuffle(Tensor(np.ones(shape)), 2),
            ValueError,
            f"height and width of {re.escape(str(shape))} must be multiples of 2",
        )
        for shape in ((2, 2), (1, 2, 3), (1, 3, 2), (2, 2, 1, 2))
    },
    **{
        f"fold {shape}": (
            lambda shape=shape: ops.fold(Tensor(np.ones(shape)), 3, 2),
            ValueError,
            r"'input' must have the shape \(N, C \* 4, 4\), but got " + re.escape(str(shape)),
        )
        for shape in ((4,), (1, 5, 4), (1, 4, 3), (1, 1, 1, 4, 4), (1, 4, 5), (1, 1, 3, 4))
    },
    "gather far before": (lambda: ops.gather(X, Tensor([0, -3]), 0), RuntimeError, r"in \[-2, 2\), but got -3..0"),
    "gather far behind": (lambda: ops.gather(X, Tensor([0, 2]), 0), RuntimeError, r"in \[-2, 2\), but got 0..2"),
    "gather batch before": (
        lambda: ops.gather(X, Tensor([[0], [1]]), 1, -3),
        ValueError,
        r"'batch_dims' must be in \[-2, 2\] and at most 'axis' 1, but got -3",
    ),
    "gather batch behind": (lambda: ops.gather(X, Tensor([[0], [1]]), 1, 2), ValueError, "'axis' 1, but got 2"),
    **{
        f"DiagPart {shape}": (lambda shape=shape: ops.DiagPart()(Tensor(np.ones(shape))), ValueError, "must be equal")
        for shape in ((), (1,), (2, 2, 2), (2, 3, 3, 2))
    },
    "bmm mint": (lambda: mint.bmm(X, X.T), ValueError, r"'input' must have 3 axes, but got shape \(2, 3\)"),
    "bmm mint batches": (lambda: mint.bmm(PAIR, PAIR[:1]), ValueError, "must have the same axes before the last two"),
    "bmm type": (lambda: ops.bmm(PAIR, [[1.0]]), TypeError, "'mat2' must be a Tensor, but got list"),  # type: ignore[arg-type]
    "addmm": (lambda: ops.addmm(X, PAIR, PAIR), ValueError, r"'mat1' must have 2 axes, but got shape \(2, 2, 3\)"),
    "addmv": (lambda: ops.addmv(ROW, X, X), ValueError, r"'vec' must have 1 axes, but got shape \(2, 3\)"),
    "gather_nd columns": (
        lambda: ops.GatherNd()(X, Tensor([[0, 0, 0]])),
        ValueError,
        "the last axis of 'indices' must be at most 2 long, but got 3",
    ),
    "lstsq": (lambda: ops.lstsq(X, Tensor([1.0, 2.0, 3.0])), ValueError, "'A' must have as many rows as 'input'"),
    "embedding": (
        lambda: ops.embedding(Tensor([0]), X, padding_idx=2),
        ValueError,
        r"'padding_idx' must be in \[-2, 2\), but got 2",
    ),
    "embedding before": (
        lambda: ops.embedding(Tensor([0]), X, padding_idx=-3),
        ValueError,
        r"'padding_idx' must be in \[-2, 2\), but got -3",
    ),
    "embedding weight": (
        lambda: ops.embedding(Tensor([0]), [[1.0]], padding_idx=0),  # type: ignore[arg-type]
        TypeError,
        "'weight' must be a Tensor, but got list",
    ),
    "Dropout2D": (lambda: ops.Dropout2D(1.5)(SAMPLES), ValueError, r"'keep_prob' must be in \[0, 1\], but got 1.5"),
    "Dropout3D": (lambda: ops.Dropout3D()(X), ValueError, r"'x' must have 5 axes, but got shape \(2, 3\)"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_mindspore_refuses_is_refused_by_name(name: str) -> None:
    action, error, text = REFUSED[name]
    with pytest.raises(error, match=f"For '{name.split()[0]}', .*{text}"):
        action()
