"""Held-out exceptions of Python and of wrong arguments in networks, written before the rules were changed for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

from .case import floats, integers, raises


@raises(
    TypeError,
    "projection without a bias",
    "The keyword has the name of another framework.",
    None,
    "Dense",
    "bias",
    "has_bias",
)
def keyword_of_another_framework() -> None:
    class Project(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            make: Any = nn.Dense
            self.out = make(inputs, outputs, bias=False)  # raised

        def construct(self, x: Any) -> Any:
            return self.out(x)

    Project(4, 8)(floats(2, 4))


@raises(
    AttributeError,
    "coupling layers without a base",
    "The class does not call the constructor of its base.",
    None,
    "Coupling",
    "super().__init__()",
    "scale",
)
def base_that_is_not_made() -> None:
    class Coupling(nn.Cell):
        def __init__(self, width: int) -> None:
            self.scale = nn.Dense(width, width)  # raised

        def construct(self, x: Any) -> Any:
            return x * ops.exp(self.scale(x))

    nn.SequentialCell(nn.Dense(3, 4), Coupling(4))(floats(2, 3))


@raises(
    TypeError,
    "local attention",
    "The function that makes the mask returns nothing for short texts.",
    "attend",
    "mask",
    "None",
    "window",
)
def mask_that_is_none_for_short_texts() -> None:
    def window(count: int, size: int) -> Any:
        if count > size:
            steps = ops.arange(count)
            return -1e9 * (ops.abs(steps[:, None] - steps) > size).astype(ms.float32)

    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.mix = nn.Dense(4, 4)

        def construct(self, x: Any) -> Any:
            mask = window(x.shape[1], 8)
            scores = self.mix(x) @ x.swapaxes(1, 2)
            return ops.softmax(scores + mask, -1) @ x  # raised

    class Local(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.attend = Attend()

        def construct(self, x: Any) -> Any:
            return self.attend(x)

    Local()(floats(2, 5, 4))


@raises(
    AttributeError,
    "spatial transformer",
    "The name of a tensor's method is misspelled.",
    "locate",
    "Tensor",
    "reshpae",
    "reshape",
)
def misspelled_method_of_a_tensor() -> None:
    class Locate(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.theta = nn.Dense(9, 6)

        def construct(self, x: Any) -> Any:
            theta = self.theta(x)
            return theta.reshpae(-1, 2, 3)  # raised

    class Spatial(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.locate = Locate()

        def construct(self, x: Any) -> Any:
            return self.locate(x)

    Spatial()(floats(2, 9))


@raises(
    TypeError,
    "network that fuses two sensors",
    "Three arguments are passed to a layer that takes two.",
    "fuse",
    "construct",
    "3",
    "2",
    "sound",
    "image",
)
def one_argument_too_many() -> None:
    class Fuse(nn.Cell):
        def construct(self, sound: Any, image: Any) -> Any:
            return ops.cat((sound, image), -1)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.hear, self.see = nn.Dense(3, 4), nn.Dense(5, 4)
            self.fuse = Fuse()

        def construct(self, sound: Any, image: Any) -> Any:
            return self.fuse(self.hear(sound), self.see(image), image)  # raised

    Net()(floats(2, 3), floats(2, 5))


@raises(
    TypeError,
    "reversible block",
    "Half the width is a float, and ends a slice.",
    "block",
    "slice",
    "float",
    "half",
    "4.0",
)
def half_a_width_as_a_float() -> None:
    class Block(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.half = width / 2
            self.mix = nn.Dense(4, 4)

        def construct(self, x: Any) -> Any:
            left = x[:, : self.half]  # raised
            return ops.cat((left, self.mix(left)), -1)

    class Reversible(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block(8)

        def construct(self, x: Any) -> Any:
            return self.block(x)

    Reversible()(floats(2, 8))


@raises(
    ValueError,
    "attention over regions",
    "The softmax is taken along the axis of heads that these scores do not have.",
    "attend",
    "softmax",
    "scores",
    "(2, 5, 5)",
    "3",
)
def softmax_along_a_missing_axis() -> None:
    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = nn.Dense(6, 6), nn.Dense(6, 6)

        def construct(self, x: Any) -> Any:
            scores = self.query(x) @ self.key(x).swapaxes(1, 2)
            return ops.softmax(scores, axis=3) @ x  # raised

    class Regions(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.attend = Attend()

        def construct(self, x: Any) -> Any:
            return self.attend(x)

    Regions()(floats(2, 5, 6))


@raises(
    RuntimeError,
    "tied autoencoder",
    "The tied weight is transposed a second time.",
    "decode",
    "matmul",
    "code",
    "(4, 3)",
    "(5, 3)",
    "transpose",
)
def tied_weight_transposed_twice() -> None:
    class Decode(nn.Cell):
        def construct(self, code: Any, weight: Any) -> Any:
            return code @ weight.T  # raised

    class Tied(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(floats(3, 5), name="weight")
            self.decode = Decode()

        def construct(self, x: Any) -> Any:
            code = ops.tanh(x @ self.weight.T)
            return self.decode(code, self.weight)

    Tied()(floats(4, 5))


@raises(
    ValueError,
    "codebook of a quantizer",
    "The vectors of the codebook have one entry more than those of the encoder.",
    "quantize",
    "sub",
    "z",
    "(6, 1, 3)",
    "codebook",
    "(8, 4)",
)
def codebook_of_longer_vectors() -> None:
    class Quantize(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.codebook = Parameter(floats(8, 4), name="codebook")

        def construct(self, z: Any) -> Any:
            gaps = z.expand_dims(1) - self.codebook  # raised
            return self.codebook[(gaps**2).sum(-1).argmin(1)]

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Dense(5, 3)
            self.quantize = Quantize()

        def construct(self, x: Any) -> Any:
            return self.quantize(self.encode(x))

    net = Net()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(6, 5))


@raises(
    ValueError,
    "flow of couplings",
    "The moved half has an axis more than the half that stays.",
    "coupling",
    "concat",
    "steady",
    "(4, 3)",
    "moved",
    "(4, 3, 1)",
)
def halves_with_different_numbers_of_axes() -> None:
    class Coupling(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Dense(3, 3)

        def construct(self, x: Any) -> Any:
            steady, moved = ops.chunk(x, 2, 1)
            moved = (moved + self.net(steady)).expand_dims(-1)
            return ops.cat((steady, moved), 1)  # raised

    class Flow(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.coupling = Coupling()

        def construct(self, x: Any) -> Any:
            return self.coupling(x).sum(1)

    Flow()(floats(4, 6))


@raises(
    IndexError,
    "network on a graph of neighbors",
    "The numbers of the neighbors are floats.",
    "gather",
    "neighbors",
    "Float32",
    "integer",
)
def neighbors_as_floats() -> None:
    class Gather(nn.Cell):
        def construct(self, features: Any, neighbors: Any) -> Any:
            return features[neighbors].max(1)  # raised

    class Graph(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Dense(3, 4)
            self.gather = Gather()

        def construct(self, x: Any) -> Any:
            gaps = ((x[:, None] - x) ** 2).sum(-1)
            neighbors = ops.argsort(gaps, 1)[:, :2] * 1.0
            return self.gather(self.embed(x), neighbors)

    Graph()(floats(6, 3))


@raises(
    TypeError,
    "graph attention network",
    "The adjacency matrix that masks the scores holds floats.",
    "attend",
    "masked_fill",
    "adjacency",
    "Float32",
    "bool",
)
def adjacency_of_floats_as_a_mask() -> None:
    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.left, self.right = nn.Dense(4, 1), nn.Dense(4, 1)

        def construct(self, nodes: Any, adjacency: Any) -> Any:
            scores = self.left(nodes) + self.right(nodes).T
            scores = scores.masked_fill(1 - adjacency, -1e9)  # raised
            return ops.softmax(scores, -1) @ nodes

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.attend = Attend()

        def construct(self, nodes: Any, adjacency: Any) -> Any:
            return self.attend(nodes, adjacency)

    Net()(floats(5, 4), Tensor(np.eye(5, dtype=np.float32)))


@raises(
    TypeError,
    "stacked residual layers",
    "A list of layers is called like a layer.",
    "stack",
    "list",
    "layers",
    "called",
)
def list_of_layers_that_is_called() -> None:
    class Stack(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers: Any = [nn.Dense(4, 4), nn.ReLU(), nn.Dense(4, 4)]

        def construct(self, x: Any) -> Any:
            return x + self.layers(x)  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.stack = Stack()

        def construct(self, x: Any) -> Any:
            return self.stack(x)

    Net()(floats(2, 4))


@raises(
    ZeroDivisionError,
    "attention of narrow tokens",
    "A token has fewer features than a head, so there are no heads.",
    "heads",
    "count",
    "0",
    "x.shape[-1] // 8",
)
def division_by_no_heads() -> None:
    class Heads(nn.Cell):
        def construct(self, x: Any) -> Any:
            count = x.shape[-1] // 8
            width = x.shape[-1] // count  # raised
            return x.reshape(*x.shape[:-1], count, width)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(9, 6)
            self.heads = Heads()

        def construct(self, ids: Any) -> Any:
            return self.heads(self.embed(ids))

    Net()(integers(9, 2, 4))


@raises(
    UnboundLocalError,
    "network with an early exit",
    "A variable is assigned only in a branch that is not taken.",
    "exits",
    "early",
    "assigned",
    "step == 2",
)
def variable_of_a_branch_not_taken() -> None:
    class Exits(nn.Cell):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.depth = depth
            self.body = nn.Dense(4, 4)
            self.exit = nn.Dense(4, 2)

        def construct(self, x: Any) -> Any:
            for step in range(self.depth):
                x = ops.relu(self.body(x))
                if step == 2:
                    early = self.exit(x)
            return self.exit(x) + early  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.exits = Exits(2)

        def construct(self, x: Any) -> Any:
            return self.exits(x)

    Net()(floats(3, 4))
