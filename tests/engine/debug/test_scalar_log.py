"""``hookscope.log`` and the names of other libraries: what is kept, where, and the errors of bad arguments."""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hookscope
from hookscope.engine import Tensor, nn, train, value_and_grad
from hookscope.engine import dataset as ds
from hookscope.engine.debug import DebugSession, Point
from hookscope.engine.debug.watch import newest_session

X = np.ones((8, 3), np.float32)


@pytest.fixture
def net() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(3, 1))


@pytest.fixture
def session(net: nn.Cell) -> Iterator[DebugSession]:
    with DebugSession(net) as session:
        yield session


def logged(session: DebugSession) -> dict[str, list[tuple[int, float]]]:
    return {name: [(p.step, p.value) for p in points] for name, points in session.scalars.points().items()}


class Library:
    """An array of another library: one element, which item() returns."""

    def item(self) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        (2, 2.0),
        (True, 1.0),
        (np.float32(0.5), 0.5),
        (np.array([[3]]), 3.0),
        (Tensor([0.5]), 0.5),
        (Tensor(np.float16(0.5)), 0.5),
        (Library(), 0.5),
        (math.inf, math.inf),
        (1e308, 1e308),
    ],
)
def test_numbers_of_any_library_are_kept(session: DebugSession, value: Any, expected: float) -> None:
    hookscope.log("val_loss", value)
    assert logged(session) == {"val_loss": [(0, expected)]}


def test_a_nan_is_kept(session: DebugSession) -> None:
    hookscope.log("val_loss", math.nan)
    assert math.isnan(logged(session)["val_loss"][0][1])
    assert session.scalars.series()["val_loss"].nonfinite == 1


def test_a_mapping_gives_several_and_a_mapping_in_it_names_with_dots(session: DebugSession) -> None:
    hookscope.log({"loss": 1.0, "val": {"loss": 2.0, "top": {"5": 3}}}, step=7)
    assert logged(session) == {"loss": [(7, 1.0)], "val.loss": [(7, 2.0)], "val.top.5": [(7, 3.0)]}


def test_without_a_step_it_is_that_of_the_session(session: DebugSession, net: nn.Cell) -> None:
    step = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    for _ in range(3):
        step(Tensor(X))
        nn.SGD(net.trainable_params(), 0.1)(step(Tensor(X))[1])
    hookscope.log("val_loss", 1.0)
    hookscope.log("val_loss", 1.0, step=100)
    assert session.scalars.points()["val_loss"] == [
        Point(session.step, 1.0, session.step),
        Point(100, 1.0, session.step),
    ]


def test_after_the_run_the_last_session_still_gets_it(net: nn.Cell) -> None:
    with DebugSession(net) as session:
        net(Tensor(X))
    hookscope.log("val_loss", 0.5)
    assert logged(session) == {"val_loss": [(1, 0.5)]}


def test_of_two_sessions_the_newest_gets_it(net: nn.Cell) -> None:
    with DebugSession(net) as first, DebugSession(net) as second:
        hookscope.log("val_loss", 0.5)
    assert (logged(first), logged(second)) == ({}, {"val_loss": [(0, 0.5)]})


def test_without_a_session_only_the_arguments_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newest_session, "_newest", None)
    gc.collect()
    hookscope.log("val_loss", 0.5)
    with pytest.raises(TypeError, match="the value of 'val_loss' must be a number"):
        hookscope.log("val_loss", "0.5")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: hookscope.log("a"), TypeError, r"log: the value of 'a' is missing: log\(name, value\)"),
        (lambda: hookscope.log("a", None), TypeError, "log: the value of 'a' must be a number, .* got NoneType"),
        (lambda: hookscope.log("a", "3"), TypeError, "log: the value of 'a' must be a number, .* got str"),
        (lambda: hookscope.log("a", 1j), TypeError, "log: the value of 'a' must be a number, .* got complex"),
        (lambda: hookscope.log("a", np.ones(3)), TypeError, "or an array of one element, got ndarray of 3 elements"),
        (lambda: hookscope.log("a", Tensor([1.0, 2.0])), TypeError, "or an array of one element, got Tensor of 2 elem"),
        (lambda: hookscope.log("a", 10**400), ValueError, "log: an int of 1329 bits is too large for a float"),
        (lambda: hookscope.log(3, 1.0), TypeError, "log: name must be a str, got int"),  # type: ignore[arg-type]
        (lambda: hookscope.log(3), TypeError, "log: name must be a str or a mapping"),  # type: ignore[arg-type]
        (lambda: hookscope.log("", 1.0), ValueError, "log: name must have 1 to 200 characters, got 0"),
        (lambda: hookscope.log("n" * 201, 1.0), ValueError, "log: name must have 1 to 200 characters, got 201"),
        (lambda: hookscope.log({"a": 1}, 2), TypeError, "log: value must be left out after a mapping"),
        (lambda: hookscope.log({1: 1}), TypeError, "log: name must be a str, got int"),  # type: ignore[dict-item]
        (lambda: hookscope.log("a", 1.0, step=1.5), TypeError, "log: step must be an int or None, got float"),  # type: ignore[arg-type]
        (lambda: hookscope.log("a", 1.0, step=True), TypeError, "log: step must be an int or None, got bool"),
        (lambda: hookscope.log("a", 1.0, step=2**60), ValueError, r"log: step must be between -2\*\*53 and 2\*\*53"),
        (lambda: hookscope.Run().log([1]), TypeError, "log: data must be a mapping .*, got list"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_have_one_clear_error(
    session: DebugSession, call: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
    assert logged(session) == {}


def test_mappings_in_each_other_have_a_limit(session: DebugSession) -> None:
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(ValueError, match="nested too deeply"):
        hookscope.log(endless)


def test_too_many_names_are_reported_once(session: DebugSession, capfd: pytest.CaptureFixture[str]) -> None:
    for k in range(205):
        hookscope.log(f"loss {k}", 1.0)
    assert capfd.readouterr().err.count("more than 200 names; 'loss 200'") == 1
    assert len(logged(session)) == 200


def test_the_names_of_tensorboard_are_understood(session: DebugSession) -> None:
    with hookscope.SummaryWriter("runs/first", flush_secs=5) as writer:
        writer.add_scalar("Loss/train", Tensor([0.5]), 3)
        writer.add_scalar("Loss/train", 0.25, global_step=np.int64(4))
        writer.add_scalars("Accuracy", {"train": 0.5, "val": 0.25}, 4)
        writer.flush()
    assert logged(session) == {
        "Loss/train": [(3, 0.5), (4, 0.25)],
        "Accuracy/train": [(4, 0.5)],
        "Accuracy/val": [(4, 0.25)],
    }


def test_the_names_of_weights_and_biases_are_understood(session: DebugSession) -> None:
    run = hookscope.Run(project="digits", config={"lr": 0.1})
    run.log({"loss": 0.5, "val": {"loss": 0.75}}, step=2)
    run.log({"loss": 0.25}, commit=True)
    run.finish()
    assert run.config == {"lr": 0.1}
    assert logged(session) == {"loss": [(2, 0.5), (0, 0.25)], "val.loss": [(2, 0.75)]}


def test_a_thread_may_log(session: DebugSession) -> None:
    thread = threading.Thread(target=lambda: [hookscope.log("val_loss", k) for k in range(50)])
    thread.start()
    thread.join()
    assert session.scalars.series()["val_loss"].count == 50


def test_logging_is_no_work_for_the_tape(session: DebugSession, net: nn.Cell) -> None:
    def loss_of(x: Tensor) -> Tensor:
        loss = net(x).sum()
        hookscope.log("inside", loss)
        return loss

    step = value_and_grad(loss_of, None, net.trainable_params())
    watched = step(Tensor(X))[1]
    session.detach()
    plain = step(Tensor(X))[1]
    assert [g.asnumpy().tobytes() for g in watched] == [g.asnumpy().tobytes() for g in plain]


def model(net: nn.Cell, **options: Any) -> train.Model:
    return train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01), **options)


def data() -> Any:
    return ds.NumpySlicesDataset((X, X[:, :1]), shuffle=False).batch(4)


def test_the_metrics_of_a_model_are_there_with_the_step_of_the_training(session: DebugSession, net: nn.Cell) -> None:
    subject = model(net, metrics={"mae", "loss"})
    subject.fit(3, data(), data())
    names = logged(session)
    assert [step for step, _ in names["loss"]] == [1, 2, 3, 4, 5, 6]
    assert [step for step, _ in names["eval_mae"]] == [2, 4, 6]
    assert [step for step, _ in names["eval_loss"]] == [2, 4, 6]
    values = subject.eval(data())
    assert logged(session)["eval_mae"][-1] == (6, pytest.approx(values["mae"]))


def test_a_scaled_loss_has_the_one_that_the_model_prints_beside_it(session: DebugSession, net: nn.Cell) -> None:
    manager = train.FixedLossScaleManager(1024.0)
    model(net, loss_scale_manager=manager).train(1, data())
    names = logged(session)
    scaled, printed = ([value for _, value in names[name]] for name in ("loss", "unscaled loss"))
    assert scaled == pytest.approx([1024.0 * value for value in printed])


def test_a_model_of_another_network_is_not_recorded(session: DebugSession) -> None:
    model(nn.SequentialCell(nn.Dense(3, 1)), metrics={"mae"}).eval(data())
    assert logged(session) == {}
