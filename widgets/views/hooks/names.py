"""The names that may stand where a hook is being written: its arguments, its own, the notebook's, and attributes.

What is written is seldom whole Python, so it is read line by line, not parsed. Nothing of the user's is run: an
attribute is looked up where it is stored, and one that must be computed first is passed over.
"""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hookscope.engine.nn import Cell
from hookscope.engine.tensors.tensor import Tensor

MOST = 200
"""So many names are offered at most."""

_NAME = r"[^\W\d]\w*"
_CHAIN = rf"{_NAME}(?:\[-?\d+\])?(?:\.{_NAME}(?:\[-?\d+\])?)*"
_WANTED = re.compile(rf"(?:(?P<of>{_CHAIN})\.|(?<![\w.\])\"']))(?P<begun>(?:{_NAME})?)$")
_DEFINITION = re.compile(rf"^[ \t]*def\s+{_NAME}\s*\(([^)]*)", re.MULTILINE)
_GIVEN = re.compile(rf"^[ \t]*(?P<name>{_NAME})\s*=\s*(?P<value>{_CHAIN})[ \t]*(?:#.*)?$", re.MULTILINE)
_TAKEN = re.compile(rf"\bfor\s+(?P<name>{_NAME})\s+in\s+(?P<value>{_CHAIN})\s*[:\])}}]")
_BOUND = re.compile(
    r"^[ \t]*(?P<targets>\w[\w, \t]*?)[ \t]*=(?!=)|\bfor\s+(?P<each>\w[\w, ]*?)\s+in\b"
    r"|\b(?:as|import|def)\s+(?P<one>\w+)",
    re.MULTILINE,
)
_PART = re.compile(rf"(?P<name>{_NAME})(?:\[(?P<index>-?\d+)\])?")
_DEEPEST = 8  # of names that stand for names that stand for names

# What a hook gets; of a tensor its class stands for it, which has the same attributes.
_TENSORS = (Tensor,) * 16
_GETS: Mapping[str, tuple[object, ...]] = {
    "forward_pre": (Cell, _TENSORS),
    "forward": (Cell, _TENSORS, Tensor),
    "backward_pre": (Cell, _TENSORS),
    "backward": (Cell, _TENSORS, _TENSORS),
}
_UNKNOWN = object()


class Names(NamedTuple):
    """The beginning that is there already, and the names that go on from it."""

    begun: str
    names: list[str]


def names_at_end(text: str, kind: str, cell: object, namespace: Mapping[str, Any]) -> Names:
    """Return the names that may stand at the end of a text.

    Args:
        text: what is written up to the cursor.
        kind: of the hook.
        cell: that the hook is for, or None.
        namespace: the notebook's names.
    """
    before, _, line = text.rpartition("\n")
    wanted = _WANTED.search(line)
    if wanted is None:
        return Names("", [])
    begun = wanted["begun"]
    before += f"\n{line[: wanted.start()]}"
    scope = _Scope(before, _arguments(before, kind, cell), namespace)
    if wanted["of"] is None:
        found: Iterable[str] = scope.names()
    else:
        value = scope.value(wanted["of"])
        found = [] if value is _UNKNOWN else sorted(_attributes(value), key=_hidden)
    shown = [name for name in dict.fromkeys(found) if name.startswith(begun) and (begun or not _hidden(name))]
    return Names(begun, shown[:MOST])


def _arguments(text: str, kind: str, cell: object) -> dict[str, object]:
    """The arguments of the last function whose definition begins in the text, and what they are."""
    definitions = _DEFINITION.findall(text)
    if not definitions:
        return {}
    names = re.findall(rf"(?:^|,)\s*({_NAME})", definitions[-1])
    gets = _GETS.get(kind, ())
    found: dict[str, object] = {name: gets[k] if k < len(gets) else _UNKNOWN for k, name in enumerate(names)}
    if names and cell is not None:
        found[names[0]] = cell
    return found


class _Scope:
    """What names mean where a hook is written."""

    def __init__(self, text: str, arguments: Mapping[str, object], namespace: Mapping[str, Any]) -> None:
        self._text = text
        self._arguments = arguments
        self._namespace = namespace

    def names(self) -> Iterator[str]:
        """Every name, the nearest first."""
        yield from self._arguments
        for match in _BOUND.finditer(self._text):
            yield from re.findall(_NAME, match["targets"] or match["each"] or match["one"])
        yield from sorted(sorted(name for name in self._namespace if isinstance(name, str)), key=_hidden)
        yield from keyword.kwlist
        yield from dir(builtins)

    def value(self, chain: str, depth: int = 0) -> object:
        """What ``grad_output[0].shape`` means, or _UNKNOWN."""
        found: object = _UNKNOWN
        for k, part in enumerate(_PART.finditer(chain)):
            found = self._of_name(part["name"], depth) if k == 0 else _attribute(found, part["name"])
            if part["index"] is not None:
                found = _element(found, int(part["index"]))
            if found is _UNKNOWN:
                break
        return found

    def _of_name(self, name: str, depth: int) -> object:
        if depth > _DEEPEST:
            return _UNKNOWN
        given = [match for match in _GIVEN.finditer(self._text) if match["name"] == name]
        taken = [match for match in _TAKEN.finditer(self._text) if match["name"] == name]
        if given:
            return self.value(given[-1]["value"], depth + 1)
        if taken:
            return _element(self.value(taken[-1]["value"], depth + 1), 0)
        for known in (self._arguments, self._namespace, vars(builtins)):
            if name in known:
                return known[name]
        return _UNKNOWN


def _attribute(value: object, name: str) -> object:
    """An attribute, if it is stored: nothing is computed for it."""
    try:
        found = inspect.getattr_static(value, name)
    except AttributeError:
        finds_cells = isinstance(value, Cell) and _is_ours(value, "__getattr__")
        return getattr(value, name, _UNKNOWN) if finds_cells else _UNKNOWN
    if isinstance(found, (staticmethod, classmethod)):
        return found.__func__
    # A property, or anything else that would be asked for the value.
    computed = hasattr(type(found), "__get__") and not inspect.isroutine(found)
    return _UNKNOWN if computed else found


def _element(value: object, index: int) -> object:
    known = type(value) in (list, tuple) or (isinstance(value, Cell) and _is_ours(value, "__getitem__"))
    if not known:
        return _UNKNOWN
    try:
        return value[index]  # type: ignore[index]  # a list, a tuple, or a cell that has a method for it
    except (IndexError, KeyError, TypeError):
        return _UNKNOWN


def _is_ours(value: object, method: str) -> bool:
    """Whether it is the engine's own method, which runs no code of the user's."""
    return str(getattr(getattr(type(value), method, None), "__module__", "")).startswith("hookscope.engine.")


def _attributes(value: object) -> list[str]:
    try:
        names = [name for name in dir(value) if isinstance(name, str)]
    except Exception:  # a __dir__ of the user's may raise anything
        names = []
    if isinstance(value, Cell):
        names += [*value._cells, *value._params]
    return sorted(set(names))


def _hidden(name: str) -> int:
    """0 for a name that is meant to be used, 1 for one that begins with an underscore, 2 for Python's own."""
    return 2 if name.startswith("__") else int(name.startswith("_"))
