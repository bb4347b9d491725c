"""The cells where no script runs: a table for saved notebooks, a tree for the export and for what a cell shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookscope.engine.debug import GivenUp
from hookscope.widgets.markup import MAX_ROWS, Table, counted_title, text
from hookscope.widgets.texts import counted
from hookscope.widgets.views.cells.figures import FIGURE_KINDS, Figure, figure, newest
from hookscope.widgets.views.cells.nodes import cell_nodes, hooks_text
from hookscope.widgets.views.cells.shared import Shared, sharing
from hookscope.widgets.views.findings.found import cell_hits

if TYPE_CHECKING:
    from hookscope.engine.debug import CellNode, DebugSession

MAX_CELLS = 500
"""Cells of a tree in a notebook."""

MAX_EXPORTED = 2_000
_OPEN_CELLS = 40  # a network with more of them shows those below the second level when they are opened

# Figures are computed for so many elements, and not by the clock: the same network has the same static form.
_MOST_ELEMENTS = 20_000_000

# A bar in characters, which stay where styles and drawings are removed; numbers stand one below the other.
_BLOCKS = " ▏▎▍▌▋▊▉█"
_BAR, _NUMBER = 6, 8
_SPACE = "\u2007"
_LEAST_SPAN = 100.0  # the ratio that a scale spans at least, as in figures.js


class Known(NamedTuple):
    """What is known of cells, by their paths, beside the cells themselves.

    Attributes:
        figures: also by their kind.
        found: how often a condition held there, and the worst one's name; the worst cell first.
        shared: what is shared.
    """

    figures: Mapping[tuple[str, str], Figure] = {}
    found: Mapping[str, tuple[int, str]] = {}
    shared: Mapping[str, Shared] = {}


_NOTHING = Known()


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the cells as a table."""
    nodes = cell_nodes(session)
    return [_cell_table(nodes, _known(session, nodes[:MAX_ROWS]))]


def _known(session: DebugSession, nodes: Sequence[CellNode]) -> Known:
    left = _MOST_ELEMENTS
    last = newest(session)
    figures: dict[tuple[str, str], Figure] = {}
    for place in ((node.path, kind) for node in nodes for kind in FIGURE_KINDS):
        capture = last.get(place)
        if capture is None:
            continue
        if not isinstance(capture, GivenUp):
            left -= math.prod(capture.shape)
            if left < 0:
                break
        found = figure(place[1], capture)
        if found is not None:
            figures[place] = found
    return Known(figures, cell_hits(session.findings()), sharing(session.paths))


def cell_tree_html(nodes: Sequence[CellNode]) -> str:
    """Return the cell tree as a table, children indented under their parents."""
    part = _cell_table(nodes, _NOTHING)
    return part.html(part.title)


def _cell_table(nodes: Sequence[CellNode], known: Known) -> Table:
    """The table; of what a run leaves behind there are columns where there is any."""
    shown = nodes[:MAX_ROWS]
    bars = {kind: _bars(kind, shown, known) for kind in FIGURE_KINDS}
    rows = [
        (
            "\u2003" * node.depth + ("└ " if node.depth else "") + node.name,
            node.type + (" (own bprop)" if node.has_bprop else ""),
            known.shared[node.path].mark if node.path in known.shared else "",
            _found_text(known.found.get(node.path)),
            bars["output"].get(node.path, ""),
            bars["gradient"].get(node.path, ""),
            f"{node.parameters:,}" if node.parameters else "",
            node.shape,
            "train" if node.training else "eval",
            hooks_text(node),
        )
        for node in shown
    ]
    kept = [k for k, name in enumerate(_COLUMNS) if name not in _OF_A_RUN or any(row[k] for row in rows)]
    numeric = ("output spread", "gradient norm", "parameters")
    told = [[row[k] for k in kept] for row in rows]
    return Table(counted_title("Cells", len(nodes)), [_COLUMNS[k] for k in kept], told, numeric)


_COLUMNS = (
    "cell",
    "type",
    "shared",
    "worst finding",
    "output spread",
    "gradient norm",
    "parameters",
    "output",
    "mode",
    "hooks",
)
_OF_A_RUN = ("worst finding", "output spread", "gradient norm", "shared")


def _found_text(found: tuple[int, str] | None) -> str:
    return "" if found is None else f"{found[1]} \u00d7{found[0]:,}"


def _shared_sentences(shared: Shared | None) -> str:
    return "" if shared is None else " ".join(part for part in (shared.told, shared.counted) if part)


def _bars(kind: str, nodes: Sequence[CellNode], known: Known) -> dict[str, str]:
    """By path a bar, by the figure's logarithm, and the figure."""
    found = {node.path: known.figures[node.path, kind] for node in nodes if (node.path, kind) in known.figures}
    above = [one.value for one in found.values() if one.value > 0]
    high = math.log(max(above, default=1.0))
    span = max(high - math.log(min(above, default=1.0)), math.log(_LEAST_SPAN))
    shares = {path: 1 - (high - math.log(one.value)) / span if one.value > 0 else -1 for path, one in found.items()}
    return {path: _bar(shares[path]) + figure_text(one).rjust(_NUMBER, _SPACE) for path, one in found.items()}


def _bar(share: float) -> str:
    eighths = 0 if share < 0 else max(1, round(8 * _BAR * share))
    full, rest = divmod(eighths, 8)
    return ("█" * full + _BLOCKS[rest].strip()).ljust(_BAR, _SPACE)


def figure_text(found: Figure) -> str:
    """Write a figure with few digits, or the word that says more."""
    return found.word or f"{found.value:.3g}"


def export_html(session: DebugSession) -> str:
    """Return the cells as a tree."""
    nodes = cell_nodes(session)
    return cell_tree(nodes, most=MAX_EXPORTED, known=_known(session, nodes[:MAX_EXPORTED]))


def cell_tree(
    nodes: Sequence[CellNode], arguments: Iterable[str] = (), most: int = MAX_CELLS, known: Known = _NOTHING
) -> str:
    """Return cells as a list of lists that open and close without a script; says how many are left out."""
    shown = nodes[:most]
    notes = [*arguments, *[""] * len(shown)]
    levels = 2 if len(nodes) > _OPEN_CELLS else len(shown)
    parts, depth = ['<ul class="hs-cells">'], 0
    for k, node in enumerate(shown):
        parts += ["</ul></details></li>"] * (depth - node.depth)
        depth = min(depth, node.depth)
        line = _cell_line(node, notes[k], known)
        if k + 1 < len(shown) and shown[k + 1].depth > node.depth:
            opened = " open" if node.depth < levels else ""
            parts.append(f"<li><details{opened}><summary>{line}{_inside(k, shown, known)}</summary><ul>")
            depth += 1
        else:
            parts.append(f"<li>{line}</li>")
    parts += ["</ul></details></li>"] * depth + ["</ul>"]
    if len(nodes) > most:
        parts.append(f"<p>{len(nodes) - most:,} more cells left out.</p>")
    return "".join(parts)


def _inside(at: int, nodes: Sequence[CellNode], known: Known) -> str:
    """What was found in the cells inside one that may be shut."""
    end = next((k for k in range(at + 1, len(nodes)) if nodes[k].depth <= nodes[at].depth), len(nodes))
    inside = {node.path for node in nodes[at + 1 : end]}
    found = [hits for path, hits in known.found.items() if path in inside]
    if not found:
        return ""
    worst = found[0][1]
    hits = counted(sum(times for times, _ in found), "hit")
    return f" <small>· {text(f'inside: {worst}, {hits} in ' + counted(len(found), 'cell'))}</small>"


def _cell_line(node: CellNode, arguments: str, known: Known) -> str:
    kind = f"{node.type}({arguments})" if arguments else node.type
    figures = [(of, known.figures.get((node.path, of))) for of in FIGURE_KINDS]
    facts = [
        f"{node.parameters:,} parameter{'' if node.parameters == 1 else 's'}" if node.parameters else "",
        f"gave {node.shape}" if node.shape else "",
        *(f"{_noun(of, found)} {figure_text(found)}" for of, found in figures if found is not None),
        "own bprop" if node.has_bprop else "",
        f"hooks: {hooks_text(node)}" if any(node.hooks.values()) else "",
        _shared_sentences(known.shared.get(node.path)),
    ]
    rest = " · ".join(text(fact) for fact in facts if fact)
    code = "" if kind == node.name else f" <code>{text(kind)}</code>"  # a root has no name but its type's
    worst = _found_text(known.found.get(node.path))
    mark = f" <mark>{text(worst)}</mark>" if worst else ""
    return f"<b>{text(node.name)}</b>{code}{mark}" + (f" <small>{rest}</small>" if rest else "")


def _noun(kind: str, found: Figure) -> str:
    return "gradient norm" if kind == "gradient" else "output magnitude" if found.elements == 1 else "output spread"
