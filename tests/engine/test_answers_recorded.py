"""Single calls whose answers are recorded from MindSpore 2.10 on a CPU: the dtype and every number, or the error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, mint, nn, ops

NAN, INF = math.nan, math.inf


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def i8(*values: int) -> Tensor:
    return t(values, ms.int8)


def u8(*values: int) -> Tensor:
    return t(values, ms.uint8)


def with_element(x: Tensor, value: Any) -> Tensor:
    x[0] = value
    return x


def sloped(function: Callable[..., Any], *inputs: Tensor) -> Any:
    """The gradients of the sum of what comes out, by all inputs."""
    places = tuple(range(len(inputs)))
    return ms.grad(lambda *x: function(*x).sum(), places if len(places) > 1 else 0)(*inputs)


HALVES, BESIDE = t([NAN, 1.0, NAN, 2.0]), t([1.0, NAN, NAN, 2.0])
LINE, PLANE = t(np.arange(6).reshape(1, 2, 3)), t(np.arange(9).reshape(1, 1, 3, 3))
TABLE, ROW = t(np.arange(12).reshape(3, 4)), t([1.0, 2.0])
F = mint.nn.functional


def padded(x: Tensor, mode: str, *amounts: int) -> Tensor:
    """The gradient of the padded elements' sum, weighed 1, 2, 3, ..."""
    shape = ops.pad(x, amounts, mode).shape
    weights = t(np.arange(1, 1 + math.prod(shape)).reshape(shape))
    found: Tensor = sloped(lambda x: ops.pad(x, amounts, mode) * weights, x)
    return found


# The call, and dtype and elements of what comes out, or of each thing in a tuple.
ANSWERS: dict[str, tuple[Callable[[], Any], Any]] = {
    # Integers stay what they are.
    "round int32": (lambda: ops.round(t([1, -3], ms.int32)), ("Int32", [1, -3])),
    "round int64": (lambda: mint.round(t([1, -3], ms.int64)), ("Int64", [1, -3])),
    "Tensor.round": (lambda: t([1, -3], ms.int32).round(), ("Int32", [1, -3])),
    "Round": (lambda: ops.Round()(t([1, -3], ms.int32)), ("Int32", [1, -3])),
    "round float16": (lambda: ops.round(t([0.5, 1.5], ms.float16)), ("Float16", [0.0, 2.0])),
    # An integer beside a complex number.
    "int32 + complex64": (lambda: t([1], ms.int32) + t([1 + 2j], ms.complex64), ("Complex64", [2 + 2j])),
    "int64 + complex64": (lambda: t([1], ms.int64) + t([1 + 2j], ms.complex64), ("Complex64", [2 + 2j])),
    "complex64 - int64": (lambda: t([1 + 2j], ms.complex64) - t([1], ms.int64), ("Complex64", [2j])),
    "pow complex64": (lambda: ops.pow(t([1 + 2j, 2], ms.complex64), t([1, 2])), ("Complex64", [1 + 2j, 4])),
    "float64 + complex64": (lambda: t([1], ms.float64) + t([1j], ms.complex64), ("Complex128", [1 + 1j])),
    # A number out of the range of the tensor's integers is counted around.
    "uint8 + 300": (lambda: u8(1, 2) + 300, ("UInt8", [45, 46])),
    "uint8 * -1": (lambda: u8(1, 2) * -1, ("UInt8", [255, 254])),
    "int8 + 200": (lambda: i8(1, 2) + 200, ("Int8", [-55, -54])),
    "int8 - 200": (lambda: i8(1, 2) - 200, ("Int8", [57, 58])),
    "int8 * 1000": (lambda: i8(1, 2) * 1000, ("Int8", [-24, -48])),
    "300 - int8": (lambda: 300 - i8(1, 2), ("Int8", [43, 42])),
    "uint8 == 257": (lambda: u8(1, 2) == 257, ("Bool", [True, False])),
    "int8 // 300": (lambda: i8(1, 2) // 300, ("Int8", [0, 0])),
    "int8 % 300": (lambda: i8(7, 8) % 300, ("Int8", [7, 8])),
    "maximum": (lambda: ops.maximum(i8(1, 2), 300), ("Int8", [44, 44])),
    "int16 + 70000": (lambda: t([1, 2], ms.int16) + 70000, ("Int16", [4465, 4466])),
    "int32 + 2**31": (lambda: t([1, 2], ms.int32) + 2**31, ("Int32", [-2147483647, -2147483646])),
    "int32 * 2**33": (lambda: t([1, 2], ms.int32) * 2**33, ("Int32", [0, 0])),
    "uint8 & 257": (lambda: u8(1, 2) & 257, ("UInt8", [1, 0])),
    "uint8 | -1": (lambda: u8(1, 2) | -1, ("UInt8", [255, 255])),
    "clip_by_value": (lambda: ops.clip_by_value(i8(1, 2), -300, 300), ("Int8", [1, 2])),
    "clamp": (lambda: ops.clamp(u8(1, 200), -3, 300), ("UInt8", [44, 44])),
    "full_like": (lambda: ops.full_like(u8(1, 2), 300), ("UInt8", [44, 44])),
    "full": (lambda: ops.full((2,), 300, dtype=ms.int8), ("Int8", [44, 44])),
    "where": (lambda: ops.where(t([True, False], ms.bool_), i8(1, 2), 300), ("Int8", [1, 44])),
    "Tensor(300)": (lambda: Tensor(300, ms.int8), ("Int8", 44)),
    "Tensor(-1)": (lambda: Tensor(-1, ms.uint8), ("UInt8", 255)),
    "x[0] = 300": (lambda: with_element(u8(1, 2), 300), ("UInt8", [44, 2])),
    "uint8 / 300": (lambda: u8(3, 6) / 300, ("Float32", [0.01, 0.02])),
    "bool + 300": (lambda: t([True], ms.bool_) + 300, ("Int64", [301])),
    # NumPy's numbers count as Python's.
    "float32 + np.float64": (lambda: t([1.0]) + np.float64(1), ("Float32", [2.0])),
    "int32 * np.float64": (lambda: t([1, 2], ms.int32) * np.float64(2), ("Float32", [2.0, 4.0])),
    "int32 * np.int64": (lambda: t([1, 2], ms.int32) * np.int64(2), ("Int32", [2, 4])),
    "float16 * np.float64": (lambda: t([1.0], ms.float16) * np.float64(2), ("Float16", [2.0])),
    # One element, or none, and no axes.
    "unique_consecutive": (lambda: ops.unique_consecutive(t([3], ms.int32)), ("Int32", [3])),
    "unique_consecutive all": (
        lambda: ops.unique_consecutive(t([3.0]), True, True), [("Float32", [3.0]), ("Int64", [0]), ("Int64", [1])],
    ),
    "unique_consecutive dim": (
        lambda: ops.unique_consecutive(t([[3.0]]), True, True, 1),
        [("Float32", [[3.0]]), ("Int64", [0]), ("Int64", [1])],
    ),
    "unique_consecutive 0-d": (
        lambda: ops.unique_consecutive(t(3.0), True, True), [("Float32", [3.0]), ("Int64", 0), ("Int64", [1])],
    ),
    "unique_consecutive empty": (lambda: mint.unique_consecutive(t([])), ("Float32", [])),
    "mint.squeeze": (lambda: (mint.squeeze(t(3.0), 0), mint.squeeze(t(3.0), -1)), [("Float32", 3.0)] * 2),
    "mint.swapaxes": (lambda: mint.swapaxes(t(3.0), 0, -1), ("Float32", 3.0)),
    "mint.transpose": (lambda: mint.transpose(t(3.0), 0, 0), ("Float32", 3.0)),
    "mint.softmax": (lambda: mint.softmax(t(3.0), 0), ("Float32", 1.0)),
    "functional.softmax": (lambda: F.softmax(t(3.0), 0), ("Float32", 1.0)),
    "linear": (lambda: F.linear(t([[1.0, 2], [3, 4]]), ROW), ("Float32", [5.0, 11.0])),
    "linear 1-d": (lambda: F.linear(ROW, ROW), ("Float32", 5.0)),
    "linear bias": (lambda: F.linear(t([[1.0, 2], [3, 4]]), ROW, t(1.0)), ("Float32", [6.0, 12.0])),
    "linear row": (lambda: F.linear(ROW, t([[1.0, 2], [3, 4]])), ("Float32", [5.0, 11.0])),
    "nan_to_num float16": (
        lambda: ops.nan_to_num(t([NAN, INF, -INF], ms.float16)), ("Float16", [0.0, 65504.0, -65504.0]),
    ),
    "tile": (lambda: ROW.tile(1, 3), ("Float32", [[1.0, 2, 1, 2, 1, 2]])),
    "tile rows": (lambda: ROW.tile(2, 1), ("Float32", [[1.0, 2], [1, 2]])),
    "tile int": (lambda: ROW.tile(2), ("Float32", [1.0, 2, 1, 2])),
    "tile dims": (lambda: (ROW.tile(dims=(2,)), ROW.tile(reps=(2,))), [("Float32", [1.0, 2, 1, 2])] * 2),
    # Padding, negative amounts, and its gradients.
    "pad -1, 1": (lambda: ops.pad(LINE, (-1, 1)), ("Float32", [[[1.0, 2, 0], [4, 5, 0]]])),
    "pad value": (lambda: ops.pad(LINE, (1, -1), "constant", 5.0), ("Float32", [[[5.0, 0, 1], [5, 3, 4]]])),
    "pad int": (lambda: ops.pad(t([1, 2, 3], ms.int32), (-1, 1), value=7), ("Int32", [2, 3, 7])),
    "pad reflect": (lambda: ops.pad(LINE, (-1, 1), "reflect"), ("Float32", [[[1.0, 2, 1], [4, 5, 4]]])),
    "pad replicate": (lambda: ops.pad(LINE, (-1, 1), "replicate"), ("Float32", [[[1.0, 2, 2], [4, 5, 5]]])),
    "pad circular": (lambda: ops.pad(LINE, (-1, 1), "circular"), ("Float32", [[[1.0, 2, 1], [4, 5, 4]]])),
    "slope reflect": (lambda: padded(LINE, "reflect", 1, 2), ("Float32", [[[8.0, 9, 4], [20, 27, 10]]])),
    "slope replicate": (lambda: padded(LINE, "replicate", 1, 2), ("Float32", [[[3.0, 3, 15], [15, 9, 33]]])),
    "slope circular": (lambda: padded(LINE, "circular", 1, 2), ("Float32", [[[7.0, 9, 5], [19, 21, 17]]])),
    "slope reflect plane": (
        lambda: padded(PLANE, "reflect", 1, 2, 1, 1), ("Float32", [[[[20.0, 27, 10], [96, 135, 48], [44, 63, 22]]]]),
    ),
    "slope replicate plane": (
        lambda: padded(PLANE, "replicate", 1, 2, 0, 1), ("Float32", [[[[3.0, 3, 15], [15, 9, 33], [66, 36, 120]]]]),
    ),
    "slope circular plane": (
        lambda: padded(PLANE, "circular", 1, 2, 0, 1), ("Float32", [[[[50.0, 54, 46], [19, 21, 17], [31, 33, 29]]]]),
    ),
    "slope negative": (lambda: padded(LINE, "constant", -1, 1, 0, -1), ("Float32", [[[0.0, 1, 2], [0, 0, 0]]])),
    # NaN.
    "sign": (lambda: (ops.sign(BESIDE), mint.sign(BESIDE)), [("Float32", [1.0, 0, 0, 1])] * 2),
    "Sign": (lambda: (ops.Sign()(-BESIDE), (-BESIDE).sign()), [("Float32", [-1.0, 0, 0, -1])] * 2),
    "sign int": (lambda: ops.sign(t([1, -2], ms.int32)), ("Int32", [1, -1])),
    "slope abs": (lambda: sloped(ops.abs, t([NAN, 1.0, -2.0])), ("Float32", [0.0, 1.0, -1.0])),
    "slope maximum": (lambda: sloped(ops.maximum, HALVES, BESIDE), [("Float32", [1.0, 1, 1, 0.5])] * 2),
    "slope minimum": (lambda: sloped(ops.minimum, HALVES, BESIDE), [("Float32", [1.0, 1, 1, 0.5])] * 2),
    "slope fmax": (
        lambda: sloped(ops.fmax, HALVES, BESIDE), [("Float32", [0.0, 1, 1, 1]), ("Float32", [1.0, 0, 0, 0])],
    ),
    "slope max": (lambda: sloped(lambda x: ops.max(x)[0], t([NAN, 1.0])), ("Float32", [1.0, 0.0])),
    "slope Tensor.max": (lambda: sloped(lambda x: x.max(), t([NAN, 1.0])), ("Float32", [1.0, 0.0])),
    # An index for each row.
    "gather": (lambda: ops.gather(TABLE, t([1, 0, 2], ms.int32), 1, 1), ("Float32", [1.0, 4, 10])),
    "Gather": (lambda: ops.Gather(1)(TABLE, t([1, 0, 2], ms.int32), 1), ("Float32", [1.0, 4, 10])),
    "slope gather": (
        lambda: sloped(lambda x: ops.gather(x, t([1, 0, 2], ms.int32), 1, 1) * t([1.0, 2, 3]), TABLE),
        ("Float32", [[0.0, 1, 0, 0], [2, 0, 0, 0], [0, 0, 3, 0]]),
    ),
    # Powers of integers are integers.
    "pow -1": (lambda: ops.pow(t([1, 2, -1], ms.int32), t([-1, -1, -1], ms.int32)), ("Int32", [1, 0, -1])),
    "int32 ** -1": (lambda: t([1, 2], ms.int32) ** -1, ("Int32", [1, 0])),
    "int8 ** -2": (lambda: i8(1, 2) ** -2, ("Int8", [1, 0])),
    "2 ** int32": (lambda: mint.pow(2, t([-1, 2], ms.int32)), ("Int32", [0, 4])),
    # Far from 0 hardly anything is left of 1 - erf(x), but it is there.
    "erfc": (lambda: ops.erfc(t([5.0])), ("Float32", [1.5374598503112793e-12])),
    "mint.erfc": (lambda: mint.erfc(t([5.0], ms.float64)), ("Float64", [1.5374597944280347e-12])),
    "slope erfc": (lambda: sloped(ops.erfc, t([5.0])), ("Float32", [-1.5670767e-11])),
}  # fmt: skip


def assert_answer(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(found, tuple) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_answer(one, other)
        return
    dtype, elements = wanted
    assert isinstance(found, Tensor) and str(found.dtype) == dtype
    got = found.asnumpy()
    assert got.shape == np.shape(elements)
    np.testing.assert_allclose(got, np.array(elements, got.dtype), rtol=1e-5, atol=0)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_call_gives_what_mindspore_gives(name: str) -> None:
    call, wanted = ANSWERS[name]
    assert_answer(call(), wanted)


# The call, and the error that MindSpore raises too.
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "linear": (lambda: F.linear(ROW, ROW, t([1.0])), ValueError, "'bias' must have no axes where 'weight' has one"),
    "exp": (lambda: mint.exp([1.0, 2.0]), TypeError, "For 'exp', 'input' must be a Tensor, but got list"),  # type: ignore[arg-type]
    "exp number": (lambda: ops.exp(1.0), TypeError, "For 'exp', 'input' must be a Tensor, but got float"),  # type: ignore[arg-type]
    "isfinite": (lambda: ops.isfinite(np.ones(1)), TypeError, "'input' must be a Tensor, but got ndarray"),  # type: ignore[arg-type]
    "abs": (lambda: mint.abs([1.0]), TypeError, "For 'abs', 'input' must be a Tensor, but got list"),  # type: ignore[arg-type]
    "pow": (lambda: mint.pow(i8(1, 2), -1), RuntimeError, "integers have no power of -1"),
    "Adam": (
        lambda: nn.Adam([ms.Parameter(1.0, "p")], use_amsgrad=True, use_lazy=True),
        ValueError,
        "'use_amsgrad' cannot be set with 'use_lazy' or 'use_offload'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused_where_mindspore_refuses_it(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call()


def test_the_largest_bfloat16_stands_for_infinity() -> None:
    # By its definition; MindSpore has no kernel on a CPU. 0x7f7f is the largest number, (2 - 2**-7) * 2**127.
    found = ops.nan_to_num(t([NAN, INF, -INF, 1.5], ms.bfloat16))
    assert found.dtype is ms.bfloat16
    largest = (2 - 2**-7) * 2.0**127
    assert found.float().asnumpy().tolist() == [0.0, largest, -largest, 1.5]


def test_mints_indices_are_int64_as_its_documentation_says() -> None:
    # On a CPU MindSpore has no kernels for most of these.
    x = t([3.0, 1.0, 2.0])
    found = (
        mint.sort(x)[1], mint.argsort(x), mint.topk(x, 2)[1], mint.argmax(x), mint.argmin(x), mint.max(x, 0)[1],
        mint.min(x, 0)[1], mint.median(x, 0)[1], mint.cummax(x, 0)[1], mint.cummin(x, 0)[1], mint.nonzero(x),
        mint.searchsorted(x, x),
    )  # fmt: skip
    assert {str(one.dtype) for one in found} == {"Int64"}
    wanted = [[1, 2, 0], [1, 2, 0], [0, 2], 0, 1, 0, 1, 2, [0, 0, 0], [0, 1, 1], [[0], [1], [2]]]
    assert [one.tolist() for one in found[:-1]] == wanted


def test_mints_dot_is_the_sum_of_products() -> None:
    assert mint.dot(t([1, 2], ms.int32), t([3, 4], ms.int32)).tolist() == 11
    with pytest.raises(ValueError, match=r"both must have one axis, but got shapes \(1, 2\) and \(2,\)"):
        mint.dot(t([[1.0, 2.0]]), t([3.0, 4.0]))
