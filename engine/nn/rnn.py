"""Recurrent layers and cells: RNN, LSTM, GRU. The work is in ``ops/recurrent.py``."""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from ..core.dtype import DType, float32
from ..core.initializer import Uniform, initializer
from ..core.parameter import Parameter
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from ..ops.recurrent import GATES, recurrent
from ._checks import check_bool, check_positive_int
from .cell import Cell
from .dropout import Dropout

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


class _Recurrent(Cell):
    """What every recurrent layer has.

    Args:
        input_size: length of the last axis of the input.
        hidden_size: length of the state.
        num_layers: layers on top of each other.
        has_bias: whether there are biases.
        batch_first: the input is (N, T, input_size), not (T, N, input_size).
        dropout: probability of 0 between layers, in training.
        bidirectional: also from the end to the start; both results side by side.
    """

    _kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = check_positive_int(input_size, name, "input_size")
        self.hidden_size = check_positive_int(hidden_size, name, "hidden_size")
        if isinstance(num_layers, bool) or not isinstance(num_layers, int) or num_layers <= 0:
            raise ValueError(f"For '{name}', 'num_layers' must be an int above 0, but got {num_layers!r}")
        self.num_layers = num_layers
        self.has_bias = check_bool(has_bias, name, "has_bias")
        self.batch_first = check_bool(batch_first, name, "batch_first")
        self.bidirectional = check_bool(bidirectional, name, "bidirectional")
        if isinstance(dropout, bool) or not isinstance(dropout, int | float):
            raise TypeError(f"For '{name}', 'dropout' must be a number, but got {type(dropout).__name__}")
        if not 0 <= dropout < 1:
            raise ValueError(f"For '{name}', 'dropout' must be in [0, 1), but got {dropout}")
        self.dropout = dropout
        self.dropout_op = Dropout(p=float(dropout))
        directions = 2 if bidirectional else 1
        width = GATES[self._kind] * hidden_size
        bound = Uniform(1 / math.sqrt(hidden_size))
        sizes = [input_size if layer == 0 else hidden_size * directions for layer in range(num_layers)]
        places = [(layer, side) for layer in range(num_layers) for side in range(directions)]
        shapes: dict[str, Any] = {
            "weight_ih": lambda layer: (width, sizes[layer]),
            "weight_hh": lambda layer: (width, hidden_size),
        }
        if has_bias:
            shapes |= {"bias_ih": lambda layer: (width,), "bias_hh": lambda layer: (width,)}
        for what, shape in shapes.items():
            for layer, side in places:
                parameter = Parameter(initializer(bound, shape(layer), dtype), _name(what, layer, side))
                setattr(self, parameter.name, parameter)

    def construct(self, x: Tensor, hx: Any = None, seq_length: Tensor | None = None) -> Any:
        """x (T, N, input_size) and first states to all states of the last layer, and the last ones of all layers.

        Raises:
            TypeError, ValueError: a state of the wrong kind or shape.
        """
        name = type(self).__name__
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{name}', 'x' must be a Tensor, but got {type(x).__name__}")
        if x.ndim != 3 or x.shape[2] != self.input_size:
            raise ValueError(f"For '{name}', 'x' must have the shape (T, N, {self.input_size}), but got {x.shape}")
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        directions = 2 if self.bidirectional else 1
        h, c = self._states(hx, x, directions)
        lengths = None if seq_length is None else seq_length._array
        last_h: list[Any] = []
        last_c: list[Any] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = self.dropout_op(x)
            outputs = []
            for side in range(directions):
                place = layer * directions + side
                w_ih, w_hh, b_ih, b_hh = self._weights(layer, side)
                out, end_h, end_c = recurrent(
                    x, h[place], c[place] if c is not None else None, w_ih, w_hh, b_ih, b_hh,
                    kind=self._kind, reverse=side == 1, lengths=lengths,
                )  # fmt: skip
                outputs.append(out)
                last_h.append(end_h)
                last_c.append(end_c)
            x = outputs[0] if len(outputs) == 1 else ops.concat(outputs, 2)
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        ends = ops.stack(last_h, 0)
        return x, (ends, ops.stack(last_c, 0)) if self._kind == "lstm" else ends

    def _weights(self, layer: int, side: int) -> tuple[Any, ...]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(getattr(self, _name(w, layer, side)) if self.has_bias or "bias" not in w else None for w in names)

    def _states(self, hx: Any, x: Tensor, directions: int) -> tuple[list[Tensor], list[Tensor] | None]:
        name = type(self).__name__
        shape = (self.num_layers * directions, x.shape[1], self.hidden_size)
        needed = 2 if self._kind == "lstm" else 1
        if hx is None:
            zeros = Tensor._wrap(array_module(x._array).zeros(shape, x._array.dtype))
            given: tuple[Any, ...] = (zeros,) * needed
        else:
            if needed == 2 and not (isinstance(hx, tuple | list) and len(hx) == 2):
                raise TypeError(f"For '{name}', 'hx' must be a tuple of two Tensors, but got {type(hx).__name__}")
            if needed == 1 and not isinstance(hx, Tensor):
                raise TypeError(f"For '{name}', 'hx' must be a Tensor, but got {type(hx).__name__}")
            given = tuple(hx) if needed == 2 else (hx,)
        for state in given:
            if state.shape != shape:
                raise ValueError(f"For '{name}', 'hx' must have the shape {shape}, but got {state.shape}")
        # A row of a parameter or of a list of states: taken apart once a layer.
        found = [[ops.getitem(state, place) for place in range(shape[0])] for state in given]
        return found[0], found[1] if needed == 2 else None


def _name(what: str, layer: int, side: int) -> str:
    return f"{what}_l{layer}{'_reverse' if side else ''}"


class RNN(_Recurrent):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or with relu (``nonlinearity``)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # As in MindSpore the nonlinearity may also be the fourth positional argument.
        positional = list(args)
        kind = kwargs.pop("nonlinearity", positional.pop(3) if len(positional) > 3 else "tanh")
        if kind not in ("tanh", "relu"):
            raise ValueError(f"For 'RNN', 'nonlinearity' must be 'tanh' or 'relu', but got {kind!r}")
        self.__dict__["_kind"] = kind
        super().__init__(*positional, **kwargs)
        self.nonlinearity = kind


class LSTM(_Recurrent):
    """Hochreiter and Schmidhuber 1997, with gates i, f, g, o; the state is a tuple (h, c)."""

    _kind = "lstm"


class GRU(_Recurrent):
    """Cho et al. 2014, with gates r, z, n; the reset gate acts on W_hn h + b_hn."""

    _kind = "gru"


class _OneStep(Cell):
    """A step of a recurrent layer: x (N, input_size) and the state to the new state."""

    _kind = "tanh"

    def __init__(
        self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: DType = float32
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.input_size = check_positive_int(input_size, name, "input_size")
        self.hidden_size = check_positive_int(hidden_size, name, "hidden_size")
        self.has_bias = check_bool(has_bias, name, "has_bias")
        width = GATES[self._kind] * hidden_size
        bound = Uniform(1 / math.sqrt(hidden_size))
        self.weight_ih = Parameter(initializer(bound, (width, input_size), dtype), "weight_ih")
        self.weight_hh = Parameter(initializer(bound, (width, hidden_size), dtype), "weight_hh")
        self.bias_ih: Parameter | None = None
        self.bias_hh: Parameter | None = None
        if has_bias:
            self.bias_ih = Parameter(initializer(bound, (width,), dtype), "bias_ih")
            self.bias_hh = Parameter(initializer(bound, (width,), dtype), "bias_hh")

    def _step(self, x: Tensor, h: Tensor, c: Any) -> tuple[Tensor, Any]:
        name = type(self).__name__
        for argument, value, size in (("x", x, self.input_size), ("hx", h, self.hidden_size)):
            if not isinstance(value, Tensor):
                raise TypeError(f"For '{name}', '{argument}' must be a Tensor, but got {type(value).__name__}")
            if value.ndim != 2 or value.shape[1] != size:
                raise ValueError(f"For '{name}', '{argument}' must have the shape (N, {size}), but got {value.shape}")
        if x.shape[0] != h.shape[0]:
            raise ValueError(f"For '{name}', 'x' and 'hx' must have as many rows, but got {x.shape} and {h.shape}")
        _, h, c = recurrent(
            ops.expand_dims(x, 0), h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, kind=self._kind
        )
        return h, c

    def construct(self, x: Tensor, hx: Any) -> Tensor:
        return self._step(x, hx, None)[0]


class RNNCell(_OneStep):
    """A step of ``RNN``."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: DType = float32,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"For 'RNNCell', 'nonlinearity' must be 'tanh' or 'relu', but got {nonlinearity!r}")
        self.__dict__["_kind"] = nonlinearity
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = nonlinearity


class LSTMCell(_OneStep):
    """A step of ``LSTM``: x and (h, c) to (h, c)."""

    _kind = "lstm"

    def construct(self, x: Tensor, hx: Any) -> Any:
        if not isinstance(hx, tuple | list) or len(hx) != 2:
            raise TypeError(f"For 'LSTMCell', 'hx' must be a tuple of two Tensors, but got {type(hx).__name__}")
        return self._step(x, hx[0], hx[1])


class GRUCell(_OneStep):
    """A step of ``GRU``."""

    _kind = "gru"
