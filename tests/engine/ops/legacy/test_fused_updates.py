"""Updates of rows, and those that do something else besides, against MindSpore 2.10 and NumPy's float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, wave

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops

Array = np.ndarray[Any, Any]


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def stepped(update: Any, states: list[Tensor], *rest: Any, first: tuple[Any, ...] = ()) -> list[Tensor]:
    """Return the parameter and its state after two steps."""
    parameters = [Parameter(item, f"held{i}") for i, item in enumerate(states)]
    for _ in range(2):
        update(*first, *parameters, *rest)
    return [parameter.value() for parameter in parameters]


P, M, V, G = wave(3, 2), wave(3, 2, k=1.0), wave(3, 2, k=2.0) ** 2 + 0.1, wave(3, 2, k=3.0)
ADAM = (t(0.9), t(0.99), t(0.1), t(0.9), t(0.99), t(1e-3))
TABLE, MOMENT, SQUARES = wave(4, 1, 2), wave(4, 1, 2, k=1.0), wave(4, 1, 2, k=2.0) ** 2 + 0.1
ROWS, TWICE, ONCE = wave(3, 1, 2, k=3.0), t([2, 0, 2], ms.int32), t([2, 0, 3], ms.int32)
FTRL = ((0.1, 0.0, 0.0, -0.5), (0.1, 0.2, 0.3, -0.5), (0.1, 0.01, 0.02, 0.0), (0.1, 0.01, 0.02, -0.7))
STATE = (TABLE, MOMENT**2 + 0.1, wave(4, 1, 2, k=2.0))
FLAGS: list[dict[str, bool]] = [
    {},
    {"enable_scale_parameter": True},
    {"enable_first_moment": True},
    {"enable_weight_decay": True},
    {"enable_scale_parameter": True, "enable_first_moment": True, "enable_weight_decay": True},
]


def adafactor(shape: tuple[int, ...], how: dict[str, bool], numbers: Any = float) -> list[Tensor]:
    """Return the parameter and the means of FusedAdaFactor."""
    values = [
        wave(*shape),
        wave(*shape, k=1.0),
        wave(*shape[:-1], k=3.0) ** 2 + 0.1,
        wave(*shape[:-2], shape[-1], k=4.0) ** 2 + 0.1,
        wave(*shape, k=2.0) ** 2 + 0.1,
    ]
    pair = (1e-30, 1e-3) if numbers is float else t((1e-30, 1e-3))
    rest = [numbers(variant) for variant in (0.75, 0.9, 0.8, 0.25, 0.03)]
    return stepped(ops.FusedAdaFactor(**how), values, first=(pair, *rest, wave(*shape, k=5.0)))


CASES: dict[str, Callable[[], Any]] = {
    # MindSpore takes abs(a - l1 * step) for max(abs(a) - l1 * step, 0): right where l1 is 0.
    "ApplyAdagradDA": lambda: stepped(ops.ApplyAdagradDA(), [P, M, V], G, t(0.1), t(0.0), t(0.02), t(3, ms.int32)),
    **{
        f"AdamNoUpdateParam {ahead}": partial(
            lambda ahead: [
                ops.AdamNoUpdateParam(use_nesterov=ahead)(Parameter(M, "m"), Parameter(V, "v"), *ADAM, G),
                *stepped(ops.AdamNoUpdateParam(use_nesterov=ahead), [M, V], *ADAM, G),
            ],
            ahead,
        )
        for ahead in (False, True)
    },
    **{
        f"FusedCastAdamWeightDecay {norm}": partial(
            lambda norm: stepped(
                ops.FusedCastAdamWeightDecay(),
                [P, M, V],
                t(0.1),
                t(0.9),
                t(0.99),
                t(1e-3),
                t(0.05),
                G.astype(ms.float16),
                t(norm),
            ),
            norm,
        )
        for norm in (1.0, 2.0)
    },
    **{
        f"FusedAdaFactor {len(shape)} {' '.join(how)}": partial(adafactor, shape, how)
        for shape in ((2, 3, 2), (3, 2), (4,))
        for how in FLAGS
    },
    "FusedSparseAdam": lambda: stepped(ops.FusedSparseAdam(), [TABLE, MOMENT, SQUARES], *ADAM, ROWS, TWICE),
    **{
        f"FusedSparseLazyAdam {ahead}": partial(
            lambda ahead: stepped(
                ops.FusedSparseLazyAdam(use_nesterov=ahead), [TABLE, MOMENT, SQUARES], *ADAM, ROWS, TWICE
            ),
            ahead,
        )
        for ahead in (False, True)
    },
    **{
        f"{name} {settings}": partial(
            lambda name, settings: stepped(getattr(ops, name)(*settings), list(STATE), ROWS, TWICE), name, settings
        )
        for name in ("FusedSparseFtrl", "SparseApplyFtrl")
        for settings in FTRL
    },
    # MindSpore's own example names a row that is not there.
    "SparseApplyFtrl of no row": lambda: stepped(
        ops.SparseApplyFtrl(0.01, 0.0, 0.0, -0.5), [t([[0.2]]), t([[0.1]]), t([[0.6]])], t([[0.7]]), t([1], ms.int32)
    ),
    "SparseApplyFtrl int64": lambda: stepped(ops.SparseApplyFtrl(*FTRL[1]), list(STATE), ROWS, ONCE.astype(ms.int64)),
    **{
        f"FusedSparseProximalAdagrad {l1} {l2}": partial(
            lambda l1, l2: stepped(
                ops.FusedSparseProximalAdagrad(), [TABLE, SQUARES], t(0.1), t(l1), t(l2), ROWS, TWICE
            ),
            l1,
            l2,
        )
        for l1, l2 in ((0.0, 0.0), (0.2, 0.3))
    },
    **{
        f"SparseApplyAdagradV2 {slots}": partial(
            lambda slots: stepped(
                ops.SparseApplyAdagradV2(0.1, 1e-3, update_slots=slots), [TABLE, SQUARES], ROWS, ONCE
            ),
            slots,
        )
        for slots in (False, True)
    },
}


@pytest.mark.parametrize("name", CASES)
def test_an_update_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


# By their formulas, in float64: what the parameter and the state are after a step of one row, or of all.
def adam(p: Array, m: Array, v: Array, g: Array, ahead: bool) -> tuple[Array, ...]:
    m, v = 0.75 * m + 0.25 * g, 0.875 * v + 0.125 * g**2
    way = 0.75 * m + 0.25 * g if ahead else m
    return p - 0.0625 * math.sqrt(1 - 0.765625) / (1 - 0.5625) * way / (np.sqrt(v) + 1e-3), m, v


def ftrl(p: Array, n: Array, z: Array, g: Array) -> tuple[Array, ...]:
    new = n + g**2
    z = z + g - (new**0.6 - n**0.6) / 0.0625 * p
    return np.where(abs(z) <= 0.5, 0, (np.sign(z) * 0.5 - z) / (new**0.6 / 0.0625 + 0.5)), new, z


def proximal(p: Array, a: Array, g: Array) -> tuple[Array, ...]:
    a = a + g**2
    rate = 0.0625 / np.sqrt(a)
    p = p - rate * g
    return np.sign(p) * np.maximum(abs(p) - rate * 0.5, 0) / (1 + rate * 0.25), a


def adagrad(p: Array, a: Array, g: Array, slots: bool) -> tuple[Array, ...]:
    a = a + g**2 if slots else a
    return p - 0.0625 * g / np.sqrt(a + 0.125), a


R = np.random.default_rng(3)
WIDE = [R.standard_normal((5, 2, 3)), *(np.abs(R.standard_normal((5, 2, 3))) for _ in range(2))]
GRADIENTS, WHICH = R.standard_normal((4, 2, 3)), np.array([3, 0, 3, 1], np.int32)
A = (0.5625, 0.765625, 0.0625, 0.75, 0.875, 1e-3)
# The update, how many it holds, what comes before and behind the gradient, the formula, whether gradients are summed
# first, and whether all rows make a step.
RULES: dict[str, tuple[Any, int, tuple[float, ...], Callable[..., tuple[Array, ...]], bool, bool]] = {
    **{
        f"FusedSparseAdam {ahead}": (
            lambda ahead=ahead: ops.FusedSparseAdam(use_nesterov=ahead),
            3,
            A,
            partial(adam, ahead=ahead),
            True,
            True,
        )
        for ahead in (False, True)
    },
    "FusedSparseLazyAdam": (lambda: ops.FusedSparseLazyAdam(), 3, A, partial(adam, ahead=False), True, False),
    "FusedSparseFtrl": (lambda: ops.FusedSparseFtrl(0.0625, 0.5, 0.25, -0.6), 3, (), ftrl, True, False),
    "SparseApplyFtrl": (lambda: ops.SparseApplyFtrl(0.0625, 0.5, 0.25, -0.6), 3, (), ftrl, False, False),
    "FusedSparseProximalAdagrad": (
        lambda: ops.FusedSparseProximalAdagrad(),
        2,
        (0.0625, 0.5, 0.25),
        proximal,
        True,
        False,
    ),
    "SparseApplyAdagradV2": (
        lambda: ops.SparseApplyAdagradV2(0.0625, 0.125),
        2,
        (),
        partial(adagrad, slots=True),
        False,
        False,
    ),
    "SparseApplyAdagradV2 as it is": (
        lambda: ops.SparseApplyAdagradV2(0.0625, 0.125, update_slots=False),
        2,
        (),
        partial(adagrad, slots=False),
        False,
        False,
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_the_rows_that_are_named_step_by_the_formula_and_the_others_stay(name: str) -> None:
    make, count, numbers, formula, sums, everywhere = RULES[name]
    parameters = [Parameter(Tensor(item), f"held{i}") for i, item in enumerate(WIDE[:count])]
    returned = make()(*parameters, *numbers, Tensor(GRADIENTS), Tensor(WHICH))
    want = [item.copy() for item in WIDE[:count]]
    steps = [(row, GRADIENTS[i]) for i, row in enumerate(WHICH)]
    if sums:
        rows = range(5) if everywhere else (0, 1, 3)
        steps = [(row, GRADIENTS[row == WHICH].sum(axis=0)) for row in rows]
    for row, g in steps:
        for element, value in zip(want, formula(*(item[row] for item in want), g), strict=True):
            element[row] = value
    for element, value, output in zip(parameters, want, returned, strict=True):
        np.testing.assert_allclose(element.asnumpy(), value, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(output.asnumpy(), element.asnumpy())


@pytest.mark.parametrize("name", RULES)
def test_a_row_that_is_not_there_is_left_out(name: str) -> None:
    make, count, numbers, *_ = RULES[name]
    results = []
    for gradients, rows in ((GRADIENTS, [7, 2, -1, 4]), (GRADIENTS[[1, 3]], [2, 4])):
        parameters = [Parameter(Tensor(item), f"held{i}") for i, item in enumerate(WIDE[:count])]
        make()(*parameters, *numbers, Tensor(gradients), Tensor(np.array(rows, np.int32)))
        results.append(parameters)
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first.asnumpy(), second.asnumpy())


@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_dual_averaging_steps_by_its_formula(l1: float) -> None:
    p, total, squares = (Parameter(Tensor(variant), "x") for variant in (WIDE[0], WIDE[0] * 2, WIDE[1]))
    result = ops.ApplyAdagradDA()(p, total, squares, Tensor(GRADIENTS[[0, 1, 2, 3, 0]]), 0.125, l1, 0.25, 3)
    g = GRADIENTS[[0, 1, 2, 3, 0]]
    a, s = WIDE[0] * 2 + g, WIDE[1] + g**2
    want = -0.125 * np.sign(a) * np.maximum(abs(a) - l1 * 3, 0) / (0.25 * 3 * 0.125 + np.sqrt(s))
    for item, value in zip((p, total, squares, result), (want, a, s, want), strict=True):
        np.testing.assert_allclose(item.asnumpy(), value, rtol=1e-12)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_step_of_adam_is_given_and_not_made(ahead: bool) -> None:
    m, v = Parameter(Tensor(WIDE[1][:4]), "m"), Parameter(Tensor(WIDE[2][:4]), "v")
    result = ops.AdamNoUpdateParam(use_nesterov=ahead)(m, v, *A, Tensor(GRADIENTS))
    want = adam(np.zeros_like(GRADIENTS), WIDE[1][:4], WIDE[2][:4], GRADIENTS, ahead)
    for item, value in zip((result, m, v), want, strict=True):
        np.testing.assert_allclose(item.asnumpy(), value, rtol=1e-12)


def test_tensors_and_numbers_are_alike_to_adafactor() -> None:
    for first, second in zip(adafactor((3, 2), FLAGS[-1]), adafactor((3, 2), FLAGS[-1], t), strict=True):
        np.testing.assert_allclose(first.asnumpy(), second.asnumpy(), rtol=1e-6)


def test_half_precision_is_computed_with_in_single() -> None:
    parameters = [Parameter(variant, "x") for variant in (P.astype(ms.float16), M, V)]
    wide = [Parameter(variant, "x") for variant in (P.astype(ms.float16).astype(ms.float32), M, V)]
    numbers = (0.1, 0.9, 0.99, 1e-3, 0.05, G.astype(ms.float16), 1.0)
    result, want = (
        ops.FusedCastAdamWeightDecay()(*parameters, *numbers),
        ops.FusedCastAdamWeightDecay()(*wide, *numbers),
    )
    assert [item.dtype for item in result] == [ms.float16, ms.float32, ms.float32]
    np.testing.assert_array_equal(result[0].asnumpy(), want[0].asnumpy().astype(np.float16))
    np.testing.assert_array_equal(result[1].asnumpy(), want[1].asnumpy())


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "rate": (lambda: ops.SparseApplyFtrl(-0.1, 0.0, 0.0, -0.5)(*STATE, ROWS, ONCE), ValueError, "'lr' must be above 0"),
    "whole rate": (lambda: ops.SparseApplyFtrl(1, 0.0, 0.0, -0.5)(*STATE, ROWS, ONCE), TypeError, "must be a float"),
    "l1": (lambda: ops.FusedSparseFtrl(0.1, -1.0, 0.0, -0.5)(*STATE, ROWS, ONCE), ValueError, "'l1' must not be neg"),
    "power": (lambda: ops.FusedSparseFtrl(0.1, 0.0, 0.0, 0.5)(*STATE, ROWS, ONCE), ValueError, "must not be above 0"),
    "epsilon": (lambda: ops.SparseApplyAdagradV2(0.1, 1)(*STATE[:2], ROWS, ONCE), TypeError, "must be a float"),
    "rows": (lambda: ops.SparseApplyAdagradV2(0.1, 0.1)(*STATE[:2], ROWS[:2], ONCE), ValueError, r"2\) for \(3,\)"),
    "indices": (lambda: ops.FusedSparseAdam()(*STATE, *A, ROWS, t([0.0, 1.0, 2.0])), TypeError, "must hold integers"),
    "no tensor": (lambda: ops.FusedSparseAdam()(TABLE, 3, SQUARES, *A, ROWS, ONCE), TypeError, "input 1 must be"),
    "shape": (lambda: ops.AdamNoUpdateParam()(M, V, *A, G[:2]), ValueError, r"'gradient' must have the shape \(3, 2\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_told_and_changes_nothing(name: str) -> None:
    call, kind, words = WRONG[name]
    before = [variant.asnumpy().copy() for variant in (*STATE, M, V, SQUARES)]
    with pytest.raises(kind, match=words):
        call()
    for item, kept in zip((*STATE, M, V, SQUARES), before, strict=True):
        np.testing.assert_array_equal(item.asnumpy(), kept)
