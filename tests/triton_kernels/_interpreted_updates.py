"""Checks of dropout and of optimizers' steps in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from _comparison import BFLOAT16, DTYPES, close, normal, run, suits, wide

from hookscope.engine.cpu.arrays import philox
from hookscope.engine.cpu.neural import dropout
from hookscope.engine.cpu.optim import adam, updates
from hookscope.triton_kernels import updates as steps
from hookscope.triton_kernels.launch.launcher import interpret


@triton.jit
def random_kernel(words_ptr, uniform_ptr, count, seed, offset, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    index = tl.arange(0, BLOCK).to(tl.int64)
    tl.store(words_ptr + index, tl.randint(seed, index + offset), mask=index < count)
    tl.store(uniform_ptr + index, tl.rand(seed, index + offset), mask=index < count)


SEEDS_AND_OFFSETS = [(0, 0), (1, 16), (-3, 5), (2**31, 2**31 - 50), (2**32 - 1, 2**32 - 50), (2**62 + 9, 2**62)]


@pytest.mark.parametrize(("seed", "offset"), SEEDS_AND_OFFSETS)
def test_cpu_random_numbers_are_tritons_bit_for_bit(seed: int, offset: int) -> None:
    words, uniform = np.empty(100, np.int32), np.empty(100, np.float32)
    arrays = [(array.ctypes.data, array.dtype) for array in (words, uniform)]
    interpret(random_kernel, 1, arrays, (100, seed, offset), {"BLOCK": 128})
    offsets = np.arange(offset, offset + 100)
    assert np.array_equal(words.view(np.uint32), philox.philox_uint32(seed, offsets))
    assert np.array_equal(uniform, philox.philox_uniform(seed, offsets))


@pytest.mark.parametrize(("seed", "offset"), [*SEEDS_AND_OFFSETS, (2**64 - 1, 7), (12345, 2**63 + 11)])
def test_dropout_masks_are_those_of_the_cpu_bit_for_bit(seed: int, offset: int) -> None:
    for shape in ((11, 13), (1,), (3, 2047)):
        x = normal(*shape)
        mask = run("dropout_kept", x, 0.3, seed, offset)
        assert mask.dtype == np.bool_
        assert np.array_equal(mask, dropout.dropout_kept(x, 0.3, seed, offset))
        assert np.array_equal(run("dropout", x, 0.3, seed, offset), dropout.dropout(x, 0.3, seed, offset))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dropout(dtype: Any) -> None:
    x = normal(40, 60, dtype=dtype).T
    mask = dropout.dropout_kept(x, 0.25, 5, 1000)
    assert 0.7 < mask.mean() < 0.8
    close(run("dropout", x, 0.25, 5, 1000), np.where(mask, wide(x) / 0.75, 0), dtype)
    np.testing.assert_array_equal(run("dropout_kept", x, 0.25, 5, 1000), mask)


def test_what_is_drawn_as_the_probability_itself_is_kept() -> None:
    drawn = philox.uniform4x(5, 0, (50,))
    for index in (0, 17, 49):
        mask = run("dropout_kept", np.ones(50, np.float32), float(drawn[index]), 5, 0)
        np.testing.assert_array_equal(mask, drawn >= drawn[index])


def test_dropout_at_its_two_ends() -> None:
    x = np.array([1.0, np.inf, np.nan], dtype=np.float32)
    assert run("dropout", x, 1.0, 1, 0).tolist() == [0, 0, 0]
    np.testing.assert_array_equal(run("dropout", x, 0.0, 1, 0), x)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_adam(dtype: Any, nesterov: bool) -> None:
    param, grad = normal(7, 11, dtype=dtype), normal(7, 11, dtype=dtype, seed=1)
    m, v = normal(7, 11, seed=2) * np.float32(0.1), abs(normal(7, 11, seed=3))
    before = [array.copy() for array in (param, m, v, grad)]
    rates = (1e-2, 0.9, 0.999, 1e-8, nesterov)
    actual = run("adam", param, m, v, grad, *rates)
    for result, want, like in zip(actual, adam.adam(*wide(param, m, v, grad), *rates), (param, m, v), strict=True):
        close(result, want, like.dtype)
    assert all(np.array_equal(a, b) for a, b in zip(before, (param, m, v, grad), strict=True))


def test_adam_keeps_the_digits_of_one_minus_beta2() -> None:
    zero, one = np.zeros(3, np.float32), np.ones(3, np.float32)
    v = run("adam", zero, zero, zero, one, 1e-3, 0.9, 0.999, 1e-8, False)[2]
    np.testing.assert_allclose(v, 1e-3, rtol=2e-7)


# Steps over many tensors. Tensors end before, in and at the end of a chunk; one has a NaN beside an infinity.
SHAPES = [(7, 11), (1,), (40, 30), (1024,), (3, 1, 2)]
RATE = np.array(0.02, np.float32)
POWERS = np.array([0.9**3], np.float32), np.array([0.999**3], np.float32)


def tensors(seed: int, dtype: Any = np.float32) -> list[Any]:
    results = [normal(*shape, dtype=dtype, seed=10 * seed + index) for index, shape in enumerate(SHAPES)]
    results[2][5, 6:8] = np.nan, np.inf
    return results


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Ignore warnings: the references in double precision meet the NaN and the infinity, too."""
    with np.errstate(all="ignore"):
        yield


def stepped(
    name: str,
    gradients: list[Any],
    parameters: list[list[Any]],
    decays: list[float],
    left_out: Any,
    shared: tuple[Any, ...],
    in_place: bool,
    rates: Any = RATE,
    **settings: Any,
) -> list[list[Any]]:
    """Return a step's results on copies of parameters and states, in place or in arrays full of NaN."""
    rows, samples = [], []
    for g, values, decay in zip(gradients, parameters, decays, strict=True):
        before = [x.copy() for x in values]
        after = before if in_place else [np.full_like(x, np.nan) for x in before]
        rows.append((rates, decay, [g, *[x for pair in zip(before, after, strict=True) for x in pair]]))
        samples.append(after)
    steps.step(name, rows, left_out, shared, **settings)
    return samples


def prepared(g: Any, p: Any, decay: float, loss_scale: float) -> Any:
    return ((g + p * decay) if decay else g) / loss_scale


DECAYS = [0.5, 0.0, 0.0, 0.25, 0.5]


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_adam_over_many_tensors(dtype: Any, nesterov: bool, in_place: bool) -> None:
    gradients = tensors(1, BFLOAT16 if dtype == BFLOAT16 else np.float32)
    content = [[p, m, abs(v)] for p, m, v in zip(tensors(2, dtype), tensors(3), tensors(4, dtype), strict=True)]
    betas = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "use_nesterov": nesterov}
    settings = {**betas, "loss_scale": 4.0, "form": "adam", "apart": False}
    actual = stepped("adam_rows", gradients, content, DECAYS, None, POWERS, in_place, **settings)
    for output, values, g, decay in zip(actual, content, gradients, DECAYS, strict=True):
        p, m, v, g = wide(*values, g)  # in double precision
        g = prepared(g, p, decay, 4.0)
        powers = [float(power[0]) for power in POWERS]
        want = updates.adam_by_powers(p, m, v, g, float(RATE), *powers, *betas.values())
        for result, expected, like in zip(output, want, values, strict=True):
            close(result, expected, like.dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_adam_with_the_decay_apart_over_many_tensors(dtype: Any) -> None:
    gradients = tensors(1, dtype)
    content = [[p, m, abs(v)] for p, m, v in zip(tensors(2, dtype), tensors(3, dtype), tensors(4, dtype), strict=True)]
    betas = {"beta1": 0.9, "beta2": 0.99, "eps": 1e-3, "use_nesterov": False}
    settings = {**betas, "form": "adam_weight_decay", "apart": True, "loss_scale": 1.0}
    actual = stepped("adam_rows", gradients, content, DECAYS, None, (None, None), True, **settings)
    for output, values, g, decay in zip(actual, content, gradients, DECAYS, strict=True):
        want = updates.adam_weight_decay(*wide(*values, g), float(RATE), 0.9, 0.99, 1e-3, decay)
        for result, expected in zip(output, want, strict=True):
            close(result, expected, dtype)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_adam_with_both_moments_corrected_over_many_tensors(dtype: Any, apart: bool) -> None:
    gradients = tensors(1, dtype)
    content = [[p, m, abs(v)] for p, m, v in zip(tensors(2, dtype), tensors(3, dtype), tensors(4, dtype), strict=True)]
    betas = {"beta1": 0.9, "beta2": 0.99, "eps": 1e-3, "use_nesterov": False}
    settings = {**betas, "form": "adamw", "apart": apart, "loss_scale": -1.0}
    actual = stepped("adam_rows", gradients, content, DECAYS, None, POWERS, True, **settings)
    powers = [float(power[0]) for power in POWERS]
    for output, values, g, decay in zip(actual, content, gradients, DECAYS, strict=True):
        p, m, v, g = wide(*values, g)
        g = prepared(g, p, 0.0 if apart else decay, -1.0)
        want = updates.adamw(p, m, v, None, g, float(RATE), *powers, 0.9, 0.99, 1e-3, decay if apart else 0.0)
        for result, expected in zip(output, want[:3], strict=True):
            close(result, expected, dtype)


@pytest.mark.parametrize("in_place", [False, True])
def test_the_state_of_each_element_says_whether_its_first_step_is_to_come(in_place: bool) -> None:
    gradients, states = tensors(1), [np.resize(np.array([1, 0, 0, 1, 0], np.float32), shape) for shape in SHAPES]
    content = [list(item) for item in zip(tensors(2), tensors(3), states, strict=True)]
    settings = {"first": "stat", "share": 0.75, "loss_scale": 1.0, "use_nesterov": True}
    shared = np.array(0.5, np.float32), None
    actual = stepped("momentum_rows", gradients, content, DECAYS, None, shared, in_place, **settings)
    for output, values, g, decay in zip(actual, content, gradients, DECAYS, strict=True):
        p, v, stat, g = wide(*values, g)
        want = updates.sgd_by_stat(p, v, stat, prepared(g, p, decay, 1.0), float(RATE), 0.5, 0.25, True)
        for result, expected in zip(output, want, strict=True):
            close(result, expected, np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_descent_over_many_tensors(dtype: Any) -> None:
    gradients, content = tensors(1, dtype), [[p] for p in tensors(2, dtype)]
    settings = {"first": "none", "share": 1.0, "loss_scale": 2.0, "use_nesterov": False}
    result = stepped("momentum_rows", gradients, content, DECAYS, None, (None, None), True, **settings)
    for output, values, g, decay in zip(result, content, gradients, DECAYS, strict=True):
        p, g = wide(*values, g)
        close(output[0], updates.descent(p, prepared(g, p, decay, 2.0), float(RATE)), dtype)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_momentum_over_many_tensors(dtype: Any, nesterov: bool, in_place: bool) -> None:
    gradients, content = tensors(1, dtype), [[p, v] for p, v in zip(tensors(2, dtype), tensors(3, dtype), strict=True)]
    factor = np.array(0.75, np.float32)
    settings = {"first": "none", "share": 1.0, "loss_scale": 2.0, "use_nesterov": nesterov}
    actual = stepped("momentum_rows", gradients, content, DECAYS, None, (factor, None), in_place, **settings)
    for output, values, g, decay in zip(actual, content, gradients, DECAYS, strict=True):
        p, v, g = wide(*values, g)
        for result, expected in zip(
            output, updates.momentum(p, v, prepared(g, p, decay, 2.0), float(RATE), 0.75, nesterov), strict=True
        ):
            close(result, expected, dtype)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("factor", [0.0, 0.9])
@pytest.mark.parametrize("number", [1, 2])
def test_sgd_knows_its_first_step_and_a_momentum_of_zero_from_the_device(
    number: int, factor: float, in_place: bool
) -> None:
    gradients, ones = tensors(1), [np.ones(shape, np.float32) for shape in SHAPES]
    values = [list(item) for item in zip(tensors(2), tensors(3), ones, strict=True)]
    shared = np.array(factor, np.float32), np.array(number, np.int32)
    settings = {"first": "step", "share": 0.75, "loss_scale": 1.0, "use_nesterov": False}
    result = stepped("momentum_rows", gradients, values, DECAYS, None, shared, in_place, **settings)
    for output, (p, v, stat), g, decay in zip(result, values, gradients, DECAYS, strict=True):
        slope = prepared(g.astype(np.float64), p.astype(np.float64), decay, 1.0)
        sums = slope if number == 1 else factor * v.astype(np.float64) + 0.75 * slope
        close(output[0], p - float(RATE) * (sums if factor else slope), np.float32)
        close(output[1], sums if factor else v, np.float32)
        np.testing.assert_array_equal(output[2], 0 * stat if factor and number == 1 else stat)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("name", ["adam_rows", "momentum_rows"])
def test_a_step_that_a_flag_on_the_device_leaves_out_changes_nothing(name: str, left_out: bool, in_place: bool) -> None:
    gradients = [np.full(shape, np.nan if left_out else 1.0, np.float32) for shape in SHAPES]
    content = [[p, abs(p) + 1, abs(p) + 2] for p in tensors(2)]
    shared: tuple[Any, ...] = POWERS
    settings: dict[str, Any] = {"beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "form": "adam", "apart": False}
    if name == "momentum_rows":
        shared, settings = (np.array(0.9, np.float32), np.array(1, np.int32)), {"first": "step", "share": 1.0}
    settings |= {"use_nesterov": False, "loss_scale": 1.0}
    flag = np.array(left_out)
    output = stepped(name, gradients, content, DECAYS, flag, shared, in_place, **settings)
    always = stepped(name, gradients, content, DECAYS, None, shared, in_place, **settings)
    for results, others, values in zip(output, always, content, strict=True):
        for result, other, before in zip(results, others, values, strict=True):
            np.testing.assert_array_equal(result, before if left_out else other)


def test_each_tensor_has_its_own_rate_which_may_be_a_number() -> None:
    p, g = np.zeros(5, np.float32), np.ones(5, np.float32)
    rows = [(rate, 0.0, [g, x := p.copy(), x, y := p.copy(), y]) for rate in (np.array([0.5], np.float32), 0.25)]
    steps.step("momentum_rows", rows, None, (0.0, None), first="none", share=1.0, loss_scale=1.0, use_nesterov=False)
    assert [row[2][2].tolist() for row in rows] == [[-0.5] * 5, [-0.25] * 5]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bad", [np.nan, -np.inf, 6e4])
def test_an_overflow_anywhere_sets_the_flag(dtype: Any, bad: float) -> None:
    arrays = [normal(*shape, dtype=dtype) for shape in SHAPES]
    for index in (0, 3):
        flag, some = np.zeros((), np.bool_), [x.copy() for x in arrays]
        some[index].reshape(-1)[-1] = bad
        steps.overflows([*some, normal(3)], flag)
        assert bool(flag) is not bool(np.isfinite(bad))


def test_what_does_not_qualify() -> None:
    x = normal(4)
    rates = (0.9, 0.999, 1e-8, False)
    assert not suits("dropout", x, 1.5, 0, 0), "a probability out of range"
    assert not suits("dropout", x[:0], 0.5, 0, 0), "nothing"
    assert not suits("adam", x, x, x, x[:2], 1e-3, *rates), "two shapes"
    assert not suits("adam", x, x, x, x, np.array(1e-3), *rates), "a rate in an array"
