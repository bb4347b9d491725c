"""Which names and texts a checkpoint holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..base.quoting import shown
from ..tensors.parameter import LONGEST_NAME, Parameter

if TYPE_CHECKING:
    from ..nn.cell import Cell

__all__ = ["is_name", "is_text", "parameters_by_name", "refuse_same_names"]


def is_text(value: str) -> bool:
    """Return whether Unicode can encode each character; lone surrogates, as in a file name that is not UTF-8, cannot
    be.

    Args:
        value: the text.
    """
    return not any("\ud800" <= c <= "\udfff" for c in value)


def is_name(value: str) -> bool:
    """Return whether a text can name a parameter in a file: not empty, and not longer than a parameter's name may be.

    Args:
        value: the text.
    """
    return bool(value.strip()) and len(value) <= LONGEST_NAME and is_text(value)


def parameters_by_name(net: Cell, caller: str) -> dict[str, Parameter]:
    """Return the parameters of a network by their names, or by their paths where two of them share a name.

    So the first call of a cell names them, too.

    Args:
        net: the network.
        caller: the function, for the error.

    Raises:
        ValueError: two have one name, and one path.
    """
    held = list(net.parameters_and_names())
    found = {parameter.name: parameter for _, parameter in held}
    if len(found) < len(held):
        refuse_same_names(held, caller)
        found = dict(held)
    return found


def refuse_same_names(pairs: Iterable[tuple[str, Any]], caller: str) -> None:
    """Raise an error for different values of one name, of which a file would hold only the last.

    Args:
        pairs: names and values.
        caller: the function, for the error.

    Raises:
        ValueError: there are such; the text has their names.
    """
    values: dict[str, Any] = {}
    same = [name for name, value in pairs if values.setdefault(name, value) is not value]
    if same:
        names = ", ".join(f"'{shown(name)}'" for name in list(dict.fromkeys(same))[:4])
        raise ValueError(f"For '{caller}', names must differ, but several values are named {names}")
