"""Parameters changed by hand: previewed, changed exactly, undone, and ignored by all conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from debug_networks import scripted

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, value_and_grad
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.engine.debug.parameter_edits import INITIALIZERS
from hookscope.engine.tensors import random
from hookscope.engine.tensors.initializer import initializer


def dense(values: Any = ((1, -2, 3), (-4, 5, -6))) -> nn.Dense:
    net = nn.Dense(3, 2)
    net.weight.set_data(Tensor(np.array(values, np.float32)))
    return net


def apply(session: DebugSession, *args: Any, **options: Any) -> str:
    edit = session.parameter_edits.preview(*args, **options)
    session.parameter_edits.apply(edit)
    return edit.text


def test_a_preview_changes_nothing_and_says_what_would() -> None:
    net = dense()
    before = net.weight._array
    edit = DebugSession(net).parameter_edits.preview("weight", "set", index="[0, :]", number="0")
    assert net.weight._array is before
    assert edit.what == "set weight[0, :] to 0"
    assert edit.text == "changes 3 of 6 elements of weight: mean -0.5 -> -0.8333, std 3.862 -> 3.484"


@pytest.mark.parametrize(
    ("action", "options", "expected"),
    [
        ("set", {"index": "[0, :]", "number": 7}, [[7, 7, 7], [-4, 5, -6]]),
        ("set", {"index": "..., -1", "number": "0.5"}, [[1, -2, 0.5], [-4, 5, 0.5]]),
        ("set", {"index": "1:, ::2", "number": 0}, [[1, -2, 3], [0, 5, 0]]),
        ("scale", {"factor": "-0.5"}, [[-0.5, 1, -1.5], [2, -2.5, 3]]),
        ("zero", {}, [[0, 0, 0], [0, 0, 0]]),
        ("clip", {"low": -1, "high": 2}, [[1, -1, 2], [-1, 2, -1]]),
        ("clip", {"low": "", "high": "2"}, [[1, -2, 2], [-4, 2, -6]]),
    ],
)
def test_each_action_gives_these_values(action: str, options: dict[str, Any], expected: list[Any]) -> None:
    net = dense()
    apply(DebugSession(net), "weight", action, **options)
    np.testing.assert_array_equal(net.weight.asnumpy(), np.array(expected, np.float32))
    assert net.weight.dtype == ms.float32


@pytest.mark.parametrize("name", INITIALIZERS)
def test_an_initializer_draws_what_it_would_have_drawn_now(name: str) -> None:
    shape = (4, 4, 3) if name == "Dirac" else (4, 4)
    net = nn.Dense(4, 4)
    net.weight.set_data(Tensor(np.full(shape, 9.0, np.float32)))
    position = random.position()
    expected = initializer(name, shape).asnumpy()
    after = random.position()
    random.go_to(position)
    session = DebugSession(net)
    edit = session.parameter_edits.preview("weight", "initialize", initializer=name)
    assert random.position() == position, "a preview drew a random number"
    session.parameter_edits.apply(edit)
    assert random.position() == after
    np.testing.assert_array_equal(net.weight.asnumpy(), expected)


@pytest.mark.parametrize(
    ("name", "action", "options", "message"),
    [
        ("weigth", "zero", {}, "no parameter 'weigth' in this session; the nearest is 'weight'"),
        ("weight", "halve", {}, "action 'halve' is not known; it is one of set, scale, zero, initialize, clip"),
        ("weight", "zero", {"factor": 2}, "zero takes no argument, got factor"),
        ("weight", "scale", {"factor": "two"}, "factor must be a number, got 'two'"),
        ("weight", "set", {"index": "[0", "number": 1}, r"index must be integers, slices and \.\.\., such as \[0, :\]"),
        ("weight", "set", {"index": "(lambda: 0)()", "number": 1}, "index must be integers"),
        ("weight", "set", {"index": "0], y[0", "number": 1}, "index must be integers"),
        ("weight", "set", {"index": "True", "number": 1}, "index must be integers"),
        ("weight", "set", {"index": "2", "number": 1}, "index '2' does not fit the shape 2x3: index 2 is out"),
        ("weight", "set", {"index": "0, 0, 0", "number": 1}, "index '0, 0, 0' does not fit the shape 2x3"),
        ("weight", "clip", {}, "clip needs low, high or both"),
        ("weight", "clip", {"low": 2, "high": 1}, "low must not be above high, got 2 and 1"),
        ("weight", "initialize", {"initializer": "HeNorm"}, "'HeNorm' is not known; the nearest is 'HeNormal'"),
        ("bias", "initialize", {"initializer": "XavierUniform"}, "must have at least 2 axes"),
    ],
)
def test_bad_input_is_refused_in_one_line(name: str, action: str, options: dict[str, Any], message: str) -> None:
    net = dense()
    with pytest.raises((ValueError, IndexError), match=message) as caught:
        DebugSession(net).parameter_edits.preview(name, action, **options)
    assert "\n" not in str(caught.value)


def test_integers_take_only_numbers_of_their_dtype() -> None:
    net = nn.Dense(2, 2)
    net.count = ms.Parameter(Tensor(np.array([1, 2], np.int8)))
    edits = DebugSession(net).parameter_edits
    with pytest.raises(ValueError, match="number must be a number that int8 holds, got '0.5'"):
        edits.preview("count", "set", index="0", number="0.5")
    with pytest.raises(ValueError, match="that int8 holds, got 300"):
        edits.preview("count", "set", index="0", number=300)
    assert edits.preview("count", "set", index="0", number=3).changed == 1


def test_a_number_without_axes_can_be_changed() -> None:
    net = nn.Dense(2, 2)
    net.scale = ms.Parameter(Tensor(np.float32(3)))
    session = DebugSession(net)
    for action, options in (("set", {"index": "...", "number": 4}), ("scale", {"factor": 2}), ("clip", {"high": 5})):
        apply(session, "scale", action, **options)
    assert (net.scale.shape, float(net.scale)) == ((), 5)


def test_nan_is_told_and_counted_once() -> None:
    session = DebugSession(dense())
    assert "NaN 0 -> 3" in apply(session, "weight", "set", index="0", number="nan")
    again = session.parameter_edits.preview("weight", "set", index="0", number="nan")
    assert again.text == "changes none of the 6 elements of weight"


def test_the_last_edit_is_undone_bit_for_bit() -> None:
    net = dense()
    before = net.weight._array
    session = DebugSession(net)
    apply(session, "weight", "scale", factor=1e-30)
    assert session.parameter_edits.undo().what == "scale weight by 1e-30"
    assert net.weight._array is before
    with pytest.raises(RuntimeError, match="there is no edit to undo"):
        session.parameter_edits.undo()


def test_what_was_written_since_is_neither_applied_nor_undone() -> None:
    net = dense()
    session = DebugSession(net)
    edit = session.parameter_edits.preview("weight", "zero")
    net.weight.set_data(net.weight + 1)
    with pytest.raises(RuntimeError, match="weight was changed since the preview"):
        session.parameter_edits.apply(edit)
    apply(session, "weight", "zero")
    net.weight.set_data(net.weight + 1)
    with pytest.raises(RuntimeError, match="weight was changed since by something else"):
        session.parameter_edits.undo()


def test_a_run_that_is_not_paused_refuses_it() -> None:
    net = dense()
    session = DebugSession(net)
    edit = session.parameter_edits.preview("weight", "zero")
    refused: list[str] = []

    def hook(*_: Any) -> None:
        with pytest.raises(RuntimeError) as caught:
            session.parameter_edits.apply(edit)
        refused.append(str(caught.value))

    net.register_forward_hook(hook)
    with session:
        net(Tensor(np.ones((1, 3), np.float32)))
    assert refused == ["weight cannot be changed now: a run is under way and not paused"]
    session.parameter_edits.apply(edit)


def training(net: nn.Cell, learning_rate: float = 0.01) -> Callable[[], None]:
    optimizer = nn.SGD(net.trainable_params(), learning_rate)
    x = Tensor(np.ones((4, 3), np.float32))
    gradient = value_and_grad(lambda: (net(x) ** 2).mean(), None, optimizer.parameters)

    def step() -> None:
        optimizer(gradient()[1])

    return step


def test_an_abort_takes_back_what_was_edited_at_the_pause() -> None:
    net = dense()
    before = net.weight._array

    def zero(session: DebugSession) -> None:
        apply(session, "weight", "zero")
        assert not net.weight.asnumpy().any()

    session, _ = scripted(net, ["abort"], zero, breaks=[".:forward_pre"])
    with pytest.raises(DebugAbort), session:
        net(Tensor(np.ones((1, 3), np.float32)))
    assert net.weight._array is before


def test_an_edit_is_no_update_to_any_condition() -> None:
    net = dense()
    session = DebugSession(net, conditions=["update_too_large"])
    step = training(net)
    with session:
        step()
        apply(session, "weight", "scale", factor=1000)
        step()
    assert session.hits == []
    assert len(session.history.update_ratios["weight"]) == 2
    assert all(ratio < 1 for _, ratio in session.history.update_ratios["weight"])


def test_a_row_tells_how_far_the_last_step_went() -> None:
    net = dense()
    before = net.weight.asnumpy().astype(np.float64)
    session = DebugSession(net)
    step = training(net)
    assert [row.update_ratio for row in session.parameters()] == [None, None]
    with session:
        step()
    after = net.weight.asnumpy().astype(np.float64)
    row = session.parameters()[0]
    assert row.update_ratio == pytest.approx(np.linalg.norm(after - before) / np.linalg.norm(before), rel=1e-5)
    apply(session, "weight", "scale", factor=2)
    assert session.parameters()[0].update_ratio is None


def test_parameters_of_two_networks_have_names_of_their_own() -> None:
    networks = [nn.SequentialCell(nn.Dense(3, 2)) for _ in range(2)]
    session = DebugSession(conditions=["update_too_large"])
    with session:
        for net in networks:
            value_and_grad(lambda x, net=net: net(x).sum(), None, net.trainable_params())(Tensor(np.ones((1, 3), "f4")))
    names = ["0.weight", "0.bias", "SequentialCell.0.weight", "SequentialCell.0.bias"]
    assert [row.name for row in session.parameters()] == names
    assert set(session.history.gradient_norms) == set(names)
    apply(session, "SequentialCell.0.weight", "zero")
    assert [bool(net[0].weight.asnumpy().any()) for net in networks] == [True, False]
    apply(session, "0.bias", "set", index="[:]", number="7")
    assert [net[0].bias.asnumpy().tolist() == [7.0, 7.0] for net in networks] == [True, False]
