"""Exceptions of Python itself in networks: names, keys, arguments, tuples, None."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import nn, ops

from .case import floats, integers, raises


@raises(
    KeyError,
    "network with several outputs",
    "The head reads a key that the backbone does not return.",
    "head",
    "feature",
    "features",
    "logits",
)
def key_that_nobody_returns() -> None:
    class Backbone(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(4, 6)

        def construct(self, x: Any) -> Any:
            hidden = self.body(x)
            return {"features": hidden, "logits": hidden * 2}

    class Head(nn.Cell):
        def construct(self, outputs: Any) -> Any:
            return outputs["feature"].sum()  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.backbone = Backbone()
            self.head = Head()

        def construct(self, x: Any) -> Any:
            return self.head(self.backbone(x))

    Net()(floats(3, 4))


@raises(AttributeError, "perceptron", "The name of a layer is misspelled.", "mlp", "dropuot", "dropout")
def layer_with_a_misspelled_name() -> None:
    class Mlp(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up = nn.Dense(4, 8)
            self.dropout = nn.Dropout(p=0.1)
            self.down = nn.Dense(8, 4)

        def construct(self, x: Any) -> Any:
            return self.down(self.dropuot(ops.gelu(self.up(x))))  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.mlp = Mlp()

        def construct(self, x: Any) -> Any:
            return x + self.mlp(x)

    Net()(floats(2, 4))


@raises(
    TypeError, "encoder and decoder", "The encoder's construct returns nothing.", "decoder", "None", "encoder", "return"
)
def encoder_without_a_return() -> None:
    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(6, 3)

        def construct(self, x: Any) -> Any:
            self.code = ops.tanh(self.fc(x))

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = Encoder()
            self.decoder = nn.Dense(3, 6)

        def construct(self, x: Any) -> Any:
            code = self.encoder(x)
            return self.decoder(code)  # raised

    Net()(floats(2, 6))


@raises(
    IndexError, "network of stages", "There are fewer stages than the loop runs through.", "", "stages", "3", "index"
)
def loop_over_too_many_stages() -> None:
    class Staged(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.stages = [nn.Dense(4, 4) for _ in range(3)]

        def construct(self, x: Any) -> Any:
            for index in range(4):
                x = self.stages[index](x)  # raised
            return x

    Staged()(floats(2, 4))


@raises(
    TypeError,
    "recurrent classifier",
    "The tuple that the recurrent layer returns is passed on as it is.",
    "readout",
    "tuple",
    "gru",
    "(2, 5, 8)",
)
def tuple_of_a_recurrent_layer() -> None:
    class Recurrent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.gru = nn.GRU(3, 8, batch_first=True)
            self.readout = nn.Dense(8, 2)

        def construct(self, x: Any) -> Any:
            states = self.gru(x)
            return self.readout(states)  # raised

    Recurrent()(floats(2, 5, 3))


@raises(
    TypeError,
    "conditional generator",
    "The label that the conditional layer needs is not passed.",
    "condition",
    "label",
    "construct",
)
def condition_without_its_label() -> None:
    class Condition(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(5, 4)

        def construct(self, x: Any, label: Any) -> Any:
            return x + self.table(label)

    class Generator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.condition = Condition()
            self.out = nn.Dense(4, 7)

        def construct(self, noise: Any) -> Any:
            return self.out(self.condition(noise))  # raised

    Generator()(floats(3, 4))


@raises(TypeError, "sensor network", "The measurements are a NumPy array.", "filter", "ndarray", "measured", "Tensor")
def measurements_in_numpy() -> None:
    class Sensor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.filter = nn.Dense(4, 2)

        def construct(self, measured: Any) -> Any:
            return self.filter(measured)  # raised

    Sensor()(np.zeros((3, 4), np.float32))


@raises(
    ValueError,
    "contrastive network with methods",
    "A method in place of construct projects features of another length.",
    "projector",
    "(4, 12)",
    "trunk",
    "10",
    "12",
    "projector.weight",
)
def method_in_place_of_construct() -> None:
    class Contrast(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.trunk = nn.Dense(6, 12)
            self.projector = nn.Dense(10, 4)

        def features(self, x: Any) -> Any:
            return self.trunk(x)

        def project(self, x: Any) -> Any:
            return self.projector(self.features(x))  # raised

        def construct(self, x: Any) -> Any:
            return self.features(x)

    net = Contrast()
    net(floats(4, 6))
    ms.value_and_grad(lambda x: net.project(x).sum(), None, net.trainable_params())(floats(4, 6))


@raises(
    ValueError,
    "variational encoder",
    "The encoder returns three values, and two are unpacked.",
    "",
    "encoder",
    "3",
    "2",
    "unpack",
)
def three_values_for_two_names() -> None:
    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.mean = nn.Dense(5, 2)

        def construct(self, x: Any) -> Any:
            return self.mean(x), x, x

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = Encoder()

        def construct(self, x: Any) -> Any:
            mean, spread = self.encoder(x)  # raised
            return mean + spread

    Net()(floats(3, 5))


@raises(
    AssertionError,
    "network with an assertion",
    "The network checks the length of its input itself.",
    "check",
    "signal",
    "(2, 30)",
    "32",
)
def assertion_on_the_length() -> None:
    class Check(nn.Cell):
        def construct(self, signal: Any) -> Any:
            assert signal.shape[1] == 32  # raised
            return signal

    class Fourier(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.check = Check()

        def construct(self, signal: Any) -> Any:
            return self.check(signal).abs()

    Fourier()(floats(2, 30))


@raises(
    IndexError,
    "token classifier",
    "The position of the last token is counted from one.",
    "",
    "encode",
    "(2, 6, 4)",
    "6",
    "axis 1",
    "getitem",
)
def token_after_the_last() -> None:
    class LastToken(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Embedding(9, 4)

        def construct(self, tokens: Any) -> Any:
            states = self.encode(tokens)
            return states[:, tokens.shape[1]]  # raised

    LastToken()(integers(9, 2, 6))


@raises(
    AttributeError,
    "network with optional parts",
    "An optional part that is None is called like a layer that is there.",
    "tail",
    "None",
    "norm",
    "shape",
)
def optional_part_that_is_none() -> None:
    class Tail(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(4, 4)

        def construct(self, x: Any, norm: Any = None) -> Any:
            return self.fc(x) / norm.shape[0]  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.tail = Tail()

        def construct(self, x: Any) -> Any:
            return self.tail(x)

    Net()(floats(2, 4))
