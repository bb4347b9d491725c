"""Static HTML of cells: a table for saved notebooks, a tree for the export and for a displayed cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookscope.engine.debug import EvictedCapture
from hookscope.widgets.static_html.markup import MAX_ROWS, Table, counted_title, text
from hookscope.widgets.texts import counted
from hookscope.widgets.views.cells.figures import FIGURE_KINDS, Figure, figure, newest
from hookscope.widgets.views.cells.nodes import cell_nodes, hooks_text
from hookscope.widgets.views.cells.shared_parts import Shared, sharing
from hookscope.widgets.views.findings.rows import cell_hits

if TYPE_CHECKING:
    from hookscope.engine.debug import CellNode, DebugSession

MAX_CELLS = 500
"""Maximum cells of a tree in a notebook."""

MAX_EXPORTED = 2_000
_OPEN_CELLS = 40  # in a network with more cells, those below the second level are collapsed

# Statistics are limited by elements, not by time, so that the same network always has the same static form.
_MOST_ELEMENTS = 20_000_000

# A bar of characters, which survives where styles and drawings are removed; numbers are aligned.
_BLOCKS = " ▏▎▍▌▋▊▉█"
_BAR, _NUMBER = 6, 8
_SPACE = "\u2007"
_LEAST_SPAN = 100.0  # minimum ratio that a scale spans, as in figures.js


class CellContext(NamedTuple):
    """Facts about cells, by path.

    Attributes:
        figures: statistics, by path and kind.
        hits: the number of hits of conditions, and the worst condition's name; the worst cell first.
        shared: texts about shared parts.
    """

    figures: Mapping[tuple[str, str], Figure] = {}
    hits: Mapping[str, tuple[int, str]] = {}
    shared: Mapping[str, Shared] = {}


_NO_CONTEXT = CellContext()


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return the cells as a table."""
    nodes = cell_nodes(session)
    return [_cell_table(nodes, _context(session, nodes[:MAX_ROWS]))]


def _context(session: DebugSession, nodes: Sequence[CellNode]) -> CellContext:
    remaining = _MOST_ELEMENTS
    last = newest(session)
    figures: dict[tuple[str, str], Figure] = {}
    for key in ((node.path, kind) for node in nodes for kind in FIGURE_KINDS):
        capture = last.get(key)
        if capture is None:
            continue
        if not isinstance(capture, EvictedCapture):
            remaining -= math.prod(capture.shape)
            if remaining < 0:
                break
        statistic = figure(key[1], capture)
        if statistic is not None:
            figures[key] = statistic
    return CellContext(figures, cell_hits(session.findings()), sharing(session.paths))


def cell_tree_html(nodes: Sequence[CellNode]) -> str:
    """Return the cell tree as a table, with children indented below their parents."""
    part = _cell_table(nodes, _NO_CONTEXT)
    return part.html(part.title)


def _cell_table(nodes: Sequence[CellNode], context: CellContext) -> Table:
    """Return the table of cells; columns about a run are omitted if they are empty."""
    visible = nodes[:MAX_ROWS]
    bars = {kind: _bars(kind, visible, context) for kind in FIGURE_KINDS}
    rows = [
        (
            "\u2003" * node.depth + ("└ " if node.depth else "") + node.name,
            node.type + (" (own bprop)" if node.has_bprop else ""),
            context.shared[node.path].mark if node.path in context.shared else "",
            _hits_text(context.hits.get(node.path)),
            bars["output"].get(node.path, ""),
            bars["gradient"].get(node.path, ""),
            f"{node.parameters:,}" if node.parameters else "",
            node.shape,
            "train" if node.training else "eval",
            hooks_text(node),
        )
        for node in visible
    ]
    selection = [k for k, name in enumerate(_COLUMNS) if name not in _OF_A_RUN or any(row[k] for row in rows)]
    numeric = ("output spread", "gradient norm", "parameters")
    contents = [[row[k] for k in selection] for row in rows]
    return Table(counted_title("Cells", len(nodes)), [_COLUMNS[k] for k in selection], contents, numeric)


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


def _hits_text(hits: tuple[int, str] | None) -> str:
    return "" if hits is None else f"{hits[1]} \u00d7{hits[0]:,}"


def _shared_sentences(shared: Shared | None) -> str:
    return "" if shared is None else " ".join(part for part in (shared.sentences, shared.counted) if part)


def _bars(kind: str, nodes: Sequence[CellNode], context: CellContext) -> dict[str, str]:
    """Return, by path, a bar on a logarithmic scale followed by the figure."""
    statistics = {node.path: context.figures[node.path, kind] for node in nodes if (node.path, kind) in context.figures}
    positive = [statistic.value for statistic in statistics.values() if statistic.value > 0]
    high = math.log(max(positive, default=1.0))
    span = max(high - math.log(min(positive, default=1.0)), math.log(_LEAST_SPAN))
    shares = {
        path: 1 - (high - math.log(statistic.value)) / span if statistic.value > 0 else -1
        for path, statistic in statistics.items()
    }
    return {
        path: _bar(shares[path]) + figure_text(statistic).rjust(_NUMBER, _SPACE)
        for path, statistic in statistics.items()
    }


def _bar(share: float) -> str:
    eighths = 0 if share < 0 else max(1, round(8 * _BAR * share))
    full, rest = divmod(eighths, 8)
    return ("█" * full + _BLOCKS[rest].strip()).ljust(_BAR, _SPACE)


def figure_text(figure: Figure) -> str:
    """Format a figure with few digits, or as the word that replaces it."""
    return figure.word or f"{figure.value:.3g}"


def export_html(session: DebugSession) -> str:
    """Return the cells as a tree."""
    nodes = cell_nodes(session)
    return cell_tree(nodes, limit=MAX_EXPORTED, context=_context(session, nodes[:MAX_EXPORTED]))


def cell_tree(
    nodes: Sequence[CellNode], arguments: Iterable[str] = (), limit: int = MAX_CELLS, context: CellContext = _NO_CONTEXT
) -> str:
    """Return cells as nested lists that open and close without a script, with a note on the number omitted."""
    visible = nodes[:limit]
    notes = [*arguments, *[""] * len(visible)]
    levels = 2 if len(nodes) > _OPEN_CELLS else len(visible)
    parts, depth = ['<ul class="hs-cells">'], 0
    for k, node in enumerate(visible):
        parts += ["</ul></details></li>"] * (depth - node.depth)
        depth = min(depth, node.depth)
        line = _cell_line(node, notes[k], context)
        if k + 1 < len(visible) and visible[k + 1].depth > node.depth:
            opened = " open" if node.depth < levels else ""
            parts.append(f"<li><details{opened}><summary>{line}{_descendants_text(k, visible, context)}</summary><ul>")
            depth += 1
        else:
            parts.append(f"<li>{line}</li>")
    parts += ["</ul></details></li>"] * depth + ["</ul>"]
    if len(nodes) > limit:
        parts.append(f"<p>{len(nodes) - limit:,} more cells left out.</p>")
    return "".join(parts)


def _descendants_text(position: int, nodes: Sequence[CellNode], context: CellContext) -> str:
    """Return a note on the findings inside a cell that may be collapsed."""
    end = next((k for k in range(position + 1, len(nodes)) if nodes[k].depth <= nodes[position].depth), len(nodes))
    descendants = {node.path for node in nodes[position + 1 : end]}
    findings = [hits for path, hits in context.hits.items() if path in descendants]
    if not findings:
        return ""
    worst = findings[0][1]
    total = counted(sum(times for times, _ in findings), "hit")
    return f" <small>· {text(f'inside: {worst}, {total} in ' + counted(len(findings), 'cell'))}</small>"


def _cell_line(node: CellNode, arguments: str, context: CellContext) -> str:
    kind = f"{node.type}({arguments})" if arguments else node.type
    figures = [(figure_kind, context.figures.get((node.path, figure_kind))) for figure_kind in FIGURE_KINDS]
    facts = [
        f"{node.parameters:,} parameter{'' if node.parameters == 1 else 's'}" if node.parameters else "",
        f"gave {node.shape}" if node.shape else "",
        *(
            f"{_noun(figure_kind, statistic)} {figure_text(statistic)}"
            for figure_kind, statistic in figures
            if statistic is not None
        ),
        "own bprop" if node.has_bprop else "",
        f"hooks: {hooks_text(node)}" if any(node.hooks.values()) else "",
        _shared_sentences(context.shared.get(node.path)),
    ]
    rest = " · ".join(text(fact) for fact in facts if fact)
    code = "" if kind == node.name else f" <code>{text(kind)}</code>"  # a root's name is its type
    worst = _hits_text(context.hits.get(node.path))
    mark = f" <mark>{text(worst)}</mark>" if worst else ""
    return f"<b>{text(node.name)}</b>{code}{mark}" + (f" <small>{rest}</small>" if rest else "")


def _noun(kind: str, figure: Figure) -> str:
    return "gradient norm" if kind == "gradient" else "output magnitude" if figure.elements == 1 else "output spread"
