"""Recurrent layers and cells: RNN, LSTM, GRU. The computation is in ``ops/neural/recurrent.py``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ... import ops
from ...base.argument_checks import (
    MOST_LAYERS,
    check_at_most,
    check_bool,
    check_number,
    check_one_of,
    check_positive_int,
    check_type,
)
from ...cpu.array_module import array_module
from ...ops.neural.recurrent import GATES, recurrent
from ...tensors.dtype import DType, float32
from ...tensors.initializer import Uniform, initializer
from ...tensors.parameter import Parameter, ParameterTuple
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import generate
from .._documentation import explained_by
from ..cell import Cell
from .dropout import Dropout

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]


class _Recurrent(Cell):
    """Base of recurrent layers.

    Args:
        input_size: length of the last axis of the input, an int above 0.
        hidden_size: length H of a state, an int above 0.
        num_layers: number of stacked layers, an int above 0.
        nonlinearity: "tanh" or "relu"; also accepted as the fourth positional argument, as in MindSpore.
        has_bias: whether there are biases.
        batch_first: whether the input is (N, T, input_size) instead of (T, N, input_size), and the output likewise.
        dropout: probability of 0 for the outputs of each layer but the last, in training; in [0, 1).
        bidirectional: whether a second direction runs from the last step to the first; its outputs are appended along
            the last axis.
        dtype: element type of the parameters.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: an argument out of range; the text names it.
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
        self.num_layers = check_at_most(num_layers, MOST_LAYERS, name, "num_layers")
        self.has_bias = check_bool(has_bias, name, "has_bias")
        self.batch_first = check_bool(batch_first, name, "batch_first")
        self.bidirectional = check_bool(bidirectional, name, "bidirectional")
        check_number(dropout, name, "dropout")
        if not 0 <= dropout < 1:
            raise ValueError(f"For '{name}', 'dropout' must be in [0, 1), but got {dropout}")
        self.dropout = dropout
        self.dropout_op = Dropout(p=float(dropout))
        directions = 2 if bidirectional else 1
        width = GATES[self._kind] * hidden_size
        bound = Uniform(1 / math.sqrt(hidden_size))
        sizes = [input_size if layer == 0 else hidden_size * directions for layer in range(num_layers)]
        layers_and_sides = [(layer, side) for layer in range(num_layers) for side in range(directions)]
        shapes: dict[str, Any] = {
            "weight_ih": lambda layer: (width, sizes[layer]),
            "weight_hh": lambda layer: (width, hidden_size),
        }
        if has_bias:
            shapes |= {"bias_ih": lambda layer: (width,), "bias_hh": lambda layer: (width,)}
        for kind, shape in shapes.items():
            for layer, side in layers_and_sides:
                parameter = Parameter(initializer(bound, shape(layer), dtype), _name(kind, layer, side))
                setattr(self, parameter.name, parameter)

    def construct(
        self, x: Tensor, hx: Tensor | Sequence[Tensor] | None = None, seq_length: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        """Return all states of the last layer, and the last states of every layer.

        Args:
            x: the input (T, N, input_size), or (N, T, input_size) with ``batch_first``; floating.
            hx: initial states (num_layers * directions, N, H); for an LSTM a pair of them, hidden and cell. None for
                zeros.
            seq_length: the number of valid steps of each sample, an integer Tensor (N,); later outputs are 0, and the
                last state is that of the last valid step. None for all steps.

        Returns:
            The pair (output, states): the output (T, N, directions * H), or (N, T, ...) with ``batch_first``; the
            states in the form of ``hx``.

        Raises:
            TypeError: ``x`` or a state is not a Tensor, or the states of an LSTM are not a pair.
            ValueError: a shape that does not fit.
        """
        name = type(self).__name__
        check_type(x, Tensor, name, "x")
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
                position = layer * directions + side
                w_ih, w_hh, b_ih, b_hh = self._weights(layer, side)
                out, end_h, end_c = recurrent(
                    x,
                    h[position],
                    c[position] if c is not None else None,
                    w_ih,
                    w_hh,
                    b_ih,
                    b_hh,
                    kind=self._kind,
                    reverse=side == 1,
                    lengths=lengths,
                )
                outputs.append(out)
                last_h.append(end_h)
                last_c.append(end_c)
            x = outputs[0] if len(outputs) == 1 else ops.concat(outputs, 2)
        if self.batch_first:
            x = ops.transpose(x, (1, 0, 2))
        ends = ops.stack(last_h, 0)
        return x, (ends, ops.stack(last_c, 0)) if self._kind == "lstm" else ends

    # MindSpore's names, for a subclass with its own ``construct``.

    @property
    def is_lstm(self) -> bool:
        """Whether there are two states."""
        return self._kind == "lstm"

    @property
    def w_ih_list(self) -> ParameterTuple:
        """The weights of the input: layer by layer, each direction."""
        return self._all("weight_ih")

    @property
    def w_hh_list(self) -> ParameterTuple:
        """The weights of the state, likewise."""
        return self._all("weight_hh")

    @property
    def b_ih_list(self) -> ParameterTuple:
        """The biases of the input, likewise; none without biases."""
        return self._all("bias_ih")

    @property
    def b_hh_list(self) -> ParameterTuple:
        """The biases of the state, likewise."""
        return self._all("bias_hh")

    def _all(self, kind: str) -> ParameterTuple:
        layers_and_sides = [
            (layer, side) for layer in range(self.num_layers) for side in range(2 if self.bidirectional else 1)
        ]
        exists = self.has_bias or "bias" not in kind
        return ParameterTuple(
            [getattr(self, _name(kind, *layer_and_side)) for layer_and_side in layers_and_sides] if exists else []
        )

    @cached_property
    def reverse(self) -> ops.Primitive:
        """Operator that reverses the steps."""
        return ops.ReverseV2([0])

    @cached_property
    def reverse_sequence(self) -> ops.Primitive:
        """Operator that reverses the first steps of each sample: takes ``x`` and the number of steps."""
        return ops.ReverseSequence(0, 1)

    def _weights(self, layer: int, side: int) -> tuple[Any, ...]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(getattr(self, _name(w, layer, side)) if self.has_bias or "bias" not in w else None for w in names)

    def _states(
        self, hx: Tensor | Sequence[Tensor] | None, x: Tensor, directions: int
    ) -> tuple[list[Tensor], list[Tensor] | None]:
        name = type(self).__name__
        shape = (self.num_layers * directions, x.shape[1], self.hidden_size)
        needed = 2 if self._kind == "lstm" else 1
        if hx is None:
            zeros = generate(array_module(x._array).zeros, shape=shape, dtype=x._array.dtype)
            states: tuple[Any, ...] = (zeros,) * needed
        else:
            if needed == 2 and not (isinstance(hx, tuple | list) and len(hx) == 2):
                raise TypeError(f"For '{name}', 'hx' must be a tuple of two Tensors, but got {type(hx).__name__}")
            if needed == 1 and not isinstance(hx, Tensor):
                raise TypeError(f"For '{name}', 'hx' must be a Tensor, but got {type(hx).__name__}")
            states = tuple(hx) if needed == 2 else (hx,)
        for state in states:
            if state.shape != shape:
                raise ValueError(f"For '{name}', 'hx' must have the shape {shape}, but got {state.shape}")
        # A row of a parameter or of a list of states: split once per layer.
        rows = [[ops.getitem(state, index) for index in range(shape[0])] for state in states]
        return rows[0], rows[1] if needed == 2 else None


def _name(kind: str, layer: int, side: int) -> str:
    return f"{kind}_l{layer}{'_reverse' if side else ''}"


class RNN(_Recurrent):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with relu (Elman 1990).

    Args:
        *args: the arguments below by position, optionally with ``nonlinearity`` as the fourth.
        **kwargs: the arguments below by name: ``input_size`` and ``hidden_size``, ints above 0: lengths of an input and
            of a state; ``num_layers`` (1): number of stacked layers; ``nonlinearity`` ("tanh"): or "relu";
            ``has_bias`` (True): whether there are biases; ``batch_first`` (False): whether the input is (N, T,
            input_size) instead of (T, N, input_size); ``dropout`` (0.0): probability of 0 for the outputs of each
            layer but the last, in training; ``bidirectional`` (False): whether a second direction runs from the last
            step to the first; ``dtype`` (float32): element type of the parameters.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: an argument out of range; the text names it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # As in MindSpore the nonlinearity may also be the fourth positional argument.
        positional = list(args)
        kind = kwargs.pop("nonlinearity", positional.pop(3) if len(positional) > 3 else "tanh")
        self.__dict__["_kind"] = check_one_of(kind, ("tanh", "relu"), "RNN", "nonlinearity")
        super().__init__(*positional, **kwargs)
        self.nonlinearity = kind


_Recurrent.__init__.__qualname__ = "RNN.__init__"  # the name in errors about its arguments; the others have copies


@explained_by(_Recurrent)
class LSTM(_Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber 1997).

    i, f, o = sigmoid(W x + b + U h + c), g = tanh(W x + b + U h + c), each with separate weights (in the order i, f,
    g, o); c' = f * c + i * g; h' = o * tanh(c').
    """

    _kind = "lstm"


@explained_by(_Recurrent)
class GRU(_Recurrent):
    """Gated recurrent units (Cho et al. 2014), where the reset gate acts on W_hn h + b_hn.

    r, z = sigmoid(W x + b + U h + c), n = tanh(W_in x + b_in + r * (W_hn h + b_hn)), weights in the order r, z, n; h' =
    (1 - z) * n + z * h.
    """

    _kind = "gru"


class _OneStep(Cell):
    """A step of a recurrent layer.

    Args:
        input_size: length of the last axis of the input, an int above 0.
        hidden_size: length H of the state, an int above 0.
        has_bias: whether there are biases.
        nonlinearity: "tanh" or "relu".
        dtype: element type of the parameters.

    Raises:
        TypeError: a size is not an int, or ``has_bias`` is not a bool.
        ValueError: an argument out of range; the text names it.
    """

    _kind = "tanh"

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: DType = float32) -> None:
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

    def _step(self, x: Tensor, h: Tensor, c: Tensor | None) -> tuple[Tensor, Any]:
        name = type(self).__name__
        for argument, value, size in (("x", x, self.input_size), ("hx", h, self.hidden_size)):
            check_type(value, Tensor, name, argument)
            if value.ndim != 2 or value.shape[1] != size:
                raise ValueError(f"For '{name}', '{argument}' must have the shape (N, {size}), but got {value.shape}")
        if x.shape[0] != h.shape[0]:
            raise ValueError(f"For '{name}', 'x' and 'hx' must have as many rows, but got {x.shape} and {h.shape}")
        _, h, c = recurrent(
            ops.expand_dims(x, 0), h, c, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, kind=self._kind
        )
        return h, c

    def construct(self, x: Tensor, hx: Tensor) -> Tensor:
        """Return the state after the step.

        Args:
            x: the input (N, input_size), floating.
            hx: the previous state (N, H).

        Returns:
            A Tensor (N, H).

        Raises:
            TypeError: ``x`` or ``hx`` is not a Tensor.
            ValueError: a shape that does not fit.
        """
        return self._step(x, hx, None)[0]


@explained_by(_OneStep)
class RNNCell(_OneStep):
    """One step of ``RNN``: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or with relu."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: DType = float32,
    ) -> None:
        self.__dict__["_kind"] = check_one_of(nonlinearity, ("tanh", "relu"), "RNNCell", "nonlinearity")
        super().__init__(input_size, hidden_size, has_bias, dtype)
        self.nonlinearity = nonlinearity


@explained_by(_OneStep)
class LSTMCell(_OneStep):
    """One step of ``LSTM``; the state is a pair (h, c)."""

    _kind = "lstm"

    def construct(  # type: ignore[override]  # its state is a pair
        self, x: Tensor, hx: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Return the state after the step.

        Args:
            x: the input (N, input_size), floating.
            hx: the previous state: a tuple of two Tensors (N, H), hidden and cell.

        Returns:
            The pair (h, c) of Tensors (N, H).

        Raises:
            TypeError: ``x`` is not a Tensor, or ``hx`` is not a pair of them.
            ValueError: a shape that does not fit.
        """
        if not isinstance(hx, tuple) or len(hx) != 2:
            raise TypeError(f"For 'LSTMCell', 'hx' must be a tuple of two Tensors, but got {type(hx).__name__}")
        return self._step(x, hx[0], hx[1])


@explained_by(_OneStep)
class GRUCell(_OneStep):
    """One step of ``GRU``."""

    _kind = "gru"
