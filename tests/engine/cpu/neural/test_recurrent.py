"""Compiled recurrent layers against the same steps in float64, and the same bits for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.neural import recurrent

# Steps, samples, inputs and states; biases; lengths; in reverse.
CASES: dict[str, tuple[tuple[int, int, int, int], bool, bool, bool]] = {
    "two parts": ((5, 32, 7, 9), True, False, False),
    "a part that is not full": ((4, 37, 33, 20), True, False, True),
    "few samples": ((6, 3, 65, 70), False, False, False),
    "one step of one sample": ((1, 1, 300, 200), True, False, False),
    "lengths": ((7, 40, 16, 17), True, True, False),
    "lengths in reverse": ((7, 19, 16, 17), False, True, True),
    "wide": ((2, 18, 250, 260), True, False, True),
}


@pytest.fixture(autouse=True)
def all_compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(recurrent, "_LEAST", 0)
    yield
    threads.set_number(None)


def operands(kind: str, case: str) -> tuple[Any, ...]:
    (steps, count, inputs, size), biases, lengths, _ = CASES[case]
    random, high = np.random.default_rng(0), recurrent.GATES[kind] * size

    def draw(*shape: int) -> Any:
        return (random.standard_normal(shape) / shape[-1] ** 0.5).astype(np.float32)

    x = random.standard_normal((steps, count, inputs)).astype(np.float32)
    keep = (np.arange(steps)[:, None] < random.integers(0, steps + 1, count))[:, :, None] if lengths else None
    return (
        x,
        draw(count, size),
        draw(count, size) if kind == "lstm" else None,
        draw(high, inputs),
        draw(high, size),
        *((draw(high), draw(high)) if biases else (None, None)),
        keep,
    )


def exactly(values: Any) -> list[Any]:
    return [x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype == np.float32 else x for x in values]


def gradients_of(kind: str, out: Any, which: str) -> list[Any]:
    random = np.random.default_rng(1)
    drawn = [random.standard_normal(x.shape).astype(np.float32) for x in out[:3]]
    names = which if kind == "lstm" else which.replace("c", "")
    return [g if name in names else None for name, g in zip("ohc", drawn, strict=True)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", recurrent.GATES)
def test_results_and_gradients_agree_with_float64_for_any_number_of_threads(kind: str, case: str) -> None:
    inputs, reverse = operands(kind, case), CASES[case][3]
    want = recurrent.forward(*exactly(inputs), kind, reverse)
    for which in ("ohc", "o", "hc"):
        results = []
        for count in (1, 2, 4):
            threads.set_number(count)
            out = recurrent.forward(*inputs, kind, reverse)
            g = gradients_of(kind, out, which)
            results.append([*out[:3], *recurrent.back(*g, *inputs, *out[3:], kind, reverse)])
        expected = [*want[:3], *recurrent.back(*exactly(g), *exactly(inputs), *want[3:], kind, reverse)]
        for first, second in zip(results[0], expected, strict=True):
            assert first.dtype == np.float32 and first.size == second.size
            if first.size:
                assert first.shape == second.shape
                np.testing.assert_allclose(first, second, rtol=1e-4, atol=3e-6 * max(1.0, np.abs(second).max()))
        for others in results[1:]:
            for first, second in zip(results[0], others, strict=True):
                np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_inputs_may_lie_in_memory_in_any_way(kind: str) -> None:
    arguments = operands(kind, "two parts")
    out = recurrent.forward(*arguments, kind, False)
    g = gradients_of(kind, out, "ohc")
    back = recurrent.back(*g, *arguments, *out[3:], kind, False)
    turned = [x if x is None else np.asfortranarray(x) for x in arguments]
    spread = [x if x is None else np.repeat(x, 2, axis=-1)[..., ::2] for x in g]
    # A batch that comes first, and steps from the last to the first.
    batched = [
        np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1) if x is not None else x for x in (arguments[0], g[0])
    ]
    backwards = [np.ascontiguousarray(x[::-1])[::-1] if x is not None else x for x in (arguments[0], g[0])]
    for inputs, arrived in (
        (turned, spread),
        ([batched[0], *arguments[1:]], [batched[1], *g[1:]]),
        ([backwards[0], *arguments[1:]], [backwards[1], *g[1:]]),
    ):
        result = recurrent.forward(*inputs, kind, False)
        others = recurrent.back(*arrived, *inputs, *result[3:], kind, False)
        for first, second in zip((*out, *back), (*result, *others), strict=True):
            np.testing.assert_array_equal(first, second)


def test_an_input_may_be_one_sample_for_all() -> None:
    inputs = operands("lstm", "two parts")
    same = np.broadcast_to(inputs[0][:, :1], inputs[0].shape)
    for first, second in zip(
        recurrent.forward(same, *inputs[1:], "lstm", False),
        recurrent.forward(np.array(same), *inputs[1:], "lstm", False),
        strict=True,
    ):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_what_is_not_finite_stays_in_its_sample_and_comes_after_its_step(kind: str) -> None:
    inputs = list(operands(kind, "two parts"))
    want = recurrent.forward(*exactly(inputs), kind, False)[0]
    inputs[0][2, 20, 3] = np.nan
    out = recurrent.forward(*inputs, kind, False)
    expected = np.zeros(out[0].shape, bool)
    expected[2:, 20] = True
    np.testing.assert_array_equal(np.isnan(out[0]), expected)
    np.testing.assert_allclose(out[0][~expected], want[~expected], rtol=1e-4, atol=3e-6)
    g = np.zeros_like(out[0])
    g[4, 7, 2] = np.inf
    clean = operands(kind, "two parts")
    out = recurrent.forward(*clean, kind, False)
    with np.errstate(invalid="ignore"):
        of_x = recurrent.back(g, None, None, *clean, *out[3:], kind, False)[0]
    elsewhere = np.arange(32) != 7
    assert not of_x[:, elsewhere].any()
    assert not np.isfinite(of_x[:, 7]).all() or kind == "relu"


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_large_inputs_saturate_as_in_float64(kind: str) -> None:
    inputs = list(operands(kind, "few samples"))
    inputs[0] *= np.float32(1e3) if kind != "relu" else np.float32(1)
    want, result = recurrent.forward(*exactly(inputs), kind, False), recurrent.forward(*inputs, kind, False)
    np.testing.assert_allclose(result[0], want[0], rtol=1e-3, atol=1e-3)
    inputs[0][0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        want, result = recurrent.forward(*exactly(inputs), kind, False), recurrent.forward(*inputs, kind, False)
    np.testing.assert_array_equal(np.isnan(result[0]), np.isnan(want[0]))


def test_states_that_are_handed_out_are_arrays_of_their_own() -> None:
    inputs = operands("lstm", "two parts")
    out = recurrent.forward(*inputs, "lstm", False)
    assert not any(np.shares_memory(end, x) for end in out[1:3] for x in (out[0], *out[3:], *inputs[1:3]))


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_small_work_and_other_dtypes_stay_on_numpy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(recurrent, "kernels", lambda name: pytest.fail(f"compiled {name}"))
    recurrent.forward(*operands(kind, "two parts"), kind, False)
    monkeypatch.setattr(recurrent, "_LEAST", 0)
    recurrent.forward(*exactly(operands(kind, "two parts")), kind, False)
    monkeypatch.setattr(recurrent, "is_on", lambda: False)
    recurrent.forward(*operands(kind, "two parts"), kind, False)
