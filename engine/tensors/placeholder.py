"""Tensors without values: the element types and shapes of inputs that are still to come, for ``Cell.set_inputs``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ..base.argument_checks import check_above_zero, check_bool, check_int
from ..base.types import DTypeLike
from .dtype import DType, numpy_dtype, to_dtype
from .tensor import Tensor

__all__ = ["Placeholder", "Symbol", "become_placeholder", "is_open"]

UNKNOWN_LENGTH, UNKNOWN_RANK = -1, -2


class Symbol:
    """What a graph compiler may assume of a size that it does not know; kept.

    Args:
        max: the largest size; 0 stands for any.
        min: the least size.
        divisor: what the size leaves ``remainder`` by.
        remainder: what is left of the size by ``divisor``, in [0, divisor).
        unique: whether sizes with the same symbol are the same.
        **kwargs: kept for callers.

    Raises:
        TypeError: a figure is no int, or ``unique`` no bool.
        ValueError: ``min`` or ``divisor`` is below 1, or ``remainder`` out of its range.
    """

    def __init__(
        self, max: int = 0, min: int = 1, divisor: int = 1, remainder: int = 0, unique: bool = False, **kwargs: Any
    ) -> None:
        self.figures: dict[str, Any] = {"max": max, "min": min, "divisor": divisor, "remainder": remainder}
        for name, value in self.figures.items():
            check_int(value, "Symbol", name)
        for name in ("min", "divisor"):
            check_above_zero(self.figures[name], "Symbol", name)
        if not 0 <= remainder < divisor:
            raise ValueError(f"For 'Symbol', 'remainder' must be in [0, {divisor}), but got {remainder}")
        self.figures["unique"] = check_bool(unique, "Symbol", "unique")

    def __str__(self) -> str:
        return str(self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """The figures that say something: a ``max`` above ``min``, a ``min`` above what the divisor leaves anyway, a
        divisor and a remainder that are not the defaults, and of a ``unique`` symbol the ``id`` that no other has."""
        figures = self.figures
        told = {
            "max": figures["max"] > figures["min"],
            "min": figures["min"] > figures["divisor"] + figures["remainder"],
            "divisor": figures["divisor"] != 1,
            "remainder": figures["remainder"] != 0,
        }
        found = {name: figures[name] for name, tells in told.items() if tells}
        return {**found, "id": id(self)} if figures["unique"] else found


class Placeholder(Tensor):
    """What ``Tensor(shape=[None, 3], dtype=ms.float32)`` makes: a Tensor of a dtype and a shape, without values.

    A length that is not known is -1 in ``shape``; the shape of which nothing is known is (-2,).
    """

    __slots__ = ()

    @property
    def _array(self) -> NoReturn:
        raise ValueError(
            f"a placeholder of shape {self.shape} has no values: it tells Cell.set_inputs what inputs will come"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis, -1 where it is not known; (-2,) where nothing is known."""
        return tuple(n if isinstance(n, int) else UNKNOWN_LENGTH for n in self.__dict__["symbolic_shape"])

    @property
    def dtype(self) -> DType:
        """The element type."""
        found: DType = self.__dict__["_dtype"]
        return found

    @property
    def ndim(self) -> int:
        """The number of lengths in ``shape``."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """0: there are no elements."""
        return 0

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(numpy_dtype(self.dtype).itemsize)

    @property
    def nbytes(self) -> int:
        """0: there are no elements."""
        return 0

    def __copy__(self) -> Tensor:
        return Tensor(shape=self.__dict__["_lengths"], dtype=self.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return memo.setdefault(id(self), self.__copy__())

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (None, self.dtype, self.__dict__["_lengths"])

    def __repr__(self) -> str:
        return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value=\n)"

    __str__ = __repr__


def is_open(shape: Any) -> bool:
    """Whether a shape has a length that is not known."""
    lengths = shape if isinstance(shape, list | tuple) else ()
    return any(n is None or isinstance(n, Symbol) or n in (UNKNOWN_LENGTH, UNKNOWN_RANK) for n in lengths)


def become_placeholder(tensor: Tensor, shape: Sequence[int | Symbol | None] | None, dtype: DTypeLike) -> None:
    """Make a new Tensor a placeholder.

    Args:
        tensor: a Tensor that has no values yet.
        shape: for each axis an int, or None or a Symbol where it is not known; None where nothing is.
        dtype: the element type.

    Raises:
        ValueError: a length is below -1.
        TypeError: a length is no int.
    """
    nothing = shape is None or list(shape) == [UNKNOWN_RANK]
    known = [n for n in shape or () if n is not None and not isinstance(n, Symbol)]
    if not nothing and any(check_int(n, "Tensor", "shape") < UNKNOWN_LENGTH for n in known):
        raise ValueError(f"For 'Tensor', a length in 'shape' must be 0 or more, or -1 or None, but got {shape}")
    lengths = [UNKNOWN_LENGTH if n is None else n.to_dict() if isinstance(n, Symbol) else n for n in shape or ()]
    kept = {"_dtype": to_dtype(dtype), "_lengths": shape, "symbolic_shape": [UNKNOWN_RANK] if nothing else lengths}
    tensor.__class__ = Placeholder
    tensor.__dict__.update(kept)
