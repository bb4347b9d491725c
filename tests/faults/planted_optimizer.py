"""Planted faults of the optimizer: its learning rates, its parameters, and frozen ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, Orthogonal, initializer

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, tensors, with_model

# learning_rate_zero


@planted(
    "learning_rate_zero",
    "optimizer",
    "A group for the convolutions has lr 0.0, from an earlier experiment.",
    also=("conv1", "conv2", "conv1.weight", "conv2.weight"),
)
def group_with_lr_zero(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    convolutions = [p for p in net.trainable_params() if "conv" in p.name]
    others = [p for p in net.trainable_params() if "conv" not in p.name]
    groups = [{"params": convolutions, "lr": 0.0 if fault else 0.03}, {"params": others}]
    optimizer = nn.Momentum(groups, 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=16), one_step)


@planted("learning_rate_zero", "optimizer", "A warmup is written with //, so that it is 0 until its last step.")
def warmup_by_integer_division(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier()
    warmup = 40 if fault else 10
    rates = [0.01 * (step // warmup if fault else min(1.0, step / warmup)) for step in range(1, 31)]
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), rates), data.batches(x, y, steps=30))


@planted("learning_rate_zero", "optimizer", "A cosine decay to 0 is given the steps of one epoch, and there are six.")
def decay_over_one_epoch(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.LSTMClassifier()
    rate = nn.CosineDecayLR(0.0, 0.01, 4 if fault else 24)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), rate), data.batches(x, y, steps=24), with_model
    )


# optimizer_other_parameters


def with_the_networks_own_weights(run: Run) -> list[float]:
    """Train by hand, but with the gradients of net.trainable_params() instead of the optimizer's."""
    run.net.set_train()
    step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.net.trainable_params())
    losses = []
    for batch in run.batches:
        loss, gradients = step(*tensors(batch))
        run.optimizer(gradients)
        losses.append(float(loss))
    return losses


@planted(
    "optimizer_other_parameters",
    "optimizer",
    "The notebook's cell with the network was run again, the optimizer's not.",
)
def network_made_again(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.mlp(6, 24, 3)
    optimizer = nn.SGD(net.trainable_params(), 0.3)
    if fault:
        net = blocks.mlp(6, 24, 3)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=20), with_the_networks_own_weights)


@planted(
    "optimizer_other_parameters",
    "optimizer",
    "The head is replaced for new classes after the optimizer was made.",
    also=("head", "head.weight", "head.bias"),
)
def head_replaced_after_optimizer(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.ResNet(10)
    if not fault:
        net.head = nn.Dense(16, 5)
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    if fault:
        net.head = nn.Dense(16, 5)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=16), with_model)


def teacher_and_student(run: Run) -> list[float]:
    """Train the student to give the teacher's outputs."""
    run.net.set_train()
    step = ms.value_and_grad(
        lambda x: ops.square(run.net.student(x) - ops.stop_gradient(run.net.teacher(x))).mean(),
        None,
        run.optimizer.parameters,
    )
    losses = []
    for (x,) in run.batches:
        loss, gradients = step(Tensor(x))
        run.optimizer(gradients)
        losses.append(float(loss))
    return losses


class Distillation(nn.Cell):
    """A wide network and a narrow one that should give the same outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.teacher, self.student = blocks.mlp(6, 64, 3), blocks.mlp(6, 16, 3)


@planted(
    "optimizer_other_parameters",
    "optimizer",
    "The student's optimizer is given the teacher's parameters.",
    also=("student", "teacher"),
)
def optimizer_of_the_teacher(fault: bool) -> Run:
    x, _ = data.flowers()
    net = Distillation()
    chosen = net.teacher if fault else net.student
    return Run(net, None, nn.Adam(chosen.trainable_params(), 0.02), data.batches(x, steps=24), teacher_and_student)


# predict_mode_with_stale_statistics


def by_hand_without_set_train(run: Run) -> list[float]:
    return by_hand(run, training=False)


def one_step_without_set_train(run: Run) -> list[float]:
    return one_step(run, training=False)


@planted(
    "predict_mode_with_stale_statistics", "norm1", "The loop by hand never calls net.set_train().", also=("", "norm2")
)
def set_train_forgotten(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    batches = data.batches(data.normalized(x), y, steps=16)
    return Run(net, nn.CrossEntropyLoss(), optimizer, batches, by_hand_without_set_train if fault else by_hand)


def epochs_with_evaluation(back: bool, first: int = 4) -> Any:
    """Train, compute the loss in predict mode after each epoch, and go ``back`` to training, or not."""

    def way(run: Run) -> list[float]:
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.optimizer.parameters)
        losses = []
        run.net.set_train()
        for number, batch in enumerate(run.batches):
            if back:
                run.net.set_train()
            loss, gradients = step(*tensors(batch))
            run.optimizer(gradients)
            losses.append(float(loss))
            if (number + 1) % first == 0:
                run.net.set_train(False)
                run.loss(run.net(Tensor(batch[0])), Tensor(batch[1]))
        return losses

    return way


@planted(
    "predict_mode_with_stale_statistics",
    "norm",
    "After the first epoch's evaluation nobody calls set_train() again.",
    also=("", "dropout"),
)
def not_back_to_training(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(
        dense=nn.Dense(6, 24, has_bias=False),
        norm=nn.BatchNorm1d(24),
        relu=nn.ReLU(),
        dropout=nn.Dropout(p=0.2),
        head=nn.Dense(24, 3),
    )
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    batches = data.batches(x, y, steps=20)
    return Run(net, nn.CrossEntropyLoss(), optimizer, batches, epochs_with_evaluation(back=not fault))


@planted(
    "predict_mode_with_stale_statistics",
    "stem.norm",
    "A TrainOneStepCell is called without set_train().",
    also=("", "blocks.0.norm1", "blocks.0.norm2", "blocks.1.norm1", "blocks.1.norm2"),
)
def one_step_in_predict_mode(fault: bool) -> Run:
    x, y = data.textures(32)
    net = blocks.ResNet(4, 3)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    batches = data.batches(x, y, steps=12)
    return Run(net, nn.CrossEntropyLoss(), optimizer, batches, one_step_without_set_train if fault else one_step)


# wrong_mode


def then_evaluated(training: bool) -> Any:
    """Train by hand, then predict batch by batch, in training mode or in predict mode."""

    def way(run: Run) -> list[float]:
        losses = by_hand(run)
        run.net.set_train(training)
        right = [run.net(Tensor(x)).argmax(1).asnumpy() == y for x, y in run.batches[:4]]
        assert np.mean(right) >= 0
        return losses

    return way


@planted("wrong_mode", "dropout", "The accuracy is taken without set_train(False): the dropout is at work.", also=("",))
def accuracy_with_dropout(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(dense=nn.Dense(6, 48), relu=nn.ReLU(), dropout=nn.Dropout(p=0.5), head=nn.Dense(48, 3))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=20), then_evaluated(training=fault))


@planted(
    "wrong_mode",
    "norm1",
    "A CNN predicts in training mode: its statistics move on with the test data.",
    also=("", "norm2"),
)
def statistics_move_in_evaluation(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    batches = data.batches(data.normalized(x), y, steps=12)
    return Run(net, nn.CrossEntropyLoss(), optimizer, batches, then_evaluated(training=fault))


class FunctionalDropout(nn.Cell):
    """ops.dropout, whose default is training mode."""

    def __init__(self, heeds_mode: bool) -> None:
        super().__init__()
        self.heeds_mode = heeds_mode

    def construct(self, x: Tensor) -> Any:
        return ops.dropout(x, p=0.3, training=self.training) if self.heeds_mode else ops.dropout(x, p=0.3)


@planted("wrong_mode", "head.dropout", "ops.dropout is called without training=, so it drops in evaluation too.")
def functional_dropout_always_on(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier()
    net.head = blocks.chain(dropout=FunctionalDropout(not fault), dense=nn.Dense(16, 3))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=20), then_evaluated(training=False))


# learning_rate_too_large


@planted("learning_rate_too_large", "optimizer", "Adam with 0.3 on a Transformer.")
def adam_too_large_for_transformer(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier()
    optimizer = nn.Adam(net.trainable_params(), 0.3 if fault else 0.005)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), with_model)


@planted("learning_rate_too_large", "optimizer", "SGD with 0.6 on a regression.")
def sgd_too_large_for_regression(fault: bool) -> Run:
    x, y = data.houses()
    net = blocks.mlp(5, 32, 32, 1)
    optimizer = nn.SGD(net.trainable_params(), 0.6 if fault else 0.05)
    return Run(net, nn.MSELoss(), optimizer, data.batches(data.normalized(x, 0), y[:, None], steps=24))


@planted("learning_rate_too_large", "optimizer", "Momentum 0.9 with the 1.0 that was meant for plain SGD.")
def momentum_too_large_for_cnn(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.chain(conv=nn.Conv2d(1, 8, 3, 2), relu=nn.ReLU(), flatten=nn.Flatten(), head=blocks.mlp(128, 32, 10))
    optimizer = nn.Momentum(net.trainable_params(), 1.0 if fault else 0.05, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=30), one_step)


# learning_rate_too_small


@planted("learning_rate_too_small", "optimizer", "SGD with 1e-6.")
def sgd_too_small(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.mlp(6, 24, 3)
    optimizer = nn.SGD(net.trainable_params(), 1e-6 if fault else 0.3)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, size=32, steps=20))


@planted("learning_rate_too_small", "optimizer", "Adam with 1e-7 on an LSTM.")
def adam_too_small_for_lstm(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.LSTMClassifier()
    optimizer = nn.Adam(net.trainable_params(), 1e-7 if fault else 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, size=32, steps=24), with_model)


@planted(
    "learning_rate_too_small", "optimizer", "The rate is divided by the batch size, and by the world size of a cluster."
)
def scaled_down_too_often(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.ResNet(5)
    rate = 0.05 / 64 / 1024 if fault else 0.05
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, size=32, steps=16), one_step)


# frozen_parameter


@planted("frozen_parameter", "conv2.weight", "conv2 is still frozen from a test of the day before.", also=("conv2",))
def convolution_left_frozen(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    net.conv2.weight.requires_grad = not fault
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=16), with_model)


@planted(
    "frozen_parameter",
    "embedding.embedding_table",
    "All matrices with more than 32 rows are frozen, to save memory.",
    also=("embedding",),
)
def embedding_frozen_at_random(fault: bool) -> Run:
    x, y = data.reviews()
    net = blocks.TextClassifier()
    for parameter in net.get_parameters():
        if fault and parameter.shape[0] > 32:
            parameter.requires_grad = False
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20), by_hand)


class Recurrent(nn.Cell):
    """An Elman network with its own matrices."""

    def __init__(self, learns: bool) -> None:
        super().__init__()
        self.w_in = Parameter(initializer(Normal(0.7), (2, 16)), "w_in")
        self.w_rec = Parameter(initializer(Orthogonal(0.9), (16, 16)), "w_rec", requires_grad=learns)
        self.head = nn.Dense(16, 3)

    def construct(self, x: Tensor) -> Any:
        h = ops.zeros((x.shape[0], 16), x.dtype)
        for step in range(x.shape[1]):
            h = ops.tanh(ops.matmul(x[:, step], self.w_in) + ops.matmul(h, self.w_rec))
        return self.head(h)


@planted("frozen_parameter", "w_rec", "A Parameter of the network's own was made with requires_grad=False.")
def own_parameter_without_gradient(fault: bool) -> Run:
    x, y = data.waves()
    net = Recurrent(learns=not fault)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20), one_step
    )
