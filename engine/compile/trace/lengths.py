"""Symbolic dimensions: stand-ins for ints in the shapes of a trace's tensors.

A ``Length`` behaves like an int. Results of ``+ - * // %`` are tracked as expressions of the arguments' dimensions.
Every other operation gets the number of this run, which is noted: the outcome of a comparison, or, for an untracked
operation, the number itself. A plan holds for all dimensions with the same outcomes; an untracked operation thus yields
a plan for one number, never a wrong plan.
"""

from __future__ import annotations

import gc
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import replace_values
from ..sizes import LEAST, Size, bounds, minus, plus, quotient, remainder, text, times, variables_in

__all__ = ["Length", "Lengths", "without_lengths"]


class Lengths:
    """The symbolic dimensions of a trace, and the guards on them.

    Args:
        shapes: shapes of the tensors among the arguments.
        axes: the symbolic axes of each of these tensors.

    Attributes:
        axes: tensor index and axis of each symbolic dimension.
        numbers: their numbers in this run.
        guards: outcome of each comparison of a size with 0.
        pinned: indices of the dimensions that are fixed to their number.
        is_on: whether the trace is active.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], axes: Sequence[tuple[int, ...]]) -> None:
        self.axes = [(index, axis) for index, own_axes in enumerate(axes) for axis in own_axes]
        self.numbers = [shapes[index][axis] for index, axis in self.axes]
        self.guards: dict[tuple[str, Size], bool] = {}
        self.pinned: set[int] = set()
        self.is_on = True
        self._shapes = list(shapes)

    def shape_of(self, tensor_index: int) -> tuple[int | Size, ...]:
        """Return the shape of an argument.

        Args:
            tensor_index: index of the tensor among the arguments.
        """
        numbers = {axis: number for number, (index, axis) in enumerate(self.axes) if index == tensor_index}
        return tuple([Size.of(numbers[k]) if k in numbers else n for k, n in enumerate(self._shapes[tensor_index])])

    def number(self, size: int | Size) -> int:
        """Return the number of a size in this run."""
        if not isinstance(size, Size):
            return size
        total = 0
        for product, factor in size.terms:
            for atom in product:
                if len(atom) == 1:
                    factor *= self.numbers[atom[0]]
                else:
                    a, b = self.number(atom[1]), self.number(atom[2])
                    factor *= a // b if atom[0] == "//" else a % b
            total += factor
        return total

    def of(self, size: int | Size) -> Any:
        """Return a size in the form that code sees."""
        return Length(size, self.number(size), self) if isinstance(size, Size) else size

    def compare(self, sign: str, size: int | Size) -> bool:
        """Return whether a size is ``==``, ``<`` or ``<=`` 0; add a guard unless this holds for all or no numbers."""
        compare = _SIGNS[sign]
        outcome: bool = compare(self.number(size), 0)
        if not isinstance(size, Size) or not self.is_on or variables_in(size) <= self.pinned:
            return outcome
        low, high = bounds(size)
        if (sign == "==" and (low > 0 or high < 0)) or (sign != "==" and compare(low, 0) == compare(high, 0)):
            return outcome
        self.guards[sign, size if sign != "==" or size.terms[0][1] > 0 else times(size, -1)] = outcome  # type: ignore[index]
        if outcome and sign == "==":
            products = [product for product, _ in size.terms if product]
            if len(products) == 1 and len(products[0]) == 1 and len(products[0][0]) == 1:
                self.pinned.add(products[0][0][0])
        return outcome

    def pin(self, size: int | Size) -> int:
        """Return the number of a size and guard the plan by it."""
        number = self.number(size)
        self.compare("==", minus(size, number))
        return number

    def pin_all(self) -> None:
        """Guard the plan by the arguments' current shapes."""
        for number in range(len(self.numbers)):
            self.pin(Size.of(number))

    def no_broadcast(self, size: int | Size) -> None:
        """Guard the plan by a size that is neither 0 nor 1, otherwise by its number."""
        if isinstance(size, Size) and self.compare("<", minus(size, LEAST)):
            self.pin(size)

    @property
    def are_open(self) -> bool:
        """True if some dimension is not pinned."""
        return len(self.pinned) < len(self.numbers)

    def fits(self, shapes: Sequence[tuple[int | Size, ...]]) -> Callable[..., bool]:
        """Return a predicate on the shapes of arguments that checks all guards.

        Args:
            shapes: the arguments' shapes in the trace.
        """
        conditions = [f"len(a{index}) == {len(shape)}" for index, shape in enumerate(shapes)]
        names = {index: f"n{number}" for number, index in enumerate(self.axes)}
        for index, shape in enumerate(shapes):
            for axis, size in enumerate(shape):
                entry = f"a{index}[{axis}]"
                name = names.get((index, axis))
                conditions.append(f"({name} := {entry}) >= {LEAST}" if name else f"{entry} == {text(size)}")
        # Checks of sizes come last, for a tensor that is passed twice.
        conditions.sort(key=lambda line: "n" in line.partition("==")[2])
        conditions += [f"({text(size)} {sign} 0) is {outcome}" for (sign, size), outcome in self.guards.items()]
        parameters = ", ".join(f"a{index}" for index in range(len(shapes)))
        # The text consists of numbers and numbered names alone; it contains no text of the user's.
        outcome: Callable[..., bool] = eval(f"lambda {parameters}: {' and '.join(conditions) or 'True'}", {"len": len})
        return outcome

    def end(self) -> None:
        """End the trace: from now on a length is only its number."""
        self.is_on = False

    def settle(self, value: Any) -> Any:
        """Return a function's result with ints in place of lengths, also in lists and dictionaries."""
        if type(value) is Length:
            return value.number
        if type(value) is list:
            value[:] = [self.settle(part) for part in value]
        elif type(value) is dict:
            items = [(self.settle(key), self.settle(part)) for key, part in value.items()]
            value.clear()
            value.update(items)
        elif isinstance(value, tuple):
            parts = [self.settle(part) for part in value]
            if any(part is not original for part, original in zip(parts, value, strict=True)):
                return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value

    def remain(self) -> bool:
        """Replace lengths that code has kept by ints; return whether there were any."""
        gc.collect()
        lengths = tuple([length for length in gc.get_referrers(self) if type(length) is Length])
        for length in lengths:
            _replace(length, length.number, 3)
        return bool(lengths)


_SIGNS = {"==": operator.eq, "<": operator.lt, "<=": operator.le}


def _replace(obj: Any, by: Any, depth: int) -> None:
    """Replace an object wherever it is referenced; closures of this function must not reference it."""
    for holder in gc.get_referrers(obj):
        if isinstance(holder, types.FrameType):
            continue
        attributes = holder if isinstance(holder, dict) else getattr(holder, "__dict__", None)
        if type(holder) is list:
            for index, part in enumerate(holder):
                if part is obj:
                    holder[index] = by
        elif type(holder) is tuple and depth:
            parts = list(holder)
            for index, part in enumerate(parts):
                if part is obj:
                    parts[index] = by
            _replace(holder, tuple(parts), depth - 1)
        elif isinstance(holder, types.CellType):
            holder.cell_contents = by
        elif isinstance(attributes, dict):
            for key, part in list(attributes.items()):
                if part is obj:
                    attributes[key] = by


class Length:
    """A symbolic dimension, used by traced code like an int.

    Args:
        size: the expression.
        number: its number in this run.
        lengths: the symbolic dimensions of the trace.
    """

    __slots__ = ("lengths", "number", "size")

    def __init__(self, size: Size, number: int, lengths: Lengths) -> None:
        self.size = size
        self.number = number
        self.lengths = lengths

    @property  # type: ignore[misc]  # a class here, but read-only
    def __class__(self) -> Any:
        """``int``, for ``isinstance``."""
        return int

    def __index__(self) -> int:
        return self.lengths.pin(self.size) if self.lengths.is_on else self.number

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        return float(self.__index__())

    def __bool__(self) -> bool:
        return not self._compare("==", self.size)

    def __hash__(self) -> int:
        return hash(self.__index__())

    def __repr__(self) -> str:
        return repr(self.__index__())

    def __str__(self) -> str:
        return str(self.__index__())

    def __format__(self, spec: str) -> str:
        return format(self.__index__(), spec)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return self._compute(times, -1, operator.mul)

    def __invert__(self) -> int:
        return ~self.__index__()

    def __abs__(self) -> Any:
        return -self if self._compare("<", self.size) else self

    def __round__(self, digits: int | None = None) -> Any:
        return self if digits is None else round(self.__index__(), digits)

    def __floor__(self) -> Any:
        return self

    __ceil__ = __trunc__ = __floor__

    def __copy__(self) -> int:
        return self.__index__()

    def __deepcopy__(self, memo: dict[int, Any]) -> int:
        return self.__index__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return int, (self.__index__(),)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.__index__(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*without_lengths(inputs), **without_lengths(kwargs))

    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return function(*without_lengths(args), **without_lengths(kwargs))

    def __getattr__(self, name: str) -> Any:
        if not hasattr(int, name):
            raise AttributeError(f"'int' object has no attribute '{name}'")
        return getattr(self.__index__(), name)

    def _compare(self, sign: str, size: int | Size) -> bool:
        return self.lengths.compare(sign, size)

    def _size_of(self, other: Any) -> int | Size | None:
        """Return the size of an operand; None if it is not tracked."""
        if type(other) is Length and other.lengths is self.lengths:
            return other.size if self.lengths.is_on else other.number
        return int(other) if type(other) is int or type(other) is bool else None

    def _compute(self, follow: Callable[..., int | Size], other: Any, compute: Callable[..., Any]) -> Any:
        operand = self._size_of(other)
        if operand is None or not self.lengths.is_on:
            return compute(self.__index__(), without_lengths(other))
        return self.lengths.of(follow(self.size, operand))

    def _divide(self, follow: Callable[..., int | Size], other: Any, compute: Callable[..., Any]) -> Any:
        operand = self._size_of(other)
        if operand is None or not self.lengths.is_on or self._compare("==", operand):
            return compute(self.__index__(), without_lengths(other))
        return self.lengths.of(follow(self.size, operand))


def without_lengths(value: Any) -> Any:
    """Return a value with ints in place of lengths, and guard the plan by their numbers.

    Args:
        value: any value; tuples, lists, dictionaries and slices are searched.
    """
    return replace_values(value, (Length,), operator.index)


def _follow() -> None:
    """Define the arithmetic and comparison operators, in both orders of operands."""
    for name, follow in (("add", plus), ("sub", minus), ("mul", times)):
        compute = getattr(operator, name)

        def forward(self: Length, other: Any, follow: Any = follow, compute: Any = compute) -> Any:
            return self._compute(follow, other, compute) if isinstance(other, _NUMBERS) else NotImplemented

        def backward(self: Length, other: Any, follow: Any = follow, compute: Any = compute) -> Any:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            return self._compute(lambda a, b: follow(b, a), other, lambda a, b: compute(b, a))

        setattr(Length, f"__{name}__", forward)
        setattr(Length, f"__r{name}__", backward)
    for name, follow, compute in (("floordiv", quotient, operator.floordiv), ("mod", remainder, operator.mod)):

        def divided(self: Length, other: Any, follow: Any = follow, compute: Any = compute) -> Any:
            return self._divide(follow, other, compute) if isinstance(other, _NUMBERS) else NotImplemented

        def divides(self: Length, other: Any, compute: Any = compute, name: str = name) -> Any:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            if type(other) is int and self.lengths.is_on and not self._compare("==", self.size):
                return self.lengths.of((quotient if name == "floordiv" else remainder)(other, self.size))
            return compute(other, self.__index__())

        setattr(Length, f"__{name}__", divided)
        setattr(Length, f"__r{name}__", divides)
    for name in ("truediv", "pow", "divmod", "and", "or", "xor", "lshift", "rshift"):
        compute = divmod if name == "divmod" else getattr(operator, f"{name}_" if name in ("and", "or") else name)

        def not_followed(self: Length, other: Any, *more: Any, compute: Any = compute) -> Any:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            return (pow if more else compute)(self.__index__(), without_lengths(other), *without_lengths(more))

        def not_followed_back(self: Length, other: Any, *more: Any, compute: Any = compute) -> Any:
            return compute(other, self.__index__()) if isinstance(other, _NUMBERS) else NotImplemented

        setattr(Length, f"__{name}__", not_followed)
        setattr(Length, f"__r{name}__", not_followed_back)
    for name, sign, is_swapped, outcome in (
        ("eq", "==", False, True),
        ("ne", "==", False, False),
        ("lt", "<", False, True),
        ("le", "<=", False, True),
        ("gt", "<", True, True),
        ("ge", "<=", True, True),
    ):

        def compared(
            self: Length,
            other: Any,
            name: str = name,
            sign: str = sign,
            turned: bool = is_swapped,
            expected: bool = outcome,
        ) -> Any:
            operand = self._size_of(other)
            if operand is None or not self.lengths.is_on:
                if not isinstance(other, _NUMBERS):
                    return NotImplemented
                return getattr(operator, name)(self.__index__(), without_lengths(other))
            return self._compare(sign, minus(operand, self.size) if turned else minus(self.size, operand)) is expected

        setattr(Length, f"__{name}__", compared)


_NUMBERS = (int, float, complex, np.generic)
_follow()
