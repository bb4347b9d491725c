"""Exceptions in networks that decide and predict: reinforcement learning, experts, regression, losses."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

from .case import floats, integers, raises


@raises(
    ValueError,
    "deep Q-learning",
    "The actions lack the axis along which the values are gathered.",
    None,
    "gather_elements",
    "values",
    "(8, 3)",
    "actions",
    "(8,)",
)
def q_values_of_actions_without_an_axis() -> None:
    net = nn.SequentialCell(nn.Dense(4, 16), nn.ReLU(), nn.Dense(16, 3))
    actions = integers(3, 8)

    def loss_of(states: Any) -> Any:
        values = net(states)
        chosen = ops.gather_elements(values, 1, actions)  # raised
        return (chosen**2).mean()

    ms.value_and_grad(loss_of, None, net.trainable_params())(floats(8, 4))


@raises(
    ValueError,
    "policy with a baseline",
    "The logits of success are a column, the outcomes are not.",
    None,
    "logits",
    "(6, 1)",
    "outcomes",
    "(6,)",
)
def outcomes_without_a_column() -> None:
    net = nn.Dense(3, 1)
    outcomes = Tensor(np.array([0, 1, 1, 0, 1, 0], np.float32))
    logits = net(floats(6, 3))
    loss = ops.binary_cross_entropy_with_logits(logits, outcomes)  # raised
    print(loss)


@raises(
    ValueError,
    "actor and critic",
    "One action for each state is joined to the states without an axis of its own.",
    "critic",
    "concat",
    "(5, 4)",
    "(5,)",
    "state",
    "action",
)
def critic_with_flat_actions() -> None:
    class Critic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.value = nn.Dense(5, 1)

        def construct(self, state: Any, action: Any) -> Any:
            return self.value(ops.cat((state, action), axis=1))  # raised

    class Agent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.actor = nn.Dense(4, 1)
            self.critic = Critic()

        def construct(self, state: Any) -> Any:
            action = ops.tanh(self.actor(state)).squeeze(-1)
            return self.critic(state, action)

    net = Agent()
    ms.value_and_grad(lambda x: net(x).mean(), None, net.actor.trainable_params())(floats(5, 4))


@raises(
    ValueError,
    "policy of several environments",
    "The rollouts are folded into another number of environments.",
    "",
    "reshape",
    "(24, 6)",
    "144",
    "(5, 5, 6)",
    "150",
    "body",
)
def rollouts_of_another_number_of_environments() -> None:
    class Policy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(4, 6)

        def construct(self, observations: Any) -> Any:
            hidden = self.body(observations)
            return hidden.view(5, 5, 6).sum(1)  # raised

    Policy()(floats(24, 4))


@raises(
    ValueError,
    "mixture of experts",
    "The gate weighs one expert more than there are.",
    "mixture",
    "mul",
    "(4, 3, 2)",
    "(4, 4, 1)",
    "gate",
    "axis 1",
)
def gate_of_one_expert_too_many() -> None:
    class Mixture(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.experts = nn.CellList([nn.Dense(5, 2) for _ in range(3)])
            self.gate = nn.Dense(5, 4)

        def construct(self, x: Any) -> Any:
            opinions = ops.stack([expert(x) for expert in self.experts], 1)
            weights = ops.softmax(self.gate(x), axis=-1).expand_dims(-1)
            return (opinions * weights).sum(1)  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.mixture = Mixture()

        def construct(self, x: Any) -> Any:
            return self.mixture(x)

    net = Net()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(4, 5))


@raises(
    ValueError,
    "agent with a memory",
    "The memory was made for another number of agents.",
    "",
    "add",
    "(3, 4)",
    "(2, 4)",
    "read",
    "memory",
    "axis 0",
)
def memory_of_other_agents() -> None:
    class Agent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.read = nn.Dense(6, 4)
            self.memory = ops.zeros((2, 4), ms.float32)

        def construct(self, seen: Any) -> Any:
            self.memory = 0.9 * self.memory + self.read(seen)  # raised
            return self.memory

    Agent()(floats(3, 6))


@raises(
    ValueError, "classifier", "A label is the number of classes.", None, "labels", "[0, 3)", "3", "scores", "(5, 3)"
)
def label_out_of_range() -> None:
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ELU(), nn.Dense(8, 3))
    labels = integers(4, 5)

    def loss_of(x: Any) -> Any:
        scores = net(x)
        return ops.cross_entropy(scores, labels)  # raised

    ms.value_and_grad(loss_of, None, net.trainable_params())(floats(5, 4))


@raises(
    ValueError,
    "classifier with float labels",
    "The labels are numbers of classes, but floats, and so are read as probabilities.",
    "CrossEntropyLoss",
    "Float32",
    "(5,)",
    "(5, 3)",
    "grades",
)
def labels_as_floats() -> None:
    net = nn.Dense(4, 3)
    loss = nn.CrossEntropyLoss()
    grades = Tensor(np.array([0, 1, 2, 1, 0], np.float32))

    def loss_of(x: Any) -> Any:
        return loss(net(x), grades)  # raised

    ms.value_and_grad(loss_of, None, net.trainable_params())(floats(5, 4))


@raises(
    ValueError,
    "classifier of the last batch",
    "The labels are those of a full batch.",
    None,
    "(3, 4)",
    "(8,)",
    "(3,)",
    "logits",
    "labels",
)
def labels_of_a_full_batch() -> None:
    net = nn.SequentialCell(nn.Dense(2, 4), nn.LayerNorm((4,)))
    x, labels = floats(3, 2), integers(4, 8)
    logits = net(x)
    loss = ops.cross_entropy(logits, labels)  # raised
    print(loss)


@raises(
    ValueError,
    "log-probabilities",
    "The targets are one-hot, but the loss takes numbers of classes.",
    None,
    "(4, 5)",
    "(4,)",
    "one_hot",
    "nll_loss",
)
def one_hot_targets_of_a_likelihood() -> None:
    net = nn.SequentialCell(nn.Dense(3, 5), nn.LogSoftmax(axis=-1))
    one_hot = nn.OneHot(depth=5)(integers(5, 4)).astype(ms.int32)
    guess = net(floats(4, 3))
    print(ops.nll_loss(guess, one_hot))  # raised


@raises(
    ValueError,
    "tasks with several losses",
    "One of the losses is not reduced, and is stacked with those that are.",
    None,
    "stack",
    "()",
    "(6, 2)",
)
def losses_of_different_reduction() -> None:
    trunk, depth, normal = nn.Dense(4, 8), nn.Dense(8, 1), nn.Dense(8, 2)

    def loss_of(x: Any, z: Any, n: Any) -> Any:
        shared = ops.relu(trunk(x))
        losses = [ops.mse_loss(depth(shared), z), ops.mse_loss(normal(shared), n, reduction="none")]
        return ops.stack(losses).sum()  # raised

    ms.value_and_grad(loss_of, None, trunk.trainable_params())(floats(6, 4), floats(6, 1), floats(6, 2))


@raises(
    ValueError,
    "regression",
    "The network predicts two numbers, and the table has three.",
    "MSELoss",
    "(8, 2)",
    "(8, 3)",
    "sub",
)
def regression_with_a_column_too_many() -> None:
    net = nn.SequentialCell(nn.Dense(5, 6), nn.Tanh(), nn.Dense(6, 2))
    criterion = nn.MSELoss()
    prediction = net(floats(8, 5))
    print(criterion(prediction, floats(8, 3)))  # raised


@raises(
    ValueError,
    "survival model",
    "The mean is taken along an axis that the risks do not have.",
    "",
    "mean",
    "risk",
    "(7,)",
    "axis",
    "1",
)
def mean_along_a_missing_axis() -> None:
    class Survival(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.hazard = nn.Dense(3, 1)

        def construct(self, patient: Any) -> Any:
            risk = self.hazard(patient).reshape(-1)
            return ops.mean(risk, 1)  # raised

    Survival()(floats(7, 3))
