"""Conditions: what they look for, when a hit counts, and the findings made of hits."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from debug_networks import scripted, tensor

from hookscope.engine import Tensor, grad, nn, ops, value_and_grad
from hookscope.engine.debug import CONDITIONS, DebugSession, Finding, Findings
from hookscope.engine.debug.diagnose.conditions import parse_conditions
from hookscope.engine.debug.diagnose.conditions.network import LossObservation
from hookscope.engine.debug.diagnose.conditions.parameters import UpdateObservation

ROOT = Path(__file__).parents[4]


def ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


def random_values(seed: int, *shape: int) -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def mlp() -> nn.SequentialCell:
    return nn.SequentialCell([nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2)])


def train(
    net: nn.Cell,
    steps: int,
    *,
    loss: Callable[[Any], Any] | None = None,
    optimizer: Any = None,
    weights: Any = None,
    **options: Any,
) -> DebugSession:
    """Take a few steps on one batch under a session."""
    optimizer = optimizer or nn.SGD(net.trainable_params(), 0.05)
    step = value_and_grad(loss or (lambda x: (net(x) ** 2).mean()), None, weights or optimizer.parameters)
    by_name = {parameter.name: index for index, parameter in enumerate(weights or optimizer.parameters)}
    net.set_train()
    with DebugSession(net, **{"conditions": ["all"], **options}) as session:
        for number in range(steps):
            _, gradients = step(random_values(number % 3, 16, 4))
            optimizer(tuple(gradients[by_name[parameter.name]] for parameter in optimizer.parameters))
    return session


def findings_of(session: DebugSession) -> list[tuple[str, str]]:
    return [(finding.condition, finding.path) for finding in session.findings()]


# Texts


def test_all_is_every_row() -> None:
    assert parse_conditions(["all"]) == list(CONDITIONS.values())


def test_a_later_text_replaces_an_earlier_one() -> None:
    rows = {row.name: row for row in parse_conditions(["all", "exploding_gradient=5"])}
    assert len(rows) == len(CONDITIONS) and rows["exploding_gradient"].threshold == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"conditions": ["deadrelu"]}, "conditions 'deadrelu': no such condition; the nearest is 'dead_relu'"),
        ({"stop_on": ["deadrelu"]}, "stop_on 'deadrelu': no such condition; the nearest is 'dead_relu'"),
        ({"conditions": ["all=3"]}, "'all' takes no threshold, since not all it names have one"),
        ({"conditions": ["if norm >"]}, "conditions 'if norm >': expression 'norm >': invalid syntax"),
        ({"stop_on": ["if nrm > 3"]}, "the name 'nrm' is unknown here; the nearest is 'norm'"),
    ],
)
def test_a_faulty_text_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        DebugSession(nn.ReLU(), **options)
    assert len(str(error.value).splitlines()) == 1


def test_each_row_says_what_it_means_what_to_do_and_where_its_default_comes_from() -> None:
    for name, row in CONDITIONS.items():
        assert row.name == name and row.group in ("data", "loss", "optimizer", "values", "parameters", "network")
        assert row.meaning and not row.meaning.endswith(".") and row.source
        assert row.advice.endswith(".") and row.advice.count(". ") == 0


def test_the_page_on_conditions_has_the_name_the_default_and_the_advice_of_each() -> None:
    described = (ROOT / "docs" / "conditions.md").read_text().partition("<!-- measured -->")[0]
    lines = described.splitlines()
    table = {line.split("|")[1].strip(" `"): line for line in lines if line.startswith("| `")}
    for name, row in CONDITIONS.items():
        cells = [cell.strip() for cell in table[name].split("|")]
        assert row.advice in cells, name
        assert ("" if np.isnan(row.threshold) else f"{row.threshold:g}") in cells, name


def test_the_page_says_for_each_condition_when_it_is_silent_on_purpose() -> None:
    page = (ROOT / "docs" / "conditions.md").read_text(encoding="utf-8")
    section = page.partition("\n## When a condition is silent on purpose\n")[2].partition("\n## ")[0]
    _, _, *rows = (line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|"))
    assert sorted(name for name, _ in rows) == sorted(CONDITIONS)
    assert all(text.endswith(".") for _, text in rows)


# Own conditions


def test_an_expression_of_ones_own_sees_the_value_and_what_it_is() -> None:
    net = nn.SequentialCell([nn.ReLU(), nn.Tanh()])
    text = "if (direction, slot, path, zeros, count) == ('forward', 'output', '0', 2, 3) and maximum > 1"
    with DebugSession(net, conditions=[text]) as session:
        net(tensor(-1.0, 0.0, 3.0))
    (hit,) = session.hits
    assert hit.message == f"{text} in 0#0 forward output (it is true)" and hit.condition.name == text
    assert session.captures[1].hits == [text]


def test_an_expression_counts_what_is_not_finite() -> None:
    with DebugSession(nn.ReLU(), conditions=["if nan == 1 and inf == 2"], watch=["."]) as session:
        nn.SequentialCell([session.roots[0]])(tensor(np.nan, np.inf, -np.inf, 0.0))
    assert [hit.subject for hit in session.hits] == ["(root)#0 forward input[0]"]


def test_an_expression_that_fails_is_told_once_and_the_run_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    net = nn.ReLU()
    with DebugSession(net, stop_on=["if value.no_such_thing"]) as session:
        net(tensor(1.0))
        net(tensor(1.0))
    assert session.hits == []
    output = capsys.readouterr().err
    assert output.count("no_such_thing") == 2 and len(output.splitlines()) == 1  # in the condition and in its error


def test_an_expression_pauses_the_run() -> None:
    session, script = scripted(nn.ReLU(), stop_on=["if slot == 'output' and maximum > 2"])
    with session:
        session.roots[0](tensor(1.0))
        session.roots[0](tensor(3.0))
    (point,) = script.points
    assert point.kind == "condition" and "maximum > 2" in point.reason


# Values


def test_what_may_happen_once_counts_when_it_happens_in_three_steps() -> None:
    net = nn.ReLU()
    with DebugSession(net, conditions=["dead_relu"]) as session:
        for value in (-1.0, -1.0, 1.0, -1.0, -1.0):
            net(tensor(value, value))
        assert session.hits == []
        net(tensor(-1.0, -1.0))
        assert [hit.step for hit in session.hits] == [6]


def test_with_fewer_steps_it_counts_if_it_held_in_each() -> None:
    net = nn.ReLU()
    with DebugSession(net, conditions=["dead_relu"]) as session:
        net(tensor(-1.0, -1.0))
        assert list(session.findings()) == []
    assert findings_of(session) == [("dead_relu", "")]
    with DebugSession(net, conditions=["dead_relu"]) as session:
        net(tensor(1.0, 1.0))
        net(tensor(-1.0, -1.0))
    assert findings_of(session) == []


@pytest.mark.parametrize(("last", "expected"), [(nn.Dense(2, 2), [("saturated_sigmoid", "0")]), (nn.ReLU(), [])])
def test_a_sigmoid_at_its_ends_is_a_fault_only_inside_the_network(
    last: nn.Cell, expected: list[tuple[str, str]]
) -> None:
    net = nn.SequentialCell([nn.Sigmoid(), last])
    with DebugSession(net, conditions=["saturated"]) as session:
        for _ in range(4):
            net(tensor(50.0, -50.0).reshape(1, 2))
    assert findings_of(session) == expected


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_gradients_are_large_or_small_against_the_first_one(scale: float) -> None:
    class Grow(nn.Cell):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def construct(self, x: Any) -> Any:
            return x * self.factor

    def run(factor: float) -> list[tuple[str, str]]:
        net = nn.SequentialCell([Grow(factor), Grow(1.0)])
        with DebugSession(net, conditions=["vanishing_gradient", "exploding_gradient"]) as session:
            for _ in range(3):
                grad(lambda x: net(x).sum() * scale)(tensor(1.0, 2.0))
        return findings_of(session)

    assert run(2.0) == []
    assert run(1e4) == [("exploding_gradient", "0")]
    assert run(1e-9) == [("vanishing_gradient", "0")]


def test_the_lowest_number_is_taken_for_a_mask() -> None:
    lowest = float(np.finfo(np.float16).min)
    net = nn.SequentialCell([nn.Softmax(-1)])
    with DebugSession(net, conditions=["overflow"]) as session:
        net(Tensor(np.array([[1.0, lowest]], np.float16)))
        assert session.hits == []
        net(Tensor(np.array([[-1.0, -lowest]], np.float16)))
        assert [hit.subject for hit in session.hits] == ["0#0 forward input[0]"]


# Parameters


def test_a_healthy_training_has_no_findings_and_its_history() -> None:
    session = train(mlp(), 12)
    assert str(session.findings()) == "nothing found" and session.hits == []
    history = session.history
    assert [step for step, _ in history.losses] == list(range(1, 13))
    assert history.losses[-1][1] < history.losses[0][1]
    assert set(history.gradient_norms) == set(history.update_ratios) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert len(history.update_ratios["0.weight"]) == 12


def test_the_history_has_the_figures_by_their_definitions() -> None:
    net = nn.Dense(4, 2)
    before = net.weight.asnumpy().astype(np.float64)
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with DebugSession(net, conditions=["update_too_large"]) as session:
        loss, gradients = step(ones(2, 4))
        net.weight.set_data(net.weight - gradients[0] * 0.5)
    change = net.weight.asnumpy() - before
    assert session.history.losses[0] == (1, pytest.approx(float(loss)))
    assert session.history.gradient_norms["weight"][0][1] == pytest.approx(np.linalg.norm(gradients[0].asnumpy()))
    assert session.history.update_ratios["weight"][0][1] == pytest.approx(
        np.linalg.norm(change) / np.linalg.norm(before)
    )


def test_a_parameter_that_is_cut_off_from_the_loss_is_named() -> None:
    net = mlp()
    session = train(net, 4, loss=lambda x: (net[2](ops.stop_gradient(net[1](net[0](x)))) ** 2).mean())
    finding = session.findings()[0]
    assert (finding.condition, finding.path, finding.subject) == ("no_gradient", "0", "0.weight")
    assert "the loss does not depend on it" in finding.message


def test_a_frozen_parameter_and_one_that_nobody_asked_for_are_left_alone() -> None:
    net = mlp()
    for parameter in net[0].get_parameters():
        parameter.requires_grad = False
    assert findings_of(train(net, 6)) == []
    net = mlp()
    net[2].weight.set_data(net[2].weight * 1)  # a value was loaded before it was frozen
    net[2].weight.requires_grad = False
    assert findings_of(train(net, 6)) == []
    net = mlp()
    optimizer = nn.SGD(net[2].trainable_params(), 0.05)
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)
    net[2].set_train()
    with DebugSession(net, conditions=["all"]) as session:  # the body stays in prediction mode
        for number in range(8):
            _, gradients = step(random_values(number, 16, 4))
            optimizer(gradients)
    assert findings_of(session) == []


def test_a_parameter_that_the_optimizer_was_not_given_is_named() -> None:
    net = mlp()
    session = train(net, 5, optimizer=nn.SGD(net[2].trainable_params(), 0.05), weights=net.trainable_params())
    assert findings_of(session) == [("unchanged_weight", "0")]
    (finding,) = session.findings()
    assert (finding.first_step, finding.subject) == (3, "0.weight")


def test_a_trainable_parameter_in_training_that_is_never_asked_for_is_named() -> None:
    net = mlp()
    session = train(net, 8, optimizer=nn.SGD(net[2].trainable_params(), 0.05))
    assert findings_of(session) == [("unchanged_weight", "0")]


def test_gradients_that_are_gathered_over_steps_are_no_fault() -> None:
    net = mlp()
    parameters = net.trainable_params()
    optimizer = nn.SGD(parameters, 0.02)
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, parameters)
    net.set_train()
    with DebugSession(net, conditions=["all"]) as session:
        for number in range(5):
            sums = [0.0] * len(parameters)
            for part in range(4):
                _, gradients = step(random_values(4 * number + part, 16, 4))
                sums = [total + gradient for total, gradient in zip(sums, gradients, strict=True)]
            optimizer(tuple(sums))
    assert findings_of(session) == []


@pytest.mark.parametrize(("rate", "name"), [(1e3, "update_too_large"), (1e-12, "update_too_small")])
def test_a_learning_rate_that_is_far_off_is_named(rate: float, name: str) -> None:
    net = mlp()
    session = train(net, 4, optimizer=nn.SGD(net.trainable_params(), rate))
    assert session.findings()[0].condition == name


def test_an_update_is_judged_before_the_next_forward_pass() -> None:
    net = nn.Dense(4, 2)
    step = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    with DebugSession(net, conditions=["update_too_large"]) as session:
        step(ones(2, 4))
        net.weight.set_data(net.weight * 100.0)
        log: list[int] = []
        net.register_forward_pre_hook(lambda cell, inputs: None)
        net.register_forward_hook(lambda cell, inputs, output: log.append(len(session.hits)))
        net(ones(2, 4))
    assert log == [1] and session.hits[0].step == 1


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        ("zeros", "every unit begins with the same weights and gets the same gradient"),
        ("ones", "every unit begins with the same weights and gets the same gradient"),
        (Tensor(np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32) * 30), "where He's rule gives 0.707"),
    ],
)
def test_weights_that_begin_badly_are_named(initial: Any, expected: str) -> None:
    first = nn.Dense(4, 8, weight_init=initial, has_bias=False)
    last = nn.Dense(8, 2, weight_init=initial if isinstance(initial, str) else "normal")
    net = nn.SequentialCell([first, nn.ReLU(), last])
    session = train(net, 3, conditions=["initial_weights"])
    finding = session.findings()[0]
    assert (finding.condition, finding.path, finding.first_step) == ("initial_weights", "0", 1)
    assert expected in finding.message


def test_a_last_layer_of_zeros_is_no_fault() -> None:
    net = nn.SequentialCell([nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2, weight_init="zeros")])
    assert findings_of(train(net, 6, loss=lambda x: ((net(x) - x[:, :2]) ** 2).mean())) == []


def test_a_bias_has_no_ratio() -> None:
    row = CONDITIONS["update_too_large"]
    assert row.formula(UpdateObservation((8,), "some", 5.0, 1e-3), row.threshold) is None
    assert row.formula(UpdateObservation((8, 8), "some", 5.0, 1e-3), row.threshold) == (
        "changed by 1.77 of its norm in one step"
    )


def test_a_condition_on_a_parameter_pauses_where_the_gradients_were_asked_for() -> None:
    net = mlp()
    parameters = net.trainable_params()
    step = value_and_grad(lambda x: net[2](ops.stop_gradient(net[0](x))).sum(), None, parameters)
    session, script = scripted(net, stop_on=["no_gradient"])
    with session:
        for _ in range(3):
            step(ones(2, 4))
    assert [point.kind for point in script.points] == ["condition", "condition"]  # a weight and a bias
    assert script.points[0].function.startswith("test_a_condition_on_a_parameter")
    assert script.points[0].reason == "no_gradient in 0.weight (the loss does not depend on it)"


# The loss


@pytest.mark.parametrize(
    ("losses", "holds"),
    [
        ([1.0] * 19, False),
        ([1.0] * 20, True),
        ([1.0 - 0.01 * n for n in range(20)], False),
        ([1.0 - 1e-5 * n for n in range(20)], False),  # slow, but certain
        ([1.0 + 0.05 * n for n in range(20)], True),
        ([1.0 + (-1) ** n * 0.3 for n in range(20)], False),  # undecidable
        ([*np.linspace(1, 0.1, 30), *[0.1] * 60], False),
        ([1.0] * 30 + [np.nan], False),
    ],
)
def test_a_loss_that_does_not_fall_is_told_unless_noise_may_hide_it(losses: list[float], holds: bool) -> None:
    row = CONDITIONS["loss_not_decreasing"]
    assert (row.formula(LossObservation(losses), row.threshold) is not None) == holds


def test_losses_that_work_against_each_other_are_not_judged() -> None:
    first, second = nn.Dense(4, 2), nn.Dense(2, 2)
    one = value_and_grad(lambda x: second(first(x)).sum(), None, first.trainable_params())
    other = value_and_grad(lambda x: second(first(x)).sum(), None, second.trainable_params())
    with DebugSession(first, conditions=["loss_not_decreasing"]) as session:
        for _ in range(40):
            one(ones(2, 4))
            other(ones(2, 4))
    assert findings_of(session) == [] and len(session.history.losses) == 80
    with DebugSession(first, conditions=["loss_not_decreasing"]) as session:
        for _ in range(40):
            one(ones(2, 4))
    assert findings_of(session) == [("loss_not_decreasing", "")]


# The network


def dropping() -> nn.SequentialCell:
    return nn.SequentialCell([nn.Dense(4, 8), nn.BatchNorm1d(8), nn.Dropout(p=0.5), nn.Dense(8, 2)])


def test_prediction_mode_in_training_is_named() -> None:
    net = dropping()
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        step(random_values(0, 8, 4))
    assert findings_of(session) == [("wrong_mode", "1"), ("wrong_mode", "2")]
    assert session.findings()[0].message == (
        "wrong_mode in 1 (BatchNorm1d is in prediction mode while the network is trained)"
    )


def test_training_mode_in_evaluation_is_named() -> None:
    net = dropping()
    session = train(net, 3, conditions=["wrong_mode"])
    assert findings_of(session) == []
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        step(random_values(0, 8, 4))
        net(random_values(1, 8, 4))
    assert findings_of(session) == [("wrong_mode", "1"), ("wrong_mode", "2")]


def test_evaluation_between_steps_is_told_when_the_next_step_shows_that_it_was_one() -> None:
    net = dropping()
    net.set_train()
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        for _ in range(2):
            step(random_values(0, 8, 4))
            net(random_values(1, 8, 4))
        assert session.findings()[0].count == 1


@pytest.mark.parametrize("cut", [lambda x: x, ops.stop_gradient])
def test_samples_of_a_generator_are_no_evaluation(cut: Callable[[Any], Any]) -> None:
    generator, critic = dropping(), nn.Dense(2, 1)
    generator.set_train()
    critic_step = value_and_grad(lambda x: critic(x).mean(), None, critic.trainable_params())
    generator_step = value_and_grad(lambda z: critic(generator(z)).mean(), None, generator.trainable_params())
    with DebugSession(generator, conditions=["wrong_mode"]) as session:
        for number in range(4):
            critic_step(cut(generator(random_values(number, 8, 4))))
            generator_step(random_values(number, 8, 4))
    assert findings_of(session) == []


def test_a_frozen_batch_norm_and_gradients_of_inputs_are_no_fault() -> None:
    net = dropping()
    net.set_train()
    net[1].set_train(False)
    for parameter in net[1].get_parameters():
        parameter.requires_grad = False
    step = value_and_grad(lambda x: (net(x) ** 2).mean(), None, net.trainable_params())
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        step(random_values(0, 8, 4))
        net.set_train(False)
        net(random_values(0, 8, 4))
        grad(net)(random_values(0, 8, 4))
    assert findings_of(session) == []


class Cube(nn.Cell):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor
        self.ran = 0

    def construct(self, x: Any) -> Any:
        return x * x * x

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        self.ran += 1
        return (self.factor * x * x * dout,)


def test_a_wrong_bprop_is_named() -> None:
    wrong, right = Cube(2.0), Cube(3.0)
    net = nn.SequentialCell([wrong, right])
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        for _ in range(3):
            grad(net)(tensor(0.5, -1.5))
    assert findings_of(session) == [("wrong_bprop", "0")]
    assert "; 0.667 times the automatic gradient everywhere: a missing factor" in session.findings()[0].message
    assert (wrong.ran, right.ran) == (3, 3)


class Stale(nn.Cell):
    """A ReLU whose bprop uses what its very first call has saved."""

    def __init__(self) -> None:
        super().__init__()
        self.positive: Any = None

    def construct(self, x: Tensor) -> Tensor:
        if self.positive is None:
            self.positive = (x > 0).astype(x.dtype)
        return ops.relu(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * self.positive,)


def test_a_bprop_is_checked_again_in_a_later_step() -> None:
    net = nn.SequentialCell([Stale()])
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        grad(net)(tensor(0.5, -1.5))
        assert findings_of(session) == []
        grad(net)(tensor(-0.5, 1.5))
    assert findings_of(session) == [("wrong_bprop", "0")] and session.findings()[0].first_step == 2


class StraightThrough(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.sign(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout,)


def test_a_surrogate_gradient_of_a_step_function_is_intended() -> None:
    net = nn.SequentialCell([StraightThrough()])
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        grad(net)(tensor(0.5, -1.5, 2.5))
    assert findings_of(session) == []


def test_a_bprop_that_cannot_be_checked_is_said_and_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    class OfOneNumber(Cube):
        def construct(self, x: Tensor) -> Tensor:
            if float(x) != 0.5:
                raise ValueError("not of another number")
            return super().construct(x)

    net = nn.SequentialCell([OfOneNumber(3.0)])
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        grad(net)(tensor(0.5))
    assert findings_of(session) == []
    assert "wrong_bprop is not checked in 0: a copy raised ValueError: not of another number" in capsys.readouterr().err


def test_a_bprop_whose_cell_copies_itself_is_said_to_be_unchecked(capsys: pytest.CaptureFixture[str]) -> None:
    class NoCopy(Cube):
        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("not to be copied")

    net = NoCopy(3.0)
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        grad(net)(tensor(0.5))
    assert findings_of(session) == []
    message = "is not checked in (root): the run of a copy may change NoCopy.__deepcopy__"
    assert message in capsys.readouterr().err


# At any time, and what is retained


def test_conditions_come_and_go_while_the_session_watches() -> None:
    net = nn.ReLU()
    events: list[str] = []
    with DebugSession(net) as session:
        session.observe(events.append)
        session.add_condition("if slot == 'output'")
        net(tensor(1.0))
        session.remove_condition("if slot == 'output'")
        net(tensor(1.0))
        assert [hit.step for hit in session.hits] == [1] and session.conditions == []
        with pytest.raises(ValueError, match="no condition 'nan' in this session"):
            session.remove_condition("nan")
        with pytest.raises(ValueError, match="the nearest is 'nan'"):
            session.add_condition("nann")
    assert events.count("changed") == 2


def test_a_hit_has_its_condition_place_subject_step_and_capture() -> None:
    net = nn.SequentialCell([nn.ReLU()])
    with DebugSession(net, conditions=["if slot == 'output'"]) as session:
        net(tensor(1.0))
    (hit,) = session.hits
    assert (hit.path, hit.subject, hit.step, hit.producer) == ("0", "0#0 forward output", 1, None)
    assert hit.capture is session.captures[1]


def test_looking_without_stopping_never_pauses() -> None:
    session, script = scripted(nn.ReLU(), conditions=["all"])
    with session:
        session.roots[0](tensor(np.nan))
    assert session.hits and script.points == []


def test_findings_print_as_a_table_and_as_html_that_is_escaped() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    first, second = Finding("nan", "", "s", hostile, "Look.", 2, 4, 7), Finding("inf", "a", "s", "m", "Look.", 3, 3)
    findings = Findings([first, second])
    lines = str(findings).splitlines()
    assert lines[0].split() == ["condition", "where", "steps", "times", "what", "advice"]
    assert lines[1].split()[:6] == ["nan", "(root)", "2", "to", "4", "7"]
    assert lines[2].split()[:4] == ["inf", "a", "3", "1"]
    html = findings._repr_html_()
    assert "&lt;img src=x" in html and "<img" not in html
    assert str(Findings()) == Findings()._repr_html_() == "nothing found"


def test_nothing_that_is_kept_grows_with_the_steps() -> None:
    net = nn.SequentialCell([nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 1)])
    session = train(net, 60, conditions=["all", "if slot == 'output'"], max_captures=20)
    assert len(session.hits) <= 20 and len(session.findings()) == 3
    checks = session.checks
    assert len(checks.provenance._lines._entries) <= 2_000 and len(checks.updates._calls) <= 1


class Around(nn.Cell):
    def __init__(self, inner: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return self.inner(x)


@pytest.mark.parametrize("around", [lambda net: net, Around], ids=["alone", "around"])
@pytest.mark.parametrize("has_names", [False, True])
def test_names_that_several_parameters_have_are_told_once(
    around: Callable[[nn.Cell], nn.Cell], has_names: bool
) -> None:
    net = nn.SequentialCell(nn.Dense(4, 4))
    for name in ("s1", "s2"):
        block = nn.SequentialCell(nn.Dense(4, 4))
        net.insert_child_to_cell(name, block)
        if has_names:
            block.update_parameters_name(f"{name}.")
    root = around(net)
    with DebugSession(net, conditions=["same_names"]) as session:
        for _ in range(3):
            root(random_values(0, 2, 4))
    findings = [finding for finding in session.findings() if finding.condition == "same_names"]
    assert [finding.path for finding in findings] == ([] if has_names else [""])
    if not has_names:
        text = str(findings[0])
        assert "3 parameters have the name '0.weight': 0.weight, s1.0.weight, s2.0.weight; '0.bias' too" in text


def test_names_that_were_made_different_after_the_first_call_are_not_told() -> None:
    net = nn.SequentialCell(nn.Dense(4, 4))
    net.insert_child_to_cell("s1", nn.SequentialCell(nn.Dense(4, 4)))
    net(random_values(0, 2, 4))
    net.update_parameters_name("body.")
    with DebugSession(net, conditions=["same_names"]) as session:
        net(random_values(0, 2, 4))
    assert findings_of(session) == []


def test_names_that_become_equal_later_are_told_to_who_begins_to_look_then() -> None:
    net = nn.SequentialCell(nn.Dense(4, 4))
    net(random_values(0, 2, 4))
    net.insert_child_to_cell("s1", nn.SequentialCell(nn.Dense(4, 4)))
    with DebugSession(net, conditions=["same_names"]) as session:
        net(random_values(0, 2, 4))
    assert findings_of(session) == [("same_names", "")]
