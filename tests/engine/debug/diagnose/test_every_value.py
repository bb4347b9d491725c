"""Formulas and checks accept any value that can pass in a network: none of them raises."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from odd_values import DTYPES, KINDS, SHAPES, array, observations, structures

from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import CONDITIONS, Condition, DebugSession
from hookscope.engine.debug.diagnose.checks.watcher import Watcher, WatcherParts
from hookscope.engine.debug.diagnose.session_checks import WATCHERS
from hookscope.engine.debug.events import Events
from hookscope.engine.debug.record.counts import Counts
from hookscope.engine.debug.watch.paths import CellPaths
from hookscope.engine.tape import taps

ROWS = [(condition, kind) for condition in CONDITIONS.values() for kind in condition.seen]


@pytest.mark.parametrize(("condition", "kind"), ROWS, ids=[f"{row.name} of {kind.__name__}" for row, kind in ROWS])
def test_a_formula_takes_whatever_is_seen(condition: Condition, kind: type[Any]) -> None:
    with np.errstate(all="raise"):
        for item in observations(kind, 400):
            detail = condition.formula(item, condition.threshold)
            assert detail is None or (isinstance(detail, str) and detail), item


@pytest.mark.parametrize(("condition", "kind"), ROWS, ids=[f"{row.name} of {kind.__name__}" for row, kind in ROWS])
def test_what_a_formula_is_shown_makes_it_hold_at_times_and_not_at_others(
    condition: Condition, kind: type[Any]
) -> None:
    with np.errstate(all="raise"):
        held = {condition.formula(item, condition.threshold) is not None for item in observations(kind, 3000)}
    assert False in held
    if (condition.name, kind.__name__) not in {("vanishing_gradient", "RepeatedObservation")}:
        assert True in held


NAMES = ("sub", "squared_difference", "tanh", "sigmoid", "softmax", "log_softmax", "log", "matmul", "dropout", "mul")
LOSSES = (
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "a_loss_to_come",
)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taps, "outer_recordings", lambda: (object(),))


def _paths(cell: nn.Cell) -> CellPaths:
    paths = CellPaths()
    paths.add_root(cell)
    return paths


def _watcher(kind: type[Watcher], looked: list[Any], cell: nn.Cell) -> Watcher:
    return kind(
        WatcherParts(
            examiner=SimpleNamespace(observe=lambda observations, path, subject, step: looked.append(observations)),
            paths=_paths(cell),
            attachment=SimpleNamespace(
                place_of=lambda index: ("", 0), here="", own_run=True, visits=SimpleNamespace(running=lambda: None)
            ),
            counts=Counts(steps=1),
            events=Events("test"),
        )
    )


@pytest.mark.parametrize("kind", WATCHERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("recorded")
def test_a_check_takes_whatever_an_operator_a_loss_or_a_gradient_call_is_given(kind: type[Watcher], dtype: str) -> None:
    cell, looked = nn.Dense(3, 2), []
    weight = cell.weight
    watcher = _watcher(kind, looked, cell)
    watcher.run_began()
    with np.errstate(all="raise"):
        for shape, value in itertools.product(SHAPES, KINDS):
            made = array(shape, dtype, value)
            if made is None:
                continue
            x = Tensor(made)
            other = Tensor(np.zeros((1, *shape), np.int64))
            for name in NAMES:
                for attrs in ({}, {"axis": 0}, {"axis": (0, 1)}):
                    watcher.operator(name, (x, weight), x, attrs)
                for inputs in ((x, other), (other, x), (x, 2.0), ([x, weight], None), (2.0,), ()):
                    watcher.operator(name, inputs, x, {})
                watcher.operator(name, (x, x), (x, None), {})
                watcher.operator_backward(name, made, [made, None], {}, (made, 2.0, None), made)
                watcher.operator_backward(name, (x, None), [x], {}, (weight._array, made), (made, None))
            for name in LOSSES:
                labels = Tensor(np.zeros((*shape[:1], *shape[2:]), np.int32))
                for pair in ((x, x), (x, other), (other, x), (x, labels)):
                    watcher.loss(name, *pair, {"ignore_index": -100})
                watcher.loss(name, x, labels, {})
            watcher.differentiated([x], [(weight, None)])
            watcher.differentiated([x, other], [(weight, x)])
            watcher.differentiated([], [])
    watcher.end_session()


class Returning(nn.Cell):
    """A cell that returns a given value, after its input times a weight."""

    def __init__(self, what: Callable[[Any], Any]) -> None:
        super().__init__()
        self.weight = Parameter(np.ones((), np.float32), name="weight")
        self.inner = nn.ReLU()
        self.what = what

    def construct(self, x: Any) -> Any:
        return self.what(x)


class Within(nn.Cell):
    def __init__(self, what: Callable[[Any], Any]) -> None:
        super().__init__()
        self.part = Returning(what)
        self.scale = nn.Dense(1, 1)

    def construct(self, x: Any) -> Any:
        self.part(x)
        return self.part(x)


@contextlib.contextmanager
def _watched(cell: nn.Cell) -> Iterator[DebugSession]:
    with DebugSession(cell, conditions=["all"], stop_on=["nan", "inf", "if value is None"]) as session:
        yield session
    session.findings().causes()
    session.table()
    session.tree()
    session.parameters()
    str(session.findings())


@pytest.mark.cases(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_session_takes_whatever_passes_in_whatever_structure(dtype: str) -> None:
    for shape, value in itertools.product(SHAPES, KINDS):
        made = array(shape, dtype, value)
        if made is None:
            continue
        x = Tensor(made)
        for name in structures(x) if value == KINDS[0] else ("alone",):
            cell = Within(lambda x, name=name: structures(x)[name])
            with _watched(cell) as session:
                cell(x)
            assert session.faults == (), (shape, value, name)


def _loss_of_shape(shape: tuple[int, ...], dtype: str) -> Callable[[Any], Any]:
    def compute(x: Any) -> Any:
        total = ops.cast(x, getattr(__import__("hookscope.engine", fromlist=["x"]), dtype)).sum()
        return total if not shape else total.reshape(shape)

    return compute


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("conditions", [[], ["nan"], ["loss_not_decreasing"], ["all"]], ids=str)
def test_a_loss_of_one_element_in_any_shape_is_differentiated_as_without_a_session(
    shape: tuple[int, ...], dtype: str, conditions: list[str]
) -> None:
    def run(cell: nn.Cell) -> list[Any]:
        loss = _loss_of_shape(shape, dtype)
        results = []
        for _ in range(3):
            value, gradients = value_and_grad(lambda x: loss(cell(x)), None, cell.trainable_params())(x)
            results += [value, *gradients]
        return [(result.shape, result._array.dtype, result._array.tobytes()) for result in results]

    x = Tensor(np.ones((1, 3), np.float32))
    cell = nn.Dense(3, 1)
    alone = run(cell)
    with DebugSession(cell, conditions=conditions) as session:
        assert run(cell) == alone
    assert session.faults == ()
    assert [step for step, _ in session.history.losses] == [1, 2, 3]
    value = np.frombuffer(alone[0][2], alone[0][1])[0]
    assert session.history.losses[0][1] == (abs(value) if dtype == "complex64" else value)
