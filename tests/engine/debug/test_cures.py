"""Cures of a finding: each previews its change, makes it, checks whether it helped, and undoes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.conditions import CONDITIONS
from hookscope.engine.debug.diagnose.cures import CURES, Cure


class Net(nn.Cell):
    def __init__(self, gain: float = 1.0) -> None:
        super().__init__()
        self.dense = nn.Dense(6, 12)
        self.norm = nn.BatchNorm1d(12)
        self.drop = nn.Dropout(p=0.5)
        self.head = nn.Dense(12, 3)
        self.gain = gain

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.drop(self.norm(self.dense(x) * self.gain)))


def trainer(net: nn.Cell, optimizer: nn.Optimizer, weights: Any = None) -> Callable[[], float]:
    """Return a step of training, as a notebook's cell makes it once."""
    rng = np.random.default_rng(0)
    x, y = Tensor(rng.normal(size=(16, 6)).astype(np.float32)), Tensor(rng.integers(0, 3, 16).astype(np.int32))
    step = value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, weights or optimizer.parameters)

    def train() -> float:
        loss, gradients = step(x, y)
        optimizer(gradients)
        return float(loss)

    return train


def the_cure(session: DebugSession, condition: str, name: str) -> Cure:
    """Return the cure of this name for the first finding of the condition."""
    finding = next(finding for finding in session.findings() if finding.condition == condition)
    return next(cure for cure in session.cures(finding) if cure.name == name)


def test_a_network_left_in_prediction_mode_is_set_to_training() -> None:
    net = Net().set_train(False)
    train = trainer(net, nn.SGD(net.trainable_params(), 0.1))
    with DebugSession(net, conditions=["all"]) as session:
        train()
        cure = the_cure(session, "wrong_mode", "set_train")
        assert cure.label == "Set to training" and not cure.outcome
        assert cure.preview == "set_train(True) puts (root), dense, norm and 2 more into training mode."
        assert not net.training, "the preview changed the mode"
        cure.apply()
        assert net.training and net.norm.training
        assert cure.outcome == "run one more step to see whether it is gone"
        train()
        assert cure.outcome == "gone: not seen in step 2"
        cure.undo()
        assert not net.training and not net.norm.training and cure.outcome == ""


def test_a_network_that_predicts_in_training_mode_is_set_to_prediction() -> None:
    net = Net().set_train()
    train = trainer(net, nn.SGD(net.trainable_params(), 0.1))
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        train()
        net(Tensor(np.ones((4, 6), np.float32)))
        train()
        cure = the_cure(session, "wrong_mode", "set_train")
        assert cure.label == "Set to prediction"
        cure.apply()
        net(Tensor(np.ones((4, 6), np.float32)))
        assert not net.norm.training


def test_a_weight_that_was_left_frozen_is_unfrozen() -> None:
    net = Net().set_train()
    net.head.weight.requires_grad = False
    train = trainer(net, nn.SGD(net.trainable_params(), 0.1))
    with DebugSession(net, conditions=["frozen_parameter"]) as session:
        for _ in range(3):
            train()
        cure = the_cure(session, "frozen_parameter", "unfreeze")
        assert "head.weight gets requires_grad=True" in cure.preview
        cure.apply()
        assert net.head.weight.requires_grad
        train()
        assert cure.outcome == "gone: not seen in step 4"
        cure.undo()
        assert not net.head.weight.requires_grad


class Times(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * 1e3


def test_a_gradient_that_grows_is_clipped_by_a_hook_where_it_is_first_too_long() -> None:
    ms.set_seed(0)
    net = nn.SequentialCell([nn.Dense(6, 12), nn.Tanh(), Times(), nn.Tanh(), nn.Dense(12, 3)]).set_train()
    net[3].construct = lambda x: x
    train = trainer(net, nn.SGD(net.trainable_params(), 1e-6))
    with DebugSession(net, conditions=["exploding_gradient=10"]) as session:
        train()
        assert [cause.path for cause in session.findings().causes()] == ["0"]
        cure = the_cure(session, "exploding_gradient", "clip")
        assert cure.preview == "A hook scales the gradients that leave 2 to norm 1 where they are longer."
        cure.apply()
        train()
        left = [c for c in session.captures if c.step == 2 and c.path == "2" and c.slot == "grad_input[0]"]
        assert np.linalg.norm(left[-1].array) == pytest.approx(1, rel=1e-5)
        assert cure.outcome == "gone: not seen in step 2"
        cure.undo()
        train()
        assert session.findings()[0].last_step == 3


def test_what_grows_between_the_cells_is_clipped_where_it_arrives() -> None:
    ms.set_seed(0)
    net = Net(gain=1e4).set_train()
    net.norm = nn.SequentialCell([])
    train = trainer(net, nn.SGD(net.trainable_params(), 1e-6))
    with DebugSession(net, conditions=["exploding_gradient=10"], watch=["dense", "head"]) as session:
        train()
        the_cure(session, "exploding_gradient", "clip").apply()
        before = net.dense.bias.asnumpy()
        train()
    assert np.linalg.norm(net.dense.bias.asnumpy() - before) <= 16**0.5 * 1e-6, "of 16 samples, of norm 1 together"


@pytest.mark.parametrize("weights", ["the network's", "the optimizer's"])
def test_an_optimizer_of_a_network_made_before_and_the_new_one_get_the_same_parameters(weights: str) -> None:
    ms.set_seed(0)
    optimizer = nn.Adam(Net().trainable_params(), 0.05)
    net = Net().set_train()
    train = trainer(net, optimizer, net.trainable_params() if weights == "the network's" else None)
    values = [parameter.asnumpy() for parameter in net.trainable_params()]
    with DebugSession(net, conditions=["all"]) as session:
        losses = [train() for _ in range(3)]
        cure = the_cure(session, "optimizer_other_parameters", "own_parameters")
        assert "6 parameters" in cure.preview
        cure.apply()
        for before, parameter in zip(values, net.trainable_params(), strict=True):
            np.testing.assert_array_equal(parameter.asnumpy(), before, "it begins where the network stands")
        assert {id(p) for p in net.trainable_params()} == {id(p) for p in optimizer.parameters}
        learned = [train() for _ in range(20)]
        assert cure.outcome == "gone: not seen in step 23"
        assert np.mean(learned[-5:]) < 0.8 * np.mean(losses), "the network does not learn"
        cure.undo()
        assert not {id(p) for p in net.trainable_params()} & {id(p) for p in optimizer.parameters}


def test_the_next_nan_pauses_at_its_operator_and_another_fault_at_its_cell() -> None:
    class Log(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return ops.log(x)

    net = nn.SequentialCell([Log(), nn.ReLU()])
    with DebugSession(net, conditions=["nan", "all_zero"]) as session:
        for _ in range(3):
            net(Tensor(np.array([-1.0, 0.5], np.float32)))
        cure = the_cure(session, "nan", "pause_here")
        cure.apply()
        assert session.checks.pausing == {"nan"}
        assert session.cures(cure.finding) == [cure], "undo is not offered"
        cure.undo()
        assert session.checks.pausing == set() and "nan" in session.checks.conditions
    with DebugSession(net, conditions=["dead_relu"]) as session:
        for _ in range(3):
            net(Tensor(np.array([0.5, 0.25], np.float32)))
        cure = the_cure(session, "dead_relu", "pause_here")
        cure.apply()
        assert [str(stop) for stop in session.breakpoints] == ["1:forward"]
        cure.undo()
        assert session.breakpoints == []


class Halved(nn.Cell):
    """A cell that drops half of its gradient."""

    def construct(self, x: Any, y: Any) -> Any:
        return x * y

    def bprop(self, x: Any, y: Any, out: Any, dout: Any) -> Any:
        return dout * y, dout * x / 2


class HalvedNet(Net):
    def __init__(self) -> None:
        super().__init__()
        self.halved = Halved()

    def construct(self, x: Any) -> Any:
        return self.halved(super().construct(x), super().construct(x + 1))


def test_a_wrong_bprop_is_checked_where_it_stands_and_says_which_element_is_wrong() -> None:
    net = HalvedNet()
    train = trainer(net, nn.SGD(net.trainable_params(), 0.01))
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        train()
        before = [parameter.asnumpy().tobytes() for parameter in net.get_parameters()]
        cure = the_cure(session, "wrong_bprop", "check_gradient")
        assert (cure.label, cure.outcome) == ("Check the gradient", "")
        cure.apply()
        message = the_cure(session, "wrong_bprop", "check_gradient")
        assert message is cure
        assert cure.outcome.startswith("gradient of halved (Halved): wrong for y; y[")
        assert not cure.done
        with pytest.raises(RuntimeError, match="nothing to take back"):
            cure.undo()
        assert [parameter.asnumpy().tobytes() for parameter in net.get_parameters()] == before


def test_a_cure_is_done_once_and_taken_back_once() -> None:
    net = Net().set_train(False)
    train = trainer(net, nn.SGD(net.trainable_params(), 0.1))
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        train()
        cure = the_cure(session, "wrong_mode", "set_train")
        with pytest.raises(RuntimeError, match="Set to training: there is nothing to take back"):
            cure.undo()
        cure.apply()
        with pytest.raises(RuntimeError, match="Set to training: this is done already"):
            cure.apply()


def test_a_finding_that_is_still_there_is_said() -> None:
    net = Net().set_train(False)
    train = trainer(net, nn.SGD(net.trainable_params(), 0.1))
    with DebugSession(net, conditions=["wrong_mode"]) as session:
        train()
        cure = the_cure(session, "wrong_mode", "set_train")
        cure.apply()
        net.set_train(False)
        train()
        assert cure.outcome == "still there in step 2"


def test_each_cure_that_a_condition_names_is_there_and_each_is_named() -> None:
    names = {name for row in CONDITIONS.values() for name in row.cures}
    assert names == CURES.keys()


class WrongByKeyword(nn.Cell):
    def construct(self, x: Any, factor: Any) -> Any:
        return x * factor

    def bprop(self, x: Any, factor: Any, out: Any, dout: Any) -> Any:
        return dout * factor * 2, dout * x


class CalledByKeyword(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2)
        self.part = WrongByKeyword()

    def construct(self, x: Any) -> Any:
        return self.part(self.dense(x), factor=x)


def test_a_finding_about_a_cell_that_is_called_by_keywords_has_those_cures_that_can_be_done() -> None:
    net = CalledByKeyword()
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        value_and_grad(net, None, net.trainable_params())(Tensor(np.ones((1, 2), np.float32)))
        (finding,) = session.findings()
        assert [cure.name for cure in session.cures(finding)] == ["pause_here"]
    assert session.faults == ()


@pytest.mark.faults_expected
def test_a_cure_that_cannot_be_made_is_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def boom(session: DebugSession, finding: Any) -> Any:
        raise RuntimeError("planted")

    monkeypatch.setitem(CURES, "check_gradient", boom)
    net = HalvedNet()
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        trainer(net, nn.SGD(net.trainable_params(), 0.01))()
        (finding,) = session.findings()
        assert [cure.name for cure in session.cures(finding)] == ["pause_here"]
    assert [fault.place for fault in session.faults] == ["the cure 'check_gradient'"]
