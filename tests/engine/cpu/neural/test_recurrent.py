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
    given, reverse = operands(kind, case), CASES[case][3]
    want = recurrent.forward(*exactly(given), kind, reverse)
    for which in ("ohc", "o", "hc"):
        found = []
        for count in (1, 2, 4):
            threads.set_number(count)
            out = recurrent.forward(*given, kind, reverse)
            g = gradients_of(kind, out, which)
            found.append([*out[:3], *recurrent.back(*g, *given, *out[3:], kind, reverse)])
        wanted = [*want[:3], *recurrent.back(*exactly(g), *exactly(given), *want[3:], kind, reverse)]
        for one, other in zip(found[0], wanted, strict=True):
            assert one.dtype == np.float32 and one.size == other.size
            if one.size:
                assert one.shape == other.shape
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=3e-6 * max(1.0, np.abs(other).max()))
        for others in found[1:]:
            for one, other in zip(found[0], others, strict=True):
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_inputs_may_lie_in_memory_in_any_way(kind: str) -> None:
    given = operands(kind, "two parts")
    out = recurrent.forward(*given, kind, False)
    g = gradients_of(kind, out, "ohc")
    back = recurrent.back(*g, *given, *out[3:], kind, False)
    turned = [x if x is None else np.asfortranarray(x) for x in given]
    spread = [x if x is None else np.repeat(x, 2, axis=-1)[..., ::2] for x in g]
    # A batch that comes first, and steps from the last to the first.
    batched = [np.ascontiguousarray(x.swapaxes(0, 1)).swapaxes(0, 1) if x is not None else x for x in (given[0], g[0])]
    backwards = [np.ascontiguousarray(x[::-1])[::-1] if x is not None else x for x in (given[0], g[0])]
    for inputs, arrived in (
        (turned, spread),
        ([batched[0], *given[1:]], [batched[1], *g[1:]]),
        ([backwards[0], *given[1:]], [backwards[1], *g[1:]]),
    ):
        found = recurrent.forward(*inputs, kind, False)
        others = recurrent.back(*arrived, *inputs, *found[3:], kind, False)
        for one, other in zip((*out, *back), (*found, *others), strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_input_may_be_one_sample_for_all() -> None:
    given = operands("lstm", "two parts")
    same = np.broadcast_to(given[0][:, :1], given[0].shape)
    for one, other in zip(
        recurrent.forward(same, *given[1:], "lstm", False),
        recurrent.forward(np.array(same), *given[1:], "lstm", False),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_what_is_not_finite_stays_in_its_sample_and_comes_after_its_step(kind: str) -> None:
    given = list(operands(kind, "two parts"))
    want = recurrent.forward(*exactly(given), kind, False)[0]
    given[0][2, 20, 3] = np.nan
    out = recurrent.forward(*given, kind, False)
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
    given = list(operands(kind, "few samples"))
    given[0] *= np.float32(1e3) if kind != "relu" else np.float32(1)
    want, found = recurrent.forward(*exactly(given), kind, False), recurrent.forward(*given, kind, False)
    np.testing.assert_allclose(found[0], want[0], rtol=1e-3, atol=1e-3)
    given[0][0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        want, found = recurrent.forward(*exactly(given), kind, False), recurrent.forward(*given, kind, False)
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(want[0]))


def test_states_that_are_handed_out_are_arrays_of_their_own() -> None:
    given = operands("lstm", "two parts")
    out = recurrent.forward(*given, "lstm", False)
    assert not any(np.shares_memory(end, x) for end in out[1:3] for x in (out[0], *out[3:], *given[1:3]))


@pytest.mark.parametrize("kind", recurrent.GATES)
def test_small_work_and_other_dtypes_stay_on_numpy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(recurrent, "kernels", lambda name: pytest.fail(f"compiled {name}"))
    recurrent.forward(*operands(kind, "two parts"), kind, False)
    monkeypatch.setattr(recurrent, "_LEAST", 0)
    recurrent.forward(*exactly(operands(kind, "two parts")), kind, False)
    monkeypatch.setattr(recurrent, "is_on", lambda: False)
    recurrent.forward(*operands(kind, "two parts"), kind, False)
