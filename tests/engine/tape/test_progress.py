"""Long work tells how far it is, nests, and ends where it is asked to; nobody has to listen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hookscope.engine.tape import progress as progress_module
from hookscope.engine.tape import taps
from hookscope.engine.tape.progress import Stopped, Work, answer_with, answers, current, listen, progress


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Work]]:
    """Provide the log of a listener that is notified of each step."""
    monkeypatch.setattr(progress_module, "_INTERVAL", 0.0)
    records: list[Work] = []
    unsubscribe = listen(records.append)
    yield records
    unsubscribe()


@pytest.fixture
def answering() -> Iterator[Callable[[Callable[[], None]], None]]:
    yield answer_with
    answer_with(None)


def test_a_listener_hears_of_each_step_and_of_the_end(works: list[Work]) -> None:
    with progress("counting", 3, "beans") as work:
        for _ in range(3):
            work.advance()
        assert works == [work] * 3 and not work.ended
    assert works == [work] * 4 and work.ended and work.done == 3


def test_a_listener_hears_a_few_times_a_second_at_most() -> None:
    records: list[int] = []
    unsubscribe = listen(lambda work: records.append(work.done))
    with progress("counting", 20_000) as work:
        for _ in range(20_000):
            work.advance()
    unsubscribe()
    assert records[-1] == 20_000 and len(records) < 2_000
    with progress("counting", 1) as work:
        work.advance()
    assert records[-1] == 20_000, "it is not called any more"


def test_work_inside_work_knows_it(works: list[Work]) -> None:
    with progress("epochs", 2, "epochs") as outer:
        assert current() is outer
        with progress("steps", 1) as inner:
            assert inner.outer is outer and current() is inner
            inner.advance()
        assert current() is outer
        outer.advance()
    assert current() is None
    assert [work.what for work in works] == ["steps", "steps", "epochs", "epochs"]


def test_each_thread_has_its_own_work() -> None:
    with progress("here", 1):
        records: list[Any] = []
        thread = threading.Thread(target=lambda: records.append(current()))
        thread.start()
        thread.join()
    assert records == [None]


def test_what_raises_ends_the_work_too(works: list[Work]) -> None:
    with pytest.raises(KeyError), progress("counting", 2) as work:
        raise KeyError
    assert work.ended and current() is None and works == [work]


def test_asked_to_stop_it_raises_after_its_next_unit_and_says_how_far_it_got() -> None:
    calls = []

    def run() -> None:
        with progress("counting", 1000, "beans") as work:
            for bean in range(1000):
                if bean == 2:
                    work.stop()
                calls.append(bean)
                work.advance()

    with pytest.raises(Stopped, match="^counting stopped after 3 of 1,000 beans$"):
        run()
    assert calls == [0, 1, 2]


def test_work_that_does_not_raise_is_only_told() -> None:
    with progress("counting", None, "beans", raises=False) as work:
        work.stop()
        work.advance()
        assert work.stopping
        assert work.stopped() == "counting stopped after 1 beans"


def test_in_a_notebook_a_stop_is_one_line_and_no_traceback() -> None:
    assert Stopped("counting stopped")._render_traceback_() == ["counting stopped"]


@pytest.mark.parametrize(
    ("outer_raises", "inner_raises", "inner_stops"),
    [(True, True, True), (True, False, True), (False, False, True), (False, True, False)],
)
def test_a_stop_reaches_what_is_inside_unless_that_would_tear_a_step_apart(
    outer_raises: bool, inner_raises: bool, inner_stops: bool
) -> None:
    with progress("outer", 2, raises=outer_raises) as outer, progress("inner", 2, raises=inner_raises) as inner:
        outer.stop()
        assert inner.stopping is inner_stops
        assert outer.stopping


def test_what_is_said_is_how_far_the_work_got_that_was_asked() -> None:
    with progress("export", 9, "parts") as export, progress("captures", 100, "captures") as captures:
        export.done = 2
        export.stop()
        with pytest.raises(Stopped, match="^export stopped after 2 of 9 parts$"):
            captures.advance()


def test_a_stop_of_what_is_inside_leaves_the_rest_alone() -> None:
    with progress("outer", 2) as outer:
        inner = progress("inner", 2)
        inner.stop()
        with pytest.raises(Stopped, match="inner"), inner:
            inner.advance()
        outer.advance()
        assert not outer.stopping


def test_a_listener_that_fails_is_let_go_and_the_work_goes_on(
    capsys: pytest.CaptureFixture[str], works: list[Work]
) -> None:
    def fail(work: Work) -> None:
        raise ValueError("a view")

    unsubscribe = listen(fail)
    with progress("counting", 2) as work:
        work.advance(2)
    unsubscribe()
    assert work.done == 2 and works == [work, work]
    assert capsys.readouterr().err == "hookscope: progress: a listener raised ValueError: a view\n"


def test_each_step_is_a_safe_point_to_answer_at(answering: Callable[[Callable[[], None]], None]) -> None:
    assert not answers()
    answered: list[int] = []
    with progress("counting", 2) as work:
        answering(lambda: answered.append(work.done))
        work.advance()
        work.advance()
    assert answered == [1, 2] and answers()


def test_an_answer_may_stop_the_work(answering: Callable[[Callable[[], None]], None]) -> None:
    work = progress("counting", 5)
    answering(work.stop)
    with pytest.raises(Stopped, match="after 1 of 5"), work:
        work.advance()


def test_listeners_are_no_part_of_what_is_recorded_or_watched() -> None:
    muted = []
    unsubscribe = listen(lambda work: muted.append(taps._local.is_muted))
    with progress("counting", 1):
        pass
    unsubscribe()
    assert muted == [True] and not taps._local.is_muted
