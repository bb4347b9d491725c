"""New tensors, and numbers that become some: what is refused, what passes a gradient, what the formulas give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, bool_, float32, float64, grad, int16, int32, int64, ops

NUMBER = Tensor(1.5, float32)
VECTOR = Tensor(np.array([1.0, 2.0], np.float32))


@pytest.mark.parametrize(
    "make",
    [
        lambda value: ops.full((2, 3), value),
        lambda value: ops.full((2, 3), value, dtype=float64),
        lambda value: ops.fill(float32, (2, 3), value),
        lambda value: ops.full_like(ops.zeros((2, 3)), value),
        lambda value: ops.FillV2()((2, 3), value),
        lambda value: VECTOR.new_full((2, 3), value),
    ],
    ids=["full", "full_dtype", "fill", "full_like", "FillV2", "new_full"],
)
def test_a_tensor_that_fills_another_gets_the_sum_of_the_gradient(make: Callable[[Tensor], Tensor]) -> None:
    factors = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(make(NUMBER).asnumpy(), np.full((2, 3), 1.5))
    result = grad(lambda value: (make(value) * factors).sum())(NUMBER)
    assert (result.shape, float(result)) == ((), 15.0)


@pytest.mark.parametrize(
    "make",
    [lambda: ops.full((2, 2), VECTOR), lambda: ops.fill(int32, (2,), VECTOR), lambda: ops.full_like(VECTOR, VECTOR)],
)
def test_only_one_number_fills_a_tensor(make: Callable[[], Tensor]) -> None:
    with pytest.raises(ValueError, match=r"must be one number, but got a tensor of shape \(2,\)"):
        make()


@pytest.mark.parametrize("number", [1, 1.5])
def test_fillv2_says_that_its_value_is_a_tensor(number: float) -> None:
    with pytest.raises(TypeError, match="For 'FillV2', 'value' must be a Tensor, but got"):
        ops.FillV2()((2, 2), number)


@pytest.mark.parametrize("dtype", [bool_, int16, int64, float32, float64])
def test_what_fills_keeps_its_dtype(dtype: Any) -> None:
    result = ops.FillV2()((2, 3), Tensor(1, dtype))
    assert (result.shape, result.dtype, result.tolist()) == ((2, 3), dtype, [[1] * 3] * 2)


@pytest.mark.parametrize(
    ("argument", "dtype", "want", "own"),
    [
        ((3,), None, [0, 1, 2], int64),
        ((1, Tensor(6), 2), None, [1, 3, 5], int64),
        ((2, 0.5, -0.5), None, [2.0, 1.5, 1.0], float32),
        ((0, Tensor(2.0), 1), None, [0.0, 1.0], float32),
        ((3,), float64, [0, 1, 2], float64),
        ((0.0, 2.0), int16, [0, 1], int16),
        ((0, 3, -1), None, [], int64),
    ],
)
def test_a_range_is_of_floats_if_one_of_its_numbers_is(argument: Any, dtype: Any, want: Any, own: Any) -> None:
    result = ops.arange(*argument, dtype=dtype)
    assert (result.dtype, result.tolist()) == (own, want)


def test_a_filled_tensor_is_memory_of_its_own() -> None:
    filled = ops.full((2, 2), NUMBER)
    assert filled.is_contiguous()
    filled[0, 1] = 7.0
    np.testing.assert_array_equal(filled.asnumpy(), [[1.5, 7.0], [1.5, 1.5]])


def test_a_deep_copy_passes_the_gradient_and_shares_nothing() -> None:
    array = np.array([1.0, -2.0, 3.0], np.float32)
    x = Tensor.from_numpy(array)
    copied = ops.deepcopy(x)
    array[0] = 9.0
    np.testing.assert_array_equal(copied.asnumpy(), [1.0, -2.0, 3.0])
    result = grad(lambda x: (ops.deepcopy(x) * x).sum())(Tensor([1.0, -2.0, 3.0]))
    np.testing.assert_array_equal(result.asnumpy(), [2.0, -4.0, 6.0])
    assert type(ops.deepcopy(Parameter(VECTOR))) is Tensor


def test_linspace_of_tensors() -> None:
    # MindSpore 2.10 gives these dtypes and no gradient.
    ends = Tensor(1.0, float64), Tensor(3.0, float64)
    assert ops.linspace(*ends, 5).dtype is float64
    np.testing.assert_array_equal(ops.linspace(*ends, 5).asnumpy(), [1.0, 1.5, 2.0, 2.5, 3.0])
    assert ops.linspace(NUMBER, 3, 4).dtype is float32
    np.testing.assert_array_equal(ops.linspace(NUMBER, 3, 4).asnumpy(), [1.5, 2.0, 2.5, 3.0])
    np.testing.assert_array_equal(ops.linspace(NUMBER, 3, 1).asnumpy(), [1.5])
    assert float(grad(lambda x: ops.linspace(x, 3.0, 4).sum())(NUMBER)) == 0


def window_of(name: str, turn: np.ndarray[Any, Any]) -> Any:
    """Return the windows as SciPy documents them (``scipy.signal.windows``), by their place between 0 and 1."""
    angle = 2 * np.pi * turn
    if name == "bartlett":
        return np.where(turn < 0.5, 2 * turn, 2 - 2 * turn)
    if name == "blackman":
        return 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle)
    if name == "kaiser":
        return np.i0(12.0 * np.sqrt(1 - (2 * turn - 1) ** 2)) / np.i0(12.0)
    first = {"hamming": 0.54, "hann": 0.5}[name]
    return first - (1 - first) * np.cos(angle)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann", "kaiser"])
@pytest.mark.parametrize("periodic", [True, False])
def test_windows_by_definition(name: str, periodic: bool) -> None:
    window = getattr(ops, f"{name}_window")
    want = window_of(name, np.arange(7) / (7 if periodic else 6))
    np.testing.assert_allclose(window(7, periodic, dtype=float64).asnumpy(), want, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(window(Tensor(7), periodic).asnumpy(), want, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(window(1).asnumpy(), [1.0])


def test_the_heights_of_hamming_and_kaiser_windows() -> None:
    turn = np.arange(6) / 6
    result = ops.hamming_window(6, True, 0.6, 0.3, dtype=float64)
    np.testing.assert_allclose(result.asnumpy(), 0.6 - 0.3 * np.cos(2 * np.pi * turn), rtol=1e-12)
    result = ops.kaiser_window(6, False, beta=5.0, dtype=float64)
    np.testing.assert_allclose(result.asnumpy(), np.kaiser(6, 5.0), rtol=1e-12)


REFUSED: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("linspace of vectors", lambda: ops.linspace(VECTOR, 3, 4), ValueError, r"'start' must be one number"),
    ("linspace of none", lambda: ops.linspace(1, 3, 0), ValueError, "'steps' must be at least 1, but got 0"),
    ("linspace of half", lambda: ops.linspace(1, 3, 1.5), TypeError, "'steps' must be an int"),  # type: ignore[arg-type]
    ("logspace of less", lambda: ops.logspace(1, 3, -1), ValueError, "'steps' must not be negative, but got -1"),
    ("window of halves", lambda: ops.hann_window(5.5), TypeError, "'window_length' must be an int, but got 5.5"),  # type: ignore[arg-type]
    ("window of less", lambda: ops.hann_window(-1), ValueError, "'window_length' must not be negative, but got -1"),
    ("window of ints", lambda: ops.hann_window(5, dtype=int32), TypeError, "'dtype' must be floating, but got Int32"),
    ("eye of less", lambda: ops.eye(-1), ValueError, "For 'eye', 'n' must not be negative, but got -1"),
    ("eye of less columns", lambda: ops.eye(2, -1), ValueError, "For 'eye', 'm' must not be negative, but got -1"),
    ("eye of a float", lambda: ops.eye(2.0), TypeError, "For 'eye', 'n' must be an int, but got float"),  # type: ignore[arg-type]
    ("one_hot of floats", lambda: ops.one_hot(VECTOR, 3), TypeError, "'indices' must be integers, but got Float32"),
    ("one_hot of less", lambda: ops.one_hot(Tensor([1]), -1), ValueError, "'depth' must not be negative, but got -1"),
    ("one_hot far off", lambda: ops.one_hot(Tensor([1]), 3, axis=2), ValueError, "'axis' must be in"),
    ("one_hot of two dtypes", lambda: ops.one_hot(Tensor([1]), 3, NUMBER, Tensor(0)), TypeError, "must have one dtype"),
    ("eye of a str", lambda: ops.eye("a"), TypeError, "^For 'eye', 'n' must be an int, but got str$"),
    ("range of two kinds", lambda: ops.range(0, 1.5, 0.5), TypeError, "all be integers or all floats"),
]


@pytest.mark.parametrize(("make", "error", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_no_tensor_can_be_made_of(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    # MindSpore 2.10 refuses each, with an error of the same class.
    with pytest.raises(error, match=text):
        make()


def test_a_range_has_the_widest_dtype_of_its_numbers() -> None:
    assert ops.range(Tensor(0, int32), Tensor(5, int32), Tensor(2, int32)).dtype is int32
    assert ops.range(Tensor(0, int32), 5, 2).dtype is int64  # as in MindSpore 2.10
    np.testing.assert_array_equal(ops.range(0.0, 1.5, 0.5).asnumpy(), np.array([0.0, 0.5, 1.0], np.float32))


def test_numbers_as_operators() -> None:
    assert (ops.scalar_add(2, 3), ops.scalar_floordiv(-7, 2), ops.scalar_mod(-7, 2)) == (5, -4, 1)
    assert (ops.scalar_max(2, 3), ops.scalar_min(2, 3)) == (3, 2)
    assert ops.scalar_div(7, 2) == 3.5
    assert ops.scalar_usub(2) == -2
    assert float(ops.scalar_pow(Tensor(2.0), 3)) == 8.0
    assert ops.scalar_cast(1 + 2j, ops.complex(NUMBER, NUMBER).dtype) == 1 + 2j
    with pytest.raises(TypeError, match="scalar_add"):
        ops.scalar_add(1)  # type: ignore[call-arg]


@pytest.mark.parametrize("dtype", [float32, float64, int32])
@pytest.mark.parametrize("base", [10, 2, 1, 3])
@pytest.mark.parametrize(("start", "end", "steps"), [(0, 4, 5), (2.0, -1.0, 4), (1, 3, 1), (1, 3, 0), (2, 2, 3)])
def test_logspace_are_powers_at_even_distances(start: float, end: float, steps: int, base: int, dtype: Any) -> None:
    way = (end - start) / max(steps - 1, 1)
    want = np.array([float(base) ** (start + k * way) for k in range(steps)])
    want = want.astype({float32: np.float32, float64: np.float64, int32: np.int32}[dtype])
    for result in (
        ops.logspace(start, end, steps, base, dtype=dtype),
        ops.logspace(Tensor(start), Tensor(end), steps, base, dtype=dtype),
        ops.LogSpace(steps, base, dtype)(Tensor(start, float32), Tensor(end, float32)),
    ):
        assert (result.shape, result.dtype) == ((steps,), dtype)
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-6 if dtype is float32 else 1e-14)
    assert ops.logspace(0, 2, 3).tolist() == [1.0, 10.0, 100.0]
