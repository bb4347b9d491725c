"""Shared parts of a network: a cell with several paths, a parameter of several cells.

The tree shows each cell once, at its first path, and counts a parameter in each cell that contains it; so it marks the
rows with shared parts.
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

# Limit on paths of one cell, since nested shared cells multiply them.
_MOST_PATHS = 8


class Shared(NamedTuple):
    """Texts of a tree row about shared parts.

    Attributes:
        mark: a note of a few words; "" if only nested cells share something.
        sentences: the note in full sentences.
        counted: a note on the number of its shared parameter elements, or "".
    """

    mark: str
    sentences: str
    counted: str


class _Use(NamedTuple):
    """A parameter as a member of a cell: the cell's row of the tree, and all paths of that cell."""

    row: str
    name: str
    cells: tuple[str, ...]


def sharing(cells: Iterable[tuple[str, Cell]]) -> dict[str, Shared]:
    """Return texts about shared parts for rows of a tree, by path.

    Args:
        cells: the rows as paths and cells, each cell after its parent.
    """
    rows = list(cells)
    if not _anything_is(rows):
        return {}
    paths = _paths_of(rows)
    uses, parameters = _uses(rows, paths)
    used_often = {key: entries for key, entries in uses.items() if sum(len(use.cells) for use in entries) > 1}
    counts = _counts(used_often, parameters, {path for path, _ in rows})
    marks: dict[str, list[tuple[str, str]]] = {}
    for path, cell in rows:
        entries = [*_of_cell(path, paths[id(cell)]), *_of_members(path, cell, paths)]
        if entries:
            marks[path] = entries
    for path, entries in _of_parameters(used_often).items():
        marks.setdefault(path, []).extend(entries)
    return {path: _shared(marks.get(path, []), counts.get(path, "")) for path in dict.fromkeys((*marks, *counts))}


def _shared(marks: list[tuple[str, str]], counts: str) -> Shared:
    mark = marks[0][0] if marks else ""
    more = f" and {len(marks) - 1} more" if len(marks) > 1 else ""
    return Shared(mark + more, " ".join(sentence for _, sentence in marks), counts)


def _anything_is(rows: list[tuple[str, Cell]]) -> bool:
    """Return whether anything is shared, a fast check because it runs often and most networks share nothing."""
    members = [id(member) for _, cell in rows for member in cell._cells.values() if member is not None]
    parameter_ids = [id(parameter) for _, cell in rows for parameter in cell._params.values() if parameter is not None]
    return any(len(set(ids)) < len(ids) for ids in ([id(cell) for _, cell in rows], members, parameter_ids))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _paths_of(rows: list[tuple[str, Cell]]) -> dict[int, list[str]]:
    """Return, by the id of each cell, the paths that lead to it, its row's path first."""
    paths: dict[int, list[str]] = {}
    for path, cell in rows:
        paths.setdefault(id(cell), []).append(path)
    for path, cell in rows:
        for name, member in cell._cells.items():
            known_paths = paths.get(id(member)) if member else None
            if known_paths is not None and (member_path := _join(path, name)) not in known_paths:
                known_paths.append(member_path)
    return paths


def _uses(
    rows: list[tuple[str, Cell]], paths_by_id: dict[int, list[str]]
) -> tuple[dict[int, list[_Use]], dict[int, Parameter]]:
    """Return, by the id of each parameter, the cells that contain it; and the parameters by id."""
    reached: dict[str, tuple[str, ...]] = {}
    uses: dict[int, list[_Use]] = {}
    parameters: dict[int, Parameter] = {}
    visited: set[int] = set()
    for path, cell in rows:
        paths = paths_by_id[id(cell)]
        parent, _, name = path.rpartition(".")
        if len(paths) > 1 or parent not in reached:
            reached[path] = tuple(paths[:_MOST_PATHS])
        else:
            reached[path] = tuple(_join(outer, name) for outer in reached[parent])
        if id(cell) in visited:
            continue
        visited.add(id(cell))
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
    return [(mark, f"The same cell is also {_list_text(others)}.")]


def _of_members(path: str, cell: Cell, paths_by_id: dict[int, list[str]]) -> list[tuple[str, str]]:
    """Return texts about members of a cell that the tree shows elsewhere."""
    entries = []
    for name, member in cell._cells.items():
        first = paths_by_id[id(member)][0] if member and id(member) in paths_by_id else _join(path, name)
        if first != _join(path, name):
            entries.append((f"{name} shared with {cell_name(first)}", f"Its {name} is the cell {cell_name(first)}."))
    return entries


def _of_parameters(uses: dict[int, list[_Use]]) -> dict[str, list[tuple[str, str]]]:
    """Return, by the path of each row, texts about parameters that other cells contain too."""
    entries: dict[str, list[tuple[str, str]]] = {}
    for used in uses.values():
        for use in used:
            others = [other for other in used if other is not use]
            if not others:
                continue  # the whole cell is shared, which is reported for the cell
            rows = list(dict.fromkeys(other.row for other in others))
            mark = f"{use.name} shared with {cell_name(rows[0])}"
            if len(rows) > 1:
                mark = f"{use.name} shared by {len(rows) + 1} cells"
            listing = _list_text([_join(other.row, other.name) for other in others])
            entries.setdefault(use.row, []).append((mark, f"Its {use.name} is the same parameter as {listing}."))
    return entries


def _counts(uses: dict[int, list[_Use]], parameters: dict[int, Parameter], rows: set[str]) -> dict[str, str]:
    """Return, by the path of each row, a text on the number of its parameter elements that outside cells share."""
    sizes: dict[str, int] = {}
    outside: dict[str, dict[str, None]] = {}
    for key, used in uses.items():
        paths = list(dict.fromkeys(path for use in used for path in use.cells))
        for ancestor in dict.fromkeys(outer for path in paths for outer in _and_around(path) if outer in rows):
            others = [path for path in paths if ancestor and path != ancestor and not path.startswith(f"{ancestor}.")]
            if others:
                sizes[ancestor] = sizes.get(ancestor, 0) + math.prod(parameters[key].shape)
                outside.setdefault(ancestor, {}).update(dict.fromkeys(others))
    return {
        path: f"{counted(size, 'element')} of these shared with {_list_text(list(outside[path]))}"
        for path, size in sizes.items()
    }


def _and_around(path: str) -> list[str]:
    """Return a path and those of its ancestors, except the root."""
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def _list_text(paths: list[str]) -> str:
    names = [cell_name(path) for path in paths[:3]]
    return ", ".join(names) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
