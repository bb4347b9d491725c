"""Held-out exceptions in networks for sequences, memories and trees, written before the rules changed for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

from .case import floats, integers, raises


@raises(
    ValueError,
    "WaveNet",
    "The dilated convolution does not pad, and its output is shorter than the residual.",
    "blocks.1",
    "add",
    "x",
    "(2, 4, 14)",
    "(2, 4, 12)",
)
def residual_of_a_shorter_wave() -> None:
    class Block(nn.Cell):
        def __init__(self, dilation: int, pad: str) -> None:
            super().__init__()
            self.filter = nn.Conv1d(4, 8, 2, dilation=dilation, pad_mode=pad)

        def construct(self, x: Any) -> Any:
            value, gate = ops.chunk(self.filter(x), 2, 1)
            gated = ops.tanh(value) * ops.sigmoid(gate)
            return x + gated  # raised

    class Waves(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.CellList([Block(1, "same"), Block(2, "valid")])

        def construct(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x

    Waves()(floats(2, 4, 14))


@raises(
    ValueError,
    "convolutional GRU",
    "The frame was halved by the front, the state was not.",
    "cell",
    "concat",
    "frame",
    "(2, 4, 4, 4)",
    "state",
    "(2, 6, 8, 8)",
)
def state_larger_than_the_frame() -> None:
    class ConvGRUCell(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.gates = nn.Conv2d(10, 12, 3)

        def construct(self, frame: Any, state: Any) -> Any:
            both = ops.cat((frame, state), 1)  # raised
            update, _ = ops.chunk(ops.sigmoid(self.gates(both)), 2, 1)
            return update * state

    class Video(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.front = nn.Conv2d(3, 4, 3, stride=2)
            self.cell = ConvGRUCell()

        def construct(self, video: Any) -> Any:
            state = ops.zeros((2, 6, 8, 8))
            for step in range(video.shape[1]):
                state = self.cell(self.front(video[:, step]), state)
            return state

    Video()(floats(2, 3, 3, 8, 8))


@raises(
    ValueError,
    "temporal network with chomps",
    "A chomp of no samples removes all of them.",
    "blocks.1.conv",
    "(2, 4, 0)",
    "x",
    "blocks.0",
)
def chomp_of_everything() -> None:
    class Block(nn.Cell):
        def __init__(self, chomp: int) -> None:
            super().__init__()
            self.conv = nn.Conv1d(4, 4, 3, pad_mode="pad", padding=1)
            self.chomp = chomp

        def construct(self, x: Any) -> Any:
            return ops.relu(self.conv(x)[:, :, : -self.chomp])

    class LastBlock(Block):
        def construct(self, x: Any) -> Any:
            x = x[:, :, 2:]
            return self.conv(x)  # raised

    class Temporal(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.CellList([Block(0), LastBlock(0)])

        def construct(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return x

    Temporal()(floats(2, 4, 9))


@raises(
    ValueError,
    "attention with linear biases",
    "The slopes of the heads lack the two axes of the distances.",
    "bias",
    "mul",
    "slopes",
    "(4,)",
    "distances",
    "(6, 6)",
)
def slopes_without_axes() -> None:
    class Bias(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.slopes = Tensor(np.array([0.5, 0.25, 0.125, 0.0625], np.float32))

        def construct(self, count: int) -> Any:
            steps = ops.arange(count).astype(ms.float32)
            distances = steps[None] - steps[:, None]
            return self.slopes * distances  # raised

    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.mix = nn.Dense(8, 8)
            self.bias = Bias()

        def construct(self, x: Any) -> Any:
            heads = self.mix(x).reshape(2, 6, 4, 2).swapaxes(1, 2)
            scores = heads @ heads.swapaxes(2, 3) + self.bias(x.shape[1])
            return ops.softmax(scores, -1) @ heads

    Attend()(floats(2, 6, 8))


@raises(
    ValueError,
    "rotary attention",
    "The cosines of the positions lack the axis of the heads.",
    "rotate",
    "mul",
    "first",
    "(2, 5, 3, 4)",
    "cos",
    "(5, 4)",
)
def cosines_without_an_axis_of_heads() -> None:
    class Rotate(nn.Cell):
        def construct(self, x: Any) -> Any:
            first, second = ops.chunk(x, 2, -1)
            angles = ops.arange(5).astype(ms.float32)[:, None] * Tensor(np.ones((1, 4), np.float32))
            cos, sin = ops.cos(angles), ops.sin(angles)
            return ops.cat((first * cos - second * sin, first * sin + second * cos), -1)  # raised

    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Dense(6, 24)
            self.rotate = Rotate()

        def construct(self, x: Any) -> Any:
            return self.rotate(self.query(x).reshape(2, 5, 3, 8))

    net = Attend()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(2, 5, 6))


@raises(
    ValueError,
    "cross attention",
    "The keys are made of the memory, but the layer is made for the width of the queries.",
    "attend.keys",
    "memory",
    "(2, 7, 10)",
    "attend.keys.weight",
    "10",
    "6",
)
def keys_of_a_wider_memory() -> None:
    class Attend(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.queries, self.keys, self.values = (nn.Dense(width, width) for _ in range(3))

        def construct(self, x: Any, memory: Any) -> Any:
            scores = self.queries(x) @ self.keys(memory).swapaxes(1, 2)  # raised
            return ops.softmax(scores, -1) @ self.values(memory)

    class Decoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Dense(3, 10)
            self.attend = Attend(6)

        def construct(self, x: Any, source: Any) -> Any:
            return self.attend(x, self.encode(source))

    Decoder()(floats(2, 4, 6), floats(2, 7, 3))


@raises(
    ValueError,
    "sparse mixture of experts",
    "More experts are chosen for each token than there are.",
    "route",
    "topk",
    "scores",
    "(5, 3)",
    "4",
    "3",
)
def more_experts_than_there_are() -> None:
    class Route(nn.Cell):
        def __init__(self, count: int, most: int) -> None:
            super().__init__()
            self.gate = nn.Dense(6, count)
            self.most = most

        def construct(self, x: Any) -> Any:
            scores = ops.softmax(self.gate(x), -1)
            values, chosen = ops.topk(scores, self.most)  # raised
            return values, chosen

    class Sparse(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.route = Route(3, 4)

        def construct(self, x: Any) -> Any:
            return self.route(x)[0]

    Sparse()(floats(5, 6))


@raises(
    RuntimeError,
    "memory network",
    "A vector with an entry for each column reads a matrix by its rows.",
    "read",
    "matmul",
    "focus",
    "(4,)",
    "slots",
    "(6, 4)",
)
def vector_that_reads_columns() -> None:
    class Read(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.slots = Parameter(floats(6, 4), name="slots")

        def construct(self, question: Any) -> Any:
            focus = ops.softmax(question, -1)
            return ops.matmul(focus, self.slots)  # raised

    class Memory(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.ask = nn.Dense(3, 4)
            self.read = Read()

        def construct(self, words: Any) -> Any:
            return self.read(self.ask(words)[0])

    Memory()(floats(5, 3))


@raises(
    ValueError,
    "neural Turing machine",
    "The vector to erase is multiplied by the focus without the axes of an outer product.",
    "write",
    "mul",
    "focus",
    "(2, 6)",
    "erase",
    "(2, 4)",
    "focus_head",
)
def erasing_without_an_outer_product() -> None:
    class Write(nn.Cell):
        def construct(self, tape: Any, focus: Any, erase: Any) -> Any:
            return tape * (1 - focus * erase)  # raised

    class Turing(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.focus_head = nn.Dense(3, 6)
            self.erase_head = nn.Dense(3, 4)
            self.write = Write()

        def construct(self, x: Any, tape: Any) -> Any:
            return self.write(tape, ops.softmax(self.focus_head(x), -1), ops.sigmoid(self.erase_head(x)))

    Turing()(floats(2, 3), floats(2, 6, 4))


@raises(
    ValueError,
    "conditional random field",
    "The matrix of transitions has rows for start and end, the emissions have none.",
    "field",
    "add",
    "alpha",
    "(2, 4, 1)",
    "field.transitions",
    "(6, 6)",
)
def transitions_of_other_tags() -> None:
    class Field(nn.Cell):
        def __init__(self, tags: int) -> None:
            super().__init__()
            self.transitions = Parameter(floats(tags, tags), name="transitions")

        def construct(self, emissions: Any) -> Any:
            alpha = emissions[:, 0]
            for step in range(1, emissions.shape[1]):
                paths = alpha.expand_dims(2) + self.transitions  # raised
                alpha = ops.logsumexp(paths, 1) + emissions[:, step]
            return ops.logsumexp(alpha, 1)

    class Tagger(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.emit = nn.Dense(5, 4)
            self.field = Field(6)

        def construct(self, x: Any) -> Any:
            return self.field(self.emit(x))

    Tagger()(floats(2, 3, 5))


@raises(
    ValueError,
    "sequence to sequence with LSTM",
    "The decoder has two layers, the state of the encoder comes from one.",
    "decoder",
    "state",
    "(1, 3, 8)",
    "(2, 3, 8)",
    "encoder",
)
def state_of_fewer_layers() -> None:
    class Translate(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.LSTM(4, 8, batch_first=True)
            self.decoder = nn.LSTM(4, 8, num_layers=2, batch_first=True)

        def construct(self, source: Any, target: Any) -> Any:
            _, state = self.encoder(source)
            words, _ = self.decoder(target, state)  # raised
            return words

    Translate()(floats(3, 6, 4), floats(3, 5, 4))


@raises(
    ValueError,
    "sentence encoder with LSTM",
    "The output and the pair of states are unpacked like three values.",
    "encode",
    "lstm",
    "3",
    "2",
)
def three_values_of_an_lstm() -> None:
    class Encode(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(4, 6, batch_first=True)

        def construct(self, words: Any) -> Any:
            states, hidden, memory = self.lstm(words)  # raised
            return states.mean(1) + hidden[0] * memory[0]

    class Sentences(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encode = Encode()
            self.score = nn.Dense(6, 1)

        def construct(self, words: Any) -> Any:
            return self.score(self.encode(words))

    Sentences()(floats(2, 5, 4))


@raises(
    ValueError,
    "recognizer with a CTC head",
    "The lengths belong to three recordings, the batch has two.",
    None,
    "ctc_loss",
    "lengths",
    "(3,)",
    "scores",
    "(9, 2, 5)",
    "2",
)
def lengths_of_another_batch() -> None:
    class Head(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.classes = nn.Dense(4, 5)

        def construct(self, x: Any) -> Any:
            return ops.log_softmax(self.classes(x), -1).swapaxes(0, 1)

    head = Head()
    scores = head(floats(2, 9, 4))
    texts = Tensor(np.array([[1, 2, 3], [2, 4, 1]], np.int32))
    lengths = Tensor(np.array([9, 9, 7], np.int32))
    ops.ctc_loss(scores, texts, lengths, Tensor(np.array([3, 2], np.int32)))  # raised


@raises(
    RuntimeError,
    "hierarchical softmax",
    "A path through the tree leads to an inner node that has no vector.",
    "tree",
    "gather",
    "nodes",
    "(7, 4)",
    "7",
    "paths",
)
def path_to_a_missing_node() -> None:
    class Tree(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.nodes = Parameter(floats(7, 4), name="nodes")

        def construct(self, x: Any, paths: Any) -> Any:
            vectors = ops.gather(self.nodes, paths, 0)  # raised
            return ops.sigmoid((vectors * x[:, None]).sum(-1))

    class Words(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(3, 4)
            self.tree = Tree()

        def construct(self, x: Any, paths: Any) -> Any:
            return self.tree(self.body(x), paths)

    Words()(floats(2, 3), integers(8, 2, 3))


@raises(
    ValueError,
    "graph attention by a mask",
    "The squeezed axis is that of the neighbors, which are more than one, and so stays.",
    "attend",
    "mul",
    "weights",
    "(2, 5, 1, 1)",
    "nodes",
    "(2, 5, 6)",
    "squeeze",
)
def squeezed_axis_of_neighbors() -> None:
    class Attend(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.score = nn.Dense(6, 1)

        def construct(self, nodes: Any) -> Any:
            scores = ops.leaky_relu(self.score(nodes), 0.2)
            weights = ops.softmax(ops.squeeze(scores, 1), -1)
            return (weights[:, :, None] * nodes).sum(1)  # raised

    class Graph(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Dense(3, 6)
            self.attend = Attend()

        def construct(self, nodes: Any) -> Any:
            return self.attend(self.embed(nodes))

    Graph()(floats(2, 5, 3))
