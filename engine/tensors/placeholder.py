"""Tensors without values: dtypes and shapes of future inputs, for ``Cell.set_inputs``."""

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
    """Constraints on an unknown size for a graph compiler; stored only.

    Args:
        max: the largest size; 0 means unlimited.
        min: the smallest size.
        divisor: the divisor whose remainder is ``remainder``.
        remainder: the remainder of the size by ``divisor``, in [0, divisor).
        unique: whether sizes with the same symbol are the same.
        **kwargs: accepted and ignored.

    Raises:
        TypeError: a number is not an int, or ``unique`` is not a bool.
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
        """Return the informative numbers: a ``max`` above ``min``, a ``min`` above the one that the divisor implies, a
        divisor and a remainder other than the defaults, and for a ``unique`` symbol its ``id``, which no other has."""
        figures = self.figures
        conditions = {
            "max": figures["max"] > figures["min"],
            "min": figures["min"] > figures["divisor"] + figures["remainder"],
            "divisor": figures["divisor"] != 1,
            "remainder": figures["remainder"] != 0,
        }
        informative = {name: figures[name] for name, is_informative in conditions.items() if is_informative}
        return {**informative, "id": id(self)} if figures["unique"] else informative


class Placeholder(Tensor):
    """Result of ``Tensor(shape=[None, 3], dtype=ms.float32)``: a Tensor of a dtype and a shape, without values.

    An unknown length is -1 in ``shape``; a completely unknown shape is (-2,).
    """

    __slots__ = ()

    @property
    def _array(self) -> NoReturn:
        raise ValueError(
            f"a placeholder of shape {self.shape} has no values: it describes the coming inputs to Cell.set_inputs"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis, -1 if unknown; (-2,) for a completely unknown shape."""
        return tuple(n if isinstance(n, int) else UNKNOWN_LENGTH for n in self.__dict__["symbolic_shape"])

    @property
    def dtype(self) -> DType:
        """The element type."""
        dtype: DType = self.__dict__["_dtype"]
        return dtype

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
    """Return whether a shape has an unknown length."""
    lengths = shape if isinstance(shape, list | tuple) else ()
    return any(n is None or isinstance(n, Symbol) or n in (UNKNOWN_LENGTH, UNKNOWN_RANK) for n in lengths)


def become_placeholder(tensor: Tensor, shape: Sequence[int | Symbol | None] | None, dtype: DTypeLike) -> None:
    """Turn a new Tensor into a placeholder.

    Args:
        tensor: a Tensor that has no values yet.
        shape: for each axis an int, or None or a Symbol if unknown; None for a completely unknown shape.
        dtype: the element type.

    Raises:
        ValueError: a length is below -1.
        TypeError: a length is not an int.
    """
    nothing = shape is None or list(shape) == [UNKNOWN_RANK]
    concrete_lengths = [n for n in shape or () if n is not None and not isinstance(n, Symbol)]
    if not nothing and any(check_int(n, "Tensor", "shape") < UNKNOWN_LENGTH for n in concrete_lengths):
        raise ValueError(f"For 'Tensor', a length in 'shape' must be 0 or more, or -1 or None, but got {shape}")
    lengths = [UNKNOWN_LENGTH if n is None else n.to_dict() if isinstance(n, Symbol) else n for n in shape or ()]
    attributes = {
        "_dtype": to_dtype(dtype),
        "_lengths": shape,
        "symbolic_shape": [UNKNOWN_RANK] if nothing else lengths,
    }
    tensor.__class__ = Placeholder
    tensor.__dict__.update(attributes)
