"""Further training loops that several programs share."""

from __future__ import annotations

from typing import Any

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from tests.faults.programs import Run, tensors


def own_weights(run: Run) -> list[float]:
    """Train by value_and_grad with weights=net.trainable_params()."""
    run.net.set_train()

    def forward(*batch: Tensor) -> Any:
        out = run.net(*batch[:-1])
        return run.loss(out, batch[-1]), out

    step = ms.value_and_grad(forward, grad_position=None, weights=run.net.trainable_params(), has_aux=True)
    losses = []
    for batch in run.batches:
        (loss, _), gradients = step(*tensors(batch))
        run.optimizer(gradients)
        losses.append(float(loss))
    return losses


def grad_operation(run: Run, training: bool = True) -> list[float]:
    """Train by ops.GradOperation(get_by_list=True) over a WithLossCell."""
    net = run.net if run.loss is None else nn.WithLossCell(run.net, run.loss)
    net.set_train(training)
    weights = run.optimizer.parameters
    gradient = ops.GradOperation(get_by_list=True)(net, weights)
    losses = []
    for batch in run.batches:
        inputs = tensors(batch)
        losses.append(float(net(*inputs)))
        run.optimizer(gradient(*inputs))
    return losses


def of_function(loss: Any, weights: Any = None) -> Any:
    """Return a training loop that minimizes loss(net, *batch)."""

    def way(run: Run) -> list[float]:
        run.net.set_train()
        step = ms.value_and_grad(lambda *b: loss(run.net, *b), None, weights or run.optimizer.parameters)
        losses = []
        for batch in run.batches:
            value, gradients = step(*tensors(batch))
            run.optimizer(gradients)
            losses.append(float(value))
        return losses

    return way


def clipped(norm: float) -> Any:
    """Train by hand, with clip_by_global_norm."""

    def way(run: Run) -> list[float]:
        run.net.set_train()
        step = ms.value_and_grad(lambda *b: run.loss(run.net(*b[:-1]), b[-1]), None, run.optimizer.parameters)
        losses = []
        for batch in run.batches:
            value, gradients = step(*tensors(batch))
            run.optimizer(ops.clip_by_global_norm(gradients, norm))
            losses.append(float(value))
        return losses

    return way


def evaluated_between(right: bool, every: int = 4) -> Any:
    """Train with a validation after each epoch, in predict mode or (wrongly) in training mode."""

    def way(run: Run) -> list[float]:
        step = ms.value_and_grad(lambda *b: run.loss(run.net(*b[:-1]), b[-1]), None, run.optimizer.parameters)
        losses = []
        for number, batch in enumerate(run.batches):
            run.net.set_train(True)
            value, gradients = step(*tensors(batch))
            run.optimizer(gradients)
            losses.append(float(value))
            if number % every == every - 1:
                if right:
                    run.net.set_train(False)
                for held in run.batches[:2]:
                    run.net(*tensors(held)[:-1])
        return losses

    return way
