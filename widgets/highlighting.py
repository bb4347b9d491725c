"""Python source in colors. A line is a list of pieces; a piece is a kind of token and its text, which has no markup."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from hookscope.widgets.static_html.markup import cut, text

Piece = tuple[str, str]
"""One of "keyword", "string", "literal", "comment", or "" for all else; and the text."""


def pieces(lines: Sequence[str]) -> list[list[Piece]]:
    """Split lines of source, without line ends, into pieces; long lines are cut."""
    return _pieces(tuple(cut(line) for line in lines)) if lines else []


@lru_cache(maxsize=16)  # stepping through a function shows the same lines repeatedly
def _pieces(lines: tuple[str, ...]) -> list[list[Piece]]:
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment, Keyword, Number, Operator, String

    kinds = {String: "string", Number: "literal", Comment: "comment", Keyword: "keyword", Operator.Word: "keyword"}
    split: list[list[Piece]] = [[]]
    for _, token, value in PythonLexer().get_tokens_unprocessed("\n".join(lines)):
        kind = next((name for ancestor, name in kinds.items() if token in ancestor), "")
        for index, part in enumerate(value.split("\n")):
            if index:
                split.append([])
            line = split[-1]
            if line and line[-1][0] == kind:
                line[-1] = kind, line[-1][1] + part
            elif part:
                line.append((kind, part))
    return split


def html(line: Sequence[Piece]) -> str:
    """Return a line as HTML."""
    return "".join(f'<span class="hs-{kind}">{text(part)}</span>' if kind else text(part) for kind, part in line)
