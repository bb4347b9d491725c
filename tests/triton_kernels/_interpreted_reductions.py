"""Checks of the reductions in Triton's interpreter against float64; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, planned, run, suits, wide

from hookscope.triton_kernels import reductions
from hookscope.triton_kernels.launch import launcher, plans

NUMPYS = {"sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min", "any": "any", "all": "all"}
AXES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((5, 7), (0,)),
    ((3, 4, 5, 6), (1,)),
    ((3, 4, 5, 6), (0, 2, 3)),
    ((2, 1, 3), (1,)),
    ((130, 3), (0, 1)),
]


def reference_of(name: str, x: Any, axes: Any, keepdims: bool = False) -> Any:
    return getattr(wide(x), NUMPYS[name])(axis=axes, keepdims=keepdims)


def check(name: str, x: Any, axes: tuple[int, ...], keepdims: bool = False) -> None:
    result, want = run(name, x, axes, keepdims), reference_of(name, x, axes, keepdims)
    assert result.shape == want.shape
    if name in ("any", "all"):
        assert result.dtype == np.bool_
        np.testing.assert_array_equal(result, want)
    else:
        close(result, want, x.dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", NUMPYS)
def test_every_reduction_over_any_axes(name: str, dtype: Any) -> None:
    for index, (shape, axes) in enumerate(AXES):
        check(name, normal(*shape, dtype=dtype) * (normal(*shape, seed=1) > 0), axes, index % 2 == 0)
    assert not suits(name, normal(3, 0, 2, dtype=dtype), (1,), False), "nothing"


@pytest.mark.parametrize("name", ["sum", "amin"])
def test_operands_lie_anyhow_and_results_as_they_do(name: str) -> None:
    base = normal(4, 5, 6, 7)
    for x in (base.T, base[::2, 1:, ::-1], base[0, ..., 3]):
        for axes in ((0,), (0, x.ndim - 1), (1,)):
            check(name, x, axes)
    last = run(name, base.transpose(0, 3, 1, 2), (0,), True)
    assert last.transpose(0, 2, 3, 1).flags.c_contiguous, "channels stay last"
    spread = np.broadcast_to(base[0, 0], (9, 6, 7))
    check(name, spread, (0,))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_long_rows_are_reduced_in_parts(name: str, dtype: Any) -> None:
    check(name, normal(2, 20_001, dtype=dtype), (1,))
    x = normal(40_003, 3, dtype=dtype)
    plan, inputs, attrs = planned(name, x, (0,), False)
    assert plan is not None
    assert len(plan.steps) == 2
    first = plan(*inputs, **attrs)
    np.testing.assert_allclose(
        wide(first), reference_of(name, x, (0,)), rtol=1.2e-2, atol=200 * np.finfo(np.float32).eps
    )
    np.testing.assert_array_equal(first, plan(*inputs, **attrs))


def test_extremes_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "_TILE", 64)
    check("amax", normal(1, 20_001), (1,))
    check("amin", normal(999, 3), (0,))


def test_half_sums_are_in_float32() -> None:
    ones = np.ones((3, 5000), DTYPES[2])
    assert run("sum", ones, (1,), False).tolist() == [4992] * 3  # bfloat16's next to 5000; in bfloat16 it stays at 256
    assert run("mean", ones, (1,), False).tolist() == [1] * 3
    assert run("sum", np.full((1, 8), 60000, DTYPES[1]), (1,), False).tolist() == [np.inf]
    assert run("mean", np.full((1, 8), 60000, DTYPES[1]), (1,), False).tolist() == [60000]


def test_nan_and_infinities_are_as_in_numpy() -> None:
    x = np.array([[1, np.nan, 3], [np.inf, 2, -np.inf], [-np.inf, -np.inf, -np.inf], [np.inf, 1, 2]], np.float32)
    for name in NUMPYS:
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(run(name, x, (1,), False), reference_of(name, x, (1,)), err_msg=name)
    for name in ("argmax", "argmin"):
        assert run(name, x, 1, False).tolist() == getattr(x, name)(axis=1).tolist()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ["max", "min"])
def test_the_first_of_equal_extremes_is_the_place(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.round(normal(6, 37, 3)).astype(dtype)
    x[1, 3, 1], x[2, :, 0], x[3, 2:4, 2] = np.nan, -0.0, 0.0
    x[2, 5, 0], x[4, :, 1], x[5, :, 2] = 0.0, np.inf, -np.inf
    for axis in (0, 1, 2):
        want = getattr(wide(x), f"arg{name}")(axis=axis)
        np.testing.assert_array_equal(run(f"arg{name}", x, axis, False), want)
        values, indices = run(f"{name}_along", x, axis, True)
        np.testing.assert_array_equal(indices, np.expand_dims(want, axis))
        close(values, getattr(wide(x), name)(axis=axis, keepdims=True), dtype)
    assert run(f"arg{name}", x, None, False) == getattr(wide(x), f"arg{name}")()
    assert not suits(f"arg{name}", x.T, None, False), "C order, unlike the memory"
    monkeypatch.setattr(reductions, "_TILE", 64)
    long = normal(2_003)
    long[[1_500, 1_501, 7, 8]] = getattr(long, name)() * 2
    assert run(f"arg{name}", long, 0, False) == 7


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int8, np.bool_], ids=str)
def test_integers_and_bools(dtype: Any) -> None:
    x = np.random.default_rng(0).integers(-2, 3, (7, 33)).astype(dtype)
    if dtype is not np.bool_:
        for name in ("sum", "amax", "amin", "prod"):
            result = run(name, x, (1,), False)
            assert result.dtype == dtype
            np.testing.assert_array_equal(result, getattr(x.astype(np.int64), NUMPYS[name])(axis=1).astype(dtype))
    for name in ("any", "all"):
        np.testing.assert_array_equal(run(name, x, (0,), True), getattr(x, name)(axis=0, keepdims=True))
    assert not suits("mean", x, (1,), False)
    assert run("amin", np.full((2, 3), -(2**62)), (1,), False).tolist() == [-(2**62)] * 2


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_gradients_of_broadcasting_are_summed(dtype: Any) -> None:
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((5, 7), (7,)),
        ((5, 7), (5, 1)),
        ((5, 7), ()),
        ((2, 3, 4, 5), (3, 1, 5)),
        ((2, 3, 4, 5), (1, 3, 1, 1)),
    ]
    for shape, to in shapes:
        g = normal(*shape, dtype=dtype)
        axes = tuple(range(len(shape) - len(to))) + tuple(i + len(shape) - len(to) for i, n in enumerate(to) if n == 1)
        for laid in (g, g.T.copy().T):
            result = run("sum_to", laid, to)
            assert result.shape == to
            close(result, wide(g).sum(axis=axes, keepdims=True).reshape(to), dtype)
    assert not suits("sum_to", g, g.shape), "nothing to add up"


def test_indices_of_64_bits_reach_the_same_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "FEWEST_LONG", 1)
    monkeypatch.setattr(plans, "_plans", {})
    x = normal(6, 7, 5)
    plan, inputs, attrs = planned("sum", x, (1,), False)
    assert plan is not None
    assert [(step.kernel, step.constants["LONG"]) for step in plan.steps] == [(reductions.reduce_kernel, True)]
    close(plan(*inputs, **attrs), wide(x).sum(axis=1), np.float32)


def test_what_does_not_qualify() -> None:
    x = normal(4, 5)
    assert not suits("sum", x.astype(np.float64), (0,), False), "float64"
    assert not suits("sum", x.astype(np.complex64), (0,), False), "complex"
    many_axes = normal(*[2] * 13)[:, :1, :, :1, :, :1, :, :1, :, :1, :, :1]
    assert not suits("sum", many_axes, (12,), False), "more separate axes than the kernel has"
