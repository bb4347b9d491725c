"""How elementwise operators broadcast their inputs and combine their dtypes, and how one is declared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.surfaces import declare
from ...base.types import Array, DTypeLike, Functions, Operand, TensorLike, Value
from ...cpu.array_module import array_module
from ...cpu.widening import in_single, is_half
from ...tensors import precision
from ...tensors.backend import is_array
from ...tensors.dtype import float32, numpy_dtype, promote, promote_scalar, wrapped
from ...tensors.nested import replaced, tensors_in
from ...tensors.operator import COMPLEX, NEGATED, PASSED, TIMES_OTHER, Operator, binary_method
from ...tensors.tensor import Tensor
from ...tensors.views import ViewOperator
from ..arguments import check_tensor


def fit(F: Functions, g: Value, x: Value) -> Any:
    """A gradient summed over the axes along which ``x`` was broadcast.

    Args:
        F: the operators that the rule computes with.
        g: the gradient by what ``x`` was broadcast to.
        x: the input of the operator.

    Returns:
        The gradient in the shape of ``x``.
    """
    return g if g.shape == x.shape else F.sum_to(g, shape=tuple(x.shape))


@in_single
def _sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    added = x.ndim - len(shape)
    axes = tuple(range(added)) + tuple(i + added for i, n in enumerate(shape) if n == 1 and x.shape[i + added] != 1)
    return x.sum(axis=axes, keepdims=True).reshape(shape) if axes else x


_sum_to_operator = Operator(
    "sum_to",
    _sum_to,
    (lambda F, g, out, x, shape: F.broadcast_to(g, shape=tuple(x.shape)),),
    keeps_dtype=True,
    unread=(0, -1),
)
broadcast_to_operator = ViewOperator(
    "broadcast_to",
    lambda x, shape: array_module(x).broadcast_to(x, shape),
    (lambda F, g, out, x, shape: fit(F, g, x),),
    keeps_dtype=True,
    unread=(0, -1),
)


@declare(method=True)
def _sum_to_size(input: Tensor, *size: int | Sequence[int]) -> Tensor:
    """The tensor summed over the axes in which ``size`` is 1 or missing.

    Args:
        input: the tensor.
        *size: the shape of the result, as ints or as one tuple or list; aligned at the last axis.

    Returns:
        A tensor of shape ``size`` and of the dtype of ``input``.

    Raises:
        ValueError: the tensor cannot be summed to ``size``.
    """
    wanted = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    if len(wanted) > input.ndim or any(n not in (1, m) for n, m in zip(wanted[::-1], input.shape[::-1], strict=False)):
        raise ValueError(f"For 'Tensor.sum_to_size', {input.shape} cannot be summed to {tuple(wanted)}")
    return _sum_to_operator(input, shape=tuple(wanted))


def cast_array(x: Array, dtype: np.dtype[Any]) -> Array:
    """``x`` with another element type, itself where it has it already; a real type takes the real parts of numbers.

    Args:
        x: an array.
        dtype: the element type.

    Returns:
        An array of the same shape.
    """
    if x.dtype in COMPLEX and dtype.kind not in "cb":
        x = x.real
    return x.astype(dtype, copy=False)


cast_operator = Operator(
    "cast",
    cast_array,
    (lambda F, g, out, x, dtype: F.cast(g, dtype=array_dtype(x)),),
    keeps_dtype=True,
    unread=(0, -1),
    scalar="cast(x, dtype)",
)


# Not x * 0, which is NaN where x is infinite or NaN: a gradient that does not arrive anywhere must not spoil others.
zeros_operator = Operator("zeros_like", lambda x: array_module(x).zeros_like(x), (None,), keeps_dtype=True, scalar="0")


def array_dtype(x: Tensor | Array | Value) -> np.dtype[Any]:
    """The NumPy dtype of a tensor or an array: rules of gradients get either.

    Args:
        x: the tensor or array.

    Returns:
        Its dtype.
    """
    dtype: Any = x._array.dtype if isinstance(x, Tensor) else x.dtype
    return dtype


_RULES: dict[int, tuple[Any, Any]] = {
    PASSED: (lambda F, g, out, x, y: fit(F, g, x), lambda F, g, out, x, y: fit(F, g, y)),
    NEGATED: (lambda F, g, out, x, y: fit(F, -g, x), lambda F, g, out, x, y: fit(F, -g, y)),
    TIMES_OTHER: (lambda F, g, out, x, y: fit(F, g * y, x), lambda F, g, out, x, y: fit(F, g * x, y)),
}
"""Of a slope the rules of the first operand and of the second."""
_LINEAR, _PRODUCT = (0, 1, -1), (-1,)
"""What the rules do not read (``Operator.unread``) of a sum, and of a product."""

_REAL = frozenset((int, float))

# What the documentation of all of them has in common.
_OF_TWO = """Args:
    input: x, a tensor of any shape or a number.
    other: y, a tensor that broadcasts with ``input`` or a number.

Returns:
    A tensor of the shape that both broadcast to. Of two dtypes the floating or wider one is computed in; a number takes
    the tensor's dtype unless its kind is higher."""
_OF_ONE = """Args:
    input: x, a tensor of any shape.

Returns:
    A tensor of the same shape."""
_AS_FLOATS = " Bools and integers become Float32."
_ERRORS = """

Raises:
    TypeError: an input is neither a tensor nor a number."""
_ERROR_OF_ONE = """

Raises:
    TypeError: ``input`` is no Tensor."""


class Binary(Operator):
    """An operator on two tensors, or a tensor and a number, that broadcasts and combines dtypes as MindSpore does."""

    second = "other"
    """What the second argument is called."""
    beside_numbers = False
    """Whether a tensor without axes counts as a number beside one that has some."""

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        vjps: tuple[Any, ...] = (),
        *,
        slopes: tuple[int, int] | None = None,
        integers_to_float: bool = False,
        beside_lists: bool = False,
        **kwargs: Any,
    ) -> None:
        self.slopes = slopes
        self.integers_to_float = integers_to_float
        self.beside_lists = beside_lists
        """Whether Python's operator takes a list or tuple beside a tensor, as MindSpore's ``+`` does."""
        if slopes is not None:
            vjps = tuple([_RULES[slope][place] for place, slope in enumerate(slopes)])
            kwargs["unread"] = _PRODUCT if TIMES_OTHER in slopes else _LINEAR
        super().__init__(name, kernel, vjps, **kwargs)

    def documented(self, sentence: str) -> str:
        """The sentence, and what all operators of this kind have in common."""
        return f"{sentence}\n\n{_OF_TWO}{_AS_FLOATS if self.integers_to_float else ''}{_ERRORS}"

    def __call__(self, input: Operand, other: Operand) -> Tensor:
        # Benchmarked as "add of two small tensors": what needs no conversion goes first.
        if type(input) is Tensor:
            array = input._array
            dtype = array.dtype
            if type(other) is Tensor:
                if other._array.dtype is dtype and (not self.integers_to_float or dtype.kind == "f"):
                    return self._run((input, other), (array, other._array), {})
            elif dtype.kind == "f" and type(other) in _REAL:
                return self._run((input, other), (array, other), {})
        if precision.scopes:
            input, other = precision.cast_operands((input, other))
        x, y = operands(self.name, input, other, self.integers_to_float, self.second)
        out = Operator.__call__(self, x, y)
        return out if not self.beside_numbers else as_beside_a_number(out, input, other)

    def as_method(self) -> Callable[..., Any]:
        """The function behind Python's operator."""
        return binary_method(self, self.integers_to_float, self.of_method if self.beside_lists else self)

    def of_method(self, input: Any, other: Any) -> Tensor:
        """The operator, where one of the two may be a list or tuple."""
        from .reshape import tensor_of

        result: Tensor = self(*(tensor_of(x) if isinstance(x, list | tuple) else x for x in (input, other)))
        return result


def as_beside_a_number(out: Tensor, input: Any, other: Any) -> Tensor:
    """The product or quotient of two tensors in the dtype that it has in MindSpore where one has no axes.

    That one counts as a number, whose width is none: a Float16 tensor times a Float32 one without axes is Float16. Only
    among floating dtypes, and of integers where MindSpore has it so.

    Args:
        out: in the dtype that both are promoted to.
        input: the one.
        other: the other.

    Returns:
        ``out`` as it is, or rounded.
    """
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)) or bool(input.ndim) == bool(other.ndim):
        return out
    tensor, number = (input._array.dtype, other._array.dtype)[:: 1 if input.ndim else -1]
    floats = tensor.kind in "fV" and number.kind in "fV"
    integers = tensor.kind in "iu" and number.kind == "i" and (number.itemsize == 8 or tensor.itemsize == 2)
    return as_dtype(out, tensor) if floats or (integers and out._array.dtype == number) else out


def operands(
    name: str, input: TensorLike, other: TensorLike, integers_to_float: bool = False, second: str = "other"
) -> tuple[Any, Any]:
    """Both in the dtype that MindSpore computes in: tensors, or a tensor and a number.

    Args:
        name: of the operator, for errors.
        input: a tensor, a number or an array.
        other: likewise.
        integers_to_float: whether bools and integers become Float32.
        second: what errors call the second one.

    Returns:
        Two operands of which one at least is a tensor.

    Raises:
        TypeError: one of them is neither a tensor nor a number.
    """
    x, y = operand(name, "input", input), operand(name, second, other)
    if isinstance(x, Tensor):
        mine = x._array.dtype
        wanted = promote(mine, y._array.dtype) if isinstance(y, Tensor) else promote_scalar(mine, y)
    elif isinstance(y, Tensor):
        wanted = promote_scalar(y._array.dtype, x)
    else:
        x = Tensor(x)
        wanted = promote_scalar(x._array.dtype, y)
    if integers_to_float and wanted.kind in "biu":
        wanted = float32.numpy
    return as_dtype(x, wanted), as_dtype(y, wanted)


def operand(name: str, argument: str, value: object) -> Any:
    """A tensor or a number as it is, an array as a tensor.

    Args:
        name: of the operator, for errors.
        argument: the name of the argument, for errors.
        value: what came.

    Returns:
        A tensor or a number.

    Raises:
        TypeError: anything else.
    """
    if isinstance(value, np.generic):
        value = value.item()  # NumPy's numbers count as Python's
    if isinstance(value, Tensor | bool | int | float | complex):
        return value
    if is_array(value):
        return Tensor(value)  # type: ignore[arg-type]  # or CuPy's array
    raise TypeError(f"For '{name}', '{argument}' must be a Tensor or a number, but got {type(value).__name__}")


def as_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor or a bare number in a NumPy dtype; a number stays one where NumPy gives it that dtype anyway.

    Args:
        value: a tensor or a number.
        dtype: the element type.

    Returns:
        A tensor, a number, or for BFloat16 a number of that dtype.
    """
    if isinstance(value, Tensor):
        return value if value._array.dtype == dtype else cast_operator(value, dtype=dtype)
    if dtype.kind == "V":
        return dtype.type(value)  # beside a bare number NumPy widens bfloat16, which is not its own
    return value if dtype.kind in "fc" else wrapped(int(value) if isinstance(value, float) else value, dtype)


def of_one_dtype(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors in the dtype that all promote to; where a cell computes in another, in that one at once."""
    if precision.scopes:
        tensors = precision.cast_operands(tensors)
    wanted = tensors[0]._array.dtype
    for x in tensors[1:]:
        wanted = promote(wanted, x._array.dtype)
    return tuple(as_dtype(x, wanted) for x in tensors)


def in_dtype(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    """The tensor in a dtype, or as it is where that is None."""
    return x if dtype is None else as_dtype(x, numpy_dtype(dtype))


def as_single(x: Tensor) -> Tensor:
    """A tensor of half precision in Float32, for what is computed in several steps; every other as it is."""
    return as_dtype(x, float32.numpy) if is_half(x._array) else x


def through_single(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of several steps that takes half precision through all of them in Float32 and rounds its results once.

    Args:
        function: takes tensors, also in lists and tuples, and returns them so; it converts to a ``dtype`` by itself.

    Returns:
        The function; its results are in half precision if all floating tensors that it was given are.
    """

    @functools.wraps(function)
    def rounded(*args: Any, **kwargs: Any) -> Any:
        given = [t._array for t in tensors_in((args, kwargs))]
        if kwargs.get("dtype") is not None or not any(is_half(x) for x in given):
            return function(*args, **kwargs)
        wide_args, wide_kwargs = replaced((args, kwargs), [as_single(t) for t in tensors_in((args, kwargs))])
        found = function(*wide_args, **wide_kwargs)
        wanted = functools.reduce(promote, [x.dtype for x in given if x.dtype.kind in "fVc"])
        kept = [as_dtype(t, wanted) if t._array.dtype.kind == "f" else t for t in tensors_in(found)]
        return replaced(found, kept)

    return rounded


def as_floats(x: Tensor) -> Tensor:
    """A tensor of bools or integers in Float32, every other as it is."""
    return as_dtype(x, float32.numpy) if x._array.dtype.kind in "biu" else x


class Unary(Operator):
    """An operator on one tensor; where it gives fractions, integers become Float32 first."""

    def __init__(self, *args: Any, integers_to_float: bool = False, **kwargs: Any) -> None:
        self.integers_to_float = integers_to_float
        super().__init__(*args, **kwargs)

    def documented(self, sentence: str) -> str:
        """The sentence, and what all operators of this kind have in common."""
        return f"{sentence}\n\n{_OF_ONE}{_AS_FLOATS if self.integers_to_float else ''}{_ERROR_OF_ONE}"

    def __call__(self, input: Tensor) -> Tensor:
        x = input if isinstance(input, Tensor) else check_tensor(input, self.name)
        if self.integers_to_float and x._array.dtype.kind in "biu":
            x = cast_operator(x, dtype=float32.numpy)
        return self._run((x,), (x._array,), {})


def unary(name: str, kernel: Callable[..., Any], rule: Callable[..., Any] | None, doc: str, **surfaces: Any) -> Unary:
    """An operator on one tensor.

    Args:
        name: the key in the table of operators.
        kernel: the forward on an array.
        rule: the rule of its gradient; None where there is none.
        doc: one sentence that says what it computes, of x.
        **surfaces: where else it is offered, and ``integers_to_float``.

    Returns:
        The operator.
    """
    return Unary(name, kernel, () if rule is None else (rule,), doc=doc, **surfaces)


def function_of_number(
    name: str, kernel: Callable[..., Any], rule: Callable[..., Any], doc: str, **surfaces: Any
) -> Unary:
    """A function of a real number: of integers, in Float32.

    Args:
        name: the key in the table of operators.
        kernel: the forward on an array.
        rule: the rule of its gradient.
        doc: one sentence that says what it computes, of x.
        **surfaces: where else it is offered.

    Returns:
        The operator.
    """
    return unary(name, kernel, rule, doc, integers_to_float=True, **surfaces)
