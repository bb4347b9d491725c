"""The bounds of the capture ring, the registry of pausers and the terminal's prompt."""

from __future__ import annotations

import gc
import io
import sys
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor
from hookscope.engine.debug import TerminalPauser
from hookscope.engine.debug.record.capture import Capture
from hookscope.engine.debug.record.ring import CaptureRing
from hookscope.engine.debug.stop.pause import PausePoint, check_command, default_pauser, describe, set_default_pauser
from hookscope.engine.debug.watch.value_event import ValueEvent


def capture(index: int, array: object, path: str = "c", slot: str = "output") -> Capture:
    value = SimpleNamespace(_array=array)
    return Capture(index, 1, path, "Dense", 0, "forward", slot, value)  # type: ignore[arg-type]  # a stand-in tensor


def test_the_ring_keeps_the_newest_within_the_count_and_counts_the_rest() -> None:
    ring = CaptureRing(10**6, 3)
    for index in range(5):
        ring.append(capture(index, np.zeros(1)))
    assert [kept.index for kept in ring] == [2, 3, 4]
    assert (len(ring), ring.dropped, ring[0].index, ring[-1].index, ring.oldest_index) == (3, 2, 2, 4, 2)


def test_the_ring_stays_within_its_bytes() -> None:
    ring = CaptureRing(1000, 100)
    for index in range(50):
        ring.append(capture(index, np.zeros(16)))
        assert ring.bytes == 128 * len(ring) <= 1000
    assert (len(ring), ring.given_up, ring.dropped) == (7, 43, 0)


def test_of_a_value_larger_than_the_ring_the_row_stays() -> None:
    ring = CaptureRing(100, 10)
    ring.append(capture(0, np.zeros(1000)))
    assert (len(ring), ring.bytes, ring.given_up, ring.dropped) == (0, 0, 1, 0)


def test_shared_memory_is_counted_once_and_given_up_with_its_last_user() -> None:
    array = np.zeros(10)
    ring = CaptureRing(1000, 2)
    ring.append(capture(0, array))
    ring.append(capture(1, array.reshape(2, 5)))
    assert ring.bytes == 80
    ring.append(capture(2, np.zeros(5)))
    assert ring.bytes == 120
    ring.append(capture(3, np.zeros(5)))
    assert ring.bytes == 80
    ring.clear()
    assert (len(ring), ring.bytes, ring.dropped) == (0, 0, 2)


def note(ring: CaptureRing, index: int, array: Any, step: int = 1) -> None:
    visit: Any = SimpleNamespace(step=step, path="c", call=2, cell=ring)
    event = ValueEvent(visit, "forward", "forward", [("output", Tensor._wrap(array))], "")
    ring.note(event, index)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (len, 2),
        (lambda ring: ring.bytes, 256),
        (lambda ring: ring[-1].index, 4),
        (lambda ring: [kept.index for kept in ring], [3, 4]),
        (lambda ring: [row.index for row in ring.rows()], [2, 3, 4]),
        (lambda ring: (ring.given_up, ring.dropped), (1, 2)),
        (lambda ring: ring.oldest_index, 3),
        (lambda ring: ring.latest("c", "output", "forward").key, "c#2 forward output"),
        (lambda ring: ring.one_step_takes, 5 * 128),
        (lambda ring: any(note.startswith("2 older dropped") for note in ring.notes()), True),
    ],
)
def test_requests_to_a_ring_include_noted_values(query: Callable[[CaptureRing], object], message: object) -> None:
    ring = CaptureRing(10**6, 100)
    for index in range(5):
        note(ring, index, np.zeros(16))
    ring.max_bytes, ring.max_captures = 300, 3  # two values, three rows
    assert query(ring) == message


@pytest.mark.parametrize("bounds", [(16 * 800, 1000), (10**6, 16)])
def test_what_is_noted_is_let_go_within_an_eighth_beyond_the_bound(bounds: tuple[int, int]) -> None:
    ring = CaptureRing(*bounds)
    alive = []
    for index in range(60):
        array = np.zeros(100)
        alive.append(weakref.ref(array))
        note(ring, index, array)
        del array
        assert sum(item() is not None for item in alive) <= 18
    assert [kept.index for kept in ring] == list(range(44, 60)) and ring.given_up + ring.dropped == 44


def test_what_is_noted_is_seen_by_many_and_its_array_is_the_one_that_passed() -> None:
    ring, array = CaptureRing(), np.arange(3.0)
    note(ring, 7, array, step=5)
    oldest = ring[0]
    assert oldest.array is array and ring[0] is oldest
    assert (oldest.index, oldest.step, oldest.cell_type, oldest.call, oldest.origin) == (7, 5, "CaptureRing", 2, "tap")
    ring.append(capture(8, np.zeros(1)))
    note(ring, 9, np.zeros(1))
    ring.append(capture(10, np.zeros(1)))
    assert [item.index for item in ring] == [7, 8, 9, 10]
    note(ring, 11, array)
    ring.clear()
    assert (len(ring), ring.bytes, ring.given_up) == (0, 0, 0)


def test_latest_is_the_newest_of_its_kind() -> None:
    ring = CaptureRing(1000, 10)
    for index in range(3):
        ring.append(capture(index, np.zeros(1), slot=f"output[{index % 2}]"))
    result = ring.latest("c", "output[0]", "forward")
    assert result is not None and result.index == 2
    assert ring.latest("c", "output[0]", "backward") is None


@pytest.mark.parametrize("bound", [0, -1, 1.5, True])
def test_a_bound_that_is_no_positive_integer_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="max_captures must be a positive integer, got"):
        CaptureRing(1, bound)


def test_the_key_says_what_it_is() -> None:
    assert capture(0, np.zeros(1), path="conv1").key == "conv1#0 forward output"
    assert capture(0, np.zeros(1), path="").key == "(root)#0 forward output"


# Pausers


@pytest.fixture
def restored_default() -> Iterator[None]:
    before = default_pauser()
    yield
    set_default_pauser(before)


def test_the_default_pauser_is_the_one_that_was_set(restored_default: None) -> None:
    set_default_pauser(TerminalPauser)
    assert default_pauser() is TerminalPauser
    set_default_pauser(None)
    assert default_pauser() is None


class FakeSession:
    def __init__(self) -> None:
        self.paused: PausePoint | None = PausePoint(
            "bprop",
            "the bprop begins",
            "scale",
            "bprop",
            "f.py",
            "bprop",
            10,
            ("def bprop(self, x):", "    return x"),
            11,
            locals={"x": 3},
            changed={"x"},
        )
        self.command: str | None = None
        self.shown = self.paused
        self.assigned: dict[str, object] = {}

    def resume(self, command: str) -> None:
        self.command = check_command(command)

    def evaluate(self, expression: str) -> object:
        return {"x": 3, "7": 7}[expression]

    def edit(self, name: str, expression: str) -> None:
        self.assigned[name] = self.evaluate(expression)


def at_prompt(monkeypatch: pytest.MonkeyPatch, typed: str) -> FakeSession:
    session = FakeSession()
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    TerminalPauser(session).wait(lambda: session.command is not None)  # type: ignore[arg-type]  # a stand-in
    return session


@pytest.mark.parametrize(
    ("typed", "command"), [("n\n", "over"), ("into\n", "into"), ("o\n", "out"), ("a\n", "abort"), ("", "continue")]
)
def test_the_terminal_reads_commands_and_goes_on_at_the_end_of_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, command: str
) -> None:
    assert at_prompt(monkeypatch, typed).command == command
    assert "bprop of scale, line 11: the bprop begins" in capsys.readouterr().out


def test_the_terminal_shows_source_and_variables_and_evaluates(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = at_prompt(monkeypatch, "l\nv\nx\nbad\ny = 7\nhelp\nc\n")
    output = capsys.readouterr().out
    assert "->   11      return x" in output
    assert "* x = 3" in output
    assert "KeyError: 'bad'" in output
    assert session.assigned == {"y": 7}


def test_without_a_terminal_nobody_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    pauser = TerminalPauser(FakeSession())  # type: ignore[arg-type]  # a stand-in
    assert pauser.unavailable() == "standard input is not a terminal"


def test_describe_is_one_short_line_for_any_value() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert describe("a\nb") == "'a\\nb'"
    assert describe(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert describe(Hostile()) == "<Hostile whose repr raised RuntimeError>"
    assert len(describe("x" * 1000)) == 200


def test_a_ring_may_be_made_while_the_collector_takes_others_away() -> None:
    others = [CaptureRing() for _ in range(40)]
    threshold = gc.get_threshold()
    gc.freeze()  # objects of other tests are excluded: each collection of them takes half a second
    try:
        for delay in range(60):  # the collector runs at each position in turn
            gc.set_threshold(0)
            gc.collect()
            forgotten: list[object] = [CaptureRing() for _ in range(3)]
            forgotten.append(forgotten)
            del forgotten
            gc.set_threshold(gc.get_count()[0] + delay)
            others[0] = CaptureRing()
    finally:
        gc.set_threshold(*threshold)
        gc.unfreeze()
