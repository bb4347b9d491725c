"""A program of the corpus: a network, the data and the way it is trained, and the planted fault."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.dataset import GeneratorDataset
from hookscope.engine.train import Callback, Model

from .data import Batch

KINDS = {
    "inputs_not_normalized": "the inputs come in their raw units",
    "one_class_only": "a batch, or all the data, has a single label",
    "labels_out_of_range_or_shifted": "labels are not numbered or scaled as the loss takes them",
    "loss_broadcasts": "output and label of a loss are (N, 1) and (N,)",
    "softmax_twice": "a loss that takes logits is given probabilities",
    "softmax_over_batch_axis": "a softmax runs over the samples",
    "cross_entropy_wrong_sign": "the log-likelihood is minimized",
    "first_loss_far_too_large": "the last layer begins with weights so large that the loss is far above a guess's",
    "samples_leak": "what comes out for one sample hangs on the others",
    "batch_of_one_under_batchnorm": "a batch normalization in training has one value a channel",
    "learning_rate_zero": "the learning rate is 0 for some parameters, or some steps",
    "optimizer_other_parameters": "the optimizer has parameters that are not the trained network's",
    "predict_mode_with_stale_statistics": "the network is trained in predict mode",
    "wrong_mode": "the network is evaluated in training mode",
    "dead_relu": "a ReLU gives zeros for every sample",
    "vanishing_gradient": "hardly any gradient reaches the first layers, or the first steps of a sequence",
    "exploding_gradient": "the gradient grows from layer to layer, or from step to step, out of bounds",
    "nan_produced": "an operator makes a NaN, forward or backward",
    "inf_inside": "an Inf arises in a cell and never leaves it",
    "frozen_parameter": "a parameter that should learn has requires_grad False",
    "unused_parameter": "a parameter is defined and not used",
    "detached_graph": "a part of the network is cut from the gradient",
    "saturated_activation": "nearly all outputs of a sigmoid or tanh are at its ends",
    "wrong_bprop": "a bprop is not the gradient of its construct",
    "learning_rate_too_large": "the steps are too long: the loss grows or jumps",
    "learning_rate_too_small": "the steps are too short for the loss to move",
    "bad_initialization": "weights begin as zeros or as one constant, so that units stay alike",
    "shared_parameter_by_mistake": "one layer, or one parameter, stands where several were meant",
}
"""The kinds of faults, and what each means."""

PLACES_OUTSIDE = ("data", "loss", "optimizer")


@dataclass
class Run:
    """A network and its training, made but not begun: hooks and debuggers are attached to ``net`` before ``train``.

    Args:
        net: the network; with several, as of a GAN, a cell that holds them.
        loss: a cell or function of (output, label); None if the network returns the loss, or ``way`` computes it.
        optimizer: its optimizer.
        batches: the batches in their order; the last column is the label.
        way: the training loop; returns the losses.
    """

    net: nn.Cell
    loss: Any
    optimizer: Any
    batches: list[Batch]
    way: Callable[[Run], list[float]] = field(default_factory=lambda: by_hand)

    def train(self) -> list[float]:
        """Train as the program does; return the loss of each step, or another measure that shows learning."""
        ms.set_seed(1)
        return self.way(self)


@dataclass(frozen=True)
class Program:
    """A training program.

    Args:
        name: its unique name.
        kind: the fault's kind, one of ``KINDS``; "" for a healthy program.
        place: the place of the fault: a path of ``net.cells_and_names()`` ("" is the network itself), a parameter's
            path, or one of ``PLACES_OUTSIDE``; "" for a healthy program.
        sentence: the planted fault; for a healthy program its description.
        build: makes the network and its training, the same at each call.
        also: further places at which the same fault shows, and which a finding may name as well.
        raises: the error of ``train``, if the fault is an error.
        not_finite: the losses become NaN or Inf.
        known: the architecture, if it is a well-known one.
        falls_to: a healthy program's last losses are below this share of the first.
        mended: as ``build``, with the one fault taken out.
    """

    name: str
    kind: str
    place: str
    sentence: str
    build: Callable[[], Run]
    also: tuple[str, ...] = ()
    raises: type[Exception] | None = None
    not_finite: bool = False
    known: str = ""
    falls_to: float = 0.8
    mended: Callable[[], Run] | None = None


def _seeded(build: Callable[..., Run], *args: Any) -> Run:
    ms.set_seed(0)
    return build(*args)


def planted(
    kind: str,
    place: str,
    sentence: str,
    *,
    also: tuple[str, ...] = (),
    raises: type[Exception] | None = None,
    not_finite: bool = False,
    falls_to: float = 0.8,
) -> Callable[[Callable[[bool], Run]], Program]:
    """Make a Program of a function that builds it with the fault (True), or without."""

    def program(build: Callable[[bool], Run]) -> Program:
        with_fault, mended = functools.partial(_seeded, build, True), functools.partial(_seeded, build, False)
        return Program(
            build.__name__, kind, place, sentence, with_fault, also, raises, not_finite, "", falls_to, mended
        )

    return program


def healthy(sentence: str, *, known: str = "", falls_to: float = 0.8) -> Callable[[Callable[[], Run]], Program]:
    """Make a healthy Program of the function that builds it."""

    def program(build: Callable[[], Run]) -> Program:
        build_program = functools.partial(_seeded, build)
        return Program(build.__name__, "", "", sentence, build_program, known=known, falls_to=falls_to)

    return program


# Ways to train


def tensors(batch: Batch) -> tuple[Tensor, ...]:
    """Return the columns of a batch as tensors."""
    return tuple([Tensor(column) for column in batch])


def by_hand(run: Run, training: bool = True) -> list[float]:
    """Train in the loop that most notebooks have: ``value_and_grad``, then the optimizer."""
    run.net.set_train(training)

    def forward(*batch: Tensor) -> Any:
        return run.net(*batch) if run.loss is None else run.loss(run.net(*batch[:-1]), batch[-1])

    step = ms.value_and_grad(forward, None, run.optimizer.parameters)
    losses = []
    for batch in run.batches:
        loss, gradients = step(*tensors(batch))
        run.optimizer(gradients)
        losses.append(float(loss))
    return losses


def one_step(run: Run, training: bool = True) -> list[float]:
    """Train by ``nn.TrainOneStepCell`` around the network and its loss."""
    network = run.net if run.loss is None else nn.WithLossCell(run.net, run.loss)
    step = nn.TrainOneStepCell(network, run.optimizer)
    step.set_train(training)
    return [float(step(*tensors(batch))) for batch in run.batches]


class _Losses(Callback):
    def __init__(self) -> None:
        super().__init__()
        self.values: list[float] = []

    def step_end(self, run_context: Any) -> None:
        self.values.append(float(run_context.original_args().net_outputs))


def with_model(run: Run) -> list[float]:
    """Train by ``train.Model`` over a data set."""
    losses = _Losses()
    columns = [f"column_{i}" for i in range(len(run.batches[0]))]
    model = Model(run.net, run.loss, run.optimizer)
    model.train(1, GeneratorDataset(run.batches, columns, shuffle=False), callbacks=[losses])
    return losses.values
