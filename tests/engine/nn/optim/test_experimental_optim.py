"""mindspore.experimental.optim against numbers recorded from MindSpore 2.10: steps, schedules, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, wave

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops
from hookscope.engine.experimental import optim

GRADIENTS = [(wave(2, 3, k=1.1 * i), wave(2, k=0.7 * i + 0.2)) for i in range(6)]


def weights() -> list[Parameter]:
    return [Parameter(wave(2, 3, k=0.5), "w"), Parameter(wave(2, k=1.0), "b")]


def steps(kind: str, groups: bool = False, **keywords: Any) -> list[Tensor]:
    """Return the parameters after six steps; in groups the first has its own learning rate, the second a decay."""
    parameters = weights()
    own: dict[str, Any] = {} if kind == "Rprop" else {"weight_decay": 0.2}
    first, second = ([p] for p in parameters)
    params: Any = [{"params": first, "lr": 0.02}, {"params": second, **own}] if groups else parameters
    optimizer = getattr(optim, kind)(params, **{"lr": 0.5 if kind == "Adadelta" else 0.05, **keywords})
    for gradients in GRADIENTS:
        assert optimizer(gradients) is True
    return [p.value() for p in parameters]


class Up(optim.Optimizer):
    """An optimizer of a user's own, which walks through the groups."""

    def __init__(self, params: Any, lr: float) -> None:
        super().__init__(params, {"lr": lr})

    def construct(self, gradients: Any) -> None:
        for number, group in enumerate(self.param_groups):
            start = self.group_start_id[number]
            for i, p in enumerate(group["params"]):
                ops.assign(p, p + gradients[start + i] * group["lr"])


def steps_of_ones_own() -> list[Tensor]:
    parameters = weights()
    optimizer = Up(parameters, 0.1)
    for gradients in GRADIENTS:
        optimizer(gradients)
    return [p.value() for p in parameters]


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("Adam", {}),
    ("Adam", {"betas": (0.8, 0.9), "eps": 1e-06, "weight_decay": 0.1}),
    ("Adam", {"maximize": True}),
    ("Adam", {"groups": True}),
    ("AdamW", {}),
    ("AdamW", {"betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("AdamW", {"amsgrad": True, "betas": (0.8, 0.9)}),
    ("AdamW", {"maximize": True}),
    ("AdamW", {"groups": True}),
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"weight_decay": 0.1, "momentum": 0.5}),
    ("SGD", {"maximize": True}),
    ("SGD", {"groups": True}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.8, "weight_decay": 0.1}),
    ("Adadelta", {"maximize": True}),
    ("Adadelta", {"groups": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.3, "weight_decay": 0.1}),
    ("Adagrad", {"maximize": True}),
    ("Adagrad", {"groups": True}),
    ("Adamax", {}),
    ("Adamax", {"betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("Adamax", {"maximize": True}),
    ("Adamax", {"groups": True}),
    ("ASGD", {}),
    ("ASGD", {"lambd": 0.01, "alpha": 0.5, "t0": 2.0}),
    ("ASGD", {"weight_decay": 0.1, "maximize": True}),
    ("ASGD", {"groups": True}),
    ("NAdam", {}),
    ("NAdam", {"betas": (0.8, 0.9), "weight_decay": 0.1, "momentum_decay": 0.01}),
    ("NAdam", {"groups": True}),
    ("RAdam", {}),
    ("RAdam", {"betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("RAdam", {"groups": True}),
    ("RMSprop", {}),
    ("RMSprop", {"alpha": 0.9, "momentum": 0.5}),
    ("RMSprop", {"centered": True, "alpha": 0.9}),
    ("RMSprop", {"weight_decay": 0.1, "maximize": True}),
    ("RMSprop", {"groups": True}),
    ("Rprop", {}),
    ("Rprop", {"etas": (0.4, 1.5), "step_sizes": (0.001, 0.1)}),
    ("Rprop", {"maximize": True}),
    ("Rprop", {"groups": True}),
]
CASES: dict[str, Callable[[], Any]] = {
    **{f"{kind} {named}": partial(steps, kind, **named) for kind, named in STEPS},
    "one's own": steps_of_ones_own,
}


@pytest.mark.parametrize("name", CASES)
def test_six_steps_give_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


def test_amsgrad_divides_by_the_largest_moment_so_far() -> None:
    w = Parameter(Tensor(np.array([1.0], np.float64)), "w")
    optimizer = optim.Adam([w], lr=0.1, betas=(0.5, 0.5), amsgrad=True)
    p, m, v, most = 1.0, 0.0, 0.0, 0.0
    for t, g in enumerate((4.0, 0.1, 0.2), 1):
        optimizer((Tensor(np.array([g])),))
        m, v = 0.5 * m + 0.5 * g, 0.5 * v + 0.5 * g * g
        most = max(most, v)
        p -= 0.1 * math.sqrt(1 - 0.5**t) / (1 - 0.5**t) * m / (math.sqrt(most) + 1e-8)
    np.testing.assert_allclose(w.asnumpy(), [p], rtol=1e-6)


STATE = {
    "Adam": "exp_avg.w exp_avg.b exp_avg_sq.w exp_avg_sq.b max_exp_avg_sq.w max_exp_avg_sq.b state_step",
    "AdamW": "exp_avg.w exp_avg.b exp_avg_sq.w exp_avg_sq.b max_exp_avg_sq.w max_exp_avg_sq.b state_step",
    "SGD": "accum.w accum.b stat.w stat.b",
    "Adadelta": "accum.w accum.b accum_update.w accum_update.b",
    "Adagrad": "accum.w accum.b step_t",
    "Adamax": "step_t exp_avg.w exp_avg.b exp_inf.w exp_inf.b",
    "ASGD": "ax.w ax.b step_t",
    "NAdam": "step_t exp_avg.w exp_avg.b exp_avg_sq.w exp_avg_sq.b",
    "RAdam": "step_t exp_avg.w exp_avg.b exp_avg_sq.w exp_avg_sq.b",
    "RMSprop": "mean_grad.w mean_grad.b mean_square.w mean_square.b moment.w moment.b",
    "Rprop": "prev.w prev.b step_size.w step_size.b step_t",
}


# States that MindSpore has under these names, too, but omits from its checkpoints.
UNSAVED = {"ASGD": "mu_w mu_b eta_w eta_b", "NAdam": "mu_product_w mu_product_b"}


@pytest.mark.parametrize("kind", STATE)
def test_the_state_has_the_names_of_mindspore(kind: str) -> None:
    results = [p.name for p in getattr(optim, kind)(weights(), lr=0.1).get_parameters()]
    unsaved = UNSAVED.get(kind, "").split()
    assert [name for name in results if name not in unsaved] == ["w", "b", *STATE[kind].split()]
    assert set(unsaved) <= set(results)


def test_a_group_behind_the_first_knows_how_many_steps_were_before_it() -> None:
    early, late = weights()
    optimizer = optim.Adam([early])
    optimizer(GRADIENTS[0][:1])
    assert not any("before" in p.name for p in optimizer.get_parameters())
    optimizer.add_param_group({"params": late})
    results = {p.name: p for p in optimizer.get_parameters()}
    assert results["steps_before_group_1"].asnumpy() == 1


def test_an_optimizer_prints_its_groups() -> None:
    assert repr(optim.Adam(weights(), lr=0.05)) == (
        "Adam (\nParameter Group 0\n    amsgrad: False\n    betas: (0.9, 0.999)\n    eps: 1e-08\n    lr: 0.05\n"
        "    maximize: False\n    weight_decay: 0.0\n)"
    )


def test_a_group_can_be_added_and_its_rate_changed() -> None:
    first, second = weights()
    optimizer = optim.SGD([first], 0.1)
    optimizer.add_param_group({"params": second, "lr": 0.3})
    assert (len(optimizer.parameters), optimizer.group_start_id) == (2, [0, 1, 2])
    before = second.asnumpy()
    ops.assign(optimizer.param_groups[1]["lr"], Tensor(0.5))
    optimizer(GRADIENTS[0])
    np.testing.assert_allclose(second.asnumpy(), before - 0.5 * GRADIENTS[0][1].asnumpy(), rtol=1e-6)
    # A number in its place works too.
    optimizer.param_groups[1]["lr"] = 0.25
    before = second.asnumpy()
    optimizer(GRADIENTS[0])
    np.testing.assert_allclose(second.asnumpy(), before - 0.25 * GRADIENTS[0][1].asnumpy(), rtol=1e-6)


FRESH = [(kind, named) for kind, named in STEPS if not named.get("groups")]


@pytest.mark.parametrize(("kind", "keywords"), FRESH)
def test_a_group_added_later_begins_like_a_new_one(kind: str, keywords: dict[str, Any]) -> None:
    # MindSpore's numbers are those of an optimizer that has these parameters from the start.
    def after_two_steps() -> list[Tensor]:
        early, parameters = Parameter(wave(3, k=2.0), "early"), weights()
        optimizer = getattr(optim, kind)([early], **{"lr": 0.5 if kind == "Adadelta" else 0.05, **keywords})
        for _ in range(2):
            optimizer([wave(3, k=0.1)])
        optimizer.add_param_group({"params": parameters})
        for gradients in GRADIENTS:
            optimizer((wave(3, k=0.1), *gradients))
        return [p.value() for p in parameters]

    check(__file__, f"{kind} {keywords}", after_two_steps)


def test_a_gradient_of_another_shape_changes_no_parameter() -> None:
    first, second = weights()
    optimizer = optim.SGD([first, second], 0.1)
    before = first.asnumpy()
    with pytest.raises(ValueError, match=r"the gradient of 'b' must have the shape \(2,\), but got \(3,\)"):
        optimizer((wave(2, 3), wave(3)))
    np.testing.assert_array_equal(first.asnumpy(), before)


def test_a_step_changes_no_value_that_is_held_elsewhere() -> None:
    for kind in STATE:
        parameters = weights()
        optimizer = getattr(optim, kind)(parameters, lr=0.1)
        optimizer(GRADIENTS[0])
        storages = [p._array for p in optimizer.get_parameters()]
        copies = [x.copy() for x in storages]
        optimizer(GRADIENTS[1])
        for now, before in zip(storages, copies, strict=True):
            np.testing.assert_array_equal(now, before)
        assert all(p.dtype == ms.float32 for p in parameters)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    *((lambda kind=kind: getattr(optim, kind)(weights(), lr=-1.0), ValueError, "'lr'") for kind in STATE),
    *((lambda kind=kind: getattr(optim, kind)(weights(), lr="a"), TypeError, "'lr'") for kind in STATE),
    *((lambda kind=kind: getattr(optim, kind)([], lr=0.1), ValueError, "'params' is empty") for kind in STATE),
    *((lambda kind=kind: getattr(optim, kind)(3, lr=0.1), TypeError, "'params'") for kind in STATE),
    (lambda: optim.Adam(None), ValueError, "'params'"),
    (lambda: optim.Adam(weights(), weight_decay=-1.0), ValueError, "'weight_decay'"),
    (lambda: optim.Adam(weights(), betas=(1.0, 0.9)), ValueError, r"'betas\[0\]' must be at least 0 and below 1"),
    (lambda: optim.NAdam(weights(), betas=(0.9, 1.0)), ValueError, r"'betas\[1\]'"),
    (lambda: optim.Adam(weights(), eps=-1.0), ValueError, "'eps'"),
    (lambda: optim.SGD(weights(), 0.1, nesterov=True), ValueError, "'nesterov' needs 'momentum' above 0"),
    (lambda: optim.SGD(weights(), 0.1, momentum=-1.0), ValueError, "'momentum'"),
    (lambda: optim.SGD(weights(), 0.1, nesterov=1), TypeError, "'nesterov' must be a bool"),
    (lambda: optim.SGD(weights(), 0.1, maximize=1), TypeError, "'maximize' must be a bool"),
    (lambda: optim.SGD(weights(), Tensor([0.1])), ValueError, "."),
    (lambda: optim.Rprop(weights(), etas=(1.2, 1.5)), ValueError, r"'etas\[0\]'"),
    (lambda: optim.Rprop(weights(), etas=(0.5, 0.9)), ValueError, r"'etas\[1\]' must be above 1"),
    (lambda: optim.Adadelta(weights(), rho=1.1), ValueError, "'rho' must be from 0 to 1"),
    (lambda: optim.ASGD(weights(), lambd=1), TypeError, "'lambd' must be a float"),
    (lambda: optim.ASGD(weights(), t0=1), TypeError, "'t0' must be a float"),
    (lambda: optim.Adam([{"params": set(weights())}]), TypeError, "must have an order"),
    (lambda: optim.Adam([Tensor(1.0)]), TypeError, "must hold Parameters, but got Tensor"),
    (lambda: optim.Adam([{"params": (w := weights())}, {"params": w[:1]}]), ValueError, "'w' is in more than one"),
    (lambda: optim.Adam(weights(), eps="a"), TypeError, "For 'Adam', 'eps' must be a number, but got str"),
    (lambda: optim.ASGD(weights(), lr=0.0), ValueError, "'lr' must be above 0, but got 0.0"),
    (lambda: optim.Rprop(weights(), lr=0.0), ValueError, "'lr' must be above 0, but got 0.0"),
    (lambda: optim.Rprop(weights(), etas=(0.0, 1.2)), ValueError, r"'etas\[0\]' must be above 0 and below 1, but"),
    (lambda: optim.Rprop(weights(), etas=(1.0, 1.2)), ValueError, r"'etas\[0\]' must be above 0 and below 1, but"),
    (lambda: optim.Rprop(weights(), etas=(0.5, 1.0)), ValueError, r"'etas\[1\]' must be above 1, but got 1"),
    *(
        (lambda kind=kind: getattr(optim, kind)(weights(), eps=0.0), ValueError, "'eps' must be above 0, but got 0.0")
        for kind in ("Adamax", "NAdam", "RAdam")
    ),
    (lambda: optim.SGD(weights(), 0.1)(GRADIENTS[0][:1]), RuntimeError, "there must be 2 gradients, but got 1"),
]


def test_adam_may_have_a_rate_of_0_and_nothing_beside_the_root() -> None:
    parameters = weights()
    optim.Adam(parameters, lr=0.0)(GRADIENTS[1])
    np.testing.assert_array_equal(parameters[0].asnumpy(), weights()[0].asnumpy())
    optim.Adam(parameters, lr=0.5, eps=0.0)(GRADIENTS[1])  # the first step is the rate, with the gradient's sign
    for parameter, before, gradient in zip(parameters, weights(), GRADIENTS[1], strict=True):
        np.testing.assert_allclose(parameter.asnumpy(), before.asnumpy() - 0.5 * np.sign(gradient.asnumpy()), rtol=1e-5)


@pytest.mark.parametrize(("make", "error", "names"), REFUSED)
def test_an_optimizer_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()
