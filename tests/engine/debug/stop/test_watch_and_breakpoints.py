"""Users' settings: watch patterns, breakpoints, expressions, condition names."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.conditions import CONDITIONS, examine, parse_conditions
from hookscope.engine.debug.stop.breakpoints.breakpoint import Breakpoint
from hookscope.engine.debug.stop.breakpoints.expression import compile_expression, evaluate, names_in, value_scope
from hookscope.engine.debug.watch.pattern import Watch, check_matches

PATHS = ["", "block1", "block1.relu", "block2.relu", "head"]


def covered(text: str, direction: str = "forward") -> list[str]:
    leaves = {"block1.relu", "block2.relu", "head"}
    watch = Watch.parse(text)
    return [path for path in PATHS if watch.covers(path, path in leaves, direction)]


class Grows(nn.Cell):
    """A cell that has an inner cell from its second call on."""

    calls = 0

    def construct(self, x: Tensor) -> Tensor:
        self.calls += 1
        if self.calls == 2:
            self.added = nn.ReLU()
        return x if self.calls == 1 else self.added(x)


def test_a_cell_that_gets_another_inside_is_no_leaf_from_then_on() -> None:
    net, x = nn.SequentialCell(Grows()), Tensor(np.ones(1, np.float32))
    with DebugSession(net) as session:
        for _ in range(3):
            net(x)
    values = [(capture.step, capture.path, capture.slot) for capture in session.captures if capture.slot == "output"]
    assert values == [(1, "0", "output"), (2, "0.added", "output"), (3, "0.added", "output")]


def test_the_empty_pattern_is_every_leaf() -> None:
    assert covered("") == ["block1.relu", "block2.relu", "head"]
    assert covered(":backward", "forward") == []


class Gated(nn.Cell):
    """A cell that holds a parameter, and a cell that does another part of the work."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dense(2, 2)
        self.gain = Parameter(Tensor(np.ones(2, np.float32)), "gain")

    def construct(self, x: Tensor) -> Tensor:
        return self.inner(x) * self.gain


def test_what_a_cell_computes_with_parameters_of_its_own_is_watched_too() -> None:
    net = nn.SequentialCell(Gated(), nn.SequentialCell(nn.ReLU()))
    with DebugSession(net) as session:
        net(Tensor(np.ones((1, 2), np.float32)))
    assert {capture.path for capture in session.captures} == {"0", "0.inner", "1.0"}


def test_patterns_match_the_dotted_path_and_the_dot_is_the_root() -> None:
    assert covered("block*.relu") == ["block1.relu", "block2.relu"]
    assert covered("head") == ["head"]
    assert covered("*") == PATHS
    assert covered(".") == covered("(root)") == [""]
    assert Breakpoint.parse("(root):forward") == Breakpoint.parse(".:forward")


@pytest.mark.parametrize(
    ("text", "forward", "backward"), [("head:forward", 1, 0), ("head:backward", 0, 1), ("head:all", 1, 1)]
)
def test_a_direction_limits_the_watch(text: str, forward: int, backward: int) -> None:
    assert (len(covered(text, "forward")), len(covered(text, "backward"))) == (forward, backward)


def test_a_wrong_direction_and_a_pattern_without_match_are_refused_with_what_is_near() -> None:
    with pytest.raises(ValueError, match="must be forward, backward or all, got 'up'"):
        Watch.parse("head:up")
    with pytest.raises(ValueError, match=r"watch 'blok\*.relu' matches no cell; the nearest is 'block[12].relu'"):
        check_matches("blok*.relu", PATHS, "watch")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("head", Breakpoint("head", "forward")),
        ("head:bprop", Breakpoint("head", "bprop")),
        (".:backward_pre", Breakpoint(".", "backward_pre")),
        ("head:backward if norm > 10", Breakpoint("head", "backward", "norm > 10")),
        ("head:12", Breakpoint("head", "12")),
        ("head:12 if scale > 1", Breakpoint("head", "12", "scale > 1")),
        ("head:/a/helpers.py:7", Breakpoint("head", "/a/helpers.py:7")),
        ("head if value.max() > {1: 2}[1]", Breakpoint("head", "forward", "value.max() > {1: 2}[1]")),
    ],
)
def test_breakpoints_are_read_as_written(text: str, expected: Breakpoint) -> None:
    assert Breakpoint.parse(text) == expected
    assert Breakpoint.parse(str(expected)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have the form"),
        ("a b", "must have the form"),
        ("head:", "moment must be one of forward_pre, forward, backward_pre, backward, bprop, exception, got ''"),
        ("head:sideways", "got 'sideways'"),
        ("head:0", "got '0'; or a line of the cell's code, by its number"),
        ("head:helpers.py", "got 'helpers.py'"),
        ("ops.mul:12", "at an operator, moment must be forward or backward, got '12'"),
        ("head if norm >", "expression 'norm >': invalid syntax"),
        ("head if x = 3", "expression 'x = 3': it is a statement, and only an expression has a value"),
        ("head if nrom > 1", "the name 'nrom' is unknown here; the nearest is 'norm'"),
        ("head if x = 1", "expression 'x = 1'"),
    ],
)
def test_a_faulty_breakpoint_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        Breakpoint.parse(text)
    assert "\n" not in str(caught.value)


def test_the_moment_bprop_may_use_names_of_the_function() -> None:
    assert Breakpoint.parse("head:bprop if my_argument > 1").expression == "my_argument > 1"


def test_a_breakpoint_applies_at_its_moment_and_path() -> None:
    assert Breakpoint("block*.relu").applies("block1.relu", "forward")
    assert not Breakpoint("block*.relu").applies("block1.relu", "backward")
    assert Breakpoint(".").applies("", "forward") and Breakpoint("").applies("", "forward")
    assert not Breakpoint(".").applies("head", "forward")


def test_a_breakpoint_at_a_line_stands_in_its_file_and_at_no_moment() -> None:
    own, other = Breakpoint("block*", "12"), Breakpoint("block*", "helpers.py:12")
    assert (own.line, own.filename, other.line, other.filename) == (12, "", 12, "helpers.py")
    assert own.stands_in("block1") and not own.stands_in("head") and not Breakpoint("block*").stands_in("block1")
    assert not own.applies("block1", "12")
    assert own.stands_at(12, "/a/net.py", "/a/net.py")
    assert not own.stands_at(13, "/a/net.py", "/a/net.py") and not own.stands_at(12, "/a/helpers.py", "/a/net.py")
    assert other.stands_at(12, "/a/helpers.py", "/a/net.py") and not other.stands_at(12, "/a/net.py", "/a/net.py")


def test_an_expression_holds_if_it_is_true_for_one_of_the_values() -> None:
    values = [SimpleNamespace(_array=np.array([3.0, 4.0])), SimpleNamespace(_array=np.array([30.0, 40.0]))]
    for expression, holds in [("norm > 10", True), ("norm > 100", False), ("mean < 4 and step == 2", True)]:
        assert Breakpoint("head", "forward", expression).holds(values, lambda: {"step": 2}) is holds


def test_an_expression_that_fails_marks_the_breakpoint_and_does_not_hold() -> None:
    stop = Breakpoint("head", "forward", "1 / step > 0")
    assert not stop.holds([], lambda: {"step": 0})
    assert stop.error == "ZeroDivisionError: division by zero"
    assert stop.holds([], lambda: {"step": 1})
    assert stop.error is None


def test_only_the_figures_that_an_expression_names_are_computed() -> None:
    code = compile_expression("[norm for _ in (1, 2)] and value.norm")
    assert names_in(code) == {"norm", "value"}
    value = SimpleNamespace(_array=np.array([3.0, 4.0]), norm=7)
    scope = value_scope(value, names_in(code))
    assert set(scope) == {"value", "norm"}
    assert evaluate(code, scope) == 7
    assert evaluate(compile_expression("[norm for _ in (1, 2)]"), scope) == [5.0, 5.0]


def test_a_figure_of_what_is_no_tensor_is_nan() -> None:
    norm = value_scope(None, ["norm"])["norm"]
    assert isinstance(norm, float) and math.isnan(norm)


# Conditions


def hit_names(values: object, *, cell: str = "Dense", direction: str = "forward", slot: str = "output") -> list[str]:
    from hookscope.engine.debug.record.capture import Capture

    value = SimpleNamespace(_array=np.asarray(values))
    capture = Capture(0, 1, "c", cell, 0, direction, slot, value)  # type: ignore[arg-type]  # a stand-in tensor
    return [hit.condition.name for hit in examine(capture)]


BACK = {"direction": "backward", "slot": "grad_input[0]"}


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ([1.0, 2.0], {}, []),
        ([1.0, np.nan], {}, ["nan"]),
        ([1.0, -np.inf], {}, ["inf"]),
        (np.array([1.0, 3.2e38], np.float32), {}, ["overflow"]),
        (np.array([1.0, -6e4], np.float16), {}, ["overflow"]),
        (np.array([1.0, 6e4], np.float32), {}, []),
        (np.array([120], np.int8), {}, []),
        ([0.0, 0.0], {}, ["all_zero"]),
        ([0.0, 0.0], {"slot": "input[0]"}, []),
        ([np.nan], {"slot": "input[0]"}, ["nan"]),
        ([0.0] * 19 + [1.0], {"cell": "ReLU"}, ["dead_relu"]),
        ([0.0] * 18 + [1.0] * 2, {"cell": "ReLU"}, []),
        ([0.0] * 19 + [1.0], {"cell": "Dense"}, []),
        ([0.001, 0.999, 0.998, 0.0], {"cell": "Sigmoid"}, ["saturated_sigmoid"]),
        ([0.2, 0.7, 0.998, 0.0], {"cell": "Sigmoid"}, []),
        ([-0.999, 0.999, 0.998], {"cell": "Tanh"}, ["saturated_tanh"]),
        ([-0.5, 0.999, 0.998], {"cell": "Tanh"}, []),
        ([1e-9, -1e-9], BACK, ["vanishing_gradient"]),
        ([1e-9, -1e-9], {}, []),
        ([0.0, 0.0], BACK, ["all_zero"]),
        ([800.0, 800.0], BACK, ["exploding_gradient"]),
        ([800.0, 800.0], {}, []),
        (np.zeros((0, 2)), {}, []),
    ],
)
def test_each_condition_holds_where_it_should_and_only_there(
    values: object, options: dict[str, str], expected: list[str]
) -> None:
    assert hit_names(values, **options) == expected


def test_a_bfloat16_value_near_its_limit_overflows() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")
    assert hit_names(np.array([3.3e38], ml_dtypes.bfloat16)) == ["overflow"]
    assert hit_names(np.array([6e4], ml_dtypes.bfloat16)) == []


def test_every_row_has_advice_of_one_sentence() -> None:
    for name, condition in CONDITIONS.items():
        assert condition.name == name
        assert condition.advice.endswith(".") and condition.advice.count(". ") == 0


def test_condition_names_take_thresholds() -> None:
    (condition,) = parse_conditions(["exploding_gradient=5"])
    assert condition.threshold == 5 and CONDITIONS["exploding_gradient"].threshold == 300
    assert [c.name for c in parse_conditions(["saturated", "nan"])] == ["saturated_sigmoid", "saturated_tanh", "nan"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("nann", "the nearest is 'nan'"), ("nan=1", "nan has no threshold"), ("exploding_gradient=big", "got 'big'")],
)
def test_a_faulty_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_conditions([text])
