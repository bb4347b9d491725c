"""Completions for a hook that is being written: its arguments, local names, the notebook's names, and attributes.

Text being written is seldom valid Python, so it is read line by line, not parsed. No user code is run: an attribute is
read from storage, and one that must be computed is skipped.
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

MAX_NAMES = 200
"""Maximum number of completions."""

_NAME = r"[^\W\d]\w*"
_CHAIN = rf"{_NAME}(?:\[-?\d+\])?(?:\.{_NAME}(?:\[-?\d+\])?)*"
_WANTED = re.compile(rf"(?:(?P<of>{_CHAIN})\.|(?<![\w.\])\"']))(?P<begun>(?:{_NAME})?)$")
_DEFINITION = re.compile(rf"^[ \t]*def\s+{_NAME}\s*\(([^)]*)", re.MULTILINE)
_ASSIGNMENT = re.compile(rf"^[ \t]*(?P<name>{_NAME})\s*=\s*(?P<value>{_CHAIN})[ \t]*(?:#.*)?$", re.MULTILINE)
_TAKEN = re.compile(rf"\bfor\s+(?P<name>{_NAME})\s+in\s+(?P<value>{_CHAIN})\s*[:\])}}]")
_BOUND = re.compile(
    r"^[ \t]*(?P<targets>\w[\w, \t]*?)[ \t]*=(?!=)|\bfor\s+(?P<each>\w[\w, ]*?)\s+in\b"
    r"|\b(?:as|import|def)\s+(?P<one>\w+)",
    re.MULTILINE,
)
_PART = re.compile(rf"(?P<name>{_NAME})(?:\[(?P<index>-?\d+)\])?")
_DEEPEST = 8  # of names assigned from other names

# The arguments of a hook by kind; the class stands for a tensor, since it has the same attributes.
_TENSORS = (Tensor,) * 16
_GETS: Mapping[str, tuple[object, ...]] = {
    "forward_pre": (Cell, _TENSORS),
    "forward": (Cell, _TENSORS, Tensor),
    "backward_pre": (Cell, _TENSORS),
    "backward": (Cell, _TENSORS, _TENSORS),
}
_UNKNOWN = object()


class Names(NamedTuple):
    """The prefix that is already typed, and its completions."""

    begun: str
    names: list[str]


def names_at_end(text: str, kind: str, cell: object, namespace: Mapping[str, Any]) -> Names:
    """Return the names that may stand at the end of a text.

    Args:
        text: the text before the cursor.
        kind: the kind of the hook.
        cell: the cell of the hook, or None.
        namespace: the notebook's namespace.
    """
    before, _, line = text.rpartition("\n")
    cursor = _WANTED.search(line)
    if cursor is None:
        return Names("", [])
    prefix = cursor["begun"]
    before += f"\n{line[: cursor.start()]}"
    scope = _Scope(before, _arguments(before, kind, cell), namespace)
    if cursor["of"] is None:
        candidates: Iterable[str] = scope.names()
    else:
        value = scope.value(cursor["of"])
        candidates = [] if value is _UNKNOWN else sorted(_attributes(value), key=_hidden)
    completions = [
        name for name in dict.fromkeys(candidates) if name.startswith(prefix) and (prefix or not _hidden(name))
    ]
    return Names(prefix, completions[:MAX_NAMES])


def _arguments(text: str, kind: str, cell: object) -> dict[str, object]:
    """Return the arguments of the last function whose definition begins in the text, with their values."""
    definitions = _DEFINITION.findall(text)
    if not definitions:
        return {}
    names = re.findall(rf"(?:^|,)\s*({_NAME})", definitions[-1])
    values = _GETS.get(kind, ())
    arguments: dict[str, object] = {name: values[k] if k < len(values) else _UNKNOWN for k, name in enumerate(names)}
    if names and cell is not None:
        arguments[names[0]] = cell
    return arguments


class _Scope:
    """Name resolution in the text of a hook."""

    def __init__(self, text: str, arguments: Mapping[str, object], namespace: Mapping[str, Any]) -> None:
        self._text = text
        self._arguments = arguments
        self._namespace = namespace

    def names(self) -> Iterator[str]:
        """Yield every name, the nearest scope first."""
        yield from self._arguments
        for match in _BOUND.finditer(self._text):
            yield from re.findall(_NAME, match["targets"] or match["each"] or match["one"])
        yield from sorted(sorted(name for name in self._namespace if isinstance(name, str)), key=_hidden)
        yield from keyword.kwlist
        yield from dir(builtins)

    def value(self, chain: str, depth: int = 0) -> object:
        """Return the value of ``grad_output[0].shape``, or _UNKNOWN."""
        result: object = _UNKNOWN
        for k, part in enumerate(_PART.finditer(chain)):
            result = self._of_name(part["name"], depth) if k == 0 else _attribute(result, part["name"])
            if part["index"] is not None:
                result = _element(result, int(part["index"]))
            if result is _UNKNOWN:
                break
        return result

    def _of_name(self, name: str, depth: int) -> object:
        if depth > _DEEPEST:
            return _UNKNOWN
        assignments = [match for match in _ASSIGNMENT.finditer(self._text) if match["name"] == name]
        loops = [match for match in _TAKEN.finditer(self._text) if match["name"] == name]
        if assignments:
            return self.value(assignments[-1]["value"], depth + 1)
        if loops:
            return _element(self.value(loops[-1]["value"], depth + 1), 0)
        for scope in (self._arguments, self._namespace, vars(builtins)):
            if name in scope:
                return scope[name]
        return _UNKNOWN


def _attribute(value: object, name: str) -> object:
    """Return an attribute if it is stored, without computing anything."""
    try:
        stored = inspect.getattr_static(value, name)
    except AttributeError:
        looks_up_cells = isinstance(value, Cell) and _is_ours(value, "__getattr__")
        return getattr(value, name, _UNKNOWN) if looks_up_cells else _UNKNOWN
    if isinstance(stored, (staticmethod, classmethod)):
        return stored.__func__
    # A property or another descriptor, which would run code.
    computed = hasattr(type(stored), "__get__") and not inspect.isroutine(stored)
    return _UNKNOWN if computed else stored


def _element(value: object, index: int) -> object:
    indexable = type(value) in (list, tuple) or (isinstance(value, Cell) and _is_ours(value, "__getitem__"))
    if not indexable:
        return _UNKNOWN
    try:
        return value[index]  # type: ignore[index]  # a list, a tuple, or a cell with its own method
    except (IndexError, KeyError, TypeError):
        return _UNKNOWN


def _is_ours(value: object, method: str) -> bool:
    """Return whether a method is the engine's own, which runs no user code."""
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
    """Return 0 for a public name, 1 for a name with one leading underscore, 2 for a dunder name."""
    return 2 if name.startswith("__") else int(name.startswith("_"))
