"""compare: two runs are matched value by value, and the first difference shows where they part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from debug_networks import Twice, tensor

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import Capture, Comparison, DebugSession, compare


def normal(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def session_over(net: nn.Cell, x: Tensor, steps: int = 1, between: Callable[[], object] = lambda: None) -> DebugSession:
    """Return a session over a few gradient steps of the sum of the outputs."""
    with DebugSession(net) as session:
        for _ in range(steps):
            ms.grad(lambda x: net(x).sum(), 0, net.trainable_params() or None)(x)
            between()
    return session


def capture(value: Any, **fields: Any) -> Capture:
    array = np.asarray(value)
    made = Capture(0, 1, "dense", "Dense", 0, "forward", "output", Tensor._wrap(array))
    return replace(made, **fields)


def first(comparison: Comparison) -> tuple[int, str, str]:
    row = comparison.first
    assert row is not None
    return row.step, row.key, row.verdict


def test_training_and_prediction_part_at_the_layer_that_behaves_differently() -> None:
    for layer, path in ((nn.Dropout(p=0.5), "1"), (nn.BatchNorm1d(8), "1")):
        net, x = nn.SequentialCell(nn.Dense(4, 8), layer, nn.ReLU(), nn.Dense(8, 2)), normal(6, 4)
        trained = session_over(net.set_train(), x)
        predicted = session_over(net.set_train(False), x)
        assert first(compare(trained, predicted)) == (1, f"{path}#0 forward output", "differs")


def test_an_edit_of_one_weight_shows_at_its_cell_with_its_element() -> None:
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Dense(2, 2))
    before = session_over(net, normal(1, 3))
    bias = net[1].bias
    bias[1] = bias[1] + 0.5
    comparison = compare(before, session_over(net, normal(1, 3)))
    assert first(comparison) == (1, "1#0 forward output", "differs")
    assert comparison.first is not None and comparison.first.difference is not None
    assert comparison.first.difference.index == (0, 1)
    assert comparison.first.difference.absolute == pytest.approx(0.5)
    assert [row.key for row in comparison.differing] == ["1#0 forward output"]


def test_two_seeds_part_at_the_first_random_thing() -> None:
    net, x = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.5), nn.Dense(8, 2)).set_train(), normal(6, 4)
    sessions = []
    for seed in (1, 2, 1):
        ms.set_seed(seed)
        sessions.append(session_over(net, x))
    assert first(compare(sessions[0], sessions[1])) == (1, "1#0 forward output", "differs")
    assert compare(sessions[0], sessions[2]).equal


def test_the_calls_of_a_reused_cell_are_told_apart() -> None:
    net = Twice(nn.Dense(2, 2))
    first, other = session_over(net, tensor(1, 2).reshape((1, 2))), session_over(net, tensor(1, 2).reshape((1, 2)))
    last = [c for c in other.captures if c.key == "inner#1 forward output"]
    changed = [replace(c, value=c.value + 1.0) if c in last else c for c in other.captures]
    assert [row.key for row in compare(list(first.captures), changed).differing] == ["inner#1 forward output"]


def test_steps_are_counted_from_each_runs_first() -> None:
    net, x = nn.SequentialCell(nn.Dense(3, 2)), normal(1, 3)
    with DebugSession(net) as session:
        for _ in range(4):
            net(x)
    captures = [c for c in session.captures if c.step > 2]
    earlier = [c for c in session.captures if c.step <= 2]
    assert compare(earlier, captures).equal and {row.step for row in compare(earlier, captures).rows} == {1, 2}


def test_the_step_in_which_runs_part_is_named() -> None:
    net, x = nn.SequentialCell(nn.Dense(3, 2)), normal(1, 3)

    def bump() -> None:
        net[0].weight.set_data(net[0].weight * 1.5)

    still = session_over(net, x, steps=3)
    moving = session_over(net, x, steps=3, between=bump)
    assert first(compare(still, moving)) == (2, "0#0 forward output", "differs")


def test_what_only_one_run_has_stands_where_it_happened() -> None:
    rows = [capture(1.0, path=path) for path in "abc"]
    comparison = compare([rows[0], rows[2]], [capture(1.0, path="0"), *rows, capture(1.0, path="d")])
    assert [(row.key[0], row.verdict) for row in comparison.rows] == [
        ("0", "only in b"),
        ("a", "equal"),
        ("b", "only in b"),
        ("c", "equal"),
        ("d", "only in b"),
    ]
    assert [(row.key[0], row.verdict) for row in compare(rows, rows[1:]).differing] == [("a", "only in a")]


def test_another_shape_or_dtype_is_told_as_such() -> None:
    one = capture(np.ones((2, 3), np.float32))
    assert first(compare([one], [capture(np.ones((3, 2), np.float32))]))[2] == "other shape"
    row = compare([one], [capture(np.full((2, 3), 1.5, np.float16))]).first
    assert row is not None and row.verdict == "other dtype"
    assert row.difference is not None and row.difference.absolute == 0.5


@pytest.mark.parametrize(
    ("first", "other", "equal"),
    [
        ([np.nan, 1.0], [np.nan, 1.0], True),
        ([np.nan, 1.0], [0.0, 1.0], False),
        ([np.inf, 1.0], [np.inf, 1.0], True),
        ([np.inf, 1.0], [-np.inf, 1.0], False),
        ([1 + 2j], [1 + 2j], True),
        ([1 + 2j], [1 - 2j], False),
        ([True, False], [True, True], False),
        ([2**60], [2**60 + 1], False),
        ([], [], True),
    ],
)
def test_nan_equals_nan_and_every_dtype_is_compared(first: list[Any], other: list[Any], equal: bool) -> None:
    for a, b in ((first, other), (other, first)):
        assert compare([capture(a)], [capture(b)]).equal is equal


def test_tolerances_allow_for_rounding_only() -> None:
    first, other = [capture([100.0, 1.0])], [capture([100.5, 1.0])]
    assert not compare(first, other).equal and not compare(first, other, atol=0.4).equal
    assert compare(first, other, atol=0.5).equal and compare(first, other, rtol=0.005).equal
    assert not compare(first, other, rtol=0.004).equal


@pytest.mark.parametrize("other", [np.nan, -np.inf, 1.0])
def test_no_tolerance_makes_up_for_what_is_not_finite(other: float) -> None:
    assert not compare([capture([np.inf, 1.0])], [capture([other, 1.0])], rtol=0.5, atol=1e300).equal
    assert compare([capture([other, 1.0])], [capture([other, 1.1])], rtol=0.5).equal


def test_a_capture_of_a_hook_is_not_taken_for_one_of_the_tap() -> None:
    pair = [capture(1.0), capture(1.0, origin="hook")]
    assert len(compare(pair, pair).rows) == 2 and compare(pair, pair).equal
    assert compare(pair, pair[:1]).differing[0].a is pair[1]


def test_what_was_dropped_is_said() -> None:
    net = nn.SequentialCell(nn.Dense(3, 2))
    with DebugSession(net, max_captures=1) as session:
        net(normal(1, 3))
    assert compare(session, session).summary == "1 captures, all equal; 2 were dropped before"


def test_it_prints_what_differs() -> None:
    first = [capture([1.0, 2.0]), capture(1.0, path="<b>")]
    comparison = compare(first, [capture([1.0, 2.5]), capture(2.0, path="<b>")])
    lines = str(comparison).splitlines()
    assert lines[0] == "2 of 2 captures differ, the first in step 1: dense#0 forward output (differs)"
    assert lines[1].split()[:4] == ["step", "value", "verdict", "shape"]
    assert lines[2].split() == [
        "1",
        "dense#0",
        "forward",
        "output",
        "differs",
        "2",
        "float64",
        "0.5",
        "0.2",
        "[1]",
        "2",
        "2.5",
    ]
    assert repr(comparison) == str(comparison)
    page = comparison._repr_html_()
    assert "<table>" in page and "&lt;b&gt;#0 forward output" in page and "<b>" not in page


def test_equal_runs_print_one_line_and_many_differences_the_first_ones() -> None:
    same = [capture(1.0)]
    assert str(compare(same, same)) == "1 captures, all equal"
    many = [capture(float(k), path=f"cell{k}") for k in range(25)]
    other = [capture(-1.0, path=c.path) for c in many]
    assert str(compare(many, other)).splitlines()[-1] == "and 5 more"
    assert "and 5 more" in compare(many, other)._repr_html_()


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(TypeError, match="b must be a DebugSession or a list of Captures, got str"):
        compare([], "captures")
    with pytest.raises(TypeError, match="a must be a DebugSession or a list of Captures, got list"):
        compare([1], [])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="rtol must be a finite number from 0 on, got -1"):
        compare([], [], rtol=-1)
