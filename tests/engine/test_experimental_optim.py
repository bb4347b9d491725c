"""mindspore.experimental.optim against numbers recorded from MindSpore 2.10: steps, schedules, and what they refuse."""

from __future__ import annotations

import math
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


def steps(kind: str, groups: bool = False, **named: Any) -> list[Tensor]:
    """The parameters after six steps; in groups the first has its own learning rate, the second its own decay."""
    given = weights()
    own: dict[str, Any] = {} if kind == "Rprop" else {"weight_decay": 0.2}
    first, second = ([p] for p in given)
    params: Any = [{"params": first, "lr": 0.02}, {"params": second, **own}] if groups else given
    optimizer = getattr(optim, kind)(params, **{"lr": 0.5 if kind == "Adadelta" else 0.05, **named})
    for gradients in GRADIENTS:
        assert optimizer(gradients) is True
    return [p.value() for p in given]


STEPS: list[tuple[str, dict[str, Any], str]] = [
    ("Adam", {}, "2x3 -0.84838 0.37271; 2 0.98152 0.58511"),
    ("Adam", {"betas": (0.8, 0.9), "eps": 1e-06, "weight_decay": 0.1}, "2x3 -0.89087 0.32553; 2 0.97958 0.582"),
    ("Adam", {"maximize": True}, "2x3 -0.92819 0.58614; 2 1.76032 1.09783"),
    ("Adam", {"groups": True}, "2x3 -0.87232 0.43674; 2 0.96054 0.57189"),
    ("AdamW", {}, "2x3 -0.84587 0.37145; 2 0.97796 0.58294"),
    ("AdamW", {"betas": (0.8, 0.9), "weight_decay": 0.1}, "2x3 -0.83697 0.37243; 2 0.957 0.56826"),
    ("AdamW", {"amsgrad": True, "betas": (0.8, 0.9)}, "2x3 -0.85947 0.3849; 2 0.99159 0.58983"),
    ("AdamW", {"maximize": True}, "2x3 -0.92537 0.58453; 2 1.75566 1.09495"),
    ("AdamW", {"groups": True}, "2x3 -0.87128 0.43619; 2 0.91209 0.54281"),
    ("SGD", {}, "2x3 -0.86589 0.48518; 2 1.20419 0.72454"),
    ("SGD", {"momentum": 0.9}, "2x3 -0.86337 0.30498; 2 0.64457 0.3747"),
    ("SGD", {"momentum": 0.9, "dampening": 0.3}, "2x3 -0.77594 0.35731; 2 0.82802 0.50077"),
    ("SGD", {"momentum": 0.9, "nesterov": True}, "2x3 -0.84346 0.32818; 2 0.55048 0.30445"),
    ("SGD", {"weight_decay": 0.1, "momentum": 0.5}, "2x3 -0.85401 0.41686; 2 0.95601 0.56582"),
    ("SGD", {"maximize": True}, "2x3 -0.91068 0.47367; 2 1.53764 0.9584"),
    ("SGD", {"groups": True}, "2x3 -0.87932 0.48173; 2 1.13095 0.67963"),
    ("Adadelta", {}, "2x3 -0.88763 0.47983; 2 1.36151 0.83435"),
    ("Adadelta", {"rho": 0.8, "weight_decay": 0.1}, "2x3 -0.8884 0.47834; 2 1.36367 0.83609"),
    ("Adadelta", {"maximize": True}, "2x3 -0.88894 0.47902; 2 1.38033 0.8486"),
    ("Adadelta", {"groups": True}, "2x3 -0.88826 0.47944; 2 1.36012 0.83359"),
    ("Adagrad", {}, "2x3 -0.881 0.45398; 2 1.16102 0.69103"),
    (
        "Adagrad",
        {"lr_decay": 0.1, "initial_accumulator_value": 0.3, "weight_decay": 0.1},
        "2x3 -0.86649 0.44535; 2 1.21568 0.73757",
    ),
    ("Adagrad", {"maximize": True}, "2x3 -0.89557 0.50487; 2 1.58082 0.99191"),
    ("Adagrad", {"groups": True}, "2x3 -0.88537 0.46925; 2 1.14847 0.68528"),
    ("Adamax", {}, "2x3 -0.824 0.4017; 2 1.06222 0.64426"),
    ("Adamax", {"betas": (0.8, 0.9), "weight_decay": 0.1}, "2x3 -0.86643 0.34534; 2 1.02889 0.62063"),
    ("Adamax", {"maximize": True}, "2x3 -0.95256 0.55715; 2 1.67961 1.03868"),
    ("Adamax", {"groups": True}, "2x3 -0.86257 0.44833; 2 1.0399 0.62965"),
    ("ASGD", {}, "2x3 -0.86586 0.48517; 2 1.20415 0.72452"),
    ("ASGD", {"lambd": 0.01, "alpha": 0.5, "t0": 2.0}, "2x3 -0.86326 0.4838; 2 1.20047 0.72228"),
    ("ASGD", {"weight_decay": 0.1, "maximize": True}, "2x3 -0.88414 0.45828; 2 1.49347 0.93126"),
    ("ASGD", {"groups": True}, "2x3 -0.87931 0.48172; 2 1.13091 0.67961"),
    ("NAdam", {}, "2x3 -0.87366 0.45695; 2 1.1151 0.65777"),
    (
        "NAdam",
        {"betas": (0.8, 0.9), "weight_decay": 0.1, "momentum_decay": 0.01},
        "2x3 -0.90707 0.39396; 2 1.0773 0.63336",
    ),
    ("NAdam", {"groups": True}, "2x3 -0.88243 0.47044; 2 1.09424 0.64735"),
    ("RAdam", {}, "2x3 -0.82249 0.40511; 2 1.14727 0.70751"),
    ("RAdam", {"betas": (0.8, 0.9), "weight_decay": 0.1}, "2x3 -0.8137 0.39867; 2 1.10547 0.67881"),
    ("RAdam", {"groups": True}, "2x3 -0.86197 0.4497; 2 1.08116 0.66676"),
    ("RMSprop", {}, "2x3 -0.81421 0.22921; 2 -0.72791 -0.66344"),
    ("RMSprop", {"alpha": 0.9, "momentum": 0.5}, "2x3 -0.94275 0.23835; 2 0.01291 -0.11396"),
    ("RMSprop", {"centered": True, "alpha": 0.9}, "2x3 -0.86047 0.39431; 2 0.6314 0.31187"),
    ("RMSprop", {"weight_decay": 0.1, "maximize": True}, "2x3 -1.24794 0.16102; 2 3.11743 2.12686"),
    ("RMSprop", {"groups": True}, "2x3 -0.85865 0.37934; 2 -0.50976 -0.49322"),
    ("Rprop", {}, "2x3 -0.88521 0.43543; 2 0.87716 0.46939"),
    ("Rprop", {"etas": (0.4, 1.5), "step_sizes": (0.001, 0.1)}, "2x3 -0.8858 0.42943; 2 0.79193 0.41647"),
    ("Rprop", {"maximize": True}, "2x3 -0.89136 0.52343; 2 1.86467 1.21355"),
    ("Rprop", {"groups": True}, "2x3 -0.88705 0.46183; 2 0.87716 0.46939"),
]


@pytest.mark.parametrize(("kind", "named", "want"), STEPS)
def test_six_steps_give_the_numbers_of_mindspore(kind: str, named: dict[str, Any], want: str) -> None:
    check(lambda: steps(kind, **named), want)


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


@pytest.mark.parametrize("kind", STATE)
def test_the_state_has_the_names_of_mindspore(kind: str) -> None:
    found = [p.name for p in getattr(optim, kind)(weights(), lr=0.1).get_parameters()]
    assert found == ["w", "b", *STATE[kind].split()]


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


FRESH = [(kind, named, want) for kind, named, want in STEPS if not named.get("groups")]


@pytest.mark.parametrize(("kind", "named", "want"), FRESH)
def test_a_group_added_later_begins_like_a_new_one(kind: str, named: dict[str, Any], want: str) -> None:
    # MindSpore's numbers are those of an optimizer that has these parameters from the start.
    def after_two_steps() -> list[Tensor]:
        early, given = Parameter(wave(3, k=2.0), "early"), weights()
        optimizer = getattr(optim, kind)([early], **{"lr": 0.5 if kind == "Adadelta" else 0.05, **named})
        for _ in range(2):
            optimizer([wave(3, k=0.1)])
        optimizer.add_param_group({"params": given})
        for gradients in GRADIENTS:
            optimizer((wave(3, k=0.1), *gradients))
        return [p.value() for p in given]

    check(after_two_steps, want)


def test_a_gradient_of_another_shape_changes_no_parameter() -> None:
    first, second = weights()
    optimizer = optim.SGD([first, second], 0.1)
    before = first.asnumpy()
    with pytest.raises(ValueError, match=r"the gradient of 'b' must have the shape \(2,\), but got \(3,\)"):
        optimizer((wave(2, 3), wave(3)))
    np.testing.assert_array_equal(first.asnumpy(), before)


def test_an_optimizer_of_the_users_own_walks_through_the_groups() -> None:
    class Up(optim.Optimizer):
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        def construct(self, gradients: Any) -> None:
            for number, group in enumerate(self.param_groups):
                start = self.group_start_id[number]
                for i, p in enumerate(group["params"]):
                    ops.assign(p, p + gradients[start + i] * group["lr"])

    given = weights()
    optimizer = Up(given, 0.1)
    for gradients in GRADIENTS:
        optimizer(gradients)
    check(lambda: [p.value() for p in given], "2x3 -0.93307 0.46791; 2 1.70437 1.07533")


def test_a_step_changes_no_value_that_is_held_elsewhere() -> None:
    for kind in STATE:
        given = weights()
        optimizer = getattr(optim, kind)(given, lr=0.1)
        optimizer(GRADIENTS[0])
        held = [p._array for p in optimizer.get_parameters()]
        copies = [x.copy() for x in held]
        optimizer(GRADIENTS[1])
        for now, before in zip(held, copies, strict=True):
            np.testing.assert_array_equal(now, before)
        assert all(p.dtype == ms.float32 for p in given)


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
    (lambda: optim.SGD(weights(), 0.1)(GRADIENTS[0][:1]), RuntimeError, "there must be 2 gradients, but got 1"),
]


@pytest.mark.parametrize(("make", "error", "names"), REFUSED)
def test_an_optimizer_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()
