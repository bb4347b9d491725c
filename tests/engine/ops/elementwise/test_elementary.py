"""Functions of one, two and three numbers: what Python computes of each, special values and gradients."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from function_cases import Array, Case, agrees, listed, same

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, ops

INF, NAN = math.inf, math.nan
NUMBERS = np.array([[-2.5, -1.0, -0.25, 0.0, 0.3], [1.0, 7.75, INF, -INF, NAN]])
COMPLEX = np.array([3 + 4j, 0, -2j, -5, 1e-3 + 0j])
INTEGERS = np.array([[1, -3, 5, 0], [-7, 100, -1, 8]], np.int32)
INDICES = np.array([0, 2, 4, 1], np.int32)
TALL, WIDE = np.array([[0.5], [-1.5], [3.0]]), np.array([[2.0, -0.25, 4.0, 0.5]])
BIG = np.array([2**30 + 1, -7, 7, -8, 9, -(2**31) + 1], np.int32)
SMALL = np.array([1, 2, -2, 3, 3, 1], np.int32)


def each(function: Callable[..., Any], *arrays: Any, dtype: Any = np.float64) -> Array:
    """Return a function of Python's numbers for each element of what the arrays broadcast to."""
    wide = np.broadcast_arrays(*arrays)
    return np.array([function(*item) for item in zip(*(x.ravel().tolist() for x in wide), strict=True)], dtype).reshape(
        wide[0].shape
    )


def logit(x: float, eps: float | None = None) -> float:
    x = x if eps is None else min(max(x, eps), 1 - eps)
    return -INF if x == 0 else INF if x == 1 else math.log(x / (1 - x)) if 0 < x < 1 else NAN


def larger(x: float, y: float) -> float:
    return y if math.isnan(x) else x if math.isnan(y) else max(x, y)


def smaller(x: float, y: float) -> float:
    return y if math.isnan(x) else x if math.isnan(y) else min(x, y)


def quotient(x: float, y: float) -> float:
    return 0.0 if x == 0 else math.copysign(INF, x) if y == 0 else x / y


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def f32(values: Any) -> Array:
    return np.asarray(values, np.float32)


PARTS = np.array([0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 1.5, -0.1, NAN])
ORDERED = np.array([[3.0, NAN, -1.0, NAN, 0.5, -INF], [1.0, 2.0, NAN, -INF, INF, 0.5]])
TURNED = np.array([NAN, 1.0, 2.0, NAN, 0.5, INF])
ZEROS = np.array([0.0, 0.0, 0.0, 0.0, 2.0, -1.0, 2.0]), np.array([0.0, NAN, INF, -3.0, 0.0, 4.0, -INF])
DIVISORS = np.array([1.0, NAN, INF, 0.0, NAN, 6.0, -5.0, 0.0]), np.array([0.0, 0.0, -0.0, 0.0, 2.0, -4.0, INF, 3.0])
SINES = np.array([[0.0, -0.0, 1.0, -1.0], [0.25, -2.5, 1e-6, 3.75]])
BFLOAT16 = Tensor(np.ones(2, np.float32)).astype(ms.bfloat16)

CASES: dict[str, list[Case]] = {
    "bitwise_left_shift": [
        (lambda: ops.bitwise_left_shift(Tensor(INTEGERS), Tensor(INDICES)), INTEGERS * 2**INDICES),
        (lambda: Tensor(INTEGERS).bitwise_left_shift(3), INTEGERS * np.int32(8)),
        (lambda: ops.bitwise_left_shift(5, Tensor(INDICES)), np.int32(5) * 2**INDICES),
        (
            lambda: ops.LeftShift()(Tensor(np.array([[1], [-2]], np.int8)), Tensor(np.array([1, 9], np.int16))),
            np.array([[2, 512], [-4, -1024]], np.int16),
        ),
    ],
    "bitwise_right_shift": [
        (lambda: ops.bitwise_right_shift(Tensor(INTEGERS), Tensor(INDICES)), INTEGERS // 2**INDICES),
        (lambda: Tensor(INTEGERS).bitwise_right_shift(1), INTEGERS // np.int32(2)),
        (lambda: ops.RightShift()(Tensor(np.array([255, 8], np.uint8)), 3), np.array([31, 1], np.uint8)),
    ],
    "frac": [
        (lambda: ops.frac(Tensor(NUMBERS)), np.array([[-0.5, 0.0, -0.25, 0.0, 0.3], [0.0, 0.75, NAN, NAN, NAN]])),
        (lambda: Tensor(f32([1.5, -7.125])).frac(), f32([0.5, -0.125])),
        (lambda: mint.frac(Tensor(INTEGERS)), INTEGERS * 0),
        (lambda: ops.frac(Tensor(-2.25)), np.float32(-0.25)),
    ],
    "sgn": [
        (lambda: ops.sgn(Tensor(COMPLEX)), np.array([0.6 + 0.8j, 0, -1j, -1, 1])),
        (lambda: Tensor(COMPLEX.astype(np.complex64)).sgn(), np.array([0.6 + 0.8j, 0, -1j, -1, 1], np.complex64)),
        (lambda: ops.sgn(Tensor(NUMBERS)), np.array([[-1.0, -1, -1, 0, 1], [1, 1, 1, -1, 0]])),  # of NaN too
        (lambda: ops.sgn(Tensor(INTEGERS)), np.array([[1, -1, 1, 0], [-1, 1, -1, 1]], np.int32)),
    ],
    "logit": [
        (lambda: ops.logit(Tensor(PARTS)), each(logit, PARTS)),
        (lambda: ops.logit(Tensor(PARTS), 0.2), each(lambda x: NAN if math.isnan(x) else logit(x, 0.2), PARTS)),
        (lambda: ops.logit(Tensor(PARTS[:-1]), 0.0), each(lambda x: logit(x, 0.0), PARTS[:-1])),
        (lambda: ops.Logit()(Tensor(PARTS)), each(logit, PARTS)),
        (lambda: ops.Logit(0.25)(Tensor(f32([0.1, 0.5]))), f32([-math.log(3), 0.0])),
        (lambda: Tensor(np.array([0, 1])).logit(), f32([-INF, INF])),
    ],
    "isreal": [
        (lambda: ops.isreal(Tensor(COMPLEX)), np.array([False, True, False, True, True])),
        (lambda: Tensor(NUMBERS).isreal(), np.ones((2, 5), bool)),
        (lambda: ops.isreal(Tensor(INTEGERS)), np.ones((2, 4), bool)),
        (lambda: ops.isreal(Tensor(2.0)), np.True_),
    ],
    "approximate_equal": [
        (
            lambda: ops.approximate_equal(Tensor(TALL), Tensor(WIDE), 2.25),
            each(lambda x, y: abs(x - y) < 2.25, TALL, WIDE, dtype=bool),
        ),
        (lambda: ops.ApproximateEqual(0.5)(Tensor([1.0, 1.0, NAN]), Tensor([1.25, 1.5, NAN])), np.array([1, 0, 0]) > 0),
        (lambda: Tensor([1.0, 1.0]).approximate_equal(Tensor([1.000005, 1.00002])), np.array([True, False])),
    ],
    "isclose": [
        # The size of the second one counts.
        (lambda: ops.isclose(Tensor([10.0, 11.0]), Tensor([11.0, 10.0]), 0.095), np.array([True, False])),
        (lambda: ops.isclose(Tensor([3.0, NAN]), Tensor([3.5, NAN]), 0.0, 0.5, True), np.array([True, True])),
        (lambda: [Tensor([10.0]).allclose(Tensor([v]), 0.095) for v in (9.0, 11.0)], [False, True]),
        (lambda: [Tensor([11.0]).allclose(Tensor([v]), 0.095) for v in (10.0, 12.0)], [False, True]),
        (lambda: [Tensor([1.0, NAN]).allclose(Tensor([v, NAN]), 0.0, 0.5, True) for v in (1.5, 1.75)], [True, False]),
    ],
    "isneginf": [
        (lambda: ops.isneginf(Tensor([[-INF, INF, NAN, -1e30]])), np.array([[True, False, False, False]])),
        (lambda: Tensor(INTEGERS).isneginf(), np.zeros((2, 4), bool)),
    ],
    "sinc": [
        (lambda: ops.sinc(Tensor(SINES)), each(lambda x: math.sin(math.pi * x) / (math.pi * x) if x else 1.0, SINES)),
        (lambda: ops.Sinc()(Tensor(f32([0.0, 1.0, 0.5]))), f32([1.0, 0.0, 2 / math.pi])),
        (lambda: Tensor(INDICES).sinc(), f32([1.0, 0.0, 0.0, 0.0])),
    ],
    "is_complex": [
        (
            lambda: [ops.is_complex(Tensor(np.zeros(2, kind))) for kind in ("c8", "c16", "f4", "f8", "i4", "?")],
            [True, True, False, False, False, False],
        ),
        (lambda: BFLOAT16.is_complex(), False),
    ],
    "is_floating_point": [
        (
            lambda: [ops.is_floating_point(Tensor(np.zeros(2, kind))) for kind in ("f2", "f4", "f8", "c8", "i4", "?")],
            [True, True, True, False, False, False],
        ),
        (lambda: BFLOAT16.is_floating_point(), True),
    ],
    "is_nonzero": [
        (lambda: [ops.is_nonzero(Tensor(v)) for v in (0.0, -0.0, 0, False, 0j)], [False] * 5),
        (lambda: [ops.is_nonzero(Tensor(v)) for v in (NAN, 1e-30, -3, True, 1j, [[2.0]])], [True] * 6),
    ],
    "eps": [
        (lambda: ops.Eps()(Tensor(NUMBERS)), np.full((2, 5), 2.0**-52)),
        (lambda: ops.Eps()(Tensor(f32([1e9, NAN]))), np.full(2, 2.0**-23, np.float32)),
        (lambda: ops.Eps()(Tensor(np.float16(3))), np.float16(2.0**-10)),
        (lambda: ops.Eps()(BFLOAT16), np.full(2, 2.0**-7, ml_dtypes.bfloat16)),
    ],
    "copysign": [
        (lambda: ops.copysign(Tensor(TALL), Tensor(WIDE)), each(math.copysign, TALL, WIDE)),
        (lambda: Tensor(INTEGERS).copysign(-1), -abs(INTEGERS).astype(np.float32)),
        (lambda: ops.copysign(Tensor([INF, -INF]), Tensor([-1, 1])), f32([-INF, INF])),
        (lambda: ops.copysign(2.0, [-1.0, 1.0]), f32([-2.0, 2.0])),
    ],
    "fmax": [
        (lambda: ops.fmax(Tensor(ORDERED), Tensor(TURNED)), each(larger, ORDERED, TURNED)),
        (lambda: Tensor(INTEGERS).fmax(Tensor(INDICES)), np.maximum(INTEGERS, INDICES)),
        (lambda: ops.Fmax()(Tensor(f32([NAN, 1.0])), 1.5), f32([1.5, 1.5])),
        (lambda: ops.fmax(NAN, Tensor(f32([-2.0, 1.0]))), f32([-2.0, 1.0])),
    ],
    "fmin": [
        (lambda: ops.fmin(Tensor(ORDERED), Tensor(TURNED)), each(smaller, ORDERED, TURNED)),
        (lambda: Tensor(INTEGERS).fmin(Tensor(INDICES)), np.minimum(INTEGERS, INDICES)),
        (lambda: ops.Fmin()(Tensor(f32([NAN, 1.0])), 1.5), f32([1.5, 1.0])),
        (lambda: ops.fmin(NAN, Tensor(f32([-2.0, 1.0]))), f32([-2.0, 1.0])),
    ],
    "ldexp": [
        (lambda: ops.ldexp(Tensor(TALL), Tensor(INDICES)), each(math.ldexp, TALL, INDICES)),
        (lambda: Tensor(np.array([1, 2, 3])).ldexp(Tensor(np.array([1, -2, 3]))), f32([2.0, 0.5, 24.0])),
    ],
    "lerp": [
        (lambda: ops.lerp(Tensor(TALL), Tensor(WIDE), 0.25), TALL + 0.25 * (WIDE - TALL)),
        (lambda: mint.lerp(Tensor(TALL), Tensor(WIDE), Tensor(WIDE)), TALL + WIDE * (WIDE - TALL)),
        (lambda: ops.Lerp()(Tensor([2.0]), Tensor([4.0]), Tensor([0.0, 0.5, 1.0])), f32([2.0, 3.0, 4.0])),
        (lambda: Tensor(np.float16([1, 3])).lerp(Tensor(np.float16([2, -1])), 2), np.float16([3, -5])),
    ],
    "addcmul": [
        (lambda: ops.addcmul(Tensor(WIDE), Tensor(TALL), Tensor(WIDE)), WIDE + TALL * WIDE),
        (lambda: ops.addcmul(Tensor(TALL), Tensor(WIDE), 2.0, -0.5), TALL - WIDE),
        (lambda: ops.Addcmul()(Tensor(WIDE), Tensor(WIDE), Tensor(WIDE), Tensor(TALL)), WIDE + TALL * WIDE * WIDE),
        (lambda: Tensor(INDICES).addcmul(Tensor(INDICES), 3, 2), INDICES * np.int32(7)),
    ],
    "addcdiv": [
        (lambda: ops.addcdiv(Tensor(WIDE), Tensor(TALL), Tensor(WIDE)), WIDE + TALL / WIDE),
        (lambda: mint.addcdiv(Tensor(TALL), Tensor(WIDE), 2.0, value=-0.5), TALL - WIDE / 4),
        (lambda: ops.Addcdiv()(Tensor(WIDE), Tensor(WIDE), Tensor(WIDE), Tensor(TALL)), WIDE + TALL + 0 * WIDE),
        (lambda: Tensor(INDICES).addcdiv(Tensor(INDICES), 4), f32(INDICES * 1.25)),
    ],
    "xdivy": [
        (lambda: ops.xdivy(*map(Tensor, ZEROS)), each(quotient, *ZEROS)),
        (lambda: ops.Xdivy()(Tensor(TALL), Tensor(WIDE)), TALL / WIDE),
        (lambda: ops.xdivy(0, Tensor(f32([0.0, NAN]))), f32([0.0, 0.0])),
        (lambda: Tensor(INDICES).xdivy(4), f32(INDICES / 4)),
    ],
    "DivNoNan": [
        (lambda: ops.DivNoNan()(*map(Tensor, DIVISORS)), each(lambda x, y: x / y if y else 0.0, *DIVISORS)),
        (lambda: ops.DivNoNan()(Tensor(TALL), Tensor(WIDE)), TALL / WIDE),
        (lambda: ops.DivNoNan()(3, Tensor(INDICES)), f32([0.0, 1.5, 0.75, 3.0])),
    ],
    "MulNoNan": [
        (lambda: ops.MulNoNan()(*map(Tensor, DIVISORS)), each(lambda x, y: x * y if y else 0.0, *DIVISORS)),
        (lambda: ops.MulNoNan()(Tensor(TALL), Tensor(WIDE)), TALL * WIDE),
        (lambda: ops.MulNoNan()(INF, Tensor(f32([0.0, 2.0]))), f32([0.0, INF])),
    ],
    "SquaredDifference": [
        (lambda: ops.SquaredDifference()(Tensor(TALL), Tensor(WIDE)), each(lambda x, y: (x - y) ** 2, TALL, WIDE)),
        (lambda: ops.SquaredDifference()(Tensor(INTEGERS), 3), (INTEGERS - 3) ** 2),
    ],
    "truncate_div": [
        (lambda: ops.truncate_div(Tensor(BIG), Tensor(SMALL)), each(truncated, BIG, SMALL, dtype=np.int32)),
        (
            lambda: ops.TruncateDiv()(Tensor(np.array([2**62 + 3, -(2**62) - 3])), 2),
            np.array([2**61 + 1, -(2**61) - 1]),
        ),
        (lambda: ops.truncate_div(-9, Tensor(SMALL)), each(truncated, -9, SMALL, dtype=np.int32)),
        (lambda: ops.truncate_div(Tensor(np.uint8([250, 7])), Tensor(np.uint8([3, 9]))), np.uint8([83, 0])),
        (
            lambda: ops.truncate_div(Tensor(TALL * 3), Tensor(WIDE)),
            each(lambda x, y: float(int(x / y)), TALL * 3, WIDE),
        ),
    ],
    "truncate_mod": [
        (
            lambda: ops.truncate_mod(Tensor(BIG), Tensor(SMALL)),
            each(lambda x, y: x - y * truncated(x, y), BIG, SMALL, dtype=np.int32),
        ),
        (lambda: ops.TruncateMod()(Tensor(TALL * 3), Tensor(WIDE)), each(math.fmod, TALL * 3, WIDE)),
    ],
    "inv": [
        (lambda: ops.inv(Tensor(WIDE)), np.array([[0.5, -4.0, 0.25, 2.0]])),
        (lambda: ops.Inv()(Tensor(np.array([1, -1, 2, -3], np.int32))), np.array([1, -1, 0, 0], np.int32)),
        (lambda: Tensor(f32([0.0, INF])).inv(), f32([INF, 0.0])),
    ],
}


@pytest.mark.parametrize(("make", "want"), listed(CASES))
def test_a_function_of_numbers_is_what_python_computes(make: Callable[[], Any], want: Any) -> None:
    same(make(), want)


def test_copysign_sees_the_sign_of_zero_and_of_nan() -> None:
    signs = np.array([0.0, -0.0, NAN, -NAN])
    result = ops.copysign(Tensor([0.0, 0.0, 2.0, 2.0]), Tensor(signs)).asnumpy()
    assert np.signbit(result).tolist() == np.signbit(signs).tolist() == [False, True, False, True]
    assert np.abs(result).tolist() == [0.0, 0.0, 2.0, 2.0]


@pytest.mark.parametrize("shape", [(2,), (0,), (1, 3)])
def test_is_nonzero_wants_one_element(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"must have one element, but its shape is {shape}")):
        ops.is_nonzero(Tensor(np.ones(shape)))


def test_lerp_wants_one_dtype() -> None:
    with pytest.raises(TypeError, match="'input' and 'end' must have one dtype, but got Float64 and Float32"):
        ops.lerp(Tensor(TALL), Tensor(f32(WIDE)), 0.5)


AWAY = np.array([[1.5, -2.25, 0.75], [-0.5, 3.5, 2.75]])
ALONG = np.array([0.8, 1.3, -2.4])
GRADIENTS: dict[str, tuple[Callable[..., Tensor], list[Array]]] = {
    "frac": (ops.frac, [AWAY + 0.1]),
    "logit": (ops.logit, [np.array([0.1, 0.5, 0.8])]),
    "logit limited": (lambda x: ops.logit(x, 0.2), [np.array([0.1, 0.5, 0.9])]),
    "copysign": (lambda x: ops.copysign(x, Tensor([1.0, -1.0, 1.0])), [AWAY]),
    "fmax": (ops.fmax, [AWAY, ALONG]),
    "fmin": (ops.fmin, [AWAY, ALONG]),
    "ldexp": (ops.ldexp, [AWAY, ALONG]),
    "lerp": (ops.lerp, [AWAY, ALONG, ALONG + 0.5]),
    "addcmul": (ops.addcmul, [AWAY, ALONG, AWAY + 1, ALONG]),
    "addcdiv": (ops.addcdiv, [AWAY, ALONG, AWAY, ALONG]),
    "xdivy": (ops.xdivy, [AWAY, ALONG]),
    "DivNoNan": (ops.DivNoNan(), [AWAY, ALONG]),
    "MulNoNan": (ops.MulNoNan(), [AWAY, ALONG]),
    "sinc": (ops.sinc, [np.array([0.0, 0.25, -1.0, 1.5])]),
    "SquaredDifference": (ops.SquaredDifference(), [AWAY, ALONG]),
    "inv": (ops.inv, [AWAY]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_a_function_of_numbers_has_the_gradient_of_differences(name: str) -> None:
    function, inputs = GRADIENTS[name]
    agrees(function, *inputs)


def test_nothing_divided_by_what_is_not_finite_passes_no_nan_on() -> None:
    x, y = Tensor(np.zeros(3)), Tensor(np.array([0.0, NAN, INF]))
    by_x, by_y = ms.grad(lambda x, y: ops.xdivy(x, y).sum(), (0, 1))(x, y)
    assert by_x.tolist() == [0.0] * 3 and by_y.tolist() == [0.0] * 3


def test_what_is_divided_by_0_or_taken_0_times_passes_no_nan_on() -> None:
    x, y = Tensor(np.array([1.0, NAN, INF])), Tensor(np.zeros(3))
    for function in (ops.DivNoNan(), ops.MulNoNan()):
        by_x, by_y = ms.grad(lambda x, y, f=function: f(x, y).sum(), (0, 1))(x, y)
        assert by_x.tolist() == [0.0] * 3 and by_y.tolist() == [0.0] * 3


def test_fmax_and_fmin_send_the_gradient_to_what_is_no_nan() -> None:
    x, y = Tensor([NAN, 1.0, NAN]), Tensor([2.0, NAN, 3.0])
    for function in (ops.fmax, ops.fmin):
        by_x, by_y = ms.grad(lambda a, b, f=function: (f(a, b) * Tensor([5.0, 6.0, 7.0])).sum(), (0, 1))(x, y)
        assert by_x.tolist() == [0.0, 6.0, 0.0] and by_y.tolist() == [5.0, 0.0, 7.0]
