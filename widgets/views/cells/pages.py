"""The cells where no script runs: a table for saved notebooks, a tree for the export and for what a cell shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hookscope.widgets.markup import MAX_ROWS, Table, counted_title, text
from hookscope.widgets.views.cells.nodes import cell_nodes, hooks_text

if TYPE_CHECKING:
    from hookscope.engine.debug import CellNode, DebugSession

MAX_CELLS = 500
"""Cells of a tree in a notebook."""

MAX_EXPORTED = 2_000
_OPEN_CELLS = 40  # a network with more of them shows those below the second level when they are opened


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the cells as a table."""
    return [_cell_table(cell_nodes(session))]


def cell_tree_html(nodes: Sequence[CellNode]) -> str:
    """Return the cell tree as a table, children indented under their parents."""
    part = _cell_table(nodes)
    return part.html(part.title)


def _cell_table(nodes: Sequence[CellNode]) -> Table:
    columns = ("cell", "type", "parameters", "output", "mode", "hooks")
    rows = [
        (
            "\u2003" * node.depth + ("└ " if node.depth else "") + node.name,
            node.type + (" (own bprop)" if node.has_bprop else ""),
            f"{node.parameters:,}" if node.parameters else "",
            node.shape,
            "train" if node.training else "eval",
            hooks_text(node),
        )
        for node in nodes[:MAX_ROWS]
    ]
    return Table(counted_title("Cells", len(nodes)), columns, rows, numeric=("parameters",))


def export_html(session: DebugSession) -> str:
    """Return the cells as a tree."""
    return cell_tree(cell_nodes(session), most=MAX_EXPORTED)


def cell_tree(nodes: Sequence[CellNode], arguments: Iterable[str] = (), most: int = MAX_CELLS) -> str:
    """Return cells as a list of lists that open and close without a script; says how many are left out."""
    shown = nodes[:most]
    notes = [*arguments, *[""] * len(shown)]
    levels = 2 if len(nodes) > _OPEN_CELLS else len(shown)
    parts, depth = ['<ul class="hs-cells">'], 0
    for k, node in enumerate(shown):
        parts += ["</ul></details></li>"] * (depth - node.depth)
        depth = min(depth, node.depth)
        line = _cell_line(node, notes[k])
        if k + 1 < len(shown) and shown[k + 1].depth > node.depth:
            opened = " open" if node.depth < levels else ""
            parts.append(f"<li><details{opened}><summary>{line}</summary><ul>")
            depth += 1
        else:
            parts.append(f"<li>{line}</li>")
    parts += ["</ul></details></li>"] * depth + ["</ul>"]
    if len(nodes) > most:
        parts.append(f"<p>{len(nodes) - most:,} more cells left out.</p>")
    return "".join(parts)


def _cell_line(node: CellNode, arguments: str) -> str:
    kind = f"{node.type}({arguments})" if arguments else node.type
    facts = [
        f"{node.parameters:,} parameter{'' if node.parameters == 1 else 's'}" if node.parameters else "",
        f"gave {node.shape}" if node.shape else "",
        "own bprop" if node.has_bprop else "",
        f"hooks: {hooks_text(node)}" if any(node.hooks.values()) else "",
    ]
    rest = " · ".join(text(fact) for fact in facts if fact)
    code = "" if kind == node.name else f" <code>{text(kind)}</code>"  # a root has no name but its type's
    return f"<b>{text(node.name)}</b>{code}" + (f" <small>{rest}</small>" if rest else "")
