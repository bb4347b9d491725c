"""Planted faults of the data: raw inputs, single classes, wrong labels, shapes that broadcast, batches of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine import Tensor, nn, ops

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, with_model

# inputs_not_normalized


@planted("inputs_not_normalized", "data", "The houses' features come in m2, years and dollars.")
def raw_house_features(fault: bool) -> Run:
    x, y = data.houses()
    x = x if fault else data.normalized(x, 0)
    net = blocks.mlp(5, 32, 1)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y[:, None], steps=24))


@planted("inputs_not_normalized", "data", "The digits' pixels go from 0 to 255.")
def pixels_to_255(fault: bool) -> Run:
    x, y = data.digits()
    x = x if fault else data.normalized(x)
    net = blocks.chain(flatten=nn.Flatten(), body=blocks.mlp(64, 32, 10))
    optimizer = nn.Adam(net.trainable_params(), 0.005)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), one_step)


@planted("inputs_not_normalized", "data", "An LSTM gets share prices around 3000 as they are.")
def raw_share_prices(fault: bool) -> Run:
    x, y = data.prices()
    x = x if fault else data.normalized(x)
    net = blocks.LSTMClassifier(1, 16, 1)
    return Run(
        net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y[:, None], steps=30), with_model
    )


# one_class_only


@planted("one_class_only", "data", "The digits are sorted by label and not shuffled: each batch has one label.")
def sorted_digits(fault: bool) -> Run:
    x, y = data.digits(80, classes=5)
    x = data.normalized(x)
    order = np.argsort(y, kind="stable") if fault else np.arange(len(y))
    net = blocks.SmallCNN(5)
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x[order], y[order], steps=20), with_model)


@planted("one_class_only", "data", "A small piece for a quick try is cut from the top of a sorted file.")
def first_rows_of_sorted_reviews(fault: bool) -> Run:
    x, y = data.reviews(96)
    order = np.argsort(y, kind="stable")
    chosen = order[:32] if fault else order[::3]
    x, y = x[chosen], y[chosen]
    if not fault:
        shuffled = np.random.default_rng(0).permutation(32)
        x, y = x[shuffled], y[shuffled]
    net = blocks.TextClassifier()
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=16))


@planted("one_class_only", "data", "The target is cut at 0.5 million although prices are normalized: no 1 is left.")
def threshold_in_other_units(fault: bool) -> Run:
    x, price = data.houses()
    y = (price > (5.0 if fault else 0.0)).astype(np.float32)[:, None]
    net = blocks.mlp(5, 24, 1)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.BCEWithLogitsLoss(), optimizer, data.batches(data.normalized(x, 0), y, steps=24), one_step)


# labels_out_of_range_or_shifted


@planted("labels_out_of_range_or_shifted", "data", "Ten digits are labeled 1 to 10.", raises=ValueError)
def labels_from_one(fault: bool) -> Run:
    x, y = data.digits()
    y = y + 1 if fault else y
    net = blocks.SmallCNN()
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y.astype(np.int32), steps=12))


class Segmenter(nn.Cell):
    """Down- and upsampling; a logit for each pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.SequentialCell(nn.Conv2d(1, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU())
        self.middle = nn.SequentialCell(nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        self.up = nn.Conv2dTranspose(8, 1, 4, 2)

    def construct(self, x: Tensor) -> Any:
        return self.up(self.middle(self.down(x)))


@planted("labels_out_of_range_or_shifted", "data", "The masks for a binary cross-entropy hold 0 and 255.")
def masks_of_255(fault: bool) -> Run:
    x, masks = data.blobs(32)
    net = Segmenter()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    batches = data.batches(x, masks if fault else masks / 255, size=8, steps=16)
    return Run(net, nn.BCEWithLogitsLoss(), optimizer, batches, one_step)


@planted("labels_out_of_range_or_shifted", "data", "Labels 1 to 3 are made one-hot: the last class is a row of zeros.")
def one_hot_of_labels_from_one(fault: bool) -> Run:
    x, y = data.waves()
    y = y + 1 if fault else y
    one_hot = (y[:, None] == np.arange(3)).astype(np.float32)
    net = blocks.LSTMClassifier()
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, one_hot, steps=24))


# loss_broadcasts


def squared_error(output: Tensor, target: Tensor) -> Any:
    return ops.square(output - target).mean()


@planted(
    "loss_broadcasts", "loss", "The net gives (N, 1), the prices are (N,), and the hand-written loss subtracts them."
)
def column_against_row(fault: bool) -> Run:
    x, y = data.houses()
    net = blocks.mlp(5, 32, 1)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, squared_error, optimizer, data.batches(data.normalized(x, 0), y if fault else y[:, None], steps=24))


class LogCosh(nn.LossBase):
    """The mean of log(cosh(output - target))."""

    def construct(self, output: Tensor, target: Tensor) -> Any:
        return self.get_loss(ops.log(ops.cosh(output - target)))


@planted("loss_broadcasts", "loss", "An LSTM's forecast (N, 1) meets prices (N,) in a loss cell of the user's own.")
def forecast_against_row(fault: bool) -> Run:
    x, y = data.prices()
    net = blocks.LSTMClassifier(1, 16, 1)
    batches = data.batches(data.normalized(x), y if fault else y[:, None], steps=30)
    return Run(net, LogCosh(), nn.Adam(net.trainable_params(), 0.01), batches, with_model)


class Value(nn.Cell):
    """The value of a picture, squeezed to (N,)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, 2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.head = nn.Dense(128, 1)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.flatten(self.relu(self.conv(x)))).squeeze(-1)


@planted("loss_broadcasts", "loss", "Values are squeezed to (N,), the returns were kept as (N, 1).")
def returns_kept_as_column(fault: bool) -> Run:
    x, digit = data.digits()
    returns = data.normalized(digit.astype(np.float32))
    net = Value()
    batches = data.batches(data.normalized(x), returns[:, None] if fault else returns, steps=24)
    return Run(net, squared_error, nn.Adam(net.trainable_params(), 0.01), batches, one_step)


# batch_of_one_under_batchnorm


@planted("batch_of_one_under_batchnorm", "norm", "33 rows in batches of 16: the last batch is a single row.")
def one_row_left_over(fault: bool) -> Run:
    x, y = data.flowers(33 if fault else 32)
    net = blocks.chain(
        dense=nn.Dense(6, 24, has_bias=False), norm=nn.BatchNorm1d(24), relu=nn.ReLU(), head=nn.Dense(24, 3)
    )
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=15), with_model)


@planted(
    "batch_of_one_under_batchnorm", "head.norm", "A CNN is trained a picture at a time, with a BatchNorm1d in its head."
)
def one_picture_at_a_time(fault: bool) -> Run:
    x, y = data.digits(32, classes=4)
    net = blocks.chain(
        conv=nn.Conv2d(1, 8, 3, 2),
        relu=nn.ReLU(),
        flatten=nn.Flatten(),
        head=blocks.chain(
            dense=nn.Dense(128, 24, has_bias=False), norm=nn.BatchNorm1d(24), relu=nn.ReLU(), out=nn.Dense(24, 4)
        ),
    )
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    batches = data.batches(data.normalized(x), y, size=1 if fault else 8, steps=24)
    return Run(net, nn.CrossEntropyLoss(), optimizer, batches, by_hand)


class Pooled(nn.Cell):
    """A residual net that squeezes the pooled picture once more, as squeeze-and-excitation does."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2)
        self.block = blocks.Residual(8, 16, 2)
        self.squeeze = nn.Conv2d(16, 16, 1)
        self.norm = nn.BatchNorm2d(16)
        self.head = nn.Dense(16, 4)

    def construct(self, x: Tensor) -> Any:
        x = self.block(self.stem(x)).mean((2, 3), keep_dims=True)
        return self.head(ops.relu(self.norm(self.squeeze(x))).reshape((x.shape[0], -1)))


@planted(
    "batch_of_one_under_batchnorm", "norm", "With a batch of one the BatchNorm2d after the pooling sees one pixel."
)
def one_pixel_of_one_picture(fault: bool) -> Run:
    x, y = data.textures(16)
    net = Pooled()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, size=1 if fault else 8, steps=20), one_step)
