"""Rows that remain of evicted captures, and the bound on the memory of all sessions together."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from debug_networks import Square, tensor

import hookscope.engine.debug.record.ring as ring_module
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession, compare, kept_value
from hookscope.engine.debug.record.capture import Capture
from hookscope.engine.debug.record.evicted import EvictedCapture
from hookscope.engine.debug.record.ring import CaptureRing
from hookscope.engine.debug.record.size_texts import parse_size, size_text


def capture(index: int, array: np.ndarray, step: int = 1) -> Capture:
    return Capture(index, step, "c", "Dense", 0, "forward", "output", SimpleNamespace(_array=array))  # type: ignore[arg-type]  # a stand-in tensor


def figures_of(row: Capture | EvictedCapture) -> Any:
    figures = row.statistics()
    return None if figures is None else (figures.minimum, figures.maximum, figures.nan)


# Rows


def test_the_row_and_its_figures_stay_when_the_value_goes() -> None:
    net = nn.SequentialCell(Square(), nn.ReLU())
    with DebugSession(net, max_bytes=80) as session:
        for step in range(1, 5):
            net(tensor(*range(step, step + 10)))
    assert session.captures.bytes <= 80 and session.captures.given_up > 0
    rows = session.captures.rows()
    assert [row.index for row in rows] == list(range(16))
    assert [(row.key, row.step, row.shape, row.dtype, figures_of(row)) for row in rows[:2]] == [
        ("0#0 forward input[0]", 1, (10,), "float32", (1.0, 10.0, 0)),
        ("0#0 forward output", 1, (10,), "float32", (1.0, 100.0, 0)),
    ]
    first = session.table().splitlines()[1]
    assert first.split() == ["0#0", "forward", "input[0]", "10", "float32", "1", "10", "5.5", "2.872", "0"]


def test_what_conditions_marked_stays_marked() -> None:
    net = nn.SequentialCell(Square())
    with DebugSession(net, conditions=["nan"], max_bytes=40) as session:
        net(Tensor(np.full(10, np.nan, np.float32)))
        net(tensor(*range(10)))
    marked = [row for row in session.captures.rows() if row.hits]
    assert marked and all(isinstance(row, EvictedCapture) and row.hits == ["nan"] for row in marked)
    assert not session.hits  # they would keep the values alive
    assert len(session.findings()) == 1


def test_a_condition_that_held_keeps_no_value_alive_that_was_given_up() -> None:
    net = nn.SequentialCell(Square())
    with DebugSession(net, conditions=["nan"], max_bytes=4_000) as session:
        net(Tensor(np.full(1000, np.nan, np.float32)))
        for _ in range(3):
            net(Tensor(np.ones(1000, np.float32)))
        assert not session.checks.hit_store._of_captures


def test_a_capture_that_the_user_holds_keeps_its_value() -> None:
    net = Square()
    with DebugSession(net, max_bytes=8) as session:
        net(tensor(1.0, 2.0))
        held = session.captures[-1]
        net(tensor(3.0, 4.0))
    assert held not in list(session.captures)
    assert held.value.asnumpy().tolist() == [1.0, 4.0]


def test_figures_are_computed_for_whole_steps_and_only_while_that_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes 30 ms of a simulated clock: 50 ms may be spent, and 0.5 % of elapsed time."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(ring_module, "perf_counter", lambda: clock.now)
    computed: list[int] = []

    def statistics(capture: Capture) -> None:
        clock.now += 0.03
        computed.append(capture.index)

    monkeypatch.setattr(Capture, "statistics", statistics)
    ring = CaptureRing(1, 100)
    for index in range(12):
        ring.append(capture(index, np.zeros(index + 1), step=index // 3))
    assert computed == [0, 1, 2]  # the first step took 90 ms
    clock.now += 20.0
    for index in range(12, 18):
        ring.append(capture(index, np.zeros(index + 1), step=index // 3))
    assert computed == [0, 1, 2, 12, 13, 14]
    clock.now += 36_000.0  # a long idle time saves up no more than the initial budget
    for index in range(18, 27):
        ring.append(capture(index, np.zeros(index + 1), step=index // 3))
    assert computed == [0, 1, 2, 12, 13, 14, 18, 19, 20]


def test_a_row_whose_figures_nobody_computed_says_that_it_was_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_module, "_FIRST_SECONDS", -1.0)
    net = Square()
    with DebugSession(net, max_bytes=8) as session:
        net(tensor(1.0, 2.0))
        net(tensor(3.0, 4.0))
    lines = session.table().splitlines()
    assert lines[1].split() == ["(root)#0", "forward", "input[0]", "2", "float32", "given", "up"]
    assert lines[-1].startswith("The values of the 3 oldest were given up")


def test_values_without_numbers_are_given_up_without_figures() -> None:
    ring = CaptureRing(1, 10)
    ring.append(capture(0, np.array(["a", "b"])))
    assert [figures_of(row) for row in ring.rows()] == [None]


def test_two_runs_whose_beginnings_were_given_up_say_so_when_they_are_compared() -> None:
    net = Square()

    def run() -> DebugSession:
        with DebugSession(net, max_bytes=16) as session:
            for _ in range(3):
                net(tensor(1.0, 2.0))
        return session

    assert compare(run(), run()).summary.endswith("; 8 were dropped before")


# One step


def test_it_says_what_to_do_where_the_captures_of_one_step_do_not_fit() -> None:
    ring = CaptureRing(4 << 20, 100)
    for index in range(6):
        ring.append(capture(index, np.zeros(1 << 17), step=1))  # 1 MiB each
    assert ring.one_step_takes == 6 << 20
    assert ring.notes()[0] == (
        "The captures of one step take 6 MiB and do not fit into 4 MiB: "
        "allow more (--max-bytes), or watch fewer cells (--watch)."
    )
    ring.append(capture(6, np.zeros(1 << 17), step=2))
    assert ring.one_step_takes == 6 << 20  # also if the next one has just begun
    ring.set_bounds(max_bytes=8 << 20)
    for index in range(7, 20):
        ring.append(capture(index, np.zeros(1 << 17), step=2 + index // 6))
    assert ring.one_step_takes == 0 and not any("one step" in note for note in ring.notes())


def test_steps_that_fit_are_no_reason_to_say_anything() -> None:
    ring = CaptureRing(4 << 20, 100)
    for index in range(30):
        ring.append(capture(index, np.zeros(1 << 17), step=index // 3))
    assert ring.one_step_takes == 0 and ring.given_up == 26


# Bounds


def test_smaller_bounds_give_up_at_once_and_larger_ones_keep_more() -> None:
    ring = CaptureRing(1000, 10)
    for index in range(7):
        ring.append(capture(index, np.zeros(16)))
    ring.set_bounds(max_bytes=300)
    assert (len(ring), ring.bytes, ring.given_up) == (2, 256, 5)
    ring.set_bounds(max_captures=4)
    assert ([row.index for row in ring.rows()], ring.dropped) == ([3, 4, 5, 6], 3)
    with pytest.raises(ValueError, match="max_bytes must be a positive integer, got 0"):
        ring.set_bounds(max_bytes=0, max_captures=1)
    assert (ring.max_bytes, ring.max_captures, len(ring.rows())) == (300, 4, 4)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave only this test's rings in the common bound."""
    monkeypatch.setattr(ring_module, "_together", ring_module._Together())
    monkeypatch.setattr(ring_module, "MAX_TOGETHER", 4000)


def test_all_sessions_together_stay_within_a_bound_and_the_oldest_values_go_first(alone: None) -> None:
    first, second, third = (CaptureRing(3000, 100) for _ in range(3))
    first.append(capture(0, np.zeros(100)))
    second.append(capture(0, np.zeros(200)))
    first.append(capture(1, np.zeros(50)))
    third.append(capture(0, np.zeros(150)))
    assert [ring.given_up for ring in (first, second, third)] == [0, 0, 0]
    third.append(capture(1, np.zeros(1)))
    assert [ring.given_up for ring in (first, second, third)] == [1, 0, 0]
    assert figures_of(first.rows()[0]) == (0.0, 0.0, 0)
    assert "all together 3.9 KiB" in first.notes()[0]
    third.append(capture(2, np.zeros(170)))
    assert [ring.given_up for ring in (first, second, third)] == [1, 1, 0]
    assert sum(ring.bytes for ring in (first, second, third)) == ring_module._together.bytes == 2968


def test_a_session_that_may_keep_more_than_all_together_may_do_so(alone: None) -> None:
    other, large = CaptureRing(3000, 100), CaptureRing(8000, 100)
    other.append(capture(0, np.zeros(100)))
    large.append(capture(0, np.zeros(900)))
    assert (other.given_up, large.given_up) == (0, 0)
    large.append(capture(1, np.zeros(10)))
    assert (other.given_up, large.given_up) == (1, 0)
    del large
    other.append(capture(1, np.zeros(300)))
    assert ring_module._together.most == 4000 and other.given_up == 1


def test_a_session_that_is_gone_takes_nothing_of_what_all_may_keep(alone: None) -> None:
    ring = CaptureRing(1000, 100)
    ring.append(capture(0, np.zeros(50)))
    assert ring_module._together.bytes == 400
    ring.clear()
    assert ring_module._together.bytes == 0
    ring.append(capture(0, np.zeros(50)))
    del ring
    assert ring_module._together.bytes == 0


def test_a_ring_that_could_not_leave_in_good_order_takes_nothing_for_ever(
    alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For example, Ctrl-C interrupts the removal."""
    ring, empty = CaptureRing(3000, 100), CaptureRing(3000, 100)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(ring_module._Together, "_leave", lambda self, ref: None)
        gone = CaptureRing(3000, 100)
        gone.append(capture(0, np.zeros(300)))
        del gone
    for index in range(4):
        ring.append(capture(index, np.zeros(90)))
    assert (ring.given_up, ring.bytes, ring_module._together.bytes) == (0, 2880, 2880)
    empty.append(capture(0, np.zeros(200)))
    assert (ring.given_up, ring_module._together.bytes) == (1, 2160 + 1600)


def test_rings_that_are_filled_by_several_threads_stay_within_what_all_may_keep(alone: None) -> None:
    rings = [CaptureRing(4000, 1000) for _ in range(4)]

    def fill(ring: CaptureRing) -> None:
        for index in range(300):
            ring.append(capture(index, np.zeros(10)))
            assert ring_module._together.bytes <= 4000 + 3 * 80  # each other thread may be adding one of 80 bytes

    threads = [threading.Thread(target=fill, args=(ring,)) for ring in rings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(map(len, rings)) == 50 and sum(ring.given_up for ring in rings) == 1150
    for ring in rings:
        assert [row.index for row in ring.rows()] == list(range(300))


# Access to a value by its name


def test_a_kept_value_is_found_by_the_name_of_its_session() -> None:
    net = Square()
    with DebugSession(net, max_bytes=16) as session:
        net(tensor(1.0, 2.0))
        net(tensor(3.0, 4.0))
    name = session.captures.name
    assert kept_value(name, 3).asnumpy().tolist() == [9.0, 16.0]
    with pytest.raises(LookupError, match="the value of capture 0 is not kept any more; copy a newer one"):
        kept_value(name, 0)
    with pytest.raises(LookupError, match="the session that captured this is gone"):
        kept_value("nothing", 0)


# Sizes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512MB", 512_000_000),
        ("1GiB", 1 << 30),
        ("1.5 GiB", 3 << 29),
        ("256m", 256 << 20),
        ("100", 100),
        ("2kb", 2000),
        ("1TB", 10**12),
        ("7B", 7),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "0", "1 parsec", "1e9", "0.1B", "1GiB2", "nan"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a size of 1 byte or more such as 512MB or 1GiB, got "):
        parse_size(text)


def test_sizes_are_written_as_people_read_them() -> None:
    assert [size_text(size) for size in (1, 1023, 1024, 256 << 20, 1.3 * (1 << 30), 5 << 40, 1 << 60)] == [
        "1 B",
        "1023 B",
        "1 KiB",
        "256 MiB",
        "1.3 GiB",
        "5 TiB",
        "1048576 TiB",
    ]


def test_watching_within_the_bounds_does_not_import_numba() -> None:
    code = (
        "import sys, numpy as np\nfrom hookscope.engine import Tensor, nn\n"
        "from hookscope.engine.debug import DebugSession\n"
        "net = nn.ReLU()\nwith DebugSession(net) as session:\n    net(Tensor(np.ones(3, np.float32)))\n"
        "print(len(session.captures), 'numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "2 False\n"
