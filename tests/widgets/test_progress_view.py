"""The panel's display of long work and its Stop button: work that counts itself, and loops of the user's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from plain_session import FakeClock, PlainSession

from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape import progress as engine_progress
from hookscope.engine.tape.progress import Stopped, answer_with, progress
from hookscope.widgets import DebuggerPanel, progress_view
from hookscope.widgets.progress_view import ProgressView, Speed, duration, pace


@pytest.fixture(autouse=True)
def every_step_is_told(monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
    monkeypatch.setattr(engine_progress, "_INTERVAL", 0.0)
    monkeypatch.setattr(engine_progress, "monotonic", clock)


@pytest.fixture
def panel(session: PlainSession, sent: list[Any], clock: FakeClock) -> Iterator[DebuggerPanel]:
    panel = DebuggerPanel(session, clock=clock)  # type: ignore[arg-type]
    yield panel
    panel.close()


@pytest.fixture
def answered() -> Iterator[None]:
    """Answer in a running cell, as a kernel does."""
    answer_with(lambda: None)
    yield
    answer_with(None)


def ask(panel: DebuggerPanel, **content: Any) -> None:
    panel._received(panel, content, [])


def steps(work: Any, clock: FakeClock, count: int, seconds: float) -> None:
    for _ in range(count):
        clock.now += seconds
        work.advance()


def test_work_is_shown_with_how_far_it_is_how_fast_and_for_how_long_still(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock
) -> None:
    with progress("training", 10_000, of=session) as work:
        work.detail = "epoch 1 of 10"
        steps(work, clock, 100, 0.05)
        assert panel.progress["what"] == "training"
        assert panel.progress["text"] == "91 of 10,000 steps · epoch 1 of 10 · 20 steps/s · 8 min 15 s left"
        assert panel.progress["value"] == pytest.approx(0.0091)
    assert panel.progress == {}


def test_what_is_over_soon_is_not_shown(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock, sent: list[Any]
) -> None:
    sent.clear()
    for _ in range(1000):
        with progress("prediction", 1, of=session) as work:
            steps(work, clock, 1, 0.2)
    assert sent == []


def test_it_is_renewed_twice_a_second_at_most(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock, sent: list[Any]
) -> None:
    sent.clear()
    with progress("training", 10_000, of=session) as work:
        steps(work, clock, 10_000, 0.001)
    updates = [data["state"]["progress"] for _, data, _ in sent if "progress" in data.get("state", {})]
    assert 15 < len(updates) <= 21 and updates[-1] == {}


def test_what_is_inside_counts_as_a_part_of_what_it_is_in(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock
) -> None:
    with progress("export", 4, "parts", of=session) as outer:
        outer.advance()
        with progress("captures", 10, "captures") as inner:
            steps(inner, clock, 5, 0.6)
            assert panel.progress["value"] == pytest.approx((1 + 0.5) / 4)
            assert panel.progress["inner"] == "captures: 5 of 10 captures"
        steps(outer, clock, 1, 0.6)
        assert panel.progress["inner"] == "" and panel.progress["value"] == pytest.approx(0.5)


def test_work_about_something_else_is_not_shown(panel: DebuggerPanel, clock: FakeClock) -> None:
    for of in (None, PlainSession(), nn.Dense(2, 2)):
        with progress("training", 10, of=of) as work:
            steps(work, clock, 5, 1.0)
            assert panel.progress == {}


def test_work_that_says_of_nothing_what_it_is_about_is_shown_by_who_watches(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock
) -> None:
    session.attached = True
    with progress("search", 10) as work:
        steps(work, clock, 5, 1.0)
        assert panel.progress["what"] == "search"
    with progress("export", 10, of=PlainSession()), progress("captures", 10) as inner:
        steps(inner, clock, 5, 1.0)
        assert panel.progress == {}, "work inside another session's work is shown"


@pytest.mark.parametrize("watched", ["the network", "a part of it", "what it is part of"])
def test_work_on_a_network_is_shown_where_a_part_of_it_is_watched(
    watched: str, sent: list[Any], clock: FakeClock
) -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
    roots = {"the network": net, "a part of it": net[0], "what it is part of": nn.WithLossCell(net, nn.MSELoss())}
    panel = DebuggerPanel(DebugSession(roots[watched]), clock=clock)
    with progress("training", 10, of=net) as work:
        steps(work, clock, 5, 1.0)
        assert panel.progress["what"] == "training"
    panel.close()


def test_stop_asks_the_outermost_work_to_stop(panel: DebuggerPanel, session: PlainSession, clock: FakeClock) -> None:
    with progress("training", 10, of=session, raises=False) as outer, progress("evaluation", 10, raises=False) as inner:
        steps(inner, clock, 5, 1.0)
        ask(panel, type="stop_work")
        assert panel.progress["stopping"]
        assert outer.stopping and inner.stopping
    assert panel.progress == {"note": "training stopped after 0 of 10 steps"}
    assert panel.status["error"] == ""


def test_the_last_word_on_what_was_stopped_goes_when_something_new_is_shown(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock
) -> None:
    for _ in range(2):
        with progress("training", 10, of=session, raises=False) as work:
            steps(work, clock, 5, 1.0)
            assert panel.progress["what"] == "training" and "note" not in panel.progress
            work.stop()
        assert panel.progress["note"]


def test_stop_after_the_end_does_nothing(panel: DebuggerPanel, session: PlainSession) -> None:
    session.attached = True
    ask(panel, type="stop_work")
    assert panel.status["error"] == "" and not session.aborting


def test_a_closed_panel_follows_nothing(panel: DebuggerPanel, session: PlainSession, clock: FakeClock) -> None:
    comm_id = panel.comm.comm_id
    assert comm_id in progress_view.LIVE_COMMS
    panel.close()
    assert comm_id not in progress_view.LIVE_COMMS
    with progress("training", 10, of=session) as work:
        steps(work, clock, 5, 1.0)
    assert panel.progress == {}


# Where Stop is offered


def progress_of(session: PlainSession, clock: FakeClock, **options: Any) -> dict[str, Any]:
    """Return the display of work with these options."""
    put: list[dict[str, Any]] = []
    view = ProgressView(session, put.append, clock)  # type: ignore[arg-type]
    unsubscribe = engine_progress.listen(view._follow_work)
    with progress("work", 10, of=session, **options) as work:
        steps(work, clock, 5, 1.0)
    unsubscribe()
    return put[-2]


def test_stop_is_offered_where_it_is_heard(session: PlainSession, clock: FakeClock, answered: None) -> None:
    assert progress_of(session, clock)["can_stop"]


def test_stop_is_not_offered_where_the_busy_thread_hears_nothing(session: PlainSession, clock: FakeClock) -> None:
    assert not progress_of(session, clock)["can_stop"]


def test_stop_is_offered_for_work_in_another_thread_in_any_kernel(session: PlainSession, clock: FakeClock) -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(progress_of(session, clock)))
    thread.start()
    thread.join()
    assert results[0]["can_stop"]


@pytest.mark.parametrize("watching", [True, False])
def test_work_that_cannot_stop_by_itself_can_if_the_session_watches(
    session: PlainSession, clock: FakeClock, answered: None, watching: bool
) -> None:
    session.attached = watching
    assert progress_of(session, clock, stoppable=False)["can_stop"] is watching


def test_stop_of_such_work_aborts_the_run(panel: DebuggerPanel, session: PlainSession, clock: FakeClock) -> None:
    session.attached = True
    with progress("prediction", None, of=session, stoppable=False) as work:
        steps(work, clock, 5, 1.0)
        assert panel.progress["value"] is None
        ask(panel, type="stop_work")
    assert session.aborting and panel.progress == {}


# A loop of the user's own


@pytest.fixture
def loop(panel: DebuggerPanel, session: PlainSession, clock: FakeClock) -> Callable[[int], None]:
    """Return a loop of steps that take a tenth of a second, in each of which the session captures something."""
    panel.display = None  # type: ignore[assignment,method-assign]
    ask(panel, type="hello")
    session.attached = session.running = True

    def run(count: int) -> None:
        for _ in range(count):
            clock.now += 0.1
            session.step += 1
            session.capture()

    return run


def test_a_loop_shows_its_steps_and_how_fast_they_are(panel: DebuggerPanel, loop: Callable[[int], None]) -> None:
    loop(100)
    assert panel.progress["what"] == "running"
    assert panel.progress["text"] == "step 100 · 10 steps/s"
    assert panel.progress["value"] is None and panel.progress["open_ended"]


def test_stop_aborts_a_loop(panel: DebuggerPanel, session: PlainSession, loop: Callable[[int], None]) -> None:
    loop(20)
    ask(panel, type="stop_work")
    assert session.aborting and panel.progress["stopping"]


@pytest.mark.parametrize("message", ["look_at_work", "stop_work", "sync"])
def test_a_message_that_finds_the_thread_free_ends_the_loop_and_aborts_nothing(
    panel: DebuggerPanel, session: PlainSession, loop: Callable[[int], None], message: str
) -> None:
    loop(20)
    session.running = False
    ask(panel, type=message)
    assert panel.progress == {} and not session.aborting


def test_a_message_during_the_loop_leaves_it(panel: DebuggerPanel, loop: Callable[[int], None]) -> None:
    loop(20)
    ask(panel, type="look_at_work")
    assert panel.progress["what"] == "running"


@pytest.mark.parametrize("event", ["finished", "paused"])
def test_a_loop_that_is_over_or_pauses_is_shown_no_more(
    panel: DebuggerPanel, session: PlainSession, loop: Callable[[int], None], event: str
) -> None:
    loop(20)
    if event == "paused":
        session.pause()
    else:
        session.emit("finished")
    assert panel.progress == {}


def test_the_speed_after_a_rest_is_that_of_the_new_loop(
    panel: DebuggerPanel, clock: FakeClock, loop: Callable[[int], None]
) -> None:
    loop(20)
    clock.now += 3600
    loop(20)
    assert panel.progress["text"].endswith(" · 10 steps/s")


# Work that a button starts


def test_a_button_starts_one_work_at_a_time(panel: DebuggerPanel) -> None:
    with progress_view.started_by_button(panel, "gradient check"):
        ask(panel, type="export")
    assert panel.status["error"] == "the gradient check is not over yet: wait for it, or stop it"
    ask(panel, type="export")
    assert panel.status["error"] == ""


def test_work_of_a_button_is_stopped_by_itself(panel: DebuggerPanel, session: PlainSession, clock: FakeClock) -> None:
    with progress("training", 10, of=session, raises=False) as training:
        steps(training, clock, 5, 1.0)
        export = progress("export", 10, of=session)
        with progress_view.started_by_button(panel, "export"), export:
            steps(export, clock, 5, 1.0)
            assert panel.progress["what"] == "export"
            ask(panel, type="stop_work")
            with pytest.raises(Stopped, match="export stopped after 6 of 10 steps"):
                export.advance()
        assert not training.stopping
        steps(training, clock, 1, 1.0)
        assert panel.progress["what"] == "training"


# Texts


@pytest.mark.parametrize(
    ("speed", "text"),
    [(0, ""), (0.4, "2.5 s each"), (1, "1.0 steps/s"), (84.96, "85 steps/s"), (12_345.6, "12,346 steps/s")],
)
def test_pace(speed: float, text: str) -> None:
    assert pace(speed, "steps") == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s left"), (59.4, "59 s left"), (103, "1 min 43 s left"), (7500, "2 h 5 min left")]
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_speed_forgets_a_slow_start() -> None:
    speed = Speed()
    speed.at(0.0, 0)
    assert speed.at(10.0, 1) == pytest.approx(0.1)
    for tenth in range(150):
        result = speed.at(10 + tenth / 10, 1 + tenth)
    assert result == pytest.approx(10.0)
