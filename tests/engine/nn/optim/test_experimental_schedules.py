"""Schedulers of mindspore.experimental.optim against rates recorded from MindSpore 2.10, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from recorded import wave

from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.experimental import optim
from hookscope.engine.experimental.optim import lr_scheduler as sched


def two_groups() -> Any:
    w, b = Parameter(wave(2, 3), "w"), Parameter(wave(2), "b")
    return optim.SGD([{"params": [w]}, {"params": [b], "lr": 0.1}], 0.4, momentum=0.5)


def one_group() -> Any:
    return optim.SGD([Parameter(wave(2), "w")], 0.1)


METRICS = [1.0, 0.9, 0.95, 0.94, 0.93, 0.92, 0.91, 0.91, 0.5, 0.5, 0.5, 0.5]
# The scheduler, what each of its steps is given, and the rates of both groups, from the first epoch on.
CASES: dict[str, tuple[Any, list[Any] | None, list[float], list[float]]] = {
    "StepLR": (
        lambda o: sched.StepLR(o, 3, 0.5),
        None,
        [0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.05],
        [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.0125],
    ),
    "MultiStepLR": (
        lambda o: sched.MultiStepLR(o, [2, 5, 5], 0.5),
        None,
        [0.4, 0.4, 0.2, 0.2, 0.2, 0.05, 0.05, 0.05, 0.05, 0.05],
        [0.1, 0.1, 0.05, 0.05, 0.05, 0.0125, 0.0125, 0.0125, 0.0125, 0.0125],
    ),
    "ExponentialLR": (
        lambda o: sched.ExponentialLR(o, 0.8),
        None,
        [0.4, 0.32, 0.256, 0.2048, 0.16384, 0.13107, 0.10486, 0.08389, 0.06711, 0.05369],
        [0.1, 0.08, 0.064, 0.0512, 0.04096, 0.03277, 0.02621, 0.02097, 0.01678, 0.01342],
    ),
    "LambdaLR": (
        lambda o: sched.LambdaLR(o, lambda e: 0.9**e),
        None,
        [0.4, 0.36, 0.324, 0.2916, 0.26244, 0.2362, 0.21258, 0.19132, 0.17219, 0.15497],
        [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.05905, 0.05314, 0.04783, 0.04305, 0.03874],
    ),
    "LambdaLR two": (
        lambda o: sched.LambdaLR(o, [lambda e: 0.9**e, lambda e: e // 3]),
        None,
        [0.4, 0.36, 0.324, 0.2916, 0.26244, 0.2362, 0.21258, 0.19132, 0.17219, 0.15497],
        [0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.3],
    ),
    "MultiplicativeLR": (
        lambda o: sched.MultiplicativeLR(o, lambda e: 0.9),
        None,
        [0.4, 0.36, 0.324, 0.2916, 0.26244, 0.2362, 0.21258, 0.19132, 0.17219, 0.15497],
        [0.1, 0.09, 0.081, 0.0729, 0.06561, 0.05905, 0.05314, 0.04783, 0.04305, 0.03874],
    ),
    "ConstantLR": (
        lambda o: sched.ConstantLR(o, 0.5, 4),
        None,
        [0.2, 0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4],
        [0.05, 0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
    ),
    "LinearLR": (
        lambda o: sched.LinearLR(o, 0.2, 0.9, 4),
        None,
        [0.08, 0.15, 0.22, 0.29, 0.36, 0.36, 0.36, 0.36, 0.36, 0.36],
        [0.02, 0.0375, 0.055, 0.0725, 0.09, 0.09, 0.09, 0.09, 0.09, 0.09],
    ),
    "PolynomialLR": (
        lambda o: sched.PolynomialLR(o, 6, 2.0),
        None,
        [0.4, 0.27778, 0.17778, 0.1, 0.04444, 0.01111, 0.0, 0.0, 0.0, 0.0],
        [0.1, 0.06944, 0.04444, 0.025, 0.01111, 0.00278, 0.0, 0.0, 0.0, 0.0],
    ),
    "CosineAnnealingLR": (
        lambda o: sched.CosineAnnealingLR(o, 4, 0.01),
        None,
        [0.4, 0.34289, 0.205, 0.06711, 0.01, 0.06711, 0.205, 0.34289, 0.4, 0.34289],
        [0.1, 0.08682, 0.055, 0.02318, 0.01, 0.02318, 0.055, 0.08682, 0.1, 0.08682],
    ),
    "CosineAnnealingWarmRestarts": (
        lambda o: sched.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
        None,
        [0.4, 0.3025, 0.1075, 0.4, 0.37387, 0.3025, 0.205, 0.1075, 0.03613, 0.4],
        [0.1, 0.0775, 0.0325, 0.1, 0.09397, 0.0775, 0.055, 0.0325, 0.01603, 0.1],
    ),
    "CyclicLR": (
        lambda o: sched.CyclicLR(o, 0.1, 0.5, 3, 2),
        None,
        [0.1, 0.23333, 0.36667, 0.5, 0.3, 0.1, 0.23333, 0.36667, 0.5, 0.3],
        [0.1, 0.23333, 0.36667, 0.5, 0.3, 0.1, 0.23333, 0.36667, 0.5, 0.3],
    ),
    "CyclicLR 2": (
        lambda o: sched.CyclicLR(o, 0.1, [0.5, 0.7], 3, mode="triangular2"),
        None,
        [0.1, 0.23333, 0.36667, 0.5, 0.36667, 0.23333, 0.1, 0.16667, 0.23333, 0.3],
        [0.1, 0.3, 0.5, 0.7, 0.5, 0.3, 0.1, 0.2, 0.3, 0.4],
    ),
    "CyclicLR exp": (
        lambda o: sched.CyclicLR(o, 0.1, 0.5, 3, mode="exp_range", gamma=0.9),
        None,
        [0.1, 0.22, 0.316, 0.3916, 0.27496, 0.17873, 0.1, 0.16377, 0.21479, 0.25497],
        [0.1, 0.22, 0.316, 0.3916, 0.27496, 0.17873, 0.1, 0.16377, 0.21479, 0.25497],
    ),
    "CyclicLR fn": (
        lambda o: sched.CyclicLR(o, 0.1, 0.5, 3, scale_fn=lambda x: 0.5**x, scale_mode="cycle"),
        None,
        [0.1, 0.16667, 0.23333, 0.3, 0.23333, 0.16667, 0.1, 0.13333, 0.16667, 0.2],
        [0.1, 0.16667, 0.23333, 0.3, 0.23333, 0.16667, 0.1, 0.13333, 0.16667, 0.2],
    ),
    "SequentialLR": (
        lambda o: sched.SequentialLR(o, [sched.ConstantLR(o, 0.1, 2), sched.ExponentialLR(o, 0.9)], [4]),
        None,
        [0.04, 0.04, 0.4, 0.4, 0.4, 0.36, 0.324, 0.2916, 0.26244, 0.2362],
        [0.01, 0.01, 0.1, 0.1, 0.1, 0.09, 0.081, 0.0729, 0.06561, 0.05905],
    ),
    "SequentialLR 3": (
        lambda o: sched.SequentialLR(
            o, [sched.LinearLR(o, 0.1, 1.0, 2), sched.ExponentialLR(o, 0.9), sched.StepLR(o, 2, 0.5)], [3, 6]
        ),
        None,
        [0.04, 0.22, 0.4, 0.4, 0.36, 0.324, 0.4, 0.4, 0.2, 0.2],
        [0.01, 0.055, 0.1, 0.1, 0.09, 0.081, 0.1, 0.1, 0.05, 0.05],
    ),
    "StepLR by epoch": (
        lambda o: sched.StepLR(o, 3, 0.5),
        [1, 2, 5, 3, 9],
        [0.4, 0.4, 0.4, 0.2, 0.2, 0.05],
        [0.1, 0.1, 0.1, 0.05, 0.05, 0.0125],
    ),
    "ExponentialLR by epoch": (
        lambda o: sched.ExponentialLR(o, 0.8),
        [1, 2, 5, 3, 9],
        [0.4, 0.32, 0.256, 0.13107, 0.2048, 0.05369],
        [0.1, 0.08, 0.064, 0.03277, 0.0512, 0.01342],
    ),
    "LambdaLR by epoch": (
        lambda o: sched.LambdaLR(o, lambda e: 0.9**e),
        [1, 2, 5, 3, 9],
        [0.4, 0.36, 0.324, 0.2362, 0.2916, 0.15497],
        [0.1, 0.09, 0.081, 0.05905, 0.0729, 0.03874],
    ),
    "ConstantLR by epoch": (
        lambda o: sched.ConstantLR(o, 0.5, 4),
        [1, 2, 5, 3, 9],
        [0.2, 0.2, 0.2, 0.4, 0.2, 0.4],
        [0.05, 0.05, 0.05, 0.1, 0.05, 0.1],
    ),
    "LinearLR by epoch": (
        lambda o: sched.LinearLR(o, 0.2, 0.9, 4),
        [1, 2, 5, 3, 9],
        [0.08, 0.15, 0.22, 0.36, 0.29, 0.36],
        [0.02, 0.0375, 0.055, 0.09, 0.0725, 0.09],
    ),
    "PolynomialLR by epoch": (
        lambda o: sched.PolynomialLR(o, 6, 2.0),
        [1, 2, 5, 3, 9],
        [0.4, 0.27778, 0.17778, 0.01111, 0.1, 0.0],
        [0.1, 0.06944, 0.04444, 0.00278, 0.025, 0.0],
    ),
    "CosineAnnealingLR by epoch": (
        lambda o: sched.CosineAnnealingLR(o, 4, 0.01),
        [1, 2, 5, 3, 9],
        [0.4, 0.34289, 0.205, 0.06711, 0.06711, 0.34289],
        [0.1, 0.08682, 0.055, 0.02318, 0.02318, 0.08682],
    ),
    "CosineAnnealingWarmRestarts by epoch": (
        lambda o: sched.CosineAnnealingWarmRestarts(o, 3, 1, 0.01),
        [1, 2, 5, 3, 9],
        [0.4, 0.3025, 0.1075, 0.1075, 0.4, 0.4],
        [0.1, 0.0775, 0.0325, 0.0325, 0.1, 0.1],
    ),
    "ReduceLROnPlateau ": (
        lambda o: sched.ReduceLROnPlateau(o, patience=2),
        METRICS,
        [0.4, 0.4, 0.4, 0.4, 0.4, 0.04, 0.04, 0.04, 0.004, 0.004, 0.004, 0.004, 0.0004],
        [0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001, 0.001, 0.001, 0.0001],
    ),
    "ReduceLROnPlateau max": (
        lambda o: sched.ReduceLROnPlateau(o, mode="max", patience=1, factor=0.5),
        METRICS,
        [0.4, 0.4, 0.4, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125],
        [0.1, 0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125, 0.00625, 0.00625, 0.00313, 0.00313],
    ),
    "ReduceLROnPlateau abs": (
        lambda o: sched.ReduceLROnPlateau(o, threshold_mode="abs", threshold=0.05, patience=1, cooldown=2),
        METRICS,
        [0.4, 0.4, 0.4, 0.4, 0.04, 0.04, 0.04, 0.04, 0.004, 0.004, 0.004, 0.004, 0.0004],
        [0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.001, 0.001, 0.001, 0.001, 0.0001],
    ),
    "ReduceLROnPlateau min_lr": (
        lambda o: sched.ReduceLROnPlateau(o, patience=0, min_lr=[0.05, 0.02], factor=0.3),
        METRICS,
        [0.4, 0.4, 0.4, 0.12, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05],
        [0.1, 0.1, 0.1, 0.03, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_rates_are_those_of_mindspore(name: str) -> None:
    make, argument, first, second = CASES[name]
    optimizer = two_groups()
    scheduler = make(optimizer)
    results = [[float(rate) for rate in scheduler.get_last_lr()]]
    for step in range(len(first) - 1):
        result_of_step = scheduler.step(*([] if argument is None else [argument[step]]))
        assert result_of_step is (None if isinstance(scheduler, sched.SequentialLR) else True)
        results.append([float(group["lr"]) for group in optimizer.param_groups])
    # Five digits after the point were kept.
    np.testing.assert_allclose(results, np.transpose([first, second]), atol=6e-6, rtol=1e-5)
    assert [float(rate) for rate in scheduler.get_last_lr()] == results[-1]


def test_the_closed_form_of_milestones_counts_those_passed() -> None:
    optimizer = one_group()
    scheduler = sched.MultiStepLR(optimizer, [2, 5, 5], 0.5)
    scheduler.step(5)
    np.testing.assert_allclose(float(optimizer.param_groups[0]["lr"]), 0.1 * 0.5**3, rtol=1e-6)


def test_a_scheduler_of_the_users_own_reads_the_epoch_and_the_rates() -> None:
    class Third(sched.LRScheduler):
        def get_lr(self) -> Any:
            return [base / (1 + self.last_epoch) for base in self.base_lrs]

    optimizer = one_group()
    scheduler = Third(optimizer)
    scheduler.step()
    scheduler.step()
    np.testing.assert_allclose(float(scheduler.get_last_lr()[0]), 0.1 / 3, rtol=1e-6)


def test_a_plateaus_schedule_rests_after_a_reduction_as_long_as_it_was_told() -> None:
    scheduler = sched.ReduceLROnPlateau(one_group(), "min", 0.5, patience=1, cooldown=2)
    resting = []
    for metric in (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5):  # the third and the seventh reduce
        scheduler.step(metric)
        resting.append(scheduler.in_cooldown())
    assert resting == [False, False, True, True, False, False, True, True, False]  # MindSpore's


def test_training_can_go_on_at_an_epoch() -> None:
    optimizer = one_group()
    optimizer.param_groups[0]["initial_lr"] = 0.8
    scheduler = sched.ExponentialLR(optimizer, 0.5, last_epoch=3)
    assert float(scheduler.last_epoch) == 4.0
    np.testing.assert_allclose(float(optimizer.param_groups[0]["lr"]), 0.05, rtol=1e-6)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: sched.StepLR(3, 2), TypeError, "'optimizer'"),
    (lambda: sched.StepLR(nn.SGD([Parameter(wave(2), "w")], 0.1), 2), TypeError, "'optimizer'"),
    (lambda: sched.StepLR(one_group(), 2.5), TypeError, "'step_size'"),
    (lambda: sched.StepLR(one_group(), 2, 1), TypeError, "'gamma'"),
    (lambda: sched.StepLR(one_group(), 2, 0.1, -2), ValueError, "'last_epoch'"),
    (lambda: sched.StepLR(one_group(), 2, 0.1, 1.5), TypeError, "'last_epoch'"),
    (lambda: sched.StepLR(one_group(), 2, 0.1, 3), KeyError, "initial_lr"),
    (lambda: sched.MultiStepLR(one_group(), (1, 2)), TypeError, "'milestones'"),
    (lambda: sched.MultiStepLR(one_group(), [1.5]), TypeError, "'milestones'"),
    (lambda: sched.MultiStepLR(one_group(), [1], "a"), TypeError, "'gamma'"),
    (lambda: sched.ExponentialLR(one_group(), 1), TypeError, "'gamma'"),
    (lambda: sched.LinearLR(one_group(), 0.0), ValueError, "'start_factor'"),
    (lambda: sched.LinearLR(one_group(), 0.5, 1.5), ValueError, "'end_factor'"),
    (lambda: sched.LinearLR(one_group(), total_iters=2.0), TypeError, "'total_iters'"),
    (lambda: sched.PolynomialLR(one_group(), power=1), TypeError, "'power'"),
    (lambda: sched.PolynomialLR(one_group(), power=-1.0), ValueError, "'power'"),
    (lambda: sched.ConstantLR(one_group(), 1.5), ValueError, "'factor'"),
    (lambda: sched.ConstantLR(one_group(), total_iters=1.0), TypeError, "'total_iters'"),
    (lambda: sched.LambdaLR(one_group(), [lambda e: 1, lambda e: 2]), ValueError, "'lr_lambda'"),
    (lambda: sched.MultiplicativeLR(one_group(), [lambda e: 1, lambda e: 2]), ValueError, "'lr_lambda'"),
    (lambda: (lambda o: sched.SequentialLR(o, [sched.StepLR(o, 2)], [3]))(one_group()), ValueError, "'milestones'"),
    (
        lambda: (lambda o: sched.SequentialLR(o, [sched.StepLR(o, 2), sched.StepLR(one_group(), 2)], [3]))(one_group()),
        ValueError,
        "scheduler 1 is of another optimizer",
    ),
    (lambda: sched.ReduceLROnPlateau(one_group(), factor=1.0), ValueError, "'factor'"),
    (lambda: sched.ReduceLROnPlateau(one_group(), mode="x"), ValueError, "'mode'"),
    (lambda: sched.ReduceLROnPlateau(one_group(), threshold_mode="x"), ValueError, "'threshold_mode'"),
    (lambda: sched.ReduceLROnPlateau(one_group(), min_lr=[1.0, 2.0]), ValueError, "'min_lr'"),
    (lambda: sched.ReduceLROnPlateau(3), TypeError, "'optimizer'"),
    (lambda: sched.CyclicLR(one_group(), 0.1, 0.5, mode="x"), ValueError, "'mode'"),
    (lambda: sched.CyclicLR(one_group(), [0.1, 0.2], 0.5), ValueError, "'base_lr'"),
    (lambda: sched.CosineAnnealingWarmRestarts(one_group(), 0), ValueError, "'T_0'"),
    (lambda: sched.CosineAnnealingWarmRestarts(one_group(), 2, 0), ValueError, "'T_mult'"),
    (lambda: sched.CosineAnnealingWarmRestarts(one_group(), 2, 1, "a"), TypeError, "'eta_min'"),
    (lambda: sched.CosineAnnealingLR(one_group(), 2.5), TypeError, "'T_max'"),
    (lambda: sched.CosineAnnealingLR(one_group(), 2, "a"), TypeError, "'eta_min'"),
    (lambda: sched.LRScheduler(one_group()), NotImplementedError, "LRScheduler does not define 'get_lr'"),
]


@pytest.mark.parametrize(("make", "error", "names"), REFUSED)
def test_a_scheduler_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda optimizer: sched.LambdaLR(optimizer, lambda epoch: 1.0),
        lambda optimizer: sched.MultiplicativeLR(optimizer, lambda epoch: 1.0),
        lambda optimizer: sched.CyclicLR(optimizer, 0.1, 0.2),
        lambda optimizer: sched.ReduceLROnPlateau(optimizer),
        lambda optimizer: sched.ExponentialLR(optimizer, 0.5),
    ],
)
def test_a_schedule_refuses_what_is_no_experimental_optimizer(make: Any) -> None:
    with pytest.raises(TypeError, match=r"'optimizer' must be of mindspore\.experimental\.optim, but got int"):
        make(1)


@pytest.mark.parametrize(
    ("make", "argument"),
    [(lambda o: sched.StepLR(o, 0), "step_size"), (lambda o: sched.CosineAnnealingLR(o, 0), "T_max")],
)
def test_a_length_of_no_epochs_is_refused_when_the_schedule_is_made(make: Any, argument: str) -> None:
    with pytest.raises(ValueError, match=f"'{argument}' must not be 0"):
        make(one_group())


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_a_cosine_that_is_followed_step_by_step_stays_on_its_curve(length: int) -> None:
    optimizer = one_group()
    scheduler = sched.CosineAnnealingLR(optimizer, length, 0.01)
    for epoch in range(1, 6 * length + 2):
        scheduler.step()
        expected = 0.01 + (0.1 - 0.01) * (1 + math.cos(math.pi * epoch / length)) / 2
        np.testing.assert_allclose(float(optimizer.param_groups[0]["lr"]), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("first", "times"), [(3, 1), (3, 2), (2, 3)])
def test_warm_restarts_by_epoch_begin_where_a_cycle_ends(first: int, times: int) -> None:
    optimizer = one_group()
    scheduler = sched.CosineAnnealingWarmRestarts(optimizer, first, times, 0.01)
    for epoch in (0, 1, first - 1, first, first + 1, first * (1 + times) - 1, first * (1 + times), 2.5, 20):
        begins, length = 0, first  # Loshchilov and Hutter 2017: cycles of first, first * times, first * times^2 ...
        while epoch >= begins + length:
            begins, length = begins + length, length * times
        scheduler.step(epoch)
        expected = 0.01 + (0.1 - 0.01) * (1 + math.cos(math.pi * (epoch - begins) / length)) / 2
        np.testing.assert_allclose(float(optimizer.param_groups[0]["lr"]), expected, rtol=1e-5)
        assert float(scheduler.T_cur) == epoch - begins and float(scheduler.T_i) == length


def test_a_plateau_counts_its_epochs_and_leaves_a_rate_that_would_change_by_eps_or_less() -> None:
    for eps, expected in ((0.25, 0.5), (0.2, 0.25)):
        optimizer = one_group()
        optimizer.param_groups[0]["lr"].set_data(Tensor(0.5))
        scheduler = sched.ReduceLROnPlateau(optimizer, factor=0.5, patience=0, eps=eps)
        for epoch in range(1, 3):
            scheduler.step(1.0)
            assert float(scheduler.last_epoch) == epoch
        assert float(optimizer.param_groups[0]["lr"]) == expected


@pytest.mark.parametrize(
    ("make", "rate"),
    [
        (lambda o: sched.ConstantLR(o, 1.0), 0.1),
        (lambda o: sched.ConstantLR(o, 0.0), 0.0),
        (lambda o: sched.LinearLR(o, 1.0, 0.5), 0.1),
        (lambda o: sched.LinearLR(o, 0.5, 0.0, 1), 0.05),
        (lambda o: sched.LinearLR(o, 0.5, 1.0), 0.05),
    ],
)
def test_a_factor_may_be_the_last_of_its_range(make: Any, rate: float) -> None:
    optimizer = one_group()
    make(optimizer)
    np.testing.assert_allclose(float(optimizer.param_groups[0]["lr"]), rate, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda o: sched.ConstantLR(o, 1.5), "'factor' must be from 0 to 1, but got 1.5"),
        (lambda o: sched.ConstantLR(o, -0.5), "'factor' must be from 0 to 1, but got -0.5"),
        (lambda o: sched.LinearLR(o, 1.5), "'start_factor' must be above 0 and at most 1, but got 1.5"),
        (lambda o: sched.LinearLR(o, 0.5, -0.5), "'end_factor' must be from 0 to 1, but got -0.5"),
    ],
)
def test_a_factor_outside_its_range_is_refused(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make(one_group())
