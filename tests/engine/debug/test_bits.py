"""Watching changes no bit: whole trainings, unwatched and watched in every way, compared byte for byte."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.engine.train import Callback, Model

STEPS = 20
CLASSES = 3
Bits = list[bytes]


class Convolutions(nn.Cell):
    """Convolution, batch norm, a residual connection over a layer that is used twice, pooling, dropout, dense."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.mix = nn.Conv2d(4, 4, 1)
        self.pool = nn.MaxPool2d(2, 2)
        self.drop = nn.Dropout(p=0.3)
        self.flat = nn.Flatten()
        self.head = nn.Dense(4 * 9, CLASSES)

    def construct(self, x: Any) -> Any:
        x = self.relu(self.norm(self.conv(x)))
        x = x + self.mix(self.relu(self.mix(x)))
        return self.head(self.drop(self.flat(self.pool(x))))


class Encoder(nn.Cell):
    """A Transformer's encoder layer: attention, layer norm, dropout, two dense layers; the mean over the sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
        self.head = nn.Dense(8, CLASSES)

    def construct(self, x: Any) -> Any:
        return self.head(self.layer(x.reshape((x.shape[0], 9, 8))).mean(1))


class Gate(nn.Cell):
    """x * tanh(x) with a custom bprop, which computes with cells and operators."""

    def __init__(self) -> None:
        super().__init__()
        self.tanh = nn.Tanh()

    def construct(self, x: Any) -> Any:
        return x * self.tanh(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        t = self.tanh(x)
        return (dout * (t + x * (1.0 - ops.square(t))),)


def with_bprop() -> nn.Cell:
    net = Convolutions()
    net.relu = Gate()
    return net


def recomputed() -> nn.Cell:
    net = Convolutions()
    net.drop = nn.SequentialCell(nn.Dropout(p=0.3), nn.Tanh(), nn.Dropout(p=0.3))
    net.drop.recompute()
    net.norm.recompute()
    return net


class Written(nn.Cell):
    """A cell that writes to parts and views of its inputs, and whose bprop writes to parts of a gradient."""

    def construct(self, x: Any) -> Any:
        y = x * 0.5
        rows, flat = y[1:], y.view(-1)
        rows[0][1] = x[0, 0] * 2.0
        flat[3:7] *= flat[0]
        for image in y:
            image[0] += 1.0
        return y + rows.sum() * 0.01

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        gradient = dout * 0.5
        part = gradient[:, 1:]
        part[...] = part * 3.0
        gradient.T[0] += x.T[0] * 0.01
        return (gradient,)


class WrittenUnderTheTape(Written):
    bprop = None


def with_written_views() -> nn.Cell:
    net = Convolutions()
    net.relu = nn.SequentialCell(Written(), WrittenUnderTheTape(), nn.ReLU())
    return net


def recomputed_encoder() -> nn.Cell:
    net = Encoder()
    net.layer.recompute()
    return net


NETWORKS: dict[str, Callable[[], nn.Cell]] = {
    "convolutions": Convolutions,
    "encoder": Encoder,
    "bprop": with_bprop,
    "views": with_written_views,
    "recompute": recomputed,
    "recompute encoder": recomputed_encoder,
}


class Switch:
    """A callback of a way of watching: ``turn`` is called at several moments of each step."""

    def turn(self, moment: str) -> None:
        """Do nothing, unless a way of watching overrides this."""


def batches() -> Iterator[tuple[Tensor, Tensor]]:
    numbers = np.random.default_rng(0)
    for _ in range(STEPS):
        x = numbers.standard_normal((4, 2, 6, 6)).astype(np.float32)
        yield Tensor(x), Tensor(numbers.integers(0, CLASSES, 4).astype(np.int32))


def momentum(net: nn.Cell) -> nn.Optimizer:
    return nn.Momentum(net.trainable_params(), 0.05, 0.9)


def adam(net: nn.Cell) -> nn.Optimizer:
    return nn.Adam(net.trainable_params(), 0.01)


def state_of(net: nn.Cell, optimizer: nn.Optimizer) -> Bits:
    """Return weights, moving statistics and optimizer state."""
    return [t.asnumpy().tobytes() for t in (*net.get_parameters(), *optimizer.get_parameters())]


def by_gradients(net: nn.Cell, optimizer: nn.Optimizer, switch: Switch) -> Bits:
    loss = nn.CrossEntropyLoss()

    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        output = net(x)
        switch.turn("between")
        return loss(output, y), output

    step = value_and_grad(forward, 0, net.trainable_params(), has_aux=True)
    results: Bits = []
    for x, y in batches():
        switch.turn("before")
        (value, output), (of_x, of_weights) = step(x, y)
        optimizer(of_weights)
        results += [t.asnumpy().tobytes() for t in (value, output, of_x, *of_weights)]
        results += state_of(net, optimizer)
    return results


def by_train_one_step_cell(net: nn.Cell, optimizer: nn.Optimizer, switch: Switch) -> Bits:
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer, return_grad=True)
    step.set_train()
    results: Bits = []
    for x, y in batches():
        switch.turn("before")
        value, gradients = step(x, y)
        results += [t.asnumpy().tobytes() for t in (value, *gradients.values())]
        results += state_of(net, optimizer)
    return results


def by_model(net: nn.Cell, optimizer: nn.Optimizer, switch: Switch) -> Bits:
    results: Bits = []

    class Keep(Callback):
        def on_train_step_begin(self, run_context: Any) -> None:
            switch.turn("before")

        def on_train_step_end(self, run_context: Any) -> None:
            results.append(run_context.original_args().net_outputs.asnumpy().tobytes())
            results.extend(state_of(net, optimizer))

    x, y = (np.concatenate([t.asnumpy() for t in tensors]) for tensors in zip(*batches(), strict=True))
    data = ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=False).batch(4)
    Model(net, nn.CrossEntropyLoss(), optimizer).train(1, data, callbacks=[Keep()])
    return results


# Network, training, optimizer.
CASES: dict[str, tuple[str, Callable[..., Bits], Callable[[nn.Cell], nn.Optimizer]]] = {
    "convolutions": ("convolutions", by_gradients, momentum),
    "encoder": ("encoder", by_gradients, adam),
    "bprop": ("bprop", by_gradients, adam),
    "recompute": ("recompute", by_gradients, momentum),
    "recompute encoder": ("recompute encoder", by_gradients, momentum),
    "TrainOneStepCell": ("convolutions", by_train_one_step_cell, adam),
    "Model.train": ("encoder", by_model, momentum),
}


class Nobody:
    """A pauser that cannot answer, so that a pause is noted and the run continues."""

    def unavailable(self) -> str | None:
        return "nobody is here"

    def wait(self, until: Callable[[], bool]) -> None:
        raise AssertionError("asked, though nobody is here")


def session(net: nn.Cell, **options: Any) -> DebugSession:
    """Return a session over every cell, forward and backward, with a ring so small that captures are dropped."""
    return DebugSession(net, watch=["*"], max_captures=500, pauser=Nobody(), **options)


@contextmanager
def everything(net: nn.Cell) -> Iterator[Switch]:
    with session(net) as debugger:
        yield Switch()
    assert debugger.step == STEPS
    assert {capture.path for capture in debugger.captures} >= {"", "head"}
    assert {capture.direction for capture in debugger.captures} == {"forward", "backward"}


@contextmanager
def every_condition(net: nn.Cell) -> Iterator[Switch]:
    with session(net, conditions=["all", "if norm < 0"]) as debugger:
        yield Switch()
    assert all(capture._statistics is not None for capture in debugger.captures if capture.slot.startswith("output"))


@contextmanager
def pauses_wanted_at_every_condition(net: nn.Cell) -> Iterator[Switch]:
    with session(net, stop_on=["all", "if norm > 0"]) as debugger:
        yield Switch()
    assert debugger.skipped_pauses


@contextmanager
def breakpoints_that_never_hold(net: nn.Cell) -> Iterator[Switch]:
    moments = ["forward_pre", "forward", "backward_pre", "backward"]
    if any(cell.has_custom_bprop for cell in net.cells()):
        moments.append("bprop")
    never = "norm < 0 or (value is not None and (value * value).sum() < 0)"
    targets = [f"*:{moment}" for moment in moments] + ["ops.add:forward", "ops.add:backward", "ops.mul"]
    with session(net, breaks=[f"{target} if {never}" for target in targets]) as debugger:
        yield Switch()
    assert [stop.error for stop in debugger.breakpoints] == [None] * len(targets)
    assert any(stop.passes for stop in debugger.breakpoints)
    assert not debugger.skipped_pauses


@contextmanager
def every_bprop_stepped(net: nn.Cell) -> Iterator[Switch]:
    with session(net, step=True) as debugger:
        yield Switch()
    assert bool(debugger.skipped_pauses) == any(cell.has_custom_bprop for cell in net.cells())


@contextmanager
def two_sessions(net: nn.Cell) -> Iterator[Switch]:
    with session(net) as first, session(net, every=3, stop_on=["nan"]) as second:
        yield Switch()
    assert len(first.captures) == 500 and len(second.captures) >= 1


@contextmanager
def with_looks(net: nn.Cell) -> Iterator[Switch]:
    """Read statistics, parameters and the tree at each event, as a view does."""
    with session(net) as debugger:

        def look(event: str) -> None:
            if event == "captured":
                debugger.captures[-1].statistics()
            elif event == "changed":
                assert debugger.parameters() and debugger.tree()

        debugger.observe(look)
        yield Switch()
    assert debugger.captures[-1]._statistics is not None


class OnAndOff(Switch):
    """A switch that attaches and detaches before a step, inside the forward pass, or between forward and backward."""

    def __init__(self, debugger: DebugSession) -> None:
        self._watched = debugger
        self._moments = 0
        self.attachments = 0

    def turn(self, moment: str) -> None:
        self._moments += 1
        if self._moments % 4 not in (0, 3):
            return
        if self._watched.attached:
            self._watched.detach()
        else:
            self._watched.attach()
            self.attachments += 1


@contextmanager
def attached_in_mid_run(net: nn.Cell) -> Iterator[Switch]:
    debugger = session(net)
    switch = OnAndOff(debugger)
    net.head.register_forward_pre_hook(lambda cell, inputs: switch.turn("inside"))
    try:
        yield switch
    finally:
        debugger.detach()
    assert switch.attachments >= STEPS // 4
    assert debugger.step > 0


WAYS = [
    everything,
    every_condition,
    pauses_wanted_at_every_condition,
    breakpoints_that_never_hold,
    every_bprop_stepped,
    two_sessions,
    with_looks,
    attached_in_mid_run,
]


def trained(case: str, way: Callable[[nn.Cell], Any] | None) -> Bits:
    name, training, optimizer = CASES[case]
    ms.set_seed(7)
    net = NETWORKS[name]()
    net.set_train()
    with ExitStack() as stack:
        switch = Switch() if way is None else stack.enter_context(way(net))
        return training(net, optimizer(net), switch)


@functools.cache
def unwatched(case: str) -> Bits:
    return trained(case, None)


@pytest.mark.parametrize("case", CASES)
def test_a_training_is_the_same_twice_and_moves_the_weights(case: str) -> None:
    """Without this, the comparisons below would prove nothing."""
    first = unwatched(case)
    assert trained(case, None) == first
    assert len(set(first)) > len(first) // 2


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("case", CASES)
def test_watching_changes_no_bit(case: str, way: Callable[[nn.Cell], Any]) -> None:
    watched = trained(case, way)
    for index, (mine, expected) in enumerate(zip(watched, unwatched(case), strict=True)):
        assert mine == expected, f"value {index} of {len(watched)} differs"
