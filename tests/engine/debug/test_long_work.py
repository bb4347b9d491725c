"""Training, evaluation, gradient checks and plain loops end on request, with nothing half done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import Capture, DebugAbort, DebugSession, check_gradient
from hookscope.engine.tape import progress
from hookscope.engine.tape.progress import Stopped, Work, answer_with
from hookscope.engine.train import Callback, Model

X = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)


def data() -> Any:
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)


def model(net: nn.Cell | None = None) -> Model:
    net = net or nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 2))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"acc"})


class Moments(Callback):
    """A record of a run's calls, in order."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_train_step_end(self, run_context: Any) -> None:
        self.seen.append(f"step {run_context.original_args().cur_step_num}")

    def on_train_epoch_end(self, run_context: Any) -> None:
        self.seen.append(f"epoch {run_context.original_args().cur_epoch_num}")

    def on_train_end(self, run_context: Any) -> None:
        self.seen.append("end")

    def on_eval_end(self, run_context: Any) -> None:
        self.seen.append("end of evaluation")


@pytest.fixture
def at_safe_points() -> Iterator[Callable[[Callable[[], None]], None]]:
    """Call a function at the points where messages would be answered."""
    yield answer_with
    answer_with(None)


@pytest.fixture
def at_each_step(at_safe_points: Any) -> Callable[[Callable[[Work], None]], None]:
    """Call a function with the work that has just advanced."""

    def begin(look: Callable[[Work], None]) -> None:
        at_safe_points(lambda: look(work) if (work := progress.current()) is not None else None)

    return begin


def stop_at(what: str, done: int) -> Callable[[Work], None]:
    """Stop as the panel does: the outermost work."""

    def look(work: Work) -> None:
        if work.what == what and work.done == done:
            (work.outer or work).stop()

    return look


def abort_when(session: DebugSession, condition: Callable[[Capture], bool]) -> Callable[[], None]:
    """Abort as soon as the newest capture meets a condition."""
    return lambda: session.abort() if session.captures and condition(session.captures[-1]) else None


def test_training_says_how_far_it_is(at_each_step: Any) -> None:
    reports = []
    at_each_step(lambda work: reports.append((work.what, work.done, work.total, work.detail)))
    model().train(2, data())
    epochs = ["epoch 1 of 2"] * 3 + ["epoch 2 of 2"] * 3
    assert reports == [("training", done, 6, epochs[done - 1]) for done in range(1, 7)]


def test_training_that_is_stopped_ends_after_the_step_as_if_a_callback_had_asked(at_each_step: Any) -> None:
    moments = Moments()
    at_each_step(stop_at("training", 2))
    model().train(5, data(), callbacks=[moments])
    assert moments.seen == ["step 1", "step 2", "epoch 1", "end"]


def test_a_stop_during_an_evaluation_ends_the_training_around_it(at_each_step: Any) -> None:
    moments = Moments()
    at_each_step(stop_at("evaluation", 1))
    model().fit(5, data(), data(), callbacks=[moments])
    assert moments.seen == ["step 1", "step 2", "step 3", "end of evaluation", "epoch 1", "end"]


def test_training_that_is_stopped_is_not_evaluated(at_each_step: Any) -> None:
    moments = Moments()
    at_each_step(stop_at("training", 1))
    model().fit(5, data(), data(), callbacks=[moments])
    assert moments.seen == ["step 1", "epoch 1", "end"]


def test_an_evaluation_that_is_stopped_gives_the_metrics_so_far(at_each_step: Any) -> None:
    net = model()
    predicted = net.predict(Tensor(X[:4])).asnumpy().argmax(1)
    at_each_step(stop_at("evaluation", 1))
    assert net.eval(data())["acc"] == (predicted == Y[:4]).mean()


def test_a_training_that_nobody_stops_gives_the_same_bits_as_one_that_is_watched_for_it(at_each_step: Any) -> None:
    def trained(watched: bool) -> list[bytes]:
        ms.set_seed(3)
        net = model()
        if watched:
            at_each_step(lambda work: None)
        net.train(2, data())
        return [p.asnumpy().tobytes() for p in net.predict_network.get_parameters()]

    assert trained(False) == trained(True)


def test_a_gradient_check_counts_its_elements(at_each_step: Any) -> None:
    reports = []
    at_each_step(lambda work: reports.append((work.what, work.done, work.total)))
    cell = nn.Dense(3, 2)
    assert check_gradient(cell, Tensor(X[:2, :3])).ok
    assert reports[-1] == ("gradient check", 14, 14), "6 of the input, 6 of the weight, 2 of the bias"
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)


def test_a_gradient_check_without_time_counts_what_it_leaves_out(at_each_step: Any) -> None:
    reports = []
    at_each_step(lambda work: reports.append((work.done, work.total)))
    check_gradient(nn.Dense(30, 20), Tensor(X[:, :1].repeat(30, 1)), seconds=0)
    assert reports[-1] == (64 + 64 + 20, 64 + 64 + 20)


def test_a_gradient_check_that_is_stopped_raises_one_line_and_leaves_all_as_it_was(at_each_step: Any) -> None:
    cell = nn.SequentialCell(nn.Dense(4, 4), nn.Dropout(p=0.5), nn.Dense(4, 2))
    before = [p.asnumpy().tobytes() for p in cell.get_parameters()]
    ms.set_seed(1)
    expected = nn.Dropout(p=0.5)(Tensor(np.ones(100, np.float32))).asnumpy()
    ms.set_seed(1)
    at_each_step(stop_at("gradient check", 3))
    with pytest.raises(Stopped, match=r"^gradient check stopped after 3 of \d+ elements$"):
        check_gradient(cell, Tensor(X))
    assert [p.asnumpy().tobytes() for p in cell.get_parameters()] == before
    np.testing.assert_array_equal(nn.Dropout(p=0.5)(Tensor(np.ones(100, np.float32))).asnumpy(), expected)


# A user's loop under a session


def train_step(net: nn.Cell) -> Callable[[], None]:
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    loss_fn = nn.CrossEntropyLoss()
    grad = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step() -> None:
        _, gradients = grad(Tensor(X), Tensor(Y))
        optimizer(gradients)

    return step


def network() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 2))


def weights(net: nn.Cell) -> list[bytes]:
    return [p.asnumpy().tobytes() for p in net.get_parameters()]


def test_abort_ends_a_loop_between_two_steps_when_it_comes_on_the_way_back(at_safe_points: Any) -> None:
    net = network()
    step = train_step(net)
    session = DebugSession(net)
    after = []

    def run() -> None:
        for _ in range(10):
            step()
            after.append(weights(net))

    at_safe_points(abort_when(session, lambda capture: capture.direction == "backward"))
    with pytest.raises(DebugAbort), session:
        run()
    assert len(after) == 1 and weights(net) == after[0], "the step in its backward pass is incomplete"
    assert session.step == 1 and not session.aborting


def test_abort_in_a_forward_run_ends_it_at_the_next_cell_and_changes_no_parameter(at_safe_points: Any) -> None:
    net = network()
    step = train_step(net)
    before = weights(net)
    session = DebugSession(net)
    at_safe_points(abort_when(session, lambda capture: True))
    with pytest.raises(DebugAbort), session:
        step()
    assert weights(net) == before
    assert {capture.path for capture in session.captures} == {"0"}


def test_an_aborted_loop_leaves_the_modes_as_they_were() -> None:
    net = network().set_train(False)
    session = DebugSession(net)

    def run() -> None:
        with session:
            net.set_train(True)
            session.abort()
            net(Tensor(X))

    with pytest.raises(DebugAbort):
        run()
    assert not net.training


def test_abort_from_another_thread_ends_the_loop() -> None:
    net = network()
    session = DebugSession(net)
    running = threading.Event()

    def abort() -> None:
        running.wait()
        session.abort()

    thread = threading.Thread(target=abort)
    thread.start()

    def run() -> None:
        while True:
            net(Tensor(X))
            running.set()

    with pytest.raises(DebugAbort), session:
        run()
    thread.join()


def test_a_network_that_the_session_does_not_know_is_not_ended() -> None:
    net, other = network(), network()
    session = DebugSession(net)
    with session:
        session.abort()
        other(Tensor(X))
        with pytest.raises(DebugAbort):
            net(Tensor(X))
        net(Tensor(X))
    assert session.step == 1


def test_abort_before_a_pause_does_not_pause(at_safe_points: Any) -> None:
    class Nobody:
        def unavailable(self) -> None:
            return None

        def wait(self, until: Callable[[], bool]) -> None:
            raise AssertionError("it paused")

    net = network()
    session = DebugSession(net, breaks=["2"], pauser=Nobody())
    # Requested in the last cell, after which there is only the pause.
    at_safe_points(abort_when(session, lambda capture: capture.key == "2#0 forward output"))
    with pytest.raises(DebugAbort), session:
        net(Tensor(X))


def test_what_an_earlier_session_was_asked_does_not_end_a_later_run() -> None:
    net = network()
    session = DebugSession(net)
    with session:
        session.abort()
    with pytest.raises(RuntimeError, match="watches nothing now"):
        session.abort()
    with session:
        net(Tensor(X))


def test_a_session_knows_whether_this_thread_is_in_a_run(at_safe_points: Any) -> None:
    net = network()
    session = DebugSession(net)
    log = []
    at_safe_points(lambda: log.append(session.running))
    with session:
        assert not session.running
        train_step(net)()
        assert not session.running
    assert len(log) > 10 and all(log)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_run_that_ended_by_an_error_in_the_walk_back_is_over(error: type[BaseException]) -> None:
    net = network()

    def hook(*_: Any) -> None:
        raise error("in the middle")

    handle = net[0].register_backward_hook(hook)
    session = DebugSession(net)
    with session:
        with pytest.raises(error):
            train_step(net)()
        handle.remove()
        assert not session.running
        session.parameter_edits.apply(session.parameter_edits.preview("0.weight", "zero"))
    assert not net[0].weight.asnumpy().any()


def test_a_run_that_was_interrupted_while_the_session_looked_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    net = network()
    session = DebugSession(net)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with session:
        monkeypatch.setattr(session.captures, "note", interrupted)
        with pytest.raises(KeyboardInterrupt):
            net(Tensor(X))
        assert not session.running
