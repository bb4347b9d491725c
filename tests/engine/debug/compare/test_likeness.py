"""Likenesses of wrong bprops: each is named where it is planted, and none where nothing simple fits."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import GradientCheck, check_gradient
from hookscope.engine.debug.compare import wrong_gradients
from hookscope.engine.debug.compare.likeness import LIKENESSES, WrongGradient, likeness
from hookscope.engine.tensors import random

A_FACTOR = "times the automatic gradient everywhere: a missing factor"
ORDER = "returned in another order?"


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


class Planted(nn.Cell):
    """A cell with a given ``construct`` and ``bprop``, which also get the cell; with a parameter if one is given."""

    def __init__(self, construct: Any, bprop: Any, w: Tensor | None = None) -> None:
        super().__init__()
        self.of_construct, self.of_bprop = construct, bprop
        if w is not None:
            self.w = Parameter(w, "w")
            self.internal_params = [self.w]

    def construct(self, a: Any) -> Any:
        return self.of_construct(self, a)

    def bprop(self, a: Any, out: Any, dout: Any) -> Any:
        return self.of_bprop(self, a, out, dout)


class PlantedPair(Planted):
    """The same with two inputs."""

    def construct(self, a: Any, b: Any) -> Any:  # type: ignore[override]
        return self.of_construct(self, a, b)

    def bprop(self, a: Any, b: Any, out: Any, dout: Any) -> Any:  # type: ignore[override]
        return self.of_bprop(self, a, b, out, dout)


def phrases(check: GradientCheck) -> dict[str, str]:
    """Return the phrase for each wrong gradient by name; "" if there is none."""
    return {row.name: row.reason.partition("; ")[2] for row in check.rows if row.verdict == "wrong"}


def with_altered_gradient(change: Callable[[np.ndarray[Any, Any]], Any]) -> Planted:
    """Return sin(a) as a cell whose right gradient NumPy changes before it is returned."""
    return Planted(
        lambda self, a: ops.sin(a),
        lambda self, a, out, dout: (Tensor(np.ascontiguousarray(change((dout * ops.cos(a)).asnumpy()))),),
    )


def elementwise(construct: Any, bprop: Any) -> Planted:
    return Planted(lambda self, a: construct(a), lambda self, a, out, dout: (bprop(a, out, dout),))


def scaled(of_w: Any, of_a: Any = lambda a, w, dout: dout * w) -> Planted:
    """Return a * w as a cell, with a gain ``w`` for each column."""

    def bprop(self: Any, a: Any, out: Any, dout: Any) -> Any:
        return (of_a(a, self.w, dout),), {self.w: of_w(a, dout)}

    return Planted(lambda self, a: a * self.w, bprop, normal(4, seed=7))


def of_two(construct: Any, bprop: Any) -> Planted:
    return PlantedPair(lambda self, a, b: construct(a, b), lambda self, a, b, out, dout: bprop(a, b, dout))


def product(of_a: Any, of_w: Any) -> Planted:
    """Return a @ w as a cell, with a square ``w``."""

    def bprop(self: Any, a: Any, out: Any, dout: Any) -> Any:
        return (of_a(dout, self.w),), {self.w: of_w(a, dout)}

    return Planted(lambda self, a: ops.matmul(a, self.w), bprop, normal(4, 4, seed=7))


def scale_part(gradient: np.ndarray[Any, Any], at: Any, factor: float) -> np.ndarray[Any, Any]:
    gradient = gradient.copy()
    gradient[at] *= factor
    return gradient


def shifted(gradient: np.ndarray[Any, Any], by: int) -> np.ndarray[Any, Any]:
    """Shift along the first axis, with zeros at the edge."""
    result = np.zeros_like(gradient)
    result[by:] = gradient[:-by]
    return result


class Case(NamedTuple):
    row: str
    cell: Planted
    shapes: tuple[tuple[int, ...], ...]
    phrases: dict[str, str]


def case(row: str, cell: Planted, *shapes: tuple[int, ...], **message: str) -> Case:
    return Case(row, cell, shapes, message)


CASES = [
    case("zero", with_altered_gradient(np.zeros_like), (3, 4), a="zero everywhere"),
    case("zero", with_altered_gradient(np.zeros_like), (1,), a="zero everywhere"),
    case("negated", with_altered_gradient(np.negative), (3, 4), a="negated"),
    case(
        "whole numbers",
        elementwise(lambda a: a * 1, lambda a, out, dout: dout.astype(ms.int32).astype(a.dtype)),
        (6, 8),
        a="the automatic gradient cut to whole numbers: a cast to an integer?",
    ),
    case("factor", with_altered_gradient(lambda g: 3.29 * g), (3, 4), a=f"3.29 {A_FACTOR}?"),
    case("factor", with_altered_gradient(lambda g: -0.125 * g), (5,), a=f"-0.125 {A_FACTOR}?"),
    case("factor", with_altered_gradient(lambda g: 1.0004 * g), (5, 2), a=f"1.0004 {A_FACTOR}?"),
    case(
        "factor", with_altered_gradient(lambda g: 2 * g), (2,), a=f"2 {A_FACTOR}, or summed over 2 instead of averaged?"
    ),
    case(
        "factor",
        scaled(lambda a, dout: (a * dout).mean(0)),
        (6, 4),
        w=f"0.167 {A_FACTOR}, or averaged over 6 instead of summed?",
    ),
    case(
        "factor",
        elementwise(lambda a: a.mean(0), lambda a, out, dout: ops.broadcast_to(dout, a.shape)),
        (6, 4),
        a=f"6 {A_FACTOR}, or summed over 6 instead of averaged?",
    ),
    case(
        "without dout",
        elementwise(ops.tanh, lambda a, out, dout: 1 - out * out),
        (3, 4),
        a="the same whatever dout is: a missing factor?",
    ),
    case("transposed", with_altered_gradient(np.transpose), (4, 4), a="transposed"),
    case("transposed", with_altered_gradient(np.transpose), (2, 2), a="transposed"),
    case(
        "transposed",
        with_altered_gradient(lambda g: g.T.reshape(g.shape)),
        (3, 5),
        a="transposed, and then given the shape",
    ),
    case(
        "transposed",
        with_altered_gradient(lambda g: g.swapaxes(2, 3)),
        (2, 3, 4, 4),
        a="transposed: axes 2 and 3 swapped",
    ),
    case(
        "transposed",
        with_altered_gradient(lambda g: g.transpose(1, 2, 0)),
        (3, 3, 3),
        a="transposed: its axes in the order 1, 2, 0",
    ),
    case(
        "transposed",
        product(lambda dout, w: ops.matmul(dout, w.T), lambda a, dout: ops.matmul(dout.T, a)),
        (4, 4),
        w="transposed",
    ),
    case(
        "other way up",
        product(lambda dout, w: ops.matmul(dout, w), lambda a, dout: ops.matmul(a.T, dout)),
        (3, 4),
        a="right with w transposed",
    ),
    case("reversed", with_altered_gradient(lambda g: g[::-1]), (5, 3), a="reversed along axis 0"),
    case("reversed", with_altered_gradient(lambda g: g[..., ::-1, ::-1]), (2, 3, 3), a="reversed along axes 1 and 2"),
    case("shifted", with_altered_gradient(lambda g: np.roll(g, 1, 0)), (5, 3), a="rolled by 1 along axis 0"),
    case("shifted", with_altered_gradient(lambda g: np.roll(g, -2, 1)), (3, 6), a="rolled by -2 along axis 1"),
    case("shifted", with_altered_gradient(lambda g: np.roll(g, 3)), (100,), a="rolled by 3 along axis 0"),
    case(
        "shifted", with_altered_gradient(lambda g: shifted(g, 1)), (5, 3), a="shifted by 1 along axis 0, its edge apart"
    ),
    case(
        "shifted", with_altered_gradient(lambda g: shifted(g, 2)), (9,), a="shifted by 2 along axis 0, its edge apart"
    ),
    case(
        "of another",
        of_two(lambda a, b: a * b, lambda a, b, dout: (dout * a, dout * b)),
        (3, 4),
        (3, 4),
        a=f"the gradient of b: {ORDER}",
        b=f"the gradient of a: {ORDER}",
    ),
    case(
        "of another",
        of_two(lambda a, b: a - b, lambda a, b, dout: (dout, dout)),
        (3, 4),
        (3, 4),
        b=f"negated, or the gradient of a: {ORDER}",
    ),
    case(
        "of another",
        of_two(lambda a, b: a * b, lambda a, b, dout: (dout * b, dout * b)),
        (3, 4),
        (4,),
        b=f"the gradient of a: {ORDER}",
    ),
    case("offset", with_altered_gradient(lambda g: g - 0.25), (3, 4), a="off by -0.25 in every element"),
    case(
        "offset",
        with_altered_gradient(lambda g: g + g.sum()),
        (3, 4),
        a="off by one and the same number in every element",
    ),
    case(
        "missing",
        elementwise(ops.exp, lambda a, out, dout: dout),
        (3, 4),
        a="right if multiplied by out: a missing factor?",
    ),
    case(
        "missing",
        elementwise(ops.square, lambda a, out, dout: dout),
        (3, 4),
        a="right if multiplied by 2*a: a missing factor?",
    ),
    case(
        "missing",
        elementwise(ops.sigmoid, lambda a, out, dout: dout * out),
        (3, 4),
        a="right if multiplied by 1 - out: a missing factor?",
    ),
    case(
        "missing",
        elementwise(ops.tanh, lambda a, out, dout: 0.5 * dout),
        (3, 4),
        a="right if multiplied by 2*(1 - out**2): a missing factor?",
    ),
    case(
        "missing",
        scaled(lambda a, dout: (a * dout).sum(0), lambda a, w, dout: dout),
        (6, 4),
        a="right if multiplied by w: a missing factor?",
    ),
    case(
        "too many",
        elementwise(ops.tanh, lambda a, out, dout: dout * dout * (1 - out * out)),
        (3, 4),
        a="right if divided by dout",
    ),
    case(
        "too many",
        elementwise(lambda a: ops.log(ops.square(a)), lambda a, out, dout: dout),
        (3, 4),
        a="right if divided by 0.5*a",
    ),
    case(
        "spread",
        with_altered_gradient(lambda g: np.broadcast_to(g.mean(0), g.shape)),
        (6, 4),
        a="the mean along axis 0 of the automatic gradient in each place",
    ),
    case(
        "spread",
        with_altered_gradient(lambda g: np.broadcast_to(g.sum(1, keepdims=True), g.shape)),
        (6, 4),
        a="the sum along axis 1 of the automatic gradient in each place",
    ),
    case(
        "not summed",
        scaled(lambda a, dout: (a * dout)[0]),
        (6, 4),
        w="what out[0, :] alone gives: not summed over axis 0?",
    ),
    case(
        "not summed",
        scaled(lambda a, dout: (a * dout)[-1]),
        (6, 4),
        w="what out[5, :] alone gives: not summed over axis 0?",
    ),
    case("by sign", elementwise(ops.relu, lambda a, out, dout: dout), (8, 8), a="right but where a < 0"),
    case(
        "by sign",
        elementwise(lambda a: ops.where(a > 0, a, 0.25 * a), lambda a, out, dout: dout),
        (8, 8),
        a="right but where a < 0, 4 times the automatic gradient there",
    ),
    case(
        "only in",
        with_altered_gradient(lambda g: scale_part(g, slice(1, None), 0.0)),
        (6, 4),
        a="right only in [0, :], zero elsewhere",
    ),
    case(
        "outside",
        with_altered_gradient(lambda g: scale_part(g, 2, 0.5)),
        (6, 4),
        a="right outside of [2, :], 0.5 times the automatic gradient there",
    ),
    case(
        "outside",
        with_altered_gradient(lambda g: scale_part(g, (slice(None), slice(2, 4)), 0.0)),
        (3, 5),
        a="right outside of [:, 2:4], zero there",
    ),
    case(
        "outside",
        with_altered_gradient(lambda g: scale_part(g, (slice(None), slice(1, 4, 2)), -1.0)),
        (3, 4),
        a="right outside of [:, 1:4:2], -1 times the automatic gradient there",
    ),
    case("outside", with_altered_gradient(lambda g: scale_part(g, (1, 2), 3.0)), (3, 4), a="right outside of [1, 2]"),
    case(
        "outside",
        with_altered_gradient(lambda g: scale_part(g, 1, np.nan)),
        (3, 4),
        a="right outside of [1, :], not finite there",
    ),
    case(
        "scattered",
        with_altered_gradient(lambda g: scale_part(g, (np.array([0, 2, 3]), np.array([0, 1, 3])), 3.0)),
        (4, 4),
        a="right in 13 of 16 elements, wrong first at [0, 0]",
    ),
]


def label(case: Case) -> str:
    return f"{case.row}: {', '.join(f'{name} {phrase}' for name, phrase in case.phrases.items())}"


@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("case", CASES, ids=label)
def test_a_wrong_gradient_is_called_what_it_looks_like(case: Case, dtype: Any) -> None:
    inputs = [normal(*shape, seed=index + 11, dtype=dtype) for index, shape in enumerate(case.shapes)]
    assert phrases(check_gradient(case.cell, *inputs)) == case.phrases


def test_each_row_is_shown_by_a_case() -> None:
    names = [row.name for row in LIKENESSES]
    assert len(names) == len(set(names))
    assert {case.row for case in CASES} | {"conjugated"} == set(names)
    assert [row.tier for row in LIKENESSES] == sorted(row.tier for row in LIKENESSES)


def test_a_complex_gradient_may_be_conjugated_or_scaled() -> None:
    z = Tensor(np.array([[1 + 2j, -3 + 0.5j], [0.5 - 1j, 2 + 2j]], np.complex64))
    for gradient, message in ((lambda z: 2 * z, "conjugated"), (ops.conj, f"0.5 {A_FACTOR}?")):
        cell = elementwise(lambda z: ops.real(z * z), lambda z, out, dout, gradient=gradient: gradient(z) * dout)
        assert phrases(check_gradient(cell, z))["a"].removesuffix(", or averaged over 2 instead of summed?") in (
            message,
            message.removesuffix("?"),
        )


# Narrow dtypes


class Product(nn.Cell):
    """a @ w in a narrow dtype; ``change`` alters the gradient of a."""

    def __init__(self, dtype: Any, change: Any) -> None:
        super().__init__()
        self.dtype, self.change = dtype, change
        self.w = Parameter(normal(4, 4, seed=1), "w")
        self.internal_params = [self.w]

    def construct(self, a: Any) -> Any:
        return ops.matmul(ops.cast(a, self.dtype), ops.cast(self.w, self.dtype))

    def bprop(self, a: Any, out: Any, dout: Any) -> Any:
        a, w, dout = (ops.cast(t, self.dtype) for t in (a, self.w, dout))
        return (self.change(ops.matmul(dout, w.T)),), {self.w: ops.matmul(a.T, dout)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: g * 1.5, f"1.5 {A_FACTOR}?"),
        (lambda g: -g, "negated"),
        (lambda g: g.T, "transposed"),
        (lambda g: ops.roll(g, 1, 0), "rolled by 1 along axis 0"),
        (lambda g: g + 2, "off by 2 in every element"),
        (lambda g: g * Tensor([1, 1, 0, 1]).astype(g.dtype), "right outside of [:, 2], zero there"),
    ],
    ids=["factor", "negated", "transposed", "rolled", "offset", "a column"],
)
@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16], ids=str)
def test_code_that_casts_is_told_by_the_digits_of_its_dtype(dtype: Any, change: Any, message: str) -> None:
    check = check_gradient(Product(dtype, change), normal(4, 4))
    assert check.dtype == str(dtype).lower() and phrases(check) == {"a": message}


def test_few_elements_of_few_digits_are_no_likeness() -> None:
    def gradient(*numbers: float) -> Any:
        return np.array([numbers, numbers[::-1]])

    def phrase_of(rtol: float, elements: int) -> str:
        right = gradient(1.0, 3.0, -2.0, 5.0, 0.7)[:, :elements]
        return likeness(plain(2 * right, right, rtol))

    twice = "2 times right everywhere: a missing factor?"
    for rtol, enough in ((1e-5, 2), (1e-3, 3), (3e-2, 4), (1e-1, 5)):
        assert phrase_of(rtol, enough) == twice and phrase_of(rtol, enough - 1) == ""


def plain(own: Any, right: Any, rtol: float = 1e-5, error: float = 0.0, **known: Any) -> WrongGradient:
    more = {"others": (), "values": (), "arriving": (), "lengths": frozenset(), "alone": lambda: iter(()), **known}
    return WrongGradient(own, right, "right", rtol, error, **more)


def test_of_few_digits_too_a_factor_is_only_the_number_that_it_is() -> None:
    right = np.random.default_rng(2).standard_normal((2, 30))
    for factor, message in ((3.3, "3.3 times"), (-1.05, "-1.05 times"), (4.0, "4 times")):
        cause = ", or summed over 4 instead of averaged" if factor == 4 else ""
        wrong = plain(factor * right, right, 0.1, lengths=frozenset({4}))
        assert likeness(wrong) == f"{message} right everywhere: a missing factor{cause}?"


def test_a_reference_that_may_be_off_by_as_much_as_it_is_tells_nothing() -> None:
    right = np.random.default_rng(2).standard_normal((2, 30))
    assert likeness(plain(3 * right, right, error=0.01)) == "3 times right everywhere: a missing factor?"
    for error in (0.5, 1.0, 10.0):
        assert [likeness(plain(own, right, error=error)) for own in (3 * right, -right, right + 1)] == ["", "", ""]


# Likenesses that must not be claimed


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (2, 2), (4, 3), (2, 2, 2), (16,)], ids=str)
@pytest.mark.parametrize("rtol", [1e-5, 1e-3, 3e-2, 1e-1])
def test_chance_is_no_likeness(rtol: float, shape: tuple[int, ...]) -> None:
    numbers = np.random.default_rng(4)
    for _ in range(40):
        a, b, other = (np.broadcast_to(numbers.standard_normal(shape), (2, *shape)) for _ in range(3))
        dout = numbers.standard_normal((2, *shape))
        own, right = dout * numbers.standard_normal(shape), dout * numbers.standard_normal(shape)
        values = [("a", a), ("b", b), ("out", a * b)]
        known = {"others": [("b", dout * other)], "values": values, "arriving": [("dout", dout)]}
        assert likeness(plain(own, right, rtol, **known)) == ""


@pytest.mark.parametrize(
    "cell",
    [elementwise(ops.square, lambda a, out, dout: dout * a), with_altered_gradient(np.negative)],
    ids=["half", "negated"],
)
def test_at_one_element_a_factor_cannot_be_told(cell: Planted) -> None:
    assert phrases(check_gradient(cell, normal(1))) == {"a": ""}


def test_a_right_gradient_that_is_zero_everywhere_is_like_nothing() -> None:
    def construct(self: Any, a: Any) -> Any:
        return ops.softmax(a, -1).sum(-1)  # one, whatever a is

    for gradient in (lambda dout: dout * 3.0, lambda dout: dout * 0.0 + 1.0):
        cell = Planted(construct, lambda self, a, out, dout, g=gradient: (ops.broadcast_to(g(dout)[:, None], a.shape),))
        assert phrases(check_gradient(cell, normal(3, 5))) == {"a": ""}


@pytest.mark.parametrize(
    "cell",
    [
        elementwise(lambda a: ops.softmax(a, -1), lambda a, out, dout: dout * out),
        elementwise(lambda a: a * ops.sigmoid(a), lambda a, out, dout: dout * (ops.sigmoid(a) - out + out * out / a)),
        with_altered_gradient(lambda g: g * np.random.default_rng(1).standard_normal(g.shape)),
        with_altered_gradient(lambda g: np.cumsum(g, 0) + g),
        with_altered_gradient(lambda g: np.sort(g, axis=0) + g),
        with_altered_gradient(lambda g: g * np.nan),
        with_altered_gradient(lambda g: scale_part(2 * g, 1, np.nan)),
        scaled(lambda a, dout: dout.sum(0)),
    ],
    ids=[
        "softmax without its sum",
        "swish",
        "noise",
        "sums",
        "sorted",
        "NaN",
        "twice, but NaN in a row",
        "a factor within a sum",
    ],
)
def test_where_nothing_simple_fits_nothing_is_said(cell: Planted) -> None:
    result = check_gradient(cell, normal(5, 4))
    assert not result.ok and set(phrases(result).values()) == {""}


def test_one_element_that_differs_refutes_every_likeness_of_the_whole() -> None:
    numbers = np.random.default_rng(3)
    right = numbers.standard_normal((2, 5, 5))
    for change in (lambda g: 2 * g, lambda g: g.swapaxes(1, 2), lambda g: np.roll(g, 1, 1), lambda g: g + 1):
        own = np.array(change(right))
        assert likeness(plain(own, right)) != ""
        own[1, 3, 2] += 1e-3
        assert likeness(plain(own, right)) == ""


def test_large_gradients_are_seen_to_the_last_element() -> None:
    right = np.random.default_rng(3).standard_normal((2, 200, 300))
    own = 2 * right
    assert likeness(plain(own, right)) == "2 times right everywhere: a missing factor?"
    own[0, 199, 299] += 1e-3
    assert likeness(plain(own, right)) == ""
    assert likeness(plain(np.roll(right, 4, 2), right)) == "rolled by 4 along axis 1"


def test_zeros_that_agree_are_no_likeness() -> None:
    right = np.array([[0.0, 0.0, 0.0, 3.0, -2.0, 5.0]] * 2)
    own = np.array([[4.0, 1.0, 0.3, 0.0, 0.0, 0.0]] * 2) * [[1.0], [2.0]]
    assert likeness(plain(own, right)) == ""


def test_a_range_that_is_not_all_of_one_kind_is_not_said_to_be() -> None:
    right = np.random.default_rng(3).standard_normal((2, 5, 5))
    own = right.copy()
    own[:, (1, 3), (1, 3)] = 0.0
    own[:, 2, 1] = 0.0
    assert likeness(plain(own, right)) == "right outside of [1:4, 1:4:2]"
    own = np.sort(right, axis=2) + 10.0
    own[:, (1, 3), (1, 3)] = right[:, (1, 3), (1, 3)]
    own[:, 2, 1] = right[:, 2, 1]
    assert likeness(plain(own, right)) == ""


def test_numbers_that_do_not_vary_have_no_offset() -> None:
    right = np.array([[2.0] * 6, [3.0] * 6])
    own = np.array([[5.0] * 6, [4.0] * 6])
    assert likeness(plain(own, right)) == ""


def test_two_likenesses_are_both_said_and_more_are_none() -> None:
    right = np.random.default_rng(3).standard_normal((2, 3, 3))
    right -= right.swapaxes(1, 2)
    assert likeness(plain(-right, right)) == "negated, or transposed"
    both = f"2 times right everywhere: a missing factor, or the gradient of b: {ORDER}"
    assert likeness(plain(2 * right, right, others=[("b", 2 * right)])) == both
    others = [("b", -right)]
    assert likeness(plain(-right, right, others=others)) == ""


def test_what_holds_for_one_draw_alone_is_no_likeness() -> None:
    numbers = np.random.default_rng(3)
    own, right = numbers.standard_normal((2, 2, 6))
    draws = own.copy()
    known = {"alone": lambda: iter([("out[0, :]", 0, lambda draw: draws[draw])])}
    assert likeness(plain(own, right, **known)) == "what out[0, :] alone gives: not summed over axis 0?"
    draws[1] += 1.0
    assert likeness(plain(own, right, **known)) == ""
    own[0] = 2 * right[0]
    assert likeness(plain(own, right)) == ""


def test_what_is_not_known_is_left_out() -> None:
    right = np.random.default_rng(3).standard_normal((2, 4, 4))
    own, known = 3 * right, right.copy()
    known[0, 1:] = known[1] = np.nan
    assert likeness(plain(own, known)) == "3 times right everywhere: a missing factor?"
    known[:] = np.nan
    assert likeness(plain(own, known)) == ""


def test_a_right_bprop_is_said_nothing_of() -> None:
    cells = [
        elementwise(ops.tanh, lambda a, out, dout: dout * (1 - out * out)),
        product(lambda dout, w: ops.matmul(dout, w.T), lambda a, dout: ops.matmul(a.T, dout)),
        scaled(lambda a, dout: (a * dout).sum(0)),
    ]
    for cell in cells:
        assert [(row.verdict, row.reason) for row in check_gradient(cell, normal(3, 4)).rows] == [("right", "")] * (
            2 if "w" in dict(cell.parameters_and_names()) else 1
        )


# The reference of the comparison


def test_where_construct_is_detached_it_is_held_against_differences() -> None:
    def cell(bprop: Any) -> Planted:
        return elementwise(lambda a: Tensor(a.asnumpy() ** 2), bprop)

    assert phrases(check_gradient(cell(lambda a, out, dout: 2 * a * dout), normal(3, 5))) == {}
    message = phrases(check_gradient(cell(lambda a, out, dout: 0.2 * a * dout), normal(3, 5)))
    assert message == {"a": "0.1 times finite differences everywhere: a missing factor?"}
    message = phrases(check_gradient(cell(lambda a, out, dout: dout), normal(3, 5), samples=8))
    assert message == {"a": "right if multiplied by 2*a: a missing factor?"}


def test_elements_at_a_kink_are_left_out() -> None:
    a = Tensor(np.array([0.0, 1.0, -1.0, 2.0, 0.5, 0.0], np.float32))
    for at_kink in (0.25, 0.5, 0.75):

        def bprop(a: Any, out: Any, dout: Any, at_kink: float = at_kink) -> Any:
            return dout * (0.5 * (a > 0).astype(a.dtype) + at_kink * (a == 0).astype(a.dtype))

        (message,) = phrases(check_gradient(elementwise(ops.relu, bprop), a)).values()
        assert message.startswith("0.5 times ") and message.endswith(" everywhere: a missing factor?")


def test_the_options_for_the_verdict_have_no_part() -> None:
    cell = with_altered_gradient(lambda g: 2 * g)
    for options in ({"rtol": 0.5}, {"rtol": 0.0}, {"sens": normal(3, 5, seed=9)}, {"samples": 1, "seconds": 0.0}):
        assert phrases(check_gradient(cell, normal(3, 5), **options)) == {"a": f"2 {A_FACTOR}?"}
    right = check_gradient(with_altered_gradient(lambda g: g * (1 + 1e-9)), normal(3, 5), rtol=0.0)
    assert set(phrases(right).values()) <= {""}


def test_a_mask_that_was_forgotten_is_a_missing_factor() -> None:
    mask = Tensor(np.random.default_rng(2).integers(0, 2, (6, 8)).astype(bool))
    cell = of_two(lambda a, b: a * b, lambda a, b, dout: (dout, None))
    assert phrases(check_gradient(cell, normal(6, 8), mask)) == {"a": "right if multiplied by b: a missing factor?"}


def test_several_outputs_are_told_apart() -> None:
    def both(a: Any) -> Any:
        return ops.exp(a), ops.argmax(a)

    for bprop, message in (
        (lambda a, out, dout: dout[0], "right if multiplied by out[0]: a missing factor?"),
        (lambda a, out, dout: dout[0] * dout[0] * out[0], "right if divided by dout[0]"),
    ):
        assert phrases(check_gradient(elementwise(both, bprop), normal(3, 4))) == {"a": message}


# The cell is left unchanged, and so is the verdict


def test_looking_for_a_likeness_touches_nothing() -> None:
    net = nn.SequentialCell(
        nn.Dense(4, 4), nn.Dropout(p=0.5), nn.BatchNorm1d(4), with_altered_gradient(lambda g: 2 * g)
    ).set_train()
    arrays = [p._array for p in net.get_parameters()]
    values = [a.tobytes() for a in arrays]
    states = random.position(), np.random.get_state()[1].tobytes(), python_random.getstate()  # type: ignore[union-attr,index]
    assert f"2 {A_FACTOR}" in phrases(check_gradient(net, normal(6, 4)))["0.weight"]
    assert (random.position(), np.random.get_state()[1].tobytes(), python_random.getstate()) == states  # type: ignore[union-attr,index]
    assert all(p._array is a for p, a in zip(net.get_parameters(), arrays, strict=True))
    assert [a.tobytes() for a in arrays] == values


def test_a_bprop_that_takes_no_other_gradient_is_judged_all_the_same() -> None:
    sens = np.arange(1.0, 7.0, dtype=np.float32)

    def bprop(self: Any, a: Any, out: Any, dout: Any) -> Any:
        if not np.array_equal(dout.asnumpy(), sens):
            raise AssertionError("another gradient")
        return (dout * 2.0,)

    check = check_gradient(Planted(lambda self, a: a * 1.0, bprop), normal(6), sens=Tensor(sens))
    assert phrases(check) == {"a": ""}
    assert check.rows[0].reason == "differs from finite differences and from the automatic gradient"


def test_of_a_very_large_gradient_only_the_verdict_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_gradients, "_MOST", 12)
    cell = with_altered_gradient(lambda g: 2 * g)
    assert phrases(check_gradient(cell, normal(3, 4))) == {"a": f"2 {A_FACTOR}?"}
    assert phrases(check_gradient(cell, normal(13))) == {"a": ""}


def test_it_prints_after_the_reason_and_is_the_same_each_time() -> None:
    checks = [check_gradient(with_altered_gradient(lambda g: 3.29 * g), normal(3, 4)) for _ in range(2)]
    message = f"differs from finite differences and from the automatic gradient; 3.29 {A_FACTOR}?"
    assert message in str(checks[0]) and message in checks[0]._repr_html_()
    assert str(checks[0]) == str(checks[1])
