"""One call of a cell for ``check_gradient``: its gradients, and its slopes by finite differences.

The call runs on an isolated copy (``isolated.py``). Gradients are those of the sum of ``sens * output``, as arrays of
real numbers with one axis. A complex element takes two of these numbers, its real and its imaginary part, since its
gradient is dx + i dy.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hookscope.engine.autograd.grad import differentiate
from hookscope.engine.tape.tape import Recording
from hookscope.engine.tensors.nested import replaced, tensors_in
from hookscope.engine.tensors.tensor import Tensor

from ..record.capture import pick_slot
from .finite_differences import Slope, slope_along
from .gradient_rows import GradientRow
from .isolated import EPSILON, IsolatedCell, widened

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["DifferentiatedCall", "Leaf", "Reals"]

Reals = npt.NDArray[np.float64]


@dataclass(eq=False)
class Leaf:
    """One value to differentiate with respect to; ``array`` is its value, on the host."""

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    array: npt.NDArray[Any]
    index: int = -1  # among the tensors in the inputs
    parameter: Parameter | None = None

    @property
    def width(self) -> int:
        """The number of real numbers in an element."""
        return 2 if self.array.dtype.kind == "c" else 1

    def numbers(self) -> npt.NDArray[Any]:
        """Return the array as flat real numbers."""
        return _real(self.array)


class DifferentiatedCall:
    """Differentiated call, see the module's docstring.

    Args:
        cell, inputs: the call.
        sens: the output gradients; random ones for None.
        wrt: "inputs", "parameters" or "all".
        random: the source of random numbers.
        wide: whether to compute in float64.

    Attributes:
        leaves: the values to differentiate with respect to.
        input_arrays: the arrays of all tensors in the inputs, by name.
        outputs: the tensors in the output.
        sens: the output gradients, one for each output.
        skipped: rows of the other values.
        finite: whether the output is finite.
    """

    def __init__(
        self, cell: Cell, inputs: tuple[Any, ...], sens: Any, wrt: str, random: np.random.Generator, wide: bool
    ) -> None:
        self.copy = IsolatedCell(cell, wide)
        self.inputs = inputs
        arrays = [tensor._array.copy() for tensor in tensors_in(inputs)]  # the result of asnumpy() may be written to
        self.values = [Tensor._wrap(widened(array) if wide else array) for array in arrays]
        self.skipped: list[GradientRow] = []
        self.leaves: list[Leaf] = []
        names = [name for name, value in _named_inputs(self.copy.cell, inputs) if isinstance(value, Tensor)]
        self.input_arrays = list(zip(names, [value.asnumpy() for value in self.values], strict=False))
        if wrt != "parameters":
            self.leaves += self._input_leaves()
        if wrt != "inputs":
            self.leaves += self._parameter_leaves(cell)
        with self.copy.run() as copied:
            self.outputs = [tensor.asnumpy() for tensor in tensors_in(copied(*self._arguments(self.values)))]
        self.finite = all(bool(np.isfinite(array.astype(complex)).all()) for array in self.outputs)
        self.sens = self._checked_sens(sens, random)

    def _input_leaves(self) -> Iterator[Leaf]:
        index = -1
        for name, value in _named_inputs(self.copy.cell, self.inputs):
            if not isinstance(value, Tensor):
                self._skip(name, "input", (), type(value).__name__, "no tensor")
                continue
            index += 1
            shape, dtype = tuple(value.shape), value._array.dtype.name
            if dtype in EPSILON:
                yield Leaf(name, "input", shape, dtype, self.values[index].asnumpy(), index)
            else:
                self._skip(name, "input", shape, dtype, "no floating numbers")

    def _parameter_leaves(self, cell: Cell) -> Iterator[Leaf]:
        for (name, original), (_, parameter) in zip(cell.parameters_and_names(), self.copy.parameters(), strict=True):
            shape, dtype = tuple(original.shape), original._array.dtype.name
            if not original.requires_grad:
                self._skip(name, "parameter", shape, dtype, "requires_grad is off")
            elif dtype not in EPSILON:
                self._skip(name, "parameter", shape, dtype, "no floating numbers")
            else:
                yield Leaf(name, "parameter", shape, dtype, parameter.asnumpy(), parameter=parameter)

    def _skip(self, name: str, kind: str, shape: tuple[int, ...], dtype: str, reason: str) -> None:
        self.skipped.append(GradientRow(name, kind, shape, dtype, "skipped", reason))

    def _checked_sens(self, sens: Any, random: np.random.Generator) -> list[Tensor]:
        """Return the given output gradients, or random ones; raise ValueError unless they have the outputs' shapes."""
        if sens is None:
            return self.random_sens(random)
        tensors, shapes = tensors_in(sens), [output.shape for output in self.outputs]
        if [t.shape for t in tensors] != shapes:
            raise ValueError(
                f"check_gradient: sens must have the shapes of the outputs, {shapes}, got {[t.shape for t in tensors]}"
            )
        return [Tensor(t.asnumpy().astype(output.dtype)) for t, output in zip(tensors, self.outputs, strict=True)]

    def random_sens(self, random: np.random.Generator) -> list[Tensor]:
        """Return random gradients for the outputs; zeros for an output that is not floating-point."""
        gradients = []
        for output in self.outputs:
            numbers: Any = np.zeros(output.shape)
            if output.dtype.name in EPSILON:
                numbers = random.standard_normal(output.shape)
                if output.dtype.kind == "c":
                    numbers = numbers + 1j * random.standard_normal(output.shape)
            gradients.append(Tensor(np.asarray(numbers).astype(output.dtype)))
        return gradients

    def _arguments(self, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        return tuple(replaced(self.inputs, list(tensors)))

    def gradients(self, automatic: bool, sens: list[Tensor] | None = None) -> list[Reals]:
        """Return the gradients of the leaves, as flat real numbers; ``sens`` replaces the call's output gradients."""
        input_indices = [leaf.index for leaf in self.leaves if leaf.parameter is None]
        leaves = [self.values[index] for index in input_indices]
        weights = [leaf.parameter for leaf in self.leaves if leaf.parameter is not None]

        def function(*inputs: Tensor) -> Any:
            tensors = list(self.values)
            for index, tensor in zip(input_indices, inputs, strict=True):
                tensors[index] = tensor
            return cell(*self._arguments(tensors))

        with self.copy.run(automatic=True) as cell:
            # Record the dtypes in between; inside a bprop the copy records by itself.
            with Recording([value._array for value in [*leaves, *weights]]) as recording:
                function(*leaves)
            self.copy.note_precision(recording)
        with self.copy.run(automatic) as cell:
            _, input_gradients, weight_gradients = differentiate(
                function,
                tuple(leaves),
                {},
                range(len(leaves)),
                weights or None,
                sens=self.sens if sens is None else sens,
                name="check_gradient",
            )
        return [_real(value.asnumpy()).astype(np.float64) for value in [*input_gradients, *weight_gradients]]

    def slope(self, leaf: Leaf, along: Reals, claimed: float, step: float, allowed: float, epsilon: float) -> Slope:
        numbers = leaf.numbers()

        def value(distance: float) -> tuple[float, float]:
            moved = (numbers + distance * along).astype(numbers.dtype)
            return self._value(leaf, moved.view(leaf.array.dtype).reshape(leaf.array.shape))

        return slope_along(value, claimed, step, allowed, epsilon, np.count_nonzero(along) == 1)

    def _value(self, leaf: Leaf, array: npt.NDArray[Any]) -> tuple[float, float]:
        """Return the sum of ``sens * output`` with another array for a leaf, and the sum of its terms' magnitudes."""
        total = magnitude = 0.0
        with self.copy.run() as cell:
            tensors = list(self.values)
            if leaf.parameter is None:
                tensors[leaf.index] = Tensor(array)
            else:
                leaf.parameter._rebind(Tensor(array)._array)
            for output, sens in zip(tensors_in(cell(*self._arguments(tensors))), self.sens, strict=True):
                terms = (widened(sens.asnumpy()).conj() * output.asnumpy()).real
                total += float(terms.sum())
                magnitude += float(np.abs(terms).sum())
        return total, magnitude


def _real(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as flat real numbers, two for a complex one."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat


def _named_inputs(cell: Cell, inputs: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Yield each tensor in the inputs with construct's name for it, and inputs without tensors unchanged."""
    try:
        parameters = list(inspect.signature(cell.construct).parameters.values())
    except (TypeError, ValueError):  # a construct that is not a Python function
        parameters = []
    positional = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    names = [*positional, *(f"input {index}" for index in range(len(positional), len(inputs)))]
    for name, value in zip(names, inputs, strict=False):  # construct may have defaults
        slots = list(pick_slot(name, value, Tensor))
        yield from slots or [(name, value)]
