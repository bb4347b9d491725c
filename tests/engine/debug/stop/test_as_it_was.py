"""Expressions of breakpoints, of conditions and of a person at a pause change nothing of the run."""

from __future__ import annotations

import inspect
import random
from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from debug_networks import scripted

from hookscope.engine import Generator, Parameter, Tensor, grad, nn, ops, set_seed
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.stop.breakpoints.expression import compile_expression, evaluate
from hookscope.engine.nn.snapshots import Snapshot

CHANGES = (
    "ms.ops.rand(1)",
    "np.random.rand()",
    "__import__('random').random()",
    "cell.running.add_(1)",
    "cell.draws.seed()",
    "cell.weight.set_data(cell.weight * 0)",
    "cell.set_train(False)",
    "cell.weight.__setattr__('requires_grad', False)",
    "cell.log.append(1)",
    "cell.names.add(1)",
    "setattr(cell, 'scale', 5.0)",
    "delattr(cell, 'scale')",
    "cell.register_forward_hook(lambda cell, x, y: y * 2)",
    "value.mul_(3.0)",
    "value[0].mul_(3.0)",
    "cell.step(value)",
    "cell.insert_child_to_cell('more', ms.nn.ReLU())",
    "cell.gen.random()",
    "cell.array.fill(3)",
    "cell.queue.append(1)",
    "cell.held.__setattr__('n', 5)",
    "cell.held.names.append('b')",
    "cell.weight.register_hook(lambda grad: grad * 0)",
    "cell.update_parameters_name('pre.')",
)


class Drawing(nn.Cell):
    """A cell with state of each kind, on which its output depends."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(np.arange(3.0, dtype=np.float32)), "weight")
        self.register_buffer("running", Tensor(np.zeros(3, np.float32)))
        self.drop = nn.Dropout(p=0.5)
        self.gen, self.draws = np.random.default_rng(3), Generator()
        self.log: list[int] = []
        self.names: set[int] = set()
        self.scale = 2.0
        self.array, self.queue = np.ones(3, np.float32), deque([1])
        self.held = SimpleNamespace(n=1, names=["a"])

    def step(self, x: Tensor) -> Tensor:
        self.scale += 1.0
        return self.construct(x)

    def construct(self, x: Tensor) -> Tensor:
        self.running.add_(1.0)
        more = float(self.array.sum()) + len(self.queue) + self.held.n + len(self.held.names)
        return self.drop(x * self.weight * self.scale + self.running + more)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        cell, value = self, dout * 1.0
        return (value * cell.scale + len(self.log) + len(self.names),)


LINE = inspect.getsourcelines(Drawing.bprop)[1] + 2


def outcome(**watching: Any) -> list[object]:
    """Return the results of a training step and the draws after it, under a session if anything is watched."""
    set_seed(1)
    np.random.seed(1)
    random.seed(1)
    net = Drawing().set_train()
    look = watching.pop("look", None)
    session, _ = scripted(net, (), look, **watching) if look else (DebugSession(net, **watching), None)
    x = Tensor(np.array([[1.0, 2.0, 3.0]], np.float32))
    if watching:
        with session:
            results = [net(x * 1.0), grad(lambda y: net(y * 1.0))(x), net(x * 1.0)]
    else:
        results = [net(x * 1.0), grad(lambda y: net(y * 1.0))(x), net(x * 1.0)]
    results += [net.running, net.weight, ops.rand(2)]
    numbers: list[object] = [result.asnumpy().tolist() for result in results]
    drawn = (np.random.rand(), random.random(), net.gen.random(), net.draws.get_state().asnumpy().tolist())
    parts = (net.training, net.weight.requires_grad, net.log, net.names, net.scale, list(net._cells), net._hooks)
    state = (net.weight.name, len(net.weight.hooks()), net.array.tolist(), list(net.queue), vars(net.held))
    return [*numbers, *drawn, *parts, *state]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "source", [".:forward_pre", ".", ".:backward", ".:bprop", f".:{LINE}", "ops.mul", "ops.mul:backward", "condition"]
)
def test_an_expression_of_a_breakpoint_or_a_condition_changes_nothing(source: str, change: str) -> None:
    condition = f"if ({change}, value is cell)[1]"
    watching: dict[str, Any] = (
        {"conditions": [condition]} if source == "condition" else {"breaks": [f"{source} {condition}"]}
    )
    assert outcome(**watching) == outcome()


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_person_looks_at_changes_nothing_and_says_so(change: str, capsys: pytest.CaptureFixture[str]) -> None:
    watching = {"breaks": [".", ".:backward"], "look": lambda session: session.evaluate(change)}
    assert outcome(**watching) == outcome()
    only_draws = any(word in change for word in ("rand", "draws"))
    assert (" are undone: " in capsys.readouterr().err) is not only_draws


def test_the_value_of_an_expression_is_what_it_computed() -> None:
    net = Drawing()
    scope = {"cell": net, "value": None}
    assert evaluate(compile_expression("cell.running.add_(1)"), scope).asnumpy().tolist() == [1.0, 1.0, 1.0]
    assert net.running.asnumpy().tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "puts_back"),
    [
        ("value.max() > 1 and abs(norm) < step", False),
        ("value.shape[0] > 3", False),
        ("value > mean", False),
        ("value.uniform_().sum()", True),
        ("cell.weight", True),
        ("np.random.rand() > 0", True),
        ("print(step)", True),
    ],
)
def test_nothing_is_put_back_after_an_expression_that_only_reads_a_tensor(
    text: str, puts_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread's draws must not be repeated."""
    restored: list[object] = []
    monkeypatch.setattr(Snapshot, "restore", lambda snapshot: bool(restored.append(snapshot)))
    scope = {"value": Tensor([1.0, 2.0]), "norm": 1.0, "step": 1, "mean": 0.0, "cell": Drawing(), "np": np}
    evaluate(compile_expression(text), scope)
    assert bool(restored) is puts_back


def test_generators_that_nobody_used_are_not_turned_back() -> None:
    turned: list[object] = []

    class Watched(np.random.RandomState):
        def set_state(self, state: Any) -> None:
            turned.append(state)

    net = Drawing()
    net.gen = Watched(3)  # type: ignore[assignment]
    evaluate(compile_expression("cell.scale"), {"cell": net})
    assert not turned
    evaluate(compile_expression("cell.gen.rand()"), {"cell": net})
    assert len(turned) == 1


def test_an_expression_that_raises_changes_nothing() -> None:
    net = Drawing()
    with pytest.raises(ZeroDivisionError):
        evaluate(compile_expression("(cell.running.add_(1), 1 / 0)"), {"cell": net})
    assert net.running.asnumpy().tolist() == [0.0, 0.0, 0.0]


def test_what_an_edit_draws_and_changes_is_part_of_the_run() -> None:
    session, _ = scripted(
        net := Drawing(), (), lambda s: s.edit("output", "output + cell.running.add_(1)"), breaks=["."]
    )
    with session:
        net(Tensor(np.ones((1, 3), np.float32)))
    assert net.running.asnumpy().tolist() == [2.0, 2.0, 2.0]
