"""Exceptions in networks for sequences: recurrent layers, transformers, text and speech."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

from .case import floats, integers, raises


@raises(
    ValueError,
    "LSTM tagger",
    "The recurrent layer is made for longer embeddings.",
    "lstm",
    "embed",
    "(3, 7, 12)",
    "12",
    "16",
)
def tagger_with_short_embeddings() -> None:
    class Tagger(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(30, 12)
            self.lstm = nn.LSTM(16, 8, batch_first=True)
            self.tags = nn.Dense(8, 4)

        def construct(self, tokens: Any) -> Any:
            states, _ = self.lstm(self.embed(tokens))  # raised
            return self.tags(states)

    net = Tagger()
    grad_fn = ms.value_and_grad(lambda tokens: net(tokens).sum(), None, net.trainable_params())
    grad_fn(integers(30, 3, 7))


@raises(
    ValueError,
    "LSTM language model",
    "The first state is made for the length of the sequence in place of the batch.",
    "rnn",
    "(1, 5, 6)",
    "(1, 2, 6)",
    "state",
)
def language_model_with_a_state_of_the_length() -> None:
    class Model(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.rnn = nn.LSTM(4, 6, batch_first=True)
            self.vocabulary = nn.Dense(6, 9)

        def construct(self, x: Any) -> Any:
            state = ops.zeros((1, x.shape[1], 6), ms.float32)
            out, _ = self.rnn(x, (state, state))  # raised
            return self.vocabulary(out)

    Model()(floats(2, 5, 4))


@raises(
    ValueError,
    "GRU decoder",
    "The decoder's cell is wider than the state that the encoder hands over.",
    "decoder",
    "bridge",
    "(4, 10)",
    "12",
)
def decoder_with_a_state_of_the_encoder() -> None:
    class Translator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.bridge = nn.Dense(6, 10)
            self.decoder = nn.GRUCell(5, 12)

        def construct(self, summary: Any, words: Any) -> Any:
            hidden = self.bridge(summary)
            outputs = []
            for time in range(words.shape[1]):
                hidden = self.decoder(words[:, time], hidden)  # raised
                outputs.append(hidden)
            return ops.stack(outputs, 1)

    Translator()(floats(4, 6), floats(4, 3, 5))


@raises(
    ValueError,
    "transformer",
    "The width of 16 is divided among three heads of five.",
    "layers.1.attention",
    "reshape",
    "to_q",
    "(2, 6, 16)",
    "192",
    "(2, 6, 3, 5)",
    "180",
)
def transformer_with_three_heads() -> None:
    class Attention(nn.Cell):
        def __init__(self, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.to_q = nn.Dense(16, 16)
            self.to_k = nn.Dense(16, 16)
            self.to_v = nn.Dense(16, 16)

        def construct(self, x: Any) -> Any:
            batch, length, width = x.shape
            split = (batch, length, self.heads, width // self.heads)
            q = self.to_q(x).reshape(split).swapaxes(1, 2)  # raised
            k = self.to_k(x).reshape(split).swapaxes(1, 2)
            v = self.to_v(x).reshape(split).swapaxes(1, 2)
            weights = ops.softmax(q @ k.swapaxes(-1, -2), axis=-1)
            return (weights @ v).swapaxes(1, 2).reshape(x.shape)

    class Layer(nn.Cell):
        def __init__(self, heads: int) -> None:
            super().__init__()
            self.norm = nn.LayerNorm((16,))
            self.attention = Attention(heads)

        def construct(self, x: Any) -> Any:
            return x + self.attention(self.norm(x))

    class Transformer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.CellList([Layer(4), Layer(3)])

        def construct(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x

    net = Transformer()
    ms.value_and_grad(lambda x: net(x).mean(), None, net.trainable_params())(floats(2, 6, 16))


@raises(
    ValueError,
    "text classifier",
    "The text is longer than the table of positions.",
    "",
    "add",
    "words",
    "positions",
    "(2, 20, 8)",
    "(1, 16, 8)",
    "axis 1",
)
def text_longer_than_its_positions() -> None:
    class Reader(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(50, 8)
            self.positions = Parameter(Tensor(np.zeros((1, 16, 8), np.float32)), name="positions")
            self.topic = nn.Dense(8, 3)

        def construct(self, tokens: Any) -> Any:
            x = self.words(tokens) + self.positions  # raised
            return self.topic(x.mean(1))

    Reader()(integers(50, 2, 20))


@raises(
    RuntimeError,
    "word vectors",
    "The number of an unknown word is the length of the table.",
    "vectors",
    "40",
    "vectors.embedding_table",
    "(40, 6)",
)
def skip_gram_with_an_unknown_word() -> None:
    class SkipGram(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.vectors = nn.Embedding(40, 6)
            self.contexts = nn.Embedding(41, 6)

        def construct(self, center: Any, context: Any) -> Any:
            near = self.contexts(context)
            return (self.vectors(center) * near).sum(-1)  # raised

    SkipGram()(integers(41, 9), integers(41, 9))


@raises(
    ValueError,
    "causal attention",
    "The mask is made for the longest text in place of this one.",
    "",
    "scores",
    "(2, 6, 6)",
    "(8, 8)",
    "mask",
    "axis 2",
)
def attention_with_a_mask_of_the_longest_text() -> None:
    class Causal(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.query = nn.Dense(4, 4)
            self.mask = Tensor(np.triu(np.full((8, 8), -1e9, np.float32), 1))

        def construct(self, x: Any) -> Any:
            scores = ops.bmm(self.query(x), x.swapaxes(1, 2))
            return ops.softmax(scores + self.mask, axis=-1)  # raised

    net = Causal()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(2, 6, 4))


@raises(
    ValueError,
    "speech encoder",
    "The layer normalization is made for the channels, which are not the last axis.",
    "norm",
    "conv",
    "(2, 24, 10)",
    "24",
    "10",
    "norm.gamma",
)
def speech_normalized_along_time() -> None:
    class Speech(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1d(5, 24, 3)
            self.norm = nn.LayerNorm((24,))

        def construct(self, frames: Any) -> Any:
            return ops.gelu(self.norm(self.conv(frames)))  # raised

    Speech()(floats(2, 5, 10))


@raises(
    RuntimeError,
    "temporal convolution",
    "The features of each time step are the last axis.",
    "temporal",
    "(2, 30, 7)",
    "series",
    "30",
    "7",
)
def forecaster_with_features_last() -> None:
    class Forecaster(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.temporal = nn.Conv1d(7, 9, 5)
            self.level = nn.Dense(9, 1)

        def construct(self, series: Any) -> Any:
            trend = self.temporal(series)  # raised
            return self.level(trend.mean(-1))

    Forecaster()(floats(2, 30, 7))


@raises(
    TypeError, "sequence to sequence", "The next words are kept as floats.", "table", "Float32", "following", "(3, 4)"
)
def decoder_with_words_as_floats() -> None:
    class Decoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(12, 5)
            self.out = nn.Dense(5, 12)

        def construct(self, words: Any) -> Any:
            following = words * 1.0
            return self.out(self.table(following))  # raised

    Decoder()(integers(12, 3, 4))


@raises(
    ValueError,
    "recurrent speaker model",
    "The last window is shorter than the others and cannot be stacked with them.",
    "",
    "stack",
    "(2, 4, 3)",
    "(2, 2, 3)",
)
def windows_of_unequal_length() -> None:
    class Windows(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Dense(6, 3)

        def construct(self, audio: Any) -> Any:
            parts = [self.project(audio[:, start : start + 4]) for start in range(0, 10, 4)]
            return ops.stack(parts, 0).mean(2)  # raised

    Windows()(floats(2, 10, 6))
