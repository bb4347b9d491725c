"""Learning rates as cells and as lists, against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        (lambda: nn.CosineDecayLR(0.01, 0.1, 4), [0.1, 0.08682, 0.02318, 0.01, 0.01, 0.01]),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.09, 0.09, 0.081]),
        (lambda: nn.InverseDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.052632, 0.052632, 0.035714]),
        (lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4, True), [0.1, 0.1, 0.1, 0.002732, 0.002732, 7.5e-05]),
        (lambda: nn.NaturalExpDecayLR(0.1, 0.9, 4), [0.1, 0.040657, 0.006721, 0.002732, 0.001111, 3e-05]),
        (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), [0.1, 0.087942, 0.055, 0.01, 0.01, 0.01]),
        (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True), [0.1, 0.087942, 0.055, 0.01, 0.065114, 0.055]),
        (lambda: nn.WarmUpLR(0.1, 4), [0.0, 0.025, 0.075, 0.1, 0.1, 0.1]),
    ],
)
def test_a_schedule_has_the_rates_of_mindspore(schedule: Any, rates: list[float]) -> None:
    rate_at = schedule()
    results = [float(rate_at(Tensor(step, ms.int32)).asnumpy()) for step in (0, 1, 3, 4, 5, 9)]
    np.testing.assert_allclose(results, rates, atol=1e-6)


def test_lists_go_by_epochs() -> None:
    assert nn.piecewise_constant_lr([2, 4], [0.1, 0.05]) == [0.1, 0.1, 0.05, 0.05]
    np.testing.assert_allclose(nn.warmup_lr(0.1, 6, 2, 2), [0, 0, 0.05, 0.05, 0.1, 0.1])
    np.testing.assert_allclose(nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2), [0.1, 0.1, 0.055, 0.055, 0.01, 0.01])


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        (nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2), [0.1, 0.1, 0.09486833, 0.09486833, 0.09, 0.09]),
        (nn.exponential_decay_lr(0.1, 0.9, 6, 2, 2, True), [0.1, 0.1, 0.1, 0.1, 0.09, 0.09]),
        (nn.exponential_decay_lr(0.1, 0.9, 7, 3, 2, True), [0.1] * 6 + [0.09]),
        (nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2), [0.1, 0.1, 0.04065697, 0.04065697, 0.01652989, 0.01652989]),
        (nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True), [0.1, 0.1, 0.1, 0.1, 0.01652989, 0.01652989]),
        (nn.inverse_decay_lr(0.1, 0.9, 6, 2, 2), [0.1, 0.1, 0.06896552, 0.06896552, 0.05263158, 0.05263158]),
        (nn.inverse_decay_lr(0.1, 0.9, 6, 2, 2, True), [0.1, 0.1, 0.1, 0.1, 0.05263158, 0.05263158]),
        (nn.polynomial_decay_lr(0.1, 0.01, 8, 2, 2, 0.5), [0.1, 0.1, 0.07363961, 0.07363961, 0.01, 0.01, 0.01, 0.01]),
        (
            nn.polynomial_decay_lr(0.1, 0.01, 8, 2, 2, 0.5, True),
            [0.1, 0.1, 0.07363961, 0.07363961, 0.01, 0.01, 0.055, 0.055],
        ),
        (nn.polynomial_decay_lr(0.1, 0.2, 6, 2, 2, 0.5), [0.1, 0.1, 0.12928932, 0.12928932, 0.2, 0.2]),
    ],
)
def test_lists_have_the_rates_of_mindspore(rates: list[float], expected: list[float]) -> None:
    np.testing.assert_allclose(rates, expected, rtol=1e-6)
    assert all(type(rate) is float for rate in rates)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: nn.WarmUpLR(1, 2), TypeError),
        (lambda: nn.cosine_decay_lr(1, 2, 3, 4, 5), TypeError),
        (lambda: nn.piecewise_constant_lr([1], [0.1, 0.2]), ValueError),
        (lambda: nn.CosineDecayLR(0.2, 0.1, 4), ValueError),
        (lambda: nn.exponential_decay_lr(-0.1, 0.9, 6, 2, 2), ValueError),
        (lambda: nn.exponential_decay_lr(0.1, 1, 6, 2, 2), TypeError),  # type: ignore[arg-type]
        (lambda: nn.natural_exp_decay_lr(0.1, 0.9, 0, 2, 2), ValueError),
        (lambda: nn.inverse_decay_lr(0.1, 0.9, 6, 2, 2, 1), TypeError),  # type: ignore[arg-type]
        (lambda: nn.polynomial_decay_lr(0.1, 0.0, 6, 2, 2, 1), TypeError),  # type: ignore[arg-type]
        (lambda: nn.polynomial_decay_lr(0.1, -0.1, 6, 2, 2, 0.5), ValueError),
    ],
)
def test_schedules_refuse(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.polynomial_decay_lr(0.1, 0.0, 6, 2, 2, 0.0), ValueError, "'polynomial_decay_lr', 'power' must be"),
        (lambda: nn.polynomial_decay_lr(0.1, 0.0, 6, 2, 2, 1), TypeError, "'polynomial_decay_lr', 'power' must be"),
        (lambda: nn.polynomial_decay_lr(0.1, 0.0, 6, 2, 0, 0.5), ValueError, "'polynomial_decay_lr', 'decay_epoch' "),
        (lambda: nn.polynomial_decay_lr(0.1, 0.0, 0, 2, 2, 0.5), ValueError, "'polynomial_decay_lr', 'total_step' "),
        (lambda: nn.polynomial_decay_lr(1, 0.0, 6, 2, 2, 0.5), TypeError, "'polynomial_decay_lr', 'learning_rate' "),
        (lambda: nn.cosine_decay_lr(0.01, 0.1, 6, 2, 0), ValueError, "'cosine_decay_lr', 'decay_epoch' must be"),
        (lambda: nn.cosine_decay_lr(0.01, 0.1, 6, 0, 2), ValueError, "'cosine_decay_lr', 'step_per_epoch' must be"),
        (lambda: nn.cosine_decay_lr(-0.01, 0.1, 6, 2, 2), ValueError, "'cosine_decay_lr', 'min_lr' must be"),
        (lambda: nn.cosine_decay_lr(0.1, 0.1, 6, 2, 2), ValueError, "'max_lr' must be above 'min_lr'"),
        (lambda: nn.warmup_lr(0.1, 6, 2, 0), ValueError, "'warmup_lr', 'warmup_epoch' must be above 0"),
        *(
            (lambda kind=kind, inputs=inputs: getattr(nn, kind)(*inputs), error, f"For '{kind}', '{argument}' must be ")
            for kind in ("ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR")
            for inputs, error, argument in (
                ((0.0, 0.9, 4), ValueError, "learning_rate"),
                ((1, 0.9, 4), TypeError, "learning_rate"),
                ((0.1, 0.0, 4), ValueError, "decay_rate"),
                ((0.1, 0.9, 0), ValueError, "decay_steps"),
                ((0.1, 0.9, 4, 1), TypeError, "is_stair"),
            )
        ),
    ],
)
def test_a_schedule_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


FORMULAS: dict[str, tuple[Any, Any]] = {
    "exponential": (
        lambda stair: nn.exponential_decay_lr(0.3, 0.8, 23, 3, 2, stair),
        lambda epoch, part: 0.3 * 0.8**part,
    ),
    "natural": (
        lambda stair: nn.natural_exp_decay_lr(0.3, 0.8, 23, 3, 2, stair),
        lambda epoch, part: 0.3 * np.exp(-1.6 * part),
    ),
    "inverse": (
        lambda stair: nn.inverse_decay_lr(0.3, 0.8, 23, 3, 2, stair),
        lambda epoch, part: 0.3 / (1 + 0.8 * part),
    ),
    "polynomial": (
        lambda anew: nn.polynomial_decay_lr(0.3, 0.05, 23, 3, 2, 1.5, anew),
        lambda epoch, span: 0.05 + 0.25 * (1 - np.minimum(epoch, span) / span) ** 1.5,
    ),
}


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_list_of_rates_is_its_formula_step_by_step(name: str, flag: bool) -> None:
    make, formula = FORMULAS[name]
    epoch = np.arange(23) // 3
    if name == "polynomial":  # the decay lasts 2 epochs, or goes on to the next multiple of 2
        argument = np.maximum(2 * np.ceil(epoch / 2), 2) if flag else np.full(23, 2)
    else:
        argument = epoch // 2 if flag else epoch / 2
    result = make(flag)
    np.testing.assert_allclose(result, formula(epoch, argument), rtol=1e-12)
    assert all(type(rate) is float for rate in result)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1, 0.8, 6, 2, 2), TypeError, "'learning_rate' must be a float, but got int"),
        ((-0.1, 0.8, 6, 2, 2), ValueError, "'learning_rate' must be above 0.*, but got -0.1"),
        ((0.3, 0.0, 6, 2, 2), ValueError, "'decay_rate' must be above 0.*, but got 0.0"),
        ((0.3, 0.8, 0, 2, 2), ValueError, "'total_step' must be above 0, but got 0"),
        ((0.3, 0.8, 6, 2.0, 2), TypeError, "'step_per_epoch' must be an int, but got float"),
        ((0.3, 0.8, 6, 2, True), TypeError, "'decay_epoch' must be an int, but got bool"),
        ((0.3, 0.8, 6, 2, 2, 1), TypeError, "'is_stair' must be a bool, but got int"),
    ],
)
def test_a_list_of_rates_names_what_is_wrong_with_its_argument(
    arguments: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    for name in ("exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr"):
        with pytest.raises(error, match=f"For '{name}', {text}"):
            getattr(nn, name)(*arguments)
