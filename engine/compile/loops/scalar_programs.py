"""Scalar expressions: an operator's computation on one element of each input, as written in the operator table.

The text is an expression in Python's syntax. ``x``, ``y`` and ``z`` are the elements of the operator's inputs in
order, ``inf`` is infinity, and other names are attributes. The language has numbers, ``+ - * / ** & | ^``, comparisons,
``a if attribute == 'text' else b``, which is resolved before the computation, and these functions:

    where(condition, x, y)    max(x, y), min(x, y)    NaN if either is NaN
    cast(x, dtype)            abs(x)
    floor, ceil, trunc, rint  sqrt, exp, log, sin, tanh, erf and so on (``FUNCTIONS``): of floating numbers

An element has its array's dtype, and both operands of an operation must have the same dtype; a number takes the dtype
of the element that it is combined with. There are no implicit conversions, except for half precision: its elements are
converted to float32, numbers combined with them are rounded to half precision, and only an operator's result is rounded
back. An expression is compiled to a ``Program``, a list of distinct steps, which is written as a loop for Numba
(``cpu_loops``) or Triton (``gpu_loops``); only the latter supports half precision.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["DTYPES", "FUNCTIONS", "INFIX", "Program", "Step", "UnsupportedScalar", "is_half"]

DTYPES = tuple(
    np.dtype(name)
    for name in ("float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
)
"""Element types that programs compute with."""

INFIX = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "ge": "{} >= {}",
    "and": "{} & {}",
    "or": "{} | {}",
    "xor": "{} ^ {}",
}
"""Operations that Python, Numba and Triton write alike."""
FUNCTIONS = {
    **dict.fromkeys(
        (
            "sqrt",
            "exp",
            "exp2",
            "expm1",
            "log",
            "log2",
            "log10",
            "log1p",
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "erf",
            "erfc",
            "floor",
            "ceil",
            "trunc",
            "rint",
        ),
        1,
    ),
    "atan2": 2,
    "hypot": 2,
}
"""Functions of floating numbers, and their numbers of arguments."""

_MACROS = {
    # exp of a negative number only, so that nothing overflows.
    "sigmoid": "where(x < 0, exp(-abs(x)), 1) / (1 + exp(-abs(x)))",
    # The probability that a normal number is below x.
    "normal": "0.5 * erfc(x * -0.7071067811865476)",
    # The derivative of gelu's tanh form (Hendrycks and Gimpel 2016); beyond 30 the slopes are 0 and 1.
    "gelu_bend": "1.5957691216057308 * x * (1 + 0.044715 * min(x * x, 900))",
    "gelu_slope": "sigmoid(gelu_bend(x)) + x * (sigmoid(gelu_bend(x)) * sigmoid(-gelu_bend(x)))"
    " * (1.5957691216057308 * (1 + 0.134145 * min(x * x, 900)))",
}
"""Functions of one number that are defined by expressions."""

_OF_NUMBERS: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", lambda a, b: a + b),
    ast.Sub: ("sub", lambda a, b: a - b),
    ast.Mult: ("mul", lambda a, b: a * b),
    ast.Div: ("div", lambda a, b: a / b),
    ast.Pow: ("pow", lambda a, b: a**b),
}
_OF_BITS: dict[type, str] = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
_COMPARISONS: dict[type, str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}

_BOOL, _FLOAT32 = np.dtype(bool), np.dtype(np.float32)
_OF_SINGLE = tuple(np.dtype(name) for name in ("float32", "bool", "int8", "int16", "uint8", "uint16"))
"""Element types whose numbers are all float32 numbers, so that a cast to half precision rounds once."""

Step = tuple[Any, ...]
"""``(name, dtype, *operands)``: operands are the numbers of earlier steps; of "input" the input's index, and of "const"
the value."""
_Operand = int | tuple[Any]
"""A step's number, or a Python number in a tuple, which has no dtype yet."""


def is_half(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is float16 or bfloat16.

    Args:
        dtype: a NumPy element type.
    """
    return dtype.itemsize == 2 and dtype.name in ("float16", "bfloat16")


class UnsupportedScalar(Exception):  # noqa: N818  # not a failure: the caller leaves the operator out
    """Signal that an expression does not support the given dtypes."""


class Program:
    """Steps on single elements.

    Attributes:
        steps: the steps, each after its operands.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._numbers: dict[Step, int] = {}

    def add(self, name: str, dtype: np.dtype[Any], *operands: Any) -> int:
        """Add a step, unless there is an equal one.

        Args:
            name: its operation.
            dtype: the dtype of its result.
            *operands: see ``Step``.

        Returns:
            Its number.
        """
        key = (name, dtype, *[repr(x) if name == "const" else x for x in operands])
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.steps)
            self.steps.append((name, dtype, *operands))
        return number

    def constant(self, value: Any, dtype: np.dtype[Any]) -> int:
        """Return the step of a number in a dtype.

        Raises:
            UnsupportedScalar: the dtype cannot represent it.
        """
        if isinstance(value, complex) or (dtype.kind in "iu" and value != value // 1):
            raise UnsupportedScalar
        if dtype.kind == "b" and value not in (0, 1):
            raise UnsupportedScalar
        try:
            number = dtype.type(value)
            return self.add("const", dtype, float(number) if is_half(dtype) else number.item())
        except (OverflowError, ValueError):
            raise UnsupportedScalar from None

    def dtype(self, step: int) -> np.dtype[Any]:
        """Return the dtype of a step's result."""
        dtype: np.dtype[Any] = self.steps[step][1]
        return dtype

    def apply(self, text: str, inputs: Sequence[_Operand], attrs: dict[str, Any], dtype: np.dtype[Any]) -> int:
        """Add an operator's steps.

        Args:
            text: its expression.
            inputs: its inputs: steps, or Python numbers in tuples.
            attrs: its attributes.
            dtype: the dtype of its result.

        Returns:
            The last step's number.

        Raises:
            UnsupportedScalar: the dtypes do not fit.
        """
        halves = [self.dtype(x) for x in inputs if not isinstance(x, tuple) and is_half(self.dtype(x))]
        if halves:
            inputs = [self._widened(x, halves[0]) for x in inputs]
        names = dict(zip("xyz", inputs, strict=False))
        result = self._compile(_parsed(text), names, attrs)
        if isinstance(result, tuple):
            return self.constant(result[0], dtype)
        if is_half(dtype) and self.dtype(result) == _FLOAT32:
            return self.add("cast", dtype, result)
        if self.dtype(result) != dtype:
            raise UnsupportedScalar
        return result

    def _widened(self, operand: _Operand, half: np.dtype[Any]) -> _Operand:
        """Return an input cast from half precision to float32; a number is rounded to half precision."""
        if isinstance(operand, tuple):
            return (float(half.type(operand[0])),)
        return self.add("cast", _FLOAT32, operand) if is_half(self.dtype(operand)) else operand

    def _compile(self, tree: ast.expr, names: dict[str, _Operand], attrs: dict[str, Any]) -> _Operand:
        if isinstance(tree, ast.Constant):
            return (tree.value,)
        if isinstance(tree, ast.Name):
            if tree.id == "inf":
                return (math.inf,)
            return names[tree.id] if tree.id in names else (attrs[tree.id],)
        if isinstance(tree, ast.IfExp):
            return self._compile(tree.body if _is_true(tree.test, attrs) else tree.orelse, names, attrs)
        if isinstance(tree, ast.UnaryOp):
            operand = self._compile(tree.operand, names, attrs)
            return (-operand[0],) if isinstance(operand, tuple) else self._numeric("neg", operand)
        if isinstance(tree, ast.Call):
            return self._called(tree, names, attrs)
        if isinstance(tree, ast.Compare):
            pair = [self._compile(part, names, attrs) for part in (tree.left, *tree.comparators)]
            return self.add(_COMPARISONS[type(tree.ops[0])], _BOOL, *self._alike(pair))
        assert isinstance(tree, ast.BinOp)
        pair = [self._compile(part, names, attrs) for part in (tree.left, tree.right)]
        if type(tree.op) in _OF_BITS:
            x, y = self._alike(pair)
            if self.dtype(x).kind not in "biu":
                raise UnsupportedScalar
            return self.add(_OF_BITS[type(tree.op)], self.dtype(x), x, y)
        name, function = _OF_NUMBERS[type(tree.op)]
        if isinstance(pair[0], tuple) and isinstance(pair[1], tuple):
            return (function(pair[0][0], pair[1][0]),)
        return self._numeric(name, *self._alike(pair))

    def _alike(self, operands: Sequence[_Operand]) -> list[int]:
        """Return operands as steps of one dtype."""
        dtypes = {self.dtype(item) for item in operands if not isinstance(item, tuple)}
        if len(dtypes) != 1:
            raise UnsupportedScalar
        (dtype,) = dtypes
        return [self.constant(item[0], dtype) if isinstance(item, tuple) else item for item in operands]

    def _numeric(self, name: str, *operands: int) -> int:
        if name == "pow" and self.steps[operands[1]][0] == "const" and self.steps[operands[1]][2] == 2:
            name, operands = "mul", (operands[0], operands[0])
        kind = self.dtype(operands[0]).kind
        if kind not in ("f" if name in FUNCTIONS or name in ("div", "pow") else "fiu"):
            raise UnsupportedScalar
        return self.add(name, self.dtype(operands[0]), *operands)

    def _called(self, tree: ast.Call, names: dict[str, _Operand], attrs: dict[str, Any]) -> _Operand:
        assert isinstance(tree.func, ast.Name)
        name = tree.func.id
        arguments = [self._compile(part, names, attrs) for part in tree.args]
        if name in _MACROS:
            return self._compile(_parsed(_MACROS[name]), {"x": arguments[0]}, {})
        if name == "where":
            condition, *branches = arguments
            if isinstance(condition, tuple) or self.dtype(condition) != _BOOL:
                raise UnsupportedScalar
            if all(isinstance(branch, tuple) for branch in branches):
                # Numbers alone take the dtype of the compared operand, the only one there is.
                branches = [
                    self.constant(branch[0], self._compared(condition))
                    for branch in branches
                    if isinstance(branch, tuple)
                ]
            x, y = self._alike(branches)
            return self.add("where", self.dtype(x), condition, x, y)
        if name == "cast":
            return self._cast(arguments[0], arguments[1])
        return self._numeric(name, *self._alike(arguments))

    def _compared(self, condition: int) -> np.dtype[Any]:
        operand = self.steps[condition][2]
        return self.dtype(operand)

    def _cast(self, operand: _Operand, to: _Operand) -> int:
        dtype: np.dtype[Any] | None = np.dtype(to[0]) if isinstance(to, tuple) else None
        if dtype is not None and is_half(dtype):
            if isinstance(operand, tuple) or self.dtype(operand) not in _OF_SINGLE:
                raise UnsupportedScalar
            dtype = _FLOAT32  # the result is rounded
        if (
            dtype not in DTYPES
            or isinstance(operand, tuple)
            or (self.dtype(operand).kind == "f" and dtype.kind in "iu")
        ):
            raise UnsupportedScalar  # NumPy's integers for NaN and for numbers out of range depend on the CPU
        if self.dtype(operand) == dtype:
            return operand
        if dtype == _BOOL:
            return self.add("ne", _BOOL, operand, self.constant(0, self.dtype(operand)))
        return self.add("cast", dtype, operand)


@functools.cache
def _parsed(text: str) -> ast.expr:
    """Return the syntax tree of an expression of the table or of this file; Python never runs it."""
    return ast.parse(text, mode="eval").body


def _is_true(test: ast.expr, attrs: dict[str, Any]) -> bool:
    assert isinstance(test, ast.Compare)
    assert isinstance(test.left, ast.Name)
    (constant,) = test.comparators
    assert isinstance(constant, ast.Constant)
    return bool(attrs[test.left.id] == constant.value)
