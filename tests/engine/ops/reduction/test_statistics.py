"""Reductions, norms, distances and limits of norms beside sums in Python; their gradients beside differences."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from function_cases import Array, Case, agrees, listed, same

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, ops

INF, NAN = math.inf, math.nan
RNG = np.random.default_rng(8)
X = RNG.standard_normal((2, 3, 4))
ROWS, MORE = RNG.standard_normal((4, 3)), RNG.standard_normal((5, 3))
TURNS = X + 1j * RNG.standard_normal((2, 3, 4))
N = np.array([[3, 0, -2, 3], [0, 0, 5, 2]], np.int32)
POSITIONS = np.array([0.0, 0.5, 2.0, 1.5])


def f32(values: Any) -> Array:
    return np.asarray(values, np.float32)


def length(vector: Any, p: float = 2) -> float:
    """Return the p-norm of a sequence of numbers."""
    sizes = [float(abs(v)) for v in np.ravel(vector)]
    if p in (INF, -INF):
        return (max if p > 0 else min)(sizes)
    return float(sum(s != 0 for s in sizes)) if p == 0 else sum(s**p for s in sizes) ** (1 / p)


def lengths(x: Array, p: float, axes: Any = None, keep: bool = False) -> Array:
    """Return the p-norms along axes."""
    at = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    last = np.moveaxis(x, at, range(-len(at), 0))
    result = np.array([length(last[index], p) for index in np.ndindex(last.shape[: x.ndim - len(at)])])
    shape = [1 if i in [a % x.ndim for a in at] else n for i, n in enumerate(x.shape)]
    return result.reshape(shape if keep else last.shape[: x.ndim - len(at)])


def apart(x: Array, y: Array, p: float) -> Array:
    return np.array([[length(a - b, p) for b in y] for a in x])


def integral(y: Sequence[float], x: Sequence[float]) -> float:
    return sum((b - a) * (v + w) / 2 for (a, v), (b, w) in itertools.pairwise(zip(x, y, strict=True)))


def shortened(x: Array, p: float, most: float, axis: int) -> Array:
    """Return the entries along the axis whose norm is above ``most``, scaled to it."""
    result = np.moveaxis(x.copy(), axis, 0)
    for entry in result:
        size = length(entry, p)
        entry *= most / (size + 1e-7) if size > most else 1.0
    return np.moveaxis(result, 0, axis)


def limited(parts: Sequence[Array], most: float, p: float = 2) -> list[Array]:
    total = length(np.concatenate([x.ravel() for x in parts]), p)
    return [x * min(most / (total + 1e-6), 1.0) for x in parts]


TENSORS = [Tensor(X), Tensor(ROWS)]
LENGTH = length(np.concatenate([X.ravel(), ROWS.ravel()]))

CASES: dict[str, list[Case]] = {
    "numel": [(lambda: [ops.numel(Tensor(np.zeros(s))) for s in ((), (3,), (2, 3, 4), (2, 0))], [1, 3, 24, 0])],
    "aminmax": [
        (lambda: ops.aminmax(Tensor(X)), (X.min(0), X.max(0))),
        (lambda: ops.aminmax(Tensor(X), axis=-1, keepdims=True), (X.min(-1, keepdims=True), X.max(-1, keepdims=True))),
        (lambda: Tensor(N).aminmax(axis=None), (N.min(), N.max())),
        (lambda: ops.aminmax(Tensor([1.0, NAN])), (np.float32(NAN), np.float32(NAN))),
    ],
    "CountNonZero": [
        (lambda: ops.CountNonZero()(Tensor(N)), np.int32(5)),
        (lambda: ops.CountNonZero(1)(Tensor(N)), np.array([3, 2], np.int32)),
        (lambda: ops.CountNonZero(dims=(0, -1))(Tensor([[0.0, NAN], [INF, -0.0]])), np.int32(2)),
        (lambda: ops.CountNonZero([0])(Tensor(N)), np.array([1, 0, 2, 2], np.int32)),
    ],
    "EuclideanNorm": [
        (lambda: ops.EuclideanNorm()(Tensor(X)), np.float64(length(X))),
        (lambda: ops.EuclideanNorm()(Tensor(ROWS), Tensor([1])), np.array([length(r) for r in ROWS])),
        (lambda: ops.EuclideanNorm(True)(Tensor(ROWS), Tensor([0, -1])), np.array([[length(ROWS)]])),
        (lambda: ops.EuclideanNorm(keep_dims=True)(Tensor(ROWS), 0), np.array([[length(c) for c in ROWS.T]])),
        # MindSpore's example, of integers.
        (
            lambda: ops.EuclideanNorm(True)(Tensor(np.array([[3, 5], [4, 12]], np.int32)), Tensor([0])),
            np.array([[5, 13]], np.int32),
        ),
    ],
    "L2Normalize": [
        (lambda: ops.L2Normalize()(Tensor(ROWS)), ROWS / [length(c) for c in ROWS.T]),
        (lambda: ops.L2Normalize(axis=1)(Tensor(f32(ROWS))), f32([r / length(r) for r in ROWS])),
        (lambda: ops.L2Normalize(axis=(0, -1))(Tensor(X)), np.stack([X[:, i] / length(X[:, i]) for i in range(3)], 1)),
        (lambda: ops.L2Normalize([1], 100.0)(Tensor(ROWS)), ROWS / 10),
        (lambda: ops.L2Normalize()(Tensor([0.0, 0.0])), f32([0, 0])),
    ],
    "trapz": [
        (lambda: ops.trapz(Tensor(ROWS)), np.array([integral(r, range(3)) for r in ROWS])),
        (
            lambda: ops.trapz(Tensor(X), dx=0.5, dim=1),
            np.array([[integral(X[i, :, j], [0, 0.5, 1]) for j in range(4)] for i in range(2)]),
        ),
        (lambda: ops.trapz(Tensor(ROWS), Tensor(POSITIONS), dim=0), np.array([integral(c, POSITIONS) for c in ROWS.T])),
        (lambda: ops.trapz(Tensor(X), Tensor(POSITIONS)), np.array([[integral(r, POSITIONS) for r in m] for m in X])),
        (lambda: ops.trapz(Tensor(ROWS), Tensor(ROWS**2)), np.array([integral(r, r**2) for r in ROWS])),
        (lambda: ops.trapz(Tensor(ROWS), Tensor(ROWS**2), dim=-2), np.array([integral(r, r**2) for r in ROWS.T])),
        (lambda: ops.trapz(Tensor(N), dx=2.0), f32([integral(r, [0, 2, 4, 6]) for r in N])),
        (lambda: ops.trapz(Tensor([5.0])), np.float32(0)),
    ],
    "dist": [
        *(
            (lambda p=p: ops.dist(Tensor(ROWS), Tensor(MORE[:4]), p), np.float64(length(ROWS - MORE[:4], p)))
            for p in (0, 1, 2, 3, 0.5, INF, -INF)
        ),
        (lambda: ops.dist(Tensor(ROWS), Tensor(MORE[0])), np.float64(length(ROWS - MORE[0]))),
        (lambda: ops.dist(Tensor(f32([1, 2])), Tensor(f32([4, -2]))), np.float32(5)),
    ],
    "vector_norm": [
        *(
            (lambda p=p, x=x, how=how: ops.vector_norm(Tensor(x), p, *how), lengths(x, p, *how))
            for p in (0, 1, 2, 3, 0.5, -1, INF, -INF)
            for x in (X, TURNS)
            for how in ((), (1,), ((0, -1), True), (None, True))
        ),
        (lambda: ops.vector_norm(Tensor(f32([[3, 0], [0, -4]])), 0, 1), f32([1, 1])),
        (lambda: ops.vector_norm(Tensor(N), 1, 1, dtype=ms.float64), np.array([8.0, 7.0])),
    ],
    "cov": [
        (lambda: ops.cov(Tensor(POSITIONS)), np.float64(((POSITIONS - 1) ** 2).sum() / 3)),
        (lambda: Tensor(POSITIONS).cov(correction=0), np.float64(((POSITIONS - 1) ** 2).sum() / 4)),
        (lambda: ops.cov(Tensor(3.0), correction=0), np.float32(0)),
        (
            lambda: ops.cov(Tensor(ROWS[:2])),
            np.array([[((a - a.mean()) * (b - b.mean())).sum() / 2 for b in ROWS[:2]] for a in ROWS[:2]]),
        ),
    ],
    "mean of nothing": [
        (lambda: ops.mean(Tensor(np.zeros((2, 0, 3))), 1), np.full((2, 3), NAN)),
        (lambda: ops.mean(Tensor(np.zeros((2, 0, 3))), 1, True), np.full((2, 1, 3), NAN)),
        (lambda: ops.mean(Tensor(np.zeros((2, 0, 3))), 0, True), np.zeros((1, 0, 3))),
    ],
    "cumprod": [
        (lambda: ops.cumprod(Tensor(3.0), 0), np.float32(3)),
        (lambda: Tensor(3).cumprod(-1, ms.float64), np.float64(3)),
        (lambda: ops.cumprod(Tensor(N), 1), np.array([[3, 0, 0, 0], [0, 0, 0, 0]])),
    ],
    **{
        name: [
            (lambda f=f: f(Tensor(X)), np.float64(best(X.ravel()))),
            (lambda f=f: f(Tensor(X), (1,)), best(X, 1)),
            (lambda f=f: f(Tensor(X), (0, 2), True), best(X, (0, 2), keepdims=True)),
            (lambda f=f: f(Tensor(X), (0, 2), initial=0.25), best([best(X, (0, 2)), [0.25] * 3], 0)),
            (
                lambda f=f, w=worst: f(Tensor(X), (0, 2), initial=w, where=Tensor(X < 0.5)),
                best(np.where(X < 0.5, X, worst), (0, 2)),
            ),
            (
                lambda f=f, w=worst: f(Tensor(X), (1,), True, initial=w, where=Tensor(X > -0.5)),
                best(np.where(X > -0.5, X, worst), 1, keepdims=True),
            ),
        ]
        for name, f, best, worst in (
            ("amax", ops.amax, np.max, -9.0),
            ("amin", ops.amin, np.min, 9.0),
            ("max", Tensor.max, np.max, -9.0),
            ("min", Tensor.min, np.min, 9.0),
        )
    },
    "cdist": [
        *((lambda p=p: ops.cdist(Tensor(ROWS), Tensor(MORE), p), apart(ROWS, MORE, p)) for p in (0, 1, 2, 3, 0.5, INF)),
        (lambda: mint.cdist(Tensor(X), Tensor(X[:1, :2])), np.stack([apart(x, X[0, :2], 2) for x in X])),
        (lambda: ops.Cdist(p=1.0)(Tensor(f32(ROWS)), Tensor(f32(ROWS))), f32(apart(ROWS, ROWS, 1))),
    ],
    "pdist": [
        *(
            (lambda p=p: ops.pdist(Tensor(ROWS), p), apart(ROWS, ROWS, p)[np.triu_indices(4, 1)])
            for p in (0, 1, 2, 3, 0.5, INF)
        ),
        (lambda: ops.Pdist(p=2.0)(Tensor(X)), np.stack([apart(x, x, 2)[np.triu_indices(3, 1)] for x in X])),
        (lambda: ops.pdist(Tensor(ROWS[:1])), np.zeros(0)),
    ],
    "renorm": [
        *(
            (lambda p=p, axis=axis: ops.renorm(Tensor(X), p, axis, 2.0), shortened(X, p, 2.0, axis))
            for p in (1, 2, 2.5)
            for axis in (0, 1, -1)
        ),
        (lambda: Tensor(f32(ROWS)).renorm(2, 1, 1.5), f32(shortened(ROWS, 2, 1.5, 1))),
        (lambda: ops.Renorm(p=1, dim=0, maxnorm=1.0)(Tensor(ROWS)), shortened(ROWS, 1, 1.0, 0)),
    ],
    "clip_by_norm": [
        (lambda: ops.clip_by_norm(Tensor(X), 2.0), limited([X], 2.0)[0]),
        (lambda: ops.clip_by_norm(TENSORS, 2), limited([X, ROWS], 2)),
        (lambda: ops.clip_by_norm(tuple(TENSORS), 0.5, INF), tuple(limited([X, ROWS], 0.5, INF))),
        (lambda: ops.clip_by_norm(Tensor(X), 3.0, 1), limited([X], 3.0, 1)[0]),
        (lambda: ops.clip_by_norm(Tensor(X), 100.0, error_if_nonfinite=True), X),
        (lambda: ops.clip_by_norm([Tensor(np.float16([3, 4]))], 2.5), [np.float16([1.5, 2.0])]),
        (lambda: ops.clip_by_norm(Tensor([1.0, NAN]), 1.0), f32([NAN, NAN])),
    ],
    "clip_by_global_norm": [
        (lambda: ops.clip_by_global_norm([Tensor(f32(X)), Tensor(f32(ROWS))]), (f32(X / LENGTH), f32(ROWS / LENGTH))),
        (
            lambda: ops.clip_by_global_norm((Tensor(f32(X)), Tensor(f32(ROWS))), 2.5),
            (f32(X * 2.5 / LENGTH), f32(ROWS * 2.5 / LENGTH)),
        ),
        (lambda: ops.clip_by_global_norm([Tensor(f32(X))], 100), (f32(X),)),
        *(
            (
                lambda kind=kind: ops.clip_by_global_norm([Tensor(np.array([3, 4], kind))], 2.5),
                (np.array([1.5, 2.0], kind),),
            )
            for kind in (np.float16, np.float64)
        ),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_a_reduction_or_norm_is_what_its_definition_gives(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


FACTORS = np.array([[2.0, 0.0, -3.0, 0.5], [0.0, 1.5, 0.0, 2.0], [-1.0, 4.0, 2.0, 0.5]])
GRADIENTS: dict[str, tuple[Callable[..., Tensor], list[Array]]] = {
    "aminmax": (lambda x: ops.aminmax(x, axis=1)[0] + 2 * ops.aminmax(x, axis=1)[1], [X]),
    "EuclideanNorm": (lambda x: ops.EuclideanNorm()(x, Tensor([1])), [ROWS]),
    "L2Normalize": (ops.L2Normalize(axis=1), [ROWS]),
    "trapz": (lambda y, x: ops.trapz(y, x, dim=0), [ROWS, POSITIONS]),
    "dist": (lambda x, y: ops.dist(x, y, 3), [ROWS, MORE[:4]]),
    "cdist": (ops.cdist, [ROWS, MORE]),
    "cdist 1": (lambda x, y: ops.cdist(x, y, 1.0), [ROWS, MORE]),
    "pdist": (ops.pdist, [ROWS]),
    "pdist 3": (lambda x: ops.pdist(x, 3.0), [ROWS]),
    "renorm": (lambda x: ops.renorm(x, 2, 0, 1.5), [ROWS]),
    "Renorm": (ops.Renorm(3, 1, 1.5), [ROWS]),
    "clip_by_norm": (lambda x: ops.clip_by_norm(x, 1.5), [ROWS]),
    "cumprod of zeros 0": (lambda x: ops.cumprod(x, 0), [FACTORS]),
    "cumprod of zeros 1": (lambda x: ops.cumprod(x, 1), [FACTORS]),
    "cumprod of zeros 2": (lambda x: ops.cumprod(x.reshape(2, 3, 2), 1), [FACTORS]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_reduction_or_norm_has_the_gradient_of_differences(name: str) -> None:
    function, inputs = GRADIENTS[name]
    agrees(function, *inputs)


def test_distances_of_equal_rows_pass_no_nan_on() -> None:
    for function in (ops.pdist, lambda x: ops.cdist(x, x)):
        assert ms.grad(lambda x, f=function: f(x).sum())(Tensor(np.ones((2, 3)))).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.numel([1.0]), TypeError, "For 'numel', 'input' must be a Tensor, but got list"),
        (
            lambda: ops.cdist(Tensor(ROWS), Tensor(MORE), -1),
            ValueError,
            "For 'cdist', 'p' must not be negative, but got -1",
        ),
        (lambda: ops.renorm(Tensor(ROWS), 2, 2, 1.0), ValueError, "For 'renorm'"),
        (
            lambda: ops.clip_by_norm(Tensor([1.0, INF]), 1.0, error_if_nonfinite=True),
            RuntimeError,
            "For 'clip_by_norm', the norm of 'x' must be finite, but it is inf",
        ),
        (
            lambda: ops.clip_by_global_norm(Tensor(X)),
            TypeError,
            "For 'clip_by_global_norm', 'x' must be a tuple or list, but got Tensor",
        ),
        (
            lambda: ops.clip_by_global_norm([Tensor(X)], 0),
            ValueError,
            "For 'clip_by_global_norm', 'clip_norm' must be positive, but got 0",
        ),
        (
            lambda: ops.clip_by_global_norm([Tensor(X)], 1.0, Tensor(1.0)),
            NotImplementedError,
            "'use_norm' must be None, as in MindSpore",
        ),
        (lambda: ops.trapz(Tensor(ROWS), dim=2), ValueError, "For 'trapz'"),
    ],
)
def test_a_reduction_or_norm_refuses_what_it_is_not_defined_for(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
