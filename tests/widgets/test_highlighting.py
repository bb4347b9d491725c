"""Source is split into pieces that join to its text, for any text; their kinds follow Python's grammar."""

from __future__ import annotations

import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookscope.widgets import highlighting

LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",)), max_size=60)


def kinds(*lines: str) -> list[list[tuple[str, str]]]:
    """Return the pieces that have a kind."""
    return [[piece for piece in line if piece[0]] for line in highlighting.pieces(lines)]


@settings(deadline=None)  # the first line may import what the others use
@given(st.lists(LINE, min_size=1, max_size=6))
def test_the_pieces_of_a_line_are_its_text(lines: list[str]) -> None:
    assert ["".join(text for _, text in line) for line in highlighting.pieces(lines)] == lines


@pytest.mark.parametrize("word", keyword.kwlist)
def test_a_word_of_the_language_is_marked(word: str) -> None:
    assert kinds(f"    {word} x") == [[("keyword", word)]]


def test_strings_numbers_and_comments_are_marked_over_several_lines_too() -> None:
    pieces = kinds('    """Two', "    lines: 1 # no comment", '    """', "    y = f(x, 1.5e-3, rb'a')  # one")
    assert pieces == [
        [("string", '"""Two')],
        [("string", "    lines: 1 # no comment")],
        [("string", '    """')],
        [("literal", "1.5e-3"), ("string", "rb'a'"), ("comment", "# one")],
    ]


def test_a_line_that_nobody_reads_to_its_end_is_cut() -> None:
    (line,) = highlighting.pieces(["x" * 100_000])
    assert "".join(text for _, text in line) == "x" * 2000 + "… (100,000 characters)"


def test_markup_in_source_is_text() -> None:
    (line,) = highlighting.pieces(["a = '<b>'"])
    assert highlighting.html(line) == 'a = <span class="hs-string">&#x27;&lt;b&gt;&#x27;</span>'
