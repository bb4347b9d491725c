"""``set_context(mode=GRAPH_MODE)``, ``jit`` and the graph methods of cells keep their promises."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, context, nn, ops, train
from hookscope.engine.base import modes
from hookscope.engine.compile import plans_of
from hookscope.engine.compile.cells import compiled_of
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.ops.legacy import side_effects
from hookscope.engine.tensors import random

X = Tensor(np.array([[1.0, -2.0], [3.0, 0.5]], np.float32))


@pytest.fixture
def graph_mode() -> Iterator[None]:
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Dropping(nn.Cell):
    """A cell that counts its calls in a parameter, and drops at random."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2, 2)
        self.drop = nn.Dropout(p=0.5)
        self.calls = ms.Parameter(Tensor(0.0), "calls")

    def construct(self, x: Any) -> Any:
        ops.assign(self.calls, self.calls + 1.0)
        return self.drop(self.dense(x))


def plans(cell: nn.Cell) -> CompiledFunction:
    compiled: CompiledFunction = cell.__dict__["_compiled"]
    return compiled


def test_compile_makes_a_plan_and_changes_nothing() -> None:
    net = Dropping().set_train()
    before = random.position()
    assert not net.compiled
    assert net.compile(X) is None
    assert net.compiled
    assert float(net.calls) == 0.0
    assert random.position() == before
    expected = net(X).asnumpy()
    random.go_to(before)
    assert np.array_equal(net.compile_and_run(X).asnumpy(), expected)
    assert plans(net).counts == {"traced": 1, "replayed": 1, "eager": 0, "refused": 0}
    assert float(net.calls) == 2.0


def test_a_jit_config_says_at_which_level_a_cell_s_graphs_run() -> None:
    levels = {}
    for level in ("O0", "O1"):
        net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh(), nn.Sigmoid())
        net.set_jit_config(ms.JitConfig(jit_level=level))
        net.compile(X)
        levels[level] = [len(item.plan.graph.nodes) for some in plans(net).plans.values() for item in some]
    assert levels["O1"] < levels["O0"]


WRAPPED: dict[str, Callable[[nn.Cell], nn.Cell]] = {
    "a training step": lambda net: nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
    ),
    "one with a loss scale": lambda net: nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), nn.FixedLossScaleUpdateCell(8.0)
    ),
    "a Model's": lambda net: train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)).train_network,
    "a Model's without a loss": lambda net: train.Model(nn.WithLossCell(net, nn.MSELoss())).train_network,
    "gradients": lambda net: nn.WithGradCell(net, nn.MSELoss()),
    "values and gradients": lambda net: nn.ForwardValueAndGrad(net, None, True),
    "an evaluation": lambda net: nn.WithEvalCell(net, nn.MSELoss()),
    "parts of a batch": lambda net: nn.MicroBatchInterleaved(net, 2),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_put_around_a_cell_has_its_jit_config(name: str) -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh())
    net.set_jit_config(ms.JitConfig(jit_level="O1"))
    made = WRAPPED[name](net)
    assert made.jit_config_dict["jit_level"] == "O1"
    assert compiled_of(made).level == "O1"
    assert WRAPPED[name](nn.SequentialCell(nn.Dense(2, 2), nn.Tanh())).jit_config_dict == {}


@pytest.mark.usefixtures("graph_mode")
def test_in_graph_mode_calls_are_compared_with_what_set_inputs_said() -> None:
    net = nn.Dense(2, 2)
    net.set_inputs(Tensor(shape=[None, 2], dtype=ms.float32))
    assert net(X).shape == (2, 2)
    assert net(X[:1]).shape == (1, 2)
    with pytest.raises(ValueError, match=r"input 0 must have 2 axes, but got shape \(2,\)"):
        net(X[0])
    with pytest.raises(ValueError, match=r"input 0 must have the shape \(-1, 2\), but got \(2, 1\)"):
        net(X[:, :1])
    with pytest.raises(TypeError, match="input 0 must have dtype Float32, but got Int32"):
        net(X.astype(ms.int32))
    with pytest.raises(TypeError, match="For 'Dense', too many positional arguments"):
        net(X, X)
    with pytest.raises(TypeError, match="input 0 must be a Tensor, as declared, but got ndarray"):
        net(X.asnumpy())


def test_a_branch_on_a_value_runs_eagerly_and_one_warning_names_the_line() -> None:
    @ms.jit
    def positive(x: Any) -> Any:
        if x.sum() > 0:
            return x + 1
        return x - 1

    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        for x in (X, -X, X):
            assert np.array_equal(positive(x).asnumpy(), x.asnumpy() + (1 if x.sum() > 0 else -1))
    (record,) = records
    text = r"no plan can be made of '.*positive': .*test_modes.py:\d+.*runs eagerly"
    assert re.match(text, str(record.message))


def test_with_fullgraph_it_is_an_error_that_names_the_line_and_nothing_is_changed() -> None:
    weight = ms.Parameter(Tensor(1.0), "weight")

    @ms.jit(fullgraph=True)
    def read(x: Any) -> Any:
        ops.assign(weight, weight + 1.0)
        return ops.dropout(x, p=0.5, training=True) * float(x.sum())

    position = random.position()
    with pytest.raises(RuntimeError, match=r"no plan can be made of '.*read': .*test_modes.py:\d+"):
        read(X)
    assert float(weight) == 1.0
    assert random.position() == position


def test_what_a_kernel_refuses_is_told_as_eagerly() -> None:
    table = Tensor(np.ones((3, 2), np.float32))

    def picked(index: Any) -> Any:
        return ops.gather(table, index, 0)

    compiled = ms.jit(picked)
    for _ in range(2):
        assert compiled(Tensor([0, 2])).shape == (2, 2)
    with pytest.raises(RuntimeError) as eager:
        picked(Tensor([0, 5]))
    with pytest.raises(RuntimeError) as by_plan:
        compiled(Tensor([0, 5]))
    assert str(by_plan.value) == str(eager.value)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"capture_mode": "source"}, ValueError, "'capture_mode' must be one of"),
        ({"jit_level": "O2"}, ValueError, "'jit_level' must be one of"),
        ({"dynamic": 2}, ValueError, "'dynamic' must be one of"),
        ({"dynamic": 0.5}, TypeError, "'dynamic'"),
        ({"fullgraph": 3}, TypeError, "'fullgraph'"),
        ({"backend": "GE"}, RuntimeError, "'backend' must be '' or 'ms_backend'"),
        ({"exec_order": "dbs"}, ValueError, "'exec_order' must be one of"),
        ({"disable_format_transform": 1}, TypeError, "'disable_format_transform'"),
        ({"dynamic": True}, TypeError, "'dynamic' must be an int"),
        ({"fullgraph": 1}, TypeError, "'fullgraph' must be a bool"),
        ({"jit_level": ""}, ValueError, "'jit_level' must be one of"),
        ({"auto_offload": ""}, ValueError, "'auto_offload' must be one of"),
        ({"auto_offload": True}, TypeError, "'auto_offload' must be"),
        ({"exc_mode": "xyz"}, ValueError, "'exc_mode' must be one of"),
        ({"ge_options": 3}, TypeError, "'ge_options' must be"),
        ({"ge_options": {"x": {}}}, ValueError, "'ge_options' must be one of"),
        ({"ge_options": {"global": 1}}, TypeError, "global of 'ge_options'"),
        ({"ge_options": {"global": {"a": 1}}}, TypeError, "must be a dict of texts"),
        ({"fn": len}, TypeError, "'fn' must be a plain value, but got builtin_function_or_method"),
        ({"unknown": X}, TypeError, "'unknown' must be a plain value, but got Tensor"),
    ],
)
def test_an_option_that_jit_does_not_know_is_refused(options: dict[str, Any], error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        ms.jit(lambda x: x, **options)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("exec_order", "bfs", "has no effect here: it is for other devices"),
        ("ge_options", {"global": {"a": "b"}}, "has no effect here: it is for other devices"),
        ("jit_syntax_level", "STRICT", "has no effect here: 'fullgraph' makes graph breaks errors"),
        ("unknown", 1, "has no effect here"),
        ("mode", "PIJit", "is an old one without effect: use 'capture_mode'"),
        ("input_signature", X, "is an old one without effect: use 'enable_dynamic'"),
        ("jit_config", ms.JitConfig(jit_level="O1"), "is an old one without effect: use 'jit_level'"),
    ],
)
def test_an_option_without_effect_says_so(name: str, value: Any, text: str) -> None:
    with pytest.warns(UserWarning, match=f"For 'jit', the option '{name}' {text}"):
        ms.jit(lambda x: x, **{name: value})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"jit_level": "O2"}, "jit_level='O2' has no effect here: .* plans are those of 'O0'"),
        ({"jit_syntax_level": "STRICT"}, r"jit_syntax_level='STRICT' has no effect here: jit\(fullgraph=True\)"),
        ({"debug_level": "DEBUG"}, "debug_level='DEBUG' has no effect here: .*plans_of shows the plans"),
        ({"exc_mode": "sink"}, "exc_mode='sink' has no effect here"),
        ({"infer_boost": "on"}, "infer_boost='on' has no effect here"),
        ({"whatever": 3}, "whatever=3 has no effect here"),
    ],
)
def test_an_option_of_a_jit_config_without_effect_says_so(options: dict[str, Any], text: str) -> None:
    config = ms.JitConfig(**options)
    with pytest.warns(UserWarning, match=f"For 'set_jit_config', {text}"):
        nn.ReLU().set_jit_config(config)


def test_a_cell_takes_one_jit_config_and_makes_its_plans_anew() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh(), nn.Sigmoid())
    net.compile(X)
    net.set_jit_config(ms.JitConfig(jit_level="O1"))
    net.compile(X)
    assert plans(net).level == "O1"
    with pytest.warns(UserWarning, match="'SequentialCell' has a jit config already, and the new one is ignored"):
        net.set_jit_config(ms.JitConfig(jit_level="O0"))
    assert net.jit_config_dict["jit_level"] == "O1" and net.jit_config_dict["backend"] == "ms_backend"
    for wrong in (3, None, {}):
        with pytest.raises(AttributeError, match="'jit_config' must be a JitConfig, but got"):
            nn.ReLU().set_jit_config(wrong)


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(context, "_settings", dict(context._settings))
    yield
    modes.set_level("O0")


@pytest.mark.usefixtures("graph_mode", "settings")
@pytest.mark.parametrize("setting", [{"jit_level": "O1"}, {"jit_config": {"jit_level": "O1"}}])
def test_the_context_s_level_is_that_of_plans_for_which_nobody_says_another(setting: dict[str, Any]) -> None:
    def nodes(net: nn.Cell) -> int:
        net(X)
        net(X)
        (plan,) = plans(net).plans.values()
        return len(plan[-1].plan.graph.nodes)

    def network(**config: Any) -> nn.Cell:
        net = nn.SequentialCell(nn.Dense(2, 2), nn.Tanh(), nn.Sigmoid())
        if config:
            net.set_jit_config(ms.JitConfig(**config))
        return net

    at_first = network()
    exact = nodes(at_first)
    ms.set_context(**setting)
    assert ms.get_context("jit_level") == "O1"
    assert nodes(at_first) < exact  # also if there are plans already
    assert nodes(network()) == nodes(network(jit_level="O1")) == nodes(network(exc_mode="auto")) < exact
    assert nodes(network(jit_level="O0")) == exact
    function = ms.jit(nn.SequentialCell(nn.Tanh(), nn.Sigmoid()))
    function(X)
    assert plans_of(function)[0].level == "O0"  # warnings of ``jit`` itself


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        ("jit_level", "O2", "jit_level='O2' has no effect here"),
        ("jit_config", {"infer_boost": "on"}, "infer_boost has no effect here"),
        ("enable_graph_kernel", True, "enable_graph_kernel has no effect here: jit_level='O1' joins operators"),
        ("save_graphs", 1, "save_graphs has no effect here: .*plans_of shows the plans"),
        ("jit_syntax_level", 0, r"jit_syntax_level has no effect here: jit\(fullgraph=True\)"),
        ("enable_compile_cache", True, "enable_compile_cache has no effect here: each process makes its plans anew"),
        ("check_bprop", True, "check_bprop has no effect here: the debugger compares"),
        ("exec_order", "dfs", "exec_order has no effect here: operators run in the order of the code"),
        ("print_file_path", "printed", "print_file_path has no effect here: ops.Print writes to the screen"),
    ],
)
def test_a_setting_of_graphs_without_effect_says_so(setting: str, value: Any, text: str) -> None:
    with pytest.warns(UserWarning, match=f"For 'set_context', {text}"):
        ms.set_context(**{setting: value})
    assert ms.get_context(setting) == value


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("setting", "value", "text"),
    [
        ("jit_level", "O3", "'jit_level' must be one of"),
        ("jit_config", {"jit_level": "x"}, "'jit_level' of 'jit_config' must be one of"),
        ("jit_config", {"exc_mode": "sink"}, "'jit_config' must have keys of"),
    ],
)
def test_a_level_that_there_is_not_is_refused(setting: str, value: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        ms.set_context(**{setting: value})


def init(name: str) -> Any:
    def function(self: Any) -> None: ...

    function.__name__ = name
    return function


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (lambda: ms.lazy_inline(nn.ReLU), ValueError, "'__init__' must be decorated, but got 'ReLU'"),
        (lambda: ms.lazy_inline(init("other")), ValueError, "'__init__' must be decorated, but got 'other'"),
        (lambda: ms.lazy_inline(attrs=3), ValueError, "'attrs' must be a list or a str, but got int"),
        (lambda: ms.lazy_inline(attrs=[3]), ValueError, r"'attrs' must hold texts, but got \[3\]"),
        (lambda: ms.lazy_inline(policy="back"), ValueError, "'policy' must be one of"),
        (lambda: ms.lazy_inline(3), TypeError, "a function must be decorated, but got int"),
        (lambda: ms.no_inline(3), TypeError, "a function must be decorated, but got int"),
        (lambda: ops.constexpr(3), TypeError, "'fn' must be a function, but got int"),
        (lambda: ms.mutable(None), TypeError, "'input_data' must be a number, a Tensor, or a tuple"),
        (lambda: ms.mutable({"a": None}), TypeError, "'input_data' must be a number"),
        (lambda: ms.mutable(1j), TypeError, "'input_data' must be a number"),
        (lambda: ms.mutable(range(3)), TypeError, "'input_data' must be a number"),
        (lambda: ms.mutable(np.ones(2)), TypeError, "'input_data' must be a number"),
        (lambda: ms.mutable(holding_itself()), TypeError, "that does not hold itself"),
        (lambda: ms.mutable((1,), 3), TypeError, "'dynamic_len' must be a bool"),
        (lambda: ms.mutable({"a": 1}, True), TypeError, "the value must be a tuple or list"),
    ],
)
def test_a_mark_refuses_what_it_cannot_be_put_on(action: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        action()


def holding_itself() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


def test_what_operators_do_beside_computing_is_done_at_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    @ms.jit
    def prints(x: Any) -> Any:
        ops.print_("here")
        ops.Print()("there")
        return x * 2

    with pytest.warns(UserWarning, match="print_.. is called, and a plan would not print"):
        prints(X)
    prints(X)
    prints(X)
    assert capsys.readouterr().out == "here\nthere\n" * 3

    values: list[str] = []
    side_effects.receivers.append(lambda kind, name, value: values.append(name))
    try:
        tells = ms.jit(lambda x: (ops.ScalarSummary()("loss", x.sum()), x * 2)[1])
        tells(X)  # when the receiver's code is met
        with pytest.warns(UserWarning, match="ScalarSummary is called, and a plan would not hand its value"):
            tells(X)
        tells(X)
    finally:
        side_effects.receivers.pop()
    assert values == ["loss"] * 3


def test_a_file_is_written_at_each_call(tmp_path: Path) -> None:
    path = str(tmp_path / "x")

    @ms.jit
    def saves(x: Any) -> Any:
        ops.TensorDump()(path, x)
        return x * 2

    with pytest.warns(UserWarning, match="tensordump.. is called, and a plan would not write a file"):
        saves(X)
    saves(X)
    saves(X)
    assert len(list(tmp_path.iterdir())) == 3


def test_an_argument_that_is_a_view_of_what_a_plan_changes_is_seen_to_change() -> None:
    def outcome(way: Any) -> list[float]:
        weight = ms.Parameter(Tensor([1.0, 2.0, 3.0]), "weight")

        def step(x: Any) -> Any:
            before = x * 10.0
            ops.assign(weight, weight * 2.0)
            return before + x

        step = way(step)
        inputs = [lambda: Tensor([1.0]), lambda: Tensor([2.0]), lambda: weight[:1], lambda: Tensor([4.0])]
        return [float(step(make())[0]) for make in inputs]

    assert outcome(ms.jit) == outcome(lambda function: function)


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_what_calls_give_is_told_apart_where_a_plan_computes_it_once(level: str) -> None:
    def thrice(x: Any) -> Any:
        return x * 2.0, x * 2.0, ops.ones((2, 2), ms.float32), ops.ones((2, 2), ms.float32) * 2.0

    def of_first(a: Tensor, b: Tensor) -> list[list[float]]:
        gradient: list[list[float]] = ms.grad(lambda a: (a * b).sum())(a).tolist()
        return gradient

    compiled = ms.jit(thrice, jit_level=level)
    first, second, third = (compiled(X) for _ in range(3))
    for item in (first, second):
        assert of_first(item[0], item[1]) == item[1].tolist()
    for index in (0, 2, 3):
        assert of_first(second[index], third[index]) == third[index].tolist()
