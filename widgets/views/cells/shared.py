"""What is shared in a network: a cell that is reached by several paths, a parameter that several cells have.

The tree shows each cell once, at its first path, and counts a parameter in each cell that has it; so it says where
there is more to know.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from hookscope.engine.debug.record.capture import cell_name
from hookscope.widgets.texts import counted

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter

# A cell in a network of shared cells is reached by more paths than anybody reads.
_MOST_PATHS = 8


class Shared(NamedTuple):
    """What a row of the tree says of it.

    Attributes:
        mark: in a few words; "" where only cells inside share something.
        told: in whole sentences.
        counted: of the number of its parameters, or "".
    """

    mark: str
    told: str
    counted: str


class _Use(NamedTuple):
    """A parameter as a member of a cell: at the row of the tree, and by all paths of that cell."""

    row: str
    name: str
    cells: tuple[str, ...]


def sharing(cells: Iterable[tuple[str, Cell]]) -> dict[str, Shared]:
    """Return what rows of a tree say of what is shared, by their paths.

    Args:
        cells: the rows, paths and cells, each cell behind the one that it is in.
    """
    rows = list(cells)
    if not _anything_is(rows):
        return {}
    places = _places(rows)
    uses, parameters = _uses(rows, places)
    used_often = {key: found for key, found in uses.items() if sum(len(use.cells) for use in found) > 1}
    counts = _counts(used_often, parameters, {path for path, _ in rows})
    marks: dict[str, list[tuple[str, str]]] = {}
    for path, cell in rows:
        found = [*_of_cell(path, places[id(cell)]), *_of_members(path, cell, places)]
        if found:
            marks[path] = found
    for path, found in _of_parameters(used_often).items():
        marks.setdefault(path, []).extend(found)
    return {path: _shared(marks.get(path, []), counts.get(path, "")) for path in dict.fromkeys((*marks, *counts))}


def _shared(marks: list[tuple[str, str]], counts: str) -> Shared:
    mark = marks[0][0] if marks else ""
    more = f" and {len(marks) - 1} more" if len(marks) > 1 else ""
    return Shared(mark + more, " ".join(told for _, told in marks), counts)


def _anything_is(rows: list[tuple[str, Cell]]) -> bool:
    """Whether anything is shared: most networks share nothing, and are looked through again and again."""
    members = [id(member) for _, cell in rows for member in cell._cells.values() if member is not None]
    held = [id(one) for _, cell in rows for one in cell._params.values() if one is not None]
    return any(len(set(ids)) < len(ids) for ids in ([id(cell) for _, cell in rows], members, held))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _places(rows: list[tuple[str, Cell]]) -> dict[int, list[str]]:
    """By the id of each cell the paths that lead to it, that of its row first."""
    places: dict[int, list[str]] = {}
    for path, cell in rows:
        places.setdefault(id(cell), []).append(path)
    for path, cell in rows:
        for name, member in cell._cells.items():
            found = places.get(id(member)) if member else None
            if found is not None and (there := _join(path, name)) not in found:
                found.append(there)
    return places


def _uses(
    rows: list[tuple[str, Cell]], places: dict[int, list[str]]
) -> tuple[dict[int, list[_Use]], dict[int, Parameter]]:
    """By the id of each parameter the cells that have it; and the parameters."""
    reached: dict[str, tuple[str, ...]] = {}
    uses: dict[int, list[_Use]] = {}
    parameters: dict[int, Parameter] = {}
    seen: set[int] = set()
    for path, cell in rows:
        own = places[id(cell)]
        around, _, name = path.rpartition(".")
        if len(own) > 1 or around not in reached:
            reached[path] = tuple(own[:_MOST_PATHS])
        else:
            reached[path] = tuple(_join(outer, name) for outer in reached[around])
        if id(cell) in seen:
            continue
        seen.add(id(cell))
        for name, parameter in cell._params.items():
            if parameter is not None:
                parameters[id(parameter)] = parameter
                uses.setdefault(id(parameter), []).append(_Use(path, name, reached[path]))
    return uses, parameters


def _of_cell(path: str, paths: list[str]) -> list[tuple[str, str]]:
    others = [other for other in paths if other != path]
    if not others:
        return []
    mark = f"shared, also {others[0]}" if len(others) == 1 else f"shared, at {len(paths)} paths"
    return [(mark, f"The same cell is also {_listed(others)}.")]


def _of_members(path: str, cell: Cell, places: dict[int, list[str]]) -> list[tuple[str, str]]:
    """The members of a cell that the tree shows elsewhere."""
    found = []
    for name, member in cell._cells.items():
        first = places[id(member)][0] if member and id(member) in places else _join(path, name)
        if first != _join(path, name):
            found.append((f"{name} shared with {cell_name(first)}", f"Its {name} is the cell {cell_name(first)}."))
    return found


def _of_parameters(uses: dict[int, list[_Use]]) -> dict[str, list[tuple[str, str]]]:
    """By the path of each row the parameters that other cells have too."""
    found: dict[str, list[tuple[str, str]]] = {}
    for used in uses.values():
        for use in used:
            others = [other for other in used if other is not use]
            if not others:
                continue  # the cell is shared as a whole, which is told of that
            rows = list(dict.fromkeys(other.row for other in others))
            mark = f"{use.name} shared with {cell_name(rows[0])}"
            if len(rows) > 1:
                mark = f"{use.name} shared by {len(rows) + 1} cells"
            same = _listed([_join(other.row, other.name) for other in others])
            found.setdefault(use.row, []).append((mark, f"Its {use.name} is the same parameter as {same}."))
    return found


def _counts(uses: dict[int, list[_Use]], parameters: dict[int, Parameter], rows: set[str]) -> dict[str, str]:
    """By the path of each row how many elements of its parameters cells outside have too."""
    sizes: dict[str, int] = {}
    outside: dict[str, dict[str, None]] = {}
    for key, used in uses.items():
        everywhere = list(dict.fromkeys(path for use in used for path in use.cells))
        for around in dict.fromkeys(outer for path in everywhere for outer in _and_around(path) if outer in rows):
            others = [path for path in everywhere if around and path != around and not path.startswith(f"{around}.")]
            if others:
                sizes[around] = sizes.get(around, 0) + math.prod(parameters[key].shape)
                outside.setdefault(around, {}).update(dict.fromkeys(others))
    return {
        path: f"{counted(size, 'element')} of these shared with {_listed(list(outside[path]))}"
        for path, size in sizes.items()
    }


def _and_around(path: str) -> list[str]:
    """A path, and those of the cells around it but the root."""
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _listed(paths: list[str]) -> str:
    shown = [cell_name(path) for path in paths[:3]]
    return ", ".join(shown) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
