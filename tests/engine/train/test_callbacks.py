"""Callbacks: when they are called, what they print, keep and save; the recorded values are MindSpore 2.10's."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import train
from hookscope.engine.train import Callback, CheckpointConfig, LambdaCallback, ModelCheckpoint
from hookscope.engine.train.callback import InternalCallbackParam, monitors

from test_model import X, Y, checkpoints, data, lines, model, network  # isort: skip


class Old(Callback):
    """A user's callback with only the methods without a mode."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, moment: str, run_context: Any) -> None:
        facts = run_context.original_args()
        self.told.append(f"{facts.mode} {moment} {facts.get('cur_epoch_num')} {facts.cur_step_num}")

    def begin(self, run_context: Any) -> None:
        self.note("begin", run_context)

    def epoch_begin(self, run_context: Any) -> None:
        self.note("epoch_begin", run_context)

    def epoch_end(self, run_context: Any) -> None:
        self.note("epoch_end", run_context)

    def step_begin(self, run_context: Any) -> None:
        self.note("step_begin", run_context)

    def step_end(self, run_context: Any) -> None:
        self.note("step_end", run_context)

    def end(self, run_context: Any) -> None:
        self.note("end", run_context)


def test_a_callback_with_moments_of_no_mode_is_called_in_training_and_in_evaluation() -> None:
    subject, trained, evaluated = model(), Old(), Old()
    subject.train(2, data(6), callbacks=[trained])
    assert trained.told == [
        "train begin None 0",
        "train epoch_begin 1 0",
        "train step_begin 1 1",
        "train step_end 1 1",
        "train step_begin 1 2",
        "train step_end 1 2",
        "train epoch_end 1 2",
        "train epoch_begin 2 2",
        "train step_begin 2 3",
        "train step_end 2 3",
        "train step_begin 2 4",
        "train step_end 2 4",
        "train epoch_end 2 4",
        "train end 2 4",
    ]
    subject.eval(data(6), callbacks=[evaluated])
    assert evaluated.told == [
        "eval begin None 0",
        "eval epoch_begin None 0",
        "eval step_begin None 1",
        "eval step_end None 1",
        "eval step_begin None 2",
        "eval step_end None 2",
        "eval epoch_end None 2",
        "eval end None 2",
    ]


def test_a_moment_of_a_mode_takes_the_place_of_the_one_without() -> None:
    class Both(Old):
        def on_train_step_end(self, run_context: Any) -> None:
            self.told.append("its own")

        on_eval_begin = on_train_step_end

    subject, both = model(), Both()
    subject.train(1, data(12), callbacks=[both])
    assert both.told == [
        "train begin None 0",
        "train epoch_begin 1 0",
        "train step_begin 1 1",
        "its own",
        "train epoch_end 1 1",
        "train end 1 1",
    ]
    both.told.clear()
    subject.eval(data(12), callbacks=[both])
    assert both.told == [
        "its own",
        "eval epoch_begin None 0",
        "eval step_begin None 1",
        "eval step_end None 1",
        "eval epoch_end None 1",
        "eval end None 1",
    ]


@pytest.mark.parametrize("several", [list, tuple, iter])
def test_callbacks_are_called_in_their_order_however_they_are_given(several: Any) -> None:
    messages: list[str] = []
    first, second = (LambdaCallback(on_train_begin=lambda c, n=name: messages.append(n)) for name in "ab")
    model().train(1, data(12), callbacks=several([first, second]))
    model().train(1, data(12), callbacks=second)
    model().train(1, data(12), callbacks=None)
    assert messages == ["a", "b", "b"]


# Printed texts


def test_losses_and_the_metrics_of_fit_are_printed_in_mindspores_words(capsys: pytest.CaptureFixture[str]) -> None:
    subject = model()
    subject.fit(2, data(6), data(6), callbacks=[train.LossMonitor()])
    printed = lines(capsys)
    recorded = [
        ("epoch: 1 step: 1, loss is ", 2.775405168533325),
        ("epoch: 1 step: 2, loss is ", 1.4844813346862793),
        ("Eval result: epoch 1, metrics: ", {"acc": 0.16666666666666666, "loss": 1.2236395180225372}),
        ("epoch: 2 step: 1, loss is ", 1.4621070623397827),
        ("epoch: 2 step: 2, loss is ", 0.6449754238128662),
        ("Eval result: epoch 2, metrics: ", {"acc": 0.75, "loss": 0.5495600998401642}),
    ]
    assert len(printed) == len(recorded)
    for line, (words, expected) in zip(printed, recorded, strict=True):
        assert line.startswith(words)
        result = eval(line.removeprefix(words))  # a number or a dictionary of numbers, as Python writes them
        assert result == (pytest.approx(expected, rel=1e-6) if isinstance(expected, dict) else pytest.approx(expected))


def test_an_evaluation_is_printed_as_epoch_1(capsys: pytest.CaptureFixture[str]) -> None:
    subject, history = model(), train.History()
    subject.eval(data(6), callbacks=[train.LossMonitor(), history])
    printed = lines(capsys)
    assert [line.rpartition(" ")[0] for line in printed] == [f"epoch: 1 step: {n}, loss is" for n in (1, 2)]
    np.testing.assert_allclose([float(line.rpartition(" ")[2]) for line in printed], [2.7754052, 1.8347998], rtol=1e-6)
    assert history.epoch == {"epoch": [1]} and type(history.history["net_output"][0]) is float
    np.testing.assert_allclose(history.history["net_output"], [1.8347998], rtol=1e-6)


def test_times_of_epochs_steps_and_data(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(monitors, "time", SimpleNamespace(time=lambda: now[0]))

    def passes(seconds: float) -> Any:
        def pass_by(*values: Any) -> Any:
            now[0] += seconds
            return values[0]

        return pass_by

    source = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).map(passes(0.5), "x").batch(4)
    others = LambdaCallback(
        on_train_begin=passes(50.0), on_train_epoch_end=passes(100.0), on_train_step_end=passes(3.0)
    )
    timed = train.TimeMonitor(data_time=True)
    model().train(2, source, callbacks=[others, timed])
    # An epoch is 12 rows of 0.5 s and 3 steps of 3 s, and the 100 s of the other callback's end of the epoch.
    assert (
        lines(capsys) == ["Train epoch time: 115000.000 ms, per step time: 38333.333 ms (data time: 2000.000 ms)"] * 2
    )
    model().eval(source, callbacks=[train.TimeMonitor()])
    assert lines(capsys) == ["Eval epoch time: 6000.000 ms, per step time: 2000.000 ms"]


def test_in_a_notebook_progress_is_tqdms_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Bar:
        def __init__(self, **settings: Any) -> None:
            records.append(settings)

        def set_postfix(self, loss: float, refresh: bool) -> None:
            records.append((round(loss, 5), refresh))

        def update(self) -> None:
            records.append("update")

        def close(self) -> None:
            records.append("close")

    records: list[Any] = []
    bars = ModuleType("tqdm.auto")
    bars.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "tqdm", ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", bars)
    model().train(2, data(6), callbacks=[train.ProgressBar()])
    assert records == [
        {"total": 2, "desc": "epoch 1/2", "unit": "step"},
        (2.77541, False),
        "update",
        (1.48448, False),
        "update",
        "close",
        {"total": 2, "desc": "epoch 2/2", "unit": "step"},
        (1.46211, False),
        "update",
        (0.64498, False),
        "update",
        "close",
    ]
    assert capsys.readouterr() == ("", "")


def test_without_a_notebook_progress_is_a_line_with_the_loss(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    model().train(2, data(6), callbacks=[train.ProgressBar()])
    begun, losses = zip(*(line.split(": loss ") for line in capsys.readouterr().err.splitlines()), strict=True)
    assert begun == ("epoch 1/2", "epoch 2/2")
    np.testing.assert_allclose([float(loss) for loss in losses], [1.4844813, 0.6449754], rtol=1e-6)


# Their states; each run begins anew


def test_a_history_goes_on_and_its_epochs_begin_anew() -> None:
    subject, history = model(), train.History()
    subject.train(2, data(6), callbacks=[history])
    assert history.epoch == {"epoch": [1, 2]}
    subject.train(1, data(6), callbacks=[history])
    assert history.epoch == {"epoch": [1]}
    assert list(history.history) == ["net_output"]
    np.testing.assert_allclose(history.history["net_output"], [1.4844813, 0.6449755, 0.65697926], rtol=1e-6)


def test_stopping_early_begins_anew_in_the_next_run(capsys: pytest.CaptureFixture[str]) -> None:
    subject, stopper = model(), train.EarlyStopping(monitor="loss", patience=2, verbose=True, mode="max")
    for epoch, best in ((3, 1.4844813346862793), (4, 0.8588933348655701)):
        subject.train(6, data(6), callbacks=[stopper])
        assert lines(capsys) == [f"Epoch {epoch:05d}: early stopping"]
        assert (stopper.stopped_epoch, stopper.wait) == (epoch, 2)
        assert float(stopper.best) == pytest.approx(best, rel=1e-6)
    subject.train(1, data(6), callbacks=[stopper])
    assert lines(capsys) == [] and (stopper.stopped_epoch, stopper.wait) == (0, 0)


def test_stopping_early_goes_back_to_the_best_weights_of_its_own_run() -> None:
    subject = model(rate=0.0)
    stopper = train.EarlyStopping(monitor="loss", patience=1, mode="min", restore_best_weights=True)
    subject.train(3, data(12), callbacks=[stopper])  # nothing improves: at once the weights of the first epoch
    assert stopper.stopped_epoch == 2
    weight = subject._network[0].weight
    weight.set_data(weight + 1.0)
    changed = weight.asnumpy()
    subject.train(3, data(12), callbacks=[stopper])
    np.testing.assert_array_equal(weight.asnumpy(), changed)


def test_a_plateau_begins_anew_in_the_next_run(capsys: pytest.CaptureFixture[str]) -> None:
    subject = model()
    plateau = train.ReduceLROnPlateau(monitor="loss", patience=1, verbose=True, mode="max", factor=0.5, cooldown=5)
    subject.train(4, data(6), callbacks=[plateau])
    assert lines(capsys) == ["Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.05."]
    assert (plateau.cooldown_counter, plateau.wait) == (3, 0)
    assert float(plateau.best) == pytest.approx(1.4844813346862793, rel=1e-6)
    subject.train(3, data(6), callbacks=[plateau])
    assert lines(capsys) == []
    assert (plateau.cooldown_counter, plateau.wait) == (0, 0)
    assert float(plateau.best) == pytest.approx(0.7579476833343506, rel=1e-5)
    plateau.cooldown_counter = 5  # as a run leaves it that ends while it cools down
    subject.train(3, data(6), callbacks=[plateau])
    assert lines(capsys) == ["Epoch 00002: ReduceLROnPlateau reducing learning rate to 0.025."]


def test_what_a_run_does_not_give_is_told_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    subject, stopper = model(), train.EarlyStopping(monitor="acc")
    subject.train(1, data(6), callbacks=[stopper])
    assert [record.getMessage() for record in caplog.records] == [
        "EarlyStopping watches 'acc', which this run does not give; it gives ['loss']"
    ]
    assert (stopper.wait, float(stopper.best)) == (0, -np.inf)
    subject.fit(1, data(6), data(6), callbacks=[stopper])
    assert float(stopper.best) == subject.eval(data(6))["acc"]


# Saved files


def test_appended_facts_count_on_from_where_they_begin(tmp_path: Path) -> None:
    config = CheckpointConfig(2, append_info=["epoch_num", "step_num", {"lr": 0.5, "note": "text"}])
    assert config.append_dict == {"epoch_num": 0, "step_num": 0, "lr": 0.5, "note": "text"}
    model().train(2, data(), callbacks=[ModelCheckpoint("a", str(tmp_path), config)])
    for name, epoch, step in (("a-1_2", 1, 2), ("a-2_1", 2, 4), ("a-2_3", 2, 6)):
        held = ms.load_checkpoint(str(tmp_path / f"{name}.ckpt"))
        results = {key: held[key] for key in ("epoch_num", "step_num", "lr", "note")}
        results |= {key: results[key].asnumpy().item() for key in ("epoch_num", "step_num", "lr")}
        assert results == {"epoch_num": epoch, "step_num": step, "lr": 0.5, "note": "text"}


def test_the_policy_of_checkpoints_is_what_holds() -> None:
    assert CheckpointConfig(0, 30, 0, 5).get_checkpoint_policy() == {
        "save_checkpoint_steps": 0,
        "save_checkpoint_seconds": 30,
        "keep_checkpoint_max": 0,
        "keep_checkpoint_per_n_minutes": 5,
        "saved_network": None,
    }
    assert CheckpointConfig(10, 30, 3, 5).get_checkpoint_policy() == {
        "save_checkpoint_steps": 10,
        "save_checkpoint_seconds": None,
        "keep_checkpoint_max": 3,
        "keep_checkpoint_per_n_minutes": None,
        "saved_network": None,
    }


def test_the_same_checkpoints_count_their_steps_anew_in_the_next_run(tmp_path: Path) -> None:
    subject, saving = model(), ModelCheckpoint("a", str(tmp_path), CheckpointConfig(2, keep_checkpoint_max=10))
    subject.train(2, data(), callbacks=[saving])
    assert checkpoints(tmp_path) == ["a-1_2.ckpt", "a-2_1.ckpt", "a-2_3.ckpt"]
    for name in checkpoints(tmp_path):
        os.remove(tmp_path / name)
    subject.train(1, data(), callbacks=[saving])
    assert checkpoints(tmp_path) == ["a-1_2.ckpt", "a-1_3.ckpt"]
    held = ms.load_checkpoint(str(tmp_path / "a-1_3.ckpt"))
    np.testing.assert_array_equal(held["0.weight"].asnumpy(), subject._network[0].weight.asnumpy())


@pytest.mark.parametrize(("moment", "name"), [("on_train_begin", "e-0_3"), ("on_train_step_begin", "e-1_1")])
def test_an_exception_before_the_first_step_leaves_a_checkpoint_too(moment: str, name: str, tmp_path: Path) -> None:
    def fail(context: Any) -> None:
        raise KeyError("x")

    saving = ModelCheckpoint("e", str(tmp_path), CheckpointConfig(100, exception_save=True))
    with pytest.raises(KeyError, match="x"):
        model().train(1, data(), callbacks=[saving, LambdaCallback(**{moment: fail})])
    assert checkpoints(tmp_path) == [f"{name}_breakpoint.ckpt"]
    held = ms.load_checkpoint(str(tmp_path / f"{name}_breakpoint.ckpt"))
    np.testing.assert_array_equal(held["0.weight"].asnumpy(), network()[0].weight.asnumpy())


def sends(step: int) -> Callback:
    """Send the signal during a step of training."""

    def send(run_context: Any) -> None:
        if run_context.original_args().cur_step_num == step:
            signal.raise_signal(signal.SIGUSR1)

    return LambdaCallback(on_train_step_begin=send)


def weights(item: train.Model) -> list[Any]:
    return [parameter.asnumpy() for parameter in item._network.get_parameters()]


def test_a_signal_ends_training_after_its_step_and_the_next_run_goes_on_from_there(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    exiting = train.OnRequestExit(directory=str(tmp_path), file_name="n", sig=signal.SIGUSR1)
    ended, observer = model(), Old()
    ended.train(3, data(), callbacks=[exiting, sends(2), observer])
    assert observer.told[-3:] == ["train step_end 1 2", "train epoch_end 1 2", "train end 1 2"]
    assert checkpoints(tmp_path / "rank_0") == ["n_train.ckpt"] and signal.getsignal(signal.SIGUSR1) is before
    going_on, observer, begun = model(), Old(), []
    look = LambdaCallback(on_train_begin=lambda context: begun.extend(weights(going_on)))
    going_on.train(1, data(), callbacks=[exiting, look, observer])
    for result, expected in zip(begun, weights(ended), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert observer.told[-1] == "train end 1 3"  # the signal of the run before does not end this one


def test_a_signal_between_epochs_ends_training_before_the_next(tmp_path: Path) -> None:
    exiting, observer = train.OnRequestExit(directory=str(tmp_path), sig=signal.SIGUSR1), Old()
    send = LambdaCallback(on_train_epoch_end=lambda context: signal.raise_signal(signal.SIGUSR1))
    model().train(3, data(), callbacks=[send, exiting, observer])
    assert observer.told[-1] == "train end 1 3" and checkpoints(tmp_path / "rank_0") == ["Net_train.ckpt"]


def test_an_evaluation_loads_its_own_file_or_that_of_the_training(tmp_path: Path) -> None:
    exiting = train.OnRequestExit(directory=str(tmp_path), file_name="n", sig=signal.SIGUSR1)
    trained = model()
    trained.train(1, data(), callbacks=[exiting, sends(2)])
    expected = trained.eval(data())
    evaluated = model()
    assert evaluated.eval(data()) != expected
    assert evaluated.eval(data(), callbacks=[exiting]) == expected
    other = model()
    for parameter in other._network.get_parameters():
        parameter.set_data(parameter * 2.0)
    ms.save_checkpoint(other._network, str(tmp_path / "rank_0" / "n_eval.ckpt"))
    assert evaluated.eval(data(), callbacks=[exiting]) == other.eval(data()) != expected


def test_a_signal_ends_an_evaluation_after_its_step(tmp_path: Path) -> None:
    exiting, observer = train.OnRequestExit(directory=str(tmp_path), sig=signal.SIGUSR1), Old()
    send = LambdaCallback(on_eval_step_begin=lambda context: signal.raise_signal(signal.SIGUSR1))
    model().eval(data(), callbacks=[exiting, send, observer])
    assert observer.told[-1] == "eval end None 1" and checkpoints(tmp_path / "rank_0") == ["Net_eval.ckpt"]


def test_without_save_ckpt_no_file_is_loaded_or_saved(tmp_path: Path) -> None:
    other = model()
    for parameter in other._network.get_parameters():
        parameter.set_data(parameter * 2.0)
    (tmp_path / "rank_0").mkdir()
    file = tmp_path / "rank_0" / "n_train.ckpt"
    ms.save_checkpoint(other._network, str(file))
    content = file.read_bytes()
    exiting = train.OnRequestExit(False, directory=str(tmp_path), file_name="n", sig=signal.SIGUSR1)
    subject, begun = model(), []
    look = LambdaCallback(on_train_begin=lambda context: begun.extend(weights(subject)))
    subject.train(1, data(), callbacks=[exiting, look, sends(1)])
    np.testing.assert_array_equal(begun[0], network()[0].weight.asnumpy())
    assert file.read_bytes() == content and checkpoints(tmp_path / "rank_0") == ["n_train.ckpt"]


def driven(callback: Callback, losses: list[float], rate: float = 1.0) -> list[float]:
    """Return the learning rate after each epoch of a run with these losses, until it is asked to end."""
    optimizer = SimpleNamespace(learning_rate=ms.Parameter(ms.Tensor(rate, ms.float32), name="rate"))
    facts = InternalCallbackParam(optimizer=optimizer, train_network=network())
    context = train.RunContext(facts)
    callback.on_train_begin(context)
    rates = []
    for epoch, loss in enumerate(losses, 1):
        facts.update(cur_epoch_num=epoch, net_outputs=ms.Tensor(loss, ms.float32))
        callback.on_train_epoch_end(context)
        rates.append(float(optimizer.learning_rate.asnumpy()))
        if context.get_stop_requested():
            break
    callback.on_train_end(context)
    return rates


@pytest.mark.parametrize(
    ("settings", "losses", "rates"),
    [
        # Lowered after 2 epochs without improvement; of the epochs after that, 2 do not count.
        (
            {"patience": 2, "cooldown": 2, "min_delta": 0},
            [5, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3],
            [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.25, 0.125],
        ),
        ({"patience": 0, "cooldown": 1}, [5, 5, 5, 5, 5], [1, 0.5, 0.25, 0.125, 0.0625]),
        ({"patience": 1, "cooldown": 3}, [5, 5, 5, 5, 5, 5], [1, 0.5, 0.5, 0.5, 0.25, 0.25]),
        # An improvement by exactly min_delta does not count.
        ({"patience": 1, "min_delta": 0.5}, [5, 4.5, 4.25, 4, 4], [1, 0.5, 0.5, 0.25, 0.125]),
        ({"patience": 1, "min_delta": -0.5, "mode": "max"}, [5, 5.5, 5.75, 5.75], [1, 0.5, 0.5, 0.25]),
        ({"patience": 1, "min_lr": 0.4}, [5, 5, 5, 5], [1, 0.5, 0.4, 0.4]),
    ],
)
def test_a_plateau_is_counted_by_patience_cooldown_and_delta(settings: Any, losses: Any, rates: Any) -> None:
    plateau = train.ReduceLROnPlateau(monitor="loss", factor=0.5, **settings)
    assert plateau.cooldown_counter == 0
    np.testing.assert_allclose(driven(plateau, losses), rates, rtol=1e-6)


@pytest.mark.parametrize("verbose", [True, False])
@pytest.mark.parametrize(
    ("settings", "losses", "stopped"),
    [
        ({}, [5, 4], 1),  # without patience after the first
        ({"patience": 1}, [5, 4, 4], 3),
        ({"patience": 2, "min_delta": 1}, [5, 4, 4.5, 3.5], 3),
        ({"patience": 2, "baseline": 4.0}, [6, 5, 4], 2),  # better, but never than the baseline
        ({"patience": 2, "baseline": 4.0}, [6, 3, 3, 2], 0),
        ({"patience": 3}, [5, 5, 5], 0),
    ],
)
def test_an_early_end_is_told_once_where_it_is_asked_for(
    verbose: bool, settings: Any, losses: Any, stopped: int, capsys: pytest.CaptureFixture[str]
) -> None:
    stopper = train.EarlyStopping(monitor="loss", verbose=verbose, **settings)
    assert stopper.stopped_epoch == 0
    assert len(driven(stopper, losses)) == (stopped or len(losses))
    assert stopper.stopped_epoch == stopped
    assert lines(capsys) == ([f"Epoch {stopped:05d}: early stopping"] if verbose and stopped else [])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        *(
            (lambda f=factor: train.ReduceLROnPlateau(factor=f), ValueError, "'factor' must be between 0 and 1")
            for factor in (0.0, 1.0, 1.5)
        ),
        (lambda: train.ReduceLROnPlateau(cooldown=-1), ValueError, "'cooldown' and 'min_lr' must not be negative"),
        (lambda: train.ReduceLROnPlateau(min_lr=-0.5), ValueError, "'cooldown' and 'min_lr' must not be negative"),
        (lambda: train.EarlyStopping(baseline="low"), TypeError, "'baseline' must be a float or None, but got 'low'"),
        *(
            (
                lambda s=setting: CheckpointConfig(format="safetensors", **s),
                ValueError,
                "'safetensors' excludes encryption, CRC and exception_save",
            )
            for setting in (
                {"enc_key": b"k" * 16},
                {"enc_mode": "AES-CBC"},
                {"crc_check": True},
                {"exception_save": True},
            )
        ),
    ],
)
def test_a_callback_says_what_it_cannot_take(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_safetensors_alone_goes_with_no_checksum_and_ckpt_with_one(tmp_path: Path) -> None:
    assert CheckpointConfig(format="safetensors").format == "safetensors"
    assert CheckpointConfig(crc_check=True, exception_save=True).crc_check is True
    assert CheckpointConfig().map_param_inc is False and CheckpointConfig(incremental=True).map_param_inc is True
    saving = ModelCheckpoint("k", str(tmp_path), CheckpointConfig(enc_key=b"k" * 16))
    with pytest.raises(NotImplementedError, match="enc"):
        model().train(1, data(), callbacks=[saving])
    assert checkpoints(tmp_path) == []


@pytest.mark.parametrize("size", [0, -1, 2.0, None])
def test_times_of_steps_need_the_number_of_steps(size: Any) -> None:
    timed, context = train.TimeMonitor(size), train.RunContext(InternalCallbackParam())
    with pytest.raises(ValueError, match=f"'data_size' must be an int above 0, but got {size}"):
        timed.epoch_end(context)


def test_one_step_in_an_epoch_has_the_time_of_the_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    train.TimeMonitor(1).epoch_end(train.RunContext(InternalCallbackParam(mode="train")))
    (line,) = lines(capsys)
    words = line.split()
    assert words[3] == words[8]
