"""Networks and parts of networks that several programs share, each with the framework's default initialization."""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from typing import Any

import numpy as np

from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, initializer


def chain(**cells: nn.Cell) -> nn.SequentialCell:
    """Return cells one after the other, each under its name."""
    return nn.SequentialCell(OrderedDict(cells))


def mlp(*widths: int, activation: Any = nn.ReLU, last: nn.Cell | None = None) -> nn.SequentialCell:
    """Return dense1, act1, dense2 ... and after the last dense layer, if given, ``last``."""
    cells: dict[str, nn.Cell] = {}
    for i, (before, after) in enumerate(itertools.pairwise(widths), 1):
        cells[f"dense{i}"] = nn.Dense(before, after)
        if i < len(widths) - 1:
            cells[f"act{i}"] = activation()
    return chain(**cells, **({} if last is None else {"last": last}))


def embedder() -> nn.SequentialCell:
    """Return a network from flat pictures to points for distances, in which a last bias would cancel out."""
    return chain(dense1=nn.Dense(64, 32), act1=nn.ReLU(), dense2=nn.Dense(32, 8, has_bias=False))


class SmallCNN(nn.Cell):
    """Two convolutions with batch normalization, pooling and a dense head, for pictures of 8 x 8."""

    def __init__(self, classes: int = 10, channels: int = 1, width: int = 8) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3)
        self.norm1 = nn.BatchNorm2d(width)
        self.relu1 = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(width, 2 * width, 3)
        self.norm2 = nn.BatchNorm2d(2 * width)
        self.relu2 = nn.ReLU()
        self.flatten = nn.Flatten()
        self.head: nn.Cell = nn.Dense(2 * width * 16, classes)

    def features(self, x: Tensor) -> Any:
        x = self.pool(self.relu1(self.norm1(self.conv1(x))))
        return self.flatten(self.relu2(self.norm2(self.conv2(x))))

    def construct(self, x: Tensor) -> Any:
        return self.head(self.features(x))


class Residual(nn.Cell):
    """x + norm(conv(relu(norm(conv(x))))), with a projection where the shape changes."""

    def __init__(self, channels: int, out: int | None = None, stride: int = 1) -> None:
        super().__init__()
        out = out or channels
        self.conv1 = nn.Conv2d(channels, out, 3, stride)
        self.norm1 = nn.BatchNorm2d(out)
        self.relu1 = nn.ReLU()
        self.conv2 = nn.Conv2d(out, out, 3)
        self.norm2 = nn.BatchNorm2d(out)
        self.relu2 = nn.ReLU()
        self.skip = None
        if stride > 1 or out != channels:
            self.skip = nn.SequentialCell(nn.Conv2d(channels, out, 1, stride), nn.BatchNorm2d(out))

    def construct(self, x: Tensor) -> Any:
        y = self.norm2(self.conv2(self.relu1(self.norm1(self.conv1(x)))))
        return self.relu2(y + (x if self.skip is None else self.skip(x)))


class ResNet(nn.Cell):
    """A stem, residual blocks of which the second halves the picture, the mean over the picture, and a head."""

    def __init__(self, classes: int = 10, channels: int = 1, width: int = 8) -> None:
        super().__init__()
        self.stem = chain(conv=nn.Conv2d(channels, width, 3), norm=nn.BatchNorm2d(width), relu=nn.ReLU())
        self.blocks = nn.SequentialCell(Residual(width), Residual(width, 2 * width, 2))
        self.head: nn.Cell = nn.Dense(2 * width, classes)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class LSTMClassifier(nn.Cell):
    """An LSTM over (N, T, features) and a head on its last output."""

    def __init__(self, features: int = 2, hidden: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)
        self.head: nn.Cell = nn.Dense(hidden, classes)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.lstm(x)[0][:, -1])


class MaskedMean(nn.Cell):
    """The mean of (N, T, width) over the words that are not padding."""

    def construct(self, x: Tensor, words: Tensor) -> Any:
        kept = ops.not_equal(words, 0).astype(x.dtype).expand_dims(-1)
        return (x * kept).sum(1) / ops.maximum(kept.sum(1), Tensor(1.0, x.dtype))


class TextClassifier(nn.Cell):
    """An embedding, the mean over the words, and an MLP."""

    def __init__(self, words: int = 40, width: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, embedding_table=Normal(1.0), padding_idx=0)
        self.pool: nn.Cell = MaskedMean()
        self.head = mlp(width, 2 * width, classes)

    def construct(self, words: Tensor) -> Any:
        return self.head(self.pool(self.embedding(words), words))


class Attention(nn.Cell):
    """Self-attention over (N, T, width) with several heads; ``mask`` (T, T) or (N, 1, T, T) is added to the scores."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value = nn.Dense(width, width), nn.Dense(width, width), nn.Dense(width, width)
        self.out = nn.Dense(width, width)

    def split(self, x: Tensor) -> Any:
        return x.reshape((x.shape[0], x.shape[1], self.heads, self.size)).transpose((0, 2, 1, 3))

    def scores(self, x: Tensor, mask: Tensor | None) -> Any:
        scores = ops.matmul(self.split(self.query(x)), self.split(self.key(x)).transpose((0, 1, 3, 2)))
        scores = scores / math.sqrt(self.size)
        return scores if mask is None else scores + mask

    def weights(self, scores: Tensor) -> Any:
        return ops.softmax(scores, -1)

    def construct(self, x: Tensor, mask: Tensor | None = None) -> Any:
        values = ops.matmul(self.weights(self.scores(x, mask)), self.split(self.value(x)))
        return self.out(values.transpose((0, 2, 1, 3)).reshape(x.shape))


class Block(nn.Cell):
    """A Transformer's block with the norms first."""

    def __init__(self, width: int = 16, heads: int = 2, attention: nn.Cell | None = None) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.attention = attention or Attention(width, heads)
        self.mlp = mlp(width, 4 * width, width, activation=nn.GELU)

    def construct(self, x: Tensor, mask: Tensor | None = None) -> Any:
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class TransformerClassifier(nn.Cell):
    """Blocks over (N, T, features) with learned positions, and a head on the mean."""

    def __init__(
        self,
        features: int = 2,
        width: int = 16,
        classes: int = 3,
        length: int = 16,
        blocks: list[nn.Cell] | None = None,
    ) -> None:
        super().__init__()
        self.embed = nn.Dense(features, width)
        self.position = Parameter(initializer(Normal(0.02), (length, width)), "position")
        self.blocks = nn.CellList(blocks or [Block(width), Block(width)])
        self.norm = nn.LayerNorm((width,))
        self.head: nn.Cell = nn.Dense(width, classes)

    def construct(self, x: Tensor) -> Any:
        x = self.embed(x) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


class LanguageModel(nn.Cell):
    """A GPT: embedded words and positions, causal blocks, and the logits of the next words (N, words, T)."""

    def __init__(self, words: int = 20, width: int = 16, length: int = 12, scale: float = 0.02) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width, embedding_table=Normal(scale))
        self.position = Parameter(initializer(Normal(0.02), (length, width)), "position")
        self.blocks = nn.CellList([Block(width), Block(width)])
        self.norm = nn.LayerNorm((width,))
        self.mask = Tensor(np.triu(np.full((length, length), -np.inf, np.float32), 1))

    def construct(self, words: Tensor) -> Any:
        x = self.embedding(words) + self.position
        for block in self.blocks:
            x = block(x, self.mask)
        return ops.matmul(self.norm(x), self.embedding.embedding_table.T).swapaxes(1, 2)


class Elman(nn.Cell):
    """h = tanh(x W_in + h W_rec + b) over (N, T, features), written with Parameters; returns the last h."""

    def __init__(self, features: int, hidden: int, recurrent: Any, init: Any = None) -> None:
        super().__init__()
        self.w_in = Parameter(initializer(init or Normal(1 / math.sqrt(features)), (features, hidden)), "w_in")
        self.w_rec = Parameter(initializer(recurrent, (hidden, hidden)), "w_rec")
        self.b = Parameter(initializer("zeros", (hidden,)), "b")
        self.hidden = hidden

    def construct(self, x: Tensor) -> Any:
        h = ops.zeros((x.shape[0], self.hidden), x.dtype)
        for step in range(x.shape[1]):
            h = ops.tanh(ops.matmul(x[:, step], self.w_in) + ops.matmul(h, self.w_rec) + self.b)
        return h


class Autoencoder(nn.Cell):
    """Dense encoder and decoder of flat pictures."""

    def __init__(self, size: int = 64, code: int = 12, last: nn.Cell | None = None) -> None:
        super().__init__()
        self.encoder = mlp(size, 32, code)
        self.decoder = mlp(code, 32, size, last=last)

    def construct(self, x: Tensor) -> Any:
        return self.decoder(self.encoder(x))


class Adversaries(nn.Cell):
    """A generator and a discriminator in one cell, for a debugger to watch both."""

    def __init__(self, generator: nn.Cell, discriminator: nn.Cell) -> None:
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
