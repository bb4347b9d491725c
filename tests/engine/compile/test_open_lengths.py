"""One plan for many shapes, if lengths are declared variable: its bits are those of eager calls, for all lengths."""

from __future__ import annotations

import json
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.compile import cells
from hookscope.engine.compile.plan import plan as plans
from hookscope.engine.compile.sizes import variables_in
from hookscope.engine.tensors import random

from .shape_programs import plain_value, run_all

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _graph_mode() -> Iterator[None]:
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.fixture
def shape_checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make plans check the shape of each value against the traced one; return the list of operators checked."""
    names: list[str] = []

    def check(name: str, array: Any, shape: tuple[int, ...]) -> None:
        assert array.shape == shape, f"{name}: shape {array.shape}, traced as {shape}"
        names.append(name)

    def checking(write: Callable[..., None]) -> Callable[..., None]:
        def wrapped(self: Any, node: Any) -> None:
            write(self, node)
            for value in node.outputs:
                if value is not None and value.sizes is not None:
                    self.globals["check"] = check
                    self.lengths |= set().union(*map(variables_in, value.sizes))
                    name, sizes = node.operator.name, self.operand(value.sizes)
                    self.lines.append(f"check({name!r}, {self.names[value]}, {sizes})")

        return wrapped

    monkeypatch.setattr(plans._Writer, "_apply", checking(plans._Writer._apply))
    monkeypatch.setattr(plans._Writer, "_derive", checking(plans._Writer._derive))
    return names


def floats(*shape: int) -> Tensor:
    return Tensor(RNG.standard_normal(shape).astype(np.float32))


def classes(most: int, *shape: int) -> Tensor:
    return Tensor(RNG.integers(0, most, shape).astype(np.int32))


def eagerly(function: Callable[..., Any], *args: Any) -> Any:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    try:
        return function(*args)
    finally:
        ms.set_context(mode=ms.GRAPH_MODE)


class Squares(nn.Cell):
    """The sum of the squares of all outputs of a network, whose gradients are random enough."""

    def __init__(self, net: nn.Cell) -> None:
        super().__init__()
        self.net = net

    def construct(self, *inputs: Any) -> Any:
        result = self.net(*inputs)
        total: Any = 0.0
        for item in result if isinstance(result, tuple) else (result,):
            for part in item if isinstance(item, tuple) else (item,):
                total = total + ops.square(part).sum()
        return total


def placeholders(*calls: tuple[Tensor, ...]) -> list[Tensor]:
    """Return placeholders for the inputs of several calls."""
    results = []
    for some in zip(*calls, strict=True):
        lengths = [item[0] if len(set(item)) == 1 else None for item in zip(*[x.shape for x in some], strict=True)]
        results.append(Tensor(shape=lengths, dtype=some[0].dtype) if None in lengths else some[0])
    return results


def compare(net: nn.Cell, function: Any, inputs: tuple[Tensor, ...]) -> None:
    """Check that a call by a plan and an eager one give the same, draw the same, and leave the same parameters."""
    position, before = random.position(), [(p, p.asnumpy()) for p in net.get_parameters()]
    expected = plain_value(eagerly(function, *inputs)), [p.asnumpy().tobytes() for p, _ in before], random.position()
    for parameter, array in before:
        parameter.set_data(Tensor(array))
    random.go_to(position)
    actual = plain_value(function(*inputs)), [p.asnumpy().tobytes() for p, _ in before], random.position()
    assert actual == expected


FLAT = [(4,), (6,), (2,), (3,), (150,)]
DEEP = [(4, 5), (6, 3), (2, 9), (5, 5), (40, 30)]
LAYERS: dict[str, tuple[Callable[[], nn.Cell], Callable[..., tuple[Tensor, ...]], list[tuple[int, ...]]]] = {
    "Dense": (lambda: nn.Dense(3, 4, activation="relu"), lambda n, t: (floats(n, t, 3),), DEEP),
    "Dropout": (lambda: nn.Dropout(p=0.4), lambda n: (floats(n, 3),), FLAT),
    "Dropout2d": (lambda: nn.Dropout2d(p=0.4), lambda n: (floats(n, 3, 4, 4),), FLAT),
    "GELU": (lambda: nn.GELU(), lambda n: (floats(n, 3),), FLAT),
    "PReLU": (lambda: nn.PReLU(), lambda n: (floats(n, 3),), FLAT),
    "Softmax": (lambda: nn.Softmax(axis=0), lambda n: (floats(n, 3),), FLAT),
    "LogSoftmax": (lambda: nn.LogSoftmax(), lambda n: (floats(n, 3),), FLAT),
    "LayerNorm": (lambda: nn.LayerNorm((3,)), lambda n, t: (floats(n, t, 3),), DEEP),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), lambda n: (floats(n, 3),), FLAT),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), lambda n: (floats(n, 3, 4, 4),), FLAT),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(3), lambda n: (floats(n, 3, 4, 4),), FLAT),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), lambda n, h: (floats(n, 4, h, 4),), DEEP),
    "Conv1d": (lambda: nn.Conv1d(3, 4, 3), lambda n, t: (floats(n, 3, t + 4),), DEEP),
    "Conv2d": (lambda: nn.Conv2d(3, 4, 3), lambda n: (floats(n, 3, 6, 6),), FLAT),
    "Conv2d of sizes": (lambda: nn.Conv2d(3, 4, 3, 2, "pad", 1), lambda n, h: (floats(n, 3, h + 4, h + 6),), DEEP[:4]),
    "Conv2dTranspose": (lambda: nn.Conv2dTranspose(3, 4, 3), lambda n: (floats(n, 3, 6, 6),), FLAT),
    "Conv3d": (lambda: nn.Conv3d(3, 4, 3), lambda n: (floats(n, 3, 4, 4, 4),), FLAT[:4]),
    "MaxPool2d": (lambda: nn.MaxPool2d(2, 2), lambda n, h: (floats(n, 3, 2 * h, 6),), DEEP[:4]),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, 2), lambda n: (floats(n, 3, 6, 6),), FLAT),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d(2), lambda n: (floats(n, 3, 6, 6),), FLAT),
    "Flatten": (lambda: nn.Flatten(), lambda n: (floats(n, 3, 2),), FLAT),
    "LSTM": (lambda: nn.LSTM(3, 4, batch_first=True), lambda n, t: (floats(n, t, 3),), DEEP),
    "GRU": (lambda: nn.GRU(3, 4, num_layers=2, bidirectional=True, dropout=0.2), lambda n, t: (floats(t, n, 3),), DEEP),
    "RNN": (lambda: nn.RNN(3, 4), lambda n, t: (floats(t, n, 3),), DEEP),
    "GRUCell": (lambda: nn.GRUCell(3, 4), lambda n: (floats(n, 3), floats(n, 4)), FLAT),
    "MultiheadAttention": (
        lambda: nn.MultiheadAttention(8, 2, batch_first=True),
        lambda n, t: (floats(n, t, 8),) * 3,
        DEEP,
    ),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True),
        lambda n, t: (floats(n, t, 8),),
        DEEP,
    ),
    "TransformerDecoderLayer": (
        lambda: nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True),
        lambda n, t: (floats(n, t, 8), floats(n, t + 1, 8)),
        DEEP,
    ),
    "Embedding": (lambda: nn.Embedding(9, 4), lambda n, t: (classes(9, n, t),), DEEP),
    "CrossEntropyLoss": (lambda: nn.CrossEntropyLoss(), lambda n: (floats(n, 5), classes(5, n)), FLAT),
    "CrossEntropyLoss, smoothed": (
        lambda: nn.CrossEntropyLoss(label_smoothing=0.1),
        lambda n: (floats(n, 5), classes(5, n)),
        FLAT,
    ),
    "SoftmaxCrossEntropyWithLogits": (
        lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        lambda n: (floats(n, 5), classes(5, n)),
        FLAT,
    ),
    "NLLLoss": (lambda: nn.NLLLoss(), lambda n: (floats(n, 5), classes(5, n)), FLAT),
    "MSELoss": (lambda: nn.MSELoss(), lambda n: (floats(n, 5), floats(n, 5)), FLAT),
    "SmoothL1Loss": (lambda: nn.SmoothL1Loss(), lambda n: (floats(n, 5), floats(n, 5)), FLAT),
    "BCEWithLogitsLoss": (lambda: nn.BCEWithLogitsLoss(), lambda n: (floats(n, 5), floats(n, 5)), FLAT),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), lambda n: (floats(n, 4, 4, 4),), FLAT),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), lambda n: (floats(n, 3, 4, 4),), FLAT),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_keeps_one_plan(name: str, shape_checks: list[str]) -> None:
    make, inputs_of, lengths = LAYERS[name]
    calls = [inputs_of(*some) for some in lengths]
    net = make().set_train()
    net.set_inputs(*placeholders(*calls))
    total = Squares(net).set_train()
    total.set_inputs(*placeholders(*calls))
    positions = tuple([index for index, x in enumerate(calls[0]) if x.dtype is ms.float32])
    gradient = ms.value_and_grad(total, positions or None, tuple(net.trainable_params()) or None)
    for inputs in calls:
        compare(net, net, inputs)
        compare(net, gradient, inputs)
    for compiled in (*cells.plans_of(net), *cells.plans_of(total)):
        assert compiled.counts == {"traced": 1, "replayed": len(calls) - 1, "eager": 0, "refused": 0}
    assert shape_checks


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "mean and var": lambda x: (x - x.mean(axis=0)) / ops.sqrt(x.var(axis=0) + 0.1),
    "std of all": lambda x: x.std() * x,
    "sort": lambda x: ops.sort(x, axis=0)[0],
    "topk": lambda x: ops.topk(x, 2)[0],
    "gather_elements": lambda x: ops.gather_elements(x, 1, ops.argmax(x, 1, keepdim=True)),
    "one_hot": lambda x: ops.one_hot(ops.argmax(x, 1), 5, Tensor(1.0), Tensor(0.0)) * x[:, :1],
    "pairs": lambda x: x[: x.shape[0] // 2 * 2].reshape(x.shape[0] // 2, 2, -1).sum(axis=1),
    "distances": lambda x: ops.square(x.expand_dims(0) - x.expand_dims(1)).sum(axis=-1),
    "causal": lambda x: ops.softmax(ops.tril(ops.matmul(x, x.swapaxes(0, 1)))) @ x,
    "places": lambda x: x + ops.arange(x.shape[0]).reshape(-1, 1) / 7.0,
    "noise": lambda x: x + ops.randn(x.shape[0], 3),
    "padded": lambda x: ops.pad(x, (1, 2)),
    "joined": lambda x: ops.concat((x, ops.zeros((2, 3), ms.float32), x[1:]), 0) / x.shape[0],
    "einsum": lambda x: ops.einsum("ij,kj->ik", x, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_keeps_one_plan(name: str, shape_checks: list[str]) -> None:
    def total(x: Any) -> Any:
        return ops.square(FUNCTIONS[name](x)).sum()

    placeholder = Tensor(shape=[None, 3], dtype=ms.float32)
    function = ms.jit(ms.enable_dynamic(x=placeholder)(lambda x: FUNCTIONS[name](x) * 1.0))
    gradient = ms.value_and_grad(ms.jit(ms.enable_dynamic(x=placeholder)(total)), 0)
    for n in (5, 8, 4, 90):
        x, position = floats(n, 3), random.position()
        for item in (function, gradient):
            random.go_to(position)
            expected = plain_value(eagerly_without_plans(item, x)), random.position()
            random.go_to(position)
            assert (plain_value(item(x)), random.position()) == expected
    (compiled,) = cells.plans_of(function)
    assert compiled.counts == {"traced": 1, "replayed": 3, "eager": 0, "refused": 0}
    assert shape_checks


def test_a_large_array_that_no_rule_reads_is_of_the_call_s_own_shape(shape_checks: list[str]) -> None:
    net = nn.SequentialCell(nn.ReLU(), nn.Flatten(), nn.Dense(40, 3))
    total = Squares(net)
    total.set_inputs(Tensor(shape=[None, 4, 10], dtype=ms.float32))
    gradient = ms.value_and_grad(total, 0, tuple(net.trainable_params()))
    for n in (600, 5, 900):
        compare(net, gradient, (floats(n, 4, 10),))
    (compiled,) = cells.plans_of(total)
    assert compiled.counts["traced"] == 1
    assert "_without_memory" in shape_checks


class Sentences(nn.Cell):
    """Word numbers to classes: embedding, LSTM and attention over variable batches and lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.over_time = nn.LSTM(8, 4, bidirectional=True, batch_first=True)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True)
        self.out = nn.Dense(8, 5)

    def construct(self, x: Any) -> Any:
        result, _ = self.over_time(self.words(x))
        n, length, width = result.shape
        positions = ops.arange(length).reshape(1, length, 1) / 10.0
        mask = ops.triu(ops.ones((length, length), ms.bool_), 1)
        result = self.layer(result + ops.zeros((n, length, width), ms.float32) + positions, mask)
        return self.out(result.mean(axis=1))


class Images(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Dropout(p=0.2),
            nn.Dense(64, 5),
        )

    def construct(self, x: Any) -> Any:
        return self.layers(x)


@pytest.mark.parametrize(("way", "update"), [("cell", "Adam"), ("jit", "SGD"), ("gradient", "Momentum")])
@pytest.mark.parametrize("kind", [Sentences, Images])
def test_a_training_is_one_plan(kind: type[nn.Cell], way: str, update: str) -> None:
    is_text = kind is Sentences
    placeholder = (
        Tensor(shape=[None, None], dtype=ms.int32) if is_text else Tensor(shape=[None, 1, 8, 8], dtype=ms.float32)
    )
    told_classes = Tensor(shape=[None], dtype=ms.int32)
    shapes = [(4, 5), (3, 2), (7, 6), (2, 9), (4, 5)]
    batches = [((classes(11, n, t) if is_text else floats(n, 1, 8, 8)), classes(5, n)) for n, t in shapes]

    def trained(by_plans: bool) -> tuple[Any, ...]:
        ms.set_context(mode=ms.PYNATIVE_MODE)
        ms.set_seed(3)
        net = kind().set_train()
        rates = (0.1, 0.9) if update == "Momentum" else (0.01,)
        optimizer: Any = getattr(nn, update)(net.trainable_params(), *rates)
        with_loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
        step: Any
        of: Any
        if way == "cell":
            of = step = nn.TrainOneStepCell(with_loss, optimizer).set_train()
        else:
            of, gradient = with_loss, ms.value_and_grad(with_loss, None, optimizer.parameters)

            def step(x: Any, y: Any) -> Any:
                loss, gradients = gradient(x, y)
                optimizer(gradients)
                return loss

        if way == "jit" and by_plans:
            of = step = ms.jit(ms.enable_dynamic(x=placeholder, y=told_classes)(step))
        elif way != "jit":
            of.set_inputs(placeholder, told_classes)
        if by_plans and way != "jit":
            ms.set_context(mode=ms.GRAPH_MODE)
        losses = [step(*batch).asnumpy().tobytes() for batch in batches]
        parameters = [p.asnumpy().tobytes() for p in (*net.get_parameters(), *optimizer.get_parameters())]
        return losses, parameters, random.position(), cells.plans_of(of)

    *expected, _ = trained(False)
    *actual, compiled = trained(True)
    assert actual == expected
    assert [len(result.sources) for result in compiled] == [1]


def test_no_plan_answers_for_another_length() -> None:
    counts = Counter[str]()
    wrong = run_all(range(16), counts)  # make nightly runs thousands
    assert not wrong, wrong[0]
    assert counts["replayed"] > counts["eager"]


@pytest.mark.parametrize("n", [0, 1])
def test_lengths_of_nothing_and_of_one_have_plans_of_their_own(n: int) -> None:
    net = nn.ReLU()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    add = ms.jit(ms.enable_dynamic(x=OPEN, y=OPEN)(lambda x, y: x + y))
    for first, second in ((4, 4), (n, n), (5, 5), (4, 1), (7, 1)):
        x, y = floats(first, 3), floats(second, 3)
        assert plain_value(net(x)) == plain_value(Tensor(np.maximum(x.asnumpy(), 0)))
        assert plain_value(add(x, y)) == plain_value(Tensor(x.asnumpy() + y.asnumpy()))
    assert [len(compiled.sources) for compiled in cells.plans_of(net)] == [2]
    assert [len(compiled.sources) for compiled in cells.plans_of(add)] == [3]


@pytest.mark.parametrize("widths", [(5, 6, 5, 7), (6, 5, 7, 5)])
def test_what_a_reshaped_tensor_shares_is_up_to_the_lengths(widths: tuple[int, ...]) -> None:
    class Writing(nn.Cell):
        def construct(self, x: Any) -> Any:
            part = (x * 1.0)[:, :5]  # in one piece where that is all
            part.reshape(-1)[0] = 7.0
            return part * 1.0

    net = Writing()
    net.set_inputs(Tensor(shape=[None, None], dtype=ms.float32))
    for n, width in enumerate(widths, 2):
        compare(net, net, (floats(n, width),))


@pytest.mark.parametrize("widths", [(5, 6, 5), (6, 5, 6)])
def test_whether_a_result_is_a_view_of_an_argument_is_up_to_the_lengths(widths: tuple[int, ...]) -> None:
    class Parting(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x[:, :5].reshape(-1)  # a view where that is all

    net = Parting()
    net.set_inputs(Tensor(shape=[None, None], dtype=ms.float32))
    for n, width in enumerate(widths, 2):
        log = []
        for call in (net, lambda x: eagerly(net, x)):
            x = Tensor(np.ones((n, width), np.float32))
            result = call(x)
            result[0] = 7.0
            log.append((plain_value(x), plain_value(result)))
        assert log[0] == log[1]


def test_how_elements_lie_is_up_to_the_lengths() -> None:
    class Laying(nn.Cell):
        def construct(self, x: Any) -> Any:
            part = x[:, :5]
            return (part * 2.0 if part.is_contiguous() else part * 3.0), part.contiguous().sum()

    net = Laying()
    net.set_inputs(Tensor(shape=[None, None], dtype=ms.float32))
    for n, width in ((3, 5), (3, 6), (40, 5), (40, 6)):
        compare(net, net, (floats(n, width),))


@pytest.mark.parametrize("unused", [lambda x: x[5], lambda x: ops.broadcast_to(x, (6, 3)), lambda x: x.reshape(18)])
def test_an_error_of_what_nobody_uses_is_raised(unused: Callable[[Any], Any]) -> None:
    class Unused(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            unused(x)
            return y * 2.0

    net = Unused()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32), Tensor(shape=[None], dtype=ms.float32))
    for n in (6, 4, 5, 6):
        x, y = floats(n, 3), floats(n)
        if n == 6:
            compare(net, net, (x, y))
        else:
            with pytest.raises((IndexError, ValueError)):
                net(x, y)


def test_one_tensor_given_twice_has_a_plan_of_its_own() -> None:
    class Both(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x * y + x.shape[0], (x - y).sum(axis=0)

    net = Both()
    net.set_inputs(*[Tensor(shape=[None, 3], dtype=ms.float32)] * 2)
    for n in (4, 5, 6):
        x = floats(n, 3)
        for other in (x, floats(n, 3), x * 1.0):
            compare(net, net, (x, other))
    (compiled,) = cells.plans_of(net)
    assert (len(compiled.sources), compiled.counts["replayed"]) == (2, 7)


def test_an_error_leaves_what_it_leaves_eagerly() -> None:
    class Counting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.calls = ms.Parameter(Tensor(0.0), "calls")
            self.count = 0

        def construct(self, x: Any) -> Any:
            ops.assign(self.calls, self.calls + 1.0)
            self.count += 1
            return x.reshape(x.shape[0] // 2, 2) * 1.0

    net = Counting()
    net.set_inputs(Tensor(shape=[None], dtype=ms.float32))
    for calls in (1, 2):
        with pytest.raises(ValueError, match="do not fit"):
            net(floats(5))
        assert (float(net.calls), net.count) == (calls, calls)


def test_a_constant_is_spread_to_the_call_s_own_length() -> None:
    class Spreading(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.broadcast_to(Tensor([1.0, 2.0, 3.0]), x.shape) * 2.0, ops.zeros_like(x[:2]) + x[:2]

    net = Spreading()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    for n in (4, 7):
        compare(net, net, (floats(n, 3),))


def test_a_gradient_of_what_was_spread_has_the_call_s_own_length() -> None:
    @ms.jit
    @ms.enable_dynamic(x=Tensor(shape=[None, 1], dtype=ms.float32), y=Tensor(shape=[None, 3], dtype=ms.float32))
    def product(x: Any, y: Any) -> Any:
        return (x * y + x - y).sum()

    gradient = ms.value_and_grad(product, (0, 1))
    for n in (4, 7, 3):
        x, y = floats(n, 1), floats(n, 3)
        assert plain_value(gradient(x, y)) == plain_value(eagerly_without_plans(gradient, x, y))
    (compiled,) = cells.plans_of(product)
    assert compiled.counts == {"traced": 1, "replayed": 2, "eager": 0, "refused": 0}


def test_what_an_operator_without_a_rule_gives_has_a_plan_a_length() -> None:
    class Inverting(nn.Cell):
        def construct(self, x: Any) -> Any:
            result = ops.inverse(x)
            return result * result.shape[0]

    net = Inverting()
    net.set_inputs(Tensor(shape=[None, 3, 3], dtype=ms.float32))
    for n in (4, 7, 3, 7):
        compare(net, net, (floats(n, 3, 3),))
    (compiled,) = cells.plans_of(net)
    assert len(compiled.sources) > 1


def test_a_branch_on_a_length_has_a_plan_for_each_side() -> None:
    class Branching(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2.0 if x.shape[0] > 4 else x * 3.0

    net = Branching()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    for n in (2, 3, 4, 5, 6, 9, 3):
        compare(net, net, (floats(n, 3),))
    (compiled,) = cells.plans_of(net)
    assert (len(compiled.sources), compiled.counts["traced"]) == (2, 2)


def test_a_length_that_python_computes_with_has_a_plan_each() -> None:
    class Halving(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * (x.shape[0] / 2)

    net = Halving()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    for n in (2, 3, 4, 2, 3, 4):
        compare(net, net, (floats(n, 3),))
    (compiled,) = cells.plans_of(net)
    assert (len(compiled.sources), compiled.counts["replayed"]) == (3, 1)


def test_what_is_followed_keeps_the_length_open() -> None:
    class Following(nn.Cell):
        def construct(self, x: Any) -> Any:
            n, width = x.shape
            pairs = x[: n // 2 * 2].reshape(n // 2, 2, width).sum(axis=1)
            return ops.concat((pairs, x[1:] * n), 0), x.shape, x.size - 1

    net = Following()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    for n in (5, 8, 11, 4):
        compare(net, net, (floats(n, 3),))
    (compiled,) = cells.plans_of(net)
    assert compiled.counts == {"traced": 1, "replayed": 3, "eager": 0, "refused": 0}


def test_what_no_eager_call_raises_is_not_seen() -> None:
    class Telling(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.dropout(x, 0.5) * len(json.dumps(x.shape[0]))  # which takes an int only

    net = Telling()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # json's own code is not inspected
        for n in (4, 12):
            compare(net, net, (floats(n, 3),))


def test_what_an_eager_call_raises_is_raised_and_changes_what_it_changes() -> None:
    class Failing(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.calls = ms.Parameter(Tensor(0.0), "calls")

        def construct(self, x: Any) -> Any:
            ops.assign(self.calls, self.calls + 1.0)
            return x.reshape(x.shape[0] // 2, 2) * 1.0

    net = Failing()
    net.set_inputs(Tensor(shape=[None], dtype=ms.float32))
    for calls, n in enumerate((4, 5, 7, 6), 1):
        if n % 2:
            with pytest.raises(ValueError, match=rf"{n} elements of shape \({n},\) do not fit"):
                net(floats(n))
        else:
            assert net(floats(n)).shape == (n // 2, 2)
        assert float(net.calls) == calls


def test_code_that_keeps_a_length_keeps_an_int() -> None:
    class Keeping(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Any] = []
            self.last: Any = None

        def construct(self, x: Any) -> Any:
            self.last = x.shape[0] * 2
            self.seen.append((x.shape, [x.shape[0]], {"n": x.shape[0]}))
            return x * 2.0

    net = Keeping()
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it changes its own argument
        for n in (4, 5):
            net(floats(n, 3))
            assert json.dumps(net.seen[-1]) == f'[[{n}, 3], [{n}], {{"n": {n}}}]'
            assert type(net.last) is int


def test_code_that_asks_for_types_sees_ints() -> None:
    class Asking(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * (2.0 if type(x.shape[0]) is int else 3.0)

    code = (lambda n: 2.0 if type(n) is int else 3.0).__code__  # whose code is not inspected before it runs

    class AskingElsewhere(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * types.FunctionType(code, {})(x.shape[0])

    class AskingAfterADraw(nn.Cell):
        def construct(self, x: Any) -> Any:
            x = ops.dropout(x, p=0.5, training=True)
            return x * types.FunctionType(code, {})(x.shape[0])

    for net in (Asking(), AskingElsewhere(), AskingAfterADraw()):
        net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
        for n in (4, 5, 5, 5):
            compare(net, net, (floats(n, 3),))
        (compiled,) = cells.plans_of(net)
        assert compiled.counts["replayed"] > 0


def test_lengths_that_were_seen_to_change_are_left_open_by_dynamic() -> None:
    @ms.jit(dynamic=1)
    def joined(x: Any, y: Any) -> Any:
        return ops.concat((x, y), 0) * x.shape[0]

    for n, m in ((3, 2), (3, 2), (4, 2), (5, 2), (6, 3), (8, 4), (9, 9), (1, 9)):
        x, y = floats(n, 3), floats(m, 3)
        both = np.concatenate((x.asnumpy(), y.asnumpy()))
        assert plain_value(joined(x, y)) == plain_value(Tensor(both * np.float32(n)))
    (compiled,) = cells.plans_of(joined)
    assert compiled.counts == {"traced": 4, "replayed": 4, "eager": 0, "refused": 0}


def test_enable_dynamic_before_and_after_jit_and_of_a_method() -> None:
    placeholder = Tensor(shape=[None, 3], dtype=ms.float32)

    @ms.jit
    @ms.enable_dynamic(x=placeholder, pair=[placeholder, placeholder])
    def before(x: Any, factor: float, pair: Any) -> Any:
        return x.sum(0) * factor + pair[0].mean(0) - pair[1].sum(0)

    @ms.enable_dynamic(x=placeholder, pair=[placeholder, placeholder])
    @ms.jit
    def after(x: Any, factor: float, pair: Any) -> Any:
        return x.sum(0) * factor + pair[0].mean(0) - pair[1].sum(0)

    class Owner:
        @ms.jit
        @ms.enable_dynamic(x=placeholder)
        def method(self, x: Any) -> Any:
            return x.mean(0)

    owner = Owner()
    gradient = ms.value_and_grad(before, 0)
    for n, m in ((3, 4), (5, 2), (9, 9)):
        x, pair = floats(n, 3), [floats(m, 3), floats(n, 3)]
        for function in (before, after, gradient):
            assert plain_value(function(x, 2.0, pair=pair)) == plain_value(
                eagerly_without_plans(function, x, 2.0, pair=pair)
            )
        assert plain_value(owner.method(x)) == plain_value(eagerly_without_plans(owner.method, x))
    for function in (before, after, Owner.method):
        assert [compiled.counts["traced"] for compiled in cells.plans_of(function)] in ([1], [1, 1])


def eagerly_without_plans(function: Any, *args: Any, **kwargs: Any) -> Any:
    before = cells.IS_OFF
    cells.IS_OFF = True
    try:
        return eagerly(function, *args, **kwargs) if not kwargs else eagerly(lambda: function(*args, **kwargs))
    finally:
        cells.IS_OFF = before


@pytest.mark.parametrize(
    ("error", "text", "make"),
    [
        (ValueError, "at least one argument must be declared", lambda: ms.enable_dynamic()),
        (TypeError, "'x' must be a Tensor, or a tuple or list of them", lambda: ms.enable_dynamic(x=3)(double)),
        (TypeError, "at least one length of 'x' must be None", lambda: ms.enable_dynamic(x=floats(2))(double)),
        (ValueError, "has no argument 'z', only", lambda: ms.enable_dynamic(z=OPEN)(lambda x: x)),
        (ValueError, "a function must be decorated, but got int", lambda: ms.enable_dynamic(x=OPEN)(3)),
        (ValueError, r"'x' must have the shape \(-1, 3\), but got \(5, 4\)", lambda: DOUBLE(floats(5, 4))),
        (ValueError, r"'x' must have 2 axes, but got shape \(3,\)", lambda: DOUBLE(floats(3))),
        (TypeError, "'x' must have dtype Float32, but got Float16", lambda: DOUBLE(floats(2, 3).astype(ms.float16))),
        (TypeError, "'x' must be a Tensor, as declared, but got int", lambda: DOUBLE(3)),
    ],
)
def test_enable_dynamic_refuses(error: type[Exception], text: str, make: Callable[[], Any]) -> None:
    with pytest.raises(error, match=text):
        make()


OPEN = Tensor(shape=[None, 3], dtype=ms.float32)


def double(x: Tensor) -> Tensor:
    return x * 2.0


DOUBLE = ms.jit(ms.enable_dynamic(x=OPEN)(double))


def test_a_gradient_leaves_lengths_of_a_symbol_open_and_compares_its_arguments() -> None:
    placeholder = Tensor(shape=[ms.Symbol(max=8, divisor=2), 3], dtype=ms.float32)
    function = ms.jit(ms.enable_dynamic(x=placeholder)(lambda x: x.sum() * x.shape[0]))
    gradient = ms.value_and_grad(function, 0)
    for n in (2, 4, 6, 8):
        assert gradient(floats(n, 3))[1].tolist() == [[float(n)] * 3] * n
    assert [compiled.counts["traced"] for compiled in cells.plans_of(function)] == [1]
    for x, error in ((floats(3, 3), ValueError), (floats(10, 3), ValueError), (floats(2, 3).half(), TypeError)):
        with pytest.raises(error, match="argument 'x' must have"):
            gradient(x)


def test_a_call_that_changes_a_list_that_was_told_of_ends_as_an_eager_one() -> None:
    @ms.jit
    @ms.enable_dynamic(x=[OPEN, OPEN])
    def last(x: Any) -> Any:
        return x.pop() * 2.0

    with pytest.warns(UserWarning, match="it changes its arguments"):
        assert last([floats(3, 3), floats(4, 3)]).shape == (4, 3)


def test_inputs_in_any_order_have_the_lengths_that_were_told_of_them() -> None:
    class Net(nn.Cell):
        def construct(self, x: Any, y: Any) -> Any:
            return x.sum(0) + y

    for declaration in ({"x": OPEN}, {}):
        net = Net()
        net.set_inputs(**declaration) if declaration else net.set_inputs(OPEN, Tensor(shape=[3], dtype=ms.float32))
        for n in (3, 4, 5):
            net.compile_and_run(y=floats(3), x=floats(n, 3))
        assert [compiled.counts["traced"] for compiled in cells.plans_of(net)] == [1]


def test_what_was_told_of_other_arguments_than_come_leaves_nothing_open() -> None:
    class Net(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x * 2.0

    net = Net()
    net.set_inputs([OPEN, OPEN])
    assert ms.jit(net)(floats(4, 3)).shape == (4, 3)  # jit of a cell compares nothing


def test_a_function_with_open_lengths_inside_a_gradient_from_outside_has_a_plan_for_each_length() -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    weight = ms.Parameter(floats(3, 4))

    def function(x: Any) -> Any:
        return (x @ weight).reshape(x.shape[0] * 2, 2).sum(0)

    inner = ms.jit(ms.enable_dynamic(x=OPEN)(function))
    gradient = ms.value_and_grad(lambda x: (inner(x) * inner(x)).sum() * 1.5, 0, [weight])
    eager = ms.value_and_grad(lambda x: (function(x) * function(x)).sum() * 1.5, 0, [weight])
    for n in (3, 5, 3, 5, 3, 5):
        x = floats(n, 3)
        assert plain_value(inner(x)) == plain_value(function(x))
        assert plain_value(gradient(x)) == plain_value(eager(x))
    (compiled,) = cells.plans_of(inner)
    assert compiled.counts["traced"] == 3  # alone it has one


def test_at_o1_open_lengths_keep_the_bits_of_eager_calls() -> None:
    net = nn.SequentialCell(nn.Dense(3, 4), nn.GELU(), nn.LayerNorm((4,)))
    net.set_jit_config(ms.JitConfig(jit_level="O1"))
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    for n in (3, 8, 5):
        compare(net, net, (floats(n, 3),))
    (compiled,) = cells.plans_of(net)
    assert compiled.counts["traced"] == 1


def test_set_inputs_may_be_told_otherwise_later() -> None:
    net = nn.Dense(3, 2)
    net.set_inputs(Tensor(shape=[None, 3], dtype=ms.float32))
    for n in (3, 4):
        compare(net, net, (floats(n, 3),))
    net.set_inputs(Tensor(shape=[None, None, 3], dtype=ms.float32))
    for n in (3, 4, 6):
        compare(net, net, (floats(n, n + 1, 3),))
    (compiled,) = cells.plans_of(net)
    assert (len(compiled.sources), compiled.counts["replayed"]) == (2, 3)
