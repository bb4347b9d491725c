"""A panel in use while a network trains: requests are served between two steps, and change no bit of the run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.engine.tape import taps
from hookscope.engine.tape.progress import answer_with
from hookscope.engine.train import Model
from hookscope.widgets import DebuggerPanel

X = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)
LOOKS: list[dict[str, Any]] = [
    *({"type": "show", "view": view} for view in ("captures", "parameters", "stepper", "findings", "hooks", "cells")),
    {"type": "hello"},
    {"type": "sync"},
    {"type": "look_at_work"},
    {"type": "statistics", "indices": [0, 1, 2]},
    *({"type": "hook", "path": "0", "kind": "forward", "on": on} for on in (True, False)),
    *({"type": "hook", "path": "1", "kind": "forward_pre", "on": on} for on in (True, False)),
    {"type": "export"},
    {"type": "evaluate", "expression": "1 / 0"},
]


def network() -> nn.Cell:
    ms.set_seed(7)
    return nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dropout(p=0.2), nn.Dense(8, 2))


def weights(net: nn.Cell) -> list[bytes]:
    return [p.asnumpy().tobytes() for p in net.get_parameters()]


def train_by_model(net: nn.Cell) -> None:
    data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)
    Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01)).train(2, data)


def train_by_hand(net: nn.Cell) -> None:
    loss_fn, optimizer = nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    net.set_train()
    for k in range(0, 40, 4):
        _, gradients = step(Tensor(X[k : k + 4]), Tensor(Y[k : k + 4]))
        optimizer(gradients)


@pytest.fixture
def answering() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Call a function at safe points as the kernel does: with taps and recordings off."""

    def begin(answer: Callable[[], None]) -> None:
        def muted() -> None:
            with taps.mute():
                answer()

        answer_with(muted)

    yield begin
    answer_with(None)


@pytest.mark.parametrize("train", [train_by_model, train_by_hand])
def test_whatever_the_panel_is_asked_during_training_changes_no_bit(
    train: Callable[[nn.Cell], None], sent: list[Any], answering: Any
) -> None:
    expected = network()
    train(expected)

    net = network()
    session = DebugSession(net, conditions=["all"])
    panel = DebuggerPanel(session)
    choose = random.Random(3)
    answered = 0

    def answer() -> None:
        nonlocal answered
        if choose.random() < 0.2:
            answered += 1
            panel._received(panel, dict(choose.choice(LOOKS)), [])

    answering(answer)
    with session:
        train(net)
    panel.close()
    assert answered > 30
    assert weights(net) == weights(expected)


def test_a_parameter_is_not_edited_in_the_middle_of_a_step(sent: list[Any], answering: Any) -> None:
    net = network()
    session = DebugSession(net)
    refused = 0

    def edit() -> None:
        nonlocal refused
        with pytest.raises(RuntimeError, match="under way"):
            session.parameter_edits.apply(session.parameter_edits.preview("0.weight", "zero"))
        refused += 1

    answering(edit)
    with session:
        train_by_hand(net)
    assert refused > 100


def test_stop_in_the_panel_ends_a_loop_and_training_goes_on_with_the_next_one(sent: list[Any], answering: Any) -> None:
    net = network()
    session = DebugSession(net)
    panel = DebuggerPanel(session, clock=lambda: 10.0 * len(session.captures))
    panel._received(panel, {"type": "hello"}, [])

    def press() -> None:
        if panel.progress.get("what") == "running":
            panel._received(panel, {"type": "stop_work"}, [])

    def forever() -> None:
        while True:
            train_by_hand(net)

    answering(press)
    with pytest.raises(DebugAbort), session:
        forever()
    assert panel.progress == {}
    answer_with(None)
    with session:
        train_by_hand(net)
    panel.close()
