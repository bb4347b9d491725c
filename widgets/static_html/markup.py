"""HTML that stays readable without scripts and styles: escaped text, tables, collapsible sections.

Code hosts remove <style>, classes and scripts, so the markup must read well without them: real tables with captions and
header cells, <details>, indentation by characters. The style takes its colors from the page so that light and dark both
work. All text passes through `html.escape`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

MAX_TEXT = 2000
"""Maximum characters of one text: a name, a value, a line of source."""

MAX_ROWS = 200
"""Maximum rows of one table in a notebook."""

_PROSE = 44  # characters; a longer table cell may take several lines

# Characters that reorder or hide surrounding text are shown as their code instead.
_INVISIBLE = {
    code: f"\\u{code:04x}"
    for first, last in (
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x061C, 0x061C),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x2069),
        (0xFEFF, 0xFEFF),
    )
    for code in range(first, last + 1)
    if chr(code) not in "\t\n"
}


def _compact(style: str) -> str:
    """Return a style sheet without comments, one rule a line, since every output of a notebook contains it."""
    plain = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    return re.sub(r"\s*([{};,])\s*", r"\1", plain).replace(": ", ":").replace(";}", "}").replace("}", "}\n").strip()


_FORMS = """\
div.hs-static{--hs-ink:currentColor;--hs-line:color-mix(in srgb,currentColor 25%,transparent);
--hs-marked:color-mix(in srgb,var(--hs-warn-base) 25%,transparent);--hs-token:50%}
.hs-static{font:13px/1.45 system-ui,sans-serif;color:inherit;overflow-x:auto}
.hs-static table{border-collapse:collapse;margin:6px 0 14px;font-size:12px}
.hs-static caption{text-align:left;font-weight:600;padding:4px 0}
.hs-static.hs-static table :is(th,td){padding:2px 10px;text-align:left;white-space:nowrap;border:0;vertical-align:top}
.hs-static.hs-static table td.hs-prose{min-width:220px;white-space:normal}
.hs-static tr{background:none;border-bottom:1px solid var(--hs-line)}
.hs-static th{font-weight:600}
.hs-static.hs-static table [align=right]:is(th,td){text-align:right;white-space:nowrap}
.hs-static td[align=right],.hs-static pre{font-family:var(--hs-mono)}
.hs-static pre{font-size:12px;line-height:1.5;color:inherit;background:none;margin:4px 0}
.hs-static ul.hs-cells ul,.hs-static ul.hs-cells{list-style:none;margin:0;padding-left:18px}
.hs-static ul.hs-cells{padding-left:0}
.hs-static ul.hs-cells li{margin:1px 0;padding-left:13px}
.hs-static ul.hs-cells li:has(>details){padding-left:0}
.hs-static summary{cursor:pointer}
.hs-static code{font:12px var(--hs-mono);color:inherit;background:none}
.hs-static .hs-drawing{display:block;margin:2px 0;overflow:visible}
.hs-static .hs-heatmap{image-rendering:pixelated}
.hs-static .hs-figures{display:flex;flex-wrap:wrap;gap:8px 24px;margin:6px 0 14px}
.hs-static.hs-static .hs-cards{list-style:none;padding:0;display:flex;flex-direction:column;gap:10px;
margin:8px 0 14px;max-width:960px}
.hs-static .hs-card{border:1px solid var(--hs-line);border-left:3px solid var(--hs-error-base);border-radius:4px;
padding:8px 12px;overflow-wrap:break-word}
.hs-static .hs-card p{margin:2px 0}
.hs-static .hs-card code{color:var(--hs-error-ink)}
.hs-static .hs-card details :is(b,code){color:inherit;font-weight:400}
.hs-static .hs-card ul{margin:4px 0;padding-left:18px}
.hs-static .hs-card pre{white-space:pre-wrap}
.hs-static figure{margin:0}
.hs-static .hs-charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:12px 20px;
margin:6px 0 14px}
.hs-static .hs-chart p{margin:0;font-size:12px}
.hs-static .hs-chart .hs-legend{margin-left:56px}
.hs-static .hs-chart figcaption{max-width:none;margin-left:56px}
.hs-static figcaption{font-size:12px;max-width:320px}
.hs-static details{margin:4px 0}
.hs-static mark{background:var(--hs-marked);color:inherit}"""
PALETTE = (Path(__file__).parents[1] / "static" / "palette.css").read_text(encoding="utf-8")
# Omits colors that only drawings.py reads.
_STYLED = re.sub(r"--hs-still-[^;]*;", "", PALETTE)
# The palette has a different name here, since a saved output must not change the panels of a later version. The
# surrounding page is unknown, so inks are mixed from the text's own color. The doubled class outweighs the notebook's
# rules.
STYLE = f"""<style>
{re.sub("[.]hs(?=[ {,])", ".hs-static", _compact(_STYLED))}
{_FORMS}
</style>"""


def text(value: object, limit: int = MAX_TEXT) -> str:
    """Escape text for HTML; cut long text, and make invisible and reordering characters visible."""
    return escape(cut(str(value), limit).translate(_INVISIBLE), quote=True)


def cut(string: str, limit: int = MAX_TEXT) -> str:
    """Cut a long text and append its length."""
    return string if len(string) <= limit else f"{string[:limit]}… ({len(string):,} characters)"


def number(value: float) -> str:
    """Format a statistic with five significant digits."""
    return f"{value:.5g}"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], numeric: Iterable[str] = ()) -> str:
    """Return an HTML table; `numeric` names the columns that are right-aligned."""
    right = [name in set(numeric) for name in columns]
    head = _cells('th scope="col"', columns, right)
    body = "\n".join(f"<tr>{_cells('td', row, right)}</tr>" for row in rows)
    title = f"<caption>{text(caption)}</caption>\n" if caption else ""
    # These attributes survive where classes and styles are removed.
    return f'<table>{title}<thead align="left"><tr>{head}</tr></thead>\n<tbody align="left">\n{body}\n</tbody></table>'


def _cells(tag: str, cells: Sequence[object], right: Sequence[bool]) -> str:
    name = tag.split()[0]
    return "".join(
        f"<{tag}{_look(str(cell), to_the_right)}>{text(cell)}</{name}>"
        for cell, to_the_right in zip(cells, right, strict=True)
    )


def _look(cell: str, to_the_right: bool) -> str:
    if to_the_right:
        return ' align="right"'
    return ' class="hs-prose"' if len(cell) > _PROSE else ""


class Table(NamedTuple):
    """A table of a static form, before the choice between open and collapsed."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    numeric: Sequence[str] = ()

    def html(self, caption: str) -> str:
        """Return the table as HTML with a caption."""
        return table(caption, self.columns, self.rows, self.numeric)


def counted_title(what: str, size: int) -> str:
    """Return the title of a table that is cut at MAX_ROWS."""
    return f"{what}: {size}" if size <= MAX_ROWS else f"{what}: the first {MAX_ROWS} of {size}"


def left_out(what: str, count: int, total: int) -> str:
    """Return a note with the number of items omitted from an exported page; "" for none."""
    return f'<p class="soft">{total - count:,} of {total:,} {what} left out.</p>' if count < total else ""


def scrolling(part: str, kind: str = "") -> str:
    """Return a part of an exported page that scrolls sideways, also by keyboard."""
    return f'<div class="{f"scroll {kind}".strip()}" tabindex="0">{part}</div>'


def opened_by(title: str, drawings: str) -> str:
    """Return a collapsible list item of an exported page with drawings inside; both arguments are markup."""
    return f'<li><details><summary>{title}</summary><div class="drawings">{drawings}</div></details></li>'


def details(title: str, content: str, opened: bool = False) -> str:
    """Return a section that opens and closes without a script; `content` is markup."""
    return f"<details{' open' if opened else ''}><summary><b>{text(title)}</b></summary>\n{content}\n</details>"


def page(*parts: str) -> str:
    """Wrap parts into one self-contained block."""
    return f'{STYLE}\n<div class="hs-static">\n' + "\n".join(part for part in parts if part) + "\n</div>"
