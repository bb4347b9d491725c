"""The code of "Copy as NumPy", run as pasted: in an empty namespace, and in another process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from plain_session import PlainCapture, PlainTensor

from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets.views.captures.numpy_code import MOST_BYTES, MOST_WRITTEN, numpy_code

INF, NAN = np.inf, np.nan


def capture(array: Any, **more: Any) -> PlainCapture:
    return PlainCapture(7, "block", PlainTensor(np.asarray(array)), **more)


def pasted(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["array"]


def assert_same(result: Any, expected: np.ndarray) -> None:
    assert type(result) is np.ndarray and result.dtype == expected.dtype and result.shape == expected.shape
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_array_equal(result.astype(wide), expected.astype(wide))
        parts = [result.real, result.imag] if expected.dtype.kind == "c" else [result]
        others = [expected.real, expected.imag] if expected.dtype.kind == "c" else [expected]
        for item, other in zip(parts, others, strict=True):
            finite = np.isfinite(other.astype(np.float64))
            np.testing.assert_array_equal(np.signbit(item)[finite], np.signbit(other)[finite])
    result[...] = 0  # it may be written to


VALUES = [
    np.float32(0.1),
    np.array([1.5, 0.1, 1e-40, 3.4e38, -0.0, INF, -INF, NAN], np.float32),
    np.array([[0.1, 1e-300], [NAN, 5e-324]], np.float64),
    np.array([0.1, 65504.0, 6e-8, INF], np.float16),
    np.array([0.1, 3e38, NAN, -INF, -0.0, 1.0], ml_dtypes.bfloat16),
    np.array([0.1, 448.0, NAN], ml_dtypes.float8_e4m3fn),
    np.array([True, False]),
    np.array(True),
    np.array([1 + 2j, complex(NAN, INF), complex(-0.0, -0.0), complex(1.0, -0.0)], np.complex64),
    np.array([0.1j, complex(-INF, NAN)], np.complex128),
    np.array([-(2**63), 2**63 - 1], np.int64),
    np.array([2**64 - 1], np.uint64),
    np.array([-128, 127], np.int8),
    np.zeros((0,), np.float32),
    np.zeros((2, 0, 3), ml_dtypes.bfloat16),
    np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1),
]
SHAPES = [(), (1,), (3,), (2, 3), (2, 1, 3), (1, 1, 1, 1)]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{value.dtype}{list(np.shape(value))}")
@pytest.mark.parametrize("times", [1, 300], ids=["written out", "as bytes"])
def test_every_dtype_gives_the_same_elements_again(value: np.ndarray, times: int) -> None:
    array = np.asarray(value)
    if times > 1:
        array = np.concatenate([array.reshape(-1)] * times)
        assert not array.size or array.size > MOST_WRITTEN
    assert_same(pasted(numpy_code(capture(array), [], "x")), array)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_kept(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    for indices in ([], [0], [0, 0, 0]):
        leads = max(0, array.ndim - 2)
        assert_same(pasted(numpy_code(capture(array), indices, "x")), np.asarray(array[tuple(indices[:leads])]))


def test_random_values_of_random_shapes_come_back() -> None:
    generator = np.random.default_rng(1)
    dtypes = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.complex64]
    for number in range(200):
        shape = tuple(generator.integers(0, 7, generator.integers(0, 5)))
        array = (generator.standard_cauchy(shape) * 10.0 ** generator.integers(-6, 4)).astype(dtypes[number % 5])
        assert_same(pasted(numpy_code(capture(array), [], "x")), np.asarray(array))


def test_the_slice_that_is_looked_at_is_what_is_copied() -> None:
    array = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    assert_same(pasted(numpy_code(capture(array), [1, 2], "x")), array[1, 2])
    assert_same(pasted(numpy_code(capture(array), [1], "x")), array[1])  # a page of channels
    assert_same(pasted(numpy_code(capture(array), [9, -5], "x")), array[1, 0])


def test_it_runs_in_another_process(tmp_path: Path) -> None:
    array = np.random.default_rng(0).normal(size=(60, 60)).astype(ml_dtypes.bfloat16)
    script = tmp_path / "pasted.py"
    script.write_text(numpy_code(capture(array), [], "x") + "print(array.dtype, array.shape, array.tobytes().hex())\n")
    process = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert process.stdout == f"bfloat16 (60, 60) {array.tobytes().hex()}\n", process.stderr


def test_a_large_value_comes_from_the_session_that_keeps_it_whatever_its_name() -> None:
    net = nn.ReLU()
    with DebugSession(net) as session:
        net(Tensor(np.random.default_rng(0).normal(size=(3, 100, 200)).astype(np.float32)))
    output = session.captures[-1]
    code = numpy_code(output, [2], session.captures.name)
    assert len(code) < 400 and "78.1 KiB: taken from the session in this kernel, while that keeps it" in code
    np.testing.assert_array_equal(pasted(code), output.value.asnumpy()[2])
    session.captures.clear()
    with pytest.raises(LookupError, match="is not kept any more; copy a newer one"):
        pasted(code)


def test_text_is_never_long() -> None:
    array = np.random.default_rng(0).bytes(MOST_BYTES)
    assert len(numpy_code(capture(np.frombuffer(array, np.uint8)), [], "x")) < 2 * MOST_BYTES


@pytest.mark.parametrize("ending", ["\n", "\r", "\r\n", "\x0c", "\u2028"])
def test_a_name_with_a_line_break_stays_in_the_comment(ending: str) -> None:
    code = numpy_code(capture([1.0], slot=f"output{ending}raise SystemExit"), [], "x")
    assert pasted(code).tolist() == [1]
