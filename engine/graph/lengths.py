"""Lengths of axes that a trace leaves open: what stands in the shapes of its tensors in the place of ints.

A ``Length`` is an int to whoever looks at it. What is computed of it by ``+ - * // %`` is followed as an expression of
the arguments' lengths. Whatever else is asked of it gets the number of this run, and that is noted: the outcome of a
comparison, or, for everything that is not followed, the number itself. A plan holds for all lengths of which the same
is true; so what is not followed makes a plan for one length, and never a wrong one.
"""

from __future__ import annotations

import gc
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .graph import replace_values
from .sizes import LEAST, Size, bounds, minus, plus, quotient, remainder, text, times, variables_in

__all__ = ["Length", "Lengths", "whole"]


class Lengths:
    """The open lengths of a trace, and what was found out about them.

    Args:
        shapes: those of the tensors among the arguments.
        axes: of each of them, which axes have a length that is left open.

    Attributes:
        places: of each open length, the tensor and the axis.
        numbers: what they are in this run.
        guards: of each comparison of a size with 0, its outcome.
        pinned: the numbers of the lengths that may be no other ones.
        is_on: whether the trace is under way.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], axes: Sequence[tuple[int, ...]]) -> None:
        self.places = [(place, axis) for place, some in enumerate(axes) for axis in some]
        self.numbers = [shapes[place][axis] for place, axis in self.places]
        self.guards: dict[tuple[str, Size], bool] = {}
        self.pinned: set[int] = set()
        self.is_on = True
        self._shapes = list(shapes)

    def shape_of(self, place: int) -> tuple[int | Size, ...]:
        """The shape of an argument.

        Args:
            place: of the tensor among the arguments.
        """
        numbers = {axis: number for number, (of, axis) in enumerate(self.places) if of == place}
        return tuple([Size.of(numbers[k]) if k in numbers else n for k, n in enumerate(self._shapes[place])])

    def number(self, size: int | Size) -> int:
        """What a size is in this run."""
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
        """A size as code gets to see it."""
        return Length(size, self.number(size), self) if isinstance(size, Size) else size

    def asked(self, sign: str, size: int | Size) -> bool:
        """Whether a size is ``==``, ``<`` or ``<=`` 0; what is not so for all lengths is noted."""
        compare = _SIGNS[sign]
        found: bool = compare(self.number(size), 0)
        if not isinstance(size, Size) or not self.is_on or variables_in(size) <= self.pinned:
            return found
        low, high = bounds(size)
        if (sign == "==" and (low > 0 or high < 0)) or (sign != "==" and compare(low, 0) == compare(high, 0)):
            return found
        self.guards[sign, size if sign != "==" or size.terms[0][1] > 0 else times(size, -1)] = found  # type: ignore[index]
        if found and sign == "==":
            products = [product for product, _ in size.terms if product]
            if len(products) == 1 and len(products[0]) == 1 and len(products[0][0]) == 1:
                self.pinned.add(products[0][0][0])
        return found

    def pin(self, size: int | Size) -> int:
        """The number that a size is, for which the plan will be."""
        number = self.number(size)
        self.asked("==", minus(size, number))
        return number

    def pin_all(self) -> None:
        """Let the plan be for the arguments' shapes as they are."""
        for number in range(len(self.numbers)):
            self.pin(Size.of(number))

    def no_broadcast(self, size: int | Size) -> None:
        """Note of a length that the run went on with that it is neither 0 nor 1, or else what it is."""
        if isinstance(size, Size) and self.asked("<", minus(size, LEAST)):
            self.pin(size)

    @property
    def are_open(self) -> bool:
        """Whether another length may come."""
        return len(self.pinned) < len(self.numbers)

    def fits(self, shapes: Sequence[tuple[int | Size, ...]]) -> Callable[..., bool]:
        """A function that tells of the shapes of arguments whether the same is true of them.

        Args:
            shapes: the arguments' shapes in the trace.
        """
        said = [f"len(a{place}) == {len(shape)}" for place, shape in enumerate(shapes)]
        named = {place: f"n{number}" for number, place in enumerate(self.places)}
        for place, shape in enumerate(shapes):
            for axis, size in enumerate(shape):
                one = f"a{place}[{axis}]"
                name = named.get((place, axis))
                said.append(f"({name} := {one}) >= {LEAST}" if name else f"{one} == {text(size)}")
        said.sort(key=lambda line: "n" in line.partition("==")[2])  # of a tensor that is passed twice: sizes come last
        said += [f"({text(size)} {sign} 0) is {found}" for (sign, size), found in self.guards.items()]
        given = ", ".join(f"a{place}" for place in range(len(shapes)))
        # The text is made here of numbers and numbered names alone; nothing of the user's stands in it.
        found: Callable[..., bool] = eval(f"lambda {given}: {' and '.join(said) or 'True'}", {"len": len})
        return found

    def end(self) -> None:
        """The trace is over: from here on a length is no more than its number."""
        self.is_on = False

    def settled(self, value: Any) -> Any:
        """What a function returned, with ints in the place of lengths, also in lists and dictionaries."""
        if type(value) is Length:
            return value.number
        if type(value) is list:
            value[:] = [self.settled(part) for part in value]
        elif type(value) is dict:
            items = [(self.settled(key), self.settled(part)) for key, part in value.items()]
            value.clear()
            value.update(items)
        elif isinstance(value, tuple):
            parts = [self.settled(part) for part in value]
            if any(part is not one for part, one in zip(parts, value, strict=True)):
                return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value

    def left(self) -> bool:
        """Put ints in the place of lengths that code has kept; whether there were any."""
        gc.collect()
        kept = tuple([one for one in gc.get_referrers(self) if type(one) is Length])
        for one in kept:
            _replace(one, one.number, 3)
        return bool(kept)


_SIGNS = {"==": operator.eq, "<": operator.lt, "<=": operator.le}


def _replace(one: Any, by: Any, depth: int) -> None:
    """Put something in the place of an object, wherever it is held; no closure of this function may hold it."""
    for holder in gc.get_referrers(one):
        if isinstance(holder, types.FrameType):
            continue
        held = holder if isinstance(holder, dict) else getattr(holder, "__dict__", None)
        if type(holder) is list:
            for place, part in enumerate(holder):
                if part is one:
                    holder[place] = by
        elif type(holder) is tuple and depth:
            parts = list(holder)
            for place, part in enumerate(parts):
                if part is one:
                    parts[place] = by
            _replace(holder, tuple(parts), depth - 1)
        elif isinstance(holder, types.CellType):
            holder.cell_contents = by
        elif isinstance(held, dict):
            for key, part in list(held.items()):
                if part is one:
                    held[key] = by


class Length:
    """A length, see above.

    Args:
        size: what it is.
        number: what it is in this run.
        lengths: those of the trace.
    """

    __slots__ = ("lengths", "number", "size")

    def __init__(self, size: Size, number: int, lengths: Lengths) -> None:
        self.size = size
        self.number = number
        self.lengths = lengths

    @property  # type: ignore[misc]  # a class is read only here
    def __class__(self) -> Any:
        """``int``, by which ``isinstance`` goes."""
        return int

    def __index__(self) -> int:
        return self.lengths.pin(self.size) if self.lengths.is_on else self.number

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        return float(self.__index__())

    def __bool__(self) -> bool:
        return not self._asked("==", self.size)

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
        return self._computed(times, -1, operator.mul)

    def __invert__(self) -> int:
        return ~self.__index__()

    def __abs__(self) -> Any:
        return -self if self._asked("<", self.size) else self

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
        return getattr(ufunc, method)(*whole(inputs), **whole(kwargs))

    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return function(*whole(args), **whole(kwargs))

    def __getattr__(self, name: str) -> Any:
        if not hasattr(int, name):
            raise AttributeError(f"'int' object has no attribute '{name}'")
        return getattr(self.__index__(), name)

    def _asked(self, sign: str, size: int | Size) -> bool:
        return self.lengths.asked(sign, size)

    def _size_of(self, other: Any) -> int | Size | None:
        """What another operand is; None of what is not followed."""
        if type(other) is Length and other.lengths is self.lengths:
            return other.size if self.lengths.is_on else other.number
        return int(other) if type(other) is int or type(other) is bool else None

    def _computed(self, follow: Callable[..., int | Size], other: Any, compute: Callable[..., Any]) -> Any:
        by = self._size_of(other)
        if by is None or not self.lengths.is_on:
            return compute(self.__index__(), whole(other))
        return self.lengths.of(follow(self.size, by))

    def _divided(self, follow: Callable[..., int | Size], other: Any, compute: Callable[..., Any]) -> Any:
        by = self._size_of(other)
        if by is None or not self.lengths.is_on or self._asked("==", by):
            return compute(self.__index__(), whole(other))
        return self.lengths.of(follow(self.size, by))


def whole(value: Any) -> Any:
    """A value with ints in the place of lengths in it, for which the plan will be.

    Args:
        value: anything; tuples, lists, dictionaries and slices are looked into.
    """
    return replace_values(value, (Length,), operator.index)


def _follow() -> None:
    """The operators, in both orders of operands."""
    for name, follow in (("add", plus), ("sub", minus), ("mul", times)):
        compute = getattr(operator, name)

        def forward(self: Length, other: Any, follow: Any = follow, compute: Any = compute) -> Any:
            return self._computed(follow, other, compute) if isinstance(other, _NUMBERS) else NotImplemented

        def backward(self: Length, other: Any, follow: Any = follow, compute: Any = compute) -> Any:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            return self._computed(lambda a, b: follow(b, a), other, lambda a, b: compute(b, a))

        setattr(Length, f"__{name}__", forward)
        setattr(Length, f"__r{name}__", backward)
    for name, follow, compute in (("floordiv", quotient, operator.floordiv), ("mod", remainder, operator.mod)):

        def divided(self: Length, other: Any, follow: Any = follow, compute: Any = compute) -> Any:
            return self._divided(follow, other, compute) if isinstance(other, _NUMBERS) else NotImplemented

        def divides(self: Length, other: Any, compute: Any = compute, name: str = name) -> Any:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            if type(other) is int and self.lengths.is_on and not self._asked("==", self.size):
                return self.lengths.of((quotient if name == "floordiv" else remainder)(other, self.size))
            return compute(other, self.__index__())

        setattr(Length, f"__{name}__", divided)
        setattr(Length, f"__r{name}__", divides)
    for name in ("truediv", "pow", "divmod", "and", "or", "xor", "lshift", "rshift"):
        compute = divmod if name == "divmod" else getattr(operator, f"{name}_" if name in ("and", "or") else name)

        def not_followed(self: Length, other: Any, *more: Any, compute: Any = compute) -> Any:
            if not isinstance(other, _NUMBERS):
                return NotImplemented
            return (pow if more else compute)(self.__index__(), whole(other), *whole(more))

        def not_followed_back(self: Length, other: Any, *more: Any, compute: Any = compute) -> Any:
            return compute(other, self.__index__()) if isinstance(other, _NUMBERS) else NotImplemented

        setattr(Length, f"__{name}__", not_followed)
        setattr(Length, f"__r{name}__", not_followed_back)
    for name, sign, turned, wanted in (
        ("eq", "==", False, True),
        ("ne", "==", False, False),
        ("lt", "<", False, True),
        ("le", "<=", False, True),
        ("gt", "<", True, True),
        ("ge", "<=", True, True),
    ):

        def compared(
            self: Length, other: Any, name: str = name, sign: str = sign, turned: bool = turned, wanted: bool = wanted
        ) -> Any:
            by = self._size_of(other)
            if by is None or not self.lengths.is_on:
                if not isinstance(other, _NUMBERS):
                    return NotImplemented
                return getattr(operator, name)(self.__index__(), whole(other))
            return self._asked(sign, minus(by, self.size) if turned else minus(self.size, by)) is wanted

        setattr(Length, f"__{name}__", compared)


_NUMBERS = (int, float, complex, np.generic)
_follow()
