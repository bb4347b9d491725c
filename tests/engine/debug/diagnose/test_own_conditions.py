"""A function becomes a condition by a decorator, with threshold, evidence, cures and pause as those of the package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import (
    CONDITIONS,
    Capture,
    DebugSession,
    ParameterObservation,
    PausePoint,
    condition,
    remove_condition,
)
from hookscope.engine.debug.diagnose.conditions import registered

X = Tensor(np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))


@pytest.fixture(autouse=True)
def only_here() -> Iterator[None]:
    """Remove the conditions of a test at its end."""
    before = dict(CONDITIONS)
    yield
    CONDITIONS.clear()
    CONDITIONS.update(before)


def network() -> nn.SequentialCell:
    ms.set_seed(0)
    return nn.SequentialCell(nn.Dense(4, 6), nn.ReLU(), nn.Dense(6, 1))


def train(net: nn.Cell, steps: int = 5) -> None:
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    step = ms.value_and_grad(lambda x: net(x).square().mean(), None, optimizer.parameters)
    for _ in range(steps):
        optimizer(step(X)[1])


def findings(net: nn.Cell, *names: str) -> list[Any]:
    with DebugSession(net, conditions=list(names)) as session:
        train(net)
    return list(session.findings())


def test_a_function_of_values() -> None:
    @condition(advice="Use a smaller layer.", threshold=0.4, cells=["ReLU"], steps=3)
    def half_asleep(capture: Capture, share: float) -> str | None:
        """Nearly half of the units give zeros."""
        zeros = capture.statistics().zeros / capture.array.size
        return f"{zeros:.0%} zeros" if zeros > share else None

    results = findings(network(), "half_asleep=0.2")
    assert [(item.condition, item.path, item.advice) for item in results] == [
        ("half_asleep", "1", "Use a smaller layer.")
    ]
    assert results[0].message.endswith("% zeros)") and results[0].certainty == "likely" and results[0].steps == 3
    assert CONDITIONS["half_asleep"].meaning == "Nearly half of the units give zeros"
    assert findings(network(), "half_asleep=0.99") == []


def test_a_function_of_parameters_and_one_of_losses() -> None:
    @condition(about="parameter", certain=True)
    def large_bias_gradient(observation: ParameterObservation) -> bool:
        gradient = observation.gradient
        return gradient is not None and observation.parameter.ndim == 1 and float(gradient.abs().max()) > 0

    @condition(about="loss", symptom=True)
    def more_than_three(losses: tuple[float, ...]) -> str | None:
        return f"{len(losses)} losses" if len(losses) > 3 else None

    results = findings(network(), "large_bias_gradient", "more_than_three")
    assert {(item.place, item.certainty) for item in results} == {
        ("0.bias", "certain"),
        ("2.bias", "certain"),
        ("loss", "symptom"),
    }
    assert next(item.evidence for item in results if item.place == "0.bias") == "in each of the 5 steps from 1 to 5"


def test_all_includes_it_and_the_run_can_pause_at_it() -> None:
    @condition
    def is_positive(capture: Capture) -> bool:
        return bool(capture.array.min() >= 0)

    points: list[PausePoint] = []

    class Pauser:
        def unavailable(self) -> str | None:
            return None

        def wait(self, until: Any) -> None:
            assert session.paused is not None
            points.append(session.paused)
            session.resume()

    net = network()
    with DebugSession(net, conditions=["all"], stop_on=["is_positive"], pauser=Pauser()) as session:
        train(net, 1)
    assert points and all("is_positive" in point.reason for point in points)
    assert any(item.condition == "is_positive" for item in session.findings())


def test_an_error_in_it_is_reported_once_and_the_run_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    @condition
    def divides_by_zero(capture: Capture) -> str:
        return str(1 / 0)

    assert findings(network(), "divides_by_zero") == []
    assert capsys.readouterr().err.count("condition 'divides_by_zero': ZeroDivisionError: division by zero") == 1


def test_it_is_replaced_by_its_name_and_removed() -> None:
    @condition(name="mine")
    def first(capture: Capture) -> str:
        return "first"

    @condition(name="mine")
    def second(capture: Capture) -> str:
        return "second"

    assert "(second)" in findings(network(), "mine")[0].message
    remove_condition("mine")
    with pytest.raises(ValueError, match="no such condition"):
        DebugSession(network(), conditions=["mine"])
    with pytest.raises(ValueError, match="remove_condition: no condition 'mine' of your own"):
        remove_condition("mine")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "nan"}, "'nan' is a condition of the package; give yours another name"),
        ({"name": "two words"}, "the name must be one word"),
        ({"name": "all"}, "and not 'all'"),
        ({"about": "gradient"}, "about must be 'value', 'parameter', 'loss', got 'gradient'"),
        ({"cures": ["magic"]}, "cures must be among 'pause_here', 'clip', 'unfreeze', 'set_train', got 'magic'"),
        ({"steps": 0}, "steps must be at least 1, got 0"),
        ({"certain": True, "symptom": True}, "it is certain, or a symptom, not both"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        condition(**arguments)(lambda capture: True)
    with pytest.raises(TypeError, match="a function is decorated, got int"):
        condition(3)  # type: ignore[call-overload]


class WithScale(nn.Cell):
    """Attention over four entries, with a scale that a step makes negative, and a loss with a spike in step 12."""

    def __init__(self) -> None:
        super().__init__()
        self.softmax = nn.Softmax()
        self.scale = ms.Parameter(Tensor(np.float32(200.0)), "scale")

    def construct(self, x: Tensor) -> Tensor:
        return self.softmax(x * self.scale)


def test_each_example_of_the_page_works(repository: Path) -> None:
    page = (repository / "docs/conditions.md").read_text(encoding="utf-8")
    examples = [text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "@condition" in text]
    assert len(examples) == 3
    for text in examples:
        exec(compile(text, "docs/conditions.md", "exec"), {})
    net = WithScale()
    scale = net.scale
    step = ms.value_and_grad(lambda x, factor: net(x).square().mean() * factor, None, [scale])
    with DebugSession(net, conditions=["one_hot_attention", "negative_scale", "loss_spike"]) as session:
        for number in range(12):
            step(X, Tensor(np.float32(100.0 if number == 11 else 1.0)))
            if number == 9:
                scale.set_data(-scale)
    results = {item.condition: (item.place, item.certainty) for item in session.findings()}
    assert results == {
        "one_hot_attention": ("softmax", "likely"),
        "negative_scale": ("scale", "certain"),
        "loss_spike": ("loss", "symptom"),
    }


class _Plugin:
    def __init__(self, name: str, load: Any) -> None:
        self.name, self.value, self.load = name, f"package_of_{name}", load


def test_plugins_are_loaded_once_and_a_faulty_one_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loads: list[str] = []

    def load_good() -> None:
        loads.append("good")
        condition(name="from_a_plugin")(lambda capture: "seen")

    def load_faulty() -> None:
        raise ImportError("no module named 'missing'")

    plugins = [_Plugin("good", load_good), _Plugin("faulty", load_faulty)]
    monkeypatch.setattr(registered, "entry_points", lambda group: plugins if group == "hookscope.conditions" else [])
    monkeypatch.setattr(registered, "_loaded", set())
    assert findings(network(), "from_a_plugin")[0].condition == "from_a_plugin"
    findings(network(), "nan")
    assert loads == ["good"]
    message = "the plugin 'faulty' (package_of_faulty) is left out: ImportError: no module named 'missing'"
    assert capsys.readouterr().err.count(message) == 1
