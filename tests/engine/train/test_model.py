"""Model and callbacks: the losses, the order of calls, the printed lines and the files are MindSpore 2.10's."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import Tensor, amp, nn, train
from hookscope.engine.tape.progress import answer_with, current
from hookscope.engine.train import (
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    Model,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TimeMonitor,
)

X = np.random.default_rng(0).standard_normal((12, 4)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)


def data(batch: int = 4) -> Any:
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(batch)


def network() -> nn.Cell:
    first, second = np.linspace(-1, 1, 16).reshape(4, 4), np.linspace(-1, 1, 8).reshape(2, 4)
    return nn.SequentialCell(
        nn.Dense(4, 4, weight_init=Tensor(first, ms.float32), bias_init="zeros"),
        nn.ReLU(),
        nn.Dense(4, 2, weight_init=Tensor(second, ms.float32), bias_init="zeros"),
    )


def model(metrics: Any = ("acc", "loss"), rate: float = 0.1, **kwargs: Any) -> Model:
    net = network()
    chosen = set(metrics) if isinstance(metrics, tuple) else metrics
    return Model(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), rate, 0.9), metrics=chosen, **kwargs)


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_training_gives_mindspores_losses_and_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    subject = model()
    subject.train(2, data(), callbacks=[LossMonitor()])
    printed = lines(capsys)
    assert [line.rpartition(" ")[0] for line in printed] == [
        f"epoch: {epoch} step: {step}, loss is" for epoch in (1, 2) for step in (1, 2, 3)
    ]
    losses = [float(line.rpartition(" ")[2]) for line in printed]
    np.testing.assert_allclose(losses, [3.3404424, 1.1747987, 1.2828477, 0.8718433, 0.5696757, 0.5435632], rtol=1e-5)
    result = subject.eval(data())
    assert result["acc"] == 0.75 and result["loss"] == pytest.approx(0.564227, rel=1e-5)
    np.testing.assert_allclose(
        subject.predict(Tensor(X[:2])).asnumpy(), [[0.77593684, -0.75464123], [1.0143491, -0.5707384]], rtol=1e-5
    )


def test_the_networks_of_a_model_are_those_of_its_steps() -> None:
    subject = model()
    scores = subject.predict_network(Tensor(X[:4])).asnumpy().astype(np.float64)
    np.testing.assert_array_equal(scores.astype(np.float32), subject._network(Tensor(X[:4])).asnumpy())
    loss = (np.log(np.exp(scores).sum(1)) - scores[np.arange(4), Y[:4]]).mean()
    assert subject.eval_network is not None
    argument = subject.eval_network(Tensor(X[:4]), Tensor(Y[:4]))
    assert float(argument[0]) == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(argument[1].asnumpy(), scores, rtol=1e-6)
    np.testing.assert_array_equal(argument[2].asnumpy(), Y[:4])
    # Steps of the training network give MindSpore's losses of the training above.
    losses = [float(subject.train_network(Tensor(X[i : i + 4]), Tensor(Y[i : i + 4]))) for i in (0, 4, 8)]
    np.testing.assert_allclose(losses, [3.3404424, 1.1747987, 1.2828477], rtol=1e-5)
    assert model(None).eval_network is None


class Recorder(Callback):
    def __init__(self) -> None:
        self.moments: list[Any] = []

    def on_train_epoch_end(self, run_context: Any) -> None:
        facts = run_context.original_args()
        self.moments.append(
            ("train", facts.cur_epoch_num, facts.cur_step_num, facts.mode, sorted(facts.get("eval_results", {})))
        )

    def on_eval_step_end(self, run_context: Any) -> None:
        facts = run_context.original_args()
        self.moments.append(("eval step", facts.cur_step_num, len(facts.net_outputs), facts.mode))

    def on_eval_end(self, run_context: Any) -> None:
        self.moments.append(("eval", sorted(run_context.original_args().metrics)))


def test_fit_evaluates_between_epochs_and_puts_the_facts_back() -> None:
    callback, history = Recorder(), History()
    model().fit(3, data(), data(6), valid_frequency=2, callbacks=[callback, history])
    assert callback.moments == [
        ("train", 1, 3, "train", []),
        ("eval step", 1, 3, "eval"),
        ("eval step", 2, 3, "eval"),
        ("eval", ["acc", "loss"]),
        ("train", 2, 6, "train", ["acc", "eval_loss", "loss"]),
        ("train", 3, 9, "train", []),
    ]
    assert history.epoch == {"epoch": [1, 2, 3]} and history.history["acc"] == [0.75]
    np.testing.assert_allclose(
        [float(v) for v in history.history["net_output"]], [1.28285, 0.54356, 0.72306], rtol=1e-4
    )


def test_a_plateau_lowers_the_learning_rate(capsys: pytest.CaptureFixture[str]) -> None:
    subject = model()
    subject.fit(4, data(), data(), callbacks=[ReduceLROnPlateau(patience=1, verbose=True, min_delta=0.5, min_lr=0.001)])
    assert lines(capsys) == [
        "Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.010000001.",
        "Epoch 00003: ReduceLROnPlateau reducing learning rate to 0.001.",
    ]


def test_a_schedule_sets_the_learning_rate() -> None:
    subject = model()
    subject.train(2, data(), callbacks=[LearningRateScheduler(lambda rate, step: rate * 0.5)])
    assert float(subject._optimizer.learning_rate.asnumpy()) == pytest.approx(0.0015625)


def test_stopping_early_goes_back_to_the_best_weights(capsys: pytest.CaptureFixture[str]) -> None:
    subject = model(rate=1.0)
    stopper = EarlyStopping(patience=1, verbose=True, restore_best_weights=True)
    records: list[Any] = []
    keep = LambdaCallback(on_train_epoch_end=lambda c: records.append(subject._network[0].weight.asnumpy()))
    subject.fit(6, data(), data(), callbacks=[keep, stopper])
    assert lines(capsys)[0] == "Restoring model weights from the end of the best epoch."
    assert stopper.stopped_epoch == len(records) < 6
    np.testing.assert_array_equal(subject._network[0].weight.asnumpy(), records[-2])


def checkpoints(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith("ckpt"))


def test_checkpoints_are_named_kept_and_filled_as_the_config_says(tmp_path: Path) -> None:
    info = ["epoch_num", "step_num", {"lr": 0.5}]
    config = CheckpointConfig(2, keep_checkpoint_max=3, append_info=info)
    model().train(3, data(), callbacks=[ModelCheckpoint("a", str(tmp_path), config)])
    assert checkpoints(tmp_path) == ["a-2_3.ckpt", "a-3_2.ckpt", "a-3_3.ckpt"]
    held = ms.load_checkpoint(str(tmp_path / "a-3_3.ckpt"))
    assert {"0.weight", "2.bias", "moments.0.weight", "learning_rate", "epoch_num", "lr"} <= set(held)
    assert int(held["step_num"].asnumpy()) == 9
    model().train(1, data(), callbacks=ModelCheckpoint("a", str(tmp_path), CheckpointConfig(3)))
    assert "a_1-1_3.ckpt" in checkpoints(tmp_path)


def test_where_an_old_checkpoint_was_a_link_the_link_is_deleted_alone(tmp_path: Path) -> None:
    behind = tmp_path / "kept"
    saving = ModelCheckpoint("a", str(tmp_path), CheckpointConfig(1, keep_checkpoint_max=1))
    (tmp_path / "a-1_1.ckpt").symlink_to(behind)
    model().train(1, data(), callbacks=[saving])
    assert checkpoints(tmp_path) == ["a-1_3.ckpt"]
    assert behind.stat().st_mode & 0o777 == 0o400


def test_an_exception_leaves_a_checkpoint_behind(tmp_path: Path) -> None:
    def fail(context: Any) -> None:
        if context.original_args().cur_step_num == 2:
            raise KeyError("x")

    config = CheckpointConfig(100, exception_save=True)
    saving = ModelCheckpoint("e", str(tmp_path), config)
    with pytest.raises(KeyError):
        model().train(1, data(), callbacks=[saving, LambdaCallback(on_train_step_end=fail)])
    assert checkpoints(tmp_path) == ["e-1_2_breakpoint.ckpt"]


def test_a_backup_is_gone_on_from_and_deleted_in_the_end(tmp_path: Path) -> None:
    ended = model()
    ended.train(1, data(), callbacks=[train.BackupAndRestore(str(tmp_path), delete_checkpoint=False)])
    going_on = model()
    records: list[Any] = []
    look = LambdaCallback(on_train_begin=lambda c: records.append(going_on._network[0].weight.asnumpy()))
    going_on.train(1, data(), callbacks=[train.BackupAndRestore(str(tmp_path)), look])
    np.testing.assert_array_equal(records[0], ended._network[0].weight.asnumpy())
    assert checkpoints(tmp_path) == []


def test_times_are_told_in_mindspores_words(capsys: pytest.CaptureFixture[str]) -> None:
    model().train(1, data(), callbacks=[TimeMonitor(data_time=True)])
    (line,) = lines(capsys)
    assert line.startswith("Train epoch time: ") and " ms, per step time: " in line and " (data time: " in line


def test_a_loss_that_is_nan_ends_the_run() -> None:
    subject = model()
    subject._network[0].weight.set_data(Tensor(np.full((4, 4), np.nan, np.float32)))
    with pytest.raises(ValueError, match="loss is NAN or INF"):
        subject.train(1, data(), callbacks=[LossMonitor()])


def test_a_callback_can_end_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    stop = LambdaCallback(on_train_step_end=lambda context: context.request_stop())
    model().train(3, data(), callbacks=[LossMonitor(), stop])
    assert len(lines(capsys)) == 1


class Modes(nn.Cell):
    """Cell that notes its mode and its part's at each call: "T" in training, "e" in evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self.part = nn.ReLU()
        self.seen = ""

    def construct(self, x: Tensor) -> Tensor:
        self.seen += "".join("T" if cell.training else "e" for cell in (self, self.part)) + " "
        return self.part(x)


def noting() -> tuple[Model, nn.Cell, Modes]:
    modes = Modes()
    net = nn.SequentialCell(nn.Dense(4, 4), modes, nn.Dense(4, 2))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"acc"}), net, modes


def test_a_model_gives_its_networks() -> None:
    subject = model()
    assert subject.predict_network is subject._network
    loss = nn.CrossEntropyLoss()(subject._network(Tensor(X)), Tensor(Y)).asnumpy()
    assert subject.eval_network is not None and subject.train_network is not subject._network
    evaluated = subject.eval_network(Tensor(X), Tensor(Y))
    np.testing.assert_array_equal(evaluated[0].asnumpy(), loss)
    np.testing.assert_array_equal(evaluated[1].asnumpy(), subject._network(Tensor(X)).asnumpy())
    np.testing.assert_array_equal(evaluated[2].asnumpy(), Y)
    np.testing.assert_array_equal(subject.train_network(Tensor(X), Tensor(Y)).asnumpy(), loss)
    assert nn.CrossEntropyLoss()(subject._network(Tensor(X)), Tensor(Y)).asnumpy() < loss  # it has taken a step
    assert model(None).eval_network is None


# Modes: what MindSpore 2.10's Model gives.


def test_training_goes_on_in_its_mode_after_an_evaluation_or_a_prediction_in_between() -> None:
    subject, _, modes = noting()
    subject.fit(2, data(6), data(6))
    assert modes.seen == "TT TT ee ee TT TT ee ee "
    subject, _, modes = noting()
    subject.train(1, data(6), callbacks=[LambdaCallback(on_train_step_end=lambda context: subject.predict(Tensor(X)))])
    assert modes.seen == "TT ee TT ee "


def test_a_run_begins_in_its_mode_whatever_was_set_before() -> None:
    subject, net, modes = noting()
    modes.part.set_train(False)
    subject.train(1, data(12))
    net.set_train(False)
    subject.train(1, data(12))
    modes.part.set_train(True)
    subject.eval(data(12))
    net.set_train(True)
    subject.predict(Tensor(X))
    assert modes.seen == "TT TT ee ee "


def test_a_part_that_a_callback_sets_stays_as_it_is_set_to_the_end_of_the_run() -> None:
    subject, net, modes = noting()
    freeze = LambdaCallback(on_train_begin=lambda context: modes.part.set_train(False))
    subject.train(2, data(12), callbacks=[freeze])
    wake = LambdaCallback(on_eval_step_begin=lambda context: modes.part.set_train(True))
    subject.eval(data(6), callbacks=[wake])
    assert modes.seen == "Te Te eT eT "
    modes.seen = ""
    subject.train(1, data(6), callbacks=[LambdaCallback(on_train_step_begin=lambda context: net.set_train(False))])
    assert modes.seen == "ee ee "


def test_training_and_evaluation_that_are_asked_to_stop_end_after_their_step() -> None:
    steps: list[str] = []
    subject = model()
    callback = LambdaCallback(
        on_train_step_end=lambda context: steps.append("train"),
        on_train_end=lambda context: steps.append("end"),
        on_eval_step_end=lambda context: steps.append("eval"),
    )
    try:
        answer_with(lambda: current().stop() if steps and current() else None)  # type: ignore[union-attr]
        subject.train(2, data(), callbacks=[callback])
        assert steps == ["train", "end"]
        steps.clear()
        subject.eval(data(), callbacks=[callback])
        assert steps == ["eval"]
    finally:
        answer_with(None)


def test_a_plain_progress_line_leaves_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    model().train(2, data(), callbacks=[train.ProgressBar()])
    captured = capsys.readouterr()
    assert captured.out == "" and [line[:9] for line in captured.err.splitlines()] == ["epoch 1/2", "epoch 2/2"]


EVENTS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")


def listening(log: list[Any], *names: str) -> Callback:
    """Return a callback that writes down its calls, with the numbers of the epoch and the step."""

    def noting(name: str) -> Any:
        def called(self: Callback, run_context: Any) -> None:
            arguments = run_context.original_args()
            log.append((name.removeprefix("on_"), arguments.get("cur_epoch_num"), arguments.cur_step_num))

        return called

    callback: Callback = type("Listening", (Callback,), {name: noting(name) for name in names})()
    return callback


def batches(of: str, epoch: int | None, first: int, count: int = 2) -> list[Any]:
    steps = [(f"{of}_step_{end}", epoch, first + i) for i in range(1, count + 1) for end in ("begin", "end")]
    return [(f"{of}_epoch_begin", epoch, first), *steps, (f"{of}_epoch_end", epoch, first + count)]


def test_callbacks_are_told_of_every_beginning_and_end_in_mindspores_order() -> None:
    log: list[Any] = []
    listens = listening(log, *(f"on_{of}_{event}" for of in ("train", "eval") for event in EVENTS))

    def two() -> Any:
        return ds.NumpySlicesDataset((X[:4], Y[:4]), shuffle=False).batch(2)

    model().train(2, two(), callbacks=[listens])
    assert log == [("train_begin", None, 0), *batches("train", 1, 0), *batches("train", 2, 2), ("train_end", 2, 4)]
    log.clear()
    model().eval(two(), callbacks=[listens])
    assert log == [("eval_begin", None, 0), *batches("eval", None, 0), ("eval_end", None, 2)]
    log.clear()
    model().fit(1, two(), two(), callbacks=[listens])
    trained = batches("train", 1, 0)
    evaluated = [("eval_begin", 1, 0), *batches("eval", 1, 0), ("eval_end", 1, 2)]
    assert log == [("train_begin", None, 0), *trained[:-1], *evaluated, trained[-1], ("train_end", 1, 2)]


@pytest.mark.parametrize("of", ["train", "eval"])
def test_older_names_of_events_serve_training_and_evaluation(of: str) -> None:
    log: list[Any] = []
    data_set = ds.NumpySlicesDataset((X[:4], Y[:4]), shuffle=False).batch(2)
    if of == "train":
        model().train(1, data_set, callbacks=[listening(log, *EVENTS)])
    else:
        model().eval(data_set, callbacks=[listening(log, *EVENTS)])
    steps = ["step_begin", "step_end"] * 2
    assert [name for name, _, _ in log] == ["begin", "epoch_begin", *steps, "epoch_end", "end"]


def test_moments_of_an_evaluation_reach_a_callback_that_knows_only_the_old_ones() -> None:
    records: list[Any] = []

    class Knowing(Callback):
        def step_end(self, run_context: Any) -> None:
            records.append(("step_end", run_context.original_args().cur_step_num))

        def end(self, run_context: Any) -> None:
            records.append(("end", sorted(run_context.original_args().metrics)))

    model().eval(data(), callbacks=[Knowing()])
    assert records == [("step_end", 1), ("step_end", 2), ("step_end", 3), ("end", ["acc", "loss"])]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((7, 0, 3, 0), (7, None, 3, None)),
        ((0, 5, 0, 2), (0, 5, 0, 2)),
        ((7, 5, 3, 2), (7, None, 3, None)),
        ((1, 0, 0, 0), (1, None, 1, 0)),
    ],
)
def test_a_config_of_checkpoints_tells_what_holds_of_it(numbers: Any, expected: Any) -> None:
    names = ("save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max", "keep_checkpoint_per_n_minutes")
    saved = network()
    policy = CheckpointConfig(**dict(zip(names, numbers, strict=True)), saved_network=saved).get_checkpoint_policy()
    assert policy == {**dict(zip(names, expected, strict=True)), "saved_network": saved}


class Old(Callback):
    def step_end(self, run_context: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Model(3), TypeError),
        (lambda: Model(network(), metrics={"acc"}), ValueError),
        (lambda: Model(network(), amp_level="O2"), ValueError),
        (lambda: Model(network(), foo=1), ValueError),
        (lambda: Model(network(), nn.MSELoss(), loss_scale_manager=amp.FixedLossScaleManager()), ValueError),
        (lambda: model().train("a", data()), TypeError),
        (lambda: model().train(0, data()), ValueError),
        (lambda: model().train(1, data(), sink_size=0), ValueError),
        (lambda: model().train(1, data(), callbacks=3), TypeError),
        (lambda: model().train(2, data(), initial_epoch=2), ValueError),
        (lambda: model().train(1, ds.NumpySlicesDataset((X, Y, Y)).batch(4)), ValueError),
        (lambda: model(None).eval(data()), ValueError),
        (lambda: model(None).fit(1, data(), data()), ValueError),
        (lambda: model().train(1, [1, 2]), AttributeError),
        (lambda: model().train(1, data(), dataset_sink_mode=1), TypeError),
        (lambda: model(["acc"]), TypeError),
        (lambda: model().predict(np.ones(3)), TypeError),
        (lambda: model().fit(1, data(), data(), callbacks=[Old()]), ValueError),
        (lambda: CheckpointConfig(0, 0, 0, 0), ValueError),
        (lambda: CheckpointConfig("a"), TypeError),
        (lambda: ModelCheckpoint("a/b"), ValueError),
        (lambda: LossMonitor("a"), TypeError),
        (lambda: EarlyStopping(mode="x"), ValueError),
        (lambda: ReduceLROnPlateau(factor=2), TypeError),
        (lambda: train.RunContext(3), TypeError),
    ],
)
def test_bad_input_raises_mindspores_class(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_a_signal_is_given_back_when_an_error_ends_the_training(tmp_path: Path) -> None:
    class Failing(Callback):
        def on_train_step_end(self, run_context: train.RunContext) -> None:
            raise RuntimeError("on purpose")

    before = signal.getsignal(signal.SIGUSR1)
    exiting = train.OnRequestExit(directory=str(tmp_path), sig=signal.SIGUSR1)
    with pytest.raises(RuntimeError, match="on purpose"):
        model().train(1, data(), callbacks=[exiting, Failing()])
    assert signal.getsignal(signal.SIGUSR1) is before


def test_a_rate_is_handed_to_its_function_whole_whatever_numpy_prints() -> None:
    records: list[float] = []

    def note(rate: float, step: int) -> float:
        records.append(rate)
        return rate

    with np.printoptions(precision=2):
        model(rate=0.012345).train(1, data(), callbacks=[train.LearningRateScheduler(note)])
    assert set(records) == {0.012345}


def test_a_model_without_an_optimizer_has_the_loss_of_its_network_and_no_step() -> None:
    net = network()
    subject = Model(net, nn.CrossEntropyLoss())
    scores = net(Tensor(X)).asnumpy().astype(np.float64)
    loss = (np.log(np.exp(scores).sum(1)) - scores[np.arange(12), Y]).mean()
    before = [parameter.asnumpy() for parameter in net.get_parameters()]
    assert float(subject.train_network(Tensor(X), Tensor(Y))) == pytest.approx(loss, rel=1e-6)
    for parameter, value in zip(net.get_parameters(), before, strict=True):
        np.testing.assert_array_equal(parameter.asnumpy(), value)
    assert Model(net).train_network is net


def test_callbacks_are_told_the_facts_of_their_run() -> None:
    subject, batches, validation = model(loss_scale_manager=amp.FixedLossScaleManager(8.0)), data(), data(6)
    trained: list[dict[str, Any]] = []
    evaluated: list[dict[str, Any]] = []
    looks = LambdaCallback(
        on_train_step_end=lambda context: trained.append(dict(context.original_args())),
        on_eval_step_end=lambda context: evaluated.append(dict(context.original_args())),
    )
    subject.train(4, batches, callbacks=[looks], initial_epoch=2)
    subject.eval(validation, callbacks=[looks])
    of_both = {
        "loss_fn": subject._loss_fn,
        "optimizer": subject._optimizer,
        "network": subject._network,
        "list_callback": [looks],
        "parallel_mode": "stand_alone",
        "device_number": 1,
        "dataset_sink_mode": False,
        "last_save_ckpt_step": None,
        "latest_ckpt_file": None,
        "loss_scale_mananger": subject._loss_scale_manager,
    }
    of_training = {"train_network": subject.train_network, "train_dataset": batches, "batch_num": 3, "epoch_num": 2}
    of_evaluation = {"eval_network": subject.eval_network, "valid_dataset": validation, "batch_num": 2}
    for facts, expected in (
        *((facts, {**of_both, **of_training, "mode": "train"}) for facts in trained),
        *((facts, {**of_both, **of_evaluation, "mode": "eval", "train_dataset_element": None}) for facts in evaluated),
    ):
        assert {name: facts[name] for name in expected} == expected
    steps = [(facts["cur_epoch_num"], facts["cur_step_num"]) for facts in trained]
    assert steps == [(3, 1), (3, 2), (3, 3), (4, 4), (4, 5), (4, 6)]
    for facts, element, size in ((trained[-1], "train_dataset_element", 4), (evaluated[-1], "eval_dataset_element", 6)):
        np.testing.assert_array_equal(facts[element][0].asnumpy(), X[-size:])
        np.testing.assert_array_equal(facts[element][1].asnumpy(), Y[-size:])


def test_a_data_set_is_asked_for_as_many_epochs_as_are_left() -> None:
    class Counting:
        def __init__(self) -> None:
            self.asked: list[int] = []

        def get_dataset_size(self) -> int:
            return 3

        def create_tuple_iterator(self, *, num_epochs: int) -> Any:
            self.asked.append(num_epochs)
            return data().create_tuple_iterator(num_epochs=num_epochs)

    batches = Counting()
    subject = model()
    subject.train(5, batches, initial_epoch=2)
    subject.eval(batches)
    assert batches.asked == [3, 1]


def test_progress_tells_what_runs_how_far_it_is_and_for_which_network() -> None:
    records: list[Any] = []
    subject = model()

    def look(context: Any) -> None:
        work = current()
        assert work is not None and work.of is subject._network and work.stoppable and work.unit == "steps"
        records.append((work.what, work.done, work.total, work.detail))

    looks = LambdaCallback(on_train_step_end=look, on_eval_step_end=look)
    subject.train(3, data(6), callbacks=[looks], initial_epoch=1)
    subject.eval(data(), callbacks=[looks])
    training = [("training", count, 4, f"epoch {2 + count // 2} of 3") for count in range(4)]
    assert records == [*training, *(("evaluation", count, 3, "") for count in range(3))]


@pytest.mark.parametrize("name", ["train", "fit"])
@pytest.mark.parametrize("argument", ["epoch", "initial_epoch", "sink_size"])
def test_a_number_of_a_run_that_is_none_is_shown(name: str, argument: str) -> None:
    with pytest.raises(TypeError, match=f"For 'Model.{name}', '{argument}' must be an int, but got '3'"):
        getattr(model(), name)(**{"epoch": 5, "train_dataset": data(), argument: "3"})


def test_losses_that_are_not_reduced_are_evaluated_by_their_mean() -> None:
    each = Model(network(), nn.CrossEntropyLoss(reduction="none"), metrics={"loss"})
    mean = Model(network(), nn.CrossEntropyLoss(), metrics={"loss"})
    np.testing.assert_allclose(each.eval(data())["loss"], mean.eval(data())["loss"], rtol=1e-6)
