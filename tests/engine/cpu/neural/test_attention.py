"""Attention on arrays against its formula in float64: values, gradients, bits, what is not finite, and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from kernel_references import DTYPES, assert_gradient, close, normal
from layouts import ORDERS

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.neural import attention as kernels

Array = np.ndarray[Any, Any]
SCALE = 0.3

# Batch axes above the matrices; L, S, D and E; the shape of the mask.
CASES: dict[str, tuple[tuple[int, ...], tuple[int, int, int, int], tuple[int, ...] | None]] = {
    "heads": ((2, 5), (64, 128, 16, 16), None),
    "many heads of one query": ((3, 4), (1, 9, 5, 7), (3, 1, 1, 9)),
    "one key": ((2, 2), (70, 1, 4, 3), (70, 1)),
    "blocks that are not full": ((1, 2), (133, 300, 33, 17), (133, 300)),
    "many blocks of one head": ((), (200, 1100, 8, 20), (200, 1100)),
    "a mask of keys": ((2, 3), (65, 129, 12, 40), (2, 1, 1, 129)),
    "a mask of heads": ((2, 3), (33, 140, 12, 12), (3, 33, 140)),
    "a mask of queries": ((2, 2), (66, 130, 12, 12), (2, 2, 66, 1)),
    "a mask of one axis": ((4,), (66, 30, 12, 1), (30,)),
    "one number for a mask": ((4,), (10, 30, 1, 12), ()),
    "wide heads": ((3,), (80, 150, 260, 300), None),
}


@pytest.fixture(autouse=True)
def all_compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kernels, "_LEAST", 1)
    monkeypatch.setattr(kernels, "is_on", lambda: True)
    yield
    threads.set_number(None)


def operands(case: str) -> tuple[Array, Array, Array, Array, Array | None]:
    """Return a gradient, queries, keys, values and a mask."""
    above, (length, keys, depth, width), mask = CASES[case]
    random = np.random.default_rng(0)
    shapes = (length, width), (length, depth), (keys, depth), (keys, width)
    g, q, k, v = (random.standard_normal((*above, *shape)).astype(np.float32) for shape in shapes)
    return g, q, k, v, None if mask is None else np.asarray(random.standard_normal(mask), np.float32)


def by_formula(g: Array, q: Array, k: Array, v: Array, mask: Array | None, scale: float = SCALE) -> list[Array]:
    """Return the result and the gradients for q, k and v in float64, from all weights."""
    with np.errstate(all="ignore"):
        g, q, k, v = (x.astype(np.float64) for x in (g, q, k, v))
        scores = q @ k.swapaxes(-1, -2) * scale + (0.0 if mask is None else mask)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        of_weights = g @ v.swapaxes(-1, -2)
        slopes = (of_weights - (of_weights * weights).sum(-1, keepdims=True)) * weights * scale
        return [weights @ v, slopes @ k, slopes.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g]


def computed(g: Array, q: Array, k: Array, v: Array, mask: Array | None, scale: float = SCALE) -> list[Array]:
    with np.errstate(all="ignore"):
        y, sums = kernels.attention(q, k, v, mask, scale)
        return [y, *kernels.attention_grad(g, y, sums, q, k, v, mask, scale)]


def assert_near(results: list[Array], want: list[Array], tolerance: float = 3e-6) -> None:
    for value, reference in zip(results, want, strict=True):
        size = np.abs(reference[np.isfinite(reference)]).max(initial=1.0)
        np.testing.assert_allclose(value, reference, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_agree_with_float64(case: str, numba: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "is_on", lambda: numba)
    inputs = operands(case)
    for scale in (1 / inputs[1].shape[-1] ** 0.5, -2 / inputs[1].shape[-1] ** 0.5):
        result, want = computed(*inputs, scale), by_formula(*inputs, scale)
        assert_near(result, want)
        assert {x.dtype for x in result} == {np.dtype(np.float32)}


def in_every_way(argument: Any, orders: tuple[Callable[[Array], Array], ...]) -> Iterator[list[Array]]:
    for order in orders:
        yield computed(*[x if x is None or x.ndim < 2 else order(x) for x in argument])


def heads_inside(x: Array) -> Array:
    """Return (B, H, L, D) as a view of (B, L, H, D), as layers hand it on."""
    return np.ascontiguousarray(x.swapaxes(-2, -3)).swapaxes(-2, -3) if x.ndim > 2 else x


def slice_of_wider(x: Array) -> Array:
    return np.concatenate([x, x, x], axis=-1)[..., x.shape[-1] : 2 * x.shape[-1]]


def rows_backwards(x: Array) -> Array:
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1]


@pytest.mark.parametrize("case", CASES)
def test_bits_depend_on_no_order_of_memory_and_no_number_of_threads(case: str) -> None:
    inputs = operands(case)
    threads.set_number(1)
    want = computed(*inputs)
    for count in (2, 4):
        threads.set_number(count)
        for value, reference in zip(computed(*inputs), want, strict=True):
            np.testing.assert_array_equal(value, reference)
    for result in in_every_way(inputs, (heads_inside, slice_of_wider, rows_backwards, *ORDERS.values())):
        for value, reference in zip(result, want, strict=True):
            np.testing.assert_array_equal(value, reference)


def test_what_comes_lies_as_queries_keys_and_values_do() -> None:
    inputs = [x if x is None else heads_inside(x) for x in operands("heads")]
    y, dq, dk, dv = computed(*inputs)
    for value, reference in zip((y, dq, dk, dv), inputs, strict=False):
        assert value.swapaxes(-2, -3).flags.c_contiguous and value.shape == reference.shape  # type: ignore[union-attr]


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("where", ["q", "k", "v", "g", "mask"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_comes_out_where_the_formula_puts_it(
    value: float, where: str, numba: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "is_on", lambda: numba)
    g, q, k, v, mask = operands("blocks that are not full")
    arrays = {"g": g, "q": q, "k": k, "v": v, "mask": mask}
    for index in ((0, 0), (-1, -1), (90, 5)):
        changed = dict(arrays)
        changed[where] = arrays[where].copy()  # type: ignore[union-attr]
        changed[where][index if where == "mask" else (0, 0, *index)] = value  # type: ignore[index]
        for actual, reference in zip(computed(**changed), by_formula(**changed), strict=True):
            np.testing.assert_array_equal(np.isfinite(actual), np.isfinite(reference))
            if where == "g":  # a sum over the weights is one over the result here: what was inf - inf may be infinite
                continue
            np.testing.assert_array_equal(np.isnan(actual), np.isnan(reference))
            np.testing.assert_array_equal(actual == np.inf, reference == np.inf)
            np.testing.assert_array_equal(actual == -np.inf, reference == -np.inf)


@pytest.mark.parametrize("numba", [True, False])
def test_masked_keys_do_not_count_and_a_row_without_keys_is_nan(numba: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "is_on", lambda: numba)
    g, q, k, v, _ = operands("blocks that are not full")
    mask = np.triu(np.full((133, 300), -np.inf, np.float32), 1)  # causal: whole blocks are masked
    assert_near(computed(g, q, k, v, mask), by_formula(g, q, k, v, mask))
    result = computed(g, q, k, v, mask[:, ::-1])  # the first blocks of keys are masked, later ones are not
    assert_near(result, by_formula(g, q, k, v, mask[:, ::-1]))
    mask[[0, 70]] = -np.inf
    y, dq, dk, dv = computed(g, q, k, v, mask)
    assert np.isnan(y).all(axis=(0, 1, 3)).nonzero()[0].tolist() == [0, 70]
    assert np.isnan(dq).all(axis=(0, 1, 3)).nonzero()[0].tolist() == [0, 70]
    assert not np.isnan(np.delete(y, [0, 70], axis=2)).any() and not np.isnan(np.delete(dq, [0, 70], axis=2)).any()
    assert np.isnan(dk).all() and np.isnan(dv).all()
    with np.errstate(all="ignore"):
        sums = kernels.attention(q, k, v, mask, SCALE)[1]
    assert np.isnan(sums).all(axis=(0, 1)).nonzero()[0].tolist() == [0, 70]


def test_large_scores_do_not_overflow() -> None:
    g, q, k, v, _ = operands("blocks that are not full")
    assert_near(computed(g, 10 * q, 10 * k, v, None), by_formula(g, 10 * q, 10 * k, v, None), 2e-4)


@pytest.mark.parametrize("above", [(), (2, 3), (0, 3)])
@pytest.mark.parametrize("lengths", [(0, 4), (4, 0), (0, 0)])
def test_of_no_queries_or_no_keys_comes_what_products_give(above: tuple[int, ...], lengths: tuple[int, int]) -> None:
    q, k, v = (np.ones((*above, n, 3), np.float32) for n in (lengths[0], lengths[1], lengths[1]))
    y, *gradients = computed(q, q, k, v, None)
    assert y.shape == q.shape and not y.any()
    assert [x.shape for x in gradients] == [q.shape, k.shape, v.shape] and not any(x.any() for x in gradients)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_weights_and_results_follow_the_formula_in_every_dtype(dtype: np.dtype[Any]) -> None:
    q, k, v, mask = (normal(*shape, seed=n).astype(dtype) for n, shape in enumerate([(5, 4), (6, 4), (6, 3), (5, 6)]))
    want = by_formula(np.ones((5, 3)), q, k, v, mask.astype(np.float64))[0]
    close(kernels.attention(q, k, v, mask, SCALE)[0], want, dtype)
    of_units = by_formula(np.ones((5, 6)), q, k, np.eye(6), mask.astype(np.float64))[0]
    close(kernels.attention_weights(q, k, mask, SCALE), of_units, dtype)


def test_gradients_agree_with_central_differences() -> None:
    g, q, k, v, mask = (normal(*shape, seed=n) for n, shape in enumerate([(4, 3), (4, 2), (5, 2), (5, 3), (4, 5)]))
    dq, dk, dv = computed(g, q, k, v, mask)[1:]
    assert_gradient(dq, lambda x: kernels.attention(x, k, v, mask, SCALE)[0], q, g)
    assert_gradient(dk, lambda x: kernels.attention(q, x, v, mask, SCALE)[0], k, g)
    assert_gradient(dv, lambda x: kernels.attention(q, k, x, mask, SCALE)[0], v, g)


def test_small_work_and_what_does_not_fit_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(kernels, "is_on", lambda: True)
    large, small = np.ones((2, 128, 8), np.float32), np.ones((2, 64, 8), np.float32)
    mask = np.ones((2, 128, 128), np.float32)
    assert kernels._is_worth(large, large, large, mask) and kernels._is_worth(large, large, large, None)
    assert not kernels._is_worth(small, small, small, None)
    assert not kernels._is_worth(large, large[:1], large[:1], None)
    assert not kernels._is_worth(large, large, large.astype(np.float64), None)
    assert not kernels._is_worth(large, large, large, mask.astype(np.float64))
    assert not kernels._is_worth(large, large, large, mask[:, :5])
    assert not kernels._is_worth(large, large, large, mask[None])
    result = kernels.attention(large, large[:1], large[:1], None, SCALE)[0]
    np.testing.assert_allclose(result, large, rtol=1e-6)


def test_a_long_sequence_never_has_all_its_scores() -> None:
    q = normal(1, 2, 2000, 8).astype(np.float32)
    computed(q, q, q, q, None)
    tracemalloc.start()
    try:
        computed(q, q, q, q, None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * 2000 * 2000 * 4 / 10


@pytest.mark.parametrize(("above", "shared"), [((2, 1), 1), ((1, 3), 0), ((1, 1), (0, 1)), ((1,), (0, 1))])
def test_heads_may_share_keys_and_values(above: tuple[int, ...], shared: Any) -> None:
    g, q, *_ = operands("a mask of heads")
    k, v = (normal(*above, 140, 12, seed=seed).astype(np.float32) for seed in (1, 2))
    want = by_formula(g, q, *(np.broadcast_to(x, (2, 3, 140, 12)) for x in (k, v)), None)
    want[2:] = [x.sum(shared, keepdims=True).reshape(k.shape) for x in want[2:]]
    assert_near(computed(g, q, k, v, None), want)
