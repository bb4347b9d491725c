"""The model that random sessions are held to; `python -m tests.browser.random_sessions` makes them."""

from __future__ import annotations

from tests.browser import random_notebook


def test_the_model_of_a_run_knows_where_an_edit_takes_effect() -> None:
    def numbers(line: str, name: str) -> list[float]:
        edit = random_notebook.Edit("mul", "bprop", line, name, "dout * 0 + 7")
        return random_notebook.expected([edit], bad=False).dx

    plain = random_notebook.expected([], bad=False)
    assert plain.out == [6.0, 9.0, 15.0] and plain.dx == [3.0, 3.0, 3.0]
    assert numbers("return (total,)", "total") == [7.0, 7.0, 7.0]
    assert numbers("return (total,)", "slope") == plain.dx, "what was used already"
    assert numbers("slope = dout * 3", "total") == plain.dx, "what the bprop sets later itself"
    assert numbers("slope = dout * 3", "dout") == [21.0, 21.0, 21.0]
