"""Exceptions in networks for graphs, sets and pairs: message passing, point clouds, towers, retrieval."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

from .case import floats, raises


@raises(
    RuntimeError,
    "graph convolution",
    "The adjacency matrix belongs to a graph with another number of nodes.",
    "second",
    "matmul",
    "(5, 5)",
    "(6, 8)",
    "adjacency",
    "second.weight",
)
def graph_with_another_number_of_nodes() -> None:
    class Convolution(nn.Cell):
        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            self.weight = nn.Dense(inner, outer)

        def construct(self, nodes: Any, adjacency: Any) -> Any:
            messages = self.weight(nodes)
            return ops.matmul(adjacency, messages)  # raised

    class Graph(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Dense(4, 8)
            self.second = Convolution(8, 8)

        def construct(self, nodes: Any, adjacency: Any) -> Any:
            return self.second(ops.relu(self.first(nodes)), adjacency)

    net = Graph()
    grad_fn = ms.value_and_grad(lambda x, a: net(x, a).sum(), None, net.trainable_params())
    grad_fn(floats(6, 4), Tensor(np.eye(5, dtype=np.float32)))


@raises(
    RuntimeError, "graph attention", "An edge leads to a node that does not exist.", "attend", "sources", "(4, 3)", "4"
)
def edge_to_a_missing_node() -> None:
    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.score = nn.Dense(6, 1)

        def construct(self, nodes: Any, sources: Any, targets: Any) -> Any:
            pairs = ops.cat((ops.gather(nodes, sources, 0), ops.gather(nodes, targets, 0)), 1)  # raised
            return ops.softmax(self.score(pairs), axis=0)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.attend = Attend()

        def construct(self, nodes: Any, sources: Any, targets: Any) -> Any:
            return self.attend(nodes, sources, targets)

    Net()(floats(4, 3), Tensor([0, 1, 4], ms.int32), Tensor([1, 2, 3], ms.int32))


@raises(
    RuntimeError,
    "point cloud",
    "The three coordinates of each point are the last axis.",
    "shared",
    "(2, 50, 3)",
    "cloud",
    "axis 1",
)
def points_with_coordinates_last() -> None:
    class PointNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.shared = nn.Conv1d(3, 10, 1)
            self.label = nn.Dense(10, 2)

        def construct(self, cloud: Any) -> Any:
            return self.label(self.shared(cloud).max(axis=2))  # raised

    PointNet()(floats(2, 50, 3))


@raises(
    ValueError,
    "deep sets",
    "The elements are pooled over their features, which are the last axis.",
    "rho",
    "(3, 9)",
    "mean",
    "phi",
    "(3, 9, 5)",
    "9",
    "5",
)
def sets_pooled_over_their_features() -> None:
    class DeepSets(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.phi = nn.Dense(2, 5)
            self.rho = nn.Dense(5, 1)

        def construct(self, elements: Any) -> Any:
            pooled = ops.mean(self.phi(elements), 2)
            return self.rho(pooled)  # raised

    net = DeepSets()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(3, 9, 2))


@raises(
    ValueError,
    "siamese network",
    "The two towers end with vectors of different length.",
    "",
    "sub",
    "(4, 8)",
    "(4, 6)",
    "left",
    "right",
)
def towers_of_different_width() -> None:
    class Siamese(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.left = nn.SequentialCell(nn.Dense(10, 12), nn.ReLU(), nn.Dense(12, 8))
            self.right = nn.SequentialCell(nn.Dense(10, 12), nn.ReLU(), nn.Dense(12, 6))

        def construct(self, first: Any, second: Any) -> Any:
            a = self.left(first)
            b = self.right(second)
            return ((a - b) ** 2).sum(-1)  # raised

    Siamese()(floats(4, 10), floats(4, 10))


@raises(
    ValueError,
    "recommender",
    "Users and items have vectors of different length.",
    "",
    "einsum",
    "users",
    "items",
    "(3, 8)",
    "(3, 7)",
    "d",
)
def users_and_items_of_different_length() -> None:
    class Recommender(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.users = nn.Embedding(10, 8)
            self.items = nn.Embedding(20, 7)

        def construct(self, user: Any, item: Any) -> Any:
            u, v = self.users(user), self.items(item)
            return ops.einsum("bd,bd->b", u, v)  # raised

    Recommender()(Tensor([1, 2, 3], ms.int32), Tensor([4, 5, 6], ms.int32))


@raises(
    ValueError,
    "triplet network",
    "The permutation is that of an image, but a vector is permuted.",
    "branch",
    "transpose",
    "(0, 2, 3, 1)",
    "(6, 7)",
    "2",
    "project",
)
def permutation_of_a_vector() -> None:
    class Branch(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Dense(5, 7)

        def construct(self, x: Any) -> Any:
            y = self.project(x)
            return y.permute(0, 2, 3, 1)  # raised

    class Triplet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.branch = Branch()

        def construct(self, anchor: Any, other: Any) -> Any:
            return self.branch(anchor) - self.branch(other)

    Triplet()(floats(6, 5), floats(6, 5))
