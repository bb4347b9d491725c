"""Names and texts of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..base.quoting import escape
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
    """Return the parameters of a network by their names, or by their paths if two of them share a name.

    The first call of a cell assigns the names in the same way.

    Args:
        net: the network.
        caller: the function, for the error.

    Raises:
        ValueError: two parameters share one name and one path.
    """
    pairs = list(net.parameters_and_names())
    parameters = {parameter.name: parameter for _, parameter in pairs}
    if len(parameters) < len(pairs):
        refuse_same_names(pairs, caller)
        parameters = dict(pairs)
    return parameters


def refuse_same_names(pairs: Iterable[tuple[str, Any]], caller: str) -> None:
    """Raise an error for different values of one name, of which a file would hold only the last.

    Args:
        pairs: names and values.
        caller: the function, for the error.

    Raises:
        ValueError: there are different values of one name; the text lists the names.
    """
    values: dict[str, Any] = {}
    duplicates = [name for name, value in pairs if values.setdefault(name, value) is not value]
    if duplicates:
        names = ", ".join(f"'{escape(name)}'" for name in list(dict.fromkeys(duplicates))[:4])
        raise ValueError(f"For '{caller}', names must differ, but several values are named {names}")
