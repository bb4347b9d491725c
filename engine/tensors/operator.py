"""Operators: the table, and the call of an entry.

An ``Operator`` is its forward on arrays (the kernel), its vjp rule and its name. ``ops.add``, ``ops.Add()`` and
``Tensor.add`` all call the same entry.

A vjp rule is written once, as ``rule(F, g, out, *inputs, **attrs)``, where ``F`` has every operator of the table by
name. In a first-order gradient ``F`` works on arrays, and ``g``, ``out`` and ``inputs`` are arrays; for a higher order
they are tensors and ``F`` records. Python's own operators work on both, so most rules are one line of arithmetic.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from ..base.float_warnings import quietly, restore, silence
from ..base.module_names import copy_with_name
from ..base.surfaces import declare
from ..base.types import Array
from ..tape import taps
from ..tape.tape import LARGE, Differentiable, Recording, active_observers, record, resolve_placeholders, state
from . import backend, precision
from .nested import Sparse
from .tensor import Tensor

__all__ = [
    "ARRAY_FUNCTIONS",
    "NEGATED",
    "OPERATORS",
    "PASSED",
    "TENSOR_FUNCTIONS",
    "TIMES_OTHER",
    "Operator",
    "backward_functions",
]

OPERATORS: dict[str, Operator] = {}
"""The table: every operator by its name."""

Rule = Callable[..., Any]

PASSED, NEGATED, TIMES_OTHER = range(3)
"""Slopes of the basic operators by an operand: 1, -1 (for the second only) and the other operand."""

FLOAT32 = np.dtype(np.float32)
COMPLEX = (np.dtype(np.complex64), np.dtype(np.complex128))


class Operator(Differentiable):
    """An entry of the table; a call runs it on tensors and records it if a recording is open.

    Args:
        name: the key in the table, the name in error messages and in the debugger.
        kernel: the forward on arrays; a NumPy function also selects CuPy's of the same name.
        vjps: for each input its gradient rule, or None for an input without one.
        joint_vjp: instead of ``vjps``, one rule ``rule(F, needs, g, out, *inputs, **attrs)`` for all inputs together
            (``needs[i]`` is whether input i's gradient is needed), for operators whose gradients share work or that
            have any number of inputs.
        analytic: whether the rules multiply by a complex derivative. The gradient dL/dx + i dL/dy is a product with
            its conjugate, which is taken here; rules of other operators return that gradient themselves.
        placeholders: indices of inputs, and -1, -2, ... for outputs, of which the rules need only shape and dtype. The
            tape keeps placeholders of these if they are large.
        keeps_dtype: whether it only inspects or copies values, so that ``Cell.to_float`` casts nothing for it.
        shape_from_values: whether the shape of its result depends on more than shapes, dtypes and attributes.
        scalar: its formula for one element of each input, in the language of ``compile.loops.scalar_programs``; "" for
            operators whose elements depend on more than that.
        recompute: a function of the inputs, the other outputs and the attributes that recomputes the first output in
            about the time of a copy, or True for the kernel itself. Not needed with a ``scalar``.
    """

    hooks_from_last = False
    """Whether, of several leaves that it uses, the hook of the last is called first."""

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        vjps: tuple[Rule | None, ...] = (),
        joint_vjp: Rule | None = None,
        *,
        analytic: bool = True,
        keeps_dtype: bool = False,
        shape_from_values: bool = False,
        scalar: str = "",
        placeholders: tuple[int, ...] = (),
        recompute: Callable[..., Any] | bool = False,
    ) -> None:
        if name in OPERATORS:
            raise ValueError(f"the operator table has an entry '{name}' already")
        self.name = self.__name__ = name
        self.kernel = kernel
        if getattr(kernel, "__name__", "") == "<lambda>":
            kernel.__qualname__ = name
        self.vjps = vjps
        self.joint_vjp = joint_vjp
        self.analytic = analytic
        self.keeps_dtype = keeps_dtype
        self.shape_from_values = shape_from_values
        self.scalar = scalar
        self.placeholders = placeholders
        self.recompute = recompute
        self.__doc__ = self.documented(kernel.__doc__ or "")
        OPERATORS[name] = self
        kind: Any = type(self)
        if kind.__call__ is not Operator.__call__:  # then Python's error for wrong arguments names the operator
            body = {"__call__": copy_with_name(kind.__call__, name), "__module__": kind.__module__}
            self.__class__ = type(kind.__name__, (kind,), body)

    def declare(self, doc: str = "", **surfaces: Any) -> Self:
        """Document this operator and offer it on further surfaces.

        Args:
            doc: one sentence on the result, in terms of the inputs; the kernel's documentation by default.
            **surfaces: the other public names (``surfaces.declare``).

        Returns:
            The operator.
        """
        if doc:
            self.__doc__ = self.documented(doc)
        return declare(**surfaces)(self)

    def documented(self, sentence: str) -> str:
        """Return the documentation; a subclass may append text to the sentence."""
        return sentence

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature for help and completion."""
        return inspect.signature(self.__call__)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *operands: Any, **attrs: Any) -> Any:
        return self._run(operands, tuple([x._array if isinstance(x, Tensor) else x for x in operands]), attrs)

    def _run(self, operands: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Run the forward on tensors, whose arrays are ``inputs``."""
        if not active_observers:
            output = self._compute(inputs, attrs)
            return tuple([Tensor._wrap(array) for array in output]) if type(output) is tuple else Tensor._wrap(output)
        if precision.scopes:
            operands = operands if self.keeps_dtype else precision.cast_operands(operands, self.name)
            inputs = tuple([x._array if isinstance(x, Tensor) else x for x in operands])
        watched = taps.operator_taps
        output = self._compute(inputs, attrs) if not watched else self._compute_watched(inputs, attrs)
        if state.recordings and (self.vjps or self.joint_vjp):
            # A kernel may return an input itself; a value that the tape follows needs a separate identity.
            output = _with_new_identity(output, inputs)
            record(self, inputs, output, attrs)
        if type(output) is tuple:
            result: Any = tuple([Tensor._wrap(array) for array in output])
        else:
            result = Tensor._wrap(output)
        if watched:
            taps.notify_operator(self.name, operands, result, attrs)
        return result

    def _compute_watched(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        tracer = state.tracer
        return self._compute(inputs, attrs) if tracer is None else tracer.apply(self, inputs, attrs)

    def as_method(self) -> Callable[..., Any]:
        """Return this operator as a plain function, which is faster to bind to a tensor than an object."""

        def method(*args: Any, **kwargs: Any) -> Any:
            return self(*args, **kwargs)

        method.__name__, method.__doc__ = self.name, self.__doc__
        return method

    def on_arrays(self, *inputs: Any, **attrs: Any) -> Any:
        """Run the forward on arrays, on the first one's device; results are arrays even if NumPy returns scalars."""
        return self._compute(inputs, attrs)

    def _compute(self, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        # On the path of every operator, so the arguments are passed as they are, not packed again.
        kernel = self.kernel if type(inputs[0]) is np.ndarray else backend.kernel_for(self, inputs, attrs)
        float_state = silence()
        try:
            output = kernel(*inputs, **attrs)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            raise explained(self, error, inputs) from error
        finally:
            restore(float_state)
        if type(output) is np.ndarray:
            return output
        if type(output) is tuple:
            return tuple([np.asarray(x) if isinstance(x, np.generic) else x for x in output])
        return np.asarray(output) if isinstance(output, np.generic) else output

    def backward(
        self, functions: Any, tracked: set[int], g: Any, output: Any, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> Iterable[tuple[Array, Any]]:
        """Return the gradients of the inputs that ``tracked`` follows."""
        float_state = silence()
        try:
            if state.tracer is None:
                pairs = self.gradients(functions, tracked, g, output, inputs, attrs)
            else:
                pairs = state.tracer.derive(self, functions, tracked, g, output, inputs, attrs)
        finally:
            restore(float_state)
        if taps.operator_backward_taps:
            values = resolve_placeholders(inputs, output)
            taps.notify_operator_backward(self.name, g, [gx for _, gx in pairs], attrs, *values)
        return pairs

    def gradients(
        self,
        functions: Any,
        tracked: set[int],
        g: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
        conjugated: bool = False,
    ) -> list[tuple[Array, Any]]:
        """Return the result of ``backward``, for an unobserved caller that has switched NumPy's warnings off.

        ``conjugated``: ``g`` is already conjugated, and the result must be (see ``analytic``).
        """
        # Nearly all gradients are NumPy arrays in float32, so that is checked first.
        plain = type(g) is np.ndarray and g.dtype is FLOAT32
        if not plain and self.analytic and not conjugated and _is_complex(g):
            pairs = self.gradients(functions, tracked, _conjugate(g, functions), output, inputs, attrs, True)
            return [(x, _conjugate(gx, functions)) for x, gx in pairs]
        arguments: Any = inputs
        if functions is not ARRAY_FUNCTIONS:
            arguments = [_wrapped(x) for x in inputs]
            output = tuple([Tensor._wrap(x) for x in output]) if type(output) is tuple else Tensor._wrap(output)
        pairs = []
        if self.joint_vjp is not None:
            needs = [id(x) in tracked for x in inputs]
            input_gradients = self.joint_vjp(functions, needs, g, output, *arguments, **attrs)
            for x, gx, is_needed in zip(inputs, input_gradients, needs, strict=True):
                if is_needed and gx is not None:
                    pairs.append((x, fitted(gx, x, functions)))
            return pairs
        for x, rule in zip(inputs, self.vjps):  # noqa: B905  # an input without a rule has no gradient
            if id(x) in tracked and rule is not None:
                gx = rule(functions, g, output, *arguments, **attrs)
                if type(gx) is not np.ndarray or gx.dtype is not x.dtype:
                    gx = fitted(gx, x, functions)
                pairs.append((x, gx))
        return pairs


def binary_method(
    operator: Operator, floats_only: bool, otherwise: Callable[[Any, Any], Any]
) -> Callable[[Any, Any], Any]:
    """Return an elementwise operator of two operands as the function behind ``a + b``.

    For tensors of one dtype on the CPU, and a floating one with a Python number, the steps of ``Operator.__call__`` are
    written out here, without its calls. Everything else, errors included, is passed to ``otherwise``.
    """
    kernel, array_type, number_type, recorded = operator.kernel, np.ndarray, np.generic, bool(operator.vjps)
    watchers, scopes, new, no_attrs = taps.operator_taps, precision.scopes, object.__new__, dict[str, Any]()

    def method(self: Any, other: Any) -> Any:
        x = self._array
        if type(x) is not array_type:  # on a GPU
            return NotImplemented if isinstance(other, Sparse) else otherwise(self, other)
        if type(other) is Tensor or isinstance(other, Tensor):
            y = other._array
            if y.dtype is not x.dtype:
                return otherwise(self, other)
        elif (type(other) is float or type(other) is int) and x.dtype.kind == "f":
            y = other
        else:
            return NotImplemented if isinstance(other, Sparse) else otherwise(self, other)
        if (floats_only and x.dtype.kind != "f") or (active_observers and (watchers or scopes)):
            return otherwise(self, other)
        try:
            output = quietly(kernel, x, y)
        except (TypeError, ValueError, RuntimeError):
            return otherwise(self, other)  # which raises the error, unless another thread caused it
        if type(output) is not array_type:
            if not isinstance(output, number_type):  # with an array on a GPU
                return otherwise(self, other)
            output = np.asarray(output)
        if active_observers and recorded:
            for recording in state.recordings:
                tracked = recording.tracked
                if id(x) in tracked or id(y) in tracked:
                    if output.size < LARGE and type(recording) is Recording:  # its ``add_node``, written out
                        recording.nodes.append((operator, (x, y), output, no_attrs))
                        tracked.add(id(output))
                    else:
                        recording.add_node(operator, (x, y), output, no_attrs)
                elif recording.other_arguments:
                    recording.track_other_arguments((x, y), output)
        result = new(Tensor)
        result._array = output
        return result

    method.__name__, method.__doc__ = operator.name, operator.__doc__
    return method


def fitted(gradient: Any, array: Array, functions: Any) -> Any:
    """Return a gradient as an array (or a tensor) of the same dtype as its array.

    A rule may compute in a wider dtype: NumPy widens bfloat16, which is not its own, with a Python number, and
    statistics of half precision are kept in single. And Python's operators turn arrays without axes into NumPy scalars.
    """
    if functions.wraps:
        dtype = gradient._array.dtype
    else:
        if isinstance(gradient, np.generic):
            gradient = np.asarray(gradient)
        dtype = gradient.dtype
    return gradient if dtype == array.dtype else functions.cast(gradient, dtype=array.dtype)


def _is_complex(gradient: Any) -> bool:
    """Return whether a gradient has complex numbers: an array, a tensor, or a tuple of gradients of outputs."""
    if type(gradient) is tuple:
        return any(_is_complex(part) for part in gradient if part is not None)
    return (gradient._array if isinstance(gradient, Tensor) else gradient).dtype in COMPLEX


def _conjugate(gradient: Any, functions: Any) -> Any:
    if type(gradient) is tuple:
        return tuple([part if part is None else _conjugate(part, functions) for part in gradient])
    return functions.conj(gradient) if _is_complex(gradient) else gradient


def _wrapped(value: Any) -> Any:
    return Tensor._wrap(value) if backend.is_array(value) else value


def _with_new_identity(output: Any, inputs: tuple[Any, ...]) -> Any:
    if type(output) is tuple:
        return tuple([_with_new_identity(array, inputs) for array in output])
    for x in inputs:
        if x is output:
            return output.view()
    return output


def explained(operator: Operator, error: Exception, inputs: tuple[Any, ...]) -> Exception:
    """Return the kernel's error with the operator's name and the shapes and dtypes of its inputs."""
    described = ", ".join(
        f"{x.dtype}{list(x.shape)}" if backend.is_array(x) else repr(x) for x in inputs if x is not None
    )
    kind = ValueError if isinstance(error, ValueError | IndexError) else TypeError
    if isinstance(error, IndexError):
        kind = IndexError  # type: ignore[assignment]
    return kind(f"For '{operator.name}', the inputs ({described}) do not fit: {error}")


class _Functions:
    """The operators by name, as namespace of vjp rules."""

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
    """Return the functions of a backward pass: on tensors if an outer recording is open, on bare arrays otherwise."""
    if state.recordings:
        return TENSOR_FUNCTIONS
    return ARRAY_FUNCTIONS if state.tracer is None else state.tracer.functions
