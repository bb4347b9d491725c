"""Provenance: the operator that made a NaN or an infinity is named, with its cell, line and inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from debug_networks import scripted, tensor

from hookscope.engine import Tensor, grad, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession, Producer
from hookscope.engine.ops.neural.attention import attention

HERE = __file__.rpartition("/")[2]


INF = float("inf")


class Does(nn.Cell):
    """A cell without inner cells that applies a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def construct(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class Twice(nn.Cell):
    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Any) -> Any:
        return self.inner(self.inner(x) - 2.0)


def logarithm(x: Any) -> Any:
    shifted = x - 1.0
    return ops.log(shifted)


def line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def producers(net: nn.Cell, *inputs: Tensor, backward: bool = False, **options: Any) -> list[Producer]:
    with DebugSession(net, conditions=["nan", "inf"], **options) as session:
        (grad(net) if backward else net)(*inputs)
    return session.producers


def test_the_producer_has_its_cell_its_call_its_line_and_its_inputs() -> None:
    net = nn.SequentialCell([nn.ReLU(), Does(logarithm)])
    (producer,) = producers(net, tensor(0.5, 0.8, 3.0))
    assert (producer.operator, producer.direction, producer.path, producer.call, producer.step) == (
        "log",
        "forward",
        "1",
        0,
        1,
    )
    assert (producer.filename, producer.line) == (__file__, line_of(logarithm, "ops.log"))
    assert producer.source == "return ops.log(shifted)"
    assert producer.what == "nan" and producer.output.nan == 2
    assert producer.inputs[0].minimum == -0.5 and producer.inputs[0].maximum == 2.0
    assert str(producer) == (
        "log in 1#0 made 2 NaN of 3 elements: its input had minimum -0.5, maximum 2 "
        f"({HERE}, line {producer.line}: return ops.log(shifted))"
    )


def test_a_cell_that_is_called_twice_is_told_apart_by_its_call() -> None:
    (producer,) = producers(Twice(Does(ops.log)), tensor(3.0, 2.0))
    assert (producer.path, producer.call) == ("inner", 1)


def test_what_passes_a_nan_on_is_no_producer() -> None:
    net = nn.SequentialCell([Does(ops.log), nn.ReLU(), nn.Dense(2, 3), nn.Tanh()])
    assert [producer.operator for producer in producers(net, tensor(-1.0, 1.0).reshape(1, 2))] == ["log"]


@pytest.mark.parametrize(
    ("operator", "function", "values", "what"),
    [
        ("div", lambda x: x / (x - x), (1.0, 2.0), "inf"),
        ("div", lambda x: (x - x) / (x - x), (1.0, 2.0), "nan"),
        ("exp", lambda x: ops.exp(x), (1.0, 1e3), "inf"),
        ("sqrt", lambda x: ops.sqrt(x), (-1.0, 4.0), "nan"),
        ("mul", lambda x: x * x, (1e30, 1.0), "inf"),
    ],
)
def test_operators_that_leave_the_finite_numbers_are_found(
    operator: str, function: Callable[..., Any], values: tuple[float, ...], what: str
) -> None:
    (producer,) = producers(Does(function), tensor(*values))
    assert (producer.operator, producer.what) == (operator, what)


def test_overflow_in_half_precision_is_found() -> None:
    net = Does(lambda x: x * x)
    (producer,) = producers(net, Tensor(np.array([300.0, 1.0], np.float16)))
    assert (producer.operator, producer.what, producer.output.dtype) == ("mul", "inf", "float16")


def root(x: Any) -> Any:
    positive = ops.abs(x)
    return ops.sqrt(positive)


def test_a_producer_on_the_way_back_has_the_line_of_the_forward_call() -> None:
    (producer,) = producers(nn.SequentialCell([nn.ReLU(), Does(root)]), tensor(0.0, 4.0), backward=True)
    assert (producer.operator, producer.direction, producer.path, producer.what) == ("sqrt", "backward", "1", "inf")
    assert producer.line == line_of(root, "ops.sqrt")
    gradient, inputs = producer.inputs
    assert (gradient.minimum, gradient.maximum) == (1.0, 1.0) and inputs.zeros == 1
    assert str(producer).startswith(
        "the gradient of sqrt in 1#0 made 1 Inf of 2 elements: the gradient that arrived had the one value 1, "
        "its input had minimum 0, maximum 4 and 1 zero ("
    )


def test_a_bad_forward_value_is_not_blamed_on_the_gradient_rule() -> None:
    results = producers(Does(lambda x: ops.log(x) * 2.0), tensor(-1.0, 1.0), backward=True)
    assert [(producer.operator, producer.direction) for producer in results] == [("log", "forward")]


class ByNumpy(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        with np.errstate(all="ignore"):
            return (Tensor(dout.asnumpy() / (x.asnumpy() - 1.0)),)


class ByOperators(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        distance = x - 1.0
        return (dout / distance,)


def test_a_bprop_that_returns_bad_gradients_of_good_ones_is_named() -> None:
    (producer,) = producers(nn.SequentialCell([nn.ReLU(), ByNumpy()]), tensor(1.0, 3.0), backward=True)
    assert (producer.operator, producer.direction, producer.path, producer.what) == ("bprop", "backward", "1", "inf")
    assert "the bprop in 1#0 returned 1 Inf of 2 elements" in str(producer)


def test_of_a_bprop_that_the_engine_brings_the_users_line_is_named() -> None:
    class OfTheEngine(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2.0

    code = "def bprop(self, x, out, dout):\n    return (Tensor(x.asnumpy() * float('nan')),)\n"
    names: dict[str, Any] = {"Tensor": Tensor}
    exec(compile(code, inspect.getfile(nn.Dense), "exec"), names)
    OfTheEngine.bprop = names["bprop"]
    (producer,) = producers(OfTheEngine(), tensor(1.0), backward=True)
    assert (producer.operator, producer.filename, producer.line) == ("bprop", __file__, line_of(producers, "grad(net)"))


def test_inside_a_bprop_it_is_the_operator_and_its_line() -> None:
    (producer,) = producers(nn.SequentialCell([nn.ReLU(), ByOperators()]), tensor(1.0, 3.0), backward=True)
    assert (producer.operator, producer.direction, producer.path) == ("div", "backward", "1")
    assert producer.line == line_of(ByOperators.bprop, "dout / distance")


def test_it_is_found_inside_a_recomputed_cell() -> None:
    cell = Does(root)
    cell.recompute()
    results = producers(nn.SequentialCell([nn.ReLU(), cell]), tensor(0.0, 4.0), backward=True)
    assert [(producer.operator, producer.direction, producer.path) for producer in results] == [
        ("sqrt", "backward", "1")
    ]


# Inputs, and masks


def masked_softmax(x: Any) -> Any:
    mask = Tensor(np.triu(np.full((2, 2), -np.inf, np.float32), 1))
    return ops.softmax(x + mask)


@pytest.mark.parametrize(
    "function",
    [
        masked_softmax,
        lambda x: ops.softmax(ops.masked_fill(x, Tensor(np.array([[False, True], [False, False]])), float("-inf"))),
        lambda x: ops.softmax(x + ops.triu(ops.full((2, 2), float("-inf"), dtype=x.dtype), 1)),
        lambda x: x + Tensor(np.triu(np.full((2, 2), -np.inf, np.float32), 1)),
    ],
)
def test_a_mask_of_minus_infinity_is_no_fault(function: Callable[..., Any]) -> None:
    net = nn.SequentialCell([nn.Dense(2, 2), Does(function)])
    with DebugSession(net, conditions=["nan", "inf"], watch=["*"]) as session:
        grad(net)(tensor(1.0, 2.0, 3.0, 4.0).reshape(2, 2))
    assert session.producers == [] and list(session.findings()) == []


def test_a_mask_that_hides_all_makes_the_softmax_a_producer() -> None:
    net = Does(lambda x: ops.softmax(x + Tensor(np.full((2, 2), -np.inf, np.float32))))
    (producer,) = producers(net, tensor(1.0, 2.0, 3.0, 4.0).reshape(2, 2))
    assert producer.what == "nan" and producer.path == "" and producer.inputs[0].negative_inf == 4


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [[-INF, -INF], [0.02, -0.02]],
            "minimum -0.02, maximum 0.02 and 2 -inf (1 of 2 rows hold nothing else, the first [0])",
        ),
        (
            [[0.0, 1.0], [-INF, -INF], [-INF, -INF]],
            "minimum 0, maximum 1 and 1 zero and 4 -inf (2 of 3 rows hold nothing else, the first [1])",
        ),
        ([[-INF, -INF]], "no finite element and 2 -inf (1 of 1 rows hold nothing else)"),
        (
            [[[1.0, 2.0], [-INF, -INF]]],
            "minimum 1, maximum 2 and 2 -inf (1 of 2 rows hold nothing else, the first [0, 1])",
        ),
    ],
)
def test_the_rows_of_minus_infinity_that_a_nan_came_of_are_named(values: Any, message: str) -> None:
    """The statistics are of the finite elements alone, and so did not show them."""
    net = Does(lambda x: ops.softmax(x, -1))
    (producer,) = producers(net, Tensor(np.array(values, np.float32)))
    assert (producer.operator, producer.what) == ("softmax", "nan")
    assert f": its input had {message} (" in str(producer)
    with DebugSession(net, conditions=["nan"]) as session:
        net(Tensor(np.array(values, np.float32)))
    assert message in session.findings()[0].message


def test_of_many_inputs_those_with_infinities_are_told() -> None:
    """A fused operator: the mask comes fourth, after queries, keys and values."""
    mask = np.zeros((1, 1, 3, 4), np.float32)
    mask[..., 1, :] = -INF
    generator = np.random.default_rng(0)
    values = [Tensor(generator.normal(size=(1, 2, size, 8)).astype(np.float32)) for size in (3, 4, 4)]
    (producer,) = producers(Does(attention), *values, Tensor(mask))
    text = str(producer)
    assert "input 3 had" in text and "4 -inf (1 of 3 rows hold nothing else, the first [0, 0, 1])" in text
    assert text.count(" had ") == 3


def test_an_infinity_in_no_whole_row_is_told_with_its_first_place() -> None:
    (producer,) = producers(Does(lambda x: x - x), Tensor(np.array([[1.0, -INF, 2.0], [3.0, -INF, -INF]], np.float32)))
    assert "input 0 had minimum 1, maximum 3 and 3 -inf (the first at [0, 1])" in str(producer)
    (flat,) = producers(Does(lambda x: x * 0.0), tensor(1.0, -INF))
    assert "and 1 -inf (the first at [1])" in str(flat)


def test_what_came_in_is_told_with_the_cell_where_it_did() -> None:
    net = nn.SequentialCell([nn.Dense(2, 3), nn.ReLU(), nn.Dense(3, 1)])
    with DebugSession(net, conditions=["nan", "inf"]) as session:
        net(tensor(np.inf, 1.0).reshape(1, 2))
    assert session.producers == []
    finding = session.findings()[0]
    assert finding.path == "0" and finding.message.endswith("it came in as input[0] of 0#0")


def test_a_parameter_that_is_not_finite_is_named() -> None:
    net = nn.SequentialCell([nn.Dense(2, 3), nn.ReLU()])
    net[0].weight.set_data(Tensor(np.full((3, 2), np.nan, np.float32)))
    with DebugSession(net, conditions=["nan"]) as session:
        net(tensor(1.0, 1.0).reshape(1, 2))
    assert session.findings()[0].message.endswith("it came in as the parameter weight of 0#0")


# Findings


def test_cells_that_pass_a_nan_on_are_one_finding_at_the_producer() -> None:
    net = nn.SequentialCell([nn.Tanh(), Does(logarithm), nn.Dense(2, 2), nn.Tanh()])
    with DebugSession(net, conditions=["nan"]) as session:
        for _ in range(3):
            net(tensor(-9.0, -9.0).reshape(1, 2))
    (finding,) = session.findings()
    assert (finding.condition, finding.path, finding.first_step, finding.last_step) == ("nan", "1", 1, 3)
    assert finding.producer is session.producers[0] and finding.message == str(finding.producer)
    assert finding.count == len(session.hits) > 3
    assert all(hit.producer in session.producers for hit in session.hits)


def test_what_a_training_makes_of_a_nan_stays_with_its_producer() -> None:
    net = nn.SequentialCell([nn.Dense(2, 4), Does(logarithm), nn.Dense(4, 1)])
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    step = value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
    with DebugSession(net, conditions=["nan", "inf"]) as session:
        for _ in range(4):
            _, gradients = step(tensor(-9.0, 9.0).reshape(1, 2))
            optimizer(gradients)
    assert {finding.path for finding in session.findings()} == {"1"}


def test_a_nan_that_reaches_only_the_loss_is_found_where_it_was_made() -> None:
    net = nn.Dense(2, 1)

    def loss(x: Any) -> Any:
        return ops.log(net(x) - 1e6).sum()

    with DebugSession(net, conditions=["nan"]) as session:
        value_and_grad(loss, None, net.trainable_params())(tensor(1.0, 1.0).reshape(1, 2))
    finding = next(finding for finding in session.findings() if finding.producer is not None)
    assert finding.producer is not None and finding.producer.line == line_of(loss, "ops.log")
    assert "log outside the cells made 1 NaN of 1 element" in finding.message


def test_a_step_that_makes_a_nan_of_finite_gradients_is_told() -> None:
    net = nn.Dense(2, 1)
    step = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    with DebugSession(net, conditions=["nan"]) as session:
        step(tensor(1.0, 1.0).reshape(1, 2))
        net.weight.set_data(Tensor(np.full((1, 2), np.nan, np.float32)))
        net(tensor(1.0, 1.0).reshape(1, 2))
    hit = session.hits[0]
    assert (hit.subject, hit.path, hit.step) == ("weight", "", 1)
    assert hit.message == (
        "nan in weight after its update (2 of 2 elements); the update made it of a finite gradient of weight"
    )
    assert len(session.findings()) == 1


def test_without_nan_or_inf_no_operator_is_watched() -> None:
    from hookscope.engine.tape import taps

    with DebugSession(nn.ReLU(), conditions=["all_zero"]) as session:
        assert taps.operator_taps == []
        session.add_condition("nan")
        # The second one sees whether a loss is scaled, whose gradients may overflow.
        assert [type(tap).__name__ for tap in taps.operator_taps] == ["Provenance", "OptimizerInputsWatch"]
        session.remove_condition("nan")
        assert taps.operator_taps == []


# Pausing


def test_the_run_pauses_right_at_the_operator_and_once() -> None:
    log: list[Any] = []

    def look(session: DebugSession) -> None:
        assert session.paused is not None
        log.append((session.evaluate("shifted"), session.evaluate("inputs"), session.evaluate("output")))

    net = nn.SequentialCell([nn.ReLU(), Does(logarithm), nn.Tanh()])
    session, script = scripted(net, look=look, stop_on=["nan"])
    with session:
        net(tensor(0.5, 3.0))
    (point,) = script.points
    assert (point.kind, point.moment, point.path, point.line) == (
        "condition",
        "operator",
        "1",
        line_of(logarithm, "ops.log"),
    )
    assert point.reason == str(session.producers[0])
    shifted, inputs, output = log[0]
    assert inputs[0]._array is shifted._array and np.isnan(output.asnumpy()).tolist() == [True, False]


def test_it_pauses_where_the_nan_comes_of_an_infinity() -> None:
    net = Does(lambda x: ops.exp(x) - ops.exp(x))
    session, script = scripted(net, stop_on=["nan"])
    with session:
        net(tensor(1e3))
    (point,) = script.points
    assert point.moment == "operator" and point.reason == str(session.producers[0])
    assert session.producers[0].operator == "exp"


def test_it_pauses_on_the_way_back() -> None:
    net = nn.SequentialCell([nn.ReLU(), Does(root)])
    session, script = scripted(net, stop_on=["inf"])
    with session:
        grad(net)(tensor(0.0, 4.0))
    assert script.points[0].moment == "operator" and script.points[0].path == "1"
    assert "the gradient of sqrt in 1#0" in script.points[0].reason


def test_what_is_kept_of_arrays_does_not_keep_them_alive() -> None:
    import gc
    import weakref

    net = Does(ops.log)
    with DebugSession(net, conditions=["nan"], watch=["."]) as session:
        out = net(tensor(-1.0))
        array = weakref.ref(out._array)
        del out
        session.captures.clear()
        assert session.hits == []
        gc.collect()
        assert array() is None


def through_a_view(x: Any) -> Any:
    bad, y = ops.log(x - 10.0), x * 1.0
    row, flat = y[:2], y.view(-1)
    row[1] = bad[0]
    return flat * 2.0


def at_once(x: Any) -> Any:
    bad, y = ops.log(x - 10.0), x * 1.0
    y[1] = bad[0]
    return y * 2.0


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("function", [through_a_view, at_once])
def test_what_is_written_into_a_tensor_or_its_view_is_followed(function: Callable[..., Any], backward: bool) -> None:
    with DebugSession(nn.SequentialCell([Does(function), nn.ReLU()]), conditions=["nan"]) as session:
        (grad(session.roots[0]) if backward else session.roots[0])(tensor(1.0, 2.0, 3.0))
    assert [(producer.operator, producer.path) for producer in session.producers] == [("log", "0")]
    assert [finding.message.partition(" ")[0] for finding in session.findings()] == ["log"]
