"""A cell with its own ``bprop``: ``construct`` runs unrecorded as one node, and the backward pass calls ``bprop``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.grad import differentiate, gradient_or_zeros, summed_to
from ..base.file_labels import warn_user
from ..base.types import Array
from ..ops.shapes.conversion import cast
from ..tape import taps
from ..tape.hooks import add_note_once, hooks_off
from ..tape.tape import Differentiable, no_recording, record, state
from ..tensors.nested import Sparse, gradients_like, replaced, tensors_in
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from ..tensors.views import WrittenTensors, detached_copies, outputs_of_node, record_roots
from .snapshots import Snapshot

if TYPE_CHECKING:
    from .cell import Cell

__all__ = ["call_with_bprop", "described"]

_TOLERANCE = 1e-3


def described(cell: Cell) -> str:
    """Return a cell's text for messages: its path and class.

    Args:
        cell: the cell.
    """
    return f"cell '{cell._path}' ({type(cell).__name__})" if cell._path else f"cell '{type(cell).__name__}'"


def call_with_bprop(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``construct`` unrecorded and append one node to the tape, whose backward calls ``bprop``.

    Args:
        cell: a cell with a ``bprop``.
        args: the positional inputs.
        kwargs: the keyword inputs; they come last in the arguments of ``bprop``, as in MindSpore.

    Returns:
        The result of ``construct``.

    Raises:
        TypeError: an entry of ``internal_params`` is not a Parameter.
    """
    if not state.recordings:
        return cell.construct(*args, **kwargs)
    try:
        arguments = _positional(cell, args, kwargs)
    except TypeError:
        cell.construct(*args, **kwargs)  # raises the error about its arguments
        raise
    weights = _internal_params(cell, len(arguments))
    snapshot = Snapshot((cell, arguments)) if cell.bprop_debug else None
    operands = [*tensors_in(arguments), *weights]
    # Before construct, which may write to them.
    inputs, written = tuple([t._array for t in operands]), WrittenTensors(operands)
    with no_recording():
        output = cell.construct(*args, **kwargs)
    written.record_renames()
    returned = tensors_in(output)
    tensors, roots = outputs_of_node(returned, [t._array.view() for t in returned], operands)
    if not tensors:
        return output
    # The bprop has separate tensors: the results of construct, whatever a hook writes into the others.
    bprop_output = replaced(output, detached_copies(tensors))
    node = _CustomBprop(cell, arguments, weights, bprop_output, snapshot)
    record(node, inputs, tuple([t._array for t in tensors]), {})
    record_roots(roots)
    return replaced(output, list(tensors))


def _positional(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return all arguments of ``construct`` in order: defaults and keyword arguments last, as in MindSpore."""
    bound = inspect.signature(cell.construct).bind(*args, **kwargs)
    bound.apply_defaults()
    return (*bound.args, *bound.kwargs.values())


def _internal_params(cell: Cell, count: int) -> list[Parameter]:
    entries = cell.__dict__.get("internal_params", getattr(type(cell), "internal_params", None)) or []
    for index, entry in enumerate(entries):
        if not isinstance(entry, Parameter):
            raise TypeError(
                f"'internal_params' of {described(cell)} must list Parameters, "
                f"but entry {index} is {type(entry).__name__}; {_signature(cell, count)} returns "
                "(gradients of the inputs, {parameter: gradient})"
            )
    return list(entries)


class _CustomBprop(Differentiable):
    """The node: calls the user's ``bprop`` and checks its result."""

    name = "bprop"

    def __init__(
        self, cell: Cell, arguments: tuple[Any, ...], weights: list[Parameter], output: Any, snapshot: Snapshot | None
    ) -> None:
        self.cell = cell
        self.snapshot = snapshot
        self.arguments = arguments
        self.weights = weights
        self.output = output

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...], attrs: Any
    ) -> list[tuple[Array, Any]]:
        """Return gradients for the followed inputs and listed weights."""
        output_gradients = [gradient_or_zeros(g, array) for g, array in zip(gradient, output, strict=True)]
        # As in MindSpore, a list of outputs is passed as a tuple.
        out = tuple(self.output) if isinstance(self.output, list) else self.output
        dout = gradients_like(out, output_gradients)
        returned = self._call_bprop((*self.arguments, out, dout))
        of_inputs, of_weights = self._split(returned)
        gradients: list[Any] = []
        for index, (argument, slot) in enumerate(zip(self.arguments, of_inputs, strict=False)):
            gradients += self._fitted(argument, slot, f"gradient {index}")
        for weight in self.weights:
            gradients += self._fitted(weight, of_weights[weight], f"the gradient of '{weight.name}'")
        pairs = [
            (array, g) for array, g in zip(inputs, gradients, strict=True) if g is not None and id(array) in tracked
        ]
        if self.snapshot is not None and not functions.wraps:
            current = Snapshot((self.cell, self.arguments))
            self.snapshot.restore()  # the same parameters, buffers and random numbers as in the call that is compared
            try:
                self._compare({id(array): g for array, g in pairs}, dout)
            finally:
                current.restore()
        return [(array, g if functions.wraps else g._array) for array, g in pairs]

    def _call_bprop(self, bprop_args: tuple[Any, ...]) -> Any:
        """Run the user's function; add the cell and the expected signature to an error."""
        try:
            return taps.run_bprop(self.cell, self.cell.bprop, bprop_args)
        except Exception as error:
            expected = _signature(self.cell, len(self.arguments))
            if isinstance(error, TypeError) and not _takes(self.cell.bprop, bprop_args):
                raise TypeError(
                    f"the bprop of {described(self.cell)} must take {len(bprop_args)} arguments, as {expected}, "
                    f"but is bprop{inspect.signature(getattr(self.cell.bprop, '__func__', self.cell.bprop))}"
                ) from None
            add_note_once(error, f"raised by the bprop of {described(self.cell)}, which is called as {expected}")
            raise

    def _compare(self, returned: dict[int, Tensor], dout: Any) -> None:
        """Warn if the result of ``bprop`` is not the automatic gradient of ``construct``."""
        if state.tracer is not None:
            state.tracer.leak("bprop_debug compares the numbers of gradients, and a plan would not")
        arguments = [t for t in tensors_in(self.arguments) if t._array.dtype.kind in "fcV"]
        tensors = [*arguments, *self.weights]
        arrays = [t._array for t in tensors]

        def construct(*values: Tensor) -> Any:
            remaining = iter(values)
            operands = [next(remaining) if t._array.dtype.kind in "fcV" else t for t in tensors_in(self.arguments)]
            return self.cell.construct(*replaced(self.arguments, operands))

        with hooks_off():
            _, gradients, of_weights = differentiate(
                construct, tuple(arguments), {}, range(len(arguments)), self.weights, sens=dout, name="bprop_debug"
            )
        for tensor, array, expected in zip(tensors, arrays, [*gradients, *of_weights], strict=True):
            gradient = returned.get(id(array))
            if gradient is None:
                continue
            exact, actual = expected.asnumpy(), gradient.asnumpy()
            difference = np.abs(exact.astype(np.complex128) - actual.astype(np.complex128))
            if difference.size and difference.max() > _TOLERANCE * max(1.0, float(np.abs(exact).max())):
                description = (
                    f"'{tensor.name}'" if isinstance(tensor, Parameter) else f"an input of shape {tensor.shape}"
                )
                warn_user(
                    f"the bprop of {described(self.cell)} differs from the automatic gradient of construct with "
                    f"respect to {description}: largest difference {difference.max():.6g}"
                )

    def _split(self, returned: Any) -> tuple[list[Any], dict[Parameter, Any]]:
        """Return the gradients of the inputs, and by parameter those of the weights."""
        subject = f"the bprop of {described(self.cell)}"
        if returned is None:
            raise TypeError(f"{subject} must return a gradient for each input, but returned None")
        of_weights: dict[Parameter, Any] = {}
        if self.weights:
            if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict)):
                return self._split_flat(returned, subject)
            returned, weight_gradients = returned
            for weight in self.weights:
                if weight not in weight_gradients and weight.name not in weight_gradients:
                    raise RuntimeError(
                        f"{subject} returned no gradient for '{weight.name}', which 'internal_params' lists"
                    )
                of_weights[weight] = weight_gradients[weight if weight in weight_gradients else weight.name]
        elif isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], dict):
            # Without internal_params MindSpore uses the tuple and ignores the dictionary.
            returned = returned[0]
        if isinstance(returned, dict):
            raise TypeError(f"{subject} must return gradients of the inputs, but returned a dict")
        of_inputs = list(returned) if isinstance(returned, tuple | list) else [returned]
        of_inputs = self._grouped(of_inputs)
        if len(of_inputs) < len(self.arguments):
            raise RuntimeError(
                f"{subject} returned {len(of_inputs)} gradients for {len(self.arguments)} inputs; "
                "return one for each input of construct, None where there is none"
            )
        _warn_of_more(subject, len(of_inputs), len(self.arguments))
        return of_inputs, of_weights

    def _grouped(self, flat: list[Any]) -> list[Any]:
        """Return gradients with those of each tuple together, if they came as a flat sequence."""
        counts = [len(a) if isinstance(a, tuple | list) else 1 for a in self.arguments]
        if len(flat) == len(counts) or len(flat) != sum(counts) or any(isinstance(g, tuple | list) for g in flat):
            return flat
        remaining = iter(flat)
        return [
            [next(remaining) for _ in range(count)] if isinstance(a, tuple | list) else next(remaining)
            for a, count in zip(self.arguments, counts, strict=True)
        ]

    def _split_flat(self, returned: Any, subject: str) -> tuple[list[Any], dict[Parameter, Any]]:
        """Return the same for a flat sequence: gradients of the inputs and then those of the weights."""
        flat = list(returned) if isinstance(returned, tuple | list) else [returned]
        count, more = len(self.arguments), len(self.weights)
        if len(flat) < count + more:
            raise RuntimeError(
                f"{subject} must return (gradients of the inputs, {{parameter: gradient}}), because 'internal_params' "
                f"is set, or all {count} + {more} gradients one after another, but returned {len(flat)}"
            )
        _warn_of_more(subject, len(flat), count + more)
        return flat[:count], dict(zip(self.weights, flat[count:], strict=False))

    def _fitted(self, argument: Any, gradient: Any, description: str) -> list[Tensor | None]:
        """Return the gradient(s) for one argument, in its dtype; none for an argument that is not a tensor."""
        if isinstance(argument, tuple | list):
            if gradient is None or not tensors_in(argument):
                return [None] * len(tensors_in(argument))
            slots = gradient if isinstance(gradient, tuple | list) else [gradient]
            if len(slots) != len(argument):
                raise RuntimeError(
                    f"the bprop of {described(self.cell)} returned {description} with {len(slots)} entries, "
                    f"but the input has {len(argument)}"
                )
            return [g for a, s in zip(argument, slots, strict=True) for g in self._fitted(a, s, description)]
        if isinstance(argument, dict):
            by_key = gradient if isinstance(gradient, dict) else {}
            return [g for key, a in argument.items() for g in self._fitted(a, by_key.get(key), description)]
        if isinstance(argument, Sparse):
            argument = argument.values
            gradient = gradient.values if isinstance(gradient, Sparse) else gradient
        if not isinstance(argument, Tensor):
            return []
        if gradient is None:
            return [None]
        fitted = gradient if isinstance(gradient, Tensor) else _number(gradient, self.cell, description)
        fitted = summed_to(fitted, argument.shape)
        if fitted.shape != argument.shape:
            raise RuntimeError(
                f"the bprop of {described(self.cell)} returned {description} of shape {fitted.shape}, "
                f"but the input has shape {argument.shape}"
            )
        if fitted._array.dtype != argument._array.dtype:
            fitted = cast(fitted, argument.dtype)
        return [fitted]


def _signature(cell: Cell, count: int) -> str:
    """Return the expected signature of a cell's ``bprop``, by the names of the inputs of ``construct``."""
    parameters = inspect.signature(cell.construct).parameters.values()
    names = [
        parameter.name
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    names = names if len(names) == count else [f"input_{index}" for index in range(count)]
    return f"bprop({', '.join(('self', *names, 'out', 'dout'))})"


def _takes(bprop: Any, bprop_args: tuple[Any, ...]) -> bool:
    """Return whether a function can be called with these arguments."""
    try:
        inspect.signature(bprop).bind(*bprop_args)
    except TypeError:
        return False
    except ValueError:  # a built-in without a signature
        return True
    return True


def _warn_of_more(subject: str, returned_count: int, count: int) -> None:
    if returned_count > count:
        inputs = "1 input" if count == 1 else f"{count} inputs"
        warn_user(
            f"{subject} returned {returned_count} gradients for {inputs}: the first {count} count, as in MindSpore"
        )


def _number(gradient: Any, cell: Cell, description: str) -> Tensor:
    if not isinstance(gradient, int | float) or isinstance(gradient, bool):
        raise TypeError(
            f"the bprop of {described(cell)} returned {description} as {type(gradient).__name__}; "
            "it must be a Tensor or None"
        )
    return Tensor(gradient)
