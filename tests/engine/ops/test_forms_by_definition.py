"""Functions and classes that few programs call, against loops that follow their definitions, element by element."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops
from hookscope.engine.ops.neural.normalization import batch_norm_with_statistics

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def close(actual: Any, want: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    array = actual.asnumpy() if isinstance(actual, Tensor) else np.asarray(actual)
    assert array.shape == np.shape(want)
    np.testing.assert_allclose(array, want, rtol=rtol, atol=atol)


# Places, order and counts


def in_top_k(scores: Array, targets: Array, k: int) -> list[bool]:
    results = []
    for row, target in zip(scores, targets, strict=True):
        if not 0 <= target < len(row) or not all(math.isfinite(v) for v in row):
            results.append(False)
            continue
        results.append(sum(1 for v in row if v > row[target]) < k)
    return results


TIES = np.array([[1, 1, 0, 0], [3, 2, 2, 2], [5, 5, 5, 5], [0, 1, 2, 3]], np.float32)


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 3, 4, 9])
@pytest.mark.parametrize("scores", [TIES, normal(5, 1), normal(4, 7), np.round(normal(30, 5))])
def test_a_target_is_in_the_top_k_if_fewer_are_above_it(scores: Array, k: int) -> None:
    for first in range(scores.shape[1]):
        targets = ((np.arange(len(scores)) + first) % scores.shape[1]).astype(np.int32)
        want = in_top_k(scores, targets, k)
        for result in (ops.intopk(Tensor(scores), Tensor(targets), k), ops.InTopK(k)(Tensor(scores), Tensor(targets))):
            assert result.tolist() == want and result.dtype == ms.bool_


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_has_nothing_in_its_top_k(bad: float) -> None:
    scores = np.array([[1, 2, bad], [1, 2, 3], [bad, bad, bad]], np.float32)
    for target in range(3):
        targets = np.full(3, target, np.int64)
        want = in_top_k(scores, targets, 3)
        assert ops.intopk(Tensor(scores), Tensor(targets), 3).tolist() == want == [False, True, False]


def test_a_target_that_is_no_column_is_not_in_the_top_k() -> None:
    targets = np.array([-1, 4, 0, -5], np.int32)
    result = ops.intopk(Tensor(TIES), Tensor(targets), 4).tolist()
    assert result == in_top_k(TIES, targets, 4) == [False, False, True, False]


@pytest.mark.parametrize("ignore_nan", [False, True])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (3, 4, 2), (1, 1)])
def test_median_is_the_lower_middle_and_says_where(shape: tuple[int, ...], ignore_nan: bool) -> None:
    x = normal(*shape)
    for axis, keep in itertools.product(range(-len(shape), len(shape)), (False, True)):
        value, index = ops.Median(False, axis, keep, ignore_nan)(Tensor(x))
        want = np.sort(x, axis).take([(x.shape[axis] - 1) // 2], axis)
        close(value, want if keep else want.squeeze(axis))
        indices = index.asnumpy() if keep else np.expand_dims(index.asnumpy(), axis)
        np.testing.assert_array_equal(np.take_along_axis(x, indices, axis), want)
    value, index = ops.Median(True, 0, False, ignore_nan)(Tensor(x))
    assert value.asnumpy() == np.sort(x.ravel())[(x.size - 1) // 2] == x.ravel()[int(index)]


def test_median_with_nan_is_nan_or_of_the_others() -> None:
    x = np.array([[3, np.nan, 1, 2], [4, 1, 3, 2]], np.float32)
    assert np.isnan(ops.Median(False, 1)(Tensor(x))[0].asnumpy()).tolist() == [True, False]
    assert ops.Median(False, 1, ignore_nan=True)(Tensor(x))[0].tolist() == [2.0, 2.0]
    assert ops.Median(True, ignore_nan=True)(Tensor(x))[0].item() == 2.0


@pytest.mark.parametrize(("name", "below"), [("LowerBound", lambda a, v: a < v), ("UpperBound", lambda a, v: a <= v)])
@pytest.mark.parametrize("dtype", [ms.int32, ms.int64])
def test_a_bound_counts_what_lies_below(name: str, below: Any, dtype: Any) -> None:
    rows = np.sort(RNG.integers(0, 6, (3, 8)), 1)
    values = RNG.integers(-1, 8, (3, 12))
    result = getattr(ops, name)(dtype)(Tensor(rows), Tensor(values))
    want = [[sum(1 for a in row if below(a, v)) for v in line] for row, line in zip(rows, values, strict=True)]
    assert result.tolist() == want and result.dtype == dtype


@pytest.mark.parametrize("size", [0, 1, 4, 9])
@pytest.mark.parametrize("numbers", [[], [0], [3, 0, 3, 7, 1, 1, 3]])
def test_bincount_counts_up_to_its_size(numbers: list[int], size: int) -> None:
    weights = normal(len(numbers))
    x = Tensor(np.array(numbers, np.int32))
    want = np.zeros(size)
    for number, weight in zip(numbers, weights, strict=True):
        if number < size:
            want[number] += weight
    close(ops.Bincount()(x, Tensor(size), Tensor(weights)), want)
    plain = ops.Bincount()(x, Tensor(size), Tensor(np.zeros(0, np.float32)))
    assert plain.tolist() == [float(numbers.count(i)) for i in range(size)] and plain.dtype == ms.float32


def test_unravel_index_gives_a_row_for_each_axis() -> None:
    for shape in ((6,), (7, 6), (2, 3, 4)):
        indices = np.arange(math.prod(shape)).astype(np.int32)
        want = np.array([list(i) for i in np.ndindex(shape)]).T
        result = ops.UnravelIndex()(Tensor(indices), Tensor(np.array(shape, np.int32)))
        assert result.tolist() == want.tolist() and result.dtype == ms.int32


# Tables


def looked_up(table: Array, indices: Array, offset: int) -> Array:
    result = np.zeros((*indices.shape, *table.shape[1:]), table.dtype)
    for index in np.ndindex(indices.shape):
        row = int(indices[index]) - offset
        if 0 <= row < len(table):
            result[index] = table[row]
    return result


@pytest.mark.parametrize("offset", [0, 1, 4])
@pytest.mark.parametrize("shape", [(3,), (2, 4), (2, 2, 3), ()])
@pytest.mark.parametrize("table", [normal(4, 2), np.arange(5), normal(6, 2, 3)])
def test_a_looked_up_row_that_is_not_there_is_zero(table: Array, shape: tuple[int, ...], offset: int) -> None:
    indices = RNG.integers(0, 9, shape)
    result = ops.EmbeddingLookup()(Tensor(table), Tensor(indices), offset)
    np.testing.assert_array_equal(result.asnumpy(), looked_up(table, indices, offset))
    assert result.dtype == Tensor(table).dtype


def test_a_looked_up_row_gets_its_gradient_once_for_each_use() -> None:
    table, indices = Tensor(normal(3, 2)), Tensor(np.array([0, 2, 2, 5]))
    result = ms.grad(lambda table: (ops.EmbeddingLookup()(table, indices, 0) * 2.0).sum())(table)
    assert result.tolist() == [[2.0, 2.0], [0.0, 0.0], [4.0, 4.0]]


@pytest.mark.parametrize("shape", [(3,), (2, 4), ()])
@pytest.mark.parametrize("padding_idx", [None, 0, 2, 3, -1, -4])
def test_embedding_takes_rows_and_the_row_of_the_padding_gets_no_gradient(shape: Any, padding_idx: Any) -> None:
    table, indices, sent = normal(4, 3), RNG.integers(0, 4, shape), normal(*shape, 3)
    weight = Tensor(table)
    ids = Tensor(indices)
    np.testing.assert_array_equal(ops.embedding(ids, weight, padding_idx).asnumpy(), table[indices])
    result = ms.grad(lambda weight: (ops.embedding(ids, weight, padding_idx) * Tensor(sent)).sum())(weight)
    want = np.zeros((4, 3))
    for index in np.ndindex(*shape):
        if padding_idx is None or indices[index] != padding_idx % 4:
            want[indices[index]] += sent[index]
    close(result, want)


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0])
def test_embedding_shortens_the_rows_it_takes_in_the_table_itself(norm_type: float) -> None:
    table, indices, sent = normal(5, 3) * 3, np.array([[0, 3], [3, 1]]), normal(2, 2, 3)
    table[1] *= 0.01
    want = table.copy()
    for row in {0, 1, 3}:
        length = sum(abs(float(v)) ** norm_type for v in table[row]) ** (1 / norm_type)
        want[row] = table[row] * (1.5 / (length + 1e-7) if length > 1.5 else 1.0)
    weight = Parameter(Tensor(table), name="table")
    result, back = ms.value_and_grad(
        lambda: (ops.embedding(Tensor(indices), weight, None, 1.5, norm_type) * Tensor(sent)).sum(), None, [weight]
    )()
    close(weight, want)
    close(result, (want[indices] * sent).sum(), rtol=1e-4)
    of_rows = np.zeros((5, 3))
    for index in np.ndindex(2, 2):
        of_rows[indices[index]] += sent[index]
    close(back[0], of_rows)


def test_embedding_refuses_what_it_does_not_cover() -> None:
    with pytest.raises(NotImplementedError, match="For 'embedding', 'scale_grad_by_freq' is not covered"):
        ops.embedding(Tensor([0]), Tensor(normal(2, 2)), scale_grad_by_freq=True)


# Boxes


def pixels(box: Any) -> set[tuple[int, int]]:
    x0, y0, x1, y1 = (int(n) for n in box)
    return set(itertools.product(range(x0, x1 + 1), range(y0, y1 + 1)))


@pytest.mark.parametrize("counts", [(1, 1), (4, 7), (6, 2)])
def test_iou_counts_pixels(counts: tuple[int, int]) -> None:
    first, second = (np.sort(RNG.integers(0, 7, (n, 2, 2)), 1).reshape(n, 4) for n in counts)
    sets = [[pixels(box) for box in boxes] for boxes in (first, second)]
    boxes = [Tensor(b.astype(np.float32)) for b in (first, second)]
    close(ops.iou(*boxes), [[len(a & b) / len(a | b) for a in sets[0]] for b in sets[1]])
    close(ops.iou(*boxes, "iof"), [[len(a & b) / len(b) for a in sets[0]] for b in sets[1]])


def test_iou_of_boxes_that_touch_are_apart_or_are_empty() -> None:
    boxes = Tensor(np.array([[0, 0, 1, 1], [1, 1, 2, 2], [2, 2, 3, 3], [0, 0, 0, 0], [0, 0, -1, -1]], np.float32))
    want = [[1, 1 / 7, 0, 1 / 4, 0], [1 / 7, 1, 1 / 7, 0, 0], [0, 1 / 7, 1, 0, 0], [1 / 4, 0, 0, 1, 0], [0] * 5]
    close(ops.iou(boxes, boxes), want)
    assert ops.iou(Tensor([[0.0, 0.0, 0.5, 0.5]]), Tensor([[0.5, 0.0, 2.0, 1.0]])).item() == pytest.approx(
        1.5 / (1.5 * 1.5 + 2.5 * 2.0 - 1.5)
    )
    with pytest.raises(KeyError, match="'mode' must be 'iou' or 'iof', but got 'giou'"):
        ops.iou(boxes, boxes, "giou")


# Margins


def mirrored(index: int, length: int, mode: str) -> int:
    while not 0 <= index < length:
        if mode == "REFLECT":
            index = -index if index < 0 else 2 * (length - 1) - index
        else:
            index = -index - 1 if index < 0 else 2 * length - 1 - index
    return index


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
@pytest.mark.parametrize(
    ("shape", "widths"),
    [((4,), [(3, 2)]), ((3, 4), [(1, 2), (0, 3)]), ((2, 3, 2), [(1, 1), (2, 0), (0, 0)]), ((3, 2), [(0, 0), (0, 0)])],
)
def test_a_mirrored_margin_repeats_what_is_inside(shape: Any, widths: Any, mode: str) -> None:
    x = normal(*shape)
    out = np.zeros([n + before + after for n, (before, after) in zip(shape, widths, strict=True)], np.float32)
    counts = np.zeros(shape)
    for index in np.ndindex(out.shape):
        inside = tuple(mirrored(i - before, n, mode) for i, n, (before, _) in zip(index, shape, widths, strict=True))
        out[index] = x[inside]
        counts[inside] += 1
    for paddings in (widths, Tensor(np.array(widths))):
        np.testing.assert_array_equal(ops.mirror_pad(Tensor(x), paddings, mode).asnumpy(), out)
        np.testing.assert_array_equal(ops.MirrorPad(mode)(Tensor(x), paddings).asnumpy(), out)
    close(ms.grad(lambda x: ops.mirror_pad(x, widths, mode).sum())(Tensor(x)), counts)


def test_margins_refuse() -> None:
    with pytest.raises(ValueError, match="'mode' must be 'REFLECT' or 'SYMMETRIC', but got 'EDGE'"):
        ops.mirror_pad(Tensor([1.0]), [(1, 1)], "EDGE")
    for x, size in ((Tensor(normal(2, 2)), 4), (Tensor(normal(2, 1)), 0)):
        with pytest.raises(ValueError, match="the last axis of 'x' must have length 1"):
            ops.padding(x, size)


@pytest.mark.parametrize("size", [1, 3, 8])
@pytest.mark.parametrize("shape", [(1,), (3, 1), (2, 2, 1)])
def test_padding_fills_up_the_last_axis(shape: tuple[int, ...], size: int) -> None:
    x = normal(*shape)
    want = np.array([[v, *[0.0] * (size - 1)] for v in x.ravel()]).reshape(*shape[:-1], size)
    close(ops.padding(Tensor(x), size), want)
    close(ops.Padding(size)(Tensor(x)), want)


def surrounded(x: Array, widths: Any, outside: Any) -> Array:
    """Return a padded array; ``outside(position, length)`` is the source position, or a number."""
    out = np.zeros([n + before + after for n, (before, after) in zip(x.shape, widths, strict=True)])
    for index in np.ndindex(out.shape):
        inside = [i - before for i, (before, _) in zip(index, widths, strict=True)]
        sources = [i if 0 <= i < n else outside(i, n) for i, n in zip(inside, x.shape, strict=True)]
        number = next((v for v in sources if isinstance(v, float)), None)
        out[index] = x[tuple(sources)] if number is None else number
    return out


@pytest.mark.parametrize(
    ("mode", "outside"),
    [
        ("constant", lambda i, n: 7.0),
        ("edge", lambda i, n: 0 if i < 0 else n - 1),
        ("reflect", lambda i, n: mirrored(i, n, "REFLECT")),
        ("circular", lambda i, n: i % n),
    ],
)
@pytest.mark.parametrize("contiguous", [True, False])
def test_pad_v3_begins_with_the_last_axis(mode: str, outside: Any, contiguous: bool) -> None:
    x, value = normal(3, 4), Tensor(7.0) if mode == "constant" else None
    pairs = [1, 2, 3, 0]
    last, first = ((1, 2), (3, 0)) if contiguous else ((1, 3), (2, 0))
    if mode == "reflect":
        x = normal(4, 4)
    want = surrounded(x, (first, last), outside)
    for argument in (pairs, tuple(pairs), Tensor(np.array(pairs))):
        close(ops.PadV3(mode, contiguous)(Tensor(x), argument, value), want)


# Dropping whole channels


@pytest.mark.parametrize(
    ("drop", "shape", "channels"),
    [
        (ops.dropout1d, (6, 40, 5), 2),
        (ops.dropout1d, (200, 5), 1),
        (ops.dropout3d, (6, 40, 2, 1, 3), 2),
        (ops.dropout3d, (200, 2, 2, 2), 1),
    ],
)
def test_dropout_of_channels_keeps_or_drops_each_as_a_whole(drop: Any, shape: Any, channels: int) -> None:
    ms.set_seed(5)
    x = normal(*shape)
    out = drop(Tensor(x), 0.25).asnumpy()
    dropped = 0
    for index in np.ndindex(shape[:channels]):
        if (out[index] == 0).all():
            dropped += 1
        else:
            np.testing.assert_allclose(out[index], x[index] / 0.75, rtol=1e-6)
    assert 0.15 < dropped / math.prod(shape[:channels]) < 0.35
    assert (drop(Tensor(x), 1.0).asnumpy() == 0).all()
    np.testing.assert_array_equal(drop(Tensor(x), 0.0).asnumpy(), x)
    np.testing.assert_array_equal(drop(Tensor(x), 0.25, False).asnumpy(), x)
    name = drop.__name__
    with pytest.raises(ValueError, match=f"For '{name}', 'input' must have . or . axes, but got shape \\(1,\\)"):
        drop(Tensor([1.0]))
    with pytest.raises(ValueError, match=r"'p' must be in \[0, 1\], but got 2"):
        drop(Tensor(x), 2)


def test_dropout_of_channels_draws_numbers_that_nobody_else_gets() -> None:
    ms.set_seed(5)
    for drop, shape in ((ops.Dropout2D(0.5), (2, 3, 5, 7)), (ops.Dropout3D(0.5), (2, 3, 5, 7, 1))):
        before = ms.default_generator.draw(1)[1]
        drop(Tensor(normal(*shape)))
        assert ms.default_generator.draw(1)[1] == before + 1 + 2  # of four numbers each, for 2 * 3


def test_dropout3d_the_class_also_says_what_is_kept() -> None:
    ms.set_seed(5)
    x = normal(4, 60, 2, 1, 3)
    out, kept = (y.asnumpy() for y in ops.Dropout3D(0.75)(Tensor(x)))
    assert kept.shape == x.shape and kept.dtype == bool
    for index in np.ndindex(4, 60):
        assert kept[index].all() or not kept[index].any()
    np.testing.assert_allclose(out, np.where(kept, x / 0.75, 0), rtol=1e-6)
    assert 0.65 < kept.mean() < 0.85


# Losses


def reduced(losses: Any, how: str) -> Any:
    return {"none": np.asarray, "mean": np.mean, "sum": np.sum}[how](losses)


REDUCTIONS = ("none", "mean", "sum")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(4,), (2, 3)])
def test_losses_of_probabilities(shape: tuple[int, ...], reduction: str) -> None:
    p, y = (RNG.uniform(0.05, 0.95, shape).astype(np.float32) for _ in range(2))
    w, scores = normal(*shape), normal(*shape) * 5
    each = np.zeros(shape)
    for i in np.ndindex(shape):
        each[i] = -(y[i] * math.log(p[i]) + (1 - y[i]) * math.log(1 - p[i]))
    close(ops.BinaryCrossEntropy(reduction)(Tensor(p), Tensor(y)), reduced(each, reduction))
    close(ops.BinaryCrossEntropy(reduction)(Tensor(p), Tensor(y), Tensor(w)), reduced(each * w, reduction))
    y.flat[0] = 0.0
    for i in np.ndindex(shape):
        each[i] = y[i] * (math.log(y[i]) - scores[i]) if y[i] else 0.0
    close(ops.KLDivLoss(reduction)(Tensor(scores), Tensor(y)), reduced(each, reduction))
    for i in np.ndindex(shape):
        s = 1 / (1 + math.exp(-float(scores[i])))
        each[i] = -(y[i] * math.log(s) + (1 - y[i]) * math.log(1 - s))
    close(ops.SigmoidCrossEntropyWithLogits()(Tensor(scores), Tensor(y)), each, 1e-4)


def test_losses_at_the_edges_are_finite() -> None:
    far = Tensor(np.array([-200.0, 200.0, -200.0, 200.0], np.float32))
    result = ops.SigmoidCrossEntropyWithLogits()(far, Tensor(np.array([0.0, 1.0, 1.0, 0.0], np.float32)))
    assert result.tolist() == [0.0, 0.0, 200.0, 200.0]
    ends = Tensor(np.array([0.0, 1.0, 0.0, 1.0], np.float32))
    result = ops.BinaryCrossEntropy("none")(ends, Tensor(np.array([0.0, 1.0, 1.0, 0.0], np.float32)))
    assert result.tolist() == [0.0, 0.0, 100.0, 100.0]
    result = ops.KLDivLoss("batchmean")(
        Tensor(np.zeros((2, 2), np.float32)), Tensor(np.ones((2, 2), np.float32) * math.e)
    )
    assert result.item() == pytest.approx(2 * math.e)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("ignored", [-100, 1])
def test_nll_gives_the_loss_and_the_weight_of_the_labels(reduction: str, ignored: int) -> None:
    logits, labels, weight = normal(6, 4), np.array([0, 1, 3, 1, 2, 0], np.int32), RNG.uniform(0.5, 2, 4).astype("f")
    each = [0.0 if n == ignored else -logits[i, n] * weight[n] for i, n in enumerate(labels)]
    total = sum(weight[n] for n in labels if n != ignored)
    result, counted = ops.NLLLoss(reduction, ignored)(Tensor(logits), Tensor(labels), Tensor(weight))
    close(result, sum(each) / total if reduction == "mean" else reduced(each, reduction))
    close(counted, total)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("p", [1, 2, 3])
def test_triplets(p: int, swap: bool, reduction: str) -> None:
    x, near, far = normal(5, 3), normal(5, 3), normal(5, 3)
    eps = 1e-3

    def apart(a: Array, b: Array) -> float:
        return float(sum(abs(float(i) - float(j) + eps) ** p for i, j in zip(a, b, strict=True)) ** (1 / p))

    each = []
    for a, b, c in zip(x, near, far, strict=True):
        other = min(apart(a, c), apart(b, c)) if swap else apart(a, c)
        each.append(max(0.0, apart(a, b) - other + 0.7))
    result = ops.TripletMarginLoss(p, swap, eps, reduction)(Tensor(x), Tensor(near), Tensor(far), Tensor(0.7))
    close(result, reduced(each, reduction), 1e-4)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("p", "margin"), [(1, 1.0), (2, 0.3)])
def test_multi_margin(p: int, margin: float, weighted: bool, reduction: str) -> None:
    x, labels, weight = normal(5, 4), np.array([0, 3, 1, 1, 2]), RNG.uniform(0.5, 2, 4).astype(np.float32)
    each = []
    for row, n in zip(x, labels, strict=True):
        terms = [
            max(0.0, margin - row[n] + v) ** p * (weight[n] if weighted else 1) for j, v in enumerate(row) if j != n
        ]
        each.append(sum(terms) / len(row))
    result = ops.MultiMarginLoss(p, margin, reduction)(Tensor(x), Tensor(labels), Tensor(weight) if weighted else None)
    close(result, reduced(each, reduction))


def ctc(probabilities: Array, labels: list[int], blank: int) -> float:
    """Return the loss over all paths that read as the labels without repetitions and blanks."""
    total = 0.0
    for path in itertools.product(range(probabilities.shape[1]), repeat=len(probabilities)):
        if [n for n, _ in itertools.groupby(path) if n != blank] == labels:
            total += math.prod(float(probabilities[t, n]) for t, n in enumerate(path))
    return -math.log(total) if total else math.inf


def test_ctc_adds_up_all_paths() -> None:
    scores = normal(4, 3, 3).astype(np.float64)
    p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    targets, steps, lengths = np.array([[1, 2], [2, 2], [1, 0]]), np.array([4, 4, 3]), np.array([2, 2, 1])
    want = [ctc(p[:n, i], list(targets[i][:m]), 0) for i, (n, m) in enumerate(zip(steps, lengths, strict=True))]
    inputs = [Tensor(v) for v in (np.log(p), targets, steps, lengths)]
    close(ops.CTCLossV2()(*inputs)[0], want)
    close(ops.CTCLossV2(0, "sum")(*inputs)[0], sum(want))
    close(ops.CTCLossV2(0, "mean")(*inputs)[0], np.mean(np.array(want) / lengths))
    short = [Tensor(v) for v in (np.log(p), targets, np.array([1, 2, 3]), lengths)]
    assert ops.CTCLossV2()(*short)[0].tolist()[:2] == [math.inf, math.inf]
    assert ops.CTCLossV2(zero_infinity=True)(*short)[0].tolist()[:2] == [0.0, 0.0]


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(
    ("blank", "labels"),
    [
        (0, [[1, 2], [2, 2], []]),
        (1, [[0, 2, 0], [2], [0, 0]]),
        (2, [[1], [], [0]]),
        (2, [[], [], []]),
        (0, [[1, 1, 2], [1, 2, 1], [2, 2]]),
    ],
)
def test_ctc_and_its_gradient_for_any_blank_and_number_of_labels(
    blank: int, labels: list[list[int]], flat: bool
) -> None:
    scores, steps = normal(5, 3, 3).astype(np.float64), [5, 4, 3]
    lengths = [len(row) for row in labels]
    width = max(lengths)
    # Flat: all labels one after the other, of exactly the length of all; else rows as wide as the longest.
    filled_up = [row + [0] * (width - len(row)) for row in labels]
    targets = np.array([*itertools.chain(*labels)]) if flat else np.array(filled_up)
    inputs = [Tensor(np.asarray(v, np.int32)) for v in (targets, steps, lengths)]

    def losses(scores: Array) -> list[float]:
        p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        return [ctc(p[:n, i], labels[i], blank) for i, n in enumerate(steps)]

    def loss(x: Tensor) -> Tensor:
        return ops.ctc_loss(ops.log_softmax(x, -1), *inputs, blank=blank, reduction="sum", zero_infinity=True)[0]

    want = np.where(np.isinf(losses(scores)), 0, losses(scores))
    close(loss(Tensor(scores)), want.sum())
    moved = np.zeros_like(scores)
    for index in np.ndindex(scores.shape):
        ends = []
        for step in (1e-6, -1e-6):
            near = scores.copy()
            near[index] += step
            ends.append(sum(v for v in losses(near) if v < math.inf))
        moved[index] = (ends[0] - ends[1]) / 2e-6
    close(ms.grad(loss)(Tensor(scores)), moved, 1e-4, 1e-6)


def test_ctc_of_scores_has_its_blank_last_and_gives_the_gradient() -> None:
    scores = normal(3, 2, 3).astype(np.float64)
    steps, labels = np.array([3, 2]), [[0, 1], [1]]

    def losses(scores: Array) -> list[float]:
        p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        return [ctc(p[:n, i], labels[i], 2) for i, n in enumerate(steps)]

    indices = Tensor(np.array([[0, 0], [0, 1], [1, 0]]))
    result, back = ops.CTCLoss()(Tensor(scores), indices, Tensor(np.array([0, 1, 1])), Tensor(steps))
    close(result, losses(scores))
    want = np.zeros_like(scores)
    for index in np.ndindex(scores.shape):
        moved = [scores.copy() for _ in range(2)]
        moved[0][index] += 1e-6
        moved[1][index] -= 1e-6
        want[index] = (sum(losses(moved[0])) - sum(losses(moved[1]))) / 2e-6
    close(back, want, 1e-4, 1e-6)


# Normalization


@pytest.mark.parametrize(("begin", "of_params"), [(1, 1), (2, 2), (-1, -1), (1, 2), (2, 1), (0, 1), (1, -1)])
def test_layer_norm_begins_where_it_is_told(begin: int, of_params: int) -> None:
    x = normal(2, 3, 4) * 2 + 1
    shape = x.shape[of_params % 3 :]
    gamma, beta = normal(*shape), normal(*shape)
    want, means, variances = (np.zeros(x.shape) for _ in range(3))
    for index in np.ndindex(x.shape[: begin % 3]):
        block = x[index].astype(np.float64)
        mean = block.sum() / block.size
        variance = ((block - mean) ** 2).sum() / block.size
        means[index], variances[index] = mean, variance
        want[index] = (block - mean) / math.sqrt(variance + 1e-3)
    result = ops.LayerNorm(begin, of_params, 1e-3)(Tensor(x), Tensor(gamma), Tensor(beta))
    close(result[0], want * gamma + beta, 1e-4, 1e-5)
    first = (*(slice(None),) * (begin % 3), *(slice(0, 1),) * (3 - begin % 3))
    close(result[1], means[first], 1e-4)
    close(result[2], variances[first], 1e-4)
    inputs = [Tensor(v) for v in (x, gamma, beta)]
    of_gamma, of_beta = ms.grad(lambda *arguments: ops.LayerNorm(begin, of_params, 1e-3)(*arguments)[0].sum(), (1, 2))(
        *inputs
    )
    others = tuple(range(of_params % 3))
    close(of_gamma, want.sum(others), 1e-3, 1e-4)
    close(of_beta, np.ones(x.shape).sum(others))


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2, 2)])
def test_batch_norm_gives_its_statistics(shape: tuple[int, ...]) -> None:
    x, gamma, beta = normal(*shape) + 2, normal(3), normal(3)
    mean, variance = normal(3), RNG.uniform(0.5, 2, 3).astype(np.float32)
    want = np.zeros(shape)
    for c in range(3):
        want[:, c] = (x[:, c] - mean[c]) / math.sqrt(variance[c] + 1e-3) * gamma[c] + beta[c]
    inputs = [Tensor(v) for v in (x, gamma, beta)]
    result = ops.BatchNorm(epsilon=1e-3)(*inputs, Tensor(mean), Tensor(variance))
    close(result[0], want, 1e-4, 1e-5)
    for first, second in zip(result[1:], (mean, variance) * 2, strict=True):
        close(first, second)
    parameters = [Parameter(Tensor(v), name=n) for n, v in (("m", mean), ("v", variance))]
    result = ops.BatchNorm(True, 1e-3, 0.3)(*inputs, *parameters)
    count = x.size // 3
    means = [x[:, c].mean() for c in range(3)]
    variances = [((x[:, c] - means[c]) ** 2).sum() / count for c in range(3)]
    for c in range(3):
        want[:, c] = (x[:, c] - means[c]) / math.sqrt(variances[c] + 1e-3) * gamma[c] + beta[c]
    close(result[0], want, 1e-4, 1e-5)
    for first, second in zip(result[1:], (means, variances) * 2, strict=True):
        close(first, second)
    close(parameters[0], 0.7 * mean + 0.3 * np.array(means))
    close(parameters[1], 0.7 * variance + 0.3 * np.array(variances) * count / (count - 1))


@pytest.mark.parametrize("which", list(itertools.product([False, True], repeat=3)))
def test_a_gradient_may_arrive_at_any_of_what_batch_norm_gives(which: tuple[bool, ...]) -> None:
    x, gamma, beta = (RNG.standard_normal(shape) for shape in ((3, 2, 4), (2,), (2,)))
    by = [RNG.standard_normal(shape) for shape in ((3, 2, 4), (2,), (2,))]

    def reference(v: Array) -> float:
        mean, var = v.mean((0, 2)), v.var((0, 2))
        y = (v - mean[:, None]) / np.sqrt(var + 0.1)[:, None] * gamma[:, None] + beta[:, None]
        return sum(float((item * w).sum()) for item, w, used in zip((y, mean, var), by, which, strict=True) if used)

    def weighed(v: Tensor) -> Any:
        outputs = batch_norm_with_statistics(v, Tensor(gamma), Tensor(beta), 0.1)
        return sum((item * Tensor(w)).sum() for item, w, used in zip(outputs, by, which, strict=True) if used) + v.sum()

    want = np.ones(x.shape)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = 1e-6
        want[index] += (reference(x + step) - reference(x - step)) / 2e-6
    close(ms.grad(weighed)(Tensor(x)), want, 1e-6, 1e-8)


# Others


def test_check_numerics_lets_only_numbers_pass() -> None:
    x = Tensor([1.0, -2.0])
    assert ops.CheckNumerics()(x).tolist() == [1.0, -2.0]
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(RuntimeError, match="'x' must be finite everywhere, but holds NaN or infinity"):
            ops.CheckNumerics()(Tensor([1.0, bad]))


@pytest.mark.parametrize("shape", [(4, 2), (3, 3), (2, 4)])
def test_lstsq_is_the_solution_of_the_normal_equations(shape: tuple[int, int]) -> None:
    a, b = normal(*shape).astype(np.float64), normal(shape[0], 2).astype(np.float64)
    result = ops.Lstsq()(Tensor(a), Tensor(b)).asnumpy()
    np.testing.assert_allclose(a.T @ (a @ result - b), 0, atol=1e-9)
    # The shortest of several has no part that the matrix maps to zero.
    np.testing.assert_allclose(result, np.linalg.pinv(a) @ b, atol=1e-9)


@pytest.mark.parametrize(
    ("sizes", "axis", "want"),
    [
        ((1, 3, 2), 0, (1, 3, 2)),
        ((4, 1), 1, (4, 1)),
        ((1, -1), 1, (1, 4)),
        ((-1, 2, 1), -2, (3, 2, 1)),
        ((6,), 0, (6,)),
    ],
)
def test_split_v_has_the_sizes_it_is_given_and_finds_the_one_it_is_not(sizes: Any, axis: int, want: Any) -> None:
    x = normal(6, 5)
    result = ops.SplitV(sizes, axis, len(sizes))(Tensor(x))
    start = 0
    for part, size in zip(result, want, strict=True):
        np.testing.assert_array_equal(part.asnumpy(), x.take(range(start, start + size), axis))
        start += size
    with pytest.raises(ValueError, match="must add up to 6"):
        ops.SplitV((1, 2), 0, 2)(Tensor(x))


def test_square_sum_all() -> None:
    x, y = normal(2, 3), normal(2, 3)
    for result, of in zip(ops.SquareSumAll()(Tensor(x), Tensor(y)), (x, y), strict=True):
        close(result, sum(float(v) ** 2 for v in of.ravel()))


def test_other_names_of_functions() -> None:
    x = Tensor([-2.0, 0.25, 3.0])
    assert ops.pows is ops.pow and ops.soft_shrink is ops.softshrink
    assert ops.fills(x, 7.0).tolist() == [7.0] * 3 and ops.soft_shrink(x).tolist() == [-1.5, 0.0, 2.5]
    assert ops.zero_(x) is x and x.tolist() == [0.0] * 3
    assert ops.move_to(Tensor([1.0]), "CPU").tolist() == [1.0]
    with pytest.raises(TypeError, match="For 'move_to', 'input' must be a Tensor, but got int"):
        ops.move_to(3)


# Functions for which MindSpore has no kernel on a CPU


def slope(function: Any, x: Array) -> Array:
    """Return the gradient of the sum of a function of an array, by central differences in float64."""
    result = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = 1e-6
        result[index] = (np.sum(function(x + step)) - np.sum(function(x - step))) / 2e-6
    return result


def expected_exponential(x: Array) -> Array:
    term, total = np.eye(len(x)), np.eye(len(x))
    for k in range(1, 40):
        term = term @ x / k
        total = total + term
    return total


GAMMA = np.array([0.5, 2.0, -1.0, 0.3])
EXACT, OTHER = normal(3, 4).astype(np.float64), normal(3, 4).astype(np.float64)
SQUARE = normal(3, 3).astype(np.float64)
SMOOTH: dict[str, tuple[Any, Any, Array]] = {
    "swiglu": (lambda t: ops.swiglu(t, 1), lambda x: x[:, :2] / (1 + np.exp(-x[:, :2])) * x[:, 2:], EXACT),
    "swiglu of rows": (lambda t: ops.swiglu(t, 0), lambda x: x[:1] / (1 + np.exp(-x[:1])) * x[1:], EXACT[:2]),
    "rms_norm": (
        lambda t: ops.rms_norm(t, Tensor(GAMMA), 1e-3)[0],
        lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-3) * GAMMA,
        EXACT,
    ),
    "fmin": (lambda t: ops.fmin(t, Tensor(OTHER)), lambda x: np.fmin(x, OTHER), EXACT),
    "fmax": (lambda t: ops.fmax(t, Tensor(OTHER)), lambda x: np.fmax(x, OTHER), EXACT),
    "quantile": (lambda t: ops.quantile(t, 0.3, 1), lambda x: np.quantile(x, 0.3, 1), EXACT),
    "quantile of all": (lambda t: ops.quantile(t, 0.61), lambda x: np.quantile(x, 0.61), EXACT),
    "matrix_exp": (ops.matrix_exp, expected_exponential, SQUARE),
    "EuclideanNorm": (
        lambda t: ops.EuclideanNorm(True)(t, (1,)),
        lambda x: np.sqrt((x * x).sum(1, keepdims=True)),
        EXACT,
    ),
    "Einsum": (
        lambda t: ops.Einsum("ij,kj->ik")((t, Tensor(OTHER))),
        lambda x: np.einsum("ij,kj->ik", x, OTHER),
        EXACT,
    ),
    **{
        f"cond {p}": (lambda t, p=p: ops.cond(t, p), lambda x, p=p: np.linalg.cond(x, p), SQUARE)
        for p in (None, 2, -2, "fro", 1, -1, np.inf, -np.inf)
    },
}


@pytest.mark.parametrize("name", SMOOTH)
def test_a_function_and_its_slope_follow_the_definition(name: str) -> None:
    function, formula, x = SMOOTH[name]
    close(function(Tensor(x)), formula(x), rtol=1e-9, atol=1e-12)
    result = ms.grad(lambda t: function(t).sum())(Tensor(x))
    close(result, slope(formula, x), rtol=1e-4, atol=1e-6)


def test_quantiles_leave_out_nan_or_give_it() -> None:
    holes = np.array([[1.0, np.nan, 3.0, -2.0], [np.nan, 7.0, 0.5, 4.0]])
    for axis, keep in ((1, False), (0, True), (None, False)):
        for q in (0.3, [0.1, 0.75]):
            argument = q if isinstance(q, float) else Tensor(np.array(q))
            close(ops.nanquantile(Tensor(holes), argument, axis, keep), np.nanquantile(holes, q, axis, keepdims=keep))
            close(ops.quantile(Tensor(EXACT), argument, axis, keep), np.quantile(EXACT, q, axis, keepdims=keep))
    assert np.isnan(ops.quantile(Tensor(holes), 0.3, 1).asnumpy()).all()


def test_nan_loses_against_any_number() -> None:
    x, y = Tensor([np.nan, 1.0, np.nan]), Tensor([2.0, np.nan, np.nan])
    assert ops.fmax(x, y).tolist()[:2] == ops.fmin(x, y).tolist()[:2] == [2.0, 1.0]
    assert np.isnan(ops.fmax(x, y).tolist()[2]) and np.isnan(ops.fmin(x, y).tolist()[2])


def test_rms_norm_gives_the_reciprocal_of_the_root_too() -> None:
    want = 1 / np.sqrt((EXACT * EXACT).mean(1, keepdims=True) + 1e-3)
    close(ops.rms_norm(Tensor(EXACT), Tensor(GAMMA), 1e-3)[1], want)


@pytest.mark.parametrize(("left", "transpose"), [(True, False), (True, True), (False, False), (False, True)])
def test_ormqr_multiplies_by_the_reflections(left: bool, transpose: bool) -> None:
    x = normal(4, 3).astype(np.float64)
    packed, factors = np.linalg.qr(x, "raw")
    q = np.eye(4)
    for k in range(3):
        v = np.concatenate([np.zeros(k), [1.0], packed[k, k + 1 :]])
        q = q @ (np.eye(4) - factors[k] * np.outer(v, v))
    other, turned = normal(4, 2).astype(np.float64), q.T if transpose else q
    result = ops.Ormqr(left, transpose)(Tensor(packed.T), Tensor(factors), Tensor(other if left else other.T))
    close(result, turned @ other if left else other.T @ turned, rtol=1e-9)


def test_blocks_come_back_from_the_batch() -> None:
    x = normal(4, 2, 2, 3)
    want = np.zeros((1, 2, 4, 6), np.float32)
    for i, j in itertools.product(range(2), repeat=2):
        want[0, :, i::2, j::2] = x[2 * i + j]
    close(ops.BatchToSpace(2, [[0, 1], [1, 0]])(Tensor(x)), want[:, :, :3, 1:])


def test_elements_that_are_not_0_are_counted() -> None:
    x = np.array([[0.0, 1.0, -2.0], [0.0, 0.0, 3.0]], np.float32)
    for dims in ((1,), (0,), (0, 1)):
        close(ops.CountNonZero(dims)(Tensor(x)), np.count_nonzero(x, dims))


def test_python_numbers_stay_python_numbers_and_tensors_tensors() -> None:
    pairs = {
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y,
        "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y,
        "ge": lambda x, y: x >= y,
    }
    for name, formula in pairs.items():
        function = getattr(ops, f"scalar_{name}")
        for x, y in ((2.5, 4.0), (3.0, 3.0), (5.0, -1.0)):
            assert function(x, y) == formula(x, y) and type(function(x, y)) is type(formula(x, y))
            assert function(Tensor(x), y).item() == formula(x, y)
    assert ops.scalar_uadd(3) == 3 and ops.scalar_log(2.0) == math.log(2.0)
    close(ops.scalar_log(Tensor(2.0)), math.log(2.0))
    assert ops.scalar_to_array(2.5).shape == () and ops.ScalarToArray()(2.5).asnumpy() == 2.5
    assert ops.TensorShape()(Tensor(EXACT)).tolist() == ops.dyn_shape(Tensor(EXACT)).tolist() == [3, 4]
    assert ops.TensorToTuple()(Tensor([1, 2])) == (1, 2)


def test_extremes_over_axes_share_their_slope() -> None:
    x = np.array([[1.0, 3.0, 3.0], [-2.0, -2.0, 0.0]])
    for function, extreme in ((ops.reduce_max, np.max), (ops.reduce_min, np.min)):
        for axes, keep in ((1, True), ((0, 1), False), (None, False)):
            close(function(Tensor(x), axes, keep), extreme(x, axis=axes, keepdims=keep))
    assert ms.grad(lambda t: ops.reduce_max(t, 1).sum())(Tensor(x)).tolist() == [[0, 0.5, 0.5], [0, 0, 1]]
    assert ms.grad(lambda t: ops.reduce_min(t, 1).sum())(Tensor(x)).tolist() == [[1, 0, 0], [0.5, 0.5, 0]]
