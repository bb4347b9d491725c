"""Padding layers of ``mindspore.mint.nn`` for the last one, two or three axes."""

from __future__ import annotations

from typing import Any

from ....base.types import Ints
from ....nn.cell import Cell
from ....tensors.tensor import Tensor
from . import functional as F  # noqa: N812

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Cell):
    axes, mode = 1, "constant"

    def __init__(self, padding: Ints) -> None:
        super().__init__()
        sizes = padding if isinstance(padding, tuple | list) else ()
        ends = (padding,) * (2 * self.axes) if isinstance(padding, int) else tuple(sizes)
        if len(ends) != 2 * self.axes:
            raise ValueError(
                f"For 'mint.nn.{type(self).__name__}', 'padding' must be a number or {2 * self.axes} of them, "
                f"but got {padding!r}"
            )
        self.padding, self.value = ends, 0.0

    def construct(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, self.value if self.mode == "constant" else None)

    def extend_repr(self) -> str:
        return f"padding={self.padding}"


class _Constant(_Pad):
    def __init__(self, padding: Ints, value: float) -> None:
        super().__init__(padding)
        self.value = value


def _family(name: str, base: type[_Pad], mode: str) -> list[Any]:
    docs = {"constant": "A value", "reflect": "The mirrored elements", "replicate": "The last element"}
    value = "\n    value: the padding value." if base is _Constant else ""
    return [
        type(
            f"{name}{axes}d",
            (base,),
            {
                "axes": axes,
                "mode": mode,
                "__module__": __name__,
                "__doc__": f"""{docs[mode] if value or mode != "constant" else "Zeros"} put at both ends of the last {
                    "axis" if axes == 1 else f"{axes} axes"
                }.

Args:
    padding: how many: an int for every end, or {2 * axes} of them: before and behind the last axis, then the one
        before it, and so on.{value}

Raises:
    ValueError: the wrong number of ints.
""",
            },
        )
        for axes in (1, 2, 3)
    ]


ConstantPad1d, ConstantPad2d, ConstantPad3d = _family("ConstantPad", _Constant, "constant")
ZeroPad1d, ZeroPad2d, ZeroPad3d = _family("ZeroPad", _Pad, "constant")
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = _family("ReflectionPad", _Pad, "reflect")
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = _family("ReplicationPad", _Pad, "replicate")
