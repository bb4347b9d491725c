"""Held-out exceptions in losses, optimizers, data and gradients, written before the rules were changed for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, dataset, nn, ops

from .case import floats, integers, raises


@raises(
    RuntimeError,
    "contrastive pairs",
    "The vectors of the texts are not transposed.",
    "compare",
    "matmul",
    "images",
    "(6, 8)",
    "texts",
    "(6, 8)",
    "6",
    "8",
)
def texts_not_transposed() -> None:
    class Compare(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.scale = Parameter(Tensor(1.0, ms.float32), name="scale")

        def construct(self, images: Any, texts: Any) -> Any:
            return self.scale * ops.matmul(images, texts)  # raised

    class Pairs(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.see = nn.Dense(5, 8)
            self.read = nn.Dense(3, 8)
            self.compare = Compare()

        def construct(self, images: Any, texts: Any) -> Any:
            return self.compare(self.see(images), self.read(texts))

    Pairs()(floats(6, 5), floats(6, 3))


@raises(
    TypeError,
    "energy model",
    "The gradient with respect to two inputs is a tuple, and is multiplied like one tensor.",
    None,
    "gradient",
    "tuple",
    "float",
    "2",
)
def gradients_multiplied_like_one() -> None:
    class Energy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(5, 8), nn.SiLU(), nn.Dense(8, 1))

        def construct(self, x: Any, condition: Any) -> Any:
            return self.body(ops.cat((x, condition), -1)).sum()

    energy = Energy()
    x, condition = floats(4, 3), floats(4, 2)
    for _ in range(2):
        gradient = ms.grad(energy, (0, 1))(x, condition)
        x = x - 0.1 * gradient  # raised


@raises(
    TypeError,
    "training with accumulated gradients",
    "The gradients are a tuple, and are added to a list.",
    None,
    "total",
    "list",
    "gradients",
    "tuple",
)
def tuple_added_to_a_list() -> None:
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 1))
    grad_fn = ms.value_and_grad(lambda x: net(x).mean(), None, net.trainable_params())
    total: Any = [ops.zeros_like(parameter) for parameter in net.trainable_params()]
    for _ in range(2):
        _, gradients = grad_fn(floats(5, 3))
        total = total + gradients  # raised


@raises(
    ValueError,
    "deep Q-learning with a second network",
    "The rewards are a column and the best values are not, so that the targets become a square.",
    None,
    "smooth_l1_loss",
    "chosen",
    "(6,)",
    "targets",
    "(6, 6)",
    "rewards",
)
def column_of_rewards() -> None:
    class Values(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Dense(4, 3)

        def construct(self, states: Any) -> Any:
            return self.out(states)

    net, slow = Values(), Values()

    def loss(states: Any, actions: Any, rewards: Any, following: Any) -> Any:
        best = slow(following).max(1)
        best = best[0] if isinstance(best, tuple) else best
        targets = rewards + 0.9 * best
        chosen = ops.gather_elements(net(states), 1, actions).squeeze(1)
        return ops.smooth_l1_loss(chosen, targets)  # raised

    grad_fn = ms.value_and_grad(loss, None, net.trainable_params())
    grad_fn(floats(6, 4), integers(3, 6, 1), floats(6, 1), floats(6, 4))


@raises(
    TypeError,
    "actor and critic with discrete actions",
    "The actions are kept as floats.",
    None,
    "gather_elements",
    "actions",
    "Float32",
    "Int32",
)
def actions_kept_as_floats() -> None:
    class Actor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.policy = nn.Dense(4, 3)

        def construct(self, states: Any) -> Any:
            return ops.log_softmax(self.policy(states), -1)

    actor = Actor()

    def loss(states: Any, actions: Any, advantages: Any) -> Any:
        chosen = ops.gather_elements(actor(states), 1, actions)  # raised
        return -(chosen.squeeze(1) * advantages).mean()

    actions = integers(3, 6, 1).astype(ms.float32)
    ms.value_and_grad(loss, None, actor.trainable_params())(floats(6, 4), actions, floats(6))


@raises(
    ValueError,
    "dueling network",
    "The mean of the advantages lost the axis of the actions.",
    "duel",
    "sub",
    "advantages",
    "(5, 3)",
    "(5,)",
    "mean",
)
def mean_of_advantages_without_an_axis() -> None:
    class Duel(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.value = nn.Dense(6, 1)
            self.advantage = nn.Dense(6, 3)

        def construct(self, x: Any) -> Any:
            advantages = self.advantage(x)
            return self.value(x) + (advantages - advantages.mean(1))  # raised

    class Agent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(4, 6)
            self.duel = Duel()

        def construct(self, states: Any) -> Any:
            return self.duel(ops.relu(self.body(states)))

    Agent()(floats(5, 4))


@raises(
    RuntimeError,
    "sign layer with a bprop",
    "The bprop returns a gradient that is averaged over the batch.",
    "sign",
    "bprop",
    "x",
    "(3, 4)",
    "(4,)",
)
def bprop_averaged_over_the_batch() -> None:
    class Sign(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.sign(x)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout.mean(0),)

    class Binary(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(2, 4)
            self.sign = Sign()

        def construct(self, x: Any) -> Any:
            return self.sign(self.body(x))

    net = Binary()
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    grad_fn(floats(3, 2))  # raised


@raises(
    ValueError,
    "network with a hook of a tensor",
    "The hook of a tensor returns the norm of each row in place of the gradient.",
    None,
    "hook",
    "(3, 6)",
    "(3,)",
)
def tensor_hook_that_returns_norms() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(2, 6)
            self.out = nn.Dense(6, 1)

        def construct(self, x: Any) -> Any:
            hidden = self.body(x)
            hidden.register_hook(lambda gradient: (gradient**2).sum(-1))
            return self.out(hidden)

    net = Net()
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    grad_fn(floats(3, 2))  # raised


@raises(
    ValueError,
    "fine-tuned head",
    "The optimizer holds the parameters of the head, the gradients are those of the complete network.",
    None,
    "optimizer",
    "gradients",
    "4",
    "2",
)
def gradients_of_more_parameters() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(3, 5)
            self.head = nn.Dense(5, 2)

        def construct(self, x: Any) -> Any:
            return self.head(ops.tanh(self.body(x)))

    net = Net()
    optimizer = nn.Adam(net.head.trainable_params(), 0.01)
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    _, gradients = grad_fn(floats(4, 3))
    optimizer(gradients)  # raised


@raises(
    TypeError,
    "classifier with smoothed labels",
    "The labels come from a table of floats, and are made one-hot.",
    None,
    "one_hot",
    "labels",
    "Float32",
    "integer",
)
def labels_of_a_table_of_floats() -> None:
    net = nn.Dense(4, 3)

    def loss(x: Any, labels: Any) -> Any:
        smooth = 0.9 * ops.one_hot(labels, 3) + 0.1 / 3  # raised
        return -(smooth * ops.log_softmax(net(x), -1)).sum(-1).mean()

    table = np.concatenate([np.ones((5, 4)), np.arange(5).reshape(5, 1) % 3], 1).astype(np.float32)
    grad_fn = ms.value_and_grad(loss, None, net.trainable_params())
    grad_fn(Tensor(table[:, :4]), Tensor(table[:, 4]))


@raises(
    ValueError,
    "triplets with a margin",
    "The vectors of the negatives come from a layer that is less wide.",
    None,
    "negative",
    "(4, 5)",
    "(4, 6)",
    "other",
)
def negatives_of_a_narrower_layer() -> None:
    class Towers(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.near = nn.Dense(3, 6)
            self.other = nn.Dense(3, 5)

        def construct(self, anchor: Any, positive: Any, negative: Any) -> Any:
            return self.near(anchor), self.near(positive), self.other(negative)

    net = Towers()

    def loss(*faces: Any) -> Any:
        anchor, positive, negative = net(*faces)
        return ops.triplet_margin_loss(anchor, positive, negative)  # raised

    ms.value_and_grad(loss, None, net.trainable_params())(floats(4, 3), floats(4, 3), floats(4, 3))


@raises(
    RuntimeError,
    "training on sentences from a dataset",
    "The sentences of a batch are not equally long.",
    None,
    "batch",
    "words",
    "(4,)",
    "(6,)",
)
def batch_of_unequal_sentences() -> None:
    rows = [np.arange(length, dtype=np.int32) for length in (4, 4, 6, 4)]
    batches = dataset.GeneratorDataset(rows, ["words"], shuffle=False).batch(4)
    table = nn.Embedding(8, 3)
    for batch in batches.create_tuple_iterator():  # raised
        table(batch[0])


@raises(
    ValueError,
    "training with a Model",
    "The head is made for fewer features than the body makes.",
    "head",
    "(4, 7)",
    "head.weight",
    "5",
    "body",
)
def head_in_a_model() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(3, 7)
            self.head = nn.Dense(5, 1)

        def construct(self, x: Any) -> Any:
            return self.head(ops.relu(self.body(x)))  # raised

    net = Net()
    rows = [(np.ones(3, np.float32) * row, np.ones(1, np.float32)) for row in range(8)]
    batches = dataset.GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(4)
    ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1)).train(1, batches)


@raises(
    ValueError,
    "early stopping by the loss of each sample",
    "The losses are not reduced, and are compared like a single number.",
    None,
    "losses",
    "(6,)",
    "6",
)
def losses_compared_like_one_number() -> None:
    net, loss_fn = nn.Dense(3, 1), nn.MSELoss(reduction="none")
    best, x, y = 10.0, floats(6, 3), floats(6, 1)
    for _ in range(2):
        losses = loss_fn(net(x), y).mean(1)
        if losses < best:  # raised
            best = float(losses)


@raises(
    RuntimeError,
    "spectral normalization",
    "The vector of the power iteration is as long as the input, and is multiplied from the wrong side.",
    "critic.0",
    "matmul",
    "critic.0.vector",
    "(4,)",
    "critic.0.weight",
    "(6, 4)",
)
def power_iteration_from_the_wrong_side() -> None:
    class Spectral(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.weight = Parameter(floats(outputs, inputs), name="weight")
            self.vector = Parameter(floats(inputs), name="vector", requires_grad=False)

        def construct(self, x: Any) -> Any:
            left = ops.matmul(self.vector, self.weight)  # raised
            return x @ self.weight.T / ops.norm(left)

    class Critic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.critic = nn.SequentialCell(Spectral(4, 6), nn.LeakyReLU(), Spectral(6, 1))

        def construct(self, x: Any) -> Any:
            return self.critic(x)

    Critic()(floats(3, 4))
