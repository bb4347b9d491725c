"""Tables: aligned, one line a row, and safe as HTML."""

from __future__ import annotations

from hookscope.engine.debug.record.tables import html_table, text_table


def test_columns_are_as_wide_as_their_widest_cell_and_numbers_are_to_the_right() -> None:
    text = text_table(("name", "n"), [("a", "1"), ("longer", "007"), ("", "1e5")], numeric=("n",))
    assert text.splitlines() == ["name      n", "a         1", "longer  007", "        1e5"]


def test_a_cell_with_line_breaks_stays_one_row() -> None:
    assert text_table(("a", "b"), [("one\ntwo", "x")]).splitlines() == ["a        b", "one two  x"]


def test_without_rows_there_are_the_columns() -> None:
    assert text_table(("a", "b"), []) == "a  b"
    assert "<th>a" in html_table(("a", "b"), [])


def test_what_users_wrote_is_escaped() -> None:
    page = html_table(("<i>", "n"), [("<script>alert(1)</script>", "&")], numeric=("n",))
    assert "<script>" not in page and "<i>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "&amp;" in page
