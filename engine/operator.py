"""Operators: the one table, and how an entry of it is called.

An ``Operator`` is its forward on arrays (the kernel), its vjp rule and its name. ``ops.add``, ``ops.Add()`` and
``Tensor.add`` all come down to calling the one entry.

A vjp rule is written once, as ``rule(F, g, out, *inputs, **attrs)``, where ``F`` holds every operator of the table by
name. In a first-order gradient ``F`` works on arrays, and ``g``, ``out`` and ``inputs`` are arrays; for a higher order
they are tensors and ``F`` records. Python's own operators work on both, so most rules are one line of arithmetic.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import backend, taps
from .recording import Array, record, state
from .silence import restore, silence
from .tensor import Tensor

__all__ = ["ARRAY_FUNCTIONS", "OPERATORS", "TENSOR_FUNCTIONS", "Operator", "backward_functions"]

OPERATORS: dict[str, Operator] = {}
"""The table: every operator by its name."""

Rule = Callable[..., Any]


class Operator:
    """One entry of the table; calling it runs it on tensors and records it where a recording is open.

    Args:
        name: the key in the table, the name in error messages and in the debugger.
        kernel: the forward on arrays; a NumPy function stands for CuPy's of the same name too.
        vjps: for each input the rule that gives its gradient, or None where there is none.
        joint_vjp: instead of ``vjps``, one rule ``rule(F, needs, g, out, *inputs, **attrs)`` for all inputs together
            (``needs[i]`` tells whether input i's gradient is wanted), for operators whose gradients share work or that
            take any number of inputs.
    """

    runs_without_gradient = False

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        vjps: tuple[Rule | None, ...] = (),
        joint_vjp: Rule | None = None,
        doc: str | None = None,
    ) -> None:
        if name in OPERATORS:
            raise ValueError(f"the operator table has an entry '{name}' already")
        self.name = self.__name__ = name
        self.kernel = kernel
        self.vjps = vjps
        self.joint_vjp = joint_vjp
        self.__doc__ = doc or kernel.__doc__
        OPERATORS[name] = self

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        return self._run(operands, tuple([x._array if isinstance(x, Tensor) else x for x in operands]), attrs)

    def _run(self, operands: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """The forward on tensors, whose arrays are ``inputs``."""
        output = self._compute(inputs, attrs)
        if state.recordings and (self.vjps or self.joint_vjp):
            # A kernel may hand back an input itself; a value that the tape follows needs an identity of its own.
            output = _apart(output, inputs)
            record(self, inputs, output, attrs)
        if type(output) is tuple:
            result: Any = tuple([Tensor._wrap(array) for array in output])
        else:
            result = Tensor._wrap(output)
        if taps.operator_taps:
            taps.operator_ran(self.name, operands, result, attrs)
        return result

    def on_arrays(self, *inputs: Any, **attrs: Any) -> Any:
        """The forward on arrays, where the first of them lives; results are arrays also where NumPy gives scalars."""
        return self._compute(inputs, attrs)

    def _compute(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        # On the path of every operator, so the arguments come as they are, not packed anew.
        kernel = self.kernel if type(inputs[0]) is np.ndarray else backend.kernel_for(self, inputs, attrs)
        before = silence()
        try:
            output = kernel(*inputs, **attrs)
        except (ValueError, TypeError, IndexError) as error:
            raise _explained(self, error, inputs) from error
        finally:
            restore(before)
        if type(output) is np.ndarray:
            return output
        if type(output) is tuple:
            return tuple([np.asarray(x) if isinstance(x, np.generic) else x for x in output])
        return np.asarray(output) if isinstance(output, np.generic) else output

    def backward(
        self,
        functions: Any,
        tracked: set[int],
        g: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> Iterable[tuple[Array, Any]]:
        """The gradients for the inputs that ``tracked`` follows."""
        arguments: Any = inputs
        if functions.wraps:
            arguments = [_wrapped(x) for x in inputs]
            output = tuple([Tensor._wrap(x) for x in output]) if type(output) is tuple else Tensor._wrap(output)
        pairs = []
        before = silence()
        try:
            if self.joint_vjp is not None:
                needs = [id(x) in tracked for x in inputs]
                found = self.joint_vjp(functions, needs, g, output, *arguments, **attrs)
                for x, gx, needed in zip(inputs, found, needs, strict=True):
                    if needed and gx is not None:
                        pairs.append((x, _fitted(gx, x, functions)))
            else:
                for x, rule in zip(inputs, self.vjps, strict=False):
                    if rule is not None and id(x) in tracked:
                        gx = rule(functions, g, output, *arguments, **attrs)
                        pairs.append((x, _fitted(gx, x, functions)))
        finally:
            restore(before)
        if taps.operator_taps:
            taps.operator_went_back(self.name, g, [gx for _, gx in pairs], attrs)
        return pairs


def _fitted(gradient: Any, array: Array, functions: Any) -> Any:
    """A gradient as an array (or a tensor) in the element type of the array it belongs to.

    A rule may compute wider: NumPy widens bfloat16, which is not its own, beside a Python number, and statistics of
    half precision are kept in single. And Python's operators make NumPy's scalars of arrays without axes.
    """
    if functions.wraps:
        dtype = gradient._array.dtype
    else:
        if isinstance(gradient, np.generic):
            gradient = np.asarray(gradient)
        dtype = gradient.dtype
    return gradient if dtype == array.dtype else functions.cast(gradient, dtype=array.dtype)


def _wrapped(value: Any) -> Any:
    return Tensor._wrap(value) if backend.is_array(value) else value


def _apart(output: Any, inputs: tuple[Any, ...]) -> Any:
    if type(output) is tuple:
        return tuple([_apart(array, inputs) for array in output])
    for x in inputs:
        if x is output:
            return output.view()
    return output


def _explained(operator: Operator, error: Exception, inputs: tuple[Any, ...]) -> Exception:
    """The kernel's error, told in the operator's terms: which one, on what shapes and dtypes."""
    described = ", ".join(
        f"{x.dtype}{list(x.shape)}" if backend.is_array(x) else repr(x) for x in inputs if x is not None
    )
    kind = ValueError if isinstance(error, ValueError | IndexError) else TypeError
    if isinstance(error, IndexError):
        kind = IndexError  # type: ignore[assignment]
    return kind(f"For '{operator.name}', the inputs ({described}) do not fit: {error}")


class _Functions:
    """The operators by name, as vjp rules see them."""

    wraps: bool

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            operator = OPERATORS[name]
        except KeyError:
            raise AttributeError(f"the operator table has no entry '{name}'") from None
        function = operator if self.wraps else operator.on_arrays
        setattr(self, name, function)
        return function


class _ArrayFunctions(_Functions):
    wraps = False


class _TensorFunctions(_Functions):
    wraps = True


ARRAY_FUNCTIONS = _ArrayFunctions()
TENSOR_FUNCTIONS = _TensorFunctions()


def backward_functions() -> _Functions:
    """What a walk back computes with now: tensors while an outer recording is open, bare arrays otherwise."""
    return TENSOR_FUNCTIONS if state.recordings else ARRAY_FUNCTIONS
