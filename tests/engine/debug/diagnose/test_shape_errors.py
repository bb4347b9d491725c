"""Explanations of exceptions: they are true, run no code of the user's, never raise, and keep nothing alive.

``tests/faults/exceptions`` has a corpus of whole networks.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import linecache
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.shape_errors import explain_error, explanation
from hookscope.engine.debug.stop.pause import DebugAbort


def ones(*shape: int) -> Tensor:
    return ops.ones(shape, ms.float32)


def explained(function: Callable[[], object]) -> str:
    """Return the explanation of what a function raises; "" if there is none."""
    try:
        function()
    except Exception as error:
        return explain_error(error) or ""
    raise AssertionError("nothing was raised")


class Pair(nn.Cell):
    """Two layers that do not fit."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(3, 5)
        self.second = nn.Dense(4, 2)

    def construct(self, x: Any) -> Any:
        hidden = self.first(x)
        return self.second(hidden)


# In a session


def test_the_session_explains_the_exception_that_ended_its_block() -> None:
    net = Pair()
    with pytest.raises(ValueError, match="last axis"), DebugSession(net) as session:
        net(ones(2, 3))
    assert session.explanation is not None
    heading, conflict, operand, weight = session.explanation.splitlines()
    assert heading.startswith("second (Dense), line ")
    assert (
        conflict
        == "Axis 1 of hidden has the length 5, but axis 1 of second.weight has 4; Dense needs the two to be equal."
    )
    assert operand == "  hidden: (2, 5) Float32, the output of first"
    assert weight == "  second.weight: (2, 4) Float32, a parameter"


def test_a_session_without_a_block_explains_what_ends_a_call_of_the_network() -> None:
    net = Pair()
    session = DebugSession(net)
    session.attach()
    with pytest.raises(ValueError, match="last axis"):
        net(ones(2, 3))
    session.detach()
    assert session.explanation is not None
    assert "hidden: (2, 5) Float32, the output of first" in session.explanation


def test_an_exception_that_the_script_handles_in_a_block_is_not_explained() -> None:
    net = Pair()
    with DebugSession(net) as session, contextlib.suppress(ValueError):
        net(ones(2, 3))
    assert session.explanation is None


def test_an_abort_is_not_explained() -> None:
    session = DebugSession(Pair())
    with pytest.raises(DebugAbort), session:
        raise DebugAbort
    assert session.explanation is None


def test_an_explanation_keeps_neither_the_session_nor_the_values_alive() -> None:
    def run() -> tuple[weakref.ref[Any], weakref.ref[Any]]:  # CPython 3.11 keeps what was read of a running function
        session = DebugSession(net)
        x = ones(2, 3)
        with contextlib.suppress(ValueError), session:
            net(x)
        assert session.explanation
        return weakref.ref(x._array), weakref.ref(session)

    net = Pair()
    array, owner = run()
    gc.collect()
    assert owner() is None
    assert array() is None


def test_without_a_session_the_traceback_and_the_tape_are_enough() -> None:
    net = Pair()
    gradient = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    text = explained(lambda: gradient(ones(2, 3)))
    assert "hidden: (2, 5) Float32" in text
    assert "assigned in line" in text


# Truth


def test_an_operand_of_a_reflected_operator_has_its_own_name() -> None:
    left, right = ones(2, 3), ones(4)
    text = explained(lambda: (2.0 - left) + (1.0 - right))
    assert "  2.0 - left: (2, 3) Float32\n  1.0 - right: (4,) Float32" in text


def test_a_function_that_another_function_calls_gets_no_names_of_the_line() -> None:
    def several(number: int) -> list[Tensor]:
        return [ones(2, 3), ones(2, 4), ones(number)]

    for call in (
        lambda: functools.reduce(ops.add, several(2)),
        lambda: sum(several(2)),
        lambda: functools.partial(ops.matmul, ones(2, 3))(ones(2, 4) + 0.0),
        lambda: list(map(nn.Dense(3, 2), several(2)[1:])),
    ):
        _heading, *lines = explained(call).splitlines()
        assert lines
        assert not [line for line in lines if any(name in line for name in ("several", "map", "ones("))]


def test_a_variable_that_a_branch_may_have_assigned_has_no_assignment() -> None:
    def run(is_wide: bool) -> Tensor:
        x = ops.relu(ones(2, 3))
        if is_wide:
            x = ops.exp(ones(2, 4))
        return x + ones(2, 5)

    assert "assigned" not in explained(lambda: run(False))


def test_a_variable_that_a_later_line_of_a_loop_assigned_has_no_assignment() -> None:
    def run() -> Tensor:
        x = ops.relu(ones(2, 3))
        for length in (3, 4):
            y = x + ones(2, length)
            x = ops.exp(y)
        return x

    assert "assigned" not in explained(run)


def test_a_variable_that_an_exception_may_have_left_has_no_assignment() -> None:
    def run() -> Tensor:
        x = ops.relu(ones(2, 3))
        try:
            x = ops.exp(ones(2, 4))
            raise KeyError
        except KeyError:
            return x + ones(2, 5)

    assert "assigned" not in explained(run)


def test_the_assignment_in_the_same_turn_of_a_loop_is_the_last_one() -> None:
    def run() -> Tensor:
        x = ones(2, 3)
        for length in (3, 4):
            x = ops.exp(x * 1.0)
            x + ones(2, length)
        return x

    assert "assigned in line" in explained(run)
    assert "x = ops.exp(x * 1.0)" in explained(run)


def test_two_parts_of_one_tensor_are_not_confused() -> None:
    def run() -> Tensor:
        both = ones(4, 5)
        upper, lower = both[:2], both[2:, :4]
        return upper + lower

    lines = explained(run).splitlines()
    assert lines[2].startswith("  upper: (2, 5) Float32")
    assert lines[3].startswith("  lower: (2, 4) Float32")


def test_a_value_that_was_written_in_place_is_not_the_output_of_its_layer() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Dense(3, 5)

        def construct(self, x: Any) -> Any:
            hidden = self.layer(x)
            hidden.add_(1.0)
            return hidden + x

    net = Net()
    with contextlib.suppress(ValueError), DebugSession(net) as session:
        net(ones(2, 3))
    assert session.explanation is not None
    assert "the output of layer" not in session.explanation


def test_a_file_that_changed_since_its_import_gives_no_names(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text("def run(alpha, beta):\n    return alpha + beta\n")
    namespace: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    file.write_text("def run(alpha, beta):\n    return gamma + delta\n")
    linecache.checkcache(str(file))
    text = explained(lambda: namespace["run"](ones(2, 3), ones(2, 4)))
    assert "gamma" not in text
    assert "  alpha: (2, 3) Float32\n  beta: (2, 4) Float32" in text  # its variables are known all the same


def test_a_transposed_product_is_not_explained_by_the_axes_of_a_plain_one() -> None:
    text = explained(lambda: ops.matmul(ones(3, 2), ones(3, 4), True, True))
    assert "Axis 1" not in text


def test_a_dilated_window_is_described_with_its_dilation() -> None:
    layer = nn.Conv2d(1, 1, 3, pad_mode="valid", dilation=2)
    text = explained(lambda: layer(ones(1, 1, 4, 4)))
    assert "The window (3, 3) of Conv2D does not fit into the axes (4, 4)" in text
    assert "with dilation (2, 2)" in text


@pytest.mark.parametrize(
    ("shapes", "hint"),
    [
        (((4, 8), (4, 8, 6, 6)), "With axes of length 1 at its end, (4, 8, 1, 1), first would broadcast."),
        (((4, 7), (4, 8, 6, 6)), ""),
        (((8,), (4, 8, 6, 6)), ""),
    ],
)
def test_axes_are_only_suggested_where_they_would_broadcast(shapes: tuple[tuple[int, ...], ...], hint: str) -> None:
    first, second = (ones(*shape) for shape in shapes)
    last = explained(lambda: first + second).splitlines()[-1]
    assert last == hint if hint else last.startswith("  ")


# The user's code


class Touchy:
    """Notes whenever something is done with it."""

    touched: list[str] = []  # noqa: RUF012  # shared on purpose

    def __getattribute__(self, name: str) -> Any:
        Touchy.touched.append(name)
        raise RuntimeError(name)

    def __repr__(self) -> str:
        Touchy.touched.append("repr")
        raise RuntimeError("repr")

    def __eq__(self, other: object) -> bool:
        Touchy.touched.append("eq")
        raise RuntimeError("eq")

    def __len__(self) -> int:
        Touchy.touched.append("len")
        raise RuntimeError("len")

    __hash__ = object.__hash__


class TouchyError(ValueError):
    """An exception whose text is code of the user's."""

    def __str__(self) -> str:
        Touchy.touched.append("str")
        raise RuntimeError("str")


class TouchyCell(nn.Cell):
    """A cell with a property, a touchy attribute and a touchy argument."""

    def __init__(self, error: bool) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 5)
        self.__dict__["helper"] = Touchy()
        self.error = error

    @property
    def scale(self) -> Tensor:
        """Note that it is read."""
        Touchy.touched.append("scale")
        return ones(1)

    def construct(self, x: Any, extra: Any) -> Any:
        helper = self.helper
        hidden = self.dense(x)
        if self.error:
            raise TouchyError(helper, extra)
        return hidden + x if helper is not None else self.scale


@pytest.mark.parametrize("error", [False, True])
def test_an_explanation_runs_no_code_of_the_user(error: bool) -> None:
    net = TouchyCell(error)
    session = DebugSession(net)
    x, extra = ones(2, 3), Touchy()
    caught: list[Exception] = []
    with session:
        try:
            net(x, extra)
        except Exception as raised:
            caught.append(raised)
    Touchy.touched.clear()
    text = explain_error(caught[0], paths=session.paths, captures=session.captures, shapes=session.shapes)
    assert Touchy.touched == []
    if not error:
        assert text is not None
        assert "hidden: (2, 5) Float32, the output of dense" in text


@pytest.mark.faults_expected
def test_an_explanation_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(explanation, "conflict_of", fail)
    net = Pair()
    with pytest.raises(ValueError, match="last axis"), DebugSession(net) as session:
        net(ones(2, 3))
    assert session.explanation is None


def test_an_exception_without_a_traceback_or_a_source_has_no_explanation() -> None:
    assert explain_error(ValueError("For 'add', the inputs do not fit")) is None
    namespace: dict[str, Any] = {}
    exec("def run(): raise ValueError('x')", namespace)
    assert explained(namespace["run"]) == ""


def test_causes_that_form_a_circle_end() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert explain_error(first) is None
