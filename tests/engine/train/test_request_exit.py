"""OnRequestExit: a signal ends a run after the step in which it comes, and the next run goes on from there."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import nn, train

X = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
Y = np.array([[1], [0], [2], [1], [0], [3]], np.float32)


def data() -> Any:
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(1)


def model() -> train.Model:
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    return train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mae": train.MAE()})


class Watch(train.Callback):
    """Callback that saves the weights at the beginning and after each step, and sends the signal in one of them."""

    def __init__(self, at: int | None = None) -> None:
        super().__init__()
        self.at, self.weights, self.steps = at, [], 0

    def on_train_begin(self, run_context: train.RunContext) -> None:
        self._keep(run_context.original_args().train_network)

    def on_train_step_begin(self, run_context: train.RunContext) -> None:
        self._send(run_context)

    def on_train_step_end(self, run_context: train.RunContext) -> None:
        self._keep(run_context.original_args().train_network)

    def on_eval_begin(self, run_context: train.RunContext) -> None:
        self._keep(run_context.original_args().eval_network)

    def on_eval_step_begin(self, run_context: train.RunContext) -> None:
        self._send(run_context)

    def _keep(self, network: nn.Cell) -> None:
        (weight,) = [
            parameter for parameter in network.get_parameters() if parameter.name == "weight"
        ]  # not the optimizer's of it
        self.weights.append(weight.asnumpy().copy())

    def _send(self, run_context: train.RunContext) -> None:
        self.steps += 1
        if run_context.original_args().cur_step_num == self.at:
            os.kill(os.getpid(), signal.SIGUSR1)


def exiting(folder: Path, **more: Any) -> train.OnRequestExit:
    return train.OnRequestExit(directory=str(folder), sig=signal.SIGUSR1, **more)


def weight_in(path: Path) -> Any:
    return ms.load_checkpoint(str(path))["weight"].asnumpy()


def test_training_ends_after_the_step_of_the_signal_and_goes_on_from_its_weights(tmp_path: Path) -> None:
    before, first = signal.getsignal(signal.SIGUSR1), Watch(at=4)
    model().train(3, data(), callbacks=[exiting(tmp_path, file_name="mine"), first])
    assert signal.getsignal(signal.SIGUSR1) is before
    assert first.steps == 4
    np.testing.assert_array_equal(weight_in(tmp_path / "rank_0" / "mine_train.ckpt"), first.weights[4])
    assert os.listdir(tmp_path / "rank_0") == ["mine_train.ckpt"]
    second = Watch()
    model().train(1, data(), callbacks=[exiting(tmp_path, file_name="mine"), second])
    np.testing.assert_array_equal(second.weights[0], first.weights[4])
    assert second.steps == 6 and signal.getsignal(signal.SIGUSR1) is before


def test_an_evaluation_ends_after_the_step_of_the_signal_and_leaves_its_weights(tmp_path: Path) -> None:
    before, watch, subject = signal.getsignal(signal.SIGUSR1), Watch(at=2), model()
    result = subject.eval(data(), callbacks=[exiting(tmp_path), watch])
    assert signal.getsignal(signal.SIGUSR1) is before
    assert watch.steps == 2
    expected = np.abs(X[:2].astype(np.float64).sum(1) - Y[:2, 0]).mean()  # the weights are ones
    assert result["mae"] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(weight_in(tmp_path / "rank_0" / "Net_eval.ckpt"), [[1, 1]])
    ms.save_checkpoint({"weight": ms.ops.full((1, 2), 3.0)}, str(tmp_path / "rank_0" / "Net_eval.ckpt"))
    again = Watch()
    subject.eval(data(), callbacks=[exiting(tmp_path), again])  # takes them up
    np.testing.assert_array_equal(again.weights[0], [[3, 3]])
    assert again.steps == 6


@pytest.mark.parametrize(("at", "options"), [(None, {}), (2, {"save_ckpt": False})])
def test_without_a_signal_or_a_wish_no_file_is_left(tmp_path: Path, at: int | None, options: dict[str, Any]) -> None:
    model().train(1, data(), callbacks=[exiting(tmp_path, **options), Watch(at)])
    model().eval(data(), callbacks=[exiting(tmp_path, **options), Watch(at)])
    assert os.listdir(tmp_path / "rank_0") == []


def test_the_paths_are_those_of_the_rank_as_in_mindspore(tmp_path: Path) -> None:
    subject = exiting(tmp_path, file_name="mine")
    assert subject.train_name == str(tmp_path / "rank_0" / "mine_train")
    assert subject.eval_name == str(tmp_path / "rank_0" / "mine_eval")
    with pytest.raises(TypeError, match="'file_name' must be a str"):
        exiting(tmp_path, file_name=5)
