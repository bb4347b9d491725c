"""Words for a value of any kind, without code of its class."""

from __future__ import annotations

from typing import Any

from hookscope.engine.nn.cell import Cell

from ...inert_reads import array_of, is_tensor
from .origins import shape_text

__all__ = ["kind_text"]


def kind_text(value: object) -> str:
    """Return what a value is: "a tuple of 2 tensors", "the float 0.1", "None", "a Tensor (2, 3)"."""
    kind = type(value)
    if value is None:
        return "None"
    if kind in (int, float, bool):
        return f"the {kind.__name__} {value}"
    if is_tensor(value):
        return f"a Tensor {shape_text(array_of(value))}"
    if kind in (list, tuple, dict, set):
        collection: Any = value
        items = list(collection.values() if kind is dict else collection)
        names = {"tensor": is_tensor, "layer": lambda item: issubclass(type(item), Cell)}
        noun = next((name for name, is_kind in names.items() if items and all(map(is_kind, items))), "entry")
        plural = "entries" if noun == "entry" else f"{noun}s"
        return f"a {kind.__name__} of {len(items)} {noun if len(items) == 1 else plural}"
    return f"{'an' if kind.__name__[:1] in 'aeiouAEIOU' else 'a'} {kind.__name__}"
