"""A short run of the random programs; `python tests/engine/debug/random_programs.py` makes long ones."""

from __future__ import annotations

import random_programs


def test_12_random_programs_do_under_the_debugger_what_was_asked_at_their_stops() -> None:
    counts = random_programs.run(programs=12, seed=5)
    assert counts["edit"] > 100 and counts["aborts"] > 2 and counts["detaches"] > 2, "the programs took too few actions"
