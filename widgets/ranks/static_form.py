"""Static HTML of the ranks in a saved notebook: their status, findings and differences."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.engine.debug.compare.ranks.findings import ranks_text
from hookscope.widgets.ranks.declaration import RankRow, RanksFinding, RanksTable
from hookscope.widgets.static_html.markup import Table, page, text
from hookscope.widgets.static_html.snapshot import STATIC_COPY


def ranks_html(
    title: str,
    status: str,
    ranks: Sequence[RankRow],
    findings: Sequence[RanksFinding],
    tables: Sequence[tuple[str, RanksTable]],
) -> str:
    """Return the ranks as one static block; ``tables`` are those last shown, with their titles."""
    parts = [f"<p><b>{text(title)}</b>: {text(status)}<br><small>{text(STATIC_COPY)}</small></p>"]
    rows = [(row["rank"], f"{row['state']} {row['text']}".strip(), row["step"], row["loss"]) for row in ranks]
    parts.append(Table("Ranks", ("rank", "state", "step", "loss"), rows, ("step", "loss")).html(f"Ranks: {len(rows)}"))
    if findings:
        locations = [ranks_text(line["ranks"]) if line["ranks"] else "" for line in findings]
        finding_rows = [
            (line["condition"], ranks, line["step"], line["text"], line["advice"])
            for line, ranks in zip(findings, locations, strict=True)
        ]
        columns: tuple[str, ...] = ("condition", "where", "step", "what", "what to do")
        parts.append(
            Table("Findings", columns, finding_rows, ("step",)).html(f"Findings across ranks: {len(finding_rows)}")
        )
    for name, content in tables:
        marked = [row for row in content.get("rows", ()) if row["marked"]]
        if marked:
            columns = ("name", *(f"rank {rank}" for rank in content["ranks"]))
            cells = [(row["name"], *(cell["text"] for cell in row["cells"])) for row in marked]
            parts.append(Table(name, columns, cells, columns[1:]).html(f"{name} that differ: {len(marked)}"))
    return page(*parts)
