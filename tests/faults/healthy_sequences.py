"""Healthy: well-known networks for sequences and graphs, scaled down, with their structure kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, XavierUniform, initializer

from . import blocks, data
from .programs import Run, by_hand, healthy, one_step


class RecurrentLanguageModel(nn.Cell):
    """Embedding, two LSTM layers with dropout between, logits (N, words, T)."""

    def __init__(self, words: int = 20, width: int = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, embedding_table=Normal(0.3))
        self.lstm = nn.LSTM(width, width, 2, batch_first=True, dropout=0.2)
        self.dropout = nn.Dropout(p=0.2)
        self.head = nn.Dense(width, words)

    def construct(self, words: Tensor) -> Any:
        return self.head(self.dropout(self.lstm(self.embedding(words))[0])).swapaxes(1, 2)


@healthy("Zaremba et al. 2014: a language model of two LSTM layers with dropout.", known="LSTM language model")
def lstm_language_model() -> Run:
    x, y = data.text()
    net = RecurrentLanguageModel()
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=30))


class Translator(nn.Cell):
    """A GRU reads, another writes and attends to each word by additive attention; logits (N, words, T)."""

    def __init__(self, words: int = 12, width: int = 24) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(words, width, embedding_table=Normal(0.5)), nn.Embedding(words, width)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.writer = nn.GRUCell(2 * width, width)
        self.of_seen, self.of_state, self.score = nn.Dense(width, width), nn.Dense(width, width), nn.Dense(width, 1)
        self.head = nn.Dense(2 * width, words)

    def construct(self, source: Tensor, inputs: Tensor) -> Any:
        seen, last = self.reader(self.source(source))
        state, written = last[0], []
        for index in range(inputs.shape[1]):
            scores = self.score(ops.tanh(self.of_seen(seen) + self.of_state(state).expand_dims(1)))
            context = (ops.softmax(scores, 1) * seen).sum(1)
            state = self.writer(ops.concat([self.target(inputs[:, index]), context], 1), state)
            written.append(self.head(ops.concat([state, context], 1)))
        return ops.stack(written, 2)


@healthy(
    "Bahdanau et al. 2014: a GRU reads, another writes with attention.",
    known="GRU seq2seq with attention",
    falls_to=0.9,
)
def gru_seq2seq() -> Run:
    source = np.random.default_rng(0).integers(2, 12, (64, 6)).astype(np.int32)
    target = source[:, ::-1].copy()
    inputs = np.concatenate([np.ones((64, 1), np.int32), target[:, :-1]], 1)
    net = Translator()
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(source, inputs, target, size=32, steps=30))


class Encoder(nn.Cell):
    """nn.TransformerEncoder over embedded words with sines for positions; padding is masked."""

    def __init__(self, words: int = 40, width: int = 16, length: int = 10) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, embedding_table=Normal(0.3), padding_idx=0)
        angles = np.arange(length)[:, None] / 100 ** (np.arange(0, width, 2) / width)
        self.position = Tensor(np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32))
        layer = nn.TransformerEncoderLayer(width, 2, 2 * width, 0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pool, self.head = blocks.MaskedMean(), nn.Dense(width, 3)

    def construct(self, words: Tensor) -> Any:
        x = self.embedding(words) + self.position
        return self.head(self.pool(self.encoder(x, src_key_padding_mask=ops.equal(words, 0)), words))


@healthy("Vaswani et al. 2017: the encoder, with sines for positions and masked padding.", known="Transformer encoder")
def transformer_encoder() -> Run:
    x, y = data.reviews()
    net = Encoder()
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.005), data.batches(x, y, steps=30), one_step
    )


@healthy("Radford et al. 2018: causal blocks, the output tied to the embedding.", known="GPT")
def gpt() -> Run:
    x, y = data.text()
    net = blocks.LanguageModel(width=24)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01, weight_decay=0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), by_hand)


class GraphConvolution(nn.Cell):
    """A X W, with A the normalized adjacency."""

    def __init__(self, before: int, after: int, adjacency: Tensor) -> None:
        super().__init__()
        self.weight = Parameter(initializer(XavierUniform(), (before, after)), "weight")
        self.adjacency = adjacency

    def construct(self, x: Tensor) -> Any:
        return ops.matmul(self.adjacency, ops.matmul(x, self.weight))


@healthy(
    "Kipf and Welling 2016: two graph convolutions; the loss is over the labeled nodes alone.",
    known="graph convolution network",
)
def graph_convolution() -> Run:
    random = np.random.default_rng(0)
    community = np.arange(48) % 3
    together = community[:, None] == community
    edges = np.triu(random.random((48, 48)) < np.where(together, 0.4, 0.03), 1)
    adjacency = (edges | edges.T | np.eye(48, dtype=bool)).astype(np.float32)
    degree = adjacency.sum(1)
    shared = Tensor((adjacency / np.sqrt(degree[:, None] * degree)).astype(np.float32))
    features = data.normalized(np.eye(3)[community] + random.normal(0, 1, (48, 3)))
    labels = np.where(np.arange(48) < 24, community, -100).astype(np.int32)
    net = nn.SequentialCell(
        GraphConvolution(3, 16, shared), nn.ReLU(), nn.Dropout(p=0.2), GraphConvolution(16, 3, shared)
    )
    loss = nn.CrossEntropyLoss(ignore_index=-100)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.03), data.batches(features, labels, size=48, steps=30))
