"""Recorder of one rank: which runs are steps, records of one size, and details within bounds."""

from __future__ import annotations

import gc
import json
import weakref
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.compare.ranks import RankRecorder
from hookscope.engine.debug.compare.ranks.details import Details
from hookscope.engine.tape import taps


def mlp(layers: int, width: int = 16) -> nn.Cell:
    return nn.SequentialCell(*[part for _ in range(layers) for part in (nn.Dense(width, width), nn.ReLU())])


def trainer(net: nn.Cell) -> nn.Cell:
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()


def batch(seed: int = 0, width: int = 16) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    return tuple(Tensor(rng.standard_normal((4, width)).astype(np.float32)) for _ in range(2))  # type: ignore[return-value]


def records_of(net: nn.Cell, steps: int) -> tuple[RankRecorder, list[Any]]:
    records: list[Any] = []
    step = trainer(net)
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        for number in range(steps):
            step(*batch(number))
    recorder.close()
    return recorder, records


def test_records_are_of_one_size_whatever_the_network() -> None:
    sizes = {len(json.dumps(records_of(mlp(layers), 2)[1][0])) for layers in (3, 300)}
    assert len(sizes) == 1


def test_rows_of_a_record_are_bounded() -> None:
    net, records = mlp(1), []  # type: ignore[var-annotated]
    x = Tensor(np.random.default_rng(0).standard_normal((1000, 16)).astype(np.float32))
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        trainer(net)(x, x)
    recorder.close()
    assert len(records[0]["rows"]) == len(set(records[0]["rows"])) == 256


def test_the_details_name_what_the_digests_are_of() -> None:
    net = mlp(2)
    recorder, records = records_of(net, 3)
    assert [record["record"] for record in records] == ["step"] * 3 + ["ended"] and records[-1]["step"] == 3
    assert recorder.steps == 3
    parameters = json.loads(json.dumps(recorder.detail(2, "parameters")))["rows"]
    assert [(row["path"], row["name"], row["shape"], row["dtype"]) for row in parameters] == [
        ("0", "0.weight", [16, 16], "float32"),
        ("0", "0.bias", [16], "float32"),
        ("2", "2.weight", [16, 16], "float32"),
        ("2", "2.bias", [16], "float32"),
    ]
    gradients = recorder.detail(2, "gradients")["rows"]
    assert gradients is not None and [row["name"] for row in gradients] == [row["name"] for row in parameters]
    cells = recorder.detail(2, "cells")["rows"]
    assert cells is not None
    assert [(row["path"], row["name"]) for row in cells] == [
        ("", "input[0]"),
        ("0", "output"),
        ("1", "output"),
        ("2", "output"),
        ("3", "output"),
        ("", "output"),
    ]
    assert recorder.detail(2, "draws")["rows"] == [] and recorder.detail(4, "cells")["rows"] is None
    with pytest.raises(ValueError, match="no details about 'parameter'; the nearest is 'parameters'"):
        recorder.detail(1, "parameter")  # type: ignore[arg-type]


def test_norms_are_those_of_the_values() -> None:
    net = mlp(1)
    before = net[0].weight.asnumpy()
    recorder, _ = records_of(net, 2)
    first, second = (recorder.detail(step, "parameters")["rows"] for step in (1, 2))
    assert first is not None and second is not None
    assert first[0]["norm"] == pytest.approx(float(np.sqrt((before.astype(np.float64) ** 2).sum())))
    assert first[0]["digest"] != second[0]["digest"]


def test_the_epoch_is_that_of_the_data_set_that_feeds_the_steps() -> None:
    net, records = mlp(1), []  # type: ignore[var-annotated]
    rng = np.random.default_rng(0)
    rows = [tuple(rng.standard_normal((2, 16)).astype(np.float32)) for _ in range(6)]
    data = ms.dataset.GeneratorDataset(rows, ["x", "y"]).batch(2)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))
    step = trainer(net)
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        step(*batch())
        model.train(2, data, dataset_sink_mode=False)
        for _ in range(20):
            step(*batch())
    recorder.close()
    epochs = [record["epoch"] for record in records[:-1]]
    first, second = epochs[1], epochs[4]
    assert epochs[:7] == [0, first, first, first, second, second, second] and 0 < first < second
    assert epochs[-1] == 0


def test_evaluations_and_gradients_without_weights_are_no_steps() -> None:
    net, records = mlp(2), []  # type: ignore[var-annotated]
    step, (x, y) = trainer(net), batch()
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        net(x)
        step(x, y)
        net(x)
        ms.grad(lambda value: net(value).sum())(x)
        net(x)
        step(x, y)
    recorder.close()
    assert [(record["step"], record.get("session_step")) for record in records] == [(1, 1), (2, 2), (2, None)]


def test_a_training_cell_may_be_the_root() -> None:
    net, records = mlp(2), []  # type: ignore[var-annotated]
    step = trainer(net)
    with DebugSession(step) as session:
        recorder = RankRecorder(session, records.append)
        for number in range(2):
            step(*batch(number))
    recorder.close()
    assert [record["record"] for record in records] == ["step", "step", "ended"] and records[0]["gradients"]


def test_experimental_optimizers_are_seen_too() -> None:
    net, records = mlp(1), []  # type: ignore[var-annotated]
    optimizer = ms.mint.optim.AdamW(net.trainable_params(), lr=1e-3)
    forward = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        optimizer(forward(batch()[0])[1])
    recorder.close()
    assert records[0]["gradients"]


def test_recomputed_cells_are_told_once() -> None:
    def cells(recompute: bool) -> Any:
        ms.set_seed(0)
        net = nn.SequentialCell(nn.Dense(16, 16), nn.Dropout(p=0.5), nn.Dense(16, 16))
        if recompute:
            net[1].recompute()
        recorder, records = records_of(net, 2)
        return records[0]["cells"], recorder.detail(1, "cells"), recorder.detail(1, "draws")

    assert cells(True) == cells(False)
    assert len(cells(True)[2]["rows"]) == 1


def test_the_cell_that_draws_is_named_and_not_the_one_around_it() -> None:
    net = nn.SequentialCell(nn.Dense(16, 16), nn.SequentialCell(nn.Dropout(p=0.5)))
    recorder, records = records_of(net, 2)
    rows = recorder.detail(1, "draws")["rows"]
    assert rows is not None and [row["path"] for row in rows] == ["1.0"]
    assert records[0]["draws"] != records[1]["draws"]


def test_nothing_is_told_before_and_after() -> None:
    net, records = mlp(1), []  # type: ignore[var-annotated]
    step, session = trainer(net), DebugSession(net)
    recorder = RankRecorder(session, records.append)
    step(*batch())
    assert not taps.cell_taps
    session.attach()
    step(*batch())
    session.detach()
    assert not taps.cell_taps and [record["step"] for record in records] == [1]
    step(*batch())
    session.attach()
    step(*batch())
    recorder.close()
    recorder.close()
    step(*batch())
    session.detach()
    assert [(record["record"], record["step"]) for record in records] == [("step", 1), ("step", 2), ("ended", 2)]


def test_a_recorder_keeps_no_session_alive() -> None:
    net = mlp(1)
    session = DebugSession(net)
    session.attach()
    recorder = RankRecorder(session, lambda record: None)
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None and not taps.cell_taps
    recorder.close()


def test_an_error_is_told_once_with_its_innermost_cell() -> None:
    class Failing(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            raise RuntimeError("no" * 5000)

    net, records = nn.SequentialCell(nn.SequentialCell(Failing())), []  # type: ignore[var-annotated]
    with DebugSession(net) as session:
        recorder = RankRecorder(session, records.append)
        for _ in range(2):
            with pytest.raises(RuntimeError) as raised:
                net(batch()[0])
        recorder.failed(raised.value)
        recorder.failed(ValueError("else"))
    recorder.close()
    assert [(record["record"], record.get("path")) for record in records] == [
        ("failed", "0.0"),
        ("failed", "0.0"),
        ("failed", ""),
        ("ended", None),
    ]
    assert len(records[0]["error"]) == 2000 and records[2]["error"] == "ValueError: else"


def test_a_session_is_asked_for() -> None:
    with pytest.raises(TypeError, match="session must be a DebugSession, but got SequentialCell"):
        RankRecorder(mlp(1), print)  # type: ignore[arg-type]


def test_details_are_of_the_last_steps() -> None:
    details = Details()
    cells = ({"path": "a"},) * 20_000
    for step in range(1, 301):
        details.keep(step, {"cells": cells, "parameters": ({"path": "b"},) * 10})
    assert details.of(44, "cells")["rows"] is None
    assert details.of(45, "cells")["rows"] is not None and details.of(300, "parameters")["rows"] is not None
    for step in range(301, 304):
        details.keep(step, {"gradients": ({"path": "c"},) * 20_000})
    assert details.of(301, "gradients")["rows"] is None and details.of(302, "gradients")["rows"] is not None
