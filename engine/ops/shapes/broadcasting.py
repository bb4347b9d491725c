"""Broadcasting and dtype promotion of elementwise operators, and how one is declared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.surfaces import declare, renamed
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
    """Return a gradient summed over the axes along which ``x`` was broadcast.

    Args:
        F: the operators that the rule computes with.
        g: the gradient of the broadcast ``x``.
        x: the input of the operator.

    Returns:
        The gradient in the shape of ``x``.
    """
    return g if g.shape == x.shape else F.sum_to(g, shape=tuple(x.shape))


@in_single
def _sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    extra = x.ndim - len(shape)
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and x.shape[i + extra] != 1)
    return x.sum(axis=axes, keepdims=True).reshape(shape) if axes else x


_sum_to_operator = Operator(
    "sum_to",
    _sum_to,
    (lambda F, g, out, x, shape: F.broadcast_to(g, shape=tuple(x.shape)),),
    keeps_dtype=True,
    placeholders=(0, -1),
)
broadcast_to_operator = ViewOperator(
    "broadcast_to",
    lambda x, shape: array_module(x).broadcast_to(x, shape),
    (lambda F, g, out, x, shape: fit(F, g, x),),
    keeps_dtype=True,
    placeholders=(0, -1),
)


@declare(method=True)
def _sum_to_size(input: Tensor, *size: int | Sequence[int]) -> Tensor:
    """Return the tensor summed over the axes in which ``size`` is 1 or missing.

    Args:
        input: the tensor.
        *size: the shape of the result, as ints or as one tuple or list; aligned at the last axis.

    Returns:
        A tensor of shape ``size`` and of the dtype of ``input``.

    Raises:
        ValueError: the tensor cannot be summed to ``size``.
    """
    target = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    if len(target) > input.ndim or any(n not in (1, m) for n, m in zip(target[::-1], input.shape[::-1], strict=False)):
        raise ValueError(f"For 'Tensor.sum_to_size', {input.shape} cannot be summed to {tuple(target)}")
    return _sum_to_operator(input, shape=tuple(target))


def cast_array(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return ``x`` with another element type, or itself if it has it; a real type takes the real parts of numbers.

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
    placeholders=(0, -1),
    scalar="cast(x, dtype)",
)


# Not x * 0, which is NaN if x is infinite or NaN: a gradient that does not arrive anywhere must not spoil others.
zeros_operator = Operator("zeros_like", lambda x: array_module(x).zeros_like(x), (None,), keeps_dtype=True, scalar="0")


def array_dtype(x: Tensor | Array | Value) -> np.dtype[Any]:
    """Return the NumPy dtype of a tensor or an array: rules of gradients get either.

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
"""Rules of the first operand and of the second, by slope."""
_LINEAR, _PRODUCT = (0, 1, -1), (-1,)
"""Values that the rules of a sum, and of a product, do not read (``Operator.placeholders``)."""

_REAL = frozenset((int, float))

# The part that the documentation of all of them shares.
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


x1_x2 = functools.partial(renamed, input="x1", other="x2")
"""The surface in ``numpy``, where the operands have these names."""


class Binary(Operator):
    """An operator on two tensors, or a tensor and a number, that broadcasts and combines dtypes as MindSpore does."""

    second = "other"
    """Name of the second argument."""
    scalars_as_numbers = False
    """True if a tensor without axes counts as a number together with one that has axes."""

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        vjps: tuple[Any, ...] = (),
        *,
        slopes: tuple[int, int] | None = None,
        integers_to_float: bool = False,
        takes_lists: bool = False,
        **kwargs: Any,
    ) -> None:
        self.slopes = slopes
        self.integers_to_float = integers_to_float
        self.takes_lists = takes_lists
        """True if Python's operator takes a list or tuple together with a tensor, as MindSpore's ``+`` does."""
        if slopes is not None:
            vjps = tuple([_RULES[slope][position] for position, slope in enumerate(slopes)])
            kwargs["placeholders"] = _PRODUCT if TIMES_OTHER in slopes else _LINEAR
        super().__init__(name, kernel, vjps, **kwargs)

    def documented(self, sentence: str) -> str:
        """Return the sentence and the text that all operators of this kind share."""
        return f"{sentence}\n\n{_OF_TWO}{_AS_FLOATS if self.integers_to_float else ''}{_ERRORS}"

    def __call__(self, input: Operand, other: Operand) -> Tensor:
        # Benchmarked as "add of two small tensors": operands that need no conversion go first.
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
        return out if not self.scalars_as_numbers else with_number_dtype(out, input, other)

    def as_method(self) -> Callable[..., Any]:
        """Return the function that implements Python's operator."""
        return binary_method(self, self.integers_to_float, self.of_method if self.takes_lists else self)

    def of_method(self, input: Any, other: Any) -> Tensor:
        """Return the result of the operator, of whose operands one may be a list or tuple."""
        from .conversion import tensor_of

        result: Tensor = self(*(tensor_of(x) if isinstance(x, list | tuple) else x for x in (input, other)))
        return result


def with_number_dtype(out: Tensor, input: Any, other: Any) -> Tensor:
    """Return the product or quotient of two tensors in the dtype that it has in MindSpore if one has no axes.

    That one counts as a number, which has no width: a Float16 tensor times a Float32 one without axes is Float16. This
    holds among floating dtypes, and for those integers for which it holds in MindSpore.

    Args:
        out: in the dtype that both are promoted to.
        input: the first operand.
        other: the second operand.

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
    """Return both operands in the dtype that MindSpore computes in: tensors, or a tensor and a number.

    Args:
        name: of the operator, for errors.
        input: a tensor, a number or an array.
        other: likewise.
        integers_to_float: whether bools and integers become Float32.
        second: the name of the second one in errors.

    Returns:
        Two operands of which one at least is a tensor.

    Raises:
        TypeError: one of them is neither a tensor nor a number.
    """
    x, y = operand(name, "input", input), operand(name, second, other)
    if isinstance(x, Tensor):
        first_dtype = x._array.dtype
        dtype = promote(first_dtype, y._array.dtype) if isinstance(y, Tensor) else promote_scalar(first_dtype, y)
    elif isinstance(y, Tensor):
        dtype = promote_scalar(y._array.dtype, x)
    else:
        x = Tensor(x)
        dtype = promote_scalar(x._array.dtype, y)
    if integers_to_float and dtype.kind in "biu":
        dtype = float32.numpy
    return as_dtype(x, dtype), as_dtype(y, dtype)


def operand(name: str, argument: str, value: object) -> Any:
    """Return a tensor or a number as it is, an array as a tensor.

    Args:
        name: of the operator, for errors.
        argument: the name of the argument, for errors.
        value: the argument.

    Returns:
        A tensor or a number.

    Raises:
        TypeError: ``value`` is of the wrong type.
    """
    if isinstance(value, np.generic):
        value = value.item()  # NumPy's numbers count as Python's
    if isinstance(value, Tensor | bool | int | float | complex):
        return value
    if is_array(value):
        return Tensor(value)  # type: ignore[arg-type]  # or CuPy's array
    raise TypeError(f"For '{name}', '{argument}' must be a Tensor or a number, but got {type(value).__name__}")


def as_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a tensor or a bare number in a NumPy dtype; a number stays one if NumPy gives it that dtype anyway.

    Args:
        value: a tensor or a number.
        dtype: the element type.

    Returns:
        A tensor, a number, or for BFloat16 a number of that dtype.
    """
    if isinstance(value, Tensor):
        return value if value._array.dtype == dtype else cast_operator(value, dtype=dtype)
    if dtype.kind == "V":
        return dtype.type(value)  # with a Python number, NumPy widens bfloat16, which is not its own
    return value if dtype.kind in "fc" else wrapped(int(value) if isinstance(value, float) else value, dtype)


def of_one_dtype(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return the tensors in the dtype that all promote to, or directly in the one that the cell computes in."""
    if precision.scopes:
        tensors = precision.cast_operands(tensors)
    common = tensors[0]._array.dtype
    for x in tensors[1:]:
        common = promote(common, x._array.dtype)
    return tuple(as_dtype(x, common) for x in tensors)


def in_dtype(x: Tensor, dtype: DTypeLike | None) -> Tensor:
    """Return the tensor in a dtype, or as it is if that is None."""
    return x if dtype is None else as_dtype(x, numpy_dtype(dtype))


def as_single(x: Tensor) -> Tensor:
    """Return a tensor of half precision in Float32, for computations of several steps; any other as it is."""
    return as_dtype(x, float32.numpy) if is_half(x._array) else x


def through_single(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of several steps that computes half precision in Float32 and rounds its results once.

    Args:
        function: takes and returns tensors, also in lists and tuples; it converts to a ``dtype`` by itself.

    Returns:
        The function; its results are in half precision if all its floating tensors are.
    """

    @functools.wraps(function)
    def rounded(*args: Any, **kwargs: Any) -> Any:
        arrays = [t._array for t in tensors_in((args, kwargs))]
        if kwargs.get("dtype") is not None or not any(is_half(x) for x in arrays):
            return function(*args, **kwargs)
        wide_args, wide_kwargs = replaced((args, kwargs), [as_single(t) for t in tensors_in((args, kwargs))])
        result = function(*wide_args, **wide_kwargs)
        dtype = functools.reduce(promote, [x.dtype for x in arrays if x.dtype.kind in "fVc"])
        outputs = [as_dtype(t, dtype) if t._array.dtype.kind == "f" else t for t in tensors_in(result)]
        return replaced(result, outputs)

    return rounded


def as_floats(x: Tensor) -> Tensor:
    """Return a tensor of bools or integers in Float32, any other as it is."""
    return as_dtype(x, float32.numpy) if x._array.dtype.kind in "biu" else x


class Unary(Operator):
    """An operator on one tensor; if its results are fractions, integers become Float32 first."""

    def __init__(self, *args: Any, integers_to_float: bool = False, **kwargs: Any) -> None:
        self.integers_to_float = integers_to_float
        super().__init__(*args, **kwargs)

    def documented(self, sentence: str) -> str:
        """Return the sentence and the text that all operators of this kind share."""
        return f"{sentence}\n\n{_OF_ONE}{_AS_FLOATS if self.integers_to_float else ''}{_ERROR_OF_ONE}"

    def __call__(self, input: Tensor) -> Tensor:
        x = input if isinstance(input, Tensor) else check_tensor(input, self.name)
        if self.integers_to_float and x._array.dtype.kind in "biu":
            x = cast_operator(x, dtype=float32.numpy)
        return self._run((x,), (x._array,), {})


def unary(name: str, kernel: Callable[..., Any], rule: Callable[..., Any] | None, **settings: Any) -> Unary:
    """Return an operator on one tensor.

    Args:
        name: the key in the table of operators.
        kernel: the forward on an array.
        rule: the rule of its gradient; None for no gradient.
        **settings: further arguments of ``Unary``.

    Returns:
        The operator.
    """
    return Unary(name, kernel, () if rule is None else (rule,), **settings)


def function_of_number(name: str, kernel: Callable[..., Any], rule: Callable[..., Any], **settings: Any) -> Unary:
    """Return a function of a real number; integers are computed in Float32.

    Args:
        name: the key in the table of operators.
        kernel: the forward on an array.
        rule: the rule of its gradient.
        **settings: further arguments of ``Unary``.

    Returns:
        The operator.
    """
    return unary(name, kernel, rule, integers_to_float=True, **settings)
