"""Lineage of arrays within a gradient call: the weights, the random draws and the data that their values come from.

Origins are kept by the identity of arrays, which are immutable, and combined at each operator. What the gradient
reaches is read from the recording itself. Parameters and draws are bits of an integer, so that a union is one
operation.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hookscope.engine.tensors.backend import to_host
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor

from ....record.array_table import ByArray

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["DATA", "EXPANDED", "NEGATED", "Lineage", "Origin", "sample"]

DATA, NEGATED, EXPANDED, _MOVED, _LEAF = 1, 2, 4, 8, 16
"""Flags of an origin: data came in; weights came in below a minus; an axis of length 1 was added at the end of a vector
and not used up since; random numbers were mixed or put into another order; an input came in whose gradient is requested
too."""

_UNKNOWN = -1  # all bits: an array was made where no operator is observed, from something that the gradient reaches

DRAW = "random_numbers"
"""The name under which a draw of random numbers is observed."""

# Operators that leave each random number where it is.
_IN_ORDER = frozenset(
    ("add", "sub", "mul", "div", "neg", "cast", "reshape", "stop_gradient", "identity", "sqrt", "square", "where")
)
_SAMPLE = 8


class Origin(NamedTuple):
    """Sources of the values of an array.

    Attributes:
        weights: bits of the requested parameters that the gradient reaches through the array.
        parameters: bits of all parameters that the values depend on.
        draws: bits of the random draws that the values depend on.
        flags: see ``DATA``.
        modes: bits of the cells in training mode, such as dropouts, that the values passed.
        signature: a hash of the computation: equal for two arrays that the same operators made of the same arrays.
        stopped: bits of the parameters that came in through a ``stop_gradient``.
    """

    weights: int = 0
    parameters: int = 0
    draws: int = 0
    flags: int = 0
    modes: int = 0
    signature: int = 0
    stopped: int = 0


class Lineage:
    """Origins of the arrays of one gradient call after another.

    Attributes:
        parameters: the parameters so far in this gradient call, by the number of their bit; the requested ones first.
        requested: the bits of the requested parameters.
        modes: the paths and classes of cells in training mode, by the number of their bit.
    """

    def __init__(self) -> None:
        self.parameters: list[weakref.ref[Parameter]] = []
        self.requested = 0
        self.modes: list[tuple[str, str]] = []
        self._origins: ByArray[Origin] = ByArray()
        # Outputs of networks before the gradient call, with their cells in training mode.
        self._outside: ByArray[tuple[weakref.ref[Cell], tuple[tuple[str, str], ...]]] = ByArray()
        self._leaves: Sequence[Any] = ()
        self._indices: dict[int, int] = {}  # by the id of a parameter
        self._draws: dict[tuple[Any, ...], int] = {}  # bits by shape and first numbers
        self._inputs: list[weakref.ref[Any]] = []
        self._lookups: dict[int, list[weakref.ref[Any]]] = {}  # by the number of elements

    def begin(self, weights: Sequence[Parameter]) -> None:
        """Begin a gradient call for these weights; ``enter`` follows with what is recorded."""
        self.end()
        for parameter in weights:
            self._put_parameter(parameter)
        self.requested = (1 << len(self.parameters)) - 1

    def enter(self, leaves: Sequence[Any]) -> None:
        """Note the arrays whose gradients are requested: inputs, and after them the weights."""
        self._leaves = leaves

    def end(self) -> None:
        """Discard the arrays of the gradient call."""
        self.parameters, self._indices, self._draws, self._inputs, self._lookups = [], {}, {}, [], {}
        self.requested, self.modes, self._leaves = 0, [], ()
        self._origins = ByArray()

    def known(self, array: Any) -> Origin | None:
        """Return the origin of an array that was observed in this gradient call."""
        return self._origins.get(array)

    def of(self, value: Tensor, tracked: set[int]) -> Origin:
        """Return the origin of a tensor.

        Args:
            value: the tensor.
            tracked: ids of the arrays that the gradient reaches.
        """
        array = value._array
        origin = self._origins.get(array)
        if origin is None:
            return self._new(value, array, tracked)
        if origin.weights and id(array) not in tracked:  # a view of a value, without its gradient
            return origin._replace(weights=0)
        return origin

    def follow(
        self, name: str, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any], tracked: set[int]
    ) -> None:
        """Note the result of an operator."""
        if name == DRAW:
            self._put_draw(outputs)
            return
        weights = parameters = draws = flags = modes = stopped = count = 0
        signatures: list[Any] = [name]
        get = self._origins.get
        for value in inputs:
            if isinstance(value, Tensor):
                count += 1
                tensors: Sequence[Any] = (value,)
            elif isinstance(value, tuple | list):
                tensors = [item for item in value if isinstance(item, Tensor)]
            else:
                if type(value) in (int, float, bool):
                    signatures.append(value)
                continue
            for tensor in tensors:
                array = tensor._array
                origin = get(array)
                if origin is None:
                    origin = self._new(tensor, array, tracked)
                # Written out, since every operator comes here.
                reached, of_parameters, of_draws, of_flags, of_modes, signature, of_stopped = origin
                if reached and id(array) in tracked:
                    weights |= reached
                    if count == 2 and name == "sub":
                        flags |= NEGATED
                parameters |= of_parameters
                draws |= of_draws
                flags |= of_flags
                modes |= of_modes
                stopped |= of_stopped
                signatures.append(signature)
        if name == "neg" and weights:
            flags |= NEGATED
        elif name == "stop_gradient":
            stopped = parameters
        if draws and name not in _IN_ORDER:
            flags |= _MOVED
        if attrs:
            signatures.append(_hash_of(attrs))
            if name == "getitem":
                # Indices that weights chose, as by an argmin: the values depend on these, without a gradient.
                index = attrs["index"]
                for part in index if isinstance(index, tuple) else (index,):
                    if getattr(part, "ndim", 0):
                        chosen = get(part)
                        if chosen is not None:
                            parameters |= chosen.parameters
                        elif part.dtype.kind in "iu" and isinstance(inputs[0], Parameter):
                            self._lookups.setdefault(part.size, []).append(weakref.ref(part))
        if isinstance(outputs, Tensor):
            array = outputs._array
            flags = _expanded(flags, inputs, array) if array.ndim == 2 and array.shape[1] == 1 else flags & ~EXPANDED
            is_tracked = id(array) in tracked
            if is_tracked and not weights and not flags & _LEAF:
                self._origins.put(array, _unknown(array))
                return
            reached = weights if is_tracked else 0
            self._origins.put(array, Origin(reached, parameters, draws, flags, modes, hash(tuple(signatures)), stopped))
        elif isinstance(outputs, tuple | list):
            for index, output in enumerate(outputs):
                if isinstance(output, Tensor):
                    array = output._array
                    is_tracked = id(array) in tracked
                    if is_tracked and not weights and not flags & _LEAF:
                        self._origins.put(array, _unknown(array))
                        continue
                    reached = weights if is_tracked else 0
                    signature = hash((index, *signatures))
                    origin = Origin(reached, parameters, draws, flags & ~EXPANDED, modes, signature, stopped)
                    self._origins.put(array, origin)

    def add_mode(self, array: Any, path: str, name: str) -> None:
        """Note that a cell in training mode made an array."""
        origin = self._origins.get(array)
        if origin is not None:
            self._origins.put(array, origin._replace(modes=origin.modes | self._bits_of([(path, name)])))

    def put_outside(self, array: Any, cell: Cell, modes: tuple[tuple[str, str], ...]) -> None:
        """Note the output of a network outside of gradient calls, and its cells in training mode."""
        self._outside.put(array, (weakref.ref(cell), modes))

    def modes_in(self, bits: int) -> list[tuple[str, str]]:
        """Return the paths and classes of the cells of these bits."""
        return [self.modes[index] for index in _indices_of(bits)]

    def inputs(self) -> list[Any]:
        """Return the arrays that came into this gradient call and still exist: data of any kind."""
        arrays = [reference() for reference in self._inputs]
        return [array for array in arrays if array is not None]

    def lookup(self, size: int) -> Any | None:
        """Return the integers, so many and made by no operator, by which rows of weights were looked up.

        None if there were none in this gradient call, or if there were several, as those of single steps of a sequence.
        """
        references = self._lookups.get(size, ())
        return references[0]() if len(references) == 1 else None

    def index_of(self, parameter: Parameter) -> int:
        """Return the number of the bit of a parameter that is known."""
        return self._indices[id(parameter)]

    def parameters_in(self, bits: int) -> list[Parameter]:
        """Return the parameters of these bits."""
        parameters = [self.parameters[index]() for index in _indices_of(bits)]
        return [parameter for parameter in parameters if parameter is not None]

    def _new(self, value: Tensor, array: Any, tracked: set[int]) -> Origin:
        if isinstance(value, Parameter):
            return self._put_parameter(value)
        if id(array) in tracked and array.dtype.kind in "fVc":
            is_input = any(leaf is array for leaf in self._leaves)
            origin = Origin(flags=DATA | _LEAF, signature=id(array)) if is_input else _unknown(array)
        elif (outside := self._outside.get(array)) is not None and (cell := outside[0]()) is not None:
            origin = self._from_outside(cell, outside[1], array)
        else:
            origin = Origin(flags=DATA if array.size > 1 else 0, signature=_signature(array))
            if array.size > 1:
                self._inputs.append(weakref.ref(array))
        self._origins.put(array, origin)
        return origin

    def _from_outside(self, cell: Cell, modes: tuple[tuple[str, str], ...], array: Any) -> Origin:
        """Return the origin of an output that a network gave before the gradient call."""
        parameters = 0
        for parameter in cell.get_parameters():
            parameters |= self._put_parameter(parameter).parameters
        return Origin(0, parameters, 0, DATA, self._bits_of(modes), id(array))

    def _bits_of(self, modes: Iterable[tuple[str, str]]) -> int:
        bits = 0
        for mode in modes:
            if mode not in self.modes:
                self.modes.append(mode)
            bits |= 1 << self.modes.index(mode)
        return bits

    def _put_parameter(self, parameter: Parameter) -> Origin:
        index = self._indices.setdefault(id(parameter), len(self.parameters))
        if index == len(self.parameters):
            self.parameters.append(weakref.ref(parameter))
        bit = 1 << index
        weights = bit if not self.requested or bit & self.requested else 0
        origin = Origin(weights, bit, signature=hash(("parameter", id(parameter), id(parameter._array))))
        self._origins.put(parameter._array, origin)
        return origin

    def _put_draw(self, drawn: Any) -> None:
        if not isinstance(drawn, Tensor) or not drawn._array.size:
            return
        array = drawn._array
        # Two draws of the same numbers, as from one seed, are one.
        key = (array.shape, *to_host(array.reshape(-1)[:_SAMPLE]).tolist())
        bit = self._draws.setdefault(key, 1 << len(self._draws))
        self._origins.put(array, Origin(draws=bit, signature=id(array)))


def _unknown(array: Any) -> Origin:
    return Origin(_UNKNOWN, _UNKNOWN, _UNKNOWN, DATA, _UNKNOWN, id(array), _UNKNOWN)


def _expanded(flags: int, inputs: tuple[Any, ...], column: Any) -> int:
    """Return the flags of a column as to ``EXPANDED``: whether it was made of a vector."""
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    if len(tensors) == 1 and tensors[0]._array.shape == column.shape[:1]:
        return flags | EXPANDED
    return flags & ~EXPANDED if any(isinstance(tensor, Parameter) for tensor in tensors) else flags


def _signature(array: Any) -> int:
    """Return a hash of some numbers, so that data that is made twice, as one-hot rows, counts as the same."""
    return hash((array.shape, array.dtype.char, to_host(array.reshape(-1)[:_SAMPLE]).tobytes()))


def _hash_of(attrs: dict[str, Any]) -> int:
    values = tuple(attrs.items())
    try:
        return hash(values)
    except TypeError:  # lists, arrays, and slices before Python 3.12
        return hash(repr(values))


def _indices_of(bits: int) -> Iterable[int]:
    """Yield the numbers of the bits that are set, the lowest first."""
    while bits > 0:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def sample(array: Any, most: int = 4096) -> Any:
    """Return some elements of an array of numbers, whole rows along axis 0, as a matrix in float64 on the host."""
    rows = array.reshape(len(array), -1) if array.ndim > 1 else array.reshape(-1, 1)
    width = min(rows.shape[1], max(most // 64, 1))
    count = max(most // width, 1)
    part = rows[:: max(-(-len(rows) // count), 1), :: max(-(-rows.shape[1] // width), 1)]
    with np.errstate(all="ignore"):
        return to_host(part).astype(np.float64)
